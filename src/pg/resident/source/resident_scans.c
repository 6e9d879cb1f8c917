/*
 * resident_scans.c
 *		Scans of resident columns, before they are opened (see resident_scans.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/resident/extents/extents.h"
#include "pg/resident/source/resident_scans.h"

bool
resident_scan_is_allowed(const ColumnScan *scan, BlockNumber nblocks)
{
	return resident_enabled() && residency_refusal(scan->rel, nblocks) == NULL &&
		resident_keeps_any() &&
		resident_are_kept(RelationGetRelid(scan->rel), scan->ncolumns, scan->attnums) &&
		residency_is_allowed(scan->rel, scan->snapshot);
}

int
resident_scan_columns(const ColumnScan *scan, BatchPages *pages, ResidentFilter **filter,
					  const AttrNumber **attnums)
{
	int			n = scan->ncolumns;

	*attnums = scan->attnums;
	*filter = NULL;
	if (scan->qual || scan->conditions || scan->nfilters > 0 || scan->cutoff || n == 0)
	{
		*filter = resident_filter_make(scan, pages);
		if (*filter == NULL)
			return 0;
		n = resident_filter_columns(*filter, attnums);
	}
	return resident_are_kept(RelationGetRelid(scan->rel), n, *attnums) ? n : 0;
}

/*
 * Sets columns, which has room for ROWS_MAX_COLUMNS, to what is resident of a scan's columns, and
 * *filtered to whether rows may be refused.  Returns how many columns; 0 if the GPU cannot be asked
 * about them together with those of other scans, whose numbers of values would be others.
 */
static int
summarize(const ColumnScan *scan, ResidentSummary *columns, bool *filtered)
{
	ResidentFilter *filter;
	const AttrNumber *attnums;
	int			n;

	if (!RELKIND_HAS_STORAGE(scan->rel->rd_rel->relkind) ||
		!resident_scan_is_allowed(scan, RelationGetNumberOfBlocks(scan->rel)))
		return 0;
	n = resident_scan_columns(scan, NULL, &filter, &attnums);
	if (n > ROWS_MAX_COLUMNS)
		return 0;
	*filtered = filter != NULL;
	for (int c = 0; c < n; c++)
	{
		ResidentKey key;

		residency_key(scan->rel, attnums[c], &key);
		if (!residency_suits_gpu(scan->rel, attnums[c]) ||
			residency_domain(scan->rel, attnums[c]).kind == COLUMN_KIND_NUMBER ||
			!resident_summarize(&key, &columns[c]))
			return 0;
	}
	return n;
}

ResidentRows *
resident_scans_rows(const ColumnScan *scans, int n, const ResidentRowsHandler *handler)
{
	ResidentTables all = {.ntables = n};
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident Scans",
												 ALLOCSET_SMALL_SIZES);
	bool		counted = scans->runs;

	for (int i = 0; i < n; i++)
	{
		ResidentSummary columns[ROWS_MAX_COLUMNS];
		MemoryContext old = MemoryContextSwitchTo(memory);
		bool		filtered = false;
		int			ncolumns = summarize(&scans[i], columns, &filtered);

		CHECK_FOR_INTERRUPTS();
		if (ncolumns > 0)
		{
			BlockNumber nblocks = RelationGetNumberOfBlocks(scans[i].rel);

			if (resident_tables_add(&all, columns, ncolumns, nblocks))
				counted = counted && ncolumns == 1 && !filtered &&
					resident_rows_pay(columns, 1, 1, NULL, resident_pays_stripes(nblocks));
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(memory);
	}
	MemoryContextDelete(memory);
	if (all.ncolumns == 0 ||
		(counted && (handler->counted || resident_rows_are_counted(&all.columns[0]))) ||
		!resident_tables_pay(&all, scans->ncolumns, &handler->jobs))
		return NULL;
	return resident_rows_make(all.columns, all.ncolumns, scans->ncolumns, &handler->jobs,
							  all.stripes);
}
