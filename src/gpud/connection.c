/*
 * connection.c
 *		A connection: one thread that speaks the protocol with one client and
 *		drives its job.
 *
 * The thread sleeps in one place only (rest), for a message, a chunk or the
 * end; and in the engine's blocking calls.  The main thread learns of a peer's
 * end by itself (connection_gone) and cancels the job at once, whatever this
 * thread is doing.
 *
 * Locks: service->lock is for the list of connections and is taken first;
 * job_lock keeps a job from being closed while it is cancelled.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gpud/connection.h"

/* A whole message is there before there is a thread, but for the service's own client. */
#define HELLO_TIMEOUT_MS 10000

/* A message cannot be sent at once only if the peer does not read. */
#define SEND_TIMEOUT_MS 10000

/* ------------------------------------------------------------------------
 * Sending
 * ------------------------------------------------------------------------
 */

static bool
send_bytes(Connection *c, const void *bytes, size_t size, int fd)
{
	union
	{
		char		bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	}			control;
	struct iovec part = {.iov_base = (void *) bytes,.iov_len = size};
	struct msghdr message = {.msg_iov = &part,.msg_iovlen = 1};
	int64_t		deadline = clock_ms() + SEND_TIMEOUT_MS;

	if (fd >= 0)
	{
		struct cmsghdr *header;

		memset(&control, 0, sizeof(control));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	while (part.iov_len > 0)
	{
		ssize_t		n = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		{
			struct pollfd p = {.fd = c->fd,.events = POLLOUT};
			int64_t		left = deadline - clock_ms();

			if (atomic_load(&c->over) != CONNECTION_ALIVE || left <= 0 ||
				(poll(&p, 1, (int) left) < 0 && errno != EINTR))
				return false;
			continue;
		}
		if (n < 0)
			return false;
		part.iov_base = (char *) part.iov_base + n;
		part.iov_len -= (size_t) n;
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	return true;
}

bool
connection_send(Connection *c, const GpuMessage *message)
{
	return send_bytes(c, message, gpu_message_size(message), -1);
}

/*
 * Sends instead of a message what no service of ours would send, and ends the
 * connection: returns false.
 */
bool
connection_send_nonsense(Connection *c, FaultKind fault)
{
	GpuMessage	message;
	size_t		i;

	gpu_message_init(&message, GPU_MSG_GRANT, c->number);
	switch (fault)
	{
		case FAULT_GARBAGE:
			for (i = 0; i < sizeof(message); i++)
				((unsigned char *) &message)[i] = (unsigned char) (i * 167 + 13);
			(void) send_bytes(c, &message, sizeof(message), -1);
			break;
		case FAULT_SHORT:
			(void) send_bytes(c, &message, sizeof(GpuHeader) + 2, -1);
			break;
		default:
			message.header.length = UINT32_MAX;
			(void) send_bytes(c, &message, sizeof(message), -1);
			break;
	}
	return false;
}

/* An error of the whole connection: always the last thing said. */
static bool
refuse(Connection *c, GpuFailure failure, const char *text)
{
	GpuMessage	message;

	log_line(LOG_WARNING, "connection %llu ends: %s", (unsigned long long) c->id, text);
	gpu_message_init(&message, GPU_MSG_ERROR, 0);
	message.body.error.failure = failure;
	snprintf(message.body.error.text, GPU_TEXT_SIZE, "%s", text);
	(void) connection_send(c, &message);
	return false;
}

bool
connection_bad_message(Connection *c, const char *why)
{
	char		text[GPU_TEXT_SIZE];

	snprintf(text, sizeof(text), "bad message: %s", why);
	return refuse(c, GPU_PROTOCOL, text);
}

static bool
on_ask_devices(Connection *c)
{
	Devices    *devices = &c->service->devices;
	GpuMessage	message;
	int			i;

	gpu_message_init(&message, GPU_MSG_DEVICE, 0);
	message.body.device.count = (uint32_t) devices->count;
	for (i = 0; i < devices->count; i++)
	{
		message.body.device.index = (uint32_t) i;
		devices_status(devices, i, &message.body.device.status);
		if (!connection_send(c, &message))
			return false;
	}
	return devices->count > 0 || connection_send(c, &message);
}

static bool
on_hello(Connection *c, const GpuHello *hello)
{
	Service    *service = c->service;
	char		text[GPU_TEXT_SIZE];
	GpuMessage	message;
	FaultKind	fault;
	struct ucred peer;
	socklen_t	size = sizeof(peer);

	fault = faults_at(AT_HELLO, &c->over);
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
		peer.uid != geteuid() || fault == FAULT_UID)
		return refuse(c, GPU_CONNECT, "GPU service belongs to another user");
	if (fault == FAULT_GARBAGE || fault == FAULT_SHORT || fault == FAULT_OVERSIZE)
		return connection_send_nonsense(c, fault);
	if (hello->version != GPU_PROTOCOL_VERSION)
	{
		snprintf(text, sizeof(text), "GPU service speaks protocol %u, not %u",
				 GPU_PROTOCOL_VERSION, hello->version);
		return refuse(c, GPU_PROTOCOL, text);
	}
	if (strcmp(hello->build, gpu_build_id()) != 0)
	{
		snprintf(text, sizeof(text), "GPU service is of another build: %s, not %s",
				 gpu_build_id(), hello->build);
		return refuse(c, GPU_PROTOCOL, text);
	}
	gpu_message_init(&message, GPU_MSG_WELCOME, 0);
	message.body.welcome.magic = GPU_MAGIC;
	message.body.welcome.version = fault == FAULT_VERSION ? 0 : GPU_PROTOCOL_VERSION;
	snprintf(message.body.welcome.build, GPU_BUILD_SIZE, "%s",
			 fault == FAULT_BUILD ? "none" : gpu_build_id());
	message.body.welcome.pid = getpid();
	message.body.welcome.chunks = service->chunks.count;
	message.body.welcome.chunk_bytes = service->chunks.bytes;
	message.body.welcome.costs = service->devices.costs;
	return send_bytes(c, &message, gpu_message_size(&message), service->chunks.fd);
}

/* False when the connection is over. */
static bool
handle(Connection *c, const GpuMessage *m)
{
	switch (m->header.type)
	{
		case GPU_MSG_ASK_DEVICES:
			return on_ask_devices(c);
		case GPU_MSG_HELLO:
			return connection_bad_message(c, "second hello");
		default:
			return job_message(c, m);
	}
}

/* ------------------------------------------------------------------------
 * The thread
 * ------------------------------------------------------------------------
 */

/* Receives what is there; false at the end. */
static bool
receive(Connection *c)
{
	size_t		room;
	unsigned char *to = gpu_input_room(&c->in, &room);
	ssize_t		n = recv(c->fd, to, room, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
	c->in.len += (size_t) n;
	return n > 0;
}

/* Handles all messages that are there; false when the connection is over. */
static bool
handle_input(Connection *c)
{
	const Chunks *chunks = &c->service->chunks;
	GpuMessage	message;
	const char *why;

	for (;;)
		switch (gpu_input_next(&c->in, GPU_FROM_CLIENT, chunks->count, chunks->bytes, &message,
							   &why))
		{
			case GPU_PARSE_MORE:
				return true;
			case GPU_PARSE_BAD:
				return connection_bad_message(c, why);
			case GPU_PARSE_MESSAGE:
				if (atomic_load(&c->over) != CONNECTION_ALIVE || !handle(c, &message))
					return false;
				break;
		}
}

/* Sleeps until there is a message, a chunk, the end, or the time is over. */
static bool
rest(Connection *c, int timeout)
{
	struct pollfd p[2] = {
		{.fd = c->fd,.events = POLLIN},
		{.fd = c->holder.wake,.events = POLLIN},
	};

	if (atomic_load(&c->over) != CONNECTION_ALIVE)
		return false;
	if (poll(p, 2, timeout) < 0 && errno != EINTR)
		return false;
	return p[0].revents == 0 || receive(c);
}

static bool
shake_hands(Connection *c)
{
	int64_t		deadline = clock_ms() + HELLO_TIMEOUT_MS;
	GpuMessage	message;
	const char *why;

	for (;;)
	{
		int64_t		left = deadline - clock_ms();

		switch (gpu_input_next(&c->in, GPU_FROM_CLIENT, 0, 0, &message, &why))
		{
			case GPU_PARSE_MESSAGE:
				if (message.header.type != GPU_MSG_HELLO)
					return connection_bad_message(c, "no hello");
				return on_hello(c, &message.body.hello);
			case GPU_PARSE_BAD:
				return connection_bad_message(c, why);
			case GPU_PARSE_MORE:
				if (left <= 0 || !rest(c, (int) left))
					return false;
				break;
		}
	}
}

static void
forget(Connection *c)
{
	Service    *service = c->service;
	Connection **link;

	pthread_mutex_lock(&service->lock);
	for (link = &service->connections; *link != c; link = &(*link)->next)
		;
	*link = c->next;
	epoll_ctl(service->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	close(c->fd);
	pthread_mutex_unlock(&service->lock);
	chunks_holder_release(&service->chunks, &c->holder);
	pthread_mutex_destroy(&c->job_lock);
	free(c->state);
	free(c->busy);
	free(c);

	/* Whoever waits for it may now do with the service what he likes. */
	pthread_mutex_lock(&service->lock);
	service->nconnections--;
	pthread_cond_signal(&service->ended);
	pthread_mutex_unlock(&service->lock);
}

static void *
connection_main(void *arg)
{
	Connection *c = arg;
	bool		alive = shake_hands(c);
	EngineError err;

	log_line(LOG_DEBUG, "connection %llu: %s", (unsigned long long) c->id,
			 alive ? "welcome" : "refused");
	while (alive)
	{
		int			timeout;

		alive = handle_input(c) && job_progress(c, &timeout) && rest(c, timeout);
	}

	/* The device is gone, not the client: it may be told so. */
	if (atomic_load(&c->over) == CONNECTION_DEVICE_LOST && c->open && !c->failed)
	{
		engine_fail(&err, GPU_DEVICE_ERROR, "device was lost by another job's CUDA error");
		(void) job_fail(c, &err);
	}
	engine_fail(&err, GPU_LOST, "connection ended");
	err.cancelled = true;
	if (c->open)
		job_end(c, &err);
	log_line(LOG_DEBUG, "connection %llu: over", (unsigned long long) c->id);
	forget(c);
	return NULL;
}

static void
stop(Connection *c, int why)
{
	uint64_t	one = 1;
	ssize_t		rc;

	atomic_store(&c->over, why);
	pthread_mutex_lock(&c->job_lock);
	if (c->job)
		c->device->engine->job_cancel(c->job);
	pthread_mutex_unlock(&c->job_lock);
	rc = write(c->holder.wake, &one, sizeof(one));
	(void) rc;
}

bool
service_init(Service *service)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&service->lock, NULL);

	/* Somebody may set the other clock while the service ends. */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&service->ended, &attr);
	pthread_condattr_destroy(&attr);
	greetings_init(&service->greetings);
	service->epoll = epoll_create1(EPOLL_CLOEXEC);
	return service->epoll >= 0;
}

