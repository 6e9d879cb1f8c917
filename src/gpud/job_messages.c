/*
 * job_messages.c
 *		What a client's messages do to its job (see job.h).
 *
 * job_message checks in one place, by a table, what a message may find: a chunk that the client
 * has, a job that is being filled, or one that is finished.  The handlers then do the rest.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "gpud/job.h"
#include "published/published.h"
#include "sort/algorithms.h"

/*
 * The published algorithm of that name, as HpsortCudaSpec.algorithm; 0 where the
 * engine's own algorithms are meant.  "radix" is CUB's sort.
 */
static int
published(SortAlgorithm algorithm)
{
	HpsortPublished found;

	if (algorithm == SORT_ALGORITHM_AUTO || algorithm == SORT_ALGORITHM_ZERO_COMPRESSED ||
		!hpsort_published_by_name(sort_algorithm_name(algorithm), &found))
		return 0;
	return HPSORT_PUBLISHED_JOB(found);
}

/* Opens spec's job in the engine, and sets *cuda to it; after a failure nothing is left open. */
static HpsortCudaCode
open_on_device(Job *job, HpsortCudaJob * *cuda, HpsortCudaError * err)
{
	const GpuOpen *open = &job->spec;
	HpsortCudaSpec spec = {
		.n_hint = open->n,
		.lo = open->lo,
		.hi = open->hi,
		.bounds_known = open->lo != INT32_MIN || open->hi != INT32_MAX,
		.descending = open->descending,
		.algorithm = published((SortAlgorithm) open->algorithm),
		.float_images = open->floats,
		.counted = open->algorithm == SORT_ALGORITHM_ZERO_COMPRESSED,
	};
	HpsortCuda *others[DEVICES_MAX];
	HpsortCudaCode code;

	/* A job for keys can be read as runs, too, and is when runs are smaller. */
	spec.wanted = open->want == SORT_WANT_PERMUTATION ? HPSORT_CUDA_PERMUTATION :
		open->want == SORT_WANT_RUNS ? HPSORT_CUDA_RUNS : HPSORT_CUDA_KEYS | HPSORT_CUDA_RUNS;
	code = hpsort_cuda_job_open(job->device->cuda, &spec, cuda, err);

	/* The published algorithm sorts on all devices at once; no other one does. */
	if (code == HPSORT_CUDA_OK && open->algorithm == SORT_ALGORITHM_BUCKET_BITONIC)
	{
		code = hpsort_published_job_share(*cuda, others,
										  devices_others(job->devices, job->device, others), err);
		if (code != HPSORT_CUDA_OK)
			hpsort_cuda_job_close(*cuda);
	}
	return code;
}

/*
 * OPEN: takes a device, grants the first chunks, and opens the job in the engine; a second time, if
 * memory for it could be made.
 */
static bool
on_open(Job *job, const GpuMessage *m)
{
	const uint32_t most = gpu_chunk_items(SORT_WANT_KEYS, job->holder.chunks->bytes);
	HpsortCudaError err;
	HpsortCudaJob *cuda;

	if (job->open)
		return peer_bad_message(job->peer, "job opened while another is open");
	if (m->header.job <= job->number)
		return peer_bad_message(job->peer, "job number used before");
	job->number = m->header.job;
	job->open = true;
	job->failed = job->finished = job->layout = job->extents.full = false;
	job->spec = m->body.open;
	job->wanted = job->spec.n / most + (job->spec.n % most > 0);
	job->n = 0;
	job->ncolumns = 1;
	memset(&job->result, 0, sizeof(job->result));
	job->device = devices_take(job->devices, job->spec.device);
	if (job->device == NULL)
		return job_fail(job, GPU_DEVICE_ERROR, "all devices have failed");

	/*
	 * The client can fill its first chunk while the device prepares.  job_supply() cannot fail
	 * the job here: nothing is on the way to the device yet.
	 */
	if (!job_supply(job))
		return false;
	if (job->failed)
		return true;
	if (open_on_device(job, &cuda, &err) != HPSORT_CUDA_OK &&
		!(job_makes_room(job, &err) && open_on_device(job, &cuda, &err) == HPSORT_CUDA_OK))
		return job_fail_by(job, &err);
	pthread_mutex_lock(&job->lock);
	job->cuda = cuda;
	if (atomic_load(&job->peer->over) != CONNECTION_ALIVE)
		hpsort_cuda_job_cancel(cuda);
	pthread_mutex_unlock(&job->lock);
	return true;
}

