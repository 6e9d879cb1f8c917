/*
 * lookup.c
 *		Rows of a table by a key (see lookup.h).
 *
 * Columns are arrays by place.  A hash table with open addressing has places; a row's hash lies in
 * an array beside its columns, so that most comparisons of keys are made of equal ones.
 *
 * Keys that are integers on both sides are compared and hashed as these; those of several columns,
 * if they have 64 bits together, as one integer that has the values side by side.  Where integers
 * are close together, an array by key has their places.  Unless rows are passed over, the array or
 * the table is made when all rows are there, which takes half the time: 120 ns a row of 1e6 in
 * place of 250.
 *
 * Of several rows of a key the table has the last one, which leads to those before it: the order in
 * which core's hash join finds them.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/nodeHash.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

/* The least number of the hash table's elements, and how many it has for a row of integers. */
#define LEAST_ELEMENTS 1024
#define ELEMENTS_PER_ROW 2

/* The array by key has no more elements than the hash table; or for a row, if memory allows it. */
#define ARRAY_KEYS_PER_ROW 16

/* Bytes in which values that are not passed by value lie one after the other. */
#define VALUES_BLOCK (32 * 1024)

Lookup *
lookup_make(TupleDesc rows, int nkeys, const AttrNumber *key_columns, const Oid *operators,
			const Oid *collations, LookupRepeats repeats)
{
	Lookup	   *lookup = palloc0_object(Lookup);
	Oid			left;
	Oid			right;

	lookup->memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort look-up",
										   ALLOCSET_DEFAULT_SIZES);
	lookup->rows = rows;
	lookup->repeats = repeats;
	lookup->nkeys = nkeys;
	lookup->keys = palloc0_array(LookupKey, nkeys);
	for (int k = 0; k < nkeys; k++)
	{
		LookupKey  *key = &lookup->keys[k];
		RegProcedure hash;
		RegProcedure hash_row;

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
	lookup->of_integers = lookup_compares_integers(nkeys, operators);
	for (int k = nkeys - 1; k >= 0 && lookup->of_integers; k--)
	{
		LookupKey  *key = &lookup->keys[k];

		lookup->columns[key->column].key = k;

		op_input_types(operators[k], &left, &right);
		key->kind = column_builtin_kind(left);
		key->row_kind = column_builtin_kind(right);
		key->bits = lookup_value_bits(operators[k]);
		if (k < nkeys - 1)
			key->shift = key[1].shift + key[1].bits;
	}
	lookup->narrow = nkeys == 1 && (lookup->keys[0].row_kind == COLUMN_KIND_INT2 ||
									lookup->keys[0].row_kind == COLUMN_KIND_INT4);
	return lookup;
}

int
lookup_add_column(Lookup *lookup, AttrNumber column)
{
	Form_pg_attribute type = TupleDescAttr(lookup->rows, column - 1);
	int			c;

	for (c = 0; c < lookup->ncolumns; c++)
		if (lookup->columns[c].column == column)
			return c;
	lookup->columns = lookup->columns ?
		repalloc(lookup->columns, (c + 1) * sizeof(LookupColumn)) :
		palloc_object(LookupColumn);
	lookup->columns[c] = (LookupColumn)
	{
		.column = column,.byval = type->attbyval,.typlen = type->attlen,.key = -1
	};
	lookup->ncolumns++;
	return c;
}

/* Forgets the rows, but for those of parts. */
static void
forget_rows(Lookup *lookup)
{
	MemoryContextReset(lookup->memory);
	lookup->size = lookup->room = lookup->repeated = 0;
	lookup->places = lookup->by_key = lookup->before = NULL;
	lookup->hashes = NULL;
	lookup->integers = NULL;
	lookup->nfree = 0;
	for (int c = 0; c < lookup->ncolumns; c++)
	{
		lookup->columns[c].values = NULL;
		lookup->columns[c].nulls = NULL;
	}
	lookup->base = NULL;
	lookup->shared_size = 0;
	lookup->least = PG_INT64_MAX;
	lookup->most = PG_INT64_MIN;
}

void
lookup_empty(Lookup *lookup)
{
	forget_rows(lookup);
	if (lookup->parts)
		lookup_parts_empty(lookup->parts);
}

/* --- the hash table */

/*
 * Puts the place of a row into an element that is found by its key, and has perhaps the place of a
 * row before it.
 */
