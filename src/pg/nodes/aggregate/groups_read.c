/*
 * groups_read.c
 *		Reading the rows of a HpSort Aggregate node, as far as its first group.
 *
 * All rows are read into an Aggregation, and noted for a look-up on the GPU where there may
 * be one.  In a parallel plan what each process has aggregated is written for the others
 * (parallel.h), and the groups are of all processes.  Groups are read from
 * whichever GroupReader has them then.
 *
 * There are two exceptions:
 *
 * - Values of hpsort's own aggregates without groups go into the states of their results
 *	 (functions.h), which core combines in a parallel plan.  The aggregation counts rows.
 * - Groups by a column or an expression may need a number for each of its values (READ_EQUAL,
 *	 READ_IDENTICAL, DERIVED_NUMBERS).  Rows of values for which there is no memory are written to
 *	 files (RowSpill), and read in further passes, in each of which other values have numbers.  All
 *	 rows of a group are in one pass, and the passes are in no order.  Where groups may come in any
 *	 order, rows of groups for which there is no memory are written to these files, too.
 *
 * Groups of grouping sets are made of those of other sets (grouping_sets.h), where rows are read in
 * one pass.  Otherwise all rows are read for each set.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

/*
 * Whether results depend on the order of the rows: sums of floats do, the first of equal values
 * that a group is shown as, and core's functions may.
 */
static bool
depends_on_order(const GroupsState *node)
{
	bool		depends = node->core != NULL || node->first_equal;

	for (int i = 0; i < node->nvalue_sources; i++)
		depends |= node->value_sources[i].float_parts != 0;
	for (int i = 0; i < node->ngroups; i++)
		depends |= column_kind_is_float(node->groups[i].kind);
	return depends;
}

void
groups_read_begin(GroupsState *node, int eflags, int nfilters)
{
	node->rows_memory = AllocSetContextCreate(node->memory, "HpSort Aggregate rows",
											  ALLOCSET_DEFAULT_SIZES);
	node->derived.memory = AllocSetContextCreate(node->memory, "HpSort Aggregate expressions",
												 ALLOCSET_DEFAULT_SIZES);
	node->derived.any = node->derived.n > 0 || node->images || node->core;
	for (int s = 0; s < node->nvalue_sources; s++)
		node->derived.any |= node->value_sources[s].with >= 0;
	if (node->derived.any)
		node->derived.batches = palloc0_array(ColumnBatch, node->nread + node->derived.n);
	aggregate_sources_begin(&node->sources, &node->css, eflags, node->states, nfilters);
	node->sources.images = node->images;
	/* Derived columns, numbers and pairs of values are made from rows, not from runs. */
	node->sources.runs = !node->derived.any;
	node->sources.ordered = depends_on_order(node);
	/* Of several tables the planner has asked already what all of them have in memory. */
	if (node->sets == NULL &&
		(node->sources.nsources == 1 ||
		 boolVal(list_nth(((CustomScan *) node->css.ss.ps.plan)->custom_private,
						  GROUPS_PLAN_GPU))))
		node->lookup = groups_lookup_make(node);
}

/* Gives back what is kept of the rows, and the temporary files of the aggregation. */
static void
free_rows(GroupsState *node)
{
	if (node->sets)
		grouping_sets_close(node->sets);
	if (node->aggregation)
		aggregation_free(node->aggregation);
	node->aggregation = NULL;
	MemoryContextReset(node->rows_memory);
}

/* Gives back the files of rows that were refused, if there are some. */
static void
free_spill(RowSpill **spill)
{
	if (*spill)
		row_spill_free(*spill);
	*spill = NULL;
}

void
groups_read_free(GroupsState *node)
{
	free_rows(node);
	if (node->lookup)
		groups_lookup_free(node->lookup);
	if (node->parallel.exchange)
		groups_exchange_end(node->parallel.exchange);
	free_spill(&node->derived.spill);
	free_spill(&node->spill);
	groups_free_late(node);
	if (node->core)
		core_aggregates_free(node->core);
	groups_star_free(node);
	node->reader = NULL;
	node->parallel.exchange = NULL;
	MemoryContextReset(node->derived.memory);
	MemoryContextResetOnly(node->memory);
}

