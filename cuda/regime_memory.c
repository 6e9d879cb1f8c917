/*-------------------------------------------------------------------------
 *
 * regime_memory.c
 *	  How much device memory each kind of buffer takes, and a sort or a job at most.
 *
 * For the code that allocates, and for callers of regime_job_need().  Compiles without CUDA.
 *
 *-------------------------------------------------------------------------
 */
#include "regime.h"
#include "regime_tuning.h"

uint64_t
regime_bins_bytes(uint64_t range)
{
	uint64_t	slices = round_up(range, REGIME_SLICE_BINS) / REGIME_SLICE_BINS;

	return round_up((slices * REGIME_SLICE_BINS + slices) * sizeof(uint64_t), 256);
}

uint64_t
regime_runs_bytes(uint64_t runs)
{
	/* keys; starts, one more than runs */
	return round_up(runs * sizeof(int32_t), 256) +
		round_up((runs + 1) * sizeof(uint64_t), 256);
}

uint64_t
regime_few_distinct_bytes(const HpsortCudaLimits *limits)
{
	uint64_t	capacity = regime_few_distinct_capacity(limits);

	/* the table in memory, four slots per value, each a key and a 64-bit count; a list of the
	 * slots taken; state */
	return 4 * capacity * (sizeof(uint32_t) + sizeof(uint64_t)) +
		capacity * sizeof(uint32_t) + 1024 + regime_runs_bytes(capacity);
}

/* Returns the bytes that a partition needs beside its residues: sizes and starts of buckets; work
 * items; bins of crowded buckets. */
static uint64_t
partition_rest_bytes(uint64_t n, uint32_t shift, uint32_t buckets)
{
	uint64_t	items = regime_partition_items(n, buckets);
	uint64_t	crowded = regime_partition_crowded(n, buckets);

	return 2 * round_up((uint64_t) (buckets + 1) * sizeof(uint32_t), 256) +
		round_up(items * 4 * sizeof(uint32_t), 256) +
		round_up((crowded << shift) * sizeof(uint32_t), 256) + 4096;
}

/* Returns the bytes of residues in extents: each bucket's own, the further ones, and the table of
 * further ones. */
static uint64_t
extents_bytes(uint64_t n, uint32_t buckets, uint64_t extent)
{
	return round_up((buckets + regime_partition_further(n, extent)) * extent *
					sizeof(uint16_t), 256) +
		round_up(regime_partition_slots(n, extent) * sizeof(uint64_t), 256);
}

uint64_t
regime_partition_bytes(const HpsortCudaLimits *limits, uint64_t n, uint32_t shift,
					   uint32_t buckets)
{
	uint64_t	extent = regime_partition_extent(limits, n, buckets);

	return partition_rest_bytes(n, shift, buckets) + extents_bytes(n, buckets, extent);
}

uint64_t
regime_packed_bytes(uint64_t parts)
{
	/* one more for the sentinel */
	uint64_t	table = round_up((min64(parts, REGIME_PACKED_PARTS) + 1) *
								 REGIME_PACKED_PART_BYTES, 256);

	return parts > REGIME_PACKED_PARTS ? 2 * table : table;
}

uint64_t
regime_sweep_bytes(uint64_t n, uint32_t passes)
{
	/* Counts of the digits of each pass, for every 2^30 items; the look-back's words, one per
	 * digit and tile of 2^30 items; a page for what is small. */
	uint64_t	portions = (n >> 29) + 2;
	uint64_t	items = n < (uint64_t) 1 << 30 ? n : (uint64_t) 1 << 30;
	uint64_t	tiles = items / REGIME_SWEEP_TILE + 1;

	return passes * portions * 256 * sizeof(uint32_t) +
		tiles * 256 * sizeof(uint32_t) + 4096;
}

uint64_t
regime_radix_bytes(uint64_t n, uint32_t value_bytes)
{
	/* Alternate buffers, and ample look-back tables: CUB's tiles are as small as 4,096, and the
	 * workspace of its small kernels has no formula. */
	return n * (sizeof(uint32_t) + value_bytes) + n / 2 + ((uint64_t) 8 << 20);
}

