/*
 * row_store.c
 *		Rows in memory, with their keys beside them (see store.h): taking
 *		them in.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/row_store.h"
#include "pg/sort_context.h"

/*
 * An operator class is asked whether abbreviations are of use when there are FIRST_ABORT_CHECK
 * rows, and each time their number has doubled, as core's tuplesort does.
 */
#define FIRST_ABORT_CHECK 10

/*
 * The first time where abbreviations are the first bytes of values: making fewer of them takes less
 * time than asking.
 */
#define FIRST_ABORT_CHECK_BYTES 1024

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 4096

/* Rows whose images are looked at to see whether they differ. */
#define DIVIDE_SAMPLE 64

/*
 * Forgets the rows, but keeps the memory of their tuples and keys for later ones.  References in
 * order that have memory of their own must have been freed.
 */
static void
forget_rows(RowStore *store)
{
	store->blocks.nreused = Max(store->blocks.n, store->blocks.nreused);
	store->blocks.n = 0;
	store->blocks.next = store->blocks.end = store->blocks.last = NULL;
	store->rows = store->n = store->nnull = store->nulls_before = 0;
	store->order = NULL;
	for (int i = 0; i < KEY_COLUMNS_MAX_MAPPED; i++)
		store->ranges[i] = EMPTY_KEY_RANGE;
}

/* Forgets rows and memory, after the memory has been freed. */
static void
forget_memory(RowStore *store)
{
	forget_rows(store);
	memset(&store->blocks, 0, sizeof(store->blocks));
	memset(&store->arrays, 0, sizeof(store->arrays));
	store->used = 0;
}

/* From now on all rows are wanted. */
static void
forget_bound(RowStore *store)
{
	store->bound.has_cutoff = false;
	store->bound.rows = store->bound.kept = 0;
}

/* Sets when an operator class is first asked whether abbreviations, which are made, are of use. */
static void
start_abbreviations(RowStore *store)
{
	KeyColumn  *last = &store->keys->keys[store->keys->nmapped - 1];
	Form_pg_attribute att = TupleDescAttr(store->tupdesc, last->attno - 1);

	store->abort_check = last->abbreviation.bytes == ABBREVIATION_BYTES_OTHERS ?
		FIRST_ABORT_CHECK : FIRST_ABORT_CHECK_BYTES;

	/* Further keys are compared anyhow. */
	if (store->keys->nrest == 1 && !att->attbyval)
		abbreviation_watch(&last->abbreviation, att->attlen);
}

void
row_store_start_keys(RowStore *store, bool number)
{
	/*
	 * As core: of the first rows only, abbreviations are not worth making, unless it saves
	 * copying rows.
	 */
	bool		all = store->bound.rows == 0;

	Assert(store->rows == 0);
	store->abort_check = PG_UINT64_MAX;
	if (key_columns_start(store->keys, MemoryContextGetParent(store->memory),
						  all || store->elsewhere, all && number))
		start_abbreviations(store);
	for (int k = 0; k < store->keys->nmapped; k++)
		if (key_is_numbered(&store->keys->keys[k]))
			store->abort_check = Min(store->abort_check, KEY_NUMBERS_TRIED);
}

RowStore *
row_store_create(MemoryContext parent, KeyColumns *keys, TupleDesc tupdesc, bool tuples,
				 const RowElsewhere *elsewhere, Size limit, uint64 bound)
{
	RowStore   *store = (RowStore *) MemoryContextAllocZero(parent, sizeof(RowStore));

	store->memory = AllocSetContextCreate(parent, "hpsort rows", ALLOCSET_DEFAULT_SIZES);
	store->keys = keys;
	store->tupdesc = tupdesc;
	store->tuples = tuples;
	store->elsewhere = elsewhere;
	store->narrow = tuples && key_columns_are_narrow(keys);
	store->limit = limit;
	store->bound.rows = bound;
	row_store_start_keys(store, true);
	if (tuples)
	{
		MemoryContext old = MemoryContextSwitchTo(parent);

		store->slot = MakeSingleTupleTableSlot(tupdesc, &TTSOpsMinimalTuple);
		MemoryContextSwitchTo(old);
	}
	forget_memory(store);
	return store;
}

/* The references in order are in a block of their own, or in the memory of the pairs. */
static void
free_order(RowStore *store)
{
	if (store->order && (void *) store->order != (void *) store->arrays.pairs)
		pfree(store->order);
	store->order = NULL;
}

