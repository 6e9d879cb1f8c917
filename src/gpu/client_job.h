/*
 * client_job.h
 *		The client's side of a job: its state, and the service's messages for it.
 *
 * For the files of the client, client*.c, alone.  A job that the service ended
 * with an ERROR leaves the connection usable; anything unexpected closes it
 * (client_fail).
 */
#ifndef HPSORT_GPU_CLIENT_JOB_H
#define HPSORT_GPU_CLIENT_JOB_H

#include "gpu/client_connection.h"
#include "sort/device.h"

typedef struct GpuJob
{
	SortJob		base;
	GpuClient  *client;
	uint64_t	n;				/* keys added, those of extents included */
	uint64_t	crossed;		/* keys copied to chunks */
	uint64_t	announced;		/* keys that the service has heard of, at least crossed */
	uint32_t	ahead;			/* chunks without keys that have been announced for what comes
								 * next */
	int64_t		filling;		/* the chunk that is being filled, -1: none */
	uint32_t	filled;			/* keys in it */

	/* extents that the service shall keep, in memory of the job: see client_extents.c */
	char	   *keeping;		/* chunk_bytes of the client; NULL: there were none so far */
	size_t		keeping_bytes;	/* used */
	uint32_t	keeping_count;	/* extents in it */
	bool		full;			/* the service has no room for more */

	/* rows to be added: asked for, those with an answer */
	uint32_t	ncolumns;		/* of the layout; 0: none was sent, and rows have one */
	bool		filtered;		/* rows may have no key, and n is the most that there can be */
	SortRows   *rows;			/* of the caller; NULL: none is asked for */
	const uint64_t *generations;
	size_t		rows_asked;
	size_t		rows_answered;

	/* questions */
	bool		looking;		/* LOOK is sent */
	bool		found;			/* ... and answered, in look.chunk */
	GpuLook		look;
	bool		finishing;		/* FINISH is sent */
	bool		finished;		/* FINISH is answered */
	bool		failed;
	SortError	error;			/* if failed */
	bool		counted;		/* in the counters */
	uint32_t	reads;			/* readings asked for so far */
	bool		have_result;	/* RESULT of the last one has come */
	bool		begun;			/* a read uses it */
	GpuResult	result;
	uint64_t	at;				/* next item of result */
	int64_t		kept;			/* its last chunk, not given back yet, -1: none */
	SortAlgorithm algorithm;	/* what the service used, after finish */
	char		reason[GPU_TEXT_SIZE];
} GpuJob;

/* Takes note of a message for the current job. */
extern SortStatus client_job_message(GpuClient *c, const GpuMessage *message, SortError *err);

/*
 * Handles one message: waits for it, or (came is not NULL) sets *came to whether
 * there was one.  Fails if the job has failed.
 */
extern SortStatus client_job_handle(GpuJob *job, bool *came, SortError *err);

/*
 * Begins to fill a granted chunk (job->filling); waits for one if there is none.  What is going
 * to fill it must have been announced.
 */
extern SortStatus client_begin_chunk(GpuJob *job, SortError *err);

/* Hands over the chunk that is being filled, with keys. */
extern SortStatus client_submit_keys(GpuJob *job, SortError *err);

/* Adds the job, whose result is known, to the connection's counters, once. */
extern void client_count_job(GpuJob *job);

/* Fills err with what the job has failed of. */
extern SortStatus client_job_failed(GpuJob *job, SortError *err);

#endif							/* HPSORT_GPU_CLIENT_JOB_H */
