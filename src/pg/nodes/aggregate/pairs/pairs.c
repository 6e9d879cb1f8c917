/*
 * pairs.c
 *		PairSorter: a bag of (group, value) pairs (see pairs.h).
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pairs/pair_state.h"
#include "pg/nodes/aggregate/pairs/pairs.h"

/* --- the sorter */

static LongSorter *
new_sorter(PairSorter *pairs)
{
	LongSorter *sorter = MemoryContextAlloc(pairs->memory, sizeof(LongSorter));

	long_sorter_init(sorter, pairs->context,
					 pairs->count_bits == NOT_COUNTED ? pairs->coding.bits : 64, pairs->limit);
	return sorter;
}

static PairRows *
new_rows(const PairSorter *pairs)
{
	MemoryContext old = MemoryContextSwitchTo(pairs->memory);
	const GroupCode *groups = pairs->coding.groups;
	PairRows   *rows = pair_rows_make(pairs->context, groups->columns, groups->code.ncolumns,
									  pairs->type, pairs->limit);

	MemoryContextSwitchTo(old);
	return rows;
}

/* Makes an empty sorter whose coding has no values yet. */
static PairSorter *
allocate_pairs(const SortContext *context, const GroupCode *groups, ColumnKind kind,
			   size_t memory_limit)
{
	PairSorter *pairs = palloc0_object(PairSorter);

	pairs->memory = CurrentMemoryContext;
	pairs->context = context;
	pairs->kind = kind;
	pairs->limit = memory_limit;
	pairs->coding.groups = groups;
	pairs->coding.values = EMPTY_KEY_RANGE;
	pairs->count_bits = NOT_COUNTED;
	return pairs;
}

/* Sets the bits of the coding, and makes what they let the pairs be kept in. */
static void
start_pairs(PairSorter *pairs, bool counted)
{
	pair_coding_set_bits(&pairs->coding);
	if (pairs->coding.bits > 64)
	{
		pairs->rows = new_rows(pairs);
		return;
	}
	if (counted)
		pairs->count_bits = Min(64 - pairs->coding.bits, COUNT_BITS_MAX);
	pairs->sorter = new_sorter(pairs);
}

PairSorter *
pairs_make(const SortContext *context, const GroupCode *groups, ColumnKind kind,
		   size_t memory_limit)
{
	PairSorter *pairs = allocate_pairs(context, groups, kind, memory_limit);

	/* The range of a narrow column need not be looked for where there are no groups. */
	if (groups->code.ncolumns == 0 && kind != COLUMN_KIND_NONE && !column_kind_is_wide(kind))
		pairs->coding.values = *field_limits(kind);
	start_pairs(pairs, false);
	return pairs;
}

PairSorter *
pairs_make_counted(const SortContext *context, const GroupCode *groups, ColumnKind kind,
				   const KeyRange *values, size_t memory_limit)
{
	PairSorter *pairs = allocate_pairs(context, groups, kind, memory_limit);

	pairs->coding.values = *values;
	pairs->coding.markers = PAIR_MARKERS;
	start_pairs(pairs, true);
	return pairs;
}

KeyRange
pairs_values(const PairSorter *pairs)
{
	return pairs->coding.values;
}

/* Returns what rows have in place of a value as batches hold it. */
static Datum
value_of_rows(const PairSorter *pairs, int64 value)
{
	return pairs->type ? dictionary_value(pairs->type->dictionary, (uint32) value) :
		Int64GetDatum(value);
}

/* Adds all runs of a source, whose codes are of a coding, to the rows. */
static void
take_to_rows(PairSorter *pairs, const PairCoding *coding, RunSource *source)
{
	GroupValues group = group_values_make(coding->groups->code.ncolumns);
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;

	while ((n = run_source_next(source, &codes, &counts)) > 0)
		for (size_t i = 0; i < n; i++)
		{
			uint64		place = pair_place(coding, codes[i]);
			bool		is_marker = pair_place_is_marker(coding, place);

			group_code_values(coding->groups, pair_group(coding, codes[i]), &group);
			pair_rows_add(pairs->rows, &group, is_marker ? (int) place : PAIR_MARKERS,
						  is_marker ? (Datum) 0 :
						  value_of_rows(pairs, (int64) (place - pair_value_offset(coding))),
						  (int64) counts[i]);
		}
	group_values_free(&group);
}

