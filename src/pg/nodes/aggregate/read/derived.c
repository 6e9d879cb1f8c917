/*
 * derived.c
 *		Columns derived from other columns (see derived.h).
 *
 * The memo of a narrow range of values is an array, in which a value's distance from the start of
 * the range is its place.  The memo of a wide range is a hash table, which is emptied when it is
 * full.  Where the expression takes neighbouring values for one (values/expression_blocks.h),
 * the memo has their blocks in place of the values.
 *
 * The memo is left where it does not help:
 *
 * - If most rows are in blocks of which nothing is known, it has the values.
 * - If most rows have values that are not in it, it would only grow, and each row is evaluated.
 * - Arithmetic takes no longer than a look-up in a hash table: without the array each row is
 *	 evaluated.
 *
 * Values of several columns together hardly repeat, nor do those that are read as Datums: there is
 * no memo of them.  Sums and products need none: all rows of a batch are computed (computed.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/derived.h"
#include "pg/nodes/aggregate/read/derived_memo.h"
#include "pg/nodes/aggregate/read/fields.h"
#include "pg/nodes/aggregate/read/row_expression.h"
#include "pg/values/values.h"

/* A state as a batch has it beside the value: 0, or 1 of NULL. */
#define STATE_MARK(state) ((uint8) ((state) - STATE_VALUE))

StaticAssertDecl(STATE_MARK(STATE_NULL) == 1, "marks of a batch are states");

/* Floats that are equal, though their integers are not. */
typedef struct EqualRange
{
	int64		least;			/* the integers from which to which they are */
	int64		most;
	int64		first;			/* the one that was met first */
	bool		met;
} EqualRange;

/*
 * One integer for all floats that are equal: 0 and -0, and all NaNs.  It is that of the first of
 * them that was met, which PostgreSQL shows of a group, too.
 */
typedef struct EqualFloats
{
	EqualRange	zeros;
	EqualRange	nans;
} EqualFloats;

struct DerivedColumn
{
	const Expr *expression;		/* NULL of DERIVED_PLACES */
	DerivedForm form;
	int			ninputs;		/* columns that the expression is of */
	const RowInput *inputs;
	int			filter;			/* index of the batch of the filter; -1: none */
	ColumnDomain domain;		/* of what the batch holds */
	bool		looked_up;		/* it is a column of a look-up, read from there */
	bool		arithmetic;		/* computing it takes no longer than a look-up in a hash table */
	ExpressionBlocks blocks;	/* of values that the expression takes for one */
	RowExpression row;			/* unless the form is DERIVED_RANKS or DERIVED_EQUAL */
	ComputedColumn *computed;	/* computes all rows of a batch; or NULL */
	const Lookup *lookup;		/* of DERIVED_PLACES */

	/* --- of an execution */
	MemoryContext memory;		/* of memo and batch */
	ColumnBatch batch;			/* what derived_batch returns */
	ColumnBatch packed;			/* of DERIVED_PLACES: integers of several columns */
	DerivedMemo memo;
	EnumLabels	labels;			/* of DERIVED_RANKS */
	EqualFloats equal;			/* of DERIVED_EQUAL */
};

/* --- describing */

/* Describes the floats of a kind, float4 or float8. */
static void
init_equal_floats(EqualFloats *floats, ColumnKind kind)
{
	bool		wide = column_kind_is_wide(kind);

	floats->zeros.most = wide ? float8_key(0) : float4_key(0);
	floats->zeros.least = floats->zeros.most - 1;
	floats->nans.least = wide ? float8_key(FLOAT8_INFINITY) + 1 : float4_key(FLOAT4_INFINITY) + 1;
	floats->nans.most = PG_INT64_MAX;
}

