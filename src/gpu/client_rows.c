/*
 * client_rows.c
 *		Rows and questions in a job of the GPU service (see client_rows.h).
 */
#include "gpu/client_rows.h"

#include <string.h>

#include "gpu/client_extents.h"
#include "sort/error.h"

/*
 * The most extents of a list.  While the service and the device have one list in work, this side
 * writes the next, and reads the answers to the one before.
 */
#define LIST_EXTENTS 2048

/* Whether rows may be added, or SORT_OK is not the status. */
static SortStatus
check_job(GpuJob *job, bool sound, SortError *err)
{
	if (job->failed)
		return client_job_failed(job, err);
	if (sound && job->client->keeps_extents)
		return SORT_OK;
	job->client->failure = GPU_UNSUPPORTED;
	return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "job was not opened for rows");
}

SortStatus
client_set_rows(SortJob *base, const RowsLayout *layout, const ValueRange *ranges, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	char		bytes[sizeof(RowsLayout) + ROWS_MAX_RANGES * sizeof(ValueRange)];
	size_t		nranges = layout->nranges * sizeof(ValueRange);
	SortStatus	status = check_job(job, base->spec.n == 0 && job->ncolumns == 0 &&
								   rows_layout_is_sound(layout, ranges), err);

	if (status == SORT_OK)
		status = client_announce_chunks(job, 1, 1, err);	/* for the layout, and the first list
															 * of rows */
	if (status != SORT_OK)
		return status;
	memcpy(bytes, layout, sizeof(*layout));
	if (nranges > 0)
		memcpy(bytes + sizeof(*layout), ranges, nranges);
	job->ncolumns = layout->ncolumns;
	job->filtered = layout->filtered;
	return client_send_chunk(job, GPU_MSG_ROWS, bytes, sizeof(*layout) + nranges, 1, err);
}

/* The most lists of rows that a chunk holds, of extents where there is no layout. */
static uint32_t
lists_of_chunk(const GpuJob *job)
{
	uint32_t	extents = gpu_chunk_extents(job->client->chunk_bytes);

	if (job->ncolumns > 0)
		return gpu_chunk_rows(job->client->chunk_bytes, job->ncolumns);
	return extents < LIST_EXTENTS ? extents : LIST_EXTENTS;
}

/* Writes what is asked of list i to a chunk; returns where the next one goes. */
static char *
write_rows(const GpuJob *job, size_t i, char *at)
{
	const SortRows *rows = &job->rows[i];
	const size_t ngenerations = job->ncolumns * sizeof(uint64_t);
	const GpuRows entry = {.blocks = {rows->blocks[0], rows->blocks[1]}};
	const GpuExtent extent = {
		.generation = job->generations[i],
		.blocks = {rows->blocks[0], rows->blocks[1]}
	};

	if (job->ncolumns == 0)
	{
		memcpy(at, &extent, sizeof(extent));
		return at + sizeof(extent);
	}
	memcpy(at, &entry, sizeof(entry));
	memcpy(at + sizeof(entry), job->generations + i * job->ncolumns, ngenerations);
	return at + sizeof(entry) + ngenerations;
}

/* Writes the lists of rows and sends them, as many as fit in each chunk. */
static SortStatus
send_lists(GpuJob *job, size_t n, uint32_t most, SortError *err)
{
	const GpuMessageType type = job->ncolumns > 0 ? GPU_MSG_ADD_ROWS : GPU_MSG_ADD_EXTENTS;
	SortStatus	status = SORT_OK;

	while (status == SORT_OK && job->rows_asked < n)
	{
		size_t		left = n - job->rows_asked;
		uint32_t	count = left < most ? (uint32_t) left : most;
		char	   *list;
		char	   *at;
		uint32_t	i;

		status = client_begin_chunk(job, err);
		if (status != SORT_OK)
			break;
		list = at = client_chunk_memory(job->client, (uint32_t) job->filling);
		for (i = 0; i < count; i++)
			at = write_rows(job, job->rows_asked + i, at);
		job->rows_asked += count;
		status = client_submit_chunk(job, type, (size_t) (at - list), count, err);
	}
	return status;
}

