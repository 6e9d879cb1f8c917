/*
 * job_chunks.c
 *		The chunks of a job on their way (see job.h): granted to the client for what it has
 *		announced, read by the device, and lent to the client with what it reads.
 *
 * Nothing here waits for the client.  The device is waited for only when the client has announced
 * something and has no chunk to fill meanwhile.
 */
#define _GNU_SOURCE
#include "gpud/job.h"
#include "sort/clock.h"

/* How often the engine is asked which chunks it has read, when nothing else happens. */
#define BUSY_POLL_MS 1

/* Hands a busy chunk to the client: GRANT for filling (count 0), LENT for reading count items. */
static bool
hand_over(Job *job, GpuMessageType type, uint32_t chunk, uint32_t count)
{
	GpuMessage	message;

	chunks_held(&job->holder, chunk)->state = type == GPU_MSG_GRANT ? CHUNK_FILLING : CHUNK_READING;
	gpu_message_init(&message, type, job->number);
	message.body.chunk = (GpuChunk)
	{
		chunk, count
	};
	return peer_send(job->peer, &message);
}

bool
job_lend(Job *job, uint32_t chunk, uint32_t count)
{
	return hand_over(job, GPU_MSG_LENT, chunk, count);
}

bool
job_collect_busy(Job *job, bool wait)
{
	ChunkHolder *holder = &job->holder;
	HpsortCudaError err;
	uint64_t	number;
	uint32_t	i = 0;

	if (chunks_count(holder, CHUNK_BUSY) == 0)
		return true;
	if (hpsort_cuda_job_consumed(job->cuda, wait, &number, &err) != HPSORT_CUDA_OK)
		return job_fail_by(job, &err);
	while (i < holder->held)
		if (holder->list[i].state == CHUNK_BUSY && holder->list[i].number <= number)
			chunks_put(holder, holder->list[i].chunk);
		else
			i++;
	return true;
}

void
job_chunk_is_read_by(Job *job, uint32_t chunk, uint64_t number)
{
	if (number == 0)
		chunks_put(&job->holder, chunk);
	else
		chunks_held(&job->holder, chunk)->number = number;
}

/*
 * Chunks are granted only for what the client has in hand.  A client that
 * pauses has nothing, so it gets none: however many streams pause, the chunks are
 * there for the jobs that are at work.
 */
bool
job_supply(Job *job)
{
	ChunkHolder *holder = &job->holder;

	while (job->wanted > chunks_count(holder, CHUNK_FILLING))
	{
		int64_t		chunk;

		if (!job_collect_busy(job, false))
			return false;
		if (job->failed)
			return true;

		/* The client gives back answers that it has been lent at once, and then there is one. */
		chunk = chunks_take(holder, holder->held == 0);
		if (chunk < 0 && chunks_count(holder, CHUNK_FILLING) == 0 &&
			chunks_count(holder, CHUNK_BUSY) > 0)
		{
			/* The client has nothing to fill meanwhile, and the device is soon done. */
			if (!job_collect_busy(job, true))
				return false;
			if (job->failed)
				return true;
			continue;
		}
		if (chunk < 0)
			return true;
		if (!hand_over(job, GPU_MSG_GRANT, (uint32_t) chunk, 0))
			return false;
	}
	return true;
}

/*
 * Reads the next count items of the result into a chunk, laid out as the comment of GpuChunk says.
 * Waits for the device.  Returns the code of the engine, and an error in *err.
 */
static HpsortCudaCode
read_items(const Job *job, uint32_t count, void *chunk, HpsortCudaError * err)
{
	const JobResult *result = &job->result;

	switch (result->form)
	{
		case SORT_WANT_RUNS:
			return hpsort_cuda_job_read_runs(job->cuda, result->at, count,
											 (int32_t *) ((uint64_t *) chunk + count), chunk, err);
		case SORT_WANT_PERMUTATION:
			return hpsort_cuda_job_read_permutation(job->cuda, result->at, count, chunk, err);
		default:
			return hpsort_cuda_job_read_keys(job->cuda, result->at, count,
											 job->spec.descending != 0, chunk, err);
	}
}

/*
 * Lends the client the next parts of the result, as far as chunks are free.  Stops when the client
 * has sent a message, which may close the job, or has hung up.  False when the connection is over.
 */
static bool
deliver(Job *job)
{
	const Chunks *chunks = job->holder.chunks;
	JobResult  *result = &job->result;

	while (result->at < result->items && !peer_has_input(job->peer))
	{
		uint32_t	most = gpu_chunk_items(result->form, chunks->bytes);
		uint64_t	left = result->items - result->at;
		uint32_t	count = left < most ? (uint32_t) left : most;
		int64_t		chunk = chunks_take(&job->holder, job->holder.held == 0);
		HpsortCudaError err;

		if (chunk < 0)
			return true;
		if (read_items(job, count, chunks_at(chunks, (uint32_t) chunk),
					   &err) != HPSORT_CUDA_OK)
			return job_fail_by(job, &err);
		result->at += count;
		if (!job_lend(job, (uint32_t) chunk, count))
			return false;
		if (peer_has_sent(job->peer))
			break;
	}
	return true;
}

/*
 * *timeout is the earlier of two times: the engine is asked again after BUSY_POLL_MS while it
 * reads chunks, and a job that queues for a chunk fails after the wait_ms of its OPEN.
 */
bool
job_progress(Job *job, int *timeout)
{
	*timeout = -1;
	if (!job->open || job->failed)
		return true;
	if (job->finished && job->wanted == 0 ? !deliver(job) : !job_supply(job))
		return false;
	if (job->failed)
		return true;
	if (chunks_count(&job->holder, CHUNK_BUSY) > 0)
	{
		if (!job_collect_busy(job, false))
			return false;
		if (chunks_count(&job->holder, CHUNK_BUSY) > 0)
			*timeout = BUSY_POLL_MS;
	}
	if (job->holder.queued && job->spec.wait_ms > 0)
	{
		int64_t		left = job->holder.queued_since + job->spec.wait_ms - sort_clock_ms();

		if (left <= 0)
			return job_fail(job, GPU_NO_CHUNKS, "no pinned memory became free in time");
		if (*timeout < 0 || left < *timeout)
			*timeout = left < 1000000 ? (int) left : 1000000;
	}
	return true;
}
