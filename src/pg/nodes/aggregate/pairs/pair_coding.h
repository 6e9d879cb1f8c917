/*
 * pair_coding.h
 *		A (group, value) pair as one integer of up to 64 bits.
 *
 * The group's code (a packed GroupCode) is above the place of the value in its range.  Besides
 * values a group can have rows whose value is NULL, and rows that a FILTER refuses:
 * these are markers, whose places are below the places of all values.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_CODING_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_CODING_H

#include "postgres.h"

#include "pg/nodes/aggregate/read/read.h"

typedef enum PairMarker
{
	PAIR_NULL,
	PAIR_REFUSED,
	PAIR_MARKERS				/* how many there are */
} PairMarker;

typedef struct PairCoding
{
	const GroupCode *groups;
	KeyRange	values;
	int			markers;		/* how many have places: all up to the last that has come */
	int			value_bits;
	int			bits;			/* in all; there are no codes if they are more than 64 */
} PairCoding;

/* Sets the bits of a coding whose groups, values or markers have changed. */
extern void pair_coding_set_bits(PairCoding *coding);

/* The place of a value less the value. */
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

/* Turns codes of one coding into codes of a wider one, in the same order. */
typedef struct PairRecoding
{
	const PairCoding *from;
	const PairCoding *to;
	bool		same;			/* the codes are the same */
	bool		started;
	uint64		from_group;
	uint64		to_group;
	GroupValues group;
} PairRecoding;

/*
 * Allocates in the current memory context; pair_recode_end gives it back.  pair_recode is a
 * SegmentMap and a LongSorterMap.
 */
extern void pair_recode_begin(PairRecoding *recoding, const PairCoding *from, const PairCoding *to);
extern void pair_recode(void *recoding, uint64 *codes, size_t n);
extern void pair_recode_end(PairRecoding *recoding);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIR_CODING_H */
