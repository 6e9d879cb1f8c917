/*
 * harness.h
 *		What the in-memory benches share: keys to sort, a clock, medians, and
 *		sorters with a plain allocator.
 */
#ifndef HPSORT_BENCH_HARNESS_H
#define HPSORT_BENCH_HARNESS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "sort/sorter/sorter.h"

namespace bench
{

using Keys = std::vector<int32_t>;

/*
 * The time this thread has run: everything timed here is one thread that waits
 * for nothing, and other processes' turns on its core are not its own.
 */
inline double
now_ns()
{
	timespec	t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * (double) t.tv_sec + (double) t.tv_nsec;
}

inline double
median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	const size_t n = values.size();

	return n == 0 ? NAN : n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

inline double
minimum(const std::vector<double> &values)
{
	return *std::min_element(values.begin(), values.end());
}

[[noreturn]] inline void
die(const std::string &what)
{
	fprintf(stderr, "sort_bench: %s\n", what.c_str());
	exit(1);
}

inline void
check(SortStatus status, const SortError &err)
{
	if (status != SORT_OK)
		die(std::string(err.message) + ". " + err.detail);
}

/* malloc as it comes: page faults of fresh memory are part of what is timed. */
inline SortContext
make_context(SortAlgorithm algorithm)
{
	SortContext context = {};

	context.allocator.alloc = [](void *, size_t size) { return malloc(size); };
	context.allocator.grow = [](void *, void *block, size_t, size_t size) { return realloc(block, size); };
	context.allocator.release = [](void *, void *block) { free(block); };
	context.device = SORT_DEVICE_CPU;
	context.algorithm = algorithm;
	context.threads = 1;
	return context;
}

/* xoshiro256**, so that a bench sorts the same keys on every machine. */
class Random
{
public:
	explicit Random(uint64_t seed)
	{
		for (auto &word : state)
		{
			seed += UINT64_C(0x9e3779b97f4a7c15);
			uint64_t	z = seed;

			z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
			z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
			word = z ^ (z >> 31);
		}
	}

	uint64_t	next()
	{
		const uint64_t result = rotate(state[1] * 5, 7) * 9;
		const uint64_t t = state[1] << 17;

		state[2] ^= state[0];
		state[3] ^= state[1];
		state[1] ^= state[2];
		state[0] ^= state[3];
		state[2] ^= t;
		state[3] = rotate(state[3], 45);
		return result;
	}

	uint64_t	below(uint64_t limit)
	{
		return (uint64_t) (((unsigned __int128) next() * limit) >> 64);
	}

	double		unit()
	{
		return (double) (next() >> 11) * 0x1p-53;
	}

private:
	static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

	uint64_t	state[4];
};

/*
 * Distributions.  The papers' sigma (range / distinct) is 100 for the last
 * two; both contain the smallest and largest key, so that no sorter can find a
 * narrower range than the one given.
 *	uniform		every key equally often
 *	zipf		the r-th most frequent key about 1/r times as often as the first,
 *				frequent keys scattered through the range
 *	constant	one key
 *	sorted, reversed	uniform, in order
 *	interval	Kozakai et al.'s interval data: the upper end of the range only
 *	gaps		their arbitrary data: distinct keys spread evenly, none between
 */
inline const char *const distributions[] = {"uniform", "zipf", "constant", "sorted", "reversed",
	"interval", "gaps"};

inline void
make_keys(const std::string &distribution, uint64_t range, Random &random, int32_t *keys, size_t n)
{
	const int64_t lo = -(int64_t) (range / 2);
	const uint64_t distinct = std::max<uint64_t>(range / 100, 1);
	auto		set = [&](size_t i, uint64_t v) { keys[i] = (int32_t) (lo + (int64_t) v); };

	for (size_t i = 0; i < n; i++)
	{
		if (distribution == "uniform" || distribution == "sorted" || distribution == "reversed")
			set(i, random.below(range));
		else if (distribution == "zipf")
		{
			/* A log-uniform rank: P(r) = log((r + 1) / r) / log(range + 1). */
			const double rank = std::exp(random.unit() * std::log((double) range + 1.0));
			const uint64_t r = std::min<uint64_t>((uint64_t) rank - 1, range - 1);

			/* A prime above any range but the last: a permutation of the range. */
			set(i, r * UINT64_C(2654435761) % range);
		}
		else if (distribution == "constant")
			set(i, range / 2);
		else if (distribution == "interval")
			set(i, range - 1 - random.below(distinct));
		else if (distribution == "gaps")
			set(i, random.below(distinct) * (range / distinct));
		else
			die("no distribution " + distribution);
	}
	if (distribution == "interval" || distribution == "gaps")
	{
		set(0, 0);
		set(n - 1, range - 1);
	}
	if (distribution == "sorted")
		std::sort(keys, keys + n);
	else if (distribution == "reversed")
		std::sort(keys, keys + n, [](int32_t a, int32_t b) { return a > b; });
}

/* calibrate.cpp: prints a SortDeviceCosts of this machine as C. */
extern void calibrate(bool quick);

}								/* namespace bench */

#endif							/* HPSORT_BENCH_HARNESS_H */
