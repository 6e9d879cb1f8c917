/*
 * pair_table.h
 *		(group, value) pairs that do not fit 64 bits, as long as their groups fit into memory.
 *
 * Values, which are integers, are kept with the number of their group as rows come, and distributed
 * to the groups when all are in.  Each group's values are sorted when it is read.  When a table is
 * full, its values are written as a segment, group by group, behind which is a list of the groups'
 * numbers and runs.  What a group has in all segments is merged when it is read.  Where groups take
 * most of the memory, pair_rows.c puts the pairs into a tuplesort.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_TABLE_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_TABLE_H

#include "pg/nodes/aggregate/read/read.h"
#include "pg/sort_context.h"

typedef struct PairTable PairTable;

/*
 * Makes an empty table in the current memory context.  memory_limit is bytes; context, which must
 * outlive the table, says how a sort is interrupted.
 */
extern PairTable *pair_table_make(const SortContext *context, const GroupColumn *columns,
								  int ncolumns, size_t memory_limit);

/*
 * Adds count pairs, as pair_rows_add does.  Returns false, and adds nothing, if there is no memory
 * for them.
 */
extern bool pair_table_add(PairTable *table, const GroupValues *group, int marker, int64 value,
						   int64 count);

/*
 * Codes of groups, by which a group is found faster.  pair_table_add_coded adds a pair of the group
 * that pair_table_note_code has noted, which is that of the pair added last.  It returns false,
 * and adds nothing, if the group is not known or there is no memory.  Codes are forgotten when they
 * change.
 */
extern bool pair_table_add_coded(PairTable *table, uint64 code, int64 value);
extern void pair_table_note_code(PairTable *table, uint64 code);
extern void pair_table_forget_codes(PairTable *table);

/* Sets another memory limit. */
extern void pair_table_limit_memory(PairTable *table, size_t memory_limit);

extern void pair_table_free(PairTable *table);

/* Returns the bytes that have been written. */
extern uint64 pair_table_disk(const PairTable *table);

/* These do what the functions of pair_rows.h do that have their names; all runs must be read. */
extern void pair_table_finish(PairTable *table);
extern const GroupValues *pair_table_next_group(PairTable *table, int64 *markers);
extern size_t pair_table_runs(PairTable *table, uint64 *values, uint64 *counts, size_t room);
extern int64 pair_table_count(const PairTable *table);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_TABLE_H */
