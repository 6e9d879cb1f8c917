/*
 * taker.h
 *		ColumnTaker: whoever takes a scan's resident rows in place of reading them.
 */
#ifndef HPSORT_PG_COLUMN_TAKER_H
#define HPSORT_PG_COLUMN_TAKER_H

#include "postgres.h"

struct ResidentRows;

/*
 * The scan sets waits, before it returns any rows, if there are such rows.  Then take is called once, when all other rows have been read: true if it has learned all that is wanted of these rows
 * (resident_rows.h), which are not read then.
 */
typedef struct ColumnTaker
{
	bool		(*take) (void *arg, struct ResidentRows *rows);
	void	   *arg;
	bool		waits;
} ColumnTaker;

#endif							/* HPSORT_PG_COLUMN_TAKER_H */
