/*
 * aggregation_counted.c
 *		Adding packed values and runs of a single column to what a HpSort Aggregate node keeps,
 *		without making rows of them where counting and adding up is all that is wanted (see
 *		aggregation.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/aggregation_state.h"
#include "sort/kernels/kernels.h"

/* --- adding packed rows */

/* Counters that are summed up on the stack, for ranges of few values. */
#define PACKED_BINS 512
#define PACKED_TABLES 4

/* Counts values that are distances, upwards or downwards from counters. */
#define COUNT_DISTANCES(type) \
	do { \
		const type *values = (const type *) packed->values; \
		\
		if (down) \
			for (size_t i = 0; i < packed->n; i++) \
				counters[-(int64) values[i]]++; \
		else \
			for (size_t i = 0; i < packed->n; i++) \
				counters[values[i]]++; \
	} while (0)

/* Counts packed values by their distance from the least one; *counters is that of distance 0. */
static void
count_distances(const PackedKeys *packed, int64 *counters, bool down)
{
	if (packed->width == 1)
		COUNT_DISTANCES(uint8);
	else if (packed->width == 2)
		COUNT_DISTANCES(uint16);
	else
		COUNT_DISTANCES(uint32);
}

/*
 * Does what count_distances does, for up to PACKED_BINS distances.  Tables take turns, because a
 * value that repeats would wait for the count of the value before it.
 */
static void
count_few_distances(const PackedKeys *packed, int64 *counters, bool down)
{
	uint32		bins[PACKED_BINS * PACKED_TABLES] = {0};
	const KernelBins to = {
		.bins = bins,
		.stride = PACKED_BINS,
		.tables = PACKED_TABLES,
		.range = (uint64) packed->top + 1
	};

	kernel_count_packed(packed->values, packed->width, packed->n, 0, &to);
	for (int t = 0; t < PACKED_TABLES; t++)
		for (int64 v = 0; v <= (int64) packed->top; v++)
			counters[down ? -v : v] += bins[t * PACKED_BINS + v];
}

/* Adds up distances, and finds the smallest and the largest. */
#define ADD_DISTANCES(type) \
	do { \
		const type *values = (const type *) packed->values; \
		\
		for (size_t i = 0; i < packed->n; i++) \
		{ \
			sum += values[i]; \
			lo = Min(lo, values[i]); \
			hi = Max(hi, values[i]); \
		} \
	} while (0)

static void
add_packed_total(Aggregation *aggregation, int s, const PackedKeys *packed)
{
	uint64		sum = 0;
	uint32		lo = PG_UINT32_MAX;
	uint32		hi = 0;

	if (packed->width == 1)
		ADD_DISTANCES(uint8);
	else if (packed->width == 2)
		ADD_DISTANCES(uint16);
	else
		ADD_DISTANCES(uint32);
	aggregation_add_total(aggregation, s, 0,
						  (ValueSum) packed->base * (ValueSum) packed->n + (ValueSum) sum,
						  packed->base + lo, packed->base + hi);
}

/*
 * Whether the sources let packed values or runs be counted: none has a filter or totals of floats,
 * at most one has runs, with a grouping column none has a column, and moments are of runs.
 * *counted is the source with runs, -1 if there is none.
 */
static bool
accepts_counted(const Aggregation *aggregation, bool packed, int *counted)
{
	*counted = -1;
	for (int s = 0; s < aggregation->nsources; s++)
	{
		const ValueSource *source = &aggregation->sources[s];

		if (source->filter >= 0 || source->float_parts != 0)
			return false;
		if (source->column < 0)
			continue;
		if (aggregation->ncolumns > 0 || (source->runs && *counted >= 0))
			return false;
		if (source->moments && packed)
			return false;
		if (source->runs)
			*counted = s;
	}
	return aggregation->ncolumns <= 1;
}

/* --- adding runs */

