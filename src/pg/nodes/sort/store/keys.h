/*
 * keys.h
 *		Sort keys as unsigned integers: which types can be mapped, and how.
 *
 * The image of a value is an unsigned integer of at most 64 bits.  Images are in
 * the order that ORDER BY wants: the sign bit is flipped, and all bits are when the
 * direction is descending.  NULL has no image; a flag of the key says whether NULLs
 * come first.
 *
 * The images of most types are exact: different values have different images.  Two
 * kinds are not exact, and only never in the wrong order: the span of an interval, if
 * 64 bits do not hold it, and the abbreviations that a type's sort support makes
 * (abbreviation.h).  Values whose images are equal but not exact are compared by core.
 *
 * Values that repeat may be numbered instead of abbreviated (key_numbers.h).  Their images are
 * exact as well, and they are in order as soon as the numbers have become ranks.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_KEYS_H
#define HPSORT_PG_NODES_SORT_STORE_KEYS_H

#include "executor/tuptable.h"
#include "nodes/pg_list.h"
#include "utils/sortsupport.h"
#include "utils/timestamp.h"

#include "pg/enum_labels.h"
#include "pg/nodes/sort/store/abbreviation.h"
#include "pg/nodes/sort/store/key_numbers.h"
#include "pg/values/values.h"
#include "sort/float_image.h"

/* One key of ORDER BY. */
typedef struct KeyColumn
{
	AttrNumber	attno;			/* column of the input, from 1 */
	Oid			sortop;
	Oid			collation;
	bool		nulls_first;
	bool		descending;
	ColumnKind	kind;			/* COLUMN_KIND_NONE: not mapped, but compared by core */
	bool		alone;			/* values are made of the images again */
	uint64		flip;			/* bits to flip in an integer as a batch holds it, or in the image
								 * of a kind that is no integer's */
	EnumLabels	labels;			/* of COLUMN_KIND_ENUM */
	Abbreviation abbreviation;	/* of COLUMN_KIND_ABBREVIATED, unless ... */
	KeyNumbers	numbers;		/* ... its values are numbered */
} KeyColumn;

/*
 * All keys.  The first nmapped of them have images; only the last of these may be
 * one whose images are not exact.  Rows of equal images are compared by the rest,
 * with core's comparison functions: by the key whose images are not exact, if there
 * is one, and by all keys after it.
 *
 * nplanned keys have images as long as those that the plan has numbered are numbered.  What
 * follows nplanned changes during a sort when the numbering of a key is given up: it is then the
 * last one that is mapped.
 */
typedef struct KeyColumns
{
	int			nkeys;
	int			nplanned;
	double		expected_rows;	/* of a sort */
	SortSupport comparisons;	/* of all keys that may be left to core, by key */
	bool		numbered;		/* at least one key is */
	KeyNumbersMemory numbers;
	int			given_up;		/* times that numbering has been, in this sort */
	int			nmapped;
	int			nexact;			/* nmapped, or one less */
	int			nrest;			/* nkeys - nexact: keys left to core */
	KeyColumn  *keys;
	SortSupport rest;			/* of these; NULL if there are none */
} KeyColumns;

/* The most keys that are mapped: each row has this many images beside it. */
#define KEY_COLUMNS_MAX_MAPPED 8

/*
 * The kind of keys of a column of this type that are sorted by an operator of a
 * family for an input type; COLUMN_KIND_NONE if they cannot be mapped.
 */
extern ColumnKind key_kind(Oid type, Oid opfamily, Oid opcintype, Oid collation);

/* Whether the one mapped key is an integer of at most 32 bits. */
static inline bool
key_columns_are_narrow(const KeyColumns *keys)
{
	return keys->nmapped == 1 && !column_kind_is_wide(keys->keys[0].kind);
}

/* Whether equal images are equal values. */
static inline bool
key_is_exact(ColumnKind kind)
{
	return kind != COLUMN_KIND_INTERVAL && kind != COLUMN_KIND_ABBREVIATED;
}

/* Whether values can be made of their images. */
static inline bool
key_has_value(ColumnKind kind)
{
	return key_is_exact(kind) && kind != COLUMN_KIND_ENUM;
}

/* How many values a key of this kind can have. */
static inline double
key_range(ColumnKind kind)
{
	switch (kind)
	{
		case COLUMN_KIND_BOOL:
			return 2;
		case COLUMN_KIND_CHAR:
			return 256;
		case COLUMN_KIND_INT2:
			return 65536;
		case COLUMN_KIND_INT8:
		case COLUMN_KIND_FLOAT8:
		case COLUMN_KIND_INTERVAL:
		case COLUMN_KIND_ABBREVIATED:
			return 18446744073709551616.0;
		default:
			return 4294967296.0;
	}
}

/*
 * Whether values of a type that are sorted by an operator of a family for an input type can be
 * numbered: they are hashed by what the family takes to be equal.
 */
extern bool key_may_be_numbered(Oid type, Oid opfamily, Oid opcintype, Oid collation);

/*
 * Makes the keys from the lists of a plan, for columns of these types, in the
 * current memory context.  alone: the only column is the only key.  numbered: bit i is set if
 * values of key i are to be numbered.
 */
extern KeyColumns *key_columns_make(TupleDesc input, List *attnos, List *sortops,
									List *collations, List *nulls_first, int nmapped,
									uint32 numbered, bool alone);

/*
 * Starts the keys of a sort, before its first row.  memory is the sort's.  abbreviate: whether
 * abbreviations are worth making.  number: whether values are numbered where the plan says so.
 * Returns whether any abbreviations are made.
 */
