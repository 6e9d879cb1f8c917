/*
 * pin_budget.c
 *		How many pages rows in place may keep pinned (see pin_budget.h).
 *
 * The count of pins taken is in shared memory.  It is nobody's in particular: a
 * session gives back what it has taken when it frees the memory of its rows, which
 * it also does when it fails or ends.  After a crash shared memory starts anew.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "pg/column/pin_budget.h"

/* The part of the buffers that may be pinned: one of so many. */
#define BUDGET_PART 4

typedef struct PinBudget
{
	pg_atomic_uint32 taken;
} PinBudget;

static PinBudget *shared;
static uint32 local_taken;

/*
 * The shared struct, or NULL.  Its few bytes come out of the memory that the server keeps
 * spare, which others may have used up.
 */
static PinBudget *
attach(void)
{
	MemoryContext context = CurrentMemoryContext;
	uint32		holdoff;
	uint32		cancel_holdoff;
	bool		found;

	if (shared || !IsUnderPostmaster)
		return shared;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	holdoff = InterruptHoldoffCount;
	cancel_holdoff = QueryCancelHoldoffCount;
	PG_TRY();
	{
		PinBudget  *pins = ShmemInitStruct("hpsort pins", sizeof(PinBudget), &found);

		if (!found)
			pg_atomic_init_u32(&pins->taken, 0);
		shared = pins;
	}
	PG_CATCH();
	{
		/* As in gpu/service_state.c: shared memory is full, and the lock is still held. */
		MemoryContextSwitchTo(context);
		FlushErrorState();
		InterruptHoldoffCount = holdoff;
		QueryCancelHoldoffCount = cancel_holdoff;
		shared = NULL;
	}
	PG_END_TRY();
	LWLockRelease(AddinShmemInitLock);
	return shared;
}

/* All pins of the budget. */
static inline uint32
budget(bool local)
{
	return (uint32) (local ? NLocBuffer : NBuffers) / BUDGET_PART;
}

uint32
pin_budget_left(bool local)
{
	uint32		taken;

	if (local)
		taken = local_taken;
	else if (RecoveryInProgress() || attach() == NULL)
		return 0;
	else
		taken = pg_atomic_read_u32(&shared->taken);
	return budget(local) - Min(budget(local), taken);
}

uint32
pin_budget_take(bool local, uint32 wanted)
{
	uint32		left = pin_budget_left(local);
	uint32		taken;

	if (local)
	{
		wanted = Min(wanted, left);
		local_taken += wanted;
		return wanted;
	}
	if (left == 0)
		return 0;
	taken = pg_atomic_read_u32(&shared->taken);
	do
		wanted = Min(wanted, budget(local) - Min(budget(local), taken));
	while (wanted > 0 && !pg_atomic_compare_exchange_u32(&shared->taken, &taken, taken + wanted));
	return wanted;
}

void
pin_budget_give_back(bool local, uint32 pins)
{
	if (local)
		local_taken -= pins;
	else if (pins > 0)
		pg_atomic_fetch_sub_u32(&shared->taken, pins);
}
