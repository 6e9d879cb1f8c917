/*-------------------------------------------------------------------------
 *
 * gpubench_grid.cu
 *	  Where the engine is slower than CUB, if it is anywhere.
 *
 * The rows of gpubench.cu say how much faster the engine is where it should be;
 * this grid looks for the places between them.  One case is a number of keys, a
 * range, how its values occur, and what is wanted.  The engine is told the bounds, as
 * a job has found them when it sorts, and CUB gets end_bit cut to the range.  CUB's
 * workspace and row numbers are at hand beforehand; the engine takes its memory
 * from its pool and makes row numbers up, both inside the time.  Cases begin at 30,000
 * keys, below which a session's own CPU sorts.
 *
 * A case passes at 0.98 of CUB's speed: the medians of CUB beside itself differ
 * by up to 0.015.  A case below that is timed again, both sides, before it counts:
 * one disturbed median among thousands is likely.
 *
 * The same cases say what a kernel family is worth: a case that takes it is sorted once
 * more without it (RegimeShape.without), by what the engine chooses then.
 *
 *-------------------------------------------------------------------------
 */
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <map>

#include "gpubench.cuh"

enum Wanted
{
	WANT_KEYS,
	WANT_ROWS
};

static const char *const wanted_names[] = {"keys", "permutation"};

/* Keys in equal steps at random places; what is not random at all; and, by the recipes
 * of generate.cuh, what is not uniform. */
enum Order
{
	AT_RANDOM,
	EACH_ONCE,					/* 0 .. n - 1, every stride-th */
	ASCENDING,
	BACKWARDS,
	CROWDED,					/* 1e4 neighbours in the middle of the range */
	BY_RECIPE,
	ORDERS = BY_RECIPE
};

static const char *const order_names[] = {"at random", "each once", "ascending",
	"backwards", "crowded"};

static const Distribution uneven[] = {ZIPF_1_05, ZIPF_1_2, ZIPF_2, HALF, MOST, CLUSTERED,
	SERIES, HUMPS};

struct Case
{
	uint64_t	n;
	uint64_t	range;			/* keys are in [0, range), or anywhere */
	uint64_t	distinct;		/* values in equal steps over the range */
	Wanted		wanted;
	Order		order;
	Distribution distribution;	/* BY_RECIPE */
};

static const char *
kind_of(const Case &c)
{
	return c.order == BY_RECIPE ? distribution_names[c.distribution] :
		order_names[c.order];
}

struct Outcome
{
	double		engine;
	double		cub;
	RegimeChoice choice;
};

static const double enough = 0.98;

static __global__ void
make_case_kernel(Case c, int32_t *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < c.n;
		 i += step)
	{
		const uint64_t h = mix64(c.n + c.range * 31 + i * 0x9e3779b97f4a7c15ull);
		uint64_t	key = h % c.distinct * (c.range / c.distinct);

		/* a prime, and so without a common divisor with n */
		if (c.order == EACH_ONCE)
			key = i * 2654435761ull % c.n;
		else if (c.order == ASCENDING)
			key = i;
		else if (c.order == BACKWARDS)
			key = c.n - 1 - i;
		else if (c.order == CROWDED)
			key = c.range / 2 + h % min(c.range / 2, (uint64_t) 10000);
		to[i] = (int32_t) (uint32_t) key;
	}
}

/* without: RegimeShape's. */
static double
time_engine(const Case &c, const char *name, uint32_t without, RegimeChoice *choice)
{
	const bool	permute = c.wanted == WANT_ROWS;
	HpsortCudaSpec spec = {};
	double		ms;

	spec.bounds_known = 1;
	spec.lo = c.range >> 32 != 0 ? INT32_MIN : 0;
	spec.hi = c.range >> 31 != 0 ? INT32_MAX : (int32_t) (c.range - 1);
	CUDA(cudaMemsetAsync(permute ? (void *) rows_out : out, 0xa5, c.n * 4, stream));
	ms = measure([&] {
		ENGINE(sort_now(context, spec, keys, c.n, permute ? nullptr : out,
						permute ? rows_out : nullptr, stream, verdict, choice, &err,
						without));
	});
	if (permute)
		check_rows(c.n, name);
	else
		check_sorted(c.n, name);
	return ms;
}

static double
time_cub(const Case &c)
{
	const int	bits = bits_of(c.range);

	return c.wanted == WANT_ROWS ? cub_pairs(c.n, bits) : cub_keys(c.n, bits);
}

