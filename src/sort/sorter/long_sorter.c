/*
 * long_sorter.c
 *		LongSorter: a bag of unsigned keys of up to 64 bits (see long_sorter.h).
 *
 * Keys of at most 32 bits go to the Sorter with their highest bit turned, which
 * keeps their order.  The rest of this file is about wider ones: a buffer that
 * grows, and runs that hold what the buffer held whenever compressing it paid.
 *
 * A key in the buffer takes 8 bytes, a run 16.  The buffer is compressed when
 * that frees memory, and not before it has twice as many keys as there are runs,
 * so that merging into the runs costs no more than a few steps a key.
 */
#include "sort/sorter/long_sorter.h"

#include <string.h>

#include "sort/error.h"
#include "sort/kernels/wide.h"
#include "sort/sorter/sorter_parts.h"

/* Keys of the first buffer. */
#define FIRST_CAPACITY 1024

/* Fewest keys worth compressing: half a MiB of them. */
#define COMPRESS_MIN ((size_t) 65536)

/*
 * Keys looked at to see whether a buffer repeats itself.  More than a Sorter
 * takes: of 1e5 distinct keys anywhere, 4,096 have some 80 repeats, 1,024 only 5.
 */
#define SAMPLE 4096

/* Keys or runs converted at once, on the stack. */
#define CONVERT 1024

#define RUN_SIZE (2 * sizeof(uint64_t))

/* What turns an unsigned key into the Sorter's key in the same order. */
#define SIGN_BIT (UINT32_C(1) << 31)

/* Whether keys of this many bits are the Sorter's. */
static inline bool
is_narrow(int bits)
{
	return bits <= 32;
}

static inline int32_t
to_narrow(uint32_t key)
{
	return (int32_t) (key ^ SIGN_BIT);
}

static inline uint32_t
from_narrow(int32_t key)
{
	return (uint32_t) key ^ SIGN_BIT;
}

#define RUNS_TYPE LongRuns
#define RUNS_KEY uint64_t
#define RUNS_NAME(name) long_runs_##name
#define RUNS_SCOPE static
#include "sort/runs/runs_template.h"

static inline const SortAllocator *
allocator(const LongSorter *s)
{
	return &s->context->allocator;
}

void
long_sorter_limit_memory(LongSorter *s, size_t memory_limit)
{
	s->memory_limit = memory_limit < LONG_SORTER_MEMORY_MIN ? LONG_SORTER_MEMORY_MIN : memory_limit;
	s->narrow_context.memory_limit = memory_limit == SIZE_MAX ? 0 : s->memory_limit;
}

void
long_sorter_init(LongSorter *s, const SortContext *context, int bits, size_t memory_limit)
{
	memset(s, 0, sizeof(*s));
	s->context = context;
	s->bits = bits;
	s->ordered = true;
	s->narrow_context = *context;
	long_sorter_limit_memory(s, memory_limit);
	sorter_init(&s->narrow, &s->narrow_context, INT32_MIN, INT32_MAX);
}

void
long_sorter_reset(LongSorter *s)
{
	const SortAllocator *a = allocator(s);

	sorter_reset(&s->narrow);
	if (s->buf)
		a->release(a->arena, s->buf);
	long_runs_release(&s->runs, a);
	long_sorter_init(s, s->context, s->bits, s->memory_limit);
}

void
long_sorter_empty(LongSorter *s, size_t memory_limit)
{
	long_runs_release(&s->runs, allocator(s));
	sorter_empty(&s->narrow);
	s->nbuf = s->failed_at = 0;
	s->ordered = true;
	s->n = 0;
	s->bytes_moved = s->fill_ns = s->sort_ns = 0;
	s->started = sort_clock();
	long_sorter_limit_memory(s, memory_limit);
	/* No more than a new buffer may grow to. */
	if (long_sorter_memory(s) > s->memory_limit / 3 * 2)
		long_sorter_reset(s);
}

uint64_t
long_sorter_count(const LongSorter *s)
{
	return is_narrow(s->bits) ? sorter_count(&s->narrow) : s->n;
}

