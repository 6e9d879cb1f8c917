/*
 * client_connection.c
 *		The client's connection: messages over it, connecting, and what can be asked of it (see
 *		client.h and client_connection.h).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpu/client_connection.h"
#include "gpu/poll.h"
#include "gpu/protocol.h"
#include "sort/clock.h"
#include "sort/error.h"

/* The moment that is timeout_ms from now, by sort_clock_ms(); -1, no limit, for 0. */
static int64_t
deadline_after(int timeout_ms)
{
	return timeout_ms > 0 ? sort_clock_ms() + timeout_ms : -1;
}

int
gpu_client_poll(void *arg, int fd, int events, int timeout_ms)
{
	struct pollfd p = {.fd = fd,.events = (short) events};
	int			rc;

	(void) arg;
	rc = gpu_poll(&p, 1, timeout_ms);
	if (rc < 0)
		return errno == EINTR ? 0 : -1;

	/* An error or a hang-up makes the call after the wait fail. */
	return rc == 0 ? 0 : p.revents & events ? p.revents & events : events;
}

void
client_drop_chunks(GpuClient *c)
{
	if (c->area.held)
		memset(c->area.held, CHUNK_NOT_HELD, c->area.chunks);
	c->area.ngranted = 0;
}

/*
 * Closes the connection, if it is open, and forgets what was to be sent or handled.  The chunks
 * that it held are the service's again.  The client's memory stays until gpu_client_disconnect.
 */
static void
client_hang_up(GpuClient *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->in.at = c->in.len = 0;
	c->out_len = 0;
	client_drop_chunks(c);
}

void
client_report_failure(GpuClient *c, GpuFailure failure, const char *text)
{
	if (c->hooks.failed && !c->connecting)
		c->hooks.failed(c->hooks.arg, failure, text);
}

SortStatus
client_refuse(GpuClient *c, SortError *err, GpuFailure failure, const char *text)
{
	c->failure = failure;
	client_report_failure(c, failure, text);
	return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "%s", text);
}

SortStatus
client_no_memory(GpuClient *c, SortError *err)
{
	sort_no_memory(err);
	client_report_failure(c, GPU_RESOURCES, err->message);
	return err->status;
}

/* Fails with a phrase, format as printf: SORT_DEVICE_UNAVAILABLE. */
static SortStatus
__attribute__((format(printf, 4, 5)))
client_fail(GpuClient *c, SortError *err, GpuFailure failure, const char *format,...)
{
	char		text[sizeof(err->message)];
	va_list		args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	client_hang_up(c);
	return client_refuse(c, err, failure, text);
}

SortStatus
client_cancelled(GpuClient *c, SortError *err)
{
	client_hang_up(c);
	return sort_cancelled(err);
}

/* Fails because the socket has; error is errno, or 0 for its end.  Closes the connection. */
static SortStatus
client_lost(GpuClient *c, SortError *err, int error)
{
	if (error == 0 || error == EPIPE || error == ECONNRESET)
		return client_fail(c, err, GPU_LOST, "GPU service closed the connection");
	return client_fail(c, err, GPU_LOST, "lost the connection to the GPU service: %s",
					   strerror(error));
}

/*
 * Waits until some of events (POLLIN | POLLOUT) are ready, and sets *ready to them.  Fails when
 * the caller wants to stop, and when deadline (by sort_clock_ms(), -1: none) is over.  The hook
 * may return earlier than its timeout says: then the wait goes on.
 */
static SortStatus
wait_ready(GpuClient *c, int events, int64_t deadline, int *ready, SortError *err)
{
	for (;;)
	{
		int			timeout = -1;

		if (deadline >= 0)
		{
			int64_t		left = deadline - sort_clock_ms();

			timeout = left > 0 ? (int) left : 0;
		}
		*ready = c->hooks.wait(c->hooks.arg, c->fd, events, timeout);
		if (*ready < 0)
			return client_cancelled(c, err);
		if (*ready != 0)
			return SORT_OK;
		if (deadline >= 0 && sort_clock_ms() >= deadline)
			return client_fail(c, err, GPU_TIMEOUT, "GPU service did not answer in time");
	}
}

/*
 * Returns the descriptor that came with a message, which is now the caller's, or -1 if none did.
 * The control buffer may have room for a second descriptor, by its alignment: of several only the
 * last is kept.
 */
