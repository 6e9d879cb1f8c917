/*
 * row_expression.h
 *		RowExpression: an expression of columns, evaluated by core for a row of batches.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_ROW_EXPRESSION_H
#define HPSORT_PG_NODES_AGGREGATE_READ_ROW_EXPRESSION_H

#include "postgres.h"

#include "executor/executor.h"
#include "nodes/execnodes.h"

#include "pg/values/values.h"

typedef struct RowExpression
{
	ExprState  *state;
	ExprContext *econtext;		/* whose memory by tuple a value is in */
	TupleTableSlot *slot;		/* of the columns' values, of no other */
	int16		typlen;			/* of the expression's type */
	int			ncolumns;
	int		   *bases;			/* by column: the index of its batch */
	ColumnKind *kinds;			/* by column: of what the batch holds */
} RowExpression;

/*
 * Prepares the evaluation, in the current memory context, for a node.  columns are the Vars of the
 * expression (expression_columns), bases the indexes of their batches, which it keeps.  Checks the
 * user's right to call the expression's functions.
 */
extern void row_expression_make(RowExpression *row, PlanState *parent, Expr *expression,
								const List *columns, int *bases);

/* Frees the values of an execution before. */
extern void row_expression_begin(RowExpression *row);

/*
 * Returns the expression's value in a row, valid until the next call.  Raises the errors of the
 * expression.
 */
extern Datum row_expression_value(RowExpression *row, const ColumnBatch *batches, size_t i,
								  bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_ROW_EXPRESSION_H */
