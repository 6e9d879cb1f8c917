/*-------------------------------------------------------------------------
 *
 * test_published_bitonic.cu
 *	  What bucket_bitonic alone can do: floats in PostgreSQL's order, payloads,
 *	  nearly sorted and crowded lists, several passes, merging.
 *
 * Results are compared with std::stable_sort under a comparison written from
 * PostgreSQL's documentation, which shares nothing with what is tested.
 *
 *-------------------------------------------------------------------------
 */
#include <cmath>
#include <functional>
#include <limits>

#include "published/bucket_bitonic.cuh"
#include "test_published.cuh"

typedef std::vector<uint32_t> Words;

static uint64_t seed;

static uint64_t
draw(void)
{
	return mix64(seed++);
}

static double
draw_unit(void)
{
	return (double) (draw() >> 11) * 0x1p-53;
}

/* Box and Muller's. */
static double
draw_gaussian(void)
{
	return sqrt(-2 * log(1 - draw_unit())) * cos(2 * M_PI * draw_unit());
}

static uint32_t
float_bits(float f)
{
	uint32_t	bits;

	memcpy(&bits, &f, 4);
	return bits;
}

/* The image of a float (spec.h), and its inverse. */
static uint32_t
image_of(uint32_t bits)
{
	return (bits >> 31 ? bits ^ 0x7fffffffu : bits) - 0x7fffffu;
}

static float
to_float(uint32_t image)
{
	uint32_t	bits = image + 0x7fffffu;
	float		f;

	bits = bits >> 31 ? bits ^ 0x7fffffffu : bits;
	memcpy(&f, &bits, 4);
	return f;
}

/* Keys in their order.  Of two floats that are not equal, images are in the floats' order, in
 * which all NaNs are larger than any number. */
static int
compare(bool floats, uint32_t a, uint32_t b)
{
	const int	c = (int32_t) a < (int32_t) b ? -1 : (int32_t) a > (int32_t) b;
	const float x = to_float(a);
	const float y = to_float(b);

	if (floats && std::isnan(x) != std::isnan(y))
		return (int) std::isnan(x) - (int) std::isnan(y);
	return floats && x != y && !std::isnan(x) ? (x < y ? -1 : 1) : c;
}

static HpsortPublishedSpec
spec_of(bool floats, bool descending, bool payload)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = HPSORT_PUBLISHED_BUCKET_BITONIC;
	spec.float_images = floats;
	spec.descending = descending;
	spec.payload = payload;
	return spec;
}

/*
 * In order, and the same elements: by their payload where there is one, by
 * their sorted bits otherwise.
 */
static void
check_result(const HpsortPublishedSpec &spec, const Words &keys, const Words &out,
			 const Words &rows)
{
	const bool	floats = spec.float_images;
	const uint64_t n = keys.size();
	uint64_t	disorder = 0;

	for (uint64_t i = 1; i < n; i++)
	{
		const int	c = compare(floats, out[i - 1], out[i]);

		disorder += spec.descending ? c < 0 : c > 0;
	}
	CHECK(disorder == 0);
	if (spec.payload)
	{
		std::vector<bool> seen(n);
		uint64_t	wrong = 0;

		for (uint64_t i = 0; i < n; i++)
		{
			/* payloads are row numbers, scrambled unless the order is stable */
			const uint32_t row = rows[i] ^ (spec.stable ? 0 : 0x5a5a5a5au);

			if (row >= n || seen[row] || keys[row] != out[i])
				wrong++;
			else
				seen[row] = true;
		}
		for (uint64_t i = 1; spec.stable && i < n; i++)
			wrong += out[i - 1] == out[i] && rows[i - 1] > rows[i];
		CHECK(wrong == 0);
	}
	else
	{
		Words		a = keys;
		Words		b = out;

		std::sort(a.begin(), a.end());
		std::sort(b.begin(), b.end());
		CHECK(a == b);
	}
}

static Words
rows_for(uint64_t n, bool stable = false)
{
	Words		rows(n);

	for (uint64_t i = 0; i < n; i++)
		rows[i] = (uint32_t) i ^ (stable ? 0 : 0x5a5a5a5au);
	return rows;
}

