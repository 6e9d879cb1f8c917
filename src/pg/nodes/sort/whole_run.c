/*
 * whole_run.c
 *		Whether the executor runs a query to its end (see whole_run.h).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"

#include "pg/compat.h"
#include "pg/nodes/sort/whole_run.h"

static ExecutorRun_hook_type prev_executor_run_hook = NULL;

/* Whether the innermost call of the executor returns all rows. */
static bool all_rows = false;

static void
executor_run_hook(QueryDesc *query, ScanDirection direction,
				  uint64 count COMPAT_EXECUTOR_RUN_PARAMETER)
{
	bool		outer = all_rows;

	all_rows = count == 0;
	PG_TRY();
	{
		if (prev_executor_run_hook)
			prev_executor_run_hook(query, direction, count COMPAT_EXECUTOR_RUN_ARGUMENT);
		else
			standard_ExecutorRun(query, direction, count COMPAT_EXECUTOR_RUN_ARGUMENT);
	}
	PG_FINALLY();
	{
		all_rows = outer;
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
	return (all_rows || IsParallelWorker()) && (estate->es_top_eflags & EXEC_FLAG_BACKWARD) == 0;
}
