/*-------------------------------------------------------------------------
 *
 * hpsort_cuda.h
 *	  The GPU engine: 0-compressed histogram and prefix-sum (H-P) sorting of int32 keys on NVIDIA
 *	  GPUs, behind a plain C interface.
 *
 * This is the only header of cuda/ that other rooms include; the GPU service (src/gpud) calls it.
 * It knows keys, bounds, runs and devices.  It does not know PostgreSQL, sockets or processes.
 *
 * The method is that of Kozakai, Fujimoto and Wada, "Efficient GPU-Implementation for Integer
 * Sorting Based on Histogram and Prefix-Sums", 2021, Algorithm 5 (0-compressed H-P): histogram,
 * prefix sums over the bins that occur, expansion.  Here the expansion is divided by output, so
 * it needs neither the second histogram of the paper nor its prefix sum over n elements.
 *
 * Conventions:
 *
 * - Every function that can fail returns an HpsortCudaCode and fills *err (err may be NULL).  No
 *   exception and no signal leaves the library.
 * - Counts and sizes are 64-bit.  Sizes are bytes, everything else is keys.
 * - A context belongs to one device (by ordinal) and may be used by several threads at once.  A
 *   job belongs to one thread at a time; any thread may call hpsort_cuda_job_cancel().
 * - On return the calling thread's current device, or the fact that it has none yet, is
 *   unchanged.  No context is created on a device other than the one named.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_H
#define HPSORT_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------
 */
typedef enum HpsortCudaCode
{
	HPSORT_CUDA_OK = 0,
	HPSORT_CUDA_BAD_ARGUMENT,	/* the caller broke this header's contract */
	HPSORT_CUDA_OUT_OF_BOUNDS,	/* a key lies outside the given bounds */
	HPSORT_CUDA_NO_MEMORY,		/* the pool's limit or the device is full */
	HPSORT_CUDA_NO_DEVICE,		/* no driver, no such ordinal, too old */
	HPSORT_CUDA_CANCELLED,		/* hpsort_cuda_job_cancel() was called */
	HPSORT_CUDA_FAILED,			/* a CUDA call failed; see cuda_error */
	HPSORT_CUDA_DUPLICATE		/* a key occurs twice where none may */
} HpsortCudaCode;

/*
 * An error.  text is lower case, without a final period, and never empty.  sticky is 1 if the
 * device's CUDA context of this process is lost (illegal address, hardware fault, ...): every
 * later call fails, too, and only a new process helps.  After any other error the context and its
 * other jobs go on.
 */
typedef struct HpsortCudaError
{
	HpsortCudaCode code;
	int			cuda_error;		/* cudaError_t, 0 if CUDA was not involved */
	int			sticky;
	int32_t		key;			/* OUT_OF_BOUNDS, DUPLICATE: a key with the fault */
	uint64_t	need;			/* NO_MEMORY: bytes asked for */
	char		text[256];
} HpsortCudaError;

/* ------------------------------------------------------------------------
 * What is wanted, and how it is done
 * ------------------------------------------------------------------------
 */
#define HPSORT_CUDA_RUNS		1u	/* (key, count), keys strictly ascending */
#define HPSORT_CUDA_KEYS		2u	/* all keys in order */
#define HPSORT_CUDA_PERMUTATION	4u	/* stable: row index of each position */

/*
 * What is wanted of a sort.
 *
 * - n_hint: the expected number of keys (0: unknown).  Exceeding it costs a device-to-device
 *   copy, never an error.
 * - distinct_hint: an estimate of the number of distinct keys (0: unknown).  It saves a sample; a
 *   wrong one costs time only.
 * - bounds_known: lo and hi (inclusive) are a promise of the caller.  A key outside is an error
 *   that names the key.  Without bounds_known, lo and hi are ignored and found on the device.
 * - wanted: a set of the HPSORT_CUDA_* bits above.
 * - algorithm: for jobs; 0 leaves the choice to the engine (see HPSORT_PUBLISHED_JOB() in
 *   published.h).
 * - counted: for jobs; keys are counted if their bins fit, though passes over their bits may be
 *   faster.
 * - without: a set of HPSORT_CUDA_WITHOUT bits, for tests and to measure what a regime is worth;
 *   0 leaves the engine every choice.
 * - float_images: the keys stand for float4 (HPSORT_PUBLISHED_FLOAT4_IMAGE in published.h).  An
 *   algorithm that uses distances between keys then uses distances between the numbers; all
 *   others sort the integers.
 */
