/*
 * value_members.c
 *		Which values of a resident column a condition accepts (see value_members.h).
 *
 * Values are numbered as they were met, so that those of the extents read so far are the first
 * ones.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/resident/filter/value_members.h"

/* Values between looks for interrupts. */
#define VALUES_AT_ONCE 1024

struct ValueMembers
{
	MemoryContext memory;
	const FilterCondition *condition;
	uint64		generation;		/* of the values */
	uint8	   *marks;
	Size		room;			/* in marks */
	uint32		n;				/* marks */
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

const uint8 *
value_members_look(ValueMembers *members, ColumnDictionary *dictionary, uint32 last)
{
	uint64		generation = column_dictionary_generation(dictionary);

	if (members->generation != generation)
		members->n = 0;
	members->generation = generation;
	if (last >= members->room)
	{
		Size		room = Max((Size) column_dictionary_size(dictionary), 2 * members->room);

		members->marks = members->marks ? repalloc_huge(members->marks, room) :
			MemoryContextAllocHuge(members->memory, room);
		members->room = room;
	}
	for (; members->n <= last; members->n++)
	{
		Datum		value;

		if (members->n % VALUES_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (!column_dictionary_value(dictionary, members->n, &value))
			return NULL;
		members->marks[members->n] = is_accepted(members->condition, value);
	}
	return members->marks;
}
