/*
 * groups_exec.c
 *		HpSort Aggregate for PostgreSQL's own aggregates, groups and DISTINCT, the
 *		executor half (see groups_exec.h).
 *
 * At its first call the node reads all rows into an Aggregation; then each call returns
 * a group.  Where the work is divided (GroupsStage), a partial node returns what it
 * knows as bytes, which groups_exchange.c makes and reads.
 *
 * Rows of groups by a value for whose number there was no memory are left to further
 * passes, in each of which other values have numbers (RowSpill).  Groups of
 * different passes are different ones, and in no order.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_exec.h"

static const CustomExecMethods groups_exec_methods;

Node *
groups_exec_create_state(CustomScan *scan)
{
	GroupsState *node = palloc0_object(GroupsState);

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &groups_exec_methods;
	return (Node *) node;
}

/* --- begin, end, rescan */

static List *
plan_list(const GroupsState *node, GroupsPlanList list)
{
	return list_nth(((CustomScan *) node->css.ss.ps.plan)->custom_private, list);
}

static Expr *
scan_expression(const GroupsState *node, int i)
{
	return list_nth_node(TargetEntry, ((CustomScan *) node->css.ss.ps.plan)->custom_scan_tlist,
						 i)->expr;
}

/* The index of the batch derived from batch base by an expression, which others may share. */
static int
find_derived(GroupsState *node, Expr *expression, DerivedForm form, int base)
{
	int			d;

	for (d = 0; d < node->nderived; d++)
		if (derived_is(node->derived[d], expression, form))
			break;
	if (d == node->nderived)
		node->derived[node->nderived++] = derived_make(&node->css.ss.ps, expression, form, base);
	return node->nread + d;
}

/* The derived column of a batch; NULL if it is that of a column. */
static DerivedColumn *
derived_of_batch(const GroupsState *node, int batch)
{
	return batch < node->nread ? NULL : node->derived[batch - node->nread];
}

static void
describe_groups(GroupsState *node)
{
	List	   *groups = plan_list(node, GROUPS_PLAN_GROUPS);
	int			g;

	node->ngroups = list_length(groups) / GROUPS_PLAN_NUMBERS;
	node->groups = palloc0_array(GroupColumn, Max(node->ngroups, 1));
	node->group_derived = palloc0_array(DerivedColumn *, Max(node->ngroups, 1));
	for (g = 0; g < node->ngroups; g++)
	{
		GroupColumn *group = &node->groups[g];
		int			first = g * GROUPS_PLAN_NUMBERS;
		DerivedForm form = (DerivedForm) list_nth_int(groups, first + 1);
		Oid			type = getBaseType(exprType((Node *) scan_expression(node, g)));

		group->column = list_nth_int(groups, first);
		group->kind = column_kind(exprType((Node *) scan_expression(node, g)));
		group->descending = list_nth_int(groups, first + 2) != 0;
		group->nulls_first = list_nth_int(groups, first + 3) != 0;
		/* Core's nodes call the function, and this one does in its place. */
		aggregate_check_function(get_opcode(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr),
								 GetUserId());
		if (form == DERIVED_NONE)
			continue;
		group->column = find_derived(node, scan_expression(node, g), form, group->column);
		node->group_derived[g] = derived_of_batch(node, group->column);
		group->kind = derived_kind(node->group_derived[g]);
	}
}

/* The source of an aggregate's values, which aggregates of the same values share. */
static int
find_source(GroupsState *node, const AggregateAnswer *answer, int filter)
{
	List	   *columns = plan_list(node, GROUPS_PLAN_COLUMNS);
	ValueSource source = {.column = -1,.filter = -1,.kind = COLUMN_KIND_NONE};
	int			s;

	if (answer->column)
	{
		source.column = 0;
		while (list_nth_int(columns, source.column) != answer->column->varattno)
			source.column++;
		source.kind = answer->kind;
		if (answer->enum_order)
		{
			source.column = find_derived(node, (Expr *) answer->column, DERIVED_RANKS,
										 source.column);
			source.kind = derived_kind(derived_of_batch(node, source.column));
		}
	}
	else if (filter < 0)
		return -1;
	if (filter >= 0)
		source.filter = list_length(columns) + filter;
	for (s = 0; s < node->nvalue_sources; s++)
		if (node->value_sources[s].column == source.column &&
			node->value_sources[s].filter == source.filter)
			break;
	if (s == node->nvalue_sources)
	{
		node->source_derived[s] = derived_of_batch(node, source.column);
		node->value_sources[node->nvalue_sources++] = source;
	}
	if (answer->needs == AGGREGATE_NEEDS_RUNS)
		node->value_sources[s].runs = true;
	return s;
}

