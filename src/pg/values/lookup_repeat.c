/*
 * lookup_repeat.c
 *		Rows that have several rows in a Lookup (see lookup.h).
 */
#include "postgres.h"

#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

size_t
lookup_repeat(const Lookup *lookup, const ColumnBatch *places, bool outer, RepeatPosition *position,
			  uint16 *rows, ColumnBatch *found)
{
	BatchSpace	space = column_batch_space(found, COLUMN_BATCH_KEYS);
	size_t		n = 0;
	size_t		nnulls = 0;

	while (position->row < places->n && n < COLUMN_BATCH_KEYS)
	{
		size_t		row = position->row;
		int32		place = position->within ? position->place : places->keys[row];

		if (places->nulls[row])
		{
			place = LOOKUP_NO_PLACE;
			rows[n] = (uint16) row;
			space.keys[n] = 0;
			space.nulls[n] = 1;
			nnulls += outer;
			n += outer;
		}
		while (place != LOOKUP_NO_PLACE && n < COLUMN_BATCH_KEYS)
		{
			rows[n] = (uint16) row;
			space.keys[n] = place;
			space.nulls[n++] = 0;
			place = lookup->before[place];
		}
		position->place = place;
		position->within = place != LOOKUP_NO_PLACE;
		position->row += !position->within;
	}
	column_batch_add(found, n, nnulls);
	return n;
}

bool
lookup_is_unique(const Lookup *lookup)
{
	return lookup->before == NULL;
}
