/*
 * partitions.c
 *		Rows that do not fit into memory, sorted partition by partition (see
 *		partitions.h).
 *
 * Read back in the order of their ranges, partitions usually fit into memory one
 * by one, and are sorted there.  A partition that does not fit is divided, as
 * often as it takes.  Rows of a partition that are all equal are in order as they lie in the
 * file, and returned from there.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/partitions.h"
#include "pg/nodes/sort/store/store.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 1024

/*
 * Rows that a partition is divided by, however large they are.  With one or two
 * it would be halved at best, again and again.  Core's merge of large rows keeps
 * as many in memory, one of each of six tapes or more.
 */
#define TUPLE_SAMPLES 6

/* What the tuple of a row that lies elsewhere is taken to have, in bytes. */
#define TUPLE_ELSEWHERE ((Size) 1024)

/*
 * The rows expected are at least this many times the rows seen: an estimate once exceeded says
 * nothing.
 */
#define EXPECTED_MIN 8.0

/* Rows that lie elsewhere read at once. */
#define REFS_AT_ONCE 1024

/* Rows read from the file: of one narrow key up to REFS_AT_ONCE, of other keys one. */
typedef struct RefBlock
{
	Size		n;
	bool		nulls;			/* of one narrow key: all of them are NULL */
	uint32		refs[REFS_AT_ONCE];
	uint32		images[REFS_AT_ONCE];	/* of one narrow key */
} RefBlock;

struct Partitions
{
	MemoryContext memory;
	RowStore   *store;
	Spill	   *spill;
	const SortContext *context;
	bool		keep;
	RowSortStats *stats;

	/* Reading. */
	int			next;			/* partition to be read next */
	uint64		at;				/* next row of the store ... */
	uint64		count;			/* ... and how many it has, of the partition read last */
	bool		streaming;		/* the partition read last is returned as it lies in the file */
	RowBuffer	row;			/* a row of the file that is not put into the store */
	RefBlock   *refs;			/* rows of the file, if they lie elsewhere; else NULL */
};

Partitions *
partitions_create(MemoryContext memory, RowStore *store, const SortContext *context, bool keep,
				  RowSortStats *stats)
{
	Partitions *p = (Partitions *) MemoryContextAllocZero(memory, sizeof(Partitions));

	p->memory = memory;
	p->store = store;
	p->spill = spill_create(memory, store);
	p->context = context;
	p->keep = keep;
	p->stats = stats;
	row_buffer_init(&p->row, memory);
	if (store->elsewhere)
		p->refs = (RefBlock *) MemoryContextAlloc(memory, sizeof(RefBlock));
	return p;
}

/* Makes room for as many samples of so many rows as are of use; *nsamples is their number. */
static SpillSample *
make_samples(Partitions *p, uint64 rows, double expected, int *nsamples)
{
	*nsamples = spill_sample_count(p->spill, rows, expected);
	return (SpillSample *) MemoryContextAllocZero(p->memory, *nsamples * sizeof(SpillSample));
}

/* How many of nsamples rows, of so many bytes each, may be kept as tuples. */
static int
tuple_samples(const Partitions *p, int nsamples, Size each)
{
	return (int) Min(nsamples, Max(p->store->limit / 8 / (each + sizeof(SpillSample)),
								   TUPLE_SAMPLES));
}

static MinimalTuple
copy_tuple(MemoryContext memory, MinimalTuple tuple)
{
	MinimalTuple copy = (MinimalTuple) MemoryContextAllocHuge(memory, tuple->t_len);

	memcpy(copy, tuple, tuple->t_len);
	return copy;
}

void
partitions_start_store(Partitions *p, double expected_rows)
{
	RowStore   *store = p->store;
	uint64		rows = store->rows;
	double		expected = (double) store->used * Max(expected_rows / (double) rows, EXPECTED_MIN);
	bool		by_rest = key_columns_say_nothing(store->keys);
	int			nsamples;
	SpillSample *samples = make_samples(p, rows, expected, &nsamples);
	int			i;

	if (by_rest)
		nsamples = tuple_samples(p, nsamples, store->used / rows);
	for (i = 0; i < nsamples; i++)
	{
		MinimalTuple tuple = row_store_row(store, i * rows / nsamples, &samples[i].key);

		if (by_rest)
			samples[i].tuple = copy_tuple(spill_sample_memory(p->spill), tuple);
	}
	spill_divide(p->spill, 0, samples, nsamples, expected);
	pfree(samples);

	/* Rows are written as they come, wanted or not, and their images stay what they are. */
	store->bound = 0;
	store->has_cutoff = false;
	store->abort_check = PG_UINT64_MAX;
	partitions_flush(p);
}

