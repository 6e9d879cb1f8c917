/*-------------------------------------------------------------------------
 *
 * test_edges.cu
 *	  The public device-to-device functions: sizes, bounds and distributions at
 *	  and around the places where one regime takes over from another; errors;
 *	  random shapes; sizes beyond 32 bits.
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
	RegimeChoice choice;
	uint64_t	peak;

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
	hpsort_cuda_memory(context, nullptr, &peak, 1);
	current = "sort " + name + (descending ? " descending" : "") + " bounds " +
		std::to_string(bounds) + " offsets " + std::to_string(in) + " " + std::to_string(to);
	ENGINE(hpsort_cuda_sort(context, &spec, input.get(), keys.size(),
							output.get(), nullptr, nullptr, &choice, &err));
	current += std::string(" -> ") + regime_name(choice.regime);
	seen[choice.regime]++;
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(output.intact());
	spec.wanted = HPSORT_CUDA_KEYS;
	hpsort_cuda_memory(context, nullptr, &peak, 1);
	CHECK(peak <= hpsort_cuda_sort_need(hpsort_cuda_limits(context), &spec,
										keys.size()) || keys.empty());
	if (!permute)
		return;

	Guarded<uint32_t> rows(keys.size(), to);

	current += " permutation";
	ENGINE(hpsort_cuda_permutation(context, &spec, input.get(), keys.size(),
								   rows.get(), nullptr, nullptr, &choice, &err));
	current += std::string(" -> ") + regime_name(choice.regime);
	CHECK(rows.take(keys.size()) == reference.rows);
	CHECK(rows.intact());
	spec.wanted = HPSORT_CUDA_PERMUTATION;
	hpsort_cuda_memory(context, nullptr, &peak, 1);
	CHECK(peak <= hpsort_cuda_sort_need(hpsort_cuda_limits(context), &spec,
										keys.size()) || keys.empty());
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

/* A key outside the bounds is named, in every regime. */
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
	CHECK(hpsort_cuda_sort(context, &spec, input.get(), n, output.get(), nullptr,
						   nullptr, nullptr, &err) == HPSORT_CUDA_OUT_OF_BOUNDS);
	CHECK(err.key == stranger && !err.sticky);
	CHECK(strstr(err.text, std::to_string(stranger).c_str()) != nullptr);
	CHECK(output.intact());
	CHECK(hpsort_cuda_permutation(context, &spec, input.get(), n, rows.get(),
								  nullptr, nullptr, nullptr, &err) ==
		  HPSORT_CUDA_OUT_OF_BOUNDS);
	CHECK(err.key == stranger);
	CHECK(rows.intact());

	/* left to the caller's verdict, it is no error of the call */
	HpsortCudaVerdict *verdict;

	ENGINE(hpsort_cuda_pinned_alloc(context, sizeof(*verdict), (void **) &verdict,
									&err));
	memset(verdict, 0xa5, sizeof(*verdict));
	ENGINE(hpsort_cuda_permutation(context, &spec, input.get(), n, rows.get(),
								   nullptr, verdict, nullptr, &err));
	CUDA(cudaDeviceSynchronize());
	CHECK(verdict->n_outside != 0 && verdict->key == stranger);
	CHECK(rows.intact());
	memset(verdict, 0xa5, sizeof(*verdict));
	ENGINE(hpsort_cuda_sort(context, &spec, input.get(), n, output.get(), nullptr,
							verdict, nullptr, &err));
	CUDA(cudaDeviceSynchronize());
	CHECK(verdict->n_outside != 0 && verdict->key == stranger);
	CHECK(output.intact());
	hpsort_cuda_pinned_free(context, verdict);
}

