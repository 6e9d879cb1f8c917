/*
 * aggrefs.h
 *		What the node answers of a column's values, by group or not: aggregate calls as the
 *		parser leaves them in a query.
 *
 * The planner half recognizes by these functions what the node can answer, the
 * executor half what it has to answer.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREFS_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREFS_H

#include "nodes/primnodes.h"

#include "pg/nodes/aggregate/plan/aggregate_function.h"
#include "pg/nodes/aggregate/plan/node.h"
#include "pg/values/values.h"

/* How much of its argument's values an aggregate has to be shown; each includes all before it. */
typedef enum AggregateNeeds
{
	AGGREGATE_NEEDS_ROWS,		/* how many rows there are */
	AGGREGATE_NEEDS_SUMMARY,	/* a ValueSummary */
	AGGREGATE_NEEDS_RUNS		/* the runs in order */
} AggregateNeeds;

typedef struct AggregateAnswer
{
	AggregateFunction function;
	AggregateNeeds needs;		/* how much of the values it has to be shown */
	Expr	   *argument;		/* without conversions; NULL for count(*) */
	Var		   *column;			/* the argument if it is a column; else NULL */
	DerivedForm form;			/* DERIVED_NONE of a column */
	ColumnKind	kind;			/* of the argument; COLUMN_KIND_NONE: values are no integers */
	ColumnRead	read;			/* as what the column is read; READ_VALUES of integers */
	bool		enum_order;		/* an enum's values must be in the order of its labels */
	bool		ranks;			/* numbers of a dictionary must be ranks (dictionary_order.h) */
	bool		distinct;		/* each value counts once; false for min and max, to which it is
								 * no difference */
	bool		descending;		/* of ordered aggregates: the largest value comes first */
	bool		nulls_first;	/* of ordered aggregates: NULLs come before all values */
	bool		to_float8;		/* percentile_cont of a float8, or of a column cast to it */
	bool		outsized;		/* values may have more digits than integers of their unit */
	const struct AggregateAnswer *with; /* of an aggregate of two numbers, Y and X: how X is read;
										 * else NULL */
} AggregateAnswer;

/*
 * Whether the node answers an aggregate call.  Then *answer says how; it points into aggref.  rti
 * is the relation that is read; 0: all columns are read.
 *
 * A call is not known whose argument is neither a column nor an expression of columns whose values
 * are read as integers, whose ORDER BY is not that of the argument by its type's default operator
 * class, or whose direct arguments and options depend on the row.  count, unless of DISTINCT, takes
 * expressions of all types.  FILTER is not looked at.  A partial call is answered if
 * aggref_has_state.  False for calls that are not known, with an order, DISTINCT or direct
 * arguments, or with arguments that a row's columns do not determine.
 * The planner must have filled in the call (aggtranstype).
 */
extern bool aggref_answer(const Aggref *aggref, Index rti, AggregateAnswer *answer);

/*
 * Whether the keys of an aggregate can be kept in the state of hpsort's own aggregates
 * (functions.h).  Where all aggregates of a query are so, without groups and filters, the
 * node keeps nothing else: no pairs.  hpsort_support_keys_agg, which returns its state, is answered
 * only then.
 */
static inline bool
aggref_has_state(const AggregateAnswer *answer)
{
	return answer->function >= AGGREGATE_FUNCTION_HPSORT_AGG;
}

/* Whether an aggregate is made of moments (results/moments.h), perhaps beside number and sum. */
static inline bool
aggref_has_moments(const AggregateAnswer *answer)
{
	return answer->function >= AGGREGATE_FUNCTION_VAR_POP &&
		answer->function <= AGGREGATE_FUNCTION_BIT_XOR;
}

/*
 * Whether an answer is known from the number of rows and of values and their sum, from keys at some
 * positions among the values in order, and without groups from the number of different values.
 */
extern bool aggref_is_looked_up(const AggregateAnswer *answer, bool grouped);

/*
 * Whether an answer is a sum of floats, or made of one, so that all rows must be added up by one
 * process in their order.
 */
extern bool aggref_adds_floats(const AggregateAnswer *answer);

/* Whether the values that an answer needs are numbers of a dictionary. */
static inline bool
aggref_has_numbers(const AggregateAnswer *answer)
{
	return answer->read == READ_EQUAL || answer->read == READ_IDENTICAL ||
		answer->form == DERIVED_NUMBERS;
}

/* Returns the values of an answer, as they are before a relabelling of their column. */
static inline Expr *
aggref_values(const AggregateAnswer *answer)
{
	return answer->column ? (Expr *) answer->column : answer->argument;
}

/*
 * Whether the result of an answer for some of the rows is what a partial call returns for them, so
 * that core's Finalize Aggregate can put several together: of sums of floats that depends on the
 * order of the rows.
 */
extern bool aggref_is_partial(const Aggref *aggref, const AggregateAnswer *answer);

/* The quick way out, without catalogs: false for many calls that are not answered. */
extern bool aggref_may_be_answered(const Aggref *aggref);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_AGGREFS_H */
