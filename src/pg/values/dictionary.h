/*
 * dictionary.h
 *		Dictionary: the values of any hashable type that occur in some rows, and their numbers.
 *
 * A value's number stands for it in a batch, in a key code and in runs.  Values are numbered from
 * 0 in the order in which they appear, by the type's own equality, and kept: of equal values that
 * look different (1.0 and 1.00) the one that came first.  Numbers mean something to one dictionary
 * only, and their order is that of appearance.
 *
 * From the first value on for which there is no memory, no value gets a number any more, so that
 * equal values are either all numbered or all refused.
 */
#ifndef HPSORT_PG_VALUES_DICTIONARY_H
#define HPSORT_PG_VALUES_DICTIONARY_H

#include "postgres.h"

typedef struct Dictionary Dictionary;

/*
 * Makes a dictionary of a type's values, in the current memory context, for a node.  Values are
 * equal as the type's default equality operator says, in the collation.  An error if the operator
 * has no hash function.
 */
extern Dictionary *dictionary_make(Oid type, Oid collation);

/*
 * Begins an execution without values, whose memory is the current memory context: the values of an
 * execution before, which are gone with its memory, are forgotten.  limit is bytes, of values and
 * hash table together; one value is kept however large it is.
 */
extern void dictionary_begin(Dictionary *dictionary, size_t limit);

/*
 * Sets *result to the number of a value, which is copied if it is new.  Returns false if there is
 * no room for it; *result is then its hash.  Leaves memory in the current memory context.
 */
extern bool dictionary_find(Dictionary *dictionary, Datum value, uint32 *result);

/* Returns the value that has a number; valid until dictionary_begin. */
extern Datum dictionary_value(const Dictionary *dictionary, uint32 number);

/* Returns a copy of a value of the dictionary's type in the current memory context. */
extern Datum dictionary_copy(const Dictionary *dictionary, Datum value);

/* Returns how many values have numbers. */
extern size_t dictionary_size(const Dictionary *dictionary);

#endif							/* HPSORT_PG_VALUES_DICTIONARY_H */
