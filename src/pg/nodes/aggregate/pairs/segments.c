/*
 * segments.c
 *		Runs in a block store, and the merge of them (see segments.h).
 *
 * A block of runs is a header, the distances of the codes from the smallest one, and the counts
 * less one, each in as few bytes as hold all of the block.  In a file the size of a block is in
 * front of it, in shared memory a pointer to the block that was put before.
 *
 * Runs are merged a stretch at a time: of each reader the runs whose codes are not above the least
 * of the readers' last codes in memory.  These slices are merged two by two, without a
 * branch that depends on a code.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/buffile.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/segments.h"

/* --- the store */

struct BlockStore
{
	MemoryContext memory;		/* of the file and the buffer */
	BufFile    *file;			/* NULL: none yet */
	uint64		disk;			/* bytes written to the file */

	/* of a block that has been read from the file */
	char	   *buffer;			/* valid until the next block is read */
	size_t		buffer_size;

	/* of a shared store; files is NULL otherwise */
	SharedFileSet *files;
	int			number;			/* of the process that writes the store */
	dsa_area   *area;
	size_t		memory_limit;	/* bytes that may be allocated in area */
	size_t		in_memory;		/* that have been */
	dsa_pointer shared;			/* the last block in shared memory */
};

/* A block in shared memory.  The blocks of a store are a list, so that they can be freed. */
typedef struct SharedBlock
{
	dsa_pointer before;			/* the block that was put before it */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} SharedBlock;

BlockStore *
block_store_make(void)
{
	BlockStore *store = palloc0_object(BlockStore);

	store->memory = CurrentMemoryContext;
	return store;
}

BlockStore *
block_store_make_shared(SharedFileSet *files, int number, dsa_area *area, size_t memory_limit)
{
	BlockStore *store = block_store_make();

	store->files = files;
	store->number = number;
	store->area = area;
	store->memory_limit = memory_limit;
	return store;
}

void
block_store_close(BlockStore *store)
{
	if (store->file)
		BufFileClose(store->file);
	if (store->buffer)
		pfree(store->buffer);
	pfree(store);
}

uint64
block_store_disk(const BlockStore *store)
{
	return store->disk;
}

size_t
block_store_memory(const BlockStore *store)
{
	return store->in_memory;
}

dsa_pointer
block_store_shared(const BlockStore *store)
{
	return store->shared;
}

void
block_store_free_shared(dsa_area *area, dsa_pointer blocks)
{
	while (DsaPointerIsValid(blocks))
	{
		const SharedBlock *block = dsa_get_address(area, blocks);
		dsa_pointer before = block->before;

		dsa_free(area, blocks);
		blocks = before;
	}
}

/* Opens the file, unless it is open; exists: a shared one, which is to be read. */
static void
open_file(BlockStore *store, bool exists)
{
	MemoryContext old = MemoryContextSwitchTo(store->memory);
	char		name[MAXPGPATH];

	snprintf(name, sizeof(name), "blocks.%d", store->number);
	if (store->file == NULL && store->files == NULL)
	{
		PrepareTempTablespaces();
		store->file = BufFileCreateTemp(false);
	}
	else if (store->file == NULL)
		store->file = exists ? BufFileOpenFileSet(&store->files->fs, name, O_RDONLY, false) :
			BufFileCreateFileSet(&store->files->fs, name);
	MemoryContextSwitchTo(old);
}

/* Shared memory is tried first.  Where there is none left, the block goes to the file. */
void
block_store_put(BlockStore *store, const void *data, size_t size, BlockPlace *place)
{
	size_t		shared_size = offsetof(SharedBlock, data) + size;
	uint32		size_in_file = (uint32) size;

	CHECK_FOR_INTERRUPTS();
	memset(place, 0, sizeof(*place));
	if (store->in_memory + shared_size <= store->memory_limit)
		place->pointer = dsa_allocate_extended(store->area, shared_size, DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(place->pointer))
	{
		SharedBlock *block = dsa_get_address(store->area, place->pointer);

		block->before = store->shared;
		memcpy(block->data, data, size);
		store->shared = place->pointer;
		store->in_memory += shared_size;
		return;
	}
	open_file(store, false);
	BufFileTell(store->file, &place->fileno, &place->offset);
	BufFileWrite(store->file, (void *) &size_in_file, sizeof(size_in_file));
	BufFileWrite(store->file, (void *) data, size);
	store->disk += sizeof(size_in_file) + size;
}

