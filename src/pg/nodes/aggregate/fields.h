/*
 * fields.h
 *		Grouping columns as numbers: where a row's group is among all groups.
 *
 * Each grouping column has a range of values that have been seen, with a place for
 * NULL if there was one.  A value's place in its range is its distance from the
 * range's start, or from its end if the column is descending, so that groups are
 * in the order that the query wants when their places are.
 *
 * Two things are made of places.  A GroupWindow numbers the groups of narrow
 * ranges one after the other, for arrays by group.  A GroupLayout gives each column
 * some bits of an integer, for ranges of any width.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_FIELDS_H
#define HPSORT_PG_NODES_AGGREGATE_FIELDS_H

#include "postgres.h"

#include "pg/column/reader.h"
#include "pg/values/value.h"

/* A grouping column. */
typedef struct GroupColumn
{
	int			column;			/* index of its batch */
	ColumnKind	kind;
	bool		descending;
	bool		nulls_first;
} GroupColumn;

/* The values of a column, as batches hold them: less column_kind_bias(). */
typedef struct FieldRange
{
	int64		lo;				/* inclusive; lo > hi: no value yet */
	int64		hi;
	bool		nulls;			/* NULL has a place of its own */
} FieldRange;

#define EMPTY_FIELD_RANGE ((FieldRange) {PG_INT64_MAX, PG_INT64_MIN, false})

static inline bool
field_range_is_empty(const FieldRange *range)
{
	return range->lo > range->hi;
}

/* How many values there are, NULL left out; 0 stands for 2^64 unless the range is empty. */
static inline uint64
field_range_values(const FieldRange *range)
{
	return field_range_is_empty(range) ? 0 : (uint64) range->hi - (uint64) range->lo + 1;
}

/* Widens range by what is in a batch. */
extern void field_range_add_batch(FieldRange *range, const ColumnBatch *batch);

/* Widens range by another; returns whether that made a difference. */
extern bool field_range_add(FieldRange *range, const FieldRange *other);

/*
 * Widens a range by room values, or as many of them as its kind has: on the side
 * where it grew beyond old, which values of a growing column will reach next.
 */
extern void field_range_extend(FieldRange *range, const FieldRange *old, ColumnKind kind,
							   uint64 room);

/* The values of a group. */
typedef struct GroupValues
{
	int64	   *values;			/* by grouping column, as batches hold them */
	bool	   *nulls;
} GroupValues;

/* Room for the values of a group, in the current memory context. */
extern GroupValues group_values_make(int ncolumns);
extern void group_values_free(GroupValues *values);

/* < 0, 0, > 0: a's place among the groups is before, at, after b's. */
extern int	group_values_compare(const GroupColumn *columns, int ncolumns, const GroupValues *a,
								 const GroupValues *b);

/* --- narrow ranges */

typedef struct GroupWindow
{
	int			ncolumns;
	const GroupColumn *columns;
	FieldRange *ranges;			/* by column */
	uint32	   *strides;
	bool	   *grown;			/* by column: whether its range is wider than that of the first rows */
	uint64		ngroups;		/* product of the ranges; 1 without columns; 0: no window */
} GroupWindow;

/* A window without groups, or of the one group there is without columns. */
extern void group_window_init(GroupWindow *window, const GroupColumn *columns, int ncolumns);

/*
 * Makes a window that holds the groups of old and those of ranges, one for each column,
 * with some more if max_groups allows; false if even those are more than max_groups.
 */
extern bool group_window_grow(GroupWindow *window, const GroupWindow *old,
							  const FieldRange *ranges, uint64 max_groups);

/*
 * The numbers of the rows' groups, and whether they are outside of the window:
 * then the number means nothing.  Returns how many are.
 */
extern int	group_window_locate(const GroupWindow *window, const ColumnBatch *batches, int n,
								uint32 *groups, uint8 *outside);

/*
 * Of a window of one column: the number of the group of lo; those up to hi follow it, downwards
 * if *down.  False if one of them is outside.
 */
extern bool group_window_locate_range(const GroupWindow *window, int64 lo, int64 hi,
									  uint64 *number, bool *down);

extern void group_window_free(GroupWindow *window);

/* Whether a group is inside. */
extern bool group_window_holds(const GroupWindow *window, const GroupValues *values);

/* From a number to the values, and back; the values must be inside. */
extern void group_window_values(const GroupWindow *window, uint64 group, GroupValues *values);
extern uint64 group_window_number(const GroupWindow *window, const GroupValues *values);

/* --- ranges of any width */

typedef struct GroupLayout
{
	int			ncolumns;
	const GroupColumn *columns;
	FieldRange *ranges;			/* by column */
	int		   *shifts;			/* the last column is in the lowest bits */
	int			bits;			/* in all; may be more than 64: no codes then */
} GroupLayout;

extern void group_layout_init(GroupLayout *layout, const GroupColumn *columns, int ncolumns);

/* Widens a layout so that ranges, one for each column, are inside; false if they were. */
extern bool group_layout_widen(GroupLayout *layout, const FieldRange *ranges);

/* Frees a copy. */
extern void group_layout_free(GroupLayout *layout);

/* Whether a group is inside. */
extern bool group_layout_holds(const GroupLayout *layout, const GroupValues *values);

/* Whether the codes of two layouts of the same columns are the same. */
extern bool group_layouts_equal(const GroupLayout *a, const GroupLayout *b);

/* A copy, which later changes of the original do not reach. */
extern GroupLayout *group_layout_copy(const GroupLayout *layout);

/* The codes of the rows' groups, all inside. */
extern void group_layout_codes(const GroupLayout *layout, const ColumnBatch *batches, int n,
							   uint64 *codes);

/* From a code to the values, and back. */
extern void group_layout_values(const GroupLayout *layout, uint64 code, GroupValues *values);
extern uint64 group_layout_code(const GroupLayout *layout, const GroupValues *values);

#endif							/* HPSORT_PG_NODES_AGGREGATE_FIELDS_H */
