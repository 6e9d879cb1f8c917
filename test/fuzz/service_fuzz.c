/*
 * service_fuzz.c
 *		Fuzzes a whole connection of the service: its client is the input.
 *
 * A hello that is right, then whatever the fuzzer says, to a connection with
 * the stub of a GPU.  Chunks hold an extent, the list that names it, a layout, or a list of its rows, but for one
 * byte, which is the fuzzer's, too.  Afterwards every chunk must be free, no job
 * running, and all extents can be given up.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu/gpu_types.h"
#include "gpud/connection.h"
#include "gpud/log.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Service service;

static void
prepare(void)
{
	char		text[GPU_TEXT_SIZE];
	DeviceMemory memory = {.limit = 64 << 20,.extents = 1 << 16};

	log_level = LOG_ERROR;
	if (!service_init(&service) ||
		devices_open(&service.devices, "auto", &memory, text) != EXIT_ORDERLY ||
		!chunks_create(&service.chunks, 8 * 4096, 4096, text))
		abort();
}

/* Chunks 0, 4: for KEEP; 2, 6: for LAYOUT; 1, 3, 5, 7: for ADD_ROWS, and questions. */
static void
fill_chunks(const uint8_t *data, size_t size)
{
	const uint64_t stamps[3] = {0};
	const uint32_t counts[3] = {5, 0, 6};
	const int64_t values[11] = {7, 7, 8, 1, 2, 3, 9, 9, 9, -5, 100};
	const uint8_t nulls[11] = {0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0};
	ExtentRows	rows = {
		.nblocks = 3,.stamps = stamps,.counts = counts,.values = values,.nulls = nulls
	};
	SortRows	list = {.blocks = {5, 0}};
	RowsLayout	layout = {
		.ncolumns = 1,.nranges = 1,.filtered = 1,
		.columns[0] = {.lo = -5,.last = 105,.stride = 1,.null_adds = 106,.flags = 15,.nranges = 1}
	};
	const ValueRange range = {2, 9};
	const uint64_t generation = 1;
	GpuKept		kept = {.generation = 1};
	Extent		header;

	extent_plan(&rows, &header);
	kept.size = header.size;
	for (uint32_t chunk = 0; chunk < service.chunks.count; chunk++)
	{
		char	   *bytes = chunks_at(&service.chunks, chunk);

		if (chunk % 4 == 2)
		{
			memcpy(bytes, &layout, sizeof(layout));
			memcpy(bytes + sizeof(layout), &range, sizeof(range));
		}
		else if (chunk % 2 == 1)
		{
			memcpy(bytes, &list, sizeof(list));
			memcpy(bytes + sizeof(list), &generation, sizeof(generation));
		}
		else
		{
			memcpy(bytes, &kept, sizeof(kept));
			extent_write(&rows, &header, bytes + sizeof(kept));
		}
		if (size >= 2)
			bytes[data[size - 1]] ^= (char) data[size - 2];
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool prepared;
	GpuMessage	hello;
	char		answers[4096];
	uint64_t	used;
	uint64_t	peak;
	int			ends[2];

	if (!prepared)
		prepare();
	prepared = true;
	fill_chunks(data, size);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0 ||
		!connection_start(&service, ends[1]))
		abort();
	gpu_message_init(&hello, GPU_MSG_HELLO, 0);
	hello.body.hello.magic = GPU_MAGIC;
	hello.body.hello.version = GPU_PROTOCOL_VERSION;
	strcpy(hello.body.hello.build, gpu_build_id());
	hello.body.hello.epoch = 1;
	if (send(ends[0], &hello, gpu_message_size(&hello), MSG_NOSIGNAL) < 0 ||
		send(ends[0], data, size, MSG_NOSIGNAL) < 0)
		size = 0;
	shutdown(ends[0], SHUT_WR);
	while (recv(ends[0], answers, sizeof(answers), 0) > 0)
		;

	/*
	 * The thread ends by itself at the end of the input, and must: what it
	 * waits for then is the input's business, for which a client would hang up.
	 */
	if (!connections_end(&service, CONNECTION_GONE, 10000))
		abort();
	close(ends[0]);
	(void) extents_forget(&service.devices.list[0].extents, true);
	if (service.devices.list[0].extents.bytes != 0 || service.devices.list[0].extents.count != 0)
		abort();
	hpsort_cuda_memory(service.devices.list[0].cuda, &used, &peak, 0);
	if (service.chunks.nfree != service.chunks.count ||
		service.chunks.first != NULL || service.devices.jobs != 0 ||
		used != 0)
		abort();
	return 0;
}
