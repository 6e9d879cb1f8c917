/*
 * kernels.cpp
 *		The inner loops of src/sort, vectorised with Highway (see kernels.h).
 *
 * Highway includes this file once for every instruction set it can compile
 * for; the functions at the end pick the best one the processor has.
 */
#include "sort/kernels/kernels.h"

#include <string.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sort/kernels/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "sort/kernels/kernel_export.h"

HWY_BEFORE_NAMESPACE();
namespace hpsort
{
namespace HWY_NAMESPACE
{
namespace hn = hwy::HWY_NAMESPACE;

/*
 * Keys written at once for a short run, whatever its length, and bins looked
 * at together.
 */
constexpr size_t kBurst = 16;

/*
 * How far ahead passes over keys prefetch, further than the processor's own
 * prefetcher looks: 16 KiB.  Finding the bounds of 40 MB that are in no
 * cache takes 0.93 ms without this, 0.83 with 4 KiB, 0.68 with 16 KiB; counting
 * 1e7 keys of range 10,000 in chunks, 4.3 ms without, 2.6 with (AMD EPYC, Zen 5).
 */
constexpr size_t kPrefetchKeys = 4096;

/* Asks for the cache lines of the count keys that come kPrefetchKeys later. */
static HWY_INLINE void
PrefetchAhead(const int32_t *keys, size_t count)
{
	/*
	 * A prefetch is only a hint, so that it may lie past the end of the array; a
	 * pointer may not, hence an integer.
	 */
	const uintptr_t ahead = (uintptr_t) keys + kPrefetchKeys * sizeof(int32_t);

	for (size_t j = 0; j < count; j += 16)
		hwy::Prefetch((const char *) (ahead + j * sizeof(int32_t)));
}

/* Keys before the first one that is vector-aligned; at least one, at most lanes. */
static HWY_INLINE size_t
AlignedAfter(const int32_t *keys, size_t lanes)
{
	return lanes - ((uintptr_t) keys / sizeof(int32_t)) % lanes;
}

void
MinMax(const int32_t *keys, size_t n, int32_t *lo, int32_t *hi)
{
	const hn::ScalableTag<int32_t> d;
	const size_t lanes = hn::Lanes(d);
	size_t		i = 0;
	int32_t		low = keys[0];
	int32_t		high = keys[0];

	if (n >= 2 * lanes)
	{
		/*
		 * Aligned from the second vector on, which overlaps the first: loads
		 * across cache lines, twice each, would cost 1.4 ms instead of 0.7.
		 */
		auto		lo0 = hn::LoadU(d, keys), lo1 = lo0;
		auto		hi0 = lo0, hi1 = lo0;

		i = AlignedAfter(keys, lanes);
		for (; i + 2 * lanes <= n; i += 2 * lanes)
		{
			PrefetchAhead(keys + i, 2 * lanes);

			const auto	a = hn::LoadU(d, keys + i);
			const auto	b = hn::LoadU(d, keys + i + lanes);

			lo0 = hn::Min(lo0, a);
			hi0 = hn::Max(hi0, a);
			lo1 = hn::Min(lo1, b);
			hi1 = hn::Max(hi1, b);
		}
		lo0 = hn::Min(lo0, lo1);
		hi0 = hn::Max(hi0, hi1);
		low = hn::GetLane(hn::MinOfLanes(d, lo0));
		high = hn::GetLane(hn::MaxOfLanes(d, hi0));
	}
	for (; i < n; i++)
	{
		low = keys[i] < low ? keys[i] : low;
		high = keys[i] > high ? keys[i] : high;
	}
	*lo = low;
	*hi = high;
}

/* A few keys one by one, sorting out keys outside the range. */
static HWY_INLINE size_t
CountFew(const int32_t *keys, size_t n, uint32_t lo, uint32_t last, uint32_t *bins,
		 int32_t *outside)
{
	size_t		out = 0;

	for (size_t i = 0; i < n; i++)
	{
		const int32_t key = keys[i];
		const uint32_t v = (uint32_t) key - lo;

		if (v <= last)
			bins[v]++;
		else
			outside[out++] = key;
	}
	return out;
}

/* Two keys from one 8-byte load; which is first does not matter. */
static HWY_INLINE void
CountTwo(const int32_t *keys, uint32_t lo, uint32_t *even, uint32_t *odd)
{
	uint64_t	two;

	memcpy(&two, keys, sizeof(two));
	even[(uint32_t) two - lo]++;
	odd[(uint32_t) (two >> 32) - lo]++;
}

/*
 * The histogram of one range.  The check that all keys are in range is done on
 * whole vectors and costs a few instructions per 32 keys; only a vector with a
 * key outside is taken apart.
 */
template <int kTables>
size_t
CountTables(const int32_t *keys, size_t n, uint32_t lo, uint32_t last, uint32_t *bins,
			size_t stride, int32_t *outside)
{
	const hn::CappedTag<uint32_t, 16> d;
	const size_t lanes = hn::Lanes(d);
	const auto	vlo = hn::Set(d, lo);
	const auto	vlast = hn::Set(d, last);
	uint32_t   *const t0 = bins;
	uint32_t   *const t1 = bins + stride * (1 % kTables);
	uint32_t   *const t2 = bins + stride * (2 % kTables);
	uint32_t   *const t3 = bins + stride * (3 % kTables);
	const size_t step = 2 * lanes < 8 ? 8 : 2 * lanes;
	size_t		out = 0;
	size_t		i = 0;

	for (; i + step <= n; i += step)
	{
		auto		worst = hn::Zero(d);

		PrefetchAhead(keys + i, step);
		for (size_t j = 0; j < step; j += lanes)
			worst = hn::Max(worst, hn::Sub(hn::LoadU(d, (const uint32_t *) keys + i + j), vlo));
		if (HWY_LIKELY(hn::AllFalse(d, hn::Gt(worst, vlast))))
		{
			for (size_t j = 0; j < step; j += 8)
			{
				CountTwo(keys + i + j, lo, t0, t1);
				CountTwo(keys + i + j + 2, lo, t2, t3);
				CountTwo(keys + i + j + 4, lo, t0, t1);
				CountTwo(keys + i + j + 6, lo, t2, t3);
			}
		}
		else
			out += CountFew(keys + i, step, lo, last, bins, outside + out);
	}
	return out + CountFew(keys + i, n - i, lo, last, bins, outside + out);
}

/*
 * Up to four bins need no table at all: comparisons counted in registers, at
 * the speed of reading the keys.
 */
template <int kBins>
size_t
CountTiny(const int32_t *keys, size_t n, uint32_t lo, uint32_t *bins, int32_t *outside)
{
	const hn::CappedTag<uint32_t, 16> d;
	const size_t lanes = hn::Lanes(d);
	const auto	vlo = hn::Set(d, lo);
	const auto	vlast = hn::Set(d, (uint32_t) (kBins - 1));
	const auto	one = hn::Set(d, 1u);
	const auto	two = hn::Set(d, 2u);
	auto		ones = hn::Zero(d), twos = hn::Zero(d), threes = hn::Zero(d);
	size_t		out = 0;
	size_t		counted = 0;
	size_t		i = 0;

	for (; i + 4 * lanes <= n; i += 4 * lanes)
	{
		PrefetchAhead(keys + i, 4 * lanes);

		const auto	a = hn::Sub(hn::LoadU(d, (const uint32_t *) keys + i), vlo);
		const auto	b = hn::Sub(hn::LoadU(d, (const uint32_t *) keys + i + lanes), vlo);
		const auto	c = hn::Sub(hn::LoadU(d, (const uint32_t *) keys + i + 2 * lanes), vlo);
		const auto	e = hn::Sub(hn::LoadU(d, (const uint32_t *) keys + i + 3 * lanes), vlo);
		const auto	worst = hn::Max(hn::Max(a, b), hn::Max(c, e));

		if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(worst, vlast))))
		{
			out += CountFew(keys + i, 4 * lanes, lo, kBins - 1, bins, outside + out);
			continue;
		}
		counted += 4 * lanes;
		/* An equal lane is all ones, which is -1. */
		if (kBins == 2)
			ones = hn::Add(ones, hn::Add(hn::Add(a, b), hn::Add(c, e)));
		if (kBins > 2)
		{
			/* No list of vectors: Arm's SVE has vectors without a size, which fit in none. */
			const auto	add = [&](auto v) HWY_ATTR {
				ones = hn::Sub(ones, hn::VecFromMask(d, hn::Eq(v, one)));
				twos = hn::Sub(twos, hn::VecFromMask(d, hn::Eq(v, two)));
				if (kBins > 3)
					threes = hn::Sub(threes, hn::VecFromMask(d, hn::Gt(v, two)));
			};

			add(a);
			add(b);
			add(c);
			add(e);
		}
	}
	if (kBins > 1)
	{
		const uint32_t n1 = hn::GetLane(hn::SumOfLanes(d, ones));
		const uint32_t n2 = kBins > 2 ? hn::GetLane(hn::SumOfLanes(d, twos)) : 0;
		const uint32_t n3 = kBins > 3 ? hn::GetLane(hn::SumOfLanes(d, threes)) : 0;

		bins[1] += n1;
		if (kBins > 2)
			bins[2] += n2;
		if (kBins > 3)
			bins[3] += n3;
		counted -= (size_t) n1 + n2 + n3;
	}
	bins[0] += (uint32_t) counted;
	return out + CountFew(keys + i, n - i, lo, kBins - 1, bins, outside + out);
}

