/*
 * compat.h
 *		Differences between PostgreSQL 15 and 19, emulating the newer name.
 *
 * The only file with PG_VERSION_NUM in it.
 */
#ifndef HPSORT_PG_COMPAT_H
#define HPSORT_PG_COMPAT_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/stratnum.h"
#include "access/syncscan.h"
#include "access/tableam.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "storage/buffile.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_locale.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "access/cmptype.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM < 150000
#error "hpsort needs PostgreSQL 15 or later"
#endif

/* PG 19's tuplesort sorts integers, abbreviated keys among them, by radix. */
#if PG_VERSION_NUM >= 190000
#define COMPAT_RADIX_TUPLESORT true
#else
#define COMPAT_RADIX_TUPLESORT false
#endif

/* Whether a collation, which there must be, compares bytes. */
#if PG_VERSION_NUM >= 180000
#define compat_collation_is_c(collation) (pg_newlocale_from_collation(collation)->collate_is_c)
#else
#define compat_collation_is_c(collation) lc_collate_is_c(collation)
#endif

/* PG 18 shows a module's name and version in pg_get_loaded_modules(). */
#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#endif

/* PG 18 writes it before the declaration; pg_attribute_noreturn() is gone. */
#ifndef pg_noreturn
#define pg_noreturn __attribute__((noreturn))
#endif

/* PG 16 has errors that a caller may catch without a subtransaction: soft errors. */
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) \
	do { \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

/* PG 17 has transaction_timeout. */
#if PG_VERSION_NUM < 170000
#define TransactionTimeoutPending false
#endif

/* PG 19 tells the planner and its hooks which EXPLAIN, if any, they plan for. */
#if PG_VERSION_NUM >= 190000
#define COMPAT_PLANNER_EXPLAIN_PARAMETER , ExplainState *es
#define COMPAT_PLANNER_EXPLAIN_ARGUMENT , es
#else
#define COMPAT_PLANNER_EXPLAIN_PARAMETER
#define COMPAT_PLANNER_EXPLAIN_ARGUMENT
#endif

/* Before PG 18 the executor is told whether it is called once only. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_EXECUTOR_RUN_PARAMETER
#define COMPAT_EXECUTOR_RUN_ARGUMENT
#else
#define COMPAT_EXECUTOR_RUN_PARAMETER , bool execute_once
#define COMPAT_EXECUTOR_RUN_ARGUMENT , execute_once
#endif

/* PG 19 has one kind of UniquePath, the former UpperUniquePath. */
#if PG_VERSION_NUM >= 190000
#define UpperUniquePath UniquePath
#define T_UpperUniquePath T_UniquePath
#endif

/* PG 19 keeps the state of a genetic join search as an extension's would be kept. */
static inline bool
compat_in_genetic_join_search(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 190000
	return Geqo_planner_extension_id >= 0 && GetGeqoPrivateData(root) != NULL;
#else
	return root->join_search_private != NULL;
#endif
}

/* PG 19 keeps counts of rows for plan nodes only, in a larger struct. */
#if PG_VERSION_NUM < 190000
typedef Instrumentation NodeInstrumentation;
#endif

/* The order that a set operation wants of one of its queries; before PG 17 it wants none. */
#if PG_VERSION_NUM >= 170000
#define compat_setop_pathkeys(root) ((root)->setop_pathkeys)
#else
#define compat_setop_pathkeys(root) NIL
#endif

/* PG 17 names the wait events of extensions. */
static inline uint32
compat_wait_event_extension(const char *name)
{
#if PG_VERSION_NUM >= 170000
	return WaitEventExtensionNew(name);
#else
	(void) name;
	return PG_WAIT_EXTENSION;
#endif
}

/* PG 19 keeps the names of tranches in shared memory. */
static inline int
compat_new_tranche(const char *name)
{
#if PG_VERSION_NUM >= 190000
	return LWLockNewTrancheId(name);
#else
	(void) name;
	return LWLockNewTrancheId();
#endif
}

static inline void
compat_register_tranche(int tranche, const char *name)
{
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(tranche, name);
#else
	(void) tranche;
	(void) name;
#endif
}

/* PG 17 passes the planner's state, and returns a double. */
static inline double
compat_estimate_array_length(PlannerInfo *root, Node *arrayexpr)
{
#if PG_VERSION_NUM >= 170000
	return estimate_array_length(root, arrayexpr);
#else
	(void) root;
	return (double) estimate_array_length(arrayexpr);
#endif
}

/* PG 19 wants to hear when all columns of a tuple descriptor have been set. */
static inline void
compat_finalize_tupdesc(TupleDesc desc)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(desc);
#else
	(void) desc;
#endif
}

