/*
 * backend.c
 *		A session's use of the GPU service (see backend.h).
 *
 * The first sort that may be worth it connects; the connection is kept for
 * those to come.  Jobs are closed by whatever comes first: the sort itself, the
 * end of the memory that its sorter lives in, or the abort of the
 * (sub)transaction it was opened in.  Nothing here raises an error: src/sort
 * gets a status, and pg_sort_error makes an error of it, if that is what it is.
 */
#include "postgres.h"

#include <poll.h>

#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/gpu/backend.h"
#include "pg/gpu/service_state.h"
#include "pg/gpu/supervisor.h"
#include "pg/guc.h"
#include "pg/interrupts.h"
#include "pg/sort_context.h"
#include "sort/device.h"
#include "sort/error.h"

/*
 * A running service greets within a millisecond.  Under "auto" it is not
 * waited for longer than the CPU takes for a few million keys.
 */
#define GREETING_MS 250

/* A service that could not be used is left alone for so long under "auto". */
#define AVOID_MS 5000
#define AVOID_HUNG_MS 60000

/* How often a socket is looked at when no descriptor is left to wait with. */
#define LOOK_MS 2

/* A lost wake-up must not cost the whole start timeout. */
#define START_POLL_MS 100

/*
 * One connection for the job of a sort at its end, and one for keys that are
 * sent while the sorter fills: a query may do both at once.
 */
typedef struct Connection
{
	GpuClientRef ref;			/* what the client's device is given */
	GpuClientCounters counted;	/* of the client, already in the statistics */
	struct BackendJob *job;		/* the one that uses it, or NULL */
	int			wait_timeout;	/* hpsort.gpu_wait_timeout when it was made */
} Connection;

#define CONNECTIONS 2

static Connection connections[CONNECTIONS];

#define IN_USE "all connections of the session to the GPU service are in use"

/* What the device is to src/sort: the client's job, and what it must know. */
typedef struct BackendJob
{
	SortJob		base;
	SortJob    *inner;			/* the client's; NULL once the job was ended */
	Connection *connection;
	SortContext context;		/* the sorter's, but with ... */
	SortGpu		gpu;			/* ... a way to the connection */
	int			nest_level;		/* of the transaction that opened it */
	bool		stream;			/* opened before all keys were there */
} BackendJob;

static const SortDevice backend_device;

/*
 * Memory contexts in which jobs were opened.  When one goes, so do its jobs;
 * kept in the context itself, once, however many jobs it sees.
 */
typedef struct WatchedContext
{
	dlist_node	node;
	MemoryContext memory;
	MemoryContextCallback callback;
} WatchedContext;

static dlist_head watched = DLIST_STATIC_INIT(watched);

/* The last reason for having no GPU, and its kind. */
static char reason_text[192];
static GpuFailure last_failure = GPU_OK;

/* The service that failed us lately, how, and until when it is left alone. */
static struct
{
	int			pid;			/* 0: none */
	int64		until;			/* by gpu_clock_ms() */
	GpuFailure	failure;
	char		text[160];
}			avoided;

static uint32
wait_event(void)
{
	static uint32 event = 0;

	if (event == 0)
		event = compat_wait_event_extension("HpsortGpu");
	return event;
}

/*
 * WaitLatchOrSocket, which needs a descriptor of its own and raises an error
 * if there is none.  Nobody below us could stand that, and there is a way
 * without: look at the socket now and then.
 */
static int
wait_latch_or_socket(int wanted, int fd, long timeout_ms)
{
	MemoryContext context = CurrentMemoryContext;
	uint32		holdoff = InterruptHoldoffCount;
	uint32		cancel_holdoff = QueryCancelHoldoffCount;
	struct pollfd look = {.fd = fd};
	volatile int got = 0;
	volatile bool failed = false;

	PG_TRY();
	{
		got = WaitLatchOrSocket(MyLatch, wanted, fd, timeout_ms, wait_event());
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		InterruptHoldoffCount = holdoff;
		QueryCancelHoldoffCount = cancel_holdoff;
		failed = true;
	}
	PG_END_TRY();
	if (!failed)
		return got;

	look.events = (short) (((wanted & WL_SOCKET_READABLE) ? POLLIN : 0) |
						   ((wanted & WL_SOCKET_WRITEABLE) ? POLLOUT : 0));
	if (poll(&look, 1, 0) > 0)
		return wanted & (((look.revents & ~POLLOUT) ? WL_SOCKET_READABLE : 0) |
						 ((look.revents & ~POLLIN) ? WL_SOCKET_WRITEABLE : 0));
	return WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 (wanted & WL_TIMEOUT) ? Min(timeout_ms, LOOK_MS) : LOOK_MS, wait_event());
}

