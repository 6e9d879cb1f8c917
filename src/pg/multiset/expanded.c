/*
 * expanded.c
 *		A multiset that is being built (see expanded.h).
 */
#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"

#include "pg/multiset/expanded.h"
#include "sort/plan.h"

/*
 * What the multisets of one memory context share.  An arena lives in that context, and its label
 * is the context's identifier, so that the arena is found by its context.
 */
typedef struct Arena
{
	char		label[8];		/* "states", as pg_backend_memory_contexts shows it; the first
								 * member */
	SortContext context;		/* of the sorters of all its multisets */
	MemoryContext memory;		/* which the arena is in */
	char	   *fresh;			/* room for multisets that are not made yet ... */
	int			nfresh;			/* ... and how many they are */
	int			batch;			/* to be allocated at once */
} Arena;

/*
 * Names of memory contexts, which are compared as pointers: of an arena of many multisets, and
 * of one.
 */
static const char shared_name[] = "hpsort multisets";
static const char own_name[] = "hpsort multiset";

/*
 * How many multisets are allocated at once, at most.  One by one each would take a power of two,
 * to which memory contexts round, and would not begin where MULTISET_LINE_OFFSET wants it to.
 */
#define MOST_FRESH 64
#define MULTISET_SIZE TYPEALIGN(MULTISET_CACHE_LINE, sizeof(ExpandedMultiset))

/*
 * How many contexts below the aggregate's are searched for the arena, which is the first one
 * unless others were made later, for other expanded objects for instance.  Where there are many
 * contexts, another arena for each few of them does not count.
 */
#define MOST_LOOKED_AT 16

/* Up to how many keys of a multiset are put into the sorter one by one, instead of as runs. */
#define FEW_KEYS 256

/* Runs that are taken from a sorter at once. */
#define TAKEN (8 * MULTISET_BLOCK_RUNS)

/*
 * Makes an arena in a new memory context below parent. partial: its multisets are states that
 * another process will combine.
 */
static Arena *
make_arena(MemoryContext parent, const char *name, Size minimum, Size initial, Size maximum,
		   bool partial)
{
	MemoryContext memory = AllocSetContextCreateInternal(parent, name, minimum, initial, maximum);
	Arena	   *arena = (Arena *) MemoryContextAllocZero(memory, sizeof(Arena));

	strlcpy(arena->label, "states", sizeof(arena->label));
	MemoryContextSetIdentifier(memory, arena->label);
	arena->memory = memory;
	arena->batch = 1;

	/*
	 * A partial state is put in order in the process that makes it, which may be one that can use
	 * no GPU.
	 */
	if (partial)
		pg_sort_context_lenient(&arena->context, memory, false);
	else
		pg_sort_context(&arena->context, memory);
	return arena;
}

/* Returns the arena of an aggregate's context, found by its name, which the first call makes. */
static Arena *
aggregate_arena(FunctionCallInfo fcinfo, MemoryContext aggcontext)
{
	MemoryContext child = aggcontext->firstchild;

	for (int i = 0; child != NULL && i < MOST_LOOKED_AT; i++, child = child->nextchild)
		if (child->name == shared_name)
			return (Arena *) child->ident;

	return make_arena(aggcontext, shared_name, ALLOCSET_DEFAULT_SIZES,
					  IsA(fcinfo->context, AggState) &&
					  DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit));
}

/* Multisets are allocated in batches, which double up to MOST_FRESH. */
ExpandedMultiset *
multiset_expanded_make(FunctionCallInfo fcinfo)
{
	MemoryContext aggcontext;
	Arena	   *arena;
	ExpandedMultiset *expanded;

	if (AggCheckCallContext(fcinfo, &aggcontext))
		arena = aggregate_arena(fcinfo, aggcontext);
	else
		arena = make_arena(CurrentMemoryContext, own_name, ALLOCSET_SMALL_SIZES, false);
	if (arena->nfresh == 0)
	{
		char	   *room = MemoryContextAlloc(arena->memory,
											  arena->batch * MULTISET_SIZE + MULTISET_CACHE_LINE);

		arena->fresh = (char *) TYPEALIGN(MULTISET_CACHE_LINE, room + MULTISET_LINE_OFFSET) -
			MULTISET_LINE_OFFSET;
		arena->nfresh = arena->batch;
		arena->batch = Min(arena->batch * 2, MOST_FRESH);
	}
	expanded = (ExpandedMultiset *) arena->fresh;
	arena->fresh += MULTISET_SIZE;
	arena->nfresh--;

	EOH_init_header(&expanded->header, &multiset_expanded_methods, arena->memory);
	expanded->levels = NULL;
	sorter_init(&expanded->sorter, &arena->context, PG_INT32_MIN, PG_INT32_MAX);
	expanded->flat = NULL;
	return expanded;
}

