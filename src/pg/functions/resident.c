/*
 * resident.c
 *		SQL functions about resident columns.
 *
 * - hpsort_keep() and hpsort_forget() say which columns are to be resident.
 * - hpsort_resident() says which are, and why others are not.
 * - hpsort_resident_estimate() says how much memory a table's columns would take.
 * - hpsort_resident_check() says whether what is in memory is what the table has.
 *
 * Callers must own the table whose columns they declare.  Declarations are rows of the table
 * hpsort_kept, written by SQL with the rights of the owner of hpsort_kept: so its key, its trigger
 * and a read-only transaction have their usual effects.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/resident/memory/memory.h"
#include "pg/resident/source/source.h"
#include "pg/values/values.h"

PG_FUNCTION_INFO_V1(hpsort_keep);
PG_FUNCTION_INFO_V1(hpsort_forget);
PG_FUNCTION_INFO_V1(hpsort_support_relation_in);
PG_FUNCTION_INFO_V1(hpsort_support_kept_insert);
PG_FUNCTION_INFO_V1(hpsort_support_kept_changed);
PG_FUNCTION_INFO_V1(hpsort_resident);
PG_FUNCTION_INFO_V1(hpsort_resident_check);
PG_FUNCTION_INFO_V1(hpsort_resident_estimate);

/* Raises an error unless the current user owns the relation, which exists. */
static void
check_owner(Oid relid)
{
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

/* Raises an error if there is no such relation. */
static void
check_exists(Oid relid)
{
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
}

/* Raises an error if no column of the relation can ever be resident. */
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
	if (IsCatalogRelation(rel) || RelationGetRelid(rel) < FirstNormalObjectId)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep columns of system catalog \"%s\"", name)));
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep columns of temporary table \"%s\"", name)));
}

/* Raises an error if there is no such column, or it has no values that are stored. */
static void
check_column(Relation rel, const char *attribute)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), attribute);
	Form_pg_attribute att;

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
	if (att->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot keep virtual generated column \"%s\"", attribute)));
}

/* Returns the number of names in a name[], and sets *names to them.  A NULL is an error. */
static int
column_names(ArrayType *array, Datum **names)
{
	bool	   *isnull;
	int			n;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, names, &isnull, &n);
	for (int i = 0; i < n; i++)
		if (isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column name must not be null")));
	return n;
}

/* A list_sort_comparator: attributes by the length of their values; last those that vary. */
static int
compare_lengths(const ListCell *a, const ListCell *b)
{
	const		FormData_pg_attribute *left = (const FormData_pg_attribute *) lfirst(a);
	const		FormData_pg_attribute *right = (const FormData_pg_attribute *) lfirst(b);

	if (left->attlen != right->attlen)
		return (int) (uint16) left->attlen - (int) (uint16) right->attlen;
	return left->attnum - right->attnum;
}

/*
 * Returns the names of all columns that can be kept, those of the shortest values first.  An error
 * if there are none.
 */
static ArrayType *
all_names(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Datum	   *names = palloc_array(Datum, Max(desc->natts, 1));
	List	   *columns = NIL;
	int			n = 0;

	for (int i = 0; i < desc->natts; i++)
		if (residency_keeps_column(TupleDescAttr(desc, i)))
			columns = lappend(columns, TupleDescAttr(desc, i));
	list_sort(columns, compare_lengths);
	foreach_ptr(FormData_pg_attribute, column, columns)
		names[n++] = NameGetDatum(&column->attname);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("relation \"%s\" has no columns that can be kept",
						RelationGetRelationName(rel))));
	return construct_array(names, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

/*
 * The relation whose declarations write_kept() is writing, after the caller's rights have been
 * checked.
 */
static Oid	declared = InvalidOid;

/*
 * Runs a statement with the rights of hpsort_kept's owner.  The format has a place for the
 * table's name; the statement's $1 is the relation, $2 the array of names.
 *
 * A superuser may have given the table triggers.  Triggers act at once and as the owner, or not
 * at all, and what they set ends with the statement.
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
	Oid			declared_before = declared;
	int			security;
	int			settings;
	char	   *table;

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(kept));
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("extension \"%s\" has no table \"%s\"", "hpsort", "hpsort_kept"),
				 errdetail("The table is a member of the extension, and belongs to a superuser."),
				 errhint("Run: %s", "ALTER EXTENSION hpsort UPDATE")));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(kept)),
									   get_rel_name(kept));

	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(owner, security | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	settings = NewGUCNestLevel();
	set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
					  GUC_ACTION_SAVE, true, 0, false);
	declared = relid;
	PG_TRY();
	{
		SPI_connect();
		if (SPI_execute_with_args(psprintf(format, table), lengthof(types), types, values, NULL,
								  false, 0) < 0)
			elog(ERROR, "could not write table %s: %s", table,
				 SPI_result_code_string(SPI_result));
		SPI_finish();
	}
	PG_FINALLY();
	{
		declared = declared_before;
	}
	PG_END_TRY();
	/* An error has its (sub)transaction restore them. */
	AtEOXact_GUC(false, settings);
	SetUserIdAndSecContext(user, security);
}

