/*
 * backend.c
 *		The way to the GPU that every sort of this session is lent (see gpu.h):
 *		a SortGpu whose device is the client's, but that it opens each job over one of the
 *		session's connections.
 *
 * A job is closed by whatever comes first: the sort itself, the end of the memory
 * that its sorter lives in, or the end of the resource owner it was opened under, which is that of
 * a portal or of a (sub)transaction.
 * Nothing here raises an error: src/sort gets a status, and pg_sort_error makes an
 * error of it where there is no other way to sort.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "storage/ipc.h"
#include "utils/resowner.h"

#include "pg/compat.h"
#include "pg/gpu/connections.h"
#include "pg/gpu/gpu.h"
#include "pg/guc.h"
#include "pg/interrupts.h"
#include "pg/sort_context.h"
#include "sort/device/device.h"
#include "sort/error.h"

/*
 * A memory context in which a job was opened, and which ends its jobs when it is reset or deleted.
 * The struct is allocated in that context, once, however many jobs are opened there.
 */
typedef struct WatchedContext
{
	dlist_node	node;			/* in watched */
	MemoryContext memory;
	MemoryContextCallback callback; /* memory_goes; arg is this struct */
} WatchedContext;

static dlist_head watched = DLIST_STATIC_INIT(watched);

/* The service's costs, times hpsort.gpu_cost_factor.  Valid until the next call. */
static const SortDeviceCosts *
weighted_costs(const Connection *connection)
{
	static SortDeviceCosts weighted;
	char	   *bytes = (char *) &weighted;

	/* A struct of doubles only (protocol.c asserts it), but no array. */
	weighted = *gpu_client_costs(connection->client);
	for (size_t at = 0; at < sizeof(weighted); at += sizeof(double))
	{
		double		ns;

		memcpy(&ns, bytes + at, sizeof(ns));
		ns *= hpsort_gpu_cost_factor;
		memcpy(bytes + at, &ns, sizeof(ns));
	}
	return &weighted;
}

/*
 * SortGpu.costs: returns what work costs on the service's device, or NULL if the session has no
 * way to it now; then *reason is a phrase, or NULL where there is nothing to explain.  Connects,
 * and has a service started that does not run.  With required, waits for a service that is
 * starting; raises no error.
 */
static const SortDeviceCosts *
backend_costs(void *arg, uint64_t n, bool required, const char **reason)
{
	Connection *connection = &connections[0];
	bool		wait;
	bool		usable;

	/* The connection of a stream that still lives is as good as a free one. */
	if (connection->memory)
	{
		if (gpu_client_is_usable(connection->client))
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

/*
 * SortGpu.failed: counts a sort that the GPU was to do and that the CPU does instead, under
 * GPU_UNSUPPORTED if only a GPU could do it, under GPU_PROTOCOL if the GPU's answers cannot be,
 * else under the reason that was noted last.
 */
static void
backend_failed(void *arg, const SortError *err)
{
	GpuFailure	failure = err->status == SORT_UNSUPPORTED ? GPU_UNSUPPORTED :
	err->status == SORT_CORRUPT ? GPU_PROTOCOL : connections_failure();

	service_count(SERVICE_FALLBACKS + failure, 1);
}

/* SortGpu.devices: returns how many GPUs keep extents; 1 if the session cannot connect now. */
static uint32
backend_devices(void *arg)
{
	Connection *connection = &connections[connections[0].memory ? 1 : 0];
	bool		wait;

	if (connection->memory == NULL)
		(void) connection_make_usable(connection, false, &wait);
	return connection->client && gpu_client_is_usable(connection->client) ?
		gpu_client_extent_devices(connection->client) : 1;
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------
 */

/*
 * Ends the job that uses a connection, if there is one.  The job's memory stays, because a sorter
 * that outlives a subtransaction may still hold it.
 */
static void
end_job(Connection *connection)
{
	if (connection->memory == NULL)
		return;

	/*
	 * A process may exit while it waits in the middle of the client, which then must not be
	 * called; the end of the socket ends the job as well.
	 */
	if (proc_exit_inprogress)
		connection->memory = NULL;
	else
	{
		connections_note(GPU_LOST, "job ended with its transaction");
		gpu_client_end_job(connection->client);
	}
}

/* The callback of a WatchedContext, whose memory goes: ends the jobs opened in that memory. */
static void
memory_goes(void *arg)
{
	WatchedContext *w = arg;

	dlist_delete(&w->node);
	for (int i = 0; i < CONNECTIONS; i++)
		if (connections[i].memory == w->memory)
			end_job(&connections[i]);
}

/*
 * The callback for resource owners, called in three phases of each owner that is released, which
 * is CurrentResourceOwner: ends the jobs that were opened under it.  The first phase ends them,
 * later ones find none.
 */
static void
owner_goes(ResourceReleasePhase phase, bool commits, bool top_level, void *arg)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (connections[i].memory && connections[i].owner == CurrentResourceOwner)
			end_job(&connections[i]);
}

/*
 * Has jobs that are opened in memory, their sorter's, end with it.  Does nothing if that memory is
 * watched already.  False if there is no memory for it.
 */
static bool
watch(MemoryContext memory)
{
	static bool registered = false;
	WatchedContext *w;
	dlist_iter	i;

	if (!registered)
	{
		RegisterResourceReleaseCallback(owner_goes, NULL);
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
 * Returns a connection that no job uses, made usable, or NULL with the reason in err. insist as in
 * connection_make_usable.  A stream gets none if there is a stream already: it would leave no
 * connection for sorts at their end.  But the parts of a divided job have connections of their own.
 */
static Connection *
free_connection(const SortJobSpec *spec, bool insist, SortError *err)
{
	const bool	stream = spec->n == 0;
	const int	end = spec->divided ? CONNECTIONS : SORT_CONNECTIONS;
	bool		wait;

	for (int i = 0; i < end; i++)
	{
		/* This one stays for sorts at their end. */
		if (spec->divided && i == SORT_CONNECTIONS - 1)
			continue;
		if (connections[i].memory)
		{
			if (stream && !spec->divided && connections[i].stream)
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

/*
 * SortDevice.open: opens a job over a free connection of the session.  The job ends with the
 * memory of context's allocator, which is a memory context, and with the current resource owner.
 * Where the caller has been interrupted, the status is SORT_CANCELLED.
 */
static SortStatus
backend_open(const SortContext *context, const SortJobSpec *spec, SortJob **result, SortError *err)
{
	MemoryContext memory = (MemoryContext) context->allocator.arena;
	Connection *connection;
	SortStatus	status;

	*result = NULL;
	connection = free_connection(spec, context->device == SORT_DEVICE_GPU, err);
	if (connection == NULL)
		return pg_interrupt_pending() ? sort_cancelled(err)
			: err->status;
	if (!watch(memory))
		return sort_no_memory(err);
	status = gpu_client_open(connection->client, context, spec, result, err);
	if (status != SORT_OK)
		return status;
	connection->memory = memory;
	connection->owner = CurrentResourceOwner;
	connection->stream = spec->n == 0;
	return SORT_OK;
}

/* The client's device with backend_open as its open; filled in by gpu_backend_install. */
static SortDevice backend_device;

static const SortGpu gpu_backend = {
	.device = &backend_device,
	.costs = backend_costs,
	.failed = backend_failed,
	.devices = backend_devices,
};

void
gpu_backend_install(void)
{
	backend_device = gpu_client_device;
	backend_device.open = backend_open;
	pg_sort_use_gpu(&gpu_backend);
}
