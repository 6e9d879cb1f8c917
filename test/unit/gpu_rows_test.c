/*
 * gpu_rows_test.c
 *		Rows of several columns' extents in the GPU service: their keys by layouts with conditions and NULLs, some
 *		blocks of them and beside plain keys; questions about the sorted keys; jobs that bring what is missing; clients that
 *		break the protocol.
 */
#include "extent_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/client_job.h"
#include "sort/rows/rows_job.h"

#define COLUMNS 4
#define EXTENTS 12
#define RANGES 500

/* An extent of the same blocks of rows as another, with values of its own. */
static void
sample_like(ExtentSample *s, const ExtentSample *of, int64_t base, uint32_t span, int nulls_in)
{
	uint64_t	stamps[MOST_BLOCKS] = {0};
	ExtentRows	rows;
	Extent		header;

	*s = *of;
	s->values = unit_alloc(s->nrows, sizeof(int64_t));
	s->nulls = unit_alloc(s->nrows, 1);
	for (uint32_t i = 0; i < s->nrows; i++)
	{
		s->nulls[i] = nulls_in > 0 && unit_below((uint64_t) nulls_in) == 0;
		s->values[i] = base + (int64_t) unit_below((uint64_t) span + 1);
	}
	rows = (ExtentRows)
	{
		.nblocks = s->nblocks,.stamps = stamps,.counts = s->counts,.values = s->values,.nulls = s->nulls
	};
	extent_plan(&rows, &header);
	s->extent = unit_alloc(header.size, 1);
	extent_write(&rows, &header, s->extent);
}

/* A table: extents of so many columns, and a layout of them. */
typedef struct Table
{
	uint32_t	ncolumns;
	ExtentSample samples[EXTENTS][COLUMNS];
	uint64_t	generations[EXTENTS * COLUMNS];
	RowsLayout	layout;
	ValueRange	ranges[RANGES];
	int32_t		lo;				/* bounds of keys */
	int32_t		hi;
	size_t		nrows;
} Table;

static void
add_condition(Table *t, RowsColumn *column, int32_t base, uint32_t span)
{
	uint32_t	n = (uint32_t) unit_below(unit_below(3) == 0 ? 30 : 4);
	int64_t		at = base;

	column->flags |= ROWS_FILTERED | (unit_below(2) ? ROWS_NULLS_PASS : 0);
	column->first_range = t->layout.nranges;
	t->layout.filtered = 1;
	if (base == 0 && span <= 500 && unit_below(3) > 0)
	{
		/* Perhaps one that has no bits for the largest values. */
		column->flags |= ROWS_MASKED;
		column->nranges = (uint32_t) unit_below(span / ROWS_MASK_VALUES + 2);
		for (uint32_t i = 0; i < column->nranges; i++)
			t->ranges[t->layout.nranges++] = (ValueRange) {(int32_t) unit_random(), (int32_t) unit_random()};
		return;
	}
	for (uint32_t i = 0; i < n && at <= (int64_t) base + span; i++)
	{
		int64_t		lo = at + (int64_t) unit_below(span / n + 2);
		int64_t		hi = lo + (int64_t) unit_below(span / n + 1);

		if (hi > INT32_MAX)
			break;
		t->ranges[t->layout.nranges++] = (ValueRange) {(int32_t) lo, (int32_t) hi};
		at = hi + 1;
	}
	column->nranges = t->layout.nranges - column->first_range;
}

/* A map of the values base .. base + span, of which some do not match, in place of their distances. */
static void
add_map(Table *t, RowsColumn *column, uint64_t range, uint32_t span)
{
	column->flags |= ROWS_FILTERED | ROWS_MAPPED | (unit_below(2) ? ROWS_NULLS_PASS : 0);
	column->first_range = t->layout.nranges;
	column->nranges = span / ROWS_MAP_VALUES + 1;
	t->layout.filtered = 1;
	for (uint32_t i = 0; i < column->nranges * ROWS_MAP_VALUES; i++)
	{
		uint32_t	adds = unit_below(4) == 0 ? ROWS_NO_MATCH : (uint32_t) (unit_below((uint64_t) span + 2) * range);

		*(i % 2 ? &t->ranges[t->layout.nranges].hi : &t->ranges[t->layout.nranges].lo) = (int32_t) adds;
		t->layout.nranges += i % 2;
	}
	/* A map says what values add, whatever the stride is. */
	column->stride = (uint32_t) unit_random();
}

/* Has rows found whose keys are in some ranges between the bounds, which become those of rows' numbers. */
static void
find_keys(Table *t)
{
	uint64_t	range = (uint64_t) ((int64_t) t->hi - t->lo) + 1;
	uint32_t	most = 1 + (uint32_t) unit_below(unit_below(2) ? 3 : 40);
	uint64_t	at = unit_below(2) ? 0 : unit_below(range);

	while (t->layout.key_ranges < most && at < range)
	{
		uint64_t	end = at + unit_below(range / most + 1);

		if (end >= range)
			end = range - 1;
		t->ranges[t->layout.nranges++] = (ValueRange) {(int32_t) (t->lo + (int64_t) at), (int32_t) (t->lo + (int64_t) end)};
		t->layout.key_ranges++;
		at = end + 1 + unit_below(range / most + 1);
	}
	t->layout.filtered = 1;
	t->lo = 0;
	t->hi = (int32_t) t->nrows + 1000;
}

