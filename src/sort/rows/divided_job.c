/*
 * divided_job.c
 *		One job over the jobs of several devices (see divided_job.h).
 *
 * How many keys are smaller than one adds up.  So the key at a position is the last one that no
 * more keys than the position are smaller than, and is searched for: by many questions a round, as
 * each round takes a round trip, to all devices at once.
 */
#include "sort/rows/divided_job.h"

#include <string.h>

#include "sort/error.h"

/*
 * Questions of a round: at most, usually, and at least for each search; and positions that are
 * searched for at once.  A thousand positions take three rounds by the usual number, if chance has
 * spread keys, and by twice as many, which take twice as long to copy.
 */
#define QUESTIONS ((size_t) 131072)
#define USUAL_QUESTIONS ((size_t) 32768)
#define LEAST_QUESTIONS ((size_t) 16)
#define POSITIONS (QUESTIONS / LEAST_QUESTIONS)

_Static_assert(SORT_DEVICES_MOST * POSITIONS <= QUESTIONS, "add_sums has answers of all devices");

/* Positions for which questions of their own are better than the same questions for all. */
#define FEW_POSITIONS ((size_t) 16)

/* The most keys between the bounds that SORT_LOOK_DISTINCT goes through. */
#define DISTINCT_PLACES (UINT64_C(1) << 24)

/*
 * How many keys are below a place.  A place is a key's distance from the lower bound, in groups of
 * 2^grain, and the last place is that behind all keys.
 */
typedef struct Known
{
	uint64_t	place;
	uint64_t	below;
} Known;

/* Questions of a search in this round: n places from first on, step apart. */
typedef struct Stretch
{
	uint64_t	first;
	uint64_t	step;
	size_t		at;				/* of the first one among all questions */
	size_t		n;
} Stretch;

/* Where the key at a position is. */
typedef struct Search
{
	Known		from;			/* no more keys are below it than the position ... */
	Known		to;				/* ... and more below this one */
	Stretch		even;			/* all over the places in between, ... */
	Stretch		near;			/* ... and near where the key is expected */
} Search;

