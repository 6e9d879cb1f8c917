/*
 * read.h
 *		Reading the tables of HpSort Aggregate: sources, computed grouping columns, and the key
 *		codes of groups.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	computed.h              sums and products of columns
 *	derived.h               grouping columns computed from columns
 *	fields.h                grouping columns as key codes
 *	group_table.h           numbers of groups by a hash table
 *	lookup_notes.h          rows of blocks that are not resident, for look-ups
 *	row_spill.h             rows of groups for which there is no memory
 *	sources.h               the tables that the node reads
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_READ_H
#define HPSORT_PG_NODES_AGGREGATE_READ_READ_H

#include "pg/nodes/aggregate/read/computed.h"
#include "pg/nodes/aggregate/read/derived.h"
#include "pg/nodes/aggregate/read/fields.h"
#include "pg/nodes/aggregate/read/group_table.h"
#include "pg/nodes/aggregate/read/lookup_notes.h"
#include "pg/nodes/aggregate/read/row_spill.h"
#include "pg/nodes/aggregate/read/sources.h"

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_READ_H */