static void
describe_outputs(GroupsState *node)
{
	List	   *filters = plan_list(node, GROUPS_PLAN_FILTERS);
	int			i;

	node->noutputs = list_length(filters);
	node->outputs = palloc0_array(GroupsOutput, Max(node->noutputs, 1));
	node->value_sources = palloc0_array(ValueSource, Max(node->noutputs, 1));
	node->source_derived = palloc0_array(DerivedColumn *, Max(node->noutputs, 1));
	for (i = 0; i < node->noutputs; i++)
	{
		GroupsOutput *output = &node->outputs[i];

		output->aggref = castNode(Aggref, scan_expression(node, node->ngroups + i));
		if (!aggref_answer(output->aggref, 0, &output->answer))
			elog(ERROR, "HpSort Aggregate does not answer aggregate %u", output->aggref->aggfnoid);
		output->result = aggregate_result_make(output->aggref, &output->answer, &node->css.ss.ps,
											   &node->context);
		output->source = find_source(node, &output->answer, list_nth_int(filters, i));
	}
	node->counts = palloc0_array(SourceCounts, Max(node->nvalue_sources, 1));
	node->done.sorted = palloc0_array(SourceSorted, Max(node->nvalue_sources, 1));
	node->done.stats = palloc0_array(SorterStats, Max(node->nvalue_sources, 1));
}

static int
count_filters(const GroupsState *node)
{
	int			nfilters = 0;
	ListCell   *lc;

	foreach(lc, plan_list(node, GROUPS_PLAN_FILTERS))
		nfilters = Max(nfilters, lfirst_int(lc) + 1);
	return nfilters;
}

