/*
 * resident_rows.c
 *		Rows of resident extents sorted or counted by the GPU (see resident_rows.h).
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/interrupts.h"
#include "pg/resident/gpu/resident_rows.h"
#include "pg/resident/gpu/resident_rows_state.h"
#include "pg/sort_context.h"
#include "sort/device/job.h"
#include "sort/error.h"

ResidentRows *
resident_rows_make(const ResidentSummary *columns, int ncolumns, int nkeys,
				   const ResidentJobs *jobs, uint32 stripes)
{
	ResidentRows *rows;

	if (!resident_rows_pay(columns, ncolumns, nkeys, jobs, stripes))
		return NULL;
	rows = palloc0_object(ResidentRows);
	resident_pays_context(&rows->context, jobs == NULL);
	rows->memory = CurrentMemoryContext;
	rows->purpose = jobs ? LEFT_TO_SORT : LEFT_TO_COUNT;
	rows->ncolumns = ncolumns;
	rows->bounds = palloc_array(ColumnBounds, ncolumns);
	for (int c = 0; c < ncolumns; c++)
		rows->bounds[c] = (ColumnBounds)
	{
		.origin = jobs ? resident_pays_origin(&columns[c]) : 0,.lo = PG_INT32_MAX,.hi = PG_INT32_MIN
	};
	return rows;
}

LeftExtents *
resident_rows_join(ResidentRows *rows, SourceColumn *columns, int ncolumns, ResidentFilter *filter,
				   BlockNumber nblocks)
{
	LeftExtents *left;
	MemoryContext old;

	if (ncolumns != rows->ncolumns ||
		(rows->lists != NIL && !resident_filter_is_same(rows->filter, filter)))
		return NULL;
	left = left_extents_make(rows->purpose, ncolumns, false, nblocks);
	if (rows->lists == NIL)
		rows->filter = filter;
	old = MemoryContextSwitchTo(rows->memory);
	rows->columns = lappend(rows->columns, columns);
	rows->lists = lappend(rows->lists, left);
	MemoryContextSwitchTo(old);
	return left;
}

SourceColumn *
resident_rows_columns_of(const ResidentRows *rows, size_t i)
{
	int			s;

	for (s = 0; i >= ((const LeftExtents *) list_nth(rows->lists, s))->n; s++)
		i -= ((const LeftExtents *) list_nth(rows->lists, s))->n;
	return (SourceColumn *) list_nth(rows->columns, s);
}

bool
resident_rows_takes(const ResidentRows *rows, const SourceColumn *columns, uint32 number)
{
	for (int c = 0; c < rows->ncolumns; c++)
	{
		const ResidentExtent *extent = &columns[c].reader.extents[number % VISIBILITY_EXTENTS];
		const ColumnBounds *bounds = &rows->bounds[c];

		if (extent->nulls < extent->rows &&
			(extent->top >= PG_UINT32_MAX ||
			 !resident_pays_near(extent->base, extent->base + (int64) extent->top,
								 bounds->origin) ||
			 (bounds->generation != 0 && extent->values != bounds->generation)))
			return false;
	}
	return true;
}

/* Whether a condition accepts no row of an extent, by its bounds. */
static bool
refuses_extent(const ResidentExtent *extent, const ColumnFilter *condition)
{
	const LongRange *ranges = condition->values.ranges;
	int64		base = extent->base + condition->values.bias;
	int64		last = base + (int64) extent->top;

	if (condition->nulls && extent->nulls > 0)
		return false;
	for (size_t i = 0; i < condition->values.nranges && extent->nulls < extent->rows; i++)
		if (ranges[i].hi >= base && ranges[i].lo <= last)
			return false;
	return true;
}

/*
 * Whether bounds alone say that no row of an extent passes, of which all blocks are valid;
 * *refused grows by its rows then.
 */
static bool
is_refused(const ResidentRows *rows, const SourceColumn *columns, uint32 number,
		   const ResidentBlocks *valid, uint64 *refused)
{
	if (rows->filter == NULL || resident_blocks_count(valid) < RESIDENT_EXTENT_BLOCKS)
		return false;
	for (int c = 0; c < rows->ncolumns; c++)
	{
		const ResidentExtent *extent = &columns[c].reader.extents[number % VISIBILITY_EXTENTS];
		const ColumnFilter *condition = resident_filter_condition(rows->filter, -1, c);

		if (condition && condition->members == NULL && refuses_extent(extent, condition))
		{
			*refused += extent->rows;
			return true;
		}
	}
	return false;
}