const void *
block_store_get(BlockStore *store, BlockPlace *place)
{
	uint32		size;

	CHECK_FOR_INTERRUPTS();
	if (DsaPointerIsValid(place->pointer))
		return ((SharedBlock *) dsa_get_address(store->area, place->pointer))->data;
	open_file(store, true);
	if (BufFileSeek(store->file, place->fileno, place->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of HpSort Aggregate")));
	BufFileReadExact(store->file, &size, sizeof(size));
	if (size > store->buffer_size)
	{
		if (store->buffer)
			pfree(store->buffer);
		store->buffer = MemoryContextAlloc(store->memory, size);
		store->buffer_size = size;
	}
	BufFileReadExact(store->file, store->buffer, size);
	BufFileTell(store->file, &place->fileno, &place->offset);
	return store->buffer;
}

/* Runs that are merged at once, a stretch, and the least of them that a reader gives. */
#define STRETCH_RUNS 2048
#define STRETCH_LEAST 4

/* --- numbers of a block */

/* In front of the codes and counts of a block. */
typedef struct BlockHeader
{
	uint32		n;				/* runs */
	uint16		code_width;		/* bytes of each code, and ... */
	uint16		count_width;	/* ... of each count */
	uint64		base;			/* the smallest code */
} BlockHeader;

/* An entry of a directory. */
typedef struct SegmentBlock
{
	uint64		n;				/* runs */
	BlockPlace	place;
	RunsOutline outline;
} SegmentBlock;

/* Returns the bytes that each number up to max takes: 0 if all of them are 0. */
static int
width_of(uint64 max)
{
	return max == 0 ? 0 : max <= PG_UINT8_MAX ? 1 : max <= PG_UINT16_MAX ? 2 :
		max <= PG_UINT32_MAX ? 4 : 8;
}

#define ENCODE(type) \
	case sizeof(type): \
		for (size_t i = 0; i < n; i++) \
			((type *) to)[i] = (type) (numbers[i] - base); \
		break

#define DECODE(type) \
	case sizeof(type): \
		for (size_t i = 0; i < n; i++) \
			numbers[i] = base + ((const type *) from)[i]; \
		break

/* Writes n numbers less base, each in width bytes; returns the aligned place behind them. */
static char *
encode_numbers(char *to, const uint64 *numbers, size_t n, uint64 base, int width)
{
	switch (width)
	{
			ENCODE(uint8);
			ENCODE(uint16);
			ENCODE(uint32);
			ENCODE(uint64);
	}
	return to + MAXALIGN(n * width);
}

/* Reads n numbers of width bytes and adds base to each; returns the aligned place behind them. */
static const char *
decode_numbers(const char *from, uint64 *numbers, size_t n, uint64 base, int width)
{
	switch (width)
	{
			DECODE(uint8);
			DECODE(uint16);
			DECODE(uint32);
			DECODE(uint64);
		default:
			for (size_t i = 0; i < n; i++)
				numbers[i] = base;
	}
	return from + MAXALIGN(n * width);
}

/* Returns the outline of n runs, whose codes may be in any order. */
static RunsOutline
outline_of_runs(const uint64 *codes, const uint64 *counts, size_t n)
{
	RunsOutline outline = {.first = PG_UINT64_MAX};

	for (size_t i = 0; i < n; i++)
	{
		outline.first = Min(outline.first, codes[i]);
		outline.last = Max(outline.last, codes[i]);
		outline.rows += counts[i];
	}
	return outline;
}

/* --- writing */

struct SegmentWriter
{
	BlockStore *store;
	Segment		segment;		/* as far as it has been written */
	StringInfoData blocks;		/* the directory: a SegmentBlock for each block */
	size_t		nfilled;		/* runs of the next block, in codes and counts */
	uint64		codes[SEGMENT_BLOCK];
	uint64		counts[SEGMENT_BLOCK];
	union
	{
		BlockHeader header;
		char		bytes[sizeof(BlockHeader) + 2 * SEGMENT_BLOCK * sizeof(uint64)];
	}			encoded;
};

SegmentWriter *
segment_write_begin(BlockStore *store, bool directory)
{
	SegmentWriter *writer = palloc0_object(SegmentWriter);

	writer->store = store;
	writer->segment.directory = directory;
	initStringInfo(&writer->blocks);
	return writer;
}

uint64
segment_written(const SegmentWriter *writer)
{
	return writer->segment.n;
}

static void
end_block(SegmentWriter *writer)
{
	size_t		n = writer->nfilled;
	BlockHeader *header = &writer->encoded.header;
	uint64		most = 1;
	SegmentBlock block = {.n = n};
	char	   *to = (char *) (header + 1);

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		most = Max(most, writer->counts[i]);
	block.outline = outline_of_runs(writer->codes, writer->counts, n);
	header->n = (uint32) n;
	header->base = block.outline.first;
	header->code_width = width_of(block.outline.last - block.outline.first);
	header->count_width = width_of(most - 1);
	to = encode_numbers(to, writer->codes, n, header->base, header->code_width);
	to = encode_numbers(to, writer->counts, n, 1, header->count_width);
	block_store_put(writer->store, header, to - (char *) header, &block.place);
	if (writer->segment.directory)
		appendBinaryStringInfo(&writer->blocks, (const char *) &block, sizeof(block));
	else if (writer->segment.n == n)
		writer->segment.place = block.place;
	writer->nfilled = 0;
}

/* All blocks but the last are full, so that a run's number says in which block it is. */
void
segment_write(SegmentWriter *writer, const uint64 *codes, const uint64 *counts, size_t n)
{
	size_t		at = 0;

	while (at < n)
	{
		uint64	   *to = &writer->counts[writer->nfilled];
		size_t		some = Min(n - at, SEGMENT_BLOCK - writer->nfilled);

		memcpy(&writer->codes[writer->nfilled], codes + at, some * sizeof(uint64));
		if (counts)
			memcpy(to, counts + at, some * sizeof(uint64));
		for (size_t i = 0; counts == NULL && i < some; i++)
			to[i] = 1;
		at += some;
		writer->nfilled += some;
		writer->segment.n += some;
		if (writer->nfilled == SEGMENT_BLOCK)
			end_block(writer);
	}
}

Segment
segment_write_end(SegmentWriter *writer)
{
	Segment		segment;

	end_block(writer);
	segment = writer->segment;
	if (writer->blocks.len > 0)
		block_store_put(writer->store, writer->blocks.data, writer->blocks.len, &segment.place);
	pfree(writer->blocks.data);
	pfree(writer);
	return segment;
}

/* --- reading */

SegmentReader *
segment_reader_make(BlockStore *store, const Segment *segment, SegmentMap map, void *map_arg)
{
	SegmentReader *reader = palloc_object(SegmentReader);
	uint64		nblocks = (segment->n + SEGMENT_BLOCK - 1) / SEGMENT_BLOCK;

	memset(reader, 0, offsetof(SegmentReader, codes));
	reader->store = store;
	reader->map = map;
	reader->map_arg = map_arg;
	reader->block = PG_UINT64_MAX;
	reader->place = segment->place;
	if (segment->directory && nblocks > 0)
	{
		SegmentBlock *blocks = palloc_array(SegmentBlock, nblocks);

		memcpy(blocks, block_store_get(store, &reader->place), nblocks * sizeof(SegmentBlock));
		reader->blocks = blocks;
	}
	segment_reader_seek(reader, 0, segment->n, 0);
	return reader;
}

void
segment_reader_seek(SegmentReader *reader, uint64 first, uint64 n, uint64 lo)
{
	reader->next = first;
	reader->left = n;
	reader->lo = lo;
	reader->at = reader->end = 0;
}

/* Reads a block, unless it is in memory; without a directory it must be the next one. */
static void
load_block(SegmentReader *reader, uint64 block)
{
	const BlockHeader *header;
	const char *from;

	if (reader->block == block)
		return;
	if (reader->blocks)
		reader->place = reader->blocks[block].place;
	else if (block != reader->block + 1)
		elog(ERROR, "a segment without a directory is read from its first run on");
	header = block_store_get(reader->store, &reader->place);
	from = decode_numbers((const char *) (header + 1), reader->codes, header->n, header->base,
						  header->code_width);
	decode_numbers(from, reader->counts, header->n, 1, header->count_width);
	if (reader->map)
		reader->map(reader->map_arg, reader->codes, header->n);
	reader->block = block;
}

/*
 * Moves over the runs of the slice that are in the block of its next run, and sets *block to the
 * number of this block, at and end to the runs.  Returns their outline if they are all of the
 * block and the directory has it, else NULL.
 */
static const RunsOutline *
next_piece(SegmentReader *reader, uint64 *block)
{
	*block = reader->next / SEGMENT_BLOCK;
	reader->at = reader->next % SEGMENT_BLOCK;
	reader->end = Min(reader->at + reader->left, SEGMENT_BLOCK);
	reader->next += reader->end - reader->at;
	reader->left -= reader->end - reader->at;
	if (reader->blocks == NULL || reader->map ||
		reader->end - reader->at < reader->blocks[*block].n)
		return NULL;
	return &reader->blocks[*block].outline;
}

/* A whole block whose codes are all below lo is passed over unread. */
bool
segment_reader_fill(SegmentReader *reader)
{
	while (reader->at == reader->end)
	{
		const RunsOutline *outline;
		uint64		block;

		if (reader->left == 0)
			return false;
		outline = next_piece(reader, &block);
		if (outline == NULL || outline->last >= reader->lo)
			load_block(reader, block);
		if (outline ? outline->last < reader->lo : reader->codes[reader->end - 1] < reader->lo)
			reader->at = reader->end;
	}
	return true;
}

bool
segment_reader_outline(SegmentReader *reader, RunsOutline *outline)
{
	const RunsOutline *known;
	uint64		block;

	if (reader->left == 0)
		return false;
	known = next_piece(reader, &block);
	if (known == NULL)
		load_block(reader, block);
	*outline = known ? *known : outline_of_runs(reader->codes + reader->at,
												reader->counts + reader->at,
												reader->end - reader->at);
	reader->at = reader->end;
	return true;
}

/* --- merging */

typedef struct Slice
{
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;
} Slice;

struct SegmentMerge
{
	int			nreaders;		/* all that were added */
	int			nreading;		/* the first of the readers, which have runs left */
	int			room;			/* for readers */
	SegmentReader **readers;
	Slice	   *slices;			/* of a stretch, at most one of each reader */

	/* codes, and behind them counts, of two passes over a stretch */
	size_t		stretch;		/* runs for which the buffers have room */
	uint64	   *buffers[2];
};

SegmentMerge *
segment_merge_make(int room)
{
	SegmentMerge *merge = palloc0_object(SegmentMerge);

	merge->room = room;
	merge->readers = palloc_array(SegmentReader *, room);
	merge->slices = palloc_array(Slice, room);
	merge->stretch = STRETCH_RUNS + room * STRETCH_LEAST;
	merge->buffers[0] = palloc_array(uint64, 4 * merge->stretch);
	merge->buffers[1] = merge->buffers[0] + 2 * merge->stretch;
	return merge;
}

void
segment_merge_add(SegmentMerge *merge, SegmentReader *reader)
{
	Assert(merge->nreaders < merge->room);
	merge->readers[merge->nreaders++] = reader;
	merge->nreading = merge->nreaders;
}

void
segment_merge_reset(SegmentMerge *merge)
{
	merge->nreaders = merge->nreading = 0;
}

SegmentMerge *
segment_merge_copy(const SegmentMerge *merge)
{
	SegmentMerge *copy = segment_merge_make(merge->room);

	for (int i = 0; i < merge->nreading; i++)
	{
		SegmentReader *reader = palloc_object(SegmentReader);

		memcpy(reader, merge->readers[i], sizeof(SegmentReader));
		segment_merge_add(copy, reader);
	}
	return copy;
}

void
segment_merge_free(SegmentMerge *merge)
{
	for (int i = 0; i < merge->nreaders; i++)
		pfree(merge->readers[i]);
	pfree(merge->buffers[0]);
	pfree(merge->readers);
	pfree(merge->slices);
	pfree(merge);
}

/* Returns how many of n codes, which ascend, are not above bound. */
static size_t
count_up_to(const uint64 *codes, size_t n, uint64 bound)
{
	size_t		lo = 0;

	while (lo < n)
	{
		size_t		middle = lo + (n - lo) / 2;

		if (codes[middle] <= bound)
			lo = middle + 1;
		else
			n = middle;
	}
	return lo;
}

/*
 * Takes the runs of the next stretch from the readers, all of which have some; returns the number
 * of slices.  A reader whose last runs are in memory is no bound for the others.
 */
static int
cut_slices(SegmentMerge *merge)
{
	size_t		most = Max(STRETCH_RUNS / merge->nreading, STRETCH_LEAST);
	uint64		bound = PG_UINT64_MAX;
	int			nslices = 0;

	for (int i = 0; i < merge->nreading; i++)
	{
		const SegmentReader *reader = merge->readers[i];
		size_t		n = reader->end - reader->at;

		if (n > most || reader->left > 0)
			bound = Min(bound, reader->codes[reader->at + Min(n, most) - 1]);
	}
	for (int i = 0; i < merge->nreading; i++)
	{
		SegmentReader *reader = merge->readers[i];
		const uint64 *codes = reader->codes + reader->at;
		size_t		n = count_up_to(codes, Min(reader->end - reader->at, most), bound);

		if (n > 0)
			merge->slices[nslices++] = (Slice)
		{
			codes, reader->counts + reader->at, n
		};
		reader->at += n;
	}
	return nslices;
}

/*
 * Merges two slices into codes and counts, and returns the number of runs.  Which slice a run is
 * from is added up, not asked: a branch that depends on codes would often be mispredicted.
 */
static size_t
merge_two(const Slice *a, const Slice *b, uint64 *codes, uint64 *counts)
{
	size_t		at_a = 0;
	size_t		at_b = 0;
	size_t		n = 0;

	/* A code that both have is taken of both, and its counts are added up. */
	while (at_a < a->n && at_b < b->n)
	{
		uint64		code_a = a->codes[at_a];
		uint64		code_b = b->codes[at_b];
		uint64		takes_a = code_a <= code_b;
		uint64		takes_b = code_b <= code_a;

		codes[n] = Min(code_a, code_b);
		counts[n++] = (a->counts[at_a] & (0 - takes_a)) + (b->counts[at_b] & (0 - takes_b));
		at_a += takes_a;
		at_b += takes_b;
	}
	memcpy(codes + n, a->codes + at_a, (a->n - at_a) * sizeof(uint64));
	memcpy(counts + n, a->counts + at_a, (a->n - at_a) * sizeof(uint64));
	n += a->n - at_a;
	memcpy(codes + n, b->codes + at_b, (b->n - at_b) * sizeof(uint64));
	memcpy(counts + n, b->counts + at_b, (b->n - at_b) * sizeof(uint64));
	return n + b->n - at_b;
}

/*
 * Merges slices two by two until one is left, in a buffer.  The passes take the buffers in turn.
 */
static void
merge_slices(SegmentMerge *merge, int nslices)
{
	Slice	   *slices = merge->slices;

	for (int pass = 0; nslices > 1; pass++)
	{
		uint64	   *codes = merge->buffers[pass % 2];
		uint64	   *counts = codes + merge->stretch;

		for (int i = 0; i < nslices; i += 2)
		{
			Slice		none = {codes, counts, 0};
			size_t		n = merge_two(&slices[i], i + 1 < nslices ? &slices[i + 1] : &none, codes,
									  counts);

			slices[i / 2] = (Slice)
			{
				codes, counts, n
			};
			codes += n;
			counts += n;
		}
		nslices = (nslices + 1) / 2;
	}
}

/* Readers that have ended are moved behind the others, where segment_merge_free finds them. */
size_t
segment_merge_next(SegmentMerge *merge, const uint64 **codes, const uint64 **counts)
{
	int			nslices;

	for (int i = 0; i < merge->nreading;)
	{
		SegmentReader *reader = merge->readers[i];

		if (segment_reader_fill(reader))
		{
			i++;
			continue;
		}
		merge->readers[i] = merge->readers[--merge->nreading];
		merge->readers[merge->nreading] = reader;
	}
	if (merge->nreading == 0)
		return 0;
	nslices = cut_slices(merge);
	if (nslices > 1)
		merge_slices(merge, nslices);
	*codes = merge->slices[0].codes;
	*counts = merge->slices[0].counts;
	return merge->slices[0].n;
}
