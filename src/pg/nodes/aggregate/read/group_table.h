/*
 * group_table.h
 *		GroupTable: numbers groups as they occur, whatever their values are, by a hash table.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_GROUP_TABLE_H
#define HPSORT_PG_NODES_AGGREGATE_READ_GROUP_TABLE_H

#include "pg/nodes/aggregate/read/fields.h"

typedef struct GroupTable GroupTable;

/* In place of the number of a group that is not in the table. */
#define NO_GROUP PG_UINT32_MAX

/*
 * Makes an empty table in the current memory context, which has all of its memory; columns must
 * outlive it.
 */
extern GroupTable *group_table_make(const GroupColumn *columns, int ncolumns);

/* Returns the bytes that a group takes at most. */
extern size_t group_table_group_size(const GroupTable *table);

/* Returns how many groups there are, whose numbers are from 0 on. */
extern uint32 group_table_count(const GroupTable *table);

/* Takes the groups of a batch's rows, for the functions that name a row. */
extern void group_table_load(GroupTable *table, const ColumnBatch *batches);

/* Returns the hash of a row's group, which is one for all batches of the same values. */
extern uint32 group_table_hash(const GroupTable *table, size_t row);

/*
 * Returns the number of a row's group, or of a group; NO_GROUP if it is not in the table.  add: it
 * is added then.
 */
extern uint32 group_table_find(GroupTable *table, size_t row, bool add);
extern uint32 group_table_find_values(GroupTable *table, const GroupValues *group, bool add);

/* Returns the value of a column of the group that has a number; 0 if it is NULL. */
extern int64 group_table_value(const GroupTable *table, uint32 number, int c);

/* Sets the values of the group that has a number. */
extern void group_table_values(const GroupTable *table, uint32 number, GroupValues *group);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_GROUP_TABLE_H */
