/*
 * run_levels.h
 *		Many lists of runs as one, without merging a long list for each short one.
 *
 * Lists are kept in levels, each more than twice as long as the next.  A list that is
 * added becomes the last level, and is merged with the level before it until that holds
 * again.  So n runs of k lists take about n log k steps, and levels of equal keys do not
 * grow.  Runs that come one at a time, in any order, wait until they are enough for a list.
 */
#ifndef HPSORT_PG_MULTISET_RUN_LEVELS_H
#define HPSORT_PG_MULTISET_RUN_LEVELS_H

#include "sort/runs/runs.h"

/* A run that waits to be part of a list. */
typedef struct WaitingRun
{
	int32		key;
	uint64		count;
} WaitingRun;

/* How many runs may wait: they stay in the first-level cache while they are sorted. */
#define RUN_LEVELS_WAITING 2048

/* Lists of runs that are one, by their total. */
typedef struct RunLevels
{
	const SortAllocator *allocator;
	uint64		total;			/* keys in all, at most PG_INT64_MAX */
	WaitingRun *waiting;		/* runs that came one at a time, in any order */
	int			nwaiting;		/* at most RUN_LEVELS_WAITING */
	int			waiting_room;	/* runs that waiting has room for */
	Runs	   *levels;			/* lists, each more than twice as long as the next */
	int			nlevels;
	int			levels_room;	/* lists that levels has room for */
} RunLevels;

/* Returns levels without runs, in memory of the allocator's arena, which is a memory context. */
extern RunLevels *run_levels_make(const SortAllocator *allocator);

/* Adds a run; runs may come in any order.  A total that a bigint cannot hold is an error. */
extern void run_levels_put(RunLevels *levels, int32 key, uint64 count);

/* Returns a list without runs but with room for n, in memory of the allocator. */
extern Runs run_levels_room(size_t n, const SortAllocator *allocator);

/* Adds a list of total keys that run_levels_room() has made; it belongs to the levels then. */
extern void run_levels_add(RunLevels *levels, Runs *runs, uint64 total);

/*
 * Merges all runs into one list, which the levels own, and returns it; NULL if there are no
 * runs.
 */
extern const Runs *run_levels_finish(RunLevels *levels);

/* Returns all runs as a datum, in the current memory context. */
extern bytea *run_levels_flat(RunLevels *levels);

/*
 * Takes the runs of a list, which stays the caller's, away.  A count that would be less than 0 is
 * an error, after which the levels cannot be used.
 */
extern void run_levels_subtract(RunLevels *levels, const Runs *minus);

/* Forgets all runs, and frees the lists.  Runs may be added afterwards. */
extern void run_levels_empty(RunLevels *levels);

#endif							/* HPSORT_PG_MULTISET_RUN_LEVELS_H */
