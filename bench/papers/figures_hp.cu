/*-------------------------------------------------------------------------
 *
 * figures_hp.cu
 *	  The figures of Kozakai, Fujimoto, Wada 2021 and Kozakai 2022.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>

#include "papers.cuh"

static const HpsortPublished hp_names[] = {HPSORT_PUBLISHED_HP,
	HPSORT_PUBLISHED_ZERO_COMPRESSED, HPSORT_PUBLISHED_ONE_HP};

/* One point of an H-P figure, for all contestants; 1-H-P where keys are distinct. */
static void
hp_point(const std::string &figure, const std::string &name, const Data &data)
{
	const uint64_t n = data.n;
	const Bounds bounds = bounds_of(data);

	make(data);
	emit("hp", figure, name, n, "thrust", thrust_keys(n));
	emit("hp", figure, name, n, "cub", cub_keys(n, 32));
	emit("hp", figure, name, n, "cub_bits", cub_keys(n, bits_of(bounds)));
	for (HpsortPublished a : hp_names)
		if (a != HPSORT_PUBLISHED_ONE_HP || data.shape == PERMUTATION)
			emit("hp", figure, name, n, algorithms[a].name,
				 published(published_spec(a, bounds), n));
	emit("hp", figure, name, n, "hpsort", engine(n, bounds));
}

/* The authors' open problem: the same order with the rows of equal keys in theirs. */
static void
stable_point(const std::string &figure, const std::string &name, const Data &data)
{
	const uint64_t n = data.n;
	const Bounds bounds = bounds_of(data);

	emit("hp", figure, name, n, "permutation", engine_permutation(n, bounds));
	emit("hp", figure, name, n, "cub_pairs", cub_pairs(n, 32));
	emit("hp", figure, name, n, "cub_pairs_bits", cub_pairs(n, bits_of(bounds)));
}

static std::string
by(const char *what, double delta, int sigma)
{
	char		text[80];

	snprintf(text, sizeof(text), "%s delta %g sigma %d", what, delta, sigma);
	return text;
}

/* Values of a range, anywhere; sigma = range / len. */
static Data
spread(uint64_t n, uint64_t range, int sigma, int32_t lo = 0)
{
	range = std::max<uint64_t>(range, 1);
	return {sigma == 1 ? UNIFORM_RANGE : ARBITRARY, n, range,
		std::max<uint64_t>(range / sigma, 1), lo};
}

/* Figs. 8 to 23 of 2021.  delta = n / range, sigma = range / len. */
static void
figures_2021(void)
{
	static const struct
	{
		int			figure;
		Shape		shape;
		double		delta;
		int			sigma;
	}			figures[] = {
		{8, PERMUTATION, 1, 0}, {9, PERMUTATION, 0.5, 0}, {10, PERMUTATION, 0.25, 0},
		{11, UNIFORM_RANGE, 1, 1}, {12, UNIFORM_RANGE, 10, 1},
		{13, UNIFORM_RANGE, 50, 1}, {14, INTERVAL, 1, 10}, {15, INTERVAL, 1, 100},
		{16, ARBITRARY, 1, 10}, {17, ARBITRARY, 1, 100}, {18, INTERVAL, 10, 100},
		{19, INTERVAL, 50, 100}, {20, INTERVAL, 100, 100}, {21, ARBITRARY, 10, 100},
		{22, ARBITRARY, 50, 100}, {23, ARBITRARY, 100, 100},
	};

	for (const auto &f : figures)
		for (uint64_t step = 1; step <= 10; step++)
		{
			const uint64_t n = step * (f.shape == PERMUTATION ? 100000 : 1000000);
			const uint64_t range = (uint64_t) (n / f.delta);
			static const char *const names[] = {"distinct", "uniform", "interval",
				"arbitrary"};
			const Data	data = {f.shape, n, range,
				std::max<uint64_t>(f.sigma ? range / f.sigma : n, 1), 0};

			hp_point("2021-" + std::to_string(f.figure), names[f.shape], data);
			stable_point("2021-" + std::to_string(f.figure), names[f.shape], data);
		}
}

/*
 * Kozakai 2022: Figs. 6 to 9; the data that his text names and shows no chart of; and
 * lower bounds other than 0, with which he found the times to hardly change.
 */
static void
figures_2022(void)
{
	static const uint64_t sizes[] = {200000, 500000, 1000000, 2000000, 4000000,
		6000000, 8000000, 10000000, 15000000, 20000000};
	static const int32_t lower[] = {INT32_MIN, -1000000007, -1, 1, 1000000007};

	for (uint64_t n : sizes)
	{
		if (n <= 2000000)
			hp_point("2022-6", "distinct", {PERMUTATION, n, n, n, 0});
		hp_point("2022-7", "arbitrary", spread(n, n / 50, 50));
		hp_point("2022-8", "len 100", {ARBITRARY, n, n, 100, 0});
		hp_point("2022-9", "range 100", {UNIFORM_RANGE, n, 100, 100, 0});
	}
	for (uint64_t n : {200000, 500000, 1000000, 2000000})
		for (double delta : {0.5, 0.25})
			hp_point("2022 distinct", delta == 0.5 ? "distinct delta 0.5" : "distinct delta 0.25",
					 {PERMUTATION, n, (uint64_t) (n / delta), n, 0});
	for (uint64_t n : {1000000, 5000000, 10000000, 20000000})
	{
		for (int delta : {1, 10, 50})
			for (int sigma : {1, 10, 50, 100})
				hp_point("2022 grid", by("arbitrary", delta, sigma), spread(n, n / delta, sigma));
		for (int delta : {1, 10})
			for (uint64_t len : {100, 1000})
				hp_point("2022 len", "len " + std::to_string(len) + " delta " +
						 std::to_string(delta), {ARBITRARY, n, n / delta, len, 0});
		for (uint64_t most : {1000, 10000, 100000})
			for (int sigma : {1, 10, 50, 100})
				hp_point("2022 maxVal", "maxVal " + std::to_string(most) + " sigma " +
						 std::to_string(sigma), spread(n, most, sigma));
	}
	for (uint64_t n : {1000000, 10000000})
		for (int32_t lo : lower)
			for (int delta : {1, 50})
				hp_point("2022 lower bound", by("arbitrary", delta, 50) + " lo " +
						 std::to_string(lo), spread(n, n / delta, 50, lo));
	for (int32_t lo : lower)
		hp_point("2022 lower bound", "distinct lo " + std::to_string(lo),
				 {PERMUTATION, 1000000, 1000000, 1000000, lo});
}

void
hp_figures(void)
{
	figures_2021();
	figures_2022();
}
