/*
 * job_messages.c
 *		What a client's messages do to its job (see job_messages.h).
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "gpud/job_chunks.h"
#include "gpud/job_extents.h"
#include "gpud/job_messages.h"
#include "gpud/job_rows.h"

/* The engine's job_open, a second time if memory for it could be made. */
static bool
open_engine_job(Job *job, const EngineSpec *spec, void **engine_job, EngineError *err)
{
	const Engine *engine = job->device->engine;

	return engine->job_open(job->device->handle, spec, engine_job, err) ||
		(job_makes_room(job, err) &&
		 engine->job_open(job->device->handle, spec, engine_job, err));
}

static bool
on_open(Job *job, const GpuMessage *m)
{
	EngineSpec	spec = {
		.n = m->body.open.n,
		.lo = m->body.open.lo,
		.hi = m->body.open.hi,
		.want = (SortWant) m->body.open.want,
		.descending = m->body.open.descending,
		.algorithm = (SortAlgorithm) m->body.open.algorithm,
		.floats = m->body.open.floats,
	};
	EngineError err;
	bool		alive;
	void	   *engine_job;
	void	   *others[DEVICES_MAX];

	if (job->open)
		return peer_bad_message(job->peer, "job opened while another is open");
	if (m->header.job <= job->number)
		return peer_bad_message(job->peer, "job number used before");
	job->number = m->header.job;
	job->open = true;
	job->failed = job->finished = job->starved = job->full = false;
	job->spec = m->body.open;
	job->announced = m->body.open.n;
	job->crossed = 0;
	job->wanted = 0;
	job->n = 0;
	job->ncolumns = 0;
	job->reads = 0;
	job->form = GPU_FORM_NONE;
	chunks_activate(job->chunks, &job->holder, job->announced > 0);
	job->device = devices_take(job->devices, job->announced == 0 && job->epoch != 0);
	if (job->device == NULL)
	{
		engine_fail(&err, GPU_DEVICE_ERROR, "all devices have failed");
		return job_fail(job, &err);
	}
	if (job_commit_fault(job, AT_OPEN, &alive))
		return alive;

	/* The published algorithm sorts on all devices at once; no other one does. */
	if (spec.algorithm == SORT_ALGORITHM_BUCKET_BITONIC)
	{
		spec.nothers = devices_others(job->devices, job->device, others);
		spec.others = others;
	}

	/*
	 * The client can fill its first chunk while the device prepares.  job_supply()
	 * cannot fail the job here: nothing is on the way to the device yet.
	 */
	if (!job_supply(job))
		return false;
	if (job->failed)
		return true;
	if (!open_engine_job(job, &spec, &engine_job, &err))
		return job_fail(job, &err);
	pthread_mutex_lock(&job->lock);
	job->engine_job = engine_job;
	if (atomic_load(&job->peer->over) != CONNECTION_ALIVE)
		job->device->engine->job_cancel(engine_job);
	pthread_mutex_unlock(&job->lock);
	return true;
}

/* The engine's job_add, a second time if memory for it could be made. */
static bool
add_keys(Job *job, uint32_t chunk, uint32_t count, uint64_t *number, EngineError *err)
{
	const Engine *engine = job->device->engine;
	const int32_t *keys = chunks_at(job->chunks, chunk);
	EngineError second;

	/* An engine that refuses the job from its first error on may say so: that one counts. */
	return engine->job_add(job->engine_job, keys, count, number, err) ||
		(job_makes_room(job, err) &&
		 engine->job_add(job->engine_job, keys, count, number, &second));
}

