/*
 * divided_job.h
 *		One job over the jobs of several devices, each of which has some of the keys.
 *
 * For rows_job.c, which divides rows among devices.
 */
#ifndef HPSORT_DIVIDED_JOB_H
#define HPSORT_DIVIDED_JOB_H

#include "sort/device/device.h"

/* The jobs of a divided one, opened by the same spec but for the device, with all their keys. */
typedef struct DividedParts
{
	SortJob    *jobs[SORT_DEVICES_MOST];
	int			n;
	uint32_t	grain;			/* of their layout */

	/* Where rows are found, whose numbers are by the order of the whole list; else rows is NULL. */
	const SortRows *rows;		/* of all jobs, as they were added; must outlive the job */
	size_t		nrows;
	const uint8_t *part_of;		/* of each, the job that it is in; becomes the job's own */
} DividedParts;

/*
 * Makes a job of jobs, which are its own from then on, and closed on failure.  It can be finished,
 * its runs read or, of a job with look_up, questions asked, and closed.  SORT_LOOK_AT and
 * SORT_LOOK_SUM search for the key at a position: some round trips.  SORT_LOOK_DISTINCT asks for
 * each key between the bounds, and fails where these are too many.
 */
extern SortStatus divided_job_make(const SortContext *context, const DividedParts *parts,
								   SortJob **job, SortError *err);

#endif							/* HPSORT_DIVIDED_JOB_H */
