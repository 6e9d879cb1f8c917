/*
 * in_place_allowed.c
 *		Whether rows in order may stay where they are (see in_place_allowed.h).
 */
#include "postgres.h"

#include "optimizer/clauses.h"
#include "storage/bufmgr.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/nodes/sort/exec/in_place_allowed.h"
#include "pg/nodes/sort/plan/plan.h"
#include "pg/pages/pages.h"
#include "pg/values/values.h"

/* How many times a LIMIT's rows there has to be room for, as more are kept than are wanted. */
#define BOUND_SLACK 1.25

AttrNumber
in_place_key_attnum(const KeyColumn *key, const Plan *plan)
{
	const TargetEntry *target = list_nth_node(TargetEntry, plan->targetlist, key->attno - 1);

	/* Core compares it, or its image is made of the value. */
	bool		any_type = key->kind == COLUMN_KIND_NONE || !key_is_exact(key->kind);

	/* Another type, or collation, for the same value. */
	const Var  *column = plain_column(target->expr);

	if (column == NULL || (!any_type && target->expr != (const Expr *) column) ||
		(!any_type && column_read_kind(column->vartype) == COLUMN_KIND_NONE))
		return 0;
	return column->varattno;
}

bool
in_place_is_possible(const RowSortSpec *spec, PlanState *child)
{
	Relation	rel;
	int			i;

	if (spec->key_only || spec->copied || !IsA(child, SeqScanState))
		return false;
	rel = ((ScanState *) child)->ss_currentRelation;
	if ((rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW) ||
		!heap_format_is_heap(rel))
		return false;
	for (i = 0; i < spec->keys->nkeys; i++)
		if (in_place_key_attnum(&spec->keys->keys[i], child->plan) == 0)
			return false;

	/* What is computed of a row must not depend on when, and how often, it is computed. */
	return !contain_volatile_functions((Node *) child->plan->targetlist) &&
		!contain_subplans((Node *) child->plan->targetlist);
}

/* Whether it is worth trying, as far as can be told before a table of so many blocks is read. */
static bool
is_promising(const RowSortSpec *spec, PlanState *child, uint64 bound, BlockNumber blocks)
{
	Size		limit = (Size) work_mem * 1024;
	double		rows = spec->expected_rows;

	if (bound > 0)
		rows = Min(rows, (double) bound * BOUND_SLACK);
	if (rows * row_store_ref_bytes(spec->keys) > (double) limit &&
		(Size) blocks * ROW_FETCH_PAGE_BYTES > limit / IN_PLACE_PAGES_PART)
		return false;
	return bound > 0 || child->ps_ProjInfo == NULL ||
		in_place_computes(RelationGetRelid(((ScanState *) child)->ss_currentRelation),
						  ((const Scan *) child->plan)->scanrelid, child->plan->targetlist,
						  child->plan->plan_width);
}

bool
in_place_pins_all(uint64 bound, BlockNumber blocks)
{
	return bound == 0 || bound > blocks;
}

bool
in_place_is_allowed(const RowSortSpec *spec, PlanState *child, uint64 bound, RowsWhere *where)
{
	EState	   *estate = child->state;
	Relation	rel;
	BlockNumber blocks;

	if (!in_place_is_possible(spec, child))
		return false;

	/* EvalPlanQual checks single rows again; other snapshots see rows that the reader does not. */
	if (estate->es_epq_active != NULL || estate->es_snapshot->snapshot_type != SNAPSHOT_MVCC ||
		old_snapshot_threshold >= 0)
		return false;
	rel = ((ScanState *) child)->ss_currentRelation;
	blocks = RelationGetNumberOfBlocks(rel);
	if (blocks > ROW_PLACE_PAGES || !is_promising(spec, child, bound, blocks))
		return false;

	/*
	 * A pin a row takes longer than copying rows: 1e6 rows by x, ms of processor time, 80 with
	 * each page pinned once, 290 with a pin a row, copied 100.  A few rows do not matter.
	 */
	if (in_place_pins_all(bound, blocks) &&
		blocks > row_fetch_pins_left(RelationUsesLocalBuffers(rel)))
	{
		*where = ROWS_COPIED_PINS;
		return false;
	}
	return true;
}
