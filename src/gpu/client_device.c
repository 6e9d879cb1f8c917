/*
 * client_device.c
 *		The GPU service as a SortDevice (see client.h): a job's beginning, its keys, extents and
 *		their rows, questions, and its end.  Results are client_results.c's.
 *
 * Keys are copied into granted chunks.  While this side copies, the service works
 * on the chunks before.
 */
#include "gpu/client.h"

#include <poll.h>
#include <string.h>

#include "gpu/client_job.h"
#include "gpu/copy.h"
#include "sort/clock.h"
#include "sort/error.h"

/*
 * The most extents of a list without a layout.  While the service and the device have one list in
 * work, this side writes the next, and reads the answers to the one before.
 */
#define LIST_EXTENTS 2048

/* Late messages for the job before are known by its number, which is one less. */
SortStatus
gpu_client_open(GpuClient *c, const SortContext *context, const SortJobSpec *spec,
				SortJob **result, SortError *err)
{
	const SortAllocator *a = &context->allocator;
	uint32_t	capacity;
	GpuJob	   *job;
	GpuMessage	message;
	SortStatus	status;

	*result = NULL;
	if (c == NULL)
		return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "no connection to the GPU service");
	if (!gpu_client_is_usable(c))
		return client_refuse(c, err, c->failure == GPU_OK ? GPU_LOST : c->failure,
							 "no connection to the GPU service");
	if (c->job)
		return client_refuse(c, err, GPU_RESOURCES, "connection to the GPU service is in use");
	job = a->alloc(a->arena, sizeof(GpuJob));
	if (job == NULL)
		return client_no_memory(c, err);
	memset(job, 0, sizeof(GpuJob));
	sort_job_init(&job->base, &gpu_client_device, context, spec);
	job->client = c;
	capacity = gpu_chunk_items(SORT_WANT_KEYS, c->area.chunk_bytes);
	job->announced = spec->n / capacity + (spec->n % capacity > 0);
	job->filling = -1;
	job->rows.ncolumns = 1;
	c->failure = GPU_OK;
	c->job = job;
	c->job_number++;

	gpu_message_init(&message, GPU_MSG_OPEN, c->job_number);
	message.body.open.n = spec->n;
	message.body.open.lo = spec->lo;
	message.body.open.hi = spec->hi;
	message.body.open.want = spec->want;
	message.body.open.descending = spec->descending;
	message.body.open.algorithm = context->algorithm;
	message.body.open.floats = context->floats;
	message.body.open.look_up = spec->look_up;
	message.body.open.device = spec->device;

	/*
	 * The service shall say that there is no chunk before the wait timeout is over, after which
	 * it would be taken for dead.
	 */
	message.body.open.wait_ms = c->wait_timeout_ms > 0 ? c->wait_timeout_ms / 4 * 3 + 1 : 0;
	status = client_send(c, &message, err);
	if (status != SORT_OK)
	{
		c->job = NULL;
		a->release(a->arena, job);
		return status;
	}
	*result = &job->base;
	return SORT_OK;
}

/* SortDevice.open: opens a job over the connection that is the arg of the GPU of context. */
static SortStatus
gpu_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	return gpu_client_open(context->gpu->arg, context, spec, result, err);
}

/* ------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------
 */

/* Hands over the chunk that is being filled with keys, if there is one. */
static SortStatus
submit_keys(GpuJob *job, SortError *err)
{
	int64_t		chunk = job->filling;

	job->filling = -1;
	return chunk < 0 ? SORT_OK :
		client_submit_chunk(job, GPU_MSG_ADD, (uint32_t) chunk, job->filled * sizeof(int32_t),
							job->filled, err);
}

/*
 * Copies keys into the chunk that is being filled, or into one that it begins and may wait for,
 * and hands a full chunk over.  Returns how many of the n keys were copied.  *status must be
 * SORT_OK before, and says afterwards whether it went well.
 */
static uint32_t
fill_chunk(GpuJob *job, const int32_t *keys, size_t n, SortStatus *status, SortError *err)
{
	GpuClient  *c = job->client;
	uint32_t	room = gpu_chunk_items(SORT_WANT_KEYS, c->area.chunk_bytes);
	uint32_t	chunk;

	if (job->filling < 0)
	{
		*status = client_begin_chunk(job, &chunk, err);
		if (*status != SORT_OK)
			return 0;
		job->filling = chunk;
		job->filled = 0;
	}
	room -= job->filled;
	if (n > room)
		n = room;
	copy_to_shared(client_chunk_memory(c, (uint32_t) job->filling) +
				   job->filled * sizeof(int32_t), keys, n * sizeof(int32_t));
	job->filled += (uint32_t) n;
	job->n += n;
	if (n == room)
		*status = submit_keys(job, err);
	return (uint32_t) n;
}