static inline void
put_place(Lookup *lookup, int32 *element, int32 place)
{
	if (*element != LOOKUP_NO_PLACE)
	{
		/* The planner has proved that there is none. */
		if (lookup->repeats != LOOKUP_REPEATS_KEPT)
			elog(ERROR, "more than one row of a key of a look-up");
		if (lookup->before == NULL)
		{
			lookup->before = MemoryContextAllocHuge(lookup->memory,
													(Size) lookup->room * sizeof(int32));
			memset(lookup->before, 0xFF, (Size) lookup->room * sizeof(int32));
		}
		lookup->before[place] = *element;
		lookup->repeated++;
	}
	*element = place;
}

static inline uint32
hash_integer(int64 key)
{
	return murmurhash32((uint32) ((uint64) key * UINT64CONST(0x9E3779B97F4A7C15) >> 32));
}

/* Returns the integer that is the key of the row at a place. */
static inline int64
integer_at(const Lookup *lookup, int32 place)
{
	return lookup->narrow ? ((const int32 *) lookup->integers)[place] :
		((const int64 *) lookup->integers)[place];
}

/* Returns the element of the hash table at which a key is looked for first. */
static inline uint32
first_element(const Lookup *lookup, uint32 hash)
{
	return (uint32) ((uint64) hash * lookup->nelements >> 32);
}

static inline uint32
next_element(const Lookup *lookup, uint32 at)
{
	return at + 1 < lookup->nelements ? at + 1 : 0;
}

/* Makes the hash table anew, with n elements, which have what is in it. */
static void
make_table(Lookup *lookup, uint32 n)
{
	int32	   *old = lookup->places;
	uint32		nold = old ? lookup->nelements : 0;

	lookup->places = MemoryContextAllocHuge(lookup->memory, (Size) n * sizeof(int32));
	memset(lookup->places, 0xFF, (Size) n * sizeof(int32));
	lookup->nelements = n;
	for (uint32 i = 0; i < nold; i++)
	{
		uint32		at;

		if (old[i] == LOOKUP_NO_PLACE)
			continue;
		at = first_element(lookup, lookup->of_integers ?
						   hash_integer(integer_at(lookup, old[i])) : lookup->hashes[old[i]]);
		while (lookup->places[at] != LOOKUP_NO_PLACE)
			at = next_element(lookup, at);
		lookup->places[at] = old[i];
	}
	if (old)
		pfree(old);
}

/* Returns the integer of several columns: of those before one, and the value of this one. */
static inline int64
append_value(const LookupKey *key, int64 integer, int64 value)
{
	uint64		mask = (UINT64CONST(1) << key->bits) - 1;

	return (int64) ((uint64) integer << key->bits | ((uint64) value & mask));
}

/* Returns the integer that a key is, of a row or looked for. */
static inline int64
integer_of(const Lookup *lookup, const Datum *key, bool of_row)
{
	int64		integer = 0;

	if (lookup->nkeys == 1)
		return column_value(of_row ? lookup->keys[0].row_kind : lookup->keys[0].kind, key[0]);
	for (int k = 0; k < lookup->nkeys; k++)
	{
		const LookupKey *column = &lookup->keys[k];

		integer = append_value(column, integer,
							   column_value(of_row ? column->row_kind : column->kind, key[k]));
	}
	return integer;
}

static uint32
hash_key(const Lookup *lookup, const Datum *key, bool of_row)
{
	uint32		hash = 0;

	if (lookup->of_integers)
		return hash_integer(integer_of(lookup, key, of_row));
	for (int k = 0; k < lookup->nkeys; k++)
	{
		LookupKey  *column = &lookup->keys[k];

		hash = pg_rotate_left32(hash, 1) ^
			DatumGetUInt32(FunctionCall1Coll(of_row ? &column->hash_row : &column->hash,
											 column->collation, key[k]));
	}
	return murmurhash32(hash);
}

int64
lookup_key(const Lookup *lookup, int k, int32 place)
{
	const LookupKey *key = &lookup->keys[k];
	int64		integer = integer_at(lookup, place);

	if (lookup->nkeys == 1)
		return integer;
	/* The bits behind the sign's, and the sign in front of them; oids have none. */
	integer = (int64) ((uint64) integer << (64 - key->bits - key->shift)) >> (64 - key->bits);
	return key->row_kind == COLUMN_KIND_OID ? (int64) (Oid) integer : integer;
}