size_t
Count(const int32_t *keys, size_t n, const KernelBins *to, int32_t *outside)
{
	const uint32_t ulo = (uint32_t) to->lo;
	const uint32_t last = (uint32_t) (to->range - 1);
	uint32_t   *const bins = to->bins;

	switch (to->range)
	{
		case 1:
			return CountTiny<1>(keys, n, ulo, bins, outside);
		case 2:
			return CountTiny<2>(keys, n, ulo, bins, outside);
		case 3:
			return CountTiny<3>(keys, n, ulo, bins, outside);
		case 4:
			return CountTiny<4>(keys, n, ulo, bins, outside);
	}
	if (to->tables == 4)
		return CountTables<4>(keys, n, ulo, last, bins, to->stride, outside);
	return CountTables<1>(keys, n, ulo, last, bins, to->stride, outside);
}

void
Fill(int32_t *out, size_t count, int32_t key)
{
	const hn::ScalableTag<int32_t> d;
	const size_t lanes = hn::Lanes(d);
	const auto	v = hn::Set(d, key);
	size_t		i = 0;

	for (; i + 4 * lanes <= count; i += 4 * lanes)
	{
		hn::StoreU(v, d, out + i);
		hn::StoreU(v, d, out + i + lanes);
		hn::StoreU(v, d, out + i + 2 * lanes);
		hn::StoreU(v, d, out + i + 3 * lanes);
	}
	for (; i + lanes <= count; i += lanes)
		hn::StoreU(v, d, out + i);
	for (; i < count; i++)
		out[i] = key;
}