typedef struct Scratch
{
	int32_t		keys[QUESTIONS];
	uint64_t	below[QUESTIONS];	/* on all devices */
	uint64_t	mine[QUESTIONS];	/* on one */
	uint64_t	sums[POSITIONS];
	Search		searches[POSITIONS];
	size_t		nknown;
	Known		known[QUESTIONS];	/* the last answers to SORT_LOOK_BELOW, places descending */
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

static uint64_t
place_of(const DividedJob *job, int32_t key)
{
	return ((uint32_t) key - (uint32_t) job->base.spec.lo) >> job->parts.grain;
}

static SortStatus
ask(SortJob *job, SortLook look, const void *questions, size_t n, void *answers, SortError *err)
{
	return n == 0 ? SORT_OK : job->device->look_up(job, look, questions, n, answers, err);
}

/*
 * Begins to ask a device.  *going is set to false if it would have to be waited for: no other one
 * is begun to be asked then, before what this one waits for has been given back.
 */
static SortStatus
begin(SortJob *job, SortLook look, const void *questions, size_t n, bool *going, SortError *err)
{
	if (n == 0 || !*going)
		return SORT_OK;
	*going = job->device->begin_look != NULL;
	return *going ? job->device->begin_look(job, look, questions, n, going, err) : SORT_OK;
}

/* Begins to ask all devices the same questions. */
static SortStatus
begin_all(const DividedJob *job, SortLook look, const void *questions, size_t n, SortError *err)
{
	bool		going = true;
	SortStatus	status = SORT_OK;
	int			j;

	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
		status = begin(job->parts.jobs[j], look, questions, n, &going, err);
	return status;
}

/* Sets below to how many keys are smaller than each of n. */
static SortStatus
ask_below(const DividedJob *job, const int32_t *keys, size_t n, uint64_t *below, SortError *err)
{
	uint64_t   *mine = job->scratch->mine;
	SortStatus	status = begin_all(job, SORT_LOOK_BELOW, keys, n, err);
	size_t		i;
	int			j;

	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
	{
		status = ask(job->parts.jobs[j], SORT_LOOK_BELOW, keys, n, j == 0 ? below : mine, err);
		for (i = 0; i < n && j > 0 && status == SORT_OK; i++)
			below[i] += mine[i];
	}
	return status;
}

/*
 * Notes how many keys are below others, which descend or ascend.  Whoever asks for positions within
 * groups has asked where groups begin.
 */
static void
remember(DividedJob *job, const int32_t *keys, const uint64_t *below, size_t n)
{
	Scratch    *scratch = job->scratch;
	const bool	ascend = n > 1 && keys[0] < keys[n - 1];
	size_t		i;

	for (i = 0; i < n; i++)
	{
		size_t		at = ascend ? n - 1 - i : i;
		uint64_t	place = place_of(job, keys[at]);

		if (place >= job->places || key_of(job, place) != keys[at])
			continue;
		if (scratch->nknown == QUESTIONS ||
			(scratch->nknown > 0 && scratch->known[scratch->nknown - 1].place <= place))
			scratch->nknown = 0;
		scratch->known[scratch->nknown++] = (Known)
		{
			place, below[at]
		};
	}
}

/* Adds to the questions at most n places between two others, at even distances. */
static void
add_stretch(DividedJob *job, Stretch *stretch, uint64_t from, uint64_t to, size_t n, size_t *asked)
{
	int32_t    *keys = job->scratch->keys + *asked;
	uint32_t	first;
	uint32_t	step;
	size_t		i;

	stretch->step = (to - from + n) / (n + 1);
	stretch->first = from + stretch->step;
	stretch->at = *asked;
	stretch->n = (size_t) ((to - from - 1) / stretch->step);
	first = (uint32_t) key_of(job, stretch->first);
	step = (uint32_t) (stretch->step << job->parts.grain);
	for (i = 0; i < stretch->n; i++)
		keys[i] = (int32_t) (first + (uint32_t) i * step);
	*asked += stretch->n;
}

/* Asks about places all over, or all places. */
static SortStatus
ask_evenly(DividedJob *job, SortError *err)
{
	Scratch    *scratch = job->scratch;
	Stretch		stretch;
	size_t		asked = 0;
	SortStatus	status;

	add_stretch(job, &stretch, 0, job->places, QUESTIONS / 2, &asked);
	status = ask_below(job, scratch->keys, asked, scratch->below, err);
	scratch->nknown = 0;
	if (status == SORT_OK)
		remember(job, scratch->keys, scratch->below, asked);
	return status;
}

/* Begins a search between the places that are known. */
static void
begin_search(const DividedJob *job, uint64_t position, Search *search)
{
	const Known *known = job->scratch->known;
	size_t		n = job->scratch->nknown;
	size_t		from = 0;
	size_t		to = n;

	while (from < to)
	{
		size_t		middle = (from + to) / 2;

		if (known[middle].below <= position)
			to = middle;
		else
			from = middle + 1;
	}
	memset(search, 0, sizeof(*search));
	search->to = (Known)
	{
		job->places, job->base.keys
	};
	if (position == job->base.keys)
		search->from = search->to;
	else
	{
		if (from > 0)
			search->to = known[from - 1];
		if (from < n)
			search->from = known[from];
	}
}

static bool
is_found(const Search *search)
{
	return search->to.place <= search->from.place + 1;
}

/*
 * Adds at most n questions of a search.  The key at a position is expected as far among the places
 * as the position is among the c keys that are there.  If chance has spread these, the standard
 * deviation is at most places / (2 sqrt(c)), and near are four to eight of them.  However keys lie,
 * the even questions leave a part of the places that is n / 2 times smaller.
 */
static void
add_questions(DividedJob *job, uint64_t position, size_t n, Search *search, size_t *asked)
{
	const Known from = search->from;
	const uint64_t places = search->to.place - from.place;
	const uint64_t keys = search->to.below - from.below;
	uint64_t	middle;
	uint64_t	distance;
	unsigned	root = 0;

	search->even.n = search->near.n = 0;
	if (is_found(search))
		return;
	while (root < 31 && keys >> 2 * root > 0)
		root++;
	distance = (4 * places >> root) + 1;
	if (places <= n || 2 * distance >= places)
	{
		add_stretch(job, &search->even, from.place, search->to.place, n, asked);
		return;
	}
	add_stretch(job, &search->even, from.place, search->to.place, n / 2, asked);
	middle = (uint64_t) (((double) (position - from.below) + 0.5) / (double) keys *
						 (double) places);
	add_stretch(job, &search->near, from.place + (middle > distance ? middle - distance : 0),
				from.place + (places - middle > distance ? middle + distance : places), n - n / 2,
				asked);
}

/* Narrows a search by the answers to some of its questions. */
static void
narrow(Search *search, uint64_t position, const uint64_t *below, const Stretch *stretch)
{
	size_t		from = 0;
	size_t		to = stretch->n;

	below += stretch->at;
	while (from < to)
	{
		size_t		middle = (from + to) / 2;

		if (below[middle] <= position)
			from = middle + 1;
		else
			to = middle;
	}
	if (from > 0 && stretch->first + (from - 1) * stretch->step > search->from.place)
		search->from = (Known)
	{
		stretch->first + (from - 1) * stretch->step, below[from - 1]
	};
	if (from < stretch->n && stretch->first + from * stretch->step < search->to.place)
		search->to = (Known)
	{
		stretch->first + from * stretch->step, below[from]
	};
}

/* Finds the places of the keys at n positions, at most POSITIONS: scratch->searches[].from. */
static SortStatus
find_places(DividedJob *job, const uint64_t *positions, size_t n, SortError *err)
{
	Scratch    *scratch = job->scratch;
	Search	   *searches = scratch->searches;
	SortStatus	status = SORT_OK;
	size_t		i;

	if ((scratch->nknown == 0 && n > FEW_POSITIONS) ||
		(job->places <= QUESTIONS / 2 && scratch->nknown + 1 < job->places))
		status = ask_evenly(job, err);
	for (i = 0; i < n; i++)
		begin_search(job, positions[i], &searches[i]);
	while (status == SORT_OK)
	{
		size_t		left = 0;
		size_t		asked = 0;
		size_t		each;

		for (i = 0; i < n; i++)
			left += !is_found(&searches[i]);
		if (left == 0)
			break;
		each = USUAL_QUESTIONS / left;
		if (each < LEAST_QUESTIONS)
			each = LEAST_QUESTIONS;
		for (i = 0; i < n; i++)
			add_questions(job, positions[i], each, &searches[i], &asked);
		status = ask_below(job, scratch->keys, asked, scratch->below, err);
		for (i = 0; i < n && status == SORT_OK; i++)
		{
			narrow(&searches[i], positions[i], scratch->below, &searches[i].even);
			narrow(&searches[i], positions[i], scratch->below, &searches[i].near);
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
	bool		going = true;
	SortStatus	status;
	size_t		i;
	int			j;

	for (i = 0; i < n; i++)
	{
		uint64_t	place = scratch->searches[i].from.place;

		scratch->keys[i] = key_of(job, place < job->places ? place : 0);
		answers[i] = 0;
		left[i] = positions[i];
	}
	status = begin_all(job, SORT_LOOK_BELOW, scratch->keys, n, err);
	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
	{
		SortJob    *part = job->parts.jobs[j];
		uint64_t   *mine = scratch->mine + j * POSITIONS;

		status = ask(part, SORT_LOOK_BELOW, scratch->keys, n, mine, err);
		for (i = 0; i < n && status == SORT_OK; i++)
		{
			if (scratch->searches[i].from.place == job->places)
				mine[i] = part->keys;
			if (mine[i] > part->keys || mine[i] > left[i])
				return sort_fail(err, SORT_CORRUPT, "GPUs have given answers that cannot be");
			left[i] -= mine[i];
		}
	}
	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
		status = begin(job->parts.jobs[j], SORT_LOOK_SUM, scratch->mine + j * POSITIONS, n, &going,
					   err);
	for (j = 0; j < job->parts.n && status == SORT_OK; j++)
	{
		status = ask(job->parts.jobs[j], SORT_LOOK_SUM, scratch->mine + j * POSITIONS, n,
					 scratch->sums, err);
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
	bool		going = true;
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
		status = begin(parts->jobs[j], SORT_LOOK_AT, asked, end[j] - at[j], &going, err);
	}
	for (j = 0; j < parts->n && status == SORT_OK; j++)
		status = ask(parts->jobs[j], SORT_LOOK_AT, asked, end[j] - at[j], numbers + at[j], err);
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
		status = begin_all(job, SORT_LOOK_BELOW, scratch->keys, n, err);
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
		keys[i] = key_of(job, job->scratch->searches[i].from.place);
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
	{
		job->scratch = a->alloc(a->arena, sizeof(Scratch));
		if (job->scratch == NULL)
			return sort_no_memory(err);
		job->scratch->nknown = 0;
	}
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
		{
			const int32_t *keys = (const int32_t *) questions + at;

			status = ask_below(job, keys, count, (uint64_t *) answers + at, err);
			if (status == SORT_OK)
				remember(job, keys, (const uint64_t *) answers + at, count);
		}
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