/* Returns the value of a column, which is not NULL, of the row at a place. */
static inline Datum
value_of(const Lookup *lookup, const LookupColumn *column, int32 place)
{
	if (column->key >= 0)
		return column_datum(lookup->keys[column->key].row_kind,
							lookup_key(lookup, column->key, place));
	return column->byval ?
		fetch_att(column->values + (Size) place * column->typlen, true, column->typlen) :
		((const Datum *) column->values)[place] + PointerGetDatum(lookup->base);
}

/* Whether a key, which is that of a row or is looked for, is that of the row at a place. */
static bool
equals_row(const Lookup *lookup, const Datum *key, bool of_row, int32 place)
{
	if (lookup->of_integers)
		return integer_at(lookup, place) == integer_of(lookup, key, of_row);
	for (int k = 0; k < lookup->nkeys; k++)
	{
		LookupKey  *column = &lookup->keys[k];

		if (!DatumGetBool(FunctionCall2Coll(of_row ? &column->equal_rows : &column->equal,
											column->collation, key[k],
											value_of(lookup, &lookup->columns[column->column],
													 place))))
			return false;
	}
	return true;
}

/* Returns the element of the hash table that has a key, or the empty one in which it would be. */
static uint32
find_element(const Lookup *lookup, const Datum *key, bool of_row, uint32 hash)
{
	uint32		at = first_element(lookup, hash);

	while (lookup->places[at] != LOOKUP_NO_PLACE &&
		   ((lookup->hashes && lookup->hashes[lookup->places[at]] != hash) ||
			!equals_row(lookup, key, of_row, lookup->places[at])))
		at = next_element(lookup, at);
	return at;
}

/* Does what find_element does for an integer. */
static inline uint32
find_integer(const Lookup *lookup, int64 key)
{
	uint32		at = first_element(lookup, hash_integer(key));

	while (lookup->places[at] != LOOKUP_NO_PLACE && integer_at(lookup, lookup->places[at]) != key)
		at = next_element(lookup, at);
	return at;
}

/* Returns the place of the row that has an integer as its key; there are rows. */
static inline int32
place_of_integer(const Lookup *lookup, int64 key)
{
	if (key < lookup->least || key > lookup->most)
		return LOOKUP_NO_PLACE;
	return lookup->by_key ? lookup->by_key[(uint64) key - (uint64) lookup->least] :
		lookup->places[find_integer(lookup, key)];
}

int32
lookup_find(const Lookup *lookup, const Datum *key, const bool *isnull)
{
	uint32		hash = 0;

	for (int k = 0; k < lookup->nkeys; k++)
		if (isnull[k])
			return LOOKUP_NO_PLACE;
	if (!lookup->of_integers || lookup->parts)
		hash = hash_key(lookup, key, false);
	if (lookup->parts && lookup_part_of_hash(lookup->parts, hash) != lookup->parts->part)
		return LOOKUP_NO_PLACE - 1 - lookup_part_of_hash(lookup->parts, hash);
	if (lookup->size == 0)
		return LOOKUP_NO_PLACE;
	if (lookup->of_integers)
		return place_of_integer(lookup, integer_of(lookup, key, false));
	return lookup->places[find_element(lookup, key, false, hash)];
}

bool
lookup_finds_integers(const Lookup *lookup, int k, ColumnKind kind)
{
	return lookup->of_integers && kind == lookup->keys[k].kind;
}

void
lookup_pack(const Lookup *lookup, const ColumnBatch *const *batches, ColumnBatch *packed)
{
	size_t		n = batches[0]->n;
	BatchSpace	space = column_batch_space(packed, n);
	size_t		nnulls = 0;

	memset(space.wide, 0, n * sizeof(int64));
	memset(space.nulls, 0, n);
	for (int k = 0; k < lookup->nkeys; k++)
	{
		const LookupKey *key = &lookup->keys[k];
		int64		bias = column_kind_bias(key->kind);

		/* Of several columns none is wide. */
		for (size_t i = 0; i < n; i++)
			space.wide[i] = append_value(key, space.wide[i], batches[k]->keys[i] + bias);
		for (size_t i = 0; i < n && batches[k]->nnulls > 0; i++)
			space.nulls[i] |= batches[k]->nulls[i];
	}
	for (size_t i = 0; i < n; i++)
		nnulls += space.nulls[i];
	column_batch_add(packed, n, nnulls);
}

