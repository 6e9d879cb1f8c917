/*
 * gpu_support.h
 *		What the tests of src/gpu share: a service of their own, clients of it,
 *		and one job from beginning to end.
 */
#ifndef HPSORT_GPU_SUPPORT_H
#define HPSORT_GPU_SUPPORT_H

#include <sys/types.h>

#include "gpu/client.h"
#include "unit.h"

/* A hpsort-gpud that this process started, in a directory of its own. */
typedef struct GpuService
{
	pid_t		pid;			/* 0: has ended, and is waited for */
	int			parent;			/* this process's end of its stdin */
	int			status;			/* of waitpid, once ended */
	char		socket[64];
	char		log[64];
} GpuService;

/*
 * Starts the service with the stub of a GPU, and waits until it is ready.  args are further
 * arguments, NULL at the end, "--stub" and what the stub is to do (test/gpu_stub/faults.c)
 * among them; may be NULL.
 */
extern void gpu_service_start(GpuService *s, const char *const *args);

/* Starts the service; false if it ends before it is ready. */
extern bool gpu_service_try(GpuService *s, const char *socket, const char *const *args);

/* Ends the service by SIGTERM; fails the test unless it exits with 0 and removes its socket. */
extern void gpu_service_stop(GpuService *s);

/* Waits at most timeout_ms for the service's end; returns the exit code, or -signal. */
extern int	gpu_service_wait(GpuService *s, int timeout_ms);

extern void gpu_service_kill(GpuService *s);

/* Open file descriptors of a process (0: this one). */
extern int	gpu_count_fds(pid_t pid);

/* Threads of a process. */
extern int	gpu_count_threads(pid_t pid);

extern void gpu_pause_ms(int ms);

/*
 * Waits until the service has as few descriptors and threads as at its start;
 * fails the test when it has not within half a minute.
 */
extern void gpu_assert_idle(const GpuService *s, int fds, int threads);

/* Whether the service's log has that text in it. */
extern bool gpu_service_logged(const GpuService *s, const char *text);

/* A sorting environment with a client in it. */
typedef struct GpuUnit
{
	Unit		unit;
	SortGpu		gpu;
	GpuClient  *client;			/* what gpu.arg is, too */
	GpuCounters counters;		/* of its jobs that have ended, added up */
} GpuUnit;

extern void gpu_unit_init(GpuUnit *u);

/* Connects; on failure the text goes to text (200 bytes). */
extern GpuFailure gpu_unit_connect(GpuUnit *u, const char *socket, int wait_timeout_ms, char *text);

/* Connects; fails the test if that fails. */
extern void gpu_unit_connect_ok(GpuUnit *u, const GpuService *s);

extern void gpu_unit_disconnect(GpuUnit *u);

/*
 * Sorts n keys with bounds lo and hi, added in parts of at most part keys (0:
 * all at once), promising promised of them.  Compares with the reference;
 * fails the test on a wrong answer, returns the status and fills err
 * otherwise.  descending is the direction that is read.
 */
extern SortStatus gpu_unit_sort(GpuUnit *u, const int32_t *keys, size_t n, int32_t lo, int32_t hi,
								uint64_t promised, size_t part, SortWant want, bool descending,
								SortError *err);

#endif							/* HPSORT_GPU_SUPPORT_H */
