/*-------------------------------------------------------------------------
 *
 * permutation.cu
 *	  The stable permutation by dense ranks.
 *
 * The published H-P sorts have no payload and no order among equal keys.  Here
 * the runs make one possible at a fraction of a pair sort's traffic:
 *	- rank_kernel replaces each key by its rank among the distinct values, one
 *	  byte or two; the lookup table is in shared memory, by bin or hashed;
 *	- the ranks are sorted stably, 8 bits at a time: only ceil(log2(distinct))
 *	  bits, so one pass up to 256 values and two up to 65,536.  A pass counts
 *	  the digits of each tile, sums them up over all tiles, and scatters;
 *	- the row index is made up in the first pass, and no key is ever scattered:
 *	  in the last pass, not even the rank.
 *
 * Bytes per row, beyond finding the runs: up to 256 values 4 + 1 ranks, 1 + 4
 * pass: 10; up to 65,536 values 4 + 2 ranks, 2 + 5 and 1 + 5 + 4 passes: 23.  A
 * pair sort by 32 bits moves 68.
 *
 *-------------------------------------------------------------------------
 */
#include <cub/block/block_radix_rank.cuh>
#include <cub/device/device_scan.cuh>

#include "device.cuh"
#include "hash.cuh"

namespace hpsort
{

static constexpr int rank_threads = ScatterTuning::rank_threads;
static constexpr int threads = ScatterTuning::threads;
static constexpr int items = ScatterTuning::items;
static constexpr int tile = threads * items;
static constexpr int digits = 256;

static_assert(tile == REGIME_SCATTER_TILE, "regime.c sizes for this tile");
static_assert(threads >= digits, "a thread looks after one digit");

/* Ranks by bin, for narrow ranges. */
struct BinRanks
{
	uint16_t   *ranks;
	KeyMap		map;

	__device__ __forceinline__ void
	build(const int32_t *run_keys, uint32_t distinct)
	{
		for (uint32_t j = threadIdx.x; j < distinct; j += rank_threads)
			ranks[to_bin(map, run_keys[j])] = static_cast<uint16_t>(j);
		__syncthreads();
	}
	__device__ __forceinline__ uint32_t
	rank(int32_t key) const
	{
		return ranks[to_bin(map, key)];
	}
};

/* Ranks by hash, for values anywhere. */
struct HashRanks
{
	uint32_t   *slots;
	uint16_t   *ranks;
	uint32_t	pairs;

