/*
 * store_memory.c
 *		The memory of rows that are sorted (see row_store.h): blocks of tuples, and arrays of
 *		their keys, below a limit.
 */
#include "postgres.h"

#include "pg/huge_pages.h"
#include "pg/nodes/sort/store/row_store.h"

/* Bytes of the first block; each later one is as large as all before, up to ROW_BLOCK_MAX. */
#define FIRST_BLOCK ((Size) 8192)

/* Rows there is room for at first. */
#define FIRST_ROOM 256

/*
 * Room is made for one row in EXPECTED_SPARE more than are expected, because the planner does not
 * know their number exactly.
 */
#define EXPECTED_SPARE 64

/*
 * From EXPECTED_FROM rows on, room is made at once for all rows that are expected, if it takes no
 * more than one of EXPECTED_PART parts of the memory.  Doubling the room again and again would copy
 * all keys once more: a tenth of the time of a sort of 1e7 rows.
 */
#define EXPECTED_FROM ((Size) 65536)
#define EXPECTED_PART 2

Size
row_store_ref_bytes(const KeyColumns *keys)
{
	Size		bytes = sizeof(uint64) + sizeof(uint32);

	if (!key_columns_are_narrow(keys))
		bytes = keys->nmapped * sizeof(uint64) + sizeof(uint8) + 2 * sizeof(uint32) +
			sizeof(uint64);
	return keys->rest ? bytes + sizeof(RowGroupEntry) : bytes;
}

/* Bytes that one row takes in arrays, including those that sorting needs. */
static Size
row_bytes(const RowStore *store)
{
	return store->tuples ? row_store_ref_bytes(store->keys) : sizeof(uint64);
}

void
row_store_key_ranges(const RowStore *store, KeyCode *code)
{
	for (int i = 0; i < code->ncolumns; i++)
	{
		KeyCodeColumn *column = &code->columns[i];

		column->range = store->ranges[i];
		column->descending = false; /* images count downwards */
		column->nulls_first = store->keys->keys[i].nulls_first;
	}
}

/* Bytes that the store and the numbers of its keys take. */
static Size
used_memory(const RowStore *store)
{
	return store->used + key_columns_memory(store->keys);
}

static Size
spare_memory(const RowStore *store)
{
	Size		used = used_memory(store);

	return store->limit > used ? store->limit - used : 0;
}

/* Bytes that the tuples of the rows so far have on average. */
static double
tuple_bytes(const RowStore *store)
{
	return store->rows == 0 ? 0 : (double) (store->blocks.bytes -
											(store->blocks.end - store->blocks.next)) / store->rows;
}

/*
 * Returns how many more rows there may be below the limit, if their tuples have as many bytes as
 * the tuples so far.  Near the limit, tuples and keys get only what this number of rows needs of
 * each, so that neither has memory to spare when the other has none.
 */
static Size
rows_ahead(const RowStore *store)
{
	double		key = row_bytes(store);
	double		bytes = (double) spare_memory(store) + (store->blocks.end - store->blocks.next) +
	(store->arrays.room - store->n) * key;

	return (Size) (bytes / (key + tuple_bytes(store)));
}

/*
 * Enlarges an array of the store, with elements of width bytes, from old elements to room, and
 * returns it.  The array is NULL if old is 0.
 */
static void *
grow_array(const RowStore *store, void *array, Size old, Size room, Size width)
{
	return pg_huge_grow(store->memory, array, old * width, room * width);
}

bool
store_memory_grow_keys(RowStore *store)
{
	RowArrays  *arrays = &store->arrays;
	Size		room = arrays->room == 0 ? FIRST_ROOM : arrays->room * 2;
	Size		width = row_bytes(store);
	Size		expected = store->expected + store->expected / EXPECTED_SPARE;

	/* Twice the rows are many if a few more are expected. */
	if (arrays->room < store->expected &&
		(store->expected < room || (arrays->room >= EXPECTED_FROM &&
									expected * width <= store->limit / EXPECTED_PART)))
		room = Max(expected, arrays->room + FIRST_ROOM);
	if (arrays->room > 0 || used_memory(store) + room * width > store->limit)
	{
		room = Min(room, store->n + rows_ahead(store));
		if (room < arrays->room + FIRST_ROOM)
			return false;
	}
	store->used += (room - arrays->room) * width;
	if (store->narrow)
		arrays->pairs = grow_array(store, arrays->pairs, arrays->room, room, sizeof(uint64));
	else
	{
		for (int i = 0; i < store->keys->nmapped; i++)
			arrays->images[i] = grow_array(store, arrays->images[i], arrays->room, room,
										   sizeof(uint64));
		if (arrays->nulls)
			arrays->nulls = grow_array(store, arrays->nulls, arrays->room, room, sizeof(uint8));
		if (store->tuples)
			arrays->refs = grow_array(store, arrays->refs, arrays->room, room, sizeof(uint32));
	}
	arrays->room = room;
	return true;
}

