/*
 * visibility.c
 *		Copies of a table's visibility map (see visibility.h).
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"
#include "storage/bufmgr.h"

#include "pg/column/visibility.h"

StaticAssertDecl(RESIDENT_EXTENT_BLOCKS == 128, "ResidentBlocks has two words");
StaticAssertDecl(VISIBILITY_BYTES % sizeof(uint64) == 0, "copies of the map are whole words");

void
visibility_copy_init(VisibilityCopy *copy, Relation rel)
{
	copy->rel = rel;
	copy->first = InvalidBlockNumber;
	copy->lsn = 0;
}

void
visibility_copy_read(VisibilityCopy *copy, BlockNumber block)
{
	Buffer		buffer = InvalidBuffer;

	copy->first = block - block % VISIBILITY_BLOCKS;
	copy->lsn = 0;
	/* Pins the page; the status itself, read without its lock, is not used. */
	(void) visibilitymap_get_status(copy->rel, block, &buffer);
	if (!BufferIsValid(buffer))
	{
		memset(copy->words, 0, sizeof(copy->words));
		return;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(copy->words, PageGetContents(BufferGetPage(buffer)), sizeof(copy->words));
	copy->lsn = BufferGetLSNAtomic(buffer);
	UnlockReleaseBuffer(buffer);
}

/* Every other bit of a word, from the lowest on. */
static uint64
even_bits(uint64 word)
{
	word &= UINT64CONST(0x5555555555555555);
	/* Of a table that has been vacuumed all of them. */
	if (word == UINT64CONST(0x5555555555555555))
		return UINT64CONST(0x00000000FFFFFFFF);
	word = (word | word >> 1) & UINT64CONST(0x3333333333333333);
	word = (word | word >> 2) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	word = (word | word >> 4) & UINT64CONST(0x00FF00FF00FF00FF);
	word = (word | word >> 8) & UINT64CONST(0x0000FFFF0000FFFF);
	return (word | word >> 16) & UINT64CONST(0x00000000FFFFFFFF);
}

/* Eight bytes of the map, in the order of their bits whatever the machine's. */
static inline uint64
map_word(const VisibilityCopy *copy, int w)
{
#ifdef WORDS_BIGENDIAN
	return pg_bswap64(copy->words[w]);
#else
	return copy->words[w];
#endif
}

ResidentBlocks
visibility_copy_blocks(const VisibilityCopy *copy, BlockNumber first, int n)
{
	ResidentBlocks blocks = {{0, 0}};
	int			w = (int) ((first - copy->first) / 32);
	int			i;

	Assert(VISIBILITYMAP_ALL_VISIBLE == 0x01 && (first - copy->first) % 32 == 0);
	Assert(n <= RESIDENT_EXTENT_BLOCKS && first - copy->first + n <= VISIBILITY_BLOCKS);
	for (i = 0; i < n; i += 32, w++)
		blocks.words[i / 64] |= even_bits(map_word(copy, w)) << i % 64;
	for (i = 0; i < 2; i++)
	{
		int			used = Min(Max(n - 64 * i, 0), 64);

		if (used < 64)
			blocks.words[i] &= (UINT64CONST(1) << used) - 1;
	}
	return blocks;
}

bool
visibility_page_has_lsn(Relation rel, BlockNumber block, uint64 lsn)
{
	Buffer		buffer;
	bool		same;

	if (lsn == 0)
		return false;
	buffer = ReadBuffer(rel, block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	same = PageIsAllVisible(BufferGetPage(buffer)) && BufferGetLSNAtomic(buffer) == lsn;
	UnlockReleaseBuffer(buffer);
	return same;
}

int
resident_blocks_count(const ResidentBlocks *blocks)
{
	return pg_popcount64(blocks->words[0]) + pg_popcount64(blocks->words[1]);
}
