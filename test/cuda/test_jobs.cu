/*-------------------------------------------------------------------------
 *
 * test_jobs.cu
 *	  Jobs: chunks of any size from any memory, every result read in parts,
 *	  several at once, cancelled midway, out of memory.
 *
 *-------------------------------------------------------------------------
 */
#include <atomic>
#include <chrono>
#include <thread>

#include "check.cuh"
#include "regime.h"

enum Where
{
	PAGEABLE,
	PINNED,
	DEVICE,
	MIXED
};

static const uint32_t all_results =
	HPSORT_CUDA_RUNS | HPSORT_CUDA_KEYS | HPSORT_CUDA_PERMUTATION;

/* The same keys in the three kinds of memory that chunks may come from. */
struct Source
{
	explicit Source(const std::vector<int32_t> &from)
		: pageable(from), device(from.size(), 1)
	{
		CUDA(cudaMallocHost((void **) &pinned, from.size() * 4 + 64));
		memcpy(pinned, from.data(), from.size() * 4);
		device.put(from);
	}
	~Source() { CUDA(cudaFreeHost(pinned)); }

	std::vector<int32_t> pageable;
	int32_t    *pinned = nullptr;
	Guarded<int32_t> device;
};

/* From where, and in pieces of random sizes; the numbers count up by one. */
static bool
add_chunks(HpsortCudaJob *job, Source &source, Where where, uint64_t seed,
		   uint64_t most_chunk)
{
	const uint64_t n = source.pageable.size();
	uint64_t	k = 0;
	uint64_t	number = 0;

	for (uint64_t at = 0; at < n;)
	{
		/* odd sizes, so that most chunks end unaligned */
		const uint64_t m = std::min(n - at, mix64(seed + k) % most_chunk + 1);
		const Where from = where == MIXED ? (Where) (mix64(seed + k) / 7 % 3) : where;
		const int32_t *keys = from == PAGEABLE ? source.pageable.data() :
			from == PINNED ? source.pinned : source.device.get();

		if (!ENGINE(hpsort_cuda_job_add(job, keys + at, m, &number, &err)))
			return false;
		at += m;
		k++;
		CHECK(number == k);
	}
	return true;
}

/*
 * One job from opening to closing.  The caller's memory is overwritten between
 * consumed and finish, so a job that still reads it is caught; every result is
 * read in parts, twice, to host or device memory; nothing may be left allocated.
 */
