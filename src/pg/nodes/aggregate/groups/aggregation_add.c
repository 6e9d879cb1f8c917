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

#include "pg/column/column.h"
#include "pg/compat.h"
#include "pg/nodes/aggregate/groups/aggregation_state.h"
#include "sort/kernels/kernels.h"

/* Groups for which there are arrays at least, if they are in a table. */
#define TABLE_LEAST_GROUPS 64

/*
 * Where nearly all rows are of new groups, more than a table in the CPU's caches has, their rows
 * are refused in order to be divided: parts of them have groups that fit.  Asked at as many groups,
 * and whenever these have doubled.
 */
#define TABLE_TRIAL_GROUPS	65536
#define TABLE_NEW_PART		0.9
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

static void
make_pairs(Aggregation *aggregation, int s)
{
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);

	aggregation->values[s].pairs =
		pairs_make(aggregation->context, &aggregation->layout, aggregation->sources[s].kind,
				   aggregation->sorter_limit);
	MemoryContextSwitchTo(old);
}

/* --- the window and the layout */

void
aggregation_widen_layout(Aggregation *aggregation, const KeyRange *ranges)
{
	GroupCode  *before = group_code_copy(&aggregation->layout);

	if (group_layout_widen(&aggregation->layout, ranges))
	{
		for (int s = 0; s < aggregation->nsources; s++)
			if (aggregation->values[s].pairs)
				pairs_regroup(aggregation->values[s].pairs, before);
		if (aggregation->presence)
			pairs_regroup(aggregation->presence, before);
	}
	group_code_free(before);
	pfree(before);
}

/*
 * Returns the numbers that the groups of the window get in another one, or in the table if window
 * is NULL.  The caller frees them.
 */
