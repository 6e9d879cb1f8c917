/*
 * groups_exec.c
 *		Custom Scan (HpSort Aggregate), the executor half (see plan/node.h).
 *
 * At its first call the node reads all rows (groups_read.c); then each call returns a group of the
 * GroupReader that has the groups.  Rows of groups for which there was no memory are read after the
 * last of these groups, and become further ones.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

static const CustomExecMethods groups_exec_methods;

static Node *
create_state(CustomScan *scan)
{
	GroupsState *node = palloc0_object(GroupsState);

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &groups_exec_methods;
	return (Node *) node;
}

const CustomScanMethods aggregate_scan_methods = {
	.CustomName = "HpSort Aggregate",
	.CreateCustomScanState = create_state,
};

/*
 * --- begin, end, rescan
 *
 * The node is described once, in the memory of the query.  An execution, from the first group to
 * the last or to a rescan, has memory of its own.
 */

static List *
plan_list(const GroupsState *node, GroupsPlanList list)
{
	return list_nth(((CustomScan *) node->css.ss.ps.plan)->custom_private, list);
}

/*
 * Returns the expression of column i of the scan tuple: grouping columns, then aggregates, then
 * GROUPING()s.
 */
static Expr *
scan_expression(const GroupsState *node, int i)
{
	return list_nth_node(TargetEntry, ((CustomScan *) node->css.ss.ps.plan)->custom_scan_tlist,
						 i)->expr;
}

/* Returns the index of the batch of a column that is read in this way; -1 if there is none. */
static int
find_column(const GroupsState *node, AttrNumber attnum, ColumnRead read)
{
	List	   *columns = plan_list(node, GROUPS_PLAN_COLUMNS);
	List	   *reads = plan_list(node, GROUPS_PLAN_READS);

	for (int c = 0; c < list_length(columns); c++)
		if (list_nth_int(columns, c) == attnum && list_nth_int(reads, c) == (int) read)
			return c;
	return -1;
}

/* Returns the index of the batch of a column that an expression has. */
static int
find_input(const GroupsState *node, const Var *column)
{
	static const ColumnRead reads[] = {READ_VALUES, READ_IDENTICAL, READ_DATUMS};
	int			batch = -1;

	for (int i = column_value_kind(column->vartype, column->vartypmod) == COLUMN_KIND_NONE;
		 i < lengthof(reads) && batch < 0; i++)
		batch = find_column(node, column->varattno, reads[i]);
	if (batch < 0)
		elog(ERROR, "column %d is not read", column->varattno);
	return batch;
}

/*
 * Returns what the batch of a column holds, whose dictionary is made unless there is one; collation
 * is that in which its values are equal.  base: only expressions are computed from the values.
 */
static ColumnDomain
domain_of_column(GroupsState *node, int batch, const Var *column, Oid collation, bool base)
{
	List	   *reads = plan_list(node, GROUPS_PLAN_READS);
	ColumnRead	read = (ColumnRead) list_nth_int(reads, batch);
	Oid			type = getBaseType(column->vartype);
	ColumnDomain domain = column_domain(column->vartype, column->vartypmod);

	if (read == READ_VALUES)
		return domain;
	if (node->images == NULL)
		node->images = palloc0_array(ColumnImage, list_length(reads));
	if (read == READ_PRESENCE)
	{
		node->images[batch].presence = true;
		domain.kind = COLUMN_KIND_PRESENCE;
		return domain;
	}
	if (read == READ_DATUMS)
	{
		if (node->images[batch].make == NULL)
			node->images[batch] = (ColumnImage)
		{
			.make = datum_buffer_put,.is_full = datum_buffer_is_full,
				.arg = datum_buffer_make(type)
		};
		domain.kind = COLUMN_KIND_IMAGE;
		domain.datums = true;
		return domain;
	}
	if (node->images[batch].dictionary == NULL)
	{
		node->images[batch].dictionary = read == READ_IDENTICAL ?
			dictionary_make_identical(type) : dictionary_make(type, collation);
		dictionary_may_give_up(node->images[batch].dictionary, base);
		node->first_equal |= read != READ_IDENTICAL &&
			!dictionary_equal_is_identical(type, column->vartypmod, collation);
	}
	else if (!base)
		dictionary_may_give_up(node->images[batch].dictionary, false);
	domain = (ColumnDomain)
	{
		.kind = COLUMN_KIND_NUMBER,.dictionary = node->images[batch].dictionary
	};
	return domain;
}