bool
resident_rows_add(ResidentRows *rows, LeftExtents *left, SourceColumn *columns, uint32 number,
				  const ResidentBlocks *valid, uint64 *refused)
{
	if (is_refused(rows, columns, number, valid, refused))
		return false;
	for (int c = 0; c < rows->ncolumns; c++)
	{
		const ResidentExtent *extent = &columns[c].reader.extents[number % VISIBILITY_EXTENTS];
		ColumnBounds *bounds = &rows->bounds[c];

		bounds->nulls |= extent->nulls > 0;
		/* A GPU that counts an extent wants all bounds of its directory's entry. */
		if (extent->nulls == extent->rows && rows->purpose == LEFT_TO_SORT)
			continue;
		if (extent->nulls < extent->rows)
			bounds->generation = extent->values;
		bounds->lo = (int32) Min(bounds->lo, extent->base - bounds->origin);
		bounds->hi = (int32) Max(bounds->hi,
								 extent->base + (int64) extent->top - bounds->origin);
	}
	left_extents_add(left, columns, number, valid);
	return true;
}

/* Of a column that has numbers only one scan has extents; NULL: it has none. */
static ColumnDictionary *
dictionary_of(const ResidentRows *rows, int c)
{
	const SourceColumn *columns = (const SourceColumn *) linitial(rows->columns);

	return rows->left->n > 0 ? columns[c].dictionary : NULL;
}

bool
resident_rows_have_numbers(const ResidentRows *rows, int c)
{
	return dictionary_of(rows, c) != NULL;
}

bool
resident_rows_value(const ResidentRows *rows, int c, uint32 number, Datum *value)
{
	return column_dictionary_value(dictionary_of(rows, c), number, value);
}

/*
 * Makes the mask of a column's numbers that pass its conditions, and narrows its bounds by it;
 * false if the values have been given up, or if there are too many.
 */
static bool
make_mask(ResidentRows *rows, int c)
{
	ColumnBounds *bounds = &rows->bounds[c];
	const uint32 nmask = (bounds->n + ROWS_MASK_VALUES - 1) / ROWS_MASK_VALUES;
	const uint32 *words;

	if (nmask > ROWS_MAX_RANGES)
		return false;
	bounds->mask = MemoryContextAlloc(rows->memory, (nmask + 1) * sizeof(ValueRange));
	if (!resident_filter_numbers(rows->filter, -1, c, bounds->n, (uint32 *) bounds->mask,
								 2 * nmask, &bounds->nulls_pass))
		return false;
	words = (const uint32 *) bounds->mask;
	while (bounds->lo <= bounds->hi && !(words[bounds->lo / 32] >> bounds->lo % 32 & 1))
		bounds->lo++;
	while (bounds->lo <= bounds->hi && !(words[bounds->hi / 32] >> bounds->hi % 32 & 1))
		bounds->hi--;
	if (bounds->lo > bounds->hi)
	{
		bounds->lo = PG_INT32_MAX;
		bounds->hi = PG_INT32_MIN;
	}
	bounds->nulls = bounds->nulls && bounds->nulls_pass;
	return true;
}

/*
 * Evaluates the conditions of values that have numbers, each once; false if the values have been
 * given up, or if they are too many.
 */
static bool
know_values(ResidentRows *rows)
{
	for (int c = 0; c < rows->ncolumns; c++)
	{
		ColumnBounds *bounds = &rows->bounds[c];
		ColumnDictionary *dictionary;

		if (!resident_rows_have_numbers(rows, c))
			continue;
		dictionary = dictionary_of(rows, c);
		if (bounds->generation != 0 &&
			(!column_dictionary_look(dictionary, bounds->generation) || bounds->lo < 0 ||
			 (uint32) bounds->hi >= column_dictionary_size(dictionary)))
			return false;
		bounds->n = bounds->lo <= bounds->hi ? (uint32) bounds->hi + 1 : 0;
		if (resident_filter_condition(rows->filter, -1, c) && !make_mask(rows, c))
			return false;
	}
	return true;
}

