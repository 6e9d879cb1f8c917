/*
 * value_members.c
 *		Which values of a resident column a condition accepts (see value_members.h).
 *
 * Values are numbered as they were met, so that those of the extents read so far are the first
 * ones, unless other conditions have refused extents.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/resident/filter/value_members.h"

/* Values between looks for interrupts. */
#define VALUES_AT_ONCE 1024

/* The mark of a value that has not been evaluated. */
#define UNKNOWN 2

struct ValueMembers
{
	MemoryContext memory;
	const FilterCondition *condition;
	uint64		generation;		/* of the values */
	uint8	   *marks;
	Size		room;			/* in marks */
	uint32		nknown;			/* the first ones, all of which are known */
};

ValueMembers *
value_members_make(const FilterCondition *condition)
{
	ValueMembers *members = palloc0_object(ValueMembers);

	members->memory = CurrentMemoryContext;
	members->condition = condition;
	return members;
}

/* Whether a value is accepted. */
static bool
is_accepted(const FilterCondition *condition, Datum value)
{
	return condition->texts ? text_condition_test(condition->texts, DatumGetPointer(value)) :
		value_condition_accepts(condition->values, value, false);
}

/* Has all marks be unknown where the values are others, and has room for all of them. */
static void
review_marks(ValueMembers *members, const ColumnDictionary *dictionary)
{
	Size		size = column_dictionary_size(dictionary);
	uint64		generation = column_dictionary_generation(dictionary);
	Size		kept = members->generation == generation ? members->room : 0;

	members->generation = generation;
	if (size > members->room)
	{
		members->room = Max(size, 2 * members->room);
		members->marks = members->marks ? repalloc_huge(members->marks, members->room) :
			MemoryContextAllocHuge(members->memory, members->room);
	}
	if (kept == 0)
		members->nknown = 0;
	memset(members->marks + kept, UNKNOWN, members->room - kept);
}

const uint8 *
value_members_look(ValueMembers *members, ColumnDictionary *dictionary, uint32 first, uint32 last)
{
	bool		all;			/* up to last */
	uint8	   *mark;

	review_marks(members, dictionary);
	/* Unknown values before these are evaluated, too, if they are fewer. */
	all = first <= members->nknown || first - members->nknown <= last - first;
	if (all)
		first = members->nknown;
	while (first <= last &&
		   (mark = memchr(members->marks + first, UNKNOWN, (Size) last - first + 1)) != NULL)
	{
		Datum		value;

		first = (uint32) (mark - members->marks);
		if (first % VALUES_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (!column_dictionary_value(dictionary, first, &value))
			return NULL;
		*mark = is_accepted(members->condition, value);
	}
	if (all)
		members->nknown = Max(members->nknown, last + 1);
	return members->marks;
}
