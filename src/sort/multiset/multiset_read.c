/*
 * multiset_read.c
 *		Reading a multiset: a block, or the one in which a key or a position is, of
 *		bytes that may be anybody's (see multiset.h).
 *
 * A question takes a slice of the parts, where there are some, one of the index and one
 * of the blocks.  Nothing is read beyond the value's size, whatever the bytes say.
 */
#include "sort/multiset/multiset.h"

#include "sort/error.h"
#include "sort/multiset/multiset_block.h"
#include "sort/runs/runs.h"

/* Entries that are taken as one slice, rather than one entry at a time. */
#define SLICE_ENTRIES MULTISET_PART_BLOCKS

/* Blocks checked between two looks at the interrupt callback: some million runs. */
#define CHECK_EVERY 8192

static SortStatus
corrupt(SortError *err, const char *what)
{
	return sort_fail(err, SORT_CORRUPT, "multiset is corrupt: %s", what);
}

/* The address of n > 0 bytes; NULL where the value has not got them. */
static const unsigned char *
bytes_at(const Multiset *m, uint64_t from, uint64_t n)
{
	const MultisetBytes *bytes = &m->bytes;

	if (from > bytes->size || n > bytes->size - from)
		return NULL;
	if (bytes->slice)
		return bytes->slice(bytes->arg, (size_t) from, (size_t) n);
	return bytes->data + from;
}

/* Where the index and the first block begin. */
static uint64_t
index_begin(const Multiset *m)
{
	return MULTISET_HEADER_SIZE + (uint64_t) m->nparts * MULTISET_ENTRY_SIZE;
}

static uint64_t
blocks_begin(const Multiset *m)
{
	return index_begin(m) + (uint64_t) m->nblocks * MULTISET_ENTRY_SIZE;
}

SortStatus
multiset_open(Multiset *m, const MultisetBytes *bytes, SortError *err)
{
	const unsigned char *header;

	memset(m, 0, sizeof(*m));
	m->bytes = *bytes;
	header = bytes_at(m, 0, MULTISET_HEADER_SIZE);
	if (header == NULL)
		return corrupt(err, "too short");
	if (multiset_load_32(header) != MULTISET_FORMAT)
		return corrupt(err, "unknown format");
	m->len = multiset_load_32(header + 4);
	m->total = multiset_load_64(header + 8);
	if (m->total > INT64_MAX || m->total < m->len || (m->len == 0 && m->total > 0))
		return corrupt(err, "impossible total");
	m->nblocks = (uint32_t) (((uint64_t) m->len + MULTISET_BLOCK_RUNS - 1) / MULTISET_BLOCK_RUNS);
	if (m->nblocks > MULTISET_PART_BLOCKS)
		m->nparts = (m->nblocks + MULTISET_PART_BLOCKS - 1) / MULTISET_PART_BLOCKS;
	if (m->len == 0 ? bytes->size != MULTISET_HEADER_SIZE :
		bytes->size < blocks_begin(m) + 2 * (uint64_t) m->nblocks)
		return corrupt(err, "length does not match");
	return SORT_OK;
}

/*
 * Decodes block number, whose entry, and the next block's behind it, are at entry
 * (NULL: the value ends before).  A number beyond the last one's is refused here.
 */
static SortStatus
read_block_of(const Multiset *m, uint32_t number, const unsigned char *entry,
			  MultisetBlock *block, SortError *err)
{
	bool		last = number == m->nblocks - 1;
	MultisetEntry here;
	MultisetEntry next = {0};
	uint64_t	end;
	uint64_t	sum;
	const unsigned char *bytes;

	if (entry == NULL || number >= m->nblocks)
		return corrupt(err, "index is cut off");
	here = multiset_load_entry(entry);
	end = m->bytes.size - blocks_begin(m);
	next.before = m->total;
	if (!last)
	{
		next = multiset_load_entry(entry + MULTISET_ENTRY_SIZE);
		end = next.offset;
	}

	/* Numbers of keys ascend, so that the counts of all blocks add up to the total. */
	if (here.before > next.before || next.before > m->total || here.offset > end ||
		(number == 0 && (here.before != 0 || here.offset != 0)))
		return corrupt(err, "impossible entry of the index");
	block->number = number;
	block->n = last ? m->len - number * MULTISET_BLOCK_RUNS : MULTISET_BLOCK_RUNS;
	block->before = here.before;

	/* A length beyond that of any block is not worth a slice. */
	if (end - here.offset > MULTISET_BLOCK_MAX ||
		(bytes = bytes_at(m, blocks_begin(m) + here.offset, end - here.offset)) == NULL ||
		!multiset_decode_block(bytes, end - here.offset, here.first, block, &sum))
		return corrupt(err, "impossible block");
	if (sum != next.before - here.before ||
		(!last && block->keys[block->n - 1] >= next.first))
		return corrupt(err, "block does not match the index");
	return SORT_OK;
}

SortStatus
multiset_read_block(const Multiset *m, uint32_t number, MultisetBlock *block, SortError *err)
{
	uint64_t	entries = number + 1 < m->nblocks ? 2 : 1;

	return read_block_of(m, number,
						 bytes_at(m, index_begin(m) + (uint64_t) number * MULTISET_ENTRY_SIZE,
								  entries * MULTISET_ENTRY_SIZE),
						 block, err);
}

/* What a block is looked for by. */
typedef struct Wanted
{
	bool		by_key;
	int32_t		key;
	uint64_t	position;
} Wanted;

static bool
is_behind(const unsigned char *at, const Wanted *wanted)
{
	MultisetEntry entry = multiset_load_entry(at);

	return wanted->by_key ? entry.first > wanted->key : entry.before > wanted->position;
}

