/*
 * lookup.h
 *		Lookup: rows of a table that is joined on a key: the number of the key's row, its place, and
 *		values of other columns by place.
 *
 * Rows come from PostgreSQL's own plan of the table.  A key is of one or several columns.  It is
 * looked for by values of other columns, perhaps of other types of its operator family.  NULL is
 * equal to nothing.
 */
#ifndef HPSORT_PG_VALUES_LOOKUP_H
#define HPSORT_PG_VALUES_LOOKUP_H

#include "executor/tuptable.h"
#include "utils/dsa.h"

#include "pg/values/batch.h"
#include "pg/values/filter_conditions.h"
#include "pg/values/value.h"

typedef struct Lookup Lookup;

/* What becomes of a second row of a key. */
typedef enum LookupRepeats
{
	LOOKUP_REPEATS_FAIL,		/* an error is raised: there is none */
	LOOKUP_REPEATS_PASSED,		/* it is passed over */
	LOOKUP_REPEATS_KEPT			/* it has a place, too: lookup_repeat */
} LookupRepeats;

/* In place of a place: there is no row.  What is less is lookup_part_wanted()'s. */
#define LOOKUP_NO_PLACE (-1)

/* Returns how far below LOOKUP_NO_PLACE a place is: a part that is not there, plus 1. */
static inline int32
lookup_part_wanted(int32 place)
{
	return LOOKUP_NO_PLACE - Min(place, LOOKUP_NO_PLACE);
}

/*
 * Makes one without rows, in the current memory context, for a node.  rows describes a row, as
 * long as there is the lookup.  A row's key is in columns key_columns, nkeys of them, counted from
 * 1.  key i is equal to a value of the left type of operator i, which is hashable, in collation i.
 */
extern Lookup *lookup_make(TupleDesc rows, int nkeys, const AttrNumber *key_columns,
						   const Oid *operators, const Oid *collations, LookupRepeats repeats);

/* Has values of a column of the rows kept; returns its index.  Called before the first row. */
extern int	lookup_add_column(Lookup *lookup, AttrNumber column);

/* Bytes of a part that are in memory, twice what a tuplestore begins with; others are in a file. */
#define LOOKUP_STORE_BYTES (32 * 1024)

/*
 * Has the rows divided by their keys into so many parts, a power of two, which are in files, and of
 * which the lookup has one at a time.  A key has no several rows that are kept.  Called right after
 * lookup_make.
 */
extern void lookup_divide(Lookup *lookup, int nparts);

/*
 * Has a finished lookup have the rows of a part; at first it has those of part 0.  Returns whether
 * it has had others.
 */
extern bool lookup_load(Lookup *lookup, int part);

/* Returns the part that it has; 0 if it is not divided. */
extern int	lookup_part(const Lookup *lookup);

/* Forgets all rows, and gives their memory back. */
extern void lookup_empty(Lookup *lookup);

/* Adds a row, unless a column of its key is NULL. */
extern void lookup_add(Lookup *lookup, TupleTableSlot *row);

/* Called after the last row. */
extern void lookup_finish(Lookup *lookup);

/*
 * Returns the condition, the lookup's, that there is a row for a value of column k of the key,
 * whatever its other columns; or if excluded that there is none, of a key of one column.  The
 * column's number is the caller's to set.  NULL if keys are no integers.
 */
extern FilterCondition *lookup_condition(Lookup *lookup, int k, bool excluded);

/*
 * Returns the place of the row that has this key, of several the last one.  If the key is in a part
 * that is not there, lookup_part_wanted says in which.
 */
extern int32 lookup_find(const Lookup *lookup, const Datum *key, const bool *isnull);

/*
 * Whether keys of n columns are integers by these operators, for the planner: each of them, and of
 * several columns all in 64 bits together.
 */
extern bool lookup_compares_integers(int n, const Oid *operators);

/* Whether lookup_find_integers finds keys of which column k has values of a kind. */
extern bool lookup_finds_integers(const Lookup *lookup, int k, ColumnKind kind);

/*
 * Makes one integer of the columns of a key of several columns: appends those of the rows of
 * batches to packed, which has wide values and no rows.
 */
extern void lookup_pack(const Lookup *lookup, const ColumnBatch *const *batches,
						ColumnBatch *packed);

/*
 * Writes the places of the keys of a batch's rows, and where there is none lookup_part_wanted's
 * number, which is 0 unless rows are divided, and marks the latter in nulls.  Returns how many
 * these are.  Keys of several columns are packed.
 */
extern size_t lookup_find_integers(const Lookup *lookup, const ColumnBatch *keys, int32 *places,
								   uint8 *nulls);

/* How far lookup_repeat has come with a batch; zeros at first. */
typedef struct RepeatPosition
{
	size_t		row;			/* of the batch */
	bool		within;			/* it has been written, and its next place is this one */
	int32		place;
} RepeatPosition;

/*
 * Repeats rows by the places of their keys, which are a batch: writes as many of COLUMN_BATCH_KEYS
 * rows as are left, their numbers in the batch to rows, each as often as its key has rows, and a
 * row's place or NULL to found.  A row without a place is written once if outer, else passed over.
 * Returns how many rows there are, 0 when there are no more.
 */
extern size_t lookup_repeat(const Lookup *lookup, const ColumnBatch *places, bool outer,
							RepeatPosition *position, uint16 *rows, ColumnBatch *found);

/* Whether no key has a second row. */
extern bool lookup_is_unique(const Lookup *lookup);

/* Returns the value of a column, by its index, of the row at a place. */
extern Datum lookup_value(const Lookup *lookup, int column, int32 place, bool *isnull);

/*
 * Appends the values of a column, by its index and of a kind that is of the type itself, at the
 * places of a batch: NULL where there is no place, or the row is marked in refused, unless NULL.
 */
extern void lookup_read(const Lookup *lookup, int column, ColumnKind kind,
						const ColumnBatch *places, const uint8 *refused, ColumnBatch *values);

/* Returns the value in column k of the key of the row at a place, if keys are integers. */
extern int64 lookup_key(const Lookup *lookup, int k, int32 place);

/* Returns how many rows there are; their places are below. */
extern int32 lookup_size(const Lookup *lookup);

/* Returns how many there are in all parts. */
extern int64 lookup_rows(const Lookup *lookup);

/* Returns how many keys these have. */
extern int32 lookup_nkeys(const Lookup *lookup);

/* Returns the bytes that the rows take. */
extern size_t lookup_memory(const Lookup *lookup);

/*
 * Puts the rows of a finished lookup into a block of shared memory, which is the caller's to free,
 * and forgets them.  A lookup that was made in the same way, in any process, has these rows from
 * lookup_attach on until it is emptied.
 */
extern dsa_pointer lookup_share(Lookup *lookup, dsa_area *area);
extern void lookup_attach(Lookup *lookup, dsa_area *area, dsa_pointer block);

#endif							/* HPSORT_PG_VALUES_LOOKUP_H */
