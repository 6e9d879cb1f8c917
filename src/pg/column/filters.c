/*
 * filters.c
 *		The filters of a scan (see filters.h).
 */
#include "postgres.h"

#include "jit/jit.h"
#include "optimizer/clauses.h"

#include "pg/column/filters.h"
#include "pg/compat.h"

/*
 * Adds conditions that are evaluated where rows lie; number and further are those of RowCondition.
 */
static void
add_conditions(RowFilters *filters, const List *conditions, int number, bool further)
{
	filters->conditions =
		repalloc(filters->conditions,
				 (filters->nconditions + list_length(conditions)) * sizeof(RowCondition));
	foreach_ptr(const FilterCondition, tested, conditions)
	{
		RowCondition *condition = &filters->conditions[filters->nconditions++];

		condition->condition = tested;
		condition->filter = number;
		condition->further = further;
	}
}

/*
 * Splits a filter into conditions, which become those of a number in RowCondition, and what core
 * evaluates, which perhaps may fail.  Returns that; NULL if it is nothing.
 */
static ExprState *
split_filter(RowFilters *filters, ExprState *state, int number, bool *may_fail)
{
	PlanState  *node = state->parent;
	int			jit_flags;
	List	   *others;
	List	   *conditions = filter_conditions_split(state, filters->econtext, &others, may_fail);

	if (conditions == NIL)
		return state;
	add_conditions(filters, conditions, number, false);

	/* A SubPlan is its plan's parent's once, so that such a filter stays whole. */
	if (contain_subplans((Node *) others))
		return state;
	if (node == NULL || bms_is_empty(node->plan->extParam) || node->plan->parallel_aware)
		return ExecInitQual(others, node);

	/* The scan may begin again for each outer row. */
	jit_flags = clause_set_jit(node, PGJIT_NONE);
	state = ExecInitQual(others, node);
	clause_set_jit(node, jit_flags);
	return state;
}

void
row_filters_init(RowFilters *filters, const ColumnScan *scan, TupleTableSlot *slot, bool split)
{
	bool		behind = !split;
	bool		may_fail;
	int			nqual;

	*filters = (RowFilters)
	{
		.qual = scan->qual,
			.econtext = scan->econtext,
			.slot = slot,
			.n = scan->nfilters,
			.states = palloc_array(ExprState *, Max(scan->nfilters, 1)),
			.conditions = palloc_object(RowCondition)
	};
	if (split && scan->qual)
		filters->qual = split_filter(filters, scan->qual, 0, &behind);
	if (behind)
		filters->late = scan->conditions;
	else
		add_conditions(filters, scan->conditions, 0, true);
	filters->by_row = filters->qual != NULL || filters->late != NIL;
	nqual = filters->nconditions;
	for (int f = 0; f < scan->nfilters; f++)
	{
		filters->states[f] = split ? split_filter(filters, scan->filters[f], f + 1, &may_fail) :
			scan->filters[f];
		filters->by_row = filters->by_row || filters->states[f];
	}
	if (filters->nconditions > nqual)
		filters->refusals = palloc_array(uint8, scan->nfilters * MaxHeapTuplesPerPage);
}

bool
row_filters_pass_late(const RowFilters *filters)
{
	foreach_ptr(const FilterCondition, condition, filters->late)
	{
		bool		isnull;
		Datum		value = slot_getattr(filters->slot, condition->attnum, &isnull);

		if (!key_condition_test(condition, value, isnull))
			return false;
	}
	return true;
}

void
row_filters_append(const RowFilters *filters, int i, ColumnBatch *batches)
{
	for (int f = 0; f < filters->n; f++)
	{
		bool		refused = filters->refusals && filters->refusals[f * MaxHeapTuplesPerPage + i];

		if (!refused && filters->states[f])
			refused = !ExecQual(filters->states[f], filters->econtext);
		column_batch_put(&batches[f], 0, refused);
	}
}

void
row_filters_append_page(const RowFilters *filters, int n, ColumnBatch *batches)
{
	for (int f = 0; f < filters->n; f++)
	{
		const uint8 *refused = filters->refusals + f * MaxHeapTuplesPerPage;
		uint8	   *nulls = column_batch_space(&batches[f], n).nulls;
		int			nrefused = 0;

		for (int i = 0; i < n; i++)
			nrefused += nulls[i] = refused[i];
		column_batch_add(&batches[f], n, nrefused);
	}
}
