/*
 * sort_context.h
 *		How PostgreSQL calls src/sort: the memory, settings and GPU of a sort, and
 *		its errors as PostgreSQL's.
 */
#ifndef HPSORT_PG_SORT_CONTEXT_H
#define HPSORT_PG_SORT_CONTEXT_H

#include "pg/compat.h"
#include "pg/interrupts.h"
#include "sort/sorter/sorter.h"

/*
 * Sets the way to a GPU that pg_sort_context() gives to every later sort; *gpu must live as
 * long as the process.  The module's start calls it.  This file cannot name the way, because
 * the processes behind it (pg/gpu) make sorts of their own.
 */
extern void pg_sort_use_gpu(const SortGpu *gpu);

/*
 * Fills *context from the session's settings.  The sort takes all of its memory from memory,
 * which must live as long as the context is used.
 */
extern void pg_sort_context(SortContext *context, MemoryContext memory);

/*
 * Does what pg_sort_context() does, for a sorter whose keys will only be merged into another
 * sorter's.  It never uses the GPU, which would have to sort them again.
 */
extern void pg_sort_context_partial(SortContext *context, MemoryContext memory);

/*
 * Does what pg_sort_context() does, for what PostgreSQL itself would sort otherwise, and which
 * must not fail where PostgreSQL would not: hpsort.device is a wish, hpsort.algorithm does not
 * count.  Without use_gpu the CPU sorts, whatever the settings.
 */
extern void pg_sort_context_lenient(SortContext *context, MemoryContext memory, bool use_gpu);

/* Raises err as a PostgreSQL error, or the interrupt that ended the sort. */
pg_noreturn extern void pg_sort_error(const SortError *err);

/*
 * Raises the error of a call of src/sort, unless the call succeeded.  The usual way to make a
 * call is pg_sort_check(sorter_...(..., &err), &err).  A call can succeed although serving an
 * interrupt at its very end raised an error, which is then raised here.
 */
static inline void
pg_sort_check(SortStatus status, const SortError *err)
{
	if (unlikely(status != SORT_OK))
		pg_sort_error(err);
	if (unlikely(pg_error_kept))
		pg_check_interrupts();
}

/*
 * Does what sorter_stats() does.  Raises the error of an interrupt that came while different
 * keys were counted.
 */
static inline void
pg_sort_stats(Sorter *sorter, const int32 *out, SorterStats *stats)
{
	sorter_stats(sorter, out, stats);
	if (unlikely(pg_error_kept))
		pg_check_interrupts();
}

#endif							/* HPSORT_PG_SORT_CONTEXT_H */
