/*
 * combine.c
 *		Multisets of others: +, -, * and restrict().
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/rangetypes.h"

#include "pg/multiset/value.h"
#include "sort/runs/runs.h"

PG_FUNCTION_INFO_V1(hpsort_support_multiset_add);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_subtract);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_scale);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_scale_by);
PG_FUNCTION_INFO_V1(int4multiset_restrict);

/* Adds the runs that are left in a reader, from its place in its block on, to a builder. */
static void
add_rest(MultisetBuilder *builder, MultisetReader *reader)
{
	while (multiset_reader_has_run(reader))
	{
		multiset_builder_add(builder, reader->block.keys + reader->at,
							 reader->block.counts + reader->at, reader->block.n - reader->at);
		reader->at = reader->block.n;
	}
}

/*
 * (int4multiset, int4multiset) returns int4multiset: the operator +.  The counts of equal keys are
 * added up; a total above a bigint's is an error.
 */
Datum
hpsort_support_multiset_add(PG_FUNCTION_ARGS)
{
	MultisetBuilder builder;
	MultisetReader a;
	MultisetReader b;
	int32		keys[2 * MULTISET_BLOCK_RUNS];
	uint64		counts[2 * MULTISET_BLOCK_RUNS];

	multiset_reader_open(&a, PG_GETARG_DATUM(0));
	multiset_reader_open(&b, PG_GETARG_DATUM(1));
	multiset_builder_begin(&builder);
	/* Two blocks are added up until one of them is at its end. */
	while (multiset_reader_has_run(&a) && multiset_reader_has_run(&b))
	{
		const Runs	runs_a = {a.block.keys, a.block.counts, a.block.n, a.block.n};
		const Runs	runs_b = {b.block.keys, b.block.counts, b.block.n, b.block.n};
		Runs		sums = {.keys = keys,.counts = counts};
		size_t		i = a.at;
		size_t		j = b.at;

		runs_add_up(&runs_a, &i, &runs_b, &j, &sums, SIZE_MAX);
		a.at = (uint32) i;
		b.at = (uint32) j;
		multiset_builder_add(&builder, keys, counts, sums.len);
	}
	add_rest(&builder, &a);
	add_rest(&builder, &b);
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}

/*
 * Subtracts b's block from a's, from the readers' runs on, until one is at its end.  Returns the
 * number of runs that are left, which are in keys and counts.  A run of b that a lacks is an error.
 */
static size_t
subtract_blocks(MultisetReader *a, MultisetReader *b, int32 *keys, uint64 *counts)
{
	const uint32 na = a->block.n;
	const uint32 nb = b->block.n;
	uint32		i = a->at;
	uint32		j = b->at;
	size_t		n = 0;

	while (i < na && j < nb)
	{
		int32		key = a->block.keys[i];
		bool		equal = key == b->block.keys[j];
		uint64		minus = b->block.counts[j] & -(uint64) equal;

		if (b->block.keys[j] < key || minus > a->block.counts[i])
			multiset_fewer_error(b->block.counts[j], b->block.keys[j]);
		keys[n] = key;
		counts[n] = a->block.counts[i] - minus;
		n += counts[n] > 0;
		i++;
		j += equal;
	}
	a->at = i;
	b->at = j;
	return n;
}

/*
 * (int4multiset, int4multiset) returns int4multiset: the operator -.  Keys whose count becomes 0
 * go; a key of which the first has fewer than the second is an error.
 */
Datum
hpsort_support_multiset_subtract(PG_FUNCTION_ARGS)
{
	MultisetBuilder builder;
	MultisetReader a;
	MultisetReader b;
	int32		keys[MULTISET_BLOCK_RUNS];
	uint64		counts[MULTISET_BLOCK_RUNS];

	multiset_reader_open(&a, PG_GETARG_DATUM(0));
	multiset_reader_open(&b, PG_GETARG_DATUM(1));
	multiset_builder_begin(&builder);
	while (multiset_reader_has_run(&b))
	{
		if (!multiset_reader_has_run(&a))
			multiset_fewer_error(b.block.counts[b.at], b.block.keys[b.at]);
		multiset_builder_add(&builder, keys, counts, subtract_blocks(&a, &b, keys, counts));
	}
	add_rest(&builder, &a);
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}

