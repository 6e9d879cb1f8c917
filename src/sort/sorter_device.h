/*
 * sorter_device.h
 *		The sorter and its devices; for sorter_fill.c and sorter_read.c only.
 */
#ifndef HPSORT_SORTER_DEVICE_H
#define HPSORT_SORTER_DEVICE_H

#include "sort/job.h"
#include "sort/sorter_parts.h"

/* Makes big->plan for all keys that the sorter holds, and counts buf if that is it. */
extern SortStatus sorter_plan(Sorter *s, SortWant want, SortError *err);

/* Whether the plan, which is left in *plan, would give n keys from lo to hi to the GPU. */
extern bool sorter_prefers_gpu(const Sorter *s, SortWant want, uint64_t n, int32_t lo, int32_t hi,
							   SortPlan *plan);

/* Opens a job for the keys in buf before all keys are there, if that pays. */
extern SortStatus sorter_stream_start(Sorter *s, SortError *err);

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

/* Whether the keys that are still keys make fewer bytes as runs; a guess, by a sample. */
extern bool sorter_runs_are_smaller(const Sorter *s);

/* The GPU turns the keys into runs, or puts buf in order; *done as in sorter_run_job. */
extern SortStatus sorter_gpu_to_runs(Sorter *s, bool *done, SortError *err);
extern SortStatus sorter_gpu_order_buffer(Sorter *s, bool *done, SortError *err);

#endif							/* HPSORT_SORTER_DEVICE_H */
