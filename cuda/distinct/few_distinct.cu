/*-------------------------------------------------------------------------
 *
 * few_distinct.cu
 *	  Regime FEW_DISTINCT: few distinct values, anywhere in 2^32.
 *
 * 0-compressed H-P (Kozakai, Fujimoto, Wada 2021, Algorithm 5) without the work that grows with
 * the range: only bins that occur exist, in a hash table in shared memory.  The counts C and the
 * values iC are made at once, and the bins A never exist.
 *
 * - sample_kernel estimates the number of distinct values from a sample.
 * - count_distinct_kernel counts every key in its block's table and adds the tables up in one
 *   table in L2.  The sample is only a hint: when a table overflows, everything stops and the
 *   caller takes another regime.
 * - rank_kernel puts the values in order by counting the smaller ones, the idea of
 *   comparison-free sorting.  All pairs of at most 16 K values, spread over the whole GPU, take
 *   less time than launching a sort.
 *
 * Memory traffic of a key: 4 bytes read, 4 written.
 *
 *-------------------------------------------------------------------------
 */
#include "common/device.cuh"
#include "common/hash.cuh"
#include "distinct/few_distinct.cuh"

namespace hpsort
{

static constexpr int threads = FewDistinctTuning::threads;

/* What count_distinct_kernel leaves to the kernels behind it and to the host. */
struct DistinctState
{
	uint32_t	distinct;		/* values on the list */
	uint32_t	abandoned;		/* not 0: too many values, nothing else is valid */
	uint32_t	empty_listed;	/* not 0: the key equal to empty_slot is on the list */
	uint32_t	unused;
};

/* The common table, in device memory. */
struct DistinctTable
{
	uint32_t   *keys;
	unsigned long long *counts;
	uint32_t   *list;			/* slots taken, in no order */
	DistinctState *state;
	uint32_t	slots;
	uint32_t	capacity;
};

/*
 * The slot of the common table at which the search for a key begins.  The table has linear
 * probing and four slots per value.  It has single slots and no pairs: it is written by atomics
 * on one word each, once per block and value.
 */
__device__ __forceinline__ uint32_t
slot_of(uint32_t key, uint32_t slots)
{
	return pair_of(key, slots);
}

/* Value of *taken when a block's table has overflowed.  It is so far above any number of slots
 * that threads which still count their slots do not bring it back. */
static constexpr uint32_t overflow = 0x80000000u;

/* One block's table, in shared memory. */
struct BlockTable
{
	uint32_t   *slots;			/* pairs of keys */
	uint32_t   *counts;			/* of each slot */
	uint32_t   *taken;
	uint32_t	pairs;
	uint32_t	capacity;

	__device__ __forceinline__ void
	clear()
	{
		uint4	   *keys_out = reinterpret_cast<uint4 *>(slots);
		uint4	   *counts_out = reinterpret_cast<uint4 *>(counts);

		for (uint32_t i = threadIdx.x; i < pairs / 2; i += blockDim.x)
		{
			keys_out[i] = make_uint4(empty_slot, empty_slot, empty_slot, empty_slot);
			counts_out[i] = make_uint4(0, 0, 0, 0);
		}
		if (threadIdx.x == 0)
			*taken = 0;
		__syncthreads();
	}

	/* counts a key that may not be in the table yet */
	__device__ __forceinline__ void
	count_slowly(uint32_t key)
	{
		const uint32_t slot = take_slot(slots, pairs, capacity, taken, key,
										pair_of(key, pairs));

		if (slot != no_slot)
			atomicAdd(&counts[slot], 1u);
		else
			*const_cast<volatile uint32_t *>(taken) = overflow;
	}

