/*
 * extent_samples.c
 *		Extents whose values are known, and jobs with them (see extent_samples.h).
 */
#include "extent_samples.h"

#include <stdlib.h>
#include <string.h>

/* rows_max: of a block; span: the largest distance; nulls_in: one row of so many, 0: none. */
void
extent_sample_make(ExtentSample *s, uint32_t nblocks, uint32_t rows_max, uint32_t span, int nulls_in)
{
	uint64_t	stamps[MOST_BLOCKS] = {0};
	ExtentRows	rows = {.nblocks = nblocks,.stamps = stamps,.counts = s->counts};
	int32_t		base = (int32_t) (unit_below(1000000)) - 500000;
	Extent		header;

	s->nblocks = nblocks;
	s->nrows = 0;
	for (uint32_t i = 0; i < nblocks; i++)
	{
		s->counts[i] = unit_below(5) == 0 ? 0 : (uint32_t) unit_below(rows_max + 1);
		s->nrows += s->counts[i];
	}
	s->values = unit_alloc(s->nrows, sizeof(int64_t));
	s->nulls = unit_alloc(s->nrows, 1);
	for (uint32_t i = 0; i < s->nrows; i++)
	{
		s->values[i] = base + (int32_t) unit_below((uint64_t) span + 1);
		s->nulls[i] = nulls_in > 0 && unit_below((uint64_t) nulls_in) == 0;
	}
	rows.values = s->values;
	rows.nulls = s->nulls;
	extent_plan(&rows, &header);
	s->extent = unit_alloc(header.size, 1);
	extent_write(&rows, &header, s->extent);
}

void
extent_sample_free(ExtentSample *s)
{
	free(s->values);
	free(s->nulls);
	free(s->extent);
}

void
extent_sample_all(const ExtentSample *s, ExtentBlocks *extent)
{
	extent->blocks[0] = extent->blocks[1] = 0;
	for (uint32_t b = 0; b < s->nblocks; b++)
		extent->blocks[b / 64] |= UINT64_C(1) << b % 64;
}

void
extent_sample_some(const ExtentSample *s, ExtentBlocks *extent)
{
	extent->blocks[0] = extent->blocks[1] = 0;
	for (uint32_t b = 0; b < s->nblocks; b++)
		if (unit_below(3) > 0)
			extent->blocks[b / 64] |= UINT64_C(1) << b % 64;
}

SortStatus
extents_add(SortJob *job, ExtentBlocks *extents, size_t n, SortError *err)
{
	SortRows   *rows = calloc(n + 1, sizeof(SortRows));
	uint64_t   *generations = calloc(n + 1, sizeof(uint64_t));
	SortStatus	status;

	for (size_t i = 0; i < n; i++)
	{
		generations[i] = extents[i].generation;
		memcpy(rows[i].blocks, extents[i].blocks, sizeof(rows[i].blocks));
	}
	status = gpu_client_device.add_rows(job, rows, generations, n, err);
	for (size_t i = 0; i < n; i++)
	{
		extents[i].added = status == SORT_OK && rows[i].added;
		extents[i].rows = rows[i].rows;
		extents[i].nulls = rows[i].nulls;
	}
	free(rows);
	free(generations);
	return status;
}

/* Appends the keys of blocks to keys; returns how many, and *rows. */
size_t
extent_sample_keys(const ExtentSample *s, const uint64_t *blocks, int32_t *keys, uint32_t *nrows)
{
	size_t		n = 0;
	uint32_t	row = 0;

	*nrows = 0;
	for (uint32_t b = 0; b < s->nblocks; b++)
		for (uint32_t i = 0; i < s->counts[b]; i++, row++)
		{
			if (!(blocks[b / 64] >> b % 64 & 1))
				continue;
			(*nrows)++;
			if (!s->nulls[row])
				keys[n++] = (int32_t) s->values[row];
		}
	return n;
}

void
extents_connect(GpuUnit *u, const GpuService *s, uint64_t epoch)
{
	GpuClientOptions options = {
		.socket_path = s->socket,
		.connect_timeout_ms = 20000,
		.wait_timeout_ms = 20000,
		.epoch = epoch,
	};
	GpuFailure	failure;
	char		text[200];

	gpu_unit_init(u);
	if (gpu_client_connect(&options, &u->client, &failure, text, sizeof(text)) != SORT_OK)
		fail_msg("could not connect: %s", text);
	u->gpu.arg = u->client;
}

