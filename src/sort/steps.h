/*
 * steps.h
 *		Long loops in steps, with a look for a cancel before each.
 *
 * For any file of src/sort.  A function that is interrupted returns false, or says so in its error;
 * what it was to write is then undefined.
 */
#ifndef HPSORT_STEPS_H
#define HPSORT_STEPS_H

#include <string.h>

#include "sort/error.h"

/* Elements handled between two looks: 20 ms where each is a cache miss, mostly far less. */
#define SORT_CHECK_EVERY ((size_t) 1 << 18)

/*
 * A loop over 0 .. n - 1:
 *
 *		while (sort_step(context, i, n, &end))
 *			for (; i < end; i++)
 *				...
 *
 * Returns true, and sets *end, which is at most n, if a step begins at i.  Returns false at the
 * end, and if interrupted: i is below n then.
 */
static inline bool
sort_step(const SortContext *context, uint64_t i, uint64_t n, uint64_t *end)
{
	if (i >= n || sort_interrupted(context))
		return false;
	*end = n - i < SORT_CHECK_EVERY ? n : i + SORT_CHECK_EVERY;
	return true;
}

/* Sets n elements of size bytes each to zero; false if interrupted. */
static inline bool
sort_zero(const SortContext *context, void *elements, uint64_t n, size_t size)
{
	uint64_t	i = 0;
	uint64_t	end;

	for (; sort_step(context, i, n, &end); i = end)
		memset((char *) elements + i * size, 0, (size_t) (end - i) * size);
	return i == n;
}

/* Copies n elements of size bytes each, unless they are there already; false if interrupted. */
static inline bool
sort_copy(const SortContext *context, void *to, const void *from, uint64_t n, size_t size)
{
	uint64_t	i = to == from ? n : 0;
	uint64_t	end;

	for (; sort_step(context, i, n, &end); i = end)
		memcpy((char *) to + i * size, (const char *) from + i * size, (size_t) (end - i) * size);
	return i == n;
}

#endif							/* HPSORT_STEPS_H */
