/*
 * row.c
 *		Values of columns in the rows of a heap (see row.h).
 *
 * The offset of a value in its row is known beforehand if every column before it
 * has a fixed width and the row has no NULLs before it.  Such columns are read one
 * after the other, in loops over a page's rows.  Otherwise the columns are walked
 * over from the last one at a known offset, as nocachegetattr does, but with three
 * bytes for a column (WalkStep) instead of its catalog row, and all columns that are
 * wanted are read on one walk.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"

#include "pg/column/row.h"
#include "pg/compat.h"

/* --- the layout */

static uint8
align_bytes(char attalign)
{
	switch (attalign)
	{
		case TYPALIGN_CHAR:
			return 1;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT;
		case TYPALIGN_INT:
			return ALIGNOF_INT;
		default:
			return ALIGNOF_DOUBLE;
	}
}

static int
compare_columns(const void *a, const void *b)
{
	return (int) ((const RowColumn *) a)->attnum - (int) ((const RowColumn *) b)->attnum;
}

static void
describe_column(RowColumn *column, TupleDesc desc, bool aligned)
{
	Datum		missing = getmissingattr(desc, column->attnum, &column->missing_null);

	column->kind = column_kind(TupleDescAttr(desc, column->attnum - 1)->atttypid);
	if (column->kind == COLUMN_KIND_NONE)
		elog(ERROR, "column %d is of a type that is not read", column->attnum);
	column->offset = -1;
	column->wide = aligned && column_kind_is_wide(column->kind);
	column->bias = column_kind_bias(column->kind);
	/* For rows from before ALTER TABLE ADD COLUMN ... DEFAULT, which lack the column. */
	column->missing = column->missing_null ? 0 : column_value(column->kind, missing);
}

/* Fills in the steps, and the offsets that are fixed. */
static void
find_offsets(RowLayout *layout, TupleDesc desc)
{
	AttrNumber	last = layout->ncolumns > 0 ? layout->columns[layout->ncolumns - 1].attnum : 0;
	int			offset = 0;
	int			i;

	layout->known_attnum = 1;
	layout->known_offset = 0;
	layout->steps = palloc_array(WalkStep, Max(last, 1));
	for (i = 0; i < last; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		WalkStep   *step = &layout->steps[i];

		step->length = att->attlen;
		step->align = align_bytes(att->attalign);
		if (offset < 0)
			continue;
		/* A varlena with a short header is not aligned, so its offset may vary. */
		if (att->attlen == -1 && offset != TYPEALIGN(step->align, offset))
		{
			offset = -1;
			continue;
		}
		offset = TYPEALIGN(step->align, offset);
		layout->known_attnum = i + 1;
		layout->known_offset = offset;
		while (layout->nfixed < layout->ncolumns &&
			   layout->columns[layout->nfixed].attnum == i + 1)
			layout->columns[layout->nfixed++].offset = offset;
		offset = att->attlen > 0 ? offset + att->attlen : -1;
	}
}

void
row_layout_init(RowLayout *layout, TupleDesc desc, int ncolumns, const AttrNumber *attnums,
				bool aligned)
{
	int			c;

	memset(layout, 0, sizeof(*layout));
	layout->aligned = aligned;
	layout->ncolumns = ncolumns;
	layout->columns = palloc_array(RowColumn, Max(ncolumns, 1));
	for (c = 0; c < ncolumns; c++)
	{
		layout->columns[c].attnum = attnums[c];
		layout->columns[c].batch = c;
		describe_column(&layout->columns[c], desc, aligned);
	}
	qsort(layout->columns, ncolumns, sizeof(RowColumn), compare_columns);
	find_offsets(layout, desc);
	if (layout->nfixed > 0)
	{
		RowColumn  *column = &layout->columns[layout->nfixed - 1];

		layout->last_fixed = column->attnum;
		layout->blank = palloc0(column->offset + sizeof(int64));
	}
	layout->early = -1;
	for (c = 0; c < layout->nfixed && layout->early < 0; c++)
		if (layout->columns[c].kind == COLUMN_KIND_INT4 ||
			layout->columns[c].kind == COLUMN_KIND_OID ||
			layout->columns[c].kind == COLUMN_KIND_ENUM)
			layout->early = c;
	if (!aligned)
		layout->nulls = palloc_array(uint8, ncolumns * MaxHeapTuplesPerPage);
}