	__device__ __forceinline__ void
	build(const int32_t *run_keys, uint32_t distinct)
	{
		__shared__ uint32_t taken;

		for (uint32_t i = threadIdx.x; i < pairs * 2; i += rank_threads)
			slots[i] = empty_slot;
		if (threadIdx.x == 0)
			taken = 0;
		__syncthreads();
		for (uint32_t j = threadIdx.x; j < distinct; j += rank_threads)
		{
			const uint32_t key = static_cast<uint32_t>(run_keys[j]);

			ranks[take_slot(slots, pairs, pairs * 2, &taken, key,
							pair_of(key, pairs))] = static_cast<uint16_t>(j);
		}
		__syncthreads();
	}
	/* every key is there: the runs came from these keys */
	__device__ __forceinline__ uint32_t
	rank(int32_t key) const
	{
		const uint2 *table = reinterpret_cast<const uint2 *>(slots);
		const uint32_t pair = pair_of(static_cast<uint32_t>(key), pairs);
		uint32_t	slot = slot_in_pair(table[pair], pair,
										static_cast<uint32_t>(key));

		if (slot == no_slot)
			slot = find_slot(table, pairs, static_cast<uint32_t>(key));
		return ranks[slot];
	}
};

/* Four ranks in one store. */
__device__ __forceinline__ void
store_four(uint8_t *at, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	*reinterpret_cast<uint32_t *>(at) = a | b << 8 | c << 16 | d << 24;
}

__device__ __forceinline__ void
store_four(uint16_t *at, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	*reinterpret_cast<uint2 *>(at) = make_uint2(a | b << 16, c | d << 16);
}

/*
 * Keys to ranks, and the lower digits of each tile of ranks counted on the way
 * (a pass over the ranks for that alone took 80 us more; n 1e8).  A block takes
 * every gridDim.x-th tile; the next one's keys are asked for before the current
 * one is looked up, and its counters are others, so that one barrier per tile
 * is enough.  ranks is aligned; keys usually are, else they come one by one.
 */
template <typename Table, typename Rank>
__global__ void __launch_bounds__(rank_threads, 1)
rank_rows_kernel(Table table, const int32_t *__restrict__ keys, uint64_t n,
				 const int32_t *run_keys, uint32_t distinct, bool descending,
				 Rank *ranks, uint32_t tiles, uint32_t *counts)
{
	extern __shared__ __align__(16) char memory[];
	constexpr uint32_t vectors = tile / 4;
	constexpr int rounds = (vectors + rank_threads - 1) / rank_threads;
	__shared__ uint32_t bins[2][digits];
	const bool	aligned = misaligned(keys) == 0;
	const uint32_t full_tiles = aligned ? static_cast<uint32_t>(n / tile) : 0;
	const int4 *fours = reinterpret_cast<const int4 *>(keys);
	int4		next[rounds];
	uint32_t	turn = 0;

	if (threadIdx.x < 2 * digits)
		bins[threadIdx.x / digits][threadIdx.x % digits] = 0;
	table.place(memory);
	table.build(run_keys, distinct);

	auto		rank = [&](int32_t key) {
		const uint32_t r = table.rank(key);
		const uint32_t turned = descending ? distinct - 1 - r : r;

		atomicAdd(&bins[turn][turned & (digits - 1)], 1u);
		return turned;
	};
	auto		load = [&](uint32_t t) {
		if (t < full_tiles)
#pragma unroll
			for (int i = 0; i < rounds; i++)
				if (i * rank_threads + threadIdx.x < vectors)
					next[i] = __ldcs(fours + static_cast<uint64_t>(t) * vectors +
									 i * rank_threads + threadIdx.x);
	};

	load(blockIdx.x);
	for (uint32_t t = blockIdx.x; t < tiles; t += gridDim.x)
	{
		const uint64_t begin = static_cast<uint64_t>(t) * tile;

		if (t < full_tiles)
		{
			int4		r[rounds];

#pragma unroll
			for (int i = 0; i < rounds; i++)
				r[i] = next[i];
			load(t + gridDim.x);
#pragma unroll
			for (int i = 0; i < rounds; i++)
				if (i * rank_threads + threadIdx.x < vectors)
					store_four(ranks + begin + (i * rank_threads + threadIdx.x) * 4,
							   rank(r[i].x), rank(r[i].y), rank(r[i].z),
							   rank(r[i].w));
		}
		else
		{
			const uint64_t end = min(begin + tile, n);

			for (uint64_t i = begin + threadIdx.x; i < end; i += rank_threads)
				ranks[i] = static_cast<Rank>(rank(keys[i]));
		}
		__syncthreads();
		if (threadIdx.x < digits)
		{
			counts[static_cast<uint64_t>(threadIdx.x) * tiles + t] =
				bins[turn][threadIdx.x];
			/* used again after the next barrier */
			bins[turn][threadIdx.x] = 0;
		}
		turn = 1 - turn;
	}
}

/* The two tables find their parts of shared memory themselves. */
struct PlacedBinRanks : BinRanks
{
	__device__ __forceinline__ void
	place(char *memory)
	{
		ranks = reinterpret_cast<uint16_t *>(memory);
	}
};

struct PlacedHashRanks : HashRanks
{
	__device__ __forceinline__ void
	place(char *memory)
	{
		slots = reinterpret_cast<uint32_t *>(memory);
		ranks = reinterpret_cast<uint16_t *>(slots + pairs * 2);
	}
};

/*
 * Digits of each tile for the second pass, whose tiles the first one makes.
 * Digit-major, so that one prefix sum orders them all.
 */
__global__ void __launch_bounds__(threads)
count_digits_kernel(const uint8_t *ranks, uint64_t n, uint32_t tiles,
					uint32_t *counts)
{
	constexpr int loads = tile / 16;
	constexpr int rounds = (loads + threads - 1) / threads;
	__shared__ uint32_t bins[digits];
	const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * tile;
	const uint32_t m = static_cast<uint32_t>(min(static_cast<uint64_t>(tile),
												 n - begin));

	if (threadIdx.x < digits)
		bins[threadIdx.x] = 0;
	__syncthreads();
	if (m == tile)
	{
		const uint4 *from = reinterpret_cast<const uint4 *>(ranks + begin);
		uint4		r[rounds];

#pragma unroll
		for (int i = 0; i < rounds; i++)
			if (i * threads + threadIdx.x < loads)
				r[i] = __ldg(from + i * threads + threadIdx.x);
#pragma unroll
		for (int i = 0; i < rounds; i++)
			if (i * threads + threadIdx.x < loads)
			{
				const uint32_t words[4] = {r[i].x, r[i].y, r[i].z, r[i].w};

#pragma unroll
				for (int w = 0; w < 4; w++)
#pragma unroll
					for (int b = 0; b < 32; b += 8)
						atomicAdd(&bins[words[w] >> b & (digits - 1)], 1u);
			}
	}
	else
		for (uint32_t at = threadIdx.x; at < m; at += threads)
			atomicAdd(&bins[ranks[begin + at]], 1u);
	__syncthreads();
	if (threadIdx.x < digits)
		counts[static_cast<uint64_t>(threadIdx.x) * tiles + blockIdx.x] =
			bins[threadIdx.x];
}

/* Keeps a rank's digit where CUB's ranking looks for it. */
struct LowDigit
{
	__device__ __forceinline__ uint32_t
	Digit(uint32_t rank) const
	{
		return rank & (digits - 1);
	}
};

using DigitRank = cub::BlockRadixRankMatchEarlyCounts<
	threads, 8, false, cub::BLOCK_SCAN_WARP_SCANS, cub::WARP_MATCH_ANY>;

/*
 * One stable pass.  Rank is what is read beside the row: two bytes in the
 * first of two passes, one otherwise.  FIRST: rows are numbered here instead
 * of read.  LAST: only rows are written; else the upper digit goes with them.
 */
template <typename Rank, bool FIRST, bool LAST>
__global__ void __launch_bounds__(threads)
scatter_rows_kernel(const Rank *__restrict__ ranks,
					const uint32_t *__restrict__ rows, uint64_t n,
					uint32_t tiles, const uint32_t *__restrict__ offsets,
					uint8_t *upper_out, uint32_t *rows_out)
{
	struct Staged
	{
		uint32_t	rows[tile];
		Rank		ranks[tile];
	};
	union Shared
	{
		typename DigitRank::TempStorage rank;
		Staged		staged;
	};
	__shared__ Shared shared;
	__shared__ uint32_t bases[digits];
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp_at = threadIdx.x / 32 * 32 * items;
	const uint64_t begin = static_cast<uint64_t>(blockIdx.x) * tile;
	const uint32_t m = static_cast<uint32_t>(min(static_cast<uint64_t>(tile),
												 n - begin));
	uint32_t	rank[items];
	int			place[items];
	int			prefix[DigitRank::BINS_TRACKED_PER_THREAD];
	uint32_t	offset = 0;

	if (threadIdx.x < digits)
		offset = offsets[static_cast<uint64_t>(threadIdx.x) * tiles + blockIdx.x];

	/* warp by warp in order, which is what makes the ranking stable; what is
	 * missing in the last tile sorts behind all that is there */
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		const uint32_t at = warp_at + i * 32 + lane;

		rank[i] = at < m ? ranks[begin + at] : 0xffffu;
	}
	DigitRank(shared.rank).RankKeys(rank, place, LowDigit(), prefix);
	if (threadIdx.x < digits)
		bases[threadIdx.x] = offset - static_cast<uint32_t>(prefix[0]);
	__syncthreads();
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		const uint32_t at = warp_at + i * 32 + lane;

