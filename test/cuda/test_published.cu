/*-------------------------------------------------------------------------
 *
 * test_published.cu
 *	  Tests of the published algorithms on a real GPU, through published.h:
 *	  every algorithm on every shape it accepts, against the CPU reference;
 *	  refusals; keys outside the bounds; duplicates; allocations that fail.
 *
 * usage: publishedtest [--quick | --tiny] [--shapes n] [--seed n] [--large]
 *						 [--device n]
 *	--quick		a reduced set, for compute-sanitizer's memcheck and initcheck
 *	--tiny		a still smaller one, for its racecheck
 *	--large		1e8 keys and the whole range of int4 as well
 *
 *-------------------------------------------------------------------------
 */
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <set>

#include "context.cuh"
#include "test_published.cuh"

HpsortCuda *context;
HpsortCudaError err;
uint64_t	checks;
uint64_t	failures;
std::string current;

enum BoundsGiven
{
	UNKNOWN,
	TIGHT,
	SLACK						/* wider than the keys */
};

static void
describe(HpsortPublished algorithm, const Recipe &recipe, BoundsGiven bounds,
		 bool descending, uint32_t in, uint32_t to)
{
	char		text[300];

	snprintf(text, sizeof(text),
			 "%s n %llu distinct %llu lo %lld %s%s%s bounds %d offsets %u %u seed %llu",
			 name_of(algorithm), (unsigned long long) recipe.n,
			 (unsigned long long) recipe.distinct, (long long) recipe.lo,
			 distribution_names[recipe.distribution],
			 recipe.anywhere ? " anywhere" : "", descending ? " descending" : "",
			 bounds, in, to, (unsigned long long) recipe.seed);
	current = text;
}

static HpsortPublishedSpec
spec_of(HpsortPublished algorithm, const std::vector<int32_t> &keys,
		BoundsGiven bounds, bool descending)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = algorithm;
	spec.descending = descending;
	if (bounds != UNKNOWN && !keys.empty())
	{
		const int64_t slack = bounds == SLACK ? 1000 : 0;

		spec.bounds_known = 1;
		spec.lo = (int32_t) std::max<int64_t>(
			*std::min_element(keys.begin(), keys.end()) - slack, INT32_MIN);
		spec.hi = (int32_t) std::min<int64_t>(
			*std::max_element(keys.begin(), keys.end()) + slack, INT32_MAX);
	}
	return spec;
}

/* Sorted keys, nothing written outside, no more memory than promised. */
static void
try_keys(const HpsortPublishedSpec &spec, const std::vector<int32_t> &keys,
		 uint32_t in, uint32_t to)
{
	const Reference reference = refer(keys, spec.descending != 0);
	Guarded<int32_t> input(keys.size(), in);
	Guarded<int32_t> output(keys.size(), to);
	HpsortPublishedSpec known = spec;
	HpsortPublishedReport report;
	uint64_t	used;
	uint64_t	peak;

	input.put(keys);
	hpsort_cuda_memory(context, nullptr, nullptr, 1);
	ENGINE(published_now(context, spec, input.get(), nullptr, keys.size(),
								 output.get(), nullptr, nullptr, nullptr,
								 keys.size() % 2 ? &report : nullptr, &err));
	hpsort_cuda_memory(context, &used, &peak, 1);
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(output.intact());
	CHECK(used == 0);
	if (keys.empty())
		return;
	if (!known.bounds_known)
	{
		known.bounds_known = 1;
		known.lo = *std::min_element(keys.begin(), keys.end());
		known.hi = *std::max_element(keys.begin(), keys.end());
	}
	CHECK(peak <= algorithms[spec.algorithm].need(known, keys.size()));
	if (keys.size() % 2)
	{
		CHECK(report.phases > 0);
		for (uint32_t p = 0; p < report.phases; p++)
			CHECK(report.phase[p] != nullptr && report.phase_ms[p] >= 0);
	}
}

