/*
 * pair_file.c
 *		Coded pairs in a temporary file (see pair_file.h).
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_file.h"

typedef struct PairSegment
{
	PairCoding	coding;
	Segment		segment;
} PairSegment;

/* Segments that are read at once however little memory there is. */
#define LEAST_SEGMENTS 16

struct PairFile
{
	MemoryContext memory;
	BlockStore *store;
	int			nsegments;
	int			room;
	PairSegment *segments;
	uint64		merged;			/* bytes of files whose segments have become one */
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

void
pair_file_free(PairFile *file)
{
	block_store_close(file->store);
	pfree(file->segments);
	pfree(file);
}

SegmentWriter *
pair_file_begin(PairFile *file, const PairCoding *coding)
{
	MemoryContext old = MemoryContextSwitchTo(file->memory);
	PairCoding *copy;

	if (file->nsegments == file->room)
	{
		file->room *= 2;
		file->segments = repalloc(file->segments, file->room * sizeof(PairSegment));
	}
	copy = &file->segments[file->nsegments].coding;
	*copy = *coding;
	copy->groups = group_code_copy(coding->groups);
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
	/* A merge may be copied. */
	size_t		most = memory_limit / (2 * sizeof(SegmentReader));

	return file->nsegments >= (int) Min(Max(most, LEAST_SEGMENTS), PG_INT32_MAX / 2);
}

void
pair_file_merge(PairFile *file, const PairCoding *coding)
{
	MemoryContext old = MemoryContextSwitchTo(file->memory);
	PairFile   *merged = pair_file_make();
	SegmentWriter *writer = pair_file_begin(merged, coding);
	PairMerge	merge;
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;

	pair_merge_open(&merge, file, coding);
	while ((n = segment_merge_next(merge.merge, &codes, &counts)) > 0)
		segment_write(writer, codes, counts, n);
	pair_merge_free(&merge);
	pair_file_end(merged, writer);
	merged->merged = pair_file_size(file);
	block_store_close(file->store);
	pfree(file->segments);
	*file = *merged;
	pfree(merged);
	MemoryContextSwitchTo(old);
}

/* --- merging */

void
pair_merge_open(PairMerge *merge, PairFile *file, const PairCoding *coding)
{
	int			i;

	merge->nsegments = file->nsegments;
	merge->recodings = palloc_array(PairRecoding, Max(file->nsegments, 1));
	merge->merge = segment_merge_make(Max(file->nsegments, 1));
	for (i = 0; i < file->nsegments; i++)
	{
		const PairSegment *segment = &file->segments[i];

		pair_recode_begin(&merge->recodings[i], &segment->coding, coding);
		segment_merge_add(merge->merge,
						  segment_reader_make(file->store, &segment->segment, pair_recode,
											  &merge->recodings[i]));
	}
}

void
pair_merge_free(PairMerge *merge)
{
	int			i;

	for (i = 0; i < merge->nsegments; i++)
		pair_recode_end(&merge->recodings[i]);
	pfree(merge->recodings);
	segment_merge_free(merge->merge);
}
