/*
 * client_rows.c
 *		Extents, rows of them, and questions about sorted keys in a job of the GPU service (see
 *		client_job.h).
 */
#include "gpu/client_job.h"

#include <string.h>

#include "sort/error.h"

/*
 * The most extents of a list without a layout.  While the service and the device have one list in
 * work, this side writes the next, and reads the answers to the one before.
 */
#define LIST_EXTENTS 2048

/* ------------------------------------------------------------------------
 * Keeping
 * ------------------------------------------------------------------------
 */

SortStatus
client_send_gathered(GpuJob *job, SortError *err)
{
	GatheredExtents *gathered = &job->gathered;
	SortStatus	status;

	if (gathered->count == 0)
		return SORT_OK;
	if (!gathered->full)
	{
		status = client_submit_keys(job, err);
		if (status == SORT_OK)
			status = client_announce(job, 1, err);
		if (status == SORT_OK)
			status = client_send_chunk(job, GPU_MSG_KEEP, gathered->bytes, gathered->used,
									   gathered->count, err);
		if (status != SORT_OK)
			return status;
	}
	gathered->used = 0;
	gathered->count = 0;
	return SORT_OK;
}

SortStatus
client_keep_extent(SortJob *base, uint64_t generation, const void *extent, size_t size,
				   SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GatheredExtents *gathered = &job->gathered;
	GpuClient  *c = job->client;
	GpuKept		kept = {.generation = generation,.size = (uint32_t) size};
	SortStatus	status;

	if (job->failed)
		return client_job_failed(job, err);

	/* FULL may have come meanwhile. */
	status = client_job_handle_all(job, err);
	if (status != SORT_OK || gathered->full || !c->keeps_extents ||
		c->area.chunk_bytes < sizeof(kept) || size > c->area.chunk_bytes - sizeof(kept))
		return status;
	if (gathered->bytes == NULL)
	{
		const SortAllocator *a = &base->context->allocator;

		gathered->bytes = a->alloc(a->arena, c->area.chunk_bytes);
		if (gathered->bytes == NULL)
			return client_no_memory(c, err);
	}
	if (sizeof(kept) + size > c->area.chunk_bytes - gathered->used)
		status = client_send_gathered(job, err);
	if (status != SORT_OK)
		return status;
	memcpy(gathered->bytes + gathered->used, &kept, sizeof(kept));
	memcpy(gathered->bytes + gathered->used + sizeof(kept), extent, size);
	gathered->used += sizeof(kept) + size;
	gathered->count++;
	return sort_interrupted(base->context) ? client_cancelled(c, err) : SORT_OK;
}

/* ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

/* Fails if the job has failed, or if what is asked of it, rows of kept extents, is not sound. */
static SortStatus
check_job(GpuJob *job, bool sound, SortError *err)
{
	if (job->failed)
		return client_job_failed(job, err);
	if (sound && job->client->keeps_extents)
		return SORT_OK;
	return client_refuse(job->client, err, GPU_UNSUPPORTED, "job was not opened for rows");
}

SortStatus
client_set_rows(SortJob *base, const RowsLayout *layout, const ValueRange *ranges, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	char		bytes[sizeof(RowsLayout) + ROWS_MAX_RANGES * sizeof(ValueRange)];
	size_t		nranges = layout->nranges * sizeof(ValueRange);
	SortStatus	status = check_job(job, base->spec.n == 0 && !job->rows.layout &&
								   rows_layout_is_sound(layout, ranges), err);

	if (status == SORT_OK)
		status = client_announce(job, 2, err);	/* for the layout, and the first list of rows */
	if (status != SORT_OK)
		return status;
	memcpy(bytes, layout, sizeof(*layout));
	if (nranges > 0)
		memcpy(bytes + sizeof(*layout), ranges, nranges);
	job->rows.layout = true;
	job->rows.ncolumns = layout->ncolumns;
	job->rows.filtered = layout->filtered;
	return client_send_chunk(job, GPU_MSG_LAYOUT, bytes, sizeof(*layout) + nranges, 1, err);
}

