/*
 * aggrefs.h
 *		hpsort's aggregates as the parser leaves them in a query.
 *
 * The planner half recognizes by these functions what the node can answer, the
 * executor half what it has to answer.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREFS_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREFS_H

#include "postgres.h"

#include "nodes/primnodes.h"

#include "pg/values/values.h"

/* Which of hpsort's aggregates an Aggref calls. */
typedef enum AggregateKind
{
	AGGREGATE_NONE,				/* none that the node answers */
	AGGREGATE_ARRAY,			/* hpsort_agg */
	AGGREGATE_RUNS,				/* hpsort_runs_agg */
	AGGREGATE_KEYS,				/* hpsort_support_keys_agg */
	AGGREGATE_MULTISET			/* int4multiset_agg */
} AggregateKind;

/*
 * Recognized by the C functions of the aggregate: name and schema may be any.
 * Looks into system caches, but never loads a library.
 */
extern AggregateKind aggref_kind(const Aggref *aggref);

/* The column that an aggregate sorts; NULL if its first argument is no plain column. */
extern Var *aggref_column(const Aggref *aggref);

/* --- what the node answers of a column's values, by group or not */

typedef enum AggregateFunction
{
	AGGREGATE_FUNCTION_NONE,	/* not answered */

	/* of rows, or of a column's values in any order */
	AGGREGATE_FUNCTION_COUNT_ROWS,	/* count(*) */
	AGGREGATE_FUNCTION_COUNT,
	AGGREGATE_FUNCTION_SUM,
	AGGREGATE_FUNCTION_AVG,
	AGGREGATE_FUNCTION_MIN,
	AGGREGATE_FUNCTION_MAX,

	/* of a column's values in order; percentiles with one fraction or an array */
	AGGREGATE_FUNCTION_PERCENTILE_DISC,
	AGGREGATE_FUNCTION_PERCENTILE_DISC_ARRAY,
	AGGREGATE_FUNCTION_PERCENTILE_CONT,
	AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY,
	AGGREGATE_FUNCTION_MODE,
	AGGREGATE_FUNCTION_RANK,
	AGGREGATE_FUNCTION_DENSE_RANK,
	AGGREGATE_FUNCTION_PERCENT_RANK,
	AGGREGATE_FUNCTION_CUME_DIST,
	AGGREGATE_FUNCTION_ARRAY_AGG,
	AGGREGATE_FUNCTION_HPSORT_AGG,
	AGGREGATE_FUNCTION_HPSORT_RUNS_AGG,
	AGGREGATE_FUNCTION_MULTISET_AGG
} AggregateFunction;

/* How much of its argument's values an aggregate has to be shown; each includes those before it. */
typedef enum AggregateNeeds
{
	AGGREGATE_NEEDS_ROWS,		/* how many rows there are */
	AGGREGATE_NEEDS_SUMMARY,	/* a ValueSummary */
	AGGREGATE_NEEDS_RUNS		/* the runs in order */
} AggregateNeeds;

typedef struct AggregateAnswer
{
	AggregateFunction function;
	AggregateNeeds needs;
	Var		   *column;			/* the argument; NULL for count(*) */
	ColumnKind	kind;			/* of the argument */
	bool		enum_order;		/* an enum's values must be in the order of its labels */
	bool		distinct;		/* of each value one; never of min and max, where it is the same */
	bool		descending;		/* of ordered aggregates */
	bool		nulls_first;
	bool		to_float8;		/* percentile_cont of a column cast to float8 */
} AggregateAnswer;

/*
 * Whether the node answers an aggregate call of columns of relation rti (0: of whichever),
 * and how.
 * False for calls whose argument is no plain column of a kind that is read, whose
 * ORDER BY is not that of the argument by its type's default operator class, or whose
 * direct arguments and options depend on the row.  FILTER is not looked at.  The planner
 * must have filled in the call (aggtranstype).
 */
extern bool aggref_answer(const Aggref *aggref, Index rti, AggregateAnswer *answer);

/*
 * Whether an answer is known from how many rows and values there are, keys at some positions among
 * the values in order, and without groups from how many of these are different.
 */
extern bool aggref_is_looked_up(const AggregateAnswer *answer, bool grouped);

/* The quick way out: false for most functions that the node does not answer. */
extern bool aggref_may_be_answered(const Aggref *aggref);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREFS_H */
