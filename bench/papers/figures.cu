/*-------------------------------------------------------------------------
 *
 * figures.cu
 *	  The figures of each paper: which data, which sizes, which contestants.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cstring>
#include <thread>

#include "sort/comparison_free.h"
#include "sort/kernels.h"
#include "papers.cuh"

/* One point of an H-P figure, for all contestants. */
static void
hp_point(const std::string &figure, const std::string &name, const Data &data)
{
	const uint64_t n = data.n;

	make(data);
	emit("hp", figure, name, n, "thrust", thrust_keys(n));
	emit("hp", figure, name, n, "cub", cub_keys(n, 32));
	emit("hp", figure, name, n, "cub_bits", cub_keys(n, bits_of(data.range)));
	emit("hp", figure, name, n, "hp", published(HPSORT_PUBLISHED_HP, n, data.range));
	emit("hp", figure, name, n, "zero_compressed_published",
		 published(HPSORT_PUBLISHED_ZERO_COMPRESSED, n, data.range));
	if (data.shape == PERMUTATION)
		emit("hp", figure, name, n, "one_hp",
			 published(HPSORT_PUBLISHED_ONE_HP, n, data.range));
	emit("hp", figure, name, n, "hpsort", engine(n, data.range));
}

/*
 * Kozakai, Fujimoto, Wada 2021, Figs. 8 to 23; Kozakai 2022, Figs. 6 to 9.
 * delta = n / range, sigma = range / len.
 */
void
hp_figures(void)
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
	static const uint64_t sizes[] = {200000, 500000, 1000000, 2000000, 4000000,
		6000000, 8000000, 10000000, 15000000, 20000000};

	for (const auto &f : figures)
		for (uint64_t step = 1; step <= 10; step++)
		{
			const uint64_t n = step * (f.shape == PERMUTATION ? 100000 : 1000000);
			const uint64_t range = (uint64_t) (n / f.delta);
			static const char *const names[] = {"distinct", "uniform", "interval",
				"arbitrary"};

			hp_point("2021-" + std::to_string(f.figure), names[f.shape],
					 {f.shape, n, range,
					 std::max<uint64_t>(f.sigma ? range / f.sigma : n, 1)});
		}
	for (uint64_t n : sizes)
	{
		if (n <= 2000000)
			hp_point("2022-6", "distinct", {PERMUTATION, n, n, n});
		hp_point("2022-7", "arbitrary", {ARBITRARY, n, n / 50,
				 std::max<uint64_t>(n / 2500, 1)});
		hp_point("2022-8", "len 100", {ARBITRARY, n, n, 100});
		hp_point("2022-9", "range 100", {UNIFORM_RANGE, n, 100, 100});
	}
}

static void
emit_phases(const char *paper, const std::string &figure, const std::string &data,
			uint64_t n, const HpsortPublishedReport &report)
{
	for (uint32_t p = 0; p < report.phases; p++)
		emit(paper, figure, data, n, std::string("phase ") + report.phase[p],
			 report.phase_ms[p]);
}

/* On the host, from the keys on the device; the copy is not timed. */
template <typename Key, typename Sort>
static double
on_host(uint64_t n, const char *what, Sort sort)
{
	CUDA(cudaMemcpy(host_in, keys, n * 4, cudaMemcpyDeviceToHost));

	double		ms = time_host([&] { sort((Key *) host_out, n); },
							   [&] { memcpy(host_out, host_in, n * 4); });

	check_host(host_out, n, std::is_same<Key, float>::value, what);
	return ms;
}

static double
std_sort(uint64_t n, bool floats)
{
	if (floats)
		return on_host<float>(n, "std::sort", [](float *k, uint64_t m) {
			std::sort(k, k + m);
		});
	return on_host<int32_t>(n, "std::sort", [](int32_t *k, uint64_t m) {
		std::sort(k, k + m);
	});
}

