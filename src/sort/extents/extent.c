/*
 * extent.c
 *		Values of one column in some blocks of rows, packed (see extent.h).
 */
#include "sort/extents/extent.h"

#include <string.h>

#include "sort/kernels/kernels.h"

/* --- packed keys */

void
packed_keys_unpack(const PackedKeys *packed, int32_t *out)
{
	kernel_unpack(packed->values, packed->width, packed->n, packed->base, out);
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
find_bounds(const ExtentRows *rows, uint32_t n, int32_t *lo, int32_t *hi)
{
	bool		any = false;
	uint32_t	i;

	*lo = *hi = 0;
	for (i = 0; i < n; i++)
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
	uint32_t	b;
	uint32_t	i;
	int32_t		hi;

	memset(header, 0, sizeof(*header));
	for (b = 0; b < rows->nblocks; b++)
		nrows += rows->counts[b];
	header->nblocks = rows->nblocks;
	header->nrows = (uint32_t) nrows;
	for (i = 0; i < header->nrows; i++)
		header->nnulls += rows->nulls[i];
	find_bounds(rows, header->nrows, &header->base, &hi);
	header->top = (uint32_t) hi - (uint32_t) header->base;
	header->width = header->top <= UINT8_MAX ? 1 : header->top <= UINT16_MAX ? 2 : 4;
	(void) lay_out(header);
}

/* The distance of row i. */
static inline uint32_t
distance(const ExtentRows *rows, const Extent *header, uint32_t i)
{
	return rows->nulls[i] ? 0 : (uint32_t) rows->values[i] - (uint32_t) header->base;
}

void
extent_write(const ExtentRows *rows, const Extent *header, void *out)
{
	Extent	   *extent = (Extent *) out;
	char	   *bytes = (char *) out;
	uint32_t   *starts;
	uint32_t   *counts;
	uint32_t	row = 0;
	uint32_t	b;
	uint32_t	i;

	memset(out, 0, header->size);
	memcpy(out, header, offsetof(Extent, stamps));
	memcpy(extent->stamps, rows->stamps, rows->nblocks * sizeof(uint64_t));
	starts = (uint32_t *) (bytes + header->starts_at);
	counts = (uint32_t *) (bytes + header->counts_at);
	for (b = 0; b < rows->nblocks; b++)
	{
		starts[b] = row;
		for (i = 0; i < rows->counts[b]; i++, row++)
			counts[b] += rows->nulls[row];
	}
	starts[b] = row;

	if (header->width == 1)
		for (i = 0; i < header->nrows; i++)
			((uint8_t *) (bytes + header->values_at))[i] = (uint8_t) distance(rows, header, i);
	else if (header->width == 2)
		for (i = 0; i < header->nrows; i++)
			((uint16_t *) (bytes + header->values_at))[i] = (uint16_t) distance(rows, header, i);
	else
		for (i = 0; i < header->nrows; i++)
			((uint32_t *) (bytes + header->values_at))[i] = distance(rows, header, i);
	if (header->nnulls > 0)
		for (i = 0; i < header->nrows; i++)
			((uint8_t *) (bytes + header->nulls_at))[i / 8] |= (uint8_t) (rows->nulls[i] << i % 8);
}

/* --- reading one */

bool
extent_header_is_sound(const Extent *header, size_t size)
{
	Extent		expected = *header;

	return size >= sizeof(Extent) && (header->width == 1 || header->width == 2 ||
									  header->width == 4) &&
		header->nnulls <= header->nrows && lay_out(&expected) == size && header->size == size &&
		header->starts_at == expected.starts_at && header->counts_at == expected.counts_at &&
		header->values_at == expected.values_at && header->nulls_at == expected.nulls_at &&
		header->top <= UINT32_MAX >> (32 - 8 * header->width) &&
		(int64_t) header->base + header->top <= INT32_MAX;
}

bool
extent_is_sound(const void *bytes, size_t size)
{
	const Extent *extent = (const Extent *) bytes;
	const uint32_t *starts;
	const uint32_t *counts;
	uint64_t	nnulls = 0;
	uint32_t	b;

	if (size < sizeof(Extent) || !extent_header_is_sound(extent, size))
		return false;
	starts = extent_starts(extent);
	counts = extent_null_counts(extent);
	if (starts[0] != 0 || starts[extent->nblocks] != extent->nrows)
		return false;
	for (b = 0; b < extent->nblocks; b++)
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
	size_t		i;

	/* A byte of bits at a time: most have no NULL. */
	for (i = 0; i < n; i = end)
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
