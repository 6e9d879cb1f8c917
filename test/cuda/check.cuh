/*-------------------------------------------------------------------------
 *
 * check.cuh
 *	  What the GPU tests share: assertions, guarded device arrays, and the CPU
 *	  reference.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_TEST_CHECK_CUH
#define HPSORT_TEST_CHECK_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "context.cuh"
#include "generate.cuh"

#define CUDA(call) \
	do { \
		cudaError_t rc_ = (call); \
		if (rc_ != cudaSuccess) \
		{ \
			printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc_)); \
			exit(1); \
		} \
	} while (0)

extern HpsortCuda *context;
extern const HpsortCudaLimits *device_limits;	/* of context's device */
extern HpsortCudaError err;
extern uint64_t checks;
extern uint64_t failures;
extern std::string current;		/* what is being tested, for messages */

/* A failed check is reported and counted; the tests go on, up to a point. */
inline bool
check_that(bool holds, const char *text, const char *file, int line)
{
	checks++;
	if (holds)
		return true;
	failures++;
	printf("FAILED %s:%d: %s\n  in %s\n  last error: %s\n", file, line, text,
		   current.c_str(), err.text);
	fflush(stdout);
	if (failures > 20)
	{
		printf("too many failures\n");
		exit(1);
	}
	return false;
}

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define ENGINE(call) CHECK((call) == HPSORT_CUDA_OK)

/* As 13000 for 13.0. */
inline int
driver_version(void)
{
	int			version = 0;

	CUDA(cudaDriverGetVersion(&version));
	return version;
}

/* Limits the memory of jobs that are opened from here on, in bytes; 0: the device's. */
inline void
set_memory_limit(HpsortCuda *on, uint64_t bytes)
{
	on->limit.store(bytes > 0 ? bytes : on->limits.memory_bytes);
}

/*
 * One job, of n keys in device memory.  The result goes to device memory: the keys to out,
 * in the direction of spec, the permutation to rows; what is null is not wanted.
 */
inline HpsortCudaCode
sort_by_job(HpsortCuda *on, HpsortCudaSpec spec, const int32_t *keys, uint64_t n,
			int32_t *out, uint32_t *rows, HpsortCudaResult *result,
			HpsortCudaError *error = &err)
{
	HpsortCudaJob *job;
	HpsortCudaCode code;

	spec.n_hint = n;
	spec.wanted = (out != nullptr ? HPSORT_CUDA_KEYS : 0) |
		(rows != nullptr ? HPSORT_CUDA_PERMUTATION : 0);
	code = hpsort_cuda_job_open(on, &spec, &job, error);
	if (code != HPSORT_CUDA_OK)
		return code;
	code = hpsort_cuda_job_add(job, keys, n, nullptr, error);
	if (code == HPSORT_CUDA_OK)
		code = hpsort_cuda_job_finish(job, result, error);
	if (code == HPSORT_CUDA_OK && out != nullptr)
		code = hpsort_cuda_job_read_keys(job, 0, n, spec.descending, out, error);
	if (code == HPSORT_CUDA_OK && rows != nullptr)
		code = hpsort_cuda_job_read_permutation(job, 0, n, rows, error);
	hpsort_cuda_job_close(job);
	return code;
}

/*
 * Device memory with poisoned contents and guards on both sides.  offset
 * shifts it from its natural alignment, in elements.
 */
template <typename T>
class Guarded
{
public:
	Guarded(uint64_t n, uint32_t offset) : n_(n), offset_(offset)
	{
		bytes_ = (n + 2 * guard + offset) * sizeof(T);
		CUDA(cudaMalloc(&memory_, bytes_));
		CUDA(cudaMemset(memory_, poison, bytes_));
		settle();
	}
	~Guarded() { CUDA(cudaFree(memory_)); }
	Guarded(const Guarded &) = delete;
	Guarded &operator=(const Guarded &) = delete;

