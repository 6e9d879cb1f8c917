/*-------------------------------------------------------------------------
 *
 * buckets.cu
 *	  The last step of regime PARTITION: each bucket's keys by their bins.
 *
 * A block counts a bucket's bins in shared memory, sums them up, and expands them to the bucket's
 * place of the output.  No atomic touches a bin in global memory; atomics there made the published
 * implementations slow.  Crowded buckets are the exception: a crowded bucket is cut into
 * segments, several blocks count them, their bins are added up in memory, and a second launch
 * expands them.  A skewed input therefore keeps all SMs busy.
 *
 *-------------------------------------------------------------------------
 */
#include "partition/steps.cuh"

namespace hpsort
{

/* Counts m residues into bins in shared memory, eight to a load.  Loads are streaming: no residue
 * is read twice, and the output that is written next needs the room in L2. */
template <int bucket_threads>
__device__ __forceinline__ void
count_residues(const uint16_t *__restrict__ residues, uint32_t m, uint32_t *bins)
{
	constexpr int vectors = 4;
	uint32_t	head = static_cast<uint32_t>(
		((16 - reinterpret_cast<uintptr_t>(residues) % 16) % 16) / 2);

	head = min(head, m);

	const uint4 *eights = reinterpret_cast<const uint4 *>(residues + head);
	const uint32_t count = (m - head) / 8;
	const uint32_t tail = m - head - count * 8;
	auto		use = [&](uint32_t two) {
		atomicAdd(&bins[two & 0xffff], 1u);
		atomicAdd(&bins[two >> 16], 1u);
	};

	for (uint32_t at = threadIdx.x; at < count; at += vectors * bucket_threads)
	{
		uint4		r[vectors];

#pragma unroll
		for (int i = 0; i < vectors; i++)
			if (at + i * bucket_threads < count)
				r[i] = __ldcs(eights + at + i * bucket_threads);
#pragma unroll
		for (int i = 0; i < vectors; i++)
			if (at + i * bucket_threads < count)
			{
				use(r[i].x);
				use(r[i].y);
				use(r[i].z);
				use(r[i].w);
			}
	}
	if (threadIdx.x < head)
		atomicAdd(&bins[residues[threadIdx.x]], 1u);
	if (threadIdx.x < tail)
		atomicAdd(&bins[residues[m - tail + threadIdx.x]], 1u);
}

/*
 * Turns counts into starts, in place: exclusive prefix sums plus base.  A thread takes four bins
 * at a time, so that 2^14 bins are eight rounds of 512 threads.  bins has one word more, for the
 * end of the last bin, which expand_block() needs.
 */
template <int bucket_threads>
__device__ __forceinline__ void
scan_bins(uint32_t *bins, uint32_t count, uint32_t base, uint32_t *sums)
{
	uint4	   *fours = reinterpret_cast<uint4 *>(bins);

	for (uint32_t at = 0; at < count / 4; at += bucket_threads)
	{
		const uint32_t i = at + threadIdx.x;
		uint4		four = i < count / 4 ? fours[i] : make_uint4(0, 0, 0, 0);
		uint32_t	start;
		uint32_t	total;

		start = base + block_exclusive_sum<bucket_threads>(
			four.x + four.y + four.z + four.w, sums, &total);
		if (i < count / 4)
			fours[i] = make_uint4(start, start + four.x, start + four.x + four.y,
								  start + four.x + four.y + four.z);
		base += total;
	}
	if (threadIdx.x == 0)
		bins[count] = base;
	__syncthreads();
}

/*
 * Threads of an SM that the compiler must leave registers for.  Without it, the kernel takes 40
 * registers on an H100, with which one block less fits.
 */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 750
static constexpr int threads_wanted = 1024;
#elif __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
static constexpr int threads_wanted = 2048;
#else
static constexpr int threads_wanted = 1536;
#endif

/*
 * Does what expand_block() does, for runs so short that fewer runs than lanes begin within a
 * warp's 128 outputs, and so that no lane searches.  Each lane takes one of the next 32 starts
 * and sets a bit at this output.  The number of bits up to an output is the number of its run.
 *
 * Lanes do search in two cases:
 *
 * - A run is empty, so that one bit stands for two starts.
 * - More than 32 runs begin.
 */
template <typename KeyOf>
__device__ __forceinline__ void
expand_short_runs(int32_t *__restrict__ out, uint32_t first, uint32_t end,
				  const uint32_t *starts, uint32_t m, KeyOf key_of)
{
#if __CUDA_ARCH__ >= 800
	constexpr uint32_t all = 0xffffffffu;
	constexpr uint32_t chunk = 128;
	constexpr uint32_t span = 8 * chunk;	/* outputs between two searches */
	const uint32_t lane = threadIdx.x % 32;

	if (first >= end)
		return;
	for (uint32_t t = first / span + threadIdx.x / 32; t < (end - 1) / span + 1;
		 t += blockDim.x / 32)
	{
		const uint32_t from = max(t * span, first);
		const uint32_t to = min(t * span + span, end);
		uint32_t	j = last_at_or_before(starts, 0u, m - 1, from);

		for (uint32_t at = from / chunk * chunk; at < to; at += chunk)
		{
			const uint32_t next = j + 1 + lane;
			/* not 0, because run j is the last one that begins at or before the outputs */
			const uint32_t bit = next <= m ? starts[next] - at : all;
			const uint32_t lower = __shfl_up_sync(all, bit, 1);
			const uint32_t inside = __ballot_sync(all, bit <= chunk);
			const uint32_t p = at + lane * 4;
			uint32_t	run[4];

			if (inside != all &&
				!__any_sync(all, lane > 0 && bit == lower && bit < chunk))
			{
				const uint32_t set = 1u << bit % 32;
				const uint32_t w0 = __reduce_or_sync(all, bit / 32 == 0 ? set : 0);
				const uint32_t w1 = __reduce_or_sync(all, bit / 32 == 1 ? set : 0);
				const uint32_t w2 = __reduce_or_sync(all, bit / 32 == 2 ? set : 0);
				const uint32_t w3 = __reduce_or_sync(all, bit / 32 == 3 ? set : 0);
				const uint32_t to1 = __popc(w0);
				const uint32_t to2 = to1 + __popc(w1);
				const uint32_t to3 = to2 + __popc(w2);
				const uint32_t mine = lane < 8 ? w0 : lane < 16 ? w1 : lane < 24 ? w2 : w3;
				const uint32_t below = lane < 8 ? 0 : lane < 16 ? to1 :
					lane < 24 ? to2 : to3;
				const uint32_t own = lane % 8 * 4;

				run[0] = j + below + __popc(mine & ((2u << own) - 1));
#pragma unroll
				for (uint32_t e = 1; e < 4; e++)
					run[e] = run[e - 1] + (mine >> (own + e) & 1);
				j += __popc(inside);
			}
			else
			{
				const uint32_t last = inside != all ? j + __popc(inside) :
					last_at_or_before(starts, j, m - 1, min(at + chunk, end - 1));

				run[0] = last_at_or_before(starts, j, last, max(p, from));
#pragma unroll
				for (uint32_t e = 1; e < 4; e++)
				{
					/* most often the same run or the next one */
					run[e] = run[e - 1];
					if (run[e] < last && starts[run[e] + 1] <= p + e)
					{
						run[e]++;
						if (run[e] < last && starts[run[e] + 1] <= p + e)
							run[e] = last_at_or_before(starts, run[e] + 1, last, p + e);
					}
				}
				j = last;
				__syncwarp();
			}
			if (p >= from && p + 4 <= to)
				__stcs(reinterpret_cast<int4 *>(out + p),
					   make_int4(key_of(run[0]), key_of(run[1]), key_of(run[2]),
								 key_of(run[3])));
			else
			{
#pragma unroll
				for (uint32_t e = 0; e < 4; e++)
					if (p + e >= from && p + e < to)
						out[p + e] = key_of(run[e]);
			}
		}
	}
#else
	expand_block(out, first, end, starts, m, key_of);
#endif
}

/*
 * Counts or expands one work item per block.
 *
 * - SECOND = false: counts an item's bins, and expands them unless the item is a segment of a
 *   crowded bucket.
 * - SECOND = true: expands the segments, from the sums of their bins.
 *
 * Items do not depend on each other.  On an H100, three blocks fit on an SM at 2^14 bins: while
 * one waits at a barrier, the others count or write.
 */
template <bool SECOND, int bucket_threads>
__global__ void
__launch_bounds__(bucket_threads, SECOND ? 0 : threads_wanted / bucket_threads)
bucket_kernel(const Plan *plan, const WorkItem *items, const uint32_t *starts,
			  const uint16_t *residues, KeyMap map, uint32_t shift,
			  uint32_t *crowded_bins, int32_t *out, Extents extents)
{
	extern __shared__ __align__(16) uint32_t bins[];
	__shared__ uint32_t scan_sums[bucket_threads / 32];
	const uint32_t count = 1u << shift;

	wait_for_kernel_before();
	if (blockIdx.x >= plan->items)
		return;

	const WorkItem item = items[blockIdx.x];
	const uint32_t bucket_start = starts[item.bucket];
	uint32_t   *sums = crowded_bins +
		(static_cast<uint64_t>(item.crowd - (item.crowd != 0)) << shift);

	if (SECOND)
	{
		if (item.crowd == 0)
			return;
		for (uint32_t i = threadIdx.x; i < count / 4; i += bucket_threads)
			reinterpret_cast<uint4 *>(bins)[i] =
				reinterpret_cast<const uint4 *>(sums)[i];
		__syncthreads();
	}
	else
	{
		for (uint32_t i = threadIdx.x; i < count / 4; i += bucket_threads)
			reinterpret_cast<uint4 *>(bins)[i] = make_uint4(0, 0, 0, 0);
		__syncthreads();

		/* one extent, or several if the bucket has more keys than its share */
		uint32_t	at = item.begin - bucket_start;
		const uint32_t end = item.end - bucket_start;

		while (at < end)
		{
			const uint32_t k = at / extents.size;
			const uint32_t from = at - k * extents.size;
			const uint32_t m = min(extents.size - from, end - at);

			count_residues<bucket_threads>(residues + extents.begin_of(item.bucket, k) + from, m,
										   bins);
			at += m;
		}
		__syncthreads();
		if (item.crowd != 0)
		{
			/* a bucket has few segments, so atomics on these words do not queue */
			for (uint32_t i = threadIdx.x; i < count; i += bucket_threads)
				if (bins[i] != 0)
					atomicAdd(&sums[i], bins[i]);
			return;
		}
	}

	/* Positions count from the 16-byte boundary before the bucket's place, so that starts have 32
	 * bits and vectors are aligned.  Neighbouring buckets share at most one vector. */
	int32_t    *place = out + bucket_start;
	const uint32_t phase =
		static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place) % 16 / 4);
	const uint32_t first_bin = item.bucket << shift;

	scan_bins<bucket_threads>(bins, count, phase, scan_sums);

	/* the mean number of keys of a bin; most runs have about this length, unless a few bins have
	 * most of the keys */
	const uint32_t run_length = (bins[count] - phase) >> shift;

	if (!SECOND && run_length >= PartitionTuning::short_least &&
		run_length < PartitionTuning::short_most)
	{
		expand_short_runs(place - phase, item.begin - bucket_start + phase,
						  item.end - bucket_start + phase, bins, count,
						  [&](uint32_t bin) { return to_key(map, first_bin + bin); });
		return;
	}
	expand_block(place - phase, item.begin - bucket_start + phase,
				 item.end - bucket_start + phase, bins, count,
				 [&](uint32_t bin) { return to_key(map, first_bin + bin); });
}

