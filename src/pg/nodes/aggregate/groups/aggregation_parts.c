/*
 * aggregation_parts.c
 *		What a HpSort Aggregate node knows of each group, in arrays by number (see aggregation.h).
 *
 * A source has an array for each part of its values' summary that an aggregate wants, and no other:
 * the fewer bytes a group takes, the more groups have a place in memory and in the CPU's caches.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/aggregation_state.h"

/* Whether sums are of 128 bits; those of int2 and int4 are of 64, modulo 2^64, as core's are. */
static bool
has_wide_sum(const ValueSource *source)
{
	return column_kind_is_wide(source->kind) || source->moments;
}

/* Returns the bytes of an element of a part; 0: the source has none of it, now or ever. */
static size_t
part_size(const ValueSource *source, GroupPart part)
{
	bool		totals = !source->runs && source->column >= 0 && source->float_parts == 0;
	size_t		value = column_kind_is_wide(source->kind) ? sizeof(int64) : sizeof(int32);

	switch (part)
	{
		case PART_SUM:
			return totals && (source->parts & SUMMARY_SUM) ?
				(has_wide_sum(source) ? sizeof(ValueSum) : sizeof(int64)) : 0;
		case PART_MIN:
			return totals && (source->parts & SUMMARY_MIN) ? value : 0;
		case PART_MAX:
			return totals && (source->parts & SUMMARY_MAX) ? value : 0;
		case PART_MOMENTS:
			return totals && source->moments ? sizeof(ValueMoments) : 0;
		case PART_FLOATS:
			return float_totals_size(source->float_parts);
		case PART_NULLS:
			return source->column >= 0 ? sizeof(int64) : 0;
		case PART_REFUSED:
			return source->filter >= 0 ? sizeof(int64) : 0;
		default:
			return 0;
	}
}

/* Sets elements from number from to number to - 1 of a part to what is known of no value. */
static void
clear_part(const ValueSource *source, GroupPart part, char *array, uint64 from, uint64 to)
{
	size_t		size = part_size(source, part);
	bool		narrow = part != PART_FLOATS && size == sizeof(int32);

	if (part == PART_FLOATS && source->float_parts == FLOAT_SUM)
		for (uint64 g = from; g < to; g++)
			((float8 *) array)[g] = FLOAT_NO_SUM;
	else if (part == PART_MIN || part == PART_MAX)
		for (uint64 g = from; g < to; g++)
		{
			if (narrow)
				((int32 *) array)[g] = part == PART_MIN ? PG_INT32_MAX : PG_INT32_MIN;
			else
				((int64 *) array)[g] = part == PART_MIN ? PG_INT64_MAX : PG_INT64_MIN;
		}
	else
		memset(array + from * size, 0, (to - from) * size);
}

void *
aggregation_make_part(const Aggregation *aggregation, int s, GroupPart part, uint64 ngroups)
{
	const ValueSource *source = &aggregation->sources[s];
	char	   *array = MemoryContextAllocExtended(aggregation->memory,
												   Max(ngroups * part_size(source, part), 1),
												   MCXT_ALLOC_HUGE);

	clear_part(source, part, array, 0, ngroups);
	return array;
}

/* Whether rows without a value are counted only from the first one on. */
static bool
comes_late(GroupPart part)
{
	return part == PART_NULLS || part == PART_REFUSED;
}

size_t
aggregation_group_size(const Aggregation *aggregation)
{
	size_t		size = sizeof(int64);

	if (aggregation_numbers_by_table(aggregation))
		size += group_table_group_size(aggregation->table);
	for (int s = 0; s < aggregation->nsources; s++)
		for (int p = 0; p < GROUP_PARTS; p++)
			if (!comes_late(p) || aggregation->values[s].parts[p])
				size += part_size(&aggregation->sources[s], p);
	return size;
}

/*
 * Moves the elements of an array, of the groups that have rows, to their new numbers in another
 * one, and frees it.  Returns the other.
 */
