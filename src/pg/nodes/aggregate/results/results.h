/*
 * results.h
 *		The value of one aggregate call for group after group, from the runs of the
 *		group's values or from their summary.
 *
 * What values stand for their domain says (pg/values/domain.h).  Results, NULLs and errors are as
 * the aggregate functions of PostgreSQL have them.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_RESULTS_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_RESULTS_H

#include "nodes/execnodes.h"
#include "utils/dsa.h"

#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/aggregate/results/float_totals.h"
#include "pg/nodes/aggregate/results/hypothetical.h"
#include "pg/nodes/aggregate/results/moments.h"
#include "pg/nodes/aggregate/results/rights.h"
#include "pg/sort_context.h"
#include "pg/values/values.h"

/*
 * 128 bits: no sum of int8 overflows.  Aligned as palloc aligns memory, which is less than C
 * would.
 */
typedef __int128 ValueSum pg_attribute_aligned (MAXIMUM_ALIGNOF);

/*
 * What count, sum, avg, min and max need to know of a group's values; NULLs are not among them.
 * Moments are known of a source for which an aggregate wants them; of others they are 0.
 */
typedef struct ValueSummary
{
	int64		n;				/* how many values */
	int64		min;			/* undefined if n = 0, as max is */
	int64		max;
	ValueSum	sum;
	ValueMoments moments;
	const FloatTotals *floats;	/* of floats, where they are wanted; else NULL */
	const Datum *outsized;		/* the sum, a numeric, of values of which 0 is in their place;
								 * NULL if there are none */
} ValueSummary;

/*
 * Adds runs, values ascending, to smallest and largest value and to the sum.  n is not changed: a
 * source counts its rows otherwise.
 */
extern void value_summary_add(ValueSummary *summary, const int64 *values, const int64 *counts,
							  size_t nruns);

typedef struct AggregateResult AggregateResult;

/*
 * Makes what computes one aggregate call, which aggref_answer() has accepted, in the current
 * memory context.  Raises an error if the user must not call it.  aggref and context must outlive
 * the result; context is for hpsort's own aggregates, and filled before the first group.  Direct
 * arguments and options become expressions of parent.
 */
extern AggregateResult *aggregate_result_make(const Aggref *aggref, const AggregateAnswer *answer,
											  PlanState *parent, const SortContext *context);

/*
 * Sets what the values given below stand for, before the first execution, unless they are values of
 * the answer's kind.  The domain is the caller's.
 */
extern void aggregate_result_set_domain(AggregateResult *result, const ColumnDomain *domain);

/*
 * Has the values given below be Datums of the dictionary's type in place of its numbers, or not,
 * of an answer whose column has numbers.
 */
extern void aggregate_result_take_datums(AggregateResult *result, bool datums);

/*
 * Sets the order of the dictionary whose ranks the values given below are, of an answer that wants
 * ranks: after aggregate_result_prepare, and again when the dictionary has other values.
 */
extern void aggregate_result_set_order(AggregateResult *result, const DictionaryOrder *order);

/*
 * Evaluates direct arguments: once for each execution, before the first group.  Without a
 * group PostgreSQL does not evaluate them, and an error in them is none.  Options are evaluated
 * in econtext when the first rows are given to the aggregate, before which it must not end.  The
 * results are kept until the next call, whatever becomes of econtext.
 */
extern void aggregate_result_prepare(AggregateResult *result, ExprContext *econtext);

/*
 * Returns the value for a group from its summary, of an aggregate whose needs are
 * AGGREGATE_NEEDS_SUMMARY or less.  rows is the number of the group's rows, for count(*), which
 * needs no summary: it may be NULL then.
 */
extern Datum aggregate_result_from_summary(AggregateResult *result, const ValueSummary *summary,
										   int64 rows, bool *isnull);

/*
 * The value for a group, from its runs: begin, then the runs in ascending order in any
 * number of calls, then end.  What must live until end, and the result, is in the
 * memory context that is current in each of these calls, which must be the same.  Runs
 * are read during the call only.  A group of an ungrouped query may have no values and
 * no NULLs.  Only for aggregates whose needs are AGGREGATE_NEEDS_RUNS.
 */
extern void aggregate_result_begin(AggregateResult *result, const GroupCounts *counts);
extern void aggregate_result_take(AggregateResult *result, const int64 *values,
								  const int64 *counts, size_t nruns);
extern Datum aggregate_result_end(AggregateResult *result, bool *isnull);

/*
 * Between begin and the first runs: whether only the values of some of the group's rows are
 * wanted, which are numbered in ascending order.  Widens first ... last so that they are in it.
 * Runs before first and behind last may then be left out; aggregate_result_skip is given the number
 * of rows that were left out before the first run.
 */
extern bool aggregate_result_wants_rows(const AggregateResult *result, int64 *first, int64 *last);
extern void aggregate_result_skip(AggregateResult *result, int64 rows);

/* Returns how many rows of a group are wanted at most; 0: the value depends on all. */
extern int	aggregate_result_most_rows(const AggregateResult *result);

/*
 * Begins a group of which only some rows are wanted: writes these rows in ascending order, and
 * returns how many they are.  Runs may then be given that end at these rows alone, with the counts
 * of all rows.  Returns 0, and begins nothing, where aggregate_result_most_rows is 0.  Allocates no
 * memory, so that it may be called for any number of groups before one of them is read.
 */
extern int	aggregate_result_list_rows(AggregateResult *result, const GroupCounts *counts,
									   int64 *rows);

/* Sets how many different values there are, in place of the runs of a count(DISTINCT). */
extern void aggregate_result_set_distinct(AggregateResult *result, int64 n);

/*
 * --- hpsort's own aggregates of all rows (aggref_has_state)
 *
 * Where nothing but the state of an aggregate is kept, the result gets all rows as they come, and
 * none of the functions above but make and prepare.  Aggregates with equal arguments share a
 * state: that of the first of them, which is the only one to which rows are added.
 */

/*
 * Adds the rows of a batch of a scan of keys: rows, packed values or runs, and NULLs.  The first
 * rows make the state, which is in the memory of context.
 */
extern void aggregate_result_add(AggregateResult *result, const ColumnBatch *batch);

/* Whether two calls have equal arguments and transitions, so that they share a state. */
extern bool aggregate_result_shares(const AggregateResult *result, const AggregateResult *other);

/*
 * Returns the value of all rows that were added to shared, NULL if there are none.  Of a partial
 * call it is for core's Finalize Aggregate: see aggregate_state_share, which area is for.
 */
extern Datum aggregate_result_from_state(AggregateResult *result, const AggregateResult *shared,
										 dsa_area *area, bool *isnull);

/*
 * Gives a state back, unless it has become a value itself, which lives as long as the memory of
 * context.  Returns true, and what was done, if its keys were put in order by this process.
 */
extern bool aggregate_result_end_state(AggregateResult *result, SorterStats *stats);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_RESULTS_H */