bool
resident_rows_ask(ResidentRows *rows, ResidentRowsHandler *handler)
{
	if (!rows->asked)
	{
		MemoryContext old = MemoryContextSwitchTo(rows->memory);

		rows->left = list_length(rows->lists) == 1 ? (LeftExtents *) linitial(rows->lists) :
			left_extents_chain(rows->lists);
		MemoryContextSwitchTo(old);
		rows->asked = true;
		rows->answered = know_values(rows) && handler->handle(handler->arg, rows);
	}
	return rows->answered;
}

int64
resident_rows_origin(const ResidentRows *rows, int c)
{
	return rows->bounds[c].origin;
}

void
resident_rows_all_bounds(const ResidentRows *rows, int c, int32 *lo, int32 *hi, bool *nulls)
{
	*lo = rows->bounds[c].lo;
	*hi = rows->bounds[c].hi;
	*nulls = rows->bounds[c].nulls;
	/* A mask has narrowed these. */
	if (rows->bounds[c].mask && rows->bounds[c].n > 0)
	{
		*lo = 0;
		*hi = (int32) rows->bounds[c].n - 1;
	}
}

bool
resident_rows_accept(const ResidentRows *rows, int c, int32 value)
{
	const ColumnFilter *condition = resident_filter_condition(rows->filter, -1, c);
	const ColumnBounds *bounds = &rows->bounds[c];
	const uint32 *words = (const uint32 *) bounds->mask;

	if (condition == NULL)
		return true;
	if (words)
		return (uint32) value >= bounds->n || words[value / 32] >> value % 32 & 1;
	return long_ranges_have(condition->values.ranges, condition->values.nranges,
							value + bounds->origin + condition->values.bias);
}

void
resident_rows_map(ResidentRows *rows, int c, const uint32 *map)
{
	rows->bounds[c].map = map;
}

void
resident_rows_bounds(const ResidentRows *rows, int c, int32 *lo, int32 *hi, bool *nulls)
{
	const ColumnFilter *condition = resident_filter_condition(rows->filter, -1, c);
	const ExtentFilter *values;
	int64		bias;
	int64		least;
	int64		most;

	*lo = rows->bounds[c].lo;
	*hi = rows->bounds[c].hi;
	*nulls = rows->bounds[c].nulls;
	/* A mask has narrowed them already. */
	if (condition == NULL || rows->bounds[c].mask)
		return;
	values = &condition->values;
	*nulls = *nulls && condition->nulls;
	bias = rows->bounds[c].origin + values->bias;
	least = *lo + bias;
	most = *hi + bias;
	if (values->nranges > 0)
	{
		least = Max(least, values->ranges[0].lo);
		most = Min(most, values->ranges[values->nranges - 1].hi);
	}
	if (values->nranges == 0 || least > most)
	{
		*lo = PG_INT32_MAX;
		*hi = PG_INT32_MIN;
		return;
	}
	*lo = (int32) (least - bias);
	*hi = (int32) (most - bias);
}

/*
 * An ExtentFetch: copies an extent for the device, which lacks it.  Sets *bytes and *size to the
 * copy, which stays until the next call.  i counts the columns' extents, column by column within
 * each extent added.  Returns false if the extent has been given up, or there is no memory for the
 * copy.
 */
static bool
fetch_extent(void *arg, size_t i, const void **bytes, size_t *size)
{
	ResidentRows *rows = (ResidentRows *) arg;
	const LeftExtents *left = rows->left;
	const SourceColumn *columns = resident_rows_columns_of(rows, i / left->ncolumns);
	const ResidentKey *key = &columns[i % left->ncolumns].reader.key;
	uint32		number = left->numbers[i / left->ncolumns];
	ResidentExtent extent;
	uint64		seen = resident_look(key, number, 1, &extent);
	const char *address;

	if (extent.generation != left->generations[i])
		return false;
	if (extent.size > rows->bytes_room)
	{
		char	   *room = MemoryContextAllocExtended(rows->memory, extent.size, MCXT_ALLOC_NO_OOM);

		if (room == NULL)
			return false;
		if (rows->bytes)
			pfree(rows->bytes);
		rows->bytes = room;
		rows->bytes_room = extent.size;
	}
	resident_start_copying();
	address = resident_address(&extent);
	if (address)
		memcpy(rows->bytes, address, extent.size);
	resident_stop_copying();
	*bytes = rows->bytes;
	*size = extent.size;
	return address && resident_holds(key, number, &extent, seen);
}

