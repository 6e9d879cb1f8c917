/*
 * plan_check.h
 *		Whether a column may be read from its tables' pages.
 */
#ifndef HPSORT_PG_COLUMN_PLAN_CHECK_H
#define HPSORT_PG_COLUMN_PLAN_CHECK_H

#include "postgres.h"

#include "pg/column/sources.h"

/*
 * Whether query, which is SELECT attribute FROM rel, is planned as a plain scan
 * of the sources and nothing else.  An extension that keeps the rows elsewhere
 * than in the sources' pages plans it differently: its rows are those that the
 * query returns when it is run.  Raises whatever planning the query raises.
 */
extern bool column_plan_scans(const char *query, const ColumnSource *sources, int nsources);

#endif							/* HPSORT_PG_COLUMN_PLAN_CHECK_H */
