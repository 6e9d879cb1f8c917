/*
 * divided_keys.c
 *		Questions about keys of which several devices have some each (see divided_keys.h).
 *
 * How many keys are smaller than one adds up.  So the key at a position is the last one that no
 * more keys than the position are smaller than, and is searched for: by many questions a round, as
 * each round takes a round trip, to all devices at once.  Rounds of two kinds take turns.  In the
 * first, each device is asked for its own key at its share of the position: the key is between
 * these keys, which are close together where chance has divided the rows.  In the second, devices
 * are asked how many keys are below some keys between those.  The last few keys are all read.
 */
#include "sort/rows/divided_keys.h"

#include "sort/error.h"

/*
 * Questions of a round to one device: at most, and as many as take no longer than fewer; for each
 * search at least, and as many as are of use to it.
 */
#define QUESTIONS ((size_t) 131072)
#define USUAL_QUESTIONS ((size_t) 32768)
#define LEAST_QUESTIONS ((size_t) 16)
#define MOST_QUESTIONS ((size_t) 1024)

/* Positions that are searched for at once. */
#define POSITIONS (QUESTIONS / LEAST_QUESTIONS)

/* Where no more keys than these are left of a search, all of them are read. */
#define FEW_KEYS ((size_t) 32)

/* The most keys between the bounds that SORT_LOOK_DISTINCT goes through. */
#define DISTINCT_PLACES (UINT64_C(1) << 24)

/*
 * How many keys are below a place, on all devices.  A place is a key's distance from the lower
 * bound, in groups of 2^grain, and the last place is that behind all keys.
 */
typedef struct Known
{
	uint64_t	place;
	uint64_t	below;
} Known;

/* Where the key at a position is. */
typedef struct Search
{
	Known		from;			/* no more keys are below it than the position ... */
	Known		to;				/* ... and more below this one */
	uint64_t	low;			/* the key's place is one from low to high */
	uint64_t	high;
	uint32_t	at;				/* of its first question about keys below others, in this round */
	uint8_t		shares;			/* bit j: device j is asked for its key at its share, ... */
	bool		for_next;		/* ... which narrows a search for the next position as well */
	bool		all;			/* all keys between the bounds are read */
	bool		as_before;		/* by what the search before asks for */
} Search;

/* What one device has answered, or is asked. */
typedef struct DividedAnswers
{
	uint64_t	numbers[QUESTIONS]; /* below on the device, or positions there, ... */
	int32_t		keys[QUESTIONS];	/* ... and the keys at these */
	size_t		n;
	uint64_t	from[POSITIONS];	/* below the bounds of each search */
	uint64_t	to[POSITIONS];
	uint64_t	known[QUESTIONS];	/* below the places that are known */
} DividedAnswers;

/*
 * The keys of several jobs, one on each device, which have been finished; the last place is behind
 * all keys.
 */
struct DividedKeys
{
	SortJob    *const *jobs;
	int			njobs;
	int32_t		lo;				/* bounds of all keys */
	int32_t		hi;
	uint32_t	grain;
	uint64_t	keys;			/* how many there are */
	uint64_t	places;

	/* room for questions and answers */
	int32_t		asked[QUESTIONS];
	uint64_t	sums[POSITIONS];
	Search		searches[POSITIONS];
	size_t		nknown;
	Known		known[QUESTIONS];	/* what was asked about last, places descending */
	DividedAnswers mine[];		/* of each device */
};

static int32_t
key_of(const DividedKeys *divided, uint64_t place)
{
	return (int32_t) ((uint32_t) divided->lo + (uint32_t) (place << divided->grain));
}

static uint64_t
place_of(const DividedKeys *divided, int32_t key)
{
	return ((uint32_t) key - (uint32_t) divided->lo) >> divided->grain;
}

/* Places that a search asks about: from first on, step apart, and the last one. */
typedef struct Stretch
{
	uint64_t	first;
	uint64_t	step;
	uint64_t	last;
	size_t		n;
} Stretch;

SortStatus
divided_lied(SortError *err)
{
	return sort_fail(err, SORT_CORRUPT, "GPUs have given answers that cannot be");
}

SortStatus
divided_ask(SortJob *job, SortLook look, const void *questions, size_t n, void *answers,
			SortError *err)
{
	return n == 0 ? SORT_OK : job->device->look_up(job, look, questions, n, answers, err);
}

