/*
 * client.c
 *		The client's connection to the GPU service (see client.h): connecting,
 *		sending, receiving and checking.  Jobs are in client_job.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpu/client_internal.h"
#include "gpu/clock.h"
#include "sort/error.h"

/* -1: no limit */
static int64_t
deadline_after(int timeout_ms)
{
	return timeout_ms > 0 ? gpu_clock_ms() + timeout_ms : -1;
}

static int
poll_wait(void *arg, int fd, int events, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = (short) events};
	int			rc;

	(void) arg;
	rc = poll(&p, 1, timeout_ms);
	if (rc < 0)
		return errno == EINTR ? 0 : -1;

	/* An error or a hang-up is found by the call that was waited for. */
	return rc == 0 ? 0 : p.revents & events ? p.revents & events : events;
}

/* Gives up the connection; what it held is the service's again. */
static void
hang_up(GpuClient *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->in.at = c->in.len = 0;
	c->out_len = 0;
	client_drop_chunks(c);
}

SortStatus
client_fail(GpuClient *c, SortError *err, GpuFailure failure, const char *format,...)
{
	char		text[sizeof(err->message)];
	va_list		args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	c->failure = failure;
	hang_up(c);
	return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "%s", text);
}

SortStatus
client_cancelled(GpuClient *c, SortError *err)
{
	hang_up(c);
	return sort_cancelled(err);
}

static SortStatus
client_lost(GpuClient *c, SortError *err, int error)
{
	if (error == 0 || error == EPIPE || error == ECONNRESET)
		return client_fail(c, err, GPU_LOST, "GPU service closed the connection");
	return client_fail(c, err, GPU_LOST, "lost the connection to the GPU service: %s",
					   strerror(error));
}

/* *ready is what can be done of events. */
static SortStatus
wait_ready(GpuClient *c, int events, int64_t deadline, int *ready, SortError *err)
{
	for (;;)
	{
		int			timeout = -1;

		if (deadline >= 0)
		{
			int64_t		left = deadline - gpu_clock_ms();

			timeout = left > 0 ? (int) left : 0;
		}
		*ready = c->hooks.wait(c->hooks.arg, c->fd, events, timeout);
		if (*ready < 0)
			return client_cancelled(c, err);
		if (*ready != 0)
			return SORT_OK;
		if (deadline >= 0 && gpu_clock_ms() >= deadline)
			return client_fail(c, err, GPU_TIMEOUT, "GPU service did not answer in time");
	}
}

/*
 * The descriptor that came with a message, or -1.  The alignment of the buffer
 * leaves room for a second one: of several only the last is kept.
 */
