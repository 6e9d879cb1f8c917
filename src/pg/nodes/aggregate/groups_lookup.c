/*
 * groups_lookup.c
 *		HpSort Aggregate whose groups are looked up among the GPU's keys (see groups_state.h).
 *
 * In the order of the keys (lookup_keys.h) each group's rows are side by side, its NULLs last, so
 * that where groups begin says how many rows and values they have, percentiles, smallest and
 * largest values are keys at some positions, and a sum is the difference of two sums of keys.  So
 * nothing but positions, keys and sums at these positions crosses the bus.
 * Where extents have numbers of values, groups are of these numbers (groups_numbers.h).  Groups
 * of expressions, and of a star join, are found by maps of columns (groups_maps.c).
 *
 * Each source of values has keys of its own, which one job after the other sorts.  The first job is
 * of a source without a FILTER, so that it finds all groups.
 *
 * Rows of blocks that are not resident are noted on their way to the aggregation, and their keys
 * are given to the GPU besides.  If anything goes wrong, or does not fit, the aggregation gets all
 * other rows as well, and what was looked up is not used.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_maps.h"
#include "pg/nodes/aggregate/groups_numbers.h"
#include "pg/nodes/aggregate/groups_state.h"
#include "pg/nodes/aggregate/lookup_keys.h"
#include "pg/nodes/aggregate/read/read.h"

typedef struct LookupGroup
{
	int64		rows;
	uint32		code;			/* of its grouping columns, without the place of a value */
	uint32		place;			/* among the groups of each source */
} LookupGroup;

/* What is known of a group's values of a source. */
typedef struct LookupValues
{
	int64		first;			/* position of its first key among those of the source */
	int64		values;			/* rows with a key that is not of NULL */
	int64		nulls;			/* ... and that is */
	int64		sum;			/* of the values' distances from the origin of keys, if sums are
								 * wanted; else 0 */
	size_t		answers;		/* the index of its first answer among all answers */
	uint32		nanswers;		/* how many of its positions are wanted */
} LookupValues;

/* Values that aggregates are of, or rows. */
typedef struct LookupSource
{
	LookupKeys	keys;
	bool		extremes;		/* the smallest and the largest value are wanted */
	bool		distinct;		/* how many different values there are is wanted */
	bool		sums;			/* the sum of the values is wanted */

	/* of an execution */
	LookupValues *groups;		/* by group */
	int64	   *positions;		/* among a group's values, ascending; of all answers */
	int64	   *values;			/* ... which are these */
	size_t		nanswers;		/* of all groups */
	int64		ndistinct;		/* different values of the only group, if distinct */
} LookupSource;

/* The group being read. */
typedef struct LookupPosition
{
	size_t		next;			/* groups from here on have been returned, this one last */
	bool		read;			/* the runs of its present source have been read */
	GroupValues group;
	int64	   *run_counts;		/* of its answers as runs */
} LookupPosition;

struct GroupsLookup
{
	GroupReader reader;			/* first, because a reader is cast to its look-up */
	ResidentRowsHandler handler;	/* which the scan calls; its arg is the node */
	int			nsources;		/* the node's, and perhaps one of all rows */
	LookupSource *sources;
	LookupSource *all;			/* the first one without a FILTER */
	bool		ranked;			/* groups by an enum come in the order of its labels, not of the
								 * codes */

	int64	   *origins;		/* by column of the scan: what is 0 for the GPU */
	GroupsMaps *maps;			/* of a star join, or of expressions; else NULL */

	/* of an execution */
	MemoryContext memory;
	LookupNotes notes;			/* rows of blocks that are not resident */
	size_t		limit;			/* bytes, of the notes, of groups and of their answers each */
	bool		charged;		/* the aggregation has lent the look-up its share */
	bool		found;			/* all that follows is known, and what sources have */
	GroupsNumbers *numbers;		/* by column of the scan */
	LookupGroup *groups;		/* in the reverse order: the last one is returned first */
	size_t		ngroups;
	size_t		groups_room;

	LookupPosition at;
};

/* --- which nodes */

static bool handle_rows(void *arg, struct ResidentRows *rows);

