/*
 * client.h
 *		The client of the GPU service: a connection of one process to hpsort-gpud.
 *		Jobs over it are client_device.h's.
 *
 * Called by src/pg (inside a backend), by the service itself (costs.c), by the
 * tests and by the benches.  Knows neither PostgreSQL nor CUDA: how to wait, and
 * when to give up, is lent by the caller, so that a backend waits on its latch
 * and obeys cancel.  Nothing here blocks outside hooks.wait, raises a signal, or
 * jumps out of a frame.
 *
 * The client checks every message of the service, as the service does the
 * client's.  Any disagreement, timeout or lost connection is an error by value,
 * after which the connection is closed; only a new client can use the service
 * again.
 */
#ifndef HPSORT_GPU_CLIENT_H
#define HPSORT_GPU_CLIENT_H

#include "gpu/client_types.h"
#include "gpu/gpu_types.h"
#include "sort/plan.h"
#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct GpuClientOptions
{
	const char *socket_path;	/* may be relative; not needed after connecting */
	int			connect_timeout_ms; /* until the service's welcome is in */
	int			wait_timeout_ms;	/* without any sign of life; 0: no limit */
	const char *build;			/* must equal the service's; NULL: this one's */
	uint64_t	epoch;			/* in which extents have their generations; 0: there are none */
	GpuClientHooks hooks;
} GpuClientOptions;

/*
 * Connects: checks the peer's uid, the protocol and the build, and maps the
 * chunks.  On failure *client is NULL, *failure says why, and text (size bytes) is
 * a phrase.  Memory and file descriptors are the client's own (malloc; two
 * descriptors: the socket and, only while connecting, the shared memory's).
 */
extern SortStatus gpu_client_connect(const GpuClientOptions *options, GpuClient **client,
									 GpuFailure *failure, char *text, size_t size);

/*
 * gpu_client_connect over a socket that is connected already and becomes the
 * client's; -1: none, options name one.
 */
extern SortStatus gpu_client_connect_over(const GpuClientOptions *options, int fd,
										  GpuClient **client, GpuFailure *failure,
										  char *text, size_t size);

/* Closes the connection; its jobs must have been closed.  NULL is allowed. */
extern void gpu_client_disconnect(GpuClient *client);

/*
 * Whether the connection lives: false once it was closed or the service has hung up.
 * Looks at the socket, does not wait.
 */
extern bool gpu_client_is_usable(GpuClient *client);

/* What work costs on the service's device, as measured by the service; valid while connected. */
extern const SortDeviceCosts *gpu_client_costs(const GpuClient *client);

/* Process id of the service, which says so itself. */
extern int	gpu_client_service_pid(const GpuClient *client);

/* Why the last call that failed did. */
extern GpuFailure gpu_client_failure(const GpuClient *client);

extern void gpu_client_counters(const GpuClient *client, GpuClientCounters *counters);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_GPU_CLIENT_H */
