/*-------------------------------------------------------------------------
 *
 * test_published_cancel.cu
 *	  Jobs of published algorithms that are cancelled: before they sort, at any
 *	  moment of it, and in the middle of what takes long.
 *
 * "Soon" is not a number of milliseconds: a job that is cancelled after a
 * twentieth of the time that it took undisturbed is over before half of it.
 *
 *-------------------------------------------------------------------------
 */
#include <chrono>
#include <thread>

#include "test_published.cuh"

typedef std::chrono::steady_clock Clock;

static double
ms_since(Clock::time_point start)
{
	return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

static HpsortCudaJob *
open_job(HpsortPublished algorithm, bool permute, const int32_t *keys, uint64_t n)
{
	HpsortCudaSpec spec = {};
	HpsortCudaJob *job = nullptr;

	spec.algorithm = HPSORT_PUBLISHED_JOB(algorithm);
	spec.wanted = permute ? HPSORT_CUDA_PERMUTATION : HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS;
	spec.n_hint = n;
	if (!ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err)))
		return nullptr;
	ENGINE(hpsort_cuda_job_add(job, keys, n, nullptr, &err));
	ENGINE(hpsort_cuda_job_consumed(job, 1, nullptr, &err));
	return job;
}

/* Finishes a job that is cancelled after delay ms (< 0: never); *ms it took. */
static HpsortCudaCode
finish(HpsortCudaJob *job, double delay, double *ms)
{
	const Clock::time_point start = Clock::now();
	std::thread canceller;
	HpsortCudaResult result;
	HpsortCudaCode code;

	if (delay >= 0)
		canceller = std::thread([=] {
			std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(delay));
			hpsort_cuda_job_cancel(job);
		});
	code = hpsort_cuda_job_finish(job, &result, &err);
	*ms = ms_since(start);
	if (canceller.joinable())
		canceller.join();
	return code;
}

/* Cancelled at some moment: it is over, or right. */
static void
try_moment(HpsortPublished algorithm, bool permute, const int32_t *keys, uint64_t n,
		   double delay)
{
	HpsortCudaJob *job = open_job(algorithm, permute, keys, n);
	int32_t		key;
	uint32_t	row;
	uint64_t	before;
	uint64_t	after;
	double		ms;
	HpsortCudaCode code;

	if (job == nullptr)
		return;
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &before, nullptr, 0);
	job = open_job(algorithm, permute, keys, n);
	code = finish(job, delay, &ms);
	CHECK(code == HPSORT_CUDA_CANCELLED || code == HPSORT_CUDA_OK);
	CHECK(!err.sticky);
	/* by now it is cancelled, whatever finish said */
	CHECK((permute ? hpsort_cuda_job_read_permutation(job, 0, 1, &row, &err) :
		   hpsort_cuda_job_read_keys(job, 0, 1, 0, &key, &err)) ==
		  HPSORT_CUDA_CANCELLED);
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &after, nullptr, 0);
	CHECK(after == before);
}

static void
test_moments(bool quick, uint64_t seed)
{
	const uint64_t n = quick ? 3000 : 1 << 23;

	printf("cancel: --seed %llu\n", (unsigned long long) seed);
	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
		for (int permute = 0; permute <=
			 (algorithms[a].no_rows == nullptr); permute++)
		{
			const uint64_t m = a == HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT && n > 50000 ?
				50000 : n;
			const Recipe recipe = {ZIPF, m, m / 3, -5, false, seed};
			std::vector<int32_t> distinct(a == HPSORT_PUBLISHED_ONE_HP ? m : 0);
			int32_t    *keys;
			HpsortCudaJob *job;
			double		whole = 0;

			CUDA(cudaMalloc(&keys, m * sizeof(int32_t)));
			generate(recipe, keys);
			for (uint64_t i = 0; i < distinct.size(); i++)
				distinct[i] = (int32_t) (m - i);
			if (!distinct.empty())
				CUDA(cudaMemcpy(keys, distinct.data(), m * sizeof(int32_t),
								cudaMemcpyHostToDevice));
			CUDA(cudaDeviceSynchronize());
			current = std::string("cancel ") + name_of((HpsortPublished) a);
			job = open_job((HpsortPublished) a, permute, keys, m);
			if (job != nullptr)
				ENGINE(finish(job, -1, &whole));
			hpsort_cuda_job_close(job);
			for (int i = 0; i < (quick ? 2 : 12); i++)
			{
				const double delay = i == 0 ? 0 : whole * (double) (mix64(seed++) % 1000) / 900;

				current = std::string("cancel ") + name_of((HpsortPublished) a) +
					" after " + std::to_string(delay) + " of " + std::to_string(whole) +
					" ms";
				try_moment((HpsortPublished) a, permute, keys, m, delay);
			}
			CUDA(cudaFree(keys));
		}
}

/* What takes long in one launch, or several that take long together. */
static void
try_long(HpsortPublished algorithm, const Recipe &recipe)
{
	int32_t    *keys;
	double		whole = 0;
	double		cancelled;
	HpsortCudaJob *job;

	CUDA(cudaMalloc(&keys, recipe.n * sizeof(int32_t)));
	generate(recipe, keys);
	CUDA(cudaDeviceSynchronize());
	current = std::string("cancel a long job of ") + name_of(algorithm) + ", " +
		distribution_names[recipe.distribution];
	/* the first has memory to get from the device */
	for (int i = 0; i < 2; i++)
	{
		job = open_job(algorithm, false, keys, recipe.n);
		if (job == nullptr)
			break;
		ENGINE(finish(job, -1, &whole));
		hpsort_cuda_job_close(job);
	}
	job = open_job(algorithm, false, keys, recipe.n);
	if (job != nullptr)
	{
		CHECK(finish(job, whole / 20, &cancelled) == HPSORT_CUDA_CANCELLED);
		printf("%s, %s: %.0f ms, cancelled %.0f\n", name_of(algorithm),
			   distribution_names[recipe.distribution], whole, cancelled);
		CHECK(cancelled < whole / 2);
		hpsort_cuda_job_close(job);
	}
	CUDA(cudaFree(keys));
}

void
test_published_cancel(bool quick, uint64_t seed)
{
	const uint64_t n = (uint64_t) 1 << 28;

	test_moments(quick, seed);
	if (quick)
		return;
	try_long(HPSORT_PUBLISHED_HP, {CONSTANT, n, 1000, 0, false, 1});
	try_long(HPSORT_PUBLISHED_ZERO_COMPRESSED, {CONSTANT, n, 1000, 0, false, 1});
	try_long(HPSORT_PUBLISHED_COMPARISON_FREE, {CONSTANT, n, 1000, 0, false, 1});
	try_long(HPSORT_PUBLISHED_BUCKET_RADIX, {UNIFORM, n, 60000, 0, false, 1});
	try_long(HPSORT_PUBLISHED_BUCKET_RADIX, {UNIFORM, n / 2, (uint64_t) 1 << 32, INT32_MIN, false, 1});
	try_long(HPSORT_PUBLISHED_BUCKET_BITONIC, {ZIPF, n * 2, 1000, 0, false, 1});
	ENGINE(hpsort_cuda_trim(context, &err));
}
