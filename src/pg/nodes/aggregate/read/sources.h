/*
 * sources.h
 *		The tables that a HpSort Aggregate node reads, and reading them.
 *
 * Each table has a SeqScan in custom_plans, which is
 * initialized for its relation, its filter, and the slot and context that the
 * filter needs, but never run.  Its state is not in custom_ps, where EXPLAIN would
 * show it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_SOURCES_H
#define HPSORT_PG_NODES_AGGREGATE_READ_SOURCES_H

#include "postgres.h"

#include "access/relscan.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "storage/spin.h"

#include "pg/column/column.h"

/* ColumnBlocks of all processes. */
typedef struct SharedColumnBlocks
{
	slock_t		mutex;
	ColumnBlocks blocks;
} SharedColumnBlocks;

/* A table. */
typedef struct AggregateSource
{
	ScanState  *scan;			/* of custom_plans */
	AttrNumber *attnums;		/* by column */
	ExprState **filters;
	ParallelTableScanDesc parallel; /* NULL: this process reads all */
} AggregateSource;

typedef struct AggregateSources
{
	CustomScanState *css;		/* the node */
	int			ncolumns;
	int			nsources;
	AggregateSource *sources;
	bool		keys;			/* as in ColumnScan */
	bool		runs;			/* batches of a single column may be runs */
	ResidentRowsHandler *handler;	/* of a single table, where no process shares it; or NULL */
	int			nfilters;
	SharedColumnBlocks *shared; /* NULL: this process reads all */
	ColumnBlocks blocks;		/* of the last execution, for EXPLAIN */
} AggregateSources;

/*
 * From the node's plan, in the query's memory context.  With nfilters, filters are what
 * the scans have in their target lists.
 */
extern void aggregate_sources_begin(AggregateSources *sources, CustomScanState *css, int eflags,
									bool keys, int nfilters);

/*
 * Reads all tables; each batch has an element for each of GROUPS_PLAN_COLUMNS, and one
 * for each filter.
 */
extern void aggregate_sources_read(AggregateSources *sources, ColumnConsume consume, void *arg);

extern void aggregate_sources_rescan(AggregateSources *sources);
extern void aggregate_sources_end(AggregateSources *sources);

/*
 * For the node's parallel methods, which have the same names.  All processes read
 * one table after the other, sharing its blocks as a parallel SeqScan does.
 */
extern Size aggregate_sources_estimate_dsm(AggregateSources *sources);
extern void aggregate_sources_initialize_dsm(AggregateSources *sources, char *coordinate);
extern void aggregate_sources_reinitialize_dsm(AggregateSources *sources);
extern void aggregate_sources_initialize_worker(AggregateSources *sources, char *coordinate);
extern void aggregate_sources_shutdown(AggregateSources *sources);

/*
 * EXPLAIN: the number of tables, unless it is one in text format, their filter, and resident
 * blocks.
 */
extern void aggregate_sources_explain(AggregateSources *sources, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_SOURCES_H */
