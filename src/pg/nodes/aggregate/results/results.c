/*
 * results.c
 *		The value of one aggregate call for group after group (see results.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/syscache.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/functions/functions.h"
#include "pg/multiset/multiset.h"
#include "pg/nodes/aggregate/results/percentiles.h"
#include "pg/nodes/aggregate/results/results.h"
#include "pg/nodes/aggregate/results/value_array.h"
#include "pg/numeric_sum.h"

/* The most constant arguments of a call: bounds and direction. */
#define MAX_CONSTANTS 3

/* A direct argument or option, which has one value for an execution. */
typedef struct ConstantArgument
{
	ExprState  *state;
	Datum		value;
	bool		isnull;
} ConstantArgument;

struct AggregateResult
{
	const Aggref *aggref;
	AggregateAnswer answer;
	int			nconstants;
	ConstantArgument constants[MAX_CONSTANTS];
	MemoryContext memory;		/* of the constants of an execution */
	ExprContext *econtext;		/* in which options have yet to be evaluated, or NULL */
	EnumLabels *labels;			/* whose ranks the values are, or NULL */

	/* of a group */
	GroupCounts counts;
	ValueSummary summary;		/* of DISTINCT values: n and sum */
	int64		mode;
	int64		mode_count;

	/* of hypothetical-set functions: the argument, and what is in order before and like it */
	int64		hypothetical;
	bool		no_peers;		/* it is an enum's label that no row can have */
	int64		below;			/* values less than it */
	int64		distinct_below;
	int64		peers;			/* values equal to it */
	int64		distinct;
	bool		equality_checked;

	/* by function */
	Percentiles *percentiles;
	ValueArray	array;
	const SortContext *context;
	int32		lo;
	int32		hi;
	bool		descending;
	Oid			array_type;
	TupleDesc	run_type;
	AggregateState *state;
	MultisetBuilder multiset;
};

void
value_summary_add(ValueSummary *summary, const int64 *values, const int64 *counts, size_t nruns)
{
	size_t		i;

	if (nruns == 0)
		return;
	summary->min = Min(summary->min, values[0]);
	summary->max = Max(summary->max, values[nruns - 1]);
	for (i = 0; i < nruns; i++)
		summary->sum += (ValueSum) values[i] * counts[i];
}

/* --- rights */

void
aggregate_check_function(Oid function, Oid role)
{
	if (!OidIsValid(function))
		return;
	if (!compat_role_may_execute(function, role))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

void
aggregate_check_execute(const Aggref *aggref)
{
	Oid			aggregate = aggref->aggfnoid;
	HeapTuple	tuple;
	Oid			transition;
	Oid			final;
	Oid			owner;

	if (!compat_role_may_execute(aggregate, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_AGGREGATE, get_func_name(aggregate));
	InvokeFunctionExecuteHook(aggregate);

	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;
	ReleaseSysCache(tuple);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", aggregate);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	aggregate_check_function(transition, owner);
	aggregate_check_function(final, owner);
	if (aggref->args != NIL)
	{
		const Expr *argument = linitial_node(TargetEntry, aggref->args)->expr;

		if (IsA(argument, FuncExpr))
			aggregate_check_function(((const FuncExpr *) argument)->funcid, GetUserId());
	}
}

/* Runs whose values are made something else at once. */
#define RUN_BATCH 1024

/* --- make and prepare */

static bool
is_hypothetical(const AggregateResult *result)
{
	return result->aggref->aggkind == AGGKIND_HYPOTHETICAL;
}

static bool
is_hpsort(const AggregateResult *result)
{
	return result->answer.function == AGGREGATE_FUNCTION_HPSORT_AGG ||
		result->answer.function == AGGREGATE_FUNCTION_HPSORT_RUNS_AGG;
}

static bool
is_multiset(const AggregateResult *result)
{
	return result->answer.function == AGGREGATE_FUNCTION_MULTISET_AGG;
}

static void
add_constant(AggregateResult *result, Expr *expression, PlanState *parent)
{
	if (result->nconstants == MAX_CONSTANTS)
		elog(ERROR, "too many arguments of aggregate %u", result->aggref->aggfnoid);
	result->constants[result->nconstants++].state = ExecInitExpr(expression, parent);
}

AggregateResult *
aggregate_result_make(const Aggref *aggref, const AggregateAnswer *answer, PlanState *parent,
					  const SortContext *context)
{
	AggregateResult *result = palloc0_object(AggregateResult);
	ListCell   *lc;

	aggregate_check_execute(aggref);
	result->aggref = aggref;
	result->answer = *answer;
	result->context = context;
	foreach(lc, aggref->aggdirectargs)
		add_constant(result, (Expr *) lfirst(lc), parent);
	if (is_hpsort(result))
		for_each_from(lc, aggref->args, 1)
			add_constant(result, lfirst_node(TargetEntry, lc)->expr, parent);
	if (result->nconstants > 0)
		result->memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort aggregate arguments",
											   ALLOCSET_SMALL_SIZES);
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_PERCENTILE_DISC:
		case AGGREGATE_FUNCTION_PERCENTILE_DISC_ARRAY:
		case AGGREGATE_FUNCTION_PERCENTILE_CONT:
		case AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY:
			result->percentiles = percentiles_make(aggref, answer);
			break;
		case AGGREGATE_FUNCTION_ARRAY_AGG:
			result->array.type = get_element_type(aggref->aggtype);
			result->array.kind = answer->kind;
			result->array.distinct = answer->distinct;
			result->array.descending = answer->descending;
			result->array.nulls_first = answer->nulls_first;
			break;
		case AGGREGATE_FUNCTION_HPSORT_AGG:
			result->array_type = aggregate_array_type(aggref->aggtype);
			break;
		case AGGREGATE_FUNCTION_HPSORT_RUNS_AGG:
			result->run_type = run_array_type(aggref->aggtype);
			break;
		default:
			break;
	}
	return result;
}