static void
try_recipe(HpsortPublished algorithm, const Recipe &recipe, BoundsGiven bounds,
		   bool descending, uint32_t in, uint32_t to)
{
	const std::vector<int32_t> keys = make_keys(recipe);

	describe(algorithm, recipe, bounds, descending, in, to);
	try_keys(spec_of(algorithm, keys, bounds, descending), keys, in, to);
}

/* Whether a shape is one that this algorithm takes with little memory. */
static bool
accepts(HpsortPublished algorithm, uint64_t n, uint64_t range)
{
	switch (algorithm)
	{
		case HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT:
			return n * range < (uint64_t) 1 << 28;
		case HPSORT_PUBLISHED_ONE_HP:
			return false;		/* has tests of its own */
		case HPSORT_PUBLISHED_BUCKET_RADIX:
		case HPSORT_PUBLISHED_BUCKET_BITONIC:
		case HPSORT_PUBLISHED_RADIX:
			return true;
		default:
			return range < (uint64_t) 1 << 27;
	}
}

static void
test_shapes(bool quick, bool tiny)
{
	std::vector<uint64_t> sizes = {0, 1, 2, 3, 31, 511, 513, 4097};
	std::vector<uint64_t> ranges = {1, 2, 1000, 65536, 65537};
	uint64_t	seed = 1;

	if (tiny)
	{
		sizes = {513, 4097};
		ranges = {1000, 65537};
	}
	if (!quick)
	{
		sizes.insert(sizes.end(), {4, 5, 7, 16, 255, 256, 257, 512, 1023, 1024, 1025,
					 2047, 2048, 2049, 16384, 65536, 262147, 1000003});
		ranges.insert(ranges.end(), {100, 16384, 16385, 1000000, 50000000,
					  (uint64_t) 1 << 31, (uint64_t) 1 << 32});
	}
	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
		for (uint64_t n : sizes)
			for (uint64_t range : ranges)
				for (int d = 0; d < DISTRIBUTIONS; d++)
				{
					const bool	anywhere = range > (uint64_t) 1 << 30 && d % 2;
					const int64_t lo = range > (uint64_t) 1 << 30 ? INT32_MIN :
						seed % 3 ? -500 : 70000;

					if (!accepts((HpsortPublished) a, n, anywhere ?
								 (uint64_t) 1 << 32 : range + 2000))
						continue;
					/* what is not the point of a case goes round */
					if ((quick && d != (int) (mix64(seed / DISTRIBUTIONS) % DISTRIBUTIONS)) ||
						(n > 200000 && seed % 3 != 0))
					{
						seed++;
						continue;
					}
					try_recipe((HpsortPublished) a,
							   {(Distribution) d, n, range, lo, anywhere, seed},
							   (BoundsGiven) (seed % 3), seed / 3 % 2, seed / 7 % 4,
							   seed / 11 % 4);
					seed++;
				}
}

/* Both ends of int4, where keys wrap around if anything is signed too long. */
static void
test_ends(void)
{
	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
		for (uint64_t n : {(uint64_t) 10, (uint64_t) 5000, (uint64_t) 100001})
			for (int descending = 0; descending < 2; descending++)
			{
				if (!accepts((HpsortPublished) a, n, 1000))
					continue;
				try_recipe((HpsortPublished) a, {UNIFORM, n, 1000, INT32_MIN, false, n},
						   TIGHT, descending, 1, 2);
				try_recipe((HpsortPublished) a,
						   {ZIPF, n, 1000, INT32_MAX - 999, false, n}, SLACK,
						   descending, 2, 1);
			}
}

