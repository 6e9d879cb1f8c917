/*
 * sort.h
 *		Puts the rows of a store in the order of their keys.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_SORT_H
#define HPSORT_PG_NODES_SORT_STORE_SORT_H

#include "pg/nodes/sort/store/row_store.h"
#include "sort/sort_types.h"

/*
 * Puts the rows in order, stably, by all keys.  Afterwards the store can only
 * be read by row_store_ref, _fetch, _key and _emit, until it is cleared.
 */
extern void row_store_sort(RowStore *store, const SortContext *context);

/*
 * Puts rows in order and keeps their keys, for rows that lie elsewhere, rows of the narrow layout,
 * or keys alone.  all: by all keys, which is possible only for rows that lie elsewhere; else by
 * mapped keys, and rows whose mapped keys are equal stay as they came.  Afterwards the order is:
 *
 * - Narrow layout: the pairs, of the rows whose key is not NULL, are in order.  Their references
 *   are in store->order or, if that is NULL, in the pairs.
 * - Wide layout: store->order has the numbers of rows.
 * - Without tuples: the images that are not NULL are in order.
 */
extern void row_store_sort_with_keys(RowStore *store, bool all, const SortContext *context);

/*
 * Returns an estimate: of the rows that the store has now, how many will have mapped keys equal to
 * another row's when there are times as many rows in all.
 */
extern double row_store_expect_equal(const RowStore *store, double times,
									 const SortContext *context);

/* Raises the interrupt for which a function of src/sort has returned false. */
pg_noreturn extern void row_store_cancelled(void);

#endif							/* HPSORT_PG_NODES_SORT_STORE_SORT_H */
