/*
 * cost.c
 *		What sorting by hpsort costs, in the planner's units.
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
#include "pg/nodes/sort/plan/path.h"
#include "pg/resident/source/source.h"
#include "pg/values/values.h"
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

/* Numbering a value; to sort the values that have numbers is another cost. */
#define NUMBER_NS 15.0

/*
 * A unit of the cost of core's sort stands for this many times as many nanoseconds if the first key
 * is no integer and has no abbreviations: 1e6 rows by a text of 1,000 values in en_US.UTF-8 take
 * 1.8 s of processor time, by an int4 0.2 s.
 */
#define SLOW_FACTOR 4.0

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
 * each key; and bytes of memory for each page of the table.
 */
#define PLACE_FILE_BYTES 4.0
#define PLACE_PAGE_BYTES 16.0

/* Keys count as unique if on average fewer rows than this have one value of them. */
#define UNIQUE_GROUP 1.1

/*
 * A LIMIT by an abbreviated key is expected to gain nothing if the key has fewer groups of equal
 * values than LIMIT_GROUPS_MIN and a group has more than LIMIT_GROUP_ROWS rows on average.  The
 * executor then reads the rows for their abbreviations, finds too many of them equal (in_place.c,
 * EQUAL_PART and EQUAL_MIN), copies them after all, and compares all of them, as copies have no
 * abbreviations.  LIMIT 10 of 500,000 rows, HpSort and core, ms: ORDER BY status, at with 5 texts
 * 85 and 57; ORDER BY city, id with 1,000 texts 44 and 71 (Intel Xeon, PostgreSQL 17).
 */
#define LIMIT_GROUPS_MIN 64
#define LIMIT_GROUP_ROWS 1000

/* So many of the most common values are looked at: as many as statistics have by default. */
#define COMMON_VALUES_MOST 100

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

/* What a cost depends on beside the columns, the bound and the path that is sorted. */
typedef struct CostInput
{
	const Path *subpath;
	const HpSortColumns *columns;
	double		groups;			/* of equal mapped keys, if keys are left to core's comparison;
								 * else 0 */
	bool		further;		/* there are keys behind the mapped ones */
	bool		undivided;		/* the one mapped key is an abbreviation that says little */
	double		alike;			/* part of the rows that find_alike() has found, ... */
	double		alike_groups;	/* ... and how many different values they have */
	bool		in_place;		/* rows stay where they are, as far as the planner knows */
	double		limit;			/* rows wanted; < 0: all */
	bool		by_group;		/* these are the first of each group ... */
	int			ngroup;			/* ... which is so many leading keys; -1: no GPU finds them */
	double		order;			/* how much rows come in order of the first key, from 0 to 1, ... */
	double		all_order;		/* ... and of all keys together */
} CostInput;

/* Returns true if the mapped keys of a row together need more than 32 bits. */
static bool
has_long_keys(const HpSortColumns *columns)
{
	return columns->range > (double) PG_UINT32_MAX + 1;
}

