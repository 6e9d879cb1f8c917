/*
 * groups_query.c
 *		What a query asks of groups, as far as HpSort Aggregate answers it (see groups_query.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/divided_sum.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/groups_query.h"
#include "pg/values/values.h"

/* Values of a column are numbered for an expression if they are less than this part of the rows. */
#define REPEATED_VALUES 0.25

/* Returns the group that an expression is; NULL if it is none. */
static QueryGroup *
find_group(const GroupsQuery *query, Node *expression)
{
	for (int g = 0; g < query->ngroups; g++)
		if (equal(query->groups[g].output, expression))
			return &query->groups[g];
	return NULL;
}

/* Returns the indexes of groups that a list of numbers of SortGroupClauses names. */
static List *
indexes_of_refs(const GroupsQuery *query, const List *refs)
{
	List	   *indexes = NIL;

	foreach_int(ref, refs)
		for (int g = 0; g < query->ngroups; g++)
		if (query->groups[g].ref == (Index) ref)
			indexes = lappend_int(indexes, g);
	return indexes;
}

/*
 * Notes a GROUPING() of this query's grouping sets; false for one that the node does not compute.
 */
static bool
note_grouping_call(GroupsQuery *query, GroupingFunc *call)
{
	if (query->sets == NIL || call->agglevelsup != 0)
		return false;
	if (!list_member(query->grouping_calls, call))
	{
		query->grouping_calls = lappend(query->grouping_calls, call);
		query->groupings = lappend(query->groupings, indexes_of_refs(query, call->refs));
	}
	return true;
}

bool
groups_query_reads(const GroupsQuery *query, const Var *column, ColumnRead read)
{
	for (int c = 0; c < list_length(query->columns) && column_is_read(column, query->rti); c++)
		if (list_nth_int(query->columns, c) == column->varattno &&
			list_nth_int(query->reads, c) == (int) read)
			return true;
	return false;
}

/* Has a column read, or looked up. */
static void
add_column(GroupsQuery *query, const Var *column, ColumnRead read)
{
	if (column_is_read(column, query->rti))
	{
		if (groups_query_reads(query, column, read))
			return;
		query->columns = lappend_int(query->columns, column->varattno);
		query->reads = lappend_int(query->reads, read);
	}
	else if (!columns_have(query->looked_up_columns, column))
		query->looked_up_columns = lappend(query->looked_up_columns, unconstify(Var *, column));
}

/*
 * Has the columns of an expression read.  Values that are no integers are numbered where they
 * repeat, so that the expression of a single column is evaluated once for each.
 */
static void
add_columns(GroupsQuery *query, List *columns)
{
	double		rows = find_base_rel(query->root, query->rti)->rows;

	foreach_node(Var, column, columns)
	{
		ColumnRead	read = READ_DATUMS;

		if (column_value_kind(column->vartype, column->vartypmod) != COLUMN_KIND_NONE)
			read = READ_VALUES;
		else if (list_length(columns) == 1 &&
				 estimate_num_groups(query->root, columns, rows, NULL, NULL) <
				 rows * REPEATED_VALUES)
			read = READ_IDENTICAL;
		add_column(query, column, read);
	}
}

/* Has the columns of an aggregate's arguments read, which core's functions take as they are. */
static void
add_core_columns(GroupsQuery *query, const Aggref *aggref)
{
	query->ncore++;
	foreach_node(TargetEntry, target, aggref->args)
	{
		List	   *columns = expression_columns(target->expr);

		foreach_node(Var, column, columns)
			add_column(query, column,
					   column_value_kind(column->vartype, column->vartypmod) == COLUMN_KIND_NONE ?
					   READ_DATUMS : READ_VALUES);
	}
}

/* Has no column read twice for expressions: where its values have numbers, these are enough. */
static void
drop_datums(GroupsQuery *query)
{
	List	   *columns = NIL;
	List	   *reads = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, query->columns, lc2, query->reads)
	{
		const Var	column = {.varno = (int) query->rti,.varattno = (AttrNumber) lfirst_int(lc)};

		if (lfirst_int(lc2) == READ_DATUMS && groups_query_reads(query, &column, READ_IDENTICAL))
			continue;
		columns = lappend_int(columns, lfirst_int(lc));
		reads = lappend_int(reads, lfirst_int(lc2));
	}
	query->columns = columns;
	query->reads = reads;
}

