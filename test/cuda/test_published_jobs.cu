/*-------------------------------------------------------------------------
 *
 * test_published_jobs.cu
 *	  Jobs that sort with a published algorithm: keys and runs, read in parts
 *	  and both directions, and the permutation, within the memory promised, and
 *	  with less; refusals; a key twice.
 *
 *-------------------------------------------------------------------------
 */
#include "test_published.cuh"

/* What the service wants of every job that is not a permutation. */
static const uint32_t keys_and_runs = HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS;

static HpsortCudaSpec
job_spec(HpsortPublished algorithm, const std::vector<int32_t> &keys, bool bounds_known)
{
	HpsortCudaSpec spec = {};

	spec.algorithm = HPSORT_PUBLISHED_JOB(algorithm);
	spec.wanted = keys_and_runs;
	/* whatever the keys stand for, as integers they are in the same order */
	spec.float_images = keys.size() % 2;
	spec.n_hint = keys.size();
	spec.bounds_known = bounds_known && !keys.empty();
	if (spec.bounds_known)
	{
		spec.lo = *std::min_element(keys.begin(), keys.end());
		spec.hi = *std::max_element(keys.begin(), keys.end());
	}
	return spec;
}

/* Opens, adds in pieces and finishes; the job is open whatever the answer. */
static HpsortCudaCode
run_job(const HpsortCudaSpec &spec, const std::vector<int32_t> &keys,
		HpsortCudaJob **job, HpsortCudaResult *result)
{
	const uint64_t piece = keys.size() / 3 + 1;
	HpsortCudaCode code = hpsort_cuda_job_open(context, &spec, job, &err);

	for (uint64_t at = 0; code == HPSORT_CUDA_OK && at < keys.size(); at += piece)
		code = hpsort_cuda_job_add(*job, keys.data() + at,
								   std::min<uint64_t>(piece, keys.size() - at),
								   nullptr, &err);
	return code != HPSORT_CUDA_OK ? code : hpsort_cuda_job_finish(*job, result, &err);
}

/* runs_first: keys come from the runs then, else runs from the keys. */
static void
try_job(HpsortPublished algorithm, const std::vector<int32_t> &keys, bool bounds_known,
		bool runs_first)
{
	const Reference up = refer(keys, false);
	const Reference down = refer(keys, true);
	const uint64_t n = keys.size();
	const HpsortCudaSpec spec = job_spec(algorithm, keys, bounds_known);
	HpsortCudaJob *job;
	HpsortCudaResult result;
	uint64_t	before;
	uint64_t	after;
	uint64_t	peak;

	hpsort_cuda_memory(context, &before, nullptr, 1);
	if (!ENGINE(run_job(spec, keys, &job, &result)))
		return;
	CHECK(result.n == n);
	CHECK(n == 0 || result.regime == HPSORT_CUDA_PUBLISHED);
	CHECK(n == 0 || strstr(result.reason, name_of(algorithm)) != nullptr);
	for (int turn = 0; turn < 2; turn++)
	{
		if ((turn == 0) == runs_first)
		{
			std::vector<int32_t> run_keys(up.run_keys.size());
			std::vector<uint64_t> counts(up.run_keys.size());
			uint64_t	distinct;

			ENGINE(hpsort_cuda_job_distinct(job, &distinct, &err));
			CHECK(distinct == up.run_keys.size());
			if (distinct != up.run_keys.size())
				break;
			ENGINE(hpsort_cuda_job_read_runs(job, 0, distinct, run_keys.data(),
											 counts.data(), &err));
			CHECK(run_keys == up.run_keys);
			CHECK(counts == up.run_counts);
			continue;
		}
		for (int descending = 0; descending < 2; descending++)
		{
			std::vector<int32_t> got(n, 0x5a5a5a5a);

			/* in two parts, the first one empty if n is small */
			ENGINE(hpsort_cuda_job_read_keys(job, 0, n / 3, descending, got.data(), &err));
			ENGINE(hpsort_cuda_job_read_keys(job, n / 3, n - n / 3, descending,
											 got.data() + n / 3, &err));
			CHECK(got == (descending ? down.keys : up.keys));
		}
	}
	hpsort_cuda_memory(context, nullptr, &peak, 0);
	if (spec.bounds_known)
		CHECK(peak - before <= job_need(spec, n));
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &after, nullptr, 0);
	CHECK(after == before);
}

