/*-------------------------------------------------------------------------
 *
 * sweep.cuh
 *	  One stable pass of a radix sort: each item is read once and written once.
 *
 * Onesweep (Adinets and Merrill 2022): a block takes the next tile, counts its digits, learns by
 * decoupled look-back how many keys of each digit the tiles before it hold, and writes its keys
 * behind theirs.  CUB has the same pass, but only from an array of keys to an array of keys.
 * Here a template parameter, the Pass, says what is read and what is written:
 *
 * - radix.cu subtracts the lower bound in the first pass and adds it in the last, makes up row
 *   numbers in the first, and leaves out the keys in the last if only rows are wanted.
 * - permutation.cu makes digits of ranks.  Between its two passes it packs a row number and the
 *   digit of the second pass in one word.
 *
 * Differences from CUB:
 *
 * - Warps' counters stay in registers between the sum over warps and their next use.
 * - No item waits for an atomic's result.
 * - Full tiles have no tests.
 * - L2 prefetches what later blocks will read.
 * - A block looks back at four tiles together.
 * - The words of the look-back are cleared once and not for every pass.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_SWEEP_CUH
#define HPSORT_CUDA_SWEEP_CUH

#include "common/device.cuh"

namespace hpsort
{

static constexpr int sweep_bits = 8;
static constexpr int sweep_digits = 1 << sweep_bits;
static constexpr int sweep_most_passes = 4;

/*
 * One launch.  A word of the look-back holds a count of 30 bits and a code of 2 bits, which says
 * whether the count is of this tile alone (own) or of all tiles up to it (all).  Every word ends
 * a launch with the code `all`.  The next launch uses the other two of three codes, so that it
 * takes the words of the launch before for words not yet written.
 */
struct Sweep
{
	uint32_t	n;				/* items of this launch */
	uint32_t	first;			/* number of the first of these items */
	const uint32_t *starts;		/* where each digit starts in the output */
	uint32_t   *next_starts;	/* starts of the next launch's digits, or null */
	uint32_t   *lookback;		/* one word per tile and digit */
	uint32_t   *ticket;			/* number of tiles given out */
	uint32_t	own;
	uint32_t	all;
};

/* Returns the most items of a launch of tiles of this size: counts have 30 bits. */
constexpr uint32_t
sweep_most(uint32_t tile)
{
	return ((1u << 30) - 1) / tile * tile;
}

/* Loads a word that another block writes in this launch.  No order with other words is implied. */
__device__ __forceinline__ uint32_t
load_relaxed(const uint32_t *from)
{
	uint32_t	value;

	asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from)
				 : "memory");
	return value;
}

/* Stores a word that another block reads in this launch.  No order with other words is implied. */
__device__ __forceinline__ void
store_relaxed(uint32_t *to, uint32_t value)
{
	asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(to), "r"(value)
				 : "memory");
}

/* Returns the lanes whose word agrees with this lane's in one bit. */
__device__ __forceinline__ uint32_t
lanes_alike(uint32_t word, uint32_t bit)
{
	uint32_t	votes;

	asm("{\n"
		"	.reg .pred p;\n"
		"	.reg .b32 t;\n"
		"	and.b32 t, %1, %2;\n"
		"	setp.ne.u32 p, t, 0;\n"
		"	vote.ballot.sync.b32 %0, p, 0xffffffff;\n"
		"	@!p not.b32 %0, %0;\n"
		"}" : "=r"(votes) : "r"(word), "r"(bit));
	return votes;
}

/*
 * Returns the lanes whose digit is this lane's, by one vote per bit.  match.any.sync does this in
 * one instruction but takes longer, as CUB's authors found, too.  One instruction joins two votes
 * to the result; the compiler does not find it.
 */
