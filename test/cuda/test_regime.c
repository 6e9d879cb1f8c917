/*-------------------------------------------------------------------------
 *
 * test_regime.c
 *	  The choice of a regime and the size arithmetic, on the host: no GPU, no
 *	  driver, no CUDA.
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hpsort_cuda.h"
#include "regime.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* shared memory a block may opt in to, by generation */
static const HpsortCudaLimits h100 = {132, 232448, (uint64_t) 80 << 30};
static const HpsortCudaLimits a10 = {72, 101376, (uint64_t) 24 << 30};
static const HpsortCudaLimits t4 = {40, 65536, (uint64_t) 16 << 30};
/* and one that there is not: with room for more bins than permutations take */
static const HpsortCudaLimits roomy = {200, 524288, (uint64_t) 200 << 30};

#define K HPSORT_CUDA_KEYS
#define P HPSORT_CUDA_PERMUTATION
/* beside what is wanted: HpsortCudaSpec.counted */
#define COUNTED 64u
/* keys anywhere */
#define ANY INT_MIN, INT_MAX

static RegimeChoice
choose(const HpsortCudaLimits *limits, uint64_t n, int64_t lo, int64_t hi,
	   uint64_t distinct, uint32_t wanted)
{
	RegimeShape shape = {n, (int32_t) lo, (int32_t) hi, distinct, wanted & ~COUNTED,
		(wanted & COUNTED) != 0, 0};
	RegimeChoice choice;

	memset(&choice, 0xa5, sizeof(choice));
	regime_choose(limits, &shape, &choice);
	return choice;
}

typedef struct Case
{
	const HpsortCudaLimits *limits;
	uint64_t	n;
	int64_t		lo;
	int64_t		hi;
	uint64_t	distinct;
	uint32_t	wanted;
	HpsortCudaRegime regime;
} Case;

