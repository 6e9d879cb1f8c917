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
 * keeps the first of them only.  A function that takes a row, or makes room, returns false if there
 * is no room below the limit; if the system has no memory, it raises an error.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_ROW_STORE_H
#define HPSORT_PG_NODES_SORT_STORE_ROW_STORE_H

#include "pg/nodes/sort/store/row.h"
#include "sort/key_code.h"
#include "sort/rows/rows.h"

/* A row of a group, the rows of equal codes, while they are compared by the keys that are left. */
typedef struct RowGroupEntry
{
	uint32		row;			/* wide layout: index; narrow: reference */
	bool		isnull;
	bool		repeats;		/* in order, and equal to the row before it in all keys */
	Datum		value;			/* of the first key left to core */
} RowGroupEntry;

/* A place among the blocks: block number above, 8-byte units below. */
#define ROW_BLOCK_BITS 20
#define ROW_BLOCK_MAX ((Size) 1 << (ROW_BLOCK_BITS + 3))
#define ROW_REF_BLOCK(ref) ((ref) >> ROW_BLOCK_BITS)
#define ROW_REF_OFFSET(ref) ((Size) ((ref) & ((UINT32_C(1) << ROW_BLOCK_BITS) - 1)) << 3)
#define ROW_BLOCKS_MAX (UINT32_C(1) << (32 - ROW_BLOCK_BITS))

/* What a sort of a store did. */
typedef struct RowStoreStats
{
	SortPlan	plan;			/* algorithm, device, reason */
	double		range;			/* possible keys within the bounds found */
	uint64		distinct;		/* different keys, NULL counted as one */
	bool		compared;		/* core compared rows within equal keys */
} RowStoreStats;

/*
 * What a store asks of rows that lie elsewhere, by their references.  Each method gets arg.
 *
 * value returns the value of key keys->rest[key], which is left to core.  Of key 0 it is valid
 * until forget is called, of others until the next call but one.
 *
 * prefetch prepares value: it brings n rows into the processor's cache or, if where is set, what
 * says where the rows lie.  It is called twice for a row, with where first.
 */
typedef struct RowElsewhere
{
	Datum		(*value) (void *arg, uint32 ref, int key, bool *isnull);
	void		(*forget) (void *arg);
	void		(*prefetch) (void *arg, const uint32 *refs, int n, bool where);
	void	   *arg;
} RowElsewhere;

/*
 * The tuples of a store: blocks of memory, which tuples fill one after the other.  Later rows use
 * the blocks of earlier ones again.
 */
typedef struct RowBlocks
{
	char	  **starts;			/* by block number; of a block with several numbers at the first */
	uint32	   *sizes;			/* in 8 bytes; 0: part of the block before */
	uint32		room;			/* block numbers that these two arrays have room for */
	Size		bytes;			/* of all blocks */
	uint32		nreused;		/* block numbers that earlier rows had */
	uint32		n;				/* block numbers given away to the rows there are */
	char	   *next;			/* free space of the last block ... */
	char	   *end;
	char	   *last;			/* ... which starts here */
} RowBlocks;

/*
 * The keys of a store, and the references of their rows.  Which arrays there are depends on the
 * layout, the others are NULL.  Later rows use the memory of earlier ones again.
 */
typedef struct RowArrays
{
	Size		room;			/* elements that each array but null_refs has room for */
	uint64	   *pairs;			/* narrow */
	uint64	   *images[KEY_COLUMNS_MAX_MAPPED]; /* wide, and without tuples */
	uint8	   *nulls;			/* wide: bit i of a row is set if its key i is NULL; the array is
								 * NULL until there is one */
	uint32	   *refs;			/* wide, with tuples */
	uint32	   *null_refs;		/* narrow, with tuples: rows with a NULL key */
	Size		null_room;		/* elements that null_refs has room for */
} RowArrays;

/* What is wanted of a store's rows: the first few in order, or all. */
typedef struct RowBound
{
	uint64		rows;			/* how many are wanted; 0: all */
	bool		has_cutoff;		/* rows at or after the cutoff are not wanted */
	RowKey		cutoff;
	uint64		kept;			/* rows that the last cut has left, with those equal to the last
								 * wanted one where that takes a comparison */
} RowBound;

