/*
 * row.c
 *		Values of columns in the rows of a heap (see row.h).
 *
 * The offset of a value in its row is known beforehand if every column before it
 * has a fixed width and the row has no NULLs before it.  Otherwise the columns are
 * walked over from the last one at a known offset, as nocachegetattr does, but from one
 * column of varying length to the next (WalkStop); all columns that are wanted are
 * found on one walk.  Then each column is read in a loop over the page's rows.
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

/* Whether a column is read for a condition of keys, which takes longer than a comparison. */
static bool
is_of_keys(const RowColumn *column)
{
	return column->condition && column->condition->keys;
}

static int
compare_columns(const void *a, const void *b)
{
	const RowColumn *left = (const RowColumn *) a;
	const RowColumn *right = (const RowColumn *) b;

	if (left->attnum != right->attnum)
		return (int) left->attnum - (int) right->attnum;
	return (int) is_of_keys(left) - (int) is_of_keys(right);
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

/* Finds the offsets that are fixed. */
static void
find_offsets(RowLayout *layout)
{
	int			offset = 0;

	layout->known_attnum = 1;
	for (int i = 0; i < layout->last && offset >= 0; i++)
	{
		Form_pg_attribute att = TupleDescAttr(layout->desc, i);
		int			aligned = TYPEALIGN(align_bytes(att->attalign), offset);

		/* A varlena with a short header is not aligned, so its offset may vary. */
		if (att->attlen == -1 && offset != aligned)
			break;
		layout->known_attnum = i + 1;
		layout->known_offset = aligned;
		while (layout->nfixed < layout->ncolumns &&
			   layout->columns[layout->nfixed].attnum == i + 1)
			layout->columns[layout->nfixed++].offset = aligned;
		offset = att->attlen > 0 ? aligned + att->attlen : -1;
	}
}

/* Returns where columns from .. to - 1, of fixed lengths, end that are behind an offset. */
static int
skip_columns(TupleDesc desc, AttrNumber from, AttrNumber to, int offset)
{
	for (int a = from; a < to; a++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, a - 1);

		offset = TYPEALIGN(align_bytes(att->attalign), offset) + att->attlen;
	}
	return offset;
}

/*
 * Finds out from which stops on a row that has the last column has as many bytes as the alignment
 * and the header of a varlena may take.
 */
static void
find_roomy(RowLayout *layout, int nstops)
{
	AttrNumber	next = layout->last + 1;
	int			least = 0;

	for (int s = nstops - 1; s >= 0; s--)
	{
		WalkStop   *stop = &layout->stops[s];

		for (int a = stop->attnum; a < next; a++)
			least += Max(TupleDescAttr(layout->desc, a - 1)->attlen, 1);
		next = stop->attnum;
		stop->roomy = stop->length == -1 && least >= stop->align - 1 + VARHDRSZ;
	}
}

/* Fills in the stops. */
static void
find_stops(RowLayout *layout)
{
	int			nstops = 0;
	int			c = 0;

	layout->stops = palloc_array(WalkStop, Max(layout->last, 1));
	for (int a = 1; a <= layout->last; a++)
	{
		Form_pg_attribute att = TupleDescAttr(layout->desc, a - 1);
		WalkStop   *stop = &layout->stops[nstops];

		if (a > 1 && a != layout->known_attnum && att->attlen > 0 &&
			a != layout->columns[c].attnum)
			continue;
		if (a == layout->known_attnum)
			layout->known_stop = nstops;
		for (; c < layout->ncolumns && layout->columns[c].attnum == a; c++)
			layout->columns[c].stop = nstops;
		stop->attnum = a;
		stop->length = att->attlen;
		stop->align = align_bytes(att->attalign);
		for (int r = 0; nstops > 0 && r < MAXIMUM_ALIGNOF; r++)
		{
			int			end = skip_columns(layout->desc, stop[-1].attnum + 1, a, r);

			stop->skip[r] = (stop->length > 0 ? TYPEALIGN(stop->align, end) : end) - r;
		}
		nstops++;
	}
	find_roomy(layout, nstops);
}

