/*
 * value_list.h
 *		array_agg and string_agg of one group after the other, of values that no integer holds: from
 *		ordered runs of numbers (dictionary_order.h).
 *
 * Values are kept until the group ends, for the last one may come first; but a string in ascending
 * order grows with them.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_LIST_H
#define HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_LIST_H

#include "lib/stringinfo.h"

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
	Datum	   *values;			/* of the runs */
	int64	   *counts;
	const struct varlena *between;	/* string_agg's delimiter; NULL: none */
	StringInfoData string;		/* string_agg's values; its data is NULL before the first one */
} ValueList;

/*
 * These do what the functions of results.h do that have their names.  The delimiter, which perhaps
 * is NULL, is string_agg's.
 */
extern void value_list_begin(ValueList *list, int64 nulls, Datum delimiter, bool no_delimiter);
extern void value_list_take(ValueList *list, const ColumnDomain *domain, const int64 *values,
							const int64 *counts, size_t nruns);

/* Returns the array of the values, of elements of a type. */
extern Datum value_list_array(const ValueList *list, Oid type, bool *isnull);

/* Returns the values, which are texts or byteas, one behind the other, with delimiters. */
extern Datum value_list_string(ValueList *list, bool *isnull);

#endif							/* HPSORT_PG_NODES_AGGREGATE_RESULTS_VALUE_LIST_H */
