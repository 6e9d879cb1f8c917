/*
 * kernels.h
 *		The inner loops, vectorised for the processor found at run time.
 *
 * Implemented with Highway (kernels.cpp, partition.cpp, vqsort.cpp): one source, compiled for
 * every instruction set of the architecture, chosen at the first call.  Plain
 * C linkage; nothing here allocates, fails or throws.
 */
#ifndef HPSORT_KERNELS_H
#define HPSORT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

/* Smallest and largest of n > 0 keys. */
extern void kernel_min_max(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi);

/*
 * Counts n keys into a histogram: bins[t * stride + (k - lo)] for keys in
 * lo .. lo + range - 1, t being any of the tables.  The others are written to
 * outside (room for n; may be keys itself), in order; returns their number.
 * No counter may overflow: n plus what it holds is the caller's duty.
 */
extern size_t kernel_count(const int32_t *keys, size_t n, int32_t lo, uint64_t range,
						   uint32_t *bins, size_t stride, int tables, int32_t *outside);

/* Writes count copies of key to out. */
extern void kernel_fill(int32_t *out, size_t count, int32_t key);

/*
 * Expands bins v0 .. v1 - 1 upwards (or v1 - 1 .. v0 downwards) until the next
 * bin would not fit into max keys; *stop is that bin (going down: one above
 * it).  Returns the number of keys written.
 */
extern size_t kernel_expand_up(const uint32_t *bins, uint64_t v0, uint64_t v1, int32_t lo,
							   int32_t *out, size_t max, uint64_t *stop);
extern size_t kernel_expand_down(const uint32_t *bins, uint64_t v0, uint64_t v1, int32_t lo,
								 int32_t *out, size_t max, uint64_t *stop);

/* First non-zero of bins v0 .. v1 - 1; v1 if none. */
extern uint64_t kernel_next_nonzero(const uint32_t *bins, uint64_t v0, uint64_t v1);

/* Non-zero ones among n bins. */
extern uint64_t kernel_count_nonzero(const uint32_t *bins, uint64_t n);

/* into[i] += from[i], and from[i] = 0. */
extern void kernel_take_bins(uint32_t *into, uint32_t *from, size_t n);

/* Whether n > 0 keys are all the same. */
extern bool kernel_all_equal(const int32_t *keys, size_t n);

/* Length of the longest prefix in ascending order. */
extern size_t kernel_ordered_prefix(const int32_t *keys, size_t n);

/* Positions i with keys[i] != keys[i + 1], i < n - 1. */
extern uint64_t kernel_count_changes(const int32_t *keys, size_t n);

/*
 * Moves the keys <= pivot (or > pivot when descending) to the front and says
 * how many they are.  interrupted (may be NULL) is called now and then; when
 * it says so the keys are left in some order and the result is false.
 */
extern bool kernel_partition_keys(int32_t *keys, size_t n, int32_t pivot, bool descending,
								  size_t *nleft, bool (*interrupted) (void *), void *arg);
extern bool kernel_partition_pairs(uint64_t *pairs, size_t n, uint64_t pivot, size_t *nleft,
								   bool (*interrupted) (void *), void *arg);

/* Highway's vectorised quicksort, in place. */
extern void vqsort_keys(int32_t *keys, size_t n, int descending);
extern void vqsort_pairs(uint64_t *pairs, size_t n);

/* ... of n 128-bit integers, aligned as such. */
extern void vqsort_long_pairs(void *pairs, size_t n);

/* The instruction set in use, for people ("AVX3_ZEN4", "NEON", ...). */
extern const char *kernel_target(void);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_KERNELS_H */
