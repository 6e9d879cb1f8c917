/*-------------------------------------------------------------------------
 *
 * test_regimes.cu
 *	  Each regime by itself, at the edges of its own tiles and tables, through
 *	  the internal interface: the public one would not choose it there.
 *
 *-------------------------------------------------------------------------
 */
#include "check.cuh"
#include "common/runs.cuh"
#include "distinct/few_distinct.cuh"
#include "histogram/shared_histogram.cuh"
#include "partition/partition.cuh"
#include "passes/permutation.cuh"
#include "passes/radix.cuh"
#include "tuning.cuh"

using namespace hpsort;

/* For a message that is enough to repeat the case. */
static std::string
describe(const char *regime, const Recipe &recipe, bool descending,
		 uint32_t in_offset, uint32_t out_offset)
{
	char		text[256];

	snprintf(text, sizeof(text),
			 "%s n %llu distinct %llu lo %lld %s%s%s offsets %u %u seed %llu",
			 regime, (unsigned long long) recipe.n,
			 (unsigned long long) recipe.distinct, (long long) recipe.lo,
			 distribution_names[recipe.distribution],
			 recipe.anywhere ? " anywhere" : "", descending ? " descending" : "",
			 in_offset, out_offset, (unsigned long long) recipe.seed);
	return text;
}

/* Bounds that the recipe's keys keep, not necessarily tight. */
static Bounds
bounds_of(const Recipe &recipe)
{
	if (recipe.anywhere)
		return {INT32_MIN, INT32_MAX};
	return {(int32_t) recipe.lo, (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1)};
}

static SortInput
input_of(Guarded<int32_t> &keys, uint64_t n, const Bounds &bounds, bool descending,
		 HpsortCudaVerdict *verdict)
{
	return {context, nullptr, keys.get(), n, bounds, descending, verdict};
}

/* Runs of one kernel, in 32-bit counts, and the keys that they expand to. */
static void
try_shared(const Recipe &recipe, bool descending, uint32_t in, uint32_t to)
{
	std::vector<int32_t> keys = make_keys(recipe);
	Reference	reference = refer(keys, descending);
	Guarded<int32_t> input(keys.size(), in);
	Guarded<int32_t> output(keys.size(), to);
	VerdictSlot verdict(context, nullptr);
	Runs		runs;

	current = describe("shared", recipe, descending, in, to);
	if (keys.empty())
		return;
	input.put(keys);
	runs.allocate(context, nullptr, std::min<uint64_t>(recipe.distinct, keys.size()));
	shared_runs(input_of(input, keys.size(), bounds_of(recipe), false, verdict.get()), runs);
	CUDA(cudaDeviceSynchronize());
	CHECK(verdict->n_outside == 0);
	CHECK(verdict->distinct == reference.run_keys.size());
	runs.distinct = verdict->distinct;

	/* a wrong number of runs may be too many for the arrays */
	Guarded<uint64_t> counts(reference.run_keys.size(), 0);
	std::vector<int32_t> run_keys(reference.run_keys.size());

	if (runs.distinct != reference.run_keys.size())
		return;
	run_counts(nullptr, runs, 0, runs.distinct, counts.get());
	CUDA(cudaMemcpy(run_keys.data(), runs.keys, run_keys.size() * sizeof(int32_t),
					cudaMemcpyDeviceToHost));
	CHECK(run_keys == reference.run_keys);
	CHECK(counts.take(run_keys.size()) == reference.run_counts);
	CHECK(counts.intact());
	expand_runs(nullptr, runs, keys.size(), 0, keys.size(), descending, output.get());
	CUDA(cudaDeviceSynchronize());
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(output.intact());
}

