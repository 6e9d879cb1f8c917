/*
 * row.h
 *		Where the values of columns lie in the rows of a heap, and reading them.
 *
 * A page's rows are noted by row_note first, and their values read by rows_read
 * then, column by column.  The page is pinned, not necessarily locked, between the
 * two.  Between the two, conditions may refuse rows (row_filter.h): their columns are found first,
 * and rows_keep() forgets the refused rows, of which nothing behind these columns is looked at.
 * One column, the early one, may be read as the rows are noted, while their
 * headers are waited for: of a scan of one column that takes 73 ms (see reader.c),
 * reading it afterwards makes 79.
 */
#ifndef HPSORT_PG_PAGES_ROW_H
#define HPSORT_PG_PAGES_ROW_H

#include "access/tupdesc.h"
#include "executor/tuptable.h"

#include "pg/pages/heap_format.h"
#include "pg/values/values.h"

/*
 * A column at which walking over a row stops: the first one, one that is read, one of varying
 * length.  All columns between two stops are of fixed lengths, so that the way from the end of one
 * stop to the next depends on the alignment of that end alone.
 */
typedef struct WalkStop
{
	AttrNumber	attnum;
	int16		length;			/* as attlen: -1 varlena, -2 cstring */
	uint8		align;			/* in bytes */
	bool		roomy;			/* varlena: the row goes on for as long as a long header is, and
								 * its alignment, wherever the column begins */
	uint16		skip[MAXIMUM_ALIGNOF];	/* by the end of the stop before, modulo MAXIMUM_ALIGNOF:
										 * bytes of the columns between, none of which is NULL,
										 * and of the alignment of a stop of fixed length */
} WalkStop;

typedef struct RowColumn
{
	AttrNumber	attnum;
	ColumnKind	kind;			/* NONE: of a text's condition, or null_only */
	bool		null_only;		/* only whether it is NULL is read */
	int			stop;			/* index of its WalkStop */
	int			batch;			/* index of its ColumnBatch; -1: it is read for condition only */
	const FilterCondition *condition;
	const KeySet *keys;			/* the condition's, or of its ranges; NULL: these are compared */
	bool		excluded;		/* keys are refused, and other values accepted */
	int			filter;			/* of which filter it is a condition: RowCondition.filter */
	bool		further;		/* RowCondition.further */
	uint64		tested;			/* rows, by an optional condition; and how many it refused */
	uint64		refused;
	int			offset;			/* from the start of a row's data, if it has no NULLs before the
								 * column; -1 if that varies */
	bool		wide;			/* goes to ColumnBatch.wide */
	NumericUnit unit;			/* of COLUMN_KIND_NUMERIC */
	ColumnImage image;			/* of COLUMN_KIND_IMAGE and COLUMN_KIND_NUMBER ... */
	int16		length;			/* ... and of its values, as attlen ... */
	bool		byval;			/* ... and attbyval */
	const char *null;			/* what is read in place of a NULL */
	const char *missing;		/* what is read of rows older than the column */
	const char **places;		/* where a page's values lie, if not all are at offset */
} RowColumn;

/* A condition of a filter, whose column is read for it. */
typedef struct RowCondition
{
	const FilterCondition *condition;
	int			filter;			/* 0: the qual; else one more than the number of another filter */
	bool		further;		/* it is one of the scan's further conditions */
} RowCondition;

/* The columns that are read of one table. */
typedef struct RowLayout
{
	int			ncolumns;
	RowColumn  *columns;		/* ascending by attnum; of one, conditions of keys last */
	int			nconditions;
	int		   *conditions;		/* the columns that have one, in the order of evaluation */
	int			nfixed;			/* the first nfixed of them are at fixed offsets */
	AttrNumber	last_fixed;		/* attnum of the last fixed column; 0 if none */
	int			early;			/* a fixed column of 4 bytes; -1 if none */
	uint32		early_flip;		/* its values XOR this are its keys */
	TupleDesc	desc;
	AttrNumber	last;			/* attnum of the last column; 0 if none */
	WalkStop   *stops;			/* ascending by attnum, up to the last column read */
	AttrNumber	known_attnum;	/* last column at a fixed offset, read or not ... */
	int			known_offset;	/* ... where it is ... */
	int			known_stop;		/* ... and the index of its stop */
	const char *blank;			/* zeros, long enough for all fixed columns */
} RowLayout;

/* A place in a row: where a stop is; if it is NULL, where the column before it ends. */
typedef struct RowPlace
{
	uint16		stop;
	uint16		offset;
} RowPlace;

