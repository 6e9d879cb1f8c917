/*
 * backend.c
 *		The way to the GPU that every sort of this session is lent (see backend.h):
 *		a SortGpu whose device runs the client's jobs over the session's connections.
 *
 * A job is closed by whatever comes first: the sort itself, the end of the memory
 * that its sorter lives in, or the abort of the (sub)transaction it was opened in.
 * Nothing here raises an error: src/sort gets a status, and pg_sort_error makes an
 * error of it where there is no other way to sort.
 */
#include "postgres.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/gpu/backend.h"
#include "pg/gpu/connections.h"
#include "pg/gpu/service_state.h"
#include "pg/guc.h"
#include "pg/interrupts.h"
#include "pg/sort_context.h"
#include "sort/device.h"
#include "sort/error.h"

/* A job of backend_device: the client's job, and what ends it. */
typedef struct BackendJob
{
	SortJob		base;
	SortJob    *inner;			/* the client's; NULL once it was closed */
	Connection *connection;
	SortContext context;		/* the sorter's, but for its gpu */
	SortGpu		gpu;			/* the way to the connection */
	int			nest_level;		/* of the transaction that opened it */
	bool		stream;			/* opened before all keys were there */
} BackendJob;

static const SortDevice backend_device;

/*
 * A memory context in which a job was opened.  When it is reset, its jobs end.
 * Allocated in that context, once, however many jobs are opened in it.
 */
typedef struct WatchedContext
{
	dlist_node	node;
	MemoryContext memory;
	MemoryContextCallback callback;
} WatchedContext;

static dlist_head watched = DLIST_STATIC_INIT(watched);

/* The service's costs, times hpsort.gpu_cost_factor.  Valid until the next call. */
static const SortDeviceCosts *
weighted_costs(const Connection *connection)
{
	static SortDeviceCosts weighted;
	char	   *bytes = (char *) &weighted;
	size_t		at;

	/* A struct of doubles only (protocol.c asserts it), but no array. */
	weighted = *gpu_client_costs(connection->ref.client);
	for (at = 0; at < sizeof(weighted); at += sizeof(double))
	{
		double		ns;

		memcpy(&ns, bytes + at, sizeof(ns));
		ns *= hpsort_gpu_cost_factor;
		memcpy(bytes + at, &ns, sizeof(ns));
	}
	return &weighted;
}

static const SortDeviceCosts *
backend_costs(void *arg, uint64_t n, bool required, const char **reason)
{
	Connection *connection = &connections[0];
	bool		wait;
	bool		usable;

	/* The connection of a stream that still lives is as good as a free one. */
	if (connection->job)
	{
		if (gpu_client_is_usable(connection->ref.client))
			return weighted_costs(connection);
		connection = &connections[1];
	}
	usable = required ? connection_wait_until_usable(connection) :
		connection_make_usable(connection, false, &wait);
	if (usable)
		return weighted_costs(connection);

	/* "off" is the user's own choice, which no plan has to explain. */
	*reason = connections_failure() == GPU_DISABLED && !required ? NULL : connections_reason();
	return NULL;
}

static void
backend_failed(void *arg, const SortError *err)
{
	service_count_fallback(err->status == SORT_UNSUPPORTED ? GPU_UNSUPPORTED :
						   connections_failure());
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------
 */

/* Notes why a job failed, if it did; returns status. */
static SortStatus
job_status(BackendJob *job, SortStatus status, const SortError *err)
{
	GpuClient  *client = job->connection->ref.client;

	if (status == SORT_OK || status == SORT_CANCELLED)
		return status;
	connections_note(status == SORT_DEVICE_UNAVAILABLE || status == SORT_UNSUPPORTED ?
					 gpu_client_failure(client) :
					 status == SORT_OUT_OF_MEMORY ? GPU_RESOURCES : GPU_PROTOCOL, err->message);
	if (connections_failure() == GPU_TIMEOUT)
		connection_timed_out(job->connection, err->message);
	return status;
}

/*
 * Closes the client's job, which frees the connection.  job itself stays, because a
 * sorter that outlives a subtransaction may still hold it.
 */
static void
end_job(BackendJob *job)
{
	if (job == NULL || job->inner == NULL)
		return;

	/*
	 * A process may exit while it waits in the middle of the client, which then must not be
	 * called; the end of the socket ends the job as well.
	 */
	if (!proc_exit_inprogress)
	{
		gpu_client_device.close(job->inner);
		connection_count_work(job->connection);
	}
	job->inner = NULL;
	job->connection->job = NULL;
}

static bool
job_has_ended(const BackendJob *job, SortError *err)
{
	if (job->inner)
		return false;
	sort_fail(err, SORT_DEVICE_UNAVAILABLE, "job ended with its transaction");
	connections_note(GPU_LOST, err->message);
	return true;
}

static void
backend_close(SortJob *base)
{
	BackendJob *job = (BackendJob *) base;

	if (job == NULL)
		return;
	end_job(job);
	pfree(job);
}

static void
memory_goes(void *arg)
{
	WatchedContext *w = arg;
	int			i;

	dlist_delete(&w->node);
	for (i = 0; i < CONNECTIONS; i++)
		if (connections[i].job && connections[i].job->context.allocator.arena == w->memory)
			end_job(connections[i].job);
}

static void
end_of_transaction(XactEvent event, void *arg)
{
	int			i;

	/* Jobs end at commit and prepare, too: no query goes on after them. */
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PARALLEL_PRE_COMMIT ||
		event == XACT_EVENT_PRE_PREPARE)
		return;
	for (i = 0; i < CONNECTIONS; i++)
		end_job(connections[i].job);
}