/* by_key, narrow and divided are constants, so that the compiler makes a loop for each case. */
static pg_attribute_always_inline size_t
find_integers(const Lookup *lookup, const ColumnBatch *keys, int32 *places, uint8 *nulls,
			  bool by_key, bool narrow, bool divided)
{
	int64		bias = narrow ? column_kind_bias(lookup->keys[0].kind) : 0;
	uint64		least = (uint64) lookup->least;
	uint64		range = (uint64) lookup->most - least;
	const int32 *array = lookup->by_key;
	bool		any = lookup->size > 0;
	size_t		nmissing = 0;

	for (size_t i = 0; i < keys->n; i++)
	{
		int64		key = (narrow ? keys->keys[i] : keys->wide[i]) + bias;
		uint64		distance = (uint64) key - least;
		int			part = divided ? lookup_part_of_hash(lookup->parts, hash_integer(key)) : 0;
		int32		place = LOOKUP_NO_PLACE;

		if (divided && part != lookup->parts->part)
			place = LOOKUP_NO_PLACE - 1 - part;
		else if (any && distance <= range)
			place = by_key ? array[distance] : lookup->places[find_integer(lookup, key)];
		nulls[i] = place < 0;
		places[i] = place < 0 ? lookup_part_wanted(place) : place;
		nmissing += place < 0;
	}
	return nmissing;
}

size_t
lookup_find_integers(const Lookup *lookup, const ColumnBatch *keys, int32 *places, uint8 *nulls)
{
	bool		by_key = lookup->by_key != NULL;
	bool		narrow = keys->keys != NULL;
	size_t		nmissing;

	if (lookup->parts)
		nmissing = find_integers(lookup, keys, places, nulls, by_key, narrow, true);
	else if (by_key)
		nmissing = narrow ? find_integers(lookup, keys, places, nulls, true, true, false) :
			find_integers(lookup, keys, places, nulls, true, false, false);
	else
		nmissing = narrow ? find_integers(lookup, keys, places, nulls, false, true, false) :
			find_integers(lookup, keys, places, nulls, false, false, false);
	/* A NULL has the key 0. */
	for (size_t i = 0; i < keys->n && keys->nnulls > 0; i++)
		if (keys->nulls[i])
		{
			nmissing += !nulls[i];
			nulls[i] = 1;
			places[i] = 0;
		}
	return nmissing;
}

/* --- rows */

/* Has an array by place, perhaps NULL, hold room elements of a size. */
static void *
resize(Lookup *lookup, void *array, Size size)
{
	size *= lookup->room;
	return array ? repalloc_huge(array, size) : MemoryContextAllocHuge(lookup->memory, size);
}

/* Whether places are found only when all rows are there. */
static inline bool
is_made_last(const Lookup *lookup)
{
	return lookup->repeats != LOOKUP_REPEATS_PASSED && lookup->of_integers;
}

/* Makes room for so many rows in the arrays by place. */
static void
set_room(Lookup *lookup, int32 room)
{
	lookup->room = room;
	if (lookup->of_integers)
		lookup->integers = resize(lookup, lookup->integers, lookup_integer_width(lookup));
	else
		lookup->hashes = resize(lookup, lookup->hashes, sizeof(uint32));
	if (lookup->before)
	{
		lookup->before = resize(lookup, lookup->before, sizeof(int32));
		memset(lookup->before + lookup->size, 0xFF, (Size) (room - lookup->size) * sizeof(int32));
	}
	for (int c = 0; c < lookup->ncolumns; c++)
	{
		LookupColumn *column = &lookup->columns[c];

		if (column->key < 0)
			column->values = resize(lookup, column->values, lookup_value_width(column));
		if (column->nulls)
			column->nulls = resize(lookup, column->nulls, sizeof(bool));
	}
}

/* Makes room for a row more. */
static void
make_room(Lookup *lookup)
{
	if (lookup->size == lookup->room)
	{
		if (lookup->room > PG_INT32_MAX / 2)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many rows to look up")));
		set_room(lookup, Max(2 * lookup->room, LEAST_ELEMENTS / 2));
	}
	if (is_made_last(lookup))
		return;
	if (lookup->places == NULL)
		make_table(lookup, LEAST_ELEMENTS);
	else if ((uint32) lookup->size >= lookup->nelements / ELEMENTS_PER_ROW)
		make_table(lookup, 2 * lookup->nelements);
}

