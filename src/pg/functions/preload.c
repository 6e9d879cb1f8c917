/*
 * preload.c
 *		Whether hpsort's library is there when a session's first query is planned (see
 *		functions.h), and what to do if not: hpsort_preload(), and what CREATE EXTENSION says.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"	/* get_database_name() before PG 19 */
#include "commands/extension.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"	/* get_database_name() from PG 19 on */
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#include "pg/compat.h"
#include "pg/functions/functions.h"

PG_FUNCTION_INFO_V1(hpsort_preload);
PG_FUNCTION_INFO_V1(hpsort_support_created);

/* Whether this process loaded the library before its first query; set once, by preload_init(). */
static bool preloaded = false;

void
preload_init(void)
{
	/* LOAD and calls of functions have an active snapshot; a session that begins has none. */
	preloaded = !ActiveSnapshotSet();
}

/*
 * Returns the names in the value of a setting; none if the value is not a list.  Empty names,
 * which SET ... = '' makes, are left out: nothing can be loaded by them.
 */
static List *
library_names(const char *value)
{
	List	   *names;
	ListCell   *lc;

	if (value == NULL || !SplitDirectoriesString(pstrdup(value), ',', &names))
		return NIL;
	foreach(lc, names)
	{
		if (*(const char *) lfirst(lc) == '\0')
			names = foreach_delete_current(names, lc);
	}
	return names;
}

/* Whether hpsort is among names of libraries, with or without a directory and the suffix. */
static bool
lists_hpsort(List *names)
{
	foreach_ptr(const char, name, names)
	{
		const char *base = strrchr(name, '/');

		base = base ? base + 1 : name;
		if (strcmp(base, "hpsort") == 0 || strcmp(base, "hpsort" DLSUFFIX) == 0)
			return true;
	}
	return false;
}

/* Returns the setting of this session that lists hpsort, a literal; NULL if none does. */
static const char *
preload_setting(void)
{
	if (lists_hpsort(library_names(shared_preload_libraries_string)))
		return "shared_preload_libraries";
	if (lists_hpsort(library_names(session_preload_libraries_string)))
		return "session_preload_libraries";
	if (lists_hpsort(library_names(local_preload_libraries_string)))
		return "local_preload_libraries";
	return NULL;
}

/*
 * Returns what ALTER DATABASE has set session_preload_libraries to in this database; NULL if it
 * has not.  A session that began earlier has another value.
 */
static char *
database_libraries(void)
{
	static const char prefix[] = "session_preload_libraries=";
	Relation	rel = table_open(DbRoleSettingRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *result = NULL;

	ScanKeyInit(&keys[0], Anum_pg_db_role_setting_setdatabase, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(MyDatabaseId));
	ScanKeyInit(&keys[1], Anum_pg_db_role_setting_setrole, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(InvalidOid));
	scan = systable_beginscan(rel, DbRoleSettingDatidRolidIndexId, true, NULL, 2, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		config = heap_getattr(tuple, Anum_pg_db_role_setting_setconfig,
										  RelationGetDescr(rel), &isnull);
		Datum	   *settings = NULL;
		int			count = 0;

		if (!isnull)
			deconstruct_array(DatumGetArrayTypeP(config), TEXTOID, -1, false, TYPALIGN_INT,
							  &settings, NULL, &count);
		for (int i = 0; i < count && result == NULL; i++)
		{
			char	   *setting = TextDatumGetCString(settings[i]);

			if (pg_strncasecmp(setting, prefix, sizeof(prefix) - 1) == 0)
				result = setting + sizeof(prefix) - 1;
		}
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

/*
 * Returns the statement that has sessions of this database load hpsort when they begin, in the
 * current memory context; NULL if a setting lists hpsort already.
 */
static char *
preload_statement(void)
{
	const char *of_database = database_libraries();
	List	   *names;
	StringInfoData statement;

	/* ALTER DATABASE replaces the list, so the names in it must be in the new one. */
	names = library_names(of_database ? of_database : session_preload_libraries_string);
	if (preload_setting() != NULL || lists_hpsort(names))
		return NULL;
	initStringInfo(&statement);
	appendStringInfo(&statement, "ALTER DATABASE %s SET session_preload_libraries = ",
					 quote_identifier(get_database_name(MyDatabaseId)));
	foreach_ptr(char, name, names)
		appendStringInfo(&statement, "%s, ", quote_literal_cstr(name));
	appendStringInfoString(&statement, "'hpsort';");
	return statement.data;
}

/*
 * hpsort_preload() returns record: whether this session had the library before its first query,
 * the setting that lists the library, and the statement that would list it.  The last two may be
 * NULL.
 */
Datum
hpsort_preload(PG_FUNCTION_ARGS)
{
	TupleDesc	tupdesc;
	Datum		values[3] = {0};
	bool		isnull[3] = {0};
	const char *setting = preload_setting();
	char	   *statement = NULL;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	/* The statement shows session_preload_libraries, which SHOW keeps from other users. */
	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS))
		statement = preload_statement();
	values[0] = BoolGetDatum(preloaded);
	isnull[1] = setting == NULL;
	if (setting)
		values[1] = CStringGetTextDatum(setting);
	isnull[2] = statement == NULL;
	if (statement)
		values[2] = CStringGetTextDatum(statement);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, isnull)));
}

/* The statement that the notice will have, in the transaction's memory; NULL: no notice. */
static char *pending_statement = NULL;

/* Raises the notice of hpsort_support_created(), unless the extension has been dropped again. */
static void
say_before_commit(XactEvent event, void *arg)
{
	if ((event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE) &&
		pending_statement != NULL && OidIsValid(get_extension_oid("hpsort", true)))
		ereport(NOTICE,
				(errmsg("the first query of a session is planned without hpsort"),
				 errdetail("A session loads hpsort's library, which its plans need, with the first call of one of hpsort's functions."),
				 has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS) ?
				 errhint("To load it when a session begins, run: %s", pending_statement) :
				 errhint("A superuser can have sessions load it when they begin: hpsort_preload() shows the statement.")));
	pending_statement = NULL;
}

/*
 * hpsort_support_created() returns void
 *
 * The script that CREATE EXTENSION runs calls this function at its end.  Unless hpsort is
 * preloaded, a notice says how to preload it.
 *
 * PostgreSQL hides notices while a script runs, whatever client_min_messages is.  So the notice
 * is raised before the transaction commits.  Whoever wants no notices, as the scripts that
 * pg_dump writes, gets none.
 */
Datum
hpsort_support_created(PG_FUNCTION_ARGS)
{
	static bool registered = false;
	MemoryContext old;

	if (!creating_extension)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s can only be called by the script of an extension",
						"hpsort_support_created")));
	if (!registered)
		RegisterXactCallback(say_before_commit, NULL);
	registered = true;
	old = MemoryContextSwitchTo(TopTransactionContext);
	pending_statement = preload_statement();
	MemoryContextSwitchTo(old);
	PG_RETURN_VOID();
}
