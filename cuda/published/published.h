/*-------------------------------------------------------------------------
 *
 * published.h
 *	  The sorting algorithms of the papers, each as its authors describe it, in plain C, beside
 *	  the engine's own regimes (hpsort_cuda.h).
 *
 * For the GPU service (src/gpud), whose jobs may name an algorithm.  The algorithms exist to be
 * chosen by name, to be compared, and to keep the papers' tables repeatable.  Conventions are
 * hpsort_cuda.h's.  When an algorithm is worth choosing is in docs/internals/papers.md.
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
 * HpsortCudaSpec.algorithm of a job that sorts with an algorithm.  The job gives keys and runs.
 * It gives a permutation only if the algorithm moves a payload, which then are row numbers,
 * sorted with stable.  The job can be cancelled between its launches, and within launches that
 * may take long.
 */
#define HPSORT_PUBLISHED_JOB(algorithm) ((int) (algorithm) + 1)

/* Returns 1 and sets *algorithm if there is an algorithm of this name, else returns 0. */
extern int	hpsort_published_by_name(const char *name, HpsortPublished *algorithm);

/*
 * Lets a job of bucket_bitonic use further devices.  To be called before the first key; the
 * contexts must outlive the job, and a context may be given twice.  If there are enough keys,
 * each device gets a part of them as they come, and sorts it; the job's own device merges the
 * parts.  Exceptions:
 *
 * - Keys for which a device has no room stay on the job's own device, which needs no more
 *   memory than without further devices.
 * - Jobs of other algorithms use no further devices.
 */
extern HpsortCudaCode hpsort_published_job_share(HpsortCudaJob *job,
												 HpsortCuda *const *contexts,
												 int count, HpsortCudaError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_PUBLISHED_H */
