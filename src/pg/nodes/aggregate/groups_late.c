/*
 * groups_late.c
 *		Values of aggregates for whose numbers there is no memory.
 *
 * Where the order of the values matters, the values themselves are kept in place of numbers
 * (pairs_keep_values).
 *
 * count(DISTINCT) asks for no order, and of no value more than whether it is another one.  Its
 * values without numbers are left out when their rows are added, and written to files (RowSpill),
 * divided by their hash.  When all rows have been added, the dictionary is emptied for each file,
 * and gives numbers that none of the values before has.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

/* Whether a batch is that of a grouping column, or one that a derived column is computed of. */
static bool
is_of_group(const GroupsState *node, int batch)
{
	for (int g = 0; g < node->ngroups; g++)
		if (node->groups[g].column == batch)
			return true;
	for (int d = 0; d < node->derived.n; d++)
		if (derived_has_base(node->derived.columns[d], batch))
			return true;
	return false;
}

/* Whether no source of a batch wants the order of its values, and nothing else its dictionary. */
static bool
may_be_late(const GroupsState *node, int batch)
{
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].source >= 0 && node->outputs[i].answer.ranks &&
			node->value_sources[node->outputs[i].source].column == batch)
			return false;
	return !is_of_group(node, batch);
}

/* Sets columns to the batches of a late row: those of the groups, and the value's. */
static void
late_columns(const GroupsState *node, int source, const ColumnBatch *batches, ColumnBatch *columns)
{
	int			g;

	for (g = 0; g < node->ngroups; g++)
		columns[g] = batches[node->groups[g].column];
	columns[g] = batches[node->value_sources[source].column];
}

/* Makes the files of late values; their columns are like columns. */
static RowSpill *
make_late(GroupsState *node, int source, const ColumnBatch *columns)
{
	ColumnImage *images = palloc0_array(ColumnImage, node->ngroups + 1);
	MemoryContext old;
	RowSpill   *spill;

	/* Numbers of groups stay what they are; the value is kept itself. */
	images[node->ngroups].dictionary = node->source_domains[source].dictionary;
	old = MemoryContextSwitchTo(node->memory);
	groups_memory_lend(node, node->budget.spill);
	spill = row_spill_make(columns, node->ngroups + 1, images, node->ngroups + 1, false,
						   0, node->budget.spill);
	MemoryContextSwitchTo(old);
	pfree(images);
	return spill;
}

/* Writes the values of a batch that have no number, of rows that pass the filter. */
static void
write_late(GroupsState *node, int source, const ColumnBatch *batches)
{
	const ValueSource *of = &node->value_sources[source];
	const ColumnBatch *values = &batches[of->column];
	const Dictionary *dictionary = node->source_domains[source].dictionary;
	ColumnBatch *columns = palloc_array(ColumnBatch, node->ngroups + 1);

	late_columns(node, source, batches, columns);
	if (node->late[source] == NULL)
	{
		node->late[source] = make_late(node, source, columns);
		aggregation_leave_values(node->aggregation, source);
	}
	for (size_t i = 0; i < values->n; i++)
		if (values->keys[i] < 0 && !values->nulls[i] &&
			!(of->filter >= 0 && batches[of->filter].nulls[i]))
			row_spill_refuse(node->late[source], i,
							 dictionary_refused_hash(dictionary, values->keys[i]));
	row_spill_write(node->late[source], columns);
	pfree(columns);
}

void
groups_refuse_values(GroupsState *node, const ColumnBatch *batches)
{
	MemoryContext old = MemoryContextSwitchTo(node->derived.memory);

	for (int s = 0; s < node->nvalue_sources; s++)
	{
		const ColumnDomain *domain = &node->source_domains[s];
		int			column = node->value_sources[s].column;
		int			g = 0;

		if (domain->dictionary == NULL || dictionary_nrefused(domain->dictionary) == 0)
			continue;
		/* Rows of a group whose value has no number are in none of the batches. */
		while (g < node->ngroups &&
			   !(groups_read_by(node, g) && node->groups[g].column == column))
			g++;
		if (g < node->ngroups)
			continue;
		if (may_be_late(node, column))
			write_late(node, s, batches);
		else if (!domain->datums)
			groups_keep_values(node, s);
	}
	MemoryContextSwitchTo(old);
}