	/*
	 * Counts a batch of keys.  The first probes of the batch are all issued before any result is
	 * used.  The few keys that need more probes are then taken one after the other, so that a
	 * warp pays for its unluckiest lane once per batch and not once per key.
	 */
	template <int VECTORS>
	__device__ __forceinline__ void
	count_batch(const int4 (&r)[VECTORS], uint32_t valid)
	{
		constexpr int batch = VECTORS * 4;
		uint32_t	key[batch];
		uint32_t	pair[batch];
		uint2		found[batch];
		uint32_t	missed = 0;

#pragma unroll
		for (int i = 0; i < VECTORS; i++)
		{
			key[i * 4] = static_cast<uint32_t>(r[i].x);
			key[i * 4 + 1] = static_cast<uint32_t>(r[i].y);
			key[i * 4 + 2] = static_cast<uint32_t>(r[i].z);
			key[i * 4 + 3] = static_cast<uint32_t>(r[i].w);
		}
#pragma unroll
		for (int i = 0; i < batch; i++)
		{
			pair[i] = pair_of(key[i], pairs);
			found[i] = reinterpret_cast<const uint2 *>(slots)[pair[i]];
		}
#pragma unroll
		for (int i = 0; i < batch; i++)
			if (valid >> i / 4 & 1)
			{
				const uint32_t slot = slot_in_pair(found[i], pair[i], key[i]);

				if (slot != no_slot)
					atomicAdd(&counts[slot], 1u);
				else
					missed |= 1u << i;
			}
		while (missed != 0)
		{
			const int	which = __ffs(missed) - 1;
			uint32_t	late = key[0];

			/* registers cannot be indexed */
#pragma unroll
			for (int i = 1; i < batch; i++)
				late = i == which ? key[i] : late;
			missed &= missed - 1;

			/* the key equal to empty_slot never comes here: its first probe always finds it */
			const uint32_t slot =
				find_slot(reinterpret_cast<const uint2 *>(slots), pairs, late);

			if (slot != no_slot)
				atomicAdd(&counts[slot], 1u);
			else
				count_slowly(late);
		}
	}
};

/* What sample_kernel has found. */
struct SampleReport
{
	RegimeSample values;
	uint32_t	skip;			/* what *skip was set to */
};

static constexpr int sample_items = FewDistinctTuning::sample / threads;

/*
 * Collects a stratified sample: one key at a pseudo-random place of each of `sampled` equal
 * parts, so that sorted and periodic inputs are seen as they are.  The places are the same in
 * every run, so that the choice can be repeated.  Many blocks share the work: one SM alone would
 * wait long for the many translations of addresses (28 us instead of 3).
 */
__global__ void
collect_sample_kernel(const int32_t *keys, uint64_t n, uint32_t sampled,
					  int32_t *sample)
{
	const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	const uint64_t part = n / sampled;
	const uint32_t jitter = (i * 0x9e3779b1u) ^ (i * 0x85ebca6bu >> 13);

	if (i < sampled)
		sample[i] = __ldg(keys + i * part + jitter % part);
}

/*
 * Counts the values of the sample, in one block: 4,096 keys are four a thread, and several blocks
 * would have to wait for each other.  The report is on its way to the host while the next kernels
 * run; they read *skip and do nothing if they are not needed.
 */
__global__ void __launch_bounds__(threads, 1)
sample_kernel(const int32_t *sample, uint32_t pairs, uint32_t sampled,
			  uint64_t n, uint64_t few_most, SampleReport *report, uint32_t *skip)
{
	extern __shared__ __align__(16) uint32_t memory[];
	__shared__ uint32_t taken;
	__shared__ SampleReport sums;
	BlockTable	table = {memory, memory + pairs * 2, &taken, pairs, pairs * 2};
	const uint32_t lane = threadIdx.x % 32;
	int32_t		key[sample_items];
	uint32_t	seen = 0;
	uint32_t	once = 0;
	uint32_t	twice = 0;
	uint32_t	thrice = 0;

#pragma unroll
	for (int j = 0; j < sample_items; j++)
	{
		const uint32_t i = j * threads + threadIdx.x;

		key[j] = sample[i < sampled ? i : 0];
	}
	if (threadIdx.x == 0)
		sums = {{sampled, 0, 0, 0, 0}, 0};
	/* Its barrier also makes sums visible to all threads.  There are twice as many slots as keys,
	 * so the table does not overflow. */
	table.clear();
#pragma unroll
	for (int j = 0; j < sample_items; j++)
		if (j * threads + threadIdx.x < sampled)
			table.count_slowly(static_cast<uint32_t>(key[j]));
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < pairs * 2; i += threads)
	{
		const uint32_t count = table.counts[i];

		seen += count != 0;
		once += count == 1;
		twice += count == 2;
		thrice += count == 3;
	}
	seen = warp_sum(seen);
	once = warp_sum(once);
	twice = warp_sum(twice);
	thrice = warp_sum(thrice);
	if (lane == 0)
	{
		atomicAdd(&sums.values.seen, seen);
		atomicAdd(&sums.values.once, once);
		atomicAdd(&sums.values.twice, twice);
		atomicAdd(&sums.values.thrice, thrice);
	}
	__syncthreads();
	/* to pinned memory: no copy to wait for */
	if (threadIdx.x == 0)
	{
		/* decided here and not on the host, for the kernels that are in the stream already */
		sums.skip = regime_distinct(&sums.values, n) <= static_cast<double>(few_most);
		*skip = sums.skip;
		*report = sums;
	}
}