/* Any number of buckets and bins, also those that regime.c would not take. */
static void
try_partition(const Recipe &recipe, bool descending, uint32_t in, uint32_t to,
			  uint32_t shift)
{
	std::vector<int32_t> keys = make_keys(recipe);
	Reference	reference = refer(keys, descending);
	Guarded<int32_t> input(keys.size(), in);
	Guarded<int32_t> output(keys.size(), to);
	Bounds		b = bounds_of(recipe);
	VerdictSlot verdict(context, nullptr);
	uint32_t	buckets = (uint32_t) ((recipe.distinct - 1) >> shift) + 1;
	PartitionStart start;

	current = describe("partition", recipe, descending, in, to) + " shift " +
		std::to_string(shift);
	input.put(keys);
	if (!keys.empty())
		partition_sort(input_of(input, keys.size(), b, descending, verdict.get()),
					   {shift, buckets}, output.get(), &start);
	CUDA(cudaDeviceSynchronize());
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(output.intact());
	CHECK(verdict->n_outside == 0);
}

/*
 * Keys outside the bounds, the first one, the last one and one between, among them
 * those that the last bucket would have bins for: one is named, and nothing is written
 * outside the output.
 */
static void
try_partition_outside(const Recipe &recipe, bool descending, uint32_t in, uint32_t to,
					  uint32_t shift)
{
	std::vector<int32_t> keys = make_keys(recipe);
	Guarded<int32_t> input(keys.size(), in);
	Guarded<int32_t> output(keys.size(), to);
	const Bounds b = bounds_of(recipe);
	VerdictSlot verdict(context, nullptr);
	const uint32_t buckets = (uint32_t) ((recipe.distinct - 1) >> shift) + 1;

	for (uint64_t at : {(uint64_t) 0, recipe.n / 2, recipe.n - 1})
		for (int32_t stranger : {b.lo - 1, b.hi + 1, INT32_MIN, INT32_MAX})
		{
			const int32_t kept = keys[at];

			current = describe("partition outside", recipe, descending, in, to) +
				" shift " + std::to_string(shift) + " key " + std::to_string(stranger) +
				" at " + std::to_string(at);
			keys[at] = stranger;
			input.put(keys);
			keys[at] = kept;
			clear_verdict(verdict.get());

			PartitionStart start;

			partition_sort(input_of(input, keys.size(), b, descending, verdict.get()),
						   {shift, buckets}, output.get(), &start);
			CUDA(cudaDeviceSynchronize());
			CHECK(verdict->n_outside != 0 && verdict->key == stranger);
			CHECK(output.intact());
		}
	/* all of them, more than the tiles' places behind the keys */
	std::fill(keys.begin(), keys.end(), b.hi + 1);
	input.put(keys);
	clear_verdict(verdict.get());

	PartitionStart start;

	partition_sort(input_of(input, keys.size(), b, descending, verdict.get()),
				   {shift, buckets}, output.get(), &start);
	CUDA(cudaDeviceSynchronize());
	CHECK(verdict->n_outside != 0 && verdict->key == b.hi + 1);
	CHECK(output.intact());
}

/* The first step by itself, told to skip or not, and what comes of it. */
static void
try_partition_begun(const Recipe &recipe, uint32_t shift)
{
	std::vector<int32_t> keys = make_keys(recipe);
	Reference	reference = refer(keys, false);
	Guarded<int32_t> input(keys.size(), 1);
	Guarded<int32_t> output(keys.size(), 2);
	const Bounds b = bounds_of(recipe);
	const uint32_t buckets = (uint32_t) ((recipe.distinct - 1) >> shift) + 1;
	VerdictSlot verdict(context, nullptr);
	DeviceBuffer skip(context, nullptr, sizeof(uint32_t), "a word");

	input.put(keys);
	for (uint32_t word : {0u, 1u})
	{
		PartitionStart start;

		current = describe("partition begun", recipe, false, 1, 2) + " skip " +
			std::to_string(word);
		clear_verdict(verdict.get());
		CUDA(cudaMemcpy(skip.as<uint32_t>(), &word, sizeof(word), cudaMemcpyHostToDevice));
		CUDA(cudaMemset(output.get(), 0xa5, keys.size() * sizeof(int32_t)));
		const SortInput sorted = input_of(input, keys.size(), b, false, verdict.get());

		start.begin(sorted, {shift, buckets}, skip.as<uint32_t>());
		CHECK(start.begun);
		/* what was skipped is not used: sort.cu */
		if (word != 0)
			start = PartitionStart();
		partition_sort(sorted, {shift, buckets}, output.get(), &start);
		CUDA(cudaDeviceSynchronize());
		CHECK(output.take(keys.size()) == reference.keys);
		CHECK(output.intact());
		CHECK(verdict->n_outside == 0);
	}
}