/*
 * Fills the declared columns of a relation and its partitions in this process.  What this
 * transaction may not fill, for it has made the table or is serializable, the worker fills.
 */
static void
fill_now(Oid relid)
{
	foreach_oid(table, resident_relations(relid, AccessShareLock))
	{
		Relation	rel = relation_open(table, AccessShareLock);

		if (!resident_fill_table(rel))
			ereport(NOTICE,
					(errmsg("columns of table \"%s\" cannot be filled in this transaction",
							RelationGetRelationName(rel)),
					 errdetail("The transaction has made the table, or is serializable. The columns are filled later.")));
		relation_close(rel, NoLock);
	}
}

/*
 * hpsort_keep(rel regclass, VARIADIC attributes name[] DEFAULT '{}') returns void: declares the
 * named columns, or all that can be, to be kept in memory.  Columns that are declared already stay
 * so.  The caller must own the relation.
 *
 * hpsort_keep(rel regclass, attributes name[], wait bool) returns void: with wait, all declared
 * columns of the relation have been filled when it returns.
 */
Datum
hpsort_keep(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *names;
	int			n = column_names(array, &names);
	bool		wait = PG_NARGS() > 2 && PG_GETARG_BOOL(2);
	Relation	rel;

	PreventCommandIfReadOnly("hpsort_keep()");
	check_exists(relid);
	check_owner(relid);
	/* The lock stays, so that nobody drops the table before the declaration can be seen. */
	rel = relation_open(relid, AccessShareLock);
	check_relation(rel);
	for (int i = 0; i < n; i++)
		check_column(rel, NameStr(*DatumGetName(names[i])));
	if (n == 0)
		array = all_names(rel);
	relation_close(rel, NoLock);
	write_kept("INSERT INTO %s (relation, attribute)"
			   " SELECT $1, pg_catalog.unnest($2) ON CONFLICT DO NOTHING", relid, array);
	if (hpsort_resident_memory == 0)
		ereport(NOTICE,
				(errmsg("no values are kept while %s is 0", "hpsort.resident_memory"),
				 errhint("Set it to the memory that resident columns may take, and reload the configuration, which this session sees with its next command.")));
	else if (wait)
	{
		/* This process sees what it has declared. */
		CommandCounterIncrement();
		fill_now(relid);
	}
	/* For what has not been filled, or was given up because others did not see the declaration. */
	fill_request_at_commit();
	PG_RETURN_VOID();
}

/*
 * Gives up what is in memory of the named columns of a relation and its partitions; without
 * names, of all columns.
 */
static void
forget_values(Oid relid, const Datum *names, int n)
{
	foreach_oid(table, resident_relations(relid, NoLock))
	{
		if (n == 0)
			resident_forget(table, InvalidAttrNumber);
		for (int i = 0; i < n; i++)
		{
			AttrNumber	attnum = get_attnum(table, NameStr(*DatumGetName(names[i])));

			if (attnum > 0)
				resident_forget(table, attnum);
		}
	}
}

/*
 * hpsort_forget(rel regclass, VARIADIC attributes name[] DEFAULT '{}') returns void: takes back
 * the declarations of the named columns, or of all, and gives up their values in memory.  The
 * caller must own the relation, if it still exists.
 */
