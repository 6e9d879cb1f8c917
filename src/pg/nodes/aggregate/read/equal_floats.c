/*
 * equal_floats.c
 *		One integer for all floats that are equal (see equal_floats.h).
 */
#include "postgres.h"

#include "pg/nodes/aggregate/read/equal_floats.h"

void
equal_floats_init(EqualFloats *floats, ColumnKind kind)
{
	bool		wide = column_kind_is_wide(kind);

	floats->zeros.most = wide ? float8_key(0) : float4_key(0);
	floats->zeros.least = floats->zeros.most - 1;
	floats->nans.least = wide ? float8_key(FLOAT8_INFINITY) + 1 : float4_key(FLOAT4_INFINITY) + 1;
	floats->nans.most = PG_INT64_MAX;
}

void
equal_floats_begin(EqualFloats *floats)
{
	floats->zeros.met = floats->nans.met = false;
}

bool
equal_floats_any(const EqualFloats *floats, const ColumnBatch *batch)
{
	int64		zero = floats->zeros.least;
	int64		nan = floats->nans.least;
	bool		any = false;
	size_t		i;

	for (i = 0; i < batch->n; i++)
	{
		int64		value = column_batch_value(batch, i);

		any |= value == zero || value == zero + 1 || value >= nan;
	}
	return any;
}

/* Sets *value to the integer that stands for it, if it is in this range. */
static inline void
find_equal(EqualRange *range, int64 *value)
{
	if (*value < range->least || *value > range->most)
		return;
	if (!range->met)
		range->first = *value;
	range->met = true;
	*value = range->first;
}

void
equal_floats_append(EqualFloats *floats, const ColumnBatch *from, ColumnBatch *batch)
{
	BatchSpace	space = column_batch_space(batch, from->n);
	size_t		i;

	for (i = 0; i < from->n; i++)
	{
		int64		value = column_batch_value(from, i);

		find_equal(&floats->zeros, &value);
		find_equal(&floats->nans, &value);
		batch_space_set(&space, i, value);
		space.nulls[i] = from->nnulls > 0 && from->nulls[i];
	}
	column_batch_add(batch, from->n, (size_t) from->nnulls);
}
