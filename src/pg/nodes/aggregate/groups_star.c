/*
 * groups_star.c
 *		The lookups of a star join (see plan/star.h): their plans, and rows of the fact that have
 *		places in them.
 *
 * The plans are children of the node as core knows them (custom_ps).  They are run to their end
 * before the fact is read, again only if a parameter of theirs has changed.  In a parallel plan one
 * of the processes runs a plan, whichever is the first to come, and all have the rows in shared
 * memory.
 *
 * A lookup that does not fit into memory is divided into parts, of which it has one at a time.  One
 * part of each lookup is a cell.  Rows of the fact that are of another cell than the one that is
 * there are written to files by their cells (RowSpill), and are read when their cell is there.
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

StaticAssertDecl(GROUPS_MOST_CELLS <= ROW_SPILL_MOST_PARTITIONS, "each cell is a partition");

typedef struct StarLookupState
{
	PlanState  *plan;
	JoinType	jointype;
	bool		many;			/* a key may have several rows, which are all wanted */
	Lookup	   *lookup;
	int			nparts;			/* 1: it is not divided */
	bool		ran;			/* this process has run the plan */
	bool		filled;			/* the lookup has the rows of the plan */
	int64		rows;			/* how many it has, in the last execution ... */
	int64		found_keys;		/* ... and of how many keys */
	List	   *clauses;		/* OpExprs: an expression of the fact = the plan's column */
	List	   *columns;		/* Vars that are looked up */
	int		   *indexes;		/* of each, its index in lookup */
	const RowInput *keys;		/* the fact's columns that are the key, if these are integers;
								 * else NULL */
	List	   *conditions;		/* FilterConditions for the scan of the fact: that a row may have
								 * a place */
} StarLookupState;

/* --- describing */

/* Returns the expressions of the scan tuple from one on. */
static List *
scan_expressions(const GroupsState *node, int from, int n)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	List	   *result = NIL;

	for (int i = from; i < from + n; i++)
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

	for (int i = 0; i < nkeys; i++)
	{
		const OpExpr *clause = list_nth_node(OpExpr, state->clauses, i);

		/* Core checks this right where it joins. */
		aggregate_check_function(get_opcode(clause->opno), GetUserId());
		columns[i] = (AttrNumber) (list_nth_int(described, 5 + i) + 1);
		operators[i] = clause->opno;
		collations[i] = clause->inputcollid;
	}
	state->lookup = lookup_make(ExecGetResultType(state->plan), nkeys, columns, operators,
								collations, state->many ? LOOKUP_REPEATS_KEPT :
								state->jointype == JOIN_SEMI || state->jointype == JOIN_ANTI ?
								LOOKUP_REPEATS_PASSED : LOOKUP_REPEATS_FAIL);
	state->nparts = list_nth_int(described, 4);
	if (state->nparts > 1)
		lookup_divide(state->lookup, state->nparts);
	state->indexes = palloc_array(int, Max(list_length(state->columns), 1));
	for (int i = 0; i < list_length(state->columns); i++)
		state->indexes[i] = lookup_add_column(state->lookup, (AttrNumber)
											  (list_nth_int(described, 5 + nkeys + i) + 1));
}

