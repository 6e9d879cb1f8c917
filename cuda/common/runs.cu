/*-------------------------------------------------------------------------
 *
 * runs.cu
 *	  Runs to keys, and sorted keys to runs.
 *
 * Runs are the 0-compressed histogram C, iC of Kozakai, Fujimoto, Wada 2021.  Their expansion
 * replaces the paper's second histogram and second prefix sum (Algorithm 5, lines 16 to 18).
 *
 *-------------------------------------------------------------------------
 */
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include "common/device.cuh"
#include "common/runs.cuh"

namespace hpsort
{

static constexpr int threads = ExpandTuning::threads;
static constexpr int batch_runs = ExpandTuning::batch;

/* Calls body(i) for each i below count, with a grid stride. */
template <typename Body>
__global__ void
each_kernel(uint64_t count, Body body)
{
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
		 i < count; i += step)
		body(i);
}

/* Puts body(i) for each i below count on the stream.  Not tuned: the copy to the host bounds what
 * it is for. */
template <typename Body>
static void
for_each(cudaStream_t stream, uint64_t count, const char *what, Body body)
{
	const uint64_t blocks = (count + 255) / 256;

	if (count == 0)
		return;
	each_kernel<<<static_cast<uint32_t>(blocks > 65535 ? 65535 : blocks), 256, 0, stream>>>
		(count, body);
	check_launch(what);
}

/* Runs in either direction.  In the reversed order, run j is run distinct - 1 - j, and it starts
 * where the keys after it end. */
struct RunView
{
	const int32_t *keys;
	const uint64_t *starts;
	uint64_t	distinct;
	uint64_t	total;
	bool		descending;

	__device__ __forceinline__ uint64_t
	start(uint64_t j) const
	{
		return descending ? total - starts[distinct - j] : starts[j];
	}
	__device__ __forceinline__ int32_t
	key(uint64_t j) const
	{
		return keys[descending ? distinct - 1 - j : j];
	}
	/* returns the run that position lies in */
	__device__ __forceinline__ uint64_t
	find(uint64_t position) const
	{
		uint64_t	lo = 0;
		uint64_t	hi = distinct - 1;

		while (lo < hi)
		{
			const uint64_t middle = lo + (hi - lo + 1) / 2;

			if (start(middle) <= position)
				lo = middle;
			else
				hi = middle - 1;
		}
		return lo;
	}
};

/*
 * Expands positions [first, first + count) to out: Algorithm 5, lines 16 to 18, without the
 * scatter and the prefix sum over n.
 *
 * One block writes one tile of the output.  Tiles are cut at 16-byte boundaries of the output, so
 * that only the two ends of the output are written key by key.  A tile of 256 kB is large enough
 * that its two searches in memory do not show, and small enough that the last blocks end at the
 * same time.  Stores are streaming: nobody reads the output before it has left L2, and the runs
 * should stay there.
 */
__global__ void __launch_bounds__(threads)
expand_kernel(RunView runs, uint64_t first, uint64_t count, int32_t *out)
{
	__shared__ uint32_t starts[batch_runs + 1];
	__shared__ int32_t keys[batch_runs];
	__shared__ uint64_t range[2];
	const uint32_t phase =
		static_cast<uint32_t>(reinterpret_cast<uintptr_t>(out) % 16 / 4);
	/* borders of the tile, as positions counted from the boundary before out */
	const uint64_t tile = static_cast<uint64_t>(blockIdx.x) * ExpandTuning::tile;
	const uint64_t from = tile == 0 ? phase : tile;
	const uint64_t to = min(tile + ExpandTuning::tile, count + phase);

	if (from >= to)
		return;
	/* two threads search, once per 65,536 keys; all other searches are among the runs between,
	 * which are in shared memory by then */
	if (threadIdx.x < 2)
		range[threadIdx.x] = runs.find((threadIdx.x == 0 ? from : to - 1) -
									   phase + first);
	__syncthreads();

	const uint64_t last_run = range[1];

	/* a tile of short runs may span more runs than fit: then it is written batch by batch, and
	 * each batch covers a stretch of the tile of its own */
	for (uint64_t run = range[0]; run <= last_run; run += batch_runs)
	{
		const uint32_t m = static_cast<uint32_t>(
			min(static_cast<uint64_t>(batch_runs), last_run - run + 1));

		for (uint32_t j = threadIdx.x; j <= m; j += threads)
		{
			/* the start as a position within the tile, cut to the tile */
			const uint64_t start = runs.start(run + j);
			const uint64_t low = from - phase + first;
			const uint64_t high = to - phase + first;

			starts[j] = static_cast<uint32_t>(
				(start <= low ? from : start >= high ? to : start - first + phase) -
				tile);
			if (j < m)
				keys[j] = runs.key(run + j);
		}
		__syncthreads();
		expand_block(out - phase + tile, starts[0], starts[m], starts, m,
					 [&](uint32_t j) { return keys[j]; });
		__syncthreads();
	}
}

