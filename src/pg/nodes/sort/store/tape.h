/*
 * order_tape.h
 *		Rows in a temporary file, read in either direction from any place.
 *
 * What is on disk and may be read backward is written once more in order, into
 * the bytes that it is read from (order_file.h).  A row is followed by its length,
 * as in core's tuplesort, so that it can be found from its end.
 */
#ifndef HPSORT_ORDER_TAPE_H
#define HPSORT_ORDER_TAPE_H

#include "postgres.h"

#include "order_file.h"

typedef struct OrderTape OrderTape;

/* Makes an empty tape, with a buffer of size bytes, in the current memory context. */
extern OrderTape *order_tape_create(OrderFile *file, Size size);

/* Appends a row, of len > 0 bytes at most UINT32_MAX. */
extern void order_tape_put(OrderTape *tape, const void *data, uint32 len);

/* All rows are there: to the start. */
extern void order_tape_finish(OrderTape *tape);

extern void order_tape_rewind(OrderTape *tape);
extern void order_tape_mark(OrderTape *tape);
extern void order_tape_restore(OrderTape *tape);

/*
 * The next row in either direction, as tuplesort counts: its length, or 0 if
 * there is none; then its bytes, which must be read.
 */
extern uint32 order_tape_next(OrderTape *tape, bool forward);
extern void order_tape_get(OrderTape *tape, void *data, uint32 len);

#endif							/* HPSORT_ORDER_TAPE_H */
