/*
 * key_condition.c
 *		Conditions that a column's value is one of many keys (see key_condition.h).
 */
#include "postgres.h"

#include "pg/values/key_condition.h"
#include "pg/values/value.h"

/* Keys that are as few ranges are compared with these, which takes less time than a look-up. */
#define FEW_RANGES 4

FilterCondition *
key_condition_make(AttrNumber attnum, ColumnKind kind, const int64 *keys, size_t n, bool excluded)
{
	FilterCondition *condition = palloc0_object(FilterCondition);
	LongRange	ranges[FEW_RANGES];
	size_t		nranges;
	KeySet		header;
	KeySet	   *set;

	Assert(kind != COLUMN_KIND_NONE && !column_kind_is_float(kind));
	key_set_plan(keys, n, &header);
	set = MemoryContextAllocHuge(CurrentMemoryContext, header.size);
	key_set_write(&header, keys, n, set);
	condition->attnum = attnum;
	condition->kind = kind;
	condition->nulls = excluded;
	nranges = key_set_ranges(set, ranges, FEW_RANGES);
	if (nranges > FEW_RANGES)
	{
		condition->keys = set;
		condition->excluded = excluded;
		return condition;
	}
	condition->ranges = palloc_array(LongRange, FEW_RANGES + 1);
	condition->nranges = nranges;
	if (excluded)
		condition->nranges = long_ranges_complement(ranges, nranges, condition->ranges);
	else
		memcpy(condition->ranges, ranges, nranges * sizeof(LongRange));
	pfree(set);
	return condition;
}

bool
key_condition_test(const FilterCondition *condition, Datum value, bool isnull)
{
	int64		key;

	if (isnull)
		return condition->nulls;
	key = column_value(condition->kind, value);
	if (condition->keys)
		return key_set_has(condition->keys, key) != condition->excluded;
	return long_ranges_have(condition->ranges, condition->nranges, key);
}