/* The stable permutation, with keys and runs or without, in either direction. */
static void
try_rows(HpsortPublished algorithm, const std::vector<int32_t> &keys, bool bounds_known,
		 bool descending, bool alone)
{
	const Reference expected = refer(keys, descending);
	const uint64_t n = keys.size();
	HpsortCudaSpec spec = job_spec(algorithm, keys, bounds_known);
	std::vector<uint32_t> rows(n, 0x5a5a5a5a);
	HpsortCudaJob *job;
	HpsortCudaResult result;
	uint64_t	before;
	uint64_t	after;
	uint64_t	peak;

	spec.descending = descending;
	spec.wanted = HPSORT_CUDA_PERMUTATION | (alone ? 0 : keys_and_runs);
	hpsort_cuda_memory(context, &before, nullptr, 1);
	if (!ENGINE(run_job(spec, keys, &job, &result)))
		return;
	CHECK(n == 0 || result.regime == HPSORT_CUDA_PUBLISHED);
	ENGINE(hpsort_cuda_job_read_permutation(job, 0, n / 2, rows.data(), &err));
	ENGINE(hpsort_cuda_job_read_permutation(job, n / 2, n - n / 2, rows.data() + n / 2,
											&err));
	CHECK(rows == expected.rows);
	if (!alone)
	{
		std::vector<int32_t> got(n);
		uint64_t	distinct;

		ENGINE(hpsort_cuda_job_read_keys(job, 0, n, descending, got.data(), &err));
		CHECK(got == expected.keys);
		ENGINE(hpsort_cuda_job_distinct(job, &distinct, &err));
		CHECK(distinct == expected.run_keys.size());
	}
	hpsort_cuda_memory(context, nullptr, &peak, 0);
	if (spec.bounds_known)
		CHECK(peak - before <= job_need(spec, n));
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &after, nullptr, 0);
	CHECK(after == before);
}

/* Memory for the sort, but not in one pass: cut, sorted and merged. */
static void
test_little_memory(void)
{
	const std::vector<int32_t> keys = make_keys({UNIFORM, 3000000, 5000000, -7, false, 9});

	for (int permute = 0; permute < 2; permute++)
	{
		HpsortCudaSpec spec = job_spec(HPSORT_PUBLISHED_BUCKET_BITONIC, keys, true);
		const Reference expected = refer(keys, false);
		std::vector<int32_t> got(keys.size());
		std::vector<uint32_t> rows(keys.size());
		HpsortCudaJob *job;
		HpsortCudaResult result;
		uint64_t	least;
		uint64_t	peak;

		current = "job of bucket_bitonic with little memory";
		if (permute)
			spec.wanted = HPSORT_CUDA_PERMUTATION | HPSORT_CUDA_KEYS;
		least = job_least(spec, keys.size());
		CHECK(least < job_need(spec, keys.size()));
		hpsort_cuda_memory(context, nullptr, nullptr, 1);
		set_memory_limit(context, least);
		if (ENGINE(run_job(spec, keys, &job, &result)))
		{
			CHECK(strstr(result.reason, "parts that were merged") != nullptr);
			ENGINE(hpsort_cuda_job_read_keys(job, 0, keys.size(), 0, got.data(), &err));
			CHECK(got == expected.keys);
			if (permute)
			{
				ENGINE(hpsort_cuda_job_read_permutation(job, 0, keys.size(),
														rows.data(), &err));
				CHECK(rows == expected.rows);
			}
			hpsort_cuda_memory(context, nullptr, &peak, 0);
			CHECK(peak <= least);
		}
		hpsort_cuda_job_close(job);
		set_memory_limit(context, least - 1);
		CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) == HPSORT_CUDA_NO_MEMORY);
		set_memory_limit(context, 0);
	}
}

/* What a shared job is asked. */
struct Asked
{
	bool		permute;
	bool		descending;
	uint64_t	hint;			/* of how many keys: all, or 0 */
	uint64_t	added;			/* keys of a call */
	bool		pinned;			/* the caller's memory, which is overwritten once consumed */
};

