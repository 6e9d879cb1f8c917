/*
 * extent_job.h
 *		Runs of the keys of extents that a GPU keeps copies of.
 *
 * The keys do not cross to the GPU: it counts those of the extents that it has.  It is given
 * the bytes of the others, as far as it has room, once.
 */
#ifndef HPSORT_EXTENT_JOB_H
#define HPSORT_EXTENT_JOB_H

#include "sort/device.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * The bytes of extent i, which stay as they are until the next call; false if there are none
 * any more.
 */
typedef bool (*ExtentFetch) (void *arg, size_t i, const void **bytes, size_t *size);

typedef struct ExtentJob
{
	SortExtent *extents;		/* n of them, of which added tells afterwards which were counted */
	size_t		n;
	int32_t		lo;				/* inclusive bounds of all their keys */
	int32_t		hi;
	ExtentFetch fetch;
	void	   *arg;
} ExtentJob;

/*
 * Whether context's GPU counts n keys from lo to hi of its own copies in less time than
 * the CPU does of packed keys, as far as is known; always and never as context's device says.  May
 * connect to the GPU's service.
 */
extern bool extent_job_pays(const SortContext *context, uint64_t n, int32_t lo, int32_t hi);

/*
 * Adds the keys of extents, as many as the GPU counts, to runs, which are of context's
 * allocator.  On failure none are counted.
 */
extern SortStatus extent_job_run(const SortContext *context, const ExtentJob *job, Runs *runs,
								 SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_EXTENT_JOB_H */
