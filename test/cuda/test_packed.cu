/*-------------------------------------------------------------------------
 *
 * test_packed.cu
 *	  Packed values that stay on the device, as keys of jobs: against unpacking them on
 *	  the host.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <thread>

#include "check.cuh"
#include "packed.cuh"
#include "regime.h"

/* What is kept, and the same on the host. */
struct Kept
{
	HpsortCudaPacked *packed = nullptr;
	int			width = 1;
	int32_t		base = 0;
	std::vector<uint32_t> distances;
	std::vector<bool> nulls;	/* empty: none */

	int32_t key(uint64_t i) const
	{
		return static_cast<int32_t>(static_cast<uint32_t>(base) + distances[i]);
	}
	bool is_null(uint64_t i) const { return !nulls.empty() && nulls[i]; }
};

enum NullPattern
{
	NO_NULLS,
	SOME_NULLS,					/* one in seven, at random */
	LONG_NULLS,					/* stretches longer than a group of bits */
	ALL_NULLS,
	NO_BITS_SET					/* bits are given, but none is set */
};

/* n distances up to top from base, which is as far from origin, kept through a job; from_device: the values lie there
 * before. */
static Kept
keep(HpsortCudaJob *job, uint32_t n, int width, int32_t base, uint32_t top,
	 NullPattern pattern, uint64_t seed, bool from_device = false, int64_t origin = 0)
{
	Kept		kept;
	std::vector<char> values(static_cast<size_t>(n) * width + 16);
	std::vector<uint8_t> bits((n + 7) / 8, 0);
	Guarded<char> on_device(values.size(), 64);
	uint64_t	number = 0;

	kept.width = width;
	kept.base = base;
	kept.distances.resize(n);
	if (pattern != NO_NULLS)
		kept.nulls.resize(n);
	for (uint32_t i = 0; i < n; i++)
	{
		const uint64_t h = mix64(seed * 1000003 + i);
		const uint32_t d = static_cast<uint32_t>(h % (static_cast<uint64_t>(top) + 1));

		kept.distances[i] = d;
		memcpy(values.data() + static_cast<size_t>(i) * width, &d, width);
		if (pattern == ALL_NULLS || (pattern == SOME_NULLS && h / 7 % 7 == 0) ||
			(pattern == LONG_NULLS && i / 300 % 3 == 1))
		{
			kept.nulls[i] = true;
			bits[i / 8] |= 1 << i % 8;
		}
	}
	/* bits behind the last row say nothing */
	if (n % 8 != 0 && pattern != NO_NULLS)
		bits.back() |= static_cast<uint8_t>(0xff << n % 8);
	if (from_device)
		on_device.put(values);
	ENGINE(hpsort_cuda_job_keep(job, from_device ? on_device.get() : values.data(),
								pattern == NO_NULLS ? nullptr : bits.data(), n, width,
								base + origin, &kept.packed, &number, &err));
	CHECK(number > 0);
	/* the memory may be used again once it has been read; of the bits, at once */
	std::fill(bits.begin(), bits.end(), 0x55);
	ENGINE(hpsort_cuda_job_consumed(job, 1, &number, &err));
	std::fill(values.begin(), values.end(), 0x55);
	if (kept.packed != nullptr)
		CHECK(kept.packed->memory.bytes() >= static_cast<uint64_t>(n) * width);
	return kept;
}

/* A job that is opened only to bring values to the device. */
static HpsortCudaJob *
open_keeper(void)
{
	HpsortCudaSpec spec = {};
	HpsortCudaJob *job = nullptr;

	spec.wanted = HPSORT_CUDA_RUNS;
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	return job;
}

/* Adds pieces as the job is given them to the keys that the host expects. */
struct Pieces
{
	std::vector<HpsortCudaPiece> list;
	std::vector<int32_t> keys;

	void add(const Kept &kept, uint32_t first, uint32_t n)
	{
		list.push_back({kept.packed, first, n});
		for (uint32_t i = first; i < first + n; i++)
			if (!kept.is_null(i))
				keys.push_back(kept.key(i));
	}
	/* in one call; the job has not read them on return, though pieces are the caller's */
	void give(HpsortCudaJob *job)
	{
		uint64_t	n = UINT64_MAX;
		const uint64_t before = given;

		ENGINE(hpsort_cuda_job_add_rows(job, list.data(),
										  static_cast<uint32_t>(list.size()), &n, &err));
		given = keys.size();
		CHECK(n == given - before);
		for (HpsortCudaPiece &piece : list)
			piece = {nullptr, 77, 77};
		list.clear();
	}
	/* some that were not packed */
	void give_plain(HpsortCudaJob *job, const std::vector<int32_t> &plain)
	{
		ENGINE(hpsort_cuda_job_add(job, plain.data(), plain.size(), nullptr, &err));
		keys.insert(keys.end(), plain.begin(), plain.end());
		given = keys.size();
	}
	uint64_t	given = 0;
};

/* The job's result against the host's; closes the job. */
static void
check_result(HpsortCudaJob *job, const HpsortCudaSpec &spec, const std::vector<int32_t> &keys)
{
	const Reference expected = refer(keys, spec.descending != 0);
	const uint64_t n = keys.size();
	HpsortCudaResult result;

	if (ENGINE(hpsort_cuda_job_finish(job, &result, &err)))
	{
		CHECK(result.n == n);
		if (spec.wanted & HPSORT_CUDA_KEYS)
		{
			std::vector<int32_t> got(n);

			ENGINE(hpsort_cuda_job_read_keys(job, 0, n, spec.descending, got.data(), &err));
			CHECK(got == expected.keys);
		}
		if (spec.wanted & HPSORT_CUDA_PERMUTATION)
		{
			std::vector<uint32_t> got(n);

			ENGINE(hpsort_cuda_job_read_permutation(job, 0, n, got.data(), &err));
			CHECK(got == expected.rows);
		}
		if (spec.wanted & HPSORT_CUDA_RUNS)
		{
			uint64_t	distinct = 0;

			ENGINE(hpsort_cuda_job_distinct(job, &distinct, &err));
			if (CHECK(distinct == expected.run_keys.size()))
			{
				std::vector<int32_t> run_keys(distinct);
				std::vector<uint64_t> counts(distinct);

				ENGINE(hpsort_cuda_job_read_runs(job, 0, distinct, run_keys.data(),
												 counts.data(), &err));
				CHECK(run_keys == expected.run_keys);
				CHECK(counts == expected.run_counts);
			}
		}
	}
	hpsort_cuda_job_close(job);
}

