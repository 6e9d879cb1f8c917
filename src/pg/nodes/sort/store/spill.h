/*
 * order_spill.h
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
#ifndef HPSORT_ORDER_SPILL_H
#define HPSORT_ORDER_SPILL_H

#include "postgres.h"

#include "order_file.h"
#include "order_store.h"

/* What is known of a partition without reading it. */
typedef struct OrderPartition
{
	uint64		rows;
	uint64		tuple_bytes;	/* of its tuples, each aligned */
	bool		equal;			/* all rows have equal keys, those left to core, too */
	OrderRowKey lo;				/* smallest and largest mapped keys */
	OrderRowKey hi;
	OrderExtents extents;
} OrderPartition;

/* A row whose key may become a bound. */
typedef struct OrderSample
{
	OrderRowKey key;
	MinimalTuple tuple;			/* NULL unless keys left to core are to be compared */
} OrderSample;

typedef struct OrderSpill OrderSpill;

/* Makes an empty spill, with one partition.  limit: the memory that a partition should fit into. */
extern OrderSpill *order_spill_create(MemoryContext parent, OrderKeys *keys, TupleDesc tupdesc,
									  bool tuples, Size limit);

/* How many samples of so many rows are of use, if so many bytes are expected. */
extern int	order_spill_samples(const OrderSpill *spill, uint64 rows, double expected);

/*
 * Divides a partition, into which are to be written the rows that follow, or
 * those that it has, which can then be read, once.  samples are nsamples > 0 of
 * its rows, and are put in order; their tuples are in the context that
 * order_spill_tuples returns, or NULL: then the mapped keys make the bounds.
 * expected is an estimate of the bytes to come.
 */
extern void order_spill_divide(OrderSpill *spill, int number, OrderSample *samples, int nsamples,
							   double expected);
extern MemoryContext order_spill_tuples(OrderSpill *spill);

/* Writes the rows of the store, and clears it. */
extern void order_spill_flush(OrderSpill *spill, OrderStore *store, const SortContext *context);

extern int	order_spill_partitions(const OrderSpill *spill);
extern const OrderPartition *order_spill_partition(const OrderSpill *spill, int number);

/* Whether all rows of a partition have the same mapped keys. */
extern bool order_spill_is_single(const OrderSpill *spill, int number);

/* The file. */
extern OrderFile *order_spill_file(OrderSpill *spill);

/*
 * Reading one partition at a time, from its first row: the length of the next
 * row's tuple, or its key if there are no tuples, false at the end; then the
 * tuple, which must be read if there is one.  consume: it cannot be read again,
 * and its bytes in the file are given back while it is read.
 */
extern void order_spill_open(OrderSpill *spill, int number, bool consume);
extern bool order_spill_next(OrderSpill *spill, OrderRowKey *key, Size *len);
extern void order_spill_tuple(OrderSpill *spill, MinimalTuple tuple, Size len);

/* A partition that is not needed any more. */
extern void order_spill_forget(OrderSpill *spill, int number);

/* Gives back memory and file. */
extern void order_spill_destroy(OrderSpill *spill);

/* A minimal tuple as it lies in the file: its length, and what follows the padding. */
static inline void
order_file_put_tuple(OrderFile *file, MinimalTuple tuple)
{
	order_file_put(file, &tuple->t_len, sizeof(uint32));
	order_file_put(file, (char *) tuple + MINIMAL_TUPLE_DATA_OFFSET,
				   tuple->t_len - MINIMAL_TUPLE_DATA_OFFSET);
}

#endif							/* HPSORT_ORDER_SPILL_H */