/*
 * Returns where rows that are refused go, *spill, which the first one of an execution makes.
 * keeps_numbers is that of row_spill_make.
 */
static RowSpill *
get_spill(GroupsState *node, const ColumnBatch *batches, RowSpill **spill, bool keeps_numbers)
{
	MemoryContext old = MemoryContextSwitchTo(node->memory);
	size_t		share = node->budget.spill;

	if (*spill == NULL)
	{
		size_t		limit = groups_memory_of_rows(node);
		size_t		held = MemoryContextMemAllocated(node->rows_memory, true);

		/* Rows that are divided have most of what more groups would have had. */
		if (spill == &node->spill && aggregation_divides_groups(node->aggregation))
			share = Max(share, (limit - Min(held, limit)) / 4 * 3);
		groups_memory_lend(node, share);
		*spill = row_spill_make(batches, node->nread, node->images, node->sources.ncolumns,
								keeps_numbers, spill == &node->star.spill ? node->star.ncells : 0,
								share);
	}
	MemoryContextSwitchTo(old);
	return *spill;
}

/* Writes the joined rows whose cell of lookups is not there, and leaves the others. */
static void
refuse_cells(GroupsState *node)
{
	const ColumnBatch *batches = node->derived.batches;
	size_t		nrows = batches[0].n;
	uint16		rows[COLUMN_BATCH_KEYS];
	size_t		n = 0;

	for (size_t i = 0; i < nrows; i++)
	{
		int			cell = groups_star_cell(node, i);

		if (cell < 0)
			rows[n++] = (uint16) i;
		else
			row_spill_refuse(get_spill(node, batches, &node->star.spill, false), i, cell);
	}
	if (n == nrows)
		return;
	row_spill_write(node->star.spill, batches);
	groups_star_keep_rows(node, rows, n);
}

/*
 * Returns batches that have been read, of a star join only rows that are joined, and behind them
 * batches that are derived; the former alone unless there are derived columns or numbers.
 */
static const ColumnBatch *
derive_batches(GroupsState *node, const ColumnBatch *batches)
{
	if (!node->derived.any)
		return batches;
	groups_star_match(node, batches);
	if (node->star.ncells > 1)
		refuse_cells(node);
	groups_star_filter(node);
	for (int d = node->star.n + list_length(node->star.conditions); d < node->derived.n; d++)
		node->derived.batches[node->nread + d] = *derived_batch(node->derived.columns[d],
																node->derived.batches);
	return node->derived.batches;
}

/*
 * Has row_spill_divide take the rows of a batch whose value in a grouping column has no number;
 * false if there are none.
 */
static bool
refuse_numbers(GroupsState *node, const ColumnBatch *batches, int g)
{
	const ColumnBatch *batch = &batches[node->groups[g].column];
	const Dictionary *dictionary = node->group_domains[g].dictionary;
	bool		refused = false;

	for (size_t i = 0; i < batch->n; i++)
	{
		if (batch->keys[i] >= 0)
			continue;
		row_spill_refuse(get_spill(node, batches, &node->derived.spill, false), i,
						 dictionary_refused_hash(dictionary, batch->keys[i]));
		refused = true;
	}
	return refused;
}

/*
 * Whether values of a grouping column have been refused in the batch that was read, perhaps of rows
 * that are not joined.
 */
static bool
has_refused(const GroupsState *node, int g)
{
	const Dictionary *dictionary = node->group_domains[g].dictionary;

	return dictionary && dictionary_nrefused(dictionary) > 0;
}

/* Notes the rows of a batch that grouping columns refuse; false if there are none. */
static bool
refuse_rows(GroupsState *node, const ColumnBatch *batches)
{
	bool		refused = false;

	for (int g = 0; g < node->ngroups; g++)
		if (groups_read_by(node, g) && has_refused(node, g))
			refused |= refuse_numbers(node, batches, g);
	return refused;
}

/* Notes the rows of a batch whose groups have no room for states of core's functions. */
static void
refuse_rows_of_core(GroupsState *node, const ColumnBatch *batches)
{
	RowSpill   *spill = get_spill(node, batches, &node->derived.spill, false);
	uint32		hash;

	for (size_t i = 0; i < batches[0].n; i++)
		if (core_aggregates_refuses(node->core, i, &hash))
			row_spill_refuse(spill, i, hash);
}

