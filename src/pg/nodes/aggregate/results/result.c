/*
 * result.c
 *		The value of one aggregate call for group after group (see results.h).
 *
 * Each function takes the runs of a group in its own way (take_values) and makes its value at the
 * end.  Percentiles, array_agg and hpsort's own aggregates have files of their own.
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/aggregate/results/result_state.h"
#include "pg/numeric_sum.h"

void
value_summary_add(ValueSummary *summary, const int64 *values, const int64 *counts, size_t nruns)
{
	if (nruns == 0)
		return;
	summary->min = Min(summary->min, values[0]);
	summary->max = Max(summary->max, values[nruns - 1]);
	for (size_t i = 0; i < nruns; i++)
		summary->sum += (ValueSum) values[i] * counts[i];
}

/* --- make and prepare */

static bool
is_hypothetical(const AggregateResult *result)
{
	return result->aggref->aggkind == AGGKIND_HYPOTHETICAL;
}

/* Whether the values are gathered until the group ends. */
static bool
is_list(const AggregateResult *result)
{
	return result->answer.function == AGGREGATE_FUNCTION_STRING_AGG ||
		(result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG &&
		 (result->answer.kind == COLUMN_KIND_NONE ||
		  result->answer.kind == COLUMN_KIND_NUMERIC));
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
	Oid			final = InvalidOid;
	ListCell   *lc;

	/* Core checks the right to its own. */
	if (answer->function != AGGREGATE_FUNCTION_CORE)
		final = aggregate_check_call(aggref);
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
	if (float_totals_parts(answer) & (FLOAT_SQUARES | FLOAT_REGRESSION))
		fmgr_info(final, &result->final);
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
	if (!result->row.isnull && !result->answer.ranks)
		hypothetical_row_set(&result->row, &result->domain,
							 exprType((Node *) linitial(result->aggref->aggdirectargs)),
							 result->constants[0].value);
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
		dictionary_order_compare(&result->compare,
								 dictionary_order_operator(getBaseType(column->vartype)),
								 column->varcollid);
}

/* --- from a summary */

/* Whether NaN, the largest numeric, is among the values: it is the sum and the variance of all. */
static bool
has_nan(const AggregateResult *result, const ValueSummary *summary)
{
	return result->domain.kind == COLUMN_KIND_NUMERIC &&
		summary->max == numeric_unit_nan(result->domain.unit);
}

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
			if (has_nan(result, summary))
				return numeric_unit_datum(result->domain.unit, summary->max);
			if (summary->outsized)
				return DirectFunctionCall2(numeric_add, *summary->outsized,
										   numeric_unit_sum(result->domain.unit, summary->sum));
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

