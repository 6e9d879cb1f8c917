/*
 * rights.c
 *		The rights that core checks of functions which the node does not call (see rights.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/results/rights.h"

void
aggregate_check_function(Oid function, Oid role)
{
	if (!OidIsValid(function))
		return;
	if (!compat_role_may_execute(function, role))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

Oid
aggregate_check_call(const Aggref *aggref)
{
	Oid			aggregate = aggref->aggfnoid;
	HeapTuple	tuple;
	Oid			transition;
	Oid			final;
	Oid			owner;

	if (!compat_role_may_execute(aggregate, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_AGGREGATE, get_func_name(aggregate));
	InvokeFunctionExecuteHook(aggregate);

	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;
	ReleaseSysCache(tuple);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", aggregate);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	aggregate_check_function(transition, owner);
	aggregate_check_function(final, owner);
	foreach_node(TargetEntry, target, aggref->args)
	{
		const Expr *argument = target->expr;

		if (IsA(argument, FuncExpr))
			aggregate_check_function(((const FuncExpr *) argument)->funcid, GetUserId());
	}
	return final;
}
