/*
 * column.c
 *		Keys of Custom Scan (HpSort) straight from a table's column (see
 *		column.h).
 *
 * Where only a key is sorted, and the child is a sequential scan that returns
 * a plain column, running the scan takes much longer than sorting, so the column
 * reader takes the place of the scan.  The child stays in the plan and is
 * initialized: the reader uses its filter, its relation and, in a parallel scan,
 * its share of the blocks.  Rows and time are booked on the child, so that
 * EXPLAIN shows them where it shows those of a scan.
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
#include "pg/nodes/sort/column.h"

/* The column that the child returns; 0 if the column reader cannot take the place of the child. */
static AttrNumber
plain_column(const KeyColumn *key, PlanState *outer)
{
	EState	   *estate = outer->state;
	Relation	relation;
	TargetEntry *target;
	Var		   *column;

	if (!hpsort_enable_column_reader || !IsA(outer, SeqScanState) ||
		(key->kind != KEY_KIND_INT2 && key->kind != KEY_KIND_INT4) ||
		list_length(outer->plan->targetlist) != 1)
		return 0;

	/* EvalPlanQual checks single rows again; other snapshots see rows that the reader does not. */
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

/* How take_batch makes distances of a column's values: ((value & mask) ^ flip) - bias. */
typedef struct ColumnKeys
{
	RowSort    *sort;
	uint32		mask;
	uint32		flip;
	uint32		bias;
} ColumnKeys;

/* A ColumnConsume: makes the values distances, in place, and puts them into the sort. */
static void
take_batch(void *arg, const ColumnBatch *batch)
{
	const ColumnKeys *column = (const ColumnKeys *) arg;
	size_t		i;

	/* From a key to the distance of its image; of an ascending int4 both are the same. */
	if (column->mask != PG_UINT32_MAX || column->flip != column->bias)
		for (i = 0; i < batch->n; i++)
			batch->keys[i] = (int32) ((((uint32) batch->keys[i] & column->mask) ^ column->flip) -
									  column->bias);
	row_sort_put_keys(column->sort, batch->keys, batch->n, (uint64) batch->nnulls);
}

bool
sort_node_fill_from_column(RowSort *sort, PlanState *outer)
{
	ScanState  *node = (ScanState *) outer;
	const KeyColumn *key = &sort->spec->keys->keys[0];
	ColumnKeys	column = {
		.sort = sort,
		.mask = key->kind == KEY_KIND_INT2 ? PG_UINT16_MAX : PG_UINT32_MAX,
		.flip = (uint32) key->flip,
		.bias = (uint32) KEY_RUNS_MIDDLE
	};
	AttrNumber	attnum = plain_column(key, outer);
	ColumnScan	scan = {.ncolumns = 1, .attnums = &attnum};
	uint64		filtered;

	if (attnum == 0)
		return false;

	/* As ExecProcNode does. */
	if (outer->chgParam != NULL)
		ExecReScan(outer);
	column_scan_from_node(&scan, node);
	if (node->ss_currentScanDesc)
		scan.parallel = node->ss_currentScanDesc->rs_parallel;
	filtered = column_scan_read(&scan, outer, take_batch, &column);
	if (filtered > 0)
		InstrCountFiltered1(outer, filtered);
	return true;
}
