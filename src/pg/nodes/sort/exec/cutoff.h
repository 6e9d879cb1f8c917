/*
 * cutoff.h
 *		The cutoff of a bounded sort's first key, for the column reader.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_CUTOFF_H
#define HPSORT_PG_NODES_SORT_EXEC_CUTOFF_H

#include "postgres.h"

#include "pg/nodes/sort/store/store.h"
#include "pg/values/values.h"

/*
 * Whether the reader understands a cutoff of such a key: of integers.  Then *cutoff leaves out
 * nothing yet.
 */
extern bool sort_cutoff_init(ColumnCutoff *cutoff, const KeyColumn *key);

/*
 * Leaves out of the rows to come those that a store does not want any more, as far as its first
 * key tells.
 */
extern void sort_cutoff_move(ColumnCutoff *cutoff, const RowStore *store);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_CUTOFF_H */
