/*
 * gpu_protocol_test.c
 *		Messages: every type, every wrong length, every wrong value.
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "gpu/protocol.h"

#define CHUNKS 8
#define CHUNK_BYTES UINT64_C(65536)

static const GpuMessageType client_types[] = {
	GPU_MSG_HELLO, GPU_MSG_OPEN, GPU_MSG_ADD, GPU_MSG_WANT, GPU_MSG_FINISH,
	GPU_MSG_RELEASE, GPU_MSG_CLOSE, GPU_MSG_ASK_DEVICES, GPU_MSG_KEEP, GPU_MSG_LAYOUT,
	GPU_MSG_ADD_ROWS, GPU_MSG_LOOK_AT, GPU_MSG_LOOK_BELOW, GPU_MSG_LOOK_DISTINCT, GPU_MSG_LOOK_SUM
};
static const GpuMessageType service_types[] = {
	GPU_MSG_WELCOME, GPU_MSG_GRANT, GPU_MSG_LENT, GPU_MSG_FINISHED, GPU_MSG_FULL,
	GPU_MSG_DEVICE, GPU_MSG_ERROR
};

static bool
of_connection(GpuMessageType type)
{
	return type == GPU_MSG_HELLO || type == GPU_MSG_WELCOME || type == GPU_MSG_ASK_DEVICES ||
		type == GPU_MSG_DEVICE;
}

/* A message of that type with nothing wrong. */
static void
good_message(GpuMessage *m, GpuMessageType type)
{
	gpu_message_init(m, type, of_connection(type) ? 0 : 5);
	switch (type)
	{
		case GPU_MSG_HELLO:
			m->body.hello.magic = GPU_MAGIC;
			m->body.hello.version = GPU_PROTOCOL_VERSION;
			strcpy(m->body.hello.build, gpu_build_id());
			break;
		case GPU_MSG_WANT:
			m->body.want.chunks = 1;
			break;
		case GPU_MSG_ADD:
		case GPU_MSG_LENT:
			m->body.chunk.chunk = CHUNKS - 1;
			m->body.chunk.count = CHUNK_BYTES / 4;
			break;
		case GPU_MSG_KEEP:
			m->body.chunk.chunk = CHUNKS - 1;
			m->body.chunk.count = CHUNK_BYTES / sizeof(GpuKept);
			break;
		case GPU_MSG_LAYOUT:
		case GPU_MSG_LOOK_DISTINCT:
			m->body.chunk.chunk = CHUNKS - 1;
			m->body.chunk.count = 1;
			break;
		case GPU_MSG_ADD_ROWS:
			m->body.chunk.chunk = CHUNKS - 1;
			m->body.chunk.count = gpu_chunk_rows(CHUNK_BYTES, 1);
			break;
		case GPU_MSG_LOOK_AT:
		case GPU_MSG_LOOK_BELOW:
		case GPU_MSG_LOOK_SUM:
			m->body.chunk.chunk = CHUNKS - 1;
			m->body.chunk.count = CHUNK_BYTES / 8;
			break;
		case GPU_MSG_WELCOME:
			m->body.welcome.magic = GPU_MAGIC;
			m->body.welcome.version = GPU_PROTOCOL_VERSION;
			strcpy(m->body.welcome.build, gpu_build_id());
			m->body.welcome.chunks = CHUNKS;
			m->body.welcome.chunk_bytes = CHUNK_BYTES;
			m->body.welcome.devices = 1;
			break;
		default:
			break;
	}
}

/* What a client, or a service, with so many chunks takes bytes for; *why as gpu_input_next's. */
static GpuParse
parse_with(uint32_t chunks, const void *bytes, size_t size, GpuSide side, GpuMessage *m,
		   const char **why)
{
	GpuInput	in = {0};
	GpuParse	parsed;

	memcpy(in.bytes, bytes, size);
	in.len = size;
	*why = NULL;
	parsed = gpu_input_next(&in, side, chunks, CHUNK_BYTES, m, why);
	assert_int_equal(parsed == GPU_PARSE_BAD, *why != NULL);
	if (parsed == GPU_PARSE_MESSAGE)
		assert_int_equal(in.at, gpu_message_size(m));
	return parsed;
}

static GpuParse
parse(const void *bytes, size_t size, GpuSide side, GpuMessage *m)
{
	const char *why;

	return parse_with(CHUNKS, bytes, size, side, m, &why);
}

/* Whether that side says messages of a type: of a wrong length, as no message is so long. */
static bool
is_type(uint32_t type, GpuSide side)
{
	const GpuHeader header = {.type = type,.length = UINT32_MAX,.job = 5};
	GpuMessage	m;
	const char *why;

	assert_int_equal(parse_with(CHUNKS, &header, sizeof(header), side, &m, &why), GPU_PARSE_BAD);
	return strcmp(why, "unknown type of message") != 0;
}