static void
table_make(Table *t, uint32_t ncolumns, uint32_t rows_max, bool filtered, bool find)
{
	static const uint32_t spans[] = {0, 1, 30, 200, 500, 70000};
	uint64_t	range = 1;

	memset(t, 0, sizeof(*t));
	t->ncolumns = t->layout.ncolumns = ncolumns;
	for (uint32_t i = 0; i < EXTENTS; i++)
	{
		extent_sample_make(&t->samples[i][0], 1 + (uint32_t) unit_below(MOST_BLOCKS), rows_max, 10, 0);
		t->nrows += t->samples[i][0].nrows;
	}
	for (uint32_t c = 0; c < ncolumns; c++)
	{
		RowsColumn *column = &t->layout.columns[c];
		uint32_t	span = spans[unit_below(6)];
		static const int32_t bases[] = {INT32_MIN, -20, 0};
		int32_t		base = bases[unit_below(3)];
		int			nulls = (int) unit_below(4);
		bool		down = unit_below(2) == 0;

		column->origin = unit_below(2) ? 0 : (INT64_C(1) << 40) - INT64_C(5) * unit_below(3) * INT32_MAX;
		column->lo = base;
		column->last = span;
		if (range * (span + 2) <= UINT64_C(1) << 32 && unit_below(5) > 0)
		{
			column->flags = ROWS_IN_KEY | ROWS_NULL_IN_KEY;
			column->stride = (uint32_t) (down ? 0 - range : range);
			column->null_adds = (uint32_t) (down ? range : (span + 1) * range);
			/* Small enough for the chunks. */
			if (filtered && span <= 200 && unit_below(3) == 0)
			{
				column->null_adds = (uint32_t) range;
				add_map(t, column, range, span);
			}
			else
				t->layout.base += (uint32_t) (down ? span * range : 0);
			range *= span + 2;
		}
		if (filtered && !(column->flags & ROWS_MAPPED) && (c == 0 || unit_below(2)))
			add_condition(t, column, base, span);
		for (uint32_t i = 0; i < EXTENTS; i++)
		{
			ExtentSample first = t->samples[i][0];

			t->generations[i * ncolumns + c] = 1000 + i * COLUMNS + c;
			sample_like(&t->samples[i][c], &first, column->origin + base, span, nulls);
			if (c == 0)
				extent_sample_free(&first);
		}
	}
	t->lo = unit_below(2) || range > UINT64_C(1) << 31 ? INT32_MIN : -5;
	t->hi = (int32_t) (t->lo + (int64_t) range - 1);
	t->layout.base += (uint32_t) t->lo;
	if (find)
		find_keys(t);
	assert_true(rows_layout_is_sound(&t->layout, t->ranges));
}

static void
table_free(Table *t)
{
	for (uint32_t i = 0; i < EXTENTS; i++)
		for (uint32_t c = 0; c < t->ncolumns; c++)
			extent_sample_free(&t->samples[i][c]);
}

static bool
has_block(const uint64_t *blocks, uint32_t b)
{
	return blocks[b / 64] >> b % 64 & 1;
}

/* What a row of an extent has: its key, if it passes, or number, where rows are found. */
static bool
row_key(const Table *t, uint32_t e, uint32_t row, size_t number, int32_t *out)
{
	bool		found = t->layout.key_ranges == 0;
	uint32_t	key = t->layout.base;
	uint32_t	r;

	for (uint32_t c = 0; c < t->ncolumns; c++)
	{
		const RowsColumn *column = &t->layout.columns[c];
		bool		isnull = t->samples[e][c].nulls[row];
		int64_t		value = t->samples[e][c].values[row] - column->origin;
		bool		in = false;
		uint32_t	adds = (uint32_t) (value - column->lo) * column->stride;

		if ((column->flags & ROWS_MASKED) && value / ROWS_MASK_VALUES < column->nranges)
		{
			const ValueRange *bits = &t->ranges[column->first_range + value / ROWS_MASK_VALUES];

			in = (uint32_t) (value % ROWS_MASK_VALUES < 32 ? bits->lo : bits->hi) >> value % 32 & 1;
		}
		if (column->flags & ROWS_MAPPED)
		{
			uint32_t	place = (uint32_t) (value - column->lo);

			adds = (uint32_t) (place % 2 ? t->ranges[column->first_range + place / 2].hi : t->ranges[column->first_range + place / 2].lo);
			in = adds != ROWS_NO_MATCH;
		}
		for (r = column->first_range; !(column->flags & (ROWS_MASKED | ROWS_MAPPED)) && r < column->first_range + column->nranges; r++)
			in = in || (value >= t->ranges[r].lo && value <= t->ranges[r].hi);
		if ((column->flags & ROWS_FILTERED) && !(isnull ? (column->flags & ROWS_NULLS_PASS) != 0 : in))
			return false;
		if (column->flags & ROWS_IN_KEY)
			key += isnull ? column->null_adds : adds;
	}
	for (r = t->layout.nranges - t->layout.key_ranges; r < t->layout.nranges; r++)
		found = found || ((int32_t) key >= t->ranges[r].lo && (int32_t) key <= t->ranges[r].hi);
	*out = (int32_t) (t->layout.key_ranges > 0 ? number : key);
	return found;
}

/* Appends the keys of blocks of an extent, whose first row has a number, to keys; returns how many, and *nrows. */
static size_t
table_keys(const Table *t, uint32_t e, const uint64_t *blocks, size_t number, int32_t *keys, uint32_t *nrows)
{
	const ExtentSample *first = &t->samples[e][0];
	uint32_t	row = 0;
	size_t		n = 0;

	*nrows = 0;
	for (uint32_t b = 0; b < first->nblocks; b++)
		for (uint32_t i = 0; i < first->counts[b]; i++, row++)
		{
			if (!has_block(blocks, b))
				continue;
			n += row_key(t, e, row, number + (*nrows)++, &keys[n]);
		}
	return n;
}