/*
 * Extents as large as a tile of either size and larger,
 * with one bucket that takes nearly all of them, and with many that take some at once;
 * tiles that are full, and that lack one key or have only one.
 */
static void
test_extents(bool quick, uint64_t seed)
{
	const HpsortCudaLimits *limits = &context->limits;
	std::vector<uint64_t> sizes = {65536, 65537, 600000, REGIME_PARTITION_FEW_KEYS + 1};

	if (!quick)
		sizes.insert(sizes.end(), {1, 511, 8192, 16383, 73727, 500001,
					 REGIME_PARTITION_FEW_KEYS, 3000000, 5000000});
	for (uint64_t n : sizes)
		for (uint64_t buckets : {(uint64_t) 1, (uint64_t) 2, (uint64_t) 20, (uint64_t) 61,
			 (uint64_t) 300, (uint64_t) 513, (uint64_t) 2000, n / 4000 + 1})
			for (int d = 0; d < DISTRIBUTIONS; d++)
			{
				const uint32_t shift = buckets % 2 ? 12 : 7;
				const Recipe recipe = {(Distribution) d, n, (buckets << shift) - shift, -77,
					false, seed};

				if (buckets > regime_partition_max_buckets(limits) ||
					((quick || n > 1000000) && (n + buckets + d) % 3 != 0))
					continue;
				try_partition(recipe, seed % 2, seed / 2 % 4, seed / 8 % 4, shift);
				seed++;
			}
	current = "extents";
	for (uint64_t n : {(uint64_t) 16384, (uint64_t) 300001, REGIME_PARTITION_FEW_KEYS + 5})
		for (uint64_t buckets : {(uint64_t) 1, (uint64_t) 61, (uint64_t) 1000})
		{
			try_partition_outside({UNIFORM, n, (buckets << 8) - 8, -77, false, seed},
								  seed % 2, seed / 2 % 4, seed / 8 % 4, 8);
			try_partition_begun({ZIPF, n, (buckets << 8) - 8, -77, false, seed}, 8);
			seed++;
		}
}

/* expected: whether the table must hold the values, must not, or either (-1). */
static void
try_few(const Recipe &recipe, bool descending, uint32_t in, uint32_t to,
		int expected)
{
	std::vector<int32_t> keys = make_keys(recipe);
	Reference	reference = refer(keys, descending);
	Guarded<int32_t> input(keys.size(), in);
	Guarded<int32_t> output(keys.size(), to);
	Guarded<uint32_t> rows(keys.size(), to);
	Bounds		b = bounds_of(recipe);
	VerdictSlot verdict(context, nullptr);
	Runs		runs;
	bool		found;

	current = describe("few", recipe, descending, in, to);
	if (keys.empty())
		return;
	input.put(keys);
	const SortInput sorted = input_of(input, keys.size(), b, descending, verdict.get());

	found = few_distinct_runs(sorted, &runs);
	CHECK(expected < 0 || found == (expected == 1));
	CHECK(verdict->n_outside == 0);
	if (!found)
		return;
	CHECK(runs.distinct == reference.run_keys.size());
	expand_runs(nullptr, runs, keys.size(), 0, keys.size(), descending,
				output.get());
	CUDA(cudaDeviceSynchronize());
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(output.intact());

	Sweeps		sweeps;

	sweeps.allocate(context, nullptr, keys.size(), 2);
	ranked_permutation(sorted, false, runs, rows.get(), &sweeps);
	CUDA(cudaDeviceSynchronize());
	CHECK(rows.take(keys.size()) == reference.rows);
	CHECK(rows.intact());

	/* a window of the keys, both ends inside */
	const uint64_t first = keys.size() / 3;
	const uint64_t count = (keys.size() - first) / 2;
	Guarded<int32_t> window(count, to);

	expand_runs(nullptr, runs, keys.size(), first, count, descending,
				window.get());
	CUDA(cudaDeviceSynchronize());
	CHECK(window.take(count) ==
		  std::vector<int32_t>(reference.keys.begin() + first,
							   reference.keys.begin() + first + count));
	CHECK(window.intact());
}

