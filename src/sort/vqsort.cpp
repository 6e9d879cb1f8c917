/*
 * vqsort.cpp
 *		Highway's vectorised quicksort behind a C function (see kernels.h).
 */
#include <hwy/contrib/sort/vqsort.h>

#include "sort/kernels.h"

namespace
{
/* Its scratch space, a few KiB, is allocated once a thread. */
const hwy::Sorter &
ThreadSorter()
{
	static thread_local hwy::Sorter sorter;

	return sorter;
}
}								/* namespace */

extern "C" void
vqsort_keys(int32_t *keys, size_t n, int descending)
{
	if (descending)
		ThreadSorter()(keys, n, hwy::SortDescending());
	else
		ThreadSorter()(keys, n, hwy::SortAscending());
}

extern "C" void
vqsort_pairs(uint64_t *pairs, size_t n)
{
	ThreadSorter()(pairs, n, hwy::SortAscending());
}

extern "C" void
vqsort_long_pairs(void *pairs, size_t n)
{
	ThreadSorter()(static_cast<hwy::uint128_t *>(pairs), n, hwy::SortAscending());
}
