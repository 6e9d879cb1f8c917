/*-------------------------------------------------------------------------
 *
 * spec.h
 *	  What a published algorithm is asked for, in plain C++.
 *
 * For the files of cuda/published.  A job sets algorithm, bounds, direction, float_images and
 * payload (published_job.cu); the benches and tests of the papers' variants set all fields.  The
 * fields are not checked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_PUBLISHED_SPEC_H
#define HPSORT_PUBLISHED_SPEC_H

#include "published/published.h"

/*
 * Parameters that the authors chose, or left to the caller.  0 is the authors' own choice, which
 * is in parentheses below.  Algorithms ignore the parameters of others.  Counts are powers of two
 * unless "any number" stands there.
 */
struct HpsortPublishedOptions
{
	uint32_t	block_threads;	/* hp, one_hp, zero_compressed_published: threads of a block, 32
								 * to 1024 (256); comparison_free: T, 1 to 1024 (16) */
	uint32_t	blocks;			/* comparison_free: blk, 1 to 65536 (1024); T blk is 2 to 2^22 */
	uint32_t	radix_bits;		/* bucket_radix: log2 of r, 8 to 16 (16), any number; two passes
								 * sort ranges up to r^2 */
	uint32_t	rows;			/* bucket_radix: s, 32 to 65536 (1024) */
	uint32_t	slice_expected; /* bucket_bitonic: E, 1 to M (80), any number */
	uint32_t	bucket_most;	/* bucket_bitonic: M, 128 to 2048 (512) */
	double		disorder_limit; /* bucket_bitonic: C, > 0 (10), any number */
};

/* Most keys of a pass, which numbers elements in 32 bits; the authors' cards held 30e6. */
constexpr uint64_t HPSORT_PUBLISHED_PASS_KEYS = (uint64_t) 1 << 30;

/*
 * What is to be sorted, and how.
 *
 * - bounds_known: lo and hi are a promise that is checked, as in HpsortCudaSpec.  Without it the
 *   bounds are found by one more reading of the keys.
 * - float_images: for bucket_bitonic, which then cuts the keys into slices by the numbers that
 *   they stand for.  An image is an int4 that stands for a 4-byte IEEE number, one to one and in
 *   PostgreSQL's order: the number's bits, complemented except for the sign if the number is
 *   below zero, less 0x7fffff.
 * - stable: equal keys keep their order.  Needs a payload; that of bucket_bitonic must be distinct
 *   and ascend in the order of the keys, as row numbers do.
 * - nearly_sorted, pass_keys: for bucket_bitonic.
 */
struct HpsortPublishedSpec
{
	HpsortPublished algorithm;
	bool		float_images;
	int32_t		lo;
	int32_t		hi;
	bool		bounds_known;
	bool		descending;
	bool		payload;		/* 4 bytes travel with each key */
	bool		stable;
	int			nearly_sorted;	/* 1: the keys are nearly sorted; -1: they are not; 0: to be found
								 * out */
	uint64_t	pass_keys;		/* most keys sorted at once; more are cut, sorted and merged; 0:
								 * HPSORT_PUBLISHED_PASS_KEYS */
	HpsortPublishedOptions options;
};

#endif							/* HPSORT_PUBLISHED_SPEC_H */
