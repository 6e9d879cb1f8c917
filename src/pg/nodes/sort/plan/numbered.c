/*
 * numbered.c
 *		Which keys of a sort are numbered by a dictionary (store/key_numbers.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/nodes/sort/plan/path.h"
#include "pg/values/values.h"

/*
 * Values are numbered if each occurs at least this often, on average.
 *
 * Of a key that has abbreviations, which tell its values apart, values are numbered if they are no
 * more than NUMBERED_CACHED, and each occurs at least NUMBERED_REPEATS_ABBREVIATED times.  Looking
 * up more values takes longer than abbreviating them.  Processor time of 500,000 rows, numbered and
 * abbreviated, by columns of 1,000, 10,000 and 60,000 values, ms: uuid 70 and 105, 83 and 111, 150
 * and 124; numeric, whose hash takes long to compute, 144 and 133, 171 and 167, 353 and 182; md5()
 * of 10,000 and 60,000 values 138, core's sort 407, and 218 and 164 (two cores of a busy virtual
 * machine, PostgreSQL 17).  Numbers of numerics pay where other keys follow, which need not be
 * compared then.
 */
#define NUMBERED_REPEATS 4.0
#define NUMBERED_REPEATS_ABBREVIATED 16.0
#define NUMBERED_CACHED 16384.0

/* Bytes of a value in a dictionary beside the value itself, also while the dictionary grows. */
#define NUMBERED_BYTES 128.0

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

/* Returns true if numbering values of a key pays although they have abbreviations. */
static bool
is_better_numbered(PlannerInfo *root, const Path *path, Node *expression, Oid sortop,
				   Oid collation, bool last, double values)
{
	if (exprType(expression) == NUMERICOID && last)
		return false;
	if (values <= NUMBERED_CACHED && values * NUMBERED_REPEATS_ABBREVIATED <= path->rows)
		return true;
	return OidIsValid(collation) &&
		(!abbreviation_is_first_bytes(sortop, collation) ||
		 !sort_path_abbreviations_divide(root, expression, sortop, collation));
}

bool
sort_path_numbers_key(PlannerInfo *root, const Path *path, HpSortColumns *columns,
					  Node *expression, Oid sortop, Oid collation, bool abbreviated)
{
	bool		last = columns->nmapped + 1 == list_length(columns->pathkeys);
	double		values;
	double		bytes;
	Oid			opfamily;
	Oid			opcintype;
	bool		descending;

	if (!compat_ordering_op(sortop, &opfamily, &opcintype, &descending) ||
		!key_may_be_numbered(exprType(expression), opfamily, opcintype, collation) ||
		bms_is_member(0, pull_varnos(root, expression)))
		return false;
	values = expression_groups(root, list_make1(expression), path->rows);
	bytes = columns->numbers_bytes +
		values * (NUMBERED_BYTES + average_width(root, expression));
	if (values * NUMBERED_REPEATS > path->rows ||
		bytes > (double) work_mem * 1024 / KEY_NUMBERS_PART ||
		(abbreviated &&
		 !is_better_numbered(root, path, expression, sortop, collation, last, values)))
		return false;
	columns->values[columns->nmapped] = values;
	columns->numbers_bytes = bytes;
	return true;
}
