/*-------------------------------------------------------------------------
 *
 * figures.cu
 *	  The figures of Zhang, Wu 2012 and of Abdel-hafeez, Gordon-Ross, Abubaker 2018.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cstring>
#include <thread>

#include "sort/published/published.h"
#include "papers.cuh"

/* A point of bucket_radix with rows s and radix 2^bits, 0: the authors' choice. */
static void
bucket_radix_point(const std::string &data, uint64_t n, uint64_t range, uint32_t s,
				   uint32_t bits)
{
	const std::string figure = s > 0 || bits > 0 ? "7 other" : "7";
	std::string name = "bucket_radix";
	HpsortPublishedSpec spec = published_spec(HPSORT_PUBLISHED_BUCKET_RADIX, {range, 0});
	HpsortPublishedReport report;

	if (s > 0)
		name += " s " + std::to_string(s);
	if (bits > 0)
		name += " r " + std::to_string(1u << bits);
	spec.options.rows = s;
	spec.options.radix_bits = bits;
	emit("zhang", "6", data, n, name, published(spec, n, &report));
	emit_phases("zhang", figure, s > 0 || bits > 0 ? data + name.substr(12) : data, n, report);
	emit("zhang", figure, s > 0 || bits > 0 ? data + name.substr(12) : data, n, "rounds",
		 report.rounds);
	emit("zhang", figure, s > 0 || bits > 0 ? data + name.substr(12) : data, n, "repaired",
		 report.repaired);
}

/*
 * Zhang, Wu, Fig. 6: one pass (keys of 16 bits) and two passes (of 32) beside
 * the STL's sort; Fig. 7: the preprocess's share; and rows and radix that they tried.
 */
void
zhang_wu_figures(void)
{
	for (int log = 16; log <= 26; log++)
		for (int passes = 1; passes <= 2; passes++)
		{
			const uint64_t n = (uint64_t) 1 << log;
			const std::string data = passes == 1 ? "16 bits" : "32 bits";
			const uint64_t range = passes == 1 ? 65536 : 0;

			make({passes == 1 ? UNIFORM_RANGE : FULL_RANGE, n, range, range, 0});
			bucket_radix_point(data, n, range, 0, 0);
			if (log % 4 == 0)
				for (uint32_t s : {1u << 12, 1u << 14, 1u << 16})
					bucket_radix_point(data, n, range, s, 0);
			if (log % 4 == 0 && passes == 1)
				bucket_radix_point(data, n, range, 0, 8);
			emit("zhang", "6", data, n, "cub", cub_keys(n, passes * 16));
			emit("zhang", "6", data, n, "hpsort", engine(n, {range, 0}));
			if (log <= 24 && log % 2 == 0)
			{
				emit("zhang", "6", data, n, "std_sort", std_sort(n, false));
				emit("zhang", "6", data, n, "vqsort_1", vqsort_one(n));
			}
		}
}

static void *
lend(void *arena, size_t size)
{
	(void) arena;
	return malloc(size);
}

static void
take_back(void *arena, void *block)
{
	(void) arena;
	free(block);
}

/* exact threads of so many, whatever pays; 0: as many as pay of those there are. */
static double
free_on_cpu(uint64_t n, uint64_t range, int exact, ComparisonFreeForm form,
			PublishedReport *last)
{
	SortContext lent = {};

	lent.allocator.alloc = lend;
	lent.allocator.release = take_back;
	lent.threads = exact > 0 ? exact : (int) std::max(2u, std::thread::hardware_concurrency());
	return on_host(n, false, "comparison_free", [&](uint32_t *k, uint64_t m) {
		SortError	error;
		PublishedSort sort = {};

		sort.algorithm = SORT_ALGORITHM_COMPARISON_FREE;
		sort.keys = (int32_t *) k;
		sort.n = (size_t) m;
		sort.hi = (int32_t) (range - 1);
		sort.options.counters = form;
		sort.options.threads = exact;
		if (published_sort(&sort, &lent, &error) != SORT_OK)
		{
			fprintf(stderr, "%s\n", error.message);
			exit(1);
		}
		if (exact > 0 && sort.report.threads != exact)
		{
			fprintf(stderr, "%d threads ran, not %d\n", sort.report.threads, exact);
			exit(1);
		}
		*last = sort.report;
	});
}

