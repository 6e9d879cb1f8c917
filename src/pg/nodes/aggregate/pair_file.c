/*
 * pair_file.c
 *		Coded pairs in a temporary file (see pair_file.h).
 *
 * A segment is a sequence of blocks: a header, codes, and counts unless all of them
 * are 1.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pair_file.h"

typedef struct BlockHeader
{
	uint32		n;
	uint32		ones;			/* all counts are 1, and not written */
} BlockHeader;

typedef struct Segment
{
	PairCoding	coding;
	int			fileno;			/* where its first block is */
	off_t		offset;
	uint64		nblocks;
} Segment;

/* Segments that are read at once however little memory there is. */
#define LEAST_SEGMENTS 16

struct PairFile
{
	MemoryContext memory;
	BufFile    *file;
	int			nsegments;
	int			room;
	Segment    *segments;
	uint64		size;
};

static BufFile *
new_buffile(PairFile *file)
{
	MemoryContext old = MemoryContextSwitchTo(file->memory);
	BufFile    *result;

	PrepareTempTablespaces();
	result = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	return result;
}

PairFile *
pair_file_make(void)
{
	PairFile   *file = palloc0_object(PairFile);

	file->memory = CurrentMemoryContext;
	file->room = 16;
	file->segments = palloc_array(Segment, file->room);
	file->file = new_buffile(file);
	return file;
}

uint64
pair_file_size(const PairFile *file)
{
	return file->size;
}

void
pair_file_free(PairFile *file)
{
	BufFileClose(file->file);
	pfree(file->segments);
	pfree(file);
}

/* --- writing */

/* A new segment at the end of the file, where it stands. */
static void
new_segment(PairFile *file, const PairCoding *coding)
{
	MemoryContext old = MemoryContextSwitchTo(file->memory);
	Segment    *segment;

	if (file->nsegments == file->room)
	{
		file->room *= 2;
		file->segments = repalloc(file->segments, file->room * sizeof(Segment));
	}
	segment = &file->segments[file->nsegments++];
	segment->coding = *coding;
	segment->coding.groups = group_code_copy(coding->groups);
	segment->nblocks = 0;
	BufFileTell(file->file, &segment->fileno, &segment->offset);
	MemoryContextSwitchTo(old);
}

void
pair_file_write(PairFile *file, const uint64 *codes, const uint64 *counts, size_t n)
{
	BlockHeader header = {.n = (uint32) n,.ones = 1};
	size_t		i;

	for (i = 0; i < n && header.ones; i++)
		header.ones = counts[i] == 1;
	BufFileWrite(file->file, (void *) &header, sizeof(header));
	BufFileWrite(file->file, (void *) codes, n * sizeof(uint64));
	if (!header.ones)
		BufFileWrite(file->file, (void *) counts, n * sizeof(uint64));
	file->size += sizeof(header) + n * sizeof(uint64) * (header.ones ? 1 : 2);
	file->segments[file->nsegments - 1].nblocks++;
}

bool
pair_file_is_crowded(const PairFile *file, size_t memory_limit)
{
	/* A merge may be copied. */
	size_t		most = memory_limit / (4 * PAIR_FILE_BLOCK * sizeof(uint64));

	return file->nsegments >= (int) Min(Max(most, LEAST_SEGMENTS), PG_INT32_MAX / 2);
}

void
pair_file_merge(PairFile *file, const PairCoding *coding)
{
	PairMerge  *merge = pair_merge_open(file, coding);
	uint64	   *codes = palloc_array(uint64, 2 * PAIR_FILE_BLOCK);
	PairFile	merged = *file;
	size_t		n;

	merged.file = new_buffile(file);
	merged.nsegments = 0;
	merged.segments = MemoryContextAlloc(file->memory, merged.room * sizeof(Segment));
	new_segment(&merged, coding);
	while ((n = pair_merge_next(merge, codes, codes + PAIR_FILE_BLOCK)) > 0)
		pair_file_write(&merged, codes, codes + PAIR_FILE_BLOCK, n);
	pair_merge_free(merge);
	pfree(codes);
	BufFileClose(file->file);
	pfree(file->segments);
	*file = merged;
}

void
pair_file_begin(PairFile *file, const PairCoding *coding)
{
	new_segment(file, coding);
}

/* --- reading */

/* A position in a segment. */
typedef struct SegmentReader
{
	PairFile   *file;
	int			fileno;			/* where the next block is */
	off_t		offset;
	uint64		blocks_left;
	PairRecoding recoding;
	size_t		n;
	size_t		at;
	uint64		codes[PAIR_FILE_BLOCK];
	uint64		counts[PAIR_FILE_BLOCK];
} SegmentReader;

static SegmentReader *
open_segment(PairFile *file, const Segment *segment, const PairCoding *to)
{
	SegmentReader *reader = palloc_object(SegmentReader);

	reader->file = file;
	reader->fileno = segment->fileno;
	reader->offset = segment->offset;
	reader->blocks_left = segment->nblocks;
	pair_recode_begin(&reader->recoding, &segment->coding, to);
	return reader;
}

