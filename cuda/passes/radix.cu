/*-------------------------------------------------------------------------
 *
 * radix.cu
 *	  Regime RADIX: a radix sort that uses the keys' bounds.
 *
 * For inputs that would have more bins than keys.  The passes are those of sweep.cuh,
 * which do on their way what takes passes of its own around CUB's sort:
 *	- keys are sorted as bins, that is, with the lower bound subtracted, in as
 *	  few bits as the range has: the first pass subtracts, the last one adds (a
 *	  range that straddles zero differs in bit 31, however narrow it is);
 *	- the kernel that counts all passes' digits checks the bounds on its way;
 *	- row numbers are made up in the first pass of a permutation;
 *	- when only the permutation is wanted, words lose each digit they have been sorted
 *	  by, so that the last passes move two bytes of them, one, and none.
 * Bits are spread evenly over the passes: fewer digits make longer stretches.
 *
 * regime.c chooses the kernels (HpsortCudaKernels): few keys are sorted in one launch
 * (one_block.cu, small_sort.cu), or in tiles of fewer items by passes that leave
 * themselves out (FewKeysWords); rows by bins of 16 bits are permutation.cu's; 2^32 keys
 * and more, which 32-bit positions cannot number, are CUB's.
 *
 * Bytes per key: 4 + 8 per pass; with rows 4 + 12 first pass + 16 per pass; rows
 * alone 4 + 12 + 14 + 11 + 9 in four passes, 4 + 10 + 11 + 9 in three.
 *
 *-------------------------------------------------------------------------
 */
#include <type_traits>

#include <cub/device/device_radix_sort.cuh>

#include "common/bounds.cuh"
#include "passes/permutation.cuh"
#include "passes/radix.cuh"
#include "passes/small_sort.cuh"

namespace hpsort
{

static constexpr int count_threads = 1024;

/* How the bits of a range are dealt to passes. */
struct Digits
{
	uint32_t	passes;
	uint32_t	bits;			/* of each digit; the last may have less */
};

static Digits
digits_of(const HpsortCudaChoice &choice)
{
	return {choice.passes, choice.digit_bits};
}

/*
 * All passes' digits counted in one read, and keys outside the bounds found.
 * Digits are cut to their bits, so that such keys are counted as they will be
 * sorted, and nothing is written where it should not be.
 */
template <int PASSES>
__global__ void __launch_bounds__(count_threads)
count_digits_kernel(const int32_t *keys, uint64_t n, KeyMap map, uint32_t bits,
					uint32_t *counts, uint32_t stride, uint32_t *ticket,
					uint32_t *flat, const uint32_t *skip, HpsortCudaVerdict *verdict)
{
	/* the whole grid leaves, and makes no starts: sort.cu, which reads the same answer,
	 * drops the RadixStart */
	if (skip != nullptr && *skip != 0)
		return;

	/* one set of bins for the block: with POPC.INC equal digits of a warp cost no more
	 * than different ones, so a set for each warp would only have to be added up */
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
	sum_by_last_block(counts, PASSES, stride, ticket, static_cast<uint32_t>(n), flat);
}

/*
 * What the passes over many keys have in common, with rows or without.  Which arrays a
 * pass reads and writes is in the kernel's parameters and takes no register, of which
 * KeysPass has none left (tuning.cuh).
 */
template <typename In>
struct KeyWords
{
	const In   *keys_in;
	KeyMap		in;				/* keys to bins in the first pass, else nothing */
	KeyMap		out;
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

