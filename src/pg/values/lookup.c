/*
 * lookup.c
 *		Rows of a table by a unique key (see lookup.h).
 *
 * Columns are arrays by place.  A hash table with open addressing has places; a row's hash lies in
 * an array beside its columns, so that most comparisons of keys are made of equal ones.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/values/lookup.h"

/* The least number of the hash table's elements, a power of two. */
#define LEAST_ELEMENTS 1024

/* A column of the rows that is kept. */
typedef struct LookupColumn
{
	AttrNumber	column;			/* where it is in a row */
	Datum	   *values;			/* by place */
	bool	   *nulls;
} LookupColumn;

/* A column of the key. */
typedef struct LookupKey
{
	int			column;			/* its index among the columns that are kept */
	Oid			collation;
	FmgrInfo	equal;			/* of a value that is looked for and one of a row */
	FmgrInfo	equal_rows;		/* of values of two rows */
	FmgrInfo	hash;			/* of a value that is looked for */
	FmgrInfo	hash_row;		/* of a value of a row */
} LookupKey;

struct Lookup
{
	MemoryContext memory;		/* of the rows */
	bool		unique;
	int			nkeys;
	LookupKey  *keys;
	int			ncolumns;
	LookupColumn *columns;

	/* --- of the rows */
	int32		size;			/* rows */
	int32		room;			/* in the arrays by place */
	uint32	   *hashes;			/* by place */
	uint32		mask;			/* elements of the hash table - 1 */
	int32	   *places;			/* the hash table; LOOKUP_NO_PLACE: empty */
};

Lookup *
lookup_make(int nkeys, const AttrNumber *key_columns, const Oid *operators, const Oid *collations,
			bool unique)
{
	Lookup	   *lookup = palloc0_object(Lookup);
	int			k;

	lookup->memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort look-up",
										   ALLOCSET_DEFAULT_SIZES);
	lookup->unique = unique;
	lookup->nkeys = nkeys;
	lookup->keys = palloc0_array(LookupKey, nkeys);
	for (k = 0; k < nkeys; k++)
	{
		LookupKey  *key = &lookup->keys[k];
		RegProcedure hash;
		RegProcedure hash_row;
		Oid			left;
		Oid			right;

		if (!get_op_hash_functions(operators[k], &hash, &hash_row) ||
			!get_compatible_hash_operators(operators[k], &left, &right))
			elog(ERROR, "could not find hash functions for operator %u", operators[k]);
		fmgr_info(get_opcode(operators[k]), &key->equal);
		fmgr_info(get_opcode(right), &key->equal_rows);
		fmgr_info(hash, &key->hash);
		fmgr_info(hash_row, &key->hash_row);
		key->collation = collations[k];
		key->column = lookup_add_column(lookup, key_columns[k]);
	}
	return lookup;
}

int
lookup_add_column(Lookup *lookup, AttrNumber column)
{
	int			c;

	for (c = 0; c < lookup->ncolumns; c++)
		if (lookup->columns[c].column == column)
			return c;
	lookup->columns = lookup->columns ?
		repalloc(lookup->columns, (c + 1) * sizeof(LookupColumn)) :
		palloc_object(LookupColumn);
	lookup->columns[c] = (LookupColumn)
	{
		.column = column
	};
	lookup->ncolumns++;
	return c;
}

void
lookup_empty(Lookup *lookup)
{
	MemoryContextReset(lookup->memory);
	lookup->size = lookup->room = 0;
	lookup->places = NULL;
}

/* --- the hash table */

/* Makes the hash table anew, with n elements, a power of two. */
static void
make_table(Lookup *lookup, uint32 n)
{
	int32		place;

	if (lookup->places)
		pfree(lookup->places);
	lookup->places = MemoryContextAllocHuge(lookup->memory, (Size) n * sizeof(int32));
	memset(lookup->places, 0xFF, (Size) n * sizeof(int32));
	lookup->mask = n - 1;
	for (place = 0; place < lookup->size; place++)
	{
		uint32		at = lookup->hashes[place] & lookup->mask;

		while (lookup->places[at] != LOOKUP_NO_PLACE)
			at = (at + 1) & lookup->mask;
		lookup->places[at] = place;
	}
}

static uint32
hash_key(const Lookup *lookup, const Datum *key, bool of_row)
{
	uint32		hash = 0;
	int			k;

	for (k = 0; k < lookup->nkeys; k++)
	{
		LookupKey  *column = &lookup->keys[k];

		hash = pg_rotate_left32(hash, 1) ^
			DatumGetUInt32(FunctionCall1Coll(of_row ? &column->hash_row : &column->hash,
											 column->collation, key[k]));
	}
	return murmurhash32(hash);
}