/* Bounds of what was kept, so that the range decides about the mode. */
static HpsortCudaSpec
make_spec(uint32_t wanted, int32_t lo, int32_t hi)
{
	HpsortCudaSpec spec = {};

	spec.wanted = wanted;
	spec.bounds_known = 1;
	spec.lo = lo;
	spec.hi = hi;
	return spec;
}

/* Pieces from each offset to a boundary of 16 bytes, or from anywhere; tiny ones, too. */
static void
add_some(Pieces *pieces, const std::vector<Kept> &all, bool offsets, uint64_t seed)
{
	for (uint32_t i = 0; i < 40; i++)
	{
		const Kept &kept = all[mix64(seed + i) % all.size()];
		const uint32_t rows = static_cast<uint32_t>(kept.distances.size());
		const uint32_t first = std::min(rows, offsets ? i :
										static_cast<uint32_t>(mix64(seed * 3 + i) % (rows + 1)));
		const uint32_t most = rows - first;
		const uint32_t any = static_cast<uint32_t>(mix64(seed * 7 + i) % (most + 1)) % 700;

		pieces->add(kept, first, i % 5 == 0 ? 0 : i % 5 == 1 ? std::min(most, i) :
					i % 13 == 2 ? most : any);
	}
}

/*
 * All widths, bases, NULLs and modes: pieces that begin and end anywhere, some empty, some
 * given twice, between keys that were not packed.  Top is what the range has room for: a
 * wide one takes the job to keeping mode.
 */
static void
try_pieces(int width, int32_t base, uint32_t top, NullPattern pattern, uint32_t n,
		   uint32_t wanted, bool hinted, uint64_t seed)
{
	const int32_t hi = static_cast<int32_t>(static_cast<uint32_t>(base) + top);
	HpsortCudaSpec spec = make_spec(wanted, base, hi);
	HpsortCudaJob *keeper;
	HpsortCudaJob *job;
	std::vector<Kept> all;
	Pieces		pieces;
	char		text[256];
	uint64_t	before;
	uint64_t	used;

	snprintf(text, sizeof(text), "packed width %d base %d top %u nulls %d n %u wanted %u "
			 "hinted %d seed %llu", width, base, top, pattern, n, wanted, hinted,
			 (unsigned long long) seed);
	current = text;
	hpsort_cuda_memory(context, &before, nullptr, 0);
	keeper = open_keeper();
	for (int i = 0; i < 3; i++)
		all.push_back(keep(keeper, n + i, width, base, top, i == 1 ? pattern : i == 0 ?
						   NO_NULLS : pattern == ALL_NULLS ? SOME_NULLS : pattern,
						   seed + i, i == 2));
	spec.descending = seed % 2;
	spec.bounds_known = seed % 3 != 0 || top < 50000;
	if (hinted)
		spec.n_hint = 9ull * n;
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	for (int call = 0; call < 4; call++)
	{
		if (call == 1)
		{
			std::vector<int32_t> plain(seed % 1000);

			for (size_t i = 0; i < plain.size(); i++)
				plain[i] = all[0].key(i % n);
			pieces.give_plain(job, plain);
		}
		add_some(&pieces, all, call == 0, seed);
		/* a call of its own for whole ones, and for nothing */
		if (call == 2)
			for (const Kept &kept : all)
				pieces.add(kept, 0, static_cast<uint32_t>(kept.distances.size()));
		pieces.give(job);
		if (call == 3)
			pieces.give(job);
	}
	check_result(job, spec, pieces.keys);
	for (Kept &kept : all)
		hpsort_cuda_packed_free(kept.packed);
	hpsort_cuda_job_close(keeper);
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == before);
}

static void
test_pieces(bool quick)
{
	const uint32_t tops[] = {0, 255, 40000, 65535, 5000000, UINT32_MAX};
	uint64_t	seed = 11;

	for (int width : {1, 2, 4})
		for (uint32_t top : tops)
			for (int pattern = NO_NULLS; pattern <= NO_BITS_SET; pattern++)
				for (int place = 0; place < 4; place++)
				{
					const uint32_t width_top = width == 1 ? 255 : width == 2 ? 65535 : UINT32_MAX;
					const uint32_t t = std::min(top, width_top);
					/* INT_MIN, negative, 0, and up to INT_MAX */
					const int32_t base = place == 0 || t == UINT32_MAX ? INT_MIN :
						place == 1 ? -100 : place == 2 ? 0 :
						static_cast<int32_t>(INT_MAX - static_cast<int64_t>(t));
					const uint32_t wanteds[] = {HPSORT_CUDA_RUNS, HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS,
						HPSORT_CUDA_PERMUTATION};

					seed++;
					if ((top != t && top != tops[0]) || (quick && seed % 7 != 0))
						continue;
					if (place == 1 && t == UINT32_MAX)
						continue;
					try_pieces(width, base, t, static_cast<NullPattern>(pattern),
							   seed % 2 ? 5000 : 300, wanteds[seed % 3], seed % 5 < 3, seed);
				}
}

/* More pieces in one call than a table has parts, most of them small; and a few large ones,
 * which take several tiles a warp. */
static void
test_many_pieces(uint32_t npieces, uint32_t rows)
{
	for (uint32_t wanted : {HPSORT_CUDA_RUNS, HPSORT_CUDA_PERMUTATION})
		for (int width : {1, 2, 4})
		{
			HpsortCudaSpec spec = make_spec(wanted, -50, 5000);
			HpsortCudaJob *keeper = open_keeper();
			HpsortCudaJob *job;
			std::vector<Kept> all;
			Pieces		pieces;

			current = "many pieces, width " + std::to_string(width) + ", wanted " +
				std::to_string(wanted);
			for (int i = 0; i < 8; i++)
				all.push_back(keep(keeper, rows, width, i, width == 1 ? 255 : 4000,
								   i == 3 ? SOME_NULLS : NO_NULLS, 100 + i));
			ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
			for (uint32_t i = 0; i < npieces; i++)
				pieces.add(all[i % 8], static_cast<uint32_t>(mix64(i) % (rows - 100)),
						   1 + i % 97);
			pieces.give(job);
			for (const Kept &kept : all)
				pieces.add(kept, 1, rows - 2);
			pieces.give(job);
			check_result(job, spec, pieces.keys);
			for (Kept &kept : all)
				hpsort_cuda_packed_free(kept.packed);
			hpsort_cuda_job_close(keeper);
		}
}

