/*
 * numbered.c
 *		Which keys of a sort are numbered by a dictionary (store/key_numbers.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "pg/nodes/sort/plan/path.h"
#include "pg/values/values.h"

/* Values are numbered if each occurs at least this often, on average. */
#define NUMBERED_REPEATS 4.0

/* Bytes of a value in a dictionary beside the value itself. */
#define NUMBERED_BYTES 64.0

/* Returns how many bytes the values of an expression have on average, as far as is known. */
static double
average_width(PlannerInfo *root, Node *expression)
{
	const Var  *column = plain_column(expression);

	if (column && column->varno > 0 && column->varno < root->simple_rel_array_size)
	{
		const RangeTblEntry *rte = root->simple_rte_array[column->varno];
		int32		width = rte && rte->rtekind == RTE_RELATION ?
		get_attavgwidth(rte->relid, column->varattno) : 0;

		if (width > 0)
			return width;
	}
	return get_typavgwidth(exprType(expression), exprTypmod(expression));
}

bool
sort_path_numbers_key(PlannerInfo *root, const Path *path, Node *expression, Oid opfamily,
					  Oid opcintype, Oid collation, double *values)
{
	if (!key_may_be_numbered(exprType(expression), opfamily, opcintype, collation) ||
		bms_is_member(0, pull_varnos(root, expression)))
		return false;
	*values = expression_groups(root, list_make1(expression), path->rows);
	return *values * NUMBERED_REPEATS <= path->rows &&
		*values * (NUMBERED_BYTES + average_width(root, expression)) <=
		(double) work_mem * 1024 / KEY_NUMBERS_PART;
}