/* The first column that has 4 bytes at a fixed offset. */
static void
find_early(RowLayout *layout)
{
	layout->early = -1;
	for (int c = 0; c < layout->nfixed && layout->early < 0; c++)
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

	memset(layout, 0, sizeof(*layout));
	layout->ncolumns = scan->ncolumns + nconditions;
	layout->columns = palloc0_array(RowColumn, Max(layout->ncolumns, 1));
	for (int c = 0; c < layout->ncolumns; c++)
	{
		RowColumn  *column = &layout->columns[c];

		if (c < scan->ncolumns)
		{
			column->attnum = scan->attnums[c];
			column->batch = c;
			if (scan->images)
				column->image = scan->images[c];
			column->kind = kind_of_column(&column->image, TupleDescAttr(desc, column->attnum - 1));
			column->null_only = column->kind == COLUMN_KIND_PRESENCE;
			column->wide = !scan->keys && column_kind_is_wide(column->kind);
		}
		else
		{
			column->condition = conditions[c - scan->ncolumns].condition;
			column->filter = conditions[c - scan->ncolumns].filter;
			column->further = conditions[c - scan->ncolumns].further;
			column->attnum = column->condition->attnum;
			column->kind = column->condition->kind;
			column->null_only = !filter_condition_compares(column->condition);
			column->batch = -1;
		}
		describe_column(column, desc);
	}
	qsort(layout->columns, layout->ncolumns, sizeof(RowColumn), compare_columns);
	layout->desc = desc;
	if (layout->ncolumns > 0)
		layout->last = layout->columns[layout->ncolumns - 1].attnum;
	find_offsets(layout);
	find_stops(layout);
	if (layout->nfixed > 0)
	{
		RowColumn  *column = &layout->columns[layout->nfixed - 1];

		layout->last_fixed = column->attnum;
		layout->blank = palloc0(column->offset + sizeof(int64));
	}
	find_early(layout);
}

/* --- where values lie */

/* Returns the length of a value at a stop that is not NULL. */
static pg_attribute_always_inline int
stop_length(const WalkStop *stop, const char *at)
{
	if (stop->length > 0)
		return stop->length;
	if (stop->length == -1)
		return VARSIZE_ANY(at);
	return strlen(at) + 1;
}

/* Returns where a stop that is not NULL begins, at or behind an offset in the data of its row. */
static pg_attribute_always_inline uintptr_t
stop_offset(const WalkStop *stop, const char *data, uintptr_t offset)
{
	/* Alignment is zero bytes; any other byte is a short header, which is not aligned. */
	return stop->length != -1 || data[offset] == 0 ? TYPEALIGN(stop->align, offset) : offset;
}

/*
 * Returns where a varlena ends that begins at or behind an offset in the data of its row.  Both
 * ways of writing its length are read: which one it is, is as good as random for texts of some 127
 * bytes, so that a branch would be mispredicted.
 */
static pg_attribute_always_inline uintptr_t
roomy_end(const char *data, uintptr_t offset, uintptr_t align)
{
	const char *at = data + offset;
	uintptr_t	aligned = TYPEALIGN(align, offset);
	uintptr_t	is_short = -(uintptr_t) VARATT_IS_1B(at);
	uintptr_t	short_end = offset + VARSIZE_1B(at);
	uintptr_t	long_end = aligned + VARSIZE_4B(data + aligned);

	if (unlikely(VARATT_IS_1B_E(at)))
		return offset + VARSIZE_EXTERNAL(at);
	return (short_end & is_short) | (long_end & ~is_short);
}

/*
 * Returns where columns from .. to - 1 end, which lie between two stops, of a row that has NULLs
 * among them.
 */
static int
skip_not_null(const RowLayout *layout, HeapTupleHeader row, AttrNumber from, AttrNumber to,
			  int offset)
{
	for (int a = from; a < to; a++)
		if (!heap_format_is_null(row, a))
			offset = skip_columns(layout->desc, a, a + 1, offset);
	return offset;
}

