/*
 * kept.h
 *		Which columns were declared resident: the rows of the extension's table
 *		hpsort_kept, by relation and number of the column.
 *
 * A declaration is a wish, by which memory is spent; no result depends on it.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_KEPT_H
#define HPSORT_PG_RESIDENT_MEMORY_KEPT_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"

/* A row of hpsort_kept.  The relation, or its column of that name, may be gone. */
typedef struct ResidentDeclaration
{
	Oid			relid;
	NameData	attribute;
} ResidentDeclaration;

/*
 * Whether a column was declared resident, itself or as a column of a partitioned table that the
 * relation is a partition of.  Needs a transaction.
 *
 * The answer comes from a cache of this process, which follows what is committed as the
 * relation cache does.  Nothing is declared while hpsort_kept has to be read again and is
 * locked.  A build with HPSORT_KEEP_ALL, for tests, takes all columns for declared.
 */
extern bool resident_is_kept(Oid relid, AttrNumber attnum);

/* Whether all of these columns were. */
extern bool resident_are_kept(Oid relid, int ncolumns, const AttrNumber *attnums);

/* Whether any column of any relation was declared.  Quick where none was. */
extern bool resident_keeps_any(void);

/*
 * Returns the table hpsort_kept, from the cache of resident_is_kept(); InvalidOid if the database
 * has no hpsort, or a version before 1.1.
 */
extern Oid	resident_kept_table(void);

/*
 * Returns all declarations, as a palloc'd list of ResidentDeclaration.  Waits where hpsort_kept
 * is locked.
 */
extern List *resident_declarations(void);

/*
 * Returns a relation of which columns may be declared; with all its partitions, locked, if it is
 * partitioned.
 */
extern List *resident_relations(Oid relid, LOCKMODE lock);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_KEPT_H */
