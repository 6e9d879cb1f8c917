/*
 * comparison_free.h
 *		The comparison-free sort of Abdel-hafeez, Gordon-Ross and Abubaker, on
 *		one CPU thread (Fig. 2 of the paper) or several (Fig. 3).
 */
#ifndef HPSORT_COMPARISON_FREE_H
#define HPSORT_COMPARISON_FREE_H

#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * How many of the allowed threads pay for n keys in a range of that many values:
 * at least one, and at most 4 n / range otherwise.
 */
extern int	comparison_free_threads(uint64_t n, uint64_t range, int allowed);

/*
 * The counters of Fig. 3: an array CT for each thread, merged to one, or the single array CA,
 * counted atomically, with IS[T][T]: how many keys of its part of the input each
 * thread has met in each part of the range.
 */
typedef enum ComparisonFreeForm
{
	COMPARISON_FREE_PRIVATE = 0,
	COMPARISON_FREE_SHARED
} ComparisonFreeForm;

/* What the paper's Fig. 10 shows the times of. */
#define COMPARISON_FREE_PHASES 3
extern const char *const comparison_free_phase_names[COMPARISON_FREE_PHASES];

/* Keys to be sorted in place, and afterwards by how many threads. */
typedef struct ComparisonFreeSort
{
	int32_t    *keys;
	size_t		n;				/* below 2^32 */
	int32_t		lo;				/* inclusive bounds of all keys */
	int32_t		hi;
	bool		descending;
	int			threads;		/* set: threads that sorted, the calling one included */
	ComparisonFreeForm form;
	int			exact_threads;	/* so many threads, whether they pay or not; 0: as below */
	size_t		memory;			/* set: bytes of all counters */
	uint64_t	phase_ns[COMPARISON_FREE_PHASES];	/* set: counting (with zeroing), merging,
													 * sorting */
} ComparisonFreeSort;

/*
 * Sorts with at most comparison_free_threads() of context->threads threads, and no more
 * than context->algorithm_memory has room for.  Allocates 4 bytes a value of the range,
 * private for each thread; shared once, and 64 T^2 bytes at most.  Bytes moved per key:
 * one key read, one counter read and written, one key written.  The calling
 * thread looks at the interrupt callback while there is no other thread.
 */
extern SortStatus comparison_free_sort(ComparisonFreeSort *sort, const SortContext *context,
									   SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_COMPARISON_FREE_H */