/*
 * Zhang, Wu, Fig. 6: one pass (keys of 16 bits) and two passes (of 32) beside
 * the STL's sort; Fig. 7: the preprocess's share.
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
			HpsortPublishedReport report;

			make({passes == 1 ? UNIFORM_RANGE : FULL_RANGE, n, range, range});
			emit("zhang", "6", data, n, "bucket_radix",
				 published(HPSORT_PUBLISHED_BUCKET_RADIX, n, range, &report));
			emit_phases("zhang", "7", data, n, report);
			emit("zhang", "6", data, n, "cub", cub_keys(n, passes * 16));
			emit("zhang", "6", data, n, "hpsort", engine(n, range));
			if (log <= 24)
			{
				emit("zhang", "6", data, n, "std_sort", std_sort(n, false));
				emit("zhang", "6", data, n, "vqsort_1",
					 on_host<int32_t>(n, "vqsort", [](int32_t *k, uint64_t m) {
					vqsort_keys(k, m, 0);
				}));
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

static double
free_on_cpu(uint64_t n, uint64_t range, int threads)
{
	SortContext lent = {};

	lent.allocator.alloc = lend;
	lent.allocator.release = take_back;
	lent.threads = threads;
	return on_host<int32_t>(n, "comparison_free", [&](int32_t *k, uint64_t m) {
		SortError	error;
		ComparisonFreeSort sort = {k, (size_t) m, 0, (int32_t) (range - 1), false, 0};

		if (comparison_free_sort(&sort, &lent, &error) != SORT_OK)
		{
			fprintf(stderr, "%s\n", error.message);
			exit(1);
		}
	});
}

/* One point for the GPU, one thread, all threads and the peers. */
static void
free_point(const std::string &figure, const std::string &name, const Data &data,
		   bool on_cpu)
{
	const uint64_t n = data.n;
	const int	threads = std::max(2u, std::thread::hardware_concurrency());
	HpsortPublishedReport report;

	make(data);
	emit("free", figure, name, n, "gpu",
		 published(HPSORT_PUBLISHED_COMPARISON_FREE, n, data.range, &report));
	emit_phases("free", "14", name, n, report);
	emit("free", figure, name, n, "cub", cub_keys(n, bits_of(data.range)));
	emit("free", figure, name, n, "hpsort", engine(n, data.range));
	if (!on_cpu)
		return;
	emit("free", figure, name, n, "cpu_1", free_on_cpu(n, data.range, 1));
	emit("free", figure, name, n, "cpu_" + std::to_string(threads),
		 free_on_cpu(n, data.range, threads));
	emit("free", figure, name, n, "vqsort_1",
		 on_host<int32_t>(n, "vqsort", [](int32_t *k, uint64_t m) {
		vqsort_keys(k, m, 0);
	}));
}

/*
 * Abdel-hafeez, Gordon-Ross, Abubaker, Figs. 8, 9, 12, 13 (values up to N), 14
 * (phases), 16 (values up to 1000 N); method 1 at sizes that it can do.
 */
void
comparison_free_figures(void)
{
	for (int log = 8; log <= 28; log += 2)
	{
		const uint64_t n = (uint64_t) 1 << log;
		const bool	cpu = log <= 24;

		free_point("8-13", "random", {PERMUTATION, n, n, n}, cpu || log == 26);
		free_point("8-13", "gaussian", {GAUSSIAN, n, n, n}, cpu || log == 26);
		free_point("8-13", "reversed", {REVERSED_ORDER, n, n, n}, cpu);
		free_point("8-13", "nearly sorted", {NEARLY_SORTED, n, n, n}, cpu);
		free_point("8-13", "70 % repeated",
				   {ARBITRARY, n, n, std::max<uint64_t>(n * 3 / 10, 1)}, cpu);
		if (log <= 26)
			free_point("8-13", "100 % repeated", {FLAT, n, n, 1}, cpu);
		if (log <= 20)
			free_point("16", "gaussian 1000 N", {GAUSSIAN, n, 1000 * n, n}, cpu);
	}
	for (int log = 8; log <= 17; log++)
	{
		const uint64_t n = (uint64_t) 1 << log;

		make({PERMUTATION, n, n, n});
		emit("free", "method 1", "random", n, "onehot",
			 published(HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT, n, n));
		emit("free", "method 1", "random", n, "gpu",
			 published(HPSORT_PUBLISHED_COMPARISON_FREE, n, n));
		emit("free", "method 1", "random", n, "cub", cub_keys(n, log));
	}
}

