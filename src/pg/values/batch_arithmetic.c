/*
 * batch_arithmetic.c
 *		Arithmetic of integers and decimals, a batch at a time (see batch_arithmetic.h).
 *
 * An expression is a list of steps, each of which takes its operands from a stack of columns of
 * values and leaves its result there.  A decimal is an integer with a scale, which the types of
 * columns and constants give: it is known before the first row.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "pg/core_functions.h"
#include "pg/values/batch_arithmetic.h"
#include "pg/values/plain_column.h"

/* Digits of a decimal, whose integers are below MOST_DECIMAL in size. */
#define MOST_DIGITS 18
#define MOST_DECIMAL INT64CONST(1000000000000000000)

typedef enum StepKind
{
	STEP_COLUMN,				/* the values of a column */
	STEP_CONSTANT,				/* a value for all rows */
	STEP_ADD,					/* of the two uppermost */
	STEP_SUBTRACT,
	STEP_MULTIPLY,
	STEP_SCALE,					/* the uppermost times the constant, perhaps 1 or -1 */
	STEP_SCALE_BELOW			/* the second times the constant */
} StepKind;

typedef struct Step
{
	StepKind	kind;
	int			column;			/* of STEP_COLUMN */
	int64		constant;		/* of STEP_COLUMN the integer of NaN, where checked */
	bool		checked;		/* the result may be outside of the limits */
	int64		least;			/* the limits */
	int64		most;
} Step;

/* What a part of the expression makes. */
typedef struct Operand
{
	ColumnKind	kind;			/* INT2, INT4, INT8 or NUMERIC */
	int			scale;			/* of a numeric */
	__int128	size;			/* no value is farther from 0 */
} Operand;

struct BatchArithmetic
{
	int			nsteps;
	int			room;
	Step	   *steps;
	int			ncolumns;
	const Var **columns;		/* by number of the column */
	const int  *batches;		/* by number of the column: the index of its batch */
	int			depth;			/* of the stack, while steps are added */
	int			most_depth;
	int64	   *stack;			/* BATCH_ARITHMETIC_ROWS values for each place */
	Operand		result;
	bool		certain;		/* no decimal has more digits than there may be */
};

/* --- making */

static int64
power_of_ten(int exponent)
{
	int64		power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* Returns the limits' distance from 0, of the positive one. */
static int64
most_of_kind(ColumnKind kind)
{
	switch (kind)
	{
		case COLUMN_KIND_INT2:
			return PG_INT16_MAX;
		case COLUMN_KIND_INT4:
			return PG_INT32_MAX;
		case COLUMN_KIND_INT8:
			return PG_INT64_MAX;
		default:
			return MOST_DECIMAL - 1;
	}
}

/* Returns the kind of a type's values, if there is arithmetic of it. */
static ColumnKind
arithmetic_kind(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return COLUMN_KIND_INT2;
		case INT4OID:
			return COLUMN_KIND_INT4;
		case INT8OID:
			return COLUMN_KIND_INT8;
		case NUMERICOID:
			return COLUMN_KIND_NUMERIC;
		default:
			return COLUMN_KIND_NONE;
	}
}

/* Adds a step, whose result is operand, and which changes the height of the stack. */
static Step *
add_step(BatchArithmetic *arithmetic, StepKind kind, int height, Operand *operand)
{
	Step	   *step;

	if (arithmetic->nsteps == arithmetic->room)
	{
		arithmetic->room *= 2;
		arithmetic->steps = repalloc_array(arithmetic->steps, Step, arithmetic->room);
	}
	step = &arithmetic->steps[arithmetic->nsteps++];
	memset(step, 0, sizeof(*step));
	step->kind = kind;
	step->most = most_of_kind(operand->kind);
	step->least = operand->kind == COLUMN_KIND_NUMERIC ? -step->most : -step->most - 1;
	step->checked = operand->size > step->most;
	if (step->checked)
	{
		arithmetic->certain &= operand->kind != COLUMN_KIND_NUMERIC;
		operand->size = -(__int128) step->least;
	}
	arithmetic->depth += height;
	arithmetic->most_depth = Max(arithmetic->most_depth, arithmetic->depth);
	return step;
}