__device__ __forceinline__ uint32_t
lanes_with(uint32_t digit)
{
	uint32_t	same = lanes_alike(digit, 1u);

	static_assert(sweep_bits % 2 == 0, "one vote is left when the others are paired");
#pragma unroll
	for (int b = 1; b + 1 < sweep_bits; b += 2)
		asm("lop3.b32 %0, %0, %1, %2, 0x80;" : "+r"(same)
			: "r"(lanes_alike(digit, 1u << b)), "r"(lanes_alike(digit, 2u << b)));
	return same & lanes_alike(digit, 1u << (sweep_bits - 1));
}

/* Returns the lanes up to this one.  The asm is volatile so that it runs once and not for each
 * item. */
__device__ __forceinline__ uint32_t
lanes_up_to_this()
{
	uint32_t	lanes;

	asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(lanes));
	return lanes;
}

/*
 * Returns the place of this lane's item among the warp's items with its digit, in their order.
 * counter is the warp's count of the digit so far; same are the lanes that share the digit.  All
 * these lanes read the counter, which costs no more than one lane reading it and saves a shuffle.
 * The last of them writes it.
 */
__device__ __forceinline__ uint32_t
place_in_order(volatile uint32_t *counter, uint32_t same, uint32_t up_to_this)
{
	const uint32_t upto = __popc(same & up_to_this);
	const uint32_t before = *counter;

	__syncwarp();
	if ((same & ~up_to_this) == 0)
		*counter = before + upto;
	__syncwarp();
	return before + upto - 1;
}

/*
 * Returns how many items with this thread's digit the tiles before this one hold.  Each word is
 * complete in itself, so no fence is needed.  Four words are read at a time: each step back is a
 * way to L2, and hundreds of tiles are at work at the same time.
 */
__device__ __forceinline__ uint32_t
look_back(const Sweep &sweep, uint32_t tile, uint32_t digit)
{
	constexpr int batch = 4;
	constexpr uint32_t mask = (1u << 30) - 1;
	int32_t		at = static_cast<int32_t>(tile) - 1;
	uint32_t	sum = 0;

	while (at >= 0)
	{
		uint32_t	words[batch];
		bool		waiting = false;

#pragma unroll
		for (int j = 0; j < batch; j++)
			words[j] = load_relaxed(&sweep.lookback[
				static_cast<uint32_t>(max(at - j, 0)) * sweep_digits + digit]);
#pragma unroll
		for (int j = 0; j < batch; j++)
		{
			const uint32_t code = words[j] >> 30;

			if (waiting || at < 0)
				continue;
			if (code == sweep.all)
			{
				sum += words[j] & mask;
				at = -1;
			}
			else if (code == sweep.own)
			{
				sum += words[j] & mask;
				at--;
			}
			else
				waiting = true;
		}
	}
	return sum;
}

/* A tile in shared memory: first the warps' counters, then in their place the items by digit. */
template <typename Shape>
union SweepTile
{
	uint32_t	bins[Shape::threads / 32][sweep_digits];
	uint32_t	staged[Shape::threads * Shape::items];
};

/*
 * What a Pass has.  Its Shape is in tuning.cuh; Shared is what it keeps in shared memory.
 *
 * - load(at, inside): reads item number at; inside says whether there is this item.
 * - prefetches: whether there is prefetch(at, count), which prefetches count items into L2.
 * - begin(shared, tile_begin, m): returns what the tile's items need, a Local.  All threads call
 *   it while the loads are on their way.
 * - prepare(shared, local, loaded, at, m): returns the word of item at of the tile.  The word of
 *   an item that is not below m must sort last.
 * - made: whether the word is more than what was loaded.
 * - digit(word): returns the digit of this pass.
 * - place(digit, position, tile_begin): is called with where this tile's items of a digit go.
 * - store(local, target, word, tile_begin): writes a word.
 * - values: whether there is a second word, which goes where the first one went, in tiles whose
 *   local.by_value holds.
 * - value(shared, word, at), store_value(target, value): read and write the second word.
 */

