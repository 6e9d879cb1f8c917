/*
 * aggregates.c
 *		int4multiset_agg() and int4multiset_sum(): support functions over states that
 *		are multisets themselves.
 *
 * A state is an expanded multiset that stays where it is as long as its group does.
 * Between two calls a caller may also keep it as a flat value, or as its text: an
 * extension does that computes parts of an aggregate on other nodes.  Nothing here needs
 * the call's expression or memory of earlier calls.  States are not ordered, so the final
 * function only reads them, and window aggregates go on adding.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pg/multiset/expanded.h"

PG_FUNCTION_INFO_V1(hpsort_support_multiset_transfn);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_weight_transfn);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_sum_transfn);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_moving_transfn);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_moving_invtransfn);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_finalfn);

/*
 * Returns a new state, in the aggregate's memory, for argument 0, which is no state that may be
 * changed: NULL gives an empty one, a flat value one with its keys.  With moving, keys will be
 * taken away from the state.
 */
static pg_noinline ExpandedMultiset *
begin_state(FunctionCallInfo fcinfo, bool moving)
{
	ExpandedMultiset *state = multiset_expanded_make(fcinfo);

	if (!PG_ARGISNULL(0) && moving)
		multiset_expanded_move(state, PG_GETARG_DATUM(0), false);
	else if (!PG_ARGISNULL(0))
		multiset_expanded_add(state, PG_GETARG_DATUM(0));
	return state;
}

/* Returns the state in argument 0, or a new one for it.  With moving, keys will be taken away. */
static inline ExpandedMultiset *
state_arg(FunctionCallInfo fcinfo, bool moving)
{
	ExpandedMultiset *state = PG_ARGISNULL(0) ? NULL :
	multiset_expanded_writable(PG_GETARG_DATUM(0));

	return likely(state != NULL) ? state : begin_state(fcinfo, moving);
}

/*
 * (int4multiset, int4) returns int4multiset: transition function of int4multiset_agg(x).  Adds the
 * key, unless it is NULL.  The state is never NULL, so that groups of NULLs alone have an empty
 * multiset.
 */
Datum
hpsort_support_multiset_transfn(PG_FUNCTION_ARGS)
{
	ExpandedMultiset *state = state_arg(fcinfo, false);

	if (!PG_ARGISNULL(1))
		multiset_expanded_put(state, PG_GETARG_INT32(1));
	return multiset_expanded_datum(state);
}

/*
 * (int4multiset, int4, weight int8) returns int4multiset: transition function of
 * int4multiset_agg(x, weight).  Adds the key weight times, unless one of them is NULL.  A negative
 * weight is an error.
 */
Datum
hpsort_support_multiset_weight_transfn(PG_FUNCTION_ARGS)
{
	ExpandedMultiset *state = state_arg(fcinfo, false);
	int64		weight = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT64(2);

	if (weight < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight must not be negative")));
	if (weight > 0 && !PG_ARGISNULL(1))
		multiset_expanded_put_run(state, PG_GETARG_INT32(1), (uint64) weight);
	return multiset_expanded_datum(state);
}

/*
 * (int4multiset, int4multiset) returns int4multiset, strict: adds the second to the first.  It
 * is the combine function of both aggregates as well.
 */
Datum
hpsort_support_multiset_sum_transfn(PG_FUNCTION_ARGS)
{
	ExpandedMultiset *state = state_arg(fcinfo, false);

	multiset_expanded_add(state, PG_GETARG_DATUM(1));
	return multiset_expanded_datum(state);
}

/* (int4multiset, int4multiset) returns int4multiset: adds a row to a window's moving frame */
Datum
hpsort_support_multiset_moving_transfn(PG_FUNCTION_ARGS)
{
	ExpandedMultiset *state = state_arg(fcinfo, true);

	multiset_expanded_move(state, PG_GETARG_DATUM(1), false);
	return multiset_expanded_datum(state);
}

/* (int4multiset, int4multiset) returns int4multiset: takes the row that leaves the frame away */
Datum
hpsort_support_multiset_moving_invtransfn(PG_FUNCTION_ARGS)
{
	ExpandedMultiset *state = state_arg(fcinfo, true);

	multiset_expanded_move(state, PG_GETARG_DATUM(1), true);
	return multiset_expanded_datum(state);
}

/* (int4multiset) returns int4multiset, strict: a flat value, which is read more than once */
Datum
hpsort_support_multiset_finalfn(PG_FUNCTION_ARGS)
{
	Datum		state = PG_GETARG_DATUM(0);

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(state)))
		return state;
	return PointerGetDatum(multiset_expanded_flat(multiset_expanded(state)));
}