extern bool key_columns_start(KeyColumns *keys, MemoryContext memory, bool abbreviate,
							  bool number);

/* Ends a sort: frees the memory of the keys. */
extern void key_columns_stop(KeyColumns *keys);

/*
 * Returns the first key whose numbering has to be given up after this number of rows, because
 * a value had no room or few values repeat; -1 if there is none.
 */
extern int	key_columns_refused(const KeyColumns *keys, uint64 rows);

/* Whether a value of a numbered key had no room. */
static inline bool
key_columns_are_full(const KeyColumns *keys)
{
	return keys->numbers.full;
}

/* Gives up numbering key k and the keys after it, which are no longer mapped. */
extern void key_columns_give_up(KeyColumns *keys, int k);

/* Bytes that numbers take. */
static inline Size
key_columns_memory(const KeyColumns *keys)
{
	return keys->numbers.bytes;
}

/* Images of keys that are numbered are ranks from now on, or numbers again. */
extern void key_columns_rank(KeyColumns *keys);
extern void key_columns_number(KeyColumns *keys);

/* Returns whether images of a key are numbers of its values, or ranks of these. */
static inline bool
key_is_numbered(const KeyColumn *key)
{
	return key->numbers.made;
}

/* The number of a rank among the images, and the rank of a number. */
static inline uint64
key_number_of_rank(const KeyColumn *key, uint64 image)
{
	return key->numbers.order->numbers[image ^ key->flip];
}

static inline uint64
key_rank_of_number(const KeyColumn *key, uint64 number)
{
	return key->numbers.order->ranks[number] ^ key->flip;
}

/*
 * Returns whether rows whose mapped keys are equal are known to be equal by the keys left to core,
 * too.  They are if the only key left to core is the last mapped one, and its values are NULL, or
 * have this image and all values of this abbreviation were alike.
 */
static inline bool
key_columns_are_known_equal(const KeyColumns *keys, bool isnull, uint64 image)
{
	const KeyColumn *last = &keys->keys[keys->nmapped - 1];

	if (keys->nrest != 1 || keys->nexact == keys->nmapped)
		return false;
	return isnull || (last->abbreviation.repeats &&
					  repeats_are_alike(last->abbreviation.repeats, image ^ last->flip));
}

/* An interval's span in microseconds, by which core compares; the nearest of 64 bits. */
static inline int64
interval_span(const Interval *value)
{
	int64		days = (int64) value->month * DAYS_PER_MONTH + value->day;
	__int128	span = (__int128) days * USECS_PER_DAY + value->time;

	return (int64) Max(Min(span, PG_INT64_MAX), PG_INT64_MIN);
}

/*
 * The image of a float, as a batch holds it.  A key that is alone has different images for
 * different bits.  Where rows are compared by further keys, 0 and -0 have to be equal, and so have
 * all NaNs.
 */
static inline uint64
key_float_image(const KeyColumn *key, int64 value)
{
	if (key->kind == COLUMN_KIND_FLOAT4)
		return (uint32) (key->alone ? (int32) value : float4_key_equals((int32) value)) ^ key->flip;
	return (uint64) (key->alone ? value : float8_key_equals(value)) ^ key->flip;
}

/* The image of a value that is not NULL. */
static inline uint64
key_image(KeyColumn *key, Datum value)
{
	switch (key->kind)
	{
		case COLUMN_KIND_INT4:
			return (uint32) DatumGetInt32(value) ^ key->flip;
		case COLUMN_KIND_INT8:
			return (uint64) DatumGetInt64(value) ^ key->flip;
		case COLUMN_KIND_ENUM:
			return enum_label_image(&key->labels, DatumGetObjectId(value)) ^ key->flip;
		case COLUMN_KIND_FLOAT4:
		case COLUMN_KIND_FLOAT8:
			return key_float_image(key, column_value(key->kind, value));
		case COLUMN_KIND_INTERVAL:
			return (uint64) interval_span(DatumGetIntervalP(value)) ^ key->flip;
		case COLUMN_KIND_ABBREVIATED:
			if (key->numbers.made)
				return key_numbers_image(&key->numbers, value) ^ key->flip;
			return abbreviation_image(&key->abbreviation, value) ^ key->flip;
		default:
			return (uint32) (column_value(key->kind, value) -
							 column_kind_bias(key->kind)) ^ key->flip;
	}
}

/*
 * Returns < 0, 0 or > 0 if image a of a key, or NULL, is before, at or after image b in the order
 * that ORDER BY wants.
 */
static inline int
key_compare(const KeyColumn *key, bool a_isnull, uint64 a, bool b_isnull, uint64 b)
{
	if (unlikely(a_isnull || b_isnull))
		return a_isnull == b_isnull ? 0 : a_isnull == key->nulls_first ? -1 : 1;
	return a < b ? -1 : a > b;
}

/*
 * Returns the value of an image.  The key must be alone, and of a kind that has values
 * (key_has_value).
 */
static inline Datum
key_value(const KeyColumn *key, uint64 image)
{
	image ^= key->flip;
	switch (key->kind)
	{
		case COLUMN_KIND_INT4:
			return Int32GetDatum((int32) image);
		case COLUMN_KIND_INT8:
			return Int64GetDatum((int64) image);
		case COLUMN_KIND_FLOAT8:
			return column_datum(COLUMN_KIND_FLOAT8, (int64) image);
		default:
			return column_datum(key->kind, (int32) image + column_kind_bias(key->kind));
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