/* Writes the rows of a batch for whose groups the aggregation has no memory; returns the others. */
static const ColumnBatch *
refuse_rows_of_groups(GroupsState *node, const ColumnBatch *batches)
{
	RowSpill   *spill = get_spill(node, batches, &node->spill, true);
	uint32		hash;

	for (size_t i = 0; i < batches[0].n; i++)
		if (aggregation_refuses(node->aggregation, i, &hash))
			row_spill_refuse(spill, i, hash);
	return row_spill_divide(spill, batches);
}

/*
 * Returns the rows of a batch that are not refused, with derived columns, which have been computed
 * of all rows.
 */
static const ColumnBatch *
take_rows(GroupsState *node, const ColumnBatch *batches)
{
	/* What the other rows become is known by now. */
	if (node->derived.any && refuse_rows(node, batches))
		batches = derive_batches(node, row_spill_divide(node->derived.spill, batches));
	if (node->core && core_aggregates_find(node->core, batches) > 0)
	{
		refuse_rows_of_core(node, batches);
		batches = derive_batches(node, row_spill_divide(node->derived.spill, batches));
		core_aggregates_find(node->core, batches);
	}
	if (groups_may_be_refused(node) && aggregation_find(node->aggregation, batches) > 0)
	{
		size_t		nrows = batches[0].n;

		batches = derive_batches(node, refuse_rows_of_groups(node, batches));
		aggregation_leave_refused(node->aggregation, nrows);
	}
	return batches;
}

/* Values that were refused in a batch, or copied for it, are not needed any more. */
static void
forget_values(GroupsState *node)
{
	groups_give_up_dictionaries(node);
	for (int c = 0; c < node->derived.n; c++)
		if (derived_has_numbers(node->derived.columns[c]))
			dictionary_forget_refused(derived_domain(node->derived.columns[c])->dictionary);
	for (int c = 0; c < node->sources.ncolumns && node->images; c++)
	{
		ColumnImage *image = &node->images[c];

		if (image->dictionary && dictionary_nrefused(image->dictionary) > 0)
			dictionary_forget_refused(image->dictionary);
		if (image->make)
			datum_buffer_empty(image->arg);
	}
}

/*
 * Whether processes have given up the exchange: no more rows are wanted, then, since one process
 * reads all of them alone (read_and_exchange).
 */
static bool
exchange_is_given_up(GroupsState *node)
{
	if (node->parallel.exchange == NULL || node->sources.alone ||
		!groups_exchange_is_given_up(node->parallel.exchange))
		return false;
	node->sources.stop = true;
	return true;
}

/*
 * Whether there is no memory for numbers by which groups of one set are made of those of another:
 * no more rows are wanted, then, since they are read for each set by itself (groups_read_start).
 */
static bool
sets_are_full(GroupsState *node)
{
	if (node->sets == NULL || node->set >= 0)
		return false;
	for (int i = 0; i < node->ngroups; i++)
		node->sources.stop |= has_refused(node, i);
	for (int i = 0; i < node->nvalue_sources; i++)
		node->sources.stop |= node->source_domains[i].dictionary &&
			dictionary_nrefused(node->source_domains[i].dictionary) > 0;
	return node->sources.stop;
}

/*
 * A ColumnConsume: adds rows to the states, each of which is the first output's that has it.  The
 * aggregation, which has no sources, counts rows.
 */
static void
add_batches_to_states(void *arg, const ColumnBatch *batches)
{
	GroupsState *node = (GroupsState *) arg;

	for (int i = 0; i < node->noutputs; i++)
	{
		const GroupsOutput *output = &node->outputs[i];

		if (output->shared == i)
			aggregate_result_add(output->result,
								 &batches[node->value_sources[output->source].column]);
	}
	/* The NULLs beside runs are no rows of theirs. */
	aggregation_count(node->aggregation,
					  (int64) batches[0].n + (batches[0].runs ? batches[0].nnulls : 0));
}

