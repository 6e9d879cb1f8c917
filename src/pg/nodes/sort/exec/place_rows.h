/*
 * place_rows.h
 *		Rows that stay where they are in their table, fetched by their places: as the
 *		node that scans the table would have returned them, and their values for keys
 *		that are left to core's comparison.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_PLACE_ROWS_H
#define HPSORT_PG_NODES_SORT_EXEC_PLACE_ROWS_H

#include "postgres.h"

#include "executor/executor.h"
#include "nodes/execnodes.h"

#include "pg/nodes/sort/store/store.h"
#include "pg/pages/pages.h"

typedef struct PlaceRows
{
	RowElsewhere elsewhere;		/* for a RowStore, and an external sort of one */
	RowFetch   *fetch;
	ScanState  *child;
	TupleTableSlot *slot;		/* a row as it is in the table */
	AttrNumber *attnums;		/* the table's columns that keys left to core are */
	MemoryContext copies;		/* values from pages that do not stay pinned, of the first of
								 * these keys ... */
	MemoryContext recent[2];	/* ... and of others, in turn */
	int			turn;
} PlaceRows;

/*
 * Makes the rows that fetch has of the child's table, in a memory context.  Of keys those left to
 * core are read of the rows.
 */
extern PlaceRows *place_rows_create(RowFetch *fetch, ScanState *child, TupleTableSlot *slot,
									const KeyColumns *keys, MemoryContext memory);

/* The row in the slot as the child would have returned it. */
static inline TupleTableSlot *
place_rows_project(ScanState *child, TupleTableSlot *slot)
{
	ProjectionInfo *projection = child->ps.ps_ProjInfo;

	if (projection == NULL)
		return slot;
	ResetExprContext(projection->pi_exprContext);
	projection->pi_exprContext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

#endif							/* HPSORT_PG_NODES_SORT_EXEC_PLACE_ROWS_H */