List *
groups_star_keys(const GroupsState *node, int l)
{
	List	   *keys = NIL;

	foreach_node(OpExpr, clause, node->star.lookups[l].clauses)
		keys = lappend(keys, linitial(clause->args));
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
	int			nconditions = intVal(list_nth(scan->custom_private, GROUPS_PLAN_CONDITIONS));
	int			at = list_length(scan->custom_scan_tlist);

	node->star.many = -1;
	node->star.ncells = 1;
	if (lookups == NIL)
		return;
	node->star.n = list_length(lookups);
	node->star.lookups = palloc0_array(StarLookupState, node->star.n);
	/* The expressions of lookups are the last ones but for conditions. */
	at -= nconditions;
	node->star.conditions = scan_expressions(node, at, nconditions);
	foreach_ptr(const List, lookup, lookups)
		at -= lthird_int(lookup) + lfourth_int(lookup);
	for (int l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];
		const List *described = list_nth(lookups, l);
		int			nclauses = lthird_int(described);

		state->jointype = (JoinType) linitial_int(described);
		state->many = lsecond_int(described) != 0;
		if (state->many)
			node->star.many = l;
		state->clauses = scan_expressions(node, at, nclauses);
		state->columns = scan_expressions(node, at + nclauses, lfourth_int(described));
		at += nclauses + lfourth_int(described);
		state->plan = ExecInitNode(list_nth(scan->custom_plans, nsources + l),
								   node->css.ss.ps.state,
								   eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
		node->css.custom_ps = lappend(node->css.custom_ps, state->plan);
		make_lookup(state, described);
		node->star.ncells *= state->nparts;
	}
	node->star.fact =
		(Index) linitial_node(Var, expression_columns(linitial(groups_star_keys(node, 0))))->varno;
	/* The places of rows that are repeated are read as columns are. */
	node->nread += node->star.many >= 0;
	/* These columns of the scan tuple are for EXPLAIN. */
	memset(node->css.ss.ss_ScanTupleSlot->tts_isnull, true,
		   list_length(scan->custom_scan_tlist) * sizeof(bool));
}

void
groups_star_note_keys(GroupsState *node, int l, const RowInput *keys)
{
	node->star.lookups[l].keys = keys;
}

/* Returns the index of the batch of the places in a lookup. */
static int
places_batch(const GroupsState *node, int l)
{
	return l == node->star.many ? node->nread - 1 : node->nread + l;
}

bool
groups_star_input(const GroupsState *node, const Var *column, RowInput *input)
{
	if (column_is_read(column, node->star.fact))
		return false;
	for (int l = 0; l < node->star.n; l++)
	{
		const StarLookupState *state = &node->star.lookups[l];

		foreach_node(Var, other, state->columns)
		{
			if (!is_same_column(other, column))
				continue;
			input->batch = places_batch(node, l);
			input->domain = *derived_domain(node->derived.columns[l]);
			input->lookup = state->lookup;
			input->lookup_column = state->indexes[foreach_current_index(other)];
			return true;
		}
	}
	elog(ERROR, "column %d of relation %d is not looked up", column->varattno, column->varno);
}

/* --- an execution */

/* Makes the conditions that the scan of the fact tests, of a lookup that has rows now. */
static void
make_conditions(StarLookupState *state)
{
	list_free(state->conditions);
	state->conditions = NIL;
	if (state->nparts > 1 || state->keys == NULL || state->jointype == JOIN_LEFT)
		return;
	for (int k = 0; k < list_length(state->clauses); k++)
	{
		FilterCondition *condition = lookup_condition(state->lookup, k,
													  state->jointype == JOIN_ANTI);

		if (condition == NULL)
			continue;
		condition->attnum = state->keys[k].batch + 1;
		/* groups_star_match() looks at all rows that the scan has read. */
		condition->optional = true;
		state->conditions = lappend(state->conditions, condition);
	}
}

/* Has the scan of the fact refuse rows that have no place, before anything else is read of them. */
static void
set_conditions(GroupsState *node)
{
	list_free(node->sources.conditions);
	node->sources.conditions = NIL;
	/* A GPU knows no sets of keys, and finds these rows by maps. */
	if (node->lookup && node->parallel.shared == NULL)
		return;
	for (int l = 0; l < node->star.n; l++)
		node->sources.conditions = list_concat(node->sources.conditions,
											   node->star.lookups[l].conditions);
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
	state->rows = lookup_rows(state->lookup);
	state->found_keys = lookup_nkeys(state->lookup);
}

