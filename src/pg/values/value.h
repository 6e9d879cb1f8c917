/*
 * value.h
 *		The types of columns, as integers.
 *
 * The value of a Datum is a signed integer of at most 64 bits.  Values of one kind
 * are in the order of the type's default btree operator class.  An enum's value is its label's
 * OID, in the order of OIDs.  A float has a value for each bit pattern: -0 is before 0, and
 * different NaNs are last; column_value_equals() says which of them are equal.
 *
 * A batch holds narrow values in 32 bits, less column_kind_bias(), and others in 64.
 * The image of a value is the integer of a batch with its sign bit flipped: an unsigned integer in
 * the same order.
 */
#ifndef HPSORT_PG_VALUES_VALUE_H
#define HPSORT_PG_VALUES_VALUE_H

#include "pg/compat.h"
#include "sort/float_image.h"

/* How values of a type become integers, and are read from rows. */
typedef enum ColumnKind
{
	COLUMN_KIND_NONE = 0,		/* not read */
	COLUMN_KIND_BOOL,
	COLUMN_KIND_CHAR,			/* "char", as core compares it: unsigned */
	COLUMN_KIND_INT2,
	COLUMN_KIND_INT4,			/* and date */
	COLUMN_KIND_OID,
	COLUMN_KIND_ENUM,
	COLUMN_KIND_FLOAT4,			/* its key (float_image.h) */
	COLUMN_KIND_NUMBER,			/* of any type: the value's number in a Dictionary */
	COLUMN_KIND_PRESENCE,		/* of any type: 0 */
	COLUMN_KIND_INT8,			/* and time, timestamp, timestamptz */
	COLUMN_KIND_FLOAT8,			/* its key */
	COLUMN_KIND_NUMERIC,		/* of few digits: its units (numeric_unit.h) */
	COLUMN_KIND_IMAGE,			/* of any type: what a ColumnImage makes of the value */
	/* Of sort keys only; equal images may be of different values. */
	COLUMN_KIND_INTERVAL,
	COLUMN_KIND_ABBREVIATED		/* by the type's sort support */
} ColumnKind;

struct Dictionary;

/*
 * What a scan's caller wants a column read as, where that is not the value itself: as its number
 * in a dictionary, as 0, or as an integer that make returns for each value that is not NULL.
 * Values are taken in the order of the rows.  A value lies in its page, which is pinned, not
 * locked, and may have to be detoasted.
 */
typedef struct ColumnImage
{
	int64		(*make) (void *arg, Datum value);	/* or NULL */
	bool		(*is_full) (const void *arg);	/* the batch must have no more rows; or NULL */
	void	   *arg;
	struct Dictionary *dictionary;	/* or NULL */
	bool		presence;		/* as 0: only whether it is NULL is wanted */
} ColumnImage;

/*
 * Returns the kind of a type, or of the type below a domain; COLUMN_KIND_NONE if it is not
 * read.
 */
extern ColumnKind column_read_kind(Oid type);

/* Returns the kind of a type that is no domain and no enum; COLUMN_KIND_NONE if it is not read. */
extern ColumnKind column_builtin_kind(Oid type);

/*
 * Does what column_read_kind() does, but has COLUMN_KIND_NONE for floats: values of the other
 * kinds are integers of which equal ones are equal values, and which can be resident.
 */
extern ColumnKind column_kind(Oid type);

/*
 * Returns the kind of the values that aggregates are of, floats and numerics of few digits among
 * them, by type and typmod of a column; COLUMN_KIND_NONE if they have no values.
 */
extern ColumnKind column_value_kind(Oid type, int32 typmod);

/*
 * Whether values of a type, or of a domain over it, can be keys of a sort: int2, int4, int8
 * within the range of int4, and date.
 */
extern bool column_type_is_key(Oid type);

/*
 * Returns the key of a value of a type whose values can be keys and which is no domain.  An
 * int8 outside the range of int4 is an error.  A date becomes its days since 2000-01-01, an
 * infinite date the smallest or largest int4.
 */
extern int32 column_key(Oid base_type, Datum value);