/* Its keys added, and the memory of each call given back as soon as it may be. */
static void
add_all(HpsortCudaJob *job, const std::vector<int32_t> &keys, const Asked &asked)
{
	int32_t    *pinned = nullptr;

	if (asked.pinned)
		CUDA(cudaMallocHost((void **) &pinned, asked.added * sizeof(int32_t)));
	for (uint64_t at = 0; at < keys.size(); at += asked.added)
	{
		const uint64_t n = std::min<uint64_t>(asked.added, keys.size() - at);
		const int32_t *from = keys.data() + at;
		uint64_t	number;
		uint64_t	consumed;

		if (pinned != nullptr)
			from = (const int32_t *) memcpy(pinned, from, n * sizeof(int32_t));
		if (!ENGINE(hpsort_cuda_job_add(job, from, n, &number, &err)))
			break;
		if (pinned == nullptr)
			continue;
		ENGINE(hpsort_cuda_job_consumed(job, 1, &consumed, &err));
		CHECK(consumed == number);
		memset(pinned, 0x5a, asked.added * sizeof(int32_t));
	}
	if (pinned != nullptr)
		CUDA(cudaFreeHost(pinned));
}

/*
 * A job that others may have a part of, compared with what is expected.  Returns the
 * reason that it gave; *theirs is what the others had in memory when all keys were there.
 */
