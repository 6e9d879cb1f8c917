/*
 * filter_conditions.h
 *		What a filter asks of each of a table's columns, if it is comparisons of columns with
 *		constants and nothing else.
 */
#ifndef HPSORT_PG_VALUES_FILTER_CONDITIONS_H
#define HPSORT_PG_VALUES_FILTER_CONDITIONS_H

#include "nodes/execnodes.h"

#include "pg/values/value.h"
#include "sort/extents/key_set.h"
#include "sort/extents/value_ranges.h"
#include "sort/float_image.h"

/* Of one column: which rows a filter does not refuse because of it. */
typedef struct FilterCondition
{
	AttrNumber	attnum;
	ColumnKind	kind;			/* COLUMN_KIND_NONE: only NULL matters */
	LongRange  *ranges;			/* of values as column_value and numeric_unit_value have them; of
								 * floats, of filter_condition_float */
	size_t		nranges;
	bool		nulls;			/* rows in which the column is NULL, too */
	struct TextCondition *texts;	/* of a text, in place of ranges; or NULL */
	struct ValueCondition *values;	/* of any type, in place of ranges; or NULL */
	const KeySet *keys;			/* in place of ranges, of integers; or NULL ... */
	bool		excluded;		/* ... its keys are refused, and other values accepted */
	bool		optional;		/* the caller refuses these rows, too: not evaluated for each row
								 * where it refuses few */
} FilterCondition;

/* Whether a condition looks at values, and not only at whether they are NULL. */
static inline bool
filter_condition_compares(const FilterCondition *condition)
{
	return condition->texts || condition->values || condition->keys ||
		(condition->nranges > 0 && (condition->ranges[0].lo != PG_INT64_MIN ||
									condition->ranges[0].hi != PG_INT64_MAX));
}

/* Returns an integer of a float in PostgreSQL's order; floats that are equal have the same one. */
static inline int64
filter_condition_float(float8 value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	return (int64) (float8_image(float8_equals(bits)) ^ FLOAT8_SIGN);
}

/*
 * Returns the condition's ranges, in the current memory context or the condition's own, and sets *n
 * to how many there are: of column_value(), also of floats.
 */
extern const LongRange *filter_condition_ranges(const FilterCondition *condition, size_t *n);

/*
 * Sets *conditions to the conditions that together are a filter (ExecInitQual), one for each
 * column and one for each clause of texts or values, in the current memory context.  Returns false
 * if the filter has anything but
 *
 * - comparisons by <> and the operators of the column's default btree operator class, with
 *	 constants and with parameters that have a value already;
 * - = ANY and <> ALL of an array of these;
 * - comparisons of texts, as text_conditions.h says;
 * - IS [NOT] NULL of any column, and the tests of booleans;
 * - other clauses of one column that value_condition.h takes;
 *
 * ANDed.  Nothing is evaluated that could fail.  Numerics that are compared as integers are of few
 * digits (numeric_unit.h).
 */
extern bool filter_conditions_find(const ExprState *filter, ExprContext *econtext,
								   List **conditions);

/*
 * Returns the conditions of a filter (ExecInitQual) that may be evaluated before all else, one for
 * each column and one for each clause of texts, and sets *others to the clauses besides, ANDed, in
 * the order in which core evaluates them, and *may_fail to whether one of these may fail.  A clause
 * that value_condition.h takes is no condition behind one of the others.
 *
 * Core evaluates clauses in the order of their security levels and costs.  A condition fails for no
 * value, calls no function and shows nothing, so that it may come before clauses of any level, but
 * not before a clause that may fail: core would raise its error.
 */
extern List *filter_conditions_split(const ExprState *filter, ExprContext *econtext,
									 List **others, bool *may_fail);

/*
 * For the planner: adds the columns of clauses, which are RestrictInfos or expressions, to a list
 * of attribute numbers; false if filter_conditions_find will not know one of the clauses, whatever
 * its parameters are.
 */
extern bool filter_conditions_columns(const List *clauses, List **columns);

/*
 * For the planner: returns those of clauses, ANDed, that are conditions in any execution and may be
 * evaluated before the *others, as filter_conditions_split says; adds their columns to a list of
 * attribute numbers.  *compared is set to whether one of them is more than a clause of
 * value_condition.h.
 */
extern List *filter_conditions_divide(List *clauses, List **others, List **columns, bool *compared);

/*
 * Returns the condition of a scan (ColumnScan.conditions) that a column, of a kind that
 * column_kind() has, is one of n keys, which are as column_value() has them, as of an inner join or
 * a semi join; or if excluded that it is none of them, or is NULL, as of an anti join.  In the
 * current memory context; keys are not needed any more.
 */
extern PGDLLEXPORT FilterCondition *key_condition_make(AttrNumber attnum, ColumnKind kind,
													   const int64 *keys, size_t n, bool excluded);

/* Whether a condition of keys accepts a value. */
extern bool key_condition_test(const FilterCondition *condition, Datum value, bool isnull);

#endif							/* HPSORT_PG_VALUES_FILTER_CONDITIONS_H */
