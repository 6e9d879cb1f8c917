/*-------------------------------------------------------------------------
 *
 * bucket_bitonic.cuh
 *	  The parts of bucket_bitonic: the sort of one pass, the merge of two lists.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_BUCKET_BITONIC_CUH
#define HPSORT_PUBLISHED_BUCKET_BITONIC_CUH

#include <functional>

#include "published/element.cuh"
#include "published/published.cuh"
#include "published/shares.cuh"

namespace hpsort
{
namespace published
{

/* Keys and, unless null, what travels with them. */
struct Elements
{
	uint32_t   *keys;
	uint32_t   *payload;

	Elements	from(uint64_t offset) const
	{
		return {keys + offset, payload ? payload + offset : nullptr};
	}
};

/* What the authors chose, or the caller. */
struct Shape
{
	explicit Shape(const HpsortPublishedOptions &options)
		: slice_expected(option_or(options.slice_expected, 80)),
		  bucket_most(option_or(options.bucket_most, 512)),
		  disorder_limit(options.disorder_limit > 0 ? options.disorder_limit : 10) {}

	uint32_t	slice_expected; /* E */
	uint32_t	bucket_most;	/* M */
	double		disorder_limit; /* C */
};

/*
 * Memory for as many elements, taken when first asked for: most inputs need
 * none besides the output.  The input's own where the task allows it.
 */
class Spare
{
public:
	Spare(const Task &task) : task_(task) {}
	Elements get();
	/* for a caller who knows that the output's place is not needed */
	static uint64_t need(bool payload, uint64_t n);

private:
	const Task &task_;
	DeviceBuffer memory_;
	Elements	elements_ = {};
};

/*
 * Sorts task.keys[first, first + n) into the same places of the output; n is at
 * most 2^31.  lo and hi receive the extreme keys in their order.
 */
void		bitonic_pass(const Task &task, uint64_t first, uint64_t n, Spare *spare,
						 uint32_t *lo, uint32_t *hi);
uint64_t	bitonic_pass_need(const HpsortPublishedOptions &options, uint64_t n);

/* Merges on the stream; from, with a_n and then b_n elements, is kept. */
void		merge_lists(HpsortCuda *context, cudaStream_t stream, const Order &order,
						const Elements &a, uint64_t a_n, const Elements &b,
						uint64_t b_n, const Elements &out);
uint64_t	merge_need(uint64_t a_n, uint64_t b_n);

/*
 * Merges sorted parts, which lie side by side in one and are ends[i] long in
 * sum up to the i-th, two by two; other is as large.  Calls between() before
 * each merge.  Returns where the result is: one or other.
 */
Elements	merge_parts(HpsortCuda *context, cudaStream_t stream, const Order &order,
						const Elements &one, const Elements &other,
						std::vector<uint64_t> ends,
						const std::function<void()> &between);

/* The same for parts of the output, where the result then is. */
void		merge_output(const Task &task, const Elements &other,
						 const std::vector<uint64_t> &ends);

/* ---- many_gpus.cu ---- */

/*
 * sort_on() of a task with input_is_spare, of whose n keys the first `own` are where
 * the task says; the others sort what they have, if they have room for that, and
 * task.keys has room for all.  Waits.  Returns how many devices have sorted.
 */
size_t		sort_shared(const Task &task, const HpsortPublishedSpec *spec,
						uint64_t own, const std::vector<Share *> &others);

/* Device memory in bytes that a device takes at most for a share of n keys. */
uint64_t	share_need(const HpsortPublishedSpec &spec, uint64_t n);

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_BUCKET_BITONIC_CUH */
