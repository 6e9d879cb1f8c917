/*
 * calibrate.cpp
 *		Measures the cost table that the plan works with, on this machine, and
 *		prints it as C, to be put in src/sort/plan.c.
 *
 * Each figure is the smallest of several repetitions: the table describes the
 * machine, not what else it does.  All keys are uniform, the worst case.
 */
#include <functional>

#include "harness.h"
#include "sort/kernels/kernels.h"
#include "sort/kernels/permutation.h"
#include "sort/plan.h"
#include "sort/runs/histogram.h"

namespace bench
{
namespace
{

/* As sorter_fill.c adds them: chunks that stay in the first-level cache. */
constexpr size_t kChunk = 4096;

/* Bins at which bin_ns and run_ns are measured: where the choice is close. */
constexpr uint64_t kBins = UINT64_C(1) << 20;

double
best(int reps, const std::function<double()> &run)
{
	double		least = INFINITY;

	for (int i = 0; i < reps; i++)
		least = std::min(least, run());
	return least;
}

void
count(Histogram *h, const Keys &keys, const SortContext &context)
{
	int32_t		outside[kChunk];
	size_t		noutside;

	for (size_t at = 0; at < keys.size(); at += kChunk)
		if (!histogram_add(h, keys.data() + at, std::min(kChunk, keys.size() - at), outside,
						   &noutside, &context.allocator) || noutside > 0)
			die("could not count");
}

Keys
uniform(size_t n, uint64_t range)
{
	Keys		keys(n);
	Random		random(range);

	for (auto &key : keys)
		key = (int32_t) (uint32_t) random.below(range);
	return keys;
}

void
init(Histogram *h, uint64_t range, const SortContext &context)
{
	SortError	err;

	check(histogram_init(h, 0, (int32_t) (range - 1), &context, &err), err);
}

/* Nanoseconds to write all keys of h in order. */
double
expand(const Histogram &h, Keys &out)
{
	const double since = now_ns();
	uint64_t	at = 0;
	uint64_t	used = 0;

	(void) histogram_expand(&h, false, &at, &used, out.data(), out.size());
	return now_ns() - since;
}

/* y = a + b * log2(n), by least squares. */
void
fit(const std::vector<size_t> &ns, const std::vector<double> &y, double *a, double *b)
{
	double		sx = 0, sy = 0, sxx = 0, sxy = 0;
	const double count = (double) ns.size();

	for (size_t i = 0; i < ns.size(); i++)
	{
		const double x = std::log2((double) ns[i]);

		sx += x;
		sy += y[i];
		sxx += x * x;
		sxy += x * y[i];
	}
	*b = (count * sxy - sx * sy) / (count * sxx - sx * sx);
	*a = (sy - *b * sx) / count;
}

/* Nanoseconds a key to sort wide keys, or to find their permutation. */
double
wide(size_t n, int reps, SortWant want)
{
	const SortContext context = make_context(SORT_ALGORITHM_RADIX);
	const size_t arrays = std::max<size_t>(1, 200000 / n);
	Keys		keys(n * arrays);
	Keys		out(n * arrays);
	Random		random(n);

	for (auto &key : keys)
		key = (int32_t) (uint32_t) random.next();
	return best(reps, [&] {
		const double since = now_ns();

		for (size_t a = 0; a < arrays; a++)
		{
			SortError	err;
			Sorter		sorter;
			int32_t    *to = out.data() + a * n;

			sorter_init(&sorter, &context, INT32_MIN, INT32_MAX);
			check(sorter_add_array(&sorter, keys.data() + a * n, n, &err), err);
			check(sorter_finish(&sorter, want, &err), err);
			if (want == SORT_WANT_PERMUTATION)
				check(sorter_read_permutation(&sorter, false, 0, (uint32_t *) to, &err), err);
			else
				check(sorter_read_keys(&sorter, false, to, &err), err);
			sorter_reset(&sorter);
		}
		return (now_ns() - since) / (double) (n * arrays);
	});
}

void
print_table(const char *name, const std::vector<double> &values)
{
	printf("\t.%s = {", name);
	for (size_t i = 0; i < values.size(); i++)
		printf("%s%.2f", i == 0 ? "" : i % 9 == 0 ? ",\n\t\t" : ", ", values[i]);
	printf("},\n");
}

}								/* namespace */

void
calibrate(bool quick)
{
	const SortContext context = make_context(SORT_ALGORITHM_AUTO);
	const size_t n = quick ? 1000000 : 10000000;
	const int	reps = quick ? 3 : 9;
	std::vector<double> counting;
	std::vector<double> scatter;
	Keys		out(n);
	Histogram	h;

	for (int step = 0; step < PLAN_BIN_STEPS; step++)
	{
		const uint64_t range = UINT64_C(1) << (2 * step);
		const Keys	keys = uniform(n, range);

		init(&h, range, context);
		counting.push_back(best(reps, [&] {
			const double since = now_ns();

			count(&h, keys, context);
			return (now_ns() - since) / (double) n;
		}));
		histogram_release(&h, &context.allocator);

		scatter.push_back(best(reps, [&] {
			uint64_t	distinct;

			init(&h, range, context);
			count(&h, keys, context);
			histogram_sum_tables(&h);
			(void) permutation_offsets(h.bins, h.range, false, &distinct, &context);

			const double since = now_ns();

			(void) permutation_scatter(h.bins, 0, keys.data(), n, 0, (uint32_t *) out.data(), &context);

			const double ns = (now_ns() - since) / (double) n;

			histogram_release(&h, &context.allocator);
			return ns;
		}));
	}

	/* One key in many bins: made, looked through and given back. */
	const double bin = best(reps * 3, [&] {
		const double since = now_ns();

		init(&h, kBins, context);
		count(&h, {0}, context);
		(void) expand(h, out);
		histogram_release(&h, &context.allocator);
		return (now_ns() - since) / (double) kBins;
	});

	/* For a permutation the bins are only summed up. */
	const double offset = best(reps * 3, [&] {
		const double since = now_ns();
		uint64_t	distinct;

		init(&h, kBins, context);
		(void) permutation_offsets(h.bins, h.range, false, &distinct, &context);
		histogram_release(&h, &context.allocator);
		return (now_ns() - since) / (double) kBins;
	});

	/* Long runs cost by the key, short ones by the run. */
	init(&h, 256, context);
	count(&h, uniform(n, 256), context);
	histogram_sum_tables(&h);
	const double key = best(reps, [&] { return expand(h, out) / (double) n; });
	histogram_release(&h, &context.allocator);

	init(&h, kBins, context);
	count(&h, uniform(n, kBins), context);
	const double runs = (double) histogram_distinct(&h);
	const double run = (best(reps, [&] { return expand(h, out); }) - key * (double) n) / runs;
	histogram_release(&h, &context.allocator);

	std::vector<size_t> sizes;
	std::vector<double> keys_ns;
	std::vector<double> pairs_ns;
	double		a, b, c, d;

	for (size_t size = 1000; size <= n; size *= 10)
	{
		sizes.push_back(size);
		keys_ns.push_back(wide(size, reps, SORT_WANT_KEYS));
		pairs_ns.push_back(wide(size, reps, SORT_WANT_PERMUTATION));
	}
	fit(sizes, keys_ns, &a, &b);
	fit(sizes, pairs_ns, &c, &d);

	/* At 1e7 keys scatter_ns is 2.2 times what plan.c wants it: see beyond_cache there. */
	printf("/* %s, %zu keys, the smallest of %d; scatter_ns as measured */\n", kernel_target(), n, reps);
	printf("const SortDeviceCosts plan_cpu_costs = {\n\t.startup_ns = 0,\n\t.transfer_ns = 0,\n");
	print_table("counting_ns", counting);
	printf("\t.bin_ns = %.2f,\n\t.offset_ns = %.2f,\n\t.run_ns = %.2f,\n\t.expand_ns = %.2f,\n", bin,
		   offset, run, key);
	printf("\t.wide_ns = %.2f,\n\t.wide_log_ns = %.3f,\n", a, b);
	print_table("scatter_ns", scatter);
	printf("\t.pair_ns = %.2f,\n\t.pair_log_ns = %.3f,\n};\n", c, d);
	for (size_t i = 0; i < sizes.size(); i++)
		printf("/* %zu keys: wide %.2f ns a key (fitted %.2f), pairs %.2f (%.2f) */\n", sizes[i],
			   keys_ns[i], a + b * std::log2((double) sizes[i]), pairs_ns[i],
			   c + d * std::log2((double) sizes[i]));
}

}								/* namespace bench */
