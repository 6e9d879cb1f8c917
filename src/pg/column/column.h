/*
 * column.h
 *		Columns of a table, in batches: from resident extents and from pages.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	reader.h                a reader of columns of one table
 *	scan.h                  the loop around a reader
 */
#ifndef HPSORT_PG_COLUMN_COLUMN_H
#define HPSORT_PG_COLUMN_COLUMN_H

#include "postgres.h"

#include "pg/column/reader.h"
#include "pg/column/scan.h"

#endif							/* HPSORT_PG_COLUMN_COLUMN_H */
