/*
 * groups_cost.c
 *		What groups, aggregates and different rows cost the node (see groups_cost.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/groups_cost.h"
#include "pg/nodes/aggregate/plan/star.h"
#include "pg/nodes/aggregate/plan/star_cost.h"
#include "pg/values/values.h"

/*
 * What is done with a row that has been read, in cpu_tuple_cost, beside its reading
 * (see input.c).  1e7 rows of 60 bytes, in memory, where core's sum(x) takes 38 ns a row,
 * 1.25 units: a further column 0.5 ns; count(*) by x 3; sum, min and max of y by x 3 more; y
 * put in order 5 where it is counted, 15 to 25 with x where both are sorted (AMD EPYC,
 * Zen 4, PostgreSQL 18).
 */
#define COLUMN_ROW_COST		0.02	/* a further column read */
#define GROUP_ROW_COST		0.1 /* a grouping column */
#define SUMMARY_ROW_COST	0.1 /* a value added up */
#define RUNS_ROW_COST		0.5 /* a value put in order */
#define DERIVED_ROW_COST	0.1 /* an expression's value found in its memo */
#define EVALUATED_ROW_COST	0.3 /* an expression evaluated beside what core's costs are for it */
#define ARITHMETIC_STEP_COST	0.04	/* an operation on a batch: 0.4 to 1.2 ns */
#define DATUM_ROW_COST		0.2 /* a value copied for that */
#define CORE_GROUP_ROW_COST 0.3 /* the states of a row's group, for core's functions */

/* Bytes that a group takes for core's functions, and each of its states, if it is not large. */
#define CORE_GROUP_BYTES	100.0
#define CORE_STATE_BYTES	200.0

/*
 * The number of a value found in a dictionary, by its bytes: 5e6 rows, 9 ns of 10 bytes and of 100
 * values, 30 ns of 100,000 values, which are not in the CPU's caches; 200 ns for a new value
 * (PostgreSQL 17, a virtual machine).  A value of n bytes takes n + DICTIONARY_VALUE_BYTES of
 * memory.  A row for whose value there is none is written, read and looked for once more.
 */
#define DICTIONARY_ROW_COST 0.3
#define DICTIONARY_NEW_COST 6.0

/* What a partition of these rows takes of the memory for writing them, and the fewest of them. */
#define SPILL_PARTITION_BYTES (2 * BLCKSZ)
#define SPILL_LEAST_PARTITIONS 4

/*
 * A group found in a hash table, for which the arrays by group are too small, and a row of a group
 * without memory, written and read again: 3e6 rows, where reading and adding up three columns takes
 * 115 ns a row, 1.7 units: 160 ns (PostgreSQL 17, a loaded virtual machine).  Bytes that a group
 * takes, and beside these for each value source.
 */
#define TABLE_ROW_COST		0.5
#define TABLE_REFUSED_COST	2.5
#define TABLE_GROUP_BYTES	64.0
#define TABLE_SOURCE_BYTES	16.0

/*
 * What is left of that where rows are resident, and groups and values so few that they are counted
 * in memory: 4e6 rows, core's sum(x) 70 ns a row: sum of y by x 3 ns, of two columns by a third 5,
 * percentiles of x by 6 groups 6 (AMD EPYC, two loaded cores of a virtual machine, PostgreSQL 17).
 * Of a single column that is counted as it lies packed in memory nothing is left.
 */
#define RESIDENT_WORK_PART	0.2

/* Bytes that a group takes in the arrays by group. */
#define GROUP_BYTES			64.0

/*
 * Setting up the node, in cpu_tuple_cost: it takes as long as core's Agg does, within
 * some microseconds, and is cheaper than that from 100 rows on.
 */
#define STARTUP_COST		50.0

/* Whether the values of a group are not those of its column. */
static bool
is_computed(const QueryGroup *group)
{
	return group->form != DERIVED_NONE && group->form != DERIVED_EQUAL;
}

/*
 * Returns the arithmetic by which an expression is computed for all rows of a batch; NULL if it is
 * evaluated.  A numeric is computed as an argument that is added up, and neither as a group nor
 * where it is only counted.
 */