static SortJob *
open_rows(GpuUnit *u, const Table *t)
{
	SortJobSpec spec = {.want = SORT_WANT_RUNS,.lo = t->lo,.hi = t->hi,.look_up = true};
	SortJob    *job;
	SortError	err;

	assert_sort_ok(gpu_client_device.open(&u->unit.context, &spec, &job, &err), err);
	return job;
}

/* Asks, now and then in two steps, of which the first one sends what fits into a chunk. */
static SortStatus
look_up(SortJob *job, SortLook look, const void *questions, size_t n, void *answers, SortError *err)
{
	bool		begun;

	if (n > 0 && unit_below(2) > 0)
		assert_sort_ok(gpu_client_device.begin_look(job, look, questions, n, &begun, err), *err);
	return gpu_client_device.look_up(job, look, questions, n, answers, err);
}

/* Asks a finished job of a layout with a grain where groups of keys begin, and for the sums of keys there. */
static void
check_grains(SortJob *job, const int32_t *keys, size_t n, int32_t lo, uint32_t grain)
{
	int32_t    *asked = unit_alloc(n + 1, sizeof(int32_t));
	uint64_t   *below = unit_alloc(n + 1, sizeof(uint64_t));
	uint64_t   *sums = unit_alloc(n + 1, sizeof(uint64_t));
	size_t		ngroups = 0;
	uint64_t	sum = 0;
	size_t		g = 0;
	SortError	err;

	for (size_t i = 0; i < n; i++)
		if (i == 0 || ((uint32_t) keys[i] - (uint32_t) lo) >> grain != ((uint32_t) keys[i - 1] - (uint32_t) lo) >> grain)
			asked[ngroups++] = (int32_t) ((((uint32_t) keys[i] - (uint32_t) lo) >> grain << grain) + (uint32_t) lo);
	if (n > 0)
		assert_sort_ok(look_up(job, SORT_LOOK_BELOW, asked, ngroups, below, &err), err);
	below[ngroups] = n;
	assert_sort_ok(look_up(job, SORT_LOOK_SUM, below, ngroups + 1, sums, &err), err);
	for (size_t i = 0; i <= n; i++)
	{
		if (g <= ngroups && i == below[g])
			assert_int_equal(sums[g++], sum);
		if (i < n)
			sum += (uint64_t) (int64_t) keys[i];
	}
	assert_int_equal(g, ngroups + 1);
	free(asked);
	free(below);
	free(sums);
}

/* Asks a finished job about keys that are these; with a grain, about the groups above lo. */
static void
check_looks(SortJob *job, int32_t *keys, size_t n, int32_t lo, uint32_t grain)
{
	enum
	{
		QUESTIONS = 1500
	};
	uint64_t	positions[QUESTIONS];
	int32_t		found[QUESTIONS];
	int32_t		others[QUESTIONS];
	uint64_t	below[QUESTIONS];
	uint64_t	distinct = 0;
	uint64_t   *before;
	SortError	err;
	size_t		different = 0;

	assert_int_equal(job->keys, n);
	unit_sort(keys, n, false);
	if (grain > 0)
	{
		check_grains(job, keys, n, lo, grain);
		return;
	}
	for (size_t i = 0; i < QUESTIONS; i++)
	{
		positions[i] = n > 0 ? unit_below(n) : 0;
		others[i] = n > 0 && i % 3 ? keys[unit_below(n)] : (int32_t) unit_random();
	}
	if (n > 0)
	{
		assert_sort_ok(look_up(job, SORT_LOOK_AT, positions, QUESTIONS, found, &err), err);
		for (size_t i = 0; i < QUESTIONS; i++)
			assert_int_equal(found[i], keys[positions[i]]);
	}
	assert_sort_ok(look_up(job, SORT_LOOK_BELOW, others, QUESTIONS, below, &err), err);
	for (size_t i = 0; i < QUESTIONS; i++)
	{
		assert_true(below[i] <= n);
		assert_true(below[i] == 0 || keys[below[i] - 1] < others[i]);
		assert_true(below[i] == n || keys[below[i]] >= others[i]);
	}
	for (size_t i = 0; i < n; i++)
		different += i == 0 || keys[i] != keys[i - 1];
	assert_sort_ok(look_up(job, SORT_LOOK_DISTINCT, others, 1, &distinct, &err), err);
	assert_int_equal(distinct, different);

	positions[0] = n;
	assert_sort_ok(look_up(job, SORT_LOOK_SUM, positions, QUESTIONS, below, &err), err);
	before = calloc(n + 1, sizeof(uint64_t));
	for (size_t i = 0; i < n; i++)
		before[i + 1] = before[i] + (uint64_t) (int64_t) keys[i];
	for (size_t i = 0; i < QUESTIONS; i++)
		assert_int_equal(below[i], before[positions[i]]);
	free(before);
}