DerivedColumn *
derived_make(PlanState *parent, Expr *expression, DerivedForm form, int ninputs,
			 const RowInput *inputs, int filter)
{
	DerivedColumn *derived = palloc0_object(DerivedColumn);
	Node	   *node = (Node *) expression;

	derived->expression = expression;
	derived->form = form;
	derived->ninputs = ninputs;
	derived->inputs = inputs;
	derived->filter = filter;
	derived->domain.kind = form == DERIVED_NULLS ? COLUMN_KIND_BOOL : COLUMN_KIND_INT4;
	/* Of a column the typmod is certain. */
	if (form == DERIVED_VALUES)
		derived->domain = column_domain(exprType(node), IsA(node, Var) ?
										((const Var *) node)->vartypmod : -1);
	if (form == DERIVED_EQUAL)
	{
		derived->domain = inputs[0].domain;
		init_equal_floats(&derived->equal, inputs[0].domain.kind);
	}
	else if (form == DERIVED_RANKS)
	{
		derived->labels.type = getBaseType(exprType(node));
		derived->domain.labels = &derived->labels;
	}
	else
	{
		row_expression_make(&derived->row, parent, expression, ninputs, inputs);
		/* The values of places are in no order. */
		derived->looked_up = form == DERIVED_VALUES && IsA(node, Var) && inputs[0].lookup &&
			derived->domain.kind != COLUMN_KIND_NUMERIC;
		if (inputs[0].lookup == NULL)
		{
			derived->blocks = expression_blocks(node);
			derived->arithmetic = form == DERIVED_VALUES && expression_is_arithmetic(node);
		}
		if (form == DERIVED_VALUES)
			derived->computed = computed_make(expression, &derived->row);
		if (derived->computed)
			derived->domain = *computed_domain(derived->computed);
	}
	if (form == DERIVED_NUMBERS)
		derived->domain.dictionary = dictionary_make(exprType(node), exprCollation(node));
	else if (form == DERIVED_IDENTICAL)
		derived->domain.dictionary = dictionary_make_identical(exprType(node));
	return derived;
}

DerivedColumn *
derived_make_places(PlanState *parent, const Lookup *lookup, List *keys, int ninputs,
					const RowInput *inputs)
{
	DerivedColumn *derived = palloc0_object(DerivedColumn);

	derived->form = DERIVED_PLACES;
	derived->lookup = lookup;
	derived->ninputs = ninputs;
	derived->inputs = inputs;
	derived->filter = -1;
	derived->domain.kind = COLUMN_KIND_INT4;
	row_expressions_make(&derived->row, parent, keys, ninputs, inputs);
	if (list_length(derived->row.states) == 1)
		derived->blocks = expression_blocks(linitial(keys));
	return derived;
}

bool
derived_is(const DerivedColumn *derived, const Expr *expression, DerivedForm form, int filter)
{
	return derived->form == form && (derived->filter < 0 || derived->filter == filter) &&
		equal(derived->expression, expression);
}

int
derived_base(const DerivedColumn *derived)
{
	return derived->inputs[0].batch;
}

const RowInput *
derived_inputs(const DerivedColumn *derived, int *n)
{
	*n = derived->ninputs;
	return derived->inputs;
}

bool
derived_has_base(const DerivedColumn *derived, int batch)
{
	for (int i = 0; i < derived->ninputs; i++)
		if (derived->inputs[i].batch == batch)
			return true;
	return false;
}

/* Whether it is computed from more than one batch. */
static bool
has_several_batches(const DerivedColumn *derived)
{
	for (int i = 1; i < derived->ninputs; i++)
		if (derived->inputs[i].batch != derived->inputs[0].batch)
			return true;
	return false;
}

bool
derived_finds_integers(const DerivedColumn *derived)
{
	bool		found = derived->lookup && derived->row.states == NIL;

	for (int i = 0; i < derived->ninputs && found; i++)
		found = lookup_finds_integers(derived->lookup, i, derived->inputs[i].domain.kind);
	return found;
}

bool
derived_has_memo(const DerivedColumn *derived)
{
	return derived->form != DERIVED_EQUAL && derived->computed == NULL && !derived->looked_up &&
		!derived_finds_integers(derived) && !has_several_batches(derived) &&
		!derived->inputs[0].domain.datums;
}

bool
derived_has_numbers(const DerivedColumn *derived)
{
	return derived_form_has_numbers(derived->form);
}

const ColumnDomain *
derived_domain(const DerivedColumn *derived)
{
	return &derived->domain;
}

/* Begins a memo, of which nothing is left that would have to be freed. */
static void
begin_memo(DerivedColumn *derived, size_t limit)
{
	derived->memo = (DerivedMemo)
	{
		.limit = limit,.by_blocks = derived->blocks.kind != BLOCKS_NONE,
			.range = EMPTY_KEY_RANGE,
			.given_up = !derived_has_memo(derived)
	};
}