void
groups_give_up_dictionaries(GroupsState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->derived.memory);

	for (int s = 0; s < node->nvalue_sources; s++)
	{
		ColumnDomain *domain = &node->source_domains[s];

		if (domain->datums && domain->dictionary && dictionary_size(domain->dictionary) > 0 &&
			!is_of_group(node, node->value_sources[s].column))
		{
			dictionary_give_up(domain->dictionary);
			if (node->derived.of_sources[s])
				derived_forget(node->derived.of_sources[s]);
		}
	}
	MemoryContextSwitchTo(old);
}

/* Begins the dictionary of a source anew, which has the memory of the one before. */
static void
empty_dictionary(GroupsState *node, int source)
{
	Dictionary *dictionary = node->source_domains[source].dictionary;
	MemoryContext old = MemoryContextSwitchTo(node->derived.memory);

	dictionary_end(dictionary);
	dictionary_begin(dictionary, node->budget.dictionary);
	MemoryContextSwitchTo(old);
}

/* Adds the rows of a batch of late values, whose numbers get first added to them. */
static void
add_late_batch(GroupsState *node, int source, const ColumnBatch *columns, size_t first,
			   ColumnBatch *batches)
{
	const ColumnBatch *values = &columns[node->ngroups];
	int32	   *keys = column_batch_arrays(values, 0).keys;

	if (first + dictionary_size(node->source_domains[source].dictionary) > PG_INT32_MAX)
		elog(ERROR, "too many different values of an aggregate");
	for (size_t i = 0; i < values->n; i++)
		keys[i] += (int32) first;
	for (int g = 0; g < node->ngroups; g++)
		batches[node->groups[g].column] = columns[g];
	batches[node->value_sources[source].column] = *values;
	if (values->n > 0)
		aggregation_add_late(node->aggregation, source, batches);
	groups_memory_note(node, 0);
}

/* Adds the late values of a source, the first of which get the number first. */
static void
add_late(GroupsState *node, int source, size_t first)
{
	Dictionary *dictionary = node->source_domains[source].dictionary;
	RowSpill   *spill = node->late[source];
	ColumnBatch *batches = palloc0_array(ColumnBatch, node->nread + node->derived.n);
	const ColumnBatch *columns;

	while (row_spill_next(spill))
	{
		empty_dictionary(node, source);
		while ((columns = row_spill_read(spill)) != NULL)
		{
			const ColumnBatch *values = &columns[node->ngroups];

			if (dictionary_nrefused(dictionary) > 0)
			{
				for (size_t i = 0; i < values->n; i++)
					if (values->keys[i] < 0)
						row_spill_refuse(spill, i,
										 dictionary_refused_hash(dictionary, values->keys[i]));
				columns = row_spill_divide(spill, columns);
				dictionary_forget_refused(dictionary);
			}
			add_late_batch(node, source, columns, first, batches);
		}
		first += dictionary_size(dictionary);
	}
	pfree(batches);
}

void
groups_add_late(GroupsState *node)
{
	size_t	   *first = palloc_array(size_t, Max(node->nvalue_sources, 1));

	/* Sources may have one dictionary. */
	for (int s = 0; s < node->nvalue_sources; s++)
		first[s] = node->late[s] ? dictionary_size(node->source_domains[s].dictionary) : 0;
	for (int s = 0; s < node->nvalue_sources; s++)
	{
		if (node->late[s] == NULL)
			continue;
		add_late(node, s, first[s]);
		node->done.totals.disk += row_spill_disk(node->late[s]);
		row_spill_free(node->late[s]);
		node->late[s] = NULL;
		groups_memory_return(node, node->budget.spill);
	}
	pfree(first);
}

void
groups_free_late(GroupsState *node)
{
	for (int s = 0; s < node->nvalue_sources; s++)
	{
		if (node->late[s])
			row_spill_free(node->late[s]);
		node->late[s] = NULL;
	}
}
