/*
 * path.h
 *		The paths of Custom Scan (HpSort) and what they are made of, within this room.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_PATH_H
#define HPSORT_PG_NODES_SORT_PLAN_PATH_H

#include "nodes/pathnodes.h"

#include "pg/guc.h"
#include "pg/nodes/sort/plan/plan.h"

/* Sorts of fewer rows are left to core without any estimate. */
#define SORT_PATH_MIN_ROWS 1000.0

/* Path keys as columns of a path's target, in the lists that the plan keeps. */
typedef struct HpSortColumns
{
	List	   *pathkeys;
	List	   *attnos;
	List	   *sortops;
	List	   *collations;
	List	   *nulls_first;
	int			nmapped;
	bool		exact;			/* equal images are equal values */
	bool		abbreviated;	/* the last mapped key is abbreviated */
	bool		first_narrow;	/* the first key has 32 bits at most */
	bool		key_only;		/* the only column is the only key */
	bool		slow;			/* core's comparison by the first key is, which is numbered */
	uint32		numbered;		/* bit i: values of mapped key i are numbered */
	double		values[KEY_COLUMNS_MAX_MAPPED]; /* of numbered keys, an estimate */
	double		numbers_bytes;	/* that these values take */
	double		range;			/* values that the mapped keys can have, by type or as estimated */
} HpSortColumns;

/*
 * What bounds the rows that a sort returns: expressions for the number of rows, or of rows of each
 * group, and estimates of them.  The leading path keys are the group.
 */
typedef struct HpSortBound
{
	List	   *exprs;			/* of LIMIT and OFFSET, or the one value that a window function is
								 * compared with; NIL: all rows */
	double		rows;
	Path	   *instead;		/* of the same columns, read where joins above a bounded sort
								 * leave too few rows (below_join.c); NULL: they never do */

	/* By group. */
	int			kind;			/* GroupBoundKind: what is counted; 0: no groups */
	bool		exclusive;		/* fewer than the value */
	bool		next;			/* one row more of each group */
	int			ngroup;			/* leading path keys that are the group */
	double		groups;			/* an estimate */
	List	   *pathkeys;		/* in this order and no other; NIL: in any */
} HpSortBound;

/* Returns true if a sort of this many rows may be offered. */
static inline bool
sort_path_enough_rows(double rows)
{
	return rows >= SORT_PATH_MIN_ROWS || hpsort_debug_sort == NODE_FORCE;
}

/*
 * Returns false if sorting subpath by pathkeys need not be tried: it has few rows or parameters,
 * or sort_path_may_map() excludes it.
 */
extern bool sort_path_is_promising(const List *pathkeys, const Path *subpath);

/*
 * Returns a path of rel that sorts subpath by pathkeys; NULL if a key is no column of subpath, the
 * first key cannot be mapped, or nothing is gained.  bound limits the rows that are read, as far as
 * workers know it; NULL: all are read.  Of a bound by group it becomes that of all groups.
 * partial: each worker sorts its share.
 */
extern Path *sort_path_try(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys,
						   HpSortBound *bound, bool partial);

/*
 * Returns an input of a join sorted by HpSort; NULL if it cannot be, or if pathkeys is NIL.  bound
 * and partial are sort_path_try()'s.
 */
extern Path *sort_path_sort_input(PlannerInfo *root, Path *input, List *pathkeys,
								  HpSortBound *bound, bool partial);

/* Returns a Gather Merge, of rel, over a partial path that is sorted; NULL for NULL. */
extern Path *sort_path_gather(PlannerInfo *root, RelOptInfo *rel, Path *path);

/* Returns true if the last mapped key is the abbreviation of a string. */
static inline bool
sort_path_abbreviates_strings(const HpSortColumns *columns)
{
	return columns->abbreviated && OidIsValid(list_nth_oid(columns->collations,
														   columns->nmapped - 1));
}

/*
 * Returns true if the last mapped key is the abbreviation of a string, and is not just the
 * string's first bytes: it then takes long to make.
 */
static inline bool
sort_path_abbreviates_slowly(const HpSortColumns *columns)
{
	return sort_path_abbreviates_strings(columns) &&
		!abbreviation_is_first_bytes(list_nth_oid(columns->sortops, columns->nmapped - 1),
									 list_nth_oid(columns->collations, columns->nmapped - 1));
}

/*
 * Returns true if values of the next key, which is an expression of a path, are numbered when the
 * path is sorted, and notes an estimate of how many there are.  abbreviated: they have
 * abbreviations.
 */
extern bool sort_path_numbers_key(PlannerInfo *root, const Path *path, HpSortColumns *columns,
								  Node *expression, Oid sortop, Oid collation, bool abbreviated);

/* --- what bounds the rows (path_bound.c) */

/*
 * Returns the bound that LIMIT and OFFSET of a query are: no bound (exprs is NIL) unless they
 * count the rows that are sorted, and their values do not change during one execution.
 */
extern HpSortBound sort_path_limit(PlannerInfo *root, PathTarget *target);