void
derived_forget_places(DerivedColumn *derived, const Lookup *lookup)
{
	ColumnBatch blocks;

	if (derived->lookup != lookup && derived->inputs[0].lookup != lookup)
		return;
	derived_memo_free(&derived->memo);
	blocks = derived->memo.block_batch;
	begin_memo(derived, derived->memo.limit);
	derived->memo.block_batch = blocks;
}

void
derived_begin(DerivedColumn *derived, size_t memo_limit, size_t numbers_limit)
{
	derived->memory = CurrentMemoryContext;
	memset(&derived->batch, 0, sizeof(derived->batch));
	memset(&derived->packed, 0, sizeof(derived->packed));
	begin_memo(derived, memo_limit);
	if (derived_has_numbers(derived))
		dictionary_begin(derived->domain.dictionary, numbers_limit);
	if (derived->computed)
		computed_begin(derived->computed);
	derived->equal.zeros.met = derived->equal.nans.met = false;
	enum_labels_init(&derived->labels, derived->labels.type, CurrentMemoryContext);
	if (derived->row.econtext)
		row_expression_begin(&derived->row);
}

/* --- a value */

/*
 * Returns the rank of a label that is in rows of the table.  Raises an error for a label that is
 * new: the rows' labels were all there before the query's snapshot.
 */
static int
rank_of(DerivedColumn *derived, Oid label)
{
	bool		added;
	int			rank = enum_label_rank(&derived->labels, label, &added);

	if (added)
		elog(ERROR, "label %u was added to type %u after the rows that have it", label,
			 derived->labels.type);
	return rank;
}

/* Computes what a row of the base columns becomes, as the batch is to hold it. */
static DerivedState
derive(DerivedColumn *derived, const ColumnBatch *batches, size_t i, int64 *value)
{
	MemoryContext old;
	Datum		datum;
	bool		isnull;

	*value = 0;
	if (derived->form == DERIVED_RANKS)
	{
		const ColumnBatch *base = &batches[derived->inputs[0].batch];

		if (base->nnulls > 0 && base->nulls[i])
			return STATE_NULL;
		*value = rank_of(derived, (Oid) (column_batch_value(base, i) +
										 column_kind_bias(COLUMN_KIND_ENUM)));
		return STATE_VALUE;
	}
	if (derived->form == DERIVED_PLACES)
	{
		const bool *nulls;
		const Datum *key = row_expressions_values(&derived->row, batches, i, &nulls);
		int32		place;

		/* Hash and equality functions leave memory behind. */
		old = MemoryContextSwitchTo(derived->row.econtext->ecxt_per_tuple_memory);
		place = lookup_find(derived->lookup, key, nulls);
		MemoryContextSwitchTo(old);
		*value = place < 0 ? lookup_part_wanted(place) : place;
		return place < 0 ? STATE_NULL : STATE_VALUE;
	}
	datum = row_expression_value(&derived->row, batches, i, &isnull);
	if (isnull)
		return STATE_NULL;
	if (derived->domain.kind == COLUMN_KIND_NUMERIC)
		*value = numeric_unit_value(derived->domain.unit, DatumGetPointer(datum));
	else if (derived->form == DERIVED_VALUES)
		*value = column_value(derived->domain.kind, datum) - column_kind_bias(derived->domain.kind);
	else if (derived_has_numbers(derived))
		*value = dictionary_number(derived->domain.dictionary, datum);
	return STATE_VALUE;
}

/* --- rows */

/* Whether a result is the number of a refused value, which means nothing in the next batch. */
static bool
is_refused(const DerivedColumn *derived, int64 value)
{
	return value < 0 && derived_has_numbers(derived);
}

/*
 * Evaluates a row, whose key (its value, or its block) is STATE_UNKNOWN or STATE_VARIES in the
 * memo: *entry, which is its state from now on.
 */
static DerivedState
derive_row(DerivedColumn *derived, const ColumnBatch *batches, size_t i, int64 key, uint8 *entry,
		   int64 *result)
{
	DerivedState state = derive(derived, batches, i, result);

	derived->memo.computed++;
	if (is_refused(derived, *result))
		return state;
	if (*entry == STATE_UNKNOWN && (!derived->memo.by_blocks ||
									expression_block_is_known(&derived->blocks, key)))
		*entry = (uint8) state;
	else
	{
		*entry = STATE_VARIES;
		derived->memo.varied++;
	}
	return state;
}

