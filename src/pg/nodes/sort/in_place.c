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

/* Rows of a batch for which room is made at once: little, where work_mem is. */
#define TAKE_AT_ONCE 512

/* The list of pages may take one of so many parts of work_mem if keys and places go to disk. */
#define PAGES_PART 2

/* How many times a LIMIT's rows there has to be room for, as more are kept than are wanted. */
#define BOUND_SLACK 1.25

/* Places of a tape that are in memory at once. */
#define TAPE_PLACES 2048

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

/* An integer as the column reader returns it becomes an image: (value & mask) ^ flip. */
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
	size_t		taken;			/* rows of it that have been taken */
	BlockNumber block;			/* of the page added last */
	uint32		page;			/* its number */
	uint32	   *images;			/* of rows taken at once, if there is one narrow key */
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

	if (!IsA(column, Var) || column->varattno <= 0 || column_read_kind(column->vartype) == COLUMN_KIND_NONE)
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

/* Whether it is worth trying, as far as can be told before a table of so many blocks is read. */
static bool
is_promising(const RowSortSpec *spec, PlanState *child, uint64 bound, BlockNumber blocks)
{
	Size		limit = (Size) work_mem * 1024;
	double		rows = spec->expected_rows;

	if (bound > 0)
		rows = Min(rows, (double) bound * BOUND_SLACK);
	if (rows * row_store_ref_bytes(spec->keys) > (double) limit &&
		(Size) blocks * ROW_FETCH_PAGE_BYTES > limit / PAGES_PART)
		return false;
	return bound > 0 || child->ps_ProjInfo == NULL || child->plan->plan_width >= COMPUTED_WIDTH_MIN ||
		hpsort_debug_sort == NODE_FORCE;
}

bool
in_place_is_allowed(const RowSortSpec *spec, PlanState *child, uint64 bound, RowsWhere *where)
{
	EState	   *estate = child->state;
	Relation	rel;
	BlockNumber blocks;

	if (!in_place_is_possible(spec, child))
		return false;

	/* EvalPlanQual checks single rows again; other snapshots see rows that the reader does not. */
	if (estate->es_epq_active != NULL || estate->es_snapshot->snapshot_type != SNAPSHOT_MVCC ||
		compat_snapshots_get_old())
		return false;
	rel = ((ScanState *) child)->ss_currentRelation;
	blocks = RelationGetNumberOfBlocks(rel);
	if (blocks > ROW_PLACE_PAGES || !is_promising(spec, child, bound, blocks))
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

	switch (key->key->kind)
	{
		case KEY_KIND_ENUM:
			return key_image(key->key, ObjectIdGetDatum((uint32) value ^ UINT32_C(0x80000000)));
		case KEY_KIND_FLOAT4:
			return float4_image(DatumGetFloat4(column_datum(COLUMN_KIND_FLOAT4, (int64) value)), false) ^ key->flip;
		case KEY_KIND_FLOAT8:
			return float8_image(DatumGetFloat8(column_datum(COLUMN_KIND_FLOAT8, (int64) value)), false) ^ key->flip;
		default:
			return (value & key->mask) ^ key->flip;
	}
}

/* Takes the next n rows of the batch, for which there is room, to a store of the narrow layout. */
static void
take_narrow(Reading *reading, size_t n)
{
	RowStore   *store = reading->rows->store;
	const ColumnBatch *batch = &reading->batches[0];
	size_t		start = reading->taken;
	const ReadKey *key = &reading->keys[0];
	uint64		cutoff = row_store_narrow_cutoff(store);
	uint32	   *images = reading->images;
	uint32	   *places = reading->places;
	RowKey		null = {.nulls = 1};
	size_t		kept = 0;
	size_t		i;

	if (key->key->kind == KEY_KIND_ENUM || key->key->kind == KEY_KIND_FLOAT4)
		for (i = 0; i < n; i++)
			images[i] = batch->nulls[start + i] ? 0 : (uint32) image_of(key, batch, start + i);
	else
		for (i = 0; i < n; i++)
			images[i] = ((uint32) batch->keys[start + i] & (uint32) key->mask) ^ (uint32) key->flip;
	for (i = 0; i < n; i++)
	{
		if (unlikely(batch->nulls[start + i]))
		{
			if (row_store_wants(store, &null))
				row_store_put_ref(store, &null, place_of(reading, reading->tids[start + i]));
			continue;
		}
		if (images[i] >= cutoff)
			continue;
		images[kept] = images[i];
		places[kept++] = place_of(reading, reading->tids[start + i]);
	}
	row_store_put_narrow_refs(store, images, places, kept);
}