/*
 * The steps by which a block sorts its tile, in the order in which the kernel calls them.  All
 * threads call each step, unless its comment says which threads do.  A thread's own arrays are
 * passed by reference, so that they are registers.  A thread's items are warp_at + i * 32 + lane
 * of the tile.
 */
template <typename Pass>
struct TileSteps
{
	static constexpr int threads = Pass::Shape::threads;
	static constexpr int items = Pass::Shape::items;
	static constexpr int tile_items = threads * items;
	static constexpr int warps = threads / 32;

	static_assert(items % 2 == 0 && tile_items <= 1 << 16, "places in pairs");
	static_assert(tile_items >= REGIME_SWEEP_TILE, "regime.c sizes for this");
	static_assert(threads >= sweep_digits, "a thread per digit");

	using Tile = SweepTile<typename Pass::Shape>;
	using Local = typename Pass::Local;

	const Pass &pass;
	const Sweep &sweep;
	Tile	   &shared;
	typename Pass::Shared &pass_shared;
	uint32_t   *offsets;		/* shared: for each digit, its place in the output less its place
								 * in the tile */
	uint32_t   *sums;			/* shared: one word for each warp of digits */
	uint32_t	lane;
	uint32_t	warp;
	uint32_t	warp_at;
	/* set by draw() */
	uint32_t	tile;
	uint32_t	in_portion;		/* number of the tile's first item within the launch */
	/* number of the tile's first item of all */
	uint32_t	begin;
	uint32_t	m;				/* number of the tile's items */

	__device__ __forceinline__ void
	clear_counters() const
	{
#pragma unroll
		for (int i = 0; i < sweep_digits / 32; i += 4)
			reinterpret_cast<uint4 *>(shared.bins[warp])[i / 4 * 32 + lane] =
				make_uint4(0, 0, 0, 0);
	}

	/* takes the next tile; tiles are given out in the order of starting, so that none waits for a
	 * later one */
	__device__ __forceinline__ void
	draw(uint32_t *drawn)
	{
		if (threadIdx.x == 0)
			*drawn = atomicAdd(sweep.ticket, 1u);
		__syncthreads();
		tile = *drawn;
		in_portion = tile * tile_items;
		begin = sweep.first + in_portion;
		m = min(static_cast<uint32_t>(tile_items), sweep.n - in_portion);
	}

	/* Loads the tile's items.  The order is warp by warp, and within a warp items before lanes; a
	 * warp's counters come before the next warp's.  This makes the pass stable.  Full tiles have
	 * no tests, so that all loads are under way at once. */
	__device__ __forceinline__ void
	load(uint32_t (&word)[items]) const
	{
		if (m == tile_items)
		{
#pragma unroll
			for (int i = 0; i < items; i++)
				word[i] = pass.load(begin + warp_at + i * 32 + lane, true);
		}
		else
		{
#pragma unroll
			for (int i = 0; i < items; i++)
				word[i] = pass.load(begin + warp_at + i * 32 + lane,
									warp_at + i * 32 + lane < m);
		}
		if constexpr (Pass::prefetches)
			if (threadIdx.x == 32)
			{
				const uint32_t later = tile + blocks_later(Pass::Shape::blocks);

				if (later < sweep.n / tile_items)
					pass.prefetch(sweep.first + later * tile_items, tile_items);
			}
	}

	/* Turns what was loaded into words, and counts their digits. */
	__device__ __forceinline__ void
	count(const Local &local, uint32_t (&word)[items]) const
	{
#pragma unroll
		for (int i = 0; i < items; i++)
		{
			word[i] = pass.prepare(pass_shared, local, word[i], warp_at + i * 32 + lane, m);
			/* Otherwise the compiler also keeps what the word was made of, and looks up more
			 * words at once than there are registers for. */
			if (Pass::made)
				asm volatile("" : "+r"(word[i]) : : "memory");
		}
#pragma unroll
		for (int i = 0; i < items; i++)
			atomicAdd(&shared.bins[warp][pass.digit(word[i])], 1u);
		__syncthreads();
	}

