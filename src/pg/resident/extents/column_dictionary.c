/*
 * column_dictionary.c
 *		Values of a resident column by number (see column_dictionary.h).
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/resident/extents/column_dictionary.h"
#include "pg/resident/extents/residency.h"

struct ColumnDictionary
{
	MemoryContext memory;
	ResidentKey key;
	int16		typlen;			/* of the column's type, as typbyval is */
	bool		typbyval;
	ResidentValues values;
	char	   *value;			/* the last one, with a header if the type has one */
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
	return dictionary;
}

bool
column_dictionary_look(ColumnDictionary *dictionary, uint64 generation)
{
	MemoryContext old = MemoryContextSwitchTo(dictionary->memory);
	bool		found = resident_look_values(&dictionary->key, generation, &dictionary->values);

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
	char	   *bytes = dictionary->value + (dictionary->typlen == -1 ? VARHDRSZ : 0);
	uint32		length;

	if (!resident_copy_value(&dictionary->key, &dictionary->values, number, bytes, &length))
		return false;
	if (dictionary->typlen == -1)
		SET_VARSIZE(dictionary->value, VARHDRSZ + length);
	*value = dictionary->typbyval ? *(Datum *) dictionary->value :
		PointerGetDatum(dictionary->value);
	return true;
}
