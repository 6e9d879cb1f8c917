/*
 * aggregation_add.c
 *		Adding rows to what a HpSort Aggregate node keeps of them (see aggregation.h).
 *
 * Of each batch the rows' groups are found first, for which the window grows.  Then the rows are
 * counted by group, and their values added to each source.  Packed values and runs, of a single
 * column, are counted without becoming rows where that is all that is wanted.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/aggregation_state.h"
#include "sort/kernels/kernels.h"

/* Groups for which there are arrays at least, if they are in a table. */
#define TABLE_LEAST_GROUPS 64
/*
 * Bytes of the window's arrays that a row is worth, whose alternative is a pair for each source: of
 * up to 64 bits, or of more where values are wide.  LEAST_BYTES are always made.  Milliseconds of
 * rows that are nearly all of another group, in arrays and as pairs (PostgreSQL 17, a loaded
 * virtual machine, from pages): counts in 8 MB, of 1,000 rows 6.9 and 4.6, of 40,000 14 and 11, of
 * 400,000 43 and 45; two sums of int4 in 74 MB, of 10,000 rows 76 and 10, of 200,000 123 and 69; a
 * sum of hashed int8 in 41 MB, of 10,000 rows 45 and 22, of 100,000 79 and 211.
 */
#define NARROW_ROW_BYTES	64.0
#define WIDE_ROW_BYTES		1024.0
#define LEAST_BYTES			(256.0 * 1024)

/* How many rows are expected for each that has been added, when the window has to grow. */
#define ROWS_PER_ROW_MET	64.0

