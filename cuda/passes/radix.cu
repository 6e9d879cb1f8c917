/*-------------------------------------------------------------------------
 *
 * radix.cu
 *	  Regime RADIX: a radix sort that uses the keys' bounds.
 *
 * For inputs that would have more bins than keys.  sweep.cuh has the passes.  They do
 * what takes separate passes around CUB's sort:
 *
 * - Keys are sorted as bins, in as few bits as the range has: the first pass subtracts the lower
 *   bound, the last one adds it.  (A range that straddles zero differs in bit 31, however narrow
 *   it is.)
 * - The kernel that counts all passes' digits checks the bounds, too.
 * - Row numbers are made up in the first pass of a permutation.
 *
 * Bits are dealt evenly to the passes, because fewer digits make longer stretches.
 *
 * regime.c chooses the kernels (HpsortCudaKernels).  Few keys are sorted in one launch
 * (small_sort.cu).  Rows by bins of 16 bits are permutation.cu's.  2^32 keys and more, which
 * 32-bit positions cannot number, are CUB's.
 *
 * Memory traffic of a key in bytes: 4, and 8 per pass; with rows 4, 12 for the first pass, and 16
 * per further pass.
 *
 *-------------------------------------------------------------------------
 */
#include <cub/device/device_radix_sort.cuh>

#include "passes/permutation.cuh"
#include "passes/radix.cuh"

namespace hpsort
{

static constexpr int count_threads = 1024;

/*
 * Counts all passes' digits in one read, and finds keys outside the bounds.  Digits are cut to
 * their bits, so that keys outside are counted as they will be sorted, and nothing is written
 * outside the output.
 */
template <int PASSES>
__global__ void __launch_bounds__(count_threads)
count_digits_kernel(const int32_t *keys, uint64_t n, KeyMap map, uint32_t bits,
					uint32_t *counts, uint32_t stride, uint32_t *ticket,
					const uint32_t *skip, HpsortCudaVerdict *verdict)
{
	/* The whole grid leaves and makes no starts.  sort.cu reads the same verdict and drops the
	 * RadixStart. */
	if (skip != nullptr && *skip != 0)
		return;

	/* One set of bins for the block.  With POPC.INC, equal digits of a warp cost no more than
	 * different ones; a set for each warp would only have to be added up. */
	__shared__ uint32_t bins[PASSES][sweep_digits];
	const uint32_t mask = (1u << bits) - 1;
	bool		bad = false;
	int32_t		outside = 0;

	for (uint32_t i = threadIdx.x; i < PASSES * sweep_digits; i += count_threads)
		bins[i / sweep_digits][i % sweep_digits] = 0;
	__syncthreads();
	for_each_key<2>(keys, n, [&](int32_t key) {
		const uint32_t bin = to_bin(map, key);

		if (bin > map.last)
		{
			bad = true;
			outside = key;
		}
#pragma unroll
		for (int p = 0; p < PASSES; p++)
			atomicAdd(&bins[p][bin >> p * bits & mask], 1u);
	});
	if (bad)
		report_outside(verdict, outside);
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < PASSES * sweep_digits; i += count_threads)
	{
		const uint32_t count = bins[i / sweep_digits][i % sweep_digits];

		if (count != 0)
			atomicAdd(&counts[i / sweep_digits * stride + i % sweep_digits], count);
	}
	sum_by_last_block(counts, PASSES, stride, ticket);
}

/* What passes with and without rows have in common.  The arrays that a pass reads and writes are
 * kernel parameters and take no register; KeysPass has none left (tuning.cuh). */
struct KeyWords
{
	const int32_t *keys_in;
	int32_t    *keys_out;
	KeyMap		in;				/* keys to bins in the first pass, else no_map */
	KeyMap		out;			/* bins to keys in the last pass, else no_map */
	uint32_t	shift;
	uint32_t	mask;

	struct Shared
	{
	};
	struct Local
	{
		static constexpr bool by_value = true;
	};
	static constexpr bool made = false;

	__device__ __forceinline__ void
	prefetch(uint32_t at, uint32_t count) const
	{
		prefetch_later(keys_in + at, count * sizeof(int32_t));
	}
	/* Behind the end the word is all ones: the highest digit of every pass, and the last of equal
	 * digits.  So these words end where nothing is written. */
	__device__ __forceinline__ uint32_t
	load(uint32_t at, bool inside) const
	{
		return inside ? to_bin(in, keys_in[at]) : 0xffffffffu;
	}
	__device__ __forceinline__ Local
	begin(Shared &, uint32_t, uint32_t) const
	{
		return {};
	}
	__device__ __forceinline__ uint32_t
	prepare(Shared &, const Local &, uint32_t word, uint32_t, uint32_t) const
	{
		return word;
	}
	__device__ __forceinline__ uint32_t
	digit(uint32_t word) const
	{
		return word >> shift & mask;
	}
	__device__ __forceinline__ void place(uint32_t, uint32_t, uint32_t) const {}
	__device__ __forceinline__ void
	store(const Local &, uint32_t target, uint32_t word, uint32_t) const
	{
		keys_out[target] = to_key(out, word);
	}
};

