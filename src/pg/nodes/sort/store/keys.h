/*
 * keys.h
 *		Sort keys as unsigned integers: which types can be mapped, and how.
 *
 * The image of a value is an unsigned integer of at most 64 bits.  Images are in
 * the order that ORDER BY wants: the sign bit is flipped, and all bits are when the
 * direction is descending.  NULL has no image; a flag of the key says whether NULLs
 * come first.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_KEYS_H
#define HPSORT_PG_NODES_SORT_STORE_KEYS_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/pg_list.h"
#include "utils/sortsupport.h"

#include "pg/enum_labels.h"

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
	KEY_KIND_INT8				/* and time, timestamp, timestamptz */
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
	uint64		flip;			/* bits to flip in the unsigned value */
	EnumLabels	labels;			/* of KEY_KIND_ENUM */
} KeyColumn;

/*
 * All keys.  The first nmapped of them have images; rows of equal images are
 * compared by the rest, with core's comparison functions.
 */
typedef struct KeyColumns
{
	int			nkeys;
	int			nmapped;
	KeyColumn   *keys;
	SortSupport rest;			/* of keys left to core, nkeys - nmapped; NULL if none */
} KeyColumns;

/* The most keys that are mapped, as images of so many are kept beside a row. */
#define KEY_COLUMNS_MAX_MAPPED 8

/* The kind of keys of operator class input type, KEY_KIND_NONE if none. */
extern KeyKind key_kind(Oid opcintype);

/* The bits that the unsigned values of a kind can have. */
extern uint64 key_mask(KeyKind kind);

/* Whether the key takes 32 bits at most. */
static inline bool
key_is_narrow(KeyKind kind)
{
	return kind != KEY_KIND_NONE && kind != KEY_KIND_INT8;
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
			return 18446744073709551616.0;
		default:
			return 4294967296.0;
	}
}

/*
 * Makes the keys from the lists of a plan, for columns of these types, in the
 * current memory context.
 */
extern KeyColumns *key_columns_make(TupleDesc input, List *attnos, List *sortops,
									List *collations, List *nulls_first, int nmapped);

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
		default:
			pg_unreachable();
	}
	return image ^ key->flip;
}

/* The value of an image; not of an enum. */
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
