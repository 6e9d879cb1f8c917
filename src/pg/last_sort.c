/*
 * last_sort.c
 *		What the last sort of this session did, for hpsort_last().
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "pg/sort_context.h"
#include "sort/algorithms.h"

PG_FUNCTION_INFO_V1(hpsort_last);

static struct
{
	const char *function;		/* NULL: no sort yet; else a literal */
	Oid			user;			/* with whose rights it was done */
	int64		nulls;
	bool		bounds;			/* those of the keys are the caller's */
	SorterStats stats;
}			last_sort;

void
last_sort_record(const char *function, Sorter *s, const int32 *out, int64 nulls)
{
	last_sort.function = function;
	last_sort.user = GetUserId();
	last_sort.nulls = nulls;
	last_sort.bounds = true;
	pg_sort_stats(s, out, &last_sort.stats);
}

void
last_sort_forget_bounds(void)
{
	last_sort.bounds = false;
}

#define LAST_SORT_COLUMNS 16

/*
 * hpsort_last() returns SETOF record, with no row or one.  Bounds and counts
 * of keys are nobody's business who could not have read them: a function that
 * runs with its owner's rights leaves none to its caller.
 */
Datum
hpsort_last(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const SorterStats *stats = &last_sort.stats;
	Datum		values[LAST_SORT_COLUMNS] = {0};
	bool		isnull[LAST_SORT_COLUMNS] = {0};
	double		range;
	char		reason[512];

	InitMaterializedSRF(fcinfo, 0);
	if (last_sort.function == NULL || !has_privs_of_role(GetUserId(), last_sort.user))
		return (Datum) 0;

	range = (double) plan_range(stats->lo, stats->hi);
	plan_explain(&stats->plan, reason, sizeof(reason));
	values[0] = CStringGetTextDatum(last_sort.function);
	values[1] = CStringGetTextDatum(sort_device_name(stats->plan.device));
	values[2] = CStringGetTextDatum(sort_algorithm_name(stats->plan.algorithm));
	values[3] = CStringGetTextDatum(reason);
	values[4] = Int64GetDatum((int64) stats->n);
	values[5] = Int64GetDatum(last_sort.nulls);
	values[6] = Int32GetDatum(stats->lo);
	values[7] = Int32GetDatum(stats->hi);
	values[8] = Int64GetDatum((int64) stats->distinct);
	values[9] = Float8GetDatum((double) stats->n / range);
	values[10] = Float8GetDatum(range / (double) Max(stats->distinct, 1));
	values[11] = Int64GetDatum((int64) (stats->fill_ns / 1000));
	values[12] = Int64GetDatum((int64) (stats->sort_ns / 1000));
	values[13] = Int64GetDatum((int64) (stats->read_ns / 1000));
	values[14] = Int64GetDatum((int64) stats->bytes_moved);
	values[15] = Int32GetDatum(stats->threads);

	/* Without keys there are no bounds; distinct is not always counted. */
	isnull[6] = isnull[7] = isnull[9] = stats->n == 0 || !last_sort.bounds;
	isnull[8] = stats->n > 0 && stats->distinct == 0;
	isnull[10] = stats->distinct == 0 || !last_sort.bounds;
	/* A few keys are not worth reading a clock. */
	isnull[11] = isnull[12] = isnull[13] = stats->plan.reason == PLAN_FEW;
	/* A GPU has threads of its own. */
	isnull[15] = stats->plan.device == SORT_DEVICE_GPU;

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	return (Datum) 0;
}
