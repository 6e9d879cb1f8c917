/*
 * resident_size.h
 *		How much resident memory columns of a table would take, by a sample of its blocks.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SIZE_H
#define HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SIZE_H

#include "postgres.h"

#include "access/attnum.h"
#include "utils/rel.h"

#include "pg/resident/memory/memory.h"

typedef struct ResidentSize
{
	ResidentReason reason;		/* why nothing would be kept; or RESIDENT_OK */
	int64		bytes;
	int64		margin;			/* twice the standard error; 0 if all of the table was read */
} ResidentSize;

/*
 * Sets sizes to what n columns of a table, which may be resident, would take if all of its blocks
 * were all-visible.  Reads up to 32 MB of the table, which is locked.
 */
extern void resident_sizes(Relation rel, int n, const AttrNumber *attnums, ResidentSize *sizes);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_RESIDENT_SIZE_H */
