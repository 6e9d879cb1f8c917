/*
 * column.h
 *		Keys of Custom Scan (HpSort) straight from a table's columns.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_COLUMN_H
#define HPSORT_PG_NODES_SORT_EXEC_COLUMN_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "pg/nodes/sort/exec/row_sort.h"

/*
 * Puts all rows of a child node into a sort that takes keys.  Returns false,
 * and has done nothing, if the child is not a plain scan of one column that the
 * column reader can read.
 */
extern bool sort_node_fill_from_column(RowSort *sort, PlanState *outer);

/*
 * Likewise for a sort that wants the first rows of each group: puts those rows of a
 * child node that may be among them.
 */
extern bool sort_node_fill_by_group(RowSort *sort, PlanState *outer);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_COLUMN_H */
