/*
 * row_expression.h
 *		RowExpression: an expression of columns, evaluated by core for a row of batches.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_ROW_EXPRESSION_H
#define HPSORT_PG_NODES_AGGREGATE_READ_ROW_EXPRESSION_H

#include "executor/executor.h"
#include "nodes/execnodes.h"

#include "pg/values/values.h"

/* A column of an expression. */
typedef struct RowInput
{
	const Var  *column;
	int			batch;			/* index of its batch */
	ColumnDomain domain;		/* of what the batch holds */
	const Lookup *lookup;		/* of which the batch has places; or NULL */
	int			lookup_column;	/* the column's index there */
} RowInput;

/*
 * Puts the columns of row i into a slot, which has had a row before.  Datums are in memory, or
 * belong to what the columns' domains point to.
 */
extern void row_inputs_store(const RowInput *inputs, int ninputs, const ColumnBatch *batches,
							 size_t i, MemoryContext memory, TupleTableSlot *slot);

/*
 * Returns a copy of expressions of the columns, in which each is a column of such a slot, an outer
 * tuple.
 */
extern Node *row_inputs_refer(const RowInput *inputs, Node *node);

typedef struct RowExpression
{
	ExprState  *state;			/* NULL of several expressions ... */
	List	   *states;			/* ... which have these; NIL: they are the columns themselves */
	Datum	   *values;			/* of these in a row */
	bool	   *nulls;
	ExprContext *econtext;		/* whose memory by tuple a value is in */
	TupleTableSlot *slot;		/* of the columns' values, of no other */
	int16		typlen;			/* of the expression's type */
	int			ninputs;
	const RowInput *inputs;
} RowExpression;

/*
 * Prepares the evaluation, in the current memory context, for a node.  inputs are the columns of
 * the expression (expression_columns), and must outlive it.  Checks the user's right to call the
 * expression's functions.
 */
extern void row_expression_make(RowExpression *row, PlanState *parent, Expr *expression,
								int ninputs, const RowInput *inputs);

/* Does the same for several expressions: inputs are the columns of all of them. */
extern void row_expressions_make(RowExpression *row, PlanState *parent, List *expressions,
								 int ninputs, const RowInput *inputs);

/* Frees the values of an execution before. */
extern void row_expression_begin(RowExpression *row);

/*
 * Returns the expression's value in a row, valid until the next call.  Raises the errors of the
 * expression.
 */
extern Datum row_expression_value(RowExpression *row, const ColumnBatch *batches, size_t i,
								  bool *isnull);

/* Returns the values of several expressions in a row, valid until the next call, as *nulls is. */
extern const Datum *row_expressions_values(RowExpression *row, const ColumnBatch *batches,
										   size_t i, const bool **nulls);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_ROW_EXPRESSION_H */
