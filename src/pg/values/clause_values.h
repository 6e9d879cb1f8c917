/*
 * clause_values.h
 *		What is known of a filter's clauses without evaluating them: values of parameters, and
 *		whether a clause may fail.
 */
#ifndef HPSORT_PG_VALUES_CLAUSE_VALUES_H
#define HPSORT_PG_VALUES_CLAUSE_VALUES_H

#include "postgres.h"

#include "nodes/execnodes.h"

/*
 * Sets *value and *isnull to the value of a constant or a parameter, and returns true; false if the
 * expression is neither, or the parameter has no value yet.  econtext is NULL while planning, when
 * all values are NULL: it only matters that there will be one.
 */
extern bool clause_known_value(const Expr *expression, const ExprContext *econtext, Datum *value,
							   bool *isnull);

/* Whether an expression may raise an error, or do anything else but return a value. */
extern bool clause_may_fail(const Node *clause, const ExprContext *econtext);

#endif							/* HPSORT_PG_VALUES_CLAUSE_VALUES_H */