/* Refusals come before anything is launched, and name what is wrong. */
static void
test_errors(void)
{
	HpsortCudaSpec spec = {};
	HpsortCuda *other;
	Guarded<int32_t> memory(100, 0);

	current = "errors";
	CHECK(hpsort_cuda_open(1000, 0, &other, &err) == HPSORT_CUDA_NO_DEVICE);
	CHECK(err.text[0] != '\0' && other == nullptr);
	CHECK(hpsort_cuda_open(-1, 0, &other, nullptr) == HPSORT_CUDA_NO_DEVICE);
	spec.bounds_known = 1;
	spec.lo = 5;
	spec.hi = 4;
	CHECK(hpsort_cuda_sort(context, &spec, memory.get(), 10, memory.get(), nullptr,
						   nullptr, nullptr, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	spec.bounds_known = 0;
	CHECK(hpsort_cuda_sort(context, &spec, nullptr, 10, memory.get(), nullptr,
						   nullptr, nullptr, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(hpsort_cuda_sort(context, &spec, (int32_t *) ((char *) memory.get() + 1),
						   10, memory.get(), nullptr, nullptr, nullptr, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	spec.wanted = 64;
	CHECK(hpsort_cuda_sort(context, &spec, memory.get(), 10, memory.get(), nullptr,
						   nullptr, nullptr, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	for (int32_t stranger : {-1, 1000000000, INT32_MIN, INT32_MAX})
	{
		try_outside(50000, 1000, false, stranger);
		try_outside(3000000, 50000, false, stranger);
		try_outside(3000000, 1000000, false, stranger);
		try_outside(50000, 1000000, false, stranger);
		try_outside(3000000, 5000, true, stranger);
		/* every kernel that takes few keys, with bins of one value and of many */
		for (uint64_t n : {1, 300, 1000, 2000, 3000, 4000, 5000, 8000, 10000, 20000,
			 600000, 1200000})
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

/*
 * Permutations of values that are ranked by a table, which only many keys are; on the
 * device, as bringing them to the host takes longer than anything else here.  A
 * stranger occurs once, so that a sample misses it: it is one more value, or, after
 * 65,535 and the one that marks empty slots, one too many.
 */
static void
try_many_distinct(uint32_t values, bool descending, bool stranger, bool job,
				  uint32_t wanted)
{
	const uint64_t n = 50000000 + 3;
	const HpsortCudaLimits *limits = hpsort_cuda_limits(context);
	const RegimeShape shape = {n, INT32_MIN, INT32_MAX, 0, values,
		wanted | HPSORT_CUDA_AT_ONCE, 0};
	const int32_t strange = (int32_t) mix32(values);
	HpsortCudaSpec spec = {};
	RegimeChoice choice;
	HpsortCudaRegime regime;
	HpsortCudaRegime expected;
	std::string reason;
	uint64_t	peak;
	int32_t    *memory;
	uint32_t   *rows;

	regime_choose(limits, &shape, &choice);
	expected = choice.regime;
	CUDA(cudaMalloc(&memory, (n + 1) * 4));
	CUDA(cudaMalloc(&rows, n * 4));
	CUDA(cudaMemset(rows, 0xa5, n * 4));

	int32_t    *keys = memory + 1;

	generate({UNIFORM, n, values, 0, true, 4711}, keys);
	/* the key that marks empty slots */
	CUDA(cudaMemset(keys + n / 2, 0xff, 4000000));
	if (stranger)
		CUDA(cudaMemcpy(keys + n / 3, &strange, 4, cudaMemcpyHostToDevice));
	CUDA(cudaDeviceSynchronize());
	spec.descending = descending;
	spec.wanted = wanted;
	current = std::string(job ? "job of " : "") + std::to_string(values) + " values" +
		(stranger ? " and one more" : "") + (descending ? " descending" : "");
	hpsort_cuda_memory(context, nullptr, &peak, 1);
	if (job)
	{
		HpsortCudaJob *handle;
		HpsortCudaResult result;

		spec.n_hint = n;
		ENGINE(hpsort_cuda_job_open(context, &spec, &handle, &err));
		ENGINE(hpsort_cuda_job_add(handle, keys, n, nullptr, &err));
		ENGINE(hpsort_cuda_job_finish(handle, &result, &err));
		ENGINE(hpsort_cuda_job_read_permutation(handle, 0, n, rows, &err));
		hpsort_cuda_job_close(handle);
		regime = result.regime;
		reason = result.reason;
	}
	else
	{
		ENGINE(hpsort_cuda_permutation(context, &spec, keys, n, rows, nullptr, nullptr,
									   &choice, &err));
		CUDA(cudaDeviceSynchronize());
		regime = choice.regime;
		reason = choice.reason;
	}
	hpsort_cuda_memory(context, nullptr, &peak, 1);
	CHECK(peak <= (job ? hpsort_cuda_job_need(limits, &spec, n) :
				   hpsort_cuda_sort_need(limits, &spec, n)));
	current += std::string(" -> ") + regime_name(regime) + ", " + reason;
	CHECK(rows_wrong(keys, rows, n, descending) == 0);
	if (stranger && values == 65535 && expected == HPSORT_CUDA_MANY_DISTINCT)
	{
		CHECK(regime == HPSORT_CUDA_RADIX);
		CHECK(reason.find("not as estimated") != std::string::npos);
	}
	else
		CHECK(regime == expected);
	seen[regime]++;

	/* about half of the keys lie outside */
	if (!job)
	{
		spec.bounds_known = 1;
		spec.hi = INT32_MAX;
		CHECK(hpsort_cuda_permutation(context, &spec, keys, n, rows, nullptr, nullptr,
									  &choice, &err) == HPSORT_CUDA_OUT_OF_BOUNDS);
		CHECK(err.key < 0);
	}
	CUDA(cudaFree(memory));
	CUDA(cudaFree(rows));
	ENGINE(hpsort_cuda_trim(context, &err));
}

/* Each way of it, and what is no way to it. */
static void
test_many_distinct(bool quick)
{
	try_many_distinct(50000, false, false, false, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(50000, true, true, false, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(65535, true, true, false, HPSORT_CUDA_PERMUTATION);
	if (quick)
		return;
	try_many_distinct(50000, true, false, true, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(50000, false, true, true, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(5000, false, true, true, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(5000, true, true, false, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(65535, false, false, true, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(65535, false, true, true, HPSORT_CUDA_PERMUTATION);
	try_many_distinct(50000, false, false, true, HPSORT_CUDA_PERMUTATION | HPSORT_CUDA_KEYS);
	try_many_distinct(50000, false, false, true, HPSORT_CUDA_PERMUTATION | HPSORT_CUDA_RUNS);
}

/* As in test_regimes(), what is not the point of a case goes round. */
void
test_edges(bool quick)
{
	const HpsortCudaLimits *limits = hpsort_cuda_limits(context);
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

	/* tiles that are not full, of each shape that a single block has */
	for (uint64_t tile : {512, 1024, 2048, 3072, 4096, 4608, 4864, 8192, 10240})
		for (uint64_t missing : {1, 15, 31})
			for (uint32_t bits : {8, 9, 16, 18, 24, 27})
				for (int turn = 0; turn < 4; turn++)
					try_last_of_all(tile - missing, bits, bits == 16 ? -32768 : -5,
									turn / 2, turn % 2, seed++);

	/*
	 * Passes that leave themselves out between others that do not, in a sort of few
	 * keys: what a pass leaves in the look-back must not be taken for the next one's.
	 * That is a question of which tile is first, and so asked more than once.
	 */
	for (uint64_t n : {million / 2 + 5, million, 3 * million})
		for (uint32_t common : {0x0000ff00u, 0x00ff0000u, 0x00ffff00u, 0xff00ff00u})
			for (int turn = 0; turn < (quick ? 2 : 8); turn++)
			{
				try_sort({UNIFORM, n, (uint64_t) 1 << 32, INT32_MIN, false, seed, common},
						 turn % 2, seed / 3 % 2, 0, 0, true);
				seed++;
			}

	/* bounds found after digits have been counted without: of two ways begun, one is kept */
	if (!quick)
		try_sort({UNIFORM, 99278856, 133088432, 0, false, seed++}, 0, false, 0, 0, false);

	/* bins of inputs so long that part of them is drawn tile by tile, scanned by the
	 * batch, at once, and by the batch again */
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
	test_many_distinct(quick);
	current = "coverage";
	for (int r = HPSORT_CUDA_NOTHING; r < HPSORT_CUDA_REGIMES; r++)
		CHECK(seen[r] > 0 || (r == HPSORT_CUDA_MANY_DISTINCT && limits->l2_bytes < 16 << 20));
	printf("regimes seen: shared_histogram %llu, partition %llu, few_distinct %llu, "
		   "many_distinct %llu, radix %llu\n",
		   (unsigned long long) seen[HPSORT_CUDA_SHARED_HISTOGRAM],
		   (unsigned long long) seen[HPSORT_CUDA_PARTITION],
		   (unsigned long long) seen[HPSORT_CUDA_FEW_DISTINCT],
		   (unsigned long long) seen[HPSORT_CUDA_MANY_DISTINCT],
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

/* More keys than 32 bits count; checked on the device. */
static void
try_huge(const Recipe &recipe, bool bounds_known)
{
	HpsortCudaSpec spec = {};
	RegimeChoice choice;
	int32_t    *keys;
	int32_t    *out;
	Audit	   *audits;
	Audit		result[2];

	spec.bounds_known = bounds_known;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	CUDA(cudaMalloc(&keys, recipe.n * 4));
	CUDA(cudaMalloc(&out, recipe.n * 4));
	CUDA(cudaMalloc(&audits, sizeof(result)));
	CUDA(cudaMemset(audits, 0, sizeof(result)));
	CUDA(cudaMemset(out, 0xa5, recipe.n * 4));
	generate(recipe, keys);
	CUDA(cudaDeviceSynchronize());
	current = "huge n " + std::to_string(recipe.n) + " distinct " +
		std::to_string(recipe.distinct) + " " +
		distribution_names[recipe.distribution];
	ENGINE(hpsort_cuda_sort(context, &spec, keys, recipe.n, out, nullptr, nullptr,
							&choice, &err));
	audit_kernel<<<4096, 256>>>(keys, recipe.n, false, audits);
	audit_kernel<<<4096, 256>>>(out, recipe.n, false, audits + 1);
	CUDA(cudaMemcpy(result, audits, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(result[1].disorder == 0);
	CHECK(result[0].sum == result[1].sum);
	printf("%s -> %s: %llu out of order, sums %s\n", current.c_str(),
		   regime_name(choice.regime), result[1].disorder,
		   result[0].sum == result[1].sum ? "equal" : "differ");
	fflush(stdout);
	CUDA(cudaFree(keys));
	CUDA(cudaFree(out));
	CUDA(cudaFree(audits));
	ENGINE(hpsort_cuda_trim(context, &err));
}

/* Passes take 2^30 rows at a time, and words between them 2^24: more of both. */
static void
try_huge_permutation(const Recipe &recipe)
{
	HpsortCudaSpec spec = {};
	RegimeChoice choice;
	int32_t    *keys;
	uint32_t   *rows;
	unsigned long long result;

	spec.bounds_known = !recipe.anywhere;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	spec.wanted = HPSORT_CUDA_PERMUTATION;
	CUDA(cudaMalloc(&keys, recipe.n * 4));
	CUDA(cudaMalloc(&rows, recipe.n * 4));
	CUDA(cudaMemset(rows, 0xa5, recipe.n * 4));
	generate(recipe, keys);
	CUDA(cudaDeviceSynchronize());
	current = "huge permutation n " + std::to_string(recipe.n) + " distinct " +
		std::to_string(recipe.distinct) + " " +
		distribution_names[recipe.distribution];
	ENGINE(hpsort_cuda_permutation(context, &spec, keys, recipe.n, rows, nullptr, nullptr,
								   &choice, &err));
	result = rows_wrong(keys, rows, recipe.n, false);
	CHECK(result == 0);
	printf("%s -> %s: %llu out of order\n", current.c_str(),
		   regime_name(choice.regime), result);
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
	/* the most keys whose buckets are not counted, in their own extents and in more */
	try_huge({UNIFORM, 1000000000, 100000000, -5000000, false, 14}, true);
	try_huge({ZIPF, 1000000000, 100000000, -5000000, false, 15}, true);
	try_huge({CONSTANT, larger, 1000, -500, false, 6}, true);
	try_huge({UNIFORM, larger, 50000, 0, false, 7}, true);
	try_huge({CONSTANT, larger, 5000, 0, true, 8}, false);
	try_huge({UNIFORM, larger, (uint64_t) 1 << 32, 0, true, 9}, false);
	try_huge_permutation({UNIFORM, large, 200, -100, false, 10});
	try_huge_permutation({ZIPF, large, 50000, 0, false, 11});
	try_huge_permutation({UNIFORM, large, 5000, 0, true, 12});
	try_huge_permutation({UNIFORM, large, 50000, 0, true, 14});
	try_huge_permutation({UNIFORM, large / 2, (uint64_t) 1 << 32, 0, true, 13});
}
