/*
 * job_rows.c
 *		Extents that a client brings to be kept, rows of extents in a job, and questions about its
 *		sorted keys (see job.h).
 *
 * A client may write to a chunk at any time.  So all that is relied upon is first copied out
 * of the chunk, then checked, then used: the start of an extent, with its blocks' rows, a layout,
 * a list of rows, questions.  Values are read where they lie: each of them is as good as another.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gpud/job.h"

/* Pieces of a column that the engine is given at once: for it, that is one kernel. */
#define ROWS_AT_ONCE 16384

/* All columns, in an answer. */
#define ALL_MISSING UINT32_MAX

/* The protocol and the engine have one layout of rows, which needs no translation. */
_Static_assert(sizeof(RowsLayout) == sizeof(HpsortCudaRows) &&
			   sizeof(RowsColumn) == sizeof(HpsortCudaRowsColumn) &&
			   offsetof(RowsColumn, flags) == offsetof(HpsortCudaRowsColumn, flags) &&
			   offsetof(RowsColumn, nranges) == offsetof(HpsortCudaRowsColumn, nranges) &&
			   offsetof(RowsLayout, columns) == offsetof(HpsortCudaRows, columns) &&
			   offsetof(RowsLayout, key_ranges) == offsetof(HpsortCudaRows, key_ranges) &&
			   sizeof(ValueRange) == sizeof(HpsortCudaRange) &&
			   ROWS_MAX_COLUMNS == HPSORT_CUDA_ROWS_COLUMNS &&
			   ROWS_IN_KEY == HPSORT_CUDA_ROWS_IN_KEY &&
			   ROWS_NULL_IN_KEY == HPSORT_CUDA_ROWS_NULL_IN_KEY &&
			   ROWS_FILTERED == HPSORT_CUDA_ROWS_FILTERED &&
			   ROWS_NULLS_PASS == HPSORT_CUDA_ROWS_NULLS_PASS &&
			   ROWS_MASKED == HPSORT_CUDA_ROWS_MASKED &&
			   ROWS_MAPPED == HPSORT_CUDA_ROWS_MAPPED &&
			   ROWS_NO_MATCH == HPSORT_CUDA_ROWS_NO_MATCH,
			   "layouts are laid out alike");

/* --- KEEP */

/* A copy of an extent up to its values, for the most blocks; parts are aligned to 8 bytes. */
typedef union ExtentFront
{
	Extent		extent;
	char		bytes[sizeof(Extent) +
					  GPU_EXTENT_BLOCKS * (sizeof(uint64_t) + 2 * sizeof(uint32_t)) + 8];
} ExtentFront;

/*
 * Copies the start of the extent at from, which has size bytes, up to its values.  False if it
 * is no sound extent, or its values have 8 bytes each.
 */
static bool
copy_front(const char *from, size_t size, ExtentFront *front)
{
	Extent		header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, from, sizeof(header));
	if (!extent_header_is_sound(&header, size) ||
		header.width > sizeof(uint32_t) || header.nblocks > GPU_EXTENT_BLOCKS ||
		header.values_at > sizeof(*front))
		return false;
	memcpy(front->bytes, from, header.values_at);

	/* The client may have changed the header since: the one that was checked counts. */
	memcpy(front->bytes, &header, sizeof(header));
	return extent_is_sound(&front->extent, size);
}

/* Makes room for n more in job->extents.  False if there is no memory; the list stays then. */
static bool
reserve_extents(Job *job, uint32_t n)
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
 * Keeps one extent, whose checked front is front and whose bytes lie in a chunk, on the device,
 * and has the job hold it.  Sets *number to the engine's call that reads the chunk, if the engine
 * copies the extent; sets *full when there is no room.  False if the engine has failed, and err
 * says how.
 */
