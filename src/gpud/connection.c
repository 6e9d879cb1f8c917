/*
 * connection.c
 *		The service's connections (see connection.h).
 *
 * A connection's thread sleeps in one place only (rest), for a message, a chunk
 * or the end, and in the engine's blocking calls.  The main thread learns of a
 * peer's end by itself (connection_gone) and cancels the job at once, whatever
 * the connection's thread is doing.
 *
 * A client sends its HELLO right after it has connected.  A connection on which none comes in time
 * is closed.  When there are too many silent connections, the oldest of them is closed: so a
 * flood of silent connections leaves descriptors and threads for clients that greet.
 *
 * Locks: service->lock is for the list of connections and is taken before the
 * lock of a job.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gpu/poll.h"
#include "gpud/connection.h"
#include "gpud/job.h"
#include "gpud/log.h"
#include "sort/clock.h"

/* Far longer than a client takes, which greets as soon as it has connected. */
#define GREETING_TIMEOUT_MS 10000

/*
 * The most connections that have not greeted: many more than there can be clients between
 * connecting and sending at any moment.  Each takes two descriptors, and all of them at most a
 * quarter of the descriptors that the process may have.
 */
#define MOST_SILENT 256
#define SILENT_PART 8

/* How long a flood of them is kept waiting for the end of connections that were stopped. */
#define STOPPED_WAIT_MS 100

/* How often the log says that there are too many. */
#define COMPLAINT_MS 10000

typedef struct Connection
{
	Service    *service;
	struct Connection *next;	/* in the service's list, the one that came before */
	int64_t		greet_by;		/* ms; when the HELLO must have come */
	atomic_bool greeted;		/* it has, and was answered by a welcome */
	Peer		peer;
	Job			job;
} Connection;

/* ------------------------------------------------------------------------
 * Messages for the connection
 * ------------------------------------------------------------------------
 */

/* ASK_DEVICES: sends a DEVICE for each, or one that says that there is none. */
static bool
on_ask_devices(Connection *c)
{
	Devices    *devices = &c->service->devices;
	GpuMessage	message;

	gpu_message_init(&message, GPU_MSG_DEVICE, 0);
	message.body.device.count = (uint32_t) devices->count;
	for (int i = 0; i < devices->count; i++)
	{
		message.body.device.index = (uint32_t) i;
		devices_status(devices, i, &message.body.device.status);
		if (!peer_send(&c->peer, &message))
			return false;
	}
	return devices->count > 0 || peer_send(&c->peer, &message);
}

/*
 * HELLO: a client of the same user and build gets the WELCOME, with the chunks' descriptor; any
 * other client gets an ERROR that names the reason.
 */
