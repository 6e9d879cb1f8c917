/*
 * extent_filter.h
 *		ExtentFilter: which values of an extent are in a set, found from the distances as they are
 *		packed.
 *
 * Of most extents the bounds say it already: all of an extent's values are in the set, or none
 * is.  Of the others a few ranges are compared by vectors; many are looked up, in a table with a
 * bit for each distance of one or two bytes, or by binary search.
 */
#ifndef HPSORT_EXTENT_FILTER_H
#define HPSORT_EXTENT_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "sort/extents/extent.h"
#include "sort/extents/key_set.h"
#include "sort/extents/value_ranges.h"

/* Which of an extent's values, or rows, are wanted. */
typedef enum ExtentMatch
{
	EXTENT_NONE,				/* none of them */
	EXTENT_SOME,				/* perhaps some: each is to be looked at */
	EXTENT_ALL					/* all of them */
} ExtentMatch;

/* Distances from an extent's base, lo .. hi. */
typedef struct DistanceRange
{
	uint64_t	lo;
	uint64_t	hi;
} DistanceRange;

/*
 * The most ranges that are compared one after the other.  Of 1e7 random distances of one, two and
 * four bytes, in ms, a range takes 0.9, 0.9 and 2.6, a look-up in the table 20 and 65, a binary
 * search 400 (Intel Xeon, two cores of a busy virtual machine).
 */
#define EXTENT_FILTER_FEW 16

/* A bit for each distance of two bytes. */
#define EXTENT_FILTER_TABLE_WORDS (65536 / 64)

/* A set of values, and what is known of it for the extent begun. */
typedef struct ExtentFilter
{
	/* the caller's */
	int64_t		bias;			/* the members of the set are the values plus bias */
	const KeySet *keys;			/* the set, in place of ranges, or NULL ... */
	bool		excluded;		/* ... or all that are no keys */
	const uint8_t *members;		/* the set, in place of ranges: by value, 1 for each between the
								 * bounds of the extent begun that is in it, else 0 */
	const LongRange *ranges;	/* the set */
	size_t		nranges;
	DistanceRange *distances;	/* room for nranges */
	uint64_t   *table;			/* EXTENT_FILTER_TABLE_WORDS; needed for more than
								 * EXTENT_FILTER_FEW ranges */

	/* of the extent begun */
	size_t		ndistances;		/* ranges within its bounds */
	bool		use_table;		/* distances are looked up in the table */
} ExtentFilter;

/*
 * Begins an extent, of which a header is enough: which of its values that are not NULL are in the
 * set, as far as its bounds say.
 */
extern ExtentMatch extent_filter_begin(ExtentFilter *filter, const Extent *extent);

/*
 * Sets marks[i] to 1 if value i of the extent begun is in the set, else to 0; of NULLs to either.
 * Of values that are no longer the extent's it may be either as well.
 */
extern void extent_filter_mark(const ExtentFilter *filter, const PackedKeys *values,
							   uint8_t *marks);

#endif							/* HPSORT_EXTENT_FILTER_H */
