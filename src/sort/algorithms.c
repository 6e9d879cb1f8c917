/*
 * algorithms.c
 *		The algorithms by name (see algorithms.h), and errors by value.
 */
#include "algorithms.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const AlgorithmInfo infos[SORT_ALGORITHM_COUNT] = {
	[SORT_ALGORITHM_AUTO] = {.name = "auto"},
	[SORT_ALGORITHM_ZERO_COMPRESSED] = {
		.name = "zero_compressed",
		.paper = "Kozakai, Fujimoto, Wada: 0-compressed H-P algorithm (Algorithms 4 and 5)",
		.cpu = true,
		.gpu = true,
		.automatic = true,
		.permutation = true,
		.limits = "on the CPU range up to 2^26; 4 bytes a value of the range",
	},
	[SORT_ALGORITHM_HP] = {
		.name = "hp",
		.paper = "Kozakai, Fujimoto, Wada: H-P algorithm (Algorithms 1 and 2)",
		.limits = "not in this build",
	},
	[SORT_ALGORITHM_ONE_HP] = {
		.name = "one_hp",
		.paper = "Kozakai, Fujimoto, Wada: 1-H-P algorithm (Algorithm 3)",
		.limits = "not in this build",
	},
	[SORT_ALGORITHM_BUCKET_RADIX] = {
		.name = "bucket_radix",
		.paper = "Zhang, Wu: radix sort with bucket partition preprocess",
		.limits = "not in this build",
	},
	[SORT_ALGORITHM_COMPARISON_FREE] = {
		.name = "comparison_free",
		.paper = "Abdel-hafeez, Gordon-Ross, Abubaker: comparison-free sort (Figs. 2 and 3)",
		.cpu = true,
		.limits = "range up to 2^26; 4 bytes a value of the range for each thread",
	},
	[SORT_ALGORITHM_COMPARISON_FREE_ONEHOT] = {
		.name = "comparison_free_onehot",
		.paper = "Abdel-hafeez, Gordon-Ross, Abubaker: comparison-free sort, method 1",
		.limits = "not in this build",
	},
	[SORT_ALGORITHM_BUCKET_BITONIC] = {
		.name = "bucket_bitonic",
		.paper = "Chen, Qin, Xie, Zhao, Heng: bucket and bitonic sort",
		.limits = "not in this build",
	},
	[SORT_ALGORITHM_RADIX] = {
		.name = "radix",
		.paper = "Blacher, Giesen, Wassenberg: vectorized quicksort (CPU); Adinets, Merrill: Onesweep (GPU)",
		.cpu = true,
		.gpu = true,
		.automatic = true,
		.permutation = true,
		.limits = "any keys; in place, or 8 bytes a key for a permutation",
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

	if (want == SORT_WANT_PERMUTATION && !info->permutation)
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

SortStatus
sort_fail(SortError *err, SortStatus status, const char *format,...)
{
	va_list		args;

	memset(err, 0, sizeof(*err));
	err->status = status;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return status;
}
