/*
 * client_job.c
 *		The client's side of a job: what the service's messages do to it (see
 *		client_job.h).
 */
#include "gpu/client_job.h"

#include <string.h>

#include "sort/algorithms.h"
#include "sort/error.h"

void
client_count_job(GpuJob *job)
{
	if (job->counted)
		return;
	job->counted = true;
	job->client->counters.jobs++;
	job->client->counters.keys += job->n;
}

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
	if (job->filtered ? finished->n > job->n : finished->n != job->n)
		return client_violation(job->client, err, "wrong number of keys");
	job->n = job->base.keys = finished->n;
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

static SortStatus
take_found(GpuJob *job, const GpuLook *found, SortError *err)
{
	GpuClient  *c = job->client;

	if (job->failed)
		return SORT_OK;
	if (!job->looking || job->found || found->look != job->look.look ||
		found->count != job->look.count)
		return client_violation(c, err, "answers that were not asked for");
	if (c->held[found->chunk] != CHUNK_NOT_HELD)
		return client_violation(c, err, "chunk lent twice");
	c->held[found->chunk] = CHUNK_LENT;
	job->look.chunk = found->chunk;
	job->found = true;
	return SORT_OK;
}

/* Copies the answer to the next list of rows from *at, which is moved on; false if it cannot be. */
static bool
take_answer(GpuJob *job, const char **at)
{
	uint64_t	generation = job->generations[job->rows_answered];
	SortRows   *rows = &job->rows[job->rows_answered++];
	GpuExtent	extent;
	GpuRows		answer;

	if (job->ncolumns == 0)
	{
		memcpy(&extent, *at, sizeof(extent));
		*at += sizeof(extent);
		rows->missing = !extent.added;
		rows->rows = extent.rows;
		rows->nulls = extent.nulls;
		if (extent.generation != generation || extent.added > 1 || extent.nulls > extent.rows)
			return false;
	}
	else
	{
		memcpy(&answer, *at, sizeof(answer));
		*at += sizeof(answer) + job->ncolumns * sizeof(uint64_t);
		rows->missing = answer.missing;
		rows->rows = answer.rows;
		rows->nulls = 0;
		if (memcmp(answer.blocks, rows->blocks, sizeof(rows->blocks)) != 0)
			return false;
	}
	rows->added = rows->missing == 0;
	return rows->added || rows->rows == 0;
}

/*
 * Answers to the next lists of rows that were asked for.  The service may write to the chunk at any
 * time: each answer is copied before it is looked at.
 */
static SortStatus
take_added(GpuJob *job, const GpuAdded *added, SortError *err)
{
	GpuClient  *c = job->client;
	const uint32_t most = job->ncolumns > 0 ? gpu_chunk_rows(c->chunk_bytes, job->ncolumns)
	: gpu_chunk_extents(c->chunk_bytes);
	const char *at;
	uint64_t	keys = 0;
	uint32_t	i;

	if (job->failed)
		return SORT_OK;
	if (c->held[added->chunk] != CHUNK_NOT_HELD)
		return client_violation(c, err, "chunk lent twice");
	if (added->count > most || added->count > job->rows_asked - job->rows_answered)
		return client_violation(c, err, "rows that were not asked for");
	at = client_chunk_memory(c, added->chunk);
	for (i = 0; i < added->count; i++)
	{
		const SortRows *rows = &job->rows[job->rows_answered];

		if (!take_answer(job, &at))
			return client_violation(c, err, "impossible rows");
		keys += rows->rows - rows->nulls;
	}
	if (keys != added->keys)
		return client_violation(c, err, "wrong number of keys");
	job->n += keys;
	return client_release_chunk(c, added->chunk, err);
}

SortStatus
client_job_message(GpuClient *c, const GpuMessage *message, SortError *err)
{
	GpuJob	   *job = c->job;

	switch (message->header.type)
	{
		case GPU_MSG_GRANT:
			return take_grant(job, message->body.chunk.chunk, err);
		case GPU_MSG_FINISHED:
			return take_finished(job, &message->body.finished, err);
		case GPU_MSG_RESULT:
			return take_result(job, &message->body.result, err);
		case GPU_MSG_DATA:
			return take_data(job, &message->body.data, err);
		case GPU_MSG_ADDED:
			return take_added(job, &message->body.added, err);
		case GPU_MSG_FULL:
			job->full = true;
			return SORT_OK;
		case GPU_MSG_FOUND:
			return take_found(job, &message->body.look, err);
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

SortStatus
client_begin_chunk(GpuJob *job, SortError *err)
{
	GpuClient  *c = job->client;

	while (c->ngranted == 0)
	{
		SortStatus	status = client_job_handle(job, NULL, err);

		if (status != SORT_OK)
			return status;
	}
	job->filling = c->granted[--c->ngranted];
	job->filled = 0;
	client_populate(c, (uint32_t) job->filling);
	return SORT_OK;
}

SortStatus
client_submit_keys(GpuJob *job, SortError *err)
{
	GpuClient  *c = job->client;
	GpuMessage	message;

	gpu_message_init(&message, GPU_MSG_ADD, c->job_number);
	message.body.chunk.chunk = (uint32_t) job->filling;
	message.body.chunk.count = job->filled;
	c->held[job->filling] = CHUNK_NOT_HELD;
	c->counters.bytes_sent += job->filled * sizeof(int32_t);
	job->filling = -1;
	return client_send(c, &message, err);
}
