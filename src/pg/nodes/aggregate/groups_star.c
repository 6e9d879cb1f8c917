/*
 * groups_star.c
 *		The lookups of a star join (see plan/star.h): their plans, and rows of the fact that have
 *		places in them.
 *
 * The plans are children of the node as core knows them (custom_ps).  They are run to their end
 * before the fact is read, again only if a parameter of theirs has changed.  In a parallel plan one
 * of the processes runs a plan, whichever is the first to come, and all have the rows in shared
 * memory.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_state.h"

typedef struct StarLookupState
{
	PlanState  *plan;
	JoinType	jointype;
	Lookup	   *lookup;
	bool		ran;			/* this process has run the plan */
	bool		filled;			/* the lookup has the rows of the plan */
	int64		rows;			/* how many it has, in the last execution */
	List	   *clauses;		/* OpExprs: the fact's column = the plan's */
	List	   *columns;		/* Vars that are looked up */
	int		   *indexes;		/* of each, its index in lookup */
	int			key;			/* the batch of a key that is an integer of one column; else -1 */
	FilterCondition *condition; /* that a row has a place, for the scan of the fact; or NULL */
} StarLookupState;

/* --- describing */

/* Returns the expressions of the scan tuple from one on. */
static List *
scan_expressions(const GroupsState *node, int from, int n)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	List	   *result = NIL;
	int			i;

	for (i = from; i < from + n; i++)
		result = lappend(result, list_nth_node(TargetEntry, scan->custom_scan_tlist, i)->expr);
	return result;
}

/* Makes a lookup; described is its list of GROUPS_PLAN_LOOKUPS. */
static void
make_lookup(StarLookupState *state, const List *described)
{
	int			nkeys = list_length(state->clauses);
	AttrNumber *columns = palloc_array(AttrNumber, nkeys);
	Oid		   *operators = palloc_array(Oid, nkeys);
	Oid		   *collations = palloc_array(Oid, nkeys);
	int			i;

	for (i = 0; i < nkeys; i++)
	{
		const OpExpr *clause = list_nth_node(OpExpr, state->clauses, i);

		/* Core checks this right where it joins. */
		aggregate_check_function(get_opcode(clause->opno), GetUserId());
		columns[i] = (AttrNumber) (list_nth_int(described, 3 + i) + 1);
		operators[i] = clause->opno;
		collations[i] = clause->inputcollid;
	}
	state->lookup = lookup_make(ExecGetResultType(state->plan), nkeys, columns, operators,
								collations,
								state->jointype == JOIN_INNER || state->jointype == JOIN_LEFT);
	state->indexes = palloc_array(int, Max(list_length(state->columns), 1));
	for (i = 0; i < list_length(state->columns); i++)
		state->indexes[i] = lookup_add_column(state->lookup, (AttrNumber)
											  (list_nth_int(described, 3 + nkeys + i) + 1));
}

List *
groups_star_keys(const GroupsState *node, int l)
{
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, node->star.lookups[l].clauses)
		keys = lappend(keys, plain_column(linitial(lfirst_node(OpExpr, lc)->args)));
	return keys;
}

const Lookup *
groups_star_lookup(const GroupsState *node, int l)
{
	return node->star.lookups[l].lookup;
}

void
groups_star_begin(GroupsState *node, int eflags)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	List	   *lookups = list_nth(scan->custom_private, GROUPS_PLAN_LOOKUPS);
	int			nsources = list_length(scan->custom_plans) - list_length(lookups);
	int			at = list_length(scan->custom_scan_tlist);
	ListCell   *lc;
	int			l;

	if (lookups == NIL)
		return;
	node->star.n = list_length(lookups);
	node->star.lookups = palloc0_array(StarLookupState, node->star.n);
	/* The expressions of lookups are the last ones. */
	foreach(lc, lookups)
		at -= lsecond_int(lfirst(lc)) + lthird_int(lfirst(lc));
	for (l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];
		const List *described = list_nth(lookups, l);
		int			nclauses = lsecond_int(described);

		state->jointype = (JoinType) linitial_int(described);
		state->clauses = scan_expressions(node, at, nclauses);
		state->columns = scan_expressions(node, at + nclauses, lthird_int(described));
		at += nclauses + lthird_int(described);
		state->plan = ExecInitNode(list_nth(scan->custom_plans, nsources + l),
								   node->css.ss.ps.state,
								   eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
		node->css.custom_ps = lappend(node->css.custom_ps, state->plan);
		make_lookup(state, described);
	}
	node->star.fact = (Index) linitial_node(Var, groups_star_keys(node, 0))->varno;
	/* These columns of the scan tuple are for EXPLAIN. */
	memset(node->css.ss.ss_ScanTupleSlot->tts_isnull, true,
		   list_length(scan->custom_scan_tlist) * sizeof(bool));
}

