/*-------------------------------------------------------------------------
 *
 * comparison_free.cu
 *	  The comparison-free sort, GPU method 2: count, sum, sort.
 *
 * S. Abdel-hafeez, A. Gordon-Ross, S. Abubaker, "A comparison-free sorting algorithm on CPUs
 * and GPUs", 2018, section 5.2 and Fig. 7; src/sort/comparison_free.c has the method for CPUs.
 * 16,384 threads in blocks of 16, as they ran it, unless T and blk are given.
 *
 * CA counts each value.  IS counts the values of each thread's slice of the range.  The prefix
 * sums of IS (SA) tell each thread where its part of the result begins; it then writes its values
 * in order.
 *
 * Their one kernel relies on __syncthreads() between blocks, which CUDA does not promise; here
 * each phase is a kernel.  Values up to M > N are allowed, as in their section 6.4.
 *
 * Bytes moved: per key 4 read, two atomics, 4 written; per value of the range 8.  On current
 * hardware, half of each warp stays empty in blocks of 16, 16,384 threads are a sixteenth of an
 * H100, and neighbouring threads write far apart.  If one value is most of the input, one thread
 * writes it all: 334 ms for 2^26 equal keys on one H100, 551 on another (584 with other T).  2^26
 * different keys take 6.7 (CUB 1.1 and 1.4).
 *
 *-------------------------------------------------------------------------
 */
#include "common/device.cuh"
#include "published/published.cuh"

namespace hpsort
{
namespace published
{

namespace
{

constexpr unsigned authors_threads = 16;	/* T */
constexpr unsigned authors_blocks = 1024;	/* blk */
constexpr unsigned most_threads = 1024;
constexpr unsigned sum_threads = 1024;

/* The parameters.  Both are powers of two; the tree of the sum phase relies on this. */
struct Shape
{
	explicit Shape(const HpsortPublishedOptions &options)
		: threads(option_or(options.block_threads, authors_threads)),
		  blocks(option_or(options.blocks, authors_blocks)), workers(threads * blocks) {}

