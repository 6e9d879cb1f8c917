/*
 * key_runs.h
 *		One key column without rows: a sorter keeps its keys as runs, and they
 *		are expanded while they are returned.
 *
 * The sorter's keys are int4.  A key is put into it as the distance of its
 * image from a bias: the middle of the images of keys of 32 bits and less, and
 * for int8 the image of the first key.  A key too far away is refused, and so
 * are more keys than the limit has memory for; the caller then reads all keys
 * with key_runs_fetch and keeps them in another way.
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_KEY_RUNS_H
#define HPSORT_PG_NODES_SORT_EXEC_KEY_RUNS_H

#include "executor/tuptable.h"

#include "pg/nodes/sort/store/store.h"
#include "sort/sorter/sorter.h"

/* Keys expanded from runs at once. */
#define KEY_RUNS_BATCH 1024

/* The bias of keys of 32 bits and less. */
#define KEY_RUNS_MIDDLE (UINT64CONST(1) << 31)

/* The keys of one column, in a sorter, and where they are being read. */
typedef struct KeyRuns
{
	KeyColumn  *key;
	Size		limit;			/* bytes that the sorter may take */
	Sorter		sorter;
	bool		has_bias;
	uint64		bias;			/* image that the sorter's key 0 stands for */
	uint64		nulls;			/* which are not in the sorter */

	/* Reading. */
	SorterCursor cursor;
	int32	   *batch;
	size_t		at;				/* next key of the batch */
	size_t		got;			/* keys in the batch */
	uint64		nulls_left;		/* still to be returned */
} KeyRuns;

/* Starts without keys.  All memory is the context's, which must outlive the runs. */
extern void key_runs_init(KeyRuns *runs, KeyColumn *key, const SortContext *context,
						  MemoryContext memory, Size limit);

/*
 * Adds the keys of a batch as distances from the bias: rows, of which NULLs are the last, packed
 * keys or runs.  Returns false if the keys now take too much memory.
 */
extern bool key_runs_add(KeyRuns *runs, const ColumnBatch *batch);

/*
 * key_runs_finish puts the keys in order when all of them are there, and key_runs_rewind starts
 * again with the first.
 */
extern void key_runs_finish(KeyRuns *runs);
extern void key_runs_rewind(KeyRuns *runs);

/*
 * Expands the next keys that are not NULL into the batch, as distances; returns how many, 0 at the
 * end.
 */
extern size_t key_runs_fetch(KeyRuns *runs);

/*
 * The slow steps of key_runs_put.  key_runs_set_bias sets the bias to the image of the first key,
 * or to the nearest with which no distance wraps around.  key_runs_make_room makes room in a sorter
 * that is full, and returns false if the sorter then takes more memory than the limit.
 */
extern void key_runs_set_bias(KeyRuns *runs, uint64 image);
extern bool key_runs_make_room(KeyRuns *runs);

/* Takes the first column of slot; false if its key is too far away, or one too many. */
static inline bool
key_runs_put(KeyRuns *runs, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, 1, &isnull);
	uint64		image;
	int64		distance;

	if (isnull)
	{
		runs->nulls++;
		return true;
	}
	image = key_image(runs->key, value);
	if (unlikely(!runs->has_bias))
		key_runs_set_bias(runs, image);
	distance = (int64) (image - runs->bias);
	if (unlikely(distance < PG_INT32_MIN || distance > PG_INT32_MAX))
		return false;
	if (unlikely(sorter_is_full(&runs->sorter)) && !key_runs_make_room(runs))
		return false;
	sorter_put_key(&runs->sorter, (int32) distance);
	return true;
}

/* The image of a key that is put as this distance. */
static inline uint64
key_runs_from_distance(const KeyRuns *runs, int32 distance)
{
	return runs->bias + (uint64) (int64) distance;
}

/* The distance as which an image, of a key or behind all of them, would be put. */
static inline int64
key_runs_to_distance(const KeyRuns *runs, uint64 image)
{
	return (int64) (image - runs->bias);
}

/* Returns the next key in slot, NULLs where they belong; empty at the end. */
static inline TupleTableSlot *
key_runs_next(KeyRuns *runs, TupleTableSlot *slot)
{
	bool		isnull = unlikely(runs->key->nulls_first && runs->nulls_left > 0);

	if (!isnull && runs->at == runs->got && key_runs_fetch(runs) == 0)
	{
		if (runs->nulls_left == 0)
			return ExecClearTuple(slot);
		isnull = true;
	}
	if (unlikely(isnull))
	{
		runs->nulls_left--;
		return key_emit(runs->key, true, 0, slot);
	}
	return key_emit(runs->key, false, key_runs_from_distance(runs, runs->batch[runs->at++]), slot);
}

#endif							/* HPSORT_PG_NODES_SORT_EXEC_KEY_RUNS_H */