/* As GpuClientHooks wants it. */
static int
wait_for_service(void *arg, int fd, int events, int timeout_ms)
{
	int64		until = timeout_ms > 0 ? gpu_clock_ms() + timeout_ms : 0;
	int			wanted = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;
	long		left = timeout_ms;

	if (events & POLLIN)
		wanted |= WL_SOCKET_READABLE;
	if (events & POLLOUT)
		wanted |= WL_SOCKET_WRITEABLE;
	if (timeout_ms >= 0)
		wanted |= WL_TIMEOUT;
	for (;;)
	{
		int			got;

		if (pg_interrupt_pending())
			return -1;
		got = wait_latch_or_socket(wanted, fd, left);
		if (got & WL_LATCH_SET)
			ResetLatch(MyLatch);
		if (got & (WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE))
			return ((got & WL_SOCKET_READABLE) ? POLLIN : 0) |
				((got & WL_SOCKET_WRITEABLE) ? POLLOUT : 0);
		if (timeout_ms >= 0)
		{
			left = timeout_ms == 0 ? 0 : (long) (until - gpu_clock_ms());
			if (left <= 0)
				return pg_interrupt_pending() ? -1 : 0;
		}
	}
}

static void
no_gpu(GpuFailure failure, const char *text)
{
	last_failure = failure;
	strlcpy(reason_text, text, sizeof(reason_text));
}

/* Adds what a connection has done since the last time to the statistics. */
static void
count_work(Connection *connection)
{
	GpuClientCounters now;
	GpuClientCounters *then = &connection->counted;

	gpu_client_counters(connection->ref.client, &now);
	service_count_work(now.jobs - then->jobs, now.keys - then->keys,
					   now.bytes_sent - then->bytes_sent,
					   now.bytes_received - then->bytes_received);
	*then = now;
}

static void
disconnect(Connection *connection)
{
	Assert(connection->job == NULL);
	if (connection->ref.client == NULL)
		return;
	gpu_client_disconnect(connection->ref.client);
	ReleaseExternalFD();
	memset(connection, 0, sizeof(*connection));
}

/* Leaves the service alone for a while, unless somebody insists. */
static void
avoid_service(int service_pid, GpuFailure failure, const char *text)
{
	/* What passes by itself is no reason to. */
	if (failure == GPU_RESOURCES || failure == GPU_NO_CHUNKS || failure == GPU_NO_MEMORY ||
		failure == GPU_UNSUPPORTED || service_pid == 0)
		return;
	avoided.pid = service_pid;
	avoided.until = gpu_clock_ms() + (failure == GPU_TIMEOUT ? AVOID_HUNG_MS : AVOID_MS);
	avoided.failure = failure;
	strlcpy(avoided.text, text, sizeof(avoided.text));
}

/* False, with the reason noted, if that cannot be done now. */
static bool
connect_to_service(Connection *connection, int service_pid, int timeout_ms)
{
	GpuClientOptions options = {
		.socket_path = SERVICE_SOCKET,
		.connect_timeout_ms = timeout_ms,
		.wait_timeout_ms = hpsort_gpu_wait_timeout,
		.hooks = {.wait = wait_for_service}
	};
	GpuClient  *client;
	GpuFailure	failure;
	SortStatus	status;
	char		text[160];

	/* The socket and, until it is mapped, the shared memory. */
	if (!AcquireExternalFD())
	{
		no_gpu(GPU_RESOURCES, "too many files are open to connect to the GPU service");
		return false;
	}
	if (!AcquireExternalFD())
	{
		ReleaseExternalFD();
		no_gpu(GPU_RESOURCES, "too many files are open to connect to the GPU service");
		return false;
	}
	status = gpu_client_connect(&options, &client, &failure, text, sizeof(text));
	ReleaseExternalFD();
	if (status != SORT_OK)
	{
		ReleaseExternalFD();
		no_gpu(failure, status == SORT_CANCELLED ? "sort was cancelled" : text);
		if (failure == GPU_TIMEOUT)
			service_suspect(service_pid);
		if (failure != GPU_OK && failure != GPU_NOT_RUNNING)
			avoid_service(service_pid, failure, text);
		return false;
	}
	memset(connection, 0, sizeof(*connection));
	connection->ref.client = client;
	connection->wait_timeout = hpsort_gpu_wait_timeout;
	return true;
}

/*
 * Makes a connection good for a job, or says why not.  *wait is set when that
 * may change soon: a service is starting.  A connection that a job uses is left
 * alone, whatever has become of it: the job holds its client.
 */
