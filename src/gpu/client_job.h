/*
 * client_job.h
 *		The client's side of a job: its state, the service's messages for it, and the verbs of
 *		SortDevice (sort/device/device.h) that client_device.c has not itself.
 *
 * For the files of the client, client*.c, alone.  A job that the service ended
 * with an ERROR leaves the connection usable; anything unexpected closes it
 * (client_fail).
 */
#ifndef HPSORT_GPU_CLIENT_JOB_H
#define HPSORT_GPU_CLIENT_JOB_H

#include "gpu/client_connection.h"
#include "sort/device/device.h"

/*
 * Extents that the service shall keep.  Extents gather in memory of the job's own until they fill
 * a chunk: a job that pauses between two extents holds no chunk, and needs no round trip for each.
 */
typedef struct GatheredExtents
{
	char	   *bytes;			/* as many as a chunk has; NULL: there were none so far */
	size_t		used;			/* bytes */
	uint32_t	count;			/* extents in it */
	bool		full;			/* the service has no room for more */
} GatheredExtents;

/* Rows that are being added. */
typedef struct AskedRows
{
	bool		layout;			/* one was sent; without it, the values of one column are keys */
	uint32_t	ncolumns;
	bool		filtered;		/* rows may have no key, and the job's n is the most that there
								 * can be */
	SortRows   *list;			/* of the caller; NULL: none is asked for */
	const uint64_t *generations;	/* of the caller: ncolumns for each entry of list */
	size_t		asked;			/* entries that were sent */
	size_t		answered;		/* entries whose answer was taken; at most asked */
	uint32_t	most;			/* entries of a chunk */
} AskedRows;

/* The result of a finished job. */
typedef struct JobResult
{
	SortWant	form;			/* as it comes */
	uint64_t	items;			/* in all */
	uint64_t	at;				/* next item */
	bool		begun;			/* a read uses it, the only one */
} JobResult;

typedef struct GpuJob
{
	SortJob		base;
	GpuClient  *client;			/* NULL: the job has been ended, and has failed */
	uint64_t	n;				/* keys added, keys of rows included */
	uint64_t	announced;		/* chunks that have not been handed over yet */
	int64_t		filling;		/* the chunk that is being filled with keys, -1: none */
	uint32_t	filled;			/* keys in it */
	GatheredExtents gathered;
	AskedRows	rows;
	GpuChunk	lent;			/* a chunk with answers or results that has come and that nobody
								 * has read; count is 0: there is none */
	uint32_t	looks;			/* questions that gpu_begin_look has asked */
	bool		finishing;		/* FINISH is sent */
	bool		finished;		/* FINISH is answered */
	bool		failed;
	SortError	error;			/* if failed */
	JobResult	result;			/* if finished */
	GpuCounters counters;
	SortAlgorithm algorithm;	/* what the service used, after finish */
	char		reason[GPU_TEXT_SIZE];
} GpuJob;

/* --- client_job.c */

/* Waits for a message, and handles it.  Returns why the job failed if it has, now or before. */
extern SortStatus client_job_handle(GpuJob *job, SortError *err);

/*
 * Handles the messages that have come, without waiting; up to FINISHED where a result follows,
 * which has a reader of its own.  Returns as client_job_handle does.
 */
extern SortStatus client_job_handle_all(GpuJob *job, SortError *err);

/*
 * Announces that this many chunks are going to be filled, as far as that has not been announced
 * yet.  What follows soon may be announced at once, and then needs no round trip of its own.
 */
extern SortStatus client_announce(GpuJob *job, uint64_t chunks, SortError *err);

/*
 * Begins to fill a granted chunk, which has been announced; waits for one if there is none.  The
 * caller holds no other one, or clients could wait for each other.
 */
extern SortStatus client_begin_chunk(GpuJob *job, uint32_t *chunk, SortError *err);

/* Hands over a begun chunk with size bytes: count elements of what messages of type bring. */
extern SortStatus client_submit_chunk(GpuJob *job, GpuMessageType type, uint32_t chunk,
									  size_t size, uint32_t count, SortError *err);

/* Waits for the next chunk with results or answers, which the caller has to release. */
extern SortStatus client_next_lent(GpuJob *job, GpuChunk *lent, SortError *err);

/* Begins an announced chunk, fills it with size bytes, and hands it over. */
extern SortStatus client_send_chunk(GpuJob *job, GpuMessageType type, const void *bytes,
									size_t size, uint32_t count, SortError *err);

/* Enters the job into its counters; called once, when its result is in hand. */
extern void client_count_job(GpuJob *job);

/* Fills err with why the job has failed, and returns its status; job->failed must be set. */
extern SortStatus client_job_failed(GpuJob *job, SortError *err);

/* --- client_device.c */

/* Sends the gathered extents as one KEEP, behind the keys; drops them if there is no room. */
extern SortStatus client_send_gathered(GpuJob *job, SortError *err);

/* --- client_results.c */
/* Verbs of SortDevice: each reads the result, once, of a finished job opened for it. */
extern SortStatus client_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err);
extern SortStatus client_read_runs(SortJob *base, Runs *runs, SortError *err);
extern SortStatus client_read_permutation(SortJob *base, bool descending, uint32_t first,
										  uint32_t *out, SortError *err);

#endif							/* HPSORT_GPU_CLIENT_JOB_H */