void
groups_star_load(GroupsState *node, int cell)
{
	for (int l = node->star.n - 1; l >= 0; l--)
	{
		StarLookupState *state = &node->star.lookups[l];

		if (lookup_load(state->lookup, cell % state->nparts))
			for (int d = 0; d < node->derived.n; d++)
				derived_forget_places(node->derived.columns[d], state->lookup);
		cell /= state->nparts;
	}
}

/* Has all lookups attached to those in shared memory, of which this process makes some. */
static void
share_lookups(GroupsState *node)
{
	GroupsShared *shared = node->parallel.shared;
	dsa_area   *area = node->css.ss.ps.state->es_query_dsa;

	for (int l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		if (!groups_shared_claim_lookup(shared, l))
			continue;
		fill_lookup(state);
		groups_shared_put_lookup(shared, l, lookup_share(state->lookup, area), state->rows,
								 state->found_keys);
	}
	for (int l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		lookup_attach(state->lookup, area, groups_shared_get_lookup(shared, l));
		make_conditions(state);
	}
}

void
groups_star_read(GroupsState *node)
{
	/* Nodes expect to be run in the memory of the query. */
	MemoryContext caller = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

	if (node->star.n > 0 && node->parallel.shared)
		share_lookups(node);
	for (int l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		if (node->parallel.shared || (state->filled && state->plan->chgParam == NULL))
			continue;
		fill_lookup(state);
		make_conditions(state);
		state->filled = true;
	}
	set_conditions(node);
	MemoryContextSwitchTo(caller);
}

/* The plans that depend on a parameter are run again, since it may be another one. */
void
groups_star_reinitialize(GroupsState *node, dsa_area *area)
{
	for (int l = 0; l < node->star.n; l++)
		if (!bms_is_empty(node->star.lookups[l].plan->plan->allParam))
			groups_shared_drop_lookup(node->parallel.shared, l, area);
}

void
groups_star_detach(GroupsState *node)
{
	for (int l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];

		state->rows = groups_shared_lookup_rows(node->parallel.shared, l, &state->found_keys);
		lookup_empty(state->lookup);
		state->filled = false;
	}
}

bool
groups_star_is_empty(const GroupsState *node)
{
	for (int l = 0; l < node->star.n; l++)
	{
		const StarLookupState *state = &node->star.lookups[l];

		if (state->jointype != JOIN_LEFT && state->jointype != JOIN_ANTI &&
			lookup_rows(state->lookup) == 0)
			return true;
	}
	return false;
}

size_t
groups_star_memory(const GroupsState *node)
{
	size_t		memory = 0;

	for (int l = 0; l < node->star.n; l++)
		memory += lookup_memory(node->star.lookups[l].lookup);
	return memory;
}

/*
 * Returns n batches for rows, with the arrays that batches have, but for those of places, from
 * number places on.
 */
static ColumnBatch *
make_batches(GroupsState *node, const ColumnBatch *batches, int n, int places)
{
	MemoryContext old = MemoryContextSwitchTo(node->derived.memory);
	ColumnBatch *result = palloc0_array(ColumnBatch, n);

	for (int b = 0; b < n; b++)
		column_batch_make(&result[b], BATCH_NULLS |
						  (b >= places || batches[b].keys ? BATCH_KEYS :
						   batches[b].wide ? BATCH_WIDE : 0),
						  COLUMN_BATCH_KEYS);
	MemoryContextSwitchTo(old);
	return result;
}

/* Leaves of the rows in derived.batches only these, in all batches up to number n. */
static void
keep_rows(GroupsState *node, int n, const uint16 *rows, size_t nrows)
{
	if (node->star.matched == NULL)
		node->star.matched = make_batches(node, node->derived.batches, node->nread + node->star.n,
										  node->nread);
	for (int b = 0; b < n; b++)
	{
		/* Its places are among what is read. */
		if (node->star.many >= 0 && b == node->nread + node->star.many)
			continue;
		column_batch_gather(&node->star.matched[b], &node->derived.batches[b], rows, nrows, false);
		node->derived.batches[b] = node->star.matched[b];
	}
}

