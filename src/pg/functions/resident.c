/*
 * resident.c
 *		hpsort_keep() and hpsort_forget(): which columns are to be resident.
 *
 * The table hpsort_kept is written on behalf of its owner, by SQL, so that its key, its
 * trigger and a read-only transaction have the effects they have for everybody; callers
 * have to own the table whose columns they declare.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/catalog.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "pg/column/value.h"
#include "pg/compat.h"
#include "pg/resident/kept.h"

PG_FUNCTION_INFO_V1(hpsort_keep);
PG_FUNCTION_INFO_V1(hpsort_forget);
PG_FUNCTION_INFO_V1(hpsort_support_kept_changed);

/* Complains unless the user owns the relation. */
static void
check_owner(Oid relid)
{
	if (!compat_owns_relation(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

/* Complains if no column of the relation can ever be resident. */
static void
check_relation(Relation rel)
{
	const char *name = RelationGetRelationName(rel);
	char		kind = rel->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep columns of relation \"%s\"", name),
				 errdetail_relkind_not_supported(kind)));
	if (IsCatalogRelation(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep columns of system catalog \"%s\"", name)));
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep columns of temporary table \"%s\"", name)));
}

/* Complains if there is no such column, or if its values are none that are kept. */
static void
check_column(Relation rel, const char *attribute)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), attribute);
	Form_pg_attribute att;
	ColumnKind	kind;

	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", attribute,
						RelationGetRelationName(rel))));
	if (attnum < 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep system column \"%s\"", attribute)));
	att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	if (att->attgenerated == COMPAT_ATTRIBUTE_GENERATED_VIRTUAL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep virtual generated column \"%s\"", attribute)));

	/* Times and timestamps are never within int4, as values of int8 may be. */
	kind = column_kind(att->atttypid);
	if (kind == COLUMN_KIND_NONE ||
		(column_kind_is_wide(kind) && getBaseType(att->atttypid) != INT8OID))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep column \"%s\" of type %s", attribute,
						format_type_be(att->atttypid)),
				 errdetail("Columns of the types smallint, integer, bigint, date, boolean, oid and \"char\", and of enums, can be kept.")));
}

/* The names in a name[]; NULL is none. */
static int
column_names(ArrayType *array, Datum **names)
{
	bool	   *isnull;
	int			n;
	int			i;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, names, &isnull, &n);
	for (i = 0; i < n; i++)
		if (isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column name must not be null")));
	return n;
}

/*
 * Runs a statement with the rights of hpsort_kept's owner.  The format has a place for
 * the table; $1 and $2 are the relation and the array of names.
 */
static void
write_kept(const char *format, Oid relid, ArrayType *names)
{
	Oid			kept = resident_kept_table();
	Oid			types[] = {REGCLASSOID, NAMEARRAYOID};
	Datum		values[] = {ObjectIdGetDatum(relid), PointerGetDatum(names)};
	HeapTuple	tuple;
	Oid			owner;
	Oid			user;
	int			security;
	char	   *table;

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(kept));
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("extension \"%s\" has no table \"%s\"", "hpsort", "hpsort_kept"),
				 errhint("Run: %s", "ALTER EXTENSION hpsort UPDATE")));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(kept)),
									   get_rel_name(kept));

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(owner, security | SECURITY_LOCAL_USERID_CHANGE);
	SPI_connect();
	if (SPI_execute_with_args(psprintf(format, table), lengthof(types), types, values, NULL,
							  false, 0) < 0)
		elog(ERROR, "could not write table %s: %s", table,
			 SPI_result_code_string(SPI_result));
	SPI_finish();
	/* An error has its (sub)transaction restore them. */
	SetUserIdAndSecContext(user, security);
}

/* hpsort_keep(rel regclass, VARIADIC attributes name[]) returns void */
Datum
hpsort_keep(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *names;
	int			n = column_names(array, &names);
	Relation	rel;
	int			i;

	PreventCommandIfReadOnly("hpsort_keep()");
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	check_owner(relid);
	/* The lock stays: nobody drops the table until the declaration can be seen. */
	rel = relation_open(relid, AccessShareLock);
	check_relation(rel);
	for (i = 0; i < n; i++)
		check_column(rel, NameStr(*DatumGetName(names[i])));
	relation_close(rel, NoLock);
	write_kept("INSERT INTO %s (relation, attribute)"
			   " SELECT $1, pg_catalog.unnest($2) ON CONFLICT DO NOTHING", relid, array);
	PG_RETURN_VOID();
}

/* hpsort_forget(rel regclass, VARIADIC attributes name[] DEFAULT '{}') returns void */
Datum
hpsort_forget(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *names;

	PreventCommandIfReadOnly("hpsort_forget()");
	column_names(array, &names);
	/* What is left of a table that was dropped is nobody's. */
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		check_owner(relid);
	write_kept("DELETE FROM %s WHERE relation OPERATOR(pg_catalog.=) $1"
			   " AND (pg_catalog.cardinality($2) OPERATOR(pg_catalog.=) 0"
			   " OR attribute OPERATOR(pg_catalog.=) ANY ($2))", relid, array);
	PG_RETURN_VOID();
}

/*
 * hpsort_support_kept_changed() returns trigger
 *
 * After each statement that changes hpsort_kept, the restore of a dump among them.
 */
Datum
hpsort_support_kept_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						"hpsort_support_kept_changed")));
	resident_kept_changed(RelationGetRelid(((TriggerData *) fcinfo->context)->tg_relation));
	PG_RETURN_POINTER(NULL);
}
