/*
 * groups_lookup.c
 *		HpSort Aggregate whose groups are looked up among keys that the GPU has put in order (see
 *		groups_state.h).
 *
 * The key of a row is the code of its group above the place of its value, in 32 bits.  In the
 * keys' order each group's rows are side by side, its NULLs last, so that where groups begin says
 * how many rows and values they have, and percentiles, smallest and largest values are keys at
 * some positions.  So nothing but these positions and keys crosses the bus.
 *
 * Where extents have numbers of values, groups are of these numbers (groups_numbers.h).
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
#include "pg/nodes/aggregate/groups_numbers.h"
#include "pg/nodes/aggregate/groups_state.h"
#include "pg/nodes/aggregate/read/read.h"

/*
 * The most bits of a group's code: a million codes take 2 million questions, 24 MB with their
 * answers.
 */
#define GROUP_BITS 20

typedef struct LookupGroup
{
	uint32		code;			/* of its grouping columns, without the place of a value */
	uint32		nanswers;		/* how many of its positions are wanted */
	int64		first;			/* position of its first key */
	int64		rows;
	int64		values;			/* of the rows, not NULL */
	size_t		answers;		/* the index of its first answer among all answers */
} LookupGroup;

/* The group being read. */
typedef struct LookupPosition
{
	size_t		next;			/* groups from here on have been returned, this one last */
	bool		read;			/* its runs have been read */
	GroupValues group;
	int64	   *run_counts;		/* of its answers as runs */
} LookupPosition;

struct GroupsLookup
{
	GroupReader reader;			/* first, because a reader is cast to its look-up */
	ResidentRowsHandler handler;	/* which the scan calls; its arg is the node */
	int			ncolumns;		/* of the scan */
	int			nfields;		/* grouping columns, and then the value, if there is one */
	GroupColumn *fields;		/* of the layout: the columns as keys have them */
	int64	   *origins;		/* by column of the scan: what is 0 for the GPU */
	bool		has_value;		/* aggregates are of a column, whose place is the last in a key */
	bool		ranked;			/* groups by an enum come in the order of its labels, not of the
								 * codes */
	bool		extremes;		/* the smallest and the largest value are wanted */
	bool		distinct;		/* how many different values there are is wanted */

	/* of an execution */
	MemoryContext memory;
	LookupNotes notes;			/* rows of blocks that are not resident */
	size_t		limit;			/* bytes, of groups and of their answers each, and of the notes
								 * before */
	bool		charged;		/* the aggregation has lent the look-up its share */
	GroupsNumbers *numbers;		/* by field */
	GroupCode	layout;			/* of keys: grouping columns above the value */
	int			value_bits;		/* of a key, for the place of its value */
	uint32		offset;			/* what is added to a code to make a key that is signed */
	bool		found;			/* all that follows is known */
	LookupGroup *groups;		/* in the reverse order: the last one is returned first */
	size_t		ngroups;
	size_t		groups_room;
	int64	   *positions;		/* among a group's values, ascending; of all answers */
	int64	   *values;			/* ... which are these */
	size_t		nanswers;		/* of all groups */
	int64		ndistinct;		/* different values of the only group, if distinct */

	LookupPosition at;
};

/* --- which nodes */

/* Notes what an output needs; false if it needs more than positions. */
static bool
note_output(GroupsLookup *lookup, const GroupsState *node, const GroupsOutput *output)
{
	AggregateFunction function = output->answer.function;

	if (output->answer.form != DERIVED_NONE ||
		!aggref_is_looked_up(&output->answer, node->ngroups > 0))
		return false;
	lookup->extremes |= function == AGGREGATE_FUNCTION_MIN || function == AGGREGATE_FUNCTION_MAX;
	lookup->distinct |= output->answer.distinct;
	return true;
}

static bool handle_rows(void *arg, struct ResidentRows *rows);

/*
 * Fills in the fields of the grouping columns, of which each must be a column of the table; false
 * if groups are of expressions.  Where groups are places of an enum's labels, the field is the
 * labels, which are what is resident.
 */
