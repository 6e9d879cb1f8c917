/*
 * key_condition.h
 *		The condition of a scan (ColumnScan.conditions) that a column's value is one of many keys,
 *		as of an inner join or a semi join; or that it is none of them, as of an anti join.
 */
#ifndef HPSORT_PG_VALUES_KEY_CONDITION_H
#define HPSORT_PG_VALUES_KEY_CONDITION_H

#include "postgres.h"

#include "pg/values/filter_conditions.h"

/*
 * Returns the condition that a column, of a kind that column_kind() has, is one of n keys, which
 * are as column_value() has them; or if excluded that it is none of them, or is NULL.  In the
 * current memory context; keys are not needed any more.
 */
extern PGDLLEXPORT FilterCondition *key_condition_make(AttrNumber attnum, ColumnKind kind,
													   const int64 *keys, size_t n, bool excluded);

/* Whether a condition of keys accepts a value. */
extern bool key_condition_test(const FilterCondition *condition, Datum value, bool isnull);

#endif							/* HPSORT_PG_VALUES_KEY_CONDITION_H */