/* All or some blocks of all extents, of which some were not kept; behind plain keys. */
static void
check_ways(const char *const *args, uint32_t rows_max)
{
	const SortDevice *d = &gpu_client_device;
	GpuService	s;
	GpuUnit		u;
	Table		t;
	SortRows	rows[EXTENTS];
	int32_t    *keys;
	SortError	err;

	gpu_service_start(&s, args);
	for (int round = 0; round < 30; round++)
	{
		SortJob    *job;
		bool		kept[EXTENTS][COLUMNS];
		size_t		number;
		size_t		n;

		extents_connect(&u, &s, EPOCH + (uint64_t) round);
		table_make(&t, 1 + (uint32_t) round % COLUMNS, rows_max, round / COLUMNS % 2, round / COLUMNS % 4 > 1);
		t.layout.grain = round % 3 == 0 && t.layout.key_ranges == 0 ? (uint32_t) unit_below(32) : 0;
		keys = unit_alloc(t.nrows + 1000, sizeof(int32_t));
		job = open_rows(&u, &t);
		for (n = 0; n < (size_t) round * 30 % 900; n++)
			keys[n] = (int32_t) (t.lo + (int64_t) unit_below((uint64_t) ((int64_t) t.hi - t.lo) + 1));
		if (n > 0)
			assert_sort_ok(d->add(job, keys, n, &err), err);
		assert_sort_ok(d->set_rows(job, &t.layout, t.ranges, &err), err);
		assert_int_not_equal(d->add(job, keys, 1, &err), SORT_OK);
		for (uint32_t i = 0; i < EXTENTS; i++)
		{
			for (uint32_t c = 0; c < t.ncolumns; c++)
			{
				ExtentBlocks	all;

				kept[i][c] = unit_below(10) > 0;
				if (kept[i][c])
					extents_keep(job, t.generations[i * t.ncolumns + c], &t.samples[i][c]);
				if (round % 3)
					extent_sample_some(&t.samples[i][0], &all);
				else
					extent_sample_all(&t.samples[i][0], &all);
				memcpy(rows[i].blocks, all.blocks, sizeof(all.blocks));
			}
		}
		assert_sort_ok(d->add_rows(job, rows, t.generations, EXTENTS, &err), err);
		number = n;
		for (uint32_t i = 0; i < EXTENTS; i++)
		{
			uint32_t	nrows;
			uint32_t	missing = 0;

			for (uint32_t c = 0; c < t.ncolumns; c++)
				if (!kept[i][c])
					missing |= UINT32_C(1) << c;
			assert_int_equal(rows[i].missing, missing);
			assert_int_equal(rows[i].added, missing == 0);
			if (missing == 0)
				n += table_keys(&t, i, rows[i].blocks, number, keys + n, &nrows);
			number += rows[i].rows;
			assert_int_equal(rows[i].rows, missing == 0 ? nrows : 0);
		}
		assert_sort_ok(d->finish(job, &err), err);
		check_looks(job, keys, n, t.lo, t.layout.grain);
		d->close(job);
		free(keys);
		table_free(&t);
		gpu_unit_disconnect(&u);
	}
	gpu_service_stop(&s);
}

static void
test_ways(void **state)
{
	static const char *const small_chunks[] = {"--chunk", "4096", NULL};
	static const char *const one_chunk[] = {"--chunk", "4096", "--pinned-memory", "4096", NULL};

	(void) state;
	check_ways(NULL, 200);
	check_ways(small_chunks, 3);
	check_ways(one_chunk, 3);
}

/* ------------------------------------------------------------------------
 * Whole jobs
 * ------------------------------------------------------------------------
 */

static bool gone;

static bool
fetch(void *arg, size_t i, const void **bytes, size_t *size)
{
	const Table *t = arg;
	const ExtentSample *sample = &t->samples[i / t->ncolumns][i % t->ncolumns];

	*bytes = sample->extent;
	*size = sample->extent->size;
	return !gone;
}

static void
test_jobs(void **state)
{
	static const char *const little[] = {"--resident-memory", "20000", NULL};

	(void) state;
	for (int way = 0; way < 6; way++)
	{
			GpuService	s;
		GpuUnit		u;
		Table		t;
		SortRows	rows[EXTENTS];
		RowsJob		job;
		SortJob    *sorted;
		int32_t    *keys;
		SortError	err;

		gpu_service_start(&s, way == 3 ? little : NULL);
		extents_connect(&u, &s, EPOCH);
		table_make(&t, 1 + (uint32_t) way % COLUMNS, 200, way % 2, false);
		keys = unit_alloc(t.nrows + 100, sizeof(int32_t));
		assert_non_null(u.unit.context.gpu);
		gone = way == 4;
		for (int round = 0; round < 3; round++)
		{
			size_t		n = 0;

			for (uint32_t i = 0; i < EXTENTS; i++)
			{
				ExtentBlocks	some;

				extent_sample_some(&t.samples[i][0], &some);
				memcpy(rows[i].blocks, some.blocks, sizeof(some.blocks));
			}
			for (; n < 50; n++)
				keys[n] = (int32_t) (t.lo + (int64_t) unit_below((uint64_t) ((int64_t) t.hi - t.lo) + 1));
			job = (RowsJob)
			{
				.layout = &t.layout,.ranges = t.ranges,.lo = t.lo,.hi = t.hi,.keys = keys,.nkeys = n,.rows = rows,
				.generations = t.generations,.n = EXTENTS,.fetch = fetch,.arg = &t
			};
			assert_sort_ok(rows_job_sort(&u.unit.context, &job, &sorted, &err), err);
			/* without room for all, or without their bytes, there is no job */
			assert_int_equal(sorted == NULL, way == 3 || way == 4);
			if (sorted == NULL)
				continue;
			for (uint32_t i = 0; i < EXTENTS; i++)
			{
				uint32_t	nrows;

				assert_true(rows[i].added);
				n += table_keys(&t, i, rows[i].blocks, 0, keys + n, &nrows);
			}
			check_looks(sorted, keys, n, t.lo, 0);
			sorted->device->close(sorted);
			if (way == 5)
				assert_true(extents_status_of(&u).extents > 0);
		}
		free(keys);
		table_free(&t);
		gpu_unit_disconnect(&u);
		gpu_service_stop(&s);
	}
}

