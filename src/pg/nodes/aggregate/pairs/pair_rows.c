/*
 * pair_rows.c
 *		(group, value) pairs in a table, or as rows of core tuplesorts (see pair_rows.h).
 *
 * Integers are in a table until it is full.  Then they are rows of the group's columns, the marker,
 * the value and the count, all of them int8, sorted by all but the count.
 *
 * Values of other types are sorted as PostgreSQL's own aggregates sort them: rows of the group's
 * columns, the value and the marker are sorted by the group alone, and then the values of one group
 * after the other, abbreviated where the type has abbreviations.  Without grouping columns there is
 * only the second sort.  Values of a small group are sorted in an array, for which a tuplesort,
 * with its abbreviations, would take longer to begin than to sort.
 *
 * The next row is always read ahead, because it alone says whether the group has ended.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_rows.h"

/* Runs that are moved from the table at once. */
#define TABLE_RUNS 256

/* Bytes in which values are kept that have been read: a block of runs has some. */
#define KEPT_BLOCK (64 * 1024)

/* Values of a group that are sorted in an array. */
#define FEW_VALUES 64

/* The row of integers that has been read ahead, without its group. */
typedef struct PairRow
{
	bool		group_ended;	/* the group has no more rows; the row is the first of the next
								 * group, if there is one */
	int			marker;			/* a PairMarker; PAIR_MARKERS: it has a value */
	int64		value;
	int64		count;			/* how many pairs it stands for */
} PairRow;

/* Values that are no integers: what there is of them beside the rows. */
typedef struct PairValues
{
	int16		typlen;			/* as typbyval is */
	bool		typbyval;
	bool		alike;			/* equal values look alike */
	SortSupportData compare;	/* values that do not */
	Tuplesortstate *sort;		/* the values of a group */
	bool		sorting;		/* values have been put there */
	Datum		few[FEW_VALUES];	/* all values of a small group, in behind */
	int			nfew;			/* how many */
	int			few_read;		/* how many of these have been read */
	int64		markers[PAIR_MARKERS];	/* of the group, or so far of all rows */
	int64		left;			/* values of the group that are in the sort */
	MemoryContext kept;			/* of values that have been read */
	MemoryContext scratch;		/* of what comparisons leave behind */
	MemoryContext behind;		/* of the values of a small group; of another's value that a block
								 * had no room for ... */
	bool		has_behind;
	Datum		value;			/* ... which is here */
} PairValues;

struct PairRows
{
	const GroupColumn *columns;
	int			ncolumns;
	MemoryContext memory;
	size_t		limit;			/* bytes of it */
	PairValues *values;			/* NULL: values are integers */
	PairTable  *table;			/* of all pairs; NULL: they are rows */
	Tuplesortstate *sort;		/* NULL: there is no row, or no grouping column of other values */
	TupleTableSlot *slot;		/* of a row that is added */
	TupleTableSlot *out;		/* of a row that is read */

	/* Reading. */
	GroupValues group;			/* the group that is read */
	GroupValues next;			/* the group of the row that has been read ahead */
	bool		ended;			/* there is no such row */
	PairRow		row;			/* of integers */
};

/* --- rows of a tuplesort */

/*
 * Makes the sort of rows of the group's columns, which are int8, and of others.  They are sorted by
 * the group, and by nsorted columns behind it.
 */
static void
begin_rows(PairRows *rows, const Oid *types, int ntypes, int nsorted, int options)
{
	MemoryContext old = MemoryContextSwitchTo(rows->memory);
	int			n = rows->ncolumns;
	int			nkeys = n + nsorted;
	TupleDesc	desc = CreateTemplateTupleDesc(n + ntypes);
	AttrNumber *attnos = palloc_array(AttrNumber, nkeys);
	Oid		   *operators = palloc_array(Oid, nkeys);
	Oid		   *collations = palloc0_array(Oid, nkeys);
	bool	   *nulls_first = palloc0_array(bool, nkeys);
	TypeCacheEntry *int8 = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	for (int c = 0; c < n + ntypes; c++)
		TupleDescInitEntry(desc, c + 1, NULL, c < n ? INT8OID : types[c - n], -1, 0);
	TupleDescFinalize(desc);
	for (int c = 0; c < nkeys; c++)
	{
		attnos[c] = c + 1;
		operators[c] = c < n && rows->columns[c].descending ? int8->gt_opr : int8->lt_opr;

		nulls_first[c] = c < n && rows->columns[c].nulls_first;
	}
	rows->sort = tuplesort_begin_heap(desc, nkeys, attnos, operators, collations, nulls_first,
									  (int) Min(rows->limit / 1024, MAX_KILOBYTES), NULL, options);
	rows->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	rows->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
}