/* Whether a key, which is that of a row or is looked for, is that of the row at a place. */
static bool
equals_row(const Lookup *lookup, const Datum *key, bool of_row, int32 place)
{
	int			k;

	for (k = 0; k < lookup->nkeys; k++)
	{
		LookupKey  *column = &lookup->keys[k];

		if (!DatumGetBool(FunctionCall2Coll(of_row ? &column->equal_rows : &column->equal,
											column->collation, key[k],
											lookup->columns[column->column].values[place])))
			return false;
	}
	return true;
}

/* Returns the element of the hash table that has a key, or the empty one in which it would be. */
static uint32
find_element(const Lookup *lookup, const Datum *key, bool of_row, uint32 hash)
{
	uint32		at = hash & lookup->mask;

	while (lookup->places[at] != LOOKUP_NO_PLACE &&
		   (lookup->hashes[lookup->places[at]] != hash ||
			!equals_row(lookup, key, of_row, lookup->places[at])))
		at = (at + 1) & lookup->mask;
	return at;
}

int32
lookup_find(const Lookup *lookup, const Datum *key, const bool *isnull)
{
	int			k;

	for (k = 0; k < lookup->nkeys; k++)
		if (isnull[k])
			return LOOKUP_NO_PLACE;
	if (lookup->size == 0)
		return LOOKUP_NO_PLACE;
	return lookup->places[find_element(lookup, key, false, hash_key(lookup, key, false))];
}

/* --- rows */

/* Enlarges an array by place to hold room elements. */
static void *
enlarge(Lookup *lookup, void *array, Size size)
{
	size *= lookup->room;
	return array && lookup->size > 0 ? repalloc_huge(array, size) :
		MemoryContextAllocHuge(lookup->memory, size);
}

/* Makes room for a row more. */
static void
make_room(Lookup *lookup)
{
	int			c;

	if (lookup->size == lookup->room)
	{
		if (lookup->room > PG_INT32_MAX / 2)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many rows to look up")));
		lookup->room = Max(2 * lookup->room, LEAST_ELEMENTS / 2);
		lookup->hashes = enlarge(lookup, lookup->hashes, sizeof(uint32));
		for (c = 0; c < lookup->ncolumns; c++)
		{
			LookupColumn *column = &lookup->columns[c];

			column->values = enlarge(lookup, column->values, sizeof(Datum));
			column->nulls = enlarge(lookup, column->nulls, sizeof(bool));
		}
	}
	if (lookup->places == NULL)
		make_table(lookup, LEAST_ELEMENTS);
	else if ((uint32) lookup->size > lookup->mask / 2)
		make_table(lookup, 2 * (lookup->mask + 1));
}

/* Keeps the values of a row at the place behind the others. */
static void
keep_values(Lookup *lookup, TupleTableSlot *row)
{
	MemoryContext old = MemoryContextSwitchTo(lookup->memory);
	int			c;

	for (c = 0; c < lookup->ncolumns; c++)
	{
		LookupColumn *column = &lookup->columns[c];
		Form_pg_attribute type = TupleDescAttr(row->tts_tupleDescriptor, column->column - 1);
		bool		isnull = row->tts_isnull[column->column - 1];

		column->nulls[lookup->size] = isnull;
		column->values[lookup->size] = isnull ? (Datum) 0 :
			datumCopy(row->tts_values[column->column - 1], type->attbyval, type->attlen);
	}
	MemoryContextSwitchTo(old);
}

void
lookup_add(Lookup *lookup, TupleTableSlot *row)
{
	Datum		key[INDEX_MAX_KEYS];
	uint32		hash;
	uint32		at;
	int			k;

	slot_getallattrs(row);
	for (k = 0; k < lookup->nkeys; k++)
	{
		AttrNumber	column = lookup->columns[lookup->keys[k].column].column;

		if (row->tts_isnull[column - 1])
			return;
		key[k] = row->tts_values[column - 1];
	}
	make_room(lookup);
	hash = hash_key(lookup, key, true);
	at = find_element(lookup, key, true, hash);
	if (lookup->places[at] != LOOKUP_NO_PLACE)
	{
		/* The planner has proved that there is none. */
		if (lookup->unique)
			elog(ERROR, "more than one row of a key of a look-up");
		return;
	}
	keep_values(lookup, row);
	lookup->hashes[lookup->size] = hash;
	lookup->places[at] = lookup->size++;
}

Datum
lookup_value(const Lookup *lookup, int column, int32 place, bool *isnull)
{
	*isnull = lookup->columns[column].nulls[place];
	return lookup->columns[column].values[place];
}

int32
lookup_size(const Lookup *lookup)
{
	return lookup->size;
}

size_t
lookup_memory(const Lookup *lookup)
{
	return MemoryContextMemAllocated(lookup->memory, true);
}
