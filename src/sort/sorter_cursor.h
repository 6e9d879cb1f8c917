/*
 * sorter_cursor.h
 *		A cursor over the parts of a sorter, for sorter_read.c and
 *		sorter_serialize.c; others read through sorter.h.
 *
 * In order, a sorter's keys are: what lies below dense, dense, what lies above
 * it.  What lies outside dense is either keys in buf, in ascending order, or
 * runs in sparse, never both.
 */
#ifndef HPSORT_SORTER_CURSOR_H
#define HPSORT_SORTER_CURSOR_H

#include "sort/sorter_parts.h"

/* Sets a cursor before the first key or run in its direction; sorts nothing. */
extern void sorter_cursor_start(Sorter *s, bool descending, SorterCursor *cursor);

/* sorter_cursor_runs without a look at the interrupt callback; returns how many. */
extern size_t sorter_cursor_take_runs(SorterCursor *cursor, int32_t *keys, uint64_t *counts,
									  size_t max);

#endif							/* HPSORT_SORTER_CURSOR_H */