size_t
long_sorter_memory(const LongSorter *s)
{
	return sorter_memory(&s->narrow) + s->capacity * sizeof(uint64_t) +
		s->runs.capacity * RUN_SIZE;
}

/*
 * Most keys that buf may have room for after it is allocated or grown, given the runs and
 * the limit.  An allocator may need the old block beside the new one: twice the
 * size takes three times the memory, and the first block is so large that doubling it ends at two
 * thirds of what there is.
 */
static size_t
most_keys(const LongSorter *s)
{
	size_t		runs = s->runs.capacity * RUN_SIZE;
	size_t		room = runs > s->memory_limit ? 0 : (s->memory_limit - runs) / sizeof(uint64_t);

	if (s->capacity == 0)
		return room / 3 * 2;
	return room > s->capacity ? room - s->capacity : 0;
}

/*
 * Most runs that there may be room for, given buf and the limit, the runs that there are beside
 * them.
 */
static size_t
most_runs(const LongSorter *s)
{
	size_t		held = s->capacity * sizeof(uint64_t) + s->runs.capacity * RUN_SIZE;

	return held > s->memory_limit ? 0 : (s->memory_limit - held) / RUN_SIZE;
}

/* Whether buf has no room for a batch and may not be given any. */
static bool
buffer_is_full(const LongSorter *s)
{
	return s->capacity - s->nbuf < LONG_SORTER_BATCH &&
		most_keys(s) < s->nbuf + LONG_SORTER_BATCH;
}

/* Whether narrow may need more than the limit for another batch, or to be read. */
static bool
narrow_is_full(const LongSorter *s)
{
	size_t		held = sorter_memory(&s->narrow);

	return held > s->memory_limit ||
		sorter_memory_ahead(&s->narrow, LONG_SORTER_BATCH) > s->memory_limit - held;
}

bool
long_sorter_is_full(const LongSorter *s)
{
	size_t		held = long_sorter_memory(s);

	if (held > s->memory_limit)
		return true;
	return is_narrow(s->bits) ? narrow_is_full(s) : buffer_is_full(s);
}

/*
 * Filling the buffer.
 */

/* Makes room for one more key at least, and for wanted of them if the limit allows it. */
static SortStatus
grow_buffer(LongSorter *s, size_t wanted, SortError *err)
{
	const SortAllocator *a = allocator(s);
	size_t		most = most_keys(s);
	size_t		capacity;
	uint64_t   *buf;

	if (s->nbuf > SIZE_MAX / 64 || wanted > SIZE_MAX / 64)
		return sort_no_memory(err);
	wanted += s->nbuf;
	if (s->capacity == 0)
	{
		/* What comes at once is left to later growth if it is much: it may repeat. */
		wanted = wanted < FIRST_CAPACITY || wanted > COMPRESS_MIN ? FIRST_CAPACITY : wanted;
		for (capacity = most; capacity / 2 >= wanted; capacity /= 2)
			;
		/* The caller goes on although the runs have taken all. */
		capacity = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : capacity;
	}
	else
	{
		for (capacity = s->capacity * 2; capacity < wanted && wanted <= COMPRESS_MIN; capacity *= 2)
			;
		if (capacity > most)
			capacity = most > s->capacity ? most : s->capacity + s->capacity / 4;
	}
	if (s->buf == NULL)
	{
		s->started = sort_clock();
		buf = a->alloc(a->arena, capacity * sizeof(uint64_t));
	}
	else
		buf = a->grow(a->arena, s->buf, s->capacity * sizeof(uint64_t),
					  capacity * sizeof(uint64_t));
	if (buf == NULL)
		return sort_no_memory(err);
	s->buf = buf;
	s->capacity = capacity;
	return SORT_OK;
}

