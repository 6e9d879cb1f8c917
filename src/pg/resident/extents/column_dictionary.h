/*
 * column_dictionary.h
 *		ColumnDictionary: the values of a resident column by number, as a process reads them.
 *
 * Extents of a column of COLUMN_KIND_NUMBER (residency_domain) have numbers, NULLs apart.  Each
 * number stands for the bytes of a value as they are stored, not toasted, behind a header: equal
 * values of different bytes have different numbers.  The values may be given up, together with all
 * extents that have their numbers, while they are read.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_COLUMN_DICTIONARY_H
#define HPSORT_PG_RESIDENT_EXTENTS_COLUMN_DICTIONARY_H

#include "access/attnum.h"
#include "utils/rel.h"

#include "pg/resident/memory/memory.h"

typedef struct ColumnDictionary ColumnDictionary;

/* Makes one that knows no values, in the current memory context. */
extern ColumnDictionary *column_dictionary_make(Relation rel, AttrNumber attnum);

/*
 * Has the dictionary know all values that there are now of a generation, which an extent has
 * (extent_reader_values_generation): all numbers of extents that have been looked at before.
 * Returns false if the generation is gone, and with it the extent.  Not to be called between
 * resident_start_copying() and resident_stop_copying(), nor is column_dictionary_value().
 */
extern bool column_dictionary_look(ColumnDictionary *dictionary, uint64 generation);

/* Returns the generation that is known, 0: none; and how many values: numbers are less. */
extern uint64 column_dictionary_generation(const ColumnDictionary *dictionary);
extern uint32 column_dictionary_size(const ColumnDictionary *dictionary);

/*
 * Sets *value to the value of a number that is known; it is valid until the next call.  Returns
 * false if the generation is gone.
 */
extern bool column_dictionary_value(ColumnDictionary *dictionary, uint32 number, Datum *value);

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_COLUMN_DICTIONARY_H */
