/*
 * chunks.h
 *		The memory that the service shares with all its clients, in chunks: who
 *		holds which chunk, and who gets the next.
 *
 * Keys and results lie in chunks, never in messages.  All functions may be
 * called by several threads at once, but one thread uses a ChunkHolder.
 */
#ifndef HPSORT_GPUD_CHUNKS_H
#define HPSORT_GPUD_CHUNKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The most chunks of a holder: one being filled or read, one submitted, one on the bus, one spare.
 * More gain nothing and cost page faults (bench/gpu/service_bench).
 */
#define HOLDER_MOST 4

typedef enum ChunkState
{
	CHUNK_BUSY,					/* the service or the device works on it */
	CHUNK_FILLING,				/* the client's, for writing */
	CHUNK_READING,				/* the client's, for reading */
	CHUNK_NONE					/* no state of a chunk that is held */
} ChunkState;

typedef struct HeldChunk
{
	uint32_t	chunk;
	ChunkState	state;
	uint64_t	number;			/* busy: of the engine's call that reads it; 0: of none yet */
} HeldChunk;

/*
 * What may hold chunks: a job.  wake is an eventfd, which becomes readable when
 * a chunk that the holder queues for has been given to it.
 */
typedef struct ChunkHolder
{
	struct Chunks *chunks;
	HeldChunk	list[HOLDER_MOST];
	uint32_t	held;			/* chunks in list */
	int			wake;
	bool		waiting;		/* in the queue */
	int64_t		given;			/* chunk given while waiting, -1: none */
	bool		queued;			/* waits for a chunk, or has not taken the one that was given */
	int64_t		queued_since;	/* ms */
	unsigned char *seen;		/* chunks that the client has touched before */
	struct ChunkHolder *next;	/* in the queue */
} ChunkHolder;

typedef struct Chunks
{
	int			fd;				/* the sealed memfd */
	char	   *memory;			/* all of it, mapped */
	uint64_t	bytes;			/* of a chunk */
	uint32_t	count;			/* of chunks */
	pthread_mutex_t lock;		/* of what follows, and of what holders have from waiting on */
	uint32_t   *free;			/* a stack: the last chunk freed is the warmest */
	uint32_t	nfree;
	ChunkHolder *first;			/* the queue, of holders without a chunk */
	ChunkHolder *last;
} Chunks;

/*
 * Makes total bytes of shared memory into chunks of `bytes` bytes.  On failure
 * text (GPU_TEXT_SIZE) is a phrase.
 */
extern bool chunks_create(Chunks *chunks, uint64_t total, uint64_t bytes, char *text);

/* False when there is no memory or no descriptor; nothing is left to release. */
extern bool chunks_holder_init(Chunks *chunks, ChunkHolder *holder);

/* The holder holds nothing any more, and does not queue. */
extern void chunks_holder_release(ChunkHolder *holder);

/* Returns the holder's entry of a chunk, valid until one is put back; NULL if there is none. */
extern HeldChunk *chunks_held(ChunkHolder *holder, uint32_t chunk);

extern uint32_t chunks_count(const ChunkHolder *holder, ChunkState state);

/*
 * Returns a chunk, which is busy, or -1; never waits.
 *
 * With must, which is for a holder that has none, any free chunk will do.  If there is none, the
 * holder queues: holder->wake becomes readable when it has been given one, which the next call
 * returns.  Without must, the holder gets one more only while no holder queues, up to four; up to
 * two while an eighth of all chunks or less are free.
 */
extern int64_t chunks_take(ChunkHolder *holder, bool must);

/* Leaves the queue, if the holder is in it; a chunk that has come meanwhile is given back. */
extern void chunks_leave(ChunkHolder *holder);

/* Gives a chunk back that the holder has. */
extern void chunks_put(ChunkHolder *holder, uint32_t chunk);

/* Returns where a chunk begins in the memory of the service; it is aligned to a page. */
static inline void *
chunks_at(const Chunks *chunks, uint32_t chunk)
{
	return chunks->memory + (size_t) chunk * chunks->bytes;
}

#endif							/* HPSORT_GPUD_CHUNKS_H */
