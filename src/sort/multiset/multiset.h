/*
 * multiset.h
 *		A multiset: runs as one value of bytes, of which a question reads few.
 *
 * The bytes are the same on every machine (little-endian, unaligned), so that a
 * value may be stored and sent as it is:
 *
 *	header		uint32 format (1), uint32 len (runs), uint64 total (keys)
 *	parts		an entry for every MULTISET_PART_BLOCKS blocks, where there are more
 *				blocks than that; else nothing
 *	index		an entry for every block
 *	blocks		each of MULTISET_BLOCK_RUNS runs, the last of fewer
 *
 * An entry is uint64 before (keys in the blocks before), int32 first (the block's
 * first key), uint32 offset (of the block from the first one's begin); a part's
 * entry is that of its first block.  A block is two bytes, the widths in bytes of
 * what follows, then each further run's key less the block's first one, of 0
 * (consecutive keys), 1, 2 or 4 bytes, then each run's count less one, of 0 (every
 * count is 1), 1, 2, 4 or 8 bytes.  Keys are offsets from the block's first key, not
 * from each other: a block is searched without adding up, and decoded by vectors.
 *
 * A multiset without runs is its header.
 */
#ifndef HPSORT_MULTISET_H
#define HPSORT_MULTISET_H

#include "sort/sort_types.h"

#define MULTISET_FORMAT			1
#define MULTISET_BLOCK_RUNS		128
#define MULTISET_PART_BLOCKS	128
#define MULTISET_HEADER_SIZE	16
#define MULTISET_ENTRY_SIZE		16

/*
 * Where the bytes are: size of them; slice returns the address of n of them, valid
 * until it is called again, or raises its caller's own error.  With slice NULL they
 * are all at data.
 */
typedef struct MultisetBytes
{
	const unsigned char *data;
	size_t		size;
	const unsigned char *(*slice) (void *arg, size_t from, size_t n);
	void	   *arg;
} MultisetBytes;

/* A multiset that is read; owns nothing. */
typedef struct Multiset
{
	MultisetBytes bytes;
	uint32_t	len;			/* runs */
	uint64_t	total;			/* keys */
	uint32_t	nblocks;
	uint32_t	nparts;			/* entries of parts: 0 where they are left out */
} Multiset;

/* A block, decoded. */
typedef struct MultisetBlock
{
	uint32_t	number;			/* 0 .. nblocks - 1 */
	uint32_t	n;				/* runs, 1 .. MULTISET_BLOCK_RUNS */
	uint64_t	before;			/* keys in the blocks before */
	int32_t		keys[MULTISET_BLOCK_RUNS];
	uint64_t	counts[MULTISET_BLOCK_RUNS];
} MultisetBlock;

/* Reads the header; bytes that are no multiset's, as far as it tells, are SORT_CORRUPT. */
extern SortStatus multiset_open(Multiset *m, const MultisetBytes *bytes, SortError *err);

/*
 * Looks at every byte: SORT_CORRUPT unless the multiset is what a writer makes: keys
 * ascending, counts above 0 that add up to the total without an overflow, the
 * narrowest widths, entries that fit the blocks, nothing left over.  Equal multisets
 * have equal bytes.
 */
extern SortStatus multiset_check(const Multiset *m, const SortContext *context, SortError *err);

/*
 * Decodes block number; SORT_CORRUPT where its bytes go beyond the value's, are not what
 * a writer makes of any runs, or do not fit the block's entry or the next one's.  So the
 * counts of a block are always above 0 and add up to no more than the total, those of all
 * blocks to the total, and the keys of all blocks in order are ascending, whatever the
 * bytes.  The functions below return the same.
 */
extern SortStatus multiset_read_block(const Multiset *m, uint32_t number, MultisetBlock *block,
									  SortError *err);

/*
 * The block in which key is or would be: the last whose first key is <= key, or the
 * first.  The multiset must not be empty.
 */
extern SortStatus multiset_find_key(const Multiset *m, int32_t key, MultisetBlock *block,
									SortError *err);

/*
 * The block with the key at position 0 .. total - 1 of all keys in order; SORT_CORRUPT
 * where entries out of order lead to another one.
 */
extern SortStatus multiset_find_position(const Multiset *m, uint64_t position,
										 MultisetBlock *block, SortError *err);

/* How many keys are below key, and how many equal it. */
extern SortStatus multiset_rank(const Multiset *m, int32_t key, uint64_t *below, uint64_t *equal,
								SortError *err);

/* The key at position 0 .. total - 1 of all keys in order. */
extern SortStatus multiset_nth(const Multiset *m, uint64_t position, int32_t *key,
							   SortError *err);

/*
 * Makes a value.  Its memory is the allocator's, and goes with multiset_writer_release,
 * or with the allocator's arena.
 */
typedef struct MultisetWriter
{
	const SortAllocator *allocator;
	uint32_t	len;
	uint64_t	total;
	MultisetBlock pending;		/* runs of the block that is not full yet */
	unsigned char *blocks;
	size_t		blocks_size;
	size_t		blocks_capacity;
	unsigned char *index;
	size_t		index_capacity;
} MultisetWriter;

extern void multiset_writer_init(MultisetWriter *w, const SortAllocator *allocator);
extern void multiset_writer_release(MultisetWriter *w);

/*
 * Appends n runs, keys ascending and above those before, counts > 0.
 * SORT_LIMIT_EXCEEDED where the total would exceed INT64_MAX, or the blocks uint32.
 */
extern SortStatus multiset_writer_add(MultisetWriter *w, const int32_t *keys,
									  const uint64_t *counts, size_t n, SortError *err);

/* Ends the adding: the bytes that multiset_writer_write writes. */
extern SortStatus multiset_writer_size(MultisetWriter *w, size_t *size, SortError *err);
extern void multiset_writer_write(const MultisetWriter *w, void *out);

#endif							/* HPSORT_MULTISET_H */
