/*
 * resident_rows_state.h
 *		What ResidentRows consist of, for the files that answer queries of them.
 */
#ifndef HPSORT_PG_RESIDENT_GPU_RESIDENT_ROWS_STATE_H
#define HPSORT_PG_RESIDENT_GPU_RESIDENT_ROWS_STATE_H

#include "postgres.h"

#include "pg/resident/extents/extents.h"
#include "pg/resident/filter/resident_filter.h"
#include "sort/rows/rows_job.h"

/* What is known of a column: bounds of all values, and whether there are NULLs. */
typedef struct ColumnBounds
{
	int64		origin;			/* values are distances from it for the GPU */
	int32		lo;
	int32		hi;
	bool		nulls;
	const uint32 *map;			/* resident_rows_map; NULL: none */

	/* of a column that has numbers */
	uint64		generation;		/* of the values; 0: there are none */
	ValueRange *mask;			/* resident_rows_know: of numbers that pass; NULL: all do */
	uint32		n;				/* resident_rows_know: numbers are less */
	bool		nulls_pass;
} ColumnBounds;

struct ResidentRows
{
	SortContext context;
	LeftPurpose purpose;
	int			ncolumns;
	List	   *columns;		/* SourceColumns, by scan that has joined */
	List	   *lists;			/* the extents, in these scans' lists of extents that are read
								 * later */
	ResidentFilter *filter;		/* the first one's, and the others have the same conditions */
	LeftExtents *left;			/* the only list, or all of them, once extents have been added */
	bool		asked;			/* the handler has been called ... */
	bool		answered;		/* ... and has returned this */
	ColumnBounds *bounds;		/* by column */

	/* a copy of one extent, while the GPU is given bytes */
	MemoryContext memory;
	char	   *bytes;
	Size		bytes_room;

	SortJob    *job;			/* NULL: there is none */
	uint32	   *stripes;		/* of RowsJob; NULL: not yet known */
	int64		nothers;		/* keys that are not of rows */
	int64		refused;		/* rows, by the filter's conditions, which the GPU evaluates */
	struct ResidentFound *found;	/* by extent; NULL: no rows were sought */
};

/* Returns the columns of the scan that has added the i-th extent of all, whose list it is. */
extern SourceColumn *resident_rows_columns_of(const struct ResidentRows *rows, size_t i);

/* Returns how many rows the last job had, passing or not. */
extern int64 resident_rows_count_all(const struct ResidentRows *rows);

/* Returns a job over all extents that have been added, whose keys have these bounds. */
extern RowsJob resident_rows_job_of(struct ResidentRows *rows, int32 lo, int32 hi);

/*
 * Completes a layout by the conditions of the qual and of a filter, and by n ranges of keys if rows
 * are to be found, and does the job of it; false if the GPU could not.
 */
extern bool resident_rows_do_job(struct ResidentRows *rows, int filter, RowsLayout *layout,
								 RowsJob *job, const ValueRange *keys, size_t n);

#endif							/* HPSORT_PG_RESIDENT_GPU_RESIDENT_ROWS_STATE_H */
