/*
 * plan_check.h
 *		Whether a column may be read from its tables' pages.
 */
#ifndef HPSORT_PG_COLUMN_PLAN_CHECK_H
#define HPSORT_PG_COLUMN_PLAN_CHECK_H

#include "postgres.h"

#include "pg/column/sources.h"

/*
 * An error unless query, which is SELECT attribute FROM rel, is planned as a
 * plain scan of the sources and nothing else.  An extension that keeps the rows
 * elsewhere than in the sources' pages plans it differently.
 */
extern void column_check_plan(Relation rel, AttrNumber attnum, const char *query,
							  const ColumnSource *sources, int nsources);

#endif							/* HPSORT_PG_COLUMN_PLAN_CHECK_H */
