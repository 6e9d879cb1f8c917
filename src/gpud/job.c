/*
 * job.c
 *		What a connection's messages do to its job: keys go in, results come out,
 *		chunks go to and fro.
 *
 * Runs in the connection's thread; blocks only in the engine's calls.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "gpud/connection.h"

/*
 * Chunks a job may have on the way at once, each way: one being filled, one
 * submitted, one on the bus, one spare.  More gain nothing and cost page faults
 * (bench/gpu/service_bench).
 */
#define FILL_WINDOW 4
#define READ_WINDOW 4

/* How often chunks on the way to the device are looked after when nothing else happens. */
#define BUSY_POLL_MS 1

/* ------------------------------------------------------------------------
 * The job's end
 * ------------------------------------------------------------------------
 */

static void
close_engine_job(Connection *c, const EngineError *error)
{
	void	   *job;

	pthread_mutex_lock(&c->job_lock);
	job = c->job;
	c->job = NULL;
	pthread_mutex_unlock(&c->job_lock);
	if (job)
		c->device->engine->job_close(job);
	if (c->device)
		devices_put(&c->service->devices, c->device, error);
	c->device = NULL;
}

static void
stop_queueing(Connection *c)
{
	if (c->queued)
		chunks_leave(&c->service->chunks, &c->holder);
	c->queued = false;
}

/* Only after the engine's job is closed: until then the device may read them. */
static void
free_chunks(Connection *c)
{
	Chunks	   *chunks = &c->service->chunks;
	uint32_t	i;

	stop_queueing(c);
	for (i = 0; i < chunks->count && c->holder.held > 0; i++)
		if (c->state[i] != CHUNK_ELSEWHERE)
		{
			c->state[i] = CHUNK_ELSEWHERE;
			chunks_put(chunks, &c->holder, i);
		}
	c->filling = c->reading = c->nbusy = 0;
}

void
job_end(Connection *c, const EngineError *error)
{
	close_engine_job(c, error);
	free_chunks(c);
	chunks_activate(&c->service->chunks, &c->holder, false);
	c->open = false;
	c->form = GPU_FORM_NONE;
}

/*
 * The job failed: says so.  The client's chunks stay its own until it closes
 * the job, for it may be writing to one.  False when the connection is over.
 */
bool
job_fail(Connection *c, const EngineError *error)
{
	GpuMessage	message;

	if (error->cancelled)
		return false;
	log_line(LOG_INFO, "connection %llu, job %llu: %s", (unsigned long long) c->id,
			 (unsigned long long) c->number, error->text);
	gpu_message_init(&message, GPU_MSG_ERROR, c->number);
	message.body.error.failure = error->failure;
	message.body.error.key = error->key;
	snprintf(message.body.error.text, GPU_TEXT_SIZE, "%s", error->text);
	c->failed = true;
	c->form = GPU_FORM_NONE;
	stop_queueing(c);
	close_engine_job(c, error);
	return connection_send(c, &message);
}

/* A fault that looks like the engine's; true: it was one, and *alive tells on. */
static bool
engine_fault(Connection *c, FaultKind fault, bool *alive)
{
	EngineError err;

	if (fault == FAULT_OOM)
		engine_fail(&err, GPU_NO_MEMORY, "out of device memory (injected)");
	else if (fault == FAULT_STICKY)
	{
		engine_fail(&err, GPU_DEVICE_ERROR, "CUDA error: an illegal memory access (injected)");
		err.sticky = true;
	}
	else
		return false;
	*alive = job_fail(c, &err);
	return true;
}

/* Faults on the wire and in the engine; true: one was committed. */
static bool
commit_fault(Connection *c, FaultPoint point, bool *alive)
{
	FaultKind	fault = faults_at(point, &c->over);

	*alive = true;
	switch (fault)
	{
		case FAULT_NONE:
			return false;
		case FAULT_GARBAGE:
		case FAULT_SHORT:
		case FAULT_OVERSIZE:
			*alive = connection_send_nonsense(c, fault);
			return true;
		case FAULT_NO_CHUNKS:
			if (point != AT_CHUNK && point != AT_READ)
				return false;
			c->starved = true;
			c->queued_since = clock_ms();
			return true;
		default:
			return c->open && !c->failed && engine_fault(c, fault, alive);
	}
}

/* ------------------------------------------------------------------------
 * Chunks to and from the client
 * ------------------------------------------------------------------------
 */

static bool
grant(Connection *c, uint32_t chunk)
{
	GpuMessage	message;
	bool		alive;

	c->state[chunk] = CHUNK_FILLING;
	c->filling++;
	if (commit_fault(c, AT_CHUNK, &alive))
		return alive;
	gpu_message_init(&message, GPU_MSG_GRANT, c->number);
	message.body.grant.chunk = chunk;
	return connection_send(c, &message);
}

