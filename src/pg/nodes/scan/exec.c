/*
 * exec.c
 *		The executor of Custom Scan (HpSort Scan): a table's rows that meet conditions (see scan.h).
 *
 * A ColumnReader takes the place of the scan below, page by page: of a block whose columns are
 * resident it returns the TIDs of the rows that pass, and the page is read if there are any.  As
 * core's scan, the node has one page of rows pinned, and the reader the pages that it reads on the
 * way.  Rows and time are booked on the scan as well, so that EXPLAIN shows them where it shows
 * those of a scan.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "jit/jit.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/scan/scan.h"
#include "pg/pages/pages.h"
#include "pg/values/values.h"

typedef struct HpScanState
{
	CustomScanState css;
	bool		forward;		/* rows are wanted in one direction only */
	bool		resident;		/* resident columns are used */
	ExprState  *conditions;		/* what the reader evaluates of the child's filter ... */
	ExprState  *others;			/* ... and what the node does; NULL: nothing */
	bool		begun;			/* the first row has been asked for */
	ColumnReader *reader;		/* NULL: not begun, at the end, or the child returns the rows */
	bool		by_child;
	ColumnBatch *batches;		/* TIDs of a page's rows */
	bool		more;			/* there may be further pages */
	uint64		refused;		/* rows, for EXPLAIN */
	Buffer		buffer;			/* the page, which the reader has pinned */
	size_t		next;			/* row of the batch */
	HeapTupleData tuple;
	ColumnBlocks blocks;		/* read by this process; in the end, by all of them */
	SharedColumnBlocks *shared; /* NULL unless parallel */
} HpScanState;

static const CustomExecMethods exec_methods;

/* CreateCustomScanState: returns the state of a node that has not begun. */
static Node *
scan_node_create_state(CustomScan *scan)
{
	HpScanState *state = (HpScanState *) newNode(sizeof(HpScanState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

/* Divides the child's filter. */
static void
init_filter(HpScanState *state, PlanState *child, CustomScan *plan)
{
	List	   *private = plan->custom_private;
	List	   *conditions = NIL;
	List	   *others = list_copy(child->plan->qual);
	int			jit_flags;

	foreach_int(i, (List *) list_nth(private, SCAN_PLAN_CONDITIONS))
	{
		void	   *clause = list_nth(child->plan->qual, i);

		conditions = lappend(conditions, clause);
		others = list_delete_ptr(others, clause);
	}
	state->resident = intVal(list_nth(private, SCAN_PLAN_RESIDENT)) != 0;
	state->others = ExecInitQual(others, child);

	/* The reader takes them apart, and runs no code that JIT would make of them. */
	jit_flags = clause_set_jit(child, PGJIT_NONE);
	state->conditions = ExecInitQual(conditions, child);
	clause_set_jit(child, jit_flags);
}

/* BeginCustomScan: initializes the child, in whose slots rows are returned. */
static void
scan_node_begin(CustomScanState *node, EState *estate, int eflags)
{
	HpScanState *state = (HpScanState *) node;
	ScanState  *child;

	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate, eflags);
	child = (ScanState *) outerPlanState(node);

	/* WHERE CURRENT OF finds the scan of a cursor by these. */
	node->ss.ss_currentRelation = child->ss_currentRelation;
	node->ss.ss_ScanTupleSlot = child->ss_ScanTupleSlot;
	node->ss.ps.ps_ProjInfo = NULL;
	node->ss.ps.resultops = ExecGetResultSlotOps(&child->ps,
												 &node->ss.ps.resultopsfixed);
	node->ss.ps.resultopsset = true;
	init_filter(state, &child->ps, (CustomScan *) node->ss.ps.plan);
	state->forward = (eflags & (EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)) == 0;
}

/*
 * Opens the reader for the rows of the child, unless these can only come from the child: by other
 * access methods, backwards, and under snapshots for which rows are not to be looked at again.
 */
static void
begin_rows(HpScanState *state)
{
	ScanState  *child = (ScanState *) outerPlanState(state);
	ColumnScan	scan = {.tids = true,.unread = state->resident,.blocks = &state->blocks};
	MemoryContext old;

	state->begun = true;
	state->by_child = !state->forward || !column_scan_is_readable(&child->ps) ||
		!heap_format_is_heap(child->ss_currentRelation);
	if (state->by_child)
		return;
	column_scan_from_child(&scan, child);
	scan.qual = state->conditions;

	/* Processes that lock rows do so in one order. */
	scan.ordered = scan.for_change;
	if (child->ps.instrument)
		InstrStartNode(child->ps.instrument);
	old = MemoryContextSwitchTo(child->ps.state->es_query_cxt);
	state->reader = column_reader_open(&scan, &state->batches);
	MemoryContextSwitchTo(old);
	column_reader_by_page(state->reader);
	if (child->ps.instrument)
		InstrStopNode(child->ps.instrument, 0);
	state->more = true;
	state->next = 0;
	state->refused = 0;
}

/* Closes the reader, if it is open. */
static void
end_rows(HpScanState *state)
{
	if (state->reader == NULL)
		return;
	(void) column_reader_close(state->reader);
	state->reader = NULL;
	if (state->shared)
	{
		column_blocks_share(state->shared, &state->blocks);
		memset(&state->blocks, 0, sizeof(ColumnBlocks));
	}
}

/* Reads the next page that has rows; false at the end, when the reader is closed. */
static bool
read_page(HpScanState *state)
{
	PlanState  *child = outerPlanState(state);
	uint64		refused;

	if (child->instrument)
		InstrStartNode(child->instrument);
	state->next = 0;
	state->batches[0].n = 0;
	while (state->more && state->batches[0].n == 0)
		state->more = column_reader_next(state->reader);
	refused = column_reader_refused(state->reader);
	InstrCountFiltered1(child, refused - state->refused);
	state->refused = refused;
	if (state->batches[0].n > 0)
		state->buffer = column_reader_rows_buffer(state->reader);
	else
		end_rows(state);
	if (child->instrument)
		InstrStopNode(child->instrument, 0);
	return state->reader != NULL;
}

/* Sets the child's slot to the next row that meets the conditions; false at the end. */
static bool
next_row(HpScanState *state, ScanState *child)
{
	TupleTableSlot *slot = child->ss_ScanTupleSlot;
	int64		tid;

	if (state->next == state->batches[0].n)
	{
		/* The reader may evaluate conditions in the slot, too. */
		ExecClearTuple(slot);
		if (!read_page(state))
			return false;
	}
	tid = state->batches[0].wide[state->next++];
	heap_format_tuple(&state->tuple, child->ss_currentRelation, BufferGetPage(state->buffer),
					  COLUMN_TID_BLOCK(tid), COLUMN_TID_LINE(tid));
	ExecStoreBufferHeapTuple(&state->tuple, slot, state->buffer);
	return true;
}

/* Whether the row in the child's slot passes the clauses that are no conditions. */
static bool
passes_others(HpScanState *state, ScanState *child)
{
	ExprContext *econtext = child->ps.ps_ExprContext;

	if (state->others == NULL)
		return true;
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = child->ss_ScanTupleSlot;
	if (ExecQual(state->others, econtext))
		return true;
	InstrCountFiltered1(child, 1);
	return false;
}

/* ExecCustomScan: returns the next row, or an empty slot at the end. */
static TupleTableSlot *
scan_node_exec(CustomScanState *node)
{
	HpScanState *state = (HpScanState *) node;
	ScanState  *child = (ScanState *) outerPlanState(node);

	if (unlikely(!state->begun))
		begin_rows(state);
	if (state->by_child)
		return ExecProcNode(&child->ps);
	while (state->reader && next_row(state, child))
	{
		if (passes_others(state, child))
		{
			if (child->ps.instrument)
				InstrUpdateTupleCount(child->ps.instrument, 1);
			return column_scan_project(child, child->ss_ScanTupleSlot);
		}
		CHECK_FOR_INTERRUPTS();
	}
	return NULL;
}

/* EndCustomScan: ends the reader, and then the child. */
static void
scan_node_end(CustomScanState *node)
{
	ExecClearTuple(((ScanState *) outerPlanState(node))->ss_ScanTupleSlot);
	end_rows((HpScanState *) node);
	ExecEndNode(outerPlanState(node));
}

/* ReScanCustomScan: begins anew with the next call. */
static void
scan_node_rescan(CustomScanState *node)
{
	HpScanState *state = (HpScanState *) node;
	PlanState  *child = outerPlanState(node);

	ExecClearTuple(((ScanState *) child)->ss_ScanTupleSlot);
	end_rows(state);
	state->begun = false;
	/* Core's ExecProcNode does so where a parameter has changed. */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

/* EstimateDSMCustomScan: returns how much shared memory the node needs. */
static Size
scan_node_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return sizeof(SharedColumnBlocks);
}

/* InitializeWorkerCustomScan: in a worker, finds what the leader has made. */
static void
scan_node_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((HpScanState *) node)->shared = (SharedColumnBlocks *) coordinate;
}

/* InitializeDSMCustomScan: in the leader. */
static void
scan_node_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	SharedColumnBlocks *shared = (SharedColumnBlocks *) coordinate;

	memset(shared, 0, sizeof(SharedColumnBlocks));
	SpinLockInit(&shared->mutex);
	((HpScanState *) node)->shared = shared;
}

