/*
 * protocol.h
 *		The messages between client and GPU service, and the checking of them.
 *
 * Used by the client (client.h) and by hpsort-gpud.  Bytes in, messages or a
 * complaint out: knows neither PostgreSQL nor CUDA, does no I/O and keeps no
 * state but the input buffer that it is given, so that a fuzzer can drive it.
 *
 * Both ends run on one host from one build (see gpu_build_id), so messages are
 * plain structs in native byte order, each type of one exact length.
 *
 *		client						service
 *		HELLO						WELCOME + the chunks' file descriptor
 *		OPEN						GRANT ...
 *		WANT						GRANT ...
 *		ADD, ADD, ...				GRANT, GRANT, ...
 *		KEEP						GRANT ..., FULL if an extent found no room
 *		LAYOUT						nothing
 *		ADD_ROWS					GRANT ..., LENT: the chunk with the answers
 *		FINISH						FINISHED, LENT, LENT, ...: the result
 *		RELEASE ...					LENT ...
 *		LOOK_...					LENT: the chunk with the answers
 *		CLOSE						nothing: the next OPEN may follow at once
 *		ASK_DEVICES					DEVICE, one for each
 *
 * Keys and results never cross the socket: they lie in chunks of one shared
 * memory area.  At any time a chunk belongs to one side: GRANT gives it to the
 * client for filling, and the message that says what is in it gives it back; LENT lends it to the
 * client for reading, RELEASE gives it back; CLOSE and hanging up give back all.
 *
 * Chunks are granted for what the client has in hand, and for nothing else: as many as the
 * keys of OPEN fill, and as many as WANT announces for keys, extents, a layout, lists of rows
 * or questions.  So a client that has handed over what it announced, and pauses until it has
 * more, holds no chunk.
 *
 * Extents (sort/extents/extent.h) stay with the device of the job that brings them, beyond the
 * job (KEEP), under a number, the generation.  Any job adds rows of them by that number
 * (ADD_ROWS) instead of keys.  Numbers mean something within an epoch, which HELLO
 * names: the life of the memory that the extents were copied from.
 *
 * A row has a value in one extent of each of some columns.  The key of a row is made by a layout
 * (sort/extents/rows_layout.h) that LAYOUT brings.  Without a layout there is one column, whose
 * value is the key; a NULL has none.  Where the layout has conditions, the number of keys is only
 * known when the job is FINISHED.
 *
 * OPEN says what a job gives: a result, which FINISHED describes and LENT brings, once; or
 * answers to questions about the keys, which lie in chunks that WANT has announced (LOOK_...).
 *
 * An ERROR with a job's number ends that job: the service ignores later messages
 * for it, and takes its chunks back at CLOSE.  An ERROR without a job's number
 * ends the connection.
 */
#ifndef HPSORT_GPU_PROTOCOL_H
#define HPSORT_GPU_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/gpu_types.h"
#include "sort/device/device.h"
#include "sort/plan.h"
#include "sort/sort_types.h"

#define GPU_MAGIC UINT32_C(0x74735048)	/* "HPst" */

/* Part of the build id; raised whenever a message changes its meaning. */
#define GPU_PROTOCOL_VERSION 12

#define GPU_BUILD_SIZE 48
#define GPU_TEXT_SIZE 160

/* Bytes of a chunk: keys and runs in it are aligned to a page at least. */
#define GPU_CHUNK_MIN ((uint64_t) 4096)
#define GPU_CHUNK_MAX ((uint64_t) 16 << 20)
#define GPU_CHUNKS_MAX (UINT32_C(1) << 20)

/* The most devices that there may be. */
#define GPU_DEVICES_MAX 1024

