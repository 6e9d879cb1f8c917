/*
 * expression_blocks.c
 *		Blocks of values that are the same to an expression (see expression_blocks.h).
 *
 * An expression is the same for all values of a block if each of its columns is an argument of a
 * function that is.  A call of such a function is a step.  A step's result is not looked at; it
 * depends on nothing but the block, by the arithmetic of its function:
 *
 * - A timestamp is split into a date and the microseconds of the day, and these into hours,
 *	 minutes and seconds, with a remainder that is never negative.  Blocks of an hour, a minute or a
 *	 day begin with the epoch, a midnight.  Infinite timestamps are so far from others that they are
 *	 in blocks of their own.
 * - A timestamptz is split in the same way after the offset of the time zone has been added.  The
 *	 offset is the same within a block if the zone has no transition there.  Hours of the zone begin
 *	 with the block if the offset is a whole number of blocks.
 * - A number divided by a positive one is truncated toward 0: nothing is claimed below 0.
 * - date_bin counts from its origin: nothing is claimed before the origin.  Bins can be so wide
 *	 that infinity is in one bin with the last times before it: nothing is claimed of bins that
 *	 reach beyond the last time.
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

#include "pg/compat.h"
#include "pg/core_functions.h"
#include "pg/values/expression_blocks.h"
#include "pg/values/plain_column.h"

/* A field of a time: what date_trunc cuts off behind, and extract returns. */
typedef struct TimeField
{
	const char *name;
	int64		width;			/* of blocks in which neither can change */
	double		values;			/* how many extract returns at most; 0: as many as units */
	double		unit;			/* the shortest that the unit can be; 0: date_trunc does not know
								 * it */
} TimeField;

static const TimeField time_fields[] = {
	{"minute", USECS_PER_MINUTE, 60, USECS_PER_MINUTE},
	{"hour", USECS_PER_HOUR, 24, USECS_PER_HOUR},
	{"day", USECS_PER_DAY, 31, 23.0 * USECS_PER_HOUR},
	{"dow", USECS_PER_DAY, 7, 0},
	{"isodow", USECS_PER_DAY, 7, 0},
	{"doy", USECS_PER_DAY, 366, 0},
	{"week", USECS_PER_DAY, 53, 6.9 * USECS_PER_DAY},
	{"month", USECS_PER_DAY, 12, 27.9 * USECS_PER_DAY},
	{"quarter", USECS_PER_DAY, 4, 89.9 * USECS_PER_DAY},
	{"year", USECS_PER_DAY, 0, 364.9 * USECS_PER_DAY},
	{"isoyear", USECS_PER_DAY, 0, 363.9 * USECS_PER_DAY},
	{"decade", USECS_PER_DAY, 0, 3651.9 * USECS_PER_DAY},
	{"century", USECS_PER_DAY, 0, 36523.9 * USECS_PER_DAY},
	{"millennium", USECS_PER_DAY, 0, 365241.9 * USECS_PER_DAY}
};

/* Of a time zone whose offset is not a whole number of hours, blocks are so long at most. */
#define ZONE_QUARTER (15 * USECS_PER_MINUTE)

/* The widest bin of date_bin that has blocks: far from what overflows an int64. */
#define BIN_MOST (INT64CONST(1000) * USECS_PER_DAY)

/* A call of a function that has one result for all values of a block of a column. */
typedef struct Step
{
	const Var  *column;
	ExpressionBlocks blocks;
	double		values;			/* how many different results there can be, ... */
	double		unit;			/* ... or, unless this is 0, how many values of the column each
								 * result takes */
} Step;

/* --- recognizing */

/* The constant that an argument is; NULL if it is none, or NULL. */
static const Const *
constant_of(List *args, int n)
{
	const Const *constant = (const Const *) list_nth(args, n);

	return IsA(constant, Const) && !constant->constisnull ? constant : NULL;
}

