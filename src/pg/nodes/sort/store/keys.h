/*
 * keys.h
 *		Sort keys as unsigned integers: which types can be mapped, and how.
 *
 * The image of a value is an unsigned integer of at most 64 bits.  Images are in
 * the order that ORDER BY wants: the sign bit is flipped, and all bits are when the
 * direction is descending.  NULL has no image; a flag of the key says whether NULLs
 * come first.
 *
 * The images of most types are exact: those of different values differ.  Others are
 * only never in the wrong order: the span of an interval that 64 bits do not hold,
 * and the abbreviations that a type's sort support makes (abbreviation.h).  Values of
 * such equal images are compared by core.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_KEYS_H
#define HPSORT_PG_NODES_SORT_STORE_KEYS_H

#include "postgres.h"

#include <math.h>

#include "executor/tuptable.h"
#include "nodes/pg_list.h"
#include "utils/sortsupport.h"
#include "utils/timestamp.h"

#include "pg/enum_labels.h"
#include "pg/nodes/sort/store/abbreviation.h"

/* How a type is mapped. */
typedef enum KeyKind
{
	KEY_KIND_NONE = 0,			/* not mapped: compared by core */
	KEY_KIND_BOOL,
	KEY_KIND_CHAR,				/* "char", as core compares it: unsigned */
	KEY_KIND_INT2,
	KEY_KIND_INT4,				/* and date */
	KEY_KIND_OID,
	KEY_KIND_ENUM,
	KEY_KIND_INT8,				/* and time, timestamp, timestamptz */
	KEY_KIND_FLOAT4,
	KEY_KIND_FLOAT8,
	KEY_KIND_INTERVAL,			/* not exact */
	KEY_KIND_ABBREVIATED		/* not exact: by the type's sort support */
} KeyKind;

/* One key of ORDER BY. */
typedef struct KeyColumn
{
	AttrNumber	attno;			/* column of the input, from 1 */
	Oid			sortop;
	Oid			collation;
	bool		nulls_first;
	bool		descending;
	KeyKind kind;
	bool		alone;			/* values are made of the images again */
	uint64		flip;			/* bits to flip in the unsigned value */
	EnumLabels	labels;			/* of KEY_KIND_ENUM */
	Abbreviation abbreviation;	/* of KEY_KIND_ABBREVIATED */
} KeyColumn;

/*
 * All keys.  The first nmapped of them have images; only the last of these may be
 * one whose images are not exact.  Rows of equal images are compared by the rest,
 * with core's comparison functions: by the key whose images are not exact, if there
 * is one, and by all keys after it.
 */
typedef struct KeyColumns
{
	int			nkeys;
	int			nmapped;
	int			nexact;			/* nmapped, or one less */
	int			nrest;			/* nkeys - nexact: keys left to core */
	KeyColumn   *keys;
	SortSupport rest;			/* of these; NULL if there are none */
} KeyColumns;

/* The most keys that are mapped, as images of so many are kept beside a row. */
#define KEY_COLUMNS_MAX_MAPPED 8

/*
 * The kind of keys of a column of this type that are sorted by an operator of a
 * family for an input type; KEY_KIND_NONE if they cannot be mapped.
 */
extern KeyKind key_kind(Oid type, Oid opfamily, Oid opcintype, Oid collation);

/* The bits that the unsigned values of a kind can have. */
extern uint64 key_mask(KeyKind kind);

/* Whether the key takes 32 bits at most. */
static inline bool
key_is_narrow(KeyKind kind)
{
	return (kind > KEY_KIND_NONE && kind < KEY_KIND_INT8) || kind == KEY_KIND_FLOAT4;
}

/* Whether the one mapped key is an integer of at most 32 bits. */
static inline bool
key_columns_are_narrow(const KeyColumns *keys)
{
	return keys->nmapped == 1 && key_is_narrow(keys->keys[0].kind);
}