/* Takes back what the device has read. */
static bool
collect_busy(Connection *c, bool wait)
{
	Chunks	   *chunks = &c->service->chunks;
	EngineError err;
	uint64_t	number;

	if (c->nbusy == 0)
		return true;
	if (!c->device->engine->job_consumed(c->job, wait, &number, &err))
		return job_fail(c, &err);
	while (c->nbusy > 0 && c->busy[c->busy_at].number <= number)
	{
		uint32_t	chunk = c->busy[c->busy_at].chunk;

		c->busy_at = (c->busy_at + 1) % chunks->count;
		c->nbusy--;
		c->state[chunk] = CHUNK_ELSEWHERE;
		chunks_put(chunks, &c->holder, chunk);
	}
	return true;
}

/* Whether more keys were announced than fit into the chunks the client has already. */
static bool
wants_more_chunks(const Connection *c)
{
	return c->announced - c->n > (uint64_t) c->filling *
		gpu_chunk_items(GPU_FORM_KEYS, c->service->chunks.bytes);
}

/* A chunk, or -1: then this connection is in the queue if it must have one. */
static int64_t
get_chunk(Connection *c, uint32_t most, bool must)
{
	Chunks	   *chunks = &c->service->chunks;
	int64_t		chunk;

	if (c->starved)
		return -1;
	if (c->queued)
	{
		chunk = chunks_given(chunks, &c->holder);
		if (chunk >= 0)
			c->queued = false;
		return chunk;
	}
	chunk = chunks_take(chunks, &c->holder, most);
	if (chunk < 0 && must)
	{
		chunks_queue(chunks, &c->holder);
		c->queued = true;
		c->queued_since = clock_ms();
		return get_chunk(c, most, false);
	}
	return chunk;
}

/*
 * While keys come: sees to it that the client has chunks to fill, for keys that it
 * has in hand.  A client that pauses has none, so it gets none: however many
 * streams pause, the chunks are there for those that do not.  Where chunks are
 * scarce a client gets them one by one.
 */
static bool
supply(Connection *c)
{
	while (wants_more_chunks(c) &&
		   !(c->filling > 0 && chunks_scarce(&c->service->chunks)))
	{
		int64_t		chunk;

		if (!collect_busy(c, false))
			return false;
		if (c->failed)
			return true;
		chunk = get_chunk(c, FILL_WINDOW, c->filling == 0 && c->nbusy == 0);
		if (chunk < 0 && c->filling == 0 && c->nbusy > 0)
		{
			/* it has nothing to do meanwhile, and the device is soon done */
			if (!collect_busy(c, true))
				return false;
			if (c->failed)
				return true;
			continue;
		}
		if (chunk < 0)
			return true;
		if (!grant(c, (uint32_t) chunk))
			return false;
	}
	return true;
}