static bool
keep_extent(Job *job, uint64_t generation, const Extent *front, const char *bytes,
			uint64_t *number, bool *full, HpsortCudaError * err)
{
	Device	   *device = job->device;
	const uint8_t *nulls = front->nulls_at != 0 ? (const uint8_t *) bytes + front->nulls_at : NULL;
	HeldExtent *extent;

	if (!reserve_extents(job, 1))
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
							 (int) front->width, front->base, &extent->packed, number,
							 err) != HPSORT_CUDA_OK)
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

/* Sends FULL, once a job: an extent found no room, and the client need bring no more. */
static bool
send_full(Job *job)
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
	Chunks	   *chunks = job->holder.chunks;
	const char *chunk = chunks_at(chunks, message->chunk);
	ExtentFront front;
	uint64_t	number = 0;
	uint64_t	at = 0;
	bool		full = false;
	HpsortCudaError err;

	for (uint32_t i = 0; i < message->count; i++)
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
	return !full || send_full(job);
}

/* --- LAYOUT */

bool
job_set_layout(Job *job, const GpuMessage *m)
{
	const Chunks *chunks = job->holder.chunks;
	const char *chunk = chunks_at(chunks, m->body.chunk.chunk);
	RowsLayout	layout;
	ValueRange *ranges;
	HpsortCudaError err;
	bool		alive;

	if (job->spec.n != 0 || job->layout || job->spec.want == SORT_WANT_PERMUTATION)
		return peer_bad_message(job->peer, "layout in a job that has other keys");
	memcpy(&layout, chunk, sizeof(layout));
	if (layout.nranges > (chunks->bytes - sizeof(layout)) / sizeof(ValueRange))
		return peer_bad_message(job->peer, "impossible layout");
	ranges = malloc((layout.nranges + 1) * sizeof(ValueRange));
	if (ranges == NULL)
		return job_fail(job, GPU_RESOURCES, "out of memory");
	memcpy(ranges, chunk + sizeof(layout), layout.nranges * sizeof(ValueRange));
	chunks_put(&job->holder, m->body.chunk.chunk);
	if (rows_layout_is_sound(&layout, ranges))
	{
		job->layout = true;
		job->ncolumns = layout.ncolumns;
		alive = hpsort_cuda_job_rows(job->cuda, (const HpsortCudaRows *) (const void *) &layout,
									 (const HpsortCudaRange *) (const void *) ranges,
									 &err) == HPSORT_CUDA_OK ||
			job_fail_by(job, &err);
	}
	else
		alive = peer_bad_message(job->peer, "impossible layout");
	free(ranges);
	return alive;
}

/* --- ADD_ROWS */

/* Extents that are found, compared and listed before the next ones are: they stay in the cache. */
#define PART_EXTENTS 512

/*
 * An ADD_ROWS in work.  Entries name extents by their generations.  Extents that the device has
 * are found and held, their rows become pieces, and the engine gets the pieces of many entries at
 * once.
 */
typedef struct RowsList
{
	uint32_t	ncolumns;
	uint32_t	n;
	size_t		size;			/* of an entry */
	char	   *entries;		/* copied */
	HeldExtent *found[PART_EXTENTS];	/* of all columns of the first entry of the part in work,
										 * then of the second, ... */
	HpsortCudaPiece *pieces;	/* room for ROWS_AT_ONCE of each column */
	uint32_t	npieces;		/* of each column */
	uint64_t	expected;		/* keys that the rows added so far should have */
	uint64_t	keys;			/* that the engine has found */
} RowsList;

/* Returns entry i of a list; the generations of its extents lie behind it. */
static SortRows *
entry_at(const RowsList *list, uint32_t i)
{
	return (SortRows *) (list->entries + i * list->size);
}

/*
 * Gives the engine the pieces that have gathered, a second time if memory could be made, and adds
 * up the keys that it finds.  False if the engine fails; err is the first error.
 */
static bool
flush_pieces(Job *job, RowsList *list, HpsortCudaError * err)
{
	HpsortCudaError second;
	uint64_t	keys = 0;

	if (list->npieces > 0 &&
		hpsort_cuda_job_add_rows(job->cuda, list->pieces, list->npieces, &keys,
								 err) != HPSORT_CUDA_OK &&
		!(job_makes_room(job, err) &&
		  hpsort_cuda_job_add_rows(job->cuda, list->pieces, list->npieces, &keys,
								   &second) == HPSORT_CUDA_OK))
		return false;
	list->npieces = 0;
	list->keys += keys;
	return true;
}

