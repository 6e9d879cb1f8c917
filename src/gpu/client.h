/*
 * client.h
 *		The client of the GPU service: a connection of one process to hpsort-gpud, and
 *		the service as a SortDevice, whose jobs go over a connection.
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

#include "gpu/gpu_types.h"
#include "sort/device/device.h"
#include "sort/plan.h"
#include "sort/sort_types.h"

typedef struct GpuClient GpuClient;

/* What a job has moved, for the statistics. */
typedef struct GpuCounters
{
	uint64_t	jobs;			/* 1: it ended with its result in hand, else 0 */
	uint64_t	keys;			/* of that result */
	uint64_t	bytes_sent;		/* written to chunks */
	uint64_t	bytes_received; /* results copied out of chunks */
} GpuCounters;

/*
 * What a client is lent by its caller; arg is passed to all of it.
 *
 * wait sleeps until fd is ready for one of events (POLLIN | POLLOUT), at most timeout_ms
 * (-1: no limit), and returns the events that are ready, 0 after the timeout or earlier, or -1 when
 * the caller wants to stop (cancel, termination): the call in progress then returns SORT_CANCELLED
 * and the connection is closed, which frees the job.  NULL: poll(2).
 *
 * failed is called for every failure of a connection that was made, and of its jobs, unless the
 * caller wanted to stop; text is a phrase.  closed is called at the end of every job, with
 * what the job has moved.  Both hooks may call only functions that return what the client
 * knows.  NULL: not called.
 */
typedef struct GpuClientHooks
{
	int			(*wait) (void *arg, int fd, int events, int timeout_ms);
	void		(*failed) (void *arg, GpuFailure failure, const char *text);
	void		(*closed) (void *arg, const GpuCounters *counters);
	void	   *arg;
} GpuClientHooks;

/* GpuClientHooks.wait by poll(2), for which a signal is a timeout. */
extern int	gpu_client_poll(void *arg, int fd, int events, int timeout_ms);

typedef struct GpuClientOptions
{
	const char *socket_path;	/* may be relative; not needed after connecting; NULL: ... */
	int			socket;			/* ... this one is connected already, and becomes the client's */
	int			connect_timeout_ms; /* until the service's welcome is in */
	int			wait_timeout_ms;	/* without any sign of life; 0: no limit */
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

/* Closes the connection; its jobs must have been closed.  NULL is allowed. */
extern void gpu_client_disconnect(GpuClient *client);

/*
 * Whether the connection lives: false once it was closed or the service has hung up.
 * Looks at the socket, does not wait.
 */
extern bool gpu_client_is_usable(GpuClient *client);

/* What work costs on the service's device, as measured by the service; valid while connected. */
extern const SortDeviceCosts *gpu_client_costs(const GpuClient *client);

/* Returns how many devices of the service keep extents of this client. */
extern uint32_t gpu_client_extent_devices(const GpuClient *client);

/* Returns the process id of the service, as its welcome says. */
extern int	gpu_client_service_pid(const GpuClient *client);

/*
 * Returns why the connection, or the last job on it, failed; GPU_OK if neither has since the last
 * open().  Calls that the caller stopped, keys out of bounds and a lack of the caller's memory are
 * not noted.
 */
extern GpuFailure gpu_client_failure(const GpuClient *client);

/*
 * Asks the service for the state of its devices: fills in the first *count of them, at most max.
 * Waits for the answer, at most wait_timeout_ms for each message.  A job may be open: its messages
 * that come meanwhile are handled.  On failure the connection is closed.
 */
extern SortStatus gpu_client_devices(GpuClient *client, GpuDeviceStatus *devices, int max,
									 int *count, SortError *err);

/*
 * Jobs over the connection that context->gpu->arg (see SortGpu in sort_types.h) points to.  One
 * job at a time uses a connection; a second open() while one is alive is
 * SORT_DEVICE_UNAVAILABLE.  All failures of the service are
 * SORT_DEVICE_UNAVAILABLE with a phrase in err->message, but
 * SORT_KEY_OUT_OF_BOUNDS, SORT_CANCELLED and, for a forced algorithm that only a
 * GPU has, SORT_UNSUPPORTED.
 *
 * Keys stay the caller's until results are in hand, so that the caller can always sort them
 * itself.  add() copies keys into chunks and returns when the last key is copied: the
 * service works on earlier chunks meanwhile.  spec->n is how many keys follow at
 * once, in one add() or several.  All further keys are announced to the service
 * when add() is called with them, which costs a round trip for each of these calls; in
 * return, a job that may pause between two calls holds none of the memory that all
 * jobs share.  A read must follow finish() at once, because results lie in that
 * memory, too.  read_keys and read_permutation write results as they come: when
 * one fails the contents of out are undefined, so that out must not be the only
 * copy of the keys.
 */
extern const SortDevice gpu_client_device;

/*
 * Opens a job as gpu_client_device.open does, but over client, whatever the GPU of context is.
 * Where client is NULL there is no connection: SORT_DEVICE_UNAVAILABLE.  The memory of the job is
 * of the allocator of context, until its close().
 */
extern SortStatus gpu_client_open(GpuClient *client, const SortContext *context,
								  const SortJobSpec *spec, SortJob **job, SortError *err);

/*
 * Ends the job that uses the connection, if there is one, and frees the connection for others.
 * All further calls on the job fail but its close(), which frees its memory.
 */
extern void gpu_client_end_job(GpuClient *client);

#endif							/* HPSORT_GPU_CLIENT_H */