void
row_store_restart(RowStore *store)
{
	free_order(store);
	forget_rows(store);
}

void
row_store_clear(RowStore *store)
{
	RowBlocks  *blocks = &store->blocks;
	uint32		kept = 0;

	/* What NULLs that lie elsewhere have taken other rows cannot use. */
	if (store->elsewhere && store->arrays.null_room > 0)
	{
		row_store_reset(store);
		return;
	}
	row_store_restart(store);
	forget_bound(store);

	/* Frees blocks of one large tuple; closes gaps in the block numbers. */
	for (uint32 i = 0; i < blocks->nreused; i++)
	{
		Size		have = (Size) blocks->sizes[i] * 8;

		if (have > ROW_BLOCK_MAX)
			store_memory_free_block(store, i);
		else if (have > 0)
		{
			blocks->starts[kept] = blocks->starts[i];
			blocks->sizes[kept++] = blocks->sizes[i];
		}
	}
	for (uint32 i = kept; i < blocks->nreused; i++)
		blocks->sizes[i] = 0;
	blocks->nreused = kept;
}

void
row_store_destroy(RowStore *store)
{
	if (store->slot)
		ExecDropSingleTupleTableSlot(store->slot);
	store->slot = NULL;
}

void
row_store_reset(RowStore *store)
{
	free_order(store);
	MemoryContextReset(store->memory);
	forget_memory(store);
	forget_bound(store);
}

/* Finds space for a tuple of len bytes, and its reference; false if there is none. */
static inline bool
reserve(RowStore *store, Size len, MinimalTuple *place, uint32 *ref)
{
	RowBlocks  *blocks = &store->blocks;
	Size		size = MAXALIGN(len);
	Size		offset;

	if (unlikely(blocks->starts == NULL || size > (Size) (blocks->end - blocks->next)))
	{
		if (!store_memory_add_block(store, size))
			return false;
	}
	offset = blocks->next - blocks->last;

	/* Of a block that takes several numbers only the first is used. */
	*ref = (blocks->n - 1) << ROW_BLOCK_BITS;
	if (unlikely(blocks->end - blocks->last > (ptrdiff_t) ROW_BLOCK_MAX))
		*ref = (blocks->n -
				store_memory_block_numbers(blocks->end - blocks->last)) << ROW_BLOCK_BITS;
	*ref |= (uint32) (offset >> 3);
	*place = (MinimalTuple) blocks->next;
	blocks->next += size;
	return true;
}

/*
 * Returns whether a row is at or after the cutoff, and so not wanted.  slot has the row if keys are
 * left to core.  Without a slot the row is not compared by keys left to core: a row that is equal
 * to the cutoff by mapped keys may be wanted.
 */
static inline bool
after_cutoff(const RowStore *store, const RowKey *key, TupleTableSlot *slot)
{
	const KeyColumns *keys = store->keys;
	int			result = row_key_compare(keys, key, &store->bound.cutoff);

	if (slot == NULL && keys->nrest > 0)
		return result > 0;
	for (int i = 0; result == 0 && i < keys->nrest; i++)
	{
		SortSupport ssup = &keys->rest[i];
		bool		isnull;
		bool		last_isnull;
		Datum		value = slot_getattr(slot, ssup->ssup_attno, &isnull);
		Datum		last = slot_getattr(store->slot, ssup->ssup_attno, &last_isnull);

		result = ApplySortComparator(value, isnull, last, last_isnull, ssup);
	}
	/* An equal row comes after those in the store, as the sort is stable. */
	return result >= 0;
}

/* Writes the keys of a row of the wide layout to position n of the arrays. */
static inline void
put_wide_key(RowStore *store, const RowKey *key)
{
	RowArrays  *arrays = &store->arrays;

	if (unlikely(key->nulls != 0 && arrays->nulls == NULL))
	{
		arrays->nulls = MemoryContextAllocHuge(store->memory, arrays->room);
		memset(arrays->nulls, 0, store->n);
	}
	if (arrays->nulls)
		arrays->nulls[store->n] = key->nulls;
	for (int i = 0; i < store->keys->nmapped; i++)
	{
		arrays->images[i][store->n] = key->images[i];
		if (key->nulls & (1 << i))
			store->ranges[i].nulls = true;
		else
			key_range_put(&store->ranges[i], key->images[i]);
	}
}

