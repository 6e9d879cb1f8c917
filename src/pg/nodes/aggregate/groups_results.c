/*
 * groups_results.c
 *		The values of the aggregates of a group, from whichever GroupReader has the group.
 *
 * For each source of values the reader gives counts, and then runs if an aggregate wants them.
 * Each run is shown to all aggregates of the source, so that it is read once.  At last each
 * aggregate makes its value, of the runs that it has been shown or of the source's summary.
 *
 * Runs of a dictionary's numbers are in the order of the numbers.  Where an aggregate wants the
 * order of the values, the dictionary is sorted when all rows are in, and the runs of a group are
 * gathered and sorted by rank: they are few beside the group's rows.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

/*
 * Whether an output wants the runs of a source.  count(DISTINCT) does not where the reader knows
 * how many values are different.
 */
static bool
wants_runs(const GroupsState *node, const GroupsOutput *output, int source)
{
	return output->source == source && output->answer.needs == AGGREGATE_NEEDS_RUNS &&
		!(node->reader->methods->distinct && output->answer.distinct);
}

/*
 * Limits the runs of a source to some rows of the group, if all aggregates of the source want rows
 * by their number alone.  The results get the number of rows that are skipped before the first
 * run.
 */
static void
want_rows(GroupsState *node, int source)
{
	int64		first = PG_INT64_MAX;
	int64		last = -1;
	int64		skipped;

	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].source == source &&
			!(wants_runs(node, &node->outputs[i], source) &&
			  aggregate_result_wants_rows(node->outputs[i].result, &first, &last)))
			return;
	skipped = node->reader->methods->want(node->reader, source, first, last);
	for (int i = 0; i < node->noutputs; i++)
		if (wants_runs(node, &node->outputs[i], source))
			aggregate_result_skip(node->outputs[i].result, skipped);
}

/* Gives the count(DISTINCT) of a source, in place of runs, what the reader knows. */
static void
set_distinct(GroupsState *node, int source, const GroupCounts *group)
{
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].source == source && node->outputs[i].answer.distinct)
		{
			aggregate_result_begin(node->outputs[i].result, group);
			aggregate_result_set_distinct(node->outputs[i].result,
										  node->reader->methods->distinct(node->reader,
																		  source));
		}
}

/* Whether an aggregate wants the numbers of a source as ranks. */
static bool
wants_ranks(const GroupsState *node, int source)
{
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].source == source && node->outputs[i].answer.ranks)
			return !node->source_domains[source].datums;
	return false;
}

void
groups_forget_ranks(GroupsState *node)
{
	memset(node->ranks.orders, 0, Max(node->nvalue_sources, 1) * sizeof(DictionaryOrder *));
	node->ranks.room = 0;
	node->ranks.values = node->ranks.counts = NULL;
	for (int i = 0; i < node->noutputs; i++)
		if (aggref_has_numbers(&node->outputs[i].answer))
			aggregate_result_take_datums(node->outputs[i].result, false);
	for (int i = 0; i < node->nvalue_sources; i++)
		node->source_domains[i].datums = false;
}

void
groups_keep_values(GroupsState *node, int source)
{
	aggregation_keep_values(node->aggregation, source, &node->source_types[source]);
	node->source_domains[source].datums = true;
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].source == source)
			aggregate_result_take_datums(node->outputs[i].result, true);
}

/* Sorts the dictionary of a source, unless it has been sorted already. */
static const DictionaryOrder *
make_order(GroupsState *node, int source)
{
	const PairType *type = &node->source_types[source];
	MemoryContext old;
	DictionaryOrder *order;

	/* Sources with other filters have the same dictionary. */
	for (int s = 0; s < node->nvalue_sources && node->ranks.orders[source] == NULL; s++)
		if (node->value_sources[s].column == node->value_sources[source].column)
			node->ranks.orders[source] = node->ranks.orders[s];
	old = MemoryContextSwitchTo(node->derived.memory);
	if (node->ranks.orders[source] == NULL)
	{
		order = dictionary_order_make(type->dictionary, dictionary_order_operator(type->type),
									  type->collation);
		dictionary_order_rank(order);
		node->ranks.orders[source] = order;
	}
	MemoryContextSwitchTo(old);
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].source == source && node->outputs[i].answer.ranks)
			aggregate_result_set_order(node->outputs[i].result, node->ranks.orders[source]);
	return node->ranks.orders[source];
}

/* Makes room for n runs of ranks; what is there stays. */
static void
make_room(GroupsState *node, size_t n)
{
	GroupsRanks *ranks = &node->ranks;
	MemoryContext old;

	if (n <= ranks->room)
		return;
	old = MemoryContextSwitchTo(node->derived.memory);
	n = Max(n, 2 * ranks->room);
	ranks->values = ranks->values ? repalloc_huge(ranks->values, n * sizeof(int64)) :
		palloc_array(int64, n);
	ranks->counts = ranks->counts ? repalloc_huge(ranks->counts, n * sizeof(int64)) :
		palloc_array(int64, n);
	ranks->room = n;
	MemoryContextSwitchTo(old);
}