static bool
find_fields(GroupsLookup *lookup, const GroupsState *node)
{
	const List *groups = list_nth(((CustomScan *) node->css.ss.ps.plan)->custom_private,
								  GROUPS_PLAN_GROUPS);
	int			g;

	for (g = 0; g < node->ngroups; g++)
	{
		DerivedForm form = (DerivedForm) list_nth_int(groups, g * GROUPS_PLAN_NUMBERS + 1);

		lookup->fields[g] = node->groups[g];
		if (form != DERIVED_NONE && form != DERIVED_RANKS)
			return false;
		if (form == DERIVED_NONE)
			continue;
		lookup->ranked = true;
		lookup->fields[g].column = derived_base(node->derived.of_groups[g]);
		lookup->fields[g].kind = COLUMN_KIND_ENUM;
	}
	return true;
}

GroupsLookup *
groups_lookup_make(GroupsState *node)
{
	GroupsLookup *lookup = palloc0_object(GroupsLookup);
	int			i;

	if (node->sources.nfilters > 0 || node->sources.nsources != 1 || node->nvalue_sources > 1 ||
		node->sources.ordered)
		return NULL;
	for (i = 0; i < node->noutputs; i++)
		if (!note_output(lookup, node, &node->outputs[i]))
			return NULL;
	lookup->ncolumns = node->sources.ncolumns;
	lookup->nfields = node->ngroups + node->nvalue_sources;
	/* A column that is both is not in the key twice. */
	if (lookup->nfields != lookup->ncolumns)
		return NULL;
	lookup->fields = palloc0_array(GroupColumn, Max(lookup->nfields, 1));
	lookup->origins = palloc0_array(int64, Max(lookup->ncolumns, 1));
	if (!find_fields(lookup, node))
		return NULL;
	lookup->has_value = node->nvalue_sources > 0;
	if (lookup->has_value)
	{
		lookup->fields[node->ngroups].column = node->value_sources[0].column;
		lookup->fields[node->ngroups].kind = node->value_sources[0].kind;
	}
	/* Of wide kinds, too, a GPU has only int4: distances from an origin. */
	for (i = 0; i < lookup->nfields; i++)
		if (column_kind_is_wide(lookup->fields[i].kind))
			lookup->fields[i].kind = COLUMN_KIND_INT4;
	lookup->memory = AllocSetContextCreate(node->memory, "HpSort Aggregate lookup",
										   ALLOCSET_DEFAULT_SIZES);
	lookup->handler = (ResidentRowsHandler)
	{
		.handle = handle_rows,.arg = node,.counted = node->ngroups > 0 && !lookup->ranked
	};
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
	lookup->limit = node->budget.lookup / 2;
	lookup_notes_begin(&lookup->notes, lookup->memory, lookup->ncolumns, lookup->limit);
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

void
groups_lookup_note(GroupsLookup *lookup, const ColumnBatch *batches)
{
	int			c;

	if (lookup->handler.rows == NULL || lookup->notes.closed)
		return;
	for (c = 0; c < lookup->ncolumns && lookup->notes.n == 0; c++)
		lookup->origins[c] = resident_rows_origin(lookup->handler.rows, c);
	charge(lookup, true);
	lookup_notes_add(&lookup->notes, batches);
	charge(lookup, !lookup->notes.closed);
}

/* --- keys */

/*
 * Prepares the numbers of a field, whose numbers in extents have these bounds (lo > hi: none);
 * false if it cannot.
 */
static bool
begin_numbers(GroupsLookup *lookup, const ResidentRows *rows, int f, int32 lo, int32 hi)
{
	const GroupsState *node = (const GroupsState *) lookup->handler.arg;
	GroupsNumbers *numbers = &lookup->numbers[f];
	int			c = lookup->fields[f].column;
	const ColumnImage *image = node->images ? &node->images[c] : NULL;

	numbers->rows = NULL;
	if (image == NULL || image->dictionary == NULL)
		return true;
	/* How many values there are is all that is asked of those that are not grouped by. */
	return (f >= node->ngroups || hi < 1 << GROUP_BITS) &&
		groups_numbers_begin(numbers, rows, c, image->dictionary, lo, hi, f < node->ngroups,
							 &lookup->notes);
}

/*
 * Makes the layout of all rows, of resident and of noted ones; false if it cannot: keys take 32
 * bits at most, and groups GROUP_BITS.
 */
static bool
make_layout(GroupsLookup *lookup, const ResidentRows *rows)
{
	KeyRange   *ranges = palloc_array(KeyRange, Max(lookup->nfields, 1));
	int			f;

	lookup->numbers = palloc_array(GroupsNumbers, Max(lookup->nfields, 1));
	for (f = 0; f < lookup->nfields; f++)
	{
		int			c = lookup->fields[f].column;
		int32		lo;
		int32		hi;
		bool		nulls;

		lookup->origins[c] = resident_rows_origin(rows, c);
		resident_rows_bounds(rows, c, &lo, &hi, &nulls);
		if (!begin_numbers(lookup, rows, f, lo, hi))
			return false;
		if (lookup->fields[f].kind == COLUMN_KIND_PRESENCE && lo <= hi)
			lo = hi = 0;
		ranges[f] = EMPTY_KEY_RANGE;
		if (lo <= hi)
			ranges[f] = (KeyRange)
		{
			field_image(lo), field_image(hi), false
		};
		ranges[f].nulls = nulls;
		if (lookup->notes.n > 0)
			field_range_add_batch(&ranges[f], &lookup->notes.columns[c]);
	}
	group_code_init(&lookup->layout, lookup->fields, lookup->nfields);
	group_layout_widen(&lookup->layout, ranges);
	pfree(ranges);
	if (lookup->layout.code.bits > 32)
		return false;
	lookup->value_bits = lookup->layout.code.bits;
	if (lookup->nfields > lookup->has_value)
		lookup->value_bits = lookup->has_value ?
			lookup->layout.code.columns[lookup->nfields - 2].shift : 0;
	lookup->offset = lookup->layout.code.bits == 32 ? UINT32_C(1) << 31 : 0;
	return lookup->layout.code.bits - lookup->value_bits <= GROUP_BITS;
}

/* Returns the key of a code.  Keys are signed, and in the order of the codes. */
static int32
key_of_code(const GroupsLookup *lookup, uint64 code)
{
	return (int32) ((uint32) code + lookup->offset);
}

static uint32
code_of_key(const GroupsLookup *lookup, int32 key)
{
	return (uint32) key - lookup->offset;
}

/*
 * How the GPU makes keys of rows: to the key of each column's smallest value, or of NULL where
 * there is none, it adds what the row's values differ from these.
 */
static void
describe_rows(const GroupsLookup *lookup, RowsLayout *layout)
{
	uint64		base = 0;
	int			f;

	memset(layout, 0, sizeof(*layout));
	for (f = 0; f < lookup->nfields; f++)
	{
		const KeyCodeColumn *field = &lookup->layout.code.columns[f];
		const KeyRange *range = &field->range;
		RowsColumn *column = &layout->columns[lookup->fields[f].column];
		bool		empty = key_range_is_empty(range);
		uint64		least = key_code_place(field, range->lo, empty);

		base += least * field->stride;
		column->flags = ROWS_IN_KEY;
		if (range->nulls)
		{
			column->flags |= ROWS_NULL_IN_KEY;
			column->null_adds = (uint32) ((field->null - least) * field->stride);
		}
		/* Of a column that is always NULL nothing else is expected. */
		if (empty)
			continue;
		/* Any value adds nothing. */
		if (lookup->fields[f].kind == COLUMN_KIND_PRESENCE)
		{
			column->lo = PG_INT32_MIN;
			column->last = PG_UINT32_MAX;
			continue;
		}
		column->lo = (int32) field_value(range->lo);
		column->last = (uint32) (range->hi - range->lo);
		column->stride = (uint32) (field->descending ? 0 - field->stride : field->stride);
	}
	layout->base = (uint32) key_of_code(lookup, base);
}

/* Returns the keys of the rows that have been noted, in their order.  The caller frees them. */
static int32 *
make_keys(GroupsLookup *lookup)
{
	int32	   *keys = MemoryContextAllocHuge(lookup->memory,
											  Max(lookup->notes.n, 1) * sizeof(int32));
	uint64	   *codes = palloc_array(uint64, COLUMN_BATCH_KEYS);
	ColumnBatch *part = palloc_array(ColumnBatch, Max(lookup->ncolumns, 1));
	size_t		at;
	size_t		i;

	for (at = 0; at < lookup->notes.n; at += COLUMN_BATCH_KEYS)
	{
		size_t		n = Min(lookup->notes.n - at, COLUMN_BATCH_KEYS);
		int			c;

		CHECK_FOR_INTERRUPTS();
		for (c = 0; c < lookup->ncolumns; c++)
		{
			part[c] = lookup->notes.columns[c];
			part[c].n = n;
			part[c].keys += at;
			part[c].nulls += at;
		}
		group_layout_codes(&lookup->layout, part, (int) n, codes);
		for (i = 0; i < n; i++)
			keys[at + i] = key_of_code(lookup, codes[i]);
	}
	return keys;
}

/* Has the GPU put the keys of all rows in order; false if it could not.  Frees the notes. */
static bool
sort_looked_up_rows(GroupsLookup *lookup, ResidentRows *rows)
{
	RowsLayout	layout;
	int32	   *keys;
	bool		sorted;

	if (!make_layout(lookup, rows))
		return false;
	describe_rows(lookup, &layout);
	keys = make_keys(lookup);
	lookup_notes_end(&lookup->notes);
	sorted = resident_rows_sort(rows, &layout, key_of_code(lookup, 0),
								key_of_code(lookup,
											(UINT64CONST(1) << lookup->layout.code.bits) - 1), keys,
								lookup->notes.n);
	pfree(keys);
	return sorted;
}

/* --- groups */

/* Codes whose keys are looked for at once. */
#define CODES_AT_ONCE 32768

/* Notes a group; false if groups take too much memory. */
static bool
add_group(GroupsLookup *lookup, LookupGroup group)
{
	if (lookup->ngroups == lookup->groups_room)
	{
		size_t		room = Max(lookup->groups_room * 2, 1024);

		if ((lookup->groups_room + room) * sizeof(LookupGroup) > lookup->limit && room > 1024)
			return false;
		lookup->groups = lookup->groups_room == 0 ? palloc_array(LookupGroup, room) :
			repalloc_huge(lookup->groups, room * sizeof(LookupGroup));
		lookup->groups_room = room;
	}
	lookup->groups[lookup->ngroups++] = group;
	return true;
}

/*
 * Looks for the keys of groups with codes from .. to - 1.  Sets below to how many keys are less
 * than the first key of each group, and with nulls, behind these, how many are less than the key
 * of its NULLs.  keys and below have room.  Returns false if the GPU could not.
 */
static bool
look_for_codes(GroupsLookup *lookup, ResidentRows *rows, uint32 from, uint32 to, bool nulls,
			   uint32 null_place, int32 *keys, uint64 *below)
{
	uint32		n = to - from;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		keys[i] = key_of_code(lookup, (uint64) (from + i) << lookup->value_bits);
		keys[n + i] = key_of_code(lookup, ((uint64) (from + i) << lookup->value_bits) + null_place);
	}
	return resident_rows_look(rows, SORT_LOOK_BELOW, keys, nulls ? 2 * (size_t) n : n, below);
}