/* Whether a key that is NULL goes to an array of its own, or is only counted. */
static inline bool
null_is_apart(const RowStore *store)
{
	return store->narrow || !store->tuples;
}

/* Whether the array that the key of one more row goes to is full. */
static inline bool
is_full(const RowStore *store, bool isnull)
{
	if (isnull && null_is_apart(store))
		return store->tuples && store->nnull == store->arrays.null_room;
	return store->n == store->arrays.room;
}

/* Enlarges the array that the key of one more row goes to, if it is full; false if it cannot. */
static bool
grow_for_key(RowStore *store, bool isnull)
{
	if (!is_full(store, isnull))
		return true;
	return isnull && null_is_apart(store) ? store_memory_grow_null_refs(store) :
		store_memory_grow_keys(store);
}

/* Makes room for one more row when is_full() says so; false if there is none. */
static pg_noinline bool
make_room(RowStore *store, bool isnull)
{
	if (grow_for_key(store, isnull))
		return true;
	if (store->rows > 0)
		return false;

	/*
	 * There are no rows, but memory of earlier rows in arrays that this row has no use for: of
	 * NULLs, for instance.
	 */
	row_store_reset(store);
	return grow_for_key(store, isnull);
}

/*
 * Takes a row, for which there is room, by its keys and its reference.  It is inlined always, which
 * saves 15 instructions a row.
 */
static pg_attribute_always_inline void
put_known(RowStore *store, const RowKey *key, uint32 ref)
{
	if (unlikely((key->nulls & 1) != 0) && null_is_apart(store))
	{
		if (store->tuples)
			store->arrays.null_refs[store->nnull] = ref;
		store->nnull++;
		store->ranges[0].nulls = true;
	}
	else if (store->narrow)
	{
		key_range_put(&store->ranges[0], key->images[0]);
		store->arrays.pairs[store->n++] = ROWS_PAIR(key->images[0], ref);
	}
	else
	{
		put_wide_key(store, key);
		if (store->tuples)
			store->arrays.refs[store->n] = ref;
		store->n++;
	}
	store->rows++;
}

bool
row_store_put_key(RowStore *store, const RowKey *key)
{
	bool		isnull = (key->nulls & 1) != 0;

	Assert(!store->tuples);
	if (store->bound.has_cutoff && after_cutoff(store, key, NULL))
		return true;
	if (is_full(store, isnull) && !make_room(store, isnull))
		return false;
	put_known(store, key, 0);
	return true;
}

/* Does what row_store_reserve_refs() does, but keeps the memory that earlier rows have left. */
static bool
reserve_refs(RowStore *store, Size rows, Size nulls)
{
	while (store->arrays.room - store->n < rows)
		if (!store_memory_grow_keys(store))
			return false;
	while (store->narrow && store->arrays.null_room - store->nnull < nulls)
		if (!store_memory_grow_null_refs(store))
			return false;
	return true;
}

bool
row_store_reserve_refs(RowStore *store, Size rows, Size nulls)
{
	Assert(store->elsewhere);
	if (reserve_refs(store, rows, nulls))
		return true;
	if (store->rows > 0 || store->used == 0)
		return false;

	/* As in make_room. */
	row_store_reset(store);
	return reserve_refs(store, rows, nulls);
}

bool
row_store_wants(const RowStore *store, const RowKey *key)
{
	return !store->bound.has_cutoff || !after_cutoff(store, key, NULL);
}

void
row_store_put_ref(RowStore *store, const RowKey *key, uint32 ref)
{
	put_known(store, key, ref);
}

void
row_store_put_narrow_refs(RowStore *store, const uint32 *images, const uint32 *refs,
						  Size n)
{
	uint64	   *pairs = store->arrays.pairs + store->n;
	uint32		lo = PG_UINT32_MAX;
	uint32		hi = 0;

	if (n == 0)
		return;
	for (Size i = 0; i < n; i++)
	{
		lo = Min(lo, images[i]);
		hi = Max(hi, images[i]);
		pairs[i] = ROWS_PAIR(images[i], refs[i]);
	}
	key_range_put(&store->ranges[0], lo);
	key_range_put(&store->ranges[0], hi);
	store->n += n;
	store->rows += n;
}

