/*
 * client_internal.h
 *		What client.c (the connection) and client_job.c (jobs over it) share,
 *		nobody else.
 */
#ifndef HPSORT_GPU_CLIENT_INTERNAL_H
#define HPSORT_GPU_CLIENT_INTERNAL_H

#include "gpu/client.h"
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
	int			fd;				/* -1 once the connection is broken */
	int			area_fd;		/* -1 but while connecting */
	bool		connecting;
	int			wait_timeout_ms;
	GpuClientHooks hooks;
	GpuFailure	failure;		/* the last one */
	int			service_pid;
	SortDeviceCosts costs;
	GpuClientCounters counters;

	/* the shared area */
	char	   *area;
	size_t		area_bytes;
	uint32_t	chunks;			/* 0 before the welcome */
	uint64_t	chunk_bytes;
	unsigned char *held;		/* a ChunkHeld for each chunk */
	unsigned char *populated;	/* whether our page table knows the chunk */
	uint32_t   *granted;		/* chunks granted and not yet begun, a stack */
	uint32_t	ngranted;

	/* jobs */
	uint64_t	job_number;		/* of the current or last job; 0: none yet */
	bool		job_open;
	struct SortJob *job;		/* the current one */

	/* messages */
	size_t		out_len;
	unsigned char out[4096];
	GpuInput	in;
};

/*
 * gpu_client_connect over a socket that is connected already and becomes the
 * client's (-1: none): how the service measures itself.
 */
extern SortStatus client_connect_over(const GpuClientOptions *options, int fd, GpuClient **client,
									  GpuFailure *failure, char *text, size_t size);

/* Fails, for good: the connection is closed.  The phrase goes to err. */
extern SortStatus client_fail(GpuClient *c, SortError *err, GpuFailure failure,
							  const char *format,...) __attribute__((format(printf, 4, 5)));
extern SortStatus client_cancelled(GpuClient *c, SortError *err);

/* Queues a message; now: and sends what can be sent without waiting. */
extern SortStatus client_send(GpuClient *c, const GpuMessage *message, bool now, SortError *err);

/*
 * The next message of the connection or of the current job, checked; what is
 * queued is sent first.  Without wait, *got may come back false.
 */
extern SortStatus client_receive(GpuClient *c, bool wait, GpuMessage *message, bool *got,
								 SortError *err);

/* Takes note of a message for the current job. */
extern SortStatus client_job_message(GpuClient *c, const GpuMessage *message, SortError *err);

/* Forgets what chunks are held: they are the service's again. */
extern void client_drop_chunks(GpuClient *c);

#endif							/* HPSORT_GPU_CLIENT_INTERNAL_H */