static BatchArithmetic *
find_arithmetic(const GroupsQuery *query, Expr *expression)
{
	BatchArithmetic *arithmetic = batch_arithmetic_make(expression);
	NumericUnit unit;

	if (arithmetic == NULL || batch_arithmetic_kind(arithmetic, &unit) != COLUMN_KIND_NUMERIC)
		return arithmetic;
	foreach_ptr(const AggregateAnswer, answer, query->arguments)
	{
		if (answer->form == DERIVED_VALUES && equal(answer->argument, expression))
			return arithmetic;
	}
	return NULL;
}

/* Returns the lookup that all of some columns are of; NULL if there is none. */
static const StarLookup *
lookup_of(const GroupsQuery *query, const List *columns)
{
	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		bool		all = true;

		foreach_node(Var, column, columns)
			all &= bms_is_member(column->varno, lookup->path->parent->relids);
		if (all)
			return lookup;
	}
	return NULL;
}

/* Returns how many columns of an expression are looked up. */
static int
count_looked_up(const GroupsQuery *query, const Expr *expression)
{
	int			n = 0;

	foreach_node(Var, column, expression_columns(expression))
		n += !column_is_read(column, query->rti);
	return n;
}

/*
 * Whether the results of an expression are remembered, by the values of its only column or by the
 * places in a lookup.
 */
static bool
has_memo(const GroupsQuery *query, const List *columns)
{
	return lookup_of(query, columns) != NULL ||
		(list_length(columns) == 1 &&
		 !groups_query_reads(query, linitial_node(Var, columns), READ_DATUMS));
}

/*
 * The cost of evaluating an expression: once for each different value, or block of values, of its
 * column, or for each row of a lookup; of other columns, or one whose values hardly repeat, for
 * each row.
 */
static Cost
expression_cost(const GroupsQuery *query, Expr *expression, double rows)
{
	PlannerInfo *root = query->root;
	List	   *columns = expression_columns(expression);
	double		evaluated = rows;
	double		row_cost = EVALUATED_ROW_COST;
	BatchArithmetic *arithmetic = find_arithmetic(query, expression);
	const StarLookup *lookup = lookup_of(query, columns);
	QualCost	cost;

	if (arithmetic)
		return cost_of_rows(rows * (ARITHMETIC_STEP_COST * batch_arithmetic_steps(arithmetic) +
									DERIVED_ROW_COST * count_looked_up(query, expression)));
	if (lookup)
	{
		evaluated = Min(rows, lookup->path->rows);
		row_cost = DERIVED_ROW_COST;
	}
	else if (has_memo(query, columns))
	{
		evaluated = estimate_num_groups(root, columns, Max(rows, 1), NULL, NULL);
		evaluated = Min(evaluated, expression_blocks_most(root, (Node *) expression, rows));
		row_cost = DERIVED_ROW_COST;
	}
	cost_qual_eval_node(&cost, (Node *) expression, root);
	return cost.startup + evaluated * (cost.per_tuple + cpu_operator_cost) +
		cost_of_rows(rows * row_cost);
}

/* Returns the expressions of groups, arguments and filters, each of them once. */
static List *
computed_expressions(const GroupsQuery *query)
{
	List	   *expressions = NIL;

	for (int g = 0; g < query->ngroups; g++)
		if (is_computed(&query->groups[g]))
			expressions = list_append_unique(expressions, query->groups[g].expression);
	foreach_ptr(const AggregateAnswer, answer, query->arguments)
	{
		if (answer->form != DERIVED_NONE)
			expressions = list_append_unique(expressions, answer->argument);
	}
	return list_concat_unique(expressions, query->derived_filters);
}

MemoryBudget
groups_budget(const GroupsQuery *query, bool exchange)
{
	MemoryTakers takers = {
		.core = query->ncore > 0,
		.sets = query->sets != NIL,
		.exchange = exchange,
		.lookup = true,
		.dimensions = (size_t) Min(star_bytes(query), (double) SIZE_MAX / 2)
	};

	foreach_ptr(Expr, expression, computed_expressions(query))
		takers.memos += find_arithmetic(query, expression) ? count_looked_up(query, expression) :
		has_memo(query, expression_columns(expression));
	for (int g = 0; g < query->ngroups; g++)
		takers.dictionaries += derived_form_has_numbers(query->groups[g].form);
	foreach_ptr(const AggregateAnswer, answer, query->answers)
		takers.dictionaries += answer->form == DERIVED_NUMBERS;
	foreach_int(read, query->reads)
	{
		takers.dictionaries += read == READ_EQUAL || read == READ_IDENTICAL;
		takers.datum_buffers += read == READ_DATUMS;
	}
	/* Of rows whose values have no numbers, and whose groups have no memory. */
	takers.spills = takers.dictionaries > 0 ? 2 : 1;
	return memory_budget_make(&takers);
}

