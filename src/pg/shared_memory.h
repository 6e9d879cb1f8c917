/*
 * shared_memory.h
 *		Structs in PostgreSQL's shared memory, of a library that need not be preloaded, and
 *		background workers, which look after them.
 */
#ifndef HPSORT_PG_SHARED_MEMORY_H
#define HPSORT_PG_SHARED_MEMORY_H

#include "postmaster/bgworker.h"

/* Asks for memory for a struct of size bytes, while the server starts with hpsort preloaded. */
extern void shared_memory_request(Size size);

/*
 * Returns the struct of that name and of size bytes.  The first process to ask for it makes it,
 * with init.
 *
 * Where hpsort is not preloaded, the struct comes out of the memory that the server keeps
 * spare.  The result is NULL if other modules, or a growing lock table, have used that up, and
 * outside of a server's processes.
 */
extern void *shared_memory_attach(const char *name, Size size, void (*init) (void *data));

/*
 * Returns a background worker with shared memory, also on a standby, for its registration: function
 * is hpsort's that it runs, name what others see of it.
 */
extern BackgroundWorker shared_memory_worker(const char *name, const char *function,
											 int restart_time);

#endif							/* HPSORT_PG_SHARED_MEMORY_H */