/* PG 16 has a function for it. */
static inline void
compat_buffile_read(BufFile *file, void *ptr, size_t size)
{
#if PG_VERSION_NUM >= 160000
	BufFileReadExact(file, ptr, size);
#else
	if (BufFileRead(file, ptr, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: read less than %zu bytes", size)));
#endif
}

/*
 * Enlarges a chunk of old_size bytes; NULL, and the chunk stays, if there is no memory: before PG
 * 16, for both.
 */
static inline void *
compat_repalloc_no_oom(void *pointer, Size old_size, Size size)
{
#if PG_VERSION_NUM >= 160000
	return repalloc_extended(pointer, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
#else
	void	   *larger = MemoryContextAllocExtended(GetMemoryChunkContext(pointer), size,
													MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);

	if (larger)
	{
		memcpy(larger, pointer, old_size);
		pfree(pointer);
	}
	return larger;
#endif
}

/* PG 18 says "less than" and "greater than" instead of a btree's numbers. */
static inline bool
compat_ordering_op(Oid sortop, Oid *opfamily, Oid *opcintype, bool *descending)
{
#if PG_VERSION_NUM >= 180000
	CompareType cmptype;
	bool		found = get_ordering_op_properties(sortop, opfamily, opcintype, &cmptype);

	*descending = found && cmptype == COMPARE_GT;
#else
	int16		strategy;
	bool		found = get_ordering_op_properties(sortop, opfamily, opcintype, &strategy);

	*descending = found && strategy == BTGreaterStrategyNumber;
#endif
	return found;
}

/* PG 19 has an enum for the numbers of system caches. */
#if PG_VERSION_NUM >= 190000
typedef SysCacheIdentifier CompatSyscacheId;
#else
typedef int CompatSyscacheId;
#endif

/* The operator that a path key sorts values of this type by, or InvalidOid. */
static inline Oid
compat_pathkey_sortop(const PathKey *pathkey, Oid type)
{
#if PG_VERSION_NUM >= 180000
	return get_opfamily_member_for_cmptype(pathkey->pk_opfamily, type, type, pathkey->pk_cmptype);
#else
	return get_opfamily_member(pathkey->pk_opfamily, type, type, pathkey->pk_strategy);
#endif
}

/* PG 18 may sort the outer input of a merge join by further keys only. */
static inline int
compat_outer_presorted_keys(const MergePath *path)
{
#if PG_VERSION_NUM >= 180000
	return path->outer_presorted_keys;
#else
	(void) path;
	return 0;
#endif
}

static inline void
compat_initial_cost_mergejoin(PlannerInfo *root, JoinCostWorkspace *workspace, JoinType jointype,
							  List *mergeclauses, Path *outer, Path *inner, List *outersortkeys,
							  List *innersortkeys, int presorted, JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 180000
	initial_cost_mergejoin(root, workspace, jointype, mergeclauses, outer, inner, outersortkeys,
						   innersortkeys, presorted, extra);
#else
	initial_cost_mergejoin(root, workspace, jointype, mergeclauses, outer, inner, outersortkeys,
						   innersortkeys, extra);
#endif
}

/* Without parameters. */
static inline MergePath *
compat_create_mergejoin_path(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype,
							 JoinCostWorkspace *workspace, JoinPathExtraData *extra, Path *outer,
							 Path *inner, List *restrictions, List *pathkeys, List *mergeclauses,
							 List *outersortkeys, List *innersortkeys, int presorted)
{
	return create_mergejoin_path(root, joinrel, jointype, workspace, extra, outer, inner,
								 restrictions, pathkeys, NULL, mergeclauses, outersortkeys,
#if PG_VERSION_NUM >= 180000
								 innersortkeys, presorted);
#else
								 innersortkeys);
#endif
}

/*
 * A node over child that does what a Sort does is disabled as Sorts are: PG 18
 * counts such nodes, before it they cost too much.
 */
static inline void
compat_disable_sort(Path *path, const Path *child)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = child->disabled_nodes + (enable_sort ? 0 : 1);
#else
	(void) child;
	if (!enable_sort)
	{
		path->startup_cost += disable_cost;
		path->total_cost += disable_cost;
	}
#endif
}

/* PG 16 keeps the clauses of GROUP BY and DISTINCT without redundant ones apart. */
static inline List *
compat_group_clause(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->processed_groupClause;
#else
	return root->parse->groupClause;
#endif
}

static inline List *
compat_distinct_clause(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->processed_distinctClause;
#else
	return root->parse->distinctClause;
#endif
}

/* PG 16 wants the relations in the place of their relids. */
static inline Node *
compat_translate_to_child(PlannerInfo *root, Node *node, RelOptInfo *child, RelOptInfo *parent)
{
#if PG_VERSION_NUM >= 160000
	return adjust_appendrel_attrs_multilevel(root, node, child, parent);
#else
	return adjust_appendrel_attrs_multilevel(root, node, child->relids, parent->relids);
#endif
}

/* PG 18 estimates what a Gather Merge over a path returns. */
static inline double
compat_gather_rows(Path *path)
{
#if PG_VERSION_NUM >= 180000
	return compute_gather_rows(path);
#else
	return path->rows * path->parallel_workers;
#endif
}

/* PG 17 keeps the run condition of a window with its functions; a path has it as clauses. */
static inline List *
compat_window_run_condition(const WindowAggPath *path)
{
#if PG_VERSION_NUM >= 170000
	return path->runCondition;
#else
	return path->winclause->runCondition;
#endif
}

/* What core's tuplesort of rows costs, whether Sort nodes are disabled or not. */
static inline Cost
compat_cost_tuplesort(PlannerInfo *root, double rows, int width, int kilobytes)
{
	Path		path;

	memset(&path, 0, sizeof(path));
#if PG_VERSION_NUM >= 180000
	cost_sort(&path, root, NIL, 0, 0.0, rows, width, 0.0, kilobytes, -1.0);
	return path.total_cost;
#else
	cost_sort(&path, root, NIL, 0.0, rows, width, 0.0, kilobytes, -1.0);
	return path.total_cost - (enable_sort ? 0.0 : disable_cost);
#endif
}

/* PG 18 counts disabled nodes; before, enable_... = off adds to the cost. */
static inline void
compat_add_disabled_nodes(Path *path, const Path *child)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes += child->disabled_nodes;
#else
	(void) path;
	(void) child;
#endif
}