void
row_layout_free(RowLayout *layout)
{
	pfree(layout->columns);
	pfree(layout->steps);
	if (layout->blank)
		pfree(unconstify(char *, layout->blank));
	if (layout->nulls)
		pfree(layout->nulls);
}

/* --- columns at fixed offsets */

/*
 * A loop for each kind over a page's rows.  Those that are walked over afterwards
 * have zeros instead of their data.
 */
#define READ_ROWS(target, type, value) \
	do { \
		for (i = 0; i < n; i++) \
		{ \
			type		stored = *(const type *) (data[i] + offset); \
			\
			(target)[i] = (value); \
		} \
	} while (0)

static void
read_fixed(const RowColumn *column, const NotedRows *rows, ColumnBatch *batch)
{
	const char *const *data = rows->data;
	int			offset = column->offset;
	int			n = rows->n;
	int32	   *keys = batch->keys + batch->n;
	int			i;

	switch (column->kind)
	{
		case COLUMN_KIND_BOOL:
		case COLUMN_KIND_CHAR:
			READ_ROWS(keys, uint8, stored);
			break;
		case COLUMN_KIND_INT2:
			READ_ROWS(keys, int16, stored);
			break;
		case COLUMN_KIND_INT4:
			READ_ROWS(keys, int32, stored);
			break;
		case COLUMN_KIND_OID:
		case COLUMN_KIND_ENUM:
			READ_ROWS(keys, uint32, (int32) (stored ^ 0x80000000));
			break;
		case COLUMN_KIND_INT8:
			if (column->wide)
				READ_ROWS(batch->wide + batch->n, int64, stored);
			else
				READ_ROWS(keys, int64, column_narrow(stored));
			break;
		default:
			pg_unreachable();
	}
}

/* --- rows that are walked over */

/* A place in a row: of column attnum, which is at offset or behind some alignment. */
typedef struct RowWalk
{
	HeapTupleHeader row;
	int			attnum;
	uintptr_t	offset;
} RowWalk;

/* Walks on to a column that the row has, and that is not NULL. */
static pg_attribute_always_inline const char *
walk_to(const RowLayout *layout, RowWalk *walk, int attnum, bool has_nulls)
{
	const char *data = (const char *) walk->row + walk->row->t_hoff;
	uintptr_t	offset = walk->offset;
	int			a;

	for (a = walk->attnum;; a++)
	{
		const WalkStep *step = &layout->steps[a - 1];

		if (has_nulls && att_isnull(a - 1, walk->row->t_bits))
			continue;
		/* Alignment is zero bytes; any other byte is a short header, which is not aligned. */
		if (step->length != -1 || data[offset] == 0)
			offset = TYPEALIGN(step->align, offset);
		if (a == attnum)
			break;
		if (step->length > 0)
			offset += step->length;
		else if (step->length == -1)
			offset += VARSIZE_ANY(data + offset);
		else
			offset += strlen(data + offset) + 1;
	}
	walk->attnum = attnum;
	walk->offset = offset;
	return data + offset;
}

static pg_attribute_always_inline int64
load_value(ColumnKind kind, const char *at)
{
	switch (kind)
	{
		case COLUMN_KIND_BOOL:
		case COLUMN_KIND_CHAR:
			return *(const uint8 *) at;
		case COLUMN_KIND_INT2:
			return *(const int16 *) at;
		case COLUMN_KIND_INT4:
			return *(const int32 *) at;
		case COLUMN_KIND_OID:
		case COLUMN_KIND_ENUM:
			return *(const uint32 *) at;
		case COLUMN_KIND_INT8:
			return *(const int64 *) at;
		default:
			pg_unreachable();
	}
}

