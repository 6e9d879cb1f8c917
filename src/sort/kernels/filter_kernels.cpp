/*
 * filter_kernels.cpp
 *		The inner loops of filters, vectorised with Highway (see kernels.h).
 */
#include "sort/kernels/kernels.h"

#include <string.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sort/kernels/filter_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sort/kernels/kernel_export.h"

HWY_BEFORE_NAMESPACE();
namespace hpsort
{
namespace HWY_NAMESPACE
{
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void
MarkRangeOf(const T *values, size_t n, uint32_t from, uint32_t to, uint8_t *marks)
{
	const T		lo = (T) from;
	const T		span = (T) (to - from);
	const hn::ScalableTag<T> d;
	const hn::RebindToSigned<decltype(d)> ds;
	const hn::Rebind<int8_t, decltype(d)> d8;
	const hn::RebindToUnsigned<decltype(d8)> du8;
	const size_t lanes = hn::Lanes(d);
	const auto	vlo = hn::Set(d, lo);
	const auto	vspan = hn::Set(d, span);
	const auto	one = hn::Set(du8, (uint8_t) 1);
	size_t		i = 0;

	for (; i + lanes <= n; i += lanes)
	{
		const auto	distance = hn::Sub(hn::LoadU(d, values + i), vlo);
		/* Highway 1.0 compares unsigned numbers for equality only. */
		const auto	inside = hn::VecFromMask(d, hn::Eq(hn::Min(distance, vspan), distance));
		const auto	before = hn::LoadU(du8, marks + i);

		if constexpr(sizeof(T) == 1)
			hn::StoreU(hn::Or(before, hn::And(inside, one)), du8, marks + i);
		else
		{
			/* All bits are set or none, as a signed number: -1 or 0 in any width. */
			const auto	bytes = hn::BitCast(du8, hn::DemoteTo(d8, hn::BitCast(ds, inside)));

			hn::StoreU(hn::Or(before, hn::And(bytes, one)), du8, marks + i);
		}
	}
	for (; i < n; i++)
		marks[i] |= (T) (values[i] - lo) <= span;
}

/* Of values of 8 bytes: two vectors at a time, whose masks become one of 4 bytes each. */
void
MarkWideRange(const uint64_t *values, size_t n, uint64_t lo, uint64_t hi, uint8_t *marks)
{
	const uint64_t span = hi - lo;
	size_t		i = 0;

#if HWY_TARGET != HWY_SCALAR
	const hn::ScalableTag<uint64_t> d;
	const hn::Repartition<uint32_t, decltype(d)> d32;
	const hn::RebindToSigned<decltype(d32)> ds;
	const hn::Rebind<int8_t, decltype(d32)> d8;
	const hn::RebindToUnsigned<decltype(d8)> du8;
	const size_t lanes = hn::Lanes(d);
	const auto	vlo = hn::Set(d, lo);
	const auto	vspan = hn::Set(d, span);
	const auto	one = hn::Set(du8, (uint8_t) 1);

	for (; i + 2 * lanes <= n; i += 2 * lanes)
	{
		const auto	a = hn::Sub(hn::LoadU(d, values + i), vlo);
		const auto	b = hn::Sub(hn::LoadU(d, values + i + lanes), vlo);
		const auto	in_a = hn::VecFromMask(d, hn::Eq(hn::Min(a, vspan), a));
		const auto	in_b = hn::VecFromMask(d, hn::Eq(hn::Min(b, vspan), b));
		const auto	inside = hn::ConcatEven(d32, hn::BitCast(d32, in_b), hn::BitCast(d32, in_a));
		const auto	bytes = hn::BitCast(du8, hn::DemoteTo(d8, hn::BitCast(ds, inside)));

		hn::StoreU(hn::Or(hn::LoadU(du8, marks + i), hn::And(bytes, one)), du8, marks + i);
	}
#endif
	for (; i < n; i++)
		marks[i] |= values[i] - lo <= span;
}

void
MarkRange(const void *values, int width, size_t n, uint64_t lo, uint64_t hi, uint8_t *marks)
{
	if (width == 8)
		MarkWideRange((const uint64_t *) values, n, lo, hi, marks);
	else
		KERNEL_OF_WIDTH(MarkRangeOf, width, values, n, (uint32_t) lo, (uint32_t) hi, marks);
}

void
MarkBits(const int64_t *values, size_t n, int64_t lo, int64_t hi, const uint64_t *words,
		 uint8_t *marks)
{
	const uint64_t span = (uint64_t) hi - (uint64_t) lo;
	size_t		i = 0;

#if HWY_TARGET != HWY_SCALAR
	const hn::ScalableTag<uint64_t> d;
	const hn::RebindToSigned<decltype(d)> d64;
	const hn::Repartition<uint32_t, decltype(d)> d32;
	const hn::RebindToSigned<decltype(d32)> ds;
	const hn::Rebind<uint8_t, decltype(d32)> d8;
	const size_t lanes = hn::Lanes(d);
	const auto	vlo = hn::Set(d, (uint64_t) lo);
	const auto	vspan = hn::Set(d, span);
	const auto	one = hn::Set(d, (uint64_t) 1);
	const auto	last_bit = hn::Set(d, (uint64_t) 63);

	const auto	bits_of = [&](const int64_t *at)
	{
		const auto	distance = hn::Sub(hn::BitCast(d, hn::LoadU(d64, at)), vlo);
		const auto	inside = hn::VecFromMask(d, hn::Eq(hn::Min(distance, vspan), distance));
		const auto	bit = hn::And(distance, inside);
		const auto	word = hn::GatherIndex(d, words, hn::BitCast(d64, hn::ShiftRight<6>(bit)));

		return hn::And(hn::Shr(word, hn::And(bit, last_bit)), hn::And(inside, one));
	};

	for (; i + 2 * lanes <= n; i += 2 * lanes)
	{
		const auto	a = hn::BitCast(d32, bits_of(values + i));
		const auto	b = hn::BitCast(d32, bits_of(values + i + lanes));

		hn::StoreU(hn::DemoteTo(d8, hn::BitCast(ds, hn::ConcatEven(d32, b, a))), d8, marks + i);
	}
#endif
	for (; i < n; i++)
	{
		const uint64_t distance = (uint64_t) values[i] - (uint64_t) lo;

		marks[i] = distance <= span && (words[distance / 64] >> distance % 64 & 1);
	}
}

size_t
CountMarks(const uint8_t *marks, size_t n)
{
	const hn::ScalableTag<uint8_t> d;
	const hn::Repartition<uint64_t, decltype(d)> d64;
	const size_t lanes = hn::Lanes(d);
	auto		sums = hn::Zero(d64);
	size_t		count;
	size_t		i = 0;

	for (; i + lanes <= n; i += lanes)
		sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(d, marks + i)));
	count = (size_t) hn::GetLane(hn::SumOfLanes(d64, sums));
	for (; i < n; i++)
		count += marks[i];
	return count;
}

