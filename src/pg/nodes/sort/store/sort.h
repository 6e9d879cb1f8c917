/*
 * sort.h
 *		Puts the rows of a store in the order of their keys.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_SORT_H
#define HPSORT_PG_NODES_SORT_STORE_SORT_H

#include "postgres.h"

#include "pg/nodes/sort/store/row_store.h"
#include "sort/sort_types.h"

/*
 * Puts the rows in order, stably, by all keys.  Afterwards the store can only
 * be read by row_store_ref, _fetch, _key and _emit, until it is cleared.
 */
extern void row_store_sort(RowStore *store, const SortContext *context);

/* The same by mapped keys only, of rows that lie elsewhere: equal ones stay as they came. */
extern void row_store_sort_mapped(RowStore *store, const SortContext *context);

/*
 * Puts rows that lie elsewhere in order by all keys, and keeps the keys.  Of the narrow layout the
 * pairs of those that are not NULL are in order, and references are in store->order, or, if it is
 * NULL, in the pairs; of the wide layout store->order has the numbers of rows.
 */
extern void row_store_sort_with_keys(RowStore *store, const SortContext *context);

/*
 * Puts the keys in order where they lie: pairs of the narrow layout, or the images of one key
 * without tuples.  Keys left to core are not looked at.
 */
extern void row_store_sort_keys(RowStore *store, const SortContext *context);

/*
 * How many of these rows will have the mapped keys of another one when there are so many times as
 * many rows, about.
 */
extern double row_store_expect_equal(const RowStore *store, double times,
									 const SortContext *context);

/* Raises the interrupt for which a function of src/sort has returned false. */
pg_noreturn extern void row_store_cancelled(void);

#endif							/* HPSORT_PG_NODES_SORT_STORE_SORT_H */