/* Adds runs, at least one and in ascending order, to the totals of the only group. */
static void
add_runs_total(Aggregation *aggregation, int s, const Runs *runs)
{
	ValueMoments *moments = aggregation->values[s].parts[PART_MOMENTS];
	ValueSum	sum = 0;

	for (size_t i = 0; i < runs->len; i++)
	{
		int64		value = runs->keys[i];

		sum += (ValueSum) value * (ValueSum) runs->counts[i];
		if (moments)
			value_moments_add(moments, &value, (const int64 *) &runs->counts[i], 1);
	}
	aggregation_add_total(aggregation, s, 0, sum, runs->keys[0], runs->keys[runs->len - 1]);
}

/* Counts runs, whose keys are in ascending order, upwards or downwards from counters. */
static void
count_runs(const Runs *runs, int64 *counters, bool down)
{
	for (size_t i = 0; i < runs->len; i++)
	{
		int64		distance = (int64) runs->keys[i] - runs->keys[0];

		counters[down ? -distance : distance] += (int64) runs->counts[i];
	}
}

bool
aggregation_add_counted(Aggregation *aggregation, const ColumnBatch *batch)
{
	const Runs *runs = batch->runs;
	const PackedKeys *packed = runs ? NULL : &batch->packed;
	int64		lo = packed ? packed->base : runs->keys[0];
	int64		hi = packed ? lo + (int64) packed->top : runs->keys[runs->len - 1];
	uint64		number = 0;
	bool		down = false;
	int			counted;

	if (!accepts_counted(aggregation, packed != NULL, &counted))
		return false;
	if (aggregation->ncolumns > 0)
	{
		if (!group_window_locate_range(&aggregation->window, lo, hi, &number, &down))
			return false;
		if (runs)
			count_runs(runs, aggregation->rows + number, down);
		else if (packed->top < PACKED_BINS)
			count_few_distances(packed, aggregation->rows + number, down);
		else
			count_distances(packed, aggregation->rows + number, down);
		return true;
	}
	if (counted >= 0 && !(runs ? pairs_add_runs(aggregation->values[counted].pairs, runs) :
						  pairs_count_packed(aggregation->values[counted].pairs, packed)))
		return false;
	for (int s = 0; s < aggregation->nsources; s++)
	{
		if (aggregation->sources[s].column < 0 || aggregation->sources[s].runs)
			continue;
		if (runs)
			add_runs_total(aggregation, s, runs);
		else
			add_packed_total(aggregation, s, packed);
	}
	if (packed)
		aggregation->rows[0] += (int64) packed->n;
	else
		for (size_t i = 0; i < runs->len; i++)
			aggregation->rows[0] += (int64) runs->counts[i];
	return true;
}

/* Adds a batch of runs row by row, in the arrays of the batch. */
static void
add_as_rows(Aggregation *aggregation, const ColumnBatch *batch)
{
	BatchPosition position = {0};
	ColumnBatch rows;

	while (column_batch_next_rows(batch, &position, &rows))
	{
		CHECK_FOR_INTERRUPTS();
		aggregation_add(aggregation, &rows);
	}
}

void
aggregation_add_batch_of_runs(Aggregation *aggregation, const ColumnBatch *batch)
{
	uint64	   *counts;
	size_t		at = 0;

	/*
	 * Groups that are not known yet get one row of each key first, by which the window grows as
	 * with other rows.
	 */
	if (batch->runs->len == 0 || aggregation_add_counted(aggregation, batch))
		return;
	counts = palloc_array(uint64, COLUMN_BATCH_KEYS);
	while (at < batch->runs->len)
	{
		size_t		first = at;
		ColumnBatch keys = column_batch_of_runs(batch, &at);
		Runs		others = {.keys = batch->runs->keys + first,.counts = counts,
		.len = at - first};
		ColumnBatch of_others = *batch;

		for (size_t i = 0; i < others.len; i++)
			counts[i] = batch->runs->counts[first + i] - 1;
		aggregation_add(aggregation, &keys);
		of_others.runs = &others;
		if (!aggregation_add_counted(aggregation, &of_others))
			add_as_rows(aggregation, &of_others);
	}
	pfree(counts);
}