/* Adds rows, of a star join perhaps repeated, to the aggregation. */
static void
add_rows(GroupsState *node, const ColumnBatch *batches)
{
	batches = derive_batches(node, batches);
	if (node->derived.any && (exchange_is_given_up(node) || sets_are_full(node)))
		return;
	batches = take_rows(node, batches);
	if (batches[0].n == 0)
		return;
	if (node->derived.any)
	{
		groups_refuse_values(node, batches);
		if (node->core)
			core_aggregates_add(node->core, batches);
	}
	aggregation_add(node->aggregation, batches);
	if (node->derived.any)
		groups_add_outsized(node, batches);
	groups_memory_note(node, 0);
}

/* Adds the rows of the partition that a spill is at. */
static void
add_partition(GroupsState *node, RowSpill *spill)
{
	const ColumnBatch *batches;

	while (!node->sources.stop && (batches = row_spill_read(spill)) != NULL)
	{
		add_rows(node, batches);
		forget_values(node);
	}
}

/* Adds the rows whose cell of lookups was not there, when all others have been added. */
static void
add_cells(GroupsState *node)
{
	RowSpill   *spill = node->star.spill;

	if (spill == NULL)
		return;
	while (!node->sources.stop && row_spill_next(spill))
	{
		groups_star_load(node, row_spill_partition(spill));
		add_partition(node, spill);
	}
	node->done.totals.disk += row_spill_disk(spill);
	groups_memory_note(node, 0);
	free_spill(&node->star.spill);
	groups_memory_return(node, node->budget.spill);
}

/*
 * A ColumnConsume: adds rows, runs or packed values to the aggregation.  Packed values are
 * unpacked into rows if more than counting is wanted of them.
 */
static void
add_batches_to_groups(void *arg, const ColumnBatch *batches)
{
	GroupsState *node = (GroupsState *) arg;
	BatchPosition position = {0};
	StarPosition star = {0};
	const ColumnBatch *repeated;
	ColumnBatch rows;

	if (node->lookup)
		groups_lookup_note(node->lookup, batches);
	if (batches[0].runs && !aggregation_has_table(node->aggregation))
	{
		aggregation_add_batch_of_runs(node->aggregation, &batches[0]);
		return;
	}
	if (batches[0].runs || batches[0].packed.n > 0)
	{
		if (batches[0].runs || node->derived.n > 0 || node->core ||
			!aggregation_add_counted(node->aggregation, &batches[0]))
			while (column_batch_next_rows(&batches[0], &position, &rows))
				add_batches_to_groups(node, &rows);
		return;
	}
	if (node->star.many < 0)
		add_rows(node, batches);
	else
		while ((repeated = groups_star_next(node, batches, &star)) != NULL)
			add_rows(node, repeated);
	forget_values(node);
}

/* Returns the columns by which rows are grouped now, and sets *n to how many they are. */
static const GroupColumn *
columns_now(const GroupsState *node, int *n)
{
	*n = node->ngroups;
	return node->set < 0 ? node->groups : grouping_sets_columns(node->sets, node->set, n);
}

/* Begins an execution of derived columns, dictionaries and core's functions, or another pass. */
static void
begin_derived(GroupsState *node)
{
	const MemoryBudget *budget = &node->budget;
	const GroupColumn *columns;
	int			ncolumns;
	DictionaryPool *pool;
	MemoryContext old;

	if (node->core)
		core_aggregates_free(node->core);
	groups_star_free(node);
	MemoryContextReset(node->derived.memory);
	node->derived.outsized = NULL;
	old = MemoryContextSwitchTo(node->derived.memory);
	pool = palloc0_object(DictionaryPool);
	for (int i = 0; i < node->derived.n; i++)
		derived_begin(node->derived.columns[i], budget->memo, budget->dictionary);
	for (int i = 0; i < node->sources.ncolumns && node->images; i++)
	{
		if (node->images[i].dictionary)
		{
			dictionary_begin(node->images[i].dictionary, budget->dictionary);
			dictionary_use_pool(node->images[i].dictionary, pool);
		}
		if (node->images[i].make)
			datum_buffer_limit(node->images[i].arg, budget->datum_buffer);
	}
	MemoryContextSwitchTo(node->memory);
	columns = columns_now(node, &ncolumns);
	if (node->core)
		core_aggregates_begin(node->core, columns, ncolumns, budget->core);
	MemoryContextSwitchTo(old);
	groups_forget_ranks(node);
}