static int
passed_descriptor(struct msghdr *message)
{
	struct cmsghdr *control;
	int			fd = -1;

	for (control = CMSG_FIRSTHDR(message); control; control = CMSG_NXTHDR(message, control))
	{
		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (control->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
		{
			if (fd >= 0)
				close(fd);
			memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
		}
	}
	return fd;
}

/*
 * Receives what has arrived, without waiting, and sets *got to whether bytes have.  While
 * connecting, a descriptor that comes with the bytes becomes area_fd.  Fails if the service has
 * hung up, or if the socket fails.
 */
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

	/* After the welcome there is no room for descriptors: the kernel closes any that comes. */
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

/*
 * Sends what is queued as far as the socket takes it without waiting.  Where the service has hung
 * up, what is queued is dropped, and no failure: next_message finds the end.
 */
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
			 * The service is gone, but its last message may still be here: receiving finds that
			 * message, or the end.
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
 * Sends all that is queued, and waits for the socket until deadline (-1: no limit).  Receives
 * meanwhile: a service that cannot get rid of its messages reads none.
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
client_send(GpuClient *c, const GpuMessage *message, SortError *err)
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
	return try_send(c, err);
}

/*
 * Takes the next message of any job, checked by itself.  Sends what is queued first.  With wait,
 * waits until deadline (-1: no limit); without, the type of *message is 0 where no whole message
 * has come.
 */
static SortStatus
next_message(GpuClient *c, bool wait, int64_t deadline, GpuMessage *message, SortError *err)
{
	if (c->fd < 0)
		return client_lost(c, err, 0);
	for (;;)
	{
		const char *why;
		SortStatus	status;
		bool		more;
		int			ready;

		switch (gpu_input_next(&c->in, GPU_FROM_SERVICE, c->area.chunks, c->area.chunk_bytes,
							   message, &why))
		{
			case GPU_PARSE_MESSAGE:
				return SORT_OK;
			case GPU_PARSE_BAD:
				return client_violation(c, err, why);
			case GPU_PARSE_MORE:
				break;
		}
		status = wait ? send_all(c, deadline, err) : try_send(c, err);
		if (status == SORT_OK)
			status = receive(c, &more, err);
		if (status == SORT_OK && !more)
		{
			message->header.type = 0;
			if (!wait)
				return SORT_OK;
			status = wait_ready(c, POLLIN, deadline, &ready, err);
		}
		if (status != SORT_OK)
			return status;
	}
}

/*
 * Fails for the reason that an ERROR without a job's number gives; the connection is closed.
 * GPU_OK stands for a key out of bounds, which only a job can have: here it counts as a broken
 * protocol.
 */
static SortStatus
take_error(GpuClient *c, const GpuMessage *message, SortError *err)
{
	GpuFailure	failure = (GpuFailure) message->body.error.failure;

	return client_fail(c, err, failure == GPU_OK ? GPU_PROTOCOL : failure, "%s",
					   message->body.error.text);
}

SortStatus
client_receive(GpuClient *c, bool wait, GpuMessage *message, SortError *err)
{
	int64_t		deadline = deadline_after(c->wait_timeout_ms);

	for (;;)
	{
		SortStatus	status = next_message(c, wait, deadline, message, err);

		if (status != SORT_OK || message->header.type == 0)
			return status;
		if (message->header.type == GPU_MSG_ERROR && message->header.job == 0)
			return take_error(c, message, err);
		if (message->header.type == GPU_MSG_WELCOME)
			return client_violation(c, err, "second welcome");
		if (message->header.job > c->job_number)
			return client_violation(c, err, "unknown job");

		/* A message for a job that was closed: it has crossed the CLOSE on the way. */
		if (message->header.job != 0 &&
			(message->header.job < c->job_number || c->job == NULL))
			continue;
		return SORT_OK;
	}
}

SortStatus
client_violation(GpuClient *c, SortError *err, const char *what)
{
	return client_fail(c, err, GPU_PROTOCOL, "bad message from the GPU service: %s", what);
}

SortStatus
client_release_chunk(GpuClient *c, uint32_t chunk, SortError *err)
{
	GpuMessage	message;

	c->area.held[chunk] = CHUNK_NOT_HELD;
	gpu_message_init(&message, GPU_MSG_RELEASE, c->job_number);
	message.body.chunk.chunk = chunk;
	return client_send(c, &message, err);
}

void
client_populate(GpuClient *c, uint32_t chunk)
{
	if (c->area.populated[chunk])
		return;
	c->area.populated[chunk] = 1;
#ifdef MADV_POPULATE_WRITE
	(void) madvise(client_chunk_memory(c, chunk), c->area.chunk_bytes, MADV_POPULATE_WRITE);
#endif
}

/* ------------------------------------------------------------------------
 * Connecting
 * ------------------------------------------------------------------------
 */

/*
 * Connects to the service's socket at path, and checks that the process which listens there is of
 * this process's user.  Does not wait: a service with a full queue of connections is a failure.
 * Closes the socket on failure.
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
		/* That no service runs is the usual case, and no fault. */
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

/*
 * Maps the chunks, whose descriptor came with the welcome, and makes the tables of them.  Fails if
 * the memory is smaller than the welcome says, or could shrink.  What was made before a failure is
 * freed by gpu_client_disconnect.
 */
