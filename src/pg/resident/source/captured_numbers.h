/*
 * captured_numbers.h
 *		CapturedNumbers: values, captured from pages, of a column of COLUMN_KIND_NUMBER
 *		(residency_domain): numbered by this process first, and by all when an extent is made.
 *
 * A value is looked for in shared memory once in a while, however often it occurs.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_CAPTURED_NUMBERS_H
#define HPSORT_PG_RESIDENT_SOURCE_CAPTURED_NUMBERS_H

#include "postgres.h"

#include "access/attnum.h"
#include "utils/rel.h"

#include "pg/resident/memory/memory.h"
#include "pg/values/values.h"

typedef struct CapturedNumbers CapturedNumbers;

/* Makes one in the current memory context, in which it stays. */
extern CapturedNumbers *captured_numbers_make(Relation rel, AttrNumber attnum);

/* Returns how the column's values are to be read: as numbers. */
extern ColumnImage captured_numbers_image(CapturedNumbers *numbers);

/*
 * Begins an extent, of whose values numbers are wanted or not: values of earlier ones may be
 * forgotten.
 */
extern void captured_numbers_begin(CapturedNumbers *numbers, bool wanted);

/* Whether values of the extent have no numbers, since one is too long, or there are too many. */
extern bool captured_numbers_miss(const CapturedNumbers *numbers);

/*
 * Makes the rows' numbers in the dictionary those of the column's values in shared memory, and sets
 * *generation to that of the latter.  Returns false if that is not possible now.  May wait for
 * memory.
 */
extern bool captured_numbers_share(CapturedNumbers *numbers, const ResidentKey *key,
								   ColumnBatch *rows, uint64 *generation, ResidentSweep *sweep);

/* Values of some rows, none of which is NULL. */
typedef struct NumbersSample
{
	double		rows;
	double		values;			/* different ones */
	double		once;			/* of these, in one row only */
	double		bytes;			/* of the values */
} NumbersSample;

/* Whether the table's statistics say that values hardly repeat. */
extern bool captured_numbers_are_many(Relation rel, AttrNumber attnum);

/* Adds rows to a sample, of whose column captured_numbers_share() is not called. */
extern void captured_numbers_sample(CapturedNumbers *numbers, const ColumnBatch *rows,
									NumbersSample *sample);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_CAPTURED_NUMBERS_H */
