/*
 * extents.h
 *		Extents of resident columns: found valid or not, and read.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	column_dictionary.h     values of which extents have numbers
 *	extent_reader.h         an extent's values as batches
 *	left_extents.h          extents that a scan leaves until its end
 *	residency.h             which columns may be resident, and for which snapshots
 *	resident_valid.h        which blocks of an extent are valid
 *	visibility.h            copies of a table's visibility map
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_EXTENTS_H
#define HPSORT_PG_RESIDENT_EXTENTS_EXTENTS_H

#include "pg/resident/extents/column_dictionary.h"
#include "pg/resident/extents/extent_reader.h"
#include "pg/resident/extents/left_extents.h"
#include "pg/resident/extents/residency.h"
#include "pg/resident/extents/resident_valid.h"
#include "pg/resident/extents/visibility.h"

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_EXTENTS_H */