static void
close_segment(SegmentReader *reader)
{
	pair_recode_end(&reader->recoding);
	pfree(reader);
}

/* Reads the next block; false at the end. */
static bool
read_block(SegmentReader *reader)
{
	BufFile    *file;
	BlockHeader header;
	size_t		i;

	CHECK_FOR_INTERRUPTS();
	reader->at = reader->n = 0;
	if (reader->blocks_left == 0)
		return false;
	file = reader->file->file;
	if (BufFileSeek(file, reader->fileno, reader->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of HpSort Aggregate")));
	compat_buffile_read(file, &header, sizeof(header));
	compat_buffile_read(file, reader->codes, header.n * sizeof(uint64));
	if (!header.ones)
		compat_buffile_read(file, reader->counts, header.n * sizeof(uint64));
	else
		for (i = 0; i < header.n; i++)
			reader->counts[i] = 1;
	BufFileTell(file, &reader->fileno, &reader->offset);
	reader->blocks_left--;
	reader->n = header.n;
	pair_recode(&reader->recoding, reader->codes, reader->n);
	return true;
}

void
pair_file_read(PairFile *file, TakePairs take, void *arg)
{
	int			i;

	for (i = 0; i < file->nsegments; i++)
	{
		const PairCoding *coding = &file->segments[i].coding;
		SegmentReader *reader = open_segment(file, &file->segments[i], coding);

		while (read_block(reader))
			take(arg, coding, reader->codes, reader->counts, reader->n);
		close_segment(reader);
	}
	file->nsegments = 0;
}

/* A segment that is being merged, and its next code. */
typedef struct MergeInput
{
	uint64		code;
	SegmentReader *reader;
} MergeInput;

struct PairMerge
{
	int			n;
	int			room;
	MergeInput *inputs;			/* a binary heap, the smallest code first */
};

#define HEAP_ELEMENT MergeInput
#define HEAP_SIFT_DOWN sift_segment_down
#define HEAP_BEFORE(a, b) ((a)->code < (b)->code)
#include "sort/heap_template.h"

/* Adds a reader, unless it has nothing to read. */
static void
add_reader(PairMerge *merge, SegmentReader *reader)
{
	if (!read_block(reader))
	{
		close_segment(reader);
		return;
	}
	if (merge->n == merge->room)
	{
		merge->room = Max(16, 2 * merge->room);
		merge->inputs = merge->inputs ? repalloc(merge->inputs, merge->room * sizeof(MergeInput)) :
			palloc(merge->room * sizeof(MergeInput));
	}
	merge->inputs[merge->n].reader = reader;
	merge->inputs[merge->n++].code = reader->codes[0];
}

PairMerge *
pair_merge_open(PairFile *file, const PairCoding *coding)
{
	PairMerge  *merge = palloc0_object(PairMerge);
	int			i;

	for (i = 0; i < file->nsegments; i++)
		add_reader(merge, open_segment(file, &file->segments[i], coding));
	for (i = merge->n / 2 - 1; i >= 0; i--)
		sift_segment_down(merge->inputs, merge->n, i);
	return merge;
}

PairMerge *
pair_merge_copy(const PairMerge *merge)
{
	PairMerge  *copy = palloc_object(PairMerge);
	int			i;

	copy->n = merge->n;
	copy->room = Max(merge->n, 1);
	copy->inputs = palloc_array(MergeInput, copy->room);
	for (i = 0; i < merge->n; i++)
	{
		SegmentReader *reader = palloc_object(SegmentReader);

		memcpy(reader, merge->inputs[i].reader, sizeof(SegmentReader));
		pair_recode_begin(&reader->recoding, reader->recoding.from, reader->recoding.to);
		copy->inputs[i].code = merge->inputs[i].code;
		copy->inputs[i].reader = reader;
	}
	return copy;
}

void
pair_merge_free(PairMerge *merge)
{
	while (merge->n > 0)
		close_segment(merge->inputs[--merge->n].reader);
	if (merge->inputs)
		pfree(merge->inputs);
	pfree(merge);
}

size_t
pair_merge_next(PairMerge *merge, uint64 *codes, uint64 *counts)
{
	size_t		n = 0;

	while (merge->n > 0)
	{
		MergeInput *first = &merge->inputs[0];
		SegmentReader *reader = first->reader;

		if (n > 0 && codes[n - 1] == first->code)
			counts[n - 1] += reader->counts[reader->at];
		else if (n == PAIR_FILE_BLOCK)
			break;
		else
		{
			codes[n] = first->code;
			counts[n++] = reader->counts[reader->at];
		}
		if (++reader->at == reader->n && !read_block(reader))
		{
			close_segment(reader);
			*first = merge->inputs[--merge->n];
		}
		else
			first->code = reader->codes[reader->at];
		if (merge->n > 0)
			sift_segment_down(merge->inputs, merge->n, 0);
	}
	return n;
}
