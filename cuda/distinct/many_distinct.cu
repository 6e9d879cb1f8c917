/*-------------------------------------------------------------------------
 *
 * many_distinct.cu
 *	  Regime MANY_DISTINCT: dense ranks of up to 65,536 values, anywhere in 2^32.
 *
 * few_distinct.cu finds all values by counting all keys in a table in shared memory,
 * which does not hold so many values.  Here a sample finds them that is large enough to
 * meet each value many times.  The kernel that makes the ranks of all keys also
 * verifies the values, as it notices keys that are not among them, so that no read of
 * the keys is needed to find the values.  Two passes of permutation.cu over the ranks
 * then take the place of four passes over (key, row) pairs.
 *	- sample_values_kernel puts a sample into a table, and notes what it met twice;
 *	- list_values_kernel lists the values, and counts those that the sample met only
 *	  once: about as many values may have been missed;
 *	- small_sort.cu sorts the values, place_values_kernel makes two tables of ranks;
 *	- rank_by_buckets_kernel makes the ranks of all keys, and counts both passes'
 *	  digits.  In shared memory it has the values in order, of each the bits that its
 *	  bucket does not tell, and where buckets begin.  The place of a value is its rank,
 *	  so that a value takes 3 bytes and not the 6 of key and rank;
 *	- rank_by_hash_kernel does the same by a hash table in L2, one sector a key, where
 *	  values are so unevenly spread that buckets are crowded, or the other table does
 *	  not fit.
 * If the sample has missed values, the passes find no tiles, both rank kernels read all
 * keys once more to add the missing values to the list (LEARN), and the steps from
 * the sort of the values on are repeated.
 * Bytes per row: 4 + 2, and those of the passes.
 *
 *-------------------------------------------------------------------------
 */
#include <climits>

#include "distinct/many_distinct.cuh"
#include "distinct/rank_tables.cuh"
#include "passes/permutation.cuh"
#include "passes/small_sort.cuh"

namespace hpsort
{

static constexpr uint32_t sample_slots = REGIME_MANY_SAMPLE_SLOTS;

/* Keys of the sample: 24 for each value there may be.  Of 65,536 equally frequent values
 * one in 16,000 samples meets a value less than twice, one in 400,000 misses a value. */
static constexpr uint32_t sampled = 24 * most_values;
static constexpr int sample_threads = 1024;
static constexpr uint32_t sample_blocks = 132;

/* Every thread may take one more slot after its last look at how many are taken. */
static_assert(most_values + 1 + sample_blocks * sample_threads < sample_slots,
			  "a search ends at an empty slot");

/* Most slots that a key tries.  Random values need a dozen; values that were chosen to
 * share their first slot, which is the same in all tables here, tens of thousands. */
static constexpr uint32_t most_steps = 1000;
static constexpr int place_threads = 256;

/* A read past L1, of a word that other SMs write. */
__device__ __forceinline__ uint32_t
look(const uint32_t *at)
{
	return *const_cast<const volatile uint32_t *>(at);
}

/*
 * The sample's values into slots, and whether each was met once or more often.  Threads
 * with the same key try the same slots in the same order, and a slot that is taken stays
 * taken, so that a key never gets two slots.  The sample's places depend on n alone, so
 * that a choice can be repeated.  With too many values each thread stops when it sees so.
 */
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
		uint32_t	there[batch];