static bool
on_add(Job *job, const GpuAdd *add)
{
	EngineError err;
	uint64_t	number;
	bool		alive;

	if (job->state[add->chunk] != CHUNK_FILLING)
		return peer_bad_message(job->peer, "keys in a chunk that was not granted");
	if (job->failed)
		return true;
	if (job->finished)
		return peer_bad_message(job->peer, "keys after the last");
	if (job->ncolumns > 0)
		return peer_bad_message(job->peer, "keys behind those of rows");
	if (add->count > job->announced - job->crossed)
		return peer_bad_message(job->peer, "more keys than were announced");
	if (job_commit_fault(job, AT_ADD, &alive))
		return alive;
	job_chunk_is_busy(job, add->chunk);
	if (!add_keys(job, add->chunk, add->count, &number, &err))
		return job_fail(job, &err);
	job_chunk_is_read_by(job, add->chunk, number);
	job->crossed += add->count;
	job->n += add->count;
	job_may_pause(job);
	return true;
}

/* KEEP, ADD_EXTENTS, ROWS or ADD_ROWS. */
static bool
on_extents(Job *job, uint32_t type, const GpuExtents *extents)
{
	bool		alive;

	if (job->state[extents->chunk] != CHUNK_FILLING)
		return peer_bad_message(job->peer, "extents in a chunk that was not granted");
	if (job->failed)
		return true;
	if (job->finished)
		return peer_bad_message(job->peer, "extents after the last key");
	if (job->wanted == 0)
		return peer_bad_message(job->peer, "extents that were not announced");
	job->wanted--;
	alive = type == GPU_MSG_KEEP ? job_keep_extents(job, extents) :
		type == GPU_MSG_ADD_EXTENTS ? job_add_extents(job, extents) :
		type == GPU_MSG_ROWS ? job_set_rows(job, extents) : job_add_rows(job, extents);
	if (alive && !job->failed)
		job_may_pause(job);
	return alive;
}

static bool
on_want(Job *job, const GpuWant *want)
{
	if (job->failed)
		return true;
	if (job->finished && (want->keys > 0 || job->form != GPU_FORM_NONE))
		return peer_bad_message(job->peer, "keys after the last");
	if (want->keys > UINT64_MAX - job->announced || want->chunks > UINT32_MAX - job->wanted)
		return peer_bad_message(job->peer, "more keys than can be counted");
	job->announced += want->keys;
	job->wanted += want->chunks;
	chunks_activate(job->chunks, &job->holder, true);
	return job_supply(job);
}

/* Starts a reading: tells the client how many items it has, and in which form. */
static bool
start_reading(Job *job, GpuForm form, bool descending)
{
	GpuMessage	message;
	EngineError err;
	uint64_t	distinct = job->result.distinct;
	bool		permutation = job->spec.want == SORT_WANT_PERMUTATION;

	job->reads++;
	if (form == GPU_FORM_BEST)
	{
		/* 12 bytes a run, 4 a key */
		form = permutation ? GPU_FORM_PERMUTATION :
			job->spec.want == SORT_WANT_RUNS || (distinct > 0 && distinct < job->n / 3)
			? GPU_FORM_RUNS : GPU_FORM_KEYS;
	}
	if ((form == GPU_FORM_PERMUTATION) != permutation ||
		(form == GPU_FORM_KEYS && job->spec.want == SORT_WANT_RUNS) ||
		(permutation && descending != (job->spec.descending != 0)))
	{
		engine_fail(&err, GPU_UNSUPPORTED, "this result was not asked for when the job was opened");
		return job_fail(job, &err);
	}
	if (form == GPU_FORM_RUNS &&
		!job->device->engine->job_distinct(job->engine_job, &distinct, &err))
		return job_fail(job, &err);
	job->form = form;

	/* Runs always come ascending. */
	job->descending = descending && form != GPU_FORM_RUNS;
	job->at = 0;
	job->items = form == GPU_FORM_RUNS ? distinct : job->n;
	gpu_message_init(&message, GPU_MSG_RESULT, job->number);
	message.body.result.items = job->items;
	message.body.result.form = form;
	message.body.result.descending = job->descending;
	message.body.result.read = job->reads;
	return peer_send(job->peer, &message);
}

