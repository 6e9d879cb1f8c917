/*-------------------------------------------------------------------------
 *
 * generate.cuh
 *	  Keys for tests and benchmarks, made on the device from a seed, and checks
 *	  of results too large to bring to the host.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_TEST_GENERATE_CUH
#define HPSORT_TEST_GENERATE_CUH

#include <cuda_runtime.h>
#include <cstdint>

enum Distribution
{
	UNIFORM,					/* every value equally likely */
	ZIPF,						/* value v about 1 / (v + 1) of the time */
	CONSTANT,
	CLUSTERED,					/* long stretches within 256 neighbouring values */
	SORTED,
	REVERSED,
	DISTRIBUTIONS,
	/* more of what data has, with the heaviest values where they are most in the way */
	ZIPF_1_05 = DISTRIBUTIONS,	/* value v about (v + 1) to the power -1.05 of the time */
	ZIPF_1_2,
	ZIPF_2,
	HALF,						/* one value in 50 % */
	MOST,						/* and in 95 % */
	SERIES,						/* ascending, each thousand of them at random */
	HUMPS,						/* two of them */
	ALL_DISTRIBUTIONS
};

static const char *const distribution_names[] = {
	"uniform", "zipf", "constant", "clustered", "sorted", "reversed", "zipf 1.05",
	"zipf 1.2", "zipf 2", "one in 50 %", "one in 95 %", "series", "two humps"};

/* By HpsortCudaRegime. */
static const char *const regime_names[] = {
	"nothing", "shared_histogram", "partition", "few_distinct", "radix", "published"};

/*
 * distinct values: lo, lo + 1, ... when anywhere is false; else that many
 * values spread over all of 2^32 by a bijection (lo is not used then).
 */
struct Recipe
{
	Distribution distribution;
	uint64_t	n;
	uint64_t	distinct;
	int64_t		lo;
	bool		anywhere;
	uint64_t	seed;
	uint32_t	common = 0;		/* bits that are 0 in all keys, after all else */
};

__host__ __device__ inline uint64_t
mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* A bijection on 32 bits: odd multiplications and xor-shifts. */
__host__ __device__ inline uint32_t
mix32(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* Zipf's law with an exponent above 1, by its density from 1/2 to d + 1/2. */
__host__ __device__ inline uint64_t
make_zipf(double exponent, uint64_t d, double u)
{
	const double power = 1 - exponent;
	const double first = pow(0.5, power);
	const double x = pow(first + u * (pow(static_cast<double>(d) + 0.5, power) - first),
						 1 / power);

	return x < static_cast<double>(d) ? static_cast<uint64_t>(x - 0.5) : d - 1;
}

__host__ __device__ inline int32_t
make_key(const Recipe &recipe, uint64_t i)
{
	const uint64_t h = mix64(recipe.seed * 0x9e3779b97f4a7c15ull + i);
	const uint64_t d = recipe.distinct;
	const uint64_t n = recipe.n;
	uint64_t	v = 0;

	switch (recipe.distribution)
	{
		case UNIFORM:
			v = h % d;
			break;
		case ZIPF:
			/* log-uniform has the mass of Zipf's law with exponent 1 */
			v = static_cast<uint64_t>(
				exp((h >> 11) * 0x1p-53 * log(static_cast<double>(d) + 1)) - 1);
			v = v < d ? v : d - 1;
			break;
		case CONSTANT:
			v = d / 2;
			break;
		case CLUSTERED:
			v = (mix64(recipe.seed + i / 65536) % d + h % 256) % d;
			break;
		case SORTED:
		case REVERSED:
			{
				const uint64_t at =
					recipe.distribution == SORTED ? i : n - 1 - i;

				/* at * d / n without overflow */
				v = static_cast<uint64_t>(static_cast<double>(at) /
										  static_cast<double>(n) *
										  static_cast<double>(d));
				v = v < d ? v : d - 1;
				break;
			}
		case ZIPF_1_05:
			v = make_zipf(1.05, d, (h >> 11) * 0x1p-53);
			break;
		case ZIPF_1_2:
			v = make_zipf(1.2, d, (h >> 11) * 0x1p-53);
			break;
		case ZIPF_2:
			v = make_zipf(2, d, (h >> 11) * 0x1p-53);
			break;
		case HALF:
			v = h >> 63 != 0 ? d / 2 : h % d;
			break;
		case MOST:
			v = (h >> 32) % 20 != 0 ? d / 2 : mix64(h) % d;
			break;
		case SERIES:
			v = (i - i % 1000 + h % 1000) * d / n;
			v = v < d ? v : d - 1;
			break;
		case HUMPS:
			/* the sum of four random numbers, above and below the middle */
			v = ((h & 0xfff) + (h >> 12 & 0xfff) + (h >> 24 & 0xfff) + (h >> 36 & 0xfff)) *
				(d / 4) / 16384 + mix64(h) % (d / 16384 + 1) + (h >> 63) * (d / 2) + d / 8;
			v = v < d ? v : d - 1;
			break;
		default:
			break;
	}
	if (recipe.anywhere)
		return static_cast<int32_t>(mix32(static_cast<uint32_t>(v)) & ~recipe.common);
	return static_cast<int32_t>((static_cast<uint32_t>(recipe.lo) +
								 static_cast<uint32_t>(v)) & ~recipe.common);
}

static __global__ void
generate_kernel(Recipe recipe, int32_t *keys)
{
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
		 i < recipe.n; i += step)
		keys[i] = make_key(recipe, i);
}

static inline void
generate(const Recipe &recipe, int32_t *keys, cudaStream_t stream = nullptr)
{
	if (recipe.n > 0)
		generate_kernel<<<4096, 256, 0, stream>>>(recipe, keys);
}

/* Neighbours out of order, and an order-independent sum over all keys. */
struct Audit
{
	unsigned long long disorder;
	unsigned long long sum;
};

static __global__ void
audit_kernel(const int32_t *keys, uint64_t n, bool descending, Audit *audit)
{
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
	unsigned long long disorder = 0;
	unsigned long long sum = 0;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
		 i < n; i += step)
	{
		sum += mix64(static_cast<uint32_t>(keys[i]));
		if (i > 0)
			disorder += descending ? keys[i - 1] < keys[i] : keys[i - 1] > keys[i];
	}
	for (int s = 16; s > 0; s /= 2)
	{
		disorder += __shfl_xor_sync(0xffffffffu, disorder, s);
		sum += __shfl_xor_sync(0xffffffffu, sum, s);
	}
	if (threadIdx.x % 32 == 0)
	{
		atomicAdd(&audit->disorder, disorder);
		atomicAdd(&audit->sum, sum);
	}
}

#endif							/* HPSORT_TEST_GENERATE_CUH */
