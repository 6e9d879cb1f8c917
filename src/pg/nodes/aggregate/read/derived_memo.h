/*
 * derived_memo.h
 *		DerivedMemo: what the values of a column, or blocks of them, have become; for derived.c.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_DERIVED_MEMO_H
#define HPSORT_PG_NODES_AGGREGATE_READ_DERIVED_MEMO_H

#include "pg/nodes/aggregate/read/fields.h"
#include "pg/values/values.h"

/* What a value of the base column becomes. */
typedef enum DerivedState
{
	STATE_UNKNOWN = 0,			/* not computed yet */
	STATE_VALUE,				/* a value that is not NULL */
	STATE_NULL,
	STATE_VARIES				/* of a block: its values may become different ones */
} DerivedState;

/* What a value of the base column, or a block of its values, becomes. */
typedef struct MemoEntry
{
	int64		key;			/* the value of the base column, or its block */
	int64		value;			/* as the batch is to hold it */
	uint8		state;			/* a DerivedState */
	char		status;			/* simplehash's */
} MemoEntry;

/* What values, or blocks of them, become; of an execution. */
typedef struct DerivedMemo
{
	size_t		limit;			/* bytes */
	bool		by_blocks;		/* keys are blocks of values, not values */
	ColumnBatch block_batch;	/* of the rows, in place of their values */
	KeyRange	range;			/* of the array */
	int64	   *values;			/* by distance from its start */
	uint8	   *states;			/* a DerivedState of each */
	struct memo_hash *hash;		/* NULL: the array is used */
	MemoEntry	null;			/* what NULL becomes */
	bool		given_up;		/* nothing is looked up */
	bool		emptied;		/* the hash table was full, and has been emptied */
	uint64		rows;			/* of all batches */
	uint64		varied;			/* rows in blocks of which nothing is known */
	uint64		computed;		/* values that were not in the memo */
	uint64		trial_rows;		/* rows when the memo was last looked at */
	uint64		trial_computed; /* computed at that time */
} DerivedMemo;

/* Forgets the results, and gives their memory back. */
extern void derived_memo_free(DerivedMemo *memo);

/*
 * Makes the memo hold a range, whose values are within limits: with an array, or with the hash
 * table, or, where computing is cheap, gives it up.  all: with an array in any case.
 */
extern void derived_memo_make_room(DerivedMemo *memo, MemoryContext memory, const KeyRange *range,
								   const KeyRange *limits, bool all, bool cheap);

/*
 * Replaces a memo of blocks by one of values if most blocks are not known, and gives up a memo in
 * which most rows find nothing.
 */
extern void derived_memo_review(DerivedMemo *memo);

/* Forgets everything, and finds nothing from now on. */
extern void derived_memo_give_up(DerivedMemo *memo);

/* The entry of a key in the hash table, which is made if there is none. */
extern MemoEntry *derived_memo_find(DerivedMemo *memo, int64 key);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_DERIVED_MEMO_H */