/* Begins a row that is added: its group is in the slot, and no other column is NULL. */
static TupleTableSlot *
begin_row(PairRows *rows, const GroupValues *group)
{
	TupleTableSlot *slot = rows->slot;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, 0, slot->tts_tupleDescriptor->natts);
	for (int c = 0; c < rows->ncolumns; c++)
	{
		slot->tts_values[c] = Int64GetDatum(group->values[c]);
		slot->tts_isnull[c] = group->nulls[c];
	}
	return slot;
}

/* Reads the next row ahead; returns false at the end. */
static bool
read_row(PairRows *rows)
{
	TupleTableSlot *slot = rows->out;
	GroupValues *next = &rows->next;

	CHECK_FOR_INTERRUPTS();
	rows->ended = !tuplesort_gettupleslot(rows->sort, true, false, slot, NULL);
	if (rows->ended)
		return false;
	slot_getallattrs(slot);
	for (int c = 0; c < rows->ncolumns; c++)
	{
		next->nulls[c] = slot->tts_isnull[c];
		next->values[c] = next->nulls[c] ? 0 : DatumGetInt64(slot->tts_values[c]);
	}
	return true;
}

/* Whether the row that has been read ahead is of the group that is read. */
static bool
is_of_group(const PairRows *rows)
{
	return !rows->ended &&
		group_values_compare(rows->columns, rows->ncolumns, &rows->next, &rows->group) == 0;
}

/* The group of the row that has been read ahead is read now. */
static void
enter_group(PairRows *rows)
{
	GroupValues old = rows->group;

	rows->group = rows->next;
	rows->next = old;
}

/* --- values that are no integers */

static PairValues *
make_values(PairRows *rows, const PairType *type)
{
	PairValues *values = palloc0_object(PairValues);
	Oid			sortop = dictionary_order_operator(type->type);
	Oid			types[] = {type->type, CHAROID};

	rows->limit = Max(rows->limit, 64 * 1024);
	get_typlenbyval(type->type, &values->typlen, &values->typbyval);
	values->kept = AllocSetContextCreate(rows->memory, "hpsort pair values", 0, KEPT_BLOCK,
										 KEPT_BLOCK);
	values->scratch = AllocSetContextCreate(rows->memory, "hpsort pair comparisons",
											ALLOCSET_SMALL_SIZES);
	values->behind = AllocSetContextCreate(rows->memory, "hpsort pair value",
										   ALLOCSET_SMALL_SIZES);
	values->alike = dictionary_equal_is_identical(type->type, -1, type->collation);
	dictionary_order_compare(&values->compare, sortop, type->collation);
	if (rows->ncolumns > 0)
		begin_rows(rows, types, lengthof(types), 0, TUPLESORT_NONE);
	values->sort = tuplesort_begin_datum(type->type, sortop, type->collation, false,
										 (int) Min(rows->limit / 1024, MAX_KILOBYTES), NULL,
										 TUPLESORT_NONE);
	return values;
}

/* Puts the values of a group that is not small into the sort. */
static void
leave_few(PairValues *values)
{
	for (int i = 0; i < values->nfew; i++)
		tuplesort_putdatum(values->sort, values->few[i], false);
	values->nfew = 0;
}