/* Values that the layout does not expect fail the job, unless their rows do not pass. */
static void
test_bounds(void **state)
{
	const SortDevice *d = &gpu_client_device;
	GpuService	s;
	GpuUnit		u;

	(void) state;
	gpu_service_start(&s, NULL);
	for (int way = 0; way < 4; way++)
	{
		Table		t;
		SortRows	rows[EXTENTS];
		SortJob    *job;
		ExtentBlocks	all;
		SortError	err;
		SortStatus	status;

		extents_connect(&u, &s, EPOCH + (uint64_t) way);
		table_make(&t, 1, 200, false, false);
		/* One whose values do not happen to be few and near each other. */
		do
		{
			extent_sample_free(&t.samples[0][0]);
			extent_sample_make(&t.samples[0][0], 3, 200, 1000, 0);
		} while (t.samples[0][0].extent->top <= 10);
		t.layout.columns[0] = (RowsColumn) {.lo = (int32_t) t.samples[0][0].extent->base,.last = 10,.stride = 1,.flags = ROWS_IN_KEY};
		t.layout.base = 0;
		t.lo = 0;
		t.hi = 100;
		t.ranges[0] = (ValueRange) {(int32_t) t.samples[0][0].extent->base, (int32_t) t.samples[0][0].extent->base + 10};
		if (way == 1)
		{
			t.layout.filtered = t.layout.nranges = t.layout.columns[0].nranges = 1;
			t.layout.columns[0].flags |= ROWS_FILTERED;
		}
		/* A map that has not all values, and one that has, none of which matches. */
		if (way >= 2)
		{
			t.layout.columns[0].last = way == 2 ? 10 : t.samples[0][0].extent->top;
			if (t.layout.columns[0].last >= 2 * RANGES)
				t.layout.columns[0].last = 2 * RANGES - 1;
			t.layout.filtered = 1;
			t.layout.nranges = t.layout.columns[0].nranges = t.layout.columns[0].last / ROWS_MAP_VALUES + 1;
			t.layout.columns[0].flags |= ROWS_FILTERED | ROWS_MAPPED;
			memset(t.ranges, way == 2 ? 0 : 0xFF, sizeof(t.ranges));
		}
		job = open_rows(&u, &t);
		assert_sort_ok(d->set_rows(job, &t.layout, t.ranges, &err), err);
		extents_keep(job, t.generations[0], &t.samples[0][0]);
		extent_sample_all(&t.samples[0][0], &all);
		memcpy(rows[0].blocks, all.blocks, sizeof(all.blocks));
		status = d->add_rows(job, rows, t.generations, 1, &err);
		if (status == SORT_OK)
			status = d->finish(job, &err);
		assert_int_equal(status, way == 1 || (way == 3 && t.layout.columns[0].last == t.samples[0][0].extent->top) ? SORT_OK :
						 SORT_KEY_OUT_OF_BOUNDS);
		if (way == 3 && status == SORT_OK)
			assert_int_equal(job->keys, 0);
		d->close(job);
		table_free(&t);
		gpu_unit_disconnect(&u);
	}
	gpu_service_stop(&s);
}

/* ------------------------------------------------------------------------
 * Columns whose blocks do not have the same rows
 * ------------------------------------------------------------------------
 */

/* An extent of other values; block odd has more rows (-1: none has), and there are nblocks blocks. */
static void
sample_unlike(ExtentSample *s, const ExtentSample *of, uint32_t nblocks, int odd)
{
	ExtentSample shape = *of;

	shape.nblocks = nblocks;
	for (uint32_t b = of->nblocks; b < nblocks; b++)
		shape.counts[b] = (uint32_t) unit_below(4);
	if (odd >= 0)
		shape.counts[odd] += 1 + (uint32_t) unit_below(3);
	shape.nrows = 0;
	for (uint32_t b = 0; b < nblocks; b++)
		shape.nrows += shape.counts[b];
	sample_like(s, &shape, 0, 99, 0);
}

/* Of two columns of values up to 99: 100 a + b. */
static const RowsLayout pair_layout = {
	.ncolumns = 2,
	.columns = {{.last = 99,.stride = 100,.flags = ROWS_IN_KEY}, {.last = 99,.stride = 1,.flags = ROWS_IN_KEY}}
};

static SortJob *
open_pair(GpuUnit *u)
{
	SortJobSpec spec = {.want = SORT_WANT_RUNS,.lo = 0,.hi = 9999,.look_up = true};
	SortJob    *job;
	SortError	err;

	assert_sort_ok(gpu_client_device.open(&u->unit.context, &spec, &job, &err), err);
	return job;
}

/* Appends the keys 100 a + b of the blocks of two samples to keys; false if they do not have as many rows. */
static bool
pair_keys(const ExtentSample *a, const ExtentSample *b, const uint64_t *blocks, int32_t *keys, size_t *n)
{
	uint32_t	in_a = 0;
	uint32_t	in_b = 0;

	for (uint32_t block = 0; block < a->nblocks; block++)
	{
		uint32_t	other = block < b->nblocks ? b->counts[block] : 0;

		if (has_block(blocks, block) && (block >= b->nblocks || other != a->counts[block]))
			return false;
		for (uint32_t i = 0; i < a->counts[block] && has_block(blocks, block); i++)
			keys[(*n)++] = (int32_t) (100 * a->values[in_a + i] + b->values[in_b + i]);
		in_a += a->counts[block];
		in_b += other;
	}
	return true;
}

/*
 * Extents of one epoch, of which some have the same blocks, one has a block with more rows and others have fewer blocks or more: by pairs in
 * any order, so that the service has compared some of them before.
 */