/* Returns what NULL, which row i has, becomes: unless refused it is computed once. */
static DerivedState
derive_null(DerivedColumn *derived, const ColumnBatch *batches, size_t i, int64 *value)
{
	MemoEntry  *null = &derived->memo.null;

	if (null->state == STATE_UNKNOWN || is_refused(derived, null->value))
		null->state = derive(derived, batches, i, &null->value);
	*value = null->value;
	return (DerivedState) null->state;
}

/* --- a batch */

/* Takes the rows out of a batch; makes it, in the memory of the execution, the first time. */
static void
begin_batch(DerivedColumn *derived, ColumnBatch *batch, int arrays)
{
	if (batch->room == 0)
	{
		MemoryContext old = MemoryContextSwitchTo(derived->memory);

		column_batch_make(batch, arrays, COLUMN_BATCH_KEYS);
		MemoryContextSwitchTo(old);
	}
	column_batch_empty(batch);
}

/*
 * Widens a range by the keys of a batch; of a base column that has numbers, or places, by all of
 * these.
 */
static void
add_range(const DerivedColumn *derived, const ColumnBatch *keys, KeyRange *range)
{
	const Dictionary *dictionary = derived->inputs[0].domain.dictionary;
	const Lookup *lookup = derived->inputs[0].lookup;
	int64		n;

	if (dictionary == NULL && lookup == NULL)
	{
		field_range_add_batch(range, keys);
		return;
	}
	n = lookup ? lookup_size(lookup) : (int64) dictionary_size(dictionary);
	if (n > 0)
	{
		key_range_put(range, field_image(0));
		key_range_put(range, field_image(n - 1));
	}
}

/* The blocks of the rows of base, in place of their values. */
static const ColumnBatch *
find_blocks(DerivedColumn *derived, const ColumnBatch *base)
{
	ColumnBatch *batch = &derived->memo.block_batch;

	begin_batch(derived, batch, BATCH_WIDE);
	batch->nulls = base->nulls;
	expression_blocks_find(&derived->blocks, base, column_batch_space(batch, base->n).wide);
	column_batch_add(batch, base->n, (size_t) base->nnulls);
	return batch;
}

/* The marks of the rows that a filter refuses; NULL if it refuses none. */
static const uint8 *
refused_rows(const DerivedColumn *derived, const ColumnBatch *batches)
{
	if (derived->filter < 0 || batches[derived->filter].nnulls == 0)
		return NULL;
	return batches[derived->filter].nulls;
}

/*
 * Fills the batch by the memo.  keys are the values of the base column, or their blocks; of a value
 * that its dictionary refuses nothing is kept.  By the array, which has room for the keys of all
 * rows; or else by the hash table.  by_array, narrow_keys and narrow are constants, so that the
 * compiler makes a loop for each case.
 */
static pg_attribute_always_inline void
fill_batch(DerivedColumn *derived, const ColumnBatch *batches, const ColumnBatch *keys,
		   bool by_array, bool narrow_keys, bool narrow)
{
	const ColumnBatch *base = &batches[derived->inputs[0].batch];
	const uint8 *refused = refused_rows(derived, batches);
	BatchSpace	space = column_batch_space(&derived->batch, base->n);
	const Dictionary *dictionary = derived->inputs[0].domain.dictionary;
	bool		nulls = base->nnulls > 0;
	bool		unnumbered = dictionary && dictionary_nrefused(dictionary) > 0;
	int64		lo = field_value(derived->memo.range.lo);
	int64	   *values = derived->memo.values;
	uint8	   *states = derived->memo.states;
	MemoEntry  *entry = NULL;
	size_t		nnulls = 0;

	for (size_t i = 0; i < base->n; i++)
	{
		int64		key = narrow_keys ? keys->keys[i] : keys->wide[i];
		DerivedState state;
		int64		value;

		if (refused && refused[i])
		{
			state = STATE_NULL;
			value = 0;
		}
		else if (nulls && base->nulls[i])
			state = derive_null(derived, batches, i, &value);
		else if (unnumbered && key < 0)
			state = derive(derived, batches, i, &value);
		else
		{
			size_t		place = (size_t) ((uint64) key - (uint64) lo);
			uint8	   *known;
			int64	   *result;

			/* Rows that came together often have one value. */
			if (!by_array && (entry == NULL || entry->key != key))
				entry = derived_memo_find(&derived->memo, key);
			known = by_array ? &states[place] : &entry->state;
			result = by_array ? &values[place] : &entry->value;
			state = (DerivedState) *known;
			if (unlikely(state == STATE_UNKNOWN || state == STATE_VARIES))
				state = derive_row(derived, batches, i, key, known, result);
			value = *result;
		}
		if (narrow)
			space.keys[i] = (int32) value;
		else
			space.wide[i] = value;
		space.nulls[i] = STATE_MARK(state);
		nnulls += state == STATE_NULL;
	}
	column_batch_add(&derived->batch, base->n, nnulls);
}

