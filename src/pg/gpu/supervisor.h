/*
 * supervisor.h
 *		The background worker that keeps the GPU service running.
 */
#ifndef HPSORT_PG_GPU_SUPERVISOR_H
#define HPSORT_PG_GPU_SUPERVISOR_H

#include "postgres.h"

/*
 * Whether there is a service to be had: its program is installed, and was built
 * for devices that the settings name.  If not, *reason is a phrase, valid until
 * the next call.  Looks every time, and says nothing to anybody else.
 */
extern bool supervisor_has_service(const char **reason);

/* At server start, if there is a service; called by _PG_init while preloading. */
extern void supervisor_register(void);

/*
 * On demand, without waiting for anything.  False, and *reason a phrase, when
 * no supervisor could be asked for.
 */
extern bool supervisor_request(const char **reason);

/* The worker's entry point. */
extern PGDLLEXPORT void hpsort_gpu_supervisor_main(Datum arg);

#endif							/* HPSORT_PG_GPU_SUPERVISOR_H */
