/*
 * messages_fuzz.c
 *		Fuzzes the parsing of messages, of both sides, fed in pieces.
 *
 * Whatever arrives, the parser takes whole, checked messages or says why not,
 * and never touches a byte beyond its buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/protocol.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	GpuInput   *in;
	GpuSide		side;
	uint32_t	chunks;
	size_t		piece;
	size_t		at = 2;

	if (size < 2)
		return 0;
	side = data[0] & 1 ? GPU_FROM_CLIENT : GPU_FROM_SERVICE;
	chunks = data[0] & 2 ? 16 : 0;
	piece = (size_t) data[1] + 1;
	in = calloc(1, sizeof(GpuInput));
	if (in == NULL)
		return 0;
	for (;;)
	{
		GpuMessage	message;
		const char *why = NULL;
		GpuParse	parsed = gpu_input_next(in, side, chunks, 65536, &message, &why);

		if (parsed == GPU_PARSE_BAD)
		{
			if (why == NULL)
				abort();
			break;
		}
		if (parsed == GPU_PARSE_MESSAGE)
		{
			/* what was accepted is within every limit */
			if (gpu_message_size(&message) > sizeof(GpuMessage))
				abort();
			if (message.header.type == GPU_MSG_LENT &&
				(message.body.chunk.chunk >= chunks || message.body.chunk.count > 16384))
				abort();
			if (message.header.type == GPU_MSG_ADD &&
				(message.body.chunk.chunk >= chunks || message.body.chunk.count > 16384))
				abort();
		}
		else
		{
			size_t		room;
			unsigned char *to = gpu_input_room(in, &room);
			size_t		n = size - at < piece ? size - at : piece;

			if (room == 0)
				abort();
			if (n == 0)
				break;
			n = n < room ? n : room;
			memcpy(to, data + at, n);
			in->len += n;
			at += n;
		}
	}
	free(in);
	return 0;
}
