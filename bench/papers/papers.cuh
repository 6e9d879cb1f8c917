/*-------------------------------------------------------------------------
 *
 * papers.cuh
 *	  What the benches of the papers' figures share: time, data, peers, CSV.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_BENCH_PAPERS_CUH
#define HPSORT_BENCH_PAPERS_CUH

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "../gpu/calls.cuh"
#include "published/published.h"

extern HpsortCuda *context;
extern HpsortCudaError err;
extern cudaStream_t stream;

/* Device arrays, large enough for everything measured. */
extern uint32_t *keys;
extern uint32_t *out;
extern uint32_t *rows;
extern uint32_t *rows_out;

/* Pinned, of most_host elements each. */
extern uint32_t *host_in;
extern uint32_t *host_out;
static const uint64_t most_keys = (uint64_t) 1 << 28;
static const uint64_t most_host = (uint64_t) 1 << 26;

/* The papers' data, made on the device into keys. */
enum Shape
{
	PERMUTATION,				/* different values of 0 .. range - 1 */
	UNIFORM_RANGE,				/* uniform over 0 .. range - 1 */
	INTERVAL,					/* uniform over the len largest of them */
	ARBITRARY,					/* uniform over len of them, anywhere */
	REVERSED_ORDER,				/* range - 1 downwards, in equal steps */
	NEARLY_SORTED,				/* upwards, each up to 16 places off */
	GAUSSIAN,					/* mean range / 2, deviation range / 8 */
	FLAT,
	FULL_RANGE,					/* 32 random bits */
	FLOAT_UNIFORM,				/* of 0 .. 1 */
	FLOAT_GAUSSIAN,
	FLOAT_NEARLY				/* as NEARLY_SORTED, over 7 */
};

struct Data
{
	Shape		shape;
	uint64_t	n;
	uint64_t	range;
	uint64_t	len;
};

extern void make(const Data &data);

/*
 * Median time in ms of work between two events; before runs untimed first each
 * time.  L2 is cold.  Fewer repetitions where one takes long.
 */
extern double time_gpu(const std::function<void()> &work,
					   const std::function<void()> &before = nullptr);
/* The same by the host's clock; L2 and the host's caches as they are. */
extern double time_host(const std::function<void()> &work,
						const std::function<void()> &before = nullptr);

/* Every result is looked at: order, and an order-independent sum. */
extern void check_result(uint64_t n, bool floats, const char *what);
extern void check_host(const uint32_t *sorted, uint64_t n, bool floats,
					   const char *what);

/* One measured point. */
extern void emit(const char *paper, const std::string &figure,
				 const std::string &data, uint64_t n, const std::string &series,
				 double ms);

/* Contestants over data in keys; bounds are 0 .. range - 1, 0: not given. */
extern double published(HpsortPublished algorithm, uint64_t n, uint64_t range,
						HpsortPublishedReport *report = nullptr);
extern double engine(uint64_t n, uint64_t range);
extern double cub_keys(uint64_t n, int bits);
extern double cub_floats(uint64_t n);
extern double cub_pairs(uint64_t n);
extern double thrust_keys(uint64_t n);
extern int	bits_of(uint64_t range);

/* The same without a time, from keys to out, for callers with their own clock. */
extern void cub_sort_once(uint64_t n, bool floats);

/* The figures, by paper. */
extern void hp_figures(void);
extern void zhang_wu_figures(void);
extern void comparison_free_figures(void);
extern void chen_figures(void);
extern void gpus_figures(void);

#endif							/* HPSORT_BENCH_PAPERS_CUH */
