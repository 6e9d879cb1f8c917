/*
 * divided_job.c
 *		One job over the jobs of several devices (see divided_job.h).
 *
 * How many keys are smaller than one adds up.  So the key at a position is the last one that no
 * more keys than the position are smaller than, and is searched for: by many questions a round, as
 * each round takes a round trip to each device.
 */
#include "sort/rows/divided_job.h"

#include <string.h>

#include "sort/error.h"

/* Questions of a round, and positions that are searched for at once. */
#define QUESTIONS ((size_t) 65536)
#define POSITIONS ((size_t) 4096)

/* The most keys between the bounds that SORT_LOOK_DISTINCT goes through. */
#define DISTINCT_PLACES (UINT64_C(1) << 24)

/*
 * Where the key at a position is.  A place is a key's distance from the lower bound, in groups of
 * 2^grain, and the last place is that behind all keys.
 */
typedef struct Search
{
	uint64_t	from;			/* no more keys are below it than the position ... */
	uint64_t	to;				/* ... and more below this one */
	uint64_t	step;			/* of its questions in this round: how far apart they are, ... */
	size_t		first;			/* ... the first one, ... */
	size_t		n;				/* ... and how many there are */
} Search;

typedef struct Scratch
{
	int32_t		keys[QUESTIONS];
	uint64_t	below[QUESTIONS];	/* on all devices */
	uint64_t	mine[QUESTIONS];	/* on one */
	uint64_t	sums[POSITIONS];
	Search		searches[POSITIONS];
} Scratch;

typedef struct DividedJob
{
	SortJob		base;
	DividedParts parts;
	uint64_t	places;
	Scratch    *scratch;		/* NULL: nothing has been asked */
	int32_t    *found;			/* the numbers of rows that were found; NULL: not yet asked for */
} DividedJob;

static int32_t
key_of(const DividedJob *job, uint64_t place)
{
	return (int32_t) ((uint32_t) job->base.spec.lo + (uint32_t) (place << job->parts.grain));
}

static SortStatus
ask(SortJob *job, SortLook look, const void *questions, size_t n, void *answers, SortError *err)
{
	return n == 0 ? SORT_OK : job->device->look_up(job, look, questions, n, answers, err);
}

/* Sets below to how many keys are smaller than each of n; mine has room for as many answers. */
static SortStatus
ask_below(const DividedJob *job, const int32_t *keys, size_t n, uint64_t *mine, uint64_t *below,
		  SortError *err)
{
	SortStatus	status = SORT_OK;
	size_t		i;
	int			j;

	memset(below, 0, n * sizeof(uint64_t));
	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
	{
		status = ask(job->parts.jobs[j], SORT_LOOK_BELOW, keys, n, mine, err);
		for (i = 0; i < n && status == SORT_OK; i++)
			below[i] += mine[i];
	}
	return status;
}

/* Narrows a search by the answers for n places, step apart, of which the first is at first. */
static void
narrow(Search *search, uint64_t position, const uint64_t *below, uint64_t first, uint64_t step,
	   size_t n)
{
	size_t		from = 0;
	size_t		to = n;

	while (from < to)
	{
		size_t		middle = (from + to) / 2;

		if (below[middle] <= position)
			from = middle + 1;
		else
			to = middle;
	}
	if (from > 0)
		search->from = first + (from - 1) * step;
	if (from < n)
		search->to = first + from * step;
}

/* How far apart at most n questions are that divide from .. to; *n becomes how many there are. */
static uint64_t
divide(uint64_t from, uint64_t to, size_t *n)
{
	uint64_t	step = (to - from + *n) / (*n + 1);

	*n = (size_t) ((to - from - 1) / step);
	return step;
}

/* Asks the same questions for all searches: where there are many, most narrow by 16 bits. */
static SortStatus
first_round(DividedJob *job, const uint64_t *positions, size_t n, SortError *err)
{
	Scratch    *scratch = job->scratch;
	size_t		asked = QUESTIONS;
	uint64_t	step = divide(0, job->places, &asked);
	SortStatus	status;
	size_t		i;

	for (i = 0; i < asked; i++)
		scratch->keys[i] = key_of(job, (i + 1) * step);
	status = ask_below(job, scratch->keys, asked, scratch->mine, scratch->below, err);
	for (i = 0; i < n; i++)
	{
		scratch->searches[i] = (Search)
		{
			.to = job->places
		};
		if (positions[i] == job->base.keys)
			scratch->searches[i].from = job->places;
		else if (status == SORT_OK)
			narrow(&scratch->searches[i], positions[i], scratch->below, step, step, asked);
	}
	return status;
}