/* Frees the flat value, if there is one. */
static void
forget_flat(ExpandedMultiset *expanded)
{
	if (expanded->flat != NULL)
		pfree(expanded->flat);
	expanded->flat = NULL;
}

/* --- adding */

void
multiset_expanded_flush(ExpandedMultiset *expanded)
{
	SortError	err;

	pg_sort_check(sorter_flush(&expanded->sorter, &err), &err);
}

/* Returns the levels of a multiset, which the first call makes in the memory of its sorter. */
static RunLevels *
levels_of(ExpandedMultiset *expanded)
{
	if (expanded->levels == NULL)
		expanded->levels = run_levels_make(&expanded->sorter.context->allocator);
	return expanded->levels;
}

/* Returns how many keys a multiset has: of its sorter and of its levels. */
static uint64
total_of(const ExpandedMultiset *expanded)
{
	return sorter_count(&expanded->sorter) + (expanded->levels ? expanded->levels->total : 0);
}

/* Raises an error if there would be more keys, with more added, than a count can be. */
static void
check_total(const ExpandedMultiset *expanded, uint64 more)
{
	if (more > PG_INT64_MAX - total_of(expanded))
		multiset_bigint_error();
}

void
multiset_expanded_put_run(ExpandedMultiset *expanded, int32 key, uint64 count)
{
	if (count == 1)
	{
		multiset_expanded_put(expanded, key);
		return;
	}
	check_total(expanded, count);
	run_levels_put(levels_of(expanded), key, count);
}

/*
 * Decodes the runs of a reader, which is before its first block, into a new list, and closes the
 * reader.  Returns the list, which is of the allocator.
 */
static Runs
decode_runs(MultisetReader *reader, const SortAllocator *allocator)
{
	Runs		runs = run_levels_room(reader->m.len, allocator);

	for (; multiset_reader_next(reader); runs.len += reader->block.n)
	{
		memcpy(runs.keys + runs.len, reader->block.keys, reader->block.n * sizeof(int32));
		memcpy(runs.counts + runs.len, reader->block.counts, reader->block.n * sizeof(uint64));
	}
	multiset_reader_close(reader);
	return runs;
}

/* Puts the keys of a reader at its begin into the sorter, and closes the reader. */
static void
add_few(ExpandedMultiset *expanded, MultisetReader *reader)
{
	while (multiset_reader_next(reader))
		for (uint32 i = 0; i < reader->block.n; i++)
			for (uint64 n = 0; n < reader->block.counts[i]; n++)
				multiset_expanded_put(expanded, reader->block.keys[i]);
	multiset_reader_close(reader);
}

/* Whether a histogram over these runs, at least one, pays, so that the sorter takes them. */
static bool
suits_histogram(const Runs *runs)
{
	return plan_fills_dense(4 * (uint64) runs->len,
							plan_range(runs->keys[0], runs->keys[runs->len - 1]),
							SORT_ALGORITHM_AUTO);
}

/* A few keys, and runs that lie close, go into the sorter; other runs become a level. */
void
multiset_expanded_add(ExpandedMultiset *expanded, Datum datum)
{
	const SortAllocator *allocator = &expanded->sorter.context->allocator;
	MultisetReader reader;
	Runs		runs;
	SortError	err;

	multiset_reader_open(&reader, datum);
	check_total(expanded, reader.m.total);
	if (reader.m.total <= FEW_KEYS)
	{
		add_few(expanded, &reader);
		return;
	}
	runs = decode_runs(&reader, allocator);
	if (!suits_histogram(&runs))
	{
		run_levels_add(levels_of(expanded), &runs, reader.m.total);
		return;
	}
	pg_sort_check(sorter_add_runs(&expanded->sorter, runs.keys, runs.counts, runs.len, &err), &err);
	runs_release(&runs, allocator);
}