/*
 * Fills in the fields of the grouping columns, of which each must be a column of the table, or one
 * that is mapped; false if groups are of expressions.  Where groups are places of an enum's labels,
 * the field is the labels, which are what is resident.
 */
static bool
find_fields(GroupsLookup *lookup, const GroupsState *node, GroupColumn *fields)
{
	const List *groups = list_nth(((CustomScan *) node->css.ss.ps.plan)->custom_private,
								  GROUPS_PLAN_GROUPS);

	for (int g = 0; g < node->ngroups; g++)
	{
		DerivedForm form = (DerivedForm) list_nth_int(groups, g * GROUPS_PLAN_NUMBERS + 1);

		fields[g] = node->groups[g];
		if (groups_maps_have(lookup->maps, g))
		{
			fields[g].column = node->sources.ncolumns + g;
			fields[g].kind = COLUMN_KIND_INT4;
			continue;
		}
		if (form != DERIVED_NONE && form != DERIVED_RANKS)
			return false;
		if (form == DERIVED_NONE)
			continue;
		lookup->ranked = true;
		fields[g].column = derived_base(node->derived.of_groups[g]);
		fields[g].kind = COLUMN_KIND_ENUM;
	}
	return true;
}

/* Adds a source with a field for each grouping column, and one of its values if it has some. */
static void
add_source(GroupsLookup *lookup, const GroupsState *node, const GroupColumn *fields,
		   const ValueSource *values)
{
	LookupSource *source = &lookup->sources[lookup->nsources++];
	LookupKeys *keys = &source->keys;

	keys->has_value = values->column >= 0;
	keys->nfields = node->ngroups + keys->has_value;
	keys->fields = palloc0_array(GroupColumn, node->ngroups + 1);
	memcpy(keys->fields, fields, node->ngroups * sizeof(GroupColumn));
	keys->fields[node->ngroups].column = values->column;
	keys->fields[node->ngroups].kind = values->kind;
	/* Of wide kinds, too, a GPU has only int4: distances from an origin. */
	for (int f = 0; f < keys->nfields; f++)
		if (column_kind_is_wide(keys->fields[f].kind))
			keys->fields[f].kind = COLUMN_KIND_INT4;
	keys->maps = lookup->maps;
	keys->filter = values->filter < 0 ? -1 : values->filter - node->sources.ncolumns;
	source->extremes = values->parts & (SUMMARY_MIN | SUMMARY_MAX);
	source->sums = values->parts & SUMMARY_SUM;
	keys->summed = !values->runs && !source->extremes;
	if (keys->filter < 0 && lookup->all == NULL)
		lookup->all = source;
}

/* Whether positions, and sums, answer all outputs. */
static bool
are_looked_up(const GroupsState *node)
{
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].answer.form != DERIVED_NONE ||
			!aggref_is_looked_up(&node->outputs[i].answer, node->ngroups > 0))
			return false;
	for (int i = 0; i < node->nvalue_sources; i++)
		if (node->value_sources[i].filter >= node->sources.ncolumns + node->sources.nfilters)
			return false;
	return true;
}

