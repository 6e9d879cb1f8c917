/*
 * cost.c
 *		What sorting by hpsort costs, in the planner's units (see cost.h).
 *
 * The planner compares HpSort with core's Sort, whose cost is a number of
 * comparisons, and with plans that need no sort.  cost_units.h says how nanoseconds become
 * units.  Copying a row into memory, which both do, is in neither cost.
 *
 * Measured by bench/order_bench.sh (AMD EPYC, Zen 5, PostgreSQL 17), rows of 60 bytes,
 * less what reading them takes without a sort; what small sorts cost, and sorts on
 * disk, on PostgreSQL 18 and 19 (bench/results/2026-11-22-AMD-EPYC-order-grid-small-18.csv
 * and -19.csv).
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "pg/compat.h"
#include "pg/cost_units.h"
#include "pg/nodes/sort/plan/cost.h"
#include "pg/nodes/sort/plan/in_place_reach.h"
#include "pg/nodes/sort/store/store.h"
#include "sort/plan.h"

/*
 * Memory contexts and first blocks, made and freed: what 1,000 rows cost beyond the
 * rest.  Memory that malloc has returned to the kernel, and which the kernel clears
 * for the next query, is in neither cost: 1,000 rows of 500 bytes cost HpSort 64 to
 * 102 page faults, and core's sort 77.
 */
#define START_NS 5000.0

/*
 * Taking a row in and returning it, without the sort: with one key of 32 bits at
 * most (NARROW); with other keys (WIDE), and KEY for each of them.  Measured: of
 * 1e4 rows 30 and 55 ns a row, of 1e7 rows 55 and 90.
 */
#define ROW_NARROW_NS 40.0
#define ROW_WIDE_NS 55.0
#define ROW_KEY_NS 8.0

/*
 * Rows that come in order core's sort compares once each, which its cost does not know.  That
 * shows where there are so few that HpSort has hardly begun, and copies them: of 1,000 rows in
 * order of all their keys core's sort takes 0.75 to 0.94 times as long as HpSort, of 10,000 rows
 * 0.94 to 1.7 times.  Of 1,000 rows that stay where they are it takes 0.95 to 1.7 times as long.
 */
#define IN_ORDER_NS 30000.0
#define IN_ORDER_ROWS 10000.0

/* The part of it that is spent while rows are returned. */
#define ROW_OUT_PART 0.4

/* A key without a row, taken from the executor and returned: 15 ns together of 1e7 keys. */
#define KEY_IN_NS 10.0
#define KEY_OUT_NS 5.0

/* A key of 64 bits is sorted with its reference in 16 bytes instead of 8. */
#define LONG_KEY_FACTOR 2.0

/*
 * Comparing two rows of equal mapped keys, as a part of what core's cost of a
 * comparison is: the first of the keys left to core is beside the row already,
 * and the rows are near each other.  1e7 rows, x and a text: 1.48 times faster
 * than core.
 */
#define COMPARE_PART 0.7

/*
 * With more keys than so many left to core, the abbreviated one among them, each further key adds
 * this part: where rows are equal in the first of them, values of the others are fetched from both
 * rows for each comparison.  5e5 rows by two texts and an int4, of which the first text has five
 * values, under 4 MB: core's sort takes 0.85 to 0.94 times as long as HpSort, with two workers
 * 0.68 to 0.81 (two Intel Xeons).  The part is not a measured time: it is what leaves these sorts
 * to core, with workers as well.
 */
#define COMPARE_KEYS 2
#define COMPARE_KEY_PART 1.25

/*
 * Rows that are equal by an abbreviated key, with no key behind it, take one comparison
 * each, unless they are known to be equal.  They are given more, because core's sort of few
 * different values compares less than its cost says, above all by radix: with 50 different uuids
 * or numerics, all of them compared, it takes 0.8 to 1.4 times as long as HpSort from 10,000 rows
 * on, mostly longer, in PostgreSQL 19 0.8 to 1.6 times, and 0.9 to 1.5 of 1,000,000 rows.  Equal
 * strings core finds equal by their bytes: of these the comparisons grow with the logarithm of how
 * many are equal (20 different texts 0.6 to 1.0 times, the same text in nine of ten rows 0.8 to
 * 1.1, NULL in two of three 0.8 to 1.3, each text twice 1.1 to 1.2 times).  Of several columns
 * core's estimate is a tenth of the rows at most, however many values there are: fewer comparisons
 * are added there.
 */