static const Case cases[] = {
	{&h100, 0, 0, 9, 0, K, HPSORT_CUDA_NOTHING},
	{&h100, 1, 0, 0, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100000000, 0, 999, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100000000, -25000, 24999, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 5000000000, 0, 999, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100000000, 0, 999, 0, P | COUNTED, HPSORT_CUDA_SHARED_HISTOGRAM},
	/* the widest range that fits, and one more */
	{&h100, 100000000, 1, 57600, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100000000, 1, 57601, 0, K, HPSORT_CUDA_PARTITION},
	{&a10, 100000000, 1, 24832, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&a10, 100000000, 1, 24833, 0, K, HPSORT_CUDA_PARTITION},
	{&t4, 100000000, 1, 15872, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&t4, 100000000, 1, 15873, 0, K, HPSORT_CUDA_PARTITION},
	{&roomy, 100000000, 1, 65536, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&roomy, 100000000, 1, 65537, 0, K, HPSORT_CUDA_PARTITION},
	/* few distinct values, where the bins do not fit */
	{&h100, 100000000, 0, 999, 500, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100000000, ANY, 8192, K, HPSORT_CUDA_FEW_DISTINCT},
	{&h100, 20000000, ANY, 8192, P, HPSORT_CUDA_FEW_DISTINCT},
	{&h100, 100000000, ANY, 1, K, HPSORT_CUDA_FEW_DISTINCT},
	{&h100, 100000000, ANY, 10240, K, HPSORT_CUDA_FEW_DISTINCT},
	{&h100, 100000000, ANY, 10241, K, HPSORT_CUDA_RADIX},
	{&h100, 1000, ANY, 10, K, HPSORT_CUDA_RADIX},
	{&h100, 5000000000, ANY, 8192, K, HPSORT_CUDA_FEW_DISTINCT},
	/* dense enough for bins, or not */
	{&h100, 100000000, 0, 15999999, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 100000000, 0, 99999999, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 100000000, 0, 134217727, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 100000000, 0, 134217728, 0, K, HPSORT_CUDA_RADIX},
	{&h100, 1000000, 0, 3999999, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 1000000, 0, 4000003, 0, K, HPSORT_CUDA_RADIX},
	/* with many keys, the passes of a radix sort are cheaper already at half that */
	{&h100, 4194303, 0, 16777211, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 4194304, 0, 16777211, 0, K, HPSORT_CUDA_RADIX},
	{&h100, 10000000, 0, 20000000, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 10000000, 0, 20000001, 0, K, HPSORT_CUDA_RADIX},
	{&h100, 524288, 0, 99999, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 524287, 0, 99999, 0, K, HPSORT_CUDA_RADIX},
	/* positions must fit in 32 bits, with the rest of the last tile */
	{&h100, 1000000000, 0, 999999, 0, K, HPSORT_CUDA_PARTITION},
	{&h100, 1000000001, 0, 999999, 0, K, HPSORT_CUDA_RADIX},
	{&h100, 4294967296, 0, 999999, 0, K, HPSORT_CUDA_RADIX},
	/* few keys are counted, too: what comes chunk by chunk may become many */
	{&h100, 16388, 0, 0, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100, 0, 49999, 0, K, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100, 0, 49999, 0, HPSORT_CUDA_RUNS, HPSORT_CUDA_SHARED_HISTOGRAM},
	/* rows: ranks pay where they save a pass, and the wait for them does not matter */
	{&h100, 4194303, 0, 999, 0, P, HPSORT_CUDA_RADIX},
	{&h100, 4194304, 0, 999, 0, P, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 100000000, 0, 255, 0, P, HPSORT_CUDA_RADIX},
	{&h100, 100000000, 0, 256, 0, P, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 1000, 0, 999, 0, P | COUNTED, HPSORT_CUDA_SHARED_HISTOGRAM},
	{&h100, 1000, 0, 999, 0, P | HPSORT_CUDA_RUNS, HPSORT_CUDA_SHARED_HISTOGRAM},
	/* a partition has no stable order */
	{&h100, 100000000, 0, 99999, 0, P, HPSORT_CUDA_RADIX},
	{&h100, 100000000, ANY, 0, K, HPSORT_CUDA_RADIX},
	/* more values than shared memory counts, and no more */
	{&h100, 100000000, ANY, 10241, P, HPSORT_CUDA_RADIX},
	{&h100, 30000000, ANY, 512, P, HPSORT_CUDA_FEW_DISTINCT},
	{&h100, 100000000, ANY, 8192, P | K, HPSORT_CUDA_FEW_DISTINCT},
	{&a10, 100000000, ANY, 2000, P, HPSORT_CUDA_FEW_DISTINCT},
	{&h100, 100000000, ANY, 0, P, HPSORT_CUDA_RADIX},
	{&h100, 100000000, ANY, 50000, P | K, HPSORT_CUDA_RADIX},
	{&h100, 100000000, ANY, 50000, P | HPSORT_CUDA_RUNS, HPSORT_CUDA_RADIX},
	/* bins of 16 bits that shared memory has no room for */
	{&h100, 100000000, 0, 65535, 50000, P, HPSORT_CUDA_RADIX},
	{&h100, 100000000, 0, 65535, 5000, P, HPSORT_CUDA_FEW_DISTINCT},
	{&h100, 100000000, 0, 57599, 50000, P, HPSORT_CUDA_SHARED_HISTOGRAM},
};

static void
test_table(void **state)
{
	(void) state;
	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		const Case *c = &cases[i];
		RegimeChoice choice = choose(c->limits, c->n, c->lo, c->hi,
										 c->distinct, c->wanted);

		if (choice.regime != c->regime)
			fail_msg("case %zu: regime %d (%s), expected %d", i, choice.regime,
					 choice.reason, c->regime);
		assert_true(choice.reason[0] != '\0');
		assert_true(strlen(choice.reason) < sizeof(choice.reason));
	}
}

/* Why a permutation is sorted as pairs: what is not known is not said. */
static void
test_reasons(void **state)
{
	RegimeChoice choice;

	(void) state;
	choice = choose(&h100, 1000, ANY, 0, P);
	assert_non_null(strstr(choice.reason, "too few keys for dense ranks"));
	choice = choose(&h100, 2000000, ANY, 0, P);
	assert_non_null(strstr(choice.reason, "distinct values not known"));
	choice = choose(&h100, 2000000, ANY, 100000, P);
	assert_non_null(strstr(choice.reason, "too many distinct values for dense ranks"));
	choice = choose(&h100, 1000000000, 0, 199999999, 0, K);
	assert_non_null(strstr(choice.reason, "range too wide for one pass on this device"));
	choice = choose(&h100, 50000000, 0, 199999999, 0, K);
	assert_non_null(strstr(choice.reason, "range too wide for the number of keys"));
}

