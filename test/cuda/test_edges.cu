/*-------------------------------------------------------------------------
 *
 * test_edges.cu
 *	  Jobs over keys in device memory: sizes, bounds and distributions at and around
 *	  the places where one regime takes over from another; errors; random shapes;
 *	  sizes beyond 32 bits.
 *
 *-------------------------------------------------------------------------
 */
#include "check.cuh"
#include "regime.h"

static uint64_t seen[HPSORT_CUDA_REGIMES];

/* bounds: 0 unknown, 1 tight, 2 wider than the keys by slack on each side; in, to:
 * offsets of the arrays. */
static void
try_keys(const std::vector<int32_t> &keys, const std::string &name, int bounds,
		 bool descending, uint32_t in, uint32_t to, bool permute)
{
	const Reference reference = refer(keys, descending);
	Guarded<int32_t> input(keys.size(), in);
	Guarded<int32_t> output(keys.size(), to);
	HpsortCudaSpec spec = {};
	HpsortCudaResult result;
	uint64_t	peak;
	uint64_t	used;

	spec.bounds_known = bounds != 0;
	spec.descending = descending;
	spec.lo = INT32_MIN;
	spec.hi = INT32_MAX;
	if (!keys.empty() && bounds != 0)
	{
		int64_t		slack = bounds == 2 ? 1000 : 0;
		int64_t		lo = *std::min_element(keys.begin(), keys.end()) - slack;
		int64_t		hi = *std::max_element(keys.begin(), keys.end()) + slack;

		spec.lo = (int32_t) std::max<int64_t>(lo, INT32_MIN);
		spec.hi = (int32_t) std::min<int64_t>(hi, INT32_MAX);
	}
	input.put(keys);
	current = "sort " + name + (descending ? " descending" : "") + " bounds " +
		std::to_string(bounds) + " offsets " + std::to_string(in) + " " + std::to_string(to);
	spec.wanted = HPSORT_CUDA_KEYS;
	hpsort_cuda_memory(context, &used, &peak, 1);
	ENGINE(sort_by_job(context, spec, input.get(), keys.size(), output.get(), nullptr, &result));
	hpsort_cuda_memory(context, nullptr, &peak, 1);
	current += std::string(" -> ") + regime_names[result.regime];
	seen[result.regime]++;
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(output.intact());
	CHECK(peak - used <= regime_job_need(&context->limits, &spec, keys.size()));
	if (!permute)
		return;

	Guarded<uint32_t> rows(keys.size(), to);

	current += " permutation";
	spec.wanted = HPSORT_CUDA_PERMUTATION;
	ENGINE(sort_by_job(context, spec, input.get(), keys.size(), nullptr, rows.get(), &result));
	hpsort_cuda_memory(context, nullptr, &peak, 1);
	current += std::string(" -> ") + regime_names[result.regime];
	CHECK(rows.take(keys.size()) == reference.rows);
	CHECK(rows.intact());
	CHECK(peak - used <= regime_job_need(&context->limits, &spec, keys.size()));
}

static void
try_sort(const Recipe &recipe, int bounds, bool descending, uint32_t in,
		 uint32_t to, bool permute)
{
	char		name[256];

	snprintf(name, sizeof(name), "n %llu distinct %llu lo %lld %s%s without %#x seed %llu",
			 (unsigned long long) recipe.n, (unsigned long long) recipe.distinct,
			 (long long) recipe.lo, distribution_names[recipe.distribution],
			 recipe.anywhere ? " anywhere" : "", recipe.common,
			 (unsigned long long) recipe.seed);
	try_keys(make_keys(recipe), name, bounds, descending, in, to, permute);
}

/* A range that fills its bits, with the key that comes last at the end: the one
 * that could be taken for what a tile is filled up with. */
static void
try_last_of_all(uint64_t n, uint32_t bits, int32_t lo, int bounds, bool descending,
				uint64_t seed)
{
	std::vector<int32_t> keys = make_keys({UNIFORM, n, (uint64_t) 1 << bits, lo, false, seed});
	const int32_t hi = (int32_t) (lo + ((int64_t) 1 << bits) - 1);

	keys.front() = descending ? hi : lo;
	keys.back() = descending ? lo : hi;
	try_keys(keys, "n " + std::to_string(n) + " filling " + std::to_string(bits) +
			 " bits, seed " + std::to_string(seed), bounds, descending, 0, 0, true);
}

