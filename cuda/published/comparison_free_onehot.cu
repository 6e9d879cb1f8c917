/*-------------------------------------------------------------------------
 *
 * comparison_free_onehot.cu
 *	  The comparison-free sort, GPU method 1: multiply by a one-hot matrix.
 *
 * S. Abdel-hafeez, A. Gordon-Ross, S. Abubaker 2018, sections 3 and 5.1.  TM has a row for
 * each value and a column for each key.  Column k has its single one in the row of key k (their
 * equation 9).  A thread is a row, which it walks column by column (equation 11): it moves the key
 * of every column where it meets a one.  It meets them in the order of the input, so the sort is
 * stable, and payloads go along.  Equation 10, for distinct keys, multiplies each row with IN
 * instead; it gives the same result, took longer (6.7 ms where the walk takes 5.4), and is left
 * out.
 *
 * What had to be changed to make equation 11 right:
 *
 * - As printed it moves IN[i], i being the row, and steps i.  Here it moves the column's key and
 *   steps the place.
 * - It has one place for all rows, stepped once a column: the result would be the keys
 *   as they came.  Here each row has a place of its own, from the prefix sums on.  This also
 *   removes the barrier that guards the common place, which no grid of more than one block could
 *   keep.
 *
 * Memory: one byte for each value and key, N^2 if both are N.  Bytes moved per key: three times
 * the range.  An H100 walks the 4 GB of 65,536 distinct keys in 5.4 ms; method 2 and CUB take
 * 0.03.  2^18 keys take 64 GB.  The authors prefer method 2 themselves.
 *
 *-------------------------------------------------------------------------
 */
#include "common/device.cuh"
#include "published/published.cuh"

#include <algorithm>

namespace hpsort
{
namespace published
{

namespace
{

constexpr unsigned threads = 256;
constexpr uint64_t most_rows = 1u << 28;	/* of a launch; further rows are walked in turn */

/* Columns of a word of 16 bytes, and words between two readings of the stop word. */
constexpr uint32_t columns = 16;
constexpr uint64_t stop_words = stop_every / columns;

/* Returns the bytes of a row; rows begin on 16-byte boundaries. */
uint64_t
row_bytes(uint64_t n)
{
	return (n + columns - 1) / columns * columns;
}

/* The walk of a thread over the rows, one row at a time. */
struct RowWalk
{
	uint64_t	row = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * threads;
};

/* Returns whether the task is to end; looks every stop_words words of a row. */
__device__ __forceinline__ bool
stopped_at(uint64_t word, StopWord stop)
{
	return (word + 1) % stop_words == 0 && is_stopped(stop);
}

/* Returns the number of ones in 16 columns. */
__device__ __forceinline__ uint32_t
ones_of(const uint4 &e)
{
	return __popc(e.x) + __popc(e.y) + __popc(e.z) + __popc(e.w);
}

} /* namespace */

/* Initialization, equation 9: TM[N * IN[k] + k] = 1. */
__global__ void __launch_bounds__(threads)
one_hot_kernel(const uint32_t *in, uint64_t n, KeyMap map, uint64_t pitch,
			   uint8_t *tm, HpsortPublishedVerdict *verdict)
{
	const uint64_t k = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;

	if (k >= n)
		return;

	const int32_t key = static_cast<int32_t>(in[k]);
	const uint32_t bin = to_bin(map, key);

	if (bin > map.last)
		report_outside(&verdict->keys, key);
	else
		tm[bin * pitch + k] = 1;
}

/* Counts the ones of each row. */
__global__ void __launch_bounds__(threads)
ones_kernel(const uint8_t *tm, uint64_t pitch, uint64_t range, uint32_t *ones,
			StopWord stop)
{
	for (RowWalk at; at.row < range; at.row += at.step)
	{
		const uint4 *words = reinterpret_cast<const uint4 *>(tm + at.row * pitch);
		uint32_t	sum = 0;

		for (uint64_t w = 0; w < pitch / columns; w++)
		{
			sum += ones_of(words[w]);
			if (stopped_at(w, stop))
				return;
		}
		ones[at.row] = sum;
	}
}

/*
 * Evaluation, equation 11: moves the keys of a row's ones, in the order of the columns.  In a
 * word the lowest byte is the first column.
 */
__global__ void __launch_bounds__(threads)
walk_kernel(const uint8_t *tm, uint64_t pitch, uint64_t range, const uint32_t *ends,
			const uint32_t *in, const uint32_t *payload, uint32_t *so,
			uint32_t *payload_out, StopWord stop)
{
	for (RowWalk at; at.row < range; at.row += at.step)
	{
		const uint4 *words = reinterpret_cast<const uint4 *>(tm + at.row * pitch);
		const uint32_t end = ends[at.row];
		uint32_t	place = at.row > 0 ? ends[at.row - 1] : 0;

		/* a row without further ones reads nothing */
		for (uint64_t w = 0; w < pitch / columns && place < end; w++)
		{
			const uint4 e = words[w];
			const uint32_t four[4] = {e.x, e.y, e.z, e.w};

#pragma unroll
			for (uint32_t f = 0; f < 4; f++)
				for (uint32_t left = four[f]; left != 0; left &= left - 1)
				{
					const uint64_t k = w * columns + f * 4 + (__ffs(left) - 1) / 8;

					so[place] = in[k];
					if (payload != nullptr)
						payload_out[place] = payload[k];
					place++;
				}
			if (stopped_at(w, stop))
				return;
		}
	}
}

/* Saturates: n * range exceeds 64 bits only where no memory is large enough. */
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
	const unsigned blocks = blocks_for_each(std::min(range, most_rows), threads);
	DeviceBuffer memory(task.context, task.stream,
						array_bytes(range, pitch) + array_bytes(range, 4),
						"comparison_free_onehot");
	Carver		carver(memory);
	uint8_t	   *tm = carver.take<uint8_t>(range * pitch);
	uint32_t   *ones = carver.take<uint32_t>(range);

	task.clock->phase("initialize");
	zero(task.stream, tm, range * pitch);
	one_hot_kernel<<<blocks_for_each(task.n, threads), threads, 0, task.stream>>>
		(task.keys, task.n, task.map, pitch, tm, task.verdict);
	check_launch("make the one-hot matrix");
	step(task);
	task.clock->phase("evaluate");
	ones_kernel<<<blocks, threads, 0, task.stream>>>(tm, pitch, range, ones, task.stop);
	check_launch("count the ones");
	prefix_sums(task.context, task.stream, ones, ones, range);
	/* a stopped kernel leaves ones uncounted, and no row may be walked by their sums */
	if (task.stop != nullptr)
		check(cudaStreamSynchronize(task.stream), "count the ones");
	step(task);
	walk_kernel<<<blocks, threads, 0, task.stream>>>
		(tm, pitch, range, ones, task.keys, task.payload, task.out, task.payload_out,
		 task.stop);
	check_launch("walk the rows");
}

} /* namespace published */
} /* namespace hpsort */
