/*
 * algorithms.c
 *		The algorithms by name (see algorithms.h).
 */
#include "sort/algorithms.h"

#define MADE_ANEW "It makes the keys anew from their counts, without their positions."

/*
 * A GPU's algorithm that is forced by name is the published one: the limits are
 * in the table of cuda/published/published.cu, which checks them.  The
 * exception is zero_compressed, which is the engine's own way of counting.
 */
static const AlgorithmInfo infos[SORT_ALGORITHM_COUNT] = {
	[SORT_ALGORITHM_AUTO] = {.name = "auto"},
	[SORT_ALGORITHM_ZERO_COMPRESSED] = {
		.name = "zero_compressed",
		.paper =
		"Kozakai, Fujimoto, Wada 2021: 0-compressed H-P algorithm (Algorithms 4 and 5), tuned",
		.limits = "on the CPU range up to 2^26",
		.memory = "4 bytes a value of the range",
	},
	[SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED] = {
		.name = "zero_compressed_published",
		.paper = "Kozakai, Fujimoto, Wada 2021: 0-compressed H-P algorithm (Algorithms 4 and 5)",
		.no_permutation = MADE_ANEW,
		.limits = "up to 2^31 - 1 keys of any range",
		.memory = "12 bytes a value of the range, 16 a key",
		.published = true,
	},
	[SORT_ALGORITHM_HP] = {
		.name = "hp",
		.paper = "Kozakai, Fujimoto, Wada 2021: H-P algorithm (Algorithms 1 and 2); Kozakai 2022",
		.no_permutation = MADE_ANEW,
		.limits = "up to 2^31 - 1 keys of any range",
		.memory = "8 bytes a value of the range, 4 a key",
		.published = true,
	},
	[SORT_ALGORITHM_ONE_HP] = {
		.name = "one_hp",
		.paper = "Kozakai, Fujimoto, Wada 2021: 1-H-P algorithm (Algorithm 3)",
		.no_permutation = MADE_ANEW,
		.limits = "distinct keys only, of any range",
		.memory = "8 bytes a value of the range",
		.published = true,
	},
	[SORT_ALGORITHM_BUCKET_RADIX] = {
		.name = "bucket_radix",
		.paper = "Zhang, Wu 2012: radix sort with bucket partition preprocess",
		.no_permutation = "Its partition into buckets forgets the order of equal keys.",
		.limits = "up to 2^31 - 1 keys; one pass for ranges up to 2^16, else two",
		.memory = "10 bytes a key",
		.published = true,
	},
	[SORT_ALGORITHM_COMPARISON_FREE] = {
		.name = "comparison_free",
		.paper =
		"Abdel-hafeez, Gordon-Ross, Abubaker 2018: comparison-free sort (Figs. 2 and 3; GPU method 2)",
		.no_permutation = MADE_ANEW,
		.limits = "what its memory allows, of any range",
		.memory = "4 bytes a value of the range, on the CPU for each thread",
		.published = true,
	},
	[SORT_ALGORITHM_COMPARISON_FREE_ONEHOT] = {
		.name = "comparison_free_onehot",
		.paper = "Abdel-hafeez, Gordon-Ross, Abubaker 2018: comparison-free sort, GPU method 1",
		.limits = "what its memory allows",
		.memory = "1 byte for each pair of a key and a value of the range",
		.published = true,
	},
	[SORT_ALGORITHM_BUCKET_BITONIC] = {
		.name = "bucket_bitonic",
		.paper = "Chen, Qin, Xie, Zhao, Heng 2009: bucket and bitonic sort (Algorithms 1 to 3)",
		.floats = true,
		.limits = "any keys, float4 too",
		.memory =
		"on a GPU 8 bytes a key, less in several passes, 4 more for a permutation; on the CPU 13, or 25",
		.published = true,
	},
	[SORT_ALGORITHM_RADIX] = {
		.name = "radix",
		.paper =
		"Blacher, Giesen, Wassenberg: vectorized quicksort (CPU); Adinets, Merrill: Onesweep"
		" (GPU; forced: CUB's, under auto: hpsort's own passes)",
		.floats = true,
		.limits = "any keys, float4 too",
		.memory = "on the CPU none, or 8 bytes a key for a permutation; on a GPU 5 bytes a key",
	},
};

const AlgorithmInfo *
algorithm_info(SortAlgorithm algorithm)
{
	return &infos[algorithm];
}

bool
algorithm_gives(SortAlgorithm algorithm, SortWant want)
{
	return want != SORT_WANT_PERMUTATION || infos[algorithm].no_permutation == NULL;
}

bool
algorithm_is_published(SortAlgorithm algorithm)
{
	return infos[algorithm].published;
}

uint64_t
algorithm_cpu_need(SortAlgorithm algorithm, uint64_t n, uint64_t range, SortWant want)
{
	bool		permutation = want == SORT_WANT_PERMUTATION;
	uint64_t	element = permutation ? 8 : 4;
	uint64_t	columns = permutation ? 0 : 4 * n;

	switch (algorithm)
	{
		case SORT_ALGORITHM_HP:
			return 8 * range + 4 * (n + 1);
		case SORT_ALGORITHM_ONE_HP:
			return 8 * range;
		case SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED:
			return 12 * range + 4 * n + 12 * ((n < range ? n : range) + 1);
		case SORT_ALGORITHM_BUCKET_RADIX:
			return 10 * n + (UINT64_C(4) << 16) + (UINT64_C(12) << 10);
		case SORT_ALGORITHM_COMPARISON_FREE:
			/* By one thread; further ones are started where there is memory for their counters. */
			return 4 * range;
		case SORT_ALGORITHM_COMPARISON_FREE_ONEHOT:
			return n > (UINT64_MAX - columns) / range ? UINT64_MAX : n * range + columns;
		case SORT_ALGORITHM_BUCKET_BITONIC:
			/* Slices of 80 keys, buckets of 512. */
			return (8 + element) * n + 12 * (n / 80 + 4) + 32 * (n / 512 + 1) + 512 * element +
				(permutation ? 8 * n : 0);
		default:
			return 0;
	}
}

const char *
sort_algorithm_name(SortAlgorithm algorithm)
{
	return infos[algorithm].name;
}

const char *
sort_device_name(SortDeviceKind device)
{
	static const char *const names[] = {"auto", "cpu", "gpu"};

	return names[device];
}
