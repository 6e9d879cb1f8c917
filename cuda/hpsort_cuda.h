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
 * - On return the device that was named, or that of the context or job, is the calling thread's
 *   current one.  No CUDA context is created on any other device.
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
	HPSORT_CUDA_FAILED,			/* a CUDA call failed */
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
	int			sticky;
	int32_t		key;			/* OUT_OF_BOUNDS, DUPLICATE: a key with the fault */
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
 * - bounds_known: lo and hi (inclusive) are a promise of the caller.  A key outside is an error
 *   that names the key.  Without bounds_known, lo and hi are ignored and found on the device.
 * - wanted: a set of the HPSORT_CUDA_* bits above.
 * - algorithm: HPSORT_PUBLISHED_JOB() of published.h; 0 leaves the choice to the engine.
 * - counted: keys are counted if their bins fit, though passes over their bits may be faster.
 * - float_images: the keys stand for float4, one to one and in the same order
 *   (src/sort/float_image.h).  An algorithm that uses distances between keys then uses distances
 *   between the numbers; all others sort the integers.
 */
typedef struct HpsortCudaSpec
{
	uint64_t	n_hint;
	int32_t		lo;
	int32_t		hi;
	int			bounds_known;
	int			descending;		/* the permutation's direction */
	uint32_t	wanted;
	int			algorithm;
	int			counted;
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

/*
 * A job that only counts (bounds given, narrow range, no permutation) takes chunks through this
 * many buffers of at most this many bytes.
 */
#define HPSORT_CUDA_CHUNK_MAX			((uint64_t) 16 << 20)
#define HPSORT_CUDA_CHUNKS_IN_FLIGHT	4

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
	uint64_t	memory_total;
	uint64_t	memory_free;	/* at the time of the call */
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

/* Return the bytes in use, and the most since open or since the last call with reset_peak.  used
 * and peak may be NULL. */
extern void hpsort_cuda_memory(HpsortCuda *context, uint64_t *used,
							   uint64_t *peak, int reset_peak);

/* Gives memory that the pool keeps for reuse back to the device. */
extern HpsortCudaCode hpsort_cuda_trim(HpsortCuda *context, HpsortCudaError *err);

/* Registers host memory of the caller, such as a shared memory area, so that the device reads and
 * writes it at full speed.  It stays registered until the process ends. */
extern HpsortCudaCode hpsort_cuda_pin(HpsortCuda *context, void *memory,
									  size_t bytes, HpsortCudaError *err);

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
 * Adds n keys from host or device memory; pinned host memory is the fastest.  The keys must be
 * complete when this is called.  Returns before they are consumed, and stores the call's number in
 * *number (calls count from 1; number may be NULL).  The memory may be reused when
 * hpsort_cuda_job_consumed() reports at least this number.  After an error it may be in use until
 * the job is closed.
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
 * distance of width bytes (1, 2 or 4), aligned to the width.
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
										   int64_t base, HpsortCudaPacked **packed,
										   uint64_t *number, HpsortCudaError *err);

/*
 * Frees packed values, at any time before hpsort_cuda_close(), but not during a call that is
 * given them.  They count as free on return, and the caller waits for nothing: the memory goes
 * back in stream order, behind an event of each job that has been given packed values.
 */
extern void hpsort_cuda_packed_free(HpsortCudaPacked *packed);

/*
 * A layout makes one key of each row of several columns of packed values.  The key is the sum of
 * base and of what each column with IN_KEY adds, modulo 2^32.  A value stands here for its distance
 * from the column's origin, as an int32; one beyond int32 wraps around:
 *
 * - A value adds its distance from lo, times stride.  A distance of more than last is out of
 *   bounds.
 * - A NULL adds null_adds.  Without NULL_IN_KEY it is out of bounds.
 *
 * A row passes if each column with FILTERED passes.  A column passes if its value lies in one of
 * its ranges, which ascend, or if it is NULL and NULLS_PASS is set.  With MASKED the ranges are a
 * mask: 64 bits each, lo before hi, for the values from 0 on, and a value passes whose bit is set.
 * With MAPPED, which needs IN_KEY and FILTERED, they are a map: two numbers each, lo before hi, for
 * the values from the column's lo to its last, of what a value adds in place of its distance; one
 * of NO_MATCH does not pass.
 * Rows that do not pass have no key, and no bounds are checked in them.
 *
 * Keys whose distances from the lower bound, INT32_MIN without bounds, differ in their lowest
 * `grain` bits alone are a group.  With a grain the job is asked about groups alone:
 * hpsort_cuda_job_read_below() about the first key that a group may have,
 * hpsort_cuda_job_read_sums() about where a group's keys begin or end.  All else may be refused
 * with BAD_ARGUMENT.  Keys are then added up where they are made, if shared memory has room for the
 * groups, and neither kept nor sorted.
 *
 * With key_ranges a layout finds rows.  A row passes if also its key lies in one of the last
 * key_ranges ranges, which ascend.  The number of keys and rows added to the job before a row that
 * passes, which has to be an int32, takes the place of the row's key.
 */
#define HPSORT_CUDA_ROWS_COLUMNS		8
#define HPSORT_CUDA_ROWS_IN_KEY			1u
#define HPSORT_CUDA_ROWS_NULL_IN_KEY	2u
#define HPSORT_CUDA_ROWS_FILTERED		4u
#define HPSORT_CUDA_ROWS_NULLS_PASS		8u
#define HPSORT_CUDA_ROWS_MASKED			16u
#define HPSORT_CUDA_ROWS_MAPPED			32u
#define HPSORT_CUDA_ROWS_NO_MATCH		UINT32_MAX