/* ReInitializeDSMCustomScan: in the leader, before workers are started once more: counts go on. */
static void
scan_node_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
}

/* ShutdownCustomScan: takes the counts of all processes, as shared memory is gone at EXPLAIN. */
static void
scan_node_shutdown(CustomScanState *node)
{
	HpScanState *state = (HpScanState *) node;
	ColumnBlocks blocks;

	if (state->shared == NULL || IsParallelWorker())
		return;
	SpinLockAcquire(&state->shared->mutex);
	blocks = state->shared->blocks;
	SpinLockRelease(&state->shared->mutex);
	state->blocks.resident += blocks.resident;
	state->blocks.gpu += blocks.gpu;
	state->blocks.all += blocks.all;
	state->shared = NULL;
}

/* ExplainCustomScan: prints, with ANALYZE, how many blocks were read from memory. */
static void
scan_node_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	HpScanState *state = (HpScanState *) node;
	ColumnBlocks blocks = state->blocks;

	/* The executor has not read all rows where a LIMIT is above. */
	if (state->reader)
		column_reader_blocks(state->reader, &blocks);
	if (es->analyze)
		column_blocks_explain(&blocks, es);
}

const CustomScanMethods scan_node_scan_methods = {
	.CustomName = "HpSort Scan",
	.CreateCustomScanState = scan_node_create_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = "HpSort Scan",
	.BeginCustomScan = scan_node_begin,
	.ExecCustomScan = scan_node_exec,
	.EndCustomScan = scan_node_end,
	.ReScanCustomScan = scan_node_rescan,
	.EstimateDSMCustomScan = scan_node_estimate_dsm,
	.InitializeDSMCustomScan = scan_node_initialize_dsm,
	.ReInitializeDSMCustomScan = scan_node_reinitialize_dsm,
	.InitializeWorkerCustomScan = scan_node_initialize_worker,
	.ShutdownCustomScan = scan_node_shutdown,
	.ExplainCustomScan = scan_node_explain,
};
