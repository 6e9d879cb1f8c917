/*
 * fields.h
 *		Grouping columns as key codes (sort/key_code.h).
 *
 * The image of a value as a batch holds it, in 32 or 64 bits, is the value as an int64
 * with its sign bit flipped.
 *
 * Codes of groups are made in two ways, both in the order of the groups:
 *
 * - A window numbers the groups of narrow ranges one after the other, for arrays by group.
 * - A layout packs them: it gives each column some bits of an integer, for ranges of any width.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_FIELDS_H
#define HPSORT_PG_NODES_AGGREGATE_READ_FIELDS_H

#include "pg/values/values.h"
#include "sort/key_code.h"

/* A grouping column. */
typedef struct GroupColumn
{
	int			column;			/* index of its batch */
	ColumnKind	kind;			/* of the values that the batch holds */
	bool		descending;		/* the largest value comes first */
	bool		nulls_first;
} GroupColumn;

/* The step from a value, as batches hold it, to its image, and back. */
#define FIELD_SIGN (UINT64CONST(1) << 63)

static inline uint64
field_image(int64 value)
{
	return (uint64) value ^ FIELD_SIGN;
}

static inline int64
field_value(uint64 image)
{
	return (int64) (image ^ FIELD_SIGN);
}

/* Returns the range of the images that values of a kind have. */
extern const KeyRange *field_limits(ColumnKind kind);

/* Widens range by the images of a batch's values, and notes whether there are NULLs. */
extern void field_range_add_batch(KeyRange *range, const ColumnBatch *batch);

/* The values of a group. */
typedef struct GroupValues
{
	int64	   *values;			/* by grouping column, as batches hold them */
	bool	   *nulls;			/* by grouping column; the value of a NULL is 0 */
} GroupValues;

/* Returns room for a group, in the current memory context; group_values_free frees it. */
extern GroupValues group_values_make(int ncolumns);
extern void group_values_free(GroupValues *values);

/* Sets the values of the group of a row. */
extern void group_values_of_row(const GroupColumn *columns, int ncolumns,
								const ColumnBatch *batches, size_t row, GroupValues *values);

/* Returns < 0, 0, > 0: a's place among the groups is before, at, behind b's. */
extern int	group_values_compare(const GroupColumn *columns, int ncolumns, const GroupValues *a,
								 const GroupValues *b);

/* Codes of groups, numbered or packed. */
typedef struct GroupCode
{
	KeyCode		code;			/* its columns are the grouping columns */
	const GroupColumn *columns; /* the caller's */
	bool	   *grown;			/* by column, of a window: whether its range is wider than that of
								 * the first rows */
} GroupCode;

/*
 * Makes codes of no group, or of the one that there is without columns, in the current memory
 * context; columns must outlive them.
 */
extern void group_code_init(GroupCode *group, const GroupColumn *columns, int ncolumns);

/*
 * Returns a copy, in the current memory context, which later changes of the original do not reach.
 */
extern GroupCode *group_code_copy(const GroupCode *group);

/* Frees what group_code_init and group_code_copy have allocated, but not the struct. */
extern void group_code_free(GroupCode *group);

extern bool group_codes_equal(const GroupCode *a, const GroupCode *b);

/*
 * Sets the values of the group that has a code; group_code_of returns the code of a group, whose
 * values must be inside.
 */
extern void group_code_values(const GroupCode *group, uint64 code, GroupValues *values);
extern uint64 group_code_of(const GroupCode *group, const GroupValues *values);

/* Whether all groups that have codes in before have them in after, too. */
extern bool group_code_continues(const GroupCode *after, const GroupCode *before);

/* --- windows */

/*
 * Makes a window that holds the groups of old and of ranges, one for each column, and some
 * groups beside them if max_groups allows.  False if old and ranges alone are more than
 * max_groups, or than worth_groups.
 */
extern bool group_window_grow(GroupCode *window, const GroupCode *old, const KeyRange *ranges,
							  uint64 max_groups, uint64 worth_groups);

/*
 * Sets the numbers of n rows' groups, and whether they are outside of the window: then the number
 * means nothing.  Returns how many are outside.
 */
extern int	group_window_locate(const GroupCode *window, const ColumnBatch *batches, int n,
								uint32 *groups, uint8 *outside);

/*
 * Of a window of one column: *number is the number of the group of lo; the groups up to hi have the
 * numbers after it, or before it if *down.  False if one of them is outside.
 */
extern bool group_window_locate_range(const GroupCode *window, int64 lo, int64 hi, uint64 *number,
									  bool *down);

/* --- layouts */

/*
 * Widens a layout so that ranges, one for each column, are inside.  Returns false if they were;
 * otherwise codes have changed.
 */
extern bool group_layout_widen(GroupCode *layout, const KeyRange *ranges);

/*
 * Sets the codes of n rows' groups, all of which must be inside; of a layout of at most 64 bits.
 */
extern void group_layout_codes(const GroupCode *layout, const ColumnBatch *batches, int n,
							   uint64 *codes);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_FIELDS_H */
