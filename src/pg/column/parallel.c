/*
 * parallel.c
 *		A column read by several processes (see parallel.h).
 *
 * Each process reads its share of the blocks of each table into a sorter of its
 * own.  A worker leaves its sorter, serialized, in dynamic shared memory
 * allocated for exactly that size; the leader adds these to its own.  The
 * workers' use of buffers and WAL is counted as the leader's.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/dsa.h"
#include "utils/snapmgr.h"

#include "pg/column/parallel.h"
#include "pg/column/resident_estimate.h"
#include "pg/compat.h"
#include "pg/sort_context.h"

PGDLLEXPORT void column_parallel_main(dsm_segment *seg, shm_toc *toc);

/* Keys in the table of contents of what the processes share. */
#define KEY_SHARED		UINT64CONST(1)
#define KEY_DSA			UINT64CONST(2)
#define KEY_BUFFERS		UINT64CONST(3)
#define KEY_WAL			UINT64CONST(4)
#define KEY_QUERY		UINT64CONST(5)
#define KEY_SCANS		UINT64CONST(100)	/* KEY_SCANS + i: source i */

/* A worker's result. */
typedef struct SharedResult
{
	dsa_pointer data;			/* its sorter, serialized; invalid if empty */
	Size		size;
	int64		nulls;
} SharedResult;

typedef struct ColumnShared
{
	int32		lo;				/* bounds promised of the keys */
	int32		hi;
	int			nsources;
	int			nworkers;
	SharedResult results[FLEXIBLE_ARRAY_MEMBER];	/* nworkers */
	/* followed by SharedSource[nsources] */
} ColumnShared;

typedef struct SharedSource
{
	Oid			relid;
	AttrNumber	attnum;
} SharedSource;

static inline SharedSource *
shared_sources(ColumnShared *shared)
{
	return (SharedSource *) &shared->results[shared->nworkers];
}

int
column_parallel_setting(int so_far, int setting)
{
	if (so_far == 0 || setting == 0)
		return so_far == 0 ? setting : so_far;
	return Max(so_far, setting);
}

/*
 * The planner's rule for a single table, by its pages.  Several tables are read
 * one after the other by all processes, like one table with the pages of all.
 */
int
column_parallel_workers(const ColumnSource *sources, int nsources)
{
	RelOptInfo *rel = makeNode(RelOptInfo);
	double		pages = 0;
	int			i;

	if (max_parallel_workers_per_gather <= 0 || IsParallelWorker() || nsources == 0 ||
		!ActiveSnapshotSet())
		return 0;
	rel->reloptkind = RELOPT_BASEREL;
	rel->rel_parallel_workers = 0;
	for (i = 0; i < nsources; i++)
	{
		BlockNumber nblocks;
		ResidentQuestion question = {.ncolumns = 1, .nkeys = 1, .attnums = &sources[i].attnum};
		ResidentEstimate resident;

		/*
		 * Workers cannot read temporary tables, which are in this process's
		 * own memory, and access methods other than heap may lack parallel
		 * scans.
		 */
		if (sources[i].rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP ||
			sources[i].rel->rd_tableam != GetHeapamTableAmRoutine())
			return 0;
		nblocks = RelationGetNumberOfBlocks(sources[i].rel);
		resident = resident_estimate(RelationGetRelid(sources[i].rel), &question, sources[i].rel->rd_rel->reltuples);
		pages += nblocks * (1 - resident.share) + nblocks * resident.share *
			(resident.gpu ? RESIDENT_GPU_ROW_COST : RESIDENT_ROW_COST);
		rel->rel_parallel_workers = column_parallel_setting(rel->rel_parallel_workers,
															RelationGetParallelWorkers(sources[i].rel, -1));
	}
	return compute_parallel_worker(rel, pages, -1, max_parallel_workers_per_gather);
}

/*
 * Allocates and fills the memory shared with workers.  *shared is left NULL if
 * there is no dynamic shared memory to be had.
 */
static ParallelContext *
prepare_workers(const ColumnSource *sources, int nsources, int workers, const Sorter *sorter,
				ColumnShared **shared, ParallelTableScanDesc *scans)
{
	ParallelContext *pcxt = CreateParallelContext("$libdir/hpsort", "column_parallel_main", workers);
	Snapshot	snapshot = GetActiveSnapshot();
	Size		shared_size;
	Size		query_size = debug_query_string ? strlen(debug_query_string) + 1 : 0;
	void	   *space;
	int			i;

	workers = pcxt->nworkers;
	shared_size = offsetof(ColumnShared, results) + workers * sizeof(SharedResult) +
		nsources * sizeof(SharedSource);
	shm_toc_estimate_chunk(&pcxt->estimator, shared_size);
	shm_toc_estimate_chunk(&pcxt->estimator, dsa_minimum_size());
	shm_toc_estimate_chunk(&pcxt->estimator, mul_size(workers, sizeof(BufferUsage)));
	shm_toc_estimate_chunk(&pcxt->estimator, mul_size(workers, sizeof(WalUsage)));
	shm_toc_estimate_chunk(&pcxt->estimator, query_size);
	for (i = 0; i < nsources; i++)
		shm_toc_estimate_chunk(&pcxt->estimator,
							   table_parallelscan_estimate(sources[i].rel, snapshot));
	shm_toc_estimate_keys(&pcxt->estimator, 5 + nsources);
	InitializeParallelDSM(pcxt);
	if (pcxt->seg == NULL)
		return pcxt;

	*shared = shm_toc_allocate(pcxt->toc, shared_size);
	memset(*shared, 0, shared_size);
	(*shared)->lo = sorter->lo;
	(*shared)->hi = sorter->hi;
	(*shared)->nsources = nsources;
	(*shared)->nworkers = workers;
	for (i = 0; i < nsources; i++)
		shared_sources(*shared)[i] = (SharedSource) {
			RelationGetRelid(sources[i].rel), sources[i].attnum
		};
	shm_toc_insert(pcxt->toc, KEY_SHARED, *shared);
	shm_toc_insert(pcxt->toc, KEY_DSA, shm_toc_allocate(pcxt->toc, dsa_minimum_size()));
	shm_toc_insert(pcxt->toc, KEY_BUFFERS,
				   shm_toc_allocate(pcxt->toc, mul_size(workers, sizeof(BufferUsage))));
	shm_toc_insert(pcxt->toc, KEY_WAL,
				   shm_toc_allocate(pcxt->toc, mul_size(workers, sizeof(WalUsage))));
	if (query_size > 0)
	{
		space = shm_toc_allocate(pcxt->toc, query_size);
		memcpy(space, debug_query_string, query_size);
		shm_toc_insert(pcxt->toc, KEY_QUERY, space);
	}
	for (i = 0; i < nsources; i++)
	{
		scans[i] = shm_toc_allocate(pcxt->toc,
									table_parallelscan_estimate(sources[i].rel, snapshot));
		table_parallelscan_initialize(sources[i].rel, scans[i], snapshot);
		shm_toc_insert(pcxt->toc, KEY_SCANS + i, scans[i]);
	}
	return pcxt;
}

