/*
 * aggrefs.h
 *		hpsort's aggregates as the parser leaves them in a query.
 *
 * The planner half recognizes by these functions what the node can answer, the
 * executor half what it has to answer.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_AGGREFS_H
#define HPSORT_PG_NODES_AGGREGATE_AGGREFS_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* Which of hpsort's aggregates an Aggref calls. */
typedef enum AggregateKind
{
	AGGREGATE_NONE,				/* none that the node answers */
	AGGREGATE_ARRAY,			/* hpsort_agg */
	AGGREGATE_RUNS				/* hpsort_runs_agg */
} AggregateKind;

/*
 * Recognized by the C functions of the aggregate: name and schema may be any.
 * Looks into system caches, but never loads a library.
 */
extern AggregateKind aggref_kind(const Aggref *aggref);

/* The column that an aggregate sorts; NULL if its first argument is no plain column. */
extern Var *aggref_column(const Aggref *aggref);

/* The column that an expression is, perhaps made an int4 or relabelled; else NULL. */
extern Var *aggref_expression_column(Node *expression);

#endif							/* HPSORT_PG_NODES_AGGREGATE_AGGREFS_H */