/*
 * Finds the groups, from the last one to the first, by where their keys, and keys of their NULLs,
 * begin.  False if the GPU could not, if there are too many, or if what it says is impossible.
 */
static bool
find_groups(GroupsLookup *lookup, ResidentRows *rows, bool grouped)
{
	uint32		ncodes = UINT32_C(1) << (lookup->layout.code.bits - lookup->value_bits);
	const KeyCodeColumn *columns = lookup->layout.code.columns;
	bool		nulls = lookup->has_value && columns[lookup->nfields - 1].range.nulls;
	uint32		null_place = nulls ? (uint32) columns[lookup->nfields - 1].null : 0;
	size_t		most = 2 * (size_t) Min(ncodes, CODES_AT_ONCE);
	int32	   *keys = palloc_array(int32, most);
	uint64	   *below = palloc_array(uint64, most);
	int64		end = resident_rows_keys(rows);
	uint32		to;
	uint32		from;
	uint32		g;

	lookup->ngroups = lookup->groups_room = 0;
	for (to = ncodes; to > 0; to = from)
	{
		from = to > CODES_AT_ONCE ? to - CODES_AT_ONCE : 0;
		CHECK_FOR_INTERRUPTS();
		/* All keys are of the only group. */
		if (ncodes == 1 && !nulls)
			below[0] = 0;
		else if (!look_for_codes(lookup, rows, from, to, nulls, null_place, keys, below))
			return false;
		for (g = to; g-- > from;)
		{
			int64		start = (int64) below[g - from];
			int64		values_end = nulls ? (int64) below[to - from + g - from] : end;
			LookupGroup group = {.code = g,.first = start,.rows = end - start,
			.values = values_end - start};

			if (start > end || values_end < start || values_end > end || (g == 0 && start != 0))
				return false;
			if ((end > start || !grouped) && !add_group(lookup, group))
				return false;
			end = start;
		}
	}
	pfree(keys);
	pfree(below);
	return true;
}

