/*
 * run_levels.c
 *		Many lists of runs as one (see run_levels.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/multiset/run_levels.h"
#include "pg/multiset/value.h"

/* Room for runs that wait, and for levels, at first. */
#define FIRST_WAITING 16
#define FIRST_LEVELS 4

/* How many runs are merged between two looks for interrupts. */
#define MERGED_AT_ONCE ((size_t) 1 << 20)

#define ST_SORT sort_waiting
#define ST_ELEMENT_TYPE WaitingRun
#define ST_COMPARE(a, b) (((a)->key > (b)->key) - ((a)->key < (b)->key))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

RunLevels *
run_levels_make(const SortAllocator *allocator)
{
	RunLevels  *levels = (RunLevels *) MemoryContextAllocZero((MemoryContext) allocator->arena,
															  sizeof(RunLevels));

	levels->allocator = allocator;
	return levels;
}

Runs
run_levels_room(size_t n, const SortAllocator *allocator)
{
	SortError	err = {.status = SORT_OUT_OF_MEMORY};
	Runs		runs = {0};

	if (!runs_reserve(&runs, n, allocator))
		pg_sort_error(&err);
	return runs;
}

/* Adds to the total of keys.  A total that is more than a count can be is an error. */
static inline void
count_keys(RunLevels *levels, uint64 count)
{
	if (count > PG_INT64_MAX - levels->total)
		multiset_bigint_error();
	levels->total += count;
}

/* Returns array with room for size bytes, in the levels' memory; NULL becomes a new one. */
static void *
resize(RunLevels *levels, void *array, Size size)
{
	return array ? repalloc(array, size) :
		MemoryContextAlloc((MemoryContext) levels->allocator->arena, size);
}

/* Appends the runs of a list, from number at on, to out, which has room for them. */
static void
copy_runs(const Runs *from, size_t at, Runs *out)
{
	size_t		n = from->len - at;

	if (n == 0)
		return;
	memcpy(out->keys + out->len, from->keys + at, n * sizeof(int32));
	memcpy(out->counts + out->len, from->counts + at, n * sizeof(uint64));
	out->len += n;
}

/* Merges the last level into the level before it. */
static void
merge_last(RunLevels *levels)
{
	Runs	   *a = &levels->levels[levels->nlevels - 2];
	Runs	   *b = &levels->levels[levels->nlevels - 1];
	Runs		out = run_levels_room(a->len + b->len, levels->allocator);
	size_t		i = 0;
	size_t		j = 0;

	while (i < a->len && j < b->len)
	{
		CHECK_FOR_INTERRUPTS();
		runs_add_up(a, &i, b, &j, &out, MERGED_AT_ONCE);
	}
	copy_runs(a, i, &out);
	copy_runs(b, j, &out);
	runs_release(a, levels->allocator);
	runs_release(b, levels->allocator);
	*a = out;
	levels->nlevels--;
}

/*
 * Makes a list the last level.  Merges last levels until each level is more than twice as long as
 * the next.
 */
static void
push_level(RunLevels *levels, const Runs *runs)
{
	if (levels->nlevels == levels->levels_room)
	{
		levels->levels_room = Max(levels->levels_room * 2, FIRST_LEVELS);
		levels->levels = (Runs *) resize(levels, levels->levels,
										 levels->levels_room * sizeof(Runs));
	}
	levels->levels[levels->nlevels++] = *runs;
	while (levels->nlevels > 1 &&
		   levels->levels[levels->nlevels - 2].len <= 2 * levels->levels[levels->nlevels - 1].len)
		merge_last(levels);
}

/* Sorts the runs that wait, adds up equal keys, and makes the list the last level. */
static void
flush_waiting(RunLevels *levels)
{
	Runs		list;

	if (levels->nwaiting == 0)
		return;
	sort_waiting(levels->waiting, levels->nwaiting);
	list = run_levels_room(levels->nwaiting, levels->allocator);
	for (int i = 0; i < levels->nwaiting; i++)
	{
		if (list.len > 0 && list.keys[list.len - 1] == levels->waiting[i].key)
			list.counts[list.len - 1] += levels->waiting[i].count;
		else
			runs_append(&list, levels->waiting[i].key, levels->waiting[i].count);
	}
	levels->nwaiting = 0;
	push_level(levels, &list);
}

void
run_levels_put(RunLevels *levels, int32 key, uint64 count)
{
	count_keys(levels, count);
	if (levels->nwaiting == levels->waiting_room)
	{
		if (levels->waiting_room >= RUN_LEVELS_WAITING)
			flush_waiting(levels);
		else
		{
			levels->waiting_room = Max(levels->waiting_room * 2, FIRST_WAITING);
			levels->waiting = (WaitingRun *) resize(levels, levels->waiting,
													levels->waiting_room * sizeof(WaitingRun));
		}
	}
	levels->waiting[levels->nwaiting].key = key;
	levels->waiting[levels->nwaiting++].count = count;
}

void
run_levels_add(RunLevels *levels, Runs *runs, uint64 total)
{
	if (runs->len == 0)
		return;
	count_keys(levels, total);
	push_level(levels, runs);
}

const Runs *
run_levels_finish(RunLevels *levels)
{
	flush_waiting(levels);
	while (levels->nlevels > 1)
		merge_last(levels);
	return levels->nlevels == 0 ? NULL : levels->levels;
}

void
run_levels_subtract(RunLevels *levels, const Runs *minus)
{
	Runs	   *runs;
	size_t		from = 0;
	size_t		to = 0;

	if (minus->len == 0)
		return;
	run_levels_finish(levels);
	if (levels->nlevels == 0)
		multiset_fewer_error(minus->counts[0], minus->keys[0]);
	runs = levels->levels;
	for (size_t i = 0; i < minus->len; i++)
	{
		int32		key = minus->keys[i];
		uint64		count = minus->counts[i];

		/* Runs that stay move down to the places of runs that do not. */
		while (from < runs->len && runs->keys[from] < key)
		{
			runs->keys[to] = runs->keys[from];
			runs->counts[to++] = runs->counts[from++];
		}
		if (from == runs->len || runs->keys[from] != key || runs->counts[from] < count)
			multiset_fewer_error(count, key);
		if (runs->counts[from] > count)
		{
			runs->keys[to] = key;
			runs->counts[to++] = runs->counts[from] - count;
		}
		from++;
		levels->total -= count;
	}
	runs_delete(runs, to, from);
}

void
run_levels_empty(RunLevels *levels)
{
	while (levels->nlevels > 0)
		runs_release(&levels->levels[--levels->nlevels], levels->allocator);
	levels->nwaiting = 0;
	levels->total = 0;
}

bytea *
run_levels_flat(RunLevels *levels)
{
	const Runs *runs = run_levels_finish(levels);
	MultisetBuilder builder;

	multiset_builder_begin(&builder);
	if (runs != NULL)
		multiset_builder_add(&builder, runs->keys, runs->counts, runs->len);
	return multiset_builder_end(&builder);
}
