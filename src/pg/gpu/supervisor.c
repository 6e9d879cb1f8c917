/*
 * supervisor.c
 *		The background worker that keeps the GPU service running: starts its
 *		process (service_process.h), restarts it when it fails, and stops it with
 *		the server.
 *
 * Knows PostgreSQL, and is a client of the service where it has to find out
 * whether that still answers; neither the protocol nor GPUs.
 */
#include "postgres.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/pmsignal.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "gpu/client.h"
#include "pg/compat.h"
#include "pg/gpu/gpu.h"
#include "pg/gpu/service_process.h"
#include "pg/guc.h"
#include "pg/shared_memory.h"
#include "pg/sort_context.h"
#include "sort/clock.h"
#include "sort/device/job.h"

/* How long a service may take to start: several GPUs without persistence mode take long. */
#define START_MS 60000

/*
 * How long a suspected service may take to greet the supervisor.  For the key that
 * it has to sort then it has hpsort.gpu_wait_timeout.
 */
#define GREETING_MS 5000

/* How long a wait for the service goes on before the worker looks for other work. */
#define WAIT_SLICE_MS 20

/* The wait before a restart doubles with each failure in a row: the shortest, and the longest. */
#define SHORTEST_DELAY_MS 1000
#define LONGEST_DELAY_MS 60000

/* After a service has run for this many times the last delay, the next delay is the shortest. */
#define HEALTHY_DELAYS 10

static ServiceProcess service = {.input = -1,.output = -1};

/* When the next start may be, by sort_clock_ms(), and the delay before the last restart, ms. */
static int64 next_start;
static int	delay;

/* Describes the worker, which has no database. */
static BackgroundWorker
describe_worker(int restart_time)
{
	return shared_memory_worker("hpsort gpu supervisor", "hpsort_gpu_supervisor_main",
								restart_time);
}

void
supervisor_register(void)
{
	BackgroundWorker worker;
	const char *reason;

	/* Without the program the worker would have nothing to do. */
	if (!service_is_installed(&reason))
		return;
	worker = describe_worker(10);
	RegisterBackgroundWorker(&worker);
}

/* A claimed start that gets lost can be requested again after a while (service_may_start). */
bool
supervisor_request(const char **reason)
{
	BackgroundWorker worker;

	/* Another process has asked already, which is as good. */
	if (!service_claim_start())
		return true;
	/* The next sort that needs the service asks again. */
	worker = describe_worker(BGW_NEVER_RESTART);
	if (RegisterDynamicBackgroundWorker(&worker, NULL))
		return true;
	*reason = "no background worker is left to start the GPU service (max_worker_processes)";
	service_set_state(SERVICE_STOPPED, 0, *reason);
	return false;
}

/* ------------------------------------------------------------------------
 * The worker
 * ------------------------------------------------------------------------
 */

/*
 * Reloads the settings, and stops a service that runs with others, or that shall not run any more.
 * keep_running starts the next one at once, also after failures: whoever reloads may have removed
 * the cause.
 */
static void
obey_reload(void)
{
	const char *reason;

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	if (!hpsort_gpu || !service_is_installed(&reason))
	{
		service_process_stop(&service);
		next_start = 0;
		return;
	}
	if (service.pid != 0 && service_process_is_outdated(&service))
	{
		ereport(LOG, (errmsg("restarting the GPU service with new settings")));
		service_process_stop(&service);
	}
	delay = 0;
	next_start = 0;
}

/* The callback at this worker's exit: the service ends first. */
static void
supervisor_exit(int code, Datum arg)
{
	service_process_destroy(&service);
	service_release_supervision();
}

/* The handler of SIGCHLD: wakes up the main loop, which looks whether the service has ended. */
static void
handle_sigchld(SIGNAL_ARGS)
{
	int			save_errno = errno;

	SetLatch(MyLatch);
	errno = save_errno;
}