/* How the values of a grouping expression are read, if they can be. */
static bool
find_form(const GroupsQuery *query, QueryGroup *group, const SortGroupClause *clause)
{
	ColumnKind	kind = column_kind(group->type);
	Oid			collation = exprCollation((Node *) group->expression);
	const Var  *column = plain_column(group->expression);
	bool		is_read = column && column_is_read(column, query->rti);
	ColumnKind	read = is_read ? column_value_kind(column->vartype, column->vartypmod) :
	COLUMN_KIND_NONE;
	bool		identical = read != COLUMN_KIND_NONE ||
	dictionary_equal_is_identical(group->type, exprTypmod((Node *) group->expression), collation);

	/* A column may be relabelled as the base type of its domain, or get another collation. */
	group->read = READ_VALUES;
	if (is_read && getBaseType(column->vartype) == group->type &&
		(identical || collation == column->varcollid))
	{
		group->form = column_kind_is_float(read) ? DERIVED_EQUAL : DERIVED_NONE;
		if (read == COLUMN_KIND_NONE)
			group->read = identical ? READ_IDENTICAL : READ_EQUAL;
	}
	else if (kind != COLUMN_KIND_NONE && kind != COLUMN_KIND_ENUM)
		group->form = DERIVED_VALUES;
	else
		group->form = group->determined ? DERIVED_IDENTICAL : DERIVED_NUMBERS;
	if (group->determined && group->read == READ_EQUAL)
		group->read = READ_IDENTICAL;
	if (query_group_has_numbers(group) && !clause->hashable)
		return false;
	return clause->eqop == lookup_type_cache(group->type, TYPECACHE_EQ_OPR)->eq_opr;
}

/* Notes a grouping column or expression; false if it is not answered. */
static bool
note_group(GroupsQuery *query, Expr *output, const SortGroupClause *clause, bool determined)
{
	QueryGroup	group = {
		.output = output,.ref = clause->tleSortGroupRef,.determined = determined
	};

	group.expression = (Expr *) compat_ungrouped(query->root, (Node *) output);
	group.type = getBaseType(exprType((Node *) group.expression));
	group.columns = expression_columns(group.expression);
	if (group.columns == NIL || !find_form(query, &group, clause))
		return false;
	query->groups = query->groups ?
		repalloc_array(query->groups, QueryGroup, query->ngroups + 1) :
		palloc_array(QueryGroup, 1);
	query->groups[query->ngroups++] = group;
	return true;
}

/*
 * Notes the grouping columns; false if one of them is not answered.  A constant divides no groups,
 * unless it is NULL in other grouping sets.
 */
static bool
note_groups(PlannerInfo *root, GroupsQuery *query, List *clauses, bool sets)
{
	foreach_node(SortGroupClause, clause, clauses)
	{
		Expr	   *output = (Expr *) get_sortgroupclause_expr(clause, root->processed_tlist);

		if (IsA(compat_ungrouped(root, (Node *) output), Const) && !sets)
			continue;
		if (find_group(query, (Node *) output) == NULL)
		{
			if (!note_group(query, output, clause, false))
				return false;
		}
		/* In a grouping set one of two equal groups may be NULL. */
		else if (sets)
			return false;
	}
	return true;
}

/* Whether a column is equal to a constant, or to another column. */
static bool
is_equal_to_another(const PlannerInfo *root, const Var *column)
{
	foreach_node(EquivalenceClass, ec, root->eq_classes)
	{
		if (list_length(ec->ec_members) < 2)
			continue;
		foreach_node(EquivalenceMember, other, ec->ec_members)
		{
			const Var  *member = plain_column(other->em_expr);

			if (member && is_same_column(member, column))
				return true;
		}
	}
	return false;
}

