/*
 * key_set.h
 *		KeySet: a set of integers of 64 bits, in which values are looked up many at a time.
 *
 * One block of memory without pointers, so that processes may share it.  Where the keys are near
 * each other there is a bit for each integer from the smallest to the largest.  Other keys are in a
 * table, in which each is at one of two places (cuckoo hashing: Pagh, Rodler 2004): a look-up
 * compares with both and has no branch.
 */
#ifndef HPSORT_KEY_SET_H
#define HPSORT_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sort/extents/value_ranges.h"

typedef struct KeySet
{
	size_t		size;			/* bytes of the block */
	size_t		nkeys;			/* different ones */
	int64_t		lo;				/* the smallest, and the largest; of no keys, lo > hi */
	int64_t		hi;
	bool		is_table;		/* else bits */
	uint64_t	mask;			/* of a table: its places less 1 */
	uint64_t	seed;			/* of a table: of its keys' places */
	uint64_t	free;			/* of a table: what is in places without a key; no key */
	uint64_t	words[];		/* bits of 64 integers each, or places */
} KeySet;

/* Fills in the header of a set of n keys, among which may be equal ones, up to nkeys. */
extern void key_set_plan(const int64_t *keys, size_t n, KeySet *header);

/* Writes the set that key_set_plan has planned, of the same keys, to out, of header->size bytes. */
extern void key_set_write(const KeySet *header, const int64_t *keys, size_t n, KeySet *out);

/* Sets marks[i] to whether value i of n is a key, 1 or else 0. */
extern void key_set_mark(const KeySet *set, const int64_t *values, size_t n, uint8_t *marks);

/* Whether a value is a key. */
extern bool key_set_has(const KeySet *set, int64_t value);

/* Returns false if no key is in lo .. hi; true if one is, or to find out takes too long. */
extern bool key_set_may_have(const KeySet *set, int64_t lo, int64_t hi);

/*
 * Writes the keys as at most max ranges to out; returns how many there are.  Returns SIZE_MAX if
 * there are more, or the set is a table.
 */
extern size_t key_set_ranges(const KeySet *set, LongRange *out, size_t max);

#endif							/* HPSORT_KEY_SET_H */
