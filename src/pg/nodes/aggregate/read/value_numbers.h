/*
 * value_numbers.h
 *		ValueNumbers: numbers of an expression's values, whose type is not read as integers.
 *
 * Values are numbered from 0 in the order in which they appear, by the type's own equality, and
 * kept.  From the first value on for which there is no room, no value gets a number any more, so
 * that equal values are either all numbered or all refused.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_VALUE_NUMBERS_H
#define HPSORT_PG_NODES_AGGREGATE_READ_VALUE_NUMBERS_H

#include "postgres.h"

typedef struct ValueNumbers ValueNumbers;

/* Makes it in the current memory context, without values. */
extern ValueNumbers *value_numbers_make(Node *expression);

/*
 * Begins an execution, whose memory is the current memory context.  Values of an earlier one, which
 * are gone with its memory, are forgotten.  limit: bytes.
 */
extern void value_numbers_begin(ValueNumbers *numbers, size_t limit);

/*
 * Sets *result to the number of a value, which is copied if it is new.  Returns false if there is
 * no room for it; *result is then its hash.  Leaves memory in the current memory context.
 */
extern bool value_numbers_find(ValueNumbers *numbers, Datum value, uint32 *result);

/* Returns the value of a number; valid as long as the execution. */
extern Datum value_numbers_at(const ValueNumbers *numbers, uint32 number);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_VALUE_NUMBERS_H */
