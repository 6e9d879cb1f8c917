/*
 * filters.h
 *		RowFilters: the filters of a scan (ColumnScan), for the reader.
 *
 * Of a heap, a filter is taken apart.  What is conditions of columns is evaluated first, for all
 * rows of a page at once and where they lie (row_filter.h).  For the rows left, core evaluates the
 * other clauses, in a slot.
 */
#ifndef HPSORT_PG_COLUMN_FILTERS_H
#define HPSORT_PG_COLUMN_FILTERS_H

#include "executor/executor.h"

#include "pg/pages/pages.h"
#include "pg/values/values.h"

typedef struct RowFilters
{
	ExprState  *qual;			/* what core evaluates of the qual; NULL: nothing */
	const List *late;			/* the scan's further conditions, if they come behind it */
	ExprContext *econtext;
	TupleTableSlot *slot;
	int			n;				/* other filters */
	ExprState **states;			/* what core evaluates of them; NULL: nothing */
	bool		by_row;			/* core evaluates something, or conditions come behind it */
	uint64		refused;		/* rows, by the qual ... */
	uint64		unmatched;		/* ... and by the scan's further conditions */

	/*
	 * If one of the others has conditions, whether these refuse rows of a page: row i, by filter
	 * f, at [f * MaxHeapTuplesPerPage + i].
	 */
	uint8	   *refusals;

	/* for row_layout_init */
	int			nconditions;
	RowCondition *conditions;
} RowFilters;

/*
 * Makes the filters of a scan, in the current memory context.  slot is where core finds the row.
 * split: the rows are a heap's, and filters are taken apart.  Of 60 rows of one page that is less
 * work already than to have core evaluate two comparisons.
 */
extern void row_filters_init(RowFilters *filters, const ColumnScan *scan, TupleTableSlot *slot,
							 bool split);

/* Whether the scan has any filter. */
static inline bool
row_filters_exist(const RowFilters *filters)
{
	return filters->by_row || filters->nconditions > 0;
}

/* Whether the row in the slot passes the conditions behind the qual. */
extern bool row_filters_pass_late(const RowFilters *filters);

/*
 * Whether the row in the slot passes what core evaluates of the qual, and the conditions behind
 * that; counts it as refused or as unmatched if not.
 */
static inline bool
row_filters_pass(RowFilters *filters)
{
	ResetExprContext(filters->econtext);
	filters->econtext->ecxt_scantuple = filters->slot;
	if (filters->qual && !ExecQual(filters->qual, filters->econtext))
	{
		filters->refused++;
		return false;
	}
	if (filters->late && !row_filters_pass_late(filters))
	{
		filters->unmatched++;
		return false;
	}
	return true;
}

/*
 * Appends to the batches of the other filters whether they refuse the row in the slot, which is row
 * i of its page and has passed the qual.
 */
extern void row_filters_append(const RowFilters *filters, int i, ColumnBatch *batches);

/* Appends n rows of a page to the batches of the other filters, of which core evaluates nothing. */
extern void row_filters_append_page(const RowFilters *filters, int n, ColumnBatch *batches);

#endif							/* HPSORT_PG_COLUMN_FILTERS_H */
