/*
 * seeds.c
 *		Writes the seeds of the fuzzers that speak the GPU service's protocol.
 *
 * Run by "make fuzz-seeds" whenever the protocol's version is raised: messages
 * are made by the protocol's own code and checked by it, so that a seed cannot
 * be of another version.  One argument: the corpus directory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/protocol.h"

#define CHUNKS 4
#define CHUNK_BYTES 4096

static const char *corpus;
static unsigned char seed[4096];
static size_t used;

/* Adds a message, which must be one that its side may send. */
static void
say(const GpuMessage *m)
{
	GpuSide		side = m->header.type < GPU_MSG_WELCOME ? GPU_FROM_CLIENT : GPU_FROM_SERVICE;
	size_t		size = gpu_message_size(m);
	GpuInput	in = {.len = size};
	GpuMessage	taken;
	const char *why = NULL;

	memcpy(in.bytes, m, size);
	if (gpu_input_next(&in, side, CHUNKS, CHUNK_BYTES, &taken, &why) != GPU_PARSE_MESSAGE ||
		used + size > sizeof(seed))
	{
		fprintf(stderr, "message of type %u: %s\n", m->header.type, why ? why : "no room");
		exit(1);
	}
	memcpy(seed + used, m, size);
	used += size;
}

static void
begin(int bytes, int first, int second)
{
	seed[0] = (unsigned char) first;
	seed[1] = (unsigned char) second;
	used = (size_t) bytes;
}

static void
end(const char *target, const char *name)
{
	char		path[1024];
	FILE	   *f;

	snprintf(path, sizeof(path), "%s/%s/%s", corpus, target, name);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(seed, 1, used, f) != used || fclose(f) != 0)
	{
		perror(path);
		exit(1);
	}
}

static void
say_plain(GpuMessageType type, uint64_t job)
{
	GpuMessage	m;

	gpu_message_init(&m, type, job);
	say(&m);
}

static void
say_open(uint64_t n, SortWant want, int descending, SortAlgorithm algorithm)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_OPEN, 1);
	m.body.open.n = n;
	m.body.open.lo = 0;
	m.body.open.hi = 999;
	m.body.open.want = want;
	m.body.open.descending = (uint32_t) descending;
	m.body.open.algorithm = algorithm;
	say(&m);
}

static void
say_want(uint32_t chunks)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_WANT, 1);
	m.body.want.chunks = chunks;
	say(&m);
}

/* A message about a chunk; count is 0 where it has no items. */
static void
say_chunk(GpuMessageType type, uint32_t chunk, uint32_t count)
{
	GpuMessage	m;

	gpu_message_init(&m, type, 1);
	m.body.chunk.chunk = chunk;
	m.body.chunk.count = count;
	say(&m);
}

static void
say_hello(void)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_HELLO, 0);
	m.body.hello.magic = GPU_MAGIC;
	m.body.hello.version = GPU_PROTOCOL_VERSION;
	strcpy(m.body.hello.build, "seed");
	say(&m);
}

static void
say_welcome(void)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_WELCOME, 0);
	m.body.welcome.magic = GPU_MAGIC;
	m.body.welcome.version = GPU_PROTOCOL_VERSION;
	strcpy(m.body.welcome.build, "seed");
	m.body.welcome.chunks = CHUNKS;
	m.body.welcome.chunk_bytes = CHUNK_BYTES;
	m.body.welcome.devices = 2;
	say(&m);
}

/* The service's answer to a whole job: n keys, sent in one form. */
static void
say_answer(uint64_t n, uint64_t items, SortWant form)
{
	GpuMessage	m;
	uint64_t	most;
	uint32_t	chunk = 0;

	gpu_message_init(&m, GPU_MSG_FINISHED, 1);
	m.body.finished.n = n;
	m.body.finished.items = items;
	m.body.finished.form = form;
	m.body.finished.algorithm = SORT_ALGORITHM_COMPARISON_FREE;
	strcpy(m.body.finished.reason, "seed");
	say(&m);
	for (uint64_t first = 0; first < items; first += most)
	{
		most = gpu_chunk_items(form, CHUNK_BYTES);
		if (most > items - first)
			most = items - first;
		say_chunk(GPU_MSG_LENT, chunk++, (uint32_t) most);
	}
}

static void
say_device(uint32_t index, uint32_t count)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_DEVICE, 0);
	m.body.device.index = index;
	m.body.device.count = count;
	say(&m);
}

static void
say_error(uint64_t job, GpuFailure failure)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_ERROR, job);
	m.body.error.failure = failure;
	strcpy(m.body.error.text, "seed");
	say(&m);
}

/* What a client says about one job, for a service of few chunks. */
static void
say_job(SortWant want, int descending, SortAlgorithm algorithm)
{
	say_open(1000, want, descending, algorithm);
	say_chunk(GPU_MSG_ADD, 0, 1000);
	say_want(1);
	say_chunk(GPU_MSG_ADD, 1, 100);
	say_plain(GPU_MSG_FINISH, 1);
	say_chunk(GPU_MSG_RELEASE, 0, 0);
	say_plain(GPU_MSG_CLOSE, 1);
}