/* Returns size bytes of zeros, which may be more than 1 GB, in the memory of the aggregation. */
static void *
allocate_zero(Aggregation *aggregation, size_t size)
{
	return MemoryContextAllocExtended(aggregation->memory, Max(size, 1),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Whether a source has totals of integers: unless it has runs, totals of floats or no column. */
static bool
has_totals(const ValueSource *source)
{
	return !source->runs && source->column >= 0 && source->float_parts == 0;
}

/* Makes totals and moments of a source for ngroups groups. */
static void
make_totals(Aggregation *aggregation, int s, uint64 ngroups)
{
	Totals	   *totals;
	uint64		g;

	if (aggregation->sources[s].float_parts != 0)
		aggregation->values[s].floats = allocate_zero(aggregation, ngroups * sizeof(FloatTotals));
	if (!has_totals(&aggregation->sources[s]))
		return;
	totals = allocate_zero(aggregation, ngroups * sizeof(Totals));
	for (g = 0; g < ngroups; g++)
	{
		totals[g].min = PG_INT64_MAX;
		totals[g].max = PG_INT64_MIN;
	}
	aggregation->values[s].totals = totals;
	if (aggregation->sources[s].moments)
		aggregation->values[s].moments = allocate_zero(aggregation,
													   ngroups * sizeof(ValueMoments));
}

static void
make_pairs(Aggregation *aggregation, int s)
{
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);

	aggregation->values[s].pairs =
		pairs_make(aggregation->context, &aggregation->layout, aggregation->sources[s].kind,
				   aggregation->sorter_limit);
	MemoryContextSwitchTo(old);
}

Misses *
aggregation_misses(Aggregation *aggregation, int s)
{
	SourceValues *values = &aggregation->values[s];

	if (values->misses == NULL)
		values->misses = allocate_zero(aggregation, aggregation->room * sizeof(Misses));
	return values->misses;
}

/* --- the window and the layout */

void
aggregation_widen_layout(Aggregation *aggregation, const KeyRange *ranges)
{
	GroupCode  *before = group_code_copy(&aggregation->layout);
	int			s;

	if (group_layout_widen(&aggregation->layout, ranges))
	{
		for (s = 0; s < aggregation->nsources; s++)
			if (aggregation->values[s].pairs)
				pairs_regroup(aggregation->values[s].pairs, before);
		if (aggregation->presence)
			pairs_regroup(aggregation->presence, before);
	}
	group_code_free(before);
	pfree(before);
}

/*
 * Returns the number that a group of the arrays gets in a new window, or in the table if window is
 * NULL.  group is room for its values.
 */
static uint64
new_number(Aggregation *aggregation, const GroupCode *window, uint64 number, GroupValues *group)
{
	/* The table has it already, unless it comes out of the window. */
	if (window == NULL && aggregation->window.code.ncodes == 0)
		return number;
	group_code_values(&aggregation->window, number, group);
	return window ? group_code_of(window, group) :
		group_table_find_values(aggregation->table, group, true);
}

/*
 * Makes arrays for room groups, of a new window or of the table, and moves what is known of each
 * group to its new number.
 */
static void
move_groups(Aggregation *aggregation, const GroupCode *window, uint64 room)
{
	int64	   *rows = aggregation->rows;
	SourceValues *values = palloc_array(SourceValues, Max(aggregation->nsources, 1));
	GroupValues group = group_values_make(aggregation->ncolumns);
	uint64		g;
	int			s;

	memcpy(values, aggregation->values, aggregation->nsources * sizeof(SourceValues));
	aggregation->rows = allocate_zero(aggregation, room * sizeof(int64));
	for (s = 0; s < aggregation->nsources; s++)
	{
		make_totals(aggregation, s, room);
		if (values[s].misses)
			aggregation->values[s].misses = allocate_zero(aggregation, room * sizeof(Misses));
	}
	for (g = 0; g < aggregation->room; g++)
	{
		uint64		number;

		if ((g & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
		if (rows[g] == 0)
			continue;
		number = new_number(aggregation, window, g, &group);
		aggregation->rows[number] = rows[g];
		for (s = 0; s < aggregation->nsources; s++)
		{
			if (values[s].totals)
				aggregation->values[s].totals[number] = values[s].totals[g];
			if (values[s].floats)
				aggregation->values[s].floats[number] = values[s].floats[g];
			if (values[s].moments)
				aggregation->values[s].moments[number] = values[s].moments[g];
			if (values[s].misses)
				aggregation->values[s].misses[number] = values[s].misses[g];
		}
	}
	if (rows)
		pfree(rows);
	for (s = 0; s < aggregation->nsources; s++)
	{
		if (values[s].totals)
			pfree(values[s].totals);
		if (values[s].floats)
			pfree(values[s].floats);
		if (values[s].moments)
			pfree(values[s].moments);
		if (values[s].misses)
			pfree(values[s].misses);
	}
	pfree(values);
	group_values_free(&group);
	aggregation->room = room;
}

void
aggregation_share_memory(Aggregation *aggregation, uint64 ngroups)
{
	size_t		arrays = ngroups * aggregation->group_size;
	int			nsorters = aggregation->presence ? 1 : 0;
	int			s;

	for (s = 0; s < aggregation->nsources; s++)
		nsorters += (aggregation->sources[s].runs || aggregation->values[s].pairs) +
			(aggregation->sources[s].float_parts != 0);
	aggregation->sorter_limit = (aggregation->memory_limit -
								 Min(arrays, aggregation->memory_limit)) /
		Max(nsorters, 1);
	for (s = 0; s < aggregation->nsources; s++)
		if (aggregation->values[s].pairs)
			pairs_limit_memory(aggregation->values[s].pairs, aggregation->sorter_limit);
	if (aggregation->presence)
		pairs_limit_memory(aggregation->presence, aggregation->sorter_limit);
}

void
aggregation_limit_memory(Aggregation *aggregation, size_t memory_limit)
{
	aggregation->memory_limit = memory_limit;
	/* At most half of the memory is for arrays by group. */
	aggregation->max_groups = memory_limit / 2 / aggregation->group_size;
	if (aggregation->table)
		aggregation->max_groups = Min(Max(aggregation->max_groups, TABLE_LEAST_GROUPS),
									  PG_INT32_MAX);
	aggregation_share_memory(aggregation, aggregation->room);
}

/*
 * Returns of how many groups arrays are worth their bytes, with as many rows as are expected or,
 * where those that have been added say so, with more.
 */
static uint64
worth_groups(const Aggregation *aggregation)
{
	double		rows = Max(aggregation->expected_rows,
						   (double) aggregation->nrows * ROWS_PER_ROW_MET);
	double		bytes = Max(rows * aggregation->row_bytes, LEAST_BYTES);

	return (uint64) Min(bytes / aggregation->group_size, (double) PG_UINT32_MAX);
}

bool
aggregation_grow_window(Aggregation *aggregation, const KeyRange *added)
{
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);
	GroupCode	window;
	KeyRange   *ranges;
	bool		grown;
	int			c;

	grown = group_window_grow(&window, &aggregation->window, added, aggregation->max_groups,
							  worth_groups(aggregation));
	if (grown)
	{
		/* Old and new arrays are there together while groups move: sorters make room first. */
		aggregation_share_memory(aggregation, aggregation->window.code.ncodes + window.code.ncodes);
		move_groups(aggregation, &window, window.code.ncodes);
		group_code_free(&aggregation->window);
		aggregation->window = window;
		aggregation_share_memory(aggregation, window.code.ncodes);
		ranges = palloc_array(KeyRange, Max(aggregation->ncolumns, 1));
		for (c = 0; c < aggregation->ncolumns; c++)
			ranges[c] = window.code.columns[c].range;
		aggregation_widen_layout(aggregation, ranges);
		pfree(ranges);
	}
	else
		group_code_free(&window);
	MemoryContextSwitchTo(old);
	return grown;
}

/* Returns the range of each grouping column in a batch; the caller frees them. */
static KeyRange *
ranges_of_batch(const Aggregation *aggregation, const ColumnBatch *batches)
{
	KeyRange   *ranges = palloc_array(KeyRange, aggregation->ncolumns);
	int			c;

	for (c = 0; c < aggregation->ncolumns; c++)
	{
		ranges[c] = EMPTY_KEY_RANGE;
		field_range_add_batch(&ranges[c], &batches[aggregation->columns[c].column]);
	}
	return ranges;
}

/*
 * Finds the numbers of the rows' groups in the window, which grows if there is memory; returns how
 * many are outside.
 */
static int
locate_in_window(Aggregation *aggregation, const ColumnBatch *batches, int n)
{
	KeyRange   *ranges;
	int			noutside;

	noutside = aggregation->window.code.ncodes == 0 ? n :
		group_window_locate(&aggregation->window, batches, n, aggregation->groups,
							aggregation->outside);
	if (noutside == 0 || aggregation->frozen)
		return noutside;
	ranges = ranges_of_batch(aggregation, batches);
	if (aggregation_grow_window(aggregation, ranges))
	{
		noutside = group_window_locate(&aggregation->window, batches, n, aggregation->groups,
									   aggregation->outside);
		Assert(noutside == 0);
	}
	pfree(ranges);
	return noutside;
}

/* Finds the numbers of the rows' groups; returns how many are, for good, outside of the window. */
static int
locate(Aggregation *aggregation, const ColumnBatch *batches, int n)
{
	KeyRange   *ranges;
	int			noutside;

	if (aggregation->ncolumns == 0)
		return 0;
	if (aggregation->located)
	{
		aggregation->located = false;
		noutside = aggregation->noutside;
	}
	else
		noutside = locate_in_window(aggregation, batches, n);
	if (noutside > 0)
	{
		aggregation->frozen = true;
		if (aggregation->window.code.ncodes == 0)
			memset(aggregation->outside, 1, n);
		ranges = ranges_of_batch(aggregation, batches);
		aggregation_widen_layout(aggregation, ranges);
		pfree(ranges);
	}
	return noutside;
}

/* --- groups in a hash table */

/* Has a table number the groups of the window, and all others that come. */
static void
make_table(Aggregation *aggregation)
{
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);

	aggregation->table = group_table_make(aggregation->columns, aggregation->ncolumns);
	aggregation->group_size += group_table_group_size(aggregation->table);
	aggregation_limit_memory(aggregation, aggregation->memory_limit);
	move_groups(aggregation, NULL, Max(aggregation->room, TABLE_LEAST_GROUPS));
	group_code_free(&aggregation->window);
	group_code_init(&aggregation->window, aggregation->columns, aggregation->ncolumns);
	MemoryContextSwitchTo(old);
}

/* Finds the numbers of the rows' groups in the table; returns for how many there is no memory. */
static int
locate_in_table(Aggregation *aggregation, const ColumnBatch *batches, int n)
{
	GroupTable *table = aggregation->table;
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);
	uint32		ngroups = group_table_count(table);
	int			noutside = 0;
	int			i;

	group_table_load(table, batches);
	for (i = 0; i < n; i++)
	{
		uint32		number = group_table_find(table, i, ngroups < aggregation->max_groups);

		ngroups += number == ngroups;
		aggregation->groups[i] = number;
		aggregation->outside[i] = number == NO_GROUP;
		noutside += number == NO_GROUP;
	}
	if (ngroups > aggregation->room)
		move_groups(aggregation, NULL,
					Max(ngroups, Min(2 * aggregation->room, aggregation->max_groups)));
	MemoryContextSwitchTo(old);
	return noutside;
}