static bool
on_finish(Job *job, const GpuRead *read)
{
	Chunks	   *chunks = job->chunks;
	GpuMessage	message;
	EngineError err;
	bool		alive;
	uint32_t	i;

	if (job->failed)
		return true;
	if (job->finished)
		return peer_bad_message(job->peer, "finished twice");

	/* With FINISH the client has given back the chunks that it did not fill. */
	job_stop_queueing(job);
	for (i = 0; i < chunks->count && job->filling > 0; i++)
		if (job->state[i] == CHUNK_FILLING)
		{
			job->filling--;
			job_take_back(job, i);
		}
	job->announced = job->crossed;
	job->wanted = 0;
	chunks_activate(chunks, &job->holder, true);
	if (job_commit_fault(job, AT_FINISH, &alive))
		return alive;
	if (!job->device->engine->job_finish(job->engine_job, &job->result, &err))
		return job_fail(job, &err);
	job->finished = true;
	job->n = job->result.n;
	if (!job_collect_busy(job, true))
		return false;
	if (job->failed)
		return true;
	gpu_message_init(&message, GPU_MSG_FINISHED, job->number);
	message.body.finished.n = job->result.n;
	message.body.finished.distinct = job->result.distinct;
	message.body.finished.algorithm = job->result.algorithm;
	snprintf(message.body.finished.reason, GPU_TEXT_SIZE, "%s", job->result.reason);
	if (!peer_send(job->peer, &message))
		return false;
	return read->form == GPU_FORM_NONE ||
		start_reading(job, (GpuForm) read->form, read->descending != 0);
}

static bool
on_read(Job *job, const GpuRead *read)
{
	if (job->failed)
		return true;
	if (!job->finished)
		return peer_bad_message(job->peer, "reading before the end of the keys");
	if (job->wanted > 0)
		return peer_bad_message(job->peer, "reading where questions were announced");
	job_stop_queueing(job);
	return start_reading(job, (GpuForm) read->form, read->descending != 0);
}

static bool
on_look(Job *job, const GpuLook *look)
{
	if (job->state[look->chunk] != CHUNK_FILLING)
		return peer_bad_message(job->peer, "questions in a chunk that was not granted");
	if (job->failed)
		return true;
	if (!job->finished)
		return peer_bad_message(job->peer, "questions before the end of the keys");
	if (job->wanted == 0)
		return peer_bad_message(job->peer, "questions that were not announced");
	job->wanted--;
	return job_look_up(job, look);
}

static bool
on_release(Job *job, uint32_t chunk)
{
	if (job->state[chunk] != CHUNK_READING)
		return peer_bad_message(job->peer, "release of a chunk that is not held");
	job->reading--;
	job_take_back(job, chunk);
	return true;
}

bool
job_message(Job *job, const GpuMessage *m)
{
	EngineError err;

	if (m->header.type == GPU_MSG_OPEN)
		return on_open(job, m);
	if (!job->open || m->header.job != job->number)
		return peer_bad_message(job->peer, "no such job");
	switch (m->header.type)
	{
		case GPU_MSG_ADD:
			return on_add(job, &m->body.add);
		case GPU_MSG_WANT:
			return on_want(job, &m->body.want);
		case GPU_MSG_KEEP:
		case GPU_MSG_ADD_EXTENTS:
		case GPU_MSG_ROWS:
		case GPU_MSG_ADD_ROWS:
			return on_extents(job, m->header.type, &m->body.extents);
		case GPU_MSG_FINISH:
			return on_finish(job, &m->body.read);
		case GPU_MSG_READ:
			return on_read(job, &m->body.read);
		case GPU_MSG_RELEASE:
			return on_release(job, m->body.release.chunk);
		case GPU_MSG_LOOK:
			return on_look(job, &m->body.look);
		default:				/* CLOSE */
			engine_fail(&err, GPU_LOST, "job was given up");
			err.cancelled = true;
			job_end(job, job->finished ? NULL : &err);
			return true;
	}
}
