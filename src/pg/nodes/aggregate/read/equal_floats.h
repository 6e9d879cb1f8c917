/*
 * equal_floats.h
 *		EqualFloats: one integer for all floats that are equal: 0 and -0, and all NaNs.
 *
 * It is that of the first of them that was met, which PostgreSQL shows of a group, too.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_EQUAL_FLOATS_H
#define HPSORT_PG_NODES_AGGREGATE_READ_EQUAL_FLOATS_H

#include "postgres.h"

#include "pg/values/values.h"

/* Floats that are equal, though their integers are not. */
typedef struct EqualRange
{
	int64		least;			/* the integers from which to which they are */
	int64		most;
	int64		first;			/* the one that was met first */
	bool		met;
} EqualRange;

typedef struct EqualFloats
{
	EqualRange	zeros;
	EqualRange	nans;
} EqualFloats;

/* Describes the floats of a kind, float4 or float8. */
extern void equal_floats_init(EqualFloats *floats, ColumnKind kind);

/* Begins an execution: none has been met. */
extern void equal_floats_begin(EqualFloats *floats);

/* Whether a batch has values for which another may stand. */
extern bool equal_floats_any(const EqualFloats *floats, const ColumnBatch *batch);

/* Appends the rows of a batch to another one, equal floats as one integer. */
extern void equal_floats_append(EqualFloats *floats, const ColumnBatch *from, ColumnBatch *batch);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_EQUAL_FLOATS_H */