static SortStatus
map_area(GpuClient *c, const GpuWelcome *welcome, SortError *err)
{
	uint64_t	size = welcome->chunks * welcome->chunk_bytes;
	struct stat st;
	int			seals;
	SharedArea *area = &c->area;
	void	   *memory;

	if (c->area_fd < 0)
		return client_fail(c, err, GPU_PROTOCOL, "GPU service sent no shared memory");

	/* Only of a sealed area no page can be taken away, which would be a SIGBUS here. */
	seals = fcntl(c->area_fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(c->area_fd, &st) != 0 ||
		(uint64_t) st.st_size < size)
		return client_fail(c, err, GPU_PROTOCOL,
						   "shared memory of the GPU service is not as promised");
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->area_fd, 0);
	if (memory == MAP_FAILED)
		return client_fail(c, err, GPU_RESOURCES, "could not map the GPU service's memory: %s",
						   strerror(errno));
	area->memory = memory;
	area->bytes = size;
	close(c->area_fd);
	c->area_fd = -1;

	/* Small tables, one entry a chunk. */
	area->held = calloc(welcome->chunks, sizeof(*area->held));
	area->granted = calloc(welcome->chunks, sizeof(*area->granted));
	area->populated = calloc(welcome->chunks, sizeof(*area->populated));
	if (area->held == NULL || area->granted == NULL || area->populated == NULL)
		return client_fail(c, err, GPU_RESOURCES, "out of memory");
	area->chunks = welcome->chunks;
	area->chunk_bytes = welcome->chunk_bytes;
	return SORT_OK;
}

/*
 * Sends HELLO with epoch, and waits for the WELCOME until deadline (-1: no limit).  Takes over
 * pid, costs and chunks if the service has this program's protocol and build; else fails, because
 * structs may differ.
 */
static SortStatus
shake_hands(GpuClient *c, uint64_t epoch, int64_t deadline, SortError *err)
{
	GpuMessage	message;
	SortStatus	status;

	gpu_message_init(&message, GPU_MSG_HELLO, 0);
	message.body.hello.magic = GPU_MAGIC;
	message.body.hello.version = GPU_PROTOCOL_VERSION;
	snprintf(message.body.hello.build, GPU_BUILD_SIZE, "%s", gpu_build_id());
	message.body.hello.epoch = epoch;
	status = client_send(c, &message, err);
	if (status == SORT_OK)
		status = next_message(c, true, deadline, &message, err);
	if (status != SORT_OK)
		return status;
	if (message.header.type == GPU_MSG_ERROR)
		return take_error(c, &message, err);
	if (message.header.type != GPU_MSG_WELCOME)
		return client_violation(c, err, "no welcome");
	if (message.body.welcome.version != GPU_PROTOCOL_VERSION)
		return client_fail(c, err, GPU_PROTOCOL, "GPU service speaks protocol %u, not %u",
						   message.body.welcome.version, GPU_PROTOCOL_VERSION);
	if (strcmp(message.body.welcome.build, gpu_build_id()) != 0)
		return client_fail(c, err, GPU_PROTOCOL, "GPU service is of another build: %s, not %s",
						   message.body.welcome.build, gpu_build_id());
	c->service_pid = message.body.welcome.pid;
	c->costs = message.body.welcome.costs;
	c->keeps_extents = epoch != 0 && message.body.welcome.extent_memory > 0;
	c->devices = (uint32_t) message.body.welcome.devices;
	return map_area(c, &message.body.welcome, err);
}

SortStatus
gpu_client_connect(const GpuClientOptions *options, GpuClient **client, GpuFailure *failure,
				   char *text, size_t size)
{
	const int	fd = options->socket_path ? -1 : options->socket;
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
		c->hooks.wait = gpu_client_poll;
	status = fd >= 0 ? SORT_OK : open_socket(c, options->socket_path, &err);
	if (status == SORT_OK)
		status = shake_hands(c, options->epoch, deadline_after(options->connect_timeout_ms), &err);
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
	client_hang_up(c);
	if (c->area_fd >= 0)
		close(c->area_fd);
	if (c->area.memory)
		munmap(c->area.memory, c->area.bytes);
	free(c->area.held);
	free(c->area.granted);
	free(c->area.populated);
	free(c);
}

bool
gpu_client_is_usable(GpuClient *c)
{
	SortError	err;
	GpuMessage	message;

	/* Between jobs only the end of the connection can come. */
	while (c->fd >= 0 && c->job == NULL)
		if (client_receive(c, false, &message, &err) != SORT_OK || message.header.type == 0)
			break;
	return c->fd >= 0;
}

const SortDeviceCosts *
gpu_client_costs(const GpuClient *c)
{
	return &c->costs;
}

uint32_t
gpu_client_extent_devices(const GpuClient *c)
{
	return c->keeps_extents ? c->devices : 0;
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
