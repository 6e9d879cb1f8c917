/*
 * capture.h
 *		Making resident extents of the pages that a scan reads.
 *
 * A scan that reads all blocks of an extent, in order, from pages shows each page to a Capture.
 * The Capture takes the rows of all-visible pages, and in the end makes an extent of each column.
 * Nothing that a capture has is shared before that, so that an error needs no clean-up, and two
 * sessions that do the same do no harm.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_CAPTURE_H
#define HPSORT_PG_RESIDENT_EXTENTS_CAPTURE_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "utils/rel.h"

#include "pg/resident/extents/visibility.h"
#include "pg/resident/memory/memory.h"

typedef struct Capture Capture;

/* A column that may be captured. */
typedef struct CaptureColumn
{
	ResidentKey key;
	AttrNumber	attnum;
	ResidentSweep sweep;		/* of this scan */
	int			captured;		/* extents made resident in this scan */
	bool		out_of_range;	/* there was a value that is no int4 */
} CaptureColumn;

/* An extent, and what was known of it before its pages were read. */
typedef struct CaptureExtent
{
	BlockNumber first;
	int			nblocks;
	ResidentBlocks visible;		/* all-visible in a copy of the visibility map */
	uint64		lsn;			/* of the copy */
	Bitmapset  *wanted;			/* columns to be captured; NULL: none */
} CaptureExtent;

/*
 * Makes a capture in the current memory context, by whose end it is freed; columns belong to the
 * caller.
 */
extern Capture *capture_make(Relation rel, int ncolumns, CaptureColumn *columns);

/*
 * Begins an extent.  nextents: how many of each column may follow, this one included, for their
 * memory.  The extent's wanted columns belong to the caller until capture_end.
 */
extern void capture_begin(Capture *capture, const CaptureExtent *extent, uint32 nextents);

/* Takes the page in buffer, which is pinned but not locked, if the extent has its block. */
extern void capture_page(Capture *capture, Buffer buffer);

/* Ends the extent: makes it resident if it has blocks enough.  May wait for memory. */
extern void capture_end(Capture *capture);

/* The first block of the extent; InvalidBlockNumber if none has begun. */
extern BlockNumber capture_first(const Capture *capture);

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_CAPTURE_H */