/* Series name, name threads, name bytes; Fig. 10: its phases. */
static void
free_cpu_series(const std::string &figure, const std::string &data, uint64_t n,
				uint64_t range, const std::string &name, int exact,
				ComparisonFreeForm form, bool phases)
{
	PublishedReport last;

	emit("free", figure, data, n, name, free_on_cpu(n, range, exact, form, &last));
	emit("free", figure, data, n, name + " threads", last.threads);
	if (!phases)
		return;
	emit("free", "11-15-18", data, n, name + " bytes", (double) last.memory);
	for (int p = 0; p < last.phases; p++)
		emit("free", "10", data, n, name + " phase " + last.phase[p],
			 (double) last.phase_ns[p] / 1e6);
}

/* Fig. 17's radix sort on a CPU: eight bits at a time, least significant first. */
static void
radix_on_cpu(uint32_t *k, uint64_t n)
{
	std::vector<uint32_t> other(n);
	uint32_t   *from = k;
	uint32_t   *to = other.data();

	for (int shift = 0; shift < 32; shift += 8)
	{
		uint64_t	starts[257] = {};

		for (uint64_t i = 0; i < n; i++)
			starts[((from[i] ^ 0x80000000u) >> shift & 255) + 1]++;
		for (int d = 0; d < 256; d++)
			starts[d + 1] += starts[d];
		for (uint64_t i = 0; i < n; i++)
			to[starts[(from[i] ^ 0x80000000u) >> shift & 255]++] = from[i];
		std::swap(from, to);
	}
}

/* Fig. 17: quicksort, merge sort and radix sort, by one thread. */
static void
cpu_peers(const std::string &name, uint64_t n)
{
	emit("free", "17", name, n, "std_sort", std_sort(n, false));
	emit("free", "17", name, n, "std_stable_sort",
		 on_host(n, false, "std::stable_sort", [](uint32_t *k, uint64_t m) {
		std::stable_sort((int32_t *) k, (int32_t *) k + m);
	}));
	emit("free", "17", name, n, "radix 8 bits", on_host(n, false, "radix", radix_on_cpu));
}

/* One point for the GPU, one thread, eight, as many as pay, and the peers. */
static void
free_point(const std::string &figure, const std::string &name, const Data &data,
		   bool on_cpu, bool eight)
{
	const uint64_t n = data.n;
	const bool	gaussian = data.shape == GAUSSIAN && figure != "16";
	const HpsortPublishedSpec spec =
		published_spec(HPSORT_PUBLISHED_COMPARISON_FREE, bounds_of(data));
	HpsortPublishedReport report;
	uint64_t	peak;

	make(data);
	emit("free", figure, name, n, "gpu", published(spec, n, &report, &peak));
	emit_phases("free", "14", name, n, report);
	emit("free", "11-15-18", name, n, "gpu bytes", (double) peak);
	emit("free", figure, name, n, "cub", cub_keys(n, bits_of(bounds_of(data))));
	emit("free", figure, name, n, "hpsort", engine(n, bounds_of(data)));
	if (gaussian || n == (uint64_t) 1 << 26)
	{
		emit("free", figure, name, n, "gpu with transfers", published_from_host(spec, n));
		emit("free", figure, name, n, "cub with transfers", cub_from_host(n, false));
	}
	if (!on_cpu)
		return;
	free_cpu_series(figure, name, n, data.range, "cpu_1", 1, COMPARISON_FREE_PRIVATE, gaussian);
	if (eight)
		free_cpu_series(figure, name, n, data.range, "cpu_8", 8, COMPARISON_FREE_PRIVATE,
						gaussian);
	if (gaussian)
	{
		/* atomic counters: a second and more from here on */
		if (n <= 1 << 24)
			free_cpu_series(figure, name, n, data.range, "cpu_8_shared", 8,
							COMPARISON_FREE_SHARED, true);
		free_cpu_series(figure, name, n, data.range, "cpu_paying", 0,
						COMPARISON_FREE_PRIVATE, false);
		if (n <= 1 << 24)
			cpu_peers(name, n);
	}
	emit("free", figure, name, n, "vqsort_1", vqsort_one(n));
}

