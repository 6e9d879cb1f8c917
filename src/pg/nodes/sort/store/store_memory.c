/*
 * store_memory.c
 *		The memory of rows that are sorted (see row_store.h): blocks of tuples, and arrays of
 *		their keys, below a limit.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/huge_pages.h"
#include "pg/nodes/sort/store/row_store.h"

/* Bytes of the first block; each later one is as large as all before, up to ROW_BLOCK_MAX. */
#define FIRST_BLOCK ((Size) 8192)

/* Rows there is room for at first. */
#define FIRST_ROOM 256

/*
 * Room for one more of so many rows that are expected, as the planner does not know their number
 * exactly.
 */
#define EXPECTED_SPARE 64

/*
 * When there are so many rows, room is made for all that are expected, if that takes no more than
 * this part of the memory: to double the room again and again copies all keys once more, a tenth
 * of a sort of 1e7 rows.
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

Size
store_memory_of_row(const RowStore *store)
{
	return store->tuples ? row_store_ref_bytes(store->keys) : sizeof(uint64);
}

void
row_store_key_ranges(const RowStore *store, KeyCode *code)
{
	int			i;

	for (i = 0; i < code->ncolumns; i++)
	{
		KeyCodeColumn *column = &code->columns[i];

		column->range = store->ranges[i];
		column->descending = false; /* images count downwards */
		column->nulls_first = store->keys->keys[i].nulls_first;
	}
}

static Size
spare_memory(const RowStore *store)
{
	return store->limit > store->used ? store->limit - store->used : 0;
}

/* Bytes that the tuples of the rows so far have on average. */
static double
tuple_bytes(const RowStore *store)
{
	return store->rows == 0 ? 0 : (double) (store->block_bytes -
											(store->end - store->next)) / store->rows;
}

/*
 * How many rows more there may be below the limit, if their tuples are as those so far.
 * Tuples and keys get no more of the last bytes than these rows need, so that neither have
 * memory to spare when the others have none.
 */
static Size
rows_ahead(const RowStore *store)
{
	double		key = store_memory_of_row(store);
	double		bytes = (double) spare_memory(store) + (store->end - store->next) +
	(store->room - store->n) * key;

	return (Size) (bytes / (key + tuple_bytes(store)));
}

/*
 * Makes room for so many elements of so many bytes in an array of the store that has room for old
 * of them.
 */
static void *
grow_array(const RowStore *store, void *array, Size old, Size room, Size width)
{
	return pg_huge_grow(store->memory, array, old * width, room * width);
}

bool
store_memory_grow_keys(RowStore *store)
{
	Size		room = store->room == 0 ? FIRST_ROOM : store->room * 2;
	Size		width = store_memory_of_row(store);
	Size		expected = store->expected + store->expected / EXPECTED_SPARE;
	int			i;

	/* Twice the rows are many if a few more are expected. */
	if (store->room < store->expected &&
		(store->expected < room || (store->room >= EXPECTED_FROM &&
									expected * width <= store->limit / EXPECTED_PART)))
		room = Max(expected, store->room + FIRST_ROOM);
	if (store->room > 0 || store->used + room * width > store->limit)
	{
		room = Min(room, store->n + rows_ahead(store));
		if (room < store->room + FIRST_ROOM)
			return false;
	}
	store->used += (room - store->room) * width;
	if (store->narrow)
		store->pairs = grow_array(store, store->pairs, store->room, room, sizeof(uint64));
	else
	{
		for (i = 0; i < store->keys->nmapped; i++)
			store->images[i] = grow_array(store, store->images[i], store->room, room,
										  sizeof(uint64));
		if (store->nulls)
			store->nulls = grow_array(store, store->nulls, store->room, room, sizeof(uint8));
		if (store->tuples)
			store->refs = grow_array(store, store->refs, store->room, room, sizeof(uint32));
	}
	store->room = room;
	return true;
}

bool
store_memory_grow_null_refs(RowStore *store)
{
	Size		room = store->null_room == 0 ? FIRST_ROOM : store->null_room * 2;

	if (store->used + (room - store->null_room) * sizeof(uint32) > store->limit)
		return false;
	store->used += (room - store->null_room) * sizeof(uint32);
	store->null_refs = grow_array(store, store->null_refs, store->null_room, room, sizeof(uint32));
	store->null_room = room;
	return true;
}

/* Makes room for so many block numbers. */
static void
grow_blocks(RowStore *store, uint32 numbers)
{
	uint32		room = Min(Max(numbers, store->blocks_room * 2 + 16), ROW_BLOCKS_MAX);

	store->blocks = grow_array(store, store->blocks, store->blocks_room, room, sizeof(char *));
	store->block_sizes = grow_array(store, store->block_sizes, store->blocks_room, room,
									sizeof(uint32));
	memset(store->block_sizes + store->blocks_room, 0,
		   (room - store->blocks_room) * sizeof(uint32));
	store->blocks_room = room;
}

void
store_memory_use_block(RowStore *store, Size bytes)
{
	store->last_block = store->blocks[store->nblocks];
	store->nblocks += store_memory_block_numbers(bytes);
	store->next = store->last_block;
	store->end = store->last_block + bytes;
}

bool
store_memory_add_block(RowStore *store, Size size)
{
	Size		bytes = Min(Max(store->block_bytes, FIRST_BLOCK), ROW_BLOCK_MAX);

	/*
	 * A block that the store has from earlier rows is used again.  It is freed if it is too
	 * small, or larger than references within a block can reach.
	 */
	while (store->nblocks < store->nreused)
	{
		Size		have = (Size) store->block_sizes[store->nblocks] * 8;

		if (have >= size && have <= ROW_BLOCK_MAX)
		{
			store_memory_use_block(store, have);
			return true;
		}
		if (have > 0)
			store_memory_free_block(store, store->nblocks);
		store->nblocks++;
	}

	/* No old block has been large enough for the first row. */
	if (store->rows == 0)
		store->nblocks = store->nreused = 0;

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
	if (store->nblocks + store_memory_block_numbers(bytes) > ROW_BLOCKS_MAX)
		return false;
	if (store->nblocks + store_memory_block_numbers(bytes) > store->blocks_room)
		grow_blocks(store, store->nblocks + store_memory_block_numbers(bytes));
	store->blocks[store->nblocks] = pg_huge_alloc(store->memory, bytes);
	store->block_sizes[store->nblocks] = (uint32) (bytes / 8);
	store->block_bytes += bytes;
	store->used += bytes;
	store_memory_use_block(store, bytes);
	return true;
}

void
store_memory_free_block(RowStore *store, uint32 number)
{
	Size		bytes = (Size) store->block_sizes[number] * 8;

	pfree(store->blocks[number]);
	store->block_sizes[number] = 0;
	store->used -= bytes;
	store->block_bytes -= bytes;
}