/* Puts buf in order, if it is not. */
static SortStatus
order_buffer(LongSorter *s, SortError *err)
{
	uint64_t	since = sort_clock();
	uint64_t	i = 1;
	uint64_t	end = 1;

	if (s->ordered)
		return SORT_OK;
	/* Keys that came in order are found by one read, others by a few keys. */
	while (i == end && sort_step(s->context, i, s->nbuf, &end))
		while (i < end && s->buf[i - 1] <= s->buf[i])
			i++;
	if (i == end && i < s->nbuf)
		return sort_cancelled(err);
	if (i < s->nbuf)
	{
		if (!wide_sort_pairs(s->buf, s->nbuf, s->context))
			return sort_cancelled(err);
		s->bytes_moved += 2 * s->nbuf * sizeof(uint64_t);
	}
	else
		s->bytes_moved += s->nbuf * sizeof(uint64_t);
	s->ordered = true;
	s->sort_ns += sort_clock() - since;
	return SORT_OK;
}

/* Sets *fresh to how many of len ascending keys, equal ones counted once, have no run yet. */
static SortStatus
count_fresh(const LongSorter *s, const uint64_t *keys, size_t len, size_t *fresh, SortError *err)
{
	if (!long_runs_count_fresh(&s->runs, keys, len, s->context, fresh))
		return sort_cancelled(err);
	return SORT_OK;
}

/*
 * Adds len ascending keys, with their counts or, if counts is NULL, each once, to
 * the runs; fresh of them have no run yet.  The runs get some more room than needed, within the
 * limit.
 */
static SortStatus
merge_into_runs(LongSorter *s, const uint64_t *keys, const uint64_t *counts, size_t len,
				size_t fresh, SortError *err)
{
	size_t		runs = s->runs.len + fresh;
	size_t		room = runs + runs / 4;
	size_t		most = most_runs(s);
	size_t		steps;

	if (room > most)
		room = runs > most ? runs : most;
	if (runs > s->runs.capacity && !long_runs_reserve(&s->runs, room, allocator(s)))
		return sort_no_memory(err);
	steps = long_runs_merge_fresh(&s->runs, keys, counts, len, fresh, s->context);
	if (steps == 0)
		return sort_cancelled(err);
	s->bytes_moved += steps * RUN_SIZE;
	return SORT_OK;
}

/*
 * Whether a sample of buf says that its keys repeat.  Among m keys drawn from D
 * equally frequent ones, about m * m / 2D are repeats; runs pay when D is at most a
 * quarter of the keys.
 */
static bool
sample_repeats(const LongSorter *s)
{
	SortContext context = *s->context;
	uint64_t	sample[SAMPLE];
	size_t		wanted = 2 * (size_t) SAMPLE * SAMPLE / s->nbuf;
	size_t		repeats = 0;

	/* So few keys need no look for a cancel. */
	context.interrupted = NULL;
	for (size_t i = 0; i < SAMPLE; i++)
		sample[i] = s->buf[s->nbuf / SAMPLE * i + s->nbuf % SAMPLE * i / SAMPLE];
	(void) wide_sort_pairs(sample, SAMPLE, &context);
	for (size_t i = 1; i < SAMPLE; i++)
		repeats += sample[i - 1] == sample[i];
	return repeats >= (wanted < 8 ? 8 : wanted);
}

/*
 * Turns buf into runs, if that is worth it: once buf is in order it can be told
 * exactly.  Otherwise buf stays, and it is noted when to think of it again.
 */
static SortStatus
compress(LongSorter *s, bool full, SortError *err)
{
	/* With no room left, merging may cost more than usual. */
	size_t		least = full ? s->runs.len / 4 : 2 * s->runs.len;
	size_t		fresh;
	SortStatus	status;

	if (s->nbuf < COMPRESS_MIN || s->nbuf < least || s->nbuf / 2 < s->failed_at)
		return SORT_OK;
	if (!sample_repeats(s))
	{
		s->failed_at = s->nbuf;
		return SORT_OK;
	}
	status = order_buffer(s, err);
	if (status == SORT_OK)
		status = count_fresh(s, s->buf, s->nbuf, &fresh, err);
	if (status != SORT_OK)
		return status;
	if (fresh > s->nbuf / 2 ||
		(s->runs.len + fresh > s->runs.capacity && s->runs.len + fresh > most_runs(s)))
	{
		/* It cost a sort, so that the next try has to wait longer. */
		s->failed_at = 2 * s->nbuf;
		return SORT_OK;
	}
	status = merge_into_runs(s, s->buf, NULL, s->nbuf, fresh, err);
	s->nbuf = 0;
	s->ordered = true;
	s->failed_at = 0;
	return status;
}