		/* scattered places: neighbours are often alike */
#pragma unroll
		for (int i = 0; i < batch; i++)
		{
			uint64_t	place = (first + i * step) * 0x9e3779b97f4a7c15ull;

			place = (place ^ place >> 32) * 0xbf58476d1ce4e5b9ull;
			key[i] = static_cast<uint32_t>(keys[__umul64hi(place ^ place >> 29, n)]);
		}
		/* soon most keys are found at the first slot they look at */
#pragma unroll
		for (int i = 0; i < batch; i++)
			there[i] = look(&slots[pair_of(key[i], sample_slots)]);
#pragma unroll
		for (int i = 0; i < batch; i++)
		{
			uint32_t	slot = pair_of(key[i], sample_slots);
			uint32_t	found = there[i];

			if (first + i * step >= sampled)
				continue;

			/* of equal keys one lane looks for all: at the start all threads would write to
			 * the slots of the same few values (n 3e7, exponent 2: 0.3 ms) */
			const uint32_t same = __match_any_sync(__activemask(), key[i]);

			if (threadIdx.x % 32 != static_cast<uint32_t>(__ffs(same) - 1))
				continue;
			if (key[i] == empty_slot)
			{
				if (look(&state->empty_met) < 2)
					atomicAdd(&state->empty_met, static_cast<uint32_t>(__popc(same)));
				continue;
			}
			for (uint32_t step_of_key = 0;; step_of_key++)
			{
				if (step_of_key == most_steps)
				{
					state->given_up = 1;
					return;
				}
				if (found == empty_slot)
				{
					if (look(&state->taken) > most_values)
						return;
					found = atomicCAS(&slots[slot], empty_slot, key[i]);
					if (found == empty_slot)
					{
						atomicAdd(&state->taken, 1u);
						found = key[i];
					}
				}
				if (found == key[i])
					break;
				slot = slot + 1 == sample_slots ? 0 : slot + 1;
				found = look(&slots[slot]);
			}
			/* a value that most keys have would be counted for a long time */
			if (look(&met[slot]) < 2)
				atomicAdd(&met[slot], static_cast<uint32_t>(__popc(same)));
		}
	}
}

/* One thread a slot, and one for the key that has none; the list is in no order. */
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
		atomicAdd(&state->rare, 1u);
}

/*
 * For the host: the number of values, or 0 if the regime is to give up.  It does where
 * there are too many values, where there will be too many when those are learnt that
 * the sample has missed (about as many as it met only once), and where it met an eighth
 * of its values only once: so many are missing then that all keys would be read twice.
 */
__global__ void
tell_values_kernel(const ValueState *state, bool all, HpsortCudaVerdict *report)
{
	const uint32_t others = all ? 0 : state->rare;

	report->distinct = state->given_up != 0 || state->listed + others > most_values ||
		others > state->listed / 8 ? 0 : state->listed;
}

/*
 * Fills both tables, by a thread for each value and bucket that there may be; only when
 * this is done it is known which of them serves.  A slot of the hash table is two
 * words, a key and its rank, and two slots are read together.  With a quarter of the
 * slots taken 4 % of the values are in none of the first two slots that a key looks at.
 */
__global__ void __launch_bounds__(place_threads)
place_values_kernel(const int32_t *sorted, uint32_t distinct, bool descending,
					bool by_hash, Bounds bounds, uint32_t *table, uint64_t *group_of,
					uint16_t *rest, ValueState *state, HpsortCudaVerdict *verdict)
{
	const uint32_t j = blockIdx.x * place_threads + threadIdx.x;
	const uint32_t lo = static_cast<uint32_t>(sorted[0]);
	const uint32_t span = static_cast<uint32_t>(sorted[distinct - 1]) - lo;
	const uint32_t bits = 32 - __clz(span);
	const Buckets buckets = {lo, span, bits > 16 ? bits - 16 : 0};

	/* a group's threads are neighbours in a warp, and put its word together there */
	const uint32_t i = j % REGIME_MANY_GROUP;
	const uint32_t first = values_before(sorted, distinct, buckets, j - i);
	const uint32_t more = values_before(sorted, distinct, buckets, j + 1) - first;
	uint64_t	group = static_cast<uint64_t>(more & group_most) << i * end_bits;

#pragma unroll
	for (int step = 1; step < REGIME_MANY_GROUP; step *= 2)
		group |= __shfl_xor_sync(0xffffffffu, group, step);
	/* groups behind the last value may begin at 65,536, which has more than 16 bits, but
	 * no key is looked for there */
	if (i == 0)
		group_of[j / REGIME_MANY_GROUP] = group | static_cast<uint64_t>(first) << first_shift;
	/* with so many values the group's word is wrong, and must not be read */
	if (more > group_most || (by_hash && j == 0))
		state->by_hash = 1;
	if (j == 0)
		state->buckets = buckets;
	rest[j] = 0;
	if (j >= distinct)
		return;

	const uint32_t key = static_cast<uint32_t>(sorted[j]);
	const uint32_t rank = descending ? distinct - 1 - j : j;
	uint32_t	slot = pair_of(key, rank_pairs) * 2;

	/* all keys are among the values, so their bounds are checked here */
	if (sorted[j] < bounds.lo || sorted[j] > bounds.hi)
		report_outside(verdict, sorted[j]);
	rest[j] = static_cast<uint16_t>((key - lo) & ((1u << buckets.shift) - 1));
	if (key == empty_slot)
	{
		state->empty_rank = rank - no_rank;
		return;
	}
	/* values differ from each other, so a slot that is taken is another's */
	while (atomicCAS(&table[slot * 2], empty_slot, key) != empty_slot)
		slot = slot + 1 == rank_pairs * 2 ? 0 : slot + 1;
	table[slot * 2 + 1] = rank;
}

