/*
 * protocol.c
 *		The messages between client and GPU service, and the checking of them (see
 *		protocol.h).
 */
#include "gpu/protocol.h"

#include <math.h>
#include <string.h>

/* Given by gpud.mk: version and stamp of the sources, equal in both programs. */
#ifndef HPSORT_BUILD
#define HPSORT_BUILD "unknown"
#endif

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)

/*
 * No struct has padding, which would carry bytes of memory that the other side
 * must not see, or differ between compilers.
 */
_Static_assert(sizeof(GpuHeader) == 16, "header");
_Static_assert(sizeof(GpuHello) == 64, "hello");
_Static_assert(sizeof(GpuWelcome) == 88 + sizeof(SortDeviceCosts), "welcome");
_Static_assert(sizeof(SortDeviceCosts) % sizeof(double) == 0, "costs are doubles only");
_Static_assert(sizeof(GpuOpen) == 48, "open");
_Static_assert(sizeof(GpuWant) == 8, "want");
_Static_assert(sizeof(GpuChunk) == 8, "chunk");
_Static_assert(sizeof(GpuKept) == 16, "extent in a chunk");
_Static_assert(sizeof(SortRows) == 32, "rows of extents");
_Static_assert(GPU_MSG_LOOK_SUM - GPU_MSG_LOOK_AT == SORT_LOOK_SUM, "questions");
_Static_assert(sizeof(RowsLayout) <= GPU_CHUNK_MIN, "layout in a chunk");
_Static_assert(sizeof(GpuFinished) == 24 + GPU_TEXT_SIZE, "finished");
_Static_assert(sizeof(GpuError) == 8 + GPU_TEXT_SIZE, "error");
_Static_assert(sizeof(GpuMessage) * 2 <= GPU_INPUT_SIZE, "input buffer");

const char *
gpu_build_id(void)
{
	return HPSORT_BUILD "-" STRINGIFY(GPU_PROTOCOL_VERSION);
}

_Static_assert(sizeof(HPSORT_BUILD "-" STRINGIFY(GPU_PROTOCOL_VERSION)) <= GPU_BUILD_SIZE,
			   "build id too long");

/* Whether text ends within size and is one line, fit for logs and errors. */
static bool
is_text(const char *text, size_t size)
{
	size_t		i;

	for (i = 0; i < size && text[i] != '\0'; i++)
		if ((unsigned char) text[i] < ' ' || text[i] == 0x7F)
			return false;
	return i < size;
}

/*
 * Whether no cost is negative, infinite or no number.  The table is a struct of
 * doubles, no array: it is gone through by its bytes.
 */
static bool
costs_are_sane(const SortDeviceCosts *costs)
{
	const char *bytes = (const char *) costs;

	for (size_t at = 0; at < sizeof(*costs); at += sizeof(double))
	{
		double		ns;

		memcpy(&ns, bytes + at, sizeof(ns));
		if (!isfinite(ns) || ns < 0)
			return false;
	}
	return true;
}

/* Complaints about what only one type of message has, phrases or NULL; a table checks the rest. */

/* HELLO: version and build are compared by the service, which answers with the reason. */
static const char *
complaint_of_hello(const GpuMessage *m)
{
	if (m->body.hello.magic != GPU_MAGIC)
		return "wrong magic number";
	return is_text(m->body.hello.build, GPU_BUILD_SIZE) ? NULL : "build without an end";
}

/* OPEN: whether its enumerations, flags and bounds are within their ranges. */
static const char *
complaint_of_open(const GpuMessage *m)
{
	const GpuOpen *open = &m->body.open;

	if (open->lo > open->hi)
		return "bounds in the wrong order";
	if (open->want > SORT_WANT_PERMUTATION)
		return "unknown kind of result";
	if (open->descending > 1 || open->floats > 1 || open->look_up > 1)
		return "unknown flag";
	if (open->device > GPU_DEVICES_MAX || open->zero != 0)
		return "unknown device";
	return open->algorithm < SORT_ALGORITHM_COUNT ? NULL : "unknown algorithm";
}

/* WANT: from 1 to UINT32_MAX chunks, so that sums of several cannot overflow soon. */
static const char *
complaint_of_want(const GpuMessage *m)
{
	return m->body.want.chunks > 0 && m->body.want.chunks <= UINT32_MAX ? NULL :
		"impossible announcement";
}

/* LAYOUT and LOOK_DISTINCT: a chunk has exactly one item. */
static const char *
complaint_of_single(const GpuMessage *m)
{
	return m->body.chunk.count == 1 ? NULL : "wrong number of items in a chunk";
}

