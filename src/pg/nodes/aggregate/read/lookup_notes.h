/*
 * lookup_notes.h
 *		LookupNotes: rows of blocks that are not resident, which groups_lookup.c gives the GPU keys
 *		of.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_LOOKUP_NOTES_H
#define HPSORT_PG_NODES_AGGREGATE_READ_LOOKUP_NOTES_H

#include "pg/values/values.h"

typedef struct LookupNotes
{
	MemoryContext memory;		/* the caller's */
	int			ncolumns;
	int			nfilters;
	ColumnBatch *columns;		/* n rows of each: keys, also of wide kinds, and NULLs; and behind
								 * them of filters, by which rows are refused that are NULL */
	size_t		n;				/* rows */
	size_t		room;			/* for rows */
	size_t		limit;			/* bytes of the rows */
	const int64 *origins;		/* by column, of wide kinds: the value that is noted as 0 */
	bool		closed;			/* nothing is noted any more: a value was too far from its origin,
								 * or rows took more than limit */
} LookupNotes;

/*
 * Begins without rows of ncolumns columns and nfilters filters, in memory, which the caller frees.
 * limit is bytes.  The caller sets origins before the first row.
 */
extern void lookup_notes_begin(LookupNotes *notes, MemoryContext memory, int ncolumns,
							   int nfilters, size_t limit);

/* Notes the rows of batches, neither packed nor runs.  Closes the notes if it cannot. */
extern void lookup_notes_add(LookupNotes *notes, const ColumnBatch *batches);

/* Closes the notes and frees their rows; n stays. */
extern void lookup_notes_end(LookupNotes *notes);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_LOOKUP_NOTES_H */