GroupsLookup *
groups_lookup_make(GroupsState *node)
{
	const ValueSource rows = {.column = -1,.filter = -1,.kind = COLUMN_KIND_NONE};
	GroupsLookup *lookup = palloc0_object(GroupsLookup);
	GroupColumn *fields = palloc0_array(GroupColumn, Max(node->ngroups, 1));
	Bitmapset  *values = NULL;

	if (node->sources.ordered || !are_looked_up(node) || !groups_maps_make(node, &lookup->maps) ||
		!find_fields(lookup, node, fields))
		return NULL;
	lookup->sources = palloc0_array(LookupSource, node->nvalue_sources + 1);
	for (int i = 0; i < node->nvalue_sources; i++)
	{
		add_source(lookup, node, fields, &node->value_sources[i]);
		lookup->handler.jobs.ordered |= node->value_sources[i].runs;
		if (node->value_sources[i].column >= 0)
			values = bms_add_member(values, node->value_sources[i].column);
	}
	/* A column that is both is not in the key twice. */
	if (groups_maps_columns(lookup->maps, node->ngroups) + bms_num_members(values) !=
		node->sources.ncolumns)
		return NULL;
	for (int i = 0; i < node->noutputs; i++)
		if (node->outputs[i].answer.distinct)
			lookup->sources[node->outputs[i].source].distinct = true;
	if (lookup->all == NULL)
		add_source(lookup, node, fields, &rows);

	/* A sum of all values of a column takes memory less time than keys take the GPU. */
	if (node->sources.ncolumns == 1 && node->sources.nfilters == 0 &&
		node->sources.sources[0].scan->ps.qual == NULL && node->ngroups == 0 && lookup->all->sums)
		return NULL;
	lookup->origins = palloc0_array(int64, Max(node->sources.ncolumns, 1));
	lookup->memory = AllocSetContextCreate(node->memory, "HpSort Aggregate lookup",
										   ALLOCSET_DEFAULT_SIZES);
	lookup->handler.handle = handle_rows;
	lookup->handler.arg = node;
	lookup->handler.counted = node->ngroups > 0 && !lookup->ranked && lookup->maps == NULL;
	lookup->handler.jobs.n = lookup->nsources;
	lookup->handler.jobs.values = values;
	for (int i = 0; lookup->maps && i < lookup->maps->nmaps; i++)
		lookup->handler.jobs.mapped = bms_add_member(unconstify(Bitmapset *,
																lookup->handler.jobs.mapped),
													 lookup->maps->maps[i].column);
	return lookup;
}

ResidentRowsHandler *
groups_lookup_begin(GroupsLookup *lookup)
{
	const GroupsState *node = (const GroupsState *) lookup->handler.arg;

	groups_lookup_free(lookup);
	lookup->handler.rows = NULL;
	lookup->found = lookup->at.read = lookup->charged = false;
	lookup->at.next = 0;
	/* The notes of one job are freed before there are groups. */
	lookup->limit = node->budget.lookup / (lookup->nsources > 1 ? 3 : 2);
	lookup_notes_begin(&lookup->notes, lookup->memory, node->sources.ncolumns,
					   node->sources.nfilters, lookup->limit);
	lookup->notes.origins = lookup->origins;
	return &lookup->handler;
}

void
groups_lookup_free(GroupsLookup *lookup)
{
	MemoryContextReset(lookup->memory);
	lookup->found = false;
}

/* Has the aggregation lend the look-up its share, or gives it back. */
static void
charge(GroupsLookup *lookup, bool charged)
{
	GroupsState *node = (GroupsState *) lookup->handler.arg;

	if (charged && !lookup->charged)
		groups_memory_lend(node, node->budget.lookup);
	else if (!charged && lookup->charged)
		groups_memory_return(node, node->budget.lookup);
	lookup->charged = charged;
}

static void
find_origins(GroupsLookup *lookup, const ResidentRows *rows)
{
	for (int c = 0; c < lookup->notes.ncolumns; c++)
		lookup->origins[c] = resident_rows_origin(rows, c);
}

void
groups_lookup_note(GroupsLookup *lookup, const ColumnBatch *batches)
{
	if (lookup->handler.rows == NULL || lookup->notes.closed)
		return;
	if (lookup->notes.n == 0)
		find_origins(lookup, lookup->handler.rows);
	charge(lookup, true);
	lookup_notes_add(&lookup->notes, batches);
	charge(lookup, !lookup->notes.closed);
}

/* --- groups */

/* Codes whose keys are looked for at once. */
#define CODES_AT_ONCE 32768

/* Notes a group with values of the first source; false if groups take too much memory. */
static bool
add_group(GroupsLookup *lookup, int64 rows, uint32 code, LookupValues values)
{
	LookupSource *source = lookup->all;

	if (lookup->ngroups == lookup->groups_room)
	{
		size_t		room = Max(lookup->groups_room * 2, 1024);
		size_t		size = sizeof(LookupGroup) + lookup->nsources * sizeof(LookupValues);

		if ((lookup->groups_room + room) * size > lookup->limit && room > 1024)
			return false;
		lookup->groups = lookup->groups_room == 0 ? palloc_array(LookupGroup, room) :
			repalloc_huge(lookup->groups, room * sizeof(LookupGroup));
		source->groups = lookup->groups_room == 0 ? palloc_array(LookupValues, room) :
			repalloc_huge(source->groups, room * sizeof(LookupValues));
		lookup->groups_room = room;
	}
	source->groups[lookup->ngroups] = values;
	lookup->groups[lookup->ngroups] = (LookupGroup)
	{
		rows, code, (uint32) lookup->ngroups
	};
	lookup->ngroups++;
	return true;
}

