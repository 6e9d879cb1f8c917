/*
 * client.h
 *		The client's end of the GPU service: one connection of one process to
 *		hpsort-gpud, and the SortDevice that sorts over it.
 *
 * Called by src/pg (inside a backend), by the tests and by the benches.  Knows
 * neither PostgreSQL nor CUDA: how to wait, and when to give up, is lent by
 * the caller, so that a backend waits on its latch and obeys cancel.  Nothing
 * here blocks outside hooks.wait, raises a signal, or jumps out of a frame.
 *
 * The client trusts the service no more than the service trusts it: every
 * message is checked, and any disagreement, timeout or lost connection is an
 * error by value, after which the connection is closed and the next
 * gpu_client_connect() starts afresh.  Keys stay the caller's until results
 * are in hand, so that the caller can always sort them itself.
 */
#ifndef HPSORT_GPU_CLIENT_H
#define HPSORT_GPU_CLIENT_H

#include "gpu/gpu_types.h"
#include "sort/device.h"
#include "sort/plan.h"
#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Lent by the caller.  wait sleeps until fd is ready for one of events
 * (POLLIN | POLLOUT), at most timeout_ms (-1: no limit), and returns the
 * events that are ready, 0 after the timeout, or -1 when the wait was
 * interrupted for good (cancel, termination): the call in progress then
 * returns SORT_CANCELLED and the connection is closed, which frees the job.
 * A NULL wait means poll(2).
 */
typedef struct GpuClientHooks
{
	int			(*wait) (void *arg, int fd, int events, int timeout_ms);
	void	   *arg;
} GpuClientHooks;

typedef struct GpuClientOptions
{
	const char *socket_path;	/* may be relative; copied */
	int			connect_timeout_ms; /* until the service's welcome is in */
	int			wait_timeout_ms;	/* without any sign of life; 0: no limit */
	const char *build;			/* must equal the service's; NULL: this one's */
	GpuClientHooks hooks;
} GpuClientOptions;

typedef struct GpuClient GpuClient;

/* The way from a SortContext to the connection; client may be NULL: none. */
typedef struct GpuClientRef
{
	GpuClient  *client;
} GpuClientRef;

/* What this connection moved, in all; for the statistics. */
typedef struct GpuClientCounters
{
	uint64_t	jobs;			/* finished with their result in hand */
	uint64_t	keys;			/* of those jobs */
	uint64_t	bytes_sent;		/* keys written to chunks, aborted jobs too */
	uint64_t	bytes_received; /* results copied out of chunks */
} GpuClientCounters;

/*
 * Connects and shakes hands: checks the peer's uid, the protocol and the
 * build, and maps the chunks.  On failure *client is NULL, *failure says why,
 * and text (at most size bytes) is a phrase for people.  Memory and file
 * descriptors are the client's own (malloc; two descriptors: the socket and,
 * only while connecting, the shared memory's).
 */
extern SortStatus gpu_client_connect(const GpuClientOptions *options, GpuClient **client,
									 GpuFailure *failure, char *text, size_t size);

/* Closes; jobs of it must have been closed.  NULL is allowed. */
extern void gpu_client_disconnect(GpuClient *client);

/*
 * Whether the connection can take another job: false once it broke or the
 * service hung up (looks at the socket, does not wait).
 */
extern bool gpu_client_is_usable(GpuClient *client);

/* The service's measured costs as this client sees them; valid while connected. */
extern const SortDeviceCosts *gpu_client_costs(const GpuClient *client);

/* Multiplies every cost of a table by a factor. */
extern void gpu_costs_weigh(SortDeviceCosts *costs, double factor);

/* Process id of the service, for people. */
extern int	gpu_client_service_pid(const GpuClient *client);

/* Asks for the devices' state; *count of at most max are filled in. */
extern SortStatus gpu_client_devices(GpuClient *client, GpuDeviceStatus *devices, int max,
									 int *count, SortError *err);

/* Of the failure that the last call with an error met. */
extern GpuFailure gpu_client_failure(const GpuClient *client);

extern void gpu_client_counters(const GpuClient *client, GpuClientCounters *counters);

/*
 * Jobs over a connection.  context->gpu->arg (see SortGpu in sort_types.h)
 * must point to a GpuClientRef, which may be the first member of a struct of
 * the caller's own.  One job at a time uses the connection; a second
 * open() while one is alive is SORT_DEVICE_UNAVAILABLE.  All failures of the
 * service are SORT_DEVICE_UNAVAILABLE with a phrase in err->message;
 * SORT_KEY_OUT_OF_BOUNDS and SORT_CANCELLED stay what they are.
 *
 * add() copies keys into chunks and returns when the last is copied, not when
 * it is sorted: the service works on earlier chunks meanwhile.  spec->n is how
 * many keys follow at once, in one add() or several; of any others (all of them,
 * if it is 0) the service hears when add() is called with them, which costs a
 * round trip for each such call.  In return, a job that may pause between two
 * calls holds nothing of the memory that all jobs share.  finish() is followed
 * by a read at once, for results lie in that memory, too.
 * read_keys and read_permutation write results as they come; when one fails
 * out's contents are undefined, so out must not be the only copy of the keys.
 */
extern const SortDevice gpu_client_device;

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_GPU_CLIENT_H */
