/*
 * job.h
 *		The job of a connection: what a client has asked for, the CUDA engine's job that
 *		does it, and the chunks that go to and fro.
 *
 * One connection has one Job, which it opens and closes any number of times.  The connection's
 * thread uses it, and calls job_message for each message and job_progress before each wait.  The
 * other functions here are what the job's files call of each other.  Any thread may call
 * job_cancel.
 *
 * Functions that return bool return false when the connection is over.  A job that fails is no end
 * of the connection: job_fail sends an ERROR, sets job->failed and returns true.  So a caller
 * looks at job->failed before it goes on.
 */
#ifndef HPSORT_GPUD_JOB_H
#define HPSORT_GPUD_JOB_H

#include <pthread.h>

#include "gpu/protocol.h"
#include "gpud/chunks.h"
#include "gpud/devices.h"
#include "gpud/peer.h"
#include "hpsort_cuda.h"

/* Extents of the device that a job holds until it ends, so that none of them is given up. */
typedef struct JobExtents
{
	HeldExtent **list;
	uint32_t	n;
	uint32_t	most;			/* room */
	bool		full;			/* FULL was sent: there is no room for more */
} JobExtents;

/* The sending of a finished job's result. */
typedef struct JobResult
{
	SortWant	form;			/* as it travels */
	uint64_t	at;				/* next item to be sent */
	uint64_t	items;			/* in all; 0: there is none, or not yet */
} JobResult;

/*
 * A job, and the way of its keys: the client fills a chunk, the device reads it, and the chunk is
 * free again (job_chunks.c); results and answers lie in chunks that are lent to the client.
 *
 * A job is in one of five states:
 *
 *		closed		!open: only OPEN is taken
 *		filling		open, !finished: chunks are granted for what was announced
 *					(job_chunks.c); ADD, KEEP, LAYOUT and ADD_ROWS hand them over
 *		sending		finished, !spec.look_up: chunks with results go out (job_chunks.c)
 *		asked		finished, spec.look_up: chunks are granted for questions that were
 *					announced, and LOOK_... hands them over
 *		failed		failed: ERROR was sent; everything but CLOSE is received and ignored
 *
 * open -> filling -> sending or asked, failed from each of them, and CLOSE from
 * everywhere to closed.  When there is no chunk the job waits in a queue for one
 * (holder.queued), whichever of the two directions needs it.
 */
typedef struct Job
{
	Peer	   *peer;			/* the client */
	Devices    *devices;
	uint64_t	epoch;			/* of the client's extents; 0: it has none */
	ChunkHolder holder;			/* of the chunks on their way to and fro */

	uint64_t	number;			/* the current or last one's */
	bool		open;			/* between OPEN and CLOSE */
	bool		failed;			/* ERROR was sent */
	bool		finished;
	GpuOpen		spec;
	Device	   *device;			/* NULL: none */
	pthread_mutex_t lock;		/* of cuda, against cancelling */
	HpsortCudaJob *cuda;		/* NULL: none */
	uint64_t	wanted;			/* chunks that were announced and have not come yet */
	uint64_t	n;				/* keys added; with conditions, the most that there can be, until
								 * the job is finished */
	bool		layout;			/* rows have one; if not, the values of one column are keys */
	uint32_t	ncolumns;		/* of rows */
	JobExtents	extents;
	JobResult	result;
} Job;

/* --- job.c: the beginning and the end */

/* A closed job.  False when there is no memory; nothing is left to release. */
extern bool job_init(Job *job, Peer *peer, Devices *devices, Chunks *chunks);

/* Frees what job_init took; the job must be closed. */
extern void job_release(Job *job);

/* Makes what the engine does for the job end soon.  Any thread may call it. */
extern void job_cancel(Job *job);

/*
 * Fails the job: sends the client an ERROR with failure and text, a phrase, and closes the job on
 * its device.  The client's chunks stay its own until it closes the job, because it may be
 * writing to one.
 */
extern bool job_fail(Job *job, GpuFailure failure, const char *text);

/*
 * Fails the job for an error of the engine.  A sticky error also takes the device out of service.
 * The job of a client that has gone was cancelled: then the connection is over, and false returns.
 */
extern bool job_fail_by(Job *job, const HpsortCudaError * error);

/* Closes the job on its device, and gives back the device, extents and chunks. */
extern void job_end(Job *job);

/*
 * Whether err is a lack of memory to which extents, which no job uses, have now been given
 * up: the engine may be called again.
 */
extern bool job_makes_room(Job *job, const HpsortCudaError * err);

/* --- job_chunks.c: chunks on their way to the client, to the device, and back */

/*
 * Grants chunks to the client for what it has announced, as far as chunks are free; queues for
 * one if the job has none at all.
 */
extern bool job_supply(Job *job);

/*
 * The client has filled a chunk, and call number of the engine reads it: job_collect_busy takes the
 * chunk back when that call is done.  0: the chunk has been read, and is taken back at once.
 */
extern void job_chunk_is_read_by(Job *job, uint32_t chunk, uint64_t number);

/* Lends the client a chunk with count items to read. */
extern bool job_lend(Job *job, uint32_t chunk, uint32_t count);

/* Takes back chunks whose keys the device has read; wait: all of them. */
extern bool job_collect_busy(Job *job, bool wait);

/* Does what can be done without a message; *timeout (ms, -1: none) says when to look again. */
extern bool job_progress(Job *job, int *timeout);

/* --- job_rows.c: extents that the client brings, their rows, and questions about sorted keys */

/* Handles KEEP: extents lie in a chunk that is the client's. */
extern bool job_keep_extents(Job *job, const GpuMessage *m);

/* Handles LAYOUT: a layout lies in a chunk that is the client's. */
extern bool job_set_layout(Job *job, const GpuMessage *m);

/* Handles ADD_ROWS: answers in the chunk. */
extern bool job_add_rows(Job *job, const GpuMessage *m);

/* Handles LOOK_..., of a finished job: answers in the chunk. */
extern bool job_look_up(Job *job, const GpuMessage *m);

/* --- job_messages.c: all other messages */

/*
 * Handles a message for a job: OPEN, or one with the current job's number.  Blocks only in the
 * engine's calls.
 */
extern bool job_message(Job *job, const GpuMessage *m);

#endif							/* HPSORT_GPUD_JOB_H */