void
configure_buckets(const HpsortCudaLimits &limits)
{
	const uint64_t bytes = partition_allowance(limits);

	allow_shared(bucket_kernel<false, PartitionTuning::bucket_threads>, bytes);
	allow_shared(bucket_kernel<false, PartitionTuning::wide_threads>, bytes);
	allow_shared(bucket_kernel<true, PartitionTuning::wide_threads>, bytes);
}

/* Launches the first kernel, and the second if some bucket may be crowded.  Blocks without an
 * item return at once. */
template <int THREADS>
static void
launch(const SortInput &input, uint32_t shift, uint64_t most_items, bool crowded,
	   const PartitionArrays &arrays, int32_t *out)
{
	const HpsortCuda *context = input.context;
	const KeyMap map = input.map();
	const uint32_t blocks = static_cast<uint32_t>(most_items);
	const size_t bytes = ((static_cast<size_t>(1) << shift) + 4) * sizeof(uint32_t);

	launch_behind(context, input.stream, bucket_kernel<false, THREADS>, blocks, THREADS, bytes,
				  "sort the buckets", arrays.plan, arrays.items, arrays.starts, arrays.residues,
				  map, shift, arrays.crowded_bins, out, arrays.extents);
	if (crowded)
		launch_behind(context, input.stream,
					  bucket_kernel<true, PartitionTuning::wide_threads>, blocks,
					  PartitionTuning::wide_threads, bytes, "expand the crowded buckets",
					  arrays.plan, arrays.items, arrays.starts, arrays.residues, map, shift,
					  arrays.crowded_bins, out, arrays.extents);
}

void
sort_buckets(const SortInput &input, uint32_t shift, uint64_t most_items, bool crowded,
			 const PartitionArrays &arrays, int32_t *out)
{
	const size_t bytes = ((static_cast<size_t>(1) << shift) + 4) * sizeof(uint32_t);

	/* Where an SM has shared memory for one block only, the block is as wide as possible.  The
	 * limit of a block is about what the SM has. */
	if (2 * (bytes + PartitionTuning::block_reserve) > input.context->limits.shared_bytes)
		launch<PartitionTuning::wide_threads>(input, shift, most_items, crowded, arrays, out);
	else
		launch<PartitionTuning::bucket_threads>(input, shift, most_items, crowded, arrays, out);
}

} /* namespace hpsort */