/* Returns how many rows the planner expects of all tables. */
static double
expected_rows(const GroupsState *node)
{
	double		rows = 0;

	for (int i = 0; i < node->sources.nsources; i++)
		rows += node->sources.sources[i].scan->ps.plan->plan_rows;
	return rows;
}

/* Makes an aggregation without rows, in the current memory context. */
static void
begin_rows(GroupsState *node)
{
	int			ncolumns;
	const GroupColumn *columns = columns_now(node, &ncolumns);

	/* Coarser groups may be made of runs with the summaries' sums, smallest and largest values. */
	for (int s = 0; s < node->nvalue_sources && node->sets; s++)
		node->value_sources[s].parts = SUMMARY_ALL;
	/* Processes that share the work do not share the GPU: the CPU counts while they read. */
	pg_sort_context_lenient(&node->rows_context, node->rows_memory, node->parallel.shared == NULL);
	node->aggregation = aggregation_make(&node->rows_context, columns, ncolumns,
										 node->value_sources,
										 node->states ? 0 : node->nvalue_sources,
										 groups_memory_of_rows(node), expected_rows(node));
	if (node->spill == NULL)
		aggregation_divide_groups(node->aggregation);
}

/* Places the aggregation in front of its first group, and notes what EXPLAIN shows. */
static void
end_rows(GroupsState *node)
{
	groups_add_late(node);
	if (node->sets)
		node->reader = grouping_sets_open(node->sets, node->set, node->aggregation,
										  node->rows_memory, node->budget.sets);
	else
		node->reader = aggregation_open(node->aggregation);
	groups_memory_note(node, 0);
	node->done.totals.disk += aggregation_disk(node->aggregation);
}

/*
 * Reads the rows, or this process's share of them, so that node->reader has their groups, unless
 * reading was stopped.  Returns how many rows the filter has refused.
 */
static uint64
read_rows(GroupsState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->rows_memory);
	GroupReader *found;
	uint64		filtered = 0;

	begin_rows(node);
	if (node->lookup)
		node->sources.handler = groups_lookup_begin(node->lookup);
	node->sources.stop = false;
	node->sources.unmatched = node->star.removed = node->star.filtered = 0;
	if (!groups_star_is_empty(node))
	{
		groups_star_begin_rows(node);
		filtered = aggregate_sources_read(&node->sources,
										  node->states ? add_batches_to_states :
										  add_batches_to_groups, node);
		groups_star_end_rows(node, add_batches_to_groups);
		add_cells(node);
	}
	if (node->sources.stop)
	{
		MemoryContextSwitchTo(old);
		return 0;
	}
	node->done.totals.unmatched = node->sources.unmatched + node->star.removed;
	node->done.totals.filtered = node->star.filtered;
	end_rows(node);
	found = node->lookup ? groups_lookup_open(node->lookup) : NULL;
	if (found)
		node->reader = found;
	/* A GPU counts together what conditions and maps refuse. */
	if (found && node->star.n > 0 && node->sources.sources[0].scan->ps.qual == NULL)
	{
		node->done.totals.unmatched += filtered;
		filtered = 0;
	}
	MemoryContextSwitchTo(old);
	for (int s = 0; s < node->nvalue_sources && !node->states; s++)
		node->done.sorted[s] = aggregation_source_stats(node->aggregation, s, &node->done.stats[s]);
	return filtered;
}

/* Reads all rows for a grouping set by itself. */
static uint64
read_set(GroupsState *node, int set)
{
	MemoryContext old = MemoryContextSwitchTo(node->memory);
	uint64		filtered;

	free_rows(node);
	if (node->derived.spill)
		node->done.totals.disk += row_spill_disk(node->derived.spill);
	free_spill(&node->derived.spill);
	groups_memory_begin(node);
	node->set = set;
	begin_derived(node);
	filtered = read_rows(node);
	MemoryContextSwitchTo(old);
	return filtered;
}

