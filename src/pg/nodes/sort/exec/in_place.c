/*
 * in_place.c
 *		Rows of a table by its pages.
 *
 * Rows stay where they are in their table where a child scans a heap and its rows are all it
 * returns, with a filter or not, and where keys are columns: keys and places are sorted, and each
 * row is fetched when it is returned.  What the child would have computed of a row is computed
 * then.  Rows are also fetched, to be compared, where mapped keys are equal and others are left to
 * core.
 *
 * Keys and places that do not fit into work_mem are sorted externally, as copied rows are
 * (store/external_sort.h).  Where rows may be read backward, from a mark, or again, their places
 * are written once more, in order, to a tape.
 *
 * It pays where the table is in the buffer pool, which shows while it is read: if more pages come
 * from disk than a few, if not even the list of pages fits into work_mem, or if abbreviations are
 * of no use, the rows are copied, the ones read so far and the others.
 *
 * The first rows of each group are copied: the reader brings the keys that the bound compares, page
 * by page, and only rows that it does not refuse are taken from the page, while that is pinned.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/sort/exec/exec.h"
#include "pg/nodes/sort/exec/first_rows.h"
#include "pg/nodes/sort/plan/plan.h"
#include "pg/nodes/sort/store/store.h"
#include "pg/pages/pages.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 1024

/*
 * Rows of a batch for which room is made at once: few, so that a small work_mem has room for them.
 */
#define TAKE_AT_ONCE 512

/*
 * Rows are copied if more than MISSES_MIN of the pages read came from disk, and more than one in
 * MISSES_PART of them.
 */
#define MISSES_PART 64
#define MISSES_MIN 64

/*
 * The rows of a LIMIT are copied if more rows are kept only because they may be equal to the last
 * wanted one than EQUAL_MIN, and than one in EQUAL_PART of the rows read.  In the end all of them
 * would be fetched to be compared.
 */
#define EQUAL_MIN 1000
#define EQUAL_PART 64

/*
 * All rows are copied if keys and places do not fit into work_mem and more than EQUAL_ON_DISK of
 * the rows are equal to another one before they are compared.  Processor time of 2e6 rows of 60
 * bytes under 4 MB in place and copied, ms: all texts different 523 and 761, 200 rows of each
 * abbreviation 1,353 and 1,078, 50 uuids 785 and 610 (Intel Xeon, two cores of a virtual machine,
 * PostgreSQL 18).  It is decided when the store is full for the first time: at least EXPECTED_MIN
 * times its rows are then expected.
 */
#define EQUAL_ON_DISK 0.5
#define EXPECTED_MIN 2.0

/* The reading of a table. */
typedef struct Reading
{
	RowSort    *sort;			/* its store has keys and places as long as rows stay */
	ScanState  *child;
	TupleTableSlot *slot;		/* a row as it is in the table */
	ColumnScan	scan;
	AttrNumber	attnums[KEY_COLUMNS_MAX_MAPPED];
	ColumnImage makers[KEY_COLUMNS_MAX_MAPPED];
	uint64		read;			/* rows */
	ColumnReader *reader;
	ColumnBatch *batches;
	const int64 *tids;			/* of the batch */

	/* Rows that stay. */
	PlaceRows  *rows;
	RowStore   *copies;			/* in the place of the sort's store if rows are copied after all */
	const PageBuffer *pages;	/* those of the batch, from the one added last on */
	size_t		taken;			/* rows of it that have been taken */
	BlockNumber block;			/* of the page added last */
	uint32		page;			/* its number */
	uint32		images[TAKE_AT_ONCE];	/* of rows taken at once, if there is one narrow key */
	uint32		places[TAKE_AT_ONCE];
	ColumnCutoff cutoff;		/* of the first key, if integers are read of it */
	BufferUsage before;			/* when the reading began */
	RowsWhere	where;
	bool		give_up;		/* copies are not numbered */

	/* The first rows of each group. */
	GroupBoundKeys group_keys;	/* of the rows of a page */
	FirstRows	first;
} Reading;

/* --- taking keys and places */

