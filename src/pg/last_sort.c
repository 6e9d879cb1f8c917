/*
 * last_sort.c
 *		What the last sort of this session did (see last_sort.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"

#include "pg/last_sort.h"
#include "pg/sort_context.h"

static LastSort last_sort;

static ProcessUtility_hook_type prev_utility_hook = NULL;

/*
 * Forgets the last sort at DISCARD ALL, by which poolers give a session to another client.
 * There is no other sign of it: DISCARD ALL resets settings, but calls hooks only of settings
 * that the session has changed.
 */
static void
utility_hook(PlannedStmt *pstmt, const char *query_string, bool read_only_tree,
			 ProcessUtilityContext context,
			 ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest,
			 QueryCompletion *qc)
{
	bool		discard = IsA(pstmt->utilityStmt, DiscardStmt) &&
	((DiscardStmt *) pstmt->utilityStmt)->target == DISCARD_ALL;

	if (prev_utility_hook)
		prev_utility_hook(pstmt, query_string, read_only_tree, context, params, environment, dest,
						  qc);
	else
		standard_ProcessUtility(pstmt, query_string, read_only_tree, context, params, environment,
								dest, qc);
	if (discard)
		memset(&last_sort, 0, sizeof(last_sort));
}

void
last_sort_init(void)
{
	prev_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = utility_hook;
}

void
last_sort_record(const char *function, Sorter *sorter, const int32 *out, int64 nulls)
{
	last_sort.function = function;
	last_sort.user = GetUserId();
	last_sort.nulls = nulls;
	/* Images of floats are no values of the user's. */
	last_sort.bounds = !sorter->context->floats;
	pg_sort_stats(sorter, out, &last_sort.stats);
}

const LastSort *
last_sort_get(void)
{
	return &last_sort;
}