void
groups_star_note_key(GroupsState *node, int l, int batch)
{
	StarLookupState *state = &node->star.lookups[l];
	const Var  *column = linitial_node(Var, groups_star_keys(node, l));

	state->key = lookup_finds_integers(state->lookup, column_kind(column->vartype)) ? batch : -1;
}

bool
groups_star_input(const GroupsState *node, const Var *column, RowInput *input)
{
	int			l;
	ListCell   *lc;

	if (column_is_read(column, node->star.fact))
		return false;
	for (l = 0; l < node->star.n; l++)
	{
		const StarLookupState *state = &node->star.lookups[l];

		foreach(lc, state->columns)
		{
			if (!is_same_column(lfirst_node(Var, lc), column))
				continue;
			input->batch = node->nread + l;
			input->domain = *derived_domain(node->derived.columns[l]);
			input->lookup = state->lookup;
			input->lookup_column = state->indexes[foreach_current_index(lc)];
			return true;
		}
	}
	elog(ERROR, "column %d of relation %d is not looked up", column->varattno, column->varno);
}

/* --- an execution */

/* Makes the condition that the scan of the fact tests, of a lookup that has rows now. */
static void
make_condition(StarLookupState *state)
{
	state->condition = state->key < 0 || state->jointype == JOIN_LEFT ? NULL :
		lookup_condition(state->lookup, state->jointype == JOIN_ANTI);
	if (state->condition == NULL)
		return;
	state->condition->attnum = state->key + 1;
	/* groups_star_match() looks at all rows that the scan has read. */
	state->condition->optional = true;
}

/* Has the scan of the fact refuse rows that have no place, before anything else is read of them. */
static void
set_conditions(GroupsState *node)
{
	int			l;

	list_free(node->sources.conditions);
	node->sources.conditions = NIL;
	for (l = 0; l < node->star.n; l++)
		if (node->star.lookups[l].condition)
			node->sources.conditions = lappend(node->sources.conditions,
											   node->star.lookups[l].condition);
}

/* Runs the plan of a lookup, whose rows are those of the plan then. */
static void
fill_lookup(StarLookupState *state)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort look-up's row",
												 ALLOCSET_SMALL_SIZES);

	if (state->ran && state->plan->chgParam == NULL)
		ExecReScan(state->plan);
	state->ran = true;
	lookup_empty(state->lookup);
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(state->plan);
		MemoryContext old;

		if (TupIsNull(slot))
			break;
		/* Hash and equality functions leave memory behind. */
		old = MemoryContextSwitchTo(memory);
		lookup_add(state->lookup, slot);
		MemoryContextSwitchTo(old);
		MemoryContextReset(memory);
	}
	MemoryContextDelete(memory);
	lookup_finish(state->lookup);
	state->rows = lookup_size(state->lookup);
}

/* Has all lookups attached to those in shared memory, of which this process makes some. */
static void
share_lookups(GroupsState *node)
{
	GroupsShared *shared = node->parallel.shared;
	dsa_area   *area = node->css.ss.ps.state->es_query_dsa;
	int			l;

	for (l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		if (!groups_shared_claim_lookup(shared, l))
			continue;
		fill_lookup(state);
		groups_shared_put_lookup(shared, l, lookup_share(state->lookup, area), state->rows);
	}
	for (l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		lookup_attach(state->lookup, area, groups_shared_get_lookup(shared, l));
		make_condition(state);
	}
}

void
groups_star_read(GroupsState *node)
{
	/* Nodes expect to be run in the memory of the query. */
	MemoryContext caller = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);
	int			l;

	if (node->star.n > 0 && node->parallel.shared)
		share_lookups(node);
	for (l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		if (node->parallel.shared || (state->filled && state->plan->chgParam == NULL))
			continue;
		fill_lookup(state);
		make_condition(state);
		state->filled = true;
	}
	set_conditions(node);
	MemoryContextSwitchTo(caller);
}

/* The plans that depend on a parameter are run again, since it may be another one. */
void
groups_star_reinitialize(GroupsState *node, dsa_area *area)
{
	int			l;

	for (l = 0; l < node->star.n; l++)
		if (!bms_is_empty(node->star.lookups[l].plan->plan->allParam))
			groups_shared_drop_lookup(node->parallel.shared, l, area);
}

void
groups_star_detach(GroupsState *node)
{
	int			l;

	for (l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		state->rows = groups_shared_lookup_rows(node->parallel.shared, l);
		lookup_empty(state->lookup);
		state->filled = false;
	}
}