int
aggregation_find(Aggregation *aggregation, const ColumnBatch *batches)
{
	int			n = (int) batches[0].n;
	int			noutside = 0;

	if (aggregation->table == NULL)
		noutside = locate_in_window(aggregation, batches, n);
	if (noutside > 0 && !aggregation->frozen)
		make_table(aggregation);
	if (aggregation->table)
		noutside = locate_in_table(aggregation, batches, n);
	aggregation->located = n > 0;
	aggregation->noutside = noutside;
	return aggregation->table ? noutside : 0;
}

bool
aggregation_refuses(const Aggregation *aggregation, size_t row, uint32 *hash)
{
	*hash = group_table_hash(aggregation->table, row);
	return aggregation->outside[row];
}

bool
aggregation_has_table(const Aggregation *aggregation)
{
	return aggregation->table != NULL;
}

Aggregation *
aggregation_make(const SortContext *context, const GroupColumn *columns, int ncolumns,
				 const ValueSource *sources, int nsources, size_t memory_limit,
				 double expected_rows)
{
	Aggregation *aggregation = palloc0_object(Aggregation);
	int			s;

	aggregation->memory = CurrentMemoryContext;
	aggregation->context = context;
	aggregation->ncolumns = ncolumns;
	aggregation->columns = columns;
	aggregation->nsources = nsources;
	aggregation->sources = sources;
	aggregation->values = palloc0_array(SourceValues, Max(nsources, 1));
	if (ncolumns > 0)
	{
		aggregation->groups = palloc_array(uint32, COLUMN_BATCH_KEYS);
		aggregation->outside = palloc_array(uint8, COLUMN_BATCH_KEYS);
	}
	aggregation->expected_rows = expected_rows;
	aggregation->row_bytes = NARROW_ROW_BYTES;
	aggregation->group_size = sizeof(int64);
	for (s = 0; s < nsources; s++)
	{
		if (has_totals(&sources[s]))
			aggregation->group_size += sizeof(Totals) +
				(sources[s].moments ? sizeof(ValueMoments) : 0);
		if (sources[s].float_parts != 0)
			aggregation->group_size += sizeof(FloatTotals);
		aggregation->group_size += sizeof(Misses);
		if (!sources[s].runs &&
			(sources[s].float_parts != 0 || column_kind_is_wide(sources[s].kind)))
			aggregation->row_bytes = WIDE_ROW_BYTES;
	}
	aggregation_limit_memory(aggregation, memory_limit);
	group_code_init(&aggregation->window, columns, ncolumns);
	group_code_init(&aggregation->layout, columns, ncolumns);
	if (ncolumns == 0)
	{
		aggregation->room = 1;
		aggregation->rows = palloc0_array(int64, 1);
		for (s = 0; s < nsources; s++)
			make_totals(aggregation, s, 1);
	}
	for (s = 0; s < nsources; s++)
		if (sources[s].runs)
			make_pairs(aggregation, s);
	aggregation->at.group = group_values_make(ncolumns);
	aggregation->at.next_group = group_values_make(ncolumns);
	return aggregation;
}

