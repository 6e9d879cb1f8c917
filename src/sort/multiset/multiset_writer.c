/*
 * multiset_writer.c
 *		Making a multiset of runs in order (see multiset.h).
 *
 * Blocks are encoded as soon as they are full, so that a writer takes hardly more
 * memory than the value.
 */
#include "sort/multiset/multiset.h"

#include "sort/error.h"
#include "sort/multiset/multiset_block.h"

/* Bytes that are first allocated: of blocks, and of the index. */
#define FIRST_BLOCKS ((size_t) 2048)
#define FIRST_INDEX ((size_t) 8 * MULTISET_ENTRY_SIZE)

void
multiset_writer_init(MultisetWriter *w, const SortAllocator *allocator)
{
	w->allocator = allocator;
	w->len = 0;
	w->total = 0;
	w->pending.number = 0;
	w->pending.n = 0;
	w->pending.before = 0;
	w->blocks = NULL;
	w->blocks_size = 0;
	w->blocks_capacity = 0;
	w->index = NULL;
	w->index_capacity = 0;
}

void
multiset_writer_release(MultisetWriter *w)
{
	const SortAllocator *a = w->allocator;

	if (w->blocks)
		a->release(a->arena, w->blocks);
	if (w->index)
		a->release(a->arena, w->index);
	multiset_writer_init(w, a);
}

/* Makes room for size bytes; false, and nothing changed, when there is no memory. */
static bool
reserve(const SortAllocator *a, unsigned char **bytes, size_t *capacity, size_t size, size_t first)
{
	size_t		wanted = *capacity == 0 ? first : *capacity;
	unsigned char *grown;

	if (size <= *capacity)
		return true;
	while (wanted < size)
	{
		if (wanted > SIZE_MAX / 2)
			return false;
		wanted *= 2;
	}
	grown = a->grow(a->arena, *bytes, *capacity, wanted);
	if (grown == NULL)
		return false;
	*bytes = grown;
	*capacity = wanted;
	return true;
}

/* Encodes the block that pending's number and before are of. */
static SortStatus
end_block(MultisetWriter *w, const int32_t *keys, const uint64_t *counts, uint32_t n,
		  SortError *err)
{
	size_t		at = (size_t) w->pending.number * MULTISET_ENTRY_SIZE;
	MultisetEntry entry;

	if (w->blocks_size > UINT32_MAX)
		return sort_fail(err, SORT_LIMIT_EXCEEDED, "multiset is too large");
	if (!reserve(w->allocator, &w->blocks, &w->blocks_capacity,
				 w->blocks_size + MULTISET_BLOCK_MAX, FIRST_BLOCKS) ||
		!reserve(w->allocator, &w->index, &w->index_capacity,
				 at + MULTISET_ENTRY_SIZE, FIRST_INDEX))
		return sort_no_memory(err);
	entry.before = w->pending.before;
	entry.first = keys[0];
	entry.offset = (uint32_t) w->blocks_size;
	multiset_store_entry(w->index + at, &entry);
	w->blocks_size += multiset_encode_block(keys, counts, n, w->blocks + w->blocks_size);
	w->pending.number++;
	w->pending.n = 0;
	w->pending.before = w->total;
	return SORT_OK;
}

SortStatus
multiset_writer_add(MultisetWriter *w, const int32_t *keys, const uint64_t *counts, size_t n,
					SortError *err)
{
	MultisetBlock *pending = &w->pending;
	SortStatus	status = SORT_OK;

	while (n > 0 && status == SORT_OK)
	{
		uint32_t	room = MULTISET_BLOCK_RUNS - pending->n;
		uint32_t	part = n < room ? (uint32_t) n : room;
		uint64_t	sum;

		if (!multiset_sum_counts(counts, part, &sum) || sum > INT64_MAX - w->total)
			return sort_fail(err, SORT_LIMIT_EXCEEDED, "multiset would have too many keys");
		if (part > UINT32_MAX - w->len)
			return sort_fail(err, SORT_LIMIT_EXCEEDED, "multiset is too large");
		w->total += sum;
		w->len += part;
		if (part == MULTISET_BLOCK_RUNS)
			status = end_block(w, keys, counts, part, err);
		else
		{
			memcpy(pending->keys + pending->n, keys, part * sizeof(keys[0]));
			memcpy(pending->counts + pending->n, counts, part * sizeof(counts[0]));
			pending->n += part;
			if (pending->n == MULTISET_BLOCK_RUNS)
				status = end_block(w, pending->keys, pending->counts, pending->n, err);
		}
		keys += part;
		counts += part;
		n -= part;
	}
	return status;
}

/* Entries of the parts, of which there are none where the index is short. */
static size_t
count_parts(const MultisetWriter *w)
{
	size_t		nblocks = w->pending.number;

	return nblocks > MULTISET_PART_BLOCKS ?
		(nblocks + MULTISET_PART_BLOCKS - 1) / MULTISET_PART_BLOCKS : 0;
}

SortStatus
multiset_writer_size(MultisetWriter *w, size_t *size, SortError *err)
{
	MultisetBlock *pending = &w->pending;

	if (pending->n > 0)
	{
		SortStatus	status = end_block(w, pending->keys, pending->counts, pending->n, err);

		if (status != SORT_OK)
			return status;
	}
	*size = MULTISET_HEADER_SIZE +
		(count_parts(w) + pending->number) * MULTISET_ENTRY_SIZE + w->blocks_size;
	return SORT_OK;
}

void
multiset_writer_write(const MultisetWriter *w, void *out)
{
	unsigned char *at = out;
	size_t		nparts = count_parts(w);
	size_t		index_size = (size_t) w->pending.number * MULTISET_ENTRY_SIZE;

	multiset_store_32(at, MULTISET_FORMAT);
	multiset_store_32(at + 4, w->len);
	multiset_store_64(at + 8, w->total);
	at += MULTISET_HEADER_SIZE;
	for (size_t i = 0; i < nparts; i++)
	{
		memcpy(at, w->index + i * MULTISET_PART_BLOCKS * MULTISET_ENTRY_SIZE, MULTISET_ENTRY_SIZE);
		at += MULTISET_ENTRY_SIZE;
	}
	if (index_size > 0)
	{
		memcpy(at, w->index, index_size);
		memcpy(at + index_size, w->blocks, w->blocks_size);
	}
}
