/*
 * keys_query.h
 *		The keys of a query or of a table's column: what hpsort_query() and the column
 *		functions have in common.
 *
 * Both run SELECT hpsort_support_keys_agg(x, lo, hi) FROM ... through SPI, so that
 * PostgreSQL plans it, checks rights and row security, and starts workers as for any
 * query, and Custom Scan (HpSort Aggregate) reads the tables.
 */
#ifndef HPSORT_PG_FUNCTIONS_KEYS_QUERY_H
#define HPSORT_PG_FUNCTIONS_KEYS_QUERY_H

#include "postgres.h"

#include "fmgr.h"

#include "pg/functions/aggregate_state.h"

/*
 * Runs a query, and returns its keys and the number of its NULLs.  A key that is not between lo
 * and hi is an error, and so is a query unless it is one statement that only reads and returns
 * one column of an integer type.  Its rights are the caller's, its snapshot is a new one.
 *
 * The state is in memory; sorter_reset() and the end of memory free it. fcinfo is the call of
 * the SQL function, whose extension has the aggregate.
 */
extern AggregateState *keys_of_query(FunctionCallInfo fcinfo, const char *query,
									 int32 lo, int32 hi, MemoryContext memory);

/*
 * Does what keys_of_query() does for SELECT attribute FROM relid, under the active snapshot.  A
 * column whose values cannot be keys is an error as well.  The table's lock stays until the end
 * of the transaction.
 */
extern AggregateState *keys_of_column(FunctionCallInfo fcinfo, Oid relid, const char *attribute,
									  int32 lo, int32 hi, MemoryContext memory);

#endif							/* HPSORT_PG_FUNCTIONS_KEYS_QUERY_H */