/*
 * Notes what is known of the i-th group, of a code, from the last one on: of the first source,
 * whether there is this group; of others its values.  False if groups take too much memory, or if
 * the GPU is wrong.
 */
static bool
note_values(GroupsLookup *lookup, LookupSource *source, ResidentRows *rows, size_t i, uint32 code,
			LookupValues values, bool grouped)
{
	int64		n = values.values + values.nulls;
	bool		first = source == lookup->all;

	if (values.values < 0 || values.nulls < 0 ||
		(!first && n > lookup->groups[i].rows) ||
		(!first && n < lookup->groups[i].rows && source->keys.filter < 0))
		return resident_rows_are_wrong(rows);
	if (first)
		return (n == 0 && grouped) || add_group(lookup, n, code, values);
	source->groups[i] = values;
	return true;
}

/*
 * Finds the groups of the first source, or their values of another one, from the last one to the
 * first, by where their keys, and keys of their NULLs, begin.  False if the GPU could not, if there
 * are too many, or if what it says is impossible.
 */
static bool
find_groups(GroupsLookup *lookup, LookupSource *source, ResidentRows *rows, bool grouped)
{
	const LookupKeys *keys = &source->keys;
	bool		first = source == lookup->all;
	size_t		total = first ? lookup_keys_codes(keys) : lookup->ngroups;
	size_t		most = Min(Max(total, 1), CODES_AT_ONCE);
	uint32	   *codes = palloc_array(uint32, most);
	int32	   *asked = palloc_array(int32, 2 * most);
	uint64	   *below = palloc_array(uint64, 2 * most);
	int64		end = resident_rows_keys(rows);
	size_t		n;

	if (first)
		lookup->ngroups = lookup->groups_room = 0;
	else
		source->groups = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(total, 1) * sizeof(LookupValues));
	for (size_t at = 0; at < total; at += n)
	{
		n = Min(total - at, CODES_AT_ONCE);
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
			codes[i] = first ? (uint32) (total - 1 - at - i) : lookup->groups[at + i].code;
		/* All keys are of the only group. */
		if (lookup_keys_codes(keys) == 1 && !keys->nulls)
			below[0] = 0;
		else if (!lookup_keys_below(keys, rows, codes, n, asked, below))
			return false;
		for (size_t i = 0; i < n; i++)
		{
			int64		start = (int64) below[i];
			int64		nulls = keys->nulls ? (int64) below[n + i] : end;
			LookupValues values = {.first = start,.values = nulls - start,.nulls = end - nulls};

			if (!note_values(lookup, source, rows, at + i, codes[i], values, grouped))
				return false;
			end = start;
		}
	}
	pfree(codes);
	pfree(asked);
	pfree(below);
	return end == 0 || resident_rows_are_wrong(rows);
}

/* Lists the positions that are wanted of all groups; false if they take too much memory. */
static bool
want_positions(GroupsState *node, LookupSource *source)
{
	GroupsLookup *lookup = node->lookup;
	int			s = (int) (source - lookup->sources);
	size_t		most = groups_most_positions(node, s) + (source->extremes ? 2 : 0);
	int64	   *wanted;

	if (most > lookup->limit / lookup->nsources / sizeof(int64) / 4 / Max(lookup->ngroups, 1) &&
		most * lookup->ngroups > 1024)
		return false;
	source->positions = MemoryContextAllocHuge(CurrentMemoryContext,
											   most * lookup->ngroups * sizeof(int64) + 1);
	wanted = palloc_array(int64, Max(most, 1));
	source->nanswers = 0;
	for (size_t g = lookup->ngroups; g-- > 0;)
	{
		LookupValues *group = &source->groups[g];

		CHECK_FOR_INTERRUPTS();
		group->nanswers = groups_list_positions(node, s, group->values, group->nulls,
												source->extremes, wanted);
		group->answers = source->nanswers;
		memcpy(source->positions + source->nanswers, wanted, group->nanswers * sizeof(int64));
		source->nanswers += group->nanswers;
	}
	pfree(wanted);
	return true;
}

