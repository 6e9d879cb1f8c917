/*
 * job_chunks.h
 *		The chunks of a job on their way: to the client for keys, to the device with
 *		keys, to the client with results, and back.
 *
 * Called by job_messages.c and by the connection's thread.  Functions that return
 * bool return false when the connection is over; what fails the job (job_fail)
 * returns true with job->failed set.
 */
#ifndef HPSORT_GPUD_JOB_CHUNKS_H
#define HPSORT_GPUD_JOB_CHUNKS_H

#include "gpud/job.h"

/*
 * Grants chunks to the client for the keys that it has announced, as far as
 * chunks are free; queues for one if the job has none at all.
 */
extern bool job_supply(Job *job);

/* Takes back chunks whose keys the device has read; wait: all of them. */
extern bool job_collect_busy(Job *job, bool wait);

/* Takes back a chunk, whatever it was used for. */
extern void job_take_back(Job *job, uint32_t chunk);

/* Does what can be done without a message; *timeout (ms, -1: none) says when to look again. */
extern bool job_progress(Job *job, int *timeout);

#endif							/* HPSORT_GPUD_JOB_CHUNKS_H */