void
aggregate_result_set_labels(AggregateResult *result, EnumLabels *labels)
{
	result->labels = labels;
}

/* A value of the runs as a Datum. */
static Datum
value_datum(const AggregateResult *result, int64 value)
{
	if (result->labels)
		return ObjectIdGetDatum(enum_label_at(result->labels, (int) value));
	return column_datum(result->answer.kind, value);
}

static void
evaluate_constants(AggregateResult *result, ExprContext *econtext)
{
	int			i;

	for (i = 0; i < result->nconstants; i++)
	{
		ConstantArgument *constant = &result->constants[i];

		constant->value = ExecEvalExprSwitchContext(constant->state, econtext, &constant->isnull);
	}
}

/*
 * Bounds and direction, as the transition functions of hpsort's aggregates read them: evaluated
 * with the execution's first row that the aggregate counts.
 */
static void
read_options(AggregateResult *result)
{
	const ConstantArgument *options = result->constants;

	evaluate_constants(result, result->econtext);
	result->econtext = NULL;
	result->lo = PG_INT32_MIN;
	result->hi = PG_INT32_MAX;
	result->descending = result->answer.descending;
	if (result->nconstants > 0 && !options[0].isnull)
		result->lo = DatumGetInt32(options[0].value);
	if (result->nconstants > 1 && !options[1].isnull)
		result->hi = DatumGetInt32(options[1].value);
	if (result->nconstants > 2)
		result->descending = !options[2].isnull && DatumGetBool(options[2].value);
}

void
aggregate_result_prepare(AggregateResult *result, ExprContext *econtext)
{
	if (is_hpsort(result))
	{
		result->econtext = econtext;
		return;
	}
	if (result->nconstants > 0)
		MemoryContextReset(result->memory);
	evaluate_constants(result, econtext);
	if (result->percentiles != NULL)
		percentiles_prepare(result->percentiles, result->constants[0].value,
							result->constants[0].isnull, result->memory);
	else if (is_hypothetical(result) && !result->constants[0].isnull)
	{
		Oid			type = exprType((Node *) linitial(result->aggref->aggdirectargs));

		result->hypothetical = column_value(column_kind(type), result->constants[0].value);
		if (result->labels)
			result->hypothetical = enum_label_rank(result->labels, (Oid) result->hypothetical,
												   &result->no_peers);
	}
}

/* --- from a summary */

/* Sums of int2 and int4 are int8s in core, which are not checked for overflow. */
static Datum
sum_of(const AggregateResult *result, ValueSum sum)
{
	if (result->aggref->aggfnoid == F_SUM_INT8)
		return numeric_from_sum(sum);
	return Int64GetDatum((int64) sum);
}

static Datum
average_of(const AggregateResult *result, const ValueSummary *summary)
{
	Datum		sum = result->aggref->aggfnoid == F_AVG_INT8 ? numeric_from_sum(summary->sum) :
	NumericGetDatum(int64_to_numeric((int64) summary->sum));

	return DirectFunctionCall2(numeric_div, sum, NumericGetDatum(int64_to_numeric(summary->n)));
}

Datum
aggregate_result_from_summary(AggregateResult *result, const ValueSummary *summary, int64 rows,
							  bool *isnull)
{
	*isnull = false;
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_COUNT_ROWS:
			return Int64GetDatum(rows);
		case AGGREGATE_FUNCTION_COUNT:
			return Int64GetDatum(summary->n);
		default:
			break;
	}
	*isnull = summary->n == 0;
	if (*isnull)
		return (Datum) 0;
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_SUM:
			return sum_of(result, summary->sum);
		case AGGREGATE_FUNCTION_AVG:
			return average_of(result, summary);
		case AGGREGATE_FUNCTION_MIN:
			return value_datum(result, summary->min);
		case AGGREGATE_FUNCTION_MAX:
			return value_datum(result, summary->max);
		default:
			elog(ERROR, "aggregate %u needs the values in order", result->aggref->aggfnoid);
	}
}

