/*
 * whole_run.c
 *		Whether the executor runs a query to its end (see whole_run.h).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"

#include "pg/compat.h"
#include "pg/nodes/sort/exec/whole_run.h"

static ExecutorRun_hook_type prev_executor_run_hook = NULL;

/* Rows for which it pays to keep pages pinned until a call ends. */
#define MANY_ROWS 1000

/* Rows that the innermost call of the executor asks for, 0: all; and what is done at its end. */
static uint64 wanted_rows = 1;
static WholeRunEnd *ends = NULL;

static void
executor_run_hook(QueryDesc *query, ScanDirection direction,
				  uint64 count COMPAT_EXECUTOR_RUN_PARAMETER)
{
	uint64		outer_rows = wanted_rows;
	WholeRunEnd *outer_ends = ends;

	wanted_rows = count;
	ends = NULL;
	PG_TRY();
	{
		if (prev_executor_run_hook)
			prev_executor_run_hook(query, direction, count COMPAT_EXECUTOR_RUN_ARGUMENT);
		else
			standard_ExecutorRun(query, direction, count COMPAT_EXECUTOR_RUN_ARGUMENT);
		for (; ends; ends = ends->next)
			ends->function(ends->arg);
	}
	PG_FINALLY();
	{
		wanted_rows = outer_rows;
		ends = outer_ends;
	}
	PG_END_TRY();
}

void
whole_run_init(void)
{
	prev_executor_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = executor_run_hook;
}

bool
whole_run(const EState *estate)
{
	/* A worker runs its plan once, though a LIMIT may have told it how many rows are wanted. */
	return (wanted_rows == 0 || IsParallelWorker()) &&
		(estate->es_top_eflags & EXEC_FLAG_BACKWARD) == 0;
}

bool
whole_run_until_end(WholeRunEnd *end)
{
	if (wanted_rows > 0 && wanted_rows < MANY_ROWS)
		return false;
	end->next = ends;
	ends = end;
	return true;
}

void
whole_run_forget_end(WholeRunEnd *end)
{
	WholeRunEnd **at = &ends;

	while (*at && *at != end)
		at = &(*at)->next;
	if (*at)
		*at = end->next;
}