void
pairs_write_segment(PairSorter *pairs, LongSorter *sorter, const PairCoding *coding)
{
	MemoryContext old = MemoryContextSwitchTo(pairs->memory);
	SegmentWriter *writer;
	RunSource	source;
	const uint64 *codes;
	const uint64 *counts;
	size_t		n;

	if (pairs->file == NULL)
		pairs->file = pair_file_make();
	writer = pair_file_begin(pairs->file, coding);
	run_source_open_memory(&source, sorter, pairs->count_bits);
	while ((n = run_source_next(&source, &codes, &counts)) > 0)
		segment_write(writer, codes, counts, n);
	pfree(source.block);
	pair_file_end(pairs->file, writer);
	/* For EXPLAIN, to which the first segment is an example of all. */
	if (pairs->flushed.n == 0)
		long_sorter_stats(sorter, &pairs->flushed);
	long_sorter_empty(sorter, pairs->limit);
	if (pair_file_is_crowded(pairs->file, pairs->limit))
	{
		/* The merge is to have the sorter's memory. */
		long_sorter_reset(sorter);
		pair_file_merge(pairs->file, coding);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Writes what is in memory to the file if a second sorter could not be beside it: what is 4 bytes
 * here may take 16 there, and another 16 while it grows.
 */
static void
write_much(PairSorter *pairs, const PairCoding *coding)
{
	if (long_sorter_memory(pairs->sorter) <= Max(pairs->limit, LONG_SORTER_MEMORY_MIN) / 8)
		return;
	if (long_sorter_count(pairs->sorter) > 0)
		pairs_write_segment(pairs, pairs->sorter, coding);
	long_sorter_reset(pairs->sorter);
}

/* Codes the pairs in memory anew, whose coding was old: in place if the sorter can. */
static void
recode_memory(PairSorter *pairs, const PairCoding *old)
{
	LongSorter *sorter = pairs->sorter;
	PairRecoding recoding;
	RunSource	source;
	const uint64 *codes;
	const uint64 *counts;
	SortError	err;
	bool		done;
	size_t		n;

	pair_recode_begin(&recoding, old, &pairs->coding);
	pg_sort_check(long_sorter_map(sorter, pairs->coding.bits, pair_recode, &recoding, &done, &err),
				  &err);
	if (!done)
	{
		write_much(pairs, old);
		pairs->sorter = new_sorter(pairs);
		if (long_sorter_count(sorter) > 0)
		{
			run_source_open_memory(&source, sorter, pairs->count_bits);
			while ((n = run_source_next(&source, &codes, &counts)) > 0)
			{
				pair_recode(&recoding, source.block, n);
				pg_sort_check(long_sorter_add_runs(pairs->sorter, codes, counts, n, &err), &err);
			}
			pfree(source.block);
		}
		long_sorter_reset(sorter);
		pfree(sorter);
	}
	pair_recode_end(&recoding);
}

/* Makes rows of the pairs, which are of a coding. */
static void
make_rows(PairSorter *pairs, const PairCoding *old)
{
	LongSorter *sorter = pairs->sorter;
	RunSource	source = {0};

	write_much(pairs, old);
	pairs->rows = new_rows(pairs);
	pairs->sorter = NULL;
	if (long_sorter_count(sorter) > 0)
	{
		run_source_open_memory(&source, sorter, pairs->count_bits);
		take_to_rows(pairs, old, &source);
		pfree(source.block);
	}
	if (pairs->file)
	{
		source.merge = pair_file_open(pairs->file, old);
		take_to_rows(pairs, old, &source);
		segment_merge_free(source.merge);
	}
	long_sorter_reset(sorter);
	pfree(sorter);
}

/* Called when the coding has changed from old, which is still that of what is in memory. */
static void
change_coding(PairSorter *pairs, const PairCoding *old)
{
	pair_coding_set_bits(&pairs->coding);
	if (pairs->rows != NULL)
		return;
	/* Segments are coded anew when they are merged. */
	if (pairs->coding.bits <= 64)
		recode_memory(pairs, old);
	else
		make_rows(pairs, old);
}

void
pairs_keep_values(PairSorter *pairs, const PairType *type)
{
	PairRows   *before = pairs->rows;
	uint64		values[BLOCK_RUNS];
	uint64		counts[BLOCK_RUNS];
	int64		markers[PAIR_MARKERS];
	const GroupValues *group;
	size_t		n;

	if (pairs->type)
		return;
	pairs->type = type;
	if (before == NULL)
	{
		make_rows(pairs, &pairs->coding);
		return;
	}
	pairs->rows = new_rows(pairs);
	pair_rows_finish(before);
	while ((group = pair_rows_next_group(before, markers)) != NULL)
	{
		for (size_t i = 0; i < PAIR_MARKERS; i++)
			if (markers[i] > 0)
				pair_rows_add(pairs->rows, group, (int) i, (Datum) 0, markers[i]);
		while ((n = pair_rows_runs(before, values, counts, BLOCK_RUNS)) > 0)
			for (size_t i = 0; i < n; i++)
				pair_rows_add(pairs->rows, group, PAIR_MARKERS,
							  value_of_rows(pairs, (int64) values[i]), (int64) counts[i]);
	}
	pair_rows_free(before);
}

void
pairs_limit_memory(PairSorter *pairs, size_t memory_limit)
{
	pairs->limit = memory_limit;
	if (pairs->rows)
		pair_rows_limit_memory(pairs->rows, memory_limit);
	if (pairs->sorter == NULL)
		return;
	long_sorter_limit_memory(pairs->sorter, memory_limit);
	if (long_sorter_memory(pairs->sorter) > Max(memory_limit, LONG_SORTER_MEMORY_MIN) &&
		long_sorter_count(pairs->sorter) > 0)
		pairs_write_segment(pairs, pairs->sorter, &pairs->coding);
}

void
pairs_regroup(PairSorter *pairs, const GroupCode *before)
{
	PairCoding	old = pairs->coding;

	old.groups = before;
	if (pairs->rows && pair_rows_table(pairs->rows))
		pair_table_forget_codes(pair_rows_table(pairs->rows));
	change_coding(pairs, &old);
}

/* Makes the coding hold the values of a range, and the kinds of markers below markers. */
static void
cover(PairSorter *pairs, const KeyRange *range, int markers)
{
	PairCoding	old = pairs->coding;
	PairCoding *coding = &pairs->coding;

	coding->markers = Max(coding->markers, markers);
	if (key_range_widen(&coding->values, range, field_limits(pairs->kind), coding->markers) ||
		coding->markers > old.markers)
		change_coding(pairs, &old);
}

/* --- adding */

static void
make_room(PairSorter *pairs, int n)
{
	if (n <= pairs->room)
		return;
	if (pairs->room > 0)
		pfree(pairs->codes);
	pairs->room = Max(n, Min(2 * pairs->room, COLUMN_BATCH_KEYS));
	pairs->codes = MemoryContextAlloc(pairs->memory, pairs->room * sizeof(uint64));
}

/* Adds the n codes that have been made, and writes a segment if the sorter is full. */
static void
add_codes(PairSorter *pairs, int n)
{
	SortError	err;

	if (pairs->coding.bits <= 32)
		pg_sort_check(long_sorter_add_narrow(pairs->sorter, pairs->narrow, n, &err), &err);
	else
		pg_sort_check(long_sorter_add(pairs->sorter, pairs->codes, n, &err), &err);
	pairs->count += n;
	if (long_sorter_is_full(pairs->sorter))
		pairs_write_segment(pairs, pairs->sorter, &pairs->coding);
}

static KeyRange
range_of_rows(const ColumnBatch *batch, const uint16 *rows, int nrows)
{
	KeyRange	range = EMPTY_KEY_RANGE;

	if (rows == NULL)
		field_range_add_batch(&range, batch);
	else
		for (int i = 0; i < nrows; i++)
			key_range_put(&range, field_image(column_batch_value(batch, rows[i])));
	return range;
}

/* Adds rows of a batch where pairs are rows; without batch they are markers. */
static void
add_rows(PairSorter *pairs, int marker, const ColumnBatch *batches, const ColumnBatch *batch,
		 const uint64 *codes, const uint16 *rows, int nrows)
{
	bool		coded = batch && codes && pairs->type == NULL;
	const GroupCode *groups = pairs->coding.groups;
	GroupValues group = group_values_make(groups->code.ncolumns);

	for (int i = 0; i < nrows; i++)
	{
		int			row = rows ? rows[i] : i;
		PairTable  *table = coded ? pair_rows_table(pairs->rows) : NULL;
		Datum		value = (Datum) 0;

		if (table && pair_table_add_coded(table, codes[row], column_batch_value(batch, row)))
			continue;
		if (batch)
			value = value_of_rows(pairs, column_batch_value(batch, row));
		group_values_of_row(groups->columns, groups->code.ncolumns, batches, row, &group);
		pair_rows_add(pairs->rows, &group, marker, value, 1);
		if (table && pair_rows_table(pairs->rows))
			pair_table_note_code(table, codes[row]);
	}
	pairs->count += nrows;
	group_values_free(&group);
}

/*
 * Makes the codes of values.  It is inlined with constants, so that each width of codes, with and
 * without a choice of rows, has a loop of its own.
 */
static pg_attribute_always_inline void
code_values(PairSorter *pairs, const ColumnBatch *batch, const uint64 *codes, const uint16 *rows,
			int nrows, bool narrow, bool chosen)
{
	uint64		offset = pair_value_offset(&pairs->coding);
	int			shift = pairs->coding.value_bits;
	uint64	   *wide_codes = pairs->codes;
	uint32	   *narrow_codes = pairs->narrow;

	for (int i = 0; i < nrows; i++)
	{
		int			row = chosen ? rows[i] : i;
		uint64		place = offset + (uint64) column_batch_value(batch, row);
		uint64		code = codes ? codes[row] << shift | place : place;

		if (narrow)
			narrow_codes[i] = (uint32) code;
		else
			wide_codes[i] = code;
	}
}

void
pairs_add(PairSorter *pairs, const ColumnBatch *batches, int column, const uint64 *codes,
		  const uint16 *rows, int nrows)
{
	const ColumnBatch *batch = &batches[column];
	KeyRange	range;

	if (nrows == 0)
		return;
	if (!pairs->type &&
		(pairs->coding.groups->code.ncolumns > 0 || column_kind_is_wide(pairs->kind)))
	{
		range = range_of_rows(batch, rows, nrows);
		cover(pairs, &range, 0);
	}
	if (pairs->rows)
	{
		add_rows(pairs, PAIR_MARKERS, batches, batch, codes, rows, nrows);
		return;
	}
	make_room(pairs, nrows);
	if (pairs->coding.groups->code.bits == 0)
		codes = NULL;
	if (pairs->coding.bits <= 32)
	{
		if (rows)
			code_values(pairs, batch, codes, rows, nrows, true, true);
		else
			code_values(pairs, batch, codes, rows, nrows, true, false);
	}
	else if (rows)
		code_values(pairs, batch, codes, rows, nrows, false, true);
	else
		code_values(pairs, batch, codes, rows, nrows, false, false);
	add_codes(pairs, nrows);
}

bool
pairs_count_packed(PairSorter *pairs, const PackedKeys *packed)
{
	PackedKeys	places = *packed;

	if (pairs->rows || pairs->coding.groups->code.ncolumns > 0 ||
		column_kind_is_wide(pairs->kind) ||
		pairs->coding.bits > 32)
		return false;
	/* Places of all values of a narrow kind fit into 32 bits, with markers or without. */
	places.base = (int32) ((uint32) pair_value_offset(&pairs->coding) + (uint32) packed->base);
	if (!long_sorter_count_packed(pairs->sorter, &places))
		return false;
	pairs->count += packed->n;
	return true;
}

bool
pairs_add_runs(PairSorter *pairs, const Runs *runs)
{
	KeyRange	range = EMPTY_KEY_RANGE;
	uint64	   *places;
	uint64		offset;
	SortError	err;

	if (pairs->coding.groups->code.ncolumns > 0)
		return false;
	range.lo = field_image(runs->keys[0]);
	range.hi = field_image(runs->keys[runs->len - 1]);
	cover(pairs, &range, 0);
	if (pairs->rows)
		return false;
	offset = pair_value_offset(&pairs->coding);
	places = palloc_extended(runs->len * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (size_t i = 0; i < runs->len; i++)
	{
		places[i] = offset + (uint64) (int64) runs->keys[i];
		pairs->count += (int64) runs->counts[i];
	}
	pg_sort_check(long_sorter_add_runs(pairs->sorter, places, runs->counts, runs->len, &err), &err);
	pfree(places);
	if (long_sorter_is_full(pairs->sorter))
		pairs_write_segment(pairs, pairs->sorter, &pairs->coding);
	return true;
}

void
pairs_add_markers(PairSorter *pairs, PairMarker marker, const ColumnBatch *batches,
				  const uint64 *codes, const uint16 *rows, int nrows)
{
	KeyRange	none = EMPTY_KEY_RANGE;

	if (nrows == 0)
		return;
	cover(pairs, &none, marker + 1);
	if (pairs->rows)
	{
		add_rows(pairs, marker, batches, NULL, NULL, rows, nrows);
		return;
	}
	make_room(pairs, nrows);
	for (int i = 0; i < nrows; i++)
	{
		int			row = rows ? rows[i] : i;
		uint64		code = pair_code(&pairs->coding,
									 pairs->coding.groups->code.bits > 0 ? codes[row] : 0, marker);

		if (pairs->coding.bits <= 32)
			pairs->narrow[i] = (uint32) code;
		else
			pairs->codes[i] = code;
	}
	add_codes(pairs, nrows);
}

static void
put_counted(PairSorter *pairs, const uint64 *keys, size_t n)
{
	SortError	err;

	pg_sort_check(long_sorter_add(pairs->sorter, keys, n, &err), &err);
	if (long_sorter_is_full(pairs->sorter))
		pairs_write_segment(pairs, pairs->sorter, &pairs->coding);
}

/* Adds runs of one group, or of markers, in keys of a counted sorter. */
static void
add_counted(PairSorter *pairs, uint64 group, int marker, const int64 *values, const int64 *counts,
			size_t n)
{
	int			bits = pairs->count_bits;
	uint64		most = bits > 0 ? (UINT64CONST(1) << bits) - 1 : 1;
	uint64		offset = pair_value_offset(&pairs->coding) -
	(uint64) column_kind_bias(pairs->kind);
	uint64		keys[BLOCK_RUNS];
	size_t		nkeys = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64		place = values ? offset + (uint64) values[i] : (uint64) marker;
		uint64		code = pair_code(&pairs->coding, group, place);
		uint64		some;

		for (uint64 left = (uint64) counts[i]; left > 0; left -= some)
		{
			if (nkeys == BLOCK_RUNS)
			{
				put_counted(pairs, keys, nkeys);
				nkeys = 0;
			}
			some = Min(left, most);
			keys[nkeys++] = bits > 0 ? code << bits | some : code;
		}
		pairs->count += (uint64) counts[i];
	}
	put_counted(pairs, keys, nkeys);
}

void
pairs_add_group(PairSorter *pairs, const GroupValues *group, int marker, const int64 *values,
				const int64 *counts, size_t n)
{
	int64		bias = column_kind_bias(pairs->kind);

	if (pairs->rows == NULL)
	{
		add_counted(pairs, group_code_of(pairs->coding.groups, group), marker, values, counts, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
	{
		Datum		value = values ? value_of_rows(pairs, values[i] - bias) : (Datum) 0;

		pair_rows_add(pairs->rows, group, marker, value, counts[i]);
		pairs->count += (uint64) counts[i];
	}
}

uint64
pairs_disk(const PairSorter *pairs)
{
	const PairTable *table = pairs->rows ? pair_rows_table(pairs->rows) : NULL;

	return (pairs->file ? pair_file_size(pairs->file) : 0) + (table ? pair_table_disk(table) : 0);
}

PairsSorted
pairs_stats(PairSorter *pairs, SorterStats *stats)
{
	if (pairs->count == 0)
		return PAIRS_NOT_SORTED;
	if (pairs->rows)
		return pair_rows_table(pairs->rows) ? PAIRS_SORTED_BY_GROUP : PAIRS_SORTED_BY_CORE;
	if (pairs->flushed.n > 0)
		*stats = pairs->flushed;
	else
		long_sorter_stats(pairs->sorter, stats);
	stats->n = pairs->count;
	return PAIRS_SORTED;
}

void
pairs_free(PairSorter *pairs)
{
	if (pairs->sorter)
		long_sorter_reset(pairs->sorter);
	if (pairs->rows)
		pair_rows_free(pairs->rows);
	if (pairs->file)
		pair_file_free(pairs->file);
	pfree(pairs);
}