/* The same of the wide layout. */
static void
take_wide(Reading *reading, size_t n)
{
	RowStore   *store = reading->rows->store;
	int			nkeys = reading->scan.ncolumns;
	size_t		end = reading->taken + n;
	RowKey		key;
	size_t		i;
	int			k;

	for (i = reading->taken; i < end; i++)
	{
		key.nulls = 0;
		for (k = 0; k < nkeys; k++)
		{
			bool		isnull = reading->batches[k].nulls[i];

			key.nulls |= isnull << k;
			key.images[k] = isnull ? 0 : image_of(&reading->keys[k], &reading->batches[k], i);
		}
		if (row_store_wants(store, &key))
			row_store_put_ref(store, &key, place_of(reading, reading->tids[i]));
	}
}

/* What the pages take is not the store's. */
static void
spare_pages(RowStore *store, Size pages)
{
	Size		limit = (Size) work_mem * 1024;

	store->limit = limit > pages ? limit - pages : 0;
}

/* Has the rows of the store written to partitions; false if there is no memory even for that. */
static bool
spill(Reading *reading)
{
	InPlace    *rows = reading->rows;
	RowStore   *store = rows->store;
	const RowSortSpec *spec = rows->spec;
	Size		most = (Size) work_mem * 1024 / PAGES_PART;

	if (store->rows == 0 || row_fetch_memory(rows->fetch) > most)
		return false;
	rows->count += store->rows;
	if (rows->partitions)
		partitions_flush(rows->partitions);
	else
	{
		/* Partitions should fit beside all pages, when they are read. */
		spare_pages(store, Min(most, RelationGetNumberOfBlocks(reading->scan.rel) * ROW_FETCH_PAGE_BYTES));
		rows->partitions = partitions_create(spec->memory, store, &spec->context,
											 spec->rewind && !spec->random, rows->stats);
		partitions_start_store(rows->partitions, spec->expected_rows);
	}
	return true;
}

/* Makes room in the store for so many rows, and for so many with a NULL as a single key. */
static bool
make_room(Reading *reading, Size n, Size nulls)
{
	RowStore   *store = reading->rows->store;

	if (row_store_has_too_many(store))
		row_store_keep_bound(store);
	spare_pages(store, row_fetch_memory(reading->rows->fetch));
	if (likely(row_store_reserve_refs(store, n, nulls)))
		return true;
	if (row_store_make_room_by_bound(store) && row_store_reserve_refs(store, n, nulls))
		return true;
	return spill(reading) && row_store_reserve_refs(store, n, nulls);
}

