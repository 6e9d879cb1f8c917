/*
 * supervisor.h
 *		The background worker that keeps the GPU service running.
 */
#ifndef HPSORT_PG_GPU_SUPERVISOR_H
#define HPSORT_PG_GPU_SUPERVISOR_H

#include "postgres.h"

/*
 * Registers the worker if the service is installed.  Called by _PG_init while
 * shared_preload_libraries are loaded.
 */
extern void supervisor_register(void);

/*
 * Has the postmaster start the worker, and does not wait for it.  False, and
 * *reason a phrase, when that is not possible.
 */
extern bool supervisor_request(const char **reason);

/* The worker's entry point. */
extern PGDLLEXPORT void hpsort_gpu_supervisor_main(Datum arg);

#endif							/* HPSORT_PG_GPU_SUPERVISOR_H */
