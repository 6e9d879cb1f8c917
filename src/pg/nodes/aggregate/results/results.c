/*
 * results.c
 *		The value of one aggregate call for group after group (see results.h).
 *
 * Each function takes the runs of a group in its own way (take_values) and makes its value at the
 * end.  Percentiles and array_agg have files of their own.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
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
#include "pg/last_sort.h"
#include "pg/multiset/multiset.h"
#include "pg/nodes/aggregate/results/percentiles.h"
#include "pg/nodes/aggregate/results/results.h"
#include "pg/nodes/aggregate/results/value_array.h"
#include "pg/nodes/aggregate/results/value_list.h"
#include "pg/numeric_sum.h"

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

/* Values of a float that are equal, and may be different integers. */
typedef struct EqualRun
{
	int64		value;			/* the first of them */
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
	ExprContext *econtext;		/* in which options have yet to be evaluated, or NULL */
	ColumnDomain domain;		/* of the values */

	/* of a group */
	GroupCounts counts;			/* as begin was given them */
	ValueSummary summary;		/* of DISTINCT values, each once: n and sum */
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

/* Runs whose values are made something else at once. */
#define RUN_BATCH 1024

/* --- make and prepare */

static bool
is_hypothetical(const AggregateResult *result)
{
	return result->aggref->aggkind == AGGKIND_HYPOTHETICAL;
}

static bool
is_multiset(const AggregateResult *result)
{
	return result->answer.function == AGGREGATE_FUNCTION_MULTISET_AGG;
}

/* Whether the values are gathered until the group ends. */
static bool
is_list(const AggregateResult *result)
{
	return result->answer.function == AGGREGATE_FUNCTION_STRING_AGG ||
		(result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG &&
		 result->answer.kind == COLUMN_KIND_NONE);
}

/* Whether the value is a state, of which another process makes the result. */
static bool
is_partial(const AggregateResult *result)
{
	return DO_AGGSPLIT_SKIPFINAL(result->aggref->aggsplit);
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

	/* Core checks the right to its own. */
	if (answer->function != AGGREGATE_FUNCTION_CORE)
		aggregate_check_call(aggref);
	result->aggref = aggref;
	result->answer = *answer;
	result->keys.context = context;
	result->list.answer = *answer;
	foreach(lc, aggref->aggdirectargs)
		add_constant(result, (Expr *) lfirst(lc), parent);
	if (aggref_has_state(answer) || answer->function == AGGREGATE_FUNCTION_STRING_AGG)
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
			if (!is_partial(result))
				result->keys.array_type = aggregate_array_type(aggref->aggtype);
			break;
		case AGGREGATE_FUNCTION_HPSORT_RUNS_AGG:
			if (!is_partial(result))
				result->keys.run_type = run_array_type(aggref->aggtype);
			break;
		default:
			break;
	}
	return result;
}