/* Whether an entry wants a block. */
static bool
has_block(const SortRows *entry, uint32_t block)
{
	return entry->blocks[block / 64] >> block % 64 & 1;
}

/* The bits that all blocks of an extent have in word i of an entry. */
static uint64_t
all_blocks(const HeldExtent *extent, uint32_t i)
{
	uint32_t	nblocks = extent->nblocks;

	return nblocks >= (i + 1) * 64 ? UINT64_MAX :
		nblocks <= i * 64 ? 0 : (UINT64_C(1) << (nblocks - i * 64)) - 1;
}

/*
 * Whether the blocks that an entry names have as many rows in two columns, of which other blocks
 * may have not.
 */
static bool
blocks_are_aligned(const SortRows *entry, const HeldExtent *extent, const HeldExtent *other)
{
	for (uint32_t b = 0; b < extent->nblocks; b++)
		if (has_block(entry, b) &&
			(b >= other->nblocks ||
			 other->starts[b + 1] - other->starts[b] != extent->starts[b + 1] - extent->starts[b]))
			return false;
	return true;
}

/* Whether the blocks that an entry names have as many rows in each column. */
static bool
rows_are_aligned(const RowsList *list, const SortRows *entry, HeldExtent *const *found)
{
	for (uint32_t c = 1; c < list->ncolumns; c++)
		if (!extents_are_aligned(found[0], found[c]) &&
			!blocks_are_aligned(entry, found[0], found[c]))
			return false;
	return true;
}

/*
 * Adds a piece of n rows for each column, from row first[c] of its extent on, and flushes pieces
 * when there are enough.  False if the engine fails.
 */
static bool
add_piece(Job *job, RowsList *list, HeldExtent *const *found, const uint32_t *first, uint32_t n,
		  HpsortCudaError * err)
{
	HpsortCudaPiece *piece = list->pieces + (size_t) list->npieces * list->ncolumns;

	if (n == 0)
		return true;
	for (uint32_t c = 0; c < list->ncolumns; c++)
		piece[c] = (HpsortCudaPiece)
	{
		found[c]->packed, first[c], n
	};
	list->npieces++;
	return list->npieces < ROWS_AT_ONCE || flush_pieces(job, list, err);
}

/*
 * Adds the rows of an entry whose extents have all been found and are aligned: one piece for each
 * stretch of wanted blocks.  Fills in rows and nulls of the entry.  False if the engine fails.
 */
static bool
add_entry(Job *job, RowsList *list, SortRows *entry, HeldExtent *const *found,
		  HpsortCudaError * err)
{
	uint32_t	first[ROWS_MAX_COLUMNS] = {0};
	uint32_t	nblocks = found[0]->nblocks;
	uint32_t	block = 0;

	/* Where all are wanted, which is usual, nothing is read of where blocks begin. */
	if (entry->blocks[0] == all_blocks(found[0], 0) && entry->blocks[1] == all_blocks(found[0], 1))
	{
		entry->rows = found[0]->nrows;
		entry->nulls = job->layout ? 0 : found[0]->nnulls;
		block = nblocks;
		if (!add_piece(job, list, found, first, entry->rows, err))
			return false;
	}
	while (block < nblocks)
	{
		uint32_t	from = block;
		uint32_t	n;

		for (; block < nblocks && has_block(entry, block); block++)
			entry->nulls += job->layout ? 0 : extent_block_nulls(found[0])[block];
		n = found[0]->starts[block] - found[0]->starts[from];
		/* A block that is not wanted may be one that another column has not. */
		for (uint32_t c = 0; c < list->ncolumns && n > 0; c++)
			first[c] = found[c]->starts[from];
		entry->rows += n;
		if (!add_piece(job, list, found, first, n, err))
			return false;
		block++;				/* is not wanted, or the end */
	}
	list->expected += entry->rows - entry->nulls;
	return true;
}