/* A key outside the bounds is named, whatever regime the bounds are for. */
static void
try_outside(uint64_t n, uint64_t distinct, bool few, int32_t stranger)
{
	Recipe		recipe = {UNIFORM, n, distinct, 0, false, 5};
	std::vector<int32_t> keys = make_keys(recipe);
	Guarded<int32_t> input(n, 0);
	Guarded<int32_t> output(n, 0);
	Guarded<uint32_t> rows(n, 0);
	HpsortCudaSpec spec = {};
	int			stretch = few ? 100000 : 1;

	/* few values far apart: beyond shared memory, but hashed */
	for (int32_t &key : keys)
		key *= stretch;
	keys[n * 2 / 3] = stranger;
	current = "outside n " + std::to_string(n) + " distinct " +
		std::to_string(distinct);
	spec.bounds_known = 1;
	spec.lo = 0;
	spec.hi = (int32_t) ((distinct - 1) * stretch);
	input.put(keys);
	CHECK(sort_by_job(context, spec, input.get(), n, output.get(), nullptr, nullptr) ==
		  HPSORT_CUDA_OUT_OF_BOUNDS);
	CHECK(err.key == stranger && !err.sticky);
	CHECK(strstr(err.text, std::to_string(stranger).c_str()) != nullptr);
	CHECK(output.intact());
	CHECK(sort_by_job(context, spec, input.get(), n, nullptr, rows.get(), nullptr) ==
		  HPSORT_CUDA_OUT_OF_BOUNDS);
	CHECK(err.key == stranger);
	CHECK(rows.intact());
}

/* Refusals come before anything is launched, and name what is wrong. */
static void
test_errors(void)
{
	HpsortCudaSpec spec = {};
	HpsortCuda *other;
	HpsortCudaJob *job;
	Guarded<int32_t> memory(100, 0);

	current = "errors";
	CHECK(hpsort_cuda_open(1000, 0, &other, &err) == HPSORT_CUDA_NO_DEVICE);
	CHECK(err.text[0] != '\0' && other == nullptr);
	CHECK(hpsort_cuda_open(-1, 0, &other, nullptr) == HPSORT_CUDA_NO_DEVICE);
	spec.bounds_known = 1;
	spec.lo = 5;
	spec.hi = 4;
	spec.wanted = HPSORT_CUDA_KEYS;
	CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	spec.bounds_known = 0;
	for (uint32_t wanted : {0, 64})
	{
		spec.wanted = wanted;
		CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	}
	CHECK(sort_by_job(context, spec, nullptr, 10, memory.get(), nullptr, nullptr) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(sort_by_job(context, spec, (int32_t *) ((char *) memory.get() + 1), 10, memory.get(),
					  nullptr, nullptr) == HPSORT_CUDA_BAD_ARGUMENT);
	for (int32_t stranger : {-1, 1000000000, INT32_MIN, INT32_MAX})
	{
		try_outside(50000, 1000, false, stranger);
		try_outside(3000000, 50000, false, stranger);
		try_outside(3000000, 1000000, false, stranger);
		try_outside(50000, 1000000, false, stranger);
		try_outside(3000000, 5000, true, stranger);
		/* bins of one value and of many */
		for (uint64_t n : {1, 300, 20000, 600000, 1200000})
			for (uint64_t distinct : {1, 300, 40000, 1000000})
				try_outside(n, distinct, false, stranger);
	}
}

/*
 * Rows in the order of (key, row) without a repetition, each of them one of n:
 * that is the stable permutation.
 */
static __global__ void
audit_rows_kernel(const int32_t *keys, const uint32_t *rows, uint64_t n, bool descending,
				  unsigned long long *wrong)
{
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
		 i + 1 < n; i += step)
	{
		const uint32_t a = rows[i];
		const uint32_t b = rows[i + 1];

		if (a >= n || b >= n ||
			(descending ? keys[a] < keys[b] : keys[a] > keys[b]) ||
			(keys[a] == keys[b] && a >= b))
			atomicAdd(wrong, 1ull);
	}
}

/* How many neighbours are not in that order. */
static unsigned long long
rows_wrong(const int32_t *keys, const uint32_t *rows, uint64_t n, bool descending)
{
	unsigned long long *wrong;
	unsigned long long result = 0;

	CUDA(cudaMalloc(&wrong, sizeof(*wrong)));
	CUDA(cudaMemset(wrong, 0, sizeof(*wrong)));
	audit_rows_kernel<<<4096, 256>>>(keys, rows, n, descending, wrong);
	CUDA(cudaMemcpy(&result, wrong, sizeof(result), cudaMemcpyDeviceToHost));
	CUDA(cudaFree(wrong));
	return result;
}

