/*
 * column.c
 *		The column reader in the place of the scan below Custom Scan (HpSort): whether it can be
 *		there, and keys straight from a table's column.
 *
 * Where only a key is sorted, and the child is a sequential scan that returns a plain column,
 * running the scan takes much longer than sorting, so the column reader takes the place of the
 * scan.  The child stays in the plan and is initialized: the reader uses its filter, its relation
 * and, in a parallel scan, its share of the blocks.  Rows and time are booked on the child, so that
 * EXPLAIN shows them where it shows those of a scan.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "optimizer/clauses.h"
#include "storage/bufmgr.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/sort/exec/exec.h"
#include "pg/nodes/sort/plan/plan.h"
#include "pg/pages/pages.h"

bool
sort_cutoff_init(ColumnCutoff *cutoff, const KeyColumn *key)
{
	cutoff->lo = PG_INT64_MIN;
	cutoff->hi = PG_INT64_MAX;
	cutoff->descending = key->descending;
	cutoff->skipped = 0;
	return key->kind == COLUMN_KIND_INT2 || key->kind == COLUMN_KIND_INT4 ||
		key->kind == COLUMN_KIND_INT8;
}

void
sort_cutoff_move(ColumnCutoff *cutoff, const RowStore *store)
{
	const KeyColumns *keys = store->keys;
	const KeyColumn *key = &keys->keys[0];
	uint64		largest = row_store_largest_wanted(store);
	int64		value;

	if (largest == PG_UINT64_MAX || largest > column_kind_mask(key->kind))
		return;
	/* Where no other key decides, a key equal to the last wanted one comes after it. */
	if (keys->nkeys == 1 && keys->nrest == 0 && largest > 0)
		largest--;
	largest ^= key->flip;
	value = column_kind_is_wide(key->kind) ? (int64) largest : (int32) largest;
	if (key->descending)
		cutoff->lo = value;
	else
		cutoff->hi = value;
}

/*
 * Returns the column of the table that the child returns as its only one; 0 if the column reader
 * cannot take the place of the child.  The key must be an integer of at most 32 bits, which the
 * reader brings as it is.
 */
static AttrNumber
scanned_column(const KeyColumn *key, PlanState *outer)
{
	TargetEntry *target;
	Var		   *column;

	if ((key->kind != COLUMN_KIND_INT2 && key->kind != COLUMN_KIND_INT4) ||
		list_length(outer->plan->targetlist) != 1 || !column_scan_is_readable(outer))
		return 0;
	target = linitial_node(TargetEntry, outer->plan->targetlist);
	column = (Var *) target->expr;
	if (!IsA(column, Var) || column->varattno <= 0 || column_kind(column->vartype) != key->kind)
		return 0;
	return column->varattno;
}

/* What take_batch needs. */
typedef struct ColumnKeys
{
	RowSort    *sort;
	bool		descending;		/* distances of images count downwards; else they are the values */
	ColumnCutoff cutoff;		/* if only the first keys are wanted */
} ColumnKeys;

/* A ColumnConsume: makes the values of rows distances, in place, and puts them into the sort. */
static void
take_batch(void *arg, const ColumnBatch *batch)
{
	ColumnKeys *column = (ColumnKeys *) arg;
	int32	   *keys = column_batch_arrays(batch, 0).keys;
	size_t		n = batch->n;

	/* Packed keys and runs come only where values are distances. */
	if (batch->runs == NULL && batch->packed.n == 0)
	{
		if (batch->nnulls > 0)
			n = column_batch_copy_keys(batch, keys);
		if (column->descending)
			for (size_t i = 0; i < n; i++)
				keys[i] = ~keys[i];
	}
	row_sort_put_batch(column->sort, batch);
	sort_cutoff_move(&column->cutoff, column->sort->store);
}

bool
sort_node_fill_from_column(RowSort *sort, PlanState *outer)
{
	const KeyColumn *key = &sort->spec->keys->keys[0];
	ColumnKeys	column = {.sort = sort,.descending = key->descending};
	AttrNumber	attnum = scanned_column(key, outer);
	ColumnScan	scan = {
		.ncolumns = 1,
		.attnums = &attnum,
		.keys = true,
		.blocks = &sort->stats->blocks
	};
	uint64		filtered;

	if (attnum == 0)
		return false;
	column_scan_from_child(&scan, (ScanState *) outer);
	if (sort_cutoff_init(&column.cutoff, key) && sort->store->bound.rows > 0 &&
		sort->place == ROW_SORT_STORE)
		scan.cutoff = &column.cutoff;
	else
		scan.packed = scan.runs = !column.descending;
	filtered = column_scan_read(&scan, outer, take_batch, &column);
	sort->stats->keys += column.cutoff.skipped;
	if (filtered > 0)
		InstrCountFiltered1(outer, filtered);
	sort->stats->from_column = true;
	return true;
}

/* --- whether rows may stay where they are */

bool
in_place_is_possible(const RowSortSpec *spec, PlanState *child)
{
	Relation	rel;

	if (spec->key_only || spec->copied || !IsA(child, SeqScanState))
		return false;
	rel = ((ScanState *) child)->ss_currentRelation;
	if (!heap_format_is_heap(rel))
		return false;
	for (int i = 0; i < spec->keys->nkeys; i++)
		if (place_rows_key_column(&spec->keys->keys[i], child->plan) == 0)
			return false;

	/* What is computed of a row must not depend on when, and how often, it is computed. */
	return !contain_volatile_functions((Node *) child->plan->targetlist) &&
		!contain_subplans((Node *) child->plan->targetlist);
}

/*
 * Returns whether it is worth trying to leave rows in place, as far as can be known before the
 * table, which has blocks pages, is read.
 */
static bool
is_promising(const RowSortSpec *spec, PlanState *child, uint64 bound, BlockNumber blocks)
{
	if (!in_place_fits(spec->expected_rows, bound > 0 ? (double) bound : -1,
					   row_store_ref_bytes(spec->keys), (double) blocks * ROW_FETCH_PAGE_BYTES))
		return false;
	return bound > 0 || child->ps_ProjInfo == NULL ||
		in_place_computes(RelationGetRelid(((ScanState *) child)->ss_currentRelation),
						  ((const Scan *) child->plan)->scanrelid, child->plan->targetlist,
						  child->plan->plan_width);
}

bool
in_place_pins_all(uint64 bound, BlockNumber blocks)
{
	return bound == 0 || bound > blocks;
}

bool
in_place_is_allowed(const RowSortSpec *spec, PlanState *child, uint64 bound, RowsWhere *where)
{
	Relation	rel;
	BlockNumber blocks;

	if (!column_scan_is_readable(child) || old_snapshot_threshold >= 0)
		return false;
	rel = ((ScanState *) child)->ss_currentRelation;
	blocks = RelationGetNumberOfBlocks(rel);
	if (blocks > ROW_PLACE_PAGES || !is_promising(spec, child, bound, blocks))
		return false;

	/*
	 * A pin a row takes longer than copying rows: 1e6 rows by x, ms of processor time, 80 with
	 * each page pinned once, 290 with a pin a row, copied 100.  A few rows do not matter.
	 */
	if (in_place_pins_all(bound, blocks) &&
		blocks > row_fetch_pins_left(RelationUsesLocalBuffers(rel)))
	{
		*where = ROWS_COPIED_PINS;
		return false;
	}
	return true;
}
