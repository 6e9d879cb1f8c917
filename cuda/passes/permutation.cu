/*-------------------------------------------------------------------------
 *
 * permutation.cu
 *	  The stable permutation by bins or dense ranks.
 *
 * The published H-P sorts have no payload and no order among equal keys.  With the keys' runs, a
 * stable permutation takes a fraction of a pair sort's memory traffic:
 *
 * - A key becomes its bin (narrow ranges) or its rank among the distinct values (hashed): at most
 *   16 bits, and 8 bits for at most 256 values.
 * - Bins or ranks are sorted stably, 8 bits at a time, by the passes of sweep.cuh.  The digits'
 *   counts come from the runs, without another read of the keys.
 * - The row number is made up in the first pass, and no key is ever scattered.
 *
 * Between two passes a row is one word: 8 bits are the digit of the second pass, the other 24 the
 * row's number within a chunk of 2^24 rows.  The word's position says which chunk it is, since
 * the rows of a digit ascend: the first pass notes where each chunk begins among the rows of each
 * digit.  With row number and digit as 4 and 1 bytes the first pass took 641 us instead of 487,
 * because L2 is slow to merge single bytes (n 1e8, range 5e4).
 *
 * Memory traffic of a row in bytes, beyond finding the runs:
 *	bins				4 + 4, and above 256 bins 4 + 4 more
 *	hashed				4 + 2 for ranks, 2 + 4, and above 256 values 4 + 4 more
 * Pairs by 32 bits move 50 (radix.cu).
 *
 *-------------------------------------------------------------------------
 */
#include "common/hash.cuh"
#include "passes/permutation.cuh"

namespace hpsort
{

static constexpr int rank_threads = RankTuning::threads;

/* An item on its way through the first pass: its place in the tile and its bin.  16 bits of bin
 * and 14 of place are one word, so that no row number has to go along. */
static constexpr int place_bits = 14;

static_assert(FirstRowsTuning::threads * FirstRowsTuning::items <= 1 << place_bits,
			  "a place must fit");

/* Rows of a chunk, which 24 bits number.  A chunk is whole tiles, so that a tile lies in one
 * chunk. */
static constexpr uint32_t first_tile =
	FirstRowsTuning::threads * FirstRowsTuning::items;
static constexpr uint32_t chunk_tiles = (1u << 24) / first_tile;
static constexpr uint32_t chunk_rows = chunk_tiles * first_tile;

/* The Shared and Local of passes that need neither. */
struct Nothing
{
	static constexpr bool by_value = false;
};

/* The first pass reads bins of keys ... */
struct BinSource
{
	const int32_t *keys;
	KeyMap		map;

	__device__ __forceinline__ void
	prefetch(uint32_t at, uint32_t count) const
	{
		prefetch_later(keys + at, count * 4);
	}
	__device__ __forceinline__ uint32_t
	load(uint32_t at) const
	{
		return to_bin(map, keys[at]);
	}
};

/* ... or ranks that rank_rows_kernel has made. */
struct RankSource
{
	const uint16_t *ranks;

	__device__ __forceinline__ void
	prefetch(uint32_t at, uint32_t count) const
	{
		prefetch_later(ranks + at, count * 2);
	}
	__device__ __forceinline__ uint32_t load(uint32_t at) const { return ranks[at]; }
};

/* ---- the passes ---- */

/* The first pass.  Reads bins or ranks.  Writes rows (LAST), or words of a row within its chunk
 * and the upper digit. */
template <typename Source, bool LAST>
struct FirstRows
{
	using Shape = FirstRowsTuning;
	using Shared = Nothing;
	using Local = Nothing;
	static constexpr bool made = true;	/* of a bin or rank and a place */
	static constexpr bool prefetches = true;
	static constexpr bool values = false;	/* the row is in the word */

	Source		source;
	uint32_t	bits;			/* bits of the lower digit */
	uint32_t   *out;
	uint32_t   *segments;		/* where the rows of a digit and chunk begin */
	uint32_t	chunks;

