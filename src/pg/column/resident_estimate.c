/*
 * resident_estimate.c
 *		How much of a table's columns is resident (see resident_estimate.h).
 */
#include "postgres.h"

#include "access/table.h"
#include "access/visibilitymap.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "pg/column/plain_column.h"
#include "pg/column/residency.h"
#include "pg/column/resident_estimate.h"
#include "pg/column/resident_rows.h"
#include "pg/compat.h"
#include "pg/interrupts.h"
#include "pg/resident/kept.h"
#include "pg/resident/resident.h"

/* The number of the column that an expression is; 0 if it is none. */
static AttrNumber
plain_attnum(const void *expression)
{
	const Var  *column = plain_column(expression);

	return column ? column->varattno : 0;
}

/* The column that a condition compares with what has no column; 0 if it seems to be none such. */
static AttrNumber
compared_column(Node *clause)
{
	List	   *args = NIL;
	AttrNumber	column = 0;
	ListCell   *lc;

	if (IsA(clause, NullTest))
		return plain_attnum(((NullTest *) clause)->arg);
	if (IsA(clause, BooleanTest))
		return plain_attnum(((BooleanTest *) clause)->arg);
	if (is_notclause(clause))
		return plain_attnum(get_notclausearg(clause));
	if (IsA(clause, OpExpr))
		args = ((OpExpr *) clause)->args;
	else if (IsA(clause, ScalarArrayOpExpr))
		args = ((ScalarArrayOpExpr *) clause)->args;
	else
		return plain_attnum(clause);
	foreach(lc, args)
	{
		AttrNumber	attnum = plain_attnum(lfirst(lc));

		if (attnum == 0 && contain_var_clause((Node *) lfirst(lc)))
			return 0;
		if (attnum != 0 && column != 0)
			return 0;
		column = attnum != 0 ? attnum : column;
	}
	return column;
}

bool
resident_compared_columns(const List *conditions, List **columns)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		Node	   *clause = (Node *) lfirst(lc);
		AttrNumber	attnum;

		if (IsA(clause, RestrictInfo))
			clause = (Node *) ((RestrictInfo *) clause)->clause;
		if (is_andclause(clause))
		{
			if (!resident_compared_columns(((BoolExpr *) clause)->args, columns))
				return false;
			continue;
		}
		attnum = compared_column(clause);
		if (attnum <= 0)
			return false;
		*columns = list_append_unique_int(*columns, attnum);
	}
	return true;
}

/* The part of a table's blocks that the present snapshot may take from memory if they are there. */
static double
usable_part(Relation rel)
{
	BlockNumber nblocks;
	BlockNumber visible;

	if (!RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
		return 0;
	nblocks = RelationGetNumberOfBlocks(rel);
	if (residency_refusal(rel, nblocks) != NULL ||
		(ActiveSnapshotSet() && !residency_is_allowed(rel, GetActiveSnapshot())))
		return 0;
	/* A block that was changed since the last VACUUM is read from its page. */
	visibilitymap_count(rel, &visible, NULL);
	return (double) Min(visible, nblocks) / nblocks;
}

ResidentEstimate
resident_estimate(Oid relid, const ResidentQuestion *question, double tuples)
{
	const AttrNumber *attnums = question->attnums;
	int			ncolumns = question->ncolumns;
	ResidentEstimate estimate = {0};
	ResidentSummary *summaries;
	Relation	rel;
	int			c;

	if (!resident_enabled() || ncolumns == 0 || tuples <= 0 || !resident_keeps_any())
		return estimate;
	for (c = 0; c < ncolumns; c++)
		if (!resident_is_kept(relid, attnums[c]))
			return estimate;
	summaries = palloc0_array(ResidentSummary, ncolumns);
	rel = table_open(relid, NoLock);
	estimate.share = usable_part(rel);
	for (c = 0; c < ncolumns && estimate.share > 0; c++)
	{
		ResidentKey key;

		residency_key(rel, attnums[c], &key);
		if (!resident_summarize(&key, &summaries[c]))
			summaries[c].rows = 0;
		estimate.share = Min(estimate.share, (double) summaries[c].rows / tuples);
	}
	table_close(rel, NoLock);
	if (question->looked_up && estimate.share > 0)
		estimate.gpu = resident_rows_pay(summaries, ncolumns, question->nkeys, false);
	if (ncolumns == 1 && question->nkeys == 1 && !question->filtered && estimate.share > 0 &&
		!estimate.gpu)
		estimate.gpu = resident_rows_pay(summaries, 1, 1, true);
	pfree(summaries);
	return estimate;
}