static void
end_of_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
					  void *arg)
{
	int			level = GetCurrentTransactionNestLevel();
	int			i;

	for (i = 0; i < CONNECTIONS; i++)
	{
		BackendJob *job = connections[i].job;

		if (job == NULL || job->nest_level < level)
			continue;
		if (event == SUBXACT_EVENT_ABORT_SUB)
			end_job(job);
		else if (event == SUBXACT_EVENT_COMMIT_SUB)
			job->nest_level = level - 1;
	}
}

/* From now on jobs end with memory, their sorter's.  False: there is no memory. */
static bool
watch(MemoryContext memory)
{
	static bool registered = false;
	WatchedContext *w;
	dlist_iter	i;

	if (!registered)
	{
		RegisterXactCallback(end_of_transaction, NULL);
		RegisterSubXactCallback(end_of_subtransaction, NULL);
		registered = true;
	}
	dlist_foreach(i, &watched)
		if (dlist_container(WatchedContext, node, i.cur)->memory == memory)
		return true;
	w = MemoryContextAllocExtended(memory, sizeof(*w), MCXT_ALLOC_NO_OOM);
	if (w == NULL)
		return false;
	w->memory = memory;
	w->callback.func = memory_goes;
	w->callback.arg = w;
	MemoryContextRegisterResetCallback(memory, &w->callback);
	dlist_push_head(&watched, &w->node);
	return true;
}

/*
 * A connection that no job uses, made usable, or NULL.  A stream gets none if there is
 * a stream already: it would leave no connection for sorts at their end.
 */
static Connection *
free_connection(bool stream, bool insist, SortError *err)
{
	bool		wait;
	int			i;

	for (i = 0; i < CONNECTIONS; i++)
	{
		if (connections[i].job)
		{
			if (stream && connections[i].job->stream)
				break;
			continue;
		}
		if (connection_make_usable(&connections[i], insist, &wait))
			return &connections[i];
		sort_fail(err, SORT_DEVICE_UNAVAILABLE, "%s", connections_reason());
		return NULL;
	}
	sort_fail(err, SORT_DEVICE_UNAVAILABLE, CONNECTIONS_IN_USE);
	connections_note(GPU_RESOURCES, CONNECTIONS_IN_USE);
	return NULL;
}

static SortStatus
backend_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	MemoryContext memory = (MemoryContext) context->allocator.arena;
	Connection *connection;
	BackendJob *job;
	SortStatus	status;

	*result = NULL;
	connection = free_connection(spec->n == 0, context->device == SORT_DEVICE_GPU, err);
	if (connection == NULL)
		return pg_interrupt_pending() ? sort_cancelled(err)
			: err->status;
	job = watch(memory) ? MemoryContextAllocExtended(memory, sizeof(*job),
													 MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO) : NULL;
	if (job == NULL)
		return sort_no_memory(err);
	job->connection = connection;
	job->context = *context;
	sort_job_init(&job->base, &backend_device, &job->context, spec);
	job->gpu.device = &gpu_client_device;
	job->gpu.arg = &connection->ref;
	job->context.gpu = &job->gpu;
	job->nest_level = GetCurrentTransactionNestLevel();
	job->stream = spec->n == 0;
	status = gpu_client_device.open(&job->context, spec, &job->inner, err);
	status = job_status(job, status, err);
	if (status != SORT_OK)
	{
		pfree(job);
		return status;
	}
	connection->job = job;
	*result = &job->base;
	return SORT_OK;
}