static void
check_type(GpuMessageType type, GpuSide side)
{
	GpuMessage	m;
	GpuMessage	got;
	size_t		size;

	good_message(&m, type);
	size = gpu_message_size(&m);
	assert_int_equal(parse(&m, size, side, &got), GPU_PARSE_MESSAGE);
	assert_memory_equal(&m, &got, size);

	/* every beginning of it */
	for (uint32_t length = 0; length < size; length++)
		assert_int_equal(parse(&m, length, side, &got), GPU_PARSE_MORE);

	/* every other length, as soon as the header is there */
	for (uint32_t length = 0; length < 2048; length++)
	{
		GpuMessage	wrong = m;

		wrong.header.length = length;
		if (length != m.header.length)
			assert_int_equal(parse(&wrong, sizeof(GpuHeader), side, &got), GPU_PARSE_BAD);
	}
	m.header.length = UINT32_MAX;
	assert_int_equal(parse(&m, sizeof(GpuHeader), side, &got), GPU_PARSE_BAD);

	/* the other side never says this */
	good_message(&m, type);
	assert_int_equal(parse(&m, size, side == GPU_FROM_CLIENT ? GPU_FROM_SERVICE : GPU_FROM_CLIENT,
						   &got), GPU_PARSE_BAD);

	/* job number where none belongs, or none where one does */
	good_message(&m, type);
	m.header.job = of_connection(type) ? 1 : 0;
	assert_int_equal(parse(&m, size, side, &got),
					 type == GPU_MSG_ERROR ? GPU_PARSE_MESSAGE : GPU_PARSE_BAD);
}

static void
test_types(void **state)
{
	GpuMessage	m;
	GpuMessage	got;

	(void) state;
	for (size_t i = 0; i < lengthof(client_types); i++)
		check_type(client_types[i], GPU_FROM_CLIENT);
	for (size_t i = 0; i < lengthof(service_types); i++)
		check_type(service_types[i], GPU_FROM_SERVICE);

	/* no other number is a type */
	for (uint32_t type = 0; type < 1000; type++)
	{
		bool		known = false;

		for (size_t i = 0; i < lengthof(client_types); i++)
			known |= client_types[i] == type;
		assert_int_equal(is_type(type, GPU_FROM_CLIENT), known);
		known = false;
		for (size_t i = 0; i < lengthof(service_types); i++)
			known |= service_types[i] == type;
		assert_int_equal(is_type(type, GPU_FROM_SERVICE), known);
	}
	memset(&m, 0xff, sizeof(m));
	assert_int_equal(parse(&m, sizeof(m), GPU_FROM_CLIENT, &got), GPU_PARSE_BAD);
	assert_int_equal(parse(&m, sizeof(m), GPU_FROM_SERVICE, &got), GPU_PARSE_BAD);
}

