/*
 * connections.c
 *		A session's connections to the GPU service (see connections.h).
 */
#include "postgres.h"

#include <poll.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"

#include "gpu/client_status.h"
#include "gpu/clock.h"
#include "pg/compat.h"
#include "pg/gpu/connections.h"
#include "pg/gpu/service_process.h"
#include "pg/gpu/service_state.h"
#include "pg/gpu/supervisor.h"
#include "pg/guarded_call.h"
#include "pg/guc.h"
#include "pg/resident/resident.h"
#include "pg/sort_context.h"

/*
 * A running service greets within a millisecond.  Under "auto" it is waited for no
 * longer than the CPU takes for a few million keys.
 */
#define GREETING_MS 250

/* How long "auto" leaves a service alone that could not be used, or that hangs. */
#define AVOID_MS 5000
#define AVOID_HUNG_MS 60000

/* How often the socket is looked at when no descriptor is left to wait with. */
#define LOOK_MS 2

/* A wake-up that is lost costs so much, not the whole start timeout. */
#define START_POLL_MS 100

Connection	connections[CONNECTIONS];

/* The last reason for having no GPU, and its kind. */
static char reason_text[192];
static GpuFailure last_failure = GPU_OK;

/* The service that failed lately, how, and until when "auto" leaves it alone. */
static struct
{
	int			pid;			/* 0: none */
	int64		until;			/* by gpu_clock_ms() */
	GpuFailure	failure;
	char text[	160];
}			avoided;

static uint32
wait_event(void)
{
	static uint32 event = 0;

	if (event == 0)
		event = compat_wait_event_extension("HpsortGpu");
	return event;
}

/* WaitLatchOrSocket's arguments and result. */
typedef struct SocketWait
{
	int			wanted;
	int			fd;
	long		timeout_ms;
	int			got;
} SocketWait;

static void
wait_for_socket(void *arg)
{
	SocketWait *wait = (SocketWait *) arg;

	wait->got = WaitLatchOrSocket(MyLatch, wait->wanted, wait->fd, wait->timeout_ms, wait_event());
}

/*
 * WaitLatchOrSocket without errors.  It needs a descriptor of its own, and raises
 * an error if there is none, which may not jump out of the client: the socket is
 * looked at now and then instead.
 */
static int
wait_latch_or_socket(int wanted, int fd, long timeout_ms)
{
	SocketWait	wait = {.wanted = wanted,.fd = fd,.timeout_ms = timeout_ms};
	struct pollfd look = {.fd = fd};

	if (guarded_call(wait_for_socket, &wait, NULL))
		return wait.got;

	look.events = (short) (((wanted & WL_SOCKET_READABLE) ? POLLIN : 0) |
						   ((wanted & WL_SOCKET_WRITEABLE) ? POLLOUT : 0));
	if (poll(&look, 1, 0) > 0)
		return wanted & (((look.revents & ~POLLOUT) ? WL_SOCKET_READABLE : 0) |
						 ((look.revents & ~POLLIN) ? WL_SOCKET_WRITEABLE : 0));
	return WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 (wanted & WL_TIMEOUT) ? Min(timeout_ms, LOOK_MS) : LOOK_MS, wait_event());
}

/* The hook (GpuClientHooks) that waits for an answer of the service. */
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

void
connections_note(GpuFailure failure, const char *text)
{
	last_failure = failure;
	strlcpy(reason_text, text, sizeof(reason_text));
}

void
connection_count_work(Connection *connection)
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

/* A service has failed: "auto" leaves it alone for some seconds. */
static void
avoid_service(int service_pid, GpuFailure failure, const char *text)
{
	/* These failures pass by themselves. */
	if (failure == GPU_RESOURCES || failure == GPU_NO_CHUNKS || failure == GPU_NO_MEMORY ||
		failure == GPU_UNSUPPORTED || service_pid == 0)
		return;
	avoided.pid = service_pid;
	avoided.until = gpu_clock_ms() + (failure == GPU_TIMEOUT ? AVOID_HUNG_MS : AVOID_MS);
	avoided.failure = failure;
	strlcpy(avoided.text, text, sizeof(avoided.text));
}

