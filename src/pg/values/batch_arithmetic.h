/*
 * batch_arithmetic.h
 *		Addition, subtraction and multiplication of integers and decimals, a batch at a time.
 *
 * price * (1 - discount) of two columns numeric(15,2) is a product of whole hundredths, which is a
 * number of units of 10^-4: PostgreSQL's own result has four digits behind the point, too.  Values
 * that an operation of 64 bits does not give are marked as outside: those of which PostgreSQL
 * raises an error, results of more than 18 digits, and NaN.
 */
#ifndef HPSORT_PG_VALUES_BATCH_ARITHMETIC_H
#define HPSORT_PG_VALUES_BATCH_ARITHMETIC_H

#include "nodes/primnodes.h"

#include "pg/values/batch.h"
#include "pg/values/numeric_unit.h"
#include "pg/values/value.h"

typedef struct BatchArithmetic BatchArithmetic;

/*
 * Returns the arithmetic that an expression is, in the current memory context; NULL if it is
 * another expression, a column alone, or its values have more than 18 digits behind the point.  It
 * points to the expression's columns.
 */
extern BatchArithmetic *batch_arithmetic_make(Expr *expression);

/* Returns the kind of the values, and sets *unit to that of COLUMN_KIND_NUMERIC. */
extern ColumnKind batch_arithmetic_kind(const BatchArithmetic *arithmetic, NumericUnit *unit);

/* Whether the types of the columns leave no value outside but NaN and errors. */
extern bool batch_arithmetic_is_certain(const BatchArithmetic *arithmetic);

/* Returns how many operations there are, reading columns included. */
extern int	batch_arithmetic_steps(const BatchArithmetic *arithmetic);

/* Returns the columns, one after the other; NULL behind the last one. */
extern const Var *batch_arithmetic_column(const BatchArithmetic *arithmetic, int i);

/*
 * Prepares computing, in the current memory context.  batches is, by column, the index of the batch
 * that has the column's own values; it is kept.
 */
extern void batch_arithmetic_prepare(BatchArithmetic *arithmetic, const int *batches);

/* The most rows that are computed at once. */
#define BATCH_ARITHMETIC_ROWS 512

/*
 * Computes n rows from row first on, at most BATCH_ARITHMETIC_ROWS: sets their values, and outside
 * to whether a value is outside.  Returns whether any is.  Values of rows in which a column is NULL
 * mean nothing.
 */
extern bool batch_arithmetic_compute(const BatchArithmetic *arithmetic,
									 const ColumnBatch *batches, size_t first, size_t n,
									 int64 *values, uint8 *outside);

#endif							/* HPSORT_PG_VALUES_BATCH_ARITHMETIC_H */