/* Keys outside the bounds in both modes; of NULLs, distances outside are no keys. */
static void
test_packed_bounds(void)
{
	for (uint32_t wanted : {HPSORT_CUDA_RUNS, HPSORT_CUDA_PERMUTATION})
		for (int width : {1, 2, 4})
			for (int32_t base : {-200, 0, INT_MAX - 200})
			{
				HpsortCudaJob *job;
				HpsortCudaPacked *packed;
				HpsortCudaResult result;
				HpsortCudaSpec spec = make_spec(wanted, base, base + 99);
				uint32_t	values[4] = {};
				alignas(4) char bytes[16];
				const uint8_t null_last = 8;

				current = "packed, out of bounds, width " + std::to_string(width);
				values[3] = 150;
				for (int i = 0; i < 4; i++)
					memcpy(bytes + i * width, &values[i], width);
				for (int with_null = 0; with_null < 2; with_null++)
				{
					HpsortCudaPiece piece;
					uint64_t	n;

					ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
					ENGINE(hpsort_cuda_job_keep(job, bytes, with_null ? &null_last : nullptr,
												4, width, base, &packed, nullptr, &err));
					piece = {packed, 1, 3};
					ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err));
					CHECK(n == (with_null ? 2 : 3));
					if (with_null)
					{
						ENGINE(hpsort_cuda_job_finish(job, &result, &err));
						CHECK(result.n == 2);
					}
					else
					{
						CHECK(hpsort_cuda_job_finish(job, &result, &err) ==
							  HPSORT_CUDA_OUT_OF_BOUNDS);
						CHECK(err.key == base + 150);
					}
					hpsort_cuda_packed_free(packed);
					hpsort_cuda_job_close(job);
				}
			}
}

/* Broken contracts, which change nothing. */
static void
test_packed_errors(void)
{
	HpsortCudaSpec spec = make_spec(HPSORT_CUDA_RUNS, 0, 255);
	HpsortCudaJob *job;
	HpsortCudaPacked *packed = nullptr;
	HpsortCudaPacked *none = nullptr;
	HpsortCudaPiece piece;
	HpsortCuda *other;
	int			device;
	const std::vector<uint8_t> values(100, 3);
	std::vector<uint64_t> counts(1);
	std::vector<int32_t> keys(1);
	uint64_t	n;

	current = "packed, errors";
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	CHECK(hpsort_cuda_job_keep(job, values.data(), nullptr, 100, 3, 0, &none, nullptr, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(hpsort_cuda_job_keep(job, nullptr, nullptr, 100, 1, 0, &none, nullptr, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(hpsort_cuda_job_keep(job, values.data() + 1, nullptr, 10, 4, 0, &none, nullptr,
							   &err) == HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(none == nullptr);
	ENGINE(hpsort_cuda_job_keep(job, values.data(), nullptr, 100, 1, 0, &packed, nullptr, &err));
	for (HpsortCudaPiece bad : {HpsortCudaPiece{packed, 101, 0}, HpsortCudaPiece{packed, 100, 1},
		 HpsortCudaPiece{packed, 50, 51}, HpsortCudaPiece{packed, 1, UINT32_MAX},
		 HpsortCudaPiece{nullptr, 0, 0}})
	{
		/* the first one is good, and must not be counted */
		const HpsortCudaPiece two[] = {{packed, 0, 100}, bad};

		CHECK(hpsort_cuda_job_add_rows(job, two, 2, &n, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	}
	CHECK(hpsort_cuda_job_add_rows(job, nullptr, 1, &n, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	ENGINE(hpsort_cuda_job_add_rows(job, nullptr, 0, &n, &err));
	CHECK(n == 0);

	CUDA(cudaGetDevice(&device));
	ENGINE(hpsort_cuda_open(device, 0, &other, &err));
	{
		HpsortCudaJob *stranger;

		piece = {packed, 0, 100};
		ENGINE(hpsort_cuda_job_open(other, &spec, &stranger, &err));
		CHECK(hpsort_cuda_job_add_rows(stranger, &piece, 1, &n, &err) ==
			  HPSORT_CUDA_BAD_ARGUMENT);
		hpsort_cuda_job_close(stranger);
	}
	hpsort_cuda_close(other);

	/* no values, of which there are no pieces but empty ones */
	ENGINE(hpsort_cuda_job_keep(job, nullptr, nullptr, 0, 2, 0, &none, nullptr, &err));
	piece = {none, 0, 0};
	ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err));
	CHECK(n == 0);
	hpsort_cuda_packed_free(none);

	piece = {packed, 0, 100};
	ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, nullptr, &err));
	ENGINE(hpsort_cuda_job_finish(job, nullptr, &err));
	ENGINE(hpsort_cuda_job_read_runs(job, 0, 1, keys.data(), counts.data(), &err));
	CHECK(keys[0] == 3 && counts[0] == 100);
	CHECK(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(hpsort_cuda_job_keep(job, values.data(), nullptr, 100, 1, 0, &none, nullptr, &err) ==
		  HPSORT_CUDA_BAD_ARGUMENT);
	hpsort_cuda_job_close(job);

	/* cancelled: nothing is kept, nothing is added */
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	hpsort_cuda_job_cancel(job);
	CHECK(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err) == HPSORT_CUDA_CANCELLED);
	CHECK(hpsort_cuda_job_keep(job, values.data(), nullptr, 100, 1, 0, &none, nullptr, &err) ==
		  HPSORT_CUDA_CANCELLED);
	CHECK(none == nullptr);
	hpsort_cuda_job_close(job);
	hpsort_cuda_packed_free(packed);
	hpsort_cuda_packed_free(nullptr);
}

/* Without room for what is kept, for tables, or for keys: the job goes on. */
static void
test_packed_limit(void)
{
	HpsortCudaSpec spec = make_spec(HPSORT_CUDA_RUNS, 0, 255);
	const std::vector<uint8_t> values(300000, 9);
	HpsortCudaPacked *packed = nullptr;
	HpsortCudaPacked *none = nullptr;
	HpsortCudaJob *job;
	HpsortCudaResult result;
	uint64_t	before;
	uint64_t	open;
	uint64_t	used;
	uint64_t	peak;
	uint64_t	n;

	current = "packed, memory limit";
	hpsort_cuda_memory(context, &before, nullptr, 0);
	spec.n_hint = values.size();
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	hpsort_cuda_memory(context, &open, nullptr, 0);
	set_memory_limit(context, open + 299999);
	CHECK(hpsort_cuda_job_keep(job, values.data(), nullptr, 300000, 1, 0, &none, nullptr, &err) ==
		  HPSORT_CUDA_NO_MEMORY);
	CHECK(!err.sticky && none == nullptr);
	set_memory_limit(context, open + 300032);
	ENGINE(hpsort_cuda_job_keep(job, values.data(), nullptr, 300000, 1, 0, &packed, nullptr,
								&err));

	HpsortCudaPiece piece = {packed, 0, 300000};

	/* no room for the table */
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == open + packed->memory.bytes());
	set_memory_limit(context, used);
	CHECK(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err) == HPSORT_CUDA_NO_MEMORY);
	set_memory_limit(context, 0);
	ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err));
	ENGINE(hpsort_cuda_job_finish(job, &result, &err));
	CHECK(result.n == 300000 && result.distinct == 1);
	hpsort_cuda_job_close(job);

	/* nor for the keys, of which the job has some already */
	spec.wanted = HPSORT_CUDA_PERMUTATION;
	spec.n_hint = 0;
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err));
	hpsort_cuda_memory(context, &used, nullptr, 0);
	set_memory_limit(context, used + 300000);
	CHECK(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err) == HPSORT_CUDA_NO_MEMORY);
	set_memory_limit(context, 0);
	ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err));
	ENGINE(hpsort_cuda_job_finish(job, &result, &err));
	CHECK(result.n == 600000);
	hpsort_cuda_job_close(job);
	spec.wanted = HPSORT_CUDA_RUNS;
	spec.n_hint = values.size();

	/* the values outlive the job that brought them; another job's need holds */
	hpsort_cuda_memory(context, &used, nullptr, 1);
	CHECK(used == before + packed->memory.bytes());
	ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
	for (uint32_t i = 0; i < 10; i++)
	{
		piece = {packed, i * 30000, 30000};
		ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, &n, &err));
	}
	ENGINE(hpsort_cuda_job_finish(job, &result, &err));
	CHECK(result.n == 300000 && result.distinct == 1);
	hpsort_cuda_memory(context, nullptr, &peak, 0);
	CHECK(peak - used <= regime_job_need(&context->limits, &spec, 300000));
	hpsort_cuda_packed_free(packed);
	hpsort_cuda_job_close(job);
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == before);
}