/* Keys, runs made of them, and rows with and without keys, by the kernels that regime.c
 * chooses where those of `without` are not to be chosen. */
static void
try_radix_without(const Recipe &recipe, bool descending, uint32_t in, uint32_t to,
				  uint32_t without)
{
	std::vector<int32_t> keys = make_keys(recipe);
	Reference	reference = refer(keys, descending);
	Guarded<int32_t> input(keys.size(), in);
	Guarded<int32_t> output(keys.size(), to);
	Guarded<uint32_t> rows(keys.size(), to);
	Bounds		b = bounds_of(recipe);
	VerdictSlot verdict(context, nullptr);
	Runs		runs;
	const SortInput sorted = input_of(input, keys.size(), b, descending, verdict.get());
	auto		choice_for = [&](uint32_t wanted) {
		RegimeShape shape = {};
		RegimeChoice choice = {};

		shape.n = keys.size();
		shape.lo = b.lo;
		shape.hi = b.hi;
		shape.wanted = wanted;
		shape.without = without;
		regime_choose_kernels(&context->limits, &shape, &choice);
		return choice;
	};

	current = describe("radix", recipe, descending, in, to) + " without " +
		std::to_string(without);
	input.put(keys);
	{
		RadixStart	start;

		radix_sort(sorted, choice_for(HPSORT_CUDA_KEYS), output.get(), &start);
	}
	CUDA(cudaDeviceSynchronize());
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(output.intact());
	if (!descending)
	{
		encode_runs(context, nullptr, output.get(), keys.size(), &runs);
		CUDA(cudaDeviceSynchronize());
		CHECK(runs.distinct == reference.run_keys.size());
	}
	CUDA(cudaMemset(output.get(), 0xa5, keys.size() * 4));
	{
		RadixStart	start;

		radix_permutation(sorted, choice_for(HPSORT_CUDA_KEYS | HPSORT_CUDA_PERMUTATION),
						  output.get(), rows.get(), &start);
	}
	CUDA(cudaDeviceSynchronize());
	CHECK(verdict->n_outside == 0);
	CHECK(output.take(keys.size()) == reference.keys);
	CHECK(rows.take(keys.size()) == reference.rows);
	CHECK(output.intact() && rows.intact());
	/* rows alone */
	CUDA(cudaMemset(rows.get(), 0xa5, keys.size() * 4));
	{
		RadixStart	start;

		radix_permutation(sorted, choice_for(HPSORT_CUDA_PERMUTATION), nullptr, rows.get(),
						  &start);
	}
	CUDA(cudaDeviceSynchronize());
	CHECK(verdict->n_outside == 0);
	CHECK(rows.take(keys.size()) == reference.rows);
	CHECK(rows.intact());
}

/* By the kernels that are the best for these keys. */
static void
try_radix(const Recipe &recipe, bool descending, uint32_t in, uint32_t to)
{
	if (recipe.n > 0)
		try_radix_without(recipe, descending, in, to, 0);
}

/* By every kind of kernels that can sort these keys: those that are chosen, those that
 * are chosen without them, and so on. */
static void
try_all_kernels(const Recipe &recipe, bool descending, uint32_t in, uint32_t to)
{
	uint32_t	without = 0;

	for (HpsortCudaKernels kernels : {HPSORT_CUDA_ONE_LAUNCH, HPSORT_CUDA_BIN_ROWS})
	{
		without |= HPSORT_CUDA_WITHOUT_KERNELS(kernels);
		try_radix_without(recipe, descending, in, to, without);
	}
}

/*
 * Heavy values: buckets that are crowded, into segments full and not, and hardly not;
 * output whose last keys come from nearly all bins; one digit that most lanes of a warp have,
 * and two.
 */
