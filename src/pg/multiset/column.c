/*
 * column.c
 *		hpsort_column_multiset(): a table's column as a multiset, without the executor.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pg/column/fill.h"
#include "pg/functions/arguments.h"
#include "pg/last_sort.h"
#include "pg/multiset/expanded.h"

PG_FUNCTION_INFO_V1(hpsort_column_multiset);

/*
 * (rel regclass, attribute name, lo int4, hi int4) returns int4multiset, NULL for no rows
 * as int4multiset_agg
 */
Datum
hpsort_column_multiset(PG_FUNCTION_ARGS)
{
	SortContext context;
	Sorter		sorter;
	bytea	   *value;
	int64		nulls = 0;
	int32		lo;
	int32		hi;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	sort_bounds_from_args(fcinfo, 2, &lo, &hi);
	pg_sort_context(&context, CurrentMemoryContext);
	sorter_init(&sorter, &context, lo, hi);
	column_fill_sorter(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), &sorter, &nulls);
	value = multiset_sorter_flat(&sorter);
	last_sort_record("hpsort_column_multiset", &sorter, NULL, nulls);
	if (sorter_count(&sorter) + nulls == 0)
		PG_RETURN_NULL();
	sorter_reset(&sorter);
	PG_RETURN_BYTEA_P(value);
}
