/*
 * resident_rows.h
 *		ResidentRows: a query of the GPU about rows in the valid blocks of the extents of a scan, or
 *		of several scans.
 *
 * The GPU keeps copies of extents by their generation, and is given extents that it lacks.  Scans
 * of several tables, which have different extents, are one query if their columns are of the same
 * types, without numbers of values, and are compared with the same constants: keys are then made
 * of all rows in the same way.  There are two queries:
 *
 * - Rows are sorted by a key of some columns, for a ResidentRowsHandler, which then looks keys
 *   up, and may have rows found by their keys.  The GPU also evaluates the conditions of the scan's
 *   filter.  It sorts the rows of all extents or of none; in the latter case the scans read
 *   them.
 * - The values of one column of one scan are counted: the GPU returns their runs.  Extents that it
 *   has not counted, for whatever reason, are read by the scan.
 */
#ifndef HPSORT_PG_RESIDENT_GPU_RESIDENT_ROWS_H
#define HPSORT_PG_RESIDENT_GPU_RESIDENT_ROWS_H

#include "postgres.h"

#include "pg/resident/extents/extents.h"
#include "pg/resident/filter/resident_filter.h"
#include "pg/resident/gpu/resident_pays.h"
#include "sort/rows/rows_job.h"

typedef struct ResidentRows ResidentRows;

/*
 * Makes a query about rows of these columns, of all scans that will join, whose tables have so many
 * stripes together (resident_pays_stripes).  The first nkeys columns make the keys that jobs sort.
 * Without jobs, values are counted of one column of one scan, without a filter.  Returns NULL if
 * the CPU is expected to be faster.  In the current memory context.
 */
extern ResidentRows *resident_rows_make(const ResidentSummary *columns, int ncolumns, int nkeys,
										const ResidentJobs *jobs, uint32 stripes);

/*
 * Has a scan of a table of nblocks blocks take part in the query, with its columns, and filter or
 * NULL.  Returns an empty list for its extents, in the current memory context; NULL if its filter
 * is not that of the scans before.  What is given and returned must outlive the query.  If there
 * are several scans, columns have no numbers.
 */
extern LeftExtents *resident_rows_join(ResidentRows *rows, SourceColumn *columns, int ncolumns,
									   ResidentFilter *filter, BlockNumber nblocks);

/*
 * Whether the GPU takes an extent, as the columns' readers know it: its values are near enough to
 * those that were in memory when the query was made, and its numbers are of the same values as
 * those of the extents added before.
 */
extern bool resident_rows_takes(const ResidentRows *rows, const SourceColumn *columns,
								uint32 number);

/*
 * Adds an extent that the GPU takes, with its valid blocks, to a scan's list.  Returns false if the
 * extent is not needed, and adds its rows to *refused: all its blocks are valid, and bounds say
 * that no row passes the filter.
 */
extern bool resident_rows_add(ResidentRows *rows, LeftExtents *left, SourceColumn *columns,
							  uint32 number, const ResidentBlocks *valid, uint64 *refused);

/*
 * When all extents of all scans have been added: calls the handler, once, and returns whether it
 * has answered.
 */
extern bool resident_rows_ask(ResidentRows *rows, ResidentRowsHandler *handler);

/* --- for a ResidentRowsHandler, which is called once */

/* Returns which value of column c, as batches have it, is 0 for the GPU: of narrow kinds 0. */
extern int64 resident_rows_origin(const ResidentRows *rows, int c);

/*
 * Whether the GPU has numbers of column c's values.  Sets *value to that of a number within the
 * column's bounds, valid until the next call; false if the values have been given up.
 */
extern bool resident_rows_have_numbers(const ResidentRows *rows, int c);
extern bool resident_rows_value(const ResidentRows *rows, int c, uint32 number, Datum *value);

/*
 * The bounds of column c's values in rows that may pass, as distances from its origin (lo > hi:
 * none), and whether there are NULLs.
 */
