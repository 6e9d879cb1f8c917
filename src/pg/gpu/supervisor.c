/*
 * supervisor.c
 *		The background worker that keeps the GPU service running: starts
 *		hpsort-gpud, forwards what it says to the server's log, restarts it when
 *		it fails, and stops it with the server.
 *
 * hpsort-gpud is a program of its own, no child of the postmaster: when it
 * crashes, nothing else does.  It dies with this worker in any case: its
 * standard input is a pipe from here, whose end it takes as the order to exit,
 * and the kernel kills it should it not listen.  It stays in this worker's
 * process group, so that the postmaster's signals at shutdown reach it, too.
 *
 * Knows PostgreSQL and processes, and is a client where it doubts the service;
 * neither the protocol nor GPUs.
 */
#include "postgres.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "gpu/client.h"
#include "pg/compat.h"
#include "pg/gpu/service_state.h"
#include "pg/gpu/supervisor.h"
#include "pg/guc.h"
#include "pg/sort_context.h"
#include "sort/job.h"

#define SERVICE_PROGRAM "hpsort-gpud"

/* How long a service that was asked to stop may take. */
#define STOP_MS 5000

/* How long one may take to start: several GPUs without persistence mode do. */
#define START_MS 60000

/*
 * How long one may take to greet a supervisor that has come to doubt it.  For
 * the key that it then has to sort it has hpsort.gpu_wait_timeout.
 */
#define GREETING_MS 5000

/* The longest wait before a restart; the shortest is hpsort.gpu_restart_delay. */
#define LONGEST_DELAY_MS 60000

/* Healthy for so many times the last delay: the next starts from the shortest. */
#define HEALTHY_DELAYS 10

/* Its exit codes that mean something (see gpud.h). */
enum
{
	EXIT_ORDERLY = 0,
	EXIT_USAGE = 2,
	EXIT_NO_DEVICE = 3,
	EXIT_NOT_EXECUTED = 127
};

/* What there is of the service.  Times are those of gpu_clock_ms(). */
static struct
{
	pid_t		pid;			/* 0: does not run */
	int			input;			/* our end of its standard input, or -1 */
	int			output;			/* ... of its standard output and error, or -1 */
	bool		ready;			/* it listens */
	int64		started;
	int64		next_start;		/* not before */
	int			delay;			/* before the last restart, ms */
	char	   *command;		/* its arguments, to see whether they changed */
	char		said[160];		/* its last line that was no news of success */
	char		line[1024];		/* a line not yet complete */
	size_t		line_len;
}			service = {.input = -1,.output = -1};

static char program[MAXPGPATH];

static void
fill_worker(BackgroundWorker *worker)
{
	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker->bgw_start_time = BgWorkerStart_ConsistentState;
	strlcpy(worker->bgw_name, "hpsort gpu supervisor", BGW_MAXLEN);
	strlcpy(worker->bgw_type, "hpsort gpu supervisor", BGW_MAXLEN);
	strlcpy(worker->bgw_library_name, "hpsort", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, "hpsort_gpu_supervisor_main",
			sizeof(worker->bgw_function_name));
}

bool
supervisor_has_service(const char **reason)
{
	static char text[160];

#ifndef HPSORT_WITH_CUDA
	/* The program may be there, but knows no device that anybody has a use for. */
	if (strcmp(hpsort_gpu_devices, "cpu") != 0)
	{
		*reason = "built without CUDA";
		return false;
	}
#endif
	snprintf(program, sizeof(program), "%s/%s", pkglib_path, SERVICE_PROGRAM);
	if (access(program, X_OK) == 0)
		return true;
	snprintf(text, sizeof(text), "program %s cannot be executed: %s", SERVICE_PROGRAM,
			 strerror(errno));
	*reason = text;
	return false;
}

void
supervisor_register(void)
{
	BackgroundWorker worker;
	const char *reason;

	/* It would have nothing to do, and there is nobody here to be told. */
	if (!supervisor_has_service(&reason))
		return;
	fill_worker(&worker);
	worker.bgw_restart_time = 10;
	RegisterBackgroundWorker(&worker);
}

bool
supervisor_request(const char **reason)
{
	BackgroundWorker worker;

	/* Somebody else was faster: as good. */
	if (!service_claim_start())
		return true;
	fill_worker(&worker);
	/* The next sort that needs it asks again. */
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	if (RegisterDynamicBackgroundWorker(&worker, NULL))
		return true;
	*reason = "no background worker is left to start the GPU service (max_worker_processes)";
	service_set_state(SERVICE_STOPPED, 0, *reason);
	return false;
}