static HpsortPublishedReport
try_list(const HpsortPublishedSpec &spec, const Words &keys, const char *what)
{
	const uint64_t n = keys.size();
	const Words rows = rows_for(n, spec.stable);
	Guarded<uint32_t> input(n, draw() % 4);
	Guarded<uint32_t> output(n, draw() % 4);
	Guarded<uint32_t> payload(n, draw() % 4);
	Guarded<uint32_t> payload_out(n, draw() % 4);
	HpsortPublishedReport report;
	uint64_t	used;
	uint64_t	peak;

	current = std::string("bucket_bitonic ") + what + " n " + std::to_string(n) +
		(spec.float_images ? " float4" : " int4") + (spec.descending ? " descending" : "") +
		(spec.payload ? " payload" : "") + (spec.stable ? " stable" : "") + " pass " +
		std::to_string(spec.pass_keys) + " nearly " +
		std::to_string(spec.nearly_sorted) + " seed " + std::to_string(seed);
	input.put(keys);
	payload.put(rows);
	hpsort_cuda_memory(context, nullptr, nullptr, 1);
	ENGINE(published_now(context, spec, input.get(),
								 spec.payload ? payload.get() : nullptr, n,
								 output.get(),
								 spec.payload ? payload_out.get() : nullptr, nullptr,
								 nullptr, &report, &err));
	hpsort_cuda_memory(context, &used, &peak, 1);
	CHECK(used == 0);
	CHECK(n == 0 || peak <= algorithms[HPSORT_PUBLISHED_BUCKET_BITONIC].need(spec, n));
	check_result(spec, keys, output.take(n), payload_out.take(n));
	CHECK(output.intact() && payload_out.intact());
	CHECK(input.take(n) == keys);
	return report;
}

/* Elements of a kind, by their number. */
struct Kind
{
	const char *name;
	bool		floats;
	std::function<uint32_t(uint64_t i, uint64_t n)> element;
};

static std::vector<Kind>
kinds(void)
{
	const float inf = std::numeric_limits<float>::infinity();

	return {
		{"uniform", false, [](uint64_t, uint64_t) { return (uint32_t) draw(); }},
		{"gaussian", false, [](uint64_t, uint64_t) {
			return (uint32_t) (int32_t) (draw_gaussian() * 1e8); }},
		{"outlier", false, [](uint64_t i, uint64_t) {
			return i == 3 ? 0x7fffffffu : (uint32_t) (draw() % 100000); }},
		{"two outliers", false, [](uint64_t i, uint64_t) {
			return i == 3 ? 0x7fffffffu : i == 5 ? 0x80000000u :
				(uint32_t) (draw() % 1000); }},
		{"few values", false, [](uint64_t, uint64_t) {
			return (uint32_t) (draw() % 7) * 1000003u; }},
		{"largest", false, [](uint64_t, uint64_t) {
			return 0x7fffffffu - (uint32_t) (draw() % 2); }},
		{"flat", false, [](uint64_t, uint64_t) { return 42u; }},
		{"sorted", false, [](uint64_t i, uint64_t) { return (uint32_t) i * 5; }},
		{"reversed", false, [](uint64_t i, uint64_t n) {
			return (uint32_t) (n - i) * 5; }},
		{"exponential", false, [](uint64_t, uint64_t) {
			return (uint32_t) exp(draw_unit() * 21); }},
		{"uniform", true, [](uint64_t, uint64_t) {
			return float_bits((float) (draw_unit() * 2 - 1)); }},
		{"gaussian", true, [](uint64_t, uint64_t) {
			return float_bits((float) draw_gaussian()); }},
		{"any bits", true, [](uint64_t, uint64_t) { return (uint32_t) draw(); }},
		{"special", true, [=](uint64_t, uint64_t) {
			const uint32_t choice[] = {float_bits(inf), float_bits(-inf), 0x7fc00000u,
				0xffc00001u, 0x7f800001u, 0u, 0x80000000u, 1u, 0x80000001u,
				float_bits(1.5f), float_bits(-1.5f), 0x7f7fffffu, 0xff7fffffu};

			return choice[draw() % (sizeof(choice) / sizeof(choice[0]))]; }},
		{"zeros", true, [](uint64_t, uint64_t) {
			return draw() % 2 ? 0u : 0x80000000u; }},
		{"nans", true, [](uint64_t, uint64_t) {
			return 0x7f800001u | (uint32_t) (draw() & 0x803fffffu); }},
		{"exponential", true, [](uint64_t, uint64_t) {
			return float_bits((float) exp(draw_unit() * 160 - 80)); }},
		{"nearly all NaN", true, [](uint64_t i, uint64_t) {
			return i % 100 ? 0xffc00000u : float_bits((float) i); }},
		{"flat", true, [](uint64_t, uint64_t) { return float_bits(-2.5f); }},
	};
}