static void
begin_groups(CustomScanState *css, EState *estate, int eflags)
{
	GroupsState *node = (GroupsState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	node->memory = AllocSetContextCreate(estate->es_query_cxt, "HpSort Aggregate",
										 ALLOCSET_DEFAULT_SIZES);
	node->rows_memory = AllocSetContextCreate(node->memory, "HpSort Aggregate rows",
											  ALLOCSET_DEFAULT_SIZES);
	node->derived_memory = AllocSetContextCreate(node->memory, "HpSort Aggregate expressions",
												 ALLOCSET_DEFAULT_SIZES);
	node->nread = list_length(plan_list(node, GROUPS_PLAN_COLUMNS)) + count_filters(node);
	node->derived = palloc0_array(DerivedColumn *, list_length(scan->custom_scan_tlist));
	describe_groups(node);
	describe_outputs(node);
	node->description = (GroupsDescription)
	{
		.ngroups = node->ngroups,
			.groups = node->groups,
			.group_derived = node->group_derived,
			.nsources = node->nvalue_sources,
			.sources = node->value_sources,
			.source_derived = node->source_derived
	};
	if (node->nderived > 0)
		node->batches = palloc0_array(ColumnBatch, node->nread + node->nderived);
	aggregate_sources_begin(&node->sources, css, eflags, false, count_filters(node));
	/* What is derived of a column is derived of its rows. */
	node->sources.runs = node->nderived == 0;
	node->lookup = groups_lookup_make(node);
}

/* Gives back what is kept of the rows. */
static void
free_rows(GroupsState *node)
{
	if (node->aggregation)
		aggregation_free(node->aggregation);
	node->aggregation = NULL;
	MemoryContextReset(node->rows_memory);
}

/* Gives back what an execution holds. */
static void
free_execution(GroupsState *node)
{
	free_rows(node);
	if (node->lookup)
		groups_lookup_free(node->lookup);
	if (node->exchange)
		groups_exchange_end(node->exchange);
	if (node->spill)
		row_spill_free(node->spill);
	node->merge = NULL;
	node->exchange = NULL;
	node->spill = NULL;
	MemoryContextReset(node->derived_memory);
	MemoryContextResetOnly(node->memory);
}

static void
end_groups(CustomScanState *css)
{
	GroupsState *node = (GroupsState *) css;

	free_execution(node);
	MemoryContextDelete(node->memory);
	aggregate_sources_end(&node->sources);
}

static void
rescan_groups(CustomScanState *css)
{
	GroupsState *node = (GroupsState *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	free_execution(node);
	node->started = node->ended = false;
	aggregate_sources_rescan(&node->sources);
}

/* --- reading */

/* Has the derived columns computed beside those that have been read. */
static void
derive_batches(GroupsState *node, const ColumnBatch *batches)
{
	int			d;

	memcpy(node->batches, batches, node->nread * sizeof(ColumnBatch));
	for (d = 0; d < node->nderived; d++)
		node->batches[node->nread + d] = *derived_batch(node->derived[d], batches);
}

/* Notes the rows that derived columns refuse; false if there are none. */
static bool
refuse_rows(GroupsState *node, const ColumnBatch *batches)
{
	bool		refused = false;
	int			d;

	for (d = 0; d < node->nderived; d++)
	{
		if (derived_nrefused(node->derived[d]) == 0)
			continue;
		if (node->spill == NULL)
		{
			MemoryContext old = MemoryContextSwitchTo(node->memory);

			node->spill = row_spill_make(batches, node->nread, get_hash_memory_limit());
			MemoryContextSwitchTo(old);
		}
		row_spill_refuse(node->spill, &node->batches[node->nread + d], DERIVED_REFUSED);
		refused = true;
	}
	return refused;
}

/* A ColumnConsume. */
static void
add_batches_to_groups(void *arg, const ColumnBatch *batches)
{
	GroupsState *node = (GroupsState *) arg;
	BatchPosition position = {0};
	ColumnBatch rows;

	if (node->lookup)
		groups_lookup_note(node->lookup, batches);
	if (batches[0].runs)
	{
		aggregation_add_batch_of_runs(node->aggregation, &batches[0]);
		return;
	}
	if (batches[0].packed.n > 0)
	{
		if (node->nderived > 0 || !aggregation_add_packed(node->aggregation, &batches[0].packed))
			while (column_batch_next_rows(&batches[0], &position, &rows))
				add_batches_to_groups(node, &rows);
		return;
	}
	if (node->nderived > 0)
	{
		derive_batches(node, batches);
		/* What the other rows become is known by now. */
		if (refuse_rows(node, batches))
			derive_batches(node, row_spill_divide(node->spill, batches));
		batches = node->batches;
	}
	aggregation_add(node->aggregation, batches);
}

/* Begins an execution of the derived columns, or another pass, and finds what memory they leave. */
static void
begin_derived(GroupsState *node)
{
	size_t		limit = get_hash_memory_limit();
	size_t		memo_limit = limit / 4 / Max(node->nderived, 1);
	size_t		numbers_limit;
	int			nnumbered = 0;
	MemoryContext old;
	int			i;

	for (i = 0; i < node->nderived; i++)
		nnumbered += derived_has_numbers(node->derived[i]);
	numbers_limit = limit / 4 / Max(nnumbered, 1);
	node->memory_limit = limit - memo_limit * node->nderived - numbers_limit * nnumbered;

	MemoryContextReset(node->derived_memory);
	old = MemoryContextSwitchTo(node->derived_memory);
	for (i = 0; i < node->nderived; i++)
		derived_begin(node->derived[i], memo_limit, numbers_limit);
	MemoryContextSwitchTo(old);
	for (i = 0; i < node->noutputs; i++)
	{
		const GroupsOutput *output = &node->outputs[i];

		if (output->answer.enum_order)
			aggregate_result_set_labels(output->result,
										derived_labels(node->source_derived[output->source]));
	}
}

/* Makes an aggregation without rows. */
static void
begin_rows(GroupsState *node)
{
	size_t		limit = node->memory_limit;

	/* What is written for other processes is in memory, too. */
	if (node->shared)
		limit /= 2;
	/* Processes that share the work do not share the GPU: the CPU counts while they read. */
	pg_sort_context_lenient(&node->rows_context, node->rows_memory, node->shared == NULL);
	node->aggregation = aggregation_make(&node->rows_context, node->groups, node->ngroups,
										 node->value_sources, node->nvalue_sources, limit);
}

/* All rows are in the aggregation, which is placed in front of its first group. */
static void
end_rows(GroupsState *node)
{
	AggregationStats stats;
	size_t		memory;

	aggregation_open(node->aggregation);
	aggregation_stats(node->aggregation, &stats);
	memory = stats.memory + MemoryContextMemAllocated(node->derived_memory, true);
	if (node->lookup)
		memory += groups_lookup_memory(node->lookup);
	node->done.totals.memory = Max(node->done.totals.memory, memory);
	node->done.totals.disk += stats.disk;
}

/* Reads the rows, or this process's share of them. */
static void
read_rows(GroupsState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->rows_memory);
	int			s;

	begin_rows(node);
	if (node->lookup)
		node->sources.handler = groups_lookup_begin(node->lookup, node->memory_limit);
	aggregate_sources_read(&node->sources, add_batches_to_groups, node);
	end_rows(node);
	node->looks_up = groups_lookup_has_found(node->lookup);
	MemoryContextSwitchTo(old);
	for (s = 0; s < node->nvalue_sources; s++)
		node->done.sorted[s] = aggregation_source_stats(node->aggregation, s, &node->done.stats[s]);
}

/* Reads rows that have been refused, in place of those before; false if there are none. */
static bool
read_refused(GroupsState *node)
{
	const ColumnBatch *batches;
	MemoryContext old;

	if (node->spill == NULL || !row_spill_next(node->spill))
		return false;
	free_rows(node);
	begin_derived(node);
	old = MemoryContextSwitchTo(node->rows_memory);
	begin_rows(node);
	while ((batches = row_spill_read(node->spill)) != NULL)
		add_batches_to_groups(node, batches);
	end_rows(node);
	MemoryContextSwitchTo(old);
	return true;
}

/* Reads the rows, and shares what is in them with other processes. */
static void
read_and_exchange(GroupsState *node)
{
	node->exchange = groups_exchange_make(node->shared, &node->description,
										  node->css.ss.ps.state->es_query_dsa,
										  node->memory_limit / 2);
	if (groups_exchange_reads(node->exchange))
		read_rows(node);
	if (groups_exchange_is_shared(node->exchange))
	{
		groups_exchange_write(node->exchange, node->aggregation);
		free_rows(node);
		node->done.totals.disk += groups_exchange_disk(node->exchange);
		node->merge = groups_merge_open(node->exchange);
	}
}

/* Reads all rows, and places the node in front of its first group. */
static void
start_groups(GroupsState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->memory);

	memset(&node->done.totals, 0, sizeof(node->done.totals));
	node->prepared = node->looks_up = false;
	pg_sort_context_lenient(&node->context, node->memory, node->shared == NULL);
	begin_derived(node);
	if (node->shared)
		read_and_exchange(node);
	else
		read_rows(node);
	node->started = true;
	MemoryContextSwitchTo(old);
}

