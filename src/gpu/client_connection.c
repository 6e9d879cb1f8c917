/*
 * client_connection.c
 *		Messages over the client's connection (see client_connection.h).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu/client_connection.h"
#include "gpu/clock.h"
#include "sort/error.h"

int64_t
client_deadline(int timeout_ms)
{
	return timeout_ms > 0 ? gpu_clock_ms() + timeout_ms : -1;
}

int
client_poll(void *arg, int fd, int events, int timeout_ms)
{
	struct pollfd p = {.fd = fd,.events = (short) events};
	int			rc;

	(void) arg;
	rc = poll(&p, 1, timeout_ms);
	if (rc < 0)
		return errno == EINTR ? 0 : -1;

	/* An error or a hang-up makes the call after the wait fail. */
	return rc == 0 ? 0 : p.revents & events ? p.revents & events : events;
}

void
client_drop_chunks(GpuClient *c)
{
	if (c->held)
		memset(c->held, CHUNK_NOT_HELD, c->chunks);
	c->ngranted = 0;
}

void
client_hang_up(GpuClient *c)
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
	client_hang_up(c);
	return sort_fail(err, SORT_DEVICE_UNAVAILABLE, "%s", text);
}

SortStatus
client_cancelled(GpuClient *c, SortError *err)
{
	client_hang_up(c);
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

/* Waits until one of events is ready, which *ready tells, or deadline (-1: none). */
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
 * The descriptor that came with a message, or -1.  The buffer may have room for a
 * second one, by its alignment: of several descriptors only the last is kept.
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

	/* Later the kernel finds no room for descriptors, and closes them. */
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
 * Sends all that is queued.  Receives meanwhile: a service that cannot get rid of
 * its messages reads none.
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
		SortStatus	status = send_all(c, client_deadline(c->wait_timeout_ms), err);

		if (status != SORT_OK)
			return status;
	}
	memcpy(c->out + c->out_len, message, size);
	c->out_len += size;
	return try_send(c, err);
}

SortStatus
client_next_message(GpuClient *c, bool wait, int64_t deadline, GpuMessage *message, bool *got,
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
				return client_fail(c, err, GPU_PROTOCOL, "bad message from the GPU service: %s",
								   why);
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

SortStatus
client_take_error(GpuClient *c, const GpuMessage *message, SortError *err)
{
	GpuFailure	failure = (GpuFailure) message->body.error.failure;

	return client_fail(c, err, failure == GPU_OK ? GPU_PROTOCOL : failure, "%s",
					   message->body.error.text);
}

SortStatus
client_receive(GpuClient *c, bool wait, GpuMessage *message, bool *got, SortError *err)
{
	int64_t		deadline = client_deadline(c->wait_timeout_ms);

	for (;;)
	{
		SortStatus	status = client_next_message(c, wait, deadline, message, got, err);

		if (status != SORT_OK || !*got)
			return status;
		if (message->header.type == GPU_MSG_ERROR && message->header.job == 0)
			return client_take_error(c, message, err);
		if (message->header.type == GPU_MSG_WELCOME)
			return client_fail(c, err, GPU_PROTOCOL,
							   "bad message from the GPU service: second welcome");
		if (message->header.job > c->job_number)
			return client_fail(c, err, GPU_PROTOCOL,
							   "bad message from the GPU service: unknown job");

		/* A message for a job that was closed: it has crossed the CLOSE on the way. */
		if (message->header.job != 0 &&
			(message->header.job < c->job_number || !c->job_open))
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

	c->held[chunk] = CHUNK_NOT_HELD;
	gpu_message_init(&message, GPU_MSG_RELEASE, c->job_number);
	message.body.chunk.chunk = chunk;
	return client_send(c, &message, err);
}

void
client_populate(GpuClient *c, uint32_t chunk)
{
	if (c->populated[chunk])
		return;
	c->populated[chunk] = 1;
#ifdef MADV_POPULATE_WRITE
	(void) madvise(client_chunk_memory(c, chunk), c->chunk_bytes, MADV_POPULATE_WRITE);
#endif
}