/* What has given up is not chosen again, whatever the estimate says. */
static void
test_given_up(void **state)
{
	RegimeShape shape = {100000000, ANY, 5000, P, 0, 0};
	RegimeChoice choice;

	(void) state;
	regime_choose(&h100, &shape, &choice);
	assert_int_equal(choice.regime, HPSORT_CUDA_FEW_DISTINCT);
	shape.without = HPSORT_CUDA_WITHOUT(HPSORT_CUDA_FEW_DISTINCT);
	regime_choose(&h100, &shape, &choice);
	assert_int_equal(choice.regime, HPSORT_CUDA_RADIX);
}

/* The kernels of RADIX: n keys in so many bits, and what follows from them. */
typedef struct KernelCase
{
	const HpsortCudaLimits *limits;
	uint64_t	n;
	uint32_t	bits;
	uint32_t	wanted;
	HpsortCudaKernels kernels;
	uint32_t	items;
} KernelCase;

static const KernelCase kernel_cases[] = {
	{&h100, 1, 32, K, HPSORT_CUDA_ONE_LAUNCH, 0},
	{&h100, 524288, 8, P, HPSORT_CUDA_ONE_LAUNCH, 0},
	{&h100, 524289, 32, K, HPSORT_CUDA_MANY_KEYS, 22},
	{&h100, 524289, 17, P, HPSORT_CUDA_MANY_KEYS, 22},
	/* no more than a block of 8,192 keys on each SM */
	{&t4, 327680, 32, K, HPSORT_CUDA_ONE_LAUNCH, 0},
	{&t4, 327681, 32, K, HPSORT_CUDA_MANY_KEYS, 22},
	/* two digits fit in a bin of 16 bits, beside the row's number */
	{&h100, 524289, 16, P, HPSORT_CUDA_BIN_ROWS, 0},
	{&h100, 4000000000, 9, P, HPSORT_CUDA_BIN_ROWS, 0},
	{&h100, 4194305, 16, P | HPSORT_CUDA_RUNS, HPSORT_CUDA_MANY_KEYS, 22},
	/* the widest tiles, where an SM has room for two of them */
	{&h100, 49999999, 32, K, HPSORT_CUDA_MANY_KEYS, 22},
	{&h100, 50000000, 32, K, HPSORT_CUDA_MANY_KEYS, 26},
	{&h100, 50000000, 32, P | K, HPSORT_CUDA_MANY_KEYS, 22},
	{&a10, 50000000, 32, K, HPSORT_CUDA_MANY_KEYS, 22},
	{&h100, UINT32_MAX, 32, K, HPSORT_CUDA_MANY_KEYS, 26},
	{&h100, (uint64_t) UINT32_MAX + 1, 32, K, HPSORT_CUDA_LIBRARY, 0},
};

static void
test_kernels(void **state)
{
	(void) state;
	for (size_t i = 0; i < LENGTH(kernel_cases); i++)
	{
		const KernelCase *c = &kernel_cases[i];
		RegimeShape shape = {c->n, 0, 0, 0, c->wanted, 0, 0};
		RegimeChoice choice = {0};

		shape.lo = INT_MIN;
		shape.hi = (int32_t) ((int64_t) INT_MIN + ((int64_t) 1 << c->bits) - 1);
		regime_choose_kernels(c->limits, &shape, &choice);
		if (choice.kernels != c->kernels || choice.items != c->items)
			fail_msg("case %zu: kernels %d, %u items", i, choice.kernels, choice.items);
		/* all bits are in some digit, and none is longer than it has to be */
		assert_int_equal(choice.bits, c->bits);
		assert_int_equal(choice.passes, (c->bits + 7) / 8);
		assert_true(choice.passes * choice.digit_bits >= c->bits &&
					choice.passes * (choice.digit_bits - 1) < c->bits);
	}
}

/* What is left out is not chosen, whatever else is; what takes all the rest always is. */
static void
test_without(void **state)
{
	(void) state;
	for (uint32_t without = 0; without < (uint32_t) 1 << 20; without += 0x10409)
		for (size_t i = 0; i < LENGTH(cases); i++)
			for (uint32_t wanted = K; wanted < 2 * P; wanted++)
			{
				RegimeShape shape = {cases[i].n, (int32_t) cases[i].lo,
					(int32_t) cases[i].hi, cases[i].distinct, wanted, 0, without};
				RegimeChoice choice;

				regime_choose(cases[i].limits, &shape, &choice);
				if (choice.regime == HPSORT_CUDA_NOTHING)
					assert_int_equal(shape.n, 0);
				else if (choice.regime != HPSORT_CUDA_RADIX)
					assert_false(without & HPSORT_CUDA_WITHOUT(choice.regime));
				else if (choice.kernels != HPSORT_CUDA_LIBRARY &&
						 choice.kernels != HPSORT_CUDA_MANY_KEYS)
					assert_false(without & HPSORT_CUDA_WITHOUT_KERNELS(choice.kernels));
			}
}

