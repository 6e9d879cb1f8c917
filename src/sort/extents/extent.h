/*
 * extent.h
 *		Extent: the values of one column in some blocks of rows, packed.
 *
 * One block of memory without pointers, so that it may be copied, shared and sent: a header, a
 * stamp and the number of NULLs for each block, where each block's rows begin, the values, and,
 * if there are NULLs, a bit for each row.  Values are unsigned distances from the smallest one,
 * of 1, 2, 4 or 8 bytes; a NULL's is 0.  Rows keep their order, so that extents of several columns
 * of the same blocks are aligned.
 */
#ifndef HPSORT_EXTENT_H
#define HPSORT_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

/* Values as distances from base, in the order of their rows. */
typedef struct PackedKeys
{
	const void *values;			/* n distances */
	size_t		n;
	int			width;			/* bytes of each: 1, 2, 4 or 8 */
	int64_t		base;			/* what distance 0 stands for */
	uint64_t	top;			/* no distance is larger */
} PackedKeys;

/* How far key i is from the base. */
static inline uint64_t
packed_keys_distance(const PackedKeys *packed, size_t i)
{
	switch (packed->width)
	{
		case 1:
			return ((const uint8_t *) packed->values)[i];
		case 2:
			return ((const uint16_t *) packed->values)[i];
		case 4:
			return ((const uint32_t *) packed->values)[i];
		default:
			return ((const uint64_t *) packed->values)[i];
	}
}

/* Writes the keys, which are int4 (extent_bounds_are_narrow), to out. */
extern void packed_keys_unpack(const PackedKeys *packed, int32_t *out);

/* Writes the keys to out. */
extern void packed_keys_unpack_wide(const PackedKeys *packed, int64_t *out);

/*
 * Writes the keys that have a mark, 1 and not 0, to out, which has room for all; returns how many.
 * These keys are int4; or any.
 */
extern size_t packed_keys_select(const PackedKeys *packed, const uint8_t *marks, int32_t *out);
extern size_t packed_keys_select_wide(const PackedKeys *packed, const uint8_t *marks,
									  int64_t *out);

/* What an extent is made of. */
typedef struct ExtentRows
{
	uint32_t	nblocks;
	const uint64_t *stamps;		/* of each block: the caller's */
	const uint32_t *counts;		/* rows of each block */
	const int64_t *values;		/* of all rows; of NULLs, anything */
	const uint8_t *nulls;		/* of all rows: 1 for NULL, else 0 */
} ExtentRows;

/* The start of an extent. */
typedef struct Extent
{
	uint32_t	size;			/* bytes */
	uint32_t	nblocks;
	uint32_t	nrows;			/* of all blocks, NULLs included */
	uint32_t	nnulls;			/* of these rows */
	int64_t		base;			/* the smallest value */
	uint64_t	top;			/* largest distance from it */
	uint32_t	width;			/* bytes of a distance: 1, 2, 4 or 8 */
	uint32_t	nulls_at;		/* bytes from the start to the rows' bits; 0: no NULLs */
	uint32_t	starts_at;		/* ... to where blocks begin, nblocks + 1 numbers of rows */
	uint32_t	counts_at;		/* ... to the numbers of NULLs, nblocks */
	uint32_t	values_at;		/* ... to the distances, nrows */
	uint32_t	unused;			/* so that stamps are aligned */
	uint64_t	stamps[];		/* nblocks */
} Extent;

/* Fills in the header, except for what follows it; the extent will have header->size bytes. */
extern void extent_plan(const ExtentRows *rows, Extent *header);

/*
 * Writes the extent that extent_plan has planned, of the same rows, to out, which is aligned for
 * uint64_t.
 */
extern void extent_write(const ExtentRows *rows, const Extent *header, void *out);

/*
 * Returns where each block's rows begin, as the number of rows before it: nblocks + 1 numbers, the
 * last of which is nrows.
 */
static inline const uint32_t *
extent_starts(const Extent *extent)
{
	return (const uint32_t *) ((const char *) extent + extent->starts_at);
}

/*
 * Whether header is the start of an extent of size bytes, as far as it tells: each part lies where
 * extent_plan puts it, and no value is beyond int8.
 */
extern bool extent_header_is_sound(const Extent *header, size_t size);

/* Whether all values are int4, with these bounds: a GPU takes no others. */
static inline bool
extent_bounds_are_narrow(int64_t base, uint64_t top)
{
	return base >= INT32_MIN && base <= INT32_MAX && top <= (uint64_t) (INT32_MAX - base);
}

/*
 * Whether bytes, which are aligned for uint64_t, are an extent of size bytes, so that whoever
 * follows its numbers stays within it.  Reads nothing from values_at on: bytes may end there.
 */
extern bool extent_is_sound(const void *bytes, size_t size);

/* Returns the number of NULLs of each block: nblocks numbers. */
static inline const uint32_t *
extent_null_counts(const Extent *extent)
{
	return (const uint32_t *) ((const char *) extent + extent->counts_at);
}

/*
 * n values from row on, NULLs included, of the extent at bytes; extent may be a copy of its start.
 */
static inline PackedKeys
extent_values(const Extent *extent, const void *bytes, uint32_t row, size_t n)
{
	PackedKeys	packed = {
		.values = (const char *) bytes + extent->values_at + (size_t) row * extent->width,
		.n = n,
		.width = (int) extent->width,
		.base = extent->base,
		.top = extent->top
	};

	return packed;
}

/*
 * Of the rows' bits: sets the mark of each NULL of n rows from row on, and leaves other marks;
 * returns how many NULLs there are.
 */
extern size_t extent_mark_nulls(const uint8_t *bits, uint32_t row, size_t n, uint8_t mark,
								uint8_t *marks);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_EXTENT_H */
