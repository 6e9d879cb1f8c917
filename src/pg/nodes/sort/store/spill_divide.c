/*
 * spill_divide.c
 *		Rows partitioned by key in a temporary file (see spill.h): partitions, and
 *		the boundaries between them.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/spill_state.h"

/*
 * Partitions that spill_divide makes.  Fewer than the least gain too little.  With
 * more than the most, or with pieces shorter than MIN_CHUNK, reading the pieces
 * takes longer than dividing once more the few partitions that turn out too large.
 */
#define MIN_PARTITIONS 4
#define MAX_PARTITIONS 512
#define MIN_CHUNK ((Size) 4096)

/* Samples for each boundary: the sizes of partitions then vary by a quarter. */
#define SAMPLES_PER_PARTITION 16

/* The part of the limit that a partition is planned to fill, as estimates are wrong. */
#define PARTITION_FILL 0.6

/* Reading in larger blocks is no faster. */
#define READ_BUFFER ((Size) 64 * 1024)

/* Rows of a store that are looked at before it is written, to see where its rows lie. */
#define LOOKS 32

/* So many of these looks beyond a partition's rows are worth partitions of their own. */
#define LOOKS_FEW (LOOKS / 8)

/*
 * How many partitions the rows of a store get if all of them lie beyond the rows
 * before.  Each of two fits into memory if no later rows lie in its range; each of
 * eight even if the rows of several stores do.  A partition takes some 300 bytes
 * of memory, which a small limit does not have for eight.
 */
#define PARTITIONS_OF_STORE(limit) ((limit) < 1024 * 1024 ? 2 : 8)

static int
compare_samples(const void *a, const void *b, void *arg)
{
	const Spill *spill = (const Spill *) arg;
	const SpillSample *left = (const SpillSample *) a;
	const SpillSample *right = (const SpillSample *) b;

	if (left->tuple)
		return row_tuple_compare(spill->keys, spill->tupdesc, left->tuple, right->tuple);
	return row_key_compare(spill->keys, &left->key, &right->key);
}

static SpillPartition *
make_partition(Spill *spill)
{
	return (SpillPartition *) MemoryContextAllocZero(spill->memory, sizeof(SpillPartition));
}