/* Distinct keys in a dense and a sparse range, and then one of them twice. */
static void
test_one_hp(bool quick)
{
	uint64_t	seed = 1;

	for (uint64_t n : {(uint64_t) 1, (uint64_t) 2, (uint64_t) 257, (uint64_t) 4096,
		 (uint64_t) 300001})
		for (uint32_t stretch : {1u, 2u, 4u, 1000u})
			for (int descending = 0; descending < 2; descending++)
			{
				std::vector<int32_t> keys(n);
				const int32_t lo = seed % 2 ? INT32_MIN : -5;
				const BoundsGiven bounds = (BoundsGiven) (seed % 3);

				if (quick && n > 5000)
					continue;
				for (uint64_t i = 0; i < n; i++)
					keys[i] = (int32_t) ((uint32_t) lo + (uint32_t) i * stretch);
				for (uint64_t i = n - 1; i > 0; i--)
					std::swap(keys[i], keys[mix64(seed * n + i) % (i + 1)]);
				current = "one_hp n " + std::to_string(n) + " stretch " +
					std::to_string(stretch) + " seed " + std::to_string(seed);
				try_keys(spec_of(HPSORT_PUBLISHED_ONE_HP, keys, bounds, descending),
						 keys, seed % 4, seed / 2 % 4);
				seed++;
				if (n < 2)
					continue;

				/* keys[0] twice; nothing but an error, which names it */
				Guarded<int32_t> input(n, 0);
				Guarded<int32_t> output(n, 0);
				HpsortPublishedSpec spec =
					spec_of(HPSORT_PUBLISHED_ONE_HP, keys, bounds, descending);

				keys[n / 2] = keys[0];
				if (n == 2)
					keys[1] = keys[0];
				input.put(keys);
				CHECK(published_now(context, spec, input.get(), nullptr, n,
											output.get(), nullptr, nullptr, nullptr,
											nullptr, &err) ==
					  HPSORT_CUDA_DUPLICATE);
				CHECK(err.key == keys[0]);
				CHECK(strstr(err.text, std::to_string(keys[0]).c_str()) != nullptr);
				CHECK(output.intact());
			}
}

/* A key outside the bounds is named, whatever else is wrong with the result. */
static void
test_outside(void)
{
	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
		for (int32_t stranger : {-1, 70000, INT32_MIN, INT32_MAX})
			for (uint64_t range : {(uint64_t) 1000, (uint64_t) 70000})
			{
				const uint64_t n = a == HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT ?
					600 : 5000;
				std::vector<int32_t> keys(n);
				Guarded<int32_t> input(n, 1);
				Guarded<int32_t> output(n, 1);
				HpsortPublishedSpec spec = {};

				for (uint64_t i = 0; i < n; i++)
					keys[i] = (int32_t) (a == HPSORT_PUBLISHED_ONE_HP ? i % range :
										 mix64(i) % range);
				keys[n * 2 / 3] = stranger;
				input.put(keys);
				spec.algorithm = (HpsortPublished) a;
				spec.bounds_known = 1;
				spec.hi = (int32_t) range - 1;
				spec.descending = stranger % 2 != 0;
				current = std::string(name_of(spec.algorithm)) + " outside " +
					std::to_string(stranger);
				CHECK(published_now(context, spec, input.get(), nullptr, n,
											output.get(), nullptr, nullptr, nullptr,
											nullptr, &err) ==
					  HPSORT_CUDA_OUT_OF_BOUNDS);
				CHECK(err.key == stranger && !err.sticky);
				CHECK(output.intact());
			}
}

static bool
refused(const HpsortPublishedSpec &spec, uint64_t n, const char *words)
{
	return hpsort::guarded(&err, [&] { hpsort::published::refuse(spec, n); }) ==
		HPSORT_CUDA_BAD_ARGUMENT && strstr(err.text, words) != nullptr;
}

