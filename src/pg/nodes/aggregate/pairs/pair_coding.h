/*
 * pair_coding.h
 *		A (group, value) pair as one integer of up to 64 bits.
 *
 * The group's code (a packed GroupCode) is above the place of the value in its range, so that
 * integers are in the order of groups, and within a group in the order of values.
 *
 * Besides values a group can have rows whose value is NULL, and rows that a FILTER refuses.  These
 * are markers, whose places are below the places of all values.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_CODING_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_CODING_H

#include "pg/nodes/aggregate/read/read.h"

/* In place of a value, of rows that have none. */
typedef enum PairMarker
{
	PAIR_NULL,					/* the value is NULL; without a column each row that passes */
	PAIR_REFUSED,				/* the FILTER does not let the row pass */
	PAIR_MARKERS				/* how many there are */
} PairMarker;

/* The type of values that are no integers, so that their pairs cannot be coded. */
typedef struct PairType
{
	Oid			type;
	Oid			collation;		/* in which they are sorted */
	const Dictionary *dictionary;	/* of which batches have the numbers of values */
} PairType;

/* How pairs are coded. */
typedef struct PairCoding
{
	const GroupCode *groups;	/* a layout, not the coding's own */
	KeyRange	values;			/* images that have places */
	int			markers;		/* that have places: all kinds up to the last that has come */
	int			value_bits;		/* of a code, for the place of its value or marker */
	int			bits;			/* of a code; more than 64: pairs cannot be coded */
} PairCoding;

/* Sets the bits of a coding whose groups, values or markers have changed. */
extern void pair_coding_set_bits(PairCoding *coding);

/* Returns what a value, as batches hold it, lacks to be its place. */
static inline uint64
pair_value_offset(const PairCoding *coding)
{
	return (uint64) coding->markers - (uint64) field_value(coding->values.lo);
}

static inline uint64
pair_group(const PairCoding *coding, uint64 code)
{
	return coding->value_bits < 64 ? code >> coding->value_bits : 0;
}

/* Returns the place of the value or marker in the code of a pair. */
static inline uint64
pair_place(const PairCoding *coding, uint64 code)
{
	return coding->value_bits < 64 ? code & ((UINT64CONST(1) << coding->value_bits) - 1) : code;
}

static inline uint64
pair_code(const PairCoding *coding, uint64 group, uint64 place)
{
	return coding->value_bits < 64 ? group << coding->value_bits | place : place;
}

static inline bool
pair_place_is_marker(const PairCoding *coding, uint64 place)
{
	return place < (uint64) coding->markers;
}

/* Turns codes of one coding into codes of a wider one, whose order is equal. */
typedef struct PairRecoding
{
	const PairCoding *from;
	const PairCoding *to;
	bool		same;			/* the codes do not change */
	bool		started;		/* from_group and to_group are set */
	uint64		from_group;		/* of the last code, which the next one is often of */
	uint64		to_group;		/* what the code of that group becomes */
	GroupValues group;			/* room for its values */
} PairRecoding;

/*
 * Begins to turn codes of from into codes of to, which must outlive the recoding.  Allocates in
 * the current memory context; pair_recode_end gives it back.  pair_recode, a SegmentMap and a
 * LongSorterMap, changes n codes in place.
 */
extern void pair_recode_begin(PairRecoding *recoding, const PairCoding *from, const PairCoding *to);
extern void pair_recode(void *recoding, uint64 *codes, size_t n);
extern void pair_recode_end(PairRecoding *recoding);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_CODING_H */