/* Adds the values of a column; false if they are no integers and no decimals. */
static bool
add_column(BatchArithmetic *arithmetic, const Var *column, Operand *operand)
{
	ColumnKind	kind = arithmetic_kind(getBaseType(column->vartype));
	NumericUnit unit = {0};
	Step	   *step;
	int			c;

	if (kind == COLUMN_KIND_NONE ||
		(kind == COLUMN_KIND_NUMERIC &&
		 !numeric_unit_find(column->vartype, column->vartypmod, &unit)))
		return false;
	for (c = 0; c < arithmetic->ncolumns; c++)
		if (equal(arithmetic->columns[c], column))
			break;
	if (c == arithmetic->ncolumns)
	{
		arithmetic->columns = arithmetic->columns ?
			repalloc_array(arithmetic->columns, const Var *, c + 1) :
			palloc_array(const Var *, 1);
		arithmetic->columns[arithmetic->ncolumns++] = column;
	}
	operand->kind = kind;
	operand->scale = unit.scale;
	operand->size = kind == COLUMN_KIND_NUMERIC ? power_of_ten(unit.digits) - 1 :
		(__int128) most_of_kind(kind) + 1;
	step = add_step(arithmetic, STEP_COLUMN, 1, operand);
	step->column = c;
	step->constant = kind == COLUMN_KIND_NUMERIC ? numeric_unit_nan(unit) : 0;
	/* Values are what the type has; one that may be NaN is looked at. */
	step->checked = kind == COLUMN_KIND_NUMERIC;
	return true;
}

/* Adds a constant; false if it is NULL, no decimal, or has more digits than there may be. */
static bool
add_constant(BatchArithmetic *arithmetic, const Const *constant, Operand *operand)
{
	int64		value;

	operand->kind = arithmetic_kind(constant->consttype);
	operand->scale = 0;
	if (constant->constisnull || operand->kind == COLUMN_KIND_NONE)
		return false;
	if (operand->kind != COLUMN_KIND_NUMERIC)
		value = column_value(operand->kind, constant->constvalue);
	else
	{
		NumericUnit unit = {.digits = MOST_DIGITS};
		bool		between;

		if (numeric_is_nan(DatumGetNumeric(constant->constvalue)) ||
			numeric_is_inf(DatumGetNumeric(constant->constvalue)))
			return false;
		operand->scale = DatumGetInt32(DirectFunctionCall1(numeric_scale, constant->constvalue));
		if (operand->scale > MOST_DIGITS)
			return false;
		unit.scale = (int16) operand->scale;
		value = numeric_unit_ceil(unit, constant->constvalue, &between);
		if (value <= -MOST_DECIMAL || value >= MOST_DECIMAL)
			return false;
	}
	operand->size = value < 0 ? -(__int128) value : value;
	add_step(arithmetic, STEP_CONSTANT, 1, operand)->constant = value;
	return true;
}

/*
 * The operation of a function; STEP_COLUMN if it is none that is known.  Sets *factor to that of
 * STEP_SCALE: 1 for conversions.
 */
static StepKind
function_step(Oid function, int64 *factor)
{
	*factor = 1;
	switch (function)
	{
		case CORE_INTEGER_OPERATORS(PL):
		case F_NUMERIC_ADD:
			return STEP_ADD;
		case CORE_INTEGER_OPERATORS(MI):
		case F_NUMERIC_SUB:
			return STEP_SUBTRACT;
		case CORE_INTEGER_OPERATORS(MUL):
		case F_NUMERIC_MUL:
			return STEP_MULTIPLY;
		case F_INT2UM:
		case F_INT4UM:
		case F_INT8UM:
		case F_NUMERIC_UMINUS:
			*factor = -1;
			return STEP_SCALE;
		case F_INT2_INT4:
		case F_INT2_INT8:
		case F_INT4_INT2:
		case F_INT4_INT8:
		case F_INT8_INT2:
		case F_INT8_INT4:
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			return STEP_SCALE;
		default:
			return STEP_COLUMN;
	}
}