/* ------------------------------------------------------------------------
 * Its life
 * ------------------------------------------------------------------------
 */

/* Its arguments, in the current memory context; NULL at the end. */
static char **
service_arguments(void)
{
	static const char *const levels[] = {"debug", "info", "warning", "error"};
	char	  **argv = palloc0(20 * sizeof(char *));
	int			n = 0;

	argv[n++] = program;
	argv[n++] = "--socket";
	argv[n++] = SERVICE_SOCKET;
	argv[n++] = "--devices";
	argv[n++] = hpsort_gpu_devices;
	argv[n++] = "--pinned-memory";
	argv[n++] = psprintf(UINT64_FORMAT, (uint64) hpsort_gpu_pinned_memory << 20);
	argv[n++] = "--memory-limit";
	argv[n++] = psprintf(UINT64_FORMAT, (uint64) hpsort_gpu_memory_limit << 20);
	argv[n++] = "--idle-timeout";
	argv[n++] = psprintf("%d", hpsort_gpu_idle_shutdown);
	argv[n++] = "--log-level";
	argv[n++] = unconstify(char *, levels[hpsort_gpu_log_level]);
	if (hpsort_gpu_fault[0] != '\0')
	{
		argv[n++] = "--fault";
		argv[n++] = hpsort_gpu_fault;
	}
	return argv;
}

/* Arguments as one string that lives as long as this worker. */
static char *
join_arguments(char **argv)
{
	StringInfoData all;
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	initStringInfo(&all);
	for (; *argv; argv++)
		appendStringInfo(&all, "%s ", *argv);
	MemoryContextSwitchTo(old);
	return all.data;
}

/*
 * The child, between fork and exec: async-signal-safe calls only, and nothing
 * of PostgreSQL's.
 */
static pg_noinline void
become_service(char **argv, int input, int output, pid_t parent)
{
	static const int reset[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM, SIGCHLD,
	SIGUSR1, SIGUSR2, SIGFPE, SIGTTIN, SIGTTOU, SIGURG};
	static const char failed[] = "ERROR: could not execute " SERVICE_PROGRAM "\n";
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t	none;
	ssize_t		ignored;
	size_t		i;
	int			fd;

	/* What is ignored would stay ignored, what is blocked blocked. */
	for (i = 0; i < lengthof(reset); i++)
		sigaction(reset[i], &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	/* Should it hang, so that it does not see the end of its input. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_NOT_EXECUTED);

	/* When memory runs out, rather this than a backend. */
	fd = open("/proc/self/oom_score_adj", O_WRONLY);
	if (fd >= 0)
	{
		ignored = write(fd, "500", 3);
		close(fd);
	}

	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
		dup2(output, STDERR_FILENO) < 0)
		_exit(EXIT_NOT_EXECUTED);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 3, UINT_MAX, 0) != 0)
#endif
		for (fd = 3; fd < 65536; fd++)
			close(fd);
	execv(argv[0], argv);
	ignored = write(STDERR_FILENO, failed, sizeof(failed) - 1);
	(void) ignored;
	_exit(EXIT_NOT_EXECUTED);
}

/* If that is not possible now, service.pid stays 0 and service.said tells why. */
static void
start_service(void)
{
	char	  **argv = service_arguments();
	pid_t		me = MyProcPid;
	int			input[2] = {-1, -1};
	int			output[2] = {-1, -1};

	if (service.command)
		pfree(service.command);
	service.command = join_arguments(argv);
	service.said[0] = '\0';
	service.line_len = 0;
	service.ready = false;
	service.started = gpu_clock_ms();
	service_set_state(SERVICE_STARTING, 0, "");

	if (pipe2(input, O_CLOEXEC) == 0 && pipe2(output, O_CLOEXEC) == 0 &&
		fcntl(output[0], F_SETFL, O_NONBLOCK) == 0)
	{
		/* What is in our buffers must not be written twice. */
		fflush(NULL);
		service.pid = fork();
		if (service.pid == 0)
			become_service(argv, input[0], output[1], me);
	}
	else
		service.pid = -1;
	if (service.pid < 0)
	{
		snprintf(service.said, sizeof(service.said), "could not start the program: %s",
				 strerror(errno));
		service.pid = 0;
	}
	if (input[0] >= 0)
		close(input[0]);
	if (output[1] >= 0)
		close(output[1]);
	if (service.pid == 0)
	{
		if (input[1] >= 0)
			close(input[1]);
		if (output[0] >= 0)
			close(output[0]);
		return;
	}
	service.input = input[1];
	service.output = output[0];
}

