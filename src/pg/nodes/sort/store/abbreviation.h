/*
 * abbreviation.h
 *		Abbreviated keys of core's sort support as unsigned integers.
 *
 * The sort support of a btree operator class may bring a function that makes an
 * integer of a value (core's tuplesort compares such integers first, and values only
 * where these are equal).  The integers of text in the C and ICU collations, bytea, uuid,
 * numeric, inet, macaddr and others are in the order of the values, in one of a few
 * ways that are known here.
 *
 * Such a function also keeps count, with two hashes for each value, of how many values
 * and abbreviations differ, to say whether abbreviations are of use: 8 % of the time of a sort of
 * 1e7 texts (Intel Xeon, PostgreSQL 17).  Where abbreviations are a value's first bytes, it is
 * called for some of the values only.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_ABBREVIATION_H
#define HPSORT_PG_NODES_SORT_STORE_ABBREVIATION_H

#include "port/pg_bswap.h"
#include "utils/sortsupport.h"
#include "utils/uuid.h"

#include "pg/compat.h"

/* Values whose first eight bytes are their abbreviation; shorter ones are filled up with zeros. */
typedef enum AbbreviationBytes
{
	ABBREVIATION_BYTES_OTHERS,	/* it is not known to be */
	ABBREVIATION_BYTES_VARLENA,
	ABBREVIATION_BYTES_UUID
} AbbreviationBytes;

/*
 * Where abbreviations are the first bytes of values, the operator class gets the first
 * ABBREVIATION_ALL values, and of the later ones one in ABBREVIATION_ONE_OF.
 */
#define ABBREVIATION_ALL 128
#define ABBREVIATION_ONE_OF 16

/*
 * Repeats: which abbreviations stand for one and the same value in all rows.
 *
 * Rows of equal abbreviations have to be compared.  Where a column has few different values, most
 * rows are compared, in an order in which they do not lie in memory.  So each value is compared,
 * byte by byte, with the first value of its abbreviation when it is abbreviated and is at hand.  If
 * all values of an abbreviation were alike, its rows are equal, and none has to be looked at again.
 *
 * REPEATS_SLOTS abbreviations are watched, the ones that come first, with values of at most
 * REPEATS_VALUE_MAX bytes.  Nothing is watched where few values repeat.
 */
#define REPEATS_SLOTS 512
#define REPEATS_VALUE_MAX 40

/*
 * Watching ends if fewer than one in REPEATS_FIRST_PART of the first REPEATS_FIRST values was a
 * repeat, or, each time the number of values has become four times as large, fewer than one in
 * REPEATS_PART of all of them.
 */
#define REPEATS_FIRST 64
#define REPEATS_FIRST_PART 16
#define REPEATS_PART 4

/* What a slot of Repeats says of its abbreviation: whether all of its values were alike. */
typedef enum RepeatsState
{
	REPEATS_FREE = 0,
	REPEATS_ALIKE,
	REPEATS_DIFFERENT			/* or too long, or not to be known by its bytes */
} RepeatsState;

/*
 * The abbreviations that are watched, one in each slot that is not free, each with its first value.
 */
typedef struct Repeats
{
	int16		typlen;			/* of the type, which is not passed by value */
	uint64		seen;			/* values */
	uint64		repeated;		/* values whose abbreviation was in its slot already */
	uint64		next_look;		/* value after which repeats are counted next */
	uint64		images[REPEATS_SLOTS];
	uint8		states[REPEATS_SLOTS];
	uint8		sizes[REPEATS_SLOTS];
	char		values[REPEATS_SLOTS][REPEATS_VALUE_MAX];
} Repeats;

/* Returns the slot of an abbreviation: the leading bits of its product with a large odd number. */
static inline uint32
repeats_slot(uint64 image)
{
	return (uint32) ((image * UINT64CONST(0x9E3779B97F4A7C15)) >> 55);
}

StaticAssertDecl(REPEATS_SLOTS == 1 << (64 - 55), "a slot takes the leading bits of a product");

/* Whether all values of this abbreviation were the same, so far. */
static inline bool
repeats_are_alike(const Repeats *repeats, uint64 image)
{
	uint32		slot = repeats_slot(image);

	return repeats->states[slot] == REPEATS_ALIKE && repeats->images[slot] == image;
}

/* The abbreviations of one key in one sort. */
typedef struct Abbreviation
{
	SortSupport ssup;			/* NULL: none are made, and all images are 0 */
	uint64		mask;			/* the bits of a Datum that count ... */
	uint64		flip;			/* ... and those to flip, for ascending images */
	bool		from_core;		/* a refusal is advice about time, and no more */
	AbbreviationBytes bytes;
	uint64	   *values;			/* how many there have been; the sort support's memory */
	Repeats    *repeats;		/* all values since it was started; NULL: they are not watched */
} Abbreviation;

/* The last answer of abbreviation_exists; no operator family: there is none. */
typedef struct AbbreviationAnswer
{
	Oid			opfamily;
	Oid			type;
	Oid			collation;
	bool		exists;
} AbbreviationAnswer;