/* A pass over keys alone. */
template <typename Tuning>
struct KeysPass : KeyWords
{
	using Shape = Tuning;
	static constexpr bool values = false;
	static constexpr bool prefetches = true;
};

/* A pass over keys and rows.  FIRST: rows are made up. */
template <bool FIRST>
struct PairsPass : KeyWords
{
	using Shape = PairsTuning;
	static constexpr bool values = true;
	/* prefetching keys and rows, twice as many streams, loses 7 % */
	static constexpr bool prefetches = false;
	const uint32_t *rows_in;
	uint32_t   *rows_out;

	/* A last pass that is not the first leaves the keys out if only rows are wanted.  The first
	 * pass has no register left for this test. */
	__device__ __forceinline__ void
	store(const Local &, uint32_t target, uint32_t word, uint32_t) const
	{
		if (FIRST || keys_out != nullptr)
			keys_out[target] = to_key(out, word);
	}
	__device__ __forceinline__ uint32_t
	value(const Shared &, uint32_t, uint32_t at) const
	{
		return FIRST ? at : rows_in[at];
	}
	__device__ __forceinline__ void
	store_value(uint32_t target, uint32_t row) const
	{
		rows_out[target] = row;
	}
};

/* Puts the counting of digits on the stream.  Two blocks of 1,024 threads on each SM read at full
 * speed, and each adds its counts, at most 1,024, to the common ones only once. */
static void
count_digits(const SortInput &input, const RegimeChoice &choice, const Sweeps &sweeps,
			 const uint32_t *skip)
{
	const uint32_t blocks = grid_blocks(input.context, input.n, count_threads * 8, 2);
	const uint32_t stride = sweeps.portions * sweep_digits;

	/* one kernel for each number of passes, whose loop over digits is unrolled */
#define COUNT(passes) \
	count_digits_kernel<passes><<<blocks, count_threads, 0, input.stream>>>( \
		input.keys, input.n, input.map(), choice.digit_bits, sweeps.starts(0), stride, \
		sweeps.count_ticket(), skip, input.verdict)
	switch (choice.passes)
	{
		case 1:
			COUNT(1);
			break;
		case 2:
			COUNT(2);
			break;
		case 3:
			COUNT(3);
			break;
		default:
			COUNT(4);
			break;
	}
#undef COUNT
	check_launch("count the digits");
}

/* Leaves words as they are: between the first pass and the last one they are bins. */
static const KeyMap no_map = {0, 0, 0xffffffffu};

/* Sets up pass number p: where its digit is, and whether it turns keys into bins or back. */
static void
set_pass(KeyWords *pass, const KeyMap &map, const RegimeChoice &choice, uint32_t p)
{
	pass->in = p == 0 ? map : no_map;
	pass->out = p + 1 == choice.passes ? map : no_map;
	pass->shift = p * choice.digit_bits;
	pass->mask = (1u << choice.digit_bits) - 1;
}

/*
 * One kernel is asked for all, which are compiled together.  A driver that compiles an older PTX
 * for a new device makes code without wait_for_kernel_before(), which must not be launched behind
 * a kernel that is still at work.
 */
bool
sweeps_overlap()
{
	cudaFuncAttributes attributes;

	check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(
									sweep_kernel<KeysPass<KeysTuning>>)),
		  "look at a kernel");
	return attributes.ptxVersion >= 90;
}

/*
 * CUB's sort, for more keys than 32-bit positions number.  The input is kept, as CUB's workspace
 * has a second array.  CUB sorts by all 32 bits: signed keys of a narrow range that straddles
 * zero differ in the highest bit.  The order ascends; only permutations may descend, and they
 * have fewer keys.
 */
static void
cub_sort_keys(const SortInput &input, int32_t *out)
{
	auto		call = [&](void *workspace, size_t &bytes) {
		return cub::DeviceRadixSort::SortKeys(workspace, bytes, input.keys, out, input.n, 0,
											  32, input.stream);
	};
	size_t		bytes = 0;

	check(call(nullptr, bytes), "size a radix sort");

	DeviceBuffer workspace(input.context, input.stream, bytes, "a radix sort");

	check(call(workspace.as<void>(), bytes), "sort by radix");
}

/* What regime.c assumes of the passes. */
static_assert(REGIME_DIGIT_BITS == sweep_bits, "bits of a digit");
static_assert(KeysTuning::items == REGIME_MANY_KEYS_ITEMS &&
			  WideKeysTuning::items == REGIME_WIDE_ITEMS &&
			  2 * sizeof(SweepTile<WideKeysTuning>) <= REGIME_WIDE_SHARED,
			  "tiles of many keys, and room for two blocks of the widest");

/* The kernel reads *skip when it starts. */
void
RadixStart::begin(const SortInput &input, const RegimeChoice &choice,
				  const uint32_t *skip)
{
	map = input.map();
	sweeps.allocate(input.context, input.stream, input.n, choice.passes);
	count_digits(input, choice, sweeps, skip);
	begun = true;
}

