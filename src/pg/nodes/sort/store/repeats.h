/*
 * repeats.h
 *		Which abbreviations stand for one and the same value in all rows.
 *
 * Rows of equal abbreviations have to be compared, and where a column has few different
 * values, that is most rows: in an order in which they do not lie in memory.  So
 * values are compared while they are abbreviated, when they are at hand, with the first
 * one of the same abbreviation: of those with which all others have been alike, byte by byte, no
 * row has to be looked at again.  A number of abbreviations are watched, those that come first,
 * and none where few values repeat.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_REPEATS_H
#define HPSORT_PG_NODES_SORT_STORE_REPEATS_H

#include "postgres.h"

/* Abbreviations that are watched, at most, and the bytes of their longest value. */
#define REPEATS_SLOTS 512
#define REPEATS_VALUE_MAX 40

/*
 * Of so many first values, one of so many has to be a repeat; of all after them, at least one of
 * so many.
 */
#define REPEATS_FIRST 64
#define REPEATS_FIRST_PART 16
#define REPEATS_PART 4

typedef enum RepeatsState
{
	REPEATS_FREE = 0,
	REPEATS_ALIKE,
	REPEATS_DIFFERENT			/* or too long, or not to be known by its bytes */
} RepeatsState;

typedef struct Repeats
{
	int16		typlen;			/* of the type, which is not passed by value */
	uint64		seen;
	uint64		repeated;
	uint64		next_look;		/* when so many have been seen */
	uint64		images[REPEATS_SLOTS];
	uint8		states[REPEATS_SLOTS];
	uint8		sizes[REPEATS_SLOTS];
	char		values[REPEATS_SLOTS][REPEATS_VALUE_MAX];
} Repeats;

/* Watches the values of a type, which are not passed by value; memory is the current context's. */
extern Repeats *repeats_create(int16 typlen);

/*
 * Sees a value and its abbreviation.  False: it is not worth going on, and nothing is known of any
 * abbreviation.
 */
extern bool repeats_see(Repeats *repeats, uint64 image, Datum value);

static inline uint32
repeats_slot(uint64 image)
{
	return (uint32) ((image * UINT64CONST(0x9E3779B97F4A7C15)) >> 55);
}

StaticAssertDecl(REPEATS_SLOTS == 1 << (64 - 55), "a slot takes the leading bits of a product");

/* Whether all values of this abbreviation were the same, so far. */
static inline bool
repeats_are_alike(const Repeats *repeats, uint64 image)
{
	uint32		slot = repeats_slot(image);

	return repeats->states[slot] == REPEATS_ALIKE && repeats->images[slot] == image;
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_REPEATS_H */