static bool
make_usable(Connection *connection, bool insist, bool *wait)
{
	ServiceStatus status;
	const char *reason;

	*wait = false;
	if (connection->job)
	{
		no_gpu(GPU_RESOURCES, IN_USE);
		return false;
	}
	if (connection->ref.client && connection->wait_timeout == hpsort_gpu_wait_timeout &&
		gpu_client_is_usable(connection->ref.client))
		return true;
	disconnect(connection);

	if (!hpsort_gpu)
	{
		no_gpu(GPU_DISABLED, "the setting hpsort.gpu is off");
		return false;
	}
	if (!IsUnderPostmaster)
	{
		no_gpu(GPU_NOT_RUNNING, "there is no GPU service in single-user mode");
		return false;
	}
	if (!supervisor_has_service(&reason))
	{
		no_gpu(GPU_NO_DEVICE, reason);
		return false;
	}
	if (!service_status(&status))
	{
		no_gpu(GPU_RESOURCES, "no shared memory is left for the state of the GPU service");
		return false;
	}
	if (service_may_start(&status))
	{
		if (!supervisor_request(&reason))
		{
			no_gpu(GPU_NOT_RUNNING, reason);
			return false;
		}
		status.state = SERVICE_STARTING;
	}
	switch (status.state)
	{
		case SERVICE_STOPPED:
		case SERVICE_STARTING:
			no_gpu(GPU_NOT_RUNNING, "GPU service is starting");
			*wait = true;
			return false;
		case SERVICE_RESTARTING:
			no_gpu(GPU_NOT_RUNNING, status.text[0] ? status.text : "GPU service is restarting");
			*wait = true;
			return false;
		case SERVICE_NO_DEVICE:
			no_gpu(GPU_NO_DEVICE, status.text);
			return false;
		case SERVICE_FAILED:
			no_gpu(GPU_NOT_RUNNING, status.text);
			return false;
		case SERVICE_RUNNING:
			break;
	}
	if (!insist && status.service_pid == avoided.pid && gpu_clock_ms() < avoided.until)
	{
		no_gpu(avoided.failure, avoided.text);
		return false;
	}
	if (connect_to_service(connection, status.service_pid,
						   insist ? Max(hpsort_gpu_start_timeout, 1) : GREETING_MS))
	{
		avoided.pid = 0;
		return true;
	}
	/* Gone, and its supervisor does not know yet? */
	*wait = last_failure == GPU_NOT_RUNNING || last_failure == GPU_LOST;
	return false;
}

/* The same, waiting for a service that is starting. */
static bool
wait_until_usable(Connection *connection)
{
	int64		until = gpu_clock_ms() + hpsort_gpu_start_timeout;
	bool		usable;

	for (;;)
	{
		long		left;
		bool		wait;

		service_prepare_wait();
		usable = make_usable(connection, true, &wait);
		if (usable || !wait || pg_interrupt_pending())
			break;
		left = (long) (until - gpu_clock_ms());
		if (left <= 0)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min(left, START_POLL_MS), wait_event());
		ResetLatch(MyLatch);
	}
	service_cancel_wait();
	return usable;
}

/* The service's costs as the settings want them seen. */
static const SortDeviceCosts *
weighted_costs(const Connection *connection)
{
	static SortDeviceCosts weighted;

	weighted = *gpu_client_costs(connection->ref.client);
	gpu_costs_weigh(&weighted, hpsort_gpu_cost_factor);
	return &weighted;
}

static const SortDeviceCosts *
backend_costs(void *arg, uint64_t n, bool required, const char **reason)
{
	Connection *connection = &connections[0];
	bool		wait;
	bool		usable;

	/* An open stream is a sign of life, and its connection is in use. */
	if (connection->job)
	{
		if (gpu_client_is_usable(connection->ref.client))
			return weighted_costs(connection);
		connection = &connections[1];
	}
	usable = required ? wait_until_usable(connection) : make_usable(connection, false, &wait);
	if (usable)
		return weighted_costs(connection);

	/* Whoever switched it off does not want to be told each time. */
	*reason = last_failure == GPU_DISABLED && !required ? NULL : reason_text;
	return NULL;
}