bool
groups_star_is_empty(const GroupsState *node)
{
	int			l;

	for (l = 0; l < node->star.n; l++)
	{
		const StarLookupState *state = &node->star.lookups[l];

		if ((state->jointype == JOIN_INNER || state->jointype == JOIN_SEMI) &&
			lookup_size(state->lookup) == 0)
			return true;
	}
	return false;
}

size_t
groups_star_memory(const GroupsState *node)
{
	size_t		memory = 0;
	int			l;

	for (l = 0; l < node->star.n; l++)
		memory += lookup_memory(node->star.lookups[l].lookup);
	return memory;
}

/* Makes node->star.matched, with the arrays that batches have. */
static void
make_matched(GroupsState *node, const ColumnBatch *batches)
{
	MemoryContext old = MemoryContextSwitchTo(node->derived.memory);
	int			n = node->nread + node->star.n;
	int			b;

	node->star.matched = palloc0_array(ColumnBatch, n);
	for (b = 0; b < n; b++)
		column_batch_make(&node->star.matched[b], BATCH_NULLS |
						  (batches[b].keys || b >= node->nread ? BATCH_KEYS :
						   batches[b].wide ? BATCH_WIDE : 0),
						  COLUMN_BATCH_KEYS);
	MemoryContextSwitchTo(old);
}

/* Leaves of the rows in derived.batches only these, in all batches up to number n. */
static void
keep_rows(GroupsState *node, int n, const uint16 *rows, size_t nrows)
{
	int			b;

	if (node->star.matched == NULL)
		make_matched(node, node->derived.batches);
	for (b = 0; b < n; b++)
	{
		column_batch_gather(&node->star.matched[b], &node->derived.batches[b], rows, nrows);
		node->derived.batches[b] = node->star.matched[b];
	}
}

const ColumnBatch *
groups_star_match(GroupsState *node, const ColumnBatch *batches)
{
	ColumnBatch *derived = node->derived.batches;
	int			l;

	memcpy(derived, batches, node->nread * sizeof(ColumnBatch));
	for (l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];
		ColumnBatch *places = &derived[node->nread + l];
		bool		anti = state->jointype == JOIN_ANTI;
		uint16		rows[COLUMN_BATCH_KEYS];
		size_t		n = 0;
		size_t		i;

		*places = *derived_batch(node->derived.columns[l], derived);
		if (state->jointype == JOIN_LEFT || places->nnulls == (anti ? (int64) places->n : 0))
			continue;
		for (i = 0; i < places->n; i++)
		{
			rows[n] = (uint16) i;
			n += places->nulls[i] == anti;
		}
		node->star.removed += places->n - n;
		keep_rows(node, node->nread + l + 1, rows, n);
	}
	return derived;
}

void
groups_star_free(GroupsState *node)
{
	node->star.matched = NULL;
}

/* Core's rescan does not know the children of a custom scan. */
void
groups_star_rescan(GroupsState *node)
{
	int			l;

	for (l = 0; l < node->star.n; l++)
		if (node->css.ss.ps.chgParam != NULL)
			UpdateChangedParamSet(node->star.lookups[l].plan, node->css.ss.ps.chgParam);
}

void
groups_star_end(GroupsState *node)
{
	int			l;

	for (l = 0; l < node->star.n; l++)
		ExecEndNode(node->star.lookups[l].plan);
}

/* --- EXPLAIN */

void
groups_star_explain(const GroupsState *node, List *context, ExplainState *es)
{
	static const char *const labels[] = {
		[JOIN_INNER] = "Lookup",
		[JOIN_LEFT] = "Left Lookup",
		[JOIN_SEMI] = "Semi Lookup",
		[JOIN_ANTI] = "Anti Lookup"
	};
	bool		removes = false;
	int			l;

	if (node->star.n == 0)
		return;
	ExplainOpenGroup("Lookups", "Lookups", false, es);
	for (l = 0; l < node->star.n; l++)
	{
		const StarLookupState *state = &node->star.lookups[l];

		ExplainOpenGroup("Lookup", NULL, true, es);
		ExplainPropertyText(labels[state->jointype],
							deparse_expression((Node *) make_ands_explicit(state->clauses),
											   context, true, false), es);
		if (es->analyze && node->done.done)
			ExplainPropertyInteger("Lookup Rows", NULL, state->rows, es);
		removes |= state->jointype != JOIN_LEFT;
		ExplainCloseGroup("Lookup", NULL, true, es);
	}
	ExplainCloseGroup("Lookups", "Lookups", false, es);
	if (es->analyze && node->done.done && removes)
		ExplainPropertyInteger("Rows Removed by Lookups", NULL,
							   (int64) node->done.totals.unmatched, es);
}
