/*
 * plan_test.c
 *		The plan as a table: inputs, the algorithm and device that must be chosen for
 *		them, and the reason that must be given, word for word.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "sort/algorithms.h"
#include "sort/error.h"
#include "sort/plan.h"

#define AUTO SORT_ALGORITHM_AUTO
#define ZERO SORT_ALGORITHM_ZERO_COMPRESSED
#define FREE SORT_ALGORITHM_COMPARISON_FREE
#define RADIX SORT_ALGORITHM_RADIX
#define CPU SORT_DEVICE_CPU
#define GPU SORT_DEVICE_GPU
#define ANY SORT_DEVICE_AUTO
#define KEYS SORT_WANT_KEYS
#define RUNS SORT_WANT_RUNS
#define ORDER SORT_WANT_PERMUTATION
#define BINS ((int32_t) PLAN_MAX_BINS)

typedef struct PlanCase
{
	uint64_t	n;
	int32_t		lo;
	int32_t		hi;
	SortWant	want;
	SortDeviceKind device;
	SortAlgorithm algorithm;
	/* expected */
	SortAlgorithm chosen;
	SortPlanReason	reason;
	bool		other;			/* was there another choice */
} PlanCase;

/*
 * Far from where counting and wide sorts cost the same, so that a new
 * calibration does not move a case to the other side.
 */
static const PlanCase cases[] = {
	{0, 0, 0, KEYS, ANY, AUTO, ZERO, PLAN_NO_KEYS, true},
	{10000000, 0, 0, KEYS, ANY, AUTO, ZERO, PLAN_CHEAPEST, true},
	{10000000, 0, 1, KEYS, ANY, AUTO, ZERO, PLAN_CHEAPEST, true},
	{10000000, 0, 255, KEYS, CPU, AUTO, ZERO, PLAN_CHEAPEST, true},
	{10000000, -500, 499, RUNS, ANY, AUTO, ZERO, PLAN_CHEAPEST, true},
	{10000000, 0, 65535, KEYS, ANY, AUTO, ZERO, PLAN_CHEAPEST, true},
	{10000000, INT32_MAX - 999999, INT32_MAX, KEYS, ANY, AUTO, ZERO, PLAN_CHEAPEST, true},
	{100, 0, 1000000, KEYS, ANY, AUTO, RADIX, PLAN_CHEAPEST, true},
	{10000, 0, BINS / 2, KEYS, ANY, AUTO, RADIX, PLAN_CHEAPEST, true},
	{10000000, 0, BINS - 1, KEYS, ANY, AUTO, RADIX, PLAN_CHEAPEST, true},
	{10000000, 0, BINS, KEYS, ANY, AUTO, RADIX, PLAN_CHEAPEST, false},
	{10000000, INT32_MIN, INT32_MAX, RUNS, ANY, AUTO, RADIX, PLAN_CHEAPEST, false},
	{10000000, 0, 999, ORDER, ANY, AUTO, ZERO, PLAN_CHEAPEST, true},
	{10000, INT32_MIN, INT32_MAX, ORDER, ANY, AUTO, RADIX, PLAN_CHEAPEST, false},
	{10000, 0, BINS / 2, ORDER, ANY, AUTO, RADIX, PLAN_CHEAPEST, true},
	{10000000, 0, 1, KEYS, ANY, RADIX, RADIX, PLAN_FORCED, false},
	{10000000, 0, 1, ORDER, CPU, RADIX, RADIX, PLAN_FORCED, false},
	{1, INT32_MIN, INT32_MAX, KEYS, ANY, RADIX, RADIX, PLAN_FORCED, false},
	{2, 0, BINS - 1, KEYS, ANY, ZERO, ZERO, PLAN_FORCED, false},
	{2, 0, BINS - 1, ORDER, ANY, ZERO, ZERO, PLAN_FORCED, false},
	{2, -BINS / 2, BINS / 2 - 1, RUNS, CPU, FREE, FREE, PLAN_FORCED, false},
	{0, 0, 0, KEYS, ANY, ZERO, ZERO, PLAN_FORCED, false},
	{0, 0, 0, KEYS, ANY, FREE, FREE, PLAN_FORCED, false},
};

