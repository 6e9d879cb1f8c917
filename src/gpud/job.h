/*
 * job.h
 *		The job of a connection: what a client has asked for, the CUDA engine's job that
 *		does it, and the chunks that go to and fro.
 *
 * One connection has one Job, which it opens and closes any number of times; one
 * thread uses it, but any thread may cancel it.  Here is what ends a job;
 * job_chunks.c moves its chunks, job_extents.c brings and adds extents, job_rows.c adds rows of
 * several of them and answers questions, job_messages.c does what all other messages ask for.
 */
#ifndef HPSORT_GPUD_JOB_H
#define HPSORT_GPUD_JOB_H

#include <pthread.h>

#include "gpu/protocol.h"
#include "gpud/chunks.h"
#include "gpud/devices.h"
#include "gpud/peer.h"
#include "hpsort_cuda.h"

typedef enum ChunkState
{
	CHUNK_ELSEWHERE = 0,		/* free, or another job's */
	CHUNK_FILLING,				/* the client's, for writing */
	CHUNK_BUSY,					/* the device reads it */
	CHUNK_READING				/* the client's, for reading */
} ChunkState;

/* A chunk that the device may still read. */
typedef struct BusyChunk
{
	uint32_t	chunk;
	uint64_t	number;			/* of the engine's call that reads it */
} BusyChunk;

/*
 * A job is in one of five states:
 *
 *		closed		!open: only OPEN is taken
 *		filling		open, !finished: chunks are granted for the keys and extents that were
 *					announced (job_chunks.c), ADD, KEEP and ADD_EXTENTS hand them over
 *		finished finished, form NONE: the result is the engine's, READ and LOOK ask for it; chunks
 *		are
 *					granted for questions that were announced
 *		reading		finished, form set: chunks with results go out (job_chunks.c)
 *		failed		failed: ERROR was sent; everything but CLOSE is received and ignored
 *
 * open -> filling -> finished <-> reading, failed from each of them, and CLOSE from
 * everywhere to closed.  When there is no chunk the job waits in a queue for one
 * (queued), whichever of the two directions needs it.
 */
typedef struct Job
{
	Peer	   *peer;			/* the client */
	Devices    *devices;
	Chunks	   *chunks;

	ChunkHolder holder;
	unsigned char *state;		/* a ChunkState for each chunk */
	uint32_t	filling;		/* chunks in these states */
	uint32_t	reading;
	BusyChunk  *busy;			/* a ring of chunks->count */
	uint32_t	busy_at;
	uint32_t	nbusy;
	bool		queued;			/* for a chunk */
	int64_t		queued_since;	/* ms */

	uint64_t	number;			/* the current or last one's */
	bool		open;			/* between OPEN and CLOSE */
	bool		failed;			/* ERROR was sent */
	bool		finished;
	GpuOpen		spec;
	Device	   *device;			/* NULL: none */
	uint64_t	epoch;			/* of the client's extents; 0: it has none */
	pthread_mutex_t lock;		/* of cuda, against cancelling */
	HpsortCudaJob *cuda;		/* NULL: none */
	uint64_t	announced;		/* keys to come in chunks, as far as is known; at least crossed */
	uint64_t	crossed;		/* keys that have come in chunks */
	uint32_t	wanted;			/* chunks announced for extents, rows or questions that have not
								 * come yet */
	uint64_t	n;				/* keys added, those of extents included; rows, until the job is
								 * finished */
	uint32_t	ncolumns;		/* of rows; 0: there is no layout */
	uint64_t	distinct;		/* of the keys of a finished job; 0: not known, or there are none */

	/* extents of the device that the job holds */
	HeldExtent **extents;
	uint32_t	nextents;
	uint32_t	most_extents;	/* room */
	bool		full;			/* the client was told that there is no room for more */

	/* the reading in progress */
	uint32_t	reads;			/* its number */
	GpuForm		form;			/* NONE: there is none */
	bool		descending;
	uint64_t	at;				/* next item to be sent */
	uint64_t	items;			/* in all */
} Job;

/* A closed job.  False when there is no memory; nothing is left to release. */
extern bool job_init(Job *job, Peer *peer, Devices *devices, Chunks *chunks);

/* Frees what job_init took; the job must be closed. */
extern void job_release(Job *job);

/* Makes what the engine does for the job end soon.  Any thread may call it. */
extern void job_cancel(Job *job);

/*
 * The job has failed, of which text says more: tells the client.  The client's
 * chunks stay its own until it closes the job, because it may be writing to one.
 * False when the connection is over.
 */
extern bool job_fail(Job *job, GpuFailure failure, const char *text);

/* The same of an error of the engine's.  A job that was cancelled has no client to tell. */
extern bool job_fail_by(Job *job, const HpsortCudaError * error);

/* Closes the job, and frees all that it holds. */
extern void job_end(Job *job);

/*
 * Whether err is a lack of memory to which extents, which no job uses, have now been given
 * up: the engine may be called again.
 */
extern bool job_makes_room(Job *job, const HpsortCudaError * err);

/* The job waits for no chunk any more. */
extern void job_stop_queueing(Job *job);

#endif							/* HPSORT_GPUD_JOB_H */
