/*
 * job_messages.c
 *		What a client's messages do to its job (see job.h).
 */
#define _GNU_SOURCE
#include <stdio.h>

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

/* Opens the job on its device. */
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

	/* A job for keys can be read as runs, too, and is when those are smaller. */
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

static bool
on_open(Job *job, const GpuMessage *m)
{
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
	job->announced = m->body.open.n;
	job->crossed = 0;
	job->wanted = 0;
	job->n = 0;
	job->distinct = 0;
	job->ncolumns = 1;
	job->reading.number = 0;
	job->reading.form = GPU_FORM_NONE;
	chunks_activate(job->chunks.all, &job->chunks.holder, job->announced > 0);
	job->device = devices_take(job->devices, job->announced == 0 && job->epoch != 0);
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
 */
static bool
add_keys(Job *job, const GpuChunk *add, uint64_t *number, HpsortCudaError * err)
{
	const int32_t *keys = chunks_at(job->chunks.all, add->chunk);
	HpsortCudaError second;

	/* The engine refuses a job from its first error on, and may say so: the first one counts. */
	return hpsort_cuda_job_add(job->cuda, keys, add->count, number, err) == HPSORT_CUDA_OK ||
		(job_makes_room(job, err) &&
		 hpsort_cuda_job_add(job->cuda, keys, add->count, number, &second) == HPSORT_CUDA_OK);
}

static bool
on_add(Job *job, const GpuMessage *m)
{
	const GpuChunk *add = &m->body.chunk;
	HpsortCudaError err;
	uint64_t	number;

	if (job->layout)
		return peer_bad_message(job->peer, "keys behind those of rows");
	if (add->count > job->announced - job->crossed)
		return peer_bad_message(job->peer, "more keys than were announced");
	job_chunk_is_busy(job, add->chunk);
	if (!add_keys(job, add, &number, &err))
		return job_fail_by(job, &err);
	job_chunk_is_read_by(job, add->chunk, number);
	job->crossed += add->count;
	job->n += add->count;
	return true;
}

static bool
on_want(Job *job, const GpuMessage *m)
{
	const GpuWant *want = &m->body.want;

	if (job->finished && (want->keys > 0 || job->reading.form != GPU_FORM_NONE))
		return peer_bad_message(job->peer, "keys after the last");
	if (want->keys > UINT64_MAX - job->announced || want->chunks > UINT32_MAX - job->wanted)
		return peer_bad_message(job->peer, "more keys than can be counted");
	job->announced += want->keys;
	job->wanted += want->chunks;
	chunks_activate(job->chunks.all, &job->chunks.holder, true);
	return job_supply(job);
}

/* Starts a reading: tells the client how many items it has, and in which form. */
static bool
start_reading(Job *job, GpuForm form, bool descending)
{
	GpuMessage	message;
	HpsortCudaError err;
	uint64_t	distinct = job->distinct;
	bool		permutation = job->spec.want == SORT_WANT_PERMUTATION;

	job->reading.number++;
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
		return job_fail(job, GPU_UNSUPPORTED,
						"this result was not asked for when the job was opened");
	if (form == GPU_FORM_RUNS && job->n > 0 &&
		hpsort_cuda_job_distinct(job->cuda, &distinct, &err) != HPSORT_CUDA_OK)
		return job_fail_by(job, &err);
	job->reading.form = form;

	/* Runs always come ascending. */
	job->reading.descending = descending && form != GPU_FORM_RUNS;
	job->reading.at = 0;
	job->reading.items = form == GPU_FORM_RUNS ? distinct : job->n;
	gpu_message_init(&message, GPU_MSG_RESULT, job->number);
	message.body.result.items = job->reading.items;
	message.body.result.form = form;
	message.body.result.descending = job->reading.descending;
	message.body.result.read = job->reading.number;
	return peer_send(job->peer, &message);
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

static bool
on_finish(Job *job, const GpuMessage *m)
{
	const GpuRead *read = &m->body.read;
	JobChunks  *chunks = &job->chunks;
	HpsortCudaResult result;
	HpsortCudaError err;
	GpuMessage	message;
	uint32_t	i;

	/* With FINISH the client has given back the chunks that it did not fill. */
	chunks_leave(chunks->all, &chunks->holder);
	for (i = 0; i < chunks->all->count && chunks->filling > 0; i++)
		if (chunks->state[i] == CHUNK_FILLING)
		{
			chunks->filling--;
			job_take_back(job, i);
		}
	job->announced = job->crossed;
	job->wanted = 0;
	chunks_activate(chunks->all, &chunks->holder, true);
	if (hpsort_cuda_job_finish(job->cuda, &result, &err) != HPSORT_CUDA_OK)
		return job_fail_by(job, &err);
	job->finished = true;
	job->n = result.n;
	job->distinct = result.n > 0 ? result.distinct : 0;
	if (!job_collect_busy(job, true))
		return false;
	if (job->failed)
		return true;
	gpu_message_init(&message, GPU_MSG_FINISHED, job->number);
	message.body.finished.n = job->n;
	message.body.finished.distinct = job->distinct;
	message.body.finished.algorithm = algorithm_used(job, result.regime);
	snprintf(message.body.finished.reason, GPU_TEXT_SIZE, "%.159s", result.reason);
	if (!peer_send(job->peer, &message))
		return false;
	return read->form == GPU_FORM_NONE ||
		start_reading(job, (GpuForm) read->form, read->descending != 0);
}

static bool
on_read(Job *job, const GpuMessage *m)
{
	if (job->wanted > 0)
		return peer_bad_message(job->peer, "reading where questions were announced");
	chunks_leave(job->chunks.all, &job->chunks.holder);
	return start_reading(job, (GpuForm) m->body.read.form, m->body.read.descending != 0);
}

static bool
on_release(Job *job, const GpuMessage *m)
{
	job->chunks.reading--;
	job_take_back(job, m->body.chunk.chunk);
	return true;
}

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
	ChunkState	chunk;			/* of the chunk that it names; ELSEWHERE: it names none */
	bool		announced;		/* its chunk, by WANT */
	bool		filling;		/* before FINISH only */
	bool		finished;		/* after FINISH only */
	bool		failed;			/* for a job that has failed, too */
} Handler;

static const Handler handlers[] = {
	[GPU_MSG_ADD] = {on_add, CHUNK_FILLING,.filling = true},
	[GPU_MSG_WANT] = {on_want},
	[GPU_MSG_KEEP] = {job_keep_extents, CHUNK_FILLING,.announced = true,.filling = true},
	[GPU_MSG_LAYOUT] = {job_set_layout, CHUNK_FILLING,.announced = true,.filling = true},
	[GPU_MSG_ADD_ROWS] = {job_add_rows, CHUNK_FILLING,.announced = true,.filling = true},
	[GPU_MSG_FINISH] = {on_finish,.filling = true},
	[GPU_MSG_READ] = {on_read,.finished = true},
	[GPU_MSG_LOOK] = {job_look_up, CHUNK_FILLING,.announced = true,.finished = true},
	[GPU_MSG_RELEASE] = {on_release, CHUNK_READING,.failed = true},
	[GPU_MSG_CLOSE] = {on_close,.failed = true},
};

bool
job_message(Job *job, const GpuMessage *m)
{
	const Handler *h = &handlers[m->header.type];
	bool		alive;

	if (m->header.type == GPU_MSG_OPEN)
		return on_open(job, m);
	if (!job->open || m->header.job != job->number)
		return peer_bad_message(job->peer, "no such job");
	if (h->chunk != CHUNK_ELSEWHERE && job->chunks.state[gpu_message_chunk(m)] != h->chunk)
		return peer_bad_message(job->peer, "chunk that was not granted or lent");
	if (job->failed && !h->failed)
		return true;
	if (h->filling && job->finished)
		return peer_bad_message(job->peer, "keys after the last");
	if (h->finished && !job->finished)
		return peer_bad_message(job->peer, "question before the end of the keys");
	if (h->announced && job->wanted == 0)
		return peer_bad_message(job->peer, "chunk that was not announced");
	if (h->announced)
		job->wanted--;
	alive = h->handle(job, m);
	if (alive && !job->failed && h->filling && h->chunk == CHUNK_FILLING)
		job_may_pause(job);
	return alive;
}
