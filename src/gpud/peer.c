/*
 * peer.c
 *		Messages to and from the client at the other end of a connection (see
 *		peer.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "gpud/log.h"
#include "gpud/peer.h"
#include "sort/clock.h"

/* A message cannot be sent at once only if the peer does not read. */
#define SEND_TIMEOUT_MS 10000

/*
 * Sends all of the message, although the socket may take it in parts.  A peer that has not taken
 * it within SEND_TIMEOUT_MS is given up, and so is one whose connection is over for another
 * reason.
 */
bool
peer_send_with(Peer *peer, const GpuMessage *m, int fd)
{
	union
	{
		char		bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	}			control;
	struct iovec part = {.iov_base = (void *) m,.iov_len = gpu_message_size(m)};
	struct msghdr message = {.msg_iov = &part,.msg_iovlen = 1};
	int64_t		deadline = sort_clock_ms() + SEND_TIMEOUT_MS;

	/* The descriptor goes with the first of the bytes. */
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
		ssize_t		n = sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		{
			struct pollfd p = {.fd = peer->fd,.events = POLLOUT};
			int64_t		left = deadline - sort_clock_ms();

			if (atomic_load(&peer->over) != CONNECTION_ALIVE || left <= 0 ||
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
peer_send(Peer *peer, const GpuMessage *message)
{
	return peer_send_with(peer, message, -1);
}

bool
peer_refuse(Peer *peer, GpuFailure failure, const char *text)
{
	GpuMessage	message;

	log_line(LOG_WARNING, "connection %llu ends: %s", (unsigned long long) peer->id, text);
	gpu_message_init(&message, GPU_MSG_ERROR, 0);
	message.body.error.failure = failure;
	snprintf(message.body.error.text, GPU_TEXT_SIZE, "%s", text);
	(void) peer_send(peer, &message);
	return false;
}

bool
peer_bad_message(Peer *peer, const char *why)
{
	char		text[GPU_TEXT_SIZE];

	snprintf(text, sizeof(text), "bad message: %s", why);
	return peer_refuse(peer, GPU_PROTOCOL, text);
}

bool
peer_receive(Peer *peer)
{
	size_t		room;
	unsigned char *to = gpu_input_room(&peer->in, &room);
	ssize_t		n = recv(peer->fd, to, room, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
	peer->in.len += (size_t) n;
	return n > 0;
}

bool
peer_has_sent(const Peer *peer)
{
	struct pollfd p = {.fd = peer->fd,.events = POLLIN};

	return poll(&p, 1, 0) > 0;
}
