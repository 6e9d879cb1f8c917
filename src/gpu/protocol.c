/*
 * protocol.c
 *		The messages between client and GPU service, and the checking of them (see
 *		protocol.h).
 */
#include "gpu/protocol.h"

#include <math.h>
#include <string.h>

/* Given by gpud.mk: version and stamp of the sources, the same for both programs. */
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
_Static_assert(sizeof(GpuWelcome) == 80 + sizeof(SortDeviceCosts), "welcome");
_Static_assert(sizeof(SortDeviceCosts) % sizeof(double) == 0, "costs are doubles only");
_Static_assert(sizeof(GpuOpen) == 40, "open");
_Static_assert(sizeof(GpuWant) == 16, "want");
_Static_assert(sizeof(GpuKept) == 16, "extent in a chunk");
_Static_assert(sizeof(GpuExtent) == 40, "extent by its number");
_Static_assert(sizeof(GpuRows) == 24, "rows by their numbers");
_Static_assert(sizeof(GpuLook) == 16, "look");
_Static_assert(sizeof(RowsLayout) + ROWS_MAX_RANGES * sizeof(ValueRange) <= GPU_CHUNK_MIN, "layout in a chunk");
_Static_assert(sizeof(GpuAdded) == 16, "added");
_Static_assert(sizeof(GpuFinished) == 24 + GPU_TEXT_SIZE, "finished");
_Static_assert(sizeof(GpuResult) == 24, "result");
_Static_assert(sizeof(GpuData) == 24, "data");
_Static_assert(sizeof(GpuError) == 8 + GPU_TEXT_SIZE, "error");
_Static_assert(sizeof(GpuMessage) * 2 <= GPU_INPUT_SIZE, "input buffer");

const char *
gpu_build_id(void)
{
	return HPSORT_BUILD "-" STRINGIFY(GPU_PROTOCOL_VERSION);
}

_Static_assert(sizeof(HPSORT_BUILD "-" STRINGIFY(GPU_PROTOCOL_VERSION)) <= GPU_BUILD_SIZE,
			   "build id too long");

int
gpu_body_length(uint32_t type, GpuSide side)
{
	if (side == GPU_FROM_CLIENT)
		switch (type)
		{
			case GPU_MSG_HELLO:
				return sizeof(GpuHello);
			case GPU_MSG_OPEN:
				return sizeof(GpuOpen);
			case GPU_MSG_ADD:
				return sizeof(GpuAdd);
			case GPU_MSG_FINISH:
			case GPU_MSG_READ:
				return sizeof(GpuRead);
			case GPU_MSG_RELEASE:
				return sizeof(GpuRelease);
			case GPU_MSG_WANT:
				return sizeof(GpuWant);
			case GPU_MSG_KEEP:
			case GPU_MSG_ADD_EXTENTS:
			case GPU_MSG_ROWS:
			case GPU_MSG_ADD_ROWS:
				return sizeof(GpuExtents);
			case GPU_MSG_LOOK:
				return sizeof(GpuLook);
			case GPU_MSG_CLOSE:
			case GPU_MSG_ASK_DEVICES:
				return 0;
			default:
				return -1;
		}
	switch (type)
	{
		case GPU_MSG_WELCOME:
			return sizeof(GpuWelcome);
		case GPU_MSG_GRANT:
			return sizeof(GpuGrant);
		case GPU_MSG_FINISHED:
			return sizeof(GpuFinished);
		case GPU_MSG_RESULT:
			return sizeof(GpuResult);
		case GPU_MSG_DATA:
			return sizeof(GpuData);
		case GPU_MSG_DEVICE:
			return sizeof(GpuDevice);
		case GPU_MSG_ERROR:
			return sizeof(GpuError);
		case GPU_MSG_ADDED:
			return sizeof(GpuAdded);
		case GPU_MSG_FULL:
			return 0;
		case GPU_MSG_FOUND:
			return sizeof(GpuLook);
		default:
			return -1;
	}
}

void
gpu_message_init(GpuMessage *message, GpuMessageType type, uint64_t job)
{
	GpuSide		side = type < GPU_MSG_WELCOME ? GPU_FROM_CLIENT : GPU_FROM_SERVICE;

	memset(message, 0, sizeof(*message));
	message->header.type = type;
	message->header.length = (uint32_t) gpu_body_length(type, side);
	message->header.job = job;
}

size_t
gpu_message_size(const GpuMessage *message)
{
	return sizeof(GpuHeader) + message->header.length;
}

uint32_t
gpu_chunk_items(GpuForm form, uint64_t chunk_bytes)
{
	return (uint32_t) (chunk_bytes / (form == GPU_FORM_RUNS ? 12 : 4));
}

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
	size_t		at;

	for (at = 0; at < sizeof(*costs); at += sizeof(double))
	{
		double		ns;

		memcpy(&ns, bytes + at, sizeof(ns));
		if (!isfinite(ns) || ns < 0)
			return false;
	}
	return true;
}

