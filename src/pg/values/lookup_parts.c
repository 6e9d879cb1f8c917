/*
 * lookup_parts.c
 *		Lookups that do not fit into memory (see lookup.h).
 *
 * Rows are divided by the hash of their key, and each part is kept in a tuplestore of core's.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

/* Of a part so many kB are in memory, the least that a tuplestore takes, and the rest in a file. */
#define STORE_MEMORY 64

void
lookup_divide(Lookup *lookup, int nparts)
{
	LookupParts *parts = palloc0_object(LookupParts);

	Assert(pg_popcount32(nparts) == 1 && lookup->repeats != LOOKUP_REPEATS_KEPT);
	parts->bits = pg_leftmost_one_pos32(nparts);
	parts->row = MakeSingleTupleTableSlot(lookup->rows, &TTSOpsMinimalTuple);
	parts->stores = palloc0_array(Tuplestorestate *, nparts);
	lookup->parts = parts;
}

void
lookup_parts_add(Lookup *lookup, uint32 hash, TupleTableSlot *row)
{
	LookupParts *parts = lookup->parts;
	Tuplestorestate **store = &parts->stores[lookup_part_of_hash(parts, hash)];

	if (*store == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(parts));

		*store = tuplestore_begin_heap(false, false, STORE_MEMORY);
		MemoryContextSwitchTo(old);
	}
	tuplestore_puttupleslot(*store, row);
	parts->rows++;
}

void
lookup_parts_empty(LookupParts *parts)
{
	int			part;

	for (part = 0; part < 1 << parts->bits; part++)
	{
		if (parts->stores[part])
			tuplestore_end(parts->stores[part]);
		parts->stores[part] = NULL;
	}
	parts->rows = 0;
}

bool
lookup_load(Lookup *lookup, int part)
{
	LookupParts *parts = lookup->parts;
	Tuplestorestate *store;
	MemoryContext memory;

	if (parts == NULL || parts->part == part)
		return false;
	memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort look-up's part",
								   ALLOCSET_SMALL_SIZES);
	lookup_forget(lookup);
	parts->part = part;
	parts->loading = true;
	store = parts->stores[part];
	if (store)
		tuplestore_rescan(store);
	while (store && tuplestore_gettupleslot(store, true, false, parts->row))
	{
		/* Hash and equality functions leave memory behind. */
		MemoryContext old = MemoryContextSwitchTo(memory);

		CHECK_FOR_INTERRUPTS();
		lookup_add(lookup, parts->row);
		MemoryContextSwitchTo(old);
		MemoryContextReset(memory);
	}
	MemoryContextDelete(memory);
	lookup_finish(lookup);
	parts->loading = false;
	return true;
}

int
lookup_part(const Lookup *lookup)
{
	return lookup->parts ? lookup->parts->part : 0;
}

int64
lookup_rows(const Lookup *lookup)
{
	return lookup->parts ? lookup->parts->rows : lookup->size;
}