SortStatus
client_add_rows(SortJob *base, SortRows *rows, const uint64_t *generations, size_t n,
				SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	uint32_t	capacity = lists_of_chunk(job);
	SortStatus	status;
	size_t		i;

	for (i = 0; i < n; i++)
		rows[i].added = false;
	/* A service that keeps no extents has none to count, which is no failure. */
	if (n == 0 || (!job->failed && job->ncolumns == 0 && !job->client->keeps_extents))
		return SORT_OK;
	status = check_job(job, base->spec.n == 0, err);
	if (status != SORT_OK)
		return status;
	if (n / capacity >= UINT32_MAX)
		return check_job(job, false, err);
	status = client_send_kept(job, err);
	if (status != SORT_OK)
		return status;
	job->rows = rows;
	job->generations = generations;
	job->rows_asked = job->rows_answered = 0;
	status = client_announce_chunks(job, (uint32_t) ((n + capacity - 1) / capacity), 0, err);
	if (status == SORT_OK)
		status = send_lists(job, n, capacity, err);
	while (status == SORT_OK && job->rows_answered < n)
		status = client_job_handle(job, NULL, err);
	job->rows = NULL;
	job->rows_asked = job->rows_answered = 0;
	return status;
}

/* Asks some questions, and copies their answers. */
static SortStatus
ask(GpuJob *job, SortLook look, const void *questions, uint32_t count, size_t question_bytes,
	void *answers,
	size_t answer_bytes, SortError *err)
{
	GpuClient  *c = job->client;
	GpuMessage	message;
	SortStatus	status = client_announce_chunks(job, 1, 0, err);

	if (status == SORT_OK)
		status = client_begin_chunk(job, err);
	if (status != SORT_OK)
		return status;
	memcpy(client_chunk_memory(c, (uint32_t) job->filling), questions, count * question_bytes);
	gpu_message_init(&message, GPU_MSG_LOOK, c->job_number);
	message.body.look.chunk = (uint32_t) job->filling;
	message.body.look.count = count;
	message.body.look.look = look;
	c->held[job->filling] = CHUNK_NOT_HELD;
	c->counters.bytes_sent += count * question_bytes;
	job->filling = -1;
	job->found = false;
	job->look = message.body.look;
	job->looking = true;
	status = client_send(c, &message, err);
	while (status == SORT_OK && !job->found)
		status = client_job_handle(job, NULL, err);
	job->looking = false;
	if (status != SORT_OK)
		return status;
	memcpy(answers, client_chunk_memory(c, job->look.chunk), count * answer_bytes);
	c->counters.bytes_received += count * answer_bytes;
	return client_release_chunk(c, job->look.chunk, err);
}

SortStatus
client_look_up(SortJob *base, SortLook look, const void *questions, size_t n, void *answers,
			   SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	const size_t question_bytes = look == SORT_LOOK_AT ? sizeof(uint64_t) : sizeof(int32_t);
	const size_t answer_bytes = look == SORT_LOOK_AT ? sizeof(int32_t) : sizeof(uint64_t);
	const uint32_t most = gpu_chunk_looks(job->client->chunk_bytes);
	SortStatus	status = check_job(job, job->finished && base->spec.look_up, err);
	size_t		at;

	for (at = 0; at < n && status == SORT_OK; at += most)
	{
		uint32_t	count = n - at < most ? (uint32_t) (n - at) : most;

		status = ask(job, look, (const char *) questions + at * question_bytes, count,
					 question_bytes,
					 (char *) answers + at * answer_bytes, answer_bytes, err);
		if (status == SORT_OK && sort_interrupted(base->context))
			status = client_cancelled(job->client, err);
	}
	return status;
}
