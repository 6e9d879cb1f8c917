/*
 * batch.h
 *		ColumnBatch: what a ColumnReader returns of one column at a time.
 *
 * A batch has room for a number of rows.  How many rows a page, an extent or a run has is not
 * known when the room is chosen, and statistics of the table may be wrong.  Hence the arrays are
 * read-only for all but the functions below: whoever appends rows gets the arrays from
 * column_batch_space, which refuses more rows than there is room for.
 */
#ifndef HPSORT_PG_VALUES_BATCH_H
#define HPSORT_PG_VALUES_BATCH_H

#include "storage/block.h"
#include "storage/buf.h"
#include "storage/off.h"

#include "pg/compat.h"
#include "sort/extents/extent.h"
#include "sort/runs/runs.h"
#include "sort/sorter/sorter.h"

/*
 * Keys of one column in a batch, at most: 32 kB, which stay in the first- or second-level
 * cache until they have been counted.  Larger batches are no faster.  Batches of a small table
 * have no more room than that needs: of 1,000 rows in nine pages, memory that malloc gets from the
 * kernel and gives back each time took a third of a sort.
 */
#define COLUMN_BATCH_KEYS 8192

StaticAssertDecl(COLUMN_BATCH_KEYS <= PG_UINT16_MAX, "numbers of rows have 16 bits");

/* A row's TID as an integer. */
#define COLUMN_TID(block, line) ((int64) (block) << 16 | (line))
#define COLUMN_TID_BLOCK(tid) ((BlockNumber) ((tid) >> 16))
#define COLUMN_TID_LINE(tid) ((OffsetNumber) ((tid) & 0xFFFF))

/*
 * A page, and the buffer that it was read from, which may hold another one by now; InvalidBuffer
 * if it was not read.
 */
typedef struct PageBuffer
{
	BlockNumber block;
	Buffer		buffer;
} PageBuffer;

/* The pages that have rows in a batch, in the order of their rows. */
typedef struct BatchPages
{
	int			n;
	int			room;			/* as much as batches have */
	PageBuffer *pages;
} BatchPages;

/*
 * Some rows of one column, or of one filter.
 *
 * Row i of a batch is element i of all its columns and filters, n is the number of rows, and
 * the key of a NULL is 0.  Where the scan wants the rows' TIDs, they are one more element, of
 * which only n and wide are set.  A batch of a scan of one column may have packed values, or
 * runs, in place of rows.
 */
typedef struct ColumnBatch
{
	size_t		room;			/* of the arrays */
	size_t		n;				/* rows */
	const int32 *keys;			/* of narrow kinds: the value less column_kind_bias */
	const int64 *wide;			/* of wide kinds, unless the scan is of keys: the value; of TIDs:
								 * COLUMN_TID of the row */
	const uint8 *nulls;			/* 1 where a row is NULL, else 0; of a filter: 1 where it is not
								 * true.  Always set. */
	int64		nnulls;			/* rows of this batch that are NULL, or for which the filter is
								 * not true */
	PackedKeys	packed;			/* in a scan that takes packed batches: with n > 0 in it, all
								 * values are here, more than there is room for perhaps, and none
								 * is NULL; keys, wide and nulls are unused */
	const Runs *runs;			/* in a scan that takes runs: if there are, all n values are here,
								 * not in the order of their rows; keys, wide, nulls and packed
								 * are unused.  Valid until the next batch.  In a scan of keys,
								 * nnulls rows are NULL besides. */
} ColumnBatch;

/* The value of a row that is not NULL: of narrow kinds, less column_kind_bias. */
static inline int64
column_batch_value(const ColumnBatch *batch, size_t row)
{
	return batch->keys ? batch->keys[row] : batch->wide[row];
}

/* Where rows of a batch are written: its arrays from one row on; NULL for each that it has not. */
typedef struct BatchSpace
{
	int32	   *keys;
	int64	   *wide;
	uint8	   *nulls;
} BatchSpace;

/* Which arrays a batch has. */
#define BATCH_KEYS 1
#define BATCH_WIDE 2
#define BATCH_NULLS 4

/* Makes a batch without rows, with arrays for room rows in the current memory context. */
extern void column_batch_make(ColumnBatch *batch, int arrays, size_t room);

/*
 * Enlarges the arrays to room rows, more than they have room for.  They stay in their memory
 * context.
 */
extern void column_batch_enlarge(ColumnBatch *batch, size_t room);

/* Gives back the arrays. */
extern void column_batch_free(ColumnBatch *batch);

/* Raises the error that a batch has no room for n more rows, which only a mistake causes. */
pg_noreturn extern void column_batch_overflow(const ColumnBatch *batch, size_t n);

/*
 * Returns the batch's arrays from a row on.  Rows that there are already may be changed in place.
 */
static inline BatchSpace
column_batch_arrays(const ColumnBatch *batch, size_t row)
{
	BatchSpace	space = {
		.keys = batch->keys ? unconstify(int32 *, batch->keys) + row : NULL,
		.wide = batch->wide ? unconstify(int64 *, batch->wide) + row : NULL,
		.nulls = batch->nulls ? unconstify(uint8 *, batch->nulls) + row : NULL
	};

	return space;
}