static void
test_table(void)
{
	std::set<std::string> names;
	HpsortPublished found;
	HpsortPublishedSpec spec = {};

	current = "table";
	for (int i = 0; i < HPSORT_PUBLISHED_ALGORITHMS; i++)
	{
		names.insert(algorithms[i].name);
		CHECK(hpsort_published_by_name(algorithms[i].name, &found) && found == i);
		spec.algorithm = (HpsortPublished) i;
		spec.payload = false;
		CHECK(!refused(spec, algorithms[i].max_n, ""));
		CHECK(refused(spec, algorithms[i].max_n + 1, algorithms[i].name));
		spec.payload = true;
		CHECK(refused(spec, 10, "cannot return a permutation") ==
			  (algorithms[i].no_rows != nullptr));
	}
	CHECK(names.size() == HPSORT_PUBLISHED_ALGORITHMS);
	CHECK(!hpsort_published_by_name("bogosort", &found));

	current = "refusals";
	spec.algorithm = (HpsortPublished) 99;
	CHECK(refused(spec, 1, "no such algorithm"));
	spec.payload = false;

	/* a one-hot matrix of 2^20 keys and values is a terabyte */
	spec.algorithm = HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT;
	spec.bounds_known = true;
	spec.hi = (1 << 20) - 1;
	{
		Guarded<int32_t> memory(1 << 20, 0);
		Guarded<int32_t> out(1 << 20, 0);
		uint64_t	used;

		CUDA(cudaMemset(memory.get(), 0, 4 << 20));
		CHECK(published_now(context, spec, memory.get(), nullptr, 1 << 20, out.get(), nullptr,
							nullptr, nullptr, nullptr, &err) == HPSORT_CUDA_NO_MEMORY);
		CHECK(strstr(err.text, "comparison_free_onehot needs") != nullptr);
		hpsort_cuda_memory(context, &used, nullptr, 0);
		CHECK(used == 0);
	}
}

/*
 * Memory that runs out in the middle: others hold more and more of it, while
 * the need alone is within the limit.  Every try ends in an error with nothing
 * left behind, or in a right result.
 */
static void
test_memory(void)
{
	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
	{
		const uint64_t n = 3000;
		std::vector<int32_t> keys(n);
		Guarded<int32_t> input(n, 0);
		Guarded<int32_t> output(n, 0);
		HpsortPublishedSpec spec = {};
		int			errors = 0;
		int			results = 0;

		/* half of them the same, so that bucket_bitonic has to recurse */
		for (uint64_t i = 0; i < n; i++)
			keys[i] = (int32_t) (a == HPSORT_PUBLISHED_ONE_HP ? (i * 7) % n :
								 i % 2 ? 1000 + mix64(i) % 20 : mix64(i) % n);
		if (a == HPSORT_PUBLISHED_BUCKET_BITONIC)
			keys[0] = 2000000000;
		input.put(keys);
		spec.algorithm = (HpsortPublished) a;

		const Reference reference = refer(keys, false);
		HpsortPublishedSpec known = spec_of(spec.algorithm, keys, TIGHT, false);
		const uint64_t need =
			algorithms[a].need(known, n);

		current = std::string("memory ") + name_of(spec.algorithm);
		for (int k = 0; k <= 64; k++)
		{
			const uint64_t held = need * (uint64_t) k / 64 + 256;
			uint64_t	used;
			HpsortCudaCode code;

			set_memory_limit(context, need + 512);
			{
				hpsort::DeviceBuffer others(context, nullptr, held, "others");

				code = published_now(context, spec, input.get(), nullptr, n,
											 output.get(), nullptr, nullptr, nullptr,
											 nullptr, &err);
			}
			set_memory_limit(context, 0);
			hpsort_cuda_memory(context, &used, nullptr, 0);
			CHECK(used == 0);
			CHECK(code == HPSORT_CUDA_OK || code == HPSORT_CUDA_NO_MEMORY);
			if (code == HPSORT_CUDA_OK)
			{
				results++;
				CHECK(output.take(n) == reference.keys);
			}
			else
				errors++;
			CHECK(output.intact());
		}
		CHECK(errors > 0 && results > 0);
	}
}