void
aggregate_result_set_domain(AggregateResult *result, const ColumnDomain *domain)
{
	result->domain = *domain;
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
 * Evaluates bounds and direction as the transition functions of hpsort's aggregates read them:
 * with the first row of the execution.
 */
static void
read_options(AggregateResult *result)
{
	const ConstantArgument *options = result->constants;

	evaluate_constants(result, result->econtext);
	result->econtext = NULL;
	result->keys.lo = PG_INT32_MIN;
	result->keys.hi = PG_INT32_MAX;
	result->keys.descending = result->answer.descending;
	if (result->nconstants > 0 && !options[0].isnull)
		result->keys.lo = DatumGetInt32(options[0].value);
	if (result->nconstants > 1 && !options[1].isnull)
		result->keys.hi = DatumGetInt32(options[1].value);
	if (result->nconstants > 2)
		result->keys.descending = !options[2].isnull && DatumGetBool(options[2].value);
}

void
aggregate_result_prepare(AggregateResult *result, ExprContext *econtext)
{
	if (aggref_has_state(&result->answer))
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
	if (!is_hypothetical(result))
		return;
	result->row.isnull = result->constants[0].isnull;
	if (!result->row.isnull)
	{
		Oid			type = exprType((Node *) linitial(result->aggref->aggdirectargs));
		ColumnKind	kind = column_read_kind(type);
		Datum		value = result->constants[0].value;

		if (result->answer.ranks)
			return;
		result->row.no_peers = false;
		if (result->domain.kind == COLUMN_KIND_NUMERIC)
			result->row.value = numeric_unit_ceil(result->domain.unit, value,
												  &result->row.no_peers);
		else if (column_kind_is_float(kind))
			result->row.value = column_value_equals(kind, column_value(kind, value));
		else
			result->row.value = column_value(kind, value);
		if (result->domain.labels)
			result->row.value = enum_label_rank(result->domain.labels, (Oid) result->row.value,
												&result->row.no_peers);
	}
}

void
aggregate_result_set_order(AggregateResult *result, const DictionaryOrder *order)
{
	bool		found;

	result->domain.order = order;
	if (!is_hypothetical(result) || result->row.isnull)
		return;
	result->row.value = (int64) dictionary_order_find(order, result->constants[0].value, &found);
	result->row.no_peers = !found;
}

void
aggregate_result_take_datums(AggregateResult *result, bool datums)
{
	const Var  *column = result->answer.column;

	result->domain.datums = datums;
	if (datums && is_hypothetical(result))
		dictionary_order_compare(&result->compare, getBaseType(column->vartype),
								 column->varcollid);
}

/* --- from a summary */

/*
 * Returns a sum in the type of the call, or in that of which avg is a quotient.  Sums of int2 and
 * int4 are int8s in core, which does not check them for overflow.
 */
static Datum
sum_of(const AggregateResult *result, const ValueSummary *summary)
{
	switch (result->aggref->aggfnoid)
	{
		case F_SUM_NUMERIC:
		case F_AVG_NUMERIC:
			/* NaN is the largest value, and the sum of all that it is in. */
			if (summary->max == numeric_unit_nan(result->domain.unit))
				return numeric_unit_datum(result->domain.unit, summary->max);
			return numeric_unit_sum(result->domain.unit, summary->sum);
		case F_SUM_INT8:
		case F_AVG_INT8:
			return numeric_from_sum(summary->sum);
		case F_AVG_INT2:
		case F_AVG_INT4:
			return NumericGetDatum(int64_to_numeric((int64) summary->sum));
		default:
			return Int64GetDatum((int64) summary->sum);
	}
}

/* Returns the average as core computes it: a division of numerics. */
static Datum
average_of(const AggregateResult *result, const ValueSummary *summary)
{
	Datum		sum = sum_of(result, summary);

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
			return sum_of(result, summary);
		case AGGREGATE_FUNCTION_AVG:
			return average_of(result, summary);
		case AGGREGATE_FUNCTION_MIN:
			return column_domain_datum(&result->domain, summary->min);
		case AGGREGATE_FUNCTION_MAX:
			return column_domain_datum(&result->domain, summary->max);
		case AGGREGATE_FUNCTION_VAR_POP:
		case AGGREGATE_FUNCTION_VAR_SAMP:
		case AGGREGATE_FUNCTION_STDDEV_POP:
		case AGGREGATE_FUNCTION_STDDEV_SAMP:
			return value_moments_variance(&summary->moments, result->answer.function, summary->n,
										  summary->sum, isnull);
		case AGGREGATE_FUNCTION_BIT_AND:
		case AGGREGATE_FUNCTION_BIT_OR:
		case AGGREGATE_FUNCTION_BIT_XOR:
			return column_domain_datum(&result->domain,
									   value_moments_bits(&summary->moments,
														  result->answer.function));
		default:
			elog(ERROR, "aggregate %u needs the values in order", result->aggref->aggfnoid);
	}
}

/*
 * Adds runs to an aggregate of a summary of DISTINCT values, where each run counts once, and to min
 * and max.
 */
