/*
 * rows.h
 *		Puts references to rows into the order of their keys, stably.
 *
 * The caller keeps the rows and knows each by a reference that grows from row
 * to row: a position, an offset.  Keys are unsigned; the caller has mapped
 * direction and NULLs into them.  The result is the references themselves, so
 * that no second array translates positions to rows.
 */
#ifndef HPSORT_ROWS_H
#define HPSORT_ROWS_H

#include "sort/kernels/wide.h"
#include "sort/plan.h"
#include "sort/sort_types.h"

/* Rows to be sorted, and after rows_sort the result. */
typedef struct RowsSort
{
	uint64_t   *pairs;			/* ROWS_PAIR of each row, in the order of the references */
	size_t		n;
	uint32_t	lo;				/* inclusive bounds of all keys */
	uint32_t	hi;

	/* Set by rows_sort; refs is NULL unless that succeeds. */
	uint32_t   *refs;			/* a new block of the allocator, or pairs' own memory */
	uint64_t	distinct;		/* different keys */
} RowsSort;

/*
 * Chooses how n keys in lo .. hi are to be sorted: the plan of a stable
 * permutation, on the CPU alone unless any_device.  A forced algorithm or
 * device that cannot do it gives way, for ORDER BY must not fail where another
 * would serve.
 */
extern void rows_plan(const SortContext *context, uint64_t n, uint64_t lo, uint64_t hi,
					  bool any_device, SortPlan *plan);

/*
 * Sorts by a plan of rows_plan, in which the job notes what was done: the CPU
 * takes over from a GPU that fails.  The contents of rows->pairs are lost.
 */
extern SortStatus rows_sort(RowsSort *rows, SortPlan *plan, const SortContext *context,
							SortError *err);

#endif							/* HPSORT_ROWS_H */