/* Adds the runs of a datum to levels; with subtract, takes them away. */
static void
change_levels(RunLevels *levels, Datum datum, bool subtract)
{
	MultisetReader reader;
	Runs		runs;

	multiset_reader_open(&reader, datum);
	runs = decode_runs(&reader, levels->allocator);
	if (subtract)
	{
		run_levels_subtract(levels, &runs);
		runs_release(&runs, levels->allocator);
	}
	else
		run_levels_add(levels, &runs, reader.m.total);
}

void
multiset_expanded_move(ExpandedMultiset *expanded, Datum datum, bool subtract)
{
	RunLevels  *levels = levels_of(expanded);

	/* Keys can be taken away from runs only. */
	if (sorter_count(&expanded->sorter) > 0)
	{
		bytea	   *value = multiset_sorter_flat(&expanded->sorter);

		sorter_reset(&expanded->sorter);
		change_levels(levels, PointerGetDatum(value), false);
		pfree(value);
	}
	change_levels(levels, datum, subtract);
	/* The flat value is taken for current while the total stays the same. */
	forget_flat(expanded);
}

/* --- reading */

bytea *
multiset_sorter_flat(Sorter *sorter)
{
	MultisetBuilder builder;
	SorterCursor cursor;
	int32		keys[TAKEN];
	uint64		counts[TAKEN];
	size_t		got;
	SortError	err;

	multiset_builder_begin(&builder);
	pg_sort_check(sorter_finish(sorter, SORT_WANT_RUNS, &err), &err);
	pg_sort_check(sorter_open_cursor(sorter, false, &cursor, &err), &err);
	do
	{
		pg_sort_check(sorter_cursor_runs(&cursor, keys, counts, TAKEN, &got, &err), &err);
		multiset_builder_add(&builder, keys, counts, got);
	} while (got == TAKEN);
	return multiset_builder_end(&builder);
}

/* Where there are runs and keys, the runs go into the sorter, which puts both in order. */
bytea *
multiset_expanded_flat(ExpandedMultiset *expanded)
{
	const Runs *runs = expanded->levels ? run_levels_finish(expanded->levels) : NULL;
	SortStatus	status;
	SortError	err;

	if (runs == NULL)
		return multiset_sorter_flat(&expanded->sorter);
	if (sorter_count(&expanded->sorter) > 0)
	{
		status = sorter_add_runs(&expanded->sorter, runs->keys, runs->counts, runs->len, &err);

		/*
		 * The error of an interrupt may come with success.  What was added must not be added once
		 * more.
		 */
		if (status == SORT_OK)
			run_levels_empty(expanded->levels);
		pg_sort_check(status, &err);
		return multiset_sorter_flat(&expanded->sorter);
	}
	return run_levels_flat(expanded->levels);
}

/* EOM_get_flat_size: makes the flat value, which is most of the work, and keeps it. */
static Size
get_flat_size(ExpandedObjectHeader *header)
{
	ExpandedMultiset *expanded = (ExpandedMultiset *) header;

	if (expanded->flat == NULL || expanded->flat_total != total_of(expanded))
	{
		MemoryContext old;

		forget_flat(expanded);
		old = MemoryContextSwitchTo(header->eoh_context);
		expanded->flat = multiset_expanded_flat(expanded);
		MemoryContextSwitchTo(old);
		expanded->flat_total = total_of(expanded);
	}
	return VARSIZE(expanded->flat);
}

/* EOM_flatten_into: copies the flat value.  PostgreSQL always calls get_flat_size first. */
static void
flatten_into(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	ExpandedMultiset *expanded = (ExpandedMultiset *) header;

	Assert(expanded->flat != NULL && allocated_size == VARSIZE(expanded->flat));
	memcpy(result, expanded->flat, allocated_size);
	/* A worker returns each of its groups once, so that the flat value is not wanted again. */
	forget_flat(expanded);
}

const ExpandedObjectMethods multiset_expanded_methods = {get_flat_size, flatten_into};
