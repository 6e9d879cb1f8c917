/*
 * sorter_internal.h
 *		What sorter*.c share, nobody else.
 */
#ifndef HPSORT_SORTER_INTERNAL_H
#define HPSORT_SORTER_INTERNAL_H

#include <time.h>

#include "sort/histogram.h"
#include "sort/job.h"
#include "sort/sorter.h"
#include "sort/wide.h"

/*
 * Keys handled at once: 16 KiB, which stay in the first-level cache between
 * being added and being counted.  A sorter with fewer keys is only a buffer.
 */
#define SORTER_CHUNK 4096

/* Allocated when the buffer first reaches SORTER_CHUNK keys, or at finish. */
struct SorterBig
{
	size_t		nkept;			/* buf[0 .. nkept) were looked at and stay */
	Histogram	dense;			/* range 0: none */
	Runs		sparse;			/* never inside dense's bounds */
	uint64_t	sparse_n;		/* keys in sparse */
	const int32_t *array;		/* of sorter_add_array, while kept as it is */
	size_t		narray;
	bool		array_ordered;	/* array is in ascending order, found by finish */
	int32_t		kept_lo;		/* bounds of array or buf, set by finish */
	int32_t		kept_hi;
	bool		ordered;		/* buf is in ascending order */
	size_t		compress_at;	/* keys in buf that make compressing worth a try */
	size_t		room;			/* keys buf is allocated for, if more than capacity */
	struct SortJob *stream;		/* a GPU job given buf's keys as they come, or NULL */
	size_t		streamed;		/* keys of buf given to it */
	size_t		stream_at;		/* keys in buf that make streaming worth a try */
	bool		gpu_failed;		/* the CPU took over: no GPU for this sorter */
	char		gpu_words[160]; /* ... and why */
	SortWant	want;			/* of the last finish */
	SortPlan	plan;
	uint64_t	bytes_moved;
	uint64_t	started;		/* clock when the first chunk was full */
	uint64_t	fill_ns;		/* from then to finish, producing keys included */
	uint64_t	sort_ns;
	uint64_t	read_ns;
};

/* Keys read or copied between two looks at the interrupt callback. */
#define SORTER_CHECK_EVERY ((size_t) 1 << 20)

static inline const SortAllocator *
sorter_allocator(const Sorter *s)
{
	return &s->context->allocator;
}

static inline uint64_t
sorter_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

/* Allocates s->big if there is none yet. */
extern SortStatus sorter_make_big(Sorter *s, SortError *err);

/* Gives buf room for capacity keys. */
extern SortStatus sorter_grow_buffer(Sorter *s, size_t capacity, SortError *err);

/*
 * Checks n keys against the promised bounds; the error names the first one
 * outside them.
 */
extern SortStatus sorter_check_bounds(const Sorter *s, const int32_t *keys, size_t n,
									  SortError *err);

/* Counts what is pending in buf, as far as dense reaches. */
extern SortStatus sorter_absorb_pending(Sorter *s, SortError *err);

/* Makes dense reach from lo to hi, and moves in what lies there. */
extern SortStatus sorter_make_dense(Sorter *s, int32_t lo, int32_t hi, SortError *err);

/* Counts the array of sorter_add_array, if that is best. */
extern SortStatus sorter_count_array(Sorter *s, SortWant want, SortError *err);

/* Keys buf has memory for. */
static inline size_t
sorter_room(const Sorter *s)
{
	return s->big && s->big->room > s->capacity ? s->big->room : s->capacity;
}

/* Whether keys are worth keeping as runs, by a sample; n is at least 1024. */
extern bool sorter_sample_repeats(const Sorter *s, const int32_t *keys, size_t n);

/* Bounds of everything in the sorter, kept_lo and kept_hi set; false if empty. */
extern bool sorter_find_bounds(const Sorter *s, int32_t *lo, int32_t *hi);

/* Turns buf into runs and adds them to sparse. */
extern SortStatus sorter_compress(Sorter *s, SortError *err);

/* Sorts buf, if it is not. */
extern SortStatus sorter_order_buffer(Sorter *s, SortError *err);

/* A cursor before the first part, nothing sorted for it. */
extern void sorter_cursor_at_start(Sorter *s, SorterCursor *cursor);

/* sorter_cursor_runs without a look at the interrupt callback. */
extern size_t sorter_cursor_take_runs(SorterCursor *cursor, int32_t *keys, uint64_t *counts,
									  size_t max);

/*
 * sorter_device.c
 */

/* Makes big->plan for all keys that the sorter holds, and counts buf if that is it. */
extern SortStatus sorter_plan(Sorter *s, SortWant want, SortError *err);

/* Whether the plan would give n keys from lo to hi to the GPU. */
extern bool sorter_prefers_gpu(const Sorter *s, SortWant want, uint64_t n, int32_t lo, int32_t hi,
							   SortPlan *plan);

/* Opens a job early for the keys in buf, if that pays; closes it. */
extern SortStatus sorter_stream_start(Sorter *s, SortError *err);
extern void sorter_stream_drop(Sorter *s);

/* Gives the open job, if there is one, what buf has newly kept. */
extern SortStatus sorter_stream(Sorter *s, SortError *err);

/* Makes buf look full a block at a time while it is streamed. */
extern void sorter_limit_buffer(Sorter *s);

/*
 * Sorts the keys that are still keys on the planned device.  *done is false
 * when the GPU failed and another plan was made, for the CPU: the caller looks
 * again where the keys are.
 */
extern SortStatus sorter_run_job(Sorter *s, const SortOutput *output, bool *done, SortError *err);

/* Whether the keys that are still keys make fewer bytes of runs, by a guess. */
extern bool sorter_runs_are_smaller(const Sorter *s);

/* The GPU turns the keys into runs, or puts buf in order; likewise. */
extern SortStatus sorter_gpu_to_runs(Sorter *s, bool *done, SortError *err);
extern SortStatus sorter_gpu_order_buffer(Sorter *s, bool *done, SortError *err);

#endif							/* HPSORT_SORTER_INTERNAL_H */