/* Room in buf for one more key at least, by compressing it or by growing it. */
static SortStatus
make_buffer_room(LongSorter *s, size_t wanted, SortError *err)
{
	SortStatus	status = SORT_OK;

	if (s->nbuf >= COMPRESS_MIN)
	{
		if (sort_interrupted(s->context))
			return sort_cancelled(err);
		status = compress(s, false, err);
	}
	if (status == SORT_OK && s->nbuf == s->capacity)
		status = grow_buffer(s, wanted, err);
	return status;
}

/* Room for keys in buf; *part is for how many, at most n. */
static SortStatus
next_buffer_part(LongSorter *s, size_t n, size_t *part, SortError *err)
{
	SortStatus	status = SORT_OK;

	if (s->nbuf == s->capacity)
		status = make_buffer_room(s, n, err);
	if (status != SORT_OK)
		return status;
	*part = s->capacity - s->nbuf < n ? s->capacity - s->nbuf : n;
	*part = *part < SORT_CHECK_EVERY ? *part : SORT_CHECK_EVERY;
	if (*part == SORT_CHECK_EVERY && sort_interrupted(s->context))
		return sort_cancelled(err);
	return SORT_OK;
}

/*
 * Adding.  At its end a buffer that may not grow is compressed, if that pays, before anybody is
 * told that the sorter is full.
 */

SortStatus
long_sorter_add(LongSorter *s, const uint64_t *keys, size_t n, SortError *err)
{
	SortStatus	status;
	size_t		part;

	while (n > 0)
	{
		status = next_buffer_part(s, n, &part, err);
		if (status != SORT_OK)
			return status;
		memcpy(s->buf + s->nbuf, keys, part * sizeof(uint64_t));
		s->nbuf += part;
		s->n += part;
		s->ordered = s->nbuf < 2;
		s->bytes_moved += 2 * part * sizeof(uint64_t);
		keys += part;
		n -= part;
	}
	return buffer_is_full(s) ? compress(s, true, err) : SORT_OK;
}

/*
 * Ends a function that has added to narrow, with that status: lets narrow make its keys fewer where
 * it takes too much memory.
 */
static SortStatus
end_narrow(LongSorter *s, SortStatus status, SortError *err)
{
	return status == SORT_OK && narrow_is_full(s) ? sorter_squeeze(&s->narrow, err) : status;
}

SortStatus
long_sorter_add_narrow(LongSorter *s, uint32_t *keys, size_t n, SortError *err)
{
	SortStatus	status;

	for (size_t i = 0; i < n; i++)
		keys[i] ^= SIGN_BIT;
	/* C lets an array be read as its type's signed or unsigned twin. */
	status = sorter_add(&s->narrow, (const int32_t *) keys, n, err);
	return end_narrow(s, status, err);
}

bool
long_sorter_count_packed(LongSorter *s, const PackedKeys *packed)
{
	PackedKeys	narrow = *packed;

	if (!is_narrow(s->bits) || packed->top > UINT32_MAX - (uint32_t) packed->base)
		return false;
	narrow.base = to_narrow((uint32_t) packed->base);
	return sorter_count_packed(&s->narrow, &narrow);
}

/*
 * Adds runs as keys: each key as often as its run counts.  For runs that have two keys at most on
 * average, which take no more room as keys.
 */
static SortStatus
add_expanded(LongSorter *s, const uint64_t *keys, const uint64_t *counts, size_t len,
			 SortError *err)
{
	uint64_t	expanded[CONVERT];
	size_t		n = 0;

	for (size_t i = 0; i < len; i++)
	{
		for (uint64_t left = counts[i]; left > 0; left--)
		{
			if (n == CONVERT)
			{
				SortStatus	status = long_sorter_add(s, expanded, n, err);

				if (status != SORT_OK)
					return status;
				n = 0;
			}
			expanded[n++] = keys[i];
		}
	}
	return long_sorter_add(s, expanded, n, err);
}

