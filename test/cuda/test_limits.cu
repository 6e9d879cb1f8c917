/*-------------------------------------------------------------------------
 *
 * test_limits.cu
 *	  Numbers of keys next to 2^32, where positions stop fitting in 32 bits.
 *
 *-------------------------------------------------------------------------
 */
#include "check.cuh"
#include "regime.h"
#include "sort_now.cuh"

/*
 * Keys behind the output, to see that they are left alone: more than the tile
 * that the end of an output was once taken for.
 */
static constexpr uint64_t guard = 1024;

/*
 * Keys that are all the same go to PARTITION, into one bucket.  offset: of the output from a 16-byte boundary, in keys.
 */
static void
try_limit(const Recipe &recipe, uint32_t offset,
		  HpsortCudaRegime expected)
{
	const std::vector<int32_t> poison(guard, 0x5a5a5a5a);
	std::vector<int32_t> behind(guard);
	HpsortCudaSpec spec = {};
	RegimeChoice choice = {};
	HpsortCudaVerdict *verdict;
	int32_t    *keys;
	int32_t    *memory;
	int32_t    *out;
	Audit	   *audits;
	Audit		result[2];

	spec.bounds_known = 1;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	CUDA(cudaMallocHost((void **) &verdict, sizeof(*verdict)));
	CUDA(cudaMalloc(&keys, recipe.n * 4));
	CUDA(cudaMalloc(&memory, (offset + recipe.n + guard) * 4));
	CUDA(cudaMalloc(&audits, sizeof(result)));
	CUDA(cudaMemset(audits, 0, sizeof(result)));
	out = memory + offset;
	CUDA(cudaMemset(out, 0x5a, (recipe.n + guard) * 4));
	generate(recipe, keys);
	CUDA(cudaDeviceSynchronize());
	current = "limit n " + std::to_string(recipe.n) + " distinct " +
		std::to_string(recipe.distinct) + " " +
		distribution_names[recipe.distribution] + " offset " +
		std::to_string(offset);
	ENGINE(sort_now(context, spec, keys, recipe.n, out, nullptr, nullptr, verdict, &choice,
					&err, HPSORT_CUDA_WITHOUT(HPSORT_CUDA_FEW_DISTINCT)));
	CHECK(choice.regime == expected);
	audit_kernel<<<4096, 256>>>(keys, recipe.n, false, audits);
	audit_kernel<<<4096, 256>>>(out, recipe.n, false, audits + 1);
	CUDA(cudaMemcpy(result, audits, sizeof(result), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(behind.data(), out + recipe.n, guard * 4,
					cudaMemcpyDeviceToHost));
	CHECK(result[1].disorder == 0);
	CHECK(result[0].sum == result[1].sum);
	CHECK(behind == poison);
	printf("%s -> %s: %llu out of order, sums %s, %s behind\n", current.c_str(),
		   regime_names[choice.regime], result[1].disorder,
		   result[0].sum == result[1].sum ? "equal" : "differ",
		   behind == poison ? "nothing" : "something");
	fflush(stdout);
	CUDA(cudaFreeHost(verdict));
	CUDA(cudaFree(keys));
	CUDA(cudaFree(memory));
	CUDA(cudaFree(audits));
	ENGINE(hpsort_cuda_trim(context, &err));
}

/* 60 GB of device memory. */
void
test_limits(void)
{
	/* expand_block() rounds the last position up to a tile, and the result must not wrap around */
	const uint64_t most = (uint64_t) UINT32_MAX - 1024;
	const uint64_t narrow = 1000;
	const uint64_t wide = 1000000;

	/* the last size of 32 bits, and sizes that would need their last tile */
	try_limit({UNIFORM, most, narrow, -500, false, 1}, 3, HPSORT_CUDA_SHARED_HISTOGRAM);
	for (uint64_t n : {most + 1, (uint64_t) UINT32_MAX - 511, (uint64_t) UINT32_MAX - 8})
		try_limit({UNIFORM, n, narrow, -500, false, 2}, 3, HPSORT_CUDA_SHARED_HISTOGRAM);

	/* one bucket with all keys */
	try_limit({CONSTANT, 1000000000, wide, 0, false, 4}, 3, HPSORT_CUDA_PARTITION);
	try_limit({CONSTANT, 1000000001, wide, 0, false, 6}, 3, HPSORT_CUDA_RADIX);
	try_limit({UNIFORM, UINT32_MAX, wide, 0, false, 7}, 1, HPSORT_CUDA_RADIX);
}
