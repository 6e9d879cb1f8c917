/*
 * numeric_sum.h
 *		Sums of 128 bits as numeric.
 */
#ifndef HPSORT_PG_NUMERIC_SUM_H
#define HPSORT_PG_NUMERIC_SUM_H

#include "postgres.h"

/* The numeric that core's 128-bit sums become: without fraction digits. */
extern Datum numeric_from_sum(__int128 sum);

#endif							/* HPSORT_PG_NUMERIC_SUM_H */
