/*
 * pair_rows.c
 *		(group, value) pairs as rows of a core tuplesort (see pair_rows.h).
 *
 * A row has the group's columns, the marker, the value and the count.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/pair_rows.h"

/* Runs that are handed out at once. */
#define BLOCK_RUNS 256

struct PairRows
{
	const GroupColumn *columns;
	int			ncolumns;
	Tuplesortstate *sort;
	TupleTableSlot *slot;		/* of a row that is added */
	TupleTableSlot *out;		/* of a row that is read */
};

struct PairRowsCursor
{
	PairRows   *rows;
	bool		ended;			/* all rows have been read */
	bool		group_ended;	/* the row read last is of the next group */
	bool		finished;		/* the cursor is behind the last group */
	GroupValues group;			/* at the cursor */
	GroupValues next;			/* of the row read last, with its ... */
	int			marker;
	int64		value;
	int64		count;

	/* of the group at the cursor: what has been read and not handed out */
	int64		markers[PAIR_MARKERS];
	size_t		n;				/* runs */
	int64		values[BLOCK_RUNS];
	int64		counts[BLOCK_RUNS];
};

PairRows *
pair_rows_make(const GroupColumn *columns, int ncolumns, size_t memory_limit)
{
	PairRows   *rows = palloc_object(PairRows);
	int			nkeys = ncolumns + 2;
	TupleDesc	desc = CreateTemplateTupleDesc(nkeys + 1);
	AttrNumber *attnos = palloc_array(AttrNumber, nkeys);
	Oid		   *operators = palloc_array(Oid, nkeys);
	Oid		   *collations = palloc0_array(Oid, nkeys);
	bool	   *nulls_first = palloc0_array(bool, nkeys);
	TypeCacheEntry *int8 = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	int			c;

	for (c = 0; c <= nkeys; c++)
		TupleDescInitEntry(desc, c + 1, NULL, INT8OID, -1, 0);
	TupleDescFinalize(desc);
	for (c = 0; c < nkeys; c++)
	{
		attnos[c] = c + 1;
		operators[c] = c < ncolumns && columns[c].descending ? int8->gt_opr : int8->lt_opr;

		nulls_first[c] = c < ncolumns && columns[c].nulls_first;
	}
	rows->columns = columns;
	rows->ncolumns = ncolumns;
	rows->sort = tuplesort_begin_heap(desc, nkeys, attnos, operators, collations, nulls_first,
									  (int) Min(memory_limit / 1024, MAX_KILOBYTES), NULL,
									  TUPLESORT_RANDOMACCESS);	/* for pair_rows_group_count */
	rows->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	rows->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	return rows;
}

void
pair_rows_add(PairRows *rows, const GroupValues *group, int marker, int64 value, int64 count)
{
	TupleTableSlot *slot = rows->slot;
	int			n = rows->ncolumns;
	int			c;

	ExecClearTuple(slot);
	for (c = 0; c < n; c++)
	{
		slot->tts_values[c] = Int64GetDatum(group->values[c]);
		slot->tts_isnull[c] = group->nulls[c];
	}
	slot->tts_values[n] = Int64GetDatum(marker);
	slot->tts_values[n + 1] = Int64GetDatum(value);
	slot->tts_values[n + 2] = Int64GetDatum(count);
	memset(&slot->tts_isnull[n], 0, 3);
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(rows->sort, slot);
}

void
pair_rows_free(PairRows *rows)
{
	ExecDropSingleTupleTableSlot(rows->slot);
	ExecDropSingleTupleTableSlot(rows->out);
	tuplesort_end(rows->sort);
	pfree(rows);
}

/* --- reading */

