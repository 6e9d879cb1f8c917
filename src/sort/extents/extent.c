/*
 * extent.c
 *		Values of one column in some blocks of rows, packed (see extent.h).
 */
#include "sort/extents/extent.h"

#include <string.h>

#include "sort/kernels/kernels.h"

/* --- packed keys */

/* Distances of up to 4 bytes are made wide so many at a time: 4 kB. */
#define WIDEN_AT_ONCE 1024

/* Returns n keys from key from on. */
static PackedKeys
part_of_keys(const PackedKeys *packed, size_t from, size_t n)
{
	PackedKeys	part = *packed;

	part.values = (const char *) packed->values + from * (size_t) packed->width;
	part.n = packed->n - from < n ? packed->n - from : n;
	return part;
}

void
packed_keys_unpack(const PackedKeys *packed, int32_t *out)
{
	kernel_unpack(packed->values, packed->width, packed->n, (int32_t) packed->base, out);
}

void
packed_keys_unpack_wide(const PackedKeys *packed, int64_t *out)
{
	int32_t		distances[WIDEN_AT_ONCE];
	uint64_t	base = (uint64_t) packed->base;
	const uint64_t *wide = packed->values;
	PackedKeys	part;

	if (packed->width == 8)
	{
		for (size_t i = 0; i < packed->n; i++)
			out[i] = (int64_t) (base + wide[i]);
		return;
	}
	for (size_t at = 0; at < packed->n; at += part.n)
	{
		part = part_of_keys(packed, at, WIDEN_AT_ONCE);
		kernel_unpack(part.values, part.width, part.n, 0, distances);
		for (size_t i = 0; i < part.n; i++)
			out[at + i] = (int64_t) (base + (uint32_t) distances[i]);
	}
}

size_t
packed_keys_select(const PackedKeys *packed, const uint8_t *marks, int32_t *out)
{
	return kernel_select(packed->values, packed->width, packed->n, (int32_t) packed->base, marks,
						 out);
}

size_t
packed_keys_select_wide(const PackedKeys *packed, const uint8_t *marks, int64_t *out)
{
	int32_t		distances[WIDEN_AT_ONCE];
	uint64_t	base = (uint64_t) packed->base;
	const uint64_t *wide = packed->values;
	size_t		count = 0;
	PackedKeys	part;
	size_t		n;

	if (packed->width == 8)
	{
		for (size_t i = 0; i < packed->n; i++)
		{
			out[count] = (int64_t) (base + wide[i]);
			count += marks[i];
		}
		return count;
	}
	for (size_t at = 0; at < packed->n; at += part.n)
	{
		part = part_of_keys(packed, at, WIDEN_AT_ONCE);
		n = kernel_select(part.values, part.width, part.n, 0, marks + at, distances);
		for (size_t i = 0; i < n; i++)
			out[count++] = (int64_t) (base + (uint32_t) distances[i]);
	}
	return count;
}

/* --- making an extent */

/* Bytes to the next multiple of 8, where whatever follows is aligned. */
static uint64_t
align(uint64_t size)
{
	return (size + 7) / 8 * 8;
}

/*
 * Where the parts of an extent lie, by the other numbers of its header; returns its size.  The
 * numbers that are stored are right if that is less than 2^32.
 */
static uint64_t
lay_out(Extent *header)
{
	uint64_t	at = align(offsetof(Extent, stamps) +
						   (uint64_t) header->nblocks * sizeof(uint64_t));

	header->starts_at = (uint32_t) at;
	at = align(at + ((uint64_t) header->nblocks + 1) * sizeof(uint32_t));
	header->counts_at = (uint32_t) at;
	at = align(at + (uint64_t) header->nblocks * sizeof(uint32_t));
	header->values_at = (uint32_t) at;
	at = align(at + (uint64_t) header->nrows * header->width);
	header->nulls_at = 0;
	if (header->nnulls > 0)
	{
		header->nulls_at = (uint32_t) at;
		at = align(at + ((uint64_t) header->nrows + 7) / 8);
	}
	header->size = (uint32_t) at;
	return at;
}

/* Smallest and largest of the values that are not NULL; 0 if there are none. */
static void
find_bounds(const ExtentRows *rows, uint32_t n, int64_t *lo, int64_t *hi)
{
	bool		any = false;

	*lo = *hi = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		if (rows->nulls[i])
			continue;
		if (!any || rows->values[i] < *lo)
			*lo = rows->values[i];
		if (!any || rows->values[i] > *hi)
			*hi = rows->values[i];
		any = true;
	}
}

