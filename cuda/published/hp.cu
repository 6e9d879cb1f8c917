/*-------------------------------------------------------------------------
 *
 * hp.cu
 *	  The H-P sorts, by histogram and prefix sums: H-P, 1-H-P for distinct keys, and 0-compressed
 *	  H-P, which leaves out empty bins.
 *
 * S. Kozakai, N. Fujimoto, K. Wada, "Efficient GPU-Implementation for Integer Sorting Based on
 * Histogram and Prefix-Sums", 2021, Algorithms 1 to 5; S. Kozakai 2022 for any lower bound
 * (minVal).  The arrays keep the papers' names.
 *
 * A counts the keys of each value; A_p are its prefix sums.
 *
 * - H-P (Algorithm 2): A_p says where the keys of the next value start.  B counts how many values
 *   start at each place; therefore the prefix sums of B are the sorted keys.
 * - 1-H-P (Algorithm 3, Fig. 4): where A_p steps up, its value before the step is the place of the
 *   value that stepped.  A step of more than one is a key that occurs more than once.  The authors
 *   assume that there is none; here it is an error that names the key.
 * - 0-compressed H-P (Algorithms 4 and 5, Figs. 5 to 7; 2022, Figs. 3 to 5): A01 marks the bins
 *   that occur, and its prefix sums number them.  C and iC are their counts and values.  B has at
 *   the first place of each value how much it is larger than the value before.  The prefix sums of
 *   B are the result.  The engine's own kernels (shared_histogram.cu, runs.cu) are this method
 *   without B: a place finds its value by a search in C_p.
 *
 * Subroutine Histogram (Algorithm 1, Fig. 3 of 2021, Fig. 1 of 2022) has one thread for each datum,
 * and one atomic addition in global memory each.  A barrier keeps load and atomic apart, which the
 * authors measured to help on a Tesla K40c.  Two things are ours:
 *
 * - A functor finds the bin, so that keys are checked against the bounds on the way.
 * - Blocks that reach over the end keep all threads until the barrier.
 *
 * Bytes moved per key, with one atomic on A (32 bytes of L2 traffic each way), and per value of the
 * range:
 *	H-P				4 read, 12 for B and the output; 16, and one atomic on B
 *	1-H-P			4 read, 4 written at random unless the range is dense; 16
 *	0-compressed	4 read, 12 for B and the output; 28, and 28 per distinct value
 *
 * On current hardware, an atomic on a line in HBM costs more than the whole share of a radix
 * pass, and atomics on few addresses queue up in L2: 22 ms for 1e8 keys of 100 values on an H100,
 * where CUB takes 0.6.  Bins in shared memory, as in the engine's own kernels, avoid both.  The
 * compression saves the second histogram's atomics, which matter only where the range is large and
 * empty.  Up to a million keys are in L2, and only launches count, of which CUB needs more.
 *
 *-------------------------------------------------------------------------
 */
#include "common/device.cuh"
#include "published/published.cuh"

namespace hpsort
{
namespace published
{

/* The most threads of a block; as published it has 256. */
static constexpr unsigned hp_most_threads = 1024;

/* One thread for each thing, in blocks of the task's size. */
struct HpGrid
{
	HpGrid(const Task &task, uint64_t things)
		: threads(option_or(task.spec->options.block_threads, 256)),
		  blocks(blocks_for_each(things, threads)) {}

	unsigned	threads;
	unsigned	blocks;
};

/*
 * The bin of key i: x[i] - minVal, in the order asked for.  Keys outside the bounds are reported.
 */
struct KeyBin
{
	const uint32_t *keys;
	KeyMap		map;
	HpsortPublishedVerdict *verdict;

	__device__ __forceinline__ bool
	operator()(uint64_t i, uint32_t *bin) const
	{
		const int32_t key = static_cast<int32_t>(keys[i]);

		*bin = to_bin(map, key);
		if (*bin <= map.last)
			return true;
		report_outside(&verdict->keys, key);
		return false;
	}
};

/* The bin of a datum that is a bin already, as the values of A_p in Algorithm 2 are. */
struct PlainBin
{
	const uint32_t *data;

