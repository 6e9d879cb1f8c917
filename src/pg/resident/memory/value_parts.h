/*
 * value_parts.h
 *		ValueParts: the different values of a column in resident memory, by number.
 *
 * Values are bytes.  They are numbered from 0 in the order in which they are met, and looked for by
 * their bytes.  They lie in pieces of memory, the parts, which are neither moved nor changed, but
 * added to, until all are given up together: so a number stands for the same bytes as long as the
 * generation is the same.  All functions need the lock.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_VALUE_PARTS_H
#define HPSORT_PG_RESIDENT_MEMORY_VALUE_PARTS_H

#include "pg/resident/memory/slabs.h"

/* No value is longer: one that is stored in its row never is. */
#define RESIDENT_VALUE_BYTES BLCKSZ

/*
 * A piece of memory with values: from its start on their bytes, one behind the other, and from its
 * end backwards where each of them ends.
 */
typedef struct ValuePart
{
	ResidentPlace place;
	uint32		size;			/* bytes */
	uint32		first;			/* number of its first value */
} ValuePart;

typedef struct ValueParts
{
	uint64		generation;		/* never used again; 0: there are no values */
	uint32		n;				/* values */
	uint32		nparts;
	ResidentPlace parts;		/* ValuePart[parts_room], by number; 0: none */
	ResidentPlace table;		/* from hashes to numbers; 0: none */
	ResidentPlace larger;		/* the table that is being made, twice as large; 0: none */
	uint32		parts_room;
	uint32		table_room;		/* a power of two */
	uint32		grown;			/* places of the larger table that are free or taken, then places
								 * of the table that have been entered there */
	uint64		bytes;			/* of all pieces */
} ValueParts;

/* The bytes of a value, and their hash. */
typedef struct ResidentValue
{
	const char *bytes;
	uint32		length;			/* RESIDENT_VALUE_BYTES at most */
	uint32		hash;
} ResidentValue;

/*
 * Sets *number to that of a value, which is added if it is new.  Returns 0; or, if there is no room
 * for it, how large a piece of memory is missing.
 */
extern Size value_parts_number(ResidentRoot *root, ValueParts *values, const ResidentValue *value,
							   uint32 *number);

/* Returns the list of parts; good while the lock is held. */
extern const ValuePart *value_parts_list(const ResidentRoot *root, const ValueParts *values);

/*
 * Copies some values, at least one, of which the first has that number, as resident_next_copy()
 * says.  Returns how many.
 */
extern uint32 value_parts_copy(const ResidentRoot *root, const ValueParts *values, uint32 first,
							   StringInfo bytes);

/* Gives up all values. */
extern void value_parts_drop(ResidentRoot *root, ValueParts *values);

/* Returns the index of the part that has a number, of n parts. */
static inline uint32
value_parts_find(const ValuePart *parts, uint32 n, uint32 number)
{
	uint32		lo = 0;
	uint32		hi = n;

	while (hi - lo > 1)
	{
		uint32		middle = lo + (hi - lo) / 2;

		if (parts[middle].first <= number)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

/*
 * Returns where it is noted where a value ends in its part, which lies at bytes; behind it, where
 * the value before ends.
 */
static inline const uint32 *
value_part_ends(const ValuePart *part, const char *bytes, uint32 number)
{
	return (const uint32 *) (bytes + part->size) - 1 - (number - part->first);
}

/*
 * Returns where a value begins in its part, and sets *length.  Of memory that has become something
 * else both are any numbers.
 */
static inline uint32
value_part_offset(const ValuePart *part, const char *bytes, uint32 number, uint32 *length)
{
	const uint32 *end = value_part_ends(part, bytes, number);
	uint32		start = number > part->first ? end[1] : 0;

	*length = end[0] - start;
	return start;
}

#endif							/* HPSORT_PG_RESIDENT_MEMORY_VALUE_PARTS_H */
