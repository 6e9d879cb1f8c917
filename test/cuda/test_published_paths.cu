/*-------------------------------------------------------------------------
 *
 * test_published_paths.cu
 *	  Which way a published algorithm went, and ways of their own: options,
 *	  equations 10 and 11, choices of pivots, repairs, levels of recursion, the
 *	  strided way, floats by value.
 *
 *-------------------------------------------------------------------------
 */
#include <cmath>
#include <functional>

#include "test_published.cuh"

typedef std::vector<int32_t> Keys;

static uint64_t seed;
static uint64_t most_n;			/* longer lists are left out */

static uint64_t
draw(void)
{
	return mix64(seed++);
}

static Keys
keys_of(uint64_t n, const std::function<int64_t(uint64_t)> &key)
{
	Keys		keys(n);

	for (uint64_t i = 0; i < n; i++)
		keys[i] = (int32_t) key(i);
	return keys;
}

static HpsortPublishedSpec
spec_of(HpsortPublished algorithm)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = algorithm;
	return spec;
}

static void
give_bounds(HpsortPublishedSpec *spec, const Keys &keys, int32_t slack)
{
	spec->bounds_known = 1;
	spec->lo = *std::min_element(keys.begin(), keys.end()) - slack;
	spec->hi = *std::max_element(keys.begin(), keys.end()) + slack;
}

/* Sorts with a report; the result is compared, rows too where a payload travels. */
static HpsortPublishedReport
sort_reported(const HpsortPublishedSpec &spec, const Keys &keys)
{
	const Reference expected = refer(keys, spec.descending != 0);
	const uint64_t n = keys.size();
	Guarded<int32_t> input(n, draw() % 4);
	Guarded<int32_t> output(n, draw() % 4);
	Guarded<uint32_t> rows(n, draw() % 4);
	Guarded<uint32_t> rows_out(n, draw() % 4);
	std::vector<uint32_t> numbers(n);
	HpsortPublishedSpec known = spec;
	HpsortPublishedReport report = {};
	uint64_t	used;
	uint64_t	peak;

	for (uint64_t i = 0; i < n; i++)
		numbers[i] = (uint32_t) i;
	input.put(keys);
	rows.put(numbers);
	hpsort_cuda_memory(context, nullptr, nullptr, 1);
	ENGINE(published_now(context, spec, input.get(),
								 spec.payload ? rows.get() : nullptr, n, output.get(),
								 spec.payload ? rows_out.get() : nullptr, nullptr,
								 nullptr, &report, &err));
	hpsort_cuda_memory(context, &used, &peak, 1);
	CHECK(output.take(n) == expected.keys);
	if (spec.payload)
		CHECK(rows_out.take(n) == expected.rows);
	CHECK(output.intact() && rows_out.intact());
	CHECK(used == 0);
	if (!known.bounds_known && n > 0 && !spec.float_images)
		give_bounds(&known, keys, 0);
	CHECK(n == 0 ||
		  peak <= algorithms[spec.algorithm].need(known, n));
	return report;
}

/* ---- comparison_free_onehot ---- */

/* Any keys, with row numbers and without. */
static void
try_onehot(uint64_t n, uint64_t range, int form)
{
	HpsortPublishedSpec spec = spec_of(HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT);
	const int	kind = draw() % 3;
	const Keys	keys = keys_of(n, [&](uint64_t i) -> int64_t {
		const int64_t lo = kind == 0 ? INT32_MIN : -100;

		return lo + (int64_t) (kind == 2 ? i * range / n :
							   draw() % (kind == 1 && draw() % 2 ? 1 : range));
	});

	spec.descending = form & 1;
	spec.payload = spec.stable = form >> 1;
	if (draw() % 2)
		give_bounds(&spec, keys, kind == 0 ? 0 : (int32_t) (draw() % 40));
	current = "onehot n " + std::to_string(n) + " range " + std::to_string(range) +
		(spec.payload ? " payload" : "") + (spec.descending ? " descending" : "") + " seed " +
		std::to_string(seed);
	sort_reported(spec, keys);
}