/* Adds a marker or a value to those of the group that is read. */
static void
take(PairRows *rows, int marker, Datum value)
{
	PairValues *values = rows->values;

	if (marker < PAIR_MARKERS)
	{
		values->markers[marker]++;
		return;
	}
	values->left++;
	if (rows->sort && values->left <= FEW_VALUES)
	{
		MemoryContext old = MemoryContextSwitchTo(values->behind);

		values->few[values->nfew++] = datumCopy(value, values->typbyval, values->typlen);
		MemoryContextSwitchTo(old);
		return;
	}
	leave_few(values);
	tuplesort_putdatum(values->sort, value, false);
	values->sorting = true;
}

static void
add_values(PairRows *rows, const GroupValues *group, int marker, Datum value, int64 count)
{
	TupleTableSlot *slot;
	int			n = rows->ncolumns;

	for (; n == 0 && count > 0; count--)
		take(rows, marker, value);
	if (count == 0)
		return;
	slot = begin_row(rows, group);
	slot->tts_values[n] = value;
	slot->tts_isnull[n] = marker < PAIR_MARKERS;
	slot->tts_values[n + 1] = CharGetDatum((char) marker);
	ExecStoreVirtualTuple(slot);
	for (; count > 0; count--)
		tuplesort_puttupleslot(rows->sort, slot);
}

static void
free_values(PairValues *values)
{
	tuplesort_end(values->sort);
	MemoryContextDelete(values->kept);
	MemoryContextDelete(values->scratch);
	MemoryContextDelete(values->behind);
	pfree(values);
}

static void
finish_values(PairRows *rows)
{
	PairValues *values = rows->values;

	if (rows->sort)
	{
		tuplesort_performsort(rows->sort);
		read_row(rows);
		return;
	}
	/* All rows are of one group, if there are any. */
	rows->ended = values->left == 0;
	for (int i = 0; i < PAIR_MARKERS; i++)
		rows->ended &= values->markers[i] == 0;
}

/* Puts all values of the group of the row that has been read ahead into the sort. */
static void
take_group(PairRows *rows)
{
	PairValues *values = rows->values;
	int			n = rows->ncolumns;

	enter_group(rows);
	MemoryContextReset(values->behind);
	values->left = values->nfew = values->few_read = 0;
	values->has_behind = false;
	memset(values->markers, 0, sizeof(values->markers));
	if (values->sorting)
		tuplesort_reset(values->sort);
	values->sorting = false;
	do
	{
		take(rows, DatumGetChar(rows->out->tts_values[n + 1]), rows->out->tts_values[n]);
		read_row(rows);
	} while (is_of_group(rows));
}

/* A qsort_arg_comparator of Datums. */
static int
compare_few(const void *a, const void *b, void *arg)
{
	return ApplySortComparator(*(const Datum *) a, false, *(const Datum *) b, false,
							   &((PairValues *) arg)->compare);
}

static void
sort_few(PairValues *values)
{
	MemoryContext old = MemoryContextSwitchTo(values->scratch);

	qsort_arg(values->few, values->nfew, sizeof(Datum), compare_few, values);
	MemoryContextSwitchTo(old);
	MemoryContextReset(values->scratch);
}

static const GroupValues *
next_group_of_values(PairRows *rows, int64 *markers)
{
	PairValues *values = rows->values;

	if (rows->ended)
		return NULL;
	if (rows->sort)
		take_group(rows);
	else
		rows->ended = true;
	memcpy(markers, values->markers, sizeof(values->markers));
	if (values->sorting)
		tuplesort_performsort(values->sort);
	else if (values->nfew > 1)
		sort_few(values);
	return &rows->group;
}

static bool
are_equal(PairValues *values, Datum a, Datum b)
{
	MemoryContext old;
	int			result;

	if (datum_image_eq(a, b, values->typbyval, values->typlen))
		return true;
	if (values->alike)
		return false;
	old = MemoryContextSwitchTo(values->scratch);
	result = ApplySortComparator(a, false, b, false, &values->compare);
	MemoryContextSwitchTo(old);
	MemoryContextReset(values->scratch);
	return result == 0;
}

/* Returns the next value of the group, in the current memory context. */
static Datum
next_value(PairValues *values)
{
	Datum		value;
	bool		isnull;

	values->left--;
	if (values->nfew > 0)
		return values->few[values->few_read++];
	if (!tuplesort_getdatum(values->sort, true, true, &value, &isnull, NULL))
		elog(ERROR, "values of a group have been lost");
	return value;
}