/* As in test_regimes(), what is not the point of a case goes round. */
void
test_edges(bool quick)
{
	const HpsortCudaLimits *limits = &context->limits;
	const uint64_t bins = regime_shared_bins(limits);
	const uint64_t million = (uint64_t) 1 << 20;
	std::vector<uint64_t> sizes = {0, 1, 2, 3, 4, 5, 127, 4097};
	std::vector<uint64_t> large = {million - 1, million};
	uint64_t	seed = 1000;

	test_errors();
	if (!quick)
	{
		sizes.insert(sizes.end(), {6, 7, 15, 16, 17, 31, 32, 33, 128, 129, 511, 512,
					 513, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 4095, 4096, 4608,
					 4609, 4864, 4865, 8191, 8192, 8193, 10240, 10241, 16383, 16384, 16385, 65535,
					 65536, 65537, 262143, million / 2, million / 2 + 1});
		large.insert(large.end(), {million + 1, 2 * million, 2 * million + 1,
					 4 * million - 1, 4 * million, 4 * million + 3});
	}
	for (uint64_t n : sizes)
		for (int d = 0; d < DISTRIBUTIONS; d++)
			for (uint64_t distinct : {(uint64_t) 1, (uint64_t) 1000, bins, bins + 1,
				 (uint64_t) 1 << 32})
			{
				const bool	anywhere = distinct > bins + 1;

				try_sort({(Distribution) d, n, distinct, -500, anywhere, seed},
						 (int) (seed % 3), seed / 3 % 2, seed / 7 % 4,
						 seed / 11 % 4, true);
				seed++;
			}

	/* the ends of int32 */
	for (uint64_t n : {(uint64_t) 10, (uint64_t) 5000, million + 7})
		for (int bounds = 0; bounds < (quick ? 1 : 3); bounds++)
		{
			try_sort({UNIFORM, n, 1000, INT32_MIN, false, seed++}, bounds, false, 1,
					 2, true);
			try_sort({UNIFORM, n, 1000, INT32_MAX - 999, false, seed++}, bounds,
					 true, 2, 1, true);
			try_sort({UNIFORM, n, (uint64_t) 1 << 32, INT32_MIN, false, seed++},
					 bounds, bounds == 1, 0, 3, true);
		}

	/* tiles that are not full, of each shape that the sort of few keys has */
	for (uint64_t tile : {1024, 65536, 131072, 262144, 524288})
		for (uint64_t missing : {1, 15, 31})
			for (uint32_t bits : {8, 9, 16, 18, 24, 27})
				for (int turn = 0; turn < 4; turn++)
					try_last_of_all(tile - missing, bits, bits == 16 ? -32768 : -5,
									turn / 2, turn % 2, seed++);

	/* digits that are the same in all keys between others that are not */
	for (uint64_t n : {million / 2 + 5, million, 3 * million})
		for (uint32_t common : {0x0000ff00u, 0x00ff0000u, 0x00ffff00u, 0xff00ff00u})
		{
			try_sort({UNIFORM, n, (uint64_t) 1 << 32, INT32_MIN, false, seed, common},
					 seed % 2, seed / 3 % 2, 0, 0, true);
			seed++;
		}

	/* bins of inputs so long that part of them is drawn tile by tile, of one batch and of
	 * several */
	for (uint64_t distinct : {(uint64_t) 1000, (uint64_t) 5000, (uint64_t) 12288,
		 (uint64_t) 12289, bins})
		if (!quick)
		{
			try_sort({(Distribution) (seed % ALL_DISTRIBUTIONS), 30000000 + seed % 9, distinct,
					 -9, false, seed}, 1, seed / 3 % 2, seed / 7 % 4, seed / 11 % 4, false);
			seed++;
		}

	/* where the regimes meet, seen from both sides */
	for (uint64_t n : large)
		for (int d = 0; d < DISTRIBUTIONS; d++)
		{
			if (quick && d != UNIFORM && d != ZIPF)
				continue;
			for (uint64_t distinct : {bins - 1, bins, bins + 1, bins * 2, n, n * 4 - 1,
				 n * 4 + 4, (uint64_t) 1 << 24})
			{
				if (quick && distinct > n)
					continue;
				try_sort({(Distribution) d, n, distinct, -40000, false, seed},
						 1 + (int) (seed % 2), seed / 3 % 2, seed / 7 % 4,
						 seed / 11 % 4, seed % 4 == 0);
				seed++;
			}
			for (uint64_t distinct : {(uint64_t) 100, (uint64_t) 8192,
				 (uint64_t) 10000, (uint64_t) 17000, (uint64_t) 65536,
				 (uint64_t) 200000})
			{
				if (quick && distinct > 8192)
					continue;
				try_sort({(Distribution) d, n, distinct, 0, true, seed},
						 (int) (seed % 2), seed / 3 % 2, seed / 7 % 4,
						 seed / 11 % 4, seed % 4 < 2);
				seed++;
			}
		}
	/*
	 * Values that are heavy, far apart or in order, in every kernel: sizes of one block, of
	 * a grid, of bins, partitions, passes and samples; ranges of a digit, of bins, of buckets.
	 */
	for (uint64_t n : {(uint64_t) 3000, (uint64_t) 30011, (uint64_t) 300007, 3 * million,
		 4 * million + 7})
		for (int d = DISTRIBUTIONS; d < ALL_DISTRIBUTIONS; d++)
			for (uint64_t distinct : {(uint64_t) 200, (uint64_t) 8000, bins - 7, bins + 7, n, 3 * n,
				 (uint64_t) 1 << 32})
			{
				if ((quick && (n > million || seed % 3 != 0)) || (n > million && seed % 2 != 0))
				{
					seed++;
					continue;
				}
				try_sort({(Distribution) d, n, distinct,
						 distinct >> 32 != 0 ? INT32_MIN : -300, false, seed},
						 (int) (seed / 2 % 3), seed / 3 % 2, seed / 7 % 4, seed / 11 % 4, true);
				seed++;
			}
	/* the only regime that is found by a sample, and so not below 2^22 keys */
	try_sort({UNIFORM, 4 * million, 1000, 0, true, seed++}, 0, false, 0, 0, quick);
	current = "coverage";
	for (int r = HPSORT_CUDA_NOTHING; r < HPSORT_CUDA_REGIMES; r++)
		CHECK(seen[r] > 0);
	printf("regimes seen: shared_histogram %llu, partition %llu, few_distinct %llu, "
		   "radix %llu\n",
		   (unsigned long long) seen[HPSORT_CUDA_SHARED_HISTOGRAM],
		   (unsigned long long) seen[HPSORT_CUDA_PARTITION],
		   (unsigned long long) seen[HPSORT_CUDA_FEW_DISTINCT],
		   (unsigned long long) seen[HPSORT_CUDA_RADIX]);
}