void
groups_star_keep_rows(GroupsState *node, const uint16 *rows, size_t nrows)
{
	keep_rows(node, node->nread + node->star.n, rows, nrows);
}

/* Leaves of the joined rows those for which a condition is true. */
static void
keep_true(GroupsState *node, const ColumnBatch *condition)
{
	uint16		rows[COLUMN_BATCH_KEYS];
	size_t		n = 0;

	for (size_t i = 0; i < condition->n; i++)
	{
		rows[n] = (uint16) i;
		n += condition->keys[i] != 0 && !condition->nulls[i];
	}
	node->star.filtered += condition->n - n;
	if (n < condition->n)
		groups_star_keep_rows(node, rows, n);
}

/* Returns the part that has the place of a row, perhaps, if that is not there; else -1. */
static inline int
part_wanted(const StarLookupState *state, const ColumnBatch *places, size_t i)
{
	return state->nparts > 1 && places->nulls[i] ? places->keys[i] - 1 : -1;
}

int
groups_star_cell(const GroupsState *node, size_t i)
{
	bool		here = true;
	int			cell = 0;

	for (int l = 0; l < node->star.n; l++)
	{
		const StarLookupState *state = &node->star.lookups[l];
		int			part = part_wanted(state, &node->derived.batches[places_batch(node, l)], i);

		here &= part < 0;
		cell = cell * state->nparts + (part < 0 ? lookup_part(state->lookup) : part);
	}
	return here && !node->star.divides ? -1 : cell;
}

/* Repeats the rows of batches by their places in a lookup, as far as one batch has room. */
static bool
repeat_rows(GroupsState *node, const ColumnBatch *batches, const StarLookupState *state,
			StarPosition *position)
{
	int			n = node->nread - 1;
	uint16		rows[COLUMN_BATCH_KEYS];
	size_t		nrows;

	CHECK_FOR_INTERRUPTS();
	if (node->star.repeated == NULL)
		node->star.repeated = make_batches(node, batches, node->nread, n);
	column_batch_empty(&node->star.repeated[n]);
	nrows = lookup_repeat(state->lookup, position->places, state->jointype == JOIN_LEFT,
						  &position->lookup, rows, &node->star.repeated[n]);
	for (int b = 0; b < n; b++)
		column_batch_gather(&node->star.repeated[b], &batches[b], rows, nrows, true);
	return nrows > 0;
}

const ColumnBatch *
groups_star_next(GroupsState *node, const ColumnBatch *batches, StarPosition *position)
{
	const StarLookupState *state = &node->star.lookups[node->star.many];
	bool		unique = lookup_is_unique(state->lookup);
	int			n = node->nread - 1;

	if (position->places == NULL)
	{
		position->places = derived_batch(node->derived.columns[node->star.many], batches);
		if (unique)
		{
			if (node->star.repeated == NULL)
				node->star.repeated = MemoryContextAllocZero(node->derived.memory,
															 node->nread * sizeof(ColumnBatch));
			memcpy(node->star.repeated, batches, n * sizeof(ColumnBatch));
			node->star.repeated[n] = *position->places;
			return node->star.repeated;
		}
		if (state->jointype == JOIN_INNER)
			node->star.removed += position->places->nnulls;
	}
	else if (unique)
		return NULL;
	return repeat_rows(node, batches, state, position) ? node->star.repeated : NULL;
}

