/*
 * memory_budget.h
 *		MemoryBudget: which part of its memory each part of a HpSort Aggregate node may hold.
 *
 * An execution divides hash_mem once, and the planner divides it the same way for what it
 * estimates.  Takers of which a query has none get nothing, and the aggregation gets what the
 * others leave.
 *
 * Two takers may come late, or never: rows for a look-up on the GPU, and files of rows for which
 * there is no memory.  Their shares are a part of the aggregation's, which has them until then.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_MEMORY_BUDGET_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_MEMORY_BUDGET_H

/* Who takes part. */
typedef struct MemoryTakers
{
	int			memos;			/* expressions whose results are remembered */
	int			dictionaries;	/* of groups, of expressions and of aggregates' values */
	int			datum_buffers;	/* columns whose values are copied batch by batch */
	bool		core;			/* states of core's functions */
	bool		sets;			/* grouping sets that are made of others */
	bool		exchange;		/* blocks of groups for other processes, in shared memory */
	size_t		dimensions;		/* bytes of the lookups of star joins, which are there already */
	bool		lookup;			/* rows and groups of a look-up on the GPU may come */
	int			spills;			/* files of rows may come, for so many reasons */
} MemoryTakers;

/* Bytes of each taker of a name; 0: there is none. */
typedef struct MemoryBudget
{
	size_t		limit;			/* of all but dimensions, which may have half */
	size_t		memo;
	size_t		dictionary;
	size_t		datum_buffer;
	size_t		core;
	size_t		sets;			/* of all sets that are made of others */
	size_t		exchange;
	size_t		aggregation;	/* arrays by group, and pairs of group and value */
	size_t		lookup;			/* of the aggregation's, from its first rows on */
	size_t		spill;			/* of the aggregation's, from its first row on */
} MemoryBudget;

/* Parts of the aggregation's memory that arrays by group may take, where values are put in order
 * and elsewhere. */
#define ARRAYS_PART_BESIDE_RUNS	0.5
#define ARRAYS_PART				0.75

/* Divides hash_mem. */
extern MemoryBudget memory_budget_make(const MemoryTakers *takers);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_MEMORY_BUDGET_H */