/*
 * A store.  All of its arrays and blocks are in memory, a context below that of its owner, and are
 * freed with it.
 */
typedef struct RowStore
{
	MemoryContext memory;		/* of all rows; reset with them */
	KeyColumns *keys;
	TupleDesc	tupdesc;		/* of the rows */
	bool		tuples;			/* rows are kept, not only the images of one key */
	const RowElsewhere *elsewhere;	/* where tuples are; NULL: in the blocks */
	bool		narrow;			/* the layout of the keys */
	Size		limit;			/* bytes it may take */
	Size		used;			/* bytes it takes, at most */
	Size		peak;			/* most it ever took */
	Size		expected;		/* rows, if the owner knows of a number; or 0 */
	uint64		abort_check;	/* rows after which to ask whether to abbreviate on */
	TupleTableSlot *slot;		/* with tuples: for taking keys from them; has the cutoff's row,
								 * if keys are left to core */
	RowBlocks	blocks;
	RowArrays	arrays;
	RowBound	bound;

	/* Rows. */
	uint64		rows;			/* all of them, NULLs included */
	Size		n;				/* rows in the arrays but null_refs */
	Size		nnull;			/* rows with a NULL key: in null_refs, or only counted */
	KeyRange	ranges[KEY_COLUMNS_MAX_MAPPED]; /* of the images and NULLs of each key */

	/* After row_store_sort. */
	uint32	   *order;			/* references, in memory of their own or in that of the pairs */
	Size		nulls_before;	/* rows of null_refs that come first */
	RowStoreStats stats;		/* of the last sort */
} RowStore;

/*
 * Bytes of memory for a row that lies elsewhere, sorting included, also if all rows are one group.
 */
extern Size row_store_ref_bytes(const KeyColumns *keys);

/*
 * Describes the store's first mapped keys as the columns of a code: the ranges of what is in the
 * store, and where NULLs are.
 */
extern void row_store_key_ranges(const RowStore *store, KeyCode *code);

/*
 * Makes an empty store of at most limit bytes, in a context below parent, for one
 * sort: keys are started with it.
 * tuples: whether rows are kept, or only the keys of one key column.  elsewhere: where rows lie,
 * if not in the store, or NULL.  keys, tupdesc and elsewhere must outlive the store.  bound: as in
 * the struct.
 */
extern RowStore *row_store_create(MemoryContext parent, KeyColumns *keys, TupleDesc tupdesc,
								  bool tuples, const RowElsewhere *elsewhere, Size limit,
								  uint64 bound);

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
 * Returns whether the operator class advises, after rows rows, against abbreviations, and they are
 * of no use here either.  images are n of the abbreviated key.  It is asked rarely: of most numbers
 * of rows the answer is false without a look.
 */
extern bool row_store_refuses(RowStore *store, uint64 rows, const uint64 *images, Size n);

/*
 * Starts the keys of an empty store again, after another store of the same keys has used them.
 * number: whether values are numbered where the plan says so.
 */
extern void row_store_start_keys(RowStore *store, bool number);

/*
 * Takes a row of a store without tuples by its key, unless it is beyond the cutoff; false if there
 * is no room for it.
 */
extern bool row_store_put_key(RowStore *store, const RowKey *key);

/*
 * Rows that lie elsewhere are taken by their mapped keys and references.  row_store_reserve_refs
 * makes room for rows rows, and in the narrow layout for nulls of them whose key is NULL; it
 * returns false if there is none.  row_store_wants returns whether a row is not beyond the cutoff.
 * row_store_put_ref takes a row, for which there must be room.
 */
extern bool row_store_reserve_refs(RowStore *store, Size rows, Size nulls);
extern bool row_store_wants(const RowStore *store, const RowKey *key);
extern void row_store_put_ref(RowStore *store, const RowKey *key, uint32 ref);