Spill *
spill_create(MemoryContext parent, const RowStore *store)
{
	KeyColumns *keys = store->keys;
	MemoryContext memory = AllocSetContextCreate(parent, "hpsort partitions",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	Spill	   *spill = (Spill *) palloc0(sizeof(Spill));

	spill->memory = memory;
	spill->tuples_memory = AllocSetContextCreate(memory, "hpsort bounds", ALLOCSET_DEFAULT_SIZES);
	spill->keys = keys;
	spill->tupdesc = store->tupdesc;
	spill->tuples = store->tuples && !store->elsewhere;
	spill->elsewhere = store->elsewhere;
	spill->nulls_apart = store->elsewhere != NULL && keys->nmapped == 1;
	spill->narrow = key_columns_are_narrow(keys);
	spill->key_bytes = store->elsewhere ? row_store_ref_bytes(keys) : sizeof(uint64);
	spill->limit = store->limit;
	spill->room = MIN_PARTITIONS;
	spill->partitions = (SpillPartition **) palloc(spill->room * sizeof(SpillPartition *));
	spill->boundaries = (Boundary *) palloc(spill->room * sizeof(Boundary));
	spill->partitions[spill->npartitions++] = make_partition(spill);
	spill->file = spill_file_create();

	/* The buffer is small beside the store, and not counted in its limit. */
	spill_reader_init(&spill->reader, spill->file,
					  Max(Min(READ_BUFFER, store->limit / 16), BLCKSZ));
	MemoryContextSwitchTo(old);
	return spill;
}

/* How many partitions to make for the bytes that are expected. */
static int
plan_partitions(const Spill *spill, double expected)
{
	double		wanted = expected / (PARTITION_FILL * (double) spill->limit);
	double		most = Min(MAX_PARTITIONS, (double) (spill->limit / MIN_CHUNK));

	return (int) Max(MIN_PARTITIONS, Min(wanted, most));
}

int
spill_sample_count(const Spill *spill, uint64 rows, double expected)
{
	Size		most = Max(spill->limit / 8 / sizeof(SpillSample), 64);
	Size		samples = (Size) plan_partitions(spill, expected) * SAMPLES_PER_PARTITION;

	return (int) Min(rows, Min(samples, most));
}

MemoryContext
spill_sample_memory(Spill *spill)
{
	return spill->tuples_memory;
}

/* Inserts n empty partitions after the one of this number. */
static void
insert_partitions(Spill *spill, int number, int n)
{
	int			i;

	if (spill->npartitions + n > spill->room)
	{
		spill->room = Max(spill->room * 2, spill->npartitions + n);
		spill->partitions = repalloc_huge(spill->partitions,
										  spill->room * sizeof(SpillPartition *));
		spill->boundaries = (Boundary *) repalloc_huge(spill->boundaries,
													   spill->room * sizeof(Boundary));
	}
	memmove(spill->partitions + number + 1 + n, spill->partitions + number + 1,
			(spill->npartitions - number - 1) * sizeof(SpillPartition *));
	for (i = 1; i <= n; i++)
		spill->partitions[number + i] = make_partition(spill);
	spill->npartitions += n;
}

/* Whether a boundary, by its number, divides NULLs from all other keys. */
static inline bool
divides_nulls(const Spill *spill, int number)
{
	if (!spill->nulls_apart)
		return false;
	return number == (spill->keys->keys[0].nulls_first ? 0 : spill->nboundaries - 1);
}

/* Has NULLs, which come before or after all other keys, in a partition of their own. */
static void
divide_nulls(const Spill *spill, Boundary *boundaries, int *nboundaries)
{
	Boundary	boundary = {0};

	if (spill->keys->keys[0].nulls_first)
	{
		/* No boundary has been NULL, or before an image of 0. */
		memmove(boundaries + 1, boundaries, *nboundaries * sizeof(Boundary));
		boundaries[0] = boundary;
	}
	else
	{
		boundary.key.nulls = 1;
		boundaries[*nboundaries] = boundary;
	}
	(*nboundaries)++;
}

/* The samples that are not NULL, of samples in order. */
static SpillSample *
skip_nulls(const Spill *spill, SpillSample *samples, int *nsamples)
{
	bool		first = spill->keys->keys[0].nulls_first;

	while (*nsamples > 0 && samples[first ? 0 : *nsamples - 1].key.nulls != 0)
	{
		samples += first;
		(*nsamples)--;
	}
	return samples;
}

void
spill_divide(Spill *spill, int number, SpillSample *samples, int nsamples, double expected)
{
	int			npartitions = plan_partitions(spill, expected);
	bool		with_nulls = spill->nulls_apart && spill->partitions[number]->rows == 0;
	bool		by_rest = samples[0].tuple != NULL;
	const SpillSample *last = NULL;
	Boundary   *boundaries = (Boundary *) palloc((npartitions + 1) * sizeof(Boundary));
	int			nboundaries = 0;
	int			i;

	qsort_interruptible(samples, nsamples, sizeof(SpillSample), compare_samples, spill);
	if (with_nulls)
		samples = skip_nulls(spill, samples, &nsamples);
	for (i = 1; i < npartitions && nsamples > 0; i++)
	{
		const SpillSample *sample = &samples[(int64) i * nsamples / npartitions];
		bool		again = last && compare_samples(sample, last, spill) == 0;

		/*
		 * A key so frequent that it is met again has a partition of its own: it may be too large
		 * for memory, and should then be of no other key.
		 */
		if (again && boundaries[nboundaries - 1].after)
			continue;
		boundaries[nboundaries].key = sample->key;
		boundaries[nboundaries].tuple = sample->tuple;
		boundaries[nboundaries++].after = again;
		last = sample;
	}

	if (with_nulls)
		divide_nulls(spill, boundaries, &nboundaries);

	/*
	 * Either the samples have two different keys, or their one key gets a partition of its own:
	 * no new partition will be as large as the old one.
	 */
	spill_forget_divided(spill);
	spill->by_rest = by_rest;
	spill->divided = spill->reading = spill->partitions[number];
	spill->extends = spill->divided->rows == 0 && !spill->by_rest;
	spill->single = spill->divided->lo;
	spill->partitions[number] = make_partition(spill);
	insert_partitions(spill, number, nboundaries);
	memcpy(spill->boundaries, boundaries, nboundaries * sizeof(Boundary));
	spill->nboundaries = nboundaries;
	spill->base = number;
	for (i = 1; i < nboundaries; i++)
		if (boundaries[i].after && spill->by_rest)
			spill->partitions[number + i]->equal = true;
	pfree(boundaries);
	spill->rows_left = spill->divided->rows;
	spill_reader_start(&spill->reader, &spill->divided->sequence, true);
}

void
spill_end_division(Spill *spill)
{
	int			i;

	if (!spill->by_rest)
		return;

	/*
	 * Where comparing rows with each other says one thing, and comparing them with the boundaries
	 * another, as a faulty operator class may have it, all rows can be in one partition again:
	 * they have no order then, and dividing them would not end.
	 */
	for (i = spill->base; i <= spill->base + spill->nboundaries; i++)
		if (spill->partitions[i]->rows == spill->divided->rows)
			spill->partitions[i]->equal = true;
}

int
spill_find_partition(const Spill *spill, const RowKey *key, int near)
{
	int			low = 0;
	int			high = spill->nboundaries;

	/* Rows often come in order: near, or the partition after it, is right. */
	if (near < high && spill_is_beyond(spill, &spill->boundaries[near], key, NULL))
		low = near + 1;
	else if (near == 0 || spill_is_beyond(spill, &spill->boundaries[near - 1], key, NULL))
		return near;
	else
		high = near - 1;
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (spill_is_beyond(spill, &spill->boundaries[middle], key, NULL))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Inserts a boundary into a partition, whose rows are all before it or all after it. */
static void
insert_boundary(Spill *spill, int number, const RowKey *key, bool after, bool rows_before)
{
	int			at = spill->base + number;

	insert_partitions(spill, at, 1);
	if (!rows_before)
	{
		SpillPartition *partition = spill->partitions[at];

		spill->partitions[at] = spill->partitions[at + 1];
		spill->partitions[at + 1] = partition;
	}
	memmove(&spill->boundaries[number + 1], &spill->boundaries[number],
			(spill->nboundaries - number) * sizeof(Boundary));
	spill->boundaries[number].key = *key;
	spill->boundaries[number].tuple = NULL;
	spill->boundaries[number].after = after;
	spill->nboundaries++;
}

/*
 * Rows like these n looks, which are in order, will go to an empty partition:
 * inserts boundaries so that each part of them fits into memory.
 */
static void
divide_empty(Spill *spill, int number, const SpillSample *looks, int n)
{
	int			parts = (n * PARTITIONS_OF_STORE(spill->limit) + LOOKS - 1) / LOOKS;
	int			made = 0;
	int			i;

	for (i = 1; i < parts; i++)
	{
		const RowKey *key = &looks[i * n / parts].key;
		const RowKey *before = &looks[(i - 1) * n / parts].key;

		if (spill_compare_keys(spill, before, key) < 0)
			insert_boundary(spill, number + made++, key, false, true);
	}
}

/*
 * Rows like these n looks, which are in order, will go to one partition.  Where
 * they lie before or after the rows that it has, they get other partitions.
 */
static void
extend_partition(Spill *spill, int number, const SpillSample *looks, int n)
{
	const SpillPartition *partition = spill->partitions[spill->base + number];
	int			below = 0;
	int			above = 0;

	if (partition->rows == 0)
	{
		divide_empty(spill, number, looks, n);
		return;
	}
	while (below < n && spill_compare_keys(spill, &looks[below].key, &partition->lo) < 0)
		below++;
	while (above < n - below && spill_compare_keys(spill, &looks[n - 1 - above].key,
												   &partition->hi) > 0)
		above++;
	if (above >= LOOKS_FEW)
	{
		insert_boundary(spill, number, &partition->hi, true, true);
		divide_empty(spill, number + 1, looks + n - above, above);
	}
	if (below >= LOOKS_FEW)
	{
		insert_boundary(spill, number, &partition->lo, false, false);
		divide_empty(spill, number, looks, below);
	}
}

/* The bytes that the rows of a partition take, about. */
static inline uint64
partition_bytes(const Spill *spill, const SpillPartition *partition)
{
	return partition->tuple_bytes + partition->rows * spill->key_bytes;
}

/* Appends the rows of a partition to those of the partition before it. */
static void
append_partition(Spill *spill, SpillPartition *to, SpillPartition *from)
{
	if (from->rows > 0)
	{
		if (to->rows == 0)
			spill_copy_key(spill, &to->lo, &from->lo);
		spill_copy_key(spill, &to->hi, &from->hi);
	}
	to->rows += from->rows;
	to->tuple_bytes += from->tuple_bytes;
	spill_file_append(spill->file, &to->sequence, &from->sequence);
	pfree(from);
}

void
spill_join_partitions(Spill *spill)
{
	uint64		share = 0;
	int			n = 0;
	int			i;

	Assert(spill->base == 0 && spill->npartitions == spill->nboundaries + 1);
	for (i = 0; i < spill->npartitions; i++)
		share += partition_bytes(spill, spill->partitions[i]);
	share /= (uint64) plan_partitions(spill, (double) share);
	for (i = 1; i < spill->npartitions; i++)
	{
		SpillPartition *last = spill->partitions[n];
		SpillPartition *partition = spill->partitions[i];

		if (partition_bytes(spill, last) + partition_bytes(spill, partition) <= share &&
			!divides_nulls(spill, i - 1))
			append_partition(spill, last, partition);
		else
		{
			spill->boundaries[n++] = spill->boundaries[i - 1];
			spill->partitions[n] = partition;
		}
	}
	spill->nboundaries = n;
	spill->npartitions = n + 1;
}

void
spill_extend_boundaries(Spill *spill, const RowStore *store)
{
	SpillSample looks[LOOKS];
	int			n = (int) Min(LOOKS, store->rows);
	int			first;
	int			next;
	int			i;

	for (i = 0; i < n; i++)
	{
		(void) row_store_row(store, i * store->rows / n, &looks[i].key);
		looks[i].tuple = NULL;
	}
	qsort_arg(looks, n, sizeof(SpillSample), compare_samples, spill);
	for (first = 0; first < n; first = next)
	{
		int			number = spill_find_partition(spill, &looks[first].key, 0);

		for (next = first + 1; next < n; next++)
			if (number < spill->nboundaries &&
				spill_is_beyond(spill, &spill->boundaries[number], &looks[next].key, NULL))
				break;
		if (next - first >= LOOKS_FEW)
			extend_partition(spill, number, looks + first, next - first);
	}
}

int
spill_partition_count(const Spill *spill)
{
	return spill->npartitions;
}

const SpillPartition *
spill_partition(const Spill *spill, int number)
{
	return spill->partitions[number];
}

bool
spill_is_single(const Spill *spill, int number)
{
	const SpillPartition *partition = spill->partitions[number];

	return row_key_compare(spill->keys, &partition->lo, &partition->hi) == 0;
}

SpillFile *
spill_get_file(Spill *spill)
{
	return spill->file;
}

void
spill_destroy(Spill *spill)
{
	spill_file_close(spill->file);
	MemoryContextDelete(spill->memory);
}
