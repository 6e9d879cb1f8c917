/*
 * pair_file.h
 *		PairFile: coded pairs in a temporary file, as segments (segments.h) that are merged
 *		when they are read.
 *
 * A segment keeps the coding that it was written in.  Codings become wider while pairs are added,
 * so that codes of older segments are turned into codes of the last coding as they are read.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_FILE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_FILE_H

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/segments.h"

typedef struct PairFile PairFile;

/*
 * Makes an empty file in the current memory context, which is that of all that the file allocates.
 */
extern PairFile *pair_file_make(void);

/*
 * Begins a segment, which gets a copy of coding; coding must be as wide as that of any segment
 * before.  Runs are then written to the writer in ascending order of their codes.  pair_file_end
 * ends the segment, and frees the writer.
 */
extern SegmentWriter *pair_file_begin(PairFile *file, const PairCoding *coding);
extern void pair_file_end(PairFile *file, SegmentWriter *writer);

/*
 * Whether to read all segments at once would take memory_limit bytes or more.  Then
 * pair_file_merge makes one segment of them, of a coding that is as wide as any of theirs, in a
 * new file.
 */
extern bool pair_file_is_crowded(const PairFile *file, size_t memory_limit);
extern void pair_file_merge(PairFile *file, const PairCoding *coding);

/* Returns the bytes written so far, also to files that have been merged. */
extern uint64 pair_file_size(const PairFile *file);

extern void pair_file_free(PairFile *file);

/*
 * Begins to read all runs in order, as codes of a coding that is as wide as that of any segment.
 * coding must outlive the merge, which the caller frees.
 */
extern SegmentMerge *pair_file_open(PairFile *file, const PairCoding *coding);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_FILE_H */
