/*
 * clauses.h
 *		What is known of clauses of a filter before they are evaluated.
 */
#ifndef HPSORT_PG_VALUES_CLAUSES_H
#define HPSORT_PG_VALUES_CLAUSES_H

#include "postgres.h"

#include "nodes/execnodes.h"

/*
 * Sets *value and *isnull to the value of a constant or a parameter, and returns true; false if the
 * expression is neither, or the parameter has no value yet.  While planning all values are NULL: it
 * only matters that there will be one.
 */
extern bool clause_known_value(const Expr *expression, const ExprContext *econtext, Datum *value,
							   bool *isnull);

/* Whether a clause may raise an error, or do anything else but return a value. */
extern bool clause_may_fail(const void *clause, const ExprContext *econtext);

#endif							/* HPSORT_PG_VALUES_CLAUSES_H */