void
extent_plan(const ExtentRows *rows, Extent *header)
{
	uint64_t	nrows = 0;
	int64_t		hi;

	memset(header, 0, sizeof(*header));
	for (uint32_t b = 0; b < rows->nblocks; b++)
		nrows += rows->counts[b];
	header->nblocks = rows->nblocks;
	header->nrows = (uint32_t) nrows;
	for (uint32_t i = 0; i < header->nrows; i++)
		header->nnulls += rows->nulls[i];
	find_bounds(rows, header->nrows, &header->base, &hi);
	header->top = (uint64_t) hi - (uint64_t) header->base;
	header->width = header->top <= UINT8_MAX ? 1 : header->top <= UINT16_MAX ? 2 :
		header->top <= UINT32_MAX ? 4 : 8;
	(void) lay_out(header);
}

/* The distance of row i. */
static inline uint64_t
distance(const ExtentRows *rows, const Extent *header, uint32_t i)
{
	return rows->nulls[i] ? 0 : (uint64_t) rows->values[i] - (uint64_t) header->base;
}

/* Writes all distances. */
#define WRITE_DISTANCES(type) \
	do { \
		type	   *out_values = (type *) (bytes + header->values_at); \
		\
		for (uint32_t i = 0; i < header->nrows; i++) \
			out_values[i] = (type) distance(rows, header, i); \
	} while (0)

void
extent_write(const ExtentRows *rows, const Extent *header, void *out)
{
	Extent	   *extent = (Extent *) out;
	char	   *bytes = (char *) out;
	uint32_t   *starts;
	uint32_t   *counts;
	uint32_t	row = 0;
	uint32_t	b;

	memset(out, 0, header->size);
	memcpy(out, header, offsetof(Extent, stamps));
	memcpy(extent->stamps, rows->stamps, rows->nblocks * sizeof(uint64_t));
	starts = (uint32_t *) (bytes + header->starts_at);
	counts = (uint32_t *) (bytes + header->counts_at);
	for (b = 0; b < rows->nblocks; b++)
	{
		starts[b] = row;
		for (uint32_t i = 0; i < rows->counts[b]; i++, row++)
			counts[b] += rows->nulls[row];
	}
	starts[b] = row;

	if (header->width == 1)
		WRITE_DISTANCES(uint8_t);
	else if (header->width == 2)
		WRITE_DISTANCES(uint16_t);
	else if (header->width == 4)
		WRITE_DISTANCES(uint32_t);
	else
		WRITE_DISTANCES(uint64_t);
	if (header->nnulls > 0)
		for (uint32_t i = 0; i < header->nrows; i++)
			((uint8_t *) (bytes + header->nulls_at))[i / 8] |= (uint8_t) (rows->nulls[i] << i % 8);
}

/* --- reading one */

bool
extent_header_is_sound(const Extent *header, size_t size)
{
	Extent		expected = *header;

	return size >= sizeof(Extent) && (header->width == 1 || header->width == 2 ||
									  header->width == 4 || header->width == 8) &&
		header->nnulls <= header->nrows && lay_out(&expected) == size && header->size == size &&
		header->starts_at == expected.starts_at && header->counts_at == expected.counts_at &&
		header->values_at == expected.values_at && header->nulls_at == expected.nulls_at &&
		header->top <= UINT64_MAX >> (64 - 8 * header->width) &&
		header->top <= (uint64_t) INT64_MAX - (uint64_t) header->base;
}

bool
extent_is_sound(const void *bytes, size_t size)
{
	const Extent *extent = (const Extent *) bytes;
	const uint32_t *starts;
	const uint32_t *counts;
	uint64_t	nnulls = 0;

	if (size < sizeof(Extent) || !extent_header_is_sound(extent, size))
		return false;
	starts = extent_starts(extent);
	counts = extent_null_counts(extent);
	if (starts[0] != 0 || starts[extent->nblocks] != extent->nrows)
		return false;
	for (uint32_t b = 0; b < extent->nblocks; b++)
	{
		if (starts[b + 1] < starts[b] || counts[b] > starts[b + 1] - starts[b])
			return false;
		nnulls += counts[b];
	}
	return nnulls == extent->nnulls;
}

size_t
extent_mark_nulls(const uint8_t *bits, uint32_t row, size_t n, uint8_t mark, uint8_t *marks)
{
	size_t		count = 0;
	size_t		end;

	/* A byte of bits at a time: most have no NULL. */
	for (size_t i = 0; i < n; i = end)
	{
		unsigned	eight = bits[(row + i) / 8] >> (row + i) % 8;

		end = i + 8 - (row + i) % 8;
		for (; eight != 0 && i < n; i++, eight >>= 1)
			if (eight & 1)
			{
				marks[i] = mark;
				count++;
			}
	}
	return count;
}
