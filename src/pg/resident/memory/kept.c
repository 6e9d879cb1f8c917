/*
 * kept.c
 *		A session's copy of the table hpsort_kept (see kept.h).
 *
 * The table has few rows.  It has names of columns, so that a dump of it can be restored.
 * All rows are read at once; the numbers of the columns are looked up for each relation
 * that is asked about.  Invalidation messages of the relation cache say when that has to be
 * done again:
 *
 * - a message of hpsort_kept, which a trigger sends at each change: the rows are read again;
 * - a message of a relation, which every change of a column or of a partition sends: the
 *	 numbers are looked up again.
 *
 * Nothing is freed when a message comes, since that may be in the middle of a look-up.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "parser/parse_coerce.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/resident/memory/kept.h"

/* The columns of hpsort_kept. */
#define KEPT_RELATION		1
#define KEPT_ATTRIBUTE		2
#define KEPT_NATTRIBUTES	2

/* What is known of a relation that was asked about. */
typedef struct KeptRelation
{
	Oid			relid;			/* hash key */
	bool		valid;
	Bitmapset  *attnums;		/* numbers of its declared columns */
} KeptRelation;

/* The cache.  All of it is in kept_memory, and replaced as a whole when hpsort_kept changes. */
static MemoryContext kept_memory = NULL;
static Oid	kept_table = InvalidOid;
static List *declarations = NIL;
static HTAB *relations = NULL;
static bool loaded = false;

/* How many messages there have been: that make the declarations stale, and in all. */
static uint64 table_messages = 0;
static uint64 messages = 0;

/* The value of table_messages when the declarations began to be read. */
static uint64 loaded_at = 0;

/* The relation cache says that a relation, or all (InvalidOid), may have changed. */
static void
relation_changed(Datum arg, Oid relid)
{
	messages++;
	/* While there is no hpsort_kept, any new relation may be it. */
	if (!OidIsValid(relid) || !OidIsValid(kept_table) || relid == kept_table)
		table_messages++;
	else if (relations)
	{
		KeptRelation *known = (KeptRelation *) hash_search(relations, &relid, HASH_FIND, NULL);

		if (known)
			known->valid = false;
	}
}

/*
 * Whether a member of the extension is the table that its script has made, as a superuser.  A
 * user who has created the extension and is no superuser may make tables of his own members of
 * it.
 */
static bool
is_made_by_script(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class table;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	table = (Form_pg_class) GETSTRUCT(tuple);
	result = table->relkind == RELKIND_RELATION &&
		strcmp(NameStr(table->relname), "hpsort_kept") == 0 && superuser_arg(table->relowner);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Returns the table hpsort_kept among the members of the extension.  Where the extension is
 * older than the table, another table of that name may be in the extension's schema.
 */
static Oid
find_kept_table(void)
{
	Oid			extension = get_extension_oid("hpsort", true);
	Oid			result = InvalidOid;
	Relation	depend;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(extension))
		return InvalidOid;
	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ExtensionRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, keys);
	while (!OidIsValid(result) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend member = (Form_pg_depend) GETSTRUCT(tuple);

		if (member->classid == RelationRelationId && member->deptype == DEPENDENCY_EXTENSION &&
			is_made_by_script(member->objid))
			result = member->objid;
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return result;
}

/*
 * Whether the table's columns are still as the extension's script made them: a superuser may
 * alter them.
 */
static bool
has_expected_columns(TupleDesc desc)
{
	return desc->natts == KEPT_NATTRIBUTES &&
		IsBinaryCoercible(TupleDescAttr(desc, KEPT_RELATION - 1)->atttypid, OIDOID) &&
		TupleDescAttr(desc, KEPT_ATTRIBUTE - 1)->atttypid == NAMEOID;
}

/*
 * Adds the rows of hpsort_kept to *result, in memory.  Without wait it returns false if
 * somebody has the table locked: the queries that ask have nothing to do with the table, and
 * must not wait for its lock.
 */