/* Sorts in one launch and CUB's sorts have no first half. */
bool
radix_can_begin(const RegimeChoice &choice)
{
	return choice.kernels != HPSORT_CUDA_LIBRARY && choice.kernels != HPSORT_CUDA_ONE_LAUNCH;
}

/* Sorts by kernels that have no first half, and returns true.  For all other kernels, sees to it
 * that *start has begun, and returns false. */
static bool
sort_or_start(const SortInput &input, const RegimeChoice &choice, int32_t *out,
			  uint32_t *rows, RadixStart *start)
{
	if (choice.kernels == HPSORT_CUDA_LIBRARY)
		cub_sort_keys(input, out);
	else if (choice.kernels == HPSORT_CUDA_ONE_LAUNCH)
		small_sort(input, out, rows);
	else
	{
		if (!start->begun)
			start->begin(input, choice, nullptr);
		return false;
	}
	return true;
}

/* out holds n keys and does not overlap keys.  Between the passes keys go to and fro between out
 * and a buffer of this call, so that the last pass ends in out. */
void
radix_sort(const SortInput &input, const RegimeChoice &choice, int32_t *out,
		   RadixStart *start)
{
	const cudaStream_t stream = input.stream;
	DeviceBuffer other;

	if (sort_or_start(input, choice, out, nullptr, start))
		return;
	/* one pass goes from keys to out directly */
	if (choice.passes > 1)
		other = DeviceBuffer(input.context, stream, input.n * sizeof(int32_t),
							 "a radix sort");

	auto		run = [&](auto pass) {
		const int32_t *from = input.keys;

		for (uint32_t p = 0; p < choice.passes; p++)
		{
			set_pass(&pass, start->map, choice, p);
			/* to and fro, so that the last pass ends in out */
			pass.keys_in = from;
			pass.keys_out = (choice.passes - p) % 2 == 1 ? out : other.as<int32_t>();
			start->sweeps.run(stream, p, pass);
			from = pass.keys_out;
		}
	};

	if (choice.items == WideKeysTuning::items)
		run(KeysPass<WideKeysTuning>());
	else
		run(KeysPass<KeysTuning>());
}

/* Passes over keys and rows.  The last pass writes to [0] of both arrays, the one before it to
 * [1], and so on in turn.  Without keys_wanted the last pass writes rows alone, unless it is also
 * the first. */
static void
pairs_passes(cudaStream_t stream, RadixStart *start, const RegimeChoice &choice,
			 const int32_t *keys, int32_t *const (&keys_to)[2], bool keys_wanted,
			 uint32_t *const (&rows_to)[2])
{
	const int32_t *keys_from = keys;
	const uint32_t *rows_from = nullptr;

	for (uint32_t p = 0; p < choice.passes; p++)
	{
		const int	to = (choice.passes - p + 1) % 2;
		auto		run = [&](auto pass) {
			set_pass(&pass, start->map, choice, p);
			pass.keys_in = keys_from;
			pass.keys_out = p == 0 || p + 1 < choice.passes || keys_wanted ?
				keys_to[to] : nullptr;
			pass.rows_in = rows_from;
			pass.rows_out = rows_to[to];
			start->sweeps.run(stream, p, pass);
		};

		if (p == 0)
			run(PairsPass<true>());
		else
			run(PairsPass<false>());
		keys_from = keys_to[to];
		rows_from = rows_to[to];
	}
}

/* If sorted_keys is null and the number of passes is not two, an array of this call stands in for
 * it.  hpsort_cuda_job_finish() has refused more keys than 32 bits number. */
void
radix_permutation(const SortInput &input, const RegimeChoice &choice,
				  int32_t *sorted_keys, uint32_t *rows, RadixStart *start)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const uint64_t bytes = input.n * sizeof(int32_t);
	DeviceBuffer other_keys;
	DeviceBuffer last_keys;
	DeviceBuffer other_rows;
	/* passes end in [0] and [1] in turn, the last one in [0] */
	int32_t    *keys_to[2] = {sorted_keys, nullptr};
	uint32_t   *rows_to[2] = {rows, nullptr};

	if (sort_or_start(input, choice, sorted_keys, rows, start))
		return;
	/* two digits and a row number in one word: less to move than key and row */
	if (choice.kernels == HPSORT_CUDA_BIN_ROWS)
	{
		binned_passes(input, choice.passes, choice.digit_bits, &start->sweeps, rows);
		return;
	}
	if (choice.passes > 1)
	{
		other_keys = DeviceBuffer(context, stream, bytes, "a radix sort");
		other_rows = DeviceBuffer(context, stream, bytes, "a radix sort");
		keys_to[1] = other_keys.as<int32_t>();
		rows_to[1] = other_rows.as<uint32_t>();
	}
	if (sorted_keys == nullptr && choice.passes != 2)
	{
		last_keys = DeviceBuffer(context, stream, bytes, "a radix sort");
		keys_to[0] = last_keys.as<int32_t>();
	}
	pairs_passes(stream, start, choice, input.keys, keys_to, sorted_keys != nullptr, rows_to);
}

} /* namespace hpsort */
