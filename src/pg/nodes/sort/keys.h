/*
 * order_keys.h
 *		Sort keys as unsigned integers: which types can be mapped, and how.
 *
 * The image of a value is an unsigned integer of at most 64 bits whose order
 * is the order wanted: the sign is turned, and all bits are when the direction
 * is descending.  NULL has no image; whether it comes first is the key's own.
 */
#ifndef HPSORT_ORDER_KEYS_H
#define HPSORT_ORDER_KEYS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/sortsupport.h"

/* How a type is mapped. */
typedef enum OrderKeyKind
{
	ORDER_KEY_NONE = 0,			/* not at all: core's comparison */
	ORDER_KEY_BOOL,
	ORDER_KEY_CHAR,				/* "char", as core compares it: unsigned */
	ORDER_KEY_INT2,
	ORDER_KEY_INT4,				/* and date */
	ORDER_KEY_OID,
	ORDER_KEY_ENUM,
	ORDER_KEY_INT8				/* and time, timestamp, timestamptz */
} OrderKeyKind;

/* One enum label's place. */
typedef struct OrderEnumLabel
{
	Oid			oid;
	uint32		image;
} OrderEnumLabel;

/* One key of ORDER BY. */
typedef struct OrderKey
{
	AttrNumber	attno;			/* column of the input, from 1 */
	Oid			sortop;
	Oid			collation;
	bool		nulls_first;
	bool		descending;
	OrderKeyKind kind;
	uint64		flip;			/* bits to turn in the unsigned value */
	MemoryContext memory;		/* where the labels go */
	Oid			enum_type;		/* of ORDER_KEY_ENUM ... */
	int			nlabels;
	OrderEnumLabel *labels;		/* ... sorted by oid; made when first needed */
} OrderKey;

/*
 * All keys.  The first nmapped of them have images; the rest, if any, is
 * compared by core within equal images.
 */
typedef struct OrderKeys
{
	int			nkeys;
	int			nmapped;
	OrderKey   *keys;
	SortSupport rest;			/* nkeys - nmapped of them; NULL if none */
} OrderKeys;

/* Images of more keys than this are not kept beside a row. */
#define ORDER_MAX_MAPPED 8

/* The kind of keys of operator class input type, ORDER_KEY_NONE if none. */
extern OrderKeyKind order_key_kind(Oid opcintype);

/* Whether the key takes 32 bits at most. */
static inline bool
order_key_is_narrow(OrderKeyKind kind)
{
	return kind != ORDER_KEY_NONE && kind != ORDER_KEY_INT8;
}

/* How many values a key of this kind can have. */
static inline double
order_key_range(OrderKeyKind kind)
{
	switch (kind)
	{
		case ORDER_KEY_BOOL:
			return 2;
		case ORDER_KEY_CHAR:
			return 256;
		case ORDER_KEY_INT2:
			return 65536;
		case ORDER_KEY_INT8:
			return 18446744073709551616.0;
		default:
			return 4294967296.0;
	}
}

/*
 * Makes the keys from the lists of a plan, for columns of these types, in the
 * current memory context.
 */
extern OrderKeys *order_keys_make(TupleDesc input, List *attnos, List *sortops,
								  List *collations, List *nulls_first, int nmapped);

/* The place of an enum label, which may be new. */
extern uint32 order_enum_image(OrderKey *key, Oid label);

/* The image of a value that is not NULL. */
static inline uint64
order_image(OrderKey *key, Datum value)
{
	uint64		image;

	switch (key->kind)
	{
		case ORDER_KEY_INT4:
			image = (uint32) DatumGetInt32(value);
			break;
		case ORDER_KEY_INT2:
			image = (uint16) DatumGetInt16(value);
			break;
		case ORDER_KEY_INT8:
			image = (uint64) DatumGetInt64(value);
			break;
		case ORDER_KEY_BOOL:
			image = DatumGetBool(value) ? 1 : 0;
			break;
		case ORDER_KEY_CHAR:
			image = (uint8) DatumGetChar(value);
			break;
		case ORDER_KEY_OID:
			image = DatumGetObjectId(value);
			break;
		case ORDER_KEY_ENUM:
			image = order_enum_image(key, DatumGetObjectId(value));
			break;
		default:
			pg_unreachable();
	}
	return image ^ key->flip;
}

/* The value of an image; not of an enum. */
static inline Datum
order_value(const OrderKey *key, uint64 image)
{
	image ^= key->flip;
	switch (key->kind)
	{
		case ORDER_KEY_INT4:
			return Int32GetDatum((int32) image);
		case ORDER_KEY_INT2:
			return Int16GetDatum((int16) image);
		case ORDER_KEY_INT8:
			return Int64GetDatum((int64) image);
		case ORDER_KEY_BOOL:
			return BoolGetDatum(image != 0);
		case ORDER_KEY_CHAR:
			return CharGetDatum((char) image);
		case ORDER_KEY_OID:
			return ObjectIdGetDatum((Oid) image);
		default:
			pg_unreachable();
	}
}

#endif							/* HPSORT_ORDER_KEYS_H */
