/*-------------------------------------------------------------------------
 *
 * one_hp.cu
 *	  1-H-P sort: one histogram and one prefix sum, for distinct keys.
 *
 * S. Kozakai, N. Fujimoto, K. Wada 2021, Algorithm 3 and Fig. 4; Kozakai 2022, Fig. 2, for
 * any lower bound.  Where A_p steps up, its value before the step is the place of the value that
 * stepped.
 *
 * A step of more than one is a key that occurs more than once.  The authors assume that there is
 * none; here it is an error that names the key.
 *
 * Bytes moved: per key 4 read, one atomic, 4 written at random unless the range is dense; per
 * value of the range 16.  On current hardware, up to a million keys are in L2 and only launches
 * count, of which CUB needs more.
 *
 *-------------------------------------------------------------------------
 */
#include "published/histogram.cuh"

namespace hpsort
{
namespace published
{

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

} /* namespace published */
} /* namespace hpsort */
