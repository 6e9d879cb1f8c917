/*
 * sorter_parts.h
 *		What a sorter consists of (struct SorterBig), and what its files share.
 *
 *	sorter_parts.c		the moves of keys between the parts, which lose none; it knows
 *						neither the plan nor devices, unlike the files above it:
 *	sorter_fill.c		filling and finish: what holds the keys best
 *	sorter_device.c		planning, the GPU while the sorter fills, jobs
 *	sorter_cursor.c		the keys in order, part by part
 *	sorter_read.c		reads, over the two above
 *	sorter_serialize.c	bytes, over sorter_fill.c and the cursor
 *
 * For these files only, and for long_sorter.c, which limits a sorter's memory.  Functions that
 * return SortStatus fill err.
 */
#ifndef HPSORT_SORTER_PARTS_H
#define HPSORT_SORTER_PARTS_H

#include "sort/clock.h"
#include "sort/device/job.h"
#include "sort/runs/histogram.h"
#include "sort/sorter/sorter.h"
#include "sort/steps.h"

/*
 * Keys handled at once: 16 KiB, which stay in the first-level cache between
 * being added and being counted.  A sorter with fewer keys is only a buffer.
 */
#define SORTER_CHUNK 4096

/* Keys looked at to judge a buffer or an array. */
#define SORTER_SAMPLE 1024

/*
 * The parts besides buf, and what was planned and done.  Allocated when the
 * buffer first reaches SORTER_CHUNK keys, or at finish.
 */
struct SorterBig
{
	size_t		nkept;			/* keys of buf looked at, and to stay there */
	Histogram	dense;			/* range 0: none */
	Runs		sparse;			/* never inside dense's bounds */
	uint64_t	sparse_n;		/* keys in sparse */
	const int32_t *array;		/* the caller's, of sorter_add_array, until counted or copied */
	size_t		narray;			/* keys of array; 0: none */
	bool		array_ordered;	/* array is in ascending order, found by finish */
	int32_t		kept_lo;		/* bounds of array or buf, set by finish */
	int32_t		kept_hi;
	bool		ordered;		/* buf is in ascending order */
	size_t		compress_at;	/* keys in buf that make compressing worth a try */
	size_t		room;			/* keys buf is allocated for, if more than capacity */
	SortJob    *stream;			/* a GPU job given buf's keys as they come, or NULL */
	size_t		streamed;		/* keys of buf given to stream */
	size_t		stream_at;		/* keys in buf that make streaming worth a try */
	bool		gpu_failed;		/* the CPU took over: no GPU for this sorter */
	char		gpu_words[160]; /* why the GPU failed */
	SortWant	want;			/* of the last finish */
	SortPlan	plan;
	uint64_t	bytes_moved;
	uint64_t	started;		/* clock when the first chunk was full */
	uint64_t	fill_ns;		/* as in SorterStats, like the next two */
	uint64_t	sort_ns;
	uint64_t	read_ns;
};

/* The allocator of all memory of a sorter: the caller's, of the context. */
static inline const SortAllocator *
sorter_allocator(const Sorter *s)
{
	return &s->context->allocator;
}

/* Whether the caller's limit allows this many bytes besides the bytes that are held. */
static inline bool
sorter_allows(const Sorter *s, uint64_t bytes)
{
	size_t		limit = s->context->memory_limit;
	size_t		held = limit > 0 ? sorter_memory(s) : 0;

	return limit == 0 || (held <= limit && bytes <= limit - held);
}

/*
 * Whether it allows a histogram of range bins, beside the one that is widened.  Narrow
 * histograms have some tables.
 */
static inline bool
sorter_allows_bins(const Sorter *s, uint64_t range)
{
	uint64_t	bin = sizeof(uint32_t) + (s->big && s->big->dense.folded ? sizeof(uint64_t) : 0);

	return sorter_allows(s, (range + 4 * SORTER_CHUNK) * bin);
}

/* Keys buf has memory for. */
static inline size_t
sorter_room(const Sorter *s)
{
	return s->big && s->big->room > s->capacity ? s->big->room : s->capacity;
}

/* Whether there is no choice to make: a few keys, and nothing is forced. */
static inline bool
sorter_is_small(const Sorter *s)
{
	return s->big == NULL && s->context->device != SORT_DEVICE_GPU &&
		(s->context->algorithm == SORT_ALGORITHM_AUTO ||
		 s->context->algorithm == SORT_ALGORITHM_RADIX);
}

/* Allocates s->big if there is none yet. */
extern SortStatus sorter_make_big(Sorter *s, SortError *err);

/* Gives buf room for capacity keys. */
extern SortStatus sorter_grow_buffer(Sorter *s, size_t capacity, SortError *err);

/* Closes the job that is given keys while the sorter fills, if one is open. */
extern void sorter_stream_drop(Sorter *s);