/* Notes what EXPLAIN shows, and gives back what the execution holds. */
static void
finish_execution(GroupsState *node)
{
	if (node->spill)
		node->done.totals.disk += row_spill_disk(node->spill);
	if (node->shared)
		groups_shared_add_totals(node->shared, &node->done.totals);
	node->done.done = true;
	node->ended = true;
	free_execution(node);
}

/* --- returning groups */

/* Moves to the next group, false at the end. */
static bool
next_group(GroupsState *node, const GroupValues **group, int64 *rows)
{
	bool		found;

	if (node->looks_up)
		return groups_lookup_next(node, group, rows);
	if (node->merge)
	{
		found = groups_merge_next(node->merge, group);
		*rows = groups_merge_rows(node->merge);
	}
	else
	{
		/* Another process may have read everything. */
		found = node->aggregation && aggregation_next(node->aggregation, group);
		*rows = found ? aggregation_rows(node->aggregation) : 0;
	}
	return found;
}

/* Of what is looked up, count(DISTINCT) wants none: it is known. */
static bool
wants_runs(const GroupsState *node, const GroupsOutput *output, int source)
{
	return output->source == source && output->answer.needs == AGGREGATE_NEEDS_RUNS &&
		!(node->looks_up && output->answer.distinct);
}

/*
 * Where all that is wanted of a source are the values of some rows, sees to it that other
 * runs need not be read.
 */