		shared.staged.rows[place[i]] = FIRST ? static_cast<uint32_t>(begin) + at :
			at < m ? rows[begin + at] : 0;
		shared.staged.ranks[place[i]] = static_cast<Rank>(rank[i]);
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		const uint32_t at = i * threads + threadIdx.x;

		if (at < m)
		{
			const uint32_t value = shared.staged.ranks[at];
			const uint32_t target = bases[value & (digits - 1)] + at;

			rows_out[target] = shared.staged.rows[at];
			if (!LAST)
				upper_out[target] = static_cast<uint8_t>(value >> 8);
		}
	}
}

void
configure_permutation(const HpsortCudaLimits &limits)
{
	/* a slot and its rank, of which there are half as many as bins; a bin's
	 * rank alone takes less */
	int			bytes = regime_few_slots(&limits) *
		(sizeof(uint32_t) + sizeof(uint16_t));
	const void *kernels[] = {
		reinterpret_cast<const void *>(&rank_rows_kernel<PlacedBinRanks, uint8_t>),
		reinterpret_cast<const void *>(&rank_rows_kernel<PlacedBinRanks, uint16_t>),
		reinterpret_cast<const void *>(&rank_rows_kernel<PlacedHashRanks, uint8_t>),
		reinterpret_cast<const void *>(&rank_rows_kernel<PlacedHashRanks, uint16_t>),
	};

	for (const void *kernel : kernels)
		check(cudaFuncSetAttribute(kernel,
								   cudaFuncAttributeMaxDynamicSharedMemorySize,
								   bytes), "set up a kernel");
}