/* Returns the field that an argument names; NULL if time_fields has none of that name. */
static const TimeField *
field_of(List *args)
{
	const Const *constant = constant_of(args, 0);
	char	   *name;

	if (constant == NULL || constant->consttype != TEXTOID)
		return NULL;
	name = TextDatumGetCString(constant->constvalue);
	for (int i = 0; i < lengthof(time_fields); i++)
		if (pg_strcasecmp(name, time_fields[i].name) == 0)
			return &time_fields[i];
	return NULL;
}

/*
 * The longest blocks of the session's time zone, by its offsets in one winter and one summer: most
 * other years have the same offsets.
 */
static int64
zone_width(void)
{
	static const TimestampTz times[] = {0, 182 * USECS_PER_DAY};
	struct pg_tm tm;
	fsec_t		fsec;
	int			zone;

	for (int i = 0; i < lengthof(times); i++)
		if (timestamp2tm(times[i], &zone, &tm, &fsec, NULL, NULL) != 0 || zone % SECS_PER_HOUR != 0)
			return ZONE_QUARTER;
	return USECS_PER_HOUR;
}

/* A function of a timestamp, or one with time zone, that depends on nothing shorter than width. */
static void
note_time(Step *step, int64 width, bool zone)
{
	step->blocks.kind = zone ? BLOCKS_OF_ZONE : BLOCKS_OF_CALENDAR;
	step->blocks.width = zone ? Min(width, zone_width()) : width;
	step->blocks.origin = 0;
}

/*
 * A field of a time, or of a date, whose values are days: date_trunc cuts off behind it, extract
 * returns it.
 */
static bool
note_field(Step *step, List *args, bool extract)
{
	const TimeField *field = field_of(args);
	Oid			type = getBaseType(exprType(lsecond(args)));

	if (field == NULL || (field->unit == 0 && !extract) ||
		(field->width < USECS_PER_DAY && type == DATEOID))
		return false;
	if (type != DATEOID)
		note_time(step, field->width, type == TIMESTAMPTZOID);
	if (extract && field->values > 0)
		step->values = field->values;
	else
		step->unit = field->unit / (type == DATEOID ? USECS_PER_DAY : 1);
	return true;
}

/*
 * Notes date_bin of a timestamp; false if its bins are no blocks: they vary, are too wide, or begin
 * at no finite time.
 */
static bool
note_bin(Step *step, List *args)
{
	const Const *stride = constant_of(args, 0);
	const Const *origin = constant_of(args, 2);
	const Interval *interval;

	if (stride == NULL || origin == NULL)
		return false;
	interval = DatumGetIntervalP(stride->constvalue);
	if (interval->month != 0 || interval->day < 0 || interval->day > BIN_MOST / USECS_PER_DAY ||
		interval->time < 0 || interval->time > BIN_MOST)
		return false;
	step->blocks.kind = BLOCKS_FROM_ORIGIN;
	step->blocks.width = interval->day * USECS_PER_DAY + interval->time;
	step->blocks.origin = DatumGetTimestamp(origin->constvalue);
	step->blocks.end = END_TIMESTAMP;
	step->unit = (double) step->blocks.width;
	return step->blocks.width > 0 && !TIMESTAMP_NOT_FINITE(step->blocks.origin);
}

/* Divided by a positive constant; or what is left of that, which is no step of blocks. */
static bool
note_division(Step *step, List *args, bool modulo)
{
	const Const *divisor = constant_of(args, 1);
	int64		value;

	if (divisor == NULL || column_kind(divisor->consttype) == COLUMN_KIND_NONE)
		return false;
	value = column_value(column_kind(divisor->consttype), divisor->constvalue);
	if (value <= 0)
		return false;
	if (modulo)
	{
		step->values = 2.0 * (double) value - 1;
		return true;
	}
	step->blocks.kind = BLOCKS_FROM_ORIGIN;
	step->blocks.width = value;
	step->blocks.end = PG_INT64_MAX;
	step->unit = (double) value;
	return true;
}

/*
 * Sets *column to the argument of which a function takes neighbouring values for the same, and
 * notes which.  Returns false if there is none.
 */