/*
 * Writes the ranges of values that both of two conditions of a column accept, of which one may be
 * NULL, as distances from origin, to ranges, which has room for most; false if there are too many.
 */
static bool
combine_conditions(const ColumnFilter *a, const ColumnFilter *b, int64 origin, ValueRange *ranges,
				   size_t most, size_t *n)
{
	LongRange  *both = NULL;
	const LongRange *accepted = a ? a->values.ranges : b->values.ranges;

	*n = a ? a->values.nranges : b->values.nranges;
	if (*n + (a && b ? b->values.nranges : 0) > most)
		return false;
	if (a && b)
	{
		both = palloc_array(LongRange, *n + b->values.nranges + 1);
		*n = long_ranges_intersect(accepted, *n, b->values.ranges, b->values.nranges, both);
		accepted = both;
	}
	*n = long_ranges_narrow(accepted, *n, origin + (a ? a->values.bias : b->values.bias), ranges);
	if (both)
		pfree(both);
	return true;
}

/*
 * Writes the mask of a column's numbers that pass the qual and a filter (-1: none), as
 * combine_conditions does, and whether NULLs pass both; false also if values have been given up.
 */
static bool
combine_masks(const ResidentRows *rows, int filter, int c, ValueRange *mask, size_t most,
			  size_t *n, bool *nulls)
{
	const ColumnBounds *bounds = &rows->bounds[c];

	*n = (bounds->n + ROWS_MASK_VALUES - 1) / ROWS_MASK_VALUES;
	*nulls = true;
	if (*n > most)
		return false;
	if (filter >= 0 && !resident_filter_numbers(rows->filter, filter, c, bounds->n,
												(uint32 *) mask, 2 * *n, nulls))
		return false;
	for (size_t i = 0; i < *n && bounds->mask; i++)
	{
		mask[i].lo = bounds->mask[i].lo & (filter >= 0 ? mask[i].lo : -1);
		mask[i].hi = bounds->mask[i].hi & (filter >= 0 ? mask[i].hi : -1);
	}
	*nulls = *nulls && (bounds->mask == NULL || bounds->nulls_pass);
	return true;
}

/*
 * Writes the map of a column, in which values that two conditions, of which each may be NULL,
 * refuse do not match, as combine_conditions does.
 */
static bool
combine_maps(const ColumnFilter *a, const ColumnFilter *b, const RowsColumn *column,
			 const uint32 *values, ValueRange *map, size_t most, size_t *n)
{
	ValueRange *accepted;
	uint32	   *adds = (uint32 *) map;
	size_t		naccepted;
	size_t		at = 0;

	*n = column->last / ROWS_MAP_VALUES + 1;
	if (*n > most)
		return false;
	adds[*n * ROWS_MAP_VALUES - 1] = ROWS_NO_MATCH;
	memcpy(adds, values, (column->last + (size_t) 1) * sizeof(uint32));
	if (a == NULL && b == NULL)
		return true;
	accepted = palloc_array(ValueRange, ROWS_MAX_RANGES);
	if (!combine_conditions(a, b, column->origin, accepted, ROWS_MAX_RANGES, &naccepted))
		return false;
	for (uint32 i = 0; i <= column->last; i++)
	{
		int64		value = column->lo + (int64) i;

		while (at < naccepted && accepted[at].hi < value)
			at++;
		if (at == naccepted || accepted[at].lo > value)
			adds[i] = ROWS_NO_MATCH;
	}
	pfree(accepted);
	return true;
}

/*
 * Has a column's map refuse the numbers that do not pass the qual and a filter (-1: none), and sets
 * *nulls, as combine_masks does; false if values have been given up.
 */
static bool
mask_map(const ResidentRows *rows, int filter, int c, const RowsColumn *column, uint32 *adds,
		 bool *nulls)
{
	ValueRange *mask = palloc_array(ValueRange, ROWS_MAX_RANGES);
	const uint32 *words = (const uint32 *) mask;
	size_t		n;
	bool		known = combine_masks(rows, filter, c, mask, ROWS_MAX_RANGES, &n, nulls);

	for (uint32 i = 0; i <= column->last && known; i++)
	{
		uint32		number = (uint32) column->lo + i;

		if (number >= rows->bounds[c].n || !(words[number / 32] >> number % 32 & 1))
			adds[i] = ROWS_NO_MATCH;
	}
	pfree(mask);
	return known;
}

