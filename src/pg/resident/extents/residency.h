/*
 * residency.h
 *		Which columns may be resident: of what tables, and under which snapshots.
 *
 * docs/internals/resident.md has the rule, and what goes wrong without each of the conditions.
 */
#ifndef HPSORT_PG_RESIDENT_EXTENTS_RESIDENCY_H
#define HPSORT_PG_RESIDENT_EXTENTS_RESIDENCY_H

#include "catalog/pg_attribute.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "pg/resident/memory/memory.h"
#include "pg/values/values.h"

/* Tables of fewer blocks are not worth it. */
#define RESIDENCY_MIN_BLOCKS 16

/*
 * Why columns of a table are never resident, in a few words; NULL if they may be.  nblocks is
 * the table's.
 */
extern const char *residency_refusal(Relation rel, BlockNumber nblocks);

/* Whether there is a column, and its values are stored. */
extern bool residency_keeps_column(Form_pg_attribute att);

/*
 * Whether this transaction may use and fill resident columns of a table, which residency_refusal
 * has not refused, with that snapshot.
 */
extern bool residency_is_allowed(Relation rel, Snapshot snapshot);

/*
 * Returns what the integers of a column that may be resident stand for: of COLUMN_KIND_NUMBER,
 * which has no dictionary here, values of any type by their numbers (column_dictionary.h).
 */
extern ColumnDomain residency_domain(Relation rel, AttrNumber attnum);

/*
 * Whether a GPU may be asked about a column, of which it takes values of int4: equal ones must be
 * equal integers, and the largest one must be no NaN.
 */
extern bool residency_suits_gpu(Relation rel, AttrNumber attnum);

/* Returns the integer of a value of a domain of residency_domain(), but of COLUMN_KIND_NUMBER. */
extern int64 residency_value(const ColumnDomain *domain, Datum value);

/* The key of a column. */
extern void residency_key(Relation rel, AttrNumber attnum, ResidentKey *key);

/*
 * Returns the column of which the most rows are resident, the first one if there are several;
 * InvalidAttrNumber if there is none.
 */
extern AttrNumber residency_most_rows(Relation rel);

#endif							/* HPSORT_PG_RESIDENT_EXTENTS_RESIDENCY_H */