SortJob *
extents_open(GpuUnit *u, SortWant want)
{
	SortJobSpec spec = {
		.algorithm = SORT_ALGORITHM_RADIX,
		.want = want,
		.lo = INT32_MIN,
		.hi = INT32_MAX,
	};
	SortJob    *job;
	SortError	err;

	assert_sort_ok(gpu_client_device.open(&u->unit.context, &spec, &job, &err), err);
	return job;
}

/* Ends a job of n keys, and compares its result; frees nothing. */
void
extents_check_result(SortJob *job, int32_t *keys, size_t n)
{
	const SortDevice *d = &gpu_client_device;
	SortError	err;

	assert_sort_ok(d->finish(job, &err), err);
	if (job->spec.want == SORT_WANT_PERMUTATION)
	{
		uint32_t   *rows = unit_alloc(n, sizeof(uint32_t));
		uint32_t   *expected = unit_alloc(n, sizeof(uint32_t));

		assert_sort_ok(d->read_permutation(job, false, 3, rows, &err), err);
		unit_permutation(keys, n, false, 3, expected);
		unit_assert_keys((int32_t *) rows, (int32_t *) expected, n, "permutation");
		free(rows);
		free(expected);
	}
	else if (job->spec.want == SORT_WANT_RUNS)
	{
		Runs		runs = {0};
		size_t		at = 0;

		unit_sort(keys, n, false);
		assert_sort_ok(d->read_runs(job, &runs, &err), err);
		for (size_t i = 0; i < runs.len; at += runs.counts[i], i++)
			assert_true(at < n && keys[at] == runs.keys[i]);
		assert_int_equal(at, n);
		runs_release(&runs, &job->context->allocator);
	}
	else
	{
		int32_t    *out = unit_alloc(n, sizeof(int32_t));

		assert_sort_ok(d->read_keys(job, false, out, &err), err);
		unit_sort(keys, n, false);
		unit_assert_keys(out, keys, n, "keys");
		free(out);
	}
}

void
extents_keep(SortJob *job, uint64_t generation, const ExtentSample *s)
{
	SortError	err;

	assert_sort_ok(gpu_client_device.keep_extent(job, generation, s->extent, s->extent->size, &err), err);
}

GpuDeviceStatus
extents_status_of(GpuUnit *u)
{
	GpuDeviceStatus device;
	SortError	err;
	int			count;

	assert_sort_ok(gpu_client_devices(u->client, &device, 1, &count, &err), err);
	return device;
}

/* ------------------------------------------------------------------------
 * Many samples, for those tests that only ask which of them are kept
 * ------------------------------------------------------------------------
 */

ExtentSample many[MANY];

void
many_make(uint32_t nblocks, uint32_t rows_max)
{
	for (int i = 0; i < MANY; i++)
		extent_sample_make(&many[i], nblocks, rows_max, i % 2 ? 200 : 60000, i % 3);
}

void
many_free(void)
{
	for (int i = 0; i < MANY; i++)
		extent_sample_free(&many[i]);
}

/* Asks for samples from .. to - 1, of generations that begin with first; returns how many there are. */
int
many_add(SortJob *job, uint64_t first, int from, int to, int32_t *keys, size_t *n)
{
	ExtentBlocks	extents[MANY];
	SortError	err;
	int			added = 0;

	for (int i = from; i < to; i++)
	{
		extents[i].generation = first + (uint64_t) i;
		extent_sample_all(&many[i], &extents[i]);
	}
	assert_sort_ok(extents_add(job, extents + from, (size_t) (to - from), &err), err);
	for (int i = from; i < to; i++)
	{
		uint32_t	nrows;

		if (!extents[i].added)
			continue;
		added++;
		*n += extent_sample_keys(&many[i], extents[i].blocks, keys + *n, &nrows);
		assert_int_equal(extents[i].rows, nrows);
	}
	return added;
}

size_t
many_rows(void)
{
	size_t		n = 0;

	for (int i = 0; i < MANY; i++)
		n += many[i].nrows;
	return n;
}

/* A job of its own that keeps samples, if keeping, then asks for them; returns how many there are. */
int
many_job(GpuUnit *u, bool keeping, uint64_t first, int from, int to)
{
	SortJob    *job = extents_open(u, SORT_WANT_KEYS);
	int32_t    *keys = unit_alloc(many_rows(), sizeof(int32_t));
	size_t		n = 0;
	int			added;

	for (int i = from; keeping && i < to; i++)
		extents_keep(job, first + (uint64_t) i, &many[i]);
	added = many_add(job, first, from, to, keys, &n);
	extents_check_result(job, keys, n);
	gpu_client_device.close(job);

	/* When that is answered the service has closed the job, and lets go of its extents. */
	(void) extents_status_of(u);
	free(keys);
	return added;
}