/*
 * Finds the extents of n entries from entry from on, which the job holds from then on.  False if
 * one has an answer already, or names no extents, or blocks that found extents have not.
 */
static bool
find_part(Job *job, RowsList *list, uint32_t from, uint32_t n)
{
	JobExtents *extents = &job->extents;
	uint64_t	generations[PART_EXTENTS];
	const uint32_t nfound = n * list->ncolumns;
	uint32_t	at = 0;

	for (uint32_t i = 0; i < n; i++)
		memcpy(generations + (size_t) i * list->ncolumns, entry_at(list, from + i) + 1,
			   list->ncolumns * sizeof(uint64_t));
	extents_find(&job->device->extents, job->epoch, generations, nfound, list->found);
	for (uint32_t i = 0; i < nfound; i++)
		if (list->found[i])
			extents->list[extents->n++] = list->found[i];
	for (uint32_t i = 0; i < n; i++)
	{
		const SortRows *entry = entry_at(list, from + i);

		if (entry->missing != 0 || entry->rows != 0 || entry->nulls != 0 || entry->added != 0)
			return false;
		for (uint32_t c = 0; c < list->ncolumns; c++, at++)
			if (generations[at] == 0 ||
				(list->found[at] &&
				 ((entry->blocks[0] & ~all_blocks(list->found[at], 0)) != 0 ||
				  (entry->blocks[1] & ~all_blocks(list->found[at], 1)) != 0)))
				return false;
	}
	return true;
}

/*
 * Adds the rows of the n entries of a part whose extents the device has, and fills in the answers.
 * False if the engine fails; err says how.
 */
static bool
add_part(Job *job, RowsList *list, uint32_t from, uint32_t n, HpsortCudaError * err)
{
	for (uint32_t i = 0; i < n; i++)
	{
		SortRows   *entry = entry_at(list, from + i);
		HeldExtent *const *found = list->found + (size_t) i * list->ncolumns;

		for (uint32_t c = 0; c < list->ncolumns; c++)
			if (found[c] == NULL)
				entry->missing |= UINT32_C(1) << c;
		if (entry->missing == 0 && !rows_are_aligned(list, entry, found))
			entry->missing = ALL_MISSING;
		entry->added = entry->missing == 0;
		if (entry->added && !add_entry(job, list, entry, found, err))
			return false;
	}
	return true;
}

/*
 * Adds the rows of all entries whose extents the device has, and fills in the answers.  False if
 * the engine fails, or if it finds another number of keys than the extents promise; err says how.
 * *sound is false if an entry is not.
 */
static bool
add_list(Job *job, RowsList *list, bool *sound, HpsortCudaError * err)
{
	uint32_t	n;

	for (uint32_t from = 0; from < list->n; from += n)
	{
		n = PART_EXTENTS / list->ncolumns;
		if (n > list->n - from)
			n = list->n - from;
		*sound = find_part(job, list, from, n);
		if (!*sound || !add_part(job, list, from, n, err))
			return false;
	}
	if (!flush_pieces(job, list, err))
		return false;

	/* Bits for NULLs are not counted when an extent is kept. */
	if (list->keys == list->expected)
		return true;
	*err = (HpsortCudaError)
	{
		.code = HPSORT_CUDA_FAILED,.text =
			"extents have not the keys that they promise"
	};
	return false;
}

/* Counts the keys, and lends the client the chunk, with the answers written over the list. */
static bool
answer_list(Job *job, const GpuChunk *message, const RowsList *list)
{
	memcpy(chunks_at(job->holder.chunks, message->chunk), list->entries, list->n * list->size);
	job->n += list->keys;
	return job_lend(job, message->chunk, message->count);
}