	/* For the threads that have a digit.  Finds the number of the digit in the warps before each
	 * warp, and in the tile, and publishes the latter for later tiles as early as possible.
	 * Returns the number of items with this digit and with the smaller digits of the same 32. */
	__device__ __forceinline__ uint32_t
	sum_up(uint32_t (&before)[warps], uint32_t *total) const
	{
		uint32_t	count = 0;
		uint32_t	inclusive;

#pragma unroll
		for (int w = 0; w < warps; w++)
			before[w] = shared.bins[w][threadIdx.x];
#pragma unroll
		for (int w = 0; w < warps; w++)
		{
			const uint32_t here = before[w];

			before[w] = count;
			count += here;
		}
		store_relaxed(&sweep.lookback[tile * sweep_digits + threadIdx.x],
					  count | (tile == 0 ? sweep.all : sweep.own) << 30);
		inclusive = count;
#pragma unroll
		for (int step = 1; step < 32; step *= 2)
		{
			const uint32_t other = __shfl_up_sync(0xffffffffu, inclusive, step);

			if (lane >= step)
				inclusive += other;
		}
		if (lane == 31)
			sums[warp] = inclusive;
		*total = count;
		return inclusive;
	}

	/* For the threads that have a digit, when sums are complete.  Writes where each warp's first
	 * item of the digit is staged to bins.  exclusive is the number of items with smaller digits
	 * of the same 32.  Returns where the tile's first item of the digit is staged. */
	__device__ __forceinline__ uint32_t
	start_counters(const uint32_t (&before)[warps], uint32_t exclusive) const
	{
#pragma unroll
		for (uint32_t w = 0; w < sweep_digits / 32; w++)
			exclusive += w < warp ? sums[w] : 0;
#pragma unroll
		for (int w = 0; w < warps; w++)
			shared.bins[w][threadIdx.x] = exclusive + before[w];
		return exclusive;
	}

	/* Keeps two places in a register.  Registers bound the tile's size, and 34 spilled words a
	 * thread doubled what a pass writes to memory. */
	__device__ __forceinline__ static void
	keep_place(uint32_t (&place)[items / 2], int i, uint32_t at)
	{
		if (i % 2 == 0)
			place[i / 2] = at;
		else
			place[i / 2] |= at << 16;
	}

	/*
	 * Finds where each item is staged.  If all items have one digit they stay where they are, so
	 * that sorted and constant inputs do not queue at one counter.  These items take the same
	 * path as all others: a path of their own would keep every word in its register to the end,
	 * beside the values, and made the kernels spill.
	 */
	__device__ __forceinline__ void
	rank(const uint32_t (&word)[items], bool one_digit, uint32_t (&place)[items / 2]) const
	{
		if (one_digit)
		{
#pragma unroll
			for (int i = 0; i < items; i++)
				keep_place(place, i, warp_at + i * 32 + lane);
		}
		else
		{
			const uint32_t up_to_this = lanes_up_to_this();
			volatile uint32_t *counters = shared.bins[warp];

			__syncthreads();
#pragma unroll
			for (int i = 0; i < items; i++)
			{
				const uint32_t digit = pass.digit(word[i]);
				const uint32_t same = lanes_with(digit);

				keep_place(place, i, place_in_order(&counters[digit], same, up_to_this));
			}
		}
		__syncthreads();
	}

	/* puts a word of each item at its place in shared memory */
	__device__ __forceinline__ void
	stage(const uint32_t (&place)[items / 2], const uint32_t (&what)[items]) const
	{
#pragma unroll
		for (int i = 0; i < items; i++)
			shared.staged[place[i / 2] >> i % 2 * 16 & 0xffff] = what[i];
	}

