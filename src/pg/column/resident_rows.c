/*
 * resident_rows.c
 *		Rows of resident extents put in order by the GPU (see resident_rows.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/column/list_room.h"
#include "pg/column/resident_gpu.h"
#include "pg/column/resident_rows.h"
#include "pg/compat.h"
#include "pg/interrupts.h"
#include "pg/sort_context.h"
#include "sort/job.h"

struct ResidentRows
{
	SortContext context;
	const ResidentFilter *filter;
	int			ncolumns;
	const SourceColumn *columns;	/* the scan's */

	/* n extents, as they are asked of the device: generations by column */
	uint32	   *numbers;
	SortRows   *rows;
	uint64	   *generations;
	size_t		n;
	size_t		room;
	size_t		next;			/* resident_rows_next */
	int32	   *lo;				/* bounds of all values, by column */
	int32	   *hi;
	bool	   *nulls;

	ExtentCopy	copy;			/* while the GPU is given bytes */
	SortJob    *job;			/* NULL: there is none */
	int64		nothers;		/* keys that are not of rows */
	int64		refused;
};

/* How many different keys there may be at most; 0 if they take more than 32 bits. */
static uint64
count_keys(const ResidentSummary *columns, int nkeys)
{
	const uint64 most = UINT64CONST(1) << 32;
	uint64		range = 1;
	int			c;

	for (c = 0; c < nkeys; c++)
	{
		uint64		values = 1;

		/* A NULL has a place, too. */
		if (columns[c].lo <= columns[c].hi)
			values = (uint64) ((int64) columns[c].hi - columns[c].lo) + 2;
		if (values > most / range)
			return 0;
		range *= values;
	}
	return range;
}

/*
 * Rows of one column, of which there are so many for each different value, are counted (resident_gpu.h), and the counts come
 * to the CPU: that reads values alone, where rows are written as keys and put in order.  Percentiles of 1e9 rows take 8 ms counted
 * and 30 in order, count(DISTINCT) of 1e7 rows of 1,000 values 0.5 and 1.0 (H100).  Where exactly counting stops paying has not been measured.
 */
#define ROWS_OF_COUNTED 2500

bool
resident_rows_are_counted(const ResidentSummary *column)
{
	return column->lo <= column->hi &&
		((double) column->hi - column->lo + 1) * ROWS_OF_COUNTED <= (double) column->rows;
}

bool
resident_rows_pay(const ResidentSummary *columns, int ncolumns, int nkeys)
{
	uint64		range = count_keys(columns, nkeys);
	SortContext context;
	int64		rows = PG_INT64_MAX;
	bool		pays;
	int			c;

	if (ncolumns == 0 || ncolumns > ROWS_MAX_COLUMNS || range == 0)
		return false;
	for (c = 0; c < ncolumns; c++)
		rows = Min(rows, columns[c].rows);
	if (rows <= 0)
		return false;
	pg_sort_context_lenient(&context, CurrentMemoryContext, true);
	pays = rows_job_pays(&context, (uint64) rows, ncolumns, range);
	pg_check_interrupts();
	return pays;
}

/* Lists with rows->room, in one piece of memory. */
static void
make_lists(ResidentRows *rows)
{
	size_t		generations = rows->room * rows->ncolumns;

	rows->generations = list_room_take(rows->copy.memory, generations * sizeof(uint64) +
									   rows->room * (sizeof(SortRows) + sizeof(uint32)));
	rows->rows = (SortRows *) (rows->generations + generations);
	rows->numbers = (uint32 *) (rows->rows + rows->room);
}

static void
grow_lists(ResidentRows *rows)
{
	const uint64 *generations = rows->generations;
	const SortRows *list = rows->rows;
	const uint32 *numbers = rows->numbers;

	rows->room *= 2;
	make_lists(rows);
	memcpy(rows->generations, generations, rows->n * rows->ncolumns * sizeof(uint64));
	memcpy(rows->rows, list, rows->n * sizeof(SortRows));
	memcpy(rows->numbers, numbers, rows->n * sizeof(uint32));
}

