/*
 * client_types.h
 *		What a client of the GPU service is lent, and what it counts.
 */
#ifndef HPSORT_GPU_CLIENT_TYPES_H
#define HPSORT_GPU_CLIENT_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct GpuClient GpuClient;

/*
 * How to wait, lent by the caller.  wait sleeps until fd is ready for one of
 * events (POLLIN | POLLOUT), at most timeout_ms (-1: no limit), and returns the
 * events that are ready, 0 after the timeout, or -1 when the caller wants to stop
 * (cancel, termination): the call in progress then returns SORT_CANCELLED and the
 * connection is closed, which frees the job.  NULL: poll(2).  arg is passed to
 * wait.
 */
typedef struct GpuClientHooks
{
	int			(*wait) (void *arg, int fd, int events, int timeout_ms);
	void	   *arg;
} GpuClientHooks;

/* What a connection has moved since it was made; for the statistics. */
typedef struct GpuClientCounters
{
	uint64_t	jobs;			/* finished with their result in hand */
	uint64_t	keys;			/* of those jobs */
	uint64_t	bytes_sent;		/* keys written to chunks, aborted jobs too */
	uint64_t	bytes_received; /* results copied out of chunks */
} GpuClientCounters;

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_GPU_CLIENT_TYPES_H */
