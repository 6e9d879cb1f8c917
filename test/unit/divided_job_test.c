/*
 * divided_job_test.c
 *		Jobs over rows that one to eight devices share: all questions have the answers of all keys
 *		together, whichever devices have which extents, lack some, have no room, fail or lie.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/error.h"
#include "sort/rows/rows_job.h"

#define EXTENTS 40
#define KEYS 60					/* of each, at most, but for test_groups */
#define MANY_KEYS 4000
#define OTHERS 30

/* The extents' keys stand for their bytes; those of generation e + 1 are values[e]. */
static int32_t values[EXTENTS][MANY_KEYS];
static uint32_t nvalues[EXTENTS];

static struct
{
	uint32_t	devices;
	bool		has[SORT_DEVICES_MOST][EXTENTS];
	size_t		room;			/* extents that each takes */
	int			calls;
	int			fail_at;
	bool		lies;			/* of how many keys are below others */
	int			open;			/* jobs */
	bool		used[SORT_DEVICES_MOST];
	size_t		begun;			/* calls of begin_... */
	size_t		rounds;			/* calls of look_up of the first device */
	const void *holder;			/* the job that may hold a chunk: no other one may want one */
} fake;

typedef struct FakeJob
{
	SortJob		base;
	uint32_t	device;
	RowsLayout	layout;
	ValueRange	ranges[4];
	int32_t    *keys;
	uint64_t	n;
	uint64_t	rows;
	bool		finished;

	/* begin_rows has been called for these; NULL: it has not, or add_rows has been called since */
	const SortRows *begun;
	size_t		nbegun;
	size_t		answered;		/* of them */
	bool		sent;			/* all of them */

	const void *looks;			/* questions that begin_look has sent; NULL: none */
	size_t		nlooks;
} FakeJob;

static const SortDevice fake_device;

static SortStatus
call(SortError *err)
{
	fake.calls++;
	return fake.calls == fake.fail_at ? sort_fail(err, SORT_DEVICE_UNAVAILABLE, "call %d", fake.calls) : SORT_OK;
}

/* A call that may wait for a chunk. */
static void
want_chunk(const FakeJob *job)
{
	assert_true(fake.holder == NULL || fake.holder == job);
}

static uint32_t
fake_devices(void *arg)
{
	(void) arg;
	return fake.devices;
}

static SortStatus
fake_open(const SortContext *context, const SortJobSpec *spec, SortJob **job, SortError *err)
{
	FakeJob    *fake_job;

	if (call(err) != SORT_OK)
		return err->status;
	fake_job = calloc(1, sizeof(FakeJob));
	assert_true(spec->device >= 1 && spec->device <= fake.devices);
	sort_job_init(&fake_job->base, &fake_device, context, spec);
	fake_job->device = spec->device - 1;
	fake_job->keys = unit_alloc(EXTENTS * MANY_KEYS + OTHERS, sizeof(int32_t));
	fake.used[fake_job->device] = true;
	fake.open++;
	*job = &fake_job->base;
	return SORT_OK;
}

static SortStatus
fake_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	want_chunk(job);
	memcpy(job->keys + job->n, keys, n * sizeof(int32_t));
	job->n += n;
	return call(err);
}

static SortStatus
fake_set_rows(SortJob *base, const RowsLayout *layout, const ValueRange *ranges, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	want_chunk(job);
	job->layout = *layout;
	memcpy(job->ranges, ranges, layout->nranges * sizeof(ValueRange));
	return call(err);
}

/* A key of a row is its value, or its number if that is in a range. */
/* Adds the rows from .. to - 1 that have not been added. */
static void
add_some(FakeJob *job, SortRows *rows, const uint64_t *generations, size_t from, size_t to)
{
	size_t		i;
	uint32_t	k;
	uint32_t	r;

	for (i = from; i < to; i++)
	{
		uint64_t	e = generations[i] - 1;

		if (rows[i].added)
			continue;
		rows[i].missing = !fake.has[job->device][e];
		rows[i].rows = 0;
		if (rows[i].missing)
			continue;
		rows[i].added = true;
		rows[i].rows = nvalues[e];
		for (k = 0; k < nvalues[e]; k++, job->rows++)
		{
			if (job->layout.key_ranges == 0)
				job->keys[job->n++] = values[e][k];
			for (r = 0; r < job->layout.key_ranges; r++)
				if (values[e][k] >= job->ranges[r].lo && values[e][k] <= job->ranges[r].hi)
					job->keys[job->n++] = (int32_t) job->rows;
		}
	}
}