static void
test_choices(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		const PlanCase *c = &cases[i];
		SortPlanInput	in = {
			.n = c->n, .lo = c->lo, .hi = c->hi, .want = c->want, .device = c->device,
			.algorithm = c->algorithm
		};
		SortPlan	plan;
		SortError	err;

		memset(&plan, 0xEE, sizeof(plan));
		assert_sort_ok(plan_choose(&in, &plan, &err), err);
		if (plan.algorithm != c->chosen || plan.reason != c->reason ||
			(plan.other_ns >= 0) != c->other)
			fail_msg("case %zu: %s, reason %d, other %g", i, sort_algorithm_name(plan.algorithm),
					 (int) plan.reason, plan.other_ns);
		assert_int_equal(plan.device, CPU);
		assert_int_equal(plan.n, c->n);
		assert_int_equal(plan.range, c->n == 0 ? 0 : (uint64_t) ((int64_t) c->hi - c->lo + 1));
		assert_true(plan.cost_ns >= 0);
		assert_true(plan.other_ns < 0 || plan.other_ns >= plan.cost_ns);
	}
}

typedef struct RefusedCase
{
	SortPlanInput	in;
	SortStatus	status;
	const char *message;
	const char *detail;
} RefusedCase;

static const RefusedCase refused[] = {
	{{.n = 5, .lo = 0, .hi = 9, .algorithm = FREE, .want = ORDER}, SORT_UNSUPPORTED,
		"algorithm \"comparison_free\" cannot return a permutation",
	"It makes the keys anew from their counts, without their positions."},
	{{.n = 5, .lo = 0, .hi = 9, .algorithm = SORT_ALGORITHM_HP, .want = ORDER, .gpu_reason = "there is none"},
		SORT_UNSUPPORTED, "algorithm \"hp\" cannot return a permutation",
	"It makes the keys anew from their counts, without their positions."},
	{{.n = 5, .lo = 0, .hi = 9, .algorithm = SORT_ALGORITHM_HP, .algorithm_memory = 103},
		SORT_MEMORY_LIMIT, "algorithm \"hp\" needs 104 bytes of memory for 5 keys from 0 to 9",
	"It may take 103 bytes."},
	{{.n = UINT64_MAX / 4, .lo = INT32_MIN, .hi = INT32_MAX, .algorithm = SORT_ALGORITHM_COMPARISON_FREE_ONEHOT,
		.algorithm_memory = 1000, .device = CPU, .want = ORDER}, SORT_MEMORY_LIMIT,
		"algorithm \"comparison_free_onehot\" needs 18446744073709551615 bytes of memory for 4611686018427387903 "
		"keys from -2147483648 to 2147483647",
	"It may take 1000 bytes."},
	{{.n = 5, .lo = 0, .hi = 9, .device = GPU, .algorithm = SORT_ALGORITHM_BUCKET_RADIX, .want = ORDER,
		.gpu = &plan_cpu_costs}, SORT_UNSUPPORTED,
		"algorithm \"bucket_radix\" cannot return a permutation",
	"Its partition into buckets forgets the order of equal keys."},
	{{.n = 5, .lo = 0, .hi = 9, .device = GPU, .gpu_reason = "this build has no GPU service"},
		SORT_DEVICE_UNAVAILABLE, "device \"gpu\" is not available",
	"This build has no GPU service."},
	{{.n = 5, .lo = 0, .hi = 9, .device = GPU, .algorithm = FREE, .want = ORDER, .gpu = &plan_cpu_costs},
		SORT_UNSUPPORTED, "algorithm \"comparison_free\" cannot return a permutation",
	"It makes the keys anew from their counts, without their positions."},
	{{.n = 0, .device = GPU}, SORT_DEVICE_UNAVAILABLE, "device \"gpu\" is not available", ""},
	{{.n = 5, .lo = 0, .hi = 9, .device = GPU, .algorithm = RADIX, .gpu_reason = "CUDA is missing"},
		SORT_DEVICE_UNAVAILABLE, "device \"gpu\" is not available",
	"CUDA is missing."},
};

static void
test_refusals(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(refused); i++)
	{
		SortPlan	plan;
		SortError	err;

		memset(&err, 0xEE, sizeof(err));
		assert_int_equal(plan_choose(&refused[i].in, &plan, &err), refused[i].status);
		assert_int_equal(err.status, refused[i].status);
		assert_string_equal(err.message, refused[i].message);
		assert_string_equal(err.detail, refused[i].detail);
	}
}

