/*
 * value.h
 *		int4multiset as a datum: how its bytes are found, and how a datum is made.
 *
 * The bytes behind the varlena's header are those of sort/multiset.h.
 */
#ifndef HPSORT_PG_MULTISET_VALUE_H
#define HPSORT_PG_MULTISET_VALUE_H

#include "postgres.h"

#include "fmgr.h"

#include "pg/sort_context.h"
#include "sort/multiset_combine.h"

/*
 * Opens a datum all of whose bytes are wanted: it is detoasted, and an expanded one
 * flattened, into the current memory context, or read where it lies.  Returns where its
 * bytes are, for multiset_value_close(), which is needed by functions only that must
 * leave no memory behind.
 */
extern const bytea *multiset_value_open(Datum datum, Multiset *m);

static inline void
multiset_value_close(Datum datum, const bytea *value)
{
	if ((Pointer) value != DatumGetPointer(datum))
		pfree((void *) value);
}

/*
 * A datum of which few bytes are wanted.  A large one that is stored out of line, and
 * not compressed, is read a slice at a time: each slice is whole chunks of the TOAST
 * table, and the last one is kept.
 */
typedef struct MultisetSlices
{
	Multiset	m;
	Datum		stored;
	size_t		from;			/* which bytes of the value slice has */
	size_t		n;
	bytea	   *slice;
} MultisetSlices;

/* Opens a datum by slices; slices must live as long as they are read. */
extern void multiset_value_open_sliced(Datum datum, MultisetSlices *slices);

/* Decodes block number of an open value, with a look for interrupts. */
extern void multiset_value_read(const Multiset *m, uint32 number, MultisetBlock *block);

/* Decodes all runs to keys and counts, which have room for m->len of them. */
extern void multiset_value_decode(const Multiset *m, int32 *keys, uint64 *counts);

/* Makes a datum from runs in ascending order. */
typedef struct MultisetBuilder
{
	SortContext context;
	MultisetWriter writer;
} MultisetBuilder;

/* The builder's memory, and the datum's, is the context that is current here. */
extern void multiset_builder_begin(MultisetBuilder *builder);
extern void multiset_builder_add(MultisetBuilder *builder, const int32 *keys,
								 const uint64 *counts, size_t n);
extern bytea *multiset_builder_end(MultisetBuilder *builder);

/*
 * Raises the error of a status that came of adding to the builder's writer by a function
 * of sort/multiset_combine.h: more than a bigint can count, or than a value can hold.
 */
extern void multiset_builder_check(const MultisetBuilder *builder, SortStatus status,
								   const SortError *err);

/* A count or a sum is more than a bigint can hold. */
pg_noreturn extern void multiset_bigint_error(void);

/* A multiset has fewer of a key than are to be taken away. */
pg_noreturn extern void multiset_fewer_error(uint64 count, int32 key);

#endif							/* HPSORT_PG_MULTISET_VALUE_H */
