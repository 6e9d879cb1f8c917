/*-------------------------------------------------------------------------
 *
 * calls.cuh
 *	  Calls in the benches on a GPU, of the runtime and of the engine: one that
 *	  fails says where, and ends the program.
 *
 * ENGINE wants the caller's HpsortCudaError by the name err.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_BENCH_CALLS_CUH
#define HPSORT_BENCH_CALLS_CUH

#include <cstdio>
#include <cstdlib>

#define CUDA(call) \
	do { \
		cudaError_t rc_ = (call); \
		if (rc_ != cudaSuccess) \
		{ \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
					cudaGetErrorString(rc_)); \
			exit(1); \
		} \
	} while (0)

#define ENGINE(call) \
	do { \
		if ((call) != HPSORT_CUDA_OK) \
		{ \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, err.text); \
			exit(1); \
		} \
	} while (0)

/* Returns the driver's version, as 13000 for 13.0. */
inline int
driver_version(void)
{
	int			version = 0;

	CUDA(cudaDriverGetVersion(&version));
	return version;
}

#endif							/* HPSORT_BENCH_CALLS_CUH */
