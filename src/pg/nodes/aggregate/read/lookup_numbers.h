/*
 * lookup_numbers.h
 *		LookupNumbers: the values of a column of which resident extents have numbers, for
 *		groups_lookup.c.
 *
 * The query's dictionary has other numbers for them.  Values that only noted rows have get numbers
 * behind those of extents.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_LOOKUP_NUMBERS_H
#define HPSORT_PG_NODES_AGGREGATE_READ_LOOKUP_NUMBERS_H

#include "postgres.h"

#include "pg/nodes/aggregate/read/lookup_notes.h"
#include "pg/resident/extents/column_dictionary.h"

typedef struct LookupNumbers
{
	ColumnDictionary *shared;	/* of extents' numbers; NULL: extents have values */
	Dictionary *dictionary;		/* the query's */
	int32	   *numbers;		/* by number in extents: in the query's dictionary; -1: not asked for
								 * so far */
} LookupNumbers;

/*
 * Prepares the numbers from lo to hi (lo > hi: none) for lookup_numbers_find, which is called if
 * found, in the current memory context; and has the notes of column c numbered as extents are.
 * Returns false if the values have been given up or take too much memory.
 */
extern bool lookup_numbers_begin(LookupNumbers *numbers, ColumnDictionary *shared,
								 Dictionary *dictionary, int32 lo, int32 hi, bool found,
								 LookupNotes *notes, int c);

/*
 * Returns the number that the query's dictionary has for the value of one of extents; < 0 if the
 * values have been given up, or if there is no memory for the value.
 */
extern int32 lookup_numbers_find(LookupNumbers *numbers, int32 shared);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_LOOKUP_NUMBERS_H */
