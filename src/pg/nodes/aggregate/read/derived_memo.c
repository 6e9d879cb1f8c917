/*
 * derived_memo.c
 *		What values have become (see derived_memo.h): by an array, or by a hash table.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/derived_memo.h"

/* The finalizer of MurmurHash3. */
static inline uint32
hash_key(int64 key)
{
	uint64		hash = (uint64) key;

	hash ^= hash >> 33;
	hash *= UINT64CONST(0xFF51AFD7ED558CCD);
	hash ^= hash >> 33;
	hash *= UINT64CONST(0xC4CEB9FE1A85EC53);
	return (uint32) (hash >> 32);
}

#define SH_PREFIX memo
#define SH_ELEMENT_TYPE MemoEntry
#define SH_KEY_TYPE int64
#define SH_KEY key
#define SH_HASH_KEY(tb, key) hash_key(key)
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Bytes of the hash table for an entry, while the table grows. */
#define MEMO_ENTRY_BYTES (3 * sizeof(MemoEntry))

/*
 * A range has an array if its values are at most ARRAY_LEAST_VALUES, and ARRAY_VALUES_PER_ROW for
 * each row seen so far: small tables are not worth a large array.
 */
#define ARRAY_LEAST_VALUES 1024
#define ARRAY_VALUES_PER_ROW 32

/*
 * The memo is given up if more than half of TRIAL_ROWS rows had values that were not in it, and
 * either TRIAL_VALUES values have been put into it, or it has been emptied.  Before that it is in
 * the CPU's caches, and costs little.
 */
#define TRIAL_ROWS 65536
#define TRIAL_VALUES 131072

void
derived_memo_free(DerivedMemo *memo)
{
	if (memo->hash)
		memo_destroy(memo->hash);
	else if (memo->values)
	{
		pfree(memo->values);
		pfree(memo->states);
	}
	memo->hash = NULL;
	memo->values = NULL;
	memo->range = EMPTY_KEY_RANGE;
}

/* Makes an array for a range that holds the memo's, whose entries it takes over. */
static void
make_array(DerivedMemo *memo, MemoryContext memory, KeyRange range)
{
	uint64		n = key_range_images(&range);
	uint64		nbefore = key_range_images(&memo->range);
	int64	   *values = MemoryContextAllocHuge(memory, n * sizeof(int64));
	uint8	   *states = MemoryContextAllocExtended(memory, n, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	if (nbefore > 0)
	{
		memcpy(values + (memo->range.lo - range.lo), memo->values, nbefore * sizeof(int64));
		memcpy(states + (memo->range.lo - range.lo), memo->states, nbefore);
		pfree(memo->values);
		pfree(memo->states);
	}
	memo->values = values;
	memo->states = states;
	memo->range = range;
}

void
derived_memo_make_room(DerivedMemo *memo, MemoryContext memory, const KeyRange *range,
					   const KeyRange *limits, bool all, bool cheap)
{
	KeyRange	wider = memo->range;
	uint64		most = memo->limit / (sizeof(int64) + sizeof(uint8));
	uint64		nbefore = key_range_images(&memo->range);
	uint64		n;

	most = Min(most, ARRAY_LEAST_VALUES + ARRAY_VALUES_PER_ROW * memo->rows);
	key_range_add(&wider, range);
	n = key_range_images(&wider);
	/* All places are in it from the first batch on; their rows take more. */
	if (all)
		make_array(memo, memory, wider);
	/* What was there is beside it for a moment. */
	else if (n > 0 && n <= most && nbefore <= most - n)
	{
		/* A column that has grown once may go on growing. */
		if (nbefore > 0)
			key_range_extend(&wider, &memo->range, limits, Min(n, most - n - nbefore));
		make_array(memo, memory, wider);
	}
	else
	{
		derived_memo_free(memo);
		memo->given_up = cheap;
		if (!memo->given_up)
			memo->hash = memo_create(memory, 256, NULL);
	}
}

void
derived_memo_give_up(DerivedMemo *memo)
{
	derived_memo_free(memo);
	memo->given_up = true;
}

void
derived_memo_review(DerivedMemo *memo)
{
	uint64		rows = memo->rows - memo->trial_rows;

	if (memo->by_blocks && memo->varied > memo->rows / 2)
	{
		derived_memo_free(memo);
		memo->by_blocks = false;
	}
	else if (rows < TRIAL_ROWS)
		return;
	else if (memo->computed - memo->trial_computed > rows / 2 &&
			 (memo->computed >= TRIAL_VALUES || memo->emptied))
		derived_memo_give_up(memo);
	memo->trial_rows = memo->rows;
	memo->trial_computed = memo->computed;
}

MemoEntry *
derived_memo_find(DerivedMemo *memo, int64 key)
{
	MemoEntry  *entry = memo_lookup(memo->hash, key);
	bool		found;

	if (entry)
		return entry;
	if (memo->hash->members >= memo->limit / MEMO_ENTRY_BYTES)
	{
		memo_reset(memo->hash);
		memo->emptied = true;
	}
	entry = memo_insert(memo->hash, key, &found);
	entry->state = STATE_UNKNOWN;
	return entry;
}