/* Returns a variance or standard deviation; NULL if a sample is of one value. */
static Datum
variance_of(const AggregateResult *result, const ValueSummary *summary, bool *isnull)
{
	Datum		variance = value_moments_variance(&summary->moments, result->answer.function,
												  summary->n, summary->sum,
												  result->domain.unit.scale, isnull);

	return !*isnull && has_nan(result, summary) ?
		numeric_unit_datum(result->domain.unit, summary->max) : variance;
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
	if (summary->floats)
		return float_totals_result(summary->floats, &result->answer, &result->final, isnull);
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
			return variance_of(result, summary, isnull);
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
	int			parts = float_totals_parts(&result->answer);

	if (nruns == 0)
		return;
	if (result->answer.function == AGGREGATE_FUNCTION_MIN && result->summary.n == 0)
		result->summary.min = column_domain_keep(&result->domain, values[0]);
	if (result->answer.function == AGGREGATE_FUNCTION_MAX ||
		result->domain.kind == COLUMN_KIND_NUMERIC)
		result->summary.max = column_domain_keep(&result->domain, values[nruns - 1]);
	result->summary.n += (int64) nruns;
	if (parts != 0)
	{
		for (size_t i = 0; i < nruns; i++)
			float_totals_add(&result->floats, result->answer.kind, parts, values[i]);
		result->summary.floats = &result->floats;
		return;
	}
	for (size_t i = 0; i < nruns; i++)
		result->summary.sum += values[i];
	if (aggref_has_moments(&result->answer))
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

	for (size_t i = 0; i < nruns; i++)
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

/* --- from runs */

void
aggregate_result_begin(AggregateResult *result, const GroupCounts *counts)
{
	result->counts = *counts;
	memset(&result->summary, 0, sizeof(result->summary));
	memset(&result->floats, 0, sizeof(result->floats));
	result->mode_count = 0;
	result->equal.count = 0;
	result->row.below = result->row.distinct_below = 0;
	result->row.peers = result->row.distinct = 0;
	if (result->percentiles != NULL)
		percentiles_begin(result->percentiles, counts->values);
	else if (is_list(result))
		value_list_begin(&result->list, counts->nulls, result->constants[0].value,
						 result->constants[0].isnull);
	else if (result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG)
		value_array_begin(&result->array, counts->values, counts->nulls);
	else if (is_multiset(result))
		multiset_builder_begin(&result->multiset);
	else if (aggref_has_state(&result->answer) && counts->values + counts->nulls > 0)
	{
		key_result_begin(result);
		result->keys.state->nulls = counts->nulls;
	}
}

static void
take_values(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	if (result->percentiles)
		percentiles_take(result->percentiles, &result->domain, values, counts, nruns);
	else if (is_hypothetical(result))
		hypothetical_row_take(&result->row, result->constants[0].value,
							  result->domain.datums ? &result->compare : NULL, values, counts,
							  nruns);
	else if (aggref_has_state(&result->answer))
		key_result_take(result, values, counts, nruns);
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

/* Gives up to RUN_BATCH runs to the function, as it takes values. */
static void
take_translated(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	int64		elements[RUN_BATCH];

	if (result->answer.function == AGGREGATE_FUNCTION_ARRAY_AGG &&
		value_array_elements(&result->domain, values, nruns, elements))
		values = elements;
	take_values(result, values, counts, nruns);
}

/*
 * Merges runs of a float's kind, the next ones of a group: writes the runs that are complete to
 * merged and merged_counts, at most nruns, and returns how many; *run is the one that is not.
 * stand_in: runs get the value that stands for all equal ones, otherwise the first of these.
 */
static size_t
merge_equal(EqualRun *run, ColumnKind kind, bool stand_in, const int64 *values,
			const int64 *counts, size_t nruns, int64 *merged, int64 *merged_counts)
{
	size_t		n = 0;

	for (size_t i = 0; i < nruns; i++)
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
		run->value = stand_in ? equals : values[i];
		run->count = counts[i];
	}
	return n;
}

/* Does what take_translated does, but equal floats are one run. */
static void
take_equal(AggregateResult *result, const int64 *values, const int64 *counts, size_t nruns)
{
	int64		merged[RUN_BATCH];
	int64		merged_counts[RUN_BATCH];

	nruns = merge_equal(&result->equal, result->domain.kind, is_hypothetical(result), values,
						counts, nruns, merged, merged_counts);
	if (nruns > 0)
		take_translated(result, merged, merged_counts, nruns);
}

void
aggregate_result_take(AggregateResult *result, const int64 *values, const int64 *counts,
					  size_t nruns)
{
	bool		equal = takes_equal(result);

	if (!equal && result->answer.function != AGGREGATE_FUNCTION_ARRAY_AGG)
	{
		take_values(result, values, counts, nruns);
		return;
	}
	for (size_t done = 0; done < nruns; done += RUN_BATCH)
	{
		size_t		n = Min(nruns - done, RUN_BATCH);

		if (equal)
			take_equal(result, values + done, counts + done, n);
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

	if (result->equal.count > 0)
		take_translated(result, &result->equal.value, &result->equal.count, 1);
	*isnull = false;
	if (result->percentiles)
		return percentiles_end(result->percentiles, &result->domain, isnull);
	if (is_hypothetical(result))
		return hypothetical_row_value(&result->row, result->aggref, &result->answer,
									  &result->counts);
	if (aggref_has_state(&result->answer) && !is_multiset(result))
		return key_result_end(result, isnull);
	switch (result->answer.function)
	{
		case AGGREGATE_FUNCTION_MODE:
			*isnull = result->mode_count == 0;
			return *isnull ? (Datum) 0 : column_domain_datum(&result->domain, result->mode);
		case AGGREGATE_FUNCTION_ARRAY_AGG:
			if (is_list(result))
				return value_list_array(&result->list, result->array.type, isnull);
			return value_array_end(&result->array, isnull);
		case AGGREGATE_FUNCTION_STRING_AGG:
			return value_list_string(&result->list, isnull);
		case AGGREGATE_FUNCTION_MULTISET_AGG:
			*isnull = rows == 0;
			return *isnull ? (Datum) 0 : PointerGetDatum(multiset_builder_end(&result->multiset));
		default:
			return aggregate_result_from_summary(result, &result->summary, rows, isnull);
	}
}