static bool
on_hello(Connection *c, const GpuHello *hello)
{
	Service    *service = c->service;
	char		text[GPU_TEXT_SIZE];
	GpuMessage	message;
	struct ucred peer;
	socklen_t	size = sizeof(peer);

	if (getsockopt(c->peer.fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
		peer.uid != geteuid())
		return peer_refuse(&c->peer, GPU_CONNECT, "GPU service belongs to another user");
	if (hello->version != GPU_PROTOCOL_VERSION)
	{
		snprintf(text, sizeof(text), "GPU service speaks protocol %u, not %u",
				 GPU_PROTOCOL_VERSION, hello->version);
		return peer_refuse(&c->peer, GPU_PROTOCOL, text);
	}
	if (strcmp(hello->build, gpu_build_id()) != 0)
	{
		snprintf(text, sizeof(text), "GPU service is of another build: %s, not %s",
				 gpu_build_id(), hello->build);
		return peer_refuse(&c->peer, GPU_PROTOCOL, text);
	}
	c->job.epoch = hello->epoch;
	devices_set_epoch(&service->devices, hello->epoch);
	gpu_message_init(&message, GPU_MSG_WELCOME, 0);
	message.body.welcome.magic = GPU_MAGIC;
	message.body.welcome.version = GPU_PROTOCOL_VERSION;
	snprintf(message.body.welcome.build, GPU_BUILD_SIZE, "%s", gpu_build_id());
	message.body.welcome.pid = getpid();
	message.body.welcome.chunks = service->chunks.count;
	message.body.welcome.chunk_bytes = service->chunks.bytes;
	message.body.welcome.extent_memory = service->devices.list[0].extents.limit;
	message.body.welcome.devices = (uint64_t) service->devices.count;
	message.body.welcome.costs = service->devices.costs;
	log_line(LOG_DEBUG, "connection %llu: welcome", (unsigned long long) c->peer.id);
	c->greeted = true;
	return peer_send_with(&c->peer, &message, service->chunks.fd);
}

/* Handles a message, of which only the first is HELLO.  False when the connection is over. */
static bool
handle(Connection *c, const GpuMessage *m)
{
	if ((m->header.type == GPU_MSG_HELLO) == c->greeted)
		return peer_bad_message(&c->peer, c->greeted ? "second hello" : "no hello");
	switch (m->header.type)
	{
		case GPU_MSG_HELLO:
			return on_hello(c, &m->body.hello);
		case GPU_MSG_ASK_DEVICES:
			return on_ask_devices(c);
		default:
			return job_message(&c->job, m);
	}
}

/* ------------------------------------------------------------------------
 * The thread
 * ------------------------------------------------------------------------
 */

/* Handles all messages that are there; false when the connection is over. */
static bool
handle_input(Connection *c)
{
	const Chunks *chunks = &c->service->chunks;
	GpuMessage	message;
	const char *why;

	for (;;)
		switch (gpu_input_next(&c->peer.in, GPU_FROM_CLIENT, c->greeted ? chunks->count : 0,
							   chunks->bytes, &message, &why))
		{
			case GPU_PARSE_MORE:
				return true;
			case GPU_PARSE_BAD:
				return peer_bad_message(&c->peer, why);
			case GPU_PARSE_MESSAGE:
				if (atomic_load(&c->peer.over) != CONNECTION_ALIVE || !handle(c, &message))
					return false;
				break;
		}
}

/*
 * Sleeps until there is a message, a chunk or the end, at most timeout ms (-1: no limit), and
 * receives the message.  Before the HELLO, timeout is the time until the HELLO is due.  False when
 * the connection is over.
 */
static bool
rest(Connection *c, int timeout)
{
	struct pollfd p[2] = {
		{.fd = c->peer.fd,.events = POLLIN},
		{.fd = c->job.holder.wake,.events = POLLIN},
	};

	if (!c->greeted)
		timeout = (int) (c->greet_by - sort_clock_ms());
	if (atomic_load(&c->peer.over) != CONNECTION_ALIVE || (!c->greeted && timeout <= 0))
		return false;
	if ((c->job.open ? gpu_poll(p, 2, timeout) : poll(p, 2, timeout)) < 0 && errno != EINTR)
		return false;
	return p[0].revents == 0 || peer_receive(&c->peer);
}

/*
 * Takes a connection, whose job is closed, off the list, and frees it.  Closes the socket under
 * the lock, so that connection_gone, which is called with an id, finds either the connection with
 * its socket or none.
 */
static void
forget(Connection *c)
{
	Service    *service = c->service;
	Connection **link;

	pthread_mutex_lock(&service->lock);
	for (link = &service->connections; *link != c; link = &(*link)->next)
		;
	*link = c->next;
	epoll_ctl(service->epoll, EPOLL_CTL_DEL, c->peer.fd, NULL);
	close(c->peer.fd);
	pthread_mutex_unlock(&service->lock);
	job_release(&c->job);
	free(c);

	/* Last of all: connections_end may return now, and its caller free the service. */
	atomic_fetch_sub(&service->nconnections, 1);
}

/* The connection's thread: messages, then what the job can do, then a wait, until the end. */
static void *
connection_main(void *arg)
{
	Connection *c = arg;
	int			timeout;

	while (handle_input(c) && job_progress(&c->job, &timeout) && rest(c, timeout))
		;

	/* The client of a lost device is still connected: it is sent the reason. */
	if (atomic_load(&c->peer.over) == CONNECTION_DEVICE_LOST && c->job.open && !c->job.failed)
		(void) job_fail(&c->job, GPU_DEVICE_ERROR, "device was lost by another job's CUDA error");
	if (c->job.open)
		job_end(&c->job);
	log_line(LOG_DEBUG, "connection %llu: over", (unsigned long long) c->peer.id);
	forget(c);
	return NULL;
}

/* Has the connection's thread end it; why is a CONNECTION_... reason.  Needs service->lock. */
static void
stop(Connection *c, int why)
{
	uint64_t	one = 1;
	ssize_t		rc;

	atomic_store(&c->peer.over, why);
	job_cancel(&c->job);
	rc = write(c->job.holder.wake, &one, sizeof(one));
	(void) rc;
}

bool
service_init(Service *service)
{
	pthread_mutex_init(&service->lock, NULL);
	service->epoll = epoll_create1(EPOLL_CLOEXEC);
	return service->epoll >= 0;
}

/*
 * Stops the oldest silent connection if there are as many as there may be.  False if too many that
 * were stopped have not ended yet: their threads need a moment.  Called under service->lock.
 */
static bool
bound_silent(Service *service)
{
	struct rlimit limit;
	uint64_t	most = MOST_SILENT;
	uint64_t	silent = 0;
	uint64_t	stopped = 0;
	Connection *oldest = NULL;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / SILENT_PART < most)
		most = limit.rlim_cur / SILENT_PART;
	for (Connection *c = service->connections; c; c = c->next)
	{
		if (c->greeted)
			continue;
		if (atomic_load(&c->peer.over) != CONNECTION_ALIVE)
			stopped++;
		else
		{
			oldest = c;
			silent++;
		}
	}
	if (oldest && silent >= most)
	{
		if (sort_clock_ms() >= service->complain_after)
			log_line(LOG_WARNING, "too many connections that say nothing, closing the oldest");
		service->complain_after = sort_clock_ms() + COMPLAINT_MS;
		stop(oldest, CONNECTION_GONE);
	}
	return stopped <= most / 8;
}