static int	find_derived(GroupsState *node, Expr *expression, DerivedForm form, int filter);

/* Describes a column, which is read or looked up, for what is computed of it. */
static RowInput
read_input(GroupsState *node, const Var *column)
{
	RowInput	input = {.column = column};

	if (groups_star_input(node, column, &input))
		return input;
	input.batch = find_input(node, column);
	input.domain = domain_of_column(node, input.batch, column, InvalidOid, true);
	return input;
}

/* Describes a column whose values arithmetic is of: of one that is looked up they are derived. */
static RowInput
value_input(GroupsState *node, const Var *column)
{
	RowInput	input = read_input(node, column);

	if (input.lookup == NULL)
		return input;
	input.batch = find_derived(node, (Expr *) column, DERIVED_VALUES, -1);
	input.domain = *derived_domain(node->derived.columns[input.batch - node->nread]);
	input.lookup = NULL;
	return input;
}

/* Describes columns, perhaps those of arithmetic on values, and sets *n to their number. */
static RowInput *
read_inputs(GroupsState *node, const List *columns, bool of_values, int *n)
{
	RowInput   *inputs = palloc_array(RowInput, list_length(columns));

	*n = 0;
	foreach_node(Var, column, columns)
		inputs[(*n)++] = of_values ? value_input(node, column) :
		read_input(node, column);
	return inputs;
}

/*
 * Returns the index of the batch of an expression in this form, not DERIVED_NONE, for rows that
 * pass a filter; filter is the index of the filter's batch, or -1.  Groups and aggregates of one
 * expression and form share a derived column, which the first of them makes.
 */
static int
find_derived(GroupsState *node, Expr *expression, DerivedForm form, int filter)
{
	bool		of_values = form == DERIVED_VALUES && batch_arithmetic_make(expression) != NULL;
	RowInput   *inputs;
	int			ninputs;

	/* Conditions are computed of rows of which some are not wanted. */
	for (int d = node->star.n + list_length(node->star.conditions); d < node->derived.n; d++)
		if (derived_is(node->derived.columns[d], expression, form, filter))
			return node->nread + d;
	node->first_equal |= form == DERIVED_NUMBERS && !expression_equal_is_identical(expression);
	inputs = read_inputs(node, expression_columns(expression), of_values, &ninputs);
	node->derived.columns[node->derived.n++] = derived_make(&node->css.ss.ps, expression, form,
															ninputs, inputs, filter);
	return node->nread + node->derived.n - 1;
}

/* Describes the lookups of a star join; makes the columns of their places, and of conditions. */
static void
describe_lookups(GroupsState *node, int eflags)
{
	groups_star_begin(node, eflags);
	for (int l = 0; l < node->star.n; l++)
	{
		List	   *keys = groups_star_keys(node, l);
		int			ninputs;
		RowInput   *inputs = read_inputs(node, expression_columns((Expr *) keys), false,
										 &ninputs);
		DerivedColumn *places = derived_make_places(&node->css.ss.ps, groups_star_lookup(node, l),
													keys, ninputs, inputs);

		if (derived_finds_integers(places))
			groups_star_note_keys(node, l, inputs);
		node->derived.columns[node->derived.n++] = places;
	}
	foreach_ptr(Expr, expr, node->star.conditions)
		find_derived(node, expr, DERIVED_VALUES, -1);
}

/* Returns the derived column of a batch; NULL if the batch is one that is read, or -1. */
static DerivedColumn *
derived_of_batch(const GroupsState *node, int batch)
{
	return batch < node->nread ? NULL : node->derived.columns[batch - node->nread];
}

/*
 * Fills in the grouping columns from the plan.  Raises an error if the user must not call the
 * equality of a column's type.
 */
