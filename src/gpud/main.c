/*
 * main.c
 *		hpsort-gpud, the GPU service: its options, its start, its main loop and
 *		its end.
 *
 * hpsort-gpud owns the GPU so that no PostgreSQL process has to: one process a
 * cluster, one thread a connection, and the main thread, which accepts, watches
 * every connection for its end, and decides when to stop.  Knows nothing of
 * PostgreSQL.
 *
 * Started by the supervisor (a PostgreSQL background worker), by tests, or by
 * hand.  stdin is a pipe from the parent, whose end means that the parent is
 * gone; "ready" goes to stdout once, the log to stderr.  The process leaves
 * nothing behind but the socket's file, and that only if it is killed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpud/connection.h"
#include "gpud/costs.h"
#include "gpud/log.h"

/*
 * After so long without a job, devices give back the memory kept for jobs to come; how often the
 * main loop looks for that.
 */
#define TRIM_AFTER_MS 10000
#define TRIM_POLL_MS 2000

/* How long the service waits for the threads of its connections when it ends. */
#define END_TIMEOUT_MS 1000

/* The most connections that are accepted before the main loop looks for other events. */
#define ACCEPT_AT_ONCE 64

/*
 * Four chunks of 1 MiB on the way keep the bus busy, and a session's first job
 * touches few pages (bench/gpu/service_bench).
 */
#define DEFAULT_CHUNK_BYTES ((uint64_t) 1 << 20)

/* Descriptors that connections leave free, for the driver and for what a connection opens. */
#define SPARE_DESCRIPTORS 8

/* What epoll reports besides connections, which it knows by their ids from 1. */
#define EVENT_LISTEN (UINT64_MAX - 0)
#define EVENT_SIGNAL (UINT64_MAX - 1)
#define EVENT_PARENT (UINT64_MAX - 2)
#define EVENT_DEVICE (UINT64_MAX - 3)

typedef struct Options
{
	const char *socket_path;	/* where the service listens */
	const char *devices;		/* "auto" or ordinals, see devices_open */
	uint64_t	pinned_memory;	/* bytes of all chunks */
	uint64_t	chunk_bytes;	/* of each chunk; a multiple of GPU_CHUNK_MIN */
	DeviceMemory memory;
} Options;

static Service service;			/* devices, chunks and connections */
static int	listener = -1;		/* the socket */
static int	signals = -1;		/* descriptor for SIGTERM and SIGINT */

static void
usage(FILE *to)
{
	fputs("hpsort-gpud: the GPU service of hpsort, usually started by PostgreSQL\n\n"
		  "Usage:\n"
		  "  hpsort-gpud --socket PATH --pinned-memory BYTES --devices auto|ORDINAL[,...]\n"
		  "              [--chunk BYTES] [--memory-limit BYTES] [--resident-memory auto|BYTES]\n"
		  "  hpsort-gpud --probe\n"
		  "  hpsort-gpud --version\n", to);
}

/* Reads a number of decimal digits from 0 to most; false if text is none. */
static bool
parse_number(const char *text, uint64_t most, uint64_t *number)
{
	char	   *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *number <= most;
}

/* Reports an option's argument that is not valid; the exit code. */
static int
invalid(const char *arg)
{
	log_line(LOG_ERROR, "invalid value \"%s\"", arg);
	usage(stderr);
	return EXIT_USAGE;
}

/* Reads the options into *o.  Returns -1 if the service shall start, else the exit code. */
static int
parse_options(int argc, char **argv, Options *o)
{
	static const struct option options[] = {
		{"socket", required_argument, NULL, 's'},
		{"pinned-memory", required_argument, NULL, 'p'},
		{"chunk", required_argument, NULL, 'c'},
		{"memory-limit", required_argument, NULL, 'm'},
		{"resident-memory", required_argument, NULL, 'r'},
		{"devices", required_argument, NULL, 'd'},
		{"probe", no_argument, NULL, 'P'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int			option;

	memset(o, 0, sizeof(*o));
	o->chunk_bytes = DEFAULT_CHUNK_BYTES;
	o->memory.extents_auto = true;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option)
		{
			case 's':
				o->socket_path = optarg;
				break;
			case 'p':
				if (!parse_number(optarg, UINT64_C(1) << 44, &o->pinned_memory))
					return invalid(optarg);
				break;
			case 'c':
				if (!parse_number(optarg, GPU_CHUNK_MAX, &o->chunk_bytes) ||
					o->chunk_bytes < GPU_CHUNK_MIN || o->chunk_bytes % GPU_CHUNK_MIN != 0)
					return invalid(optarg);
				break;
			case 'm':
				if (!parse_number(optarg, UINT64_MAX, &o->memory.limit))
					return invalid(optarg);
				break;
			case 'r':
				o->memory.extents_auto = strcmp(optarg, "auto") == 0;
				if (!o->memory.extents_auto &&
					!parse_number(optarg, UINT64_MAX, &o->memory.extents))
					return invalid(optarg);
				break;
			case 'd':
				o->devices = optarg;
				break;
			case 'P':
				return devices_probe();
			case 'V':
				printf("hpsort-gpud %s\n", gpu_build_id());
				return EXIT_ORDERLY;
			case 'h':
				usage(stdout);
				return EXIT_ORDERLY;
			default:
				usage(stderr);
				return EXIT_USAGE;
		}
	if (optind < argc || o->socket_path == NULL || o->devices == NULL ||
		o->pinned_memory < o->chunk_bytes)
	{
		if (o->pinned_memory > 0 && o->pinned_memory < o->chunk_bytes)
			log_line(LOG_ERROR, "pinned memory is smaller than a chunk");
		usage(stderr);
		return EXIT_USAGE;
	}
	return -1;
}

/* Whether the file at address is the socket of a service that has ended. */
static bool
is_stale(const struct sockaddr_un *address)
{
	struct stat st;
	int			fd;
	bool		stale;

	if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *) address, sizeof(*address)) != 0 &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

