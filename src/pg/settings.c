/*
 * settings.c
 *		hpsort's settings (GUCs), see settings.h.
 */
#include "postgres.h"

#include "gather.h"
#include "settings.h"
#include "sort_types.h"
#include "utils/guc.h"

int			hpsort_device_setting = SORT_DEVICE_AUTO;
int			hpsort_algorithm_setting = SORT_ALGORITHM_AUTO;
int			hpsort_threads = 1;
bool		hpsort_enable_gather = true;
int			hpsort_debug_gather = GATHER_ALLOW;

static const struct config_enum_entry device_options[] = {
	{"auto", SORT_DEVICE_AUTO, false},
	{"cpu", SORT_DEVICE_CPU, false},
	{"gpu", SORT_DEVICE_GPU, false},
	{NULL, 0, false}
};

static const struct config_enum_entry algorithm_options[] = {
	{"auto", SORT_ALGORITHM_AUTO, false},
	{"zero_compressed", SORT_ALGORITHM_ZERO_COMPRESSED, false},
	{"hp", SORT_ALGORITHM_HP, false},
	{"one_hp", SORT_ALGORITHM_ONE_HP, false},
	{"bucket_radix", SORT_ALGORITHM_BUCKET_RADIX, false},
	{"comparison_free", SORT_ALGORITHM_COMPARISON_FREE, false},
	{"comparison_free_onehot", SORT_ALGORITHM_COMPARISON_FREE_ONEHOT, false},
	{"bucket_bitonic", SORT_ALGORITHM_BUCKET_BITONIC, false},
	{"radix", SORT_ALGORITHM_RADIX, false},
	{NULL, 0, false}
};

static const struct config_enum_entry debug_gather_options[] = {
	{"forbid", GATHER_FORBID, false},
	{"allow", GATHER_ALLOW, false},
	{"force", GATHER_FORCE, false},
	{NULL, 0, false}
};

void
settings_define(void)
{
	DefineCustomEnumVariable("hpsort.device",
							 "Selects the device that sorts.",
							 "\"auto\" takes the cheapest that can be used; any other value is "
							 "used or the sort fails. See hpsort_devices().",
							 &hpsort_device_setting,
							 SORT_DEVICE_AUTO, device_options,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("hpsort.algorithm",
							 "Selects the sorting algorithm.",
							 "\"auto\" takes the cheapest; any other value is used or the sort "
							 "fails. See hpsort_algorithms().",
							 &hpsort_algorithm_setting,
							 SORT_ALGORITHM_AUTO, algorithm_options,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort.threads",
							"Sets the maximum number of threads that one sort may use.",
							"Used by algorithm \"comparison_free\". Parallel query multiplies it: "
							"every worker process may start as many.",
							&hpsort_threads,
							1, 1, 1024,
							PGC_USERSET, GUC_EXPLAIN,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("hpsort.enable_gather",
							 "Enables the planner's use of HpSort Gather plans.",
							 "They read columns for hpsort's aggregates without a scan node.",
							 &hpsort_enable_gather,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("hpsort.debug_gather",
							 "Forbids HpSort Gather plans, or forces them wherever possible.",
							 "For tests: \"allow\" leaves the choice to the planner.",
							 &hpsort_debug_gather,
							 GATHER_ALLOW, debug_gather_options,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("hpsort");
}
