/*
 * groups_outsized.c
 *		Sums of outsized values, decimals with more digits than integers of their unit
 *		(read/computed.h), by group.
 *
 * The aggregation has counted such a value, and added 0.  They are rare: a sum of them is a numeric
 * in a hash table, whose key is the group's values.  Processes do not exchange these: one of them
 * reads all rows alone.
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

/* An entry begins with the group's values and NULL marks; sums by source are at its end. */
static Size
key_size(const GroupsState *node)
{
	return MAXALIGN(Max(node->ngroups * (sizeof(int64) + 1), 1));
}

static Datum *
entry_sums(const GroupsState *node, char *entry)
{
	return (Datum *) (entry + key_size(node));
}

/* Puts the value of a grouping column, as batches hold it, into a key, which was zeros. */
static void
put_value(const GroupsState *node, char *key, int group, int64 value, bool isnull)
{
	int64	   *values = (int64 *) key;
	uint8	   *nulls = (uint8 *) (values + node->ngroups);

	nulls[group] = isnull;
	values[group] = isnull ? 0 : value;
}

/* Makes the key of a row's group. */
static void
key_of_row(const GroupsState *node, const ColumnBatch *batches, size_t row, char *key)
{
	int			g;

	memset(key, 0, key_size(node));
	for (g = 0; g < node->ngroups; g++)
	{
		const ColumnBatch *batch = &batches[node->groups[g].column];

		put_value(node, key, g, column_batch_value(batch, row),
				  batch->nnulls > 0 && batch->nulls[row]);
	}
}

/* Adds a value to a group's sum of a source. */
static void
add_value(GroupsState *node, const char *key, int source, Datum value)
{
	MemoryContext old;
	bool		found;
	char	   *entry = hash_search(node->derived.outsized, key, HASH_ENTER, &found);
	Datum	   *sum = &entry_sums(node, entry)[source];

	if (!found)
		memset(entry_sums(node, entry), 0, node->nvalue_sources * sizeof(Datum));
	old = MemoryContextSwitchTo(node->derived.memory);
	if (*sum == (Datum) 0)
		*sum = datumCopy(value, false, -1);
	else
	{
		Datum		before = *sum;

		*sum = DirectFunctionCall2(numeric_add, before, value);
		pfree(DatumGetPointer(before));
	}
	MemoryContextSwitchTo(old);
}

/* Makes the hash table of an execution or a pass, in the memory of derived columns. */
static void
make_table(GroupsState *node)
{
	HASHCTL		ctl = {
		.keysize = key_size(node),
		.entrysize = key_size(node) + node->nvalue_sources * sizeof(Datum),
		.hcxt = node->derived.memory
	};

	node->derived.outsized = hash_create("HpSort outsized values", 16, &ctl,
										 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void
groups_add_outsized(GroupsState *node, const ColumnBatch *batches)
{
	char	   *key = NULL;
	int			s;
	int			i;

	for (s = 0; s < node->nvalue_sources; s++)
	{
		const DerivedColumn *derived = node->derived.of_sources[s];
		int			filter = node->value_sources[s].filter;
		const OutsizedValue *values;
		int			n = derived ? derived_outsized(derived, &values) : 0;

		for (i = 0; i < n; i++)
		{
			if (filter >= 0 && batches[filter].nnulls > 0 && batches[filter].nulls[values[i].row])
				continue;
			if (node->parallel.exchange && !node->sources.alone)
			{
				groups_exchange_give_up(node->parallel.exchange);
				return;
			}
			if (node->derived.outsized == NULL)
				make_table(node);
			if (key == NULL)
				key = palloc(key_size(node));
			key_of_row(node, batches, values[i].row, key);
			add_value(node, key, s, values[i].value);
		}
	}
	if (key)
		pfree(key);
}

void
groups_find_outsized(GroupsState *node, const GroupValues *group)
{
	char	   *key = palloc0(key_size(node));
	char	   *entry;
	int			g;
	int			s;

	for (g = 0; g < node->ngroups; g++)
		put_value(node, key, g, group->values[g], group->nulls[g]);
	entry = hash_search(node->derived.outsized, key, HASH_FIND, NULL);
	for (s = 0; entry && s < node->nvalue_sources; s++)
		if (entry_sums(node, entry)[s] != (Datum) 0)
			node->counts[s].summary.outsized = &entry_sums(node, entry)[s];
	pfree(key);
}
