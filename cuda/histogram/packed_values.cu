/*-------------------------------------------------------------------------
 *
 * packed_values.cu
 *	  Packed values into the bins of a job that counts its keys, or unpacked behind the keys of a
 *	  job that keeps them.
 *
 * Values of 1, 2 or 4 bytes that are counted are read as they are and never unpacked in memory.
 * The bounds of keys that are unpacked are found on the way.
 *
 * Kozakai, Fujimoto, Wada 2021, Algorithm 5, line 1, as in shared_histogram.cu: a block has all
 * bins in its shared memory and adds them to the common ones once.  Only the reading differs: a
 * thread has up to 64 values in flight instead of 16 keys.  Equal values of a warp cost nothing
 * extra (ATOMS.POPC.INC).
 *
 *-------------------------------------------------------------------------
 */
#include <climits>

#include "common/packed_device.cuh"
#include "histogram/packed_rows.cuh"
#include "histogram/shared_bins.cuh"
#include "histogram/shared_histogram.cuh"

namespace hpsort
{

/* Counts a distance from a part's base.  A key outside the bounds is remembered instead. */
struct CountDistance
{
	uint32_t	from_base;		/* bin of distance 0, modulo 2^32 */
	uint32_t	last;
	int32_t		base;
	uint32_t   *bins;
	bool	   &bad;
	int32_t	   &outside;

	__device__ __forceinline__ void
	operator()(uint32_t distance) const
	{
		const uint32_t bin = from_base + distance;

		if (bin <= last)
			atomicAdd(&bins[bin], 1u);
		else
		{
			bad = true;
			outside = static_cast<int32_t>(static_cast<uint32_t>(base) + distance);
		}
	}
};

/* Calls use(distance) for each value of a vector whose bit in mask is set. */
template <int WIDTH_BITS, typename Use>
__device__ __forceinline__ void
use_vector(const uint4 &vector, uint32_t mask, const Use &use)
{
	constexpr uint32_t each = 4 >> WIDTH_BITS;	/* values of a word */
	constexpr uint32_t bits = 8 << WIDTH_BITS;
	constexpr uint32_t all = (1u << 4 * each) - 1;
	const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};

	/* most vectors are whole; then no value is tested */
	if (mask == all)
	{
#pragma unroll
		for (uint32_t i = 0; i < 4 * each; i++)
			use(each == 1 ? words[i] : words[i / each] >> i % each * bits &
				((1u << bits % 32) - 1));
		return;
	}
#pragma unroll
	for (uint32_t i = 0; i < 4 * each; i++)
		if (mask >> i & 1)
			use(each == 1 ? words[i] : words[i / each] >> i % each * bits &
				((1u << bits % 32) - 1));
}

/*
 * Counts one tile of a part.  Vectors begin at multiples of 16 bytes, so the first and the last
 * may have values of other parts, which are masked out; both vectors lie within the packed
 * values' own memory.
 */
template <int WIDTH_BITS>
__device__ __forceinline__ void
count_tile(const PackedPart &part, uint32_t tile, const CountDistance &use)
{
	constexpr int loads = packed_tile_vectors / 32;
	constexpr uint32_t each = 16 >> WIDTH_BITS; /* values of a vector */
	constexpr uint32_t all = (1u << each) - 1;
	const uint32_t head = static_cast<uint32_t>(
		reinterpret_cast<uintptr_t>(part.values) % 16);
	const uint64_t bytes = head + (static_cast<uint64_t>(part.n) << WIDTH_BITS);
	const uint32_t vectors = static_cast<uint32_t>((bytes + 15) / 16);
	/* values of the first vector before the part, and of the last vector behind it */
	const uint32_t before = head >> WIDTH_BITS;
	const uint32_t behind = static_cast<uint32_t>(vectors * 16ull - bytes) >> WIDTH_BITS;
	const uint4 *from = reinterpret_cast<const uint4 *>(part.values - head);
	const uint32_t mine = tile * packed_tile_vectors + threadIdx.x % 32;
	uint4		r[loads];
	uint32_t	mask[loads];

#pragma unroll
	for (int i = 0; i < loads; i++)
	{
		const uint32_t v = mine + i * 32;

		mask[i] = 0;
		if (v < vectors)
		{
			r[i] = __ldcs(from + v);
			mask[i] = all;
			if (v == 0)
				mask[i] &= all << before;
			if (v == vectors - 1)
				mask[i] &= all >> behind;
		}
	}
	if (part.has_nulls())
	{
		const PartNulls nulls(part);

		/* the row of a vector's first value is a multiple of the values of a vector, so that the
		 * vector's bits are in one word */
#pragma unroll
		for (int i = 0; i < loads; i++)
		{
			const uint32_t row = part.first - before + (mine + i * 32) * each;

			if (mask[i] != 0)
				mask[i] &= ~(__ldg(nulls.bits + row / 32) >> row % 32);
		}
	}
#pragma unroll
	for (int i = 0; i < loads; i++)
		if (mask[i] != 0)
			use_vector<WIDTH_BITS>(r[i], mask[i], use);
}

