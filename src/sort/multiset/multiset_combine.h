/*
 * multiset_combine.h
 *		Multisets made of others: added, subtracted, multiplied, cut; or of a sorter.
 *
 * Values are read and written a block at a time.  All functions look for an interrupt
 * (SORT_CANCELLED) every million runs or so; SORT_CORRUPT is as of multiset_read_block,
 * and the writer's errors are those of multiset_writer_add.  A writer that got an error
 * can only be released.
 */
#ifndef HPSORT_MULTISET_COMBINE_H
#define HPSORT_MULTISET_COMBINE_H

#include "sort/multiset/multiset.h"
#include "sort/sorter/sorter.h"

/*
 * All runs in order, block by block.  Owned by the caller; holds no memory of its own,
 * and is valid as long as the multiset and the context.
 */
typedef struct MultisetCursor
{
	const Multiset *multiset;
	const SortContext *context;
	uint32_t	next;			/* number of the next block */
	uint32_t	at;				/* run of block that its reader has come to */
	MultisetBlock block;		/* n = 0: there are no more */
} MultisetCursor;

/* Starts before the first block: call multiset_cursor_next for it. */
extern void multiset_cursor_open(MultisetCursor *c, const Multiset *m, const SortContext *context);

/* Decodes the next block, with at 0; block.n is 0 behind the last one. */
extern SortStatus multiset_cursor_next(MultisetCursor *c, SortError *err);

/* Adds all runs of both to an empty writer. */
extern SortStatus multiset_add(const Multiset *a, const Multiset *b, const SortContext *context,
							   MultisetWriter *w, SortError *err);

/* What multiset_subtract misses; count 0: nothing. */
typedef struct MultisetLack
{
	int32_t		key;
	uint64_t	count;
} MultisetLack;

/*
 * Adds a less b to an empty writer: runs whose count is 0 are left out.  Where b has
 * more of a key than a, lack is the first such key with b's count of it, the status is
 * SORT_OK nevertheless, and what was written is of no use.
 */
extern SortStatus multiset_subtract(const Multiset *a, const Multiset *b,
									const SortContext *context, MultisetWriter *w,
									MultisetLack *lack, SortError *err);

/* Adds factor times m to an empty writer; nothing for a factor of 0. */
extern SortStatus multiset_scale(const Multiset *m, uint64_t factor, const SortContext *context,
								 MultisetWriter *w, SortError *err);

/*
 * Adds m's runs with keys lo .. hi to an empty writer, none where lo > hi.  Blocks before
 * such keys are not read, and at most one behind them.
 */
extern SortStatus multiset_restrict(const Multiset *m, int32_t lo, int32_t hi,
									const SortContext *context, MultisetWriter *w,
									SortError *err);

/* Adds all runs of a finished sorter to an empty writer. */
extern SortStatus multiset_from_sorter(Sorter *s, MultisetWriter *w, SortError *err);

#endif							/* HPSORT_MULTISET_COMBINE_H */