static std::string
try_shared(const std::vector<int32_t> &keys, const Reference &expected,
		   const std::vector<HpsortCuda *> &others, const Asked &asked, uint64_t *theirs)
{
	const int	many = (int) others.size();
	HpsortCudaSpec spec = job_spec(HPSORT_PUBLISHED_BUCKET_BITONIC, keys, true);
	std::vector<int32_t> got(keys.size());
	std::vector<uint32_t> rows(keys.size());
	HpsortCudaJob *job;
	HpsortCudaResult result = {};
	uint64_t	before;
	uint64_t	peak;
	uint64_t	used;

	spec.n_hint = asked.hint;
	spec.descending = asked.descending;
	if (asked.permute)
		spec.wanted = HPSORT_CUDA_PERMUTATION | HPSORT_CUDA_KEYS;
	hpsort_cuda_memory(context, &before, nullptr, 1);
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	ENGINE(hpsort_published_job_share(job, others.data(), many, &err));
	add_all(job, keys, asked);
	hpsort_cuda_memory(others[0], theirs, nullptr, 0);
	CHECK(hpsort_published_job_share(job, others.data(), many, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	if (ENGINE(hpsort_cuda_job_finish(job, &result, &err)))
	{
		/* what others had is given back before the result is read */
		hpsort_cuda_memory(others[0], &used, nullptr, 0);
		CHECK(used == 0);
		ENGINE(hpsort_cuda_job_read_keys(job, 0, keys.size(), asked.descending,
										 got.data(), &err));
		CHECK(got == expected.keys);
		if (asked.permute)
			ENGINE(hpsort_cuda_job_read_permutation(job, 0, keys.size(), rows.data(),
													&err));
		CHECK(!asked.permute || rows == expected.rows);
		hpsort_cuda_memory(context, nullptr, &peak, 0);
		CHECK(asked.hint < keys.size() ||
			  peak - before <= job_need(spec, keys.size()));
	}
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == before);
	return result.reason;
}

/*
 * Several devices, of which one may be the same again: chunks go to all of them.  How
 * many keys come is told or not, calls are longer and shorter than the pieces, and
 * equal keys (nearly all, of some lists) are everywhere.
 */
static void
test_shared(HpsortCuda *second)
{
	static const struct
	{
		Distribution distribution;
		uint64_t	range;
		bool		descending;
	}			lists[] = {
		{ZIPF, 2000000, true}, {UNIFORM, 3, false}, {UNIFORM, (uint64_t) 1 << 32, true}};
	uint64_t	turn = 0;

	for (const auto &list : lists)
	{
		const uint64_t n = 8000001;
		const std::vector<int32_t> keys = make_keys({list.distribution, n, list.range,
													 list.range >> 32 ? INT32_MIN : -7,
													 false, 11});

		const Reference expected = refer(keys, list.descending);

		for (int many = 1; many <= 3; many++)
			for (int permute = 0; permute < 2; permute++)
				for (bool told : {true, false})
				{
					const uint64_t calls[] = {n, 1u << 19, 70001};
					const std::string gpus = std::to_string(many + 1);
					const Asked asked = {permute != 0, list.descending, told ? n : 0,
						calls[turn % 3], turn % 2 == 0};
					const std::vector<HpsortCuda *> others(many, second);
					/* where nobody knows how many will come, the first one has the first
					 * million for each, and the others catch up */
					const uint64_t part = n * many / (many + 1);
					const uint64_t least = told ? part :
						std::min(part, n - ((uint64_t) (many + 1) << 20));
					uint64_t	theirs;
					const std::string reason = try_shared(keys, expected, others, asked,
														  &theirs);

					/* they are there before the job is finished */
					CHECK(theirs >= (least - ((uint64_t) many << 19)) * 4);
					CHECK(reason.find("in " + gpus + " parts that were merged, on " + gpus +
									  " gpus") != std::string::npos);
					turn++;
				}
	}
}

/* Too few keys for several devices; more keys than were expected. */
static void
test_shared_hints(HpsortCuda *second)
{
	const std::vector<HpsortCuda *> others(1, second);

	for (uint64_t n : {(uint64_t) 1, (uint64_t) 2000000, (uint64_t) 3000000})
		for (uint64_t hint : {(uint64_t) 0, (uint64_t) 1000, n})
		{
			const std::vector<int32_t> keys = make_keys({UNIFORM, n, 5000, 7, false, 13});
			const Reference expected = refer(keys, false);
			uint64_t	theirs;
			const std::string reason = try_shared(keys, expected, others,
												  {true, false, hint, 300000, false},
												  &theirs);

			CHECK((reason.find("gpus") != std::string::npos) == (n == 3000000));
		}
}

/*
 * The others have no room for a key, for some of them, for all but not to sort them, and
 * for one part of two: what they do not take or sort, the first one does.
 */
static void
test_shared_little_memory(HpsortCuda *second)
{
	const uint64_t n = 8000001;
	const std::vector<int32_t> keys = make_keys({ZIPF, n, 2000000, -7, false, 17});
	const Reference expected = refer(keys, false);
	const std::vector<HpsortCuda *> others(2, second);
	int			shared = 0;
	int			alone = 0;

	for (uint64_t megabytes : {1, 7, 13, 25, 40, 60, 80, 120, 200})
		for (int permute = 0; permute < 2; permute++)
			for (bool told : {true, false})
			{
				uint64_t	theirs;
				uint64_t	peak;

				set_memory_limit(second, megabytes * 1000000);
				hpsort_cuda_memory(second, nullptr, nullptr, 1);

				const std::string reason = try_shared(keys, expected, others,
													  {permute != 0, false, told ? n : 0,
													   400000, false}, &theirs);

				hpsort_cuda_memory(second, nullptr, &peak, 0);
				CHECK(peak <= megabytes * 1000000);
				CHECK(megabytes > 1 || (reason.find("gpus") == std::string::npos &&
										theirs < 100000));
				if (theirs > 1000000)
					(reason.find("gpus") != std::string::npos ? shared : alone)++;
			}
	set_memory_limit(second, 0);
	/* both ends have been met: parts sorted there, and parts brought back unsorted */
	CHECK(shared > 0 && alone > 0);
}

/* The job's own device has as little memory as the job can do with: it cuts its part, and
 * merges it with those of the others. */
static void
test_shared_least(HpsortCuda *second)
{
	const uint64_t n = 8000001;
	const std::vector<int32_t> keys = make_keys({UNIFORM, n, 5000000, -7, false, 23});
	const Reference expected = refer(keys, false);
	const std::vector<HpsortCuda *> others(2, second);

	for (bool room : {true, false})
		for (int permute = 0; permute < 2; permute++)
		{
			HpsortCudaSpec spec = job_spec(HPSORT_PUBLISHED_BUCKET_BITONIC, keys, true);
			uint64_t	theirs;
			uint64_t	used;
			uint64_t	peak;
			std::string reason;

			if (permute)
				spec.wanted = HPSORT_CUDA_PERMUTATION | HPSORT_CUDA_KEYS;
			hpsort_cuda_memory(context, &used, nullptr, 0);
			set_memory_limit(context, used + job_least(spec, n));
			set_memory_limit(second, room ? 0 : 1000000);
			reason = try_shared(keys, expected, others, {permute != 0, false, n, 400000, false},
								&theirs);
			CHECK(reason.find("parts that were merged") != std::string::npos);
			CHECK((reason.find("on 3 gpus") != std::string::npos) == room);
			hpsort_cuda_memory(context, nullptr, &peak, 0);
			CHECK(peak - used <= job_least(spec, n));
			set_memory_limit(context, 0);
		}
	set_memory_limit(second, 0);
}

/* A job that is cancelled, or just closed, while its keys are on several devices. */
static void
test_shared_given_up(HpsortCuda *second)
{
	const std::vector<int32_t> keys = make_keys({UNIFORM, 4000000, 5000, 7, false, 19});

	for (bool cancelled : {false, true})
	{
		HpsortCudaSpec spec = job_spec(HPSORT_PUBLISHED_BUCKET_BITONIC, keys, true);
		HpsortCudaJob *job;
		HpsortCudaResult result;
		uint64_t	used;

		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		ENGINE(hpsort_published_job_share(job, &second, 1, &err));
		ENGINE(hpsort_cuda_job_add(job, keys.data(), keys.size(), nullptr, &err));
		if (cancelled)
		{
			hpsort_cuda_job_cancel(job);
			CHECK(hpsort_cuda_job_finish(job, &result, &err) == HPSORT_CUDA_CANCELLED);
		}
		hpsort_cuda_job_close(job);
		hpsort_cuda_memory(second, &used, nullptr, 0);
		CHECK(used == 0);
	}
}

static void
test_several_gpus(void)
{
	HpsortCuda *second;
	int			devices = 1;
	int			device;

	CUDA(cudaGetDevice(&device));
	ENGINE(hpsort_cuda_device_count(&devices, &err));
	if (!ENGINE(hpsort_cuda_open(devices - 1, 0, &second, &err)))
		return;
	CUDA(cudaSetDevice(device));
	printf("jobs on several gpus: 0 and %d\n", devices - 1);
	current = "job of bucket_bitonic on several gpus";
	test_shared(second);
	current = "job of bucket_bitonic on several gpus, hints";
	test_shared_hints(second);
	current = "job of bucket_bitonic on several gpus, little memory";
	test_shared_little_memory(second);
	current = "job of bucket_bitonic on several gpus, least memory";
	test_shared_least(second);
	current = "job of bucket_bitonic on several gpus, given up";
	test_shared_given_up(second);
	hpsort_cuda_close(second);
	CUDA(cudaSetDevice(device));
}

/* What cannot be done says so, at the earliest moment, and nothing is left. */
static void
test_refusals(void)
{
	std::vector<int32_t> keys = make_keys({UNIFORM, 5000, 3000, -7, false, 3});
	HpsortCudaJob *job;
	HpsortCudaResult result;
	uint64_t	before;
	uint64_t	after;

	hpsort_cuda_memory(context, &before, nullptr, 0);
	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
	{
		HpsortCudaSpec spec = job_spec((HpsortPublished) a, keys, true);

		current = std::string("job refused ") + name_of((HpsortPublished) a);
		if (algorithms[a].no_rows != nullptr)
		{
			spec.wanted = HPSORT_CUDA_PERMUTATION | HPSORT_CUDA_KEYS;
			CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) ==
				  HPSORT_CUDA_BAD_ARGUMENT && job == nullptr);
			CHECK(strstr(err.text, "cannot return a permutation: ") != nullptr);
			spec.wanted = keys_and_runs;
		}

		/* memory: at once when the bounds are given ... */
		const uint64_t least = job_least(spec, 5000);

		set_memory_limit(context, least - 1);
		CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) ==
			  HPSORT_CUDA_NO_MEMORY && job == nullptr);
		CHECK(err.text == std::string(name_of((HpsortPublished) a)) + " needs " +
			  std::to_string(least) + " bytes of gpu memory for 5000 keys, " +
			  std::to_string(before) + " of " + std::to_string(least - 1) + " are in use");
		set_memory_limit(context, 0);

		/* a key outside is named, before anything is sorted */
		spec.hi = keys[0] - 1;
		spec.lo = keys[0] - 5000;
		CHECK(run_job(spec, keys, &job, &result) == HPSORT_CUDA_OUT_OF_BOUNDS);
		hpsort_cuda_job_close(job);
	}

	/* ... else as soon as they are found */
	current = "job refused: one-hot too large";
	std::vector<int32_t> wide = make_keys({UNIFORM, 1000000, 1000000, 0, false, 5});
	HpsortCudaSpec spec = job_spec(HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT, wide, false);

	CHECK(run_job(spec, wide, &job, &result) == HPSORT_CUDA_NO_MEMORY);
	CHECK(!err.sticky);
	CHECK(strstr(err.text, "comparison_free_onehot needs") != nullptr);
	hpsort_cuda_job_close(job);
	spec = job_spec(HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT, wide, true);
	CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) == HPSORT_CUDA_NO_MEMORY);

	current = "job refused: no such algorithm";
	spec.algorithm = HPSORT_PUBLISHED_JOB(HPSORT_PUBLISHED_ALGORITHMS);
	CHECK(hpsort_cuda_job_open(context, &spec, &job, &err) == HPSORT_CUDA_BAD_ARGUMENT);

	/* one_hp: the key that occurs twice */
	for (int known = 0; known < 2; known++)
	{
		std::vector<int32_t> distinct(30000);

		current = "job of one_hp with a key twice";
		for (size_t i = 0; i < distinct.size(); i++)
			distinct[i] = (int32_t) (i * 7919 % 30011) - 15000;
		distinct[77] = distinct[29000];
		spec = job_spec(HPSORT_PUBLISHED_ONE_HP, distinct, known);
		CHECK(run_job(spec, distinct, &job, &result) == HPSORT_CUDA_DUPLICATE);
		CHECK(err.key == distinct[77] && !err.sticky);
		CHECK(strstr(err.text, std::to_string(err.key).c_str()) != nullptr);
		hpsort_cuda_job_close(job);
	}
	hpsort_cuda_memory(context, &after, nullptr, 0);
	CHECK(after == before);
}

