/*
 * whole_run.h
 *		Whether the executor runs a query to its end, or stops in the middle of it, as for
 *		the FETCH of a cursor; and the end of a call that asks for many rows.
 *
 * A query that stops keeps the rows that its nodes have returned last: a join has the
 * outer row for which it will look for more inner ones.  It may keep them as long as a
 * transaction is idle, and no node hears how the executor has been called.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_WHOLE_RUN_H
#define HPSORT_PG_NODES_SORT_EXEC_WHOLE_RUN_H

#include "postgres.h"

#include "nodes/execnodes.h"

/* At module load: sets ExecutorRun_hook. */
extern void whole_run_init(void);

/*
 * Returns true if the current call of the executor is the last one that returns rows of the query
 * of estate.  It is not if the caller has asked for a number of rows, or may read rows backward.
 */
extern bool whole_run(const EState *estate);

/* What is done at the end of a call. */
typedef struct WholeRunEnd
{
	struct WholeRunEnd *next;
	void		(*function) (void *arg);
	void	   *arg;
} WholeRunEnd;

/*
 * Returns whether the current call of the executor asks for so many rows that it pays to keep
 * pages pinned until it ends; if so, end->function will then be called.  It is not called if the
 * call ends in an error, after which the query returns no more rows.
 */
extern bool whole_run_until_end(WholeRunEnd *end);

/* Takes that back, in the same call. */
extern void whole_run_forget_end(WholeRunEnd *end);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_WHOLE_RUN_H */