static void
want_rows(GroupsState *node, int source)
{
	int64		first = PG_INT64_MAX;
	int64		last = -1;
	int64		skipped;
	int			i;

	for (i = 0; i < node->noutputs; i++)
		if (node->outputs[i].source == source &&
			!(wants_runs(node, &node->outputs[i], source) &&
			  aggregate_result_wants_rows(node->outputs[i].result, &first, &last)))
			return;
	skipped = groups_merge_want(node->merge, source, first, last);
	for (i = 0; i < node->noutputs; i++)
		if (wants_runs(node, &node->outputs[i], source))
			aggregate_result_skip(node->outputs[i].result, skipped);
}

/* What is looked up of count(DISTINCT), in the place of runs. */
static void
set_distinct(GroupsState *node, const GroupCounts *group)
{
	int			i;

	for (i = 0; i < node->noutputs; i++)
		if (node->outputs[i].answer.distinct)
		{
			aggregate_result_begin(node->outputs[i].result, group);
			aggregate_result_set_distinct(node->outputs[i].result,
										  groups_lookup_distinct(node->lookup));
		}
}

/* The next runs of a source of the group. */
static size_t
next_runs(GroupsState *node, int source, const int64 **values, const int64 **run_counts)
{
	if (node->looks_up)
		return groups_lookup_runs(node->lookup, values, run_counts);
	return node->merge ? groups_merge_runs(node->merge, source, values, run_counts) :
		aggregation_runs(node->aggregation, source, values, run_counts);
}

/* Counts the values of a source, and shows its runs to the aggregates that want them. */
static void
read_source(GroupsState *node, int source)
{
	SourceCounts *counts = &node->counts[source];
	GroupCounts group;
	const int64 *values;
	const int64 *run_counts;
	size_t		n;
	int			i;

	if (node->looks_up)
		groups_lookup_count(node->lookup, counts);
	else if (node->merge)
		groups_merge_count(node->merge, source, counts);
	else
		aggregation_count(node->aggregation, source, counts);
	if (!node->value_sources[source].runs)
		return;
	group.values = counts->summary.n;
	group.nulls = counts->nulls;
	for (i = 0; i < node->noutputs; i++)
		if (wants_runs(node, &node->outputs[i], source))
			aggregate_result_begin(node->outputs[i].result, &group);
	if (node->merge)
		want_rows(node, source);
	if (node->looks_up)
		set_distinct(node, &group);
	while ((n = next_runs(node, source, &values, &run_counts)) > 0)
	{
		value_summary_add(&counts->summary, values, run_counts, n);
		for (i = 0; i < node->noutputs; i++)
			if (wants_runs(node, &node->outputs[i], source))
				aggregate_result_take(node->outputs[i].result, values, run_counts, n);
	}
}

void
groups_prepare_results(GroupsState *node)
{
	int			i;

	for (i = 0; i < node->noutputs && !node->prepared; i++)
		aggregate_result_prepare(node->outputs[i].result, node->css.ss.ps.ps_ExprContext);
	node->prepared = true;
}

