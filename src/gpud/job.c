/*
 * job.c
 *		The beginning and the end of a connection's job (see job.h).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/clock.h"
#include "gpud/job.h"
#include "gpud/log.h"

bool
job_init(Job *job, Peer *peer, Devices *devices, Chunks *chunks)
{
	memset(job, 0, sizeof(*job));
	job->peer = peer;
	job->devices = devices;
	job->chunks = chunks;
	job->state = calloc(chunks->count, 1);
	job->busy = calloc(chunks->count, sizeof(BusyChunk));
	if (job->state == NULL || job->busy == NULL || !chunks_holder_init(chunks, &job->holder))
	{
		free(job->state);
		free(job->busy);
		return false;
	}
	pthread_mutex_init(&job->lock, NULL);
	return true;
}

void
job_release(Job *job)
{
	chunks_holder_release(job->chunks, &job->holder);
	pthread_mutex_destroy(&job->lock);
	free(job->state);
	free(job->busy);
	free(job->extents);
}

void
job_cancel(Job *job)
{
	pthread_mutex_lock(&job->lock);
	if (job->engine_job)
		job->device->engine->job_cancel(job->engine_job);
	pthread_mutex_unlock(&job->lock);
}

static void
close_engine_job(Job *job, const EngineError *error)
{
	void	   *engine_job;

	pthread_mutex_lock(&job->lock);
	engine_job = job->engine_job;
	job->engine_job = NULL;
	pthread_mutex_unlock(&job->lock);
	if (engine_job)
		job->device->engine->job_close(engine_job);
	if (job->device)
	{
		/*
		 * If memory was short, the next job shall find more.  If the device has failed, extents
		 * may not have come to it whole.
		 */
		if (error && error->failure == GPU_DEVICE_ERROR)
			extents_forget(&job->device->extents);
		extents_release(&job->device->extents, job->extents, job->nextents);
		job->nextents = 0;
		if (error && error->failure == GPU_NO_MEMORY)
			(void) extents_give_up(&job->device->extents);
		devices_put(job->devices, job->device, error);
	}
	job->device = NULL;
}

bool
job_makes_room(Job *job, const EngineError *err)
{
	return err->failure == GPU_NO_MEMORY && !err->cancelled && !err->sticky &&
		extents_give_up(&job->device->extents);
}

void
job_stop_queueing(Job *job)
{
	if (job->queued)
		chunks_leave(job->chunks, &job->holder);
	job->queued = false;
}

/* Called when the engine's job is closed: until then the device may read chunks. */
static void
free_chunks(Job *job)
{
	Chunks	   *chunks = job->chunks;
	uint32_t	i;

	job_stop_queueing(job);
	for (i = 0; i < chunks->count && job->holder.held > 0; i++)
		if (job->state[i] != CHUNK_ELSEWHERE)
		{
			job->state[i] = CHUNK_ELSEWHERE;
			chunks_put(chunks, &job->holder, i);
		}
	job->filling = job->reading = job->nbusy = 0;
}

void
job_end(Job *job, const EngineError *error)
{
	close_engine_job(job, error);
	free_chunks(job);
	chunks_activate(job->chunks, &job->holder, false);
	job->open = false;
	job->form = GPU_FORM_NONE;
}

bool
job_fail(Job *job, const EngineError *error)
{
	GpuMessage	message;

	if (error->cancelled)
		return false;
	log_line(LOG_INFO, "connection %llu, job %llu: %s", (unsigned long long) job->peer->id,
			 (unsigned long long) job->number, error->text);
	gpu_message_init(&message, GPU_MSG_ERROR, job->number);
	message.body.error.failure = error->failure;
	message.body.error.key = error->key;
	snprintf(message.body.error.text, GPU_TEXT_SIZE, "%s", error->text);
	job->failed = true;
	job->form = GPU_FORM_NONE;
	job_stop_queueing(job);
	close_engine_job(job, error);
	return peer_send(job->peer, &message);
}

/*
 * Commits a fault that looks like a failure of the engine.  False if it is none
 * of those; else *alive is false when the connection is over.
 */
static bool
engine_fault(Job *job, FaultKind fault, bool *alive)
{
	EngineError err;

	if (fault == FAULT_OOM)
		engine_fail(&err, GPU_NO_MEMORY, "out of device memory (injected)");
	else if (fault == FAULT_STICKY)
	{
		engine_fail(&err, GPU_DEVICE_ERROR, "CUDA error: an illegal memory access (injected)");
		err.sticky = true;
	}
	else
		return false;
	*alive = job_fail(job, &err);
	return true;
}

bool
job_commit_fault(Job *job, FaultPoint point, bool *alive)
{
	FaultKind	fault = faults_at(point, &job->peer->over);

	*alive = true;
	switch (fault)
	{
		case FAULT_NONE:
			return false;
		case FAULT_GARBAGE:
		case FAULT_SHORT:
		case FAULT_OVERSIZE:
			*alive = peer_send_nonsense(job->peer, fault, job->number);
			return true;
		case FAULT_NO_CHUNKS:
			if (point != AT_CHUNK && point != AT_READ)
				return false;
			job->starved = true;
			job->queued_since = gpu_clock_ms();
			return true;
		default:
			return job->open && !job->failed && engine_fault(job, fault, alive);
	}
}
