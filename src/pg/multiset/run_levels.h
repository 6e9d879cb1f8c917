/*
 * run_levels.h
 *		Many lists of runs as one, without merging a long list for each short one.
 *
 * Lists are kept in levels, each more than twice as long as the next: a list that is
 * added is merged with those that are not, so that n runs of k lists take about
 * n log k steps, and where lists have the same keys the levels do not grow.  Runs in
 * any order wait until there are enough of them to make a list.
 */
#ifndef HPSORT_PG_MULTISET_RUN_LEVELS_H
#define HPSORT_PG_MULTISET_RUN_LEVELS_H

#include "postgres.h"

#include "sort/runs.h"

/* A run that waits. */
typedef struct WaitingRun
{
	int32		key;
	uint64		count;
} WaitingRun;

/* Most runs that wait: they stay in the first-level cache while they are sorted. */
#define RUN_LEVELS_WAITING 2048

typedef struct RunLevels
{
	const SortAllocator *allocator;
	uint64		total;			/* keys in all, at most PG_INT64_MAX */
	WaitingRun *waiting;
	int			nwaiting;
	int			waiting_room;
	Runs	   *levels;
	int			nlevels;
	int			levels_room;
} RunLevels;

/* Empty, in memory of the allocator's arena, which is a memory context. */
extern RunLevels *run_levels_make(const SortAllocator *allocator);

/* Adds a run; runs may come in any order. */
extern void run_levels_put(RunLevels *levels, int32 key, uint64 count);

/* Adds runs in ascending order, which are copied. */
extern void run_levels_add(RunLevels *levels, const int32 *keys, const uint64 *counts, size_t n);

/* All runs as one list, which is theirs; no level if there are none. */
extern const Runs *run_levels_finish(RunLevels *levels);

/* All runs as a datum, in the current memory context. */
extern bytea *run_levels_flat(RunLevels *levels);

/* Takes runs in ascending order away; an error where a count would be less than 0. */
extern void run_levels_subtract(RunLevels *levels, const int32 *keys, const uint64 *counts,
								size_t n);

/* Forgets all runs. */
extern void run_levels_empty(RunLevels *levels);

#endif							/* HPSORT_PG_MULTISET_RUN_LEVELS_H */