/* Where ranks go, and the counts of their two digits. */
struct Ranked
{
	uint16_t   *ranks;			/* aligned like the keys */
	uint32_t	bits;			/* of the lower digit */
	uint32_t   *counts;			/* of both, and from one to the other */
	uint32_t	stride;
	uint32_t   *ticket;
	HpsortCudaVerdict *report;	/* of a key that has no rank */
	uint32_t   *tickets;		/* of the passes that follow */
};

/* The sample's table and list, for values to be added to. */
struct Values
{
	uint32_t   *slots;
	int32_t    *list;
	ValueState *state;
};

/* A value that the sample has missed, into its table and, the first time, its list. */
static __device__ __noinline__ void
learn_value(const Values &values, uint32_t key)
{
	ValueState *state = values.state;
	bool		is_new = false;

	if (key == empty_slot)
		is_new = atomicAdd(&state->empty_met, 1u) == 0;
	else
	{
		uint32_t	slot = pair_of(key, sample_slots);

		for (uint32_t steps = 0;; steps++)
		{
			uint32_t	found = look(&values.slots[slot]);

			if (found == empty_slot)
			{
				if (look(&state->taken) > most_values)
					return;
				found = atomicCAS(&values.slots[slot], empty_slot, key);
				is_new = found == empty_slot;
			}
			if (is_new || found == key)
				break;
			if (steps == most_steps)
			{
				state->given_up = 1;
				return;
			}
			slot = slot + 1 == sample_slots ? 0 : slot + 1;
		}
		if (is_new)
			atomicAdd(&state->taken, 1u);
	}
	if (is_new)
	{
		const uint32_t at = atomicAdd(&state->listed, 1u);

		if (at < most_values)
			values.list[at] = static_cast<int32_t>(key);
	}
}

/* All values that the sample has missed. */
template <typename Table>
__device__ __forceinline__ void
learn_all(const int32_t *__restrict__ keys, uint64_t n, const Table &table,
		  const Values &values)
{
	for_each_key<2>(keys, n, [&](int32_t signed_key) {
		const uint32_t key = static_cast<uint32_t>(signed_key);

		if (table.rank(table.first(key), key) == no_rank)
			learn_value(values, key);
	});
}

/*
 * All keys' ranks, two bytes each, stored like the keys; both digits counted.  A key
 * without a rank is told of, and the passes' tickets are set so that they find no tile.
 */