Datum
hpsort_forget(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *names;
	int			n;

	PreventCommandIfReadOnly("hpsort_forget()");
	n = column_names(array, &names);
	/* Anybody may remove what a dropped table has left. */
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		check_owner(relid);
	write_kept("DELETE FROM %s WHERE relation OPERATOR(pg_catalog.=) $1"
			   " AND (pg_catalog.cardinality($2) OPERATOR(pg_catalog.=) 0"
			   " OR attribute OPERATOR(pg_catalog.=) ANY ($2))", relid, array);
	forget_values(relid, names, n);
	PG_RETURN_VOID();
}

/*
 * hpsort_support_relation_in(cstring) returns hpsort_relation
 *
 * Does what regclassin does, but for the name of a relation that does not exist: the result is
 * 0, with a notice instead of an error.
 */
Datum
hpsort_support_relation_in(PG_FUNCTION_ARGS)
{
	char	   *name = PG_GETARG_CSTRING(0);
	Datum		relation;

	LOCAL_FCINFO(call, 1);

	if (strcmp(name, "-") == 0 || strspn(name, "0123456789") == strlen(name))
		return DirectFunctionCall1(regclassin, PG_GETARG_DATUM(0));
	InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, NULL, NULL);
	call->args[0].value = CStringGetTextDatum(name);
	call->args[0].isnull = false;
	relation = to_regclass(call);
	if (!call->isnull)
		return relation;
	ereport(NOTICE,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation \"%s\" does not exist", name)));
	PG_RETURN_OID(InvalidOid);
}

/* Returns the data of a trigger's call.  An error if the function was called in another way. */
static const TriggerData *
trigger_data(FunctionCallInfo fcinfo, const char *function)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", function)));
	return (const TriggerData *) fcinfo->context;
}

/*
 * hpsort_support_kept_insert() returns trigger
 *
 * Called before each row that hpsort_keep or the restore of a dump inserts into hpsort_kept.
 * Leaves out relations that do not exist, since they have not been restored.  A user who
 * inserts without hpsort_keep must own the relation.
 */
Datum
hpsort_support_kept_insert(PG_FUNCTION_ARGS)
{
	const TriggerData *trigger = trigger_data(fcinfo, "hpsort_support_kept_insert");
	TupleDesc	desc = RelationGetDescr(trigger->tg_relation);
	Datum		relation;
	bool		isnull;

	if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || desc->natts == 0 ||
		TupleDescAttr(desc, 0)->attisdropped ||
		!IsBinaryCoercible(TupleDescAttr(desc, 0)->atttypid, OIDOID))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" is a trigger of table \"%s\" only",
						"hpsort_support_kept_insert", "hpsort_kept")));
	relation = heap_getattr(trigger->tg_trigtuple, 1, desc, &isnull);
	if (!isnull && !SearchSysCacheExists1(RELOID, relation))
		PG_RETURN_POINTER(NULL);
	if (!isnull && DatumGetObjectId(relation) != declared)
		check_owner(DatumGetObjectId(relation));
	PG_RETURN_POINTER(trigger->tg_trigtuple);
}

/*
 * hpsort_support_kept_changed() returns trigger
 *
 * Called after each statement that changes hpsort_kept, the restore of a dump among them.  When
 * this transaction has committed, all sessions read the table again (kept.h).
 */
Datum
hpsort_support_kept_changed(PG_FUNCTION_ARGS)
{
	const TriggerData *trigger = trigger_data(fcinfo, "hpsort_support_kept_changed");

	CacheInvalidateRelcache(trigger->tg_relation);
	PG_RETURN_POINTER(NULL);
}

/*
 * Whether the current user may know of a column: if the user may read the column or the table, or
 * see everybody's statistics. attnum may be 0 for a column that does not exist.
 */
static bool
may_know(Oid relid, AttrNumber attnum)
{
	Oid			user = GetUserId();

	return has_privs_of_role(user, ROLE_PG_READ_ALL_STATS) ||
		pg_class_aclcheck(relid, user, ACL_SELECT) == ACLCHECK_OK ||
		(attnum > 0 && pg_attribute_aclcheck(relid, attnum, user, ACL_SELECT) == ACLCHECK_OK);
}

/*
 * Returns why no value of a column is in memory that resident memory knows nothing of, as far
 * as that can be found out without opening the table.
 */
