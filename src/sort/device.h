/*
 * device.h
 *		The interface every device implements: a job takes keys and gives back
 *		keys in order, runs or the permutation.
 *
 * The CPU implements it in process (cpu_device.c); the GPU's client and the
 * GPU service implement the same calls.  A sorter opens a job for the keys
 * that its own histogram does not already hold.
 *
 * Calls come in the order open, add ..., finish, read ..., close.  Each
 * returns SORT_OK or fills err; after an error only close may follow.  close
 * is also how a job is cancelled, at any point.
 */
#ifndef HPSORT_DEVICE_H
#define HPSORT_DEVICE_H

#include "sort/runs.h"
#include "sort/sort_types.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct SortJobSpec
{
	SortAlgorithm algorithm;	/* chosen by the plan, never AUTO */
	SortWant	want;
	bool		descending;		/* direction of the permutation, if one is wanted */
	int32_t		lo;				/* inclusive bounds of all keys to come */
	int32_t		hi;
	uint64_t	n;				/* number of keys to come */
} SortJobSpec;

typedef struct SortDevice SortDevice;

/*
 * What every device's job begins with: the first member of the struct that the
 * device's open allocates, and all of it that others than the device may read.
 */
typedef struct SortJob
{
	const SortDevice *device;	/* whose job it is */
	const SortContext *context; /* of open */
	SortJobSpec spec;			/* of open */
} SortJob;

struct SortDevice
{
	SortDeviceKind kind;
	bool		add_copies;		/* chunks may move or change after add */

	/*
	 * context must outlive the job.  spec->n may be 0 for a device whose add
	 * copies: then the number of keys is not known yet.
	 */
	SortStatus	(*open) (const SortContext *context, const SortJobSpec *spec,
						 SortJob **job, SortError *err);

	/* Adds a chunk, which stays where it is and unchanged (but see above) until close. */
	SortStatus	(*add) (SortJob *job, const int32_t *keys, size_t n, SortError *err);

	/* No more keys will come; spec.n of them have, if it was known. */
	SortStatus	(*finish) (SortJob *job, SortError *err);

	/*
	 * Writes all keys in order.  out may be the chunk itself when the job has
	 * only one and nothing is read afterwards.
	 */
	SortStatus	(*read_keys) (SortJob *job, bool descending, int32_t *out, SortError *err);

	/* Adds all keys to runs, which belongs to the caller. */
	SortStatus	(*read_runs) (SortJob *job, Runs *runs, SortError *err);

	/* out[i] = first + the 0-based position, in the order of adding, of the i-th key. */
	SortStatus	(*read_permutation) (SortJob *job, bool descending, uint32_t first,
									 uint32_t *out, SortError *err);

	/*
	 * After finish: how the device sorted, as one line for people, valid until
	 * close, and in *algorithm the algorithm that it really was, if it is
	 * another one than the spec's.  NULL for a device that does as it is told.
	 */
	const char *(*describe) (const SortJob *job, SortAlgorithm *algorithm);

	/* After a read: threads of this process that sorted; NULL: the calling one. */
	int			(*threads) (const SortJob *job);

	/* Frees the job; NULL is allowed. */
	void		(*close) (SortJob *job);
};

/* Fills the base of a job that device's open has allocated. */
static inline void
sort_job_init(SortJob *job, const SortDevice *device, const SortContext *context,
			  const SortJobSpec *spec)
{
	job->device = device;
	job->context = context;
	job->spec = *spec;
}

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_DEVICE_H */