	__device__ __forceinline__ void
	prefetch(uint32_t at, uint32_t count) const
	{
		source.prefetch(at, count);
	}
	/* any word will do behind the end: prepare() makes it sort last */
	__device__ __forceinline__ uint32_t
	load(uint32_t at, bool inside) const
	{
		return inside ? source.load(at) : 0;
	}
	__device__ __forceinline__ Local begin(Shared &, uint32_t, uint32_t) const { return {}; }
	__device__ __forceinline__ uint32_t
	prepare(Shared &, const Local &, uint32_t loaded, uint32_t at, uint32_t m) const
	{
		return (at < m ? loaded : 0xffffu) << place_bits | at;
	}
	__device__ __forceinline__ uint32_t
	digit(uint32_t word) const
	{
		return word >> place_bits & ((1u << bits) - 1);
	}
	/* only the one tile that a chunk begins with writes, so each word is written once */
	__device__ __forceinline__ void
	place(uint32_t digit, uint32_t position, uint32_t tile_begin) const
	{
		if (!LAST && tile_begin / first_tile % chunk_tiles == 0)
			segments[digit * chunks + tile_begin / chunk_rows] = position;
	}
	__device__ __forceinline__ void
	store(const Local &, uint32_t target, uint32_t word, uint32_t tile_begin) const
	{
		const uint32_t row = tile_begin + (word & ((1u << place_bits) - 1));

		/* a key outside the bounds has more bits; without the mask it would be counted as one
		 * digit and sorted as another */
		out[target] = LAST ? row :
			(row - tile_begin / chunk_rows * chunk_rows) |
			(word >> (place_bits + bits) & ((1u << bits) - 1)) << 24;
	}
};

/* Returns the largest j below count with starts[j] <= position.  All lanes of a warp call it. */
__device__ __forceinline__ uint32_t
warp_search(const uint32_t *starts, uint32_t count, uint32_t position)
{
	const uint32_t lane = threadIdx.x % 32;
	uint32_t	lo = 0;

	/* 32 places are probed in a step: three steps instead of eleven single ones, each of which is
	 * a way to L2 that the tile waits for */
	while (count > 1)
	{
		const uint32_t step = (count + 31) / 32;
		const uint32_t at = lane * step;
		const uint32_t votes = __ballot_sync(
			0xffffffffu, at < count && starts[lo + at] <= position);
		const uint32_t last = (31 - __clz(votes)) * step;

		lo += last;
		count = min(step, count - last);
	}
	return lo;
}

/* The second pass.  Reads words of the first pass and writes rows. */
struct SecondRows
{
	using Shape = SecondRowsTuning;
	struct Shared
	{
		uint32_t	range[2];
	};
	struct Local
	{
		/*
		 * false: the tile lies within one segment, and a word and first_row make its row.  true:
		 * the chunk follows from a word's position, which the word leaves; its row then goes
		 * along as the value.
		 */
		bool		by_value;
		uint32_t	first_row;	/* of the chunk, if by_value is false */
	};
	static constexpr bool made = false;
	static constexpr bool prefetches = true;
	static constexpr bool values = true;

	const uint32_t *in;
	uint32_t   *out;
	const uint32_t *segments;
	uint32_t	chunks;

	__device__ __forceinline__ void
	prefetch(uint32_t at, uint32_t count) const
	{
		prefetch_later(in + at, count * 4);
	}
	__device__ __forceinline__ uint32_t
	load(uint32_t at, bool inside) const
	{
		return inside ? in[at] : 0xffffffffu;
	}
	/* Finds the segments that the tile's words come from: usually one or two.  A segment is the
	 * rows of one digit and chunk.  Segments lie in the order of digits, then of chunks, so their
	 * beginnings ascend. */
	__device__ __forceinline__ Local
	begin(Shared &shared, uint32_t tile_begin, uint32_t m) const
	{
		const uint32_t warp = threadIdx.x / 32;

		if (warp < 2)
		{
			const uint32_t segment =
				warp_search(segments, chunks * sweep_digits,
							warp == 0 ? tile_begin : tile_begin + m - 1);

			if (threadIdx.x % 32 == 0)
				shared.range[warp] = segment;
		}
		__syncthreads();
		return {shared.range[0] != shared.range[1],
			shared.range[0] % chunks * chunk_rows};
	}
	__device__ __forceinline__ uint32_t
	prepare(Shared &, const Local &, uint32_t word, uint32_t, uint32_t) const
	{
		return word;
	}
	__device__ __forceinline__ uint32_t digit(uint32_t word) const { return word >> 24; }
	__device__ __forceinline__ void place(uint32_t, uint32_t, uint32_t) const {}
	__device__ __forceinline__ void
	store(const Local &local, uint32_t target, uint32_t word, uint32_t) const
	{
		if (!local.by_value)
			out[target] = (word & 0xffffffu) + local.first_row;
	}
	__device__ __forceinline__ uint32_t
	value(const Shared &shared, uint32_t word, uint32_t position) const
	{
		const uint32_t segment = last_at_or_before(
			segments, shared.range[0], shared.range[1], position);

		return (word & 0xffffffu) + segment % chunks * chunk_rows;
	}
	__device__ __forceinline__ void
	store_value(uint32_t target, uint32_t row) const
	{
		out[target] = row;
	}
};

/* ---- digits and ranks ---- */

/* The word by which the passes sort run j's keys: its bin or its rank. */
struct RunDigits
{
	const int32_t *keys;
	const uint64_t *starts;
	uint32_t	distinct;
	bool		binned;
	bool		descending;
	KeyMap		map;