template <typename T>
size_t
SelectOf(const T *values, size_t n, int32_t base, const uint8_t *marks, int32_t *out)
{
	const hn::ScalableTag<uint32_t> d;
	const hn::Rebind<T, decltype(d)> narrow;
	const hn::Rebind<uint8_t, decltype(d)> d8;
	const size_t lanes = hn::Lanes(d);
	const auto	vbase = hn::Set(d, (uint32_t) base);
	const auto	zero = hn::Zero(d);
	size_t		count = 0;
	size_t		i = 0;

	/* A store may write a whole vector, which is never behind the keys that are being read. */
	for (; i + lanes <= n; i += lanes)
	{
		const auto	marked = hn::Ne(hn::PromoteTo(d, hn::LoadU(d8, marks + i)), zero);

		if constexpr(sizeof(T) == sizeof(uint32_t))
			count += hn::CompressStore(hn::Add(hn::LoadU(d, values + i), vbase), marked, d,
									   (uint32_t *) out + count);
		else
			count += hn::CompressStore(hn::Add(hn::PromoteTo(d, hn::LoadU(narrow, values + i)),
											   vbase),
									   marked, d, (uint32_t *) out + count);
	}
	for (; i < n; i++)
		if (marks[i])
			out[count++] = (int32_t) ((uint32_t) base + values[i]);
	return count;
}

size_t
Select(const void *values, int width, size_t n, int32_t base, const uint8_t *marks, int32_t *out)
{
	return KERNEL_OF_WIDTH(SelectOf, width, values, n, base, marks, out);
}

/*
 * Where the first and the last byte are right, all are compared.  A vector has no more than 16
 * places, so that most texts have as many.
 */
size_t
FindBytes(const char *bytes, size_t n, const char *wanted, size_t length)
{
	const hn::CappedTag<uint8_t, 16> d;
	const size_t lanes = hn::Lanes(d);
	const size_t places = n - length + 1;
	const auto	first = hn::Set(d, (uint8_t) wanted[0]);
	const auto	last = hn::Set(d, (uint8_t) wanted[length - 1]);
	size_t		i = 0;

	for (; places >= lanes && i < places; i += lanes)
	{
		/* The last vector may have places that were looked at before. */
		const size_t at = i + lanes <= places ? i : places - lanes;
		const uint8_t *from = (const uint8_t *) bytes + at;
		const auto	found = hn::And(hn::Eq(hn::LoadU(d, from), first),
									hn::Eq(hn::LoadU(d, from + length - 1), last));
		uint64_t	bits = 0;

		hn::StoreMaskBits(d, found, (uint8_t *) &bits);
		for (; bits != 0; bits &= bits - 1)
		{
			const size_t place = at + (size_t) __builtin_ctzll(bits);

			if (memcmp(bytes + place, wanted, length) == 0)
				return place;
		}
	}
	for (; i < places; i++)
		if (bytes[i] == wanted[0] && memcmp(bytes + i, wanted, length) == 0)
			return i;
	return n;
}

}								/* namespace HWY_NAMESPACE */
}								/* namespace hpsort */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hpsort
{
KERNEL(void, kernel_mark_range, MarkRange,
	   (const void *values, int width, size_t n, uint64_t lo, uint64_t hi, uint8_t *marks),
	   (values, width, n, lo, hi, marks))
KERNEL(void, kernel_mark_bits, MarkBits,
	   (const int64_t *values, size_t n, int64_t lo, int64_t hi, const uint64_t *words,
		uint8_t *marks),
	   (values, n, lo, hi, words, marks))
KERNEL(size_t, kernel_count_marks, CountMarks,
	   (const uint8_t *marks, size_t n),
	   (marks, n))
KERNEL(size_t, kernel_select, Select,
	   (const void *values, int width, size_t n, int32_t base, const uint8_t *marks, int32_t *out),
	   (values, width, n, base, marks, out))
KERNEL(size_t, kernel_find_bytes, FindBytes,
	   (const char *bytes, size_t n, const char *wanted, size_t length),
	   (bytes, n, wanted, length))
}								/* namespace hpsort */
#endif