	/* Loads the second words long before they are used: they are on their way during the
	 * look-back. */
	__device__ __forceinline__ void
	load_values(const uint32_t (&word)[items], uint32_t (&value)[items]) const
	{
		if (m == tile_items)
		{
#pragma unroll
			for (int i = 0; i < items; i++)
				value[i] = pass.value(pass_shared, word[i], begin + warp_at + i * 32 + lane);
		}
		else
		{
#pragma unroll
			for (int i = 0; i < items; i++)
				value[i] = warp_at + i * 32 + lane < m ?
					pass.value(pass_shared, word[i], begin + warp_at + i * 32 + lane) : 0;
		}
	}

	/* For the threads that have a digit, of which the tile has count items, staged from exclusive
	 * on.  Finds where they go.  Only here a tile waits for the tiles before it. */
	__device__ __forceinline__ void
	find_offsets(uint32_t count, uint32_t exclusive) const
	{
		const uint32_t earlier = look_back(sweep, tile, threadIdx.x);
		const uint32_t start = sweep.starts[threadIdx.x] + earlier;

		if (tile > 0)
			store_relaxed(&sweep.lookback[tile * sweep_digits + threadIdx.x],
						  (earlier + count) | sweep.all << 30);
		offsets[threadIdx.x] = start - exclusive;
		pass.place(threadIdx.x, start, begin);
		if (sweep.next_starts != nullptr && in_portion + m == sweep.n)
			sweep.next_starts[threadIdx.x] = start + count;
	}

	/*
	 * Writes the words from the tile to the output.  If values follow when the words are gone
	 * from shared memory, digits receives the digits of what this thread writes, four to a
	 * register.  Full tiles have no tests: with one, each item waited for its word and then for
	 * its digit's offset before the next was loaded.
	 */
	template <int DIGITS>
	__device__ __forceinline__ void
	write_words(const Local &local, uint32_t (&digits)[DIGITS]) const
	{
		constexpr int together = 8;
		const uint32_t *mine = shared.staged + threadIdx.x;

		if (m == tile_items)
		{
#pragma unroll
			for (int i = 0; i < items; i += together)
			{
				uint32_t	out[together];

#pragma unroll
				for (int j = 0; j < together && i + j < items; j++)
					out[j] = mine[(i + j) * threads];
#pragma unroll
				for (int j = 0; j < together && i + j < items; j++)
				{
					const uint32_t digit = pass.digit(out[j]);

					pass.store(local, offsets[digit] + (i + j) * threads + threadIdx.x,
							   out[j], begin);
					if constexpr (Pass::values)
						digits[(i + j) / 4] |= digit << (i + j) % 4 * 8;
				}
			}
			return;
		}
#pragma unroll
		for (int i = 0; i < items; i++)
		{
			const uint32_t at = i * threads + threadIdx.x;

			if (at < m)
			{
				const uint32_t value = shared.staged[at];
				const uint32_t digit = pass.digit(value);

				pass.store(local, offsets[digit] + at, value, begin);
				if constexpr (Pass::values)
					digits[i / 4] |= digit << i % 4 * 8;
			}
		}
	}

	/* Writes the second words through the same shared memory, by the same places. */
	template <int DIGITS>
	__device__ __forceinline__ void
	write_values(const uint32_t (&place)[items / 2], const uint32_t (&value)[items],
				 const uint32_t (&digits)[DIGITS]) const
	{
		const uint32_t *mine = shared.staged + threadIdx.x;

		__syncthreads();
		stage(place, value);
		__syncthreads();
		if (m == tile_items)
		{
#pragma unroll
			for (int i = 0; i < items; i++)
				pass.store_value(offsets[digits[i / 4] >> i % 4 * 8 & 0xff] +
								 i * threads + threadIdx.x, mine[i * threads]);
			return;
		}
#pragma unroll
		for (int i = 0; i < items; i++)
		{
			const uint32_t at = i * threads + threadIdx.x;

			if (at < m)
				pass.store_value(offsets[digits[i / 4] >> i % 4 * 8 & 0xff] + at,
								 shared.staged[at]);
		}
	}
};