/* Adds a block's table to the common one.  A slot newly taken is put on the list, from which
 * rank_kernel works. */
__device__ __forceinline__ void
merge_table(const uint32_t *table, const uint32_t *counts, uint32_t slots,
			const DistinctTable &all)
{
	/* blocks begin at different slots, because all of them have the same few values */
	const uint32_t turn = static_cast<uint32_t>(
		static_cast<uint64_t>(blockIdx.x) * slots / gridDim.x);
	const uint32_t reserved = slot_of(empty_slot, all.slots);

	for (uint32_t i = threadIdx.x; i < slots; i += blockDim.x)
	{
		const uint32_t from = i + turn < slots ? i + turn : i + turn - slots;
		const uint32_t count = counts[from];
		const uint32_t key = table[from];
		uint32_t	slot;
		bool		fresh = false;

		if (count == 0)
			continue;
		slot = slot_of(key, all.slots);
		if (key == empty_slot)
			fresh = atomicExch(&all.state->empty_listed, 1u) == 0;
		else
			for (;; slot = slot + 1 == all.slots ? 0 : slot + 1)
			{
				if (slot == reserved)
					continue;

				/* Most often another block has inserted the value, and a load costs less than an
				 * atomic.  The load bypasses L1, where a line may be older than the slot. */
				uint32_t	found = __ldcg(&all.keys[slot]);

				if (found == empty_slot)
				{
					found = atomicCAS(&all.keys[slot], empty_slot, key);
					fresh = found == empty_slot;
				}
				if (found == key || fresh)
					break;
				/* the table has four slots per value, so a full one means that the attempt was
				 * abandoned */
				if (*const_cast<volatile uint32_t *>(&all.state->abandoned))
					return;
			}
		if (fresh)
		{
			const uint32_t at = atomicAdd(&all.state->distinct, 1u);

			if (at >= all.capacity)
			{
				all.state->abandoned = 1;
				return;
			}
			all.list[at] = slot;
		}
		atomicAdd(&all.counts[slot], static_cast<unsigned long long>(count));
	}
}

/*
 * Counts all keys.  A block stops reading as soon as its own table overflows, so that a wrong
 * guess costs less than the reading of all keys.  The blocks' tables may also fit one by one and
 * not together; merge_table() finds this out.
 */
__global__ void __launch_bounds__(threads, 1)
count_distinct_kernel(const int32_t *keys, uint64_t n, uint32_t slots, DistinctTable all)
{
	extern __shared__ __align__(16) uint32_t memory[];
	__shared__ uint32_t taken;
	BlockTable	table = {memory, memory + slots, &taken, slots / 2, all.capacity};

	table.clear();
	/* A warp looks for an overflow between two rounds of loads.  Keys that come after an overflow
	 * are counted in vain; a test per key would cost all inputs more. */
	for_each_batch<FewDistinctTuning::vectors>(
		keys, n,
		[&](const int4 (&r)[FewDistinctTuning::vectors], uint32_t valid) {
			table.count_batch(r, valid);
		},
		[&](int32_t key) { table.count_slowly(static_cast<uint32_t>(key)); },
		[&] { return *const_cast<volatile uint32_t *>(&taken) >= overflow; });
	__syncthreads();
	/* the block has not counted all its keys, so its table is not added */
	if (taken >= overflow)
	{
		if (threadIdx.x == 0)
			all.state->abandoned = 1;
		return;
	}
	merge_table(table.slots, table.counts, slots, all);
}

/*
 * Ranks 32 values per block.  Each warp compares them, one per lane, with its share of all
 * values, four to a load that the whole warp shares.  All pairs of 8,192 values are 6.7e7
 * comparisons, a few us for the whole device; a sort would spend this on its launches alone.
 *
 * The launch is for the most values that there may be, because the host learns their number only
 * when the kernels are done.  Blocks behind the last value return.
 */