/* WELCOME: within these limits the shared area has at most 2^44 bytes. */
static const char *
complaint_of_welcome(const GpuMessage *m)
{
	const GpuWelcome *welcome = &m->body.welcome;

	if (welcome->magic != GPU_MAGIC)
		return "wrong magic number";
	if (!is_text(welcome->build, GPU_BUILD_SIZE))
		return "build without an end";

	/*
	 * The rest of another version's welcome may mean anything: the client compares the version
	 * before it looks at the rest.
	 */
	if (welcome->version != GPU_PROTOCOL_VERSION)
		return NULL;
	if (welcome->chunks == 0 || welcome->chunks > GPU_CHUNKS_MAX ||
		welcome->chunk_bytes < GPU_CHUNK_MIN || welcome->chunk_bytes > GPU_CHUNK_MAX ||
		welcome->chunk_bytes % GPU_CHUNK_MIN != 0)
		return "impossible size of the shared area";
	if (welcome->devices == 0 || welcome->devices > GPU_DEVICES_MAX)
		return "impossible number of devices";
	return costs_are_sane(&welcome->costs) ? NULL : "impossible costs";
}

static const char *
complaint_of_finished(const GpuMessage *m)
{
	const GpuFinished *finished = &m->body.finished;

	if (finished->form > SORT_WANT_PERMUTATION)
		return "unknown form of result";
	if (finished->algorithm >= SORT_ALGORITHM_COUNT)
		return "unknown algorithm";
	return is_text(finished->reason, GPU_TEXT_SIZE) ? NULL : "text without an end";
}

/* DEVICE: index 0 without a status if there are no devices; else a device below count. */
static const char *
complaint_of_device(const GpuMessage *m)
{
	const GpuDevice *device = &m->body.device;
	const GpuDeviceStatus *status = &device->status;

	if (device->count == 0 ? device->index == 0 :
		device->index < device->count && device->count <= GPU_DEVICES_MAX && status->ordinal >= 0 &&
		is_text(status->name, sizeof(status->name)) &&
		is_text(status->state, sizeof(status->state)) &&
		is_text(status->last_error, sizeof(status->last_error)))
		return NULL;
	return "impossible device";
}

static const char *
complaint_of_error(const GpuMessage *m)
{
	if (m->body.error.failure >= GPU_FAILURES)
		return "unknown failure";
	return is_text(m->body.error.text, GPU_TEXT_SIZE) ? NULL : "text without an end";
}

/* What is known of a type of message. */
typedef struct MessageKind
{
	bool		known;			/* there is this type */
	bool		for_job;		/* it belongs to a job; ERROR may */
	bool		chunk;			/* it names a chunk: its body is a GpuChunk */
	uint16_t	length;			/* bytes of the body */
	uint16_t	item;			/* of a chunk: the least bytes that each of count takes; 0: count
								 * is 0 */
	const char *(*complaint) (const GpuMessage *m);
} MessageKind;

#define EMPTY			.known = true
#define BODY(field)		.known = true, .length = sizeof(((GpuMessage *) NULL)->body.field)
#define CHUNK(bytes)	BODY(chunk), .for_job = true, .chunk = true, .item = (bytes)

static const MessageKind kinds[] = {
	/* from the client; of rows, one column is the least, and the layout says how many there are */
	[GPU_MSG_HELLO] = {BODY(hello),.complaint = complaint_of_hello},
	[GPU_MSG_OPEN] = {BODY(open),.for_job = true,.complaint = complaint_of_open},
	[GPU_MSG_ADD] = {CHUNK(sizeof(int32_t))},
	[GPU_MSG_WANT] = {BODY(want),.for_job = true,.complaint = complaint_of_want},
	[GPU_MSG_FINISH] = {EMPTY,.for_job = true},
	[GPU_MSG_RELEASE] = {CHUNK(0)},
	[GPU_MSG_CLOSE] = {EMPTY,.for_job = true},
	[GPU_MSG_ASK_DEVICES] = {EMPTY},
	[GPU_MSG_KEEP] = {CHUNK(sizeof(GpuKept))},
	[GPU_MSG_LAYOUT] = {CHUNK(1),.complaint = complaint_of_single},
	[GPU_MSG_ADD_ROWS] = {CHUNK(sizeof(SortRows) + sizeof(uint64_t))},
	[GPU_MSG_LOOK_AT] = {CHUNK(sizeof(uint64_t))},
	[GPU_MSG_LOOK_BELOW] = {CHUNK(sizeof(uint64_t))},
	[GPU_MSG_LOOK_DISTINCT] = {CHUNK(sizeof(uint64_t)),.complaint = complaint_of_single},
	[GPU_MSG_LOOK_SUM] = {CHUNK(sizeof(uint64_t))},

	/* from the service */
	[GPU_MSG_WELCOME] = {BODY(welcome),.complaint = complaint_of_welcome},
	[GPU_MSG_GRANT] = {CHUNK(0)},
	[GPU_MSG_LENT] = {CHUNK(sizeof(int32_t))},
	[GPU_MSG_FINISHED] = {BODY(finished),.for_job = true,.complaint = complaint_of_finished},
	[GPU_MSG_FULL] = {EMPTY,.for_job = true},
	[GPU_MSG_DEVICE] = {BODY(device),.complaint = complaint_of_device},
	[GPU_MSG_ERROR] = {BODY(error),.complaint = complaint_of_error},
};

