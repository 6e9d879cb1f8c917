/*
 * segments.c
 *		Runs in a block store, and the merge of them (see segments.h).
 *
 * A block is a header, the distances of the codes from the smallest one, and the counts less one,
 * each in as few bytes as hold all of the block.
 *
 * Runs are merged a stretch at a time: of each reader the runs whose codes are not above the least
 * of the readers' last codes in memory.  These slices are merged two by two, without
 * a branch that depends on a code: each run of a heap of three segments takes three times as long.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/segments.h"

/* Entries for which a directory has room at first. */
#define FIRST_ENTRIES 8

/* Runs of a stretch, and the least of them that a reader gives. */
#define STRETCH_RUNS 2048
#define STRETCH_LEAST 4

typedef struct BlockHeader
{
	uint32		n;				/* runs */
	uint16		code_width;		/* bytes of each code, and ... */
	uint16		count_width;	/* ... of each count */
	uint64		base;			/* the smallest code */
} BlockHeader;

/* --- numbers of a block */

/* Bytes that numbers up to max take: 0 if all of them are 0. */
static int
width_of(uint64 max)
{
	return max == 0 ? 0 : max <= PG_UINT8_MAX ? 1 : max <= PG_UINT16_MAX ? 2 :
		max <= PG_UINT32_MAX ? 4 : 8;
}

static size_t
size_of_numbers(size_t n, int width)
{
	return MAXALIGN(n * width);
}

#define ENCODE(type) \
	do { \
		for (i = 0; i < n; i++) \
			((type *) to)[i] = (type) (numbers[i] - base); \
	} while (0)

#define DECODE(type) \
	do { \
		for (i = 0; i < n; i++) \
			numbers[i] = base + ((const type *) from)[i]; \
	} while (0)

/* Writes n numbers less base; returns the place behind them. */
static char *
encode_numbers(char *to, const uint64 *numbers, size_t n, uint64 base, int width)
{
	size_t		i;

	switch (width)
	{
		case 1:
			ENCODE(uint8);
			break;
		case 2:
			ENCODE(uint16);
			break;
		case 4:
			ENCODE(uint32);
			break;
		case 8:
			ENCODE(uint64);
			break;
		default:
			break;
	}
	memset(to + n * width, 0, size_of_numbers(n, width) - n * width);
	return to + size_of_numbers(n, width);
}

/* Reads n numbers and adds base to each; returns the place behind them. */
static const char *
decode_numbers(const char *from, uint64 *numbers, size_t n, uint64 base, int width)
{
	size_t		i;

	switch (width)
	{
		case 1:
			DECODE(uint8);
			break;
		case 2:
			DECODE(uint16);
			break;
		case 4:
			DECODE(uint32);
			break;
		case 8:
			DECODE(uint64);
			break;
		default:
			for (i = 0; i < n; i++)
				numbers[i] = base;
			break;
	}
	return from + size_of_numbers(n, width);
}

/* --- writing */

struct SegmentWriter
{
	MemoryContext memory;
	BlockStore *store;
	bool		directory;
	uint64		room;			/* of the directory */
	uint64		nblocks;
	Segment		segment;
	size_t		nfilled;		/* runs of the next block */
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
	SegmentWriter *writer = palloc_object(SegmentWriter);

	memset(writer, 0, offsetof(SegmentWriter, codes));
	writer->memory = CurrentMemoryContext;
	writer->store = store;
	writer->directory = directory;
	return writer;
}

uint64
segment_written(const SegmentWriter *writer)
{
	return writer->segment.n;
}

static RunsOutline
outline_of_runs(const uint64 *codes, const uint64 *counts, size_t n)
{
	RunsOutline outline = {.first = PG_UINT64_MAX};
	size_t		i;

	for (i = 0; i < n; i++)
	{
		outline.first = Min(outline.first, codes[i]);
		outline.last = Max(outline.last, codes[i]);
		outline.rows += counts[i];
	}
	return outline;
}

static void
note_block(SegmentWriter *writer, const SegmentBlock *block)
{
	Segment    *segment = &writer->segment;

	if (writer->nblocks == 0)
		segment->first = block->place;
	if (writer->directory)
	{
		if (segment->blocks == NULL)
		{
			writer->room = FIRST_ENTRIES;
			segment->blocks = MemoryContextAlloc(writer->memory,
												 writer->room * sizeof(SegmentBlock));
		}
		else if (writer->nblocks == writer->room)
		{
			writer->room *= 2;
			segment->blocks = repalloc_huge(segment->blocks, writer->room * sizeof(SegmentBlock));
		}
		segment->blocks[writer->nblocks] = *block;
	}
	writer->nblocks++;
}

