/*
 * gpu.h
 *		The GPU service, as seen from a PostgreSQL process.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	backend.h               the GPU as a device of a sort
 *	connections.h           a session's connections to the service
 *	service_state.h         the state of the service, in shared memory
 *	supervisor.h            the background worker that runs the service
 */
#ifndef HPSORT_PG_GPU_GPU_H
#define HPSORT_PG_GPU_GPU_H

#include "postgres.h"

#include "pg/gpu/backend.h"
#include "pg/gpu/connections.h"
#include "pg/gpu/service_state.h"
#include "pg/gpu/supervisor.h"

#endif							/* HPSORT_PG_GPU_GPU_H */