extern AbbreviationAnswer abbreviation_last_answer;

/* The slow step of abbreviation_exists: answers what was not asked last, and notes the answer. */
extern bool abbreviation_find_out(Oid opfamily, Oid type, Oid collation);

/*
 * Whether values that an operator family sorts as this type, in this collation, have
 * abbreviations that are known to be in order.  Inline, as the planner asks the same
 * several times of a query, and of all that sort text.
 */
static inline bool
abbreviation_exists(Oid opfamily, Oid type, Oid collation)
{
	const AbbreviationAnswer *last = &abbreviation_last_answer;

	if (likely(last->opfamily == opfamily && last->type == type && last->collation == collation))
		return last->exists;
	return abbreviation_find_out(opfamily, type, collation);
}

/*
 * Sets images to the abbreviations of n values, in ascending order, and returns true; false if none
 * are made.
 */
extern bool abbreviation_images(Oid sortop, Oid collation, const Datum *values, int n,
								uint64 *images);

/* The most values that abbreviation_divides() takes. */
#define ABBREVIATION_SAMPLE 32

/*
 * Returns whether the abbreviations of n <= ABBREVIATION_SAMPLE values differ for more than half of
 * the values; true if none are made.
 */
extern bool abbreviation_divides(Oid sortop, Oid collation, const Datum *values, int n);

/* Whether a sort operator's abbreviations are the first bytes of values. */
extern bool abbreviation_is_first_bytes(Oid sortop, Oid collation);

/* Starts to abbreviate what is sorted by an operator; all memory is the context's. */
extern void abbreviation_start(Abbreviation *abbreviation, Oid sortop, Oid collation,
							   MemoryContext memory);

/* Returns whether the operator class advises against abbreviations after this number of rows. */
extern bool abbreviation_is_refused(const Abbreviation *abbreviation, uint64 rows);

/* From now on all images are 0; the caller makes those that it has 0, too. */
static inline void
abbreviation_stop(Abbreviation *abbreviation)
{
	abbreviation->ssup = NULL;
	abbreviation->repeats = NULL;
}

/*
 * Watches values of a type, which are not passed by value, from the first one on, in the memory of
 * the abbreviations.
 */
extern void abbreviation_watch(Abbreviation *abbreviation, int16 typlen);

/*
 * Sees a value and its abbreviation.  False: it is not worth going on, and nothing is known of any
 * abbreviation.
 */
extern bool repeats_see(Repeats *repeats, uint64 image, Datum value);

/* Returns whether images are abbreviations; else all of them are 0. */
static inline bool
abbreviation_is_made(const Abbreviation *abbreviation)
{
	return abbreviation->ssup != NULL;
}

/*
 * The first bytes of a value as a Datum of an abbreviation; false if they have to be fetched or
 * decompressed first.
 */
static inline bool
abbreviation_first_bytes(AbbreviationBytes bytes, Datum value, uint64 *image)
{
	const char *data = DatumGetPointer(value);
	Size		size = UUID_LEN;
	uint64		first = 0;

	if (bytes == ABBREVIATION_BYTES_VARLENA)
	{
		if (VARATT_IS_EXTERNAL(data) || VARATT_IS_COMPRESSED(data))
			return false;
		size = VARSIZE_ANY_EXHDR(data);
		data = VARDATA_ANY(data);
	}
	if (size >= sizeof(first))
		memcpy(&first, data, sizeof(first));
	else
		memcpy(&first, data, size);
	*image = pg_ntoh64(first);
	return true;
}

/*
 * Returns the image of a value that is not NULL, in ascending order.  Abbreviations must be made.
 */
static inline uint64
abbreviation_convert(const Abbreviation *abbreviation, Datum value)
{
	SortSupport ssup = abbreviation->ssup;
	MemoryContext old;
	Datum		image;
	uint64		first;

	if (abbreviation->bytes != ABBREVIATION_BYTES_OTHERS &&
		++*abbreviation->values > ABBREVIATION_ALL &&
		*abbreviation->values % ABBREVIATION_ONE_OF != 0 &&
		abbreviation_first_bytes(abbreviation->bytes, value, &first))
		return first;

	/* What the function allocates and does not free is gone when the sort ends, as in core. */
	old = MemoryContextSwitchTo(ssup->ssup_cxt);
	image = ssup->abbrev_converter(value, ssup);
	MemoryContextSwitchTo(old);
	return ((uint64) image & abbreviation->mask) ^ abbreviation->flip;
}

/*
 * Returns the image of a value that is not NULL, 0 if no abbreviations are made.  Watches repeats
 * until they turn out to be too few.
 */
static inline uint64
abbreviation_image(Abbreviation *abbreviation, Datum value)
{
	uint64		image;

	if (abbreviation->ssup == NULL)
		return 0;
	image = abbreviation_convert(abbreviation, value);
	if (abbreviation->repeats && !repeats_see(abbreviation->repeats, image, value))
		abbreviation->repeats = NULL;
	return image;
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_ABBREVIATION_H */
