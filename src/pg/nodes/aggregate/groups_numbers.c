/*
 * groups_numbers.c
 *		Numbers of values in resident extents (see groups_numbers.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/nodes/aggregate/groups_numbers.h"

int32
groups_numbers_find(GroupsNumbers *numbers, int32 shared)
{
	Datum		value;

	if (numbers->numbers[shared] < 0 &&
		resident_rows_value(numbers->rows, numbers->column, (uint32) shared, &value))
		numbers->numbers[shared] = dictionary_number(numbers->dictionary, value);
	return numbers->numbers[shared];
}

/* Returns n numbers, each of them -1. */
static int32 *
make_unknown(size_t n)
{
	int32	   *numbers = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int32));

	memset(numbers, 0xff, n * sizeof(int32));
	return numbers;
}

/*
 * Has noted rows, which have numbers of the query's dictionary, less than nown, numbered as extents
 * are; false if one of their values has none, or if there is no memory for those of extents.
 */
static bool
renumber(GroupsNumbers *numbers, size_t nown, int32 lo, int32 hi, const ColumnBatch *notes)
{
	int32	   *keys = unconstify(int32 *, notes->keys);
	int32	   *shared = make_unknown(nown + 1);
	int32		next = hi >= 0 ? hi + 1 : 0;
	int32		number;

	for (int32 s = lo; s <= hi; s++)
	{
		if (s % COLUMN_BATCH_KEYS == 0)
			CHECK_FOR_INTERRUPTS();
		number = groups_numbers_find(numbers, s);
		if (number < 0)
			return false;
		/* Otherwise no noted row has it. */
		if ((size_t) number < nown)
			shared[number] = s;
	}
	for (size_t i = 0; i < notes->n; i++)
	{
		number = keys[i];
		if (notes->nulls[i])
			continue;
		if (number < 0)
			return false;
		if (shared[number] < 0)
		{
			numbers->numbers[next] = number;
			shared[number] = next++;
		}
		keys[i] = shared[number];
	}
	pfree(shared);
	return true;
}

/*
 * Prepares the numbers of a column for groups_numbers_find, which is called if found, and if mapped
 * also for numbers that conditions refuse; false if extents have values, or if these have been
 * given up or take too much memory.
 */
static bool
begin_column(GroupsNumbers *numbers, bool found, bool mapped, LookupNotes *notes)
{
	const ResidentRows *rows = numbers->rows;
	int			column = numbers->column;
	size_t		nown = notes->n > 0 ? dictionary_size(numbers->dictionary) : 0;
	int32		lo;
	int32		hi;
	bool		nulls;
	size_t		size;

	if (!resident_rows_have_numbers(rows, column))
		return false;
	if (mapped)
		resident_rows_all_bounds(rows, column, &lo, &hi, &nulls);
	else
		resident_rows_bounds(rows, column, &lo, &hi, &nulls);
	size = (size_t) Max(hi, 0) + 1 + nown;
	/* How many values there are is all that is asked of those that are not grouped by. */
	if (!found && notes->n == 0)
		return true;
	if ((found && hi >= 1 << LOOKUP_GROUP_BITS) || size > notes->limit / sizeof(int32) / 2)
		return false;
	numbers->numbers = make_unknown(size);
	return notes->n == 0 || renumber(numbers, nown, lo, hi, &notes->columns[column]);
}

GroupsNumbers *
groups_numbers_make(const GroupsState *node, const ResidentRows *rows, const GroupColumn *groups,
					const Bitmapset *mapped, LookupNotes *notes)
{
	GroupsNumbers *numbers = palloc0_array(GroupsNumbers, Max(node->sources.ncolumns, 1));

	for (int c = 0; c < node->sources.ncolumns && node->images; c++)
	{
		bool		found = bms_is_member(c, mapped);

		if (node->images[c].dictionary == NULL)
			continue;
		for (int g = 0; g < node->ngroups; g++)
			found |= groups[g].column == c;
		numbers[c] = (GroupsNumbers)
		{
			.rows = rows,.column = c,.dictionary = node->images[c].dictionary
		};
		if (!begin_column(&numbers[c], found, bms_is_member(c, mapped), notes))
			return NULL;
	}
	return numbers;
}
