/*
 * guc.c
 *		hpsort's settings (GUCs), see guc.h.
 */
#include "postgres.h"

#include <limits.h>

#include "pg/guc.h"
#include "sort/sort_types.h"
#include "utils/guc.h"

int			hpsort_device_setting = SORT_DEVICE_AUTO;
int			hpsort_algorithm_setting = SORT_ALGORITHM_AUTO;
bool		hpsort_enable_sort = true;
int			hpsort_debug_sort = NODE_ALLOW;
bool		hpsort_enable_aggregate = true;
int			hpsort_debug_aggregate = NODE_ALLOW;
bool		hpsort_enable_scan = true;
int			hpsort_debug_scan = NODE_ALLOW;

int			hpsort_resident_memory = 0;
bool		hpsort_enable_resident = true;
int			hpsort_resident_fill = FILL_EAGER;
int			hpsort_resident_save = 300;

bool		hpsort_gpu = true;
char	   *hpsort_gpu_devices;
int			hpsort_gpu_pinned_memory = 256;
int			hpsort_gpu_memory_limit = 0;
int			hpsort_resident_gpu_memory = -1;
int			hpsort_resident_gpu_stripe = 1024;
int			hpsort_gpu_wait_timeout = 30000;
double		hpsort_cost_factor = 1.0;
double		hpsort_gpu_cost_factor = 1.0;

static const struct config_enum_entry device_options[] = {
	{"auto", SORT_DEVICE_AUTO, false},
	{"cpu", SORT_DEVICE_CPU, false},
	{"gpu", SORT_DEVICE_GPU, false},
	{NULL, 0, false}
};

static const struct config_enum_entry algorithm_options[] = {
	{"auto", SORT_ALGORITHM_AUTO, false},
	{"zero_compressed", SORT_ALGORITHM_ZERO_COMPRESSED, false},
	{"zero_compressed_published", SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED, false},
	{"hp", SORT_ALGORITHM_HP, false},
	{"one_hp", SORT_ALGORITHM_ONE_HP, false},
	{"bucket_radix", SORT_ALGORITHM_BUCKET_RADIX, false},
	{"comparison_free", SORT_ALGORITHM_COMPARISON_FREE, false},
	{"comparison_free_onehot", SORT_ALGORITHM_COMPARISON_FREE_ONEHOT, false},
	{"bucket_bitonic", SORT_ALGORITHM_BUCKET_BITONIC, false},
	{"radix", SORT_ALGORITHM_RADIX, false},
	{NULL, 0, false}
};

/* Checks hpsort.gpu_devices: "auto", or ordinals with commas between them. */
static bool
check_gpu_devices(char **newval, void **extra, GucSource source)
{
	const char *at = *newval;

	if (strcmp(at, "auto") == 0)
		return true;
	for (;;)
	{
		size_t		digits = strspn(at, "0123456789");

		/* A host has fewer than a thousand. */
		if (digits == 0 || digits > 3)
			break;
		at += digits;
		if (*at == '\0')
			return true;
		if (*at++ != ',')
			break;
	}
	GUC_check_errdetail("It must be \"auto\" or a list of GPU ordinals such as \"0,1\".");
	return false;
}

