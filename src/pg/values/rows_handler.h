/*
 * rows_handler.h
 *		ResidentRowsHandler: answers a query of a scan's resident rows without reading them.
 */
#ifndef HPSORT_PG_VALUES_ROWS_HANDLER_H
#define HPSORT_PG_VALUES_ROWS_HANDLER_H

#include "postgres.h"

struct ResidentRows;

/*
 * A query may answer resident rows without reading them.  The scan sets has_rows before its
 * first row if the table has resident rows.  After the last row that it reads, it calls
 * handle() once with the resident rows (resident_rows.h).  If handle() returns true, they are
 * answered and the scan ends; otherwise the scan reads them.
 */
typedef struct ResidentRowsHandler
{
	bool		(*handle) (void *arg, struct ResidentRows *rows);
	void	   *arg;
	bool		has_rows;
} ResidentRowsHandler;

#endif							/* HPSORT_PG_VALUES_ROWS_HANDLER_H */
