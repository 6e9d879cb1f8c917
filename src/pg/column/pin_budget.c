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

#include "pg/column/pin_budget.h"
#include "pg/shared_memory.h"

/* The part of the buffers that may be pinned: one of so many. */
#define BUDGET_PART 4

typedef struct PinBudget
{
	pg_atomic_uint32 taken;
} PinBudget;

static PinBudget *shared;
static uint32 local_taken;

static void
init(void *data)
{
	pg_atomic_init_u32(&((PinBudget *) data)->taken, 0);
}

/* The shared struct, or NULL. */
static PinBudget *
attach(void)
{
	if (shared == NULL)
		shared = (PinBudget *) shared_memory_attach("hpsort pins", sizeof(PinBudget), init);
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