void
column_parallel_read(const ColumnSource *sources, int nsources, int workers, KeySink *sink)
{
	ParallelTableScanDesc *scans = palloc_array(ParallelTableScanDesc, nsources);
	ColumnShared *shared = NULL;
	ParallelContext *pcxt;
	dsa_area   *area;
	SortError	err;
	int			i;

	EnterParallelMode();
	pcxt = prepare_workers(sources, nsources, workers, sink->sorter, &shared, scans);
	if (shared == NULL)
	{
		DestroyParallelContext(pcxt);
		ExitParallelMode();
		column_sources_read(sources, nsources, NULL, sink);
		return;
	}
	area = dsa_create_in_place(shm_toc_lookup(pcxt->toc, KEY_DSA, false), dsa_minimum_size(),
							   LWTRANCHE_PARALLEL_QUERY_DSA, pcxt->seg);
	LaunchParallelWorkers(pcxt);

	if (parallel_leader_participation || pcxt->nworkers_launched == 0)
		column_sources_read(sources, nsources, scans, sink);

	WaitForParallelWorkersToFinish(pcxt);
	for (i = 0; i < pcxt->nworkers_launched; i++)
	{
		BufferUsage *buffers = shm_toc_lookup(pcxt->toc, KEY_BUFFERS, false);
		WalUsage   *wal = shm_toc_lookup(pcxt->toc, KEY_WAL, false);
		SharedResult *result = &shared->results[i];

		InstrAccumParallelQuery(&buffers[i], &wal[i]);
		*sink->nulls += result->nulls;
		if (!DsaPointerIsValid(result->data))
			continue;
		pg_sort_check(sorter_deserialize(sink->sorter, dsa_get_address(area, result->data),
										 result->size, &err), &err);
		dsa_free(area, result->data);
	}
	dsa_detach(area);
	DestroyParallelContext(pcxt);
	ExitParallelMode();
	pfree(scans);
}

/* The main function of a worker. */
void
column_parallel_main(dsm_segment *seg, shm_toc *toc)
{
	ColumnShared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	BufferUsage *buffers = shm_toc_lookup(toc, KEY_BUFFERS, false);
	WalUsage   *wal = shm_toc_lookup(toc, KEY_WAL, false);
	SharedResult *result = &shared->results[ParallelWorkerNumber];
	ColumnSource *sources = palloc_array(ColumnSource, shared->nsources);
	ParallelTableScanDesc *scans = palloc_array(ParallelTableScanDesc, shared->nsources);
	dsa_area   *area = dsa_attach_in_place(shm_toc_lookup(toc, KEY_DSA, false), seg);
	SortContext context;
	Sorter		sorter;
	SortError	err;
	int64		nulls = 0;
	KeySink		sink = {.sorter = &sorter, .nulls = &nulls};
	size_t		size;
	int			i;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	InstrStartParallelQuery();

	for (i = 0; i < shared->nsources; i++)
	{
		/* The leader holds the same lock, and has checked rights and plan. */
		sources[i].rel = table_open(shared_sources(shared)[i].relid, AccessShareLock);
		sources[i].attnum = shared_sources(shared)[i].attnum;
		scans[i] = shm_toc_lookup(toc, KEY_SCANS + i, false);
	}
	pg_sort_context_partial(&context, CurrentMemoryContext);
	sorter_init(&sorter, &context, shared->lo, shared->hi);
	column_sources_read(sources, shared->nsources, scans, &sink);
	for (i = 0; i < shared->nsources; i++)
		table_close(sources[i].rel, AccessShareLock);

	pg_sort_check(sorter_serialize_size(&sorter, &size, &err), &err);
	result->nulls = nulls;
	if (sorter_count(&sorter) > 0)
	{
		result->data = dsa_allocate_extended(area, size, DSA_ALLOC_HUGE);
		result->size = size;
		sorter_serialize(&sorter, dsa_get_address(area, result->data));
	}
	InstrEndParallelQuery(&buffers[ParallelWorkerNumber], &wal[ParallelWorkerNumber]);
	dsa_detach(area);
}
