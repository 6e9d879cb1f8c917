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

#include "gpu/client_types.h"
#include "gpu/protocol.h"

/* What the client may do with a chunk. */
typedef enum ChunkHeld
{
	CHUNK_NOT_HELD = 0,
	CHUNK_GRANTED,				/* fill it */
	CHUNK_LENT					/* read it */
} ChunkHeld;

struct GpuClient
{
	int			fd;				/* -1 once the connection is closed */
	int			area_fd;		/* -1 but while connecting */
	bool		connecting;
	int			wait_timeout_ms;
	GpuClientHooks hooks;
	GpuFailure	failure;		/* the last one */
	int			service_pid;
	SortDeviceCosts costs;
	bool		keeps_extents;	/* the service does, those of this client */
	GpuClientCounters counters;

	/* the shared area */
	char	   *area;
	size_t		area_bytes;
	uint32_t	chunks;			/* 0 before the welcome */
	uint64_t	chunk_bytes;
	unsigned char *held;		/* a ChunkHeld for each chunk */
	unsigned char *populated;	/* whether this process's page table has the chunk */
	uint32_t   *granted;		/* chunks granted and not yet begun, a stack */
	uint32_t	ngranted;

	/* jobs */
	uint64_t	job_number;		/* of the current or last job; 0: none yet */
	bool		job_open;
	struct GpuJob *job;			/* the current one */

	/* messages */
	size_t		out_len;
	unsigned char out[4096];
	GpuInput	in;
};

/* The moment that is timeout_ms from now, by gpu_clock_ms(); -1, no limit, for 0. */
extern int64_t client_deadline(int timeout_ms);

/* GpuClientHooks.wait by poll(2). */
extern int	client_poll(void *arg, int fd, int events, int timeout_ms);

/* Closes the connection; chunks that it held are the service's again. */
extern void client_hang_up(GpuClient *c);

/* Fails with a phrase, format as printf: SORT_DEVICE_UNAVAILABLE. */
extern SortStatus client_fail(GpuClient *c, SortError *err, GpuFailure failure,
							  const char *format,...) __attribute__((format(printf, 4, 5)));

/* Fails because the caller wants to stop: SORT_CANCELLED. */
extern SortStatus client_cancelled(GpuClient *c, SortError *err);

/* Fails because the service broke the protocol: what is a phrase. */
extern SortStatus client_violation(GpuClient *c, SortError *err, const char *what);

/* Fails as an ERROR for the whole connection says. */
extern SortStatus client_take_error(GpuClient *c, const GpuMessage *message, SortError *err);

/* Queues a message, and sends what can be sent without waiting. */
extern SortStatus client_send(GpuClient *c, const GpuMessage *message, SortError *err);

/*
 * The next message, checked by itself; what is queued is sent first.  Without
 * wait, *got may come back false.  deadline is client_deadline's.
 */
extern SortStatus client_next_message(GpuClient *c, bool wait, int64_t deadline,
									  GpuMessage *message, bool *got, SortError *err);

/* The same within the wait timeout, and only for the connection or the current job. */
extern SortStatus client_receive(GpuClient *c, bool wait, GpuMessage *message, bool *got,
								 SortError *err);

static inline char *
client_chunk_memory(const GpuClient *c, uint32_t chunk)
{
	return c->area + (size_t) chunk * c->chunk_bytes;
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