/*
 * Adds origins, and the conditions of the qual and of a filter (-1: none), to a layout, and their
 * ranges to ranges; false if there are too many, or if values have been given up.
 */
static bool
add_conditions(const ResidentRows *rows, int filter, RowsLayout *layout, ValueRange *ranges)
{
	layout->nranges = 0;
	layout->filtered = 0;
	for (int c = 0; c < rows->ncolumns; c++)
	{
		RowsColumn *column = &layout->columns[c];
		const ColumnBounds *bounds = &rows->bounds[c];
		const ColumnFilter *qual = resident_filter_condition(rows->filter, -1, c);
		const ColumnFilter *other = NULL;
		bool		nulls;
		size_t		n;

		column->origin = bounds->origin;
		if (filter >= 0)
			other = resident_filter_condition(rows->filter, filter, c);
		if (qual == NULL && other == NULL && bounds->map == NULL)
			continue;
		nulls = (qual == NULL || qual->nulls) && (other == NULL || other->nulls);
		if (bounds->map)
		{
			bool		numbers = resident_rows_have_numbers(rows, c);

			if (!combine_maps(numbers ? NULL : qual, numbers ? NULL : other, column, bounds->map,
							  ranges + layout->nranges, ROWS_MAX_RANGES - layout->nranges, &n) ||
				(numbers && (qual || other) &&
				 !mask_map(rows, other ? filter : -1, c, column,
						   (uint32 *) (ranges + layout->nranges), &nulls)))
				return false;
			nulls = nulls && (column->flags & ROWS_NULLS_PASS);
			column->flags = (column->flags & ~ROWS_NULLS_PASS) | ROWS_MAPPED;
		}
		else if (resident_rows_have_numbers(rows, c))
		{
			if (!combine_masks(rows, other ? filter : -1, c, ranges + layout->nranges,
							   ROWS_MAX_RANGES - layout->nranges, &n, &nulls))
				return false;
			column->flags |= ROWS_MASKED;
		}
		else if (!combine_conditions(qual, other, bounds->origin, ranges + layout->nranges,
									 ROWS_MAX_RANGES - layout->nranges, &n))
			return false;
		column->flags |= ROWS_FILTERED | (nulls ? ROWS_NULLS_PASS : 0);
		column->first_range = layout->nranges;
		column->nranges = (uint32) n;
		layout->nranges += (uint32) n;
		layout->filtered = 1;
	}
	return true;
}

/*
 * Finds which GPU of several has an extent: the first stripes of tables are on GPUs as if by
 * chance, so that small tables are divided among these, and the next stripes on the next GPUs.
 */
static void
find_stripes(ResidentRows *rows)
{
	size_t		at = 0;

	rows->stripes = MemoryContextAlloc(rows->memory, (rows->left->n + 1) * sizeof(uint32));
	for (int s = 0; s < list_length(rows->lists); s++)
	{
		const LeftExtents *left = (const LeftExtents *) list_nth(rows->lists, s);
		const SourceColumn *columns = (const SourceColumn *) list_nth(rows->columns, s);
		const ResidentKey *key = &columns[0].reader.key;

		for (size_t i = 0; i < left->n; i++)
			rows->stripes[at++] = murmurhash32(key->database ^ key->relid) +
				resident_pays_stripe(left->numbers[i]);
	}
}

RowsJob
resident_rows_job_of(ResidentRows *rows, int32 lo, int32 hi)
{
	if (rows->stripes == NULL)
		find_stripes(rows);
	return (RowsJob)
	{
		.lo = lo,
			.hi = hi,
			.rows = rows->left->rows,
			.generations = rows->left->generations,
			.n = rows->left->n,
			.stripes = rows->stripes,
			.fetch = fetch_extent,
			.arg = rows
	};
}

/* Raises a cancel; otherwise notes that the CPU takes over.  Returns false. */
static bool
failed(ResidentRows *rows, const SortError *err)
{
	resident_rows_end(rows);
	pg_check_interrupts();
	sort_job_gpu_failed(&rows->context, err);
	return false;
}