static void
try_job(const Recipe &recipe, bool bounds_known, bool descending, uint32_t wanted,
		Where where, uint64_t hint, uint64_t most_chunk, bool to_device)
{
	const std::vector<int32_t> keys = make_keys(recipe);
	const uint64_t n = keys.size();
	const Reference up = refer(keys, false);
	const Reference down = refer(keys, true);
	Source		source(keys);
	HpsortCudaSpec spec = {};
	HpsortCudaJob *job;
	HpsortCudaResult result;
	uint64_t	used_before;
	uint64_t	used;
	uint64_t	peak;
	uint64_t	number;
	char		text[256];

	snprintf(text, sizeof(text),
			 "job n %llu distinct %llu %s%s bounds %d descending %d wanted %u "
			 "where %d hint %llu chunk %llu to %s",
			 (unsigned long long) n, (unsigned long long) recipe.distinct,
			 distribution_names[recipe.distribution],
			 recipe.anywhere ? " anywhere" : "", bounds_known, descending, wanted,
			 where, (unsigned long long) hint, (unsigned long long) most_chunk,
			 to_device ? "device" : "host");
	current = text;
	spec.n_hint = hint;
	spec.bounds_known = bounds_known;
	spec.descending = descending;
	spec.wanted = wanted;
	if (n > 0)
	{
		spec.lo = up.keys.front();
		spec.hi = up.keys.back();
	}
	hpsort_cuda_memory(context, &used_before, nullptr, 1);
	if (!ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err)))
		return;
	if (!add_chunks(job, source, where, recipe.seed, most_chunk))
		return;
	ENGINE(hpsort_cuda_job_consumed(job, 1, &number, &err));
	/* consumed: the caller's memory is the caller's again */
	memset(source.pinned, 0x77, n * 4);
	memset(source.pageable.data(), 0x77, n * 4);
	CUDA(cudaMemset(source.device.get(), 0x77, n * 4));
	ENGINE(hpsort_cuda_job_finish(job, &result, &err));
	current += std::string(" -> ") + regime_names[result.regime];
	CHECK(result.n == n);
	CHECK(result.reason[0] != '\0');
	if (n > 0)
	CHECK(result.distinct == 0 || result.distinct == up.run_keys.size());

	/* in three parts, the last one empty if n is small; twice over */
	const uint64_t cut[] = {0, n / 3, n - n / 5, n};

	for (int turn = 0; turn < 2; turn++)
	{
		if (wanted & HPSORT_CUDA_KEYS)
			for (int desc = 0; desc < 2; desc++)
			{
				const Reference &expected = desc ? down : up;
				std::vector<int32_t> got(n, 0x5a5a5a5a);
				Guarded<int32_t> on_device(n, turn + 1);

				for (int i = 0; i < 3; i++)
					ENGINE(hpsort_cuda_job_read_keys(job, cut[i], cut[i + 1] - cut[i],
													 desc, (to_device ?
													 on_device.get() : got.data()) +
													 cut[i], &err));
				CHECK((to_device ? on_device.take(n) : got) == expected.keys);
				CHECK(on_device.intact());
			}
		if (wanted & HPSORT_CUDA_PERMUTATION)
		{
			const Reference &expected = descending ? down : up;
			std::vector<uint32_t> got(n);

			for (int i = 0; i < 3; i++)
				ENGINE(hpsort_cuda_job_read_permutation(job, cut[i],
														cut[i + 1] - cut[i],
														got.data() + cut[i], &err));
			CHECK(got == expected.rows);
		}
		if (wanted & HPSORT_CUDA_RUNS)
		{
			uint64_t	distinct = 0;

			ENGINE(hpsort_cuda_job_distinct(job, &distinct, &err));
			CHECK(distinct == up.run_keys.size());

			std::vector<int32_t> run_keys(distinct);
			std::vector<uint64_t> counts(distinct);
			const uint64_t half = distinct / 2;

			ENGINE(hpsort_cuda_job_read_runs(job, 0, half, run_keys.data(),
											 counts.data(), &err));
			ENGINE(hpsort_cuda_job_read_runs(job, half, distinct - half,
											 run_keys.data() + half,
											 counts.data() + half, &err));
			CHECK(run_keys == up.run_keys);
			CHECK(counts == up.run_counts);
			CHECK(hpsort_cuda_job_read_runs(job, 0, distinct + 1, run_keys.data(),
											nullptr, &err) ==
				  HPSORT_CUDA_BAD_ARGUMENT);
		}
	}
	CHECK(hpsort_cuda_job_read_keys(job, n, 1, 0, source.pinned, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(hpsort_cuda_job_add(job, source.pinned, 1, nullptr, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	hpsort_cuda_memory(context, nullptr, &peak, 0);
	if (hint >= n)
		CHECK(peak - used_before <= regime_job_need(&context->limits,
														 &spec, n));
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == used_before);
}

/*
 * Keys at positions, from runs and from sorted keys of either direction: the first, the
 * last, any, and more of them than are read at a time.
 */
static void
test_read_at(uint64_t n)
{
	for (uint64_t distinct : {(uint64_t) 1, (uint64_t) 700, (uint64_t) 1 << 30})
		for (uint32_t wanted : {HPSORT_CUDA_RUNS, HPSORT_CUDA_KEYS, all_results})
			for (int descending = 0; descending < 2; descending++)
			{
				const std::vector<int32_t> keys = make_keys({UNIFORM, n, distinct, -300, false, 8});
				const Reference expected = refer(keys, false);
				HpsortCudaSpec spec = {};
				HpsortCudaJob *job;
				std::vector<uint64_t> positions = {0, n - 1, n / 2, 0};
				uint64_t	wrong = 0;

				current = "keys at positions, distinct " + std::to_string(distinct) +
					" wanted " + std::to_string(wanted);
				for (uint64_t i = 0; i < 2 * n + 3; i++)
					positions.push_back(mix64(i) % n);

				std::vector<int32_t> got(positions.size());

				spec.wanted = wanted;
				spec.descending = descending;
				ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
				ENGINE(hpsort_cuda_job_add(job, keys.data(), n, nullptr, &err));
				CHECK(hpsort_cuda_job_read_at(job, positions.data(), 1, got.data(), &err) ==
					  HPSORT_CUDA_BAD_ARGUMENT);
				ENGINE(hpsort_cuda_job_finish(job, nullptr, &err));
				ENGINE(hpsort_cuda_job_read_at(job, positions.data(), positions.size(),
											   got.data(), &err));
				for (size_t i = 0; i < got.size(); i++)
					wrong += got[i] != expected.keys[positions[i]];
				CHECK(wrong == 0);
				ENGINE(hpsort_cuda_job_read_at(job, nullptr, 0, nullptr, &err));
				positions[2] = n;
				CHECK(hpsort_cuda_job_read_at(job, positions.data(), 3, got.data(), &err) ==
					  HPSORT_CUDA_BAD_ARGUMENT);
				hpsort_cuda_job_close(job);
			}
}

/* Rows alone of a narrow range: by passes, unless bins are asked for. */
static void
test_counted(void)
{
	const std::vector<int32_t> keys = make_keys({ZIPF, 200000, 1000, -300, false, 5});
	const Reference expected = refer(keys, false);

	for (int counted = 0; counted < 2; counted++)
	{
		std::vector<uint32_t> rows(keys.size());
		HpsortCudaSpec spec = {};
		HpsortCudaJob *job;
		HpsortCudaResult result;

		current = counted ? "rows by bins" : "rows by passes";
		spec.wanted = HPSORT_CUDA_PERMUTATION;
		spec.counted = counted;
		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		ENGINE(hpsort_cuda_job_add(job, keys.data(), keys.size(), nullptr, &err));
		ENGINE(hpsort_cuda_job_finish(job, &result, &err));
		CHECK(result.regime == (counted ? HPSORT_CUDA_SHARED_HISTOGRAM : HPSORT_CUDA_RADIX));
		ENGINE(hpsort_cuda_job_read_permutation(job, 0, rows.size(), rows.data(), &err));
		CHECK(rows == expected.rows);
		hpsort_cuda_job_close(job);
	}
}

/* Jobs on threads of their own, all at the same time. */
static void
test_at_once(int jobs, uint64_t n)
{
	std::vector<std::thread> threads;
	std::atomic<int> wrong{0};

	current = "several jobs at once";
	for (int j = 0; j < jobs; j++)
		threads.emplace_back([&, j] {
			static const uint64_t distinct[] = {1000, 5000, 3000000, 0xffffffff};
			Recipe		recipe = {UNIFORM, n + j, distinct[j % 4], 0, j % 4 == 1,
				(uint64_t) j};
			std::vector<int32_t> keys = make_keys(recipe);
			std::vector<int32_t> got(keys.size());
			HpsortCudaSpec spec = {};
			HpsortCudaJob *job;
			HpsortCudaError error;

			if (j % 4 == 0)
			{
				spec.bounds_known = 1;
				spec.hi = 999;
			}
			spec.wanted = HPSORT_CUDA_KEYS;
			if (hpsort_cuda_job_open(context, &spec, &job, &error) != HPSORT_CUDA_OK)
			{
				wrong++;
				return;
			}
			for (uint64_t at = 0; at < keys.size(); at += 99991)
				if (hpsort_cuda_job_add(job, keys.data() + at,
										std::min<uint64_t>(99991, keys.size() - at),
										nullptr, &error) != HPSORT_CUDA_OK)
					wrong++;
			if (hpsort_cuda_job_finish(job, nullptr, &error) != HPSORT_CUDA_OK ||
				hpsort_cuda_job_read_keys(job, 0, keys.size(), 0, got.data(),
										  &error) != HPSORT_CUDA_OK)
				wrong++;
			hpsort_cuda_job_close(job);
			std::sort(keys.begin(), keys.end());
			if (keys != got)
				wrong++;
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(wrong == 0);
}

/*
 * Jobs of several threads, whose bounds are found: cooperative kernels, each of which
 * wants all SMs, must not wait for each other for ever.
 */
static void
test_sorts_at_once(int sorts, uint64_t n)
{
	std::vector<std::thread> threads;
	std::atomic<int> wrong{0};
	int			device;

	current = "several sorts at once";
	CUDA(cudaGetDevice(&device));
	for (int j = 0; j < sorts; j++)
		threads.emplace_back([&, j] {
			static const uint64_t distinct[] = {100, 50000, 20000, 200000};
			Recipe		recipe = {UNIFORM, n + j, distinct[j % 4], -77, false,
				(uint64_t) j};
			std::vector<int32_t> keys = make_keys(recipe);
			std::vector<int32_t> got(keys.size());
			HpsortCudaSpec spec = {};
			HpsortCudaError error;

			/* a new thread is on device 0, where the context may not be */
			CUDA(cudaSetDevice(device));
			{
				Guarded<int32_t> input(keys.size(), j % 4);
				Guarded<int32_t> output(keys.size(), 0);

				input.put(keys);
				for (int i = 0; i < 50; i++)
					if (sort_by_job(context, spec, input.get(), keys.size(), output.get(),
									nullptr, nullptr, &error) != HPSORT_CUDA_OK)
						wrong++;
				got = output.take(keys.size());
			}
			std::sort(keys.begin(), keys.end());
			if (keys != got)
				wrong++;
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(wrong == 0);
}

/* Two jobs of one thread, chunk by chunk in turn. */
static void
test_in_turn(void)
{
	Recipe		recipe[2] = {{UNIFORM, 300000, 1000, 0, false, 1},
							 {UNIFORM, 300000, 100000, 0, true, 2}};
	HpsortCudaJob *job[2];
	std::vector<int32_t> keys[2];
	std::vector<int32_t> got(300000);

	current = "two jobs in turn";
	for (int j = 0; j < 2; j++)
	{
		HpsortCudaSpec spec = {};

		keys[j] = make_keys(recipe[j]);
		spec.bounds_known = j == 0;
		spec.hi = 999;
		spec.wanted = HPSORT_CUDA_KEYS;
		ENGINE(hpsort_cuda_job_open(context, &spec, &job[j], &err));
	}
	for (uint64_t at = 0; at < 300000; at += 30000)
		for (int j = 0; j < 2; j++)
			ENGINE(hpsort_cuda_job_add(job[j], keys[j].data() + at, 30000, nullptr,
									   &err));
	for (int j = 1; j >= 0; j--)
	{
		ENGINE(hpsort_cuda_job_finish(job[j], nullptr, &err));
		ENGINE(hpsort_cuda_job_read_keys(job[j], 0, 300000, 0, got.data(), &err));
		CHECK(got == refer(keys[j], false).keys);
		hpsort_cuda_job_close(job[j]);
	}
}

/* Before adding, before finishing, before reading, never; then at random. */
static void
test_cancel(uint64_t n)
{
	std::vector<int32_t> keys = make_keys({UNIFORM, n, 1000000, 0, false, 3});
	HpsortCudaSpec spec = {};
	HpsortCudaJob *job;
	uint64_t	before;
	uint64_t	after;

	current = "cancel";
	hpsort_cuda_memory(context, &before, nullptr, 0);
	spec.wanted = all_results;
	for (int when = 0; when < 4; when++)
	{
		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		if (when == 0)
			hpsort_cuda_job_cancel(job);
		HpsortCudaCode code = hpsort_cuda_job_add(job, keys.data(), n, nullptr,
												  &err);

		CHECK(code == (when == 0 ? HPSORT_CUDA_CANCELLED : HPSORT_CUDA_OK));
		if (when == 1)
			hpsort_cuda_job_cancel(job);
		if (when <= 1)
			CHECK(hpsort_cuda_job_finish(job, nullptr, &err) ==
				  HPSORT_CUDA_CANCELLED);
		if (when == 2)
		{
			ENGINE(hpsort_cuda_job_finish(job, nullptr, &err));
			hpsort_cuda_job_cancel(job);
			CHECK(hpsort_cuda_job_read_keys(job, 0, n, 0, keys.data(), &err) ==
				  HPSORT_CUDA_CANCELLED);
		}
		/* when == 3: closed without finishing */
		hpsort_cuda_job_close(job);
	}

	/* from another thread, at a random moment of adding and sorting */
	for (int i = 0; i < 20; i++)
	{
		HpsortCudaCode code = HPSORT_CUDA_OK;

		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		std::thread canceller([&] {
			std::this_thread::sleep_for(std::chrono::microseconds(i * 100));
			hpsort_cuda_job_cancel(job);
		});
		for (int c = 0; c < 20 && code == HPSORT_CUDA_OK; c++)
			code = hpsort_cuda_job_add(job, keys.data(), n / 20, nullptr, &err);
		if (code == HPSORT_CUDA_OK)
			code = hpsort_cuda_job_finish(job, nullptr, &err);
		CHECK(code == HPSORT_CUDA_OK || code == HPSORT_CUDA_CANCELLED);
		canceller.join();
		hpsort_cuda_job_close(job);
	}
	hpsort_cuda_memory(context, &after, nullptr, 0);
	CHECK(after == before);
}

/*
 * The limit at every size up to the need: whichever allocation fails, the error
 * says how much was asked for and closing gives everything back.
 */
static void
test_memory_limit(void)
{
	const uint64_t n = 2000000;
	std::vector<int32_t> keys = make_keys({UNIFORM, n, 1 << 30, 0, false, 3});
	HpsortCudaSpec spec = {};
	HpsortCudaJob *job;
	uint64_t	before;
	uint64_t	after;
	uint64_t	need;

	current = "memory limit";
	hpsort_cuda_memory(context, &before, nullptr, 0);
	spec.wanted = all_results;
	spec.n_hint = n;
	need = regime_job_need(&context->limits, &spec, n);

	/* told before it starts */
	set_memory_limit(context, need - 1);
	CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) ==
		  HPSORT_CUDA_NO_MEMORY);
	CHECK(strstr(err.text, ("up to " + std::to_string(need) + " bytes").c_str()) != nullptr);
	CHECK(!err.sticky && job == nullptr);

	/* enough: then it also ends well */
	set_memory_limit(context, need);
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	ENGINE(hpsort_cuda_job_add(job, keys.data(), n, nullptr, &err));
	ENGINE(hpsort_cuda_job_finish(job, nullptr, &err));
	hpsort_cuda_job_close(job);

	/* not told how many are coming: found out at any step, freed at close */
	spec.n_hint = 0;
	for (uint64_t limit = 1 << 20; limit < need; limit += need / 40)
	{
		set_memory_limit(context, limit);
		HpsortCudaCode code = hpsort_cuda_job_open(context, &spec, &job, &err);

		if (code == HPSORT_CUDA_OK)
		{
			for (int c = 0; c < 4 && code == HPSORT_CUDA_OK; c++)
				code = hpsort_cuda_job_add(job, keys.data() + c * (n / 4), n / 4,
										   nullptr, &err);
			if (code == HPSORT_CUDA_OK)
				code = hpsort_cuda_job_finish(job, nullptr, &err);
			hpsort_cuda_job_close(job);
		}
		CHECK(code == HPSORT_CUDA_OK || code == HPSORT_CUDA_NO_MEMORY);
		if (code == HPSORT_CUDA_NO_MEMORY)
			CHECK(strstr(err.text, "bytes of gpu memory") != nullptr && !err.sticky);
	}
	set_memory_limit(context, 0);
	hpsort_cuda_memory(context, &after, nullptr, 0);
	CHECK(after == before);

	/* and the context is none the worse */
	try_job({UNIFORM, 100000, 5000, 0, false, 1}, true, false, all_results, MIXED,
			0, 5000, false);
}

/*
 * A counting job that runs out of memory between two pieces of one add: some of
 * its keys are in the bins and some are not, so no result may come of it.
 */
static void
test_failed_add(void)
{
	const uint64_t piece = HPSORT_CUDA_CHUNK_MAX / sizeof(int32_t);
	const uint64_t slot = HPSORT_CUDA_CHUNK_MAX;
	std::vector<int32_t> keys(3 * piece, 7);
	HpsortCudaSpec spec = {};
	HpsortCudaJob *job;
	HpsortCudaResult result;
	uint64_t	before;
	uint64_t	used;

	current = "failed add";
	hpsort_cuda_memory(context, &before, nullptr, 0);
	spec.bounds_known = 1;
	spec.hi = 999;
	spec.wanted = HPSORT_CUDA_RUNS;
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	ENGINE(hpsort_cuda_job_add(job, keys.data(), 1000, nullptr, &err));

	/* refused, and the job none the worse */
	CHECK(hpsort_cuda_job_add(job, nullptr, 1000, nullptr, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	ENGINE(hpsort_cuda_job_add(job, keys.data(), 1000, nullptr, &err));

	/* room for two pieces, then no more */
	hpsort_cuda_memory(context, &used, nullptr, 0);
	set_memory_limit(context, used + 2 * slot);
	CHECK(hpsort_cuda_job_add(job, keys.data(), keys.size(), nullptr, &err) ==
		  HPSORT_CUDA_NO_MEMORY);
	set_memory_limit(context, 0);
	CHECK(hpsort_cuda_job_add(job, keys.data(), 1000, nullptr, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(hpsort_cuda_job_finish(job, &result, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(strcmp(err.text, "the job has failed") == 0);
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == before);
}

/* Broken contracts, and a key outside the bounds in both modes. */
static void
test_job_errors(void)
{
	HpsortCudaSpec spec = {};
	HpsortCudaJob *job;
	HpsortCudaResult result;
	int32_t		keys[] = {1, 2, 3, 4, 500};

	current = "job errors";
	CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	spec.bounds_known = 1;
	spec.hi = 10;
	for (uint32_t wanted : {HPSORT_CUDA_RUNS, HPSORT_CUDA_PERMUTATION})
	{
		spec.wanted = wanted;
		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		CHECK(hpsort_cuda_job_read_keys(job, 0, 0, 0, keys, &err) ==
			  HPSORT_CUDA_BAD_ARGUMENT);
		ENGINE(hpsort_cuda_job_add(job, keys, 0, nullptr, &err));
		ENGINE(hpsort_cuda_job_add(job, keys, 5, nullptr, &err));
		CHECK(hpsort_cuda_job_finish(job, &result, &err) ==
			  HPSORT_CUDA_OUT_OF_BOUNDS);
		CHECK(err.key == 500);
		/* not a second time, on what the first left */
		CHECK(hpsort_cuda_job_finish(job, &result, &err) ==
			  HPSORT_CUDA_BAD_ARGUMENT);
		hpsort_cuda_job_close(job);
	}
	hpsort_cuda_job_close(nullptr);
}

void
test_jobs(bool quick)
{
	const uint64_t sizes[] = {0, 1, 5, 1000, 70001, 1200000};
	uint64_t	seed = 50;

	test_job_errors();
	for (uint64_t n : sizes)
	{
		if (quick && n > 100000)
			continue;
		for (uint64_t distinct : {(uint64_t) 1, (uint64_t) 1000, (uint64_t) 9000,
			 (uint64_t) 3000000, (uint64_t) 1 << 32})
			for (int anywhere = 0; anywhere < 2; anywhere++)
				for (uint32_t wanted : {HPSORT_CUDA_RUNS, HPSORT_CUDA_KEYS,
					 HPSORT_CUDA_PERMUTATION, all_results})
				{
					if (quick && seed++ % 4 != 0)
						continue;
					const uint64_t h = mix64(seed++);
					const uint64_t hint = h % 3 == 0 ? 0 : h % 3 == 1 ? n : n / 2;

					try_job({(Distribution) (h / 3 % ALL_DISTRIBUTIONS), n, distinct,
							anywhere ? 0 : INT32_MIN, anywhere != 0, seed},
							h / 32 % 2, h / 64 % 2, wanted, (Where) (h / 128 % 4),
							hint, n > 100000 ? 300000 : 997, h / 1024 % 2);
				}
	}
	/* more than the ring holds, and chunks larger than one of its buffers */
	if (!quick)
		try_job({UNIFORM, 20000003, 1000, 0, false, 77}, true, false,
				HPSORT_CUDA_RUNS | HPSORT_CUDA_KEYS, PINNED, 0, 9000000, false);
	test_counted();
	test_read_at(quick ? 5000 : 1500000);
	test_in_turn();
	test_at_once(quick ? 2 : 8, quick ? 50000 : 1500000);
	test_sorts_at_once(quick ? 2 : 8, quick ? 50000 : 1500000);
	test_cancel(quick ? 20000 : 2000000);
	test_memory_limit();
	test_failed_add();
}