/* Lists the positions that are wanted of all groups; false if they take too much memory. */
static bool
want_positions(GroupsState *node)
{
	GroupsLookup *lookup = node->lookup;
	size_t		most = groups_most_positions(node);
	int64	   *wanted;
	size_t		g;

	if (most > lookup->limit / sizeof(int64) / 4 / Max(lookup->ngroups, 1) &&
		most * lookup->ngroups > 1024)
		return false;
	lookup->positions = MemoryContextAllocHuge(CurrentMemoryContext,
											   most * lookup->ngroups * sizeof(int64) + 1);
	wanted = palloc_array(int64, most);
	lookup->nanswers = 0;
	for (g = lookup->ngroups; g-- > 0;)
	{
		LookupGroup *group = &lookup->groups[g];

		CHECK_FOR_INTERRUPTS();
		group->nanswers = groups_list_positions(node, group->values, group->rows - group->values,
												lookup->extremes, wanted);
		group->answers = lookup->nanswers;
		memcpy(lookup->positions + lookup->nanswers, wanted, group->nanswers * sizeof(int64));
		lookup->nanswers += group->nanswers;
	}
	pfree(wanted);
	return true;
}

/* Looks up the values at the positions; false if the GPU could not, or is wrong. */
static bool
find_values(GroupsLookup *lookup, ResidentRows *rows)
{
	size_t		n = lookup->nanswers;
	uint64	   *positions = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(uint64) + 1);
	int32	   *keys = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int32) + 1);
	uint64		mask = (UINT64CONST(1) << lookup->value_bits) - 1;
	const KeyRange *range = &lookup->layout.code.columns[lookup->nfields - 1].range;
	const GroupColumn *field = &lookup->fields[lookup->nfields - 1];
	int64		origin = column_kind_bias(field->kind) + resident_rows_origin(rows, field->column);
	uint32		most = 1;
	size_t		g;
	size_t		i;

	for (g = lookup->ngroups; g-- > 0;)
	{
		const LookupGroup *group = &lookup->groups[g];

		for (i = group->answers; i < group->answers + group->nanswers; i++)
			positions[i] = (uint64) (group->first + lookup->positions[i]);
		most = Max(most, group->nanswers);
	}
	lookup->at.run_counts = palloc_array(int64, most);
	if (n > 0 && !resident_rows_look(rows, SORT_LOOK_AT, positions, n, keys))
		return false;
	lookup->values = (int64 *) positions;
	for (g = lookup->ngroups; g-- > 0;)
	{
		const LookupGroup *group = &lookup->groups[g];

		for (i = group->answers; i < group->answers + group->nanswers; i++)
		{
			uint32		code = code_of_key(lookup, keys[i]);

			if (((uint64) code >> lookup->value_bits) != group->code ||
				(code & mask) >= key_range_images(range))
				return false;
			lookup->values[i] = field_value(range->lo) + (int64) (code & mask) + origin;
		}
	}
	pfree(keys);
	return true;
}

