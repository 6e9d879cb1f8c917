/*
 * core_aggregates.h
 *		CoreAggregates: aggregates that the node does not know, by their own transition functions.
 *
 * Core's Agg node is initialized for them and never run: its expression of a row's transitions is
 * evaluated for each row, with the states of the row's group.  So functions find an AggState, and
 * arguments, strictness, rights and the memory of states are core's.
 *
 * Groups for which there is no memory are refused, all of their rows.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_CORE_AGGREGATES_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_CORE_AGGREGATES_H

#include "nodes/execnodes.h"

#include "pg/nodes/aggregate/read/read.h"

typedef struct CoreAggregates CoreAggregates;

/* What the aggregates are.  The pointers must outlive the CoreAggregates. */
typedef struct CoreDescription
{
	List	   *aggrefs;		/* the calls */
	List	   *filters;		/* for each, the index of the batch of its filter; -1: none */
	int			ninputs;		/* columns of their arguments */
	const RowInput *inputs;
} CoreDescription;

/*
 * Makes them in the current memory context, for a node that is initialized with eflags.  Raises an
 * error if the user must not call an aggregate.
 */
extern CoreAggregates *core_aggregates_make(PlanState *parent, int eflags,
											const CoreDescription *description);

/*
 * Begins an execution, or another pass, by these columns, which outlive it; without groups but for
 * the one that there is without columns.  Memory is in the current memory context; the states may
 * take memory_limit bytes.
 */
extern void core_aggregates_begin(CoreAggregates *core, const GroupColumn *columns, int ncolumns,
								  size_t memory_limit);

/* Forgets all groups, and has functions give back what they hold. */
extern void core_aggregates_free(CoreAggregates *core);

extern void core_aggregates_end(CoreAggregates *core);

/* Finds the groups of a batch's rows, or makes them.  Returns how many rows are refused. */
extern int	core_aggregates_find(CoreAggregates *core, const ColumnBatch *batches);

/* Whether a row of the batch is refused; then *hash is its group's. */
extern bool core_aggregates_refuses(const CoreAggregates *core, size_t row, uint32 *hash);

/* Adds the rows of the batch for which groups have been found; none is refused. */
extern void core_aggregates_add(CoreAggregates *core, const ColumnBatch *batches);

/* Returns the value of an aggregate for a group that has rows, in the current memory context. */
extern Datum core_aggregates_value(CoreAggregates *core, const GroupValues *group, int aggregate,
								   bool *isnull);

/* Returns the bytes that the functions hold in memory of their own. */
extern size_t core_aggregates_memory(const CoreAggregates *core);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_CORE_AGGREGATES_H */