static void
test_skewed(bool quick, bool tiny, uint64_t seed)
{
	std::vector<uint64_t> sizes = {70001};

	if (!tiny)
		sizes.insert(sizes.end(), {32768, 34500, 300007});
	if (!quick)
		sizes.insert(sizes.end(), {600000, REGIME_PARTITION_FEW_KEYS + 1, 5000011});
	for (int d = DISTRIBUTIONS; d < ALL_DISTRIBUTIONS; d++)
	{
		const Distribution distribution = (Distribution) d;

		if (tiny && d != ZIPF_1_2 && d != MOST)
			continue;
		for (uint64_t n : sizes)
		{
			for (uint64_t buckets : {(uint64_t) 1, (uint64_t) 61, (uint64_t) 611})
				for (uint32_t shift : {7u, 13u, 14u})
				{
					if (((tiny || quick) && shift == 13) || (tiny && buckets != 61))
						continue;
					try_partition({distribution, n, (buckets << shift) - 5, -77, false, seed},
								  seed % 2, seed / 2 % 4, seed / 8 % 4, shift);
					seed++;
				}
			for (uint64_t range : {(uint64_t) 4097, (uint64_t) 14000, (uint64_t) 50000})
			{
				if (range > regime_shared_bins(&context->limits) ||
					(tiny && range != 14000))
					continue;
				try_shared({distribution, n, range, -77, false, seed}, seed % 2, seed / 2 % 4,
						   seed / 8 % 4);
				seed++;
			}
		}
		for (uint64_t n : {700, 2500, 9000})
			for (uint64_t range : {(uint64_t) 2, (uint64_t) 4096, (uint64_t) 1 << 32})
			{
				if (tiny && (n != 2500 || range == 2))
					continue;
				try_radix({distribution, n, range, range >> 32 != 0 ? INT32_MIN : -7, false, seed},
						  seed % 2, seed / 2 % 4, seed / 8 % 4);
				seed++;
			}
	}
}

/*
 * Sizes around the tiles of each kernel, ranges around its batches and tables.
 * Alignment, direction and seed go round with the case number, so that every
 * combination turns up without multiplying the number of cases.
 */
