/*
 * job_extents.c
 *		Extents that a client brings to be kept (see job.h).
 *
 * A client may write to a chunk at any time.  So all that is relied upon is first copied out
 * of the chunk, then checked, then used: the start of an extent, with its blocks' rows.  Values
 * are read where they lie: each of them is as good as another.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "gpud/job.h"

/* An extent of the most blocks, up to its values; each part is aligned to 8 bytes. */
typedef union ExtentFront
{
	Extent		extent;
	char		bytes[sizeof(Extent) +
					  GPU_EXTENT_BLOCKS * (sizeof(uint64_t) + 2 * sizeof(uint32_t)) + 8];
} ExtentFront;

/*
 * Copies the start of the extent at from, which has size bytes, up to its values.  False if it
 * is no sound extent.
 */
static bool
copy_front(const char *from, size_t size, ExtentFront *front)
{
	Extent		header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, from, sizeof(header));
	if (!extent_header_is_sound(&header, size) || header.nblocks > GPU_EXTENT_BLOCKS ||
		header.values_at > sizeof(*front))
		return false;
	memcpy(front->bytes, from, header.values_at);

	/* The second time, it may have been another one. */
	memcpy(front->bytes, &header, sizeof(header));
	return extent_is_sound(&front->extent, size);
}

bool
job_reserve_extents(Job *job, uint32_t n)
{
	JobExtents *extents = &job->extents;
	uint64_t	need = extents->n + (uint64_t) n;
	uint64_t	most = need > extents->most * UINT64_C(2) ? need : extents->most * UINT64_C(2);
	HeldExtent **grown;

	if (need <= extents->most)
		return true;
	if (most > UINT32_MAX)
		return false;
	grown = realloc(extents->list, most * sizeof(*grown));
	if (grown == NULL)
		return false;
	extents->list = grown;
	extents->most = (uint32_t) most;
	return true;
}

/*
 * Keeps one extent of a chunk.  *number is the engine's for it, if it copies the extent; *full is
 * set when there is no room.  False if the engine has failed, and err says how.
 */
static bool
keep_extent(Job *job, uint64_t generation, const Extent *front, const char *bytes,
			uint64_t *number, bool *full, HpsortCudaError * err)
{
	Device	   *device = job->device;
	const uint8_t *nulls = front->nulls_at != 0 ? (const uint8_t *) bytes + front->nulls_at : NULL;
	HeldExtent *extent;

	if (!job_reserve_extents(job, 1))
	{
		*full = true;
		return true;
	}
	switch (extents_make_room(&device->extents, job->epoch, generation, front, &extent))
	{
		case EXTENTS_KNOWN:
			job->extents.list[job->extents.n++] = extent;
			return true;
		case EXTENTS_FULL:
			*full = true;
			return true;
		case EXTENTS_ROOM:
			break;
	}
	job->extents.list[job->extents.n++] = extent;
	if (front->nrows > 0 &&
		hpsort_cuda_job_keep(job->cuda, bytes + front->values_at, nulls, front->nrows,
							 (int) front->width,
							 front->base, &extent->packed, number, err) != HPSORT_CUDA_OK)
	{
		extent->packed = NULL;
		job->extents.n--;
		extents_release(&device->extents, &extent, 1);
		*full = true;
		return err->code == HPSORT_CUDA_NO_MEMORY;
	}
	extents_enter(&device->extents, job->epoch, extent);
	return true;
}

/* Says, once a job, that an extent found no room: the client need bring no more. */
static bool
tell_full(Job *job)
{
	GpuMessage	message;

	if (job->extents.full)
		return true;
	job->extents.full = true;
	gpu_message_init(&message, GPU_MSG_FULL, job->number);
	return peer_send(job->peer, &message);
}

bool
job_keep_extents(Job *job, const GpuMessage *m)
{
	const GpuChunk *message = &m->body.chunk;
	Chunks	   *chunks = job->chunks.all;
	const char *chunk = chunks_at(chunks, message->chunk);
	ExtentFront front;
	uint64_t	number = 0;
	uint64_t	at = 0;
	bool		full = false;
	uint32_t	i;
	HpsortCudaError err;

	for (i = 0; i < message->count; i++)
	{
		GpuKept		kept;

		if (chunks->bytes - at < sizeof(kept))
			return peer_bad_message(job->peer, "extents beyond the chunk");
		memcpy(&kept, chunk + at, sizeof(kept));
		at += sizeof(kept);
		if (kept.generation == 0 || kept.zero != 0 || kept.size > chunks->bytes - at ||
			!copy_front(chunk + at, kept.size, &front))
			return peer_bad_message(job->peer, "no extent where one should be");
		if (!full && !keep_extent(job, kept.generation, &front.extent, chunk + at, &number, &full,
								  &err))
			return job_fail_by(job, &err);
		at += kept.size;
	}
	job_chunk_is_read_by(job, message->chunk, number);
	return !full || tell_full(job);
}
