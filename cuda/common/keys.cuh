/*-------------------------------------------------------------------------
 *
 * kernels.cuh
 *	  The host side of each regime: what sort.cu and job.cu call.
 *
 * All of them put work on the given stream and, unless said otherwise, do not
 * wait.  Keys are in device memory, of any 4-byte alignment.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_KERNELS_CUH
#define HPSORT_CUDA_KERNELS_CUH

#include <functional>

#include "engine.cuh"

namespace hpsort
{

/*
 * Keys as bins 0 .. last in the order asked for: bin = (key ^ flip) - base.
 * Complementing reverses the order of int32, so descending needs no other code.
 */
struct KeyMap
{
	uint32_t	flip;
	uint32_t	base;
	uint32_t	last;			/* range - 1 */
};

inline KeyMap
make_key_map(int32_t lo, int32_t hi, bool descending)
{
	KeyMap		map;

	map.flip = descending ? ~0u : 0u;
	map.base = descending ? ~static_cast<uint32_t>(hi) : static_cast<uint32_t>(lo);
	map.last = static_cast<uint32_t>(hi) - static_cast<uint32_t>(lo);
	return map;
}

/* The map of the same bounds in the other direction. */
inline KeyMap
descending_map(const KeyMap &ascending)
{
	KeyMap		map;

	map.flip = ~0u;
	map.base = ~(ascending.base + ascending.last);
	map.last = ascending.last;
	return map;
}

struct Bounds
{
	int32_t		lo;
	int32_t		hi;
};

/*
 * Blocks of a kernel whose blocks share n keys: one for each keys_each of them, which
 * is what makes it worth starting, and at most per_sm on each SM, which is what it
 * takes to read at full speed.
 */
inline uint32_t
grid_blocks(const HpsortCuda *context, uint64_t n, uint64_t keys_each, uint32_t per_sm)
{
	const uint64_t blocks = n > 0 ? (n - 1) / keys_each + 1 : 1;
	const uint64_t most = static_cast<uint64_t>(context->limits.sms) * per_sm;

	return static_cast<uint32_t>(blocks < most ? blocks : most);
}

/* Raises the shared memory limits of all kernels but the passes of sweep.cuh, once per
 * device. */
void		configure_kernels(const HpsortCudaLimits &limits);
void		configure_shared_histogram(const HpsortCudaLimits &limits);
void		configure_few_distinct(const HpsortCudaLimits &limits);
void		configure_partition(const HpsortCudaLimits &limits);
void		configure_permutation(const HpsortCudaLimits &limits);
void		configure_many_values(const HpsortCudaLimits &limits);
void		configure_one_block(const HpsortCudaLimits &limits);

/* ---- shared_histogram.cu ---- */

/* Blocks that fit at once when they come in clusters; 0: no clusters. */
uint32_t	shared_crew_blocks(const HpsortCudaLimits &limits);

/* Everything in one kernel: count, prefix sums, expand. */
void		shared_sort(HpsortCuda *context, cudaStream_t stream,
						const KeyMap &map, const int32_t *keys, uint64_t n,
						int32_t *out, HpsortCudaVerdict *verdict);

/* Count and compact in one kernel; verdict->distinct gets the number of runs.
 * counts or starts may be null. */
void		shared_runs(HpsortCuda *context, cudaStream_t stream,
						const KeyMap &map, const int32_t *keys, uint64_t n,
						int32_t *run_keys, uint64_t *counts, uint64_t *starts,
						HpsortCudaVerdict *verdict);

/* For jobs: bins of 64 bits that live from chunk to chunk. */
struct Bins
{
	DeviceBuffer memory;
	KeyMap		map;
	unsigned long long *bins = nullptr;
	unsigned long long *slices = nullptr;

	void		allocate(HpsortCuda *context, cudaStream_t stream,
						 const KeyMap &key_map);
	void		add(HpsortCuda *context, cudaStream_t stream,
					const int32_t *keys, uint64_t n, HpsortCudaVerdict *verdict);
	void		compact(cudaStream_t stream, const Runs &runs,
						HpsortCudaVerdict *verdict);
};

/* ---- expand.cu ---- */

/* Positions [first, first + count) of the keys in the order asked for. */
void		expand_runs(cudaStream_t stream, const Runs &runs, uint64_t total,
						uint64_t first, uint64_t count, bool descending,
						int32_t *out);
/* counts[i] of runs [first, first + count) from their starts. */
void		run_counts(cudaStream_t stream, const Runs &runs, uint64_t first,
					   uint64_t count, uint64_t *counts);
/* Positions [first, first + count) of sorted keys[n] read backwards. */
void		reverse_keys(cudaStream_t stream, const int32_t *keys, uint64_t n,
						 uint64_t first, uint64_t count, int32_t *out);
/* Sorted keys to runs; waits for the stream. */
void		encode_runs(HpsortCuda *context, cudaStream_t stream,
						const int32_t *sorted, uint64_t n, Runs *runs);

/* ---- bounds.cu ---- */

void		bounds_reset(cudaStream_t stream, Bounds *device);
void		bounds_add(HpsortCuda *context, cudaStream_t stream,
					   const int32_t *keys, uint64_t n, Bounds *device);
/* Reports a key outside the bounds, if there is one. */
void		check_bounds(HpsortCuda *context, cudaStream_t stream,
						 const int32_t *keys, uint64_t n, const Bounds &bounds,
						 HpsortCudaVerdict *verdict);
/* All of it for one array; waits for the stream. */
Bounds		find_bounds(HpsortCuda *context, cudaStream_t stream,
						const int32_t *keys, uint64_t n);

/* ---- few_distinct.cu ---- */

