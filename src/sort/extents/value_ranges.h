/*
 * value_ranges.h
 *		Sets of values as ranges: what comparisons with constants, ANDed, leave of a column's
 *		values.
 *
 * A set is an array of ranges in ascending order, none of which overlaps or touches another.  An
 * empty array is the empty set.  The caller provides the arrays that results are written to.
 */
#ifndef HPSORT_VALUE_RANGES_H
#define HPSORT_VALUE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* lo .. hi, both inclusive. */
typedef struct LongRange
{
	int64_t		lo;
	int64_t		hi;
} LongRange;

/* Of values that are int4, as extents have them. */
typedef struct ValueRange
{
	int32_t		lo;
	int32_t		hi;
} ValueRange;

/*
 * Whether a set of n ranges has a value.  Without branches that depend on it: among values in any
 * order half of the branches of a search would be mispredicted.
 */
static inline bool
long_ranges_have(const LongRange *ranges, size_t n, int64_t value)
{
	/* The first range that does not end before the value, or the last one, is one of n. */
	while (n > 1)
	{
		size_t		half = n / 2;

		ranges += half & (0 - (size_t) (ranges[half - 1].hi < value));
		n -= half;
	}
	return n == 1 && (ranges->lo <= value) & (value <= ranges->hi);
}

/*
 * Makes a set of n values, which it sorts; out has room for n ranges.  Returns how many there are.
 */
extern size_t long_ranges_of_values(int64_t *values, size_t n, LongRange *out);

/* All values that are not in a set of n ranges; out has room for n + 1, and may not be ranges. */
extern size_t long_ranges_complement(const LongRange *ranges, size_t n, LongRange *out);

/* What is in both sets; out has room for na + nb ranges, and may be neither. */
extern size_t long_ranges_intersect(const LongRange *a, size_t na, const LongRange *b, size_t nb,
									LongRange *out);

/*
 * The values of a set of n ranges that are int4 when bias is taken from them; out has room for n
 * ranges.
 */
extern size_t long_ranges_narrow(const LongRange *ranges, size_t n, int64_t bias, ValueRange *out);

#endif							/* HPSORT_VALUE_RANGES_H */