ResidentRows *
resident_rows_make(const ResidentSummary *columns, int ncolumns, int nkeys, const ResidentFilter *filter, size_t room)
{
	ResidentRows *rows;
	int			c;

	if (!resident_rows_pay(columns, ncolumns, nkeys))
		return NULL;
	rows = palloc0_object(ResidentRows);
	rows->copy.memory = CurrentMemoryContext;
	pg_sort_context_lenient(&rows->context, CurrentMemoryContext, true);
	rows->filter = filter;
	rows->ncolumns = ncolumns;
	rows->room = room;
	make_lists(rows);
	rows->lo = palloc_array(int32, ncolumns);
	rows->hi = palloc_array(int32, ncolumns);
	rows->nulls = palloc0_array(bool, ncolumns);
	for (c = 0; c < ncolumns; c++)
	{
		rows->lo[c] = PG_INT32_MAX;
		rows->hi[c] = PG_INT32_MIN;
	}
	return rows;
}

/* Whether a condition accepts no row of an extent, by its bounds. */
static bool
refuses_extent(const ResidentExtent *extent, const ValueRange *ranges, size_t nranges, bool nulls)
{
	int64		last = (int64) extent->base + extent->top;
	size_t		i;

	if (nulls && extent->nulls > 0)
		return false;
	for (i = 0; i < nranges && extent->nulls < extent->rows; i++)
		if (ranges[i].hi >= extent->base && ranges[i].lo <= last)
			return false;
	return true;
}

/* Whether bounds alone say that no row of an extent passes, of which all blocks are valid; *refused grows by its rows then. */
static bool
is_refused(const ResidentRows *rows, const SourceColumn *columns, uint32 number, const ResidentBlocks *valid,
		   uint64 *refused)
{
	const ValueRange *ranges;
	size_t		nranges;
	bool		nulls;
	int			c;

	if (rows->filter == NULL || resident_blocks_count(valid) < RESIDENT_EXTENT_BLOCKS)
		return false;
	for (c = 0; c < rows->ncolumns; c++)
	{
		const ResidentExtent *extent = &columns[c].reader.extents[number % VISIBILITY_EXTENTS];

		if (resident_filter_condition(rows->filter, c, &ranges, &nranges, &nulls) &&
			refuses_extent(extent, ranges, nranges, nulls))
		{
			*refused += extent->rows;
			return true;
		}
	}
	return false;
}

bool
resident_rows_add(ResidentRows *rows, const SourceColumn *columns, uint32 number, const ResidentBlocks *valid,
				  uint64 *refused)
{
	int			c;

	if (is_refused(rows, columns, number, valid, refused))
		return false;
	if (rows->n == rows->room)
		grow_lists(rows);
	for (c = 0; c < rows->ncolumns; c++)
	{
		const ResidentExtent *extent = &columns[c].reader.extents[number % VISIBILITY_EXTENTS];

		rows->generations[rows->n * rows->ncolumns + c] = extent->generation;
		rows->nulls[c] |= extent->nulls > 0;
		if (extent->nulls == extent->rows)
			continue;
		rows->lo[c] = Min(rows->lo[c], extent->base);
		rows->hi[c] = (int32) Max((int64) rows->hi[c], (int64) extent->base + extent->top);
	}
	rows->numbers[rows->n] = number;
	rows->rows[rows->n] = (SortRows) {.blocks = {valid->words[0], valid->words[1]}};
	rows->columns = columns;
	rows->n++;
	return true;
}

void
resident_rows_bounds(const ResidentRows *rows, int c, int32 *lo, int32 *hi, bool *nulls)
{
	const ValueRange *ranges;
	size_t		nranges;
	bool		pass;

	*lo = rows->lo[c];
	*hi = rows->hi[c];
	*nulls = rows->nulls[c];
	if (rows->filter == NULL || !resident_filter_condition(rows->filter, c, &ranges, &nranges, &pass))
		return;
	*nulls = *nulls && pass;
	if (nranges == 0)
	{
		*lo = PG_INT32_MAX;
		*hi = PG_INT32_MIN;
		return;
	}
	*lo = Max(*lo, ranges[0].lo);
	*hi = Min(*hi, ranges[nranges - 1].hi);
}