bool
resident_rows_are_wrong(ResidentRows *rows)
{
	SortError	err;

	sort_fail(&err, SORT_CORRUPT, "GPU has given answers that cannot be");
	return failed(rows, &err);
}

bool
resident_rows_do_job(ResidentRows *rows, int filter, RowsLayout *layout, RowsJob *job,
					 const ValueRange *keys, size_t n)
{
	ValueRange *ranges;
	SortStatus	status;
	SortError	err;

	job->layout = layout;
	layout->ncolumns = (uint32) rows->ncolumns;
	if (rows->left->n == 0)
		return false;
	job->ranges = ranges = palloc_array(ValueRange, ROWS_MAX_RANGES);
	if (!add_conditions(rows, filter, layout, ranges) || n > ROWS_MAX_RANGES - layout->nranges)
		return false;
	if (n > 0)
	{
		memcpy(ranges + layout->nranges, keys, n * sizeof(ValueRange));
		layout->nranges += (uint32) n;
		layout->filtered = 1;
	}
	layout->key_ranges = (uint32) n;
	status = rows_job_sort(&rows->context, job, &rows->job, &err);
	pfree(ranges);
	if (status != SORT_OK)
		return failed(rows, &err);
	pg_check_interrupts();
	return rows->job != NULL;
}

int64
resident_rows_count_all(const ResidentRows *rows)
{
	int64		nrows = 0;

	for (size_t i = 0; i < rows->left->n; i++)
		nrows += rows->left->rows[i].rows;
	return nrows;
}

bool
resident_rows_sort(ResidentRows *rows, int filter, RowsLayout *layout, int32 lo, int32 hi,
				   const int32 *keys, size_t n)
{
	RowsJob		job = resident_rows_job_of(rows, lo, hi);

	job.keys = keys;
	job.nkeys = n;
	if (!resident_rows_do_job(rows, filter, layout, &job, NULL, 0))
		return false;
	rows->nothers = (int64) n;
	/* What has no key although it was read. */
	if (filter < 0)
		rows->refused = resident_rows_count_all(rows) - (resident_rows_keys(rows) - rows->nothers);
	return true;
}

int64
resident_rows_keys(const ResidentRows *rows)
{
	return (int64) rows->job->keys;
}

bool
resident_rows_look(ResidentRows *rows, SortLook look, const void *questions, size_t n,
				   void *answers)
{
	SortStatus	status;
	SortError	err;

	status = rows->job->device->look_up(rows->job, look, questions, n, answers, &err);
	if (status != SORT_OK)
		return failed(rows, &err);
	pg_check_interrupts();
	return true;
}

void
resident_rows_end(ResidentRows *rows)
{
	if (rows->job)
		rows->job->device->close(rows->job);
	rows->job = NULL;
}

int64
resident_rows_answered(ResidentRows *rows, LeftExtents *left, uint64 *refused)
{
	int64		blocks = 0;

	for (size_t i = 0; i < left->n; i++)
	{
		blocks += resident_blocks_count(&left->valid[i]);
		memset(&left->valid[i], 0, sizeof(left->valid[i]));
		if (rows->found)
		{
			left->valid[i] = rows->found[i].blocks;
			blocks -= resident_blocks_count(&left->valid[i]);
		}
	}
	*refused += (uint64) rows->refused;
	rows->refused = 0;
	return blocks;
}

void
resident_rows_count(ResidentRows *rows, ResidentCounts *counts)
{
	LeftExtents *left = (LeftExtents *) linitial(rows->lists);
	RowsJob		job;
	SortError	err;
	SortStatus	status;

	memset(counts, 0, sizeof(*counts));
	if (left->n == 0)
		return;
	rows->left = left;
	job = resident_rows_job_of(rows, rows->bounds[0].lo, rows->bounds[0].hi);
	status = rows_job_count(&rows->context, &job, &counts->runs, &err);
	if (status != SORT_OK)
	{
		(void) failed(rows, &err);
		counts->runs.len = 0;
		return;
	}
	pg_check_interrupts();
	for (size_t i = 0; i < left->n; i++)
		if (left->rows[i].added)
		{
			counts->blocks += resident_blocks_count(&left->valid[i]);
			counts->values += left->rows[i].rows - left->rows[i].nulls;
			counts->nulls += left->rows[i].nulls;
			memset(&left->valid[i], 0, sizeof(left->valid[i]));
		}
}