/* Looks up the values at the positions; false if the GPU could not, or is wrong. */
static bool
find_values(GroupsLookup *lookup, LookupSource *source, ResidentRows *rows)
{
	size_t		n = source->nanswers;
	uint64	   *positions = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(uint64) + 1);
	int32	   *keys = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int32) + 1);

	for (size_t g = lookup->ngroups; g-- > 0;)
	{
		const LookupValues *group = &source->groups[g];

		for (size_t i = group->answers; i < group->answers + group->nanswers; i++)
			positions[i] = (uint64) (group->first + source->positions[i]);
	}
	if (n > 0 && !resident_rows_look(rows, SORT_LOOK_AT, positions, n, keys))
		return false;
	source->values = (int64 *) positions;
	for (size_t g = lookup->ngroups; g-- > 0;)
	{
		const LookupValues *group = &source->groups[g];

		for (size_t i = group->answers; i < group->answers + group->nanswers; i++)
			if (!lookup_keys_value(&source->keys, keys[i], lookup->groups[g].code,
								   &source->values[i]))
				return resident_rows_are_wrong(rows);
	}
	pfree(keys);
	return true;
}

/*
 * Asks how many different values there are, which is one less than the keys where there are NULLs;
 * false if the GPU could not, or if the number is impossible.
 */
static bool
find_distinct(LookupSource *source, ResidentRows *rows)
{
	const LookupValues *group = &source->groups[0];
	int32		question = 0;
	uint64		answer;

	if (!resident_rows_look(rows, SORT_LOOK_DISTINCT, &question, 1, &answer))
		return false;
	source->ndistinct = (int64) answer - (group->nulls > 0 ? 1 : 0);
	return (source->ndistinct >= 0 && source->ndistinct <= group->values) ||
		resident_rows_are_wrong(rows);
}

/*
 * Finds the sums of all groups' values, from the sums of the keys before the first one and before
 * the one behind the last; false if there is not the memory, or the GPU could not, or is wrong.
 */
static bool
find_sums(GroupsLookup *lookup, LookupSource *source, ResidentRows *rows)
{
	size_t		n = lookup->ngroups;
	size_t		size = 2 * n * sizeof(uint64);
	uint64	   *positions;
	uint64	   *sums;

	if (2 * size > lookup->limit && n > 1024)
		return false;
	positions = MemoryContextAllocHuge(CurrentMemoryContext, size + 1);
	sums = MemoryContextAllocHuge(CurrentMemoryContext, size + 1);
	for (size_t i = 0; i < n; i++)
	{
		const LookupValues *group = &source->groups[n - 1 - i];

		positions[2 * i] = (uint64) group->first;
		positions[2 * i + 1] = (uint64) (group->first + group->values);
	}
	if (n > 0 && !resident_rows_look(rows, SORT_LOOK_SUM, positions, 2 * n, sums))
		return false;
	for (size_t i = 0; i < n; i++)
	{
		LookupValues *group = &source->groups[n - 1 - i];

		if (group->values > 0 &&
			!lookup_keys_sum(&source->keys, sums[2 * i + 1] - sums[2 * i],
							 lookup->groups[n - 1 - i].code, group->values, &group->sum))
			return resident_rows_are_wrong(rows);
	}
	pfree(positions);
	pfree(sums);
	return true;
}

/*
 * What the node returns of a group's columns: numbers of the query's dictionaries, which have been
 * found, and of labels their places, as the derived columns have them.
 */
static void
read_group(const GroupsState *node, const LookupGroup *group, GroupValues *values)
{
	const GroupsLookup *lookup = node->lookup;
	const LookupKeys *keys = &lookup->all->keys;

	group_code_values(&keys->layout, (uint64) group->code << keys->value_bits, values);
	for (int g = 0; g < node->ngroups; g++)
	{
		int			c = keys->fields[g].column;

		if (values->nulls[g])
			continue;
		if (groups_maps_have(lookup->maps, g))
			values->values[g] = lookup->maps->fields[g].values[values->values[g]];
		else if (lookup->numbers[c].rows)
			values->values[g] = lookup->numbers[c].numbers[values->values[g]];
		else if (node->derived.of_groups[g])
			values->values[g] = derived_deserialize(node->derived.of_groups[g],
													values->values[g] +
													column_kind_bias(COLUMN_KIND_ENUM));
		else
			values->values[g] += lookup->origins[c];
	}
}

