/*
 * clock.h
 *		The clock of deadlines and measurements, which nobody can set.
 */
#ifndef HPSORT_CLOCK_H
#define HPSORT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since a moment that stays the same while the host runs. */
static inline uint64_t
sort_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

/* The same in milliseconds. */
static inline int64_t
sort_clock_ms(void)
{
	return (int64_t) (sort_clock() / 1000000);
}

#endif							/* HPSORT_CLOCK_H */
