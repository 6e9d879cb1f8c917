/*
 * plan.c
 *		The plan: which device and algorithm, and why (see plan.h).
 */
#include "sort/plan.h"

#include <stdio.h>
#include <string.h>

#include "sort/algorithms.h"
#include "sort/error.h"

/*
 * AMD EPYC (Zen 5, 2 cores, 48 KiB L1, 1 MiB L2, 32 MiB L3 shared with
 * others), gcc 12, Highway 1.0.3 with AVX-512, one thread.  Tables from
 * "build/bench/sort_bench --calibrate", 1e7 keys, smallest of 9; what a row
 * index or a pair costs is given within the cache, see beyond_cache.  What a
 * bin, a run, a wide key or a pair costs depends on how many there are; these
 * are the values that make the choice right, to 10 %, in the 165 cases each of
 * "build/bench/sort_bench --plan" and "--plan-order" (n 1e3 to 1e7, ranges 2^0
 * to 2^32), but for one or two that change from run to run.
 */
const SortDeviceCosts plan_cpu_costs = {
	.startup_ns = 0,
	.transfer_ns = 0,
	/* bins:        1     4    16    64   256  1 Ki  4 Ki  16 Ki  64 Ki */
	.counting_ns = {0.08, 0.09, 0.27, 0.25, 0.25, 0.26, 0.25, 0.27, 0.38,
		/* 256 Ki, 1 Mi, 4 Mi, 16 Mi, 64 Mi */
	0.44, 0.53, 1.77, 4.67, 5.77},
	.bin_ns = 0.70,
	.offset_ns = 0.42,
	.run_ns = 0.10,
	.expand_ns = 0.10,
	.wide_ns = 0.45,
	.wide_log_ns = 0.115,
	.scatter_ns = {0.22, 0.28, 0.29, 0.32, 0.38, 0.47, 1.10, 1.22, 1.46,
	1.88, 2.38, 4.16, 4.96, 5.96},
	.pair_ns = 1.50,
	.pair_log_ns = 0.20,
};

/* log2 for the cost model: exact at powers of two, linear between them. */
static double
log2_of(uint64_t x)
{
	int			whole = 63 - __builtin_clzll(x | 1);

	return whole + ((double) x / (double) (UINT64_C(1) << whole) - 1.0);
}

/* A table given for 2^0, 2^2, ... bins, read between its points. */
static double
at_bins(const double *table, uint64_t range)
{
	double		place = log2_of(range) / 2.0;
	int			step = (int) place;

	if (step >= PLAN_BIN_STEPS - 1)
		return table[PLAN_BIN_STEPS - 1];
	return table[step] + (place - step) * (table[step + 1] - table[step]);
}

/*
 * The CPU's permutations: how many times more a row index, or a pair, costs
 * when they are too many for the cache.  On the machine above, at 1e7 rows beside
 * up to 1e6: scattering 2.0 to 2.5 times for every number of bins, pairs 2.1
 * times (13.2 ns beside 6.2).  One factor for both, so that it decides nothing
 * between them, but between CPU and GPU.
 */
static double
beyond_cache(SortDeviceKind device, uint64_t n)
{
	double		steps = log2_of(n) - 20.0;

	if (device != SORT_DEVICE_CPU || steps <= 0)
		return 1.0;
	return steps >= 3.0 ? 2.2 : 1.0 + 1.2 * steps / 3.0;
}

/*
 * The least that a job costs on any GPU, which decides whether one is asked at
 * all: the smallest transfer there and back, and every key copied once into
 * shared memory.  Below what was measured on a host with an H100 (20 us each
 * way, 0.43 ns a key), so that no GPU is left out by mistake; asking in vain
 * costs a few microseconds.
 */
#define GPU_LEAST_NS 40000.0
#define GPU_LEAST_KEY_NS 0.3

/*
 * What the papers' algorithms cost on the CPU, on the machine above with other work beside,
 * to a factor of two or so: it is compared with a GPU's expected time only.  Nanoseconds a
 * key and a value of the range, at 1e6 to 4e6 of both, first touch of the memory included;
 * comparison_free_onehot's is a cell of its matrix.
 */
