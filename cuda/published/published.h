/*-------------------------------------------------------------------------
 *
 * published.h
 *	  The sorting algorithms of the papers, each as its authors describe it, in plain C, beside
 *	  the engine's own regimes (hpsort_cuda.h).
 *
 * For jobs that name an algorithm (job.cu), for benches and for tests.  The algorithms exist to
 * be chosen by name, to be compared, and to keep the papers' tables repeatable.  Contexts, the
 * memory pool, errors and conventions are hpsort_cuda.h's.  This header does not know when
 * an algorithm is worth choosing; docs/internals/papers.md has the measurements.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_H
#define HPSORT_PUBLISHED_H

#include "hpsort_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The algorithms; their names in SQL are in the table. */
typedef enum HpsortPublished
{
	HPSORT_PUBLISHED_HP = 0,
	HPSORT_PUBLISHED_ONE_HP,
	HPSORT_PUBLISHED_ZERO_COMPRESSED,
	HPSORT_PUBLISHED_BUCKET_RADIX,
	HPSORT_PUBLISHED_COMPARISON_FREE,
	HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT,
	HPSORT_PUBLISHED_BUCKET_BITONIC,
	HPSORT_PUBLISHED_RADIX,		/* CUB, the peer of all others */
	HPSORT_PUBLISHED_ALGORITHMS
} HpsortPublished;

/*
 * The type of keys.
 *
 * - INT4: a signed integer.
 * - FLOAT4: a 4-byte IEEE number in PostgreSQL's order.  -0 equals 0; all NaNs are equal and
 *   larger than infinity.  The bits of each key are kept.
 * - FLOAT4_IMAGE: an int4 that stands for a FLOAT4, one to one and in the same order: the
 *   number's bits, complemented except for the sign if the number is below zero, less 0x7fffff.
 *   Images have bounds and a stable order, as integers have.
 *
 * bucket_bitonic cuts both floats and their images into slices by value.
 */
typedef enum HpsortPublishedType
{
	HPSORT_PUBLISHED_INT4 = 0,
	HPSORT_PUBLISHED_FLOAT4,
	HPSORT_PUBLISHED_FLOAT4_IMAGE
} HpsortPublishedType;

/*
 * Parameters that the authors chose, or left to the caller.  0 is the authors' own choice, which
 * is in parentheses below.  A number out of its range, and a parameter of another algorithm, is
 * an error.  Counts are powers of two unless "any number" stands there.
 */
typedef struct HpsortPublishedOptions
{
	uint32_t	block_threads;	/* hp, one_hp, zero_compressed_published: threads of a block, 32
								 * to 1024 (256); comparison_free: T, 1 to 1024 (16) */
	uint32_t	blocks;			/* comparison_free: blk, 1 to 65536 (1024); T blk is 2 to 2^22 */
	uint32_t	row_threads;	/* comparison_free_onehot: threads that walk a row together, 1 or
								 * 32 (1) */
	uint32_t	radix_bits;		/* bucket_radix: log2 of r, 8 to 16 (16), any number; a range
								 * above r^2 needs more than two passes and is an error */
	uint32_t	rows;			/* bucket_radix: s, 32 to 65536 (1024) */
	uint32_t	slice_expected; /* bucket_bitonic: E, 1 to M (80), any number */
	uint32_t	bucket_most;	/* bucket_bitonic: M, 128 to 2048 (512) */
	double		disorder_limit; /* bucket_bitonic: C, > 0 (10), any number */
} HpsortPublishedOptions;

/*
 * What is to be sorted, and how.
 *
 * - bounds_known: lo and hi are a promise that is checked, as in HpsortCudaSpec.  Without it the
 *   bounds are found by one more reading of the keys.  FLOAT4 has no bounds.
 * - stable: equal keys keep their order.  Needs a payload.  bucket_bitonic also needs keys that
 *   are not FLOAT4, and a payload that is distinct and ascends in the order of the keys, as row
 *   numbers do.
 * - distinct: a promise for comparison_free_onehot, which then multiplies (equation 10) instead
 *   of walking (equation 11).  A key that occurs twice is an error.
 * - nearly_sorted, pass_keys: for bucket_bitonic.  They must be zero for all others.
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
	int			nearly_sorted;	/* 1: the keys are nearly sorted; -1: they are not; 0: to be found
								 * out */
	uint64_t	pass_keys;		/* most keys sorted at once; more are cut, sorted and merged; 0:
								 * HPSORT_PUBLISHED_PASS_KEYS */
	HpsortPublishedOptions options;
} HpsortPublishedSpec;

/* Most keys of a pass, which numbers elements in 32 bits; the authors' cards held 30e6. */
#define HPSORT_PUBLISHED_PASS_KEYS	((uint64_t) 1 << 30)

/*
 * HpsortCudaSpec.algorithm of a job that sorts with an algorithm.  The job gives keys and runs.
 * It gives a permutation only if the algorithm moves a payload, which then are row numbers,
 * sorted with stable.  The job can be cancelled between its launches, and within launches that
 * may take long.
 */
#define HPSORT_PUBLISHED_JOB(algorithm) ((int) (algorithm) + 1)

