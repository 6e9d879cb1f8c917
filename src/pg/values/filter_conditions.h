/*
 * filter_conditions.h
 *		What a filter asks of each of a table's columns, if it is comparisons of columns with
 *		constants and nothing else.
 */
#ifndef HPSORT_PG_VALUES_FILTER_CONDITIONS_H
#define HPSORT_PG_VALUES_FILTER_CONDITIONS_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "sort/extents/value_ranges.h"

/* Of one column: which rows a filter does not refuse because of it. */
typedef struct FilterCondition
{
	AttrNumber	attnum;
	ValueRange *ranges;			/* of keys, as in ColumnBatch: values less column_kind_bias */
	size_t		nranges;
	bool		nulls;			/* rows in which the column is NULL, too */
} FilterCondition;

/*
 * Sets *conditions to the conditions that together are a filter (ExecInitQual), one for each
 * column, in the current memory context.  Returns false if the filter has anything but
 *
 * - comparisons by <> and the operators of the column's default btree operator class, with
 *	 constants and with parameters that have a value already;
 * - = ANY and <> ALL of an array of these;
 * - IS [NOT] NULL, and the tests of booleans;
 *
 * ANDed.  Nothing is evaluated that could fail or call a function.
 *
 * Conditions hold for keys within the range of int4, as resident columns have them.
 */
extern bool filter_conditions_find(const ExprState *filter, ExprContext *econtext,
								   List **conditions);

/*
 * For the planner: adds the columns of clauses, which are RestrictInfos or expressions, to a list
 * of attribute numbers; false if filter_conditions_find will not know one of the clauses, whatever
 * its parameters are.
 */
extern bool filter_conditions_columns(const List *clauses, List **columns);

#endif							/* HPSORT_PG_VALUES_FILTER_CONDITIONS_H */