/* A table of values beside what else is possible once bounds are known. */
static void
test_few_beside(void **state)
{
	(void) state;
	/* beside a partition: more keys, and more of them for each value */
	assert_int_equal(choose(&h100, 10000000, 0, 999999, 100, K).regime,
					 HPSORT_CUDA_PARTITION);
	assert_int_equal(choose(&h100, 20000000, 0, 999999, 100, K).regime,
					 HPSORT_CUDA_FEW_DISTINCT);
	assert_int_equal(choose(&h100, 20000000, 0, 999999, 8192, K).regime,
					 HPSORT_CUDA_PARTITION);
	assert_int_equal(choose(&h100, 30000000, 0, 999999, 8192, K).regime,
					 HPSORT_CUDA_FEW_DISTINCT);
	/* where there is none, because the range is too wide */
	assert_int_equal(choose(&h100, 10000000, 0, 99999999, 8192, K).regime,
					 HPSORT_CUDA_FEW_DISTINCT);
	assert_int_equal(choose(&h100, 10000000, ANY, 8192, K).regime,
					 HPSORT_CUDA_FEW_DISTINCT);
	/* beside three passes that make rows, and beside four */
	assert_int_equal(choose(&h100, 20000000, 0, 999999, 8192, P).regime,
					 HPSORT_CUDA_RADIX);
	assert_int_equal(choose(&h100, 20000000, 0, 99999999, 8192, P).regime,
					 HPSORT_CUDA_FEW_DISTINCT);
}

/* No sample is taken that could not change anything. */
static void
test_wants_sample(void **state)
{
	RegimeShape shape = {20000000, 0, 999999, 0, K, 0, 0};

	(void) state;
	assert_true(regime_wants_sample(&h100, &shape));
	/* too few keys beside a partition, which does not make rows */
	shape.n = 10000000;
	assert_false(regime_wants_sample(&h100, &shape));
	shape.wanted = P;
	assert_true(regime_wants_sample(&h100, &shape));
	shape.n = (1 << 22) - 1;
	assert_false(regime_wants_sample(&h100, &shape));
	shape.n = 1 << 22;
	assert_true(regime_wants_sample(&h100, &shape));
	shape.distinct = 5;
	assert_false(regime_wants_sample(&h100, &shape));
	shape.distinct = 0;
	shape.hi = 999;
	assert_false(regime_wants_sample(&h100, &shape));
}

/* Buckets cover the range, fit the kernels, and none is superfluous. */
static void
test_buckets(void **state)
{
	static const HpsortCudaLimits *const all[] = {&h100, &a10, &t4};

	(void) state;
	for (size_t d = 0; d < LENGTH(all); d++)
		for (uint64_t range = 2; range <= (uint64_t) 1 << 32; range += range / 7 + 1)
		{
			RegimeChoice c = choose(all[d], 1000000000, INT_MIN,
										(int64_t) INT_MIN + (int64_t) range - 1, 0,
										K);

			if (c.regime == HPSORT_CUDA_RADIX)
				assert_int_equal(c.bits, regime_bits(range - 1));
			if (c.regime != HPSORT_CUDA_PARTITION)
				continue;
			assert_true((uint64_t) c.buckets << c.shift >= range);
			assert_true((uint64_t) (c.buckets - 1) << c.shift < range);
			assert_true(c.shift <= 15);
			assert_true(c.buckets > 256);
			assert_true(c.buckets <= regime_partition_max_buckets(all[d]));
			assert_true((1u << c.shift) + 4 <= regime_shared_bins(all[d]));
			assert_true(regime_partition_words(REGIME_PARTITION_SMALL_TILE, c.buckets) * 4 <=
						all[d]->shared_bytes);
		}
}