typedef enum GpuMessageType
{
	/* from the client */
	GPU_MSG_HELLO = 1,
	GPU_MSG_OPEN,
	GPU_MSG_ADD,
	GPU_MSG_WANT,
	GPU_MSG_FINISH,
	GPU_MSG_RELEASE,
	GPU_MSG_CLOSE,
	GPU_MSG_ASK_DEVICES,
	GPU_MSG_KEEP,
	GPU_MSG_LAYOUT,
	GPU_MSG_ADD_ROWS,
	GPU_MSG_LOOK_AT,			/* as SORT_LOOK_AT, and so on: see gpu_look_type */
	GPU_MSG_LOOK_BELOW,
	GPU_MSG_LOOK_DISTINCT,
	GPU_MSG_LOOK_SUM,

	/* from the service */
	GPU_MSG_WELCOME = 33,
	GPU_MSG_GRANT,
	GPU_MSG_LENT,
	GPU_MSG_FINISHED,
	GPU_MSG_FULL,
	GPU_MSG_DEVICE,
	GPU_MSG_ERROR
} GpuMessageType;

/* The type of the message that asks questions of a kind. */
static inline GpuMessageType
gpu_look_type(SortLook look)
{
	return (GpuMessageType) (GPU_MSG_LOOK_AT + look);
}

typedef enum GpuSide
{
	GPU_FROM_CLIENT,
	GPU_FROM_SERVICE
} GpuSide;

typedef struct GpuHeader
{
	uint32_t	type;
	uint32_t	length;			/* bytes of the body */
	uint64_t	job;			/* numbered from 1 by the client; 0: none */
} GpuHeader;

typedef struct GpuHello
{
	uint32_t	magic;
	uint32_t	version;
	char		build[GPU_BUILD_SIZE];
	uint64_t	epoch;			/* of the client's extents; 0: it has none */
} GpuHello;

typedef struct GpuWelcome
{
	uint32_t	magic;
	uint32_t	version;
	char		build[GPU_BUILD_SIZE];
	int32_t		pid;			/* of the service */
	uint32_t	chunks;
	uint64_t	chunk_bytes;	/* of each */
	uint64_t	extent_memory;	/* bytes of a device that extents may take; 0: none is kept */
	uint64_t	devices;		/* how many there are, from 1 to GPU_DEVICES_MAX */
	SortDeviceCosts costs;
} GpuWelcome;

typedef struct GpuOpen
{
	uint64_t	n;				/* keys that follow at once, 0: unknown */
	int32_t		lo;				/* inclusive; all of int4: nothing promised */
	int32_t		hi;
	uint32_t	want;			/* SortWant: the result */
	uint32_t	descending;		/* 0 or 1; of keys and the permutation */
	uint32_t	wait_ms;		/* longest wait for a chunk, 0: no limit */
	uint32_t	algorithm;		/* SortAlgorithm: this one or none; AUTO: any */
	uint32_t	floats;			/* 0 or 1: keys are images of float4 (sort/float_image.h) */
	uint32_t	look_up;		/* 0 or 1: no result is sent, there are questions */
	uint32_t	device;			/* 0: any; else, modulo their number, the one before this, from 1
								 * to GPU_DEVICES_MAX */
	uint32_t	zero;
} GpuOpen;

/* Chunks that follow at once, besides the chunks that were announced before. */
typedef struct GpuWant
{
	uint64_t	chunks;			/* from 1 to UINT32_MAX; after FINISH, of LOOK_... alone */
} GpuWant;

/*
 * A chunk that changes hands, and how many items lie in it, one behind the other:
 *
 *		ADD			keys
 *		KEEP		extents, each as a GpuKept and the extent's bytes, whose number is a
 *					multiple of 8
 *		LAYOUT		one RowsLayout, with its ranges behind it
 *		ADD_ROWS	SortRows, each with the generations of its columns' extents (uint64_t,
 *					not 0) behind it
 *		LOOK_...	questions of one kind, as SortLook says; of LOOK_DISTINCT one
 *		LENT		of a job that is being filled: the items of an ADD_ROWS, answers filled
 *					in; of a job with questions: as many answers as there were questions;
 *					else the next part of the result: keys, rows, or first the counts of all
 *					runs (uint64_t), then their keys
 *		GRANT, RELEASE	none, and count is 0
 */