static void
describe_groups(GroupsState *node)
{
	List	   *groups = plan_list(node, GROUPS_PLAN_GROUPS);

	node->ngroups = list_length(groups) / GROUPS_PLAN_NUMBERS;
	node->groups = palloc0_array(GroupColumn, Max(node->ngroups, 1));
	node->group_domains = palloc0_array(ColumnDomain, Max(node->ngroups, 1));
	node->derived.of_groups = palloc0_array(DerivedColumn *, Max(node->ngroups, 1));
	for (int g = 0; g < node->ngroups; g++)
	{
		GroupColumn *group = &node->groups[g];
		int			first = g * GROUPS_PLAN_NUMBERS;
		ColumnRead	read = (ColumnRead) list_nth_int(groups, first);
		DerivedForm form = (DerivedForm) list_nth_int(groups, first + 1);
		Expr	   *expression = scan_expression(node, g);
		Oid			type = getBaseType(exprType((Node *) expression));

		group->descending = list_nth_int(groups, first + 2) != 0;
		group->nulls_first = list_nth_int(groups, first + 3) != 0;
		/* Core checks this right where it compares groups, which this node does without a call. */
		aggregate_check_function(get_opcode(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr),
								 GetUserId());
		if (form == DERIVED_NONE)
		{
			const Var  *column = plain_column(expression);

			group->column = find_column(node, column->varattno, read);
			node->group_domains[g] = domain_of_column(node, group->column, column,
													  exprCollation((Node *) expression), false);
		}
		else
		{
			group->column = find_derived(node, expression, form, -1);
			node->derived.of_groups[g] = derived_of_batch(node, group->column);
			node->group_domains[g] = *derived_domain(node->derived.of_groups[g]);
		}
		group->kind = node->group_domains[g].kind;
	}
}

/* Returns what an aggregate wants of the ValueSummary of its values, beside their number. */
static int
summary_parts(const AggregateAnswer *answer)
{
	switch (answer->function)
	{
		case AGGREGATE_FUNCTION_COUNT_ROWS:
		case AGGREGATE_FUNCTION_COUNT:
			return 0;
		case AGGREGATE_FUNCTION_MIN:
			return SUMMARY_MIN;
		case AGGREGATE_FUNCTION_MAX:
			return SUMMARY_MAX;
		default:
			/* NaN is the largest numeric, and the sum of all of which it is one. */
			return answer->kind == COLUMN_KIND_NUMERIC ? SUMMARY_SUM | SUMMARY_MAX : SUMMARY_SUM;
	}
}

/* Returns the index of the batch of aggregate i's FILTER; -1 if it has none. */
static int
find_filter(GroupsState *node, int i)
{
	int			filter = list_nth_int(plan_list(node, GROUPS_PLAN_FILTERS), i);

	if (filter == GROUPS_NO_FILTER)
		return -1;
	if (filter >= 0)
		return list_length(plan_list(node, GROUPS_PLAN_COLUMNS)) + filter;
	return find_derived(node, expression_where(node->outputs[i].aggref->aggfilter,
											   (Expr *) makeBoolConst(true, false)),
						DERIVED_NULLS, -1);
}

/*
 * Returns the index of the batch of an argument's values, for rows that pass the filter of a batch
 * (-1: all), and sets *domain to what they stand for.
 */
static int
find_values(GroupsState *node, const AggregateAnswer *answer, int filter, ColumnDomain *domain)
{
	int			batch;

	if (answer->form == DERIVED_NONE && !answer->enum_order)
	{
		batch = find_column(node, answer->column->varattno, answer->read);
		/* Or integers that the planner has decided to number. */
		if (batch < 0)
			batch = find_column(node, answer->column->varattno, READ_IDENTICAL);
		*domain = domain_of_column(node, batch, answer->column, answer->column->varcollid, false);
		return batch;
	}
	batch = answer->enum_order ?
		find_derived(node, (Expr *) answer->column, DERIVED_RANKS, -1) :
		find_derived(node, answer->argument, answer->form, filter);
	*domain = *derived_domain(derived_of_batch(node, batch));
	return batch;
}

/*
 * Returns the index of the source of an aggregate's values, which is made unless another aggregate
 * of the same column and filter has it; -1 for an aggregate that counts all rows.  filter is the
 * index of the FILTER's batch, or -1.
 */