static const char *
reason_unknown(Form_pg_class form, AttrNumber attnum)
{
	ResidentReason failure;

	if (attnum == InvalidAttrNumber)
		return "no such column";
	if (form->relpersistence == RELPERSISTENCE_UNLOGGED)
		return "unlogged table";
	if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_MATVIEW)
		return "not a table";
	if (form->relam != HEAP_TABLE_AM_OID)
		return "not in heap format";
	if (hpsort_resident_memory == 0)
		return "hpsort.resident_memory is 0";
	/* relpages is as of the last VACUUM or ANALYZE. */
	if (form->relpages > 0 && form->relpages < RESIDENCY_MIN_BLOCKS)
		return "too small";
	failure = resident_failure();
	if (failure != RESIDENT_OK)
		return resident_reason_text(failure);
	return fill_is_due() ? "to be filled" : "not read yet";
}

/* Returns the ResidentStatus of a column; NULL if resident memory knows nothing of it. */
static const ResidentStatus *
find_status(List *statuses, Oid relid, AttrNumber attnum)
{
	foreach_ptr(const ResidentStatus, status, statuses)
	{
		if (status->relid == relid && status->attnum == attnum)
			return status;
	}
	return NULL;
}

#define SHOWN_COLUMNS 12

/* Adds a row for a column of a relation, unless the relation has been dropped meanwhile. */
static void
show_column(ReturnSetInfo *rsinfo, Oid relid, Name attribute, List *statuses)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	AttrNumber	attnum = get_attnum(relid, NameStr(*attribute));
	const ResidentStatus *status = find_status(statuses, relid, attnum);
	ResidentStatus none = {0};
	bool		filling;
	const char *reason;
	Datum		values[SHOWN_COLUMNS];
	bool		isnull[SHOWN_COLUMNS] = {0};
	int			n = 0;

	if (!HeapTupleIsValid(tuple))
		return;
	/* A process that has died has left what it did. */
	filling = status && status->filler != 0 && BackendPidGetProc(status->filler) != NULL;
	if (filling)
		reason = "being filled";
	else if (status)
		reason = resident_reason_text(status->reason);
	else
	{
		reason = reason_unknown((Form_pg_class) GETSTRUCT(tuple), attnum);
		status = &none;
	}
	ReleaseSysCache(tuple);
	values[n++] = ObjectIdGetDatum(relid);
	values[n++] = NameGetDatum(attribute);
	values[n++] = Int64GetDatum(status->rows);
	values[n++] = Int64GetDatum(status->blocks);
	values[n++] = Int64GetDatum(status->blocks_valid);
	isnull[n] = !filling;
	values[n++] = Int64GetDatum(status->filled);
	values[n++] = Int64GetDatum(status->bytes);
	values[n++] = Int64GetDatum(status->hits);
	values[n++] = Int64GetDatum(status->gpu_hits);
	values[n++] = Int64GetDatum(status->refreshes);
	values[n++] = Int64GetDatum(status->evictions);
	isnull[n] = reason == NULL;
	values[n++] = reason ? CStringGetTextDatum(reason) : (Datum) 0;
	Assert(n == SHOWN_COLUMNS);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
}

static bool
is_declared(List *declarations, Oid relid, const char *attribute)
{
	foreach_ptr(const ResidentDeclaration, declaration, declarations)
	{
		if (declaration->relid == relid && strcmp(NameStr(declaration->attribute), attribute) == 0)
			return true;
	}
	return false;
}

/*
 * hpsort_resident() returns SETOF record
 *
 * A row for each declared column.  A partitioned table has none of its own: each of its
 * partitions that hold rows has one.
 */
Datum
hpsort_resident(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *declarations = resident_declarations();
	List	   *statuses = resident_status();
	List	   *shown = NIL;

	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(ResidentDeclaration, declaration, declarations)
	{
		Oid			relid = declaration->relid;

		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) ||
			!may_know(relid, get_attnum(relid, NameStr(declaration->attribute))))
			continue;
		foreach_oid(child_relid, resident_relations(relid, NoLock))
		{
			ResidentDeclaration *one;

			/* A partition's column may be declared by itself as well. */
			if (get_rel_relkind(child_relid) == RELKIND_PARTITIONED_TABLE ||
				is_declared(shown, child_relid, NameStr(declaration->attribute)))
				continue;
			show_column(rsinfo, child_relid, &declaration->attribute, statuses);
			one = palloc_object(ResidentDeclaration);
			*one = (ResidentDeclaration)
			{
				child_relid, declaration->attribute
			};
			shown = lappend(shown, one);
		}
	}
	return (Datum) 0;
}