/*
 * Some answers come at once.  Now and then it would have to wait: at the same calls again where one
 * of these fails.
 */
static SortStatus
fake_begin_rows(SortJob *base, SortRows *rows, const uint64_t *generations, size_t n, bool *begun, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	assert_true(n > 0 && generations[0] > 0 && job->begun == NULL);
	want_chunk(job);
	*begun = job->sent = fake.calls % 3 > 0;
	if (!*begun)
		fake.holder = job;
	fake.begun++;
	job->begun = rows;
	job->nbegun = n;
	job->answered = (size_t) unit_below(n + 1);
	add_some(job, rows, generations, 0, job->answered);
	return call(err);
}

/* What has begun is ended by a call for the same rows. */
static SortStatus
fake_add_rows(SortJob *base, SortRows *rows, const uint64_t *generations, size_t n, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;
	size_t		from = 0;
	size_t		i;

	if (job->begun)
	{
		assert_true(job->begun == rows && job->nbegun == n);
		from = job->answered;
	}
	for (i = from; i < n; i++)
		assert_false(rows[i].added);
	if (job->begun == NULL || !job->sent)
		want_chunk(job);
	if (fake.holder == job)
		fake.holder = NULL;
	job->begun = NULL;
	add_some(job, rows, generations, from, n);
	return call(err);
}

static SortStatus
fake_keep_extent(SortJob *base, uint64_t generation, const void *extent, size_t size, SortError *err)
{
	uint32_t	device = ((FakeJob *) base)->device;
	size_t		i;
	size_t		has = 0;

	want_chunk((FakeJob *) base);
	assert_true(extent == values[generation - 1]);
	assert_true(size > 0);
	for (i = 0; i < EXTENTS; i++)
		has += fake.has[device][i];
	if (has < fake.room)
		fake.has[device][generation - 1] = true;
	return call(err);
}

static SortStatus
fake_begin_finish(SortJob *job, SortError *err)
{
	assert_false(((FakeJob *) job)->finished);
	fake.begun++;
	return call(err);
}

static SortStatus
fake_finish(SortJob *base, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	assert_false(job->finished);
	job->finished = true;
	unit_sort(job->keys, (size_t) job->n, false);
	base->keys = job->n;
	return call(err);
}

