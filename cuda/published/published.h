/*-------------------------------------------------------------------------
 *
 * published.h
 *	  The sorting algorithms of the papers, each as its authors describe it,
 *	  beside the engine's own tuned way (hpsort_cuda.h), in plain C.
 *
 * They exist to be chosen by name, to be compared, and to keep the papers'
 * tables repeatable.  Contexts, the memory pool, errors and conventions are
 * those of hpsort_cuda.h.  What this header does not know: when one of them
 * is worth choosing (docs/internals/papers.md has the measurements).
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_H
#define HPSORT_PUBLISHED_H

#include "hpsort_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum HpsortPublished
{
	HPSORT_PUBLISHED_HP = 0,
	HPSORT_PUBLISHED_ONE_HP,
	HPSORT_PUBLISHED_ZERO_COMPRESSED,
	HPSORT_PUBLISHED_BUCKET_RADIX,
	HPSORT_PUBLISHED_COMPARISON_FREE,
	HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT,
	HPSORT_PUBLISHED_BUCKET_BITONIC,
	HPSORT_PUBLISHED_RADIX,		/* CUB, the peer of all of them */
	HPSORT_PUBLISHED_ALGORITHMS
} HpsortPublished;

/*
 * FLOAT4 is a 4-byte IEEE number in PostgreSQL's order: -0 equals 0, every
 * NaN equals every other and is larger than infinity.  Bits are kept as they
 * are.  FLOAT4_IMAGE is an int4 that stands for such a number: its bits, below
 * zero with all but the sign complemented, less 0x7fffff, which is their order
 * as integers and one to one.  Images have bounds and a stable order as integers
 * have; bucket_bitonic cuts both floats and their images into slices by value.
 */
typedef enum HpsortPublishedType
{
	HPSORT_PUBLISHED_INT4 = 0,
	HPSORT_PUBLISHED_FLOAT4,
	HPSORT_PUBLISHED_FLOAT4_IMAGE
} HpsortPublishedType;

/*
 * What the authors chose, or left to who runs it; 0 is their own choice.  A number
 * out of its range is refused, and so is one for another algorithm.  The counts are
 * powers of two.
 */
typedef struct HpsortPublishedOptions
{
	uint32_t	block_threads;	/* hp, one_hp, zero_compressed_published: threads of a
								 * block, 32 to 1024 (256); comparison_free: T, 1 to
								 * 1024 (16) */
	uint32_t	blocks;			/* comparison_free: blk, 1 to 65536 (1024); T blk is 2
								 * to 2^22 */
	uint32_t	row_threads;	/* comparison_free_onehot: threads that walk a row
								 * together, 1 or 32 (1) */
	uint32_t	radix_bits;		/* bucket_radix: r is 2 to this, 8 to 16 (16); two passes
								 * do for ranges up to r^2, more are refused */
	uint32_t	rows;			/* bucket_radix: s, 32 to 65536 (1024) */
	uint32_t	slice_expected; /* bucket_bitonic: E, 1 to M (80), any number */
	uint32_t	bucket_most;	/* bucket_bitonic: M, 128 to 2048 (512) */
	double		disorder_limit; /* bucket_bitonic: C, > 0 (10), any number */
} HpsortPublishedOptions;

/*
 * bounds_known: as in HpsortCudaSpec, a promise that is checked; without it
 * the bounds are found by one more reading of the keys.  FLOAT4 has none.
 * nearly_sorted and pass_keys are for bucket_bitonic and must be zero for the
 * others.  stable: equal keys keep their order; needs a payload, and with
 * bucket_bitonic keys that are not FLOAT4 and a payload that tells the order, such
 * as row numbers: distinct and ascending.  distinct is a promise for
 * comparison_free_onehot, which then multiplies (equation 10) instead of walking
 * (11): a key that occurs twice is an error.
 */