typedef struct HpsortCudaSpec
{
	uint64_t	n_hint;
	uint64_t	distinct_hint;
	int32_t		lo;
	int32_t		hi;
	int			bounds_known;
	int			descending;		/* the permutation's direction */
	uint32_t	wanted;
	int			algorithm;
	int			counted;
	uint32_t	without;
	int			float_images;
} HpsortCudaSpec;

/* The ways to sort; see docs/internals/gpu-engine.md. */
typedef enum HpsortCudaRegime
{
	HPSORT_CUDA_NOTHING = 0,	/* n = 0: nothing to sort */
	HPSORT_CUDA_SHARED_HISTOGRAM,	/* all bins in shared memory */
	HPSORT_CUDA_PARTITION,		/* buckets first, then bins per bucket */
	HPSORT_CUDA_FEW_DISTINCT,	/* distinct values hashed in shared memory */
	HPSORT_CUDA_RADIX,			/* stable passes over the keys' bits */
	HPSORT_CUDA_REGIMES,		/* number of regimes that can be chosen */
	HPSORT_CUDA_PUBLISHED = HPSORT_CUDA_REGIMES /* in a job's result: an algorithm asked for by
												 * name */
} HpsortCudaRegime;

/* RADIX: the kernels that make its passes. */
typedef enum HpsortCudaKernels
{
	HPSORT_CUDA_LIBRARY = 0,	/* CUB's: positions of more than 32 bits */
	HPSORT_CUDA_ONE_LAUNCH,		/* all passes in one launch of several blocks */
	HPSORT_CUDA_BIN_ROWS,		/* rows alone, by bins of at most 16 bits */
	HPSORT_CUDA_MANY_KEYS		/* whole keys, or whole keys and rows, in each pass */
} HpsortCudaKernels;

/* For HpsortCudaSpec.without: a regime, or kernels of RADIX, that must not be chosen.  RADIX
 * itself, LIBRARY and MANY_KEYS cannot be left out: they take what no other can. */
#define HPSORT_CUDA_WITHOUT(regime)				(1u << (regime))
#define HPSORT_CUDA_WITHOUT_KERNELS(kernels)	(1u << (16 + (kernels)))

/* What the choice and the size arithmetic need to know about a device. */
typedef struct HpsortCudaLimits
{
	uint32_t	sms;			/* multiprocessors */
	uint32_t	shared_bytes;	/* shared memory one block may opt in to */
	uint64_t	memory_bytes;	/* device memory */
} HpsortCudaLimits;

/*
 * Returns an upper bound of the device memory, in bytes, that a job of n keys has allocated at
 * any moment, whatever its keys are.  n overrides spec->n_hint.  Pure, in regime_memory.c.
 *
 * - If the hint given to hpsort_cuda_job_open() is smaller than the real n, buffers grow by
 *   doubling, and the bound does not hold.
 * - If the job only counts (bounds given, narrow range, no permutation), chunks given from host
 *   memory add their size until they are consumed.  The bound includes
 *   HPSORT_CUDA_CHUNKS_IN_FLIGHT chunks of HPSORT_CUDA_CHUNK_MAX bytes for this.
 * - The bound is for the engine's own regimes; published.h has one for spec->algorithm.
 */
#define HPSORT_CUDA_CHUNK_MAX			((uint64_t) 16 << 20)
#define HPSORT_CUDA_CHUNKS_IN_FLIGHT	4
extern uint64_t hpsort_cuda_job_need(const HpsortCudaLimits *limits,
									 const HpsortCudaSpec *spec, uint64_t n);

/* ------------------------------------------------------------------------
 * Devices and contexts
 * ------------------------------------------------------------------------
 */
typedef struct HpsortCuda HpsortCuda;

/* What hpsort_cuda_device_info() says of a device; memory in bytes. */
typedef struct HpsortCudaDeviceInfo
{
	int			ordinal;
	char		name[256];
	int			major;			/* compute capability */
	int			minor;
	int			driver_version;	/* as in cudaDriverGetVersion: 13000 = 13.0 */
	int			runtime_version;
	int			cub_version;	/* as CUB_VERSION: 300001 = 3.0.1 */
	uint64_t	memory_total;
	uint64_t	memory_free;	/* at the time of the call */
	HpsortCudaLimits limits;
} HpsortCudaDeviceInfo;

