/*
 * in_place.c
 *		Rows in order that stay where they are (see in_place.h): reading keys and
 *		places, and the change to copying.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"

#include "pg/column/pin_budget.h"
#include "pg/column/scan.h"
#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/sort/in_place.h"
#include "pg/nodes/sort/store/sort.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 1024

/*
 * Rows are copied if of the pages read more than one of so many, and more than so many
 * altogether, came from disk.
 */
#define MISSES_PART 64
#define MISSES_MIN 64

/*
 * Rows that the child does not return as they are in the table stay only if copying them
 * would take so many bytes each: computing them when they are fetched, from all over the
 * table, takes longer than computing them while it is read.  Processor time of
 * in place and copied, ms: 1e6 rows of 60 bytes, two columns 170 and 95, four of them 161
 * and 121, all 72 and 96; 2e5 rows of 500 bytes, two columns 74 and 35, most
 * bytes 99 and 119, all 57 and 100 (Intel Xeon, two cores of a busy virtual machine, PostgreSQL 18).
 */
#define COMPUTED_WIDTH_MIN 256

/* A key as the column reader returns it becomes an image: (value & mask) ^ flip. */
typedef struct ReadKey
{
	KeyColumn  *key;
	uint64		mask;
	uint64		flip;
} ReadKey;

/* The reading of a table. */
typedef struct Reading
{
	InPlace    *rows;
	RowSort    *sort;
	ColumnScan	scan;
	AttrNumber	attnums[KEY_COLUMNS_MAX_MAPPED];
	ReadKey		keys[KEY_COLUMNS_MAX_MAPPED];
	ColumnReader *reader;
	ColumnBatch *batches;
	const int64 *tids;			/* of the batch */
	const PageBuffer *pages;	/* those of the batch, from the one added last on */
	BlockNumber block;			/* of the page added last */
	uint32		page;			/* its number */
	uint32	   *images;			/* of a batch, if there is one narrow key */
	uint32	   *places;
	BufferUsage before;			/* when the reading began */
	RowsWhere	where;
} Reading;

/* --- whether */

/* The column of the table that a key is; 0 if it is none that the reader reads. */
static AttrNumber
key_attnum(const KeyColumn *key, const Plan *plan)
{
	const TargetEntry *target = list_nth_node(TargetEntry, plan->targetlist, key->attno - 1);
	const Var  *column = (const Var *) target->expr;

	if (!IsA(column, Var) || column->varattno <= 0 || column_kind(column->vartype) == COLUMN_KIND_NONE)
		return 0;
	return column->varattno;
}

bool
in_place_is_possible(const RowSortSpec *spec, PlanState *child)
{
	Relation	rel;
	int			i;

	if (!hpsort_enable_column_reader || spec->key_only || !IsA(child, SeqScanState) ||
		spec->keys->nrest > 0)
		return false;
	rel = ((ScanState *) child)->ss_currentRelation;
	if ((rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW) ||
		rel->rd_tableam != GetHeapamTableAmRoutine())
		return false;
	for (i = 0; i < spec->keys->nkeys; i++)
		if (key_attnum(&spec->keys->keys[i], child->plan) == 0)
			return false;

	/* What is computed of a row must not depend on when, and how often, it is computed. */
	return !contain_volatile_functions((Node *) child->plan->targetlist) &&
		!contain_subplans((Node *) child->plan->targetlist);
}

/* Whether it is worth trying, as far as can be told before the table is read. */
static bool
is_promising(const RowSortSpec *spec, PlanState *child, uint64 bound)
{
	if (bound > 0)
		return true;
	if (spec->expected_rows * row_store_ref_bytes(spec->keys) > (double) work_mem * 1024)
		return false;
	return child->ps_ProjInfo == NULL || child->plan->plan_width >= COMPUTED_WIDTH_MIN ||
		hpsort_debug_sort == NODE_FORCE;
}

