/*
 * pair_file.c
 *		Coded pairs in a temporary file (see pair_file.h).
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_file.h"

typedef struct PairSegment
{
	PairCoding	coding;			/* its groups are a copy */
	Segment		segment;
	PairRecoding recoding;		/* of the merge that reads it; from is NULL until then */
} PairSegment;

/* Segments that are read at once however little memory there is. */
#define LEAST_SEGMENTS 16

struct PairFile
{
	MemoryContext memory;
	BlockStore *store;			/* which has the segments' blocks */
	int			nsegments;
	int			room;			/* segments for which there is room */
	PairSegment *segments;
	uint64		merged;			/* bytes written to earlier files, whose segments have become one */
};

PairFile *
pair_file_make(void)
{
	PairFile   *file = palloc0_object(PairFile);

	file->memory = CurrentMemoryContext;
	file->room = 16;
	file->segments = palloc_array(PairSegment, file->room);
	file->store = block_store_make();
	return file;
}

uint64
pair_file_size(const PairFile *file)
{
	return file->merged + block_store_disk(file->store);
}

static void
drop_segments(PairFile *file)
{
	for (int i = 0; i < file->nsegments; i++)
		if (file->segments[i].recoding.from)
			pair_recode_end(&file->segments[i].recoding);
	block_store_close(file->store);
	pfree(file->segments);
}

void
pair_file_free(PairFile *file)
{
	drop_segments(file);
	pfree(file);
}

SegmentWriter *
pair_file_begin(PairFile *file, const PairCoding *coding)
{
	MemoryContext old = MemoryContextSwitchTo(file->memory);
	PairSegment *segment;

	if (file->nsegments == file->room)
	{
		file->room *= 2;
		file->segments = repalloc(file->segments, file->room * sizeof(PairSegment));
	}
	segment = &file->segments[file->nsegments];
	segment->coding = *coding;
	segment->coding.groups = group_code_copy(coding->groups);
	segment->recoding.from = NULL;
	MemoryContextSwitchTo(old);
	return segment_write_begin(file->store, false);
}

void
pair_file_end(PairFile *file, SegmentWriter *writer)
{
	file->segments[file->nsegments++].segment = segment_write_end(writer);
}

bool
pair_file_is_crowded(const PairFile *file, size_t memory_limit)
{
	/* Twice, because the merge is copied to count the rest of a large group. */
	size_t		most = memory_limit / (2 * sizeof(SegmentReader));

	return file->nsegments >= (int) Min(Max(most, LEAST_SEGMENTS), PG_INT32_MAX / 2);
}

SegmentMerge *
pair_file_open(PairFile *file, const PairCoding *coding)
{
	SegmentMerge *merge = segment_merge_make(Max(file->nsegments, 1));

	for (int i = 0; i < file->nsegments; i++)
	{
		PairSegment *segment = &file->segments[i];

		pair_recode_begin(&segment->recoding, &segment->coding, coding);
		segment_merge_add(merge,
						  segment_reader_make(file->store, &segment->segment, pair_recode,
											  &segment->recoding));
	}
	return merge;
}

/* The old file is closed when the new one has been written: for a moment there are both. */
void
pair_file_merge(PairFile *file, const PairCoding *coding)
{
	MemoryContext old = MemoryContextSwitchTo(file->memory);
	PairFile   *merged = pair_file_make();
	SegmentWriter *writer = pair_file_begin(merged, coding);
	SegmentMerge *merge = pair_file_open(file, coding);
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;

	while ((n = segment_merge_next(merge, &codes, &counts)) > 0)
		segment_write(writer, codes, counts, n);
	segment_merge_free(merge);
	pair_file_end(merged, writer);
	merged->merged = pair_file_size(file);
	drop_segments(file);
	*file = *merged;
	pfree(merged);
	MemoryContextSwitchTo(old);
}
