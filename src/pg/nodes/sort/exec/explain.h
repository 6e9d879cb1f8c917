/*
 * explain.h
 *		What EXPLAIN says of Custom Scan (HpSort).
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_EXPLAIN_H
#define HPSORT_PG_NODES_SORT_EXEC_EXPLAIN_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/stats.h"
#include "pg/nodes/sort/store/store.h"

/* What one process did; copied from workers as it is. */
typedef struct HpSortStats
{
	bool		valid;			/* something has been sorted */
	bool		from_column;	/* rows were read by the column reader */
	RowSortStats sort;
} HpSortStats;

/* Of parallel workers, by their numbers, in shared memory. */
typedef struct HpSortShared
{
	int			nworkers;
	HpSortStats workers[FLEXIBLE_ARRAY_MEMBER];
} HpSortShared;

static inline Size
sort_node_shared_size(int nworkers)
{
	return offsetof(HpSortShared, workers) + mul_size(nworkers, sizeof(HpSortStats));
}

/*
 * Prints the sort keys of a node, and with ANALYZE what was done: by this
 * process, and by its workers unless shared is NULL.
 */
extern void sort_node_explain(PlanState *node, const KeyColumns *keys, const HpSortStats *stats,
							  const HpSortShared *shared, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_EXPLAIN_H */
