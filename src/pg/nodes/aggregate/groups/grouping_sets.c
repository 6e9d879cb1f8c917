/*
 * grouping_sets.c
 *		GroupingSets: the groups of ROLLUP, CUBE and GROUPING SETS, set by set (see
 *		grouping_sets.h).
 *
 * Level 0 has all grouping columns; each set is a level behind all levels with more columns.  A
 * level other than the first is made of the smallest level before it that has all of its columns.
 * Levels are read in this order.  What is read of a level is added to all levels that are made of
 * it, which begin when the level is opened, since its ranges are known then.
 *
 * The first level, where it is none of the sets, is read for the other levels only.
 *
 * Where a set cannot be made of another one, its level is made of rows, and no other of it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/grouping_sets.h"
#include "pg/sort_context.h"

typedef struct Level
{
	bool		returned;		/* it is one of the sets */
	int			finer;			/* number of the level of which it is made; -1: of rows */
	int			ncolumns;
	GroupColumn *columns;
	int		   *of_node;		/* by column: its index among all grouping columns */
	int		   *of_finer;		/* by column: its index in the finer level */
	bool	   *has;			/* by index among all grouping columns: the level has it */

	/* of an execution */
	Aggregation *aggregation;	/* NULL: not begun, or ended */
	MemoryContext memory;		/* of the aggregation; NULL: the caller's */
	SortContext context;		/* which allocates there */
} Level;

struct GroupingSets
{
	GroupReader reader;			/* first, because a reader is cast to its sets */
	int			ncolumns;		/* all grouping columns */
	const GroupColumn *columns;
	int			nsources;
	const ValueSource *sources;
	int			nlevels;
	Level	   *levels;

	/* of an execution */
	MemoryContext memory;
	size_t		memory_limit;	/* bytes of a level that is made of another one */
	int			at;				/* the level being read */
	int			last;			/* the last one that is made of the rows that have been read */
	int			counted;		/* the level whose rows are counted */
	GroupReader *inner;			/* of its groups; NULL: it has not been opened */
	const GroupValues *of_level;	/* the group being read, of the level's columns ... */
	GroupValues group;			/* ... and of all columns */
	GroupingSetsTotals totals;	/* so far; rows are of the level that is counted */
};

/* Whether a level has all columns of another one. */
static bool
includes(const GroupingSets *sets, const Level *level, const Level *other)
{
	for (int c = 0; c < sets->ncolumns; c++)
		if (other->has[c] && !level->has[c])
			return false;
	return true;
}

/* Fills in the level behind the last one, with the columns of a list, and counts it. */
static void
add_level(GroupingSets *sets, const List *columns, bool returned)
{
	Level	   *level = &sets->levels[sets->nlevels];
	const Level *finer;

	level->returned = returned;
	level->finer = -1;
	level->has = palloc0_array(bool, sets->ncolumns);
	level->columns = palloc_array(GroupColumn, sets->ncolumns);
	level->of_node = palloc_array(int, sets->ncolumns);
	level->of_finer = palloc0_array(int, sets->ncolumns);
	foreach_int(column, columns)
		level->has[column] = true;
	for (int c = 0; c < sets->ncolumns; c++)
		if (level->has[c])
		{
			level->columns[level->ncolumns] = sets->columns[c];
			level->of_node[level->ncolumns++] = c;
		}
	/* Levels are in the order of their sizes: the last one that includes it is the smallest. */
	for (int l = 0; l < sets->nlevels; l++)
		if (includes(sets, &sets->levels[l], level))
			level->finer = l;
	sets->nlevels++;
	if (level->finer < 0)
		return;
	finer = &sets->levels[level->finer];
	for (int c = 0; c < level->ncolumns; c++)
		for (int f = 0; f < finer->ncolumns; f++)
			if (finer->of_node[f] == level->of_node[c])
				level->of_finer[c] = f;
}

GroupingSets *
grouping_sets_make(const GroupColumn *columns, int ncolumns, const ValueSource *sources,
				   int nsources, const List *sets)
{
	GroupingSets *result = palloc0_object(GroupingSets);
	List	   *all = NIL;
	bool		first = true;

	result->columns = columns;
	result->ncolumns = ncolumns;
	result->sources = sources;
	result->nsources = nsources;
	result->group = group_values_make(ncolumns);
	result->levels = palloc0_array(Level, list_length(sets) + 1);
	for (int n = 0; n < ncolumns; n++)
		all = lappend_int(all, n);
	foreach_ptr(List, set, sets)
		first &= list_length(set) < ncolumns;
	if (first)
		add_level(result, all, false);
	for (int n = ncolumns; n >= 0; n--)
		foreach_ptr(List, set, sets)
			if (list_length(set) == n)
			add_level(result, set, true);
	list_free(all);
	return result;
}

/* --- an execution */