/* Sets *count to the number of usable devices: 0, with HPSORT_CUDA_OK, if there is no driver. */
extern HpsortCudaCode hpsort_cuda_device_count(int *count, HpsortCudaError *err);

/* Describes a device.  Creates its CUDA context in this process, as hpsort_cuda_open() does. */
extern HpsortCudaCode hpsort_cuda_device_info(int ordinal,
											  HpsortCudaDeviceInfo *info,
											  HpsortCudaError *err);

/*
 * Open and close a device.  memory_limit is in bytes; 0 is no limit but the device's.  The first
 * open of a device in a process creates its CUDA context (0.3 s and half a gigabyte of device
 * memory on an H100).  All jobs must be closed before their context is.
 */
extern HpsortCudaCode hpsort_cuda_open(int ordinal, uint64_t memory_limit,
									   HpsortCuda **context,
									   HpsortCudaError *err);
extern void hpsort_cuda_close(HpsortCuda *context);

/* Sets the memory limit in bytes (0: the device's).  A limit lower than what is in use lets
 * running jobs go on. */
extern void hpsort_cuda_set_memory_limit(HpsortCuda *context, uint64_t bytes);

/* Return the bytes in use, and the most since open or since the last call with reset_peak.  used
 * and peak may be NULL. */
extern void hpsort_cuda_memory(HpsortCuda *context, uint64_t *used,
							   uint64_t *peak, int reset_peak);

/* Gives memory that the pool keeps for reuse back to the device. */
extern HpsortCudaCode hpsort_cuda_trim(HpsortCuda *context, HpsortCudaError *err);

/*
 * Host memory that the device reads at full speed, for chunks and results.  alloc and free are
 * cudaMallocHost() and its counterpart; pin registers memory of the caller until the process ends,
 * for shared memory areas.
 */
extern HpsortCudaCode hpsort_cuda_pinned_alloc(HpsortCuda *context, size_t bytes,
											   void **memory,
											   HpsortCudaError *err);
extern void hpsort_cuda_pinned_free(HpsortCuda *context, void *memory);
extern HpsortCudaCode hpsort_cuda_pin(HpsortCuda *context, void *memory,
									  size_t bytes, HpsortCudaError *err);

/*
 * Where kernels report keys outside the bounds: pinned memory, written by kernels, valid once the
 * stream has come past them.  If n_outside is not 0, key is one of the keys outside, and the
 * output is undefined (but nothing outside the output is written).
 */
typedef struct HpsortCudaVerdict
{
	uint32_t	n_outside;		/* 0: all keys within bounds; else >= 1 */
	int32_t		key;
	uint64_t	distinct;		/* runs written */
} HpsortCudaVerdict;

/* ------------------------------------------------------------------------
 * Jobs: keys arrive in chunks, the result is read in parts
 * ------------------------------------------------------------------------
 */
typedef struct HpsortCudaJob HpsortCudaJob;

/* What hpsort_cuda_job_finish() says of a job; reason is one line for a person. */
typedef struct HpsortCudaResult
{
	uint64_t	n;				/* keys added */
	uint64_t	distinct;		/* number of runs; 0 when not known yet */
	int32_t		lo;				/* smallest and largest key present (n > 0) */
	int32_t		hi;
	HpsortCudaRegime regime;
	char		reason[160];
} HpsortCudaResult;

/*
 * Opens a job.  Fails with NO_MEMORY at once if n_hint is given and the job's need exceeds what
 * the limit leaves.  Only allocated memory counts as used, not what other open jobs are going to
 * need; a later call may therefore still find too little.  A job has two streams of its own, so
 * that chunks cross the bus while earlier ones are counted, and jobs of one context run beside
 * each other.
 */
extern HpsortCudaCode hpsort_cuda_job_open(HpsortCuda *context,
										   const HpsortCudaSpec *spec,
										   HpsortCudaJob **job,
										   HpsortCudaError *err);

