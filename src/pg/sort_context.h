/*
 * sort_context.h
 *		Between PostgreSQL and src/sort: memory, errors, interrupts, and the
 *		record of what the last sort did.
 */
#ifndef HPSORT_PG_SORT_CONTEXT_H
#define HPSORT_PG_SORT_CONTEXT_H

#include "postgres.h"

#include "fmgr.h"
#include "pg/compat.h"
#include "sort/sorter.h"
#include "utils/array.h"

/*
 * What one sort is asked for beyond its keys.  Filled from arguments by
 * sort_order_from_args.
 */
typedef struct SortOrder
{
	bool		descending;
	bool		nulls_first;
} SortOrder;

/* Reads arguments number arg (descending) and arg + 1 (nulls_first, or NULL). */
extern SortOrder sort_order_from_args(FunctionCallInfo fcinfo, int arg);

/* Bounds from arguments arg and arg + 1, either NULL; complains if lo > hi. */
extern void sort_bounds_from_args(FunctionCallInfo fcinfo, int arg, int32 *lo, int32 *hi);

extern void sort_bounds_check(int32 lo, int32 hi);

/*
 * The way to a GPU that pg_sort_context lends to every sort from now on; gpu must
 * outlive the process.  Called once, when the module is loaded: the way itself
 * (pg/gpu/backend.c) needs this file's interrupts.
 */
extern void pg_sort_use_gpu(const SortGpu *gpu);

/* Fills context from the settings, with all memory to come from memory. */
extern void pg_sort_context(SortContext *context, MemoryContext memory);

/* For a sorter that will only be merged into another: no GPU is of use to it. */
extern void pg_sort_context_partial(SortContext *context, MemoryContext memory);

/*
 * The most threads that a sort of this session may use: hpsort.threads, but no
 * more than there are processors, nor than one and as many parallel workers as
 * the cluster allows.  A parallel worker has the one that it is.
 */
extern int	pg_sort_threads(void);

/*
 * Serves interrupts, and says whether what is under way should stop: a cancel or
 * a termination is pending, or an interrupt has raised an error, which is kept.
 * For src/sort and src/gpu, out of which nothing may jump.
 */
extern bool pg_interrupt_pending(void);

/* Raises the error that was kept, or else what CHECK_FOR_INTERRUPTS() does. */
extern void pg_check_interrupts(void);
extern bool pg_error_kept;

/* Raises err as a PostgreSQL error, or the interrupt that it stands for. */
pg_noreturn extern void pg_sort_error(const SortError *err);

/*
 * The usual way to call src/sort.  What has succeeded although it was
 * interrupted, at its very end, ends all the same.
 */
static inline void
pg_sort_check(SortStatus status, const SortError *err)
{
	if (unlikely(status != SORT_OK))
		pg_sort_error(err);
	if (unlikely(pg_error_kept))
		pg_check_interrupts();
}

/* sorter_stats(), whose counting of different keys may have been interrupted. */
static inline void
pg_sort_stats(Sorter *sorter, const int32 *out, SorterStats *stats)
{
	sorter_stats(sorter, out, stats);
	if (unlikely(pg_error_kept))
		pg_check_interrupts();
}

/*
 * An array argument, detoasted, and where possible not copied: good for as long
 * as the call.
 */
extern ArrayType *array_arg(Datum arg);

/*
 * The non-null elements of a one-dimensional int4[] where they lie, or an
 * error if it has more dimensions.  *n elements, *nulls of the rest.
 */
extern const int32 *int4_array_keys(ArrayType *array, int *n, int *nulls);

/* The same of an array of any type of four bytes, passed by value. */
extern const int32 *array_keys(ArrayType *array, Oid type, int *n, int *nulls);

/*
 * A new one-dimensional int4[] for n keys and nulls NULLs, which are placed;
 * *keys is where the keys go.  Complains if it would be too large.
 */
extern ArrayType *int4_array_make(int64 n, int64 nulls, int lower_bound, bool nulls_first,
								  int32 **keys);

/* Of large memory that is going to be filled: pages of 2 MB, if they can be had. */
#define PG_HUGE_PAGES_MIN ((Size) 4 * 1024 * 1024)
extern void pg_ask_for_huge_pages(void *block, Size size);

/* Remembers what s has just done, out being all its ordered keys or NULL. */
extern void last_sort_record(const char *function, Sorter *s, const int32 *out, int64 nulls);

/* Then: those keys only stand for others, whose bounds they do not tell. */
extern void last_sort_forget_bounds(void);

#endif							/* HPSORT_PG_SORT_CONTEXT_H */