/* The kind of messages of a type, or NULL if that side sends none. */
static const MessageKind *
kind_of(uint32_t type, GpuSide side)
{
	if (type >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[type].known ||
		(type < GPU_MSG_WELCOME) != (side == GPU_FROM_CLIENT))
		return NULL;
	return &kinds[type];
}

void
gpu_message_init(GpuMessage *message, GpuMessageType type, uint64_t job)
{
	memset(message, 0, sizeof(*message));
	message->header.type = type;
	message->header.length = kinds[type].length;
	message->header.job = job;
}

size_t
gpu_message_size(const GpuMessage *message)
{
	return sizeof(GpuHeader) + message->header.length;
}

/* A run is a count (8 bytes) and a key (4 bytes); a key or a position has 4 bytes. */
uint32_t
gpu_chunk_items(SortWant form, uint64_t chunk_bytes)
{
	return (uint32_t) (chunk_bytes / (form == SORT_WANT_RUNS ? 12 : 4));
}

/* The complaint about the header of a message, or NULL. */
static const char *
complaint_of_header(const GpuHeader *header, GpuSide side)
{
	const MessageKind *kind = kind_of(header->type, side);

	return kind == NULL ? "unknown type of message" :
		header->length != kind->length ? "wrong length of message" : NULL;
}

/* The complaint about the body of a message, or NULL. */
static const char *
complaint_of_body(const GpuMessage *m, uint32_t chunks, uint64_t chunk_bytes)
{
	const MessageKind *kind = &kinds[m->header.type];
	const GpuChunk *chunk = &m->body.chunk;

	if (m->header.type != GPU_MSG_ERROR && (m->header.job != 0) != kind->for_job)
		return "wrong job number";
	if (kind->chunk && chunk->chunk >= chunks)
		return "no such chunk";
	if (kind->chunk && (kind->item == 0 ? chunk->count > 0 :
						chunk->count == 0 || chunk->count > chunk_bytes / kind->item))
		return "wrong number of items in a chunk";
	return kind->complaint ? kind->complaint(m) : NULL;
}

/* Moves what is left to the beginning, so that a whole message always finds room. */
unsigned char *
gpu_input_room(GpuInput *in, size_t *size)
{
	if (in->at > 0)
	{
		memmove(in->bytes, in->bytes + in->at, in->len - in->at);
		in->len -= in->at;
		in->at = 0;
	}
	*size = sizeof(in->bytes) - in->len;
	return in->bytes + in->len;
}

GpuParse
gpu_input_next(GpuInput *in, GpuSide side, uint32_t chunks, uint64_t chunk_bytes,
			   GpuMessage *message, const char **why)
{
	size_t		have = in->len - in->at;
	size_t		size;

	if (have < sizeof(GpuHeader))
		return GPU_PARSE_MORE;
	memcpy(&message->header, in->bytes + in->at, sizeof(GpuHeader));

	/* Checked before the body is there: a wrong length would be waited for. */
	*why = complaint_of_header(&message->header, side);
	if (*why)
		return GPU_PARSE_BAD;
	size = gpu_message_size(message);
	if (have < size)
		return GPU_PARSE_MORE;
	memcpy(&message->body, in->bytes + in->at + sizeof(GpuHeader), message->header.length);
	*why = complaint_of_body(message, chunks, chunk_bytes);
	if (*why)
		return GPU_PARSE_BAD;
	in->at += size;
	return GPU_PARSE_MESSAGE;
}
