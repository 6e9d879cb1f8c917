/*
 * client_fuzz.c
 *		Fuzzes the client: its service is the input.
 *
 * A welcome that is right, then whatever the fuzzer says, while the client
 * sorts keys and reads keys, runs or rows.  It may fail in any way by value; it
 * may not touch memory that is not its own, or wait for more than there is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu/client_device.h"
#include "gpu/client_status.h"
#include "gpu/protocol.h"
#include "plain_allocator.h"

#define CHUNKS 4
#define CHUNK_BYTES 4096
#define KEYS 1500

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing more will come: whoever waits is interrupted. */
static int
no_wait(void *arg, int fd, int events, int timeout_ms)
{
	(void) arg;
	(void) fd;
	(void) events;
	(void) timeout_ms;
	return -1;
}

static int
make_area(void)
{
	int			fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, CHUNKS * CHUNK_BYTES) != 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		abort();
	return fd;
}

static void
send_welcome(int fd, int area)
{
	GpuMessage	message;
	union
	{
		char		bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	}			control;
	struct iovec part = {.iov_base = &message};
	struct msghdr m = {.msg_iov = &part,.msg_iovlen = 1,.msg_control = &control,
	.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&m);

	gpu_message_init(&message, GPU_MSG_WELCOME, 0);
	message.body.welcome.magic = GPU_MAGIC;
	message.body.welcome.version = GPU_PROTOCOL_VERSION;
	strcpy(message.body.welcome.build, gpu_build_id());
	message.body.welcome.chunks = CHUNKS;
	message.body.welcome.chunk_bytes = CHUNK_BYTES;
	part.iov_len = gpu_message_size(&message);
	memset(&control, 0, sizeof(control));
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &area, sizeof(int));
	if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int	area = -1;
	static int32_t keys[KEYS];
	GpuClientOptions options = {.hooks = {.wait = no_wait}};
	GpuClientRef ref = {0};
	SortGpu		gpu = {.device = &gpu_client_device,.arg = &ref};
	SortContext context = {
		.allocator = PLAIN_ALLOCATOR,
		.threads = 1,
		.gpu = &gpu,
	};
	SortJobSpec spec = {.lo = INT32_MIN,.hi = INT32_MAX};
	GpuDeviceStatus devices[2];
	int			count;
	GpuFailure	failure;
	char		text[200];
	int			ends[2];
	SortError	err;
	SortJob    *job;
	size_t		n;
	bool		again;

	if (size < 2)
		return 0;
	if (area < 0)
		area = make_area();
	spec.want = (SortWant) (data[0] % 3);
	spec.descending = data[0] & 4;
	again = data[0] & 8;
	n = data[1] * 6;
	spec.n = data[0] & 16 ? 0 : n;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
		return 0;
	send_welcome(ends[0], area);
	if (send(ends[0], data + 2, size - 2, MSG_NOSIGNAL) < 0)
		size = 2;
	shutdown(ends[0], SHUT_WR);
	if (gpu_client_connect_over(&options, ends[1], &ref.client, &failure, text, sizeof(text)) == SORT_OK)
	{
		if (data[0] & 32)
			(void) gpu_client_devices(ref.client, devices, 2, &count, &err);
		if (gpu_client_device.open(&context, &spec, &job, &err) == SORT_OK)
		{
			SortStatus	status = gpu_client_device.add(job, keys, n, &err);
			int32_t    *out = malloc(n * sizeof(int32_t) + 1);
			Runs		runs = {0};

			if (status == SORT_OK)
				status = gpu_client_device.finish(job, &err);
			if (status == SORT_OK && spec.want == SORT_WANT_PERMUTATION)
				status = gpu_client_device.read_permutation(job, spec.descending, 1,
															(uint32_t *) out, &err);
			else if (status == SORT_OK && spec.want == SORT_WANT_KEYS)
				status = gpu_client_device.read_keys(job, data[0] & 64, out, &err);
			if (status == SORT_OK && spec.want != SORT_WANT_PERMUTATION &&
				(again || spec.want == SORT_WANT_RUNS))
				status = gpu_client_device.read_runs(job, &runs, &err);
			runs_release(&runs, &context.allocator);
			gpu_client_device.close(job);
			free(out);
		}
		gpu_client_disconnect(ref.client);
	}
	close(ends[0]);
	return 0;
}