/*
 * Dropped while a job that was given them runs, again and again, and new ones put at once
 * where they were: a job that read too late would find the new ones.
 */
static void
test_drop(uint32_t rows, int turns)
{
	const HpsortCudaSpec specs[] = {make_spec(HPSORT_CUDA_RUNS, 0, 999),
		make_spec(HPSORT_CUDA_PERMUTATION, 0, 999)};
	std::vector<uint16_t> values[2];

	current = "packed, dropped while a job runs";
	for (int which = 0; which < 2; which++)
	{
		values[which].resize(rows);
		for (uint32_t i = 0; i < rows; i++)
			values[which][i] = static_cast<uint16_t>(500 * which + mix64(i) % 500);
	}
	for (const HpsortCudaSpec &spec : specs)
		for (int turn = 0; turn < turns; turn++)
		{
			HpsortCudaJob *job;
			HpsortCudaJob *next;
			HpsortCudaPacked *packed[16];
			HpsortCudaPacked *later[16];
			HpsortCudaResult result;
			HpsortCudaPiece pieces[16];
			uint64_t	n;

			ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
			ENGINE(hpsort_cuda_job_open(context, &spec, &next, &err));
			for (int i = 0; i < 16; i++)
			{
				ENGINE(hpsort_cuda_job_keep(job, values[0].data(), nullptr, rows, 2, 0,
											&packed[i], nullptr, &err));
				pieces[i] = {packed[i], 0, rows};
			}
			for (int i = 0; i < 4; i++)
				ENGINE(hpsort_cuda_job_add_rows(job, pieces, 16, &n, &err));
			for (int i = 0; i < 16; i++)
				hpsort_cuda_packed_free(packed[i]);
			for (int i = 0; i < 16; i++)
				ENGINE(hpsort_cuda_job_keep(next, values[1].data(), nullptr, rows, 2, 0,
											&later[i], nullptr, &err));
			ENGINE(hpsort_cuda_job_finish(job, &result, &err));
			CHECK(result.n == 64ull * rows);
			/* the other job's, through a job that waits for their copies */
			for (int i = 0; i < 16; i++)
				pieces[i].packed = later[i];
			hpsort_cuda_job_close(job);
			ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
			ENGINE(hpsort_cuda_job_add_rows(job, pieces, 16, &n, &err));
			ENGINE(hpsort_cuda_job_finish(job, &result, &err));
			CHECK(result.n == 16ull * rows);
			/* freed before the job that kept them is closed, or after */
			if (turn % 2)
				hpsort_cuda_job_close(next);
			for (int i = 0; i < 16; i++)
				hpsort_cuda_packed_free(later[i]);
			if (turn % 2 == 0)
				hpsort_cuda_job_close(next);
			hpsort_cuda_job_close(job);
		}
}

/* Jobs of several threads share what one of them keeps, as soon as it is kept. */
static void
test_shared(int jobs, uint32_t rows)
{
	std::vector<std::thread> threads;
	std::vector<HpsortCudaPacked *> packed(200);
	std::atomic<int> kept{0};
	std::atomic<int> wrong{0};
	HpsortCudaJob *keeper;
	int			device;

	current = "packed, shared by several jobs";
	CUDA(cudaGetDevice(&device));
	keeper = open_keeper();
	for (int j = 0; j < jobs; j++)
		threads.emplace_back([&, j] {
			HpsortCudaSpec spec = make_spec(j % 4 < 2 ? HPSORT_CUDA_RUNS : HPSORT_CUDA_KEYS,
											0, j % 2 ? 1000000 : 255);
			HpsortCudaError error;
			HpsortCudaJob *job;
			HpsortCudaResult result;
			uint64_t	n;
			std::vector<uint64_t> counts(256);

			spec.wanted |= HPSORT_CUDA_RUNS;
			CUDA(cudaSetDevice(device));
			if (hpsort_cuda_job_open(context, &spec, &job, &error) != HPSORT_CUDA_OK)
			{
				wrong++;
				return;
			}
			for (int i = 0; i < 200; i++)
			{
				while (kept.load() <= i)
					std::this_thread::yield();

				HpsortCudaPiece piece = {packed[i], 0, rows};

				if (hpsort_cuda_job_add_rows(job, &piece, 1, &n, &error) != HPSORT_CUDA_OK ||
					n != rows)
					wrong++;
			}
			if (hpsort_cuda_job_finish(job, &result, &error) != HPSORT_CUDA_OK ||
				hpsort_cuda_job_distinct(job, &n, &error) != HPSORT_CUDA_OK || n != 200 ||
				hpsort_cuda_job_read_runs(job, 0, 200, nullptr, counts.data(), &error) !=
				HPSORT_CUDA_OK)
				wrong++;
			for (int i = 0; i < 200; i++)
				if (counts[i] != rows)
					wrong++;
			hpsort_cuda_job_close(job);
		});
	for (int i = 0; i < 200; i++)
	{
		const std::vector<uint8_t> values(rows, static_cast<uint8_t>(i));

		ENGINE(hpsort_cuda_job_keep(keeper, values.data(), nullptr, rows, 1, 0, &packed[i],
									nullptr, &err));
		kept.store(i + 1);
	}
	for (std::thread &thread : threads)
		thread.join();
	CHECK(wrong == 0);
	hpsort_cuda_job_close(keeper);
	for (HpsortCudaPacked *each : packed)
		hpsort_cuda_packed_free(each);
}