	__device__ __forceinline__ bool enter() const { return true; }
	__device__ __forceinline__ void
	prefetch(uint32_t at, uint32_t count) const
	{
		prefetch_later(keys_in + at, count * sizeof(In));
	}
	/* all ones behind the end: the highest digit of every pass, and of equal digits the
	 * last, so that these words end where nothing is written */
	__device__ __forceinline__ uint32_t
	load(uint32_t at, bool inside) const
	{
		uint32_t	word = 0xffffffffu;

		if (inside)
		{
			word = static_cast<uint32_t>(keys_in[at]);
			/* words that are not keys are bins already */
			if constexpr (std::is_same<In, int32_t>::value)
				word = to_bin(in, static_cast<int32_t>(word));
		}
		return word;
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
};

template <typename Tuning>
struct KeysPass : KeyWords<int32_t>
{
	using Shape = Tuning;
	static constexpr bool values = false;
	static constexpr bool prefetches = true;
	int32_t    *keys_out;

	__device__ __forceinline__ void
	store(const Local &, uint32_t target, uint32_t word, uint32_t) const
	{
		keys_out[target] = to_key(out, word);
	}
};

/* The type of words of a pass that writes none. */
struct NoWords
{
};

/*
 * Keys and rows.  FIRST: rows are made up.  When only the rows are wanted, a digit is
 * not needed after its pass: words are written without it, in as few bytes as
 * the digits still to come take, and in the last pass not at all.
 */
template <typename In, typename Out, bool FIRST>
struct PairsPass : KeyWords<In>
{
	using Shape = PairsTuning;
	using Local = typename KeyWords<In>::Local;
	using Shared = typename KeyWords<In>::Shared;
	static constexpr bool values = true;
	/* prefetching keys and rows, twice as many streams, loses 7 % */
	static constexpr bool prefetches = false;
	Out		   *keys_out;
	uint32_t	sorted_bits;	/* below the digits still to come */
	const uint32_t *rows_in;
	uint32_t   *rows_out;

