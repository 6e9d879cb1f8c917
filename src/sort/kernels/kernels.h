/*
 * kernels.h
 *		The inner loops, vectorised for the processor found at run time.
 *
 * Implemented with Highway (kernels.cpp, filter_kernels.cpp, partition.cpp, vqsort.cpp):
 * one source, compiled for every instruction set of the architecture; the first call picks
 * the best that the processor has.  C linkage.  No kernel fails or throws, and
 * none but the vqsort functions allocates: a few KiB a thread, once.
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

/*
 * Of filters (filter_kernels.cpp): marks, one byte a row, 0 or 1, and the rows that have them.
 */

/*
 * Sets marks[i] to 1 where value i, of n unsigned ones of width bytes (1, 2, 4 or 8), is in
 * lo .. hi, which is not empty.  Other marks stay.
 */
extern void kernel_mark_range(const void *values, int width, size_t n, uint64_t lo, uint64_t hi,
							  uint8_t *marks);

/* Sets marks[i] to whether value i of n is in lo .. hi and has its bit, from lo on, in words. */
extern void kernel_mark_bits(const int64_t *values, size_t n, int64_t lo, int64_t hi,
							 const uint64_t *words, uint8_t *marks);

/* How many of n marks are 1. */
extern size_t kernel_count_marks(const uint8_t *marks, size_t n);

/*
 * Writes the keys that have a mark, of n that are base plus unsigned distances of width bytes, to
 * out, in order; returns how many.  out has room for n.
 */
extern size_t kernel_select(const void *values, int width, size_t n, int32_t base,
							const uint8_t *marks, int32_t *out);

/* Returns the first place of wanted, of length bytes, among n; or n.  0 < length <= n. */
extern size_t kernel_find_bytes(const char *bytes, size_t n, const char *wanted, size_t length);

/* Smallest and largest of n > 0 keys. */
extern void kernel_min_max(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi);

/* Counters of key k: bins[t * stride + (k - lo)], of which the sum over all tables t counts. */
typedef struct KernelBins
{
	uint32_t   *bins;
	size_t		stride;			/* counters from one table to the next */
	int			tables;			/* 1 or 4 */
	int32_t		lo;				/* smallest key */
	uint64_t	range;			/* counters of a table in use */
} KernelBins;

/*
 * Counts n keys, each in any of the tables.  Keys outside of lo .. lo + range - 1
 * are written to outside (room for n; may be keys itself), in order; returns
 * their number.  The caller sees to it that no counter can exceed UINT32_MAX.
 */
extern size_t kernel_count(const int32_t *keys, size_t n, const KernelBins *to, int32_t *outside);

/*
 * Counts n keys that are base plus unsigned distances of width bytes (1, 2 or 4).  All keys are
 * inside of the counters' range.
 */
extern void kernel_count_packed(const void *values, int width, size_t n, int32_t base,
								const KernelBins *to);

/* Writes such keys to out. */
extern void kernel_unpack(const void *values, int width, size_t n, int32_t base, int32_t *out);

/* Writes count copies of key to out. */
extern void kernel_fill(int32_t *out, size_t count, int32_t key);

/*
 * Expands bins v0 .. v1 - 1 upwards, or v1 - 1 .. v0 down, until the next bin
 * would not fit into max keys; *stop is that bin (going down: one above it).
 * Returns the number of keys written.
 */
extern size_t kernel_expand(const uint32_t *bins, uint64_t v0, uint64_t v1, int32_t lo, bool down,
							int32_t *out, size_t max, uint64_t *stop);

/* First non-zero of bins v0 .. v1 - 1; v1 if none. */
extern uint64_t kernel_next_nonzero(const uint32_t *bins, uint64_t v0, uint64_t v1);

/* How many of n bins are not zero. */
extern uint64_t kernel_count_nonzero(const uint32_t *bins, uint64_t n);

/* into[i] += from[i], and from[i] = 0. */
extern void kernel_take_bins(uint32_t *into, uint32_t *from, size_t n);

/* How many keys, from the first on, are in ascending order. */
extern size_t kernel_ordered_prefix(const int32_t *keys, size_t n);

/* Positions i with keys[i] != keys[i + 1], i < n - 1. */
extern uint64_t kernel_count_changes(const int32_t *keys, size_t n);

/*
 * Moves the keys <= pivot (descending: the keys > pivot) to the front; *nleft is
 * how many there are.  interrupted (may be NULL) is called with arg every 2^20
 * keys; once it returns true, so that the sort is to end, the result is false
 * and the keys are all there, in any order.
 */
extern bool kernel_partition_keys(int32_t *keys, size_t n, int32_t pivot, bool descending,
								  size_t *nleft, bool (*interrupted) (void *), void *arg);
extern bool kernel_partition_pairs(uint64_t *pairs, size_t n, uint64_t pivot, size_t *nleft,
								   bool (*interrupted) (void *), void *arg);

/* Highway's vectorised quicksort, in place. */
extern void vqsort_keys(int32_t *keys, size_t n, int descending);
extern void vqsort_pairs(uint64_t *pairs, size_t n);

/*
 * What vqsort_keys does of more than 256 keys where AVX-512 slows it down
 * (vqsort.cpp says where), so that tests reach it everywhere; where this build
 * has no such code, vqsort_keys.
 */
extern void vqsort_keys_avx2(int32_t *keys, size_t n, int descending);

/* The instruction set in use, for people ("AVX3_ZEN4", "NEON", ...). */
extern const char *kernel_target(void);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_KERNELS_H */