static void *
move_array(const Aggregation *aggregation, void *array, size_t size, const uint32 *numbers,
		   void *other)
{
	for (uint64 g = 0; g < aggregation->room; g++)
	{
		if ((g & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
		if (aggregation->rows[g] != 0)
			memcpy((char *) other + numbers[g] * size, (const char *) array + g * size, size);
	}
	if (array)
		pfree(array);
	return other;
}

/* Returns no rows of ngroups groups. */
static int64 *
make_rows(const Aggregation *aggregation, uint64 ngroups)
{
	return MemoryContextAllocExtended(aggregation->memory, Max(ngroups, 1) * sizeof(int64),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
aggregation_move_parts(Aggregation *aggregation, const uint32 *numbers, uint64 room)
{
	uint64		before = aggregation->room;

	for (int s = 0; s < aggregation->nsources; s++)
		for (int p = 0; p < GROUP_PARTS; p++)
		{
			const ValueSource *source = &aggregation->sources[s];
			void	  **array = &aggregation->values[s].parts[p];
			size_t		size = part_size(source, p);

			if (size == 0 || (comes_late(p) && *array == NULL))
				continue;
			if (numbers || *array == NULL)
				*array = move_array(aggregation, *array, size, numbers,
									aggregation_make_part(aggregation, s, p, room));
			else
			{
				*array = repalloc_huge(*array, room * size);
				clear_part(source, p, *array, before, room);
			}
		}
	/* Last, since they say which groups there are. */
	if (numbers || aggregation->rows == NULL)
		aggregation->rows = move_array(aggregation, aggregation->rows, sizeof(int64), numbers,
									   make_rows(aggregation, room));
	else
	{
		aggregation->rows = repalloc_huge(aggregation->rows, room * sizeof(int64));
		memset(aggregation->rows + before, 0, (room - before) * sizeof(int64));
	}
	aggregation->room = room;
}

/* --- adding and reading */

/*
 * Adds values of rows to a part of their groups; all but arrays and n are constants, so that each
 * loop asks nothing of a row.
 */
static pg_attribute_always_inline void
add_values(void *array, GroupPart part, bool wide_sum, const ColumnBatch *batch, bool wide,
		   const uint32 *groups, const uint16 *rows, int n)
{
	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;
		uint32		g = groups[row];
		int64		value = wide ? batch->wide[row] : batch->keys[row];

		if (part == PART_SUM && wide_sum)
			((ValueSum *) array)[g] += value;
		else if (part == PART_SUM)
			((int64 *) array)[g] += value;
		else if (part == PART_MIN && wide)
			((int64 *) array)[g] = Min(((int64 *) array)[g], value);
		else if (part == PART_MIN)
			((int32 *) array)[g] = Min(((int32 *) array)[g], (int32) value);
		else if (wide)
			((int64 *) array)[g] = Max(((int64 *) array)[g], value);
		else
			((int32 *) array)[g] = Max(((int32 *) array)[g], (int32) value);
	}
}

/* Calls add_values with constants for its batch and rows. */
#define ADD_VALUES(part, wide_sum) \
	do { \
		if (batch->keys && rows) \
			add_values(array, part, wide_sum, batch, false, groups, rows, n); \
		else if (batch->keys) \
			add_values(array, part, wide_sum, batch, false, groups, NULL, n); \
		else if (rows) \
			add_values(array, part, true, batch, true, groups, rows, n); \
		else \
			add_values(array, part, true, batch, true, groups, NULL, n); \
	} while (0)

static void
add_part(const ValueSource *source, GroupPart part, void *array, const ColumnBatch *batch,
		 const uint32 *groups, const uint16 *rows, int n)
{
	if (part == PART_SUM && has_wide_sum(source))
		ADD_VALUES(PART_SUM, true);
	else if (part == PART_SUM)
		ADD_VALUES(PART_SUM, false);
	else if (part == PART_MIN)
		ADD_VALUES(PART_MIN, false);
	else
		ADD_VALUES(PART_MAX, false);
}

/* Adds values of the only group. */
static void
add_to_all(Aggregation *aggregation, int s, const ColumnBatch *batch, const uint16 *rows, int n)
{
	ValueSum	sum = 0;
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;

	for (int i = 0; i < n; i++)
	{
		int64		value = column_batch_value(batch, rows ? rows[i] : i);

		sum += value;
		min = Min(min, value);
		max = Max(max, value);
	}
	aggregation_add_total(aggregation, s, 0, sum, min, max);
}

void
aggregation_add_values(Aggregation *aggregation, int s, const ColumnBatch *batches,
					   const uint16 *rows, int n)
{
	const ColumnBatch *batch = &batches[aggregation->sources[s].column];
	SourceValues *values = &aggregation->values[s];
	ValueMoments *moments = values->parts[PART_MOMENTS];
	const uint32 *groups = aggregation->groups;

	Assert(column_kind_is_wide(aggregation->sources[s].kind) == (batch->keys == NULL));
	if (groups == NULL && (values->parts[PART_SUM] || values->parts[PART_MIN] ||
						   values->parts[PART_MAX]))
		add_to_all(aggregation, s, batch, rows, n);
	for (int p = PART_SUM; p <= PART_MAX && groups; p++)
		if (values->parts[p])
			add_part(&aggregation->sources[s], p, values->parts[p], batch, groups, rows, n);
	for (int i = 0; i < n && moments; i++)
	{
		int			row = rows ? rows[i] : i;

		value_moments_put(&moments[groups ? groups[row] : 0], column_batch_value(batch, row));
	}
	if (values->parts[PART_FLOATS])
		aggregation_add_floats(aggregation, s, batches, rows, n);
}

void
aggregation_add_total(Aggregation *aggregation, int s, uint64 number, ValueSum sum, int64 min,
					  int64 max)
{
	void	  **parts = aggregation->values[s].parts;
	bool		wide = column_kind_is_wide(aggregation->sources[s].kind);

	if (parts[PART_SUM] && has_wide_sum(&aggregation->sources[s]))
		((ValueSum *) parts[PART_SUM])[number] += sum;
	else if (parts[PART_SUM])
		((int64 *) parts[PART_SUM])[number] += (int64) sum;
	if (parts[PART_MIN] && wide)
		((int64 *) parts[PART_MIN])[number] = Min(((int64 *) parts[PART_MIN])[number], min);
	else if (parts[PART_MIN])
		((int32 *) parts[PART_MIN])[number] = (int32) Min(((int32 *) parts[PART_MIN])[number], min);
	if (parts[PART_MAX] && wide)
		((int64 *) parts[PART_MAX])[number] = Max(((int64 *) parts[PART_MAX])[number], max);
	else if (parts[PART_MAX])
		((int32 *) parts[PART_MAX])[number] = (int32) Max(((int32 *) parts[PART_MAX])[number], max);
}

/* Returns the element of an extreme's array; 0 without one, which no aggregate wants then. */
static int64
extreme(const Aggregation *aggregation, int s, GroupPart part, uint64 number)
{
	const void *array = aggregation->values[s].parts[part];

	if (array == NULL)
		return 0;
	return column_kind_is_wide(aggregation->sources[s].kind) ? ((const int64 *) array)[number] :
		((const int32 *) array)[number];
}

void
aggregation_get_counts(const Aggregation *aggregation, int s, uint64 number, SourceCounts *counts)
{
	void	   *const *parts = aggregation->values[s].parts;
	int64		bias = column_kind_bias(aggregation->sources[s].kind);
	ValueSummary *summary = &counts->summary;
	int64		n;

	if (parts[PART_NULLS])
		counts->nulls += ((const int64 *) parts[PART_NULLS])[number];
	if (parts[PART_REFUSED])
		counts->refused += ((const int64 *) parts[PART_REFUSED])[number];
	n = aggregation->rows[number] - counts->nulls - counts->refused;
	/* Moments are of kinds without a bias. */
	if (parts[PART_MOMENTS])
		summary->moments = ((const ValueMoments *) parts[PART_MOMENTS])[number];
	if (aggregation->sources[s].runs || n == 0)
		return;
	if (parts[PART_SUM])
		summary->sum += (has_wide_sum(&aggregation->sources[s]) ?
						 ((const ValueSum *) parts[PART_SUM])[number] :
						 ((const int64 *) parts[PART_SUM])[number]) + (ValueSum) bias * n;
	summary->min = Min(summary->min, extreme(aggregation, s, PART_MIN, number) + bias);
	summary->max = Max(summary->max, extreme(aggregation, s, PART_MAX, number) + bias);
}
