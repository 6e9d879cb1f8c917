/*
 * shared_dictionary.c
 *		Numbers of values that several processes give together (see shared_dictionary.h).
 *
 * One lock is enough: a process asks once for each value, and keeps the answer.  Values stay where
 * they are, and are compared without the lock, since a type's function may do anything.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "pg/compat.h"
#include "pg/values/shared_dictionary.h"

/* Bytes of the first block of values, and of the largest, unless a value is larger. */
#define FIRST_BLOCK 1024
#define MOST_BLOCK (32 * 1024)

typedef struct SharedEntry
{
	dsa_pointer bytes;			/* of the value, behind its header; InvalidDsaPointer: none */
	uint32		hash;
	uint32		number;
} SharedEntry;

void
shared_dictionary_init(SharedDictionary *shared)
{
	memset(shared, 0, sizeof(*shared));
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_QUERY_DSA);
}

static void
free_if_any(dsa_area *area, dsa_pointer pointer)
{
	if (DsaPointerIsValid(pointer))
		dsa_free(area, pointer);
}

void
shared_dictionary_reset(SharedDictionary *shared, dsa_area *area)
{
	dsa_pointer block = shared->blocks;

	free_if_any(area, shared->table);
	for (int c = 0; c < SHARED_CHUNKS; c++)
		free_if_any(area, shared->chunks[c]);
	while (DsaPointerIsValid(block))
	{
		dsa_pointer before = *(dsa_pointer *) dsa_get_address(area, block);

		dsa_free(area, block);
		block = before;
	}
	shared_dictionary_init(shared);
}

/* --- memory */

/* Returns size bytes; InvalidDsaPointer if there are not as many below the limit. */
static dsa_pointer
allocate(SharedDictionary *shared, dsa_area *area, size_t limit, size_t size, int flags)
{
	dsa_pointer pointer = InvalidDsaPointer;

	if (shared->bytes + size <= limit)
		pointer = dsa_allocate_extended(area, size,
										DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM | flags);
	if (DsaPointerIsValid(pointer))
		shared->bytes += size;
	return pointer;
}

/* Sets *chunk and *place to where the pointer to a value is. */
static inline void
place_of(uint32 number, int *chunk, size_t *place)
{
	*chunk = pg_leftmost_one_pos32(number / SHARED_FIRST_VALUES + 1);
	*place = number - SHARED_FIRST_VALUES * (((size_t) 1 << *chunk) - 1);
}

/* Puts an entry where the search for its hash ends. */
static void
put_entry(SharedEntry *table, uint32 mask, const SharedEntry *entry)
{
	uint32		at = entry->hash & mask;

	while (DsaPointerIsValid(table[at].bytes))
		at = (at + 1) & mask;
	table[at] = *entry;
}

/* Has room in the table for another entry; false if there is no memory. */
static bool
make_room(SharedDictionary *shared, dsa_area *area, size_t limit)
{
	size_t		before = DsaPointerIsValid(shared->table) ? (size_t) shared->mask + 1 : 0;
	size_t		room = Max(2 * before, 2 * SHARED_FIRST_VALUES);
	dsa_pointer pointer;

	if (shared->n < before / 4 * 3)
		return true;
	pointer = allocate(shared, area, limit, room * sizeof(SharedEntry), DSA_ALLOC_ZERO);
	if (!DsaPointerIsValid(pointer))
		return false;
	if (before > 0)
	{
		SharedEntry *old = dsa_get_address(area, shared->table);
		SharedEntry *table = dsa_get_address(area, pointer);

		for (size_t i = 0; i < before; i++)
			if (DsaPointerIsValid(old[i].bytes))
				put_entry(table, (uint32) (room - 1), &old[i]);
		dsa_free(area, shared->table);
		shared->bytes -= before * sizeof(SharedEntry);
	}
	shared->table = pointer;
	shared->mask = (uint32) (room - 1);
	return true;
}

