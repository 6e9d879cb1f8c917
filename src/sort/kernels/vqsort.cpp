/*
 * vqsort.cpp
 *		Highway's vectorised quicksort behind a C function (see kernels.h).
 *
 * AMD's Zen 4 executes vpcompressd to memory, by which VQSort partitions int32
 * with AVX-512, in microcode: 1e7 random keys took 457 ms, with AVX2 64.  From
 * 1.0.4 on Highway has a target of its own for AMD, without that instruction
 * (39 ms; 1.3.0).  For an older one, of which only the AVX-512 code is in the
 * way, VQSort's AVX2 code is compiled here.
 */

/*
 * Of the targets of the code below: AVX2, and the one that is compiled for any
 * processor, which Highway cannot do without.  What libhwy_contrib has is not
 * concerned.
 */
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)

#include <hwy/targets.h>

#include "sort/kernels/kernels.h"

#if HWY_ARCH_X86 && !defined(HWY_AVX3_ZEN4)
#define COMPILE_AVX2 1
#else
#define COMPILE_AVX2 0
#endif

#if COMPILE_AVX2
#include <cpuid.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sort/kernels/vqsort.cpp"
#include <hwy/foreach_target.h>
#endif

/* After foreach_target.h, which has included this file once a target. */
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h>

#if COMPILE_AVX2
#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>

HWY_BEFORE_NAMESPACE();
namespace hpsort
{
namespace HWY_NAMESPACE
{
namespace hn = hwy::HWY_NAMESPACE;

template <class Order>
void
SortKeysTo(int32_t *keys, size_t n)
{
	/* x86 needs no scratch space from outside. */
	hn::Sort(hn::SortTag<int32_t>(), hn::detail::SharedTraits<hn::detail::TraitsLane<Order>>(),
			 keys, n, static_cast<int32_t *>(nullptr));
}

void
SortKeys(int32_t *keys, size_t n, int descending)
{
	if (descending)
		SortKeysTo<hn::detail::OrderDescending<int32_t>>(keys, n);
	else
		SortKeysTo<hn::detail::OrderAscending<int32_t>>(keys, n);
}

}								/* namespace HWY_NAMESPACE */
}								/* namespace hpsort */
HWY_AFTER_NAMESPACE();
#endif							/* COMPILE_AVX2 */

#if HWY_ONCE
/*
 * Highway's library measures the processor's timer when it is loaded, for its own benchmarks: 5 of
 * the 8 ms in which a session loads hpsort (libhwy 1.0.3, Intel Xeon).  The library's call comes
 * here, since symbols are looked for in hpsort.so before those libraries that it needs.
 */
namespace hwy
{
namespace platform
{
__attribute__((visibility("default"))) uint64_t
TimerResolution()
{
	return 1;
}
}
}

namespace hpsort
{
#if COMPILE_AVX2
HWY_EXPORT(SortKeys);

/*
 * Up to this many keys VQSort is a sorting network, which compresses nothing:
 * 256 keys take 0.64 us with AVX-512 and 1.02 with AVX2, 257 keys 1.81 and
 * 0.97, 1,000 keys 9.4 and 3.6 (Zen 4).
 */
static constexpr size_t kNetworkMax = 256;

/*
 * Whether this is Zen 4: AMD's family 19h, of which Zen 3 has no AVX-512.
 * Zen 5, family 1Ah, is fast at the instruction.
 */
static bool
IsZen4()
{
	unsigned	eax;
	unsigned	ebx;
	unsigned	ecx;
	unsigned	edx;

	if (!(hwy::SupportedTargets() & (HWY_AVX3 | HWY_AVX3_DL)))
		return false;
	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_AMD_ebx ||
		ecx != signature_AMD_ecx || edx != signature_AMD_edx)
		return false;
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return false;
	/* The family is the sum of two fields where the first is 0Fh. */
	return (eax >> 8 & 0xf) == 0xf && (eax >> 20 & 0xff) + 0xf == 0x19;
}
#endif

/* Its scratch space, a few KiB, is allocated once a thread. */
static const hwy::Sorter &
ThreadSorter()
{
	static thread_local hwy::Sorter sorter;

	return sorter;
}

extern "C"
{
void
vqsort_keys(int32_t *keys, size_t n, int descending)
{
#if COMPILE_AVX2
	static const bool zen4 = IsZen4();

	if (n > kNetworkMax && zen4)
	{
		vqsort_keys_avx2(keys, n, descending);
		return;
	}
#endif
	if (descending)
		ThreadSorter()(keys, n, hwy::SortDescending());
	else
		ThreadSorter()(keys, n, hwy::SortAscending());
}

void
vqsort_keys_avx2(int32_t *keys, size_t n, int descending)
{
#if COMPILE_AVX2
	HWY_DYNAMIC_DISPATCH(SortKeys)(keys, n, descending);
#else
	vqsort_keys(keys, n, descending);
#endif
}

void
vqsort_pairs(uint64_t *pairs, size_t n)
{
	ThreadSorter()(pairs, n, hwy::SortAscending());
}
}
}								/* namespace hpsort */
#endif