/* Values that are equal become one run. */
static size_t
runs_of_values(PairValues *values, uint64 *datums, uint64 *counts, size_t room)
{
	MemoryContext old = MemoryContextSwitchTo(values->kept);
	size_t		n = 0;

	/* Otherwise a value behind would take the memory of a small group's. */
	Assert(room >= FEW_VALUES);
	if (values->has_behind)
	{
		datums[0] = (uint64) datumCopy(values->value, values->typbyval, values->typlen);
		counts[n++] = 1;
		values->has_behind = false;
	}
	while (values->left > 0 && !values->has_behind)
	{
		Datum		value = next_value(values);

		if (n > 0 && are_equal(values, (Datum) datums[n - 1], value))
			counts[n - 1]++;
		else if (n < room)
		{
			datums[n] = (uint64) value;
			counts[n++] = 1;
			continue;
		}
		else
		{
			MemoryContextReset(values->behind);
			MemoryContextSwitchTo(values->behind);
			values->value = datumCopy(value, values->typbyval, values->typlen);
			MemoryContextSwitchTo(values->kept);
			values->has_behind = true;
		}
		if (!values->typbyval)
			pfree(DatumGetPointer(value));
	}
	MemoryContextSwitchTo(old);
	return n;
}

/* --- integers */

static void
add_row(PairRows *rows, const GroupValues *group, int marker, int64 value, int64 count)
{
	static const Oid types[] = {INT8OID, INT8OID, INT8OID};
	TupleTableSlot *slot;
	int			n = rows->ncolumns;

	if (rows->sort == NULL)
	{
		/* pair_rows_count goes back. */
		begin_rows(rows, types, lengthof(types), 2, TUPLESORT_RANDOMACCESS);
	}
	slot = begin_row(rows, group);
	slot->tts_values[n] = Int64GetDatum(marker);
	slot->tts_values[n + 1] = Int64GetDatum(value);
	slot->tts_values[n + 2] = Int64GetDatum(count);
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(rows->sort, slot);
}

/* Makes rows of the pairs of the table. */
static void
leave_table(PairRows *rows)
{
	PairTable  *table = rows->table;
	uint64		values[TABLE_RUNS];
	uint64		counts[TABLE_RUNS];
	int64		markers[PAIR_MARKERS];
	const GroupValues *group;
	size_t		n;

	rows->table = NULL;
	pair_table_finish(table);
	while ((group = pair_table_next_group(table, markers)) != NULL)
	{
		for (size_t i = 0; i < PAIR_MARKERS; i++)
			if (markers[i] > 0)
				add_row(rows, group, (int) i, 0, markers[i]);
		while ((n = pair_table_runs(table, values, counts, TABLE_RUNS)) > 0)
			for (size_t i = 0; i < n; i++)
				add_row(rows, group, PAIR_MARKERS, (int64) values[i], (int64) counts[i]);
	}
	pair_table_free(table);
}

/* Reads the next row ahead, and notes whether it is of another group. */
static void
next_row(PairRows *rows)
{
	Datum	   *values = &rows->out->tts_values[rows->ncolumns];
	PairRow    *row = &rows->row;

	if (read_row(rows))
	{
		row->marker = (int) DatumGetInt64(values[0]);
		row->value = DatumGetInt64(values[1]);
		row->count = DatumGetInt64(values[2]);
	}
	row->group_ended = !is_of_group(rows);
}

/* --- all of them */

PairRows *
pair_rows_make(const SortContext *context, const GroupColumn *columns, int ncolumns,
			   const PairType *values, size_t memory_limit)
{
	PairRows   *rows = palloc0_object(PairRows);

	rows->memory = CurrentMemoryContext;
	rows->limit = memory_limit;
	rows->columns = columns;
	rows->ncolumns = ncolumns;
	rows->group = group_values_make(ncolumns);
	rows->next = group_values_make(ncolumns);
	if (values)
		rows->values = make_values(rows, values);
	else if (context)
		rows->table = pair_table_make(context, columns, ncolumns, memory_limit);
	return rows;
}

