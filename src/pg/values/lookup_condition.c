/*
 * lookup_condition.c
 *		The condition that a lookup has a key (see lookup.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/values/key_condition.h"
#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

static int
compare_integers(const void *a, const void *b)
{
	int64		left = *(const int64 *) a;
	int64		right = *(const int64 *) b;

	CHECK_FOR_INTERRUPTS();
	return left < right ? -1 : left > right;
}

/*
 * Returns the values that rows have in column k of the key, each once, and sets *n to how many
 * there are.  In order only if the key has several columns.
 */
static int64 *
values_of_key(const Lookup *lookup, int k, size_t *n)
{
	int64	   *values = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(lookup->size, 1) * sizeof(int64));
	int32		place;
	size_t		from;

	for (place = 0; place < lookup->size; place++)
		values[place] = lookup_key(lookup, k, place);
	*n = lookup->size;
	if (lookup->nkeys == 1)
		return values;
	qsort(values, lookup->size, sizeof(int64), compare_integers);
	*n = Min(lookup->size, 1);
	for (from = 1; from < (size_t) lookup->size; from++)
		if (values[from] != values[*n - 1])
			values[(*n)++] = values[from];
	return values;
}

FilterCondition *
lookup_condition(Lookup *lookup, int k, bool excluded)
{
	MemoryContext old;
	FilterCondition *condition;
	int64	   *values;
	size_t		n;

	if (!lookup->of_integers || (excluded && lookup->nkeys > 1))
		return NULL;
	old = MemoryContextSwitchTo(lookup->memory);
	values = values_of_key(lookup, k, &n);
	condition = key_condition_make(InvalidAttrNumber, lookup->keys[k].kind, values, n, excluded);
	pfree(values);
	MemoryContextSwitchTo(old);
	return condition;
}