/* An ordinary launch, like count_kernel's: several jobs may count at the same time. */
__global__ void __launch_bounds__(histogram_threads, 1)
count_packed_kernel(PackedTable table, KeyMap map, Count64 *all_bins,
					Count64 *all_slices, HpsortCudaVerdict *verdict)
{
	extern __shared__ __align__(16) char memory[];
	uint32_t   *bins = reinterpret_cast<uint32_t *>(memory);
	const uint32_t count = map.last + 1;
	int32_t		outside = 0;
	bool		bad = false;

	clear_bins(bins, count);
	__syncthreads();
	for_each_tile(table, [&](const PackedPart &part, uint32_t tile) {
		const CountDistance use = {static_cast<uint32_t>(part.base) - map.base, map.last,
			part.base, bins, bad, outside};

		switch (part.width_bits())
		{
			case 0:
				count_tile<0>(part, tile, use);
				break;
			case 1:
				count_tile<1>(part, tile, use);
				break;
			default:
				count_tile<2>(part, tile, use);
				break;
		}
	});
	if (bad)
		report_outside(verdict, outside);
	__syncthreads();
	flush_bins(bins, count, all_bins, all_slices);
}

void
configure_packed_values(const HpsortCudaLimits &limits)
{
	allow_shared(count_packed_kernel, bins_allowance(limits));
}

/*
 * One launch.  A small tile costs as much as a full one, so many small parts get more blocks than
 * their values alone would.  Bins of 32 bits in a block are enough: a table has at most
 * UINT32_MAX values.
 */
void
Bins::add_packed(HpsortCuda *context, cudaStream_t stream, const PackedTable &table,
				 HpsortCudaVerdict *verdict)
{
	const uint64_t tiled = static_cast<uint64_t>(table.tiles) * (packed_tile_vectors * 4);
	const uint64_t work = table.n > tiled ? table.n : tiled;
	const size_t bytes = (static_cast<size_t>(map.last) + 1 + 3) / 4 * 16;

	count_packed_kernel<<<histogram_blocks(context, work, map.last + 1),
		histogram_threads, bytes, stream>>>(table, map, bins, slices, verdict);
	check_launch("count packed values");
}

/* ---- unpacking: a key's packed width is read, and 4 bytes written ---- */

static constexpr int unpack_threads = 512;

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
__global__ void __launch_bounds__(unpack_threads)
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
	widen_bounds<unpack_threads>(extremes.lo, extremes.hi, bounds);
}

/* Four blocks for each SM, or fewer if a warp would get less than one tile. */
void
unpack_add(HpsortCuda *context, cudaStream_t stream, const PackedTable &table,
		   int32_t *keys, Bounds *bounds)
{
	unpack_kernel<<<grid_blocks(context, table.tiles, unpack_threads / 32, 4),
		unpack_threads, 0, stream>>>(table, keys, bounds);
	check_launch("unpack values");
}

} /* namespace hpsort */
