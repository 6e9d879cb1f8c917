/*
 * row.c
 *		Values of columns in the rows of a heap (see row.h).
 *
 * The offset of a value in its row is known beforehand if every column before it
 * has a fixed width and the row has no NULLs before it.  Otherwise the columns are
 * walked over from the last one at a known offset, as nocachegetattr does, but with
 * three bytes for a column (WalkStep) instead of its catalog row; all columns that
 * are wanted are found on one walk.  Then each column is read in a loop over the page's
 * rows.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/pages/row.h"

/* --- the layout */

/* Returns to how many bytes a type's values are aligned, by its typalign. */
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

/* A value as it lies in a row: in new memory, or where it is if it is passed by reference. */
static const char *
stored_datum(const RowColumn *column, Datum value)
{
	Datum	   *at;

	if (!column->byval)
		return DatumGetPointer(value);	/* it is the relation's as long as that is open */
	at = palloc_object(Datum);
	store_att_byval(at, value, column->length);
	return (const char *) at;
}

/* The kind of a column of which a scan wants this image; COLUMN_KIND_NONE if it is not read. */
static ColumnKind
kind_of_column(const ColumnImage *image, Form_pg_attribute att)
{
	if (image->dictionary)
		return COLUMN_KIND_NUMBER;
	if (image->presence)
		return COLUMN_KIND_PRESENCE;
	if (image->make)
		return COLUMN_KIND_IMAGE;
	return column_value_kind(att->atttypid, att->atttypmod);
}

/*
 * Describes column->attnum, of a kind that is not NONE unless the column is read for a condition,
 * but for its offset.
 */
