/*
 * bound.h
 *		LIMIT: a store that keeps only the first rows in order.
 *
 * row_store_take and row_store_take_key are row_store_put and row_store_put_key
 * for a store whose bound may be set.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_BOUND_H
#define HPSORT_PG_NODES_SORT_STORE_BOUND_H

#include "pg/nodes/sort/store/row_store.h"

/* Rows taken beyond twice the bound before the unwanted ones are dropped. */
#define ROW_BOUND_SLACK 100

/*
 * Keeps the first bound rows of a store that has more.  Of rows that lie elsewhere it keeps all
 * that are equal, by mapped keys, to the last of these, if keys are left to core: these are
 * compared when all rows are there.
 */
extern void row_store_keep_bound(RowStore *store);

/* When there is no room: drops unwanted rows; false if they are too few to make room. */
extern bool row_store_make_room_by_bound(RowStore *store);

/*
 * Whether it is time to drop rows: twice as many as wanted, or kept the last time, and some more.
 */
static inline bool
row_store_has_too_many(const RowStore *store)
{
	return store->bound.rows > 0 &&
		store->rows >= Max(store->bound.rows, store->bound.kept) * 2 + ROW_BOUND_SLACK;
}

/*
 * Takes the row in slot, unless the bound says that it is not wanted; false if
 * there is no room for it, although no more than the wanted rows are kept.
 */
static inline bool
row_store_take(RowStore *store, TupleTableSlot *slot)
{
	if (unlikely(row_store_has_too_many(store)))
		row_store_keep_bound(store);
	return likely(row_store_put(store, slot)) ||
		(row_store_make_room_by_bound(store) && row_store_put(store, slot));
}

/* Does what row_store_take() does for a row of a store without tuples, by its key. */
static inline bool
row_store_take_key(RowStore *store, const RowKey *key)
{
	if (unlikely(row_store_has_too_many(store)))
		row_store_keep_bound(store);
	return likely(row_store_put_key(store, key)) ||
		(row_store_make_room_by_bound(store) && row_store_put_key(store, key));
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_BOUND_H */
