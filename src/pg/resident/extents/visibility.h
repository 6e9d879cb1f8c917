/*
 * visibility.h
 *		Copies of a table's visibility map, and what they say of resident extents.
 *
 * A block's bit in the map and the LSN of the map's page are set under one exclusive lock, and
 * LSNs only grow.  So if a bit is set in two copies of a page with one LSN, it was set all the
 * time in between, and the block's rows were the same, visible to all.  A heap page that has
 * PD_ALL_VISIBLE and the LSN that it had before has not changed either.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_VISIBILITY_H
#define HPSORT_PG_RESIDENT_EXTENTS_VISIBILITY_H

#include "port/pg_bitutils.h"
#include "storage/block.h"
#include "utils/rel.h"

#include "pg/pages/pages.h"
#include "pg/resident/memory/memory.h"

/*
 * How many extents the blocks of a page of the map have.  No extent has blocks of two pages, so
 * that one LSN is enough for an extent; the last one of a page is therefore smaller than others.
 */
#define VISIBILITY_EXTENTS \
	((HEAP_FORMAT_MAP_BLOCKS + RESIDENT_EXTENT_BLOCKS - 1) / RESIDENT_EXTENT_BLOCKS)

StaticAssertDecl(RESIDENT_EXTENT_BLOCKS == 128, "ResidentBlocks has two words");

/* A copy of a page of the map: bits and LSN were read under one lock of the page. */
typedef struct VisibilityCopy
{
	BlockNumber first;			/* block of the first bit; InvalidBlockNumber: no copy yet */
	uint64		lsn;			/* 0: nothing may be concluded from the copy */
	uint64		words[HEAP_FORMAT_MAP_BYTES / sizeof(uint64)];	/* two bits a block, as in the
																 * page */
} VisibilityCopy;

/*
 * Returns the number of the extent that has a block.  Numbers follow the blocks without gaps: the
 * extents of a page of the map begin with a multiple of VISIBILITY_EXTENTS.
 */
static inline uint32
visibility_extent(BlockNumber block)
{
	return block / HEAP_FORMAT_MAP_BLOCKS * VISIBILITY_EXTENTS +
		block % HEAP_FORMAT_MAP_BLOCKS / RESIDENT_EXTENT_BLOCKS;
}

/* The first block of the extent of that number. */
static inline BlockNumber
visibility_extent_start(uint32 number)
{
	return number / VISIBILITY_EXTENTS * HEAP_FORMAT_MAP_BLOCKS +
		number % VISIBILITY_EXTENTS * RESIDENT_EXTENT_BLOCKS;
}

/*
 * The first block of the extent behind the one that has the block.  InvalidBlockNumber is as many
 * blocks as a table can have, which are fewer than its last extent could.
 */
static inline BlockNumber
visibility_extent_end(BlockNumber block)
{
	BlockNumber in_page = block % HEAP_FORMAT_MAP_BLOCKS;
	BlockNumber end = (in_page / RESIDENT_EXTENT_BLOCKS + 1) * RESIDENT_EXTENT_BLOCKS;
	uint64		behind = (uint64) (block - in_page) + Min(end, HEAP_FORMAT_MAP_BLOCKS);

	return (BlockNumber) Min(behind, InvalidBlockNumber);
}

static inline BlockNumber
visibility_extent_first(BlockNumber block)
{
	return block - block % HEAP_FORMAT_MAP_BLOCKS % RESIDENT_EXTENT_BLOCKS;
}

/* --- sets of blocks */

/* Whether block i of the extent, from 0 on, is in the set. */
static inline bool
resident_blocks_has(const ResidentBlocks *blocks, int i)
{
	return (blocks->words[i / 64] >> i % 64 & 1) != 0;
}

static inline void
resident_blocks_add(ResidentBlocks *blocks, int i)
{
	blocks->words[i / 64] |= UINT64CONST(1) << i % 64;
}

static inline void
resident_blocks_remove(ResidentBlocks *blocks, int i)
{
	blocks->words[i / 64] &= ~(UINT64CONST(1) << i % 64);
}

static inline ResidentBlocks
resident_blocks_and(const ResidentBlocks *a, const ResidentBlocks *b)
{
	ResidentBlocks both = {{a->words[0] & b->words[0], a->words[1] & b->words[1]}};

	return both;
}

static inline ResidentBlocks
resident_blocks_without(const ResidentBlocks *a, const ResidentBlocks *b)
{
	ResidentBlocks rest = {{a->words[0] & ~b->words[0], a->words[1] & ~b->words[1]}};

	return rest;
}

/* Returns the set of n blocks from block first of the extent on. */
static inline ResidentBlocks
resident_blocks_range(int first, int n)
{
	ResidentBlocks blocks;

	for (int w = 0; w < (int) lengthof(blocks.words); w++)
	{
		int			from = Max(first - w * 64, 0);
		int			to = Min(first + n - w * 64, 64);

		blocks.words[w] = from >= to ? 0 : (PG_UINT64_MAX >> (64 - (to - from))) << from;
	}
	return blocks;
}

static inline bool
resident_blocks_any(const ResidentBlocks *blocks)
{
	return (blocks->words[0] | blocks->words[1]) != 0;
}

/*
 * Returns the first block from i on that is in the set (has), or that is not in it (!has);
 * RESIDENT_EXTENT_BLOCKS if there is none.
 */
static inline int
resident_blocks_next(const ResidentBlocks *blocks, int i, bool has)
{
	for (; i < RESIDENT_EXTENT_BLOCKS; i = (i / 64 + 1) * 64)
	{
		uint64		word = (has ? blocks->words[i / 64] : ~blocks->words[i / 64]) >> i % 64;

		if (word != 0)
			return i + pg_rightmost_one_pos64(word);
	}
	return RESIDENT_EXTENT_BLOCKS;
}

static inline int
resident_blocks_count(const ResidentBlocks *blocks)
{
	return pg_popcount64(blocks->words[0]) + pg_popcount64(blocks->words[1]);
}

/* --- copies of the map */

/*
 * Returns which of n blocks from first on are all-visible in the copy, as a set whose block 0 is
 * first.  n is at most RESIDENT_EXTENT_BLOCKS.  first is a multiple of HEAP_FORMAT_WORD_BLOCKS
 * after the copy's first block, as the first block of an extent is.
 */
static inline ResidentBlocks
visibility_copy_blocks(const VisibilityCopy *copy, BlockNumber first, int n)
{
	ResidentBlocks blocks = resident_blocks_range(0, n);
	const uint64 *words = copy->words + (first - copy->first) / HEAP_FORMAT_WORD_BLOCKS;

	StaticAssertStmt(HEAP_FORMAT_WORD_BLOCKS == 32, "two words of the copy are one of the set");
	Assert((first - copy->first) % HEAP_FORMAT_WORD_BLOCKS == 0);
	Assert(n <= RESIDENT_EXTENT_BLOCKS && first - copy->first + n <= HEAP_FORMAT_MAP_BLOCKS);
	for (int w = 0; w < (int) lengthof(blocks.words); w++)
	{
		uint64		word = n > w * 64 ? heap_format_visible_blocks(words[w * 2]) : 0;

		if (n > w * 64 + 32)
			word |= (uint64) heap_format_visible_blocks(words[w * 2 + 1]) << 32;
		blocks.words[w] &= word;
	}
	return blocks;
}

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_VISIBILITY_H */
