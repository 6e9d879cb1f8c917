/*-------------------------------------------------------------------------
 *
 * many_values.cu
 *	  Dense ranks of up to 65,536 values, anywhere in 2^32: more than a table in
 *	  shared memory holds.
 *
 * What few_distinct.cu counts, and permutation.cu ranks, in shared memory is looked
 * up in L2 here: a table of 2 MB, one sector a key.  A sample large enough to have
 * met each value often finds them; a second look at all keys, which the ranks need
 * anyway, verifies them, for a key that is in no slot shows itself.  Then two passes
 * of permutation.cu instead of four of pairs.
 *	- sample_values_kernel puts a sample into a table, and notes what it met twice;
 *	- list_values_kernel lists them, and says if some were met but once: then there
 *	  are others that it has not met;
 *	- small_sort.cu puts them in order;
 *	- place_values_kernel makes the table of ranks;
 *	- rank_keys_kernel makes the ranks of all keys, and counts both passes' digits.
 *
 * permutation.cu calls it.  Bytes per row: 4 + 2, and those of the passes.
 *
 *-------------------------------------------------------------------------
 */
#include <climits>

#include "hash.cuh"
#include "radix.cuh"

namespace hpsort
{

static constexpr uint32_t most_values = 1 << 16;
static constexpr uint32_t sample_slots = 4 * most_values;
static constexpr uint32_t rank_pairs = 2 * most_values;

/* 24 times as many as there may be values: of 65,536, met at random, one is met less
 * than twice in one of 10,000 samples, and missed in one of 400,000 */
static constexpr uint32_t sampled = 24 * most_values;
static constexpr int sample_threads = 1024;
/* each thread may take a slot after the last look at how many are taken: together
 * they must leave some empty, for a search ends there */
static constexpr uint32_t sample_blocks = 132;

static_assert(most_values + 1 + sample_blocks * sample_threads < sample_slots,
			  "a search ends at an empty slot");

static constexpr int place_threads = 256;
static constexpr int rank_threads = 512;
static constexpr uint32_t no_rank = 0xffffffffu;

/* In device memory, zeroed at the start. */
struct ValueState
{
	uint32_t	taken;			/* slots of the sample's table */
	uint32_t	listed;
	uint32_t	rare;			/* not 0: a value was met but once */
	uint32_t	empty_met;		/* how often, up to 2, the key that marks empty slots */
	uint32_t	empty_rank;		/* its rank less no_rank: no_rank itself is 0 */
};

/* Past L1: other SMs write it. */
__device__ __forceinline__ uint32_t
look(const uint32_t *at)
{
	return *const_cast<const volatile uint32_t *>(at);
}

__global__ void __launch_bounds__(sample_threads, 1)
sample_values_kernel(const int32_t *keys, uint64_t n, uint32_t *slots, uint32_t *met,
					 ValueState *state)
{
	constexpr int batch = 4;
	const uint32_t step = gridDim.x * sample_threads;

	for (uint32_t first = blockIdx.x * sample_threads + threadIdx.x; first < sampled;
		 first += batch * step)
	{
		uint32_t	key[batch];

		/* scattered places: neighbours are often alike */
#pragma unroll
		for (int i = 0; i < batch; i++)
		{
			uint64_t	place = (first + i * step) * 0x9e3779b97f4a7c15ull;

			place = (place ^ place >> 32) * 0xbf58476d1ce4e5b9ull;
			key[i] = static_cast<uint32_t>(keys[__umul64hi(place ^ place >> 29, n)]);
		}
#pragma unroll
		for (int i = 0; i < batch; i++)
		{
			uint32_t	slot = pair_of(key[i], sample_slots);

			if (first + i * step >= sampled)
				continue;
			if (key[i] == empty_slot)
			{
				if (look(&state->empty_met) < 2)
					atomicAdd(&state->empty_met, 1u);
				continue;
			}
			if (look(&state->taken) > most_values)
				return;
			for (;; slot = slot + 1 == sample_slots ? 0 : slot + 1)
			{
				uint32_t	found = look(&slots[slot]);

				if (found == empty_slot)
				{
					found = atomicCAS(&slots[slot], empty_slot, key[i]);
					if (found == empty_slot)
					{
						atomicAdd(&state->taken, 1u);
						found = key[i];
					}
				}
				if (found == key[i])
					break;
			}
			/* a value that most keys have would be counted for a long time */
			if (look(&met[slot]) < 2)
				atomicAdd(&met[slot], 1u);
		}
	}
}

__global__ void __launch_bounds__(place_threads)
list_values_kernel(const uint32_t *slots, const uint32_t *met, int32_t *list,
				   ValueState *state)
{
	const uint32_t slot = blockIdx.x * place_threads + threadIdx.x;
	const bool	extra = slot == sample_slots;	/* the key that has no slot */
	const uint32_t times = extra ? state->empty_met : slot < sample_slots ? met[slot] : 0;

	if (times == 0)
		return;

	const uint32_t at = atomicAdd(&state->listed, 1u);

	if (at < most_values)
		list[at] = static_cast<int32_t>(extra ? empty_slot : slots[slot]);
	if (times == 1)
		state->rare = 1;
}

/* For the host: how many values, or 0 if they may not be all. */
__global__ void
tell_values_kernel(const ValueState *state, HpsortCudaVerdict *report)
{
	report->distinct = state->rare != 0 || state->listed > most_values ? 0 : state->listed;
}

/* Slots are pairs of words, a key and its rank; two of them are read together. */
__global__ void __launch_bounds__(place_threads)
place_values_kernel(const int32_t *sorted, uint32_t distinct, Bounds bounds,
					uint32_t *table, ValueState *state, HpsortCudaVerdict *verdict)
{
	const uint32_t j = blockIdx.x * place_threads + threadIdx.x;

	if (j >= distinct)
		return;

	const uint32_t key = static_cast<uint32_t>(sorted[j]);
	uint32_t	slot = pair_of(key, rank_pairs) * 2;

	/* all keys are among the values, so their bounds are checked here */
	if (sorted[j] < bounds.lo || sorted[j] > bounds.hi)
		report_outside(verdict, sorted[j]);

	if (key == empty_slot)
	{
		state->empty_rank = j - no_rank;
		return;
	}
	while (atomicCAS(&table[slot * 2], empty_slot, key) != empty_slot)
		slot = slot + 1 == rank_pairs * 2 ? 0 : slot + 1;
	table[slot * 2 + 1] = j;
}

/* The rank of a key that is not in its first pair; no_rank: it is in none. */
static __device__ __noinline__ uint32_t
rank_behind(const uint4 *table, uint32_t key, const ValueState *state)
{
	uint32_t	pair = pair_of(key, rank_pairs);

	if (key == empty_slot)
		return state->empty_rank + no_rank;
	for (;;)
	{
		const uint4 two = table[pair];

		if (two.x == key)
			return two.y;
		if (two.z == key)
			return two.w;
		/* where it would have been put */
		if (two.x == empty_slot || two.z == empty_slot)
			return no_rank;
		pair = pair + 1 == rank_pairs ? 0 : pair + 1;
	}
}

/*
 * All keys' ranks, two bytes each, stored like the keys; both digits counted.  A key
 * without a rank is told of, and counts as 0, so that the passes stay within their
 * arrays until the host hears.
 */
__global__ void __launch_bounds__(rank_threads, 2)
rank_keys_kernel(const int32_t *__restrict__ keys, uint64_t n,
				 const uint4 *__restrict__ table, const ValueState *state, uint32_t bits,
				 uint16_t *out, uint32_t *counts, uint32_t stride, uint32_t *ticket,
				 HpsortCudaVerdict *report)
{
	constexpr int vectors = 2;
	constexpr int batch = vectors * 4;
	__shared__ uint32_t bins[2][sweep_digits];
	const KeyVectors all(keys, n);
	const uint32_t mask = (1u << bits) - 1;
	uint64_t	begin;
	uint64_t	end;
	bool		missing = false;

	for (uint32_t i = threadIdx.x; i < 2 * sweep_digits; i += rank_threads)
		bins[i / sweep_digits][i % sweep_digits] = 0;
	__syncthreads();

	auto		count = [&](uint32_t rank) {
		atomicAdd(&bins[0][rank & mask], 1u);
		atomicAdd(&bins[1][rank >> bits], 1u);
	};
	/* an empty slot has no_rank, so the key that marks it needs no test */
	auto		settle = [&](uint4 two, uint32_t key) {
		uint32_t	rank = two.x == key ? two.y : two.z == key ? two.w : no_rank;

		if (rank == no_rank)
			rank = rank_behind(table, key, state);
		if (rank == no_rank)
		{
			missing = true;
			rank = 0;
		}
		return rank;
	};
	auto		rank_one = [&](int32_t signed_key) {
		const uint32_t key = static_cast<uint32_t>(signed_key);
		const uint32_t rank = settle(table[pair_of(key, rank_pairs)], key);

		count(rank);
		return static_cast<uint16_t>(rank);
	};

	block_span(all.count, &begin, &end);

	uint2	   *fours_out = reinterpret_cast<uint2 *>(out + all.head);
	uint64_t	at = begin + threadIdx.x;

	for_each_vector<vectors>(
		all.vectors, begin, end,
		[&](const int4 (&r)[vectors], uint32_t valid) {
			uint32_t	key[batch];
			uint4		two[batch];

#pragma unroll
			for (int i = 0; i < vectors; i++)
			{
				key[i * 4] = static_cast<uint32_t>(r[i].x);
				key[i * 4 + 1] = static_cast<uint32_t>(r[i].y);
				key[i * 4 + 2] = static_cast<uint32_t>(r[i].z);
				key[i * 4 + 3] = static_cast<uint32_t>(r[i].w);
			}
			/* all of them on their way before the first is looked at */
#pragma unroll
			for (int i = 0; i < batch; i++)
				two[i] = __ldg(&table[pair_of(key[i], rank_pairs)]);
#pragma unroll
			for (int i = 0; i < batch; i++)
				if (valid >> i / 4 & 1)
				{
					key[i] = settle(two[i], key[i]);
					count(key[i]);
				}
			/* lanes that had to look on come later; the store is one again */
			__syncwarp();
#pragma unroll
			for (int i = 0; i < vectors; i++)
				if (valid >> i & 1)
					fours_out[at + i * rank_threads] =
						make_uint2(key[i * 4] | key[i * 4 + 1] << 16,
								   key[i * 4 + 2] | key[i * 4 + 3] << 16);
			at += vectors * rank_threads;
		},
		NeverStop());
	if (blockIdx.x == gridDim.x - 1)
	{
		if (threadIdx.x < all.head)
			out[threadIdx.x] = rank_one(keys[threadIdx.x]);
		if (threadIdx.x < all.tail)
			out[n - all.tail + threadIdx.x] = rank_one(keys[n - all.tail + threadIdx.x]);
	}
	if (missing)
		report_outside(report, 0);
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < 2 * sweep_digits; i += rank_threads)
	{
		const uint32_t met = bins[i / sweep_digits][i % sweep_digits];

		if (met != 0)
			atomicAdd(&counts[i / sweep_digits * stride + i % sweep_digits], met);
	}
	sum_by_last_block(counts, 2, stride, ticket, 0, nullptr);
}

