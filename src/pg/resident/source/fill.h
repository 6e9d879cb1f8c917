/*
 * fill.h
 *		ResidentFill: making the missing extents of a table's declared columns, some blocks at a
 *		time.
 *
 * It finds out which extents are missing as a scan does, and makes them as a scan does; only the
 * pages of these extents are read, through a small ring of buffers.  It uses free memory only: no
 * other column gives up extents for it.
 *
 * A fill outlives transactions, so that its table need not be locked for long.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_FILL_H
#define HPSORT_PG_RESIDENT_SOURCE_FILL_H

#include "postgres.h"

#include "utils/rel.h"

typedef struct ResidentFill ResidentFill;

/*
 * Begins to fill the declared columns of a table, under the active snapshot.  Returns NULL if there
 * is nothing to fill, or this transaction may not (residency.h).  The fill is in a context below
 * parent.
 */
extern ResidentFill *resident_fill_begin(Relation rel, MemoryContext parent);

/* Whether the table has the file, and the declared columns, that the fill was begun for. */
extern bool resident_fill_fits(const ResidentFill *fill, Relation rel);

/*
 * Goes through the next 32 MB of the table, which is locked.  Returns whether there is more to do.
 * May raise any error of reading pages; then the fill is over, and goes with parent.
 */
extern bool resident_fill_more(ResidentFill *fill, Relation rel);

/* Ends a fill, at the end of the table or before it, and frees it. */
extern void resident_fill_end(ResidentFill *fill);

/*
 * Fills a table, in this transaction.  Returns false if the transaction may not fill it, but
 * others may.
 */
extern bool resident_fill_table(Relation rel);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_FILL_H */
