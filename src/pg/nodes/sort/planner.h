/*
 * planner.h
 *		The planner half of Custom Scan (HpSort).
 */
#ifndef HPSORT_PG_NODES_SORT_PLANNER_H
#define HPSORT_PG_NODES_SORT_PLANNER_H

/* At module load: the planner's hooks, and the node. */
extern void sort_node_planner_init(void);

#endif							/* HPSORT_PG_NODES_SORT_PLANNER_H */
