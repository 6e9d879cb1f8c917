/*
 * captured_numbers.c
 *		Numbers of values that are captured (see captured_numbers.h).
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "pg/resident/source/captured_numbers.h"

/*
 * Bytes of the dictionary, and with how many it is begun anew before the next extent.  Values of an
 * extent that take more are too many.
 */
#define CAPTURED_BYTES ((Size) 64 * 1024 * 1024)
#define CAPTURED_BYTES_KEPT ((Size) 16 * 1024 * 1024)

struct CapturedNumbers
{
	MemoryContext memory;		/* of shared */
	MemoryContext dictionary_memory;
	MemoryContext scratch;		/* of values that are fetched */
	int16		typlen;			/* of the column's type */
	Dictionary *dictionary;
	bool		missed;			/* captured_numbers_miss */
	uint64		generation;		/* of the shared numbers that are known; 0: none are */
	uint32	   *shared;			/* by number in the dictionary: 1 more than the shared number, 0:
								 * not known, or NUMBER_WANTED; of a sample: in how many rows */
	Size		room;			/* in shared */
};

/* It will be asked for. */
#define NUMBER_WANTED PG_UINT32_MAX

/* Begins the dictionary without values. */
static void
begin_dictionary(CapturedNumbers *numbers)
{
	MemoryContext old = MemoryContextSwitchTo(numbers->dictionary_memory);

	dictionary_begin(numbers->dictionary, CAPTURED_BYTES);
	MemoryContextSwitchTo(old);
	numbers->generation = 0;
	if (numbers->room > 0)
		memset(numbers->shared, 0, numbers->room * sizeof(uint32));
}

CapturedNumbers *
captured_numbers_make(Relation rel, AttrNumber attnum)
{
	CapturedNumbers *numbers = palloc0_object(CapturedNumbers);
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	numbers->memory = CurrentMemoryContext;
	numbers->dictionary_memory = AllocSetContextCreate(numbers->memory, "HpSort Captured Values",
													   ALLOCSET_SMALL_SIZES);
	numbers->scratch = AllocSetContextCreate(numbers->memory, "HpSort Captured Value",
											 ALLOCSET_SMALL_SIZES);
	numbers->typlen = att->attlen;
	numbers->dictionary = dictionary_make_identical(att->atttypid);
	begin_dictionary(numbers);
	return numbers;
}

/* A ColumnImage's make(): returns a value's number in the dictionary; any, if it gets none. */
static int64
number_of(void *arg, Datum value)
{
	CapturedNumbers *numbers = (CapturedNumbers *) arg;
	bool		toasted = numbers->typlen == -1 &&
	(VARATT_IS_EXTERNAL(DatumGetPointer(value)) || VARATT_IS_COMPRESSED(DatumGetPointer(value)));
	MemoryContext old;
	uint32		number = 0;

	if (numbers->missed)
		return 0;
	if (!toasted)
		numbers->missed = !dictionary_find(numbers->dictionary, value, &number);
	else if (toast_raw_datum_size(value) > VARHDRSZ + RESIDENT_VALUE_BYTES)
		numbers->missed = true;
	else
	{
		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(numbers->scratch);
		numbers->missed = !dictionary_find(numbers->dictionary, value, &number);
		MemoryContextSwitchTo(old);
		MemoryContextReset(numbers->scratch);
	}
	return number;
}

ColumnImage
captured_numbers_image(CapturedNumbers *numbers)
{
	return (ColumnImage)
	{
		.make = number_of,.arg = numbers
	};
}

void
captured_numbers_begin(CapturedNumbers *numbers, bool wanted)
{
	/* Then no value is looked at. */
	numbers->missed = !wanted;
	if (MemoryContextMemAllocated(numbers->dictionary_memory, true) <= CAPTURED_BYTES_KEPT)
		return;
	dictionary_end(numbers->dictionary);
	begin_dictionary(numbers);
}

bool
captured_numbers_miss(const CapturedNumbers *numbers)
{
	return numbers->missed;
}

