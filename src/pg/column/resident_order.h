/*
 * resident_order.h
 *		ResidentOrder: a scan's extents in the order of their bounds, for the first rows in the order of a
 *		column.
 *
 * Where only the first rows are wanted, each extent read makes fewer of the others worth reading; and
 * most of all the extent in which the first row may be.  Of a column that grows with the table, which is
 * read for its largest values, extents in the order of blocks would each have rows that are wanted for a while.
 */
#ifndef HPSORT_PG_COLUMN_RESIDENT_ORDER_H
#define HPSORT_PG_COLUMN_RESIDENT_ORDER_H

#include "postgres.h"

#include "pg/column/batch.h"
#include "pg/column/resident_valid.h"

typedef struct ResidentOrder ResidentOrder;

/*
 * For extents of ncolumns columns, of which the first has the order, with room for so many at first; in the current memory
 * context.
 */
extern ResidentOrder *resident_order_make(int ncolumns, bool descending, size_t room);

/* Adds an extent, as the columns' readers know it, and those of its blocks that are valid. */
extern void resident_order_add(ResidentOrder *order, const SourceColumn *columns, uint32 number,
							   const ResidentBlocks *valid);

/*
 * The next extent in the order of its smallest value, or of the largest if descending: the columns' readers
 * know it again as they did.  False after the last one; no extent is added after the first call.
 */
extern bool resident_order_next(ResidentOrder *order, SourceColumn *columns, uint32 *number,
								ResidentBlocks *valid);

/* Whether no row of the extent is within the cutoff, as its bounds say. */
extern bool resident_order_is_beyond(const ResidentExtent *extent, const ColumnCutoff *cutoff);

#endif							/* HPSORT_PG_COLUMN_RESIDENT_ORDER_H */
