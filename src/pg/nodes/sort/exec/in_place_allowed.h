/*
 * in_place_allowed.h
 *		Whether rows in order may stay where they are in their table, as far as can be told
 *		before the table is read; in_place.h sorts them.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_IN_PLACE_ALLOWED_H
#define HPSORT_PG_NODES_SORT_EXEC_IN_PLACE_ALLOWED_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "pg/nodes/sort/exec/row_sort.h"

/*
 * Whether each page of a table of so many stays pinned, where rows stay: not for a LIMIT of fewer
 * rows.
 */
extern bool in_place_pins_all(uint64 bound, BlockNumber blocks);

/*
 * Whether the rows of a child that has been initialized may stay where they are in
 * some executions of the node; and whether they may in this one, of which only bound
 * rows will be read, or all if it is 0.  *where is set if it is buffers that are missing.
 */
extern bool in_place_is_possible(const RowSortSpec *spec, PlanState *child);
extern bool in_place_is_allowed(const RowSortSpec *spec, PlanState *child, uint64 bound,
								RowsWhere *where);

/*
 * The column of the table that a key is; 0 if it is none, or of a type that the reader does not
 * read as the key wants it.
 */
extern AttrNumber in_place_key_attnum(const KeyColumn *key, const Plan *plan);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_IN_PLACE_ALLOWED_H */