/* --- adding rows */

/* Rows of a batch by what becomes of their value of one source. */
typedef struct RowLists
{
	bool		all;			/* all rows are in inside, which is not filled */
	int			ninside;		/* a value that passes, of a group in the window */
	int			noutside;		/* a value that passes, of another group */
	int			nnulls;			/* a NULL that passes, of another group */
	int			nrefused;		/* refused by the filter, of another group */
	uint16		inside[COLUMN_BATCH_KEYS];
	uint16		outside[COLUMN_BATCH_KEYS];
	uint16		nulls[COLUMN_BATCH_KEYS];
	uint16		refused[COLUMN_BATCH_KEYS];
} RowLists;

/* Makes the lists, and counts the misses of groups in the window. */
static void
list_rows(Aggregation *aggregation, int s, const ColumnBatch *batches, int n, int noutside,
		  RowLists *lists)
{
	const ValueSource *source = &aggregation->sources[s];
	const uint8 *refused = NULL;
	const uint8 *nulls = NULL;
	const int32 *numbers = NULL;
	const uint32 *groups = aggregation->groups;
	Misses	   *misses = NULL;
	int			i;

	lists->ninside = lists->noutside = lists->nnulls = lists->nrefused = 0;
	if (source->filter >= 0 && batches[source->filter].nnulls > 0)
		refused = batches[source->filter].nulls;
	if (source->column >= 0 && batches[source->column].nnulls > 0)
		nulls = batches[source->column].nulls;
	if (aggregation->values[s].leaves)
		numbers = batches[source->column].keys;
	lists->all = refused == NULL && nulls == NULL && numbers == NULL && noutside == 0;
	if (lists->all)
	{
		lists->ninside = n;
		return;
	}
	if ((refused || nulls) && noutside < n)
		misses = aggregation_misses(aggregation, s);
	for (i = 0; i < n; i++)
	{
		bool		outside = noutside > 0 && aggregation->outside[i];

		if (refused && refused[i])
		{
			if (outside)
				lists->refused[lists->nrefused++] = i;
			else
				misses[groups ? groups[i] : 0].refused++;
		}
		else if (nulls && nulls[i])
		{
			if (outside)
				lists->nulls[lists->nnulls++] = i;
			else
				misses[groups ? groups[i] : 0].nulls++;
		}
		else if (numbers && numbers[i] < 0)
			continue;
		else if (outside)
			lists->outside[lists->noutside++] = i;
		else
			lists->inside[lists->ninside++] = i;
	}
}

