/*
 * dictionary_order.h
 *		DictionaryOrder: the values of a dictionary in the order of their type.
 *
 * When all rows are in, the values are sorted, not the rows.  A value's rank is its place in that
 * order, from 0: ranks stand for values as numbers do, and compare as the values do.  Values that
 * come later move the ranks of others, but never past each other.
 */
#ifndef HPSORT_PG_VALUES_DICTIONARY_ORDER_H
#define HPSORT_PG_VALUES_DICTIONARY_ORDER_H

#include "utils/sortsupport.h"

#include "pg/values/dictionary.h"

typedef struct DictionaryOrder
{
	const Dictionary *dictionary;
	MemoryContext memory;		/* of the order */
	size_t		n;				/* values that have ranks: the first ones */
	uint32	   *ranks;			/* by number */
	uint32	   *numbers;		/* by rank */
	Oid			sortop;
	SortSupportData compare;	/* of values, ascending, without abbreviations */
} DictionaryOrder;

/*
 * Whether values of a type can be sorted in a collation for others to see: there is a default btree
 * operator class, and values that are equal look the same.  Of 1.0 and 1.00, which do not, a query
 * may show either, and PostgreSQL has a rule which.  typmod is the column's.
 */
extern bool dictionary_order_exists(Oid type, int32 typmod, Oid collation);

/* Returns the < operator of a type's default btree operator class; InvalidOid if it has none. */
extern Oid	dictionary_order_operator(Oid type);

/*
 * Makes an order of the values of a dictionary as an operator sorts them, ascending, in a
 * collation, in the current memory context.  No value has a rank yet.
 */
extern DictionaryOrder *dictionary_order_make(const Dictionary *dictionary, Oid sortop,
											  Oid collation);

/*
 * Gives ranks to all values that the dictionary has by now.  That takes 8 bytes a value; for the
 * time of the sort, 16 more for each value that had no rank, and 8 for each that had one.
 */
extern void dictionary_order_rank(DictionaryOrder *order);

/* Returns the value of a rank, which belongs to the dictionary. */
static inline Datum
dictionary_order_value(const DictionaryOrder *order, uint32 rank)
{
	Assert(rank < order->n);
	return dictionary_value(order->dictionary, order->numbers[rank]);
}

/* Prepares comparisons of values, as an order makes them, in the current memory context. */
extern void dictionary_order_compare(SortSupport compare, Oid sortop, Oid collation);

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
