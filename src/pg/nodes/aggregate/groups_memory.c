/*
 * groups_memory.c
 *		The memory of a HpSort Aggregate node: who gets which share of it, and what is held.
 *
 * A taker that comes late is lent its share by the aggregation, whose limit is lower from then on.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

bool
groups_may_be_refused(const GroupsState *node)
{
	if (!node->unordered || node->ngroups == 0 || node->states || node->core || node->sets ||
		(node->parallel.shared && !node->parallel.partial) ||
		(node->sources.handler && node->sources.handler->rows))
		return false;
	for (int s = 0; s < node->nvalue_sources; s++)
		if (node->value_sources[s].runs)
			return false;
	return true;
}

void
groups_memory_begin(GroupsState *node)
{
	MemoryTakers takers = {
		.core = node->core != NULL,
		.sets = node->sets != NULL,
		.exchange = node->parallel.shared && !node->parallel.partial && !node->states,
		.lookup = node->lookup != NULL,
		.dimensions = groups_star_memory(node)
	};

	for (int i = 0; i < node->derived.n; i++)
	{
		takers.memos += derived_has_memo(node->derived.columns[i]);
		takers.dictionaries += derived_has_numbers(node->derived.columns[i]);
	}
	for (int i = 0; i < node->sources.ncolumns && node->images; i++)
	{
		takers.dictionaries += node->images[i].dictionary != NULL;
		takers.datum_buffers += node->images[i].make != NULL;
	}
	takers.spills = (takers.dictionaries > 0 || takers.core) + groups_may_be_refused(node) +
		(node->star.ncells > 1);
	for (int i = 0; i < node->nvalue_sources; i++)
		takers.spills += node->source_domains[i].dictionary != NULL;
	node->budget = memory_budget_make(&takers);
	node->lent = 0;
}

size_t
groups_memory_of_rows(const GroupsState *node)
{
	return node->budget.aggregation - node->lent;
}

void
groups_memory_lend(GroupsState *node, size_t share)
{
	node->lent += share;
	Assert(node->lent <= node->budget.aggregation);
	aggregation_limit_memory(node->aggregation, groups_memory_of_rows(node));
}

void
groups_memory_return(GroupsState *node, size_t share)
{
	Assert(node->lent >= share);
	node->lent -= share;
	aggregation_limit_memory(node->aggregation, groups_memory_of_rows(node));
}

/* Returns the bytes that the node holds of an execution. */
static size_t
held(const GroupsState *node)
{
	size_t		bytes = MemoryContextMemAllocated(node->memory, true) + groups_star_memory(node);

	if (node->core)
		bytes += core_aggregates_memory(node->core);
	if (node->parallel.exchange)
		bytes += groups_exchange_memory(node->parallel.exchange);
	for (int i = 0; i < node->sources.ncolumns && node->images; i++)
		if (node->images[i].make)
			bytes += datum_buffer_memory(node->images[i].arg);
	return bytes;
}

void
groups_memory_note(GroupsState *node, size_t rows)
{
	size_t		now = MemoryContextMemAllocated(node->rows_memory, true);

	node->done.totals.memory = Max(node->done.totals.memory,
								   held(node) + Max(rows, now) - now);
}
