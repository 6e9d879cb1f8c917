/*
 * value_members.h
 *		ValueMembers: which values of a resident column of numbers (column_dictionary.h) a condition
 *		accepts, each evaluated once.
 */
#ifndef HPSORT_PG_RESIDENT_FILTER_VALUE_MEMBERS_H
#define HPSORT_PG_RESIDENT_FILTER_VALUE_MEMBERS_H

#include "postgres.h"

#include "pg/resident/extents/extents.h"
#include "pg/values/values.h"

typedef struct ValueMembers ValueMembers;

/*
 * Makes them for a condition of texts or values, which must live as long, in the current memory
 * context.
 */
extern ValueMembers *value_members_make(const FilterCondition *condition);

/*
 * Returns marks by number: of first .. last, which the dictionary knows, 1 if the value is
 * accepted, else 0.  Valid until the next call.  Returns NULL if the values have been given up.
 */
extern const uint8 *value_members_look(ValueMembers *members, ColumnDictionary *dictionary,
									   uint32 first, uint32 last);

#endif							/* HPSORT_PG_RESIDENT_FILTER_VALUE_MEMBERS_H */