static void
describe_column(RowColumn *column, TupleDesc desc)
{
	Form_pg_attribute att = TupleDescAttr(desc, column->attnum - 1);
	bool		missing_null;
	Datum		missing;

	if (column->kind == COLUMN_KIND_NONE && column->condition == NULL)
		elog(ERROR, "column %d is of a type that is not read", column->attnum);
	column->offset = -1;
	column->length = att->attlen;
	column->byval = att->attbyval;
	if (column->kind == COLUMN_KIND_NUMERIC)
		numeric_unit_find(att->atttypid, att->atttypmod, &column->unit);

	/* Read as 0, whatever the kind. */
	if (column->kind == COLUMN_KIND_IMAGE || column->kind == COLUMN_KIND_NUMBER ||
		column->kind == COLUMN_KIND_PRESENCE || column->kind == COLUMN_KIND_NUMERIC ||
		column->kind == COLUMN_KIND_NONE)
		column->null = palloc0(sizeof(Datum));
	else
		column->null = stored_datum(column, column_datum(column->kind,
														 column_kind_bias(column->kind)));

	/* Rows from before ALTER TABLE ADD COLUMN ... DEFAULT lack the column. */
	missing = getmissingattr(desc, column->attnum, &missing_null);
	column->missing = missing_null ? column->null : stored_datum(column, missing);
	column->places = palloc_array(const char *, MaxHeapTuplesPerPage);
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

/* The first column that has 4 bytes at a fixed offset. */
static void
find_early(RowLayout *layout)
{
	int			c;

	layout->early = -1;
	for (c = 0; c < layout->nfixed && layout->early < 0; c++)
	{
		ColumnKind	kind = layout->columns[c].kind;

		if (kind != COLUMN_KIND_INT4 && kind != COLUMN_KIND_OID && kind != COLUMN_KIND_ENUM)
			continue;
		layout->early = c;
		layout->early_flip = (uint32) column_kind_bias(kind);
	}
}

void
row_layout_init(RowLayout *layout, const ColumnScan *scan, int nconditions,
				const RowCondition *conditions)
{
	TupleDesc	desc = RelationGetDescr(scan->rel);
	int			c;

	memset(layout, 0, sizeof(*layout));
	layout->ncolumns = scan->ncolumns + nconditions;
	layout->columns = palloc0_array(RowColumn, Max(layout->ncolumns, 1));
	for (c = 0; c < layout->ncolumns; c++)
	{
		RowColumn  *column = &layout->columns[c];

		if (c < scan->ncolumns)
		{
			column->attnum = scan->attnums[c];
			column->batch = c;
			if (scan->images)
				column->image = scan->images[c];
			column->kind = kind_of_column(&column->image, TupleDescAttr(desc, column->attnum - 1));
			column->wide = !scan->keys && column_kind_is_wide(column->kind);
		}
		else
		{
			column->condition = conditions[c - scan->ncolumns].condition;
			column->filter = conditions[c - scan->ncolumns].filter;
			column->attnum = column->condition->attnum;
			column->kind = column->condition->kind;
			column->null_only = column->kind == COLUMN_KIND_NONE && !column->condition->texts;
			column->batch = -1;
		}
		describe_column(column, desc);
	}
	qsort(layout->columns, layout->ncolumns, sizeof(RowColumn), compare_columns);
	find_offsets(layout, desc);
	if (layout->nfixed > 0)
	{
		RowColumn  *column = &layout->columns[layout->nfixed - 1];

		layout->last_fixed = column->attnum;
		layout->blank = palloc0(column->offset + sizeof(int64));
	}
	find_early(layout);
}

/* --- where values lie */

/* Walks on to a column that the row has, and that is not NULL. */
static pg_attribute_always_inline const char *
walk_to(const RowLayout *layout, HeapTupleHeader row, RowPlace *place, int attnum, bool has_nulls)
{
	const char *data = heap_format_data(row);
	uintptr_t	offset = place->offset;
	int			a;

	for (a = place->attnum;; a++)
	{
		const WalkStep *step = &layout->steps[a - 1];

		if (has_nulls && heap_format_is_null(row, a))
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
	place->attnum = attnum;
	place->offset = offset;
	return data + offset;
}

/* Finds columns from .. to - 1 of row i of a page; its last place is at none behind the first. */
static pg_attribute_always_inline void
walk_row(RowLayout *layout, NotedRows *rows, int i, int from, int to, bool has_nulls)
{
	HeapTupleHeader row = rows->rows[i];
	RowPlace	place = rows->last[i];
	int			natts = HeapTupleHeaderGetNatts(row);
	int			c;

	for (c = from; c < to; c++)
	{
		RowColumn  *column = &layout->columns[c];
		const char *at;

		if (unlikely(natts < column->attnum))
			at = column->missing;
		else if (has_nulls && heap_format_is_null(row, column->attnum))
			at = column->null;
		else if (column->null_only)
			at = (const char *) row;
		else
			at = walk_to(layout, row, &place, column->attnum, has_nulls);
		column->places[i] = at;
	}
	rows->last[i] = place;
}

static void
walk_any_row(RowLayout *layout, NotedRows *rows, int i, int from, int to)
{
	if (heap_format_has_nulls(rows->rows[i]))
		walk_row(layout, rows, i, from, to, true);
	else
		walk_row(layout, rows, i, from, to, false);
}

/* Sets where walking over a row begins that has the fixed columns, none of them NULL. */
static inline void
start_behind_fixed(const RowLayout *layout, NotedRows *rows, int i)
{
	RowPlace	start = {1, 0};

	if (!heap_format_has_nulls(rows->rows[i]))
	{
		start.attnum = layout->known_attnum;
		start.offset = layout->known_offset;
	}
	else if (layout->nfixed > 0)
	{
		start.attnum = layout->last_fixed;
		start.offset = layout->columns[layout->nfixed - 1].offset;
	}
	rows->last[i] = start;
}

/* Finds the fixed columns from .. to - 1 on a page that has rows without one of them. */
static void
locate_fixed(RowLayout *layout, NotedRows *rows, int from, int to)
{
	const RowPlace first = {1, 0};
	int			c;
	int			i;
	int			w;

	for (c = from; c < to; c++)
		for (i = 0; i < rows->n; i++)
			layout->columns[c].places[i] = rows->data[i] + layout->columns[c].offset;
	for (w = 0; w < rows->nwalked; w++)
	{
		if (from == 0)
			rows->last[rows->walked[w]] = first;
		walk_any_row(layout, rows, rows->walked[w], from, to);
	}
}

void
rows_locate(RowLayout *layout, NotedRows *rows, int ncolumns)
{
	int			from = rows->nlocated;
	int			to = Min(ncolumns, layout->nfixed);
	int			i;

	if (ncolumns <= from)
		return;
	rows->nlocated = ncolumns;
	if (rows->nwalked > 0 && from < to)
		locate_fixed(layout, rows, from, to);
	if (ncolumns <= layout->nfixed)
		return;
	from = Max(from, layout->nfixed);
	for (i = 0; i < rows->n; i++)
	{
		/* Of a row that is walked over from the first column on, locate_fixed has been there. */
		if (from == layout->nfixed && (rows->nwalked == 0 || rows->data[i] != layout->blank))
			start_behind_fixed(layout, rows, i);
		walk_any_row(layout, rows, i, from, ncolumns);
	}
}

void
rows_keep(RowLayout *layout, NotedRows *rows, const uint16 *kept, int n)
{
	int			c;
	int			i;

	if (n == rows->n)
		return;
	for (c = rows->nwalked > 0 ? 0 : layout->nfixed; c < rows->nlocated; c++)
	{
		const RowColumn *column = &layout->columns[c];

		/* Columns of the qual have been looked at. */
		if (column->condition == NULL || column->filter > 0)
			for (i = 0; i < n; i++)
				column->places[i] = column->places[kept[i]];
	}
	for (i = 0; i < n; i++)
	{
		int			from = kept[i];

		rows->rows[i] = rows->rows[from];
		rows->lines[i] = rows->lines[from];
		rows->data[i] = rows->data[from];
		rows->last[i] = rows->last[from];
	}
	rows->n = n;
	if (rows->nwalked == 0)
		return;
	rows->nwalked = 0;
	for (i = 0; i < n; i++)
		if (rows->data[i] == layout->blank)
			rows->walked[rows->nwalked++] = i;
}

/* --- reading them */

/* A loop for each kind over a page's rows. */
#define READ_ROWS(target, type, value) \
	do { \
		for (i = 0; i < n; i++) \
		{ \
			type		stored = *(const type *) (data[i] + offset); \
			\
			(target)[i] = (value); \
		} \
	} while (0)

/* Makes images of n values, which lie at data[i] + offset; of a NULL 0. */
static void
make_images(const RowColumn *column, const char *const *data, int offset, int n, int64 *images)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		const char *at = data[i] + offset;

		/* A value may be large, and in another table. */
		CHECK_FOR_INTERRUPTS();
		images[i] = at == column->null ? 0
			: column->image.make(column->image.arg, fetch_att(at, column->byval, column->length));
	}
}