/* Sizes and ranges with every order of magnitude equally likely. */
static uint64_t
log_uniform(uint64_t h, uint64_t most)
{
	double		u = (double) (h >> 11) * 0x1p-53;

	return (uint64_t) exp(u * log((double) most + 1));
}

/*
 * A shape is a function of the seed and its number, so that one failing case
 * can be repeated by itself.
 */
void
test_random(uint64_t shapes, uint64_t seed)
{
	for (uint64_t i = 0; i < shapes; i++)
	{
		auto		draw = [&, k = (uint64_t) 0]() mutable {
			return mix64(seed * 1000003 + i * 64 + k++);
		};
		const bool	large = draw() % 50 == 0;
		Recipe		recipe;

		recipe.n = log_uniform(draw(), large ? 4000000 : 60000);
		recipe.distinct = log_uniform(draw(), draw() % 2 ? 100000 :
									  (uint64_t) 1 << 32);
		recipe.distinct = std::max<uint64_t>(recipe.distinct, 1);
		recipe.anywhere = draw() % 3 == 0;
		recipe.distribution = (Distribution) (draw() % ALL_DISTRIBUTIONS);
		/* all values fit between lo and INT32_MAX */
		recipe.lo = INT32_MIN + (int64_t) (draw() %
										   (((uint64_t) 1 << 32) - recipe.distinct + 1));
		recipe.seed = draw();
		try_sort(recipe, (int) (draw() % 3), draw() % 2, draw() % 4, draw() % 4,
				 draw() % 2);
	}
}

/* More keys than 32 bits count; checked on the device.  The keys go when the job has its
 * copy, so that a device of 80 GB has room for the rest. */
