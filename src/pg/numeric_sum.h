/*
 * numeric_sum.h
 *		Sums of 128 bits as numeric.
 */
#ifndef HPSORT_PG_NUMERIC_SUM_H
#define HPSORT_PG_NUMERIC_SUM_H

#include "postgres.h"

/* Returns the numeric that a sum of 128 bits becomes in core: without fraction digits. */
extern Datum numeric_from_sum(__int128 sum);

#endif							/* HPSORT_PG_NUMERIC_SUM_H */