static double
published_cost(SortAlgorithm algorithm, uint64_t n, uint64_t range)
{
	double		keys = (double) n;
	double		values = (double) range;

	switch (algorithm)
	{
		case SORT_ALGORITHM_HP:
			return 2.0 * keys + 9.0 * values;
		case SORT_ALGORITHM_ONE_HP:
			return 2.0 * keys + 8.0 * values;
		case SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED:
			return 3.0 * keys + 14.0 * values;
		case SORT_ALGORITHM_BUCKET_RADIX:
			return (range > (UINT64_C(1) << 16) ? 55.0 : 35.0) * keys;
		case SORT_ALGORITHM_COMPARISON_FREE_ONEHOT:
			return 1.4 * keys * values;
		default:
			return 85.0 * keys;
	}
}

/* A run in transit takes the room of this many keys: a key and a 64-bit count. */
#define KEYS_PER_RUN 3

/*
 * Nanoseconds, or < 0 if the algorithm cannot do the job.  A GPU's engine
 * takes any range under the name "zero_compressed" and chooses by itself how to
 * count; its service measures costs up to PLAN_MAX_BINS, so that wider ranges
 * are considered only when the algorithm is forced.
 */
static double
cost(const SortDeviceCosts *c, SortDeviceKind device, SortAlgorithm algorithm, bool forced,
	 SortWant want, uint64_t n, uint64_t range)
{
	double		keys = (double) n;
	double		runs = (double) (n < range ? n : range);
	double		result = want == SORT_WANT_RUNS ? runs : keys;
	double		ns = c->startup_ns;

	/* Back comes the smaller of runs and keys. */
	if (device == SORT_DEVICE_GPU && want != SORT_WANT_PERMUTATION)
		ns += c->transfer_ns * (keys + (runs * KEYS_PER_RUN < keys ? runs * KEYS_PER_RUN : keys));

	switch (algorithm)
	{
		case SORT_ALGORITHM_ZERO_COMPRESSED:
		case SORT_ALGORITHM_COMPARISON_FREE:
			if (range > PLAN_MAX_BINS &&
				(!forced || (device == SORT_DEVICE_CPU && !algorithm_is_published(algorithm))))
				return -1.0;
			if (range > PLAN_MAX_BINS && device == SORT_DEVICE_GPU)
				range = PLAN_MAX_BINS;
			ns += keys * at_bins(c->counting_ns, range);
			if (want == SORT_WANT_PERMUTATION)
				return ns + (double) range * c->offset_ns +
					keys * at_bins(c->scatter_ns, range) * beyond_cache(device, n);
			ns += (double) range * c->bin_ns;
			return ns + runs * c->run_ns + result * c->expand_ns;
		case SORT_ALGORITHM_RADIX:
			if (want == SORT_WANT_PERMUTATION)
				return ns +
					keys * (c->pair_ns + c->pair_log_ns * log2_of(n)) * beyond_cache(device, n);
			return ns + keys * (c->wide_ns + c->wide_log_ns * log2_of(n));
		default:

			/* Never a choice but the caller's. */
			if (!forced)
				return -1.0;
			return device == SORT_DEVICE_GPU ? ns + keys * c->wide_ns
				: published_cost(algorithm, n, range);
	}
}

/*
 * What a GPU needs for a key in its memory: one counted in shared memory, and one that is
 * unpacked and sorted.  Extents looked up and checked by both sides are in the first: whole
 * statements over 1e8 keys of 1,000 values take 1.9 to 3.1 ms (H100).
 */
#define EXTENT_KEY_NS 0.02
#define EXTENT_WIDE_KEY_NS 0.12
#define EXTENT_BINS (UINT64_C(1) << 15)