template <int THREADS, typename Table>
__device__ __forceinline__ void
rank_all(const int32_t *__restrict__ keys, uint64_t n, const Table &table, const Ranked &to)
{
	constexpr int vectors = 2;
	constexpr int batch = vectors * 4;
	__shared__ uint32_t bins[2][sweep_digits];
	const KeyVectors all(keys, n);
	const uint32_t mask = (1u << to.bits) - 1;
	uint64_t	begin;
	uint64_t	end;
	bool		missing = false;

	for (uint32_t i = threadIdx.x; i < 2 * sweep_digits; i += THREADS)
		bins[i / sweep_digits][i % sweep_digits] = 0;
	__syncthreads();

	auto		settle = [&](const typename Table::Found &found, uint32_t key) {
		uint32_t	rank = table.rank(found, key);

		if (rank == no_rank)
		{
			missing = true;
			rank = 0;
		}
		atomicAdd(&bins[0][rank & mask], 1u);
		atomicAdd(&bins[1][rank >> to.bits], 1u);
		return rank;
	};
	auto		rank_one = [&](int32_t signed_key) {
		const uint32_t key = static_cast<uint32_t>(signed_key);

		return static_cast<uint16_t>(settle(table.first(key), key));
	};

	block_span(all.count, &begin, &end);

	uint2	   *fours_out = reinterpret_cast<uint2 *>(to.ranks + all.head);
	uint64_t	at = begin + threadIdx.x;

	for_each_vector<vectors>(
		all.vectors, begin, end,
		[&](const int4 (&r)[vectors], uint32_t valid) {
			uint32_t	key[batch];
			typename Table::Found found[batch];

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
				found[i] = table.first(key[i]);
#pragma unroll
			for (int i = 0; i < batch; i++)
				if (valid >> i / 4 & 1)
					key[i] = settle(found[i], key[i]);
			/* lanes that had to look on come later; the store is one again */
			__syncwarp();
#pragma unroll
			for (int i = 0; i < vectors; i++)
				if (valid >> i & 1)
					fours_out[at + i * THREADS] =
						make_uint2(key[i * 4] | key[i * 4 + 1] << 16,
								   key[i * 4 + 2] | key[i * 4 + 3] << 16);
			at += vectors * THREADS;
		},
		NeverStop());
	if (blockIdx.x == gridDim.x - 1)
	{
		if (threadIdx.x < all.head)
			to.ranks[threadIdx.x] = rank_one(keys[threadIdx.x]);
		if (threadIdx.x < all.tail)
			to.ranks[n - all.tail + threadIdx.x] = rank_one(keys[n - all.tail + threadIdx.x]);
	}
	if (missing)
	{
		report_outside(to.report, 0);
		for (uint32_t i = 0; i < Sweeps::launches_most - 2; i++)
			to.tickets[i] = sweep_no_tiles;
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < 2 * sweep_digits; i += THREADS)
	{
		const uint32_t met = bins[i / sweep_digits][i % sweep_digits];

		if (met != 0)
			atomicAdd(&to.counts[i / sweep_digits * to.stride + i % sweep_digits], met);
	}
	sum_by_last_block(to.counts, 2, to.stride, to.ticket, 0, nullptr);
}

/*
 * Both rank kernels are launched; state->by_hash tells each whether it has work.  By
 * buckets there is one block an SM, as the table takes most of its shared memory.
 */
static constexpr int bucket_threads = 1024;
static constexpr int hash_threads = 512;

template <bool LEARN>
__global__ void __launch_bounds__(bucket_threads, 1)
rank_by_buckets_kernel(const int32_t *__restrict__ keys, uint64_t n, const uint64_t *group_of,
					   const uint16_t *rest, uint32_t distinct, bool descending,
					   const ValueState *state, Ranked to, Values values)
{
	extern __shared__ __align__(16) uint4 memory[];
	constexpr uint32_t group_vectors = groups * sizeof(uint64_t) / sizeof(uint4);
	const uint32_t vectors = group_vectors +
		(distinct * sizeof(uint16_t) + sizeof(uint4) - 1) / sizeof(uint4);
	const Buckets buckets = state->buckets;

	if (state->by_hash != 0)
		return;
	for (uint32_t i = threadIdx.x; i < vectors; i += bucket_threads)
		memory[i] = i < group_vectors ? reinterpret_cast<const uint4 *>(group_of)[i] :
			reinterpret_cast<const uint4 *>(rest)[i - group_vectors];

	const BucketTable there = {reinterpret_cast<const uint64_t *>(memory),
		reinterpret_cast<const uint16_t *>(memory + group_vectors), buckets,
		descending ? distinct - 1 : 0, (1u << buckets.shift) - 1};

	if constexpr (LEARN)
	{
		__syncthreads();
		learn_all(keys, n, there, values);
	}
	else
		/* begins with a barrier */
		rank_all<bucket_threads>(keys, n, there, to);
}