/* Returns a copy of a value that is not passed by value, in the lookup's memory. */
static Datum
copy_value(Lookup *lookup, Datum value, int16 typlen)
{
	struct varlena *varlena = (struct varlena *) DatumGetPointer(value);
	Size		length;
	char	   *copy;

	if (typlen == -1 && VARATT_IS_EXTERNAL_EXPANDED(varlena))
		return datumCopy(value, false, typlen);
	length = datumGetSize(value, false, typlen);
	/* Only values with a header of one byte lie anywhere. */
	if (typlen != -1 || !VARATT_IS_SHORT(varlena))
	{
		lookup->nfree = MAXALIGN_DOWN(lookup->nfree);
		lookup->free = (char *) MAXALIGN(lookup->free);
	}
	if (lookup->nfree < length)
	{
		lookup->nfree = Max(length, VALUES_BLOCK);
		lookup->free = palloc_extended(lookup->nfree, MCXT_ALLOC_HUGE);
	}
	copy = memcpy(lookup->free, DatumGetPointer(value), length);
	lookup->free += length;
	lookup->nfree -= length;
	return PointerGetDatum(copy);
}

/* Notes that a column of the row at the place behind the others is NULL. */
static void
keep_null(Lookup *lookup, LookupColumn *column)
{
	if (column->nulls == NULL)
	{
		column->nulls = palloc_extended(lookup->room, MCXT_ALLOC_HUGE);
		memset(column->nulls, false, lookup->size);
	}
	column->nulls[lookup->size] = true;
}

/* Keeps the values of a row at the place behind the others. */
static void
keep_values(Lookup *lookup, TupleTableSlot *row)
{
	MemoryContext old = MemoryContextSwitchTo(lookup->memory);

	for (int c = 0; c < lookup->ncolumns; c++)
	{
		LookupColumn *column = &lookup->columns[c];
		Datum		value = row->tts_values[column->column - 1];

		if (column->key >= 0)
			continue;
		if (row->tts_isnull[column->column - 1])
		{
			keep_null(lookup, column);
			continue;
		}
		if (column->nulls)
			column->nulls[lookup->size] = false;
		if (column->byval)
			store_att_byval(column->values + (Size) lookup->size * column->typlen, value,
							column->typlen);
		else
			((Datum *) column->values)[lookup->size] = copy_value(lookup, value, column->typlen);
	}
	MemoryContextSwitchTo(old);
}

/* Notes the integer that is the key of the row at the place behind the others. */
static void
note_integer(Lookup *lookup, int64 integer)
{
	if (lookup->narrow)
		((int32 *) lookup->integers)[lookup->size] = (int32) integer;
	else
		((int64 *) lookup->integers)[lookup->size] = integer;
	lookup->least = Min(lookup->least, integer);
	lookup->most = Max(lookup->most, integer);
}

/* Adds a row, unless a column of its key is NULL: to its part, or to the rows that are there. */
static void
add_row(Lookup *lookup, TupleTableSlot *row, bool to_part)
{
	Datum		key[INDEX_MAX_KEYS];
	uint32		hash;
	uint32		at;

	slot_getallattrs(row);
	for (int k = 0; k < lookup->nkeys; k++)
	{
		AttrNumber	column = lookup->columns[lookup->keys[k].column].column;

		if (row->tts_isnull[column - 1])
			return;
		key[k] = row->tts_values[column - 1];
	}
	if (to_part)
	{
		lookup_parts_add(lookup->parts, hash_key(lookup, key, true), row);
		return;
	}
	make_room(lookup);
	if (!is_made_last(lookup))
	{
		hash = hash_key(lookup, key, true);
		at = find_element(lookup, key, true, hash);
		if (lookup->places[at] != LOOKUP_NO_PLACE && lookup->repeats == LOOKUP_REPEATS_PASSED)
			return;
		if (lookup->hashes)
			lookup->hashes[lookup->size] = hash;
		put_place(lookup, &lookup->places[at], lookup->size);
	}
	if (lookup->of_integers)
		note_integer(lookup, integer_of(lookup, key, true));
	keep_values(lookup, row);
	lookup->size++;
}