/* Finds the places of the keys at n positions, at most POSITIONS: scratch->searches[].from. */
static SortStatus
find_places(DividedJob *job, const uint64_t *positions, size_t n, SortError *err)
{
	Scratch    *scratch = job->scratch;
	SortStatus	status = first_round(job, positions, n, err);

	while (status == SORT_OK)
	{
		size_t		left = 0;
		size_t		asked = 0;
		size_t		i;

		for (i = 0; i < n; i++)
			left += scratch->searches[i].to > scratch->searches[i].from + 1;
		if (left == 0)
			break;
		for (i = 0; i < n; i++)
		{
			Search	   *search = &scratch->searches[i];
			size_t		q;

			search->n = 0;
			if (search->to <= search->from + 1)
				continue;
			search->first = asked;
			search->n = QUESTIONS / left;
			search->step = divide(search->from, search->to, &search->n);
			for (q = 1; q <= search->n; q++)
				scratch->keys[asked++] = key_of(job, search->from + q * search->step);
		}
		status = ask_below(job, scratch->keys, asked, scratch->mine, scratch->below, err);
		for (i = 0; i < n && status == SORT_OK; i++)
		{
			Search	   *search = &scratch->searches[i];

			if (search->n > 0)
				narrow(search, positions[i], scratch->below + search->first,
					   search->from + search->step, search->step, search->n);
		}
	}
	return status;
}

/*
 * Adds up the sums of the keys before n positions, whose places have been found: of each device the
 * keys below the place's, and of equal ones as many as are left.
 */
static SortStatus
add_sums(DividedJob *job, const uint64_t *positions, size_t n, uint64_t *answers, SortError *err)
{
	Scratch    *scratch = job->scratch;
	uint64_t   *left = scratch->below;
	SortStatus	status = SORT_OK;
	size_t		i;
	int			j;

	for (i = 0; i < n; i++)
	{
		uint64_t	place = scratch->searches[i].from;

		scratch->keys[i] = key_of(job, place < job->places ? place : 0);
		answers[i] = 0;
		left[i] = positions[i];
	}
	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
	{
		SortJob    *part = job->parts.jobs[j];

		status = ask(part, SORT_LOOK_BELOW, scratch->keys, n, scratch->mine, err);
		for (i = 0; i < n && status == SORT_OK; i++)
		{
			if (scratch->searches[i].from == job->places)
				scratch->mine[i] = part->keys;
			if (scratch->mine[i] > part->keys || scratch->mine[i] > left[i])
				return sort_fail(err, SORT_CORRUPT, "GPUs have given answers that cannot be");
			left[i] -= scratch->mine[i];
		}
		if (status == SORT_OK)
			status = ask(part, SORT_LOOK_SUM, scratch->mine, n, scratch->sums, err);
		for (i = 0; i < n && status == SORT_OK; i++)
			answers[i] += scratch->sums[i];
	}
	for (i = 0; i < n && status == SORT_OK; i++)
		answers[i] += left[i] * (uint64_t) (int64_t) scratch->keys[i];
	return status;
}