/* Defines the settings of the GPU service. */
static void
define_gpu_settings(void)
{
	DefineCustomBoolVariable("hpsort.gpu",
							 "Enables the GPU service.",
							 "It is started when a sort first needs it, or with the server if "
							 "hpsort is in shared_preload_libraries.",
							 &hpsort_gpu,
							 true,
							 PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomStringVariable("hpsort.gpu_devices",
							   "Sets the GPUs that the GPU service uses.",
							   "\"auto\" is the first that can be used, \"0,1\" those two.",
							   &hpsort_gpu_devices,
							   "auto",
							   PGC_SIGHUP, 0,
							   check_gpu_devices, NULL, NULL);
	DefineCustomIntVariable("hpsort.gpu_pinned_memory",
							"Sets the memory through which keys and results pass to and from the GPU.",
							"It is shared by all sessions and locked in memory.",
							&hpsort_gpu_pinned_memory,
							256, 1, 1024 * 1024,
							PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort.gpu_memory_limit",
							"Sets the GPU memory that sorts may use at a time, on each GPU.",
							"0 means all that there is.",
							&hpsort_gpu_memory_limit,
							0, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort.gpu_wait_timeout",
							"Sets how long a sort waits for a sign of life from the GPU service.",
							"With hpsort.device = gpu also how long it waits for a service that is starting. 0 means no limit.",
							&hpsort_gpu_wait_timeout,
							30000, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
}

static const struct config_enum_entry node_debug_options[] = {
	{"forbid", NODE_FORBID, false},
	{"allow", NODE_ALLOW, false},
	{"force", NODE_FORCE, false},
	{NULL, 0, false}
};

/* Defines the settings of the plan nodes. */
static void
define_node_settings(void)
{
	DefineCustomBoolVariable("hpsort.enable_sort",
							 "Enables the planner's use of hpsort for sorting rows.",
							 "Rows that core would sort, for ORDER BY among others, are sorted by "
							 "Custom Scan (HpSort) where that is cheaper.",
							 &hpsort_enable_sort,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("hpsort.debug_sort",
							 "Forbids HpSort plans, or forces them wherever possible.",
							 "For tests: \"allow\" leaves the choice to estimated costs.",
							 &hpsort_debug_sort,
							 NODE_ALLOW, node_debug_options,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("hpsort.enable_aggregate",
							 "Enables the planner's use of hpsort for aggregates.",
							 "Custom Scan (HpSort Aggregate) answers hpsort's aggregates from the "
							 "table's columns, where that is cheaper.",
							 &hpsort_enable_aggregate,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("hpsort.debug_aggregate",
							 "Forbids HpSort Aggregate plans, or forces them wherever possible.",
							 "For tests: \"allow\" leaves the choice to estimated costs.",
							 &hpsort_debug_aggregate,
							 NODE_ALLOW, node_debug_options,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("hpsort.enable_scan",
							 "Enables the planner's use of hpsort for filters.",
							 "Custom Scan (HpSort Scan) evaluates the filter of a sequential scan, on "
							 "its pages or in memory, where that is cheaper.",
							 &hpsort_enable_scan,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("hpsort.debug_scan",
							 "Forbids HpSort Scan plans, or forces them wherever possible.",
							 "For tests: \"allow\" leaves the choice to estimated costs.",
							 &hpsort_debug_scan,
							 NODE_ALLOW, node_debug_options,
							 PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
}

static const struct config_enum_entry fill_options[] = {
	{"eager", FILL_EAGER, false},
	{"on_use", FILL_ON_USE, false},
	{NULL, 0, false}
};

/* Defines the settings of resident columns. */
static void
define_resident_settings(void)
{
	DefineCustomIntVariable("hpsort.resident_memory",
							"Sets the shared memory for columns declared resident by hpsort_keep().",
							"0 means that none are kept.",
							&hpsort_resident_memory,
							0, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);
	DefineCustomEnumVariable("hpsort.resident_fill",
							 "Selects when values of columns declared resident come into memory.",
							 "\"eager\": at once, by a background worker; "
							 "\"on_use\": when they are read.",
							 &hpsort_resident_fill,
							 FILL_EAGER, fill_options,
							 PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort.resident_save",
							"Sets how often resident columns are written to a file that outlives a crash.",
							"0 means at a clean shutdown only.",
							&hpsort_resident_save,
							300, 0, INT_MAX / 1000,
							PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort.resident_gpu_memory",
							"Sets the GPU memory for resident columns, on each GPU.",
							"-1 means a quarter of what the GPU service may use, 0 that none are kept there.",
							&hpsort_resident_gpu_memory,
							-1, -1, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);
	DefineCustomIntVariable("hpsort.resident_gpu_stripe",
							"Sets how much of a table has its resident columns on the same GPU.",
							"Tables that are larger are divided among all GPUs of hpsort.gpu_devices.",
							&hpsort_resident_gpu_stripe,
							1024, 1, INT_MAX / 2,
							PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("hpsort.enable_resident",
							 "Enables reading resident columns, and keeping what is read.",
							 "Off, all columns are read from their tables' pages.",
							 &hpsort_enable_resident,
							 true,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
}

/* The assign hook of hpsort.cost_factor. */
static void
assign_cost_factor(double newval, void *extra)
{
	hpsort_gpu_cost_factor = 1 / newval;
}

void
guc_define(void)
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
	DefineCustomRealVariable("hpsort.cost_factor",
							 "Sets what the expected time of hpsort's work on the CPU is multiplied by.",
							 "Less than 1 makes the planner prefer hpsort to PostgreSQL's own "
							 "plans, and \"auto\" the CPU to the GPU.",
							 &hpsort_cost_factor,
							 1.0, 1e-6, 1e6,
							 PGC_USERSET, GUC_EXPLAIN,
							 NULL, assign_cost_factor, NULL);
	define_gpu_settings();
	define_node_settings();
	define_resident_settings();
	MarkGUCPrefixReserved("hpsort");
}