SortStatus
divided_begin(SortJob *job, SortLook look, const void *questions, size_t n, bool *going,
			  SortError *err)
{
	if (n == 0 || !*going)
		return SORT_OK;
	*going = job->device->begin_look != NULL;
	return *going ? job->device->begin_look(job, look, questions, n, going, err) : SORT_OK;
}

/*
 * Sets mine[].numbers to how many keys of each device are smaller than each of n, at most
 * QUESTIONS.
 */
static SortStatus
ask_below(DividedKeys *divided, const int32_t *keys, size_t n, SortError *err)
{
	bool		going = true;
	SortStatus	status = SORT_OK;

	for (int j = 0; j < divided->njobs && status == SORT_OK; j++)
		status = divided_begin(divided->jobs[j], SORT_LOOK_BELOW, keys, n, &going, err);
	for (int j = 0; j < divided->njobs && status == SORT_OK; j++)
	{
		uint64_t   *mine = divided->mine[j].numbers;

		status = divided_ask(divided->jobs[j], SORT_LOOK_BELOW, keys, n, mine, err);
		for (size_t i = 0; i < n && status == SORT_OK; i++)
			if (mine[i] > divided->jobs[j]->keys)
				return divided_lied(err);
	}
	return status;
}

/* Sets mine[].keys to each device's keys at the mine[].n positions of mine[].numbers. */
static SortStatus
ask_at(DividedKeys *divided, SortError *err)
{
	bool		going = true;
	SortStatus	status = SORT_OK;

	for (int j = 0; j < divided->njobs && status == SORT_OK; j++)
		status = divided_begin(divided->jobs[j], SORT_LOOK_AT, divided->mine[j].numbers,
							   divided->mine[j].n, &going, err);
	for (int j = 0; j < divided->njobs && status == SORT_OK; j++)
	{
		DividedAnswers *mine = &divided->mine[j];

		status = divided_ask(divided->jobs[j], SORT_LOOK_AT, mine->numbers, mine->n, mine->keys,
							 err);
		for (size_t i = 0; i < mine->n && status == SORT_OK; i++)
			if (mine->keys[i] < divided->lo || mine->keys[i] > divided->hi)
				return divided_lied(err);
	}
	return status;
}

/* Returns answer i of ask_below for all devices. */
static uint64_t
all_below(const DividedKeys *divided, size_t i)
{
	uint64_t	below = 0;

	for (int j = 0; j < divided->njobs; j++)
		below += divided->mine[j].numbers[i];
	return below;
}

/*
 * Notes what ask_below has answered about keys, which descend or ascend.  Whoever asks for
 * positions within groups has asked where groups begin.
 */
static void
remember(DividedKeys *divided, const int32_t *keys, size_t n)
{
	const bool	ascend = n > 1 && keys[0] < keys[n - 1];

	for (size_t i = 0; i < n; i++)
	{
		size_t		at = ascend ? n - 1 - i : i;
		uint64_t	place = place_of(divided, keys[at]);

		if (place >= divided->places || key_of(divided, place) != keys[at])
			continue;
		if (divided->nknown == QUESTIONS ||
			(divided->nknown > 0 && divided->known[divided->nknown - 1].place <= place))
			divided->nknown = 0;
		for (int j = 0; j < divided->njobs; j++)
			divided->mine[j].known[divided->nknown] = divided->mine[j].numbers[at];
		divided->known[divided->nknown++] = (Known)
		{
			place, all_below(divided, at)
		};
	}
}

/* Whether the answers that search i relies on can be. */
static bool
is_sound(const DividedKeys *divided, size_t i)
{
	for (int j = 0; j < divided->njobs; j++)
		if (divided->mine[j].from[i] > divided->mine[j].to[i])
			return false;
	return divided->searches[i].low <= divided->searches[i].high &&
		divided->searches[i].high <= divided->places;
}

