/*
 * order_store.h
 *		Rows in memory, with their keys beside them, and their sorted order.
 *
 * Rows are packed as minimal tuples into large blocks, in the order in which
 * they come; a reference of 32 bits names a block and a place in it, and grows
 * from row to row.  Keys are kept in one of two layouts:
 *
 *	narrow	one mapped key of at most 32 bits: (image, reference) pairs,
 *			ready to be sorted (rows.h); rows whose key is NULL apart
 *	wide	one array of images for each mapped key, a mask of NULLs, and the
 *			references; they are combined into one integer when all are there
 *			and their bounds are known
 *
 * A store without tuples keeps the images of one key only.
 */
#ifndef HPSORT_ORDER_STORE_H
#define HPSORT_ORDER_STORE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"

#include "order_keys.h"
#include "rows.h"

/* The mapped keys of one row. */
typedef struct OrderRowKey
{
	uint8		nulls;			/* bit i: key i is NULL, and its image 0 */
	uint64		images[ORDER_MAX_MAPPED];
} OrderRowKey;

/* A row among others of the same mapped keys, when keys left to core are compared. */
typedef struct OrderGroupRow
{
	uint32		row;			/* index in the wide layout, else reference */
	bool		isnull;
	Datum		value;			/* of the first key left to core */
} OrderGroupRow;

/* A place among the blocks: block number above, 8-byte units below. */
#define ORDER_BLOCK_BITS 20
#define ORDER_BLOCK_MAX ((Size) 1 << (ORDER_BLOCK_BITS + 3))
#define ORDER_REF_BLOCK(ref) ((ref) >> ORDER_BLOCK_BITS)
#define ORDER_REF_OFFSET(ref) ((Size) ((ref) & ((UINT32_C(1) << ORDER_BLOCK_BITS) - 1)) << 3)
#define ORDER_BLOCKS_MAX (UINT32_C(1) << (32 - ORDER_BLOCK_BITS))

/* What a sort of a store did. */
typedef struct OrderStoreStats
{
	SortPlan	plan;			/* algorithm, device, reason */
	double		range;			/* possible keys within the bounds found */
	uint64		distinct;		/* different keys, NULL counted as one */
	bool		compared;		/* core compared rows within equal keys */
} OrderStoreStats;

typedef struct OrderStore
{
	MemoryContext memory;		/* of all of this; reset with the rows */
	OrderKeys  *keys;
	TupleDesc	tupdesc;
	bool		tuples;
	bool		narrow;
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
	uint32	   *block_sizes;	/* of each; 0: the one before goes on */
	uint32		nreused;		/* blocks left over from rows before these */

	/* Keys, room for the same number in each array. */
	Size		room;
	Size		n;				/* rows in these arrays */
	uint64	   *pairs;			/* narrow */
	uint64	   *images[ORDER_MAX_MAPPED];	/* wide */
	uint8	   *nulls;			/* wide; NULL until there is one */
	uint32	   *refs;			/* wide, with tuples */
	uint64		lo[ORDER_MAX_MAPPED];	/* bounds of the images */
	uint64		hi[ORDER_MAX_MAPPED];
	uint8		any_null;		/* keys that are NULL somewhere */
	uint32	   *null_refs;		/* narrow, with tuples: rows with a NULL key */
	Size		null_room;
	Size		nnull;			/* number of such rows */

	/* Only the first bound rows are wanted; 0: all. */
	uint64		bound;
	bool		has_cutoff;		/* rows at or after the cutoff are not wanted */
	bool		cutoff_is_null;
	OrderRowKey cutoff;
	TupleTableSlot *slot;		/* with tuples: for taking keys from them; with a
								 * cutoff its row, if keys are left to core */
	uint32		place;			/* of the tuple that is being put */

	/* After order_store_sort. */
	uint32	   *order;			/* references */
	uint64	   *sorted;			/* without tuples: pairs or images in order */
	Size		nulls_before;	/* rows of null_refs that come first */
	OrderStoreStats stats;
} OrderStore;

/*
 * Makes an empty store of at most limit bytes, in a context below parent.
 * bound: as in the struct.
 */
extern OrderStore *order_store_create(MemoryContext parent, OrderKeys *keys, TupleDesc tupdesc,
									  bool tuples, Size limit, uint64 bound);

/*
 * Forgets all rows, and the bound.  The memory stays, to be filled again:
 * handing it back and forth takes longer than filling it.
 */
extern void order_store_clear(OrderStore *store);

/* Gives all memory back, too. */
extern void order_store_reset(OrderStore *store);

/* Takes the row in slot; false if there is no room for it. */
extern bool order_store_put(OrderStore *store, TupleTableSlot *slot);

/*
 * Takes a minimal tuple of len bytes: first room for it, which must be filled, at
 * *place, or false if there is none; then the row, with the keys in the tuple.
 */
extern bool order_store_begin_tuple(OrderStore *store, Size len, MinimalTuple *place);
extern void order_store_end_tuple(OrderStore *store, MinimalTuple place);

