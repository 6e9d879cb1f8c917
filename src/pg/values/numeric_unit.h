/*
 * numeric_unit.h
 *		Numerics of a typmod of at most 18 digits as integers.
 *
 * numeric(10,2) has values of two digits after the point: as integers they are cents.  All values
 * of a column of such a type have its scale (apply_typmod in PostgreSQL's numeric.c), so that equal
 * values are equal integers, and look alike.  NaN is the integer above that of the largest value.
 * Infinities do not fit a typmod.
 */
#ifndef HPSORT_PG_VALUES_NUMERIC_UNIT_H
#define HPSORT_PG_VALUES_NUMERIC_UNIT_H

/* The unit is 10^-scale. */
typedef struct NumericUnit
{
	int16		digits;			/* decimal digits of the integers, at most 18 */
	int16		scale;			/* 0 to 18 */
} NumericUnit;

/*
 * Sets *unit to that of a type, numeric or a domain over it, with a typmod.  Returns false if it is
 * another type, or has none.
 */
extern bool numeric_unit_find(Oid type, int32 typmod, NumericUnit *unit);

/*
 * Returns the integer of a value as it is stored, at whichever address.  Raises an error for one
 * that does not fit the typmod, which only a change of the catalog behind PostgreSQL's back makes
 * possible.
 */
extern int64 numeric_unit_value(NumericUnit unit, const char *stored);

/*
 * Returns the least integer that is not below a value of any scale, and sets *between to whether it
 * is another value, which no value of the unit may be equal to.
 */
extern int64 numeric_unit_ceil(NumericUnit unit, Datum value, bool *between);

/* Returns the integer of NaN. */
extern int64 numeric_unit_nan(NumericUnit unit);

/* Returns the numeric that an integer stands for, in the current memory context. */
extern Datum numeric_unit_datum(NumericUnit unit, int64 value);

/* Returns the float8 that core's cast makes of the numeric that an integer stands for. */
extern float8 numeric_unit_float8(NumericUnit unit, int64 value);

/* Returns a sum of integers, none of them NaN, as core's sum of the numerics is. */
extern Datum numeric_unit_sum(NumericUnit unit, __int128 sum);

#endif							/* HPSORT_PG_VALUES_NUMERIC_UNIT_H */
