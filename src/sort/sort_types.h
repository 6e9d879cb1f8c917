/*
 * sort_types.h
 *		The types that every file of src/sort shares: algorithms, devices,
 *		errors, and what the caller lends (memory, a GPU, a look for a cancel).
 *
 * No file of src/sort knows PostgreSQL or CUDA.  Functions return a SortStatus
 * and fill a SortError (error.h); they never jump out of a caller's frame.
 */
#ifndef HPSORT_SORT_TYPES_H
#define HPSORT_SORT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Algorithms by the names that SQL and the papers use; algorithms.c says which
 * of them a device can run.
 */
typedef enum SortAlgorithm
{
	SORT_ALGORITHM_AUTO = 0,
	SORT_ALGORITHM_ZERO_COMPRESSED,
	SORT_ALGORITHM_ZERO_COMPRESSED_PUBLISHED,
	SORT_ALGORITHM_HP,
	SORT_ALGORITHM_ONE_HP,
	SORT_ALGORITHM_BUCKET_RADIX,
	SORT_ALGORITHM_COMPARISON_FREE,
	SORT_ALGORITHM_COMPARISON_FREE_ONEHOT,
	SORT_ALGORITHM_BUCKET_BITONIC,
	SORT_ALGORITHM_RADIX
} SortAlgorithm;

#define SORT_ALGORITHM_COUNT (SORT_ALGORITHM_RADIX + 1)

typedef enum SortDeviceKind
{
	SORT_DEVICE_AUTO = 0,
	SORT_DEVICE_CPU,
	SORT_DEVICE_GPU
} SortDeviceKind;

/* What is to be read from a sorter once all keys are in. */
typedef enum SortWant
{
	SORT_WANT_KEYS = 0,			/* keys in order; runs can be read too */
	SORT_WANT_RUNS,				/* (key, count) only */
	SORT_WANT_PERMUTATION		/* the stable sorting permutation */
} SortWant;

typedef enum SortStatus
{
	SORT_OK = 0,
	SORT_OUT_OF_MEMORY,			/* the allocator returned NULL */
	SORT_KEY_OUT_OF_BOUNDS,		/* error.key is outside error.lo .. error.hi */
	SORT_UNSUPPORTED,			/* a forced algorithm cannot do this job */
	SORT_DEVICE_UNAVAILABLE,	/* a forced device cannot be used */
	SORT_CANCELLED,				/* the interrupt callback said so */
	SORT_CORRUPT,				/* serialized input is not valid */
	SORT_LIMIT_EXCEEDED,		/* more than a format can hold */
	SORT_MEMORY_LIMIT			/* a forced algorithm needs more than algorithm_memory */
} SortStatus;

/*
 * An error, by value.  message and detail follow PostgreSQL's style guide:
 * message is a lower-case phrase, detail a sentence (or empty).  key, lo and
 * hi are set for SORT_KEY_OUT_OF_BOUNDS only.
 */
typedef struct SortError
{
	SortStatus	status;
	int32_t		key;
	int32_t		lo;
	int32_t		hi;
	char		message[160];
	char		detail[200];
} SortError;

/*
 * Memory lent by the caller.  alloc and grow return NULL when there is none;
 * grow keeps the old block in that case.  Sizes are bytes; the old size is
 * given so that an allocator without a reallocation can copy.  A sorter
 * releases all its memory in sorter_reset(), unless the caller frees the arena.
 */
typedef struct SortAllocator
{
	void	   *(*alloc) (void *arena, size_t size);
	void	   *(*grow) (void *arena, void *block, size_t old_size, size_t size);
	void		(*release) (void *arena, void *block);
	void	   *arena;
} SortAllocator;

/*
 * The way to a GPU, lent by the caller.  costs is called when a job of n keys
 * (so far or in all) is so large that a GPU might pay, or with required when
 * nothing but a GPU will do: only then may costs wait for one.  costs returns
 * NULL, and in *reason a phrase that says why, when no GPU can be used now; its
 * result stays valid until the context is used for another sort.  failed (may
 * be NULL) is called for every job that the CPU has to take over, with the
 * device's words.  devices (NULL: one) returns how many GPUs keep extents, each
 * of which may have a job of its own (SortJobSpec.device) at the same time.
 */
typedef struct SortGpu
{
	const struct SortDevice *device;
	const struct SortDeviceCosts *(*costs) (void *arg, uint64_t n, bool required,
											const char **reason);
	void		(*failed) (void *arg, const SortError *err);
	uint32_t	(*devices) (void *arg);
	void	   *arg;			/* of the functions above, and of device's open */
} SortGpu;

/*
 * Everything that stays the same for all sorters of one query.  interrupted
 * (may be NULL) is called every few milliseconds of work, by the calling thread
 * while the sort has no other; true makes the call in progress return
 * SORT_CANCELLED.  interrupted may wait, or end the process.
 */
typedef struct SortContext
{
	SortAllocator allocator;
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
	SortDeviceKind device;		/* AUTO, or forced */
	SortAlgorithm algorithm;	/* AUTO, or forced */
	bool		floats;			/* keys are images of float4 (float_image.h), which an algorithm
								 * may divide by their values */
	int			threads;		/* most threads one sort may use, >= 1 */
	size_t		memory_limit;	/* bytes for a sorter's histogram and runs; see
								 * sorter_memory_ahead; 0: no limit */
	size_t		algorithm_memory;	/* most bytes that an algorithm of the papers may take on the
									 * CPU besides keys and result; 0: no limit */
	const SortGpu *gpu;			/* NULL: no GPU, whatever the settings */
} SortContext;

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_SORT_TYPES_H */
