/*
 * column.c
 *		hpsort_column_multiset(): a table's column as a multiset.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pg/functions/functions.h"
#include "pg/last_sort.h"
#include "pg/multiset/expanded.h"

PG_FUNCTION_INFO_V1(hpsort_column_multiset);

/*
 * (rel regclass, attribute name, lo int4, hi int4) returns int4multiset: NULL for no rows, as
 * int4multiset_agg
 */
Datum
hpsort_column_multiset(PG_FUNCTION_ARGS)
{
	AggregateState *keys;
	bytea	   *value;
	int32		lo;
	int32		hi;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	sort_bounds_from_args(fcinfo, 2, &lo, &hi);
	keys = keys_of_column(fcinfo, PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), lo, hi,
						  CurrentMemoryContext);
	value = multiset_sorter_flat(&keys->sorter);
	last_sort_record("hpsort_column_multiset", &keys->sorter, NULL, keys->nulls);
	if (sorter_count(&keys->sorter) + keys->nulls == 0)
		PG_RETURN_NULL();
	sorter_reset(&keys->sorter);
	PG_RETURN_BYTEA_P(value);
}