/* Takes the batch; false if there is no room for all of it. */
static bool
take_batch(Reading *reading)
{
	RowStore   *store = reading->rows->store;
	const ColumnBatch *batch = &reading->batches[0];
	size_t		n;

	for (reading->taken = 0; reading->taken < batch->n; reading->taken += n)
	{
		n = Min(batch->n - reading->taken, TAKE_AT_ONCE);
		if (!make_room(reading, n, Min(n, (size_t) batch->nnulls)))
		{
			reading->where = ROWS_COPIED_WORK_MEM;
			return false;
		}
		if (store->narrow)
			take_narrow(reading, n);
		else
			take_wide(reading, n);
	}
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

/* Copies rows that have been taken, with places from one of these arrays. */
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
 * Copies the rows of the store.  Meanwhile the sort gets the memory that the store has
 * not filled, as a third of what is reserved for it is for sorting.
 */
static void
copy_store(Reading *reading)
{
	RowStore   *store = reading->rows->store;
	RowStore   *copies = reading->sort->store;
	Size		limit = copies->limit;

	reading->rows->fetch->exhausted = true; /* pages come once, one after the other */
	copies->limit = limit - Min(limit, store->used) * 2 / 3;
	copy_refs(reading, store->refs, store->narrow ? store->pairs : NULL, store->n);
	if (store->narrow)
		copy_refs(reading, store->null_refs, NULL, store->nnull);
	row_store_reset(store);
	copies->limit = limit;
}

/*
 * Copies the rows of partitions and those of the store, which join them.  Rows of equal
 * keys stay in order.  The sort has to spare the memory of the list of pages.
 */
static void
copy_partitions(Reading *reading)
{
	InPlace    *rows = reading->rows;
	RowStore   *copies = reading->sort->store;
	const uint32 *places;
	uint64		n;

	copies->limit -= Min(copies->limit / PAGES_PART, row_fetch_memory(rows->fetch));
	partitions_flush(rows->partitions);
	row_store_reset(rows->store);
	while ((n = partitions_take_back(rows->partitions, &places)) > 0)
		copy_refs(reading, places, NULL, n);
	partitions_destroy(rows->partitions);
	rows->partitions = NULL;
}

/*
 * From now on rows are copied: those that have been taken first, then the others of the
 * batch.
 */
static void
start_copying(Reading *reading)
{
	InPlace    *rows = reading->rows;
	size_t		i;

	reading->sort->stats->keys = 0;
	reading->sort->stats->rows = reading->where;
	if (rows->partitions)
		copy_partitions(reading);
	else
		copy_store(reading);
	for (i = reading->taken; i < reading->batches[0].n; i++)
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
			copying = !take_batch(reading) || is_not_cached(reading);
			if (copying)
				start_copying(reading);
		}
	} while (more);
	return !copying;
}

/* Writes places that may be read in any order once more, in order, over the bytes of the partitions. */
static void
write_tape(InPlace *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->spec->memory);
	SpillFile  *file = partitions_file(rows->partitions);
	const uint32 *places;
	uint64		n;

	rows->tape = tape_create(file, TAPE_PLACES * sizeof(uint32));
	rows->buffer = palloc_array(uint32, TAPE_PLACES);
	MemoryContextSwitchTo(old);
	while ((n = partitions_next_refs(rows->partitions, &places)) > 0)
	{
		tape_put_items(rows->tape, places, n * sizeof(uint32));
		CHECK_FOR_INTERRUPTS();
	}
	tape_finish(rows->tape);
	rows->stats->space = spill_file_bytes(file);
	row_store_reset(rows->store);
}

static void
finish(InPlace *rows)
{
	RowSortStats *stats = rows->stats;
	const RowStoreStats *sorted = &rows->store->stats;

	stats->rows = ROWS_IN_PLACE;
	row_fetch_trim(rows->fetch);
	spare_pages(rows->store, row_fetch_memory(rows->fetch));
	if (rows->partitions)
	{
		rows->count += rows->store->rows;
		partitions_finish(rows->partitions);
		if (rows->spec->random)
			write_tape(rows);
		return;
	}
	row_store_sort(rows->store, &rows->spec->context);
	rows->count = rows->nplaces = row_store_count(rows->store);
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
	reading->images = palloc_array(uint32, TAKE_AT_ONCE);
	reading->places = palloc_array(uint32, TAKE_AT_ONCE);
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
in_place_read(InPlace *rows, uint64 i)
{
	if (rows->tape)
	{
		rows->first = i - i % TAPE_PLACES;
		rows->nplaces = Min(rows->count - rows->first, TAPE_PLACES);
		rows->places = rows->buffer;
		tape_get_items(rows->tape, rows->first * sizeof(uint32), rows->buffer,
					   rows->nplaces * sizeof(uint32));
		return;
	}
	if (i == 0 && rows->nplaces > 0)
		partitions_rewind(rows->partitions);
	else
		Assert(i == rows->first + rows->nplaces);
	rows->first = i;
	rows->nplaces = partitions_next_refs(rows->partitions, &rows->places);
	if (rows->nplaces == 0)
		elog(ERROR, "no more places in a temporary file");
}

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
	if (rows->partitions)
		partitions_destroy(rows->partitions);
	row_store_destroy(rows->store);
}
