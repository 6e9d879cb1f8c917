/*
 * first_rows.c
 *		The first rows of each group among resident rows, found by a GPU (see first_rows.h).
 *
 * A key is a row's group above the place of its first key after the group's, in the order that is
 * wanted.  One job puts the keys of all rows in order, in which the last wanted row of each group
 * is looked up.  A second job finds the rows whose keys are not behind that row's.  Among them are
 * the wanted ones, however further keys, or rows from pages, decide: the bound by group looks at
 * the rows of these blocks as at any others.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/first_rows.h"
#include "pg/resident/gpu/resident_rows.h"

/* Of a dense_rank() each different key takes two questions, and this many are asked for at most. */
#define DENSE_MOST 256

/* What keys are made of: key_of. */
typedef struct FirstKeys
{
	uint64		places;			/* of a group */
	uint64		groups;
	uint32		offset;			/* added to a code to make a key that is signed */
	uint64		values[ROWS_MAX_COLUMNS];	/* of a column that have places, without NULL ... */
	uint64		of_column[ROWS_MAX_COLUMNS];	/* ... and places, with that of NULL */
} FirstKeys;

/* Returns the key of a place of a group.  Keys are in the order of groups, and of places. */
static int32
key_of(const FirstKeys *keys, uint64 group, uint64 place)
{
	return (int32) ((uint32) (group * keys->places + place) + keys->offset);
}

/* Describes how rows become keys; false if these take more than 32 bits. */
static bool
describe_rows(const FirstRows *first, const ResidentRows *rows, RowsLayout *layout, FirstKeys *keys)
{
	uint64		stride = 1;
	int			ngroup = first->bound->spec.ngroup;

	memset(layout, 0, sizeof(*layout));
	for (int c = ngroup; c >= 0; c--)
	{
		const KeyColumn *key = &first->bound->store->keys->keys[c];
		RowsColumn *column = &layout->columns[c];
		int32		lo;
		int32		hi;
		bool		nulls;
		uint64		values;
		uint64		least;

		resident_rows_bounds(rows, c, &lo, &hi, &nulls);
		values = lo <= hi ? (uint64) ((int64) hi - lo) + 1 : 0;
		keys->values[c] = values;
		least = nulls && key->nulls_first ? 1 : 0;
		column->flags = ROWS_IN_KEY | (nulls ? ROWS_NULL_IN_KEY : 0);
		column->null_adds = (uint32) (stride * (key->nulls_first ? 0 : values));
		if (values > 0)
		{
			least += key->descending ? values - 1 : 0;
			column->lo = lo;
			column->last = (uint32) (values - 1);
			column->stride = (uint32) (key->descending ? 0 - stride : stride);
			column->null_adds -= (uint32) (stride * least);
			layout->base += (uint32) (stride * least);
		}
		keys->of_column[c] = Max(values + nulls, 1);
		if (keys->of_column[c] > (UINT64CONST(1) << 32) / stride)
			return false;
		stride *= keys->of_column[c];
		if (c == ngroup)
			keys->places = stride;
	}
	keys->groups = stride / keys->places;
	keys->offset = stride > UINT64CONST(1) << 31 ? UINT32_C(1) << 31 : 0;
	layout->base += keys->offset;
	return true;
}

/* Has the GPU put the keys of all rows in order. */
static bool
sort_rows(ResidentRows *rows, RowsLayout *layout, const FirstKeys *keys)
{
	return resident_rows_sort(rows, -1, layout, key_of(keys, 0, 0),
							  key_of(keys, keys->groups - 1, keys->places - 1), NULL, 0);
}

/*
 * Sets starts to where the keys of each group begin, and behind these to how many keys there are;
 * false if the GPU could not, or is wrong.
 */