static pg_attribute_always_inline void
add_total(Totals *totals, int64 value)
{
	totals->sum += value;
	totals->min = Min(totals->min, value);
	totals->max = Max(totals->max, value);
}

/*
 * Adds the values of rows in the window to the totals of their groups.  The usual cases have loops
 * of their own, in which nothing is asked of a row.
 */
static void
add_totals(Aggregation *aggregation, Totals *totals, const ColumnBatch *batch,
		   const RowLists *lists)
{
	const uint32 *groups = aggregation->groups;
	int			n = lists->ninside;
	int			i;

	if (aggregation->ncolumns == 0)
	{
		Totals		all = totals[0];

		for (i = 0; i < n; i++)
		{
			int			row = lists->all ? i : lists->inside[i];

			add_total(&all, batch->keys ? batch->keys[row] : batch->wide[row]);
		}
		totals[0] = all;
	}
	else if (!lists->all)
		for (i = 0; i < n; i++)
		{
			int			row = lists->inside[i];

			add_total(&totals[groups[row]], batch->keys ? batch->keys[row] : batch->wide[row]);
		}
	else if (batch->keys)
		for (i = 0; i < n; i++)
			add_total(&totals[groups[i]], batch->keys[i]);
	else
		for (i = 0; i < n; i++)
			add_total(&totals[groups[i]], batch->wide[i]);
}