/* Cancelled by another thread at a random moment. */
static void
test_packed_cancel(uint32_t rows)
{
	HpsortCudaJob *keeper = open_keeper();
	Kept		kept;
	std::vector<HpsortCudaPiece> pieces;
	uint64_t	before;
	uint64_t	after;

	current = "packed, cancelled";
	kept = keep(keeper, rows, 2, 0, 60000, SOME_NULLS, 5);
	hpsort_cuda_job_close(keeper);
	for (uint32_t i = 0; i < 20000; i++)
		pieces.push_back({kept.packed, i % rows, 1 + i % std::min(1000u, rows - i % rows)});
	hpsort_cuda_memory(context, &before, nullptr, 0);
	for (int i = 0; i < 20; i++)
	{
		HpsortCudaSpec spec = make_spec(i % 2 ? HPSORT_CUDA_RUNS : HPSORT_CUDA_PERMUTATION, 0,
										60000);
		HpsortCudaJob *job;
		HpsortCudaCode code = HPSORT_CUDA_OK;
		uint64_t	n;

		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		std::thread canceller([&] {
			std::this_thread::sleep_for(std::chrono::microseconds(i * 200));
			hpsort_cuda_job_cancel(job);
		});
		for (int c = 0; c < 4 && code == HPSORT_CUDA_OK; c++)
			code = hpsort_cuda_job_add_rows(job, pieces.data(),
											  static_cast<uint32_t>(pieces.size()), &n, &err);
		if (code == HPSORT_CUDA_OK)
			code = hpsort_cuda_job_finish(job, nullptr, &err);
		CHECK(code == HPSORT_CUDA_OK || code == HPSORT_CUDA_CANCELLED);
		canceller.join();
		hpsort_cuda_job_close(job);
	}
	hpsort_cuda_memory(context, &after, nullptr, 0);
	CHECK(after == before);
	hpsort_cuda_packed_free(kept.packed);
}

/* ------------------------------------------------------------------------
 * Rows of several columns
 * ------------------------------------------------------------------------
 */

/* A column of rows: what is kept of it, three times, and its part of the key. */
struct RowColumn
{
	std::vector<Kept> kept;
	HpsortCudaRowsColumn key = {};
	std::vector<HpsortCudaRange> ranges;

	bool passes(const Kept &of, uint64_t row) const
	{
		if (!(key.flags & HPSORT_CUDA_ROWS_FILTERED))
			return true;
		if (of.is_null(row))
			return (key.flags & HPSORT_CUDA_ROWS_NULLS_PASS) != 0;
		if (key.flags & HPSORT_CUDA_ROWS_MASKED)
		{
			const uint32_t value = static_cast<uint32_t>(of.key(row));

			return value / 64 < ranges.size() &&
				static_cast<uint32_t>(value & 32 ? ranges[value / 64].hi : ranges[value / 64].lo) >> value % 32 & 1;
		}
		if (key.flags & HPSORT_CUDA_ROWS_MAPPED)
			return mapped(of, row) != HPSORT_CUDA_ROWS_NO_MATCH;
		for (const HpsortCudaRange &range : ranges)
			if (of.key(row) >= range.lo && of.key(row) <= range.hi)
				return true;
		return false;
	}
	uint32_t mapped(const Kept &of, uint64_t row) const
	{
		const uint32_t place = static_cast<uint32_t>(of.key(row)) - static_cast<uint32_t>(key.lo);

		return static_cast<uint32_t>(place % 2 ? ranges[place / 2].hi : ranges[place / 2].lo);
	}
	uint32_t adds(const Kept &of, uint64_t row) const
	{
		if (!(key.flags & HPSORT_CUDA_ROWS_IN_KEY))
			return 0;
		return of.is_null(row) ? key.null_adds : key.flags & HPSORT_CUDA_ROWS_MAPPED ? mapped(of, row) :
			(static_cast<uint32_t>(of.key(row)) - static_cast<uint32_t>(key.lo)) * key.stride;
	}
};

/* A layout of some columns, and what the host expects of a job by it. */
struct RowsCase
{
	std::vector<RowColumn> columns;
	HpsortCudaRows layout = {};
	std::vector<HpsortCudaRange> ranges;
	HpsortCudaSpec spec = {};
	std::vector<HpsortCudaPiece> list;
	std::vector<int32_t> keys;
	uint64_t	rows = 0;
	uint64_t	first = 0;		/* keys before the rows */

	/* one part of rows; every column's begins at a row of its own */
	void add(uint32_t n, uint64_t seed)
	{
		std::vector<uint32_t> firsts;
		std::vector<const Kept *> of;

		for (size_t c = 0; c < columns.size(); c++)
		{
			const Kept &kept = columns[c].kept[mix64(seed * 31 + c) % columns[c].kept.size()];
			const uint32_t most = static_cast<uint32_t>(kept.distances.size()) - n;

			of.push_back(&kept);
			firsts.push_back(static_cast<uint32_t>(mix64(seed * 17 + c) % (most + 1)));
			list.push_back({kept.packed, firsts[c], n});
		}
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t	key = layout.base;
			bool		passes = true;

			for (size_t c = 0; c < columns.size(); c++)
			{
				passes = passes && columns[c].passes(*of[c], firsts[c] + i);
				key += columns[c].adds(*of[c], firsts[c] + i);
			}
			if (passes && layout.key_ranges > 0)
			{
				const int32_t of_row = static_cast<int32_t>(key);

				passes = std::any_of(ranges.end() - layout.key_ranges, ranges.end(), [&](const HpsortCudaRange &range) {
					return of_row >= range.lo && of_row <= range.hi;
				});
				key = static_cast<uint32_t>(first + rows + i);
			}
			if (passes)
				keys.push_back(static_cast<int32_t>(key));
		}
		rows += n;
	}
	void give(HpsortCudaJob *job)
	{
		ENGINE(hpsort_cuda_job_add_rows(job, list.data(), static_cast<uint32_t>(
			list.size() / columns.size()), nullptr, &err));
		for (HpsortCudaPiece &piece : list)
			piece = {nullptr, 77, 77};
		list.clear();
	}
};