/* Takes a row without a tuple, unless the bound says that it is not wanted. */
extern bool order_store_put_key(OrderStore *store, const OrderRowKey *key);

/* Whether so many rows with tuples of so many bytes have no chance to fit. */
extern bool order_store_cannot_hold(const OrderStore *store, uint64 rows, uint64 tuple_bytes);

/* The mapped keys of the row in slot; of a tuple of the store's kind. */
extern void order_row_key(OrderKeys *keys, TupleTableSlot *slot, OrderRowKey *key);
extern void order_tuple_key(OrderStore *store, MinimalTuple tuple, OrderRowKey *key);

/* The order of two rows by their mapped keys. */
extern int	order_row_key_compare(const OrderKeys *keys, const OrderRowKey *a, const OrderRowKey *b);

/* Forms the minimal tuple of a slot at place, which has order_tuple_size bytes. */
extern Size order_tuple_size(TupleTableSlot *slot);
extern void order_tuple_form(TupleTableSlot *slot, MinimalTuple place, Size size);

/*
 * order_bound.c: there are more rows than wanted; keeps the first bound of them,
 * and remembers the last one's keys, at and after which no later row is wanted.
 */
extern void order_store_keep_bound(OrderStore *store);

/*
 * For that: forgets the rows, of which some are then put again, by their
 * references, upwards.  Their tuples move to the front of the blocks.  Returns
 * the row's keys, and its new reference.
 */
extern void order_store_restart(OrderStore *store);
extern void order_store_put_again(OrderStore *store, uint32 ref, OrderRowKey *key, uint32 *moved);

/*
 * Puts the keys in order where they lie, and with them what order_store_row
 * returns.  For one key only, of rows or without tuples; keys left to core
 * are not looked at.
 */
extern void order_store_sort_keys(OrderStore *store, const SortContext *context);

/* The error when src/sort says that it was interrupted. */
pg_noreturn extern void order_store_cancelled(void);

/* Puts the rows in order.  Then only order_store_fetch and _key make sense. */
extern void order_store_sort(OrderStore *store, const SortContext *context);

/* Rows that can be fetched: all, or the first bound of them. */
static inline uint64
order_store_count(const OrderStore *store)
{
	return store->bound > 0 && store->bound < store->rows ? store->bound : store->rows;
}

static inline MinimalTuple
order_store_tuple(const OrderStore *store, uint32 ref)
{
	return (MinimalTuple) (store->blocks[ORDER_REF_BLOCK(ref)] + ORDER_REF_OFFSET(ref));
}

/*
 * The row number i in input order but for NULLs of a single key, which come
 * last: its keys, and its tuple or NULL.
 */
static inline MinimalTuple
order_store_row(const OrderStore *store, uint64 i, OrderRowKey *key)
{
	int			k;

	key->nulls = 0;
	if (unlikely(i >= store->n))
	{
		Assert(store->narrow || !store->tuples);
		key->nulls = 1;
		key->images[0] = 0;
		return store->tuples ? order_store_tuple(store, store->null_refs[i - store->n]) : NULL;
	}
	if (store->narrow)
	{
		key->images[0] = ROWS_PAIR_KEY(store->pairs[i]);
		return store->tuples ? order_store_tuple(store, ROWS_PAIR_REF(store->pairs[i])) : NULL;
	}
	for (k = 0; k < store->keys->nmapped; k++)
		key->images[k] = store->images[k][i];
	if (store->nulls)
		key->nulls = store->nulls[i];
	return store->tuples ? order_store_tuple(store, store->refs[i]) : NULL;
}

/* The reference of the i-th row in order. */
static inline uint32
order_store_ref(const OrderStore *store, uint64 i)
{
	if (likely(store->nnull == 0))
		return store->order[i];
	if (i < store->nulls_before)
		return store->null_refs[i];
	i -= store->nulls_before;
	return i < store->n ? store->order[i] : store->null_refs[i - store->n];
}

/* Rows asked for ahead of time: 8 in flight hide most of a cache miss. */
#define ORDER_PREFETCH 8

/* The i-th row in order, i < order_store_count(). */
static inline MinimalTuple
order_store_fetch(const OrderStore *store, uint64 i)
{
	if (likely(i + ORDER_PREFETCH < store->rows))
	{
		const char *ahead = (const char *) order_store_tuple(store, order_store_ref(store, i + ORDER_PREFETCH));

		__builtin_prefetch(ahead);
		__builtin_prefetch(ahead + 64);
	}
	return order_store_tuple(store, order_store_ref(store, i));
}

/* Without tuples: the i-th key in order; false if it is NULL. */
static inline bool
order_store_key(const OrderStore *store, uint64 i, uint64 *image)
{
	if (unlikely(i < store->nulls_before))
		return false;
	i -= store->nulls_before;
	if (unlikely(i >= store->n))
		return false;
	*image = store->narrow ? ROWS_PAIR_KEY(store->sorted[i]) : store->sorted[i];
	return true;
}

#endif							/* HPSORT_ORDER_STORE_H */
