/*
 * groups_outsized.c
 *		Sums of outsized values, decimals with more digits than integers of their unit
 *		(read/computed.h), by group.
 *
 * The aggregation has counted such a value, and added 0.  They are rare: a sum of them is a numeric
 * of a group that has a number of its own here.  Processes do not exchange these: one of them reads
 * all rows alone.
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

/* Sums by group; all in the memory of derived columns. */
struct OutsizedSums
{
	GroupTable *groups;			/* that have outsized values */
	GroupValues group;			/* room for a row's */
	size_t		room;			/* groups that sums has room for */
	Datum	   *sums;			/* by number of the group, of each by source; 0: there is none */
};

/* Groups that there is room for at first. */
#define FIRST_GROUPS 16

/* Makes the sums of an execution or a pass. */
static OutsizedSums *
make_sums(const GroupsState *node)
{
	OutsizedSums *outsized = palloc0_object(OutsizedSums);

	outsized->groups = group_table_make(node->groups, node->ngroups);
	outsized->group = group_values_make(node->ngroups);
	outsized->room = FIRST_GROUPS;
	outsized->sums = palloc0_array(Datum, outsized->room * node->nvalue_sources);
	return outsized;
}

/* Adds a value to the sum of a source of the group that there is room for. */
static void
add_value(GroupsState *node, int source, Datum value)
{
	OutsizedSums *outsized = node->derived.outsized;
	uint32		number = group_table_find_values(outsized->groups, &outsized->group, true);
	size_t		size = outsized->room * node->nvalue_sources * sizeof(Datum);
	Datum	   *sum;

	if (number == outsized->room)
	{
		outsized->sums = repalloc_huge(outsized->sums, 2 * size);
		memset((char *) outsized->sums + size, 0, size);
		outsized->room *= 2;
	}
	sum = &outsized->sums[(size_t) number * node->nvalue_sources + source];
	if (*sum == (Datum) 0)
		*sum = datumCopy(value, false, -1);
	else
	{
		Datum		before = *sum;

		*sum = DirectFunctionCall2(numeric_add, before, value);
		pfree(DatumGetPointer(before));
	}
}

void
groups_add_outsized(GroupsState *node, const ColumnBatch *batches)
{
	MemoryContext old = MemoryContextSwitchTo(node->derived.memory);

	for (int s = 0; s < node->nvalue_sources; s++)
	{
		const DerivedColumn *derived = node->derived.of_sources[s];
		int			filter = node->value_sources[s].filter;
		const OutsizedValue *values;
		int			n = derived ? derived_outsized(derived, &values) : 0;

		for (int i = 0; i < n; i++)
		{
			if (filter >= 0 && batches[filter].nnulls > 0 && batches[filter].nulls[values[i].row])
				continue;
			if (node->parallel.exchange && !node->sources.alone)
			{
				groups_exchange_give_up(node->parallel.exchange);
				break;
			}
			if (node->derived.outsized == NULL)
				node->derived.outsized = make_sums(node);
			group_values_of_row(node->groups, node->ngroups, batches, values[i].row,
								&node->derived.outsized->group);
			add_value(node, s, values[i].value);
		}
	}
	MemoryContextSwitchTo(old);
}

void
groups_find_outsized(GroupsState *node, const GroupValues *group)
{
	const OutsizedSums *outsized = node->derived.outsized;
	uint32		number = group_table_find_values(outsized->groups, group, false);

	for (int s = 0; number != NO_GROUP && s < node->nvalue_sources; s++)
	{
		const Datum *sum = &outsized->sums[(size_t) number * node->nvalue_sources + s];

		if (*sum != (Datum) 0)
			node->counts[s].summary.outsized = sum;
	}
}