/* The cost of evaluating the expressions by which rows of the fact are looked up. */
static Cost
keys_cost(const GroupsQuery *query, double rows)
{
	Cost		total = 0;

	foreach_ptr(const StarLookup, lookup, query->lookups)
		foreach_node(OpExpr, clause, lookup->clauses)
	{
		Expr	   *key = linitial(clause->args);

		if (plain_column(key) == NULL)
			total += expression_cost(query, key, rows);
	}
	return total;
}

/* The cost of evaluating expressions, but for keys. */
static Cost
derived_cost(const GroupsQuery *query, double rows)
{
	Cost		total = 0;

	foreach_ptr(Expr, expression, computed_expressions(query))
		total += expression_cost(query, expression, rows);
	foreach_int(read, query->reads)
		total += read == READ_DATUMS ? cost_of_rows(rows * DATUM_ROW_COST) : 0;
	return total;
}

/* The cost of the functions of an aggregate that core's functions compute, for each row. */
static QualCost
core_cost(PlannerInfo *root, const Aggref *aggref)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	QualCost	cost;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	cost_qual_eval_node(&cost, (Node *) aggref->args, root);
	add_function_cost(root, ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn, NULL, &cost);
	ReleaseSysCache(tuple);
	return cost;
}

/* The cost of all aggregates that core's functions compute. */
static Cost
core_costs(const GroupsQuery *query, double rows)
{
	Cost		total = 0;
	ListCell   *lc;
	ListCell   *lc2;

	if (query->ncore == 0)
		return 0;
	forboth(lc, query->aggregates, lc2, query->answers)
	{
		QualCost	cost;

		if (((const AggregateAnswer *) lfirst(lc2))->function != AGGREGATE_FUNCTION_CORE)
			continue;
		cost = core_cost(query->root, lfirst_node(Aggref, lc));
		total += cost.startup + rows * cost.per_tuple;
	}
	return total + cost_of_rows(rows * (EVALUATED_ROW_COST +
										(query->ngroups > 0 ? CORE_GROUP_ROW_COST : 0)));
}

bool
groups_core_states_fit(const GroupsQuery *query, double ngroups)
{
	return query->ncore == 0 || hpsort_debug_aggregate == NODE_FORCE ||
		ngroups * (CORE_GROUP_BYTES + query->ncore * CORE_STATE_BYTES) <
		groups_budget(query, false).limit / 4;
}

bool
groups_numbers_fit(PlannerInfo *root, const GroupsQuery *query, double rows)
{
	List	   *numbered = NIL;
	double		most = 0;

	for (int g = 0; g < query->ngroups; g++)
		if (query_group_has_numbers(&query->groups[g]))
			numbered = lappend(numbered, query->groups[g].expression);
	foreach_ptr(const AggregateAnswer, answer, query->answers)
	{
		if (aggref_has_numbers(answer))
			numbered = lappend(numbered, answer->argument);
	}
	foreach_ptr(Expr, expression, numbered)
		most = Max(most, expression_groups(root, list_make1(expression), Max(rows, 1)) *
				   (expression_width(root, expression) + DICTIONARY_VALUE_BYTES));
	return hpsort_debug_aggregate == NODE_FORCE || most <= groups_budget(query, true).dictionary;
}

bool
groups_fit_beside_parts(PlannerInfo *root, const GroupsQuery *query, double ngroups, double rows)
{
	bool		divided = false;

	foreach_ptr(const StarLookup, lookup, query->lookups)
		divided |= lookup->nparts > 1;
	return !divided || hpsort_debug_aggregate == NODE_FORCE ||
		(groups_numbers_fit(root, query, rows) &&
		 ngroups * (TABLE_GROUP_BYTES + query->nsummaries * TABLE_SOURCE_BYTES) <=
		 groups_budget(query, false).aggregation);
}

/* Adds columns to those that are read as numbers, each of which is there once. */
static List *
add_numbered(const GroupsQuery *query, List *numbered, List *columns)
{
	foreach_node(Var, column, columns)
	{
		if (groups_query_reads(query, column, READ_IDENTICAL) ||
			groups_query_reads(query, column, READ_EQUAL))
			numbered = list_append_unique(numbered, column);
	}
	return numbered;
}

