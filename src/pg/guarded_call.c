/*
 * guarded_call.c
 *		A call whose error is no error of the query (see guarded_call.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/resowner.h"

#include "pg/guarded_call.h"
#include "pg/interrupts.h"

/* Releases what a failed call has left.  It had no locks, whose phase is left out. */
static void
release(ResourceOwner owner)
{
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
	ResourceOwnerDelete(owner);
}

bool
guarded_call(void (*function) (void *arg), void *arg, ErrorData **error)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner outer = CurrentResourceOwner;
	ResourceOwner volatile owner = NULL;
	uint32		holdoff = InterruptHoldoffCount;
	uint32		cancel_holdoff = QueryCancelHoldoffCount;
	volatile bool failed = false;

	/* The query ends with the error that is kept, which another one would drop. */
	if (pg_error_kept)
		return false;
	PG_TRY();
	{
		owner = ResourceOwnerCreate(outer, "hpsort call");
		CurrentResourceOwner = owner;
		function(arg);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		/* The error has reset the counts by which the caller's locks hold off interrupts. */
		InterruptHoldoffCount = holdoff;
		QueryCancelHoldoffCount = cancel_holdoff;
		if (error)
			*error = CopyErrorData();
		FlushErrorState();
		failed = true;
	}
	PG_END_TRY();
	CurrentResourceOwner = outer;
	if (!failed)
		ResourceOwnerDelete(owner);
	else if (owner)
		release(owner);
	return !failed;
}
