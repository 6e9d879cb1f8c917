/*-------------------------------------------------------------------------
 *
 * packed_device.cuh
 *	  Device functions that walk over a table of packed values.
 *
 * For the kernels of packed_values.cu and packed_rows.cu.
 *
 * Each warp works by itself.  Parts are of any size, most of them smaller than what a block reads
 * at a time, and warps that do not wait for each other keep memory busy across the borders of
 * parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PACKED_DEVICE_CUH
#define HPSORT_CUDA_PACKED_DEVICE_CUH

#include "common/device.cuh"
#include "common/packed_parts.cuh"

namespace hpsort
{

/*
 * Moves from part `at`, which begins at or before the tile, toward the tile's part, in steps of
 * stride parts.  Returns the last part of these steps that begins at or before the tile; with
 * stride 1 this is the tile's part.  All lanes of a warp call it together: one access to memory
 * probes 32 parts.  Fewer than 32 * stride parts may lie between.
 */
__device__ __forceinline__ uint32_t
step_to_part(const PackedPart *parts, uint32_t count, uint32_t at, uint32_t stride,
			 uint32_t tile)
{
	const uint64_t probed = at + static_cast<uint64_t>(threadIdx.x % 32 + 1) * stride;
	/* the sentinel's start is behind every tile */
	const uint32_t start = __ldg(&parts[probed < count ? probed : count].start);

	return at + stride * __popc(__ballot_sync(0xffffffffu, start <= tile));
}

/* Returns the part that a tile belongs to, by three steps from the first part on.  All lanes of a
 * warp call it together. */
__device__ __forceinline__ uint32_t
find_part(const PackedPart *parts, uint32_t count, uint32_t tile)
{
	static_assert(REGIME_PACKED_PARTS <= 32 * 1024, "three steps reach every part");
	uint32_t	at = 0;

	for (uint32_t stride = 1024; stride > 0; stride /= 32)
		at = step_to_part(parts, count, at, stride, tile);
	return at;
}

/* Loads a part as two vectors of 16 bytes; all lanes load the same one. */
__device__ __forceinline__ PackedPart
load_part(const PackedPart *from)
{
	PackedPart	part;

	reinterpret_cast<int4 *>(&part)[0] = __ldg(reinterpret_cast<const int4 *>(from));
	reinterpret_cast<int4 *>(&part)[1] = __ldg(reinterpret_cast<const int4 *>(from) + 1);
	return part;
}

/* Calls use(part, tile within the part) for each tile of this block's share, one warp per tile.
 * Neighbouring warps take neighbouring tiles. */
template <typename Use>
__device__ __forceinline__ void
for_each_tile(const PackedTable &table, Use use)
{
	const uint32_t warps = blockDim.x / 32;
	uint64_t	tile;
	uint64_t	end;
	uint32_t	at;

	block_span(table.tiles, &tile, &end);
	tile += threadIdx.x / 32;
	if (tile >= end)
		return;
	at = find_part(table.parts, table.count, static_cast<uint32_t>(tile));
	for (;;)
	{
		const PackedPart part = load_part(table.parts + at);

		use(part, static_cast<uint32_t>(tile) - part.start);
		/* lanes that fell behind at the end of a part must load the next tile with the others */
		__syncwarp();
		tile += warps;
		if (tile >= end)
			return;
		/* each part has at least one tile, so the next tile is at most `warps` parts ahead */
		for (uint32_t left = warps; left > 0; left -= min(left, 32u))
			at = step_to_part(table.parts, table.count, at, 1, static_cast<uint32_t>(tile));
	}
}

/* Returns value i as its distance from the part's base.  Values are aligned to their width. */
template <int WIDTH_BITS>
__device__ __forceinline__ uint32_t
load_distance(const char *values, uint32_t i)
{
	if (WIDTH_BITS == 0)
		return __ldg(reinterpret_cast<const uint8_t *>(values) + i);
	if (WIDTH_BITS == 1)
		return __ldg(reinterpret_cast<const uint16_t *>(values) + i);
	return __ldg(reinterpret_cast<const uint32_t *>(values) + i);
}

/* The bits and counts of NULLs that lie before the values of a part (PackedNulls). */
struct PartNulls
{
	const uint32_t *bits;
	const uint32_t *counts;

	__device__ __forceinline__
	PartNulls(const PackedPart &part)
	{
		const char *values =
			part.values - (static_cast<uint64_t>(part.first) << part.width_bits());
		const PackedNulls *head = reinterpret_cast<const PackedNulls *>(values) - 1;

		bits = reinterpret_cast<const uint32_t *>(values - head->bits_back);
		counts = reinterpret_cast<const uint32_t *>(values - head->counts_back);
	}
	__device__ __forceinline__ bool
	is_null(uint32_t row) const
	{
		return __ldg(bits + row / 32) >> row % 32 & 1;
	}
	/* returns the number of NULLs among rows 0 .. row - 1 */
	__device__ __forceinline__ uint32_t
	before(uint32_t row) const
	{
		const uint64_t word =
			__ldg(reinterpret_cast<const unsigned long long *>(bits) + row / packed_group);

		return __ldg(counts + row / packed_group) +
			__popcll(word & ((1ull << row % packed_group) - 1));
	}
};

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PACKED_DEVICE_CUH */