static int
find_source(GroupsState *node, const AggregateAnswer *answer, int filter)
{
	ValueSource source = {.column = -1,.filter = filter,.kind = COLUMN_KIND_NONE,.with = -1};
	ColumnDomain domains[] = {{.kind = COLUMN_KIND_NONE}, {.kind = COLUMN_KIND_NONE}};
	int			s;

	if (answer->function == AGGREGATE_FUNCTION_CORE)
		return -1;
	if (answer->argument)
		source.column = find_values(node, answer, source.filter, &domains[0]);
	else if (filter < 0)
		return -1;
	if (answer->with)
		source.with = find_values(node, answer->with, source.filter, &domains[1]);
	source.kind = domains[0].kind;
	for (s = 0; s < node->nvalue_sources; s++)
		if (node->value_sources[s].column == source.column &&
			node->value_sources[s].with == source.with &&
			node->value_sources[s].filter == source.filter)
			break;
	if (s == node->nvalue_sources)
	{
		node->derived.of_sources[s] = derived_of_batch(node, source.column);
		node->source_domains[s] = domains[0];
		if (answer->with)
			source.domains = memcpy(palloc(sizeof(domains)), domains, sizeof(domains));
		if (domains[0].dictionary)
		{
			const Node *values = (const Node *) aggref_values(answer);

			node->source_types[s] = (PairType)
			{
				.type = getBaseType(exprType(values)),
					.collation = exprCollation(values),
					.dictionary = domains[0].dictionary
			};
		}
		node->value_sources[node->nvalue_sources++] = source;
	}
	if (answer->needs == AGGREGATE_NEEDS_RUNS)
		node->value_sources[s].runs = true;
	else if (answer->with || column_kind_is_float(answer->kind))
		node->value_sources[s].float_parts |= float_totals_parts(answer);
	else
	{
		node->value_sources[s].parts |= summary_parts(answer);
		node->value_sources[s].moments |= aggref_has_moments(answer);
	}
	return s;
}

/* Returns how many different FILTERs there are: the plan numbers them from 0. */
static int
count_filters(const GroupsState *node)
{
	int			nfilters = 0;

	foreach_int(filter, plan_list(node, GROUPS_PLAN_FILTERS))
		nfilters = Max(nfilters, filter + 1);
	return nfilters;
}

/* Returns the first output that shares the state of output i, perhaps i itself. */
static int
find_shared(const GroupsState *node, int i)
{
	int			first = 0;

	while (!aggregate_result_shares(node->outputs[i].result, node->outputs[first].result))
		first++;
	return first;
}

/*
 * Fills in the aggregates and the sources of their values from the plan, after the groups.  Raises
 * an error if the user must not call an aggregate.
 */
static void
describe_outputs(GroupsState *node)
{
	int			ncore = 0;

	node->noutputs = list_length(plan_list(node, GROUPS_PLAN_FILTERS));
	node->states = node->ngroups == 0 && count_filters(node) == 0 && node->star.n == 0;
	node->outputs = palloc0_array(GroupsOutput, Max(node->noutputs, 1));
	node->value_sources = palloc0_array(ValueSource, Max(node->noutputs, 1));
	node->source_domains = palloc0_array(ColumnDomain, Max(node->noutputs, 1));
	node->late = palloc0_array(RowSpill *, Max(node->noutputs, 1));
	node->source_types = palloc0_array(PairType, Max(node->noutputs, 1));
	node->ranks.orders = palloc0_array(const DictionaryOrder *, Max(node->noutputs, 1));
	node->derived.of_sources = palloc0_array(DerivedColumn *, Max(node->noutputs, 1));
	for (int i = 0; i < node->noutputs; i++)
	{
		GroupsOutput *output = &node->outputs[i];

		output->aggref = castNode(Aggref, scan_expression(node, node->ngroups + i));
		if (!aggref_answer(output->aggref, node->star.fact, &output->answer))
			elog(ERROR, "HpSort Aggregate does not answer aggregate %u", output->aggref->aggfnoid);
		output->result = aggregate_result_make(output->aggref, &output->answer, &node->css.ss.ps,
											   &node->context);
		output->source = find_source(node, &output->answer, find_filter(node, i));
		if (output->source >= 0)
			aggregate_result_set_domain(output->result, &node->source_domains[output->source]);
		output->core = output->answer.function == AGGREGATE_FUNCTION_CORE ? ncore++ : -1;
		output->shared = find_shared(node, i);
		node->states &= aggref_has_state(&output->answer);
	}
	node->counts = palloc0_array(SourceCounts, Max(node->nvalue_sources, 1));
	node->done.sorted = palloc0_array(PairsSorted, Max(node->nvalue_sources, 1));
	node->done.stats = palloc0_array(SorterStats, Max(node->nvalue_sources, 1));
}

/* Fills in the grouping sets from the plan, after the outputs, if there are any. */
static void
describe_sets(GroupsState *node)
{
	const List *sets = plan_list(node, GROUPS_PLAN_SETS);

	node->groupings = plan_list(node, GROUPS_PLAN_GROUPINGS);
	if (sets == NIL)
		return;
	/* What is known of a group without its values does not always say what moments are. */
	for (int s = 0; s < node->nvalue_sources; s++)
		node->value_sources[s].runs |= node->value_sources[s].moments;
	node->sets = grouping_sets_make(node->groups, node->ngroups, node->value_sources,
									node->nvalue_sources, sets);
}