/* Whether equal images are equal values. */
static inline bool
key_is_exact(KeyKind kind)
{
	return kind != KEY_KIND_INTERVAL && kind != KEY_KIND_ABBREVIATED;
}

/* Whether values can be made of their images. */
static inline bool
key_has_value(KeyKind kind)
{
	return key_is_exact(kind) && kind != KEY_KIND_ENUM;
}

/* How many values a key of this kind can have. */
static inline double
key_range(KeyKind kind)
{
	switch (kind)
	{
		case KEY_KIND_BOOL:
			return 2;
		case KEY_KIND_CHAR:
			return 256;
		case KEY_KIND_INT2:
			return 65536;
		case KEY_KIND_INT8:
		case KEY_KIND_FLOAT8:
		case KEY_KIND_INTERVAL:
		case KEY_KIND_ABBREVIATED:
			return 18446744073709551616.0;
		default:
			return 4294967296.0;
	}
}

/*
 * Makes the keys from the lists of a plan, for columns of these types, in the
 * current memory context.  alone: the only column is the only key.
 */
extern KeyColumns *key_columns_make(TupleDesc input, List *attnos, List *sortops,
									List *collations, List *nulls_first, int nmapped, bool alone);

/*
 * To be called before the first row of each sort, whose memory this is.  abbreviate:
 * whether abbreviations are worth making.  Returns whether any are made.
 */
extern bool key_columns_start(KeyColumns *keys, MemoryContext memory, bool abbreviate);

/* Whether mapped keys say nothing of the order of rows, as nothing is abbreviated. */
static inline bool
key_columns_say_nothing(const KeyColumns *keys)
{
	return keys->nexact == 0 && keys->keys[0].kind == KEY_KIND_ABBREVIATED &&
		!abbreviation_is_made(&keys->keys[0].abbreviation);
}

/*
 * Whether rows whose mapped keys are equal are known to be equal by the keys left to core, too: the only one is that of the last image,
 * which is this one or NULL, and all values of this abbreviation have been the same.
 */
static inline bool
key_columns_are_known_equal(const KeyColumns *keys, bool isnull, uint64 image)
{
	const KeyColumn *last = &keys->keys[keys->nmapped - 1];

	if (keys->nrest != 1 || keys->nexact == keys->nmapped)
		return false;
	return isnull || (last->abbreviation.repeats && repeats_are_alike(last->abbreviation.repeats, image ^ last->flip));
}

/*
 * Floats as unsigned integers.  Their bits are in order but for the sign: those of
 * negative ones are flipped, of the others the sign bit.  The NaNs that have a sign come
 * first then, and are turned round to the end, behind the others.  So different bits
 * are different integers, of which the value can be made again; -0 is just before 0.
 * Where rows are compared by further keys 0 and -0 have to be equal, and all NaNs.
 */
#define FLOAT4_SIGN (UINT32_C(1) << 31)
#define FLOAT8_SIGN (UINT64CONST(1) << 63)
#define FLOAT4_SIGNED_NANS ((UINT32_C(1) << 23) - 1)
#define FLOAT8_SIGNED_NANS ((UINT64CONST(1) << 52) - 1)

static inline uint32
float4_image(float4 value, bool alone)
{
	uint32		bits;

	if (!alone)
		value = unlikely(isnan(value)) ? (float4) NAN : value + 0.0f;
	memcpy(&bits, &value, sizeof(bits));
	/* All bits of a negative number, the sign of others; without a branch, which half of the time would be the wrong one. */
	bits ^= (uint32) ((int32) bits >> 31) | FLOAT4_SIGN;
	return bits - FLOAT4_SIGNED_NANS;
}

static inline uint64
float8_image(float8 value, bool alone)
{
	uint64		bits;

	if (!alone)
		value = unlikely(isnan(value)) ? (float8) NAN : value + 0.0;
	memcpy(&bits, &value, sizeof(bits));
	bits ^= (uint64) ((int64) bits >> 63) | FLOAT8_SIGN;
	return bits - FLOAT8_SIGNED_NANS;
}

