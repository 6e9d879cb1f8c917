/*
 * query.h
 *		Keys from any query: what hpsort_query runs, and what the column
 *		functions fall back to where a column is not simply read.
 */
#ifndef HPSORT_PG_COLUMN_QUERY_H
#define HPSORT_PG_COLUMN_QUERY_H

#include "postgres.h"

#include "nodes/params.h"
#include "nodes/parsenodes.h"

#include "pg/column/scan.h"

/*
 * Runs a query with the caller's rights, and adds its keys to sorter and the
 * number of its NULLs to *nulls.  read_only: under the active snapshot, as a
 * stable function must; otherwise under a new one.  An error unless the query is
 * one statement that only reads and returns one column: of an integer type if
 * type is InvalidOid, else of that type, which column_type_is_key has accepted.
 */
extern void query_fill_sorter(const char *query, bool read_only, Oid type,
							  Sorter *sorter, int64 *nulls);

/*
 * What a planner hook and a custom scan node can do better than return rows one
 * by one: put the keys of the query where they belong.  The sink reaches them as
 * the query's parameters, of which it has none: PostgreSQL hands the ParamListInfo
 * that a query is run with to the planner (boundParams) and to the executor
 * (es_param_list_info).  Under plan_cache_mode = force_generic_plan the planner
 * gets no parameters, and the rows come one by one.
 *
 * Other queries may be planned with the same parameters: an extension may plan
 * parts of the query on their own and use their rows itself.  The query whose
 * rows are this sink's is told from them by the address of its text, with which
 * the plan cache calls the planner.
 */
typedef struct QuerySink
{
	KeySink		keys;
	const char *query_string;	/* the plan cache's copy of the query's text */
	const Query *query;			/* while it is planned; else NULL */
} QuerySink;

/* The type tag of a QuerySink in a ParamListInfo: its paramFetch.  Never called. */
extern ParamExternData *query_sink_fetch(ParamListInfo params, int paramid, bool speculative,
										 ParamExternData *workspace);

/* The sink of a query with these parameters; NULL if it has none. */
static inline QuerySink *
query_sink(ParamListInfo params)
{
	return params && params->paramFetch == query_sink_fetch ? (QuerySink *) params->paramFetchArg
		: NULL;
}

#endif							/* HPSORT_PG_COLUMN_QUERY_H */
