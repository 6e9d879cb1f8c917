/*
 * dictionary.h
 *		Dictionary: the values of any type that occur in some rows, and their numbers.
 *
 * A value's number stands for it in a batch, in a key code and in runs.  Values are numbered from
 * 0 in the order in which they appear, and kept.  Numbers mean something to one dictionary only,
 * and their order is that of appearance.  Which values have one number is the dictionary's kind:
 *
 * - Equal ones, by the type's own equality: of equal values that look different (1.0 and 1.00) the
 *	 one that came first is kept.
 * - Identical ones, of the same bytes, for expressions, which may tell apart what is equal.
 *
 * A value is looked for by its bytes first, where they lie, whatever its type: these have been
 * seen before in most rows.  Functions of the type are called only for bytes that are new.
 *
 * From the first value on for which there is no memory, no value gets a number any more, so that
 * equal values are either all numbered or all refused.
 *
 * In a parallel query the processes may number values together (dictionary_share).  A value is then
 * looked for in a process's own table of bytes, and once in the shared dictionary.
 */
#ifndef HPSORT_PG_VALUES_DICTIONARY_H
#define HPSORT_PG_VALUES_DICTIONARY_H

#include "pg/values/shared_dictionary.h"

typedef struct Dictionary Dictionary;

/* Memory of several dictionaries: those of few values leave theirs to others.  Zeros at first. */
typedef struct DictionaryPool
{
	size_t		limit;			/* bytes */
	size_t		lent;
} DictionaryPool;

/*
 * Makes a dictionary of a type's values, in the current memory context, for a node.  Values are
 * equal as the type's default equality operator says, in the collation.  An error if the operator
 * has no hash function.
 */
extern Dictionary *dictionary_make(Oid type, Oid collation);

/* Makes a dictionary in which values are equal if their bytes are, of any type but cstring's. */
extern Dictionary *dictionary_make_identical(Oid type);

/*
 * Whether equal values of a type look alike as its default btree operator class says, in a
 * collation; false if it says nothing.
 */
extern bool dictionary_equal_is_image(Oid type, Oid collation);

/*
 * Whether values of a type are equal if and only if their bytes are, so that a dictionary of equal
 * values is one of identical values.
 */
extern bool dictionary_equal_is_identical(Oid type, int32 typmod, Oid collation);

/* Whether equal values of a type look alike, so that it does not matter which of them is kept. */
extern bool dictionary_equal_is_alike(Oid type, int32 typmod, Oid collation);

/*
 * Begins an execution without values, whose memory is the current memory context: the values of an
 * execution before, which are gone with its memory, are forgotten.  limit is bytes, of values and
 * hash tables together; one value is kept however large it is.
 */
extern void dictionary_begin(Dictionary *dictionary, size_t limit);

/* Gives most of the limit to a pool, which outlives the execution, after dictionary_begin. */
extern void dictionary_use_pool(Dictionary *dictionary, DictionaryPool *pool);

/*
 * Has values numbered by a shared dictionary, in which other processes have perhaps numbered some:
 * called behind dictionary_begin, whose limit is that of the shared dictionary.  A process's own
 * table of bytes is smaller, and beside that limit.  Values without a number have no bytes.
 */
extern void dictionary_share(Dictionary *dictionary, SharedDictionary *shared, dsa_area *area);

/* Ends an execution, and gives its memory back, before dictionary_begin begins another one. */
extern void dictionary_end(Dictionary *dictionary);

/*
 * Sets *result to the number of a value, which is copied if it is new.  Returns false if there is
 * no room for it; *result is then its hash.  Leaves memory in the current memory context.
 */
extern bool dictionary_find(Dictionary *dictionary, Datum value, uint32 *result);

/* Returns the value that has a number; valid until dictionary_begin, of a refused value until
 * dictionary_forget_refused. */
extern Datum dictionary_value(const Dictionary *dictionary, uint32 number);

/*
 * Fetches a value that is soon wanted into the CPU's caches: first, value being false, where it is,
 * and some values later itself.
 */
extern void dictionary_prefetch(const Dictionary *dictionary, uint32 number, bool value);

/* Returns a copy, not toasted, of a value of its type in the current memory context. */
extern Datum dictionary_copy(const Dictionary *dictionary, Datum value);

/* Returns how many values have numbers; of a shared dictionary, at least those of this process. */
extern size_t dictionary_size(const Dictionary *dictionary);

/*
 * --- columns of a batch
 *
 * A batch needs something in place of a value that is refused.  It gets a negative number, which
 * means this value until dictionary_forget_refused is called; equal values may get several.
 */

/*
 * Whether a dictionary may refuse all further values of batches, without looking for them, once
 * most values are new: for a column whose numbers only save work.  At first it may not.
 */
extern void dictionary_may_give_up(Dictionary *dictionary, bool may);

/* Whether all further values of batches are refused. */
extern bool dictionary_is_given_up(const Dictionary *dictionary);

/*
 * Forgets all values, and refuses all further ones of batches, until dictionary_begin is called;
 * the current memory context is as for that.  The memory is given back, but not to the pool.
 */
extern void dictionary_give_up(Dictionary *dictionary);

/*
 * Writes to numbers those of n values, which lie in a page at data[i] + offset, and 0 where that is
 * null.  The page is pinned.
 */
extern void dictionary_read(Dictionary *dictionary, const char *const *data, int offset, int n,
							const char *null, int32 *numbers);

/* Returns the number of a value that is not NULL. */
extern int32 dictionary_number(Dictionary *dictionary, Datum value);

/* Returns how many values have been refused since dictionary_forget_refused. */
extern int	dictionary_nrefused(const Dictionary *dictionary);

/* Whether the refused values take so much memory that the batch must have no more rows. */
extern bool dictionary_ends_batch(const Dictionary *dictionary);

/* Returns the hash of a value that has a negative number. */
extern uint32 dictionary_refused_hash(const Dictionary *dictionary, int32 number);

extern void dictionary_forget_refused(Dictionary *dictionary);

/*
 * Returns the bytes of a value that has a number, perhaps a negative one, as they can be kept in a
 * file: dictionary_restore makes a Datum of a copy of them, which must be aligned as MAXALIGN does
 * and stay where it is as long as the Datum is used.
 */
extern const char *dictionary_bytes(const Dictionary *dictionary, int32 number, size_t *length);
extern Datum dictionary_restore(const Dictionary *dictionary, const char *bytes);

#endif							/* HPSORT_PG_VALUES_DICTIONARY_H */