static void
take_distinct(AggregateResult *result, const int64 *values, size_t nruns)
{
	size_t		i;

	if (nruns == 0)
		return;
	if (result->answer.function == AGGREGATE_FUNCTION_MIN && result->summary.n == 0)
		result->summary.min = column_domain_keep(&result->domain, values[0]);
	if (result->answer.function == AGGREGATE_FUNCTION_MAX)
		result->summary.max = column_domain_keep(&result->domain, values[nruns - 1]);
	result->summary.n += (int64) nruns;
	for (i = 0; i < nruns; i++)
		result->summary.sum += values[i];
	if (function_has_moments(result->answer.function))
		value_moments_add(&result->summary.moments, values, NULL, nruns);
}

/* --- the mode */

/* Finds the most frequent value; of several, the first in the order of the call. */
static void
take_mode(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	int64		mode = result->mode;
	int64		mode_count = result->mode_count;

	/* In descending order a later run comes first. */
	int64		ahead = result->answer.descending ? 1 : 0;
	bool		other = false;
	size_t		i;

	for (i = 0; i < nruns; i++)
	{
		if (counts[i] + ahead > mode_count)
		{
			mode = values[i];
			mode_count = counts[i];
			other = true;
		}
	}
	if (other)
		result->mode = column_domain_keep(&result->domain, mode);
	result->mode_count = mode_count;
}

/* --- hpsort's own aggregates */

/*
 * Makes the state when there is a row.  Without rows the aggregate is NULL, and wrong bounds are
 * no error.
 */
static void
make_state(AggregateResult *result)
{
	KeyState   *keys = &result->keys;

	if (result->econtext)
		read_options(result);
	sort_bounds_check(keys->lo, keys->hi);
	if (result->answer.function == AGGREGATE_FUNCTION_HPSORT_KEYS_AGG && !is_partial(result))
		keys->state = state_object_make((MemoryContext) keys->context->allocator.arena, keys->lo,
										keys->hi);
	else
		keys->state = aggregate_state_make(keys->context, keys->lo, keys->hi, keys->descending);
	if (result->aggref->aggorder != NIL)
	{
		keys->state->ordered = true;
		keys->state->nulls_first = result->answer.nulls_first;
	}
}

/* Gives the state back.  The value is a copy, which outlives it. */
static void
free_state(AggregateResult *result)
{
	if (result->keys.state == NULL)
		return;
	sorter_reset(&result->keys.state->sorter);
	pfree(result->keys.state);
	result->keys.state = NULL;
}

/*
 * Returns the multiset of a state, also to another process: the keys are put in order here, in
 * parallel plans without the GPU, which processes do not share.
 */
static Datum
multiset_of_state(const AggregateResult *result, AggregateState *state)
{
	SortContext cpu;
	Datum		value;

	if (is_partial(result))
	{
		pg_sort_context_lenient(&cpu, (MemoryContext) result->keys.context->allocator.arena, false);
		state->sorter.context = &cpu;
	}
	value = PointerGetDatum(multiset_sorter_flat(&state->sorter));
	last_sort_record("int4multiset_agg", &state->sorter, NULL, state->nulls);
	state->sorter.context = result->keys.context;
	return value;
}

Datum
aggregate_result_from_state(AggregateResult *result, const AggregateResult *shared,
							dsa_area *area, bool *isnull)
{
	AggregateState *state = shared->keys.state;

	*isnull = state == NULL;
	if (state == NULL)
		return (Datum) 0;
	if (is_multiset(result))
		return multiset_of_state(result, state);
	if (is_partial(result))
		return aggregate_state_share(state, area);
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_HPSORT_AGG:
			return aggregate_state_array(state, result->keys.array_type, "hpsort_agg");
		case AGGREGATE_FUNCTION_HPSORT_RUNS_AGG:
			return aggregate_state_runs(state, result->keys.run_type);
		default:
			return state_object_datum(state);
	}
}

static Datum
end_state(AggregateResult *result, bool *isnull)
{
	Datum		value = aggregate_result_from_state(result, result, NULL, isnull);

	free_state(result);
	return value;
}

