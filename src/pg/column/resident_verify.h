/*
 * resident_verify.h
 *		hpsort.verify_resident: what was read of resident columns against the table's pages.
 *
 * An error that names the relation, and the block or the column, if they differ.
 */
#ifndef HPSORT_PG_COLUMN_RESIDENT_VERIFY_H
#define HPSORT_PG_COLUMN_RESIDENT_VERIFY_H

#include "postgres.h"

#include "utils/rel.h"

#include "pg/column/batch.h"
#include "pg/column/row.h"

/*
 * Compares what was added to batches of a block, behind the elements that before has, with the rows
 * of its page.
 */
extern void resident_verify_block(Relation rel, const RowLayout *layout, int nbatches,
								  BlockNumber block, const ColumnBatch *batches,
								  const ColumnBatch *before, const ColumnBatch *page);

/* Reads the next page, of which there are rows then in the batches; false at the end. */
typedef bool (*ResidentVerifyNext) (void *arg);

/* Compares runs of a single column with the rows of pages, which next reads into page. */
extern void resident_verify_runs(Relation rel, const RowLayout *layout, const ColumnBatch *page,
								 const Runs *runs, ResidentVerifyNext next, void *arg);

#endif							/* HPSORT_PG_COLUMN_RESIDENT_VERIFY_H */