static uint64_t
count_below(const int32_t *keys, uint64_t n, int32_t key)
{
	uint64_t	from = 0;

	while (from < n)
	{
		uint64_t	middle = (from + n) / 2;

		if (keys[middle] < key)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

/* Now and then it would have to wait: at the same calls again where one of these fails. */
static SortStatus
fake_begin_look(SortJob *base, SortLook look, const void *questions, size_t n, bool *begun, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;

	assert_true(job->finished && n > 0 && job->looks == NULL);
	assert_int_not_equal(look, SORT_LOOK_DISTINCT);
	*begun = fake.calls % 4 > 0;
	job->looks = *begun ? questions : NULL;
	job->nlooks = n;
	return call(err);
}

static SortStatus
fake_look_up(SortJob *base, SortLook look, const void *questions, size_t n, void *answers, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;
	uint32_t	grain = (1u << job->layout.grain) - 1;
	size_t		i;
	uint64_t	k;

	assert_true(job->finished && n > 0);
	assert_true(job->looks == NULL || (job->looks == questions && job->nlooks == n));
	job->looks = NULL;
	fake.rounds += job->device == 0;
	for (i = 0; i < n; i++)
		if (look == SORT_LOOK_BELOW)
		{
			int32_t		key = ((const int32_t *) questions)[i];

			/* assert_... would take most of the time */
			if (key < base->spec.lo || key > base->spec.hi || (((uint32_t) key - (uint32_t) base->spec.lo) & grain) != 0)
				fail_msg("key %d", key);
			((uint64_t *) answers)[i] = fake.lies ? unit_below(2 * job->n + 10) : count_below(job->keys, job->n, key);
		}
		else if (look == SORT_LOOK_AT)
		{
			assert_int_equal(grain, 0);
			assert_true(((const uint64_t *) questions)[i] < job->n);
			((int32_t *) answers)[i] = job->keys[((const uint64_t *) questions)[i]];
		}
		else
		{
			uint64_t	position = ((const uint64_t *) questions)[i];
			uint64_t	sum = 0;

			assert_int_equal(look, SORT_LOOK_SUM);
			assert_true(position <= job->n);
			if (grain > 0 && position > 0 && position < job->n && !fake.lies)
				assert_int_not_equal(((uint32_t) job->keys[position] - (uint32_t) base->spec.lo) & ~grain,
									 ((uint32_t) job->keys[position - 1] - (uint32_t) base->spec.lo) & ~grain);
			for (k = 0; k < position; k++)
				sum += (uint64_t) (int64_t) job->keys[k];
			((uint64_t *) answers)[i] = sum;
		}
	return call(err);
}

static SortStatus
fake_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	FakeJob    *job = (FakeJob *) base;
	Runs		mine = {0};
	const SortAllocator *a = &base->context->allocator;
	bool		merged;

	assert_true(job->finished);
	if (job->n > 0 && runs_of_all(&mine, job->keys, (size_t) job->n, base->context, err) != SORT_OK)
		return err->status;
	merged = runs_merge(runs, mine.keys, mine.counts, mine.len, a);
	runs_release(&mine, a);
	return merged ? call(err) : sort_fail(err, SORT_OUT_OF_MEMORY, "out of memory");
}

static void
fake_close(SortJob *base)
{
	fake.open--;
	if (fake.holder == base)
		fake.holder = NULL;
	free(((FakeJob *) base)->keys);
	free(base);
}

static const SortDevice fake_device = {
	.open = fake_open,
	.add = fake_add,
	.set_rows = fake_set_rows,
	.add_rows = fake_add_rows,
	.keep_extent = fake_keep_extent,
	.begin_rows = fake_begin_rows,
	.begin_finish = fake_begin_finish,
	.begin_look = fake_begin_look,
	.finish = fake_finish,
	.look_up = fake_look_up,
	.read_runs = fake_read_runs,
	.close = fake_close,
};

static const SortGpu gpu = {.device = &fake_device, .devices = fake_devices};

static bool
fetch(void *arg, size_t i, const void **bytes, size_t *size)
{
	const uint64_t *generations = arg;

	*bytes = values[generations[i] - 1];
	*size = 1000;
	return true;
}

/* A list of all extents, and what the keys of its rows and others are, in order. */
typedef struct Table
{
	RowsLayout	layout;
	ValueRange	ranges[4];
	SortRows	rows[EXTENTS];
	uint64_t	generations[EXTENTS];
	uint32_t	stripes[EXTENTS];
	int32_t		others[OTHERS];
	RowsJob		job;
	int32_t    *keys;
	uint64_t	n;
} Table;

static void
table_make_of(Table *t, int32_t lo, int32_t hi, uint32_t devices, uint32_t most)
{
	size_t		i;
	uint32_t	k;

	memset(&fake, 0, sizeof(fake));
	fake.devices = devices;
	fake.room = EXTENTS;
	memset(t, 0, sizeof(*t));
	t->layout.ncolumns = 1;
	t->keys = unit_alloc(EXTENTS * (size_t) most + OTHERS, sizeof(int32_t));
	for (i = 0; i < EXTENTS; i++)
	{
		t->generations[i] = (i * 7 + 5) % EXTENTS + 1;
		t->stripes[i] = i == 0 ? (uint32_t) unit_below(1000) : t->stripes[i - 1] + (uint32_t) unit_below(2);
	}
	for (i = 0; i < EXTENTS; i++)
	{
		nvalues[i] = (uint32_t) unit_below(most + 1);
		for (k = 0; k < nvalues[i]; k++)
			values[i][k] = unit_below(4) == 0 ? lo : unit_key(lo, hi);
	}
	t->job = (RowsJob)
	{
		.layout = &t->layout,.ranges = t->ranges,.lo = lo,.hi = hi,.keys = t->others,.nkeys = (size_t) unit_below(OTHERS),.rows = t->rows,.generations = t->generations,
		.n = EXTENTS,.stripes = t->stripes,.fetch = fetch,.arg = t->generations
	};
	for (i = 0; i < t->job.nkeys; i++)
		t->keys[t->n++] = t->others[i] = unit_key(lo, hi);
	for (i = 0; i < EXTENTS; i++)
		for (k = 0; k < nvalues[t->generations[i] - 1]; k++)
			t->keys[t->n++] = values[t->generations[i] - 1][k];
	unit_sort(t->keys, (size_t) t->n, false);
}

static void
table_make(Table *t, int32_t lo, int32_t hi, uint32_t devices)
{
	table_make_of(t, lo, hi, devices, KEYS);
}

/* Gives all devices about as many rows. */
static void
spread(Table *t)
{
	uint32_t	i;

	for (i = 0; i < EXTENTS; i++)
		t->stripes[i] = i;
}

/* Asks about all keys of a job, and compares; a lying device's answers may be anything, but end. */
static SortStatus
check_looks(const Table *t, SortJob *job, SortError *err)
{
	uint64_t   *positions = unit_alloc(t->n + 1, sizeof(uint64_t));
	uint64_t   *found = unit_alloc(t->n + 1, sizeof(uint64_t));
	uint64_t	sum = 0;
	uint64_t	distinct = 0;
	uint32_t	mask = ~((1u << t->layout.grain) - 1);
	size_t		n = 0;
	SortStatus	status = SORT_OK;
	uint64_t	i;

	if (!fake.lies)
		assert_int_equal(job->keys, t->n);
	else
	{
		/* what is known then says that keys are below the lowest one */
		int32_t		lowest[2] = {(int32_t) ((((uint32_t) t->job.hi - (uint32_t) t->job.lo) & mask) + (uint32_t) t->job.lo), t->job.lo};
		uint64_t	below[2];

		status = job->device->look_up(job, SORT_LOOK_BELOW, lowest, 2, below, err);
	}
	if (status == SORT_OK && t->layout.grain == 0 && t->n > 0)
	{
		for (i = 0; i < t->n; i++)
			positions[i] = (i * 13) % t->n;
		fake.rounds = 0;
		status = job->device->look_up(job, SORT_LOOK_AT, positions, (size_t) t->n, found, err);
		for (i = 0; i < t->n && status == SORT_OK && !fake.lies; i++)
			assert_int_equal(((int32_t *) found)[i], t->keys[positions[i]]);
		assert_true(fake.lies || fake.rounds <= 6);
	}
	/* Where keys, or groups of them, begin, and where all end. */
	for (i = 0; i <= t->n; i++)
		if (i == 0 || i == t->n || t->layout.grain == 0 ||
			(((uint32_t) t->keys[i] - (uint32_t) t->job.lo) & mask) != (((uint32_t) t->keys[i - 1] - (uint32_t) t->job.lo) & mask))
			positions[n++] = i;
	if (status == SORT_OK)
		status = job->device->look_up(job, SORT_LOOK_SUM, positions, n, found, err);
	for (i = 0, n = 0; i <= t->n && status == SORT_OK && !fake.lies; i++)
	{
		if (positions[n] == i)
			assert_int_equal(found[n++], sum);
		sum += i < t->n ? (uint64_t) (int64_t) t->keys[i] : 0;
	}
	for (n = 0, i = 0; i < t->n && status == SORT_OK; i++)
	{
		((int32_t *) positions)[n++] = (int32_t) ((((uint32_t) t->keys[i] - (uint32_t) t->job.lo) & mask) + (uint32_t) t->job.lo);
		distinct += i == 0 || t->keys[i] != t->keys[i - 1];
	}
	if (status == SORT_OK && n > 0)
		status = job->device->look_up(job, SORT_LOOK_BELOW, positions, n, found, err);
	for (i = 0; i < n && status == SORT_OK && !fake.lies; i++)
		assert_int_equal(found[i], count_below(t->keys, t->n, ((int32_t *) positions)[i]));
	/* What has been asked is known: a key at the only position there is takes three rounds at most. */
	for (i = 0; i < t->n && status == SORT_OK && t->layout.grain == 0; i += t->n / 10 + 1)
	{
		fake.rounds = 0;
		status = job->device->look_up(job, SORT_LOOK_AT, &i, 1, found, err);
		if (status == SORT_OK && !fake.lies)
			assert_int_equal(*(int32_t *) found, t->keys[i]);
		assert_true(fake.lies || fake.rounds <= 3);
	}
	if (status == SORT_OK && t->layout.grain == 0 && fake.begun > 0)
	{
		bool		narrow = (int64_t) t->job.hi - t->job.lo < INT64_C(1) << 24;

		status = job->device->look_up(job, SORT_LOOK_DISTINCT, positions, 1, found, err);
		if (!narrow && fake.fail_at == 0)
		{
			assert_int_equal(status, SORT_UNSUPPORTED);
			status = SORT_OK;
		}
		else if (status == SORT_OK && !fake.lies)
			assert_int_equal(found[0], distinct);
	}
	free(positions);
	free(found);
	return status;
}

static SortStatus
run_sort(Unit *u, Table *t, SortError *err)
{
	SortJob    *job;
	SortStatus	status;

	unit_init(u);
	u->context.gpu = &gpu;
	memset(t->rows, 0xFF, sizeof(t->rows));
	status = rows_job_sort(&u->context, &t->job, &job, err);
	if (status == SORT_OK && job)
		status = check_looks(t, job, err);
	if (job)
		job->device->close(job);
	assert_int_equal(fake.open, 0);
	unit_assert_no_leak(u);
	return status;
}

static const struct
{
	int32_t		lo;
	int32_t		hi;
}			bounds[] = {{0, 0}, {-5, 5}, {0, 1000}, {-100000, 900000}, {INT32_MIN, INT32_MAX}, {INT32_MAX - 70000, INT32_MAX}, {INT32_MIN, INT32_MIN + 300000}};

static void
test_sorted(void **state)
{
	Unit		u;
	Table		t;
	SortError	err;
	int			round;

	(void) state;
	for (round = 0; round < 25; round++)
	{
		size_t		b = (size_t) unit_below(lengthof(bounds));
		size_t		i;
		int			used = 0;

		table_make(&t, bounds[b].lo, bounds[b].hi, 1 + (uint32_t) unit_below(4) * (1 + round % 5 / 4));
		if (round % 3 == 0)
			t.layout.grain = 1 + (uint32_t) unit_below(20);
		/* Some that were brought before. */
		for (i = 0; i < EXTENTS; i++)
			fake.has[unit_below(fake.devices)][i] = unit_below(2);
		assert_sort_ok(run_sort(&u, &t, &err), err);
		for (i = 0; i < SORT_DEVICES_MOST; i++)
			used += fake.used[i];
		if (fake.devices > 1 && t.stripes[EXTENTS - 1] != t.stripes[0])
			assert_true(used > 1 && fake.begun > 0);
		/* Nothing is brought twice. */
		fake.room = 0;
		assert_sort_ok(run_sort(&u, &t, &err), err);
		for (i = 0; i < EXTENTS; i++)
			assert_true(t.rows[i].added && t.rows[i].rows == nvalues[t.generations[i] - 1]);
		free(t.keys);
	}
}

/*
 * Positions within many groups, as percentiles ask for them: after where groups begin, the first and the last key of
 * each, and two neighbours in its middle.  That takes few rounds, however keys are spread within groups; unless devices
 * have quite other keys.
 */
static void
test_groups(void **state)
{
	Unit		u;
	Table		t;
	SortError	err;
	int			round;

	(void) state;
	for (round = 0; round < 12; round++)
	{
		const uint32_t groups = 1 + (uint32_t) unit_below(round % 2 == 0 ? 20 : 300);
		const int32_t bits = 8 + (int32_t) unit_below(15);
		SortJob    *job;
		int32_t		begins[301];
		uint64_t	starts[301];
		uint64_t   *positions;
		int32_t    *found;
		size_t		n = 0;
		size_t		i;
		size_t		k;

		table_make_of(&t, 0, (int32_t) (groups << bits) - 1, 2 + (uint32_t) unit_below(3), MANY_KEYS);
		t.job.nkeys = 0;
		spread(&t);
		for (t.n = 0, i = 0; i < EXTENTS; i++)
			for (k = 0; k < nvalues[i]; k++)
			{
				int32_t		value = unit_key(0, (1 << bits) - 1);

				/* clustered, or one extent's keys far from another's */
				if (round % 3 == 1)
					value >>= unit_below((uint32_t) bits);
				if (round % 3 == 2)
					value = (int32_t) ((value + i * ((size_t) 1 << bits)) / EXTENTS);
				values[i][k] = (int32_t) unit_below(groups) * (1 << bits) + value;
				t.keys[t.n++] = values[i][k];
			}
		unit_sort(t.keys, (size_t) t.n, false);
		unit_init(&u);
		u.context.gpu = &gpu;
		assert_sort_ok(rows_job_sort(&u.context, &t.job, &job, &err), err);
		for (i = 0; i < groups; i++)
			begins[i] = (int32_t) (i << bits);
		assert_sort_ok(job->device->look_up(job, SORT_LOOK_BELOW, begins, groups, starts, &err), err);
		starts[groups] = t.n;
		positions = unit_alloc(4 * groups + 1, sizeof(uint64_t));
		found = unit_alloc(4 * groups + 1, sizeof(int32_t));
		for (i = 0; i < groups; i++)
			if (starts[i + 1] > starts[i])
			{
				uint64_t	middle = (starts[i] + starts[i + 1] - 1) / 2;

				positions[n++] = starts[i];
				positions[n++] = middle;
				positions[n++] = middle + 1 < starts[i + 1] ? middle + 1 : middle;
				positions[n++] = starts[i + 1] - 1;
			}
		fake.rounds = 0;
		assert_sort_ok(job->device->look_up(job, SORT_LOOK_AT, positions, n, found, &err), err);
		for (i = 0; i < n; i++)
			assert_int_equal(found[i], t.keys[positions[i]]);
		assert_true(fake.rounds <= (round % 3 == 2 ? 8 : 5));
		job->device->close(job);
		unit_assert_no_leak(&u);
		free(positions);
		free(found);
		free(t.keys);
	}
}

static void
test_counted(void **state)
{
	Unit		u;
	Table		t;
	SortError	err;
	int			round;

	(void) state;
	for (round = 0; round < 40; round++)
	{
		Runs		runs = {0};
		size_t		at = 0;
		size_t		i;
		uint64_t	n = 0;

		table_make(&t, -50, 50, 1 + (uint32_t) round % 4);
		t.job.layout = NULL;
		t.job.nkeys = 0;
		/* As many as there is room for are counted. */
		fake.room = (size_t) unit_below(EXTENTS / fake.devices + 2);
		unit_init(&u);
		u.context.gpu = &gpu;
		memset(t.rows, 0xFF, sizeof(t.rows));
		assert_sort_ok(rows_job_count(&u.context, &t.job, &runs, &err), err);
		for (i = 0; i < EXTENTS; i++)
			if (t.rows[i].added)
			{
				memcpy(t.keys + n, values[t.generations[i] - 1], nvalues[t.generations[i] - 1] * sizeof(int32_t));
				n += nvalues[t.generations[i] - 1];
			}
		unit_sort(t.keys, (size_t) n, false);
		for (i = 0; i < runs.len; at += (size_t) runs.counts[i++])
		{
			assert_int_equal(runs.keys[i], t.keys[at]);
			assert_int_equal(runs.counts[i], count_below(t.keys, n, runs.keys[i] + 1) - at);
		}
		assert_int_equal(at, n);
		runs_release(&runs, &u.context.allocator);
		assert_int_equal(fake.open, 0);
		unit_assert_no_leak(&u);
		free(t.keys);
	}
}

/* Rows that are found have their numbers in the whole list. */
static void
test_found(void **state)
{
	Unit		u;
	Table		t;
	SortError	err;
	int			round;

	(void) state;
	for (round = 0; round < 40; round++)
	{
		SortJob    *job;
		uint64_t	position;
		uint64_t	n = 0;
		int32_t		number = 0;
		int32_t		answer;
		size_t		i;
		uint32_t	k;

		table_make(&t, 0, 1000, 1 + (uint32_t) round % 4);
		t.job.nkeys = 0;
		t.ranges[0] = (ValueRange) {100, 150};
		t.ranges[1] = (ValueRange) {700, 700 + (int32_t) unit_below(300)};
		memset(fake.has, true, sizeof(fake.has));
		unit_init(&u);
		u.context.gpu = &gpu;
		t.layout.nranges = t.layout.key_ranges = 2;
		t.job.lo = 0;
		t.job.hi = EXTENTS * KEYS;
		assert_sort_ok(rows_job_sort(&u.context, &t.job, &job, &err), err);
		for (i = 0; i < EXTENTS; i++)
			for (k = 0; k < nvalues[t.generations[i] - 1]; k++, number++)
			{
				int32_t		value = values[t.generations[i] - 1][k];

				if (!((value >= 100 && value <= 150) || (value >= 700 && value <= t.ranges[1].hi)))
					continue;
				position = n++;
				assert_true(position < job->keys);
				assert_sort_ok(job->device->look_up(job, SORT_LOOK_AT, &position, 1, &answer, &err), err);
				assert_int_equal(answer, number);
			}
		assert_int_equal(job->keys, n);
		job->device->close(job);
		unit_assert_no_leak(&u);
		/* Not where a device lacks an extent with rows. */
		memset(fake.has, false, sizeof(fake.has));
		assert_sort_ok(rows_job_sort(&u.context, &t.job, &job, &err), err);
		assert_null(job);
		assert_int_equal(fake.open, 0);
		unit_assert_no_leak(&u);
		free(t.keys);
	}
}

/* A call fails on one of the devices, memory fails, or there is no room on one: all jobs are closed. */
static void
test_failures(void **state)
{
	Unit		u;
	Table		t;
	SortError	err;
	int			calls;
	int			i;

	(void) state;
	table_make(&t, 0, 1000, 3);
	spread(&t);
	assert_sort_ok(run_sort(&u, &t, &err), err);
	calls = fake.calls;
	for (i = 1; i <= calls; i++)
	{
		fake.calls = 0;
		fake.fail_at = i;
		memset(fake.has, false, sizeof(fake.has));
		assert_int_equal(run_sort(&u, &t, &err), SORT_DEVICE_UNAVAILABLE);
		assert_int_equal(fake.calls, i);
	}
	fake.fail_at = 0;
	for (i = 1; i < 20; i++)
	{
		SortJob    *job;
		SortStatus	status;

		unit_init(&u);
		u.context.gpu = &gpu;
		u.fail_at = (uint64_t) i;
		status = rows_job_sort(&u.context, &t.job, &job, &err);
		if (status == SORT_OK)
			status = check_looks(&t, job, &err);
		if (job)
			job->device->close(job);
		assert_int_equal(status, u.allocations >= (uint64_t) i ? SORT_OUT_OF_MEMORY : SORT_OK);
		assert_int_equal(fake.open, 0);
		unit_assert_no_leak(&u);
	}
	memset(fake.has, false, sizeof(fake.has));
	fake.room = 3;
	memset(fake.used, false, sizeof(fake.used));
	unit_init(&u);
	assert_sort_ok(run_sort(&u, &t, &err), err);
	for (i = 0; i < EXTENTS; i++)
		if (!t.rows[i].added)
			break;
	assert_true(i < EXTENTS);
	free(t.keys);
}

/* Devices whose answers cannot be: the questions end, and ask for no position that there is not. */
static void
test_lies(void **state)
{
	Unit		u;
	Table		t;
	SortError	err;
	int			round;

	(void) state;
	for (round = 0; round < 20; round++)
	{
		SortStatus	status;
		size_t		b = (size_t) unit_below(lengthof(bounds));

		table_make(&t, bounds[b].lo, bounds[b].hi, 2 + (uint32_t) unit_below(2));
		spread(&t);
		t.layout.grain = round % 2 == 0 ? 0 : 5;
		fake.lies = true;
		status = run_sort(&u, &t, &err);
		assert_true(status == SORT_OK || status == SORT_CORRUPT);
		free(t.keys);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_lies),
	};

	unit_seed("divided_job_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