/* A key outside the bounds is named. */
static void
test_onehot_outside(uint64_t n)
{
	HpsortPublishedSpec spec = spec_of(HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT);
	Keys		keys = keys_of(n, [&](uint64_t) -> int64_t { return (int64_t) (draw() % 100) - 77; });
	Guarded<int32_t> input(n, 1);
	Guarded<int32_t> output(n, 1);
	Guarded<uint32_t> rows(n, 0);
	Guarded<uint32_t> rows_out(n, 0);

	spec.payload = true;
	give_bounds(&spec, keys, 0);
	keys[n - 1] = 2000000000;
	input.put(keys);
	CHECK(published_now(context, spec, input.get(), rows.get(), n, output.get(), rows_out.get(),
						nullptr, nullptr, nullptr, &err) == HPSORT_CUDA_OUT_OF_BOUNDS);
	CHECK(err.key == 2000000000);
	CHECK(output.intact() && rows_out.intact());
}

static void
test_onehot(bool quick, bool tiny)
{
	std::vector<uint64_t> sizes = {1, 2, 15, 16, 17, 511, 513, 1300};
	std::vector<uint64_t> ranges = {1, 2, 33, 1000};

	if (tiny)
	{
		sizes = {17, 1300};
		ranges = {33};
	}
	if (!quick)
	{
		sizes.insert(sizes.end(), {512, 8193, 16385, 70001});
		ranges.insert(ranges.end(), {3, 32, 255, 4096});
	}
	for (uint64_t n : sizes)
	{
		for (uint64_t range : ranges)
			for (int form = 0; form < 4; form++)
				if ((!quick || form == (int) (n % 4)) && n * range <= 1u << 28)
					try_onehot(n, range, form);
		test_onehot_outside(n);
	}
}

/* ---- options ---- */

static void
try_options(HpsortPublished algorithm, const HpsortPublishedOptions &options,
			uint64_t range, bool payload, const char *what)
{
	for (uint64_t n : {(uint64_t) 1, (uint64_t) 1000, (uint64_t) 30001})
		for (int flat = 0; flat < 2 && n <= most_n; flat++)
		{
			HpsortPublishedSpec spec = spec_of(algorithm);
			const Keys	keys = keys_of(n, [&](uint64_t i) -> int64_t {
				return algorithm == HPSORT_PUBLISHED_ONE_HP ?
					(int64_t) (i * 7919 % 32003) :
					-5 + (int64_t) (draw() % (flat && i % 5 ? 1 : range)); });

			spec.options = options;
			spec.descending = draw() % 2;
			spec.payload = spec.stable = payload;
			if (draw() % 2)
				give_bounds(&spec, keys, 0);
			current = std::string("options of ") + name_of(algorithm) + ": " + what +
				", n " + std::to_string(n) + " range " + std::to_string(range) + " seed " +
				std::to_string(seed);
			sort_reported(spec, keys);
		}
}

static void
test_options(bool quick)
{
	HpsortPublishedOptions options;

	for (HpsortPublished a : {HPSORT_PUBLISHED_HP, HPSORT_PUBLISHED_ONE_HP,
		 HPSORT_PUBLISHED_ZERO_COMPRESSED})
		for (uint32_t t : {32, 128, 1024})
		{
			options = {};
			options.block_threads = t;
			try_options(a, options, 5000, false, "threads of a block");
		}
	for (uint32_t t : {1, 16, 64, 1024})
		for (uint32_t blk : {2, 1024, 4096})
		{
			options = {};
			options.block_threads = t;
			options.blocks = blk;
			if (quick && t != 64)
				continue;
			try_options(HPSORT_PUBLISHED_COMPARISON_FREE, options, 5000, false, "T and blk");
		}
	for (uint32_t rows : {32, 2048, 8192, 16384, 65536})
		for (uint32_t bits : {0, 8, 12})
		{
			options = {};
			options.rows = rows;
			options.radix_bits = bits;
			if (quick && rows != 16384)
				continue;
			try_options(HPSORT_PUBLISHED_BUCKET_RADIX, options, 200, false, "r and s");
			try_options(HPSORT_PUBLISHED_BUCKET_RADIX, options, 60000, false, "r and s");
			if (bits == 0)
				try_options(HPSORT_PUBLISHED_BUCKET_RADIX, options, 2000000000, false, "s");
		}
	for (uint32_t most : {128, 256, 512, 1024, 2048})
		for (uint32_t expected : {1, 20, 128})
			for (int payload = 0; payload < 2; payload++)
			{
				options = {};
				options.bucket_most = most;
				options.slice_expected = expected;
				options.disorder_limit = expected == 20 ? 1e-3 : 0;
				if (quick && expected != 20)
					continue;
				try_options(HPSORT_PUBLISHED_BUCKET_BITONIC, options, 1000000000, payload,
							"E and M");
				try_options(HPSORT_PUBLISHED_BUCKET_BITONIC, options, 300, payload,
							"E and M");
			}
}