/*
 * What the CPU needs for another column of a row, a group or a condition, and for a value that has
 * to be put in order.  Of 68 kinds of statements over 50,000 to 3,000,000 rows on two hosts (H100,
 * H200) the GPU is chosen wrongly in three and memory in three, which costs 0.5 ms at most
 * (bench/results/2026-11-25-h100-resident-costs.csv, 2026-11-29-h200-resident-costs.csv).
 */
#define ROW_COLUMN_NS 1.25
#define ROW_ORDER_NS 6.0

/* The GPU's part: asking which extents there are, and three round trips for questions. */
#define ROWS_LOOK_NS 2e5

/*
 * What each of several GPUs that share the rows adds by the search for positions: of two H200s 1.2
 * ms for 1,000 positions, 2.6 ms for 8,000 (bench/results/2026-11-30-h200-x2-steps.csv).
 */
#define ROWS_SEARCH_NS 6e5

/* What the GPU needs: gpu has its costs, NULL stands for the least that any has. */
static double
rows_gpu_ns(const SortDeviceCosts *gpu, uint64_t n, int ncolumns, uint64_t range, int njobs,
			uint32_t devices)
{
	double		startup = gpu ? gpu->startup_ns : GPU_LEAST_NS;
	double		transfer = gpu ? gpu->transfer_ns : GPU_LEAST_KEY_NS / 2;
	double		runs = (double) (n < range ? n : range);
	double		key = range <= EXTENT_BINS ? EXTENT_KEY_NS : EXTENT_WIDE_KEY_NS;
	double		job = startup + (double) n / devices * (key + (ncolumns - 1) * EXTENT_KEY_NS);

	if (devices > 1)
		job += devices * ROWS_SEARCH_NS;
	return njobs == 0 ? job + runs * devices * KEYS_PER_RUN * transfer :
		njobs * (job + ROWS_LOOK_NS);
}

/* What the CPU needs for counting, or sorting, packed keys, and for other columns. */
static double
rows_cpu_ns(uint64_t n, int ncolumns, uint64_t range, bool ordered)
{
	const SortDeviceCosts *c = &plan_cpu_costs;

	/* Values of narrow ranges are counted. */
	ordered = ordered && range > EXTENT_BINS;
	if (ncolumns > 1 || ordered)
		return (double) n * ((ncolumns - 1) * ROW_COLUMN_NS + (ordered ? ROW_ORDER_NS : 0));
	if (range > PLAN_MAX_BINS)
		return (double) n * (c->wide_ns + c->wide_log_ns * log2_of(n));
	return (double) n * at_bins(c->counting_ns, range);
}

bool
plan_rows_pay(const SortDeviceCosts *gpu, uint64_t n, int ncolumns, uint64_t range, int njobs,
			  bool ordered, uint32_t devices)
{
	return rows_cpu_ns(n, ncolumns, range, ordered) >
		rows_gpu_ns(gpu, n, ncolumns, range, njobs, devices);
}

bool
plan_fills_dense(uint64_t n, uint64_t range, SortAlgorithm algorithm)
{
	if (range > PLAN_MAX_BINS)
		return false;
	switch (algorithm)
	{
		case SORT_ALGORITHM_ZERO_COMPRESSED:
			return true;
		case SORT_ALGORITHM_AUTO:

			/*
			 * Later keys only make counting better: the bins are paid for once, the cost of a key
			 * is the same or less.
			 */
			return cost(&plan_cpu_costs, SORT_DEVICE_CPU, SORT_ALGORITHM_ZERO_COMPRESSED, false,
						SORT_WANT_KEYS, n, range) <
				cost(&plan_cpu_costs, SORT_DEVICE_CPU, SORT_ALGORITHM_RADIX, false,
					 SORT_WANT_KEYS, n, range);
		default:
			return false;
	}
}

/* Whether a forced algorithm of the papers needs more on the CPU than the caller allows. */
static bool
needs_too_much(const SortPlanInput *in, uint64_t range)
{
	return in->algorithm_memory > 0 && in->n > 0 &&
		algorithm_cpu_need(in->algorithm, in->n, range, in->want) > in->algorithm_memory;
}

