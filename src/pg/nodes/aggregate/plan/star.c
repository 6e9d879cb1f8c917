/*
 * star.c
 *		Which joins are star joins (see star.h), and what they cost.
 *
 * The fact is the largest relation for which all others can be proved unique: beginning with the
 * fact, a relation is added to those that are there if core finds that no row of theirs has more
 * than one in it (innerrel_is_unique).  The dimensions are what remains connected by join clauses
 * without the fact.
 *
 * Outer, semi and anti joins (SpecialJoinInfo) are either within a dimension, where they are
 * core's, or they are those by which a dimension is joined to the fact.
 */
#include "postgres.h"

#include "executor/nodeHash.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/star.h"
#include "pg/values/values.h"

/* --- which relations */

/* Returns the join clauses that core applies where it joins a relation to others. */
static List *
join_clauses(PlannerInfo *root, Relids outer, RelOptInfo *inner)
{
	Relids		both = bms_union(outer, inner->relids);
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, inner->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, both))
			clauses = lappend(clauses, rinfo);
	}
	if (inner->has_eclass_joins)
		clauses = list_concat(clauses, generate_join_implied_equalities(root, both, outer, inner,
																		NULL));
	return clauses;
}

/* Returns the base relations among some that may be outer joins, too. */
static Relids
base_relids(const PlannerInfo *root, Relids relids)
{
	return bms_intersect(relids, root->all_baserels);
}

/* Whether a relation is on the nullable side of a left join. */
static bool
is_nullable(const PlannerInfo *root, int relid)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (sjinfo->jointype == JOIN_LEFT && bms_is_member(relid, sjinfo->syn_righthand))
			return true;
	}
	return false;
}

/*
 * Whether each row of some relations has at most one row of the others, joined one by one, but for
 * what is only asked for a match.
 */
static bool
are_unique(PlannerInfo *root, Relids relids, Relids others)
{
	bool		added = true;
	ListCell   *lc;

	others = bms_copy(others);
	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (sjinfo->jointype == JOIN_SEMI || sjinfo->jointype == JOIN_ANTI)
			others = bms_del_members(others, sjinfo->syn_righthand);
	}
	while (added && !bms_is_empty(others))
	{
		int			i = -1;

		added = false;
		while ((i = bms_next_member(others, i)) >= 0)
		{
			RelOptInfo *rel = find_base_rel(root, i);
			List	   *clauses = join_clauses(root, relids, rel);
			Relids		both = bms_union(relids, rel->relids);

			if (!innerrel_is_unique(root, both, relids, rel,
									is_nullable(root, i) ? JOIN_LEFT : JOIN_INNER, clauses,
									false))
				continue;
			relids = both;
			others = bms_del_member(others, i);
			added = true;
		}
	}
	return bms_is_empty(others);
}

/*
 * Returns those of some relations that are connected by join clauses with the first of them.
 * Columns that are equal to one constant are no clause.
 */
static Relids
connected(PlannerInfo *root, Relids relids)
{
	Relids		found = bms_make_singleton(bms_next_member(relids, -1));
	Relids		waiting = bms_copy(found);
	int			i;

	while ((i = bms_next_member(waiting, -1)) >= 0)
	{
		int			j = -1;

		waiting = bms_del_member(waiting, i);
		while ((j = bms_next_member(relids, j)) >= 0)
			if (!bms_is_member(j, found) &&
				join_clauses(root, find_base_rel(root, i)->relids, find_base_rel(root, j)) != NIL)
			{
				found = bms_add_member(found, j);
				waiting = bms_add_member(waiting, j);
			}
	}
	return found;
}

/* Whether a clause of more than two relations is implied by an equality of an expression. */
static bool
has_wide_equality(PlannerInfo *root, Relids relids)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, root->eq_classes)
	{
		EquivalenceClass *ec = lfirst_node(EquivalenceClass, lc);

		if (ec->ec_merged || list_length(ec->ec_members) < 2 ||
			!bms_overlap(ec->ec_relids, relids))
			continue;
		foreach(lc2, ec->ec_members)
		{
			if (bms_membership(lfirst_node(EquivalenceMember, lc2)->em_relids) == BMS_MULTIPLE)
				return true;
		}
	}
	return false;
}

