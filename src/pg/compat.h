/*
 * compat.h
 *		Differences between PostgreSQL 15 and 19.
 *
 * This is the only file with PG_VERSION_NUM in it.  Where a name is new in some version, older
 * versions get it here; where a call differs, a function compat_...() makes it.  "PG 17 has"
 * means from version 17 on.
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

/* PG 18 writes pg_noreturn before a declaration, where older versions have an attribute behind. */
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

/* Before PG 18 the executor gets a parameter that says whether it is called only once. */
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

/* Whether a genetic join search is under way; PG 19 keeps its state as an extension's. */
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

/* Returns the wait event of an extension, of that name from PG 17 on. */
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

/* Returns a new tranche of locks.  PG 19 takes its name here, and keeps it in shared memory. */
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

/* Gives a tranche its name in this process, before PG 19. */
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

/* Estimates the length of an array.  PG 17 wants the planner's state, and returns a double. */
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

/* Called when all columns of a tuple descriptor have been set, which PG 19 wants to know. */
static inline void
compat_finalize_tupdesc(TupleDesc desc)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(desc);
#else
	(void) desc;
#endif
}

/* Reads size bytes of a file.  Fewer are an error, for which PG 16 has a function. */
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
 * Enlarges a chunk of old_size bytes.  Returns NULL if there is no memory, and the chunk stays.
 * Before PG 16 there must be memory for both chunks at a time.
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

/* Looks a sort operator up.  PG 18 has compare types in place of a btree's numbers. */
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

/* Returns the operator by which a path key sorts values of a type, or InvalidOid. */
static inline Oid
compat_pathkey_sortop(const PathKey *pathkey, Oid type)
{
#if PG_VERSION_NUM >= 180000
	return get_opfamily_member_for_cmptype(pathkey->pk_opfamily, type, type, pathkey->pk_cmptype);
#else
	return get_opfamily_member(pathkey->pk_opfamily, type, type, pathkey->pk_strategy);
#endif
}

/* By how many keys a merge join's outer input is sorted already, which PG 18 may use. */
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

/* Makes the first estimate of a merge join's cost. */
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

/* Makes the path of a merge join that has no parameters. */
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

/* Disables a node over child where Sort nodes are.  PG 18 counts; before, it costs too much. */
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

/* Returns the clauses of GROUP BY; PG 16 has a list without redundant ones. */
static inline List *
compat_group_clause(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->processed_groupClause;
#else
	return root->parse->groupClause;
#endif
}

/* Returns the clauses of DISTINCT; PG 16 has a list without redundant ones. */
static inline List *
compat_distinct_clause(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->processed_distinctClause;
#else
	return root->parse->distinctClause;
#endif
}

/* Translates an expression to a child's.  PG 16 wants relations in place of their relids. */
static inline Node *
compat_translate_to_child(PlannerInfo *root, Node *node, RelOptInfo *child, RelOptInfo *parent)
{
#if PG_VERSION_NUM >= 160000
	return adjust_appendrel_attrs_multilevel(root, node, child, parent);
#else
	return adjust_appendrel_attrs_multilevel(root, node, child->relids, parent->relids);
#endif
}

/* Estimates how many rows a Gather Merge over a path returns. */
static inline double
compat_gather_rows(Path *path)
{
#if PG_VERSION_NUM >= 180000
	return compute_gather_rows(path);
#else
	return path->rows * path->parallel_workers;
#endif
}

/* The run condition of a window's path; PG 17 keeps that of a plan with its functions. */
static inline List *
compat_window_run_condition(const WindowAggPath *path)
{
#if PG_VERSION_NUM >= 170000
	return path->runCondition;
#else
	return path->winclause->runCondition;
#endif
}

/* Returns what core's tuplesort of rows costs, as if Sort nodes were not disabled. */
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

/* Adds the disabled nodes of a child to a path.  Before PG 18 they are in the cost already. */
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

/* Whether enable_... = off has disabled a path of core's that has none below it: a scan. */
static inline bool
compat_path_is_disabled(const Path *path)
{
#if PG_VERSION_NUM >= 180000
	return path->disabled_nodes > 0;
#else
	return path->startup_cost >= disable_cost;
#endif
}

