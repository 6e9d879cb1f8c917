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
#include "pg/nodes/aggregate/node.h"
#include "pg/nodes/aggregate/results.h"
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
	int64		rows;			/* aggregated */
	int64		groups;			/* found, those that HAVING refuses among them */
	AggregationStats aggregation;
	SourceSorted *sorted;		/* by source, with ... */
	SorterStats *stats;
} GroupsDone;

typedef struct GroupsState
{
	CustomScanState css;
	GroupsStage stage;
	MemoryContext memory;		/* of one execution */
	SortContext context;
	AggregateSources sources;	/* unless the stage is final */

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

	Aggregation *aggregation;	/* NULL before the first call, and after the last */
	bool		ended;
	SourceCounts *counts;		/* by source, of the group being returned */
	struct GroupsSender *sender;	/* of a partial node */
	TupleTableSlot *bytes;		/* what a partial node returns */
	GroupsDone	done;
} GroupsState;

/* A new state of the node, for CreateCustomScanState. */
extern Node *groups_exec_create_state(CustomScan *scan);

/* --- groups_explain.c */

extern void groups_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_EXEC_H */
