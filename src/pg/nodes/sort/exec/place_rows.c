/*
 * place_rows.c
 *		Rows that stay where they are in their table, fetched by their places (see place_rows.h).
 *
 * A query that stops in the middle, as for the FETCH of a cursor, keeps the rows that its nodes
 * have returned last: a join has the outer row for which it will look for more inner ones.  It may
 * keep them as long as a transaction is idle, and no node hears how the executor has been called:
 * a hook does.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/place_rows.h"

/* --- calls of the executor */

static ExecutorRun_hook_type prev_executor_run_hook = NULL;

/* Rows for which it pays to keep pages pinned until a call ends. */
#define MANY_ROWS 1000

/* Rows that the innermost call of the executor asks for, 0: all; and whose pages it unpins. */
static uint64 wanted_rows = 1;
static PlaceRows *until_end = NULL;

/*
 * Notes how many rows the call asks for, and unpins after it the pages that stay pinned until its
 * end.  Calls nest, as a query may call functions that run queries: each has its own number and its
 * own list.
 */
static void
executor_run_hook(QueryDesc *query, ScanDirection direction,
				  uint64 count COMPAT_EXECUTOR_RUN_PARAMETER)
{
	uint64		outer_rows = wanted_rows;
	PlaceRows  *outer_until_end = until_end;

	wanted_rows = count;
	until_end = NULL;
	PG_TRY();
	{
		if (prev_executor_run_hook)
			prev_executor_run_hook(query, direction, count COMPAT_EXECUTOR_RUN_ARGUMENT);
		else
			standard_ExecutorRun(query, direction, count COMPAT_EXECUTOR_RUN_ARGUMENT);
		for (; until_end; until_end = until_end->next)
		{
			until_end->until_end = false;
			place_rows_end_sort(until_end);
		}
	}
	PG_FINALLY();
	{
		wanted_rows = outer_rows;
		until_end = outer_until_end;
	}
	PG_END_TRY();
}

void
place_rows_init(void)
{
	prev_executor_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = executor_run_hook;
}

/*
 * Returns true if the current call of the executor is the last one that returns rows of the query
 * of estate.  It is not if the caller has asked for a number of rows, or may read rows backward.
 */
static bool
runs_to_end(const EState *estate)
{
	/* A worker runs its plan once, though a LIMIT may have told it how many rows are wanted. */
	return (wanted_rows == 0 || IsParallelWorker()) &&
		(estate->es_top_eflags & EXEC_FLAG_BACKWARD) == 0;
}

/*
 * Returns whether pages stay pinned until the current call of the executor ends, which then unpins
 * them: they do if the call asks for all rows, or for at least MANY_ROWS.  If the call ends in an
 * error, they are not unpinned here, and the query returns no more rows.
 */
static bool
stay_until_end(PlaceRows *rows)
{
	if (wanted_rows > 0 && wanted_rows < MANY_ROWS)
		return false;
	rows->next = until_end;
	until_end = rows;
	return true;
}

/* Undoes what stay_until_end() has done, in the same call of the executor. */
static void
forget_end(PlaceRows *rows)
{
	PlaceRows **at = &until_end;

	while (*at && *at != rows)
		at = &(*at)->next;
	if (*at)
		*at = rows->next;
}

/* --- values and tuples for a store */

/*
 * Returns the memory for a copy of a value.  Copies of the first key that is left to core stay
 * until they are forgotten; of other keys the last two stay, which one comparison needs.
 */
static MemoryContext
copy_memory(PlaceRows *rows, int key)
{
	MemoryContext memory = rows->copies;

	if (key > 0)
	{
		rows->turn = !rows->turn;
		memory = rows->recent[rows->turn];
		MemoryContextReset(memory);
	}
	return memory;
}

/*
 * The method value of RowElsewhere: returns a value where it lies in its page, or a copy of it if
 * the page does not stay pinned.
 */