/* Returns the columns of groups and expressions that are read as numbers. */
static List *
numbered_columns(const GroupsQuery *query)
{
	List	   *numbered = NIL;

	for (int g = 0; g < query->ngroups; g++)
		numbered = add_numbered(query, numbered, query->groups[g].columns);
	foreach_ptr(const AggregateAnswer, answer, query->arguments)
	{
		if (answer->form != DERIVED_NONE)
			numbered = add_numbered(query, numbered,
									expression_columns(answer->argument));
	}
	return numbered;
}

/*
 * How often some rows meet a dictionary that has no memory for their values, if there are that many
 * values of a width: each time the rows are divided into partitions, until those of one fit.  Adds
 * the cost of numbering the others; looked_up is the part of the rows whose values are looked up.
 */
static double
rows_without_number(double rows, double looked_up, double values, double width,
					const MemoryBudget *budget, Cost *total)
{
	double		most = budget->dictionary / (width + DICTIONARY_VALUE_BYTES);
	double		partitions = Max(budget->spill / SPILL_PARTITION_BYTES, SPILL_LEAST_PARTITIONS);
	double		refused = 0;

	*total += cost_of_rows(rows * looked_up * DICTIONARY_ROW_COST +
						   Min(values, most) * DICTIONARY_NEW_COST);
	for (most = Max(most, 1); most < values; most *= partitions)
		refused += rows * (1 - most / values);
	return refused;
}

/*
 * The cost of numbering values.  A row of a group for whose value memory is too small is written to
 * a file, and its expressions are evaluated once more.  Resident rows that have numbers are not
 * looked up: each value is, once.
 */
static Cost
dictionary_cost(PlannerInfo *root, const GroupsQuery *query, double rows, double resident,
				const MemoryBudget *budget)
{
	List	   *numbered = numbered_columns(query);
	double		refused = 0;
	double		row = list_length(query->columns) * sizeof(int64);
	Cost		total = 0;

	foreach_node(Var, column, numbered)
	{
		double		width = column_width(root, column);
		double		values = estimate_num_groups(root, list_make1(column), Max(rows, 1), NULL,
												 NULL);
		bool		has_numbers = column_domain(column->vartype,
												column->vartypmod).kind == COLUMN_KIND_NONE;
		double		without = rows_without_number(rows, has_numbers ? 1 - resident : 1, values,
												  width, budget, &total);

		row += width;
		for (int g = 0; g < query->ngroups; g++)
		{
			const QueryGroup *group = &query->groups[g];
			QualCost	cost;

			if (!list_member(group->columns, column))
				continue;
			if (group->form != DERIVED_VALUES)
				refused = Max(refused, without);
			cost_qual_eval_node(&cost, (Node *) group->expression, root);
			total += without * cost.per_tuple;
		}
	}
	for (int g = 0; g < query->ngroups; g++)
	{
		const QueryGroup *group = &query->groups[g];
		double		again;
		QualCost	cost;

		if (!derived_form_has_numbers(group->form))
			continue;
		again = rows_without_number(rows, 1, expression_groups(root, list_make1(group->expression),
															   Max(rows, 1)),
									expression_width(root, group->expression), budget, &total);
		refused = Max(refused, again);
		cost_qual_eval_node(&cost, (Node *) group->expression, root);
		total += again * cost.per_tuple;
		foreach_node(Var, input, group->columns)
			row += list_member(numbered, input) ? 0 : column_width(root, input);
	}
	return total + cost_of_rows(refused * TABLE_REFUSED_COST) +
		2 * refused * row / BLCKSZ * seq_page_cost;
}

bool
groups_are_derived(const GroupsQuery *query)
{
	for (int g = 0; g < query->ngroups; g++)
		if (is_computed(&query->groups[g]) || query->groups[g].read != READ_VALUES)
			return true;
	return query->value_numbers;
}

/* Whether groups or arguments are expressions, so that rows are needed. */
static bool
has_derived(const GroupsQuery *query)
{
	foreach_ptr(const AggregateAnswer, answer, query->arguments)
	{
		if (answer->form != DERIVED_NONE)
			return true;
	}
	return query->ncore > 0 || query->lookups != NIL || groups_are_derived(query);
}