	__device__ __forceinline__ void
	store(const Local &, uint32_t target, uint32_t word, uint32_t) const
	{
		if constexpr (std::is_same<Out, int32_t>::value)
			keys_out[target] = to_key(this->out, word);
		else if constexpr (!std::is_same<Out, NoWords>::value)
			keys_out[target] = static_cast<Out>(word >> sorted_bits);
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

/*
 * What the passes over few keys have in common, which may leave themselves out: that
 * pays as long as launches and waits take most of the time.  Which arrays a pass reads
 * and writes, and whether it turns keys into bins or back, depends on the passes that
 * are left out, and is found by each pass when it starts.
 */
struct FewKeysWords
{
	const int32_t *keys;		/* to be sorted */
	int32_t    *to[2];			/* passes end in [0] and [1] in turn, the last in [0] */
	KeyMap		map;
	uint32_t	number;			/* of this pass */
	uint32_t	passes;
	uint32_t	shift;
	uint32_t	mask;			/* of a digit */
	const uint32_t *flat;

	/* Found by enter().  All else is derived from these two where it is used, since
	 * values that live as long as the tile's words make some of the words spill. */
	uint32_t	after;			/* passes still to come */
	bool		first;

	static constexpr bool prefetches = false;

	struct Shared
	{
	};
	struct Local
	{
		static constexpr bool by_value = true;
	};
	static constexpr bool made = false;

	__device__ __forceinline__ bool
	enter()
	{
		uint32_t	moving = ((1u << passes) - 1) & ~__ldcg(flat);

		/* keys that are all equal still have to be copied */
		if (moving == 0)
			moving = 1u << (passes - 1);
		if ((moving >> number & 1) == 0)
			return false;
		after = __popc(moving >> number >> 1);
		first = (moving & ((1u << number) - 1)) == 0;
		return true;
	}
	/* which array a pass writes follows from the number of passes after it; it reads the
	 * other one, which the pass before it wrote */
	__device__ __forceinline__ uint32_t
	load(uint32_t at, bool inside) const
	{
		const int32_t *from = first ? keys : after % 2 == 0 ? to[1] : to[0];
		const uint32_t word = inside ? static_cast<uint32_t>(from[at]) : 0;

		/* items behind the end sort last */
		return !inside ? 0xffffffffu :
			first ? to_bin(map, static_cast<int32_t>(word)) : word;
	}
	__device__ __forceinline__ void
	put(uint32_t target, uint32_t word) const
	{
		(after % 2 == 0 ? to[0] : to[1])[target] =
			after == 0 ? to_key(map, word) : static_cast<int32_t>(word);
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
};

/* Keys alone. */
template <typename Tuning>
struct FewKeysPass : FewKeysWords
{
	using Shape = Tuning;
	static constexpr bool values = false;

	__device__ __forceinline__ void
	store(const Local &, uint32_t target, uint32_t word, uint32_t) const
	{
		put(target, word);
	}
};

/* Keys and rows; only the device knows which pass is the first and makes the rows up. */
template <typename Tuning>
struct FewPairsPass : FewKeysWords
{
	using Shape = Tuning;
	static constexpr bool values = true;
	uint32_t   *rows_to[2];		/* as for keys */
	bool		keys_wanted;	/* else the last pass writes none */

	__device__ __forceinline__ void
	store(const Local &, uint32_t target, uint32_t word, uint32_t) const
	{
		if (after > 0 || keys_wanted)
			put(target, word);
	}
	__device__ __forceinline__ uint32_t
	value(const Shared &, uint32_t, uint32_t at) const
	{
		return first ? at : (after % 2 == 0 ? rows_to[1] : rows_to[0])[at];
	}
	__device__ __forceinline__ void
	store_value(uint32_t target, uint32_t row) const
	{
		(after % 2 == 0 ? rows_to[0] : rows_to[1])[target] = row;
	}
};

/* Two blocks of 1,024 threads on each SM read at full speed, and each adds its counts to
 * the common ones, up to 1,024 of them, only once. */
static void
count_digits(const SortInput &input, const Digits &digits, const Sweeps &sweeps,
			 const uint32_t *skip)
{
	const uint32_t blocks = grid_blocks(input.context, input.n, count_threads * 8, 2);
	const uint32_t stride = sweeps.portions * sweep_digits;

	/* a kernel for each number of passes, whose loop over digits is unrolled */
#define COUNT(passes) \
	count_digits_kernel<passes><<<blocks, count_threads, 0, input.stream>>>( \
		input.keys, input.n, input.map(), digits.bits, sweeps.starts(0), stride, \
		sweeps.count_ticket(), sweeps.flat(), skip, input.verdict)
	switch (digits.passes)
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

/* Words as they are: between the first pass and the last one they are bins. */
static const KeyMap no_map = {0, 0, 0xffffffffu};

/* Pass number p: where its digit is, and whether it turns keys into bins or back. */
template <typename In>
static void
set_pass(KeyWords<In> *pass, const KeyMap &map, const Digits &digits, uint32_t p)
{
	pass->in = p == 0 ? map : no_map;
	pass->out = p + 1 == digits.passes ? map : no_map;
	pass->shift = p * digits.bits;
	pass->mask = (1u << digits.bits) - 1;
}

/* The same for a pass that may leave itself out. */
static void
set_pass(FewKeysWords *pass, const RadixStart &start, const Digits &digits, uint32_t p)
{
	pass->map = start.map;
	pass->number = p;
	pass->passes = digits.passes;
	pass->shift = p * digits.bits;
	pass->mask = (1u << digits.bits) - 1;
	pass->flat = start.sweeps.flat();
}

/*
 * One kernel is asked for all, which are compiled together.  A driver that compiles an
 * older PTX for a new device makes code without wait_for_kernel_before(), which must
 * not be launched behind a kernel that is still at work.
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
 * CUB's sort, from in to out, for more keys than 32-bit positions number; in is kept, as
 * CUB's workspace has a second array.  CUB does not check bounds, so one more read
 * of the keys does.  It sorts by all 32 bits: signed keys of a narrow range that
 * straddles zero differ in the highest one.
 */
static void
cub_sort_keys(const SortInput &input, int32_t *out)
{
	auto		call = [&](void *workspace, size_t &bytes) {
		return input.descending ?
			cub::DeviceRadixSort::SortKeysDescending(workspace, bytes, input.keys, out,
													 input.n, 0, 32, input.stream) :
			cub::DeviceRadixSort::SortKeys(workspace, bytes, input.keys, out, input.n, 0,
										   32, input.stream);
	};
	size_t		bytes = 0;

	if (input.bounds.lo > INT32_MIN || input.bounds.hi < INT32_MAX)
		check_bounds(input);
	check(call(nullptr, bytes), "size a radix sort");

	DeviceBuffer workspace(input.context, input.stream, bytes, "a radix sort");

	check(call(workspace.as<void>(), bytes), "sort by radix");
}

/* What regime.c counts with. */
static_assert(REGIME_DIGIT_BITS == sweep_bits, "bits of a digit");
static_assert(FewKeysTuning12::threads == REGIME_FEW_KEYS_THREADS &&
			  FewKeysTuning12::blocks == REGIME_FEW_KEYS_BLOCKS, "tiles of few keys");
static_assert(KeysTuning::items == REGIME_MANY_KEYS_ITEMS &&
			  WideKeysTuning::items == REGIME_WIDE_ITEMS &&
			  2 * sizeof(SweepTile<WideKeysTuning>) <= REGIME_WIDE_SHARED,
			  "tiles of many keys, and room for two blocks of the widest");

/* Puts the counting of all digits on the stream; its kernel looks at *skip when it
 * starts. */
void
RadixStart::begin(const SortInput &input, const HpsortCudaChoice &choice,
				  const uint32_t *skip)
{
	map = input.map();
	sweeps.allocate(input.context, input.stream, input.n, choice.passes);
	count_digits(input, digits_of(choice), sweeps, skip);
	begun = true;
}

/* Sorts in one launch and CUB's sorts have no first half. */
bool
radix_can_begin(const HpsortCudaChoice &choice)
{
	return choice.kernels != HPSORT_CUDA_LIBRARY &&
		choice.kernels != HPSORT_CUDA_ONE_BLOCK && choice.kernels != HPSORT_CUDA_ONE_LAUNCH;
}

/*
 * Does all that the choice's kernels do without a first half, and returns true; or sees
 * to it that *start is one of this sort.  Narrower bounds may have been found since it
 * was begun.
 */
static bool
sort_or_start(const SortInput &input, const HpsortCudaChoice &choice, int32_t *out,
			  uint32_t *rows, RadixStart *start)
{
	if (choice.kernels == HPSORT_CUDA_LIBRARY)
		cub_sort_keys(input, out);
	else if (choice.kernels == HPSORT_CUDA_ONE_BLOCK)
	{
		if (!one_block_sort(input, out, rows))
			small_sort(input, out, rows);
	}
	else if (choice.kernels == HPSORT_CUDA_ONE_LAUNCH)
		small_sort(input, out, rows);
	else
	{
		if (!start->begun || start->map != input.map())
			start->begin(input, choice, nullptr);
		return false;
	}
	return true;
}

/* All passes are launched; each finds on the device whether it moves keys. */
template <typename Tuning>
static void
few_keys_passes(cudaStream_t stream, RadixStart *start, const Digits &digits,
				const int32_t *keys, int32_t *out, int32_t *other)
{
	for (uint32_t p = 0; p < digits.passes; p++)
	{
		FewKeysPass<Tuning> pass = {};

		set_pass(&pass, *start, digits, p);
		pass.keys = keys;
		/* other may be null: a single pass reads keys and writes to out */
		pass.to[0] = out;
		pass.to[1] = other;
		start->sweeps.run(stream, p, pass);
	}
}

/*
 * Nothing is waited for.  out holds n keys and does not overlap keys; between the
 * passes they go to and fro between out and a buffer of this call's, so that the
 * last pass ends in out.
 */
void
radix_sort(const SortInput &input, const HpsortCudaChoice &choice, int32_t *out,
		   RadixStart *start)
{
	const cudaStream_t stream = input.stream;
	const Digits digits = digits_of(choice);
	DeviceBuffer other;

	if (sort_or_start(input, choice, out, nullptr, start))
		return;
	/* one pass goes from keys to out at once */
	if (digits.passes > 1)
		other = DeviceBuffer(input.context, stream, input.n * sizeof(int32_t),
							 "a radix sort");
	if (choice.kernels == HPSORT_CUDA_FEW_KEYS)
	{
		if (choice.items == FewKeysTuning12::items)
			few_keys_passes<FewKeysTuning12>(stream, start, digits, input.keys, out,
											 other.as<int32_t>());
		else
			few_keys_passes<FewKeysTuning16>(stream, start, digits, input.keys, out,
											 other.as<int32_t>());
		return;
	}

	auto		run = [&](auto pass) {
		const int32_t *from = input.keys;

		for (uint32_t p = 0; p < digits.passes; p++)
		{
			set_pass(&pass, start->map, digits, p);
			/* to and fro, so that the last pass ends in out */
			pass.keys_in = from;
			pass.keys_out = (digits.passes - p) % 2 == 1 ? out : other.as<int32_t>();
			start->sweeps.run(stream, p, pass);
			from = pass.keys_out;
		}
	};

	if (choice.items == WideKeysTuning::items)
		run(KeysPass<WideKeysTuning>());
	else
		run(KeysPass<KeysTuning>());
}

template <typename Tuning>
static void
few_pairs_passes(cudaStream_t stream, RadixStart *start, const Digits &digits,
				 const int32_t *keys, int32_t *const (&keys_to)[2], bool keys_wanted,
				 uint32_t *const (&rows_to)[2])
{
	for (uint32_t p = 0; p < digits.passes; p++)
	{
		FewPairsPass<Tuning> pass = {};

		set_pass(&pass, *start, digits, p);
		pass.keys = keys;
		pass.keys_wanted = keys_wanted;
		for (int i = 0; i < 2; i++)
		{
			pass.to[i] = keys_to[i];
			pass.rows_to[i] = rows_to[i];
		}
		start->sweeps.run(stream, p, pass);
	}
}

/*
 * Three or four passes for rows alone: words of 16 bits come into the second last pass,
 * and of 8 bits into the last.  words[0] has two bytes a key, words[1] four if there
 * are four passes, else one.
 */
static void
rows_passes(cudaStream_t stream, RadixStart *start, const Digits &digits,
			const int32_t *keys, int32_t *const (&words)[2], uint32_t *const (&rows_to)[2])
{
	uint32_t	p = 0;
	auto		run = [&](auto pass, auto *from, auto *to) {
		const int	end = (digits.passes - p + 1) % 2;

		set_pass(&pass, start->map, digits, p);
		pass.shift = 0;
		pass.sorted_bits = digits.bits;
		pass.keys_in = from;
		pass.keys_out = to;
		pass.rows_in = rows_to[1 - end];
		pass.rows_out = rows_to[end];
		start->sweeps.run(stream, p++, pass);
	};
	uint16_t   *two = reinterpret_cast<uint16_t *>(words[0]);
	uint8_t    *one = reinterpret_cast<uint8_t *>(words[1]);

	static_assert(sweep_bits == 8 && sweep_most_passes == 4, "bytes left for each pass");
	if (digits.passes == 4)
	{
		uint32_t   *four = reinterpret_cast<uint32_t *>(words[1]);

		run(PairsPass<int32_t, uint32_t, true>(), keys, four);
		run(PairsPass<uint32_t, uint16_t, false>(), four, two);
	}
	else
		run(PairsPass<int32_t, uint16_t, true>(), keys, two);
	run(PairsPass<uint16_t, uint8_t, false>(), two, one);
	run(PairsPass<uint8_t, NoWords, false>(), one, static_cast<NoWords *>(nullptr));
}

/* Passes over whole keys and rows.  The last pass writes to [0] of both, the one before it
 * to [1], and so on in turn. */
static void
pairs_passes(cudaStream_t stream, RadixStart *start, const Digits &digits,
			 const int32_t *keys, int32_t *const (&keys_to)[2],
			 uint32_t *const (&rows_to)[2])
{
	const int32_t *keys_from = keys;
	const uint32_t *rows_from = nullptr;

	for (uint32_t p = 0; p < digits.passes; p++)
	{
		const int	to = (digits.passes - p + 1) % 2;
		auto		run = [&](auto pass) {
			set_pass(&pass, start->map, digits, p);
			pass.keys_in = keys_from;
			pass.keys_out = keys_to[to];
			pass.rows_in = rows_from;
			pass.rows_out = rows_to[to];
			start->sweeps.run(stream, p, pass);
		};

		if (p == 0)
			run(PairsPass<int32_t, int32_t, true>());
		else
			run(PairsPass<int32_t, int32_t, false>());
		keys_from = keys_to[to];
		rows_from = rows_to[to];
	}
}

/*
 * Where sorted_keys is null and there are more than two passes, or MANY_KEYS make them, a
 * third array stands in for it.  sort.cu has refused more keys than 32 bits number.
 */
void
radix_permutation(const SortInput &input, const HpsortCudaChoice &choice,
				  int32_t *sorted_keys, uint32_t *rows, RadixStart *start)
{
	HpsortCuda *context = input.context;
	const cudaStream_t stream = input.stream;
	const int32_t *keys = input.keys;
	const uint64_t n = input.n;
	const Digits digits = digits_of(choice);
	const uint64_t bytes = n * sizeof(int32_t);
	const bool	rows_alone = choice.kernels == HPSORT_CUDA_ROWS_ALONE;
	DeviceBuffer other_keys;
	DeviceBuffer last_keys;
	DeviceBuffer other_rows;
	/* passes end in [0] and [1] in turn, the last one in [0] */
	int32_t    *keys_to[2] = {sorted_keys, nullptr};
	uint32_t   *rows_to[2] = {rows, nullptr};

	if (sort_or_start(input, choice, sorted_keys, rows, start))
		return;
	/* two digits and a row number in a word: less to move than key and row */
	if (choice.kernels == HPSORT_CUDA_BIN_ROWS)
	{
		binned_passes(input, digits.passes, digits.bits, &start->sweeps, rows);
		return;
	}
	/* words of four bytes and of one are not needed at the same time and share an array;
	 * words of two bytes have the other */
	if (digits.passes > 1)
	{
		other_keys = DeviceBuffer(context, stream, rows_alone && digits.passes == 3 ? n : bytes,
								  "a radix sort");
		other_rows = DeviceBuffer(context, stream, bytes, "a radix sort");
		keys_to[1] = other_keys.as<int32_t>();
		rows_to[1] = other_rows.as<uint32_t>();
	}
	if (sorted_keys == nullptr &&
		(digits.passes > 2 || choice.kernels == HPSORT_CUDA_MANY_KEYS))
	{
		last_keys = DeviceBuffer(context, stream, rows_alone ? n * sizeof(uint16_t) : bytes,
								 "a radix sort");
		keys_to[0] = last_keys.as<int32_t>();
	}
	if (choice.kernels == HPSORT_CUDA_FEW_KEYS)
	{
		auto		run = [&](auto tuning) {
			few_pairs_passes<decltype(tuning)>(stream, start, digits, keys, keys_to,
											   sorted_keys != nullptr, rows_to);
		};

		if (choice.items == FewKeysTuning8::items)
			run(FewKeysTuning8());
		else if (choice.items == FewKeysTuning12::items)
			run(FewKeysTuning12());
		else
			run(FewKeysTuning16());
	}
	else if (rows_alone)
		rows_passes(stream, start, digits, keys, keys_to, rows_to);
	else
		pairs_passes(stream, start, digits, keys, keys_to, rows_to);
}

} /* namespace hpsort */
