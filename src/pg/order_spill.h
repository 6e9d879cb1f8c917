/*
 * order_spill.h
 *		Rows that do not fit into memory, partitioned by ranges of their keys
 *		in one temporary file.
 *
 * Whenever the store is full its rows are written, a chunk for each partition,
 * one after the other: writing is sequential.  A
 * partition is its chunks of all these rounds; in it rows of equal keys keep
 * the order in which they came.
 *
 * Boundaries are keys of rows already seen.  Should the rows come in order,
 * up or down, all of them would be before the first or after the last of these:
 * then every round gets boundaries of its own.
 */
#ifndef HPSORT_ORDER_SPILL_H
#define HPSORT_ORDER_SPILL_H

#include "postgres.h"

#include "order_store.h"

/* What is known of a partition without reading it. */
typedef struct OrderPartition
{
	uint64		rows;
	Size		tuple_bytes;	/* of its tuples, each aligned */
	OrderRowKey lo;				/* smallest and largest mapped keys; if they */
	OrderRowKey hi;				/* are equal, all are */
} OrderPartition;

typedef struct OrderSpill OrderSpill;

/*
 * Makes an empty spill.  samples are keys of nsamples > 0 rows, which are put in
 * order; if the smallest and the largest of all rows to come are among them, and
 * differ, they will be in different partitions.  expected is an estimate of the
 * bytes to come, and limit the memory that a partition should fit into.
 */
extern OrderSpill *order_spill_create(MemoryContext parent, OrderKeys *keys, bool tuples,
									  OrderRowKey *samples, int nsamples, double expected,
									  Size limit);

/* How many samples are of use where so much memory is allowed. */
extern int	order_spill_samples(Size limit);

/* Writes the rows of the store, and clears it. */
extern void order_spill_flush(OrderSpill *spill, OrderStore *store, const SortContext *context);

/* All rows are in: frees what is only needed to write. */
extern void order_spill_finish(OrderSpill *spill);

extern int	order_spill_partitions(const OrderSpill *spill);
extern const OrderPartition *order_spill_partition(const OrderSpill *spill, int number);

/* Whether all rows of a partition have the same mapped keys. */
extern bool order_spill_is_single(const OrderSpill *spill, int number);

/* Bytes in the file. */
extern uint64 order_spill_bytes(const OrderSpill *spill);

/*
 * Reading one partition at a time, from its first row: the keys and the
 * length of the tuple of the next row, false at the end; then its tuple, which
 * must be read if there is one.
 */
extern void order_spill_open(OrderSpill *spill, int number);
extern bool order_spill_next(OrderSpill *spill, OrderRowKey *key, Size *len);
extern void order_spill_tuple(OrderSpill *spill, MinimalTuple tuple, Size len);

/* Gives back memory and file. */
extern void order_spill_destroy(OrderSpill *spill);

#endif							/* HPSORT_ORDER_SPILL_H */
