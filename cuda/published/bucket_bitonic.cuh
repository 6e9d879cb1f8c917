/*-------------------------------------------------------------------------
 *
 * bucket_bitonic.cuh
 *	  The parts of bucket_bitonic: the sort of one pass, the merge of two lists, several devices.
 *
 * For bucket_bitonic.cu, bucket_merge.cu, many_gpus.cu and the callers of these in published*.cu.
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

/* Keys and their payload, which is null if there is none. */
struct Elements
{
	uint32_t   *keys;
	uint32_t   *payload;

	/* returns the elements from this offset on */
	Elements	from(uint64_t offset) const
	{
		return {keys + offset, payload ? payload + offset : nullptr};
	}
};

/* The parameters: the authors' choice, or the caller's. */
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

/* Memory for a second list of the task's length, taken at its first use: most inputs need none
 * besides the output.  If the task has input_is_spare, it is the input's memory. */
class Spare
{
public:
	Spare(const Task &task) : task_(task) {}
	Elements get();
	/* returns the bytes of a second list */
	static uint64_t need(bool payload, uint64_t n);

private:
	const Task &task_;
	DeviceBuffer memory_;
	Elements	elements_ = {};
};

/* Sorts task.keys[first, first + n) into the same places of the output.  n is at most 2^31.  *lo
 * and *hi receive the extreme keys as numbers in order (to_ordered()). */
void		bitonic_pass(const Task &task, uint64_t first, uint64_t n, Spare *spare,
						 uint32_t *lo, uint32_t *hi);
uint64_t	bitonic_pass_need(const HpsortPublishedOptions &options, uint64_t n);

/* Merges two sorted lists into out, on the stream.  a and b are kept. */
void		merge_lists(HpsortCuda *context, cudaStream_t stream, const Order &order,
						const Elements &a, uint64_t a_n, const Elements &b,
						uint64_t b_n, const Elements &out);
uint64_t	merge_need(uint64_t a_n, uint64_t b_n);

/*
 * Merges sorted parts, which lie side by side in one, two by two.  Part i ends at ends[i].  other
 * is as large as one.  Calls between() before each merge.  Returns where the result is: one or
 * other.
 */
Elements	merge_parts(HpsortCuda *context, cudaStream_t stream, const Order &order,
						const Elements &one, const Elements &other,
						std::vector<uint64_t> ends,
						const std::function<void()> &between);

/* Merges sorted parts of the task's output, where the result then is. */
void		merge_output(const Task &task, const Elements &other,
						 const std::vector<uint64_t> &ends);

/* ---- many_gpus.cu ---- */

/*
 * Does what sort_on() does for a task with input_is_spare whose n keys are on several devices.
 * The first `own` keys are where the task says; others have the rest.  Each device sorts its keys
 * if it has room for this.  task.keys must have room for all keys.  Waits.  Returns how many
 * devices have sorted.
 */
size_t		sort_shared(const Task &task, const HpsortPublishedSpec *spec,
						uint64_t own, const std::vector<Share *> &others);

} /* namespace published */
} /* namespace hpsort */

#endif							/* HPSORT_PUBLISHED_BUCKET_BITONIC_CUH */