static uint32 *
new_numbers(Aggregation *aggregation, const GroupCode *window)
{
	uint32	   *numbers = MemoryContextAllocHuge(aggregation->memory,
												 Max(aggregation->room, 1) * sizeof(uint32));
	GroupValues group = group_values_make(aggregation->ncolumns);

	for (uint64 g = 0; g < aggregation->room; g++)
	{
		if ((g & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
		if (aggregation->rows[g] == 0)
			continue;
		group_code_values(&aggregation->window, g, &group);
		numbers[g] = window ? (uint32) group_code_of(window, &group) :
			group_table_find_values(aggregation->table, &group, true);
	}
	group_values_free(&group);
	return numbers;
}

void
aggregation_share_memory(Aggregation *aggregation, uint64 ngroups)
{
	size_t		arrays = ngroups * aggregation_group_size(aggregation);
	int			nsorters = aggregation->presence ? 1 : 0;

	for (int s = 0; s < aggregation->nsources; s++)
		nsorters += (aggregation->sources[s].runs || aggregation->values[s].pairs) +
			(aggregation->values[s].outside != NULL);
	aggregation->sorter_limit = (aggregation->memory_limit -
								 Min(arrays, aggregation->memory_limit)) /
		Max(nsorters, 1);
	for (int s = 0; s < aggregation->nsources; s++)
	{
		if (aggregation->values[s].pairs)
			pairs_limit_memory(aggregation->values[s].pairs, aggregation->sorter_limit);
		if (aggregation->values[s].outside)
			pair_rows_limit_memory(aggregation->values[s].outside, aggregation->sorter_limit);
	}
	if (aggregation->presence)
		pairs_limit_memory(aggregation->presence, aggregation->sorter_limit);
}

/*
 * Returns how much memory is for arrays by group.  The other part is for values in order, for pairs
 * of groups outside of the window, or for what an array is before it grows.
 */
static size_t
arrays_limit(const Aggregation *aggregation)
{
	for (int s = 0; s < aggregation->nsources; s++)
		if (aggregation->sources[s].runs)
			return aggregation->memory_limit * ARRAYS_PART_BESIDE_RUNS;
	return aggregation->memory_limit * ARRAYS_PART;
}

void
aggregation_limit_memory(Aggregation *aggregation, size_t memory_limit)
{
	aggregation->memory_limit = memory_limit;
	aggregation->max_groups = arrays_limit(aggregation) / aggregation_group_size(aggregation);
	if (aggregation_numbers_by_table(aggregation))
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

	return (uint64) Min(bytes / aggregation_group_size(aggregation), (double) PG_UINT32_MAX);
}

bool
aggregation_grow_window(Aggregation *aggregation, const KeyRange *added)
{
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);
	GroupCode	window;
	uint32	   *numbers = NULL;
	KeyRange   *ranges;
	bool		grown;

	grown = group_window_grow(&window, &aggregation->window, added, aggregation->max_groups,
							  worth_groups(aggregation));
	if (grown)
	{
		/* Old and new arrays are there together while groups move: sorters make room first. */
		aggregation_share_memory(aggregation, aggregation->window.code.ncodes + window.code.ncodes);
		/* Numbers stay what they are where a window grows upwards in its first column. */
		if (!group_code_continues(&window, &aggregation->window))
			numbers = new_numbers(aggregation, &window);
		aggregation_move_parts(aggregation, numbers, window.code.ncodes);
		if (numbers)
			pfree(numbers);
		group_code_free(&aggregation->window);
		aggregation->window = window;
		aggregation_share_memory(aggregation, window.code.ncodes);
		ranges = palloc_array(KeyRange, Max(aggregation->ncolumns, 1));
		for (int c = 0; c < aggregation->ncolumns; c++)
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

	for (int c = 0; c < aggregation->ncolumns; c++)
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

/* Returns how many groups have rows. */
static uint64
count_groups(const Aggregation *aggregation)
{
	uint64		ngroups = 0;

	for (uint64 g = 0; g < aggregation->room; g++)
		ngroups += aggregation->rows[g] != 0;
	return ngroups;
}

/*
 * Has a table number the groups of the window, and all others that come.  If the groups that there
 * are have no room beside the table, the window stays as it is, and all others are refused.
 */
static void
make_table(Aggregation *aggregation)
{
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);
	uint64		ngroups = count_groups(aggregation);
	uint32	   *numbers;

	aggregation->table = group_table_make(aggregation->columns, aggregation->ncolumns);
	aggregation->frozen = ngroups *
		(aggregation_group_size(aggregation) + group_table_group_size(aggregation->table)) >
		arrays_limit(aggregation);
	if (!aggregation->frozen)
	{
		numbers = new_numbers(aggregation, NULL);
		aggregation_move_parts(aggregation, numbers, Max(ngroups, TABLE_LEAST_GROUPS));
		pfree(numbers);
		group_code_free(&aggregation->window);
		group_code_init(&aggregation->window, aggregation->columns, aggregation->ncolumns);
		aggregation_limit_memory(aggregation, aggregation->memory_limit);
	}
	MemoryContextSwitchTo(old);
}

/* Whether rows of new groups are to be divided before they have groups; review at ngroups. */
static void
review_table(Aggregation *aggregation, uint32 ngroups)
{
	TableTrial *trial = &aggregation->trial;

	if (ngroups < trial->groups)
		return;
	if (trial->groups > 0 && trial->may_end &&
		ngroups - trial->before >= TABLE_NEW_PART * trial->rows)
		trial->ended = true;
	trial->before = ngroups;
	trial->groups = Max(2 * trial->groups, TABLE_TRIAL_GROUPS / 2);
	trial->rows = 0;
}

/* Finds the numbers of the rows' groups in the table; returns how many are refused. */
static int
locate_in_table(Aggregation *aggregation, const ColumnBatch *batches, int n)
{
	GroupTable *table = aggregation->table;
	MemoryContext old = MemoryContextSwitchTo(aggregation->memory);
	uint32		ngroups = group_table_count(table);
	int			noutside = 0;

	review_table(aggregation, ngroups);
	aggregation->trial.rows += n;
	group_table_load(table, batches);
	for (int i = 0; i < n; i++)
	{
		uint32		number = group_table_find(table, i, ngroups < aggregation->max_groups &&
											  !aggregation->trial.ended);

		ngroups += number == ngroups;
		aggregation->groups[i] = number;
		aggregation->outside[i] = number == NO_GROUP;
		noutside += number == NO_GROUP;
	}
	if (ngroups > aggregation->room)
		aggregation_move_parts(aggregation, NULL,
							   Max(ngroups, Min(2 * aggregation->room, aggregation->max_groups)));
	MemoryContextSwitchTo(old);
	return noutside;
}

int
aggregation_find(Aggregation *aggregation, const ColumnBatch *batches)
{
	int			n = (int) batches[0].n;
	int			noutside = 0;

	if (!aggregation_numbers_by_table(aggregation))
		noutside = locate_in_window(aggregation, batches, n);
	if (noutside > 0 && aggregation->table == NULL && !aggregation->frozen)
		make_table(aggregation);
	if (aggregation_numbers_by_table(aggregation))
		noutside = locate_in_table(aggregation, batches, n);
	else if (noutside > 0 && aggregation->table)
		group_table_load(aggregation->table, batches);
	aggregation->located = n > 0;
	aggregation->noutside = noutside;
	return aggregation->table ? noutside : 0;
}

void
aggregation_leave_refused(Aggregation *aggregation, size_t nrows)
{
	size_t		kept = 0;

	for (size_t i = 0; i < nrows; i++)
		if (!aggregation->outside[i])
			aggregation->groups[kept++] = aggregation->groups[i];
	memset(aggregation->outside, 0, kept);
	aggregation->located = kept > 0;
	aggregation->noutside = 0;
}

void
aggregation_divide_groups(Aggregation *aggregation)
{
	aggregation->trial.may_end = true;
}

bool
aggregation_divides_groups(const Aggregation *aggregation)
{
	return aggregation->trial.ended;
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
	for (int s = 0; s < nsources; s++)
		if (!sources[s].runs &&
			(sources[s].float_parts != 0 || column_kind_is_wide(sources[s].kind)))
			aggregation->row_bytes = WIDE_ROW_BYTES;
	aggregation_limit_memory(aggregation, memory_limit);
	group_code_init(&aggregation->window, columns, ncolumns);
	group_code_init(&aggregation->layout, columns, ncolumns);
	if (ncolumns == 0)
	{
		aggregation_move_parts(aggregation, NULL, 1);
	}
	for (int s = 0; s < nsources; s++)
		if (sources[s].runs)
			make_pairs(aggregation, s);
	aggregation->at.group = group_values_make(ncolumns);
	aggregation->at.next_group = group_values_make(ncolumns);
	return aggregation;
}

/* --- adding rows */

int64 *
aggregation_misses(Aggregation *aggregation, int s, GroupPart part)
{
	void	  **array = &aggregation->values[s].parts[part];

	if (*array == NULL)
	{
		*array = aggregation_make_part(aggregation, s, part, aggregation->room);
		aggregation_limit_memory(aggregation, aggregation->memory_limit);
	}
	return (int64 *) *array;
}

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
	const uint8 *with_nulls = NULL;
	const int32 *numbers = NULL;
	const uint32 *groups = aggregation->groups;
	int64	   *refusals = NULL;
	int64	   *misses = NULL;

	lists->ninside = lists->noutside = lists->nnulls = lists->nrefused = 0;
	if (source->filter >= 0 && batches[source->filter].nnulls > 0)
		refused = batches[source->filter].nulls;
	if (source->column >= 0 && batches[source->column].nnulls > 0)
		nulls = batches[source->column].nulls;
	if (source->with >= 0 && batches[source->with].nnulls > 0)
		with_nulls = batches[source->with].nulls;
	if (aggregation->values[s].leaves)
		numbers = batches[source->column].keys;
	lists->all = refused == NULL && nulls == NULL && with_nulls == NULL && numbers == NULL &&
		noutside == 0;
	if (lists->all)
	{
		lists->ninside = n;
		return;
	}
	if (refused && noutside < n)
		refusals = aggregation_misses(aggregation, s, PART_REFUSED);
	if ((nulls || with_nulls) && noutside < n)
		misses = aggregation_misses(aggregation, s, PART_NULLS);
	for (int i = 0; i < n; i++)
	{
		bool		outside = noutside > 0 && aggregation->outside[i];

		if (refused && refused[i])
		{
			if (outside)
				lists->refused[lists->nrefused++] = i;
			else
				refusals[groups ? groups[i] : 0]++;
		}
		else if ((nulls && nulls[i]) || (with_nulls && with_nulls[i]))
		{
			if (outside)
				lists->nulls[lists->nnulls++] = i;
			else
				misses[groups ? groups[i] : 0]++;
		}
		else if (numbers && numbers[i] < 0)
			continue;
		else if (outside)
			lists->outside[lists->noutside++] = i;
		else
			lists->inside[lists->ninside++] = i;
	}
}

/* Makes room for rows outside of the window, unless there is. */
static void
make_outside(Aggregation *aggregation, int s)
{
	bool		pairs = aggregation->values[s].pairs == NULL;
	bool		floats = aggregation->sources[s].float_parts != 0 &&
	aggregation->values[s].outside == NULL;

	if (pairs)
		make_pairs(aggregation, s);
	if (floats)
		aggregation_make_outside_floats(aggregation, s);
	if (pairs || floats)
		aggregation_share_memory(aggregation, aggregation->window.code.ncodes);
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
	if (source->column >= 0 && lists->ninside > 0)
		aggregation_add_values(aggregation, s, batches,
							   lists->all ? NULL : lists->inside, lists->ninside);
	if (noutside > 0)
		make_outside(aggregation, s);
	if (values->outside)
		aggregation_add_outside_floats(aggregation, s, batches, lists->outside, lists->noutside);
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

	if (aggregation->ncolumns == 0)
		rows[0] += n;
	else if (noutside == 0)
		for (int i = 0; i < n; i++)
			rows[aggregation->groups[i]]++;
	else
	{
		for (int i = 0; i < n; i++)
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

	if (n == 0)
		return;
	aggregation->nrows += n;
	noutside = locate(aggregation, batches, n);
	coded = noutside > 0;
	for (int s = 0; s < aggregation->nsources; s++)
		coded |= aggregation->sources[s].runs;
	if (coded && aggregation->ncolumns > 0 && aggregation->layout.code.bits <= 64)
	{
		if (aggregation->codes == NULL)
			aggregation->codes = MemoryContextAlloc(aggregation->memory,
													COLUMN_BATCH_KEYS * sizeof(uint64));
		group_layout_codes(&aggregation->layout, batches, n, aggregation->codes);
	}
	count_rows(aggregation, batches, n, noutside, &lists);
	for (int s = 0; s < aggregation->nsources; s++)
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

	for (int s = 0; s < aggregation->nsources; s++)
		if (aggregation->values[s].pairs)
			disk += pairs_disk(aggregation->values[s].pairs);
	return disk;
}

PairsSorted
aggregation_source_stats(Aggregation *aggregation, int source, SorterStats *stats)
{
	PairSorter *pairs = aggregation->values[source].pairs;

	memset(stats, 0, sizeof(*stats));
	return pairs ? pairs_stats(pairs, stats) : PAIRS_NOT_SORTED;
}

void
aggregation_free(Aggregation *aggregation)
{
	for (int s = 0; s < aggregation->nsources; s++)
	{
		if (aggregation->values[s].pairs)
			pairs_free(aggregation->values[s].pairs);
		if (aggregation->values[s].outside)
			pair_rows_free(aggregation->values[s].outside);
	}
	if (aggregation->presence)
		pairs_free(aggregation->presence);
}