/*
 * Listens at path, with access for the service's user only.  Takes the place of a socket that a
 * killed service has left.  Returns -1, or the exit code if that is not possible.
 */
static int
start_listening(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			rc;
	mode_t		mask;

	if (strlen(path) >= sizeof(address.sun_path))
	{
		log_line(LOG_ERROR, "socket path is too long");
		return EXIT_USAGE;
	}
	strcpy(address.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener < 0)
	{
		log_line(LOG_ERROR, "could not create a socket: %s", strerror(errno));
		return EXIT_INTERNAL;
	}
	mask = umask(0177);
	rc = bind(listener, (struct sockaddr *) &address, sizeof(address));
	if (rc != 0 && errno == EADDRINUSE && is_stale(&address) && unlink(path) == 0)
		rc = bind(listener, (struct sockaddr *) &address, sizeof(address));
	umask(mask);
	if (rc != 0)
	{
		int			error = errno;

		log_line(LOG_ERROR, "could not listen at \"%s\": %s", path, strerror(error));
		return error == EADDRINUSE ? EXIT_OCCUPIED : EXIT_INTERNAL;
	}
	if (listen(listener, SOMAXCONN) != 0)
	{
		log_line(LOG_ERROR, "could not listen at \"%s\": %s", path, strerror(errno));
		return EXIT_INTERNAL;
	}
	return -1;
}

/* SIGQUIT, which PostgreSQL sends for an immediate shutdown: ends without cleaning up. */
static void
stop_immediately(int signal_number)
{
	(void) signal_number;
	_exit(EXIT_INTERNAL);
}

/*
 * Signals that stop the service are read from a descriptor; all threads have them
 * blocked.  The kernel kills the process when its parent dies.  A parent that died before the
 * kernel was asked for this is noticed here, and by the end of stdin.
 */
static bool
prepare_signals(void)
{
	sigset_t	stop;
	pid_t		parent = getppid();
	struct sigaction action = {.sa_handler = stop_immediately};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigaction(SIGQUIT, &action, NULL);
	sigemptyset(&stop);
	sigaddset(&stop, SIGQUIT);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	signals = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
	{
		log_line(LOG_ERROR, "could not prepare for signals: %s", strerror(errno));
		return false;
	}
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
	{
		log_line(LOG_ERROR, "parent process is gone");
		return false;
	}
	return true;
}

/* Has epoll report that fd is readable, as the event what.  False if that is not possible. */
static bool
watch(int fd, uint64_t what)
{
	struct epoll_event event = {.events = EPOLLIN,.data.u64 = what};

	if (epoll_ctl(service.epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;

	/* stdin may be a file when the service was started by hand: it cannot end */
	if (what == EVENT_PARENT && errno == EPERM)
		return true;
	log_line(LOG_ERROR, "could not watch a descriptor: %s", strerror(errno));
	return false;
}

/* A connection takes two descriptors: as many of them as the hard limit allows. */
static void
raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max)
	{
		limit.rlim_cur = limit.rlim_max;
		(void) setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * Accepts the connections that wait, at most ACCEPT_AT_ONCE.  A connection for which there are too
 * few descriptors is closed at once: the client need not wait for an answer, and epoll reports the
 * connection no more.  The kernel gives each the lowest number that is free, which says how many
 * are in use.
 */
static void
accept_connections(void)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	(void) getrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < ACCEPT_AT_ONCE; i++)
	{
		int			fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
		{
			struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

			if (errno == EAGAIN || errno == EWOULDBLOCK)
				return;
			log_line(LOG_WARNING, "could not accept a connection: %s", strerror(errno));
			nanosleep(&pause, NULL);
			return;
		}
		if ((rlim_t) fd + SPARE_DESCRIPTORS >= limit.rlim_cur)
		{
			log_line(LOG_WARNING, "out of file descriptors, refusing a connection");
			close(fd);
		}
		else if (!connection_start(&service, fd))
			log_line(LOG_WARNING, "could not serve a connection: no memory or descriptors");
	}
}