void
test_published_jobs(bool quick, bool tiny)
{
	uint64_t	seed = 1;

	for (int a = 0; a < HPSORT_PUBLISHED_ALGORITHMS; a++)
		for (uint64_t n : {(uint64_t) 0, (uint64_t) 1, (uint64_t) 1000, (uint64_t) 70001,
			 (uint64_t) 1500007})
			for (uint64_t range : {(uint64_t) 1, (uint64_t) 300, (uint64_t) 70000,
				 (uint64_t) 3000000, (uint64_t) 1 << 32})
			{
				const bool	by_range = a != HPSORT_PUBLISHED_BUCKET_RADIX &&
					a != HPSORT_PUBLISHED_BUCKET_BITONIC && a != HPSORT_PUBLISHED_RADIX;
				const bool	known = seed % 2;
				std::vector<int32_t> keys;

				if ((quick && n > 5000) || (tiny && (n < 2 || range > 300)) || (by_range && range > 3000000) ||
					(a == HPSORT_PUBLISHED_COMPARISON_FREE_ONEHOT &&
					 n * range > (uint64_t) 1 << 28) ||
					(a == HPSORT_PUBLISHED_ONE_HP && n > range))
					continue;
				if (a == HPSORT_PUBLISHED_ONE_HP)
				{
					/* a step coprime to the range: each key once */
					for (uint64_t i = 0; i < n; i++)
						keys.push_back((int32_t) ((i * 1000003) % range) - 100);
				}
				else
					keys = make_keys({(Distribution) (seed % DISTRIBUTIONS), n, range,
									 range >> 32 ? INT32_MIN : -100, false, seed});
				current = std::string("job of ") + name_of((HpsortPublished) a) + " n " +
					std::to_string(n) + " range " + std::to_string(range) + " seed " +
					std::to_string(seed);
				try_job((HpsortPublished) a, keys, known, seed / 2 % 2);
				if (algorithms[a].no_rows == nullptr)
				{
					current += " permutation";
					try_rows((HpsortPublished) a, keys, known, seed / 2 % 2, seed / 4 % 2);
					try_rows((HpsortPublished) a, keys, known, seed / 2 % 2 == 0,
							 seed / 4 % 2);
				}
				seed++;
			}
	if (tiny)
		return;
	test_refusals();
	test_several_gpus();
	test_little_memory();
}
