/*
 * plan.h
 *		The planner half of Custom Scan (HpSort), and what the executor half reads of its plan node.
 *
 * Other rooms include this header, and no other of this room.  path.h is for the room itself.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_PLAN_H
#define HPSORT_PG_NODES_SORT_PLAN_PLAN_H

#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "pg/guc.h"
#include "pg/nodes/sort/store/store.h"

/* --- the planner's hooks, for nodes/hooks.c */

/* Returns true if plans may have the node at all: the quick way out of the hooks. */
static inline bool
sort_node_enabled(void)
{
	return hpsort_enable_sort && hpsort_debug_sort != NODE_FORBID;
}

/* Returns true if sort_node_upper_paths has to be called: the final rows are never sorted. */
static inline bool
sort_node_wants_upper(UpperRelationKind stage)
{
	return stage != UPPERREL_FINAL && sort_node_enabled();
}

/*
 * Each of these offers the node beside core's paths.  They are for create_upper_paths_hook,
 * set_rel_pathlist_hook (if the query wants its rows in some order) and set_join_pathlist_hook.
 */
extern void sort_node_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								  RelOptInfo *input_rel, RelOptInfo *output_rel);
extern void sort_node_scan_paths(PlannerInfo *root, RelOptInfo *rel);
extern void sort_node_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								 RelOptInfo *innerrel, JoinPathExtraData *extra);

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

/* Returns true if values of what a path key sorts by can be numbered. */
static inline bool
sort_path_may_number(const PathKey *pathkey)
{
	const EquivalenceClass *ec = pathkey->pk_eclass;
	Oid			type;

	if (ec->ec_members == NIL)
		return false;
	type = linitial_node(EquivalenceMember, ec->ec_members)->em_datatype;
	return IsPolymorphicType(type) ||
		key_may_be_numbered(type, pathkey->pk_opfamily, type, ec->ec_collation);
}

/*
 * Returns false if the first of the path keys cannot be mapped: a cheap test that excludes many
 * queries.  pathkeys must not be NIL.
 */
static inline bool
sort_path_may_map(const List *pathkeys)
{
	const PathKey *pathkey = linitial_node(PathKey, pathkeys);

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
		case TEXT_BTREE_FAM_OID:
			/* Where there are no abbreviations, values may be numbered. */
			return true;
		default:
			return sort_path_abbreviates(pathkey) || sort_path_may_number(pathkey);
	}
}

/*
 * How many HpSort plan nodes this process has made.  nodes/hooks.c calls sort_node_finish_plan()
 * if the number has grown while a query was planned.  A function that is planned meanwhile, or an
 * error, lets it grow as well; sort_node_finish_plan() then finds no node to change.
 */
extern uint64 sort_node_plans_made;

/* Changes the lists of HpSort nodes in a plan that core has finished (see path.c). */
extern void sort_node_finish_plan(PlannedStmt *stmt);

/* --- the plan node */

/*
 * custom_private holds a list for each property of the keys, with an element for each key, and a
 * list of integers about the node.  custom_exprs are the expressions of LIMIT and of OFFSET, if
 * they end the reading of the node; or the one value with which a window function is compared, if
 * that bounds the rows of each group.
 */
typedef enum HpSortPlanList
{
	HPSORT_PLAN_ATTNOS,
	HPSORT_PLAN_SORTOPS,
	HPSORT_PLAN_COLLATIONS,
	HPSORT_PLAN_NULLS_FIRST,
	HPSORT_PLAN_NUMBERS,
	HPSORT_PLAN_BOUND			/* what bounds the rows, of the path only: the plan has it in
								 * custom_exprs */
} HpSortPlanList;

/* The elements of HPSORT_PLAN_NUMBERS. */
typedef enum HpSortPlanInt
{
	HPSORT_PLAN_NMAPPED,		/* leading keys that are mapped */
	HPSORT_PLAN_NUMBERED,		/* bit i: values of key i are numbered */
	HPSORT_PLAN_KEY_ONLY,		/* whether the only column is the only key */
	HPSORT_PLAN_COPIED,			/* rows must not stay where they are */
	HPSORT_PLAN_GROUP_KIND,		/* GroupBoundKind; if there is one, also ... */
	HPSORT_PLAN_GROUP_EXCLUSIVE,	/* fewer than the value, rather than as many */
	HPSORT_PLAN_GROUP_NEXT,		/* and the row after these */
	HPSORT_PLAN_GROUP_KEYS,		/* leading keys that are the group */
	HPSORT_PLAN_GROUPS			/* an estimate */
} HpSortPlanInt;

/* The methods of the plan node: its executor half (exec.c) has them. */
extern const CustomScanMethods sort_node_scan_methods;

/* --- rows that stay in place, for the costs and for the executor */

/*
 * Pages whose keys are resident are left unread if at most one of IN_PLACE_UNREAD_PART of the
 * table's pages can have rows that are wanted.  The rows' pages are then read one by one, perhaps
 * from disk, which must not take longer than reading all pages in order.
 */
#define IN_PLACE_UNREAD_PART 8

/* The list of pages may take one of this many parts of work_mem if keys and places go to disk. */
#define IN_PLACE_PAGES_PART 2

/*
 * Returns the column of the table that a key is; 0 if it is none, or of a type that the reader does
 * not read as the key wants it.  any_type: core compares the key, or its image is made of the
 * value.
 */
extern AttrNumber in_place_column(const void *expression, bool any_type);

/*
 * Returns true if rows can stay in place as far as memory goes: the keys and places of all rows, or
 * of limit rows if that is not negative, fit into work_mem, or the list of the table's pages leaves
 * enough of it to sort them on disk.
 */
extern bool in_place_fits(double rows, double limit, double bytes_of_row, double bytes_of_pages);

/*
 * Returns true if rows of the table should stay in place although the node returns expressions of
 * them instead of whole rows.  varno is the table's number in the expressions; width is how many
 * bytes their results take.
 */
extern bool in_place_computes(Oid table, Index varno, List *expressions, int width);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_PLAN_H */