/* The rows of one page. */
typedef struct NotedRows
{
	int			n;
	int			nnoted;			/* rows, before any was forgotten */
	int			nlocated;		/* the first columns of the layout, which have been found */
	bool		regular;		/* once they are walked over: all rows have the layout's columns
								 * and all before, none of them NULL ... */
	int			stop;			/* ... where the last places found are, of regular rows */
	int			reach;			/* of the page before as well: byte of a row up to which at least
								 * half of the rows noted were read */
	bool		early_read;		/* the keys of the early column are in its batch already */
	Page		ahead;			/* the page behind this one, pinned, or NULL ... */
	int			ahead_left;		/* ... and how many of its rows, the first ones, will be
								 * prefetched once this page's rows have been noted */
	int			nloops;			/* over all rows noted: rows_begin_loop */
	int			nwalked;
	HeapTupleHeader rows[MaxHeapTuplesPerPage];
	OffsetNumber lines[MaxHeapTuplesPerPage];	/* if the caller wants them */
	RowPlace	last[MaxHeapTuplesPerPage]; /* the last place found, of rows that are walked over */

	/* Where the offsets of fixed columns count from: a row's data, or layout->blank ... */
	const char *data[MaxHeapTuplesPerPage];

	/* ... in place of rows that lack one of them, or have a NULL there or before: these. */
	uint16		walked[MaxHeapTuplesPerPage];
} NotedRows;

/*
 * Makes *layout the layout of the columns of a scan, and of those of nconditions conditions, in
 * the current memory context.
 */
extern void row_layout_init(RowLayout *layout, const ColumnScan *scan, int nconditions,
							const RowCondition *conditions);

/*
 * Rows of the page ahead that are prefetched at once: a core has some 16 reads of memory under way,
 * and waits for one of them if more are asked for.  On the way to the next page there is time for
 * three times as many.  Rows of one of 1,000 keys, counted out of 4e6 rows of 60 bytes: 40 to 42 ms
 * of processor time; 43 to 47 if all rows ahead are prefetched while rows are noted (Intel Xeon,
 * PostgreSQL 17).
 */
#define ROWS_AT_ONCE 12
#define ROWS_AT_END (3 * ROWS_AT_ONCE)

/* Prefetches up to n more rows of the page ahead, the last ones first. */
static inline void
rows_prefetch(NotedRows *rows, int n)
{
	int			left = Max(rows->ahead_left - n, 0);

	for (; rows->ahead_left > left; rows->ahead_left--)
		heap_format_prefetch_row(rows->ahead, rows->ahead_left);
}

/*
 * A loop over all rows noted begins: prefetches a few rows of the page ahead, so that memory is
 * read while values that are in the cache are worked on.
 */
static inline void
rows_begin_loop(NotedRows *rows)
{
	if (2 * rows->n <= rows->nnoted)
		return;
	rows->nloops++;
	rows_prefetch(rows, ROWS_AT_ONCE);
}

/*
 * Forgets what was noted of the page before.  ahead is the page behind this one, or NULL if none is
 * to be prefetched; of its first rows, up to lines, those are left for later for which there will
 * be time if there are as many loops as over the rows of the page before.
 */
static inline void
rows_begin(NotedRows *rows, bool early_read, Page ahead, int lines)
{
	int			left = rows->nloops > 0 ? rows->nloops * ROWS_AT_ONCE + ROWS_AT_END : 0;

	rows->n = rows->nnoted = rows->nlocated = rows->nwalked = rows->nloops = 0;
	rows->early_read = early_read;
	rows->ahead = ahead;
	rows->ahead_left = ahead ? Min(left, lines) : 0;
}

/*
 * Finds the first ncolumns columns of the layout in all rows noted.  Columns are found in their
 * order, once each.
 */
extern void rows_locate(RowLayout *layout, NotedRows *rows, int ncolumns);

/*
 * Whether column c of the layout, which has been found, is at its places; it is at its offset from
 * the rows' data otherwise.
 */
static inline bool
rows_are_walked(const RowLayout *layout, const NotedRows *rows, int c)
{
	return c >= layout->nfixed || rows->nwalked > 0;
}

/* Keeps n of the rows noted, by their numbers, which ascend. */
extern void rows_keep(RowLayout *layout, NotedRows *rows, const uint16 *kept, int n);

/* Adds the values of noted rows to batches, one element for each column. */
extern void rows_read(RowLayout *layout, NotedRows *rows, ColumnBatch *batches);

/*
 * Whether a dictionary of the columns (dictionary_ends_batch), or what makes images of one, wants
 * no more rows in the batches.
 */
extern bool rows_end_batch(const RowLayout *layout);

/* Adds the values of the row in a slot. */
extern void row_read_slot(const RowLayout *layout, TupleTableSlot *slot, ColumnBatch *batches);

/* Notes row i of a page; returns where offsets of fixed columns count from. */
static pg_attribute_always_inline const char *
row_note(const RowLayout *layout, NotedRows *rows, int i, HeapTupleHeader row)
{
	const char *data = heap_format_data(row);

	if (unlikely(!heap_format_has_all(row, layout->last_fixed)))
	{
		data = layout->blank;
		rows->walked[rows->nwalked++] = i;
	}
	rows->rows[i] = row;
	rows->data[i] = data;
	return data;
}

/*
 * The key of the early column of a row that has just been noted, from what row_note
 * has returned.
 */
static pg_attribute_always_inline int32
row_early_key(const RowLayout *layout, const char *data)
{
	const RowColumn *column = &layout->columns[layout->early];

	return *(const int32 *) (data + column->offset) ^ (int32) layout->early_flip;
}

#endif							/* HPSORT_PG_PAGES_ROW_H */
