/*
 * resident_filter.h
 *		ResidentFilter: the filters of a scan, evaluated on resident extents.
 *
 * The same rows are accepted as by the executor's evaluation of the filters (ColumnScan's qual and
 * filters), which decides of all blocks that are read from pages.
 */
#ifndef HPSORT_PG_RESIDENT_FILTER_RESIDENT_FILTER_H
#define HPSORT_PG_RESIDENT_FILTER_RESIDENT_FILTER_H

#include "postgres.h"

#include "pg/resident/extents/extents.h"
#include "pg/values/values.h"
#include "sort/extents/extent_filter.h"

typedef struct ResidentFilter ResidentFilter;

/*
 * Makes the filters of a scan, under the present values of their parameters, in the current memory
 * context.  Returns NULL if there are filters that are not known here.  pages gets the pages of
 * rows, if the scan wants TIDs.
 */
extern ResidentFilter *resident_filter_make(const ColumnScan *scan, BatchPages *pages);

/*
 * The columns that are read: those of the scan, then others that filters want.  Returns how many.
 */
extern int	resident_filter_columns(const ResidentFilter *filter, const AttrNumber **attnums);

/* Where column c of these is read. */
extern void resident_filter_read(ResidentFilter *filter, int c, const ExtentReader *reader);

/*
 * Of column c of these: the set of values that the scan's qual accepts, and whether NULLs; false
 * if it asks nothing of the column.
 */
extern bool resident_filter_condition(const ResidentFilter *filter, int c,
									  const ValueRange **ranges, size_t *nranges,
									  bool *nulls);

/*
 * All columns have begun an extent: which of its rows the scan's qual accepts, as far as is known.
 */
extern ExtentMatch resident_filter_begin(ResidentFilter *filter);

/* Whether the scan has no qual, so that only the cutoff leaves out rows. */
extern bool resident_filter_only_cuts(const ResidentFilter *filter);

/*
 * Adds those rows of blocks from .. to - 1 of an extent that begins with block first that the
 * qual accepts to the batches of the scan, which have room for all of them, if
 * resident_filter_begin did not say EXTENT_NONE; they are no more than COLUMN_BATCH_KEYS.  Returns
 * how many it accepts; of these, the cutoff leaves out some.
 */
extern size_t resident_filter_add(ResidentFilter *filter, BlockNumber first, int from, int to,
								  ColumnBatch *batches);

#endif							/* HPSORT_PG_RESIDENT_FILTER_RESIDENT_FILTER_H */
