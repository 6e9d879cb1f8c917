/*
 * row_store.h
 *		Rows in memory, with their keys beside them, and their sorted order.
 *
 * Rows are packed as minimal tuples into large blocks, in the order in which
 * they come.  A reference of 32 bits names a block and a place in it; references
 * grow from row to row.  Keys are kept in one of two layouts:
 *
 *	narrow	one mapped key of at most 32 bits: (image, reference) pairs,
 *			ready to be sorted (src/sort/rows/rows.h), and apart from them the
 *			references of rows whose key is NULL
 *	wide	one array of images for each mapped key, a mask of NULLs, and the
 *			references; sort.c combines the images of a row into one integer when
 *			all rows are there and the bounds of the images are known
 *
 * A store without tuples keeps the images of one key only.  One of rows that lie elsewhere
 * has no blocks: references are the caller's, and must grow from row to row as well.
 *
 * This file takes rows in, and returns them; sort.h puts them in order; bound.h
 * keeps the first of them only.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_ROW_STORE_H
#define HPSORT_PG_NODES_SORT_STORE_ROW_STORE_H

#include "postgres.h"

#include "pg/nodes/sort/store/store_memory.h"

/*
 * Makes an empty store of at most limit bytes, in a context below parent, for one
 * sort: keys are started with it.
 * tuples: whether rows are kept, or only the keys of one key column.  keys and
 * tupdesc must outlive the store.  bound: as in the struct.
 */
extern RowStore *row_store_create(MemoryContext parent, KeyColumns *keys, TupleDesc tupdesc,
								  bool tuples, Size limit, uint64 bound);

/*
 * Forgets all rows, and the bound.  The memory stays, to be filled again:
 * handing it back and forth takes longer than filling it.
 */
extern void row_store_clear(RowStore *store);

/* Forgets all rows, and the bound, and frees their memory. */
extern void row_store_reset(RowStore *store);

/* Frees what is not of the store's memory contexts. */
extern void row_store_destroy(RowStore *store);

/*
 * Takes the row in slot, unless it is beyond the cutoff; false if there is no
 * room for it.  A store with a bound is filled by row_store_take (bound.h).
 */
extern bool row_store_put(RowStore *store, TupleTableSlot *slot);

/*
 * Whether abbreviations are of no use, when so many rows have been seen, of which these
 * are n images of the abbreviated key; false most of the time without a look.
 */
extern bool row_store_refuses(RowStore *store, uint64 rows, const uint64 *images, Size n);

/* Starts the keys of an empty store again, which another one of the same keys has made use of. */
extern void row_store_start_keys(RowStore *store);

/* Takes a row without a tuple, likewise. */
extern bool row_store_put_key(RowStore *store, const RowKey *key);

/*
 * Makes an empty store of rows that lie elsewhere.  Rows are
 * taken by their mapped keys and references: row_store_reserve_refs makes room for so many, and
 * for so many with a NULL as a single key, or returns false; row_store_put_ref takes one.
 * row_store_wants: whether it is not beyond the cutoff.
 */
extern RowStore *row_store_create_elsewhere(MemoryContext parent, KeyColumns *keys,
											TupleDesc tupdesc, const RowElsewhere *elsewhere,
											Size limit, uint64 bound);
extern bool row_store_reserve_refs(RowStore *store, Size rows, Size nulls);
extern bool row_store_wants(const RowStore *store, const RowKey *key);
extern void row_store_put_ref(RowStore *store, const RowKey *key, uint32 ref);

/*
 * The same for n rows of the narrow layout that are not NULL and not beyond the cutoff,
 * which is the first image that is: UINT32_MAX + 1 if there is none.  notes are theirs, if the
 * store is noted, as its owner may make one of the narrow layout without a bound before the first
 * row: they come back beside the references, if the algorithm takes them along.
 * row_store_drop_notes: they are no longer of use, and their memory is.
 */