/*
 * Checks n keys against the promised bounds; the error names the first one
 * outside them.
 */
extern SortStatus sorter_check_bounds(const Sorter *s, const int32_t *keys, size_t n,
									  SortError *err);

/*
 * The bounds of everything in a sorter whose kept_lo and kept_hi are set; false,
 * and nothing set, if it is empty.
 */
extern bool sorter_find_bounds(const Sorter *s, int32_t *lo, int32_t *hi);

/*
 * Counts n keys from anywhere into dense, which must exist, and leaves keys
 * outside its bounds, checked against the promise, at the end of buf, which
 * must have room for n.
 */
extern SortStatus sorter_absorb(Sorter *s, const int32_t *keys, size_t n, SortError *err);

/* Counts the pending keys of buf that lie in dense; the others are checked, and stay in buf. */
extern SortStatus sorter_absorb_pending(Sorter *s, SortError *err);

/* Makes dense reach from lo to hi, and moves in what lies there. */
extern SortStatus sorter_make_dense(Sorter *s, int32_t lo, int32_t hi, SortError *err);

/* Turns buf into runs and adds them to sparse. */
extern SortStatus sorter_compress(Sorter *s, SortError *err);

/* Bytes that sorter_compress needs, if buf has this many different keys. */
extern size_t sorter_compress_memory(const Sorter *s, size_t distinct);

/* Whether all keys are in buf, and nobody else has a copy of them. */
extern bool sorter_is_buffer(const Sorter *s);

/* Forgets all keys, and keeps buf's memory for the next ones. */
extern void sorter_empty(Sorter *s);

/*
 * Counts or compresses the keys in buf although it has room, if that pays: sorter_memory_ahead
 * is too much for the caller.
 */
extern SortStatus sorter_squeeze(Sorter *s, SortError *err);

/* Whether n keys are in ascending order: reads all keys that are, and of most others a few. */
extern SortStatus sorter_find_order(const Sorter *s, const int32_t *keys, size_t n, bool *ordered,
									SortError *err);

/* Sorts buf, if it is not in order. */
extern SortStatus sorter_order_buffer(Sorter *s, SortError *err);

/* Fills sample with SORTER_SAMPLE of n keys, spread evenly, in order; n >= SORTER_SAMPLE. */
extern void sorter_take_sample(const Sorter *s, const int32_t *keys, size_t n, int32_t *sample);

/* Whether n keys with that sample repeat enough to be kept as runs. */
extern bool sorter_sample_repeats(const int32_t *sample, size_t n);

/*
 * sorter_device.c: the plan, and a GPU's jobs.
 */

/*
 * Makes big->plan for all keys that the sorter holds; and counts the keys that are still keys, if
 * that is the plan and the CPU's.  Needs kept_lo and kept_hi.
 */
extern SortStatus sorter_plan(Sorter *s, SortWant want, SortError *err);

/* Whether the plan, which is left in *plan, would give n keys from lo to hi to the GPU. */
extern bool sorter_prefers_gpu(const Sorter *s, SortWant want, uint64_t n, int32_t lo, int32_t hi,
							   SortPlan *plan);

/* Opens a job for the keys in buf before all keys are there, if that pays. */
extern SortStatus sorter_stream_start(Sorter *s, SortError *err);

/* Gives the open job, if there is one, what buf has newly kept. */
extern SortStatus sorter_stream(Sorter *s, SortError *err);

/* Makes buf look full whenever another block of keys has come, while it is streamed. */
extern void sorter_limit_buffer(Sorter *s);

/*
 * Sorts the keys that are still keys on the planned device; if output->keys is buf, buf may be
 * another block afterwards, which has the result.  *done is false
 * when the GPU failed and another plan was made, for the CPU: the caller looks
 * again where the keys are.
 */
extern SortStatus sorter_run_job(Sorter *s, const SortOutput *output, bool *done, SortError *err);

/* Whether the keys that are still keys make fewer bytes as runs; a guess, by a sample. */
extern bool sorter_runs_are_smaller(const Sorter *s);

/* The GPU turns the keys into runs; *done as in sorter_run_job. */
extern SortStatus sorter_gpu_to_runs(Sorter *s, bool *done, SortError *err);

/*
 * sorter_cursor.c: in order, a sorter's keys are what lies below dense, dense, what lies above
 * it.  What lies outside dense is either keys in buf, in ascending order, or runs in sparse,
 * never both.
 */

/* Sets a cursor before the first key or run in its direction; sorts nothing. */
extern void sorter_cursor_start(Sorter *s, bool descending, SorterCursor *cursor);

/* sorter_cursor_runs without a look at the interrupt callback; returns how many. */
extern size_t sorter_cursor_take_runs(SorterCursor *cursor, int32_t *keys, uint64_t *counts,
									  size_t max);

#endif							/* HPSORT_SORTER_PARTS_H */
