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
extern bool job_keep_extents(Job *job, const GpuExtents *message);

/* Handles ADD_EXTENTS: answers in the chunk. */
extern bool job_add_extents(Job *job, const GpuExtents *message);

#endif							/* HPSORT_GPUD_JOB_EXTENTS_H */
