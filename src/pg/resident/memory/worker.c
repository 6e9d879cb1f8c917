/*
 * worker.c
 *		The background worker that allocates the memory of resident columns (see worker.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/resident/memory/buffer_notes.h"
#include "pg/resident/memory/fill_request.h"
#include "pg/resident/memory/worker.h"
#include "pg/shared_memory.h"

/* How long a query waits for the worker, which may have to be started ... */
#define WAIT_MS 1000

/* ... and how often it does that if it is patient. */
#define PATIENCE 30

/* How long after it was registered a worker that has not begun may be registered again. */
#define START_LOST_MS 10000

/* How long after it failed the worker is started again. */
#define RESTART_S 10

/* How long no allocation is tried after one has failed, or had no answer. */
#define FAILURE_MS 30000

/*
 * The largest and the smallest slab are these parts of the limit.  So the limit is used up in
 * several steps, and there are no more than RESIDENT_SLABS slabs, some of which are left for a
 * limit that is raised.
 */
#define SLABS_OF_LIMIT 8
#define SLABS_MOST (RESIDENT_SLABS / 2)

/* How much dynamic shared memory must be left for others: the tables of some parallel queries. */
#define RESERVED_BYTES (16 * RESIDENT_MB)

long		(*resident_worker_step) (void) = NULL;
void		(*resident_worker_at_end) (void) = NULL;

/* Describes the worker for registering it. */
static void
fill_worker(BackgroundWorker *worker)
{
	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker->bgw_start_time = BgWorkerStart_ConsistentState;
	/* After a crash at once. */
	worker->bgw_restart_time = RESTART_S;
	strlcpy(worker->bgw_name, "hpsort resident columns", BGW_MAXLEN);
	strlcpy(worker->bgw_type, "hpsort resident columns", BGW_MAXLEN);
	strlcpy(worker->bgw_library_name, "hpsort", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, "hpsort_resident_main", sizeof(worker->bgw_function_name));
}

void
resident_worker_preload(void)
{
	BackgroundWorker worker;

	shared_memory_request(sizeof(ResidentRoot));
	if (hpsort_resident_memory <= 0)
		return;
	buffer_notes_preload();
	fill_worker(&worker);
	RegisterBackgroundWorker(&worker);
}

/* --- asking for memory */

/* Whether an allocation has failed so recently that none is tried.  Needs the lock. */
static bool
has_failed(const ResidentRoot *root, TimestampTz now)
{
	return root->failure != RESIDENT_OK &&
		!TimestampDifferenceExceeds(root->failed, now, FAILURE_MS);
}

/* Answers a request: RESIDENT_OK, or why an allocation has failed, for FAILURE_MS. */
static void
answer(ResidentRoot *root, ResidentReason reason)
{
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	root->failure = reason;
	root->failed = GetCurrentTimestamp();
	root->wanted = 0;
	LWLockRelease(&root->lock);
	ConditionVariableBroadcast(&root->changed);
}

/*
 * Notes that there was no answer, so that the next queries do not wait for one.  The request
 * stands.  A worker that comes late, as on a busy machine, allocates what is wanted, and takes
 * the note back.  One that has ended leaves none: the next query starts another.
 */
static void
note_no_answer(ResidentRoot *root)
{
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	if (root->wanted != 0 && (root->worker != 0 || root->started != 0))
	{
		root->failure = RESIDENT_NO_WORKER;
		root->failed = GetCurrentTimestamp();
	}
	LWLockRelease(&root->lock);
}

/* Waits until the request has been answered.  Returns false after WAIT_MS. */
static bool
wait_for_answer(ResidentRoot *root)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), WAIT_MS);
	uint32		event = WaitEventExtensionNew("HpsortResidentMemory");
	bool		answered = false;

	ConditionVariablePrepareToSleep(&root->changed);
	for (;;)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);

		LWLockAcquire(&root->lock, LW_SHARED);
		answered = root->wanted == 0;
		LWLockRelease(&root->lock);
		if (answered || left <= 0)
			break;
		(void) ConditionVariableTimedSleep(&root->changed, left, event);
	}
	ConditionVariableCancelSleep();
	return answered;
}

/* As resident_worker_ask(), for WAIT_MS. */
static bool
ask_once(ResidentRoot *root, uint64 bytes, bool patient, ResidentReason *reason)
{
	uint64		limit = hpsort_resident_memory * RESIDENT_MB;
	TimestampTz now = GetCurrentTimestamp();
	BackgroundWorker worker;
	uint64		allocated;
	bool		failed;
	bool		full;
	bool		start = false;

	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	allocated = root->allocated;
	full = allocated + RESIDENT_MB > limit;
	failed = !full && has_failed(root, now) &&
		!(patient && root->failure == RESIDENT_NO_WORKER);
	*reason = full ? RESIDENT_NO_ROOM : root->failure;
	if (!full && !failed)
	{
		root->failure = RESIDENT_OK;
		root->wanted = Max(root->wanted, bytes);
		if (root->worker != 0)
			SetLatch(root->latch);
		else
		{
			start = root->started == 0 ||
				TimestampDifferenceExceeds(root->started, now, START_LOST_MS);
			if (start)
				root->started = now;
		}
	}
	LWLockRelease(&root->lock);
	if (full || failed)
		return false;

	if (start)
	{
		fill_worker(&worker);
		if (!RegisterDynamicBackgroundWorker(&worker, NULL))
			answer(root, RESIDENT_NO_WORKER);
	}
	if (!wait_for_answer(root))
	{
		note_no_answer(root);
		*reason = RESIDENT_NO_WORKER;
		return false;
	}
	LWLockAcquire(&root->lock, LW_SHARED);
	*reason = root->failure;
	full = root->allocated <= allocated;
	LWLockRelease(&root->lock);
	return !full;
}