/*
 * Adds n keys from host memory (pinned or not) or from memory of the job's device.  The keys must
 * be complete when this is called.  Returns before they are consumed, and stores the call's
 * number in *number (calls count from 1; number may be NULL).
 *
 * - Pinned and device memory may be reused when hpsort_cuda_job_consumed() reports at least this
 *   number.  After an error, pinned memory may be in use until the job is closed.
 * - Unpinned host memory may be reused on return.
 *
 * An error of add or finish other than BAD_ARGUMENT is final: it is not known how many of the
 * keys were taken, and both refuse the job from then on.
 */
extern HpsortCudaCode hpsort_cuda_job_add(HpsortCudaJob *job,
										  const int32_t *keys, uint64_t n,
										  uint64_t *number,
										  HpsortCudaError *err);

/* ------------------------------------------------------------------------
 * Packed values that stay on the device, as keys of any number of jobs
 * ------------------------------------------------------------------------
 */

/* Values in memory of a context's device.  They belong to the context and not to the job that
 * brought them, and count against the context's limit until they are freed. */
typedef struct HpsortCudaPacked HpsortCudaPacked;

/* Consecutive packed values: n of them, from value first on. */
typedef struct HpsortCudaPiece
{
	const HpsortCudaPacked *packed;
	uint32_t	first;
	uint32_t	n;
} HpsortCudaPiece;

/*
 * Copies n values to the device and returns them in *packed.  A value is base plus an unsigned
 * distance of width bytes (1, 2 or 4), aligned to the width; a sum beyond int32 wraps around.
 * values are read as hpsort_cuda_job_add() reads its keys, on the job's stream, and the call has
 * a number of the same sequence.
 *
 * nulls has a bit for each value, from the lowest bit of the first byte on: 1 is a NULL.  It is
 * host memory and has been read on return.  NULL means that no value is NULL.  The host keeps the
 * bits, and half as much again, to know how many keys pieces have.
 *
 * Any job of the context may be given the result as soon as this has returned; its stream waits
 * for the copy if it must.  NO_MEMORY leaves the job as it was.
 */
extern HpsortCudaCode hpsort_cuda_job_keep(HpsortCudaJob *job, const void *values,
										   const uint8_t *nulls, uint32_t n, int width,
										   int32_t base, HpsortCudaPacked **packed,
										   uint64_t *number, HpsortCudaError *err);

/*
 * Frees packed values, at any time before hpsort_cuda_close(), but not during a call that is
 * given them.  They count as free on return, and the caller waits for nothing: the memory goes
 * back in stream order, behind an event of each job that has been given packed values.
 */
extern void hpsort_cuda_packed_free(HpsortCudaPacked *packed);

/*
 * A layout makes one key of each row of several columns of packed values: base, and for each
 * column the distance of its value from lo, times stride, or what a NULL adds; all modulo 2^32.
 * Only rows pass, and have a key, whose value of each column with a condition is in one of its
 * ranges, which ascend, or NULL if NULLs pass.  A value of a column in the key that is farther
 * from lo than last, and a NULL without NULL_IN_KEY, is out of bounds in a row that passes.
 */
#define HPSORT_CUDA_ROWS_COLUMNS		8
#define HPSORT_CUDA_ROWS_IN_KEY			1u
#define HPSORT_CUDA_ROWS_NULL_IN_KEY	2u
#define HPSORT_CUDA_ROWS_FILTERED		4u
#define HPSORT_CUDA_ROWS_NULLS_PASS		8u

typedef struct HpsortCudaRange
{
	int32_t		lo;
	int32_t		hi;
} HpsortCudaRange;

typedef struct HpsortCudaRowsColumn
{
	int32_t		lo;
	uint32_t	last;
	uint32_t	stride;
	uint32_t	null_adds;
	uint32_t	flags;
	uint32_t	first_range;	/* of its condition, among all */
	uint32_t	nranges;
	uint32_t	zero;
} HpsortCudaRowsColumn;

typedef struct HpsortCudaRows
{
	uint32_t	ncolumns;		/* at most HPSORT_CUDA_ROWS_COLUMNS */
	uint32_t	nranges;
	uint32_t	base;
	uint32_t	filtered;		/* whether there is a condition */
	HpsortCudaRowsColumn columns[HPSORT_CUDA_ROWS_COLUMNS];
} HpsortCudaRows;