typedef struct HpsortPublishedSpec
{
	HpsortPublished algorithm;
	HpsortPublishedType type;
	int32_t		lo;
	int32_t		hi;
	int			bounds_known;
	int			descending;
	int			payload;		/* 4 bytes travel with each key */
	int			stable;
	int			distinct;
	int			nearly_sorted;	/* 1: it is, -1: it is not, 0: to be found out */
	uint64_t	pass_keys;		/* most keys sorted at once; more are cut, sorted
								 * and merged; 0: HPSORT_PUBLISHED_PASS_KEYS */
	HpsortPublishedOptions options;
} HpsortPublishedSpec;

/* One pass numbers elements in 32 bits; the authors' cards held 30e6. */
#define HPSORT_PUBLISHED_PASS_KEYS	((uint64_t) 1 << 30)

/*
 * HpsortCudaSpec.algorithm of a job that sorts with one of them.  Such a job
 * gives keys and runs; the permutation only if the algorithm moves a payload,
 * which then are row numbers, under stable.  It can be cancelled between its
 * launches, and within those that may take long.
 */
#define HPSORT_PUBLISHED_JOB(algorithm) ((int) (algorithm) + 1)

/* One row of the table of algorithms. */
typedef struct HpsortPublishedInfo
{
	const char *name;			/* as in SQL */
	const char *paper;			/* authors and year */
	const char *algorithm;		/* which part of it */
	int			stable;			/* equal keys keep their order as published (with
								 * a payload alone this can be seen) */
	int			distinct_only;	/* a key that occurs twice is an error */
	int			floats;			/* sorts FLOAT4 too */
	int			payload;		/* moves a payload too */
	const char *no_rows;		/* why it has no permutation; NULL: it has */
	uint64_t	max_n;
	const char *limits;			/* for people: what it can sort, what it costs */

	/*
	 * Upper bound of the device memory in bytes that it takes besides keys and
	 * result.  With unknown bounds the range counts as 2^32.  Pure.
	 */
	uint64_t	(*need) (const HpsortPublishedSpec *spec, uint64_t n);
} HpsortPublishedInfo;

/* All of them, in the order of the enum; *count is set when not NULL. */
extern const HpsortPublishedInfo *hpsort_published_algorithms(int *count);

/* 1 and *algorithm when there is one of that name, else 0. */
extern int	hpsort_published_by_name(const char *name, HpsortPublished *algorithm);

/*
 * Whether an algorithm can do a job at all; else BAD_ARGUMENT and why, or
 * NO_MEMORY with the need when that exceeds memory_limit (bytes; 0: not
 * looked at).  Pure.
 */
extern HpsortCudaCode hpsort_published_can(const HpsortPublishedSpec *spec,
										   uint64_t n, uint64_t memory_limit,
										   HpsortCudaError *err);

/*
 * The device memory of a job of n keys with spec->algorithm, as
 * hpsort_cuda_job_need() has it for the others.  Where the bounds are not known
 * the range counts as 1: what it really takes is looked at in finish, before
 * anything is sorted.  A job of bucket_bitonic that does not get so much cuts
 * its list, sorts the parts one by one and merges them; least is what it cannot
 * do without.  Pure.
 */
extern uint64_t hpsort_published_job_need(const HpsortCudaSpec *spec, uint64_t n);
extern uint64_t hpsort_published_job_least(const HpsortCudaSpec *spec, uint64_t n);

/*
 * Before the first key: lets a job of bucket_bitonic use further devices, which must
 * outlive it.  If there are enough keys each gets a part of them as they come, and
 * sorts it; the job's own merges the parts.  What a device has no room for, the job's
 * own takes: its memory is what hpsort_published_job_need() says in any case.  The
 * same device may be given again.  Jobs of other algorithms do without.
 */
extern HpsortCudaCode hpsort_published_job_share(HpsortCudaJob *job,
												 HpsortCuda *const *contexts,
												 int count, HpsortCudaError *err);

