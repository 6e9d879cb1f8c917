/*-------------------------------------------------------------------------
 *
 * comparison_free_onehot.cu
 *	  The comparison-free sort, GPU method 1: multiply by a one-hot matrix.
 *
 * S. Abdel-hafeez, A. Gordon-Ross, S. Abubaker 2018, sections 3 and 5.1.  TM
 * has a row for each value and a column for each key; column i has its single
 * one in the row of key i.  Row by row, its ones times IN are the sorted keys.
 *
 * The authors' evaluate phase for repeated keys (their equation 11) lets all
 * threads walk the columns in step and share one counter.  Read literally it
 * yields the keys in input order; with rows in turn, one barrier a column and
 * a counter for the whole grid it would be a loop of a single step at a time.
 * Here the ones of each row are counted first; their prefix sums are that
 * counter's value at the start of each row, and rows no longer wait.
 *
 * Memory: one byte for each value and key, N^2 where both are N.  Bytes moved
 * per key: three times the range.  Today's hardware: an H100 walks the 4 GB of
 * 65,536 keys in 4.1 ms, where method 2 and CUB take 0.03; with 2^18 keys 64 GB
 * are gone.  The authors prefer method 2 themselves.
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

constexpr unsigned threads = 256;
constexpr unsigned most_blocks = 1u << 20;

/* Rows begin on 16-byte boundaries. */
uint64_t
row_bytes(uint64_t n)
{
	return (n + 15) / 16 * 16;
}

} /* namespace */

/* Initialization: TM[N * IN[i] + i] = 1. */
__global__ void __launch_bounds__(threads)
one_hot_kernel(const uint32_t *in, uint64_t n, KeyMap map, uint64_t pitch,
			   uint8_t *tm, HpsortPublishedVerdict *verdict)
{
	const uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;

	if (i >= n)
		return;

	const int32_t key = static_cast<int32_t>(in[i]);
	const uint32_t bin = to_bin(map, key);

	if (bin > map.last)
		report_outside(&verdict->keys, key);
	else
		tm[bin * pitch + i] = 1;
}

/* Evaluate, first half: the ones of each row. */
__global__ void __launch_bounds__(threads)
ones_kernel(const uint8_t *tm, uint64_t pitch, uint64_t range, uint32_t *ones)
{
	__shared__ uint32_t sum;

	for (uint64_t row = blockIdx.x; row < range; row += gridDim.x)
	{
		const uint4 *entries = reinterpret_cast<const uint4 *>(tm + row * pitch);
		uint32_t	mine = 0;

		if (threadIdx.x == 0)
			sum = 0;
		__syncthreads();
		for (uint64_t k = threadIdx.x; k < pitch / 16; k += threads)
		{
			const uint4 e = entries[k];

			mine += __popc(e.x) + __popc(e.y) + __popc(e.z) + __popc(e.w);
		}
		if (mine > 0)
			atomicAdd(&sum, mine);
		__syncthreads();
		if (threadIdx.x == 0)
			ones[row] = sum;
		/* the next row's zero must not overtake this row's sum */
		__syncthreads();
	}
}

/* Evaluate, second half: a row's ones times IN, from its place on. */
__global__ void __launch_bounds__(threads)
multiply_kernel(const uint8_t *tm, uint64_t pitch, uint64_t range,
				const uint32_t *ends, const uint32_t *in, uint32_t *so)
{
	__shared__ uint32_t next;

	for (uint64_t row = blockIdx.x; row < range; row += gridDim.x)
	{
		const uint4 *entries = reinterpret_cast<const uint4 *>(tm + row * pitch);
		const uint32_t start = row > 0 ? ends[row - 1] : 0;

		/* no ones, no read operation */
		if (ends[row] == start)
			continue;
		if (threadIdx.x == 0)
			next = start;
		__syncthreads();
		for (uint64_t k = threadIdx.x; k < pitch / 16; k += threads)
		{
			const uint4 e = entries[k];
			const uint32_t word[4] = {e.x, e.y, e.z, e.w};

#pragma unroll
			for (uint32_t w = 0; w < 4; w++)
				for (uint32_t left = word[w]; left != 0; left &= left - 1)
					so[atomicAdd(&next, 1)] =
						in[k * 16 + w * 4 + (__ffs(left) - 1) / 8];
		}
		__syncthreads();
	}
}

/* Saturates: n * range can exceed 64 bits only together with any memory. */
uint64_t
comparison_free_onehot_need(uint64_t range, uint64_t n)
{
	const uint64_t pitch = row_bytes(n);

	if (n == 0)
		return 0;
	if (range > (UINT64_MAX >> 1) / pitch)
		return UINT64_MAX;
	return array_bytes(range, pitch) + array_bytes(range, 4) +
		prefix_sums_need(range);
}

void
comparison_free_onehot_sort(const Task &task)
{
	const uint64_t pitch = row_bytes(task.n);
	const uint64_t range = task.range;
	DeviceBuffer memory(task.context, task.stream,
						array_bytes(range, pitch) + array_bytes(range, 4),
						"comparison_free_onehot");
	Carver		carver(memory);
	uint8_t	   *tm = carver.take<uint8_t>(range * pitch);
	uint32_t   *ones = carver.take<uint32_t>(range);
	const unsigned blocks =
		static_cast<unsigned>(range < most_blocks ? range : most_blocks);

	task.clock->phase("initialize");
	zero(task.stream, tm, range * pitch);
	one_hot_kernel<<<blocks_for_each(task.n, threads), threads, 0, task.stream>>>
		(task.keys, task.n, task.map, pitch, tm, task.verdict);
	check_launch("make the one-hot matrix");
	step(task);
	task.clock->phase("evaluate");
	ones_kernel<<<blocks, threads, 0, task.stream>>>(tm, pitch, range, ones);
	check_launch("count the ones");
	prefix_sums(task.context, task.stream, ones, ones, range);
	step(task);
	multiply_kernel<<<blocks, threads, 0, task.stream>>>(tm, pitch, range, ones,
														task.keys, task.out);
	check_launch("multiply");
}

} /* namespace published */
} /* namespace hpsort */