/*
 * Has devices give back the memory that they keep for jobs to come, once after each time without a
 * job that is long enough.  *trimmed is whether that has been done since the last job.
 */
static void
trim_idle(bool *trimmed)
{
	bool		idle = devices_idle_ms(&service.devices) >= TRIM_AFTER_MS;

	if (idle && !*trimmed)
		devices_trim(&service.devices);
	*trimmed = idle;
}

/* Handles events until one means that the service ends; returns the exit code. */
static int
main_loop(void)
{
	bool		trimmed = true;

	for (;;)
	{
		struct epoll_event events[64];
		int			n;

		trim_idle(&trimmed);
		n = epoll_wait(service.epoll, events, 64, TRIM_POLL_MS);
		if (n < 0 && errno != EINTR)
		{
			log_line(LOG_ERROR, "could not wait for events: %s", strerror(errno));
			return EXIT_INTERNAL;
		}
		for (int i = 0; i < n; i++)
		{
			char		ignored[256];
			ssize_t		rc;

			switch (events[i].data.u64)
			{
				case EVENT_LISTEN:
					accept_connections();
					break;
				case EVENT_SIGNAL:
					log_line(LOG_INFO, "stopping");
					return EXIT_ORDERLY;
				case EVENT_PARENT:
					rc = read(STDIN_FILENO, ignored, sizeof(ignored));
					if (rc == 0 || (rc < 0 && errno != EAGAIN && errno != EINTR))
					{
						log_line(LOG_INFO, "parent process is gone, stopping");
						return EXIT_ORDERLY;
					}
					break;
				case EVENT_DEVICE:
					log_line(LOG_ERROR, "device lost, a new process is needed");
					return EXIT_DEVICE_LOST;
				default:
					connection_gone(&service, events[i].data.u64);
					break;
			}
		}
	}
}

/*
 * Starts in the order of what can fail without waiting: options, the socket, the devices, memory,
 * costs.  Ends by _exit, because threads may hang in the driver.
 */
int
main(int argc, char **argv)
{
	Options		o;
	char		text[GPU_TEXT_SIZE];
	int			rc = parse_options(argc, argv, &o);

	if (rc >= 0)
		return rc;
	if (!prepare_signals())
		return EXIT_INTERNAL;
	raise_descriptor_limit();
	if (!service_init(&service))
	{
		log_line(LOG_ERROR, "could not create an event queue: %s", strerror(errno));
		return EXIT_INTERNAL;
	}

	/* The path first: a service that listens there already has the device open, too. */
	rc = start_listening(o.socket_path);
	if (rc >= 0)
		return rc;
	rc = devices_open(&service.devices, o.devices, &o.memory, text);
	if (rc == EXIT_ORDERLY &&
		(!chunks_create(&service.chunks, o.pinned_memory, o.chunk_bytes, text) ||
		 !devices_pin(&service.devices, service.chunks.memory,
					  (size_t) service.chunks.count * service.chunks.bytes, text)))
		rc = EXIT_INTERNAL;
	if (rc != EXIT_ORDERLY)
	{
		unlink(o.socket_path);
		log_line(LOG_ERROR, "%s", text);
		return rc;
	}
	costs_measure(&service);
	if (!watch(signals, EVENT_SIGNAL) || !watch(STDIN_FILENO, EVENT_PARENT) ||
		!watch(service.devices.wake, EVENT_DEVICE) || !watch(listener, EVENT_LISTEN))
		rc = EXIT_INTERNAL;
	else
	{
		ssize_t		written = write(STDOUT_FILENO, "ready\n", 6);

		(void) written;
		log_line(LOG_INFO, "ready: %u chunks of %llu kB", service.chunks.count,
				 (unsigned long long) (service.chunks.bytes >> 10));
		rc = main_loop();
	}
	unlink(o.socket_path);
	close(listener);

	/*
	 * A thread that has not ended in time is in a call of the driver's; the end of the process
	 * frees what it holds.
	 */
	if (connections_end(&service, rc == EXIT_DEVICE_LOST ? CONNECTION_DEVICE_LOST : CONNECTION_STOP,
						END_TIMEOUT_MS) && rc != EXIT_DEVICE_LOST)
		devices_close(&service.devices);
	fflush(NULL);
	_exit(rc);
}
