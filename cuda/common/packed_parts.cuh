/*-------------------------------------------------------------------------
 *
 * packed_parts.cuh
 *	  Packed values as kernels read them: a table of parts, each of which is some
 *	  values in a row, cut into tiles that a warp takes at a time.
 *
 * Made by packed.cu; read by packed_histogram.cu, which counts the values, and by
 * unpack.cu, which makes keys of them.  packed_device.cuh has what both kernels share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PACKED_PARTS_CUH
#define HPSORT_CUDA_PACKED_PARTS_CUH

#include <cstdint>

#include "regime.h"

namespace hpsort
{

/* A tile for counting, in vectors of 16 bytes; for unpacking, in values, so that the
 * bytes written are what is alike. */
static constexpr uint32_t packed_tile_vectors = 128;
static constexpr uint32_t packed_tile_values = 1024;

/*
 * place is 8 p + 4 nulls + log2(width).  p: where the part's first key goes among the
 * job's keys; of a part of values with NULLs, less the keys that are before the part in
 * the same packed values, which makes it the place of row 0, and perhaps negative.
 */
struct __align__(16) PackedPart
{
	const char *values;			/* the first one */
	int64_t		place;
	uint32_t	start;			/* tiles of the parts before */
	uint32_t	first;			/* row of the first value in its packed values */
	uint32_t	n;				/* values, NULLs included */
	int32_t		base;			/* what distance 0 stands for */

	__host__ __device__ int width_bits() const { return static_cast<int>(place & 3); }
	__host__ __device__ bool has_nulls() const { return (place & 4) != 0; }
	__host__ __device__ int64_t position() const { return place >> 3; }
};

static_assert(sizeof(PackedPart) == REGIME_PACKED_PART_BYTES,
			  "a job's need has room for a table of parts");

/* A bit for each row, and the number of NULLs before each group of so many rows. */
static constexpr uint32_t packed_group = 64;

/*
 * Where packed values have NULLs, their device memory begins with a bit for each row (1: a
 * NULL), in words of 64, and with the number of NULLs before each word; this follows,
 * and directly behind it the values, on a boundary of 16 bytes.
 */
struct __align__(16) PackedNulls
{
	uint32_t	bits_back;		/* bytes from the values back to the bits */
	uint32_t	counts_back;	/* and to the numbers */
	uint32_t	unused[2];
};

/* parts[count] is a sentinel, whose start is the number of tiles. */
struct PackedTable
{
	const PackedPart *parts;	/* in device memory */
	uint32_t	count;
	uint32_t	tiles;
	uint64_t	n;				/* values of all parts, at most UINT32_MAX */
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PACKED_PARTS_CUH */
