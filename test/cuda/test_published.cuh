/*-------------------------------------------------------------------------
 *
 * test_published.cuh
 *	  What the tests of the published algorithms share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_TEST_PUBLISHED_CUH
#define HPSORT_TEST_PUBLISHED_CUH

#include "check.cuh"
#include "published_now.cuh"

using hpsort::published::job_least;
using hpsort::published::job_need;

inline const char *
name_of(HpsortPublished algorithm)
{
	return algorithms[algorithm].name;
}

/* The tests, by file; quick and tiny: for compute-sanitizer. */
extern void test_published_bitonic(bool quick, bool tiny, uint64_t seed);
extern void test_published_paths(bool quick, bool tiny, uint64_t seed);
extern void test_published_jobs(bool quick, bool tiny);
extern void test_published_cancel(bool quick, uint64_t seed);

#endif							/* HPSORT_TEST_PUBLISHED_CUH */