void
groups_fill_slot(GroupsState *node, const GroupValues *group, int64 rows, TupleTableSlot *slot)
{
	int			i;

	/* Direct arguments raise no errors where there is no group. */
	groups_prepare_results(node);
	for (i = 0; i < node->nvalue_sources; i++)
		read_source(node, i);
	for (i = 0; i < node->ngroups; i++)
	{
		ColumnKind	kind = node->groups[i].kind;

		slot->tts_isnull[i] = group->nulls[i];
		if (group->nulls[i])
			slot->tts_values[i] = (Datum) 0;
		else if (node->group_derived[i])
			slot->tts_values[i] = derived_datum(node->group_derived[i], group->values[i]);
		else
			slot->tts_values[i] = column_datum(kind, group->values[i] + column_kind_bias(kind));
	}
	for (i = 0; i < node->noutputs; i++)
	{
		GroupsOutput *output = &node->outputs[i];
		bool	   *isnull = &slot->tts_isnull[node->ngroups + i];
		Datum	   *value = &slot->tts_values[node->ngroups + i];

		const ValueSummary *summary = output->source < 0 ? NULL :
		&node->counts[output->source].summary;

		if (output->answer.needs == AGGREGATE_NEEDS_RUNS)
			*value = aggregate_result_end(output->result, isnull);
		else
			*value = aggregate_result_from_summary(output->result, summary,
												   summary ? summary->n : rows,
												   isnull);
	}
}

static TupleTableSlot *
exec_groups(CustomScanState *css)
{
	GroupsState *node = (GroupsState *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	const GroupValues *group;
	int64		rows;

	if (node->ended)
		return NULL;
	if (!node->started)
		start_groups(node);
	for (;;)
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		ExecClearTuple(slot);
		/* Results live until the next group. */
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		if (!next_group(node, &group, &rows))
		{
			MemoryContextSwitchTo(old);
			if (read_refused(node))
				continue;
			break;
		}
		node->done.totals.rows += rows;
		node->done.totals.groups++;
		groups_fill_slot(node, group, rows, slot);
		MemoryContextSwitchTo(old);
		ExecStoreVirtualTuple(slot);
		econtext->ecxt_scantuple = slot;
		if (ExecQual(css->ss.ps.qual, econtext))
			return css->ss.ps.ps_ProjInfo ? ExecProject(css->ss.ps.ps_ProjInfo) : slot;
		InstrCountFiltered1(css, 1);
	}
	finish_execution(node);
	return NULL;
}

/* --- parallel */

/* The scans of the tables come first, and then the exchange. */
static Size
scans_size(GroupsState *node)
{
	return BUFFERALIGN(aggregate_sources_estimate_dsm(&node->sources));
}

static Size
estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	return add_size(scans_size((GroupsState *) css), groups_shared_size(pcxt->nworkers));
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GroupsState *node = (GroupsState *) css;

	aggregate_sources_initialize_dsm(&node->sources, coordinate);
	/* Without shared memory there are no workers. */
	if (pcxt->seg == NULL)
		return;
	node->shared = (GroupsShared *) ((char *) coordinate + scans_size(node));
	groups_shared_init(node->shared, pcxt);
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GroupsState *node = (GroupsState *) css;

	aggregate_sources_reinitialize_dsm(&node->sources);
	if (node->shared)
		groups_shared_reset(node->shared, css->ss.ps.state->es_query_dsa);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	GroupsState *node = (GroupsState *) css;

	aggregate_sources_initialize_worker(&node->sources, coordinate);
	node->shared = (GroupsShared *) ((char *) coordinate + scans_size(node));
	groups_shared_attach(node->shared);
}

/*
 * No more groups are wanted, and shared memory ends.  EXPLAIN in the leader shows what all
 * processes have done.
 */
static void
shutdown_groups(CustomScanState *css)
{
	GroupsState *node = (GroupsState *) css;

	if (node->shared == NULL)
		return;
	if (node->started && !node->ended)
		finish_execution(node);
	if (!IsParallelWorker())
	{
		groups_shared_get_totals(node->shared, &node->done.totals);
		node->done.done = true;
		aggregate_sources_shutdown(&node->sources);
	}
	node->shared = NULL;
}

static const CustomExecMethods groups_exec_methods = {
	.CustomName = "HpSort Aggregate",
	.BeginCustomScan = begin_groups,
	.ExecCustomScan = exec_groups,
	.EndCustomScan = end_groups,
	.ReScanCustomScan = rescan_groups,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ShutdownCustomScan = shutdown_groups,
	.ExplainCustomScan = groups_explain,
};