/*
 * SortDevice.add: copies all keys into chunks, and hands over each that is full.  Unless the spec
 * says that more keys follow, the next add may be far away: the last chunk is handed over as it
 * is, so that the job holds none.
 */
static SortStatus
gpu_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	GpuClient  *c = job->client;
	uint32_t	capacity;
	SortStatus	status;

	if (job->failed)
		return client_job_failed(job, err);
	if (job->rows.layout)
		return client_refuse(c, err, GPU_UNSUPPORTED, "keys cannot follow those of rows");
	capacity = gpu_chunk_items(SORT_WANT_KEYS, c->area.chunk_bytes);
	status = client_announce(job, ((job->filling >= 0 ? job->filled : 0) + n + capacity - 1) /
							 capacity, err);
	while (n > 0 && status == SORT_OK)
	{
		uint32_t	part = fill_chunk(job, keys, n, &status, err);

		keys += part;
		n -= part;
		if (status == SORT_OK && sort_interrupted(job->base.context))
			return client_cancelled(c, err);
	}
	if (status == SORT_OK)
		status = client_job_handle_all(job, err);
	if (status == SORT_OK && job->n >= base->spec.n)
		status = submit_keys(job, err);
	return status;
}

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
		status = submit_keys(job, err);
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

/*
 * SortDevice.keep_extent: copies the extent to the gathered ones, and sends these when they fill a
 * chunk.  An extent that the service will not keep, or that is larger than a chunk, is skipped,
 * which is no failure: add_rows finds it missing.
 */
