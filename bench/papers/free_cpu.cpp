/*
 * free_cpu.cpp
 *		The comparison-free sort on the CPU, by one thread and by several: the
 *		paper's distributions, with ranges below, at and above n.
 *
 * usage: free_cpu [threads]: CSV on stdout, by 1, 2, 4 ... threads (2).  Wall-clock time, since threads
 * run side by side; the median and the least of some runs, every result checked.
 * Column threads is how many were allowed, ran how many sorted.
 */
#include <string.h>

#include <map>

#include "../harness.h"
#include "data.h"
#include "sort/published/published.h"

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

/* The paper's distributions; of "70 %" both readings. */
constexpr struct
{
	const char *name;
	papers::Shape shape;
	double		len;			/* different values, of all that there are */
} kData[] = {
	{"random", papers::PERMUTATION, 1},
	{"reversed", papers::REVERSED_ORDER, 1},
	{"nearly sorted", papers::NEARLY_SORTED, 1},
	{"gaussian", papers::GAUSSIAN, 1},
	{"70 % repeated", papers::ARBITRARY, 0.3},
	{"70 % one value", papers::ONE_REPEATED, 1},
	{"100 % repeated", papers::FLAT, 1},
};

/* Random keys of fewer values than keys have each value about as often. */
Keys
make(const std::string &name, size_t n, uint64_t range)
{
	Keys		keys(n);

	for (const auto &data : kData)
	{
		papers::Shape shape = data.shape;

		if (name != data.name)
			continue;
		if (shape == papers::PERMUTATION && range < n)
			shape = papers::UNIFORM_RANGE;

		const papers::Data all = {shape, n, range,
			std::max<uint64_t>((uint64_t) ((double) range * data.len), 1), 0};

		for (size_t i = 0; i < n; i++)
			keys[i] = (int32_t) papers::datum(all, i);
	}
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
	std::map<int, int> ran;

	std::sort(sorted.begin(), sorted.end());
	for (int i = 0; i < reps; i++)
		for (int threads = 1; threads <= most; threads *= 2)
		{
			SortError	err = {};

			work = keys;
			context.threads = threads;
			const double start = wall_ms();
			PublishedSort sort = {};

			sort.algorithm = SORT_ALGORITHM_COMPARISON_FREE;
			sort.keys = work.data();
			sort.n = n;
			sort.hi = (int32_t) (range - 1);
			const SortStatus status = published_sort(&sort, &context, &err);

			times[threads].push_back(wall_ms() - start);
			ran[threads] = sort.report.threads;
			bench::check(status, err);
			if (work != sorted)
				bench::die("wrong result");
		}
	for (const auto &[threads, ms] : times)
		printf("%s,%zu,%llu,%d,%.3f,%.3f,%d\n", data.c_str(), n, (unsigned long long) range,
			   threads, bench::median(ms), bench::minimum(ms), ran[threads]);
	fflush(stdout);
}

}							// namespace

int
main(int argc, char **argv)
{
	const bool	help = argc == 2 && strcmp(argv[1], "--help") == 0;
	char	   *end = nullptr;
	const long	most = argc > 1 ? strtol(argv[1], &end, 10) : 2;

	if (help || argc > 2 || (argc > 1 && (*argv[1] == '\0' || *end != '\0')) || most < 1 || most > 1024)
	{
		fprintf(help ? stdout : stderr, "usage: %s [threads, 1 to 1024]\n", argv[0]);
		return help ? 0 : 2;
	}
	printf("data,n,range,threads,ms,least_ms,ran\n");
	for (int bits = 16; bits <= 24; bits += 2)
		for (const uint64_t times : {0, 1, 10})
			for (const auto &data : kData)
			{
				const size_t n = (size_t) 1 << bits;

				/* 10 times as many values as 2^24 keys take minutes */
				if (times < 10 || bits < 24)
					measure(data.name, n, times == 0 ? 1000 : n * times, (int) most);
			}
}
