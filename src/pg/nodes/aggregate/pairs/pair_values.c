/*
 * pair_values.c
 *		(group, value) pairs of values that are no integers (see pair_values.h).
 *
 * A row has the group's columns, all of them int8, the value, and the marker.  It is sorted by the
 * group alone.  Values of a small group are sorted in an array, for which a tuplesort, with its
 * abbreviations, would take longer to begin than to sort.
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
#include "pg/nodes/aggregate/pairs/pair_values.h"

/* Bytes in which values are kept that have been read: a block of runs has some. */
#define KEPT_BLOCK (64 * 1024)

/* Values of a group that are sorted in an array. */
#define FEW_VALUES 64

struct PairValues
{
	const GroupColumn *columns;
	int			ncolumns;
	int16		typlen;			/* of values, as typbyval is */
	bool		typbyval;
	bool		alike;			/* equal values look alike */
	SortSupportData compare;	/* values that do not */
	Tuplesortstate *rows;		/* by group; NULL: there are no grouping columns */
	Tuplesortstate *sort;		/* the values of a group */
	bool		sorting;		/* values have been put there */
	Datum		few[FEW_VALUES];	/* all values of a small group, in behind */
	int			nfew;			/* how many */
	int			few_read;		/* how many of these have been read */
	TupleTableSlot *slot;		/* of a row that is added */
	TupleTableSlot *out;		/* of the row that has been read ahead */

	/* Reading. */
	GroupValues group;			/* the group that is read */
	GroupValues next;			/* the group of the row that has been read ahead */
	bool		ended;			/* there is no such row */
	int64		markers[PAIR_MARKERS];	/* of the group, or so far of all rows */
	int64		left;			/* values of the group that are in the sort */
	MemoryContext kept;			/* of values that have been read */
	MemoryContext scratch;		/* of what comparisons leave behind */
	MemoryContext behind;		/* of the values of a small group; of another's value that a block
								 * had no room for ... */
	bool		has_behind;
	Datum		value;			/* ... which is here */
};