/*
 * Sets *jointype to that by which a dimension is joined to the fact, and adds the outer joins that
 * are within the dimension to *relids, which are its base relations.  Returns false if a join is of
 * neither kind.
 */
static bool
find_jointype(PlannerInfo *root, const RelOptInfo *fact, Relids *relids, JoinType *jointype)
{
	Relids		base = *relids;
	Relids		joined = NULL;
	ListCell   *lc;

	*jointype = JOIN_INNER;
	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);
		Relids		right = base_relids(root, sjinfo->syn_righthand);
		Relids		left = base_relids(root, sjinfo->min_lefthand);

		if (!bms_overlap(right, base))
			continue;
		if (sjinfo->jointype == JOIN_FULL || !bms_is_subset(right, base))
			return false;
		joined = bms_add_members(joined, right);
		if (bms_is_subset(left, base))
			*relids = compat_add_outer_join(*relids, sjinfo);
		else if (*jointype == JOIN_INNER && bms_equal(left, fact->relids))
			*jointype = sjinfo->jointype;
		else
			return false;
	}
	return *jointype == JOIN_INNER || bms_equal(joined, base);
}

/* --- a dimension */

/* Returns the index of a column in a target; -1 if it is not there. */
static int
find_in_target(const PathTarget *target, const Var *column)
{
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		const Var  *other = (const Var *) lfirst(lc);

		if (IsA(other, Var) && is_same_column(other, column))
			return foreach_current_index(lc);
	}
	return -1;
}

/*
 * Adds a join clause to a lookup as an equality of the fact's column and another one; false if it
 * is no clause of this kind.
 */
static bool
add_clause(const RestrictInfo *rinfo, const RelOptInfo *fact, StarLookup *lookup)
{
	const OpExpr *clause = (const OpExpr *) rinfo->clause;
	Oid			operator;
	Expr	   *left;
	Expr	   *right;
	const Var  *key;
	const Var  *row_key;
	int			column;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2 || rinfo->pseudoconstant ||
		!OidIsValid(rinfo->hashjoinoperator) ||
		list_length(lookup->clauses) == INDEX_MAX_KEYS)
		return false;
	operator = clause->opno;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	if (!bms_equal(rinfo->left_relids, fact->relids))
	{
		left = lsecond(clause->args);
		right = linitial(clause->args);
		operator = get_commutator(operator);
	}
	key = plain_column(left);
	row_key = plain_column(right);
	if (key == NULL || key->varno != (int) fact->relid || row_key == NULL ||
		!OidIsValid(operator) || !op_strict(operator) || get_typlen(key->vartype) == -2)
		return false;
	column = find_in_target(lookup->path->pathtarget, row_key);
	if (column < 0)
		return false;
	lookup->key_columns = lappend_int(lookup->key_columns, column);
	lookup->clauses = lappend(lookup->clauses,
							  make_opclause(operator, BOOLOID, false, left, right, InvalidOid,
											clause->inputcollid));
	return true;
}

/*
 * Adds the lookup of a dimension, whose base relations these are; false if there is no plan, or a
 * clause that is not looked up.
 */
static bool
add_lookup(Star *star, PlannerInfo *root, Relids relids)
{
	StarLookup *lookup = palloc0_object(StarLookup);
	RelOptInfo *rel;
	ListCell   *lc;

	if (!find_jointype(root, star->fact, &relids, &lookup->jointype))
		return false;
	rel = bms_membership(relids) == BMS_SINGLETON ?
		find_base_rel(root, bms_singleton_member(relids)) : find_join_rel(root, relids);
	if (rel == NULL || rel->cheapest_total_path == NULL ||
		rel->cheapest_total_path->param_info != NULL)
		return false;
	/* Relations that are not joined by equality may have far more rows than the fact. */
	if (IS_JOIN_REL(rel) && rel->rows > star->fact->tuples)
		return false;
	lookup->path = rel->cheapest_total_path;
	lookup->safe_path = get_cheapest_parallel_safe_total_inner(rel->pathlist);
	foreach(lc, join_clauses(root, star->fact->relids, rel))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		/* A condition above an outer join is none of its own. */
		if (IS_OUTER_JOIN(lookup->jointype) &&
			RINFO_IS_PUSHED_DOWN(rinfo, bms_union(star->fact->relids, rel->relids)))
			return false;
		if (!add_clause(rinfo, star->fact, lookup))
			return false;
	}
	star->lookups = lappend(star->lookups, lookup);
	return lookup->clauses != NIL;
}

