/*
 * lookup_share.c
 *		Lookups whose rows are in shared memory (see lookup.h).
 *
 * A shared lookup is one block of memory: a header, the arrays, and behind these the values that
 * are no Datums themselves.  In place of the pointer to one of them an array has its distance from
 * the start of the block.
 */
#include "postgres.h"

#include "utils/datum.h"

#include "pg/compat.h"
#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

/* What a shared lookup begins with. */
typedef struct LookupHeader
{
	size_t		size;			/* bytes of the block */
	int32		rows;			/* as the lookup has them: size ... */
	int32		repeated;
	uint32		nelements;
	int64		least;
	int64		most;
	size_t		arrays[FLEXIBLE_ARRAY_MEMBER];	/* bytes of each; 0: there is none */
} LookupHeader;

/* An array of a lookup. */
typedef struct LookupArray
{
	void	  **array;
	size_t		size;			/* bytes */
} LookupArray;

/* Returns how many arrays a lookup has, also where some of them are NULL. */
static int
count_arrays(const Lookup *lookup)
{
	return 5 + 2 * lookup->ncolumns;
}

/* Returns the arrays, in an order that is the same in all processes. */
static LookupArray *
list_arrays(Lookup *lookup)
{
	LookupArray *arrays = palloc0_array(LookupArray, count_arrays(lookup));
	size_t		rows = lookup->size;
	uint64		range = (uint64) lookup->most - (uint64) lookup->least;
	int			n = 0;

	arrays[n++] = (LookupArray)
	{
		(void **) &lookup->hashes, lookup->hashes ? rows * sizeof(uint32) : 0
	};
	arrays[n++] = (LookupArray)
	{
		(void **) &lookup->places, lookup->places ? (size_t) lookup->nelements * sizeof(int32) : 0
	};
	arrays[n++] = (LookupArray)
	{
		&lookup->integers, lookup->integers ? rows * lookup_integer_width(lookup) : 0
	};
	arrays[n++] = (LookupArray)
	{
		(void **) &lookup->by_key, lookup->by_key ? (range + 1) * sizeof(int32) : 0
	};
	arrays[n++] = (LookupArray)
	{
		(void **) &lookup->before, lookup->before ? rows * sizeof(int32) : 0
	};
	for (int c = 0; c < lookup->ncolumns; c++)
	{
		LookupColumn *column = &lookup->columns[c];

		arrays[n++] = (LookupArray)
		{
			(void **) &column->values, rows * lookup_value_width(column)
		};
		arrays[n++] = (LookupArray)
		{
			(void **) &column->nulls, column->nulls ? rows * sizeof(bool) : 0
		};
	}
	Assert(n == count_arrays(lookup));
	return arrays;
}

static size_t
header_size(const Lookup *lookup)
{
	return MAXALIGN(offsetof(LookupHeader, arrays) + count_arrays(lookup) * sizeof(size_t));
}

/*
 * Returns the bytes of the values that are no Datums themselves.  With a base these are moved to
 * there, from a distance on, and their distances take the place of the Datums.
 */
static size_t
move_values(Lookup *lookup, char *base, size_t distance)
{
	size_t		size = 0;

	for (int c = 0; c < lookup->ncolumns; c++)
	{
		LookupColumn *column = &lookup->columns[c];

		for (int32 place = 0; place < lookup->size && !column->byval; place++)
		{
			Datum	   *values = (Datum *) column->values;
			Datum		value = values[place];
			size_t		length;

			if (column->nulls && column->nulls[place])
				continue;
			length = datumGetSize(value, false, column->typlen);
			if (base)
			{
				memcpy(base + distance + size, DatumGetPointer(value), length);
				values[place] = (Datum) (distance + size);
			}
			size += MAXALIGN(length);
		}
	}
	return size;
}

dsa_pointer
lookup_share(Lookup *lookup, dsa_area *area)
{
	LookupArray *arrays = list_arrays(lookup);
	size_t		distance = header_size(lookup);
	size_t		values = move_values(lookup, NULL, 0);
	size_t		size = distance + values;
	dsa_pointer block;
	char	   *base;
	LookupHeader *header;

	for (int i = 0; i < count_arrays(lookup); i++)
		size += MAXALIGN(arrays[i].size);
	block = dsa_allocate_extended(area, size, DSA_ALLOC_HUGE);
	base = dsa_get_address(area, block);
	header = (LookupHeader *) base;
	header->size = size;
	header->rows = lookup->size;
	header->repeated = lookup->repeated;
	header->nelements = lookup->nelements;
	header->least = lookup->least;
	header->most = lookup->most;
	move_values(lookup, base, size - values);
	for (int i = 0; i < count_arrays(lookup); i++)
	{
		header->arrays[i] = arrays[i].size;
		if (arrays[i].size > 0)
			memcpy(base + distance, *arrays[i].array, arrays[i].size);
		distance += MAXALIGN(arrays[i].size);
	}
	pfree(arrays);
	lookup_empty(lookup);
	return block;
}

void
lookup_attach(Lookup *lookup, dsa_area *area, dsa_pointer block)
{
	const char *base = dsa_get_address(area, block);
	const LookupHeader *header = (const LookupHeader *) base;
	LookupArray *arrays = list_arrays(lookup);
	size_t		distance = header_size(lookup);

	lookup_empty(lookup);
	lookup->size = header->rows;
	lookup->repeated = header->repeated;
	lookup->nelements = header->nelements;
	lookup->least = header->least;
	lookup->most = header->most;
	lookup->base = base;
	lookup->shared_size = header->size;
	for (int i = 0; i < count_arrays(lookup); i++)
	{
		*arrays[i].array = header->arrays[i] > 0 ? unconstify(char *, base) + distance : NULL;
		distance += MAXALIGN(header->arrays[i]);
	}
	pfree(arrays);
}
