/*
 * gpu.h
 *		The GPU service, as seen from a PostgreSQL process.
 *
 * Other rooms include this header, and no other of this room.  Within the room, connections.h is
 * of a session, service_process.h of the background worker.
 */
#ifndef HPSORT_PG_GPU_GPU_H
#define HPSORT_PG_GPU_GPU_H

#include "gpu/gpu_types.h"
#include "pg/gpu/service_state.h"

/*
 * Lends the GPU to every sort of this session (backend.c): jobs over the session's connections, and
 * what becomes of them when a query fails.  Called by _PG_init.
 */
extern void gpu_backend_install(void);

/*
 * Fills in the service's devices, at most max, if it runs and answers; starts
 * nothing.  Returns their number; when there are none, text (size bytes) says why.
 * *state is a word for the service's state.
 */
extern int	connections_devices(GpuDeviceStatus *devices, int max, const char **state,
								char *text, size_t size);

/*
 * Registers the background worker that keeps the service running (supervisor.c), if the service is
 * installed.  Called by _PG_init while shared_preload_libraries are loaded.
 */
extern void supervisor_register(void);

/*
 * Has the postmaster start that worker, and does not wait for it.  True also if another process
 * has asked for it.  False, with a phrase in *reason, if no worker is left.
 */
extern bool supervisor_request(const char **reason);

/* The worker's entry point: never returns, and exits when there is nothing to keep running. */
extern PGDLLEXPORT void hpsort_gpu_supervisor_main(Datum arg);

#endif							/* HPSORT_PG_GPU_GPU_H */