/* Begins search i, for a position, between the places that are known. */
static SortStatus
begin_search(DividedKeys *divided, size_t i, uint64_t position, SortError *err)
{
	const Known *known = divided->known;
	Search	   *search = &divided->searches[i];
	size_t		n = divided->nknown;
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
	*search = (Search)
	{
		.to =
		{
			divided->places, divided->keys
		}
	};
	if (from > 0)
		search->to = known[from - 1];
	if (from < n)
		search->from = known[from];
	for (int j = 0; j < divided->njobs; j++)
	{
		DividedAnswers *mine = &divided->mine[j];

		mine->from[i] = from < n ? mine->known[from] : 0;
		mine->to[i] = from > 0 ? mine->known[from - 1] : divided->jobs[j]->keys;
	}
	search->low = search->from.place;
	search->high = search->to.place - 1;
	if (position == divided->keys)
		search->low = search->high = divided->places;
	return is_sound(divided, i) ? SORT_OK : divided_lied(err);
}

static bool
is_found(const Search *search)
{
	return search->low == search->high;
}

static bool
has_bounds_of(const Search *one, const Search *other)
{
	return one->from.place == other->from.place && one->from.below == other->from.below &&
		one->to.place == other->to.place && one->to.below == other->to.below;
}

/* Whether two searches, which have not found their keys, know the same. */
static bool
is_alike(const Search *one, const Search *other)
{
	return has_bounds_of(one, other) && one->low == other->low && one->high == other->high;
}

static void
ask_for(DividedAnswers *mine, uint64_t position)
{
	mine->numbers[mine->n++] = position;
}

/*
 * Asks each device for its key at its share of a position.  The shares add up to the position: each
 * device has about the same part of its keys between the bounds of the search before its share.  Of
 * the first or last position between the bounds, the keys there are the first or last ones.
 */
static void
ask_for_shares(DividedKeys *divided, size_t i, uint64_t position)
{
	Search	   *search = &divided->searches[i];
	const bool	first = position == search->from.below;
	const bool	last = position + 1 == search->to.below;
	uint64_t	before = position - search->from.below;
	uint64_t	keys = search->to.below - search->from.below;
	int			within = 0;

	for (int j = 0; j < divided->njobs; j++)
	{
		DividedAnswers *mine = &divided->mine[j];
		const uint64_t end = divided->jobs[j]->keys;
		const uint64_t between = mine->to[i] - mine->from[i];
		const uint64_t others = keys - between;
		const uint64_t least = before > others ? before - others : 0;
		const uint64_t most = before < between ? before : between;
		uint64_t	share = (uint64_t) ((double) before / (double) (keys | 1) * (double) between);

		share = share < least ? least : share > most ? most : share;
		before -= share;
		keys = others;
		share += mine->from[i];
		if (end == 0 || ((first || last) && between == 0))
			continue;
		ask_for(mine, last ? mine->to[i] - 1 : share < end ? share : end - 1);
		search->shares |= (uint8_t) (1 << j);
		within += share < end;
	}
	search->for_next = !first && !last && within > 1;
}

/*
 * Narrows search i by the keys that devices have at their shares of a position, the next ones of
 * all.  The key that is searched for is between the least and the greatest of these: at most as
 * many keys as the shares add up to are below the least, and more are not above the greatest, by
 * one for each device whose share is not behind its last key.  The first key between two bounds is
 * the least of the devices' first ones, and the last key the greatest of their last ones.
 */
static SortStatus
narrow_by_shares(DividedKeys *divided, size_t i, uint64_t position, size_t *next, SortError *err)
{
	Search	   *search = &divided->searches[i];
	uint64_t	least = UINT64_MAX;
	uint64_t	greatest = 0;

	for (int j = 0; j < divided->njobs; j++)
		if (search->shares >> j & 1)
		{
			uint64_t	place = place_of(divided, divided->mine[j].keys[next[j]++]);

			least = place < least ? place : least;
			greatest = place > greatest ? place : greatest;
		}
	if (position == search->from.below)
		greatest = least;
	else if (position + 1 == search->to.below)
		least = greatest;
	search->low = least > search->low ? least : search->low;
	search->high = greatest < search->high ? greatest : search->high;
	return is_sound(divided, i) ? SORT_OK : divided_lied(err);
}

/* Reads all keys between the bounds of search i, the next ones of all, in order. */
static void
read_all(const DividedKeys *divided, size_t i, size_t *next, uint64_t *few)
{
	size_t		nfew = 0;
	size_t		at;

	for (int j = 0; j < divided->njobs; j++)
		for (uint64_t k = divided->mine[j].from[i]; k < divided->mine[j].to[i]; k++)
		{
			uint64_t	place = place_of(divided, divided->mine[j].keys[next[j]++]);

			for (at = nfew++; at > 0 && few[at - 1] > place; at--)
				few[at] = few[at - 1];
			few[at] = place;
		}
}

