/*
 * tape.h
 *		Rows in a temporary file, read in either direction, and from a mark.
 *
 * Sorted rows beyond memory that may be read backward, or once more, are written to a tape of
 * core's (logtape.c), over the blocks that they have been read from.  A row's length
 * is before the row and after it, as in core's tuplesort, so that the row is found
 * from either end.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_TAPE_H
#define HPSORT_PG_NODES_SORT_STORE_TAPE_H

#include "utils/logtape.h"

typedef struct Tape Tape;

/* Where rows are being read: just after the row returned last. */
typedef struct ReadPosition
{
	uint64		at;				/* in rows, of a tape in bytes */
	bool		at_end;			/* the end has been read */
} ReadPosition;

/* Makes an empty tape of a set, in the current memory context. */
extern Tape *tape_create(LogicalTapeSet *tapes);

/* Appends a row, of len > 0 bytes at most UINT32_MAX. */
extern void tape_put(Tape *tape, const void *data, uint32 len);

/* All rows are there, at least one: goes to the start. */
extern void tape_finish(Tape *tape);

/*
 * tape_next moves a position, at first 0, to the next row in either direction, as tuplesort counts,
 * and returns its length, 0 if there is none.  tape_get then reads the row's len bytes.
 */
extern uint32 tape_next(Tape *tape, ReadPosition *position, bool forward);
extern void tape_get(Tape *tape, void *data, uint32 len);

/*
 * A tape of items of one length has no rows, and no position: tape_put_items appends len
 * bytes as they are, and tape_get_items reads any of them, by their place in bytes.  It takes time
 * to read what is far from what has been read last.
 */
extern void tape_put_items(Tape *tape, const void *data, Size len);
extern void tape_get_items(Tape *tape, uint64 at, void *data, Size len);

#endif							/* HPSORT_PG_NODES_SORT_STORE_TAPE_H */