/* Ends this worker; the state and text, a phrase that may be empty, say why. */
pg_noreturn static void
retire(ServiceState state, const char *text)
{
	service_set_state(state, 0, text);
	proc_exit(0);
}

/*
 * The hook (GpuClientHooks) that waits for an answer of the service whose pid is
 * *arg.  The hook waits in short slices, and leaves the latch alone, which wait_for_work needs.
 * Between two slices the hook serves what else may happen: barriers, the shutdown, and a reload,
 * which may end that service.
 */
static int
wait_for_service(void *arg, int fd, int events, int timeout_ms)
{
	pid_t		pid = *(pid_t *) arg;
	int			ready = gpu_client_poll(NULL, fd, events, Min(timeout_ms, WAIT_SLICE_MS));

	if (!PostmasterIsAlive())
		proc_exit(1);

	/* A service that writes much would otherwise wait for this worker to read. */
	service_process_read(&service);
	/* An error here ends this worker, and the connection with it. */
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
		obey_reload();
	if (ShutdownRequestPending || service.pid != pid)
		return -1;
	return ready;
}

/*
 * Whether the service sorts a key for client: its socket may answer when its device
 * does not.  Only silence is a failure; a refusal is an answer.
 */
static bool
sorts_a_key(GpuClient *client)
{
	SortGpu		gpu = {.device = &gpu_client_device,.arg = client};
	SortJobSpec spec = {
		.want = SORT_WANT_KEYS,
		.algorithm = SORT_ALGORITHM_RADIX,
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.n = 1
	};
	int32_t		key = 0;
	SortOutput	output = {.keys = &key};
	SortContext context;
	SortError	err;

	pg_sort_context(&context, CurrentMemoryContext);
	context.interrupted = NULL;
	context.gpu = &gpu;
	(void) sort_job_run(&gpu_client_device, &context, &spec, &key, &output, NULL, &err);
	return gpu_client_failure(client) != GPU_TIMEOUT;
}

/*
 * Looks after a service that a backend has waited for in vain.  Perhaps the
 * backend's job was only long; a service that does not greet, or does not sort a
 * single key in the time that jobs are given, hangs and is killed.
 */
static void
check_suspect(void)
{
	ServiceStatus status;
	pid_t		pid = service.pid;
	GpuClientOptions options = {
		.socket_path = SERVICE_SOCKET,
		.connect_timeout_ms = GREETING_MS,
		.wait_timeout_ms = hpsort_gpu_wait_timeout,
		.hooks = {.wait = wait_for_service,.arg = &pid}
	};
	GpuClient  *client;
	GpuFailure	failure;
	bool		hangs;
	char text[	160];

	if (service.pid == 0 || !service.ready || !service_status(&status) ||
		status.suspect_pid != (int) service.pid)
		return;
	if (gpu_client_connect(&options, &client, &failure, text, sizeof(text)) == SORT_OK)
	{
		hangs = options.wait_timeout_ms > 0 && !sorts_a_key(client);
		gpu_client_disconnect(client);
	}
	else
		hangs = failure == GPU_TIMEOUT;

	/* Meanwhile the service may have been stopped, or is about to be. */
	if (service.pid != pid || ShutdownRequestPending)
		return;
	if (hangs)
	{
		ereport(WARNING,
				(errmsg("GPU service (PID %d) does not answer: terminating it",
						(int) service.pid)));
		kill(service.pid, SIGKILL);
	}
	else
		service_set_state(SERVICE_RUNNING, (int) service.pid, "");
}

/* Plans the next start after a failure; the wait doubles with each one in a row. */
static void
restart_later(const char *text)
{
	delay = Min(Max(2 * delay, SHORTEST_DELAY_MS), LONGEST_DELAY_MS);
	next_start = sort_clock_ms() + delay;
	service_set_state(SERVICE_RESTARTING, 0, text);
}