static void
test_alignment(void **state)
{
	enum
	{
		SAMPLES = 8
	};
	const SortDevice *d = &gpu_client_device;
	GpuService	s;
	int			refused = 0;
	int			added = 0;

	(void) state;
	gpu_service_start(&s, NULL);
	for (int round = 0; round < 20; round++)
	{
		ExtentSample samples[SAMPLES];
		GpuUnit		u;
		uint32_t	nblocks = 2 + (uint32_t) unit_below(MOST_BLOCKS - 3);
		int32_t    *keys;

		extents_connect(&u, &s, EPOCH + (uint64_t) round);
		extent_sample_make(&samples[0], nblocks, 50, 99, 0);
		for (int i = 1; i < SAMPLES; i++)
			sample_unlike(&samples[i], &samples[0], i == 7 ? 1 : nblocks + (i == 4) - (i == 5),
						  i == 3 || i == 6 ? (int) unit_below(nblocks) : -1);
		extent_sample_free(&samples[0]);
		sample_unlike(&samples[0], &samples[1], nblocks, -1);
		keys = unit_alloc(samples[0].nrows + 1000, sizeof(int32_t));
		for (int i = 0; i < 40; i++)
		{
			int			pair[] = {(int) unit_below(SAMPLES), (int) unit_below(SAMPLES)};
			uint64_t	generations[] = {1 + (uint64_t) pair[0], 1 + (uint64_t) pair[1]};
			SortRows	rows = {0};
			ExtentBlocks	some;
			SortJob    *job = open_pair(&u);
			SortError	err;
			size_t		n = 0;
			bool		aligned;

			for (int c = 0; c < 2; c++)
				extents_keep(job, generations[c], &samples[pair[c]]);
			if (unit_below(2) == 0)
				extent_sample_all(&samples[pair[0]], &some);
			else
				extent_sample_some(&samples[pair[0]], &some);
			memcpy(rows.blocks, some.blocks, sizeof(rows.blocks));
			/* A block that the second column has not cannot be named. */
			for (int c = (int) samples[pair[1]].nblocks; c < MOST_BLOCKS; c++)
				rows.blocks[c / 64] &= ~(UINT64_C(1) << c % 64);
			assert_sort_ok(d->set_rows(job, &pair_layout, NULL, &err), err);
			assert_sort_ok(d->add_rows(job, &rows, generations, 1, &err), err);
			aligned = pair_keys(&samples[pair[0]], &samples[pair[1]], rows.blocks, keys, &n);
			assert_int_equal(rows.added, aligned);
			assert_int_equal(rows.missing, aligned ? 0 : UINT32_MAX);
			assert_sort_ok(d->finish(job, &err), err);
			check_looks(job, keys, aligned ? n : 0, 0, 0);
			d->close(job);
			added += aligned;
			refused += !aligned;
		}
		assert_int_equal(extents_status_of(&u).last_error[0], 0);
		free(keys);
		for (int i = 0; i < SAMPLES; i++)
			extent_sample_free(&samples[i]);
		gpu_unit_disconnect(&u);
	}
	assert_true(added > 50 && refused > 50);
	gpu_service_stop(&s);
}

/* Asks for rows of two generations; returns what is missing. */
static uint32_t
ask_for_pair(SortJob *job, const ExtentSample *first, uint64_t a, uint64_t b)
{
	const uint64_t generations[] = {a, b};
	SortRows	rows = {0};
	ExtentBlocks	all;
	SortError	err;

	extent_sample_all(first, &all);
	memcpy(rows.blocks, all.blocks, sizeof(rows.blocks));
	assert_sort_ok(gpu_client_device.set_rows(job, &pair_layout, NULL, &err), err);
	assert_sort_ok(gpu_client_device.add_rows(job, &rows, generations, 1, &err), err);
	assert_int_equal(rows.added, rows.missing == 0);
	return rows.missing;
}

/*
 * A client that gives a generation other bytes than it had: that its blocks had once as many rows as those of another
 * extent, which has been there all the time, is not true any more.
 */
static void
test_generation_again(void **state)
{
	static const char *const args[] = {"--resident-memory", "200000", NULL};
	const SortDevice *d = &gpu_client_device;
	ExtentSample samples[2];
	ExtentSample larger;
	ExtentSample other;
	GpuService	s;
	GpuUnit		holder;
	GpuUnit		u;
	SortJob    *held;
	SortJob    *job;
	SortError	err;
	uint64_t	generation = 100;
	uint32_t	missing = 0;

	(void) state;
	gpu_service_start(&s, args);
	extents_connect(&holder, &s, EPOCH);
	extents_connect(&u, &s, EPOCH);
	extent_sample_make(&samples[0], 3, 10, 99, 0);
	sample_unlike(&samples[1], &samples[0], 3, -1);
	extent_sample_free(&samples[0]);
	sample_unlike(&samples[0], &samples[1], 3, -1);
	sample_unlike(&larger, &samples[0], 3, 0);
	extent_sample_make(&other, 100, 200, 99, 0);

	job = open_pair(&u);
	extents_keep(job, 1, &samples[0]);
	extents_keep(job, 2, &samples[1]);
	assert_int_equal(ask_for_pair(job, &samples[0], 1, 2), 0);
	d->close(job);

	/* The second one stays, as a job holds it; the first one makes room for others. */
	held = open_pair(&holder);
	assert_int_equal(ask_for_pair(held, &samples[1], 2, 2), 0);
	while (missing == 0 && generation < 10000)
	{
		/* Asked for now and then, so that it is not always the one that was used last. */
		job = open_pair(&u);
		extents_keep(job, generation++, &other);
		assert_sort_ok(client_send_gathered((GpuJob *) job, &err), err);
		if (generation % 50 == 0)
			missing = ask_for_pair(job, &samples[0], 1, 2);
		d->close(job);
	}
	assert_int_equal(missing, 1);
	job = open_pair(&u);
	extents_keep(job, 1, &larger);
	assert_int_equal(ask_for_pair(job, &larger, 1, 2), UINT32_MAX);
	d->close(job);
	d->close(held);
	extent_sample_free(&samples[0]);
	extent_sample_free(&samples[1]);
	extent_sample_free(&larger);
	extent_sample_free(&other);
	gpu_unit_disconnect(&u);
	gpu_unit_disconnect(&holder);
	gpu_service_stop(&s);
}