	__device__ __forceinline__ uint32_t
	operator()(uint32_t j) const
	{
		return binned ? to_bin(map, keys[j]) : descending ? distinct - 1 - j : j;
	}
};

static constexpr int digit_threads = 256;	/* a thread per digit at the end */

/* Counts the digits of both passes from the runs instead of from n keys, which saves 4 bytes per
 * key.  stride is the number of words between the counts of the two passes. */
__global__ void __launch_bounds__(digit_threads)
run_digits_kernel(RunDigits runs, uint32_t bits, uint32_t passes, uint32_t *counts,
				  uint32_t stride, uint32_t *ticket)
{
	__shared__ uint32_t bins[2][sweep_digits];
	const uint32_t j = blockIdx.x * digit_threads + threadIdx.x;

	bins[0][threadIdx.x] = 0;
	bins[1][threadIdx.x] = 0;
	__syncthreads();
	if (j < runs.distinct)
	{
		const uint32_t count =
			static_cast<uint32_t>(runs.starts[j + 1] - runs.starts[j]);
		const uint32_t word = runs(j);

		atomicAdd(&bins[0][word & ((1u << bits) - 1)], count);
		if (passes > 1)
			atomicAdd(&bins[1][word >> bits], count);
	}
	__syncthreads();
	for (uint32_t p = 0; p < passes; p++)
		if (bins[p][threadIdx.x] != 0)
			atomicAdd(&counts[p * stride + threadIdx.x], bins[p][threadIdx.x]);
	sum_by_last_block(counts, passes, stride, ticket);
}

/* Turns keys into ranks of two bytes, by a hash table in shared memory.  This is no part of the
 * first pass, because the table leaves no room for the pass's tile. */
__global__ void __launch_bounds__(rank_threads, 1)
rank_rows_kernel(const int32_t *__restrict__ keys, uint64_t n, RunDigits runs,
				 uint32_t pairs, uint16_t *out)
{
	extern __shared__ __align__(16) uint32_t slots[];
	__shared__ uint32_t taken;
	uint16_t   *ranks = reinterpret_cast<uint16_t *>(slots + pairs * 2);
	const uint2 *table = reinterpret_cast<const uint2 *>(slots);
	const KeyVectors all(keys, n);
	uint64_t	begin;
	uint64_t	end;

	/* every block builds the whole table, at most 16 values a thread */
	for (uint32_t i = threadIdx.x; i < pairs * 2; i += rank_threads)
		slots[i] = empty_slot;
	if (threadIdx.x == 0)
		taken = 0;
	__syncthreads();
	for (uint32_t j = threadIdx.x; j < runs.distinct; j += rank_threads)
	{
		const uint32_t key = static_cast<uint32_t>(runs.keys[j]);

		/* there is always a slot: the table is at most 5/8 full (regime_few_distinct_capacity()) */
		ranks[take_slot(slots, pairs, pairs * 2, &taken, key,
						pair_of(key, pairs))] = static_cast<uint16_t>(runs(j));
	}
	__syncthreads();

	/* every key is in the table, since the runs came from these keys */
	auto		rank = [&](int32_t signed_key) {
		const uint32_t key = static_cast<uint32_t>(signed_key);
		const uint32_t pair = pair_of(key, pairs);
		uint32_t	slot = slot_in_pair(table[pair], pair, key);

		if (slot == no_slot)
			slot = find_slot(table, pairs, key);
		return static_cast<uint32_t>(ranks[slot]);
	};

	/* ranks of a vector of keys are stored together: out is aligned like keys */
	block_span(all.count, &begin, &end);

	uint2	   *pairs_out = reinterpret_cast<uint2 *>(out + all.head);
	constexpr int vectors = RankTuning::vectors;
	uint64_t	at = begin + threadIdx.x;

	for_each_vector<vectors>(
		all.vectors, begin, end,
		[&](const int4 (&r)[vectors], uint32_t valid) {
			uint32_t	found[vectors * 4];

#pragma unroll
			for (int i = 0; i < vectors; i++)
				if (valid >> i & 1)
				{
					found[i * 4] = rank(r[i].x);
					found[i * 4 + 1] = rank(r[i].y);
					found[i * 4 + 2] = rank(r[i].z);
					found[i * 4 + 3] = rank(r[i].w);
				}
			/* lanes that needed a second probe come later; the lanes store together */
			__syncwarp();
#pragma unroll
			for (int i = 0; i < vectors; i++)
				if (valid >> i & 1)
					pairs_out[at + i * rank_threads] =
						make_uint2(found[i * 4] | found[i * 4 + 1] << 16,
								   found[i * 4 + 2] | found[i * 4 + 3] << 16);
			at += vectors * rank_threads;
		},
		NeverStop());
	if (blockIdx.x == gridDim.x - 1)
	{
		if (threadIdx.x < all.head)
			out[threadIdx.x] = static_cast<uint16_t>(rank(keys[threadIdx.x]));
		if (threadIdx.x < all.tail)
			out[n - all.tail + threadIdx.x] =
				static_cast<uint16_t>(rank(keys[n - all.tail + threadIdx.x]));
	}
}

void
configure_permutation(const HpsortCudaLimits &limits)
{
	/* a slot and its rank; there are half as many slots as bins */
	allow_shared(rank_rows_kernel, regime_few_distinct_slots(&limits) *
				 (sizeof(uint32_t) + sizeof(uint16_t)));
}

/* One pass or two over words of 16 bits that source loads.  *sweeps must have the starts of all
 * passes' digits. */
template <typename Source>
static void
row_passes(const SortInput &input, const Source &source, uint32_t passes, uint32_t bits,
		   Sweeps *sweeps, uint32_t *rows)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const uint64_t n = input.n;

