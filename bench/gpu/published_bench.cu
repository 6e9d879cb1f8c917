/*-------------------------------------------------------------------------
 *
 * published_bench.cu
 *	  The papers' algorithms by name, beside each other and hpsort's own way,
 *	  device to device, on the keys that hpsort's benches use.
 *
 * usage: published_bench [csv file] [algorithm ...] [option=number ...]; without a
 * name, all; options as in HpsortPublishedOptions, such as rows=65536.  The file's name
 * comes first and has a dot or a slash, so that no mistyped algorithm is taken for it.
 *
 * The papers' own data are in bench/papers.  Times as in gpubench.cu: between
 * two events on one stream, after other memory has been read through L2; medians
 * of 5 after one for warming up.  Bounds are told.  Every result is checked.  An
 * algorithm that cannot do a case says why; one_hp has a permutation where the
 * others have uniform keys.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "arguments.h"
#include "calls.cuh"
#include "generate.cuh"
#include "published_now.cuh"
#include "sort_now.cuh"

static const int repetitions = 5;
static const size_t flush_bytes = (size_t) 512 << 20;

/*
 * More than this is not worth the wait for a number: hp takes 3 s for 100,000
 * keys anywhere in int4, with 34 GB of bins.
 */
static const uint64_t most_workspace = (uint64_t) 20 << 30;

static HpsortCuda *context;
static HpsortCudaError err;
static HpsortPublishedVerdict *verdict;
static cudaStream_t stream;
static int32_t *keys;
static int32_t *out;
static unsigned char *flush;
static HpsortPublishedOptions wanted;

/* Each of 0 .. n - 1 once: 7919 is no factor of the n used here. */
static __global__ void
permutation_kernel(uint64_t n, int32_t *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		to[i] = (int32_t) (i * 7919 % n);
}

static double
measure(const std::function<void()> &work)
{
	std::vector<float> times;
	cudaEvent_t start;
	cudaEvent_t stop;

	CUDA(cudaEventCreate(&start));
	CUDA(cudaEventCreate(&stop));
	for (int i = -1; i < repetitions; i++)
	{
		float		ms;

		CUDA(cudaMemcpyAsync(flush, flush + flush_bytes / 2, flush_bytes / 2,
							 cudaMemcpyDeviceToDevice, stream));
		CUDA(cudaEventRecord(start, stream));
		work();
		CUDA(cudaEventRecord(stop, stream));
		CUDA(cudaEventSynchronize(stop));
		CUDA(cudaEventElapsedTime(&ms, start, stop));
		if (i >= 0)
			times.push_back(ms);
	}
	CUDA(cudaEventDestroy(start));
	CUDA(cudaEventDestroy(stop));
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

/* Order and an order-independent sum, so that no wrong sort is ever timed. */
static Audit
audit(const int32_t *what, uint64_t n)
{
	Audit	   *device;
	Audit		result;

	CUDA(cudaMalloc(&device, sizeof(Audit)));
	CUDA(cudaMemsetAsync(device, 0, sizeof(Audit), stream));
	audit_kernel<<<1024, 256, 0, stream>>>(what, n, false, device);
	CUDA(cudaMemcpyAsync(&result, device, sizeof(Audit), cudaMemcpyDeviceToHost,
						 stream));
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaFree(device));
	return result;
}

static void
check_sorted(uint64_t n, const char *what)
{
	const Audit before = audit(keys, n);
	const Audit after = audit(out, n);

	if (after.disorder != 0 || after.sum != before.sum)
	{
		fprintf(stderr, "%s: wrong result\n", what);
		exit(1);
	}
}

/* hpsort's own way, with the same bounds. */
static double
own_way(const Recipe &recipe)
{
	HpsortCudaSpec spec = {};
	RegimeChoice choice;

	spec.bounds_known = 1;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	spec.wanted = HPSORT_CUDA_KEYS;

	double		ms = measure([&] {
		ENGINE(sort_now(context, spec, keys, recipe.n, out, nullptr, stream, &verdict->keys,
						&choice, &err));
	});

	check_sorted(recipe.n, "hpsort");
	return ms;
}

/* < 0 when it cannot; err says why. */
static double
by_name(HpsortPublished algorithm, const Recipe &recipe)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = algorithm;
	spec.options = wanted;
	spec.bounds_known = 1;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	if (algorithm == HPSORT_PUBLISHED_BUCKET_RADIX && wanted.radix_bits > 0 &&
		(recipe.distinct - 1) >> 2 * wanted.radix_bits != 0)
	{
		snprintf(err.text, sizeof(err.text), "the range takes more than two passes");
		return -1;
	}
	if (algorithms[algorithm].need(spec, recipe.n) > most_workspace)
	{
		snprintf(err.text, sizeof(err.text), "%s needs more than %llu bytes",
				 algorithms[algorithm].name, (unsigned long long) most_workspace);
		return -1;
	}
	/* for what it finds: keys that occur twice */
	if (published_now(context, spec, keys, nullptr, recipe.n, out, nullptr, stream, nullptr,
					  nullptr, &err) != HPSORT_CUDA_OK)
		return -1;
	CUDA(cudaMemsetAsync(out, 0xa5, recipe.n * 4, stream));

	double		ms = measure([&] {
		ENGINE(published_now(context, spec, keys, nullptr, recipe.n, out, nullptr, stream,
							 verdict, nullptr, &err));
	});

	check_sorted(recipe.n, algorithms[algorithm].name);
	return ms;
}