/* The ranks of all rows, through whichever table fits. */
template <typename Rank>
static void
rank_rows(HpsortCuda *context, cudaStream_t stream, const KeyMap &map,
		  bool narrow, bool descending, const Runs &runs, const int32_t *keys,
		  uint64_t n, Rank *ranks, uint32_t tiles, uint32_t *counts)
{
	const uint32_t distinct = static_cast<uint32_t>(runs.distinct);
	const uint32_t blocks =
		tiles < context->limits.sms ? tiles : context->limits.sms;
	if (narrow)
	{
		PlacedBinRanks table;

		table.map = map;
		table.ranks = nullptr;
		rank_rows_kernel<<<blocks, rank_threads,
			(static_cast<size_t>(map.last) + 1) * sizeof(uint16_t), stream>>>
			(table, keys, n, runs.keys, distinct, descending, ranks, tiles, counts);
	}
	else
	{
		PlacedHashRanks table;

		table.pairs = regime_few_slots(&context->limits) / 2;
		table.slots = nullptr;
		table.ranks = nullptr;
		rank_rows_kernel<<<blocks, rank_threads,
			static_cast<size_t>(table.pairs) * 2 * (sizeof(uint32_t) + sizeof(uint16_t)),
			stream>>>(table, keys, n, runs.keys, distinct, descending, ranks, tiles,
					  counts);
	}
	check_launch("rank the rows");
}

/* Counts of digits to where they start: offsets[digit][tile], in place. */
static void
sum_digits(HpsortCuda *context, cudaStream_t stream, uint32_t tiles,
		   uint32_t *offsets)
{
	const int64_t words = static_cast<int64_t>(tiles) * digits;
	size_t		bytes = 0;

	check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, offsets, offsets, words,
										stream), "size a prefix sum");

	DeviceBuffer workspace(context, stream, bytes, "a prefix sum");

	check(cub::DeviceScan::ExclusiveSum(workspace.as<void>(), bytes, offsets,
										offsets, words, stream),
		  "sum up the digits");
}

/*
 * One pass or two.  Two passes of 8 bits cost the same whether 9 or 16 bits are
 * in use: it is the number of passes that counts, as for CUB.
 */
void
ranked_permutation(HpsortCuda *context, cudaStream_t stream, const KeyMap &map,
				   bool narrow, bool descending, const Runs &runs,
				   const int32_t *keys, uint64_t n, uint32_t *rows)
{
	const uint32_t tiles = static_cast<uint32_t>((n + tile - 1) / tile);
	DeviceBuffer offsets(context, stream,
						 static_cast<uint64_t>(tiles) * digits * sizeof(uint32_t),
						 "a permutation");

	if (runs.distinct <= digits)
	{
		DeviceBuffer memory(context, stream, n, "a permutation");
		uint8_t    *ranks = memory.as<uint8_t>();

		rank_rows(context, stream, map, narrow, descending, runs, keys, n, ranks,
				  tiles, offsets.as<uint32_t>());
		sum_digits(context, stream, tiles, offsets.as<uint32_t>());
		scatter_rows_kernel<uint8_t, true, true><<<tiles, threads, 0, stream>>>
			(ranks, nullptr, n, tiles, offsets.as<uint32_t>(), nullptr, rows);
		check_launch("scatter the rows");
		return;
	}

	DeviceBuffer memory(context, stream, n * sizeof(uint16_t), "a permutation");
	DeviceBuffer upper(context, stream, n, "a permutation");
	DeviceBuffer half(context, stream, n * sizeof(uint32_t), "a permutation");
	uint16_t   *ranks = memory.as<uint16_t>();

	rank_rows(context, stream, map, narrow, descending, runs, keys, n, ranks, tiles,
			  offsets.as<uint32_t>());
	sum_digits(context, stream, tiles, offsets.as<uint32_t>());
	scatter_rows_kernel<uint16_t, true, false><<<tiles, threads, 0, stream>>>
		(ranks, nullptr, n, tiles, offsets.as<uint32_t>(), upper.as<uint8_t>(),
		 half.as<uint32_t>());
	check_launch("scatter the rows");
	count_digits_kernel<<<tiles, threads, 0, stream>>>
		(upper.as<uint8_t>(), n, tiles, offsets.as<uint32_t>());
	check_launch("count the digits");
	sum_digits(context, stream, tiles, offsets.as<uint32_t>());
	scatter_rows_kernel<uint8_t, false, true><<<tiles, threads, 0, stream>>>
		(upper.as<uint8_t>(), half.as<uint32_t>(), n, tiles,
		 offsets.as<uint32_t>(), nullptr, rows);
	check_launch("scatter the rows");
}

} /* namespace hpsort */
