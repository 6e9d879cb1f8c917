/*
 * row_expression.c
 *		Expressions of columns, evaluated row by row (see row_expression.h).
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/row_expression.h"

/* In place of a column of the table, the column of the slot. */
static Node *
replace_column(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *column = copyObject((Var *) node);
		ListCell   *lc;

		column->varno = INNER_VAR;
		foreach(lc, (const List *) context)
		{
			if (lfirst_node(Var, lc)->varattno == ((Var *) node)->varattno)
				column->varattno = foreach_current_index(lc) + 1;
		}
		return (Node *) column;
	}
	return expression_tree_mutator(node, replace_column, context);
}

void
row_expression_make(RowExpression *row, PlanState *parent, Expr *expression, const List *columns,
					int *bases)
{
	TupleDesc	desc = CreateTemplateTupleDesc(list_length(columns));
	ListCell   *lc;

	row->ncolumns = list_length(columns);
	row->bases = bases;
	row->kinds = palloc_array(ColumnKind, row->ncolumns);
	foreach(lc, columns)
	{
		const Var  *column = lfirst_node(Var, lc);
		int			c = foreach_current_index(lc);

		row->kinds[c] = column_read_kind(column->vartype);
		TupleDescInitEntry(desc, c + 1, NULL, column->vartype, column->vartypmod, 0);
		TupleDescInitEntryCollation(desc, c + 1, column->varcollid);
	}
	TupleDescFinalize(desc);
	row->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(row->slot);
	row->econtext = CreateExprContext(parent->state);
	row->econtext->ecxt_innertuple = row->slot;
	row->state = ExecInitExpr((Expr *) replace_column((Node *) expression,
													  unconstify(List *, columns)), parent);
	row->typlen = get_typlen(exprType((Node *) expression));
}

void
row_expression_begin(RowExpression *row)
{
	ResetExprContext(row->econtext);
}

Datum
row_expression_value(RowExpression *row, const ColumnBatch *batches, size_t i, bool *isnull)
{
	Datum	   *values = row->slot->tts_values;
	bool	   *nulls = row->slot->tts_isnull;
	Datum		value;
	int			c;

	ResetExprContext(row->econtext);
	for (c = 0; c < row->ncolumns; c++)
	{
		const ColumnBatch *batch = &batches[row->bases[c]];

		nulls[c] = batch->nnulls > 0 && batch->nulls[i];
		values[c] = nulls[c] ? (Datum) 0 :
			column_datum(row->kinds[c], column_batch_value(batch, i) +
						 column_kind_bias(row->kinds[c]));
	}
	value = ExecEvalExprSwitchContext(row->state, row->econtext, isnull);
	return *isnull ? (Datum) 0 : MakeExpandedObjectReadOnly(value, false, row->typlen);
}
