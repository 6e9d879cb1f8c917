/*
 * client_job.c
 *		The client's side of a job: what the service's messages do to it (see
 *		client_job.h).
 */
#include "gpu/client_job.h"

#include <string.h>

#include "gpu/copy.h"
#include "sort/algorithms.h"
#include "sort/error.h"

void
client_count_job(GpuJob *job)
{
	job->counters.jobs = 1;
	job->counters.keys = job->n;
}

SortStatus
client_job_failed(GpuJob *job, SortError *err)
{
	*err = job->error;
	return job->error.status;
}

/*
 * ERROR: the service has given up this job, which fails with what the message says; its chunks are
 * the service's again.  The connection lives on, and another job may be opened.
 */
static void
take_error(GpuJob *job, const GpuError *e)
{
	GpuClient  *c = job->client;

	if (e->failure == GPU_OK)
	{
		sort_out_of_bounds(&job->error, e->key, job->base.spec.lo, job->base.spec.hi);
		client_report_failure(c, GPU_PROTOCOL, job->error.message);
	}
	else
	{
		SortAlgorithm forced = job->base.context->algorithm;

		client_refuse(c, &job->error, (GpuFailure) e->failure, e->text);
		/* A forced algorithm that the CPU does not have has no other device. */
		if ((e->failure == GPU_UNSUPPORTED || e->failure == GPU_NO_MEMORY) &&
			forced != SORT_ALGORITHM_AUTO &&
			!algorithm_gives(forced, job->base.spec.want))
			job->error.status = SORT_UNSUPPORTED;
	}
	job->failed = true;
	job->filling = -1;
	client_drop_chunks(c);
}

/* GRANT: puts a chunk on the stack of granted ones; fails if the client has it already. */
static SortStatus
take_grant(GpuJob *job, uint32_t chunk, SortError *err)
{
	GpuClient  *c = job->client;

	if (job->failed)
		return SORT_OK;
	if (c->area.held[chunk] != CHUNK_NOT_HELD)
		return client_violation(c, err, "chunk granted twice");

	/* A grant that crosses FINISH on the way is dropped by take_finished. */
	c->area.held[chunk] = CHUNK_GRANTED;
	c->area.granted[c->area.ngranted++] = chunk;
	return SORT_OK;
}

/* Whether a result of that form and size is what the job was opened for: keys may come as runs. */
static bool
result_fits(const GpuJob *job, const GpuFinished *finished)
{
	const SortJobSpec *spec = &job->base.spec;

	if (spec->look_up)
		return finished->items == 0;
	if (finished->form == SORT_WANT_RUNS)
		return spec->want != SORT_WANT_PERMUTATION && finished->items <= finished->n;
	return finished->form == spec->want && finished->items == finished->n;
}

/* FINISHED: takes over the result's form and size; fails if they are not what was asked for. */
static SortStatus
take_finished(GpuJob *job, const GpuFinished *finished, SortError *err)
{
	if (!job->finishing || job->finished)
		return client_violation(job->client, err, "result that was not asked for");
	if (job->rows.filtered ? finished->n > job->n : finished->n != job->n)
		return client_violation(job->client, err, "wrong number of keys");
	if (!result_fits(job, finished))
		return client_violation(job->client, err, "result of another form");
	/* FINISH has given back the chunks that were granted for what has not come. */
	while (job->client->area.ngranted > 0)
	{
		uint32_t	chunk = job->client->area.granted[--job->client->area.ngranted];

		job->client->area.held[chunk] = CHUNK_NOT_HELD;
	}
	job->n = job->base.keys = finished->n;
	job->finished = true;
	job->result.form = (SortWant) finished->form;
	job->result.items = finished->items;
	job->algorithm = (SortAlgorithm) finished->algorithm;
	memcpy(job->reason, finished->reason, sizeof(job->reason));
	return SORT_OK;
}

/* Writes the answer to the next entry to the caller's list; false if it contradicts itself. */
static bool
take_answer(AskedRows *asked, const SortRows *answer)
{
	SortRows   *rows = &asked->list[asked->answered++];
	bool		same = memcmp(answer->blocks, rows->blocks, sizeof(rows->blocks)) == 0;

	*rows = *answer;
	return same && rows->added == (rows->missing == 0) && (rows->added || rows->rows == 0) &&
		rows->nulls <= rows->rows && !(asked->layout && rows->nulls > 0);
}

/*
 * LENT while the job is filled: takes the answers to the next entries, and gives the chunk back.
 * The service may write to the chunk at any time: each answer is copied before it is looked at.
 */
static SortStatus
take_added(GpuJob *job, const GpuChunk *added, SortError *err)
{
	GpuClient  *c = job->client;
	AskedRows  *asked = &job->rows;
	const char *at;

	if (added->count > gpu_chunk_rows(c->area.chunk_bytes, asked->ncolumns) ||
		added->count > asked->asked - asked->answered)
		return client_violation(c, err, "rows that were not asked for");
	at = client_chunk_memory(c, added->chunk);
	for (uint32_t i = 0; i < added->count; i++)
	{
		SortRows	answer;

		memcpy(&answer, at, sizeof(answer));
		at += sizeof(answer) + asked->ncolumns * sizeof(uint64_t);
		if (!take_answer(asked, &answer))
			return client_violation(c, err, "impossible rows");
		job->n += answer.rows - answer.nulls;
	}
	return client_release_chunk(c, added->chunk, err);
}

/*
 * LENT: answers to lists of rows are read at once, because more lists may be on their way
 * meanwhile.  A part of the result, or answers to questions, wait in job->lent for
 * client_next_lent.
 */