/* Finds the numbers that rows found have in the whole list, in ascending order. */
static SortStatus
number_found(DividedJob *job, SortError *err)
{
	const SortAllocator *a = &job->base.context->allocator;
	const DividedParts *parts = &job->parts;
	size_t		n = (size_t) job->base.keys;
	int32_t    *numbers = a->alloc(a->arena, (n + 1) * sizeof(int32_t));
	uint64_t   *asked = a->alloc(a->arena, (n + 1) * sizeof(uint64_t));
	size_t		at[SORT_DEVICES_MOST];	/* the next one of each job, ... */
	size_t		end[SORT_DEVICES_MOST];
	int64_t		starts[SORT_DEVICES_MOST] = {0};	/* ... and its rows so far */
	int64_t		start = 0;
	size_t		nfound = 0;
	SortStatus	status = SORT_OK;
	size_t		i;
	int			j;

	job->found = a->alloc(a->arena, (n + 1) * sizeof(int32_t));
	if (numbers == NULL || asked == NULL || job->found == NULL)
		status = sort_no_memory(err);
	for (i = 0; i < n && status == SORT_OK; i++)
		asked[i] = i;
	for (i = 0, j = 0; j < parts->n && status == SORT_OK; j++)
	{
		at[j] = i;
		end[j] = i += (size_t) parts->jobs[j]->keys;
		status = ask(parts->jobs[j], SORT_LOOK_AT, asked, end[j] - at[j], numbers + at[j], err);
	}
	for (i = 0; i < parts->nrows && status == SORT_OK; i++)
	{
		int64_t		rows = parts->rows[i].rows;

		j = parts->part_of[i];
		for (; at[j] < end[j] && numbers[at[j]] < starts[j] + rows; at[j]++)
			job->found[nfound++] = (int32_t) (numbers[at[j]] - starts[j] + start);
		starts[j] += rows;
		start += rows;
	}
	if (status == SORT_OK && nfound < n)
		status = sort_fail(err, SORT_CORRUPT, "GPUs have given answers that cannot be");
	if (numbers)
		a->release(a->arena, numbers);
	if (asked)
		a->release(a->arena, asked);
	return status;
}

/*
 * Counts the keys that any device has: where more keys are below the next place than below this
 * one.
 */
static SortStatus
count_distinct(DividedJob *job, uint64_t *distinct, SortError *err)
{
	Scratch    *scratch = job->scratch;
	uint64_t   *there = scratch->below;
	SortStatus	status = SORT_OK;
	uint64_t	place;

	*distinct = 0;
	if (job->places > DISTINCT_PLACES || job->parts.grain > 0)
		return sort_fail(err, SORT_UNSUPPORTED,
						 "several GPUs do not count different keys of so wide a range");
	for (place = 0; place < job->places && status == SORT_OK; place += QUESTIONS - 1)
	{
		uint64_t	left = job->places - place;
		size_t		n = (size_t) (left < QUESTIONS ? left : QUESTIONS);
		size_t		i;
		int			j;

		for (i = 0; i < n; i++)
			scratch->keys[i] = key_of(job, place + i);
		memset(there, 0, sizeof(scratch->below));
		for (j = 0; j < job->parts.n && status == SORT_OK; j++)
		{
			status = ask(job->parts.jobs[j], SORT_LOOK_BELOW, scratch->keys, n, scratch->mine, err);
			if (n == left && n < QUESTIONS)
				scratch->mine[n] = job->parts.jobs[j]->keys;
			for (i = 0; i + 1 < QUESTIONS && i < n && status == SORT_OK; i++)
				there[i] |= scratch->mine[i + 1] > scratch->mine[i];
		}
		for (i = 0; i + 1 < QUESTIONS && i < n; i++)
			*distinct += there[i];
	}
	return status;
}

/* SORT_LOOK_AT and SORT_LOOK_SUM, at most POSITIONS. */
static SortStatus
look_at_positions(DividedJob *job, SortLook look, const uint64_t *positions, size_t n,
				  void *answers, SortError *err)
{
	int32_t    *keys = answers;
	SortStatus	status = find_places(job, positions, n, err);
	size_t		i;

	if (status == SORT_OK && look == SORT_LOOK_SUM)
		return add_sums(job, positions, n, answers, err);
	for (i = 0; i < n && status == SORT_OK; i++)
		keys[i] = key_of(job, job->scratch->searches[i].from);
	return status;
}