/* Puts the runs that have been collected away as a block. */
static void
end_block(SegmentWriter *writer)
{
	size_t		n = writer->nfilled;
	BlockHeader *header = &writer->encoded.header;
	uint64		most = 1;
	SegmentBlock block;
	char	   *to;
	size_t		i;

	if (n == 0)
		return;
	for (i = 0; i < n; i++)
		most = Max(most, writer->counts[i]);
	block.outline = outline_of_runs(writer->codes, writer->counts, n);
	header->n = (uint32) n;
	header->base = block.outline.first;
	header->code_width = width_of(block.outline.last - block.outline.first);
	header->count_width = width_of(most - 1);
	to = encode_numbers(writer->encoded.bytes + sizeof(BlockHeader), writer->codes, n, header->base,
						header->code_width);
	to = encode_numbers(to, writer->counts, n, 1, header->count_width);
	block_store_put(writer->store, writer->encoded.bytes, to - writer->encoded.bytes, &block.place);
	note_block(writer, &block);
	writer->nfilled = 0;
}

/* Appends runs; counts is NULL if all of them are 1. */
static void
append(SegmentWriter *writer, const uint64 *codes, const uint64 *counts, size_t n)
{
	size_t		at = 0;
	size_t		i;

	writer->segment.n += n;
	while (at < n)
	{
		size_t		some = Min(n - at, SEGMENT_BLOCK - writer->nfilled);

		memcpy(writer->codes + writer->nfilled, codes + at, some * sizeof(uint64));
		if (counts)
			memcpy(writer->counts + writer->nfilled, counts + at, some * sizeof(uint64));
		else
			for (i = 0; i < some; i++)
				writer->counts[writer->nfilled + i] = 1;
		at += some;
		writer->nfilled += some;
		if (writer->nfilled == SEGMENT_BLOCK)
			end_block(writer);
	}
}

void
segment_write(SegmentWriter *writer, const uint64 *codes, const uint64 *counts, size_t n)
{
	append(writer, codes, counts, n);
}

void
segment_write_codes(SegmentWriter *writer, const uint64 *codes, size_t n)
{
	append(writer, codes, NULL, n);
}

void
segment_write_end(SegmentWriter *writer, Segment *segment)
{
	end_block(writer);
	*segment = writer->segment;
	pfree(writer);
}

/* --- reading */

SegmentReader *
segment_reader_make(BlockStore *store, const Segment *segment, SegmentMap map, void *map_arg)
{
	SegmentReader *reader = palloc_object(SegmentReader);

	memset(reader, 0, offsetof(SegmentReader, codes));
	reader->store = store;
	reader->segment = segment;
	reader->map = map;
	reader->map_arg = map_arg;
	reader->block = PG_UINT64_MAX;
	reader->place = segment->first;
	segment_reader_seek(reader, 0, segment->n);
	return reader;
}

void
segment_reader_seek(SegmentReader *reader, uint64 first, uint64 n)
{
	reader->next = first;
	reader->left = n;
	reader->at = reader->end = 0;
	segment_reader_want(reader, 0, PG_UINT64_MAX);
}

void
segment_reader_want(SegmentReader *reader, uint64 lo, uint64 hi)
{
	Assert(reader->map == NULL || (lo == 0 && hi == PG_UINT64_MAX));
	reader->lo = lo;
	reader->hi = hi;
}