bool
resident_worker_ask(ResidentRoot *root, uint64 bytes, bool patient, ResidentReason *reason)
{
	int			tries = patient ? PATIENCE : 1;

	while (!ask_once(root, bytes, patient, reason))
		if (*reason != RESIDENT_NO_WORKER || --tries == 0)
			return false;
	return true;
}

/* --- the worker */

/* A before_shmem_exit callback: there is no worker any more. */
static void
worker_exit(int code, Datum arg)
{
	ResidentRoot *root = (ResidentRoot *) DatumGetPointer(arg);

	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	if (root->worker == MyProcPid)
	{
		root->worker = 0;
		root->latch = NULL;
		root->started = 0;
		root->failure = root->failure == RESIDENT_NO_WORKER ? RESIDENT_OK : root->failure;
	}
	LWLockRelease(&root->lock);
}

/*
 * Makes this process the worker.  Returns false if there is one already.  The first one has all
 * databases filled, in which columns may have been declared before the server started.
 */
static bool
claim(ResidentRoot *root)
{
	bool		mine;
	bool		first = false;

	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	mine = root->worker == 0;
	if (mine)
	{
		root->worker = MyProcPid;
		root->latch = MyLatch;
		first = !root->launched && fill_is_eager();
		root->launched = root->launched || first;
	}
	LWLockRelease(&root->lock);
	if (first)
		fill_request_all();
	return mine;
}

/*
 * Returns a pinned segment of size bytes, or NULL as resident_segment().  It is only made where a
 * segment that is larger by RESERVED_BYTES can be made, too.  A file system of shared memory is
 * small in many containers, and where it is full parallel queries fail.
 */
static dsm_segment *
create_slab(uint64 size, ErrorData **error)
{
	dsm_segment *segment = resident_segment(0, size + RESERVED_BYTES, error);

	if (segment == NULL)
		return NULL;
	dsm_detach(segment);
	segment = resident_segment(0, size, error);
	if (segment)
		dsm_pin_segment(segment);
	return segment;
}

/* Allocates what is wanted, or as much of it as there is, and answers the request. */
static void
allocate(ResidentRoot *root)
{
	uint64		limit = hpsort_resident_memory * RESIDENT_MB;
	uint64		size;
	uint64		wanted;
	uint64		allocated;
	dsm_segment *segment = NULL;
	ErrorData  *error = NULL;

	LWLockAcquire(&root->lock, LW_SHARED);
	wanted = root->wanted;
	allocated = root->allocated;
	LWLockRelease(&root->lock);
	if (wanted == 0)
		return;
	size = (Max(wanted, limit / SLABS_MOST) + RESIDENT_MB - 1) / RESIDENT_MB * RESIDENT_MB;
	size = Min(size, Max(limit / SLABS_OF_LIMIT / RESIDENT_MB * RESIDENT_MB, RESIDENT_MB));
	size = allocated < limit ? Min(size, (limit - allocated) / RESIDENT_MB * RESIDENT_MB) : 0;
	if (size == 0)
	{
		answer(root, RESIDENT_NO_ROOM);
		return;
	}
	while (segment == NULL && size >= RESIDENT_MB)
	{
		segment = create_slab(size, &error);
		if (segment == NULL)
			size = size / 2 / RESIDENT_MB * RESIDENT_MB;
	}
	if (segment == NULL)
	{
		ereport(LOG,
				(errmsg("could not allocate memory for resident columns: %s",
						error ? error->message : "too many dynamic shared memory segments")));
		answer(root, RESIDENT_NO_MEMORY);
		return;
	}
	if (!resident_add_slab(root, segment))
	{
		dsm_unpin_segment(dsm_segment_handle(segment));
		dsm_detach(segment);
		answer(root, RESIDENT_NO_ROOM);
		return;
	}
	answer(root, RESIDENT_OK);
}

/*
 * Forgets all if more is allocated than the limit, which is not lowered often.  Returns whether
 * there is anything to look after.
 */
static bool
obey_limit(ResidentRoot *root)
{
	uint64		allocated;

	LWLockAcquire(&root->lock, LW_SHARED);
	allocated = root->allocated;
	LWLockRelease(&root->lock);
	if (allocated > hpsort_resident_memory * RESIDENT_MB)
	{
		resident_drop_slabs(root);
		allocated = 0;
	}
	return allocated > 0 || hpsort_resident_memory > 0;
}

void
hpsort_resident_main(Datum arg)
{
	ResidentRoot *root;
	MemoryContext memory;
	long		timeout;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();

	root = resident_root();
	if (root == NULL || !claim(root))
		proc_exit(0);
	before_shmem_exit(worker_exit, PointerGetDatum(root));
	memory = AllocSetContextCreate(TopMemoryContext, "hpsort resident columns",
								   ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(memory);

	while (!ShutdownRequestPending)
	{
		MemoryContextReset(memory);
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		if (!obey_limit(root))
			break;
		allocate(root);
		timeout = resident_worker_step ? resident_worker_step() : -1;
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (timeout < 0 ? 0 : WL_TIMEOUT),
						 timeout, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	if (resident_worker_at_end)
		resident_worker_at_end();
	/* Where it is ended alone, another one is started. */
	proc_exit(ShutdownRequestPending ? 1 : 0);
}
