/*
 * star.c
 *		Which joins are star joins (see star.h).
 *
 * The fact is the largest relation for which all others can be proved unique: beginning with the
 * fact, a relation is added to those that are there if core finds that no row of theirs has more
 * than one in it (innerrel_is_unique).  If there is none, or if that costs less, it is the largest
 * relation, beside which one dimension need not be unique.  The dimensions are what remains
 * connected by join clauses without the fact.  A dimension may be divided into several, each of
 * which has a key of the fact, where that costs less: what joins these with each other is then a
 * condition on joined rows, as is what joins a dimension to the fact beside its key.
 *
 * Outer, semi and anti joins (SpecialJoinInfo) are either within a dimension, where they are
 * core's, or they are those by which a dimension is joined to the fact.
 */
#include "postgres.h"

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
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/star.h"
#include "pg/nodes/aggregate/plan/star_cost.h"
#include "pg/values/values.h"

/* --- which relations */

/* Returns the join clauses that core applies where it joins a relation to others. */
static List *
join_clauses(PlannerInfo *root, Relids outer, RelOptInfo *inner)
{
	Relids		both = bms_union(outer, inner->relids);
	List	   *clauses = NIL;

	foreach_node(RestrictInfo, rinfo, inner->joininfo)
	{
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
	foreach_node(SpecialJoinInfo, sjinfo, root->join_info_list)
	{
		if (sjinfo->jointype == JOIN_LEFT && bms_is_member(relid, sjinfo->syn_righthand))
			return true;
	}
	return false;
}

/* Whether some relations are on the right side of a special join. */
static bool
is_right_side(const PlannerInfo *root, Relids relids)
{
	foreach_node(SpecialJoinInfo, sjinfo, root->join_info_list)
	{
		if (bms_overlap(sjinfo->syn_righthand, relids))
			return true;
	}
	return false;
}

/* Whether a relation is the right side of a left join, and of no other special join. */
static bool
is_right_side_alone(const PlannerInfo *root, const RelOptInfo *rel)
{
	foreach_node(SpecialJoinInfo, sjinfo, root->join_info_list)
	{
		if (bms_overlap(sjinfo->syn_righthand, rel->relids) &&
			(sjinfo->jointype != JOIN_LEFT ||
			 !bms_equal(base_relids(root, sjinfo->syn_righthand), rel->relids)))
			return false;
	}
	return true;
}

/*
 * Whether a relation may be unique by columns that others want of it: core proves a table so by a
 * unique index, a part of whose columns may be equal to constants.
 */
static bool
may_be_unique(const PlannerInfo *root, const RelOptInfo *rel)
{
	if (root->simple_rte_array[rel->relid]->rtekind != RTE_RELATION)
		return true;
	foreach_node(IndexOptInfo, index, rel->indexlist)
	{
		bool		wanted = index->unique;

		for (int k = 0; wanted && k < index->nkeycolumns && rel->baserestrictinfo == NIL; k++)
			wanted = index->indexkeys[k] == 0 ||
				bms_num_members(rel->attr_needed[index->indexkeys[k] - rel->min_attr]) > 1;
		if (wanted)
			return true;
	}
	return false;
}

/* Whether each row of some relations has at most one row of another one. */
static bool
is_unique(PlannerInfo *root, Relids relids, RelOptInfo *rel)
{
	if (compat_is_known_unique(rel, relids))
		return true;
	return may_be_unique(root, rel) &&
		innerrel_is_unique(root, bms_union(relids, rel->relids), relids, rel,
						   is_nullable(root, rel->relid) ? JOIN_LEFT : JOIN_INNER,
						   join_clauses(root, relids, rel), false);
}

/* Returns those of some relations that are not only asked for a match. */
static Relids
joined_relids(const PlannerInfo *root, Relids relids)
{
	relids = bms_copy(relids);
	foreach_node(SpecialJoinInfo, sjinfo, root->join_info_list)
	{
		if (sjinfo->jointype == JOIN_SEMI || sjinfo->jointype == JOIN_ANTI)
			relids = bms_del_members(relids, sjinfo->syn_righthand);
	}
	return relids;
}

/*
 * Whether each row of some relations has at most one row of the others, joined one by one, but for
 * what is only asked for a match.
 */
static bool
are_unique(PlannerInfo *root, Relids relids, Relids others)
{
	bool		added = true;

	others = joined_relids(root, others);
	while (added && !bms_is_empty(others))
	{
		int			i = -1;

		added = false;
		while ((i = bms_next_member(others, i)) >= 0)
		{
			if (!is_unique(root, relids, find_base_rel(root, i)))
				continue;
			relids = bms_add_member(bms_copy(relids), i);
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
	foreach_node(EquivalenceClass, ec, root->eq_classes)
	{
		if (ec->ec_merged || list_length(ec->ec_members) < 2 ||
			!bms_overlap(ec->ec_relids, relids))
			continue;
		foreach_node(EquivalenceMember, member, ec->ec_members)
		{
			if (bms_membership(member->em_relids) == BMS_MULTIPLE)
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

	*jointype = JOIN_INNER;
	foreach_node(SpecialJoinInfo, sjinfo, root->join_info_list)
	{
		Relids		right = base_relids(root, sjinfo->syn_righthand);
		Relids		left = base_relids(root, sjinfo->min_lefthand);

		if (bms_equal(right, fact->relids) && bms_is_subset(left, base))
		{
			if (*jointype != JOIN_INNER)
				return false;
			*jointype = JOIN_RIGHT;
		}
		if (!bms_overlap(right, base))
			continue;
		if (!bms_is_subset(right, base))
			return false;
		joined = bms_add_members(joined, right);
		if (bms_is_subset(left, base))
			*relids = compat_add_outer_join(*relids, sjinfo);
		else if (*jointype == JOIN_INNER && bms_equal(left, fact->relids))
			*jointype = sjinfo->jointype;
		else
			return false;
	}
	return *jointype == JOIN_INNER || *jointype == JOIN_RIGHT || bms_equal(joined, base);
}

/* --- a dimension */

/*
 * Adds a join clause to a lookup as an equality of an expression of the fact's columns and a
 * column of the lookup's; false if it is no clause of this kind.
 */
static bool
add_clause(const RestrictInfo *rinfo, const RelOptInfo *fact, StarLookup *lookup)
{
	const OpExpr *clause = (const OpExpr *) rinfo->clause;
	Oid			operator;
	Expr	   *left;
	Expr	   *right;
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
		if (!bms_equal(rinfo->right_relids, fact->relids))
			return false;
		left = lsecond(clause->args);
		right = linitial(clause->args);
		operator = get_commutator(operator);
	}
	row_key = plain_column(right);
	if (expression_columns(left) == NIL || row_key == NULL || !OidIsValid(operator) ||
		!op_strict(operator))
		return false;
	column = target_column(lookup->path->pathtarget, row_key);
	if (column < 0)
		return false;
	lookup->key_columns = lappend_int(lookup->key_columns, column);
	lookup->clauses = lappend(lookup->clauses,
							  make_opclause(operator, BOOLOID, false, left, right, InvalidOid,
											clause->inputcollid));
	return true;
}

/* Whether keys are found as integers: expressions only if there is a single key. */
static bool
are_integers(const List *clauses)
{
	Oid			operators[INDEX_MAX_KEYS];

	foreach_node(OpExpr, clause, clauses)
	{
		if (list_length(clauses) > 1 && plain_column(linitial(clause->args)) == NULL)
			return false;
		operators[foreach_current_index(clause)] = clause->opno;
	}
	return lookup_compares_integers(list_length(clauses), operators);
}

/*
 * Whether a clause can be evaluated for joined rows of the fact and of inner dimensions, all of
 * whose relations are in relids.
 */
static bool
is_condition(const RestrictInfo *rinfo, Relids relids)
{
	return bms_is_subset(rinfo->required_relids, relids) && !rinfo->pseudoconstant &&
		!compat_is_clone(rinfo) && expression_columns(rinfo->clause) != NIL;
}

/*
 * Returns the lookup of a dimension, whose base relations these are; NULL if there is no plan, or a
 * clause that is neither looked up nor a condition.  An equality that is not looked up may be that
 * by which a relation is unique.  may_be_many: the dimension need not be unique.
 */
static StarLookup *
make_lookup(PlannerInfo *root, RelOptInfo *fact, Relids relids, bool may_be_many)
{
	StarLookup *lookup = palloc0_object(StarLookup);
	RelOptInfo *rel;

	lookup->nparts = 1;
	lookup->many = !are_unique(root, fact->relids, relids);
	if ((lookup->many && !may_be_many) ||
		!find_jointype(root, fact, &relids, &lookup->jointype))
		return NULL;
	rel = bms_membership(relids) == BMS_SINGLETON ?
		find_base_rel(root, bms_singleton_member(relids)) : find_join_rel(root, relids);
	if (rel == NULL || rel->cheapest_total_path == NULL ||
		rel->cheapest_total_path->param_info != NULL)
		return NULL;
	/* Relations that are not joined by equality may have far more rows than the fact. */
	if ((IS_JOIN_REL(rel) || lookup->many) && rel->rows > fact->tuples)
		return NULL;
	lookup->path = rel->cheapest_total_path;
	lookup->safe_path = get_cheapest_parallel_safe_total_inner(rel->pathlist);
	foreach_node(RestrictInfo, rinfo, join_clauses(root, fact->relids, rel))
	{
		/* A condition above an outer join is none of its own. */
		if (IS_OUTER_JOIN(lookup->jointype) &&
			RINFO_IS_PUSHED_DOWN(rinfo, bms_union(fact->relids, rel->relids)))
			return NULL;
		if (add_clause(rinfo, fact, lookup))
			continue;
		if (lookup->jointype != JOIN_INNER || rinfo->mergeopfamilies != NIL ||
			!is_condition(rinfo, bms_union(fact->relids, rel->relids)))
			return NULL;
		lookup->conditions = lappend(lookup->conditions, rinfo);
	}
	if (lookup->clauses == NIL)
		return NULL;
	lookup->integers = are_integers(lookup->clauses);
	return lookup;
}

/* --- dimensions */

/*
 * Returns the lookups of parts of a dimension: of each relation that has a key of the fact, with
 * others of which a row of it has one.  NIL if that is one part, or is not possible.
 */
static List *
divide(PlannerInfo *root, RelOptInfo *fact, Relids dimension)
{
	List	   *parts = NIL;
	List	   *lookups = NIL;
	Relids		rest = bms_copy(dimension);
	bool		added = true;
	ListCell   *lc;
	int			i = -1;

	if (is_right_side(root, dimension) || is_right_side(root, fact->relids))
		return NIL;
	while ((i = bms_next_member(dimension, i)) >= 0)
		if (are_unique(root, fact->relids, bms_make_singleton(i)))
		{
			parts = lappend(parts, bms_make_singleton(i));
			rest = bms_del_member(rest, i);
		}
	while (added)
	{
		added = false;
		foreach(lc, parts)
		{
			i = -1;
			while ((i = bms_next_member(rest, i)) >= 0)
				if (are_unique(root, lfirst(lc), bms_make_singleton(i)))
				{
					lfirst(lc) = bms_add_member(lfirst(lc), i);
					rest = bms_del_member(rest, i);
					added = true;
				}
		}
	}
	if (list_length(parts) < 2 || !bms_is_empty(rest))
		return NIL;
	foreach(lc, parts)
	{
		StarLookup *lookup = make_lookup(root, fact, lfirst(lc), false);

		if (lookup == NULL)
			return NIL;
		lookups = lappend(lookups, lookup);
	}
	return lookups;
}

/* Adds a dimension to *star, whole or divided; false if neither is possible. */
static bool
add_dimension(Star *star, PlannerInfo *root, Relids dimension, bool may_be_many)
{
	double		rows = star->fact->rows;
	StarLookup *whole = make_lookup(root, star->fact, dimension,
									may_be_many && star->many == NULL);
	List	   *parts = divide(root, star->fact, dimension);
	Cost		cost = 0;

	foreach_ptr(const StarLookup, part, parts)
		cost += star_lookup_cost(root, part, part->path, rows);
	if (whole && (parts == NIL || star_lookup_cost(root, whole, whole->path, rows) <= cost))
	{
		parts = list_make1(whole);
		if (whole->many)
			star->many = whole;
	}
	star->lookups = list_concat(star->lookups, parts);
	return parts != NIL;
}

/* Returns the relations of the fact and of inner lookups. */
static Relids
inner_relids(const Star *star)
{
	Relids		relids = bms_copy(star->fact->relids);

	foreach_ptr(const StarLookup, lookup, star->lookups)
	{
		if (lookup->jointype == JOIN_INNER)
			relids = bms_add_members(relids, lookup->path->parent->relids);
	}
	return relids;
}

/*
 * Adds the conditions on several lookups, each to the last one that it is of.  What is equal to a
 * column of the fact is so by the keys already.  False if a clause is no condition.
 */
static bool
add_wide_conditions(const Star *star, PlannerInfo *root)
{
	Relids		before = star->fact->relids;

	foreach_ptr(StarLookup, lookup, star->lookups)
	{
		RelOptInfo *rel = lookup->path->parent;
		Relids		narrow = bms_union(star->fact->relids, rel->relids);

		foreach_node(RestrictInfo, rinfo, join_clauses(root, before, rel))
		{
			const EquivalenceClass *ec = rinfo->parent_ec;

			if (bms_is_subset(rinfo->required_relids, narrow) ||
				(ec && !ec->ec_broken && bms_overlap(ec->ec_relids, star->fact->relids)))
				continue;
			if (!is_condition(rinfo, inner_relids(star)))
				return false;
			lookup->conditions = lappend(lookup->conditions, rinfo);
		}
		before = bms_union(before, rel->relids);
	}
	return true;
}

/*
 * Whether a clause of a relation's joins is neither within a dimension nor of the fact and a
 * dimension alone, nor a condition; of the latter also if it is above the outer join that joins
 * them.
 */
static bool
has_wide_clause(PlannerInfo *root, const Star *star, const RelOptInfo *rel, List *dimensions)
{
	const RelOptInfo *fact = star->fact;
	Relids		inner = inner_relids(star);

	foreach_node(RestrictInfo, rinfo, rel->joininfo)
	{
		bool		narrow = is_condition(rinfo, inner);

		foreach_ptr(Bitmapset, dimension, dimensions)
		{
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

/* Orders conditions as core does: none sees rows that one of a lower security level refuses. */
static int
compare_conditions(const ListCell *a, const ListCell *b)
{
	const RestrictInfo *left = lfirst_node(RestrictInfo, a);
	const RestrictInfo *right = lfirst_node(RestrictInfo, b);

	if (left->security_level != right->security_level)
		return left->security_level < right->security_level ? -1 : 1;
	return left->eval_cost.per_tuple < right->eval_cost.per_tuple ? -1 :
		left->eval_cost.per_tuple > right->eval_cost.per_tuple;
}

/* Sets star->conditions to those of all lookups. */
static void
collect_conditions(Star *star, PlannerInfo *root)
{
	QualCost	cost;

	star->conditions = NIL;
	foreach_ptr(const StarLookup, lookup, star->lookups)
		star->conditions = list_concat(star->conditions,
									   lookup->conditions);
	/* Sets the cost of each. */
	cost_qual_eval(&cost, star->conditions, root);
	list_sort(star->conditions, compare_conditions);
}

/*
 * Fills in *star for a fact, which is joined to others; false if that is no star join.
 * may_be_many: one dimension need not be unique.
 */
static bool
find_dimensions(Star *star, PlannerInfo *root, RelOptInfo *fact, Relids others, bool may_be_many)
{
	List	   *dimensions = NIL;
	Relids		rest = bms_copy(others);
	int			i = -1;

	star->fact = fact;
	star->lookups = NIL;
	star->many = NULL;
	while (!bms_is_empty(rest))
	{
		Relids		dimension = connected(root, rest);

		dimensions = lappend(dimensions, dimension);
		rest = bms_del_members(rest, dimension);
	}
	foreach_ptr(Bitmapset, dimension, dimensions)
	{
		if (!add_dimension(star, root, dimension, may_be_many))
			return false;
	}
	/* What the fact is joined to from the right must be all that there is. */
	if (is_right_side(root, fact->relids) &&
		(list_length(star->lookups) != 1 ||
		 ((const StarLookup *) linitial(star->lookups))->jointype != JOIN_RIGHT || star->many))
		return false;
	if (has_wide_clause(root, star, fact, dimensions))
		return false;
	while ((i = bms_next_member(others, i)) >= 0)
		if (has_wide_clause(root, star, find_base_rel(root, i), dimensions))
			return false;
	if (!add_wide_conditions(star, root))
		return false;
	collect_conditions(star, root);
	return true;
}

/* Whether a relation may be part of a star join. */
static bool
may_be_joined(const RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_BASEREL && bms_is_empty(rel->lateral_relids) &&
		bms_is_empty(rel->lateral_referencers);
}

/*
 * Returns the relations that may be the fact, as far as one test of each says: all, if each one is
 * unique beside the others; or the only one that is not; or none.
 */
static Relids
possible_facts(PlannerInfo *root, Relids relids)
{
	Relids		joined = joined_relids(root, relids);
	Relids		facts = relids;
	int			i = -1;

	while ((i = bms_next_member(joined, i)) >= 0)
	{
		Relids		one = bms_make_singleton(i);

		if (!is_unique(root, bms_difference(relids, one), find_base_rel(root, i)))
			facts = bms_intersect(facts, one);
		if (bms_is_empty(facts))
			break;
	}
	return facts;
}

/* Returns what reading the fact and looking up its rows cost. */
static Cost
reading_cost(PlannerInfo *root, const Star *star)
{
	Cost		cost = star->fact->cheapest_total_path->total_cost;

	foreach_ptr(const StarLookup, lookup, star->lookups)
		cost += star_lookup_cost(root, lookup, lookup->path, star->fact->rows);
	return cost;
}

bool
star_find(Star *star, PlannerInfo *root, RelOptInfo *joinrel)
{
	Relids		relids = base_relids(root, joinrel->relids);
	Relids		facts = bms_copy(relids);
	Star		many = {.fact = NULL};
	bool		tested = false;
	int			i = -1;

	if (root->placeholder_list != NIL || root->hasPseudoConstantQuals)
		return false;
	foreach_node(SpecialJoinInfo, sjinfo, root->join_info_list)
	{
		if (sjinfo->jointype == JOIN_FULL)
			return false;
	}
	while ((i = bms_next_member(relids, i)) >= 0)
		if (!may_be_joined(find_base_rel(root, i)))
			return false;
	if (has_wide_equality(root, relids))
		return false;
	for (;;)
	{
		RelOptInfo *fact = NULL;

		i = -1;
		while ((i = bms_next_member(facts, i)) >= 0)
		{
			RelOptInfo *rel = find_base_rel(root, i);

			if (rel->rtekind == RTE_RELATION && is_right_side_alone(root, rel) &&
				(fact == NULL || rel->tuples > fact->tuples))
				fact = rel;
		}
		if (fact == NULL)
			break;
		if (find_dimensions(star, root, fact, bms_difference(relids, fact->relids), !tested))
		{
			if (star->many == NULL)
			{
				if (many.fact && reading_cost(root, &many) < reading_cost(root, star))
					*star = many;
				return true;
			}
			many = *star;
		}
		/* Most star joins have been found with the largest relation, without these tests. */
		if (!tested)
			facts = bms_copy(possible_facts(root, relids));
		tested = true;
		facts = bms_del_member(facts, fact->relid);
	}
	*star = many;
	return many.fact != NULL;
}