void
groups_star_match(GroupsState *node, const ColumnBatch *batches)
{
	ColumnBatch *derived = node->derived.batches;

	memcpy(derived, batches, node->nread * sizeof(ColumnBatch));
	for (int l = 0; l < node->star.n; l++)
	{
		StarLookupState *state = &node->star.lookups[l];
		ColumnBatch *places = &derived[places_batch(node, l)];
		bool		anti = state->jointype == JOIN_ANTI;
		uint16		rows[COLUMN_BATCH_KEYS];
		size_t		n = 0;

		/* The others have been found where rows were repeated. */
		if (l != node->star.many)
			*places = *derived_batch(node->derived.columns[l], derived);
		for (size_t i = 0; node->star.met && i < places->n; i++)
			if (!places->nulls[i])
				node->star.met[places->keys[i]] = true;
		if (state->jointype == JOIN_LEFT || places->nnulls == (anti ? (int64) places->n : 0))
			continue;
		for (size_t i = 0; i < places->n; i++)
		{
			rows[n] = (uint16) i;
			n += places->nulls[i] == anti || part_wanted(state, places, i) >= 0;
		}
		node->star.removed += places->n - n;
		keep_rows(node, node->nread + l + 1, rows, n);
	}
}

int
groups_star_key(const GroupsState *node, int l)
{
	const StarLookupState *state = &node->star.lookups[l];

	if (state->jointype == JOIN_RIGHT || state->many || state->nparts > 1 ||
		state->keys == NULL || list_length(state->clauses) > 1)
		return -1;
	return state->keys[0].batch;
}

void
groups_star_place(GroupsState *node, int column, const ColumnBatch *batches, uint8 *joined)
{
	memcpy(node->derived.batches, batches, node->nread * sizeof(ColumnBatch));
	memset(joined, 1, batches[column].n);
	for (int l = 0; l < node->star.n; l++)
	{
		JoinType	jointype = node->star.lookups[l].jointype;
		ColumnBatch *places = &node->derived.batches[places_batch(node, l)];

		if (groups_star_key(node, l) != column)
			continue;
		*places = *derived_batch(node->derived.columns[l], node->derived.batches);
		for (size_t i = 0; i < places->n && jointype != JOIN_LEFT; i++)
			joined[i] &= places->nulls[i] == (jointype == JOIN_ANTI);
	}
}

void
groups_star_filter(GroupsState *node)
{
	for (int c = 0; c < list_length(node->star.conditions); c++)
		keep_true(node, derived_batch(node->derived.columns[node->star.n + c],
									  node->derived.batches));
}

/* --- rows that a right join adds */