/* Adds the values of rows in the window to the moments of their groups. */
static void
add_moments(Aggregation *aggregation, ValueMoments *moments, const ColumnBatch *batch,
			const RowLists *lists)
{
	const uint32 *groups = aggregation->groups;
	int			i;

	for (i = 0; i < lists->ninside; i++)
	{
		int			row = lists->all ? i : lists->inside[i];

		value_moments_put(&moments[groups ? groups[row] : 0], column_batch_value(batch, row));
	}
}

/*
 * Adds a batch of n rows, of which noutside are outside of the window, to a source.  Its sorter
 * gets values that are wanted in order, and for each row outside a value or a marker.  lists is
 * room to work in.
 */
static void
add_to_source(Aggregation *aggregation, int s, const ColumnBatch *batches, int n, int noutside,
			  RowLists *lists)
{
	const ValueSource *source = &aggregation->sources[s];
	SourceValues *values = &aggregation->values[s];
	const uint64 *codes = aggregation->layout.code.bits <= 64 ? aggregation->codes : NULL;

	list_rows(aggregation, s, batches, n, noutside, lists);
	if (values->totals && lists->ninside > 0)
		add_totals(aggregation, values->totals, &batches[source->column], lists);
	if (values->floats && lists->ninside > 0)
		aggregation_add_floats(aggregation, s, &batches[source->column],
							   lists->all ? NULL : lists->inside, lists->ninside);
	if (source->float_parts != 0)
		aggregation_add_outside_floats(aggregation, s, batches, lists->outside, lists->noutside);
	if (values->moments && lists->ninside > 0)
		add_moments(aggregation, values->moments, &batches[source->column], lists);
	if (values->pairs == NULL && noutside > 0)
	{
		make_pairs(aggregation, s);
		aggregation_share_memory(aggregation, aggregation->window.code.ncodes);
	}
	if (values->pairs == NULL)
		return;
	if (source->runs)
		pairs_add(values->pairs, batches, source->column, codes,
				  lists->all ? NULL : lists->inside, lists->ninside);
	if (noutside == 0)
		return;
	if (source->column >= 0)
		pairs_add(values->pairs, batches, source->column, codes, lists->outside, lists->noutside);
	else
		pairs_add_markers(values->pairs, PAIR_NULL, batches, codes, lists->outside,
						  lists->noutside);
	pairs_add_markers(values->pairs, PAIR_NULL, batches, codes, lists->nulls, lists->nnulls);
	pairs_add_markers(values->pairs, PAIR_REFUSED, batches, codes, lists->refused,
					  lists->nrefused);
}

/* Counts the rows of groups in the window, and without sources notes rows outside of it. */
static void
count_rows(Aggregation *aggregation, const ColumnBatch *batches, int n, int noutside,
		   RowLists *lists)
{
	int64	   *rows = aggregation->rows;
	int			listed = 0;
	int			i;

	if (aggregation->ncolumns == 0)
		rows[0] += n;
	else if (noutside == 0)
		for (i = 0; i < n; i++)
			rows[aggregation->groups[i]]++;
	else
	{
		for (i = 0; i < n; i++)
		{
			if (aggregation->outside[i])
				lists->outside[listed++] = i;
			else
				rows[aggregation->groups[i]]++;
		}
		/* Where there are sources, the pairs of each have all rows outside. */
		if (aggregation->nsources > 0)
			return;
		if (aggregation->presence == NULL)
		{
			MemoryContext old = MemoryContextSwitchTo(aggregation->memory);

			aggregation->presence = pairs_make(aggregation->context, &aggregation->layout,
											   COLUMN_KIND_NONE, aggregation->sorter_limit);
			MemoryContextSwitchTo(old);
		}
		pairs_add_markers(aggregation->presence, PAIR_NULL, batches,
						  aggregation->layout.code.bits <= 64 ? aggregation->codes : NULL,
						  lists->outside, listed);
	}
}