/*
 * Notes a column beside the groups, which has one value in each of them: core has dropped it from
 * the grouping columns, because a condition makes it a constant, or others determine it.  As one of
 * the groups it divides none.  Equal values of the former may look different.  False if it is not
 * answered.
 */
static bool
note_determined(GroupsQuery *query, Var *column)
{
	Oid			type = getBaseType(column->vartype);
	SortGroupClause clause = {.eqop = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr};

	clause.hashable = OidIsValid(clause.eqop) && op_hashjoinable(clause.eqop, type);
	return query->sets == NIL && OidIsValid(clause.eqop) && column->varattno > 0 &&
		column->varlevelsup == 0 && note_group(query, (Expr *) column, &clause,
											   !is_equal_to_another(query->root, column));
}

/*
 * Notes the expressions among all that are grouped by: core has dropped those that a condition
 * makes a constant, whose columns have several values in a group.  False if one of them is not
 * answered.
 */
static bool
note_expressions(PlannerInfo *root, GroupsQuery *query, List *clauses)
{
	List	   *expressions = NIL;

	foreach_node(SortGroupClause, clause, clauses)
	{
		if (!IsA(get_sortgroupclause_expr(clause, root->processed_tlist),
				 Var))
			expressions = lappend(expressions, clause);
	}
	return note_groups(root, query, expressions, false);
}

/* Whether all columns of an expression are read. */
static bool
is_read_alone(const GroupsQuery *query, Node *expression)
{
	Relids		relids = pull_varnos(query->root, expression);

	return bms_is_subset(relids, bms_make_singleton((int) query->rti));
}

/* Has the values of an aggregate read. */
static void
note_argument(GroupsQuery *query, const AggregateAnswer *answer)
{
	if (answer->form == DERIVED_NONE && answer->column)
		add_column(query, answer->column, answer->read);
	else if (answer->argument)
		add_columns(query, expression_columns(answer->argument));
	query->arguments = lappend(query->arguments, unconstify(AggregateAnswer *, answer));
}

/* Returns the index of an expression in a list, to which it is added unless it is there. */
static int
index_of(List **expressions, Expr *expression)
{
	foreach_ptr(const Expr, other, *expressions)
	{
		if (equal(other, expression))
			return foreach_current_index(other);
	}
	*expressions = lappend(*expressions, expression);
	return list_length(*expressions) - 1;
}

/* Whether rows of the only lookup are rows of the join also without a row that is read. */
static bool
is_right_join(const GroupsQuery *query)
{
	return query->lookups != NIL &&
		((const StarLookup *) linitial(query->lookups))->jointype == JOIN_RIGHT;
}

/* Whether lookups, or conditions on what is in them, may refuse rows that are read. */
static bool
is_refused_late(const GroupsQuery *query)
{
	bool		refuses = query->conditions != NIL;

	foreach_ptr(const StarLookup, lookup, query->lookups)
		refuses |= lookup->jointype != JOIN_LEFT;
	return refuses;
}

/* Notes the filter of an aggregate, and sets *filter to its number; false if it is not answered. */
static bool
note_filter(GroupsQuery *query, Expr *condition, int *filter)
{
	List	   *columns;

	*filter = GROUPS_NO_FILTER;
	if (condition == NULL)
		return true;
	if (contain_subplans((Node *) condition) || contain_volatile_functions((Node *) condition))
		return false;
	/* Rows that a right join adds are not read, and those that are not joined raise no errors. */
	if (is_read_alone(query, (Node *) condition) && !is_right_join(query) &&
		!(is_refused_late(query) && clause_may_fail((Node *) condition, NULL)))
	{
		*filter = index_of(&query->filters, condition);
		return true;
	}
	columns = expression_columns(condition);
	add_columns(query, columns);
	*filter = GROUPS_DERIVED_FILTER(index_of(&query->derived_filters, condition));
	return columns != NIL;
}

