/*
 * connections.c
 *		A session's connections to the GPU service (see connections.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/pmsignal.h"

#include "pg/compat.h"
#include "pg/gpu/connections.h"
#include "pg/gpu/gpu.h"
#include "pg/gpu/service_process.h"
#include "pg/guc.h"
#include "pg/resident/memory/memory.h"
#include "pg/sort_context.h"
#include "sort/clock.h"

/*
 * Under "auto" a service that runs is waited for no longer than the CPU takes for a few million
 * keys; a healthy one greets within a millisecond.
 */
#define GREETING_MS 250

/* How long "auto" leaves a service alone that could not be used, or that hangs. */
#define AVOID_MS 5000
#define AVOID_HUNG_MS 60000

/* How long a wait for the service goes on before it looks for interrupts. */
#define WAIT_SLICE_MS 20

/* What a lost wake-up costs: how long a session sleeps before it looks at the state again. */
#define START_POLL_MS 100

Connection	connections[CONNECTIONS];

/* The last reason for having no GPU, a phrase, and its kind (connections_note). */
static char reason_text[192];
static GpuFailure last_failure = GPU_OK;

/* The service that failed lately, how, and until when "auto" leaves it alone. */
static struct
{
	int			pid;			/* 0: none */
	int64		until;			/* by sort_clock_ms() */
	GpuFailure	failure;
	char text[	160];
}			avoided;

/* Returns the wait event of a wait for the service, for pg_stat_activity. */
static uint32
wait_event(void)
{
	static uint32 event = 0;

	if (event == 0)
		event = WaitEventExtensionNew("HpsortGpu");
	return event;
}

/*
 * The hook (GpuClientHooks) that waits for an answer of the service, a slice at a time: a signal
 * for an interrupt ends each slice at once.  WaitLatchOrSocket would take a descriptor of its own,
 * and raise an error if there is none, which may not jump out of the client.
 */
static int
wait_for_service(void *arg, int fd, int events, int timeout_ms)
{
	int			ready;

	if (pg_interrupt_pending())
		return -1;
	if (!PostmasterIsAlive())
		proc_exit(1);
	pgstat_report_wait_start(wait_event());
	ready = gpu_client_poll(NULL, fd, events,
							timeout_ms < 0 ? WAIT_SLICE_MS : Min(timeout_ms, WAIT_SLICE_MS));
	pgstat_report_wait_end();
	return ready;
}

void
connections_note(GpuFailure failure, const char *text)
{
	last_failure = failure;
	strlcpy(reason_text, text, sizeof(reason_text));
}

/* Closes a connection, which no job may use, and gives back its external descriptor. */
static void
disconnect(Connection *connection)
{
	Assert(connection->memory == NULL);
	if (connection->client == NULL)
		return;
	gpu_client_disconnect(connection->client);
	ReleaseExternalFD();
	memset(connection, 0, sizeof(*connection));
}

/* Notes that a service has failed, so that "auto" leaves it alone for some seconds. */
static void
avoid_service(int service_pid, GpuFailure failure, const char *text)
{
	/* A shortage passes, and another job may be possible; pid 0 is no service to avoid. */
	if (failure == GPU_RESOURCES || failure == GPU_NO_CHUNKS || failure == GPU_NO_MEMORY ||
		failure == GPU_UNSUPPORTED || service_pid == 0)
		return;
	avoided.pid = service_pid;
	avoided.until = sort_clock_ms() + (failure == GPU_TIMEOUT ? AVOID_HUNG_MS : AVOID_MS);
	avoided.failure = failure;
	strlcpy(avoided.text, text, sizeof(avoided.text));
}

/*
 * The hook (GpuClientHooks) that hears of failures: notes them, and has a service looked after that
 * gave a job no answer in time.
 */