static inline float4
float4_of_image(uint32 image)
{
	uint32		bits = image + FLOAT4_SIGNED_NANS;
	float4		value;

	bits ^= (bits & FLOAT4_SIGN) ? FLOAT4_SIGN : PG_UINT32_MAX;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline float8
float8_of_image(uint64 image)
{
	uint64		bits = image + FLOAT8_SIGNED_NANS;
	float8		value;

	bits ^= (bits & FLOAT8_SIGN) ? FLOAT8_SIGN : PG_UINT64_MAX;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* An interval's span in microseconds, by which core compares; the nearest of 64 bits. */
static inline int64
interval_span(const Interval *value)
{
	int64		days = (int64) value->month * DAYS_PER_MONTH + value->day;
	__int128	span = (__int128) days * USECS_PER_DAY + value->time;

	return (int64) Max(Min(span, PG_INT64_MAX), PG_INT64_MIN);
}

/* The image of a value that is not NULL. */
static inline uint64
key_image(KeyColumn *key, Datum value)
{
	uint64		image;

	switch (key->kind)
	{
		case KEY_KIND_INT4:
			image = (uint32) DatumGetInt32(value);
			break;
		case KEY_KIND_INT2:
			image = (uint16) DatumGetInt16(value);
			break;
		case KEY_KIND_INT8:
			image = (uint64) DatumGetInt64(value);
			break;
		case KEY_KIND_BOOL:
			image = DatumGetBool(value) ? 1 : 0;
			break;
		case KEY_KIND_CHAR:
			image = (uint8) DatumGetChar(value);
			break;
		case KEY_KIND_OID:
			image = DatumGetObjectId(value);
			break;
		case KEY_KIND_ENUM:
			image = enum_label_image(&key->labels, DatumGetObjectId(value));
			break;
		case KEY_KIND_FLOAT4:
			image = float4_image(DatumGetFloat4(value), key->alone);
			break;
		case KEY_KIND_FLOAT8:
			image = float8_image(DatumGetFloat8(value), key->alone);
			break;
		case KEY_KIND_INTERVAL:
			image = (uint64) interval_span(DatumGetIntervalP(value));
			break;
		case KEY_KIND_ABBREVIATED:
			return abbreviation_image(&key->abbreviation, value) ^ key->flip;
		default:
			pg_unreachable();
	}
	return image ^ key->flip;
}

/* The value of an image, of a kind that has it; of a key that is alone. */
static inline Datum
key_value(const KeyColumn *key, uint64 image)
{
	image ^= key->flip;
	switch (key->kind)
	{
		case KEY_KIND_INT4:
			return Int32GetDatum((int32) image);
		case KEY_KIND_INT2:
			return Int16GetDatum((int16) image);
		case KEY_KIND_INT8:
			return Int64GetDatum((int64) image);
		case KEY_KIND_BOOL:
			return BoolGetDatum(image != 0);
		case KEY_KIND_CHAR:
			return CharGetDatum((char) image);
		case KEY_KIND_OID:
			return ObjectIdGetDatum((Oid) image);
		case KEY_KIND_FLOAT4:
			return Float4GetDatum(float4_of_image((uint32) image));
		case KEY_KIND_FLOAT8:
			return Float8GetDatum(float8_of_image(image));
		default:
			pg_unreachable();
	}
}

/* Returns a key, which may be NULL, as the only column of a virtual slot. */
static inline TupleTableSlot *
key_emit(const KeyColumn *key, bool isnull, uint64 image, TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	slot->tts_isnull[0] = isnull;
	slot->tts_values[0] = isnull ? (Datum) 0 : key_value(key, image);
	return ExecStoreVirtualTuple(slot);
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_KEYS_H */
