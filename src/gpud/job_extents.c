/*
 * job_extents.c
 *		Extents in a job (see job_extents.h).
 *
 * A client may write to a chunk at any time.  So all that is relied upon is first copied out
 * of the chunk, then checked, then used: the start of an extent, with its blocks' rows, and the
 * list of an ADD_EXTENTS.  Values are read where they lie: each of them is as good as another.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "gpud/job_chunks.h"
#include "gpud/job_extents.h"

/* Pieces that the engine is given at once: for it, they are one kernel. */
#define PIECES_AT_ONCE 16384

/* An extent of so many blocks up to its values; each part is aligned to 8 bytes. */
typedef union ExtentFront
{
	Extent		extent;
	char		bytes[sizeof(Extent) +
					  GPU_EXTENT_BLOCKS * (sizeof(uint64_t) + 2 * sizeof(uint32_t)) + 8];
} ExtentFront;

/* ------------------------------------------------------------------------
 * KEEP
 * ------------------------------------------------------------------------
 */

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
	uint64_t	most = job->most_extents;
	HeldExtent **grown;

	if (job->nextents + (uint64_t) n <= most)
		return true;
	most = most * 2 > job->nextents + (uint64_t) n ? most * 2 : job->nextents + (uint64_t) n;
	if (most > UINT32_MAX)
		return false;
	grown = realloc(job->extents, most * sizeof(*grown));
	if (grown == NULL)
		return false;
	job->extents = grown;
	job->most_extents = (uint32_t) most;
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
			job->extents[job->nextents++] = extent;
			return true;
		case EXTENTS_FULL:
			*full = true;
			return true;
		case EXTENTS_ROOM:
			break;
	}
	job->extents[job->nextents++] = extent;
	if (front->nrows > 0 &&
		hpsort_cuda_job_keep(job->cuda, bytes + front->values_at, nulls, front->nrows,
							 (int) front->width,
							 front->base, &extent->packed, number, err) != HPSORT_CUDA_OK)
	{
		extent->packed = NULL;
		job->nextents--;
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

	if (job->full)
		return true;
	job->full = true;
	gpu_message_init(&message, GPU_MSG_FULL, job->number);
	return peer_send(job->peer, &message);
}