/* Makes the sort of rows by group, and their slots. */
static void
make_rows(PairValues *values, Oid type, int kilobytes)
{
	int			n = values->ncolumns;
	TupleDesc	desc = CreateTemplateTupleDesc(n + 2);
	AttrNumber *attnos = palloc_array(AttrNumber, n);
	Oid		   *operators = palloc_array(Oid, n);
	Oid		   *collations = palloc0_array(Oid, n);
	bool	   *nulls_first = palloc_array(bool, n);
	TypeCacheEntry *int8 = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	int			c;

	for (c = 0; c < n; c++)
	{
		TupleDescInitEntry(desc, c + 1, NULL, INT8OID, -1, 0);
		attnos[c] = c + 1;
		operators[c] = values->columns[c].descending ? int8->gt_opr : int8->lt_opr;

		nulls_first[c] = values->columns[c].nulls_first;
	}
	TupleDescInitEntry(desc, n + 1, NULL, type, -1, 0);
	TupleDescInitEntry(desc, n + 2, NULL, CHAROID, -1, 0);
	TupleDescFinalize(desc);
	values->rows = tuplesort_begin_heap(desc, n, attnos, operators, collations, nulls_first,
										kilobytes, NULL, TUPLESORT_NONE);
	values->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	values->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

PairValues *
pair_values_make(const GroupColumn *columns, int ncolumns, const PairType *type,
				 size_t memory_limit)
{
	PairValues *values = palloc0_object(PairValues);
	int			kilobytes = (int) Max(Min(memory_limit / 1024, MAX_KILOBYTES), 64);
	Oid			sortop = dictionary_order_operator(type->type);

	values->columns = columns;
	values->ncolumns = ncolumns;
	get_typlenbyval(type->type, &values->typlen, &values->typbyval);
	values->group = group_values_make(ncolumns);
	values->next = group_values_make(ncolumns);
	values->kept = AllocSetContextCreate(CurrentMemoryContext, "hpsort pair values", 0,
										 KEPT_BLOCK, KEPT_BLOCK);
	values->scratch = AllocSetContextCreate(CurrentMemoryContext, "hpsort pair comparisons",
											ALLOCSET_SMALL_SIZES);
	values->behind = AllocSetContextCreate(CurrentMemoryContext, "hpsort pair value",
										   ALLOCSET_SMALL_SIZES);
	values->alike = dictionary_equal_is_identical(type->type, -1, type->collation);
	dictionary_order_compare(&values->compare, sortop, type->collation);
	if (ncolumns > 0)
		make_rows(values, type->type, kilobytes);
	values->sort = tuplesort_begin_datum(type->type, sortop, type->collation, false, kilobytes,
										 NULL, TUPLESORT_NONE);
	return values;
}

/* Puts the values of a group that is not small into the sort. */
static void
leave_few(PairValues *values)
{
	int			i;

	for (i = 0; i < values->nfew; i++)
		tuplesort_putdatum(values->sort, values->few[i], false);
	values->nfew = 0;
}

/* Adds a marker or a value to those of the group that is read. */
static void
take(PairValues *values, int marker, Datum value)
{
	if (marker < PAIR_MARKERS)
	{
		values->markers[marker]++;
		return;
	}
	values->left++;
	if (values->rows && values->left <= FEW_VALUES)
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

void
pair_values_add(PairValues *values, const GroupValues *group, int marker, Datum value, int64 count)
{
	TupleTableSlot *slot = values->slot;
	int			n = values->ncolumns;
	int			c;

	for (; n == 0 && count > 0; count--)
		take(values, marker, value);
	if (count == 0)
		return;
	ExecClearTuple(slot);
	for (c = 0; c < n; c++)
	{
		slot->tts_values[c] = Int64GetDatum(group->values[c]);
		slot->tts_isnull[c] = group->nulls[c];
	}
	slot->tts_values[n] = value;
	slot->tts_isnull[n] = marker < PAIR_MARKERS;
	slot->tts_values[n + 1] = CharGetDatum((char) marker);
	slot->tts_isnull[n + 1] = false;
	ExecStoreVirtualTuple(slot);
	for (; count > 0; count--)
		tuplesort_puttupleslot(values->rows, slot);
}

void
pair_values_free(PairValues *values)
{
	group_values_free(&values->group);
	group_values_free(&values->next);
	if (values->rows)
	{
		ExecDropSingleTupleTableSlot(values->slot);
		ExecDropSingleTupleTableSlot(values->out);
		tuplesort_end(values->rows);
	}
	tuplesort_end(values->sort);
	MemoryContextDelete(values->kept);
	MemoryContextDelete(values->scratch);
	MemoryContextDelete(values->behind);
	pfree(values);
}

/* --- reading */

/* Reads the next row ahead. */
static void
next_row(PairValues *values)
{
	TupleTableSlot *slot = values->out;
	GroupValues *next = &values->next;
	int			c;

	CHECK_FOR_INTERRUPTS();
	values->ended = !tuplesort_gettupleslot(values->rows, true, false, slot, NULL);
	if (values->ended)
		return;
	slot_getallattrs(slot);
	for (c = 0; c < values->ncolumns; c++)
	{
		next->nulls[c] = slot->tts_isnull[c];
		next->values[c] = next->nulls[c] ? 0 : DatumGetInt64(slot->tts_values[c]);
	}
}

void
pair_values_finish(PairValues *values)
{
	int			i;

	if (values->rows)
	{
		tuplesort_performsort(values->rows);
		next_row(values);
		return;
	}
	/* All rows are of one group, if there are any. */
	values->ended = values->left == 0;
	for (i = 0; i < PAIR_MARKERS; i++)
		values->ended &= values->markers[i] == 0;
}

/* Puts all values of the group of the row that has been read ahead into the sort. */
static void
take_group(PairValues *values)
{
	GroupValues old = values->group;
	int			n = values->ncolumns;

	values->group = values->next;
	values->next = old;
	MemoryContextReset(values->behind);
	values->left = values->nfew = values->few_read = 0;
	values->has_behind = false;
	memset(values->markers, 0, sizeof(values->markers));
	if (values->sorting)
		tuplesort_reset(values->sort);
	values->sorting = false;
	do
	{
		take(values, DatumGetChar(values->out->tts_values[n + 1]), values->out->tts_values[n]);
		next_row(values);
	} while (!values->ended &&
			 group_values_compare(values->columns, n, &values->next, &values->group) == 0);
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

const GroupValues *
pair_values_next_group(PairValues *values, int64 *markers)
{
	if (values->ended)
		return NULL;
	if (values->rows)
		take_group(values);
	else
		values->ended = true;
	memcpy(markers, values->markers, sizeof(values->markers));
	if (values->sorting)
		tuplesort_performsort(values->sort);
	else if (values->nfew > 1)
		sort_few(values);
	return &values->group;
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
size_t
pair_values_runs(PairValues *values, uint64 *datums, uint64 *counts, size_t room)
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

void
pair_values_want(PairValues *values, int64 first, int64 last)
{
	if (values->nfew > 0)
		values->few_read = (int) first;
	else if (!tuplesort_skiptuples(values->sort, first, true))
		elog(ERROR, "values of a group have been lost");
	values->left = last - first + 1;
}

void
pair_values_forget(PairValues *values)
{
	MemoryContextReset(values->kept);
}

int64
pair_values_count(const PairValues *values)
{
	return values->left + values->has_behind;
}
