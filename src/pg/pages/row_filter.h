/*
 * row_filter.h
 *		Conditions of columns (filter_conditions.h), evaluated where the rows of a page lie.
 *
 * A row is looked at up to the column of the first condition that refuses it, columns in their
 * order, and no further.
 */
#ifndef HPSORT_PG_PAGES_ROW_FILTER_H
#define HPSORT_PG_PAGES_ROW_FILTER_H

#include "pg/pages/row.h"

/*
 * Fills in the order in which the conditions of a layout, which has been made, are evaluated: those
 * that cost next to nothing by their columns; behind them those of values, in their order here,
 * that of core.  Makes sets of keys of long lists, in the current memory context.
 */
extern void row_filter_order(RowLayout *layout, int nconditions, const RowCondition *conditions);

/*
 * Keeps the rows noted of a page that pass all conditions of the layout's qual.  Returns how many
 * rows have been refused by the scan's further conditions.
 */
extern int	row_filter_keep(RowLayout *layout, NotedRows *rows);

/*
 * Sets refused[i] to whether row i of a page, as noted, does not pass the conditions of a filter,
 * by its number in RowCondition.
 */
extern void row_filter_mark(RowLayout *layout, NotedRows *rows, int filter, uint8 *refused);

#endif							/* HPSORT_PG_PAGES_ROW_FILTER_H */
