/*
 * free_cpu.cpp
 *		The comparison-free sort on the CPU, by one thread and by several: the
 *		paper's distributions, with ranges below, at and above n.
 *
 * usage: free_cpu [threads]: CSV on stdout.  Wall-clock time, since threads
 * run side by side; the median and the least of some runs, every result checked.
 */
#include <map>

#include "../harness.h"
#include "sort/comparison_free.h"

namespace
{

using bench::Keys;

constexpr int kReps = 7;
constexpr int kFewReps = 3;		/* of what takes long */

double
wall_ms()
{
	timespec	t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double) t.tv_sec + 1e-6 * (double) t.tv_nsec;
}

/* Sum of twelve uniform values: mean range / 2, deviation range / 8. */
int32_t
gaussian(bench::Random &random, uint64_t range)
{
	double		sum = -6;

	for (int i = 0; i < 12; i++)
		sum += random.unit();
	return (int32_t) std::clamp(((double) range / 2) + sum * (double) range / 8, 0.0,
								(double) range - 1);
}

Keys
make(const std::string &data, size_t n, uint64_t range)
{
	Keys		keys(n);
	bench::Random random(n + range);

	for (size_t i = 0; i < n; i++)
	{
		const uint64_t even = (uint64_t) i * range / n;

		if (data == "gaussian")
			keys[i] = gaussian(random, range);
		else if (data == "100 % repeated")
			keys[i] = (int32_t) (range / 2);
		else if (data == "70 % repeated")
			keys[i] = (int32_t) (random.below(10) < 7 ? range / 2 : random.below(range));
		else
			keys[i] = (int32_t) (data == "reversed" ? range - 1 - even : even);
	}
	/* random: each value as often as any other; nearly sorted: 16 places off */
	if (data == "random" || data == "nearly sorted")
		for (size_t i = n - 1; i > 0; i--)
			std::swap(keys[i], keys[data == "random" ? random.below(i + 1)
									: i - random.below(std::min<size_t>(i, 16) + 1)]);
	return keys;
}

/* All numbers of threads take turns, so that what else goes on hits them alike. */
void
measure(const std::string &data, size_t n, uint64_t range, int most)
{
	const Keys	keys = make(data, n, range);
	const int	reps = n * range > (uint64_t) 1 << 42 ? kFewReps : kReps;
	Keys		sorted = keys;
	Keys		work;
	SortContext context = bench::make_context(SORT_ALGORITHM_COMPARISON_FREE);
	std::map<int, std::vector<double>> times;

	std::sort(sorted.begin(), sorted.end());
	for (int i = 0; i < reps; i++)
		for (int threads = 1; threads <= most; threads *= 2)
		{
			SortError	err = {};

			work = keys;
			context.threads = threads;
			const double start = wall_ms();
			ComparisonFreeSort sort = {work.data(), n, 0, (int32_t) (range - 1), false, 0};
			const SortStatus status = comparison_free_sort(&sort, &context, &err);
			times[threads].push_back(wall_ms() - start);
			bench::check(status, err);
			if (work != sorted)
				bench::die("wrong result");
		}
	for (const auto &[threads, ms] : times)
		printf("%s,%zu,%llu,%d,%.3f,%.3f\n", data.c_str(), n, (unsigned long long) range,
			   threads, bench::median(ms), bench::minimum(ms));
	fflush(stdout);
}

}							// namespace

int
main(int argc, char **argv)
{
	const int	most = argc > 1 ? std::max(1, atoi(argv[1])) : 2;

	printf("data,n,range,threads,ms,least_ms\n");
	for (int bits = 16; bits <= 24; bits += 2)
		for (const uint64_t times : {0, 1, 10})
			for (const char *data : {"random", "reversed", "nearly sorted", "gaussian",
									 "70 % repeated", "100 % repeated"})
			{
				const size_t n = (size_t) 1 << bits;

				/* 10 times as many values as 2^24 keys take minutes */
				if (times < 10 || bits < 24)
					measure(data, n, times == 0 ? 1000 : n * times, most);
			}
}
