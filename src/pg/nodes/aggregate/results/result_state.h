/*
 * result_state.h
 *		AggregateResult: what result.c and key_results.c share; no other file includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_RESULT_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_RESULT_STATE_H

#include "executor/executor.h"

#include "pg/functions/functions.h"
#include "pg/multiset/multiset.h"
#include "pg/nodes/aggregate/results/percentiles.h"
#include "pg/nodes/aggregate/results/results.h"
#include "pg/nodes/aggregate/results/value_array.h"
#include "pg/nodes/aggregate/results/value_list.h"

/* The most constant arguments of a call: bounds and direction. */
#define MAX_CONSTANTS 3

/* A direct argument or option, which has one value for an execution. */
typedef struct ConstantArgument
{
	ExprState  *state;			/* the expression, of the node */
	Datum		value;			/* of the execution */
	bool		isnull;
} ConstantArgument;

/* Of hpsort's own aggregates: the state, and what makes a value of it. */
typedef struct KeyState
{
	const SortContext *context; /* for the state's sorter, in whose memory the state is */
	int32		lo;				/* bounds and direction of an execution */
	int32		hi;
	bool		descending;
	Oid			array_type;		/* of the elements of hpsort_agg's array */
	TupleDesc	run_type;		/* of the elements of hpsort_runs_agg's array */
	AggregateState *state;		/* NULL: there are no rows yet */
} KeyState;

/*
 * The last run of floats, to which the next one may be equal; zeros at first.  0 and -0, and all
 * NaNs, are neighbours in the order of values.
 */
typedef struct EqualRun
{
	int64		value;			/* the first of its values, or what stands for all of them */
	int64		count;			/* how often they are there; 0: there is no run */
} EqualRun;

struct AggregateResult
{
	const Aggref *aggref;		/* the call; the plan's */
	AggregateAnswer answer;		/* how it is answered */
	int			nconstants;
	ConstantArgument constants[MAX_CONSTANTS];	/* direct arguments, options of hpsort's own
												 * aggregates, or a delimiter */
	MemoryContext memory;		/* of the constants of an execution */
	FmgrInfo	final;			/* core's final function, where floats are added up */
	ExprContext *econtext;		/* in which options have yet to be evaluated, or NULL */
	ColumnDomain domain;		/* of the values */

	/* of a group */
	GroupCounts counts;			/* as begin was given them */
	ValueSummary summary;		/* of DISTINCT values, each once: n, sum and floats */
	FloatTotals floats;			/* these floats */
	EqualRun	equal;			/* of floats: the last run, to which the next may be equal */
	int64		mode;			/* the most frequent value so far */
	int64		mode_count;		/* how often it is there; 0: there are no values */

	/* by function */
	Percentiles *percentiles;	/* NULL: it is another function */
	ValueArray	array;
	ValueList	list;			/* of values that no integer holds, in place of array */
	HypotheticalRow row;
	SortSupportData compare;	/* of values that are Datums with row's argument */
	KeyState	keys;
	MultisetBuilder multiset;
};

/* Runs whose values are made something else at once. */
#define RUN_BATCH 1024

static inline bool
is_multiset(const AggregateResult *result)
{
	return result->answer.function == AGGREGATE_FUNCTION_MULTISET_AGG;
}

/* Whether the value is a state, of which another process makes the result. */
static inline bool
is_partial(const AggregateResult *result)
{
	return DO_AGGSPLIT_SKIPFINAL(result->aggref->aggsplit);
}

/* Evaluates direct arguments, options or a delimiter. */
static inline void
evaluate_constants(AggregateResult *result, ExprContext *econtext)
{
	for (int i = 0; i < result->nconstants; i++)
	{
		ConstantArgument *constant = &result->constants[i];

		constant->value = ExecEvalExprSwitchContext(constant->state, econtext, &constant->isnull);
	}
}

/* --- key_results.c */

/*
 * Makes the state when there is a row.  Without rows the aggregate is NULL, and wrong bounds are
 * no error.
 */
extern void key_result_begin(AggregateResult *result);

/* Gives runs, narrowed, to the sorter or to the multiset, which wants them in order. */
extern void key_result_take(AggregateResult *result, const int64 *values, const int64 *counts,
							size_t nruns);

/* Returns the value of the state, which is given back. */
extern Datum key_result_end(AggregateResult *result, bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_RESULT_STATE_H */