/* ------------------------------------------------------------------------
 * A client that breaks the protocol
 * ------------------------------------------------------------------------
 */

typedef enum Crime
{
	NO_CRIME,
	LAYOUT_TWICE,
	LAYOUT_WITHOUT_COLUMNS,
	LAYOUT_OF_MANY,
	LAYOUT_RANGES,
	LAYOUT_FLAGS,
	LAYOUT_GRAIN,
	LAYOUT_MAP,
	LAYOUT_SHORT_MAP,
	LAYOUT_ORDER,
	MANY_ROWS,
	GENERATION_0,
	ANSWERED,
	BLOCK_BEYOND,
	KEYS_BEHIND,
	LOOK_EARLY,
	LOOK_NOT_ANNOUNCED,
	LOOK_NOT_GRANTED,
	LOOK_BEYOND,
	SUM_BEYOND,
	KEYS_LATE,
	CRIMES
} Crime;

static void
say(GpuClient *c, GpuMessageType type, uint32_t chunk, uint32_t count)
{
	GpuMessage	m;
	SortError	err;

	gpu_message_init(&m, type, c->job_number);
	if (type == GPU_MSG_WANT)
		m.body.want.chunks = count;
	else
		m.body.chunk = (GpuChunk) {chunk, count};
	assert_sort_ok(client_send(c, &m, &err), err);
}

/* Announces and begins a chunk; returns it. */
static uint32_t
take_chunk(GpuClient *c, SortJob *job, bool announce)
{
	uint32_t	chunk;
	SortError	err;

	if (announce)
		say(c, GPU_MSG_WANT, 0, 1);
	assert_sort_ok(client_begin_chunk((GpuJob *) job, &chunk, &err), err);
	c->area.held[chunk] = CHUNK_NOT_HELD;
	return chunk;
}

static void
commit_with_layout(GpuClient *c, SortJob *job, const Table *t, Crime crime)
{
	uint32_t	chunk = take_chunk(c, job, true);
	char	   *memory = client_chunk_memory(c, chunk);
	RowsLayout	layout = t->layout;

	if (crime == LAYOUT_WITHOUT_COLUMNS)
		layout.ncolumns = 0;
	if (crime == LAYOUT_OF_MANY)
		layout.ncolumns = ROWS_MAX_COLUMNS + 1;
	if (crime == LAYOUT_RANGES)
		layout.nranges = ROWS_MAX_RANGES + 1;
	if (crime == LAYOUT_FLAGS)
		layout.columns[0].flags |= 64;
	if (crime == LAYOUT_GRAIN)
		layout.grain = 32;
	if (crime == LAYOUT_MAP || crime == LAYOUT_SHORT_MAP)
	{
		layout.nranges = layout.columns[0].nranges = layout.filtered = 1;
		layout.columns[0].last = crime == LAYOUT_MAP ? 1 : 2;
		layout.columns[0].flags = ROWS_IN_KEY | ROWS_FILTERED | ROWS_MAPPED | (crime == LAYOUT_MAP ? ROWS_MASKED : 0);
	}
	if (crime == LAYOUT_ORDER)
	{
		layout.nranges = layout.columns[0].nranges = layout.filtered = 1;
		layout.columns[0].flags |= ROWS_FILTERED;
	}
	memcpy(memory, &layout, sizeof(layout));
	memcpy(memory + sizeof(layout), &(ValueRange) {5, 4}, sizeof(ValueRange));
	say(c, GPU_MSG_LAYOUT, chunk, 1);
}

static void
commit_with_rows(GpuClient *c, SortJob *job, Crime crime)
{
	uint32_t	chunk = take_chunk(c, job, true);
	char	   *memory = client_chunk_memory(c, chunk);
	SortRows	rows = {.blocks = {crime == BLOCK_BEYOND ? 15 : 7, 0},.rows = crime == ANSWERED};
	uint64_t	generations[2] = {crime == GENERATION_0 ? 0 : 1000, 1001};

	memcpy(memory, &rows, sizeof(rows));
	memcpy(memory + sizeof(rows), generations, sizeof(generations));
	say(c, crime == KEYS_BEHIND ? GPU_MSG_ADD : GPU_MSG_ADD_ROWS, chunk,
		crime == MANY_ROWS ? 100 : 1);
}

static void
commit_with_look(GpuClient *c, SortJob *job, Crime crime)
{
	/* A chunk for the first question has been announced with FINISH. */
	uint32_t	chunk = take_chunk(c, job, crime == LOOK_EARLY);

	memset(client_chunk_memory(c, chunk), 0xFF, 8);
	say(c, crime == LOOK_BEYOND ? GPU_MSG_LOOK_AT : crime == SUM_BEYOND ? GPU_MSG_LOOK_SUM : GPU_MSG_LOOK_BELOW,
		crime == LOOK_NOT_GRANTED ? (chunk + 1) % c->area.chunks : chunk, 1);
	if (crime == LOOK_NOT_ANNOUNCED)
		say(c, GPU_MSG_LOOK_BELOW, chunk, 1);
}

