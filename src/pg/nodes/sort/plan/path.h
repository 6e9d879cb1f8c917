/*
 * path.h
 *		The path of Custom Scan (HpSort): which keys it can sort by, and making
 *		it.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_PATH_H
#define HPSORT_PG_NODES_SORT_PLAN_PATH_H

#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "nodes/pathnodes.h"

#include "pg/guc.h"
#include "pg/nodes/sort/store/store.h"

/*
 * Btree operator families of types that key_kind() maps without sort support, as far as core has
 * no names for them.
 */
#define CHAR_FAMILY 429
#define DATETIME_FAMILY 434
#define FLOAT_FAMILY 1970
#define INTERVAL_FAMILY 1982
#define TIME_FAMILY 1996
#define ENUM_FAMILY 3522

/* Sorts of fewer rows are left to core without any estimate. */
#define SORT_PATH_MIN_ROWS 1000.0

/* Path keys as columns of a path's target, in the lists that the plan keeps (node.h). */
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
	bool		narrow;			/* the only mapped key has 32 bits at most */
	bool		key_only;		/* the only column is the only key */
	double		range;			/* values that the mapped keys can have, by type */
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

/* Returns true if the type's sort support abbreviates what a path key sorts by. */
static inline bool
sort_path_abbreviates(const PathKey *pathkey)
{
	const EquivalenceClass *ec = pathkey->pk_eclass;

	return ec->ec_members != NIL &&
		abbreviation_exists(pathkey->pk_opfamily,
							linitial_node(EquivalenceMember, ec->ec_members)->em_datatype,
							ec->ec_collation);
}

/*
 * Returns false if the first of the path keys cannot be mapped: a cheap test that excludes most
 * queries.  pathkeys must not be NIL.
 */
static inline bool
sort_path_may_map(const List *pathkeys)
{
	const PathKey *pathkey = linitial_node(PathKey, pathkeys);

	/* Most queries that sort by a key that cannot be mapped sort by a text. */
	if (pathkey->pk_opfamily == TEXT_BTREE_FAM_OID)
		return sort_path_abbreviates(pathkey);
	switch (pathkey->pk_opfamily)
	{
		case INTEGER_BTREE_FAM_OID:
		case BOOL_BTREE_FAM_OID:
		case OID_BTREE_FAM_OID:
		case CHAR_FAMILY:
		case DATETIME_FAMILY:
		case FLOAT_FAMILY:
		case INTERVAL_FAMILY:
		case TIME_FAMILY:
		case ENUM_FAMILY:
			return true;
		default:
			return sort_path_abbreviates(pathkey);
	}
}

/*
 * Returns false if sorting subpath by pathkeys need not be tried: it has few rows or parameters,
 * or sort_path_may_map() excludes it.
 */
extern bool sort_path_is_promising(const List *pathkeys, const Path *subpath);

/*
 * Finds the columns of a path that pathkeys sort by, and how many leading keys
 * can be mapped.  Returns false if a column is missing, if not even the first
 * key can be mapped, or if the path's target cannot be a custom scan's.
 */
extern bool sort_path_find_columns(const Path *path, List *pathkeys, HpSortColumns *columns);

/*
 * Returns a path of rel that sorts subpath by columns, which sort_path_find_columns() has found.
 * bound limits the rows that are read; NULL: all are.  partial: each worker sorts its share.
 */
extern Path *sort_path_make(PlannerInfo *root, RelOptInfo *rel, Path *subpath,
							const HpSortColumns *columns, const HpSortBound *bound, bool partial);

/*
 * Returns a path of rel that sorts all rows of subpath by pathkeys; NULL if they cannot be sorted
 * by HpSort, or sort_path_is_promising() says no.
 */
extern Path *sort_path_try(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys,
						   bool partial);

/*
 * Returns true if the planner expects that the rows of a path stay in place while they are sorted
 * by columns.  bounded: a LIMIT bounds them.  The executor decides by in_place_is_allowed().
 */
extern bool sort_path_columns_stay(PlannerInfo *root, const Path *path,
								   const HpSortColumns *columns,
								   bool bounded);

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

/* Returns an estimate of how many different values the first nkeys keys have together. */
extern double sort_path_count_groups(PlannerInfo *root, Path *subpath, const HpSortColumns *columns,
									 int nkeys);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_PATH_H */