static void
make(const Recipe &recipe, bool permutation)
{
	if (permutation)
		permutation_kernel<<<4096, 256, 0, stream>>>(recipe.n, keys);
	else
		generate(recipe, keys, stream);
}

/* To stdout where somebody asked for it, else with what was wrong. */
static void
usage(const char *program, const std::string &wrong)
{
	FILE	   *to = wrong.empty() ? stdout : stderr;

	if (!wrong.empty())
		fprintf(to, "%s: %s\n", program, wrong.c_str());
	fprintf(to, "usage: %s [csv file] [algorithm ...] [option=number ...]\nalgorithms:", program);
	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
		fprintf(to, " %s", algorithms[a].name);
	fprintf(to, "\noptions:");
	for (const auto &option : option_names)
		fprintf(to, " %s", option.name);
	fprintf(to, " disorder_limit\n");
}

int
main(int argc, char **argv)
{
	const uint64_t sizes[] = {100000, 1000000, 10000000, 100000000};
	FILE	   *csv = nullptr;
	Arguments	arguments;
	const std::string wrong = take_arguments(std::vector<std::string>(argv + 1, argv + argc),
											 hpsort_published_by_name, &arguments);

	if (!wrong.empty() || arguments.help)
	{
		usage(argv[0], wrong);
		return arguments.help && wrong.empty() ? 0 : 2;
	}
	if (!arguments.csv.empty() && (csv = fopen(arguments.csv.c_str(), "w")) == nullptr)
	{
		fprintf(stderr, "%s: %s\n", arguments.csv.c_str(), strerror(errno));
		return 1;
	}
	wanted = arguments.options;

	std::vector<HpsortPublished> chosen = arguments.algorithms;

	if (chosen.empty())
		for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
			chosen.push_back((HpsortPublished) a);
	ENGINE(hpsort_cuda_open(0, 0, &context, &err));
	CUDA(cudaStreamCreate(&stream));
	CUDA(cudaMalloc(&keys, sizes[3] * 4));
	CUDA(cudaMalloc(&out, sizes[3] * 4));
	CUDA(cudaMalloc(&flush, flush_bytes));
	CUDA(cudaMemset(flush, 1, flush_bytes));
	CUDA(cudaMallocHost((void **) &verdict, sizeof(*verdict)));
	if (csv)
		fprintf(csv, "algorithm,n,range,keys,ms,hpsort_ms,radix_ms,why_not\n");
	for (uint64_t n : sizes)
		for (int shape = 0; shape < 4; shape++)
		{
			const uint64_t ranges[] = {1000, n, (uint64_t) 1 << 32, 1000};
			const Recipe recipe = {shape == 3 ? CONSTANT : UNIFORM, n, ranges[shape],
				shape == 2 ? INT32_MIN : 0, false, n};

			make(recipe, false);

			const double own = own_way(recipe);
			const double radix = by_name(HPSORT_PUBLISHED_RADIX, recipe);

			for (HpsortPublished algorithm : chosen)
			{
				const bool	permutation = algorithm == HPSORT_PUBLISHED_ONE_HP && shape == 1;
				const char *what = permutation ? "permutation" :
					distribution_names[recipe.distribution];
				const char *name = algorithms[algorithm].name;
				double		ms;

				make(recipe, permutation);
				ms = by_name(algorithm, recipe);
				if (ms < 0)
					printf("%-26s %9llu of %10llu %-11s %s\n", name, (unsigned long long) n,
						   (unsigned long long) recipe.distinct, what, err.text);
				else
					printf("%-26s %9llu of %10llu %-11s %9.4f ms, hpsort %7.4f, radix %7.4f\n",
						   name, (unsigned long long) n, (unsigned long long) recipe.distinct,
						   what, ms, own, radix);
				if (csv && ms < 0)
					fprintf(csv, "%s,%llu,%llu,%s,,%.5f,%.5f,\"%s\"\n", name,
							(unsigned long long) n, (unsigned long long) recipe.distinct, what,
							own, radix, err.text);
				else if (csv)
					fprintf(csv, "%s,%llu,%llu,%s,%.5f,%.5f,%.5f,\n", name,
							(unsigned long long) n, (unsigned long long) recipe.distinct, what,
							ms, own, radix);
			}
		}
	if (csv)
		fclose(csv);
	CUDA(cudaFreeHost(verdict));
	hpsort_cuda_close(context);
	return 0;
}