	uint32_t	threads;		/* T */
	uint32_t	blocks;			/* blk */
	uint32_t	workers;
};

} /* namespace */

/* Section 5.2.1, the count phase.  is[0] stays zero, so that the inclusive sums are where slices
 * start. */
__global__ void __launch_bounds__(most_threads)
count_phase_kernel(const uint32_t *in, uint64_t first, uint64_t n, KeyMap map,
				   uint32_t per_worker,
				   uint32_t *ca, uint32_t *is, HpsortPublishedVerdict *verdict)
{
	const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;

	for (uint64_t i = first + static_cast<uint64_t>(blockIdx.x) * blockDim.x +
		 threadIdx.x; i < n; i += stride)
	{
		const int32_t key = static_cast<int32_t>(in[i]);
		const uint32_t bin = to_bin(map, key);

		if (bin > map.last)
		{
			report_outside(&verdict->keys, key);
			continue;
		}
		atomicAdd(&ca[bin], 1);
		atomicAdd(&is[bin / per_worker + 1], 1);
	}
}

/*
 * Section 5.2.2, the parallel prefix-tree adder: sums of pairs, of pairs of pairs, and so on
 * upwards; then downwards for the elements left out.  It has one block, for its barrier.  Indexes
 * have 64 bits: with 2^22 threads the last products pass 2^32, and the loops would not end.
 */
__global__ void __launch_bounds__(sum_threads)
sum_phase_kernel(uint32_t *is, uint32_t workers)
{
	const uint32_t size = workers + 1;

	for (uint64_t stride = 1; stride < size; stride *= 2)
	{
		for (uint64_t t = threadIdx.x; (t + 1) * stride * 2 - 1 < size;
			 t += sum_threads)
		{
			const uint64_t index = (t + 1) * stride * 2 - 1;

			is[index] += is[index - stride];
		}
		__syncthreads();
	}
	for (uint64_t stride = workers / 2; stride > 0; stride /= 2)
	{
		for (uint64_t t = threadIdx.x; (t + 1) * stride * 2 - 1 + stride < size;
			 t += sum_threads)
		{
			const uint64_t index = (t + 1) * stride * 2 - 1;

			is[index + stride] += is[index];
		}
		__syncthreads();
	}
}

/*
 * Section 5.2.3, the sort phase.  The authors count CA down in memory; here a register counts.  A
 * thread may have the whole result to write, 4 to 8 ns a key, and so reads the stop word now and
 * then.  block_threads is T if the compiler knows it, which unrolls the loop that writes (8 ns a
 * key without); 0: the launch's number.
 */
template <unsigned block_threads>
__global__ void __launch_bounds__(block_threads > 0 ? block_threads : most_threads)
sort_phase_kernel(const uint32_t *ca, const uint32_t *sa, uint64_t range,
				  uint32_t per_worker, KeyMap map, uint32_t *so, StopWord stop)
{
	const uint32_t worker = blockIdx.x *
		(block_threads > 0 ? block_threads : blockDim.x) + threadIdx.x;
	const uint64_t first = static_cast<uint64_t>(worker) * per_worker;
	const uint64_t end = first + per_worker < range ? first + per_worker : range;
	uint32_t	at = sa[worker];
	uint32_t	until_look = stop_every;

	for (uint64_t value = first; value < end; value++)
	{
		const uint32_t key =
			static_cast<uint32_t>(to_key(map, static_cast<uint32_t>(value)));

		for (uint32_t left = ca[value]; left > 0;)
		{
			const uint32_t now = left < until_look ? left : until_look;

			for (uint32_t k = 0; k < now; k++)
				so[at + k] = key;
			at += now;
			left -= now;
			until_look -= now;
			if (until_look > 0)
				continue;
			until_look = stop_every;
			if (is_stopped(stop))
				return;
		}
	}
}

uint64_t
comparison_free_need(const HpsortPublishedOptions &options, uint64_t range)
{
	return array_bytes(range, 4) + array_bytes(Shape(options).workers + 1, 4);
}

void
comparison_free_sort(const Task &task)
{
	const Shape shape(task.spec->options);
	const uint32_t workers = shape.workers;
	DeviceBuffer memory(task.context, task.stream,
						comparison_free_need(task.spec->options, task.range),
						"comparison_free");
	Carver		carver(memory);
	uint32_t   *ca = carver.take<uint32_t>(task.range);
	uint32_t   *is = carver.take<uint32_t>(workers + 1);
	const uint32_t per_worker =
		static_cast<uint32_t>((task.range + workers - 1) / workers);

	task.clock->phase("count");
	zero(task.stream, ca, task.range * sizeof(uint32_t));
	zero(task.stream, is, (workers + 1) * sizeof(uint32_t));
	in_steps(task, task.n, [&](uint64_t first, uint64_t count) {
		count_phase_kernel<<<shape.blocks, shape.threads, 0, task.stream>>>
			(task.keys, first, first + count, task.map, per_worker, ca, is,
			 task.verdict);
		check_launch("count");
	});
	step(task);
	task.clock->phase("sum");
	sum_phase_kernel<<<1, sum_threads, 0, task.stream>>>(is, workers);
	check_launch("sum up");
	task.clock->phase("sort");
	if (shape.threads == authors_threads)
		sort_phase_kernel<authors_threads><<<shape.blocks, shape.threads, 0, task.stream>>>
			(ca, is, task.range, per_worker, task.map, task.out, task.stop);
	else
		sort_phase_kernel<0><<<shape.blocks, shape.threads, 0, task.stream>>>
			(ca, is, task.range, per_worker, task.map, task.out, task.stop);
	check_launch("write the keys");
}

} /* namespace published */
} /* namespace hpsort */
