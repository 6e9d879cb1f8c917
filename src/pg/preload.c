/*
 * preload.c
 *		Whether hpsort's library is there when a session's first query is planned
 *		(see preload.h).
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"	/* get_database_name() before PG 19 */
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"	/* get_database_name() from PG 19 on */
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#include "pg/preload.h"

/* This process loaded the library before its first query. */
static bool preloaded = false;

void
preload_init(void)
{
	/* LOAD and calls of functions have an active snapshot; a session that begins has none. */
	preloaded = !ActiveSnapshotSet();
}

bool
preload_done(void)
{
	return preloaded;
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

/* Whether hpsort is among names, with or without a directory and the suffix. */
static bool
lists_hpsort(List *names)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		const char *name = (const char *) lfirst(lc);
		const char *base = strrchr(name, '/');

		base = base ? base + 1 : name;
		if (strcmp(base, "hpsort") == 0 || strcmp(base, "hpsort" DLSUFFIX) == 0)
			return true;
	}
	return false;
}

const char *
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
		int			i;

		if (!isnull)
			deconstruct_array(DatumGetArrayTypeP(config), TEXTOID, -1, false, TYPALIGN_INT,
							  &settings, NULL, &count);
		for (i = 0; i < count && result == NULL; i++)
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

char *
preload_statement(void)
{
	const char *of_database = database_libraries();
	List	   *names;
	ListCell   *lc;
	StringInfoData statement;

	/* ALTER DATABASE replaces the list, so the names in it must be in the new one. */
	names = library_names(of_database ? of_database : session_preload_libraries_string);
	if (preload_setting() != NULL || lists_hpsort(names))
		return NULL;
	initStringInfo(&statement);
	appendStringInfo(&statement, "ALTER DATABASE %s SET session_preload_libraries = ",
					 quote_identifier(get_database_name(MyDatabaseId)));
	foreach(lc, names)
		appendStringInfo(&statement, "%s, ", quote_literal_cstr((char *) lfirst(lc)));
	appendStringInfoString(&statement, "'hpsort';");
	return statement.data;
}
