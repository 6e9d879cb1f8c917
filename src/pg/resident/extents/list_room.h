/*
 * list_room.h
 *		Memory for a query's list of extents, which the session keeps for its next query.
 *
 * The list of the extents of 700,000 blocks takes 250 kB.  Memory of that size is the operating
 * system's again when it is freed, and the next query has a page fault for each of its 61 pages:
 * 4.5 us each on a virtual machine with an H100, together more than that GPU takes for counting
 * the rows.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_LIST_ROOM_H
#define HPSORT_PG_RESIDENT_EXTENTS_LIST_ROOM_H

#include "postgres.h"

/* The largest list whose memory is kept, in bytes; a session keeps one. */
#define LIST_ROOM_KEPT ((Size) 2 * 1024 * 1024)

/*
 * Memory of so many bytes, not cleared, that is the caller's until the context is reset or
 * deleted; it must not be freed or resized.
 */
extern void *list_room_take(MemoryContext context, Size size);

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_LIST_ROOM_H */