__global__ void __launch_bounds__(FewDistinctTuning::rank_threads)
rank_kernel(DistinctTable all, KeyMap map, int32_t *run_keys, uint64_t *counts,
			HpsortCudaVerdict *verdict)
{
	constexpr uint32_t warps = FewDistinctTuning::rank_threads / 32;
	constexpr uint32_t chunk = 4096;
	__shared__ __align__(16) uint32_t values[chunk];
	__shared__ uint32_t smaller[warps][32];

	wait_for_kernel_before();

	const uint32_t distinct = min(all.state->distinct, all.capacity);
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp = threadIdx.x / 32;
	const uint32_t mine = blockIdx.x * 32 + lane;

	if (blockIdx.x * 32 >= distinct || all.state->abandoned)
		return;

	const uint32_t slot = all.list[min(mine, distinct - 1)];
	const int32_t key = static_cast<int32_t>(all.keys[slot]);
	const uint32_t order = static_cast<uint32_t>(key) ^ 0x80000000u;
	uint32_t	rank = 0;

	for (uint32_t at = 0; at < distinct; at += chunk)
	{
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < chunk; i += FewDistinctTuning::rank_threads)
			/* padding, larger than every value or equal to it */
			values[i] = at + i < distinct ?
				all.keys[all.list[at + i]] ^ 0x80000000u : 0xffffffffu;
		__syncthreads();
#pragma unroll 8
		for (uint32_t i = warp; i < chunk / 4; i += warps)
		{
			const uint4 four = reinterpret_cast<const uint4 *>(values)[i];

			rank += four.x < order;
			rank += four.y < order;
			rank += four.z < order;
			rank += four.w < order;
		}
	}
	smaller[warp][lane] = rank;
	__syncthreads();
	if (warp == 0 && mine < distinct)
	{
		for (uint32_t w = 1; w < warps; w++)
			rank += smaller[w][lane];
		run_keys[rank] = key;
		counts[rank] = all.counts[slot];
		if (to_bin(map, key) > map.last)
			report_outside(verdict, key);
	}
}

/* Turns counts into starts, in place and by one block, as there are few.  Starts have 64 bits,
 * since they count keys.  Each thread carries the sum of the batches before in a register. */
__global__ void __launch_bounds__(FewDistinctTuning::rank_threads)
sum_kernel(DistinctTable all, uint64_t *counts)
{
	wait_for_kernel_before();

	const uint32_t distinct = min(all.state->distinct, all.capacity);
	uint64_t	before = 0;
	__shared__ uint64_t sums[FewDistinctTuning::rank_threads / 32];

	if (all.state->abandoned)
		return;
	for (uint32_t at = 0; at < distinct; at += FewDistinctTuning::rank_threads * 4)
	{
		const uint32_t i = at + threadIdx.x * 4;
		uint64_t	four[4];
		uint64_t	sum = 0;
		uint64_t	total;

#pragma unroll
		for (int j = 0; j < 4; j++)
		{
			four[j] = i + j < distinct ? counts[i + j] : 0;
			sum += four[j];
		}
		sum = before + block_exclusive_sum<FewDistinctTuning::rank_threads>(sum, sums, &total);
#pragma unroll
		for (int j = 0; j < 4; j++)
		{
			if (i + j < distinct)
				counts[i + j] = sum;
			sum += four[j];
		}
		before += total;
	}
	if (threadIdx.x == 0)
		counts[distinct] = before;
}

/* Raises the shared memory limits of this file's kernels. */
void
configure_few_distinct(const HpsortCudaLimits &limits)
{
	int			bytes = (regime_few_distinct_slots(&limits) & ~3u) * 2 * sizeof(uint32_t);

	allow_shared(sample_kernel, bytes);
	allow_shared(count_distinct_kernel, bytes);
}

/*
 * Two kernels; the report is in pinned memory, which needs no copy.  The buffers live as long as
 * the object, because kernels put on the stream later read skip(); they are given back in stream
 * order, behind these kernels.
 */
