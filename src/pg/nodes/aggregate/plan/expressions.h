/*
 * expressions.h
 *		Of which columns an expression is computed.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_EXPRESSIONS_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_EXPRESSIONS_H

#include "nodes/pathnodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

#include "pg/values/values.h"

/*
 * Returns the columns of an expression, each a Var and once, in the order in which the expression
 * names them.  NIL if it has none, or if the expression has another value each time that it is
 * evaluated for one row, needs more than the row, or says how a value is stored.
 */
extern List *expression_columns(const Expr *expression);

/*
 * Whether the values of an expression's columns are certain to be as their typmods say: of rows
 * that a function returns, or another server, core does not see to it.
 */
extern bool expression_has_typmods(const PlannerInfo *root, const Expr *expression);

/*
 * Whether all values that a column might have, also those that no row has, may be put into an
 * expression by guarded_call: it is of built-in functions of numbers, times, texts and UUIDs,
 * which do nothing but compute.  They may fail.
 */
extern bool expression_may_be_tried(const Expr *expression);

/* Whether equal values of an expression are identical (dictionary_equal_is_identical). */
extern bool expression_equal_is_identical(const Expr *expression);

/* Whether two Vars are of one column. */
static inline bool
is_same_column(const Var *a, const Var *b)
{
	return a->varno == b->varno && a->varattno == b->varattno;
}

/*
 * Whether a column is read from relation rti, or of all columns if that is 0.  Others are looked up
 * by columns that are read (star.h).
 */
static inline bool
column_is_read(const Var *column, Index rti)
{
	return rti == 0 || (Index) column->varno == rti;
}

/* Whether a list of Vars has one of this column. */
extern bool columns_have(const List *columns, const Var *column);

/* Returns an expression that is NULL for rows for which a condition is not true. */
extern Expr *expression_where(Expr *condition, Expr *expression);

/* Returns how many bytes a column's values have on average. */
extern double column_width(PlannerInfo *root, const Var *column);

/* The same of an expression's values: of any length they may have those of all its columns. */
extern double expression_width(PlannerInfo *root, const Expr *expression);

/* Returns the index of a column in a target; -1 if it is not there. */
extern int	target_column(const PathTarget *target, const Var *column);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_EXPRESSIONS_H */