static void
make_keys(const Case &c)
{
	if (c.order == BY_RECIPE)
		generate({c.distribution, c.n, c.range, 0, false, c.n + c.range * 31}, keys, stream);
	else
		make_case_kernel<<<2048, 256, 0, stream>>>(c, keys);
}

static Outcome
run_case(const Case &c, const char *name)
{
	Outcome		outcome;

	make_keys(c);
	outcome.engine = time_engine(c, name, 0, &outcome.choice);
	outcome.cub = time_cub(c);
	if (outcome.cub / outcome.engine < enough)
	{
		const double cub = time_cub(c);
		const double engine = time_engine(c, name, 0, &outcome.choice);

		if (cub / engine > outcome.cub / outcome.engine)
		{
			outcome.engine = engine;
			outcome.cub = cub;
		}
	}
	return outcome;
}

/* What has been seen so far, of all rows and of those of one kind. */
struct Count
{
	uint64_t	rows = 0;
	uint64_t	good = 0;
	double		worst = 1e9;

	void
	add(double ratio)
	{
		rows++;
		good += ratio >= enough;
		worst = std::min(worst, ratio);
	}
};

struct Tally
{
	Count		all;
	std::map<std::string, Count> kinds;
	std::vector<std::string> slow;
};

/* What the case is called in the tables. */
static std::string
name_of(const Case &c)
{
	char		name[160];

	if (c.order == BY_RECIPE)
		snprintf(name, sizeof(name), "grid %s n %" PRIu64 " range %" PRIu64 " %s",
				 wanted_names[c.wanted], c.n, c.range, kind_of(c));
	else
		snprintf(name, sizeof(name), "grid %s n %" PRIu64 " range %" PRIu64
				 " distinct %" PRIu64 " %s", wanted_names[c.wanted], c.n, c.range,
				 std::min(c.distinct, c.n), kind_of(c));
	return name;
}

/* One case: timed, checked, counted; printed if it is too slow. */
static void
try_case(const Case &c, Tally *tally)
{
	const std::string text = name_of(c);
	const char *name = text.c_str();
	char		line[256];

	if (skip(name))
		return;

	const Outcome o = run_case(c, name);
	const double ratio = o.cub / o.engine;
	const bool	good = ratio >= enough;

	tally->all.add(ratio);
	tally->kinds[kind_of(c)].add(ratio);
	snprintf(line, sizeof(line), "%-66s %9.4f %9.4f %6.2f  %s", name, o.engine, o.cub,
			 ratio, regime_names[o.choice.regime]);
	if (!good)
	{
		tally->slow.push_back(line);
		printf("%s\n", line);
		fflush(stdout);
	}
	if (csv)
		fprintf(csv, "\"%s\",%.4f,%.4f,,,%.2f,,%s,\">=%.2fx\",%s\n", name, o.engine, o.cub,
				ratio, regime_names[o.choice.regime], enough,
				good ? "met" : "MISSED");
}

/* A line on the terminal, and as a comment in the CSV. */
static void
tell(const char *what, const Count &count)
{
	char		line[160];

	snprintf(line, sizeof(line), "%s: %" PRIu64 " of %" PRIu64 " rows at or above %.2f of CUB, "
			 "lowest %.2f", what, count.good, count.rows, enough, count.worst);
	printf("%s\n", line);
	if (csv)
		fprintf(csv, "# %s\n", line);
}

/* All cases, one after the other. */
static void
for_each_case(const std::function<void(const Case &)> &run)
{
	/* both sides of what one launch and CUB's tiles hold; decades */
	const std::vector<uint64_t> sizes = {
		30000, 60000, 100000, 300000, 600000, 1000000, 1048577, 1500000, 2097152, 3000000,
		4194303, 4194304, 6000000, 10000000, 20000000, 30000000, 50000000, 100000000};

	for (uint64_t n : sizes)
	{
		repetitions = n < 20000000 ? 11 : 5;
		/* 66,000: just beyond 16 bits, and beyond the bins of shared memory */
		std::vector<uint64_t> ranges = {1, 100, 10000, 50000, 66000, 1000000, n, 4 * n,
			(uint64_t) 1 << 31, (uint64_t) 1 << 32};

		std::sort(ranges.begin(), ranges.end());
		ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
		for (Wanted wanted : {WANT_KEYS, WANT_ROWS})
		{
			for (uint64_t range : ranges)
			{
				for (uint64_t distinct : {(uint64_t) 100, range})
					if (distinct != 100 || range > 100)
						run({n, range, distinct, wanted, AT_RANDOM, UNIFORM});
				/* as many values as tables of values are for, and more */
				for (uint64_t distinct : {(uint64_t) 8192, (uint64_t) 65536})
					if (n >= (uint64_t) 1 << 22 && range > distinct)
						run({n, range, distinct, wanted, AT_RANDOM, UNIFORM});
				for (Distribution distribution : uneven)
					if (range > 1)
						run({n, range, range, wanted, BY_RECIPE, distribution});
			}
			/* keys as they often are, and as kernels like them least */
			for (int order = EACH_ONCE; order < ORDERS; order++)
				run({n, order == CROWDED ? 4 * n : n, n, wanted, (Order) order, UNIFORM});
		}
	}
}