/* Method 1: equation 11, with rows and without. */
static void
onehot_point(uint64_t n)
{
	const Data	data = {PERMUTATION, n, n, n, 0};
	HpsortPublishedSpec spec =
		published_spec(HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT, bounds_of(data));

	make(data);
	emit("free", "method 1", "random", n, "onehot", published(spec, n));
	spec.payload = 1;
	emit("free", "method 1", "random", n, "onehot rows", published(spec, n));
	emit("free", "method 1", "random", n, "gpu",
		 published(published_spec(HPSORT_PUBLISHED_COMPARISON_FREE, bounds_of(data)), n));
	emit("free", "method 1", "random", n, "cub", cub_keys(n, bits_of(bounds_of(data))));
	emit("free", "method 1", "random", n, "cub_pairs", cub_pairs(n, bits_of(bounds_of(data))));
}

/* Threads of a block and blocks that method 2 was not published with. */
static void
free_shapes(uint64_t n)
{
	const Data	data = {GAUSSIAN, n, n, n, 0};
	HpsortPublishedSpec spec =
		published_spec(HPSORT_PUBLISHED_COMPARISON_FREE, bounds_of(data));

	make(data);
	for (uint32_t t : {16, 64, 256})
		for (uint32_t blk : {1024, 4096})
		{
			spec.options.block_threads = t;
			spec.options.blocks = blk;
			emit("free", "T and blk", "gaussian", n, "gpu " + std::to_string(t) + " x " +
				 std::to_string(blk), published(spec, n));
		}
}

/*
 * Abdel-hafeez, Gordon-Ross, Abubaker, Figs. 8 to 15, 17, 18 (values up to N), 16
 * (values up to 1000 N); method 1 at sizes that it can do.
 */
void
comparison_free_figures(void)
{
	for (int log = 8; log <= 28; log += 2)
	{
		const uint64_t n = (uint64_t) 1 << log;
		const bool	cpu = log <= 24;

		free_point("8-13", "random", {PERMUTATION, n, n, n, 0}, cpu || log == 26, cpu);
		free_point("8-13", "gaussian", {GAUSSIAN, n, n, n, 0}, cpu || log == 26, true);
		free_point("8-13", "reversed", {REVERSED_ORDER, n, n, n, 0}, cpu, false);
		free_point("8-13", "nearly sorted", {NEARLY_SORTED, n, n, n, 0}, cpu, false);
		free_point("8-13", "70 % repeated",
				   {ARBITRARY, n, n, std::max<uint64_t>(n * 3 / 10, 1), 0}, cpu, cpu);
		free_point("8-13", "70 % one value", {ONE_REPEATED, n, n, n, 0}, cpu, cpu);
		if (log <= 26)
			free_point("8-13", "100 % repeated", {FLAT, n, n, 1, 0}, cpu, false);
		if (log <= 20)
			free_point("16", "gaussian 1000 N", {GAUSSIAN, n, 1000 * n, n, 0}, cpu,
					   log <= 16);
	}
	/* where the GPU overtakes the CPU */
	for (int log = 9; log <= 15; log += 2)
	{
		const uint64_t n = (uint64_t) 1 << log;

		free_point("8-13", "gaussian", {GAUSSIAN, n, n, n, 0}, true, true);
	}
	free_shapes((uint64_t) 1 << 24);
	for (int log = 8; log <= 17; log++)
		onehot_point((uint64_t) 1 << log);
}
