/*
 * rows_job.h
 *		A GPU's sorted keys of rows of which it has copies, and questions about them.
 *
 * Neither rows nor keys cross to the GPU or back, but for keys that the caller has besides.
 */
#ifndef HPSORT_ROWS_JOB_H
#define HPSORT_ROWS_JOB_H

#include "sort/device.h"
#include "sort/extent_job.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct RowsJob
{
	const RowsLayout *layout;
	const ValueRange *ranges;
	int32_t		lo;				/* inclusive bounds of all keys */
	int32_t		hi;
	const int32_t *keys;		/* nkeys of them, besides those of rows */
	size_t		nkeys;
	SortRows   *rows;			/* n of them */
	const uint64_t *generations;	/* as of SortDevice.add_rows */
	size_t		n;
	ExtentFetch fetch;			/* of extent i, which is that of generations[i] */
	void	   *arg;
} RowsJob;

/*
 * Whether context's GPU sorts keys of n rows of so many columns, of which there are range different ones, of its own
 * copies in less time than the CPU takes for them; as extent_job_pays.
 */
extern bool rows_job_pays(const SortContext *context, uint64_t n, int ncolumns, uint64_t range);

/*
 * Has context's GPU sort all keys.  *job is NULL if it failed, or if the GPU has no room for some of the rows' extents, which
 * is SORT_OK; otherwise the caller asks it by look_up, and closes it.
 */
extern SortStatus rows_job_sort(const SortContext *context, const RowsJob *rows, SortJob **job, SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_ROWS_JOB_H */
