/*
 * kept.h
 *		Which columns were declared resident: the rows of the extension's table
 *		hpsort_kept, by relation and number of the column.
 *
 * A declaration is a wish, by which memory is spent; no result depends on it.
 */
#ifndef HPSORT_PG_RESIDENT_KEPT_H
#define HPSORT_PG_RESIDENT_KEPT_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"

/* A row of hpsort_kept.  The relation, or its column of that name, may be gone. */
typedef struct ResidentDeclaration
{
	Oid			relid;
	NameData	attribute;
} ResidentDeclaration;

/*
 * Whether that column was declared resident, itself or as a column of a partitioned
 * table that the relation is a partition of.  From a cache of this process, which
 * follows what is committed as the relation cache does; while hpsort_kept has to be read again and
 * is locked, nothing is declared.  Needs a transaction.  A build with HPSORT_KEEP_ALL, for tests,
 * takes all columns for declared.
 */
extern bool resident_is_kept(Oid relid, AttrNumber attnum);

/* Whether any column of any relation was declared; false at once where none was. */
extern bool resident_keeps_any(void);

/*
 * The table hpsort_kept, from the same cache; InvalidOid if the database has no hpsort, or
 * a version before 1.1.
 */
extern Oid	resident_kept_table(void);

/* All declarations, as ResidentDeclaration; palloc'd.  Waits where hpsort_kept is locked. */
extern List *resident_declarations(void);

/* Makes all sessions read that table, hpsort_kept, again, once this transaction has committed. */
extern void resident_kept_changed(Oid table);

#endif							/* HPSORT_PG_RESIDENT_KEPT_H */