/* Ranges beyond what a histogram may have, by one and by far. */
static void
test_too_wide(void **state)
{
	static const SortPlanInput wide[] = {
		{.n = 5, .lo = 0, .hi = BINS, .algorithm = ZERO},
		{.n = 5, .lo = -1, .hi = BINS - 1, .algorithm = ZERO, .device = CPU},
		{.n = 5, .lo = INT32_MIN, .hi = INT32_MAX, .algorithm = ZERO, .want = ORDER},
		{.n = UINT64_MAX, .lo = INT32_MIN, .hi = INT32_MAX, .algorithm = ZERO, .want = RUNS},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(wide); i++)
	{
		SortPlan	plan;
		SortError	err;
		char		message[160];
		char		detail[200];

		snprintf(message, sizeof(message), "algorithm \"%s\" cannot sort keys from %d to %d",
				 "zero_compressed", (int) wide[i].lo, (int) wide[i].hi);
		snprintf(detail, sizeof(detail),
				 "It needs a counter for each of %lld values; at most %lld are possible.",
				 (long long) wide[i].hi - wide[i].lo + 1, (long long) PLAN_MAX_BINS);
		assert_int_equal(plan_choose(&wide[i], &plan, &err), SORT_UNSUPPORTED);
		assert_string_equal(err.message, message);
		assert_string_equal(err.detail, detail);
	}
}

/*
 * A GPU as they are: no good for little, and beside counting in the cache, but
 * unmoved by the range.
 */
static const SortDeviceCosts gpu_costs = {
	.startup_ns = 100000,
	.transfer_ns = 0.45,
	.counting_ns = {0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.02, 0.02, 0.03, 0.04, 0.1},
	.bin_ns = 0.001,
	.offset_ns = 0.001,
	.run_ns = 0.01,
	.expand_ns = 0.01,
	.wide_ns = 0.02,
	.wide_log_ns = 0.001,
	.scatter_ns = {0.91, 0.91, 0.91, 0.91, 0.91, 0.91, 0.91, 0.91, 0.92, 0.92, 0.93, 0.94, 0.95, 1.0},
	.pair_ns = 0.95,
	.pair_log_ns = 0.001,
};

typedef struct GpuCase
{
	uint64_t	n;
	int32_t		lo;
	int32_t		hi;
	SortWant	want;
	SortDeviceKind device;
	SortAlgorithm algorithm;
	/* expected */
	bool		asks;			/* the GPU is worth a question */
	SortDeviceKind chosen;
} GpuCase;

static const GpuCase gpu_cases[] = {
	/* few keys */
	{0, 0, 0, KEYS, ANY, AUTO, false, CPU},
	{1000, INT32_MIN, INT32_MAX, KEYS, ANY, AUTO, false, CPU},
	{10000, INT32_MIN, INT32_MAX, KEYS, ANY, AUTO, false, CPU},
	{1000, INT32_MIN, INT32_MAX, ORDER, ANY, AUTO, false, CPU},
	/* many, and wide */
	{10000000, INT32_MIN, INT32_MAX, KEYS, ANY, AUTO, true, GPU},
	{10000000, INT32_MIN, INT32_MAX, RUNS, ANY, AUTO, true, GPU},
	{1000000, INT32_MIN, INT32_MAX, ORDER, ANY, AUTO, true, GPU},
	{10000000, 0, 999, ORDER, ANY, AUTO, true, GPU},
	{10000000, 0, BINS - 1, KEYS, ANY, AUTO, true, GPU},
	/* many, and counted in the cache */
	{10000000, 0, 0, KEYS, ANY, AUTO, false, CPU},
	{10000000, 0, 0, RUNS, ANY, AUTO, false, CPU},
	{10000000, 0, 999, KEYS, CPU, AUTO, false, CPU},
	/* forced algorithms, on whichever device is cheaper and has them */
	{10000000, INT32_MIN, INT32_MAX, KEYS, ANY, RADIX, true, GPU},
	{1000, INT32_MIN, INT32_MAX, KEYS, ANY, RADIX, false, CPU},
	{10000000, 0, 999, KEYS, ANY, FREE, true, CPU},
	{10, INT32_MIN, INT32_MAX, KEYS, ANY, ZERO, true, GPU},
	{10, 0, 999, KEYS, ANY, SORT_ALGORITHM_HP, false, CPU},
	{10000000, 0, 999, KEYS, ANY, SORT_ALGORITHM_HP, true, GPU},
	{10000000, INT32_MIN, INT32_MAX, ORDER, ANY, SORT_ALGORITHM_BUCKET_BITONIC, true, GPU},
	/* forced device */
	{0, 0, 0, KEYS, GPU, AUTO, true, GPU},
	{1, 7, 7, RUNS, GPU, AUTO, true, GPU},
	{10000000, 0, 0, KEYS, GPU, AUTO, true, GPU},
	{10, INT32_MIN, INT32_MAX, KEYS, GPU, ZERO, true, GPU},
	{10, INT32_MIN, INT32_MAX, ORDER, GPU, RADIX, true, GPU},
	{10000000, INT32_MIN, INT32_MAX, KEYS, CPU, AUTO, false, CPU},
};

