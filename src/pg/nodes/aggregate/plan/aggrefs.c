/*
 * aggrefs.c
 *		hpsort's aggregates as the parser leaves them in a query (see aggrefs.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "pg/functions/functions.h"
#include "pg/multiset/multiset.h"
#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/values/values.h"

/*
 * Whether a function is the C function of hpsort at address.  Its symbol is
 * compared first, because fmgr_info loads the library of a C function: those of
 * other extensions are not to be loaded by a look at their aggregates.
 */
static bool
is_function(Oid oid, PGFunction address, const char *symbol)
{
	HeapTuple	tuple;
	Datum		source;
	bool		isnull;
	bool		same;
	FmgrInfo	flinfo;

	/* The quick way out for PostgreSQL's own functions. */
	if (oid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(tuple))
		return false;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	same = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId && !isnull &&
		strcmp(TextDatumGetCString(source), symbol) == 0;
	ReleaseSysCache(tuple);
	if (!same)
		return false;
	fmgr_info(oid, &flinfo);
	return flinfo.fn_addr == address;
}

AggregateKind
aggref_kind(const Aggref *aggref)
{
	AggregateKind kind = AGGREGATE_NONE;
	HeapTuple	tuple;
	Oid			transition;
	bool		internal = aggref->aggtranstype == INTERNALOID;

	/* The state of int4multiset_agg is of the type that it returns. */
	if (aggref->aggfnoid < FirstNormalObjectId ||
		(!internal && (list_length(aggref->aggargtypes) != 1 ||
					   linitial_oid(aggref->aggargtypes) != INT4OID)))
		return AGGREGATE_NONE;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return AGGREGATE_NONE;
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	if (!internal)
	{
		if (is_function(transition, hpsort_support_multiset_transfn,
						"hpsort_support_multiset_transfn") &&
			is_function(((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn,
						hpsort_support_multiset_finalfn, "hpsort_support_multiset_finalfn"))
			kind = AGGREGATE_MULTISET;
	}
	else if (is_function(transition, hpsort_support_agg_transfn, "hpsort_support_agg_transfn") ||
			 is_function(transition, hpsort_support_agg_transfn_int2,
						 "hpsort_support_agg_transfn_int2") ||
			 is_function(transition, hpsort_support_agg_transfn_int8,
						 "hpsort_support_agg_transfn_int8"))
	{
		Oid			final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;

		if (is_function(final, hpsort_support_agg_finalfn, "hpsort_support_agg_finalfn"))
			kind = AGGREGATE_ARRAY;
		else if (is_function(final, hpsort_support_runs_agg_finalfn,
							 "hpsort_support_runs_agg_finalfn"))
			kind = AGGREGATE_RUNS;
		else if (is_function(final, hpsort_support_keys_agg_finalfn,
							 "hpsort_support_keys_agg_finalfn"))
			kind = AGGREGATE_KEYS;
	}
	ReleaseSysCache(tuple);
	return kind;
}

Var *
aggref_column(const Aggref *aggref)
{
	Node	   *expression = (Node *) linitial_node(TargetEntry, aggref->args)->expr;

	/* int2 becomes int4 by a function, a domain by a relabel. */
	if (IsA(expression, FuncExpr) && ((FuncExpr *) expression)->funcid == F_INT4_INT2)
		expression = linitial(((FuncExpr *) expression)->args);
	return plain_column(expression);
}