/* Does what the reader's runs() does, but returns all runs of a group at once, as ranks. */
static size_t
read_ranks(GroupsState *node, int source, const int64 **values, const int64 **counts)
{
	const DictionaryOrder *order = node->ranks.orders[source];
	GroupsRanks *ranks = &node->ranks;
	const int64 *numbers;
	const int64 *number_counts;
	size_t		total = 0;
	size_t		n;

	if (order == NULL)
		order = make_order(node, source);
	while ((n = node->reader->methods->runs(node->reader, source, &numbers, &number_counts)) > 0)
	{
		make_room(node, total + n);
		memcpy(ranks->values + total, numbers, n * sizeof(int64));
		memcpy(ranks->counts + total, number_counts, n * sizeof(int64));
		total += n;
	}
	dictionary_order_runs(order, ranks->values, ranks->counts, total);
	*values = ranks->values;
	*counts = ranks->counts;
	return total;
}

/* Shows runs of a source to the aggregates that want them. */
static void
show_runs(GroupsState *node, int source, const int64 *values, const int64 *run_counts, size_t n)
{
	value_summary_add(&node->counts[source].summary, values, run_counts, n);
	if (node->value_sources[source].moments)
		value_moments_add(&node->counts[source].summary.moments, values, run_counts, n);
	for (int i = 0; i < node->noutputs; i++)
		if (wants_runs(node, &node->outputs[i], source))
			aggregate_result_take(node->outputs[i].result, values, run_counts, n);
}

/* Sets the counts of a source, and shows its runs to the aggregates that want them. */
static void
read_source(GroupsState *node, int source)
{
	GroupReader *reader = node->reader;
	SourceCounts *counts = &node->counts[source];
	GroupCounts group;
	const int64 *values;
	const int64 *run_counts;
	size_t		n;

	reader->methods->count(reader, source, counts);
	if (!node->value_sources[source].runs)
		return;
	group.values = counts->summary.n;
	group.nulls = counts->nulls;
	for (int i = 0; i < node->noutputs; i++)
		if (wants_runs(node, &node->outputs[i], source))
			aggregate_result_begin(node->outputs[i].result, &group);
	/* Positions are by rank, and runs by number. */
	if (reader->methods->want && !wants_ranks(node, source))
		want_rows(node, source);
	if (reader->methods->distinct)
		set_distinct(node, source, &group);
	if (wants_ranks(node, source))
	{
		n = read_ranks(node, source, &values, &run_counts);
		show_runs(node, source, values, run_counts, n);
		return;
	}
	while ((n = reader->methods->runs(reader, source, &values, &run_counts)) > 0)
		show_runs(node, source, values, run_counts, n);
}

void
groups_prepare_results(GroupsState *node)
{
	for (int i = 0; i < node->noutputs && !node->prepared; i++)
		aggregate_result_prepare(node->outputs[i].result, node->css.ss.ps.ps_ExprContext);
	node->prepared = true;
}

/*
 * Puts the values of states into the scan tuple, and gives the states back.  Notes for EXPLAIN how
 * the values of a source were put in order, by the first of its states that says so.
 */
static void
fill_states(GroupsState *node, TupleTableSlot *slot)
{
	dsa_area   *area = node->css.ss.ps.state->es_query_dsa;

	memset(node->done.sorted, 0, node->nvalue_sources * sizeof(PairsSorted));
	for (int i = 0; i < node->noutputs; i++)
		slot->tts_values[i] =
			aggregate_result_from_state(node->outputs[i].result,
										node->outputs[node->outputs[i].shared].result,
										area, &slot->tts_isnull[i]);
	for (int i = 0; i < node->noutputs; i++)
	{
		int			source = node->outputs[i].source;
		SorterStats stats;

		if (aggregate_result_end_state(node->outputs[i].result, &stats) &&
			node->done.sorted[source] == PAIRS_NOT_SORTED)
		{
			node->done.sorted[source] = PAIRS_SORTED;
			node->done.stats[source] = stats;
		}
	}
}

/* Puts the values of GROUPING() of the group's set into the scan tuple. */
static void
fill_groupings(const GroupsState *node, TupleTableSlot *slot)
{
	int			i = node->ngroups + node->noutputs;

	foreach_ptr(const List, columns, node->groupings)
	{
		slot->tts_isnull[i] = false;
		slot->tts_values[i++] = Int32GetDatum(grouping_sets_grouping(node->sets, columns));
	}
}

