/*
 * groups_numbers.h
 *		GroupsNumbers: the values of a column of which resident extents have numbers, for
 *		groups_lookup.c.
 *
 * The query's dictionary has other numbers for them.  Values that only noted rows have get numbers
 * behind those of extents.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_NUMBERS_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_NUMBERS_H

#include "postgres.h"

#include "pg/nodes/aggregate/read/read.h"
#include "pg/resident/gpu/resident_rows.h"

typedef struct GroupsNumbers
{
	const ResidentRows *rows;	/* that have the values; NULL: extents have no numbers */
	int			column;			/* of the scan */
	Dictionary *dictionary;		/* the query's */
	int32	   *numbers;		/* by number in extents: in the query's dictionary; -1: not asked
								 * for so far */
} GroupsNumbers;

/*
 * Prepares the numbers from lo to hi (lo > hi: none) of a column for groups_numbers_find, which is
 * called if found, in the current memory context; and has notes of it numbered as extents are.
 * Returns false if extents have values, or if these have been given up or take too much memory.
 */
extern bool groups_numbers_begin(GroupsNumbers *numbers, const ResidentRows *rows, int column,
								 Dictionary *dictionary, int32 lo, int32 hi, bool found,
								 LookupNotes *notes);

/*
 * Returns the number that the query's dictionary has for the value of one of extents; < 0 if the
 * values have been given up, or if there is no memory for the value.
 */
extern int32 groups_numbers_find(GroupsNumbers *numbers, int32 shared);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_NUMBERS_H */