static void
test_gpu_choices(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(gpu_cases); i++)
	{
		const GpuCase *c = &gpu_cases[i];
		SortPlanInput	in = {
			.n = c->n, .lo = c->lo, .hi = c->hi, .want = c->want, .device = c->device,
			.algorithm = c->algorithm
		};
		SortPlan	plan;
		SortError	err;

		if (plan_asks_gpu(&in) != c->asks)
			fail_msg("GPU case %zu: asked or not", i);
		in.gpu = &gpu_costs;
		assert_sort_ok(plan_choose(&in, &plan, &err), err);
		if (plan.device != c->chosen)
			fail_msg("GPU case %zu: %s, %g beside %g ns", i, sort_device_name(plan.device),
					 plan.cost_ns, plan.other_ns);
		assert_string_equal(plan.note, "");
	}
}

static void
test_explain(void **state)
{
	static const struct
	{
		SortPlan	plan;
		const char *text;
	}			explained[] = {
		{{.reason = PLAN_NO_KEYS}, "no keys"},
		{{.reason = PLAN_FORCED}, "forced by hpsort.algorithm"},
		{{.reason = PLAN_FEW}, "few keys: sorted where they are"},
		{{.reason = PLAN_WIDE}, "keys of more than 32 bits"},
		{{.reason = PLAN_ORDERED}, "keys came in ascending order"},
		{{.reason = PLAN_FORCED, .device = GPU, .note = "by magic"},
		"forced by hpsort.algorithm; by magic"},
		{{.reason = PLAN_ORDERED, .device = CPU, .note = "it sleeps"},
		"keys came in ascending order; no GPU: it sleeps"},
		{{.reason = PLAN_FALLBACK, .device = CPU, .note = "it broke"},
		"it broke: sorted on the CPU"},
		{{.reason = PLAN_FALLBACK, .device = CPU}, "the GPU failed: sorted on the CPU"},
		{{.reason = PLAN_COUNTED}, "keys repeat: kept as runs while filling"},
		{{.reason = PLAN_CHEAPEST, .n = 10, .range = 5, .cost_ns = 850, .other_ns = 4200},
		"cheapest for 10 keys in a range of 5 (850 ns expected, 4.2 us otherwise)"},
		{{.reason = PLAN_CHEAPEST, .n = 10, .range = 5, .cost_ns = 31e6, .other_ns = 2.5e9},
		"cheapest for 10 keys in a range of 5 (31 ms expected, 2.5 s otherwise)"},
		{{.reason = PLAN_CHEAPEST, .n = 7, .range = UINT64_C(1) << 32, .cost_ns = 0, .other_ns = -1},
		"only choice for 7 keys in a range of 4294967296 (0 ns expected)"},
	};
	char		text[200];

	(void) state;
	for (size_t i = 0; i < lengthof(explained); i++)
	{
		plan_explain(&explained[i].plan, true, text, sizeof(text));
		assert_string_equal(text, explained[i].text);
		/* Cut where the room ends, but always ended. */
		for (size_t size = 1; size < 20; size++)
		{
			char		little[21];
			size_t		fits = strlen(explained[i].text) < size - 1 ? strlen(explained[i].text) : size - 1;

			memset(little, '#', sizeof(little));
			plan_explain(&explained[i].plan, true, little, size);
			assert_memory_equal(little, explained[i].text, fits);
			assert_int_equal(little[fits], '\0');
			assert_int_equal(little[size], '#');
		}
	}
}

/* Without values: plans of the same number of keys, and of any range, are explained alike. */
static void
test_explain_without_values(void **state)
{
	static const struct
	{
		SortPlan	plan;
		const char *text;
	}			explained[] = {
		{{.reason = PLAN_FEW}, "few keys: sorted where they are"},
		{{.reason = PLAN_CHEAPEST, .n = 10, .range = 5, .cost_ns = 850, .other_ns = 4200},
		"cheapest for 10 keys"},
		{{.reason = PLAN_CHEAPEST, .n = 10, .range = 6, .cost_ns = 900, .other_ns = -1},
		"only choice for 10 keys"},
		{{.reason = PLAN_CHEAPEST, .device = CPU, .n = 10, .range = 5, .other_ns = 4200, .note = "it sleeps"},
		"cheapest for 10 keys; no GPU: it sleeps"},
		{{.reason = PLAN_CHEAPEST, .device = GPU, .n = 10, .range = 5, .other_ns = 4200, .note = "7 buckets"},
		"cheapest for 10 keys"},
		{{.reason = PLAN_FALLBACK, .device = CPU, .note = "it broke"},
		"it broke: sorted on the CPU"},
	};
	char		text[200];

	(void) state;
	for (size_t i = 0; i < lengthof(explained); i++)
	{
		plan_explain(&explained[i].plan, false, text, sizeof(text));
		assert_string_equal(text, explained[i].text);
	}
}

