/*
 * store_memory.h
 *		The memory of rows that are sorted: blocks of tuples, and arrays of their keys,
 *		below a limit.
 *
 * store.h, which includes this file, says what is in them; only row_store.c calls the
 * functions named store_memory.  Memory that is not there is an error; false says that there is
 * none below the limit.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_STORE_MEMORY_H
#define HPSORT_PG_NODES_SORT_STORE_STORE_MEMORY_H

#include "postgres.h"

#include "pg/nodes/sort/store/row.h"
#include "sort/key_code.h"
#include "sort/rows/rows.h"

/*
 * A row of a group, of the same mapped keys, while its rows are compared by the keys left to core.
 */
typedef struct RowGroupEntry
{
	uint32		row;			/* wide layout: index; narrow: reference */
	bool		isnull;
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
 * What is asked of rows that lie elsewhere by keys left to core.  value returns that of
 * keys->rest[key]: of the first of these it stays until forget is called, of others until the next
 * call but one.  prefetch has n rows, or first where each of them lies, in the processor's cache
 * soon.  tuple makes the row's minimal tuple, in the current memory context.
 */
typedef struct RowElsewhere
{
	Datum		(*value) (void *arg, uint32 ref, int key, bool *isnull);
	void		(*forget) (void *arg);
	void		(*prefetch) (void *arg, const uint32 *refs, int n, bool where);
	MinimalTuple (*tuple) (void *arg, uint32 ref);
	void	   *arg;
} RowElsewhere;

typedef struct RowStore
{
	MemoryContext memory;		/* of all of this; reset with the rows */
	KeyColumns *keys;
	TupleDesc	tupdesc;
	bool		tuples;
	const RowElsewhere *elsewhere;	/* where tuples are; NULL: in the blocks */
	bool		narrow;			/* the layout of the keys */
	Size		limit;			/* bytes it may take */
	Size		used;			/* bytes it takes, at most */
	Size		peak;			/* most it ever took */
	uint64		rows;			/* all of them, NULLs included */

	/* Tuples. */
	char	  **blocks;
	uint32		nblocks;		/* block numbers given away */
	uint32		blocks_room;
	char	   *next;			/* free space of the last block ... */
	char	   *end;
	char	   *last_block;		/* ... which starts here */
	Size		block_bytes;	/* of all blocks */
	uint32	   *block_sizes;	/* in 8 bytes; 0: part of the block before */
	uint32		nreused;		/* block numbers that earlier rows had */

	/* Keys; all arrays but null_refs have the same room. */
	Size		room;
	Size		expected;		/* rows, if the owner knows of a number */
	Size		n;				/* rows in these arrays */
	uint64	   *pairs;			/* narrow */
	uint64	   *images[KEY_COLUMNS_MAX_MAPPED]; /* wide, and without tuples */
	uint8	   *nulls;			/* wide; NULL until there is one */
	uint32	   *refs;			/* wide, with tuples */
	bool		noted;			/* narrow, rows elsewhere: with 32 bits of the caller's ... */
	uint32	   *notes;			/* ... for each */
	KeyRange	ranges[KEY_COLUMNS_MAX_MAPPED]; /* of the images and NULLs of each key */
	uint32	   *null_refs;		/* narrow, with tuples: rows with a NULL key */
	Size		null_room;
	Size		nnull;			/* number of such rows */

	uint64		abort_check;	/* rows after which to ask whether to abbreviate on */

	/* Only the first bound rows are wanted; 0: all. */
	uint64		bound;
	bool		has_cutoff;		/* rows at or after the cutoff are not wanted */
	RowKey		cutoff;
	uint64		kept;			/* rows that the last cut has left, with those equal to the last
								 * wanted one where that takes a comparison */
	TupleTableSlot *slot;		/* with tuples: for taking keys from them; has the cutoff's row,
								 * if keys are left to core */

	/* After row_store_sort. */
	uint32	   *order;			/* references */
	uint32	   *sorted_notes;	/* the notes in that order, in the memory of the pairs, or NULL */
	Size		nulls_before;	/* rows of null_refs that come first */
	RowStoreStats stats;
} RowStore;

/*
 * Bytes of memory for a row that lies elsewhere, sorting included, also if all rows are one group.
 */
extern Size row_store_ref_bytes(const KeyColumns *keys);

/* Bytes that one row takes in arrays, including those that sorting needs. */
extern Size store_memory_of_row(const RowStore *store);

/*
 * Describes the store's first mapped keys as the columns of a code: the ranges of what is in the
 * store, and where NULLs are.
 */
extern void row_store_key_ranges(const RowStore *store, KeyCode *code);

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