/* Returns a multiset with all counts multiplied by factor. */
static Datum
scale(Datum datum, int64 factor)
{
	MultisetBuilder builder;
	MultisetReader reader;

	if (factor < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("factor must not be negative")));
	multiset_reader_open(&reader, datum);
	/* No product can overflow where that of the total does not: no count is above the total. */
	if (reader.m.total > 0 && factor > PG_INT64_MAX / (int64) reader.m.total)
		multiset_bigint_error();
	multiset_builder_begin(&builder);
	while (factor > 0 && multiset_reader_next(&reader))
	{
		for (uint32 i = 0; i < reader.block.n; i++)
			reader.block.counts[i] *= (uint64) factor;
		multiset_builder_add(&builder, reader.block.keys, reader.block.counts, reader.block.n);
	}
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}

/* (int4multiset, int8) returns int4multiset */
Datum
hpsort_support_multiset_scale(PG_FUNCTION_ARGS)
{
	return scale(PG_GETARG_DATUM(0), PG_GETARG_INT64(1));
}

/* (int8, int4multiset) returns int4multiset */
Datum
hpsort_support_multiset_scale_by(PG_FUNCTION_ARGS)
{
	return scale(PG_GETARG_DATUM(1), PG_GETARG_INT64(0));
}

/* Sets *lo and *hi to the inclusive bounds of an int4range.  Returns false if no key is in it. */
static bool
range_bounds(FunctionCallInfo fcinfo, RangeType *range, int32 *lo, int32 *hi)
{
	RangeBound	lower;
	RangeBound	upper;
	int64		first = PG_INT32_MIN;
	int64		last = PG_INT32_MAX;
	bool		empty;

	range_deserialize(range_get_typcache(fcinfo, RangeTypeGetOid(range)), range, &lower, &upper,
					  &empty);
	if (!empty && !lower.infinite)
		first = (int64) DatumGetInt32(lower.val) + (lower.inclusive ? 0 : 1);
	if (!empty && !upper.infinite)
		last = (int64) DatumGetInt32(upper.val) - (upper.inclusive ? 0 : 1);
	*lo = (int32) first;
	*hi = (int32) last;
	return !empty && first <= last;
}

/*
 * Adds the runs of a datum with keys from lo to hi, both included, to a builder.  Blocks before
 * these keys are not decoded, and at most one behind them.
 */
static void
add_range(MultisetBuilder *builder, Datum datum, int32 lo, int32 hi)
{
	MultisetReader reader;
	SortError	err;

	multiset_reader_open(&reader, datum);
	if (reader.m.len == 0)
		return;
	pg_sort_check(multiset_find_key(&reader.m, lo, &reader.block, &err), &err);
	reader.next = reader.block.number + 1;
	reader.at = (uint32) runs_key_lower_bound(reader.block.keys, reader.block.n, lo);
	while (multiset_reader_has_run(&reader))
	{
		const MultisetBlock *block = &reader.block;
		size_t		end = runs_key_lower_bound(block->keys, block->n, hi);
		bool		last = end < block->n;

		if (last && block->keys[end] == hi)
			end++;
		multiset_builder_add(builder, block->keys + reader.at, block->counts + reader.at,
							 end - reader.at);
		if (last)
			return;
		reader.at = block->n;
	}
}

/* restrict(int4multiset, int4range) returns int4multiset: the keys in the range */
Datum
int4multiset_restrict(PG_FUNCTION_ARGS)
{
	MultisetBuilder builder;
	int32		lo;
	int32		hi;

	multiset_builder_begin(&builder);
	if (range_bounds(fcinfo, PG_GETARG_RANGE_P(1), &lo, &hi))
		add_range(&builder, PG_GETARG_DATUM(0), lo, hi);
	PG_RETURN_BYTEA_P(multiset_builder_end(&builder));
}
