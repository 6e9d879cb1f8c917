/*
 * lookup_parts.c
 *		The rows of lookups that do not fit into memory (see lookup.h).
 *
 * Each part is a tuplestore of core's.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

void
lookup_divide(Lookup *lookup, int nparts)
{
	LookupParts *parts = palloc0_object(LookupParts);

	Assert(pg_popcount32(nparts) == 1 && lookup->repeats != LOOKUP_REPEATS_KEPT);
	parts->bits = pg_leftmost_one_pos32(nparts);
	parts->memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort look-up's files",
										  ALLOCSET_SMALL_SIZES);
	parts->row = MakeSingleTupleTableSlot(lookup->rows, &TTSOpsMinimalTuple);
	parts->stores = palloc0_array(Tuplestorestate *, nparts);
	lookup->parts = parts;
}

void
lookup_parts_empty(LookupParts *parts)
{
	for (int part = 0; part < 1 << parts->bits; part++)
	{
		if (parts->stores[part])
			tuplestore_end(parts->stores[part]);
		parts->stores[part] = NULL;
	}
	parts->part = -1;
	parts->rows = 0;
}

void
lookup_parts_add(LookupParts *parts, uint32 hash, TupleTableSlot *row)
{
	Tuplestorestate **store = &parts->stores[lookup_part_of_hash(parts, hash)];

	if (*store == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(parts->memory);

		*store = tuplestore_begin_heap(false, false, LOOKUP_STORE_BYTES / 1024);
		MemoryContextSwitchTo(old);
	}
	tuplestore_puttupleslot(*store, row);
	parts->rows++;
}

void
lookup_parts_begin(LookupParts *parts, int part)
{
	parts->part = part;
	if (parts->stores[part])
		tuplestore_rescan(parts->stores[part]);
}

TupleTableSlot *
lookup_parts_next(LookupParts *parts)
{
	Tuplestorestate *store = parts->stores[parts->part];

	CHECK_FOR_INTERRUPTS();
	return store && tuplestore_gettupleslot(store, true, false, parts->row) ? parts->row : NULL;
}

int64
lookup_rows(const Lookup *lookup)
{
	return lookup->parts ? lookup->parts->rows : lookup->size;
}

int
lookup_part(const Lookup *lookup)
{
	return lookup->parts ? lookup->parts->part : 0;
}
