/*-------------------------------------------------------------------------
 *
 * packed_parts.cuh
 *	  Packed values as kernels read them: a table of parts.
 *
 * A part is some consecutive packed values.  It is cut into tiles, each of which one warp takes
 * at a time.  packed.cu makes the tables; packed_values.cu and packed_rows.cu read them, by
 * the device functions of packed_device.cuh.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PACKED_PARTS_CUH
#define HPSORT_CUDA_PACKED_PARTS_CUH

#include <cstdint>

#include "regime.h"

namespace hpsort
{

/* The size of a tile.  A tile for counting is 128 vectors of 16 bytes, so that each tile reads
 * the same number of bytes.  A tile for unpacking is 1,024 values, so that each tile writes the
 * same number of bytes. */
static constexpr uint32_t packed_tile_vectors = 128;
static constexpr uint32_t packed_tile_values = 1024;

/*
 * One part.  place packs three numbers: 8 p + 4 nulls + log2(width in bytes).  p is the place of
 * the part's first key among the job's keys.  If the packed values have NULLs, p is the place
 * that row 0 of these packed values would have if the keys before the part were stored there,
 * too; this p may be negative.
 */
struct __align__(16) PackedPart
{
	const char *values;			/* the part's first value */
	int64_t		place;
	uint32_t	start;			/* number of tiles of the parts before */
	uint32_t	first;			/* row of the first value in its packed values */
	uint32_t	n;				/* values, NULLs included */
	int32_t		base;			/* added to a stored distance to make the key */

	__host__ __device__ int width_bits() const { return static_cast<int>(place & 3); }
	__host__ __device__ bool has_nulls() const { return (place & 4) != 0; }
	__host__ __device__ int64_t position() const { return place >> 3; }
};

static_assert(sizeof(PackedPart) == REGIME_PACKED_PART_BYTES,
			  "a job's need has room for a table of parts");

/* Rows in a word of the bitmap of NULLs; one count of NULLs belongs to each word. */
static constexpr uint32_t packed_group = 64;

/*
 * Head of packed values that have NULLs.  Their device memory holds, in this order:
 *
 * - a bit for each row (1: NULL), in words of 64
 * - for each word, the number of NULLs before it
 * - this head
 * - the values, on a boundary of 16 bytes
 */
struct __align__(16) PackedNulls
{
	uint32_t	bits_back;		/* bytes from the values back to the bits */
	uint32_t	counts_back;	/* bytes from the values back to the counts */
	uint32_t	unused[2];
};

/* The parts of one launch.  parts[count] is a sentinel; its start is the number of tiles. */
struct PackedTable
{
	const PackedPart *parts;	/* in device memory */
	uint32_t	count;
	uint32_t	tiles;
	uint64_t	n;				/* values of all parts, at most UINT32_MAX */
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PACKED_PARTS_CUH */
