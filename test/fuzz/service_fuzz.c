/*
 * service_fuzz.c
 *		Fuzzes a whole connection of the service: its client is the input.
 *
 * A hello that is right, then whatever the fuzzer says, to a connection with
 * the CPU device.  Afterwards every chunk must be free and no job running.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu/exit_codes.h"
#include "gpud/connection.h"
#include "gpud/log.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Service service;

static void
prepare(void)
{
	char		text[GPU_TEXT_SIZE];

	log_level = LOG_ERROR;
	if (!service_init(&service) ||
		devices_open(&service.devices, "cpu", 64 << 20, text) != EXIT_ORDERLY ||
		!chunks_create(&service.chunks, 8 * 4096, 4096, text))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool prepared;
	GpuMessage	hello;
	char		answers[4096];
	int			ends[2];

	if (!prepared)
		prepare();
	prepared = true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0 ||
		!connection_start(&service, ends[1]))
		abort();
	gpu_message_init(&hello, GPU_MSG_HELLO, 0);
	hello.body.hello.magic = GPU_MAGIC;
	hello.body.hello.version = GPU_PROTOCOL_VERSION;
	strcpy(hello.body.hello.build, gpu_build_id());
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
	if (service.chunks.nfree != service.chunks.count || service.chunks.active != 0 ||
		service.chunks.first != NULL || service.devices.jobs != 0 ||
		service.devices.list[0].engine->memory_used(service.devices.list[0].handle) != 0)
		abort();
	return 0;
}