/* Whether enable_... = off has disabled a path of core's, one of its own kind: a scan. */
static inline bool
compat_path_is_disabled(const Path *path)
{
#if PG_VERSION_NUM >= 180000
	return path->disabled_nodes > 0;
#else
	return path->startup_cost >= disable_cost;
#endif
}

/* The same, of a copy of a path above another child. */
static inline void
compat_exchange_disabled_nodes(Path *path, const Path *old_child, const Path *child)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes += child->disabled_nodes - old_child->disabled_nodes;
#else
	(void) path;
	(void) old_child;
	(void) child;
#endif
}

/*
 * The kind of slot that a custom scan returns.  PG 16 takes it from the state
 * when that is created; before, the slot is made anew when the scan begins.
 */
static inline void
compat_create_custom_slot(CustomScanState *css, const TupleTableSlotOps *ops)
{
#if PG_VERSION_NUM >= 160000
	css->slotOps = ops;
#endif
}

static inline void
compat_begin_custom_slot(CustomScanState *css, EState *estate, const TupleTableSlotOps *ops)
{
#if PG_VERSION_NUM < 160000
	if (ops != &TTSOpsVirtual)
		ExecInitScanTupleSlot(estate, &css->ss, css->ss.ss_ScanTupleSlot->tts_tupleDescriptor, ops);
#endif
}

/*
 * Whether EXPLAIN names the tables of columns; PG 18 does not count what it made up for GROUP BY.
 */
#define compat_explain_prefix(es) \
	((es)->verbose || compat_explain_tables(es) > 1)
#if PG_VERSION_NUM >= 180000
#define compat_explain_tables(es) ((es)->rtable_size)
#else
#define compat_explain_tables(es) list_length((es)->rtable)
#endif

/*
 * --- rights ---
 */