/* Walks on to the stop of a column that the row has, and that is not NULL. */
static pg_attribute_always_inline const char *
walk_to(const RowLayout *layout, HeapTupleHeader row, RowPlace *place, int target, bool has_nulls)
{
	const char *data = heap_format_data(row);
	const WalkStop *stop = &layout->stops[place->stop];
	const WalkStop *end = &layout->stops[target];
	uintptr_t	offset = place->offset;

	while (stop < end)
	{
		const WalkStop *next = stop + 1;

		if (!has_nulls || !heap_format_is_null(row, stop->attnum))
			offset += stop_length(stop, data + offset);
		if (has_nulls && heap_format_has_null_between(row, stop->attnum + 1, next->attnum + 1))
			offset = skip_not_null(layout, row, stop->attnum + 1, next->attnum, offset);
		else
			offset += next->skip[offset % MAXIMUM_ALIGNOF];
		stop = next;
		if (has_nulls && heap_format_is_null(row, stop->attnum))
			continue;
		offset = stop_offset(stop, data, offset);
	}
	place->stop = target;
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

	for (int c = from; c < to; c++)
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
			at = walk_to(layout, row, &place, column->stop, has_nulls);
		column->places[i] = at;
	}
	rows->last[i] = place;
}

static void
walk_any_row(RowLayout *layout, NotedRows *rows, int i, int from, int to)
{
	HeapTupleHeader row = rows->rows[i];

	if (heap_format_has_nulls(row) && !heap_format_has_all(row, layout->last))
		walk_row(layout, rows, i, from, to, true);
	else
		walk_row(layout, rows, i, from, to, false);
}

/* Walks on from a stop to the next one, in all rows of a page, which are regular. */
static void
walk_all_on(const WalkStop *stop, NotedRows *rows)
{
	const uint16 *skip = stop[1].skip;

	if (stop->roomy)
		for (int i = 0; i < rows->n; i++)
		{
			uintptr_t	end = roomy_end(rows->data[i], rows->last[i].offset, stop->align);

			rows->last[i].offset = end + skip[end % MAXIMUM_ALIGNOF];
		}
	else
		for (int i = 0; i < rows->n; i++)
		{
			const char *data = rows->data[i];
			uintptr_t	end = stop_offset(stop, data, rows->last[i].offset);

			end += stop_length(stop, data + end);
			rows->last[i].offset = end + skip[end % MAXIMUM_ALIGNOF];
		}
}

/*
 * Finds columns from .. to - 1 of the rows of a page, which are regular.  All rows are walked over
 * at once, from stop to stop: the processor need not wait for the length of one text before it
 * reads that of another row's.
 */
static void
walk_all(RowLayout *layout, NotedRows *rows, int from, int to)
{
	for (int c = from; c < to; c++)
	{
		RowColumn  *column = &layout->columns[c];
		const WalkStop *stop = &layout->stops[column->stop];

		if (column->null_only)
		{
			for (int i = 0; i < rows->n; i++)
				column->places[i] = (const char *) rows->rows[i];
			continue;
		}
		for (; rows->stop < column->stop; rows->stop++)
			walk_all_on(&layout->stops[rows->stop], rows);
		for (int i = 0; i < rows->n; i++)
			column->places[i] = rows->data[i] +
				stop_offset(stop, rows->data[i], rows->last[i].offset);
	}
}

/* Begins to walk over all rows of a page behind the fixed columns; false if one is not regular. */
static bool
begin_regular(const RowLayout *layout, NotedRows *rows)
{
	if (rows->nwalked > 0)
		return false;
	for (int i = 0; i < rows->n; i++)
	{
		if (!heap_format_has_all(rows->rows[i], layout->last))
			return false;
		rows->last[i].offset = layout->known_offset;
	}
	rows->stop = layout->known_stop;
	return true;
}

/* Sets where walking over a row begins that has the fixed columns, none of them NULL. */
static inline void
start_behind_fixed(const RowLayout *layout, NotedRows *rows, int i)
{
	RowPlace	start = {0, 0};

	if (!heap_format_has_nulls(rows->rows[i]))
	{
		start.stop = layout->known_stop;
		start.offset = layout->known_offset;
	}
	else if (layout->nfixed > 0)
	{
		start.stop = layout->columns[layout->nfixed - 1].stop;
		start.offset = layout->columns[layout->nfixed - 1].offset;
	}
	rows->last[i] = start;
}