bool
job_add_rows(Job *job, const GpuMessage *m)
{
	const GpuChunk *message = &m->body.chunk;
	RowsList	list = {.ncolumns = job->ncolumns,.n = message->count};
	const size_t nfound = (size_t) list.n * list.ncolumns;
	bool		sound = true;
	HpsortCudaError err;
	bool		alive;

	if (job->spec.n != 0 || list.n > gpu_chunk_rows(job->holder.chunks->bytes, list.ncolumns))
		return peer_bad_message(job->peer, "rows in a job whose keys were counted, or beyond the "
								"chunk");
	list.size = sizeof(SortRows) + list.ncolumns * sizeof(uint64_t);
	list.entries = malloc(list.n * list.size);
	list.pieces = malloc((size_t) ROWS_AT_ONCE * list.ncolumns * sizeof(HpsortCudaPiece));
	if (list.entries == NULL || list.pieces == NULL || !reserve_extents(job, (uint32_t) nfound))
		alive = job_fail(job, GPU_RESOURCES, "out of memory");
	else
	{
		memcpy(list.entries, chunks_at(job->holder.chunks, message->chunk), list.n * list.size);
		if (add_list(job, &list, &sound, &err))
			alive = answer_list(job, message, &list);
		else if (sound)
			alive = job_fail_by(job, &err);
		else
			alive = peer_bad_message(job->peer, "impossible list of rows");
	}
	free(list.entries);
	free(list.pieces);
	return alive;
}

/* --- LOOK_... */

/* Whether all of n positions are below end. */
static bool
positions_are_sound(const uint64_t *positions, uint32_t n, uint64_t end)
{
	for (uint32_t i = 0; i < n; i++)
		if (positions[i] >= end)
			return false;
	return true;
}

/*
 * Answers the questions of message, a copy of which is at questions, into the chunk.  Returns the
 * code of the engine, and an error in *err.  LOOK_DISTINCT asks nothing but the number of
 * different keys.
 */
static HpsortCudaCode
answer_questions(Job *job, GpuMessageType type, const GpuChunk *message, const void *questions,
				 HpsortCudaError * err)
{
	void	   *chunk = chunks_at(job->holder.chunks, message->chunk);
	uint64_t	distinct = 0;
	HpsortCudaCode code = HPSORT_CUDA_OK;

	switch (type)
	{
		case GPU_MSG_LOOK_AT:
			return hpsort_cuda_job_read_at(job->cuda, questions, message->count, chunk, err);
		case GPU_MSG_LOOK_BELOW:
			return hpsort_cuda_job_read_below(job->cuda, questions, message->count, chunk, err);
		case GPU_MSG_LOOK_SUM:
			return hpsort_cuda_job_read_sums(job->cuda, questions, message->count, chunk, err);
		default:
			if (job->n > 0)
				code = hpsort_cuda_job_distinct(job->cuda, &distinct, err);
			memcpy(chunk, &distinct, sizeof(distinct));
			return code;
	}
}

bool
job_look_up(Job *job, const GpuMessage *m)
{
	const GpuChunk *message = &m->body.chunk;
	const GpuMessageType type = (GpuMessageType) m->header.type;
	const SortLook look = (SortLook) (type - GPU_MSG_LOOK_AT);
	size_t		bytes = message->count * sort_look_asks(look);
	void	   *questions;
	HpsortCudaError err;
	bool		alive;

	if (job->spec.want == SORT_WANT_PERMUTATION)
		return peer_bad_message(job->peer, "questions about a permutation");
	questions = malloc(bytes);
	if (questions == NULL)
		return job_fail(job, GPU_RESOURCES, "out of memory");
	memcpy(questions, chunks_at(job->holder.chunks, message->chunk), bytes);
	if (sort_look_asks(look) == sizeof(uint64_t) &&
		!positions_are_sound(questions, message->count, job->n + (look == SORT_LOOK_SUM)))
		alive = peer_bad_message(job->peer, "position beyond the keys");
	else if (answer_questions(job, type, message, questions, &err) != HPSORT_CUDA_OK)
		alive = job_fail_by(job, &err);
	else
		alive = job_lend(job, message->chunk, message->count);
	free(questions);
	return alive;
}
