/*
 * value.h
 *		int4multiset as a datum: how its bytes are found, and how a datum is made.
 *
 * The bytes behind the varlena's header have the format of sort/multiset/multiset.h.
 */
#ifndef HPSORT_PG_MULTISET_VALUE_H
#define HPSORT_PG_MULTISET_VALUE_H

#include "fmgr.h"

#include "pg/sort_context.h"
#include "sort/multiset/multiset.h"

/*
 * Opens a datum all of whose bytes are wanted.  The bytes are read where they lie, or else in
 * the current memory context: detoasted, or flattened if the datum is expanded.  Returns where the
 * bytes are, for multiset_value_close(), which only functions that must leave no memory behind
 * need to call.
 */
extern const bytea *multiset_value_open(Datum datum, Multiset *m);

/* Frees what multiset_value_open() has made of a datum, if it has made something. */
static inline void
multiset_value_close(Datum datum, const bytea *value)
{
	if ((Pointer) value != DatumGetPointer(datum))
		pfree((void *) value);
}

/* The runs of a datum in order, a block at a time. */
typedef struct MultisetReader
{
	Multiset	m;
	Datum		datum;			/* which multiset_reader_close() needs */
	const bytea *value;			/* its bytes */
	uint32		next;			/* number of the next block */
	uint32		at;				/* for the caller: how far it has come in the block */
	MultisetBlock block;
} MultisetReader;

/* Opens a datum as multiset_value_open() does, before its first block, and closes it. */
extern void multiset_reader_open(MultisetReader *reader, Datum datum);
extern void multiset_reader_close(MultisetReader *reader);

/*
 * Decodes the next block, and sets at to 0.  Looks for interrupts.  Returns false, with a block of
 * no runs, behind the last one.
 */
extern bool multiset_reader_next(MultisetReader *reader);

/*
 * Whether there is a run at `at`: of the block, or of the next one if the caller has come to the
 * end of the block.
 */
static inline bool
multiset_reader_has_run(MultisetReader *reader)
{
	return reader->at < reader->block.n || multiset_reader_next(reader);
}

/*
 * A datum of which few bytes are wanted.  A large value that is stored out of line and
 * uncompressed is read a slice at a time: a slice is whole chunks of the TOAST table, and the
 * last one is kept.  Other values are read as a whole.
 */
typedef struct MultisetSlices
{
	Multiset	m;
	Datum		stored;			/* the TOAST pointer; unset for a value that is read as a whole */
	size_t		from;			/* which bytes of the value slice has */
	size_t		n;				/* bytes in slice */
	bytea	   *slice;			/* the last slice that was read; NULL: none yet */
} MultisetSlices;

/* Opens a datum for reading few of its bytes. *slices must live as long as they are read. */
extern void multiset_value_open_sliced(Datum datum, MultisetSlices *slices);

/* What makes a datum of runs in ascending order. */
typedef struct MultisetBuilder
{
	SortContext context;
	MultisetWriter writer;
} MultisetBuilder;

/*
 * Begins a datum, adds n runs to it, and ends it.  The memory of the builder and of the datum
 * is the context that is current at the begin.  More keys than a bigint can count, or than a value
 * can hold, are an error.
 */
extern void multiset_builder_begin(MultisetBuilder *builder);
extern void multiset_builder_add(MultisetBuilder *builder, const int32 *keys,
								 const uint64 *counts, size_t n);
extern bytea *multiset_builder_end(MultisetBuilder *builder);

/* Raises the error that a count or a sum is more than a bigint can hold. */
pg_noreturn extern void multiset_bigint_error(void);

/* Raises the error that a multiset has fewer than count of a key, which were to be taken away. */
pg_noreturn extern void multiset_fewer_error(uint64 count, int32 key);

#endif							/* HPSORT_PG_MULTISET_VALUE_H */