/* Moves on to the next row, and notes whether it is of another group. */
static void
next_row(PairRowsCursor *cursor)
{
	TupleTableSlot *slot = cursor->rows->out;
	int			n = cursor->rows->ncolumns;
	GroupValues *next = &cursor->next;
	int			c;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(cursor->rows->sort, true, false, slot, NULL))
	{
		cursor->ended = cursor->group_ended = true;
		return;
	}
	slot_getallattrs(slot);
	for (c = 0; c < n; c++)
	{
		next->nulls[c] = slot->tts_isnull[c];
		next->values[c] = next->nulls[c] ? 0 : DatumGetInt64(slot->tts_values[c]);
	}
	cursor->marker = (int) DatumGetInt64(slot->tts_values[n]);
	cursor->value = DatumGetInt64(slot->tts_values[n + 1]);
	cursor->count = DatumGetInt64(slot->tts_values[n + 2]);
	cursor->group_ended = group_values_compare(cursor->rows->columns, n, next, &cursor->group) != 0;
}

/* Reads runs of the group, as many as are handed out at once. */
static void
read_runs(PairRowsCursor *cursor)
{
	size_t		n = 0;

	while (!cursor->group_ended)
	{
		if (n > 0 && cursor->values[n - 1] == cursor->value)
			cursor->counts[n - 1] += cursor->count;
		else if (n == BLOCK_RUNS)
			break;
		else
		{
			cursor->values[n] = cursor->value;
			cursor->counts[n++] = cursor->count;
		}
		next_row(cursor);
	}
	cursor->n = n;
}

/* The group of the row read last becomes the cursor's; its markers and first runs are read. */
static void
start_group(PairRowsCursor *cursor)
{
	GroupValues old = cursor->group;

	if (cursor->ended)
	{
		cursor->finished = true;
		return;
	}
	cursor->group = cursor->next;
	cursor->next = old;
	cursor->group_ended = false;
	memset(cursor->markers, 0, sizeof(cursor->markers));
	while (!cursor->group_ended && cursor->marker < PAIR_MARKERS)
	{
		cursor->markers[cursor->marker] += cursor->count;
		next_row(cursor);
	}
	read_runs(cursor);
}

PairRowsCursor *
pair_rows_open(PairRows *rows)
{
	PairRowsCursor *cursor = palloc0_object(PairRowsCursor);

	cursor->rows = rows;
	cursor->group = group_values_make(rows->ncolumns);
	cursor->next = group_values_make(rows->ncolumns);
	tuplesort_performsort(rows->sort);
	next_row(cursor);
	start_group(cursor);
	return cursor;
}

const GroupValues *
pair_rows_group(const PairRowsCursor *cursor)
{
	return cursor->finished ? NULL : &cursor->group;
}

/* The rows of the group behind those that have been read, which are read twice. */
static int64
count_behind(PairRowsCursor *cursor)
{
	GroupValues next = group_values_make(cursor->rows->ncolumns);
	PairRowsCursor *copy = palloc_object(PairRowsCursor);
	int64		count = 0;

	*copy = *cursor;
	copy->next = next;
	tuplesort_markpos(cursor->rows->sort);
	while (!copy->group_ended)
	{
		count += copy->count;
		next_row(copy);
	}
	tuplesort_restorepos(cursor->rows->sort);
	pfree(copy);
	group_values_free(&next);
	return count;
}

int64
pair_rows_group_count(PairRowsCursor *cursor)
{
	int64		count = 0;
	size_t		i;

	for (i = 0; i < PAIR_MARKERS; i++)
		count += cursor->markers[i];
	for (i = 0; i < cursor->n; i++)
		count += cursor->counts[i];
	return cursor->group_ended ? count : count + count_behind(cursor);
}

void
pair_rows_markers(const PairRowsCursor *cursor, int64 *markers)
{
	memcpy(markers, cursor->markers, sizeof(cursor->markers));
}

size_t
pair_rows_runs(PairRowsCursor *cursor, int64 bias, const int64 **values, const int64 **counts)
{
	size_t		n;
	size_t		i;

	if (cursor->n == 0)
		read_runs(cursor);
	n = cursor->n;
	if (n == 0)
		start_group(cursor);
	else
	{
		for (i = 0; i < n; i++)
			cursor->values[i] += bias;
		cursor->n = 0;
	}
	*values = cursor->values;
	*counts = cursor->counts;
	return n;
}
