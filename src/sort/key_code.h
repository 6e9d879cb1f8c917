/*
 * key_code.h
 *		Key codes: the images of a row's columns side by side in one integer.
 *
 * An image is an unsigned integer in the order of a column's values: a number with
 * its sign bit flipped, a float's bits (float_image.h), a number from a list of values.  A
 * column has a range of images that may come, and perhaps a place for NULL.  The place of an
 * image is its distance from the low end of the range, or from the high end if the
 * column is descending; NULL's place is before or behind those of all images.  A code is the sum
 * of all columns' places, each times the column's stride, so codes are in the order of
 * the columns.
 *
 * Strides are made in three ways.  Codes that are numbered leave no integer out, as arrays
 * by code want it.  Codes that are packed give each column some bits.  Codes that are fitted
 * are numbered, of as many leading columns as 64 bits have room for.
 */
#ifndef HPSORT_KEY_CODE_H
#define HPSORT_KEY_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* The images of a column that may come. */
typedef struct KeyRange
{
	uint64_t	lo;				/* inclusive; lo > hi: no image yet */
	uint64_t	hi;
	bool		nulls;			/* NULL has a place */
} KeyRange;

#define EMPTY_KEY_RANGE ((KeyRange) {UINT64_MAX, 0, false})

static inline bool
key_range_is_empty(const KeyRange *range)
{
	return range->lo > range->hi;
}

/* How many images there are; 0 stands for 2^64 unless the range is empty. */
static inline uint64_t
key_range_images(const KeyRange *range)
{
	return key_range_is_empty(range) ? 0 : range->hi - range->lo + 1;
}

/* Widens range by an image. */
static inline void
key_range_put(KeyRange *range, uint64_t image)
{
	if (image < range->lo)
		range->lo = image;
	if (image > range->hi)
		range->hi = image;
}

/* Widens range by another; returns whether that made a difference. */
extern bool key_range_add(KeyRange *range, const KeyRange *other);

/*
 * Widens a range by room images, or as many of them as are within limits: on the side
 * where it grew beyond old, which images of a growing column will reach next.
 */
extern void key_range_extend(KeyRange *range, const KeyRange *old, const KeyRange *limits,
							 uint64_t room);

/* Bits that the places of a range's images and a number of others need; 65 if 64 are too few. */
extern int	key_range_bits(const KeyRange *range, unsigned others);

/*
 * Widens range by another one, and then, within limits, by the images that its bits have room for
 * beside a number of other places.  Returns whether the other range was not inside.
 */
extern bool key_range_widen(KeyRange *range, const KeyRange *other, const KeyRange *limits,
							unsigned others);

/* One column.  All that follows its range and directions is set with the strides. */
typedef struct KeyCodeColumn
{
	KeyRange	range;
	bool		descending;
	bool		nulls_first;

	uint64_t	flip;			/* all bits, if descending */
	uint64_t	base;			/* the first image of the order, flipped */
	uint64_t	images;			/* places of images; 0: none, or 2^64 */
	uint64_t	first;			/* the place of the first image: 1 after NULL */
	uint64_t	null;			/* the place of NULL */
	uint64_t	stride;			/* of packed columns 0 if there is one place, which takes no bits */
	int			shift;			/* of a packed column: the stride as bits */
	int			cut;			/* low bits of a place that are not in the code: 0 but for the
								 * last fitted column */
} KeyCodeColumn;

typedef struct KeyCode
{
	int			ncolumns;
	KeyCodeColumn *columns;		/* lent */
	bool		packed;
	int			bits;			/* packed: in all; may be more than 64: no codes then */
	uint64_t	ncodes;			/* numbered or fitted; 0: 2^64, or nothing has been numbered */
} KeyCode;

/* Numbers the codes; false if they would be none, or more than most. */
extern bool key_code_number(KeyCode *code, uint64_t most);

/* Packs the codes. */
extern void key_code_pack(KeyCode *code);

/*
 * Fits the codes.  Sets *nwhole to the number of leading columns whose whole places are in them:
 * these columns are equal where codes are.  Returns the number of columns that the codes are made
 * of: one more where there is room for the leading bits of the next column's places.
 */
extern int	key_code_fit(KeyCode *code, int *nwhole);

/* The place of an image that is inside the range, or of NULL. */
static inline uint64_t
key_code_place(const KeyCodeColumn *column, uint64_t image, bool isnull)
{
	return isnull ? column->null : ((image ^ column->flip) - column->base) + column->first;
}

/* Whether an image, or NULL, is inside the range; not of all 2^64 images. */
static inline bool
key_code_holds(const KeyCodeColumn *column, uint64_t image, bool isnull)
{
	return isnull ? column->range.nulls : (image ^ column->flip) - column->base < column->images;
}

/*
 * Takes a column's place out of what is left of a code, numbered or packed, and sets *image; true
 * if the column is NULL, and *image is 0 then.  The columns must be taken from the first to the
 * last.
 */
static inline bool
key_code_take(const KeyCode *code, const KeyCodeColumn *column, uint64_t *left, uint64_t *image)
{
	uint64_t	place = 0;
	bool		isnull;

	if (column->stride != 0)
		place = code->packed ? *left >> column->shift : *left / column->stride;
	isnull = column->range.nulls && place == column->null;
	*left -= place * column->stride;
	*image = isnull ? 0 : ((place - column->first) + column->base) ^ column->flip;
	return isnull;
}

#endif							/* HPSORT_KEY_CODE_H */