/* On streams of their own at once, without waiting, with verdicts. */
static void
test_streams(void)
{
	const uint64_t n = 20011;
	const int	at_once = 6;
	std::vector<std::vector<int32_t>> keys(at_once);
	std::vector<std::unique_ptr<Guarded<int32_t>>> in(at_once);
	std::vector<std::unique_ptr<Guarded<int32_t>>> out(at_once);
	std::vector<cudaStream_t> streams(at_once);
	HpsortPublishedVerdict *verdicts;

	current = "streams";
	CUDA(cudaMallocHost((void **) &verdicts, at_once * sizeof(*verdicts)));
	for (int i = 0; i < at_once; i++)
	{
		const HpsortPublished algorithm = (HpsortPublished[]) {
			HPSORT_PUBLISHED_HP, HPSORT_PUBLISHED_COMPARISON_FREE,
			HPSORT_PUBLISHED_ZERO_COMPRESSED}[i % 3];
		HpsortPublishedSpec spec;

		keys[i] = make_keys({UNIFORM, n, 5000, -100, false, (uint64_t) i});
		/* the last one breaks its promise */
		spec = spec_of(algorithm, keys[i], TIGHT, i % 2);
		if (i == at_once - 1)
			keys[i][17] = 1 << 30;
		in[i].reset(new Guarded<int32_t>(n, i % 4));
		out[i].reset(new Guarded<int32_t>(n, (i + 1) % 4));
		in[i]->put(keys[i]);
		CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
		CUDA(cudaDeviceSynchronize());
		ENGINE(published_now(context, spec, in[i]->get(), nullptr, n,
									 out[i]->get(), nullptr, streams[i],
									 &verdicts[i], nullptr, &err));
	}
	for (int i = 0; i < at_once; i++)
	{
		CUDA(cudaStreamSynchronize(streams[i]));
		CUDA(cudaStreamDestroy(streams[i]));
		CHECK(out[i]->intact());
		if (i == at_once - 1)
		{
			CHECK(verdicts[i].keys.n_outside != 0 &&
				  verdicts[i].keys.key == 1 << 30);
			continue;
		}
		CHECK(verdicts[i].keys.n_outside == 0);
		CHECK(out[i]->take(n) == refer(keys[i], i % 2).keys);
	}
	CUDA(cudaFreeHost(verdicts));
}

static uint64_t
log_uniform(uint64_t h, uint64_t most)
{
	return (uint64_t) exp((double) (h >> 11) * 0x1p-53 * log((double) most + 1));
}

/* As in test_edges.cu: a shape is a function of the seed and its number. */
static void
try_random(uint64_t shapes, uint64_t seed)
{
	for (uint64_t i = 0; i < shapes; i++)
	{
		auto		draw = [&, k = (uint64_t) 0]() mutable {
			return mix64(seed * 1000003 + i * 64 + k++);
		};
		const HpsortPublished algorithm =
			(HpsortPublished) (draw() % HPSORT_PUBLISHED_ALGORITHMS);
		Recipe		recipe;

		recipe.n = log_uniform(draw(), draw() % 30 == 0 ? 2000000 : 40000);
		recipe.distinct = std::max<uint64_t>(
			log_uniform(draw(), draw() % 2 ? 100000 : (uint64_t) 1 << 32), 1);
		recipe.anywhere = draw() % 4 == 0;
		recipe.distribution = (Distribution) (draw() % DISTRIBUTIONS);
		recipe.lo = INT32_MIN + (int64_t) (draw() %
										   (((uint64_t) 1 << 32) - recipe.distinct + 1));
		recipe.seed = draw();
		if (accepts(algorithm, recipe.n,
					recipe.anywhere ? (uint64_t) 1 << 32 : recipe.distinct + 2000))
			try_recipe(algorithm, recipe, (BoundsGiven) (draw() % 3), draw() % 2,
					   draw() % 4, draw() % 4);
	}
}