/* Has an operand of a sum have a larger scale. */
static void
add_scale(BatchArithmetic *arithmetic, StepKind kind, int scale, Operand *operand)
{
	int64		factor = power_of_ten(scale - operand->scale);

	if (factor == 1)
		return;
	operand->scale = scale;
	operand->size *= factor;
	add_step(arithmetic, kind, 0, operand)->constant = factor;
}

static bool add_expression(BatchArithmetic *arithmetic, const Node *node, Operand *operand);

/* Adds a call of a function whose result is of a type; false if it is not known. */
static bool
add_call(BatchArithmetic *arithmetic, Oid function, Oid type, const List *arguments,
		 Operand *operand)
{
	int64		factor;
	StepKind	kind = function_step(function, &factor);
	Operand		left;
	Operand		right;

	if (kind == STEP_COLUMN ||
		!add_expression(arithmetic, (const Node *) linitial(arguments), &left))
		return false;
	operand->kind = arithmetic_kind(type);
	operand->scale = left.scale;
	operand->size = left.size;
	if (kind == STEP_SCALE)
	{
		/* A conversion to a wider type needs no step. */
		if (factor != 1 || left.size > most_of_kind(operand->kind))
			add_step(arithmetic, kind, 0, operand)->constant = factor;
		return true;
	}
	if (!add_expression(arithmetic, (const Node *) lsecond(arguments), &right))
		return false;
	if (kind == STEP_MULTIPLY)
	{
		operand->scale = left.scale + right.scale;
		operand->size = left.size * right.size;
	}
	else
	{
		operand->scale = Max(left.scale, right.scale);
		add_scale(arithmetic, STEP_SCALE_BELOW, operand->scale, &left);
		add_scale(arithmetic, STEP_SCALE, operand->scale, &right);
		operand->size = left.size + right.size;
	}
	if (operand->scale > MOST_DIGITS)
		return false;
	add_step(arithmetic, kind, -1, operand);
	return true;
}

/* Adds an expression; false if it is no arithmetic. */
static bool
add_expression(BatchArithmetic *arithmetic, const Node *node, Operand *operand)
{
	node = strip_relabels(node);
	switch (nodeTag(node))
	{
		case T_Var:
			return add_column(arithmetic, (const Var *) node, operand);
		case T_Const:
			return add_constant(arithmetic, (const Const *) node, operand);
		case T_OpExpr:
			return add_call(arithmetic, ((const OpExpr *) node)->opfuncid,
							((const OpExpr *) node)->opresulttype, ((const OpExpr *) node)->args,
							operand);
		case T_FuncExpr:
			return add_call(arithmetic, ((const FuncExpr *) node)->funcid,
							((const FuncExpr *) node)->funcresulttype,
							((const FuncExpr *) node)->args, operand);
		default:
			return false;
	}
}

BatchArithmetic *
batch_arithmetic_make(Expr *expression)
{
	BatchArithmetic *arithmetic;

	if (!IsA(expression, OpExpr) && !IsA(expression, FuncExpr))
		return NULL;
	arithmetic = palloc0_object(BatchArithmetic);
	arithmetic->room = 8;
	arithmetic->steps = palloc_array(Step, arithmetic->room);
	arithmetic->certain = true;
	if (!add_expression(arithmetic, (const Node *) expression, &arithmetic->result) ||
		arithmetic->ncolumns == 0)
		return NULL;
	return arithmetic;
}

/* --- what it is */

ColumnKind
batch_arithmetic_kind(const BatchArithmetic *arithmetic, NumericUnit *unit)
{
	unit->digits = MOST_DIGITS;
	unit->scale = (int16) arithmetic->result.scale;
	return arithmetic->result.kind;
}

bool
batch_arithmetic_is_certain(const BatchArithmetic *arithmetic)
{
	return arithmetic->certain;
}

int
batch_arithmetic_steps(const BatchArithmetic *arithmetic)
{
	return arithmetic->nsteps;
}

const Var  *
batch_arithmetic_column(const BatchArithmetic *arithmetic, int i)
{
	return i < arithmetic->ncolumns ? arithmetic->columns[i] : NULL;
}