	if (passes == 1)
	{
		sweeps->run(stream, 0, FirstRows<Source, true>{source, bits, rows, nullptr, 1});
		return;
	}

	const uint32_t chunks = static_cast<uint32_t>((n + chunk_rows - 1) / chunk_rows);
	DeviceBuffer words(context, stream, n * sizeof(uint32_t), "a permutation");
	DeviceBuffer segments(context, stream,
						  static_cast<uint64_t>(chunks) * sweep_digits *
						  sizeof(uint32_t), "a permutation");
	FirstRows<Source, false> first = {source, bits, words.as<uint32_t>(),
		segments.as<uint32_t>(), chunks};
	SecondRows	second = {words.as<uint32_t>(), rows, segments.as<uint32_t>(),
		chunks};

	sweeps->run(stream, 0, first);
	sweeps->run(stream, 1, second);
}

/* The digits have been counted: from the runs by ranked_permutation(), or from the keys by
 * radix.cu. */
void
binned_passes(const SortInput &input, uint32_t passes, uint32_t bits, Sweeps *sweeps,
			  uint32_t *rows)
{
	row_passes(input, BinSource{input.keys, input.map()}, passes, bits, sweeps, rows);
}

/* Where bins fit, ranks are made only if they save a pass.  The runs must be the keys' own: a
 * key without a run has no rank. */
void
ranked_permutation(const SortInput &input, bool narrow, const Runs &runs, uint32_t *rows,
				   Sweeps *sweeps)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const int32_t *keys = input.keys;
	const uint64_t n = input.n;
	const KeyMap map = input.map();
	const uint32_t distinct = static_cast<uint32_t>(runs.distinct);
	const bool	binned = narrow && (map.last < sweep_digits ||
									distinct > sweep_digits);
	const uint32_t width = regime_bits(binned ? map.last : distinct - 1);
	const uint32_t passes = width > sweep_bits ? 2 : 1;
	/* Bits are dealt evenly to two digits: the fewer values a digit has, the longer are the
	 * stretches that a tile writes. */
	const uint32_t bits = passes == 1 ? (width > 0 ? width : 1) : (width + 1) / 2;
	const RunDigits digits = {runs.keys, runs.starts, distinct, binned, input.descending,
		map};

	run_digits_kernel<<<(distinct + digit_threads - 1) / digit_threads,
		digit_threads, 0, stream>>>(digits, bits, passes, sweeps->starts(0),
									sweeps->portions * sweep_digits,
									sweeps->count_ticket());
	check_launch("count the digits");
	if (binned)
		binned_passes(input, passes, bits, sweeps, rows);
	else
	{
		/* aligned like the keys, so that four ranks can be stored together */
		const uint32_t skew = static_cast<uint32_t>(
			reinterpret_cast<uintptr_t>(keys) % 16 / sizeof(int32_t));
		DeviceBuffer memory(context, stream, (n + 4) * sizeof(uint16_t),
							"a permutation");
		uint16_t   *ranks = memory.as<uint16_t>() + skew;
		const uint32_t pairs = regime_few_distinct_slots(&context->limits) / 2;

		/* a block per SM, since the table takes most of its shared memory */
		rank_rows_kernel<<<grid_blocks(context, n, rank_threads * 8, 1), rank_threads,
			static_cast<size_t>(pairs) * 2 * (sizeof(uint32_t) + sizeof(uint16_t)),
			stream>>>(keys, n, digits, pairs, ranks);
		check_launch("rank the rows");
		row_passes(input, RankSource{ranks}, passes, bits, sweeps, rows);
	}
}

} /* namespace hpsort */