bool
in_place_is_allowed(const RowSortSpec *spec, PlanState *child, uint64 bound, RowsWhere *where)
{
	EState	   *estate = child->state;
	Relation	rel;
	BlockNumber blocks;

	if (!in_place_is_possible(spec, child) || !is_promising(spec, child, bound))
		return false;

	/* EvalPlanQual checks single rows again; other snapshots see rows that the reader does not. */
	if (estate->es_epq_active != NULL || estate->es_snapshot->snapshot_type != SNAPSHOT_MVCC ||
		compat_snapshots_get_old())
		return false;
	if (bound > 0 && (spec->keys->nmapped > 1 || !key_is_narrow(spec->keys->keys[0].kind)))
		return false;
	rel = ((ScanState *) child)->ss_currentRelation;
	blocks = RelationGetNumberOfBlocks(rel);
	if (blocks > ROW_PLACE_PAGES)
		return false;

	/*
	 * A pin a row takes longer than copying rows: 1e6 rows by x, ms of processor time, 80
	 * with each page pinned once, 290 with a pin a row, copied 100.  A few rows do not matter.
	 */
	if ((bound == 0 || bound > blocks) && blocks > pin_budget_left(RelationUsesLocalBuffers(rel)))
	{
		*where = ROWS_COPIED_PINS;
		return false;
	}
	return true;
}

/* --- taking keys and places */

static inline uint32
place_of(Reading *reading, int64 tid)
{
	BlockNumber block = COLUMN_TID_BLOCK(tid);

	if (unlikely(block != reading->block))
	{
		while (reading->pages->block != block)
			reading->pages++;
		reading->block = block;
		reading->page = row_fetch_add_page(reading->rows->fetch, *reading->pages);
	}
	return ROW_PLACE(reading->page, COLUMN_TID_LINE(tid));
}

/* The image of element i of a batch that is not NULL. */
static inline uint64
image_of(const ReadKey *key, const ColumnBatch *batch, size_t i)
{
	uint64		value = batch->wide ? (uint64) batch->wide[i] : (uint64) (int64) batch->keys[i];

	if (key->key->kind == KEY_KIND_ENUM)
		return key_image(key->key, ObjectIdGetDatum((uint32) value ^ UINT32_C(0x80000000)));
	return (value & key->mask) ^ key->flip;
}

/* Takes the batch, for which there is room, of a store of the narrow layout. */
static void
take_narrow(Reading *reading)
{
	RowStore   *store = reading->rows->store;
	const ColumnBatch *batch = &reading->batches[0];
	const ReadKey *key = &reading->keys[0];
	uint64		cutoff = row_store_narrow_cutoff(store);
	uint32	   *images = reading->images;
	uint32	   *places = reading->places;
	RowKey		null = {.nulls = 1};
	size_t		kept = 0;
	size_t		i;

	if (key->key->kind == KEY_KIND_ENUM)
		for (i = 0; i < batch->n; i++)
			images[i] = batch->nulls[i] ? 0 : (uint32) image_of(key, batch, i);
	else
		for (i = 0; i < batch->n; i++)
			images[i] = ((uint32) batch->keys[i] & (uint32) key->mask) ^ (uint32) key->flip;
	for (i = 0; i < batch->n; i++)
	{
		if (unlikely(batch->nulls[i]))
		{
			row_store_put_ref(store, &null, place_of(reading, reading->tids[i]));
			continue;
		}
		if (images[i] >= cutoff)
			continue;
		images[kept] = images[i];
		places[kept++] = place_of(reading, reading->tids[i]);
	}
	row_store_put_narrow_refs(store, images, places, kept);
}

/* The same of the wide layout. */
static void
take_wide(Reading *reading)
{
	RowStore   *store = reading->rows->store;
	int			nkeys = reading->scan.ncolumns;
	size_t		n = reading->batches[0].n;
	size_t		i;
	int			k;

	for (i = 0; i < n; i++)
	{
		RowKey		key = {0};

		for (k = 0; k < nkeys; k++)
		{
			if (reading->batches[k].nulls[i])
				key.nulls |= 1 << k;
			else
				key.images[k] = image_of(&reading->keys[k], &reading->batches[k], i);
		}
		row_store_put_ref(store, &key, place_of(reading, reading->tids[i]));
	}
}

/* Takes the batch; false, and takes nothing, if there is no room for it. */
static bool
take_batch(Reading *reading)
{
	RowStore   *store = reading->rows->store;
	const ColumnBatch *batch = &reading->batches[0];
	Size		limit = (Size) work_mem * 1024;
	Size		pages = row_fetch_memory(reading->rows->fetch);

	if (row_store_has_too_many(store))
		row_store_keep_bound(store);

	/* What the pages take is not the store's; they are few beside the rows. */
	store->limit = limit > pages ? limit - pages : 0;
	if (!row_store_reserve_refs(store, batch->n, batch->nnulls) &&
		!(row_store_make_room_by_bound(store) &&
		  row_store_reserve_refs(store, batch->n, batch->nnulls)))
	{
		reading->where = ROWS_COPIED_WORK_MEM;
		return false;
	}
	if (store->narrow)
		take_narrow(reading);
	else
		take_wide(reading);
	reading->sort->stats->keys += batch->n;
	return true;
}