/* Reads a part of the rows that have been refused; false if there are none. */
static bool
read_part(GroupsState *node)
{
	RowSpill   *spill = NULL;
	MemoryContext old;

	if (node->spill && row_spill_next(node->spill))
		spill = node->spill;
	else if (node->derived.spill && row_spill_next(node->derived.spill))
		spill = node->derived.spill;
	else
		return false;
	free_rows(node);
	if (spill == node->derived.spill)
		begin_derived(node);
	old = MemoryContextSwitchTo(node->rows_memory);
	begin_rows(node);
	node->star.divides = spill == node->derived.spill && node->star.ncells > 1;
	add_partition(node, spill);
	if (node->star.divides)
	{
		/*
		 * All rows are with their cells now, and have no numbers.  The first row of the first
		 * cell has all of its values numbered, so that each pass gets on: dictionaries that rows
		 * of several cells have filled might each refuse what the others have.
		 */
		node->star.divides = false;
		begin_derived(node);
	}
	add_cells(node);
	end_rows(node);
	MemoryContextSwitchTo(old);
	return true;
}

bool
groups_read_refused(GroupsState *node)
{
	int			next = node->set < 0 ? -1 : grouping_sets_next(node->sets, node->set);

	if (read_part(node))
		return true;
	if (next >= 0)
		read_set(node, next);
	return next >= 0;
}

/*
 * Does what read_rows does: reads this process's share of the rows, and exchanges groups with the
 * others.  A process that comes too late to read has no reader where only one process has read.
 */
static uint64
read_and_exchange(GroupsState *node)
{
	GroupsParallel *parallel = &node->parallel;
	uint64		filtered = 0;

	parallel->exchange = groups_exchange_make(parallel->shared, &parallel->description,
											  node->css.ss.ps.state->es_query_dsa,
											  node->budget.exchange);
	if (groups_exchange_reads(parallel->exchange))
		filtered = read_rows(node);
	switch (groups_exchange_wait(parallel->exchange))
	{
		case EXCHANGE_WRITE:
			node->done.totals.disk += groups_exchange_write(parallel->exchange, node->reader);
			groups_memory_note(node, 0);
			free_rows(node);
			node->reader = groups_exchange_open(parallel->exchange);
			return filtered;
		case EXCHANGE_KEEP:
			return filtered;
		case EXCHANGE_READ_ALONE:
			free_rows(node);
			groups_memory_begin(node);
			begin_derived(node);
			node->sources.alone = true;
			return read_rows(node);
		case EXCHANGE_LEAVE:
			free_rows(node);
			node->reader = NULL;
			node->done.totals.unmatched = node->done.totals.filtered = 0;
			return 0;
	}
	pg_unreachable();
}

/*
 * Does what read_rows does, for grouping sets: for all of them, unless values are added up in the
 * order of the rows, perhaps by core's functions, or numbers have no memory.  Then it reads for the
 * first set.
 */
static uint64
read_sets(GroupsState *node)
{
	int			first = grouping_sets_next(node->sets, -1);
	uint64		filtered;

	grouping_sets_begin(node->sets);
	if (node->core)
		return read_set(node, first);
	for (int s = 0; s < node->nvalue_sources; s++)
		if (node->value_sources[s].float_parts != 0 || node->value_sources[s].with >= 0)
			return read_set(node, first);
	filtered = read_rows(node);
	return node->sources.stop ? read_set(node, first) : filtered;
}

/* States are sorted as the session's settings say, but by the leader alone if it merges them. */
static void
begin_states(GroupsState *node)
{
	if (DO_AGGSPLIT_SKIPFINAL(node->outputs[0].aggref->aggsplit))
		pg_sort_context_partial(&node->context, node->rows_memory);
	else
		pg_sort_context(&node->context, node->rows_memory);
	/* Options are evaluated with the first row. */
	groups_prepare_results(node);
}

void
groups_read_start(GroupsState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->memory);
	uint64		filtered;

	memset(&node->done.totals, 0, sizeof(node->done.totals));
	node->prepared = node->sources.alone = false;
	if (node->states)
		begin_states(node);
	else
		pg_sort_context_lenient(&node->context, node->memory, node->parallel.shared == NULL);
	groups_star_read(node);
	groups_memory_begin(node);
	node->set = -1;
	begin_derived(node);
	if (node->sets)
		filtered = read_sets(node);
	else if (node->parallel.shared && !node->states && !node->parallel.partial)
		filtered = read_and_exchange(node);
	else
		filtered = read_rows(node);
	/* nfiltered1 is for HAVING. */
	InstrCountFiltered2(&node->css.ss, filtered);
	node->started = true;
	MemoryContextSwitchTo(old);
}