extern void resident_rows_bounds(const ResidentRows *rows, int c, int32 *lo, int32 *hi,
								 bool *nulls);

/* The bounds of all values of column c, whatever conditions refuse, and whether there are NULLs. */
extern void resident_rows_all_bounds(const ResidentRows *rows, int c, int32 *lo, int32 *hi,
									 bool *nulls);

/*
 * Whether the conditions of all rows accept a value of column c, as the GPU has it; also a number
 * that extents do not have.
 */
extern bool resident_rows_accept(const ResidentRows *rows, int c, int32 value);

/*
 * Has the values of column c from the layout's lo to its last add to keys what map has, in this
 * order, instead of their distances; rows whose value has ROWS_NO_MATCH are refused.  The layout
 * says whether NULLs pass.  For all further jobs; map must outlive them.
 */
extern void resident_rows_map(ResidentRows *rows, int c, const uint32 *map);

/*
 * Has the GPU put keys in order: keys of rows, of those that a filter of the scan accepts (-1: of
 * all), and n other keys.  layout says how rows become keys; its first columns have been filled in
 * but for origins and conditions.  Returns false if the GPU could not.  There is one job at a time.
 */
extern bool resident_rows_sort(ResidentRows *rows, int filter, RowsLayout *layout, int32 lo,
							   int32 hi, const int32 *keys, size_t n);

/*
 * Returns how many keys there are, other keys among them.  Needs a resident_rows_sort that
 * succeeded.
 */
extern int64 resident_rows_keys(const ResidentRows *rows);

/* Answers questions about them, as SortDevice.look_up; false if the GPU could not. */
extern bool resident_rows_look(ResidentRows *rows, SortLook look, const void *questions, size_t n,
							   void *answers);

/* Counts a failure of the GPU, whose answers cannot be, and lets go of it.  Returns false. */
extern bool resident_rows_are_wrong(ResidentRows *rows);

/*
 * Behind a resident_rows_sort by this layout, of rows that the scan's filter accepts: has the GPU
 * find the rows whose keys lie in n ranges, which ascend.  If the handler then returns true, the
 * scan reads these rows, and of extents that have been given up all others as well.  Returns false
 * if the GPU could not, or if so many blocks have some that there is nothing to be gained.
 */
extern bool resident_rows_find(ResidentRows *rows, RowsLayout *layout, const ValueRange *keys,
							   size_t n);

/* Lets go of the GPU.  Also after an error, or where there was no job. */
extern void resident_rows_end(ResidentRows *rows);

/* --- for the scan again */

/*
 * If the handler has answered: returns how many blocks of a scan's list it has answered for, of
 * which none is to be read (LeftExtents.valid).  At the first call it adds the rows of all scans
 * that did not pass the filter to *refused, those of the other blocks among them.
 */
extern int64 resident_rows_answered(ResidentRows *rows, LeftExtents *left, uint64 *refused);

/* What was found in an extent. */
typedef struct ResidentFound
{
	ResidentBlocks blocks;		/* which have some of the rows */
	const int32 *rows;			/* n of them: their numbers in the extent, which ascend */
	size_t		n;				/* 0: it is not known which rows */
} ResidentFound;

/*
 * Returns what was found in the extent of an index in the only scan's list; NULL if rows were not
 * sought.
 */
extern const ResidentFound *resident_rows_found(const ResidentRows *rows, size_t index);

typedef struct ResidentCounts
{
	Runs		runs;			/* of the values; the ResidentRows' */
	int64		values;			/* in the runs, however often each occurs */
	int64		nulls;			/* counted, but in no run */
	int64		blocks;			/* that were counted */
} ResidentCounts;

/*
 * Has the GPU count.  Of the extents that it has counted, no block is to be read
 * (LeftExtents.valid).
 */
extern void resident_rows_count(ResidentRows *rows, ResidentCounts *counts);

#endif							/* HPSORT_PG_RESIDENT_GPU_RESIDENT_ROWS_H */