/* Starts the service if it is due; ends this worker if it is not wanted or not installed. */
static void
keep_running(void)
{
	const char *reason;

	if (!hpsort_gpu)
		retire(SERVICE_STOPPED, "the setting hpsort.gpu is off");
	if (service.pid != 0 || sort_clock_ms() < next_start)
		return;

	/* No reason is left behind: a session that asks looks for the program itself. */
	if (!service_is_installed(&reason))
		retire(SERVICE_STOPPED, "");
	service_process_start(&service);
	if (service.pid == 0)
	{
		/* There was no process or no descriptor to be had, which may change. */
		restart_later(service.said);
		ereport(LOG, (errmsg("GPU service: %s", service.said)));
	}
}

/*
 * Waits for something to do: the latch (a signal, a suspicion), output of the service, its next
 * start, or a look at a start that takes long.  Returns at once if a signal has already asked for
 * something.
 */
static void
wait_for_work(void)
{
	int64		timeout = -1;
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;

	if (ConfigReloadPending || ShutdownRequestPending)
		return;
	if (service.output >= 0)
		events |= WL_SOCKET_READABLE;
	if (service.pid == 0)
		timeout = Max(next_start - sort_clock_ms(), 0);
	else if (!service.ready)
		timeout = START_MS / 10;
	if (timeout >= 0)
		events |= WL_TIMEOUT;
	(void) WaitLatchOrSocket(MyLatch, events,
							 service.output >= 0 ? service.output : PGINVALID_SOCKET,
							 (long) timeout, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
}

/*
 * Handles the end of the service; status is waitpid's.  Ends this worker after an orderly end,
 * which somebody has asked for, and where the next service would fail in the same way: no device,
 * options that are not valid, a program that cannot be executed.  After any other end plans the
 * next start.
 */
static void
after_end(int status)
{
	char text[	160];

	service_process_describe_end(&service, status, text, sizeof(text));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_ORDERLY)
	{
		ereport(LOG, (errmsg("GPU service has stopped")));
		retire(SERVICE_STOPPED, "");
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_DEVICE)
		retire(SERVICE_NO_DEVICE, text);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_USAGE ||
							  WEXITSTATUS(status) == EXIT_NOT_EXECUTED))
		retire(SERVICE_FAILED, text);

	/* Anything else may have been an accident. */
	if (service.ready && sort_clock_ms() - service.started >=
		(int64) HEALTHY_DELAYS * Max(delay, SHORTEST_DELAY_MS))
		delay = 0;
	service_count(SERVICE_RESTARTS, 1);
	restart_later(text);
	ereport(LOG,
			(errmsg("%s; restarting it in %d ms", text, delay)));
}

/* Each step of a round finds out by itself whether there is something to do. */
void
hpsort_gpu_supervisor_main(Datum arg)
{
	MemoryContext memory;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGCHLD, handle_sigchld);
	BackgroundWorkerUnblockSignals();

	/* There may be two workers: one registered at server start, one on demand. */
	if (!service_claim_supervision())
		proc_exit(0);
	before_shmem_exit(supervisor_exit, (Datum) 0);

	memory = AllocSetContextCreate(TopMemoryContext, "hpsort gpu supervisor",
								   ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(memory);

	for (;;)
	{
		int			status;

		MemoryContextReset(memory);
		keep_running();
		wait_for_work();
		CHECK_FOR_INTERRUPTS();
		if (ShutdownRequestPending)
		{
			service_process_stop(&service);
			retire(SERVICE_STOPPED, "");
		}
		if (ConfigReloadPending)
			obey_reload();
		service_process_read(&service);
		check_suspect();
		if (service.pid != 0 && !service.ready && sort_clock_ms() - service.started >= START_MS)
		{
			strlcpy(service.said, "GPU service did not start in time", sizeof(service.said));
			kill(service.pid, SIGKILL);
		}
		if (service_process_reap(&service, &status))
			after_end(status);
	}
}
