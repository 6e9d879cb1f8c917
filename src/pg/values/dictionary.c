/*
 * dictionary.c
 *		Numbers of values of any hashable type (see dictionary.h).
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/values/dictionary.h"

/* Values for which there is room at first. */
#define FIRST_NUMBERS 64

typedef struct NumberEntry
{
	uint32		number;			/* of a value */
	uint32		hash;			/* of that value */
	char		status;			/* simplehash's */
} NumberEntry;

/* Stands for the value that is looked for. */
#define NUMBER_WANTED PG_UINT32_MAX

struct Dictionary
{
	int16		typlen;			/* of the values' type, as typbyval is */
	bool		typbyval;
	Oid			collation;
	FmgrInfo	hash_function;
	FmgrInfo	equal_function;

	/* of an execution */
	MemoryContext memory;		/* of all that follows */
	size_t		limit;			/* bytes */
	struct numbers_hash *hash;	/* from a value to its number */
	Datum	   *values;			/* by number */
	size_t		n;				/* values that have numbers */
	size_t		room;			/* in values */
	bool		full;			/* no value gets a number any more */
	Datum		wanted;			/* the value that is looked for */
};

/* For the hash table: whether a number's value is equal to the one that is looked for. */
static bool
number_is_wanted(Dictionary *dictionary, uint32 number)
{
	return DatumGetBool(FunctionCall2Coll(&dictionary->equal_function, dictionary->collation,
										  dictionary->values[number], dictionary->wanted));
}

#define SH_PREFIX numbers
#define SH_ELEMENT_TYPE NumberEntry
#define SH_KEY_TYPE uint32
#define SH_KEY number
#define SH_HASH_KEY(tb, key) 0	/* never called: the hash value is given or stored */
#define SH_EQUAL(tb, a, b) number_is_wanted((tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

Dictionary *
dictionary_make(Oid type, Oid collation)
{
	Dictionary *dictionary = palloc0_object(Dictionary);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
	RegProcedure hash;
	RegProcedure unused;

	if (!get_op_hash_functions(entry->eq_opr, &hash, &unused))
		elog(ERROR, "type %u has no hash function", type);
	dictionary->typlen = entry->typlen;
	dictionary->typbyval = entry->typbyval;
	dictionary->collation = collation;
	fmgr_info(hash, &dictionary->hash_function);
	fmgr_info(get_opcode(entry->eq_opr), &dictionary->equal_function);
	return dictionary;
}

void
dictionary_begin(Dictionary *dictionary, size_t limit)
{
	/* Small blocks: what has been allocated is what is used. */
	dictionary->memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort dictionary",
											   0, 1024, 32 * 1024);
	dictionary->limit = limit;
	dictionary->hash = numbers_create(dictionary->memory, FIRST_NUMBERS, dictionary);
	dictionary->values = NULL;
	dictionary->n = dictionary->room = 0;
	dictionary->full = false;
}

/* Whether there is memory for another value, a new one. */
static bool
has_room(const Dictionary *dictionary, Datum value)
{
	Size		more = dictionary->typbyval ? 0 : datumGetSize(value, false, dictionary->typlen);
	Size		held = MemoryContextMemAllocated(dictionary->memory, false);

	/* One at least, however large: each pass has to get on. */
	if (dictionary->n == 0)
		return true;
	/* What grows is beside what it was for a moment. */
	if (dictionary->n == dictionary->room)
		more += 2 * dictionary->room * sizeof(Datum);
	if (dictionary->hash->members >= dictionary->hash->grow_threshold)
		more += 2 * dictionary->hash->size * sizeof(NumberEntry);
	return dictionary->n < PG_INT32_MAX && held + more <= dictionary->limit;
}

/* Numbers a value that is new. */
static uint32
number_value(Dictionary *dictionary, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(dictionary->memory);

	if (dictionary->n == dictionary->room)
	{
		dictionary->room = Max(FIRST_NUMBERS, 2 * dictionary->room);
		dictionary->values = dictionary->values ?
			repalloc_huge(dictionary->values, dictionary->room * sizeof(Datum)) :
			palloc_array(Datum, dictionary->room);
	}
	dictionary->values[dictionary->n] = datumCopy(value, dictionary->typbyval, dictionary->typlen);
	MemoryContextSwitchTo(old);
	return (uint32) dictionary->n++;
}

bool
dictionary_find(Dictionary *dictionary, Datum value, uint32 *result)
{
	uint32		hash = DatumGetUInt32(FunctionCall1Coll(&dictionary->hash_function,
														dictionary->collation, value));
	NumberEntry *entry;

	dictionary->wanted = value;
	entry = numbers_lookup_hash(dictionary->hash, NUMBER_WANTED, hash);
	if (entry == NULL)
	{
		bool		found;

		if (dictionary->full || !has_room(dictionary, value))
		{
			dictionary->full = true;
			*result = hash;
			return false;
		}
		entry = numbers_insert_hash(dictionary->hash, NUMBER_WANTED, hash, &found);
		entry->hash = hash;
		entry->number = number_value(dictionary, value);
	}
	*result = entry->number;
	return true;
}

Datum
dictionary_value(const Dictionary *dictionary, uint32 number)
{
	Assert(number < dictionary->n);
	return dictionary->values[number];
}

Datum
dictionary_copy(const Dictionary *dictionary, Datum value)
{
	return datumCopy(value, dictionary->typbyval, dictionary->typlen);
}

size_t
dictionary_size(const Dictionary *dictionary)
{
	return dictionary->n;
}
