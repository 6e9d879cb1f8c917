/*
 * sort_bench.cpp
 *		Sorting int4 keys in memory, one thread: hpsort beside its peers.
 *
 * The peers are Highway's VQSort, in place (the strict one: what it is given
 * is a fresh copy that nobody times), and libstdc++'s std::sort and
 * std::stable_sort.  See README.md for what is timed and what the columns say.
 */
#include <functional>
#include <numeric>

#include <malloc.h>

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h>

#include "harness.h"
#include "sort/kernels/kernels.h"

using namespace bench;

namespace
{

/* Keys sorted in one timed call, at least: small arrays come many at a time. */
constexpr size_t kKeysTimed = 200000;

/* A slow contender is measured less often: every this many rounds. */
constexpr int kSlowEvery = 3;

struct Case
{
	size_t		n;
	uint64_t	range;
	std::string distribution;
	size_t		arrays;			/* arrays of n keys, each drawn anew */
	Keys		input;			/* arrays * n keys */
};

/* Memory of all contenders, touched before anything is timed. */
struct Buffers
{
	Keys		keys;
	std::vector<uint32_t> order;
	std::vector<uint64_t> pairs;
};

struct Contender
{
	std::string name;
	bool		permutation;	/* writes buffers.order instead of buffers.keys */
	bool		slow;
	std::function<void(const int32_t *in, size_t n, size_t at, Buffers &b)> sort;
};

struct Result
{
	std::vector<double> ns;		/* an array of n keys, one per round run */
	std::vector<int> rounds;
};

using Results = std::vector<Result>;

void
hpsort_keys(SortAlgorithm algorithm, const int32_t *in, size_t n, int32_t *out)
{
	SortContext context = make_context(algorithm);
	SortError	err;
	Sorter		sorter;

	sorter_init(&sorter, &context, INT32_MIN, INT32_MAX);
	check(sorter_add_array(&sorter, in, n, &err), err);
	check(sorter_finish(&sorter, SORT_WANT_KEYS, &err), err);
	check(sorter_read_keys(&sorter, false, out, &err), err);
	sorter_reset(&sorter);
}

/* One key at a time, as an aggregate's transition function gets them. */
void
hpsort_streamed(const int32_t *in, size_t n, int32_t *out)
{
	SortContext context = make_context(SORT_ALGORITHM_AUTO);
	SortError	err;
	Sorter		sorter;

	sorter_init(&sorter, &context, INT32_MIN, INT32_MAX);
	for (size_t i = 0; i < n; i++)
		check(sorter_add_key(&sorter, in[i], &err), err);
	check(sorter_finish(&sorter, SORT_WANT_KEYS, &err), err);
	check(sorter_read_keys(&sorter, false, out, &err), err);
	sorter_reset(&sorter);
}

void
hpsort_permutation(SortAlgorithm algorithm, const int32_t *in, size_t n, uint32_t *out)
{
	SortContext context = make_context(algorithm);
	SortError	err;
	Sorter		sorter;

	sorter_init(&sorter, &context, INT32_MIN, INT32_MAX);
	check(sorter_add_array(&sorter, in, n, &err), err);
	check(sorter_finish(&sorter, SORT_WANT_PERMUTATION, &err), err);
	check(sorter_read_permutation(&sorter, false, 0, out, &err), err);
	sorter_reset(&sorter);
}

hwy::Sorter &
vqsort()
{
	static hwy::Sorter sorter;

	return sorter;
}

/*
 * Forced counting only where its counters fit (PLAN_MAX_BINS), and where it is
 * not hopeless: a thousand bins a key take seconds and prove nothing.
 */
bool
can_count(const Case &c)
{
	return c.distribution == "constant" ||
		(c.range <= PLAN_MAX_BINS && c.range <= 1000 * (uint64_t) c.n);
}

/* Of contenders in place: buffers.keys holds the input already. */
std::vector<Contender>
key_contenders(const Case &c)
{
	auto		hp = [](SortAlgorithm algorithm) {
		return [algorithm](const int32_t *in, size_t n, size_t at, Buffers &b) {
			hpsort_keys(algorithm, in, n, b.keys.data() + at);
		};
	};
	std::vector<Contender> list = {
		{"vqsort", false, false, [](const int32_t *, size_t n, size_t at, Buffers &b) {
			vqsort()(b.keys.data() + at, n, hwy::SortAscending());
		}},
		{"hpsort", false, false, hp(SORT_ALGORITHM_AUTO)},
		{"hpsort_in_place", false, false, [](const int32_t *, size_t n, size_t at, Buffers &b) {
			hpsort_keys(SORT_ALGORITHM_AUTO, b.keys.data() + at, n, b.keys.data() + at);
		}},
		{"hpsort_streamed", false, false, [](const int32_t *in, size_t n, size_t at, Buffers &b) {
			hpsort_streamed(in, n, b.keys.data() + at);
		}},
		{"radix", false, false, hp(SORT_ALGORITHM_RADIX)},
		{"vqsort_copy", false, false, [](const int32_t *in, size_t n, size_t at, Buffers &b) {
			memcpy(b.keys.data() + at, in, n * sizeof(int32_t));
			vqsort()(b.keys.data() + at, n, hwy::SortAscending());
		}},
		{"std_sort", false, true, [](const int32_t *, size_t n, size_t at, Buffers &b) {
			std::sort(b.keys.data() + at, b.keys.data() + at + n);
		}},
	};

	if (can_count(c))
	{
		list.push_back({"zero_compressed", false, false, hp(SORT_ALGORITHM_ZERO_COMPRESSED)});
		list.push_back({"comparison_free", false, false, hp(SORT_ALGORITHM_COMPARISON_FREE)});
	}
	return list;
}

std::vector<Contender>
permutation_contenders(const Case &c)
{
	auto		hp = [](SortAlgorithm algorithm) {
		return [algorithm](const int32_t *in, size_t n, size_t at, Buffers &b) {
			hpsort_permutation(algorithm, in, n, b.order.data() + at);
		};
	};
	std::vector<Contender> list = {
		{"vqsort_pairs", true, false, [](const int32_t *in, size_t n, size_t at, Buffers &b) {
			uint64_t   *pairs = b.pairs.data();

			for (size_t i = 0; i < n; i++)
				pairs[i] = (uint64_t) ((uint32_t) in[i] ^ UINT32_C(0x80000000)) << 32 | i;
			vqsort()(pairs, n, hwy::SortAscending());
			for (size_t i = 0; i < n; i++)
				b.order[at + i] = (uint32_t) pairs[i];
		}},
		{"hpsort_order", true, false, hp(SORT_ALGORITHM_AUTO)},
		{"radix_order", true, false, hp(SORT_ALGORITHM_RADIX)},
		{"std_stable_sort", true, true, [](const int32_t *in, size_t n, size_t at, Buffers &b) {
			uint32_t   *order = b.order.data() + at;

			std::iota(order, order + n, 0u);
			std::stable_sort(order, order + n, [in](uint32_t x, uint32_t y) { return in[x] < in[y]; });
		}},
	};

	if (can_count(c))
		list.push_back({"zero_compressed_order", true, false, hp(SORT_ALGORITHM_ZERO_COMPRESSED)});
	return list;
}

Case
make_case(size_t n, uint64_t range, const std::string &distribution)
{
	Case		c = {n, range, distribution, (kKeysTimed + n - 1) / n, {}};
	Random		random(n * 1000003 + range);

	c.input.resize(c.arrays * n);
	for (size_t a = 0; a < c.arrays; a++)
		make_keys(distribution, range, random, c.input.data() + a * n, n);
	return c;
}

/* One timed call over all arrays of a case. */
double
time_once(const Case &c, const Contender &contender, Buffers &b)
{
	/* For those out of place as well, so that all find the same caches. */
	memcpy(b.keys.data(), c.input.data(), c.input.size() * sizeof(int32_t));

	const double since = now_ns();

	for (size_t a = 0; a < c.arrays; a++)
		contender.sort(c.input.data() + a * c.n, c.n, a * c.n, b);
	return (now_ns() - since) / (double) c.arrays;
}

void
verify(const Case &c, const Contender &contender, const Keys &sorted, const Buffers &b)
{
	bool		good = true;

	if (!contender.permutation)
		good = std::equal(sorted.begin(), sorted.end(), b.keys.begin());
	else
	{
		for (size_t a = 0; a < c.arrays; a++)
		{
			const int32_t *in = c.input.data() + a * c.n;
			const uint32_t *order = b.order.data() + a * c.n;

			/* Right keys, and positions ascending among equal ones: stable. */
			for (size_t i = 0; i < c.n && good; i++)
				good = order[i] < c.n && in[order[i]] == sorted[a * c.n + i] &&
					(i == 0 || in[order[i - 1]] != in[order[i]] || order[i - 1] < order[i]);
		}
	}
	if (!good)
		die("wrong result of " + contender.name + " for n " + std::to_string(c.n) + ", range " +
			std::to_string(c.range) + ", " + c.distribution);
}

/*
 * Contenders take turns, so that whatever else the machine does hits all of
 * them; the first round only verifies and warms up.
 */
Results
measure(const Case &c, const std::vector<Contender> &contenders, int reps)
{
	static Buffers b;
	Results		results(contenders.size());
	Keys		sorted = c.input;

	if (b.keys.size() < c.input.size())
	{
		b.keys.resize(c.input.size());
		b.order.resize(c.input.size());
		b.pairs.resize(c.input.size());
	}
	for (size_t a = 0; a < c.arrays; a++)
		std::sort(sorted.begin() + (ptrdiff_t) (a * c.n), sorted.begin() + (ptrdiff_t) ((a + 1) * c.n));
	for (const auto &contender : contenders)
	{
		(void) time_once(c, contender, b);
		verify(c, contender, sorted, b);
	}
	for (int round = 0; round < reps; round++)
	{
		for (size_t turn = 0; turn < contenders.size(); turn++)
		{
			/* Another one begins each round: nobody always follows the same. */
			const size_t i = (turn + (size_t) round) % contenders.size();

			if (contenders[i].slow && round % kSlowEvery != 0)
				continue;
			results[i].ns.push_back(time_once(c, contenders[i], b));
			results[i].rounds.push_back(round);
		}
	}
	return results;
}

/*
 * How many times faster than peer: the median over the rounds that both ran of
 * the ratio within a round, so that drift between rounds cancels.
 */
double
speedup(const Result &mine, const Result &peer)
{
	std::vector<double> ratios;

	for (size_t i = 0, j = 0; i < mine.rounds.size(); i++)
	{
		while (j < peer.rounds.size() && peer.rounds[j] < mine.rounds[i])
			j++;
		if (j < peer.rounds.size() && peer.rounds[j] == mine.rounds[i])
			ratios.push_back(peer.ns[j] / mine.ns[i]);
	}
	return median(ratios);
}

const Result &
result_of(const std::vector<Contender> &contenders, const Results &results, const std::string &name)
{
	for (size_t i = 0; i < contenders.size(); i++)
		if (contenders[i].name == name)
			return results[i];
	die("no contender " + name);
}

void
print_results(const Case &c, const std::vector<Contender> &contenders, const Results &results)
{
	for (size_t i = 0; i < contenders.size(); i++)
	{
		const auto &ns = results[i].ns;

		/* The first contender is the peer. */
		printf("%zu,%llu,%s,%s,%zu,%.0f,%.0f,%.0f,%.3f,%.2f\n", c.n, (unsigned long long) c.range,
			   c.distribution.c_str(), contenders[i].name.c_str(), ns.size(), median(ns),
			   minimum(ns), *std::max_element(ns.begin(), ns.end()), median(ns) / (double) c.n,
			   speedup(results[i], results[0]));
	}
	fflush(stdout);
}

void
run_grid(bool quick, int reps, const std::string &only)
{
	const std::vector<size_t> ns = quick ? std::vector<size_t>{1000, 1000000}
		: std::vector<size_t>{1000, 10000, 100000, 1000000, 10000000};
	const std::vector<uint64_t> ranges = quick
		? std::vector<uint64_t>{2, 1000, 1000000, UINT64_C(1) << 32}
		: std::vector<uint64_t>{1, 2, 256, 1000, 10000, 65536, 1000000, 16000000, UINT64_C(1) << 32};

	printf("n,range,distribution,contender,reps,median_ns,min_ns,max_ns,ns_per_key,speedup_vs_vqsort\n");
	for (size_t n : ns)
	{
		for (uint64_t range : ranges)
		{
			for (const std::string distribution : distributions)
			{
				if (!only.empty() && only != distribution)
					continue;

				const Case	c = make_case(n, range, distribution);
				const auto	keys = key_contenders(c);
				const auto	orders = permutation_contenders(c);

				print_results(c, keys, measure(c, keys, reps));
				print_results(c, orders, measure(c, orders, reps));
			}
		}
	}
}

/*
 * The targets of hpsort 1.0 for sorting in memory.  Those with "at most" are
 * times relative to VQSort's, the others speed-ups.
 */
struct Target
{
	uint64_t	range;
	const char *contender;
	const char *peer;
	double		wanted;
	bool		at_most;
};

void
run_targets(int reps)
{
	const std::vector<Target> targets = {
		{1, "hpsort_in_place", "vqsort", 1.1, true},
		{2, "hpsort_in_place", "vqsort", 1.1, true},
		{256, "hpsort_in_place", "vqsort", 2.4, false},
		{1000, "hpsort_in_place", "vqsort", 3, false},
		{1000, "hpsort_in_place", "std_sort", 60, false},
		{10000, "hpsort_in_place", "vqsort", 3, false},
		{10000, "hpsort_in_place", "std_sort", 60, false},
		{65536, "hpsort_in_place", "vqsort", 2, false},
		{1000000, "hpsort_in_place", "vqsort", 1.3, false},
		{UINT64_C(1) << 32, "hpsort_in_place", "vqsort", 1.1, true},
		{1000, "hpsort_order", "std_stable_sort", 8, false},
		{1000, "hpsort_order", "vqsort_pairs", 1.5, false},
	};
	const size_t n = 10000000;

	printf("n,range,distribution,contender,peer,contender_ms,peer_ms,target,measured,met\n");
	for (const Target &t : targets)
	{
		const Case	c = make_case(n, t.range, "uniform");
		std::vector<Contender> pair;

		for (const auto &contender : key_contenders(c))
			if (contender.name == t.contender || contender.name == t.peer)
				pair.push_back(contender);
		for (const auto &contender : permutation_contenders(c))
			if (contender.name == t.contender || contender.name == t.peer)
				pair.push_back(contender);

		const auto	results = measure(c, pair, reps);
		const Result &mine = result_of(pair, results, t.contender);
		const Result &peer = result_of(pair, results, t.peer);
		const double ratio = speedup(mine, peer);
		const double measured = t.at_most ? 1 / ratio : ratio;

		printf("%zu,%llu,uniform,%s,%s,%.2f,%.2f,%s %.1fx %s,%.2f,%s\n", n,
			   (unsigned long long) t.range, t.contender, t.peer, median(mine.ns) / 1e6,
			   median(peer.ns) / 1e6, t.at_most ? "at most" : "at least", t.wanted,
			   t.at_most ? "the time" : "faster", measured,
			   (t.at_most ? measured <= t.wanted : measured >= t.wanted) ? "met" : "not met");
		fflush(stdout);
	}
}

/*
 * auto beside the better of the two algorithms that it chooses from.  loss is
 * auto's time over the better one's; above 1.1 the plan is wrong.
 */
void
run_plan(bool quick, int reps, bool permutation)
{
	int			cases = 0;
	int			lost = 0;
	double		worst = 0;

	printf("n,range,auto_ns,zero_compressed_ns,radix_ns,loss,verdict\n");
	for (size_t n = 1000; n <= 10000000; n *= 10)
	{
		for (int bits = 0; bits <= 32; bits += quick ? 4 : 1)
		{
			const Case	c = make_case(n, UINT64_C(1) << bits, "uniform");
			const std::string suffix = permutation ? "_order" : "";
			std::vector<Contender> list;

			for (const auto &contender : permutation ? permutation_contenders(c) : key_contenders(c))
				if (contender.name == "hpsort" + suffix || contender.name == "radix" + suffix ||
					contender.name == "zero_compressed" + suffix)
					list.push_back(contender);

			const auto	results = measure(c, list, reps);
			const Result &mine = result_of(list, results, "hpsort" + suffix);
			const Result &radix = result_of(list, results, "radix" + suffix);
			double		loss = 1 / speedup(mine, radix);
			double		counting = NAN;

			if (can_count(c))
			{
				const Result &zero = result_of(list, results, "zero_compressed" + suffix);

				counting = median(zero.ns);
				loss = std::max(loss, 1 / speedup(mine, zero));
			}
			cases++;
			lost += loss > 1.1;
			worst = std::max(worst, loss);
			printf("%zu,%llu,%.0f,%.0f,%.0f,%.2f,%s\n", n, (unsigned long long) c.range,
				   median(mine.ns), counting, median(radix.ns), loss, loss > 1.1 ? "loses" : "good");
			fflush(stdout);
		}
	}
	fprintf(stderr, "auto lost more than 10 %% in %d of %d cases; at worst %.2fx\n", lost, cases, worst);
}

void
usage()
{
	printf("sort_bench [--quick] [--reps N] [--distribution NAME]\n"
		   "           [--targets | --plan | --plan-order | --calibrate | --version]\n");
}

}								/* namespace */