/* All of them; the rows that are too slow are printed, and how many are not.  Whether
 * there is none. */
bool
grid_never_slower(void)
{
	Tally		tally;

	for_each_case([&](const Case &c) { try_case(c, &tally); });
	for (const auto &kind : tally.kinds)
		tell(kind.first.c_str(), kind.second);
	tell("never slower", tally.all);
	for (const std::string &line : tally.slow)
		printf("  below: %s\n", line.c_str());
	return tally.slow.empty();
}

/* Kernels that stand or fall together, and the choices by which they are taken. */
struct Family
{
	const char *name;
	uint32_t	without;
	bool		rows_only;		/* choices that serve keys by other kernels */
};

static const uint32_t by_bins = HPSORT_CUDA_WITHOUT(HPSORT_CUDA_SHARED_HISTOGRAM);
static const uint32_t by_few = HPSORT_CUDA_WITHOUT(HPSORT_CUDA_FEW_DISTINCT);
static const uint32_t by_bin_rows = HPSORT_CUDA_WITHOUT_KERNELS(HPSORT_CUDA_BIN_ROWS);

static const Family families[] = {
	{"shared_histogram", by_bins, false},
	{"few_distinct", by_few, false},
	{"partition", HPSORT_CUDA_WITHOUT(HPSORT_CUDA_PARTITION), false},
	{"rows by 16 bits", by_bins | by_few | by_bin_rows, true},
	{"few keys", HPSORT_CUDA_WITHOUT_KERNELS(HPSORT_CUDA_ONE_LAUNCH), false},
};

/* The bit of RegimeShape.without that would have forbidden this choice. */
static uint32_t
bit_of(const RegimeChoice &choice)
{
	return choice.regime == HPSORT_CUDA_RADIX ?
		HPSORT_CUDA_WITHOUT_KERNELS(choice.kernels) : HPSORT_CUDA_WITHOUT(choice.regime);
}

/*
 * Each case that takes a family is sorted with and without it, in turn and twice.  The
 * times with and without it, and how much longer it takes without, go to the CSV; the
 * family's worst case, and how many cases take a tenth longer, to both.
 */
void
grid_without_families(void)
{
	struct Worth
	{
		uint64_t	cases = 0;
		uint64_t	tenth = 0;
		double		most = 0;
		std::string where;
	};
	std::map<std::string, Worth> worths;

	for_each_case([&](const Case &c) {
		const std::string name = name_of(c);
		RegimeChoice choice;
		double		with;

		if (skip(name))
			return;
		make_keys(c);
		with = time_engine(c, name.c_str(), 0, &choice);
		for (const Family &family : families)
		{
			RegimeChoice other;
			double		without;

			if (!(family.without & bit_of(choice)) ||
				(family.rows_only && c.wanted != WANT_ROWS))
				continue;
			without = time_engine(c, name.c_str(), family.without, &other);
			with = std::min(with, time_engine(c, name.c_str(), 0, &choice));
			without = std::min(without, time_engine(c, name.c_str(), family.without, &other));

			Worth	   &worth = worths[family.name];

			worth.cases++;
			worth.tenth += without >= 1.1 * with;
			if (without / with > worth.most)
			{
				worth.most = without / with;
				worth.where = name;
			}
			if (csv)
				fprintf(csv, "\"%s\",%s,%.4f,%.4f,%.3f,%s\n", name.c_str(), family.name,
						with, without, without / with, regime_names[other.regime]);
		}
	});
	for (const Family &family : families)
	{
		const Worth &worth = worths[family.name];
		char		line[320];

		snprintf(line, sizeof(line), "%s: %" PRIu64 " cases, without it %" PRIu64
				 " take a tenth longer, at most %.2f times as long (%s)", family.name,
				 worth.cases, worth.tenth, worth.most, worth.where.c_str());
		printf("%s\n", line);
		if (csv)
			fprintf(csv, "# %s\n", line);
	}
}
