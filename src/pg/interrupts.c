/*
 * interrupts.c
 *		Interrupts during calls that no error may jump out of (see interrupts.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/interrupts.h"

bool		pg_error_kept = false;

/* The error that an interrupt raised in the middle of a sort; valid while pg_error_kept. */
static ErrorData *kept_error;

static void
drop_kept_error(void *error)
{
	if (kept_error == error)
	{
		kept_error = NULL;
		pg_error_kept = false;
	}
}

/*
 * Copies the error that was just caught out of elog.c, and drops it there.  The copy lives as
 * long as the subtransaction that the error has to abort, so that no copy is left behind if
 * another error aborts the subtransaction first.
 */
static void
keep_error(MemoryContext context)
{
	volatile bool copied = false;

	MemoryContextSwitchTo(CurTransactionContext);
	PG_TRY();
	{
		ErrorData  *error = CopyErrorData();
		MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));

		callback->func = drop_kept_error;
		callback->arg = error;
		MemoryContextRegisterResetCallback(CurTransactionContext, callback);
		kept_error = error;
		pg_error_kept = true;
		copied = true;
	}
	PG_CATCH();
	{
		/* No memory for the copy: FlushErrorState() below drops both errors. */
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	FlushErrorState();

	/* Without the copy the sort is ended by a cancel, which needs no memory. */
	if (!copied)
	{
		QueryCancelPending = true;
		InterruptPending = true;
	}
}

/*
 * Does what CHECK_FOR_INTERRUPTS() does, for callers that no error may jump out of: an error is
 * kept.  FATAL ends the process inside the call.  No thread of a sort is at work at that
 * moment, because src/sort asks for interrupts between its phases of several threads.
 */
static void
serve_interrupts(void)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		keep_error(context);
	}
	PG_END_TRY();
}

/* Whether an interrupt is pending that always ends the query. */
static inline bool
must_stop(void)
{
	return pg_error_kept ||
		(InterruptPending && (QueryCancelPending || ProcDiePending || TransactionTimeoutPending));
}

bool
pg_interrupt_pending(void)
{
	if (likely(!InterruptPending && !pg_error_kept))
		return false;

	/*
	 * A cancel, a termination and a timeout always end the query: they are left pending, for
	 * pg_check_interrupts() to raise.  Whether any other interrupt ends the query (a recovery
	 * conflict may, a barrier does not) is known only once the interrupt has been served.
	 */
	if (!must_stop() && INTERRUPTS_CAN_BE_PROCESSED())
		serve_interrupts();
	return pg_error_kept || (must_stop() && INTERRUPTS_CAN_BE_PROCESSED());
}

void
pg_check_interrupts(void)
{
	if (pg_error_kept)
	{
		ErrorData  *error = kept_error;

		drop_kept_error(error);
		ReThrowError(error);
	}
	CHECK_FOR_INTERRUPTS();
}