/* Random ranges, some of which a column's values are in. */
static std::vector<HpsortCudaRange>
make_ranges(int32_t base, uint32_t top, uint64_t seed)
{
	const uint32_t n = static_cast<uint32_t>(mix64(seed) % 3 == 0 ? mix64(seed + 1) % 40 : mix64(seed + 1) % 4);
	std::vector<int64_t> ends;
	std::vector<HpsortCudaRange> ranges;

	for (uint32_t i = 0; i < 2 * n; i++)
		ends.push_back(static_cast<int64_t>(base) - 5 + static_cast<int64_t>(mix64(seed * 5 + i) % (static_cast<uint64_t>(top) + 10)));
	std::sort(ends.begin(), ends.end());
	for (uint32_t i = 0; i < n; i++)
		if ((ranges.empty() || ends[2 * i] > ranges.back().hi) && ends[2 * i] >= INT_MIN && ends[2 * i + 1] <= INT_MAX)
			ranges.push_back({static_cast<int32_t>(ends[2 * i]), static_cast<int32_t>(ends[2 * i + 1])});
	return ranges;
}

/* Random columns of up to n rows; narrow: their keys can be counted. */
static RowsCase
make_case(HpsortCudaJob *keeper, uint32_t ncolumns, uint32_t n, bool narrow, bool filtered, uint64_t seed)
{
	RowsCase	made;
	uint64_t	range = 1;

	made.layout.ncolumns = ncolumns;
	for (uint32_t c = 0; c < ncolumns; c++)
	{
		const uint64_t h = mix64(seed * 101 + c);
		const int width = 1 << h % 3;
		const uint32_t most = narrow ? (c == 0 ? 2000 : 5) : c == 0 ? 1000000 : 60;
		const uint32_t top = static_cast<uint32_t>(h / 3 % (std::min(most, width == 1 ? 255u : width == 2 ? 65535u : UINT32_MAX) + 1));
		const int32_t base = h / 7 % 4 == 0 ? -77 : h / 7 % 4 == 1 ? INT_MIN : h / 7 % 4 == 2 ? 0 :
			static_cast<int32_t>(INT_MAX - static_cast<int64_t>(top));
		const int64_t origin = h / 29 % 2 ? 0 : (1ll << 40) - static_cast<int64_t>(h / 31 % 3) * 5 * INT_MAX;
		const NullPattern pattern = static_cast<NullPattern>(h / 11 % 5);
		RowColumn	column;

		for (int i = 0; i < 3; i++)
			column.kept.push_back(keep(keeper, n + 10 * i, width, base, top, i == 0 ? NO_NULLS : pattern, seed * 7 + c * 3 + i, false, origin));
		column.key.origin = origin;
		column.key.lo = base;
		column.key.last = top;
		if (c == 0 || (h / 13 % 4 != 0 && range * (static_cast<uint64_t>(top) + 2) <= 1ull << 30))
		{
			const uint32_t stride = static_cast<uint32_t>(range);
			const bool	down = h / 17 % 2;

			column.key.flags = HPSORT_CUDA_ROWS_IN_KEY | HPSORT_CUDA_ROWS_NULL_IN_KEY;
			column.key.stride = down ? 0 - stride : stride;
			column.key.null_adds = down ? stride : (top + 1) * stride;
			/* what a map says values add, in place of the stride, is in the same range */
			if (filtered && top < 100000 && h / 37 % 3 == 0)
			{
				column.key.flags |= HPSORT_CUDA_ROWS_MAPPED;
				column.key.null_adds = stride;
				column.key.stride = static_cast<uint32_t>(h);
			}
			else
				made.layout.base += down ? top * stride : 0;
			range *= static_cast<uint64_t>(top) + 2;
		}
		if (column.key.flags & HPSORT_CUDA_ROWS_MAPPED)
		{
			const uint64_t step = range / (static_cast<uint64_t>(top) + 2);

			column.key.flags |= HPSORT_CUDA_ROWS_FILTERED | (h / 23 % 2 ? HPSORT_CUDA_ROWS_NULLS_PASS : 0);
			for (uint32_t i = 0; i <= top / 2; i++)
			{
				uint32_t	adds[2];

				for (int j = 0; j < 2; j++)
					adds[j] = mix64(h + 2 * i + j) % 4 == 0 ? HPSORT_CUDA_ROWS_NO_MATCH :
						static_cast<uint32_t>(mix64(h - 2 * i - j) % (top + 2ull) * step);
				column.ranges.push_back({static_cast<int32_t>(adds[0]), static_cast<int32_t>(adds[1])});
			}
		}
		else if (filtered && (c == 0 || h / 19 % 2))
		{
			column.key.flags |= HPSORT_CUDA_ROWS_FILTERED | (h / 23 % 2 ? HPSORT_CUDA_ROWS_NULLS_PASS : 0);
			if (base != 0)
				column.ranges = make_ranges(base, top, h);
			else
			{
				column.key.flags |= HPSORT_CUDA_ROWS_MASKED;
				for (uint32_t i = 0; i < top / 64 + h % 2; i++)
					column.ranges.push_back({static_cast<int32_t>(mix64(h + i)), static_cast<int32_t>(mix64(h - i))});
			}
		}
		if (column.key.flags & HPSORT_CUDA_ROWS_FILTERED)
		{
			column.key.first_range = static_cast<uint32_t>(made.ranges.size());
			column.key.nranges = static_cast<uint32_t>(column.ranges.size());
			made.ranges.insert(made.ranges.end(), column.ranges.begin(), column.ranges.end());
			made.layout.filtered = 1;
		}
		made.layout.columns[c] = column.key;
		made.columns.push_back(std::move(column));
	}
	made.layout.nranges = static_cast<uint32_t>(made.ranges.size());

	const int32_t lo = seed % 2 ? INT_MIN : -1000;

	made.layout.base += static_cast<uint32_t>(lo);
	CHECK(range <= 1ull << 31);
	made.spec = make_spec(HPSORT_CUDA_RUNS, lo, static_cast<int32_t>(lo + static_cast<int64_t>(range) - 1));
	return made;
}

static void
free_case(RowsCase *made)
{
	for (RowColumn &column : made->columns)
		for (Kept &kept : column.kept)
			hpsort_cuda_packed_free(kept.packed);
}

