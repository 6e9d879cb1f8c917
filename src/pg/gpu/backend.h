/*
 * backend.h
 *		A session's use of the GPU service: its connections, its jobs, and what
 *		becomes of them when a query fails.
 */
#ifndef HPSORT_PG_GPU_BACKEND_H
#define HPSORT_PG_GPU_BACKEND_H

#include "postgres.h"

#include "gpu/client.h"
#include "sort/sort_types.h"

/* The way to the GPU that every sort of this session is lent. */
extern const SortGpu gpu_backend;

/*
 * The service's devices, if it runs and answers; starts nothing.  At most max
 * are filled in; when there are none, *text (size bytes) says why, and *state
 * is a word for it.
 */
extern int	gpu_backend_devices(GpuDeviceStatus *devices, int max, const char **state,
								char *text, size_t size);

#endif							/* HPSORT_PG_GPU_BACKEND_H */
