/*
 * rows_job.h
 *		A GPU's jobs over rows of whose extents it keeps copies: their keys are sorted, for
 *		look-ups, or the values of one column are counted.
 *
 * Neither rows nor keys cross to the GPU or back, but for the bytes of extents that it lacks,
 * once, and for keys that the caller has besides.
 */
#ifndef HPSORT_ROWS_JOB_H
#define HPSORT_ROWS_JOB_H

#include "sort/device/device.h"

/*
 * Finds the bytes of extent i, which stay as they are until the next call; returns false if
 * there are none any more.
 */
typedef bool (*ExtentFetch) (void *arg, size_t i, const void **bytes, size_t *size);

typedef struct RowsJob
{
	const RowsLayout *layout;	/* NULL: the values of one column are counted */
	const ValueRange *ranges;
	int32_t		lo;				/* inclusive bounds of all keys */
	int32_t		hi;
	const int32_t *keys;		/* nkeys of them, besides the keys of rows */
	size_t		nkeys;
	SortRows   *rows;			/* n of them, of which added says afterwards which were counted */
	const uint64_t *generations;	/* as of SortDevice.add_rows */
	size_t		n;

	/*
	 * Where several devices keep extents: the i-th rows go to the device of this number, modulo
	 * how many devices there are, so that each device is asked for the same rows by all jobs.
	 * NULL: all go to the first one.
	 */
	const uint32_t *stripes;
	ExtentFetch fetch;			/* of extent i, which is that of generations[i] */
	void	   *arg;
} RowsJob;

/*
 * Returns whether context's GPU sorts keys of n rows of ncolumns columns, of which there are range
 * different ones, of its own copies by njobs jobs, or counts them by one (njobs is 0), in less time
 * than the CPU takes for them (plan_rows_pay), as far as is known; always and never as context's
 * device says.  The rows are in so many stripes (RowsJob).  May connect to the GPU's service.
 */
extern bool rows_job_pays(const SortContext *context, uint64_t n, int ncolumns, uint64_t range,
						  int njobs, bool ordered, uint32_t stripes);

/*
 * Has context's GPU sort all keys.  *job is NULL if it failed, or if the GPU has no room for some
 * of the rows' extents, which is SORT_OK; otherwise the caller asks it by look_up, and closes it.
 */
extern SortStatus rows_job_sort(const SortContext *context, const RowsJob *rows, SortJob **job,
								SortError *err);

/*
 * Adds the keys of rows, as many as the GPU counts, to runs, which are of context's allocator.
 * On failure none are counted.
 */
extern SortStatus rows_job_count(const SortContext *context, const RowsJob *rows, Runs *runs,
								 SortError *err);

#endif							/* HPSORT_ROWS_JOB_H */
