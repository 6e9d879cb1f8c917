/*
 * types.h
 *		A sort by one of the papers' algorithms: the keys, the parameters of the papers, and
 *		the report of the paths taken (see published.h).
 */
#ifndef HPSORT_PUBLISHED_TYPES_H
#define HPSORT_PUBLISHED_TYPES_H

#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * The counters of Fig. 3 of the comparison-free sort: an array CT for each thread, merged to one,
 * or the single array CA, counted atomically, with IS[T][T]: how many keys of its part of the
 * input each thread has met in each part of the range.
 */
typedef enum ComparisonFreeForm
{
	COMPARISON_FREE_PRIVATE = 0,
	COMPARISON_FREE_SHARED
} ComparisonFreeForm;

/* The parameters of the papers.  A field that is 0 is the default that its comment names last. */
typedef struct PublishedOptions
{
	/* comparison_free */
	int			threads;		/* T: exactly this many; 0: as many as are allowed and pay */
	ComparisonFreeForm counters;	/* private to each thread (0), or shared */

	/* comparison_free_onehot: by Eq. 10, for distinct keys, instead of Eq. 11 */
	bool		distinct;

	/* bucket_radix */
	uint32_t	radix;			/* r, a power of two from 2 to 2^16; 2^16 */
	uint32_t	rows;			/* s, buckets, from 1 to 2^16; 2^10 */

	/* bucket_bitonic */
	uint32_t	slice_keys;		/* E, keys expected in a slice, at most M / 2; 80 */
	uint32_t	bucket_keys;	/* M, most keys of a bucket, a power of two from 2 to 2^16; 512 */
	double		disorder;		/* C, of a list below which it counts as nearly sorted; 10 */
	int			nearly_sorted;	/* 1: it is, -1: it is not, 0: to be found out */
} PublishedOptions;

/* What a sort did: the times of the steps that the papers' figures show, and the paths taken. */
#define PUBLISHED_PHASES 8
typedef struct PublishedReport
{
	int			phases;
	const char *phase[PUBLISHED_PHASES];
	uint64_t	phase_ns[PUBLISHED_PHASES];
	uint64_t	memory;			/* most bytes allocated at a time, besides keys and result */
	int			threads;		/* that ran, the calling one included */
	uint32_t	rounds;			/* bucket_radix: passes, one for each digit; bucket_bitonic:
								 * levels of recursion, the first list's included */
	uint64_t	columns;		/* bucket_radix: keys of the longest row, all passes together */
	uint64_t	moved;			/* bucket_radix: places that the insertion sort moved keys by */
	uint64_t	lists;			/* bucket_bitonic: lists cut into slices */
	uint64_t	nearly_sorted;	/* ... of them taken as nearly sorted */
	uint64_t	flat;			/* ... lists of one value, left as they are */
	uint64_t	buckets;		/* ... buckets sorted by the network */
	uint64_t	distinct;		/* zero_compressed_published: len */
} PublishedReport;

/* Keys to be sorted in place, or whose permutation is wanted. */
typedef struct PublishedSort
{
	SortAlgorithm algorithm;
	int32_t    *keys;			/* with positions: not changed */
	size_t		n;				/* below 2^32 */
	int32_t		lo;				/* inclusive bounds of all keys, checked */
	int32_t		hi;
	bool		descending;
	bool		floats;			/* keys are images of float4 (float_image.h): bucket_bitonic cuts
								 * its slices by the numbers' values */
	uint32_t   *positions;		/* NULL: keys; else room for n: the stable permutation ... */
	uint32_t	first;			/* ... in which the first key is called so */
	PublishedOptions options;
	PublishedReport report;		/* set */
} PublishedSort;

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_PUBLISHED_TYPES_H */
