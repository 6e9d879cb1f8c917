/*
 * device.h
 *		The interface of a GPU: a job takes keys and gives back keys in order, runs or
 *		the permutation.
 *
 * The implementations are the client of the GPU service (src/gpu/client_device.c) and a
 * backend's connections to that service (src/pg/gpu/backend.c).  Jobs are run by job.c.
 *
 * Calls come in the order open, add ..., finish, the read that spec->want says or look_up ...,
 * close.  Each returns SORT_OK or fills err; after an error only close may follow.  A job is
 * cancelled by close, at any point.  One thread uses a job.
 */
#ifndef HPSORT_DEVICE_H
#define HPSORT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "sort/extents/rows_layout.h"
#include "sort/runs/runs.h"
#include "sort/sort_types.h"

/* The most devices that a caller divides its keys among, by a job on each. */
#define SORT_DEVICES_MOST 8

typedef struct SortJobSpec
{
	SortAlgorithm algorithm;	/* chosen by the plan, never AUTO */
	SortWant	want;
	bool		descending;		/* direction of the permutation, if one is wanted */
	int32_t		lo;				/* inclusive bounds of all keys to come */
	int32_t		hi;
	uint64_t	n;				/* number of keys to come */
	bool		look_up;		/* of the sorted keys nothing is read but what look_up asks for */
	uint32_t	device;			/* of several that keep extents: the one before this; 0: any */
	bool		divided;		/* it shares its keys with other jobs of the caller, and so holds
								 * nothing that is scarce while the caller waits for these */
} SortJobSpec;

/*
 * The rows of some blocks of one extent (extent.h) each of several columns, whose rows are the
 * same.  A device may have a copy of the extents' bytes, by their generations: numbers that no
 * other bytes have in the life of the server's shared memory.  Travels to the device and back
 * (gpu/protocol.h).
 */
typedef struct SortRows
{
	uint64_t	blocks[2];		/* which blocks: bit i % 64 of word i / 64 */
	uint32_t	added;			/* the answer: 1 if the keys of its rows are added, or 0: ... */
	uint32_t	missing;		/* ... bit c is set if the device lacks the extent of column c;
								 * all bits, if the columns do not have the same rows */
	uint32_t	rows;			/* how many rows are added, with rows that have no key, ... */
	uint32_t	nulls;			/* ... without set_rows: how many of them are NULL, and have none */
} SortRows;

/* What look_up finds of a finished job's keys in ascending order. */
typedef enum SortLook
{
	SORT_LOOK_AT,				/* uint64_t positions, all below SortJob.keys -> int32_t keys */
	SORT_LOOK_BELOW,			/* int32_t keys -> uint64_t: how many keys are smaller */
	SORT_LOOK_DISTINCT,			/* one question, which means nothing -> uint64_t: how many
								 * different keys there are */
	SORT_LOOK_SUM				/* uint64_t positions, none above SortJob.keys -> uint64_t: the
								 * sum of the keys before each, modulo 2^64 */
} SortLook;

/* Bytes of a question and of an answer. */
static inline size_t
sort_look_asks(SortLook look)
{
	return look == SORT_LOOK_AT || look == SORT_LOOK_SUM ? sizeof(uint64_t) : sizeof(int32_t);
}

static inline size_t
sort_look_answers(SortLook look)
{
	return look == SORT_LOOK_AT ? sizeof(int32_t) : sizeof(uint64_t);
}

typedef struct SortDevice SortDevice;

/*
 * What each device's job begins with: the first member of the struct that the
 * device's open allocates, and all of it that others than the device may read.
 */
typedef struct SortJob
{
	const SortDevice *device;	/* whose job it is */
	const SortContext *context; /* of open */
	SortJobSpec spec;			/* of open */
	uint64_t	keys;			/* after finish, with look_up: how many there are */
} SortJob;

struct SortDevice
{
	/*
	 * Opens a job; context must outlive it.  On failure *job is NULL.  spec->n may be 0: the
	 * number of keys is not known yet.
	 */
	SortStatus	(*open) (const SortContext *context, const SortJobSpec *spec,
						 SortJob **job, SortError *err);

	/* Adds n > 0 keys; the caller may free or change them afterwards. */
	SortStatus	(*add) (SortJob *job, const int32_t *keys, size_t n, SortError *err);

	/*
	 * Gives the device the size bytes of an extent, to be kept under a generation beyond the job.
	 * The bytes are the caller's again on return.  Whether the device has room for them is seen
	 * by add_rows afterwards.
	 */
	SortStatus	(*keep_extent) (SortJob *job, uint64_t generation, const void *extent, size_t size,
								SortError *err);

	/*
	 * Says which keys rows have, after add and before add_rows; without it, the values of one
	 * column are the keys.
	 */
	SortStatus	(*set_rows) (SortJob *job, const RowsLayout *layout, const ValueRange *ranges,
							 SortError *err);

	/*
	 * Adds the keys of n lists of rows, as far as the device has all extents of a list, and says
	 * of each what became of it.  generations: of all columns of the first list, then of the
	 * second, ... With spec->n == 0 only; without set_rows, may be mixed with add.
	 */
	SortStatus	(*add_rows) (SortJob *job, SortRows *rows, const uint64_t *generations, size_t n,
							 SortError *err);

	/*
	 * For callers with several jobs, may be NULL: sends what the next call has to send, add_rows
	 * by the same arguments or finish, and does not wait for answers.  begin_rows sets *begun to
	 * whether it has sent all; if not, the job may hold a chunk until add_rows has returned, so
	 * that no other job may be waited for, but for answers.
	 */
	SortStatus	(*begin_rows) (SortJob *job, SortRows *rows, const uint64_t *generations, size_t n,
							   bool *begun, SortError *err);
	SortStatus	(*begin_finish) (SortJob *job, SortError *err);

	/*
	 * For callers with several jobs, may be NULL: sends n > 0 questions, and does not wait for
	 * the answers, which the next call asks for: look_up by the same arguments.  Sets *begun to
	 * whether it has; it has not if it would have had to wait for the device.
	 */
	SortStatus	(*begin_look) (SortJob *job, SortLook look, const void *questions, size_t n,
							   bool *begun, SortError *err);

	/* Answers n questions about the keys, after finish, of a job opened with spec->look_up. */
	SortStatus	(*look_up) (SortJob *job, SortLook look, const void *questions, size_t n,
							void *answers,
							SortError *err);

	/* Ends the adding; spec.n keys were added, unless spec.n is 0. */
	SortStatus	(*finish) (SortJob *job, SortError *err);

	/* Writes all keys in order. */
	SortStatus	(*read_keys) (SortJob *job, bool descending, int32_t *out, SortError *err);

	/* Adds all keys to runs, which are the caller's, of context's allocator. */
	SortStatus	(*read_runs) (SortJob *job, Runs *runs, SortError *err);

	/* out[i] = first + the 0-based position, in the order of adding, of the i-th key. */
	SortStatus	(*read_permutation) (SortJob *job, bool descending, uint32_t first,
									 uint32_t *out, SortError *err);

	/*
	 * After finish: returns how the device sorted, one line for people, valid until close, and
	 * sets *algorithm if the device used another one than the spec's.  NULL for a device that
	 * always does what the spec says.
	 */
	const char *(*describe) (const SortJob *job, SortAlgorithm *algorithm);

	/* Ends the job, wherever it is, and frees it; NULL is allowed. */
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
	job->keys = 0;
}

#endif							/* HPSORT_DEVICE_H */