static void
begin_level(GroupingSets *sets, Level *level, const Aggregation *finer)
{
	MemoryContext old;

	level->memory = AllocSetContextCreate(sets->memory, "HpSort Aggregate grouping set",
										  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(level->memory);
	pg_sort_context_lenient(&level->context, level->memory, true);
	level->aggregation = aggregation_make_coarser(finer, &level->context, level->columns,
												  level->of_finer, level->ncolumns,
												  sets->memory_limit);
	MemoryContextSwitchTo(old);
}

/* Ends a level that is made of another one; one that is made of rows is the caller's. */
static void
end_level(GroupingSets *sets, Level *level)
{
	if (level->memory)
	{
		sets->totals.disk += aggregation_disk(level->aggregation);
		aggregation_free(level->aggregation);
		MemoryContextDelete(level->memory);
	}
	level->memory = NULL;
	level->aggregation = NULL;
}

/* Begins the levels that are made of the level being read, and opens this one. */
static void
open_level(GroupingSets *sets)
{
	Level	   *level = &sets->levels[sets->at];
	MemoryContext old = MemoryContextSwitchTo(level->memory ? level->memory : sets->memory);

	for (int l = sets->at + 1; l <= sets->last; l++)
		if (sets->levels[l].finer == sets->at)
			begin_level(sets, &sets->levels[l], level->aggregation);
	sets->inner = aggregation_open(level->aggregation);
	MemoryContextSwitchTo(old);
}

/* Sets the group that is returned, of a group of the level being read. */
static void
set_group(GroupingSets *sets, const GroupValues *group)
{
	const Level *level = &sets->levels[sets->at];

	sets->of_level = group;
	for (int c = 0; c < sets->ncolumns; c++)
	{
		sets->group.values[c] = 0;
		sets->group.nulls[c] = true;
	}
	for (int c = 0; c < level->ncolumns; c++)
	{
		sets->group.values[level->of_node[c]] = group->values[c];
		sets->group.nulls[level->of_node[c]] = group->nulls[c];
	}
}

/* Reads counts and runs of the current group for the levels that are made of this one. */
static void
pass_on(GroupingSets *sets)
{
	const int64 *values;
	const int64 *run_counts;
	SourceCounts counts;

	for (int s = 0; s < sets->nsources; s++)
	{
		sets->reader.methods->count(&sets->reader, s, &counts);
		while (sets->sources[s].runs &&
			   sets->reader.methods->runs(&sets->reader, s, &values, &run_counts) > 0)
			;
	}
}

static bool
next_group(GroupReader *reader, const GroupValues **group, int64 *rows)
{
	GroupingSets *sets = (GroupingSets *) reader;

	while (sets->at <= sets->last)
	{
		Level	   *level = &sets->levels[sets->at];
		const GroupValues *inner;

		CHECK_FOR_INTERRUPTS();
		if (sets->inner == NULL)
			open_level(sets);
		if (!sets->inner->methods->next(sets->inner, &inner, rows))
		{
			sets->totals.memory = Max(sets->totals.memory,
									  MemoryContextMemAllocated(sets->memory, true));
			end_level(sets, level);
			sets->inner = NULL;
			sets->at++;
			continue;
		}
		if (sets->at == sets->counted)
			sets->totals.rows += *rows;
		for (int l = sets->at + 1; l <= sets->last; l++)
			if (sets->levels[l].finer == sets->at)
				aggregation_add_group(sets->levels[l].aggregation, inner, *rows);
		if (level->returned)
		{
			set_group(sets, inner);
			*group = &sets->group;
			return true;
		}
		pass_on(sets);
	}
	return false;
}

static void
count_values(GroupReader *reader, int source, SourceCounts *counts)
{
	GroupingSets *sets = (GroupingSets *) reader;

	sets->inner->methods->count(sets->inner, source, counts);
	for (int l = sets->at + 1; l <= sets->last; l++)
		if (sets->levels[l].finer == sets->at)
			aggregation_add_counts(sets->levels[l].aggregation, source, counts);
}

static size_t
next_runs(GroupReader *reader, int source, const int64 **values, const int64 **run_counts)
{
	GroupingSets *sets = (GroupingSets *) reader;
	size_t		n = sets->inner->methods->runs(sets->inner, source, values, run_counts);

	for (int l = sets->at + 1; n > 0 && l <= sets->last; l++)
		if (sets->levels[l].finer == sets->at)
			aggregation_add_group_runs(sets->levels[l].aggregation, source, *values, *run_counts,
									   n);
	return n;
}

static const GroupReaderMethods grouping_sets_methods = {
	.next = next_group,
	.count = count_values,
	.runs = next_runs,
};

void
grouping_sets_begin(GroupingSets *sets)
{
	memset(&sets->totals, 0, sizeof(sets->totals));
}

int
grouping_sets_next(const GroupingSets *sets, int set)
{
	do
		set++;
	while (set < sets->nlevels && !sets->levels[set].returned);
	return set < sets->nlevels ? set : -1;
}

bool
grouping_sets_has(const GroupingSets *sets, int set, int column)
{
	return sets->levels[set].has[column];
}

const GroupColumn *
grouping_sets_columns(const GroupingSets *sets, int set, int *n)
{
	*n = sets->levels[set].ncolumns;
	return sets->levels[set].columns;
}

const GroupValues *
grouping_sets_group(const GroupingSets *sets)
{
	return sets->of_level;
}

GroupReader *
grouping_sets_open(GroupingSets *sets, int set, Aggregation *aggregation, MemoryContext memory,
				   size_t memory_limit)
{
	sets->reader.methods = &grouping_sets_methods;
	sets->memory = memory;
	sets->memory_limit = memory_limit / Max(sets->nlevels - 1, 1);
	sets->at = set >= 0 ? set : 0;
	sets->last = set >= 0 ? set : sets->nlevels - 1;
	sets->counted = set >= 0 ? sets->nlevels - 1 : 0;
	sets->inner = NULL;
	sets->levels[sets->at].aggregation = aggregation;
	open_level(sets);
	return &sets->reader;
}

void
grouping_sets_close(GroupingSets *sets)
{
	for (int l = 0; l < sets->nlevels; l++)
		end_level(sets, &sets->levels[l]);
	sets->at = sets->last + 1;
}

int32
grouping_sets_grouping(const GroupingSets *sets, const List *columns)
{
	int32		result = 0;

	foreach_int(column, columns)
		result = result << 1 | (sets->levels[sets->at].has[column] ? 0 : 1);
	return result;
}

const GroupingSetsTotals *
grouping_sets_totals(const GroupingSets *sets)
{
	return &sets->totals;
}