static Words
make(const Kind &kind, uint64_t n)
{
	Words		keys(n);

	for (uint64_t i = 0; i < n; i++)
		keys[i] = kind.floats ? image_of(kind.element(i, n)) : kind.element(i, n);
	return keys;
}

static void
test_kinds(bool quick)
{
	std::vector<uint64_t> sizes = {1, 2, 511, 513, 5000};

	if (!quick)
		sizes.insert(sizes.end(), {3, 80, 160, 512, 1024, 10240, 100003, 1300000});
	for (const Kind &kind : kinds())
		for (uint64_t n : sizes)
			for (int form = 0; form < 4; form++)
			{
				/* directions and payloads */
				if ((quick && form != (int) (n % 4)) ||
					(n > 1000000 && form != (int) (draw() % 4)))
					continue;
				try_list(spec_of(kind.floats, form & 1, form & 2), make(kind, n),
						 kind.name);
			}
}

/* A list larger than a pass is cut, sorted and merged. */
static void
test_passes(bool quick)
{
	for (const Kind &kind : kinds())
		for (uint64_t pass : {700, 1000, 2048, 30000})
			for (int form = 0; form < 4; form++)
			{
				HpsortPublishedSpec spec = spec_of(kind.floats, form & 1, form & 2);

				if (quick && (pass != 1000 || form != 2))
					continue;
				spec.pass_keys = pass;
				try_list(spec, make(kind, quick ? 3001 : 70001), kind.name);
			}
}

/*
 * Equal keys in the order of their rows: within buckets, in crowded slices of
 * one value, small and large, across passes.
 */
static void
test_stable(bool quick, bool tiny)
{
	std::vector<uint64_t> sizes = {1, 2, 600, 5000};
	HpsortPublishedSpec spec = spec_of(false, false, true);

	if (tiny)
		sizes = {1300};
	if (!quick)
		sizes.insert(sizes.end(), {513, 1024, 70001, 700000});
	for (const Kind &kind : kinds())
		for (uint64_t n : sizes)
			for (uint64_t pass : {0, 1000, 30000})
				for (int descending = 0; descending < 2; descending++)
				{
					if (kind.floats || (quick && descending != (int) (n % 2)) ||
						(tiny && pass != 1000) || (n > 100000 && pass == 1000))
						continue;
					spec = spec_of(false, descending, true);
					spec.stable = 1;
					spec.pass_keys = pass;
					try_list(spec, make(kind, n), kind.name);
				}
	if (quick)
		return;
	/* three lists of equal keys that get the whole device to themselves */
	Words		keys(4000000);

	spec.pass_keys = 0;
	for (uint32_t &key : keys)
		key = (uint32_t) (draw() % 3) * 1000000007u;
	try_list(spec, keys, "three values");
}

/* What counts as nearly sorted, and that either strategy sorts either list. */
static void
test_nearly(bool quick)
{
	const uint64_t n = quick ? 3000 : 200000;

	for (int floats = 0; floats < 2; floats++)
	{
		HpsortPublishedSpec spec = spec_of(floats, false, false);
		Words		keys(n);

		for (uint64_t i = 0; i < n; i++)
			keys[i] = floats ? image_of(float_bits((float) i / 7)) : (uint32_t) (i * 11);
		CHECK(try_list(spec, keys, "in order").nearly_sorted == 1);
		std::swap(keys[n / 4], keys[n / 2]);
		std::swap(keys[n / 3], keys[n - 1]);
		CHECK(try_list(spec, keys, "two exchanged").nearly_sorted == 1);
		std::reverse(keys.begin(), keys.end());
		CHECK(try_list(spec, keys, "reversed").nearly_sorted == 1);
		spec.nearly_sorted = -1;
		CHECK(try_list(spec, keys, "told it is not").nearly_sorted == 0);
		for (uint64_t i = n - 1; i > 0; i--)
			std::swap(keys[i], keys[draw() % (i + 1)]);
		spec.nearly_sorted = 0;
		CHECK(try_list(spec, keys, "shuffled").nearly_sorted == 0);
		spec.nearly_sorted = 1;
		CHECK(try_list(spec, keys, "told it is").nearly_sorted == 1);
	}
}

