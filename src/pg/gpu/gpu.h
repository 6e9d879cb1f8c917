/*
 * gpu.h
 *		The GPU service, as seen from a PostgreSQL process.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	connections.h           a session's connections to the service
 *	service_state.h         the state of the service, in shared memory
 *	supervisor.h            the background worker that runs the service
 */
#ifndef HPSORT_PG_GPU_GPU_H
#define HPSORT_PG_GPU_GPU_H

#include "postgres.h"

#include "pg/gpu/connections.h"
#include "pg/gpu/service_state.h"
#include "pg/gpu/supervisor.h"

/*
 * Lends the GPU to every sort of this session (backend.c): jobs over the session's connections, and
 * what becomes of them when a query fails.  Called by _PG_init.
 */
extern void gpu_backend_install(void);

#endif							/* HPSORT_PG_GPU_GPU_H */
