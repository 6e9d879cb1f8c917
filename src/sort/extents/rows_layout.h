/*
 * rows_layout.h
 *		RowsLayout: one key for each row of several columns, and which rows have one.
 *
 * A row's key is a sum over the columns: of each value's distance from the column's smallest one,
 * times the column's stride, or of what a NULL of the column adds.  So keys may be places of
 * groups above places of values.  A condition of a column is a set of values; rows pass that meet
 * all conditions, and others have no key.
 *
 * Keys may have a grain: only groups of 2^grain neighbouring keys, from the first key that there
 * may be on, are asked about, how many there are and their sum.  Then nothing is put in order.
 *
 * A column may be mapped: a table says of each value what it adds to the key, or that rows with it
 * do not pass.  So a row of a fact gets the group of the dimension's row that has its key.
 *
 * A layout with key_ranges finds rows: a row passes whose key lies in one of these ranges, and the
 * row's number, by the order in which rows are added to a job, takes the place of its key.  So the
 * first rows of each group are the rows whose keys lie between the group's first key and its last
 * wanted one.
 *
 * Plain structs without padding: a client sends them to the GPU service as they are.
 */
#ifndef HPSORT_ROWS_LAYOUT_H
#define HPSORT_ROWS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sort/extents/extent.h"
#include "sort/extents/value_ranges.h"

/* The most columns of a layout, and ranges of all conditions: they fit into a usual chunk. */
#define ROWS_MAX_COLUMNS 8
#define ROWS_MAX_RANGES 65536

/* RowsColumn.flags */
#define ROWS_IN_KEY 1			/* the column adds to the key */
#define ROWS_NULL_IN_KEY 2		/* ... and so do its NULLs; without this flag there are none */
#define ROWS_FILTERED 4			/* only rows pass whose value is in the ranges */
#define ROWS_NULLS_PASS 8		/* ... or NULL */
#define ROWS_MASKED 16			/* ... in place of ranges there is a mask of values from 0 on */
#define ROWS_MAPPED 32			/* ... in place of ranges there is a map of values from lo on, and
								 * it says what they add; only with ROWS_IN_KEY, ROWS_FILTERED */

/* The most of RowsLayout.grain. */
#define ROWS_MAX_GRAIN 31

/* Values that a range has bits for in a mask: lo and behind it hi, from the lowest bit on. */
#define ROWS_MASK_VALUES 64

/* Values of which a range says in a map what they add to the key: lo's, and hi's behind it. */
#define ROWS_MAP_VALUES 2

/* In a map: rows with the value do not pass. */
#define ROWS_NO_MATCH UINT32_MAX

/* A column of a layout: what it adds to keys, and its condition. */
typedef struct RowsColumn
{
	int64_t		origin;			/* what is 0 here, where values are int4 */
	int32_t		lo;				/* of values of rows that pass: the smallest, ... */
	uint32_t	last;			/* ... and the largest one's distance from it */
	uint32_t	stride;			/* modulo 2^32, so that a distance may subtract */
	uint32_t	null_adds;		/* what a NULL adds to the key, modulo 2^32 */
	uint32_t	flags;			/* as above */
	uint32_t	first_range;	/* of the condition, among the ranges of all conditions ... */
	uint32_t	nranges;		/* ... and how many it has */
	uint32_t	zero;			/* unused, always 0 */
} RowsColumn;

/* How rows of ncolumns columns become keys.  The ranges of conditions are kept beside it. */
typedef struct RowsLayout
{
	uint32_t	ncolumns;
	uint32_t	nranges;		/* of all conditions, and of keys */
	uint32_t	base;			/* modulo 2^32: the key of a row whose columns add nothing */
	uint32_t	filtered;		/* 1: there is a condition, 0: all rows pass */
	uint32_t	grain;			/* not 0: each key that is asked about is a multiple of 2^grain
								 * above the lower bound of keys, and each position that of the
								 * first key of such a group, or of its end */
	uint32_t	key_ranges;		/* rows are found: the last ranges, so many, are of keys, without
								 * a grain; 0: they are not */
	RowsColumn	columns[ROWS_MAX_COLUMNS];
} RowsLayout;

/*
 * Whether numbers of columns, ranges and flags are possible, and the ranges of each column, and of
 * keys, ascend.
 */
extern bool rows_layout_is_sound(const RowsLayout *layout, const ValueRange *ranges);

#endif							/* HPSORT_ROWS_LAYOUT_H */
