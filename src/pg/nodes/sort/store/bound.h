/*
 * bound.h
 *		LIMIT: a store that keeps only the first rows in order.
 *
 * row_store_take and row_store_take_key are row_store_put and row_store_put_key
 * for a store whose bound may be set.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_BOUND_H
#define HPSORT_PG_NODES_SORT_STORE_BOUND_H

#include "postgres.h"

#include "pg/nodes/sort/store/store.h"

/* The halves of the functions below for a store with a bound. */
extern bool row_store_take_bounded(RowStore *store, TupleTableSlot *slot);
extern bool row_store_take_key_bounded(RowStore *store, const RowKey *key);

/*
 * Takes the row in slot, unless the bound says that it is not wanted; false if
 * there is no room for it, although no more than the wanted rows are kept.
 */
static inline bool
row_store_take(RowStore *store, TupleTableSlot *slot)
{
	if (likely(store->bound == 0))
		return row_store_put(store, slot);
	return row_store_take_bounded(store, slot);
}

/* The same for a row without a tuple. */
static inline bool
row_store_take_key(RowStore *store, const RowKey *key)
{
	if (likely(store->bound == 0))
		return row_store_put_key(store, key);
	return row_store_take_key_bounded(store, key);
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_BOUND_H */