/* Finds numbers in the query's dictionaries for all groups; false if it cannot. */
static bool
number_groups(const GroupsState *node)
{
	GroupsLookup *lookup = node->lookup;
	const LookupKeys *keys = &lookup->all->keys;
	GroupValues *values = &lookup->at.group;

	for (size_t i = 0; i < lookup->ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		group_code_values(&keys->layout, (uint64) lookup->groups[i].code << keys->value_bits,
						  values);
		for (int g = 0; g < node->ngroups; g++)
			if (!groups_maps_have(lookup->maps, g) &&
				lookup->numbers[keys->fields[g].column].rows && !values->nulls[g] &&
				groups_numbers_find(&lookup->numbers[keys->fields[g].column],
									(int32) values->values[g]) < 0)
				return false;
	}
	return true;
}

/* Groups while they are put in the order of labels. */
typedef struct GroupOrder
{
	const GroupsState *node;
	GroupValues left;
	GroupValues right;
} GroupOrder;

/* For qsort_arg: groups are kept from the last one to the first. */
static int
compare_groups(const void *a, const void *b, void *arg)
{
	GroupOrder *order = (GroupOrder *) arg;

	read_group(order->node, (const LookupGroup *) a, &order->left);
	read_group(order->node, (const LookupGroup *) b, &order->right);
	/* the last one first */
	return group_values_compare(order->node->groups, order->node->ngroups, &order->right,
								&order->left);
}

/* Puts groups that come in the order of their codes into that of the labels. */
static void
order_groups(const GroupsState *node)
{
	GroupsLookup *lookup = node->lookup;
	GroupOrder	order = {
		node, group_values_make(node->ngroups + 1), group_values_make(node->ngroups + 1)
	};

	qsort_arg(lookup->groups, lookup->ngroups, sizeof(LookupGroup), compare_groups, &order);
	group_values_free(&order.left);
	group_values_free(&order.right);
}

/* Finds all that the node returns of a source; false if one of the steps could not. */
static bool
find_source(GroupsState *node, LookupSource *source, ResidentRows *rows)
{
	GroupsLookup *lookup = node->lookup;

	source->keys.summed &= !source->distinct;
	if (!lookup_keys_sort(&source->keys, &lookup->notes, rows))
		return false;
	if (lookup->nsources == 1)
		lookup_notes_end(&lookup->notes);
	if (!find_groups(lookup, source, rows, node->ngroups > 0))
		return false;
	/* Direct arguments raise no errors where there is no group. */
	if (lookup->ngroups > 0)
		groups_prepare_results(node);
	if (!want_positions(node, source) ||
		(source->keys.has_value && !find_values(lookup, source, rows)) ||
		(source->distinct && !find_distinct(source, rows)) ||
		(source->sums && !find_sums(lookup, source, rows)))
		return false;
	resident_rows_end(rows);
	return true;
}

/* Finds all that the node returns; false if one of the steps could not. */
static bool
find_all(GroupsState *node, ResidentRows *rows)
{
	GroupsLookup *lookup = node->lookup;
	uint32		most = 1;

	/*
	 * Direct arguments may run any function, which must not wait while the job holds a chunk for
	 * its first question.
	 */
	if (node->ngroups == 0)
		groups_prepare_results(node);
	find_origins(lookup, rows);
	lookup->numbers = groups_numbers_make(node, rows, lookup->all->keys.fields,
										  lookup->handler.jobs.mapped, &lookup->notes);
	if (lookup->numbers == NULL ||
		!groups_maps_find(lookup->maps, node, rows, lookup->numbers, &lookup->notes) ||
		!find_source(node, lookup->all, rows))
		return false;
	for (int s = 0; s < lookup->nsources; s++)
	{
		if (&lookup->sources[s] != lookup->all && !find_source(node, &lookup->sources[s], rows))
			return false;
		for (size_t g = 0; g < lookup->ngroups; g++)
			most = Max(most, lookup->sources[s].groups[g].nanswers);
	}
	lookup->at.run_counts = palloc_array(int64, most);
	if (!number_groups(node))
		return false;
	if (lookup->ranked)
		order_groups(node);
	return true;
}