static bool
find_groups(ResidentRows *rows, const FirstKeys *keys, uint64 *starts)
{
	int32	   *asked = palloc_array(int32, keys->groups);

	for (uint64 g = 0; g < keys->groups; g++)
		asked[g] = key_of(keys, g, 0);
	if (!resident_rows_look(rows, SORT_LOOK_BELOW, asked, keys->groups, starts))
		return false;
	starts[keys->groups] = (uint64) resident_rows_keys(rows);
	for (uint64 g = 0; g < keys->groups; g++)
		if (starts[g] > starts[g + 1] || starts[0] != 0)
			return resident_rows_are_wrong(rows);
	return true;
}

/*
 * Sets the end of each range, which is that of one of n groups, to the key of the last of wanted
 * rows, or different keys, of the group if it has as many.  at is where each group's keys begin,
 * and end where they end.  False if the GPU could not, or is wrong.
 */
static bool
find_last(ResidentRows *rows, const GroupBoundSpec *spec, uint64 wanted, size_t n, uint64 *at,
		  const uint64 *end, ValueRange *ranges)
{
	bool		dense = spec->kind == GROUP_BOUND_DENSE_RANKS;
	uint64		steps = dense ? wanted : 1;
	uint64	   *asked = palloc_array(uint64, n);
	int32	   *keys = palloc_array(int32, n);
	size_t	   *groups = palloc_array(size_t, n);

	for (size_t i = 0; i < n; i++)
	{
		groups[i] = i;
		at[i] += dense ? 0 : Min(wanted - 1, end[i] - at[i]);
	}
	while (n > 0)
	{
		size_t		left = 0;

		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
			if (at[groups[i]] < end[groups[i]])
			{
				asked[left] = at[groups[i]];
				groups[left++] = groups[i];
			}
		n = left;
		if (n > 0 && !resident_rows_look(rows, SORT_LOOK_AT, asked, n, keys))
			return false;
		for (size_t i = 0; i < n; i++)
			if (keys[i] < ranges[groups[i]].lo || keys[i] > ranges[groups[i]].hi)
				return resident_rows_are_wrong(rows);
		if (--steps == 0)
			break;
		/* The next different key; of a group's last one there is none. */
		for (size_t i = 0; i < n; i++)
			keys[i] += keys[i] < ranges[groups[i]].hi ? 1 : 0;
		if (n > 0 && !resident_rows_look(rows, SORT_LOOK_BELOW, keys, n, asked))
			return false;
		for (size_t i = 0; i < n; i++)
			at[groups[i]] = asked[i] > at[groups[i]] ? asked[i] : end[groups[i]];
	}
	for (size_t i = 0; i < n; i++)
		ranges[groups[i]].hi = keys[i];
	return true;
}

/* Sets key k of a row to what has a place among its places. */
static void
set_key(const FirstRows *first, const ResidentRows *rows, const RowsLayout *layout,
		const FirstKeys *keys, int k, uint64 place, RowKey *row)
{
	const KeyColumn *key = &first->bound->store->keys->keys[k];
	uint64		values = keys->values[k];
	bool		nulls = (layout->columns[k].flags & ROWS_NULL_IN_KEY) != 0;
	uint64		value;

	if (nulls && place == (key->nulls_first ? 0 : values))
	{
		row->nulls |= 1 << k;
		return;
	}
	place -= nulls && key->nulls_first;
	value = (uint64) (resident_rows_origin(rows, k) + layout->columns[k].lo) +
		(key->descending ? values - 1 - place : place);
	row->images[k] = (column_kind_is_wide(key->kind) ? value : (uint32) value) ^ key->flip;
}

/*
 * Has the bound refuse what is behind the last wanted keys of groups, which end n ranges.  In a
 * group whose range ends with its last place, not as many rows may have come.
 */
