/*
 * pair_rows.c
 *		(group, value) pairs in a table, or as rows of a core tuplesort (see pair_rows.h).
 *
 * Integers are in a table until it is full.  Then they are rows.  Values of other types are in
 * tuplesorts of their own (pair_values.h).
 *
 * A row has the group's columns, the marker, the value and the count, all of them int8.  It is
 * sorted by all but the count.  The next row is always read ahead, because it alone says whether
 * the group has ended.
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
#include "pg/nodes/aggregate/pairs/pair_rows.h"
#include "pg/nodes/aggregate/pairs/pair_table.h"
#include "pg/nodes/aggregate/pairs/pair_values.h"

/* Runs that are moved from the table at once. */
#define TABLE_RUNS 256

/* The row that has been read ahead, without its group. */
typedef struct PairRow
{
	bool		ended;			/* all rows have been read: there is none */
	bool		group_ended;	/* the group has no more rows; the row is the first of the next
								 * group, if not ended */
	int			marker;			/* a PairMarker; PAIR_MARKERS: it has a value */
	int64		value;
	int64		count;			/* how many pairs it stands for */
} PairRow;

struct PairRows
{
	const GroupColumn *columns;
	int			ncolumns;
	PairValues *values;			/* all pairs; NULL: values are integers */
	MemoryContext memory;
	size_t		limit;			/* bytes of it */
	PairTable  *table;			/* of all pairs; NULL: they are rows */
	Tuplesortstate *sort;		/* NULL until there is a row */
	TupleTableSlot *slot;		/* of a row that is added */
	TupleTableSlot *out;		/* of a row that is read */

	/* Reading. */
	GroupValues group;			/* the group that is read */
	GroupValues next;			/* the group of the row that has been read ahead */
	PairRow		row;
};

PairRows *
pair_rows_make(const SortContext *context, const GroupColumn *columns, int ncolumns,
			   const PairType *values, size_t memory_limit)
{
	PairRows   *rows = palloc0_object(PairRows);

	rows->memory = CurrentMemoryContext;
	rows->limit = memory_limit;
	rows->columns = columns;
	rows->ncolumns = ncolumns;
	if (values)
	{
		rows->values = pair_values_make(columns, ncolumns, values, memory_limit);
		return rows;
	}
	rows->group = group_values_make(ncolumns);
	rows->next = group_values_make(ncolumns);
	if (context)
		rows->table = pair_table_make(context, columns, ncolumns, memory_limit);
	return rows;
}

