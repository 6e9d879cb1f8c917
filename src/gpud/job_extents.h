/*
 * job_extents.h
 *		Extents in a job: those that its client brings to be kept, and those that are
 *		added to it by their numbers.
 *
 * Called by job_messages.c for a job that is being filled and has not failed.  As in
 * job_chunks.h, false means that the connection is over; what fails the job (job_fail) returns
 * true with job->failed set.
 */
#ifndef HPSORT_GPUD_JOB_EXTENTS_H
#define HPSORT_GPUD_JOB_EXTENTS_H

#include "gpud/job.h"

/* Handles KEEP: extents lie in a chunk that is the client's. */
extern bool job_keep_extents(Job *job, const GpuMessage *m);

/* Handles ADD_EXTENTS: answers in the chunk. */
extern bool job_add_extents(Job *job, const GpuMessage *m);

/* --- for job_rows.c */

/* Room for n more extents in job->extents; false if there is no memory for it. */
extern bool job_reserve_extents(Job *job, uint32_t n);

/*
 * Finds extents as extents_find does, which the job holds from now on; there is room in
 * job->extents.
 */
extern void job_find_extents(Job *job, const uint64_t *generations, size_t stride,
							 HeldExtent **found, uint32_t n);

/* The bits that an extent's blocks have in word i of a list's entry. */
extern uint64_t job_extent_blocks(const HeldExtent *extent, uint32_t i);

#endif							/* HPSORT_GPUD_JOB_EXTENTS_H */