/* Returns the index of the first of n ascending keys that is not smaller than other, or n. */
__device__ __forceinline__ uint64_t
lower_bound(const int32_t *keys, uint64_t n, int32_t other)
{
	uint64_t	lo = 0;
	uint64_t	hi = n;

	while (lo < hi)
	{
		const uint64_t middle = (lo + hi) / 2;

		if (__ldg(keys + middle) < other)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/*
 * Sorted keys to runs: a run starts where a key differs from the one before.  Two passes over the
 * keys, one that counts the starts of each tile and one that writes them, so that exactly the
 * memory of the runs is needed.
 */
static constexpr int encode_threads = 256;	/* a tile of 16 kB stays in L1 */
static constexpr int encode_items = 16;
static constexpr int encode_tile = encode_threads * encode_items;

/*
 * Returns a mask whose bit i is set if a run starts at this thread's i-th key.  A thread's keys
 * are consecutive, so its loads are not coalesced, but its 64 bytes are whole sectors that L1
 * keeps.  The key before its first one is its neighbour's last, and in the same cache.
 */
__device__ __forceinline__ uint32_t
starts_mask(const int32_t *sorted, uint64_t n, uint64_t at)
{
	uint32_t	mask = 0;

#pragma unroll
	for (int i = 0; i < encode_items; i++)
		if (at + i < n && (at + i == 0 || sorted[at + i] != sorted[at + i - 1]))
			mask |= 1u << i;
	return mask;
}

/* First pass: writes the number of runs that start in each tile. */
__global__ void __launch_bounds__(encode_threads)
count_starts_kernel(const int32_t *sorted, uint64_t n, uint64_t *tile_runs)
{
	using Reduce = cub::BlockReduce<uint32_t, encode_threads>;
	__shared__ typename Reduce::TempStorage temp;
	const uint64_t at = static_cast<uint64_t>(blockIdx.x) * encode_tile +
		threadIdx.x * encode_items;
	const uint32_t runs = Reduce(temp).Sum(__popc(starts_mask(sorted, n, at)));

	if (threadIdx.x == 0)
		tile_runs[blockIdx.x] = runs;
}

/* Second pass: writes keys and starts of the runs.  tile_runs has the number of runs before each
 * tile. */
__global__ void __launch_bounds__(encode_threads)
write_starts_kernel(const int32_t *sorted, uint64_t n, const uint64_t *tile_runs,
					uint64_t distinct, int32_t *keys, uint64_t *starts)
{
	using Scan = cub::BlockScan<uint32_t, encode_threads>;
	__shared__ typename Scan::TempStorage temp;
	const uint64_t at = static_cast<uint64_t>(blockIdx.x) * encode_tile +
		threadIdx.x * encode_items;
	const uint32_t mask = starts_mask(sorted, n, at);
	uint32_t	before;

	Scan(temp).ExclusiveSum(__popc(mask), before);

	uint64_t	run = tile_runs[blockIdx.x] + before;

#pragma unroll
	for (int i = 0; i < encode_items; i++)
		if (mask >> i & 1)
		{
			keys[run] = sorted[at + i];
			starts[run] = at + i;
			run++;
		}
	if (blockIdx.x == 0 && threadIdx.x == 0)
		starts[distinct] = n;
}

/* Starts have 64 bits although there are fewer runs: starts count keys, of which there may be
 * more than 2^32. */
void
Runs::allocate(HpsortCuda *context, cudaStream_t stream, uint64_t most)
{
	memory = DeviceBuffer(context, stream, regime_runs_bytes(most), "runs");

	Carver		carver(memory);

	keys = carver.take<int32_t>(most);
	starts = carver.take<uint64_t>(most + 1);
	distinct = 0;
}

/* The grid covers the output, not the runs: no block is without work, and a block's work does not
 * depend on how long its runs are. */
void
expand_runs(cudaStream_t stream, const Runs &runs, uint64_t total,
			uint64_t first, uint64_t count, bool descending, int32_t *out)
{
	RunView		view = {runs.keys, runs.starts, runs.distinct, total, descending};
	/* one tile more, for what the phase of out pushes over the end; a block that finds nothing to
	 * do there returns at once */
	uint64_t	tiles = (count + 3) / ExpandTuning::tile + 1;

	if (count == 0)
		return;
	expand_kernel<<<static_cast<uint32_t>(tiles), threads, 0, stream>>>
		(view, first, count, out);
	check_launch("expand the runs");
}

/* The engine keeps starts, which expanding needs; callers want counts. */
void
run_counts(cudaStream_t stream, const Runs &runs, uint64_t first,
		   uint64_t count, uint64_t *counts)
{
	const uint64_t *starts = runs.starts + first;

	for_each(stream, count, "count the runs", [=] __device__ (uint64_t i) {
		counts[i] = starts[i + 1] - starts[i];
	});
}

/* One search in the runs for each position; the runs stay in L2. */
void
runs_at(cudaStream_t stream, const Runs &runs, uint64_t total, const uint64_t *positions,
		uint64_t count, int32_t *out)
{
	const RunView view = {runs.keys, runs.starts, runs.distinct, total, false};

	for_each(stream, count, "read keys from runs", [=] __device__ (uint64_t i) {
		out[i] = view.key(view.find(positions[i]));
	});
}

void
keys_at(cudaStream_t stream, const int32_t *keys, uint64_t n, bool reversed,
		const uint64_t *positions, uint64_t count, int32_t *out)
{
	for_each(stream, count, "read keys", [=] __device__ (uint64_t i) {
		out[i] = keys[reversed ? n - 1 - positions[i] : positions[i]];
	});
}

void
runs_below(cudaStream_t stream, const Runs &runs, const int32_t *others, uint64_t count,
		   uint64_t *out)
{
	const int32_t *keys = runs.keys;
	const uint64_t *starts = runs.starts;
	const uint64_t distinct = runs.distinct;

	for_each(stream, count, "find keys among runs", [=] __device__ (uint64_t i) {
		out[i] = starts[lower_bound(keys, distinct, others[i])];
	});
}

void
keys_below(cudaStream_t stream, const int32_t *keys, uint64_t n, const int32_t *others,
		   uint64_t count, uint64_t *out)
{
	for_each(stream, count, "find keys", [=] __device__ (uint64_t i) {
		out[i] = lower_bound(keys, n, others[i]);
	});
}

void
reverse_keys(cudaStream_t stream, const int32_t *keys, uint64_t n,
			 uint64_t first, uint64_t count, int32_t *out)
{
	for_each(stream, count, "reverse the keys", [=] __device__ (uint64_t i) {
		out[i] = keys[n - 1 - first - i];
	});
}

/*
 * The paper's C and iC from sorted keys, for regimes that have no histogram.  Reads 8 bytes per
 * key and writes 12 per run.  Only after the first pass is it known how much memory the runs
 * need, so this function allocates them.
 */
void
encode_runs(HpsortCuda *context, cudaStream_t stream, const int32_t *sorted,
			uint64_t n, Runs *runs)
{
	const uint64_t tiles = (n + encode_tile - 1) / encode_tile;
	size_t		scan_bytes = 0;
	uint64_t	distinct = 0;
	uint64_t   *tile_runs;

	if (n == 0)
	{
		runs->allocate(context, stream, 0);
		return;
	}
	check(cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes,
										static_cast<uint64_t *>(nullptr),
										static_cast<uint64_t *>(nullptr),
										static_cast<int64_t>(tiles + 1), stream),
		  "size a prefix sum");

	DeviceBuffer counts(context, stream, (tiles + 1) * sizeof(uint64_t),
						"finding the runs");
	DeviceBuffer scan(context, stream, scan_bytes, "finding the runs");

	tile_runs = counts.as<uint64_t>();
	check(cudaMemsetAsync(tile_runs + tiles, 0, sizeof(uint64_t), stream),
		  "clear a counter");
	count_starts_kernel<<<static_cast<uint32_t>(tiles), encode_threads, 0,
		stream>>>(sorted, n, tile_runs);
	check_launch("find the runs");
	check(cub::DeviceScan::ExclusiveSum(scan.as<void>(), scan_bytes, tile_runs,
										tile_runs,
										static_cast<int64_t>(tiles + 1), stream),
		  "sum up the runs");
	check(cudaMemcpyAsync(&distinct, tile_runs + tiles, sizeof(distinct),
						  cudaMemcpyDeviceToHost, stream), "read the number of runs");
	check(cudaStreamSynchronize(stream), "find the runs");
	runs->allocate(context, stream, distinct);
	runs->distinct = distinct;
	write_starts_kernel<<<static_cast<uint32_t>(tiles), encode_threads, 0,
		stream>>>(sorted, n, tile_runs, distinct, runs->keys, runs->starts);
	check_launch("write the runs");
}

} /* namespace hpsort */
