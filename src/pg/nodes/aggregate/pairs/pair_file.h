/*
 * pair_file.h
 *		PairFile: coded pairs in a temporary file, as segments (segments.h) that are merged
 *		when they are read.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_FILE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_FILE_H

#include "postgres.h"

#include "pg/nodes/aggregate/pairs/pair_coding.h"
#include "pg/nodes/aggregate/pairs/segments.h"

typedef struct PairFile PairFile;

/* Makes an empty file in the current memory context. */
extern PairFile *pair_file_make(void);

/*
 * Begins a segment of a coding, which must be as wide as that of any before.  Then its
 * runs are written in ascending order to the writer, and the segment ends.
 */
extern SegmentWriter *pair_file_begin(PairFile *file, const PairCoding *coding);
extern void pair_file_end(PairFile *file, SegmentWriter *writer);

/*
 * Whether to read the segments that there are takes all of the memory, in bytes; pair_file_merge
 * makes them one, of a coding that is as wide as that of any, in a new file.
 */
extern bool pair_file_is_crowded(const PairFile *file, size_t memory_limit);
extern void pair_file_merge(PairFile *file, const PairCoding *coding);

/* Bytes written. */
extern uint64 pair_file_size(const PairFile *file);

extern void pair_file_free(PairFile *file);

/*
 * Begins to read all runs in order, as codes of a coding that is as wide as that of any segment;
 * the caller frees the merge.
 */
extern SegmentMerge *pair_file_open(PairFile *file, const PairCoding *coding);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_FILE_H */
