/*
 * lookup_state.h
 *		What a Lookup is made of, for lookup.c and lookup_share.c.
 */
#ifndef HPSORT_PG_VALUES_LOOKUP_STATE_H
#define HPSORT_PG_VALUES_LOOKUP_STATE_H

#include "access/tupdesc.h"
#include "fmgr.h"

#include "pg/values/value.h"
#include "utils/tuplestore.h"

/* A column of the rows that is kept. */
typedef struct LookupColumn
{
	AttrNumber	column;			/* where it is in a row */
	bool		byval;			/* of its type, as typlen is */
	int16		typlen;
	int			key;			/* the column of the key that it is, if keys are integers, which
								 * have its values; else -1 */
	char	   *values;			/* by place: those passed by value in typlen bytes, Datums of
								 * others */
	bool	   *nulls;			/* by place; NULL: no value is NULL */
} LookupColumn;

/* A column of the key. */
typedef struct LookupKey
{
	int			column;			/* its index among the columns that are kept */
	Oid			collation;
	FmgrInfo	equal;			/* of a value that is looked for and one of a row */
	FmgrInfo	equal_rows;		/* of values of two rows */
	FmgrInfo	hash;			/* of a value that is looked for */
	FmgrInfo	hash_row;		/* of a value of a row */
	ColumnKind	kind;			/* of a value that is looked for, if keys are integers ... */
	ColumnKind	row_kind;		/* ... and of one of a row */
	int			bits;			/* of several columns: those of a value in the integer ... */
	int			shift;			/* ... and of those behind it */
} LookupKey;

/* The rows of a lookup that is divided. */
typedef struct LookupParts
{
	int			bits;			/* there are 2 to the power of it */
	int			part;			/* the one that the lookup has; -1: none yet */
	int64		rows;			/* of all */
	TupleTableSlot *row;
	MemoryContext memory;		/* of stores */
	Tuplestorestate **stores;	/* by part; NULL: it has no rows */
} LookupParts;

struct Lookup
{
	MemoryContext memory;		/* of the rows */
	TupleDesc	rows;			/* what rows are */
	int			repeats;		/* a LookupRepeats */
	int			nkeys;
	LookupKey  *keys;
	int			ncolumns;
	LookupColumn *columns;

	LookupParts *parts;			/* NULL: it is not divided */
	bool		of_integers;	/* keys are integers ... */
	bool		narrow;			/* ... of 32 bits */

	/* --- of the rows */
	int32		size;			/* rows */
	int32		repeated;		/* of these, rows whose key a row before them has */
	int32		room;			/* in the arrays by place */
	uint32	   *hashes;			/* by place; not of integers */
	uint32		nelements;		/* of the hash table */
	int32	   *places;			/* the hash table, or NULL; LOOKUP_NO_PLACE: empty */
	int32	   *before;			/* by place: that of the row before it that has its key, or
								 * LOOKUP_NO_PLACE; NULL unless there are repeated rows */

	char	   *free;			/* where the next value that is not passed by value goes ... */
	Size		nfree;			/* ... and how many bytes there are */

	/* of keys that are integers */
	void	   *integers;		/* by place: int32 if narrow, else int64 */
	int64		least;			/* the least key */
	int64		most;			/* the greatest key */
	int32	   *by_key;			/* places by distance from the least key, up to the greatest; or
								 * NULL */

	/* of a shared one */
	const char *base;			/* from where Datums that are distances count; else NULL */
	size_t		shared_size;	/* bytes of the block */
};

/* Returns the bytes that an array of a column has for each place. */
static inline Size
lookup_value_width(const LookupColumn *column)
{
	return column->key >= 0 ? 0 : column->byval ? (Size) column->typlen : sizeof(Datum);
}

/* Returns the bytes that the key of each place has as an integer. */
static inline Size
lookup_integer_width(const struct Lookup *lookup)
{
	return lookup->narrow ? sizeof(int32) : sizeof(int64);
}

/* Returns the bits of a value of either type of an operator that compares integers. */
extern int	lookup_value_bits(Oid operator);

/* Returns the part of a key, by bits of its hash at which the hash table looks last. */
static inline int
lookup_part_of_hash(const LookupParts *parts, uint32 hash)
{
	return (int) (hash & ((1U << parts->bits) - 1));
}

/* Forgets the rows, and closes the files. */
extern void lookup_parts_empty(LookupParts *parts);

/* Adds a row, whose key has a hash, to its part. */
extern void lookup_parts_add(LookupParts *parts, uint32 hash, TupleTableSlot *row);

/* Begins to read a part; then returns one row of it after the other, and NULL. */
extern void lookup_parts_begin(LookupParts *parts, int part);
extern TupleTableSlot *lookup_parts_next(LookupParts *parts);

#endif							/* HPSORT_PG_VALUES_LOOKUP_STATE_H */
