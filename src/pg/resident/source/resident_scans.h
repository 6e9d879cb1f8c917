/*
 * resident_scans.h
 *		Scans of resident columns, before they are opened: whether and which columns they may read
 *		from extents; and several scans whose rows one handler answers together.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SCANS_H
#define HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SCANS_H

#include "postgres.h"

#include "pg/resident/filter/resident_filter.h"
#include "pg/resident/gpu/resident_rows.h"
#include "pg/values/values.h"

/*
 * Whether a scan of a heap of nblocks blocks, whose snapshot is set, may read its columns from
 * extents, as far as it is known without its filters.
 */
extern bool resident_scan_is_allowed(const ColumnScan *scan, BlockNumber nblocks);

/*
 * Sets *attnums to the columns that a scan reads, those of its filters behind its own, and *filter
 * to the filters, NULL if there are none, in the current memory context.  Returns how many columns;
 * 0 if not all are declared resident, or filters cannot be evaluated in memory.  pages is for
 * resident_filter_make.
 */
extern int	resident_scan_columns(const ColumnScan *scan, BatchPages *pages,
								  ResidentFilter **filter, const AttrNumber **attnums);

/*
 * Returns a query about the resident rows of n scans together, for their handler, of keys of the
 * same columns; NULL if the GPU is not expected to pay, or counts each scan's values by itself.  In
 * the current memory context.
 */
extern ResidentRows *resident_scans_rows(const ColumnScan *scans, int n,
										 const ResidentRowsHandler *handler);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SCANS_H */