/* One wrong value in an otherwise good message. */
#define WRONG(type, side, change) \
	do { \
		GpuMessage	m, got; \
		good_message(&m, type); \
		change; \
		if (parse(&m, gpu_message_size(&m), side, &got) != GPU_PARSE_BAD) \
			fail_msg("accepted: %s", #change); \
	} while (0)
#define RIGHT(type, side, change) \
	do { \
		GpuMessage	m, got; \
		good_message(&m, type); \
		change; \
		if (parse(&m, gpu_message_size(&m), side, &got) != GPU_PARSE_MESSAGE) \
			fail_msg("refused: %s", #change); \
	} while (0)
#define FILL(text) memset(text, 'x', sizeof(text))

static void
test_client_values(void **state)
{
	(void) state;
	WRONG(GPU_MSG_HELLO, GPU_FROM_CLIENT, m.body.hello.magic++);
	RIGHT(GPU_MSG_HELLO, GPU_FROM_CLIENT, m.body.hello.version++);
	WRONG(GPU_MSG_HELLO, GPU_FROM_CLIENT, FILL(m.body.hello.build));
	WRONG(GPU_MSG_HELLO, GPU_FROM_CLIENT, strcpy(m.body.hello.build, "1.0\nready"));
	WRONG(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.lo = 1);
	RIGHT(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.n = UINT64_MAX);
	RIGHT(GPU_MSG_OPEN, GPU_FROM_CLIENT, (m.body.open.lo = INT32_MIN, m.body.open.hi = INT32_MAX));
	WRONG(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.want = SORT_WANT_PERMUTATION + 1);
	WRONG(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.descending = 2);
	RIGHT(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.floats = 1);
	WRONG(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.floats = 2);
	RIGHT(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.look_up = 1);
	WRONG(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.look_up = 2);
	WRONG(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.algorithm = SORT_ALGORITHM_COUNT);
	WRONG(GPU_MSG_WANT, GPU_FROM_CLIENT, m.body.want.chunks = 0);
	RIGHT(GPU_MSG_WANT, GPU_FROM_CLIENT, m.body.want.chunks = UINT32_MAX);
	WRONG(GPU_MSG_WANT, GPU_FROM_CLIENT, m.body.want.chunks = UINT64_C(1) << 32);
	RIGHT(GPU_MSG_HELLO, GPU_FROM_CLIENT, m.body.hello.epoch = UINT64_MAX);
	WRONG(GPU_MSG_KEEP, GPU_FROM_CLIENT, m.body.chunk.chunk = CHUNKS);
	WRONG(GPU_MSG_KEEP, GPU_FROM_CLIENT, m.body.chunk.count = 0);
	WRONG(GPU_MSG_KEEP, GPU_FROM_CLIENT, m.body.chunk.count = CHUNK_BYTES / sizeof(GpuKept) + 1);
	WRONG(GPU_MSG_LAYOUT, GPU_FROM_CLIENT, m.body.chunk.chunk = CHUNKS);
	WRONG(GPU_MSG_LAYOUT, GPU_FROM_CLIENT, m.body.chunk.count = 0);
	WRONG(GPU_MSG_LAYOUT, GPU_FROM_CLIENT, m.body.chunk.count = 2);
	WRONG(GPU_MSG_ADD_ROWS, GPU_FROM_CLIENT, m.body.chunk.chunk = UINT32_MAX);
	WRONG(GPU_MSG_ADD_ROWS, GPU_FROM_CLIENT, m.body.chunk.count = 0);
	WRONG(GPU_MSG_ADD_ROWS, GPU_FROM_CLIENT, m.body.chunk.count++);
	WRONG(GPU_MSG_LOOK_AT, GPU_FROM_CLIENT, m.body.chunk.chunk = CHUNKS);
	WRONG(GPU_MSG_LOOK_AT, GPU_FROM_CLIENT, m.body.chunk.count = 0);
	WRONG(GPU_MSG_LOOK_BELOW, GPU_FROM_CLIENT, m.body.chunk.count++);
	WRONG(GPU_MSG_LOOK_SUM, GPU_FROM_CLIENT, m.body.chunk.count++);
	WRONG(GPU_MSG_LOOK_DISTINCT, GPU_FROM_CLIENT, m.body.chunk.count = 2);
	WRONG(GPU_MSG_ADD, GPU_FROM_CLIENT, m.body.chunk.chunk = CHUNKS);
	WRONG(GPU_MSG_ADD, GPU_FROM_CLIENT, m.body.chunk.chunk = UINT32_MAX);
	WRONG(GPU_MSG_ADD, GPU_FROM_CLIENT, m.body.chunk.count = 0);
	WRONG(GPU_MSG_ADD, GPU_FROM_CLIENT, m.body.chunk.count = CHUNK_BYTES / 4 + 1);
	WRONG(GPU_MSG_ADD, GPU_FROM_CLIENT, m.body.chunk.count = UINT32_MAX);
	WRONG(GPU_MSG_RELEASE, GPU_FROM_CLIENT, m.body.chunk.chunk = CHUNKS);
	WRONG(GPU_MSG_RELEASE, GPU_FROM_CLIENT, m.body.chunk.count = 1);
}

static void
test_service_values(void **state)
{
	(void) state;
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.magic = 0);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, FILL(m.body.welcome.build));
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.chunks = 0);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.devices = 0);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.devices = GPU_DEVICES_MAX + 1);
	WRONG(GPU_MSG_OPEN, GPU_FROM_CLIENT, m.body.open.device = GPU_DEVICES_MAX + 1);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.chunks = GPU_CHUNKS_MAX + 1);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.chunk_bytes = 0);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.chunk_bytes = CHUNK_BYTES + 4);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.chunk_bytes = GPU_CHUNK_MAX * 2);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.costs.startup_ns = -1);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.costs.pair_log_ns = NAN);
	WRONG(GPU_MSG_WELCOME, GPU_FROM_SERVICE, m.body.welcome.costs.counting_ns[3] = INFINITY);
	/* another version's welcome is for the client to refuse by name */
	RIGHT(GPU_MSG_WELCOME, GPU_FROM_SERVICE,
		  (m.body.welcome.version++, m.body.welcome.chunks = 0));
	WRONG(GPU_MSG_GRANT, GPU_FROM_SERVICE, m.body.chunk.chunk = CHUNKS);
	WRONG(GPU_MSG_GRANT, GPU_FROM_SERVICE, m.body.chunk.count = 1);
	WRONG(GPU_MSG_FINISHED, GPU_FROM_SERVICE, m.body.finished.algorithm = SORT_ALGORITHM_COUNT);
	RIGHT(GPU_MSG_FINISHED, GPU_FROM_SERVICE, m.body.finished.form = SORT_WANT_PERMUTATION);
	WRONG(GPU_MSG_FINISHED, GPU_FROM_SERVICE, m.body.finished.form = SORT_WANT_PERMUTATION + 1);
	WRONG(GPU_MSG_FINISHED, GPU_FROM_SERVICE, FILL(m.body.finished.reason));
	WRONG(GPU_MSG_LENT, GPU_FROM_SERVICE, m.body.chunk.chunk = CHUNKS);
	WRONG(GPU_MSG_LENT, GPU_FROM_SERVICE, m.body.chunk.count = 0);
	WRONG(GPU_MSG_LENT, GPU_FROM_SERVICE, m.body.chunk.count = CHUNK_BYTES / 4 + 1);
	WRONG(GPU_MSG_DEVICE, GPU_FROM_SERVICE, m.body.device.index = 1);
	WRONG(GPU_MSG_DEVICE, GPU_FROM_SERVICE,
		  (m.body.device.count = 2, m.body.device.index = 2));
	WRONG(GPU_MSG_DEVICE, GPU_FROM_SERVICE,
		  (m.body.device.count = 1, FILL(m.body.device.status.name)));
	WRONG(GPU_MSG_DEVICE, GPU_FROM_SERVICE,
		  (m.body.device.count = 1, FILL(m.body.device.status.state)));
	WRONG(GPU_MSG_DEVICE, GPU_FROM_SERVICE,
		  (m.body.device.count = 1, FILL(m.body.device.status.last_error)));
	WRONG(GPU_MSG_DEVICE, GPU_FROM_SERVICE,
		  (m.body.device.count = 1, m.body.device.status.ordinal = -1));
	WRONG(GPU_MSG_ERROR, GPU_FROM_SERVICE, m.body.error.failure = GPU_FAILURES);
	WRONG(GPU_MSG_ERROR, GPU_FROM_SERVICE, FILL(m.body.error.text));
}

