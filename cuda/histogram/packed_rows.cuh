/*-------------------------------------------------------------------------
 *
 * packed_rows.cuh
 *	  Keys of rows of several packed columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_PACKED_ROWS_CUH
#define HPSORT_CUDA_PACKED_ROWS_CUH

#include "common/keys.cuh"
#include "common/packed_parts.cuh"
#include "histogram/shared_histogram.cuh"

namespace hpsort
{

/* What kernels find out about rows, in device memory, zeroed before the first. */
struct RowCounts
{
	unsigned long long kept;	/* rows that have passed */
	uint32_t	n_outside;		/* not 0: there was a value that the layout does not expect */
	int32_t		value;			/* that value */
};

/*
 * A table of parts of rows: parts[i].first is the number of the part, and its columns, each a
 * PackedPart of the same number of rows, lie behind the sentinel, those of the first part first.
 * Their starts mean nothing.  Tiles are of packed_tile_values rows.
 */
struct RowTable
{
	PackedTable parts;
	const HpsortCudaRange *ranges;	/* of the layout, in device memory */
	RowCounts  *counts;
};

/*
 * Writes the keys of rows to keys, and widens *bounds by them: without conditions to the place of
 * each (PackedPart.position), else in any order behind those that counts->kept says are there.
 * Only puts work on the stream; the table must stay until the stream has come past it.
 */
void		rows_add(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
					 const HpsortCudaRows &layout, int32_t *keys, Bounds *bounds);

/* Counts the keys of rows into bins. */
void		rows_count(HpsortCuda *context, cudaStream_t stream, const RowTable &table,
					   const HpsortCudaRows &layout, const Bins &bins);

void		configure_packed_rows(const HpsortCudaLimits &limits);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_PACKED_ROWS_CUH */
