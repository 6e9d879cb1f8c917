/*
 * dictionary_order.h
 *		DictionaryOrder: the values of a dictionary in the order of their type.
 *
 * When all rows are in, the values are sorted, not the rows.  A value's rank is its place in that
 * order, from 0: ranks stand for values as numbers do, and compare as the values do.
 */
#ifndef HPSORT_PG_VALUES_DICTIONARY_ORDER_H
#define HPSORT_PG_VALUES_DICTIONARY_ORDER_H

#include "postgres.h"

#include "utils/sortsupport.h"

#include "pg/values/dictionary.h"

typedef struct DictionaryOrder
{
	const Dictionary *dictionary;
	size_t		n;				/* values that have ranks */
	uint32	   *ranks;			/* by number */
	uint32	   *numbers;		/* by rank */
	SortSupportData compare;	/* of values, without abbreviations */
} DictionaryOrder;

/*
 * Whether values of a type can be sorted in a collation for others to see: there is a default btree
 * operator class, and values that are equal look the same.  Of 1.0 and 1.00, which do not, a query
 * may show either, and PostgreSQL has a rule which.  typmod is the column's.
 */
extern bool dictionary_order_exists(Oid type, int32 typmod, Oid collation);

/*
 * Sorts the values that a dictionary has by now, as the default btree operator class of their type
 * does in a collation.  The result is in the current memory context, and takes 8 bytes a value;
 * for the time of the sort, 16 more.  An error if the type has no operator class.
 */
extern DictionaryOrder *dictionary_order_make(const Dictionary *dictionary, Oid type,
											  Oid collation);

/* Returns the value of a rank, which belongs to the dictionary. */
static inline Datum
dictionary_order_value(const DictionaryOrder *order, uint32 rank)
{
	Assert(rank < order->n);
	return dictionary_value(order->dictionary, order->numbers[rank]);
}

/*
 * Prepares comparisons of values of a type by its default btree operator class, in the current
 * memory context.
 */
extern void dictionary_order_compare(SortSupport compare, Oid type, Oid collation);

/*
 * Returns how many values are before a value of the type, and sets *found to whether it is one of
 * them.
 */
extern size_t dictionary_order_find(const DictionaryOrder *order, Datum value, bool *found);

/*
 * Turns n runs of numbers, each of which occurs once, into runs of ranks, ascending, in place.
 * Leaves no memory.
 */
extern void dictionary_order_runs(const DictionaryOrder *order, int64 *values, int64 *counts,
								  size_t n);

#endif							/* HPSORT_PG_VALUES_DICTIONARY_ORDER_H */