/*
 * Adds the keys in a chunk to the job on the device, a second time if memory for it could be made.
 * Sets *number to the engine's call that reads the chunk.  False if the engine has failed; err is
 * the first error.
 */
static bool
add_keys(Job *job, const GpuChunk *add, uint64_t *number, HpsortCudaError * err)
{
	const int32_t *keys = chunks_at(job->holder.chunks, add->chunk);
	HpsortCudaError second;

	/* The engine may refuse the job after its first error: err keeps the first. */
	return hpsort_cuda_job_add(job->cuda, keys, add->count, number, err) == HPSORT_CUDA_OK ||
		(job_makes_room(job, err) &&
		 hpsort_cuda_job_add(job->cuda, keys, add->count, number, &second) == HPSORT_CUDA_OK);
}

/* ADD: keys for the engine, which reads the chunk later. */
static bool
on_add(Job *job, const GpuMessage *m)
{
	const GpuChunk *add = &m->body.chunk;
	HpsortCudaError err;
	uint64_t	number;

	if (job->layout)
		return peer_bad_message(job->peer, "keys behind those of rows");
	if (!add_keys(job, add, &number, &err))
		return job_fail_by(job, &err);
	job_chunk_is_read_by(job, add->chunk, number);
	job->n += add->count;
	return true;
}

/* WANT: chunks for what is announced are granted as they become free (job_supply). */
static bool
on_want(Job *job, const GpuMessage *m)
{
	if (job->finished && !job->spec.look_up)
		return peer_bad_message(job->peer, "announcement after the last key");
	job->wanted += m->body.want.chunks;
	return job_supply(job);
}

/*
 * Decides in which form the result travels, and how many items it has.  Keys travel as runs where
 * these are smaller: 12 bytes a run, 4 a key.  distinct is the number of runs if the engine knows
 * it already, else 0.
 */
static bool
describe_result(Job *job, uint64_t distinct, HpsortCudaError * err)
{
	JobResult  *result = &job->result;

	result->form = (SortWant) job->spec.want;
	result->items = job->spec.look_up ? 0 : job->n;
	if (job->spec.look_up)
		return true;
	if (result->form == SORT_WANT_KEYS && distinct > 0 && distinct < job->n / 3)
		result->form = SORT_WANT_RUNS;
	return result->form != SORT_WANT_RUNS || job->n == 0 ||
		hpsort_cuda_job_distinct(job->cuda, &result->items, err) == HPSORT_CUDA_OK;
}

/*
 * What the engine did, as the client knows it.  All of its ways that count are the 0-compressed
 * H-P algorithm.
 */
static SortAlgorithm
algorithm_used(const Job *job, HpsortCudaRegime regime)
{
	switch (regime)
	{
		case HPSORT_CUDA_NOTHING:
			return SORT_ALGORITHM_AUTO;
		case HPSORT_CUDA_PUBLISHED:
			return (SortAlgorithm) job->spec.algorithm;
		case HPSORT_CUDA_RADIX:
			return SORT_ALGORITHM_RADIX;
		default:
			return SORT_ALGORITHM_ZERO_COMPRESSED;
	}
}