static bool
device_is_sane(const GpuDevice *device)
{
	const GpuDeviceStatus *status = &device->status;

	if (device->count == 0)
		return device->index == 0;
	return device->index < device->count && device->count <= 1024 && status->ordinal >= -1 &&
		is_text(status->name, sizeof(status->name)) &&
		is_text(status->state, sizeof(status->state)) &&
		is_text(status->last_error, sizeof(status->last_error));
}

/* The complaint about a READ, or the first reading that a FINISH asks for, or NULL. */
static const char *
complaint_of_read(const GpuRead *read)
{
	if (read->form > GPU_FORM_LAST)
		return "unknown form of result";
	if (read->descending > 1)
		return "unknown flag";
	return NULL;
}

/* The complaint about questions or answers, or NULL. */
static const char *
complaint_of_look(const GpuLook *look, uint32_t chunks, uint64_t chunk_bytes)
{
	if (look->chunk >= chunks)
		return "no such chunk";
	if (look->look > SORT_LOOK_DISTINCT || look->zero != 0)
		return "unknown kind of question";
	if (look->count == 0 || look->count > gpu_chunk_looks(chunk_bytes) ||
		(look->look == SORT_LOOK_DISTINCT && look->count != 1))
		return "wrong number of questions in a chunk";
	return NULL;
}

/* The complaint about the body of a client's message, or NULL. */
static const char *
complaint_of_client(const GpuMessage *m, uint32_t chunks, uint64_t chunk_bytes)
{
	switch (m->header.type)
	{
		case GPU_MSG_HELLO:
			if (m->body.hello.magic != GPU_MAGIC)
				return "wrong magic number";
			if (!is_text(m->body.hello.build, GPU_BUILD_SIZE))
				return "build without an end";
			break;
		case GPU_MSG_OPEN:
			if (m->body.open.lo > m->body.open.hi)
				return "bounds in the wrong order";
			if (m->body.open.want > SORT_WANT_PERMUTATION)
				return "unknown kind of result";
			if (m->body.open.descending > 1 || m->body.open.floats > 1 || m->body.open.zero != 0)
				return "unknown flag";
			if (m->body.open.algorithm >= SORT_ALGORITHM_COUNT)
				return "unknown algorithm";
			break;
		case GPU_MSG_WANT:
			if (m->body.want.keys == 0 && m->body.want.chunks == 0)
				return "announcement of nothing";
			if (m->body.want.zero != 0)
				return "unknown flag";
			break;
		case GPU_MSG_KEEP:
			/* what an extent has is seen in the chunk; it takes some bytes at least */
			if (m->body.extents.chunk >= chunks)
				return "no such chunk";
			if (m->body.extents.count == 0 || m->body.extents.count > chunk_bytes / sizeof(GpuKept))
				return "wrong number of extents in a chunk";
			break;
		case GPU_MSG_ADD_EXTENTS:
			if (m->body.extents.chunk >= chunks)
				return "no such chunk";
			if (m->body.extents.count == 0 || m->body.extents.count > gpu_chunk_extents(chunk_bytes))
				return "wrong number of extents in a chunk";
			break;
		case GPU_MSG_ROWS:
			if (m->body.extents.chunk >= chunks)
				return "no such chunk";
			if (m->body.extents.count != 1)
				return "wrong number of layouts in a chunk";
			break;
		case GPU_MSG_ADD_ROWS:
			/* how many columns there are, the layout says */
			if (m->body.extents.chunk >= chunks)
				return "no such chunk";
			if (m->body.extents.count == 0 || m->body.extents.count > gpu_chunk_rows(chunk_bytes, 1))
				return "wrong number of rows in a chunk";
			break;
		case GPU_MSG_LOOK:
			return complaint_of_look(&m->body.look, chunks, chunk_bytes);
		case GPU_MSG_ADD:
			if (m->body.add.chunk >= chunks)
				return "no such chunk";
			if (m->body.add.count == 0 ||
				m->body.add.count > gpu_chunk_items(GPU_FORM_KEYS, chunk_bytes))
				return "wrong number of keys in a chunk";
			break;
		case GPU_MSG_READ:
			if (m->body.read.form == GPU_FORM_NONE)
				return "reading of nothing";
			return complaint_of_read(&m->body.read);
		case GPU_MSG_FINISH:
			return complaint_of_read(&m->body.read);
		case GPU_MSG_RELEASE:
			if (m->body.release.chunk >= chunks)
				return "no such chunk";
			if (m->body.release.zero != 0)
				return "unknown flag";
			break;
		default:
			break;
	}
	return NULL;
}

/* The complaint about a WELCOME, or NULL. */
static const char *
complaint_of_welcome(const GpuWelcome *welcome)
{
	if (welcome->magic != GPU_MAGIC)
		return "wrong magic number";
	if (!is_text(welcome->build, GPU_BUILD_SIZE))
		return "build without an end";

	/*
	 * The rest of another version's welcome may mean anything: the client
	 * compares the version before it looks at the rest.
	 */
	if (welcome->version != GPU_PROTOCOL_VERSION)
		return NULL;
	if (welcome->chunks == 0 || welcome->chunks > GPU_CHUNKS_MAX ||
		welcome->chunk_bytes < GPU_CHUNK_MIN || welcome->chunk_bytes > GPU_CHUNK_MAX ||
		welcome->chunk_bytes % GPU_CHUNK_MIN != 0)
		return "impossible size of the shared area";
	if (!costs_are_sane(&welcome->costs))
		return "impossible costs";
	return NULL;
}