/*
 * How many groups before a value of a dictionary is wanted it is fetched, and where it is.  Fewer
 * values are in the CPU's caches.
 */
#define GROUPS_AHEAD		8
#define PLACES_AHEAD		16
#define VALUES_AHEAD		4096

/* Fetches values of groups that come next into the CPU's caches. */
static void
prefetch_values(const GroupsState *node)
{
	GroupReader *reader = node->reader;
	int64		number;

	for (int g = 0; g < node->ngroups && reader->methods->ahead; g++)
	{
		const Dictionary *dictionary = node->group_domains[g].dictionary;

		if (dictionary == NULL || dictionary_size(dictionary) < VALUES_AHEAD)
			continue;
		if (reader->methods->ahead(reader, g, PLACES_AHEAD, &number))
			dictionary_prefetch(dictionary, (uint32) number, false);
		if (reader->methods->ahead(reader, g, GROUPS_AHEAD, &number))
			dictionary_prefetch(dictionary, (uint32) number, true);
	}
}

void
groups_fill_slot(GroupsState *node, const GroupValues *group, int64 rows, TupleTableSlot *slot)
{
	if (node->states)
	{
		fill_states(node, slot);
		return;
	}
	/* Direct arguments raise no errors where there is no group. */
	groups_prepare_results(node);
	prefetch_values(node);
	for (int i = 0; i < node->nvalue_sources; i++)
		read_source(node, i);
	if (node->derived.outsized)
		groups_find_outsized(node, group);
	for (int i = 0; i < node->ngroups; i++)
	{
		const ColumnDomain *domain = &node->group_domains[i];

		slot->tts_isnull[i] = group->nulls[i];
		slot->tts_values[i] = group->nulls[i] ? (Datum) 0 :
			column_domain_datum(domain, group->values[i] + column_kind_bias(domain->kind));
	}
	fill_groupings(node, slot);
	for (int i = 0; i < node->noutputs; i++)
	{
		GroupsOutput *output = &node->outputs[i];
		bool	   *isnull = &slot->tts_isnull[node->ngroups + i];
		Datum	   *value = &slot->tts_values[node->ngroups + i];

		const ValueSummary *summary = output->source < 0 ? NULL :
		&node->counts[output->source].summary;

		if (output->core >= 0)
			*value = core_aggregates_value(node->core, node->sets ?
										   grouping_sets_group(node->sets) : group,
										   output->core, isnull);
		else if (output->answer.needs == AGGREGATE_NEEDS_RUNS)
			*value = aggregate_result_end(output->result, isnull);
		else
			*value = aggregate_result_from_summary(output->result, summary,
												   summary ? summary->n : rows,
												   isnull);
	}
}

void
groups_begin_divided(GroupsState *node)
{
	List	   *expressions = ((const CustomScan *) node->css.ss.ps.plan)->custom_exprs;

	foreach_ptr(Expr, expression, expressions)
	{
		if (!IsA(expression, Param))
			node->divided = lappend(node->divided, ExecInitExpr(expression, &node->css.ss.ps));
	}
}

void
groups_fill_divided(GroupsState *node, TupleTableSlot *slot)
{
	int			i = node->ngroups + node->noutputs + list_length(node->groupings);

	foreach_ptr(ExprState, state, node->divided)
	{
		slot->tts_values[i] = ExecEvalExprSwitchContext(state,
														node->css.ss.ps.ps_ExprContext,
														&slot->tts_isnull[i]);
		i++;
	}
}

/* --- positions */

static int
compare_positions(const void *a, const void *b)
{
	int64		left = *(const int64 *) a;
	int64		right = *(const int64 *) b;

	return (left > right) - (left < right);
}

uint32
groups_list_positions(const GroupsState *node, int source, int64 values, int64 nulls,
					  bool extremes, int64 *wanted)
{
	GroupCounts counts = {.values = values,.nulls = nulls};
	uint32		n = 0;
	uint32		kept = 0;

	if (values == 0)
		return 0;
	for (int o = 0; o < node->noutputs; o++)
		if (node->outputs[o].source == source)
			n += aggregate_result_list_rows(node->outputs[o].result, &counts, wanted + n);
	if (extremes)
	{
		wanted[n++] = 0;
		wanted[n++] = values - 1;
	}
	qsort(wanted, n, sizeof(int64), compare_positions);
	for (uint32 i = 0; i < n; i++)
		if (i == 0 || wanted[i] != wanted[kept - 1])
			wanted[kept++] = wanted[i];
	return kept;
}

size_t
groups_most_positions(const GroupsState *node, int source)
{
	size_t		most = 0;

	for (int o = 0; o < node->noutputs; o++)
		if (node->outputs[o].source == source)
			most += aggregate_result_most_rows(node->outputs[o].result);
	return most;
}