static void
try_huge(const Recipe &recipe, bool bounds_known)
{
	HpsortCudaSpec spec = {};
	HpsortCudaResult result;
	HpsortCudaJob *job;
	int32_t    *keys;
	int32_t    *out;
	Audit	   *audits;
	Audit		sums[2];

	spec.bounds_known = bounds_known;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	spec.n_hint = recipe.n;
	spec.wanted = HPSORT_CUDA_KEYS;
	current = "huge n " + std::to_string(recipe.n) + " distinct " +
		std::to_string(recipe.distinct) + " " +
		distribution_names[recipe.distribution];
	CUDA(cudaMalloc(&audits, sizeof(sums)));
	CUDA(cudaMemset(audits, 0, sizeof(sums)));
	CUDA(cudaMalloc(&keys, recipe.n * 4));
	generate(recipe, keys);
	audit_kernel<<<4096, 256>>>(keys, recipe.n, false, audits);
	CUDA(cudaDeviceSynchronize());
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	ENGINE(hpsort_cuda_job_add(job, keys, recipe.n, nullptr, &err));
	ENGINE(hpsort_cuda_job_consumed(job, 1, nullptr, &err));
	CUDA(cudaFree(keys));
	ENGINE(hpsort_cuda_job_finish(job, &result, &err));
	ENGINE(hpsort_cuda_trim(context, &err));
	CUDA(cudaMalloc(&out, recipe.n * 4));
	CUDA(cudaMemset(out, 0xa5, recipe.n * 4));
	ENGINE(hpsort_cuda_job_read_keys(job, 0, recipe.n, 0, out, &err));
	hpsort_cuda_job_close(job);
	audit_kernel<<<4096, 256>>>(out, recipe.n, false, audits + 1);
	CUDA(cudaMemcpy(sums, audits, sizeof(sums), cudaMemcpyDeviceToHost));
	CHECK(sums[1].disorder == 0);
	CHECK(sums[0].sum == sums[1].sum);
	printf("%s -> %s: %llu out of order, sums %s\n", current.c_str(),
		   regime_names[result.regime], sums[1].disorder,
		   sums[0].sum == sums[1].sum ? "equal" : "differ");
	fflush(stdout);
	CUDA(cudaFree(out));
	CUDA(cudaFree(audits));
	ENGINE(hpsort_cuda_trim(context, &err));
}

/* Passes take 2^30 rows at a time, and words between them 2^24: more of both. */
static void
try_huge_permutation(const Recipe &recipe)
{
	HpsortCudaSpec spec = {};
	HpsortCudaResult result;
	int32_t    *keys;
	uint32_t   *rows;
	unsigned long long wrong;

	spec.bounds_known = !recipe.anywhere;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	CUDA(cudaMalloc(&keys, recipe.n * 4));
	CUDA(cudaMalloc(&rows, recipe.n * 4));
	CUDA(cudaMemset(rows, 0xa5, recipe.n * 4));
	generate(recipe, keys);
	CUDA(cudaDeviceSynchronize());
	current = "huge permutation n " + std::to_string(recipe.n) + " distinct " +
		std::to_string(recipe.distinct) + " " +
		distribution_names[recipe.distribution];
	ENGINE(sort_by_job(context, spec, keys, recipe.n, nullptr, rows, &result));
	wrong = rows_wrong(keys, rows, recipe.n, false);
	CHECK(wrong == 0);
	printf("%s -> %s: %llu out of order\n", current.c_str(), regime_names[result.regime], wrong);
	fflush(stdout);
	CUDA(cudaFree(keys));
	CUDA(cudaFree(rows));
	ENGINE(hpsort_cuda_trim(context, &err));
}

/* Beyond 2^31 in every regime, beyond 2^32 where the regime goes that far. */
void
test_huge(void)
{
	const uint64_t large = 3000000000u;
	const uint64_t larger = 4500000000u;

	try_huge({UNIFORM, large, 1000, -500, false, 1}, true);
	try_huge({ZIPF, large, 50000, 0, false, 2}, false);
	try_huge({UNIFORM, large, 5000, 0, true, 3}, false);
	try_huge({UNIFORM, large, 10000000, -5000000, false, 4}, true);
	try_huge({UNIFORM, large, (uint64_t) 1 << 32, 0, true, 5}, false);
	/* the most keys of a partition, in their buckets' own extents and in more */
	try_huge({UNIFORM, 1000000000, 100000000, -5000000, false, 14}, true);
	try_huge({ZIPF, 1000000000, 100000000, -5000000, false, 15}, true);
	try_huge({CONSTANT, larger, 1000, -500, false, 6}, true);
	try_huge({UNIFORM, larger, 50000, 0, false, 7}, true);
	try_huge({CONSTANT, larger, 5000, 0, true, 8}, false);
	try_huge({UNIFORM, larger, (uint64_t) 1 << 32, 0, true, 9}, false);
	try_huge_permutation({UNIFORM, large, 200, -100, false, 10});
	try_huge_permutation({ZIPF, large, 50000, 0, false, 11});
	try_huge_permutation({UNIFORM, large, 5000, 0, true, 12});
	try_huge_permutation({UNIFORM, large / 2, (uint64_t) 1 << 32, 0, true, 13});
}
