/*
 * guarded_call.h
 *		A call of PostgreSQL that raises an error where its caller could go on without it.
 */
#ifndef HPSORT_PG_GUARDED_CALL_H
#define HPSORT_PG_GUARDED_CALL_H

/*
 * Calls function(arg).  Returns true; or false if it has raised an error, which is then dropped,
 * or of which *error becomes a copy in the current memory context unless error is NULL.
 *
 * The function acquires nothing but memory and what a resource owner knows: no lock of any kind, no
 * snapshot, no change of the database.  So no subtransaction is needed, which could not be begun
 * here: sorts run in parallel workers, and this is called outside of transactions.  What the
 * function has when it returns is its caller's only if no resource owner knows it any more.
 */
extern bool guarded_call(void (*function) (void *arg), void *arg, ErrorData **error);

#endif							/* HPSORT_PG_GUARDED_CALL_H */
