/*
 * client.c
 *		Connecting to the GPU service, and what can be asked of a connection (see
 *		client.h).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpu/client.h"
#include "gpu/client_connection.h"
#include "gpu/protocol.h"

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

static SortStatus
map_area(GpuClient *c, const GpuWelcome *welcome, SortError *err)
{
	uint64_t	size = welcome->chunks * welcome->chunk_bytes;
	struct stat st;
	int			seals;
	void	   *area;

	if (c->area_fd < 0)
		return client_fail(c, err, GPU_PROTOCOL, "GPU service sent no shared memory");

	/* Only of a sealed area no page can be taken away while it is mapped. */
	seals = fcntl(c->area_fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(c->area_fd, &st) != 0 ||
		(uint64_t) st.st_size < size)
		return client_fail(c, err, GPU_PROTOCOL,
						   "shared memory of the GPU service is not as promised");
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
shake_hands(GpuClient *c, const char *build, uint64_t epoch, int64_t deadline, SortError *err)
{
	GpuMessage	message;
	SortStatus	status;
	bool		got;

	gpu_message_init(&message, GPU_MSG_HELLO, 0);
	message.body.hello.magic = GPU_MAGIC;
	message.body.hello.version = GPU_PROTOCOL_VERSION;
	snprintf(message.body.hello.build, GPU_BUILD_SIZE, "%s", build);
	message.body.hello.epoch = epoch;
	status = client_send(c, &message, err);
	if (status == SORT_OK)
		status = client_next_message(c, true, deadline, &message, &got, err);
	if (status != SORT_OK)
		return status;
	if (message.header.type == GPU_MSG_ERROR)
		return client_take_error(c, &message, err);
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
	c->keeps_extents = epoch != 0 && message.body.welcome.extent_memory > 0;
	return map_area(c, &message.body.welcome, err);
}

SortStatus
gpu_client_connect(const GpuClientOptions *options, GpuClient **client, GpuFailure *failure,
				   char *text, size_t size)
{
	return gpu_client_connect_over(options, -1, client, failure, text, size);
}

SortStatus
gpu_client_connect_over(const GpuClientOptions *options, int fd, GpuClient **client,
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
		c->hooks.wait = client_poll;
	status = fd >= 0 ? SORT_OK : open_socket(c, options->socket_path, &err);
	if (status == SORT_OK)
		status = shake_hands(c, options->build ? options->build : gpu_build_id(),
							 options->epoch, client_deadline(options->connect_timeout_ms), &err);
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

	/* Between jobs only the end of the connection can come. */
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