/*
 * Raises the error of an int8 that is no int4.  No value is named, since it depends on the plan
 * which of several values is found.
 */
pg_noreturn extern void column_complain_about_range(void);

/* Returns an int8 as an int4.  An error if it is none. */
static inline int32
column_narrow(int64 value)
{
	if (unlikely(value != (int32) value))
		column_complain_about_range();
	return (int32) value;
}

/* Whether values of a kind take 64 bits; others take 32. */
static inline bool
column_kind_is_wide(ColumnKind kind)
{
	return kind >= COLUMN_KIND_INT8;
}

/*
 * Returns the number that makes a narrow value an int32 in the same order, when it is taken
 * from the value: a batch holds the difference.  It is not 0 for OIDs, which are unsigned.
 */
static inline int64
column_kind_bias(ColumnKind kind)
{
	return kind == COLUMN_KIND_OID || kind == COLUMN_KIND_ENUM ? INT64CONST(0x80000000) : 0;
}

/* Returns the largest image of a kind. */
static inline uint64
column_kind_mask(ColumnKind kind)
{
	return column_kind_is_wide(kind) ? PG_UINT64_MAX : PG_UINT32_MAX;
}

/* Returns the bit that is flipped in an integer, as a batch holds it, to make its image. */
static inline uint64
column_kind_sign(ColumnKind kind)
{
	return column_kind_is_wide(kind) ? UINT64CONST(1) << 63 : UINT64CONST(1) << 31;
}

/* Whether values of a kind may be equal though they are different integers. */
static inline bool
column_kind_is_float(ColumnKind kind)
{
	return kind == COLUMN_KIND_FLOAT4 || kind == COLUMN_KIND_FLOAT8;
}

/* Returns the integer that stands for all integers of a float's kind that are equal values. */
static inline int64
column_value_equals(ColumnKind kind, int64 value)
{
	return kind == COLUMN_KIND_FLOAT4 ? float4_key_equals((int32) value) : float8_key_equals(value);
}

/*
 * Returns the integer of a value of a kind other than COLUMN_KIND_NUMERIC.  A float's Datum is that
 * of the integer that has its bits.
 */
static inline int64
column_value(ColumnKind kind, Datum datum)
{
	switch (kind)
	{
		case COLUMN_KIND_BOOL:
			return DatumGetBool(datum) ? 1 : 0;
		case COLUMN_KIND_CHAR:
			return (uint8) DatumGetChar(datum);
		case COLUMN_KIND_INT2:
			return DatumGetInt16(datum);
		case COLUMN_KIND_INT4:
			return DatumGetInt32(datum);
		case COLUMN_KIND_FLOAT4:
			return float4_key((uint32) DatumGetInt32(datum));
		case COLUMN_KIND_OID:
		case COLUMN_KIND_ENUM:
			return DatumGetObjectId(datum);
		case COLUMN_KIND_INT8:
			return DatumGetInt64(datum);
		case COLUMN_KIND_FLOAT8:
			return float8_key((uint64) DatumGetInt64(datum));
		default:
			pg_unreachable();
	}
}

/* Returns the value of an integer of a kind other than COLUMN_KIND_NUMERIC. */
static inline Datum
column_datum(ColumnKind kind, int64 value)
{
	switch (kind)
	{
		case COLUMN_KIND_BOOL:
			return BoolGetDatum(value != 0);
		case COLUMN_KIND_CHAR:
			return CharGetDatum((char) value);
		case COLUMN_KIND_INT2:
			return Int16GetDatum((int16) value);
		case COLUMN_KIND_INT4:
			return Int32GetDatum((int32) value);
		case COLUMN_KIND_FLOAT4:
			return Int32GetDatum((int32) float4_key_bits((int32) value));
		case COLUMN_KIND_OID:
		case COLUMN_KIND_ENUM:
			return ObjectIdGetDatum((Oid) value);
		case COLUMN_KIND_INT8:
			return Int64GetDatum(value);
		case COLUMN_KIND_FLOAT8:
			return Int64GetDatum((int64) float8_key_bits(value));
		default:
			pg_unreachable();
	}
}

#endif							/* HPSORT_PG_VALUES_VALUE_H */