/*
 * Returns the place of a row that the reader has brought.  Its page is added to the pages that rows
 * are fetched from if it is not the one added last, so rows must come in the order in which they
 * were read.
 */
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
image_of(KeyColumn *key, const ColumnBatch *batch, size_t i)
{
	uint64		value = batch->wide ? (uint64) batch->wide[i] : (uint32) batch->keys[i];

	switch (key->kind)
	{
		case COLUMN_KIND_ENUM:
			return key_image(key,
							 ObjectIdGetDatum((Oid) (value ^ column_kind_sign(COLUMN_KIND_ENUM))));
		case COLUMN_KIND_FLOAT4:
		case COLUMN_KIND_FLOAT8:
			return key_float_image(key, (int64) value);
		case COLUMN_KIND_INTERVAL:
		case COLUMN_KIND_ABBREVIATED:
			return value;		/* make_image has made it */
		default:
			return value ^ key->flip;
	}
}

/* Takes the next n rows of the batch, for which there is room, to a store of the narrow layout. */
static void
take_narrow(Reading *reading, size_t n)
{
	RowStore   *store = reading->sort->store;
	const ColumnBatch *batch = &reading->batches[0];
	size_t		start = reading->taken;
	KeyColumn  *key = &store->keys->keys[0];
	uint64		cutoff = row_store_narrow_cutoff(store);
	uint32	   *images = reading->images;
	uint32	   *places = reading->places;
	RowKey		null = {.nulls = 1};
	size_t		kept = 0;

	if (key->kind == COLUMN_KIND_ENUM || (key->kind == COLUMN_KIND_FLOAT4 && !key->alone))
		for (size_t i = 0; i < n; i++)
			images[i] = batch->nulls[start + i] ? 0 : (uint32) image_of(key, batch, start + i);
	else
		for (size_t i = 0; i < n; i++)
			images[i] = (uint32) batch->keys[start + i] ^ (uint32) key->flip;
	for (size_t i = 0; i < n; i++)
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

/* Sets *key to the mapped keys of row i of the batch; the image of a NULL is 0. */
static inline void
keys_of_row(const Reading *reading, size_t i, RowKey *key)
{
	KeyColumn  *keys = reading->sort->store->keys->keys;

	key->nulls = 0;
	for (int k = 0; k < reading->scan.ncolumns; k++)
	{
		bool		isnull = reading->batches[k].nulls[i];

		key->nulls |= isnull << k;
		key->images[k] = isnull ? 0 : image_of(&keys[k], &reading->batches[k], i);
	}
}

/* Takes the next n rows of the batch, for which there is room, to a store of the wide layout. */
static void
take_wide(Reading *reading, size_t n)
{
	RowStore   *store = reading->sort->store;
	size_t		end = reading->taken + n;
	RowKey		key;

	for (size_t i = reading->taken; i < end; i++)
	{
		keys_of_row(reading, i, &key);
		if (row_store_wants(store, &key))
			row_store_put_ref(store, &key, place_of(reading, reading->tids[i]));
	}
}

/*
 * Returns whether copying rows is faster than fetching them for a comparison, from all over the
 * table, segment after segment: if many of all rows will be equal before they are compared by keys
 * left to core.
 */
static bool
will_have_many_equal(Reading *reading)
{
	const RowStore *store = reading->sort->store;
	const RowSortSpec *spec = reading->sort->spec;
	double		rows = (double) store->rows;
	double		times = Max(spec->expected_rows / rows, EXPECTED_MIN);

	return spec->keys->nrest > 0 &&
		row_store_expect_equal(store, times, &spec->context) > rows * EQUAL_ON_DISK;
}

/*
 * Has the rows of the store written to a file; false if there is no memory even for that, or
 * if copying all rows is better.
 */
static bool
spill(Reading *reading)
{
	RowSort    *sort = reading->sort;
	Size		pages = row_fetch_memory(reading->rows->fetch);
	Size		most = (Size) work_mem * 1024 / IN_PLACE_PAGES_PART;

	reading->where = ROWS_COPIED_WORK_MEM;
	if (sort->store->rows == 0 || pages > most)
		return false;
	if (sort->external == NULL)
	{
		if (will_have_many_equal(reading))
		{
			reading->where = ROWS_COPIED;
			return false;
		}

		/* Segments are merged beside all pages. */
		pages = RelationGetNumberOfBlocks(reading->scan.rel) * ROW_FETCH_PAGE_BYTES;
		row_sort_spare_pages(sort, Min(most, pages));
	}
	row_sort_flush(sort);
	return true;
}

/*
 * Makes room in the store for n rows, and for nulls of them with a NULL as their only key; false if
 * rows have to be copied.  If memory is short, it first drops the rows that a LIMIT does not want,
 * then writes all rows to a file.
 */
static bool
make_room(Reading *reading, Size n, Size nulls)
{
	RowStore   *store = reading->sort->store;

	if (row_store_has_too_many(store))
		row_store_keep_bound(store);
	row_sort_spare_pages(reading->sort, row_fetch_memory(reading->rows->fetch));
	if (likely(row_store_reserve_refs(store, n, nulls)))
		return true;
	if (row_store_make_room_by_bound(store) && row_store_reserve_refs(store, n, nulls))
		return true;
	return spill(reading) && row_store_reserve_refs(store, n, nulls);
}

/*
 * Begins a batch, and returns whether numbers or abbreviations are of no use, by its rows and the
 * rows before them.
 */
static bool
is_refused(Reading *reading)
{
	const KeyColumns *keys = reading->sort->spec->keys;
	const ColumnBatch *batch = &reading->batches[keys->nmapped - 1];

	reading->taken = 0;
	reading->read += batch->n;
	reading->where = ROWS_COPIED;
	reading->give_up = key_columns_refused(keys, reading->read) >= 0;
	if (reading->give_up)
		return true;
	if (keys->nexact == keys->nmapped ||
		keys->keys[keys->nmapped - 1].kind != COLUMN_KIND_ABBREVIATED)
		return false;
	if (abbreviation_is_made(&keys->keys[keys->nmapped - 1].abbreviation) &&
		(batch->n == 0 || !row_store_refuses(reading->sort->store, reading->read,
											 (const uint64 *) batch->wide, batch->n)))
		return false;
	return true;
}

/* Whether too many rows of a LIMIT are kept because they are equal, as far as is known. */
static bool
has_many_equal(Reading *reading)
{
	const RowStore *store = reading->sort->store;

	if (store->bound.rows == 0 || store->bound.kept <= store->bound.rows +
		Max(EQUAL_MIN, reading->read / EQUAL_PART))
		return false;
	reading->where = ROWS_COPIED;
	return true;
}

/* Takes the batch; false if there is no room for all of it. */
static bool
take_batch(Reading *reading)
{
	RowStore   *store = reading->sort->store;
	const ColumnBatch *batch = &reading->batches[0];
	size_t		n;

	for (reading->taken = 0; reading->taken < batch->n; reading->taken += n)
	{
		n = Min(batch->n - reading->taken, TAKE_AT_ONCE);
		if (!make_room(reading, n, Min(n, (size_t) batch->nnulls)))
			return false;
		if (store->narrow)
			take_narrow(reading, n);
		else
			take_wide(reading, n);
	}
	reading->sort->stats->keys += batch->n;
	return true;
}

/* Whether the rows must be copied because the table comes from disk. */
static bool
is_not_cached(Reading *reading)
{
	const BufferUsage *now = &pgBufferUsage;
	const BufferUsage *before = &reading->before;
	int64		misses = now->shared_blks_read - before->shared_blks_read +
	now->local_blks_read - before->local_blks_read;
	int64		hits = now->shared_blks_hit - before->shared_blks_hit +
	now->local_blks_hit - before->local_blks_hit + column_reader_resident(reading->reader) -
	reading->rows->fetch->npinned;	/* hits once more, for rows that were compared */

	/*
	 * Few pages are read once more, for the rows that are wanted, if none is fetched to be
	 * compared.
	 */
	if (reading->scan.unread && reading->sort->spec->keys->nrest == 0)
		return false;
	if (misses <= MISSES_MIN || misses <= (misses + hits) / MISSES_PART)
		return false;
	reading->where = ROWS_COPIED_NOT_CACHED;
	return true;
}

/* --- copying */

/* Copies a row of the table into the sort, as the child would have returned it. */
static void
copy_row(Reading *reading, HeapTuple tuple)
{
	ExecStoreHeapTuple(tuple, reading->slot, false);
	row_sort_put(reading->sort, column_scan_project(reading->child, reading->slot));
}

/* Copies rows that have been taken, with places from one of these arrays. */
static void
copy_refs(Reading *reading, const uint32 *refs, const uint64 *pairs, uint64 n)
{
	for (uint64 i = 0; i < n; i++)
	{
		copy_row(reading, row_fetch(reading->rows->fetch,
									pairs ? ROWS_PAIR_REF(pairs[i]) : refs[i]));
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Copies the rows of a store of places.  Meanwhile the sort gets the memory that the store has
 * not filled, as a third of what is reserved for it is for sorting.
 */
static void
copy_store(Reading *reading, RowStore *store)
{
	RowStore   *copies = reading->sort->store;
	Size		limit = copies->limit;

	reading->rows->fetch->exhausted = true; /* pages come once, one after the other */
	copies->limit = limit - Min(limit, store->used) * 2 / 3;
	copy_refs(reading, store->arrays.refs, store->narrow ? store->arrays.pairs : NULL, store->n);
	if (store->narrow)
		copy_refs(reading, store->arrays.null_refs, NULL, store->nnull);
	row_store_reset(store);
	copies->limit = limit;
}

/*
 * Copies the rows of a file of places, to which the rows of the store have been written.  Rows of
 * equal keys stay in order.  The copies leave the memory of the list of pages free.
 */
static void
copy_file(Reading *reading, RowStore *store, ExternalSort *external)
{
	RowStore   *copies = reading->sort->store;
	const uint32 *places;
	uint64		n;

	copies->limit -= Min(copies->limit / IN_PLACE_PAGES_PART,
						 row_fetch_memory(reading->rows->fetch));
	row_store_reset(store);
	while ((n = external_sort_take_back(external, &places)) > 0)
		copy_refs(reading, places, NULL, n);
	external_sort_destroy(external);
}

/*
 * From now on rows are copied: first the rows that have been taken by their places, then the rows
 * of the batch that have not.
 */
static void
start_copying(Reading *reading)
{
	RowSort    *sort = reading->sort;
	RowStore   *store = sort->store;
	ExternalSort *external = sort->external;

	sort->store = reading->copies;
	sort->external = NULL;
	sort->in_place = NULL;
	sort->place = ROW_SORT_STORE;
	sort->count = 0;
	sort->stats->keys = 0;
	sort->stats->rows = reading->where;
	if (external)
		external_sort_flush(external);
	row_store_start_keys(sort->store, !reading->give_up);
	if (external)
		copy_file(reading, store, external);
	else
		copy_store(reading, store);
	for (size_t i = reading->taken; i < reading->batches[0].n; i++)
		copy_row(reading, row_fetch(reading->rows->fetch, place_of(reading, reading->tids[i])));
	place_rows_end(reading->rows);
	row_store_destroy(store);
	column_reader_by_page(reading->reader);
}

/*
 * Whether row i of the batch is worth being looked at, though rows are copied: it may come before
 * the last one of a LIMIT that has been found.  Images that are not exact the copies do not have.
 */
static bool
copy_is_wanted(Reading *reading, size_t i)
{
	const RowStore *store = reading->sort->store;
	RowKey		key;

	if (!store->bound.has_cutoff || reading->scan.images)
		return true;
	keys_of_row(reading, i, &key);
	if (store->narrow)
		key.images[0] = (uint32) key.images[0];
	if (row_store_wants(store, &key))
		return true;
	reading->sort->stats->keys++;
	return false;
}

/*
 * Sets rows to the numbers in the batch of the rows that may be among the first of their group, and
 * returns how many they are.  Only their keys are looked at.
 */
static int
find_candidates(Reading *reading, uint16 *rows)
{
	GroupBoundKeys *keys = &reading->group_keys;

	keys->n = reading->batches[0].n;
	for (int k = 0; k < reading->scan.ncolumns; k++)
	{
		const ColumnBatch *batch = &reading->batches[k];
		KeyColumn  *key = &reading->sort->spec->keys->keys[k];
		uint64		flip = key->flip;

		keys->nulls[k] = batch->nnulls > 0 ? batch->nulls : NULL;
		if (key->kind == COLUMN_KIND_FLOAT4 || key->kind == COLUMN_KIND_FLOAT8)
			for (size_t i = 0; i < batch->n; i++)
				keys->images[k][i] = image_of(key, batch, i);
		else if (batch->wide)
			for (size_t i = 0; i < batch->n; i++)
				keys->images[k][i] = (uint64) batch->wide[i] ^ flip;
		else
			for (size_t i = 0; i < batch->n; i++)
				keys->images[k][i] = (uint32) batch->keys[i] ^ flip;
	}
	return row_sort_candidates(reading->sort, keys, rows);
}

/* Copies the rows of a batch that are wanted from the page that they are on. */
static void
copy_page(Reading *reading)
{
	uint16		rows[MaxHeapTuplesPerPage];
	HeapTupleData tuple;
	Page		page;
	int			n = 0;

	if (reading->sort->by_group)
		n = find_candidates(reading, rows);
	else
		for (size_t i = 0; i < reading->batches[0].n; i++)
			if (copy_is_wanted(reading, i))
				rows[n++] = i;
	if (n == 0)
		return;
	page = BufferGetPage(column_reader_buffer(reading->reader));
	for (size_t i = 0; i < n; i++)
	{
		int64		tid = reading->tids[rows[i]];

		heap_format_tuple(&tuple, reading->scan.rel, page, COLUMN_TID_BLOCK(tid),
						  COLUMN_TID_LINE(tid));
		copy_row(reading, &tuple);
	}
	ExecClearTuple(reading->slot);
}

/* --- reading */

/* A ColumnImage of a key whose images are not exact. */
static int64
make_image(void *arg, Datum value)
{
	return (int64) key_image((KeyColumn *) arg, value);
}

/*
 * Tells the reader which columns the mapped keys are and, where images are not exact, how an image
 * is made of a value.
 */
static void
init_keys(Reading *reading, const RowSortSpec *spec, const Plan *plan)
{
	for (int k = 0; k < spec->keys->nmapped; k++)
	{
		KeyColumn  *key = &spec->keys->keys[k];

		reading->attnums[k] = place_rows_key_column(key, plan);
		if (!key_is_exact(key->kind))
		{
			reading->makers[k] = (ColumnImage)
			{
				.make = make_image,.arg = key
			};
			reading->scan.images = reading->makers;
		}
	}
	reading->scan.ncolumns = spec->keys->nmapped;
	reading->scan.attnums = reading->attnums;
}

/*
 * Reads the table, and takes its rows batch by batch.  After each batch in place it is decided
 * whether the next ones are copied, and never the other way round.  copying: rows are copied from
 * the first on.
 */
static void
read_table(Reading *reading, bool copying)
{
	PlanState  *child = &reading->child->ps;
	bool		more;
	uint64		skipped;
	uint64		filtered;

	reading->reader = column_reader_open(&reading->scan, &reading->batches);
	reading->tids = reading->batches[reading->scan.ncolumns].wide;
	if (copying)
		column_reader_by_page(reading->reader);
	reading->before = pgBufferUsage;
	do
	{
		if (child->instrument)
			InstrStartNode(child->instrument);
		skipped = reading->cutoff.skipped;
		more = column_reader_next(reading->reader);
		if (reading->first.found)
			reading->cutoff.skipped -= reading->batches[0].n;	/* counted by the GPU */
		skipped = reading->cutoff.skipped - skipped;
		if (child->instrument)
			InstrStopNode(child->instrument, (double) (reading->batches[0].n + skipped));
		reading->sort->stats->keys += skipped;
		reading->pages = column_reader_pages(reading->reader);
		if (copying)
			copy_page(reading);
		else
		{
			copying = is_refused(reading) || !take_batch(reading) || is_not_cached(reading) ||
				has_many_equal(reading);
			if (copying)
				start_copying(reading);
			else
				sort_cutoff_move(&reading->cutoff, reading->sort->store);
		}
	} while (more);
	filtered = column_reader_close(reading->reader);
	if (filtered > 0)
		InstrCountFiltered1(child, filtered);
}

/*
 * Makes the sort one of keys and places: its store becomes one of rows that lie elsewhere.  The
 * store for copies is put aside, in case rows have to be copied after all.  blocks is the size of
 * the table.
 */
static void
start_places(Reading *reading, uint64 bound, BlockNumber blocks)
{
	RowSort    *sort = reading->sort;
	const RowSortSpec *spec = sort->spec;
	PlaceRows  *rows = place_rows_create(reading->child, reading->slot, spec->keys, spec->memory);

	if (!rows->copied && in_place_pins_all(bound, blocks))
		row_fetch_reserve(rows->fetch, blocks);
	reading->rows = sort->in_place = rows;
	reading->copies = sort->store;
	sort->store = row_store_create(spec->memory, spec->keys, spec->tupdesc, true,
								   &rows->elsewhere, (Size) work_mem * 1024, bound);
	if (bound == 0)
		sort->store->expected = (Size) Min(spec->expected_rows, (double) PG_UINT32_MAX);
}

void
in_place_fill(RowSort *sort, PlanState *child, TupleTableSlot *slot, uint64 bound)
{
	const RowSortSpec *spec = sort->spec;
	Reading		reading = {
		.sort = sort,
		.child = (ScanState *) child,
		.slot = slot,
		.scan.tids = true,
		.scan.blocks = &sort->stats->blocks,
		.block = InvalidBlockNumber
	};
	BlockNumber blocks;

	column_scan_from_child(&reading.scan, reading.child);
	blocks = RelationGetNumberOfBlocks(reading.scan.rel);
	reading.scan.unread = bound > 0 && bound <= blocks / IN_PLACE_UNREAD_PART;
	init_keys(&reading, spec, child->plan);
	if (sort_cutoff_init(&reading.cutoff, &spec->keys->keys[0]) && bound > 0)
		reading.scan.cutoff = &reading.cutoff;
	start_places(&reading, bound, blocks);
	read_table(&reading, false);
	if (sort->in_place)
		row_store_destroy(reading.copies);
}

/* --- the first rows of each group */

/*
 * Returns true if rows of a child are a table's columns, or constants, so that rows not made are
 * not missed.
 */
static bool
returns_columns(PlanState *outer)
{
	foreach_node(TargetEntry, target, outer->plan->targetlist)
	{
		Expr	   *expr = target->expr;

		if (!IsA(expr, Var) && !IsA(expr, Const))
			return false;
	}
	return true;
}

/*
 * Finds the columns of the keys that the bound compares: the group's, and the first after these if
 * it is mapped.  Returns false if the reader does not read them as the sort does.
 */
static bool
find_group_keys(Reading *reading)
{
	const RowSort *sort = reading->sort;
	const KeyColumns *keys = sort->spec->keys;

	reading->scan.ncolumns = Min(sort->by_group->spec.ngroup + 1, keys->nexact);
	reading->scan.attnums = reading->attnums;
	for (int i = 0; i < reading->scan.ncolumns; i++)
	{
		const KeyColumn *key = &keys->keys[i];
		AttrNumber	attnum = place_rows_key_column(key, reading->child->ps.plan);

		/* The order of an enum's labels is not that of their numbers. */
		if (attnum == 0 || key->kind == COLUMN_KIND_ENUM ||
			column_read_kind(TupleDescAttr(RelationGetDescr(reading->child->ss_currentRelation),
										   attnum - 1)->atttypid) != key->kind)
			return false;
		reading->attnums[i] = attnum;
		reading->group_keys.images[i] =
			MemoryContextAlloc(sort->spec->memory, MaxHeapTuplesPerPage * sizeof(uint64));
	}
	return true;
}

bool
in_place_fill_by_group(RowSort *sort, PlanState *child, TupleTableSlot *slot)
{
	Reading		reading = {
		.sort = sort,
		.child = (ScanState *) child,
		.slot = slot,
		.scan = {.tids = true,.unread = true,.blocks = &sort->stats->blocks}
	};

	if (!column_scan_is_readable(child) ||
		!heap_format_is_heap(reading.child->ss_currentRelation) ||
		!returns_columns(child) || !find_group_keys(&reading))
		return false;
	column_scan_from_child(&reading.scan, reading.child);
	first_rows_begin(&reading.first, sort->by_group, &reading.scan, &reading.cutoff.skipped);
	read_table(&reading, true);
	sort->stats->from_column = true;
	return true;
}