/* Adds the columns of an expression to those of the arguments of core's aggregates. */
static void
add_inputs(GroupsState *node, CoreDescription *core, RowInput *inputs, const Expr *expression)
{
	int			i;

	foreach_node(Var, column, expression_columns(expression))
	{
		for (i = 0; i < core->ninputs; i++)
			if (is_same_column(inputs[i].column, column))
				break;
		if (i == core->ninputs)
			inputs[core->ninputs++] = read_input(node, column);
	}
}

/* Initializes the aggregates that are core's, if there are any. */
static void
describe_core(GroupsState *node, int eflags)
{
	RowInput   *inputs = palloc0_array(RowInput, list_length(plan_list(node, GROUPS_PLAN_COLUMNS)) +
									   list_length(((CustomScan *) node->css.ss.ps.plan)
												   ->custom_scan_tlist));
	CoreDescription core = {.inputs = inputs};

	for (int i = 0; i < node->noutputs; i++)
	{
		const GroupsOutput *output = &node->outputs[i];

		if (output->core < 0)
			continue;
		core.aggrefs = lappend(core.aggrefs, unconstify(Aggref *, output->aggref));
		core.filters = lappend_int(core.filters, find_filter(node, i));
		foreach_node(TargetEntry, target, output->aggref->args)
			add_inputs(node, &core, inputs, target->expr);
	}
	if (core.aggrefs != NIL)
		node->core = core_aggregates_make(&node->css.ss.ps, eflags, &core);
}

/* Adds a dictionary, unless it is NULL or there, to those whose numbers are exchanged. */
static void
add_dictionary(GroupsDescription *description, Dictionary *dictionary)
{
	for (int d = 0; d < description->ndictionaries; d++)
		if (description->dictionaries[d] == dictionary)
			return;
	if (dictionary)
		description->dictionaries[description->ndictionaries++] = dictionary;
}

/* Describes the node.  No row is read before the first group is asked for. */
static void
begin_groups(CustomScanState *css, EState *estate, int eflags)
{
	GroupsState *node = (GroupsState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	node->memory = AllocSetContextCreate(estate->es_query_cxt, "HpSort Aggregate",
										 ALLOCSET_DEFAULT_SIZES);
	node->nread = list_length(plan_list(node, GROUPS_PLAN_COLUMNS)) + count_filters(node);
	/* Of a column of the scan tuple there are at most a filter and two arguments. */
	node->derived.columns = palloc0_array(DerivedColumn *,
										  2 * list_length(scan->custom_scan_tlist));
	node->parallel.partial =
		boolVal(list_nth(scan->custom_private, GROUPS_PLAN_PARTIAL));
	node->unordered = boolVal(list_nth(scan->custom_private, GROUPS_PLAN_UNORDERED));
	describe_lookups(node, eflags);
	describe_groups(node);
	describe_outputs(node);
	describe_sets(node);
	describe_core(node, eflags);
	groups_begin_divided(node);
	node->parallel.description = (GroupsDescription)
	{
		.ngroups = node->ngroups,
			.groups = node->groups,
			.group_derived = node->derived.of_groups,
			.nsources = node->nvalue_sources,
			.sources = node->value_sources,
			.source_derived = node->derived.of_sources,
			.dictionaries = palloc_array(Dictionary *, node->ngroups + node->nvalue_sources + 1)
	};
	for (int i = 0; i < node->ngroups; i++)
		add_dictionary(&node->parallel.description, node->group_domains[i].dictionary);
	for (int i = 0; i < node->nvalue_sources; i++)
		add_dictionary(&node->parallel.description, node->source_domains[i].dictionary);
	groups_read_begin(node, eflags, count_filters(node));
}

/* Ends the node, also one whose groups have not all been returned. */
static void
end_groups(CustomScanState *css)
{
	GroupsState *node = (GroupsState *) css;

	groups_read_free(node);
	if (node->core)
		core_aggregates_end(node->core);
	MemoryContextDelete(node->memory);
	groups_star_end(node);
	aggregate_sources_end(&node->sources);
}

/* Forgets rows and groups: the next call reads the tables again, with new parameters. */
static void
rescan_groups(CustomScanState *css)
{
	GroupsState *node = (GroupsState *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	groups_read_free(node);
	node->started = node->ended = false;
	groups_star_rescan(node);
	aggregate_sources_rescan(&node->sources);
}

/* --- returning groups */

/* Notes what EXPLAIN shows of grouping sets: rows are those of one of them. */
static void
note_sets(GroupsState *node)
{
	const GroupingSetsTotals *totals = grouping_sets_totals(node->sets);

	groups_memory_note(node, totals->memory);
	node->done.totals.disk += totals->disk;
	node->done.totals.rows = totals->rows;
}

/* Notes what EXPLAIN shows, and gives back what the execution holds. */
static void
finish_execution(GroupsState *node)
{
	groups_memory_note(node, 0);
	if (node->sets)
		note_sets(node);
	if (node->derived.spill)
		node->done.totals.disk += row_spill_disk(node->derived.spill);
	if (node->spill)
		node->done.totals.disk += row_spill_disk(node->spill);
	if (node->parallel.shared)
		groups_shared_add_totals(node->parallel.shared, &node->done.totals);
	node->done.done = true;
	node->ended = true;
	groups_read_free(node);
}

/* Returns the next group that passes HAVING, valid until the next call; NULL at the end. */
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
		groups_read_start(node);
	for (;;)
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		ExecClearTuple(slot);
		/* Results live until the next group. */
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		if (!node->reader || !node->reader->methods->next(node->reader, &group, &rows))
		{
			MemoryContextSwitchTo(old);
			if (groups_read_refused(node))
				continue;
			break;
		}
		node->done.totals.rows += rows;
		node->done.totals.groups++;
		groups_fill_slot(node, group, rows, slot);
		MemoryContextSwitchTo(old);
		ExecStoreVirtualTuple(slot);
		econtext->ecxt_scantuple = slot;
		groups_fill_divided(node, slot);
		if (ExecQual(css->ss.ps.qual, econtext))
			return css->ss.ps.ps_ProjInfo ? ExecProject(css->ss.ps.ps_ProjInfo) : slot;
		InstrCountFiltered1(css, 1);
	}
	finish_execution(node);
	return NULL;
}