double
groups_count(PlannerInfo *root, const GroupsQuery *query, double core_groups, double rows)
{
	List	   *expressions = NIL;

	if (!groups_are_derived(query) && query->sets == NIL)
		return core_groups;
	for (int g = 0; g < query->ngroups; g++)
		expressions = lappend(expressions, query->groups[g].expression);
	rows = expression_groups(root, expressions, Max(rows, 1));
	return query->sets ? rows : Min(core_groups, rows);
}

/*
 * How many different values of all groups that many rows have, of the sources whose values are
 * wanted in order.
 */
static double
count_runs(PlannerInfo *root, const GroupsQuery *query, double ngroups, double rows,
		   double processes)
{
	double		runs = 0;

	foreach_ptr(const AggregateAnswer, answer, query->answers)
	{
		double		values;

		if (!groups_query_wants_runs(query, answer))
			continue;
		values = estimate_num_groups(root, list_make1(answer->argument), rows, NULL, NULL);
		/* Each process may have met all values of all groups. */
		runs += Min(values * ngroups * processes, rows);
	}
	return runs;
}

/*
 * What part of the work on a row that has been read is left where the row is resident, if there
 * are so many runs, and memory, in bytes, for groups.
 */
static double
resident_work_part(const GroupsQuery *query, double ngroups, double rows, double runs,
				   size_t memory)
{
	if (runs > query->nruns * rows / 2 || ngroups * GROUP_BYTES > memory)
		return 1;
	return list_length(query->columns) == 1 && query->filters == NIL &&
		(query->ngroups == 0 || query->nruns == 0) &&
		runs < rows / 100 ? 0 : RESIDENT_WORK_PART;
}

PairEstimate
groups_pair_estimate(PlannerInfo *root, const GroupsQuery *query)
{
	PairEstimate pairs = {.places = 1};

	for (int g = 0; g < query->ngroups; g++)
		pair_estimate_add_group(&pairs, root, query->groups[g].expression,
								query->groups[g].read == READ_VALUES ? query->groups[g].form :
								DERIVED_NUMBERS);
	return pairs;
}

/*
 * What it costs to find groups in a hash table.  The rows of groups for which there is no memory
 * are written to files.
 */
static Cost
table_cost(const GroupsQuery *query, double ngroups, double rows, const MemoryBudget *budget)
{
	double		most = budget->aggregation * ARRAYS_PART /
	(TABLE_GROUP_BYTES + query->nsummaries * TABLE_SOURCE_BYTES);
	double		refused = rows * (1 - Min(most / Max(ngroups, 1), 1));
	double		row = list_length(query->columns) * sizeof(int64);

	return cost_of_rows(rows * TABLE_ROW_COST + refused * TABLE_REFUSED_COST) +
		2 * refused * row / BLCKSZ * seq_page_cost;
}

/*
 * What it costs that groups have no place in the arrays by group, or that pairs of group and value
 * of some of the sources need more than 64 bits.
 */
static Cost
wide_groups_cost(PlannerInfo *root, const GroupsQuery *query, double ngroups, double rows,
				 const MemoryBudget *budget)
{
	PairEstimate pairs = groups_pair_estimate(root, query);

	pairs.ngroups = ngroups;
	if (query->ngroups > 0 && query->nruns == 0 && query->ncore == 0 && query->sets == NIL &&
		!groups_query_wants_order(query) &&
		!pair_estimate_has_window(&pairs, query->answers, budget))
		return table_cost(query, ngroups, rows, budget);
	return pair_estimate_wide_cost(&pairs, root, query->answers, query->aggregate_filters, rows,
								   budget);
}

