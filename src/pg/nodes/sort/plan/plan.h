/*
 * plan.h
 *		The planner half of HpSort, and what the executor half reads of its plan node.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	in_place_reach.h        which rows are worth leaving in place
 *	node.h                  the lists of the plan node
 *	path.h                  the path of the node, and its cost
 *	plan_node.h             from the path to the plan node
 *	planner.h               the paths that the planner half offers
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_PLAN_H
#define HPSORT_PG_NODES_SORT_PLAN_PLAN_H

#include "postgres.h"

#include "pg/nodes/sort/plan/in_place_reach.h"
#include "pg/nodes/sort/plan/node.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/nodes/sort/plan/plan_node.h"
#include "pg/nodes/sort/plan/planner.h"

#endif							/* HPSORT_PG_NODES_SORT_PLAN_PLAN_H */
