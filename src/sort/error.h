/*
 * error.h
 *		Errors by value, and the look for a cancel, which is the one error that
 *		comes from outside.
 */
#ifndef HPSORT_ERROR_H
#define HPSORT_ERROR_H

#include "sort/sort_types.h"

/* Fills err and returns status; format as of printf, for the message only. */
extern SortStatus sort_fail(SortError *err, SortStatus status, const char *format,...)
			__attribute__((format(printf, 3, 4)));

/* Fills err and returns SORT_OUT_OF_MEMORY, SORT_CANCELLED. */
extern SortStatus sort_no_memory(SortError *err);
extern SortStatus sort_cancelled(SortError *err);

/* Fills err and returns SORT_KEY_OUT_OF_BOUNDS; lo and hi are inclusive. */
extern SortStatus sort_out_of_bounds(SortError *err, int32_t key, int32_t lo, int32_t hi);

/*
 * Whether the caller wants the sort to end.  Only the thread that called into
 * src/sort may ask, and only while no other thread of the sort is at work.
 */
static inline bool
sort_interrupted(const SortContext *context)
{
	return context->interrupted && context->interrupted(context->interrupted_arg);
}

#endif							/* HPSORT_ERROR_H */