static bool
note_call(Step *step, Oid function, List *args, int *column)
{
	*column = 0;
	switch (function)
	{
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			*column = 1;
			return note_field(step, args, false);
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_EXTRACT_TEXT_DATE:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_DATE:
			*column = 1;
			return note_field(step, args, true);
		case F_DATE_TIMESTAMP:
		case F_DATE_TIMESTAMPTZ:
			note_time(step, USECS_PER_DAY, function == F_DATE_TIMESTAMPTZ);
			step->unit = 23.0 * USECS_PER_HOUR;
			return true;
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			*column = 1;
			return note_bin(step, args);
		case CORE_INTEGER_OPERATORS(DIV):
			return note_division(step, args, false);
		case F_INT2MOD:
		case F_INT4MOD:
		case F_INT8MOD:
		case F_MOD_INT2_INT2:
		case F_MOD_INT4_INT4:
		case F_MOD_INT8_INT8:
			return note_division(step, args, true);
		case F_FLOOR_FLOAT8:
		case F_CEIL_FLOAT8:
		case F_CEILING_FLOAT8:
		case F_ROUND_FLOAT8:
		case F_TRUNC_FLOAT8:
		case F_INT4_FLOAT8:
		case F_INT8_FLOAT8:
		case F_FLOOR_NUMERIC:
		case F_CEIL_NUMERIC:
		case F_CEILING_NUMERIC:
		case F_INT4_NUMERIC:
		case F_INT8_NUMERIC:
			/* Each whole number takes one. */
			step->unit = 1;
			return true;
		default:
			return false;
	}
}

/* Whether a node is a step, and which one. */
static bool
find_step(Node *node, Step *step)
{
	Oid			function;
	List	   *args;
	Node	   *argument;
	int			column;

	if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	else if (IsA(node, OpExpr))
	{
		function = ((OpExpr *) node)->opfuncid;
		args = ((OpExpr *) node)->args;
	}
	else
		return false;
	memset(step, 0, sizeof(*step));
	if (!note_call(step, function, args, &column))
		return false;
	argument = (Node *) list_nth(args, column);
	node = strip_relabels(argument);
	if (!IsA(node, Var) || ((Var *) node)->varlevelsup != 0)
		return false;

	/*
	 * The bits of another type are another number than the column's value: of an oid taken for an
	 * integer, for instance.
	 */
	step->column = (const Var *) node;
	return getBaseType(step->column->vartype) == getBaseType(exprType(argument));
}

/* --- blocks */

/* Narrows blocks to what they have in common with a step's.  Returns false if there is nothing. */
static bool
combine_blocks(ExpressionBlocks *blocks, const ExpressionBlocks *more)
{
	if (more->kind == BLOCKS_NONE || more->width < 2)
		return false;
	if (blocks->kind == BLOCKS_NONE)
		*blocks = *more;
	else if (blocks->kind != more->kind || blocks->origin != more->origin)
		return false;
	else if (blocks->width != more->width)
	{
		/* Of minutes, hours and days each is a whole number of the one before it. */
		if (blocks->kind == BLOCKS_FROM_ORIGIN)
			return false;
		blocks->width = Min(blocks->width, more->width);
	}
	return true;
}

/* Stops at a column that is in no step, or where steps have no blocks in common. */
static bool
has_no_blocks(Node *node, void *context)
{
	Step		step;

	if (node == NULL)
		return false;
	if (find_step(node, &step))
		return !combine_blocks((ExpressionBlocks *) context, &step.blocks);
	return IsA(node, Var) || expression_tree_walker(node, has_no_blocks, context);
}

ExpressionBlocks
expression_blocks(Node *expression)
{
	ExpressionBlocks blocks = {BLOCKS_NONE};

	if (has_no_blocks(expression, &blocks))
		blocks.kind = BLOCKS_NONE;
	return blocks;
}

/*
 * Whether the session's time zone keeps an offset that is a whole number of blocks within one that
 * begins at a time.
 */