/* Considers one device's algorithms; keeps the cheapest two in *plan. */
static void
consider(SortPlan *plan, const SortPlanInput *in, SortDeviceKind device,
		 const SortDeviceCosts *costs)
{
	for (int a = SORT_ALGORITHM_AUTO + 1; a < SORT_ALGORITHM_COUNT; a++)
	{
		SortAlgorithm algorithm = (SortAlgorithm) a;
		double		ns;

		if (!algorithm_gives(algorithm, in->want))
			continue;
		if (in->algorithm == SORT_ALGORITHM_AUTO
			? algorithm_is_published(algorithm)
			: in->algorithm != algorithm)
			continue;
		if (device == SORT_DEVICE_CPU && needs_too_much(in, plan->range))
			continue;
		ns = cost(costs, device, algorithm, in->algorithm == algorithm, in->want, in->n,
				  plan->range);
		if (ns < 0)
			continue;
		if (plan->cost_ns < 0 || ns < plan->cost_ns)
		{
			plan->other_ns = plan->cost_ns;
			plan->cost_ns = ns;
			plan->device = device;
			plan->algorithm = algorithm;
		}
		else if (plan->other_ns < 0 || ns < plan->other_ns)
			plan->other_ns = ns;
	}
}

static SortStatus
refuse(const SortPlanInput *in, uint64_t range, SortError *err)
{
	const char *algorithm = sort_algorithm_name(in->algorithm);

	if (in->device != SORT_DEVICE_GPU && algorithm_gives(in->algorithm, in->want) &&
		needs_too_much(in, range))
	{
		sort_fail(err, SORT_MEMORY_LIMIT,
				  "algorithm \"%s\" needs %llu bytes of memory for %llu keys from %d to %d",
				  algorithm,
				  (unsigned long long) algorithm_cpu_need(in->algorithm, in->n, range, in->want),
				  (unsigned long long) in->n, in->lo, in->hi);
		snprintf(err->detail, sizeof(err->detail), "It may take %llu bytes.",
				 (unsigned long long) in->algorithm_memory);
	}
	else if (algorithm_gives(in->algorithm, in->want))
	{
		sort_fail(err, SORT_UNSUPPORTED, "algorithm \"%s\" cannot sort keys from %d to %d",
				  algorithm, in->lo, in->hi);
		snprintf(err->detail, sizeof(err->detail),
				 "It needs a counter for each of %llu values; at most %llu are possible.",
				 (unsigned long long) range, (unsigned long long) PLAN_MAX_BINS);
	}
	else
	{
		sort_fail(err, SORT_UNSUPPORTED, "algorithm \"%s\" cannot return a permutation", algorithm);
		snprintf(err->detail, sizeof(err->detail), "%s",
				 algorithm_info(in->algorithm)->no_permutation);
	}
	return err->status;
}

/* A plan with nothing chosen yet. */
static void
start_plan(const SortPlanInput *in, SortPlan *plan)
{
	plan->device = SORT_DEVICE_CPU;
	plan->algorithm = in->algorithm;
	plan->n = in->n;
	plan->range = in->n == 0 ? 0 : plan_range(in->lo, in->hi);
	plan->cost_ns = -1.0;
	plan->other_ns = -1.0;
	plan->threads = 0;
	plan->reason = in->algorithm == SORT_ALGORITHM_AUTO ? PLAN_CHEAPEST : PLAN_FORCED;
	plan->note[0] = '\0';
}

bool
plan_asks_gpu(const SortPlanInput *in)
{
	SortPlan	plan;

	if (in->device != SORT_DEVICE_AUTO)
		return in->device == SORT_DEVICE_GPU;
	if (!algorithm_gives(in->algorithm, in->want))
		return false;
	start_plan(in, &plan);
	consider(&plan, in, SORT_DEVICE_CPU, &plan_cpu_costs);
	/* What only a GPU can do is asked of it, however little it is. */
	return plan.cost_ns < 0 ||
		plan.cost_ns > GPU_LEAST_NS + GPU_LEAST_KEY_NS * (double) in->n;
}

