/*
 * column_dictionary.c
 *		Values of a resident column by number (see column_dictionary.h).
 *
 * Values are mostly wanted in the order of their numbers: with a value that follows the last one
 * others behind it are copied, the more the longer this goes on.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/resident/extents/column_dictionary.h"
#include "pg/resident/extents/residency.h"

/* How many values are copied at once, at most. */
#define VALUES_AT_ONCE 64

struct ColumnDictionary
{
	MemoryContext memory;
	ResidentKey key;
	int16		typlen;			/* of the column's type, as typbyval is */
	bool		typbyval;
	ResidentValues values;
	char	   *value;			/* the last one, with a header if the type has one */
	uint32		next;			/* number behind it */

	/* values that have been copied; none that is known no more */
	uint32		first;			/* number of the first one */
	int			n;
	uint32		ends[VALUES_AT_ONCE];
	char	   *bytes;			/* RESIDENT_VALUE_BYTES */
};

ColumnDictionary *
column_dictionary_make(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	ColumnDictionary *dictionary = palloc0_object(ColumnDictionary);

	dictionary->memory = CurrentMemoryContext;
	residency_key(rel, attnum, &dictionary->key);
	dictionary->typlen = att->attlen;
	dictionary->typbyval = att->attbyval;
	dictionary->value = palloc0(VARHDRSZ + RESIDENT_VALUE_BYTES);
	dictionary->bytes = palloc(RESIDENT_VALUE_BYTES);
	return dictionary;
}

bool
column_dictionary_look(ColumnDictionary *dictionary, uint64 generation)
{
	MemoryContext old = MemoryContextSwitchTo(dictionary->memory);
	uint64		before = dictionary->values.generation;
	bool		found = resident_look_values(&dictionary->key, generation, &dictionary->values);

	if (!found || dictionary->values.generation != before)
		dictionary->n = 0;
	MemoryContextSwitchTo(old);
	return found;
}

uint64
column_dictionary_generation(const ColumnDictionary *dictionary)
{
	return dictionary->values.generation;
}

uint32
column_dictionary_size(const ColumnDictionary *dictionary)
{
	return dictionary->values.n;
}

bool
column_dictionary_value(ColumnDictionary *dictionary, uint32 number, Datum *value)
{
	char	   *to = dictionary->value;
	int			i = (int) (number - dictionary->first);
	uint32		start;
	uint32		length;

	if (number < dictionary->first || number - dictionary->first >= (uint32) dictionary->n)
	{
		int			n = number == dictionary->next ? Min(2 * dictionary->n, VALUES_AT_ONCE) : 1;

		dictionary->n = resident_copy_values(&dictionary->key, &dictionary->values, number,
											 Max(n, 1), dictionary->bytes, dictionary->ends);
		dictionary->first = number;
		i = 0;
	}
	if (dictionary->n == 0)
		return false;
	dictionary->next = number + 1;
	start = i > 0 ? dictionary->ends[i - 1] : 0;
	length = dictionary->ends[i] - start;
	if (dictionary->typlen == -1)
	{
		SET_VARSIZE(to, VARHDRSZ + length);
		to += VARHDRSZ;
	}
	memcpy(to, dictionary->bytes + start, length);
	*value = dictionary->typbyval ? *(Datum *) dictionary->value :
		PointerGetDatum(dictionary->value);
	return true;
}