/* Returns the nanoseconds that sorting this many keys takes, by the table of src/sort/plan.c. */
static double
sort_ns(const HpSortColumns *columns, double rows, SortWant want)
{
	SortPlanInput in;
	SortPlan	plan;
	SortError	err;

	memset(&in, 0, sizeof(in));
	in.n = (uint64) Min(rows, 1e15);
	in.lo = PG_INT32_MIN;
	in.hi = (int32) (PG_INT32_MIN + (int64) Min(columns->range - 1, (double) PG_UINT32_MAX));
	in.want = want;
	in.device = SORT_DEVICE_CPU;
	in.algorithm = SORT_ALGORITHM_AUTO;
	if (plan_choose(&in, &plan, &err) != SORT_OK)
		return 0;
	return has_long_keys(columns) ? plan.cost_ns * LONG_KEY_FACTOR : plan.cost_ns;
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

/* Returns the expression that key i sorts by. */
static Node *
key_expression(const Path *path, const HpSortColumns *columns, int i)
{
	return (Node *) list_nth(path->pathtarget->exprs, list_nth_int(columns->attnos, i) - 1);
}

/* Returns true if there is one mapped key, of at most 32 bits. */
static bool
is_narrow(const HpSortColumns *columns)
{
	return columns->nmapped == 1 && columns->first_narrow;
}

/* Returns the path whose rows a projection returns; path itself if it is no projection. */
static const Path *
below_projection(const Path *path)
{
	return IsA(path, ProjectionPath) ? ((const ProjectionPath *) path)->subpath : path;
}

/* Returns true if a path returns a table's rows as they are. */
static bool
returns_rows(const Path *path)
{
	AttrNumber	attno = 0;

	if (list_length(path->pathtarget->exprs) != path->parent->max_attr)
		return false;
	foreach_ptr(const Var, column, path->pathtarget->exprs)
	{
		if (!IsA(column, Var) || column->varattno != ++attno)
			return false;
	}
	return true;
}

/*
 * Returns true if the rows of a path are likely to stay where they are, of a table whose pages may
 * be pinned.  bounded: only those of a LIMIT are returned.
 */
static bool
path_may_stay(PlannerInfo *root, const Path *path, bool bounded)
{
	RelOptInfo *rel = path->parent;
	const Path *scan = below_projection(path);
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

bool
sort_path_columns_stay(PlannerInfo *root, const Path *path, const HpSortColumns *columns,
					   bool bounded)
{
	int			nexact = columns->nmapped - (columns->exact ? 0 : 1);

	if (columns->key_only || !path_may_stay(root, path, bounded) ||
		sort_path_must_compute(root, path->parent, path->pathtarget->exprs))
		return false;
	for (int i = 0; i < list_length(columns->attnos); i++)
	{
		bool		any_type = i >= nexact || (columns->numbered & (1 << i)) != 0;

		if (in_place_column(key_expression(path, columns, i), any_type) == 0)
			return false;
	}
	return true;
}

double
sort_path_count_groups(PlannerInfo *root, const Path *subpath, const HpSortColumns *columns,
					   int nkeys)
{
	List	   *exprs = NIL;

	for (int i = 0; i < nkeys; i++)
		exprs = lappend(exprs, key_expression(subpath, columns, i));

	/* As in cost_incremental_sort(): columns of a set operation have no statistics. */
	if (bms_is_member(0, pull_varnos(root, (Node *) exprs)))
		return Min(subpath->rows, DEFAULT_NUM_DISTINCT);
	return expression_groups(root, exprs, subpath->rows);
}

/*
 * Finds the statistics of a key that is a table's column; returns false if there are none, and
 * nothing is to be released.  Abbreviating values of them is calling a function with what the user
 * has to have a right to see: stats->acl_ok.
 */
static bool
find_statistics(PlannerInfo *root, Node *expression, VariableStatData *stats)
{
	/* A column of a set operation has no table. */
	if (!IsA(expression, Var) || ((Var *) expression)->varno == 0)
		return false;
	examine_variable(root, expression, 0, stats);
	if (HeapTupleIsValid(stats->statsTuple))
		return true;
	ReleaseVariableStats(*stats);
	return false;
}

double
sort_path_correlation(PlannerInfo *root, const Path *path, const HpSortColumns *columns, int key)
{
	Node	   *expression = key_expression(path, columns, key);
	VariableStatData stats;
	AttStatsSlot slot;
	double		result = 0;

	path = below_projection(path);
	if ((path->pathtype != T_SeqScan && path->pathtype != T_BitmapHeapScan) ||
		!find_statistics(root, expression, &stats))
		return 0;
	if (get_attstatsslot(&slot, stats.statsTuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers > 0)
			result = fabs(slot.numbers[0]);
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(stats);
	return result;
}

/*
 * Returns how much rows come in the order of all keys, from 0 to 1; order is how much they come in
 * the order of the first key.  Keys behind unique ones do not matter.
 */
static double
order_of_all_keys(PlannerInfo *root, const Path *subpath, const HpSortColumns *columns,
				  double order)
{
	int			nkeys = list_length(columns->attnos);

	for (int i = 1; i < nkeys && order > 0; i++)
	{
		if (sort_path_count_groups(root, subpath, columns, i) * UNIQUE_GROUP > subpath->rows)
			break;
		order *= sort_path_correlation(root, subpath, columns, i);
	}
	return order;
}

/* Returns true if abbreviations divide some of the values in a slot of the statistics. */
static bool
slot_is_divided(HeapTuple stats, int kind, Oid sortop, Oid collation)
{
	AttStatsSlot slot;
	Datum		values[ABBREVIATION_SAMPLE];
	int			n;
	bool		divided;

	if (!get_attstatsslot(&slot, stats, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return true;
	n = Min(slot.nvalues, ABBREVIATION_SAMPLE);
	for (int i = 0; i < n; i++)
		values[i] = slot.values[(int64) i * slot.nvalues / n];
	divided = n < 2 || abbreviation_divides(sortop, collation, values, n);
	free_attstatsslot(&slot);
	return divided;
}

/* Many texts begin alike: core's sort notices that while it sorts, and then compares rows. */
bool
sort_path_abbreviations_divide(PlannerInfo *root, Node *expression, Oid sortop, Oid collation)
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
	int			j;

	if (!get_attstatsslot(&slot, stats, STATISTIC_KIND_MCV, InvalidOid,
						  ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
		return 0;
	n = Min(Min(slot.nvalues, slot.nnumbers), COMMON_VALUES_MOST);
	if (abbreviation_images(sortop, collation, slot.values, n, images))
		for (int i = 0; i < n; i++)
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

/*
 * Finds how many rows are known to be equal to others in key i, without a comparison, when all have
 * been read (store/abbreviation.h): those that are NULL, and of the most common values those whose
 * abbreviations no other of them has.  Sets input->alike and alike_groups.
 */
static void
find_alike(PlannerInfo *root, CostInput *input, int i)
{
	const HpSortColumns *columns = input->columns;
	VariableStatData stats;
	double		part;

	if (!find_statistics(root, key_expression(input->subpath, columns, i), &stats))
		return;
	part = ((Form_pg_statistic) GETSTRUCT(stats.statsTuple))->stanullfrac;
	input->alike_groups = part > 0 ? 1 : 0;
	if (stats.acl_ok)
		part += common_values_alike(stats.statsTuple, list_nth_oid(columns->sortops, i),
									list_nth_oid(columns->collations, i), &input->alike_groups);
	ReleaseVariableStats(stats);
	input->alike = Min(part, 1);
	if (i > 0)
		input->alike_groups = input->groups * input->alike;
}

/* Returns the bytes of memory for the key and the place of one row. */
static double
place_bytes(const CostInput *input)
{
	double		bytes = is_narrow(input->columns) ? PLACE_NARROW_BYTES :
	PLACE_WIDE_BYTES + (input->columns->nmapped - 1) * sizeof(uint64);

	return input->groups > 0 ? bytes + PLACE_GROUP_BYTES : bytes;
}

/* Returns the cost of comparing rows of equal mapped keys, of which kept rows are returned. */
static Cost
comparison_cost(const CostInput *input, double rows, double kept)
{
	const HpSortColumns *columns = input->columns;
	int			nleft = list_length(columns->pathkeys) - columns->nmapped +
	(columns->exact ? 0 : 1);
	double		compared = rows * (1 - input->alike);
	double		groups = Max(input->groups - input->alike_groups, 1);
	double		group = Max(compared / groups, 1);
	double		equal = columns->nmapped > 1 ? EQUAL_COMPARISONS_SEVERAL : EQUAL_COMPARISONS;
	Cost		compare;

	if (input->undivided)
		return cost_of_comparisons(rows * log2(rows));
	if (input->groups <= 0 || rows <= input->groups)
		return 0;
	equal *= 1 - 1 / group;
	if (sort_path_abbreviates_strings(columns) && columns->nmapped == 1)
		equal = EQUAL_STRINGS_COMPARISONS * log2(group);
	compare = cost_of_comparisons(kept * (1 - input->alike) * COMPARE_PART *
								  (input->further ? log2(Min(group, kept)) : equal));
	if (nleft > COMPARE_KEYS)
		compare *= 1 + COMPARE_KEY_PART * (nleft - COMPARE_KEYS);

	/* Rows in the group of the last wanted row are compared with that row. */
	if (kept < rows)
		compare += cost_of_comparisons(group);
	return compare;
}

/* Returns the cost of numbering the values of keys, and of sorting them. */
static Cost
numbering_cost(const HpSortColumns *columns, double rows)
{
	Cost		cost = 0;

	for (int i = 0; i < columns->nmapped; i++)
		if (columns->numbered & (1 << i))
			cost += cost_of_ns(rows * NUMBER_NS) +
				cost_of_comparisons(columns->values[i] * log2(Max(columns->values[i], 2)));
	return cost;
}

/* Sets the costs beyond the input's: until the first row, and for returning all. */
static void
compute_cost(const CostInput *input, Cost *startup, Cost *run)
{
	const HpSortColumns *columns = input->columns;
	double		memory = (double) work_mem * 1024;
	double		rows = Max(input->subpath->rows, 2.0);
	double		width = row_bytes(input->subpath->pathtarget->width);
	double		bytes = rows * width;
	double		file_bytes = 0;
	double		kept = rows;
	bool		narrow = is_narrow(columns);
	bool		in_place = input->in_place &&
	in_place_fits(input->subpath->rows, input->limit, place_bytes(input),
				  input->subpath->parent->pages * PLACE_PAGE_BYTES);
	double		in_ns;
	double		out_ns;
	double		dearer = 1;		/* beside core's sort, of which the unit is */
	Cost		disk = 0;
	Cost		compare;

	if (input->limit >= 0 && (in_place || 2 * input->limit * width <= memory))
		kept = rows_kept(rows, Max(input->limit, 1));
	if (columns->key_only)
	{
		in_ns = rows * KEY_IN_NS;
		out_ns = rows * KEY_OUT_NS;
		bytes = rows * (has_long_keys(columns) ? sizeof(int64) : sizeof(int32));

		/* Runs are no more than there are keys. */
		bytes = Min(bytes, columns->range * 3 * sizeof(int32));
		in_ns += sort_ns(columns, rows, SORT_WANT_KEYS);
	}
	else
	{
		double		each = narrow ? ROW_NARROW_NS :
		ROW_WIDE_NS + columns->nmapped * ROW_KEY_NS;

		in_ns = kept * each * (1 - ROW_OUT_PART) + sort_ns(columns, kept, SORT_WANT_PERMUTATION);
		out_ns = kept * each * ROW_OUT_PART;
		if (in_place)
		{
			bytes = kept * place_bytes(input);
			file_bytes = kept * (PLACE_FILE_BYTES + columns->nmapped *
								 (narrow ? sizeof(uint32) : sizeof(uint64)));
		}
		else if (kept < rows)
		{
			double		skip = narrow && !input->further ? LIMIT_SKIP_NARROW_NS :
			LIMIT_SKIP_NS;

			bytes = kept * width;
			in_ns += (rows - kept) * (input->by_group ? GROUP_SKIP_NS : skip) +
				kept * (LIMIT_ROW_NS + width * LIMIT_BYTE_NS);
		}
	}
	compare = comparison_cost(input, rows, kept) + numbering_cost(columns, rows);
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
	if (columns->slow)
	{
		dearer /= SLOW_FACTOR;
		compare /= SLOW_FACTOR;
	}
	*startup = cost_of_ns((START_NS + in_ns) * dearer) + compare + disk;
	*run = cost_of_ns(out_ns * dearer);
}

/*
 * Returns what part of the cost of reading and sorting is left if the keys are resident and few
 * rows are wanted, of groups those that the GPU finds; 1 otherwise.  It is 1 for all rows, so that
 * the path stays dearer than its scan: both are in the list of the table's paths, and core plans
 * aggregates above the cheapest of these.
 */
static double
resident_part(PlannerInfo *root, const CostInput *input)
{
	const Path *path = input->subpath;
	const HpSortColumns *columns = input->columns;
	const RelOptInfo *rel = path->parent;
	const Path *scan = below_projection(path);
	int			nkeys = input->by_group ? input->ngroup + 1 : columns->nmapped;
	const ResidentJobs jobs = {.n = 2,.ngroup = input->ngroup,.ordered = true};
	ResidentQuestion question = {.nkeys = nkeys,
		.filtered = rel->baserestrictinfo != NIL || input->by_group,
	.jobs = input->by_group ? &jobs : NULL};
	ResidentEstimate estimate;
	Cost		conditions;

	if (input->limit < 0 || input->limit > rel->pages / IN_PLACE_UNREAD_PART ||
		!IS_SIMPLE_REL(rel) || scan->pathtype != T_SeqScan ||
		scan->parallel_aware || nkeys == 0 ||
		columns->nmapped - (input->by_group && !columns->exact ? 1 : 0) < nkeys ||
		!(columns->key_only || input->in_place))
		return 1;
	for (int i = 0; i < nkeys; i++)
	{
		const Var  *column = (const Var *) key_expression(path, columns, i);
		ColumnKind	kind;

		if (!IsA(column, Var) || column->varattno <= 0)
			return 1;
		kind = column_kind(column->vartype);
		if (column_value_kind(column->vartype, column->vartypmod) == COLUMN_KIND_NONE ||
			(input->by_group && kind == COLUMN_KIND_ENUM))
			return 1;
		if (!input->by_group && (i == 0 || columns->key_only) && kind != COLUMN_KIND_INT2 &&
			kind != COLUMN_KIND_INT4 && (columns->key_only || kind != COLUMN_KIND_INT8))
			return 1;
		question.columns = lappend_int(question.columns, column->varattno);
	}
	if (!filter_conditions_columns(rel->baserestrictinfo, &question.columns))
		return 1;
	estimate = resident_estimate(planner_rt_fetch(rel->relid, root)->relid, &question, rel->tuples);
	if (input->by_group && !estimate.gpu)
		return 1;
	/* Bounds of extents refuse few of them if in most extents few rows meet the conditions. */
	conditions =
		cost_of_rows(rel->tuples * RESIDENT_CONDITION_COST * list_length(rel->baserestrictinfo));
	return 1 - estimate.share * (1 - Min(RESIDENT_FIRST_COST +
										 conditions / Max(path->total_cost, 1), 1));
}

void
sort_path_set_cost(PlannerInfo *root, Path *path, Path *subpath, const HpSortColumns *columns,
				   const HpSortBound *bound)
{
	CostInput	input = {.subpath = subpath,.columns = columns,.limit = -1};
	int			last = columns->nmapped - 1;
	Cost		startup;
	Cost		run;
	double		part;

	input.further = columns->nmapped < list_length(columns->pathkeys);
	if (input.further || !columns->exact)
		input.groups = sort_path_count_groups(root, subpath, columns, columns->nmapped);
	if (bound && bound->exprs)
	{
		input.limit = bound->rows;
		input.by_group = bound->kind != 0;
		input.ngroup = bound->kind == GROUP_BOUND_RANKS && bound->next ? -1 : bound->ngroup;
	}
	if (columns->abbreviated)
	{
		input.undivided = last == 0 &&
			!sort_path_abbreviations_divide(root, key_expression(subpath, columns, 0),
											linitial_oid(columns->sortops),
											linitial_oid(columns->collations));
		if (input.limit >= 0 && !input.by_group && input.groups > 0 &&
			input.groups < LIMIT_GROUPS_MIN && subpath->rows > LIMIT_GROUPS_MIN * LIMIT_GROUP_ROWS)
			input.undivided = true;
		if (!input.further && !input.undivided)
			find_alike(root, &input, last);
	}
	input.in_place = !input.undivided &&
		sort_path_columns_stay(root, subpath, columns, input.limit >= 0);
	if (subpath->rows <= IN_ORDER_ROWS ||
		subpath->rows * row_bytes(subpath->pathtarget->width) > (double) work_mem * 1024)
	{
		input.order = sort_path_correlation(root, subpath, columns, 0);
		input.all_order = order_of_all_keys(root, subpath, columns, input.order);
	}
	compute_cost(&input, &startup, &run);
	if (hpsort_debug_sort == NODE_FORCE)
		startup = run = 0;
	part = resident_part(root, &input);
	path->startup_cost = (subpath->total_cost + startup) * part;
	path->total_cost = path->startup_cost + run;
}