/*
 * Asks how many different values there are, which is one less than the keys where there are NULLs;
 * false if the GPU could not, or if the number is impossible.
 */
static bool
find_distinct(GroupsLookup *lookup, ResidentRows *rows)
{
	const LookupGroup *group = &lookup->groups[0];
	int32		question = 0;
	uint64		answer;

	if (!resident_rows_look(rows, SORT_LOOK_DISTINCT, &question, 1, &answer))
		return false;
	lookup->ndistinct = (int64) answer - (group->rows > group->values ? 1 : 0);
	return lookup->ndistinct >= 0 && lookup->ndistinct <= group->values;
}

/*
 * What the node returns of a group's columns: numbers of the query's dictionaries, which have been
 * found (number_groups), and of labels their places, as the derived columns have them.
 */
static void
read_group(const GroupsState *node, const LookupGroup *group, GroupValues *values)
{
	const GroupsLookup *lookup = node->lookup;
	int			g;

	group_code_values(&lookup->layout, (uint64) group->code << lookup->value_bits, values);
	for (g = 0; g < node->ngroups; g++)
	{
		if (values->nulls[g])
			continue;
		if (lookup->numbers[g].rows)
			values->values[g] = lookup->numbers[g].numbers[values->values[g]];
		else if (node->derived.of_groups[g])
			values->values[g] = derived_deserialize(node->derived.of_groups[g],
													values->values[g] +
													column_kind_bias(COLUMN_KIND_ENUM));
		else
			values->values[g] += lookup->origins[lookup->fields[g].column];
	}
}

