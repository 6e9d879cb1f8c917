/*
 * memo_hash.h
 *		The hash table of a DerivedColumn's memo: what a value of the base column, or a block of
 *		its values, becomes.  For derived.c only.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_MEMO_HASH_H
#define HPSORT_PG_NODES_AGGREGATE_READ_MEMO_HASH_H

typedef struct MemoEntry
{
	int64		key;
	int64		value;
	uint8		state;
	char		status;
} MemoEntry;

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

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_MEMO_HASH_H */