/* Does what make_images does, with numerics. */
static void
read_numerics(const RowColumn *column, const char *const *data, int offset, int n, int64 *values)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		const char *at = data[i] + offset;

		values[i] = at == column->null ? 0 : numeric_unit_value(column->unit, at);
	}
}

/* Writes the values of n rows, which lie at data[i] + offset. */
static void
read_column(const RowColumn *column, const char *const *data, int offset, int n,
			const BatchSpace *space)
{
	uint32		flip = (uint32) column_kind_bias(column->kind);
	int32	   *keys = space->keys;
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
		case COLUMN_KIND_FLOAT4:
			READ_ROWS(keys, uint32, float4_key(stored));
			break;
		case COLUMN_KIND_OID:
		case COLUMN_KIND_ENUM:
			READ_ROWS(keys, uint32, (int32) (stored ^ flip));
			break;
		case COLUMN_KIND_INT8:
			if (column->wide)
				READ_ROWS(space->wide, int64, stored);
			else
				READ_ROWS(keys, int64, column_narrow(stored));
			break;
		case COLUMN_KIND_FLOAT8:
			Assert(column->wide);
			READ_ROWS(space->wide, uint64, float8_key(stored));
			break;
		case COLUMN_KIND_NUMERIC:
			Assert(column->wide);
			read_numerics(column, data, offset, n, space->wide);
			break;
		case COLUMN_KIND_NUMBER:
			dictionary_read(column->image.dictionary, data, offset, n, column->null, keys);
			break;
		case COLUMN_KIND_PRESENCE:
			memset(keys, 0, n * sizeof(int32));
			break;
		case COLUMN_KIND_IMAGE:
			Assert(column->wide);
			make_images(column, data, offset, n, space->wide);
			break;
		default:
			pg_unreachable();
	}
}

/* Marks the NULLs of n rows, and counts them. */
static int
mark_nulls(const RowColumn *column, int n, uint8 *nulls)
{
	int			nnulls = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		nulls[i] = column->places[i] == column->null;
		nnulls += nulls[i];
	}
	return nnulls;
}

void
rows_read(RowLayout *layout, NotedRows *rows, ColumnBatch *batches)
{
	int			c;

	rows_locate(layout, rows, layout->ncolumns);
	for (c = 0; c < layout->ncolumns; c++)
	{
		const RowColumn *column = &layout->columns[c];
		ColumnBatch *batch = &batches[column->batch];
		BatchSpace	space;
		int			nnulls = 0;

		if (column->batch < 0)
			continue;
		space = column_batch_space(batch, rows->n);
		if (rows_are_walked(layout, rows, c))
		{
			read_column(column, column->places, 0, rows->n, &space);
			nnulls = mark_nulls(column, rows->n, space.nulls);
		}
		else if (c != layout->early || !rows->early_read)
			read_column(column, rows->data, column->offset, rows->n, &space);
		column_batch_add(batch, rows->n, nnulls);
	}
}

/* The integer of a value of a column that is not NULL. */
static int64
value_of_datum(const RowColumn *column, Datum datum)
{
	switch (column->kind)
	{
		case COLUMN_KIND_IMAGE:
			return column->image.make(column->image.arg, datum);
		case COLUMN_KIND_NUMERIC:
			return numeric_unit_value(column->unit, DatumGetPointer(datum));
		case COLUMN_KIND_NUMBER:
			return dictionary_number(column->image.dictionary, datum);
		case COLUMN_KIND_PRESENCE:
			return 0;
		default:
			return column_value(column->kind, datum);
	}
}

bool
rows_end_batch(const RowLayout *layout)
{
	int			c;

	for (c = 0; c < layout->ncolumns; c++)
		if (layout->columns[c].kind == COLUMN_KIND_NUMBER &&
			dictionary_ends_batch(layout->columns[c].image.dictionary))
			return true;
	return false;
}

void
row_read_slot(const RowLayout *layout, TupleTableSlot *slot, ColumnBatch *batches)
{
	int			c;

	for (c = 0; c < layout->ncolumns; c++)
	{
		const RowColumn *column = &layout->columns[c];
		ColumnBatch *batch = &batches[column->batch];
		int64		bias = column_kind_bias(column->kind);
		int64		value = bias;	/* 0 for a NULL */
		bool		isnull;
		Datum		datum;

		if (column->batch < 0)
			continue;
		datum = slot_getattr(slot, column->attnum, &isnull);

		if (!isnull)
			value = value_of_datum(column, datum);
		column_batch_put(batch, column->wide ? value : column_narrow(value - bias), isnull);
	}
}
