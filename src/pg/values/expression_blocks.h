/*
 * expression_blocks.h
 *		Of which blocks of a column's values an expression has one value, and how many
 *		different values the expression can have at most.
 *
 * date_trunc('day', at), at::date and extract(hour FROM at) have one value for all times of an
 * hour, and id / 1000 for a thousand numbers.  Where a column's values hardly repeat, its blocks
 * may well do.
 */
#ifndef HPSORT_PG_VALUES_EXPRESSION_BLOCKS_H
#define HPSORT_PG_VALUES_EXPRESSION_BLOCKS_H

#include "nodes/pathnodes.h"

#include "pg/values/batch.h"
#include "pg/values/value.h"

/* Which blocks are certain to have one value of the expression. */
typedef enum BlocksKind
{
	BLOCKS_NONE,				/* none: each value of the column is a block */
	BLOCKS_OF_CALENDAR,			/* all: times of no time zone */
	BLOCKS_OF_ZONE,				/* in which the session's time zone keeps its offset */
	BLOCKS_FROM_ORIGIN			/* from the origin on, up to the end */
} BlocksKind;

/* Blocks of width values, one of which begins at the origin. */
typedef struct ExpressionBlocks
{
	BlocksKind	kind;
	int64		width;			/* values of a block */
	int64		origin;			/* the first value of a block */
	int64		end;			/* of BLOCKS_FROM_ORIGIN */
} ExpressionBlocks;

/* The block before the origin, of which nothing is known. */
#define BLOCK_BEFORE_ORIGIN INT64CONST(-1)

/*
 * The blocks of an expression of one column, of any kind of integers (column_kind).  Valid as long
 * as the session's time zone is what it is.
 */
extern ExpressionBlocks expression_blocks(Node *expression);

/* Whether all values of a block have the same value of the expression. */
extern bool expression_block_is_known(const ExpressionBlocks *blocks, int64 block);

/* The block of a value; blocks of a kind other than BLOCKS_NONE. */
static inline int64
expression_block_of(const ExpressionBlocks *blocks, int64 value)
{
	int64		block;

	if (blocks->kind == BLOCKS_FROM_ORIGIN)
		return value < blocks->origin ? BLOCK_BEFORE_ORIGIN :
			(int64) (((uint64) value - (uint64) blocks->origin) / (uint64) blocks->width);
	block = value / blocks->width;
	return block * blocks->width > value ? block - 1 : block;
}

/* Writes the block of each row of a column's batch to result; of a row that is NULL, any. */
extern void expression_blocks_find(const ExpressionBlocks *blocks, const ColumnBatch *rows,
								   int64 *result);

/* The least and the greatest value of a column. */
typedef struct ColumnRange
{
	double		lo;
	double		hi;
} ColumnRange;

/*
 * Sets *range to that of a column's values by its statistics; false if it is not known, or not for
 * the user to know.
 */
extern bool column_statistics_range(PlannerInfo *root, const Var *column, ColumnRange *range);

/*
 * Returns for how many of a number of rows an expression is evaluated at most, if its values are
 * remembered by blocks: once for each block that has values by the column's statistics, and once
 * for each row in a block of which nothing is known.  Infinity if there are no statistics.
 */
extern double expression_blocks_most(PlannerInfo *root, Node *expression, double rows);

/*
 * Estimates how many groups a number of rows has by these expressions.  Core's estimate takes an
 * expression to have as many values as its column; the result is lower if the range of the column,
 * or of the expression's function, has fewer.
 */
extern double expression_groups(PlannerInfo *root, List *expressions, double rows);

/*
 * Whether an expression is arithmetic: built-in functions of numbers, which take no longer than a
 * look-up in a hash table.
 */
extern bool expression_is_arithmetic(Node *expression);

#endif							/* HPSORT_PG_VALUES_EXPRESSION_BLOCKS_H */
