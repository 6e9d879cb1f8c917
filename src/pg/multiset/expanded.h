/*
 * expanded.h
 *		A multiset that is being built: int4multiset as an expanded object.
 *
 * The multiset is the union of a sorter, into which keys are put one at a time, and of lists of
 * runs, which are added and taken away.  Reading the multiset makes a flat value.
 *
 * The states of one aggregate context share a memory context, an arena, because a query
 * may have millions of groups; other expanded objects have one each.  So nobody may
 * delete or move a state by itself.  The executor does so only where a transition
 * function returns another state than it was given, and hpsort's never do.  Final
 * functions get read-only pointers.
 */
#ifndef HPSORT_PG_MULTISET_EXPANDED_H
#define HPSORT_PG_MULTISET_EXPANDED_H

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "pg/multiset/run_levels.h"
#include "pg/multiset/value.h"
#include "pg/sort_context.h"

/* The state of a group, whose keys are in the sorter and in the levels. */
typedef struct ExpandedMultiset
{
	ExpandedObjectHeader header;	/* must come first */
	Sorter		sorter;			/* of the arena's context */
	RunLevels  *levels;			/* NULL before the first run */
	bytea	   *flat;			/* made of flat_total keys, for PostgreSQL to copy; or NULL */
	uint64		flat_total;		/* keys of the multiset when flat was made */
} ExpandedMultiset;

/*
 * Where a multiset begins in a cache line.  Adding a key reads the pointer that the datum is,
 * in the header, and the first fields of the sorter: they share a cache line if the pointer is
 * at the line's begin.
 */
#define MULTISET_CACHE_LINE 64
#define MULTISET_LINE_OFFSET offsetof(ExpandedMultiset, header.eoh_rw_ptr)

/*
 * Returns an empty multiset for a transition function's first row: in the aggregate's context
 * if an aggregate calls the function, else in the current one.
 */
extern ExpandedMultiset *multiset_expanded_make(FunctionCallInfo fcinfo);

extern const ExpandedObjectMethods multiset_expanded_methods;

/* Returns the multiset of an expanded datum of this type, which nothing else makes. */
static inline ExpandedMultiset *
multiset_expanded(Datum datum)
{
	ExpandedObjectHeader *header = DatumGetEOHP(datum);

	Assert(header->eoh_methods == &multiset_expanded_methods);
	return (ExpandedMultiset *) header;
}

/*
 * Returns the multiset of a datum if it may be changed where it is; NULL for a flat value, and for
 * an expanded one that others may read.
 */
static inline ExpandedMultiset *
multiset_expanded_writable(Datum datum)
{
	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	return multiset_expanded(datum);
}

/* Returns a multiset as a datum that may be changed: the same pointer each time. */
static inline Datum
multiset_expanded_datum(ExpandedMultiset *expanded)
{
	return EOHPGetRWDatum(&expanded->header);
}

/*
 * Makes room for a key.  Out of line, so that multiset_expanded_put() needs no room for an
 * error.
 */
extern void multiset_expanded_flush(ExpandedMultiset *expanded);

/* Adds a key.  Inlined into the transition function, which is called for each row. */
static inline void
multiset_expanded_put(ExpandedMultiset *expanded, int32 key)
{
	if (sorter_is_full(&expanded->sorter))
		multiset_expanded_flush(expanded);
	sorter_put_key(&expanded->sorter, key);
}

/* Adds a key count times; count is above 0.  More keys than a bigint can count are an error. */
extern void multiset_expanded_put_run(ExpandedMultiset *expanded, int32 key, uint64 count);

/* Adds the keys of another datum.  More keys than a bigint can count are an error. */
extern void multiset_expanded_add(ExpandedMultiset *expanded, Datum datum);

/*
 * Adds the keys of another datum, or with subtract takes them away, in a multiset whose keys come
 * and go.  Taking away more of a key than there are is an error.
 */
extern void multiset_expanded_move(ExpandedMultiset *expanded, Datum datum, bool subtract);

/*
 * Returns the flat value in the current memory context.  Keys may be added to the multiset
 * afterwards.
 */
extern bytea *multiset_expanded_flat(ExpandedMultiset *expanded);

/* Returns the value of all keys of a sorter, which stay, in the current memory context. */
extern bytea *multiset_sorter_flat(Sorter *sorter);

/*
 * Support functions of int4multiset_agg(), by whose addresses the planner half of Custom Scan
 * (HpSort Aggregate) recognises the aggregate.
 */
extern Datum hpsort_support_multiset_transfn(PG_FUNCTION_ARGS);
extern Datum hpsort_support_multiset_finalfn(PG_FUNCTION_ARGS);

#endif							/* HPSORT_PG_MULTISET_EXPANDED_H */
