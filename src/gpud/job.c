/*
 * job.c
 *		The beginning and the end of a connection's job (see job.h).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpud/job.h"
#include "gpud/log.h"
#include "sort/clock.h"

bool
job_init(Job *job, Peer *peer, Devices *devices, Chunks *chunks)
{
	memset(job, 0, sizeof(*job));
	job->peer = peer;
	job->devices = devices;
	if (!chunks_holder_init(chunks, &job->holder))
		return false;
	pthread_mutex_init(&job->lock, NULL);
	return true;
}

void
job_release(Job *job)
{
	chunks_holder_release(&job->holder);
	pthread_mutex_destroy(&job->lock);
	free(job->extents.list);
}

void
job_cancel(Job *job)
{
	pthread_mutex_lock(&job->lock);
	if (job->cuda)
		hpsort_cuda_job_cancel(job->cuda);
	pthread_mutex_unlock(&job->lock);
}

/*
 * Closes the engine's job, lets its extents go, and gives the device back. error is why the job
 * has failed, or NULL.  With lost, the device does not recover from the error.  A job that is
 * closed already is left as it is.
 */
static void
close_on_device(Job *job, const GpuError *error, bool lost)
{
	HpsortCudaJob *cuda;

	pthread_mutex_lock(&job->lock);
	cuda = job->cuda;
	job->cuda = NULL;
	pthread_mutex_unlock(&job->lock);
	if (cuda)
		hpsort_cuda_job_close(cuda);
	if (job->device)
	{
		Extents    *extents = &job->device->extents;

		/*
		 * If memory was short, the next job shall find more.  If the device has failed, extents
		 * may not have come to it whole.
		 */
		if (error && error->failure == GPU_DEVICE_ERROR)
			(void) extents_forget(extents, false);
		extents_release(extents, job->extents.list, job->extents.n);
		job->extents.n = 0;
		if (error && error->failure == GPU_NO_MEMORY)
			(void) extents_forget(extents, true);

		/* A key out of bounds is no failure of the device. */
		devices_put(job->devices, job->device, error == NULL && job->finished,
					error && error->failure != GPU_OK ? error->text : NULL, lost);
	}
	job->device = NULL;
}

bool
job_makes_room(Job *job, const HpsortCudaError * err)
{
	return err->code == HPSORT_CUDA_NO_MEMORY && !err->sticky &&
		extents_forget(&job->device->extents, true);
}

void
job_end(Job *job)
{
	/* The device may read chunks until the job is closed on it. */
	close_on_device(job, NULL, false);
	chunks_leave(&job->holder);
	while (job->holder.held > 0)
		chunks_put(&job->holder, job->holder.list[0].chunk);
	job->open = false;
}

/*
 * Fails the job: logs the error, closes the job on its device, and sends the client the ERROR.
 * With lost, the device does not recover from the error.  False when the connection is over.
 */
static bool
fail(Job *job, const GpuError *error, bool lost)
{
	GpuMessage	message;

	log_line(LOG_INFO, "connection %llu, job %llu: %s", (unsigned long long) job->peer->id,
			 (unsigned long long) job->number, error->text);
	gpu_message_init(&message, GPU_MSG_ERROR, job->number);
	message.body.error = *error;
	job->failed = true;
	chunks_leave(&job->holder);
	close_on_device(job, error, lost);
	return peer_send(job->peer, &message);
}

bool
job_fail(Job *job, GpuFailure failure, const char *text)
{
	GpuError	error = {.failure = failure};

	snprintf(error.text, sizeof(error.text), "%s", text);
	return fail(job, &error, false);
}

bool
job_fail_by(Job *job, const HpsortCudaError * error)
{
	/* A key out of bounds (GPU_OK) is no failure of the service. */
	static const GpuFailure failures[] = {
		[HPSORT_CUDA_BAD_ARGUMENT] = GPU_UNSUPPORTED,
		[HPSORT_CUDA_OUT_OF_BOUNDS] = GPU_OK,
		[HPSORT_CUDA_NO_MEMORY] = GPU_NO_MEMORY,
		[HPSORT_CUDA_NO_DEVICE] = GPU_NO_DEVICE,
		[HPSORT_CUDA_FAILED] = GPU_DEVICE_ERROR,
		[HPSORT_CUDA_DUPLICATE] = GPU_UNSUPPORTED
	};
	GpuError	said = {.failure = failures[error->code],.key = error->key};

	if (error->code == HPSORT_CUDA_CANCELLED)
		return false;
	snprintf(said.text, sizeof(said.text), "%.150s", error->text);
	return fail(job, &said, error->sticky != 0);
}
