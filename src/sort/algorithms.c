/*
 * algorithms.c
 *		The algorithms by name (see algorithms.h).
 */
#include "sort/algorithms.h"

#define MADE_ANEW "It makes the keys anew from their counts, without their positions."

/*
 * Where a GPU's algorithm has limits of its own, they are those of the table in
 * cuda/published/published.cu, which checks them.
 */
static const AlgorithmInfo infos[SORT_ALGORITHM_COUNT] = {
	[SORT_ALGORITHM_AUTO] = {.name = "auto"},
	[SORT_ALGORITHM_ZERO_COMPRESSED] = {
		.name = "zero_compressed",
		.paper = "Kozakai, Fujimoto, Wada 2021: 0-compressed H-P algorithm (Algorithms 4 and 5), tuned",
		.cpu = true,
		.gpu = true,
		.automatic = true,
		.limits = "on the CPU range up to 2^26",
		.memory = "4 bytes a value of the range",
	},
	[SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED] = {
		.name = "zero_compressed_published",
		.paper = "Kozakai, Fujimoto, Wada 2021: 0-compressed H-P algorithm (Algorithms 4 and 5)",
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "up to 2^31 - 1 keys of any range",
		.memory = "12 bytes a value of the range, 16 a key",
	},
	[SORT_ALGORITHM_HP] = {
		.name = "hp",
		.paper = "Kozakai, Fujimoto, Wada 2021: H-P algorithm (Algorithms 1 and 2); Kozakai 2022",
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "up to 2^31 - 1 keys of any range",
		.memory = "8 bytes a value of the range, 4 a key",
	},
	[SORT_ALGORITHM_ONE_HP] = {
		.name = "one_hp",
		.paper = "Kozakai, Fujimoto, Wada 2021: 1-H-P algorithm (Algorithm 3)",
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "distinct keys only, of any range",
		.memory = "8 bytes a value of the range",
	},
	[SORT_ALGORITHM_BUCKET_RADIX] = {
		.name = "bucket_radix",
		.paper = "Zhang, Wu 2012: radix sort with bucket partition preprocess",
		.gpu = true,
		.no_permutation = "Its partition into buckets forgets the order of equal keys.",
		.limits = "up to 2^31 - 1 keys; one pass for ranges up to 2^16, else two",
		.memory = "10 bytes a key",
	},
	[SORT_ALGORITHM_COMPARISON_FREE] = {
		.name = "comparison_free",
		.paper = "Abdel-hafeez, Gordon-Ross, Abubaker 2018: comparison-free sort (Figs. 2 and 3; GPU method 2)",
		.cpu = true,
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "on the CPU range up to 2^26",
		.memory = "4 bytes a value of the range, on the CPU for each thread",
	},
	[SORT_ALGORITHM_COMPARISON_FREE_ONEHOT] = {
		.name = "comparison_free_onehot",
		.paper = "Abdel-hafeez, Gordon-Ross, Abubaker 2018: comparison-free sort, GPU method 1",
		.gpu = true,
		.no_permutation = "It takes equal keys out of its matrix in any order.",
		.limits = "what its memory allows",
		.memory = "1 byte for each pair of a key and a value of the range",
	},
	[SORT_ALGORITHM_BUCKET_BITONIC] = {
		.name = "bucket_bitonic",
		.paper = "Chen, Qin, Xie, Zhao, Heng 2009: bucket and bitonic sort (Algorithms 1 to 3)",
		.gpu = true,
		.floats = true,
		.limits = "any keys, float4 too",
		.memory = "4 bytes a key, less in several passes; 8 more for a permutation",
	},
	[SORT_ALGORITHM_RADIX] = {
		.name = "radix",
		.paper = "Blacher, Giesen, Wassenberg: vectorized quicksort (CPU); Adinets, Merrill: Onesweep (GPU)",
		.cpu = true,
		.gpu = true,
		.automatic = true,
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
algorithm_runs_on(SortAlgorithm algorithm, SortDeviceKind device, SortWant want)
{
	const AlgorithmInfo *info = &infos[algorithm];

	if (want == SORT_WANT_PERMUTATION && info->no_permutation != NULL)
		return false;
	return device == SORT_DEVICE_GPU ? info->gpu : info->cpu;
}

bool
algorithm_is_automatic(SortAlgorithm algorithm)
{
	return infos[algorithm].automatic;
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
