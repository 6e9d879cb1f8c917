/*
 * gather_sources.h
 *		The tables that a HpSort Gather node reads, and reading them.
 *
 * Shared by the node that stands for aggregates (gather_exec.c) and the one
 * that hpsort_query runs (gather_query.c).  Each table has a SeqScan among
 * custom_plans: never run, and not among custom_ps, where EXPLAIN would show
 * it; but initialized, for its relation, its filter, and the slot and context
 * that the filter wants.
 */
#ifndef HPSORT_GATHER_SOURCES_H
#define HPSORT_GATHER_SOURCES_H

#include "postgres.h"

#include "access/relscan.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "column_reader.h"

typedef struct GatherSources
{
	CustomScanState *css;		/* the node */
	int			ncolumns;
	int			nsources;
	ScanState **scans;			/* of custom_plans, by source */
	AttrNumber **attnums;		/* by source and column */
	ParallelTableScanDesc *parallel;	/* by source, or NULL: we read all */
} GatherSources;

/* Gets a batch of each column: nulls counts those of the batch. */
typedef void (*GatherConsume) (void *arg, const ColumnBatch *batches);

extern void gather_sources_begin(GatherSources *sources, CustomScanState *css, int eflags);
extern void gather_sources_read(GatherSources *sources, GatherConsume consume, void *arg);
extern void gather_sources_rescan(GatherSources *sources);
extern void gather_sources_end(GatherSources *sources);

/* Parallel: one table after the other, block by block, as a parallel SeqScan. */
extern Size gather_sources_estimate(GatherSources *sources);
extern void gather_sources_share(GatherSources *sources, char *coordinate);
extern void gather_sources_reshare(GatherSources *sources);
extern void gather_sources_attach(GatherSources *sources, char *coordinate);

/* How many tables there are, if that is not plain to see, and their filter. */
extern void gather_sources_explain(GatherSources *sources, List *ancestors, ExplainState *es);

#endif							/* HPSORT_GATHER_SOURCES_H */