/*
 * Of the n entries that begin at begin, the last of low .. high - 1 that is not behind
 * what is wanted, or low.  Returns its address, with one entry more behind it, where n
 * has one, and NULL where the value ends before.
 */
static const unsigned char *
find_entry(const Multiset *m, uint64_t begin, uint32_t n, uint32_t low, uint32_t high,
		   const Wanted *wanted, uint32_t *found)
{
	const unsigned char *entries;
	uint32_t	base;

	while (high - low > SLICE_ENTRIES)
	{
		uint32_t	middle = low + (high - low) / 2;
		const unsigned char *at = bytes_at(m, begin + (uint64_t) middle * MULTISET_ENTRY_SIZE,
										   MULTISET_ENTRY_SIZE);

		if (at == NULL)
			return NULL;
		if (is_behind(at, wanted))
			high = middle;
		else
			low = middle;
	}

	base = low;
	entries = bytes_at(m, begin + (uint64_t) base * MULTISET_ENTRY_SIZE,
					   (uint64_t) (high - base + (high < n)) * MULTISET_ENTRY_SIZE);
	if (entries == NULL)
		return NULL;
	while (high - low > 1)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (is_behind(entries + (size_t) (middle - base) * MULTISET_ENTRY_SIZE, wanted))
			high = middle;
		else
			low = middle;
	}
	*found = low;
	return entries + (size_t) (low - base) * MULTISET_ENTRY_SIZE;
}

static SortStatus
find_block(const Multiset *m, const Wanted *wanted, MultisetBlock *block, SortError *err)
{
	uint32_t	low = 0;
	uint32_t	high = m->nblocks;
	uint32_t	number = 0;
	const unsigned char *entry;

	if (m->nparts > 0)
	{
		uint32_t	part = 0;

		if (find_entry(m, MULTISET_HEADER_SIZE, m->nparts, 0, m->nparts, wanted, &part) == NULL)
			return corrupt(err, "parts are cut off");
		low = part * MULTISET_PART_BLOCKS;
		if (high - low > MULTISET_PART_BLOCKS)
			high = low + MULTISET_PART_BLOCKS;
	}
	entry = find_entry(m, index_begin(m), m->nblocks, low, high, wanted, &number);
	return read_block_of(m, number, entry, block, err);
}

SortStatus
multiset_find_key(const Multiset *m, int32_t key, MultisetBlock *block, SortError *err)
{
	Wanted		wanted = {.by_key = true,.key = key};

	return find_block(m, &wanted, block, err);
}

SortStatus
multiset_find_position(const Multiset *m, uint64_t position, MultisetBlock *block, SortError *err)
{
	Wanted		wanted = {.by_key = false,.position = position};
	SortStatus	status = find_block(m, &wanted, block, err);
	uint64_t	sum = 0;

	if (status != SORT_OK)
		return status;
	for (uint32_t i = 0; i < block->n; i++)
		sum += block->counts[i];

	/* Entries out of order lead to a block that the position is not in. */
	if (position < block->before || position - block->before >= sum)
		return corrupt(err, "impossible entry of the index");
	return SORT_OK;
}

SortStatus
multiset_rank(const Multiset *m, int32_t key, uint64_t *below, uint64_t *equal, SortError *err)
{
	MultisetBlock block;
	SortStatus	status;
	size_t		at;

	*below = 0;
	*equal = 0;
	if (m->len == 0)
		return SORT_OK;
	status = multiset_find_key(m, key, &block, err);
	if (status != SORT_OK)
		return status;
	at = runs_key_lower_bound(block.keys, block.n, key);
	*below = block.before;
	for (size_t i = 0; i < at; i++)
		*below += block.counts[i];
	if (at < block.n && block.keys[at] == key)
		*equal = block.counts[at];
	return SORT_OK;
}

SortStatus
multiset_nth(const Multiset *m, uint64_t position, int32_t *key, SortError *err)
{
	MultisetBlock block;
	SortStatus	status = multiset_find_position(m, position, &block, err);
	uint32_t	i = 0;

	if (status != SORT_OK)
		return status;
	for (uint64_t left = position - block.before; left >= block.counts[i]; i++)
		left -= block.counts[i];
	*key = block.keys[i];
	return SORT_OK;
}

/* A part's entry must be that of its first block. */
static SortStatus
check_part(const Multiset *m, uint32_t part, SortError *err)
{
	unsigned char entry[MULTISET_ENTRY_SIZE];
	const unsigned char *at;

	at = bytes_at(m, MULTISET_HEADER_SIZE + (uint64_t) part * MULTISET_ENTRY_SIZE,
				  MULTISET_ENTRY_SIZE);
	if (at == NULL)
		return corrupt(err, "parts are cut off");
	memcpy(entry, at, MULTISET_ENTRY_SIZE);
	at = bytes_at(m, index_begin(m) +
				  (uint64_t) part * MULTISET_PART_BLOCKS * MULTISET_ENTRY_SIZE,
				  MULTISET_ENTRY_SIZE);
	if (at == NULL || memcmp(entry, at, MULTISET_ENTRY_SIZE) != 0)
		return corrupt(err, "parts do not match the index");
	return SORT_OK;
}

SortStatus
multiset_check(const Multiset *m, const SortContext *context, SortError *err)
{
	SortStatus	status = SORT_OK;
	MultisetBlock block;

	for (uint32_t i = 0; i < m->nparts && status == SORT_OK; i++)
		status = check_part(m, i, err);

	/* A block is looked at together with its entry and the next one's, so nothing is left out. */
	for (uint32_t i = 0; i < m->nblocks && status == SORT_OK; i++)
	{
		if (i % CHECK_EVERY == CHECK_EVERY - 1 && sort_interrupted(context))
			return sort_cancelled(err);
		status = multiset_read_block(m, i, &block, err);
	}
	return status;
}