#define EQUAL_COMPARISONS (COMPAT_RADIX_TUPLESORT ? 13.0 : 5.0)
#define EQUAL_STRINGS_COMPARISONS (COMPAT_RADIX_TUPLESORT ? 9.0 : 6.3)
#define EQUAL_COMPARISONS_SEVERAL 6.0

/*
 * LIMIT of rows that are copied: a row beyond the cutoff, which core's sort as well drops
 * after one comparison, though its cost has log2(2 n) of them (all columns of rows of 60 and 500
 * bytes by an int4 and a text, or by a float8, LIMIT 10: 0.73 to 1.03 times as fast as core's,
 * LIMIT of a tenth of the rows 1.1 to 1.3 times); the same where one key of 32 bits at most is all
 * there is (id and y + 1 of 5e5 rows by an int4, LIMIT 10: core's sort 52 ms of processor time,
 * HpSort 28; of 1,500 to 1e5 other rows 1.25 to 2 times as fast; PostgreSQL 17, two cores of a
 * busy virtual machine); a row beyond the cutoff of its group (3e6 rows of 60 bytes, rank() by x
 * and y <= 3, take 20 ns a row more than ORDER BY y LIMIT 10); a row that is kept, and a byte of
 * it, copied to fresh memory.
 */
#define LIMIT_SKIP_NS 36.0
#define LIMIT_SKIP_NARROW_NS 5.0
#define GROUP_SKIP_NS 28.0
#define LIMIT_ROW_NS 20.0
#define LIMIT_BYTE_NS 0.2

/*
 * Rows that stay where they are: bytes of work_mem for each, with one key of 32 bits or
 * with others, and with keys left to core's comparison.  Reading keys by pages saves more of the
 * executor's time than fetching rows takes, which is not in these costs, so that only memory
 * counts, and LIMIT: rows beyond the cutoff and rows kept cost nothing to speak of (LIMIT 10 of
 * 1e6 rows: 12 ms of processor time where copying took 35 and core's sort 40).
 */
#define PLACE_NARROW_BYTES 12.0
#define PLACE_WIDE_BYTES 33.0
#define PLACE_GROUP_BYTES 16.0

/*
 * Bytes of a temporary file for each, where they do not fit into work_mem: a place, beside
 * each key; and bytes of memory for each page of the table, of which there is a part to spare
 * then, as in in_place_reach.h.
 */
#define PLACE_FILE_BYTES 4.0
#define PLACE_PAGE_BYTES 16.0
#define PLACE_PAGES_PART 0.5

/* So many of the most common values are looked at: as many as statistics have by default. */
#define COMMON_VALUES_MOST 100

/* How many times a LIMIT's rows there has to be room for, as there. */
#define PLACE_LIMIT_SLACK 1.25

/*
 * Making the file, and the first block of each segment.  10,000 rows of 500 bytes under 4 MB are
 * 1.1 to 1.5 times as fast as core's, of which more is hardly writing and reading.
 */
#define SPILL_START_NS 2e5

/*
 * Core's sort on disk of rows that come in order compares each row with its
 * neighbour and merges with few comparisons, which its cost does not know:
 * 1e6 rows of 60 bytes under 4 MB take 290 ms, shuffled 500, both with 80 ms that
 * are not the sort's.  HpSort takes 230 for both.  So a unit of core's cost stands
 * for fewer nanoseconds there, by this part if the order is perfect.  Half of them
 * would be too many: what is in order by its first key only, or nearly, core does not
 * sort so fast, and 1e5 rows in perfect order HpSort still sorts 1.2 times as fast.
 */
#define IN_ORDER_PART 0.3

/*
 * The segments that are merged at once, as in store/external_sort.c: one for each MERGE_BYTES of
 * work_mem, MERGE_MIN at least and MERGE_PARTS at most.  Rows of more segments are written and read
 * once more for each level of merges, which costs MERGE_FACTOR times as much as the first time:
 * 2e6 rows of 60 bytes by chance take 0.42 s of processor time under 4 MB, 0.43 under 1 MB, and
 * 0.61 under 128 kB (Intel Xeon, two cores of a virtual machine, PostgreSQL 17).
 */