/* A job that keeps the extent of service_fuzz.c, and then adds it. */
static void
say_extents_job(void)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_OPEN, 1);
	m.body.open.lo = INT32_MIN;
	m.body.open.hi = INT32_MAX;
	say(&m);
	say_want(2);
	say_chunk(GPU_MSG_KEEP, 0, 1);
	say_chunk(GPU_MSG_ADD_ROWS, 1, 1);
	say_plain(GPU_MSG_FINISH, 1);
	say_chunk(GPU_MSG_RELEASE, 1, 0);
	say_plain(GPU_MSG_CLOSE, 1);
}

/* The same with its rows, and questions about their keys. */
static void
say_rows_job(void)
{
	GpuMessage	m;

	gpu_message_init(&m, GPU_MSG_OPEN, 1);
	m.body.open.lo = -5;
	m.body.open.hi = 101;
	m.body.open.want = SORT_WANT_RUNS;
	m.body.open.look_up = 1;
	m.body.open.device = 2;
	say(&m);
	say_want(4);
	say_chunk(GPU_MSG_KEEP, 0, 1);
	say_chunk(GPU_MSG_LAYOUT, 2, 1);
	say_chunk(GPU_MSG_ADD_ROWS, 3, 1);
	say_plain(GPU_MSG_FINISH, 1);
	say_chunk(GPU_MSG_RELEASE, 3, 0);
	say_want(4);
	say_chunk(GPU_MSG_LOOK_BELOW, 3, 3);
	say_chunk(GPU_MSG_LOOK_AT, 2, 1);
	say_chunk(GPU_MSG_LOOK_DISTINCT, 1, 1);
	say_chunk(GPU_MSG_LOOK_SUM, 3, 2);
	say_plain(GPU_MSG_CLOSE, 1);
}

static void
service_seeds(void)
{
	static const struct
	{
		const char *name;
		SortWant	want;
		int			descending;
		SortAlgorithm algorithm;
	}			jobs[] = {
		{"job-keys", SORT_WANT_KEYS, 0, SORT_ALGORITHM_AUTO},
		{"job-runs", SORT_WANT_RUNS, 0, SORT_ALGORITHM_AUTO},
		{"job-rows", SORT_WANT_PERMUTATION, 1, SORT_ALGORITHM_AUTO},
		{"job-by-name", SORT_WANT_KEYS, 1, SORT_ALGORITHM_COMPARISON_FREE},
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
	{
		begin(0, 0, 0);
		say_job(jobs[i].want, jobs[i].descending, jobs[i].algorithm);
		end("service", jobs[i].name);

		/* the parser's: of the client, with chunks known, in pieces of 64 bytes */
		begin(2, 3, 63);
		say_job(jobs[i].want, jobs[i].descending, jobs[i].algorithm);
		end("messages", jobs[i].name);
	}
	begin(0, 0, 0);
	say_extents_job();
	end("service", "job-extents");
	begin(2, 3, 63);
	say_extents_job();
	end("messages", "job-extents");
	begin(0, 0, 0);
	say_rows_job();
	end("service", "job-rows-of-extents");
	begin(2, 3, 63);
	say_rows_job();
	end("messages", "job-rows-of-extents");
	begin(0, 0, 0);
	say_plain(GPU_MSG_ASK_DEVICES, 0);
	end("service", "devices");
	begin(2, 1, 255);
	say_hello();
	say_plain(GPU_MSG_ASK_DEVICES, 0);
	end("messages", "hello");
}

static void
client_seeds(void)
{
	/* second byte: a sixth of the keys; first: see client_fuzz.c */
	begin(2, SORT_WANT_KEYS, 10);
	say_chunk(GPU_MSG_GRANT, 0, 0);
	say_answer(60, 60, SORT_WANT_KEYS);
	end("client", "keys");
	begin(2, SORT_WANT_KEYS, 250);
	say_chunk(GPU_MSG_GRANT, 0, 0);
	say_chunk(GPU_MSG_GRANT, 1, 0);
	say_answer(1500, 1500, SORT_WANT_KEYS);
	end("client", "keys-two-chunks");
	begin(2, SORT_WANT_RUNS, 10);
	say_chunk(GPU_MSG_GRANT, 0, 0);
	say_answer(60, 1, SORT_WANT_RUNS);
	end("client", "runs");
	begin(2, SORT_WANT_PERMUTATION | 4, 10);
	say_chunk(GPU_MSG_GRANT, 0, 0);
	say_answer(60, 60, SORT_WANT_PERMUTATION);
	end("client", "rows");
	/* client_fuzz.c asks for two extents, which have 4 keys each */
	begin(2, SORT_WANT_KEYS | 16 | 128, 0);
	say_chunk(GPU_MSG_GRANT, 0, 0);
	say_plain(GPU_MSG_FULL, 1);
	say_chunk(GPU_MSG_LENT, CHUNKS - 1, 2);
	say_answer(8, 8, SORT_WANT_KEYS);
	end("client", "extents");
	begin(2, SORT_WANT_KEYS | 32, 10);
	say_device(0, 2);
	say_device(1, 2);
	say_chunk(GPU_MSG_GRANT, 0, 0);
	say_error(1, GPU_RESOURCES);
	end("client", "devices-error");

	begin(2, 2, 63);
	say_chunk(GPU_MSG_GRANT, 0, 0);
	say_answer(60, 60, SORT_WANT_KEYS);
	say_error(1, GPU_OK);
	end("messages", "answer");
	begin(2, 0, 255);
	say_welcome();
	say_device(0, 1);
	say_error(0, GPU_PROTOCOL);
	end("messages", "welcome");
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	corpus = argv[1];
	service_seeds();
	client_seeds();
	return 0;
}
