/*-------------------------------------------------------------------------
 *
 * unpack.cuh
 *	  Unpacking: packed values into keys.
 *
 * For packed.cu and histogram/packed_rows.cu, whose jobs keep their keys.  Knows tables of parts
 * (packed_parts.cuh), and neither jobs nor regimes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_UNPACK_CUH
#define HPSORT_CUDA_UNPACK_CUH

#include "common/keys.cuh"
#include "common/packed_parts.cuh"

namespace hpsort
{

/*
 * Writes the keys of all parts of a table, NULLs left out, to the places in keys that the parts
 * name, and widens *bounds by the keys.  keys and bounds are device memory.  The call only puts
 * work on the stream, so the table must stay until the stream has come past this work.
 */
void		unpack_add(HpsortCuda *context, cudaStream_t stream, const PackedTable &table,
					   int32_t *keys, Bounds *bounds);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_UNPACK_CUH */
