/*
 * rights.h
 *		The rights that core checks of functions which the node does not call.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_RIGHTS_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_RIGHTS_H

#include "nodes/primnodes.h"

/*
 * Raises an error unless a role may call a function that the query has and the node does not call,
 * as core checks it when it initializes a plan.  InvalidOid is no function, and needs no right.
 */
extern void aggregate_check_function(Oid function, Oid role);

/*
 * Raises an error unless the user may call the aggregate.  It checks what ExecInitAgg does for an
 * Agg: the right of the user to the aggregate, and of its owner to its functions.  Besides it
 * checks the rights to convert arguments, which are not evaluated here either.  Returns the
 * aggregate's final function.
 */
extern Oid	aggregate_check_call(const Aggref *aggref);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_RIGHTS_H */
