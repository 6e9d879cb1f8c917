/*
 * resident_estimate.c
 *		How much of a table's columns is resident (see resident_estimate.h).
 */
#include "postgres.h"

#include "access/table.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "pg/column/residency.h"
#include "pg/column/resident_estimate.h"
#include "pg/column/resident_rows.h"
#include "pg/compat.h"
#include "pg/interrupts.h"
#include "pg/resident/kept.h"
#include "pg/resident/resident.h"
#include "pg/sort_context.h"
#include "sort/extent_job.h"

ResidentEstimate
resident_estimate(Oid relid, int ncolumns, int nkeys, const AttrNumber *attnums, double tuples, bool looked_up)
{
	ResidentEstimate estimate = {0};
	ResidentSummary *summaries;
	Relation	rel;
	int			c;

	if (!resident_enabled() || ncolumns == 0 || tuples <= 0 || !resident_keeps_any())
		return estimate;
	for (c = 0; c < ncolumns; c++)
		if (!resident_is_kept(relid, attnums[c]))
			return estimate;
	summaries = palloc0_array(ResidentSummary, ncolumns);
	rel = table_open(relid, NoLock);
	if (RELKIND_HAS_STORAGE(rel->rd_rel->relkind) &&
		residency_refusal(rel, RelationGetNumberOfBlocks(rel)) == NULL)
		estimate.share = 1;
	for (c = 0; c < ncolumns && estimate.share > 0; c++)
	{
		ResidentKey key;

		residency_key(rel, attnums[c], &key);
		if (!resident_summarize(&key, &summaries[c]))
			summaries[c].rows = 0;
		estimate.share = Min(estimate.share, (double) summaries[c].rows / tuples);
	}
	table_close(rel, NoLock);
	if (looked_up && estimate.share > 0)
		estimate.gpu = resident_rows_pay(summaries, ncolumns, nkeys);
	if (ncolumns == 1 && nkeys == 1 && estimate.share > 0 && !estimate.gpu)
	{
		SortContext context;

		pg_sort_context(&context, CurrentMemoryContext);
		estimate.gpu = extent_job_pays(&context, (uint64) summaries[0].rows, summaries[0].lo, summaries[0].hi);
		pg_check_interrupts();
	}
	pfree(summaries);
	return estimate;
}