void
groups_cost_reading(PlannerInfo *root, const GroupsQuery *query, const AggregateInput *input,
					CustomPath *path, double ngroups, int workers)
{
	double		part = star_part_left(query);
	Cost		total = aggregate_input_scan(input, root, path, workers, part);
	double		resident = aggregate_input_resident_part(input, false);
	MemoryBudget budget = groups_budget(query, workers > 0 && !query->partial);
	double		rows = 0;
	double		runs;
	double		share;
	double		disk;

	/* A state takes a count for each row, far below what a function call costs. */
	if (query->states)
	{
		path->path.startup_cost = total;
		return;
	}
	foreach_ptr(const Path, read, path->custom_paths)
		rows += read->rows;
	/* Runs of the GPU's are few beside the rows that they stand for; derived values need rows. */
	if (workers == 0 && (query->jobs || !has_derived(query)))
	{
		double		gpu = aggregate_input_resident_part(input, true);

		rows *= 1 - gpu;
		resident = gpu < 1 ? (resident - gpu) / (1 - gpu) : 0;
	}
	total += star_cost(query, path, rows, part) + keys_cost(query, rows * part);
	rows *= query->matched;
	runs = count_runs(root, query, ngroups, Max(rows, 1), 1);
	share = Max(list_length(query->columns) - 1, 0) * COLUMN_ROW_COST +
		query->ngroups * GROUP_ROW_COST + query->nsummaries * SUMMARY_ROW_COST +
		query->nruns * RUNS_ROW_COST;
	share *= 1 - resident * (1 - resident_work_part(query, ngroups, rows, runs,
													budget.aggregation));
	total += derived_cost(query, rows) + core_costs(query, rows) +
		dictionary_cost(root, query, rows, resident, &budget);
	total += cost_of_rows(rows * share + STARTUP_COST);
	foreach_ptr(Node, filter, query->filters)
	{
		QualCost	cost;

		cost_qual_eval_node(&cost, filter, root);
		total += cost.startup + rows * (cost.per_tuple + cpu_operator_cost);
	}
	total += value_numbers_cost(root, query->answers, query->aggregate_filters, ngroups, rows,
								&budget);
	/* With workers: the time of all, no more than one process takes that sorts otherwise. */
	total += wide_groups_cost(root, query, ngroups, workers > 0 ? input->rel->rows : rows, &budget);
	/* Values that repeat are counted. */
	disk = Min(rows * sizeof(int64) * query->nruns, runs * 2 * sizeof(int64));
	if (disk > budget.aggregation)
		total += 2 * disk / BLCKSZ * seq_page_cost;
	path->path.startup_cost = total;
}

/*
 * What it costs to add a group, and a run, to a coarser grouping set, in cpu_tuple_cost.  3e6 rows
 * with as many groups, or values, where core's sum(x) takes 40 ns a row, 1.25 units: 90 ns a group,
 * 26 ns a run (AMD EPYC, two loaded cores of a virtual machine, PostgreSQL 17).
 */
#define REGROUP_GROUP_COST	3.0
#define REGROUP_RUN_COST	1.0

Cost
groups_sets_cost(PlannerInfo *root, const GroupsQuery *query, double ngroups, double rows)
{
	int			nsets = list_length(query->sets);
	double		runs;
	double		disk;
	Cost		cost;

	if (nsets == 0)
		return 0;
	runs = count_runs(root, query, ngroups, rows, 1);
	disk = runs * sizeof(int64);
	if (list_length(linitial(query->sets)) == query->ngroups)
		nsets--;
	cost = cost_of_rows(REGROUP_GROUP_COST * ngroups + REGROUP_RUN_COST * runs);
	if (disk > groups_budget(query, false).sets / Max(nsets, 1))
		cost += 2 * disk / BLCKSZ * seq_page_cost;
	return nsets * cost;
}

void
groups_cost(CustomPath *path, const GroupsQuery *query, double ngroups, double rows)
{
	const PathTarget *target = path->path.pathtarget;

	path->path.rows = rows;
	path->path.startup_cost += target->cost.startup;
	path->path.total_cost = path->path.startup_cost + rows * target->cost.per_tuple +
		ngroups * (cpu_tuple_cost + list_length(query->aggregates) * cpu_operator_cost);
}

/*
 * What it costs a process to write a group, and a run, for the others, and to put together what
 * they have written, in cpu_tuple_cost.  2e7 rows, 1 to 8 workers (Intel Xeon, 16 cores, PostgreSQL
 * 18, sum(x) 40 ns a row): 150 and 62 ns a group, 15 and 19 ns a run.
 */
#define EXCHANGE_GROUP_COST	5.0
#define TELL_RUN_COST		0.4
#define MERGE_RUN_COST		0.5

Cost
groups_exchange_cost(PlannerInfo *root, const GroupsQuery *query, double ngroups, double rows,
					 int workers)
{
	double		processes = workers + (parallel_leader_participation ? 1 : 0);
	double		runs = count_runs(root, query, ngroups, rows, processes);

	/* A group is put together by one process. */
	return cost_of_rows(EXCHANGE_GROUP_COST * Min(ngroups, rows / processes) +
						TELL_RUN_COST * runs / processes +
						MERGE_RUN_COST * runs / Min(processes, Max(ngroups, 1)));
}
