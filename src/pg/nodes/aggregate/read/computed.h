/*
 * computed.h
 *		ComputedColumn: sums and products of integers and decimals, a batch at a time.
 *
 * A row whose value the arithmetic of batches does not give (values/batch_arithmetic.h) is left to
 * core's evaluation of the expression.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_COMPUTED_H
#define HPSORT_PG_NODES_AGGREGATE_READ_COMPUTED_H

#include "pg/nodes/aggregate/read/row_expression.h"
#include "pg/values/values.h"

typedef struct ComputedColumn ComputedColumn;

/*
 * Makes the description of the column of an expression, which row evaluates, in the current memory
 * context.  Returns NULL if the expression is no arithmetic of batches, or if one of its columns is
 * read as anything but its values.  row must outlive the column.
 */
extern ComputedColumn *computed_make(Expr *expression, RowExpression *row);

/* Returns what the values are. */
extern const ColumnDomain *computed_domain(const ComputedColumn *computed);

/* Begins an execution, whose memory is the current memory context. */
extern void computed_begin(ComputedColumn *computed);

/*
 * Appends a value for each row of batches to batch, which is empty.  refused has 1 for rows that
 * become NULL without being evaluated; or it is NULL.  Raises the errors of the expression.
 */
extern void computed_fill(ComputedColumn *computed, const ColumnBatch *batches,
						  const uint8 *refused, ColumnBatch *batch);

/* A decimal with more digits than integers of the unit have: the batch has 0 in its row. */
typedef struct OutsizedValue
{
	size_t		row;
	Datum		value;			/* a numeric */
} OutsizedValue;

/*
 * Returns how many values of the last batch are outsized, and sets *values to them in the order of
 * their rows; they are valid until the next batch.
 */
extern int	computed_outsized(const ComputedColumn *computed, const OutsizedValue **values);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_COMPUTED_H */