/* Has shared numbers have room for all of the dictionary's; new ones are not known. */
static void
make_room(CapturedNumbers *numbers)
{
	Size		room = dictionary_size(numbers->dictionary);

	if (room <= numbers->room)
		return;
	room = Max(room, 2 * numbers->room);
	numbers->shared = numbers->shared ?
		repalloc_huge(numbers->shared, room * sizeof(uint32)) :
		MemoryContextAllocHuge(numbers->memory, room * sizeof(uint32));
	memset(numbers->shared + numbers->room, 0, (room - numbers->room) * sizeof(uint32));
	numbers->room = room;
}

/* Lists the numbers of rows that are not known in shared memory; returns how many. */
static int
list_unknown(CapturedNumbers *numbers, const ColumnBatch *rows, uint32 *unknown)
{
	int			n = 0;

	for (size_t i = 0; i < rows->n; i++)
	{
		uint32		number = (uint32) rows->wide[i];

		if (rows->nulls[i] || numbers->shared[number] != 0)
			continue;
		numbers->shared[number] = NUMBER_WANTED;
		unknown[n++] = number;
	}
	return n;
}

/*
 * Asks for the shared numbers of all rows.  Returns false if that is not possible, and no number is
 * known afterwards.
 */
static bool
ask_for_numbers(CapturedNumbers *numbers, const ResidentKey *key, const ColumnBatch *rows,
				ResidentSweep *sweep)
{
	uint32	   *unknown = palloc_array(uint32, Max(rows->n, 1));
	int			n = list_unknown(numbers, rows, unknown);
	ResidentValue *values = palloc_array(ResidentValue, Max(n, 1));
	uint32	   *found = palloc_array(uint32, Max(n, 1));
	uint32		header = numbers->typlen == -1 ? VARHDRSZ : 0;
	bool		known;

	for (int i = 0; i < n; i++)
	{
		size_t		length;

		values[i].bytes = header +
			dictionary_bytes(numbers->dictionary, (int32) unknown[i], &length);
		values[i].length = (uint32) length - header;
	}
	known = resident_number_values(key, &numbers->generation, values, n, found, sweep);
	for (int i = 0; known && i < n; i++)
		numbers->shared[unknown[i]] = found[i] + 1;
	if (!known)
	{
		memset(numbers->shared, 0, numbers->room * sizeof(uint32));
		numbers->generation = 0;
	}
	pfree(unknown);
	pfree(values);
	pfree(found);
	return known;
}

bool
captured_numbers_share(CapturedNumbers *numbers, const ResidentKey *key, ColumnBatch *rows,
					   uint64 *generation, ResidentSweep *sweep)
{
	BatchSpace	space = column_batch_arrays(rows, 0);
	bool		knew = numbers->generation != 0;

	make_room(numbers);
	/* What was known may be of values that have been given up. */
	if (!ask_for_numbers(numbers, key, rows, sweep) &&
		(!knew || sweep->reason != RESIDENT_OK || !ask_for_numbers(numbers, key, rows, sweep)))
		return false;
	for (size_t i = 0; i < rows->n; i++)
		space.wide[i] = space.nulls[i] ? 0 : (int64) numbers->shared[space.wide[i]] - 1;
	*generation = numbers->generation;
	return true;
}

bool
captured_numbers_are_many(Relation rel, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(rel)),
										Int16GetDatum(attnum), BoolGetDatum(false));
	bool		many;

	if (!HeapTupleIsValid(tuple))
		return false;
	/* Negative: a part of the rows. */
	many = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct < -0.5;
	ReleaseSysCache(tuple);
	return many;
}

void
captured_numbers_sample(CapturedNumbers *numbers, const ColumnBatch *rows, NumbersSample *sample)
{
	make_room(numbers);
	for (size_t i = 0; i < rows->n; i++)
	{
		uint32		number = (uint32) rows->wide[i];
		size_t		length;

		if (rows->nulls[i])
			continue;
		sample->rows++;
		switch (numbers->shared[number]++)
		{
			case 0:
				(void) dictionary_bytes(numbers->dictionary, (int32) number, &length);
				sample->values++;
				sample->once++;
				sample->bytes += (double) length;
				break;
			case 1:
				sample->once--;
				break;
		}
	}
}
