/*
 * chunks.c
 *		The memory that the service shares with its clients (see chunks.h).
 *
 * A holder without a chunk queues and is served in turn.  A holder with some
 * gets more only while no holder queues.  Holders in the
 * queue hold nothing, so that no two of them can wait for each other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/protocol.h"
#include "gpud/chunks.h"
#include "sort/clock.h"

/* The most chunks of a holder while chunks are scarce: one for the client, one for the device. */
#define HOLDER_MOST_SCARCE 2

/* A sealed memfd: a client can rely on its size.  After a failure the service ends. */
bool
chunks_create(Chunks *chunks, uint64_t total, uint64_t bytes, char *text)
{
	uint64_t	count = total / bytes;
	uint64_t	size;

	memset(chunks, 0, sizeof(*chunks));
	if (count > GPU_CHUNKS_MAX)
		count = GPU_CHUNKS_MAX;
	size = count * bytes;
	chunks->bytes = bytes;
	chunks->count = (uint32_t) count;
	chunks->nfree = chunks->count;
	pthread_mutex_init(&chunks->lock, NULL);
	chunks->free = malloc(count * sizeof(uint32_t));
	if (chunks->free == NULL)
	{
		snprintf(text, GPU_TEXT_SIZE, "out of memory");
		return false;
	}
	/* Low numbers on top: while few chunks are used, they stay the same few. */
	for (uint32_t i = 0; i < chunks->count; i++)
		chunks->free[i] = chunks->count - 1 - i;

	chunks->fd = memfd_create("hpsort-chunks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (chunks->fd < 0 || ftruncate(chunks->fd, (off_t) size) != 0 ||
		fcntl(chunks->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
	{
		snprintf(text, GPU_TEXT_SIZE, "could not create shared memory: %s", strerror(errno));
		return false;
	}
	chunks->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, chunks->fd, 0);
	if (chunks->memory == MAP_FAILED)
	{
		snprintf(text, GPU_TEXT_SIZE, "could not map %llu bytes of shared memory: %s",
				 (unsigned long long) size, strerror(errno));
		return false;
	}

	/* Fewer faults and shorter pinning where the kernel has large pages for it. */
	(void) madvise(chunks->memory, size, MADV_HUGEPAGE);
	return true;
}

bool
chunks_holder_init(Chunks *chunks, ChunkHolder *holder)
{
	memset(holder, 0, sizeof(*holder));
	holder->chunks = chunks;
	holder->given = -1;
	holder->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (holder->wake < 0)
		return false;
	holder->seen = calloc(chunks->count, 1);
	if (holder->seen == NULL)
	{
		close(holder->wake);
		return false;
	}
	return true;
}

void
chunks_holder_release(ChunkHolder *holder)
{
	close(holder->wake);
	free(holder->seen);
}

/*
 * Takes a free chunk, of which there must be one, off the stack: the topmost one that the holder's
 * client has mapped already, because its pages are populated there; else the topmost one.  Called
 * with the lock.
 */
static uint32_t
take_free(Chunks *chunks, ChunkHolder *holder)
{
	uint32_t	at = chunks->nfree - 1;
	uint32_t	chunk;

	for (uint32_t i = chunks->nfree; i > 0; i--)
		if (holder->seen[chunks->free[i - 1]])
		{
			at = i - 1;
			break;
		}
	chunk = chunks->free[at];
	memmove(chunks->free + at, chunks->free + at + 1, (chunks->nfree - 1 - at) * sizeof(uint32_t));
	chunks->nfree--;
	holder->seen[chunk] = 1;
	return chunk;
}

/* Makes the holder's descriptor readable, which ends the poll of its connection's thread. */
static void
wake_up(ChunkHolder *holder)
{
	uint64_t	one = 1;
	ssize_t		rc = write(holder->wake, &one, sizeof(one));

	(void) rc;					/* fails only if it is readable already */
}

/* Gives free chunks to the holders in the queue, in turn, and wakes them.  Needs the lock. */
static void
serve_queue(Chunks *chunks)
{
	while (chunks->nfree > 0 && chunks->first != NULL)
	{
		ChunkHolder *holder = chunks->first;

		chunks->first = holder->next;
		if (chunks->first == NULL)
			chunks->last = NULL;
		holder->next = NULL;
		holder->waiting = false;
		holder->given = take_free(chunks, holder);
		wake_up(holder);
	}
}

/* Puts a holder without a chunk at the end of the queue.  Called with the lock. */
static void
enter_queue(Chunks *chunks, ChunkHolder *holder)
{
	holder->queued = holder->waiting = true;
	holder->queued_since = sort_clock_ms();
	if (chunks->last)
		chunks->last->next = holder;
	else
		chunks->first = holder;
	chunks->last = holder;
}

/* Takes the chunk given to a holder that waited; -1 if there is none.  Needs the lock. */
static int64_t
take_given(ChunkHolder *holder)
{
	int64_t		chunk = holder->given;
	uint64_t	ignored;

	if (chunk >= 0)
	{
		ssize_t		rc = read(holder->wake, &ignored, sizeof(ignored));

		(void) rc;
		holder->queued = false;
	}
	holder->given = -1;
	return chunk;
}

/* The most chunks of a holder: fewer while an eighth or less of all is free.  Needs the lock. */
static uint32_t
most_held(const Chunks *chunks)
{
	uint32_t	reserve = chunks->count < 16 ? 1 : chunks->count / 8;

	return chunks->nfree <= reserve ? HOLDER_MOST_SCARCE : HOLDER_MOST;
}

HeldChunk *
chunks_held(ChunkHolder *holder, uint32_t chunk)
{
	for (uint32_t i = 0; i < holder->held; i++)
		if (holder->list[i].chunk == chunk)
			return &holder->list[i];
	return NULL;
}

uint32_t
chunks_count(const ChunkHolder *holder, ChunkState state)
{
	uint32_t	count = 0;

	for (uint32_t i = 0; i < holder->held; i++)
		count += holder->list[i].state == state;
	return count;
}

int64_t
chunks_take(ChunkHolder *holder, bool must)
{
	Chunks	   *chunks = holder->chunks;
	int64_t		chunk = -1;

	pthread_mutex_lock(&chunks->lock);
	if (holder->queued)
		chunk = take_given(holder);
	else if (chunks->nfree > 0 && chunks->first == NULL &&
			 (must || holder->held < most_held(chunks)))
		chunk = take_free(chunks, holder);
	else if (must)
		enter_queue(chunks, holder);
	pthread_mutex_unlock(&chunks->lock);
	if (chunk >= 0)
		holder->list[holder->held++] = (HeldChunk)
	{
		.chunk = (uint32_t) chunk,.state = CHUNK_BUSY
	};
	return chunk;
}

/* Puts a chunk back on the stack, and serves the queue.  Takes the lock. */
static void
put_free(Chunks *chunks, uint32_t chunk)
{
	pthread_mutex_lock(&chunks->lock);
	chunks->free[chunks->nfree++] = chunk;
	serve_queue(chunks);
	pthread_mutex_unlock(&chunks->lock);
}

void
chunks_leave(ChunkHolder *holder)
{
	Chunks	   *chunks = holder->chunks;
	int64_t		chunk;

	pthread_mutex_lock(&chunks->lock);
	if (holder->waiting)
	{
		ChunkHolder *before = NULL;

		for (ChunkHolder *h = chunks->first; h != holder; h = h->next)
			before = h;
		if (before)
			before->next = holder->next;
		else
			chunks->first = holder->next;
		if (chunks->last == holder)
			chunks->last = before;
		holder->next = NULL;
		holder->waiting = false;
	}
	chunk = take_given(holder);
	holder->queued = false;
	pthread_mutex_unlock(&chunks->lock);
	if (chunk >= 0)
		put_free(chunks, (uint32_t) chunk);
}

void
chunks_put(ChunkHolder *holder, uint32_t chunk)
{
	HeldChunk  *held = chunks_held(holder, chunk);

	*held = holder->list[--holder->held];
	put_free(holder->chunks, chunk);
}