/* Where a page's NULLs of column c are marked: in the batch, or where they are taken out from. */
static inline uint8 *
page_nulls(const RowLayout *layout, int c, const ColumnBatch *batch)
{
	return layout->aligned ? batch->nulls + batch->n : layout->nulls + c * MaxHeapTuplesPerPage;
}

/* Reads columns first .. ncolumns - 1 of row i of a page. */
static pg_attribute_always_inline void
walk_row(const RowLayout *layout, RowWalk *walk, int first, int i, ColumnBatch *batches,
		 bool has_nulls)
{
	int			natts = HeapTupleHeaderGetNatts(walk->row);
	int			c;

	for (c = first; c < layout->ncolumns; c++)
	{
		const RowColumn *column = &layout->columns[c];
		ColumnBatch *batch = &batches[column->batch];
		bool		missing = unlikely(natts < column->attnum);

		if (missing ? column->missing_null
			: has_nulls && att_isnull(column->attnum - 1, walk->row->t_bits))
		{
			row_put_null(column, batch, batch->n + i);
			page_nulls(layout, c, batch)[i] = 1;
		}
		else
			row_put(column, batch, batch->n + i,
					missing ? column->missing
					: load_value(column->kind, walk_to(layout, walk, column->attnum, has_nulls)));
	}
}

/* Reads what read_fixed has not read: columns at varying offsets, and rows->walked. */
static void
read_walked(const RowLayout *layout, const NotedRows *rows, ColumnBatch *batches)
{
	bool		all = layout->nfixed < layout->ncolumns;
	int			n = all ? rows->n : rows->nwalked;
	int			nwalked = 0;
	int			w;

	for (w = 0; w < n; w++)
	{
		int			i = all ? w : rows->walked[w];
		RowWalk		walk = {.row = rows->rows[i], .attnum = 1};
		int			first = layout->nfixed;
		bool		has_nulls = (walk.row->t_infomask & HEAP_HASNULL) != 0;

		if (nwalked < rows->nwalked && rows->walked[nwalked] == i)
		{
			first = 0;
			nwalked++;
		}
		else if (!has_nulls)
		{
			walk.attnum = layout->known_attnum;
			walk.offset = layout->known_offset;
		}
		else if (layout->nfixed > 0)
		{
			walk.attnum = layout->last_fixed;
			walk.offset = layout->columns[layout->nfixed - 1].offset;
		}
		if (has_nulls)
			walk_row(layout, &walk, first, i, batches, true);
		else
			walk_row(layout, &walk, first, i, batches, false);
	}
}

/* Counts the NULLs of a page, and takes them out of a compact scan's batch. */
static void
count_nulls(const RowLayout *layout, ColumnBatch *batch, const uint8 *nulls, int nrows)
{
	int32	   *keys = batch->keys + batch->n;
	int			nnulls = 0;
	int			n = 0;
	int			i;

	for (i = 0; i < nrows; i++)
		nnulls += nulls[i];
	batch->nnulls += nnulls;
	batch->n += layout->aligned ? nrows : nrows - nnulls;
	if (layout->aligned || nnulls == 0)
		return;
	for (i = 0; i < nrows; i++)
	{
		keys[n] = keys[i];
		n += 1 - nulls[i];
	}
}

void
rows_read(const RowLayout *layout, const NotedRows *rows, ColumnBatch *batches)
{
	bool		walk = layout->nfixed < layout->ncolumns || rows->nwalked > 0;
	int			c;

	for (c = 0; c < layout->nfixed; c++)
		if (c != layout->early || !rows->early_read)
			read_fixed(&layout->columns[c], rows, &batches[layout->columns[c].batch]);
	if (walk)
	{
		for (c = 0; c < layout->ncolumns && !layout->aligned; c++)
			memset(page_nulls(layout, c, NULL), 0, rows->n);
		read_walked(layout, rows, batches);
	}
	for (c = 0; c < layout->ncolumns; c++)
	{
		ColumnBatch *batch = &batches[layout->columns[c].batch];

		if (walk)
			count_nulls(layout, batch, page_nulls(layout, c, batch), rows->n);
		else
			batch->n += rows->n;
	}
}
