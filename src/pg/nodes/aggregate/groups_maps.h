/*
 * groups_maps.h
 *		GroupsMaps: grouping expressions, and the lookups of a star join, as maps of the columns of
 *		which they are, for groups that are looked up among keys that the GPU has put in order
 *		(groups_lookup.c).
 *
 * What a row becomes by a column that is the key of lookups, or of which expressions are, is found
 * once for each value of the column: whether rows with it are joined, and for each grouping column
 * that is of it the place among the different values that joined rows may have, in their order.
 * So the GPU needs neither lookup nor expression: a map is an array.  Where extents have numbers of
 * values, a map is of these.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_MAPS_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_MAPS_H

#include "pg/nodes/aggregate/groups_numbers.h"
#include "pg/nodes/aggregate/groups_state.h"
#include "pg/resident/gpu/resident_rows.h"

/* A column by which rows are joined, or of which expressions are. */
typedef struct GroupsMap
{
	int			column;			/* of the scan */

	/* of an execution */
	int32		lo;				/* the values are lo .. lo + n - 1, as the GPU has them ... */
	size_t		n;				/* ... and number n is NULL */
	uint8	   *joined;			/* by value: whether rows with it are joined */
} GroupsMap;

/* A grouping column. */
typedef struct MappedField
{
	const GroupsMap *map;		/* NULL: it is one of the scan, of which nothing else is */

	/* of an execution */
	int32	   *places;			/* by value of the map's column: its place in values; -1: NULL */
	int64	   *values;			/* nvalues different ones, ascending, as batches hold them */
	size_t		nvalues;
	bool		nulls;			/* joined rows may have NULL */
} MappedField;

typedef struct GroupsMaps
{
	int			nmaps;
	GroupsMap  *maps;
	MappedField *fields;		/* by grouping column */
} GroupsMaps;

/*
 * Makes the maps of a node whose groups and lookups have been described, in the current memory
 * context; *maps becomes NULL if it needs none.  Returns false if it has groups that cannot be
 * mapped, or if the planner has not expected a GPU for a star join.
 */
extern bool groups_maps_make(const GroupsState *node, GroupsMaps **maps);

/* Whether grouping column g is mapped; maps may be NULL. */
static inline bool
groups_maps_have(const GroupsMaps *maps, int g)
{
	return maps && maps->fields[g].map != NULL;
}

/* Returns how many columns of the scan ngroups grouping columns, and lookups, are of. */
extern int	groups_maps_columns(const GroupsMaps *maps, int ngroups);

/*
 * Finds what rows become, in the current memory context, of all values of resident rows and of
 * notes; numbers are by column, and maps may be NULL.  Returns false if a column has too many for
 * the GPU or for the memory of notes, or if an expression fails for one of them, which perhaps no
 * row has.
 */
extern bool groups_maps_find(GroupsMaps *maps, GroupsState *node, const ResidentRows *rows,
							 GroupsNumbers *numbers, const LookupNotes *notes);

/* Returns the range of the images of a grouping column's places. */
extern KeyRange groups_maps_range(const GroupsMaps *maps, int g);

/*
 * Sets batches, one for each grouping column, to places of the rows of noted columns, and clears
 * joined of rows that are not joined.  The batches' arrays are of the current memory context.
 */
extern void groups_maps_fill(const GroupsMaps *maps, int ngroups, const ColumnBatch *noted,
							 ColumnBatch *batches, uint8 *joined);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_MAPS_H */
