/*
 * spill_state.h
 *		What spill_divide.c, spill_write.c and spill_read.c share; no other file includes
 *		it.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_SPILL_STATE_H
#define HPSORT_PG_NODES_SORT_STORE_SPILL_STATE_H

#include "postgres.h"

#include "pg/nodes/sort/store/spill.h"

/* Where a partition begins: at the rows of a key, or after them. */
typedef struct Boundary
{
	RowKey		key;
	MinimalTuple tuple;			/* where mapped keys are equal: a row instead of the key */
	bool		after;
} Boundary;

struct Spill
{
	MemoryContext memory;
	MemoryContext tuples_memory;	/* tuples of boundaries */
	KeyColumns *keys;
	TupleDesc	tupdesc;
	bool		tuples;			/* in the file */
	const RowElsewhere *elsewhere;	/* references in the file; or NULL */
	bool		nulls_apart;	/* of one key elsewhere: NULLs have a partition of their own */
	bool		narrow;			/* images of four bytes */
	Size		key_bytes;		/* of memory that a row takes beside its tuple, about */
	Size		limit;
	SpillFile  *file;
	int			npartitions;
	int			room;			/* for partitions, and boundaries */
	SpillPartition **partitions;

	/* Writing: boundaries[i] is between partitions base + i and base + i + 1. */
	int			base;
	int			nboundaries;
	Boundary   *boundaries;
	bool		by_rest;		/* boundaries are rows of the same mapped keys ... */
	RowKey		single;			/* ... which are these */
	bool		extends;		/* rows to come may lie beyond all rows seen */

	/* Reading. */
	SpillPartition *reading;
	SpillPartition *divided;	/* read while its rows are written to others */
	uint64		rows_left;
	uint32		ref;			/* of the row read last, if rows lie elsewhere */
	SpillReader reader;
};

/* The order of two rows by their mapped keys; fast for one key without NULLs. */
static inline int
spill_compare_keys(const Spill *spill, const RowKey *a, const RowKey *b)
{
	if (spill->keys->nmapped == 1 && (a->nulls | b->nulls) == 0)
		return a->images[0] < b->images[0] ? -1 : a->images[0] > b->images[0];
	return row_key_compare(spill->keys, a, b);
}

/* Whether a row belongs behind a boundary.  tuple: only looked at if boundaries are rows. */
static inline bool
spill_is_beyond(const Spill *spill, const Boundary *boundary, const RowKey *key, MinimalTuple tuple)
{
	int			result = spill->by_rest ? row_tuple_compare(spill->keys, spill->tupdesc, tuple,
															boundary->tuple)
	: spill_compare_keys(spill, key, &boundary->key);

	return boundary->after ? result > 0 : result >= 0;
}

static inline void
spill_copy_key(const Spill *spill, RowKey *to, const RowKey *from)
{
	int			i;

	to->nulls = from->nulls;
	for (i = 0; i < spill->keys->nmapped; i++)
		to->images[i] = from->images[i];
}

/* The partition of a row, counted from base.  near: that of the row before, or 0. */
extern int	spill_find_partition(const Spill *spill, const RowKey *key, int near);

/*
 * Looks where the rows of the store, which are to be written, lie, and extends
 * partitions.  Most input costs no more than the looks.
 */
extern void spill_extend_boundaries(Spill *spill, const RowStore *store);

/*
 * Joins neighbours that together are not larger than planned.  There are too many
 * partitions if the first rows came in order and got partitions of their own, and
 * later rows come by chance.  Rows of equal keys are in one partition, so joining
 * keeps the order in which they came.
 */
extern void spill_join_partitions(Spill *spill);

/* All rows of the divided partition have been written to others: frees it. */
extern void spill_forget_divided(Spill *spill);

#endif							/* HPSORT_PG_NODES_SORT_STORE_SPILL_STATE_H */
