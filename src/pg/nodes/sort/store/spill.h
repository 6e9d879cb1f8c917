/*
 * spill.h
 *		Rows that do not fit into memory, partitioned by ranges of their keys
 *		in one temporary file.
 *
 * Whenever the store is full its rows are written, to each partition those of
 * its range, one after the other.  In a partition rows of equal keys keep the
 * order in which they came.
 *
 * Bounds are keys of rows already seen.  Should many rows of a store lie where
 * the partition that they would go to has none, because the input comes in
 * order, up or down, nearly so, or in clusters, then they get partitions of
 * their own.
 *
 * A partition that turns out too large is divided: others take its place, and
 * the bytes that it had in the file.  Rows of equal mapped keys are divided by
 * the keys left to core, whose bounds are rows.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_SPILL_H
#define HPSORT_PG_NODES_SORT_STORE_SPILL_H

#include "postgres.h"

#include "pg/nodes/sort/store/file.h"
#include "pg/nodes/sort/store/store.h"

/* What is known of a partition without reading it. */
typedef struct SpillPartition
{
	uint64		rows;
	uint64		tuple_bytes;	/* of its tuples, each aligned */
	bool		equal;			/* all rows have equal keys, those left to core, too */
	RowKey lo;				/* smallest and largest mapped keys */
	RowKey hi;
	SpillPieces extents;
} SpillPartition;

/* A row whose key may become a bound. */
typedef struct SpillSample
{
	RowKey key;
	MinimalTuple tuple;			/* NULL unless keys left to core are to be compared */
} SpillSample;

typedef struct Spill Spill;

/* Makes an empty spill, with one partition.  limit: the memory that a partition should fit into. */
extern Spill *spill_create(MemoryContext parent, KeyColumns *keys, TupleDesc tupdesc,
									  bool tuples, Size limit);

/* How many samples of so many rows are of use, if so many bytes are expected. */
extern int	spill_samples(const Spill *spill, uint64 rows, double expected);

/*
 * Divides a partition, into which are to be written the rows that follow, or
 * those that it has, which can then be read, once.  samples are nsamples > 0 of
 * its rows, and are put in order; their tuples are in the context that
 * spill_tuples returns, or NULL: then the mapped keys make the bounds.
 * expected is an estimate of the bytes to come.
 */
extern void spill_divide(Spill *spill, int number, SpillSample *samples, int nsamples,
							   double expected);
extern MemoryContext spill_tuples(Spill *spill);

/* Writes the rows of the store, and clears it. */
extern void spill_flush(Spill *spill, RowStore *store, const SortContext *context);

extern int	spill_partitions(const Spill *spill);
extern const SpillPartition *spill_partition(const Spill *spill, int number);

/* Whether all rows of a partition have the same mapped keys. */
extern bool spill_is_single(const Spill *spill, int number);

/* The file. */
extern SpillFile *spill_file(Spill *spill);

/*
 * Reading one partition at a time, from its first row: the length of the next
 * row's tuple, or its key if there are no tuples, false at the end; then the
 * tuple, which must be read if there is one.  consume: it cannot be read again,
 * and its bytes in the file are given back while it is read.
 */
extern void spill_open(Spill *spill, int number, bool consume);
extern bool spill_next(Spill *spill, RowKey *key, Size *len);
extern void spill_tuple(Spill *spill, MinimalTuple tuple, Size len);

/* A partition that is not needed any more. */
extern void spill_forget(Spill *spill, int number);

/* Gives back memory and file. */
extern void spill_destroy(Spill *spill);

/* A minimal tuple as it lies in the file: its length, and what follows the padding. */
static inline void
spill_file_put_tuple(SpillFile *file, MinimalTuple tuple)
{
	spill_file_put(file, &tuple->t_len, sizeof(uint32));
	spill_file_put(file, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET,
				   tuple->t_len - MINIMAL_TUPLE_DATA_OFFSET);
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_SPILL_H */