/* A line that it wrote: news, or something for the log. */
static void
take_line(const char *line)
{
	static const struct
	{
		const char *prefix;
		int			level;
		bool		trouble;
	}			levels[] = {
		{"DEBUG: ", DEBUG1, false},
		{"LOG: ", LOG, false},
		{"WARNING: ", WARNING, true},

		/*
		 * An error of the service is none of this process's; that there is no
		 * GPU on a host is none at all.
		 */
		{"ERROR: ", LOG, true}
	};
	bool		trouble = true;	/* whatever is not the service's own way to say it */
	int			level = LOG;
	size_t		i;

	if (strcmp(line, "ready") == 0)
	{
		if (service.ready)
			return;
		service.ready = true;
		service_set_state(SERVICE_RUNNING, (int) service.pid, "");
		ereport(LOG,
				(errmsg("GPU service is running (PID %d)", (int) service.pid)));
		return;
	}
	for (i = 0; i < lengthof(levels); i++)
	{
		size_t		length = strlen(levels[i].prefix);

		if (strncmp(line, levels[i].prefix, length) == 0)
		{
			line += length;
			level = levels[i].level;
			trouble = levels[i].trouble;
			break;
		}
	}
	if (trouble)
		strlcpy(service.said, line, sizeof(service.said));
	ereport(level, (errmsg("GPU service: %s", line)));
}

/* Takes what it wrote, as far as it is there. */
static void
read_output(void)
{
	char		bytes[1024];

	while (service.output >= 0)
	{
		ssize_t		n = read(service.output, bytes, sizeof(bytes));
		ssize_t		i;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0)
		{
			/* Its end comes with a SIGCHLD. */
			close(service.output);
			service.output = -1;
			return;
		}
		for (i = 0; i < n; i++)
		{
			if (bytes[i] != '\n')
			{
				/* the rest of a longer one is skipped */
				if (service.line_len < sizeof(service.line) - 1)
					service.line[service.line_len++] = bytes[i];
				continue;
			}
			service.line[service.line_len] = '\0';
			service.line_len = 0;
			take_line(service.line);
		}
	}
}