/*
 * Whether few keys are between the bounds of search i, and there is room for questions for all of
 * them, besides those of other searches for their shares.
 */
static bool
can_read_all(const DividedKeys *divided, size_t i)
{
	const Search *search = &divided->searches[i];

	for (int j = 0; j < divided->njobs; j++)
		if (divided->mine[j].n + FEW_KEYS + POSITIONS > QUESTIONS)
			return false;
	return search->to.below - search->from.below <= FEW_KEYS;
}

/*
 * Asks devices for keys at positions: all keys between the bounds of a search if these are few,
 * else those at their shares.  Neighbours' searches often know the same, and need not ask again.
 */
static SortStatus
look_at_keys(DividedKeys *divided, const uint64_t *positions, size_t n, SortError *err)
{
	Search	   *search = divided->searches;
	const Search *before = NULL;	/* the last one whose key has not been found */
	size_t		next[SORT_DEVICES_MOST] = {0};
	uint64_t	few[FEW_KEYS] = {0};
	SortStatus	status;

	for (int j = 0; j < divided->njobs; j++)
		divided->mine[j].n = 0;
	for (size_t i = 0; i < n; i++)
	{
		const bool	same = before && has_bounds_of(before, &search[i]);

		if (is_found(&search[i]))
			continue;
		search[i].shares = 0;
		search[i].for_next = false;
		search[i].all = same ? before->all : can_read_all(divided, i);
		search[i].as_before = same && (before->all ||
									   (before == &search[i - 1] && before->for_next &&
										positions[i] == positions[i - 1] + 1 &&
										positions[i] + 1 < search[i].to.below &&
										is_alike(before, &search[i])));
		if (!search[i].all && !search[i].as_before)
			ask_for_shares(divided, i, positions[i]);
		for (int j = 0; j < divided->njobs && search[i].all && !search[i].as_before; j++)
			for (uint64_t k = divided->mine[j].from[i]; k < divided->mine[j].to[i]; k++)
				ask_for(&divided->mine[j], k);
		before = &search[i];
	}
	status = ask_at(divided, err);
	for (size_t i = 0; i < n && status == SORT_OK; i++)
	{
		if (is_found(&search[i]))
			continue;
		if (search[i].all)
		{
			if (!search[i].as_before)
				read_all(divided, i, next, few);
			search[i].low = search[i].high = few[positions[i] - search[i].from.below];
		}
		else if (!search[i].as_before)
			status = narrow_by_shares(divided, i, positions[i], next, err);
		else
		{
			search[i].low = search[i - 1].low;
			search[i].high = search[i - 1].high;
		}
	}
	return status;
}

/*
 * Returns the places that a search asks about, at most n: the lowest one where the key may be, that
 * behind the highest one, unless what is below is known of them, and others in between.
 */
static Stretch
stretch_of(const Search *search, size_t n)
{
	Stretch		stretch;

	stretch.first = search->low + (search->low == search->from.place);
	stretch.last = search->high + (search->high + 1 < search->to.place);
	stretch.step = (stretch.last - stretch.first) / (n - 1) + 1;
	stretch.n = (size_t) ((stretch.last - stretch.first - 1 + stretch.step) / stretch.step) + 1;
	return stretch;
}

/* Returns the place that question k of a stretch is about. */
static uint64_t
stretch_place(const Stretch *stretch, size_t k)
{
	return k + 1 == stretch->n ? stretch->last : stretch->first + k * stretch->step;
}