/* Finds the fixed columns from .. to - 1 on a page that has rows without one of them. */
static void
locate_fixed(RowLayout *layout, NotedRows *rows, int from, int to)
{
	const RowPlace first = {0, 0};

	for (int c = from; c < to; c++)
		for (int i = 0; i < rows->n; i++)
			layout->columns[c].places[i] = rows->data[i] + layout->columns[c].offset;
	for (int w = 0; w < rows->nwalked; w++)
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

	if (ncolumns <= from)
		return;
	rows->nlocated = ncolumns;
	if (rows->nwalked > 0 && from < to)
		locate_fixed(layout, rows, from, to);
	if (ncolumns <= layout->nfixed)
	{
		if (2 * rows->n > rows->nnoted)
			rows->reach = layout->columns[ncolumns - 1].offset;
		return;
	}
	if (from <= layout->nfixed)
		rows->regular = begin_regular(layout, rows);
	from = Max(from, layout->nfixed);
	if (rows->regular)
		walk_all(layout, rows, from, ncolumns);
	for (int i = rows->regular ? rows->n : 0; i < rows->n; i++)
	{
		/* Of a row that is walked over from the first column on, locate_fixed has been there. */
		if (from == layout->nfixed && (rows->nwalked == 0 || rows->data[i] != layout->blank))
			start_behind_fixed(layout, rows, i);
		walk_any_row(layout, rows, i, from, ncolumns);
	}
	if (2 * rows->n > rows->nnoted)
		rows->reach = rows->last[rows->n - 1].offset;
}

void
rows_keep(RowLayout *layout, NotedRows *rows, const uint16 *kept, int n)
{
	if (n == rows->n)
		return;
	for (int c = rows->nwalked > 0 ? 0 : layout->nfixed; c < rows->nlocated; c++)
	{
		const RowColumn *column = &layout->columns[c];

		/* Columns of the qual have been looked at, but for those whose condition comes late. */
		if (column->condition == NULL || column->filter > 0 || column->condition->values)
			for (int i = 0; i < n; i++)
				column->places[i] = column->places[kept[i]];
	}
	for (int i = 0; i < n; i++)
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
	for (int i = 0; i < n; i++)
		if (rows->data[i] == layout->blank)
			rows->walked[rows->nwalked++] = i;
}

/* --- reading them */

/* A loop for each kind over a page's rows. */
#define READ_ROWS(target, type, value) \
	do { \
		for (int i = 0; i < n; i++) \
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
	for (int i = 0; i < n; i++)
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
	for (int i = 0; i < n; i++)
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

	for (int i = 0; i < n; i++)
	{
		nulls[i] = column->places[i] == column->null;
		nnulls += nulls[i];
	}
	return nnulls;
}

void
rows_read(RowLayout *layout, NotedRows *rows, ColumnBatch *batches)
{
	rows_locate(layout, rows, layout->ncolumns);
	for (int c = 0; c < layout->ncolumns; c++)
	{
		const RowColumn *column = &layout->columns[c];
		ColumnBatch *batch = &batches[column->batch];
		BatchSpace	space;
		int			nnulls = 0;

		if (column->batch < 0)
			continue;
		if (c != layout->early || !rows->early_read)
			rows_begin_loop(rows);
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
	for (int c = 0; c < layout->ncolumns; c++)
	{
		const RowColumn *column = &layout->columns[c];

		if (column->kind == COLUMN_KIND_NUMBER ? dictionary_ends_batch(column->image.dictionary) :
			column->kind == COLUMN_KIND_IMAGE && column->image.is_full &&
			column->image.is_full(column->image.arg))
			return true;
	}
	return false;
}

void
row_read_slot(const RowLayout *layout, TupleTableSlot *slot, ColumnBatch *batches)
{
	for (int c = 0; c < layout->ncolumns; c++)
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