static SortStatus
gpu_keep_extent(SortJob *base, uint64_t generation, const void *extent, size_t size,
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

/* SortDevice.set_rows: sends the layout and its ranges in a chunk of their own, once a job. */
static SortStatus
gpu_set_rows(SortJob *base, const RowsLayout *layout, const ValueRange *ranges, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	const size_t size = sizeof(*layout) + layout->nranges * sizeof(ValueRange);
	uint32_t	chunk;
	char	   *memory;
	SortStatus	status = check_job(job, base->spec.n == 0 && !job->rows.layout &&
								   rows_layout_is_sound(layout, ranges), err);

	if (status == SORT_OK && size > job->client->area.chunk_bytes)
		return client_refuse(job->client, err, GPU_UNSUPPORTED, "conditions beyond a chunk");
	if (status == SORT_OK)
		status = client_announce(job, base->spec.divided ? 1 : 2, err); /* and for first rows */
	if (status == SORT_OK)
		status = client_begin_chunk(job, &chunk, err);
	if (status != SORT_OK)
		return status;
	memory = client_chunk_memory(job->client, chunk);
	copy_to_shared(memory, layout, sizeof(*layout));
	if (layout->nranges > 0)
		copy_to_shared(memory + sizeof(*layout), ranges, size - sizeof(*layout));
	job->rows.layout = true;
	job->rows.ncolumns = layout->ncolumns;
	job->rows.filtered = layout->filtered;
	return client_submit_chunk(job, GPU_MSG_LAYOUT, chunk, size, 1, err);
}

/* How long a chunk is waited for, where the caller may do without. */
#define BEGIN_MS 20

/* Whether a chunk has been granted, or is within BEGIN_MS.  *status is not SORT_OK on failure. */
static bool
has_chunk_soon(GpuJob *job, SortStatus *status, SortError *err)
{
	const GpuClientHooks *hooks = &job->client->hooks;
	int64_t		until = sort_clock_ms() + BEGIN_MS;
	int64_t		left;

	for (;;)
	{
		*status = client_job_handle_all(job, err);
		if (*status != SORT_OK || job->client->area.ngranted > 0)
			return *status == SORT_OK;
		left = until - sort_clock_ms();
		if (left <= 0 || hooks->wait(hooks->arg, job->client->fd, POLLIN, (int) left) < 0)
			return false;
	}
}

/*
 * Sends the entries of asked->list that were not sent yet, n in all, each with its generations
 * behind it; without wait, as far as chunks are granted soon.  Answers that come meanwhile are
 * taken (take_lent).
 */
static SortStatus
send_lists(GpuJob *job, size_t n, bool wait, SortError *err)
{
	AskedRows  *asked = &job->rows;
	const size_t ngenerations = asked->ncolumns * sizeof(uint64_t);
	SortStatus	status = SORT_OK;

	while (status == SORT_OK && asked->asked < n)
	{
		size_t		left = n - asked->asked;
		uint32_t	count = left < asked->most ? (uint32_t) left : asked->most;
		size_t		end = asked->asked + count;
		uint32_t	chunk;
		char	   *list;
		char	   *at;

		if (!wait && !has_chunk_soon(job, &status, err))
			break;
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

/*
 * Begins the asking for entries, unless that has begun.  Extents that were gathered go first, so
 * that the service has them.  Where the service keeps no extents, no entry is asked for.
 */
static SortStatus
start_rows(GpuJob *job, SortRows *rows, const uint64_t *generations, size_t n, SortError *err)
{
	AskedRows  *asked = &job->rows;
	SortStatus	status;

	if (asked->list)
		return SORT_OK;
	for (size_t i = 0; i < n; i++)
		rows[i].added = false;
	/* A service that keeps no extents has none to count, which is no failure. */
	if (n == 0 || (!job->failed && !asked->layout && !job->client->keeps_extents))
		return SORT_OK;
	status = check_job(job, job->base.spec.n == 0 && n < UINT32_MAX, err);
	if (status == SORT_OK)
		status = client_send_gathered(job, err);
	if (status != SORT_OK)
		return status;
	asked->most = gpu_chunk_rows(job->client->area.chunk_bytes, asked->ncolumns);
	if (!asked->layout && asked->most > LIST_EXTENTS)
		asked->most = LIST_EXTENTS;
	asked->list = rows;
	asked->generations = generations;
	asked->asked = asked->answered = 0;
	return client_announce(job, (n + asked->most - 1) / asked->most, err);
}

/* SortDevice.begin_rows: sends what add_rows would, as far as chunks are granted soon. */
static SortStatus
gpu_begin_rows(SortJob *base, SortRows *rows, const uint64_t *generations, size_t n, bool *begun,
			   SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	SortStatus	status = start_rows(job, rows, generations, n, err);

	if (status == SORT_OK && job->rows.list)
		status = send_lists(job, n, false, err);
	*begun = job->rows.list == NULL || job->rows.asked == n;
	return status == SORT_OK ? client_job_handle_all(job, err) : status;
}

/* SortDevice.add_rows: sends all entries, and waits until each has its answer. */
static SortStatus
gpu_add_rows(SortJob *base, SortRows *rows, const uint64_t *generations, size_t n,
			 SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	AskedRows  *asked = &job->rows;
	SortStatus	status = start_rows(job, rows, generations, n, err);

	if (status != SORT_OK || asked->list == NULL)
		return status;
	status = send_lists(job, n, true, err);
	while (status == SORT_OK && asked->answered < n)
		status = client_job_handle(job, err);
	asked->list = NULL;
	asked->asked = asked->answered = 0;
	return status;
}

/* ------------------------------------------------------------------------
 * The end of the adding, and questions
 * ------------------------------------------------------------------------
 */

/* SortDevice.begin_finish: sends what has gathered, then FINISH. */
static SortStatus
gpu_begin_finish(SortJob *base, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	SortStatus	status;
	GpuMessage	message;

	if (job->failed)
		return client_job_failed(job, err);
	status = submit_keys(job, err);
	if (status == SORT_OK)
		status = client_send_gathered(job, err);
	if (status != SORT_OK)
		return status;
	gpu_message_init(&message, GPU_MSG_FINISH, job->client->job_number);
	job->finishing = true;
	job->announced = 0;			/* FINISH ends what was announced before */
	status = client_send(job->client, &message, err);
	if (status == SORT_OK && base->spec.look_up && !base->spec.divided)
		status = client_announce(job, 1, err);	/* for the first questions */
	return status == SORT_OK ? client_job_handle_all(job, err) : status;
}

/*
 * SortDevice.finish: waits until the service has sorted.  A job with questions counts as done now;
 * any other one when its result has been read.
 */
static SortStatus
gpu_finish(SortJob *base, SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	SortStatus	status = job->finishing ? SORT_OK : gpu_begin_finish(base, err);

	while (status == SORT_OK && !job->finished)
		status = client_job_handle(job, err);
	if (status == SORT_OK && base->spec.look_up)
		client_count_job(job);
	return status;
}

/*
 * SortDevice.begin_look: sends what look_up would, if that fills one chunk, which is granted soon.
 */
static SortStatus
gpu_begin_look(SortJob *base, SortLook look, const void *questions, size_t n, bool *begun,
			   SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	SortStatus	status = check_job(job, job->finished && base->spec.look_up, err);

	*begun = false;
	if (status == SORT_OK && n <= gpu_chunk_looks(job->client->area.chunk_bytes))
	{
		status = client_announce(job, 1, err);
		*begun = status == SORT_OK && has_chunk_soon(job, &status, err);
	}
	if (!*begun)
		return status;
	job->looks = (uint32_t) n;
	return client_send_chunk(job, gpu_look_type(look), questions, n * sort_look_asks(look),
							 job->looks, err);
}

/*
 * Asks count questions, at most a chunk of them, unless gpu_begin_look has, and waits for their
 * answers.
 */
static SortStatus
ask(GpuJob *job, SortLook look, const void *questions, uint32_t count, void *answers,
	SortError *err)
{
	GpuClient  *c = job->client;
	const size_t answer_bytes = sort_look_answers(look);
	GpuChunk	found;
	SortStatus	status = SORT_OK;

	if (job->looks == 0)
	{
		status = client_announce(job, 1, err);
		if (status == SORT_OK)
			status = client_send_chunk(job, gpu_look_type(look), questions,
									   count * sort_look_asks(look), count, err);
	}
	job->looks = 0;
	if (status == SORT_OK)
		status = client_next_lent(job, &found, err);
	if (status != SORT_OK)
		return status;
	if (found.count != count)
		return client_violation(c, err, "answers that were not asked for");
	memcpy(answers, client_chunk_memory(c, found.chunk), count * answer_bytes);
	job->counters.bytes_received += count * answer_bytes;
	return client_release_chunk(c, found.chunk, err);
}

/* SortDevice.look_up: asks a chunk of questions at once, and waits for their answers. */
static SortStatus
gpu_look_up(SortJob *base, SortLook look, const void *questions, size_t n, void *answers,
			SortError *err)
{
	GpuJob	   *job = (GpuJob *) base;
	SortStatus	status = check_job(job, job->finished && base->spec.look_up, err);
	uint32_t	count;

	for (; n > 0 && status == SORT_OK; n -= count)
	{
		const uint32_t most = gpu_chunk_looks(job->client->area.chunk_bytes);

		count = n < most ? (uint32_t) n : most;
		status = ask(job, look, questions, count, answers, err);
		if (status == SORT_OK && sort_interrupted(base->context))
			status = client_cancelled(job->client, err);
		questions = (const char *) questions + count * sort_look_asks(look);
		answers = (char *) answers + count * sort_look_answers(look);
	}
	return status;
}

/* ------------------------------------------------------------------------
 * The end
 * ------------------------------------------------------------------------
 */

void
gpu_client_end_job(GpuClient *c)
{
	GpuJob	   *job = c->job;

	if (job == NULL)
		return;
	if (c->fd >= 0)
	{
		GpuMessage	message;
		SortError	err;

		client_drop_chunks(c);
		gpu_message_init(&message, GPU_MSG_CLOSE, c->job_number);

		/*
		 * While the service sorts it reads no messages, but notices the end of the connection;
		 * closing a job must not wait for the service.
		 */
		if ((job->finishing && !job->finished && !job->failed) ||
			c->out_len + gpu_message_size(&message) > sizeof(c->out))
			(void) client_cancelled(c, &err);
		else
			(void) client_send(c, &message, &err);
	}
	c->job = NULL;
	job->client = NULL;
	job->failed = true;
	sort_fail(&job->error, SORT_DEVICE_UNAVAILABLE, "job has ended");
	if (c->hooks.closed)
		c->hooks.closed(c->hooks.arg, &job->counters);
}

/* SortDevice.close: ends the job, unless gpu_client_end_job has, and frees its memory. */
static void
gpu_close(SortJob *base)
{
	GpuJob	   *job = (GpuJob *) base;
	const SortAllocator *a;

	if (job == NULL)
		return;
	if (job->client)
		gpu_client_end_job(job->client);
	a = &job->base.context->allocator;
	if (job->gathered.bytes)
		a->release(a->arena, job->gathered.bytes);
	a->release(a->arena, job);
}

/* SortDevice.describe: the reason that FINISHED gave; it lives as long as the job. */
static const char *
gpu_describe(const SortJob *base, SortAlgorithm *algorithm)
{
	const GpuJob *job = (const GpuJob *) base;

	if (job->algorithm != SORT_ALGORITHM_AUTO)
		*algorithm = job->algorithm;
	return job->reason;
}

const SortDevice gpu_client_device = {
	.open = gpu_open,
	.add = gpu_add,
	.keep_extent = gpu_keep_extent,
	.set_rows = gpu_set_rows,
	.add_rows = gpu_add_rows,
	.look_up = gpu_look_up,
	.begin_rows = gpu_begin_rows,
	.begin_finish = gpu_begin_finish,
	.begin_look = gpu_begin_look,
	.finish = gpu_finish,
	.read_keys = client_read_keys,
	.read_runs = client_read_runs,
	.read_permutation = client_read_permutation,
	.describe = gpu_describe,
	.close = gpu_close,
};