/* FINISH: the device sorts, which may take long; FINISHED describes the result to the client. */
static bool
on_finish(Job *job, const GpuMessage *m)
{
	ChunkHolder *holder = &job->holder;
	HpsortCudaResult done;
	HpsortCudaError err;
	GpuMessage	message;
	uint32_t	i = 0;

	(void) m;

	/* With FINISH the client has given back the chunks that it did not fill. */
	chunks_leave(holder);
	while (i < holder->held)
		if (holder->list[i].state == CHUNK_FILLING)
			chunks_put(holder, holder->list[i].chunk);
		else
			i++;
	job->wanted = 0;
	if (hpsort_cuda_job_finish(job->cuda, &done, &err) != HPSORT_CUDA_OK)
		return job_fail_by(job, &err);
	job->finished = true;
	job->n = done.n;
	if (!job_collect_busy(job, true))
		return false;
	if (job->failed)
		return true;
	if (!describe_result(job, done.distinct, &err))
		return job_fail_by(job, &err);
	gpu_message_init(&message, GPU_MSG_FINISHED, job->number);
	message.body.finished.n = job->n;
	message.body.finished.items = job->result.items;
	message.body.finished.form = job->result.form;
	message.body.finished.algorithm = algorithm_used(job, done.regime);
	snprintf(message.body.finished.reason, GPU_TEXT_SIZE, "%.159s", done.reason);
	return peer_send(job->peer, &message);
}

/* RELEASE: the client has read a chunk that was lent to it. */
static bool
on_release(Job *job, const GpuMessage *m)
{
	chunks_put(&job->holder, m->body.chunk.chunk);
	return true;
}

/* CLOSE: the end of a job, also of one that has failed. */
static bool
on_close(Job *job, const GpuMessage *m)
{
	(void) m;
	job_end(job);
	return true;
}

/* What a message does, and when. */
typedef struct Handler
{
	bool		(*handle) (Job *job, const GpuMessage *m);
	ChunkState	chunk;			/* of the chunk that it names; NONE: it names none */
	bool		filling;		/* before FINISH only */
	bool		finished;		/* after FINISH only */
	bool		failed;			/* for a job that has failed, too */
} Handler;

static const Handler handlers[] = {
	[GPU_MSG_ADD] = {on_add, CHUNK_FILLING,.filling = true},
	[GPU_MSG_WANT] = {on_want, CHUNK_NONE},
	[GPU_MSG_KEEP] = {job_keep_extents, CHUNK_FILLING,.filling = true},
	[GPU_MSG_LAYOUT] = {job_set_layout, CHUNK_FILLING,.filling = true},
	[GPU_MSG_ADD_ROWS] = {job_add_rows, CHUNK_FILLING,.filling = true},
	[GPU_MSG_FINISH] = {on_finish, CHUNK_NONE,.filling = true},
	[GPU_MSG_LOOK_AT] = {job_look_up, CHUNK_FILLING,.finished = true},
	[GPU_MSG_LOOK_BELOW] = {job_look_up, CHUNK_FILLING,.finished = true},
	[GPU_MSG_LOOK_DISTINCT] = {job_look_up, CHUNK_FILLING,.finished = true},
	[GPU_MSG_LOOK_SUM] = {job_look_up, CHUNK_FILLING,.finished = true},
	[GPU_MSG_RELEASE] = {on_release, CHUNK_READING,.failed = true},
	[GPU_MSG_CLOSE] = {on_close, CHUNK_NONE,.failed = true},
};

bool
job_message(Job *job, const GpuMessage *m)
{
	const Handler *h = &handlers[m->header.type];
	HeldChunk  *chunk = NULL;

	if (m->header.type == GPU_MSG_OPEN)
		return on_open(job, m);
	if (!job->open || m->header.job != job->number)
		return peer_bad_message(job->peer, "no such job");
	if (h->chunk != CHUNK_NONE)
		chunk = chunks_held(&job->holder, m->body.chunk.chunk);
	if (h->chunk != CHUNK_NONE && (chunk == NULL || chunk->state != h->chunk))
		return peer_bad_message(job->peer, "chunk that was not granted or lent");
	if (job->failed && !h->failed)
		return true;
	if (h->filling && job->finished)
		return peer_bad_message(job->peer, "keys after the last");
	if (h->finished && !job->finished)
		return peer_bad_message(job->peer, "question before the end of the keys");

	/*
	 * Chunks are granted only for what was announced.  From here on the chunk is the device's,
	 * until the handler says what becomes of it.
	 */
	if (h->chunk == CHUNK_FILLING)
	{
		chunk->state = CHUNK_BUSY;
		job->wanted--;
	}
	return h->handle(job, m);
}
