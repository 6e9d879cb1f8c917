/*
 * client_extents.c
 *		Extents in a job of the GPU service (see client_extents.h).
 */
#include "gpu/client_extents.h"

#include <string.h>

#include "gpu/copy.h"
#include "sort/error.h"

SortStatus
client_announce_chunks(GpuJob *job, uint32_t chunks, uint32_t ahead, SortError *err)
{
	GpuMessage	message;
	uint32_t	known = job->ahead < chunks ? job->ahead : chunks;

	/* A client that waits for a chunk must hold none, or clients could wait for each other. */
	if (job->filling >= 0)
	{
		SortStatus	status = client_submit_keys(job, err);

		if (status != SORT_OK)
			return status;
	}
	job->ahead += ahead - known;
	if (chunks + ahead == known)
		return SORT_OK;
	gpu_message_init(&message, GPU_MSG_WANT, job->client->job_number);
	message.body.want.chunks = chunks + ahead - known;
	return client_send(job->client, &message, err);
}

SortStatus
client_submit_chunk(GpuJob *job, GpuMessageType type, size_t size, uint32_t count, SortError *err)
{
	GpuClient  *c = job->client;
	GpuMessage	message;

	gpu_message_init(&message, type, c->job_number);
	message.body.chunk.chunk = (uint32_t) job->filling;
	message.body.chunk.count = count;
	c->held[job->filling] = CHUNK_NOT_HELD;
	c->counters.bytes_sent += size;
	job->filling = -1;
	return client_send(c, &message, err);
}

SortStatus
client_send_chunk(GpuJob *job, GpuMessageType type, const void *bytes, size_t size, uint32_t count,
				  SortError *err)
{
	SortStatus	status = client_begin_chunk(job, err);

	if (status != SORT_OK)
		return status;
	copy_to_shared(client_chunk_memory(job->client, (uint32_t) job->filling), bytes, size);
	return client_submit_chunk(job, type, size, count, err);
}

/* ------------------------------------------------------------------------
 * Keeping
 * ------------------------------------------------------------------------
 */

SortStatus
client_send_kept(GpuJob *job, SortError *err)
{
	SortStatus	status;

	if (job->keeping_count == 0)
		return SORT_OK;
	if (!job->full)
	{
		status = client_announce_chunks(job, 1, 0, err);
		if (status == SORT_OK)
			status = client_send_chunk(job, GPU_MSG_KEEP, job->keeping, job->keeping_bytes,
									   job->keeping_count, err);
		if (status != SORT_OK)
			return status;
	}
	job->keeping_bytes = 0;
	job->keeping_count = 0;
	return SORT_OK;
}

SortStatus
client_keep_extent(SortJob *base, uint64_t generation, const void *extent, size_t size,
				   SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	GpuKept		kept = {.generation = generation,.size = (uint32_t) size};
	SortStatus	status = SORT_OK;
	bool		came = true;

	/* FULL may have come meanwhile. */
	while (status == SORT_OK && came && !job->failed)
		status = client_job_handle(job, &came, err);
	if (job->failed)
		return client_job_failed(job, err);
	if (status != SORT_OK || job->full || !c->keeps_extents || c->chunk_bytes < sizeof(kept) ||
		size > c->chunk_bytes - sizeof(kept))
		return status;
	if (job->keeping == NULL)
	{
		const SortAllocator *a = &base->context->allocator;

		job->keeping = a->alloc(a->arena, c->chunk_bytes);
		if (job->keeping == NULL)
			return sort_no_memory(err);
	}
	if (sizeof(kept) + size > c->chunk_bytes - job->keeping_bytes)
		status = client_send_kept(job, err);
	if (status != SORT_OK)
		return status;
	memcpy(job->keeping + job->keeping_bytes, &kept, sizeof(kept));
	memcpy(job->keeping + job->keeping_bytes + sizeof(kept), extent, size);
	job->keeping_bytes += sizeof(kept) + size;
	job->keeping_count++;
	return sort_interrupted(base->context) ? client_cancelled(c, err) : SORT_OK;
}