/* bucket_bitonic with what the others do not have. */
static double
bitonic(uint64_t n, bool floats, bool payload, int nearly, uint64_t pass_keys,
		HpsortPublishedReport *report = nullptr)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = HPSORT_PUBLISHED_BUCKET_BITONIC;
	spec.type = floats ? HPSORT_PUBLISHED_FLOAT4 : HPSORT_PUBLISHED_INT4;
	spec.payload = payload;
	spec.nearly_sorted = nearly;
	spec.pass_keys = pass_keys;

	auto		once = [&](HpsortPublishedReport *to) {
		ENGINE(hpsort_published_sort(context, &spec, keys, payload ? rows : nullptr,
									 n, out, payload ? rows_out : nullptr, stream,
									 nullptr, to, &err));
	};
	double		ms = time_gpu([&] { once(nullptr); });

	check_result(n, floats, "bucket_bitonic");
	if (report)
		once(report);
	return ms;
}

/* Their Figs. 2 and 5: from host memory to host memory; payloads are row numbers. */
static double
many(uint64_t n, bool floats, int devices, bool payload = false)
{
	static uint32_t *host_rows = nullptr;
	static uint32_t *host_rows_out = nullptr;

	HpsortPublishedSpec spec = {};
	std::vector<HpsortCuda *> contexts(devices, context);
	int			present = 1;

	ENGINE(hpsort_cuda_device_count(&present, &err));
	for (int d = 1; d < devices; d++)
		ENGINE(hpsort_cuda_open(d % present, 0, &contexts[d], &err));
	spec.algorithm = HPSORT_PUBLISHED_BUCKET_BITONIC;
	spec.type = floats ? HPSORT_PUBLISHED_FLOAT4 : HPSORT_PUBLISHED_INT4;
	spec.payload = payload;
	CUDA(cudaMemcpy(host_in, keys, n * 4, cudaMemcpyDeviceToHost));
	if (payload && host_rows == nullptr)
	{
		CUDA(cudaMallocHost((void **) &host_rows, most_host * 4));
		CUDA(cudaMallocHost((void **) &host_rows_out, most_host * 4));
		for (uint64_t i = 0; i < most_host; i++)
			host_rows[i] = (uint32_t) i;
	}

	double		ms = time_host([&] {
		ENGINE(hpsort_published_sort_many(contexts.data(), devices, &spec, host_in,
										  payload ? host_rows : nullptr, n, host_out,
										  payload ? host_rows_out : nullptr, &err));
	});

	check_host(host_out, n, floats, "several gpus");
	for (int d = 1; d < devices; d++)
		hpsort_cuda_close(contexts[d]);
	return ms;
}

static double
cub_with_transfers(uint64_t n, bool floats)
{
	CUDA(cudaMemcpy(host_in, keys, n * 4, cudaMemcpyDeviceToHost));

	double		ms = time_host([&] {
		CUDA(cudaMemcpyAsync(keys, host_in, n * 4, cudaMemcpyHostToDevice, stream));
		cub_sort_once(n, floats);
		CUDA(cudaMemcpyAsync(host_out, out, n * 4, cudaMemcpyDeviceToHost, stream));
		CUDA(cudaStreamSynchronize(stream));
	});

	check_host(host_out, n, floats, "cub with transfers");
	return ms;
}