/*
 * Does what fill_batch() does, by the array, for narrow keys that are all known, with narrow values
 * that are not NULL.  Returns false, having added nothing, if one is not.
 */
static bool
fill_known(DerivedColumn *derived, const ColumnBatch *batches, const ColumnBatch *keys)
{
	const Dictionary *dictionary = derived->inputs[0].domain.dictionary;
	const int32 *places = keys->keys;
	int64		lo = field_value(derived->memo.range.lo);
	const int64 *values = derived->memo.values;
	const uint8 *states = derived->memo.states;
	BatchSpace	space = column_batch_space(&derived->batch, keys->n);
	size_t		n = keys->n;
	unsigned	others = 0;

	if (keys->nnulls > 0 || refused_rows(derived, batches) ||
		(dictionary && dictionary_nrefused(dictionary) > 0))
		return false;
	for (size_t i = 0; i < n; i++)
	{
		size_t		place = (size_t) (places[i] - lo);

		space.keys[i] = (int32) values[place];
		others |= states[place] ^ STATE_VALUE;
	}
	if (others != 0)
		return false;
	memset(space.nulls, 0, n);
	column_batch_add(&derived->batch, n, 0);
	return true;
}

/* Whether a batch has values for which another may stand. */
static bool
has_equal_floats(const EqualFloats *floats, const ColumnBatch *batch)
{
	int64		zero = floats->zeros.least;
	int64		nan = floats->nans.least;
	bool		any = false;

	for (size_t i = 0; i < batch->n; i++)
	{
		int64		value = column_batch_value(batch, i);

		any |= value == zero || value == zero + 1 || value >= nan;
	}
	return any;
}

/* Sets *value to the integer that stands for it, if it is in this range. */
static inline void
find_equal(EqualRange *range, int64 *value)
{
	if (*value < range->least || *value > range->most)
		return;
	if (!range->met)
		range->first = *value;
	range->met = true;
	*value = range->first;
}

/* Appends the rows of a batch to another one, equal floats as one integer. */
static void
append_equal_floats(EqualFloats *floats, const ColumnBatch *from, ColumnBatch *batch)
{
	BatchSpace	space = column_batch_space(batch, from->n);

	for (size_t i = 0; i < from->n; i++)
	{
		int64		value = column_batch_value(from, i);

		find_equal(&floats->zeros, &value);
		find_equal(&floats->nans, &value);
		batch_space_set(&space, i, value);
		space.nulls[i] = from->nnulls > 0 && from->nulls[i];
	}
	column_batch_add(batch, from->n, (size_t) from->nnulls);
}

/* Returns the batch of DERIVED_EQUAL, which is base itself where no value has to be replaced. */
static const ColumnBatch *
equal_batch(DerivedColumn *derived, const ColumnBatch *base)
{
	if (!has_equal_floats(&derived->equal, base))
		return base;
	begin_batch(derived, &derived->batch, BATCH_NULLS | (base->keys ? BATCH_KEYS : BATCH_WIDE));
	append_equal_floats(&derived->equal, base, &derived->batch);
	return &derived->batch;
}

/* Fills the batch by evaluating the expression for each row. */
static void
evaluate_batch(DerivedColumn *derived, const ColumnBatch *batches)
{
	size_t		n = batches[derived->inputs[0].batch].n;
	const uint8 *refused = refused_rows(derived, batches);
	BatchSpace	space = column_batch_space(&derived->batch, n);
	size_t		nnulls = 0;

	for (size_t i = 0; i < n; i++)
	{
		DerivedState state = STATE_NULL;
		int64		value = 0;

		if (refused == NULL || !refused[i])
			state = derive(derived, batches, i, &value);
		batch_space_set(&space, i, value);
		space.nulls[i] = STATE_MARK(state);
		nnulls += state == STATE_NULL;
	}
	column_batch_add(&derived->batch, n, nnulls);
}

