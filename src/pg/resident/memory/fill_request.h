/*
 * fill_request.h
 *		Asking for the background workers that fill the extents of declared columns.
 *
 * A database has one worker at most (fill_worker.c).  It goes through all declared columns of the
 * database, makes the extents that are missing, and ends.  A request that comes while the worker
 * is at work has it go through all of them once more.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_FILL_REQUEST_H
#define HPSORT_PG_RESIDENT_MEMORY_FILL_REQUEST_H

#include "postmaster/bgworker.h"

/* Whether declared columns are filled by workers. */
extern bool fill_is_eager(void);

/*
 * Asks for a worker of a database.  Returns false, with a message to the server's log, if none can
 * be registered.  If handle is not NULL, *handle is the new worker's, palloc'd; NULL if the
 * database has a worker already.
 */
extern bool fill_request(Oid database, BackgroundWorkerHandle **handle);

/* Asks for a worker of this database when the transaction has committed, if filling is eager. */
extern void fill_request_at_commit(void);

/*
 * Asks for a worker of this database if the server is a standby and filling is eager.  For whoever
 * reads a declared column that nobody has read before: a standby hears of a declaration in no
 * other way.
 */
extern void fill_request_unread(void);

/* Registers the worker that asks for the workers of all databases; for the first worker only. */
extern void fill_request_all(void);

/* Whether this database has a worker, or will soon have one. */
extern bool fill_is_due(void);

/* For the worker of a database: whether this process is to be it. */
extern bool fill_claim(void);

/* For the worker: whether it is to go through the columns again; if not, there is none any more. */
extern bool fill_again(void);

/*
 * The workers' main function: fills the columns of a database, or asks for the workers of all of
 * them if the argument is InvalidOid.
 */
extern PGDLLEXPORT void hpsort_resident_fill_main(Datum database);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_FILL_REQUEST_H */