/* Whether the first key of the cutoff is NULL, and its image 0. */
static inline bool
cutoff_is_null(const RowStore *store)
{
	return (store->bound.cutoff.nulls & 1) != 0;
}

uint64
row_store_narrow_cutoff(const RowStore *store)
{
	if (store->bound.has_cutoff && !cutoff_is_null(store))
		return store->bound.cutoff.images[0] + (store->keys->nrest > 0);
	return store->bound.has_cutoff && store->keys->keys[0].nulls_first ? 0 :
		(uint64) PG_UINT32_MAX + 1;
}

uint64
row_store_largest_wanted(const RowStore *store)
{
	if (!store->bound.has_cutoff || (cutoff_is_null(store) && !store->keys->keys[0].nulls_first))
		return PG_UINT64_MAX;
	return store->bound.cutoff.images[0];
}

/* Copies the tuple of the row in slot, if the store has tuples; false if there is no room. */
static inline bool
put_tuple(RowStore *store, TupleTableSlot *slot, uint32 *ref)
{
	MinimalTuple place;
	Size		size;

	*ref = 0;
	if (!store->tuples)
		return true;
	size = row_tuple_size(slot);
	if (!reserve(store, size, &place, ref))
		return false;
	row_tuple_form(slot, place, size);
	return true;
}

/*
 * Whether the images of a key divide the rows that there are: by some of the rows,
 * evenly, two rows have the same image with a probability of a quarter at most.
 */
static bool
images_divide(const uint64 *images, Size rows)
{
	Size		n = Min(rows, DIVIDE_SAMPLE);
	Size		equal = 0;

	for (Size i = 0; i < n; i++)
		for (Size j = 0; j < i; j++)
			equal += images[i * rows / n] == images[j * rows / n];
	return equal * 4 <= n * (n - 1) / 2;
}

/*
 * Asks whether abbreviations are of use, as core does.  Where the answer is that they
 * are not, because many are equal, they may be nevertheless: rows of equal images are
 * compared only with one another here, which for equal values takes one comparison a
 * row.
 */
bool
row_store_refuses(RowStore *store, uint64 rows, const uint64 *images, Size n)
{
	const Abbreviation *abbreviation = &store->keys->keys[store->keys->nmapped - 1].abbreviation;

	if (likely(rows < store->abort_check))
		return false;
	while (store->abort_check <= rows)
		store->abort_check *= 2;
	return abbreviation_is_made(abbreviation) && abbreviation_is_refused(abbreviation, rows) &&
		!(abbreviation->from_core && images_divide(images, n));
}

/*
 * If abbreviations are of no use, makes none from now on.  The images that there are, and the one
 * of key, which is being put, become equal to all that will come.
 */
static pg_noinline void
check_abort(RowStore *store, RowKey *key)
{
	int			last = store->keys->nmapped - 1;
	KeyColumn  *column = &store->keys->keys[last];

	if (!row_store_refuses(store, store->rows, store->arrays.images[last], store->n))
		return;
	abbreviation_stop(&column->abbreviation);
	store->abort_check = PG_UINT64_MAX;
	for (Size i = 0; i < store->n; i++)
		store->arrays.images[last][i] = column->flip;
	if (!key_range_is_empty(&store->ranges[last]))
		store->ranges[last].lo = store->ranges[last].hi = column->flip;
	key->images[last] = column->flip;
}

/* Starts to abbreviate the last mapped key, where numbering it has been given up. */
static void
abbreviate(RowStore *store)
{
	bool		asked = store->abort_check != PG_UINT64_MAX;
	KeyColumns *keys = store->keys;
	KeyColumn  *last = &keys->keys[keys->nmapped - 1];

	store->abort_check = PG_UINT64_MAX;
	if (last->kind != COLUMN_KIND_ABBREVIATED || abbreviation_is_made(&last->abbreviation))
		return;
	abbreviation_start(&last->abbreviation, last->sortop, last->collation,
					   MemoryContextGetParent(store->memory));
	if (!abbreviation_is_made(&last->abbreviation))
		return;
	start_abbreviations(store);
	if (!asked)
		store->abort_check = PG_UINT64_MAX;
}