/* Values of a condition, both inclusive. */
typedef struct HpsortCudaRange
{
	int32_t		lo;
	int32_t		hi;
} HpsortCudaRange;

typedef struct HpsortCudaRowsColumn
{
	int64_t		origin;
	int32_t		lo;
	uint32_t	last;
	uint32_t	stride;
	uint32_t	null_adds;
	uint32_t	flags;			/* HPSORT_CUDA_ROWS bits */
	uint32_t	first_range;	/* of its condition, among the ranges of all columns */
	uint32_t	nranges;
	uint32_t	zero;			/* unused: src/sort/rows_layout.h has the same struct */
} HpsortCudaRowsColumn;

typedef struct HpsortCudaRows
{
	uint32_t	ncolumns;		/* at most HPSORT_CUDA_ROWS_COLUMNS */
	uint32_t	nranges;
	uint32_t	base;
	uint32_t	filtered;		/* whether there is a condition */
	uint32_t	grain;			/* bits, at most 31; not 0: as above */
	uint32_t	key_ranges;		/* ranges of keys, without a grain; 0: keys are wanted */
	HpsortCudaRowsColumn columns[HPSORT_CUDA_ROWS_COLUMNS];
} HpsortCudaRows;

/*
 * Sets the layout of a job's rows and the ranges of its conditions, both of which are copied.  To
 * be called once, behind the job's other keys: hpsort_cuda_job_add() is refused afterwards.  A job
 * that wants a permutation or names an algorithm is refused with BAD_ARGUMENT.
 */
extern HpsortCudaCode hpsort_cuda_job_rows(HpsortCudaJob *job, const HpsortCudaRows *layout,
										   const HpsortCudaRange *ranges, HpsortCudaError *err);

/*
 * Adds the keys of nparts parts of rows.  With a layout, a part is one piece of each of its
 * columns, all of the same number of rows; pieces has the parts one after the other.  Without a
 * layout, a part is one piece, and its values but NULLs are the keys, in their order; a value
 * beyond int32 wraps around.  Pieces may overlap.
 *
 * Sets *nkeys to the number of keys added (nkeys may be NULL).  If the layout has conditions, this
 * is the most that there can be; hpsort_cuda_job_finish() returns the real number, and fails if a
 * value was out of the layout's bounds.
 *
 * Returns before the values are read; pieces may be changed then, and packed values freed.  After
 * NO_MEMORY the call may be repeated, unless some of the keys have been added and the job is
 * refused.  Other errors are as those of hpsort_cuda_job_add().
 */
extern HpsortCudaCode hpsort_cuda_job_add_rows(HpsortCudaJob *job, const HpsortCudaPiece *pieces,
											   uint32_t nparts, uint64_t *nkeys,
											   HpsortCudaError *err);

/* Sets *number to the highest number of a call whose memory the caller may reuse (0: none yet;
 * number may be NULL).  With wait, waits until this is the last call's. */
extern HpsortCudaCode hpsort_cuda_job_consumed(HpsortCudaJob *job, int wait,
											   uint64_t *number,
											   HpsortCudaError *err);

/* Ends adding, sorts, and returns when the result is ready to be read.  OUT_OF_BOUNDS names a key
 * outside the given bounds. */
extern HpsortCudaCode hpsort_cuda_job_finish(HpsortCudaJob *job,
											 HpsortCudaResult *result,
											 HpsortCudaError *err);

/*
 * Read results: count elements from position first on, or answers to count questions.  Each call
 * returns when the destination is complete.  Calls may be repeated and come in any order; each
 * needs the matching bit of spec->wanted.  Runs, keys and permutations may be read into host or
 * device memory.
 *
 * - runs: keys ascending and their counts; either destination may be NULL.  Positions are run
 *   numbers, 0 to distinct - 1.  After a job that ended with sorted keys (PARTITION, RADIX), the
 *   first call makes the runs, and so does hpsort_cuda_job_distinct().
 * - keys: in the direction asked for here, whatever spec->descending says.
 * - at: the keys at count positions of the ascending order, in any order and repeated.
 * - below: for each of count keys, in any order, how many keys of the job are smaller.
 * - sums: for each of count positions of the ascending order, the sum of the keys before it, modulo
 *   2^64; the position behind the last key is one, too.  Arrays of at, below and sums are in host
 *   memory.  Runs or keys must be wanted.
 * - permutation: row indexes, counted from 0 in the order of adding; equal keys keep their order.
 *   Rows are numbered in 32 bits: a permutation of more than 2^32 - 1 rows is refused with
 *   BAD_ARGUMENT.
 */
extern HpsortCudaCode hpsort_cuda_job_distinct(HpsortCudaJob *job, uint64_t *distinct,
											   HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_runs(HpsortCudaJob *job, uint64_t first, uint64_t count,
												int32_t *keys, uint64_t *counts,
												HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_keys(HpsortCudaJob *job, uint64_t first, uint64_t count,
												int descending, int32_t *keys,
												HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_at(HpsortCudaJob *job, const uint64_t *positions,
											  uint64_t count, int32_t *keys,
											  HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_below(HpsortCudaJob *job, const int32_t *keys,
												 uint64_t count, uint64_t *positions,
												 HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_sums(HpsortCudaJob *job, const uint64_t *positions,
												uint64_t count, uint64_t *sums,
												HpsortCudaError *err);
extern HpsortCudaCode hpsort_cuda_job_read_permutation(HpsortCudaJob *job, uint64_t first,
													   uint64_t count, uint32_t *rows,
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
