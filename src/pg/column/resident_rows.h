/*
 * resident_rows.h
 *		ResidentRows: the valid blocks of a scan's extents, whose rows the GPU shall put in order by a key.
 *
 * A scan leaves its valid blocks to whoever wants no rows, but some of their keys in order (ColumnTaker).  All blocks are
 * taken, or none: then the scan reads them.  Conditions of the scan's filter are the GPU's to evaluate as well.
 */
#ifndef HPSORT_PG_COLUMN_RESIDENT_ROWS_H
#define HPSORT_PG_COLUMN_RESIDENT_ROWS_H

#include "postgres.h"

#include "pg/column/resident_filter.h"
#include "pg/column/resident_valid.h"
#include "sort/rows_job.h"

typedef struct ResidentRows ResidentRows;

/*
 * Keys of these columns, of which the first nkeys make the key, and that filter, or NULL: NULL if the CPU had better
 * read them.  room: of extents, at first.  In the current memory context.
 */
extern ResidentRows *resident_rows_make(const ResidentSummary *columns, int ncolumns, int nkeys,
										const ResidentFilter *filter, size_t room);

/* Whether the GPU had better count a column's values, without conditions, than put them in order. */
extern bool resident_rows_are_counted(const ResidentSummary *column);

/* Whether rows with such bounds of the columns of their key are worth the GPU; asks for its costs. */
extern bool resident_rows_pay(const ResidentSummary *columns, int ncolumns, int nkeys);

/*
 * Adds an extent, as the columns' readers know it, and those of its blocks that are valid.  False if it is not needed: all blocks
 * are valid, and bounds say that no row passes the filter; then their number is added to *refused.
 */
extern bool resident_rows_add(ResidentRows *rows, const SourceColumn *columns, uint32 number,
							  const ResidentBlocks *valid, uint64 *refused);

/* --- for a ColumnTaker, which is called once */

/* The bounds of column c's values in rows that may pass, as batches have them (lo > hi: none), and whether there are NULLs. */
extern void resident_rows_bounds(const ResidentRows *rows, int c, int32 *lo, int32 *hi, bool *nulls);

/*
 * Has the GPU put keys in order: those of rows, by a layout whose first columns have been filled in but for conditions,
 * and n other keys.  False if it could not.
 */
extern bool resident_rows_sort(ResidentRows *rows, RowsLayout *layout, int32 lo, int32 hi, const int32 *keys,
							   size_t n);

/* How many keys there are. */
extern int64 resident_rows_keys(const ResidentRows *rows);

/* Answers questions about them, as SortDevice.look_up; false if the GPU could not. */
extern bool resident_rows_look(ResidentRows *rows, SortLook look, const void *questions, size_t n, void *answers);

/* The GPU is no longer needed. */
extern void resident_rows_end(ResidentRows *rows);

/* --- for the scan again */

/* Blocks, and rows of them that did not pass, if they were taken. */
extern int64 resident_rows_blocks(const ResidentRows *rows);
extern int64 resident_rows_refused(const ResidentRows *rows);

/*
 * If not, the next extent: the columns' readers have looked for it again.  False after the last one.
 */
extern bool resident_rows_next(ResidentRows *rows, SourceColumn *columns, uint32 *number, ResidentBlocks *valid);

#endif							/* HPSORT_PG_COLUMN_RESIDENT_ROWS_H */
