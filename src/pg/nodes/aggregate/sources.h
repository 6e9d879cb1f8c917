/*
 * sources.h
 *		The tables that a HpSort Aggregate node reads, and reading them.
 *
 * Shared by the node that stands for aggregates (exec.c) and the one
 * that hpsort_query runs (query.c).  Each table has a SeqScan among
 * custom_plans: never run, and not among custom_ps, where EXPLAIN would show
 * it; but initialized, for its relation, its filter, and the slot and context
 * that the filter wants.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_SOURCES_H
#define HPSORT_PG_NODES_AGGREGATE_SOURCES_H

#include "postgres.h"

#include "access/relscan.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "pg/column/scan.h"

typedef struct AggregateSources
{
	CustomScanState *css;		/* the node */
	int			ncolumns;
	int			nsources;
	ScanState **scans;			/* of custom_plans, by source */
	AttrNumber **attnums;		/* by source and column */
	ParallelTableScanDesc *parallel;	/* by source, or NULL: we read all */
} AggregateSources;

extern void aggregate_sources_begin(AggregateSources *sources, CustomScanState *css, int eflags);
extern void aggregate_sources_read(AggregateSources *sources, ColumnConsume consume, void *arg);
extern void aggregate_sources_rescan(AggregateSources *sources);
extern void aggregate_sources_end(AggregateSources *sources);

/* Parallel: one table after the other, block by block, as a parallel SeqScan. */
extern Size aggregate_sources_estimate(AggregateSources *sources);
extern void aggregate_sources_share(AggregateSources *sources, char *coordinate);
extern void aggregate_sources_reshare(AggregateSources *sources);
extern void aggregate_sources_attach(AggregateSources *sources, char *coordinate);

/* How many tables there are, if that is not plain to see, and their filter. */
extern void aggregate_sources_explain(AggregateSources *sources, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_AGGREGATE_SOURCES_H */