static bool
zone_is_steady(TimestampTz begin, int64 width)
{
	pg_time_t	seconds = begin / USECS_PER_SEC + (POSTGRES_EPOCH_JDATE -
												   UNIX_EPOCH_JDATE) * SECS_PER_DAY;
	pg_time_t	transition;
	struct pg_tm tm;
	fsec_t		fsec;
	long int	offsets[2];
	int			dst[2];
	int			zone;
	int			found;

	if (timestamp2tm(begin, &zone, &tm, &fsec, NULL, NULL) != 0 ||
		zone % (width / USECS_PER_SEC) != 0)
		return false;
	found = pg_next_dst_boundary(&seconds, &offsets[0], &dst[0], &transition, &offsets[1], &dst[1],
								 session_timezone);
	return found == 0 || (found > 0 && transition >= seconds + width / USECS_PER_SEC);
}

bool
expression_block_is_known(const ExpressionBlocks *blocks, int64 block)
{
	TimestampTz begin;
	int64		end;

	switch (blocks->kind)
	{
		case BLOCKS_OF_CALENDAR:
			return true;
		case BLOCKS_OF_ZONE:
			return !pg_mul_s64_overflow(block, blocks->width, &begin) &&
				IS_VALID_TIMESTAMP(begin) &&
				zone_is_steady(begin, blocks->width);
		case BLOCKS_FROM_ORIGIN:

			/*
			 * Where the distance from the origin is more than an int64 holds, date_bin fails, or
			 * wraps around in older versions.
			 */
			return block != BLOCK_BEFORE_ORIGIN &&
				!pg_mul_s64_overflow(block + 1, blocks->width, &end) &&
				!pg_add_s64_overflow(blocks->origin, end, &end) && end <= blocks->end;
		default:
			return false;
	}
}

void
expression_blocks_find(const ExpressionBlocks *blocks, const ColumnBatch *rows, int64 *result)
{
	ExpressionBlocks of = *blocks;
	int64		block = 0;
	int64		begin = 0;
	bool		known = false;

	for (size_t i = 0; i < rows->n; i++)
	{
		int64		value = column_batch_value(rows, i);

		/*
		 * A division takes longer than all else, and rows that came together are often in the
		 * same block.
		 */
		if (!known || value < begin || (uint64) value - (uint64) begin >= (uint64) of.width)
		{
			block = expression_block_of(&of, value);
			begin = (int64) ((uint64) of.origin + (uint64) block * (uint64) of.width);
			/* The first of all blocks begins below what an int64 holds. */
			known = block != BLOCK_BEFORE_ORIGIN && begin <= value;
		}
		result[i] = block;
	}
}

/* --- arithmetic */

/*
 * For check_functions_in_node: whether a function is not built in, so that little is known of it.
 */
static bool
is_no_builtin(Oid function, void *context)
{
	return function >= FirstGenbkiObjectId;
}

/*
 * Whether a part of an expression is no number and no truth value, or is computed by a function
 * that is not built in.
 */
static bool
is_no_arithmetic(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, List) && !IsA(node, CaseWhen))
		switch (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ? InvalidOid :
				getBaseType(exprType(node)))
		{
			case BOOLOID:
			case INT2OID:
			case INT4OID:
			case INT8OID:
			case FLOAT4OID:
			case FLOAT8OID:
				break;
			default:
				return true;
		}
	return check_functions_in_node(node, is_no_builtin, context) ||
		expression_tree_walker(node, is_no_arithmetic, context);
}

bool
expression_is_arithmetic(Node *expression)
{
	return !is_no_arithmetic(expression, NULL);
}

/* --- estimates */

/* A value of a column as a number. */
static double
number_of(Oid type, Datum value)
{
	switch (type)
	{
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case FLOAT8OID:
			return DatumGetFloat8(value);
		case NUMERICOID:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
		default:
			return (double) column_value(column_kind(type), value);
	}
}

/*
 * Widens a range by the values in a slot of a column's statistics; false where one of them is not
 * a number.
 */