/*
 * Whether a clause of a relation's joins is neither within a dimension nor of the fact and a
 * dimension alone; of the latter also if it is above the outer join that joins them.
 */
static bool
has_wide_clause(PlannerInfo *root, const RelOptInfo *fact, const RelOptInfo *rel,
				List *dimensions)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		narrow = false;

		foreach(lc2, dimensions)
		{
			Relids		dimension = (Relids) lfirst(lc2);
			JoinType	jointype;

			if (compat_is_clone(rinfo) &&
				bms_is_subset(base_relids(root, rinfo->required_relids), dimension))
				narrow = true;
			if (find_jointype(root, fact, &dimension, &jointype))
				narrow |= bms_is_subset(rinfo->required_relids,
										bms_union(fact->relids, dimension));
		}
		if (!narrow)
			return true;
	}
	return false;
}

/* Fills in *star for a fact, which is joined to others; false if that is no star join. */
static bool
find_dimensions(Star *star, PlannerInfo *root, RelOptInfo *fact, Relids others)
{
	List	   *dimensions = NIL;
	Relids		rest = bms_copy(others);
	ListCell   *lc;
	int			i = -1;

	star->fact = fact;
	star->lookups = NIL;
	if (!are_unique(root, fact->relids, others))
		return false;
	while (!bms_is_empty(rest))
	{
		Relids		dimension = connected(root, rest);

		dimensions = lappend(dimensions, dimension);
		rest = bms_del_members(rest, dimension);
	}
	foreach(lc, dimensions)
	{
		if (!add_lookup(star, root, (Relids) lfirst(lc)))
			return false;
	}
	if (has_wide_clause(root, fact, fact, dimensions))
		return false;
	while ((i = bms_next_member(others, i)) >= 0)
		if (has_wide_clause(root, fact, find_base_rel(root, i), dimensions))
			return false;
	return true;
}

/* Whether a relation is on the right side of a special join, where the fact cannot be. */
static bool
is_right_side(const PlannerInfo *root, int relid)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		if (bms_is_member(relid, lfirst_node(SpecialJoinInfo, lc)->syn_righthand))
			return true;
	}
	return false;
}

/* Whether a relation may be part of a star join. */
static bool
may_be_joined(const RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_BASEREL && bms_is_empty(rel->lateral_relids) &&
		bms_is_empty(rel->lateral_referencers);
}

bool
star_find(Star *star, PlannerInfo *root, RelOptInfo *joinrel)
{
	Relids		relids = base_relids(root, joinrel->relids);
	Relids		tried = NULL;
	int			i = -1;

	if (root->placeholder_list != NIL || root->hasPseudoConstantQuals)
		return false;
	while ((i = bms_next_member(relids, i)) >= 0)
		if (!may_be_joined(find_base_rel(root, i)))
			return false;
	if (has_wide_equality(root, relids))
		return false;
	for (;;)
	{
		RelOptInfo *fact = NULL;

		i = -1;
		while ((i = bms_next_member(relids, i)) >= 0)
		{
			RelOptInfo *rel = find_base_rel(root, i);

			if (!bms_is_member(i, tried) && rel->rtekind == RTE_RELATION &&
				!is_right_side(root, i) &&
				(fact == NULL || rel->tuples > fact->tuples))
				fact = rel;
		}
		if (fact == NULL)
			return false;
		if (find_dimensions(star, root, fact, bms_difference(relids, fact->relids)))
			return true;
		tried = bms_add_member(tried, fact->relid);
	}
}

/* --- the plan */

/* Returns the looked up columns that are of a lookup. */
static List *
columns_of(const GroupsQuery *query, const StarLookup *lookup)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, query->looked_up_columns)
	{
		Var		   *column = lfirst_node(Var, lc);

		if (bms_is_member(column->varno, lookup->path->parent->relids))
			columns = lappend(columns, column);
	}
	return columns;
}