static int
passed_descriptor(struct msghdr *message)
{
	struct cmsghdr *control;
	int			fd = -1;

	for (control = CMSG_FIRSTHDR(message); control; control = CMSG_NXTHDR(message, control))
	{
		size_t		i;

		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < (control->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
		{
			if (fd >= 0)
				close(fd);
			memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
		}
	}
	return fd;
}

/* Receives what is there; *got tells whether anything was. */
static SortStatus
receive(GpuClient *c, bool *got, SortError *err)
{
	union
	{
		char		bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	}			control;
	struct iovec part;
	struct msghdr message = {.msg_iov = &part,.msg_iovlen = 1};
	ssize_t		n;

	*got = false;
	part.iov_base = gpu_input_room(&c->in, &part.iov_len);
	if (part.iov_len == 0)
		return SORT_OK;

	/* Without room for them, the kernel closes descriptors nobody asked for. */
	if (c->connecting)
	{
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do
		n = recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return SORT_OK;
	if (n <= 0)
		return client_lost(c, err, n < 0 ? errno : 0);
	if (c->connecting)
	{
		int			fd = passed_descriptor(&message);

		if (fd >= 0)
		{
			if (c->area_fd >= 0)
				close(c->area_fd);
			c->area_fd = fd;
		}
	}
	c->in.len += (size_t) n;
	*got = true;
	return SORT_OK;
}

/* Sends what is queued, as far as that goes without waiting. */
static SortStatus
try_send(GpuClient *c, SortError *err)
{
	while (c->out_len > 0)
	{
		ssize_t		n = send(c->fd, c->out, c->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
		{
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN || errno == EWOULDBLOCK)
				return SORT_OK;

			/*
			 * The other side is gone, but what it said last may still be here:
			 * receiving finds that, or the end.
			 */
			if (errno != EPIPE && errno != ECONNRESET)
				return client_lost(c, err, errno);
			n = (ssize_t) c->out_len;
		}
		c->out_len -= (size_t) n;
		memmove(c->out, c->out + n, c->out_len);
	}
	return SORT_OK;
}

/*
 * Sends all that is queued.  Looks for messages meanwhile, for a service that
 * cannot get rid of its own would not read ours.
 */
static SortStatus
send_all(GpuClient *c, int64_t deadline, SortError *err)
{
	SortStatus	status = try_send(c, err);

	while (status == SORT_OK && c->out_len > 0)
	{
		size_t		room;
		int			ready;
		bool		got;

		gpu_input_room(&c->in, &room);
		status = wait_ready(c, room > 0 ? POLLIN | POLLOUT : POLLOUT, deadline, &ready, err);
		if (status == SORT_OK && (ready & POLLIN))
			status = receive(c, &got, err);
		if (status == SORT_OK)
			status = try_send(c, err);
	}
	return status;
}

SortStatus
client_send(GpuClient *c, const GpuMessage *message, bool now, SortError *err)
{
	size_t		size = gpu_message_size(message);

	if (c->fd < 0)
		return client_lost(c, err, 0);
	if (size > sizeof(c->out) - c->out_len)
	{
		SortStatus	status = send_all(c, deadline_after(c->wait_timeout_ms), err);

		if (status != SORT_OK)
			return status;
	}
	memcpy(c->out + c->out_len, message, size);
	c->out_len += size;
	return now ? try_send(c, err) : SORT_OK;
}

/* The next message, or *got = false when there is none and wait is false. */
static SortStatus
next_message(GpuClient *c, bool wait, int64_t deadline, GpuMessage *message, bool *got,
			 SortError *err)
{
	if (c->fd < 0)
		return client_lost(c, err, 0);
	for (;;)
	{
		const char *why;
		SortStatus	status;
		bool		more;
		int			ready;

		switch (gpu_input_next(&c->in, GPU_FROM_SERVICE, c->chunks, c->chunk_bytes, message, &why))
		{
			case GPU_PARSE_MESSAGE:
				*got = true;
				return SORT_OK;
			case GPU_PARSE_BAD:
				return client_fail(c, err, GPU_PROTOCOL, "bad message from the GPU service: %s", why);
			case GPU_PARSE_MORE:
				break;
		}
		status = wait ? send_all(c, deadline, err) : try_send(c, err);
		if (status == SORT_OK)
			status = receive(c, &more, err);
		if (status == SORT_OK && !more)
		{
			*got = false;
			if (!wait)
				return SORT_OK;
			status = wait_ready(c, POLLIN, deadline, &ready, err);
		}
		if (status != SORT_OK)
			return status;
	}
}

/* What an ERROR for the whole connection says. */
static SortStatus
connection_error(GpuClient *c, const GpuMessage *message, SortError *err)
{
	GpuFailure	failure = (GpuFailure) message->body.error.failure;

	return client_fail(c, err, failure == GPU_OK ? GPU_PROTOCOL : failure, "%s",
					   message->body.error.text);
}

SortStatus
client_receive(GpuClient *c, bool wait, GpuMessage *message, bool *got, SortError *err)
{
	int64_t		deadline = deadline_after(c->wait_timeout_ms);

	for (;;)
	{
		SortStatus	status = next_message(c, wait, deadline, message, got, err);

		if (status != SORT_OK || !*got)
			return status;
		if (message->header.type == GPU_MSG_ERROR && message->header.job == 0)
			return connection_error(c, message, err);
		if (message->header.type == GPU_MSG_WELCOME)
			return client_fail(c, err, GPU_PROTOCOL, "bad message from the GPU service: second welcome");
		if (message->header.job > c->job_number)
			return client_fail(c, err, GPU_PROTOCOL,
							   "bad message from the GPU service: unknown job");

		/* Of a job that was closed: it has crossed our CLOSE on the way. */
		if (message->header.job != 0 &&
			(message->header.job < c->job_number || !c->job_open))
			continue;
		return SORT_OK;
	}
}

/* ------------------------------------------------------------------------
 * Connecting
 * ------------------------------------------------------------------------
 */

static SortStatus
open_socket(GpuClient *c, const char *path, SortError *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t	size = sizeof(peer);

	if (strlen(path) >= sizeof(address.sun_path))
		return client_fail(c, err, GPU_CONNECT, "path of the GPU service's socket is too long");
	strcpy(address.sun_path, path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return client_fail(c, err, GPU_RESOURCES, "could not create a socket: %s", strerror(errno));
	if (connect(c->fd, (struct sockaddr *) &address, sizeof(address)) != 0)
	{
		/* Nobody there is the usual case, and no fault. */
		if (errno == ENOENT || errno == ECONNREFUSED)
			return client_fail(c, err, GPU_NOT_RUNNING, "GPU service is not running");
		if (errno == EAGAIN)
			return client_fail(c, err, GPU_CONNECT, "GPU service accepts no connection");
		return client_fail(c, err, GPU_CONNECT, "could not connect to the GPU service: %s",
						   strerror(errno));
	}
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
		return client_fail(c, err, GPU_CONNECT, "GPU service belongs to another user");
	return SORT_OK;
}

static SortStatus
map_area(GpuClient *c, const GpuWelcome *welcome, SortError *err)
{
	uint64_t	size = welcome->chunks * welcome->chunk_bytes;
	struct stat st;
	int			seals;
	void	   *area;

	if (c->area_fd < 0)
		return client_fail(c, err, GPU_PROTOCOL, "GPU service sent no shared memory");

	/* Sealed, so that nobody can shorten it under our feet. */
	seals = fcntl(c->area_fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(c->area_fd, &st) != 0 ||
		(uint64_t) st.st_size < size)
		return client_fail(c, err, GPU_PROTOCOL, "shared memory of the GPU service is not as promised");
	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->area_fd, 0);
	if (area == MAP_FAILED)
		return client_fail(c, err, GPU_RESOURCES, "could not map the GPU service's memory: %s",
						   strerror(errno));
	c->area = area;
	c->area_bytes = size;
	close(c->area_fd);
	c->area_fd = -1;

	/* Small tables, one entry a chunk. */
	c->held = calloc(welcome->chunks, sizeof(*c->held));
	c->granted = calloc(welcome->chunks, sizeof(*c->granted));
	c->populated = calloc(welcome->chunks, sizeof(*c->populated));
	if (c->held == NULL || c->granted == NULL || c->populated == NULL)
		return client_fail(c, err, GPU_RESOURCES, "out of memory");
	c->chunks = welcome->chunks;
	c->chunk_bytes = welcome->chunk_bytes;
	return SORT_OK;
}

static SortStatus
shake_hands(GpuClient *c, const char *build, int64_t deadline, SortError *err)
{
	GpuMessage	message;
	SortStatus	status;
	bool		got;

	gpu_message_init(&message, GPU_MSG_HELLO, 0);
	message.body.hello.magic = GPU_MAGIC;
	message.body.hello.version = GPU_PROTOCOL_VERSION;
	snprintf(message.body.hello.build, GPU_BUILD_SIZE, "%s", build);
	status = client_send(c, &message, true, err);
	if (status == SORT_OK)
		status = next_message(c, true, deadline, &message, &got, err);
	if (status != SORT_OK)
		return status;
	if (message.header.type == GPU_MSG_ERROR)
		return connection_error(c, &message, err);
	if (message.header.type != GPU_MSG_WELCOME)
		return client_fail(c, err, GPU_PROTOCOL, "bad message from the GPU service: no welcome");
	if (message.body.welcome.version != GPU_PROTOCOL_VERSION)
		return client_fail(c, err, GPU_PROTOCOL, "GPU service speaks protocol %u, not %u",
						   message.body.welcome.version, GPU_PROTOCOL_VERSION);
	if (strcmp(message.body.welcome.build, build) != 0)
		return client_fail(c, err, GPU_PROTOCOL, "GPU service is of another build: %s, not %s",
						   message.body.welcome.build, build);
	c->service_pid = message.body.welcome.pid;
	c->costs = message.body.welcome.costs;
	return map_area(c, &message.body.welcome, err);
}

SortStatus
gpu_client_connect(const GpuClientOptions *options, GpuClient **client, GpuFailure *failure,
				   char *text, size_t size)
{
	return client_connect_over(options, -1, client, failure, text, size);
}

SortStatus
client_connect_over(const GpuClientOptions *options, int fd, GpuClient **client,
					GpuFailure *failure, char *text, size_t size)
{
	GpuClient  *c = calloc(1, sizeof(GpuClient));
	SortError	err;
	SortStatus	status;

	*client = NULL;
	if (c == NULL)
	{
		if (fd >= 0)
			close(fd);
		*failure = GPU_RESOURCES;
		snprintf(text, size, "out of memory");
		return SORT_DEVICE_UNAVAILABLE;
	}
	c->fd = fd;
	c->area_fd = -1;
	c->connecting = true;
	c->wait_timeout_ms = options->wait_timeout_ms;
	c->hooks = options->hooks;
	if (c->hooks.wait == NULL)
		c->hooks.wait = poll_wait;
	status = fd >= 0 ? SORT_OK : open_socket(c, options->socket_path, &err);
	if (status == SORT_OK)
		status = shake_hands(c, options->build ? options->build : gpu_build_id(),
							 deadline_after(options->connect_timeout_ms), &err);
	c->connecting = false;
	if (status != SORT_OK)
	{
		*failure = c->failure;
		snprintf(text, size, "%s", err.message);
		gpu_client_disconnect(c);
		return status;
	}
	*failure = GPU_OK;
	if (size > 0)
		text[0] = '\0';
	*client = c;
	return SORT_OK;
}

void
gpu_client_disconnect(GpuClient *c)
{
	if (c == NULL)
		return;
	hang_up(c);
	if (c->area_fd >= 0)
		close(c->area_fd);
	if (c->area)
		munmap(c->area, c->area_bytes);
	free(c->held);
	free(c->granted);
	free(c->populated);
	free(c);
}

bool
gpu_client_is_usable(GpuClient *c)
{
	SortError	err;
	GpuMessage	message;
	bool		got = true;

	/* Between jobs nothing is expected but the end of the connection. */
	while (c->fd >= 0 && got && !c->job_open)
		if (client_receive(c, false, &message, &got, &err) != SORT_OK)
			break;
	return c->fd >= 0;
}

const SortDeviceCosts *
gpu_client_costs(const GpuClient *c)
{
	return &c->costs;
}

/* A struct of doubles only (protocol.c asserts it), but no array: by its bytes. */
void
gpu_costs_weigh(SortDeviceCosts *costs, double factor)
{
	char	   *bytes = (char *) costs;
	size_t		at;

	for (at = 0; at < sizeof(*costs); at += sizeof(double))
	{
		double		ns;

		memcpy(&ns, bytes + at, sizeof(ns));
		ns *= factor;
		memcpy(bytes + at, &ns, sizeof(ns));
	}
}

int
gpu_client_service_pid(const GpuClient *c)
{
	return c->service_pid;
}

GpuFailure
gpu_client_failure(const GpuClient *c)
{
	return c->failure;
}

void
gpu_client_counters(const GpuClient *c, GpuClientCounters *counters)
{
	*counters = c->counters;
}

SortStatus
gpu_client_devices(GpuClient *c, GpuDeviceStatus *devices, int max, int *count, SortError *err)
{
	GpuMessage	message;
	SortStatus	status;
	uint32_t	expected = 0;

	*count = 0;
	gpu_message_init(&message, GPU_MSG_ASK_DEVICES, 0);
	status = client_send(c, &message, true, err);
	while (status == SORT_OK)
	{
		const GpuDevice *device = &message.body.device;
		bool		got;

		status = client_receive(c, true, &message, &got, err);
		if (status != SORT_OK)
			break;
		if (message.header.type != GPU_MSG_DEVICE)
		{
			/* A job's own messages must not get lost meanwhile. */
			status = client_job_message(c, &message, err);
			continue;
		}
		if (device->index != expected++)
			return client_fail(c, err, GPU_PROTOCOL,
							   "bad message from the GPU service: device out of turn");
		if (device->count > 0 && *count < max)
			devices[(*count)++] = device->status;
		if (device->count == 0 || expected == device->count)
			break;
	}
	return status;
}
