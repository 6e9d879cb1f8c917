/*
 * resident_filter.h
 *		ResidentFilter: the filters of a scan, evaluated on resident extents.
 *
 * The filters are ColumnScan's qual, with its conditions, and its filters.  They accept the rows
 * that the executor's evaluation accepts, which decides of rows that are read from pages.
 */
#ifndef HPSORT_PG_RESIDENT_FILTER_RESIDENT_FILTER_H
#define HPSORT_PG_RESIDENT_FILTER_RESIDENT_FILTER_H

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
 * Sets *attnums to the columns that are read: the scan's, then others that filters want.  Returns
 * how many there are.
 */
extern int	resident_filter_columns(const ResidentFilter *filter, const AttrNumber **attnums);

/* Says where column c of these is read.  The column must outlive the filter. */
extern void resident_filter_read(ResidentFilter *filter, int c, const SourceColumn *column);

/*
 * A filter's condition of one column: which values it accepts, in general and of the extent begun.
 */
typedef struct ColumnFilter
{
	int			column;			/* number among the columns read */
	bool		nulls;			/* NULLs are accepted */
	ExtentFilter values;		/* the set of values that are accepted */
	struct ValueMembers *members;	/* which values are, if extents have numbers of them */
	ExtentMatch values_match;	/* values that are not NULL, of the extent begun */
	ExtentMatch match;			/* rows, NULLs among them */
} ColumnFilter;

/*
 * Returns what the scan's qual (f < 0), or its filter f, asks of column c of these, of values that
 * have numbers the first of perhaps several conditions; NULL if it asks nothing, or there is no
 * filter.
 */
extern const ColumnFilter *resident_filter_condition(const ResidentFilter *filter, int f, int c);

/*
 * Whether two filters, of which each may be NULL, accept the same values of each of the columns
 * that they read, in their order, as far as these have no numbers: false is always right.
 */
extern bool resident_filter_is_same(const ResidentFilter *a, const ResidentFilter *b);

/*
 * Of column c of these, whose extents have numbers: sets the bits of the first n numbers, which its
 * dictionary knows, whose values the scan's qual (f < 0), or its filter f, accepts, and clears all
 * others of the words; and *nulls, if it accepts NULLs.  Returns false if the values have been
 * given up.
 */
extern bool resident_filter_numbers(ResidentFilter *filter, int f, int c, uint32 n,
									uint32 *words, size_t nwords, bool *nulls);

/*
 * Begins an extent that the readers of all columns have begun, and whose values their dictionaries
 * know.  Sets *match to which of its rows the scan's qual accepts, as far as the extent's bounds
 * say.  Returns false if values of a dictionary have been given up.
 */
extern bool resident_filter_begin(ResidentFilter *filter, ExtentMatch *match);

/*
 * Of an extent of which no row is accepted: whether the scan's further conditions say so, and not
 * the qual.
 */
extern bool resident_filter_is_unmatched(const ResidentFilter *filter);

/* Whether the scan has no qual, so that only the cutoff leaves out rows. */
extern bool resident_filter_only_cuts(const ResidentFilter *filter);

/*
 * Adds the rows of blocks from .. to - 1 that pass the qual and the cutoff to the scan's batches,
 * which have room for all rows of these blocks, at most COLUMN_BATCH_KEYS. first is the first block
 * of the extent, for which resident_filter_begin has not returned EXTENT_NONE.  Returns how many
 * rows pass the qual and the scan's further conditions, and sets *matched to how many pass the
 * qual.
 */
extern size_t resident_filter_add(ResidentFilter *filter, BlockNumber first, int from, int to,
								  ColumnBatch *batches, size_t *matched);

#endif							/* HPSORT_PG_RESIDENT_FILTER_RESIDENT_FILTER_H */
