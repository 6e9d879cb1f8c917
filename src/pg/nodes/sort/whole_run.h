/*
 * whole_run.h
 *		Whether the executor runs a query to its end, or stops in the middle of it, as for
 *		the FETCH of a cursor.
 *
 * A query that stops keeps the rows that its nodes have returned last: a join has the
 * outer row for which it will look for more inner ones.  It may keep them as long as a
 * transaction is idle, and no node hears how the executor has been called.
 */
#ifndef HPSORT_PG_NODES_SORT_WHOLE_RUN_H
#define HPSORT_PG_NODES_SORT_WHOLE_RUN_H

#include "postgres.h"

#include "nodes/execnodes.h"

/* At module load: sets ExecutorRun_hook. */
extern void whole_run_init(void);

/*
 * Returns true if the current call of the executor is the last one that returns rows of the query
 * of estate.  It is not if the caller has asked for a number of rows, or may read rows backward.
 */
extern bool whole_run(const EState *estate);

#endif							/* HPSORT_PG_NODES_SORT_WHOLE_RUN_H */