static Datum
value_at(void *arg, uint32 place, int key, bool *isnull)
{
	PlaceRows  *rows = (PlaceRows *) arg;
	TupleDesc	desc = RelationGetDescr(rows->fetch->rel);
	AttrNumber	attnum = rows->attnums[rows->keys->nexact + key];
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	Datum		value = heap_getattr(row_fetch(rows->fetch, place), attnum, desc, isnull);

	if (unlikely(!row_fetch_stays(rows->fetch, place)) && !*isnull && !att->attbyval)
	{
		MemoryContext old = MemoryContextSwitchTo(copy_memory(rows, key));

		value = datumCopy(value, false, att->attlen);
		MemoryContextSwitchTo(old);
	}
	return value;
}

/* The method forget: frees the copies of the values of the first key that is left to core. */
static void
forget_values(void *arg)
{
	MemoryContextReset(((PlaceRows *) arg)->copies);
}

/* The method prefetch: where rows lie are their line pointers. */
static void
prefetch(void *arg, const uint32 *places, int n, bool where)
{
	RowFetch   *fetch = ((PlaceRows *) arg)->fetch;

	if (where)
		for (int i = 0; i < n; i++)
			row_fetch_prefetch_line(fetch, places[i]);
	else
		for (int i = 0; i < n; i++)
			row_fetch_prefetch_row(fetch, places[i]);
}

/* --- rows in order */

PlaceRows *
place_rows_create(ScanState *child, TupleTableSlot *slot, const KeyColumns *keys,
				  MemoryContext memory)
{
	MemoryContext old = MemoryContextSwitchTo(memory);
	PlaceRows  *rows = palloc0_object(PlaceRows);

	rows->elsewhere = (RowElsewhere)
	{
		.value = value_at,.forget = forget_values,.prefetch = prefetch,.arg = rows
	};
	rows->fetch = row_fetch_create(child->ss_currentRelation, memory);
	rows->child = child;
	rows->slot = slot;
	rows->copied = !runs_to_end(child->ps.state);
	rows->keys = keys;
	rows->attnums = palloc_array(AttrNumber, keys->nkeys);
	for (int i = 0; i < keys->nkeys; i++)
		rows->attnums[i] = place_rows_key_column(&keys->keys[i], child->ps.plan);
	rows->copies = AllocSetContextCreate(memory, "hpsort values", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < lengthof(rows->recent); i++)
		rows->recent[i] = AllocSetContextCreate(memory, "hpsort values", ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(old);
	return rows;
}

void
place_rows_end_sort(PlaceRows *rows)
{
	if (!rows->copied)
		return;
	row_fetch_unpin(rows->fetch);
	rows->fetch->by_row = !rows->until_end;
}

TupleTableSlot *
place_rows_copy(PlaceRows *rows, uint32 place)
{
	if (!rows->until_end)
	{
		rows->until_end = stay_until_end(rows);
		rows->fetch->by_row = !rows->until_end;
	}
	ExecStoreHeapTuple(row_fetch(rows->fetch, place), rows->slot, false);
	ExecMaterializeSlot(rows->slot);
	if (!rows->until_end)
		row_fetch_unpin(rows->fetch);
	return column_scan_project(rows->child, rows->slot);
}

void
place_rows_prefetch(PlaceRows *rows, RowStore *store, uint64 i)
{
	uint64		end = rows->first + rows->nplaces;
	bool		begins = i == rows->first;
	uint64		j;

	if (row_fetch_is_waited_for(rows->fetch))
	{
		row_fetch_unpin(rows->fetch);
		place_rows_unpin(rows);
	}

	/* The line pointers of the rows after those whose line pointers were prefetched before. */
	for (j = begins ? i : i + 2 * ROW_FETCH_AT_ONCE; j < Min(i + 3 * ROW_FETCH_AT_ONCE, end); j++)
		row_fetch_prefetch_line(rows->fetch, place_rows_place(rows, store, j));
	for (j = begins ? i : i + ROW_FETCH_AT_ONCE; j < Min(i + 2 * ROW_FETCH_AT_ONCE, end); j++)
		row_fetch_prefetch_row(rows->fetch, place_rows_place(rows, store, j));
}

void
place_rows_unpin(PlaceRows *rows)
{
	if (rows->copied)
		return;
	ExecClearTuple(rows->slot);
	row_fetch_unpin(rows->fetch);
}

void
place_rows_end(PlaceRows *rows)
{
	ExecClearTuple(rows->slot);
	row_fetch_unpin(rows->fetch);
	if (rows->until_end)
		forget_end(rows);
}