void
pair_rows_add(PairRows *rows, const GroupValues *group, int marker, Datum value, int64 count)
{
	if (rows->values)
	{
		add_values(rows, group, marker, value, count);
		return;
	}
	if (rows->table)
	{
		if (pair_table_add(rows->table, group, marker, DatumGetInt64(value), count))
			return;
		leave_table(rows);
	}
	add_row(rows, group, marker, DatumGetInt64(value), count);
}

PairTable *
pair_rows_table(const PairRows *rows)
{
	return rows->table;
}

void
pair_rows_limit_memory(PairRows *rows, size_t memory_limit)
{
	rows->limit = memory_limit;
	if (rows->table)
		pair_table_limit_memory(rows->table, memory_limit);
}

void
pair_rows_free(PairRows *rows)
{
	if (rows->values)
		free_values(rows->values);
	if (rows->table)
		pair_table_free(rows->table);
	group_values_free(&rows->group);
	group_values_free(&rows->next);
	if (rows->sort)
	{
		ExecDropSingleTupleTableSlot(rows->slot);
		ExecDropSingleTupleTableSlot(rows->out);
		tuplesort_end(rows->sort);
	}
	pfree(rows);
}

/* --- reading */

void
pair_rows_finish(PairRows *rows)
{
	if (rows->values)
		finish_values(rows);
	else if (rows->table)
		pair_table_finish(rows->table);
	else if (rows->sort == NULL)
		rows->ended = rows->row.group_ended = true;
	else
	{
		tuplesort_performsort(rows->sort);
		next_row(rows);
	}
}

/* The group of the row that was read ahead is read now; its markers, which come first, here. */
const GroupValues *
pair_rows_next_group(PairRows *rows, int64 *markers)
{
	if (rows->values)
		return next_group_of_values(rows, markers);
	if (rows->table)
		return pair_table_next_group(rows->table, markers);
	if (rows->ended)
		return NULL;
	enter_group(rows);
	rows->row.group_ended = false;
	memset(markers, 0, PAIR_MARKERS * sizeof(int64));
	for (; !rows->row.group_ended && rows->row.marker < PAIR_MARKERS; next_row(rows))
		markers[rows->row.marker] += rows->row.count;
	return &rows->group;
}

/* Rows of one value become one run. */
size_t
pair_rows_runs(PairRows *rows, uint64 *values, uint64 *counts, size_t room)
{
	size_t		n = 0;

	if (rows->values)
		return runs_of_values(rows->values, values, counts, room);
	if (rows->table)
		return pair_table_runs(rows->table, values, counts, room);
	for (; !rows->row.group_ended; next_row(rows))
	{
		if (n > 0 && (int64) values[n - 1] == rows->row.value)
			counts[n - 1] += rows->row.count;
		else if (n == room)
			break;
		else
		{
			values[n] = (uint64) rows->row.value;
			counts[n++] = rows->row.count;
		}
	}
	return n;
}

void
pair_rows_want(PairRows *rows, int64 first, int64 last)
{
	PairValues *values = rows->values;

	if (values->nfew > 0)
		values->few_read = (int) first;
	else if (!tuplesort_skiptuples(values->sort, first, true))
		elog(ERROR, "values of a group have been lost");
	values->left = last - first + 1;
}

void
pair_rows_forget(PairRows *rows)
{
	if (rows->values)
		MemoryContextReset(rows->values->kept);
}

/* The row that has been read ahead is the next one again afterwards: the slot has another then. */
int64
pair_rows_count(PairRows *rows)
{
	PairRow		marked = rows->row;
	bool		ended = rows->ended;
	int64		count = 0;

	if (rows->values)
		return rows->values->left + rows->values->has_behind;
	if (rows->table)
		return pair_table_count(rows->table);
	tuplesort_markpos(rows->sort);
	for (; !rows->row.group_ended; next_row(rows))
		count += rows->row.count;
	tuplesort_restorepos(rows->sort);
	rows->row = marked;
	rows->ended = ended;
	return count;
}
