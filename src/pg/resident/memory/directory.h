/*
 * directory.h
 *		What the directory knows of a column, for this room alone (see resident.h).
 *
 * A column is looked up anew each time the lock is taken, because it may have been given up.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_DIRECTORY_H
#define HPSORT_PG_RESIDENT_MEMORY_DIRECTORY_H

#include "pg/resident/memory/value_parts.h"

/* What is known of a column. */
typedef struct ResidentColumn
{
	ResidentPlace place;		/* its own */
	ResidentPlace next;			/* in the bucket */
	ResidentKey key;
	ResidentPlace map;			/* ResidentExtent[capacity]; 0: none */
	uint32		capacity;
	uint32		wanted;			/* extents that the table has */
	uint32		nextents;		/* that are resident */
	uint32		usage;			/* as an extent's */
	ResidentSummary summary;
	ResidentStatus status;		/* but for relid, attnum, rows and blocks_valid */

	/* Of a column whose extents have numbers of values. */
	ValueParts	values;
	uint32		numbered_extents;	/* of this generation, those that have been replaced included */
	int64		numbered;		/* their values that are not NULL ... */
	int64		numbered_anew;	/* ... of these since the first extent was made anew */
	uint32		fullest;		/* most of them in one extent */
	uint32		first_values;	/* how many values there were when most of the table had extents
								 * for the first time; 0: it has not ... */
	int64		first_rows;		/* ... and how many rows in extents */
} ResidentColumn;

/* Returns the column at a place; NULL if the place is nowhere.  Good while the lock is held. */
static inline ResidentColumn *
directory_column(const ResidentRoot *root, ResidentPlace place)
{
	return (ResidentColumn *) resident_pointer(root, place);
}

/* Returns the extent of that number; NULL if the map does not reach so far. */
static inline ResidentExtent *
directory_extent(const ResidentRoot *root, const ResidentColumn *column, uint32 number)
{
	return number < column->capacity ?
		(ResidentExtent *) resident_pointer(root, column->map) + number : NULL;
}

/* Returns the column of exactly that key; NULL if there is none.  Good while the lock is held. */
extern ResidentColumn *directory_find(ResidentRoot *root, const ResidentKey *key);

/*
 * Gets memory for a piece of size bytes, of a column of that key: first more of it from the
 * worker, which is asked for that many bytes, then that of other columns.  The lock is held on
 * entry, and not afterwards.  Returns whether the caller is to allocate again, with the lock.
 * Free pieces need not lie side by side, so that more may have to be given up then.
 */
extern bool directory_get_room(ResidentRoot *root, const ResidentKey *key, Size size, Size ask,
							   ResidentSweep *sweep);

/*
 * Gives up all extents and values of a column, because of whose values, unless they are mostly dead
 * ones, none are kept any more.
 */
extern void directory_drop_values(ResidentRoot *root, ResidentColumn *column, bool no_repeats);

/* Gives up a column, with its map, extents and values. */
extern void directory_drop(ResidentRoot *root, ResidentColumn *column);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_DIRECTORY_H */