/* ---- which way it went ---- */

static void
test_bucket_radix_paths(void)
{
	HpsortPublishedSpec spec = spec_of(HPSORT_PUBLISHED_BUCKET_RADIX);
	HpsortPublishedReport report;

	current = "bucket_radix: even pivots do for even keys";
	report = sort_reported(spec, keys_of(200001, [](uint64_t) { return draw() % 65536; }));
	CHECK(report.rounds == 1 && report.repaired == 0);

	current = "bucket_radix: pivots are chosen again while one row has all";
	report = sort_reported(spec, keys_of(200001, [](uint64_t i) -> int64_t {
		return i == 0 ? 0 : i == 1 ? 65535 : 30000 + draw() % 60; }));
	CHECK(report.rounds > 1 && report.rounds <= 4);

	/* upper digits 0 and 1: groups of 20,000, which insertion does not begin */
	current = "bucket_radix: two groups are repaired";
	report = sort_reported(spec, keys_of(40000, [](uint64_t i) -> int64_t {
		return (i % 2) * 65536 + draw() % 65536; }));
	CHECK(report.repaired == 2);
	CHECK(report.rounds >= 4);

	/* two keys for each upper digit: insertion brings them in order */
	current = "bucket_radix: insertion does";
	report = sort_reported(spec, keys_of(131072, [](uint64_t i) -> int64_t {
		return (int64_t) (int32_t) (uint32_t) (i % 65536 << 16 | draw() % 65536); }));
	CHECK(report.repaired == 0 && report.rounds >= 2);
}

static void
test_bitonic_paths(void)
{
	const uint64_t n = 100001;
	HpsortPublishedSpec spec = spec_of(HPSORT_PUBLISHED_BUCKET_BITONIC);
	HpsortPublishedReport report;

	current = "bucket_bitonic: uniform keys need no recursion";
	report = sort_reported(spec, keys_of(n, [](uint64_t) { return (int32_t) draw(); }));
	CHECK(report.rounds == 0 && report.nearly_sorted == 0 && report.disorder > 10);

	current = "bucket_bitonic: an outlier, one level";
	report = sort_reported(spec, keys_of(n, [](uint64_t i) -> int64_t {
		return i == 3 ? INT32_MAX : draw() % 1000000; }));
	CHECK(report.rounds == 1);

	current = "bucket_bitonic: an outlier, and a crowd among the others, two levels";
	report = sort_reported(spec, keys_of(n, [](uint64_t i) -> int64_t {
		return i == 3 ? INT32_MAX : i % 5 < 3 ? draw() % 700 : draw() % 1000000; }));
	CHECK(report.rounds >= 2);

	current = "bucket_bitonic: seven values, whose slices are flat lists";
	report = sort_reported(spec, keys_of(n, [](uint64_t) -> int64_t {
		return (draw() % 7) * 100000003; }));
	CHECK(report.rounds == 1);

	current = "bucket_bitonic: the same with rows, which are put in order below";
	spec.payload = spec.stable = 1;
	report = sort_reported(spec, keys_of(n, [](uint64_t) -> int64_t {
		return (draw() % 7) * 100000003; }));
	CHECK(report.rounds == 2);
	spec.payload = spec.stable = 0;

	/* as the benches have it: displaced by 8 places at most */
	current = "bucket_bitonic: displaced by up to 8, the strided way";
	report = sort_reported(spec, keys_of(n, [](uint64_t i) -> int64_t {
		return ((int64_t) i + (int64_t) (draw() % 17) - 8) * 20000; }));
	CHECK(report.nearly_sorted == 1 && report.disorder < 10 && report.disorder > 1);
	spec.options.disorder_limit = 2;
	report = sort_reported(spec, keys_of(n, [](uint64_t i) -> int64_t {
		return ((int64_t) i + (int64_t) (draw() % 17) - 8) * 20000; }));
	CHECK(report.nearly_sorted == 0);

	current = "bucket_bitonic: displaced by up to 16, not nearly sorted";
	spec.options.disorder_limit = 0;
	report = sort_reported(spec, keys_of(n, [](uint64_t i) -> int64_t {
		return ((int64_t) i + (int64_t) (draw() % 33) - 16) * 20000; }));
	CHECK(report.nearly_sorted == 0 && report.disorder > 10 && report.disorder < 12);
}