/*
 * A ResidentRowsHandler's function.  Returns whether the groups have been found; otherwise the
 * scan reads the resident rows, too.
 */
static bool
handle_rows(void *arg, struct ResidentRows *rows)
{
	GroupsState *node = (GroupsState *) arg;
	GroupsLookup *lookup = node->lookup;
	MemoryContext old = MemoryContextSwitchTo(lookup->memory);

	lookup->at.group = group_values_make(node->ngroups + 1);
	if (!lookup->notes.closed)
		lookup->found = find_all(node, rows);
	resident_rows_end(rows);
	lookup_notes_end(&lookup->notes);
	if (lookup->found)
		lookup->at.next = lookup->ngroups;
	else
	{
		groups_lookup_free(lookup);
		charge(lookup, false);
	}
	MemoryContextSwitchTo(old);
	return lookup->found;
}

/* --- reading */

static bool
next_group(GroupReader *reader, const GroupValues **group, int64 *rows)
{
	GroupsLookup *lookup = (GroupsLookup *) reader;
	const LookupGroup *next;

	if (lookup->at.next == 0)
		return false;
	next = &lookup->groups[--lookup->at.next];
	read_group(lookup->handler.arg, next, &lookup->at.group);
	*group = &lookup->at.group;
	*rows = next->rows;
	return true;
}

/* Returns what is known of a source in the present group. */
static const LookupValues *
values_of(const GroupsLookup *lookup, int s)
{
	return &lookup->sources[s].groups[lookup->groups[lookup->at.next].place];
}

/*
 * Counts from positions and sums, and makes the runs: each answer stands for the rows behind the
 * answer before it, up to its own, and rows behind the last answer are in no run.  Smallest and
 * largest value are the first and the last answer: right if they are wanted, and otherwise not
 * read.  The sum of a source with runs is what these leave of it, because they are going to be
 * added.
 */
static void
count_values(GroupReader *reader, int s, SourceCounts *counts)
{
	GroupsLookup *lookup = (GroupsLookup *) reader;
	const GroupsState *node = (const GroupsState *) lookup->handler.arg;
	const LookupSource *source = &lookup->sources[s];
	const LookupValues *group = values_of(lookup, s);
	const int64 *positions = source->positions + group->answers;
	const int64 *values = source->values + group->answers;
	ValueSummary *summary = &counts->summary;
	int64		before = 0;

	memset(counts, 0, sizeof(*counts));
	counts->nulls = group->nulls;
	counts->refused = lookup->groups[lookup->at.next].rows - group->values - group->nulls;
	summary->n = group->values;
	summary->sum = (ValueSum) source->keys.origin * group->values + group->sum;
	lookup->at.read = false;
	for (uint32 i = 0; i < group->nanswers; i++)
	{
		lookup->at.run_counts[i] = positions[i] + 1 - before;
		before = positions[i] + 1;
		if (node->value_sources[s].runs)
			summary->sum -= (ValueSum) values[i] * lookup->at.run_counts[i];
	}
	if (group->nanswers > 0)
	{
		summary->min = values[0];
		summary->max = values[group->nanswers - 1];
	}
}

/* Returns the runs of the group's source, as one block. */
static size_t
next_runs(GroupReader *reader, int s, const int64 **values, const int64 **run_counts)
{
	GroupsLookup *lookup = (GroupsLookup *) reader;
	const LookupValues *group = values_of(lookup, s);

	if (lookup->at.read)
		return 0;
	lookup->at.read = true;
	*values = lookup->sources[s].values + group->answers;
	*run_counts = lookup->at.run_counts;
	return group->nanswers;
}

static int64
count_distinct(GroupReader *reader, int s)
{
	return ((const GroupsLookup *) reader)->sources[s].ndistinct;
}

static const GroupReaderMethods lookup_reader_methods = {
	.next = next_group,
	.count = count_values,
	.runs = next_runs,
	.distinct = count_distinct,
};

GroupReader *
groups_lookup_open(GroupsLookup *lookup)
{
	lookup->reader.methods = &lookup_reader_methods;
	return lookup->found ? &lookup->reader : NULL;
}