/* Keys at positions, and how many are smaller than others. */
static void
check_looks(HpsortCudaJob *job, std::vector<int32_t> keys, uint64_t seed)
{
	std::vector<uint64_t> positions;
	std::vector<int32_t> others;
	std::vector<int32_t> expected;
	std::vector<uint64_t> expected_below;
	std::vector<uint64_t> before(1, 0);
	std::vector<uint64_t> expected_sums;

	std::sort(keys.begin(), keys.end());
	for (uint64_t i = 0; i < 300; i++)
	{
		others.push_back(i % 3 == 0 || keys.empty() ? static_cast<int32_t>(mix64(seed + i)) :
						 keys[mix64(seed + i) % keys.size()] + static_cast<int32_t>(i % 2));
		expected_below.push_back(static_cast<uint64_t>(std::lower_bound(keys.begin(), keys.end(), others.back()) - keys.begin()));
		if (!keys.empty())
		{
			positions.push_back(i == 0 ? 0 : i == 1 ? keys.size() - 1 : mix64(seed * 3 + i) % keys.size());
			expected.push_back(keys[positions.back()]);
		}
	}

	for (int32_t key : keys)
		before.push_back(before.back() + static_cast<uint64_t>(static_cast<int64_t>(key)));

	std::vector<int32_t> got(positions.size(), 77);
	std::vector<uint64_t> below(others.size(), 77);

	ENGINE(hpsort_cuda_job_read_at(job, positions.data(), positions.size(), got.data(), &err));
	CHECK(got == expected);
	ENGINE(hpsort_cuda_job_read_below(job, others.data(), others.size(), below.data(), &err));
	CHECK(below == expected_below);
	positions.push_back(keys.size());
	positions.push_back(0);
	for (uint64_t position : positions)
		expected_sums.push_back(before[position]);

	std::vector<uint64_t> sums(positions.size(), 77);

	ENGINE(hpsort_cuda_job_read_sums(job, positions.data(), positions.size(), sums.data(), &err));
	CHECK(sums == expected_sums);
	positions[0] = keys.size() + 1;
	CHECK(hpsort_cuda_job_read_sums(job, positions.data(), positions.size(), sums.data(), &err) == HPSORT_CUDA_BAD_ARGUMENT);
}

/* Where groups of 2^grain keys begin, and the sums of all keys before these. */
static void
check_groups(HpsortCudaJob *job, std::vector<int32_t> keys, const HpsortCudaSpec &spec, uint32_t grain)
{
	const int64_t lo = spec.bounds_known ? spec.lo : INT_MIN;
	std::vector<int32_t> asked;
	std::vector<uint64_t> expected;
	std::vector<uint64_t> expected_sums;
	uint64_t	sum = 0;

	std::sort(keys.begin(), keys.end());
	for (uint64_t i = 0; i < keys.size(); sum += static_cast<uint64_t>(static_cast<int64_t>(keys[i])), i++)
		if (i == 0 || (keys[i] - lo) >> grain != (keys[i - 1] - lo) >> grain)
		{
			asked.push_back(static_cast<int32_t>(lo + ((keys[i] - lo) >> grain << grain)));
			expected.push_back(i);
			expected_sums.push_back(sum);
		}
	/* groups that are not there, or have no keys */
	for (int64_t key : {lo, lo + ((static_cast<int64_t>(spec.hi) - lo) >> grain << grain)})
	{
		asked.push_back(static_cast<int32_t>(key));
		expected.push_back(static_cast<uint64_t>(std::lower_bound(keys.begin(), keys.end(), asked.back()) - keys.begin()));
	}

	std::vector<uint64_t> below(asked.size(), 77);
	std::vector<uint64_t> positions(expected.begin(), expected.end() - 2);
	std::vector<uint64_t> sums(positions.size() + 1, 77);

	ENGINE(hpsort_cuda_job_read_below(job, asked.data(), asked.size(), below.data(), &err));
	CHECK(below == expected);
	positions.push_back(keys.size());
	expected_sums.push_back(sum);
	ENGINE(hpsort_cuda_job_read_sums(job, positions.data(), positions.size(), sums.data(), &err));
	CHECK(sums == expected_sums);
	positions[0] = keys.size() + 1;
	CHECK(hpsort_cuda_job_read_sums(job, positions.data(), positions.size(), sums.data(), &err) == HPSORT_CUDA_BAD_ARGUMENT);
}

/* Has a case find the rows whose keys are in some ranges, of the most rows that there can be. */
static void
find_rows(RowsCase *made, uint64_t most, uint64_t seed)
{
	std::vector<HpsortCudaRange> found = make_ranges(made->spec.lo, static_cast<uint32_t>(made->spec.hi) - static_cast<uint32_t>(made->spec.lo), seed);

	if (found.empty())
		found.push_back({made->spec.lo, static_cast<int32_t>((static_cast<int64_t>(made->spec.lo) + made->spec.hi) / 2)});
	made->layout.key_ranges = static_cast<uint32_t>(found.size());
	made->layout.filtered = 1;
	made->ranges.insert(made->ranges.end(), found.begin(), found.end());
	made->layout.nranges = static_cast<uint32_t>(made->ranges.size());
	made->spec = make_spec(HPSORT_CUDA_RUNS, 0, static_cast<int32_t>(most));
}

