/*-------------------------------------------------------------------------
 *
 * radix.cu
 *	  The peer of all published algorithms: CUB's radix sort.
 *
 * cub::DeviceRadixSort (Adinets, Merrill, "Onesweep", 2022), given nothing but the number of low
 * bits in which the bounds differ.  It is stable, so with row numbers as the payload it gives the
 * permutation.  The engine's regime RADIX has kernels of its own and is no peer of them.
 *
 * Bytes moved per key: 4, and 8 for each 8 bits (16 with a payload); 4 more to check bounds.  On
 * an H100, 1e8 keys of 32 bits take 1.95 ms, a little more than half of the bandwidth and
 * independent of the keys; with a payload 3.3.
 *
 *-------------------------------------------------------------------------
 */
#include <cub/device/device_radix_sort.cuh>

#include "common/device.cuh"
#include "published/published.cuh"

namespace hpsort
{
namespace published
{

namespace
{

constexpr unsigned threads = 512;

} /* namespace */

/* CUB does not check bounds: reports a key outside them. */
__global__ void __launch_bounds__(threads)
check_bounds_kernel(const int32_t *keys, uint64_t n, KeyMap map,
					HpsortPublishedVerdict *verdict)
{
	for_each_key<4>(keys, n, [&](int32_t key) {
		if (to_bin(map, key) > map.last)
			report_outside(&verdict->keys, key);
	});
}

uint64_t
radix_need(bool payload, uint64_t n)
{
	return regime_radix_bytes(n, payload ? 4 : 0) + 1024;
}

void
radix_peer_sort(const Task &task)
{
	const HpsortPublishedSpec &spec = *task.spec;
	const int32_t *keys = reinterpret_cast<const int32_t *>(task.keys);
	int32_t    *out = reinterpret_cast<int32_t *>(task.out);
	const uint32_t n = static_cast<uint32_t>(task.n);
	const uint32_t differ = static_cast<uint32_t>(spec.lo) ^
		static_cast<uint32_t>(spec.hi);
	const int	bits = !spec.bounds_known ? 32 : differ == 0 ? 1 :
		static_cast<int>(regime_bits(differ));
	size_t		bytes = 0;
	auto		call = [&](void *workspace) {
		if (task.payload != nullptr)
			return spec.descending ?
				cub::DeviceRadixSort::SortPairsDescending(workspace, bytes, keys, out,
														  task.payload,
														  task.payload_out, n, 0,
														  bits, task.stream) :
				cub::DeviceRadixSort::SortPairs(workspace, bytes, keys, out,
												task.payload, task.payload_out, n,
												0, bits, task.stream);
		return spec.descending ?
			cub::DeviceRadixSort::SortKeysDescending(workspace, bytes, keys, out, n,
													 0, bits, task.stream) :
			cub::DeviceRadixSort::SortKeys(workspace, bytes, keys, out, n, 0, bits,
										   task.stream);
	};

	task.clock->phase("radix sort");
	if (spec.bounds_known)
	{
		check_bounds_kernel<<<task.context->limits.sms * 2, threads, 0,
			task.stream>>>(keys, n, task.map, task.verdict);
		check_launch("check the bounds");
	}
	check(call(nullptr), "size a radix sort");

	DeviceBuffer workspace(task.context, task.stream, bytes, "radix");

	step(task);

	check(call(workspace.as<void>()), "sort by radix");
}

} /* namespace published */
} /* namespace hpsort */