static void
refuse_others(const FirstRows *first, const ResidentRows *rows, const RowsLayout *layout,
			  const FirstKeys *keys, const ValueRange *ranges, size_t n)
{
	int			ngroup = first->bound->spec.ngroup;
	RowKey	   *last = palloc0_array(RowKey, n);
	size_t		nlast = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64		code = (uint32) ranges[i].hi - keys->offset;
		uint64		group = code / keys->places;

		if (code % keys->places == keys->places - 1)
			continue;
		set_key(first, rows, layout, keys, ngroup, code % keys->places, &last[nlast]);
		for (int k = ngroup - 1; k >= 0; k--)
		{
			set_key(first, rows, layout, keys, k, group % keys->of_column[k], &last[nlast]);
			group /= keys->of_column[k];
		}
		nlast++;
	}
	if (nlast > 0)
		group_bound_refuse_behind(first->bound, last, nlast);
}

/* Finds the rows; false if the GPU could not. */
static bool
find_rows(FirstRows *first, ResidentRows *rows)
{
	GroupBound *bound = first->bound;
	RowsLayout	layout;
	FirstKeys	keys = {0};
	uint64	   *starts;
	ValueRange *ranges;
	uint64		wanted;
	size_t		n = 0;

	if (!describe_rows(first, rows, &layout, &keys) || keys.groups > ROWS_MAX_RANGES ||
		!sort_rows(rows, &layout, &keys))
		return false;
	*first->counted += (uint64) resident_rows_keys(rows);
	if (resident_rows_keys(rows) == 0)
		return resident_rows_find(rows, &layout, NULL, 0);
	if (!bound->counted)
	{
		/* What is wanted may be the answer of a query that has a job of its own. */
		if (!bound->spec.constant)
			resident_rows_end(rows);
		group_bound_count(bound);
		if (!bound->spec.constant && !sort_rows(rows, &layout, &keys))
			return false;
	}
	wanted = bound->spec.wanted + bound->spec.next;
	if (wanted == 0)
		return resident_rows_find(rows, &layout, NULL, 0);
	if (bound->spec.kind == GROUP_BOUND_DENSE_RANKS && wanted > DENSE_MOST)
		return false;
	starts = palloc_array(uint64, keys.groups + 1);
	ranges = palloc_array(ValueRange, keys.groups);
	if (!find_groups(rows, &keys, starts))
		return false;
	/* Groups that have no rows are left out. */
	for (uint64 g = 0; g < keys.groups; g++)
		if (starts[g] < starts[g + 1])
		{
			ranges[n] = (ValueRange)
			{
				key_of(&keys, g, 0), key_of(&keys, g, keys.places - 1)
			};
			starts[n++] = starts[g];
		}
	starts[n] = starts[keys.groups];
	if (!find_last(rows, &bound->spec, wanted, n, starts,
				   memcpy(palloc_array(uint64, n), starts + 1, n * sizeof(uint64)), ranges) ||
		!resident_rows_find(rows, &layout, ranges, n))
		return false;
	refuse_others(first, rows, &layout, &keys, ranges, n);
	return true;
}

/* A ResidentRowsHandler's function. */
static bool
handle_rows(void *arg, struct ResidentRows *rows)
{
	FirstRows  *first = (FirstRows *) arg;
	uint64		counted = *first->counted;
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort first rows",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);

	first->found = find_rows(first, rows);
	resident_rows_end(rows);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(memory);
	if (!first->found)
		*first->counted = counted;
	return first->found;
}

void
first_rows_begin(FirstRows *first, GroupBound *bound, ColumnScan *scan, uint64 *counted)
{
	const GroupBoundSpec *spec = &bound->spec;

	*first = (FirstRows)
	{
		.handler =
		{
			.handle = handle_rows,.arg = first,.jobs =
			{
				.n = 2,.ngroup = spec->ngroup,.ordered = true
			}
		},.bound = bound,.counted = counted
	};

	/*
	 * The GPU needs a first key after the group's.  The row after the wanted ranks may have a key
	 * that no position tells.
	 */
	if (scan->parallel == NULL && scan->ncolumns == spec->ngroup + 1 &&
		!(spec->kind == GROUP_BOUND_RANKS && spec->next))
		scan->handler = &first->handler;
}
