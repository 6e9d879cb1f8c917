/*
 * column.c
 *		Keys of Custom Scan (HpSort) straight from a table's column.
 *
 * Where only a key is sorted, and the child is a sequential scan that returns
 * a plain column, running the scan takes much longer than sorting: the column
 * reader takes its place.  The child stays in the plan, is initialized, and
 * rows and time are booked on it, so that EXPLAIN shows what it always shows;
 * its filter, its relation and, in a parallel scan, its share of the blocks
 * are used.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "pg/column/scan.h"
#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/sort/exec.h"
#include "pg/sort_context.h"

/* The column that the child returns, 0 if the reader cannot take its place. */
static AttrNumber
plain_column(HpSortState *state)
{
	PlanState  *outer = outerPlanState(state);
	const KeyColumn *key = &state->keys->keys[0];
	EState	   *estate = outer->state;
	Relation	relation;
	TargetEntry *target;
	Var		   *column;

	if (!hpsort_enable_column_reader || !IsA(outer, SeqScanState) ||
		(key->kind != KEY_KIND_INT2 && key->kind != KEY_KIND_INT4) ||
		list_length(outer->plan->targetlist) != 1)
		return 0;

	/* Rows are checked again one by one, or must be seen as they are now. */
	if (estate->es_epq_active != NULL || estate->es_snapshot->snapshot_type != SNAPSHOT_MVCC)
		return 0;
	relation = ((ScanState *) outer)->ss_currentRelation;
	if (relation->rd_rel->relkind != RELKIND_RELATION && relation->rd_rel->relkind != RELKIND_MATVIEW)
		return 0;
	target = linitial_node(TargetEntry, outer->plan->targetlist);
	column = (Var *) target->expr;
	if (!IsA(column, Var) || column->varattno <= 0 || !column_type_is_key(column->vartype) ||
		get_typlen(column->vartype) != (key->kind == KEY_KIND_INT2 ? 2 : 4))
		return 0;
	return column->varattno;
}

/* What take_batch needs to make keys of a column's values: ((value & mask) ^ flip) - bias. */
typedef struct ColumnKeys
{
	HpSortState *state;
	uint32		mask;
	uint32		flip;
	uint32		bias;
} ColumnKeys;

/*
 * A ColumnConsume: makes the batch's values keys, in place, and adds them to the
 * sorter or, once that has been left, to the store.
 */
static void
take_batch(void *arg, const ColumnBatch *batch)
{
	const ColumnKeys *column = (const ColumnKeys *) arg;
	HpSortState *state = column->state;
	RowKey		key = {0};
	SortError	err;
	size_t		i;

	/* Values of an ascending int4 are keys as they are. */
	if (column->mask != PG_UINT32_MAX || column->flip != column->bias)
		for (i = 0; i < batch->n; i++)
			batch->keys[i] = (int32) ((((uint32) batch->keys[i] & column->mask) ^ column->flip) -
									  column->bias);
	if (state->sorter)
	{
		state->nulls += batch->nulls;
		pg_sort_check(sorter_add(state->sorter, batch->keys, batch->n, &err), &err);
		if (sorter_memory(state->sorter) > state->store->limit)
			sort_node_leave_sorter(state);
		return;
	}
	state->stats.keys += batch->n + batch->nulls;
	for (i = 0; i < batch->n; i++)
	{
		key.images[0] = (uint64) state->bias + (uint64) (int64) batch->keys[i];
		sort_node_put_key(state, &key);
	}
	sort_node_put_nulls(state, (uint64) batch->nulls);
}

bool
sort_node_fill_from_column(HpSortState *state)
{
	PlanState  *outer = outerPlanState(state);
	ScanState  *node = (ScanState *) outer;
	const KeyColumn *key = &state->keys->keys[0];
	ColumnKeys	column = {
		.state = state,
		.mask = key->kind == KEY_KIND_INT2 ? PG_UINT16_MAX : PG_UINT32_MAX,
		.flip = (uint32) key->flip,
		.bias = (uint32) state->bias
	};
	AttrNumber	attnum = plain_column(state);
	ColumnScan	scan = {.ncolumns = 1, .attnums = &attnum};
	uint64		filtered;

	if (attnum == 0)
		return false;

	/* As ExecProcNode would. */
	if (outer->chgParam != NULL)
		ExecReScan(outer);
	column_scan_from_node(&scan, node);
	if (node->ss_currentScanDesc)
		scan.parallel = node->ss_currentScanDesc->rs_parallel;
	filtered = column_scan_read(&scan, outer, take_batch, &column);
	if (filtered > 0)
		InstrCountFiltered1(outer, filtered);
	state->stats.from_column = true;
	return true;
}