bool
job_keep_extents(Job *job, const GpuMessage *m)
{
	const GpuChunk *message = &m->body.chunk;
	Chunks	   *chunks = job->chunks;
	const char *chunk = chunks_at(chunks, message->chunk);
	ExtentFront front;
	uint64_t	number = 0;
	uint64_t	at = 0;
	bool		full = false;
	uint32_t	i;
	HpsortCudaError err;

	job_chunk_is_busy(job, message->chunk);
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

/* ------------------------------------------------------------------------
 * ADD_EXTENTS
 * ------------------------------------------------------------------------
 */

/* Pieces on their way to the engine. */
typedef struct Pieces
{
	HpsortCudaPiece *list;		/* room for PIECES_AT_ONCE */
	uint32_t	n;
	uint64_t	expected;		/* keys that they should have */
	uint64_t	keys;			/* that the engine has found so far */
} Pieces;

/* Gives the engine the pieces that have gathered; false if it fails. */
static bool
flush_pieces(Job *job, Pieces *pieces, HpsortCudaError * err)
{
	HpsortCudaError second;
	uint64_t	keys = 0;

	if (pieces->n == 0)
		return true;
	if (hpsort_cuda_job_add_packed(job->cuda, pieces->list, pieces->n, &keys,
								   err) != HPSORT_CUDA_OK &&
		!(job_makes_room(job, err) &&
		  hpsort_cuda_job_add_packed(job->cuda, pieces->list, pieces->n, &keys,
									 &second) == HPSORT_CUDA_OK))
		return false;
	pieces->n = 0;
	pieces->keys += keys;
	return true;
}

static bool
add_piece(Job *job, Pieces *pieces, const HeldExtent *extent, uint32_t first, uint32_t n,
		  HpsortCudaError * err)
{
	if (n == 0)
		return true;
	pieces->list[pieces->n++] = (HpsortCudaPiece)
	{
		extent->packed, first, n
	};
	return pieces->n < PIECES_AT_ONCE || flush_pieces(job, pieces, err);
}

static bool
has_block(const GpuExtent *entry, uint32_t block)
{
	return entry->blocks[block / 64] >> block % 64 & 1;
}

uint64_t
job_extent_blocks(const HeldExtent *extent, uint32_t i)
{
	uint32_t	nblocks = extent->nblocks;

	return nblocks >= (i + 1) * 64 ? UINT64_MAX :
		nblocks <= i * 64 ? 0 : (UINT64_C(1) << (nblocks - i * 64)) - 1;
}

/* Adds the blocks that entry names of the extent, and fills in its answer. */
static bool
add_extent(Job *job, Pieces *pieces, const HeldExtent *extent, GpuExtent *entry,
		   HpsortCudaError * err)
{
	uint32_t	block = 0;

	entry->added = 1;
	if (entry->blocks[0] == job_extent_blocks(extent, 0) &&
		entry->blocks[1] == job_extent_blocks(extent, 1))
	{
		entry->rows = extent->nrows;
		entry->nulls = extent->nnulls;
		return add_piece(job, pieces, extent, 0, extent->nrows, err);
	}
	while (block < extent->nblocks)
	{
		uint32_t	first = block;

		for (; block < extent->nblocks && has_block(entry, block); block++)
			entry->nulls += extent->nulls[block];
		entry->rows += extent->starts[block] - extent->starts[first];
		if (!add_piece(job, pieces, extent, extent->starts[first],
					   extent->starts[block] - extent->starts[first], err))
			return false;
		block++;				/* is not wanted, or the end */
	}
	return true;
}

void
job_find_extents(Job *job, const uint64_t *generations, size_t stride, HeldExtent **found,
				 uint32_t n)
{
	uint32_t	i;

	extents_find(&job->device->extents, job->epoch, generations, stride, n, found);
	for (i = 0; i < n; i++)
		if (found[i])
			job->extents[job->nextents++] = found[i];
}

/* Whether a list names extents, no blocks that one has not, and no answers. */
static bool
list_is_sound(const GpuExtent *list, HeldExtent *const *found, uint32_t n)
{
	uint32_t	i;

	for (i = 0; i < n; i++)
		if (list[i].generation == 0 || list[i].added != 0 || list[i].rows != 0 ||
			list[i].nulls != 0 || list[i].zero != 0 ||
			(found[i] && ((list[i].blocks[0] & ~job_extent_blocks(found[i], 0)) != 0 ||
						  (list[i].blocks[1] & ~job_extent_blocks(found[i], 1)) != 0)))
			return false;
	return true;
}

/* Adds the extents of a list that the device has; fills in the answers. */
static bool
add_list(Job *job, GpuExtent *list, HeldExtent *const *found, uint32_t n, Pieces *pieces,
		 HpsortCudaError * err)
{
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		if (found[i] == NULL)
			continue;
		if (!add_extent(job, pieces, found[i], &list[i], err))
			return false;
		pieces->expected += list[i].rows - list[i].nulls;
	}
	if (!flush_pieces(job, pieces, err))
		return false;

	/* Bits for NULLs are not counted when an extent is kept. */
	if (pieces->keys == pieces->expected)
		return true;
	*err = (HpsortCudaError)
	{
		.code = HPSORT_CUDA_FAILED,.text =
			"extents have not the keys that they promise"
	};
	return false;
}

/* The list has been added: gives the chunk back with the answers. */
static bool
answer(Job *job, const GpuChunk *message, const GpuExtent *list, uint64_t keys)
{
	GpuMessage	added;

	memcpy(chunks_at(job->chunks, message->chunk), list, message->count * sizeof(GpuExtent));
	job->n += keys;
	job_chunk_is_lent(job, message->chunk);
	gpu_message_init(&added, GPU_MSG_ADDED, job->number);
	added.body.added.keys = keys;
	added.body.added.chunk = message->chunk;
	added.body.added.count = message->count;
	return peer_send(job->peer, &added);
}

bool
job_add_extents(Job *job, const GpuMessage *m)
{
	const GpuChunk *message = &m->body.chunk;
	uint32_t	n = message->count;
	GpuExtent  *list;
	HeldExtent **found;
	Pieces		pieces = {0};
	HpsortCudaError err;
	bool		alive;

	if (job->spec.n != 0 || job->ncolumns > 0)
		return peer_bad_message(job->peer,
								"extents in a job whose keys were counted, or are those of rows");
	list = malloc(n * sizeof(GpuExtent));
	found = malloc(n * sizeof(*found));
	pieces.list = malloc(PIECES_AT_ONCE * sizeof(HpsortCudaPiece));
	if (list == NULL || found == NULL || pieces.list == NULL || !job_reserve_extents(job, n))
		alive = job_fail(job, GPU_RESOURCES, "out of memory");
	else
	{
		memcpy(list, chunks_at(job->chunks, message->chunk), n * sizeof(GpuExtent));
		job_find_extents(job, &list->generation, sizeof(GpuExtent) / sizeof(uint64_t), found, n);
		if (!list_is_sound(list, found, n))
			alive = peer_bad_message(job->peer, "impossible list of extents");
		else if (add_list(job, list, found, n, &pieces, &err))
			alive = answer(job, message, list, pieces.keys);
		else
			alive = job_fail_by(job, &err);
	}
	free(list);
	free(found);
	free(pieces.list);
	return alive;
}
