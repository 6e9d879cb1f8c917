/*
 * service_process.c
 *		The process of the GPU service (see service_process.h).
 */
#include "postgres.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "pg/compat.h"
#include "pg/gpu/service_process.h"
#include "pg/gpu/service_state.h"
#include "pg/guc.h"
#include "sort/clock.h"

#define SERVICE_PROGRAM "hpsort-gpud"

/* How long a service that was asked to stop may take. */
#define STOP_MS 5000

/* The path of the program, once service_is_installed has found it. */
static char program[MAXPGPATH];

bool
service_is_installed(const char **reason)
{
	static char text[160];
	const char *other = getenv("HPSORT_GPUD");

	if (other)
		strlcpy(program, other, sizeof(program));
	else
	{
#ifdef HPSORT_WITH_CUDA
		snprintf(program, sizeof(program), "%s/%s", pkglib_path, SERVICE_PROGRAM);
#else
		*reason = "built without CUDA";
		return false;
#endif
	}
	if (access(program, X_OK) == 0)
		return true;
	snprintf(text, sizeof(text), "program %s cannot be executed: %s", SERVICE_PROGRAM,
			 strerror(errno));
	*reason = text;

	return false;
}

/* Returns the program's arguments, NULL at the end, in the current context; program is set. */
static char **
service_arguments(void)
{
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
	argv[n++] = "--resident-memory";
	argv[n++] = hpsort_resident_gpu_memory < 0 ? "auto" :
		psprintf(UINT64_FORMAT, (uint64) hpsort_resident_gpu_memory << 20);
	return argv;
}

/* Returns arguments as one string, in TopMemoryContext, to be compared with later ones. */
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

/* Closes a descriptor if there is one. */
static void
close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Turns the child into the service: input becomes its standard input, output its standard output
 * and error.  Never returns.  Runs between fork and exec: async-signal-safe calls only, and
 * nothing of PostgreSQL's.  If parent, the worker, has died before the kernel was asked to kill
 * the child with it, the child ends itself.
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
	int			fd;

	/* exec resets handlers, but signals that are ignored or blocked stay so. */
	for (size_t i = 0; i < lengthof(reset); i++)
		sigaction(reset[i], &action, NULL);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	/* A service that hangs does not see the end of its input: the kernel kills it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_NOT_EXECUTED);

	/* When memory runs out, the kernel shall kill the service, not a backend. */
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

/*
 * The worker keeps one end of each pipe.  The child's ends are closed here, so that reading meets
 * the end when the child has gone, and the child meets the end of its input when the worker has.
 */
void
service_process_start(ServiceProcess *service)
{
	char	  **argv = service_arguments();
	pid_t		me = MyProcPid;
	int			input[2] = {-1, -1};
	int			output[2] = {-1, -1};

	if (service->command)
		pfree(service->command);
	service->command = join_arguments(argv);
	service->said[0] = '\0';
	service->line_len = 0;
	service->ready = false;
	service->started = sort_clock_ms();
	service_set_state(SERVICE_STARTING, 0, "");

	if (pipe2(input, O_CLOEXEC) == 0 && pipe2(output, O_CLOEXEC) == 0 &&
		fcntl(output[0], F_SETFL, O_NONBLOCK) == 0)
	{
		/* What stdio has buffered must not be written by both processes. */
		fflush(NULL);
		service->pid = fork();
		if (service->pid == 0)
			become_service(argv, input[0], output[1], me);
	}
	else
		service->pid = -1;
	if (service->pid < 0)
	{
		snprintf(service->said, sizeof(service->said), "could not start the program: %s",
				 strerror(errno));
		service->pid = 0;
	}
	close_end(&input[0]);
	close_end(&output[1]);
	if (service->pid == 0)
	{
		close_end(&input[1]);
		close_end(&output[0]);
	}
	service->input = input[1];
	service->output = output[0];
}

bool
service_process_is_outdated(const ServiceProcess *service)
{
	char	   *command = join_arguments(service_arguments());
	bool		outdated = service->command == NULL || strcmp(command, service->command) != 0;

	pfree(command);
	return outdated;
}

/*
 * Handles a line that the process wrote, without its end: "ready" makes the state SERVICE_RUNNING,
 * once; any other line goes to the server's log.  Warnings, errors and lines that are not of log.c
 * are kept in said.
 */
static void
take_line(ServiceProcess *service, const char *line)
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
		 * An error of the service is none of the server's, and that a host has no GPU is no error
		 * at all.
		 */
		{"ERROR: ", LOG, true}
	};
	bool		trouble = true; /* lines without a prefix are not from log.c */
	int			level = LOG;

	if (strcmp(line, "ready") == 0)
	{
		if (service->ready)
			return;
		service->ready = true;
		service_set_state(SERVICE_RUNNING, (int) service->pid, "");
		ereport(LOG,
				(errmsg("GPU service is running (PID %d)", (int) service->pid)));
		return;
	}
	for (size_t i = 0; i < lengthof(levels); i++)
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
		strlcpy(service->said, line, sizeof(service->said));
	ereport(level, (errmsg("GPU service: %s", line)));
}

void
service_process_read(ServiceProcess *service)
{
	char		bytes[1024];

	while (service->output >= 0)
	{
		ssize_t		n = read(service->output, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0)
		{
			/* The end of the process itself is reported by SIGCHLD. */
			close_end(&service->output);
			return;
		}
		for (ssize_t i = 0; i < n; i++)
		{
			if (bytes[i] != '\n')
			{
				/* the rest of a longer line is skipped */
				if (service->line_len < sizeof(service->line) - 1)
					service->line[service->line_len++] = bytes[i];
				continue;
			}
			service->line[service->line_len] = '\0';
			service->line_len = 0;
			take_line(service, service->line);
		}
	}
}

/* What the process wrote last, which is read first, usually says why it has ended. */
bool
service_process_reap(ServiceProcess *service, int *status)
{
	pid_t		pid;

	if (service->pid == 0)
		return false;
	pid = waitpid(service->pid, status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	if (pid < 0)
		*status = 0;
	service_process_read(service);
	close_end(&service->output);
	close_end(&service->input);
	service->pid = 0;
	return true;
}

/* Each round after STOP_MS kills.  SERVICE_STARTING keeps others from starting a service. */
void
service_process_stop(ServiceProcess *service)
{
	int64		since = sort_clock_ms();
	int			status;

	if (service->pid == 0)
		return;
	service_set_state(SERVICE_STARTING, 0, "");
	kill(service->pid, SIGTERM);
	while (!service_process_reap(service, &status))
	{
		service_process_read(service);
		if (sort_clock_ms() - since >= STOP_MS)
			kill(service->pid, SIGKILL);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 20,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

void
service_process_destroy(ServiceProcess *service)
{
	int			status;

	if (service->pid == 0)
		return;
	kill(service->pid, SIGKILL);
	while (waitpid(service->pid, &status, 0) < 0 && errno == EINTR)
		;
	service->pid = 0;
}

void
service_process_describe_end(const ServiceProcess *service, int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "GPU service was terminated by signal %d", WTERMSIG(status));
	else if (service->said[0] != '\0')
		strlcpy(text, service->said, size);
	else
		snprintf(text, size, "GPU service ended with exit code %d", WEXITSTATUS(status));
}
