/*
 * long_sorter_parts.h
 *		What long_sorter.c and long_sorter_cursor.c share; no other file includes it.
 */
#ifndef HPSORT_LONG_SORTER_PARTS_H
#define HPSORT_LONG_SORTER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

/* Keys or runs converted at once, on the stack. */
#define LONG_CONVERT 1024

#define LONG_RUN_SIZE (2 * sizeof(uint64_t))

/* What turns an unsigned key into the Sorter's key in the same order. */
#define LONG_SIGN_BIT (UINT32_C(1) << 31)

/* Whether keys of so many bits are the Sorter's. */
static inline bool
long_is_narrow(int bits)
{
	return bits <= 32;
}

/* The Sorter's key for an unsigned one, and back. */
static inline int32_t
long_to_narrow(uint32_t key)
{
	return (int32_t) (key ^ LONG_SIGN_BIT);
}

static inline uint32_t
long_from_narrow(int32_t key)
{
	return (uint32_t) key ^ LONG_SIGN_BIT;
}

#endif							/* HPSORT_LONG_SORTER_PARTS_H */