void
groups_star_begin_rows(GroupsState *node)
{
	node->star.met = NULL;
	if (node->star.n == 1 && node->star.lookups[0].jointype == JOIN_RIGHT)
		node->star.met = MemoryContextAllocExtended(node->rows_memory,
													lookup_size(node->star.lookups[0].lookup),
													MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

ColumnBatch *
groups_star_make_batches(const GroupsState *node)
{
	const AggregateSource *source = &node->sources.sources[0];
	TupleDesc	columns = RelationGetDescr(source->scan->ss_currentRelation);
	ColumnBatch *batches = palloc0_array(ColumnBatch, node->nread);

	for (int b = 0; b < node->nread; b++)
	{
		Form_pg_attribute column;

		/* Of a filter NULLs are read alone. */
		if (b >= node->sources.ncolumns)
		{
			column_batch_make(&batches[b], BATCH_KEYS | BATCH_NULLS, COLUMN_BATCH_KEYS);
			continue;
		}
		column = TupleDescAttr(columns, source->attnums[b] - 1);
		column_batch_make(&batches[b], column_image_arrays(node->images ? &node->images[b] : NULL,
														   column_value_kind(column->atttypid,
																			 column->atttypmod)),
						  COLUMN_BATCH_KEYS);
	}
	return batches;
}

/* Adds a row to batches: the key of a place, and NULL in other columns. */
static void
add_unmet(const GroupsState *node, ColumnBatch *batches, int32 place)
{
	const StarLookupState *state = &node->star.lookups[0];

	for (int b = 0; b < node->nread; b++)
	{
		BatchSpace	space = column_batch_space(&batches[b], 1);
		int64		value = 0;

		space.nulls[0] = 1;
		for (int k = 0; k < list_length(state->clauses); k++)
			if (state->keys[k].batch == b)
			{
				value = lookup_key(state->lookup, k, place) -
					column_kind_bias(state->keys[k].domain.kind);
				space.nulls[0] = 0;
			}
		batch_space_set(&space, 0, value);
		column_batch_add(&batches[b], 1, space.nulls[0]);
	}
}

void
groups_star_end_rows(GroupsState *node, ColumnConsume consume)
{
	const bool *met = node->star.met;
	ColumnBatch *batches;
	int32		size;

	if (met == NULL || node->sources.stop)
		return;
	batches = groups_star_make_batches(node);
	size = lookup_size(node->star.lookups[0].lookup);
	for (int32 place = 0; place < size; place++)
	{
		if (!met[place])
			add_unmet(node, batches, place);
		if (batches[0].n < (place == size - 1 ? 1 : COLUMN_BATCH_KEYS))
			continue;
		consume(node, batches);
		for (int b = 0; b < node->nread; b++)
			column_batch_empty(&batches[b]);
	}
	for (int b = 0; b < node->nread; b++)
		column_batch_free(&batches[b]);
	pfree(batches);
	node->star.met = NULL;
}

void
groups_star_free(GroupsState *node)
{
	node->star.matched = node->star.repeated = NULL;
}

/* Core's rescan does not know the children of a custom scan. */
void
groups_star_rescan(GroupsState *node)
{
	for (int l = 0; l < node->star.n; l++)
		if (node->css.ss.ps.chgParam != NULL)
			UpdateChangedParamSet(node->star.lookups[l].plan, node->css.ss.ps.chgParam);
}

void
groups_star_end(GroupsState *node)
{
	for (int l = 0; l < node->star.n; l++)
	{
		lookup_empty(node->star.lookups[l].lookup);
		ExecEndNode(node->star.lookups[l].plan);
	}
}

/* --- EXPLAIN */

void
groups_star_explain(const GroupsState *node, List *context, ExplainState *es)
{
	static const char *const labels[] = {
		[JOIN_INNER] = "Lookup",
		[JOIN_LEFT] = "Left Lookup",
		[JOIN_RIGHT] = "Right Lookup",
		[JOIN_SEMI] = "Semi Lookup",
		[JOIN_ANTI] = "Anti Lookup"
	};
	bool		removes = false;

	if (node->star.n == 0)
		return;
	ExplainOpenGroup("Lookups", "Lookups", false, es);
	for (int l = 0; l < node->star.n; l++)
	{
		const StarLookupState *state = &node->star.lookups[l];

		ExplainOpenGroup("Lookup", NULL, true, es);
		ExplainPropertyText(labels[state->jointype],
							deparse_expression((Node *) make_ands_explicit(state->clauses),
											   context, true, false), es);
		if (state->nparts > 1)
			ExplainPropertyInteger("Lookup Parts", NULL, state->nparts, es);
		if (es->analyze && node->done.done)
			ExplainPropertyInteger("Lookup Rows", NULL, state->rows, es);
		if (es->analyze && node->done.done && state->many)
			ExplainPropertyInteger("Lookup Keys", NULL, state->found_keys, es);
		removes |= state->jointype != JOIN_LEFT;
		ExplainCloseGroup("Lookup", NULL, true, es);
	}
	ExplainCloseGroup("Lookups", "Lookups", false, es);
	if (es->analyze && node->done.done && removes)
		ExplainPropertyInteger("Rows Removed by Lookups", NULL,
							   (int64) node->done.totals.unmatched, es);
	if (node->star.conditions == NIL)
		return;
	ExplainPropertyText("Join Filter",
						deparse_expression((Node *) make_ands_explicit(node->star.conditions),
										   context, true, false), es);
	if (es->analyze && node->done.done)
		ExplainPropertyInteger("Rows Removed by Join Filter", NULL,
							   (int64) node->done.totals.filtered, es);
}