static void
connection_failed(void *arg, GpuFailure failure, const char *text)
{
	Connection *connection = (Connection *) arg;

	connections_note(failure, text);
	if (failure == GPU_TIMEOUT && connection->memory)
	{
		int			service_pid = gpu_client_service_pid(connection->client);

		service_suspect(service_pid);
		avoid_service(service_pid, GPU_TIMEOUT, text);
	}
}

/*
 * The hook (GpuClientHooks) that hears of the end of a job: the connection is free, and what the
 * job has moved goes to the statistics.
 */
static void
job_closed(void *arg, const GpuCounters *counters)
{
	Connection *connection = (Connection *) arg;

	service_count(SERVICE_JOBS, counters->jobs);
	service_count(SERVICE_KEYS, counters->keys);
	service_count(SERVICE_BYTES_SENT, counters->bytes_sent);
	service_count(SERVICE_BYTES_RECEIVED, counters->bytes_received);
	connection->memory = NULL;
}

/*
 * Connects to the service at SERVICE_SOCKET, which must greet within timeout_ms, and fills in
 * *connection.  False, with the reason noted, if that is not possible now: a service that does not
 * greet is looked after by the supervisor, and "auto" leaves a service that has failed alone.
 */
static bool
connect_to_service(Connection *connection, int service_pid, int timeout_ms)
{
	GpuClientOptions options = {
		.socket_path = SERVICE_SOCKET,
		.connect_timeout_ms = timeout_ms,
		.wait_timeout_ms = hpsort_gpu_wait_timeout,
		.epoch = resident_epoch(),
		.hooks = {
			.wait = wait_for_service,
			.failed = connection_failed,
			.closed = job_closed,
			.arg = connection
		}
	};
	GpuClient  *client;
	GpuFailure	failure;
	SortStatus	status;
	char text[	160];

	/* For the socket: the shared memory's descriptor is closed before the call returns. */
	if (!AcquireExternalFD())
	{
		connections_note(GPU_RESOURCES, "too many files are open to connect to the GPU service");
		return false;
	}
	status = gpu_client_connect(&options, &client, &failure, text, sizeof(text));
	if (status != SORT_OK)
	{
		ReleaseExternalFD();
		connections_note(failure, status == SORT_CANCELLED ? "sort was cancelled" : text);
		if (failure == GPU_TIMEOUT)
			service_suspect(service_pid);
		if (failure != GPU_OK && failure != GPU_NOT_RUNNING)
			avoid_service(service_pid, failure, text);
		return false;
	}
	memset(connection, 0, sizeof(*connection));
	connection->client = client;
	connection->wait_timeout = hpsort_gpu_wait_timeout;
	connection->epoch = options.epoch;
	return true;
}

/* Whether there may be a service for this session; then *status is its state.  Notes why not. */
static bool
service_is_known(ServiceStatus *status)
{
	const char *reason;

	if (!hpsort_gpu)
		connections_note(GPU_DISABLED, "the setting hpsort.gpu is off");
	else if (!IsUnderPostmaster)
		connections_note(GPU_NOT_RUNNING, "there is no GPU service in single-user mode");
	else if (!service_is_installed(&reason))
		connections_note(GPU_NO_DEVICE, reason);
	else if (!service_status(status))
		connections_note(GPU_RESOURCES,
						 "no shared memory is left for the state of the GPU service");
	else
		return true;
	return false;
}

/* Notes why a service in that state cannot be connected to. */
static void
note_state(const ServiceStatus *status)
{
	char text[	sizeof(status->text)];

	snprintf(text, sizeof(text), "GPU service is %s", service_state_name(status->state));
	connections_note(status->state == SERVICE_NO_DEVICE ? GPU_NO_DEVICE : GPU_NOT_RUNNING,
					 status->text[0] != '\0' ? status->text : text);
}

/*
 * Whether the service runs, so that it can be connected to; *status is its state.  Has a service
 * started that does not run, and does not wait for it.  If there is none, notes why; *wait is set
 * when that may change soon.
 */
