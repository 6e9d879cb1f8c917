/*
 * aggregates.h
 *		The support functions of int4multiset_agg().
 *
 * The planner half of Custom Scan (HpSort Aggregate) recognises the aggregate by their
 * addresses.
 */
#ifndef HPSORT_PG_MULTISET_AGGREGATES_H
#define HPSORT_PG_MULTISET_AGGREGATES_H

#include "postgres.h"

#include "fmgr.h"

extern Datum hpsort_support_multiset_transfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_multiset_finalfn(PG_FUNCTION_ARGS);

#endif							/* HPSORT_PG_MULTISET_AGGREGATES_H */