void
aggregation_add(Aggregation *aggregation, const ColumnBatch *batches)
{
	int			n = (int) batches[0].n;
	RowLists	lists;
	bool		coded;
	int			noutside;
	int			s;

	if (n == 0)
		return;
	aggregation->nrows += n;
	noutside = locate(aggregation, batches, n);
	coded = noutside > 0;
	for (s = 0; s < aggregation->nsources; s++)
		coded |= aggregation->sources[s].runs;
	if (coded && aggregation->ncolumns > 0 && aggregation->layout.code.bits <= 64)
	{
		if (aggregation->codes == NULL)
			aggregation->codes = MemoryContextAlloc(aggregation->memory,
													COLUMN_BATCH_KEYS * sizeof(uint64));
		group_layout_codes(&aggregation->layout, batches, n, aggregation->codes);
	}
	count_rows(aggregation, batches, n, noutside, &lists);
	for (s = 0; s < aggregation->nsources; s++)
		add_to_source(aggregation, s, batches, n, noutside, &lists);
}

void
aggregation_keep_values(Aggregation *aggregation, int source, const PairType *type)
{
	pairs_keep_values(aggregation->values[source].pairs, type);
}

void
aggregation_leave_values(Aggregation *aggregation, int source)
{
	aggregation->values[source].leaves = true;
}

void
aggregation_add_late(Aggregation *aggregation, int source, const ColumnBatch *batches)
{
	int			column = aggregation->sources[source].column;
	int			n = (int) batches[column].n;
	const uint64 *codes = NULL;

	/* The layout has the groups: their rows have been added. */
	if (aggregation->ncolumns > 0 && aggregation->layout.code.bits <= 64)
	{
		group_layout_codes(&aggregation->layout, batches, n, aggregation->codes);
		codes = aggregation->codes;
	}
	pairs_add(aggregation->values[source].pairs, batches, column, codes, NULL, n);
}

void
aggregation_count(Aggregation *aggregation, int64 rows)
{
	aggregation->rows[0] += rows;
}

/* --- for EXPLAIN, and the end */

uint64
aggregation_disk(const Aggregation *aggregation)
{
	uint64		disk = aggregation->presence ? pairs_disk(aggregation->presence) : 0;
	int			s;

	for (s = 0; s < aggregation->nsources; s++)
		if (aggregation->values[s].pairs)
			disk += pairs_disk(aggregation->values[s].pairs);
	return disk;
}

SourceSorted
aggregation_source_stats(Aggregation *aggregation, int source, SorterStats *stats)
{
	PairSorter *pairs = aggregation->values[source].pairs;

	memset(stats, 0, sizeof(*stats));
	if (pairs == NULL || pairs_count(pairs) == 0)
		return SOURCE_NOT_SORTED;
	if (pairs_stats(pairs, stats))
		return SOURCE_SORTED;
	return pairs_in_table(pairs) ? SOURCE_SORTED_BY_GROUP : SOURCE_SORTED_BY_CORE;
}

void
aggregation_free(Aggregation *aggregation)
{
	int			s;

	for (s = 0; s < aggregation->nsources; s++)
	{
		if (aggregation->values[s].pairs)
			pairs_free(aggregation->values[s].pairs);
		if (aggregation->values[s].outside)
			pair_rows_free(aggregation->values[s].outside);
	}
	if (aggregation->presence)
		pairs_free(aggregation->presence);
}