static bool
read_declarations(Oid table, MemoryContext memory, bool wait, List **result)
{
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (wait)
		LockRelationOid(table, AccessShareLock);
	else if (!ConditionalLockRelationOid(table, AccessShareLock))
		return false;
	rel = try_table_open(table, NoLock);
	/* It may have been dropped since it was found. */
	if (rel == NULL)
	{
		UnlockRelationOid(table, AccessShareLock);
		return true;
	}
	if (!has_expected_columns(RelationGetDescr(rel)))
	{
		table_close(rel, AccessShareLock);
		return true;
	}

	/*
	 * Rows that are committed at this moment are read, whatever the transaction's snapshot sees,
	 * and in parallel workers as well.  A catalog snapshot would do that, too, but hpsort_kept is
	 * no catalog, and a serializable transaction that reads it under an MVCC snapshot conflicts
	 * with transactions that declare columns.
	 *
	 * If a change is committed while rows are read, any of them may be missed.  The change's
	 * message comes after that, and has all rows read again.
	 */
	scan = systable_beginscan(rel, InvalidOid, false, SnapshotSelf, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull[KEPT_NATTRIBUTES];
		Datum		values[KEPT_NATTRIBUTES];
		ResidentDeclaration *declaration;
		MemoryContext old;

		heap_deform_tuple(tuple, RelationGetDescr(rel), values, isnull);
		if (isnull[KEPT_RELATION - 1] || isnull[KEPT_ATTRIBUTE - 1])
			continue;
		old = MemoryContextSwitchTo(memory);
		declaration = palloc_object(ResidentDeclaration);
		declaration->relid = DatumGetObjectId(values[KEPT_RELATION - 1]);
		namestrcpy(&declaration->attribute,
				   NameStr(*DatumGetName(values[KEPT_ATTRIBUTE - 1])));
		*result = lappend(*result, declaration);
		MemoryContextSwitchTo(old);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return true;
}

/*
 * Reads the declarations, unless they are known.  Without wait, and while hpsort_kept is
 * locked, there seem to be none.
 */
static void
load(bool wait)
{
	static bool registered = false;
	HASHCTL		info = {.keysize = sizeof(Oid),.entrysize = sizeof(KeptRelation)};
	MemoryContext memory;
	List	   *read = NIL;
	bool		done = true;

	if (loaded && loaded_at == table_messages)
		return;
	if (!registered)
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	registered = true;

	loaded = false;
	if (kept_memory)
		MemoryContextDelete(kept_memory);
	kept_memory = NULL;
	relations = NULL;
	declarations = NIL;

	/* Messages of any relation count until the table is found again. */
	kept_table = InvalidOid;
	loaded_at = table_messages;
	memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort kept columns",
								   ALLOCSET_SMALL_SIZES);
	kept_table = find_kept_table();
	if (OidIsValid(kept_table))
		done = read_declarations(kept_table, memory, wait, &read);
	info.hcxt = memory;
	relations = hash_create("hpsort kept relations", 32, &info,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	MemoryContextSetParent(memory, CacheMemoryContext);
	kept_memory = memory;
	declarations = read;
	loaded = done;
}

/*
 * Adds the numbers that columns declared of one relation have in another relation, which may be
 * its partition.
 */
static Bitmapset *
add_attnums(Bitmapset *attnums, Oid declared_of, Oid relid)
{
	foreach_ptr(const ResidentDeclaration, declaration, declarations)
	{
		AttrNumber	attnum;

		if (declaration->relid != declared_of)
			continue;
		/* The name may be that of a column that was renamed or dropped. */
		attnum = get_attnum(relid, NameStr(declaration->attribute));
		if (attnum > 0)
			attnums = bms_add_member(attnums, attnum);
	}
	return attnums;
}

/* Returns the declared columns of a relation, in kept_memory. */
static Bitmapset *
kept_attnums(Oid relid)
{
	KeptRelation *known = (KeptRelation *) hash_search(relations, &relid, HASH_FIND, NULL);
	uint64		seen = messages;
	Bitmapset  *attnums;
	MemoryContext old;
	bool		found;

	if (known && known->valid)
		return known->attnums;
	attnums = add_attnums(NULL, relid, relid);
	if (get_rel_relispartition(relid))
	{
		foreach_oid(ancestor, get_partition_ancestors(relid))
			attnums = add_attnums(attnums, ancestor, relid);
	}
	known = (KeptRelation *) hash_search(relations, &relid, HASH_ENTER, &found);
	if (found)
		bms_free(known->attnums);
	known->attnums = NULL;
	known->valid = false;
	old = MemoryContextSwitchTo(kept_memory);
	known->attnums = bms_copy(attnums);
	MemoryContextSwitchTo(old);
	known->valid = seen == messages;
	return known->attnums;
}

bool
resident_is_kept(Oid relid, AttrNumber attnum)
{
#ifdef HPSORT_KEEP_ALL
	return attnum > 0;
#else
	return attnum > 0 && resident_keeps_any() && bms_is_member(attnum, kept_attnums(relid));
#endif
}

bool
resident_are_kept(Oid relid, int ncolumns, const AttrNumber *attnums)
{
	for (int c = 0; c < ncolumns; c++)
		if (!resident_is_kept(relid, attnums[c]))
			return false;
	return true;
}

bool
resident_keeps_any(void)
{
#ifdef HPSORT_KEEP_ALL
	return true;
#else
	load(false);
	return declarations != NIL;
#endif
}

Oid
resident_kept_table(void)
{
	load(false);
	return kept_table;
}

List *
resident_declarations(void)
{
	List	   *result = NIL;

	load(true);
	foreach_ptr(const ResidentDeclaration, known, declarations)
	{
		ResidentDeclaration *declaration = palloc_object(ResidentDeclaration);

		*declaration = *known;
		result = lappend(result, declaration);
	}
	return result;
}

List *
resident_relations(Oid relid, LOCKMODE lock)
{
	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		return find_all_inheritors(relid, lock, NULL);
	return list_make1_oid(relid);
}