/* Of count, sum and avg of DISTINCT values: each run counts once. */
static void
take_distinct(AggregateResult *result, const int64 *values, size_t nruns)
{
	size_t		i;

	result->summary.n += (int64) nruns;
	for (i = 0; i < nruns; i++)
		result->summary.sum += values[i];
}

/* --- the mode */

/* The most frequent value; of several, the first in the order of the call. */
static void
take_mode(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	int64		mode = result->mode;
	int64		mode_count = result->mode_count;

	/* In descending order a later run comes first. */
	int64		ahead = result->answer.descending ? 1 : 0;
	size_t		i;

	for (i = 0; i < nruns; i++)
	{
		if (counts[i] + ahead > mode_count)
		{
			mode = values[i];
			mode_count = counts[i];
		}
	}
	result->mode = mode;
	result->mode_count = mode_count;
}

/* --- hypothetical-set functions */

static void
take_ranks(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	size_t		i;

	result->distinct += (int64) nruns;
	if (result->constants[0].isnull)
		return;
	for (i = 0; i < nruns && values[i] < result->hypothetical; i++)
	{
		result->below += counts[i];
		result->distinct_below++;
	}
	if (i < nruns && values[i] == result->hypothetical && !result->no_peers)
		result->peers = counts[i];
}

/* Rows and different rows before the hypothetical one, and its peers; NULLs are rows too. */
static void
count_before(const AggregateResult *result, int64 *rows, int64 *distinct, int64 *peers)
{
	const GroupCounts *counts = &result->counts;
	bool		peer = result->peers > 0;

	if (result->constants[0].isnull)
	{
		*rows = result->answer.nulls_first ? 0 : counts->values;
		*distinct = result->answer.nulls_first ? 0 : result->distinct;
		*peers = counts->nulls;
		return;
	}
	*peers = result->peers;
	*rows = result->below;
	*distinct = result->distinct_below;
	if (result->answer.descending)
	{
		*rows = counts->values - result->below - result->peers;
		*distinct = result->distinct - result->distinct_below - (peer ? 1 : 0);
	}
	if (result->answer.nulls_first)
	{
		*rows += counts->nulls;
		*distinct += counts->nulls > 0 ? 1 : 0;
	}
}

/* Core's dense_rank calls the type's equality, and asks for the right where there is a row. */
static void
check_equality(AggregateResult *result)
{
	const SortGroupClause *order = linitial_node(SortGroupClause, result->aggref->aggorder);

	if (!result->equality_checked)
		aggregate_check_function(get_opcode(order->eqop), GetUserId());
	result->equality_checked = true;
}

static Datum
hypothetical_value(AggregateResult *result)
{
	int64		total = result->counts.values + result->counts.nulls;
	int64		rows;
	int64		distinct;
	int64		peers;

	count_before(result, &rows, &distinct, &peers);
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_RANK:
			return Int64GetDatum(rows + 1);
		case AGGREGATE_FUNCTION_DENSE_RANK:
			if (total > 0)
				check_equality(result);
			return Int64GetDatum(distinct + 1);
		case AGGREGATE_FUNCTION_PERCENT_RANK:
			return Float8GetDatum(total == 0 ? 0 : (double) rows / (double) total);
		default:
			/* The row itself is one of those up to its last peer. */
			return Float8GetDatum((double) (rows + peers + 1) / (double) (total + 1));
	}
}

/* --- hpsort's own aggregates */

static void
begin_state(AggregateResult *result)
{
	result->state = NULL;
	/* Without rows the aggregate is NULL, and wrong bounds are no error. */
	if (result->counts.values + result->counts.nulls == 0)
		return;
	if (result->econtext)
		read_options(result);
	sort_bounds_check(result->lo, result->hi);
	result->state = aggregate_state_make(result->context, result->lo, result->hi,
										 result->descending);
	result->state->nulls = result->counts.nulls;
	if (result->aggref->aggorder != NIL)
	{
		result->state->ordered = true;
		result->state->nulls_first = result->answer.nulls_first;
	}
}

static Datum
end_state(AggregateResult *result, bool *isnull)
{
	AggregateState *state = result->state;
	Datum		value;

	*isnull = state == NULL;
	if (state == NULL)
		return (Datum) 0;
	if (result->answer.function == AGGREGATE_FUNCTION_HPSORT_AGG)
		value = aggregate_state_array(state, result->array_type, "hpsort_agg");
	else
		value = aggregate_state_runs(state, result->run_type);
	/* The result is a copy, which outlives the sorter. */
	sorter_reset(&state->sorter);
	pfree(state);
	result->state = NULL;
	return value;
}

