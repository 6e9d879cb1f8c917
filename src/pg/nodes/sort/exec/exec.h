/*
 * exec.h
 *		What the files of the executor half of Custom Scan (HpSort) share: reading the child into a
 *		sort of rows (row_sort.h), and EXPLAIN.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_EXEC_H
#define HPSORT_PG_NODES_SORT_EXEC_EXEC_H

#include "nodes/execnodes.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/row_sort.h"

/* --- the column reader in the place of the scan (column.c) */

/*
 * Puts all rows of a child node into a sort that takes keys.  Returns false, and has done nothing,
 * if the child is not a plain scan of one column that the column reader can read.
 */
extern bool sort_node_fill_from_column(RowSort *sort, PlanState *outer);

/*
 * Returns true if the reader understands a cutoff of a key: of integers.  Then *cutoff leaves out
 * nothing yet.
 */
extern bool sort_cutoff_init(ColumnCutoff *cutoff, const KeyColumn *key);

/*
 * Leaves out of the rows to come the ones that a store does not want any more, as far as its first
 * key tells.
 */
extern void sort_cutoff_move(ColumnCutoff *cutoff, const RowStore *store);

/*
 * Returns true if the rows of a child that has been initialized may stay where they are in some
 * executions of the node.
 */
extern bool in_place_is_possible(const RowSortSpec *spec, PlanState *child);

/*
 * Returns true if they may in this execution, of one where it is possible, and of which only bound
 * rows will be read, or all if it is 0.  *where is set if it is buffers that are missing.
 */
extern bool in_place_is_allowed(const RowSortSpec *spec, PlanState *child, uint64 bound,
								RowsWhere *where);

/* Returns true if each page of a table of this many stays pinned: not for a LIMIT of fewer rows. */
extern bool in_place_pins_all(uint64 bound, BlockNumber blocks);

/* --- rows of a table by its pages (in_place.c) */

/*
 * Reads all rows of the child into the sort: they stay in the table, or have been copied if that
 * is faster.  slot is for rows of the table, of the kind TTSOpsHeapTuple.
 */
extern void in_place_fill(RowSort *sort, PlanState *child, TupleTableSlot *slot, uint64 bound);

/*
 * Puts the rows of a child that may be the first of their group into a sort by group.  Returns
 * false, and has done nothing, if the reader cannot read the child, or not the keys.
 */
extern bool in_place_fill_by_group(RowSort *sort, PlanState *child, TupleTableSlot *slot);

/* --- EXPLAIN (explain.c) */

/* Statistics of parallel workers, by their numbers, in shared memory. */
typedef struct HpSortShared
{
	int			nworkers;
	RowSortStats workers[FLEXIBLE_ARRAY_MEMBER];
} HpSortShared;

/*
 * Prints the sort keys of a node, and with ANALYZE what was done: by this
 * process, and by its workers unless shared is NULL.
 */
extern void sort_node_explain(PlanState *node, const KeyColumns *keys, const RowSortStats *stats,
							  const HpSortShared *shared, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_EXEC_H */