/* Makes the images of key k again, from the tuples. */
static void
make_images(RowStore *store, int k)
{
	KeyColumn  *key = &store->keys->keys[k];
	KeyRange	range = EMPTY_KEY_RANGE;

	for (Size i = 0; i < store->n; i++)
	{
		MinimalTuple tuple = row_store_tuple(store, store->arrays.refs[i]);
		bool		isnull;
		Datum		value = row_tuple_value(tuple, store->tupdesc, key->attno, &isnull);

		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		range.nulls |= isnull;
		if (isnull)
			continue;
		store->arrays.images[k][i] = key_image(key, value);
		key_range_put(&range, store->arrays.images[k][i]);
	}
	store->ranges[k] = range;
}

/*
 * Gives up numbering key k, and the keys after it: makes other images of the key, of the rows that
 * there are and of later ones.
 */
static void
give_up_numbers(RowStore *store, int k)
{
	Size		width = row_store_ref_bytes(store->keys);

	Assert(store->tuples && !store->elsewhere && !store->narrow);
	key_columns_give_up(store->keys, k);
	width = Max(row_store_ref_bytes(store->keys), width) - width;
	store->used += store->arrays.room * width;
	abbreviate(store);
	make_images(store, k);
}

/*
 * Looks whether numbers or abbreviations are of no use.  key is that of the row in slot, which is
 * being put.
 */
static pg_noinline void
check_images(RowStore *store, TupleTableSlot *slot, RowKey *key)
{
	KeyColumns *keys = store->keys;
	int			refused = key_columns_refused(keys, store->rows);

	if (refused >= 0)
	{
		give_up_numbers(store, refused);
		row_slot_key(keys, slot, key);
	}
	else if ((key->nulls & (1 << (keys->nmapped - 1))) == 0)
		check_abort(store, key);
}

bool
row_store_put(RowStore *store, TupleTableSlot *slot)
{
	RowKey		key;
	bool		isnull;
	uint32		ref;

	if (store->narrow && store->keys->nrest == 0)
	{
		/* The only key: a row of most queries with a LIMIT is done with here. */
		KeyColumn  *first = &store->keys->keys[0];
		Datum		value = slot_getattr(slot, first->attno, &isnull);

		key.nulls = isnull;
		key.images[0] = isnull ? 0 : key_image(first, value);
		if (store->bound.has_cutoff &&
			key_compare(first, isnull, key.images[0], cutoff_is_null(store),
						store->bound.cutoff.images[0]) >= 0)
			return true;
	}
	else
	{
		row_slot_key(store->keys, slot, &key);
		if (unlikely(store->rows >= store->abort_check || key_columns_are_full(store->keys)))
			check_images(store, slot, &key);
		isnull = (key.nulls & 1) != 0;
		if (store->bound.has_cutoff && after_cutoff(store, &key, slot))
			return true;
	}
	if (unlikely(is_full(store, isnull)) && !make_room(store, isnull))
		return false;
	if (!put_tuple(store, slot, &ref))
		return false;
	put_known(store, &key, ref);
	return true;
}

/*
 * Moves a tuple from its reference to where the next tuple goes, which is not
 * above, as all tuples before it have been moved so.  Returns the new reference;
 * *place is the tuple there.
 */
static uint32
move_tuple(RowStore *store, uint32 ref, MinimalTuple *place)
{
	RowBlocks  *blocks = &store->blocks;
	MinimalTuple tuple = row_store_tuple(store, ref);
	uint32		block = ROW_REF_BLOCK(ref);
	Size		len = tuple->t_len;
	uint32		moved;

	/* A tuple with a block of its own stays there. */
	if (MAXALIGN(len) > ROW_BLOCK_MAX)
	{
		for (; blocks->n < block; blocks->n++)
			if (blocks->sizes[blocks->n] > 0)
				store_memory_free_block(store, blocks->n);
		store_memory_use_block(store, (Size) blocks->sizes[block] * 8);
		blocks->next = blocks->end;
		*place = tuple;
		return ref;
	}
	if (!reserve(store, len, place, &moved) || moved > ref)
		elog(ERROR, "could not move a row");
	if (moved != ref)
		memmove(*place, tuple, len);
	return moved;
}

void
row_store_put_again(RowStore *store, uint32 ref, RowKey *key, uint32 *moved)
{
	MinimalTuple place;

	*moved = move_tuple(store, ref, &place);

	/* Sorting has overwritten the keys beside the row. */
	row_tuple_key(store->keys, store->slot, place, key);
	put_known(store, key, *moved);
}
