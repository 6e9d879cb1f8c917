/*
 * path.h
 *		The path of Custom Scan (HpSort): which keys it can sort by, and making
 *		it.
 */
#ifndef HPSORT_PG_NODES_SORT_PATH_H
#define HPSORT_PG_NODES_SORT_PATH_H

#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "nodes/pathnodes.h"

#include "pg/guc.h"
#include "pg/nodes/sort/store/abbreviation.h"

/*
 * Operator families of btree that the types of key_kind() belong to which are mapped
 * without their sort support; core has names for the others only.
 */
#define CHAR_FAMILY 429
#define DATETIME_FAMILY 434
#define FLOAT_FAMILY 1970
#define INTERVAL_FAMILY 1982
#define TIME_FAMILY 1996
#define ENUM_FAMILY 3522

/* Fewer rows are not worth a look. */
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
	bool		narrow;			/* and is the only mapped one */
	bool		key_only;		/* the only column is the only key */
	double		range;			/* values that the mapped keys can have, by type */
} HpSortColumns;

/*
 * Expressions that say how many rows will be read, or how many of each group, where
 * the leading path keys are the group; and an estimate of the rows.
 */
typedef struct HpSortBound
{
	List	   *exprs;			/* of LIMIT and OFFSET, or the one value that a window function is
								 * compared with; NIL: all rows */
	double		rows;

	/* By group. */
	int			kind;			/* GroupBoundKind: what is counted; 0: no groups */
	bool		exclusive;		/* fewer than the value */
	bool		next;			/* and the row after these */
	int			ngroup;
	double		groups;			/* an estimate */
	List	   *pathkeys;		/* in this order and no other; NIL: in any */
} HpSortBound;

/* Whether sorting so many rows is worth a look. */
static inline bool
sort_path_enough_rows(double rows)
{
	return rows >= SORT_PATH_MIN_ROWS || hpsort_debug_sort == NODE_FORCE;
}

/* Whether sort support abbreviates what a path key sorts. */
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
 * A cheap test that excludes most queries: whether the first of these path keys, which
 * are not NIL, may be one that can be mapped.
 */
static inline bool
sort_path_may_map(const List *pathkeys)
{
	const PathKey *pathkey = linitial_node(PathKey, pathkeys);

	/* Text is what most queries sort for which nothing can be mapped. */
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

/* The same, and whether subpath is worth a look, too. */
extern bool sort_path_is_promising(const List *pathkeys, const Path *subpath);

/*
 * Finds the columns of a path that pathkeys sort by, and how many leading keys
 * can be mapped.  Returns false if a column is missing, if not even the first
 * key can be mapped, or if the path's target cannot be a custom scan's.
 */
extern bool sort_path_find_columns(const Path *path, List *pathkeys, HpSortColumns *columns);

/*
 * A path of rel that sorts subpath, whose columns these are.  bound: what limits
 * the rows read; NULL: nothing.  partial: of each worker its share.
 */
extern Path *sort_path_make(PlannerInfo *root, RelOptInfo *rel, Path *subpath,
							const HpSortColumns *columns, const HpSortBound *bound, bool partial);

/* The same for all rows; NULL if subpath cannot be sorted by pathkeys, or is not promising. */
extern Path *sort_path_try(PlannerInfo *root, RelOptInfo *rel, Path *subpath, List *pathkeys,
						   bool partial);

/*
 * Whether a path's rows may stay where they are when they are sorted by its columns; bounded:
 * those of a LIMIT.  The executor asks in_place_is_allowed(), which knows better.
 */
extern bool sort_path_columns_stay(PlannerInfo *root, const Path *path,
								   const HpSortColumns *columns,
								   bool bounded);

/* Whether the mapped keys end in an abbreviation of a string. */
static inline bool
sort_path_abbreviates_strings(const HpSortColumns *columns)
{
	return columns->abbreviated && OidIsValid(list_nth_oid(columns->collations,
														   columns->nmapped - 1));
}

/* Whether to abbreviate such a string takes long: unless its first bytes are all there is of it. */
static inline bool
sort_path_abbreviates_slowly(const HpSortColumns *columns)
{
	return sort_path_abbreviates_strings(columns) &&
		!abbreviation_is_first_bytes(list_nth_oid(columns->sortops, columns->nmapped - 1),
									 list_nth_oid(columns->collations, columns->nmapped - 1));
}

/* An estimate of how many different values the first nkeys keys have together. */
extern double sort_path_count_groups(PlannerInfo *root, Path *subpath, const HpSortColumns *columns,
									 int nkeys);

#endif							/* HPSORT_PG_NODES_SORT_PATH_H */
