/*-------------------------------------------------------------------------
 *
 * packed_rows.cuh
 *	  Keys of packed values, and of rows of several packed columns.
 *
 * For packed.cu, which adds both to a job.  Knows tables of parts, and neither jobs nor where the
 * columns come from.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PACKED_ROWS_CUH
#define HPSORT_CUDA_PACKED_ROWS_CUH

#include <vector>

#include "common/keys.cuh"
#include "common/packed_parts.cuh"
#include "histogram/shared_histogram.cuh"

namespace hpsort
{

/*
 * Writes the keys of all parts of a table, NULLs left out, to the places in keys that the parts
 * name, and widens *bounds by the keys.  keys and bounds are device memory.  The call only puts
 * work on the stream, so the table must stay until the stream has come past this work.
 */
void		unpack_add(HpsortCuda *context, cudaStream_t stream, const PackedTable &table,
					   int32_t *keys, Bounds *bounds);

/* What kernels find out about rows.  In device memory, zeroed before the first kernel. */
struct RowCounts
{
	unsigned long long kept;	/* rows that have passed all conditions */
	uint32_t	n_outside;		/* not 0: there was a value outside the layout */
	int32_t		value;			/* one of these values */
};

/*
 * A table of parts of rows, cut into tiles of packed_tile_values rows.  parts[i].first is the
 * number i of the part.  Its columns, each a PackedPart of as many rows, lie behind the sentinel:
 * all columns of part 0, then all columns of part 1, and so on.  The starts of columns are not
 * used.
 */
struct RowTable
{
	PackedTable parts;
	const HpsortCudaRange *ranges;	/* the layout's ranges, in device memory */
	RowCounts  *counts;
};

/*
 * Writes the keys of rows that pass all conditions to keys, and widens *bounds by them.  Without
 * conditions, a key goes to its row's place (PackedPart.position()).  With conditions, keys go
 * behind the counts->kept keys that are there, in any order.  Only puts work on the stream; the
 * table must stay until the stream has come past it.
 */
void		rows_add(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
					 const HpsortCudaRows &layout, int32_t *keys, Bounds *bounds);

/*
 * Counts the keys of rows that pass all conditions into bins, and adds their number to
 * counts->kept.  Only puts work on the stream; the table must stay until the stream has come past
 * it.
 */
void		rows_count(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
					   const HpsortCudaRows &layout, const Bins &bins);

/*
 * How many keys each group of 2^bits neighbouring ones has, and what their distances from the
 * group's first one add up to.  Groups are counted from the first key of the map, which ascends.
 * A key outside the map is noted in the RowCounts.
 */
struct KeyGroups
{
	DeviceBuffer memory;		/* the counts of all groups, and behind them the sums */
	KeyMap		map;
	uint32_t	bits;

	/* set by read(), on the host, for each group and the end of all */
	std::vector<uint64_t> keys_before;
	std::vector<uint64_t> sums_before;	/* of these keys, modulo 2^64 */

	uint32_t	groups() const { return (map.last >> bits) + 1; }
	unsigned long long *counts() const { return memory.as<unsigned long long>(); }
	unsigned long long *sums() const { return counts() + groups(); }

	/* whether shared memory has room for the groups */
	static bool fit(const HpsortCudaLimits &limits, const KeyMap &map, uint32_t bits);
	/* allocates and zeroes counts and sums */
	KeyGroups(HpsortCuda *context, cudaStream_t stream, const KeyMap &map, uint32_t bits);
	/* Adds keys, or those of rows that pass all conditions, whose number is added to counts->kept.
	 * Both only put work on the stream; keys and table must stay until the stream has come past
	 * it. */
	void		add_keys(cudaStream_t stream, const int32_t *keys, uint64_t n, RowCounts *found);
	void		add_rows(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
						 const HpsortCudaRows &layout);
	/* brings counts and sums to the host, and waits for them */
	void		read(cudaStream_t stream);
};

/* Raises the shared memory limits of this file's kernels; once per device. */
void		configure_packed_rows(const HpsortCudaLimits &limits);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PACKED_ROWS_CUH */