/* Corrects the disabled nodes of a path's copy, which has another child than the path. */
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
 * Sets the kind of slot that a custom scan returns.  PG 16 takes the kind from the state when
 * the state is created; before, compat_begin_custom_slot() makes the slot anew when the scan
 * begins.
 */
static inline void
compat_create_custom_slot(CustomScanState *css, const TupleTableSlotOps *ops)
{
#if PG_VERSION_NUM >= 160000
	css->slotOps = ops;
#endif
}

/* Makes the slot of compat_create_custom_slot(), before PG 16. */
static inline void
compat_begin_custom_slot(CustomScanState *css, EState *estate, const TupleTableSlotOps *ops)
{
#if PG_VERSION_NUM < 160000
	if (ops != &TTSOpsVirtual)
		ExecInitScanTupleSlot(estate, &css->ss, css->ss.ss_ScanTupleSlot->tts_tupleDescriptor, ops);
#endif
}

/* Whether EXPLAIN writes a column's table.  PG 18 leaves entries made for GROUP BY out. */
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

/* PG 18 has generated columns that are computed when they are read. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_ATTRIBUTE_GENERATED_VIRTUAL ATTRIBUTE_GENERATED_VIRTUAL
#else
#define COMPAT_ATTRIBUTE_GENERATED_VIRTUAL 'v'
#endif

/* Whether the user owns a relation. */
static inline bool
compat_owns_relation(Oid relid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, GetUserId());
#else
	return pg_class_ownercheck(relid, GetUserId());
#endif
}

/* Whether a role may execute a function. */
static inline bool
compat_role_may_execute(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/* Whether the user may execute a function. */
static inline bool
compat_may_execute(Oid function)
{
	return compat_role_may_execute(function, GetUserId());
}

/* Returns the roles with whose rights a plan reads relations; one may be there repeatedly. */
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

/* Whether the query changes or locks rows of the node's table, as far as PG 19 asks. */
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
 * Begins a sequential scan, or with parallel this process's share of one.  In PG 19 reading
 * makes pages all-visible, unless the query is about to change them (for_change).
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

/* Prunes a page.  PG 19 may make it all-visible, in a map page that the scan keeps pinned. */
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

/* Whether snapshots may get too old for rows that they see; not from PG 17 on. */
static inline bool
compat_snapshots_get_old(void)
{
#if PG_VERSION_NUM >= 170000
	return false;
#else
	return old_snapshot_threshold >= 0;
#endif
}

/* Pins the page of a block if it is still in the buffer that it was in.  Returns whether it is. */
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
 * Reads and pins the next block of a sequential scan, and returns its buffer, whose pin is the
 * caller's; InvalidBuffer at the end. *block is the last block read: a variable that the caller
 * keeps, InvalidBlockNumber before the first call.
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
		/* Also after the last block: the next scan starts where this one did. */
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
 * Blocks of a scan in an order of the caller's: next names them one after the other, and
 * InvalidBlockNumber at the end.  PG 17 reads them ahead, by a stream.
 */
typedef BlockNumber (*CompatNextBlock) (void *arg);

/* The stream, or what is needed without one. */
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
/* The callback of the stream, which calls next. */
static inline BlockNumber
compat_block_stream_next(ReadStream *stream, void *private_data, void *per_buffer_data)
{
	CompatBlockStream *blocks = (CompatBlockStream *) private_data;

	(void) stream;
	(void) per_buffer_data;
	return blocks->next(blocks->arg);
}
#endif

/* Begins to read the blocks that next names; arg is its argument. */
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

/* Reads and pins the next block; InvalidBuffer at the end, after which the stream begins anew. */
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

/* Ends the stream. */
static inline void
compat_block_stream_end(CompatBlockStream *blocks)
{
#if PG_VERSION_NUM >= 170000
	read_stream_end(blocks->stream);
#else
	(void) blocks;
#endif
}

/* Sets file to what identifies a table's file: tablespace, database, number. */
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

/* Whether this transaction has, as this process knows, made a table or given it a new file. */
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
