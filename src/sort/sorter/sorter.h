/*
 * sorter.h
 *		What other rooms sort keys with: keys in, runs or ordered keys out.
 *
 * A Sorter is a bag of int32 keys that stays small while the keys are few or
 * repeat.  It holds, at any time, the union of three parts:
 *
 *	buf		keys as they came (the inline array, then one growing block)
 *	dense	a histogram over one contiguous range of keys (histogram.h)
 *	sparse	runs (key, count) outside that range (runs.h)
 *
 * No key of buf[0 .. nkept) lies inside the dense range; buf[nkept .. nbuf) is
 * pending: not looked at yet.  Whenever buf is full the sorter decides anew
 * (plan.h) whether a histogram, wider bounds, compressed runs or more room
 * serves best; every transition moves keys and loses none.
 *
 * With a GPU in the context, a large buffer of keys that stay keys is given to
 * the GPU while it fills.  A result of the GPU is read into memory that is not
 * the only copy of the keys: a GPU that fails costs time, nothing else.  If
 * device "gpu" is forced, keys are kept as keys, however much they repeat; only
 * runs that are added (by sorter_add_runs, or by a merge of a sorter that was
 * given runs) stay runs, and need no device.
 *
 * Life: sorter_init, then add / merge / deserialize in any order and number,
 * then sorter_finish, then any of the read functions any number of times.
 * Adding after finish is allowed (window aggregates do) and needs another
 * finish before the next read.  sorter_reset gives all memory back.
 *
 * All functions return SORT_OK or fill err.  After an error the sorter may
 * only be reset.  Not thread-safe; one thread owns a Sorter.
 */
#ifndef HPSORT_SORTER_H
#define HPSORT_SORTER_H

#include "sort/extents/extent.h"
#include "sort/plan.h"
#include "sort/runs/runs.h"
#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Keys that fit without a second allocation: most groups are this small. */
#define SORTER_INLINE_KEYS 16

typedef struct SorterBig SorterBig;

typedef struct Sorter
{
	/*
	 * What adding a key touches comes first, in one cache line: with millions of sorters (one a
	 * group) each key costs a cache miss, not two.
	 */
	int32_t    *buf;			/* inline_keys, or a block of the allocator */
	size_t		nbuf;			/* keys in buf */
	size_t		capacity;		/* keys buf has room for */
	int32_t		inline_keys[SORTER_INLINE_KEYS];
	SorterBig  *big;			/* NULL while only buf is used */
	const SortContext *context; /* must outlive the sorter */
	int32_t		lo;				/* promised bounds, inclusive; the whole int4 */
	int32_t		hi;				/* range when nothing is promised */
} Sorter;

/* What the last finish and reads did, for hpsort_last() and the benches. */
typedef struct SorterStats
{
	SortPlan	plan;			/* device, algorithm, reason */
	int			threads;		/* of this process that sorted */
	uint64_t	n;				/* keys */
	int32_t		lo;				/* smallest key present (undefined if n = 0) */
	int32_t		hi;				/* largest key present */
	uint64_t	distinct;		/* runs; 0 when not counted */
	uint64_t	bytes_moved;	/* read and written by the sorter's own passes */
	uint64_t	fill_ns;		/* from the first full chunk to finish, with the caller's time to
								 * produce keys */
	uint64_t	sort_ns;		/* in finish and reads: sorting what was wide */
	uint64_t	read_ns;		/* in reads: expanding, copying */
} SorterStats;

/*
 * Makes *s an empty sorter.  lo and hi are inclusive bounds that every key is
 * checked against (INT32_MIN and INT32_MAX: no promise); lo <= hi is the
 * caller's duty.  Allocates nothing.
 */
extern void sorter_init(Sorter *s, const SortContext *context, int32_t lo, int32_t hi);

/* Frees everything and leaves *s empty, with the same context and bounds. */
extern void sorter_reset(Sorter *s);

/* Counts or keeps the pending keys and makes room for at least one more. */
extern SortStatus sorter_flush(Sorter *s, SortError *err);

/* Whether buf must be flushed before another key is put into it. */
static inline bool
sorter_is_full(const Sorter *s)
{
	return __builtin_expect(s->nbuf == s->capacity, 0);
}

/* Adds one key to a sorter that is not full. */
static inline void
sorter_put_key(Sorter *s, int32_t key)
{
	s->buf[s->nbuf++] = key;
}

/* Adds one key.  Bounds are checked when buf is next flushed. */
static inline SortStatus
sorter_add_key(Sorter *s, int32_t key, SortError *err)
{
	if (sorter_is_full(s))
	{
		SortStatus	status = sorter_flush(s, err);

		if (status != SORT_OK)
			return status;
	}
	sorter_put_key(s, key);
	return SORT_OK;
}

/* Adds n keys; the caller's array is not needed afterwards. */
extern SortStatus sorter_add(Sorter *s, const int32_t *keys, size_t n, SortError *err);

