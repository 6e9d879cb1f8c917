/*
 * column_values.c
 *		Values of resident columns by number (see column_values.h).
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "pg/compat.h"
#include "pg/resident/memory/column_values.h"
#include "pg/resident/memory/directory.h"

/* How many values are numbered before others may have the lock: some 30 microseconds. */
#define NUMBER_AT_ONCE 256

/*
 * Numbers some of n values of a column, with the lock; returns how many.  Sets *missing to how
 * large a piece of memory the next one wants; 0 if none is wanted.
 */
static int
number_some(ResidentRoot *root, ResidentColumn *column, const ResidentValue *values, int n,
			uint32 *numbers, Size *missing)
{
	int			most = Min(n, NUMBER_AT_ONCE);
	int			i;

	*missing = 0;
	for (i = 0; i < most; i++)
	{
		*missing = value_parts_number(root, &column->values, &values[i], &numbers[i]);
		if (*missing > 0)
			break;
	}
	return i;
}

/*
 * Whether a column's values, for more of which there is no room, have hardly repeated so far: gives
 * them up then.
 */
static bool
give_up(ResidentRoot *root, const ResidentKey *key)
{
	ResidentColumn *column;
	bool		gives_up;

	if (!resident_lock(root, LW_EXCLUSIVE))
		return false;
	column = directory_find(root, key);
	gives_up = column && column->numbered >= RESIDENT_LEAST_NUMBERED &&
		2 * (int64) column->values.n > column->numbered;
	if (gives_up)
		directory_drop_values(root, column, true);
	resident_unlock(root);
	return gives_up;
}

bool
resident_number_values(const ResidentKey *key, uint64 *generation, ResidentValue *values, int n,
					   uint32 *numbers, ResidentSweep *sweep)
{
	ResidentRoot *root = resident_root();
	int			done = 0;

	if (root == NULL)
		return false;
	for (int i = 0; i < n; i++)
		values[i].hash = hash_bytes((const unsigned char *) values[i].bytes,
									(int) values[i].length);
	do
	{
		ResidentColumn *column;
		Size		missing;

		if (!resident_lock(root, LW_EXCLUSIVE))
		{
			sweep->reason = RESIDENT_NO_MEMORY;
			return false;
		}
		column = directory_find(root, key);
		if (column && column->summary.no_repeats)
			sweep->reason = RESIDENT_NO_REPEATS;
		if (column && column->values.generation == 0)
			column->values.generation = ++root->generations;
		if (column == NULL || column->summary.no_repeats ||
			(*generation != 0 && *generation != column->values.generation))
		{
			resident_unlock(root);
			return false;
		}
		*generation = column->values.generation;
		done += number_some(root, column, values + done, n - done, numbers + done, &missing);
		if (missing == 0)
			resident_unlock(root);
		else if (!directory_get_room(root, key, missing, missing + RESIDENT_MB, sweep))
		{
			if (give_up(root, key))
				sweep->reason = RESIDENT_NO_REPEATS;
			return false;
		}
	} while (done < n);
	return true;
}

bool
resident_look_values(const ResidentKey *key, uint64 generation, ResidentValues *values)
{
	ResidentRoot *root = resident_root();
	const ResidentColumn *column;
	bool		found;

	if (root == NULL || !resident_lock(root, LW_SHARED))
		return false;
	column = directory_find(root, key);
	found = column && column->values.generation != 0 &&
		(generation == 0 || column->values.generation == generation);
	if (found)
	{
		const ValueParts *known = &column->values;
		Size		size = known->nparts * sizeof(ValuePart);

		/* Whoever catches an error for lack of memory releases the lock. */
		if (values->parts == NULL || values->nparts < known->nparts)
			values->parts = values->parts ? repalloc_huge(values->parts, size) :
				MemoryContextAllocHuge(CurrentMemoryContext, Max(size, 1));
		if (size > 0)
			memcpy(values->parts, value_parts_list(root, known), size);
		values->generation = known->generation;
		values->n = known->n;
		values->nparts = known->nparts;
		values->seen = pg_atomic_read_u64(&root->losses);
	}
	resident_unlock(root);
	return found;
}

/* Whether a generation has been there all the time since values->seen. */
static bool
generation_holds(const ResidentKey *key, ResidentValues *values)
{
	ResidentRoot *root = resident_root();
	const ResidentColumn *column;
	bool		holds;

	/* As in resident_holds(). */
	pg_read_barrier();
	if (pg_atomic_read_u64(&root->losses) == values->seen)
		return true;
	if (!resident_lock(root, LW_SHARED))
		return false;
	column = directory_find(root, key);
	holds = column && column->values.generation == values->generation;
	if (holds)
		values->seen = pg_atomic_read_u64(&root->losses);
	resident_unlock(root);
	return holds;
}

/*
 * Copies the bytes of some of n values of a part that lies at bytes, as many as fit, and sets where
 * each ends in out; returns how many.  What the part says of memory that has become something else
 * may be anything.
 */
static int
copy_from_part(const ValuePart *part, const char *bytes, uint32 number, int n, char *out,
			   uint32 *ends)
{
	uint32		length;
	uint32		start = value_part_offset(part, bytes, number, &length);
	uint32		last = start;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint32		end = value_part_ends(part, bytes, number + i)[0];

		if (end < last || end > part->size || end - start > RESIDENT_VALUE_BYTES)
			break;
		last = end;
		ends[i] = end - start;
	}
	if (i > 0)
		memcpy(out, bytes + start, last - start);
	return i;
}

int
resident_copy_values(const ResidentKey *key, ResidentValues *values, uint32 number, int n,
					 char *out, uint32 *ends)
{
	uint32		p = value_parts_find(values->parts, values->nparts, number);
	const ValuePart *part = &values->parts[p];
	uint32		end = p + 1 < values->nparts ? part[1].first : values->n;
	ResidentExtent piece = {.place = part->place,.size = part->size};
	const char *bytes;
	int			copied = 0;

	Assert(number < values->n && end > number);
	resident_start_copying();
	bytes = resident_address(&piece);
	if (bytes)
		copied = copy_from_part(part, bytes, number, (int) Min((uint32) n, end - number), out,
								ends);
	resident_stop_copying();
	return generation_holds(key, values) ? copied : 0;
}