/*
 * Where up to n more rows can be written, behind the batch's rows.  An error if there is no room
 * for n.  The rows become the batch's by column_batch_add; nothing behind them is the caller's.
 */
static inline BatchSpace
column_batch_space(const ColumnBatch *batch, size_t n)
{
	if (unlikely(batch->n > batch->room || n > batch->room - batch->n))
		column_batch_overflow(batch, n);
	return column_batch_arrays(batch, batch->n);
}

/* Writes a value in the width of the batch. */
static inline void
batch_space_set(const BatchSpace *space, size_t i, int64 value)
{
	if (space->keys)
		space->keys[i] = (int32) value;
	else
		space->wide[i] = value;
}

/* Adds n rows that have been written where column_batch_space said, nnulls of them NULL. */
static inline void
column_batch_add(ColumnBatch *batch, size_t n, size_t nnulls)
{
	Assert(batch->n <= batch->room && n <= batch->room - batch->n);
	batch->n += n;
	batch->nnulls += (int64) nnulls;
}

/* Takes all rows out; what is in the arrays stays there. */
static inline void
column_batch_empty(ColumnBatch *batch)
{
	batch->n = 0;
	batch->nnulls = 0;
	batch->packed.n = 0;
	batch->runs = NULL;
}

/* Appends a row. */
static inline void
column_batch_put(ColumnBatch *batch, int64 value, bool isnull)
{
	BatchSpace	space = column_batch_space(batch, 1);

	if (space.wide)
		space.wide[0] = value;
	else if (space.keys)
		space.keys[0] = (int32) value;
	if (space.nulls)
		space.nulls[0] = isnull;
	column_batch_add(batch, 1, isnull);
}

/* Takes all rows out, and unmarks NULLs of the whole room. */
extern void column_batch_clear(ColumnBatch *batch);

/* Makes the batch what it was before rows were appended to it: a copy of the struct. */
extern void column_batch_take_back(ColumnBatch *batch, const ColumnBatch *before);

/* Appends a row, n times or as often as there is room for; returns how often. */
extern size_t column_batch_repeat(ColumnBatch *batch, int64 value, bool isnull, uint64 n);

/*
 * Appends the rows of a batch to a batch of keys; wide values as their distances from origin.
 * Returns false, and appends nothing, if one of these is no int4.
 */
extern bool column_batch_append_narrow(ColumnBatch *batch, const ColumnBatch *rows,
									   int64 origin);

/* Appends the rows of a batch to a batch of wide values. */
extern void column_batch_append_wide(ColumnBatch *batch, const ColumnBatch *rows);

/* Writes packed values to keys, which hold all of them, or to wide if there are no keys. */
extern void batch_space_unpack(const BatchSpace *space, const PackedKeys *values);

/*
 * Makes the rows of a batch those of another one with these numbers, which ascend.  Both may be one
 * batch, unless rows are repeated: numbers follow each other that are the same.
 */
extern void column_batch_gather(ColumnBatch *batch, const ColumnBatch *from, const uint16 *rows,
								size_t n, bool repeated);

/* Appends packed values to a packed batch, whose values are in memory, of that many bytes. */
extern void column_batch_append_packed(ColumnBatch *batch, const PackedKeys *values, void *memory,
									   size_t bytes);

/* How far column_batch_next_rows has come; zeros at first. */
typedef struct BatchPosition
{
	size_t		at;				/* value of a packed batch, or run */
	uint64		used;			/* rows of this run */
} BatchPosition;

/*
 * Sets *rows to the next values of a packed batch, or of a batch of runs, as rows in that batch's
 * arrays: as many as fit there.  Returns false after the last value.
 */
extern bool column_batch_next_rows(const ColumnBatch *batch, BatchPosition *position,
								   ColumnBatch *rows);

/*
 * Copies the keys of rows that are not NULL to out, which may be the batch's own array; returns
 * how many.
 */
extern size_t column_batch_copy_keys(const ColumnBatch *batch, int32 *out);

/* Adds the runs or the packed values of a batch to a sorter, or if it has rows these n keys. */
extern void column_batch_sort(const ColumnBatch *batch, const int32 *keys, size_t n,
							  Sorter *sorter);

/*
 * Returns the keys of a batch of runs, each once, as rows in the batch's arrays: from run *at on,
 * as many as fit there.  *at is moved on.
 */
extern ColumnBatch column_batch_of_runs(const ColumnBatch *batch, size_t *at);

/* Makes a list without pages, with room for as many as batches have rows. */
extern void batch_pages_make(BatchPages *pages, size_t room);

/* Adds a page that has rows in the batch. */
extern void batch_pages_add(BatchPages *pages, BlockNumber block, Buffer buffer);

/*
 * Which rows the consumer of batches still wants: a wanted row's key of the first column is in lo
 * .. hi, or NULL.  Other rows may be left out of batches, and are counted.  The range may get
 * narrower from one batch to the next.
 */
typedef struct ColumnCutoff
{
	int64		lo;
	int64		hi;
	bool		descending;		/* the largest keys are wanted first, and lo grows; else hi
								 * shrinks */
	uint64		skipped;		/* rows left out so far */
} ColumnCutoff;

#endif							/* HPSORT_PG_VALUES_BATCH_H */
