/*
 * order_exec.h
 *		The sorting custom scan: what its planner, executor and EXPLAIN share.
 */
#ifndef HPSORT_ORDER_EXEC_H
#define HPSORT_ORDER_EXEC_H

#include "postgres.h"

#include "nodes/extensible.h"

#include "order_keys.h"
#include "order_spill.h"
#include "order_store.h"
#include "order_tape.h"
#include "sorter.h"

/* custom_private: lists of properties of each key, and one of OrderPlanInt. */
typedef enum OrderPlanList
{
	ORDER_PLAN_ATTNOS,
	ORDER_PLAN_SORTOPS,
	ORDER_PLAN_COLLATIONS,
	ORDER_PLAN_NULLS_FIRST,
	ORDER_PLAN_NUMBERS,
	ORDER_PLAN_BOUND			/* LIMIT and OFFSET, of the path only: the plan
								 * has them in custom_exprs */
} OrderPlanList;

typedef enum OrderPlanInt
{
	ORDER_PLAN_NMAPPED,
	ORDER_PLAN_KEY_ONLY			/* the only column is the only key */
} OrderPlanInt;

/* What one process did, for EXPLAIN; copied from workers as it is. */
typedef struct OrderStats
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
} OrderStats;

typedef struct OrderShared
{
	int			nworkers;
	OrderStats	workers[FLEXIBLE_ARRAY_MEMBER];
} OrderShared;

/* Where the rows come from now. */
typedef enum OrderSource
{
	ORDER_FROM_NOTHING,			/* nothing sorted yet */
	ORDER_FROM_SORTER,			/* keys expanded from runs */
	ORDER_FROM_STORE,			/* all rows in memory */
	ORDER_FROM_PARTITIONS,		/* partition after partition */
	ORDER_FROM_TAPE				/* partitions written out in order */
} OrderSource;

/* Keys expanded from runs at once. */
#define ORDER_BATCH 1024

typedef struct OrderState
{
	CustomScanState css;
	OrderKeys  *keys;
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
	OrderSource source;
	OrderStats	stats;
	OrderShared *shared;		/* NULL unless parallel */

	/* Rows by position: store or tape. */
	OrderStore *store;
	uint64		at;				/* next row of the store */
	uint64		count;
	bool		at_end;			/* the end has been read */
	uint64		mark;
	bool		mark_at_end;
	OrderTape  *tape;

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
	OrderSpill *spill;
	int			partition;		/* to be read next */
	bool		streaming;		/* the one before it is returned as it lies */
	MinimalTuple stream_row;
	Size		stream_room;
} OrderState;

extern const CustomScanMethods order_scan_methods;
extern const CustomExecMethods order_exec_methods;

/* Returns the next row of the store, which there is, in the node's own slot. */
static inline TupleTableSlot *
order_emit(OrderState *state, uint64 row)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	if (!state->key_only)
		return ExecStoreMinimalTuple(order_store_fetch(state->store, row), slot, false);
	else
	{
		uint64		image = 0;
		bool		isnull = !order_store_key(state->store, row, &image);

		ExecClearTuple(slot);
		slot->tts_isnull[0] = isnull;
		slot->tts_values[0] = isnull ? (Datum) 0 : order_value(&state->keys->keys[0], image);
		return ExecStoreVirtualTuple(slot);
	}
}

/* Notes in the statistics what a sort of the store did. */
extern void order_note_sort(OrderState *state);

/* order_exec.c */

/* Moves the sorter's keys to the store, or from there to partitions. */
extern void order_leave_sorter(OrderState *state);

/*
 * order_column.c: takes all keys from the child's table, if it is a plain scan
 * of a column; else false, and nothing has happened.
 */
extern bool order_gather_column(OrderState *state);

/* order_partitions.c */

/* Another key without a row, to the store or to partitions. */
extern void order_put_key(OrderState *state, const OrderRowKey *key);

/* So many NULLs likewise. */
extern void order_put_nulls(OrderState *state, uint64 nulls);

/* The store is full: partitions it. */
extern void order_spill_store(OrderState *state);

/* The keys in the sorter take too much memory: partitions them. */
extern void order_spill_sorter(OrderState *state);

/* Another row, once partitioned. */
extern void order_spill_slot(OrderState *state, TupleTableSlot *slot);

/* All rows are there. */
extern void order_partitions_start(OrderState *state);

/* The next row in order; empty at the end. */
extern TupleTableSlot *order_partitions_next(OrderState *state);

/* From the start again. */
extern void order_partitions_rewind(OrderState *state);

/* All rows in order to a tape; then the next of it in either direction. */
extern void order_partitions_to_tape(OrderState *state);
extern TupleTableSlot *order_tape_row(OrderState *state, bool forward);

/* order_explain.c */
extern void order_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* HPSORT_ORDER_EXEC_H */
