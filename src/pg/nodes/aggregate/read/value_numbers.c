/*
 * value_numbers.c
 *		Numbers of an expression's values (see value_numbers.h).
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/value_numbers.h"

/* Values for which there is room at first. */
#define FIRST_NUMBERS 64

typedef struct NumberEntry
{
	uint32		number;
	uint32		hash;
	char		status;
} NumberEntry;

/* Stands for the value that is looked for. */
#define NUMBER_WANTED PG_UINT32_MAX

static bool number_is_wanted(ValueNumbers *numbers, uint32 number);

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

struct ValueNumbers
{
	int16		typlen;
	bool		typbyval;
	Oid			collation;
	FmgrInfo	hash_function;
	FmgrInfo	equal_function;

	/* of an execution */
	MemoryContext memory;
	size_t		limit;			/* bytes */
	numbers_hash *hash;
	Datum	   *values;			/* by number */
	size_t		n;
	size_t		room;
	bool		full;			/* no value gets a number any more */
	Datum		wanted;			/* the value that is looked for */
};

ValueNumbers *
value_numbers_make(Node *expression)
{
	ValueNumbers *numbers = palloc0_object(ValueNumbers);
	Oid			type = exprType(expression);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
	RegProcedure hash;
	RegProcedure unused;

	if (!get_op_hash_functions(entry->eq_opr, &hash, &unused))
		elog(ERROR, "type %u has no hash function", type);
	numbers->typlen = entry->typlen;
	numbers->typbyval = entry->typbyval;
	numbers->collation = exprCollation(expression);
	fmgr_info(hash, &numbers->hash_function);
	fmgr_info(get_opcode(entry->eq_opr), &numbers->equal_function);
	return numbers;
}

void
value_numbers_begin(ValueNumbers *numbers, size_t limit)
{
	/* Small blocks: what has been allocated is what is used. */
	numbers->memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Aggregate values",
											0, 1024, 32 * 1024);
	numbers->limit = limit;
	numbers->hash = numbers_create(numbers->memory, FIRST_NUMBERS, numbers);
	numbers->values = NULL;
	numbers->n = numbers->room = 0;
	numbers->full = false;
}

/* For the hash table: whether a number's value is equal to the one that is looked for. */
static bool
number_is_wanted(ValueNumbers *numbers, uint32 number)
{
	return DatumGetBool(FunctionCall2Coll(&numbers->equal_function, numbers->collation,
										  numbers->values[number], numbers->wanted));
}

/* Whether there is memory for another value, a new one. */
static bool
has_room(const ValueNumbers *numbers, Datum value)
{
	Size		more = numbers->typbyval ? 0 : datumGetSize(value, false, numbers->typlen);
	Size		held = MemoryContextMemAllocated(numbers->memory, false);

	/* One at least, however large: each pass has to get on. */
	if (numbers->n == 0)
		return true;
	/* What grows is beside what it was for a moment. */
	if (numbers->n == numbers->room)
		more += 2 * numbers->room * sizeof(Datum);
	if (numbers->hash->members >= numbers->hash->grow_threshold)
		more += 2 * numbers->hash->size * sizeof(NumberEntry);
	return numbers->n < PG_INT32_MAX && held + more <= numbers->limit;
}

/* Numbers a value that is new. */
static uint32
number_value(ValueNumbers *numbers, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(numbers->memory);

	if (numbers->n == numbers->room)
	{
		numbers->room = Max(FIRST_NUMBERS, 2 * numbers->room);
		numbers->values = numbers->values ?
			repalloc_huge(numbers->values, numbers->room * sizeof(Datum)) :
			palloc_array(Datum, numbers->room);
	}
	numbers->values[numbers->n] = datumCopy(value, numbers->typbyval, numbers->typlen);
	MemoryContextSwitchTo(old);
	return (uint32) numbers->n++;
}

bool
value_numbers_find(ValueNumbers *numbers, Datum value, uint32 *result)
{
	uint32		hash = DatumGetUInt32(FunctionCall1Coll(&numbers->hash_function,
														numbers->collation, value));
	NumberEntry *entry;

	numbers->wanted = value;
	entry = numbers_lookup_hash(numbers->hash, NUMBER_WANTED, hash);
	if (entry == NULL)
	{
		bool		found;

		if (numbers->full || !has_room(numbers, value))
		{
			numbers->full = true;
			*result = hash;
			return false;
		}
		entry = numbers_insert_hash(numbers->hash, NUMBER_WANTED, hash, &found);
		entry->hash = hash;
		entry->number = number_value(numbers, value);
	}
	*result = entry->number;
	return true;
}

Datum
value_numbers_at(const ValueNumbers *numbers, uint32 number)
{
	return numbers->values[number];
}
