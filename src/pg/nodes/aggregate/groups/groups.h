/*
 * groups.h
 *		What is kept of all rows of a HpSort Aggregate node, by group.
 *
 * Other rooms include this header, and no other of this room.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUPS_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUPS_H

#include "pg/nodes/aggregate/groups/aggregation.h"
#include "pg/nodes/aggregate/groups/group_reader.h"
#include "pg/nodes/aggregate/groups/grouping_sets.h"

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_GROUPS_H */
