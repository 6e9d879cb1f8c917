/*
 * connection.h
 *		A connection and its job, shared by connection.c (the thread, the
 *		socket) and job.c (what messages do to the job), nobody else.
 */
#ifndef HPSORT_GPUD_CONNECTION_H
#define HPSORT_GPUD_CONNECTION_H

#include "gpud/gpud.h"

typedef enum ChunkState
{
	CHUNK_ELSEWHERE = 0,
	CHUNK_FILLING,				/* the client's, for writing */
	CHUNK_BUSY,					/* the device reads it */
	CHUNK_READING				/* the client's, for reading */
} ChunkState;

/* A chunk the device may still read, and until which call it does. */
typedef struct BusyChunk
{
	uint32_t	chunk;
	uint64_t	number;
} BusyChunk;

/*
 * A job of a connection is in one of five states:
 *
 *		closed		!open: only OPEN is taken
 *		filling		open, !finished: chunks are granted (supply) for the keys that were
 *					announced, ADD hands them over
 *		finished	finished, form NONE: the result is the engine's, READ asks for it
 *		reading		finished, form set: chunks with results go out (deliver)
 *		failed		failed: ERROR was sent; everything but CLOSE is received and ignored
 *
 * open -> filling -> finished <-> reading, failed from each of them, and CLOSE from
 * everywhere to closed.  When there is no chunk the connection waits in a queue for
 * one (queued), whichever of the two directions needs it.
 */
typedef struct Connection
{
	Service    *service;
	struct Connection *next;
	uint64_t	id;
	int			fd;
	atomic_int	over;			/* CONNECTION_... */
	pthread_mutex_t job_lock;	/* of job, against cancelling */

	ChunkHolder holder;
	unsigned char *state;		/* a ChunkState for each chunk */
	uint32_t	filling;		/* chunks in these states */
	uint32_t	reading;
	BusyChunk  *busy;			/* a ring of chunks->count */
	uint32_t	busy_at;
	uint32_t	nbusy;
	bool		queued;			/* for a chunk */
	bool		starved;		/* fault: there is none, ever */
	int64_t		queued_since;

	/* the job */
	uint64_t	number;			/* the current or last one's */
	bool		open;			/* between OPEN and CLOSE */
	bool		failed;			/* ERROR was sent */
	bool		finished;
	GpuOpen		spec;
	Device	   *device;
	void	   *job;			/* the engine's */
	uint64_t	announced;		/* keys to be added, as far as is known; at least n */
	uint64_t	n;				/* keys added */
	EngineResult result;

	/* the reading in progress */
	uint32_t	reads;
	GpuForm		form;			/* NONE: nothing being read */
	bool		descending;
	uint64_t	at;
	uint64_t	items;

	GpuInput	in;
} Connection;

/* Sending; false when the connection is over. */
extern bool connection_send(Connection *c, const GpuMessage *message);

/* Sends what no service of ours would, for a fault; always false. */
extern bool connection_send_nonsense(Connection *c, FaultKind fault);

/* Answers a message that breaks the protocol; always false. */
extern bool connection_bad_message(Connection *c, const char *why);

/*
 * A message for a job: OPEN, or one with the current job's number.  False when
 * the connection is over, as below.
 */
extern bool job_message(Connection *c, const GpuMessage *m);

/* Does what can be done without a message; *timeout (ms) says when to look again. */
extern bool job_progress(Connection *c, int *timeout);

/* Ends the job: says why, if the client is still to hear it. */
extern bool job_fail(Connection *c, const EngineError *error);

/* Frees all that the job holds; error is NULL for a job that came to its end. */
extern void job_end(Connection *c, const EngineError *error);

#endif							/* HPSORT_GPUD_CONNECTION_H */
