/*
 * parts.h
 *		What the files of this folder share: a sort at work, its memory, the
 *		times of its phases, and Histogram and Prefix-Sums, which Kozakai,
 *		Fujimoto and Wada build all their algorithms of (Algorithm 1).
 *
 * Keys are handled as their distance from the first one in order, 0 to range - 1:
 * lo comes first, or descending hi.
 */
#ifndef HPSORT_PUBLISHED_PARTS_H
#define HPSORT_PUBLISHED_PARTS_H

#include "sort/error.h"
#include "sort/published/types.h"

/* Keys or values handled between two looks at the interrupt callback. */
#define PUBLISHED_CHECK_EVERY ((uint64_t) 1 << 20)

/* Most blocks that a sort allocates. */
#define PUBLISHED_BLOCKS 12

typedef struct Published
{
	PublishedSort *sort;
	const SortContext *context;
	uint64_t	range;
	void	   *block[PUBLISHED_BLOCKS];	/* freed when the sort ends */
	int			blocks;
	uint64_t	since;			/* when the phase that runs began */
	SortError  *err;			/* filled by whatever returns false or NULL */
} Published;

/* The algorithms; false with p->err filled. */
extern bool published_hp(Published *p);
extern bool published_one_hp(Published *p);
extern bool published_zero_compressed(Published *p);
extern bool published_bucket_radix(Published *p);
extern bool published_onehot(Published *p);
extern bool published_bucket_bitonic(Published *p);

/* Room for n elements of size bytes each, freed when the sort ends. */
extern void *published_alloc(Published *p, uint64_t n, size_t size);

/* Ends the phase that runs: it was called so. */
extern void published_phase(Published *p, const char *name);

/* Whether the caller wants no more, which is the error then. */
extern bool published_cancelled(Published *p);

/* Fails with SORT_UNSUPPORTED and a key that occurs twice. */
extern bool published_duplicate(Published *p, int32_t key);

/* Where a step of a loop ends that is at `at`, on its way to n. */
static inline uint64_t
published_step(uint64_t at, uint64_t n)
{
	return n - at < PUBLISHED_CHECK_EVERY ? n : at + PUBLISHED_CHECK_EVERY;
}

/* A key's distance from the first one in order, and back. */
static inline uint32_t
published_distance(const PublishedSort *sort, int32_t key)
{
	return sort->descending ? (uint32_t) sort->hi - (uint32_t) key
		: (uint32_t) key - (uint32_t) sort->lo;
}

static inline int32_t
published_key(const PublishedSort *sort, uint32_t distance)
{
	return (int32_t) (sort->descending ? (uint32_t) sort->hi - distance
					  : (uint32_t) sort->lo + distance);
}

/* Replaces all keys by their distances, or distances by keys. */
extern bool published_to_distances(Published *p);
extern bool published_to_keys(Published *p);

/* n counters of 4 bytes, all 0. */
extern uint32_t *published_counters(Published *p, uint64_t n);

/* Algorithm 1, Histogram, of the keys: how many there are of each distance. */
extern uint32_t *published_histogram_of_keys(Published *p);

/* Algorithm 1, Prefix-Sums: sums[i] = data[0] + ... + data[i]; may be one array. */
extern bool published_prefix_sums(Published *p, const uint32_t *data, uint32_t *sums, uint64_t n);

/* Prefix-Sums of n distances' differences, written as keys: the last step of H-P. */
extern bool published_prefix_sums_to_keys(Published *p, const uint32_t *data);

#endif							/* HPSORT_PUBLISHED_PARTS_H */