	__device__ __forceinline__ bool
	operator()(uint64_t i, uint32_t *bin) const
	{
		*bin = data[i];
		return true;
	}
};

/* Adds `each` to the bins of data first to n - 1. */
template <typename BinOf>
__global__ void __launch_bounds__(hp_most_threads)
count_kernel(uint64_t first, uint64_t n, BinOf bin_of, uint32_t *hist,
			 uint32_t each)
{
	const uint64_t i = first + static_cast<uint64_t>(blockIdx.x) * blockDim.x +
		threadIdx.x;
	uint32_t	bin = 0;
	const bool	counts = i < n && bin_of(i, &bin);

	__syncthreads();
	if (counts)
		atomicAdd(&hist[bin], each);
}

/* Counts n data into hist, which is zeroed first.  `each` is what one occurrence adds: 1, or -1
 * where values descend. */
template <typename BinOf>
void
histogram(const Task &task, const BinOf &bin_of, uint64_t n, uint32_t *hist,
		  uint64_t bins, uint32_t each = 1)
{
	zero(task.stream, hist, bins * sizeof(uint32_t));
	in_steps(task, n, [&](uint64_t first, uint64_t count) {
		const HpGrid grid(task, count);

		count_kernel<<<grid.blocks, grid.threads, 0, task.stream>>>
			(first, first + count, bin_of, hist, each);
		check_launch("count");
	});
	step(task);
}

/* ---- H-P ---- */

uint64_t
hp_need(uint64_t range, uint64_t n)
{
	return 2 * array_bytes(range, 4) + array_bytes(n + 1, 4) +
		prefix_sums_need(range > n ? range : n);
}

/* Keys outside the bounds are in no bin.  Fewer than n places then start something and the output
 * is short of keys, but everything stays within its array. */
void
hp_sort(const Task &task)
{
	const uint64_t n = task.n;
	const uint64_t range = task.range;
	const uint32_t first = static_cast<uint32_t>(task.spec->descending ?
												 task.spec->hi : task.spec->lo);
	DeviceBuffer memory(task.context, task.stream,
						2 * array_bytes(range, 4) + array_bytes(n + 1, 4), "hp");
	Carver		carver(memory);
	uint32_t   *a = carver.take<uint32_t>(range);
	uint32_t   *a_p = carver.take<uint32_t>(range);
	uint32_t   *b = carver.take<uint32_t>(n + 1);

	task.clock->phase("histogram");
	histogram(task, KeyBin{task.keys, task.map, task.verdict}, n, a, range);
	task.clock->phase("prefix sums");
	prefix_sums(task.context, task.stream, a, a_p, range);
	step(task);
	task.clock->phase("second histogram");
	histogram(task, PlainBin{a_p}, range, b, n + 1,
			  task.spec->descending ? static_cast<uint32_t>(-1) : 1u);
	task.clock->phase("second prefix sums");
	prefix_sums(task.context, task.stream, b, task.out, n, first);
}

/* ---- 1-H-P ---- */

/*
 * The tail: writes each value where A_p steps up to its place, and reports a step of more than
 * one.
 */
__global__ void __launch_bounds__(hp_most_threads)
tail_kernel(uint64_t range, const uint32_t *a_p, KeyMap map, uint32_t *y,
			HpsortPublishedVerdict *verdict)
{
	const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	uint32_t	before;
	uint32_t	here;

	if (i >= range)
		return;
	before = i > 0 ? a_p[i - 1] : 0;
	here = a_p[i];
	if (here == before)
		return;
	y[before] = static_cast<uint32_t>(to_key(map, static_cast<uint32_t>(i)));
	if (here - before > 1)
	{
		/* any duplicate will do */
		verdict->duplicate = to_key(map, static_cast<uint32_t>(i));
		verdict->n_duplicate = 1;
	}
}

uint64_t
one_hp_need(uint64_t range, uint64_t n)
{
	(void) n;
	return 2 * array_bytes(range, 4) + prefix_sums_need(range);
}

void
one_hp_sort(const Task &task)
{
	const uint64_t range = task.range;
	DeviceBuffer memory(task.context, task.stream, 2 * array_bytes(range, 4),
						"one_hp");
	Carver		carver(memory);
	uint32_t   *a = carver.take<uint32_t>(range);
	uint32_t   *a_p = carver.take<uint32_t>(range);

	const HpGrid grid(task, range);

	task.clock->phase("histogram");
	histogram(task, KeyBin{task.keys, task.map, task.verdict}, task.n, a, range);
	task.clock->phase("prefix sums");
	prefix_sums(task.context, task.stream, a, a_p, range);
	step(task);
	task.clock->phase("tail");
	tail_kernel<<<grid.blocks, grid.threads, 0, task.stream>>>
		(range, a_p, task.map, task.out, task.verdict);
	check_launch("place the keys");
}

/* ---- 0-compressed H-P ---- */

/* Algorithm 5, lines 2 and 3. */
__global__ void __launch_bounds__(hp_most_threads)
binarize_kernel(uint64_t range, const uint32_t *a, uint32_t *a01)
{
	const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;

	if (i < range)
		a01[i] = a[i] > 0;
}

/*
 * Algorithm 5, lines 10 to 14.  The authors' barrier is inside a branch, which CUDA does not
 * allow; here the whole block reaches it.  iC holds keys and no bins, so everything after this
 * works in either direction.
 */
__global__ void __launch_bounds__(hp_most_threads)
compress_kernel(uint64_t range, const uint32_t *a, const uint32_t *a01_p,
				KeyMap map, uint32_t *c, uint32_t *ic)
{
	const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	const uint32_t count = i < range ? a[i] : 0;
	const uint32_t j = count > 0 ? a01_p[i] : 0;

	__syncthreads();
	if (count > 0)
	{
		c[j] = count;
		ic[j] = static_cast<uint32_t>(to_key(map, static_cast<uint32_t>(i)));
	}
}

/* Algorithm 5, lines 16 and 17: B[C_p[j]] = iC[j + 1] - iC[j]; all other places are zero. */
__global__ void __launch_bounds__(hp_most_threads)
steps_kernel(uint32_t len, const uint32_t *c_p, const uint32_t *ic, uint32_t *b)
{
	const uint32_t j = blockIdx.x * blockDim.x + threadIdx.x;
	const uint32_t place = j < len ? c_p[j] : 0;

	__syncthreads();
	if (j < len)
		b[place] = ic[j + 1] - ic[j];
}

uint64_t
zero_compressed_need(uint64_t range, uint64_t n)
{
	return 3 * array_bytes(range, 4) + 4 * array_bytes(n + 1, 4) +
		prefix_sums_need(range > n ? range : n);
}

/* C, iC and C_p have n + 1 places, as the authors chose, since len <= n. */
void
zero_compressed_sort(const Task &task)
{
	const uint64_t n = task.n;
	const uint64_t range = task.range;
	DeviceBuffer memory(task.context, task.stream,
						3 * array_bytes(range, 4) + 4 * array_bytes(n + 1, 4),
						"zero_compressed_published");
	Carver		carver(memory);
	uint32_t   *a = carver.take<uint32_t>(range);
	uint32_t   *a01 = carver.take<uint32_t>(range);
	uint32_t   *a01_p = carver.take<uint32_t>(range);
	uint32_t   *c = carver.take<uint32_t>(n + 1);
	uint32_t   *c_p = carver.take<uint32_t>(n + 1);
	uint32_t   *ic = carver.take<uint32_t>(n + 1);
	uint32_t   *b = carver.take<uint32_t>(n + 1);
	const HpGrid values(task, range);
	uint32_t	len = 0;

	task.clock->phase("histogram");
	histogram(task, KeyBin{task.keys, task.map, task.verdict}, n, a, range);
	task.clock->phase("compress");
	binarize_kernel<<<values.blocks, values.threads, 0, task.stream>>>(range, a, a01);
	check_launch("mark the values");
	prefix_sums(task.context, task.stream, a01, a01_p, range);
	check(cudaMemcpyAsync(&len, a01_p + range - 1, sizeof(len),
						  cudaMemcpyDeviceToHost, task.stream),
		  "read the number of values");
	compress_kernel<<<values.blocks, values.threads, 0, task.stream>>>
		(range, a, a01_p, task.map, c, ic);
	check_launch("compress the histogram");
	check(cudaStreamSynchronize(task.stream), "compress the histogram");
	step(task);
	zero(task.stream, b, n * sizeof(uint32_t));
	if (len == 0)
		return;					/* no key is within the bounds */
	task.clock->phase("steps");
	zero(task.stream, c_p, sizeof(uint32_t));
	zero(task.stream, ic, sizeof(uint32_t));
	prefix_sums(task.context, task.stream, c + 1, c_p + 1, len);

	const HpGrid places(task, len);

	steps_kernel<<<places.blocks, places.threads, 0, task.stream>>>
		(len, c_p, ic, b);
	check_launch("make the steps");
	step(task);
	task.clock->phase("prefix sums");
	prefix_sums(task.context, task.stream, b, task.out, n);
}

} /* namespace published */
} /* namespace hpsort */
