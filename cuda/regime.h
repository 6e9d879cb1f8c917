/*-------------------------------------------------------------------------
 *
 * regime.h
 *	  Size arithmetic: of the choice of a regime (regime.c), and of the code that
 *	  allocates and launches.
 *
 * Plain C without CUDA, so that tests run without a GPU.  What hpsort_cuda_job_need()
 * promises and what the engine allocates come from the same functions and so cannot
 * differ.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_REGIME_H
#define HPSORT_CUDA_REGIME_H

#include "hpsort_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bins of a slice, whose sum is kept beside them, so that a block that wants a part of
 * the output can skip the slices before it. */
#define REGIME_SLICE_BINS		256

/* PARTITION: keys that a block brings to their buckets at a time: in general; where
 * shared memory is small; of up to FEW_KEYS keys, so that all SMs have a tile. */
#define REGIME_PARTITION_TILE	16384
#define REGIME_PARTITION_SMALL_TILE	4096
#define REGIME_PARTITION_FEW_KEYS	((uint64_t) 1 << 21)
#define REGIME_PARTITION_FEW_KEYS_TILE	8192

/* Least items of a tile of a sorting pass (sweep.cuh). */
#define REGIME_SWEEP_TILE	7680

/* Bits of a digit at most; keys a thread of MANY_KEYS in general, and what WIDE_ITEMS of
 * them need of shared memory, for the two blocks that an SM is to have. */
#define REGIME_DIGIT_BITS		8
#define REGIME_MANY_KEYS_ITEMS	22
#define REGIME_WIDE_ITEMS		26
#define REGIME_WIDE_SHARED		(110 * 1024)

/* ONE_LAUNCH: keys of a block's largest tile. */
#define REGIME_ONE_LAUNCH_TILE	8192

/* Passes over so many bits are one less than over 32. */
#define REGIME_FEWER_PASSES_BITS	24

/* Zeroed bytes in the workspace of the passes (Sweeps::zeroed) that their caller may use. */
#define REGIME_SWEEP_ZEROED	8448

/*
 * Most keys whose positions are counted in 32 bits: expand_block() rounds the
 * last position up to a tile, and that must not come out as 0.
 */
#define REGIME_POSITIONS_MAX	((uint64_t) UINT32_MAX - 1024)

/* Parts of packed values that a kernel is given at a time, and the bytes of one. */
#define REGIME_PACKED_PARTS		4096
#define REGIME_PACKED_PART_BYTES	32

/* Bytes of a slice of the output on its way to host memory (two are used). */
#define REGIME_READ_SLICE		((uint64_t) 16 << 20)

/* Tables of packed values of so many parts: two take turns where one is not enough. */
extern uint64_t regime_packed_bytes(uint64_t parts);

/* The shape of one input, as far as it is known. */
typedef struct RegimeShape
{
	uint64_t	n;
	int32_t		lo;				/* given, or found; those of int32 where neither is true */
	int32_t		hi;
	uint64_t	distinct;		/* estimate from a sample; 0: unknown */
	uint32_t	wanted;
	int			counted;		/* HpsortCudaSpec's: bins where they fit */
	uint32_t	without;		/* HPSORT_CUDA_WITHOUT bits: those of the specification,
								 * and of regimes that were tried in vain */
} RegimeShape;

typedef struct RegimeChoice
{
	HpsortCudaRegime regime;
	uint32_t	shift;			/* PARTITION: log2 of the bins per bucket */
	uint32_t	buckets;		/* PARTITION: number of buckets */
	uint32_t	bits;			/* RADIX: significant low bits of the keys, */
	uint32_t	passes;			/* the passes over them, */
	uint32_t	digit_bits;		/* the bits of a digit (the last may have fewer), */
	HpsortCudaKernels kernels;	/* the kernels, */
	uint32_t	items;			/* MANY_KEYS: and the keys that a thread takes */
	char		reason[160];	/* one line for a person */
} RegimeChoice;

