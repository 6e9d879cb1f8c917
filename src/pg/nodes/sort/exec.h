/*
 * exec.h
 *		The sorting custom scan: what its planner, executor and EXPLAIN share.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_H
#define HPSORT_PG_NODES_SORT_EXEC_H

#include "postgres.h"

#include "nodes/extensible.h"

#include "pg/nodes/sort/keys.h"
#include "pg/nodes/sort/store/bound.h"
#include "pg/nodes/sort/store/sort.h"
#include "pg/nodes/sort/store/spill.h"
#include "pg/nodes/sort/store/tape.h"
#include "sort/sorter.h"

/* custom_private: lists of properties of each key, and one of HpSortPlanInt. */
typedef enum HpSortPlanList
{
	HPSORT_PLAN_ATTNOS,
	HPSORT_PLAN_SORTOPS,
	HPSORT_PLAN_COLLATIONS,
	HPSORT_PLAN_NULLS_FIRST,
	HPSORT_PLAN_NUMBERS,
	HPSORT_PLAN_BOUND			/* LIMIT and OFFSET, of the path only: the plan
								 * has them in custom_exprs */
} HpSortPlanList;

typedef enum HpSortPlanInt
{
	HPSORT_PLAN_NMAPPED,
	HPSORT_PLAN_KEY_ONLY			/* the only column is the only key */
} HpSortPlanInt;

/* What one process did, for EXPLAIN; copied from workers as it is. */
typedef struct HpSortStats
{
	bool		valid;
	bool		bounded;
	bool		on_disk;
	int			partitions;		/* 0: not partitioned */
	uint64		space;			/* bytes, in memory or on disk */
	uint64		keys;
	double		range;
	uint64		distinct;		/* 0: not known */
	bool		compared;
	bool		from_column;	/* by the column reader */
	SortPlan	plan;
} HpSortStats;

typedef struct HpSortShared
{
	int			nworkers;
	HpSortStats	workers[FLEXIBLE_ARRAY_MEMBER];
} HpSortShared;

/* Where the rows come from now. */
typedef enum HpSortSource
{
	HPSORT_FROM_NOTHING,			/* nothing sorted yet */
	HPSORT_FROM_SORTER,			/* keys expanded from runs */
	HPSORT_FROM_STORE,			/* all rows in memory */
	HPSORT_FROM_PARTITIONS,		/* partition after partition */
	HPSORT_FROM_TAPE				/* partitions written out in order */
} HpSortSource;

/* Keys expanded from runs at once. */
#define HPSORT_BATCH 1024

typedef struct HpSortState
{
	CustomScanState css;
	KeyColumns  *keys;
	TupleDesc	tupdesc;
	bool		key_only;
	bool		random;			/* backward or mark/restore: by position */
	bool		rewind;			/* may be read again from the start */
	ExprState  *limit;			/* NULL: no limit known */
	ExprState  *offset;
	uint64		bound;			/* their sum, at this execution; 0: none */
	MemoryContext memory;		/* of everything below */
	SortContext context;		/* of rows */
	SortContext key_context;	/* of keys alone */
	HpSortSource source;
	HpSortStats	stats;
	HpSortShared *shared;		/* NULL unless parallel */

	/* Rows by position: store or tape. */
	RowStore *store;
	uint64		at;				/* next row of the store */
	uint64		count;
	bool		at_end;			/* the end has been read */
	uint64		mark;
	bool		mark_at_end;
	Tape  *tape;

	/* Keys from runs. */
	Sorter	   *sorter;
	SorterCursor cursor;
	Datum		bias;			/* of int8 keys: what key 0 stands for */
	uint64		nulls;
	uint64		nulls_left;		/* still to be returned */
	Size		batch_at;
	Size		batch_got;
	int32	   *batch;

	/* Partitions. */
	Spill *spill;
	int			partition;		/* to be read next */
	bool		streaming;		/* the one before it is returned as it lies */
	MinimalTuple stream_row;
	Size		stream_room;
} HpSortState;

extern const CustomScanMethods sort_node_scan_methods;
extern const CustomExecMethods sort_node_exec_methods;

/* Notes in the statistics what a sort of the store did. */
extern void sort_node_note_sort(HpSortState *state);

/* exec.c */

/* Moves the sorter's keys to the store, or from there to partitions. */
extern void sort_node_leave_sorter(HpSortState *state);

/*
 * column.c: takes all keys from the child's table, if it is a plain scan
 * of a column; else false, and nothing has happened.
 */
extern bool sort_node_fill_from_column(HpSortState *state);

/* partitions.c */

/* Another key without a row, to the store or to partitions. */
extern void sort_node_put_key(HpSortState *state, const RowKey *key);

/* So many NULLs likewise. */
extern void sort_node_put_nulls(HpSortState *state, uint64 nulls);

/* The store is full: partitions it. */
extern void sort_node_spill_store(HpSortState *state);

/* The keys in the sorter take too much memory: partitions them. */
extern void sort_node_spill_sorter(HpSortState *state);

/* Another row, once partitioned. */
extern void sort_node_spill_slot(HpSortState *state, TupleTableSlot *slot);

/* All rows are there. */
extern void sort_node_partitions_start(HpSortState *state);

/* The next row in order; empty at the end. */
extern TupleTableSlot *sort_node_partitions_next(HpSortState *state);

/* From the start again. */
extern void sort_node_partitions_rewind(HpSortState *state);

/* All rows in order to a tape; then the next of it in either direction. */
extern void sort_node_partitions_to_tape(HpSortState *state);
extern TupleTableSlot *sort_node_tape_row(HpSortState *state, bool forward);

/* explain.c */
extern void sort_node_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_SORT_EXEC_H */
