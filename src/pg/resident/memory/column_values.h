/*
 * column_values.h
 *		The different values of a resident column, of which its extents have numbers.
 *
 * Values are given up together with all extents that have their numbers.  Until then a number
 * stands for the same bytes: a generation has one meaning for each number, and an extent knows the
 * generation of its numbers (ResidentExtent.values).
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_COLUMN_VALUES_H
#define HPSORT_PG_RESIDENT_MEMORY_COLUMN_VALUES_H

#include "pg/resident/memory/resident.h"
#include "pg/resident/memory/value_parts.h"

/*
 * Sets numbers to those of n values of a column, which resident_begin() has entered; new ones are
 * added.  Hashes are set here.  *generation is that of numbers which the caller has, or 0; becomes
 * that of all numbers.  Returns false if it is another, or if there is no room, or values hardly
 * repeat: the sweep says so.  May wait for the background worker, shortly.
 */
extern bool resident_number_values(const ResidentKey *key, uint64 *generation,
								   ResidentValue *values, int n, uint32 *numbers,
								   ResidentSweep *sweep);

/* What a process knows of a column's values. */
typedef struct ResidentValues
{
	uint64		generation;
	uint32		n;				/* values: numbers are less */
	uint32		nparts;
	ValuePart  *parts;			/* palloc'd, or NULL */
	uint64		seen;			/* for resident_copy_values */
} ResidentValues;

/*
 * Sets *values, which is zeros or what an earlier call has set, to what there is of that generation
 * now; any generation, if it is 0.  Returns false if the generation is gone.
 */
extern bool resident_look_values(const ResidentKey *key, uint64 generation,
								 ResidentValues *values);

/*
 * Copies the bytes of up to n known values from a number on, one behind the other, to out, which
 * has room for RESIDENT_VALUE_BYTES, and sets ends[i] to where each ends there.  Returns how many
 * have been copied, which may be fewer; 0 if the generation is gone.
 */
extern int	resident_copy_values(const ResidentKey *key, ResidentValues *values, uint32 number,
								 int n, char *out, uint32 *ends);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_COLUMN_VALUES_H */