/*
 * row_store_put_narrow_refs takes n rows of the narrow layout, for which there is room, by the
 * images of their keys and their references.  No key is NULL, and no image is at or after the
 * cutoff.  row_store_narrow_cutoff returns the first image that is, UINT32_MAX + 1 if none is.
 */
extern void row_store_put_narrow_refs(RowStore *store, const uint32 *images, const uint32 *refs,
									  Size n);
extern uint64 row_store_narrow_cutoff(const RowStore *store);

/*
 * Returns an image of the first key, not NULL, beyond which no row is wanted; UINT64_MAX if there
 * is no limit.
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
	return store->bound.rows == 0 ? store->rows : Min(store->bound.rows, store->rows);
}

/* Returns the tuple of a reference, of a store whose rows do not lie elsewhere. */
static inline MinimalTuple
row_store_tuple(const RowStore *store, uint32 ref)
{
	return (MinimalTuple) (store->blocks.starts[ROW_REF_BLOCK(ref)] + ROW_REF_OFFSET(ref));
}

/* Returns whether mapped key k of a row of the wide layout is NULL. */
static inline bool
row_store_is_null(const RowStore *store, Size row, int k)
{
	return store->arrays.nulls && (store->arrays.nulls[row] >> k) & 1;
}

/* The keys of a row of the wide layout, also if it has been sorted or forgotten. */
static inline void
row_store_wide_key(const RowStore *store, Size row, RowKey *key)
{
	key->nulls = store->arrays.nulls ? store->arrays.nulls[row] : 0;
	for (int k = 0; k < store->keys->nmapped; k++)
		key->images[k] = store->arrays.images[k][row];
}

/* After row_store_sort: the reference of the i-th row in order. */
static inline uint32
row_store_ref(const RowStore *store, uint64 i)
{
	if (likely(store->nnull == 0))
		return store->order[i];
	if (i < store->nulls_before)
		return store->arrays.null_refs[i];
	i -= store->nulls_before;
	return i < store->n ? store->order[i] : store->arrays.null_refs[i - store->n];
}

/* How many rows ahead a row is fetched into the cache: 8 in flight hide most of a miss. */
#define ROW_PREFETCH 8

/*
 * Returns the tuple of the i-th row in order, i < row_store_count(), and prefetches a later one: in
 * the order of the keys nearly every tuple is a cache miss.
 */
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

/*
 * For a store without tuples that has been sorted: sets *image to the i-th key in order and returns
 * true; false if the key is NULL.
 */
static inline bool
row_store_key(const RowStore *store, uint64 i, uint64 *image)
{
	if (unlikely(i < store->nulls_before))
		return false;
	i -= store->nulls_before;
	if (unlikely(i >= store->n))
		return false;
	*image = store->arrays.images[0][i];
	return true;
}

/*
 * Returns the i-th row in order in slot, of a store whose rows do not lie elsewhere: a minimal
 * tuple, which stays the store's, or the lone key as the only column of a virtual slot.
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

/* --- store_memory.c, for row_store.c alone */

/* Makes room for one row more, at least, in all arrays of keys; false if there is none. */
extern bool store_memory_grow_keys(RowStore *store);

/* Makes room for one reference more, at least, of a row with a NULL key; false if there is none. */
extern bool store_memory_grow_null_refs(RowStore *store);

/*
 * Starts another block, of at least size bytes; false if there is no room for it.  A tuple larger
 * than the largest block gets a block of its own, which takes as many block numbers as it would
 * need blocks, so that references still grow.
 */
extern bool store_memory_add_block(RowStore *store, Size size);

/* Returns how many block numbers a block of this many bytes takes. */
static inline uint32
store_memory_block_numbers(Size bytes)
{
	return (uint32) ((bytes + ROW_BLOCK_MAX - 1) / ROW_BLOCK_MAX);
}

/*
 * Makes the block of the next number, which is there and has this many bytes, the one that tuples
 * go to.
 */
extern void store_memory_use_block(RowStore *store, Size bytes);

/* Frees a block by its number, the first one if it has several. */
extern void store_memory_free_block(RowStore *store, uint32 number);

#endif							/* HPSORT_PG_NODES_SORT_STORE_ROW_STORE_H */
