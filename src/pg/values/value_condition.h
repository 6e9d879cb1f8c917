/*
 * value_condition.h
 *		What is known of a filter's clauses without evaluating them: values of parameters, and
 *		whether a clause may fail.  ValueCondition: a clause of one column, of any type, that
 *		cannot.
 *
 * Core evaluates a ValueCondition once for each value that occurs, as long as values repeat.
 */
#ifndef HPSORT_PG_VALUES_VALUE_CONDITION_H
#define HPSORT_PG_VALUES_VALUE_CONDITION_H

#include "nodes/execnodes.h"

/*
 * Sets *value and *isnull to the value of a constant or a parameter, and returns true; false if the
 * expression is neither, or the parameter has no value yet.  econtext is NULL while planning, when
 * all values are NULL: it only matters that there will be one.
 */
extern bool clause_known_value(const Expr *expression, const ExprContext *econtext, Datum *value,
							   bool *isnull);

/*
 * Whether a function may raise an error: a check_functions_callback.  Leakproof ones may not, nor
 * may comparisons of numerics, of which PostgreSQL does not say so.
 */
extern bool clause_function_may_fail(Oid function, void *context);

/* Whether an expression may raise an error, or do anything else but return a value. */
extern bool clause_may_fail(const Node *clause, const ExprContext *econtext);

/*
 * Sets what JIT may do with expressions that are initialized for a node, and returns what it could
 * do before.  A filter is taken apart each time a scan begins: in a loop, JIT would compile its
 * clauses for each outer row.
 */
static inline int
clause_set_jit(PlanState *node, int flags)
{
	int			before = node->state->es_jit_flags;

	node->state->es_jit_flags = flags;
	return before;
}

typedef struct ValueCondition ValueCondition;

/*
 * Returns the only column of a clause that value_condition_make can take; NULL if it has none, or
 * may fail, or its values are read as integers.
 */
extern Var *value_condition_column(const Expr *clause, const ExprContext *econtext);

/*
 * Makes the condition that a clause of a column is, in the current memory context, where it is
 * evaluated in an expression context of parent's; *nulls: it accepts NULL.
 */
extern ValueCondition *value_condition_make(const Expr *clause, const Var *column,
											PlanState *parent, ExprContext *econtext, bool *nulls);

/* Whether a condition accepts a value. */
extern bool value_condition_accepts(ValueCondition *condition, Datum value, bool isnull);

/*
 * Sets passed[i] to whether a condition accepts value i of n, at most those of a page, which lies
 * at data[i] + offset; to false where that is null, or skip[i], if there is a skip.
 */
extern void value_condition_test(ValueCondition *condition, const char *const *data, int offset,
								 int n, const char *null, const uint8 *skip, uint8 *passed);

#endif							/* HPSORT_PG_VALUES_VALUE_CONDITION_H */
