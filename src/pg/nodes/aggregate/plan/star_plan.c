/*
 * star_plan.c
 *		What the plan says of a star join's lookups, and what they need: memory, keys (see star.h).
 */
#include "postgres.h"

#include "executor/nodeHash.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/star.h"
#include "pg/values/values.h"

/* Returns the looked up columns that are of a lookup. */
static List *
columns_of(const GroupsQuery *query, const StarLookup *lookup)
{
	List	   *columns = NIL;

	foreach_node(Var, column, query->looked_up_columns)
	{
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
	List	   *result = list_make5_int(lookup->jointype, lookup->many,
										list_length(lookup->clauses), list_length(columns),
										lookup->nparts);

	result = list_concat(result, lookup->key_columns);
	foreach_node(Var, wanted, columns)
	{
		int			column = target_column(lookup->path->pathtarget, wanted);

		if (column < 0)
			elog(ERROR, "a column that is looked up is not in the plan of its relation");
		result = lappend_int(result, column);
	}
	return result;
}

/* --- memory */

/*
 * Bytes of a row of a dimension: a place in the hash table, which has two elements for each row, or
 * in the array by key; a place where keys are no integers, in a table that has grown, and the hash;
 * the place of a row before it that has its key; of a value that is not passed by value, beside its
 * own; and of what becomes of a value (derived_memo.c), unless it is an integer.
 */
#define LOOKUP_PLACE_BYTES	8.0
#define LOOKUP_HASHED_BYTES	16.0
#define LOOKUP_REPEAT_BYTES	4.0
#define LOOKUP_POINTER_BYTES	8.0
#define LOOKUP_COMPUTED_BYTES	9.0

/*
 * The most combinations of parts of lookups: LEAST_CELLS, or one for each CELL_LIMIT bytes of
 * memory, of which files of rows have an eighth.
 */
#define LEAST_CELLS		4
#define CELL_LIMIT		(8 * 12 * 1024)

/* Returns the bytes that a column takes for a row. */
static double
column_bytes(PlannerInfo *root, const Var *column)
{
	int16		typlen;
	bool		byval;

	get_typlenbyval(column->vartype, &typlen, &byval);
	return byval ? typlen : LOOKUP_POINTER_BYTES + column_width(root, column);
}

/* Returns the bytes that a lookup is likely to take. */
static double
lookup_bytes(const GroupsQuery *query, const StarLookup *lookup)
{
	double		row = (lookup->integers ? LOOKUP_PLACE_BYTES : LOOKUP_HASHED_BYTES) +
	(lookup->many ? LOOKUP_REPEAT_BYTES : 0);

	foreach_node(OpExpr, clause, lookup->clauses)
		row += column_bytes(query->root, plain_column(lsecond(clause->args)));
	foreach_node(Var, column, columns_of(query, lookup))
		row += column_bytes(query->root, column) +
		(column_kind(column->vartype) ? 0 : LOOKUP_COMPUTED_BYTES);
	return lookup->path->rows * row;
}

/* Returns the bytes that a lookup is likely to hold at once: one part, and the files of all. */
static double
held_bytes(const StarLookup *lookup)
{
	return lookup->bytes / lookup->nparts +
		(lookup->nparts > 1 ? (double) lookup->nparts * LOOKUP_STORE_BYTES : 0);
}

double
star_bytes(const GroupsQuery *query)
{
	double		bytes = 0;

	foreach_ptr(const StarLookup, lookup, query->lookups)
		bytes += held_bytes(lookup);
	return bytes;
}

/* Whether groups or aggregates are of a column of the fact. */
static bool
is_used(const GroupsQuery *query, const Var *column)
{
	List	   *expressions = list_copy(query->derived_filters);

	for (int g = 0; g < query->ngroups; g++)
		expressions = lappend(expressions, query->groups[g].expression);
	expressions = list_concat(expressions, query->aggregates);
	return columns_have(pull_var_clause((Node *) expressions, PVC_RECURSE_AGGREGATES), column);
}

/* Whether a column of a lookup is NULL in no row; outer joins are not among those of its plan. */
static bool
is_not_null(PlannerInfo *root, const Var *column)
{
	RangeTblEntry *rte = planner_rt_fetch(column->varno, root);

	return rte->rtekind == RTE_RELATION &&
		compat_is_not_null(find_base_rel(root, column->varno), rte->relid, column->varattno);
}

bool
star_adds_rows(const GroupsQuery *query)
{
	const StarLookup *lookup = query->lookups ? linitial(query->lookups) : NULL;
	Oid			operators[INDEX_MAX_KEYS];

	if (lookup == NULL || lookup->jointype != JOIN_RIGHT)
		return true;
	if (list_length(query->root->join_info_list) > 1 || query->filters != NIL)
		return false;
	foreach_node(OpExpr, clause, lookup->clauses)
	{
		const Var  *column = plain_column(linitial(clause->args));
		const Var  *key = plain_column(lsecond(clause->args));

		if (column == NULL || is_used(query, column) || !is_not_null(query->root, key) ||
			column_kind(column->vartype) != column_kind(key->vartype))
			return false;
		operators[foreach_current_index(clause)] = clause->opno;
	}
	return lookup_compares_integers(list_length(lookup->clauses), operators);
}

bool
star_is_parallel(const GroupsQuery *query)
{
	foreach_ptr(const StarLookup, lookup, query->lookups)
	{
		/* That no process has met a row is known to none of them. */
		if (lookup->safe_path == NULL || lookup->jointype == JOIN_RIGHT || lookup->nparts > 1)
			return false;
	}
	return true;
}

/* Lookups with more rows come first: parts of those behind them are read more often. */
static int
compare_rows(const ListCell *a, const ListCell *b)
{
	double		left = ((const StarLookup *) lfirst(a))->path->rows;
	double		right = ((const StarLookup *) lfirst(b))->path->rows;

	return left < right ? 1 : left > right ? -1 : 0;
}

bool
star_fits(GroupsQuery *query)
{
	double		limit = get_hash_memory_limit();
	int			most = (int) Max(LEAST_CELLS, Min(GROUPS_MOST_CELLS, limit / CELL_LIMIT));
	int			ncells = 1;

	foreach_ptr(StarLookup, lookup, query->lookups)
	{
		bool		divides = !lookup->many && lookup->jointype != JOIN_RIGHT;

		lookup->bytes = lookup_bytes(query, lookup);
		lookup->nparts = 1;
		while (divides && held_bytes(lookup) > limit && 2 * ncells <= most)
		{
			lookup->nparts *= 2;
			ncells *= 2;
		}
		if (held_bytes(lookup) > limit && hpsort_debug_aggregate != NODE_FORCE)
			return false;
	}
	if (ncells > 1)
		list_sort(query->lookups, compare_rows);
	return true;
}
