/*
 * clock.h
 *		The clock of deadlines and measurements, which nobody can set.
 */
#ifndef HPSORT_GPU_CLOCK_H
#define HPSORT_GPU_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds since a moment that stays the same while the host runs. */
static inline int64_t
gpu_clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The same in nanoseconds. */
static inline double
gpu_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

#endif							/* HPSORT_GPU_CLOCK_H */