template <bool LEARN>
__global__ void __launch_bounds__(hash_threads, 2)
rank_by_hash_kernel(const int32_t *__restrict__ keys, uint64_t n,
					const uint4 *__restrict__ table, const ValueState *state, Ranked to,
					Values values)
{
	if (state->by_hash == 0)
		return;
	if constexpr (LEARN)
		learn_all(keys, n, HashTable{table, state}, values);
	else
		rank_all<hash_threads>(keys, n, HashTable{table, state}, to);
}

/* Bytes of the table in shared memory; 0: it does not fit, and the hash table serves. */
static uint32_t
many_shared_bytes(const HpsortCuda *context, uint32_t distinct)
{
	return regime_many_shared(&context->limits, distinct);
}

void
configure_many_distinct(const HpsortCudaLimits &limits)
{
	/* where no value fits, the hash table serves */
	if (limits.shared_bytes <= REGIME_MANY_RESERVED)
		return;
	for (const void *kernel : {reinterpret_cast<const void *>(rank_by_buckets_kernel<false>),
		 reinterpret_cast<const void *>(rank_by_buckets_kernel<true>)})
		check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
								   static_cast<int>(limits.shared_bytes - REGIME_MANY_RESERVED)),
			  "set up a kernel");
}

/*
 * The arrays of this regime, in its one piece of memory.  slots and table come first and
 * then met and state, for one memset each for what begins with ones and with zeros.
 */
struct RankArrays
{
	DeviceBuffer memory;
	uint32_t   *slots;
	uint32_t   *table;
	uint32_t   *met;
	ValueState *state;
	int32_t    *list;
	int32_t    *sorted;
	uint64_t   *group_of;
	uint16_t   *rest;

	RankArrays(HpsortCuda *context, cudaStream_t stream)
		: memory(context, stream, regime_many_bytes(), "a table of ranks")
	{
		Carver		carver(memory);

		slots = carver.take<uint32_t>(sample_slots);
		table = carver.take<uint32_t>(rank_pairs * 4);
		met = carver.take<uint32_t>(sample_slots);
		state = carver.take<ValueState>(1);
		list = carver.take<int32_t>(most_values);
		sorted = carver.take<int32_t>(most_values);
		group_of = carver.take<uint64_t>(groups);
		rest = carver.take<uint16_t>(most_values);
	}
	Values values() const { return {slots, list, state}; }
};

/* Makes the ranks of all keys, and the starts of their digits; or (LEARN) adds the values
 * that are missing to the list. */
template <bool LEARN>
static void
rank_keys(const SortInput &input, uint32_t distinct, const RankArrays &arrays,
		  const Ranked &to)
{
	HpsortCuda *context = input.context;
	const uint64_t n = input.n;
	const uint32_t bytes = many_shared_bytes(context, distinct);

	if (bytes != 0)
	{
		rank_by_buckets_kernel<LEARN>
			<<<grid_blocks(context, n, bucket_threads * 8, 1), bucket_threads, bytes,
			input.stream>>>
			(input.keys, n, arrays.group_of, arrays.rest, distinct, input.descending,
			 arrays.state, to, arrays.values());
		check_launch("rank the keys");
	}
	rank_by_hash_kernel<LEARN>
		<<<grid_blocks(context, n, hash_threads * 8, 2), hash_threads, 0, input.stream>>>
		(input.keys, n, reinterpret_cast<const uint4 *>(arrays.table), arrays.state, to,
		 arrays.values());
	check_launch("rank the keys");
}

/* Puts the kernels on the stream that list the values of a large sample, the number of
 * which is told to *report. */
static void
list_values(const SortInput &input, const RankArrays &arrays, HpsortCudaVerdict *report)
{
	const cudaStream_t stream = input.stream;

	check(cudaMemsetAsync(arrays.slots, 0xff, reinterpret_cast<char *>(arrays.met) -
						  reinterpret_cast<char *>(arrays.slots), stream),
		  "clear a table of ranks");
	check(cudaMemsetAsync(arrays.met, 0, reinterpret_cast<char *>(arrays.state + 1) -
						  reinterpret_cast<char *>(arrays.met), stream),
		  "clear a table of ranks");
	sample_values_kernel<<<sample_blocks, sample_threads, 0, stream>>>
		(input.keys, input.n, arrays.slots, arrays.met, arrays.state);
	check_launch("sample the values");
	list_values_kernel<<<sample_slots / place_threads + 1, place_threads, 0, stream>>>
		(arrays.slots, arrays.met, arrays.list, arrays.state);
	check_launch("list the values");
	tell_values_kernel<<<1, 1, 0, stream>>>(arrays.state, false, report);
	check_launch("count the values");
}

