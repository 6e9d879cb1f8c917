/*
 * row_expression.c
 *		Expressions of columns, evaluated row by row (see row_expression.h).
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/aggregate/read/row_expression.h"

/* In place of a column of the table, the column of the slot. */
static Node *
replace_column(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const RowInput *inputs = (const RowInput *) context;
		Var		   *column = copyObject((Var *) node);
		int			i = 0;

		while (!is_same_column(inputs[i].column, column))
			i++;
		column->varno = OUTER_VAR;
		column->varattno = i + 1;
		return (Node *) column;
	}
	return expression_tree_mutator(node, replace_column, context);
}

Node *
row_inputs_refer(const RowInput *inputs, Node *node)
{
	return replace_column(node, unconstify(RowInput *, inputs));
}

/* Makes the slot of the columns, and where expressions are evaluated. */
static void
make_slot(RowExpression *row, PlanState *parent, int ninputs, const RowInput *inputs)
{
	TupleDesc	desc = CreateTemplateTupleDesc(ninputs);

	row->ninputs = ninputs;
	row->inputs = inputs;
	for (int i = 0; i < ninputs; i++)
	{
		const Var  *column = inputs[i].column;

		TupleDescInitEntry(desc, i + 1, NULL, column->vartype, column->vartypmod, 0);
		TupleDescInitEntryCollation(desc, i + 1, column->varcollid);
	}
	TupleDescFinalize(desc);
	row->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(row->slot);
	row->econtext = CreateExprContext(parent->state);
	row->econtext->ecxt_outertuple = row->slot;
}

void
row_expression_make(RowExpression *row, PlanState *parent, Expr *expression, int ninputs,
					const RowInput *inputs)
{
	make_slot(row, parent, ninputs, inputs);
	row->state = ExecInitExpr((Expr *) row_inputs_refer(inputs, (Node *) expression), parent);
	row->typlen = get_typlen(exprType((Node *) expression));
}

/* Whether expressions are the columns themselves. */
static bool
are_columns(const List *expressions, int ninputs, const RowInput *inputs)
{
	if (list_length(expressions) != ninputs)
		return false;
	foreach_ptr(const Expr, expression, expressions)
	{
		const Var  *column = plain_column(expression);

		if (column == NULL ||
			!is_same_column(column, inputs[foreach_current_index(expression)].column))
			return false;
	}
	return true;
}

void
row_expressions_make(RowExpression *row, PlanState *parent, List *expressions, int ninputs,
					 const RowInput *inputs)
{
	make_slot(row, parent, ninputs, inputs);
	if (are_columns(expressions, ninputs, inputs))
		return;
	row->values = palloc_array(Datum, list_length(expressions));
	row->nulls = palloc_array(bool, list_length(expressions));
	row->states = ExecInitExprList((List *) row_inputs_refer(inputs, (Node *) expressions),
								   parent);
}

void
row_expression_begin(RowExpression *row)
{
	ResetExprContext(row->econtext);
}

void
row_inputs_store(const RowInput *inputs, int ninputs, const ColumnBatch *batches, size_t i,
				 MemoryContext memory, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(memory);

	for (int c = 0; c < ninputs; c++)
	{
		const RowInput *input = &inputs[c];
		const ColumnBatch *batch = &batches[input->batch];
		bool		isnull = batch->nnulls > 0 && batch->nulls[i];

		slot->tts_isnull[c] = isnull;
		if (input->lookup && !isnull)
			slot->tts_values[c] = lookup_value(input->lookup, input->lookup_column, batch->keys[i],
											   &slot->tts_isnull[c]);
		else
			slot->tts_values[c] = isnull ? (Datum) 0 :
				column_domain_datum(&input->domain, column_batch_value(batch, i) +
									column_kind_bias(input->domain.kind));
	}
	MemoryContextSwitchTo(old);
}

/* Puts the columns' values of a row into the slot. */
static void
store_inputs(RowExpression *row, const ColumnBatch *batches, size_t i)
{
	ResetExprContext(row->econtext);
	row_inputs_store(row->inputs, row->ninputs, batches, i, row->econtext->ecxt_per_tuple_memory,
					 row->slot);
}

Datum
row_expression_value(RowExpression *row, const ColumnBatch *batches, size_t i, bool *isnull)
{
	Datum		value;

	store_inputs(row, batches, i);
	value = ExecEvalExprSwitchContext(row->state, row->econtext, isnull);
	return *isnull ? (Datum) 0 : MakeExpandedObjectReadOnly(value, false, row->typlen);
}

const Datum *
row_expressions_values(RowExpression *row, const ColumnBatch *batches, size_t i, const bool **nulls)
{
	store_inputs(row, batches, i);
	if (row->states == NIL)
	{
		*nulls = row->slot->tts_isnull;
		return row->slot->tts_values;
	}
	foreach_ptr(ExprState, state, row->states)
	{
		int			k = foreach_current_index(state);

		row->values[k] = ExecEvalExprSwitchContext(state, row->econtext,
												   &row->nulls[k]);
	}
	*nulls = row->nulls;
	return row->values;
}
