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
 * Grants chunks to the client for the keys and extents that it has announced, as far as
 * chunks are free; queues for one if the job has none at all.
 */
extern bool job_supply(Job *job);

/*
 * A chunk that the client has filled is the device's now; then job_chunk_is_read_by tells
 * with which call of the engine it will have been read, 0: already.
 */
extern void job_chunk_is_busy(Job *job, uint32_t chunk);
extern void job_chunk_is_read_by(Job *job, uint32_t chunk, uint64_t number);

/* A chunk that the client has filled is the client's for reading. */
extern void job_chunk_is_lent(Job *job, uint32_t chunk);

/* If the client has handed over all that it has announced, it has no share of the chunks. */
extern void job_may_pause(Job *job);

/* Takes back chunks whose keys the device has read; wait: all of them. */
extern bool job_collect_busy(Job *job, bool wait);

/* Takes back a chunk, whatever it was used for. */
extern void job_take_back(Job *job, uint32_t chunk);

/* Does what can be done without a message; *timeout (ms, -1: none) says when to look again. */
extern bool job_progress(Job *job, int *timeout);

#endif							/* HPSORT_GPUD_JOB_CHUNKS_H */