/* Puts the listed values in order and fills both tables of ranks. */
static void
place_values(const SortInput &input, uint32_t distinct, const RankArrays &arrays,
			 HpsortCudaVerdict *unused)
{
	const SortInput values = {input.context, input.stream, arrays.list, distinct,
		{INT_MIN, INT_MAX}, false, unused};

	if (!one_block_sort(values, arrays.sorted, nullptr))
		small_sort(values, arrays.sorted, nullptr);
	place_values_kernel<<<most_values / place_threads, place_threads, 0, input.stream>>>
		(arrays.sorted, distinct, input.descending,
		 many_shared_bytes(input.context, distinct) == 0, input.bounds, arrays.table,
		 arrays.group_of, arrays.rest, arrays.state, input.verdict);
	check_launch("place the values");
}

/*
 * Waits for the stream twice, the second time with the passes on it, and twice more if
 * the sample has missed values.
 */
bool
many_distinct_permutation(const SortInput &input, uint32_t *rows)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const uint64_t n = input.n;
	const uint32_t skew = static_cast<uint32_t>(
		reinterpret_cast<uintptr_t>(input.keys) % 16 / sizeof(int32_t));
	const RankArrays arrays(context, stream);
	VerdictSlot report(context, stream);
	VerdictSlot unused(context, stream);
	DeviceBuffer rank_memory;
	Sweeps		sweeps;
	Event		known;
	Event		ranked;
	auto		told = [&] {
		known.wait("count the values");
		return static_cast<uint32_t>(
			const_cast<volatile HpsortCudaVerdict *>(report.get())->distinct);
	};

	list_values(input, arrays, report.get());
	known.record(stream);
	/* cleared while the host waits for the number of values */
	sweeps.allocate(context, stream, n, 2);

	for (bool learnt = false;; learnt = true)
	{
		const uint32_t distinct = told();

		/* up to 256 values are one pass, which other regimes do without these ranks */
		if (distinct <= sweep_digits || distinct > regime_one_launch_most(&context->limits))
			return false;
		if (learnt)
		{
			/* the first turn's work is complete: clear what it has left */
			clear_verdict(report.get());
			check(cudaMemsetAsync(arrays.table, 0xff, rank_pairs * sizeof(uint4), stream),
				  "clear a table of ranks");
			check(cudaMemsetAsync(&arrays.state->by_hash, 0, sizeof(arrays.state->by_hash),
								  stream), "clear a table of ranks");
			sweeps = Sweeps();
			sweeps.allocate(context, stream, n, 2);
		}
		else
			rank_memory = DeviceBuffer(context, stream, (n + 4) * sizeof(uint16_t),
									   "a permutation");

		const uint32_t bits = (regime_bits(distinct - 1) + 1) / 2;
		uint16_t   *ranks = rank_memory.as<uint16_t>() + skew;
		const Ranked to = {ranks, bits, sweeps.starts(0), sweeps.portions * sweep_digits,
			sweeps.count_ticket(), report.get(), sweeps.tickets};

		place_values(input, distinct, arrays, unused.get());
		rank_keys<false>(input, distinct, arrays, to);
		ranked.record(stream);
		ranked_passes(input, ranks, bits, &sweeps, rows);
		ranked.wait("rank the keys");
		if (const_cast<volatile HpsortCudaVerdict *>(report.get())->n_outside == 0)
			return true;
		if (learnt)
			fail(HPSORT_CUDA_FAILED, "a key is not among the values of all keys");
		rank_keys<true>(input, distinct, arrays, to);
		tell_values_kernel<<<1, 1, 0, stream>>>(arrays.state, true, report.get());
		check_launch("count the values");
		known.record(stream);
	}
}

} /* namespace hpsort */
