/*
 * compat.h
 *		Differences between PostgreSQL 15 and 19.
 *
 * This is the only file with PG_VERSION_NUM in it.  Where a name or an argument is new in some
 * version, older versions get it here, and code is written for the new version.  What cannot be
 * written so for all versions has a name that begins with compat_.  "PG 17 has" means from
 * version 17 on.
 */
#ifndef HPSORT_PG_COMPAT_H
#define HPSORT_PG_COMPAT_H

#include "access/heapam.h"
#include "access/stratnum.h"
#include "access/syncscan.h"
#include "access/tableam.h"
#include "catalog/pg_attribute.h"
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
#include "pgstat.h"
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

/*
 * --- names and arguments that are new
 */

#if PG_VERSION_NUM < 160000
#define object_ownercheck(class, object, role) pg_class_ownercheck(object, role)
#define object_aclcheck(class, object, role, mode) pg_proc_aclcheck(object, role, mode)
#define adjust_appendrel_attrs_multilevel(root, node, child, parent) \
	adjust_appendrel_attrs_multilevel(root, node, (child)->relids, (parent)->relids)

#define generate_join_implied_equalities(root, both, outer, inner, sjinfo) \
	generate_join_implied_equalities(root, both, outer, inner)

/* Its result is always a copy. */
#define tuplesort_getdatum(state, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(state, forward, value, isnull, abbreviated)

/* A table's file. */
#define rd_locator rd_node
#define spcOid spcNode
#define dbOid dbNode
#define relNumber relNode
#define rd_newRelfilelocatorSubid rd_newRelfilenodeSubid
#define rd_firstRelfilelocatorSubid rd_firstRelfilenodeSubid
#define InitBufferTag(tag, locator, fork, block) INIT_BUFFERTAG(*(tag), *(locator), fork, block)
#define BufferTagsEqual(a, b) BUFFERTAGS_EQUAL(*(a), *(b))

/* Soft errors, which a caller may catch without a subtransaction: here they are hard. */
#define ereturn(context, dummy_value, ...) \
	do { \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)

