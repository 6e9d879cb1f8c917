/*
 * bound.c
 *		LIMIT: a store that keeps only the first rows in order (see bound.h).
 *
 * Whenever the store has twice as many rows as wanted, or no room for more, its
 * rows are sorted, and the first ones kept.  These stay where they lie if there is
 * room enough for the garbage between them; otherwise they are moved together, so
 * that the first few of many rows fit into the memory that they need.  Of rows that lie
 * elsewhere only keys and references are moved.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/bound.h"
#include "pg/nodes/sort/store/sort.h"
#include "pg/sort_context.h"
#include "sort/kernels/wide.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 4096

/* Turns the order of references into that of signed integers, and back. */
#define REF_SIGN (UINT32_C(1) << 31)

/* Sets the cutoff to the key of the last wanted row: no later row at or after it is wanted. */
static void
set_cutoff(RowStore *store, const RowKey *key)
{
	store->bound.has_cutoff = true;
	store->bound.cutoff = *key;
}

/*
 * Keeps the first bound rows of a store with one narrow key, or without tuples; if keys are left to
 * core, also all rows that are equal to the last of these.  Tuples do not move: the tuples of
 * dropped rows stay as garbage.
 */
static void
cut_bound(RowStore *store, const SortContext *context)
{
	bool		nulls_first = store->keys->keys[0].nulls_first;
	bool		rest = store->keys->nrest > 0;
	uint64	   *sorted = store->narrow ? store->arrays.pairs : store->arrays.images[0];
	RowKey		key = {0};
	uint64		nnull;
	uint64		n;

	row_store_sort_with_keys(store, false, context);
	if (nulls_first)
	{
		nnull = Min(store->nnull, store->bound.rows);
		n = store->bound.rows - nnull;
	}
	else
	{
		n = Min(store->n, store->bound.rows);
		nnull = store->bound.rows - n;
	}
	if (rest)
	{
		Assert(store->narrow);
		while (n > 0 && n < store->n && ROWS_PAIR_KEY(sorted[n]) == ROWS_PAIR_KEY(sorted[n - 1]))
			n++;
		if (nnull > 0)
			nnull = store->nnull;
	}
	store->n = n;
	store->nnull = nnull;
	store->rows = n + nnull;
	store->ranges[0] = EMPTY_KEY_RANGE;
	store->ranges[0].nulls = nnull > 0;
	if (n > 0)
	{
		store->ranges[0].lo = store->narrow ? ROWS_PAIR_KEY(sorted[0]) : sorted[0];
		store->ranges[0].hi = store->narrow ? ROWS_PAIR_KEY(sorted[n - 1]) : sorted[n - 1];
	}
	key.nulls = nulls_first ? n == 0 : nnull > 0;
	key.images[0] = key.nulls ? 0 : store->ranges[0].hi;
	set_cutoff(store, &key);
}

/*
 * Sorts the rows, and returns the references of the first *n in ascending order, turned into signed
 * integers.  Sets *last to the reference of the last wanted row in order.
 *
 * Of rows that lie elsewhere the references are numbers.  If keys are left to core, *n grows by the
 * rows that are equal to the last wanted one.
 */
static uint32 *
first_refs(RowStore *store, uint64 *n, uint32 *last, const SortContext *context)
{
	uint32	   *refs;

	if (store->elsewhere)
		row_store_sort_with_keys(store, false, context);
	else
		row_store_sort(store, context);
	*last = row_store_ref(store, *n - 1);
	if (store->elsewhere && store->keys->nrest > 0)
	{
		RowKey		key = {0};
		RowKey		cutoff = {0};

		row_store_wide_key(store, *last, &cutoff);
		for (; *n < store->rows; (*n)++)
		{
			row_store_wide_key(store, store->order[*n], &key);
			if (row_key_compare(store->keys, &key, &cutoff) != 0)
				break;
		}
	}
	refs = (uint32 *) MemoryContextAllocHuge(store->memory, *n * sizeof(uint32));
	for (uint64 i = 0; i < *n; i++)
		refs[i] = row_store_ref(store, i) ^ REF_SIGN;
	if (!wide_sort_keys((int32 *) refs, *n, false, context))
		row_store_cancelled();
	return refs;
}

void
row_store_keep_bound(RowStore *store)
{
	SortContext context;
	uint64		n = store->bound.rows;
	uint32		last;
	uint32		last_moved = 0;
	uint32	   *refs;

	Assert(store->rows > n);
	pg_sort_context_partial(&context, store->memory);

	/* Tuples do not have to move if the store has none, or room for the garbage of dropped ones. */
	if (!store->tuples || (store->elsewhere && store->narrow) ||
		(store->narrow && store->keys->rest == NULL && store->used <= store->limit / 2))
	{
		cut_bound(store, &context);
		store->bound.kept = store->rows;
		return;
	}
	refs = first_refs(store, &n, &last, &context);
	row_store_restart(store);
	for (uint64 i = 0; i < n; i++)
	{
		uint32		ref = refs[i] ^ REF_SIGN;
		RowKey		key = {0};
		uint32		moved = 0;

		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		if (store->elsewhere)
		{
			/* Sorting has left the arrays as they were.  Rows move down in them, or stay. */
			row_store_wide_key(store, ref, &key);
			row_store_put_ref(store, &key, store->arrays.refs[ref]);
		}
		else
			row_store_put_again(store, ref, &key, &moved);
		if (ref == last)
		{
			set_cutoff(store, &key);
			last_moved = moved;
		}
	}
	pfree(refs);
	if (store->elsewhere)
		store->bound.kept = store->rows;

	/* The keys left to core are compared with those of the cutoff's row. */
	else if (store->keys->rest)
		ExecStoreMinimalTuple(row_store_tuple(store, last_moved), store->slot, false);
}

bool
row_store_make_room_by_bound(RowStore *store)
{
	uint64		wanted = Max(store->bound.rows, store->bound.kept);

	if (store->bound.rows == 0 || store->rows < wanted + wanted / 8 + ROW_BOUND_SLACK)
		return false;
	row_store_keep_bound(store);
	return true;
}
