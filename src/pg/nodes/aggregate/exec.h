/*
 * exec.h
 *		Custom Scan (HpSort Aggregate): hpsort's aggregates over a table's
 *		columns, straight from the column reader.
 *
 * planner.c decides where it is used, exec.c runs it; this is
 * what they agree on.
 *
 * The node stands in the place of an Agg without GROUP BY over a sequential
 * scan.  Its scan tuple (custom_scan_tlist) is the aggregates themselves, in
 * the order of the planner's list; its target list and HAVING (plan.qual) are
 * computed from them, as an Agg's.  In a parallel plan it returns serialized
 * states under Gather, for core's Finalize Aggregate.
 *
 * custom_plans: a SeqScan of each table to be read (sources.h).
 *
 * custom_private: lists of attribute numbers.  The first: the columns to read,
 * as the aggregates' arguments name them; then, for each of custom_plans, what
 * they are in that table.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_EXEC_H
#define HPSORT_PG_NODES_AGGREGATE_EXEC_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

/* Which of our aggregates an Aggref is. */
typedef enum AggregateKind
{
	AGGREGATE_NONE,				/* none that the node answers */
	AGGREGATE_ARRAY,				/* hpsort_agg */
	AGGREGATE_RUNS					/* hpsort_runs_agg */
} AggregateKind;

/* By its functions, not its name or schema. */
extern AggregateKind aggregate_kind(const Aggref *aggref);

/* The column that an expression, an aggregate's argument, is: perhaps made an int4. */
extern Var *aggregate_column(Node *expr);
extern Var *aggregate_argument(const Aggref *aggref);

extern const CustomScanMethods aggregate_node_scan_methods;

/*
 * Of the planner's half, for query.c too.
 *
 * The tables that rel stands for: itself, or those that inherit from it and
 * were neither pruned nor excluded.  NIL if one of them cannot be read so.
 * paths: those of rel that core has not freed, from its list or from the list
 * of the relation that they went to.
 */
extern List *aggregate_node_find_tables(PlannerInfo *root, RelOptInfo *rel, const List *paths);

/* columns of rel, then what they are in each of its tables; NIL if they are not there. */
extern List *aggregate_node_list_columns(PlannerInfo *root, RelOptInfo *rel, List *tables, List *columns);

/* Gives path the scans of the tables, and returns what reading them costs. */
extern Cost aggregate_node_scan_tables(PlannerInfo *root, CustomPath *path, List *tables, int workers);

/* At module load: the planner hook, and the methods for plans sent to workers. */
extern void aggregate_node_install(void);

#endif							/* HPSORT_PG_NODES_AGGREGATE_EXEC_H */
