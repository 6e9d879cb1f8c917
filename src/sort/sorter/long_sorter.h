/*
 * long_sorter.h
 *		LongSorter: a bag of unsigned keys of up to 64 bits, read as runs.
 *
 * Keys that fit 32 bits are a Sorter's (sorter.h), with all its ways, the GPU's
 * among them.  Wider ones are kept as keys, and compressed to runs (key, count)
 * while they repeat; they are put in order when they are read.
 *
 * Life: long_sorter_init, then adding in any order, then long_sorter_finish, then
 * cursors.  Adding after finish is allowed and needs another finish.
 * long_sorter_reset gives all memory back.
 *
 * All functions that can fail return SORT_OK or fill err; after an error the
 * sorter may only be reset.  Not thread-safe.
 */
#ifndef HPSORT_LONG_SORTER_H
#define HPSORT_LONG_SORTER_H

#include "sort/sorter/sorter.h"

/* Runs as in runs.h, of wider keys. */
typedef struct LongRuns
{
	uint64_t   *keys;			/* strictly ascending */
	uint64_t   *counts;			/* each > 0 */
	size_t		len;
	size_t		capacity;
} LongRuns;

typedef struct LongSorter
{
	const SortContext *context; /* must outlive the sorter */
	int			bits;			/* keys are below 2^bits, 0 .. 64 */
	size_t		memory_limit;	/* bytes; see long_sorter_is_full */
	Sorter		narrow;			/* of keys with at most 32 bits: key - 2^31 */
	SortContext narrow_context; /* narrow's: context, with the limit in it, if there is one */

	/* Wider keys: the ones that are not in the runs ... */
	uint64_t   *buf;
	size_t		nbuf;
	size_t		capacity;
	bool		ordered;		/* buf is in ascending order */
	size_t		failed_at;		/* keys in buf when compressing them did not pay; 0: never */
	LongRuns	runs;			/* ... and the ones that are */
	uint64_t	n;				/* keys in all */

	uint64_t	bytes_moved;	/* as in SorterStats, like the next two */
	uint64_t	fill_ns;
	uint64_t	sort_ns;
	uint64_t	started;		/* clock when buf was first allocated */
} LongSorter;

/*
 * Makes *s an empty sorter of keys below 2^bits.  memory_limit: see
 * long_sorter_is_full; SIZE_MAX: none.  Allocates nothing.  *s may not be moved.
 */
extern void long_sorter_init(LongSorter *s, const SortContext *context, int bits,
							 size_t memory_limit);

/* Sets another memory limit. */
extern void long_sorter_limit_memory(LongSorter *s, size_t memory_limit);

/* Frees everything and leaves *s empty, as long_sorter_init did. */
extern void long_sorter_reset(LongSorter *s);

/*
 * Forgets all keys, as long_sorter_reset does, but keeps the memory of keys that were
 * not runs for the next ones, if it is not too much for the new limit.
 */
extern void long_sorter_empty(LongSorter *s, size_t memory_limit);

/*
 * Adds n keys to a sorter of keys of more than 32 bits; the caller's array is not needed
 * afterwards.
 */
extern SortStatus long_sorter_add(LongSorter *s, const uint64_t *keys, size_t n, SortError *err);

/*
 * Adds n keys, in an array that may be overwritten, to a sorter of keys of at most 32 bits.
 */
extern SortStatus long_sorter_add_narrow(LongSorter *s, uint32_t *keys, size_t n, SortError *err);

/*
 * Counts packed keys, whose base is a key as long_sorter_add_narrow takes it; false, and nothing
 * done, if they are not only counted.
 */
extern bool long_sorter_count_packed(LongSorter *s, const PackedKeys *packed);

/* Adds len runs, keys strictly ascending, counts > 0. */
extern SortStatus long_sorter_add_runs(LongSorter *s, const uint64_t *keys,
									   const uint64_t *counts, size_t len, SortError *err);

/* Turns n keys into others, of which a larger key becomes the larger one. */
typedef void (*LongSorterMap) (void *arg, uint64_t *keys, size_t n);

/*
 * Turns all keys, which are below 2^bits afterwards, in place.  *done is false, and nothing
 * has changed, where that cannot be done: keys have been counted, or get a width of
 * which they are kept otherwise.
 */
extern SortStatus long_sorter_map(LongSorter *s, int bits, LongSorterMap map, void *arg,
								  bool *done, SortError *err);

/* Keys added so far. */
extern uint64_t long_sorter_count(const LongSorter *s);

/* Bytes of memory held now besides *s itself. */
extern size_t long_sorter_memory(const LongSorter *s);

/*
 * Whether the sorter is about to need more than its memory limit: adding
 * LONG_SORTER_BATCH keys or reading what is there may.  The caller then reads and
 * resets it, or accepts that.  A limit below LONG_SORTER_MEMORY_MIN counts as that.  A
 * block that grows counts twice, as an allocator may have to copy it.  What is not
 * counted: see sorter_memory_ahead.
 */
#define LONG_SORTER_MEMORY_MIN ((size_t) 4 << 20)
#define LONG_SORTER_BATCH 8192
extern bool long_sorter_is_full(const LongSorter *s);

/* Ends the adding: puts the keys in order, or plans to. */
extern SortStatus long_sorter_finish(LongSorter *s, SortError *err);

/* A position in the ordered runs.  Valid until the sorter is added to or reset. */
typedef struct LongSorterCursor
{
	LongSorter *sorter;
	SorterCursor narrow;
	size_t		key_at;			/* next key of the ordered buf */
	size_t		run_at;			/* next run */
} LongSorterCursor;

/* Starts at the smallest key. */
extern SortStatus long_sorter_open_cursor(LongSorter *s, LongSorterCursor *cursor,
										  SortError *err);

/* Writes up to max runs to keys and counts, ascending; *got < max only at the end. */
extern SortStatus long_sorter_cursor_runs(LongSorterCursor *cursor, uint64_t *keys,
										  uint64_t *counts, size_t max, size_t *got,
										  SortError *err);

/*
 * What was done; call after finish.  lo and hi of the statistics are not set.
 */
extern void long_sorter_stats(LongSorter *s, SorterStats *stats);

#endif							/* HPSORT_LONG_SORTER_H */
