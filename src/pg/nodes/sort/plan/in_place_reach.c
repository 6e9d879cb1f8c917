/*
 * in_place_reach.c
 *		Which rows are worth leaving in their table while their keys are sorted: the planner's
 *		costs and the executor ask it, so that they agree.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "pg/nodes/sort/plan/plan.h"
#include "pg/values/values.h"

/*
 * Rows stay in place if the columns that the expressions read end within this many bytes of a row,
 * which row_fetch.h prefetches, or if copying the results would take at least this many bytes for
 * each row.  Reading more of rows all over the table takes longer than reading it while the table
 * is read.
 * Processor time of in place and copied, ms: 1e6 rows of 60 bytes by an int4, two columns 84 and
 * 118, four of them 102 and 152 (PostgreSQL 17); 1e5 rows of 335 bytes, id, x and the key, which
 * ends at byte 40: 24 and 32, 88: 22 and 25, 112: 43 and 35, 170: 50 and 46, 330: 62 and 28 (18);
 * 1e7 rows of 117 bytes, all of whose columns but the last end at byte 76, by the last one, a
 * text, 4,780 and 4,800 (17; Intel Xeon, two cores of a busy virtual machine); 5e5 rows of 200
 * bytes by a uuid alone, which ends at byte 124, 192 and 155, with 4 MB of work_mem 205 and 168,
 * core's sort 191 (17).
 */
#define COMPUTED_REACH_MAX 100
#define COMPUTED_WIDTH_MIN 256

/* A LIMIT keeps up to this many times the rows that are wanted. */
#define LIMIT_SLACK 1.25

AttrNumber
in_place_column(const void *expression, bool any_type)
{
	/* Another type, or collation, for the same value. */
	const Var  *column = plain_column(expression);

	if (column == NULL ||
		(!any_type && ((const void *) column != expression ||
					   column_read_kind(column->vartype) == COLUMN_KIND_NONE)))
		return 0;
	return column->varattno;
}

bool
in_place_fits(double rows, double limit, double bytes_of_row, double bytes_of_pages)
{
	double		memory = (double) work_mem * 1024;

	if (limit >= 0)
		rows = Min(rows, limit * LIMIT_SLACK);
	return rows * bytes_of_row <= memory || bytes_of_pages <= memory / IN_PLACE_PAGES_PART;
}

/* The last column that expressions read of a relation, which is 0 for all of them. */
static AttrNumber
last_column(List *expressions, Index varno)
{
	Bitmapset  *columns = NULL;
	int			last;

	pull_varattnos((Node *) expressions, varno, &columns);
	if (bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, columns))
		return 0;
	last = bms_prev_member(columns, -1);
	bms_free(columns);
	return (AttrNumber) Max(last + FirstLowInvalidHeapAttributeNumber, 1);
}

bool
in_place_computes(Oid table, Index varno, List *expressions, int width)
{
	AttrNumber	last = last_column(expressions, varno);
	Size		reach = MAXALIGN(SizeofHeapTupleHeader);

	if (width >= COMPUTED_WIDTH_MIN)
		return true;
	for (AttrNumber attnum = 1; last > 0 && attnum <= last && reach <= COMPUTED_REACH_MAX; attnum++)
	{
		int32		bytes = get_attavgwidth(table, attnum);
		Oid			type;
		int32		typmod;
		Oid			collation;

		if (bytes <= 0)
		{
			get_atttypetypmodcoll(table, attnum, &type, &typmod, &collation);
			bytes = OidIsValid(type) ? get_typavgwidth(type, typmod) : 0;
		}
		reach += bytes;
	}
	return last > 0 && reach <= COMPUTED_REACH_MAX;
}