SortStatus
long_sorter_add_runs(LongSorter *s, const uint64_t *keys, const uint64_t *counts, size_t len,
					 SortError *err)
{
	SortStatus	status = SORT_OK;
	uint64_t	n = 0;
	bool		few = true;
	size_t		fresh;

	if (len == 0)
		return SORT_OK;
	if (is_narrow(s->bits))
	{
		int32_t		narrow[CONVERT];

		while (len > 0 && status == SORT_OK)
		{
			size_t		part = len < CONVERT ? len : CONVERT;

			for (size_t i = 0; i < part; i++)
				narrow[i] = to_narrow((uint32_t) keys[i]);
			status = sorter_add_runs(&s->narrow, narrow, counts, part, err);
			keys += part;
			counts += part;
			len -= part;
		}
		return end_narrow(s, status, err);
	}

	/* Whether they have two keys at most on average, so far. */
	for (size_t i = 0; i < len; i++)
	{
		n += counts[i];
		few = few && n <= 2 * (uint64_t) len;
	}
	if (few)
		return add_expanded(s, keys, counts, len, err);
	status = count_fresh(s, keys, len, &fresh, err);
	if (status == SORT_OK)
		status = merge_into_runs(s, keys, counts, len, fresh, err);
	s->n += n;
	return status;
}

/* Maps the keys of narrow, which are all in its buffer, as unsigned keys. */
static SortStatus
map_narrow(LongSorter *s, LongSorterMap map, void *arg, SortError *err)
{
	uint64_t	keys[CONVERT];
	Sorter	   *narrow = &s->narrow;

	for (size_t at = 0; at < narrow->nbuf; at += CONVERT)
	{
		size_t		part = narrow->nbuf - at < CONVERT ? narrow->nbuf - at : CONVERT;

		if (at % SORT_CHECK_EVERY == 0 && at > 0 && sort_interrupted(s->context))
			return sort_cancelled(err);
		for (size_t i = 0; i < part; i++)
			keys[i] = from_narrow(narrow->buf[at + i]);
		map(arg, keys, part);
		for (size_t i = 0; i < part; i++)
			narrow->buf[at + i] = to_narrow((uint32_t) keys[i]);
	}
	return SORT_OK;
}

/* Maps n keys in place, some at once, so that a cancel is noticed. */
static SortStatus
map_wide(const LongSorter *s, uint64_t *keys, size_t n, LongSorterMap map, void *arg,
		 SortError *err)
{
	uint64_t	at = 0;
	uint64_t	end;

	for (; sort_step(s->context, at, n, &end); at = end)
		map(arg, keys + at, (size_t) (end - at));
	return at == n ? SORT_OK : sort_cancelled(err);
}

SortStatus
long_sorter_map(LongSorter *s, int bits, LongSorterMap map, void *arg, bool *done, SortError *err)
{
	SortStatus	status;

	*done = is_narrow(s->bits) == is_narrow(bits) && sorter_is_buffer(&s->narrow);
	if (!*done)
		return SORT_OK;
	if (is_narrow(s->bits))
		status = map_narrow(s, map, arg, err);
	else
	{
		status = map_wide(s, s->buf, s->nbuf, map, arg, err);
		if (status == SORT_OK)
			status = map_wide(s, s->runs.keys, s->runs.len, map, arg, err);
	}
	s->bits = bits;
	return status;
}

SortStatus
long_sorter_finish(LongSorter *s, SortError *err)
{
	if (is_narrow(s->bits))
		return sorter_finish(&s->narrow, SORT_WANT_RUNS, err);
	s->fill_ns = s->buf ? sort_clock() - s->started : 0;
	return order_buffer(s, err);
}

/*
 * Reading.  Of wide keys the cursor merges the buffer and the runs on the fly, so that reading
 * takes no memory.
 */