/* --- from runs */

void
aggregate_result_begin(AggregateResult *result, const GroupCounts *counts)
{
	result->counts = *counts;
	memset(&result->summary, 0, sizeof(result->summary));
	result->mode_count = 0;
	result->below = 0;
	result->distinct_below = 0;
	result->peers = 0;
	result->distinct = 0;
	if (result->percentiles != NULL)
		percentiles_begin(result->percentiles, counts->values);
	else if (result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG)
		value_array_begin(&result->array, counts->values, counts->nulls);
	else if (is_multiset(result))
		multiset_builder_begin(&result->multiset);
	else if (is_hpsort(result))
		begin_state(result);
}

/* Runs, whose values are narrowed, for the sorter or the multiset, which wants them in order. */
static void
take_keys(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	int32		keys[RUN_BATCH];
	SortError	err;
	size_t		done;

	for (done = 0; done < nruns; done += RUN_BATCH)
	{
		const uint64 *key_counts = (const uint64 *) counts + done;
		size_t		n = Min(nruns - done, RUN_BATCH);
		size_t		i;

		for (i = 0; i < n; i++)
			keys[i] = column_narrow(values[done + i]);
		if (is_multiset(result))
			multiset_builder_add(&result->multiset, keys, key_counts, n);
		else
			pg_sort_check(sorter_add_runs(&result->state->sorter, keys, key_counts, n, &err), &err);
	}
}

static void
take_values(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	if (result->percentiles)
		percentiles_take(result->percentiles, values, counts, nruns);
	else if (is_hypothetical(result))
		take_ranks(result, values, counts, nruns);
	else if (is_hpsort(result) || is_multiset(result))
		take_keys(result, values, counts, nruns);
	else if (result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG)
		value_array_take(&result->array, values, counts, nruns);
	else if (result->answer.function == AGGREGATE_FUNCTION_MODE)
		take_mode(result, values, counts, nruns);
	else
		take_distinct(result, values, nruns);
}

void
aggregate_result_take(AggregateResult *result, const int64 *values, const int64 *counts,
					  size_t nruns)
{
	int64		labels[RUN_BATCH];
	size_t		done;

	/* A function that returns some of the values gets the labels of their ranks. */
	if (result->labels == NULL ||
		!(result->percentiles || result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG))
	{
		take_values(result, values, counts, nruns);
		return;
	}
	for (done = 0; done < nruns; done += RUN_BATCH)
	{
		size_t		n = Min(nruns - done, RUN_BATCH);
		size_t		i;

		for (i = 0; i < n; i++)
			labels[i] = enum_label_at(result->labels, (int) values[done + i]);
		take_values(result, labels, counts + done, n);
	}
}

bool
aggregate_result_wants_rows(const AggregateResult *result, int64 *first, int64 *last)
{
	return result->percentiles != NULL && percentiles_want_rows(result->percentiles, first, last);
}

int
aggregate_result_most_rows(const AggregateResult *result)
{
	return result->percentiles ? percentiles_most_rows(result->percentiles) : 0;
}

int
aggregate_result_list_rows(AggregateResult *result, const GroupCounts *counts, int64 *rows)
{
	if (result->percentiles == NULL)
		return 0;
	aggregate_result_begin(result, counts);
	return percentiles_list_rows(result->percentiles, rows);
}

void
aggregate_result_set_distinct(AggregateResult *result, int64 n)
{
	result->summary.n = n;
}

void
aggregate_result_skip(AggregateResult *result, int64 rows)
{
	if (result->percentiles != NULL)
		percentiles_skip(result->percentiles, rows);
}

Datum
aggregate_result_end(AggregateResult *result, bool *isnull)
{
	int64		rows = result->counts.values + result->counts.nulls;

	*isnull = false;
	if (result->percentiles)
		return percentiles_end(result->percentiles, isnull);
	if (is_hypothetical(result))
		return hypothetical_value(result);
	if (is_hpsort(result))
		return end_state(result, isnull);
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_MODE:
			*isnull = result->mode_count == 0;
			return *isnull ? (Datum) 0 : value_datum(result, result->mode);
		case AGGREGATE_FUNCTION_ARRAY_AGG:
			return value_array_end(&result->array, isnull);
		case AGGREGATE_FUNCTION_MULTISET_AGG:
			*isnull = rows == 0;
			return *isnull ? (Datum) 0 : PointerGetDatum(multiset_builder_end(&result->multiset));
		default:
			return aggregate_result_from_summary(result, &result->summary, rows, isnull);
	}
}