/* Notes an aggregate; false if it is not answered. */
static bool
note_aggregate(GroupsQuery *query, Aggref *aggref)
{
	AggregateAnswer *answer;
	int			filter;

	if (list_member(query->aggregates, aggref))
		return true;
	answer = palloc_object(AggregateAnswer);
	if (!aggref_answer(aggref, query->rti, answer) ||
		(answer->kind == COLUMN_KIND_NUMERIC &&
		 !expression_has_typmods(query->root, answer->argument)) ||
		!note_filter(query, aggref->aggfilter, &filter))
		return false;
	note_argument(query, answer);
	if (answer->with)
		note_argument(query, answer->with);
	if (answer->function == AGGREGATE_FUNCTION_CORE)
		add_core_columns(query, aggref);
	query->value_numbers |= aggref_has_numbers(answer);
	if (groups_query_wants_runs(query, answer))
		query->nruns++;
	else if (answer->function != AGGREGATE_FUNCTION_CORE)
		query->nsummaries++;
	query->states &= aggref_has_state(answer);
	query->needs_states |= answer->function == AGGREGATE_FUNCTION_HPSORT_KEYS_AGG;
	query->aggregates = lappend(query->aggregates, aggref);
	query->answers = lappend(query->answers, answer);
	query->aggregate_filters = lappend_int(query->aggregate_filters, filter);
	return true;
}

static bool is_not_answered(Node *node, void *arg);

/* Notes a sum that is computed of other aggregates; false if it is none, or these are unknown. */
static bool
note_divided(GroupsQuery *query, Aggref *aggref)
{
	Expr	   *divided;

	if (list_member(query->divided, aggref))
		return true;
	divided = divided_sum(aggref, query->rti, query->ngroups > 0);
	if (divided == NULL || is_not_answered((Node *) divided, query))
		return false;
	query->divided = lappend(query->divided, aggref);
	query->divided_exprs = lappend(query->divided_exprs, divided);
	return true;
}

/* Notes the aggregates of an expression; stops at what is neither of them nor of the groups. */
static bool
is_not_answered(Node *node, void *arg)
{
	GroupsQuery *query = (GroupsQuery *) arg;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return !note_divided(query, (Aggref *) node) && !note_aggregate(query, (Aggref *) node);
	if (find_group(query, node))
		return false;
	if (IsA(node, GroupingFunc))
		return !note_grouping_call(query, (GroupingFunc *) node);
	if (IsA(node, Var))
		return !note_determined(query, (Var *) node);
	if (IsA(node, PlaceHolderVar) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, is_not_answered, arg);
}

/* Stops at a column that is neither in an aggregate nor in a group. */
static bool
is_not_computed(Node *node, void *arg)
{
	if (node == NULL || IsA(node, Aggref) || find_group((const GroupsQuery *) arg, node))
		return false;
	return IsA(node, Var) || IsA(node, PlaceHolderVar) ||
		expression_tree_walker(node, is_not_computed, arg);
}

bool
groups_query_computes(const GroupsQuery *query, List *expressions)
{
	return !is_not_computed((Node *) expressions, unconstify(GroupsQuery *, query));
}

