/*
 * fill_request.c
 *		Asking for the background workers that fill extents (see fill_request.h).
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/ipc.h"

#include "pg/guc.h"
#include "pg/resident/memory/fill_request.h"
#include "pg/resident/memory/slabs.h"
#include "pg/shared_memory.h"

/* How long after it was registered a worker that has not begun may be registered again. */
#define START_LOST_MS 10000

/* This transaction has asked for a worker. */
static bool requested = false;

bool
fill_is_eager(void)
{
	return hpsort_resident_memory > 0 && hpsort_resident_fill == FILL_EAGER;
}

/* --- the table of workers, with the lock */

/* Returns a database's entry; of InvalidOid a free one.  NULL if there is none. */
static ResidentFiller *
find_filler(ResidentRoot *root, Oid database)
{
	for (int f = 0; f < RESIDENT_FILLERS; f++)
		if (root->fillers[f].database == database)
			return &root->fillers[f];
	return NULL;
}

/* Whether an entry's worker is at work, or may still begin. */
static bool
is_expected(const ResidentFiller *filler)
{
	return filler->pid != 0 ||
		!TimestampDifferenceExceeds(filler->registered, GetCurrentTimestamp(), START_LOST_MS);
}

/* Frees the entry of a database, if it is that process's. */
static void
forget_filler(ResidentRoot *root, Oid database, pid_t pid)
{
	ResidentFiller *filler;

	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	filler = find_filler(root, database);
	if (filler && filler->pid == pid)
		memset(filler, 0, sizeof(*filler));
	LWLockRelease(&root->lock);
}

/* --- requests */

/* Registers a worker of a database; false, with a message to the log, if there are too many. */
static bool
register_worker(Oid database, BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker = shared_memory_worker(OidIsValid(database) ? "hpsort resident fill" :
												   "hpsort resident fill launcher",
												   "hpsort_resident_fill_main", BGW_NEVER_RESTART);

	worker.bgw_flags |= BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_main_arg = ObjectIdGetDatum(database);
	worker.bgw_notify_pid = handle ? MyProcPid : 0;
	if (RegisterDynamicBackgroundWorker(&worker, handle))
		return true;
	ereport(LOG,
			(errmsg("no background worker to fill resident columns"),
			 errdetail("The columns are filled by the queries that read them."),
			 errhint("You may need to increase \"%s\".", "max_worker_processes")));
	return false;
}

bool
fill_request(Oid database, BackgroundWorkerHandle **handle)
{
	ResidentRoot *root = resident_root();
	ResidentFiller *filler;
	bool		expected;

	if (handle)
		*handle = NULL;
	if (root == NULL)
		return false;
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	filler = find_filler(root, database);
	expected = filler && is_expected(filler);
	if (expected)
		filler->again = true;
	else
	{
		if (filler == NULL)
			filler = find_filler(root, InvalidOid);
		if (filler)
			*filler = (ResidentFiller)
		{
			.database = database,.registered = GetCurrentTimestamp()
		};
	}
	LWLockRelease(&root->lock);
	if (expected)
		return true;
	if (filler && register_worker(database, handle))
		return true;
	forget_filler(root, database, 0);
	return false;
}

/* A transaction ends. */
static void
transaction_ends(XactEvent event, void *arg)
{
	bool		fill = requested && event == XACT_EVENT_COMMIT;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	requested = false;
	if (fill)
		(void) fill_request(MyDatabaseId, NULL);
}

void
fill_request_at_commit(void)
{
	static bool registered = false;

	/* The root is attached to here, where an error does no harm. */
	if (!fill_is_eager() || resident_root() == NULL)
		return;
	if (!registered)
		RegisterXactCallback(transaction_ends, NULL);
	registered = requested = true;
}

void
fill_request_unread(void)
{
	if (fill_is_eager() && RecoveryInProgress())
		(void) fill_request(MyDatabaseId, NULL);
}

void
fill_request_all(void)
{
	(void) register_worker(InvalidOid, NULL);
}

bool
fill_is_due(void)
{
	ResidentRoot *root = fill_is_eager() ? resident_root() : NULL;
	const ResidentFiller *filler;
	bool		due;

	if (root == NULL)
		return false;
	LWLockAcquire(&root->lock, LW_SHARED);
	filler = find_filler(root, MyDatabaseId);
	due = filler && is_expected(filler);
	LWLockRelease(&root->lock);
	return due;
}

/* --- for workers */

/* A before_shmem_exit callback: the database has no worker any more. */
static void
filler_exit(int code, Datum root)
{
	forget_filler((ResidentRoot *) DatumGetPointer(root), MyDatabaseId, MyProcPid);
}

bool
fill_claim(void)
{
	ResidentRoot *root = resident_root();
	ResidentFiller *filler;
	bool		mine;

	if (root == NULL)
		return false;
	before_shmem_exit(filler_exit, PointerGetDatum(root));
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	filler = find_filler(root, MyDatabaseId);
	mine = filler && filler->pid == 0;
	if (mine)
		filler->pid = MyProcPid;
	LWLockRelease(&root->lock);
	return mine;
}

bool
fill_again(void)
{
	ResidentRoot *root = resident_root();
	ResidentFiller *filler;
	bool		again;

	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	filler = find_filler(root, MyDatabaseId);
	again = filler && filler->pid == MyProcPid && filler->again;
	if (again)
		filler->again = false;
	else if (filler && filler->pid == MyProcPid)
		memset(filler, 0, sizeof(*filler));
	LWLockRelease(&root->lock);
	return again;
}