SortStatus
plan_choose(const SortPlanInput *in, SortPlan *plan, SortError *err)
{
	start_plan(in, plan);
	if (in->device == SORT_DEVICE_GPU && in->gpu == NULL)
	{
		sort_fail(err, SORT_DEVICE_UNAVAILABLE, "device \"gpu\" is not available");
		if (in->gpu_reason)
			snprintf(err->detail, sizeof(err->detail), "%c%s.",
					 in->gpu_reason[0] >= 'a' && in->gpu_reason[0] <= 'z'
					 ? in->gpu_reason[0] - 'a' + 'A' : in->gpu_reason[0],
					 in->gpu_reason + 1);
		return SORT_DEVICE_UNAVAILABLE;
	}
	if (in->device != SORT_DEVICE_GPU)
		consider(plan, in, SORT_DEVICE_CPU, &plan_cpu_costs);
	if (in->device != SORT_DEVICE_CPU && in->gpu != NULL)
		consider(plan, in, SORT_DEVICE_GPU, in->gpu);
	if (plan->cost_ns < 0)
		return refuse(in, plan->range, err);
	if (in->n == 0 && in->algorithm == SORT_ALGORITHM_AUTO)
		plan->reason = PLAN_NO_KEYS;
	return SORT_OK;
}

void
plan_fall_back(SortPlan *plan, const char *words)
{
	plan->reason = PLAN_FALLBACK;
	snprintf(plan->note, sizeof(plan->note), "%s", words);
}

/* "850 ns", "4.2 us", "31 ms" */
static void
format_time(double ns, char *text, size_t size)
{
	if (ns < 1e3)
		snprintf(text, size, "%.0f ns", ns);
	else if (ns < 1e6)
		snprintf(text, size, "%.3g us", ns / 1e3);
	else if (ns < 1e9)
		snprintf(text, size, "%.3g ms", ns / 1e6);
	else
		snprintf(text, size, "%.3g s", ns / 1e9);
}

void
plan_explain(const SortPlan *plan, bool values, char *text, size_t size)
{
	char		mine[32];
	char		other[32];
	size_t		length;

	switch (plan->reason)
	{
		case PLAN_NO_KEYS:
			snprintf(text, size, "no keys");
			break;
		case PLAN_FORCED:
			snprintf(text, size, "forced by hpsort.algorithm");
			break;
		case PLAN_WIDE:
			snprintf(text, size, "keys of more than 32 bits");
			break;
		case PLAN_FEW:
			snprintf(text, size, "few keys: sorted where they are");
			break;
		case PLAN_ORDERED:
			snprintf(text, size, "keys came in ascending order");
			break;
		case PLAN_COUNTED:
			snprintf(text, size, "keys repeat: kept as runs while filling");
			break;
		case PLAN_CHEAPEST:
			format_time(plan->cost_ns, mine, sizeof(mine));
			if (!values)
				snprintf(text, size, "%s for %llu keys",
						 plan->other_ns < 0 ? "only choice" : "cheapest",
						 (unsigned long long) plan->n);
			else if (plan->other_ns < 0)
				snprintf(text, size, "only choice for %llu keys in a range of %llu (%s expected)",
						 (unsigned long long) plan->n, (unsigned long long) plan->range, mine);
			else
			{
				format_time(plan->other_ns, other, sizeof(other));
				snprintf(text, size,
						 "cheapest for %llu keys in a range of %llu (%s expected, %s otherwise)",
						 (unsigned long long) plan->n, (unsigned long long) plan->range, mine,
						 other);
			}
			break;
		case PLAN_FALLBACK:
			/* The note is the device's own words. */
			snprintf(text, size, "%s: sorted on the CPU",
					 plan->note[0] ? plan->note : "the GPU failed");
			return;
	}
	length = strlen(text);
	if (plan->note[0] && length < size && (values || plan->device != SORT_DEVICE_GPU))
		snprintf(text + length, size - length, "; %s%s",
				 plan->device == SORT_DEVICE_GPU ? "" : "no GPU: ", plan->note);
}