void
partitions_start_runs(Partitions *p, KeyRuns *runs, double expected_rows)
{
	uint64		count = key_runs_count(runs) - runs->nulls;
	double		expected = Max(expected_rows, EXPECTED_MIN * key_runs_count(runs)) * sizeof(uint64);
	int			nsamples;
	SpillSample *samples = make_samples(p, count, expected, &nsamples);
	int			taken = 0;
	uint64		at = 0;
	size_t		got;

	/* Some of the keys, evenly. */
	while ((got = key_runs_fetch(runs)) > 0)
	{
		size_t		i;

		for (i = 0; i < got; i++, at++)
			if (taken < nsamples && at == (uint64) taken * count / nsamples)
				samples[taken++].key.images[0] = key_runs_image(runs, i);
		CHECK_FOR_INTERRUPTS();
	}
	Assert(taken == nsamples);
	spill_divide(p->spill, 0, samples, nsamples, expected);
	pfree(samples);
}

void
partitions_flush(Partitions *p)
{
	spill_flush(p->spill, p->store, p->context);
}

void
partitions_finish(Partitions *p)
{
	RowSortStats *stats = p->stats;

	partitions_flush(p);
	stats->partitions = spill_partition_count(p->spill);
	stats->on_disk = true;
	stats->space = spill_file_bytes(spill_get_file(p->spill));

	/* What will be done with partitions, should none of them have to be sorted. */
	rows_plan(p->context, stats->keys / stats->partitions, 0, PG_UINT32_MAX, false, &stats->plan);
	p->at = p->count = 0;
}

/* Reads the next row's tuple into the row buffer, and its mapped keys if they are wanted. */
static MinimalTuple
read_row(Partitions *p, RowKey *key, Size len)
{
	MinimalTuple tuple = row_buffer_reserve(&p->row, len);

	spill_read_tuple(p->spill, tuple, len);
	if (key)
		row_tuple_key(p->store->keys, p->store->slot, tuple, key);
	return tuple;
}

/*
 * Samples of a partition, *nsamples of them: keys, or tuples if its mapped keys
 * are equal.  Tuples take an eighth of the memory, or more if an eighth is too
 * little for TUPLE_SAMPLES.  Each sample is from the middle of an equal share of
 * the rows: where rows come in order, the first of all is the smallest, and a
 * boundary there would divide nothing.
 */
