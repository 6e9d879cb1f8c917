/*
 * sources.h
 *		The tables that a HpSort Aggregate node reads, and reading them.
 *
 * Each table has a SeqScan in custom_plans, before other plans.  It is initialized for its
 * relation, its filter, and the slot and context that the filter needs, but never run.  Its state
 * is not in custom_ps, where EXPLAIN would show it.  FILTERs of aggregates are the target lists of
 * these plans.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_SOURCES_H
#define HPSORT_PG_NODES_AGGREGATE_READ_SOURCES_H

#include "access/relscan.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "storage/spin.h"

#include "pg/column/column.h"

typedef struct AggregateSource
{
	ScanState  *scan;			/* of the SeqScan in custom_plans */
	AttrNumber *attnums;		/* by column: its number in this table */
	ExprState **filters;		/* by filter: its condition of this table's columns */
	ParallelTableScanDesc parallel; /* in shared memory; NULL: this process reads all */
} AggregateSource;

typedef struct AggregateSources
{
	CustomScanState *css;		/* the node */
	int			ncolumns;		/* columns of each table, in the order of GROUPS_PLAN_COLUMNS */
	const ColumnImage *images;	/* ncolumns; or NULL: all columns are read as their values */
	int			nsources;
	AggregateSource *sources;
	bool		keys;			/* batches have keys of int4, as ColumnScan.keys says */
	bool		runs;			/* batches of a single column may be runs */
	bool		ordered;		/* rows are wanted in their order in the table */
	ResidentRowsHandler *handler;	/* of all tables, where no process shares them; or NULL */
	bool		alone;			/* this process reads all, although other processes have read */
	bool		stop;			/* set while a batch is consumed: no more rows are wanted */
	List	   *conditions;		/* FilterConditions of the rows, beside the filters of the tables;
								 * their attnum is the number of one of the columns, from 1 */
	uint64		unmatched;		/* rows that these have refused, in the last execution */
	int			nfilters;		/* conditions that aggregates have as their FILTER */
	SharedColumnBlocks *shared; /* NULL: this process reads all */
	ColumnBlocks blocks;		/* of the last execution, for EXPLAIN */
} AggregateSources;

/*
 * Initializes the tables from the node's plan, in the current memory context, which is the
 * query's.  keys is for hpsort's own aggregates; nfilters is how many conditions the scans have in
 * their target lists.  images, runs, ordered, handler and
 * alone are the caller's to set.
 */
extern void aggregate_sources_begin(AggregateSources *sources, CustomScanState *css, int eflags,
									bool keys, int nfilters);

/*
 * Reads all tables, or this process's share of them, and calls consume for each batch of rows.
 * Its batches are one for each of GROUPS_PLAN_COLUMNS, then one for each filter, whose NULL marks
 * are the rows that it refuses.  Returns how many rows the tables' filters have refused.
 */
extern uint64 aggregate_sources_read(AggregateSources *sources, ColumnConsume consume, void *arg);

/* Has the tables read again, with the parameters of the node that have changed. */
extern void aggregate_sources_rescan(AggregateSources *sources);

extern void aggregate_sources_end(AggregateSources *sources);

/*
 * For the node's parallel methods, which have the same names.  All processes read one table after
 * the other, and share its blocks as a parallel SeqScan does.  coordinate is this room's part of
 * the node's shared memory.
 */
extern Size aggregate_sources_estimate_dsm(AggregateSources *sources);
extern void aggregate_sources_initialize_dsm(AggregateSources *sources, char *coordinate);
extern void aggregate_sources_reinitialize_dsm(AggregateSources *sources);
extern void aggregate_sources_initialize_worker(AggregateSources *sources, char *coordinate);
extern void aggregate_sources_shutdown(AggregateSources *sources);

/* Shows the number of tables, unless it is one in text format, filter and resident blocks. */
extern void aggregate_sources_explain(AggregateSources *sources, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_SOURCES_H */