SortStatus
long_sorter_open_cursor(LongSorter *s, LongSorterCursor *c, SortError *err)
{
	memset(c, 0, sizeof(*c));
	c->sorter = s;
	return is_narrow(s->bits) ? sorter_open_cursor(&s->narrow, false, &c->narrow, err) :
		SORT_OK;
}

/* Takes runs of narrow, max at most, behind the *got runs that there are in keys and counts. */
static SortStatus
take_narrow(LongSorterCursor *c, uint64_t *keys, uint64_t *counts, size_t max, size_t *got,
			SortError *err)
{
	int32_t		narrow[CONVERT];

	while (*got < max)
	{
		size_t		wanted = max - *got < CONVERT ? max - *got : CONVERT;
		size_t		part;
		SortStatus	status = sorter_cursor_runs(&c->narrow, narrow, counts + *got, wanted, &part,
												err);

		if (status != SORT_OK)
			return status;
		for (size_t i = 0; i < part; i++)
			keys[*got + i] = from_narrow(narrow[i]);
		*got += part;
		if (part < wanted)
			break;
	}
	return SORT_OK;
}

/* Runs while there are both keys and runs left: the smaller first, equal ones added. */
static size_t
take_both(LongSorterCursor *c, uint64_t *keys, uint64_t *counts, size_t max)
{
	const LongSorter *s = c->sorter;
	size_t		got = 0;

	while (got < max && c->key_at < s->nbuf && c->run_at < s->runs.len)
	{
		uint64_t	key = s->buf[c->key_at];
		uint64_t	run = s->runs.keys[c->run_at];
		uint64_t	count = 0;

		keys[got] = key < run ? key : run;
		if (key <= run)
		{
			count = long_runs_equal_keys(s->buf + c->key_at, s->nbuf - c->key_at, false);
			c->key_at += count;
		}
		if (run <= key)
			count += s->runs.counts[c->run_at++];
		counts[got++] = count;
	}
	return got;
}

SortStatus
long_sorter_cursor_runs(LongSorterCursor *c, uint64_t *keys, uint64_t *counts, size_t max,
						size_t *got, SortError *err)
{
	LongSorter *s = c->sorter;

	*got = 0;
	if (is_narrow(s->bits))
		return take_narrow(c, keys, counts, max, got, err);
	if (sort_interrupted(s->context))
		return sort_cancelled(err);
	*got = take_both(c, keys, counts, max);
	if (c->run_at == s->runs.len)
		*got += long_runs_take_lengths(s->buf, &c->key_at, s->nbuf, keys + *got, counts + *got,
									   max - *got);
	else if (*got < max)
	{
		size_t		left = s->runs.len - c->run_at;
		size_t		part = left < max - *got ? left : max - *got;

		memcpy(keys + *got, s->runs.keys + c->run_at, part * sizeof(uint64_t));
		memcpy(counts + *got, s->runs.counts + c->run_at, part * sizeof(uint64_t));
		c->run_at += part;
		*got += part;
	}
	s->bytes_moved += *got * RUN_SIZE;
	return SORT_OK;
}

void
long_sorter_stats(LongSorter *s, SorterStats *stats)
{
	if (is_narrow(s->bits))
	{
		sorter_stats(&s->narrow, NULL, stats);
		return;
	}
	memset(stats, 0, sizeof(*stats));
	stats->plan.device = SORT_DEVICE_CPU;
	stats->plan.algorithm = s->runs.len > 0 ? SORT_ALGORITHM_ZERO_COMPRESSED : SORT_ALGORITHM_RADIX;
	stats->plan.reason = s->n == 0 ? PLAN_NO_KEYS : s->runs.len > 0 ? PLAN_COUNTED : PLAN_WIDE;
	stats->plan.n = stats->n = s->n;
	stats->plan.other_ns = -1.0;
	stats->threads = 1;
	/* Unknown, 0, while keys may repeat runs. */
	stats->distinct = s->nbuf == 0 ? s->runs.len : 0;
	stats->bytes_moved = s->bytes_moved;
	stats->fill_ns = s->fill_ns;
	stats->sort_ns = s->sort_ns;
}