static bool
service_is_there(ServiceStatus *status, bool *wait)
{
	const char *reason;

	if (!service_is_known(status))
		return false;
	if (service_may_start(status))
	{
		if (!supervisor_request(&reason))
		{
			connections_note(GPU_NOT_RUNNING, reason);
			return false;
		}
		status->state = SERVICE_STARTING;
		status->text[0] = '\0';
	}
	if (status->state == SERVICE_RUNNING)
		return true;
	*wait = status->state == SERVICE_STARTING || status->state == SERVICE_RESTARTING;
	note_state(status);
	return false;
}

/* How long a sort that insists on the GPU waits for a service that is starting, ms. */
static int
start_timeout(void)
{
	return hpsort_gpu_wait_timeout > 0 ? hpsort_gpu_wait_timeout : INT_MAX;
}

bool
connection_make_usable(Connection *connection, bool insist, bool *wait)
{
	ServiceStatus status;

	*wait = false;
	if (connection->memory)
	{
		connections_note(GPU_RESOURCES, CONNECTIONS_IN_USE);
		return false;
	}
	if (connection->client && connection->wait_timeout == hpsort_gpu_wait_timeout &&
		connection->epoch == resident_epoch() && gpu_client_is_usable(connection->client))
		return true;
	disconnect(connection);
	if (!service_is_there(&status, wait))
		return false;
	if (!insist && status.service_pid == avoided.pid && sort_clock_ms() < avoided.until)
	{
		connections_note(avoided.failure, avoided.text);
		return false;
	}
	if (connect_to_service(connection, status.service_pid,
						   insist ? start_timeout() : GREETING_MS))
	{
		avoided.pid = 0;
		return true;
	}

	/* The service may have ended a moment ago: the supervisor starts another one soon. */
	*wait = last_failure == GPU_NOT_RUNNING || last_failure == GPU_LOST;
	return false;
}

/*
 * The session prepares to sleep before it looks at the state, so that a change in between wakes it
 * up.  Each round looks for interrupts, which end the wait without an error.
 */
bool
connection_wait_until_usable(Connection *connection)
{
	int64		until = sort_clock_ms() + start_timeout();
	bool		usable;

	for (;;)
	{
		long		left;
		bool		wait;

		service_prepare_wait();
		usable = connection_make_usable(connection, true, &wait);
		if (usable || !wait || pg_interrupt_pending())
			break;
		left = (long) (until - sort_clock_ms());
		if (left <= 0)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min(left, START_POLL_MS), wait_event());
		ResetLatch(MyLatch);
	}
	ConditionVariableCancelSleep();
	return usable;
}

GpuFailure
connections_failure(void)
{
	return last_failure;
}

const char *
connections_reason(void)
{
	return reason_text;
}

int
connections_devices(GpuDeviceStatus *devices, int max, const char **state, char *text, size_t size)
{
	ServiceStatus status;
	SortError	err;
	Connection *connection = &connections[0];
	int			count = 0;
	bool		wait;
	bool		usable = false;

	text[		0] = '\0';

	*state = "off";
	if (service_is_known(&status))
	{
		*state = service_state_name(status.state);
		if (status.state == SERVICE_STOPPED && status.text[0] == '\0')
			connections_note(GPU_NOT_RUNNING,
							 "GPU service is not running; a sort that needs it starts it");
		else if (status.state != SERVICE_RUNNING)
			note_state(&status);
		else
		{
			/* The state can be asked for over any connection that no job uses. */
			if (connection->memory)
				connection = &connections[1];
			usable = connection_make_usable(connection, true, &wait);
		}
	}
	else if (last_failure == GPU_NO_DEVICE)
		*state = service_state_name(SERVICE_NO_DEVICE);
	if (!usable)
		strlcpy(text, reason_text, size);
	else if (gpu_client_devices(connection->client, devices, max, &count, &err) != SORT_OK)
	{
		strlcpy(text, err.message, size);
		count = 0;
	}
	return count;
}