/* SortDevice.look_up. */
static SortStatus
divided_look_up(SortJob *base, SortLook look, const void *questions, size_t n, void *answers,
				SortError *err)
{
	DividedJob *job = (DividedJob *) base;
	const SortAllocator *a = &base->context->allocator;
	const size_t most = look == SORT_LOOK_BELOW ? QUESTIONS : POSITIONS;
	SortStatus	status = SORT_OK;
	size_t		at;
	size_t		i;

	if (job->scratch == NULL)
		job->scratch = a->alloc(a->arena, sizeof(Scratch));
	if (job->scratch == NULL)
		return sort_no_memory(err);
	if (job->parts.rows && look != SORT_LOOK_AT)
		return sort_fail(err, SORT_UNSUPPORTED, "rows that were found have no order");
	if (job->parts.rows && job->found == NULL)
		status = number_found(job, err);
	if (look == SORT_LOOK_DISTINCT)
		return count_distinct(job, answers, err);
	for (at = 0; at < n && status == SORT_OK; at += most)
	{
		size_t		count = n - at < most ? n - at : most;

		if (look == SORT_LOOK_BELOW)
			status = ask_below(job, (const int32_t *) questions + at, count, job->scratch->mine,
							   (uint64_t *) answers + at, err);
		else if (job->parts.rows)
			for (i = at; i < at + count; i++)
				((int32_t *) answers)[i] = job->found[((const uint64_t *) questions)[i]];
		else
			status = look_at_positions(job, look, (const uint64_t *) questions + at, count,
									   (char *) answers + at * sort_look_answers(look), err);
	}
	return status;
}

/*
 * SortDevice.finish: has all devices sort at the same time.  A job whose runs are read is finished
 * when it is read: a device that has a result may have taken memory for it that another one needs.
 */
static SortStatus
divided_finish(SortJob *base, SortError *err)
{
	DividedJob *job = (DividedJob *) base;
	SortStatus	status = SORT_OK;
	int			j;

	for (j = 0; j < job->parts.n && status == SORT_OK && base->spec.look_up; j++)
		if (job->parts.jobs[j]->device->begin_finish)
			status = job->parts.jobs[j]->device->begin_finish(job->parts.jobs[j], err);
	for (j = 0; j < job->parts.n && status == SORT_OK && base->spec.look_up; j++)
	{
		status = job->parts.jobs[j]->device->finish(job->parts.jobs[j], err);
		base->keys += job->parts.jobs[j]->keys;
	}
	return status;
}

/* SortDevice.read_runs. */
static SortStatus
divided_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	DividedJob *job = (DividedJob *) base;
	SortStatus	status = SORT_OK;
	int			j;

	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
	{
		SortJob    *part = job->parts.jobs[j];

		status = part->device->finish(part, err);
		if (status == SORT_OK)
			status = part->device->read_runs(part, runs, err);

		/* It gives back what it has of the service before the next one waits for some. */
		job->parts.jobs[j] = NULL;
		part->device->close(part);
	}
	return status;
}

/* SortDevice.close. */
static void
divided_close(SortJob *base)
{
	DividedJob *job = (DividedJob *) base;
	const SortAllocator *a;
	int			j;

	if (job == NULL)
		return;
	a = &base->context->allocator;
	for (j = 0; j < job->parts.n; j++)
		if (job->parts.jobs[j])
			job->parts.jobs[j]->device->close(job->parts.jobs[j]);
	if (job->parts.part_of)
		a->release(a->arena, (void *) job->parts.part_of);
	if (job->scratch)
		a->release(a->arena, job->scratch);
	if (job->found)
		a->release(a->arena, job->found);
	a->release(a->arena, job);
}

static const SortDevice divided_device = {
	.look_up = divided_look_up,
	.finish = divided_finish,
	.read_runs = divided_read_runs,
	.close = divided_close,
};

SortStatus
divided_job_make(const SortContext *context, const DividedParts *parts, SortJob **result,
				 SortError *err)
{
	const SortAllocator *a = &context->allocator;
	const SortJobSpec *spec = &parts->jobs[0]->spec;
	DividedJob *job = a->alloc(a->arena, sizeof(DividedJob));
	int			j;

	*result = NULL;
	if (job == NULL)
	{
		for (j = 0; j < parts->n; j++)
			parts->jobs[j]->device->close(parts->jobs[j]);
		if (parts->part_of)
			a->release(a->arena, (void *) parts->part_of);
		return sort_no_memory(err);
	}
	memset(job, 0, sizeof(*job));
	sort_job_init(&job->base, &divided_device, context, spec);
	job->parts = *parts;
	job->places = (((uint64_t) ((int64_t) spec->hi - spec->lo)) >> parts->grain) + 1;
	*result = &job->base;
	return SORT_OK;
}