static void
backend_failed(void *arg, const SortError *err)
{
	service_count_fallback(err->status == SORT_UNSUPPORTED ? GPU_UNSUPPORTED : last_failure);
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------
 */

/* Notes why a job failed, if it did. */
static SortStatus
job_status(BackendJob *job, SortStatus status, const SortError *err)
{
	GpuClient  *client = job->connection->ref.client;

	if (status == SORT_OK || status == SORT_CANCELLED)
		return status;
	no_gpu(status == SORT_DEVICE_UNAVAILABLE || status == SORT_UNSUPPORTED ?
		   gpu_client_failure(client) :
		   status == SORT_OUT_OF_MEMORY ? GPU_RESOURCES : GPU_PROTOCOL, err->message);
	if (last_failure == GPU_TIMEOUT)
	{
		service_suspect(gpu_client_service_pid(client));
		avoid_service(gpu_client_service_pid(client), GPU_TIMEOUT, err->message);
	}
	return status;
}

/*
 * Frees the connection, and what the service has of the job.  The job itself
 * stays: a sorter that outlives a subtransaction may still hold it.
 */
static void
end_job(BackendJob *job)
{
	if (job == NULL || job->inner == NULL)
		return;

	/*
	 * A process that exits may do so in the middle of the client, where it
	 * waited; the end of the socket is the end of the job.
	 */
	if (!proc_exit_inprogress)
	{
		gpu_client_device.close(job->inner);
		count_work(job->connection);
	}
	job->inner = NULL;
	job->connection->job = NULL;
}

static bool
job_has_ended(const BackendJob *job, SortError *err)
{
	if (job->inner)
		return false;
	last_failure = GPU_LOST;
	sort_fail(err, SORT_DEVICE_UNAVAILABLE, "job ended with its transaction");
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

	/* At commit and prepare, too: no query goes on after them. */
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

/* Sees to it that jobs end with the memory of their sorter; false: no memory. */
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

/* A connection that no job uses; streams leave one for others. */
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
		if (make_usable(&connections[i], insist, &wait))
			return &connections[i];
		sort_fail(err, SORT_DEVICE_UNAVAILABLE, "%s", reason_text);
		return NULL;
	}
	sort_fail(err, SORT_DEVICE_UNAVAILABLE, IN_USE);
	last_failure = GPU_RESOURCES;
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
backend_finish(SortJob *base, SortError *err)
{
	BackendJob *job = (BackendJob *) base;

	if (job_has_ended(job, err))
		return err->status;
	return job_status(job, gpu_client_device.finish(job->inner, err), err);
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
		return "";				/* it ended with its transaction */
	return gpu_client_device.describe(job->inner, algorithm);
}

static const SortDevice backend_device = {
	.kind = SORT_DEVICE_GPU,
	.add_copies = true,
	.open = backend_open,
	.add = backend_add,
	.finish = backend_finish,
	.read_keys = backend_read_keys,
	.read_runs = backend_read_runs,
	.read_permutation = backend_read_permutation,
	.describe = backend_describe,
	.close = backend_close,
};

const SortGpu gpu_backend = {
	.device = &backend_device,
	.costs = backend_costs,
	.failed = backend_failed,
};

/* ------------------------------------------------------------------------
 * For people
 * ------------------------------------------------------------------------
 */

int
gpu_backend_devices(GpuDeviceStatus *devices, int max, const char **state, char *text, size_t size)
{
	ServiceStatus status;
	SortError	err;
	Connection *connection = &connections[0];
	const char *reason;
	int			count = 0;
	int			i;
	bool		wait;

	text[0] = '\0';
	*state = "off";
	if (!hpsort_gpu)
	{
		strlcpy(text, "the setting hpsort.gpu is off", size);
		return 0;
	}
	if (!supervisor_has_service(&reason))
	{
		*state = service_state_name(SERVICE_NO_DEVICE);
		strlcpy(text, reason, size);
		return 0;
	}
	if (!service_status(&status))
	{
		strlcpy(text, "no shared memory is left for the state of the GPU service", size);
		return 0;
	}
	*state = service_state_name(status.state);
	if (status.state != SERVICE_RUNNING)
	{
		/* "restarting", and why, or "stopped", and when it would start. */
		if (status.text[0] != '\0')
			strlcpy(text, status.text, size);
		else if (status.state == SERVICE_STOPPED)
			strlcpy(text, "GPU service is not running; a sort that needs it starts it", size);
		else
			snprintf(text, size, "GPU service is %s", *state);
		return 0;
	}
	/* One that is not in the middle of a job, if there is one. */
	for (i = 0; i < CONNECTIONS; i++)
		if (connections[i].job == NULL)
		{
			connection = &connections[i];
			break;
		}
	if (!make_usable(connection, true, &wait))
	{
		strlcpy(text, reason_text, size);
		return 0;
	}
	if (gpu_client_devices(connection->ref.client, devices, max, &count, &err) != SORT_OK)
	{
		strlcpy(text, err.message, size);
		return 0;
	}
	return count;
}
