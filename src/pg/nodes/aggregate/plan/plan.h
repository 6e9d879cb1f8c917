/*
 * plan.h
 *		The planner half of HpSort Aggregate, and what the executor half reads of its plan node.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	aggrefs.h               which aggregates the node answers, and how
 *	expressions.h           of which columns an expression is computed
 *	memory_budget.h         the node's memory, divided
 *	node.h                  the lists of the plan node
 *	planner.h               the paths that the planner half offers
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_PLAN_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_PLAN_H

#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/expressions.h"
#include "pg/nodes/aggregate/plan/memory_budget.h"
#include "pg/nodes/aggregate/plan/node.h"
#include "pg/nodes/aggregate/plan/planner.h"

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_PLAN_H */