static void
load_block(SegmentReader *reader, uint64 block)
{
	const BlockHeader *header;
	const char *from;

	if (reader->block == block)
		return;
	if (reader->segment->blocks)
		reader->place = reader->segment->blocks[block].place;
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
 * Moves over the runs of the slice that are in one block, and sets *outline.  They are
 * read, and are those from at to before end, unless the directory has their outline, and
 * they are not wanted, or only outlined.  False at the end of the slice.
 */
static bool
next_piece(SegmentReader *reader, bool outlines, RunsOutline *outline)
{
	const Segment *segment = reader->segment;
	uint64		block = reader->next / SEGMENT_BLOCK;
	size_t		at = reader->next % SEGMENT_BLOCK;
	size_t		n = Min(SEGMENT_BLOCK - at, reader->left);

	reader->at = reader->end = 0;
	if (n == 0)
		return false;
	reader->left -= n;
	reader->next += n;
	if (segment->blocks && !reader->map && at == 0 &&
		(n == SEGMENT_BLOCK || reader->next == segment->n))
	{
		*outline = segment->blocks[block].outline;
		if (outlines || outline->last < reader->lo || outline->first > reader->hi)
			return true;
	}
	load_block(reader, block);
	reader->at = at;
	reader->end = at + n;
	if (outlines)
		*outline = outline_of_runs(reader->codes + at, reader->counts + at, n);
	else
	{
		outline->first = reader->codes[at];
		outline->last = reader->codes[at + n - 1];
	}
	return true;
}

bool
segment_reader_fill(SegmentReader *reader)
{
	RunsOutline outline;

	while (reader->at == reader->end)
	{
		if (!next_piece(reader, false, &outline))
			return false;
		if (outline.last < reader->lo || outline.first > reader->hi)
			reader->at = reader->end;
	}
	return true;
}

bool
segment_reader_outline(SegmentReader *reader, RunsOutline *outline)
{
	return next_piece(reader, true, outline);
}

/* --- merging */

/* Runs that are merged with others. */
typedef struct Slice
{
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;
} Slice;

struct SegmentMerge
{
	int			nreaders;
	int			nreading;		/* the first of them have runs left */
	int			room;
	SegmentReader **readers;
	Slice	   *slices;			/* as many */

	/* codes, and behind them counts, of two passes over a stretch */
	size_t		stretch;		/* for which there is room */
	uint64	   *buffers[2];
};

SegmentMerge *
segment_merge_make(void)
{
	SegmentMerge *merge = palloc0_object(SegmentMerge);

	merge->room = 16;
	merge->readers = palloc_array(SegmentReader *, merge->room);
	merge->slices = palloc_array(Slice, merge->room);
	return merge;
}

void
segment_merge_add(SegmentMerge *merge, SegmentReader *reader)
{
	if (merge->nreaders == merge->room)
	{
		merge->room *= 2;
		merge->readers = repalloc(merge->readers, merge->room * sizeof(SegmentReader *));
		merge->slices = repalloc(merge->slices, merge->room * sizeof(Slice));
	}
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
	SegmentMerge *copy = segment_merge_make();
	int			i;

	for (i = 0; i < merge->nreading; i++)
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
	int			i;

	for (i = 0; i < merge->nreaders; i++)
		pfree(merge->readers[i]);
	for (i = 0; i < 2; i++)
		if (merge->buffers[i])
			pfree(merge->buffers[i]);
	pfree(merge->readers);
	pfree(merge->slices);
	pfree(merge);
}

/* How many of n codes, which ascend, are not above bound. */
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
	int			i;

	for (i = 0; i < merge->nreading; i++)
	{
		const SegmentReader *reader = merge->readers[i];
		size_t		n = reader->end - reader->at;

		if (n > most || reader->left > 0)
			bound = Min(bound, reader->codes[reader->at + Min(n, most) - 1]);
	}
	for (i = 0; i < merge->nreading; i++)
	{
		SegmentReader *reader = merge->readers[i];
		const uint64 *codes = reader->codes + reader->at;
		size_t		n = count_up_to(codes, Min(reader->end - reader->at, most), bound);

		if (n > 0)
			merge->slices[nslices++] = (Slice) {codes, reader->counts + reader->at, n};
		reader->at += n;
	}
	return nslices;
}

/* Sees to it that the buffers have room for a stretch of all readers. */
static void
make_buffers(SegmentMerge *merge)
{
	size_t		stretch = Max(STRETCH_RUNS, merge->room * STRETCH_LEAST);
	int			i;

	if (merge->stretch >= stretch)
		return;
	for (i = 0; i < 2; i++)
	{
		if (merge->buffers[i])
			pfree(merge->buffers[i]);
		merge->buffers[i] = MemoryContextAlloc(GetMemoryChunkContext(merge),
											   2 * stretch * sizeof(uint64));
	}
	merge->stretch = stretch;
}

/* Merges two slices; returns the number of runs. */
static size_t
merge_two(const Slice *a, const Slice *b, uint64 *codes, uint64 *counts)
{
	size_t		at_a = 0;
	size_t		at_b = 0;
	size_t		n = 0;

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

/* Merges the slices two by two: one is left, in the first buffer or in the second. */
static void
merge_slices(SegmentMerge *merge, int nslices)
{
	Slice	   *slices = merge->slices;
	int			pass;

	make_buffers(merge);
	for (pass = 0; nslices > 1; pass++)
	{
		uint64	   *codes = merge->buffers[pass % 2];
		uint64	   *counts = codes + merge->stretch;
		int			i;

		for (i = 0; i < nslices; i += 2)
		{
			Slice		none = {codes, counts, 0};
			size_t		n = merge_two(&slices[i], i + 1 < nslices ? &slices[i + 1] : &none, codes,
									  counts);

			slices[i / 2] = (Slice) {codes, counts, n};
			codes += n;
			counts += n;
		}
		nslices = (nslices + 1) / 2;
	}
}

size_t
segment_merge_next(SegmentMerge *merge, const uint64 **codes, const uint64 **counts)
{
	int			nslices;
	int			i;

	for (i = 0; i < merge->nreading;)
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