#define MERGE_BYTES 9362.0
#define MERGE_MIN 6.0
#define MERGE_PARTS 56.0
#define MERGE_FACTOR 1.0

/* Nanoseconds for sorting so many keys, by the table of src/sort/plan.c. */
static double
sort_ns(const HpSortCostInput *input, double rows, SortWant want)
{
	SortPlanInput in;
	SortPlan	plan;
	SortError	err;

	memset(&in, 0, sizeof(in));
	in.n = (uint64) Min(rows, 1e15);
	in.lo = PG_INT32_MIN;
	in.hi = (int32) (PG_INT32_MIN + (int64) Min(input->range - 1, (double) PG_UINT32_MAX));
	in.want = want;
	in.device = SORT_DEVICE_CPU;
	in.algorithm = SORT_ALGORITHM_AUTO;
	if (plan_choose(&in, &plan, &err) != SORT_OK)
		return 0;
	return input->range > (double) PG_UINT32_MAX + 1 ? plan.cost_ns * LONG_KEY_FACTOR :
		plan.cost_ns;
}

/* How many of all rows are copied while the first of them in order are looked for. */
static double
rows_kept(double rows, double limit)
{
	if (2 * limit >= rows)
		return rows;
	/* The k-th row is among the first with a probability of limit / k; some slack. */
	return Min(rows, limit * (1.5 + log(rows / limit)) + 100);
}

/* Bytes of a row, as its tuple is kept. */
static double
row_bytes(int width)
{
	return MAXALIGN(width) + MAXALIGN(SizeofHeapTupleHeader);
}

/* Whether a path returns a table's rows as they are. */
static bool
returns_rows(const Path *path)
{
	AttrNumber	attno = 0;
	ListCell   *lc;

	if (list_length(path->pathtarget->exprs) != path->parent->max_attr)
		return false;
	foreach(lc, path->pathtarget->exprs)
	{
		if (!IsA(lfirst(lc), Var) || ((Var *) lfirst(lc))->varattno != ++attno)
			return false;
	}
	return true;
}

bool
sort_path_may_stay(PlannerInfo *root, const Path *path, bool bounded)
{
	RelOptInfo *rel = path->parent;
	const Path *scan = IsA(path, ProjectionPath) ? ((const ProjectionPath *) path)->subpath : path;
	RangeTblEntry *rte;

	if (!IS_SIMPLE_REL(rel) || scan->pathtype != T_SeqScan ||
		(!bounded && rel->pages > (BlockNumber) NBuffers / 4))
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	return (rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW) &&
		(bounded || returns_rows(path) ||
		 in_place_computes(rte->relid, rel->relid, path->pathtarget->exprs,
						   path->pathtarget->width));
}