/* ---- floats by their images ---- */

static int32_t
image_of(float f)
{
	uint32_t	bits;

	memcpy(&bits, &f, 4);
	return (int32_t) ((bits >> 31 ? bits ^ 0x7fffffffu : bits) - 0x7fffffu);
}

static void
test_images(bool quick)
{
	const uint64_t n = quick ? 5001 : 500001;
	HpsortPublishedSpec spec = spec_of(HPSORT_PUBLISHED_BUCKET_BITONIC);
	const Keys	even = keys_of(n, [](uint64_t) {
		return image_of((float) ((draw() >> 40) * 0x1p-24)); });

	/* half of them are in [0.5, 1), a 127th of the positive images */
	current = "images of uniform floats by value";
	spec.float_images = true;
	CHECK(sort_reported(spec, even).rounds == 0);
	current = "images of uniform floats as integers";
	spec.float_images = false;
	/* of a few thousand floats the crowded slices may all be small enough */
	CHECK(sort_reported(spec, even).rounds > 0 || quick);

	spec.float_images = true;
	for (uint64_t m : {(uint64_t) 2, (uint64_t) 600, n})
		for (int kind = 0; kind < 5; kind++)
			for (int form = 0; form < 4; form++)
			{
				const Keys	keys = keys_of(m, [&](uint64_t) -> int64_t {
					static const float few[] = {INFINITY, -INFINITY, NAN, -NAN, 0.0f, -0.0f,
						1.5f, -1.5f, 1e-45f};

					switch (kind)
					{
						case 0:
							return (int32_t) draw();	/* any number at all */
						case 1:
							return image_of(few[draw() % 9]);
						case 2:
							return image_of((float) (draw() % 1000) - 500);
						case 3:
							return image_of(draw() % 2 ? 1e30f : (float) (draw() % 100000));
						default:
							return image_of(-3.25f);
					}
				});

				spec.descending = form & 1;
				spec.payload = spec.stable = form >> 1;
				spec.pass_keys = draw() % 3 == 0 ? m / 2 + 1 : 0;
				spec.bounds_known = 0;
				if (draw() % 2)
					give_bounds(&spec, keys, 0);
				current = "images, kind " + std::to_string(kind) + " n " +
					std::to_string(m) + " form " + std::to_string(form) + " seed " +
					std::to_string(seed);
				sort_reported(spec, keys);
			}
}

void
test_published_paths(bool quick, bool tiny, uint64_t given)
{
	seed = given * 7000003;
	most_n = tiny ? 1000 : UINT64_MAX;
	printf("paths: --seed %llu\n", (unsigned long long) given);
	test_onehot(quick, tiny);
	if (tiny)
	{
		HpsortPublishedOptions options = {};

		options.rows = 2048;
		try_options(HPSORT_PUBLISHED_BUCKET_RADIX, options, 100000, false, "s");
		options = {};
		options.bucket_most = 1024;
		try_options(HPSORT_PUBLISHED_BUCKET_BITONIC, options, 100000, true, "M");
		options = {};
		options.block_threads = 64;
		try_options(HPSORT_PUBLISHED_COMPARISON_FREE, options, 1000, false, "T");
		try_options(HPSORT_PUBLISHED_HP, options, 1000, false, "threads of a block");
		return;
	}
	printf("paths: equations 10 and 11 done\n");
	fflush(stdout);
	test_options(quick);
	printf("paths: options done\n");
	fflush(stdout);
	test_bucket_radix_paths();
	test_bitonic_paths();
	test_images(quick);
}