Sampling::Sampling(const SortInput &input, uint64_t few_most)
	: n_(input.n), report_(input.context, input.stream)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const uint64_t n = input.n;
	uint32_t	slots = regime_few_distinct_slots(&context->limits);
	uint32_t	sampled = FewDistinctTuning::sample;
	SampleReport *report = reinterpret_cast<SampleReport *>(report_.get());

	static_assert(sizeof(SampleReport) <= VerdictSlot::bytes, "it must fit");
	/* At most half full.  Not as large as possible, because the table has to be cleared. */
	if (slots > FewDistinctTuning::sample * 2)
		slots = FewDistinctTuning::sample * 2;
	slots &= ~3u;
	if (sampled > slots / 2)
		sampled = slots / 2;
	if (sampled > n)
		sampled = static_cast<uint32_t>(n);
	collected_ = DeviceBuffer(context, stream, sampled * sizeof(int32_t), "a sample");
	skip_ = DeviceBuffer(context, stream, sizeof(uint32_t), "a sample");
	collect_sample_kernel<<<(sampled + 127) / 128, 128, 0, stream>>>
		(input.keys, n, sampled, collected_.as<int32_t>());
	check_launch("sample the keys");
	sample_kernel<<<1, threads, slots * 2 * sizeof(uint32_t), stream>>>
		(collected_.as<int32_t>(), slots / 2, sampled, n, few_most, report, skip_.as<uint32_t>());
	check_launch("sample the keys");
	taken_.record(stream);
}

Sample
Sampling::result()
{
	const SampleReport *report = reinterpret_cast<SampleReport *>(report_.get());
	Sample		sample;

	taken_.wait("sample the keys");
	sample.distinct = static_cast<uint64_t>(regime_distinct(&report->values, n_) + 0.5);
	sample.skipped = report->skip != 0;
	return sample;
}

/*
 * Algorithm 5's C and iC of keys anywhere in 2^32.  All kernels are put on the stream
 * without a wait.  The one wait, at the end, brings the number of runs and whether the attempt
 * was abandoned.  Keys are read once; a block reads no further than to the overflow of its table.
 */
bool
few_distinct_runs(const SortInput &input, Runs *runs)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const uint32_t slots = regime_few_distinct_slots(&context->limits) & ~3u;
	DistinctTable all;
	DistinctState state;

	all.capacity = regime_few_distinct_capacity(&context->limits);
	all.slots = all.capacity * 4;

	DeviceBuffer memory(context, stream, regime_few_distinct_bytes(&context->limits),
						"a hash table");
	Carver		carver(memory);

	all.keys = carver.take<uint32_t>(all.slots);
	all.counts = carver.take<unsigned long long>(all.slots);
	all.list = carver.take<uint32_t>(all.capacity);
	all.state = carver.take<DistinctState>(1);
	check(cudaMemsetAsync(all.keys, 0xff, all.slots * sizeof(uint32_t), stream),
		  "clear a hash table");
	/* counts, list and state follow each other in the order of the take() calls above: one memset
	 * clears all three, though the list does not need it */
	check(cudaMemsetAsync(all.counts, 0,
						  reinterpret_cast<char *>(all.state + 1) -
						  reinterpret_cast<char *>(all.counts), stream),
		  "clear a hash table");
	/* a block per SM, whose shared memory the table fills */
	count_distinct_kernel<<<grid_blocks(context, input.n, threads * 16, 1), threads,
		slots * 2 * sizeof(uint32_t), stream>>>(input.keys, input.n, slots, all);
	check_launch("count the distinct values");
	/* for as many runs as there may be: their number is known too late */
	runs->allocate(context, stream, all.capacity);
	launch_behind(context, stream, rank_kernel, (all.capacity + 31) / 32,
				  FewDistinctTuning::rank_threads, 0, "rank the distinct values", all,
				  input.ascending_map(), runs->keys, runs->starts, input.verdict);
	launch_behind(context, stream, sum_kernel, 1, FewDistinctTuning::rank_threads, 0,
				  "sum up the distinct values", all, runs->starts);
	check(cudaMemcpyAsync(&state, all.state, sizeof(state), cudaMemcpyDeviceToHost, stream),
		  "read the number of distinct values");
	check(cudaStreamSynchronize(stream), "count the distinct values");
	if (state.abandoned)
	{
		*runs = Runs();
		return false;
	}
	runs->distinct = state.distinct;
	return true;
}

} /* namespace hpsort */
