/*-------------------------------------------------------------------------
 *
 * regime.h
 *	  Size arithmetic and the choice of a regime.
 *
 * For regime.c and regime_memory.c, which implement it, and for all code that allocates and
 * launches.  Plain C without CUDA, so that tests run without a GPU.  regime_job_need() and
 * the engine's allocations use the same functions, so that they cannot differ.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_REGIME_H
#define HPSORT_CUDA_REGIME_H

#include "hpsort_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bins of a slice.  The sum of a slice is kept beside its bins, so that a block that wants a part
 * of the output can skip the slices before it. */
#define REGIME_SLICE_BINS		256

/*
 * PARTITION: keys that a block brings to their buckets at a time.
 *
 * - TILE: in general
 * - SMALL_TILE: for at most FEW_KEYS keys, so that all SMs have a tile, and where shared memory is
 *   small or buckets are many (regime_partition_tile())
 */
#define REGIME_PARTITION_TILE	16384
#define REGIME_PARTITION_SMALL_TILE	8192
#define REGIME_PARTITION_FEW_KEYS	((uint64_t) 1 << 21)

/* Least items of a tile of a sorting pass (sweep.cuh). */
#define REGIME_SWEEP_TILE	7680

/* DIGIT_BITS is the most bits of a digit.  A thread of MANY_KEYS takes MANY_KEYS_ITEMS keys in
 * general, and WIDE_ITEMS where an SM has WIDE_SHARED bytes of shared memory for two blocks. */
#define REGIME_DIGIT_BITS		8
#define REGIME_MANY_KEYS_ITEMS	22
#define REGIME_WIDE_ITEMS		26
#define REGIME_WIDE_SHARED		(110 * 1024)

/* ONE_LAUNCH: keys of a block's largest tile. */
#define REGIME_ONE_LAUNCH_TILE	8192

/* Keys of at most 24 bits take fewer passes than keys of 32 bits. */
#define REGIME_FEWER_PASSES_BITS	24

/* Parts of packed values that one launch is given at most, and the bytes of a part. */
#define REGIME_PACKED_PARTS		4096
#define REGIME_PACKED_PART_BYTES	32

/* Bytes of a slice of the output on its way to host memory (two slices are used). */
#define REGIME_READ_SLICE		((uint64_t) 16 << 20)

/* Returns the bytes of the tables of packed values of this many parts.  If one table cannot hold
 * all parts, there are two, which take turns. */
extern uint64_t regime_packed_bytes(uint64_t parts);

/* What the choice and the size arithmetic need to know about a device. */
typedef struct HpsortCudaLimits
{
	uint32_t	sms;			/* multiprocessors */
	uint32_t	shared_bytes;	/* shared memory one block may opt in to */
	uint64_t	memory_bytes;	/* device memory */
} HpsortCudaLimits;

/* RADIX: the kernels that make its passes. */
typedef enum HpsortCudaKernels
{
	HPSORT_CUDA_LIBRARY = 0,	/* CUB's: positions of more than 32 bits */
	HPSORT_CUDA_ONE_LAUNCH,		/* all passes in one launch of several blocks */
	HPSORT_CUDA_BIN_ROWS,		/* rows alone, by bins of at most 16 bits */
	HPSORT_CUDA_MANY_KEYS		/* whole keys, or whole keys and rows, in each pass */
} HpsortCudaKernels;

/* For RegimeShape.without: a regime, or kernels of RADIX, that must not be chosen.  RADIX itself,
 * LIBRARY and MANY_KEYS cannot be left out: they take what no other can. */
#define HPSORT_CUDA_WITHOUT(regime)				(1u << (regime))
#define HPSORT_CUDA_WITHOUT_KERNELS(kernels)	(1u << (16 + (kernels)))

/* The shape of one input, so far as it is known. */
typedef struct RegimeShape
{
	uint64_t	n;
	int32_t		lo;				/* stated by the caller, or found; else int32's */
	int32_t		hi;
	uint64_t	distinct;		/* estimate from a sample; 0: unknown */
	uint32_t	wanted;
	int			counted;		/* HpsortCudaSpec.counted: bins where they fit */
	uint32_t	without;		/* HPSORT_CUDA_WITHOUT bits: of regimes that have given up; tests
								 * and benches set others */
} RegimeShape;

/* The answer of regime_choose(): a regime, its parameters, and why. */
typedef struct RegimeChoice
{
	HpsortCudaRegime regime;
	uint32_t	shift;			/* PARTITION: log2 of the bins per bucket */
	uint32_t	buckets;		/* PARTITION: number of buckets */
	uint32_t	bits;			/* RADIX: significant low bits of the keys */
	uint32_t	passes;			/* RADIX: passes over these bits */
	uint32_t	digit_bits;		/* RADIX: bits of a digit (the last one may have fewer) */
	HpsortCudaKernels kernels;	/* RADIX: the kernels */
	uint32_t	items;			/* RADIX by MANY_KEYS: keys that a thread takes */
	char		reason[160];	/* one line for a person */
} RegimeChoice;

/* Chooses a regime, and the kernels of RADIX.  This is the only place where either is chosen.
 * Pure: the same arguments give the same choice, and no CUDA call is made. */
extern void regime_choose(const HpsortCudaLimits *limits, const RegimeShape *shape,
						  RegimeChoice *choice);

/* Returns whether a sample of the keys can change the choice and is worth the wait. */
extern int	regime_wants_sample(const HpsortCudaLimits *limits, const RegimeShape *shape);

/* Returns hi - lo + 1 in 64 bits. */
extern uint64_t regime_range(const RegimeShape *shape);

/* RADIX: sets passes, digits and kernels of *choice.  regime_choose() would choose another regime
 * for some of the shapes that this function is called with. */
