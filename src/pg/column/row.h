/*
 * row.h
 *		Where the values of columns lie in the rows of a heap, and reading them.
 *
 * A page's rows are noted by row_note first, and their values read by rows_read
 * then, column by column.  The page is pinned, not necessarily locked, between the
 * two.  One column, the early one, may be read as the rows are noted, while their
 * headers are waited for: of a scan of one column that takes 73 ms (see reader.c),
 * reading it afterwards makes 79.
 */
#ifndef HPSORT_PG_COLUMN_ROW_H
#define HPSORT_PG_COLUMN_ROW_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "pg/column/batch.h"
#include "pg/values/value.h"

/* One column before the last that is read, for walking over it. */
typedef struct WalkStep
{
	int16		length;			/* as attlen: -1 varlena, -2 cstring */
	uint8		align;			/* in bytes */
} WalkStep;

typedef struct RowColumn
{
	AttrNumber	attnum;
	ColumnKind	kind;
	int			batch;			/* index of its ColumnBatch */
	int			offset;			/* from the start of a row's data, if it has no NULLs before the
								 * column; -1 if that varies */
	bool		wide;			/* goes to ColumnBatch.wide */
	ColumnImage image;			/* of COLUMN_KIND_IMAGE ... */
	int16		length;			/* ... and of its values, as attlen ... */
	bool		byval;			/* ... and attbyval */
	const char *null;			/* what is read in place of a NULL */
	const char *missing;		/* the same of rows older than the column */
	const char **places;		/* where a page's values lie, if not all are at offset */
} RowColumn;

/* The columns that are read of one table. */
typedef struct RowLayout
{
	int			ncolumns;
	RowColumn  *columns;		/* ascending by attnum */
	int			nfixed;			/* the first nfixed of them are at fixed offsets */
	AttrNumber	last_fixed;		/* attnum of the last of those; 0 if none */
	int			early;			/* one of those that has 4 bytes; -1 if none */
	uint32		early_flip;		/* its values XOR this are its keys */
	WalkStep   *steps;			/* of columns 1 .. the last one read */
	AttrNumber	known_attnum;	/* last column at a fixed offset, read or not ... */
	int			known_offset;	/* ... and where it is */
	const char *blank;			/* zeros, long enough for all fixed columns */
} RowLayout;

/* The rows of one page. */
typedef struct NotedRows
{
	int			n;
	bool		early_read;		/* the keys of the early column are in its batch already */
	int			nwalked;
	HeapTupleHeader rows[MaxHeapTuplesPerPage];

	/* Where the offsets of fixed columns count from: a row's data, or layout->blank ... */
	const char *data[MaxHeapTuplesPerPage];

	/* ... in place of rows that lack one of them, or have a NULL there or before: these. */
	uint16		walked[MaxHeapTuplesPerPage];
} NotedRows;

/*
 * Describes columns, of which column_kind knows the types, but of those that images, which may be
 * NULL, has functions for.  keys: as in ColumnScan.  Its memory is the current memory context's.
 */
extern void row_layout_init(RowLayout *layout, TupleDesc desc, int ncolumns,
							const AttrNumber *attnums, const ColumnImage *images, bool keys);

/* Adds the values of noted rows to batches, one element for each column. */
extern void rows_read(RowLayout *layout, const NotedRows *rows, ColumnBatch *batches);

/* Adds the values of the row in a slot. */
extern void row_read_slot(const RowLayout *layout, TupleTableSlot *slot, ColumnBatch *batches);

/* Makes a tuple of the row at a line of a page, for functions of core. */
static inline void
row_tuple(HeapTupleData *tuple, Relation rel, Page page, BlockNumber block, OffsetNumber line)
{
	ItemId		item = PageGetItemId(page, line);

	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(rel);
	ItemPointerSet(&tuple->t_self, block, line);
}

/* Whether one of the first attnum columns is NULL in a row that has NULLs and these columns. */
static inline bool
row_has_null_among(HeapTupleHeader row, AttrNumber attnum)
{
	const uint8 *bits = row->t_bits;
	int			i;

	for (i = 0; i < attnum / 8; i++)
		if (bits[i] != 0xFF)
			return true;
	return attnum % 8 != 0 && (~bits[i] & ((1 << attnum % 8) - 1)) != 0;
}

/* Notes row i of a page; returns where offsets of fixed columns count from. */
static pg_attribute_always_inline const char *
row_note(const RowLayout *layout, NotedRows *rows, int i, HeapTupleHeader row)
{
	const char *data = (const char *) row + row->t_hoff;

	if (unlikely(HeapTupleHeaderGetNatts(row) < layout->last_fixed ||
				 ((row->t_infomask & HEAP_HASNULL) != 0 &&
				  row_has_null_among(row, layout->last_fixed))))
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

/*
 * Whether a row is visible by its hint bits alone: inserted by a transaction
 * that was over before the snapshot, whose oldest running one is xmin, and
 * never deleted.  Most rows of a table that has not been vacuumed yet are.
 * False does not mean that the row is invisible.
 */
static pg_attribute_always_inline bool
row_surely_visible(HeapTupleHeader row, TransactionId xmin)
{
	uint16		bits = row->t_infomask;

	if ((bits & (HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID)) !=
		(HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID))
		return false;
	if ((bits & HEAP_XMIN_FROZEN) == HEAP_XMIN_FROZEN)
		return true;
	return TransactionIdIsNormal(HeapTupleHeaderGetRawXmin(row)) &&
		(int32) (HeapTupleHeaderGetRawXmin(row) - xmin) < 0;
}

#endif							/* HPSORT_PG_COLUMN_ROW_H */