/* Work items: every key in one, no bucket's segments forgotten. */
static void
test_segments(void **state)
{
	(void) state;
	for (uint64_t n = 1; n <= UINT32_MAX; n = n * 3 + 1)
		for (uint32_t buckets = 1; buckets <= 4096; buckets = buckets * 5 + 1)
		{
			uint64_t	crowd = regime_partition_crowd(n, buckets);
			uint64_t	segment = crowd;

			for (uint32_t shift = 0; shift <= 16; shift++)
			{
				uint64_t	here = regime_partition_segment(n, buckets, shift);

				segment = here < segment ? here : segment;
				assert_true(here <= crowd && (here == crowd || here >= 1u << shift));
			}

			/* the worst case: all keys in crowded buckets just above what crowds one */
			assert_true(crowd >= 24576 && segment >= 8192);
			assert_true(regime_partition_items(n, buckets) >= buckets);
			assert_true(regime_partition_items(n, buckets) >=
						(n + segment - 1) / segment);
			assert_true(regime_partition_crowded(n, buckets) >=
						(n / (crowd + 1) < buckets ? n / (crowd + 1) : buckets));
		}
}

/*
 * A tile's keys of a bucket span no more than two extents, whatever they are; places have
 * 31 bits, with room for what is added to them; the table keeps free words; a kernel's
 * shared memory is the device's.
 */
static void
test_extents(void **state)
{
	static const HpsortCudaLimits *const all[] = {&h100, &a10, &t4, &roomy};

	(void) state;
	for (size_t d = 0; d < LENGTH(all); d++)
		for (uint64_t n = 1; n <= 1000000000; n += n / 5 + 1)
			for (uint32_t buckets = 1; buckets <= regime_partition_max_buckets(all[d]);
				 buckets += buckets / 3 + 1)
			{
				uint64_t	extent = regime_partition_extent(all[d], n, buckets);
				uint64_t	further = regime_partition_further(n, extent);
				uint32_t	tile = regime_partition_tile(all[d], n, buckets);

				assert_true(extent >= tile);
				assert_true(extent * buckets > n);
				assert_int_equal(extent % 64, 0);
				assert_true((buckets + further) * extent + 16384 < (uint64_t) 1 << 31);
				assert_true(further < 4096);
				assert_true(regime_partition_slots(n, extent) > 2 * further);
				assert_true(regime_partition_words(tile, buckets) <=
							regime_shared_bins(all[d]));
			}
	/* tiles are small for few keys, for many small buckets, and in little shared memory */
	assert_int_equal(regime_partition_tile(&h100, 100000000, 489), REGIME_PARTITION_TILE);
	assert_int_equal(regime_partition_tile(&h100, 1000000000, 4096), REGIME_PARTITION_TILE);
	assert_int_equal(regime_partition_tile(&h100, 5000000, 489), REGIME_PARTITION_TILE);
	assert_int_equal(regime_partition_tile(&h100, 1000000, 489), REGIME_PARTITION_SMALL_TILE);
	assert_int_equal(regime_partition_tile(&h100, 4000000, 1024), REGIME_PARTITION_SMALL_TILE);
	assert_int_equal(regime_partition_tile(&t4, 100000000, 489), REGIME_PARTITION_SMALL_TILE);
}

static void
test_bits(void **state)
{
	(void) state;
	assert_int_equal(regime_bits(0), 0);
	assert_int_equal(regime_bits(1), 1);
	assert_int_equal(regime_bits(255), 8);
	assert_int_equal(regime_bits(256), 9);
	assert_int_equal(regime_bits(UINT32_MAX), 32);
	assert_int_equal(regime_bits((uint64_t) 1 << 32), 33);
}

/* The need grows with n, never overflows, and narrow jobs do not keep keys. */
static void
test_need(void **state)
{
	static const uint32_t wanted[] = {HPSORT_CUDA_RUNS, K, P,
		HPSORT_CUDA_RUNS | K | P};

	(void) state;
	for (size_t w = 0; w < LENGTH(wanted); w++)
	{
		HpsortCudaSpec spec = {0};
		uint64_t	before = 0;
		uint64_t	narrow;

		spec.wanted = wanted[w];
		for (uint64_t n = 1; n < (uint64_t) 1 << 40; n *= 2)
		{
			uint64_t	need = regime_job_need(&h100, &spec, n);

			assert_true(need >= n * 4);
			assert_true(need < n * 64 + ((uint64_t) 1 << 30));
			/* beyond 1e9 keys a partition is no longer considered */
			if (n != (uint64_t) 1 << 30)
				assert_true(need >= before);
			before = need;
		}
		/* few keys need little, so that a small limit does not refuse them */
		assert_true(regime_job_need(&h100, &spec, 1000) < (uint64_t) 32 << 20);
		spec.bounds_known = 1;
		spec.hi = 999;
		assert_true(regime_job_need(&h100, &spec, 1000) < (uint64_t) 32 << 20);
		narrow = regime_job_need(&h100, &spec, (uint64_t) 1 << 40);
		if (wanted[w] & P)
			assert_true(narrow > (uint64_t) 1 << 42);
		else
			assert_true(narrow < (uint64_t) 1 << 28);
	}
}

