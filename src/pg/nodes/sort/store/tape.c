/*
 * tape.c
 *		Rows in a temporary file, in either direction (see tape.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/tape.h"

/* Bytes read at once to be skipped. */
#define SKIP_BYTES 1024

struct Tape
{
	MemoryContext memory;		/* of the tape, and of its buffers */
	LogicalTape *tape;
	uint64		bytes;			/* of the whole tape */
	uint64		at;				/* where core's tape is */
	uint64		row;			/* first byte of the row that tape_get reads */
};

Tape *
tape_create(LogicalTapeSet *tapes)
{
	Tape	   *tape = palloc0_object(Tape);

	tape->memory = CurrentMemoryContext;
	tape->tape = LogicalTapeCreate(tapes);
	return tape;
}

void
tape_put_items(Tape *tape, const void *data, Size len)
{
	MemoryContext old = MemoryContextSwitchTo(tape->memory);

	LogicalTapeWrite(tape->tape, (void *) data, len);
	MemoryContextSwitchTo(old);
	tape->bytes += len;
}

void
tape_put(Tape *tape, const void *data, uint32 len)
{
	tape_put_items(tape, &len, sizeof(len));
	tape_put_items(tape, data, len);
	tape_put_items(tape, &len, sizeof(len));
}

void
tape_finish(Tape *tape)
{
	MemoryContext old = MemoryContextSwitchTo(tape->memory);

	Assert(tape->bytes > 0);
	LogicalTapeFreeze(tape->tape, NULL);
	MemoryContextSwitchTo(old);
}

/* Goes to a place, from where core's tape is. */
static void
go_to(Tape *tape, uint64 at)
{
	char		skipped[SKIP_BYTES];

	if (at == 0 && tape->at > 0)
	{
		LogicalTapeRewindForRead(tape->tape, 0);
		tape->at = 0;
	}
	if (at < tape->at)
	{
		if (LogicalTapeBackspace(tape->tape, tape->at - at) != tape->at - at)
			elog(ERROR, "unexpected start of a tape");
		tape->at = at;
	}
	while (tape->at < at)
	{
		Size		part = Min(at - tape->at, SKIP_BYTES);

		if (LogicalTapeRead(tape->tape, skipped, part) != part)
			elog(ERROR, "unexpected end of a tape");
		tape->at += part;
		CHECK_FOR_INTERRUPTS();
	}
}

void
tape_get_items(Tape *tape, uint64 at, void *data, Size len)
{
	MemoryContext old = MemoryContextSwitchTo(tape->memory);

	go_to(tape, at);
	if (LogicalTapeRead(tape->tape, data, len) != len)
		elog(ERROR, "unexpected end of a tape");
	tape->at += len;
	MemoryContextSwitchTo(old);
	CHECK_FOR_INTERRUPTS();
}

/* The length of a row, in front of it or behind it. */
static uint32
length_at(Tape *tape, uint64 at)
{
	uint32		len;

	tape_get_items(tape, at, &len, sizeof(len));
	return len;
}

/* The length of the row that begins here, read together with that of the row before. */
static uint32
length_after(Tape *tape, uint64 at)
{
	uint32		both[2];

	if (at == 0)
		return length_at(tape, at);
	tape_get_items(tape, at - sizeof(both[0]), both, sizeof(both));
	return both[1];
}

uint32
tape_next(Tape *tape, ReadPosition *position, bool forward)
{
	uint32		len;

	if (forward)
	{
		if (position->at == tape->bytes)
		{
			position->at_end = true;
			return 0;
		}
		len = length_after(tape, position->at);
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
		position->at -= (uint64) length_at(tape, position->at - sizeof(len)) + 2 * sizeof(len);
	if (position->at == 0)
		return 0;
	len = length_at(tape, position->at - sizeof(len));
	tape->row = position->at - sizeof(len) - len;
	return len;
}

void
tape_get(Tape *tape, void *data, uint32 len)
{
	tape_get_items(tape, tape->row, data, len);
}