/* One row of the table of algorithms. */
typedef struct HpsortPublishedInfo
{
	const char *name;			/* as in SQL */
	const char *paper;			/* authors and year */
	const char *algorithm;		/* which part of the paper */
	int			stable;			/* equal keys keep their order as published (visible only with a
								 * payload) */
	int			distinct_only;	/* a key that occurs twice is an error */
	int			floats;			/* sorts FLOAT4, too */
	int			payload;		/* moves a payload, too */
	const char *no_rows;		/* why it gives no permutation; NULL: it gives one */
	uint64_t	max_n;
	const char *limits;			/* for people: what it sorts and needs */

	/* Returns an upper bound of the device memory in bytes besides keys and result.  Without
	 * bounds the range counts as 2^32.  Pure. */
	uint64_t	(*need) (const HpsortPublishedSpec *spec, uint64_t n);
} HpsortPublishedInfo;

/*
 * Returns the table of all algorithms, in the order of the enum.  Sets *count, which may be NULL.
 */
extern const HpsortPublishedInfo *hpsort_published_algorithms(int *count);

/* Returns 1 and sets *algorithm if there is an algorithm of this name, else returns 0. */
extern int	hpsort_published_by_name(const char *name, HpsortPublished *algorithm);

/* Returns whether an algorithm can do a job: OK, BAD_ARGUMENT with the reason, or NO_MEMORY with
 * the need if the need exceeds memory_limit (bytes; 0: not checked).  Pure. */
extern HpsortCudaCode hpsort_published_can(const HpsortPublishedSpec *spec,
										   uint64_t n, uint64_t memory_limit,
										   HpsortCudaError *err);

/*
 * Return device memory in bytes of a job of n keys with spec->algorithm.  Pure.
 *
 * need is the upper bound that hpsort_cuda_job_need() is for all other jobs.  If the bounds are
 * not known, the range counts as 1: finish checks what the sort really takes before anything is
 * sorted.  least is what the job cannot do without: a job of bucket_bitonic that gets less than
 * its need cuts its list, sorts the parts one by one and merges them.
 */
extern uint64_t hpsort_published_job_need(const HpsortCudaSpec *spec, uint64_t n);
extern uint64_t hpsort_published_job_least(const HpsortCudaSpec *spec, uint64_t n);

/*
 * Lets a job of bucket_bitonic use further devices.  To be called before the first key; the
 * contexts must outlive the job, and a context may be given twice.  If there are enough keys,
 * each device gets a part of them as they come, and sorts it; the job's own device merges the
 * parts.  Exceptions:
 *
 * - Keys for which a device has no room stay on the job's own device, whose memory is what
 *   hpsort_published_job_need() says in any case.
 * - Jobs of other algorithms use no further devices.
 */
extern HpsortCudaCode hpsort_published_job_share(HpsortCudaJob *job,
												 HpsortCuda *const *contexts,
												 int count, HpsortCudaError *err);

/* Where a call that does not wait reports what it has found, in pinned memory. */
typedef struct HpsortPublishedVerdict
{
	HpsortCudaVerdict keys;		/* n_outside and key */
	uint32_t	n_duplicate;	/* one_hp, distinct: > 0 if a key occurs twice */
	int32_t		duplicate;		/* one of the keys that occur twice */
} HpsortPublishedVerdict;

/* Times of the phases that the papers' figures show, and which way a sort took. */
#define HPSORT_PUBLISHED_PHASES 8
typedef struct HpsortPublishedReport
{
	uint32_t	phases;
	const char *phase[HPSORT_PUBLISHED_PHASES];
	double		phase_ms[HPSORT_PUBLISHED_PHASES];
	uint32_t	rounds;			/* bucket_radix: choices of pivots in all passes; bucket_bitonic:
								 * levels of recursion */
	uint32_t	repaired;		/* bucket_radix: groups too disordered for insertion */
	int			nearly_sorted;	/* bucket_bitonic: taken as nearly sorted, and so divided by the
								 * strided way */
	double		disorder;		/* bucket_bitonic: the disorder degree, if it was measured */
} HpsortPublishedReport;

/*
 * Sorts n keys of device memory into out, which is device memory that does not overlap them.
 * payload and payload_out are arrays of the same kind if spec->payload is set, else NULL.  Works
 * on the caller's stream; NULL is the default stream.
 *
 * Without a verdict the call waits at its end.  It returns
 *
 *	OUT_OF_BOUNDS	with a key outside the given bounds
 *	DUPLICATE		one_hp, distinct: with a key that occurs twice
 *	NO_MEMORY		with the need
 *
 * With a verdict the call does not wait at its end, and the caller reads the verdict.  hp, one_hp
 * and comparison_free then do not wait at all if the bounds are given.
 *
 * report may be NULL; a report costs two events a phase and a wait.
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
 * The merge of Chen et al. 2009.  Merges two lists in the order of spec (type, descending,
 * payload) into out, which must not overlap them.  Of equal elements, the one of a comes first;
 * with spec->stable, the smaller payload does.  All lists are device memory.  Does not wait.
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
 * bucket_bitonic of structures.  Sorts n structures of `words` 4-byte words each by the word
 * key_word, which has the type of spec, into out.  Key and number of each structure are sorted as
 * a key and its payload; then every structure moves once, where the authors move it in each step.
 * Needs 16 bytes a structure besides the lists, and what sorting takes.  Structures of 4 words
 * that are aligned to 16 bytes move fastest.  Waits at its end.
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
 * bucket_bitonic on several GPUs.  Sorts from host memory to host memory (pinned is faster).
 * Each context sorts a part, with a host thread of its own; the first context's device merges the
 * parts.  The same context may be given more than once.
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
