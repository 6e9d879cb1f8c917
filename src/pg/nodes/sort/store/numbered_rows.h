/*
 * numbered_rows.h
 *		The rows of a store whose keys are numbered (key_numbers.h).
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_NUMBERED_ROWS_H
#define HPSORT_PG_NODES_SORT_STORE_NUMBERED_ROWS_H

#include "postgres.h"

#include "pg/nodes/sort/store/row_store.h"

/* Makes numbers ranks, of the store's rows and in its keys. */
extern void numbered_rows_rank(RowStore *store);

/*
 * Gives up numbering key k, and the keys after it, of a store that has the tuples of its rows: makes
 * other images of the key, of these rows and of later ones.
 */
extern void numbered_rows_give_up(RowStore *store, int k);

/* Makes the ranks of a row's keys numbers, which stay what they are, and the other way round. */
extern void numbered_rows_key_to_numbers(const KeyColumns *keys, RowKey *key);
extern void numbered_rows_key_to_ranks(const KeyColumns *keys, RowKey *key);

#endif							/* HPSORT_PG_NODES_SORT_STORE_NUMBERED_ROWS_H */
