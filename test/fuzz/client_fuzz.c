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

#include "gpu/client.h"
#include "gpu/protocol.h"
#include "plain_allocator.h"
#include "sort/error.h"

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

/* The last chunk has answers to use_extents(), and the one before it to use_rows(). */
static int
make_area(void)
{
	struct
	{
		SortRows	rows;
		uint64_t	generation;
	}			rows[2] = {{{.rows = 5}, 1}, {{.rows = 5}, 2}},
				answers[2] = {{{.rows = 5,.nulls = 1}, 1}, {{.rows = 5,.nulls = 1}, 2}};
	int			fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, CHUNKS * CHUNK_BYTES) != 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
		pwrite(fd, rows, sizeof(rows), (CHUNKS - 2) * CHUNK_BYTES) != sizeof(rows) ||
		pwrite(fd, answers, sizeof(answers), (CHUNKS - 1) * CHUNK_BYTES) != sizeof(answers))
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
	message.body.welcome.extent_memory = 1 << 20;
	message.body.welcome.devices = 2;
	part.iov_len = gpu_message_size(&message);
	memset(&control, 0, sizeof(control));
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &area, sizeof(int));
	if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		abort();
}

/* Perhaps keeps an extent, which nobody looks at; asks for two; refuses what is too much for out. */
static SortStatus
use_extents(SortJob *job, bool keep, SortError *err)
{
	const uint64_t generations[2] = {1, 2};
	SortRows	extents[2] = {0};
	static char bytes[64];
	SortStatus	status = SORT_OK;

	if (keep)
		status = gpu_client_device.keep_extent(job, 1, bytes, sizeof(bytes), err);
	if (status == SORT_OK)
		status = gpu_client_device.add_rows(job, extents, generations, 2, err);
	if (status == SORT_OK && (extents[0].rows > UINT8_MAX || extents[1].rows > UINT8_MAX))
		status = sort_fail(err, SORT_DEVICE_UNAVAILABLE, "too many keys");
	return status;
}

/* Perhaps keeps an extent; adds rows of two extents, with a condition or not; and asks about the keys. */
static SortStatus
use_rows(SortJob *job, bool keep, bool filtered, SortError *err)
{
	static char bytes[64];
	const SortDevice *d = &gpu_client_device;
	const RowsLayout layout = {
		.ncolumns = 1,.nranges = filtered,.filtered = filtered,
		.columns[0] = {.last = 10,.stride = 1,.flags = ROWS_IN_KEY | (filtered ? ROWS_FILTERED : 0),.nranges = filtered}
	};
	const ValueRange range = {1, 5};
	const uint64_t generations[2] = {1, 2};
	const uint64_t positions[3] = {0};
	const int32_t others[3] = {1, 2, 3};
	SortRows	rows[2] = {0};
	int32_t		found[3];
	uint64_t	below[3];
	bool		begun;
	SortStatus	status = d->set_rows(job, &layout, &range, err);

	if (status == SORT_OK && keep)
		status = d->keep_extent(job, 1, bytes, sizeof(bytes), err);
	if (status == SORT_OK)
		status = d->add_rows(job, rows, generations, 2, err);
	if (status == SORT_OK)
		status = d->finish(job, err);
	if (status == SORT_OK && filtered)
		status = d->begin_look(job, SORT_LOOK_BELOW, others, 3, &begun, err);
	if (status == SORT_OK)
		status = d->look_up(job, SORT_LOOK_BELOW, others, 3, below, err);
	if (status == SORT_OK && job->keys > 0)
		status = d->look_up(job, SORT_LOOK_AT, positions, 3, found, err);
	if (status == SORT_OK)
		status = d->look_up(job, SORT_LOOK_DISTINCT, others, 1, below, err);
	if (status == SORT_OK)
		status = d->look_up(job, SORT_LOOK_SUM, positions, 3, below, err);
	return status;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int	area = -1;
	static int32_t keys[KEYS];
	GpuClientOptions options = {.epoch = 1,.hooks = {.wait = no_wait}};
	GpuClient  *client;
	SortGpu		gpu = {.device = &gpu_client_device};
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
	spec.look_up = spec.want == SORT_WANT_RUNS && (data[0] & (4 | 16 | 128)) == (4 | 16 | 128);
	spec.n = data[0] & 16 ? 0 : n;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
		return 0;
	send_welcome(ends[0], area);
	if (send(ends[0], data + 2, size - 2, MSG_NOSIGNAL) < 0)
		size = 2;
	shutdown(ends[0], SHUT_WR);
	options.socket = ends[1];
	if (gpu_client_connect(&options, &client, &failure, text, sizeof(text)) == SORT_OK)
	{
		gpu.arg = client;
		if (data[0] & 32)
			(void) gpu_client_devices(client, devices, 2, &count, &err);
		if (gpu_client_device.open(&context, &spec, &job, &err) == SORT_OK)
		{
			SortStatus	status = n == 0 ? SORT_OK : gpu_client_device.add(job, keys, n, &err);
			int32_t    *out = malloc((n + 2 * UINT8_MAX) * sizeof(int32_t) + 1);
			Runs		runs = {0};

			if (status == SORT_OK && spec.look_up)
				status = use_rows(job, data[0] & 64, again, &err);
			else if (status == SORT_OK && (data[0] & 128))
				status = use_extents(job, data[0] & 64, &err);
			if (status == SORT_OK && !spec.look_up)
				status = gpu_client_device.finish(job, &err);
			if (status == SORT_OK && spec.want == SORT_WANT_PERMUTATION)
				status = gpu_client_device.read_permutation(job, spec.descending, 1,
															(uint32_t *) out, &err);
			else if (status == SORT_OK && spec.want == SORT_WANT_KEYS)
				status = gpu_client_device.read_keys(job, data[0] & 64, out, &err);
			else if (status == SORT_OK)
				status = gpu_client_device.read_runs(job, &runs, &err);
			runs_release(&runs, &context.allocator);
			gpu_client_device.close(job);
			free(out);
		}
		gpu_client_disconnect(client);
	}
	close(ends[0]);
	return 0;
}