double
sort_path_correlation(PlannerInfo *root, const Path *path, Node *expression)
{
	VariableStatData stats;
	AttStatsSlot slot;
	double		result = 0;

	if (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	if ((path->pathtype != T_SeqScan && path->pathtype != T_BitmapHeapScan) ||
		!IsA(expression, Var))
		return 0;
	examine_variable(root, expression, 0, &stats);
	if (HeapTupleIsValid(stats.statsTuple) &&
		get_attstatsslot(&slot, stats.statsTuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers > 0)
			result = fabs(slot.numbers[0]);
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(stats);
	return result;
}

double
sort_path_input_order(PlannerInfo *root, const Path *path, Node *expression)
{
	if (path->rows > IN_ORDER_ROWS &&
		path->rows * row_bytes(path->pathtarget->width) <= (double) work_mem * 1024)
		return 0;
	return sort_path_correlation(root, path, expression);
}

/* Some of the values in a slot of the statistics tell whether abbreviations divide them. */
static bool
slot_is_divided(HeapTuple stats, int kind, Oid sortop, Oid collation)
{
	AttStatsSlot slot;
	Datum		values[ABBREVIATION_SAMPLE];
	int			n;
	int			i;
	bool		divided;

	if (!get_attstatsslot(&slot, stats, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return true;
	n = Min(slot.nvalues, ABBREVIATION_SAMPLE);
	for (i = 0; i < n; i++)
		values[i] = slot.values[(int64) i * slot.nvalues / n];
	divided = n < 2 || abbreviation_divides(sortop, collation, values, n);
	free_attstatsslot(&slot);
	return divided;
}

/*
 * Finds the statistics of a key that is a table's column, in whatever collation; false if there
 * are none, and nothing is to be released.  Abbreviating values of them is calling a function with
 * what the user has to have a right to see: stats->acl_ok.
 */
static bool
find_statistics(PlannerInfo *root, Node *expression, VariableStatData *stats)
{
	while (IsA(expression, CollateExpr))
		expression = (Node *) ((CollateExpr *) expression)->arg;
	/* A column of a set operation has no table. */
	if (!IsA(expression, Var) || ((Var *) expression)->varno == 0)
		return false;
	examine_variable(root, expression, 0, stats);
	if (HeapTupleIsValid(stats->statsTuple))
		return true;
	ReleaseVariableStats(*stats);
	return false;
}

bool
sort_path_abbreviation_divides(PlannerInfo *root, Node *expression, Oid sortop, Oid collation)
{
	VariableStatData stats;
	bool		divided;

	if (!find_statistics(root, expression, &stats))
		return true;
	divided = !stats.acl_ok ||
		(slot_is_divided(stats.statsTuple, STATISTIC_KIND_HISTOGRAM, sortop, collation) &&
		 slot_is_divided(stats.statsTuple, STATISTIC_KIND_MCV, sortop, collation));
	ReleaseVariableStats(stats);
	return divided;
}

/*
 * The part of the rows that have one of the most common values and are known to be equal to the
 * others that have it, as no other of these values has its abbreviation; *groups grows by the
 * number of such values.
 */
static double
common_values_alike(HeapTuple stats, Oid sortop, Oid collation, double *groups)
{
	AttStatsSlot slot;
	uint64		images[COMMON_VALUES_MOST];
	double		part = 0;
	int			n;
	int			i;
	int			j;

	if (!get_attstatsslot(&slot, stats, STATISTIC_KIND_MCV, InvalidOid,
						  ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
		return 0;
	n = Min(Min(slot.nvalues, slot.nnumbers), COMMON_VALUES_MOST);
	if (abbreviation_images(sortop, collation, slot.values, n, images))
		for (i = 0; i < n; i++)
		{
			for (j = 0; j < n && (j == i || images[j] != images[i]); j++)
				;
			if (j < n || slot.numbers[i] < 1.0 / REPEATS_SLOTS)
				continue;
			part += slot.numbers[i];
			++*groups;
		}
	free_attstatsslot(&slot);
	return part;
}

double
sort_path_alike(PlannerInfo *root, Node *expression, Oid sortop, Oid collation, double *groups)
{
	VariableStatData stats;
	double		part;

	*groups = 0;
	if (!find_statistics(root, expression, &stats))
		return 0;
	part = ((Form_pg_statistic) GETSTRUCT(stats.statsTuple))->stanullfrac;
	*groups = part > 0 ? 1 : 0;
	if (stats.acl_ok)
		part += common_values_alike(stats.statsTuple, sortop, collation, groups);
	ReleaseVariableStats(stats);
	return Min(part, 1);
}

/* Bytes of memory for the key and the place of one row. */
static double
place_bytes(const HpSortCostInput *input)
{
	double		bytes = input->narrow ? PLACE_NARROW_BYTES :
	PLACE_WIDE_BYTES + (input->nmapped - 1) * sizeof(uint64);

	return input->groups > 0 ? bytes + PLACE_GROUP_BYTES : bytes;
}

/* Whether rows can stay where they are, as far as memory goes. */
static bool
places_fit(const HpSortCostInput *input)
{
	double		memory = (double) work_mem * 1024;
	double		rows = input->limit >= 0 ? Min(input->rows, input->limit * PLACE_LIMIT_SLACK) :
	input->rows;

	return rows * place_bytes(input) <= memory ||
		input->pages * PLACE_PAGE_BYTES <= memory * PLACE_PAGES_PART;
}

/* Returns the cost of comparing rows of equal mapped keys, of which kept rows are returned. */
static Cost
comparison_cost(const HpSortCostInput *input, double rows, double kept)
{
	double		compared = rows * (1 - input->alike);
	double		groups = Max(input->groups - input->alike_groups, 1);
	double		group = Max(compared / groups, 1);
	double		equal = input->nmapped > 1 ? EQUAL_COMPARISONS_SEVERAL : EQUAL_COMPARISONS;
	Cost		compare;

	if (input->undivided)
		return cost_of_comparisons(rows * log2(rows));
	if (input->groups <= 0 || rows <= input->groups)
		return 0;
	equal *= 1 - 1 / group;
	if (input->strings && input->nmapped == 1)
		equal = EQUAL_STRINGS_COMPARISONS * log2(group);
	compare = cost_of_comparisons(kept * (1 - input->alike) * COMPARE_PART *
								  (input->further ? log2(Min(group, kept)) : equal));
	if (input->nleft > COMPARE_KEYS)
		compare *= 1 + COMPARE_KEY_PART * (input->nleft - COMPARE_KEYS);

	/* Rows in the group of the last wanted row are compared with that row. */
	if (kept < rows)
		compare += cost_of_comparisons(group);
	return compare;
}

void
sort_path_cost(const HpSortCostInput *input, Cost *startup, Cost *run)
{
	double		memory = (double) work_mem * 1024;
	double		rows = Max(input->rows, 2.0);
	double		width = row_bytes(input->width);
	double		bytes = rows * width;
	double		file_bytes = 0;
	double		kept = rows;
	bool		in_place = input->in_place && places_fit(input);
	double		in_ns;
	double		out_ns;
	double		dearer = 1;		/* beside core's sort, of which the unit is */
	Cost		disk = 0;
	Cost		compare;

	if (input->limit >= 0 && (in_place || 2 * input->limit * width <= memory))
		kept = rows_kept(rows, Max(input->limit, 1));
	if (input->key_only)
	{
		in_ns = rows * KEY_IN_NS;
		out_ns = rows * KEY_OUT_NS;
		bytes = rows * (input->range > (double) PG_UINT32_MAX + 1 ? sizeof(int64) : sizeof(int32));

		/* Runs are no more than there are keys. */
		bytes = Min(bytes, input->range * 3 * sizeof(int32));
		in_ns += sort_ns(input, rows, SORT_WANT_KEYS);
	}
	else
	{
		double		each = input->narrow ? ROW_NARROW_NS :
		ROW_WIDE_NS + input->nmapped * ROW_KEY_NS;

		in_ns = kept * each * (1 - ROW_OUT_PART) + sort_ns(input, kept, SORT_WANT_PERMUTATION);
		out_ns = kept * each * ROW_OUT_PART;
		if (in_place)
		{
			bytes = kept * place_bytes(input);
			file_bytes = kept * (PLACE_FILE_BYTES + input->nmapped *
								 (input->narrow ? sizeof(uint32) : sizeof(uint64)));
		}
		else if (kept < rows)
		{
			double		skip = input->narrow && !input->further ? LIMIT_SKIP_NARROW_NS :
			LIMIT_SKIP_NS;

			bytes = kept * width;
			in_ns += (rows - kept) * (input->by_group ? GROUP_SKIP_NS : skip) +
				kept * (LIMIT_ROW_NS + width * LIMIT_BYTE_NS);
		}
	}
	compare = comparison_cost(input, rows, kept);
	if (bytes > memory)
	{
		double		pages = ceil((in_place ? file_bytes : bytes) / BLCKSZ);
		double		merged = Max(MERGE_MIN, Min(MERGE_PARTS, memory / MERGE_BYTES));
		double		again = Max(0.0, ceil(log(bytes / memory) / log(merged)) - 1);

		/* Pages are written once and read once, as core's; rows in order are one segment. */
		again *= 1 - input->order;

		/*
		 * Rows of equal mapped keys that do not fit into memory are compared a full memory at a
		 * time, and when segments are merged.
		 */
		if (input->further && bytes / Max(input->groups, 1) > memory)
			compare += cost_of_comparisons(rows * log2(Max(bytes / memory, 2)));
		disk = 2.0 * pages * (1 + again * MERGE_FACTOR) *
			(seq_page_cost * 0.75 + random_page_cost * 0.25);
		disk += cost_of_ns(SPILL_START_NS);
		dearer = 1 / (1 - IN_ORDER_PART * input->order * input->order);
	}
	else if (!in_place)
		in_ns += IN_ORDER_NS * input->all_order * input->all_order;
	*startup = cost_of_ns((START_NS + in_ns) * dearer) + compare + disk;
	*run = cost_of_ns(out_ns * dearer);
}
