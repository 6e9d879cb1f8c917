/*
 * pin_budget.c
 *		How many pages rows in place may keep pinned (see pin_budget.h).
 *
 * The count of pins taken is in shared memory.  It is nobody's in particular: a
 * session gives back what it has taken when it frees the memory of its rows, which
 * it also does when it fails.  Where a function in SQL fails, PostgreSQL keeps the memory of
 * its query as long as the call's expression, which may be as long as the session: so
 * what is still taken is given back at the end of the transaction, after which no query
 * returns rows in place.  After a crash shared memory starts anew.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"

#include "pg/pages/pin_budget.h"
#include "pg/shared_memory.h"

/* One in this many of the buffers may be pinned. */
#define BUDGET_PART 4

typedef struct PinBudget
{
	pg_atomic_uint32 taken;
} PinBudget;

static PinBudget *shared;

/* What this session has taken in its transaction, of the shared budget and of its own. */
static uint32 shared_taken;
static uint32 local_taken;

/* How many transactions have ended since this session first took pins. */
static uint32 transactions;

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

/* An XactCallback. */
static void
end_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_PARALLEL_COMMIT &&
		event != XACT_EVENT_ABORT && event != XACT_EVENT_PARALLEL_ABORT &&
		event != XACT_EVENT_PREPARE)
		return;
	if (shared_taken > 0)
		pg_atomic_fetch_sub_u32(&shared->taken, shared_taken);
	shared_taken = local_taken = 0;
	transactions++;
}

static inline uint32 *
session_taken(const PinShare *share)
{
	return share->local ? &local_taken : &shared_taken;
}

/* Takes at most wanted pins out of the shared budget; returns how many. */
static uint32
take_shared(uint32 wanted)
{
	uint32		taken = pg_atomic_read_u32(&shared->taken);

	do
		wanted = Min(wanted, budget(false) - Min(budget(false), taken));
	while (wanted > 0 && !pg_atomic_compare_exchange_u32(&shared->taken, &taken, taken + wanted));
	return wanted;
}

void
pin_budget_take(PinShare *share, uint32 wanted)
{
	static bool registered = false;
	uint32		left = pin_budget_left(share->local);

	if (left == 0)
		return;
	if (!registered)
		RegisterXactCallback(end_transaction, NULL);
	registered = true;
	wanted = share->local ? Min(wanted, left) : take_shared(wanted);
	*session_taken(share) += wanted;
	share->pins += wanted;
	share->transaction = transactions;
}

void
pin_budget_give_back(PinShare *share)
{
	if (share->pins > 0 && share->transaction == transactions)
	{
		if (!share->local)
			pg_atomic_fetch_sub_u32(&shared->taken, share->pins);
		*session_taken(share) -= share->pins;
	}
	share->pins = 0;
}
