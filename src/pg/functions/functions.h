/*
 * functions.h
 *		What others use of hpsort's functions and aggregates.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	aggregate_state.h       hpsort's aggregates: their state, and the functions that make them
 *	arguments.h             arguments of SQL functions
 *	keys_query.h            keys of a column or a query, through SPI
 *	preload.h               whether the library is there when the first query is planned
 *	run_array.h             arrays of runs
 */
#ifndef HPSORT_PG_FUNCTIONS_FUNCTIONS_H
#define HPSORT_PG_FUNCTIONS_FUNCTIONS_H

#include "postgres.h"

#include "pg/functions/aggregate_state.h"
#include "pg/functions/arguments.h"
#include "pg/functions/keys_query.h"
#include "pg/functions/preload.h"
#include "pg/functions/run_array.h"

#endif							/* HPSORT_PG_FUNCTIONS_FUNCTIONS_H */