#define CHECKED_COLUMNS 6

/*
 * Adds a row for each declared column of a relation, which has storage and is locked: what the
 * comparison of its values in memory with the table has found.
 */
static void
check_columns(ReturnSetInfo *rsinfo, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		Datum		values[CHECKED_COLUMNS];
		bool		isnull[CHECKED_COLUMNS] = {0};
		ResidentCheck check;
		int			n = 0;

		if (att->attisdropped || !resident_is_kept(RelationGetRelid(rel), attnum))
			continue;
		resident_check_column(rel, attnum, &check);
		values[n++] = ObjectIdGetDatum(RelationGetRelid(rel));
		values[n++] = NameGetDatum(&att->attname);
		values[n++] = Int64GetDatum(check.blocks);
		values[n++] = Int64GetDatum(check.rows);
		values[n++] = Int64GetDatum(check.differing);
		isnull[n] = check.differing == 0;
		values[n++] = Int64GetDatum(check.first_differing);
		Assert(n == CHECKED_COLUMNS);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	}
}

#define ESTIMATED_COLUMNS 6

/* Adds a row for each column of a relation, which has storage and is locked: what it would take. */
static void
estimate_columns(ReturnSetInfo *rsinfo, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	const char *refusal = residency_refusal(rel, RelationGetNumberOfBlocks(rel));
	AttrNumber *attnums = palloc_array(AttrNumber, desc->natts);
	ResidentSize *sizes = palloc_array(ResidentSize, desc->natts);
	int			n = 0;
	int			next = 0;

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		if (refusal == NULL && residency_keeps_column(TupleDescAttr(desc, attnum - 1)))
			attnums[n++] = attnum;
	resident_sizes(rel, n, attnums, sizes);
	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
		const ResidentSize *size = next < n && attnums[next] == attnum ? &sizes[next++] : NULL;
		const char *reason = NULL;
		Datum		values[ESTIMATED_COLUMNS];
		bool		isnull[ESTIMATED_COLUMNS] = {0};

		if (att->attisdropped)
			continue;
		if (size == NULL)
			reason = refusal ? refusal : "virtual generated column";
		else
			reason = resident_reason_text(size->reason);
		isnull[3] = isnull[4] = reason != NULL;
		isnull[5] = reason == NULL;
		values[0] = ObjectIdGetDatum(RelationGetRelid(rel));
		values[1] = NameGetDatum(&att->attname);
		values[2] = CStringGetTextDatum(format_type_with_typemod(att->atttypid, att->atttypmod));
		values[3] = Int64GetDatum(reason ? 0 : size->bytes);
		values[4] = Int64GetDatum(reason ? 0 : size->margin);
		values[5] = reason ? CStringGetTextDatum(reason) : (Datum) 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	}
}

/*
 * Adds rows for a relation, or for each of its partitions, that have storage.  The caller must own
 * the relation.
 */
static void
show_relations(FunctionCallInfo fcinfo, void (*show) (ReturnSetInfo *rsinfo, Relation rel))
{
	Oid			relid = PG_GETARG_OID(0);

	check_exists(relid);
	check_owner(relid);
	InitMaterializedSRF(fcinfo, 0);
	foreach_oid(table, resident_relations(relid, AccessShareLock))
	{
		Relation	rel = relation_open(table, AccessShareLock);

		if (RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
			show((ReturnSetInfo *) fcinfo->resultinfo, rel);
		relation_close(rel, NoLock);
	}
}

/*
 * hpsort_resident_check(rel regclass) returns SETOF record
 *
 * A row for each declared column of the relation, or of each of its partitions.
 */
Datum
hpsort_resident_check(PG_FUNCTION_ARGS)
{
	show_relations(fcinfo, check_columns);
	return (Datum) 0;
}

/*
 * hpsort_resident_estimate(rel regclass) returns SETOF record
 *
 * A row for each column of the relation, or of each of its partitions.
 */
Datum
hpsort_resident_estimate(PG_FUNCTION_ARGS)
{
	show_relations(fcinfo, estimate_columns);
	return (Datum) 0;
}
