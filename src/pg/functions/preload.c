/*
 * preload.c
 *		hpsort_preload(), and what CREATE EXTENSION says: whether a session's first
 *		query is planned with hpsort, and what to do if not.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "pg/preload.h"

PG_FUNCTION_INFO_V1(hpsort_preload);
PG_FUNCTION_INFO_V1(hpsort_support_created);

/* hpsort_preload() returns record */
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
	values[0] = BoolGetDatum(preload_done());
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