/* Before the welcome there are no chunks, so nothing may name one. */
static void
test_no_chunks(void **state)
{
	static const GpuMessageType types[] = {
		GPU_MSG_ADD, GPU_MSG_KEEP, GPU_MSG_ADD_ROWS, GPU_MSG_LOOK_AT, GPU_MSG_GRANT, GPU_MSG_LENT
	};

	(void) state;
	for (size_t i = 0; i < lengthof(types); i++)
	{
		GpuMessage	m;
		GpuMessage	got;
		const char *why;

		good_message(&m, types[i]);
		assert_int_equal(parse_with(0, &m, gpu_message_size(&m),
									types[i] < GPU_MSG_WELCOME ? GPU_FROM_CLIENT : GPU_FROM_SERVICE,
									&got, &why), GPU_PARSE_BAD);
		assert_string_equal(why, "no such chunk");
	}
}

/* A stream of messages, received in pieces of any size. */
static void
test_stream(void **state)
{
	static unsigned char stream[1 << 16];
	GpuMessageType types[200];
	size_t		len = 0;
	size_t		at = 0;
	size_t		taken = 0;
	GpuInput	in = {0};

	(void) state;
	for (size_t i = 0; i < lengthof(types); i++)
	{
		GpuMessage	m;

		types[i] = client_types[unit_below(lengthof(client_types))];
		good_message(&m, types[i]);
		memcpy(stream + len, &m, gpu_message_size(&m));
		len += gpu_message_size(&m);
	}
	while (taken < lengthof(types))
	{
		GpuMessage	m;
		const char *why;
		GpuParse	parsed = gpu_input_next(&in, GPU_FROM_CLIENT, CHUNKS, CHUNK_BYTES, &m, &why);

		assert_int_not_equal(parsed, GPU_PARSE_BAD);
		if (parsed == GPU_PARSE_MESSAGE)
			assert_int_equal(m.header.type, types[taken++]);
		else
		{
			size_t		room;
			unsigned char *to = gpu_input_room(&in, &room);
			size_t		part = 1 + unit_below(unit_below(2) ? 7 : 3000);

			assert_true(room > 0);
			assert_true(at < len);
			part = part < room ? part : room;
			part = part < len - at ? part : len - at;
			memcpy(to, stream + at, part);
			in.len += part;
			at += part;
		}
	}
	assert_int_equal(at, len);
	assert_int_equal(in.at, in.len);
}

static void
test_build(void **state)
{
	(void) state;
	assert_true(strlen(gpu_build_id()) > 0);
	assert_true(strlen(gpu_build_id()) < GPU_BUILD_SIZE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_client_values),
		cmocka_unit_test(test_service_values),
		cmocka_unit_test(test_no_chunks),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_build),
	};

	unit_seed("gpu_protocol_test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
