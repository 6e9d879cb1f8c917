/*-------------------------------------------------------------------------
 *
 * unpack.cuh
 *	  Packed values into keys.
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
 * Writes the keys of a table, without NULLs, to their places in keys, and widens *bounds
 * by them.  Only puts work on the stream; the table must stay until the stream has come
 * past it.
 */
void		unpack_add(HpsortCuda *context, cudaStream_t stream, const PackedTable &table,
					   int32_t *keys, Bounds *bounds);

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_UNPACK_CUH */
