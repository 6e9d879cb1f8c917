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

/* Whether drop_kept_error has been registered. */
static bool registered = false;

/* A MemoryContextCallback of the subtransaction that the error had to abort. */
static void
drop_kept_error(void *arg)
{
	pg_error_kept = registered = false;
}

/*
 * CHECK_FOR_INTERRUPTS() for callers that no error may jump out of.  FATAL ends
 * the process inside the call; no thread of a sort is at work at that moment,
 * because src/sort asks for interrupts between its phases of several threads.
 *
 * The error is caught because only serving an interrupt shows whether it is one: a recovery
 * conflict, or a worker's message, may be.  It is not dropped: it stays on the stack of errors, as
 * in any PG_CATCH, and src/sort's and src/gpu's returning is the clean-up before the PG_RE_THROW in
 * pg_check_interrupts().  If another error comes first, that one aborts the subtransaction.
 */
static void
serve_interrupts(void)
{
	static MemoryContextCallback callback = {.func = drop_kept_error};
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		if (!registered)
			MemoryContextRegisterResetCallback(CurTransactionContext, &callback);
		registered = pg_error_kept = true;
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
		pg_error_kept = false;
		/* As errfinish() does: who catches the error may delete the context in use. */
		MemoryContextSwitchTo(ErrorContext);
		PG_RE_THROW();
	}
	CHECK_FOR_INTERRUPTS();
}