extern void row_store_put_narrow_refs(RowStore *store, const uint32 *images, const uint32 *refs,
									  const uint32 *notes, Size n);
extern void row_store_drop_notes(RowStore *store);
extern uint64 row_store_narrow_cutoff(const RowStore *store);

/*
 * The largest image of a first key that is not NULL with which a row may still be wanted, or the
 * next one; UINT64_MAX if there is no such limit.
 */
extern uint64 row_store_largest_wanted(const RowStore *store);

/*
 * For bound.c, to keep some rows of a store with tuples and drop the others:
 * row_store_restart forgets all rows, but not their memory; row_store_put_again
 * takes the row of a reference again, references growing from call to call,
 * and moves its tuple to the front of the blocks.  *key is set to the row's
 * keys, *moved to its new reference.
 */
extern void row_store_restart(RowStore *store);
extern void row_store_put_again(RowStore *store, uint32 ref, RowKey *key, uint32 *moved);

/* Rows that can be fetched: all, or the first bound of them. */
static inline uint64
row_store_count(const RowStore *store)
{
	return store->bound > 0 && store->bound < store->rows ? store->bound : store->rows;
}

/* The note of the i-th row in order; 0 if there are none, or its key is NULL. */
static inline uint32
row_store_note(const RowStore *store, uint64 i)
{
	i -= store->nulls_before;
	return store->sorted_notes && i < store->n ? store->sorted_notes[i] : 0;
}

static inline MinimalTuple
row_store_tuple(const RowStore *store, uint32 ref)
{
	return (MinimalTuple) (store->blocks[ROW_REF_BLOCK(ref)] + ROW_REF_OFFSET(ref));
}

/* The keys of a row of the wide layout, also if it has been sorted or forgotten. */
static inline void
row_store_wide_key(const RowStore *store, Size row, RowKey *key)
{
	int			k;

	key->nulls = store->nulls ? store->nulls[row] : 0;
	for (k = 0; k < store->keys->nmapped; k++)
		key->images[k] = store->images[k][row];
}

/* After row_store_sort: the reference of the i-th row in order. */
static inline uint32
row_store_ref(const RowStore *store, uint64 i)
{
	if (likely(store->nnull == 0))
		return store->order[i];
	if (i < store->nulls_before)
		return store->null_refs[i];
	i -= store->nulls_before;
	return i < store->n ? store->order[i] : store->null_refs[i - store->n];
}

/* How many rows ahead a row is fetched into the cache: 8 in flight hide most of a miss. */
#define ROW_PREFETCH 8

/* The i-th row in order, i < row_store_count(). */
static inline MinimalTuple
row_store_fetch(const RowStore *store, uint64 i)
{
	if (likely(i + ROW_PREFETCH < store->rows))
	{
		const char *ahead = (const char *) row_store_tuple(store,
														   row_store_ref(store, i + ROW_PREFETCH));

		__builtin_prefetch(ahead);
		__builtin_prefetch(ahead + 64);
	}
	return row_store_tuple(store, row_store_ref(store, i));
}

/* Without tuples: sets *image to the i-th key in order; false if the key is NULL. */
static inline bool
row_store_key(const RowStore *store, uint64 i, uint64 *image)
{
	if (unlikely(i < store->nulls_before))
		return false;
	i -= store->nulls_before;
	if (unlikely(i >= store->n))
		return false;
	*image = store->images[0][i];
	return true;
}

/*
 * Returns the i-th row in order in slot: a minimal tuple, or without tuples the
 * one key as the only column of a virtual slot.  The tuple stays the store's.
 */
static inline TupleTableSlot *
row_store_emit(const RowStore *store, uint64 i, TupleTableSlot *slot)
{
	if (store->tuples)
		return ExecStoreMinimalTuple(row_store_fetch(store, i), slot, false);
	else
	{
		uint64		image = 0;
		bool		isnull = !row_store_key(store, i, &image);

		return key_emit(&store->keys->keys[0], isnull, image, slot);
	}
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_ROW_STORE_H */
