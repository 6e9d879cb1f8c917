/*
 * worker.h
 *		The background worker that allocates the memory of resident columns.
 *
 * It is registered with the server where hpsort is preloaded and hpsort.resident_memory is set,
 * else by the first session that needs memory.  It sleeps until it is asked for memory or the
 * settings are reloaded, and ends when there is nothing to look after.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_WORKER_H
#define HPSORT_PG_RESIDENT_MEMORY_WORKER_H

#include "pg/resident/memory/slabs.h"

/*
 * Called while the server starts: requests shared memory, and registers the worker if there is
 * a limit.
 */
extern void resident_worker_preload(void);

/*
 * Asks the worker for that many bytes more, and waits for an answer: a second or so at most, if
 * patient half a minute.  Returns whether there is more memory; if not, *reason says why.  May
 * raise the error of a cancelled query, but no other.
 */
extern bool resident_worker_ask(ResidentRoot *root, uint64 bytes, bool patient,
								ResidentReason *reason);

/*
 * What the worker calls when it has nothing else to do, and again after as many milliseconds as
 * the call returns, or, for -1, when settings change; and when it ends.  NULL: nothing.
 */
extern long (*resident_worker_step) (void);
extern void (*resident_worker_at_end) (void);

/* The worker's main function. */
extern PGDLLEXPORT void hpsort_resident_main(Datum arg);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_WORKER_H */
