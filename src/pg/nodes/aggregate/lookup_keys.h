/*
 * lookup_keys.h
 *		LookupKeys: a key of each row, for groups that are looked up (groups_lookup.c).
 *
 * A key is the code of the row's group above the place of its value, in 32 bits, so that in the
 * order of the keys each group's rows are side by side, its NULLs last.  Keys are of one source of
 * values, or of rows alone; a FILTER leaves out the rows that it refuses.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_LOOKUP_KEYS_H
#define HPSORT_PG_NODES_AGGREGATE_LOOKUP_KEYS_H

#include "pg/nodes/aggregate/groups_maps.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/resident/gpu/resident_rows.h"

typedef struct LookupKeys
{
	/* the caller's */
	GroupColumn *fields;		/* of the scan: grouping columns, then the value, if there is one */
	int			nfields;
	bool		has_value;
	int			filter;			/* number of the scan's filter; -1: none */
	bool		summed;			/* of the values only numbers and sums are asked for */
	const GroupsMaps *maps;		/* by which rows have some of the grouping columns, whose batches
								 * are behind those of the scan; NULL: none */

	/* set by lookup_keys_sort */
	GroupCode	layout;			/* of codes: grouping columns above the value */
	int			value_bits;		/* of a code, for the place of its value */
	int			grain;			/* summed: of these, bits that no question tells apart; else 0 */
	uint32		offset;			/* what is added to a code to make a key that is signed */
	bool		nulls;			/* there may be keys of NULLs */
	int64		origin;			/* what values that keys have are distances from */
} LookupKeys;

/*
 * Has the GPU put the keys of all rows in order, of resident ones and of noted ones; false if it
 * could not, or if keys take more than 32 bits, or groups more than LOOKUP_GROUP_BITS.
 */
extern bool lookup_keys_sort(LookupKeys *keys, const LookupNotes *notes, ResidentRows *rows);

/* Returns how many codes of groups there may be. */
static inline uint32
lookup_keys_codes(const LookupKeys *keys)
{
	return UINT32_C(1) << (keys->layout.code.bits - keys->value_bits);
}

/*
 * Sets below to how many keys are less than the first key of each of n groups, and with nulls,
 * behind these, how many are less than the key of its NULLs.  asked and below have room.  Returns
 * false if the GPU could not.
 */
extern bool lookup_keys_below(const LookupKeys *keys, ResidentRows *rows, const uint32 *codes,
							  size_t n, int32 *asked, uint64 *below);

/* Sets *value to that of a key; false if it cannot be a value of the group. */
extern bool lookup_keys_value(const LookupKeys *keys, int32 key, uint32 code, int64 *value);

/*
 * Sets *sum to that of n > 0 values of a group whose keys add up to sum_of_keys, modulo 2^64, each
 * as its distance from the origin; false if they cannot.
 */
extern bool lookup_keys_sum(const LookupKeys *keys, uint64 sum_of_keys, uint32 code, int64 n,
							int64 *sum);

#endif							/* HPSORT_PG_NODES_AGGREGATE_LOOKUP_KEYS_H */
