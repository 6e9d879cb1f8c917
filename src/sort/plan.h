/*
 * plan.h
 *		The plan: which device and algorithm serve a job best, and why.
 *
 * Pure functions of their arguments: no state, no clock, no I/O.  All choices
 * between devices and algorithms are made here, so that a table of inputs tests
 * them.
 */
#ifndef HPSORT_PLAN_H
#define HPSORT_PLAN_H

#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Bins a histogram may have at most: 256 MiB of 4-byte counters, which can
 * still be zeroed or walked within the time a cancel may take.  From far fewer
 * bins on vectorised sorting is faster (see plan_cpu_costs).  The algorithms of the
 * papers have SortContext.algorithm_memory instead, and look for a cancel meanwhile.
 */
#define PLAN_MAX_BINS (UINT64_C(1) << 26)

/* counting_ns is given for 2^0, 2^2, 2^4, ... 2^26 bins. */
#define PLAN_BIN_STEPS 14

/*
 * What work costs on a device, in nanoseconds, measured.  The CPU's table is
 * in plan.c with its measurement; a GPU service measures its own at start.
 */
typedef struct SortDeviceCosts
{
	double		startup_ns;		/* once a job: latency, launches */
	double		transfer_ns;	/* a key to the device, or a key or run back */
	double		counting_ns[PLAN_BIN_STEPS];	/* a key into a histogram */
	double		bin_ns;			/* a bin zeroed and later looked at */
	double		offset_ns;		/* a bin zeroed and made the place of its first key */
	double		run_ns;			/* a run expanded, besides its keys */
	double		expand_ns;		/* a key written in order */
	double		wide_ns;		/* a key in a wide sort, besides ... */
	double		wide_log_ns;	/* ... this times log2(n) */
	double		scatter_ns[PLAN_BIN_STEPS]; /* a row index to its bin's place; transfers included */
	double		pair_ns;		/* a (key, index) pair in a wide sort, transfers included, besides
								 * ... */
	double		pair_log_ns;	/* ... this times log2(n) */
} SortDeviceCosts;

extern const SortDeviceCosts plan_cpu_costs;

typedef struct SortPlanInput
{
	uint64_t	n;				/* keys, so far or in all */
	int32_t		lo;				/* bounds of the keys, found or estimated */
	int32_t		hi;
	SortWant	want;
	SortDeviceKind device;		/* AUTO, or forced */
	SortAlgorithm algorithm;	/* AUTO, or forced */
	size_t		algorithm_memory;	/* of the context; 0: no limit */
	const SortDeviceCosts *gpu; /* NULL when no GPU can be used */
	const char *gpu_reason;		/* why no GPU can be used, for the error; may be NULL */
} SortPlanInput;

typedef enum SortPlanReason
{
	PLAN_NO_KEYS,				/* nothing to sort */
	PLAN_CHEAPEST,				/* by the cost table */
	PLAN_ORDERED,				/* an array in ascending order already */
	PLAN_WIDE,					/* keys of more than 32 bits: sorted where they are */
	PLAN_FEW,					/* too few keys to be worth a choice */
	PLAN_COUNTED,				/* counted or compressed while the sorter fills */
	PLAN_FORCED,				/* hpsort.algorithm */
	PLAN_FALLBACK				/* the GPU was chosen and failed */
} SortPlanReason;

typedef struct SortPlan
{
	SortDeviceKind device;
	SortAlgorithm algorithm;
	SortPlanReason reason;
	uint64_t	n;
	uint64_t	range;			/* hi - lo + 1 */
	double		cost_ns;		/* of this plan, estimated */
	double		other_ns;		/* of the best other algorithm; < 0: none */
	int			threads;		/* of this process that sorted, set by the job; 0: none yet */

	/*
	 * About the GPU, for people: how it sorted, or why it was not used although it might have
	 * paid.  Empty in plan_choose's result; set by job.c and by the callers of plan_choose.
	 */
	char		note[192];
} SortPlan;

/*
 * Chooses device and algorithm.  SORT_UNSUPPORTED when the forced algorithm
 * cannot do the job on any allowed device, SORT_MEMORY_LIMIT when it needs too much
 * memory, SORT_DEVICE_UNAVAILABLE when the forced device is not there; all with
 * message and detail.
 */
extern SortStatus plan_choose(const SortPlanInput *input, SortPlan *plan, SortError *err);

/*
 * Whether a GPU might be cheaper than the CPU, so that it pays to ask for its
 * costs, which connects to the GPU service, or starts one.  Always when device
 * "gpu" is forced.  in->gpu is not looked at.
 */
extern bool plan_asks_gpu(const SortPlanInput *in);

/*
 * Whether a GPU that has n rows of ncolumns packed columns in its own memory makes their keys, of
 * which there are range different ones, in less time than the CPU needs for the columns in the
 * server's memory.  Keys are counted, and their runs come to the CPU (njobs is 0), or each of njobs
 * jobs leaves them on the GPU in order, while some of them are looked up.  ordered: the CPU would
 * have to put values in order, too.  The rows are divided among so many devices.  gpu has the costs
 * of each; NULL: as far as any GPU might, so that it pays to ask for its costs.
 */
extern bool plan_rows_pay(const SortDeviceCosts *gpu, uint64_t n, int ncolumns, uint64_t range,
						  int njobs, bool ordered, uint32_t devices);

/*
 * Whether a sorter that has n keys, and more to come, should count them into
 * a histogram of range bins now, and not keep them as keys.
 */
extern bool plan_fills_dense(uint64_t n, uint64_t range, SortAlgorithm algorithm);

/* Notes in a plan for the CPU that a GPU was to sort, and its words for the failure. */
extern void plan_fall_back(SortPlan *plan, const char *words);

/*
 * One phrase that says why, for people; at most size bytes with its NUL.  Without
 * values it leaves out the numbers that depend on what the keys are: the range, the
 * times expected of it, and what a GPU found.
 */
extern void plan_explain(const SortPlan *plan, bool values, char *text, size_t size);

/* hi - lo + 1 without overflow. */
static inline uint64_t
plan_range(int32_t lo, int32_t hi)
{
	return (uint64_t) ((int64_t) hi - lo) + 1;
}

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_PLAN_H */