/* Narrows search i by the answers to its questions, at most n. */
static SortStatus
narrow_by_counts(DividedKeys *divided, size_t i, uint64_t position, size_t n, SortError *err)
{
	Search	   *search = &divided->searches[i];
	const Stretch stretch = stretch_of(search, n);
	size_t		from = 0;
	size_t		to = stretch.n;

	while (from < to)
	{
		size_t		middle = (from + to) / 2;

		if (all_below(divided, search->at + middle) <= position)
			from = middle + 1;
		else
			to = middle;
	}
	if (from > 0)
		search->from = (Known)
	{
		stretch_place(&stretch, from - 1), all_below(divided, search->at + from - 1)
	};
	if (from < stretch.n)
		search->to = (Known)
	{
		stretch_place(&stretch, from), all_below(divided, search->at + from)
	};
	for (int j = 0; j < divided->njobs; j++)
	{
		DividedAnswers *mine = &divided->mine[j];

		if (from > 0)
			mine->from[i] = mine->numbers[search->at + from - 1];
		if (from < stretch.n)
			mine->to[i] = mine->numbers[search->at + from];
	}
	if (search->low < search->from.place)
		search->low = search->from.place;
	if (search->high >= search->to.place)
		search->high = search->to.place - 1;
	return is_sound(divided, i) ? SORT_OK : divided_lied(err);
}

/*
 * Asks how many keys are below some places of each search.  Sets *left to whether any search is
 * left.
 */
static SortStatus
look_below_keys(DividedKeys *divided, const uint64_t *positions, size_t n, bool *left,
				SortError *err)
{
	Search	   *search = divided->searches;
	const Search *before = NULL;
	size_t		searches = 0;
	size_t		asked = 0;
	size_t		most;
	SortStatus	status;

	for (size_t i = 0; i < n; i++)
		searches += !is_found(&search[i]);
	*left = searches > 0;
	if (searches == 0)
		return SORT_OK;
	most = USUAL_QUESTIONS / searches;
	most = most < LEAST_QUESTIONS ? LEAST_QUESTIONS :
		most > MOST_QUESTIONS ? MOST_QUESTIONS : most;
	for (size_t i = 0; i < n; i++)
	{
		if (is_found(&search[i]))
			continue;
		search[i].at = (uint32_t) asked;
		if (before && is_alike(before, &search[i]))
			search[i].at = before->at;
		else
		{
			const Stretch stretch = stretch_of(&search[i], most);

			for (size_t k = 0; k < stretch.n; k++)
				divided->asked[asked++] = key_of(divided, stretch_place(&stretch, k));
		}
		before = &search[i];
	}
	status = ask_below(divided, divided->asked, asked, err);
	for (size_t i = 0; i < n && status == SORT_OK; i++)
		if (!is_found(&search[i]))
			status = narrow_by_counts(divided, i, positions[i], most, err);
	return status;
}

/* Finds the places of the keys at n positions, at most POSITIONS: searches[].low. */
static SortStatus
find_places(DividedKeys *divided, const uint64_t *positions, size_t n, SortError *err)
{
	SortStatus	status = SORT_OK;
	bool		left = true;

	for (size_t i = 0; i < n && status == SORT_OK; i++)
		status = begin_search(divided, i, positions[i], err);
	while (left && status == SORT_OK)
	{
		if (divided->grain == 0)
			status = look_at_keys(divided, positions, n, err);
		if (status == SORT_OK)
			status = look_below_keys(divided, positions, n, &left, err);
	}
	return status;
}

/*
 * Adds up the sums of the keys before n positions, whose places have been found: of each device the
 * keys below the place's, and of equal ones as many as are left.
 */
static SortStatus
add_sums(DividedKeys *divided, const uint64_t *positions, size_t n, uint64_t *answers,
		 SortError *err)
{
	bool		going = true;
	SortStatus	status;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t	place = divided->searches[i].low;

		divided->asked[i] = key_of(divided, place < divided->places ? place : 0);
	}
	status = ask_below(divided, divided->asked, n, err);
	for (size_t i = 0; i < n && status == SORT_OK; i++)
	{
		uint64_t	left = positions[i];

		for (int j = 0; j < divided->njobs; j++)
		{
			uint64_t   *mine = &divided->mine[j].numbers[i];

			if (divided->searches[i].low == divided->places)
				*mine = divided->jobs[j]->keys;
			if (*mine > left)
				return divided_lied(err);
			left -= *mine;
		}
		answers[i] = left * (uint64_t) (int64_t) divided->asked[i];
	}
	for (int j = 0; j < divided->njobs && status == SORT_OK; j++)
		status = divided_begin(divided->jobs[j], SORT_LOOK_SUM, divided->mine[j].numbers, n,
							   &going, err);
	for (int j = 0; j < divided->njobs && status == SORT_OK; j++)
	{
		status = divided_ask(divided->jobs[j], SORT_LOOK_SUM, divided->mine[j].numbers, n,
							 divided->sums, err);
		for (size_t i = 0; i < n && status == SORT_OK; i++)
			answers[i] += divided->sums[i];
	}
	return status;
}

