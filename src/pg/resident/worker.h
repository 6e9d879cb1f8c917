/*
 * worker.h
 *		The background worker that allocates the memory of resident columns.
 *
 * It is registered with the server where hpsort is preloaded and hpsort.resident_memory is set,
 * else by the first session that needs memory.  It sleeps until it is asked for memory or the
 * settings are reloaded, and ends when there is nothing to look after.
 */
#ifndef HPSORT_PG_RESIDENT_WORKER_H
#define HPSORT_PG_RESIDENT_WORKER_H

#include "postgres.h"

#include "pg/resident/memory.h"

/* While the server starts. */
extern void resident_worker_preload(void);

/*
 * Asks for so many bytes more, and waits for an answer, not longer than a second or so.  Whether
 * there is more memory now; else *reason says why not.  May raise the error of a cancelled
 * query, but no other.
 */
extern bool resident_worker_ask(ResidentRoot *root, uint64 bytes, ResidentReason *reason);

extern PGDLLEXPORT void hpsort_resident_main(Datum arg);

#endif							/* HPSORT_PG_RESIDENT_WORKER_H */
