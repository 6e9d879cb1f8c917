/*
 * backend.h
 *		The way to the GPU that every sort of this session is lent: jobs over the
 *		session's connections, and what becomes of them when a query fails.
 */
#ifndef HPSORT_PG_GPU_BACKEND_H
#define HPSORT_PG_GPU_BACKEND_H

/* Gives the way to pg_sort_use_gpu.  Called by _PG_init. */
extern void gpu_backend_install(void);

#endif							/* HPSORT_PG_GPU_BACKEND_H */
