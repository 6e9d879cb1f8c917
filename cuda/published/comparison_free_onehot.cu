/*-------------------------------------------------------------------------
 *
 * comparison_free_onehot.cu
 *	  The comparison-free sort, GPU method 1: multiply by a one-hot matrix.
 *
 * S. Abdel-hafeez, A. Gordon-Ross, S. Abubaker 2018, sections 3 and 5.1.  TM has a row for
 * each value and a column for each key.  Column k has its single one in the row of key k (their
 * equation 9).  A thread is a row.
 *
 * - Distinct keys (equation 10): a row's product with IN is its key.
 * - Any keys (equation 11): each thread walks the columns of its row in step with the others, and
 *   moves the key of every column where it meets a one.  It meets them in the order of the input,
 *   so the sort is stable, and payloads go along.
 *
 * What had to be changed to make the equations right:
 *
 * - Equation 10 writes SO[row], which is the key's place only if every value of the range occurs.
 *   Here the rows' ones are counted, and the prefix sums of the counts are the places.
 * - Equation 11 as printed moves IN[i], i being the row, and steps i.  Here it moves the column's
 *   key and steps the place.
 * - Equation 11 has one place for all rows, stepped once a column: the result would be the keys
 *   as they came.  Here each row has a place of its own, from the prefix sums on.  This also
 *   removes the barrier that guards the common place, which no grid of more than one block could
 *   keep.
 *
 * row_threads = 32 gives a warp to each row.  Its threads read 512 columns at a time and count
 * the ones before their own, which keeps the order.
 *
 * Memory: one byte for each value and key, N^2 if both are N.  Bytes moved per key: three times
 * the range.  An H100 walks the 4 GB of 65,536 distinct keys in 5.4 ms, with a warp a row in 3.5,
 * and multiplies in 6.7; method 2 and CUB take 0.03.  2^18 keys take 64 GB.  The authors prefer
 * method 2 themselves.
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
constexpr uint64_t most_blocks = 1u << 20;
constexpr uint32_t whole_warp = 0xffffffffu;

/* Columns of a word of 16 bytes, and words between two readings of the stop word. */
constexpr uint32_t columns = 16;
constexpr uint64_t stop_words = stop_every / columns;

/* Returns the bytes of a row; rows begin on 16-byte boundaries. */
uint64_t
row_bytes(uint64_t n)
{
	return (n + columns - 1) / columns * columns;
}

/* The walk of a group of `lanes` threads over the rows, one row at a time, and the number of this
 * thread in the group. */
template <unsigned lanes>
struct RowWalk
{
	uint64_t	row = (static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x) / lanes;
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * threads / lanes;
	const uint32_t lane = threadIdx.x % lanes;

	/* returns true for all threads of a row if the task is to end */
	__device__ __forceinline__ bool
	stopped(uint64_t word, StopWord stop) const
	{
		bool		over;

		if (stop == nullptr || (word / lanes + 1) % stop_words != 0)
			return false;
		over = is_stopped(stop);
		if constexpr (lanes > 1)
			over = __shfl_sync(whole_warp, over, 0);
		return over;
	}
};