/* Their lists. */
static const struct
{
	const char *name;
	Shape		shape;
	bool		floats;
}			lists[] = {
	{"int uniform", FULL_RANGE, false}, {"int gaussian", GAUSSIAN, false},
	{"int nearly sorted", NEARLY_SORTED, false},
	{"float uniform", FLOAT_UNIFORM, true},
	{"float gaussian", FLOAT_GAUSSIAN, true},
	{"float nearly sorted", FLOAT_NEARLY, true},
};

/*
 * Chen, Qin, Xie, Zhao, Heng, Fig. 2 (integers), 3 (floats and structures
 * beside the STL), 4 (phases), 5 (one and several GPUs), and the merge.
 */
void
chen_figures(void)
{
	for (uint64_t n = 4000000; n <= 24000000; n += 4000000)
		for (const auto &list : lists)
		{
			const std::string name = list.name;
			const std::string figure = list.floats ? "3" : "2";
			const bool	nearly = name.find("nearly") != std::string::npos;
			HpsortPublishedReport report;

			make({list.shape, n, (uint64_t) 1 << 31, n});
			emit("chen", figure, name, n, "bucket_bitonic",
				 bitonic(n, list.floats, false, 0, 0, &report));
			emit_phases("chen", "4", name, n, report);
			emit("chen", figure, name, n, "cub",
				 list.floats ? cub_floats(n) : cub_keys(n, 32));
			if (nearly)
			{
				emit("chen", figure, name, n, "not strided",
					 bitonic(n, list.floats, false, -1, 0));
				emit("chen", figure, name, n, "strided",
					 bitonic(n, list.floats, false, 1, 0));
			}
			emit("chen", figure, name, n, "bucket_bitonic with transfers",
				 many(n, list.floats, 1));
			emit("chen", figure, name, n, "cub with transfers",
				 cub_with_transfers(n, list.floats));
			if (n % 12000000 == 0)
				emit("chen", figure, name, n, "std_sort", std_sort(n, list.floats));
			if (list.floats)
				continue;
			emit("chen", "3 structures", name, n, "bucket_bitonic",
				 bitonic(n, false, true, 0, 0));
			emit("chen", "3 structures", name, n, "cub", cub_pairs(n));
		}
	for (uint64_t n : {32000000, 64000000})
	{
		make({FULL_RANGE, n, (uint64_t) 1 << 31, n});
		emit("chen", "merge", "int uniform", n, "one pass", bitonic(n, false, false, 0, 0));
		emit("chen", "merge", "int uniform", n, "passes of 16M",
			 bitonic(n, false, false, 0, 16000000));
		emit("chen", "merge", "int uniform", n, "cub", cub_keys(n, 32));
	}
}

/* Fig. 5, and what it leaves out: other lists than uniform integers. */
void
gpus_figures(void)
{
	int			present = 1;

	ENGINE(hpsort_cuda_device_count(&present, &err));

	const std::string two = present > 1 ? "two gpus" : "the same gpu twice";

	for (uint64_t n : {4000000, 8000000, 16000000, 24000000, 32000000, 64000000})
	{
		make({FULL_RANGE, n, (uint64_t) 1 << 31, n});
		emit("chen", "5", "int uniform", n, "one gpu", many(n, false, 1));
		emit("chen", "5", "int uniform", n, two, many(n, false, 2));
		emit("chen", "5", "int uniform", n, "cub with transfers",
			 cub_with_transfers(n, false));
	}
	for (uint64_t n : {24000000, 64000000})
		for (const auto &list : lists)
		{
			make({list.shape, n, (uint64_t) 1 << 31, n});
			if (list.shape != FULL_RANGE)
			{
				emit("chen", "5", list.name, n, "one gpu", many(n, list.floats, 1));
				emit("chen", "5", list.name, n, two, many(n, list.floats, 2));
				emit("chen", "5", list.name, n, "cub with transfers",
					 cub_with_transfers(n, list.floats));
			}
			if (list.floats)
				continue;
			emit("chen", "5 structures", list.name, n, "one gpu", many(n, false, 1, true));
			emit("chen", "5 structures", list.name, n, two, many(n, false, 2, true));
		}
}
