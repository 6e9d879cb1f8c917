/*
 * changing_limit.h
 *		LIMITs that may change while a query runs.  Below them the nodes offer no paths that
 *		parallel workers run.
 *
 * PostgreSQL passes the number of wanted rows to the workers of a Gather, or a Gather Merge,
 * directly below a Limit.  The Limit may be executed again with another number, for the next
 * row of an outer query.  The workers still get the first number then, and return too few rows
 * (ExecParallelReinitialize in execParallel.c; seen with PostgreSQL 15 and 17).  A plan of
 * PostgreSQL's own may have that fault as well, but none may get it from hpsort.
 */
#ifndef HPSORT_PG_CHANGING_LIMIT_H
#define HPSORT_PG_CHANGING_LIMIT_H

#include "nodes/pathnodes.h"

/*
 * Whether a LIMIT or OFFSET of this query, or of a query around it, may have another value when
 * it is executed again.
 */
extern bool limit_may_change(const PlannerInfo *root);

#endif							/* HPSORT_PG_CHANGING_LIMIT_H */
