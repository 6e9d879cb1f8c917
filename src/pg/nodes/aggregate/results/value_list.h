/*
 * value_list.h
 *		array_agg and string_agg of one group after the other, of values that no integer holds: from
 *		ordered runs of numbers (dictionary_order.h).
 *
 * Runs are kept until the group ends, for the last value may come first.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_LIST_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_LIST_H

#include "postgres.h"

#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/values/values.h"

/* Values that are gathered; the caller sets answer before. */
typedef struct ValueList
{
	AggregateAnswer answer;		/* how the call is answered */

	/* of a group */
	int64		nulls;			/* rows whose value is NULL */
	int64		total;			/* of the runs: how many values they have */
	size_t		n;				/* runs */
	size_t		room;			/* in runs */
	int64	   *values;			/* of the runs */
	int64	   *counts;
} ValueList;

/* These do what the functions of results.h do that have their names. */
extern void value_list_begin(ValueList *list, int64 nulls);
extern void value_list_take(ValueList *list, const ColumnDomain *domain, const int64 *values,
							const int64 *counts, size_t nruns);

/* Returns the array of the values in a domain, of elements of a type. */
extern Datum value_list_array(const ValueList *list, const ColumnDomain *domain, Oid type,
							  bool *isnull);

/*
 * Returns the values, which are texts or byteas, one behind the other, with a delimiter, which
 * perhaps is NULL, between them.
 */
extern Datum value_list_string(const ValueList *list, const ColumnDomain *domain, Datum delimiter,
							   bool delimiter_null, bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_LIST_H */
