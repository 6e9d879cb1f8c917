/*
 * fill_worker.c
 *		The background workers that fill declared columns (see fill_request.h).
 *
 * The worker of a database takes its tables in turn, and each in steps, every one a transaction
 * of its own: whoever wants to alter or drop the table, or to drop the database, waits for one
 * step.  It acts as a superuser, and executes no user's code: pages are all that it reads.
 *
 * An error of a table is written to the log, and leaves the table's columns to the queries that
 * read them.  After a step that replay has cancelled, on a standby, all tables are gone through
 * again.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/compat.h"
#include "pg/resident/memory/memory.h"
#include "pg/resident/source/fill.h"

/* What datconnlimit is of a database that DROP DATABASE has left half removed. */
#define INVALID_DATABASE (-2)

/* Begins a transaction that others see as the statement. */
static void
begin_transaction(const char *statement)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	pgstat_report_activity(STATE_RUNNING, statement);
}

static void
end_transaction(void)
{
	PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_stat(false);
	pgstat_report_activity(STATE_IDLE, NULL);
}

/* --- all databases */

/* Returns the numbers of the databases that allow connections, in memory. */
static List *
list_databases(MemoryContext memory)
{
	List	   *databases = NIL;
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;

	begin_transaction("listing databases");
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);
		MemoryContext old;

		if (!database->datallowconn || database->datconnlimit == INVALID_DATABASE)
			continue;
		old = MemoryContextSwitchTo(memory);
		databases = lappend_oid(databases, database->oid);
		MemoryContextSwitchTo(old);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	end_transaction();
	return databases;
}

/* Has the databases filled, one after the other. */
static void
fill_all(void)
{
	ListCell   *lc;

	foreach(lc, list_databases(TopMemoryContext))
	{
		BackgroundWorkerHandle *handle;

		if (!fill_request(lfirst_oid(lc), &handle))
			break;
		if (handle && WaitForBackgroundWorkerShutdown(handle) == BGWH_POSTMASTER_DIED)
			proc_exit(1);
	}
}

/* --- a database */

/*
 * Gives up what is in memory of columns that are not declared any more: dropped ones, or of a
 * transaction that was rolled back.  While a transaction is declaring columns, nothing is given up:
 * it may have filled them already.  On a standby there is none.
 */
static void
forget_undeclared(void)
{
	Oid			table = resident_kept_table();
	ListCell   *lc;

	if (OidIsValid(table) && !RecoveryInProgress() &&
		!ConditionalLockRelationOid(table, ShareLock))
		return;
	foreach(lc, resident_status())
	{
		const ResidentStatus *status = (const ResidentStatus *) lfirst(lc);

		if (!resident_is_kept(status->relid, status->attnum))
			resident_forget(status->relid, status->attnum);
	}
}

/*
 * Returns the relations that have declared columns, and partitions of those that are partitioned,
 * in memory.
 */
static List *
list_relations(MemoryContext memory)
{
	List	   *relids = NIL;
	ListCell   *lc;

	begin_transaction("listing resident columns");
	foreach(lc, resident_declarations())
	{
		Oid			relid = ((const ResidentDeclaration *) lfirst(lc))->relid;
		List	   *more = resident_relations(relid, NoLock);
		MemoryContext old = MemoryContextSwitchTo(memory);

		relids = list_concat_unique_oid(relids, more);
		MemoryContextSwitchTo(old);
	}
	forget_undeclared();
	end_transaction();
	return relids;
}

/*
 * Whether the worker is to go on: not if the settings say so, or if somebody wants the database for
 * himself, as DROP DATABASE does, and waits for other processes to leave.
 */
static bool
may_go_on(void)
{
	LOCKTAG		tag;
	bool		wanted;

	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	if (!fill_is_eager())
		return false;
	StartTransactionCommand();
	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	wanted = LockAcquire(&tag, RowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL;
	CommitTransactionCommand();
	return !wanted;
}

/*
 * Makes the next step of a table, whose fill has its memory below memory; NULL at the beginning.
 * Returns the fill if there is more to do.
 */
static ResidentFill *
fill_step(Oid relid, ResidentFill *fill, MemoryContext memory)
{
	Relation	rel;
	bool		more;

	begin_transaction("filling resident columns");
	rel = try_relation_open(relid, AccessShareLock);
	if (fill && (rel == NULL || !resident_fill_fits(fill, rel)))
	{
		resident_fill_end(fill);
		fill = NULL;
	}
	if (rel)
	{
		if (fill == NULL && RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
			fill = resident_fill_begin(rel, memory);
		more = fill && resident_fill_more(fill, rel);
		if (fill && !more)
		{
			resident_fill_end(fill);
			fill = NULL;
		}
		relation_close(rel, NoLock);
	}
	end_transaction();
	return fill;
}

/* Fills a table.  Returns false if the worker is not to go on. */
static bool
fill_table(Oid relid)
{
	MemoryContext memory = AllocSetContextCreate(TopMemoryContext, "hpsort fill of a table",
												 ALLOCSET_SMALL_SIZES);
	ResidentFill *volatile fill = NULL;
	volatile bool goes_on = true;

	PG_TRY();
	{
		while ((goes_on = may_go_on()))
		{
			fill = fill_step(relid, fill, memory);
			if (fill == NULL)
				break;
		}
		if (fill)
			resident_fill_end(fill);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(TopMemoryContext);
		errcontext("while filling resident columns of relation %u", relid);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		if (geterrcode() == ERRCODE_T_R_SERIALIZATION_FAILURE)
			(void) fill_request(MyDatabaseId, NULL);
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextDelete(memory);
	return goes_on;
}

/* Fills all tables of this database. */
static void
fill_database(void)
{
	MemoryContext memory = AllocSetContextCreate(TopMemoryContext, "hpsort tables to be filled",
												 ALLOCSET_SMALL_SIZES);
	ListCell   *lc;

	foreach(lc, list_relations(memory))
	{
		if (!fill_table(lfirst_oid(lc)))
			break;
	}
	MemoryContextDelete(memory);
}

void
hpsort_resident_fill_main(Datum arg)
{
	Oid			database = DatumGetObjectId(arg);

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	if (!fill_is_eager())
		proc_exit(0);
	if (!OidIsValid(database))
	{
		saved_extents_read();
		fill_all();
	}
	else if (fill_claim())
	{
		do
			fill_database();
		while (fill_again());
	}
	proc_exit(0);
}
