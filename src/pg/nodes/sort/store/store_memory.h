/*
 * store_memory.h
 *		The memory of a RowStore, whose limit it obeys: blocks of tuples, and arrays
 *		of their keys.
 *
 * No file but store.c includes it.  Memory that is not there is an error; false says
 * that there is none below the limit.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_STORE_MEMORY_H
#define HPSORT_PG_NODES_SORT_STORE_STORE_MEMORY_H

#include "postgres.h"

#include "pg/nodes/sort/store/store.h"

/* Bytes that one row takes in arrays, including those that sorting needs. */
extern Size store_memory_of_row(const RowStore *store);

/* Makes room for another row in all arrays of keys. */
extern bool store_memory_grow_keys(RowStore *store);

/* Makes room for another reference of a row with a NULL key. */
extern bool store_memory_grow_null_refs(RowStore *store);

/*
 * Starts another block, of at least size bytes.  A tuple larger than the largest block
 * gets one of its own, which takes as many block numbers as it would need blocks, so
 * that references still grow.
 */
extern bool store_memory_add_block(RowStore *store, Size size);

/* How many block numbers a block of so many bytes takes. */
static inline uint32
store_memory_block_numbers(Size bytes)
{
	return (uint32) ((bytes + ROW_BLOCK_MAX - 1) / ROW_BLOCK_MAX);
}

/* Goes on with the block of the next number, which has so many bytes. */
extern void store_memory_use_block(RowStore *store, Size bytes);

extern void store_memory_free_block(RowStore *store, uint32 number);

#endif							/* HPSORT_PG_NODES_SORT_STORE_STORE_MEMORY_H */
