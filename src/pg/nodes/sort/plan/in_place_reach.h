/*
 * in_place_reach.h
 *		Which rows are worth leaving in their table while their keys are sorted, as far as the
 *		table's statistics tell: the planner's costs and the executor ask it.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_IN_PLACE_REACH_H
#define HPSORT_PG_NODES_SORT_PLAN_IN_PLACE_REACH_H

#include "postgres.h"

#include "nodes/pg_list.h"

/*
 * Pages whose keys are resident are left unread if at most one of IN_PLACE_UNREAD_PART of the
 * table's pages can have rows that are wanted.  The rows' pages are then read one by one, perhaps
 * from disk, which must not take longer than reading all pages in order.
 */
#define IN_PLACE_UNREAD_PART 8

/*
 * Returns true if rows of the table should stay in place although the node returns expressions of
 * them instead of whole rows.  varno is the table's number in the expressions; width is how many
 * bytes their results take.
 */
extern bool in_place_computes(Oid table, Index varno, List *expressions, int width);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_IN_PLACE_REACH_H */