bool
connection_start(Service *service, int fd)
{
	Connection *c = calloc(1, sizeof(Connection));
	struct epoll_event event = {.events = EPOLLRDHUP};
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	pthread_t	thread;

	if (c == NULL)
	{
		close(fd);
		return false;
	}
	c->service = service;
	c->greet_by = sort_clock_ms() + GREETING_TIMEOUT_MS;
	c->peer.fd = fd;
	if (!job_init(&c->job, &c->peer, &service->devices, &service->chunks))
	{
		close(fd);
		free(c);
		return false;
	}
	pthread_mutex_lock(&service->lock);
	for (int i = 0; !bound_silent(service) && i < STOPPED_WAIT_MS; i++)
	{
		pthread_mutex_unlock(&service->lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&service->lock);
	}
	c->peer.id = ++service->last_id;
	c->next = service->connections;
	service->connections = c;
	atomic_fetch_add(&service->nconnections, 1);
	event.data.u64 = c->peer.id;
	if (epoll_ctl(service->epoll, EPOLL_CTL_ADD, fd, &event) == 0 &&
		pthread_create(&thread, NULL, connection_main, c) == 0)
	{
		pthread_detach(thread);
		pthread_mutex_unlock(&service->lock);
		return true;
	}
	pthread_mutex_unlock(&service->lock);
	forget(c);
	return false;
}

void
connection_gone(Service *service, uint64_t id)
{
	Connection *c;

	pthread_mutex_lock(&service->lock);
	for (c = service->connections; c && c->peer.id != id; c = c->next)
		;
	if (c)
	{
		/* epoll would go on reporting the end until the thread has closed the descriptor. */
		epoll_ctl(service->epoll, EPOLL_CTL_DEL, c->peer.fd, NULL);
		stop(c, CONNECTION_GONE);
	}
	pthread_mutex_unlock(&service->lock);
}

bool
connections_end(Service *service, int why, int timeout_ms)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	const int64_t until = sort_clock_ms() + timeout_ms;

	pthread_mutex_lock(&service->lock);
	for (Connection *c = service->connections; c; c = c->next)
		stop(c, why);
	pthread_mutex_unlock(&service->lock);
	while (atomic_load(&service->nconnections) > 0 && sort_clock_ms() < until)
		nanosleep(&pause, NULL);
	return atomic_load(&service->nconnections) == 0;
}