/* Fills the batch with the places of integers. */
static void
find_places(DerivedColumn *derived, const ColumnBatch *batches)
{
	const ColumnBatch *keys = &batches[derived->inputs[0].batch];
	BatchSpace	space = column_batch_space(&derived->batch, keys->n);
	const ColumnBatch *columns[INDEX_MAX_KEYS];

	if (derived->ninputs > 1)
	{
		for (int i = 0; i < derived->ninputs; i++)
			columns[i] = &batches[derived->inputs[i].batch];
		begin_batch(derived, &derived->packed, BATCH_NULLS | BATCH_WIDE);
		lookup_pack(derived->lookup, columns, &derived->packed);
		keys = &derived->packed;
	}
	column_batch_add(&derived->batch, keys->n,
					 lookup_find_integers(derived->lookup, keys, space.keys, space.nulls));
}

const ColumnBatch *
derived_batch(DerivedColumn *derived, const ColumnBatch *batches)
{
	const ColumnBatch *base = &batches[derived->inputs[0].batch];
	const ColumnBatch *keys = base;
	ColumnBatch *batch = &derived->batch;
	DerivedMemo *memo = &derived->memo;

	CHECK_FOR_INTERRUPTS();
	if (derived->form == DERIVED_EQUAL)
		return equal_batch(derived, base);
	begin_batch(derived, batch, BATCH_NULLS |
				(column_kind_is_wide(derived->domain.kind) ? BATCH_WIDE : BATCH_KEYS));
	if (derived->computed)
	{
		computed_fill(derived->computed, batches, refused_rows(derived, batches), batch);
		return batch;
	}
	if (derived->looked_up)
	{
		lookup_read(derived->inputs[0].lookup, derived->inputs[0].lookup_column,
					derived->domain.kind, base, refused_rows(derived, batches), batch);
		return batch;
	}
	if (derived_finds_integers(derived))
	{
		find_places(derived, batches);
		return batch;
	}
	memo->rows += base->n;
	if (!memo->given_up && memo->by_blocks)
		keys = find_blocks(derived, base);
	if (!memo->given_up && memo->hash == NULL)
	{
		KeyRange	range = EMPTY_KEY_RANGE;

		add_range(derived, keys, &range);
		if (!key_range_is_empty(&range) &&
			(range.lo < memo->range.lo || range.hi > memo->range.hi))
			derived_memo_make_room(memo, derived->memory, &range,
								   field_limits(derived->inputs[0].domain.kind),
								   derived->inputs[0].lookup != NULL, derived->arithmetic);
	}
	if (memo->given_up)
		evaluate_batch(derived, batches);
	else if (memo->hash)
		fill_batch(derived, batches, keys, false, keys->keys != NULL, batch->keys != NULL);
	else if (keys->keys && batch->keys)
	{
		if (!fill_known(derived, batches, keys))
			fill_batch(derived, batches, keys, true, true, true);
	}
	else if (keys->keys)
		fill_batch(derived, batches, keys, true, true, false);
	else
		batch->keys ? fill_batch(derived, batches, keys, true, false, true) :
			fill_batch(derived, batches, keys, true, false, false);
	if (!memo->given_up && derived->inputs[0].lookup == NULL)
		derived_memo_review(memo);
	return batch;
}

void
derived_forget(DerivedColumn *derived)
{
	derived_memo_give_up(&derived->memo);
}

int
derived_outsized(const DerivedColumn *derived, const OutsizedValue **values)
{
	return derived->computed ? computed_outsized(derived->computed, values) : 0;
}

/* --- between processes */

int64
derived_serialize(const DerivedColumn *derived, int64 value)
{
	if (derived->form != DERIVED_RANKS)
		return value;
	return (int64) enum_label_at(&derived->labels, (int) value);
}

int64
derived_deserialize(DerivedColumn *derived, int64 serialized)
{
	if (derived->form != DERIVED_RANKS)
		return serialized;
	return rank_of(derived, (Oid) serialized);
}