/* Makes the tuplesort, unless there is one. */
static void
begin_sort(PairRows *rows)
{
	MemoryContext old;
	int			n = rows->ncolumns;
	int			nkeys = n + 2;
	TupleDesc	desc;
	AttrNumber *attnos;
	Oid		   *operators;
	Oid		   *collations;
	bool	   *nulls_first;
	TypeCacheEntry *int8;
	int			c;

	if (rows->sort)
		return;
	old = MemoryContextSwitchTo(rows->memory);
	desc = CreateTemplateTupleDesc(nkeys + 1);
	attnos = palloc_array(AttrNumber, nkeys);
	operators = palloc_array(Oid, nkeys);
	collations = palloc0_array(Oid, nkeys);
	nulls_first = palloc0_array(bool, nkeys);
	int8 = lookup_type_cache(INT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	for (c = 0; c <= nkeys; c++)
		TupleDescInitEntry(desc, c + 1, NULL, INT8OID, -1, 0);
	TupleDescFinalize(desc);
	for (c = 0; c < nkeys; c++)
	{
		attnos[c] = c + 1;
		operators[c] = c < n && rows->columns[c].descending ? int8->gt_opr : int8->lt_opr;

		nulls_first[c] = c < n && rows->columns[c].nulls_first;
	}
	rows->sort = tuplesort_begin_heap(desc, nkeys, attnos, operators, collations, nulls_first,
									  (int) Min(rows->limit / 1024, MAX_KILOBYTES), NULL,
									  TUPLESORT_RANDOMACCESS);	/* for pair_rows_count */
	rows->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	rows->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
}

static void
add_row(PairRows *rows, const GroupValues *group, int marker, int64 value, int64 count)
{
	TupleTableSlot *slot;
	int			n = rows->ncolumns;
	int			c;

	begin_sort(rows);
	slot = rows->slot;
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
	size_t		i;

	rows->table = NULL;
	pair_table_finish(table);
	while ((group = pair_table_next_group(table, markers)) != NULL)
	{
		for (i = 0; i < PAIR_MARKERS; i++)
			if (markers[i] > 0)
				add_row(rows, group, (int) i, 0, markers[i]);
		while ((n = pair_table_runs(table, values, counts, TABLE_RUNS)) > 0)
			for (i = 0; i < n; i++)
				add_row(rows, group, PAIR_MARKERS, (int64) values[i], (int64) counts[i]);
	}
	pair_table_free(table);
}

void
pair_rows_add(PairRows *rows, const GroupValues *group, int marker, Datum value, int64 count)
{
	if (rows->values)
	{
		pair_values_add(rows->values, group, marker, value, count);
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

bool
pair_rows_add_coded(PairRows *rows, uint64 code, int64 value)
{
	return rows->table && pair_table_add_coded(rows->table, code, value);
}

void
pair_rows_note_code(PairRows *rows, uint64 code)
{
	if (rows->table)
		pair_table_note_code(rows->table, code);
}

void
pair_rows_forget_codes(PairRows *rows)
{
	if (rows->table)
		pair_table_forget_codes(rows->table);
}

void
pair_rows_limit_memory(PairRows *rows, size_t memory_limit)
{
	rows->limit = memory_limit;
	if (rows->table)
		pair_table_limit_memory(rows->table, memory_limit);
}

uint64
pair_rows_disk(const PairRows *rows)
{
	return rows->table ? pair_table_disk(rows->table) : 0;
}

bool
pair_rows_in_table(const PairRows *rows)
{
	return rows->table != NULL;
}

void
pair_rows_free(PairRows *rows)
{
	if (rows->values)
	{
		pair_values_free(rows->values);
		pfree(rows);
		return;
	}
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

/* Reads the next row ahead, and notes whether it is of another group. */
static void
next_row(PairRows *rows)
{
	TupleTableSlot *slot = rows->out;
	int			n = rows->ncolumns;
	GroupValues *next = &rows->next;
	PairRow    *row = &rows->row;
	int			c;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(rows->sort, true, false, slot, NULL))
	{
		row->ended = row->group_ended = true;
		return;
	}
	slot_getallattrs(slot);
	for (c = 0; c < n; c++)
	{
		next->nulls[c] = slot->tts_isnull[c];
		next->values[c] = next->nulls[c] ? 0 : DatumGetInt64(slot->tts_values[c]);
	}
	row->marker = (int) DatumGetInt64(slot->tts_values[n]);
	row->value = DatumGetInt64(slot->tts_values[n + 1]);
	row->count = DatumGetInt64(slot->tts_values[n + 2]);
	row->group_ended = group_values_compare(rows->columns, n, next, &rows->group) != 0;
}

void
pair_rows_finish(PairRows *rows)
{
	if (rows->values)
	{
		pair_values_finish(rows->values);
		return;
	}
	if (rows->table)
	{
		pair_table_finish(rows->table);
		return;
	}
	begin_sort(rows);
	tuplesort_performsort(rows->sort);
	next_row(rows);
}

/* The group of the row that was read ahead is read now; its markers, which come first, here. */
const GroupValues *
pair_rows_next_group(PairRows *rows, int64 *markers)
{
	GroupValues old = rows->group;

	if (rows->values)
		return pair_values_next_group(rows->values, markers);
	if (rows->table)
		return pair_table_next_group(rows->table, markers);
	if (rows->row.ended)
		return NULL;
	rows->group = rows->next;
	rows->next = old;
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
		return pair_values_runs(rows->values, values, counts, room);
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
	pair_values_want(rows->values, first, last);
}

void
pair_rows_forget(PairRows *rows)
{
	if (rows->values)
		pair_values_forget(rows->values);
}

/* The row that has been read ahead is the next one again afterwards: the slot has another then. */
int64
pair_rows_count(PairRows *rows)
{
	PairRow		marked = rows->row;
	int64		count = 0;

	if (rows->values)
		return pair_values_count(rows->values);
	if (rows->table)
		return pair_table_count(rows->table);
	tuplesort_markpos(rows->sort);
	for (; !rows->row.group_ended; next_row(rows))
		count += rows->row.count;
	tuplesort_restorepos(rows->sort);
	rows->row = marked;
	return count;
}