/*
 * Counts the keys that any device has: where more keys are below the next place than below this
 * one.
 */
static SortStatus
count_distinct(DividedKeys *divided, uint64_t *distinct, SortError *err)
{
	SortStatus	status = SORT_OK;

	*distinct = 0;
	if (divided->places > DISTINCT_PLACES || divided->grain > 0)
		return sort_fail(err, SORT_UNSUPPORTED,
						 "several GPUs do not count different keys of so wide a range");
	for (uint64_t place = 0; place < divided->places && status == SORT_OK; place += QUESTIONS - 1)
	{
		uint64_t	left = divided->places - place;
		size_t		n = (size_t) (left < QUESTIONS ? left : QUESTIONS);

		for (size_t i = 0; i < n; i++)
			divided->asked[i] = key_of(divided, place + i);
		status = ask_below(divided, divided->asked, n, err);
		for (size_t i = 1; i < n && status == SORT_OK; i++)
			*distinct += all_below(divided, i) > all_below(divided, i - 1);
		if (left < QUESTIONS && status == SORT_OK)
			*distinct += divided->keys > all_below(divided, n - 1);
	}
	return status;
}

/* SORT_LOOK_AT and SORT_LOOK_SUM of n positions, at most POSITIONS. */
static SortStatus
look_at_positions(DividedKeys *divided, SortLook look, const uint64_t *positions, size_t n,
				  void *answers, SortError *err)
{
	SortStatus	status = find_places(divided, positions, n, err);

	if (status == SORT_OK && look == SORT_LOOK_SUM)
		return add_sums(divided, positions, n, answers, err);
	for (size_t i = 0; i < n && status == SORT_OK; i++)
		((int32_t *) answers)[i] = key_of(divided, divided->searches[i].low);
	return status;
}

/* SORT_LOOK_BELOW of n keys, at most QUESTIONS. */
static SortStatus
look_below(DividedKeys *divided, const int32_t *keys, size_t n, uint64_t *answers, SortError *err)
{
	SortStatus	status = ask_below(divided, keys, n, err);

	for (size_t i = 0; i < n && status == SORT_OK; i++)
		answers[i] = all_below(divided, i);
	if (status == SORT_OK)
		remember(divided, keys, n);
	return status;
}

SortStatus
divided_keys_look_up(DividedKeys *divided, SortLook look, const void *questions, size_t n,
					 void *answers, SortError *err)
{
	const size_t most = look == SORT_LOOK_BELOW ? QUESTIONS : POSITIONS;
	SortStatus	status = SORT_OK;

	if (look == SORT_LOOK_DISTINCT)
		return count_distinct(divided, answers, err);
	for (size_t at = 0; at < n && status == SORT_OK; at += most)
	{
		const size_t count = n - at < most ? n - at : most;
		const char *asked = (const char *) questions + at * sort_look_asks(look);
		char	   *found = (char *) answers + at * sort_look_answers(look);

		if (look == SORT_LOOK_BELOW)
			status = look_below(divided, (const int32_t *) asked, count, (uint64_t *) found, err);
		else
			status = look_at_positions(divided, look, (const uint64_t *) asked, count, found, err);
	}
	return status;
}

DividedKeys *
divided_keys_make(const SortAllocator *a, SortJob *const *jobs, int n, int32_t lo, int32_t hi,
				  uint32_t grain)
{
	DividedKeys *divided = a->alloc(a->arena, sizeof(DividedKeys) +
									(size_t) n * sizeof(DividedAnswers));

	if (divided == NULL)
		return NULL;
	divided->jobs = jobs;
	divided->njobs = n;
	divided->lo = lo;
	divided->hi = hi;
	divided->grain = grain;
	divided->places = ((uint64_t) ((int64_t) hi - lo) >> grain) + 1;
	divided->keys = 0;
	for (int j = 0; j < n; j++)
		divided->keys += jobs[j]->keys;
	divided->nknown = 0;
	return divided;
}