/* Whether it has ended, and how. */
static bool
reap_service(int *status)
{
	pid_t		pid;

	if (service.pid == 0)
		return false;
	pid = waitpid(service.pid, status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	if (pid < 0)
		*status = 0;
	read_output();
	if (service.output >= 0)
		close(service.output);
	if (service.input >= 0)
		close(service.input);
	service.output = service.input = -1;
	service.pid = 0;
	return true;
}

/* Asks it to stop, and sees to it. */
static void
stop_service(void)
{
	int64		since = gpu_clock_ms();
	int			status;

	if (service.pid == 0)
		return;
	service_set_state(SERVICE_STARTING, 0, "");
	kill(service.pid, SIGTERM);
	while (!reap_service(&status))
	{
		read_output();
		if (gpu_clock_ms() - since >= STOP_MS)
			kill(service.pid, SIGKILL);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 20,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Takes the settings that were reloaded; stops a service that has to have others. */
static void
obey_reload(void)
{
	const char *reason;
	char	   *command;

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	if (!hpsort_gpu || !supervisor_has_service(&reason))
	{
		stop_service();
		service.next_start = 0;
		return;
	}
	command = join_arguments(service_arguments());
	if (service.command == NULL || strcmp(command, service.command) != 0)
	{
		if (service.pid != 0)
			ereport(LOG, (errmsg("restarting the GPU service with new settings")));
		stop_service();
		service.delay = 0;
		service.next_start = 0;
	}
	pfree(command);
}

/* Whatever this worker dies of, the service goes first. */
static void
supervisor_exit(int code, Datum arg)
{
	int			status;

	if (service.pid != 0)
	{
		kill(service.pid, SIGKILL);
		while (waitpid(service.pid, &status, 0) < 0 && errno == EINTR)
			;
		service.pid = 0;
	}
	service_release_supervision();
}

static void
handle_sigchld(SIGNAL_ARGS)
{
	int			save_errno = errno;

	SetLatch(MyLatch);
	errno = save_errno;
}

/* "was killed by signal 9", for people. */
static void
describe_end(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "GPU service was terminated by signal %d", WTERMSIG(status));
	else if (service.said[0] != '\0')
		strlcpy(text, service.said, size);
	else
		snprintf(text, size, "GPU service ended with exit code %d", WEXITSTATUS(status));
}

/* Ends this worker; the state tells why there is no service. */
pg_noreturn static void
retire(ServiceState state, const char *text)
{
	service_set_state(state, 0, text);
	proc_exit(0);
}

/*
 * As GpuClientHooks wants it: in short slices, because the latch is needed later.
 * Meanwhile the rest of the world is served: a reload (which may be the end of
 * the service that is waited for, whose pid is *arg), barriers, the shutdown.
 */
static int
wait_for_service(void *arg, int fd, int events, int timeout_ms)
{
	pid_t		pid = *(pid_t *) arg;
	int			wanted = WL_TIMEOUT | WL_EXIT_ON_PM_DEATH;
	int			got;

	if (events & POLLIN)
		wanted |= WL_SOCKET_READABLE;
	if (events & POLLOUT)
		wanted |= WL_SOCKET_WRITEABLE;
	got = WaitLatchOrSocket(NULL, wanted, fd, Min(timeout_ms, 100), PG_WAIT_EXTENSION);

	/* A service that has much to say would otherwise wait for us. */
	read_output();
	/* An error here ends this worker, and the connection with it. */
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
		obey_reload();
	if (ShutdownRequestPending || service.pid != pid)
		return -1;
	return ((got & WL_SOCKET_READABLE) ? POLLIN : 0) | ((got & WL_SOCKET_WRITEABLE) ? POLLOUT : 0);
}

/*
 * Whether a key comes back over that connection: its socket may live when its
 * device does not.  Only silence counts against it; a refusal is an answer.
 */
static bool
sorts_a_key(GpuClient *client)
{
	GpuClientRef ref = {.client = client};
	SortGpu		gpu = {.device = &gpu_client_device,.arg = &ref};
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
 * A backend waited in vain.  Perhaps its job was only long; a service that
 * does not even greet, or sort a single key in the time that jobs are given,
 * is of no use to anybody.
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
		.hooks = {.wait = wait_for_service, .arg = &pid}
	};
	GpuClient  *client;
	GpuFailure	failure;
	bool		hangs;
	char		text[160];

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

	/* Meanwhile it may have been stopped, or is about to be. */
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

/* It could not be started, or has failed: the next attempt comes later each time. */
static void
restart_later(const char *text)
{
	service.delay = Min(Max(2 * service.delay, hpsort_gpu_restart_delay), LONGEST_DELAY_MS);
	service.next_start = gpu_clock_ms() + service.delay;
	service_set_state(SERVICE_RESTARTING, 0, text);
}

/* Starts it, if it is to run and it is time to; ends this worker if it is not to. */
static void
keep_running(void)
{
	const char *reason;

	if (!hpsort_gpu)
		retire(SERVICE_STOPPED, "the setting hpsort.gpu is off");
	if (service.pid != 0 || gpu_clock_ms() < service.next_start)
		return;

	/* Whoever asks finds that out anew. */
	if (!supervisor_has_service(&reason))
		retire(SERVICE_STOPPED, "");
	start_service();
	if (service.pid == 0)
	{
		/* No process, or no descriptor: later, perhaps. */
		restart_later(service.said);
		ereport(LOG, (errmsg("GPU service: %s", service.said)));
	}
}

/* Waits for something to do; a request that came before is not waited for again. */
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
		timeout = Max(service.next_start - gpu_clock_ms(), 0);
	else if (!service.ready)
		timeout = START_MS / 10;
	if (timeout >= 0)
		events |= WL_TIMEOUT;
	(void) WaitLatchOrSocket(MyLatch, events,
							 service.output >= 0 ? service.output : PGINVALID_SOCKET,
							 (long) timeout, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
}

/* It has ended: for good, or until the next start. */
static void
after_end(int status)
{
	char		text[160];

	describe_end(status, text, sizeof(text));
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
	if (service.ready && gpu_clock_ms() - service.started >=
		(int64) HEALTHY_DELAYS * Max(service.delay, hpsort_gpu_restart_delay))
		service.delay = 0;
	service_count_restart();
	restart_later(text);
	ereport(LOG,
			(errmsg("%s; restarting it in %d ms", text, service.delay)));
}

void
hpsort_gpu_supervisor_main(Datum arg)
{
	MemoryContext memory;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGCHLD, handle_sigchld);
	BackgroundWorkerUnblockSignals();

	/* Another one may be at work: one was preloaded, one asked for. */
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
			stop_service();
			retire(SERVICE_STOPPED, "");
		}
		if (ConfigReloadPending)
			obey_reload();
		read_output();
		check_suspect();
		if (service.pid != 0 && !service.ready && gpu_clock_ms() - service.started >= START_MS)
		{
			strlcpy(service.said, "GPU service did not start in time", sizeof(service.said));
			kill(service.pid, SIGKILL);
		}
		if (reap_service(&status))
			after_end(status);
	}
}