/* While a result is read: sends parts of it as far as chunks allow. */
static bool
deliver(Connection *c)
{
	Chunks	   *chunks = &c->service->chunks;

	while (c->form != GPU_FORM_NONE && c->at < c->items && c->in.len == c->in.at)
	{
		uint32_t	most = gpu_chunk_items(c->form, chunks->bytes);
		uint64_t	left = c->items - c->at;
		uint32_t	count = left < most ? (uint32_t) left : most;
		int64_t		chunk = get_chunk(c, READ_WINDOW, c->reading == 0);
		struct pollfd p = {.fd = c->fd,.events = POLLIN};
		GpuMessage	message;
		EngineError err;
		bool		alive;

		if (chunk < 0)
			return true;
		c->state[chunk] = CHUNK_READING;
		c->reading++;
		if (commit_fault(c, AT_READ, &alive))
			return alive;
		if (!c->device->engine->job_read(c->job, c->form, c->descending, c->at, count,
										 chunks_at(chunks, (uint32_t) chunk), &err))
			return job_fail(c, &err);
		gpu_message_init(&message, GPU_MSG_DATA, c->number);
		message.body.data.first = c->at;
		message.body.data.chunk = (uint32_t) chunk;
		message.body.data.count = count;
		message.body.data.read = c->reads;
		c->at += count;
		if (!connection_send(c, &message))
			return false;

		/* The client may have lost interest. */
		if (poll(&p, 1, 0) > 0)
			break;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------
 */

static bool
on_open(Connection *c, const GpuMessage *m)
{
	EngineSpec	spec = {
		.n = m->body.open.n,
		.lo = m->body.open.lo,
		.hi = m->body.open.hi,
		.want = (SortWant) m->body.open.want,
		.descending = m->body.open.descending,
		.algorithm = (SortAlgorithm) m->body.open.algorithm,
	};
	EngineError err;
	bool		alive;
	void	   *job;
	void	   *others[DEVICES_MAX];

	if (c->open)
		return connection_bad_message(c, "job opened while another is open");
	if (m->header.job <= c->number)
		return connection_bad_message(c, "job number used before");
	c->number = m->header.job;
	c->open = true;
	c->failed = c->finished = c->starved = false;
	c->spec = m->body.open;
	c->announced = m->body.open.n;
	c->n = 0;
	c->reads = 0;
	c->form = GPU_FORM_NONE;
	chunks_activate(&c->service->chunks, &c->holder, c->announced > 0);
	c->device = devices_take(&c->service->devices);
	if (c->device == NULL)
	{
		engine_fail(&err, GPU_DEVICE_ERROR, "all devices have failed");
		return job_fail(c, &err);
	}
	if (commit_fault(c, AT_OPEN, &alive))
		return alive;

	/* as published, it sorts on all devices that there are; no other does */
	if (spec.algorithm == SORT_ALGORITHM_BUCKET_BITONIC)
	{
		spec.nothers = devices_others(&c->service->devices, c->device, others);
		spec.others = others;
	}

	/*
	 * The client can fill its first chunk while the device prepares.  supply()
	 * cannot fail the job here: nothing is on the way to the device yet.
	 */
	if (!supply(c))
		return false;
	if (c->failed)
		return true;
	if (!c->device->engine->job_open(c->device->handle, &spec, &job, &err))
		return job_fail(c, &err);
	pthread_mutex_lock(&c->job_lock);
	c->job = job;
	if (atomic_load(&c->over) != CONNECTION_ALIVE)
		c->device->engine->job_cancel(job);
	pthread_mutex_unlock(&c->job_lock);
	return true;
}

static bool
on_add(Connection *c, const GpuAdd *add)
{
	Chunks	   *chunks = &c->service->chunks;
	EngineError err;
	uint64_t	number;
	bool		alive;

	if (c->state[add->chunk] != CHUNK_FILLING)
		return connection_bad_message(c, "keys in a chunk that was not granted");
	if (c->failed)
		return true;
	if (c->finished)
		return connection_bad_message(c, "keys after the last");
	if (add->count > c->announced - c->n)
		return connection_bad_message(c, "more keys than were announced");
	if (commit_fault(c, AT_ADD, &alive))
		return alive;
	c->state[add->chunk] = CHUNK_BUSY;
	c->filling--;
	if (!c->device->engine->job_add(c->job, chunks_at(chunks, add->chunk), add->count, &number,
									&err))
		return job_fail(c, &err);
	c->busy[(c->busy_at + c->nbusy) % chunks->count] = (BusyChunk)
	{
		add->chunk, number
	};
	c->nbusy++;
	c->n += add->count;

	/* A stream that pauses has no share of the chunks. */
	if (c->n == c->announced)
		chunks_activate(chunks, &c->holder, false);
	return true;
}

static bool
on_want(Connection *c, uint64_t keys)
{
	if (c->failed)
		return true;
	if (c->finished)
		return connection_bad_message(c, "keys after the last");
	if (keys > UINT64_MAX - c->announced)
		return connection_bad_message(c, "more keys than can be counted");
	c->announced += keys;
	chunks_activate(&c->service->chunks, &c->holder, true);
	return true;
}

/* Starts a reading: says how many items it has. */
static bool
start_reading(Connection *c, GpuForm form, bool descending)
{
	GpuMessage	message;
	EngineError err;
	uint64_t	distinct = c->result.distinct;
	bool		permutation = c->spec.want == SORT_WANT_PERMUTATION;

	c->reads++;
	if (form == GPU_FORM_BEST)
	{
		/* 12 bytes a run, 4 a key */
		form = permutation ? GPU_FORM_PERMUTATION :
			c->spec.want == SORT_WANT_RUNS || (distinct > 0 && distinct < c->n / 3)
			? GPU_FORM_RUNS : GPU_FORM_KEYS;
	}
	if ((form == GPU_FORM_PERMUTATION) != permutation ||
		(form == GPU_FORM_KEYS && c->spec.want == SORT_WANT_RUNS) ||
		(permutation && descending != (c->spec.descending != 0)))
	{
		engine_fail(&err, GPU_UNSUPPORTED, "this result was not asked for when the job was opened");
		return job_fail(c, &err);
	}
	if (form == GPU_FORM_RUNS && !c->device->engine->job_distinct(c->job, &distinct, &err))
		return job_fail(c, &err);
	c->form = form;

	/* Runs always come ascending. */
	c->descending = descending && form != GPU_FORM_RUNS;
	c->at = 0;
	c->items = form == GPU_FORM_RUNS ? distinct : c->n;
	gpu_message_init(&message, GPU_MSG_RESULT, c->number);
	message.body.result.items = c->items;
	message.body.result.form = form;
	message.body.result.descending = c->descending;
	message.body.result.read = c->reads;
	return connection_send(c, &message);
}

static bool
on_finish(Connection *c, const GpuRead *read)
{
	Chunks	   *chunks = &c->service->chunks;
	GpuMessage	message;
	EngineError err;
	bool		alive;
	uint32_t	i;

	if (c->failed)
		return true;
	if (c->finished)
		return connection_bad_message(c, "finished twice");

	/* Chunks not used for keys are no longer the client's. */
	stop_queueing(c);
	for (i = 0; i < chunks->count && c->filling > 0; i++)
		if (c->state[i] == CHUNK_FILLING)
		{
			c->state[i] = CHUNK_ELSEWHERE;
			c->filling--;
			chunks_put(chunks, &c->holder, i);
		}
	chunks_activate(chunks, &c->holder, true);
	if (commit_fault(c, AT_FINISH, &alive))
		return alive;
	if (!c->device->engine->job_finish(c->job, &c->result, &err))
		return job_fail(c, &err);
	c->finished = true;
	if (!collect_busy(c, true))
		return false;
	if (c->failed)
		return true;
	gpu_message_init(&message, GPU_MSG_FINISHED, c->number);
	message.body.finished.n = c->result.n;
	message.body.finished.distinct = c->result.distinct;
	message.body.finished.algorithm = c->result.algorithm;
	snprintf(message.body.finished.reason, GPU_TEXT_SIZE, "%s", c->result.reason);
	if (!connection_send(c, &message))
		return false;
	return read->form == GPU_FORM_NONE ||
		start_reading(c, (GpuForm) read->form, read->descending != 0);
}

static bool
on_read(Connection *c, const GpuRead *read)
{
	if (c->failed)
		return true;
	if (!c->finished)
		return connection_bad_message(c, "reading before the end of the keys");
	stop_queueing(c);
	return start_reading(c, (GpuForm) read->form, read->descending != 0);
}

static bool
on_release(Connection *c, uint32_t chunk)
{
	if (c->state[chunk] != CHUNK_READING)
		return connection_bad_message(c, "release of a chunk that is not held");
	c->reading--;
	c->state[chunk] = CHUNK_ELSEWHERE;
	chunks_put(&c->service->chunks, &c->holder, chunk);
	return true;
}

bool
job_message(Connection *c, const GpuMessage *m)
{
	EngineError err;

	if (m->header.type == GPU_MSG_OPEN)
		return on_open(c, m);
	if (!c->open || m->header.job != c->number)
		return connection_bad_message(c, "no such job");
	switch (m->header.type)
	{
		case GPU_MSG_ADD:
			return on_add(c, &m->body.add);
		case GPU_MSG_WANT:
			return on_want(c, m->body.want.keys);
		case GPU_MSG_FINISH:
			return on_finish(c, &m->body.read);
		case GPU_MSG_READ:
			return on_read(c, &m->body.read);
		case GPU_MSG_RELEASE:
			return on_release(c, m->body.release.chunk);
		default:				/* CLOSE */
			engine_fail(&err, GPU_LOST, "job was given up");
			err.cancelled = true;
			job_end(c, c->finished ? NULL : &err);
			return true;
	}
}

/* What can be done without a message; *timeout says when to look again. */
bool
job_progress(Connection *c, int *timeout)
{
	*timeout = -1;
	if (!c->open || c->failed)
		return true;
	if (c->finished ? !deliver(c) : !supply(c))
		return false;
	if (c->failed)
		return true;
	if (c->nbusy > 0)
	{
		if (!collect_busy(c, false))
			return false;
		if (c->nbusy > 0)
			*timeout = BUSY_POLL_MS;
	}
	if ((c->queued || c->starved) && c->spec.wait_ms > 0)
	{
		int64_t		left = c->queued_since + c->spec.wait_ms - clock_ms();

		if (left <= 0)
		{
			EngineError err;

			engine_fail(&err, GPU_NO_CHUNKS, "no pinned memory became free in time");
			return job_fail(c, &err);
		}
		if (*timeout < 0 || left < *timeout)
			*timeout = left < 1000000 ? (int) left : 1000000;
	}
	return true;
}