/* Elements sorted by the reference, so that the merge alone is looked at. */
static Words
sorted_list(const HpsortPublishedSpec &spec, uint64_t n, uint64_t distinct)
{
	const bool	floats = spec.float_images;
	Words		keys(n);

	for (uint32_t &key : keys)
		key = floats ? image_of(float_bits((float) (draw() % distinct) - 50)) :
			(uint32_t) (draw() % distinct) - 50u;
	std::stable_sort(keys.begin(), keys.end(), [&](uint32_t a, uint32_t b) {
		const int	c = compare(floats, a, b);

		return spec.descending ? c > 0 : c < 0;
	});
	return keys;
}

/* Stable: of equal elements those of the first list go first, in their order. */
static void
try_merge(const HpsortPublishedSpec &spec, const Words &a, const Words &b)
{
	const bool	floats = spec.float_images;
	const uint64_t n = a.size() + b.size();
	const Words rows = rows_for(n);
	Words		expected(n);
	Words		both = a;
	Guarded<uint32_t> in(n, 1);
	Guarded<uint32_t> in_rows(n, 2);
	Guarded<uint32_t> out(n, 3);
	Guarded<uint32_t> out_rows(n, 1);

	both.insert(both.end(), b.begin(), b.end());
	in.put(both);
	in_rows.put(rows);
	for (uint64_t i = 0; i < n; i++)
		expected[i] = (uint32_t) i;
	std::stable_sort(expected.begin(), expected.end(), [&](uint32_t x, uint32_t y) {
		const int	c = compare(floats, both[x], both[y]);

		return spec.descending ? c > 0 : c < 0;
	});
	current = "merge " + std::to_string(a.size()) + " and " +
		std::to_string(b.size());
	ENGINE(hpsort::guarded(&err, [&] {
		hpsort::published::merge_lists(context, nullptr, hpsort::published::order_of(spec),
									   {in.get(), in_rows.get()}, a.size(),
									   {in.get() + a.size(), in_rows.get() + a.size()},
									   b.size(), {out.get(), out_rows.get()});
	}));
	CUDA(cudaDeviceSynchronize());

	const Words keys = out.take(n);
	const Words payload = out_rows.take(n);
	uint64_t	wrong = 0;

	for (uint64_t i = 0; i < n; i++)
		wrong += payload[i] != rows[expected[i]] || keys[i] != both[expected[i]];
	CHECK(wrong == 0);
	CHECK(out.intact() && out_rows.intact());
}

static void
test_merge(bool quick)
{
	std::vector<uint64_t> sizes = {0, 1, 3, 2047, 2048, 2049};

	if (!quick)
		sizes.insert(sizes.end(), {2, 4095, 10000, 300001});
	for (uint64_t a : sizes)
		for (uint64_t b : sizes)
			for (uint64_t distinct : {1, 100, 1000000})
			{
				const HpsortPublishedSpec spec =
					spec_of((a + b) % 2, (a + distinct) % 2, true);

				if (quick && distinct != 100)
					continue;
				try_merge(spec, sorted_list(spec, a, distinct),
						  sorted_list(spec, b, distinct));
			}

	/* all of one before all of the other, both ways: where pivots all agree */
	const HpsortPublishedSpec spec = spec_of(false, false, true);
	Words		low(quick ? 3000 : 200000, 5);
	Words		high(low.size(), 6);

	try_merge(spec, low, high);
	try_merge(spec, high, low);
	try_merge(spec, low, low);
}

void
test_published_bitonic(bool quick, bool tiny, uint64_t given)
{
	seed = given * 1000003;
	printf("bitonic: --seed %llu\n", (unsigned long long) given);
	if (tiny)
	{
		const std::vector<Kind> all = kinds();

		for (size_t k = 0; k < all.size(); k += 3)
			try_list(spec_of(all[k].floats, k % 2, k % 4 > 1), make(all[k], 1300),
					 all[k].name);

		const HpsortPublishedSpec spec = spec_of(false, false, true);

		try_merge(spec, sorted_list(spec, 3000, 100), sorted_list(spec, 2100, 100));
		test_stable(true, true);
		return;
	}
	test_kinds(quick);
	test_passes(quick);
	test_stable(quick, false);
	test_nearly(quick);
	test_merge(quick);
}