extern void regime_choose_kernels(const HpsortCudaLimits *limits,
								  const RegimeShape *shape,
								  RegimeChoice *choice);

/* RADIX: returns the most keys that one launch sorts on this device. */
extern uint64_t regime_one_launch_most(const HpsortCudaLimits *limits);

/* Returns the most bins that SHARED_HISTOGRAM can hold on this device. */
extern uint32_t regime_shared_bins(const HpsortCudaLimits *limits);

/* FEW_DISTINCT: return the slots of a block's hash table, and the most values it may hold. */
extern uint32_t regime_few_distinct_slots(const HpsortCudaLimits *limits);
extern uint32_t regime_few_distinct_capacity(const HpsortCudaLimits *limits);

/* What a sample of keys has shown: its number of keys, the number of its distinct values (seen),
 * and how many of these occur in it once, twice and three times. */
typedef struct RegimeSample
{
	uint32_t	keys;
	uint32_t	seen;
	uint32_t	once;
	uint32_t	twice;
	uint32_t	thrice;
} RegimeSample;

/*
 * Limits of the corrections of regime_distinct():
 *
 * - From MAX_N keys on, the estimate is not corrected: trying FEW_DISTINCT in vain costs less
 *   than leaving it out in error.
 * - Below MIN_N keys, the sample must have met most values more than once.
 * - Above MOST values, FEW_DISTINCT is never tried.
 */
#define REGIME_TAIL_MAX_N		((uint64_t) 1 << 26)
#define REGIME_TAIL_MIN_N		((uint64_t) 1 << 23)
#define REGIME_TAIL_MOST		10240

/*
 * Returns an estimate of how many distinct values n keys have, by a sample of them.
 *
 * The normal case is Chao's estimate: the sample has missed once^2 / (2 twice) values.  This is
 * exact where the rare values are equally rare.  It is much too low where they have a long tail,
 * as by Zipf's law: for 1e7 keys of exponent 1.2 it is 5,000 where there are 300,000 values, and
 * FEW_DISTINCT then gives up after reading all keys (0.75 ms instead of 0.13).
 *
 * The ratio once * thrice / twice^2 shows the tail.  It is 2/3 for equally rare values and about
 * 2 for 8,192 values of exponents 1 to 1.2.  `tail` is the ratio divided by 2/3.
 *
 * - Up to 1.5, tail may be chance and is ignored.
 * - Up to 3, the estimate times tail comes near the truth.
 * - Above 3, the values are taken for a power law's, whose number grows with the number of keys
 *   to the power once / seen.  If the result is more than FEW_DISTINCT takes, n is returned, so
 *   that no regime of distinct values is chosen.
 *
 * Two more cases return n:
 *
 * - Hardly any rare value was met twice: this says only that there are many values.
 * - There are fewer than REGIME_TAIL_MIN_N keys and more than a quarter of the sample's values
 *   were met once: most blocks would meet these values anew, and FEW_DISTINCT does not pay
 *   (exponent 2, n 4.2e6, 3,000 values: 0.105 ms; a partition 0.07).
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
			/* 2^power, by a square that is exact at 0, 1/2 and 1 */
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

/* FEW_DISTINCT: returns the largest estimate for which it is tried, or 0 if it is no choice. */
extern uint64_t regime_few_distinct_most(const HpsortCudaLimits *limits,
										 const RegimeShape *shape);

/* PARTITION: returns the most buckets that one pass can write to on this device. */
extern uint32_t regime_partition_max_buckets(const HpsortCudaLimits *limits);

/* PARTITION: returns the keys of a tile. */
extern uint32_t regime_partition_tile(const HpsortCudaLimits *limits, uint64_t n,
									  uint32_t buckets);

/* PARTITION: returns the words of shared memory that scattering a tile to buckets takes. */
extern uint32_t regime_partition_words(uint32_t tile, uint32_t buckets);

/* PARTITION: returns how many keys a bucket's extent has room for. */
extern uint64_t regime_partition_extent(const HpsortCudaLimits *limits, uint64_t n,
										uint32_t buckets);

/* PARTITION: return how many further extents all buckets together may take, and how many words of
 * 8 bytes, a power of two, the table of further extents has. */
extern uint64_t regime_partition_further(uint64_t n, uint64_t extent);
extern uint64_t regime_partition_slots(uint64_t n, uint64_t extent);

/* PARTITION: return the number of keys above which a bucket is crowded, the keys of a segment of
 * a crowded bucket, and the most work items. */
extern uint64_t regime_partition_crowd(uint64_t n, uint32_t buckets);
extern uint64_t regime_partition_segment(uint64_t n, uint32_t buckets, uint32_t shift);
extern uint64_t regime_partition_items(uint64_t n, uint32_t buckets);

/* PARTITION: returns the most buckets that may be crowded, that is, need bins in memory. */
extern uint64_t regime_partition_crowded(uint64_t n, uint32_t buckets);

/* Returns the bits that x needs: 0 for 0, 32 for 2^32 - 1, 33 for 2^32. */
extern uint32_t regime_bits(uint64_t x);

/*
 * Returns an upper bound of the device memory, in bytes, that a job of n keys has allocated at any
 * moment, whatever its keys are, unless a published algorithm sorts them.  n overrides
 * spec->n_hint; if the hint is smaller than the real n, buffers grow by doubling, and the bound
 * does not hold.
 */
extern uint64_t regime_job_need(const HpsortCudaLimits *limits,
								const HpsortCudaSpec *spec, uint64_t n);

/* Return bytes of device memory, one function for each kind of buffer. */
extern uint64_t regime_bins_bytes(uint64_t range);
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