List *
star_expressions(const GroupsQuery *query, const StarLookup *lookup)
{
	return list_concat_copy(lookup->clauses, columns_of(query, lookup));
}

List *
star_describe(const GroupsQuery *query, const StarLookup *lookup)
{
	List	   *columns = columns_of(query, lookup);
	List	   *result = list_make3_int(lookup->jointype, list_length(lookup->clauses),
										list_length(columns));
	ListCell   *lc;

	result = list_concat(result, lookup->key_columns);
	foreach(lc, columns)
	{
		int			column = find_in_target(lookup->path->pathtarget, lfirst_node(Var, lc));

		if (column < 0)
			elog(ERROR, "a column that is looked up is not in the plan of its relation");
		result = lappend_int(result, column);
	}
	return result;
}

/* --- costs */

/*
 * In cpu_tuple_cost, which is to groups_cost.c what it is here: a row of a dimension put into the
 * look-up; a key that is no integer and is looked up for the first time; a row whose key is known
 * or an integer, by an array in the CPU's caches, and in memory.
 */
#define LOOKUP_BUILD_COST	4.0
#define LOOKUP_KEY_COST		6.0
#define LOOKUP_ROW_COST		0.1
#define LOOKUP_MISS_COST	0.3

/* From so many rows of a dimension on, arrays by key are not in the CPU's caches. */
#define LOOKUP_CACHED_ROWS	50000.0

/* Bytes of a row of a dimension, beside its values, and of a value. */
#define LOOKUP_ROW_BYTES	24.0
#define LOOKUP_VALUE_BYTES	9.0

Cost
star_cost(const GroupsQuery *query, CustomPath *path, double rows)
{
	Cost		total = 0;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, query->lookups)
	{
		const StarLookup *lookup = (const StarLookup *) lfirst(lc);
		const OpExpr *clause = linitial_node(OpExpr, lookup->clauses);
		bool		single = list_length(lookup->clauses) == 1;
		Path	   *plan = path->path.parallel_aware ? lookup->safe_path : lookup->path;
		List	   *keys = NIL;
		double		nkeys;

		path->custom_paths = lappend(path->custom_paths, plan);
		/* It may have workers of its own. */
		path->path.parallel_safe &= plan->parallel_safe;
		compat_add_disabled_nodes(&path->path, compat_disabled_nodes(plan));
		foreach(lc2, lookup->clauses)
			keys = lappend(keys, linitial(lfirst_node(OpExpr, lc2)->args));
		nkeys = !single ? rows :
			estimate_num_groups(query->root, keys, Max(rows, 1), NULL, NULL);
		total += plan->total_cost +
			cost_of_rows(LOOKUP_BUILD_COST * plan->rows +
						 (single && lookup_compares_integers(clause->opno) ? 0 :
						  LOOKUP_KEY_COST * nkeys) +
						 rows * (nkeys > LOOKUP_CACHED_ROWS ? LOOKUP_MISS_COST : LOOKUP_ROW_COST));
	}
	return total;
}

/* Returns the bytes that a lookup is likely to take. */
static double
lookup_bytes(const GroupsQuery *query, const StarLookup *lookup)
{
	int			nvalues = list_length(lookup->clauses) + list_length(columns_of(query, lookup));

	return lookup->path->rows * (LOOKUP_ROW_BYTES + lookup->path->pathtarget->width +
								 nvalues * LOOKUP_VALUE_BYTES);
}

double
star_bytes(const GroupsQuery *query)
{
	double		bytes = 0;
	ListCell   *lc;

	foreach(lc, query->lookups)
		bytes += lookup_bytes(query, (const StarLookup *) lfirst(lc));
	return bytes;
}

bool
star_is_parallel(const GroupsQuery *query)
{
	ListCell   *lc;

	foreach(lc, query->lookups)
	{
		if (((const StarLookup *) lfirst(lc))->safe_path == NULL)
			return false;
	}
	return true;
}

bool
star_fits(const GroupsQuery *query)
{
	ListCell   *lc;

	foreach(lc, query->lookups)
	{
		if (lookup_bytes(query, (const StarLookup *) lfirst(lc)) > get_hash_memory_limit() &&
			hpsort_debug_aggregate != NODE_FORCE)
			return false;
	}
	return true;
}
