/*-------------------------------------------------------------------------
 *
 * unpack.cu
 *	  Packed values into keys, for jobs that keep their keys.
 *
 * The bounds of the keys are found on the way.  Memory traffic of a key: its packed width read, 4
 * bytes written.
 *
 *-------------------------------------------------------------------------
 */
#include <climits>

#include "common/packed_device.cuh"
#include "common/unpack.cuh"

namespace hpsort
{

static constexpr int threads = 512;

/* Smallest and largest key that a thread has written. */
struct Extremes
{
	int32_t		lo;
	int32_t		hi;

	__device__ __forceinline__ int32_t
	see(int32_t key)
	{
		lo = min(lo, key);
		hi = max(hi, key);
		return key;
	}
};

/* Unpacks one tile of a part without NULLs.  Stores are whole vectors of 16 bytes, wherever the
 * values begin.  Loads are single values; neighbouring loads hit the same line of L1. */
template <int WIDTH_BITS>
__device__ __forceinline__ void
unpack_tile(const PackedPart &part, uint32_t tile, int32_t *keys, Extremes *extremes)
{
	const uint32_t from = tile * packed_tile_values;
	const uint32_t n = min(packed_tile_values, part.n - from);
	const char *values = part.values + (static_cast<uint64_t>(from) << WIDTH_BITS);
	int32_t    *to = keys + part.position() + from;
	/* keys of the first vector that belong to the tile before */
	const uint32_t phase = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) % 16 / 4);
	auto		key = [&](uint32_t i) {
		return extremes->see(static_cast<int32_t>(
			static_cast<uint32_t>(part.base) + load_distance<WIDTH_BITS>(values, i)));
	};

#pragma unroll 4
	for (uint32_t at = threadIdx.x % 32 * 4; at < phase + n; at += 128)
	{
		if (at >= phase && at + 4 <= phase + n)
		{
			const uint32_t i = at - phase;
			int4		four;

			four.x = key(i);
			four.y = key(i + 1);
			four.z = key(i + 2);
			four.w = key(i + 3);
			*reinterpret_cast<int4 *>(to + i) = four;
		}
		else
			for (uint32_t i = max(at, phase) - phase; i < min(at + 4 - phase, n); i++)
				to[i] = key(i);
	}
}

/* Unpacks one tile of a part with NULLs, 32 rows at a time.  Each key moves to the left by the
 * number of NULLs before it. */
template <int WIDTH_BITS>
__device__ __forceinline__ void
unpack_tile_nulls(const PackedPart &part, uint32_t tile, int32_t *keys,
				  Extremes *extremes)
{
	const PartNulls nulls(part);
	const uint32_t lanes_before = (1u << threadIdx.x % 32) - 1;
	const uint32_t from = tile * packed_tile_values;
	const uint32_t n = min(packed_tile_values, part.n - from);
	const uint32_t first = part.first + from;
	int32_t    *to = keys + (part.position() + first - nulls.before(first));

#pragma unroll 4
	for (uint32_t at = 0; at < n; at += 32)
	{
		const uint32_t i = at + threadIdx.x % 32;
		const bool	there = i < n && !nulls.is_null(first + i);
		const uint32_t all = __ballot_sync(0xffffffffu, there);

		if (there)
			to[__popc(all & lanes_before)] = extremes->see(static_cast<int32_t>(
				static_cast<uint32_t>(part.base) +
				load_distance<WIDTH_BITS>(part.values, from + i)));
		to += __popc(all);
	}
}

/* Unpacks the tiles of one table; the case is the lower three bits of a part's place: its width
 * and whether it has NULLs. */
__global__ void __launch_bounds__(threads)
unpack_kernel(PackedTable table, int32_t *keys, Bounds *bounds)
{
	Extremes	extremes = {INT_MAX, INT_MIN};

	for_each_tile(table, [&](const PackedPart &part, uint32_t tile) {
		switch (part.place & 7)
		{
			case 0:
				unpack_tile<0>(part, tile, keys, &extremes);
				break;
			case 1:
				unpack_tile<1>(part, tile, keys, &extremes);
				break;
			case 2:
				unpack_tile<2>(part, tile, keys, &extremes);
				break;
			case 4:
				unpack_tile_nulls<0>(part, tile, keys, &extremes);
				break;
			case 5:
				unpack_tile_nulls<1>(part, tile, keys, &extremes);
				break;
			default:
				unpack_tile_nulls<2>(part, tile, keys, &extremes);
				break;
		}
	});
	widen_bounds<threads>(extremes.lo, extremes.hi, bounds);
}

/* Four blocks for each SM, or fewer if a warp would get less than one tile. */
void
unpack_add(HpsortCuda *context, cudaStream_t stream, const PackedTable &table,
		   int32_t *keys, Bounds *bounds)
{
	unpack_kernel<<<grid_blocks(context, table.tiles, threads / 32, 4), threads, 0,
		stream>>>(table, keys, bounds);
	check_launch("unpack values");
}

} /* namespace hpsort */
