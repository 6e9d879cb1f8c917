/*
 * row_filter.c
 *		Conditions of columns for the rows of a page (see row_filter.h).
 *
 * A condition is evaluated for all rows at once: values are read into an array, and compared there,
 * without branches that depend on them.
 */
#include "postgres.h"

#include "pg/pages/row_filter.h"

/* Ranges that are compared one after the other; among more, values are searched. */
#define FEW_RANGES 4

/* --- the values of a condition's column */

/* A loop for each kind over a page's rows. */
#define READ_ROWS(type, value) \
	do { \
		for (int i = 0; i < n; i++) \
		{ \
			type		stored = *(const type *) (data[i] + offset); \
			\
			values[i] = (value); \
		} \
	} while (0)

/*
 * Reads what a condition compares of n rows, whose values lie at data[i] + offset.  Not inlined:
 * gcc then takes no values for what key_set_mark reads.
 */
static pg_noinline void
read_values(const RowColumn *column, const char *const *data, int offset, int n, int64 *values)
{
	switch (column->kind)
	{
		case COLUMN_KIND_BOOL:
		case COLUMN_KIND_CHAR:
			READ_ROWS(uint8, stored);
			break;
		case COLUMN_KIND_INT2:
			READ_ROWS(int16, stored);
			break;
		case COLUMN_KIND_INT4:
			READ_ROWS(int32, stored);
			break;
		case COLUMN_KIND_OID:
		case COLUMN_KIND_ENUM:
			READ_ROWS(uint32, stored);
			break;
		case COLUMN_KIND_INT8:
			READ_ROWS(int64, stored);
			break;
		case COLUMN_KIND_FLOAT4:
			READ_ROWS(float4, filter_condition_float(stored));
			break;
		case COLUMN_KIND_FLOAT8:
			READ_ROWS(float8, filter_condition_float(stored));
			break;
		case COLUMN_KIND_NUMERIC:
			for (int i = 0; i < n; i++)
				values[i] = data[i] == column->null ? 0 :
					numeric_unit_value(column->unit, data[i] + offset);
			break;
		default:
			pg_unreachable();
	}
}

/* --- whether they are in its set */

/* Sets passed[i] to whether the condition of a column accepts value i of n. */
static void
test_values(const RowColumn *column, const int64 *values, int n, uint8 *passed)
{
	const FilterCondition *condition = column->condition;

	if (column->keys)
	{
		key_set_mark(column->keys, values, n, passed);
		for (int i = 0; i < n; i++)
			passed[i] ^= column->excluded;
		return;
	}
	if (condition->nranges > FEW_RANGES)
	{
		for (int i = 0; i < n; i++)
			passed[i] = long_ranges_have(condition->ranges, condition->nranges, values[i]);
		return;
	}
	memset(passed, 0, n);
	for (size_t r = 0; r < condition->nranges; r++)
	{
		uint64		lo = (uint64) condition->ranges[r].lo;
		uint64		span = (uint64) condition->ranges[r].hi - lo;

		for (int i = 0; i < n; i++)
			passed[i] |= (uint64) values[i] - lo <= span;
	}
}

/* Sets passed[i] to whether a text condition accepts value i of n; of NULLs to false. */
static void
test_texts(const RowColumn *column, const char *const *data, int offset, int n, uint8 *passed)
{
	const TextCondition *condition = column->condition->texts;

	for (int i = 0; i < n; i++)
		passed[i] = data[i] != column->null && text_condition_test(condition, data[i] + offset);
}

/*
 * Sets passed[i] to whether row i passes the condition of a column, which has been found; anything
 * if skip[i], of rows that are refused already, or NULL.
 */
static void
test_rows(const RowLayout *layout, NotedRows *rows, int c, const uint8 *skip, uint8 *passed)
{
	const RowColumn *column = &layout->columns[c];
	const FilterCondition *condition = column->condition;
	bool		walked = rows_are_walked(layout, rows, c);
	const char *const *data = walked ? column->places : rows->data;
	int			offset = walked ? 0 : column->offset;
	int64		values[MaxHeapTuplesPerPage];

	rows_begin_loop(rows);
	if (condition->texts)
		test_texts(column, data, offset, rows->n, passed);
	else if (condition->values)
		value_condition_test(condition->values, data, offset, rows->n, column->null, skip, passed);
	else if (column->null_only)
		memset(passed, condition->nranges > 0, rows->n);
	else
	{
		read_values(column, data, offset, rows->n, values);
		rows_begin_loop(rows);
		test_values(column, values, rows->n, passed);
	}
	if (!walked || condition->texts)
		return;
	for (int i = 0; i < rows->n; i++)
		if (data[i] == column->null)
			passed[i] = condition->nulls;
}

/* --- filters */