/*
 * False: too many values, or not all of them found; rows may have been written, and
 * mean nothing then.  Waits for the stream twice, the second time with the passes on it.
 */
bool
many_values_permutation(HpsortCuda *context, cudaStream_t stream, const Bounds &bounds,
						bool descending, const int32_t *keys, uint64_t n, uint32_t *rows,
						HpsortCudaVerdict *verdict)
{
	const uint32_t skew = static_cast<uint32_t>(
		reinterpret_cast<uintptr_t>(keys) % 16 / sizeof(int32_t));
	DeviceBuffer memory(context, stream,
						sample_slots * 2 * sizeof(uint32_t) + most_values * 2 * sizeof(int32_t) +
						rank_pairs * sizeof(uint4) + sizeof(ValueState) + 2048,
						"a table of ranks");
	Carver		carver(memory);
	uint32_t   *slots = carver.take<uint32_t>(sample_slots);
	uint32_t   *table = carver.take<uint32_t>(rank_pairs * 4);
	uint32_t   *met = carver.take<uint32_t>(sample_slots);
	ValueState *state = carver.take<ValueState>(1);
	int32_t    *list = carver.take<int32_t>(most_values);
	int32_t    *sorted = carver.take<int32_t>(most_values);
	VerdictSlot report(context, stream);
	VerdictSlot unused(context, stream);
	Sweeps		sweeps;
	Event		known;
	Event		ranked;

	clear_verdict(report.get());
	clear_verdict(unused.get());
	check(cudaMemsetAsync(slots, 0xff, (table - slots + rank_pairs * 4) * sizeof(uint32_t),
						  stream), "clear a table of ranks");
	check(cudaMemsetAsync(met, 0, reinterpret_cast<char *>(state + 1) -
						  reinterpret_cast<char *>(met), stream),
		  "clear a table of ranks");
	sample_values_kernel<<<sample_blocks, sample_threads, 0, stream>>>
		(keys, n, slots, met, state);
	check_launch("sample the values");
	list_values_kernel<<<sample_slots / place_threads + 1, place_threads, 0, stream>>>
		(slots, met, list, state);
	check_launch("list the values");
	tell_values_kernel<<<1, 1, 0, stream>>>(state, report.get());
	check_launch("count the values");
	known.record(stream);
	/* cleared while the host hears */
	sweeps.allocate(context, stream, n, 2);
	known.wait("count the values");

	const uint32_t distinct = static_cast<uint32_t>(
		const_cast<volatile HpsortCudaVerdict *>(report.get())->distinct);

	/* up to 8 bits there is one pass, and another way to it */
	if (distinct <= sweep_digits || distinct > small_most(context))
		return false;

	const uint32_t bits = (regime_bits(distinct - 1) + 1) / 2;
	DeviceBuffer rank_memory(context, stream, (n + 4) * sizeof(uint16_t), "a permutation");
	uint16_t   *ranks = rank_memory.as<uint16_t>() + skew;
	const uint64_t blocks = (n + rank_threads * 8 - 1) / (rank_threads * 8);
	const uint64_t most_blocks = static_cast<uint64_t>(context->limits.sms) * 2;

	small_sort(context, stream, {INT_MIN, INT_MAX}, descending, list, distinct, sorted,
			   nullptr, unused.get());
	place_values_kernel<<<(distinct - 1) / place_threads + 1, place_threads, 0, stream>>>
		(sorted, distinct, bounds, table, state, verdict);
	check_launch("place the values");
	rank_keys_kernel<<<static_cast<uint32_t>(blocks < most_blocks ? blocks : most_blocks),
		rank_threads, 0, stream>>>
		(keys, n, reinterpret_cast<const uint4 *>(table), state, bits, ranks,
		 sweeps.starts(0), sweeps.portions * sweep_digits, sweeps.count_ticket(),
		 report.get());
	check_launch("rank the keys");
	ranked.record(stream);
	ranked_passes(context, stream, ranks, bits, n, &sweeps, rows);
	ranked.wait("rank the keys");
	return const_cast<volatile HpsortCudaVerdict *>(report.get())->n_outside == 0;
}

} /* namespace hpsort */