void
aggregate_result_add(AggregateResult *result, const ColumnBatch *batch)
{
	Sorter	   *sorter;
	SortStatus	status;
	SortError	err;

	if (batch->n == 0 && batch->nnulls == 0)
		return;
	if (result->keys.state == NULL)
		make_state(result);
	result->keys.state->nulls += batch->nnulls;
	sorter = &result->keys.state->sorter;
	if (batch->runs)
		status = sorter_add_runs(sorter, batch->runs->keys, batch->runs->counts, batch->runs->len,
								 &err);
	else if (batch->packed.n > 0)
		status = sorter_add_packed(sorter, &batch->packed, &err);
	else if (batch->nnulls == 0)
		status = sorter_add(sorter, batch->keys, batch->n, &err);
	else
	{
		int32		keys[COLUMN_BATCH_KEYS];

		status = sorter_add(sorter, keys, column_batch_copy_keys(batch, keys), &err);
	}
	pg_sort_check(status, &err);
}

bool
aggregate_result_shares(const AggregateResult *result, const AggregateResult *other)
{
	return result->aggref->aggtransno == other->aggref->aggtransno;
}

bool
aggregate_result_end_state(AggregateResult *result, SorterStats *stats)
{
	bool		sorted;

	/* What the leader's Finalize Aggregate gets of this process stays as long as its memory. */
	if (result->keys.state == NULL || result->keys.state->object ||
		(is_partial(result) && !is_multiset(result) && !IsParallelWorker()))
	{
		result->keys.state = NULL;
		return false;
	}
	sorted = !is_partial(result);
	if (sorted)
		pg_sort_stats(&result->keys.state->sorter, NULL, stats);
	free_state(result);
	return sorted;
}

/* --- from runs */

void
aggregate_result_begin(AggregateResult *result, const GroupCounts *counts)
{
	result->counts = *counts;
	memset(&result->summary, 0, sizeof(result->summary));
	result->mode_count = 0;
	result->equal.count = 0;
	hypothetical_row_begin(&result->row);
	if (result->percentiles != NULL)
		percentiles_begin(result->percentiles, counts->values);
	else if (is_list(result))
		value_list_begin(&result->list, counts->nulls);
	else if (result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG)
		value_array_begin(&result->array, counts->values, counts->nulls);
	else if (is_multiset(result))
		multiset_builder_begin(&result->multiset);
	else if (aggref_has_state(&result->answer) && counts->values + counts->nulls > 0)
	{
		make_state(result);
		result->keys.state->nulls = counts->nulls;
	}
}

/* Gives runs, narrowed, to the sorter or to the multiset, which wants them in order. */
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
			pg_sort_check(sorter_add_runs(&result->keys.state->sorter, keys, key_counts, n, &err),
						  &err);
	}
}

static void
take_values(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	if (result->percentiles)
		percentiles_take(result->percentiles, &result->domain, values, counts, nruns);
	else if (is_hypothetical(result))
	{
		if (result->domain.datums)
			hypothetical_row_take_datums(&result->row, result->constants[0].value,
										 &result->compare, values, counts, nruns);
		else
			hypothetical_row_take(&result->row, values, counts, nruns);
	}
	else if (aggref_has_state(&result->answer))
		take_keys(result, values, counts, nruns);
	else if (is_list(result))
		value_list_take(&result->list, &result->domain, values, counts, nruns);
	else if (result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG)
		value_array_take(&result->array, values, counts, nruns);
	else if (result->answer.function == AGGREGATE_FUNCTION_MODE)
		take_mode(result, values, counts, nruns);
	else
		take_distinct(result, values, nruns);
}

/*
 * Whether a function takes each value once, or looks for values that are equal: runs of floats that
 * are equal must be one run then.
 */
static bool
takes_equal(const AggregateResult *result)
{
	return column_kind_is_float(result->domain.kind) &&
		(result->answer.distinct || is_hypothetical(result) ||
		 result->answer.function == AGGREGATE_FUNCTION_MODE);
}

/*
 * Gives up to RUN_BATCH runs to the function, as it takes values: array_agg gets labels in place of
 * their ranks, and the bits of floats.
 */
