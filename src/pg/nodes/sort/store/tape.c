/*
 * tape.c
 *		Rows in a temporary file, in either direction (see tape.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/nodes/sort/store/tape.h"

/* Where a tape is being read: just after the row returned last. */
typedef struct Position
{
	uint64		at;				/* in bytes from the start */
	bool		at_end;			/* the end has been read */
} Position;

struct Tape
{
	SpillFile  *file;
	SpillSequence sequence;
	uint64	   *starts;			/* of each piece, in bytes from the tape's start */
	Size		piece;			/* number of the piece read last */
	uint64		bytes;			/* of the whole tape */
	Position	position;
	Position	mark;
	uint64		row;			/* first byte of the row that tape_get reads */

	/* Bytes of the tape that are in memory. */
	char	   *buffer;
	Size		size;
	uint64		from;
	uint64		to;
};

Tape *
tape_create(SpillFile *file, Size size)
{
	Tape	   *tape = (Tape *) palloc0(sizeof(Tape));

	tape->file = file;
	tape->size = size;
	tape->buffer = (char *) palloc(size);
	return tape;
}

void
tape_put(Tape *tape, const void *data, uint32 len)
{
	spill_file_write_to(tape->file, &tape->sequence);
	spill_file_put(tape->file, &len, sizeof(len));
	spill_file_put(tape->file, data, len);
	spill_file_put(tape->file, &len, sizeof(len));
	tape->bytes += (uint64) len + 2 * sizeof(len);
}

void
tape_put_items(Tape *tape, const void *data, Size len)
{
	spill_file_write_to(tape->file, &tape->sequence);
	spill_file_put(tape->file, data, len);
	tape->bytes += len;
}

void
tape_finish(Tape *tape)
{
	uint64		start = 0;
	Size		i;

	spill_file_write_to(tape->file, NULL);
	spill_file_sync(tape->file);
	tape->starts = (uint64 *) MemoryContextAllocHuge(GetMemoryChunkContext(tape),
													 Max(tape->sequence.n, 1) * sizeof(uint64));
	for (i = 0; i < tape->sequence.n; i++)
	{
		tape->starts[i] = start;
		start += tape->sequence.pieces[i].len;
	}
	Assert(start == tape->bytes);
	tape_rewind(tape);
}

void
tape_rewind(Tape *tape)
{
	tape->position.at = 0;
	tape->position.at_end = false;
}

void
tape_mark(Tape *tape)
{
	tape->mark = tape->position;
}

void
tape_restore(Tape *tape)
{
	tape->position = tape->mark;
}

/* The piece that has this byte. */
static Size
find_piece(Tape *tape, uint64 at)
{
	Size		low = 0;
	Size		high = tape->sequence.n;

	/* As a rule the piece read last, or the one after it. */
	if (tape->starts[tape->piece] <= at)
	{
		low = tape->piece;
		if (low + 1 < high && tape->starts[low + 1] <= at)
			low++;
		if (low + 1 == high || at < tape->starts[low + 1])
			return low;
	}
	while (high - low > 1)
	{
		Size		middle = low + (high - low) / 2;

		if (tape->starts[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Fills the buffer with the byte at this place, and with bytes before or after it. */
static void
fill_buffer(Tape *tape, uint64 at)
{
	uint64		from = at;

	/* Reading backward, the bytes before are wanted next. */
	if (at < tape->from)
		from = at + 1 > tape->size ? at + 1 - tape->size : 0;
	tape->from = tape->to = from;
	while (tape->to - from < tape->size && tape->to < tape->bytes)
	{
		Size		i = find_piece(tape, tape->to);
		uint64		skip = tape->to - tape->starts[i];
		Size		part = (Size) Min(tape->sequence.pieces[i].len - skip,
									  tape->size - (tape->to - from));

		spill_file_read(tape->file, tape->sequence.pieces[i].start + skip,
						tape->buffer + (tape->to - from), part);
		tape->to += part;
		tape->piece = i;
	}
}

static void
get_bytes(Tape *tape, uint64 at, void *data, Size len)
{
	char	   *to = (char *) data;

	while (len > 0)
	{
		Size		part;

		if (at < tape->from || at >= tape->to)
			fill_buffer(tape, at);
		part = (Size) Min(len, tape->to - at);
		memcpy(to, tape->buffer + (at - tape->from), part);
		to += part;
		at += part;
		len -= part;
	}
}

void
tape_get_items(Tape *tape, uint64 at, void *data, Size len)
{
	get_bytes(tape, at, data, len);
}

/* The length of the row that ends here. */
static uint32
length_before(Tape *tape, uint64 at)
{
	uint32		len;

	/* The last byte first: fill_buffer then reads those before it, too. */
	get_bytes(tape, at - 1, (char *) &len + sizeof(len) - 1, 1);
	get_bytes(tape, at - sizeof(len), &len, sizeof(len));
	return len;
}

uint32
tape_next(Tape *tape, bool forward)
{
	Position   *position = &tape->position;
	uint32		len;

	if (forward)
	{
		if (position->at == tape->bytes)
		{
			position->at_end = true;
			return 0;
		}
		get_bytes(tape, position->at, &len, sizeof(len));
		tape->row = position->at + sizeof(len);
		position->at = tape->row + len + sizeof(len);
		return len;
	}
	if (position->at == 0)
		return 0;

	/* After the end the last row comes, else the one before the last returned. */
	if (position->at_end)
		position->at_end = false;
	else
		position->at -= (uint64) length_before(tape, position->at) + 2 * sizeof(len);
	if (position->at == 0)
		return 0;
	len = length_before(tape, position->at);
	tape->row = position->at - sizeof(len) - len;
	return len;
}

void
tape_get(Tape *tape, void *data, uint32 len)
{
	get_bytes(tape, tape->row, data, len);
}
