/*
 * client_job.h
 *		The client's side of a job: its state, the service's messages for it, and the verbs of
 *		SortDevice (sort/device/device.h) by file.
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
 * Extents that the service shall keep.  They gather in memory of the job's own until they fill a
 * chunk: a job that pauses between two of them holds no chunk, and needs no round trip for each.
 */
typedef struct GatheredExtents
{
	char	   *bytes;			/* as many as a chunk has; NULL: there were none so far */
	size_t		used;
	uint32_t	count;			/* extents in it */
	bool		full;			/* the service has no room for more */
} GatheredExtents;

/* Rows that are being added: asked for, those with an answer. */
typedef struct AskedRows
{
	bool		layout;			/* one was sent; without it, the values of one column are keys */
	uint32_t	ncolumns;
	bool		filtered;		/* rows may have no key, and the job's n is the most that there
								 * can be */
	SortRows   *list;			/* of the caller; NULL: none is asked for */
	const uint64_t *generations;
	size_t		asked;
	size_t		answered;
} AskedRows;

/* The reading of a result. */
typedef struct ResultReading
{
	uint32_t	number;			/* of the last one that was asked for, from 1 */
	bool		come;			/* its RESULT has come */
	bool		begun;			/* a read uses it */
	GpuResult	result;
	uint64_t	at;				/* next item of result */
	int64_t		kept;			/* its last chunk, not given back yet, -1: none */
} ResultReading;

typedef struct GpuJob
{
	SortJob		base;
	GpuClient  *client;			/* NULL: the job has been ended, and has failed */
	uint64_t	n;				/* keys added, those of rows included */
	uint64_t	crossed;		/* keys copied to chunks */
	uint64_t	announced;		/* keys that the service has heard of, at least crossed */
	uint32_t	ahead;			/* chunks without keys that have been announced for what comes
								 * next */
	int64_t		filling;		/* the chunk that is being filled, -1: none */
	uint32_t	filled;			/* keys in it */
	GatheredExtents gathered;
	AskedRows	rows;
	GpuLook		look;			/* the questions that were asked last, ... */
	bool		looking;		/* ... which have no answer yet; else it is in look.chunk */
	bool		finishing;		/* FINISH is sent */
	bool		finished;		/* FINISH is answered */
	bool		failed;
	SortError	error;			/* if failed */
	bool		counted;		/* in the counters */
	ResultReading reading;
	SortAlgorithm algorithm;	/* what the service used, after finish */
	char		reason[GPU_TEXT_SIZE];
} GpuJob;

/* --- client_job.c */

/*
 * Handles one message: waits for it, or (came is not NULL) sets *came to whether
 * there was one.  Fails if the job has failed.
 */
extern SortStatus client_job_handle(GpuJob *job, bool *came, SortError *err);

/* Takes note of a message for the current job. */
extern SortStatus client_job_message(GpuClient *c, const GpuMessage *message, SortError *err);

/*
 * Announces so many chunks that bring no keys, when the chunk of keys that is being filled has
 * been handed over; and `ahead` of those that follow soon, which then need no round trip of their
 * own.
 */
extern SortStatus client_announce_chunks(GpuJob *job, uint32_t chunks, uint32_t ahead,
										 SortError *err);

/*
 * Begins to fill a granted chunk (job->filling); waits for one if there is none.  What is going
 * to fill it must have been announced.
 */
extern SortStatus client_begin_chunk(GpuJob *job, SortError *err);

/* Hands over the chunk that is being filled, with size bytes, as type with count elements. */
extern SortStatus client_submit_chunk(GpuJob *job, GpuMessageType type, size_t size,
									  uint32_t count, SortError *err);

/* client_submit_chunk as ADD, of the keys in the chunk. */
extern SortStatus client_submit_keys(GpuJob *job, SortError *err);

/* Begins a chunk, fills it with size bytes, and hands it over. */
extern SortStatus client_send_chunk(GpuJob *job, GpuMessageType type, const void *bytes,
									size_t size, uint32_t count, SortError *err);

/* Adds the job, whose result is known, to the connection's counters, once. */
extern void client_count_job(GpuJob *job);

/* Fills err with what the job has failed of. */
extern SortStatus client_job_failed(GpuJob *job, SortError *err);

/* --- client_rows.c */
extern SortStatus client_keep_extent(SortJob *base, uint64_t generation, const void *extent,
									 size_t size, SortError *err);
extern SortStatus client_set_rows(SortJob *base, const RowsLayout *layout,
								  const ValueRange *ranges, SortError *err);
extern SortStatus client_add_rows(SortJob *base, SortRows *rows, const uint64_t *generations,
								  size_t n, SortError *err);
extern SortStatus client_look_up(SortJob *base, SortLook look, const void *questions, size_t n,
								 void *answers, SortError *err);

/* Sends the extents that have gathered. */
extern SortStatus client_send_gathered(GpuJob *job, SortError *err);

/* --- client_results.c */
extern SortStatus client_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err);
extern SortStatus client_read_runs(SortJob *base, Runs *runs, SortError *err);
extern SortStatus client_read_permutation(SortJob *base, bool descending, uint32_t first,
										  uint32_t *out, SortError *err);

#endif							/* HPSORT_GPU_CLIENT_JOB_H */