typedef struct GpuChunk
{
	uint32_t	chunk;
	uint32_t	count;
} GpuChunk;

typedef struct GpuKept
{
	uint64_t	generation;		/* not 0 */
	uint32_t	size;			/* bytes */
	uint32_t	zero;
} GpuKept;

/* The most blocks that an extent can have: as many as SortRows can name. */
#define GPU_EXTENT_BLOCKS 128

typedef struct GpuFinished
{
	uint64_t	n;				/* keys */
	uint64_t	items;			/* keys, runs or rows that follow, in all; 0 with questions */
	uint32_t	form;			/* SortWant: as they travel.  Keys come in the direction that OPEN
								 * says, runs ascend; keys come as runs where these are smaller */
	uint32_t	algorithm;		/* SortAlgorithm, as it really was; AUTO: none */
	char		reason[GPU_TEXT_SIZE];
} GpuFinished;

typedef struct GpuDevice
{
	uint32_t	index;
	uint32_t	count;			/* of all; 0: there are none, and no status */
	GpuDeviceStatus status;
} GpuDevice;

typedef struct GpuError
{
	uint32_t	failure;		/* GpuFailure; GPU_OK: a key out of bounds */
	int32_t		key;			/* that key */
	char		text[GPU_TEXT_SIZE];
} GpuError;

typedef struct GpuMessage
{
	GpuHeader	header;
	union
	{
		GpuHello	hello;
		GpuOpen		open;
		GpuWant		want;
		GpuChunk	chunk;		/* of all types that name a chunk */
		GpuWelcome	welcome;
		GpuFinished finished;
		GpuDevice	device;
		GpuError	error;
	}			body;
} GpuMessage;

/* Version of hpsort, stamp of the sources that define the messages, and protocol. */
extern const char *gpu_build_id(void);

/* A message of that type, all zero but for its header. */
extern void gpu_message_init(GpuMessage *message, GpuMessageType type, uint64_t job);

/* Bytes of the whole message as sent. */
extern size_t gpu_message_size(const GpuMessage *message);

/* The most items of a result in that form that a chunk holds. */
extern uint32_t gpu_chunk_items(SortWant form, uint64_t chunk_bytes);

/* The most lists of rows of ncolumns columns of an ADD_ROWS. */
static inline uint32_t
gpu_chunk_rows(uint64_t chunk_bytes, uint32_t ncolumns)
{
	return (uint32_t) (chunk_bytes / (sizeof(SortRows) + ncolumns * sizeof(uint64_t)));
}

/* The most questions of a LOOK_...: what is asked and answered is at most 8 bytes each. */
static inline uint32_t
gpu_chunk_looks(uint64_t chunk_bytes)
{
	return (uint32_t) (chunk_bytes / sizeof(uint64_t));
}

/*
 * Bytes received and not yet taken.  There is room for many messages, so that
 * all that arrive together are received by one call.
 */
#define GPU_INPUT_SIZE 8192

typedef struct GpuInput
{
	size_t		at;				/* first byte not yet taken */
	size_t		len;			/* bytes received */
	unsigned char bytes[GPU_INPUT_SIZE];
} GpuInput;

typedef enum GpuParse
{
	GPU_PARSE_MORE,				/* no whole message yet */
	GPU_PARSE_MESSAGE,
	GPU_PARSE_BAD				/* no message of this protocol */
} GpuParse;

/* Where to receive to, and how much; never 0 after GPU_PARSE_MORE. */
extern unsigned char *gpu_input_room(GpuInput *in, size_t *size);

/*
 * Takes the next message, if it is one that side may send, as far as the message alone and
 * the size of the shared area tell.  chunks is 0 while that size is not known,
 * and no message that names a chunk is valid then.  If the message is not valid,
 * *why is a phrase.  Text fields are checked to end within their size.
 */
extern GpuParse gpu_input_next(GpuInput *in, GpuSide side, uint32_t chunks, uint64_t chunk_bytes,
							   GpuMessage *message, const char **why);

#endif							/* HPSORT_GPU_PROTOCOL_H */
