/*
 * run_levels.c
 *		Many lists of runs as one (see run_levels.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

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

/* Raises the error of memory that the allocator could not get. */
static void
no_memory(void)
{
	SortError	err = {.status = SORT_OUT_OF_MEMORY};

	pg_sort_error(&err);
}

/* Adds to the total of keys.  An error if it is more than a count can be. */
static inline void
count_keys(RunLevels *levels, uint64 count)
{
	if (count > PG_INT64_MAX - levels->total)
		multiset_bigint_error();
	levels->total += count;
}

/* Returns a new level behind the others, without runs but with room for n. */
static Runs *
push_level(RunLevels *levels, size_t n)
{
	Runs	   *level;

	if (levels->nlevels == levels->levels_room)
	{
		int			room = Max(levels->levels_room * 2, FIRST_LEVELS);

		if (levels->levels == NULL)
			levels->levels = (Runs *) MemoryContextAlloc((MemoryContext) levels->allocator->arena,
														 room * sizeof(Runs));
		else
			levels->levels = (Runs *) repalloc(levels->levels, room * sizeof(Runs));
		levels->levels_room = room;
	}
	level = &levels->levels[levels->nlevels];
	memset(level, 0, sizeof(*level));
	if (!runs_reserve(level, n, levels->allocator))
		no_memory();
	levels->nlevels++;
	return level;
}

/* Appends the runs of a list from one on to out, which has room for them. */
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
	Runs		out = {0};
	size_t		i = 0;
	size_t		j = 0;

	if (!runs_reserve(&out, a->len + b->len, levels->allocator))
		no_memory();
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

/* Merges last levels until each level is more than twice as long as the next. */
static void
restore_levels(RunLevels *levels)
{
	while (levels->nlevels > 1 &&
		   levels->levels[levels->nlevels - 2].len <= 2 * levels->levels[levels->nlevels - 1].len)
		merge_last(levels);
}

/* Sorts the runs that wait, and makes them the last level. */
static void
flush_waiting(RunLevels *levels)
{
	Runs	   *level;
	int			i;

	if (levels->nwaiting == 0)
		return;
	sort_waiting(levels->waiting, levels->nwaiting);
	level = push_level(levels, levels->nwaiting);
	for (i = 0; i < levels->nwaiting; i++)
	{
		if (level->len > 0 && level->keys[level->len - 1] == levels->waiting[i].key)
			level->counts[level->len - 1] += levels->waiting[i].count;
		else
			runs_append(level, levels->waiting[i].key, levels->waiting[i].count);
	}
	levels->nwaiting = 0;
	restore_levels(levels);
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
			int			room = Max(levels->waiting_room * 2, FIRST_WAITING);

			if (levels->waiting == NULL)
				levels->waiting =
					(WaitingRun *) MemoryContextAlloc((MemoryContext) levels->allocator->arena,
													  room * sizeof(WaitingRun));
			else
				levels->waiting = (WaitingRun *) repalloc(levels->waiting,
														  room * sizeof(WaitingRun));
			levels->waiting_room = room;
		}
	}
	levels->waiting[levels->nwaiting].key = key;
	levels->waiting[levels->nwaiting++].count = count;
}

void
run_levels_add(RunLevels *levels, const int32 *keys, const uint64 *counts, size_t n)
{
	Runs	   *level;
	size_t		i;

	if (n == 0)
		return;
	for (i = 0; i < n; i++)
		count_keys(levels, counts[i]);
	level = push_level(levels, n);
	memcpy(level->keys, keys, n * sizeof(int32));
	memcpy(level->counts, counts, n * sizeof(uint64));
	level->len = n;
	restore_levels(levels);
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
run_levels_subtract(RunLevels *levels, const int32 *keys, const uint64 *counts, size_t n)
{
	Runs	   *runs;
	size_t		from = 0;
	size_t		to = 0;
	size_t		i;

	if (n == 0)
		return;
	run_levels_finish(levels);
	if (levels->nlevels == 0)
		multiset_fewer_error(counts[0], keys[0]);
	runs = levels->levels;
	for (i = 0; i < n; i++)
	{
		/* Runs that stay move down to the places of runs that do not. */
		while (from < runs->len && runs->keys[from] < keys[i])
		{
			runs->keys[to] = runs->keys[from];
			runs->counts[to++] = runs->counts[from++];
		}
		if (from == runs->len || runs->keys[from] != keys[i] || runs->counts[from] < counts[i])
			multiset_fewer_error(counts[i], keys[i]);
		if (runs->counts[from] > counts[i])
		{
			runs->keys[to] = keys[i];
			runs->counts[to++] = runs->counts[from] - counts[i];
		}
		from++;
		levels->total -= counts[i];
	}
	memmove(runs->keys + to, runs->keys + from, (runs->len - from) * sizeof(int32));
	memmove(runs->counts + to, runs->counts + from, (runs->len - from) * sizeof(uint64));
	runs->len -= from - to;
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