/* An ExtentFetch: a copy of an extent, unless it has been given up. */
static bool
fetch_extent(void *arg, size_t i, const void **bytes, size_t *size)
{
	ResidentRows *rows = (ResidentRows *) arg;

	return extent_copy(&rows->copy, &rows->columns[i % rows->ncolumns].reader.key,
					   rows->numbers[i / rows->ncolumns], rows->generations[i], bytes, size);
}

/* Adds the filter's conditions to a layout, and their ranges to ranges; false if there are too many. */
static bool
add_conditions(const ResidentRows *rows, RowsLayout *layout, ValueRange *ranges)
{
	int			c;

	layout->nranges = 0;
	layout->filtered = 0;
	for (c = 0; c < rows->ncolumns; c++)
	{
		RowsColumn *column = &layout->columns[c];
		const ValueRange *own;
		size_t		n;
		bool		nulls;

		if (rows->filter == NULL || !resident_filter_condition(rows->filter, c, &own, &n, &nulls))
			continue;
		if (n > ROWS_MAX_RANGES - layout->nranges)
			return false;
		column->flags |= ROWS_FILTERED | (nulls ? ROWS_NULLS_PASS : 0);
		column->first_range = layout->nranges;
		column->nranges = (uint32) n;
		memcpy(ranges + layout->nranges, own, n * sizeof(ValueRange));
		layout->nranges += (uint32) n;
		layout->filtered = 1;
	}
	return true;
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
resident_rows_sort(ResidentRows *rows, RowsLayout *layout, int32 lo, int32 hi, const int32 *keys, size_t n)
{
	ValueRange	ranges[ROWS_MAX_RANGES];
	RowsJob		job = {
		.layout = layout,
		.ranges = ranges,
		.lo = lo,
		.hi = hi,
		.keys = keys,
		.nkeys = n,
		.rows = rows->rows,
		.generations = rows->generations,
		.n = rows->n,
		.fetch = fetch_extent,
		.arg = rows
	};
	SortStatus	status;
	SortError	err;
	int64		nrows = 0;
	size_t		i;

	layout->ncolumns = (uint32) rows->ncolumns;
	if (rows->n == 0 || !add_conditions(rows, layout, ranges))
		return false;
	status = rows_job_sort(&rows->context, &job, &rows->job, &err);
	if (status != SORT_OK)
		return failed(rows, &err);
	pg_check_interrupts();
	if (rows->job == NULL)
		return false;
	for (i = 0; i < rows->n; i++)
		nrows += rows->rows[i].rows;
	rows->nothers = (int64) n;
	rows->refused = nrows - (resident_rows_keys(rows) - rows->nothers);
	return true;
}

int64
resident_rows_keys(const ResidentRows *rows)
{
	return (int64) rows->job->keys;
}

bool
resident_rows_look(ResidentRows *rows, SortLook look, const void *questions, size_t n, void *answers)
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
resident_rows_blocks(const ResidentRows *rows)
{
	int64		blocks = 0;
	size_t		i;

	for (i = 0; i < rows->n; i++)
	{
		const ResidentBlocks valid = {{rows->rows[i].blocks[0], rows->rows[i].blocks[1]}};

		blocks += resident_blocks_count(&valid);
	}
	return blocks;
}

int64
resident_rows_refused(const ResidentRows *rows)
{
	return rows->refused;
}

bool
resident_rows_next(ResidentRows *rows, SourceColumn *columns, uint32 *number, ResidentBlocks *valid)
{
	int			c;

	if (rows->next == rows->n)
		return false;
	*number = rows->numbers[rows->next];
	memcpy(valid->words, rows->rows[rows->next].blocks, sizeof(valid->words));
	for (c = 0; c < rows->ncolumns; c++)
		extent_reader_look_again(&columns[c].reader, *number, rows->generations[rows->next * rows->ncolumns + c]);
	rows->next++;
	return true;
}