static SortStatus
take_lent(GpuJob *job, const GpuChunk *lent, SortError *err)
{
	GpuClient  *c = job->client;

	if (job->failed)
		return SORT_OK;
	if (c->area.held[lent->chunk] != CHUNK_NOT_HELD)
		return client_violation(c, err, "chunk lent twice");
	c->area.held[lent->chunk] = CHUNK_LENT;
	if (!job->finished)
		return take_added(job, lent, err);
	if (job->lent.count > 0)
		return client_violation(c, err, "answers that were not asked for");
	job->lent = *lent;
	return SORT_OK;
}

/*
 * Does to the current job what a message of the service says.  A job that ERROR ends is no failure
 * here: job->failed is set.  Fails, and closes the connection, where the message is out of turn.
 */
static SortStatus
client_job_message(GpuClient *c, const GpuMessage *message, SortError *err)
{
	GpuJob	   *job = c->job;

	switch (message->header.type)
	{
		case GPU_MSG_GRANT:
			return take_grant(job, message->body.chunk.chunk, err);
		case GPU_MSG_FINISHED:
			return take_finished(job, &message->body.finished, err);
		case GPU_MSG_LENT:
			return take_lent(job, &message->body.chunk, err);
		case GPU_MSG_FULL:
			job->gathered.full = true;
			return SORT_OK;
		case GPU_MSG_ERROR:
			if (!job->failed)
				take_error(job, &message->body.error);
			return SORT_OK;
		default:
			return client_violation(c, err, "out of turn");
	}
}

/* Handles the next message; without wait, *came is false if none was there. */
static SortStatus
handle_next(GpuJob *job, bool wait, bool *came, SortError *err)
{
	GpuMessage	message;
	SortStatus	status = client_receive(job->client, wait, &message, err);

	*came = status == SORT_OK && message.header.type != 0;
	if (*came)
		status = client_job_message(job->client, &message, err);
	return status == SORT_OK && job->failed ? client_job_failed(job, err) : status;
}

SortStatus
client_job_handle(GpuJob *job, SortError *err)
{
	bool		came;

	return handle_next(job, true, &came, err);
}

SortStatus
client_job_handle_all(GpuJob *job, SortError *err)
{
	bool		came = true;
	SortStatus	status = SORT_OK;

	while (status == SORT_OK && came && (!job->finished || job->base.spec.look_up))
		status = handle_next(job, false, &came, err);
	return status;
}

SortStatus
client_next_lent(GpuJob *job, GpuChunk *lent, SortError *err)
{
	SortStatus	status = SORT_OK;

	while (status == SORT_OK && job->lent.count == 0)
		status = client_job_handle(job, err);
	*lent = job->lent;
	job->lent.count = 0;
	return status;
}

SortStatus
client_announce(GpuJob *job, uint64_t chunks, SortError *err)
{
	GpuMessage	message;

	if (chunks <= job->announced)
		return SORT_OK;
	gpu_message_init(&message, GPU_MSG_WANT, job->client->job_number);
	message.body.want.chunks = chunks - job->announced;
	job->announced = chunks;
	return client_send(job->client, &message, err);
}

SortStatus
client_begin_chunk(GpuJob *job, uint32_t *chunk, SortError *err)
{
	GpuClient  *c = job->client;

	while (c->area.ngranted == 0)
	{
		SortStatus	status = client_job_handle(job, err);

		if (status != SORT_OK)
			return status;
	}
	*chunk = c->area.granted[--c->area.ngranted];
	client_populate(c, *chunk);
	return SORT_OK;
}

SortStatus
client_submit_chunk(GpuJob *job, GpuMessageType type, uint32_t chunk, size_t size,
					uint32_t count, SortError *err)
{
	GpuClient  *c = job->client;
	GpuMessage	message;

	gpu_message_init(&message, type, c->job_number);
	message.body.chunk.chunk = chunk;
	message.body.chunk.count = count;
	c->area.held[chunk] = CHUNK_NOT_HELD;
	job->counters.bytes_sent += size;
	job->announced--;
	return client_send(c, &message, err);
}

SortStatus
client_send_chunk(GpuJob *job, GpuMessageType type, const void *bytes, size_t size, uint32_t count,
				  SortError *err)
{
	uint32_t	chunk;
	SortStatus	status = client_begin_chunk(job, &chunk, err);

	if (status != SORT_OK)
		return status;
	copy_to_shared(client_chunk_memory(job->client, chunk), bytes, size);
	return client_submit_chunk(job, type, chunk, size, count, err);
}

SortStatus
gpu_client_devices(GpuClient *c, GpuDeviceStatus *devices, int max, int *count, SortError *err)
{
	GpuMessage	message;
	SortStatus	status;
	uint32_t	expected = 0;

	*count = 0;
	gpu_message_init(&message, GPU_MSG_ASK_DEVICES, 0);
	status = client_send(c, &message, err);
	while (status == SORT_OK)
	{
		const GpuDevice *device = &message.body.device;

		status = client_receive(c, true, &message, err);
		if (status != SORT_OK)
			break;
		if (message.header.type != GPU_MSG_DEVICE)
		{
			/* Messages for the current job must not get lost meanwhile. */
			status = client_job_message(c, &message, err);
			continue;
		}
		if (device->index != expected++)
			return client_violation(c, err, "device out of turn");
		if (device->count > 0 && *count < max)
			devices[(*count)++] = device->status;
		if (device->count == 0 || expected == device->count)
			break;
	}
	return status;
}
