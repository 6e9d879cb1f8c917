/*
 * expanded.h
 *		A multiset that is being built: int4multiset as an expanded object.
 *
 * It is the union of a sorter, which keys are put into one at a time, and of lists of
 * runs, which are added and taken away.  Reading one makes a flat value of it.
 *
 * A query may have millions of groups, so the states of one aggregate context share a
 * memory context, an arena, instead of having one each, as expanded objects usually
 * do.  Nobody deletes or moves such a state by itself: the executor would do so where
 * a transition function returns another state than it was given, which those of
 * hpsort never do, and final functions get read-only pointers.
 */
#ifndef HPSORT_PG_MULTISET_EXPANDED_H
#define HPSORT_PG_MULTISET_EXPANDED_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "pg/multiset/run_levels.h"
#include "pg/multiset/value.h"
#include "pg/sort_context.h"

typedef struct ExpandedMultiset
{
	ExpandedObjectHeader header;
	Sorter		sorter;
	RunLevels  *levels;			/* NULL before the first run */
	bytea	   *flat;			/* made of flat_total keys, for PostgreSQL to copy; or NULL */
	uint64		flat_total;
} ExpandedMultiset;

/*
 * Adding a key reads the pointer that the datum is, in the header, and what comes first
 * in the sorter: they share a cache line where the pointer is at the line's begin.
 */
#define MULTISET_CACHE_LINE 64
#define MULTISET_LINE_OFFSET offsetof(ExpandedMultiset, header.eoh_rw_ptr)

/*
 * An empty multiset for a transition function's first row: in the aggregate's context
 * if the function is called by an aggregate, else in the current one.
 */
extern ExpandedMultiset *multiset_expanded_make(FunctionCallInfo fcinfo);

extern const ExpandedObjectMethods multiset_expanded_methods;

/* The multiset of an expanded datum: nothing else makes any of this type. */
static inline ExpandedMultiset *
multiset_expanded(Datum datum)
{
	ExpandedObjectHeader *header = DatumGetEOHP(datum);

	Assert(header->eoh_methods == &multiset_expanded_methods);
	return (ExpandedMultiset *) header;
}

/* The multiset of a datum that may be changed where it is; NULL if it may not. */
static inline ExpandedMultiset *
multiset_expanded_writable(Datum datum)
{
	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	return multiset_expanded(datum);
}

/* As a datum that may be changed: the same pointer each time. */
static inline Datum
multiset_expanded_datum(ExpandedMultiset *expanded)
{
	return EOHPGetRWDatum(&expanded->header);
}

/* Makes room for a key, out of line, so that adding one needs no room for an error. */
extern void multiset_expanded_flush(ExpandedMultiset *expanded);

/* Adds a key. */
static inline void
multiset_expanded_put(ExpandedMultiset *expanded, int32 key)
{
	if (sorter_is_full(&expanded->sorter))
		multiset_expanded_flush(expanded);
	sorter_put_key(&expanded->sorter, key);
}

/* Adds a key count times. */
extern void multiset_expanded_put_run(ExpandedMultiset *expanded, int32 key, uint64 count);

/* Adds and takes away the keys of another datum; the latter is an error where there are too few. */
extern void multiset_expanded_add(ExpandedMultiset *expanded, Datum datum);
extern void multiset_expanded_subtract(ExpandedMultiset *expanded, Datum datum);

/* multiset_expanded_add() of one from which keys are taken away later. */
extern void multiset_expanded_add_moving(ExpandedMultiset *expanded, Datum datum);

/*
 * The flat value, in the current memory context.  The multiset may be added to
 * afterwards.
 */
extern bytea *multiset_expanded_flat(ExpandedMultiset *expanded);

/* The value of all keys of a sorter, in the current memory context. */
extern bytea *multiset_sorter_flat(Sorter *sorter);

#endif							/* HPSORT_PG_MULTISET_EXPANDED_H */