/* Finds numbers in the query's dictionaries for all groups; false if it cannot. */
static bool
number_groups(const GroupsState *node)
{
	GroupsLookup *lookup = node->lookup;
	GroupValues *values = &lookup->at.group;
	size_t		i;
	int			g;

	for (i = 0; i < lookup->ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		group_code_values(&lookup->layout, (uint64) lookup->groups[i].code << lookup->value_bits,
						  values);
		for (g = 0; g < node->ngroups; g++)
			if (lookup->numbers[g].rows && !values->nulls[g] &&
				groups_numbers_find(&lookup->numbers[g], (int32) values->values[g]) < 0)
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
	return group_values_compare(order->node->groups, order->node->ngroups, &order->right,
								&order->left);
}

/* Puts groups that come in the order of their codes into that of the labels. */
static void
order_groups(const GroupsState *node)
{
	GroupsLookup *lookup = node->lookup;
	GroupOrder	order = {
		node, group_values_make(Max(lookup->nfields, 1)), group_values_make(Max(lookup->nfields, 1))
	};

	qsort_arg(lookup->groups, lookup->ngroups, sizeof(LookupGroup), compare_groups, &order);
}

/* Finds all that the node returns; false if one of the steps could not. */
static bool
find_all(GroupsState *node, ResidentRows *rows)
{
	GroupsLookup *lookup = node->lookup;

	/*
	 * Direct arguments may run any function, which must not wait while the job holds a chunk for
	 * its first question.
	 */
	if (node->ngroups == 0)
		groups_prepare_results(node);
	if (!sort_looked_up_rows(lookup, rows) || !find_groups(lookup, rows, node->ngroups > 0))
		return false;
	/* Direct arguments raise no errors where there is no group. */
	if (lookup->ngroups > 0)
		groups_prepare_results(node);
	if (!want_positions(node) || (lookup->has_value && !find_values(lookup, rows)) ||
		(lookup->distinct && !find_distinct(lookup, rows)) ||
		!number_groups(node))
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

	lookup->at.group = group_values_make(Max(lookup->nfields, 1));
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
	lookup->at.read = false;
	return true;
}

/*
 * Counts from positions alone.  Smallest and largest value are the first and the last answer:
 * right if they are wanted, and otherwise not read.
 */
static void
count_values(GroupReader *reader, int source, SourceCounts *counts)
{
	const GroupsLookup *lookup = (const GroupsLookup *) reader;
	const LookupGroup *group = &lookup->groups[lookup->at.next];

	memset(counts, 0, sizeof(*counts));
	counts->nulls = group->rows - group->values;
	counts->summary.n = group->values;
	if (group->nanswers > 0)
	{
		counts->summary.min = lookup->values[group->answers];
		counts->summary.max = lookup->values[group->answers + group->nanswers - 1];
	}
}

/*
 * Returns the answers as one block of runs: each stands for the rows behind the answer before it,
 * up to its own.  Rows behind the last answer are in no run.
 */
static size_t
next_runs(GroupReader *reader, int source, const int64 **values, const int64 **run_counts)
{
	GroupsLookup *lookup = (GroupsLookup *) reader;
	const LookupGroup *group = &lookup->groups[lookup->at.next];
	int64		before = 0;
	uint32		i;

	if (lookup->at.read)
		return 0;
	lookup->at.read = true;
	for (i = 0; i < group->nanswers; i++)
	{
		lookup->at.run_counts[i] = lookup->positions[group->answers + i] + 1 - before;
		before = lookup->positions[group->answers + i] + 1;
	}
	*values = lookup->values + group->answers;
	*run_counts = lookup->at.run_counts;
	return group->nanswers;
}

static int64
count_distinct(GroupReader *reader)
{
	return ((const GroupsLookup *) reader)->ndistinct;
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