/* One pass over the items of one launch. */
template <typename Pass>
__global__ void __launch_bounds__(Pass::Shape::threads, Pass::Shape::blocks)
sweep_kernel(Pass pass, Sweep sweep)
{
	using Steps = TileSteps<Pass>;

	extern __shared__ __align__(16) uint32_t sweep_memory[];
	__shared__ typename Pass::Shared pass_shared;
	__shared__ uint32_t offsets[sweep_digits];
	__shared__ uint32_t sums[sweep_digits / 32];
	__shared__ uint32_t drawn;
	Steps		steps = {pass, sweep, *reinterpret_cast<typename Steps::Tile *>(sweep_memory),
		pass_shared, offsets, sums, threadIdx.x % 32, threadIdx.x / 32,
		threadIdx.x / 32 * 32 * Steps::items, 0, 0, 0, 0};
	const bool	has_digit = threadIdx.x < sweep_digits;
	uint32_t	word[Steps::items];
	uint32_t	place[Steps::items / 2];
	uint32_t	before[Steps::warps];
	uint32_t	count = 0;
	uint32_t	inclusive = 0;

	steps.clear_counters();
	wait_for_kernel_before();
	steps.draw(&drawn);
	steps.load(word);

	const typename Pass::Local local = pass.begin(pass_shared, steps.begin, steps.m);

	steps.count(local, word);
	if (has_digit)
		inclusive = steps.sum_up(before, &count);

	const bool	one_digit = __syncthreads_or(count == Steps::tile_items);
	uint32_t	exclusive = inclusive - count;

	if (has_digit)
		exclusive = steps.start_counters(before, exclusive);
	steps.rank(word, one_digit, place);
	steps.stage(place, word);

	uint32_t	value[Pass::values ? Steps::items : 1];
	uint32_t	digits[Pass::values ? (Steps::items + 3) / 4 : 1] = {};

	if constexpr (Pass::values)
		if (local.by_value)
			steps.load_values(word, value);
	if (has_digit)
		steps.find_offsets(count, exclusive);
	__syncthreads();
	steps.write_words(local, digits);
	if constexpr (Pass::values)
		if (local.by_value)
			steps.write_values(place, value, digits);
}

/*
 * The workspace that all passes of a sort share.  counts has 256 words for each pass.  A kernel
 * before the passes adds the digits' counts to them, and its last block turns the counts into the
 * places where digits start (sum_by_last_block()).
 */
struct Sweeps
{
	DeviceBuffer memory;
	uint64_t	n = 0;
	uint32_t	portions = 0;
	uint32_t	launches = 0;
	uint32_t   *counts = nullptr;		/* [pass][portion][digit] */
	uint32_t   *tickets = nullptr;		/* one for each launch, and count_ticket() */
	uint32_t   *lookback = nullptr;
	uint64_t	lookback_bytes = 0;
	const HpsortCuda *context = nullptr;

	static constexpr uint32_t launches_most = sweep_most_passes * 8;

	/* allocates zeroed workspace for `passes` passes over count items */
	void
	allocate(HpsortCuda *engine, cudaStream_t stream, uint64_t count,
			 uint32_t passes)
	{
		n = count;
		context = engine;
		constexpr uint64_t most = sweep_most(REGIME_SWEEP_TILE);

		portions = static_cast<uint32_t>((n + most - 1) / most + 1);
		lookback_bytes = ((n < most ? n : most) / REGIME_SWEEP_TILE + 1) *
			sweep_digits * sizeof(uint32_t);
		launches = 0;
		memory = DeviceBuffer(engine, stream,
							  regime_sweep_bytes(n, passes), "a radix sort");

		Carver		carver(memory);

		counts = carver.take<uint32_t>(passes * portions * sweep_digits);
		tickets = carver.take<uint32_t>(launches_most);
		lookback = carver.take<uint32_t>(lookback_bytes / sizeof(uint32_t));
		check(cudaMemsetAsync(memory.as<void>(), 0, memory.bytes(), stream),
			  "clear the digits' counts");
	}
	/* returns where the digits of a pass start */
	uint32_t *starts(uint32_t pass) const
	{
		return counts + static_cast<uint64_t>(pass) * portions * sweep_digits;
	}
	/* for the kernel that counts digits: says which of its blocks is the last */
	uint32_t *count_ticket() const { return tickets + launches_most - 1; }