/* What a partition takes is within what a job is said to need. */
static void
test_partition_need(void **state)
{
	static const HpsortCudaLimits *const all[] = {&h100, &a10, &t4, &roomy};
	HpsortCudaSpec spec = {0};

	(void) state;
	spec.wanted = K;
	for (size_t d = 0; d < LENGTH(all); d++)
		for (uint64_t n = (uint64_t) 1 << 19; n <= 1000000000; n += n / 23)
		{
			uint64_t	job_need = regime_job_need(all[d], &spec, n);

			for (uint64_t range = 2; range <= (uint64_t) 1 << 28; range += range / 23 + 1)
			{
				RegimeChoice c = choose(all[d], n, INT_MIN,
											(int64_t) INT_MIN + (int64_t) range - 1, 0,
											K);
				uint64_t	bytes;

				if (c.regime != HPSORT_CUDA_PARTITION)
					continue;
				bytes = regime_partition_bytes(all[d], n, c.shift, c.buckets);
				assert_true(bytes + 2 * n * sizeof(int32_t) <= job_need);
			}
		}
}

/* Counts as samples of 4,096 keys have them, on average. */
static void
test_distinct(void **state)
{
	const uint64_t n = 10000000;
	const RegimeSample equal = {4096, 3224, 2483, 624, 103};	/* 8,192 values */
	const RegimeSample all_met = {4096, 100, 0, 0, 0};
	const RegimeSample zipf_few = {4096, 697, 273, 157, 84};	/* exponent 1, 1,000 values */
	const RegimeSample zipf_longer = {4096, 748, 485, 109, 42};	/* 1.2, 4,000 values */
	const RegimeSample zipf_tail = {4096, 1176, 940, 98, 39};	/* 1.2; 300,000 in 1e7 */
	const RegimeSample zipf_steep = {4096, 88, 45, 10, 6};	/* 2; 4,000 in 1e7 */
	const RegimeSample dominated = {4096, 206, 205, 0, 0};	/* one in 95 %, the rest different */

	(void) state;
	assert_in_range((uint64_t) regime_distinct(&equal, n), 8000, 8400);
	assert_in_range((uint64_t) regime_distinct(&all_met, n), 100, 100);
	assert_in_range((uint64_t) regime_distinct(&zipf_few, n), 900, 1000);
	assert_in_range((uint64_t) regime_distinct(&zipf_longer, n), 4000, 8000);
	assert_in_range((uint64_t) regime_distinct(&zipf_steep, n), 88, 200);
	/* of few keys, too many to be met by each block anew */
	assert_in_range((uint64_t) regime_distinct(&zipf_steep, REGIME_TAIL_MIN_N - 1),
					REGIME_TAIL_MIN_N - 1, REGIME_TAIL_MIN_N - 1);
	/* neither table would hold them */
	assert_in_range((uint64_t) regime_distinct(&zipf_tail, n), n, n);
	assert_in_range((uint64_t) regime_distinct(&dominated, n), n, n);
	/* where trying costs little beside the sort, it is tried */
	assert_in_range((uint64_t) regime_distinct(&zipf_tail, REGIME_TAIL_MAX_N), 5000, 6000);
	assert_in_range((uint64_t) regime_distinct(&dominated, REGIME_TAIL_MAX_N), 20000, 22000);
	/* no more values than keys */
	assert_in_range((uint64_t) regime_distinct(&equal, 5000), 5000, 5000);
}

/* What the passes share is within what a radix sort is said to need beside its other array. */
static void
test_sweep_need(void **state)
{
	(void) state;
	for (uint64_t n = (uint64_t) 1 << 19; n < (uint64_t) 1 << 34; n += n / 3)
		assert_true(regime_sweep_bytes(n, 4) + n * sizeof(uint32_t) <=
					regime_radix_bytes(n, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_few_beside),
		cmocka_unit_test(test_wants_sample),
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_need),
		cmocka_unit_test(test_partition_need),
		cmocka_unit_test(test_sweep_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