uint64_t
regime_ranks_bytes(uint64_t n)
{
	/* two-byte ranks; a word per row between the passes; what the passes share; where chunks of
	 * rows begin (1 kB for nearly 2^24 rows) */
	return (n + 4) * sizeof(uint16_t) + n * sizeof(uint32_t) +
		regime_sweep_bytes(n, 2) + (n >> 23) * 1024 + 65536;
}

/* Returns whether a job counts its keys.  Such a job keeps no keys unless a permutation is
 * wanted. */
static int
is_narrow(const HpsortCudaLimits *limits, const HpsortCudaSpec *spec)
{
	return spec->bounds_known && spec->hi >= spec->lo &&
		(uint64_t) ((int64_t) spec->hi - (int64_t) spec->lo) <
		regime_shared_bins(limits);
}

/* Returns the most bytes that residues of a partition and the table of their extents can take. */
static uint64_t
most_residues_bytes(uint64_t n)
{
	uint64_t	buckets = PARTITION_MAX_BUCKETS;
	uint64_t	own = n + n / 16 + 128 * buckets;

	/* extents of a tile each; there are either few buckets or many bins in each */
	own = max64(own, min64(buckets * REGIME_PARTITION_SMALL_TILE, 4 * n + EXTENTS_MORE));
	own = max64(own, min64(buckets * REGIME_PARTITION_TILE, 2 * n + EXTENTS_MORE));
	return (own + n) * sizeof(uint16_t) + 4 * buckets * sizeof(uint64_t) + 65536;
}

/* Returns the most workspace of sorting n keys of a range beyond shared memory, by any regime. */
static uint64_t
wide_bytes(const HpsortCudaLimits *limits, uint64_t n)
{
	uint64_t	most;

	most = regime_radix_bytes(n, 0);
	if (n >= PARTITION_MIN_N && n <= PARTITION_MAX_N)
	{
		uint32_t	shift = PARTITION_MAX_SHIFT;

		/* the bins of crowded buckets grow with the bins of a bucket, everything else with the
		 * buckets */
		most = max64(most, most_residues_bytes(n) +
					 max64(partition_rest_bytes(n, shift, PARTITION_MAX_BUCKETS),
						   partition_rest_bytes(n, shift, 1)));
	}
	return most + regime_few_distinct_bytes(limits);
}

/*
 * Returns the most memory of a job.  A job that only counts needs the same for every n.  Any
 * other job holds its keys to the end, and beside them the workspace of sorting or, later, of
 * making runs, whichever is larger.
 */
uint64_t
regime_job_need(const HpsortCudaLimits *limits, const HpsortCudaSpec *spec, uint64_t n)
{
	uint64_t	bins = regime_shared_bins(limits);
	uint64_t	need = regime_bins_bytes(bins) +
		regime_runs_bytes(bins) + 65536;
	uint64_t	sorting;

	/* two slices on the way out, at most 8 bytes an element */
	need += 2 * min64(REGIME_READ_SLICE, round_up(n * sizeof(uint64_t), 256));
	/* packed values; each part of them has at least one key */
	need += regime_packed_bytes(n);
	if (is_narrow(limits, spec) && !(spec->wanted & HPSORT_CUDA_PERMUTATION))
		return need + HPSORT_CUDA_CHUNKS_IN_FLIGHT *
			min64(HPSORT_CUDA_CHUNK_MAX, round_up(n * sizeof(int32_t), 256));

	/* the keys as they came, the sorted keys, and the workspace */
	sorting = round_up(n * sizeof(int32_t), 256) + n * sizeof(int32_t);
	if (spec->wanted & HPSORT_CUDA_PERMUTATION)
		sorting += n * sizeof(uint32_t) +
			max64(regime_ranks_bytes(n),
				  regime_radix_bytes(n, sizeof(uint32_t)) + 2 * n * sizeof(uint32_t));
	else
		sorting += wide_bytes(limits, n);
	sorting += regime_few_distinct_bytes(limits);

	/* making runs from sorted keys, when there are about as many runs as keys */
	if (spec->wanted & HPSORT_CUDA_RUNS)
		sorting = max64(sorting, n * sizeof(int32_t) * 2 + regime_runs_bytes(n) +
						n / 256 + 65536);
	return need + sorting;
}
