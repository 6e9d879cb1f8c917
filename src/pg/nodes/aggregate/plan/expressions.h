/*
 * expressions.h
 *		Of which columns an expression is computed.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_EXPRESSIONS_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_EXPRESSIONS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

/*
 * Returns the columns of relation rti (0: of whichever), each a Var and once, in the order in which
 * an expression names them.  NIL if it has none, or if the expression has another value each time
 * that it is evaluated for one row, needs more than the row, or says how a value is stored.
 */
extern List *expression_columns(const Expr *expression, Index rti);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_EXPRESSIONS_H */