/* Whether the table comes from disk. */
static bool
is_not_cached(Reading *reading)
{
	const BufferUsage *now = &pgBufferUsage;
	const BufferUsage *before = &reading->before;
	int64		misses = now->shared_blks_read - before->shared_blks_read +
		now->local_blks_read - before->local_blks_read;
	int64		hits = now->shared_blks_hit - before->shared_blks_hit +
		now->local_blks_hit - before->local_blks_hit;

	if (misses <= MISSES_MIN || misses <= (misses + hits) / MISSES_PART)
		return false;
	reading->where = ROWS_COPIED_NOT_CACHED;
	return true;
}

/* --- copying */

static void
copy_row(Reading *reading, HeapTuple tuple)
{
	InPlace    *rows = reading->rows;

	ExecStoreHeapTuple(tuple, rows->slot, false);
	row_sort_put(reading->sort, in_place_project(rows->child, rows->slot));
}

/* Copies rows that have been taken: those of the store with references from this array. */
static void
copy_refs(Reading *reading, const uint32 *refs, const uint64 *pairs, uint64 n)
{
	uint64		i;

	for (i = 0; i < n; i++)
	{
		copy_row(reading, row_fetch(reading->rows->fetch, pairs ? ROWS_PAIR_REF(pairs[i]) : refs[i]));
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * From now on rows are copied: those of the store first, then those of the batch unless
 * it has been taken.  Meanwhile the sort gets the memory that the store has not
 * filled, as a third of what is reserved for it is for sorting.
 */
static void
start_copying(Reading *reading, bool batch_taken)
{
	InPlace    *rows = reading->rows;
	RowStore   *store = rows->store;
	RowStore   *copies = reading->sort->store;
	Size		limit = copies->limit;
	size_t		i;

	reading->sort->stats->keys = 0;
	reading->sort->stats->rows = reading->where;
	rows->fetch->exhausted = true;	/* pages come once, one after the other */
	copies->limit = limit - Min(limit, store->used) * 2 / 3;
	copy_refs(reading, store->refs, store->narrow ? store->pairs : NULL, store->n);
	if (store->narrow)
		copy_refs(reading, store->null_refs, NULL, store->nnull);
	row_store_reset(store);
	copies->limit = limit;
	for (i = 0; !batch_taken && i < reading->batches[0].n; i++)
		copy_row(reading, row_fetch(rows->fetch, place_of(reading, reading->tids[i])));
	ExecClearTuple(rows->slot);
	row_fetch_unpin(rows->fetch);
	column_reader_by_page(reading->reader);
}

/* Copies the rows of a batch from the page that they are on. */
static void
copy_page(Reading *reading)
{
	size_t		n = reading->batches[0].n;
	HeapTupleData tuple;
	Page		page;
	size_t		i;

	if (n == 0)
		return;
	page = BufferGetPage(column_reader_buffer(reading->reader));
	tuple.t_tableOid = RelationGetRelid(reading->scan.rel);
	for (i = 0; i < n; i++)
	{
		OffsetNumber line = COLUMN_TID_LINE(reading->tids[i]);
		ItemId		item = PageGetItemId(page, line);

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, COLUMN_TID_BLOCK(reading->tids[i]), line);
		copy_row(reading, &tuple);
	}
	ExecClearTuple(reading->rows->slot);
}

/* --- reading */

static void
init_keys(Reading *reading, const RowSortSpec *spec, const Plan *plan)
{
	int			k;

	for (k = 0; k < spec->keys->nkeys; k++)
	{
		KeyColumn  *key = &spec->keys->keys[k];
		ReadKey    *read = &reading->keys[k];

		reading->attnums[k] = key_attnum(key, plan);
		read->key = key;
		read->mask = PG_UINT32_MAX;
		read->flip = key->flip;
		if (key->kind == KEY_KIND_INT8)
			read->mask = PG_UINT64_MAX;
		else if (key->kind == KEY_KIND_INT2)
			read->mask = PG_UINT16_MAX;
		else if (key->kind == KEY_KIND_OID)
			read->flip ^= UINT32_C(0x80000000); /* column_kind_bias */
	}
	reading->scan.ncolumns = spec->keys->nkeys;
	reading->scan.attnums = reading->attnums;
}

/* Reads the table; false if its rows have been copied. */
static bool
read_table(Reading *reading)
{
	PlanState  *child = &reading->rows->child->ps;
	bool		copying = false;
	bool		more;

	reading->before = pgBufferUsage;
	do
	{
		if (child->instrument)
			InstrStartNode(child->instrument);
		more = column_reader_next(reading->reader, reading->batches);
		if (child->instrument)
			InstrStopNode(child->instrument, (double) reading->batches[0].n);
		reading->pages = column_reader_pages(reading->reader);
		if (copying)
			copy_page(reading);
		else
		{
			bool		taken = take_batch(reading);

			copying = !taken || is_not_cached(reading);
			if (copying)
				start_copying(reading, taken);
		}
	} while (more);
	return !copying;
}

static void
finish(InPlace *rows)
{
	RowSortStats *stats = rows->stats;
	const RowStoreStats *sorted = &rows->store->stats;

	row_store_sort(rows->store, &rows->spec->context);
	rows->count = row_store_count(rows->store);
	stats->rows = ROWS_IN_PLACE;
	stats->plan = sorted->plan;
	stats->compared = sorted->compared;
	stats->range = sorted->range;
	stats->distinct = sorted->distinct;
	stats->space = rows->store->peak + row_fetch_memory(rows->fetch);
}

InPlace *
in_place_sort(RowSort *sort, PlanState *child, TupleTableSlot *slot, uint64 bound)
{
	const RowSortSpec *spec = sort->spec;
	ScanState  *node = (ScanState *) child;
	MemoryContext old;
	InPlace    *rows;
	Reading    *reading;
	uint64		filtered;
	bool		stay;

	/* As ExecProcNode does. */
	if (child->chgParam != NULL)
		ExecReScan(child);

	old = MemoryContextSwitchTo(spec->memory);
	rows = palloc0_object(InPlace);
	rows->spec = spec;
	rows->stats = sort->stats;
	rows->child = node;
	rows->slot = slot;
	rows->store = row_store_create_elsewhere(spec->memory, spec->keys, spec->tupdesc,
											 (Size) work_mem * 1024, bound);
	rows->fetch = row_fetch_create(node->ss_currentRelation, spec->memory);

	reading = palloc0_object(Reading);
	reading->rows = rows;
	reading->sort = sort;
	reading->block = InvalidBlockNumber;
	reading->images = palloc_array(uint32, COLUMN_BATCH_KEYS);
	reading->places = palloc_array(uint32, COLUMN_BATCH_KEYS);
	reading->scan.aligned = true;
	reading->scan.tids = true;
	column_scan_from_node(&reading->scan, node);
	if (node->ss_currentScanDesc)
		reading->scan.parallel = node->ss_currentScanDesc->rs_parallel;
	init_keys(reading, spec, child->plan);
	reading->reader = column_reader_open(&reading->scan);
	reading->batches = column_batches_make(&reading->scan);
	reading->tids = reading->batches[reading->scan.ncolumns].wide;
	MemoryContextSwitchTo(old);

	stay = read_table(reading);
	filtered = column_reader_filtered(reading->reader);
	if (filtered > 0)
		InstrCountFiltered1(child, filtered);
	column_reader_close(reading->reader);
	column_batches_free(&reading->scan, reading->batches);
	pfree(reading->images);
	pfree(reading->places);
	pfree(reading);
	if (stay)
		finish(rows);
	else
	{
		in_place_end(rows);
		rows = NULL;
	}
	return rows;
}

/* --- the rows in order */

void
in_place_rewind(InPlace *rows)
{
	rows->position.at = 0;
	rows->position.at_end = false;
}

void
in_place_mark(InPlace *rows)
{
	rows->mark = rows->position;
}

void
in_place_restore(InPlace *rows)
{
	rows->position = rows->mark;
}

void
in_place_at_end(InPlace *rows)
{
	ExecClearTuple(rows->slot);
	if (!rows->spec->random && !rows->spec->rewind)
		row_fetch_unpin(rows->fetch);
}

void
in_place_end(InPlace *rows)
{
	ExecClearTuple(rows->slot);
	row_fetch_unpin(rows->fetch);
	row_store_destroy(rows->store);
}
