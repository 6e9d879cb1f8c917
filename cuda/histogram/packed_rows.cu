/*-------------------------------------------------------------------------
 *
 * packed_rows.cu
 *	  Keys of rows of several packed columns, kept by jobs that keep their keys, or counted, or
 *	  added up by groups, where they are made.
 *
 * A warp takes some rows of all columns at a time, one column after the other, so that as many
 * loads are in flight as there are rows a thread.  Rows that a condition refuses have no key.
 * The other rows of a warp are then written without gaps, behind one atomic on a common counter.
 * Their order is lost, which matters neither for runs nor for positions.  Rows that are found have
 * their numbers as keys: these are put in order as keys are.
 *
 * Memory traffic of a row: the widths of its columns read; 4 bytes written if the row is kept.
 *
 *-------------------------------------------------------------------------
 */
#include <climits>

#include "common/packed_device.cuh"
#include "histogram/packed_rows.cuh"
#include "histogram/shared_bins.cuh"

namespace hpsort
{

static constexpr int keep_threads = 512;

/* Rows that a thread has at a time, and a warp. */
static constexpr int rows_each = 8;
static constexpr uint32_t rows_warp = 32 * rows_each;

static_assert(packed_tile_values % rows_warp == 0, "a tile is some steps of a warp");

/* Up to this many ranges are compared one after the other; in more, the right one is searched. */
static constexpr uint32_t few_ranges = 4;

/* A thread's rows of a step: its row r is lane + 32 r of the step. */
struct RowKeys
{
	uint32_t	keys[rows_each];
	uint32_t	passing;		/* a bit for each row that is there and passes all conditions */
	uint32_t	outside;		/* a bit for each row with a value outside the layout */
	int32_t		odd;			/* one value outside the layout */
};

/* Returns whether value lies in one of n ascending, disjoint ranges. */
__device__ __forceinline__ bool
is_in_ranges(const HpsortCudaRange *ranges, uint32_t n, int32_t value)
{
	if (n <= few_ranges)
	{
		bool		in = false;

		for (uint32_t i = 0; i < n; i++)
			in |= value >= __ldg(&ranges[i].lo) && value <= __ldg(&ranges[i].hi);
		return in;
	}

	/* the first range that does not end before the value */
	uint32_t	from = 0;
	uint32_t	to = n;

	while (from < to)
	{
		const uint32_t middle = (from + to) / 2;

		if (__ldg(&ranges[middle].hi) < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && __ldg(&ranges[from].lo) <= value;
}

/* Returns whether value has a bit in a mask that lies in n ranges: of each, first in lo. */
__device__ __forceinline__ bool
is_in_mask(const HpsortCudaRange *ranges, uint32_t n, int32_t value)
{
	const uint32_t bit = static_cast<uint32_t>(value);

	return bit / 64 < n &&
		__ldg(reinterpret_cast<const uint32_t *>(ranges) + bit / 32) >> bit % 32 & 1;
}

/* Returns what the value in a place, at most last, adds to the key by a map that lies in ranges. */
__device__ __forceinline__ uint32_t
map_place(const HpsortCudaRange *ranges, uint32_t place)
{
	return __ldg(reinterpret_cast<const uint32_t *>(ranges) + place);
}

/* Loads a column's values of a step whose first row is `from` of the part, as distances from the
 * part's base.  Rows that are not there get 0. */
template <int WIDTH_BITS>
__device__ __forceinline__ void
load_rows(const PackedPart &part, uint32_t from, uint32_t there, uint32_t *distances)
{
#pragma unroll
	for (int r = 0; r < rows_each; r++)
		distances[r] = there >> r & 1 ?
			load_distance<WIDTH_BITS>(part.values, from + threadIdx.x % 32 + 32 * r) : 0;
}

/* Adds a column to the keys, and takes rows that its condition refuses out of rows->passing. */
__device__ __forceinline__ void
use_column(const HpsortCudaRowsColumn &column, const HpsortCudaRange *ranges, int32_t base,
		   const uint32_t *distances, uint32_t nulls, RowKeys *rows)
{
	const bool	in_key = column.flags & HPSORT_CUDA_ROWS_IN_KEY;
	const bool	mapped = column.flags & HPSORT_CUDA_ROWS_MAPPED;
	const bool	filtered = column.flags & HPSORT_CUDA_ROWS_FILTERED;

#pragma unroll
	for (int r = 0; r < rows_each; r++)
	{
		const bool	null = nulls >> r & 1;
		const int32_t value = static_cast<int32_t>(static_cast<uint32_t>(base) + distances[r]);
		const uint32_t place = static_cast<uint32_t>(value) - static_cast<uint32_t>(column.lo);
		const uint32_t adds = null ? column.null_adds : !mapped ? place * column.stride :
			place <= column.last ? map_place(ranges + column.first_range, place) : 0;

		if (filtered && !(null ? (column.flags & HPSORT_CUDA_ROWS_NULLS_PASS) != 0 :
						  mapped ? adds != HPSORT_CUDA_ROWS_NO_MATCH :
						  column.flags & HPSORT_CUDA_ROWS_MASKED ?
						  is_in_mask(ranges + column.first_range, column.nranges, value) :
						  is_in_ranges(ranges + column.first_range, column.nranges, value)))
			rows->passing &= ~(1u << r);
		if (!in_key)
			continue;
		if (null ? !(column.flags & HPSORT_CUDA_ROWS_NULL_IN_KEY) : place > column.last)
		{
			rows->outside |= 1u << r;
			rows->odd = value;
		}
		rows->keys[r] += adds;
	}
}

/* Returns the keys of a step's rows, the first of which is row `from` of n.  columns has a part
 * of each column. */
__device__ __forceinline__ RowKeys
make_keys(const PackedPart *columns, const HpsortCudaRows &layout, const HpsortCudaRange *ranges,
		  uint32_t from, uint32_t n)
{
	RowKeys		rows;
	uint32_t	there = 0;

#pragma unroll
	for (int r = 0; r < rows_each; r++)
	{
		rows.keys[r] = layout.base;
		if (threadIdx.x % 32 + 32 * r < n - from)
			there |= 1u << r;
	}
	rows.passing = there;
	rows.outside = 0;
	rows.odd = 0;
	for (uint32_t c = 0; c < layout.ncolumns; c++)
	{
		const PackedPart part = load_part(columns + c);
		uint32_t	distances[rows_each];
		uint32_t	nulls = 0;

		switch (part.width_bits())
		{
			case 0:
				load_rows<0>(part, from, there, distances);
				break;
			case 1:
				load_rows<1>(part, from, there, distances);
				break;
			default:
				load_rows<2>(part, from, there, distances);
				break;
		}
		if (part.has_nulls())
		{
			const PartNulls bits(part);

#pragma unroll
			for (int r = 0; r < rows_each; r++)
				if (there >> r & 1 &&
					bits.is_null(part.first + from + threadIdx.x % 32 + 32 * r))
					nulls |= 1u << r;
		}
		use_column(layout.columns[c], ranges, part.base, distances, nulls, &rows);
	}
	rows.outside &= rows.passing;
	return rows;
}

/* Puts the numbers of rows whose keys lie in the layout's ranges in place of their keys, and takes
 * other rows out of rows->passing.  number is that of the step's first row. */
__device__ __forceinline__ void
find_rows(const HpsortCudaRows &layout, const HpsortCudaRange *ranges, int64_t number,
		  RowKeys *rows)
{
	ranges += layout.nranges - layout.key_ranges;
#pragma unroll
	for (int r = 0; r < rows_each; r++)
	{
		if (!is_in_ranges(ranges, layout.key_ranges, static_cast<int32_t>(rows->keys[r])))
			rows->passing &= ~(1u << r);
		rows->keys[r] = static_cast<uint32_t>(number) + threadIdx.x % 32 + 32 * r;
	}
}

/* Calls use(rows, part, row) for each step of this block's share of the rows, one warp per step;
 * row is the step's first row. */
template <typename Use>
__device__ __forceinline__ void
for_each_step(const RowTable &table, const HpsortCudaRows &layout, Use use)
{
	for_each_tile(table.parts, [&](const PackedPart &part, uint32_t tile) {
		const PackedPart *columns = table.parts.parts + table.parts.count + 1 +
			static_cast<size_t>(part.first) * layout.ncolumns;
		const uint32_t first = tile * packed_tile_values;
		const uint32_t n = min(packed_tile_values, part.n - first);

		for (uint32_t at = 0; at < n; at += rows_warp)
		{
			const uint32_t from = first + at;
			RowKeys		rows = make_keys(columns, layout, table.ranges, from, part.n);

			if (rows.outside != 0)
			{
				/* any offender will do */
				atomicExch(&table.counts->value, rows.odd);
				atomicExch(&table.counts->n_outside, 1u);
			}
			if (layout.key_ranges > 0)
				find_rows(layout, table.ranges, part.position() + from, &rows);
			use(rows, part, from);
		}
	});
}

/* Writes the keys of rows that pass behind the keys that have been written, in any order. */
__device__ __forceinline__ void
append_rows(const RowKeys &rows, RowCounts *counts, int32_t *keys)
{
	const uint32_t lanes_before = (1u << threadIdx.x % 32) - 1;
	uint32_t	votes[rows_each];
	uint32_t	total = 0;
	unsigned long long place = 0;

#pragma unroll
	for (int r = 0; r < rows_each; r++)
	{
		votes[r] = __ballot_sync(0xffffffffu, rows.passing >> r & 1);
		total += __popc(votes[r]);
	}
	if (total == 0)
		return;
	if (threadIdx.x % 32 == 0)
		place = atomicAdd(&counts->kept, static_cast<unsigned long long>(total));
	place = __shfl_sync(0xffffffffu, place, 0);
#pragma unroll
	for (int r = 0; r < rows_each; r++)
	{
		if (rows.passing >> r & 1)
			keys[place + __popc(votes[r] & lanes_before)] = static_cast<int32_t>(rows.keys[r]);
		place += __popc(votes[r]);
	}
}

/* Writes the keys of rows, and widens *bounds by them: rows_add(). */
__global__ void __launch_bounds__(keep_threads)
keep_rows_kernel(const __grid_constant__ RowTable table,
				 const __grid_constant__ HpsortCudaRows layout,
				 int32_t *keys, Bounds *bounds)
{
	int32_t		lo = INT_MAX;
	int32_t		hi = INT_MIN;

	for_each_step(table, layout, [&](const RowKeys &rows, const PackedPart &part, uint32_t from) {
#pragma unroll
		for (int r = 0; r < rows_each; r++)
			if (rows.passing >> r & 1)
			{
				lo = min(lo, static_cast<int32_t>(rows.keys[r]));
				hi = max(hi, static_cast<int32_t>(rows.keys[r]));
			}
		if (layout.filtered)
		{
			append_rows(rows, table.counts, keys);
			return;
		}

		int32_t    *to = keys + part.position() + from + threadIdx.x % 32;

#pragma unroll
		for (int r = 0; r < rows_each; r++)
			if (rows.passing >> r & 1)
				to[32 * r] = static_cast<int32_t>(rows.keys[r]);
	});
	widen_bounds<keep_threads>(lo, hi, bounds);
}

/* Notes a key that is outside the bounds; any of them will do. */
__device__ __forceinline__ void
note_outside(RowCounts *counts, uint32_t key)
{
	atomicExch(&counts->value, static_cast<int32_t>(key));
	atomicExch(&counts->n_outside, 1u);
}

/* Adds the rows that this thread has kept to those of all. */
__device__ __forceinline__ void
add_kept(uint32_t kept, RowCounts *counts)
{
	kept = warp_sum(kept);
	if (threadIdx.x % 32 == 0 && kept > 0)
		atomicAdd(&counts->kept, static_cast<unsigned long long>(kept));
}

/* Counts the keys of rows: rows_count().  An ordinary launch, like count_packed_kernel's: several
 * jobs may count at the same time. */
__global__ void __launch_bounds__(histogram_threads, 1)
count_rows_kernel(const __grid_constant__ RowTable table,
				  const __grid_constant__ HpsortCudaRows layout,
				  KeyMap map, Count64 *all_bins, Count64 *all_slices)
{
	extern __shared__ __align__(16) char memory[];
	uint32_t   *bins = reinterpret_cast<uint32_t *>(memory);
	const uint32_t count = map.last + 1;
	uint32_t	kept = 0;

	clear_bins(bins, count);
	__syncthreads();
	for_each_step(table, layout, [&](const RowKeys &rows, const PackedPart &, uint32_t) {
		kept += __popc(rows.passing);
#pragma unroll
		for (int r = 0; r < rows_each; r++)
		{
			const uint32_t bin = rows.keys[r] - map.base;

			if (!(rows.passing >> r & 1))
				continue;
			if (bin <= map.last)
				atomicAdd(&bins[bin], 1u);
			else
				note_outside(table.counts, rows.keys[r]);
		}
	});
	add_kept(kept, table.counts);
	__syncthreads();
	flush_bins(bins, count, all_bins, all_slices);
}

/* Returns the words of each of a block's three arrays of groups. */
__host__ __device__ __forceinline__ uint32_t
group_words(uint32_t groups)
{
	return (groups + 3) / 4 * 4;
}

/*
 * Counts and adds up the keys of rows by groups: KeyGroups.add_rows().  A sum of 64 bits is two
 * words in shared memory, since an atomic of 64 bits there is a loop: whoever makes the low word
 * overflow adds one to the high word.  A thread waits for the low words of all its rows at once.
 */
__global__ void __launch_bounds__(histogram_threads, 1)
sum_rows_kernel(const __grid_constant__ RowTable table,
				const __grid_constant__ HpsortCudaRows layout,
				KeyMap map, uint32_t bits, Count64 *all_counts, Count64 *all_sums)
{
	extern __shared__ __align__(16) char memory[];
	const uint32_t groups = (map.last >> bits) + 1;
	uint32_t   *counts = reinterpret_cast<uint32_t *>(memory);
	uint32_t   *lows = counts + group_words(groups);
	uint32_t   *highs = lows + group_words(groups);
	const uint32_t mask = (1u << bits) - 1;
	const uint32_t turn = static_cast<uint32_t>(
		static_cast<uint64_t>(blockIdx.x) * groups / gridDim.x);
	uint32_t	kept = 0;

	clear_bins(counts, 3 * group_words(groups));
	__syncthreads();
	for_each_step(table, layout, [&](const RowKeys &rows, const PackedPart &, uint32_t) {
		uint32_t	before[rows_each];

		kept += __popc(rows.passing);
#pragma unroll
		for (int r = 0; r < rows_each; r++)
		{
			const uint32_t place = rows.keys[r] - map.base;

			before[r] = 0;
			if (!(rows.passing >> r & 1))
				continue;
			if (place > map.last)
			{
				note_outside(table.counts, rows.keys[r]);
				continue;
			}
			atomicAdd(&counts[place >> bits], 1u);
			before[r] = atomicAdd(&lows[place >> bits], place & mask);
		}
#pragma unroll
		for (int r = 0; r < rows_each; r++)
		{
			const uint32_t place = rows.keys[r] - map.base;

			if (before[r] + (place & mask) < before[r])
				atomicAdd(&highs[place >> bits], 1u);
		}
	});
	add_kept(kept, table.counts);
	__syncthreads();

	/* blocks begin with different groups, as in flush_bins() */
	for (uint32_t i = threadIdx.x; i < groups; i += blockDim.x)
	{
		const uint32_t group = i + turn < groups ? i + turn : i + turn - groups;

		if (counts[group] == 0)
			continue;
		atomicAdd(&all_counts[group], static_cast<Count64>(counts[group]));
		atomicAdd(&all_sums[group], static_cast<Count64>(highs[group]) << 32 | lows[group]);
	}
}

/* Counts and adds up keys by groups: KeyGroups.add_keys().  They are few beside those of rows. */
__global__ void __launch_bounds__(keep_threads)
sum_keys_kernel(const int32_t *keys, uint64_t n, KeyMap map, uint32_t bits, Count64 *all_counts,
				Count64 *all_sums, RowCounts *found)
{
	const uint64_t i = blockIdx.x * static_cast<uint64_t>(keep_threads) + threadIdx.x;
	const uint32_t place = i < n ? to_bin(map, keys[i]) : 0;

	if (i >= n)
		return;
	if (place > map.last)
	{
		note_outside(found, static_cast<uint32_t>(keys[i]));
		return;
	}
	atomicAdd(&all_counts[place >> bits], 1ull);
	atomicAdd(&all_sums[place >> bits], static_cast<Count64>(place & ((1u << bits) - 1)));
}

void
configure_packed_rows(const HpsortCudaLimits &limits)
{
	allow_shared(count_rows_kernel, bins_allowance(limits));
	allow_shared(sum_rows_kernel, bins_allowance(limits));
}

/* Has the number of blocks that unpack_add() has. */
void
rows_add(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
		 const HpsortCudaRows &layout, int32_t *keys, Bounds *bounds)
{
	keep_rows_kernel<<<grid_blocks(context, table.parts.tiles, keep_threads / 32, 4), keep_threads,
		0,
		stream>>>(table, layout, keys, bounds);
	check_launch("make keys of rows");
}

/* A small tile costs as much as a full one, as in Bins::add_packed(). */
void
rows_count(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
		   const HpsortCudaRows &layout, const Bins &bins)
{
	const uint32_t count = bins.map.last + 1;
	const size_t bytes = (static_cast<size_t>(count) + 3) / 4 * 16;
	const uint64_t work = static_cast<uint64_t>(table.parts.tiles) * packed_tile_values;

	count_rows_kernel<<<histogram_blocks(context, work, count), histogram_threads, bytes, stream>>>
		(table, layout, bins.map, bins.bins, bins.slices);
	check_launch("count keys of rows");
}

bool
KeyGroups::fit(const HpsortCudaLimits &limits, const KeyMap &map, uint32_t bits)
{
	return (map.last >> bits) + UINT64_C(1) <= regime_shared_bins(&limits) / 3;
}

KeyGroups::KeyGroups(HpsortCuda *context, cudaStream_t stream, const KeyMap &key_map,
					 uint32_t key_bits)
	: map(key_map), bits(key_bits)
{
	memory = DeviceBuffer(context, stream, 2 * groups() * sizeof(uint64_t), "sums by groups");
	check(cudaMemsetAsync(counts(), 0, 2 * groups() * sizeof(uint64_t), stream), "clear sums");
}

void
KeyGroups::add_keys(cudaStream_t stream, const int32_t *keys, uint64_t n,
					RowCounts *found)
{
	const uint64_t blocks = (n + keep_threads - 1) / keep_threads;

	if (n == 0)
		return;
	sum_keys_kernel<<<static_cast<uint32_t>(blocks), keep_threads, 0, stream>>>
		(keys, n, map, bits, counts(), sums(), found);
	check_launch("add up keys by groups");
}

void
KeyGroups::add_rows(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
					const HpsortCudaRows &layout)
{
	const uint32_t words = 3 * group_words(groups());
	const uint64_t work = static_cast<uint64_t>(table.parts.tiles) * packed_tile_values;

	sum_rows_kernel<<<histogram_blocks(context, work, words), histogram_threads,
		words * sizeof(uint32_t), stream>>>(table, layout, map, bits, counts(), sums());
	check_launch("add up keys of rows by groups");
}

void
KeyGroups::read(cudaStream_t stream)
{
	const uint64_t n = groups();
	std::vector<uint64_t> found(2 * n);
	uint64_t	keys = 0;
	uint64_t	sum = 0;

	keys_before.resize(n + 1);
	sums_before.resize(n + 1);
	check(cudaMemcpyAsync(found.data(), counts(), 2 * n * sizeof(uint64_t), cudaMemcpyDeviceToHost,
						  stream), "read sums by groups");
	check(cudaStreamSynchronize(stream), "read sums by groups");
	for (uint64_t g = 0; g < n; g++)
	{
		const int64_t first = static_cast<int32_t>(map.base) + static_cast<int64_t>(g << bits);

		keys_before[g] = keys;
		sums_before[g] = sum;
		keys += found[g];
		sum += found[g] * static_cast<uint64_t>(first) + found[n + g];
	}
	keys_before[n] = keys;
	sums_before[n] = sum;
}

} /* namespace hpsort */