/* Returns the sum over the threads of a row, for all of them. */
template <unsigned lanes>
__device__ __forceinline__ uint32_t
row_sum(uint32_t mine)
{
	for (unsigned s = lanes / 2; s > 0; s /= 2)
		mine += __shfl_xor_sync(whole_warp, mine, s);
	return mine;
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
template <unsigned lanes>
__global__ void __launch_bounds__(threads)
ones_kernel(const uint8_t *tm, uint64_t pitch, uint64_t range, uint32_t *ones,
			StopWord stop)
{
	for (RowWalk<lanes> at; at.row < range; at.row += at.step)
	{
		const uint4 *words = reinterpret_cast<const uint4 *>(tm + at.row * pitch);
		uint32_t	mine = 0;

		for (uint64_t first = 0; first < pitch / columns; first += lanes)
		{
			if (first + at.lane < pitch / columns)
				mine += ones_of(words[first + at.lane]);
			if (at.stopped(first, stop))
				return;
		}
		mine = row_sum<lanes>(mine);
		if (at.lane == 0)
			ones[at.row] = mine;
	}
}

/* Evaluation, equation 10: SO[place] = sum of TM[row * N + k] * IN[k].  A row of more than one is
 * a key that occurs more than once. */
template <unsigned lanes>
__global__ void __launch_bounds__(threads)
multiply_kernel(const uint8_t *tm, uint64_t pitch, uint64_t range, uint64_t n,
				const uint32_t *ends, const uint32_t *in, const uint32_t *payload,
				KeyMap map, uint32_t *so, uint32_t *payload_out,
				HpsortPublishedVerdict *verdict, StopWord stop)
{
	for (RowWalk<lanes> at; at.row < range; at.row += at.step)
	{
		const uint4 *words = reinterpret_cast<const uint4 *>(tm + at.row * pitch);
		const uint32_t place = at.row > 0 ? ends[at.row - 1] : 0;
		const uint32_t ones = ends[at.row] - place;
		uint32_t	key = 0;
		uint32_t	what = 0;

		if (ones == 0)
			continue;
		if (ones > 1)
		{
			/* any duplicate will do */
			verdict->duplicate = to_key(map, static_cast<uint32_t>(at.row));
			verdict->n_duplicate = 1;
			continue;
		}
		for (uint64_t first = 0; first < pitch / columns; first += lanes)
		{
			const uint64_t w = first + at.lane;

			if (w < pitch / columns)
			{
				const uint4 e = words[w];
				const uint32_t four[4] = {e.x, e.y, e.z, e.w};

#pragma unroll
				for (uint32_t c = 0; c < columns; c++)
				{
					const uint64_t k = w * columns + c;
					const uint32_t entry = four[c / 4] >> c % 4 * 8 & 0xff;

					/* the last word of a row may reach beyond it */
					if (k < n)
					{
						key += entry * in[k];
						if (payload != nullptr)
							what += entry * payload[k];
					}
				}
			}
			if (at.stopped(first, stop))
				return;
		}
		key = row_sum<lanes>(key);
		if (payload != nullptr)
			what = row_sum<lanes>(what);
		if (at.lane == 0)
		{
			so[place] = key;
			if (payload != nullptr)
				payload_out[place] = what;
		}
	}
}

/*
 * Evaluation, equation 11: moves the keys of a row's ones, in the order of the columns.  In a
 * word the lowest byte is the first column; in a step of several threads the first thread has the
 * first word.
 */
template <unsigned lanes>
__global__ void __launch_bounds__(threads)
walk_kernel(const uint8_t *tm, uint64_t pitch, uint64_t range, const uint32_t *ends,
			const uint32_t *in, const uint32_t *payload, uint32_t *so,
			uint32_t *payload_out, StopWord stop)
{
	for (RowWalk<lanes> at; at.row < range; at.row += at.step)
	{
		const uint4 *words = reinterpret_cast<const uint4 *>(tm + at.row * pitch);
		const uint32_t end = ends[at.row];
		uint32_t	j = at.row > 0 ? ends[at.row - 1] : 0;

		/* a row without further ones reads nothing */
		for (uint64_t first = 0; first < pitch / columns && j < end; first += lanes)
		{
			const uint64_t w = first + at.lane;
			const uint4 e = w < pitch / columns ? words[w] : make_uint4(0, 0, 0, 0);
			const uint32_t four[4] = {e.x, e.y, e.z, e.w};
			uint32_t	place = j;
			uint32_t	sum = ones_of(e);

			/* inclusive sums over the threads up to this one */
			if constexpr (lanes > 1)
			{
				const uint32_t mine = sum;

				for (unsigned s = 1; s < lanes; s *= 2)
				{
					const uint32_t before = __shfl_up_sync(whole_warp, sum, s);

					if (at.lane >= s)
						sum += before;
				}
				place += sum - mine;
				sum = __shfl_sync(whole_warp, sum, lanes - 1);
			}
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
			j += sum;
			if (at.stopped(first, stop))
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

namespace
{

/* Counts the ones, and evaluates equation 10 or 11. */
template <unsigned lanes>
void
evaluate(const Task &task, const uint8_t *tm, uint64_t pitch, uint32_t *ones)
{
	const uint64_t range = task.range;
	const uint64_t wanted = (range * lanes + threads - 1) / threads;
	const unsigned blocks =
		static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);

	ones_kernel<lanes><<<blocks, threads, 0, task.stream>>>(tm, pitch, range, ones,
														   task.stop);
	check_launch("count the ones");
	prefix_sums(task.context, task.stream, ones, ones, range);
	/* stopped kernels leave ones uncounted, and no row may be walked by their sums */
	if (task.stop != nullptr)
		check(cudaStreamSynchronize(task.stream), "count the ones");
	step(task);
	if (task.spec->distinct)
		multiply_kernel<lanes><<<blocks, threads, 0, task.stream>>>
			(tm, pitch, range, task.n, ones, task.keys, task.payload, task.map,
			 task.out, task.payload_out, task.verdict, task.stop);
	else
		walk_kernel<lanes><<<blocks, threads, 0, task.stream>>>
			(tm, pitch, range, ones, task.keys, task.payload, task.out,
			 task.payload_out, task.stop);
	check_launch("multiply");
}

} /* namespace */

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

	task.clock->phase("initialize");
	zero(task.stream, tm, range * pitch);
	one_hot_kernel<<<blocks_for_each(task.n, threads), threads, 0, task.stream>>>
		(task.keys, task.n, task.map, pitch, tm, task.verdict);
	check_launch("make the one-hot matrix");
	step(task);
	task.clock->phase("evaluate");
	if (task.spec->options.row_threads == 32)
		evaluate<32>(task, tm, pitch, ones);
	else
		evaluate<1>(task, tm, pitch, ones);
}

} /* namespace published */
} /* namespace hpsort */