static void
commit(GpuClient *c, SortJob *job, const Table *t, Crime crime)
{
	const SortDevice *d = &gpu_client_device;
	SortError	err;

	if (crime >= LAYOUT_TWICE && crime <= LAYOUT_ORDER)
		commit_with_layout(c, job, t, crime);
	else if (crime == LOOK_EARLY)
		commit_with_look(c, job, crime);
	else if (crime < LOOK_EARLY)
		commit_with_rows(c, job, crime);
	if (crime < LOOK_EARLY || crime == LOOK_EARLY)
		return;
	assert_sort_ok(d->finish(job, &err), err);
	if (crime == KEYS_LATE)
		say(c, GPU_MSG_ADD, take_chunk(c, job, false), 1);
	else
		commit_with_look(c, job, crime);
}

static void
check_crime(const GpuService *s, Crime crime)
{
	const SortDevice *d = &gpu_client_device;
	GpuUnit		u;
	GpuClient  *c;
	GpuMessage	m;
	Table		t;
	SortJob    *job;
	SortError	err;

	extents_connect(&u, s, EPOCH);
	c = u.client;
	table_make(&t, 2, 3, false, false);
	job = open_rows(&u, &t);
	for (int i = 0; i < 2; i++)
	{
		ExtentSample sample;

		extent_sample_make(&sample, 3, 3, 1, 0);
		extents_keep(job, 1000 + (uint64_t) i, &sample);
		extent_sample_free(&sample);
	}
	assert_sort_ok(client_send_gathered((GpuJob *) job, &err), err);
	if (crime <= LAYOUT_TWICE || crime > LAYOUT_ORDER)
		assert_sort_ok(d->set_rows(job, &t.layout, t.ranges, &err), err);
	commit(c, job, &t, crime);
	gpu_message_init(&m, GPU_MSG_ASK_DEVICES, 0);
	assert_sort_ok(client_send(c, &m, &err), err);
	do
		if (client_receive(c, true, &m, &err) != SORT_OK)
			break;
	while (m.header.type != GPU_MSG_DEVICE);
	if ((c->fd < 0) != (crime != NO_CRIME))
		fail_msg("crime %d was %s", (int) crime, crime == NO_CRIME ? "none" : "not seen");
	if (crime != NO_CRIME && strstr(err.message, "bad message") == NULL)
		fail_msg("crime %d: %s", (int) crime, err.message);
	d->close(job);
	table_free(&t);
	gpu_unit_disconnect(&u);
}

static void
test_crimes(void **state)
{
	static const char *const args[] = {"--chunk", "4096", NULL};
	GpuService	s;

	(void) state;
	gpu_service_start(&s, args);
	for (int crime = NO_CRIME; crime < CRIMES; crime++)
		check_crime(&s, (Crime) crime);
	gpu_service_stop(&s);
}

static GpuUnit *each[2];

static SortStatus
open_on_each(const SortContext *context, const SortJobSpec *spec, SortJob **job, SortError *err)
{
	return gpu_client_open(each[spec->device - 1]->client, context, spec, job, err);
}

static uint32_t
two_devices(void *arg)
{
	(void) arg;
	return 2;
}

static bool
fetch_nothing(void *arg, size_t i, const void **bytes, size_t *size)
{
	(void) arg;
	(void) i;
	(void) bytes;
	(void) size;
	return false;
}

/* Jobs of one client on two devices do not wait for each other's chunks, of which there is one. */
static void
test_divided(void **state)
{
	static const char *const args[] = {"--chunk", "4096", "--pinned-memory", "4096", "--stub", "devices:2", "--devices", "0,1", NULL};
	const RowsLayout layout = {.ncolumns = 1,.columns = {{.last = 100,.stride = 1,.flags = ROWS_IN_KEY}}};
	SortDevice	device = gpu_client_device;
	SortRows	rows[EXTENTS];
	uint64_t	generations[EXTENTS];
	uint32_t	stripes[EXTENTS];
	RowsJob		job = {.layout = &layout,.hi = 100,.rows = rows,.generations = generations,.n = EXTENTS,.stripes = stripes,.fetch = fetch_nothing};
	GpuService	s;
	GpuUnit		u[2];

	(void) state;
	gpu_service_start(&s, args);
	for (int i = 0; i < 2; i++)
	{
		extents_connect(&u[i], &s, EPOCH);
		each[i] = &u[i];
	}
	device.open = open_on_each;
	u[0].gpu.device = &device;
	u[0].gpu.devices = two_devices;
	for (uint32_t i = 0; i < EXTENTS; i++)
	{
		rows[i] = (SortRows) {.blocks = {1}};
		generations[i] = i + 1;
		stripes[i] = i;
	}
	for (int round = 0; round < 10; round++)
	{
		SortJob    *sorted;
		SortError	err;

		/* The devices have none of the extents. */
		assert_sort_ok(rows_job_sort(&u[0].unit.context, &job, &sorted, &err), err);
		assert_null(sorted);
		for (uint32_t i = 0; i < EXTENTS; i++)
			assert_true(!rows[i].added && rows[i].missing == 1);
	}
	gpu_unit_disconnect(&u[0]);
	gpu_unit_disconnect(&u[1]);
	gpu_service_stop(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_generation_again),
		cmocka_unit_test(test_crimes),
		cmocka_unit_test(test_divided),
	};

	unit_seed("gpu_rows_test");
	if (getenv("HPSORT_TEST_FILTER"))
		cmocka_set_test_filter(getenv("HPSORT_TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