/* Returns room for a value of size bytes in a block. */
static dsa_pointer
place_value(SharedDictionary *shared, dsa_area *area, size_t limit, size_t size)
{
	dsa_pointer value;

	if (size > shared->block_left)
	{
		size_t		needed = MAXALIGN(sizeof(dsa_pointer)) + size;
		size_t		block_size = Max(needed, shared->block_size == 0 ? FIRST_BLOCK :
									 Min(2 * shared->block_size, MOST_BLOCK));
		dsa_pointer block = allocate(shared, area, limit, block_size, 0);

		if (!DsaPointerIsValid(block))
			return InvalidDsaPointer;
		*(dsa_pointer *) dsa_get_address(area, block) = shared->blocks;
		shared->blocks = block;
		shared->block_size = block_size;
		shared->block_left = block_size - MAXALIGN(sizeof(dsa_pointer));
	}
	value = shared->blocks + shared->block_size - shared->block_left;
	shared->block_left -= size;
	return value;
}

/* --- values */

/*
 * Sets *entry to that of the value of a hash that has the least number from one on; false if there
 * is none.
 */
static bool
find_entry(const SharedDictionary *shared, dsa_area *area, uint32 hash, uint32 from,
		   SharedEntry *entry)
{
	const SharedEntry *table;
	bool		found = false;

	if (!DsaPointerIsValid(shared->table))
		return false;
	table = dsa_get_address(area, shared->table);
	for (uint32 at = hash; DsaPointerIsValid(table[at & shared->mask].bytes); at++)
	{
		const SharedEntry *other = &table[at & shared->mask];

		if (other->hash != hash || other->number < from ||
			(found && other->number > entry->number))
			continue;
		*entry = *other;
		found = true;
	}
	return found;
}

/* Numbers a value that has none; false if there is no memory. */
static bool
add_value(SharedDictionary *shared, dsa_area *area, size_t limit, const SharedImage *image,
		  SharedEntry *entry)
{
	dsa_pointer value;
	char	   *at;
	int			chunk;
	size_t		place;

	place_of(shared->n, &chunk, &place);
	if (shared->n >= PG_INT32_MAX || !make_room(shared, area, limit))
		return false;
	if (!DsaPointerIsValid(shared->chunks[chunk]))
		shared->chunks[chunk] = allocate(shared, area, limit,
										 ((size_t) SHARED_FIRST_VALUES << chunk) *
										 sizeof(dsa_pointer), 0);
	if (!DsaPointerIsValid(shared->chunks[chunk]))
		return false;
	value = place_value(shared, area, limit,
						TYPEALIGN(image->alignment, image->header + image->length));
	if (!DsaPointerIsValid(value))
		return false;
	at = dsa_get_address(area, value);
	if (image->header > 0)
		SET_VARSIZE(at, image->header + image->length);
	memcpy(at + image->header, image->bytes, image->length);
	*entry = (SharedEntry)
	{
		value + image->header, image->hash, shared->n
	};
	((dsa_pointer *) dsa_get_address(area, shared->chunks[chunk]))[place] = entry->bytes;
	put_entry(dsa_get_address(area, shared->table), shared->mask, entry);
	shared->n++;
	return true;
}

const char *
shared_dictionary_find(SharedDictionary *shared, dsa_area *area, size_t limit,
					   const SharedImage *image, SharedIsValue is_value, void *arg, uint32 *number)
{
	LWLockMode	mode = LW_SHARED;
	uint32		from = 0;

	for (;;)
	{
		SharedEntry entry = {InvalidDsaPointer};
		const char *bytes;
		bool		found;

		LWLockAcquire(&shared->lock, mode);
		found = find_entry(shared, area, image->hash, from, &entry);
		if (!found && mode == LW_EXCLUSIVE && !shared->full)
			shared->full = !add_value(shared, area, limit, image, &entry);
		LWLockRelease(&shared->lock);
		if (!DsaPointerIsValid(entry.bytes))
		{
			if (mode == LW_EXCLUSIVE)
				return NULL;
			/* Another process may number it meanwhile. */
			mode = LW_EXCLUSIVE;
			continue;
		}
		bytes = dsa_get_address(area, entry.bytes);
		if (!found || is_value(arg, bytes))
		{
			*number = entry.number;
			return bytes;
		}
		from = entry.number + 1;
	}
}

const char *
shared_dictionary_value(const SharedDictionary *shared, dsa_area *area, uint32 number)
{
	const dsa_pointer *values;
	int			chunk;
	size_t		place;

	place_of(number, &chunk, &place);
	values = dsa_get_address(area, shared->chunks[chunk]);
	return dsa_get_address(area, values[place]);
}
