/*
 * algorithms.c
 *		The algorithms by name (see algorithms.h).
 */
#include "sort/algorithms.h"

#define MADE_ANEW "It makes the keys anew from their counts, without their positions."

/* What published algorithms allocate (src/sort/published). */
static uint64_t
need_hp(uint64_t n, uint64_t range, SortWant want)
{
	(void) want;
	return 8 * range + 4 * (n + 1);
}

static uint64_t
need_one_hp(uint64_t n, uint64_t range, SortWant want)
{
	(void) n;
	(void) want;
	return 8 * range;
}

static uint64_t
need_zero_compressed(uint64_t n, uint64_t range, SortWant want)
{
	(void) want;
	return 12 * range + 4 * n + 12 * ((n < range ? n : range) + 1);
}

static uint64_t
need_bucket_radix(uint64_t n, uint64_t range, SortWant want)
{
	(void) range;
	(void) want;
	return 10 * n + (UINT64_C(4) << 16) + (UINT64_C(12) << 10);
}

/* By one thread; further ones are started where there is memory for their counters. */
static uint64_t
need_comparison_free(uint64_t n, uint64_t range, SortWant want)
{
	(void) n;
	(void) want;
	return 4 * range;
}

static uint64_t
need_onehot(uint64_t n, uint64_t range, SortWant want)
{
	uint64_t	columns = want == SORT_WANT_PERMUTATION ? 0 : 4 * n;

	return n > (UINT64_MAX - columns) / range ? UINT64_MAX : n * range + columns;
}

/* Slices of 80 keys, buckets of 512. */
static uint64_t
need_bucket_bitonic(uint64_t n, uint64_t range, SortWant want)
{
	uint64_t	element = want == SORT_WANT_PERMUTATION ? 8 : 4;

	(void) range;
	return (8 + element) * n + 12 * (n / 80 + 4) + 32 * (n / 512 + 1) + 512 * element +
		(want == SORT_WANT_PERMUTATION ? 8 * n : 0);
}

/*
 * A GPU's algorithm that is forced by name is the published one: the limits are
 * those of the table in cuda/published/published.cu, which checks them.  The
 * exception is zero_compressed, which is the engine's own way of counting.
 */
static const AlgorithmInfo infos[SORT_ALGORITHM_COUNT] = {
	[SORT_ALGORITHM_AUTO] = {.name = "auto"},
	[SORT_ALGORITHM_ZERO_COMPRESSED] = {
		.name = "zero_compressed",
		.paper =
		"Kozakai, Fujimoto, Wada 2021: 0-compressed H-P algorithm (Algorithms 4 and 5), tuned",
		.cpu = true,
		.gpu = true,
		.automatic = true,
		.limits = "on the CPU range up to 2^26",
		.memory = "4 bytes a value of the range",
	},
	[SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED] = {
		.name = "zero_compressed_published",
		.paper = "Kozakai, Fujimoto, Wada 2021: 0-compressed H-P algorithm (Algorithms 4 and 5)",
		.cpu = true,
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "up to 2^31 - 1 keys of any range",
		.memory = "12 bytes a value of the range, 16 a key",
		.cpu_need = need_zero_compressed,
	},
	[SORT_ALGORITHM_HP] = {
		.name = "hp",
		.paper = "Kozakai, Fujimoto, Wada 2021: H-P algorithm (Algorithms 1 and 2); Kozakai 2022",
		.cpu = true,
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "up to 2^31 - 1 keys of any range",
		.memory = "8 bytes a value of the range, 4 a key",
		.cpu_need = need_hp,
	},
	[SORT_ALGORITHM_ONE_HP] = {
		.name = "one_hp",
		.paper = "Kozakai, Fujimoto, Wada 2021: 1-H-P algorithm (Algorithm 3)",
		.cpu = true,
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "distinct keys only, of any range",
		.memory = "8 bytes a value of the range",
		.cpu_need = need_one_hp,
	},
	[SORT_ALGORITHM_BUCKET_RADIX] = {
		.name = "bucket_radix",
		.paper = "Zhang, Wu 2012: radix sort with bucket partition preprocess",
		.cpu = true,
		.gpu = true,
		.no_permutation = "Its partition into buckets forgets the order of equal keys.",
		.limits = "up to 2^31 - 1 keys; one pass for ranges up to 2^16, else two",
		.memory = "10 bytes a key",
		.cpu_need = need_bucket_radix,
	},
	[SORT_ALGORITHM_COMPARISON_FREE] = {
		.name = "comparison_free",
		.paper =
		"Abdel-hafeez, Gordon-Ross, Abubaker 2018: comparison-free sort (Figs. 2 and 3; GPU method 2)",
		.cpu = true,
		.gpu = true,
		.no_permutation = MADE_ANEW,
		.limits = "what its memory allows, of any range",
		.memory = "4 bytes a value of the range, on the CPU for each thread",
		.cpu_need = need_comparison_free,
	},
	[SORT_ALGORITHM_COMPARISON_FREE_ONEHOT] = {
		.name = "comparison_free_onehot",
		.paper = "Abdel-hafeez, Gordon-Ross, Abubaker 2018: comparison-free sort, GPU method 1",
		.cpu = true,
		.gpu = true,
		.limits = "what its memory allows",
		.memory = "1 byte for each pair of a key and a value of the range",
		.cpu_need = need_onehot,
	},
	[SORT_ALGORITHM_BUCKET_BITONIC] = {
		.name = "bucket_bitonic",
		.paper = "Chen, Qin, Xie, Zhao, Heng 2009: bucket and bitonic sort (Algorithms 1 to 3)",
		.cpu = true,
		.gpu = true,
		.floats = true,
		.limits = "any keys, float4 too",
		.memory =
		"on a GPU 8 bytes a key, less in several passes, 4 more for a permutation; on the CPU 13, or 25",
		.cpu_need = need_bucket_bitonic,
	},
	[SORT_ALGORITHM_RADIX] = {
		.name = "radix",
		.paper =
		"Blacher, Giesen, Wassenberg: vectorized quicksort (CPU); Adinets, Merrill: Onesweep"
		" (GPU; forced: CUB's, under auto: hpsort's own passes)",
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
algorithm_is_published(SortAlgorithm algorithm)
{
	return infos[algorithm].cpu_need != NULL;
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
