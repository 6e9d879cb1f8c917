/*
 * tape.h
 *		Rows in a temporary file, read in either direction from any place.
 *
 * What is on disk and may be read backward is written once more in order, into
 * the bytes that it is read from (file.h).  A row is followed by its length,
 * as in core's tuplesort, so that it can be found from its end.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_TAPE_H
#define HPSORT_PG_NODES_SORT_STORE_TAPE_H

#include "postgres.h"

#include "pg/nodes/sort/store/file.h"

typedef struct Tape Tape;

/* Makes an empty tape, with a buffer of size bytes, in the current memory context. */
extern Tape *tape_create(SpillFile *file, Size size);

/* Appends a row, of len > 0 bytes at most UINT32_MAX. */
extern void tape_put(Tape *tape, const void *data, uint32 len);

/* All rows are there: to the start. */
extern void tape_finish(Tape *tape);

extern void tape_rewind(Tape *tape);
extern void tape_mark(Tape *tape);
extern void tape_restore(Tape *tape);

/*
 * The next row in either direction, as tuplesort counts: its length, or 0 if
 * there is none; then its bytes, which must be read.
 */
extern uint32 tape_next(Tape *tape, bool forward);
extern void tape_get(Tape *tape, void *data, uint32 len);

#endif							/* HPSORT_PG_NODES_SORT_STORE_TAPE_H */