/* The one place where a regime and the kernels of RADIX are chosen.  Pure: same
 * arguments, same answer, no CUDA call. */
extern void regime_choose(const HpsortCudaLimits *limits, const RegimeShape *shape,
						  RegimeChoice *choice);

/* Whether sampling the keys first can change the choice (and is worth it). */
extern int	regime_wants_sample(const HpsortCudaLimits *limits, const RegimeShape *shape);

extern const char *regime_name(HpsortCudaRegime regime);

/* hi - lo + 1 in 64 bits. */
extern uint64_t regime_range(const RegimeShape *shape);

/* RADIX: sets passes, digits and kernels of *choice, also where another regime would be
 * chosen for this shape. */
extern void regime_choose_kernels(const HpsortCudaLimits *limits,
								  const RegimeShape *shape,
								  RegimeChoice *choice);

/* RADIX: most keys that one launch sorts on this device. */
extern uint64_t regime_one_launch_most(const HpsortCudaLimits *limits);

/* Most bins that SHARED_HISTOGRAM can hold on this device. */
extern uint32_t regime_shared_bins(const HpsortCudaLimits *limits);

/* FEW_DISTINCT: slots of a block's hash table, and the most values it may hold. */
extern uint32_t regime_few_distinct_slots(const HpsortCudaLimits *limits);
extern uint32_t regime_few_distinct_capacity(const HpsortCudaLimits *limits);

/* Numbers of a sample's keys, of its values, and of the values that occur in it once,
 * twice and three times. */
typedef struct RegimeSample
{
	uint32_t	keys;
	uint32_t	seen;
	uint32_t	once;
	uint32_t	twice;
	uint32_t	thrice;
} RegimeSample;

/*
 * Limits of regime_distinct()'s corrections.  From MAX_N keys on none is made: trying
 * FEW_DISTINCT in vain costs less than leaving it out in error.  Below MIN_N the sample
 * must have met most values more than once.  Beyond MOST values FEW_DISTINCT is never
 * tried.
 */
#define REGIME_TAIL_MAX_N		((uint64_t) 1 << 26)
#define REGIME_TAIL_MIN_N		((uint64_t) 1 << 23)
#define REGIME_TAIL_MOST		10240

/*
 * How many distinct values n keys have, by a sample of them.
 *
 * Chao's estimate: the sample has missed once^2 / (2 twice) values.  The estimate is exact
 * where the rare values are equally rare, and much too low where they have a long tail,
 * as by Zipf's law: for 1e7 keys with exponent 1.2 it is 5,000 where there are 300,000
 * values, and FEW_DISTINCT then gives up after reading all keys (0.75 ms instead of 0.13).
 *
 * The tail is seen in once * thrice / twice^2, which is 2/3 for equally rare values and
 * about 2 for 8,192 values of exponents 1 to 1.2; tail is that number divided by 2/3.
 * Up to 1.5 tail may be chance, and is ignored.  Up to 3 the estimate times tail comes
 * near the truth.  Above 3 the values are taken for a power law's, whose number grows
 * with the number of keys to the power once / seen; if that is more than FEW_DISTINCT
 * takes, n is returned, so that no regime of distinct values is chosen.  n is returned as
 * well where hardly any rare value was met twice, which says only that there are many.
 *
 * Below REGIME_TAIL_MIN_N keys FEW_DISTINCT does not pay for values that most blocks meet
 * anew (exponent 2, n 4.2e6, 3,000 values: 0.105 ms; a partition 0.07), so n is returned
 * where more than a quarter of the sample's values were met once.
 */
