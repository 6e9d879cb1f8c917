/*-------------------------------------------------------------------------
 *
 * gpubench.cuh
 *	  What the parts of gpubench share: one device, one way to time, one
 *	  set of arrays, and the peer.
 *
 * gpubench.cu owns all of it and has the rows with targets; gpubench_grid.cu has
 * the grid, gpubench_packed.cu packed values.  All time with measure(), so that their
 * numbers compare.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_GPUBENCH_CUH
#define HPSORT_GPUBENCH_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "calls.cuh"
#include "generate.cuh"
#include "hpsort_cuda.h"
#include "sort_now.cuh"

/* Room for 1e8 keys each; rows_in holds row numbers as CUB wants them. */
extern HpsortCuda *context;
extern HpsortCudaError err;
extern HpsortCudaVerdict *verdict;
extern cudaStream_t stream;
extern int32_t *keys;
extern int32_t *out;
extern uint32_t *rows_in;
extern uint32_t *rows_out;
extern FILE *csv;
extern int	repetitions;

/* Median of the repetitions, in milliseconds. */
double		measure(const std::function<void()> &work);

/* The peer, given its workspace and its row numbers; bits: end_bit. */
double		cub_keys(uint64_t n, int bits);
double		cub_pairs(uint64_t n, int bits);

/* Bits that tell keys of [0, range) apart, as CUB's end_bit: 1 to 32. */
int			bits_of(uint64_t range);

/* Order and an order-independent sum, so that no wrong sort is ever timed. */
void		check_sorted(uint64_t n, const char *what);
/* Rows in order, and equal keys in the order they came. */
void		check_rows(uint64_t n, const char *what);

/* Whether a row is not among those asked for. */
bool		skip(const std::string &row);

/* gpubench_grid.cu; whether no row is slower. */
bool		grid_never_slower(void);

/* gpubench_packed.cu. */
void		packed_rows(void);
void		packed_row_keys(void);

/* gpubench_grid.cu: what each kernel family is worth, row by row. */
void		grid_without_families(void);

#endif							/* HPSORT_GPUBENCH_CUH */
