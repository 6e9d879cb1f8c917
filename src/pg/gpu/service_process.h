/*
 * service_process.h
 *		The process of the GPU service, hpsort-gpud, as the child of a background
 *		worker: its start, its output, its end.
 *
 * hpsort-gpud is a program of its own, no child of the postmaster: a crash of the service ends
 * nothing else.  The service always dies with the worker: its standard input is a pipe from the
 * worker, whose end is the order to exit, and the kernel kills a service that does not obey.  The
 * service stays in the worker's process group, so that the postmaster's signals at shutdown reach
 * the service, too.
 *
 * Called by supervisor.c alone, but for service_is_installed.  Knows PostgreSQL
 * and processes, neither the protocol nor GPUs.
 */
#ifndef HPSORT_PG_GPU_SERVICE_PROCESS_H
#define HPSORT_PG_GPU_SERVICE_PROCESS_H

#include "gpu/gpu_types.h"

/* The child's exit code if the program could not be executed. */
#define EXIT_NOT_EXECUTED 127

typedef struct ServiceProcess
{
	pid_t		pid;			/* 0: does not run */
	int			input;			/* the worker's end of its standard input, or -1 */
	int			output;			/* ... of its standard output and error, or -1 */
	bool		ready;			/* it listens */
	int64		started;		/* by sort_clock_ms() */
	char	   *command;		/* its arguments in one string; NULL: never started */
	char		said[160];		/* its last line that was no news of success */
	char		line[1024];		/* a line not yet complete */
	size_t		line_len;		/* bytes of line */
} ServiceProcess;

/*
 * Whether the program is installed: where PostgreSQL's libraries are, if hpsort was built with
 * CUDA, or, for tests and without CUDA, too, where the environment's HPSORT_GPUD says.  If not,
 * *reason is a phrase, valid until the next call.  Looks every time; any process may call it.
 */
extern bool service_is_installed(const char **reason);

/* Starts the program as the settings say; if that fails, pid stays 0 and said is the reason. */
extern void service_process_start(ServiceProcess *service);

/* Whether the settings have changed so that a running process needs other arguments. */
extern bool service_process_is_outdated(const ServiceProcess *service);

/*
 * Handles what the process has written, as far as it is there, without waiting: lines go to the
 * server's log, "ready" changes the state.
 */
extern void service_process_read(ServiceProcess *service);

/* Whether the process has ended; then its last lines are handled, and *status is waitpid's. */
extern bool service_process_reap(ServiceProcess *service, int *status);

/*
 * Asks a process that runs to stop, and waits until it has; kills it after 5 s.  May be left by an
 * error of an interrupt: then the process still runs.
 */
extern void service_process_stop(ServiceProcess *service);

/* Kills a process that runs, and waits for it: for the worker's own end. */
extern void service_process_destroy(ServiceProcess *service);

/* How the process ended, as a phrase in text (size bytes). */
extern void service_process_describe_end(const ServiceProcess *service, int status,
										 char *text, size_t size);

#endif							/* HPSORT_PG_GPU_SERVICE_PROCESS_H */