/* Connects.  False, with the reason noted, if that is not possible now. */
static bool
connect_to_service(Connection *connection, int service_pid, int timeout_ms)
{
	GpuClientOptions options = {
		.socket_path = SERVICE_SOCKET,
		.connect_timeout_ms = timeout_ms,
		.wait_timeout_ms = hpsort_gpu_wait_timeout,
		.epoch = resident_epoch(),
		.hooks = {.wait = wait_for_service}
	};
	GpuClient  *client;
	GpuFailure	failure;
	SortStatus	status;
	char text[	160];

	/* One descriptor for the socket and, until it is mapped, one for the shared memory. */
	if (!AcquireExternalFD())
	{
		connections_note(GPU_RESOURCES, "too many files are open to connect to the GPU service");
		return false;
	}
	if (!AcquireExternalFD())
	{
		ReleaseExternalFD();
		connections_note(GPU_RESOURCES, "too many files are open to connect to the GPU service");
		return false;
	}
	status = gpu_client_connect(&options, &client, &failure, text, sizeof(text));
	ReleaseExternalFD();
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
	connection->ref.client = client;
	connection->wait_timeout = hpsort_gpu_wait_timeout;
	connection->epoch = options.epoch;
	return true;
}

/*
 * Whether the service runs, so that *status can be connected to; has one started
 * that does not.  If not, notes why; *wait is set when that may change soon.
 */
static bool
service_is_there(ServiceStatus *status, bool *wait)
{
	const char *reason;

	if (!hpsort_gpu)
	{
		connections_note(GPU_DISABLED, "the setting hpsort.gpu is off");
		return false;
	}
	if (!IsUnderPostmaster)
	{
		connections_note(GPU_NOT_RUNNING, "there is no GPU service in single-user mode");
		return false;
	}
	if (!service_is_installed(&reason))
	{
		connections_note(GPU_NO_DEVICE, reason);
		return false;
	}
	if (!service_status(status))
	{
		connections_note(GPU_RESOURCES,
						 "no shared memory is left for the state of the GPU service");
		return false;
	}
	if (service_may_start(status))
	{
		if (!supervisor_request(&reason))
		{
			connections_note(GPU_NOT_RUNNING, reason);
			return false;
		}
		status->state = SERVICE_STARTING;
	}
	switch (status->state)
	{
		case SERVICE_STOPPED:
		case SERVICE_STARTING:
			connections_note(GPU_NOT_RUNNING, "GPU service is starting");
			*wait = true;
			return false;
		case SERVICE_RESTARTING:
			connections_note(GPU_NOT_RUNNING,
							 status->text[0] ? status->text : "GPU service is restarting");
			*wait = true;
			return false;
		case SERVICE_NO_DEVICE:
			connections_note(GPU_NO_DEVICE, status->text);
			return false;
		case SERVICE_FAILED:
			connections_note(GPU_NOT_RUNNING, status->text);
			return false;
		case SERVICE_RUNNING:
			break;
	}
	return true;
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
	if (connection->job)
	{
		connections_note(GPU_RESOURCES, CONNECTIONS_IN_USE);
		return false;
	}
	if (connection->ref.client && connection->wait_timeout == hpsort_gpu_wait_timeout &&
		connection->epoch == resident_epoch() && gpu_client_is_usable(connection->ref.client))
		return true;
	disconnect(connection);
	if (!service_is_there(&status, wait))
		return false;
	if (!insist && status.service_pid == avoided.pid && gpu_clock_ms() < avoided.until)
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

	/* The service may have ended just now, and its supervisor not know yet. */
	*wait = last_failure == GPU_NOT_RUNNING || last_failure == GPU_LOST;
	return false;
}

bool
connection_wait_until_usable(Connection *connection)
{
	int64		until = gpu_clock_ms() + start_timeout();
	bool		usable;

	for (;;)
	{
		long		left;
		bool		wait;

		service_prepare_wait();
		usable = connection_make_usable(connection, true, &wait);
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

void
connection_timed_out(Connection *connection, const char *text)
{
	int			service_pid = gpu_client_service_pid(connection->ref.client);

	service_suspect(service_pid);
	avoid_service(service_pid, GPU_TIMEOUT, text);
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
	const char *reason;
	int			count = 0;
	int			i;
	bool		wait;

	text[		0] = '\0';

	*state = "off";
	if (!hpsort_gpu)
	{
		strlcpy(text, "the setting hpsort.gpu is off", size);
		return 0;
	}
	if (!service_is_installed(&reason))
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
		if (status.text[0] != '\0')
			strlcpy(text, status.text, size);
		else if (status.state == SERVICE_STOPPED)
			strlcpy(text, "GPU service is not running; a sort that needs it starts it", size);
		else
			snprintf(text, size, "GPU service is %s", *state);
		return 0;
	}
	/* A connection without a job, if there is one. */
	for (i = 0; i < CONNECTIONS; i++)
		if (connections[i].job == NULL)
		{
			connection = &connections[i];
			break;
		}
	if (!connection_make_usable(connection, true, &wait))
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
