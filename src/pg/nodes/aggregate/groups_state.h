/*
 * groups_state.h
 *		HpSort Aggregate, the executor half: what its files groups_*.c share.  No other folder
 *		includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_STATE_H

#include "postgres.h"

#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "pg/nodes/aggregate/groups/aggregation.h"
#include "pg/nodes/aggregate/parallel/parallel.h"
#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/nodes/aggregate/results/results.h"

/* An aggregate: a column of the scan tuple. */
typedef struct GroupsOutput
{
	const Aggref *aggref;
	AggregateAnswer answer;
	AggregateResult *result;
	int			source;			/* of its values; -1: all rows are counted */
	int			shared;			/* the first output whose state is this one's, too */
} GroupsOutput;

/* Groups that are looked up among keys that the GPU has put in order: groups_lookup.c. */
typedef struct GroupsLookup GroupsLookup;

/* For EXPLAIN: what was done by the last execution. */
typedef struct GroupsDone
{
	bool		done;
	GroupsTotals totals;		/* rows aggregated; groups, those that HAVING refuses among them */
	SourceSorted *sorted;		/* by source, with ... */
	SorterStats *stats;
} GroupsDone;

/* Columns derived of those that are read. */
typedef struct GroupsDerived
{
	int			n;
	DerivedColumn **columns;
	DerivedColumn **of_groups;	/* of which a group's values are; NULL: of a column */
	DerivedColumn **of_sources; /* the same by source */
	ColumnBatch *batches;		/* of columns and filters, and behind them these; NULL if n = 0 */
	MemoryContext memory;
	RowSpill   *spill;			/* rows that they refused; NULL: none */
} GroupsDerived;

/* In a parallel plan; else shared is NULL, and there is no exchange. */
typedef struct GroupsParallel
{
	GroupsShared *shared;
	GroupsDescription description;
	GroupsExchange *exchange;	/* NULL as well where core's Finalize Aggregate gets states */
} GroupsParallel;

typedef struct GroupsState
{
	CustomScanState css;
	MemoryContext memory;		/* of one execution */
	MemoryContext rows_memory;	/* of what is kept of its rows */
	SortContext context;		/* of results, in memory; of states, in rows_memory */
	SortContext rows_context;	/* of the aggregation, in rows_memory */
	AggregateSources sources;

	int			ngroups;
	GroupColumn *groups;
	int			noutputs;
	GroupsOutput *outputs;
	bool		states;			/* all there is are states of outputs, without groups */
	int			nvalue_sources;
	ValueSource *value_sources;

	int			nread;			/* batches of columns and filters */
	GroupsDerived derived;
	size_t		memory_limit;	/* that derived columns leave, of the execution */
	GroupsParallel parallel;

	GroupsLookup *lookup;		/* NULL: more than that is wanted of the rows */
	bool		prepared;		/* the results' direct arguments have been evaluated */

	bool		started;		/* all rows have been read */
	bool		ended;
	Aggregation *aggregation;	/* what this process has read; NULL if it is not needed */
	GroupReader *reader;		/* of what is returned; NULL: another process has it all */
	SourceCounts *counts;		/* by source, of the group being returned */
	GroupsDone	done;
} GroupsState;

/* --- groups_results.c */

/* Evaluates the direct arguments of the results, once an execution: when there is a group. */
extern void groups_prepare_results(GroupsState *node);

/* Puts a group's values and aggregates into the scan tuple. */
extern void groups_fill_slot(GroupsState *node, const GroupValues *group, int64 rows,
							 TupleTableSlot *slot);

/* --- groups_lookup.c */

/*
 * For a node that has been described, in the query's memory; NULL if rows, or runs of values, are
 * wanted.
 */
extern GroupsLookup *groups_lookup_make(GroupsState *node);

/* Begins an execution, whose memory has a limit; the result is for the scan. */
extern ResidentRowsHandler *groups_lookup_begin(GroupsLookup *lookup, size_t memory_limit);
extern void groups_lookup_free(GroupsLookup *lookup);

/* Notes rows that have been read, if the scan has others to be taken. */
extern void groups_lookup_note(GroupsLookup *lookup, const ColumnBatch *batches);

/* The groups, if all have been found when all rows have been read; else NULL. */
extern GroupReader *groups_lookup_open(GroupsLookup *lookup);
extern size_t groups_lookup_memory(const GroupsLookup *lookup);

/* --- groups_read.c */

/* Makes what rows are read into; the node has been described, and its memory made. */
extern void groups_read_begin(GroupsState *node, int eflags, int nfilters);

/* Reads all rows, or this process's share of them; then node->reader is before its first group. */
extern void groups_read_start(GroupsState *node);

/* Reads rows that have been refused, in place of those before; false if there are none. */
extern bool groups_read_refused(GroupsState *node);

/* Gives back what an execution holds. */
extern void groups_read_free(GroupsState *node);

/* --- groups_explain.c */

extern void groups_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_STATE_H */
