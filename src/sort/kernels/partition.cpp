/*
 * partition.cpp
 *		The partition step of a vectorised quicksort, for arrays that are too
 *		large to leave to VQSort in one call (see wide.h).
 *
 * In place, as in Blacher, Giesen and Wassenberg: both ends are read ahead
 * into a buffer, so that there is always room to write a block's two halves to
 * either side; the next block comes from the side with less room.
 */
#include "sort/kernels/kernels.h"

#include <string.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sort/kernels/partition.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sort/kernels/kernel_export.h"

HWY_BEFORE_NAMESPACE();
namespace hpsort
{
namespace HWY_NAMESPACE
{
namespace hn = hwy::HWY_NAMESPACE;

/* Vectors in a block: one mispredicted choice of side for all of them. */
constexpr size_t kBlock = 4;

/* Most lanes of a vector, so that the buffers have a fixed size. */
constexpr size_t kMaxLanes = 16;

/* Elements handled between two looks at the interrupt callback. */
constexpr size_t kCheckEvery = (size_t) 1 << 20;

/*
 * Writes the first lanes of v, as many as right has, to elements[at], and
 * nothing else.  Only x86 has a masked store: elsewhere BlendedStore reads and
 * writes a whole vector, which near the end would reach behind the n elements.
 */
template <class V, class M, typename T>
HWY_INLINE void
StoreRight(V v, M right, T *elements, size_t n, size_t at)
{
	const hn::DFromV<V> d;
	const size_t count = hn::CountTrue(d, right);

	if (HWY_ARCH_X86 || at + hn::Lanes(d) <= n)
		hn::BlendedStore(v, hn::FirstN(d, count), d, elements + at);
	else
	{
		HWY_ALIGN T	last[kMaxLanes];

		hn::Store(v, d, last);
		memcpy(elements + at, last, count * sizeof(T));
	}
}

/*
 * Writes the lanes of v that belong to the left to elements[write_left ..), the
 * others to elements[.. write_right), and moves both on.  The store on the left
 * writes a whole vector: the free space there is at least that wide.  On the
 * right a whole vector would overwrite the elements already there.
 */
template <bool kDescending, class V, typename T>
HWY_INLINE void
PutVector(V v, V pivot, T *elements, size_t n, size_t &write_left, size_t &write_right)
{
	const hn::DFromV<V> d;
	const auto	above = hn::Gt(v, pivot);
	const auto	left = kDescending ? above : hn::Not(above);
	const auto	right = hn::Not(left);
	const size_t count = hn::CountTrue(d, left);

	hn::StoreU(hn::Compress(v, left), d, elements + write_left);
	write_left += count;
	write_right -= hn::Lanes(d) - count;
	StoreRight(hn::Compress(v, right), right, elements, n, write_right);
}

/*
 * Elements <= pivot to the left, or > pivot when kDescending.  False if
 * interrupted: the elements are then all there, in some order.
 */
template <bool kDescending, typename T>
bool
PartitionTo(T *elements, size_t n, T pivot, size_t *nleft, bool (*interrupted) (void *), void *arg)
{
	const hn::CappedTag<T, kMaxLanes> d;
	const size_t lanes = hn::Lanes(d);
	const size_t block = kBlock * lanes;
	const auto	vpivot = hn::Set(d, pivot);
	T			kept[3 * kBlock * kMaxLanes];
	size_t		nkept = 0;
	size_t		read_left = 0;
	size_t		read_right = n;
	size_t		write_left = 0;
	size_t		write_right = n;
	bool		stopped = false;

	if (n >= 2 * block)
	{
		memcpy(kept, elements, block * sizeof(T));
		memcpy(kept + block, elements + n - block, block * sizeof(T));
		nkept = 2 * block;
		read_left = block;
		read_right = n - block;

		while (read_right - read_left >= block && !stopped)
		{
			size_t		blocks = (read_right - read_left) / block;

			blocks = blocks < kCheckEvery / block ? blocks : kCheckEvery / block;
			for (; blocks > 0; blocks--)
			{
				const T    *from;

				if (read_left - write_left <= write_right - read_right)
				{
					from = elements + read_left;
					read_left += block;
				}
				else
				{
					read_right -= block;
					from = elements + read_right;
				}

				/* Read all before the first write, which may reach into it. */
				const auto	v0 = hn::LoadU(d, from);
				const auto	v1 = hn::LoadU(d, from + lanes);
				const auto	v2 = hn::LoadU(d, from + 2 * lanes);
				const auto	v3 = hn::LoadU(d, from + 3 * lanes);

				PutVector<kDescending>(v0, vpivot, elements, n, write_left, write_right);
				PutVector<kDescending>(v1, vpivot, elements, n, write_left, write_right);
				PutVector<kDescending>(v2, vpivot, elements, n, write_left, write_right);
				PutVector<kDescending>(v3, vpivot, elements, n, write_left, write_right);
			}
			stopped = interrupted && interrupted(arg);
		}
	}

	/* The free space is as large as what was read and not written. */
	if (stopped)
	{
		size_t		left = read_left - write_left;

		memcpy(elements + write_left, kept, left * sizeof(T));
		memcpy(elements + read_right, kept + left, (nkept - left) * sizeof(T));
		return false;
	}
	memcpy(kept + nkept, elements + read_left, (read_right - read_left) * sizeof(T));
	nkept += read_right - read_left;
	for (size_t i = 0; i < nkept; i++)
	{
		if ((kept[i] > pivot) == kDescending)
			elements[write_left++] = kept[i];
		else
			elements[--write_right] = kept[i];
	}
	*nleft = write_left;
	return true;
}

bool
PartitionKeys(int32_t *keys, size_t n, int32_t pivot, bool descending, size_t *nleft,
			  bool (*interrupted) (void *), void *arg)
{
	if (descending)
		return PartitionTo<true>(keys, n, pivot, nleft, interrupted, arg);
	return PartitionTo<false>(keys, n, pivot, nleft, interrupted, arg);
}

bool
PartitionPairs(uint64_t *pairs, size_t n, uint64_t pivot, size_t *nleft,
			   bool (*interrupted) (void *), void *arg)
{
	return PartitionTo<false>(pairs, n, pivot, nleft, interrupted, arg);
}

}								/* namespace HWY_NAMESPACE */
}								/* namespace hpsort */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hpsort
{
KERNEL(bool, kernel_partition_keys, PartitionKeys,
	   (int32_t *keys, size_t n, int32_t pivot, bool descending, size_t *nleft,
		bool (*interrupted) (void *), void *arg),
	   (keys, n, pivot, descending, nleft, interrupted, arg))
KERNEL(bool, kernel_partition_pairs, PartitionPairs,
	   (uint64_t *pairs, size_t n, uint64_t pivot, size_t *nleft,
		bool (*interrupted) (void *), void *arg),
	   (pairs, n, pivot, nleft, interrupted, arg))
}								/* namespace hpsort */
#endif
