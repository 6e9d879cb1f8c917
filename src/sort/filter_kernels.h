/*
 * filter_kernels.h
 *		The inner loops of filters: marks, one byte a row, and the rows that have them, vectorised
 *		for the processor found at run time as those of kernels.h.
 *
 * A mark is 0 or 1.  No kernel fails or allocates.
 */
#ifndef HPSORT_FILTER_KERNELS_H
#define HPSORT_FILTER_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Sets marks[i] to 1 where value i, of n unsigned ones of width bytes (1, 2 or 4), is in lo .. hi,
 * which is not empty.  Other marks stay.
 */
extern void kernel_mark_range(const void *values, int width, size_t n, uint32_t lo, uint32_t hi,
							  uint8_t *marks);

/* How many of n marks are 1. */
extern size_t kernel_count_marks(const uint8_t *marks, size_t n);

/*
 * Writes the keys that have a mark, of n that are base plus unsigned distances of width bytes, to
 * out, in order; returns how many.  out has room for n.
 */
extern size_t kernel_select(const void *values, int width, size_t n, int32_t base,
							const uint8_t *marks, int32_t *out);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_FILTER_KERNELS_H */