static HWY_INLINE bool
AllZero(const uint32_t *bins)
{
	const hn::CappedTag<uint32_t, kBurst> d;
	auto		any = hn::Zero(d);

	for (size_t j = 0; j < kBurst; j += hn::Lanes(d))
		any = hn::Or(any, hn::LoadU(d, bins + j));
	return hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

/* Writes kKeys copies of key, whatever the run's length. */
template <size_t kKeys>
static HWY_INLINE void
Burst(int32_t *out, int32_t key)
{
	const hn::CappedTag<int32_t, kKeys> d;
	const auto	v = hn::Set(d, key);

	for (size_t j = 0; j < kKeys; j += hn::Lanes(d))
		hn::StoreU(v, d, out + j);
}

/* A block of bins of which none has more than kKeys keys: no branches. */
template <size_t kKeys, bool kDown>
static HWY_INLINE size_t
ExpandShort(const uint32_t *bins, size_t block, int32_t key, int32_t *out)
{
	size_t		at = 0;

	for (size_t j = 0; j < block; j++)
	{
		Burst<kKeys>(out + at, kDown ? key - (int32_t) j : key + (int32_t) j);
		at += bins[kDown ? block - 1 - j : j];
	}
	return at;
}

/*
 * Branches on single bins would be mispredicted wherever empty and other bins
 * alternate, at 15 cycles each.  So a vector of bins is looked at as a whole:
 * all at most one key (the keys are the indexes, compressed), all few (stores
 * of a fixed length, of which the next run overwrites what is too much), or
 * some many.  Milliseconds bin by bin and so: 1e5 keys of range 1e6 1.5 and
 * 0.3; 1e6 of range 1e6 3.4 and 0.53; 1e7 of range 4e6 5.1 and 3.0, of range
 * 300,000 4.0 and 1.1, of range 1e6 and of range 1,000 the same (AMD EPYC, Zen 5).
 */
template <bool kDown>
static HWY_INLINE size_t
ExpandTo(const uint32_t *bins, uint64_t v0, uint64_t v1, int32_t lo, int32_t *out, size_t max,
	   uint64_t *stop)
{
	const hn::CappedTag<uint32_t, kBurst> d;
	const hn::RebindToSigned<decltype(d)> di;
	const size_t lanes = hn::Lanes(d);
	const auto	iota = hn::Iota(di, 0);
	size_t		at = 0;
	uint64_t	left = v1 - v0;

	while (left > 0)
	{
		/* Going down, this is the last of the bins left, not the first. */
		const uint64_t v = kDown ? v0 + left - 1 : v1 - left;
		const int32_t key = (int32_t) ((uint32_t) lo + (uint32_t) v);
		size_t		some = 1;

		if (left >= lanes && max - at >= lanes)
		{
			const uint32_t *block = kDown ? bins + v + 1 - lanes : bins + v;
			const size_t room = (max - at) / lanes;
			const auto	counts = hn::LoadU(d, block);
			const auto	most = [&](uint32_t n) { return hn::AllFalse(d,
																	 hn::Gt(counts,
																			hn::Set(d, n))); };

			some = 0;
			if (most(1))
			{
				const auto	used = hn::Ne(counts, hn::Zero(d));

				if (!hn::AllFalse(d, used))
				{
					const auto	keys = hn::Add(hn::Set(di,
													   (int32_t) ((uint32_t) lo +
																  (uint32_t) (block - bins))),
																  iota);

					if (kDown)
						hn::StoreU(hn::Compress(hn::Reverse(di, keys),
												hn::RebindMask(di,
															   hn::Ne(hn::Reverse(d, counts),
																	  hn::Zero(d)))),
								   di, out + at);
					else
						hn::StoreU(hn::Compress(keys, hn::RebindMask(di, used)), di, out + at);
					at += hn::CountTrue(d, used);
				}
			}
			else if (room >= 4 && most(4))
				at += ExpandShort<4, kDown>(block, lanes, key, out + at);
			else if (room >= kBurst && most(kBurst))
				at += ExpandShort<kBurst, kDown>(block, lanes, key, out + at);
			else if (room >= 2 * kBurst && most(2 * kBurst))
				at += ExpandShort<2 * kBurst, kDown>(block, lanes, key, out + at);
			else if (room >= 4 * kBurst && most(4 * kBurst))
				at += ExpandShort<4 * kBurst, kDown>(block, lanes, key, out + at);
			else
				some = lanes;
			if (some == 0)
			{
				left -= lanes;
				continue;
			}
		}
		for (size_t j = 0; j < some; j++)
		{
			const uint32_t count = bins[kDown ? v - j : v + j];
			const int32_t mine = kDown ? key - (int32_t) j : key + (int32_t) j;

			if (count > max - at)
			{
				*stop = kDown ? v - j + 1 : v + j;
				return at;
			}
			if (max - at - count >= 4 * kBurst)
				for (size_t i = 0; i < count; i += 4 * kBurst)
					Burst<4 * kBurst>(out + at + i, mine);
			else
				Fill(out + at, count, mine);
			at += count;
			left--;
		}
	}
	*stop = kDown ? v0 : v1;
	return at;
}

size_t
Expand(const uint32_t *bins, uint64_t v0, uint64_t v1, int32_t lo, bool down, int32_t *out,
	   size_t max, uint64_t *stop)
{
	return down ? ExpandTo<true>(bins, v0, v1, lo, out, max, stop)
		: ExpandTo<false>(bins, v0, v1, lo, out, max, stop);
}

uint64_t
NextNonzero(const uint32_t *bins, uint64_t v0, uint64_t v1)
{
	uint64_t	v = v0;

	while (v + kBurst <= v1 && AllZero(bins + v))
		v += kBurst;
	while (v < v1 && bins[v] == 0)
		v++;
	return v;
}

uint64_t
CountNonzero(const uint32_t *bins, uint64_t n)
{
	const hn::ScalableTag<uint32_t> d;
	const size_t lanes = hn::Lanes(d);
	uint64_t	zeros = 0;
	uint64_t	v = 0;

	for (; v + lanes <= n; v += lanes)
		zeros += hn::CountTrue(d, hn::Eq(hn::LoadU(d, bins + v), hn::Zero(d)));
	for (; v < n; v++)
		zeros += bins[v] == 0;
	return n - zeros;
}

void
TakeBins(uint32_t *into, uint32_t *from, size_t n)
{
	const hn::ScalableTag<uint32_t> d;
	const size_t lanes = hn::Lanes(d);
	size_t		i = 0;

	for (; i + lanes <= n; i += lanes)
	{
		hn::StoreU(hn::Add(hn::LoadU(d, into + i), hn::LoadU(d, from + i)), d, into + i);
		hn::StoreU(hn::Zero(d), d, from + i);
	}
	for (; i < n; i++)
	{
		into[i] += from[i];
		from[i] = 0;
	}
}

uint64_t
CountChanges(const int32_t *keys, size_t n)
{
	const hn::ScalableTag<int32_t> d;
	const size_t lanes = hn::Lanes(d);
	uint64_t	changes = 0;
	size_t		i = 0;

	for (; i + lanes + 1 <= n; i += lanes)
		changes += lanes - hn::CountTrue(d, hn::Eq(hn::LoadU(d, keys + i),
												  hn::LoadU(d, keys + i + 1)));
	for (; i + 1 < n; i++)
		changes += keys[i] != keys[i + 1];
	return changes;
}

size_t
OrderedPrefix(const int32_t *keys, size_t n)
{
	const hn::ScalableTag<int32_t> d;
	const size_t lanes = hn::Lanes(d);
	size_t		i = 0;

	/* One of each two loads is aligned. */
	if (n > 2 * lanes && hn::AllFalse(d, hn::Gt(hn::LoadU(d, keys), hn::LoadU(d, keys + 1))))
		i = AlignedAfter(keys, lanes);
	for (; i + 2 * lanes + 1 <= n; i += 2 * lanes)
	{
		const int32_t *k = keys + i;

		PrefetchAhead(k, 2 * lanes);

		const auto	a = hn::Gt(hn::LoadU(d, k), hn::LoadU(d, k + 1));
		const auto	b = hn::Gt(hn::LoadU(d, k + lanes), hn::LoadU(d, k + lanes + 1));

		if (!hn::AllFalse(d, hn::Or(a, b)))
			break;
	}
	while (i + 1 < n && keys[i] <= keys[i + 1])
		i++;
	return n == 0 ? 0 : i + 1;
}

/*
 * Eight bytes of packed keys at a time, in four tables or in one.  Nothing is compared: the
 * caller knows that all keys have a counter.
 */
template <typename T, int kTables>
void
CountPackedTables(const T *values, size_t n, uint32_t *bins, size_t stride)
{
	constexpr size_t kKeys = sizeof(uint64_t) / sizeof(T);
	constexpr int kBits = 8 * (int) sizeof(T);
	uint32_t   *const t0 = bins;
	uint32_t   *const t1 = bins + stride * (1 % kTables);
	uint32_t   *const t2 = bins + stride * (2 % kTables);
	uint32_t   *const t3 = bins + stride * (3 % kTables);
	size_t		i = 0;

	for (; i + 2 * kKeys <= n; i += 2 * kKeys)
	{
		uint64_t	a;
		uint64_t	b;

		memcpy(&a, values + i, sizeof(a));
		memcpy(&b, values + i + kKeys, sizeof(b));
		for (size_t k = 0; k < kKeys; k += 2)
		{
			t0[(T) a]++;
			t1[(T) b]++;
			t2[(T) (a >> kBits)]++;
			t3[(T) (b >> kBits)]++;
			if (k + 2 < kKeys)
			{
				a >>= 2 * kBits % 64;
				b >>= 2 * kBits % 64;
			}
		}
	}
	for (; i < n; i++)
		t0[values[i]]++;
}

template <typename T>
void
CountPackedKeys(const T *values, size_t n, int32_t base, const KernelBins *to)
{
	uint32_t   *const bins = to->bins + ((uint32_t) base - (uint32_t) to->lo);

	if (to->tables == 4)
		CountPackedTables<T, 4>(values, n, bins, to->stride);
	else
		CountPackedTables<T, 1>(values, n, bins, to->stride);
}

void
CountPacked(const void *values, int width, size_t n, int32_t base, const KernelBins *to)
{
	KERNEL_OF_WIDTH(CountPackedKeys, width, values, n, base, to);
}

template <typename T>
void
UnpackKeys(const T *values, size_t n, int32_t base, int32_t *out)
{
	const hn::ScalableTag<uint32_t> d;
	const hn::Rebind<T, decltype(d)> narrow;
	const size_t lanes = hn::Lanes(d);
	const auto	vbase = hn::Set(d, (uint32_t) base);
	size_t		i = 0;

	for (; i + lanes <= n; i += lanes)
	{
		if constexpr(sizeof(T) == sizeof(uint32_t))
			hn::StoreU(hn::Add(hn::LoadU(d, values + i), vbase), d, (uint32_t *) out + i);
		else
			hn::StoreU(hn::Add(hn::PromoteTo(d, hn::LoadU(narrow, values + i)), vbase), d,
					   (uint32_t *) out + i);
	}
	for (; i < n; i++)
		out[i] = (int32_t) ((uint32_t) base + values[i]);
}

void
Unpack(const void *values, int width, size_t n, int32_t base, int32_t *out)
{
	KERNEL_OF_WIDTH(UnpackKeys, width, values, n, base, out);
}

const char *
Target()
{
	return hwy::TargetName(HWY_TARGET);
}

}								/* namespace HWY_NAMESPACE */
}								/* namespace hpsort */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hpsort
{
KERNEL(void, kernel_min_max, MinMax,
	   (const int32_t *keys, size_t n, int32_t *lo, int32_t *hi),
	   (keys, n, lo, hi))
KERNEL(size_t, kernel_count, Count,
	   (const int32_t *keys, size_t n, const KernelBins *to, int32_t *outside),
	   (keys, n, to, outside))
KERNEL(void, kernel_count_packed, CountPacked,
	   (const void *values, int width, size_t n, int32_t base, const KernelBins *to),
	   (values, width, n, base, to))
KERNEL(void, kernel_unpack, Unpack,
	   (const void *values, int width, size_t n, int32_t base, int32_t *out),
	   (values, width, n, base, out))
KERNEL(void, kernel_fill, Fill,
	   (int32_t *out, size_t count, int32_t key),
	   (out, count, key))
KERNEL(size_t, kernel_expand, Expand,
	   (const uint32_t *bins, uint64_t v0, uint64_t v1, int32_t lo, bool down, int32_t *out,
		size_t max, uint64_t *stop),
	   (bins, v0, v1, lo, down, out, max, stop))
KERNEL(uint64_t, kernel_next_nonzero, NextNonzero,
	   (const uint32_t *bins, uint64_t v0, uint64_t v1),
	   (bins, v0, v1))
KERNEL(uint64_t, kernel_count_nonzero, CountNonzero,
	   (const uint32_t *bins, uint64_t n),
	   (bins, n))
KERNEL(void, kernel_take_bins, TakeBins,
	   (uint32_t *into, uint32_t *from, size_t n),
	   (into, from, n))
KERNEL(uint64_t, kernel_count_changes, CountChanges,
	   (const int32_t *keys, size_t n),
	   (keys, n))
KERNEL(size_t, kernel_ordered_prefix, OrderedPrefix,
	   (const int32_t *keys, size_t n),
	   (keys, n))
KERNEL(const char *, kernel_target, Target,
	   (void),
	   ())
}								/* namespace hpsort */
#endif