static bool
add_slot(const VariableStatData *stats, int kind, Oid type, ColumnRange *range)
{
	AttStatsSlot slot;
	bool		numbers = true;
	int			step;

	if (!get_attstatsslot(&slot, stats->statsTuple, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return true;
	/* A histogram is in order. */
	step = kind == STATISTIC_KIND_HISTOGRAM ? Max(slot.nvalues - 1, 1) : 1;
	for (int i = 0; i < slot.nvalues; i += step)
	{
		double		value = number_of(type, slot.values[i]);

		if (isnan(value))
			numbers = false;
		range->lo = Min(range->lo, value);
		range->hi = Max(range->hi, value);
	}
	free_attstatsslot(&slot);
	return numbers;
}

bool
column_statistics_range(PlannerInfo *root, const Var *column, ColumnRange *range)
{
	Oid			type = getBaseType(column->vartype);
	VariableStatData stats;
	bool		known;

	if (column_read_kind(type) == COLUMN_KIND_NONE && type != NUMERICOID)
		return false;
	range->lo = INFINITY;
	range->hi = -INFINITY;
	examine_variable(root, (Node *) column, 0, &stats);
	known = HeapTupleIsValid(stats.statsTuple) && stats.acl_ok &&
		add_slot(&stats, STATISTIC_KIND_HISTOGRAM, type, range) &&
		add_slot(&stats, STATISTIC_KIND_MCV, type, range);
	ReleaseVariableStats(stats);
	return known && range->lo <= range->hi;
}

typedef struct Estimate
{
	PlannerInfo *root;
	double		values;			/* of all steps */
} Estimate;

/* Multiplies what the steps can be; stops at what is not a function of them and of constants. */
static bool
has_no_bound(Node *node, void *context)
{
	Estimate   *estimate = (Estimate *) context;
	ColumnRange range;
	Step		step;

	if (node == NULL)
		return false;
	if (find_step(node, &step))
	{
		/* Neither the first nor the last one need be whole. */
		if (step.unit > 0)
		{
			if (!column_statistics_range(estimate->root, step.column, &range))
				return true;
			step.values = (range.hi - range.lo) / step.unit + 2;
		}
		estimate->values *= step.values;
		return !isfinite(estimate->values);
	}
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return true;
		default:
			return expression_tree_walker(node, has_no_bound, context);
	}
}

/*
 * How many different values an expression has, NULL left out, at most; infinity if that is not
 * known.
 */
static double
values_most(PlannerInfo *root, Node *expression)
{
	Estimate	estimate = {root, 1};

	if (has_no_bound(expression, &estimate) || contain_volatile_functions(expression) ||
		expression_returns_set(expression))
		return INFINITY;
	return estimate.values;
}

double
expression_blocks_most(PlannerInfo *root, Node *expression, double rows)
{
	ExpressionBlocks blocks = expression_blocks(expression);
	ColumnRange range;
	double		unknown = 0;

	if (blocks.kind == BLOCKS_NONE ||
		!column_statistics_range(root, linitial_node(Var, pull_var_clause(expression, 0)), &range))
		return INFINITY;

	/*
	 * Values are taken to be spread evenly.  From half of the rows on it is values that are
	 * remembered.
	 */
	if (blocks.kind == BLOCKS_FROM_ORIGIN && range.lo < (double) blocks.origin)
		unknown = Min((double) blocks.origin - range.lo + 1,
					  range.hi - range.lo + 1) / (range.hi - range.lo + 1);
	return unknown > 0.5 ? INFINITY : (range.hi - range.lo) / (double) blocks.width + 2 +
		unknown * rows;
}

double
expression_groups(PlannerInfo *root, List *expressions, double rows)
{
	double		groups = estimate_num_groups(root, expressions, rows, NULL, NULL);
	double		most = 1;
	List	   *others = NIL;

	foreach_ptr(Node, grouped, expressions)
	{
		Node	   *expression = strip_relabels(grouped);
		double		values = IsA(expression, Var) ? INFINITY : values_most(root, expression);

		if (isfinite(values))
			most *= values;
		else
			others = lappend(others, grouped);
	}
	if (list_length(others) == list_length(expressions))
		return groups;
	if (others != NIL)
		most *= estimate_num_groups(root, others, rows, NULL, NULL);
	return clamp_row_est(Min(groups, most));
}