/* At most so many values a range become keys, which takes as long as planning the list does. */
#define KEYS_PER_RANGE 64

/* Returns the set of all values of n ranges, in the current memory context; NULL: too many. */
static const KeySet *
keys_of_ranges(const LongRange *ranges, size_t n)
{
	uint64		nkeys = 0;
	int64	   *keys;
	KeySet		header;
	KeySet	   *set;

	for (size_t r = 0; r < n; r++)
	{
		uint64		span = (uint64) ranges[r].hi - (uint64) ranges[r].lo;

		if (span >= n * KEYS_PER_RANGE - nkeys)
			return NULL;
		nkeys += span + 1;
	}
	keys = MemoryContextAllocHuge(CurrentMemoryContext, nkeys * sizeof(int64));
	nkeys = 0;
	for (size_t r = 0; r < n; r++)
		for (uint64 i = 0; i <= (uint64) ranges[r].hi - (uint64) ranges[r].lo; i++)
			keys[nkeys++] = (int64) ((uint64) ranges[r].lo + i);
	key_set_plan(keys, nkeys, &header);
	set = MemoryContextAllocHuge(CurrentMemoryContext, header.size);
	key_set_write(&header, keys, nkeys, set);
	pfree(keys);
	return set;
}

/* Finds the keys of a column's condition, those of a list of values accepted or refused as well. */
static void
find_keys(RowColumn *column)
{
	const FilterCondition *condition = column->condition;
	LongRange  *others;

	column->keys = condition->keys;
	column->excluded = condition->excluded;
	if (condition->keys || condition->nranges <= FEW_RANGES)
		return;
	column->keys = keys_of_ranges(condition->ranges, condition->nranges);
	if (column->keys)
		return;
	others = MemoryContextAllocHuge(CurrentMemoryContext,
									(condition->nranges + 1) * sizeof(LongRange));
	column->keys = keys_of_ranges(others, long_ranges_complement(condition->ranges,
																 condition->nranges, others));
	column->excluded = true;
	pfree(others);
}

void
row_filter_order(RowLayout *layout, int nconditions, const RowCondition *conditions)
{
	layout->conditions = palloc_array(int, Max(nconditions, 1));
	for (int c = 0; c < layout->ncolumns; c++)
		if (layout->columns[c].condition && layout->columns[c].condition->values == NULL)
		{
			layout->conditions[layout->nconditions++] = c;
			find_keys(&layout->columns[c]);
		}
	for (int i = 0; i < nconditions; i++)
		for (int c = 0; c < layout->ncolumns && conditions[i].condition->values; c++)
			if (layout->columns[c].condition == conditions[i].condition)
				layout->conditions[layout->nconditions++] = c;
}

/*
 * An optional condition is evaluated for so many rows, and for more if it refuses one of
 * TRIED_PER_REFUSED or more: refusing a row early spares about as much as ten evaluations cost.
 */
#define TRIED_ROWS 20000
#define TRIED_PER_REFUSED 10

/* Whether an optional condition has refused so few rows that it is not worth its time. */
static inline bool
is_given_up(const RowColumn *column)
{
	return column->condition->optional && column->tested >= TRIED_ROWS &&
		column->refused * TRIED_PER_REFUSED < column->tested;
}

int
row_filter_keep(RowLayout *layout, NotedRows *rows)
{
	uint8		passed[MaxHeapTuplesPerPage];
	uint16		kept[MaxHeapTuplesPerPage];
	int			unmatched = 0;

	for (int k = 0; k < layout->nconditions && rows->n > 0; k++)
	{
		int			c = layout->conditions[k];
		RowColumn  *column = &layout->columns[c];
		int			n = 0;

		if (column->filter != 0 || is_given_up(column))
			continue;
		rows_locate(layout, rows, c + 1);
		test_rows(layout, rows, c, NULL, passed);
		rows_begin_loop(rows);
		for (int i = 0; i < rows->n; i++)
		{
			kept[n] = i;
			n += passed[i];
		}
		column->tested += rows->n;
		column->refused += rows->n - n;
		if (column->further)
			unmatched += rows->n - n;
		rows_begin_loop(rows);
		rows_keep(layout, rows, kept, n);
	}
	return unmatched;
}

void
row_filter_mark(RowLayout *layout, NotedRows *rows, int filter, uint8 *refused)
{
	uint8		passed[MaxHeapTuplesPerPage];

	memset(refused, 0, rows->n);
	for (int k = 0; k < layout->nconditions; k++)
	{
		int			c = layout->conditions[k];

		if (layout->columns[c].filter != filter)
			continue;
		rows_locate(layout, rows, c + 1);
		test_rows(layout, rows, c, refused, passed);
		for (int i = 0; i < rows->n; i++)
			refused[i] |= 1 ^ passed[i];
	}
}
