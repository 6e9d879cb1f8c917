/*
 * client_connection.h
 *		The client's connection to the GPU service: messages over it, and the chunks
 *		of shared memory that the client holds.
 *
 * For the files of the client, client*.c, alone.  Functions that return a
 * SortStatus fill err when they fail, and then the connection is closed.
 */
#ifndef HPSORT_GPU_CLIENT_CONNECTION_H
#define HPSORT_GPU_CLIENT_CONNECTION_H

#include "gpu/client.h"
#include "gpu/protocol.h"

/* What the client may do with a chunk. */
typedef enum ChunkHeld
{
	CHUNK_NOT_HELD = 0,
	CHUNK_GRANTED,				/* fill it */
	CHUNK_LENT					/* read it */
} ChunkHeld;

/* The memory that the service shares with its clients, and which chunks of it are held. */
typedef struct SharedArea
{
	char	   *memory;			/* mapped, for reading and writing; NULL before the welcome */
	size_t		bytes;			/* of memory */
	uint32_t	chunks;			/* 0 before the welcome */
	uint64_t	chunk_bytes;
	unsigned char *held;		/* a ChunkHeld for each chunk */
	unsigned char *populated;	/* whether this process's page table has the chunk */
	uint32_t   *granted;		/* chunks granted and not yet begun, a stack */
	uint32_t	ngranted;		/* entries of granted */
} SharedArea;

struct GpuClient
{
	int			fd;				/* -1 once the connection is closed */
	int			area_fd;		/* -1 but while connecting */
	bool		connecting;		/* no failure is reported to the hook yet, and a descriptor may
								 * come */
	int			wait_timeout_ms;	/* for each message of the service; 0: no limit */
	GpuClientHooks hooks;
	GpuFailure	failure;		/* the last one */
	int			service_pid;	/* as the welcome says */
	SortDeviceCosts costs;		/* as the welcome says */
	bool		keeps_extents;	/* the service keeps this client's */
	uint32_t	devices;		/* as the welcome says */
	SharedArea	area;
	uint64_t	job_number;		/* of the current or last job; 0: none yet */
	struct GpuJob *job;			/* the current one, or NULL */

	/* messages */
	size_t		out_len;		/* bytes of out, which are still to be sent */
	unsigned char out[4096];
	GpuInput	in;				/* received and not yet handled */
};

/* Fails with a phrase, but leaves the connection as it is: SORT_DEVICE_UNAVAILABLE. */
extern SortStatus client_refuse(GpuClient *c, SortError *err, GpuFailure failure,
								const char *text);

/* Fails for want of memory, and leaves the connection as it is: SORT_OUT_OF_MEMORY. */
extern SortStatus client_no_memory(GpuClient *c, SortError *err);

/* Calls the caller's hook for a failure, unless the client is still connecting. */
extern void client_report_failure(GpuClient *c, GpuFailure failure, const char *text);

/* Fails because the caller wants to stop: SORT_CANCELLED. */
extern SortStatus client_cancelled(GpuClient *c, SortError *err);

/* Fails because the service broke the protocol: what is a phrase. */
extern SortStatus client_violation(GpuClient *c, SortError *err, const char *what);

/* Queues a message.  Waits, at most wait_timeout_ms, only where the queue has no room for it. */
extern SortStatus client_send(GpuClient *c, const GpuMessage *message, SortError *err);

/*
 * The next message for the connection or the current job, checked by itself; what is queued is
 * sent first.  Waits within the wait timeout; without wait, there may be none: then its type is 0.
 */
extern SortStatus client_receive(GpuClient *c, bool wait, GpuMessage *message, SortError *err);

/* Returns where a chunk begins in this process's memory; chunk is below area.chunks. */
static inline char *
client_chunk_memory(const GpuClient *c, uint32_t chunk)
{
	return c->area.memory + (size_t) chunk * c->area.chunk_bytes;
}

/*
 * Maps all pages of a chunk before they are touched: the fault of each would cost
 * a multiple.  The service prefers to grant chunks that the client has had.  Where
 * the kernel cannot do this (before 5.14), the faults come one by one.
 */
extern void client_populate(GpuClient *c, uint32_t chunk);

/* Gives a chunk back that was lent. */
extern SortStatus client_release_chunk(GpuClient *c, uint32_t chunk, SortError *err);

/* Forgets what chunks are held: they are the service's again. */
extern void client_drop_chunks(GpuClient *c);

#endif							/* HPSORT_GPU_CLIENT_CONNECTION_H */