/* Some calls of some parts each, behind other keys; the result against the host's. */
static void
try_rows_as(uint32_t ncolumns, uint32_t n, uint32_t parts, int calls, bool narrow, bool filtered, bool find, uint64_t seed)
{
	HpsortCudaJob *keeper = open_keeper();
	HpsortCudaJob *job;
	HpsortCudaResult result;
	RowsCase	made;
	uint64_t	distinct;
	char		text[256];

	snprintf(text, sizeof(text), "rows of %u columns, n %u, %u parts, narrow %d, filtered %d, find %d, seed %llu", ncolumns, n, parts,
			 narrow, filtered, find, (unsigned long long) seed);
	current = text;
	made = make_case(keeper, ncolumns, n, narrow, filtered, seed);
	if (find)
		find_rows(&made, 1000 + static_cast<uint64_t>(calls) * parts * n, seed);

	const uint64_t last = static_cast<uint64_t>(static_cast<int64_t>(made.spec.hi) - made.spec.lo);

	if (!find && seed % 4 >= 2)
		for (made.layout.grain = 1; last >> made.layout.grain >> seed / 4 % 15 > 0;)
			made.layout.grain++;
	ENGINE(hpsort_cuda_job_open(context, &made.spec, &job, &err));

	std::vector<int32_t> plain(seed % 1000);

	for (size_t i = 0; i < plain.size(); i++)
		plain[i] = static_cast<int32_t>(made.spec.lo + static_cast<int64_t>(mix64(i + seed) %
			(static_cast<uint64_t>(static_cast<int64_t>(made.spec.hi) - made.spec.lo) + 1)));
	ENGINE(hpsort_cuda_job_add(job, plain.data(), plain.size(), nullptr, &err));
	made.keys = plain;
	made.first = plain.size();
	ENGINE(hpsort_cuda_job_rows(job, &made.layout, made.ranges.data(), &err));
	CHECK(hpsort_cuda_job_add(job, plain.data(), plain.size(), nullptr, &err) == HPSORT_CUDA_BAD_ARGUMENT);
	CHECK(hpsort_cuda_job_rows(job, &made.layout, made.ranges.data(), &err) == HPSORT_CUDA_BAD_ARGUMENT);
	for (int call = 0; call < calls; call++)
	{
		for (uint32_t i = 0; i < parts; i++)
			made.add(i % 9 == 3 ? 0 : i % 9 == 4 ? n : static_cast<uint32_t>(mix64(seed + i + 1000 * call) % (n + 1)), seed * 1000 + i + 77 * call);
		made.give(job);
	}
	if (ENGINE(hpsort_cuda_job_finish(job, &result, &err)))
	{
		const bool	summed = strncmp(result.reason, "sums", 4) == 0;

		CHECK(result.n == made.keys.size());
		if (made.layout.grain > 0)
		{
			/* others are counted, or have too many groups */
			CHECK(summed || last < 65536 || last >> made.layout.grain >= 5000);
			check_groups(job, made.keys, made.spec, made.layout.grain);
			if (summed)
				CHECK(hpsort_cuda_job_distinct(job, &distinct, &err) == HPSORT_CUDA_BAD_ARGUMENT);
		}
		else
		{
			std::vector<int32_t> sorted = made.keys;

			if (seed % 2)
				check_looks(job, made.keys, seed);
			std::sort(sorted.begin(), sorted.end());
			ENGINE(hpsort_cuda_job_distinct(job, &distinct, &err));
			CHECK(distinct == static_cast<uint64_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin()));
			check_looks(job, made.keys, seed + 1);
		}
	}
	hpsort_cuda_job_close(job);
	free_case(&made);
	hpsort_cuda_job_close(keeper);
}

/* The keys of rows, and the rows of some keys. */
static void
try_rows(uint32_t ncolumns, uint32_t n, uint32_t parts, int calls, bool narrow, bool filtered, uint64_t seed)
{
	for (bool find : {false, true})
		try_rows_as(ncolumns, n, parts, calls, narrow, filtered, find, seed);
}

/* Values that a layout does not expect, in rows that pass and in others. */
static void
test_rows_bounds(void)
{
	for (int way = 0; way < 3; way++)
		for (bool filtered : {false, true})
		{
			const bool	narrow = way == 0;
			HpsortCudaJob *keeper = open_keeper();
			Kept		kept = keep(keeper, 1000, 2, 10, 500, SOME_NULLS, 3);
			HpsortCudaRows layout = {};
			const HpsortCudaRange range = {10, 400};
			const HpsortCudaPiece piece = {kept.packed, 0, 1000};
			HpsortCudaJob *job;
			HpsortCudaResult result;

			current = "rows out of bounds";
			layout.ncolumns = layout.nranges = 1;
			layout.filtered = filtered;
			layout.grain = way == 2 ? 12 : 0;
			layout.columns[0] = {0, 10, 390, 1, 5, HPSORT_CUDA_ROWS_IN_KEY | HPSORT_CUDA_ROWS_NULL_IN_KEY, 0, 1, 0};
			if (filtered)
				layout.columns[0].flags |= HPSORT_CUDA_ROWS_FILTERED | HPSORT_CUDA_ROWS_NULLS_PASS;
			for (int nulls = 0; nulls < 2; nulls++)
			{
				HpsortCudaSpec spec = make_spec(HPSORT_CUDA_RUNS, 0, narrow ? 10000 : 10000000);

				ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
				ENGINE(hpsort_cuda_job_rows(job, &layout, &range, &err));
				ENGINE(hpsort_cuda_job_add_rows(job, &piece, 1, nullptr, &err));
				CHECK(hpsort_cuda_job_finish(job, &result, &err) ==
					  (filtered && nulls == 0 ? HPSORT_CUDA_OK : HPSORT_CUDA_OUT_OF_BOUNDS));
				hpsort_cuda_job_close(job);
				/* now NULLs have no place either */
				layout.columns[0].flags &= ~HPSORT_CUDA_ROWS_NULL_IN_KEY;
			}
			hpsort_cuda_packed_free(kept.packed);
			hpsort_cuda_job_close(keeper);
		}
}

void
test_rows(bool quick, bool tiny)
{
	uint64_t	seed = 5;

	if (tiny)
	{
		/* what racecheck has time for */
		for (bool narrow : {false, true})
			for (bool filtered : {false, true})
				for (uint64_t some : {1, 2, 3})
					try_rows(2, 300, 5, 2, narrow, filtered, some);
		return;
	}
	test_rows_bounds();
	for (uint32_t ncolumns : {1, 2, 3, 5, 8})
		for (bool narrow : {false, true})
			for (bool filtered : {false, true})
				for (int round = 0; round < (quick ? 1 : 8); round++, seed++)
					try_rows(ncolumns, seed % 3 == 0 ? 300 : 3000, 40, 3, narrow && ncolumns <= 3, filtered, seed);
	/* more parts than a table has, and rows of several tiles a warp; keys that have to be moved */
	for (bool filtered : {false, true})
	{
		try_rows(2, quick ? 300 : 3000, 5000, 2, false, filtered, seed++);
		try_rows(2, 300, 5000, 2, true, filtered, seed++);
		try_rows(3, quick ? 20000 : 500000, 20, 4, false, filtered, seed++);
		try_rows(1, quick ? 20000 : 500000, 20, 4, true, filtered, seed++);
	}
}

/* Each kernel's ways, with few values: what racecheck has time for. */
static void
test_tiny(void)
{
	for (int width : {1, 2, 4})
		for (NullPattern pattern : {NO_NULLS, SOME_NULLS})
			for (uint32_t wanted : {HPSORT_CUDA_RUNS, HPSORT_CUDA_PERMUTATION})
				try_pieces(width, -100, 255, pattern, 300, wanted, false, 90 + width);
}

void
test_packed(bool quick, bool tiny)
{
	if (tiny)
	{
		test_tiny();
		return;
	}
	test_packed_errors();
	test_packed_bounds();
	test_pieces(quick);
	test_many_pieces(quick ? 5000 : 20000, quick ? 5000 : 700000);
	test_packed_limit();
	test_drop(quick ? 5000 : 400000, quick ? 2 : 20);
	test_shared(quick ? 2 : 8, quick ? 100 : 20000);
	test_packed_cancel(quick ? 2000 : 50000);
}