/* The group that a path key is of; NULL if it is of none, or not of the type's own order. */
static QueryGroup *
group_of_pathkey(GroupsQuery *query, PathKey *pathkey)
{
	for (int g = 0; g < query->ngroups; g++)
	{
		QueryGroup *group = &query->groups[g];
		TypeCacheEntry *entry;
		Oid			sortop = InvalidOid;
		Oid			type = group->type;

		if (group->placed)
			continue;
		if (column_kind(type) == COLUMN_KIND_ENUM)
			type = ANYENUMOID;
		foreach_node(EquivalenceMember, member, pathkey->pk_eclass->ec_members)
		{
			if (equal(member->em_expr, group->expression))
				sortop = compat_pathkey_sortop(pathkey, type);
		}
		if (!OidIsValid(sortop))
			continue;
		entry = lookup_type_cache(group->type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
		if (sortop != entry->lt_opr && sortop != entry->gt_opr)
			return NULL;
		group->descending = sortop == entry->gt_opr;
		group->nulls_first = pathkey->pk_nulls_first;
		return group;
	}
	return NULL;
}

bool
groups_query_wants_runs(const GroupsQuery *query, const AggregateAnswer *answer)
{
	return answer->needs == AGGREGATE_NEEDS_RUNS ||
		(query->sets != NIL && aggref_has_moments(answer));
}

/*
 * Whether groups are in no order: where one is the number of a value, or has states of core's
 * functions.  What there is no memory for is left to another pass.
 */
static bool
are_unordered(const GroupsQuery *query)
{
	for (int g = 0; g < query->ngroups; g++)
		if (query_group_has_numbers(&query->groups[g]))
			return true;
	return query->ngroups > 0 && query->ncore > 0;
}

/* Of groups that have an order it is that of GROUP BY, if nothing else asks for one. */
bool
groups_query_wants_order(const GroupsQuery *query)
{
	const PlannerInfo *root = query->root;

	return query->pathkeys != NIL &&
		(root->parent_root || root->sort_pathkeys || root->window_pathkeys ||
		 root->distinct_pathkeys);
}

bool
groups_query_is_serial(const GroupsQuery *query)
{
	for (int g = 0; g < query->ngroups; g++)
		if (query->groups[g].form == DERIVED_EQUAL)
			return true;
	foreach_ptr(const AggregateAnswer, answer, query->answers)
	{
		if (aggref_adds_floats(answer))
			return true;
	}
	return query->ncore > 0;
}

/* Whether one of n groups is this column, and equal values of it are identical. */
static bool
has_column(const QueryGroup *groups, int n, const Var *column)
{
	for (int g = 0; g < n; g++)
		if (IsA(groups[g].expression, Var) && groups[g].read != READ_EQUAL &&
			groups[g].form != DERIVED_EQUAL && !derived_form_has_numbers(groups[g].form) &&
			is_same_column((const Var *) groups[g].expression, column))
			return true;
	return false;
}

/*
 * Whether the columns of which a group is are among n groups: rows that are alike in the columns
 * are alike in what is computed from them, which need not be a group, then, but is computed for
 * each group that is returned.
 */
static bool
is_determined(const QueryGroup *groups, int n, const QueryGroup *group)
{
	if (IsA(group->expression, Var))
		return false;
	foreach_node(Var, column, group->columns)
	{
		if (!has_column(groups, n, column))
			return false;
	}
	return true;
}

/*
 * Drops the numbers of values that other groups determine: numbers would be in no order.
 */
static void
drop_determined_numbers(GroupsQuery *query)
{
	int			n = 0;

	for (int g = 0; g < query->ngroups; g++)
		if (query->groups[g].form != DERIVED_NUMBERS ||
			!is_determined(query->groups, query->ngroups, &query->groups[g]))
			query->groups[n++] = query->groups[g];
	query->ngroups = n;
}

/*
 * Whether any of the values that have one number may be returned in a group.  A dictionary keeps
 * the first one of all rows, and core returns the first one of the group's rows: the same if there
 * are no other grouping columns or they determine the value, if equal values look alike, or if the
 * values are computed of others that do.
 */
static bool
are_alike(const GroupsQuery *query)
{
	for (int g = 0; g < query->ngroups && query->ngroups > 1; g++)
	{
		const QueryGroup *group = &query->groups[g];
		Node	   *expression = (Node *) group->expression;
		bool		alike = group->form != DERIVED_EQUAL;

		if (group->determined && alike)
			continue;
		if (query_group_has_numbers(group))
			foreach_node(Var, column, group->columns)
				alike &= column_kind(column->vartype) != COLUMN_KIND_NONE;
		if (!alike && !dictionary_equal_is_alike(group->type, exprTypmod(expression),
												 exprCollation(expression)))
			return false;
	}
	return true;
}

/*
 * Puts the groups in the order that is wanted of them, as far as it is one of groups, without
 * groups that others determine.  One that is wanted in the order before the column that determines
 * it stays.
 */
static void
order_groups(PlannerInfo *root, GroupsQuery *query)
{
	QueryGroup *ordered = palloc0_array(QueryGroup, query->ngroups + 1);
	int			n = 0;
	ListCell   *lc;

	drop_determined_numbers(query);
	if (are_unordered(query))
		return;
	foreach(lc, root->sort_pathkeys != NIL ? root->sort_pathkeys : root->query_pathkeys)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		QueryGroup *group = group_of_pathkey(query, pathkey);

		/* The labels of an enum are read as OIDs, which are in another order, if anybody asks. */
		if (group == NULL || (column_kind(group->type) == COLUMN_KIND_ENUM &&
							  root->sort_pathkeys == NIL && root->window_pathkeys == NIL))
			break;
		group->placed = true;
		if (column_kind(group->type) == COLUMN_KIND_ENUM)
			group->form = DERIVED_RANKS;
		if (!is_determined(ordered, n, group))
			ordered[n++] = *group;
		query->pathkeys = lappend(query->pathkeys, pathkey);
	}
	for (int g = 0; g < query->ngroups; g++)
		if (!query->groups[g].placed && !is_determined(query->groups, query->ngroups,
													   &query->groups[g]))
			ordered[n++] = query->groups[g];
	query->groups = ordered;
	query->ngroups = n;
}