void
test_regimes(bool quick, bool tiny)
{
	const HpsortCudaLimits *limits = &context->limits;
	const uint64_t bins = regime_shared_bins(limits);
	const uint64_t few = regime_few_distinct_capacity(limits);
	std::vector<uint64_t> sizes = {1, 3, 7680, 7681, 16383, 16385, 70001};
	std::vector<uint64_t> ranges = {1, 2, 255, 257, 4096, 4097, bins - 1, bins};
	std::vector<uint32_t> shifts = {4, 7, 11, 13};
	uint64_t	seed = 1;

	if (tiny)
	{
		sizes = {3, 20001};
		ranges = {257, 5000, bins};
		shifts = {7};
		quick = true;
	}
	if (!quick)
	{
		sizes.insert(sizes.end(), {2, 4, 5, 31, 511, 513, 4095, 7679, 16384,
					 65536, 131073, 500000, 2000003});
		ranges.insert(ranges.end(), {3, 31, 32, 33, 256, 8191, 12288, 12289, 40000});
		shifts.insert(shifts.end(), {5, 9, 12, 14});
		if (bins > 32768)
			shifts.push_back(15);
	}
	for (uint64_t n : sizes)
		for (int d = 0; d < DISTRIBUTIONS; d++)
		{
			const Distribution distribution = (Distribution) d;

			if (tiny && d != UNIFORM && d != ZIPF)
				continue;

			const uint32_t in = seed % 4;
			const uint32_t to = seed / 4 % 4;
			const bool	down = seed % 3 == 0;

			for (uint64_t range : ranges)
				if (!quick || (range * 7 + n + d) % 5 == 0)
				{
					try_shared({distribution, n, range, -(int64_t) range / 2, false,
							   seed}, down, in, to);
					seed++;
				}
			for (uint32_t shift : shifts)
			{
				const uint64_t most = regime_partition_max_buckets(limits);

				for (uint64_t buckets : {(uint64_t) 1, (uint64_t) 5,
					 (uint64_t) 513, most})
				{
					if ((quick || n < 100000) && (shift + buckets + n + d) % 4 != 0)
						continue;
					try_partition({distribution, n, (buckets << shift) - shift,
								  -1000000, false, seed}, down, in, to, shift);
					seed++;
				}
			}
			for (uint64_t distinct : {(uint64_t) 1, (uint64_t) 2, (uint64_t) 255,
				 (uint64_t) 256, (uint64_t) 257, (uint64_t) 8192, few})
			{
				if (quick && (distinct + n + d) % 3 != 0)
					continue;
				try_few({distribution, n, distinct, 0, true, seed}, down, in, to, 1);
				seed++;
			}
			/* the key that equals the hash tables' mark for an empty slot */
			try_few({distribution, n, 99, -50, false, seed++}, down, in, to, 1);
			for (uint64_t range : {(uint64_t) 300, (uint64_t) 70000,
				 (uint64_t) 20000000})
			{
				try_radix({distribution, n, range, -(int64_t) range / 2, false,
						  seed++}, down, in, to);
				try_radix({distribution, n, range, 1000, false, seed++}, down, in,
						  to);
			}
			try_radix({distribution, n, (uint64_t) 1 << 32, 0, true, seed++}, down,
					  in, to);
		}

	test_skewed(quick, tiny, seed);
	if (!tiny)
		test_extents(quick, seed);

	/*
	 * A size for each shape of the sort of few keys: a single block, not full and full, and
	 * blocks of one, two, four and eight items a thread; and sizes of passes over few tiles.
	 */
	std::vector<uint64_t> shapes = {100, 1024, 1100, 9000, 15000, 70000, 150000, 300000,
		600000};

	if (!quick)
		shapes.insert(shapes.end(), {1050000, 1200000, 1700000, 2200000, 4194304});
	for (uint64_t n : shapes)
		for (uint64_t range : {(uint64_t) 1, (uint64_t) 40, (uint64_t) 130000,
			 (uint64_t) 1 << 32})
		{
			const bool	anywhere = range >> 32 != 0;

			if (tiny && range != 130000 && !anywhere)
				continue;
			/* many equal keys, and none: votes and atomics */
			for (int d = 0; d < (tiny ? 1 : 3); d++)
			{
				try_radix({(Distribution) d, n, range, -7, anywhere, seed}, seed % 2,
						  seed / 2 % 4, seed / 8 % 4);
				seed++;
			}
		}

	/* one to four passes by each kind of kernels */
	for (uint64_t n : {700, 9000, 300000, 3000000})
		for (uint64_t range : {(uint64_t) 200, (uint64_t) 5000, (uint64_t) 130000,
			 (uint64_t) 1 << 32})
		{
			const bool	anywhere = range >> 32 != 0;

			if (n > (tiny ? 10000 : quick ? 1000000 : 10000000))
				break;
			try_all_kernels({ZIPF, n, range, -7, anywhere, seed}, seed % 2, seed / 2 % 4,
							seed / 8 % 4);
			seed++;
		}

	/* ranges of every number of bits that takes several passes, tiles full and not */
	for (uint32_t bits = 9; bits <= 32 && !tiny; bits += quick ? 5 : 1)
		for (uint64_t n : {((uint64_t) 1 << 21) + 1, ((uint64_t) 1 << 22) + 8191})
		{
			try_radix({(Distribution) (seed % 3), n, (uint64_t) 1 << bits,
					  bits == 32 ? INT32_MIN : -77, false, seed},
					  seed % 2, seed / 2 % 4, seed / 8 % 4);
			seed++;
			if (quick)
				break;
		}

	if (tiny)
		return;

	/* a hash table that overflows: in one block, and only when merged */
	for (uint64_t more : {(uint64_t) 1, (uint64_t) 1000, few * 4})
	{
		try_few({SORTED, 20 * (few + more), few + more, 0, true, seed++}, false, 0,
				0, 0);
		try_few({SORTED, (few + more) * 2, few + more, 0, true, seed++}, false, 0,
				0, 0);
		try_few({UNIFORM, 40 * (few + more), few + more, 0, true, seed++}, false,
				0, 0, 0);
	}
}