int
main(int argc, char **argv)
{
	enum class Mode { grid, targets, plan, plan_order, calibrate } mode = Mode::grid;
	bool		quick = false;
	int			reps = 0;
	std::string only;

	for (int i = 1; i < argc; i++)
	{
		const std::string arg = argv[i];

		if (arg == "--quick")
			quick = true;
		else if (arg == "--targets")
			mode = Mode::targets;
		else if (arg == "--plan")
			mode = Mode::plan;
		else if (arg == "--plan-order")
			mode = Mode::plan_order;
		else if (arg == "--calibrate")
			mode = Mode::calibrate;
		else if (arg == "--reps" && i + 1 < argc)
			reps = std::max(1, atoi(argv[++i]));
		else if (arg == "--distribution" && i + 1 < argc)
			only = argv[++i];
		else if (arg == "--version")
		{
			printf("Highway %d.%d.%d, target %s\n", HWY_MAJOR, HWY_MINOR, HWY_PATCH, kernel_target());
			return 0;
		}
		else
		{
			usage();
			return arg == "--help" ? 0 : 2;
		}
	}

	/*
	 * What glibc's thresholds grow to by themselves in a process that lives
	 * long, as a server's does: blocks up to 32 MiB are not given back to the
	 * system at every free.
	 */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);

	switch (mode)
	{
		case Mode::grid:
			run_grid(quick, reps ? reps : quick ? 3 : 7, only);
			break;
		case Mode::targets:
			run_targets(reps ? reps : quick ? 5 : 13);
			break;
		case Mode::plan:
		case Mode::plan_order:
			run_plan(quick, reps ? reps : quick ? 3 : 7, mode == Mode::plan_order);
			break;
		case Mode::calibrate:
			calibrate(quick);
			break;
	}
	return 0;
}