/*
 * Whether groups of sets are answered.  They are not where aggregates have sums of outsized values,
 * which are kept by all grouping columns.
 */
static bool
can_have_sets(const GroupsQuery *query)
{
	foreach_ptr(const AggregateAnswer, answer, query->answers)
	{
		if (answer->outsized)
			return false;
	}
	return true;
}

bool
groups_query_reads_each_set(const GroupsQuery *query)
{
	foreach_ptr(const AggregateAnswer, answer, query->answers)
	{
		if (answer->with ||
			(column_kind_is_float(answer->kind) && answer->needs == AGGREGATE_NEEDS_SUMMARY &&
			 answer->function != AGGREGATE_FUNCTION_COUNT))
			return true;
	}
	return query->ncore > 0;
}

/* Has the columns read by which rows are looked up, and those of conditions. */
static void
add_keys(GroupsQuery *query)
{
	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		foreach_node(OpExpr, clause, lookup->clauses)
			add_columns(query, expression_columns(linitial(clause->args)));
	}
	foreach_node(RestrictInfo, rinfo, query->conditions)
		add_columns(query, expression_columns(rinfo->clause));
}

bool
groups_query_note(UpperRelationKind stage, PathTarget *target, Node *having, GroupsQuery *query)
{
	PlannerInfo *root = query->root;
	List	   *all = root->parse->distinctClause;
	List	   *clauses = compat_distinct_clause(root);
	List	   *sets = stage == UPPERREL_GROUP_AGG ? root->parse->groupingSets : NIL;

	if (stage == UPPERREL_GROUP_AGG)
	{
		all = root->parse->groupClause;
		clauses = compat_group_clause(root);
		if (clauses == NIL && sets != NIL)
			return false;
	}
	if (!note_groups(root, query, clauses, sets != NIL) ||
		(sets == NIL && !note_expressions(root, query, all)))
		return false;
	/* Groups by constants alone are not the one group that there is without any. */
	if (query->ngroups == 0 && all != NIL)
		return false;
	foreach_ptr(List, set, sets)
		query->sets = lcons(indexes_of_refs(query, set), query->sets);
	if (is_not_answered((Node *) target->exprs, query) || is_not_answered(having, query) ||
		(query->ngroups == 0 && query->aggregates == NIL))
		return false;
	for (int g = 0; g < query->ngroups; g++)
	{
		const QueryGroup *group = &query->groups[g];

		if (group->form == DERIVED_NONE)
			add_column(query, linitial_node(Var, group->columns), group->read);
		else
			add_columns(query, group->columns);
	}
	add_keys(query);
	drop_datums(query);
	/* What core's functions take is in batches, of which a table without columns has none. */
	if (query->ncore > 0 && query->columns == NIL)
		return false;
	if (sets == NIL)
		order_groups(root, query);
	if (!are_alike(query) || (sets != NIL && !can_have_sets(query)))
		return false;
	query->states &= query->ngroups == 0 && query->filters == NIL && query->lookups == NIL;
	return query->states || !query->needs_states;
}
