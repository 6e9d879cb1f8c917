/*
 * resident_estimate.c
 *		How much of a table's columns is resident (see resident_estimate.h).
 */
#include "postgres.h"

#include "access/table.h"
#include "access/visibilitymap.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "pg/compat.h"
#include "pg/resident/extents/extents.h"
#include "pg/resident/gpu/resident_rows.h"
#include "pg/resident/memory/memory.h"
#include "pg/resident/source/resident_estimate.h"

/* The part of a table's blocks that the present snapshot may take from memory if they are there. */
static double
usable_part(Relation rel)
{
	BlockNumber nblocks;
	BlockNumber visible;

	if (!RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
		return 0;
	nblocks = RelationGetNumberOfBlocks(rel);
	if (residency_refusal(rel, nblocks) != NULL ||
		(ActiveSnapshotSet() && !residency_is_allowed(rel, GetActiveSnapshot())))
		return 0;
	/* A block that was changed since the last VACUUM is read from its page. */
	visibilitymap_count(rel, &visible, NULL);
	return (double) Min(visible, nblocks) / nblocks;
}

ResidentEstimate
resident_estimate(Oid relid, const ResidentQuestion *question, double tuples)
{
	int			ncolumns = list_length(question->columns);
	ResidentEstimate estimate = {0};
	ResidentSummary *summaries;
	Relation	rel;
	bool		gpu = true;
	bool		numbers = false;
	BlockNumber nblocks;

	if (!resident_enabled() || ncolumns == 0 || tuples <= 0 || !resident_keeps_any())
		return estimate;
	for (int c = 0; c < ncolumns; c++)
		if (!resident_is_kept(relid, (AttrNumber) list_nth_int(question->columns, c)))
			return estimate;
	summaries = palloc0_array(ResidentSummary, ncolumns);
	rel = table_open(relid, NoLock);
	estimate.share = usable_part(rel);
	for (int c = 0; c < ncolumns && estimate.share > 0; c++)
	{
		ResidentKey key;

		residency_key(rel, (AttrNumber) list_nth_int(question->columns, c), &key);
		if (!resident_summarize(&key, &summaries[c]))
			summaries[c].rows = 0;
		gpu &= residency_suits_gpu(rel, (AttrNumber) list_nth_int(question->columns, c));
		numbers |= residency_domain(rel, key.attnum).kind == COLUMN_KIND_NUMBER;
		estimate.share = Min(estimate.share, (double) summaries[c].rows / tuples);
	}
	nblocks = RelationGetNumberOfBlocks(rel);
	table_close(rel, NoLock);
	if (question->all && estimate.share > 0 && gpu && !numbers)
		estimate.together = resident_tables_add(question->all, summaries, ncolumns,
												nblocks);
	if (question->jobs && !question->all && estimate.share > 0 && gpu)
		estimate.gpu = resident_rows_pay(summaries, ncolumns, question->nkeys, question->jobs,
										 resident_pays_stripes(nblocks));
	/* Values that are counted are looked up by the CPU. */
	if ((question->jobs == NULL || question->jobs->mapped == NULL) && ncolumns == 1 &&
		question->nkeys == 1 && !question->filtered && estimate.share > 0 && gpu && !numbers &&
		!estimate.gpu)
		estimate.gpu = resident_rows_pay(summaries, 1, 1, NULL, resident_pays_stripes(nblocks));
	pfree(summaries);
	return estimate;
}