/* Adds packed keys, without unpacking them where they are only counted. */
extern SortStatus sorter_add_packed(Sorter *s, const PackedKeys *packed, SortError *err);

/*
 * Counts packed keys, which takes no more memory; false, and nothing done, if they are not only
 * counted.
 */
extern bool sorter_count_packed(Sorter *s, const PackedKeys *packed);

/*
 * Adds n keys of an array that stays in place and unchanged until the sorter is
 * reset.  Only for an empty sorter, and nothing may be added later.  The
 * cheapest way to sort an array: it is not copied before it is sorted.
 */
extern SortStatus sorter_add_array(Sorter *s, const int32_t *keys, size_t n, SortError *err);

/* Adds len runs, keys strictly ascending, counts > 0. */
extern SortStatus sorter_add_runs(Sorter *s, const int32_t *keys, const uint64_t *counts,
								  size_t len, SortError *err);

/* Adds all of src's keys; src is unchanged (but flushed). */
extern SortStatus sorter_merge(Sorter *s, Sorter *src, SortError *err);

/* Keys added so far, pending ones included. */
extern uint64_t sorter_count(const Sorter *s);

/*
 * Ends the adding: checks the bounds of pending keys and makes the plan for the
 * result that is wanted.  SORT_WANT_PERMUTATION needs keys added by
 * sorter_add_array.
 */
extern SortStatus sorter_finish(Sorter *s, SortWant want, SortError *err);

/*
 * Writes all sorter_count() keys in order to out, which has room for them.
 * out may be the array of sorter_add_array, which is then sorted in place.
 */
extern SortStatus sorter_read_keys(Sorter *s, bool descending, int32_t *out, SortError *err);

/*
 * After sorter_finish(SORT_WANT_PERMUTATION) of keys from sorter_add_array:
 * writes the stable sorting permutation to out: out[i] is base plus the
 * 0-based position of the i-th key in order, equal keys in input order, also
 * when descending.  At most UINT32_MAX keys.
 */
extern SortStatus sorter_read_permutation(Sorter *s, bool descending, uint32_t base,
										  uint32_t *out, SortError *err);

/*
 * A position in the ordered keys, for reading them a batch at a time.  Valid
 * until the sorter is added to or reset.  Owned by the caller; holds no
 * memory of its own.
 */
typedef struct SorterCursor
{
	Sorter	   *sorter;
	bool		descending;
	int			part;			/* which part is being read (sorter_cursor.c) */
	size_t		key_at;			/* next key of sorted buf */
	size_t		key_end;
	size_t		run_at;			/* next run of sparse */
	size_t		run_end;
	uint64_t	run_used;		/* keys already taken of that run */
	uint64_t	bin_at;			/* next bin of dense */
	uint64_t	bin_used;		/* keys already taken of that bin */
} SorterCursor;

/* Starts at the first key in order.  Sorts what is not yet sorted. */
extern SortStatus sorter_open_cursor(Sorter *s, bool descending, SorterCursor *cursor,
									 SortError *err);

/*
 * Writes up to max keys to out; *got < max only at the end.  All max places of
 * out may be overwritten, also behind *got.
 */
extern SortStatus sorter_cursor_keys(SorterCursor *cursor, int32_t *out, size_t max,
									 size_t *got, SortError *err);

/* Writes up to max runs to keys and counts; *got < max only at the end. */
extern SortStatus sorter_cursor_runs(SorterCursor *cursor, int32_t *keys, uint64_t *counts,
									 size_t max, size_t *got, SortError *err);

/*
 * Serialization, for parallel workers, in native byte order: what is counted as
 * runs, kept keys as keys.  sorter_serialize_size flushes and sets *size to the
 * bytes that sorter_serialize will write to data.  sorter_deserialize adds them
 * to s and checks all of them: any inconsistency is SORT_CORRUPT.
 */
extern SortStatus sorter_serialize_size(Sorter *s, size_t *size, SortError *err);
extern void sorter_serialize(Sorter *s, void *data);
extern SortStatus sorter_deserialize(Sorter *s, const void *data, size_t size, SortError *err);

/* Bytes of memory held now besides *s itself. */
extern size_t sorter_memory(const Sorter *s);

/*
 * Bytes that adding up to n more keys, or finishing and reading the sorter's runs, cannot
 * do without besides the bytes held now, when no algorithm is forced and no array was given.  What
 * is a choice, a histogram or runs instead of keys, is only made where the context's
 * memory_limit allows it.  Not counted: what a GPU returns, and the second counters of a
 * histogram of more than 2^32 keys.
 */
extern size_t sorter_memory_ahead(const Sorter *s, size_t n);

/*
 * What was done; call after finish.  stats->distinct is counted in a pass over
 * out, the sorter's keys in order; with NULL it is 0 unless the sorter knows it.
 */
extern void sorter_stats(Sorter *s, const int32_t *out, SorterStats *stats);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_SORTER_H */
