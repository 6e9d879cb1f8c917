/*
 * extent.c
 *		Values of one column in some blocks of rows, packed (see extent.h).
 */
#include "sort/extent.h"

#include <string.h>

#include "sort/kernels.h"

/* --- packed keys */

void
packed_keys_unpack(const PackedKeys *packed, int32_t *out)
{
	kernel_unpack(packed->values, packed->width, packed->n, packed->base, out);
}

/* --- making an extent */

/* Bytes to the next multiple of 8, where whatever follows is aligned. */
static uint32_t
align(uint64_t size)
{
	return (uint32_t) ((size + 7) / 8 * 8);
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
	header->starts_at = align(offsetof(Extent, stamps) + (uint64_t) rows->nblocks * sizeof(uint64_t));
	header->counts_at = align(header->starts_at + (uint64_t) (rows->nblocks + 1) * sizeof(uint32_t));
	header->values_at = align(header->counts_at + (uint64_t) rows->nblocks * sizeof(uint32_t));
	header->size = align(header->values_at + nrows * header->width);
	if (header->nnulls > 0)
	{
		header->nulls_at = header->size;
		header->size = align(header->size + (nrows + 7) / 8);
	}
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

size_t
extent_read_nulls(const uint8_t *bits, uint32_t row, size_t n, uint8_t *nulls)
{
	size_t		count = 0;
	size_t		i;

	for (i = 0; i < n; i++, row++)
	{
		nulls[i] = bits[row / 8] >> row % 8 & 1;
		count += nulls[i];
	}
	return count;
}
