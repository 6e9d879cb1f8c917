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

#include "pg/nodes/aggregate/groups_state.h"
#include "pg/resident/gpu/resident_rows.h"

/* The most bits of a group's code. */
#define LOOKUP_GROUP_BITS 20

typedef struct GroupsNumbers
{
	const ResidentRows *rows;	/* that have the values; NULL: extents have no numbers */
	int			column;			/* of the scan */
	Dictionary *dictionary;		/* the query's */
	int32	   *numbers;		/* by number in extents: in the query's dictionary; -1: not asked
								 * for so far */
} GroupsNumbers;

/*
 * Returns the numbers of all columns of the scan, in the current memory context, and has notes
 * numbered as extents are.  groups are the grouping columns, of which alone numbers will be found,
 * and of mapped columns, also numbers that conditions refuse.  Returns NULL if values have been
 * given up or take too much memory, or if there are too many.
 */
extern GroupsNumbers *groups_numbers_make(const GroupsState *node, const ResidentRows *rows,
										  const GroupColumn *groups, const Bitmapset *mapped,
										  LookupNotes *notes);

/*
 * Returns the number that the query's dictionary has for the value of one of extents; < 0 if the
 * values have been given up, or if there is no memory for the value.
 */
extern int32 groups_numbers_find(GroupsNumbers *numbers, int32 shared);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_NUMBERS_H */
