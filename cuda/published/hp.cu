/*-------------------------------------------------------------------------
 *
 * hp.cu
 *	  H-P sort: histogram, prefix sums, histogram, prefix sums.
 *
 * S. Kozakai, N. Fujimoto, K. Wada, "Efficient GPU-Implementation for Integer Sorting Based on
 * Histogram and Prefix-Sums", 2021, Algorithms 1 and 2; S. Kozakai 2022 for any lower bound
 * (minVal).  The arrays keep the papers' names.
 *
 * A counts the keys of each value.  A_p, its prefix sums, says where the keys of the next value
 * start.  B counts how many values start at each place; therefore the prefix sums of B are the
 * sorted keys.
 *
 * Bytes moved: per key 4 read, one atomic on A (32 bytes of L2 traffic each way), 12 for B and
 * the output; per value of the range 16, and one atomic on B.
 *
 * On current hardware, an atomic on a line in HBM costs more than the whole share of a radix
 * pass, and atomics on few addresses queue up in L2: 22 ms for 1e8 keys of 100 values on an H100,
 * where CUB takes 0.6.  Bins in shared memory, as in the engine's own kernels, avoid both.
 *
 *-------------------------------------------------------------------------
 */
#include "published/histogram.cuh"

namespace hpsort
{
namespace published
{

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

} /* namespace published */
} /* namespace hpsort */
