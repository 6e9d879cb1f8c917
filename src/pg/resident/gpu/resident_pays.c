/*
 * resident_pays.c
 *		Whether the GPU pays for rows of resident extents (see resident_pays.h).
 */
#include "postgres.h"

#include "common/int.h"
#include "executor/nodeHash.h"

#include "pg/guc.h"
#include "pg/interrupts.h"
#include "pg/resident/gpu/resident_pays.h"
#include "sort/rows/rows_job.h"

/*
 * Returns how many different keys of nkeys columns a job may have at most: the product of the
 * numbers of places between each column's bounds, of values of the widest column alone, and not of
 * columns of which it is not known yet what a map says.  0 if keys take more than 32 bits.
 */
static uint64
count_keys(const ResidentSummary *columns, int nkeys, const ResidentJobs *jobs)
{
	const uint64 most = UINT64CONST(1) << 32;
	uint64		range = 1;
	uint64		widest = 1;

	for (int c = 0; c < nkeys; c++)
	{
		uint64		places = 1;

		/* A NULL has a place, too. */
		if (columns[c].lo <= columns[c].hi)
			places = (uint64) (columns[c].hi - columns[c].lo) + 2;
		if (bms_is_member(c, jobs->mapped))
			continue;
		if (bms_is_member(c, jobs->values))
			widest = Max(widest, places);
		else if (places > most / range)
			return 0;
		else
			range *= places;
	}
	return widest > most / range ? 0 : range * widest;
}

/*
 * With this many rows of one column for each different value, or more, the GPU counts the rows,
 * and the counts come to the CPU.  Counting only reads values; sorting writes rows as keys, and
 * puts these in order.  Percentiles of 1e9 rows take 8 ms counted and 30 in order,
 * count(DISTINCT) of 1e7 rows of 1,000 values 0.5 and 1.0 (H100).  Where exactly counting stops
 * paying has not been measured.
 */
#define ROWS_OF_COUNTED 2500

bool
resident_rows_are_counted(const ResidentSummary *column)
{
	return column->lo <= column->hi &&
		((double) column->hi - column->lo + 1) * ROWS_OF_COUNTED <= (double) column->rows;
}

bool
resident_tables_add(ResidentTables *tables, const ResidentSummary *columns, int n,
					BlockNumber nblocks)
{
	if (n > ROWS_MAX_COLUMNS || (tables->ncolumns > 0 && n != tables->ncolumns))
		return false;
	for (int c = 0; c < n; c++)
	{
		ResidentSummary *all = &tables->columns[c];

		if (tables->ncolumns == 0)
			*all = (ResidentSummary)
		{
			.lo = PG_INT64_MAX,.hi = PG_INT64_MIN
		};
		all->rows += columns[c].rows;
		if (columns[c].lo > columns[c].hi)
			continue;
		all->lo = Min(all->lo, columns[c].lo);
		all->hi = Max(all->hi, columns[c].hi);
	}
	tables->ncolumns = n;
	tables->stripes += resident_pays_stripes(nblocks);
	return true;
}

int64
resident_pays_origin(const ResidentSummary *column)
{
	if (column->lo > column->hi || (column->lo >= PG_INT32_MIN && column->hi <= PG_INT32_MAX))
		return 0;
	return column->lo + (int64) (((uint64) column->hi - (uint64) column->lo) / 2);
}

bool
resident_pays_near(int64 lo, int64 hi, int64 origin)
{
	return !pg_sub_s64_overflow(lo, origin, &lo) && !pg_sub_s64_overflow(hi, origin, &hi) &&
		lo >= PG_INT32_MIN && hi <= PG_INT32_MAX;
}

/*
 * With this many rows for each value between the bounds of mapped columns, or more, maps pay: they
 * are made for each execution, in 0.28 us a value of 100,000 with a text.  With 3 rows a value the
 * CPU is faster; with 10 both take about the same time; with 30 the GPU is 1.4 to 2.2 times as fast
 * (H200, bench/results/2026-11-29-h200-star-joins.csv).
 */