/* The complaint about the body of a service's message, or NULL. */
static const char *
complaint_of_service(const GpuMessage *m, uint32_t chunks, uint64_t chunk_bytes)
{
	switch (m->header.type)
	{
		case GPU_MSG_WELCOME:
			return complaint_of_welcome(&m->body.welcome);
		case GPU_MSG_GRANT:
			if (m->body.grant.chunk >= chunks)
				return "no such chunk";
			if (m->body.grant.zero != 0)
				return "unknown flag";
			break;
		case GPU_MSG_FINISHED:
			if (m->body.finished.distinct > m->body.finished.n)
				return "more distinct keys than keys";
			if (m->body.finished.algorithm >= SORT_ALGORITHM_COUNT)
				return "unknown algorithm";
			if (m->body.finished.zero != 0)
				return "unknown flag";
			if (!is_text(m->body.finished.reason, GPU_TEXT_SIZE))
				return "text without an end";
			break;
		case GPU_MSG_RESULT:
			if (m->body.result.form < GPU_FORM_KEYS || m->body.result.form > GPU_FORM_LAST)
				return "unknown form of result";
			if (m->body.result.descending > 1 || m->body.result.zero != 0)
				return "unknown flag";
			break;
		case GPU_MSG_DATA:
			if (m->body.data.chunk >= chunks)
				return "no such chunk";
			if (m->body.data.count == 0 ||
				m->body.data.count > gpu_chunk_items(GPU_FORM_KEYS, chunk_bytes))
				return "wrong number of items in a chunk";
			if (m->body.data.zero != 0)
				return "unknown flag";
			break;
		case GPU_MSG_ADDED:
			if (m->body.added.chunk >= chunks)
				return "no such chunk";
			/* lists of rows of one column are the smallest that are answered */
			if (m->body.added.count == 0 || m->body.added.count > gpu_chunk_rows(chunk_bytes, 1))
				return "wrong number of extents in a chunk";
			break;
		case GPU_MSG_FOUND:
			return complaint_of_look(&m->body.look, chunks, chunk_bytes);
		case GPU_MSG_DEVICE:
			if (!device_is_sane(&m->body.device))
				return "impossible device";
			break;
		case GPU_MSG_ERROR:
			if (m->body.error.failure >= GPU_FAILURES)
				return "unknown failure";
			if (!is_text(m->body.error.text, GPU_TEXT_SIZE))
				return "text without an end";
			break;
		default:
			break;
	}
	return NULL;
}

/* Whether messages of a type belong to a job; those of ERROR may or may not. */
static bool
needs_job(uint32_t type)
{
	switch (type)
	{
		case GPU_MSG_HELLO:
		case GPU_MSG_WELCOME:
		case GPU_MSG_ASK_DEVICES:
		case GPU_MSG_DEVICE:
			return false;
		default:
			return true;
	}
}

bool
gpu_message_check(const GpuMessage *message, GpuSide side, uint32_t chunks, uint64_t chunk_bytes,
				  const char **why)
{
	int			length = gpu_body_length(message->header.type, side);

	*why = NULL;
	if (length < 0)
		*why = "unknown type of message";
	else if (message->header.length != (uint32_t) length)
		*why = "wrong length of message";
	else if (message->header.type != GPU_MSG_ERROR &&
			 (message->header.job != 0) != needs_job(message->header.type))
		*why = "wrong job number";
	else
		*why = side == GPU_FROM_CLIENT ? complaint_of_client(message, chunks, chunk_bytes) :
			complaint_of_service(message, chunks, chunk_bytes);
	return *why == NULL;
}

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
	int			length;

	if (have < sizeof(GpuHeader))
		return GPU_PARSE_MORE;
	memcpy(&message->header, in->bytes + in->at, sizeof(GpuHeader));

	/* Checked before the body is there: a wrong length would be waited for. */
	length = gpu_body_length(message->header.type, side);
	if (length < 0)
	{
		*why = "unknown type of message";
		return GPU_PARSE_BAD;
	}
	if (message->header.length != (uint32_t) length)
	{
		*why = "wrong length of message";
		return GPU_PARSE_BAD;
	}
	if (have < sizeof(GpuHeader) + (size_t) length)
		return GPU_PARSE_MORE;
	memcpy(&message->body, in->bytes + in->at + sizeof(GpuHeader), (size_t) length);
	if (!gpu_message_check(message, side, chunks, chunk_bytes, why))
		return GPU_PARSE_BAD;
	in->at += sizeof(GpuHeader) + (size_t) length;
	return GPU_PARSE_MESSAGE;
}
