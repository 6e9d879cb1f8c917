/*
 * client_job.c
 *		The client's side of a job: what the service's messages do to it (see
 *		client_job.h).
 */
#include "gpu/client_job.h"

#include <string.h>

#include "sort/algorithms.h"
#include "sort/error.h"

SortStatus
client_job_failed(GpuJob *job, SortError *err)
{
	*err = job->error;
	return job->error.status;
}

/* The service has given up this job, whose chunks are its own again. */
static void
take_error(GpuJob *job, const GpuError *e)
{
	GpuClient  *c = job->client;

	if (e->failure == GPU_OK)
		sort_out_of_bounds(&job->error, e->key, job->base.spec.lo, job->base.spec.hi);
	else
	{
		SortAlgorithm forced = job->base.context->algorithm;
		bool		refused = (e->failure == GPU_UNSUPPORTED || e->failure == GPU_NO_MEMORY) &&
			forced != SORT_ALGORITHM_AUTO &&
			!algorithm_runs_on(forced, SORT_DEVICE_CPU, job->base.spec.want);

		/* A forced algorithm that the CPU does not have has no other device. */
		c->failure = (GpuFailure) e->failure;
		sort_fail(&job->error, refused ? SORT_UNSUPPORTED : SORT_DEVICE_UNAVAILABLE, "%s", e->text);
	}
	job->failed = true;
	job->filling = -1;
	job->kept = -1;
	client_drop_chunks(c);
}

static SortStatus
take_grant(GpuJob *job, uint32_t chunk, SortError *err)
{
	GpuClient  *c = job->client;

	if (job->failed)
		return SORT_OK;
	if (c->held[chunk] != CHUNK_NOT_HELD)
		return client_violation(c, err, "chunk granted twice");

	/* One that has crossed the FINISH on the way is dropped when that is answered. */
	c->held[chunk] = CHUNK_GRANTED;
	c->granted[c->ngranted++] = chunk;
	return SORT_OK;
}

static SortStatus
take_finished(GpuJob *job, const GpuFinished *finished, SortError *err)
{
	if (!job->finishing || job->finished)
		return client_violation(job->client, err, "result that was not asked for");
	if (finished->n != job->n)
		return client_violation(job->client, err, "wrong number of keys");
	job->finished = true;
	job->algorithm = (SortAlgorithm) finished->algorithm;
	memcpy(job->reason, finished->reason, sizeof(job->reason));
	return SORT_OK;
}

static SortStatus
take_result(GpuJob *job, const GpuResult *result, SortError *err)
{
	if (!job->finished || result->read > job->reads)
		return client_violation(job->client, err, "result that was not asked for");

	/* The result of an earlier reading, which was given up. */
	if (result->read < job->reads)
		return SORT_OK;
	if (job->have_result)
		return client_violation(job->client, err, "second result");
	if (result->form == GPU_FORM_RUNS ? result->items > job->n : result->items != job->n)
		return client_violation(job->client, err, "wrong number of results");
	job->result = *result;
	job->have_result = true;
	job->begun = false;
	job->at = 0;
	return SORT_OK;
}

/* A part of a result that no read waits for. */
static SortStatus
take_data(GpuJob *job, const GpuData *data, SortError *err)
{
	GpuClient  *c = job->client;

	if (job->failed)
		return SORT_OK;
	if (!job->finished || data->read > job->reads)
		return client_violation(c, err, "result that was not asked for");
	if (c->held[data->chunk] != CHUNK_NOT_HELD)
		return client_violation(c, err, "chunk lent twice");
	if (data->read < job->reads)
		return client_release_chunk(c, data->chunk, err);
	return client_violation(c, err, "result out of turn");
}

SortStatus
client_job_message(GpuClient *c, const GpuMessage *message, SortError *err)
{
	GpuJob	   *job = c->job;

	switch (message->header.type)
	{
		case GPU_MSG_GRANT:
			return take_grant(job, message->body.grant.chunk, err);
		case GPU_MSG_FINISHED:
			return take_finished(job, &message->body.finished, err);
		case GPU_MSG_RESULT:
			return take_result(job, &message->body.result, err);
		case GPU_MSG_DATA:
			return take_data(job, &message->body.data, err);
		case GPU_MSG_ERROR:
			if (!job->failed)
				take_error(job, &message->body.error);
			return SORT_OK;
		default:
			return client_violation(c, err, "out of turn");
	}
}

SortStatus
client_job_handle(GpuJob *job, bool *came, SortError *err)
{
	GpuMessage	message;
	bool		got = false;
	SortStatus	status = client_receive(job->client, came == NULL, &message, &got, err);

	if (status == SORT_OK && got)
		status = client_job_message(job->client, &message, err);
	if (status == SORT_OK && job->failed)
		return client_job_failed(job, err);
	if (came)
		*came = got;
	return status;
}
