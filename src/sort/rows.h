/*
 * rows.h
 *		Puts references to rows into the order of their keys, stably.
 *
 * The caller has rows somewhere and knows each by a reference that grows from
 * row to row: a position, an offset.  Together with its key it is one integer
 * (key above, reference below), so that sorting those integers is a stable
 * sort, and what comes out are the references themselves: no second array to
 * look them up in.  Keys are unsigned here; whoever makes them has put the
 * direction and the NULLs into their order.
 */
#ifndef HPSORT_ROWS_H
#define HPSORT_ROWS_H

#include "sort/plan.h"
#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* A 32-bit key above a 32-bit reference. */
#define ROWS_PAIR(key, ref) ((uint64_t) (key) << 32 | (uint32_t) (ref))
#define ROWS_PAIR_KEY(pair) ((uint32_t) ((pair) >> 32))
#define ROWS_PAIR_REF(pair) ((uint32_t) (pair))

/* A 64-bit key above a reference; 16 bytes, and so aligned. */
__extension__ typedef unsigned __int128 RowsLongPair;

#define ROWS_LONG_PAIR(key, ref) ((RowsLongPair) (uint64_t) (key) << 64 | (uint64_t) (ref))
#define ROWS_LONG_KEY(pair) ((uint64_t) ((pair) >> 64))
#define ROWS_LONG_REF(pair) ((uint32_t) (pair))

/*
 * Chooses how n keys in lo .. hi are to be sorted: the plan of a stable
 * permutation, on the CPU alone unless any_device.  A forced algorithm or
 * device that cannot do it gives way, for ORDER BY must not fail where another
 * would serve.
 */
extern void rows_plan(const SortContext *context, uint64_t n, uint64_t lo, uint64_t hi,
					  bool any_device, SortPlan *plan);

/*
 * Puts the references of n pairs, whose keys are all in lo .. hi, into the
 * order of their keys.  Does what plan says, which is of rows_plan, and is
 * told what was done if a GPU failed and the CPU took over.  *refs becomes
 * either a new block of context's allocator or pairs itself, whose contents are
 * lost; *distinct is the number of different keys.
 */
extern SortStatus rows_sort(uint64_t *pairs, size_t n, uint32_t lo, uint32_t hi,
							SortPlan *plan, const SortContext *context,
							uint32_t **refs, uint64_t *distinct, SortError *err);

/* Sorts long pairs in place, upwards; false if interrupted, in any order then. */
extern bool rows_sort_long(RowsLongPair *pairs, size_t n, const SortContext *context);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_ROWS_H */