/*
 * Give rows a layout, once, when all other keys have been added: hpsort_cuda_job_add() is refused
 * from then on.  For jobs that are sorted in the engine's own way, without a permutation.
 */
extern HpsortCudaCode hpsort_cuda_job_rows(HpsortCudaJob *job, const HpsortCudaRows *layout,
										   const HpsortCudaRange *ranges, HpsortCudaError *err);

/*
 * Add the keys of rows: pieces has one piece of each column of the layout, of the same length,
 * nparts times.  Without a layout there is one column, whose values are the keys, in the order of
 * the pieces and of their values, NULLs left out.  Pieces may overlap.  *nkeys (may be NULL) are
 * the keys that have been added; of a layout with conditions, the most that there can be:
 * hpsort_cuda_job_finish() knows how many there are, and reports values out of the layout's bounds.
 *
 * Returns before the values are read, which nothing but hpsort_cuda_job_finish() waits for; pieces
 * may be changed on return.  Errors are as those of hpsort_cuda_job_add(), except that
 * the same may be tried again after NO_MEMORY: unless the job is refused then, it is as before.
 */
extern HpsortCudaCode hpsort_cuda_job_add_rows(HpsortCudaJob *job, const HpsortCudaPiece *pieces,
											   uint32_t nparts, uint64_t *nkeys,
											   HpsortCudaError *err);

/* Sets *number to the highest number whose keys are no longer needed.  wait != 0: waits for all
 * calls. */
extern HpsortCudaCode hpsort_cuda_job_consumed(HpsortCudaJob *job, int wait,
											   uint64_t *number,
											   HpsortCudaError *err);

/* Ends adding, sorts, and returns when the result is ready to be read.  OUT_OF_BOUNDS names a key
 * outside the given bounds. */
extern HpsortCudaCode hpsort_cuda_job_finish(HpsortCudaJob *job,
											 HpsortCudaResult *result,
											 HpsortCudaError *err);

/*
 * Read count elements from position first on into host or device memory.  They return when the
 * destination is complete, may be called repeatedly and in any order, and need the matching bit
 * of spec->wanted.
 *
 * - runs: keys ascending and their counts; either destination may be NULL.  Positions are run
 *   numbers, 0 to distinct - 1.  After a job that ended with sorted keys (PARTITION, RADIX), the
 *   first call makes the runs, and so does hpsort_cuda_job_distinct().
 * - keys: in the direction asked for here, whatever spec->descending says.
 * - at: the keys at count positions of the ascending order.  Positions may be in any order and
 *   repeated.  Positions and keys are in host memory.  Either runs or keys must be wanted.
 * - below: for each of count keys, in any order, how many keys of the job are smaller.  Both
 *   arrays are in host memory.  Either runs or keys must be wanted.
 * - permutation: row indexes, counted from 0 in the order of adding; equal keys keep their order.
 *   Rows are numbered in 32 bits: a permutation of more than 2^32 - 1 rows is refused with
 *   BAD_ARGUMENT.
 */
extern HpsortCudaCode hpsort_cuda_job_distinct(HpsortCudaJob *job,
											   uint64_t *distinct,
											   HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_runs(HpsortCudaJob *job,
												uint64_t first, uint64_t count,
												int32_t *keys, uint64_t *counts,
												HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_keys(HpsortCudaJob *job,
												uint64_t first, uint64_t count,
												int descending, int32_t *keys,
												HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_at(HpsortCudaJob *job,
											  const uint64_t *positions,
											  uint64_t count, int32_t *keys,
											  HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_below(HpsortCudaJob *job,
												 const int32_t *keys,
												 uint64_t count, uint64_t *positions,
												 HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_permutation(HpsortCudaJob *job,
													   uint64_t first,
													   uint64_t count,
													   uint32_t *rows,
													   HpsortCudaError *err);

/*
 * Cancels a job, from any thread.  The job's calls in progress and later ones return CANCELLED at
 * their next step.  A kernel on its way is waited for; kernels that may take long read the cancel
 * flag themselves.
 */
extern void hpsort_cuda_job_cancel(HpsortCudaJob *job);

/* Closes a job in any state.  Waits for the job's work on the device, and frees all. */
extern void hpsort_cuda_job_close(HpsortCudaJob *job);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_CUDA_H */