/* What a sample of n > 0 keys says. */
struct Sample
{
	uint64_t	distinct;		/* an estimate */
	Bounds		bounds;			/* all keys' bounds are at least as wide */
	bool		skipped;		/* the kernels behind it were told to skip */
};

/*
 * Taking one: the constructor puts it on the stream, result() waits for it, and
 * for nothing that was put there in between.  skip() is a word on the device for
 * the kernels in between: not 0 when at most few_most values were found, or when
 * the sample spans no more than 2^narrow_bits.
 */
class Sampling
{
public:
	Sampling(HpsortCuda *context, cudaStream_t stream, const int32_t *keys,
			 uint64_t n, uint64_t few_most, uint32_t narrow_bits);
	~Sampling();
	Sampling(const Sampling &) = delete;
	Sampling &operator=(const Sampling &) = delete;

	const uint32_t *skip() const { return skip_.as<uint32_t>(); }
	Sample		result();

private:
	uint64_t	n_;
	VerdictSlot report_;
	DeviceBuffer gathered_;
	DeviceBuffer skip_;
	cudaEvent_t taken_ = nullptr;
};

/* The same with nothing in between. */
Sample		take_sample(HpsortCuda *context, cudaStream_t stream,
						const int32_t *keys, uint64_t n);
/* The runs, ascending; map is too; false: too many distinct values, nothing
 * done.  Keys outside map's bounds are reported.  Waits for the stream, except
 * for what meanwhile() puts there. */
bool		few_runs(HpsortCuda *context, cudaStream_t stream,
					 const KeyMap &map, const int32_t *keys, uint64_t n,
					 Runs *runs, HpsortCudaVerdict *verdict,
					 const std::function<void()> &meanwhile = nullptr);

/* ---- partition.cu ---- */

/*
 * The first step, for who takes a sample meanwhile: keys in their buckets, or the
 * buckets' counts, unless the word at skip, on the device, is not 0 (null: there is
 * none).
 */
struct PartitionStart
{
	bool		begun = false;
	KeyMap		map = {};
	uint32_t	shift = 0;
	uint32_t	buckets = 0;
	DeviceBuffer memory;

	void		begin(HpsortCuda *context, cudaStream_t stream,
					  const KeyMap &key_map, uint32_t bucket_shift,
					  uint32_t bucket_count, const int32_t *keys, uint64_t n,
					  const uint32_t *skip, HpsortCudaVerdict *verdict);
};

/* begun: null, or the first step; it is used if it was made for these buckets. */
void		partition_sort(HpsortCuda *context, cudaStream_t stream,
						   const KeyMap &map, uint32_t shift, uint32_t buckets,
						   const int32_t *keys, uint64_t n, int32_t *out,
						   HpsortCudaVerdict *verdict,
						   PartitionStart *begun = nullptr);

/* ---- small_sort.cu ---- */

/* Most keys that it takes on this device. */
uint64_t	small_most(const HpsortCuda *context);
/* One launch, no wait.  rows null: keys into out; else rows, and keys unless out
 * is null.  Bounds of the whole type are found on the device. */
void		small_sort(HpsortCuda *context, cudaStream_t stream,
					   const Bounds &bounds, bool descending,
					   const int32_t *keys, uint64_t n, int32_t *out,
					   uint32_t *rows, HpsortCudaVerdict *verdict);

/* ---- one_block.cu ---- */

/* The same as small_sort() in one block without workspace; false: n is too large
 * for that, nothing done. */
bool		one_block_sort(HpsortCuda *context, cudaStream_t stream,
						   const Bounds &bounds, bool descending,
						   const int32_t *keys, uint64_t n, int32_t *out,
						   uint32_t *rows, HpsortCudaVerdict *verdict);

/* ---- radix.cu ---- */

struct RadixStart;				/* radix.cuh */
struct Sweeps;					/* sweep.cuh */

/* Whether the kernels of a sort may overlap as they are compiled. */
bool		sweeps_overlap();

/* Whether a sort of n keys has a first half that can be begun early. */
bool		radix_can_begin(uint64_t n);

/*
 * Keys outside the bounds are reported; the output is undefined then.  begun:
 * null, or what was begun already; it is used if it is for these bounds.
 */
void		radix_sort(HpsortCuda *context, cudaStream_t stream,
					   const Bounds &bounds, bool descending,
					   const int32_t *keys, uint64_t n, int32_t *out,
					   HpsortCudaVerdict *verdict, RadixStart *begun = nullptr);
/* Stable; sorted_keys may be null when only the rows are wanted. */
void		radix_permutation(HpsortCuda *context, cudaStream_t stream,
							  const Bounds &bounds, bool descending,
							  const int32_t *keys, uint64_t n,
							  int32_t *sorted_keys, uint32_t *rows,
							  HpsortCudaVerdict *verdict,
							  RadixStart *begun = nullptr);

/* ---- many_values.cu ---- */

/* By dense ranks of up to 65,536 values; false: there are more, or some may have been
 * missed, and rows mean nothing.  Waits for the stream. */
bool		many_values_permutation(HpsortCuda *context, cudaStream_t stream,
									const Bounds &bounds, bool descending,
									const int32_t *keys, uint64_t n, uint32_t *rows,
									HpsortCudaVerdict *verdict);

/* ---- permutation.cu ---- */

/* Stable rows by dense rank among runs (ascending, at most 65,536); narrow:
 * the bins of map, which is ascending, fit in shared memory.  ready: null, or
 * workspace for two passes over n items. */
void		ranked_permutation(HpsortCuda *context, cudaStream_t stream,
							   const KeyMap &map, bool narrow, bool descending,
							   const Runs &runs, const int32_t *keys, uint64_t n,
							   uint32_t *rows, Sweeps *ready = nullptr);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_KERNELS_CUH */