	T *get() { return static_cast<T *>(memory_) + guard + offset_; }
	void put(const std::vector<T> &from)
	{
		if (!from.empty())
			CUDA(cudaMemcpy(get(), from.data(), from.size() * sizeof(T),
							cudaMemcpyHostToDevice));
		settle();
	}
	std::vector<T> take(uint64_t n)
	{
		std::vector<T> result(n);

		if (n > 0)
			CUDA(cudaMemcpy(result.data(), get(), n * sizeof(T),
							cudaMemcpyDeviceToHost));
		return result;
	}
	/* Nothing outside was written. */
	bool intact()
	{
		std::vector<unsigned char> all(bytes_);
		const uint64_t first = (guard + offset_) * sizeof(T);
		const uint64_t last = first + n_ * sizeof(T);

		CUDA(cudaMemcpy(all.data(), memory_, bytes_, cudaMemcpyDeviceToHost));
		for (uint64_t i = 0; i < first; i++)
			if (all[i] != poison)
				return false;
		for (uint64_t i = last; i < bytes_; i++)
			if (all[i] != poison)
				return false;
		return true;
	}

private:
	/* a memset, and a copy from memory that is not pinned, may return before they are
	 * done, and the engine's streams do not wait for the default one */
	static void settle() { CUDA(cudaStreamSynchronize(nullptr)); }

	static constexpr uint64_t guard = 64;
	static constexpr unsigned char poison = 0xa5;
	uint64_t	n_;
	uint32_t	offset_;
	uint64_t	bytes_;
	void	   *memory_ = nullptr;
};

/*
 * The reference: a stable radix sort of (key, row) by 16 bits at a time, on
 * the CPU, which shares nothing with what is tested.
 */
struct Reference
{
	std::vector<int32_t> keys;
	std::vector<uint32_t> rows;
	std::vector<int32_t> run_keys;
	std::vector<uint64_t> run_counts;
};

inline Reference
refer(const std::vector<int32_t> &keys, bool descending)
{
	const uint64_t n = keys.size();
	const uint32_t flip = descending ? 0x7fffffffu : 0x80000000u;
	Reference	reference;
	std::vector<uint32_t> rows(n);
	std::vector<uint32_t> next(n);
	std::vector<uint64_t> counts(65537);

	for (uint64_t i = 0; i < n; i++)
		rows[i] = (uint32_t) i;
	if (n < 4096)
		std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
			return descending ? keys[a] > keys[b] : keys[a] < keys[b];
		});
	else
		for (int shift = 0; shift < 32; shift += 16)
		{
			std::fill(counts.begin(), counts.end(), 0);
			for (uint64_t i = 0; i < n; i++)
				counts[(((uint32_t) keys[i] ^ flip) >> shift & 0xffff) + 1]++;
			for (int d = 0; d < 65536; d++)
				counts[d + 1] += counts[d];
			for (uint64_t i = 0; i < n; i++)
				next[counts[((uint32_t) keys[rows[i]] ^ flip) >> shift & 0xffff]++] =
					rows[i];
			rows.swap(next);
		}
	reference.keys.resize(n);
	for (uint64_t i = 0; i < n; i++)
		reference.keys[i] = keys[rows[i]];
	for (uint64_t i = 0; i < n; i++)
	{
		int32_t		key = descending ? reference.keys[n - 1 - i] : reference.keys[i];

		if (reference.run_keys.empty() || reference.run_keys.back() != key)
		{
			reference.run_keys.push_back(key);
			reference.run_counts.push_back(0);
		}
		reference.run_counts.back()++;
	}
	reference.rows = std::move(rows);
	return reference;
}

inline std::vector<int32_t>
make_keys(const Recipe &recipe)
{
	std::vector<int32_t> keys(recipe.n);

	for (uint64_t i = 0; i < recipe.n; i++)
		keys[i] = make_key(recipe, i);
	return keys;
}

/* The tests, by file. */
extern void test_regimes(bool quick, bool tiny);
extern void test_edges(bool quick);
extern void test_jobs(bool quick);
extern void test_packed(bool quick, bool tiny);
extern void test_rows(bool quick, bool tiny);
extern void test_random(uint64_t shapes, uint64_t seed);
extern void test_huge(void);
extern void test_limits(void);
extern void test_devices(int device);
extern void test_lost(int device);

#endif							/* HPSORT_TEST_CHECK_CUH */
