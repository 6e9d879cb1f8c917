/*
 * aggregates.h
 *		The support functions of hpsort's aggregates.
 *
 * The planner half of Custom Scan (HpSort Aggregate) recognises an aggregate of
 * hpsort's by the addresses of its transition and final functions.
 */
#ifndef HPSORT_PG_FUNCTIONS_AGGREGATES_H
#define HPSORT_PG_FUNCTIONS_AGGREGATES_H

#include "postgres.h"

#include "fmgr.h"

extern Datum hpsort_support_agg_transfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_agg_transfn_int2(PG_FUNCTION_ARGS);
extern Datum hpsort_support_agg_transfn_int8(PG_FUNCTION_ARGS);
extern Datum hpsort_support_agg_finalfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_runs_agg_finalfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_keys_agg_finalfn(PG_FUNCTION_ARGS);

#endif							/* HPSORT_PG_FUNCTIONS_AGGREGATES_H */
