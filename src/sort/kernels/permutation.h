/*
 * permutation.h
 *		The stable sorting permutation: by counting, or by sorting pairs.
 */
#ifndef HPSORT_PERMUTATION_H
#define HPSORT_PERMUTATION_H

#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Turns the counts of range bins into the position of each bin's first key:
 * the first prefix sums of the H-P algorithm, exclusive.  Descending, the
 * highest bin comes first.  *distinct becomes the number of non-empty bins.
 * False if interrupted.
 */
extern bool permutation_offsets(uint32_t *bins, uint64_t range, bool descending,
								uint64_t *distinct, const SortContext *context);

/*
 * Writes first, first + 1, ..., one for each key in input order, to the place in
 * out that the offset of the key's bin says, and adds 1 to that offset, so that
 * equal keys stay in input order.  False if interrupted.
 */
extern bool permutation_scatter(uint32_t *offsets, int32_t lo, const int32_t *keys, size_t n,
								uint32_t first, uint32_t *out, const SortContext *context);

/*
 * Pack makes pairs (wide.h) of key and index, the indexes being first,
 * first + 1, ..., whose unsigned order is the wanted order of keys and, among
 * equal keys, the input order; unpack takes the indexes out.  False if
 * interrupted.
 */
extern bool permutation_pack(const int32_t *keys, size_t n, bool descending, uint32_t first,
							 uint64_t *pairs, const SortContext *context);
extern bool permutation_unpack(const uint64_t *pairs, size_t n, uint32_t *out,
							   const SortContext *context);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_PERMUTATION_H */
