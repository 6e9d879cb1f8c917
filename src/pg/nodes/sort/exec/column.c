/*
 * column.c
 *		Keys of Custom Scan (HpSort) straight from a table's column (see
 *		column.h).
 *
 * A key alone: where only a key is sorted, and the child is a sequential scan that returns
 * a plain column, running the scan takes much longer than sorting, so the column
 * reader takes the place of the scan.  The child stays in the plan and is
 * initialized: the reader uses its filter, its relation and, in a parallel scan,
 * its share of the blocks.  Rows and time are booked on the child, so that
 * EXPLAIN shows them where it shows those of a scan.
 *
 * The first rows of each group: the reader brings the keys that the bound compares,
 * page by page, and only the rows that it does not refuse are taken from the page,
 * while that is pinned.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/sort/exec/column.h"
#include "pg/nodes/sort/exec/cutoff.h"
#include "pg/pages/pages.h"

/* Whether the column reader can read what a child node scans. */
static bool
scan_is_readable(PlanState *outer)
{
	EState	   *estate = outer->state;
	Relation	relation;

	if (!IsA(outer, SeqScanState))
		return false;

	/* EvalPlanQual checks single rows again; other snapshots see rows that the reader does not. */
	if (estate->es_epq_active != NULL || estate->es_snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
	relation = ((ScanState *) outer)->ss_currentRelation;
	return relation->rd_rel->relkind == RELKIND_RELATION ||
		relation->rd_rel->relkind == RELKIND_MATVIEW;
}

/* The column that the child returns; 0 if the column reader cannot take the place of the child. */
static AttrNumber
scanned_column(const KeyColumn *key, PlanState *outer)
{
	TargetEntry *target;
	Var		   *column;

	if ((key->kind != COLUMN_KIND_INT2 && key->kind != COLUMN_KIND_INT4) ||
		list_length(outer->plan->targetlist) != 1 || !scan_is_readable(outer))
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

/* Makes the values distances, in place, and puts them into the sort. */
static void
put_batch(const ColumnKeys *column, const ColumnBatch *batch)
{
	int32	   *keys = column_batch_rows(batch).keys;
	size_t		n = batch->n;
	BatchPosition position = {0};
	ColumnBatch rows;
	bool		taken;
	size_t		i;

	if (batch->runs || batch->packed.n > 0)
	{
		row_sort_put_keys(column->sort, NULL, 0, (uint64) batch->nnulls);
		if (batch->runs)
			taken = row_sort_put_runs(column->sort, batch->runs);
		else
			taken = row_sort_put_packed(column->sort, &batch->packed);
		if (!taken)
			while (column_batch_next_rows(batch, &position, &rows))
			{
				CHECK_FOR_INTERRUPTS();
				row_sort_put_keys(column->sort, rows.keys, rows.n, 0);
			}
		return;
	}
	if (batch->nnulls > 0)
		n = column_batch_copy_keys(batch, keys);
	if (column->descending)
		for (i = 0; i < n; i++)
			keys[i] = ~keys[i];
	row_sort_put_keys(column->sort, keys, n, (uint64) batch->nnulls);
}

/* A ColumnConsume. */
static void
take_batch(void *arg, const ColumnBatch *batch)
{
	ColumnKeys *column = (ColumnKeys *) arg;

	put_batch(column, batch);
	sort_cutoff_move(&column->cutoff, column->sort->store);
}

/* Describes in scan what a child node, which is as if it had been called, would read. */
static void
describe_scan(ColumnScan *scan, PlanState *outer)
{
	ScanState  *node = (ScanState *) outer;

	/* As ExecProcNode does. */
	if (outer->chgParam != NULL)
		ExecReScan(outer);
	column_scan_from_node(scan, node);
	if (node->ss_currentScanDesc)
		scan->parallel = node->ss_currentScanDesc->rs_parallel;
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
	describe_scan(&scan, outer);
	if (sort_cutoff_init(&column.cutoff, key) && sort->store->bound > 0 &&
		sort->place == ROW_SORT_STORE)
		scan.cutoff = &column.cutoff;
	else
		scan.packed = scan.runs = !column.descending;
	filtered = column_scan_read(&scan, outer, take_batch, &column);
	sort->stats->keys += column.cutoff.skipped;
	if (filtered > 0)
		InstrCountFiltered1(outer, filtered);
	return true;
}

/* --- the first rows of each group */

/* The keys that the bound compares, of the rows of a page. */
typedef struct PageKeys
{
	int			nkeys;			/* the group's, and the first after these if it is mapped */
	AttrNumber	attnums[KEY_COLUMNS_MAX_MAPPED];
	GroupBoundKeys keys;
} PageKeys;

/*
 * Whether rows of a child are a table's columns, or constants, so that rows not made are not
 * missed.
 */
static bool
returns_columns(PlanState *outer)
{
	ListCell   *lc;

	foreach(lc, outer->plan->targetlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(expr, Var) && !IsA(expr, Const))
			return false;
	}
	return true;
}

/* Finds the columns of the keys; false if the reader does not know them as the sort does. */
static bool
find_page_keys(const RowSort *sort, PlanState *outer, PageKeys *page)
{
	const KeyColumns *keys = sort->spec->keys;
	Relation	relation = ((ScanState *) outer)->ss_currentRelation;
	int			i;

	page->nkeys = Min(sort->by_group->spec.ngroup + 1, keys->nexact);
	for (i = 0; i < page->nkeys; i++)
	{
		const KeyColumn *key = &keys->keys[i];
		TargetEntry *target = list_nth_node(TargetEntry, outer->plan->targetlist, key->attno - 1);
		Var		   *column = (Var *) target->expr;
		Form_pg_attribute att;

		/* The order of an enum's labels is not that of their numbers. */
		if (!IsA(column, Var) || column->varattno <= 0 || key->kind == COLUMN_KIND_ENUM)
			return false;
		att = TupleDescAttr(RelationGetDescr(relation), column->varattno - 1);
		if (column_kind(att->atttypid) != key->kind)
			return false;
		page->attnums[i] = column->varattno;
		page->keys.images[i] = MemoryContextAlloc(sort->spec->memory,
												  MaxHeapTuplesPerPage * sizeof(uint64));
	}
	return true;
}

/* Makes images of a page's values. */
static void
take_images(const RowSort *sort, const PageKeys *page, const ColumnBatch *batches,
			GroupBoundKeys *keys)
{
	int			k;
	size_t		i;

	keys->n = batches[0].n;
	for (k = 0; k < page->nkeys; k++)
	{
		const KeyColumn *key = &sort->spec->keys->keys[k];
		const ColumnBatch *batch = &batches[k];
		uint64	   *images = keys->images[k];

		keys->nulls[k] = batch->nnulls > 0 ? batch->nulls : NULL;
		if (batch->wide)
			for (i = 0; i < batch->n; i++)
				images[i] = (uint64) batch->wide[i] ^ key->flip;
		else
			for (i = 0; i < batch->n; i++)
				images[i] = (uint32) batch->keys[i] ^ key->flip;
	}
}

/* Puts a row of a page into the sort, as the child would return it. */
static void
put_row(RowSort *sort, ScanState *node, Buffer buffer, int64 tid)
{
	ExprContext *econtext = node->ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	HeapTupleData tuple;

	heap_format_tuple(&tuple, node->ss_currentRelation, BufferGetPage(buffer),
					  COLUMN_TID_BLOCK(tid), COLUMN_TID_LINE(tid));
	ExecStoreBufferHeapTuple(&tuple, slot, buffer);
	if (node->ps.ps_ProjInfo)
	{
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		row_sort_put(sort, ExecProject(node->ps.ps_ProjInfo));
	}
	else
		row_sort_put(sort, slot);

	/* The slot points to the tuple's header here. */
	ExecClearTuple(slot);
}

bool
sort_node_fill_by_group(RowSort *sort, PlanState *outer)
{
	ScanState  *node = (ScanState *) outer;
	PageKeys	page;
	ColumnScan	scan = {.tids = true,.unread = true,.blocks = &sort->stats->blocks};
	ColumnReader *reader;
	ColumnBatch *batches;
	uint16		rows[MaxHeapTuplesPerPage];
	uint64		refused;
	bool		more;

	if (!scan_is_readable(outer) ||
		!heap_format_is_heap(node->ss_currentRelation) ||
		!returns_columns(outer) || !find_page_keys(sort, outer, &page))
		return false;
	scan.ncolumns = page.nkeys;
	scan.attnums = page.attnums;
	describe_scan(&scan, outer);
	reader = column_reader_open(&scan, &batches);
	column_reader_by_page(reader);
	do
	{
		int			n;
		int			i;

		if (outer->instrument)
			InstrStartNode(outer->instrument);
		more = column_reader_next(reader);
		if (outer->instrument)
			InstrStopNode(outer->instrument, (double) batches[0].n);
		take_images(sort, &page, batches, &page.keys);
		n = row_sort_candidates(sort, &page.keys, rows);
		for (i = 0; i < n; i++)
			put_row(sort, node, column_reader_buffer(reader), batches[page.nkeys].wide[rows[i]]);
	} while (more);
	refused = column_reader_close(reader);
	if (refused > 0)
		InstrCountFiltered1(outer, refused);
	return true;
}