/* --- parallel */

/* Returns the bytes of the tables' scans, behind which the GroupsShared is. */
static Size
scans_size(GroupsState *node)
{
	return BUFFERALIGN(aggregate_sources_estimate_dsm(&node->sources));
}

static Size
estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	GroupsState *node = (GroupsState *) css;

	return add_size(scans_size(node),
					groups_shared_size(pcxt->nworkers, node->star.n,
									   node->parallel.description.ndictionaries));
}

/* Called in the leader before it starts workers. */
static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GroupsState *node = (GroupsState *) css;

	aggregate_sources_initialize_dsm(&node->sources, coordinate);
	/* Without shared memory there are no workers. */
	if (pcxt->seg == NULL)
		return;
	node->parallel.shared = (GroupsShared *) ((char *) coordinate + scans_size(node));
	groups_shared_init(node->parallel.shared, pcxt, node->star.n,
					   node->parallel.description.ndictionaries);
}

/* Called in the leader before it starts workers for another execution. */
static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GroupsState *node = (GroupsState *) css;

	aggregate_sources_reinitialize_dsm(&node->sources);
	if (node->parallel.shared == NULL)
		return;
	groups_shared_reset(node->parallel.shared, css->ss.ps.state->es_query_dsa);
	groups_star_reinitialize(node, css->ss.ps.state->es_query_dsa);
}

/* Called in a worker before its first group. */
static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	GroupsState *node = (GroupsState *) css;

	aggregate_sources_initialize_worker(&node->sources, coordinate);
	node->parallel.shared = (GroupsShared *) ((char *) coordinate + scans_size(node));
	groups_shared_attach(node->parallel.shared);
}

/*
 * Called when no more groups are wanted, as long as there is shared memory.  Adds what this
 * process has done, also where groups are left, to what all have done, which EXPLAIN shows in the
 * leader.
 */
static void
shutdown_groups(CustomScanState *css)
{
	GroupsState *node = (GroupsState *) css;

	if (node->parallel.shared == NULL)
		return;
	if (node->started && !node->ended)
		finish_execution(node);
	if (!IsParallelWorker())
	{
		groups_shared_get_totals(node->parallel.shared, &node->done.totals);
		node->done.done = true;
		aggregate_sources_shutdown(&node->sources);
	}
	groups_star_detach(node);
	node->parallel.shared = NULL;
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