/* --- computing */

void
batch_arithmetic_prepare(BatchArithmetic *arithmetic, const int *batches)
{
	arithmetic->batches = batches;
	arithmetic->stack = palloc_array(int64, arithmetic->most_depth * BATCH_ARITHMETIC_ROWS);
}

/* Sets values to those of a column's rows. */
static void
read_column(const Step *step, const ColumnBatch *batch, size_t first, size_t n, int64 *values,
			uint8 *outside)
{
	if (batch->keys)
		for (size_t i = 0; i < n; i++)
			values[i] = batch->keys[first + i];
	else
		memcpy(values, batch->wide + first, n * sizeof(int64));
	if (step->checked)
		for (size_t i = 0; i < n; i++)
			outside[i] |= values[i] == step->constant;
}

/*
 * Computes a step of two operands, the first of which is replaced by the result.  kind and checked
 * are constants, so that the compiler makes a loop for each case.
 */
static pg_attribute_always_inline void
combine(StepKind kind, bool checked, const Step *step, size_t n, int64 *values,
		const int64 *others, uint8 *outside)
{
	for (size_t i = 0; i < n; i++)
	{
		int64		a = values[i];
		int64		b = others ? others[i] : step->constant;
		int64		result;
		bool		overflow;

		if (kind == STEP_ADD)
			overflow = __builtin_add_overflow(a, b, &result);
		else if (kind == STEP_SUBTRACT)
			overflow = __builtin_sub_overflow(a, b, &result);
		else
			overflow = __builtin_mul_overflow(a, b, &result);
		if (checked)
			outside[i] |= overflow | (result < step->least) | (result > step->most);
		values[i] = result;
	}
}

/* Computes a step of two operands, the second of which is the constant where others is NULL. */
static void
compute_step(StepKind kind, const Step *step, size_t n, int64 *values, const int64 *others,
			 uint8 *outside)
{
	switch (kind)
	{
		case STEP_ADD:
			step->checked ? combine(STEP_ADD, true, step, n, values, others, outside) :
				combine(STEP_ADD, false, step, n, values, others, outside);
			break;
		case STEP_SUBTRACT:
			step->checked ? combine(STEP_SUBTRACT, true, step, n, values, others, outside) :
				combine(STEP_SUBTRACT, false, step, n, values, others, outside);
			break;
		default:
			step->checked ? combine(STEP_MULTIPLY, true, step, n, values, others, outside) :
				combine(STEP_MULTIPLY, false, step, n, values, others, outside);
			break;
	}
}

bool
batch_arithmetic_compute(const BatchArithmetic *arithmetic, const ColumnBatch *batches,
						 size_t first, size_t n, int64 *values, uint8 *outside)
{
	int64	   *top = arithmetic->stack;	/* the first free place */
	uint8		any = 0;

	memset(outside, 0, n);
	for (int s = 0; s < arithmetic->nsteps; s++)
	{
		const Step *step = &arithmetic->steps[s];
		int64	   *last = top - BATCH_ARITHMETIC_ROWS;
		int64	   *second = last - BATCH_ARITHMETIC_ROWS;

		switch (step->kind)
		{
			case STEP_COLUMN:
				read_column(step, &batches[arithmetic->batches[step->column]], first, n, top,
							outside);
				top += BATCH_ARITHMETIC_ROWS;
				break;
			case STEP_CONSTANT:
				for (size_t i = 0; i < n; i++)
					top[i] = step->constant;
				top += BATCH_ARITHMETIC_ROWS;
				break;
			case STEP_SCALE:
				compute_step(STEP_MULTIPLY, step, n, last, NULL, outside);
				break;
			case STEP_SCALE_BELOW:
				compute_step(STEP_MULTIPLY, step, n, second, NULL, outside);
				break;
			default:
				compute_step(step->kind, step, n, second, last, outside);
				top = last;
				break;
		}
	}
	memcpy(values, arithmetic->stack, n * sizeof(int64));
	for (size_t i = 0; i < n; i++)
		any |= outside[i];
	return any != 0;
}