/* Where a call that does not wait reports what it found, in pinned memory. */
typedef struct HpsortPublishedVerdict
{
	HpsortCudaVerdict keys;		/* n_outside and key */
	uint32_t	n_duplicate;	/* one_hp, distinct: > 0 when a key occurs twice ... */
	int32_t		duplicate;		/* ... such as this one */
} HpsortPublishedVerdict;

/* Times of the steps that the papers' figures show, and how it went. */
#define HPSORT_PUBLISHED_PHASES 8
typedef struct HpsortPublishedReport
{
	uint32_t	phases;
	const char *phase[HPSORT_PUBLISHED_PHASES];
	double		phase_ms[HPSORT_PUBLISHED_PHASES];
	uint32_t	rounds;			/* bucket_radix: choices of pivots, over all passes;
								 * bucket_bitonic: levels of recursion */
	uint32_t	repaired;		/* bucket_radix: groups too disordered for
								 * insertion */
	int			nearly_sorted;	/* bucket_bitonic: taken as such, and so divided by
								 * the strided way */
	double		disorder;		/* bucket_bitonic: the disorder degree, where it was
								 * looked at */
} HpsortPublishedReport;

/*
 * Sort n keys of device memory into out (device memory, not overlapping);
 * payload and payload_out likewise, when spec->payload is set, else NULL.  On
 * the caller's stream, which may be NULL for the default one.
 *
 * With a verdict the call does not wait at its end (hp, one_hp and
 * comparison_free then do not wait at all when the bounds are given) and the
 * caller looks into the verdict; without one it waits and reports
 *	OUT_OF_BOUNDS	naming a key outside the given bounds
 *	DUPLICATE		one_hp, distinct: a key occurs twice; err->key is that key
 *	NO_MEMORY		with the need.
 * report may be NULL; asking for it costs two events a phase and a wait.
 */
extern HpsortCudaCode hpsort_published_sort(HpsortCuda *context,
											const HpsortPublishedSpec *spec,
											const void *keys,
											const uint32_t *payload, uint64_t n,
											void *out, uint32_t *payload_out,
											void *stream,
											HpsortPublishedVerdict *verdict,
											HpsortPublishedReport *report,
											HpsortCudaError *err);

/*
 * The merge of Chen et al.: two lists in the order that spec asks for (type,
 * descending, payload) become one; of equal elements those of a come first, or where
 * spec says stable those of the smaller payload.
 * Device memory; out must not overlap.  Does not wait.
 */
extern HpsortCudaCode hpsort_published_merge(HpsortCuda *context,
											 const HpsortPublishedSpec *spec,
											 const void *a,
											 const uint32_t *a_payload,
											 uint64_t a_n, const void *b,
											 const uint32_t *b_payload,
											 uint64_t b_n, void *out,
											 uint32_t *out_payload, void *stream,
											 HpsortCudaError *err);

/*
 * bucket_bitonic of structures: n of them, words 4-byte words each, ordered by the
 * word key_word, which has the type that spec names.  Key and number of each are
 * sorted as a key and its payload, and then every structure moves once, where the
 * authors move it in each step.  Memory besides the lists: 16 bytes a structure and
 * what sorting takes.  Structures that are aligned to 16 bytes, of 4 words, move
 * fastest.  Waits at its end.
 */
extern HpsortCudaCode hpsort_published_sort_structures(HpsortCuda *context,
													   const HpsortPublishedSpec *spec,
													   const void *structures,
													   uint32_t words,
													   uint32_t key_word,
													   uint64_t n, void *out,
													   void *stream,
													   HpsortCudaError *err);

/*
 * bucket_bitonic on several GPUs: from host memory to host memory (pinned is
 * faster).  Each context sorts a part, with a host thread of its own; the
 * parts are merged on the first.  The same device may be given more than once.
 */
extern HpsortCudaCode hpsort_published_sort_many(HpsortCuda *const *contexts,
												 int count,
												 const HpsortPublishedSpec *spec,
												 const void *keys,
												 const uint32_t *payload,
												 uint64_t n, void *out,
												 uint32_t *payload_out,
												 HpsortCudaError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_PUBLISHED_H */
