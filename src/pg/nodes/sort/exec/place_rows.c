/*
 * place_rows.c
 *		Rows that stay where they are in their table, fetched by their places (see
 *		place_rows.h).
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/in_place_allowed.h"
#include "pg/nodes/sort/exec/place_rows.h"

/* The memory for a copy of a value: see RowElsewhere. */
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

/* A value where it lies in its page, if that stays pinned. */
static Datum
value_at(void *arg, uint32 place, int key, bool *isnull)
{
	PlaceRows  *rows = (PlaceRows *) arg;
	TupleDesc	desc = RelationGetDescr(rows->fetch->rel);
	AttrNumber	attnum = rows->attnums[key];
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

static void
forget_values(void *arg)
{
	MemoryContextReset(((PlaceRows *) arg)->copies);
}

static void
prefetch(void *arg, const uint32 *places, int n, bool where)
{
	RowFetch   *fetch = ((PlaceRows *) arg)->fetch;
	int			i;

	if (where)
		for (i = 0; i < n; i++)
			row_fetch_prefetch_line(fetch, places[i]);
	else
		for (i = 0; i < n; i++)
			row_fetch_prefetch_row(fetch, places[i]);
}

PlaceRows *
place_rows_create(RowFetch *fetch, ScanState *child, TupleTableSlot *slot, const KeyColumns *keys,
				  MemoryContext memory)
{
	MemoryContext old = MemoryContextSwitchTo(memory);
	PlaceRows  *rows = palloc0_object(PlaceRows);
	int			i;

	rows->elsewhere = (RowElsewhere)
	{
		.value = value_at,.forget = forget_values,.prefetch = prefetch,.arg = rows
	};
	rows->fetch = fetch;
	rows->child = child;
	rows->slot = slot;
	rows->attnums = palloc_array(AttrNumber, keys->nrest);
	for (i = 0; i < keys->nrest; i++)
		rows->attnums[i] = in_place_key_attnum(&keys->keys[keys->nexact + i], child->ps.plan);
	rows->copies = AllocSetContextCreate(memory, "hpsort values", ALLOCSET_DEFAULT_SIZES);
	for (i = 0; i < lengthof(rows->recent); i++)
		rows->recent[i] = AllocSetContextCreate(memory, "hpsort values", ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(old);
	return rows;
}
