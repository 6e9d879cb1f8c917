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
#include "data.h"
#include "published_now.cuh"

using namespace papers;

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
static const uint64_t most_host = most_keys;

/* Makes data on the device, into keys. */
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

/* Says that what has been measured last is wrong, so that it is not written. */
extern void spoil(void);

/* One measured point. */
extern void emit(const char *paper, const std::string &figure,
				 const std::string &data, uint64_t n, const std::string &series,
				 double ms);

/*
 * Contestants over data in keys; bounds are lo .. lo + range - 1, range 0: not given.
 * A call with from_host begins and ends in pinned host memory.
 */
struct Bounds
{
	uint64_t	range;
	int32_t		lo;
};

/* The bounds, and bits, that a peer can be told. */
static inline Bounds
bounds_of(const Data &data)
{
	return {data.range, data.lo};
}
extern int	bits_of(const Bounds &bounds);

/* As published, or with options; peak: bytes of device memory besides keys and result. */
extern HpsortPublishedSpec published_spec(HpsortPublished algorithm,
										  const Bounds &bounds);
extern double published(const HpsortPublishedSpec &spec, uint64_t n,
						HpsortPublishedReport *report = nullptr,
						uint64_t *peak = nullptr);
extern double published_from_host(const HpsortPublishedSpec &spec, uint64_t n);
extern double engine(uint64_t n, const Bounds &bounds);
/* The stable permutation, alone and as CUB's pairs of keys and row numbers. */
extern double engine_permutation(uint64_t n, const Bounds &bounds);
extern double cub_pairs(uint64_t n, int bits, bool floats = false);
extern double cub_keys(uint64_t n, int bits);
extern double cub_floats(uint64_t n);
extern double cub_from_host(uint64_t n, bool floats);
extern double thrust_keys(uint64_t n);

/* On one CPU thread, from the keys on the device; the copy is not timed. */
extern double std_sort(uint64_t n, bool floats);
extern double vqsort_one(uint64_t n);
extern double on_host(uint64_t n, bool floats, const char *what,
					  const std::function<void(uint32_t *, uint64_t)> &sort);
/* Makes rows 0, 1, 2 ... again, where they were used for something else. */
extern void number_rows(void);
extern void emit_phases(const char *paper, const std::string &figure,
						const std::string &data, uint64_t n,
						const HpsortPublishedReport &report);

/* The same without a time, from keys to out, for callers with their own clock. */
extern void cub_sort_once(uint64_t n, bool floats);

/* The figures, by paper. */
extern void hp_figures(void);
extern void zhang_wu_figures(void);
extern void comparison_free_figures(void);
extern void chen_figures(void);
extern void gpus_figures(void);

#endif							/* HPSORT_BENCH_PAPERS_CUH */