bool
connection_start(Service *service, int fd)
{
	Connection *c = calloc(1, sizeof(Connection));
	struct epoll_event event = {.events = EPOLLRDHUP};
	pthread_t	thread;

	if (c == NULL)
	{
		close(fd);
		return false;
	}
	c->service = service;
	c->fd = fd;
	c->state = calloc(service->chunks.count, 1);
	c->busy = calloc(service->chunks.count, sizeof(BusyChunk));
	pthread_mutex_init(&c->job_lock, NULL);
	if (c->state == NULL || c->busy == NULL || !chunks_holder_init(&service->chunks, &c->holder))
	{
		close(fd);
		free(c->state);
		free(c->busy);
		free(c);
		return false;
	}
	pthread_mutex_lock(&service->lock);
	c->id = ++service->last_id;
	c->next = service->connections;
	service->connections = c;
	service->nconnections++;
	event.data.u64 = c->id;
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
	for (c = service->connections; c && c->id != id; c = c->next)
		;
	if (c)
	{
		/* said once; the descriptor stays for the thread to close */
		epoll_ctl(service->epoll, EPOLL_CTL_DEL, c->fd, NULL);
		stop(c, CONNECTION_GONE);
	}
	pthread_mutex_unlock(&service->lock);
}

bool
connections_end(Service *service, int why, int timeout_ms)
{
	Connection *c;
	struct timespec until;
	int			rc = 0;
	bool		all;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long) (timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000)
	{
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&service->lock);
	for (c = service->connections; c; c = c->next)
		stop(c, why);
	while (service->nconnections > 0 && rc == 0)
		rc = pthread_cond_timedwait(&service->ended, &service->lock, &until);
	all = service->nconnections == 0;
	pthread_mutex_unlock(&service->lock);
	return all;
}