#ifdef __CUDACC__
__host__ __device__ static __forceinline__ double
#else
static inline double
#endif
regime_distinct(const RegimeSample *sample, uint64_t n)
{
	const double once = sample->once;
	const double twice = sample->twice > 0 ? sample->twice : 1;
	const double tail = sample->thrice < 8 ? 1 :
		once * sample->thrice / (twice * twice) * 1.5;
	double		distinct = sample->seen + once * once / (2 * twice);

	if (n < REGIME_TAIL_MAX_N)
	{
		if ((sample->twice < 2 && sample->once >= 64) ||
			(n < REGIME_TAIL_MIN_N && sample->once > sample->seen / 4))
			return (double) n;
		if (tail > 3)
		{
			const double power = once / sample->seen;

			distinct = sample->seen;
			/* 2^power, by a square that meets it at 0, 1/2 and 1 */
			for (uint64_t keys = sample->keys; keys < n; keys *= 2)
				distinct *= 1 + power * (0.6569 + 0.3431 * power);
			if (distinct > REGIME_TAIL_MOST)
				return (double) n;
		}
		else if (tail > 1.5)
			distinct *= tail;
	}
	return distinct < (double) n ? distinct : (double) n;
}

/* FEW_DISTINCT: the largest estimate it is tried for; 0 where it is no choice. */
extern uint64_t regime_few_distinct_most(const HpsortCudaLimits *limits,
										 const RegimeShape *shape);

/* PARTITION: most buckets that one pass can write to on this device. */
extern uint32_t regime_partition_max_buckets(const HpsortCudaLimits *limits);

/* PARTITION: keys of a tile that is scattered to buckets that have not been counted. */
extern uint32_t regime_partition_tile(uint64_t n);

/* PARTITION: words of shared memory that such a scattering takes. */
extern uint32_t regime_partition_words(uint64_t n, uint32_t buckets);

/* PARTITION: keys that a bucket has room for by itself; 0: buckets are counted first. */
extern uint64_t regime_partition_extent(const HpsortCudaLimits *limits, uint64_t n,
										uint32_t buckets);

/* PARTITION: extents that buckets may take beside their first, and words of eight bytes
 * in the table of these, a power of two; for extents that are not 0. */
extern uint64_t regime_partition_further(uint64_t n, uint64_t extent);
extern uint64_t regime_partition_slots(uint64_t n, uint64_t extent);

/* PARTITION: a bucket of more keys is crowded, keys per segment of one, most work items. */
extern uint64_t regime_partition_crowd(uint64_t n, uint32_t buckets);
extern uint64_t regime_partition_segment(uint64_t n, uint32_t buckets, uint32_t shift);
extern uint64_t regime_partition_items(uint64_t n, uint32_t buckets);

/*
 * PARTITION: the end of segment i of a bucket of count keys, counted from the
 * bucket's start.  count may be so near to 2^32 that (i + 1) * segment is not
 * below it, so no more than what is left is added.
 */
#ifdef __CUDACC__
__host__ __device__ static __forceinline__ uint32_t
#else
static inline uint32_t
#endif
regime_segment_end(uint32_t count, uint32_t segment, uint32_t i)
{
	uint32_t	begin = i * segment;

	return begin + (count - begin < segment ? count - begin : segment);
}

/* PARTITION: buckets that may be crowded, that is, need bins in memory. */
extern uint64_t regime_partition_crowded(uint64_t n, uint32_t buckets);

/* Bits that x needs: 0 for 0, 32 for 2^32 - 1, 33 for 2^32. */
extern uint32_t regime_bits(uint64_t x);

/* Device memory in bytes, a function for each kind of buffer. */
extern uint64_t regime_bins_bytes(uint64_t range, uint32_t count_bytes);
extern uint64_t regime_runs_bytes(uint64_t runs);
extern uint64_t regime_few_distinct_bytes(const HpsortCudaLimits *limits);
extern uint64_t regime_partition_bytes(const HpsortCudaLimits *limits, uint64_t n,
									   uint32_t shift, uint32_t buckets);
extern uint64_t regime_sweep_bytes(uint64_t n, uint32_t passes);
extern uint64_t regime_radix_bytes(uint64_t n, uint32_t value_bytes);
extern uint64_t regime_ranks_bytes(uint64_t n);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_CUDA_REGIME_H */