/*
 * Returns true if a parallel worker can evaluate the bound: a worker gets the statement's
 * parameters and no others.
 */
extern bool sort_path_workers_know(const HpSortBound *bound);

/*
 * Sets *bound to the first rows that path keeps of each group of its input: path is a WindowAgg
 * with a run condition, or a Unique.  Returns false if it keeps other rows as well, or if what it
 * computes of the first rows depends on later ones.
 */
extern bool sort_path_group_bound(PlannerInfo *root, const Path *path, HpSortBound *bound);

/*
 * Returns true if a sort of subpath by columns can obey a group bound, and gains by it.  Before
 * the call bound->rows is the number of rows of one group; the call makes it that of all groups,
 * and sets bound->groups.
 */
extern bool sort_path_fit_group_bound(PlannerInfo *root, Path *subpath,
									  const HpSortColumns *columns,
									  HpSortBound *bound);

/* --- core's paths as inputs (core_paths.c) */

/* Returns a copy of a path, not of what it points to; NULL for a kind of unknown size. */
extern Path *sort_path_copy(const Path *path);

/*
 * Returns the cheapest of paths that needs no parameters; NULL if there is none.  If pathkeys is
 * not NIL, paths in their order do not count.
 */
extern Path *sort_path_cheapest(List *paths, List *pathkeys);

/*
 * Remembers the cheapest path of a relation that ORDER BY may have to sort, in the place of what
 * was remembered.  It must be called while the relation's list holds no other relation's paths.
 */
extern void sort_path_remember_input(PlannerInfo *root, RelOptInfo *rel);

/*
 * Returns the cheapest path of input_rel for ORDER BY to sort, after core has put its own paths
 * into ordered_rel; NULL if none is known.  The path is in no relation's list, or in input_rel's
 * alone, so that nothing frees it.
 */
extern Path *sort_path_find_input(PlannerInfo *root, RelOptInfo *input_rel,
								  RelOptInfo *ordered_rel);

/* --- target lists that must be computed for all rows that are sorted (computed.c) */

/*
 * Returns true if expressions may end in an error for some rows, or have side effects.  Aggregates
 * and window functions do not count, because nodes below compute them.
 */
extern bool sort_path_may_fail(List *expressions);

/*
 * Returns true if expressions must be computed for each row of a relation that is sorted: they may
 * fail, and as far as the planner knows not all rows will be returned.
 */
extern bool sort_path_must_compute(PlannerInfo *root, const RelOptInfo *rel, List *expressions);

/* --- HpSort in the place of core's sorts (replace.c) */

/*
 * Offers, for each path of an upper relation that has a Sort below it, a copy with HpSort in its
 * place.  For each path that keeps only the first rows of each group it also offers a copy over a
 * HpSort that returns only these rows.  input_rel is the relation that rel is computed from.
 */
extern void sort_path_replace_sorts(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel);

/*
 * Offers, for each merge join of outerrel and innerrel in joinrel that sorts an input, a copy in
 * which HpSort sorts this input.
 */
extern void sort_path_replace_merge_sorts(PlannerInfo *root, RelOptInfo *joinrel,
										  RelOptInfo *outerrel,
										  RelOptInfo *innerrel, JoinPathExtraData *extra);

/* --- HpSort below joins (below_join.c) */

/*
 * Returns a path of the rows of path, core's of a join, in the order of pathkeys, with HpSort over
 * the table that has these keys; NULL if that is not possible, or bound, the query's, is none.  The
 * path returns perhaps no more rows than the bound.
 */
extern Path *sort_path_below_join(PlannerInfo *root, Path *path, List *pathkeys,
								  const HpSortBound *bound);

/* --- costs (cost.c) */

/*
 * Sets the costs of path, which sorts subpath, in the planner's units.  bound limits the rows that
 * are read; NULL: all are.
 */
extern void sort_path_set_cost(PlannerInfo *root, Path *path, Path *subpath,
							   const HpSortColumns *columns, const HpSortBound *bound);

/*
 * Returns true if the planner expects that the rows of a path stay in place while they are sorted
 * by columns.  bounded: a LIMIT bounds them.  The executor decides by in_place_is_allowed().
 */
extern bool sort_path_columns_stay(PlannerInfo *root, const Path *path,
								   const HpSortColumns *columns, bool bounded);

/*
 * Returns how much the rows of a path come in the order of a key, from 0 to 1: by the statistics
 * of its column, where rows are read as they lie in the table.
 */
extern double sort_path_correlation(PlannerInfo *root, const Path *path,
									const HpSortColumns *columns, int key);

/*
 * Returns true if abbreviations tell the values of an expression apart, by the statistics of its
 * column, or if there are none.
 */
extern bool sort_path_abbreviations_divide(PlannerInfo *root, Node *expression, Oid sortop,
										   Oid collation);

/* Returns an estimate of how many different values the first nkeys keys have together. */
extern double sort_path_count_groups(PlannerInfo *root, const Path *subpath,
									 const HpSortColumns *columns, int nkeys);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_PATH_H */
