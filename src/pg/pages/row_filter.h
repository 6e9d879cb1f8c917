/*
 * row_filter.h
 *		Conditions of columns (filter_conditions.h), evaluated where the rows of a page lie.
 *
 * A row is looked at up to the column of the first condition that refuses it, columns in their
 * order, and no further.
 */
#ifndef HPSORT_PG_PAGES_ROW_FILTER_H
#define HPSORT_PG_PAGES_ROW_FILTER_H

#include "postgres.h"

#include "pg/pages/row.h"

/*
 * Sets the layout's test for the rows of the next page; false if there is none.  It is that of the
 * first condition of the qual, if that is a range, or bits, of an integer column at a fixed offset.
 */
extern bool row_filter_set_test(RowLayout *layout);

/* Notes, out of the rows of a page that may pass the test, all that do or are walked over. */
extern void row_filter_note_tested(RowLayout *layout, NotedRows *rows);

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