/* Makes the array by key. */
static void
make_array(Lookup *lookup, uint64 range)
{
	lookup->by_key = MemoryContextAllocHuge(lookup->memory, (range + 1) * sizeof(int32));
	memset(lookup->by_key, 0xFF, (range + 1) * sizeof(int32));
	for (int32 place = 0; place < lookup->size; place++)
		put_place(lookup, &lookup->by_key[(uint64) integer_at(lookup, place) -
										  (uint64) lookup->least], place);
}

/* Makes what is made when all rows are there. */
static void
finish_rows(Lookup *lookup)
{
	uint64		range = (uint64) lookup->most - (uint64) lookup->least;
	uint32		nelements = Max(ELEMENTS_PER_ROW * (uint32) lookup->size, LEAST_ELEMENTS);

	if (lookup->size == 0)
		return;
	set_room(lookup, lookup->size);
	if (!lookup->of_integers)
		return;
	if (range < nelements ||
		(range < (uint64) lookup->size * ARRAY_KEYS_PER_ROW &&
		 range * sizeof(int32) + lookup_memory(lookup) < get_hash_memory_limit()))
		make_array(lookup, range);
	else if (is_made_last(lookup))
	{
		make_table(lookup, nelements);
		for (int32 place = 0; place < lookup->size; place++)
			put_place(lookup, &lookup->places[find_integer(lookup, integer_at(lookup, place))],
					  place);
	}
}

void
lookup_add(Lookup *lookup, TupleTableSlot *row)
{
	add_row(lookup, row, lookup->parts != NULL);
}

bool
lookup_load(Lookup *lookup, int part)
{
	MemoryContext memory;
	TupleTableSlot *row;

	if (lookup->parts == NULL || lookup->parts->part == part)
		return false;
	memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort look-up's part",
								   ALLOCSET_SMALL_SIZES);
	forget_rows(lookup);
	lookup_parts_begin(lookup->parts, part);
	while ((row = lookup_parts_next(lookup->parts)) != NULL)
	{
		/* Hash and equality functions leave memory behind. */
		MemoryContext old = MemoryContextSwitchTo(memory);

		add_row(lookup, row, false);
		MemoryContextSwitchTo(old);
		MemoryContextReset(memory);
	}
	MemoryContextDelete(memory);
	finish_rows(lookup);
	return true;
}

void
lookup_finish(Lookup *lookup)
{
	if (lookup->parts)
		lookup_load(lookup, 0);
	else
		finish_rows(lookup);
}

void
lookup_read(const Lookup *lookup, int column, ColumnKind kind, const ColumnBatch *places,
			const uint8 *refused, ColumnBatch *values)
{
	const LookupColumn *read = &lookup->columns[column];
	BatchSpace	space = column_batch_space(values, places->n);
	int64		bias = column_kind_bias(kind);
	bool		plain = places->nnulls == 0 && !refused && !read->nulls && read->key < 0;
	size_t		nnulls = 0;

	for (size_t i = 0; i < places->n; i++)
	{
		int32		place = places->keys[i];
		bool		isnull = !plain && (places->nulls[i] || (refused && refused[i]) ||
										(read->nulls && read->nulls[place]));

		if (plain && kind == COLUMN_KIND_INT4)
			space.keys[i] = ((const int32 *) read->values)[place];
		else if (column_kind_is_wide(kind))
			space.wide[i] = isnull ? 0 : column_value(kind, value_of(lookup, read, place));
		else
			space.keys[i] = isnull ? 0 :
				(int32) (column_value(kind, value_of(lookup, read, place)) - bias);
		space.nulls[i] = isnull;
		nnulls += isnull;
	}
	column_batch_add(values, places->n, nnulls);
}

Datum
lookup_value(const Lookup *lookup, int column, int32 place, bool *isnull)
{
	const bool *nulls = lookup->columns[column].nulls;

	*isnull = nulls && nulls[place];
	return *isnull ? (Datum) 0 : value_of(lookup, &lookup->columns[column], place);
}

int32
lookup_size(const Lookup *lookup)
{
	return lookup->size;
}

int32
lookup_nkeys(const Lookup *lookup)
{
	return lookup->size - lookup->repeated;
}

size_t
lookup_memory(const Lookup *lookup)
{
	return MemoryContextMemAllocated(lookup->memory, true) + lookup->shared_size +
		(lookup->parts ? MemoryContextMemAllocated(lookup->parts->memory, true) : 0);
}
