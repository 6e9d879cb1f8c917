/*
 * saved_rows.h
 *		SavedRows: what batches had, and all else that adding rows changes, before rows were added.
 *
 * For resident_source.c alone.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_SAVED_ROWS_H
#define HPSORT_PG_RESIDENT_SOURCE_SAVED_ROWS_H

#include "postgres.h"

#include "pg/values/values.h"

typedef struct SavedRows
{
	/* what is saved */
	int			nbatches;
	BatchPages *tids;			/* or NULL */
	ColumnCutoff *cutoff;		/* or NULL */
	uint64	   *filtered;
	uint64	   *unmatched;

	/* as it was */
	ColumnBatch *batches;		/* nbatches */
	int			pages;			/* of rows with TIDs */
	uint64		skipped;		/* by the cutoff */
	uint64		nfiltered;
	uint64		nunmatched;
} SavedRows;

static inline void
saved_rows_save(SavedRows *saved, const ColumnBatch *batches)
{
	memcpy(saved->batches, batches, saved->nbatches * sizeof(ColumnBatch));
	saved->pages = saved->tids ? saved->tids->n : 0;
	saved->skipped = saved->cutoff ? saved->cutoff->skipped : 0;
	saved->nfiltered = *saved->filtered;
	saved->nunmatched = *saved->unmatched;
}

/* Has everything be as it was. */
static inline void
saved_rows_take_back(const SavedRows *saved, ColumnBatch *batches)
{
	int			b;

	for (b = 0; b < saved->nbatches; b++)
		column_batch_take_back(&batches[b], &saved->batches[b]);
	if (saved->tids)
		saved->tids->n = saved->pages;
	if (saved->cutoff)
		saved->cutoff->skipped = saved->skipped;
	*saved->filtered = saved->nfiltered;
	*saved->unmatched = saved->nunmatched;
}

#endif							/* HPSORT_PG_RESIDENT_SOURCE_SAVED_ROWS_H */
