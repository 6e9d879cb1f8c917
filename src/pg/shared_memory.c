/*
 * shared_memory.c
 *		Structs in PostgreSQL's shared memory (see shared_memory.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "pg/guarded_call.h"
#include "pg/shared_memory.h"

/* The bytes that have been asked for, and the hook that was there before request(), or NULL. */
static Size requested = 0;
static shmem_request_hook_type previous_hook;

/* A shmem_request_hook: the only place where PostgreSQL lets a library ask. */
static void
request(void)
{
	if (previous_hook)
		previous_hook();
	RequestAddinShmemSpace(requested);
}

void
shared_memory_request(Size size)
{
	if (requested == 0)
	{
		previous_hook = shmem_request_hook;
		shmem_request_hook = request;
	}
	requested += MAXALIGN(size);
}

/* The arguments and the result of shared_memory_attach. */
typedef struct Attachment
{
	const char *name;
	Size		size;
	void		(*init) (void *data);
	void	   *data;
} Attachment;

/*
 * Raises an error if shared memory is full, or if the struct has another size: of another version
 * of the library.  ShmemInitStruct has nothing when it raises the error.
 */
static void
attach(void *arg)
{
	Attachment *attachment = (Attachment *) arg;
	bool		found;

	attachment->data = ShmemInitStruct(attachment->name, attachment->size, &found);
	if (!found)
		attachment->init(attachment->data);
}

void *
shared_memory_attach(const char *name, Size size, void (*init) (void *data))
{
	Attachment	attachment = {.name = name,.size = size,.init = init};

	if (!IsUnderPostmaster)
		return NULL;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	if (!guarded_call(attach, &attachment, NULL))
		attachment.data = NULL;
	LWLockRelease(AddinShmemInitLock);
	return attachment.data;
}

BackgroundWorker
shared_memory_worker(const char *name, const char *function, int restart_time)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = restart_time
	};

	strlcpy(worker.bgw_name, name, BGW_MAXLEN);
	strlcpy(worker.bgw_type, name, BGW_MAXLEN);
	strlcpy(worker.bgw_library_name, "hpsort", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, function, sizeof(worker.bgw_function_name));
	return worker;
}
