/*
 * groups_exec.h
 *		HpSort Aggregate for PostgreSQL's own aggregates, groups and DISTINCT, the
 *		executor half (see groups_planner.h).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_EXEC_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_EXEC_H

#include "postgres.h"

#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "pg/nodes/aggregate/aggregation.h"
#include "pg/nodes/aggregate/derived.h"
#include "pg/nodes/aggregate/groups_exchange.h"
#include "pg/nodes/aggregate/groups_merge.h"
#include "pg/nodes/aggregate/node.h"
#include "pg/nodes/aggregate/results.h"
#include "pg/nodes/aggregate/row_spill.h"
#include "pg/nodes/aggregate/sources.h"

/* An aggregate: a column of the scan tuple. */
typedef struct GroupsOutput
{
	const Aggref *aggref;
	AggregateAnswer answer;
	AggregateResult *result;
	int			source;			/* of its values; -1: all rows are counted */
} GroupsOutput;

/* For EXPLAIN: what was done by the last execution. */
typedef struct GroupsDone
{
	bool		done;
	GroupsTotals totals;		/* rows aggregated; groups, those that HAVING refuses among them */
	SourceSorted *sorted;		/* by source, with ... */
	SorterStats *stats;
} GroupsDone;

typedef struct GroupsState
{
	CustomScanState css;
	MemoryContext memory;		/* of one execution */
	MemoryContext rows_memory;	/* of what is kept of its rows */
	MemoryContext derived_memory;	/* of derived columns */
	SortContext context;		/* of results, in memory */
	SortContext rows_context;	/* of the aggregation, in rows_memory */
	AggregateSources sources;

	int			ngroups;
	GroupColumn *groups;
	int			noutputs;
	GroupsOutput *outputs;
	int			nvalue_sources;
	ValueSource *value_sources;

	/* Their batches are behind those of columns and filters. */
	int			nread;			/* batches of columns and filters */
	int			nderived;
	DerivedColumn **derived;
	DerivedColumn **group_derived;	/* of which a group's values are; NULL: of a column */
	DerivedColumn **source_derived; /* the same by source */
	ColumnBatch *batches;		/* all of them; NULL if none is derived */
	size_t		memory_limit;	/* that derived columns leave, of the execution */
	RowSpill   *spill;			/* rows that derived columns refused; NULL: none */

	/* in a parallel plan; else shared is NULL, and there is no exchange */
	GroupsShared *shared;
	GroupsDescription description;
	GroupsExchange *exchange;

	bool		started;		/* all rows have been read */
	bool		ended;
	Aggregation *aggregation;	/* what this process has read; NULL if it is not needed */
	GroupsMerge *merge;			/* from which groups are returned, unless NULL */
	SourceCounts *counts;		/* by source, of the group being returned */
	GroupsDone	done;
} GroupsState;

/* A new state of the node, for CreateCustomScanState. */
extern Node *groups_exec_create_state(CustomScan *scan);

/* --- groups_explain.c */

extern void groups_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_EXEC_H */
