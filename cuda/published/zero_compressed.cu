/*-------------------------------------------------------------------------
 *
 * zero_compressed.cu
 *	  0-compressed H-P sort as published: empty bins are left out.
 *
 * S. Kozakai, N. Fujimoto, K. Wada 2021, Algorithms 4 and 5, Figs. 5 to 7; Kozakai 2022,
 * Figs. 3 to 5, for any lower bound.  The arrays keep the papers' names.  A01 marks the bins
 * that occur, and its prefix sums number them.  C and iC are their counts and values.  B has at
 * the first place of each value how much it is larger than the value before.  The prefix sums of
 * B are the result.
 *
 * The engine's own kernels (shared_histogram.cu, runs.cu) are this method without B: a place
 * finds its value by a search in C_p.
 *
 * Bytes moved: per key 4 read, one atomic on A, 12 for B and the output; per value of the range
 * 28; per distinct value 28.  The host waits once, for len.  What hp.cu says of current hardware
 * holds here, too; the compression saves the second histogram's atomics, which matter only where
 * the range is large and empty.
 *
 *-------------------------------------------------------------------------
 */
#include "published/histogram.cuh"

namespace hpsort
{
namespace published
{

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
