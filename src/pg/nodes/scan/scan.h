/*
 * scan.h
 *		Custom Scan (HpSort Scan): the rows of a table that meet conditions of its columns.
 *
 * The node stands above core's sequential scan in a finished plan.  A ColumnReader evaluates those
 * clauses of the scan's filter that are conditions: in memory where the columns are resident, so
 * that only pages of rows that meet them are read, and elsewhere where rows lie in their pages.
 * The node evaluates the other clauses, and returns what the scan would return.  Where that is not
 * possible when the plan is executed, it returns the scan's own rows.
 *
 * Other rooms include this header.
 */
#ifndef HPSORT_PG_NODES_SCAN_SCAN_H
#define HPSORT_PG_NODES_SCAN_SCAN_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "pg/compat.h"
#include "pg/guc.h"

extern const CustomScanMethods scan_node_scan_methods;

/* The elements of custom_private. */
typedef enum ScanPlanList
{
	SCAN_PLAN_CONDITIONS,		/* integers: which clauses of the scan's filter are conditions,
								 * counted from 0 */
	SCAN_PLAN_RESIDENT			/* Integer: whether resident columns are to be used */
} ScanPlanList;

/* Returns true if plans may have the node at all: the quick way out of the planner's hook. */
static inline bool
scan_node_enabled(void)
{
	return hpsort_enable_scan && hpsort_debug_scan != NODE_FORBID && old_snapshot_threshold < 0;
}

/*
 * Fewer rows are left to core: opening a reader takes as long as core takes for some thousand
 * rows, which a scan on the inner side of a loop does each time.  Times faster than core, of a
 * table that is searched in vain for each row of another one: 500 rows 0.64, 1,000 1.13, 3,000
 * 1.10, 10,000 1.54 (AMD EPYC, two loaded cores of a virtual machine, PostgreSQL 17).
 */
#define SCAN_MIN_ROWS 5000

/* How many tables have been planned above whose scans the node may be. */
extern uint64 scan_node_tables_seen;

/* Counts a table in scan_node_tables_seen, for set_rel_pathlist_hook. */
static inline void
scan_node_see_table(const RelOptInfo *rel)
{
	if (rel->baserestrictinfo != NIL && scan_node_enabled() &&
		(rel->tuples >= SCAN_MIN_ROWS || hpsort_debug_scan == NODE_FORCE))
		scan_node_tables_seen++;
}

/* Puts the node above the sequential scans of a finished plan where it gains something. */
extern void scan_node_finish_plan(PlannedStmt *stmt);

#endif							/* HPSORT_PG_NODES_SCAN_SCAN_H */
