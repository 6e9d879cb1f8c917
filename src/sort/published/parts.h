/*
 * parts.h
 *		What the files of this folder share: a sort at work, its memory, the times of its
 *		phases, and the subroutines Histogram and Prefix-Sums (Kozakai, Fujimoto, Wada 2021,
 *		Algorithm 1).
 *
 * Keys are handled as their distance from the first one in the order, 0 to range - 1.  The first
 * one is lo, or hi if the order descends.
 */
#ifndef HPSORT_PUBLISHED_PARTS_H
#define HPSORT_PUBLISHED_PARTS_H

#include "sort/published/types.h"
#include "sort/steps.h"

/* The most blocks that a sort allocates. */
#define PUBLISHED_BLOCKS 12

/* A sort at work. */
typedef struct Published
{
	PublishedSort *sort;
	const SortContext *context;
	uint64_t	range;
	void	   *block[PUBLISHED_BLOCKS];	/* freed when the sort ends */
	int			blocks;
	uint64_t	since;			/* when the running phase began */
	uint64_t	unseen;			/* work since the last look of published_goes_on */

	/*
	 * Whoever returns false or NULL fills it, except after a cancel: published_sort begins with
	 * SORT_CANCELLED there.
	 */
	SortError  *err;
} Published;

/* The algorithms.  Return false if they fail or are cancelled. */
extern bool published_hp(Published *p);
extern bool published_one_hp(Published *p);
extern bool published_zero_compressed(Published *p);
extern bool published_bucket_radix(Published *p);
extern bool published_comparison_free(Published *p);
extern bool published_onehot(Published *p);
extern bool published_bucket_bitonic(Published *p);

/*
 * Returns how many of the allowed threads pay for the comparison-free sort of n keys in a range of
 * this many values: at least one, and at most 4 n / range.
 */
extern int	comparison_free_threads(uint64_t n, uint64_t range, int allowed);

/*
 * Returns memory for n elements of size bytes each, freed when the sort ends; NULL: p->err is
 * filled.
 */
extern void *published_alloc(Published *p, uint64_t n, size_t size);

/* Ends the running phase and adds its time to the report under this name. */
extern void published_phase(Published *p, const char *name);

/*
 * For loops whose steps differ in work, counted in keys: adds what a step did, looks for a cancel
 * if it is time to, and returns false if the sort is cancelled.
 */
extern bool published_goes_on(Published *p, uint64_t work);

/* Fails with SORT_UNSUPPORTED and the key that occurs twice.  Returns false. */
extern bool published_duplicate(Published *p, int32_t key);

/* Return a key's distance from the first one in the order, and the key of a distance. */
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

/* Returns n counters of 4 bytes, all 0. */
extern uint32_t *published_counters(Published *p, uint64_t n);

/* Algorithm 1, Histogram: returns how many keys there are of each distance. */
extern uint32_t *published_histogram_of_keys(Published *p);

/*
 * Algorithms 2 and 3, first half: returns the prefix sums of the histogram, and times both steps.
 */
extern uint32_t *published_sums_of_keys(Published *p);

/* Algorithm 1, Prefix-Sums: sums[i] = data[0] + ... + data[i]; data and sums may be one array. */
extern bool published_prefix_sums(Published *p, const uint32_t *data, uint32_t *sums, uint64_t n);

/*
 * The last step of H-P, of the second histogram: writes the prefix sums of n differences of
 * distances as keys, and times both.
 */
extern bool published_prefix_sums_to_keys(Published *p, const uint32_t *data);

#endif							/* HPSORT_PUBLISHED_PARTS_H */
