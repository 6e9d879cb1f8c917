/*
 * key_numbers.h
 *		Numbers of the values of a sort key, and their ranks.
 *
 * Where values of a key repeat, each value that occurs gets a number from a dictionary when its row
 * is taken, and the number is the row's image.  When all rows are there, or memory is full, the
 * values are sorted, not the rows, by the comparison function of the sort operator, and numbers
 * become ranks.  Ranks are exact images: rows of equal ranks are equal by the key, and no rows
 * are compared by it.
 *
 * Rows that come after values have been ranked get numbers again, and ranks change when there are
 * new values.  The order of two ranked values never changes, so that what has been sorted by ranks
 * stays in order.  What is kept meanwhile is numbers.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_KEY_NUMBERS_H
#define HPSORT_PG_NODES_SORT_STORE_KEY_NUMBERS_H

#include "utils/palloc.h"

#include "pg/values/values.h"

/*
 * Values of all keys have one of KEY_NUMBERS_PART parts of work_mem, and ranking them takes half as
 * much beside it.  Blocks of memory may be larger than what is used of them, and so may a single
 * value: KEY_NUMBERS_MOST times as much is refused.
 */
#define KEY_NUMBERS_PART 4
#define KEY_NUMBERS_MOST 2

/*
 * Numbering is given up if nearly all values are new, all but one in KEY_NUMBERS_RARE, when there
 * are KEY_NUMBERS_TRIED rows and one of KEY_NUMBERS_FIRST parts of those that the planner expects;
 * and if half of the values are new when there is one of KEY_NUMBERS_PARTS parts.  Of 50,000 values
 * few repeat among the first 30,000 rows, but most do in 500,000.
 */
#define KEY_NUMBERS_TRIED 1024
#define KEY_NUMBERS_FIRST 16
#define KEY_NUMBERS_RARE 8
#define KEY_NUMBERS_PARTS 4

/* Values of which the hash or equality function has left memory behind before it is freed. */
#define KEY_NUMBERS_RESET 1024

/* The memory of all keys of a sort that are numbered. */
typedef struct KeyNumbersMemory
{
	Size		limit;			/* bytes for values */
	Size		bytes;			/* held */
	bool		full;			/* a value of one of the keys had no room */
} KeyNumbersMemory;

/* The numbers of one key, in one sort after the other. */
typedef struct KeyNumbers
{
	Dictionary *dictionary;		/* NULL: values of the key are not numbered in any sort */
	bool		made;			/* they are in this sort */
	bool		refused;		/* a value had no room */
	KeyNumbersMemory *all;		/* of all keys */
	bool		ranked;			/* images are ranks */
	Oid			sortop;
	Oid			collation;

	/* Of one sort. */
	MemoryContext memory;		/* NULL: none is held */
	MemoryContext scratch;		/* what the type's functions leave behind */
	DictionaryOrder *order;		/* of the values that have been ranked */
	Size		bytes;			/* held */
	uint32		n;				/* values with numbers */
	uint64		taken;			/* values that have been looked up */
} KeyNumbers;

/*
 * Sets numbers up for values of a type, no domain, that are sorted by an operator, in the current
 * memory context.  all must outlive them.
 */
extern void key_numbers_init(KeyNumbers *numbers, Oid type, Oid sortop, Oid collation,
							 KeyNumbersMemory *all);

/*
 * Returns whether numbering is to be given up after this number of rows, of those that the planner
 * expects: a value had no room, or few values repeat.
 */
extern bool key_numbers_are_refused(const KeyNumbers *numbers, uint64 rows, double expected_rows);

/* Starts a sort; all memory is below the context. */
extern void key_numbers_start(KeyNumbers *numbers, MemoryContext memory);

/* Ends a sort, or the numbering of its values: frees the memory.  Can be called at any time. */
extern void key_numbers_stop(KeyNumbers *numbers);

/* Gives ranks to all values that have numbers.  From now on images are ranks. */
extern void key_numbers_rank(KeyNumbers *numbers);

/* From now on images are numbers again. */
static inline void
key_numbers_number(KeyNumbers *numbers)
{
	numbers->ranked = false;
}

/* The slow step of key_numbers_image(): a value has got a number. */
extern void key_numbers_grow(KeyNumbers *numbers);

/*
 * Returns the image of a value that is not NULL: its number, or rank, which it must have then.  If
 * there is no room for the value it returns 0, and sets refused and all->full.
 */
static inline uint64
key_numbers_image(KeyNumbers *numbers, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(numbers->scratch);
	uint32		number;

	if (unlikely(++numbers->taken % KEY_NUMBERS_RESET == 0))
		MemoryContextReset(numbers->scratch);
	if (unlikely(!dictionary_find(numbers->dictionary, value, &number)))
	{
		numbers->refused = numbers->all->full = true;
		number = 0;
	}
	else if (unlikely(number >= numbers->n))
		key_numbers_grow(numbers);
	MemoryContextSwitchTo(old);
	return numbers->ranked ? numbers->order->ranks[number] : number;
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_KEY_NUMBERS_H */