static void
take_translated(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	int64		translated[RUN_BATCH];
	bool		elements = result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG;
	size_t		i;

	if (elements && result->domain.labels)
		for (i = 0; i < nruns; i++)
			translated[i] = enum_label_at(result->domain.labels, (int) values[i]);
	else if (elements && result->domain.kind == COLUMN_KIND_FLOAT8)
		for (i = 0; i < nruns; i++)
			translated[i] = (int64) float8_key_bits(values[i]);
	else if (elements && result->domain.kind == COLUMN_KIND_FLOAT4)
		for (i = 0; i < nruns; i++)
			translated[i] = float4_key_bits((int32) values[i]);
	else
	{
		take_values(result, values, counts, nruns);
		return;
	}
	take_values(result, translated, counts, nruns);
}

/* Gives the last run of equal floats to the function. */
static void
take_equal_run(AggregateResult *result)
{
	EqualRun   *run = &result->equal;

	if (run->count > 0)
		take_translated(result, &run->value, &run->count, 1);
	run->count = 0;
}

/*
 * Gives runs of floats to the function, of which equal ones are made one.  A hypothetical row is
 * compared with the value that stands for all equal ones.
 */
static void
take_equal_runs(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	ColumnKind	kind = result->domain.kind;
	EqualRun   *run = &result->equal;
	int64		merged[RUN_BATCH];
	int64		merged_counts[RUN_BATCH];
	size_t		n = 0;
	size_t		i;

	for (i = 0; i < nruns; i++)
	{
		int64		equals = column_value_equals(kind, values[i]);

		if (run->count > 0 && column_value_equals(kind, run->value) == equals)
		{
			run->count += counts[i];
			continue;
		}
		if (run->count > 0)
		{
			merged[n] = run->value;
			merged_counts[n++] = run->count;
		}
		run->value = is_hypothetical(result) ? equals : values[i];
		run->count = counts[i];
	}
	if (n > 0)
		take_translated(result, merged, merged_counts, n);
}

void
aggregate_result_take(AggregateResult *result, const int64 *values, const int64 *counts,
					  size_t nruns)
{
	bool		equal = takes_equal(result);
	size_t		done;

	/* An array has labels in place of their ranks. */
	if (!equal && !column_kind_is_float(result->domain.kind) &&
		(result->domain.labels == NULL ||
		 result->answer.function != AGGREGATE_FUNCTION_ARRAY_AGG))
	{
		take_values(result, values, counts, nruns);
		return;
	}
	for (done = 0; done < nruns; done += RUN_BATCH)
	{
		size_t		n = Min(nruns - done, RUN_BATCH);

		if (equal)
			take_equal_runs(result, values + done, counts + done, n);
		else
			take_translated(result, values + done, counts + done, n);
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

	take_equal_run(result);
	*isnull = false;
	if (result->percentiles)
		return percentiles_end(result->percentiles, &result->domain, isnull);
	if (is_hypothetical(result))
		return hypothetical_row_value(&result->row, result->aggref, &result->answer,
									  &result->counts);
	if (aggref_has_state(&result->answer) && !is_multiset(result))
		return end_state(result, isnull);
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_MODE:
			*isnull = result->mode_count == 0;
			return *isnull ? (Datum) 0 : column_domain_datum(&result->domain, result->mode);
		case AGGREGATE_FUNCTION_ARRAY_AGG:
			if (is_list(result))
				return value_list_array(&result->list, &result->domain, result->array.type,
										isnull);
			return value_array_end(&result->array, isnull);
		case AGGREGATE_FUNCTION_STRING_AGG:
			return value_list_string(&result->list, &result->domain, result->constants[0].value,
									 result->constants[0].isnull, isnull);
		case AGGREGATE_FUNCTION_MULTISET_AGG:
			*isnull = rows == 0;
			return *isnull ? (Datum) 0 : PointerGetDatum(multiset_builder_end(&result->multiset));
		default:
			return aggregate_result_from_summary(result, &result->summary, rows, isnull);
	}
}