/* PG 18 computes such columns when they are read. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_ATTRIBUTE_GENERATED_VIRTUAL ATTRIBUTE_GENERATED_VIRTUAL
#else
#define COMPAT_ATTRIBUTE_GENERATED_VIRTUAL 'v'
#endif

static inline bool
compat_owns_relation(Oid relid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, GetUserId());
#else
	return pg_class_ownercheck(relid, GetUserId());
#endif
}

static inline bool
compat_role_may_execute(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

static inline bool
compat_may_execute(Oid function)
{
	return compat_role_may_execute(function, GetUserId());
}

/* The roles in whose place a plan reads relations, such as owners of views; with repetitions. */
static inline List *
compat_check_as_users(const PlannedStmt *stmt)
{
	List	   *users = NIL;
	ListCell   *lc;

#if PG_VERSION_NUM >= 160000
	foreach(lc, stmt->permInfos)
	{
		Oid			user = lfirst_node(RTEPermissionInfo, lc)->checkAsUser;
#else
	foreach(lc, stmt->rtable)
	{
		Oid			user = lfirst_node(RangeTblEntry, lc)->checkAsUser;
#endif

		if (OidIsValid(user))
			users = lappend_oid(users, user);
	}
	return users;
}

/*
 * --- heap scans ---
 *
 * PG 17 has a read stream in every sequential scan, which picks the blocks.
 * Before, heapam.c does that in functions of its own, repeated here.
 */

/*
 * Whether the query changes or locks rows of the table that this node scans, as far as PG 19 asks.
 */
static inline bool
compat_scan_is_for_change(ScanState *node)
{
#if PG_VERSION_NUM >= 190000
	return !ScanRelIsReadOnly(node);
#else
	(void) node;
	return false;
#endif
}

/*
 * A sequential scan, or with parallel this process's share of one.  In PG 19 pages
 * become all-visible while they are read, unless the query is about to change them.
 */
static inline TableScanDesc
compat_table_beginscan(Relation rel, Snapshot snapshot, ParallelTableScanDesc parallel,
					   bool for_change)
{
#if PG_VERSION_NUM >= 190000
	uint32		flags = for_change ? SO_NONE : SO_HINT_REL_READ_ONLY;

	return parallel ? table_beginscan_parallel(rel, parallel, flags)
		: table_beginscan(rel, snapshot, 0, NULL, flags);
#else
	(void) for_change;
	return parallel ? table_beginscan_parallel(rel, parallel)
		: table_beginscan(rel, snapshot, 0, NULL);
#endif
}

/* PG 19 may also set the page all-visible, in a page of the visibility map that the scan keeps. */
static inline void
compat_heap_page_prune_opt(HeapScanDesc scan, Buffer buffer)
{
#if PG_VERSION_NUM >= 190000
	heap_page_prune_opt(scan->rs_base.rs_rd, buffer, &scan->rs_vmbuffer,
						(scan->rs_base.rs_flags & SO_HINT_REL_READ_ONLY) != 0);
#else
	heap_page_prune_opt(scan->rs_base.rs_rd, buffer);
#endif
}

/* PG 17 has no old_snapshot_threshold. */
#if PG_VERSION_NUM >= 170000
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
#endif

/* Before PG 17 it may be that snapshots get old, and that the rows they see are removed. */
static inline bool
compat_snapshots_get_old(void)
{
#if PG_VERSION_NUM >= 170000
	return false;
#else
	return old_snapshot_threshold >= 0;
#endif
}

/*
 * Pins the page of a block if it is still where it was last.  PG 16 has a new name for what it is
 * called.
 */
static inline bool
compat_read_recent_buffer(Relation rel, BlockNumber block, Buffer recent)
{
#if PG_VERSION_NUM >= 160000
	return ReadRecentBuffer(rel->rd_locator, MAIN_FORKNUM, block, recent);
#else
	return ReadRecentBuffer(rel->rd_node, MAIN_FORKNUM, block, recent);
#endif
}

/* PG 19 has 64 bits for the state of a buffer. */
#if PG_VERSION_NUM >= 190000
#define compat_buffer_state(desc) pg_atomic_read_u64(&(desc)->state)
#else
#define compat_buffer_state(desc) pg_atomic_read_u32(&(desc)->state)
#endif

/*
 * Reads and pins the next block of a sequential scan, or InvalidBuffer at the
 * end.  The pin is the caller's.  *block is the last block read: a place that
 * the caller keeps for us, InvalidBlockNumber before the first call.
 */
static inline Buffer
compat_heap_next_buffer(HeapScanDesc scan, BlockNumber *block)
{
#if PG_VERSION_NUM >= 170000
	(void) block;
	return read_stream_next_buffer(scan->rs_read_stream, NULL);
#else
	Relation	rel = scan->rs_base.rs_rd;
	ParallelBlockTableScanDesc parallel = (ParallelBlockTableScanDesc) scan->rs_base.rs_parallel;

	if (parallel != NULL)
	{
		if (!scan->rs_inited)
			table_block_parallelscan_startblock_init(rel, scan->rs_parallelworkerdata, parallel);
		*block = table_block_parallelscan_nextpage(rel, scan->rs_parallelworkerdata, parallel);
	}
	else if (!scan->rs_inited)
		*block = scan->rs_nblocks > 0 ? scan->rs_startblock : InvalidBlockNumber;
	else if (*block != InvalidBlockNumber)
	{
		if (++*block >= scan->rs_nblocks)
			*block = 0;
		/* Also when it was the last one: the next scan starts where we did. */
		if (scan->rs_base.rs_flags & SO_ALLOW_SYNC)
			ss_report_location(rel, *block);
		if (*block == scan->rs_startblock)
			*block = InvalidBlockNumber;
	}
	scan->rs_inited = true;
	if (*block == InvalidBlockNumber)
		return InvalidBuffer;
	return ReadBufferExtended(rel, MAIN_FORKNUM, *block, RBM_NORMAL, scan->rs_strategy);
#endif
}

/*
 * Reads the blocks that next names, up to InvalidBlockNumber, as the blocks of scan.  PG 17 reads
 * ahead, by a stream.
 */
typedef BlockNumber (*CompatNextBlock) (void *arg);

typedef struct CompatBlockStream
{
	HeapScanDesc scan;
	CompatNextBlock next;
	void	   *arg;
#if PG_VERSION_NUM >= 170000
	ReadStream *stream;
#endif
} CompatBlockStream;

#if PG_VERSION_NUM >= 170000
static inline BlockNumber
compat_block_stream_next(ReadStream *stream, void *private_data, void *per_buffer_data)
{
	CompatBlockStream *blocks = (CompatBlockStream *) private_data;

	(void) stream;
	(void) per_buffer_data;
	return blocks->next(blocks->arg);
}
#endif

static inline void
compat_block_stream_begin(CompatBlockStream *blocks, HeapScanDesc scan, CompatNextBlock next,
						  void *arg)
{
	blocks->scan = scan;
	blocks->next = next;
	blocks->arg = arg;
#if PG_VERSION_NUM >= 180000
	blocks->stream = read_stream_begin_relation(READ_STREAM_USE_BATCHING, scan->rs_strategy,
												scan->rs_base.rs_rd, MAIN_FORKNUM,
												compat_block_stream_next, blocks, 0);
#elif PG_VERSION_NUM >= 170000
	blocks->stream = read_stream_begin_relation(READ_STREAM_DEFAULT, scan->rs_strategy,
												scan->rs_base.rs_rd, MAIN_FORKNUM,
												compat_block_stream_next, blocks, 0);
#endif
}

/* After the end, the stream begins anew: next may name blocks again. */
static inline Buffer
compat_block_stream_read(CompatBlockStream *blocks)
{
#if PG_VERSION_NUM >= 170000
	Buffer		buffer = read_stream_next_buffer(blocks->stream, NULL);

	if (!BufferIsValid(buffer))
		read_stream_reset(blocks->stream);
	return buffer;
#else
	BlockNumber block = blocks->next(blocks->arg);

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	return ReadBufferExtended(blocks->scan->rs_base.rs_rd, MAIN_FORKNUM, block, RBM_NORMAL,
							  blocks->scan->rs_strategy);
#endif
}

static inline void
compat_block_stream_end(CompatBlockStream *blocks)
{
#if PG_VERSION_NUM >= 170000
	read_stream_end(blocks->stream);
#else
	(void) blocks;
#endif
}

/* The file that a table's rows are in: tablespace, database, number.  PG 16 renamed it. */
static inline void
compat_relation_file(Relation rel, uint32 file[3])
{
#if PG_VERSION_NUM >= 160000
	file[0] = rel->rd_locator.spcOid;
	file[1] = rel->rd_locator.dbOid;
	file[2] = rel->rd_locator.relNumber;
#else
	file[0] = rel->rd_node.spcNode;
	file[1] = rel->rd_node.dbNode;
	file[2] = rel->rd_node.relNode;
#endif
}

/*
 * Whether this transaction has made the table, or given it a new file, as far as this process
 * knows.
 */
static inline bool
compat_relation_is_new(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_createSubid != InvalidSubTransactionId ||
		rel->rd_newRelfilelocatorSubid != InvalidSubTransactionId ||
		rel->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
	return rel->rd_createSubid != InvalidSubTransactionId ||
		rel->rd_newRelfilenodeSubid != InvalidSubTransactionId ||
		rel->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

#endif							/* HPSORT_PG_COMPAT_H */