bool
store_memory_grow_null_refs(RowStore *store)
{
	RowArrays  *arrays = &store->arrays;
	Size		room = arrays->null_room == 0 ? FIRST_ROOM : arrays->null_room * 2;
	Size		width = sizeof(uint32);

	/* Sorting takes an entry, and scratch space for half of one. */
	if (store->keys->rest)
		width += sizeof(RowGroupEntry) + sizeof(RowGroupEntry) / 2;
	if (used_memory(store) + (room - arrays->null_room) * width > store->limit)
		return false;
	store->used += (room - arrays->null_room) * width;
	arrays->null_refs = grow_array(store, arrays->null_refs, arrays->null_room, room,
								   sizeof(uint32));
	arrays->null_room = room;
	return true;
}

static void
grow_blocks(RowStore *store, uint32 numbers)
{
	RowBlocks  *blocks = &store->blocks;
	uint32		room = Min(Max(numbers, blocks->room * 2 + 16), ROW_BLOCKS_MAX);

	blocks->starts = grow_array(store, blocks->starts, blocks->room, room, sizeof(char *));
	blocks->sizes = grow_array(store, blocks->sizes, blocks->room, room, sizeof(uint32));
	memset(blocks->sizes + blocks->room, 0, (room - blocks->room) * sizeof(uint32));
	blocks->room = room;
}

void
store_memory_use_block(RowStore *store, Size bytes)
{
	RowBlocks  *blocks = &store->blocks;

	blocks->last = blocks->starts[blocks->n];
	blocks->n += store_memory_block_numbers(bytes);
	blocks->next = blocks->last;
	blocks->end = blocks->last + bytes;
}

bool
store_memory_add_block(RowStore *store, Size size)
{
	RowBlocks  *blocks = &store->blocks;
	Size		bytes = Min(Max(blocks->bytes, FIRST_BLOCK), ROW_BLOCK_MAX);

	/*
	 * A block that the store has from earlier rows is used again.  It is freed if it is too
	 * small, or larger than references within a block can reach.
	 */
	while (blocks->n < blocks->nreused)
	{
		Size		have = (Size) blocks->sizes[blocks->n] * 8;

		if (have >= size && have <= ROW_BLOCK_MAX)
		{
			store_memory_use_block(store, have);
			return true;
		}
		if (have > 0)
			store_memory_free_block(store, blocks->n);
		blocks->n++;
	}

	/* No old block has been large enough for the first row. */
	if (store->rows == 0)
		blocks->n = blocks->nreused = 0;

	/*
	 * What is left of the limit for tuples becomes one last block, unless it is too small for
	 * that.
	 */
	if (store->rows > 0)
	{
		bytes = Min(bytes, TYPEALIGN_DOWN(FIRST_BLOCK,
										  (Size) (rows_ahead(store) * tuple_bytes(store))));
		if (bytes < FIRST_BLOCK || size > spare_memory(store))
			return false;
	}
	bytes = Max(bytes, size);
	if (blocks->n + store_memory_block_numbers(bytes) > ROW_BLOCKS_MAX)
		return false;
	if (blocks->n + store_memory_block_numbers(bytes) > blocks->room)
		grow_blocks(store, blocks->n + store_memory_block_numbers(bytes));
	blocks->starts[blocks->n] = pg_huge_alloc(store->memory, bytes);
	blocks->sizes[blocks->n] = (uint32) (bytes / 8);
	blocks->bytes += bytes;
	store->used += bytes;
	store_memory_use_block(store, bytes);
	return true;
}

void
store_memory_free_block(RowStore *store, uint32 number)
{
	RowBlocks  *blocks = &store->blocks;
	Size		bytes = (Size) blocks->sizes[number] * 8;

	pfree(blocks->starts[number]);
	blocks->sizes[number] = 0;
	store->used -= bytes;
	blocks->bytes -= bytes;
}
