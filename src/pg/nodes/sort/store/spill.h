/*
 * spill.h
 *		Rows that do not fit into memory, partitioned by ranges of their keys
 *		in one temporary file.
 *
 * Whenever the store is full its rows are written, each to the partition of the
 * range that its key is in.  Within a partition rows of equal keys keep the
 * order in which they came.
 *
 * Boundaries between partitions are keys of rows that have been seen.  Where many
 * rows of a store lie beyond all rows of their partition, because the input comes
 * in order, up or down, nearly so, or in clusters, they get partitions of their
 * own.
 *
 * A partition that turns out too large for memory is divided: new partitions
 * take its place, and the bytes that it had in the file.  Rows of equal mapped
 * keys are divided by the keys left to core; a boundary is then a row.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_SPILL_H
#define HPSORT_PG_NODES_SORT_STORE_SPILL_H

#include "postgres.h"

#include "pg/nodes/sort/store/file.h"
#include "pg/nodes/sort/store/row_store.h"

/* What is known of a partition without reading it. */
typedef struct SpillPartition
{
	uint64		rows;
	uint64		tuple_bytes;	/* of its tuples, each aligned */
	bool		equal;			/* all rows have equal keys, those left to core, too, or these
								 * have no order */
	RowKey		lo;				/* smallest and largest mapped keys */
	RowKey		hi;
	SpillSequence sequence;
} SpillPartition;

/* A row whose key may become a boundary. */
typedef struct SpillSample
{
	RowKey		key;
	MinimalTuple tuple;			/* NULL unless keys left to core are to be compared */
} SpillSample;

typedef struct Spill Spill;

/*
 * Makes an empty spill, with one partition, in a context below parent, for the rows of a
 * store, whose limit is the memory that a partition should fit into.
 */
extern Spill *spill_create(MemoryContext parent, const RowStore *store);

/* How many samples of so many rows are of use to spill_divide, if so many bytes are expected. */
extern int	spill_sample_count(const Spill *spill, uint64 rows, double expected);

/* Where tuples of samples are kept, as boundaries may be made of them. */
extern MemoryContext spill_sample_memory(Spill *spill);

/*
 * Puts new, empty partitions in the place of one, and has the rows that are
 * flushed from now on written to these.  If the old partition has rows,
 * spill_next_row then reads them, once, for the caller to put them into the
 * store again.
 *
 * samples are nsamples > 0 rows of those to be written; spill_divide sorts them.
 * Where they have tuples, which must be in spill_sample_memory's context,
 * boundaries are rows; otherwise mapped keys.  expected: how many bytes will be
 * written, about.
 */
extern void spill_divide(Spill *spill, int number, SpillSample *samples, int nsamples,
						 double expected);

/* All rows of the partition that was divided have been written to the new ones. */
extern void spill_end_division(Spill *spill);

/* Writes the rows of the store, and clears it. */
extern void spill_flush(Spill *spill, RowStore *store, const SortContext *context);

/* Partitions, in the order of their keys, are numbered from 0. */
extern int	spill_partition_count(const Spill *spill);
extern const SpillPartition *spill_partition(const Spill *spill, int number);

/* Whether all rows of a partition have the same mapped keys. */
extern bool spill_is_single(const Spill *spill, int number);

/* The file, which the spill closes. */
extern SpillFile *spill_get_file(Spill *spill);

/*
 * Reading one partition at a time.  spill_start_reading goes to its first row.
 * spill_next_row sets *len to the length of the next row's tuple, or, if there
 * are no tuples in the file, *key to its keys; false at the end.  The tuple must then be
 * read with spill_read_tuple, to where there is room for len bytes.  Of a row that lies
 * elsewhere spill_ref is the reference.  consume: the partition cannot be read again, and
 * its bytes in the file are given back while it is read.
 */
extern void spill_start_reading(Spill *spill, int number, bool consume);
extern bool spill_next_row(Spill *spill, RowKey *key, Size *len);
extern void spill_read_tuple(Spill *spill, MinimalTuple tuple, Size len);
extern uint32 spill_ref(const Spill *spill);

/*
 * The same for up to most rows of one narrow key that lie elsewhere: their images and
 * references.  Returns how many; all of them, or none, are NULL.
 */
extern Size spill_next_refs(Spill *spill, uint32 *images, uint32 *refs, Size most, bool *nulls);

/* Empties a partition, and gives its bytes in the file back. */
extern void spill_forget_partition(Spill *spill, int number);

/* Removes the file, and frees all memory. */
extern void spill_destroy(Spill *spill);

#endif							/* HPSORT_PG_NODES_SORT_STORE_SPILL_H */
