/*
 * resident_check.h
 *		hpsort_resident_check(): a resident column compared with its table.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_RESIDENT_CHECK_H
#define HPSORT_PG_RESIDENT_SOURCE_RESIDENT_CHECK_H

#include "postgres.h"

#include "access/attnum.h"
#include "storage/block.h"
#include "utils/rel.h"

/* What a check of a column has found. */
typedef struct ResidentCheck
{
	int64		blocks;			/* that a query would read from memory; these are compared */
	int64		rows;			/* of these blocks, in memory */
	int64		differing;		/* blocks whose rows in memory differ from the table's */
	BlockNumber first_differing;	/* InvalidBlockNumber: none */
} ResidentCheck;

/*
 * Compares a column in memory with a sequential scan of its table under the active snapshot.  The
 * relation has storage, is open and locked.  Nothing is captured, and the column's statistics do
 * not count the check as a read.
 */
extern void resident_check_column(Relation rel, AttrNumber attnum, ResidentCheck *check);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_RESIDENT_CHECK_H */
