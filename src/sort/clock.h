/*
 * clock.h
 *		What the sorts are timed by.
 */
#ifndef HPSORT_CLOCK_H
#define HPSORT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds from any start. */
static inline uint64_t
sort_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

#endif							/* HPSORT_CLOCK_H */
