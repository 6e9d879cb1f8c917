/*
 * shared_memory.c
 *		Structs in PostgreSQL's shared memory (see shared_memory.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "pg/shared_memory.h"

void *
shared_memory_attach(const char *name, Size size, void (*init) (void *data))
{
	MemoryContext context = CurrentMemoryContext;
	void	   *volatile data = NULL;
	uint32		holdoff;
	uint32		cancel_holdoff;
	bool		found;

	if (!IsUnderPostmaster)
		return NULL;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	holdoff = InterruptHoldoffCount;
	cancel_holdoff = QueryCancelHoldoffCount;
	PG_TRY();
	{
		data = ShmemInitStruct(name, size, &found);
		if (!found)
			init(data);
	}
	PG_CATCH();
	{
		/*
		 * The only possible error is that shared memory is full.  Raising it has reset the counts
		 * by which the lock, which is still held here, holds off interrupts.
		 */
		MemoryContextSwitchTo(context);
		FlushErrorState();
		InterruptHoldoffCount = holdoff;
		QueryCancelHoldoffCount = cancel_holdoff;
		data = NULL;
	}
	PG_END_TRY();
	LWLockRelease(AddinShmemInitLock);
	return data;
}