#define ROWS_OF_MAPPED 30

/* Whether the maps of columns fit into layouts, and pay for so many rows; forced: pay anyway. */
static bool
maps_pay(const ResidentSummary *columns, const Bitmapset *mapped, int64 rows, bool forced)
{
	int64		values = 0;
	int			c = -1;

	while ((c = bms_next_member(mapped, c)) >= 0)
	{
		int64		n = columns[c].lo <= columns[c].hi ? columns[c].hi - columns[c].lo + 1 : 0;

		if (n > RESIDENT_MAP_MOST)
			return false;
		values += n;
	}
	return forced || values <= rows / ROWS_OF_MAPPED;
}

void
resident_pays_context(SortContext *context, bool counted)
{
	if (counted)
		pg_sort_context(context, CurrentMemoryContext);
	else
		pg_sort_context_lenient(context, CurrentMemoryContext, true);
}

uint32
resident_pays_stripe(uint32 number)
{
	uint64		blocks = ((uint64) hpsort_resident_gpu_stripe << 20) / BLCKSZ;

	return (uint32) (number / Max(blocks / RESIDENT_EXTENT_BLOCKS, 1));
}

uint32
resident_pays_stripes(BlockNumber nblocks)
{
	return 1 + resident_pays_stripe(visibility_extent(Max(nblocks, 1) - 1));
}

bool
resident_rows_pay(const ResidentSummary *columns, int ncolumns, int nkeys,
				  const ResidentJobs *jobs, uint32 stripes)
{
	uint64		range;
	SortContext context;
	int64		rows = PG_INT64_MAX;
	bool		pays;

	if (ncolumns == 0 || ncolumns > ROWS_MAX_COLUMNS)
		return false;
	for (int c = 0; c < ncolumns; c++)
		if (columns[c].lo <= columns[c].hi &&
			!resident_pays_near(columns[c].lo, columns[c].hi,
								jobs ? resident_pays_origin(&columns[c]) : 0))
			return false;
	if (jobs && jobs->ngroup > 0)
	{
		range = count_keys(columns, jobs->ngroup, jobs);
		if (range == 0 || range > ROWS_MAX_RANGES)
			return false;
	}
	if (jobs)
		range = count_keys(columns, nkeys, jobs);
	else
		range = columns->lo <= columns->hi ?
			plan_range((int32) columns->lo, (int32) columns->hi) : 0;
	for (int c = 0; c < ncolumns; c++)
		rows = Min(rows, columns[c].rows);
	if (rows <= 0 || range == 0)
		return false;
	resident_pays_context(&context, jobs == NULL);
	pays = (jobs == NULL || maps_pay(columns, jobs->mapped, rows,
									 context.device == SORT_DEVICE_GPU)) &&
		rows_job_pays(&context, (uint64) rows, ncolumns, range, jobs ? jobs->n : 0,
					  jobs && jobs->ordered, stripes);
	pg_check_interrupts();
	return pays;
}

/*
 * What a further table takes the process that asks the GPU, in rows that memory reads meanwhile:
 * 20 us each, in which one column of so many rows is read (100 tables, 2 columns, a virtual
 * machine, PostgreSQL 17).
 */
#define TABLE_ROWS 5000

bool
resident_tables_pay(const ResidentTables *tables, int nkeys, const ResidentJobs *jobs)
{
	ResidentSummary columns[ROWS_MAX_COLUMNS];
	int64		rows = (int64) tables->ntables * TABLE_ROWS;

	for (int c = 0; c < tables->ncolumns; c++)
	{
		columns[c] = tables->columns[c];
		columns[c].rows = Max(columns[c].rows - rows, Min(columns[c].rows, 1));
	}
	return (Size) tables->ntables * tables->ncolumns * sizeof(SourceColumn) <=
		get_hash_memory_limit() &&
		resident_rows_pay(columns, tables->ncolumns, nkeys, jobs, tables->stripes);
}