/* Too large for the host; order and sum are checked on the device. */
static void
try_large(HpsortPublished algorithm, const Recipe &recipe, bool whole_type)
{
	HpsortPublishedSpec spec = {};
	int32_t    *keys;
	int32_t    *out;
	Audit	   *audits;
	Audit		result[2];

	spec.algorithm = algorithm;
	spec.bounds_known = 1;
	spec.lo = whole_type ? INT32_MIN : (int32_t) recipe.lo;
	spec.hi = whole_type ? INT32_MAX :
		(int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	describe(algorithm, recipe, TIGHT, false, 0, 0);
	CUDA(cudaMalloc(&keys, recipe.n * 4));
	CUDA(cudaMalloc(&out, recipe.n * 4));
	CUDA(cudaMalloc(&audits, sizeof(result)));
	CUDA(cudaMemset(audits, 0, sizeof(result)));
	CUDA(cudaMemset(out, 0xa5, recipe.n * 4));
	generate(recipe, keys);
	CUDA(cudaDeviceSynchronize());
	ENGINE(published_now(context, spec, keys, nullptr, recipe.n, out,
								 nullptr, nullptr, nullptr, nullptr, &err));
	audit_kernel<<<4096, 256>>>(keys, recipe.n, false, audits);
	audit_kernel<<<4096, 256>>>(out, recipe.n, false, audits + 1);
	CUDA(cudaMemcpy(result, audits, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(result[1].disorder == 0);
	CHECK(result[0].sum == result[1].sum);
	CUDA(cudaFree(keys));
	CUDA(cudaFree(out));
	CUDA(cudaFree(audits));
	ENGINE(hpsort_cuda_trim(context, &err));
}

static void
test_large(void)
{
	const uint64_t n = 100000000;
	const uint64_t all = (uint64_t) 1 << 32;

	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
	{
		const HpsortPublished algorithm = (HpsortPublished) a;

		if (algorithm == HPSORT_PUBLISHED_ONE_HP ||
			algorithm == HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT)
			continue;
		try_large(algorithm, {UNIFORM, n, 60000, -7, false, 1}, false);
		try_large(algorithm, {ZIPF, n, 5000000, -7, false, 2}, false);
		try_large(algorithm, {CONSTANT, n / 10, 5000000, -7, false, 3}, false);
		try_large(algorithm, {UNIFORM, n, all, INT32_MIN, true, 4}, true);
	}
}

static void
timed(const char *name, const std::function<void()> &test)
{
	const uint64_t before = checks;
	auto		start = std::chrono::steady_clock::now();

	test();
	printf("%-10s %9llu checks, %6.1f s\n", name,
		   (unsigned long long) (checks - before),
		   std::chrono::duration<double>(std::chrono::steady_clock::now() -
										 start).count());
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	bool		quick = false;
	bool		tiny = false;
	bool		large = false;
	uint64_t	shapes = 3000;
	uint64_t	seed = (uint64_t) time(nullptr);
	int			device = 0;
	uint64_t	used;

	for (int i = 1; i < argc; i++)
	{
		std::string arg = argv[i];

		if (arg == "--quick")
			quick = true;
		else if (arg == "--tiny")
			quick = tiny = true;
		else if (arg == "--large")
			large = true;
		else if (arg == "--shapes" && i + 1 < argc)
			shapes = strtoull(argv[++i], nullptr, 10);
		else if (arg == "--seed" && i + 1 < argc)
			seed = strtoull(argv[++i], nullptr, 10);
		else if (arg == "--device" && i + 1 < argc)
			device = atoi(argv[++i]);
		else
		{
			fprintf(stderr, "usage: %s [--quick | --tiny] [--shapes n] [--seed n] "
					"[--large] [--device n]\n", argv[0]);
			return 2;
		}
	}
	current = "open";
	CUDA(cudaSetDevice(device));
	if (!CHECK(hpsort_cuda_open(device, 0, &context, &err) == HPSORT_CUDA_OK))
		return 1;
	timed("table", [&] { test_table(); });
	timed("shapes", [&] { test_shapes(quick, tiny); });
	timed("bitonic", [&] { test_published_bitonic(quick, tiny, seed); });
	timed("jobs", [&] { test_published_jobs(quick, tiny); });
	if (!tiny)
	{
		timed("one_hp", [&] { test_one_hp(quick); });
		timed("cancel", [&] { test_published_cancel(quick, seed); });
		timed("outside", [&] { test_outside(); });
	}
	if (!quick)
	{
		timed("ends", [&] { test_ends(); });
		timed("memory", [&] { test_memory(); });
		timed("streams", [&] { test_streams(); });
	}
	printf("random: --shapes %llu --seed %llu\n", (unsigned long long) shapes,
		   (unsigned long long) seed);
	timed("random", [&] { try_random(shapes, seed); });
	timed("paths", [&] { test_published_paths(quick, tiny, seed); });
	if (large)
		timed("large", [&] { test_large(); });

	current = "close";
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == 0);
	hpsort_cuda_close(context);
	printf("%llu checks, %llu failures\n", (unsigned long long) checks,
		   (unsigned long long) failures);
	return failures == 0 ? 0 : 1;
}