/* All units of time, and no form that does not fit its buffer. */
static void
test_explain_any(void **state)
{
	(void) state;
	for (double ns = 0.01; ns < 1e25; ns *= 3)
	{
		SortPlan	plan = {.reason = PLAN_CHEAPEST, .n = UINT64_MAX, .range = UINT64_C(1) << 32,
			.cost_ns = ns, .other_ns = ns * 7};
		char		text[200];

		plan_explain(&plan, true, text, sizeof(text));
		assert_non_null(strstr(text, " otherwise)"));
		assert_true(strlen(text) < sizeof(text) - 1);
	}
}

/*
 * More keys never speak against counting, a wider range never for it: the
 * sorter counts on both, or it would go back and forth.
 */
static void
test_fills_dense(void **state)
{
	bool		some = false;

	(void) state;
	for (uint64_t range = 1; range <= UINT64_C(1) << 33; range += 1 + range / 7)
	{
		bool		before = false;

		for (uint64_t n = 1; n <= UINT64_C(1) << 40; n += 1 + n / 5)
		{
			bool		dense = plan_fills_dense(n, range, AUTO);

			if (before && !dense)
				fail_msg("%llu keys in a range of %llu are too many to count",
						 (unsigned long long) n, (unsigned long long) range);
			if (dense && !plan_fills_dense(n, range - range / 8 > 0 ? range - range / 8 : 1, AUTO))
				fail_msg("%llu keys are counted in a range of %llu, but not in less",
						 (unsigned long long) n, (unsigned long long) range);
			before = dense;
			some |= dense;
		}
		assert_int_equal(plan_fills_dense(1, range, ZERO), range <= PLAN_MAX_BINS);
		assert_false(plan_fills_dense(UINT64_C(1) << 40, range, RADIX));
		assert_false(plan_fills_dense(UINT64_C(1) << 40, range, FREE));
	}
	assert_true(some);
	assert_true(plan_fills_dense(4096, 1000, AUTO));
	assert_true(plan_fills_dense(UINT64_C(1) << 20, UINT64_C(1) << 20, AUTO));
	assert_false(plan_fills_dense(4096, UINT64_C(1) << 20, AUTO));
	assert_true(plan_fills_dense(1, PLAN_MAX_BINS, ZERO));
	assert_false(plan_fills_dense(1, PLAN_MAX_BINS + 1, ZERO));
}

static void
test_names(void **state)
{
	static const char *const names[] = {
		"auto", "zero_compressed", "zero_compressed_published", "hp", "one_hp", "bucket_radix", "comparison_free",
		"comparison_free_onehot", "bucket_bitonic", "radix"
	};

	(void) state;
	assert_int_equal(lengthof(names), SORT_ALGORITHM_COUNT);
	for (int a = 0; a < SORT_ALGORITHM_COUNT; a++)
	{
		assert_string_equal(sort_algorithm_name((SortAlgorithm) a), names[a]);
		if (a == AUTO)
			continue;
		assert_string_equal(algorithm_info((SortAlgorithm) a)->name, names[a]);
		assert_non_null(algorithm_info((SortAlgorithm) a)->paper);
		assert_non_null(algorithm_info((SortAlgorithm) a)->limits);
	}
	assert_string_equal(sort_device_name(ANY), "auto");
	assert_string_equal(sort_device_name(CPU), "cpu");
	assert_string_equal(sort_device_name(GPU), "gpu");
	assert_int_equal(plan_range(INT32_MIN, INT32_MAX), UINT64_C(1) << 32);
	assert_int_equal(plan_range(INT32_MAX, INT32_MAX), 1);
}

/* A message longer than its room is cut, not spilled. */
static void
test_fail(void **state)
{
	SortError	err;
	char		longer[400];

	(void) state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	memset(&err, 0xEE, sizeof(err));
	assert_int_equal(sort_fail(&err, SORT_CORRUPT, "%s", longer), SORT_CORRUPT);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_string_equal(err.detail, "");
	assert_int_equal(err.key, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_too_wide),
		cmocka_unit_test(test_gpu_choices),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_without_values),
		cmocka_unit_test(test_explain_any),
		cmocka_unit_test(test_fills_dense),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_fail),
	};

	unit_seed("plan_test");
	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
