/*
 * lookup_condition.c
 *		The condition that a lookup has a key (see lookup.h).
 */
#include "postgres.h"

#include "executor/nodeHash.h"

#include "pg/values/filter_conditions.h"
#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

FilterCondition *
lookup_condition(Lookup *lookup, int k, bool excluded)
{
	Size		size = Max(lookup->size, 1) * sizeof(int64);
	Size		bits = (uint64) lookup->most - (uint64) lookup->least;
	MemoryContext old;
	FilterCondition *condition;
	int64	   *values;

	/* Beside its values, a set of keys has bits of a range, or up to 4 elements for each. */
	if (!lookup->of_integers || (excluded && lookup->nkeys > 1) ||
		lookup_memory(lookup) + size + Min(bits / 8, 4 * size) > get_hash_memory_limit())
		return NULL;
	old = MemoryContextSwitchTo(lookup->memory);
	values = palloc_extended(size, MCXT_ALLOC_HUGE);
	for (int32 place = 0; place < lookup->size; place++)
		values[place] = lookup_key(lookup, k, place);
	condition = key_condition_make(InvalidAttrNumber, lookup->keys[k].kind, values, lookup->size,
								   excluded);
	pfree(values);
	MemoryContextSwitchTo(old);
	return condition;
}