static SpillSample *
sample_partition(Partitions *p, int number, double expected, int *nsamples)
{
	Spill	   *spill = p->spill;
	const SpillPartition *partition = spill_partition(spill, number);
	MemoryContext memory = spill_sample_memory(spill);
	bool		by_rest = spill_is_single(spill, number);
	const RowElsewhere *elsewhere = p->store->elsewhere;
	SpillSample *samples = make_samples(p, partition->rows, expected, nsamples);
	uint64		at = 0;
	int			taken = 0;
	RowKey		key = {0};
	Size		len;

	MemoryContextReset(memory);
	if (by_rest)
		*nsamples = tuple_samples(p, *nsamples, elsewhere ? TUPLE_ELSEWHERE :
								  (Size) (partition->tuple_bytes / partition->rows));
	spill_start_reading(spill, number, false);
	while (spill_next_row(spill, &key, &len))
	{
		bool		wanted = taken < *nsamples &&
		at == (2 * (uint64) taken + 1) * partition->rows / (2 * (uint64) *nsamples);

		if (p->store->tuples && p->refs == NULL)
		{
			MinimalTuple tuple = read_row(p, wanted && !by_rest ? &key : NULL, len);

			if (wanted && by_rest)
				samples[taken].tuple = copy_tuple(memory, tuple);
		}
		else if (wanted && by_rest)
		{
			MinimalTuple tuple = elsewhere->tuple(elsewhere->arg, spill_ref(spill));

			samples[taken].tuple = copy_tuple(memory, tuple);
			pfree(tuple);
		}
		if (wanted)
			samples[taken++].key = key;
		if (at++ % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	Assert(taken == *nsamples);
	return samples;
}

/*
 * Goes to the next row to be read from the file, or to the next rows that lie elsewhere; false at
 * the end.
 */
static bool
next_read(Partitions *p, RowKey *key, Size *len)
{
	RefBlock   *refs = p->refs;

	if (refs == NULL)
		return spill_next_row(p->spill, key, len);
	if (p->store->narrow)
		refs->n = spill_next_refs(p->spill, refs->images, refs->refs, REFS_AT_ONCE, &refs->nulls);
	else if ((refs->n = spill_next_row(p->spill, key, len)) > 0)
		refs->refs[0] = spill_ref(p->spill);
	return refs->n > 0;
}

/* Puts rows that lie elsewhere, which are being read, into the store; false if there is no room. */
static bool
put_refs(Partitions *p, const RowKey *key)
{
	const RefBlock *refs = p->refs;
	bool		nulls = p->store->narrow && refs->nulls;
	RowKey		null = {.nulls = 1};
	Size		i;

	if (!row_store_reserve_refs(p->store, nulls ? 0 : refs->n, nulls ? refs->n : 0))
		return false;
	if (p->store->narrow && !nulls)
	{
		row_store_put_narrow_refs(p->store, refs->images, refs->refs, NULL, refs->n);
		return true;
	}
	for (i = 0; i < refs->n; i++)
		row_store_put_ref(p->store, nulls ? &null : key, refs->refs[i]);
	return true;
}

/* Puts what is being read from the file into the store; false if there is no room. */
static bool
put_read(Partitions *p, const RowKey *key, Size len)
{
	MinimalTuple place;

	if (p->refs)
		return put_refs(p, key);
	if (!p->store->tuples)
		return row_store_put_key(p->store, key);
	if (!row_store_begin_tuple(p->store, len, &place))
		return false;
	spill_read_tuple(p->spill, place, len);
	row_store_end_tuple(p->store, place);
	return true;
}

/* Divides a partition that is too large for memory. */
static void
divide(Partitions *p, int number)
{
	Spill	   *spill = p->spill;
	RowStore   *store = p->store;
	const SpillPartition *partition = spill_partition(spill, number);
	double		expected = (double) partition->tuple_bytes +
	(double) partition->rows * (store->elsewhere ? row_store_ref_bytes(store->keys)
								: (store->keys->nmapped + 4) * sizeof(uint64));
	int			before = spill_partition_count(spill);
	uint64		at = 0;
	int			nsamples;
	SpillSample *samples;
	RowKey		key;
	Size		len;

	/* The partition is read twice: for its samples, and for its rows. */
	p->stats->compared |= spill_is_single(spill, number);
	samples = sample_partition(p, number, expected, &nsamples);
	spill_divide(spill, number, samples, nsamples, expected);
	pfree(samples);
	while (next_read(p, &key, &len))
	{
		if (!put_read(p, &key, len))
		{
			spill_flush(spill, store, p->context);
			if (!put_read(p, &key, len))
				elog(ERROR, "no room for a row");
		}
		if (at++ % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	spill_flush(spill, store, p->context);
	spill_end_division(spill);
	p->stats->partitions += spill_partition_count(spill) - before;
	p->stats->space = spill_file_bytes(spill_get_file(spill));
}

/* Reads a partition into the store; false, with an empty store, if it does not fit. */
static bool
load(Partitions *p, int number)
{
	Spill	   *spill = p->spill;
	RowStore   *store = p->store;
	const SpillPartition *partition = spill_partition(spill, number);
	RowKey		key;
	Size		len;

	row_store_clear(store);
	if (row_store_cannot_hold(store, partition->rows, partition->tuple_bytes))
		return false;
	spill_start_reading(spill, number, false);
	while (next_read(p, &key, &len))
	{
		if (!put_read(p, &key, len))
		{
			/* Memory was shared out for other rows: the next try starts without any. */
			row_store_reset(store);
			return false;
		}
		if (store->rows % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (!p->keep)
		spill_forget_partition(spill, number);
	row_store_sort(store, p->context);
	p->stats->plan = store->stats.plan;
	p->stats->compared |= store->stats.compared;
	p->at = 0;
	p->count = row_store_count(store);
	return true;
}

/* Whether all rows of a partition are equal: they are in order as they lie in the file. */
static bool
is_in_order(const Partitions *p, int number)
{
	const KeyColumns *keys = p->store->keys;
	const SpillPartition *partition = spill_partition(p->spill, number);
	int			last = keys->nmapped - 1;

	if (partition->equal)
		return true;
	return spill_is_single(p->spill, number) &&
		(keys->nrest == 0 ||
		 key_columns_are_known_equal(keys, (partition->lo.nulls >> last) & 1,
									 partition->lo.images[last]));
}

/* Makes the next partition ready to be read; false at the end. */
static bool
next_partition(Partitions *p)
{
	Spill	   *spill = p->spill;

	while (p->next < spill_partition_count(spill))
	{
		int			number = p->next;

		if (spill_partition(spill, number)->rows == 0)
			p->next++;
		else if (is_in_order(p, number))
		{
			spill_start_reading(spill, number, !p->keep);
			p->streaming = true;
			p->next++;
			return true;
		}
		else if (load(p, number))
		{
			p->next++;
			return true;
		}
		else
			divide(p, number);
	}
	return false;
}

/* All rows of a partition that is in order as it lies have been returned. */
static void
end_stream(Partitions *p)
{
	p->streaming = false;
	if (!p->keep)
		spill_forget_partition(p->spill, p->next - 1);
}

/* Returns the next row of a partition that is in order as it lies; NULL at its end. */
static TupleTableSlot *
stream(Partitions *p, TupleTableSlot *slot)
{
	RowKey		key;
	Size		len;

	ExecClearTuple(slot);
	if (!spill_next_row(p->spill, &key, &len))
	{
		end_stream(p);
		return NULL;
	}
	if (p->store->tuples)
		return ExecStoreMinimalTuple(read_row(p, NULL, len), slot, false);
	return key_emit(&p->store->keys->keys[0], key.nulls != 0, key.images[0], slot);
}

TupleTableSlot *
partitions_next(Partitions *p, TupleTableSlot *slot)
{
	for (;;)
	{
		if (p->at < p->count)
			return row_store_emit(p->store, p->at++, slot);
		if (p->streaming)
		{
			TupleTableSlot *next = stream(p, slot);

			if (next)
				return next;
		}
		ExecClearTuple(slot);
		if (!next_partition(p))
			return slot;
	}
}

/*
 * The same of rows that lie elsewhere: returns the number of references in p->refs, 0 at the end.
 */
static uint64
stream_refs(Partitions *p)
{
	RowKey		key;
	Size		len;
	Size		n = 0;

	if (p->store->narrow)
		n = spill_next_refs(p->spill, p->refs->images, p->refs->refs, REFS_AT_ONCE,
							&p->refs->nulls);
	else
		while (n < REFS_AT_ONCE && spill_next_row(p->spill, &key, &len))
			p->refs->refs[n++] = spill_ref(p->spill);
	if (n == 0)
		end_stream(p);
	return n;
}

uint64
partitions_next_refs(Partitions *p, const uint32 **refs)
{
	const RowStore *store = p->store;
	uint64		n;

	for (;;)
	{
		*refs = p->refs->refs;
		if (p->streaming && (n = stream_refs(p)) > 0)
			return n;
		if (!next_partition(p))
			return 0;
		if (p->streaming)
			continue;

		/* NULLs as a single narrow key have a partition of their own. */
		Assert(store->nnull == 0 || store->n == 0);
		*refs = store->nnull > 0 ? store->null_refs : store->order;
		return p->count;
	}
}

uint64
partitions_take_back(Partitions *p, const uint32 **refs)
{
	uint64		n;

	*refs = p->refs->refs;
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (p->streaming && (n = stream_refs(p)) > 0)
			return n;
		if (p->next == spill_partition_count(p->spill))
			return 0;
		spill_start_reading(p->spill, p->next++, !p->keep);
		p->streaming = true;
	}
}

void
partitions_rewind(Partitions *p)
{
	p->streaming = false;
	p->next = 0;
	row_store_clear(p->store);
	p->at = p->count = 0;
}

SpillFile *
partitions_file(Partitions *p)
{
	return spill_get_file(p->spill);
}

void
partitions_destroy(Partitions *p)
{
	spill_destroy(p->spill);
}