/* Writes the lists of rows and sends them, at most `most` in a chunk. */
static SortStatus
send_lists(GpuJob *job, size_t n, uint32_t most, SortError *err)
{
	AskedRows  *asked = &job->rows;
	const size_t ngenerations = asked->ncolumns * sizeof(uint64_t);
	SortStatus	status = SORT_OK;

	while (status == SORT_OK && asked->asked < n)
	{
		size_t		left = n - asked->asked;
		uint32_t	count = left < most ? (uint32_t) left : most;
		size_t		end = asked->asked + count;
		uint32_t	chunk;
		char	   *list;
		char	   *at;

		status = client_begin_chunk(job, &chunk, err);
		if (status != SORT_OK)
			break;
		list = at = client_chunk_memory(job->client, chunk);
		for (; asked->asked < end; asked->asked++)
		{
			const uint64_t *blocks = asked->list[asked->asked].blocks;
			const SortRows entry = {.blocks = {blocks[0], blocks[1]}};

			memcpy(at, &entry, sizeof(entry));
			memcpy(at + sizeof(entry), asked->generations + asked->asked * asked->ncolumns,
				   ngenerations);
			at += sizeof(entry) + ngenerations;
		}
		status = client_submit_chunk(job, GPU_MSG_ADD_ROWS, chunk, (size_t) (at - list), count,
									 err);
	}
	return status;
}

SortStatus
client_add_rows(SortJob *base, SortRows *rows, const uint64_t *generations, size_t n,
				SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	AskedRows  *asked = &job->rows;
	uint32_t	most;
	SortStatus	status;
	size_t		i;

	for (i = 0; i < n; i++)
		rows[i].added = false;
	/* A service that keeps no extents has none to count, which is no failure. */
	if (n == 0 || (!job->failed && !asked->layout && !job->client->keeps_extents))
		return SORT_OK;
	status = check_job(job, base->spec.n == 0 && n < UINT32_MAX, err);
	if (status == SORT_OK)
		status = client_send_gathered(job, err);
	if (status != SORT_OK)
		return status;
	most = gpu_chunk_rows(job->client->area.chunk_bytes, asked->ncolumns);
	if (!asked->layout && most > LIST_EXTENTS)
		most = LIST_EXTENTS;
	asked->list = rows;
	asked->generations = generations;
	asked->asked = asked->answered = 0;
	status = client_announce(job, (n + most - 1) / most, err);
	if (status == SORT_OK)
		status = send_lists(job, n, most, err);
	while (status == SORT_OK && asked->answered < n)
		status = client_job_handle(job, NULL, err);
	asked->list = NULL;
	asked->asked = asked->answered = 0;
	return status;
}

/* ------------------------------------------------------------------------
 * Questions
 * ------------------------------------------------------------------------
 */

/* Asks some questions, and copies their answers. */
static SortStatus
ask(GpuJob *job, SortLook look, const void *questions, uint32_t count, size_t question_bytes,
	void *answers,
	size_t answer_bytes, SortError *err)
{
	GpuClient  *c = job->client;
	SortStatus	status = client_announce(job, 1, err);

	job->look = (GpuLook)
	{
		.count = count,.look = look
	};
	job->looking = true;
	if (status == SORT_OK)
		status = client_send_chunk(job, GPU_MSG_LOOK, questions, count * question_bytes, count,
								   err);
	while (status == SORT_OK && job->looking)
		status = client_job_handle(job, NULL, err);
	job->looking = false;
	if (status != SORT_OK)
		return status;
	memcpy(answers, client_chunk_memory(c, job->look.chunk), count * answer_bytes);
	job->counters.bytes_received += count * answer_bytes;
	return client_release_chunk(c, job->look.chunk, err);
}

/* Asks as many questions at once as a chunk holds, and waits for their answers. */
SortStatus
client_look_up(SortJob *base, SortLook look, const void *questions, size_t n, void *answers,
			   SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	const size_t question_bytes = look == SORT_LOOK_AT ? sizeof(uint64_t) : sizeof(int32_t);
	const size_t answer_bytes = look == SORT_LOOK_AT ? sizeof(int32_t) : sizeof(uint64_t);
	SortStatus	status = check_job(job, job->finished && base->spec.look_up, err);
	uint32_t	count;

	for (; n > 0 && status == SORT_OK; n -= count)
	{
		const uint32_t most = gpu_chunk_looks(job->client->area.chunk_bytes);

		count = n < most ? (uint32_t) n : most;
		status = ask(job, look, questions, count, question_bytes, answers, answer_bytes, err);
		if (status == SORT_OK && sort_interrupted(base->context))
			status = client_cancelled(job->client, err);
		questions = (const char *) questions + count * question_bytes;
		answers = (char *) answers + count * answer_bytes;
	}
	return status;
}