	/* puts pass number `number` over all items on the stream, in as many launches as counts of 30
	 * bits need */
	template <typename Pass>
	void
	run(cudaStream_t stream, uint32_t number, const Pass &pass)
	{
		static const uint32_t own[] = {1, 3, 2};
		static const uint32_t all[] = {2, 1, 3};
		constexpr uint32_t sweep_tile = Pass::Shape::threads * Pass::Shape::items;
		constexpr uint64_t most = sweep_most(sweep_tile);
		const bool	several = n > most;

		constexpr size_t bytes = sizeof(SweepTile<typename Pass::Shape>);

		/* with the kernel's own shared memory this is more than a kernel gets without asking */
		if (bytes + sizeof(typename Pass::Shared) > 46 * 1024)
			allow_shared(sweep_kernel<Pass>, bytes);
		for (uint64_t first = 0, p = 0; first < n; first += most, p++)
		{
			Sweep		sweep;

			sweep.n = static_cast<uint32_t>(n - first < most ?
											n - first : most);
			sweep.first = static_cast<uint32_t>(first);
			sweep.starts = starts(number) + p * sweep_digits;
			sweep.next_starts = first + most < n ?
				starts(number) + (p + 1) * sweep_digits : nullptr;
			sweep.lookback = lookback;
			sweep.ticket = tickets + launches;
			sweep.own = own[launches % 3];
			sweep.all = all[launches % 3];
			/* if the launch before was shorter, words may have older codes */
			if (several && launches > 0)
				check(cudaMemsetAsync(lookback, 0, lookback_bytes, stream),
					  "clear the look-back");
			launches++;
			launch_behind(context, stream, sweep_kernel<Pass>,
						  (sweep.n + sweep_tile - 1) / sweep_tile,
						  Pass::Shape::threads, bytes, "sort by a digit", pass, sweep);
		}
	}
};

/*
 * Turns counts into starts, for `sets` sets of digits that are stride words apart.  Every block
 * of a counting kernel, of at least 256 threads, calls this after its atomics on counts.  The
 * last block to come here does the work, since all counts are complete then.
 */
__device__ __forceinline__ void
sum_by_last_block(uint32_t *counts, uint32_t sets, uint32_t stride, uint32_t *ticket)
{
	__shared__ uint32_t sums[sweep_digits / 32];
	__shared__ bool last;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t warp = threadIdx.x / 32;

	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0)
		last = atomicAdd(ticket, 1u) == gridDim.x - 1;
	__syncthreads();
	if (!last)
		return;
	__threadfence();
	for (uint32_t set = 0; set < sets; set++)
	{
		uint32_t	count = 0;
		uint32_t	inclusive;

		if (threadIdx.x < sweep_digits)
			count = __ldcg(&counts[set * stride + threadIdx.x]);
		inclusive = count;
#pragma unroll
		for (int step = 1; step < 32; step *= 2)
		{
			const uint32_t other = __shfl_up_sync(0xffffffffu, inclusive, step);

			if (lane >= step)
				inclusive += other;
		}
		if (lane == 31 && warp < sweep_digits / 32)
			sums[warp] = inclusive;
		__syncthreads();
		for (uint32_t w = 0; w < warp && w < sweep_digits / 32; w++)
			inclusive += sums[w];
		if (threadIdx.x < sweep_digits)
			counts[set * stride + threadIdx.x] = inclusive - count;
		/* the next set's sums take the place of this set's */
		__syncthreads();
	}
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_SWEEP_CUH */
