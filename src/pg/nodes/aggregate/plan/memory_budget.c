/*
 * memory_budget.c
 *		Dividing the memory of a HpSort Aggregate node (see memory_budget.h).
 *
 * A taker that needs some bytes in order to work at all (a sorter, files of rows, the first value
 * of a dictionary) takes these where its share is smaller, which is so below some megabytes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"

#include "pg/nodes/aggregate/plan/memory_budget.h"

/*
 * Parts of the limit.  A batch's values of 24 bytes are within a share of DATUMS_PART at 4 MB of
 * work_mem, and batches with fewer rows take no longer.  Files of SPILL_PART have buffers and
 * arrays for each of 32 partitions there.
 */
#define MEMOS_PART		4
#define DATUMS_PART		32
#define MOST_DATUMS		(1024 * 1024)
#define SPILL_PART		16

/*
 * The most blocks of groups in shared memory, unless temporary files are limited.  More blocks are
 * faster in a file, which the kernel keeps in memory as well: it gives each process its pages at
 * once, where dynamic shared memory is made larger under a lock.
 */
#define MOST_SHARED		(1024 * 1024)

MemoryBudget
memory_budget_make(const MemoryTakers *takers)
{
	MemoryBudget budget = {.limit = get_hash_memory_limit()};
	size_t		rest;

	budget.limit -= Min(takers->dimensions, budget.limit / 2);
	rest = budget.limit;
	if (takers->memos > 0)
		budget.memo = budget.limit / MEMOS_PART / takers->memos;
	if (takers->dictionaries > 0)
		budget.dictionary = budget.limit / (takers->memos > 0 ? 4 : 2) / takers->dictionaries;
	if (takers->datum_buffers > 0)
		budget.datum_buffer = Min(budget.limit / DATUMS_PART / takers->datum_buffers, MOST_DATUMS);
	rest -= budget.memo * takers->memos + budget.dictionary * takers->dictionaries +
		budget.datum_buffer * takers->datum_buffers;
	if (takers->core)
		budget.core = rest / 2;
	rest -= budget.core;
	if (takers->sets)
		budget.sets = rest / 2;
	else if (takers->exchange)
		budget.exchange = temp_file_limit < 0 ? Min(rest / 2, MOST_SHARED) : rest / 2;
	budget.aggregation = rest - budget.sets - budget.exchange;
	if (takers->lookup)
		budget.lookup = budget.aggregation / 2;
	if (takers->spills > 0)
		budget.spill = Min(budget.limit / SPILL_PART, budget.aggregation / 4 / takers->spills);
	Assert(budget.memo * takers->memos + budget.dictionary * takers->dictionaries +
		   budget.datum_buffer * takers->datum_buffers + budget.core + budget.sets +
		   budget.exchange + budget.aggregation <= budget.limit);
	Assert(budget.lookup + budget.spill * takers->spills <= budget.aggregation);
	return budget;
}
