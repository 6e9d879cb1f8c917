/*
 * computed.c
 *		Sums and products, a batch at a time (see computed.h).
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/aggregate/read/computed.h"

struct ComputedColumn
{
	BatchArithmetic *arithmetic;
	RowExpression *row;
	ColumnDomain domain;

	/* --- of an execution */
	MemoryContext memory;		/* of the list, and of the context of its values; NULL: none yet */
	MemoryContext values_memory;
	int			noutsized;
	int			room;
	OutsizedValue *outsized;
};

ComputedColumn *
computed_make(Expr *expression, RowExpression *row)
{
	BatchArithmetic *arithmetic = batch_arithmetic_make(expression);
	ComputedColumn *computed;
	const Var  *column;
	int		   *batches;

	if (arithmetic == NULL)
		return NULL;
	batches = palloc_array(int, row->ninputs);
	for (int c = 0; (column = batch_arithmetic_column(arithmetic, c)) != NULL; c++)
	{
		const RowInput *input = row->inputs;

		while (!is_same_column(input->column, column))
			input++;
		if (input->domain.dictionary || input->domain.datums || input->lookup)
			return NULL;
		batches[c] = input->batch;
	}
	batch_arithmetic_prepare(arithmetic, batches);
	computed = palloc0_object(ComputedColumn);
	computed->arithmetic = arithmetic;
	computed->row = row;
	computed->domain.kind = batch_arithmetic_kind(arithmetic, &computed->domain.unit);
	return computed;
}

const ColumnDomain *
computed_domain(const ComputedColumn *computed)
{
	return &computed->domain;
}

void
computed_begin(ComputedColumn *computed)
{
	computed->memory = CurrentMemoryContext;
	computed->values_memory = NULL;
	computed->noutsized = computed->room = 0;
	computed->outsized = NULL;
}

/* Keeps a value that has too many digits. */
static void
add_outsized(ComputedColumn *computed, size_t row, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(computed->memory);

	if (computed->values_memory == NULL)
		computed->values_memory = AllocSetContextCreate(computed->memory,
														"HpSort outsized values",
														ALLOCSET_SMALL_SIZES);
	if (computed->noutsized == computed->room)
	{
		computed->room = Max(16, 2 * computed->room);
		computed->outsized = computed->outsized ?
			repalloc_array(computed->outsized, OutsizedValue, computed->room) :
			palloc_array(OutsizedValue, computed->room);
	}
	MemoryContextSwitchTo(computed->values_memory);
	computed->outsized[computed->noutsized].row = row;
	computed->outsized[computed->noutsized++].value = datumCopy(value, false, -1);
	MemoryContextSwitchTo(old);
}

/*
 * Returns what core computes for a row.  Where a column is NULL the result is 0, but a part of the
 * expression without that column may raise its error.
 */
static int64
evaluate_row(ComputedColumn *computed, const ColumnBatch *batches, size_t i)
{
	int64		most = numeric_unit_nan(computed->domain.unit);
	bool		isnull;
	bool		between;
	Datum		datum = row_expression_value(computed->row, batches, i, &isnull);
	int64		value;

	if (isnull)
		return 0;
	if (computed->domain.kind != COLUMN_KIND_NUMERIC)
		return column_value(computed->domain.kind, datum);
	value = numeric_unit_ceil(computed->domain.unit, datum, &between);
	if ((value > -most && value < most) || numeric_is_nan(DatumGetNumeric(datum)))
		return value;
	add_outsized(computed, i, datum);
	return 0;
}

/* Marks rows as NULL that are refused, or in which a column is NULL; returns how many. */
static size_t
mark_nulls(const ComputedColumn *computed, const ColumnBatch *batches, const uint8 *refused,
		   size_t n, uint8 *nulls)
{
	size_t		nnulls = 0;

	if (refused)
		memcpy(nulls, refused, n);
	else
		memset(nulls, 0, n);
	for (int c = 0; c < computed->row->ninputs; c++)
	{
		const ColumnBatch *input = &batches[computed->row->inputs[c].batch];

		if (input->nnulls > 0)
			for (size_t i = 0; i < n; i++)
				nulls[i] |= input->nulls[i];
	}
	for (size_t i = 0; i < n; i++)
		nnulls += nulls[i];
	return nnulls;
}

void
computed_fill(ComputedColumn *computed, const ColumnBatch *batches, const uint8 *refused,
			  ColumnBatch *batch)
{
	size_t		n = batches[computed->row->inputs[0].batch].n;
	BatchSpace	space = column_batch_space(batch, n);
	size_t		nnulls = mark_nulls(computed, batches, refused, n, space.nulls);
	int64		values[BATCH_ARITHMETIC_ROWS];
	uint8		outside[BATCH_ARITHMETIC_ROWS];

	if (computed->noutsized > 0)
		MemoryContextReset(computed->values_memory);
	computed->noutsized = 0;
	for (size_t first = 0; first < n; first += BATCH_ARITHMETIC_ROWS)
	{
		size_t		some = Min(n - first, BATCH_ARITHMETIC_ROWS);
		const uint8 *nulls = space.nulls + first;

		/* A row that is refused must not raise an error. */
		if (batch_arithmetic_compute(computed->arithmetic, batches, first, some, values, outside))
			for (size_t i = 0; i < some; i++)
				if (outside[i] && !(refused && refused[first + i]))
					values[i] = evaluate_row(computed, batches, first + i);
		if (nnulls > 0)
			for (size_t i = 0; i < some; i++)
				values[i] = nulls[i] ? 0 : values[i];
		if (space.keys)
			for (size_t i = 0; i < some; i++)
				space.keys[first + i] = (int32) values[i];
		else
			memcpy(space.wide + first, values, some * sizeof(int64));
	}
	column_batch_add(batch, n, nnulls);
}

int
computed_outsized(const ComputedColumn *computed, const OutsizedValue **values)
{
	*values = computed->outsized;
	return computed->noutsized;
}
