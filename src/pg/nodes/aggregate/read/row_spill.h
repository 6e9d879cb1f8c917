/*
 * row_spill.h
 *		RowSpill: rows for whose group there is no memory, to be read again after the others.
 *
 * A group is refused by the hash of a value, by which rows are divided into partitions, so that all
 * rows of a group are in one.  They are in memory, or if that is not enough in temporary files.
 * Each partition is read as the table was.  Rows that are refused of it are divided once more, by
 * another hash of that hash.
 *
 * The caller has row_spill_refuse note the rows of a batch, then row_spill_divide write them.
 * When all rows have been read, it calls row_spill_next for each partition, and row_spill_read for
 * its rows, which it may refuse again.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_ROW_SPILL_H
#define HPSORT_PG_NODES_AGGREGATE_READ_ROW_SPILL_H

#include "pg/values/values.h"

typedef struct RowSpill RowSpill;

/* A power of two. */
#define ROW_SPILL_MOST_PARTITIONS 64

/*
 * Makes an empty one in the current memory context, for rows of nbatches batches that have the
 * kinds of like.  images says which of the first ncolumns batches have numbers of a dictionary, or
 * Datums, in place of which values are kept; NULL: none.  keeps_numbers: numbers that values have
 * stay what they are, because dictionaries are not emptied before the rows are read.  npartitions:
 * 0, or how many partitions there are, a power of two up to ROW_SPILL_MOST_PARTITIONS, of which
 * hashes are the numbers.  memory_limit is bytes: of rows, and of the buffers of the files.
 */
extern RowSpill *row_spill_make(const ColumnBatch *like, int nbatches, const ColumnImage *images,
								int ncolumns, bool keeps_numbers, int npartitions,
								size_t memory_limit);

/* Closes the files, and gives the memory back. */
extern void row_spill_free(RowSpill *spill);

/*
 * Notes that a row of the next batch to be divided is refused, and the hash of the value for which
 * it is.  Of several columns that refuse a row the first divides it: one for all rows of a group.
 */
extern void row_spill_refuse(RowSpill *spill, size_t row, uint32 hash);

/*
 * Writes the rows of a batch that are refused, and returns the others, which are valid until the
 * next call of this function or row_spill_read.
 */
extern const ColumnBatch *row_spill_divide(RowSpill *spill, const ColumnBatch *batches);

/* Writes the rows of a batch that are refused; the batch keeps all of its rows. */
extern void row_spill_write(RowSpill *spill, const ColumnBatch *batches);

/* Begins to read a partition, and closes the one before; false if there is none left. */
extern bool row_spill_next(RowSpill *spill);

/* Returns the number of the partition that is read, by the hash that divided its rows. */
extern int	row_spill_partition(const RowSpill *spill);

/*
 * Returns the next rows of the partition, valid until the next call of this function or
 * row_spill_divide; NULL at its end.
 */
extern const ColumnBatch *row_spill_read(RowSpill *spill);

extern uint64 row_spill_disk(const RowSpill *spill);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_ROW_SPILL_H */
