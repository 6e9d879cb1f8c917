/*
 * plain_column.h
 *		Expressions that are a column and nothing else.
 *
 * Planner and executor call these functions, so that they agree about which expressions are.
 */
#ifndef HPSORT_PG_VALUES_PLAIN_COLUMN_H
#define HPSORT_PG_VALUES_PLAIN_COLUMN_H

#include "nodes/primnodes.h"

/*
 * Returns an expression without the relabellings around it, as another type or domain; NULL for
 * NULL.
 */
static inline Node *
strip_relabels(const void *expression)
{
	const Node *node = (const Node *) expression;

	while (node && IsA(node, RelabelType))
		node = (const Node *) ((const RelabelType *) node)->arg;
	return unconstify(Node *, node);
}

/*
 * Returns the column that an expression is, perhaps relabelled; NULL if it is none, or a system
 * column or a whole row.
 */
static inline Var *
plain_column(const void *expression)
{
	Var		   *column = (Var *) strip_relabels(expression);

	return column && IsA(column, Var) && column->varattno > 0 ? column : NULL;
}

#endif							/* HPSORT_PG_VALUES_PLAIN_COLUMN_H */