/* Reads size bytes of a file.  Fewer are an error. */
static inline void
BufFileReadExact(BufFile *file, void *ptr, size_t size)
{
	if (BufFileRead(file, ptr, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: read less than %zu bytes", size)));
}
#endif

#if PG_VERSION_NUM < 170000
#define TransactionTimeoutPending false
#define WaitEventExtensionNew(name) PG_WAIT_EXTENSION
#define estimate_array_length(root, expression) estimate_array_length(expression)

/* The outer loop is there for a variable of another type, and runs once. */
#define foreach_internal(type, pointer, var, list, element) \
	for (type pointer var = 0, pointer var##__once = (type pointer) 1; var##__once; \
		 var##__once = 0) \
		for (ForEachState var##__state = {(list), 0}; \
			 var##__state.i < list_length(var##__state.l) && \
			 (var = element(&var##__state.l->elements[var##__state.i]), true); \
			 var##__state.i++)
#define foreach_ptr(type, var, list) foreach_internal(type, *, var, list, lfirst)
#define foreach_node(type, var, list) foreach_ptr(type, var, list)
#define foreach_int(var, list) foreach_internal(int, , var, list, lfirst_int)
#define foreach_oid(var, list) foreach_internal(Oid, , var, list, lfirst_oid)
#endif

#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#define ATTRIBUTE_GENERATED_VIRTUAL 'v'
#define compute_gather_rows(path) ((path)->rows * (path)->parallel_workers)
#define initial_cost_mergejoin(root, workspace, jointype, clauses, outer, inner, outersortkeys, \
							   innersortkeys, presorted, extra) \
	initial_cost_mergejoin(root, workspace, jointype, clauses, outer, inner, outersortkeys, \
						   innersortkeys, extra)
#define create_mergejoin_path(root, joinrel, jointype, workspace, extra, outer, inner, \
							  restrictions, pathkeys, required, clauses, outersortkeys, \
							  innersortkeys, presorted) \
	create_mergejoin_path(root, joinrel, jointype, workspace, extra, outer, inner, \
						  restrictions, pathkeys, required, clauses, outersortkeys, innersortkeys)

static inline void
ExecEvalExprNoReturnSwitchContext(ExprState *state, ExprContext *econtext)
{
	bool		isnull;

	(void) ExecEvalExprSwitchContext(state, econtext, &isnull);
}
#endif

/* Written before a declaration; older versions have an attribute behind. */
#ifndef pg_noreturn
#define pg_noreturn __attribute__((noreturn))
#endif

#if PG_VERSION_NUM < 190000
typedef Instrumentation NodeInstrumentation;
typedef int SysCacheIdentifier;
#define TupleDescFinalize(desc) ((void) 0)
#define LWLockNewTrancheId(name) LWLockNewTrancheId()
#endif

#if PG_VERSION_NUM < 190000
/* Whether the query neither changes nor locks rows of the table that a node scans. */
static inline bool
ScanRelIsReadOnly(ScanState *node)
{
	Index		scanrelid = ((Scan *) node->ps.plan)->scanrelid;
	PlannedStmt *stmt = node->ps.state->es_plannedstmt;
	ListCell   *cell;

	foreach(cell, stmt->rowMarks)
	{
		if (((PlanRowMark *) lfirst(cell))->rti == scanrelid)
			return false;
	}
	return !list_member_int(stmt->resultRelations, (int) scanrelid);
}
#endif

/*
 * --- names that are gone
 */

/* PG 17 has no old_snapshot_threshold. */
#if PG_VERSION_NUM >= 170000
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
#define old_snapshot_threshold (-1)
#endif

/* PG 19 keeps the name of a tranche in shared memory, where LWLockNewTrancheId() puts it. */
#if PG_VERSION_NUM >= 190000
#define LWLockRegisterTranche(tranche, name) ((void) 0)
#endif

/*
 * --- fields that have moved, or that only some versions have
 */

/* PG 16 has lists without redundant clauses of GROUP BY and DISTINCT. */
#if PG_VERSION_NUM >= 160000
#define compat_group_clause(root) ((root)->processed_groupClause)
#define compat_distinct_clause(root) ((root)->processed_distinctClause)
#else
#define compat_group_clause(root) ((root)->parse->groupClause)
#define compat_distinct_clause(root) ((root)->parse->distinctClause)
#endif

/* PG 18 marks what grouping sets may make NULL; an expression without the mark. */
#if PG_VERSION_NUM >= 180000
#define compat_ungrouped(root, node) \
	((root)->group_rtindex == 0 ? (node) : \
	 remove_nulling_relids(node, bms_make_singleton((root)->group_rtindex), NULL))
#else
#define compat_ungrouped(root, node) (node)
#endif

/*
 * PG 16 has outer joins in the relids of joins and of clauses above them.  The relids of a join
 * with an outer join, which is not among them before joins with which it commutes; and whether a
 * clause is there twice, for joins in another order, with this relation and without.
 */
#if PG_VERSION_NUM >= 160000
#define compat_add_outer_join(relids, sjinfo) \
	((sjinfo)->ojrelid != 0 && bms_is_subset((sjinfo)->commute_below_l, relids) ? \
	 bms_union(relids, bms_make_singleton((sjinfo)->ojrelid)) : (relids))
#define compat_is_clone(rinfo) ((rinfo)->has_clone || (rinfo)->is_clone)
#else
#define compat_add_outer_join(relids, sjinfo) ((void) (sjinfo), (relids))
#define compat_is_clone(rinfo) ((void) (rinfo), false)
#endif

/* Whether core has found that each row of some relations has at most one of another; PG 18 says
 * more of it. */
static inline bool
compat_is_known_unique(const RelOptInfo *rel, Relids relids)
{
	ListCell   *lc;

	foreach(lc, rel->unique_for_rels)
	{
#if PG_VERSION_NUM >= 180000
		Relids		known = lfirst_node(UniqueRelInfo, lc)->outerrelids;
#else
		Relids		known = (Relids) lfirst(lc);
#endif

		if (bms_is_subset(known, relids))
			return true;
	}
	return false;
}

/* PG 17 notes which columns of a relation are NOT NULL. */
#if PG_VERSION_NUM >= 170000
#define compat_is_not_null(rel, relid, attnum) bms_is_member(attnum, (rel)->notnullattnums)
#else
static inline bool
compat_is_not_null(const RelOptInfo *rel, Oid relid, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(attnum));
	bool		notnull;

	(void) rel;
	if (!HeapTupleIsValid(tuple))
		return false;
	notnull = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;
	ReleaseSysCache(tuple);
	return notnull;
}
#endif

/* The run condition of a window's path; PG 17 keeps that of a plan with its functions. */
#if PG_VERSION_NUM >= 170000
#define compat_window_run_condition(path) ((path)->runCondition)
#else
#define compat_window_run_condition(path) ((path)->winclause->runCondition)
#endif

/*
 * By how many keys a merge join's outer input is sorted already, and how many nodes of a path
 * enable_... = off has disabled.  Before PG 18 the former is not used, and the latter cost much.
 */
#if PG_VERSION_NUM >= 180000
#define compat_outer_presorted_keys(path) ((path)->outer_presorted_keys)
#define compat_disabled_nodes(path) ((path)->disabled_nodes)
#define compat_add_disabled_nodes(path, n) ((void) ((path)->disabled_nodes += (n)))
#else
#define compat_outer_presorted_keys(path) ((void) (path), 0)
#define compat_disabled_nodes(path) ((void) (path), 0)
#define compat_add_disabled_nodes(path, n) ((void) (path), (void) (n))
#endif

/*
 * --- the planner and the executor
 */

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

/*
 * How many float8s the state of corr and its kin has.  PG 19 notes in the last two whether all
 * values of X, and of Y, have been equal, and keeps their sums of squares 0 as long as they are.
 */
#if PG_VERSION_NUM >= 190000
#define COMPAT_REGRESSION_STATE 8
#else
#define COMPAT_REGRESSION_STATE 6
#endif

/* PG 19 passes to the planner and its hooks the EXPLAIN, if any, that they plan for. */
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

/* The cost of a nested loop that PG 19 may have been told not to use. */
#if PG_VERSION_NUM >= 190000
#define compat_initial_cost_nestloop(root, workspace, type, outer, inner, extra) \
	initial_cost_nestloop(root, workspace, type, PGS_NESTLOOP_PLAIN | PGS_CONSIDER_NONPARTIAL, \
						  outer, inner, extra)
#define compat_set_strategies(extra, rel) ((extra)->pgs_mask = (rel)->pgs_mask)
#else
#define compat_initial_cost_nestloop(root, workspace, type, outer, inner, extra) \
	initial_cost_nestloop(root, workspace, type, outer, inner, extra)
#define compat_set_strategies(extra, rel) ((void) 0)
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

/* The order that a set operation wants of one of its queries; before PG 17 it wants none. */
#if PG_VERSION_NUM >= 170000
#define compat_setop_pathkeys(root) ((root)->setop_pathkeys)
#else
#define compat_setop_pathkeys(root) NIL
#endif

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

/* Whether a role may execute a function. */
static inline bool
compat_role_may_execute(Oid function, Oid role)
{
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
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

/* PG 19 has 64 bits for the state of a buffer. */
#if PG_VERSION_NUM >= 190000
#define compat_buffer_state(desc) pg_atomic_read_u64(&(desc)->state)
#define compat_unlock_buffer(desc, state) UnlockBufHdr(desc)
#else
#define compat_buffer_state(desc) pg_atomic_read_u32(&(desc)->state)
#define compat_unlock_buffer(desc, state) UnlockBufHdr(desc, (uint32) (state))
#endif

/* Counts blocks found in buffers in pg_stat_io, which PG 16 has. */
static inline void
compat_count_io_hits(BufferAccessStrategy strategy, int n)
{
#if PG_VERSION_NUM >= 180000
	pgstat_count_io_op(IOOBJECT_RELATION, IOContextForStrategy(strategy), IOOP_HIT, n, 0);
#elif PG_VERSION_NUM >= 160000
	pgstat_count_io_op_n(IOOBJECT_RELATION, IOContextForStrategy(strategy), IOOP_HIT, n);
#endif
}

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
 * Streams of blocks that a callback names one after the other, and InvalidBlockNumber at the end.
 * PG 17 reads them ahead; here each is read when it is asked for.
 */
#if PG_VERSION_NUM < 170000
typedef struct ReadStream ReadStream;
typedef BlockNumber (*ReadStreamBlockNumberCB) (ReadStream *stream, void *private_data,
												void *per_buffer_data);

struct ReadStream
{
	Relation	rel;
	BufferAccessStrategy strategy;
	ReadStreamBlockNumberCB next;
	void	   *private_data;
};

static inline ReadStream *
read_stream_begin_relation(int flags, BufferAccessStrategy strategy, Relation rel,
						   ForkNumber fork, ReadStreamBlockNumberCB next, void *private_data,
						   size_t per_buffer_size)
{
	ReadStream *stream = palloc_object(ReadStream);

	*stream = (ReadStream)
	{
		rel, strategy, next, private_data
	};
	return stream;
}

static inline Buffer
read_stream_next_buffer(ReadStream *stream, void **per_buffer_data)
{
	BlockNumber block = stream->next(stream, stream->private_data, NULL);

	return block == InvalidBlockNumber ? InvalidBuffer :
		ReadBufferExtended(stream->rel, MAIN_FORKNUM, block, RBM_NORMAL, stream->strategy);
}

#define read_stream_reset(stream) ((void) (stream))
#define read_stream_end(stream) pfree(stream)
#endif

/* PG 18 reads in batches, where the callback waits for nothing. */
#if PG_VERSION_NUM < 180000
#define READ_STREAM_USE_BATCHING 0
#endif

#endif							/* HPSORT_PG_COMPAT_H */