static SortStatus
backend_add(SortJob *base, const int32_t *keys, size_t n, SortError *err)
{
	BackendJob *job = (BackendJob *) base;

	if (job_has_ended(job, err))
		return err->status;
	return job_status(job, gpu_client_device.add(job->inner, keys, n, err), err);
}

static SortStatus
backend_keep_extent(SortJob *base, uint64_t generation, const void *extent, size_t size,
					SortError *err)
{
	BackendJob *job = (BackendJob *) base;
	SortStatus	status;

	if (job_has_ended(job, err))
		return err->status;
	status = gpu_client_device.keep_extent(job->inner, generation, extent, size, err);
	return job_status(job, status, err);
}

static SortStatus
backend_set_rows(SortJob *base, const RowsLayout *layout, const ValueRange *ranges, SortError *err)
{
	BackendJob *job = (BackendJob *) base;

	if (job_has_ended(job, err))
		return err->status;
	return job_status(job, gpu_client_device.set_rows(job->inner, layout, ranges, err), err);
}

static SortStatus
backend_add_rows(SortJob *base, SortRows *rows, const uint64_t *generations, size_t n,
				 SortError *err)
{
	BackendJob *job = (BackendJob *) base;

	if (job_has_ended(job, err))
		return err->status;
	return job_status(job, gpu_client_device.add_rows(job->inner, rows, generations, n, err), err);
}

static SortStatus
backend_look_up(SortJob *base, SortLook look, const void *questions, size_t n, void *answers,
				SortError *err)
{
	BackendJob *job = (BackendJob *) base;

	if (job_has_ended(job, err))
		return err->status;
	return job_status(job, gpu_client_device.look_up(job->inner, look, questions, n, answers, err),
					  err);
}

static SortStatus
backend_finish(SortJob *base, SortError *err)
{
	BackendJob *job = (BackendJob *) base;
	SortStatus	status;

	if (job_has_ended(job, err))
		return err->status;
	status = job_status(job, gpu_client_device.finish(job->inner, err), err);
	if (status == SORT_OK)
		base->keys = job->inner->keys;
	return status;
}

static SortStatus
backend_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err)
{
	BackendJob *job = (BackendJob *) base;

	if (job_has_ended(job, err))
		return err->status;
	return job_status(job, gpu_client_device.read_keys(job->inner, descending, out, err), err);
}

static SortStatus
backend_read_runs(SortJob *base, Runs *runs, SortError *err)
{
	BackendJob *job = (BackendJob *) base;

	if (job_has_ended(job, err))
		return err->status;
	return job_status(job, gpu_client_device.read_runs(job->inner, runs, err), err);
}

static SortStatus
backend_read_permutation(SortJob *base, bool descending, uint32_t first, uint32_t *out,
						 SortError *err)
{
	BackendJob *job = (BackendJob *) base;
	SortStatus	status;

	if (job_has_ended(job, err))
		return err->status;
	status = gpu_client_device.read_permutation(job->inner, descending, first, out, err);
	return job_status(job, status, err);
}

static const char *
backend_describe(const SortJob *base, SortAlgorithm *algorithm)
{
	const BackendJob *job = (const BackendJob *) base;

	if (job->inner == NULL)
		return "";				/* the job ended with its transaction */
	return gpu_client_device.describe(job->inner, algorithm);
}

static const SortDevice backend_device = {
	.kind = SORT_DEVICE_GPU,
	.add_copies = true,
	.open = backend_open,
	.add = backend_add,
	.keep_extent = backend_keep_extent,
	.set_rows = backend_set_rows,
	.add_rows = backend_add_rows,
	.look_up = backend_look_up,
	.finish = backend_finish,
	.read_keys = backend_read_keys,
	.read_runs = backend_read_runs,
	.read_permutation = backend_read_permutation,
	.describe = backend_describe,
	.close = backend_close,
};

static const SortGpu gpu_backend = {
	.device = &backend_device,
	.costs = backend_costs,
	.failed = backend_failed,
};

void
gpu_backend_install(void)
{
	pg_sort_use_gpu(&gpu_backend);
}
