/*
 * derived.c
 *		Columns derived from other columns (see derived.h).
 *
 * The memo of a narrow range of values is an array of what each of them becomes, of
 * others a hash table, which is emptied when it is full.  Where the expression takes neighbouring
 * values for the same (values/expression_blocks.h), the memo is of their blocks, unless most rows
 * are in blocks of which nothing is known.  A memo in which most values are not found would only
 * grow: it is given up, and each row is evaluated.  Arithmetic takes no longer than a look-up in a
 * hash table, and has the array only.
 *
 * Values of types that are not read as integers are numbered in the order in which
 * they appear, by the type's own equality, and kept.  From the first value on for which there
 * is no room, no value gets a number any more, so that equal values are either all
 * numbered or all refused.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/read/derived.h"
#include "pg/nodes/aggregate/read/fields.h"
#include "pg/nodes/aggregate/read/memo_hash.h"
#include "pg/values/values.h"

/* What a value of the base column becomes. */
typedef enum DerivedState
{
	STATE_UNKNOWN = 0,			/* not computed yet */
	STATE_VALUE,
	STATE_NULL,
	STATE_REFUSED,				/* there is no room for its number; the value's hash */
	STATE_VARIES				/* of a block: its values may become different ones */
} DerivedState;

/* A state as a batch has it beside the value: 0, 1 or DERIVED_REFUSED. */
#define STATE_MARK(state) ((uint8) ((state) - STATE_VALUE))

StaticAssertDecl(STATE_MARK(STATE_NULL) == 1 && STATE_MARK(STATE_REFUSED) == DERIVED_REFUSED,
				 "marks of a batch are states");

/* Bytes of the hash table for an entry, while the table grows. */
#define MEMO_ENTRY_BYTES (3 * sizeof(MemoEntry))

/*
 * An array is made of a range that has at most so many values more than rows have been
 * seen, each row counted that often: small tables are not worth a large array.
 */
#define ARRAY_LEAST_VALUES 1024
#define ARRAY_VALUES_PER_ROW 32

/*
 * The memo is given up if of so many rows more than half had values that were not in it, after so
 * many of them have been put into it, or it has been emptied.  Before that it is in the CPU's
 * caches, and costs little.
 */
#define TRIAL_ROWS 65536
#define TRIAL_VALUES 131072

/* Values for which there is room at first. */
#define FIRST_NUMBERS 64

typedef struct NumberEntry
{
	uint32		number;
	uint32		hash;
	char		status;
} NumberEntry;

/* Stands for the value that is looked for. */
#define NUMBER_WANTED PG_UINT32_MAX

static bool number_is_wanted(DerivedColumn *derived, uint32 number);

#define SH_PREFIX numbers
#define SH_ELEMENT_TYPE NumberEntry
#define SH_KEY_TYPE uint32
#define SH_KEY number
#define SH_HASH_KEY(tb, key) 0	/* never called: the hash value is given or stored */
#define SH_EQUAL(tb, a, b) number_is_wanted((tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct DerivedColumn
{
	const Expr *expression;
	DerivedForm form;
	int			base;			/* index of the base column's batch */
	ColumnKind	base_kind;
	ColumnKind	kind;

	/* evaluating, unless the form is DERIVED_RANKS */
	ExprContext *econtext;
	TupleTableSlot *slot;		/* of the base column's value */
	ExprState  *state;
	bool		arithmetic;
	int16		typlen;
	bool		typbyval;
	Oid			collation;
	FmgrInfo   *hash_function;	/* of DERIVED_NUMBERS, as what follows */
	FmgrInfo   *equal_function;

	/* --- of an execution */
	MemoryContext memory;
	size_t		memory_limit;
	uint64		rows;			/* of all batches */
	ColumnBatch batch;

	/* the memo, of values or of blocks of them */
	ExpressionBlocks blocks;
	bool		by_blocks;
	ColumnBatch block_batch;	/* of the rows, in place of their values */
	KeyRange	range;			/* of the array */
	int64	   *values;			/* by distance from its start */
	uint8	   *states;
	memo_hash  *memo;			/* NULL: the array is used */
	MemoEntry	null;			/* what NULL becomes */
	bool		given_up;		/* nothing is looked up */
	bool		emptied;
	uint64		varied;			/* rows in blocks of which nothing is known */
	uint64		computed;		/* values that were not in the memo */
	uint64		trial_rows;		/* rows and such values when the memo was last looked at */
	uint64		trial_computed;

	/* of DERIVED_NUMBERS */
	MemoryContext numbers_memory;
	size_t		numbers_limit;
	numbers_hash *hash;
	Datum	   *numbered;		/* values, by number */
	size_t		nnumbered;
	size_t		room;
	bool		full;			/* no value gets a number any more */
	int			nrefused;		/* rows of the batch */
	Datum		wanted;

	EnumLabels	labels;			/* of DERIVED_RANKS */
};

/* --- describing */

/* In place of the column, whichever its number, the only column of a slot. */
static Node *
replace_column(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *column = copyObject((Var *) node);

		column->varno = INNER_VAR;
		column->varattno = 1;
		return (Node *) column;
	}
	return expression_tree_mutator(node, replace_column, context);
}

/* Prepares the evaluation of the expression of a column. */
static void
prepare_expression(DerivedColumn *derived, PlanState *parent, const Var *column)
{
	TupleDesc	desc = CreateTemplateTupleDesc(1);
	Node	   *expression;

	TupleDescInitEntry(desc, 1, NULL, column->vartype, column->vartypmod, 0);
	TupleDescInitEntryCollation(desc, 1, column->varcollid);
	TupleDescFinalize(desc);
	derived->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	derived->econtext = CreateExprContext(parent->state);
	derived->econtext->ecxt_innertuple = derived->slot;
	expression = replace_column((Node *) derived->expression, NULL);
	derived->state = ExecInitExpr((Expr *) expression, parent);
	get_typlenbyval(exprType(expression), &derived->typlen, &derived->typbyval);
}

DerivedColumn *
derived_make(PlanState *parent, Expr *expression, DerivedForm form, int base)
{
	DerivedColumn *derived = palloc0_object(DerivedColumn);
	Oid			type = exprType((Node *) expression);
	const Var  *column = linitial(pull_var_clause((Node *) expression, 0));

	derived->expression = expression;
	derived->form = form;
	derived->base = base;
	derived->base_kind = column_kind(column->vartype);
	derived->kind = form == DERIVED_VALUES ? column_kind(type) : COLUMN_KIND_INT4;
	derived->collation = exprCollation((Node *) expression);
	if (form == DERIVED_RANKS)
		derived->labels.type = getBaseType(column->vartype);
	else
	{
		prepare_expression(derived, parent, column);
		derived->blocks = expression_blocks((Node *) expression);
		derived->arithmetic = form == DERIVED_VALUES &&
			expression_is_arithmetic((Node *) expression);
	}
	if (form == DERIVED_NUMBERS)
	{
		TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
		RegProcedure hash;
		RegProcedure unused;

		if (!get_op_hash_functions(entry->eq_opr, &hash, &unused))
			elog(ERROR, "type %u has no hash function", type);
		derived->hash_function = palloc_object(FmgrInfo);
		derived->equal_function = palloc_object(FmgrInfo);
		fmgr_info(hash, derived->hash_function);
		fmgr_info(get_opcode(entry->eq_opr), derived->equal_function);
	}
	return derived;
}

bool
derived_is(const DerivedColumn *derived, const Expr *expression, DerivedForm form)
{
	return derived->form == form && equal(derived->expression, expression);
}

bool
derived_has_numbers(const DerivedColumn *derived)
{
	return derived->form == DERIVED_NUMBERS;
}

ColumnKind
derived_kind(const DerivedColumn *derived)
{
	return derived->kind;
}

EnumLabels *
derived_labels(DerivedColumn *derived)
{
	return &derived->labels;
}

void
derived_begin(DerivedColumn *derived, size_t memo_limit, size_t numbers_limit)
{
	derived->memory = CurrentMemoryContext;
	derived->memory_limit = memo_limit;
	derived->rows = 0;
	memset(&derived->batch, 0, sizeof(derived->batch));
	derived->range = EMPTY_KEY_RANGE;
	derived->values = NULL;
	derived->memo = NULL;
	derived->null.state = STATE_UNKNOWN;
	derived->by_blocks = derived->blocks.kind != BLOCKS_NONE;
	derived->given_up = derived->emptied = false;
	derived->varied = derived->computed = derived->trial_rows = derived->trial_computed = 0;
	memset(&derived->block_batch, 0, sizeof(derived->block_batch));
	derived->numbers_limit = numbers_limit;
	derived->hash = NULL;
	derived->numbered = NULL;
	derived->nnumbered = derived->room = 0;
	derived->full = false;
	/* Small blocks: what has been allocated is what is used. */
	if (derived->form == DERIVED_NUMBERS)
		derived->numbers_memory = AllocSetContextCreate(CurrentMemoryContext,
														"HpSort Aggregate values",
														0, 1024, 32 * 1024);
	enum_labels_init(&derived->labels, derived->labels.type, CurrentMemoryContext);
	if (derived->econtext)
		ResetExprContext(derived->econtext);
}

/* --- a value */

/* The expression's value of a value of the base column, in the context's memory by tuple. */
static Datum
evaluate(DerivedColumn *derived, int64 base, bool base_null, bool *isnull)
{
	TupleTableSlot *slot = derived->slot;
	Datum		value;

	ExecClearTuple(slot);
	slot->tts_isnull[0] = base_null;
	slot->tts_values[0] = base_null ? (Datum) 0 :
		column_datum(derived->base_kind, base + column_kind_bias(derived->base_kind));
	ExecStoreVirtualTuple(slot);
	value = ExecEvalExprSwitchContext(derived->state, derived->econtext, isnull);
	if (*isnull)
		return (Datum) 0;
	return MakeExpandedObjectReadOnly(value, false, derived->typlen);
}

/* For the hash table: whether a number's value is equal to the one that is looked for. */
static bool
number_is_wanted(DerivedColumn *derived, uint32 number)
{
	return DatumGetBool(FunctionCall2Coll(derived->equal_function, derived->collation,
										  derived->numbered[number], derived->wanted));
}

/* Whether there is memory for another value, a new one. */
static bool
has_room(const DerivedColumn *derived, Datum value)
{
	Size		more = derived->typbyval ? 0 : datumGetSize(value, false, derived->typlen);
	Size		held = MemoryContextMemAllocated(derived->numbers_memory, false);

	/* One at least, however large: each pass has to get on. */
	if (derived->nnumbered == 0)
		return true;
	/* What grows is beside what it was for a moment. */
	if (derived->nnumbered == derived->room)
		more += 2 * derived->room * sizeof(Datum);
	if (derived->hash->members >= derived->hash->grow_threshold)
		more += 2 * derived->hash->size * sizeof(NumberEntry);
	return derived->nnumbered < PG_INT32_MAX && held + more <= derived->numbers_limit;
}

/* Numbers a value that is new. */
static uint32
number_value(DerivedColumn *derived, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(derived->numbers_memory);

	if (derived->nnumbered == derived->room)
	{
		derived->room = Max(FIRST_NUMBERS, 2 * derived->room);
		derived->numbered = derived->numbered ?
			repalloc_huge(derived->numbered, derived->room * sizeof(Datum)) :
			palloc_array(Datum, derived->room);
	}
	derived->numbered[derived->nnumbered] = datumCopy(value, derived->typbyval, derived->typlen);
	MemoryContextSwitchTo(old);
	return (uint32) derived->nnumbered++;
}

/* The number of a value, or else its hash. */
static DerivedState
find_number(DerivedColumn *derived, Datum value, int64 *result)
{
	NumberEntry *entry;
	uint32		hash = DatumGetUInt32(FunctionCall1Coll(derived->hash_function, derived->collation,
														value));

	if (derived->hash == NULL)
		derived->hash = numbers_create(derived->numbers_memory, FIRST_NUMBERS, derived);
	derived->wanted = value;
	entry = numbers_lookup_hash(derived->hash, NUMBER_WANTED, hash);
	if (entry == NULL)
	{
		bool		found;

		if (derived->full || !has_room(derived, value))
		{
			derived->full = true;
			*result = (int32) hash;
			return STATE_REFUSED;
		}
		entry = numbers_insert_hash(derived->hash, NUMBER_WANTED, hash, &found);
		entry->hash = hash;
		entry->number = number_value(derived, value);
	}
	*result = entry->number;
	return STATE_VALUE;
}

/*
 * The rank of a label that is in rows of the table: all of them were there before the query's
 * snapshot.
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

/* What a value of the base column becomes, as the batch is to hold it. */
static DerivedState
derive(DerivedColumn *derived, int64 base, bool base_null, int64 *value)
{
	MemoryContext old;
	Datum		datum;
	bool		isnull;

	*value = 0;
	if (derived->form == DERIVED_RANKS)
	{
		if (base_null)
			return STATE_NULL;
		*value = rank_of(derived, (Oid) (base + column_kind_bias(derived->base_kind)));
		return STATE_VALUE;
	}
	ResetExprContext(derived->econtext);
	datum = evaluate(derived, base, base_null, &isnull);
	if (isnull)
		return STATE_NULL;
	if (derived->form == DERIVED_VALUES)
		*value = column_value(derived->kind, datum) - column_kind_bias(derived->kind);
	else
	{
		DerivedState state;

		/* Hash and equality functions leave memory behind. */
		old = MemoryContextSwitchTo(derived->econtext->ecxt_per_tuple_memory);
		state = find_number(derived, datum, value);
		MemoryContextSwitchTo(old);
		return state;
	}
	return STATE_VALUE;
}

/* --- the memo */

static void
free_memo(DerivedColumn *derived)
{
	if (derived->memo)
		memo_destroy(derived->memo);
	else if (derived->values)
	{
		pfree(derived->values);
		pfree(derived->states);
	}
	derived->memo = NULL;
	derived->values = NULL;
	derived->range = EMPTY_KEY_RANGE;
}

/* Has an array for the range, or else the hash table. */
static void
make_room(DerivedColumn *derived, const KeyRange *range)
{
	MemoryContext old = MemoryContextSwitchTo(derived->memory);
	KeyRange	before = derived->range;
	KeyRange	wider = before;
	uint64		most = derived->memory_limit / (sizeof(int64) + sizeof(uint8));
	uint64		nbefore = key_range_images(&before);
	uint64		n;

	most = Min(most, ARRAY_LEAST_VALUES + ARRAY_VALUES_PER_ROW * derived->rows);
	key_range_add(&wider, range);
	n = key_range_images(&wider);
	/* What was there is beside it for a moment. */
	if (n > 0 && n <= most && nbefore <= most - n)
	{
		int64	   *values;
		uint8	   *states;

		/* A column that has grown once may go on growing. */
		if (nbefore > 0)
			key_range_extend(&wider, &before, field_limits(derived->base_kind),
							 Min(n, most - n - nbefore));
		n = key_range_images(&wider);
		values = MemoryContextAllocHuge(derived->memory, n * sizeof(int64));
		states = MemoryContextAllocExtended(derived->memory, n, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		if (nbefore > 0)
		{
			memcpy(values + (before.lo - wider.lo), derived->values, nbefore * sizeof(int64));
			memcpy(states + (before.lo - wider.lo), derived->states, nbefore);
			pfree(derived->values);
			pfree(derived->states);
		}
		derived->values = values;
		derived->states = states;
		derived->range = wider;
	}
	else
	{
		free_memo(derived);
		derived->given_up = derived->arithmetic;
		derived->memo = derived->given_up ? NULL : memo_create(derived->memory, 256, NULL);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Has a memo of values in place of one of blocks that are not known, and gives it up if it grows,
 * and is of no use.
 */
static void
look_at_memo(DerivedColumn *derived)
{
	uint64		rows = derived->rows - derived->trial_rows;

	if (derived->by_blocks && derived->varied > derived->rows / 2)
	{
		free_memo(derived);
		derived->by_blocks = false;
	}
	else if (rows < TRIAL_ROWS)
		return;
	else if (derived->computed - derived->trial_computed > rows / 2 &&
			 (derived->computed >= TRIAL_VALUES || derived->emptied))
	{
		free_memo(derived);
		derived->given_up = true;
	}
	derived->trial_rows = derived->rows;
	derived->trial_computed = derived->computed;
}

/*
 * What a row becomes where the memo does not say it, having nothing or STATE_VARIES of the row's
 * key, which is the row's value, or its block.  *entry is what the memo is to have from now on.
 */
static DerivedState
derive_row(DerivedColumn *derived, int64 value, int64 key, DerivedState before,
		   DerivedState *entry, int64 *result)
{
	DerivedState state;

	derived->computed++;
	state = derive(derived, value, false, result);
	if (before == STATE_UNKNOWN && (!derived->by_blocks ||
									expression_block_is_known(&derived->blocks, key)))
		*entry = state;
	else
	{
		*entry = STATE_VARIES;
		derived->varied++;
	}
	return state;
}

/*
 * What a row that is not NULL becomes, by the hash table; *entry is what the table has of its key.
 */
static DerivedState
look_up(DerivedColumn *derived, int64 value, int64 key, DerivedState *state, int64 *result)
{
	MemoEntry  *entry = memo_lookup(derived->memo, key);
	DerivedState before = entry ? (DerivedState) entry->state : STATE_UNKNOWN;
	DerivedState row_state;
	bool		found;

	*state = before;
	if (before != STATE_UNKNOWN && before != STATE_VARIES)
	{
		*result = entry->value;
		return before;
	}
	/* The entry is made afterwards: an expression may fail. */
	row_state = derive_row(derived, value, key, before, state, result);
	if (before == STATE_UNKNOWN)
	{
		if (derived->memo->members >= derived->memory_limit / MEMO_ENTRY_BYTES)
		{
			memo_reset(derived->memo);
			derived->emptied = true;
		}
		entry = memo_insert(derived->memo, key, &found);
		entry->value = *result;
		entry->state = *state;
	}
	return row_state;
}

static DerivedState
derive_null(DerivedColumn *derived, int64 *value)
{
	if (derived->null.state == STATE_UNKNOWN)
		derived->null.state = derive(derived, 0, true, &derived->null.value);
	*value = derived->null.value;
	return (DerivedState) derived->null.state;
}

/* --- a batch */

/* Makes a batch in the memory of the execution. */
static void
make_batch(DerivedColumn *derived, ColumnBatch *batch, int arrays)
{
	MemoryContext old = MemoryContextSwitchTo(derived->memory);

	column_batch_make(batch, arrays, COLUMN_BATCH_KEYS);
	MemoryContextSwitchTo(old);
}

/* The blocks of the rows of base, in place of their values. */
static const ColumnBatch *
find_blocks(DerivedColumn *derived, const ColumnBatch *base)
{
	ColumnBatch *batch = &derived->block_batch;

	if (batch->wide == NULL)
		make_batch(derived, batch, BATCH_WIDE);
	batch->n = 0;
	batch->nnulls = 0;
	batch->nulls = base->nulls;
	expression_blocks_find(&derived->blocks, base, column_batch_space(batch, base->n).wide);
	column_batch_add(batch, base->n, (size_t) base->nnulls);
	return batch;
}

/*
 * Fills the batch by the array, which has room for the keys of all rows, which are the values of
 * base, or their blocks.  narrow_keys and narrow are constants, so that the compiler makes a loop
 * for each case.
 */
static pg_attribute_always_inline void
fill_by_array(DerivedColumn *derived, const ColumnBatch *base, const ColumnBatch *keys,
			  bool narrow_keys, bool narrow)
{
	BatchSpace	space = column_batch_space(&derived->batch, base->n);
	bool		nulls = base->nnulls > 0;
	int64		lo = field_value(derived->range.lo);
	int64	   *values = derived->values;
	uint8	   *states = derived->states;
	size_t		nnulls = 0;
	int			nrefused = 0;
	size_t		i;

	for (i = 0; i < base->n; i++)
	{
		DerivedState state;
		int64		value;

		if (nulls && base->nulls[i])
			state = derive_null(derived, &value);
		else
		{
			int64		key = narrow_keys ? keys->keys[i] : keys->wide[i];
			uint64		place = (uint64) key - (uint64) lo;

			state = (DerivedState) states[place];
			value = values[place];
			if (unlikely(state == STATE_UNKNOWN || state == STATE_VARIES))
			{
				DerivedState entry;

				state = derive_row(derived, column_batch_value(base, i), key, state, &entry,
								   &value);
				values[place] = value;
				states[place] = (uint8) entry;
			}
		}
		if (narrow)
			space.keys[i] = (int32) value;
		else
			space.wide[i] = value;
		space.nulls[i] = STATE_MARK(state);
		nnulls += state == STATE_NULL;
		nrefused += state == STATE_REFUSED;
	}
	column_batch_add(&derived->batch, base->n, nnulls);
	derived->nrefused = nrefused;
}

/* The same by the hash table, or, if the memo has been given up, by the expression. */
static void
fill_by_rows(DerivedColumn *derived, const ColumnBatch *base, const ColumnBatch *keys)
{
	BatchSpace	space = column_batch_space(&derived->batch, base->n);
	size_t		nnulls = 0;
	int64		last = 0;
	int64		last_value = 0;
	DerivedState last_state = STATE_UNKNOWN;
	size_t		i;

	for (i = 0; i < base->n; i++)
	{
		DerivedState state;
		int64		value;

		if (base->nulls[i])
			state = derive_null(derived, &value);
		else if (derived->given_up)
			state = derive(derived, column_batch_value(base, i), false, &value);
		else
		{
			int64		key = column_batch_value(keys, i);

			/* Rows that came together often have the same value. */
			if (key == last && last_state != STATE_UNKNOWN && last_state != STATE_VARIES)
			{
				state = last_state;
				value = last_value;
			}
			else
			{
				state = look_up(derived, column_batch_value(base, i), key, &last_state, &value);
				last_value = value;
				last = key;
			}
		}
		if (space.keys)
			space.keys[i] = (int32) value;
		else
			space.wide[i] = value;
		space.nulls[i] = STATE_MARK(state);
		nnulls += state == STATE_NULL;
		derived->nrefused += state == STATE_REFUSED;
	}
	column_batch_add(&derived->batch, base->n, nnulls);
}

const ColumnBatch *
derived_batch(DerivedColumn *derived, const ColumnBatch *batches)
{
	const ColumnBatch *base = &batches[derived->base];
	const ColumnBatch *keys = base;
	ColumnBatch *batch = &derived->batch;

	CHECK_FOR_INTERRUPTS();
	if (batch->nulls == NULL)
		make_batch(derived, batch, BATCH_NULLS | (column_kind_is_wide(derived->kind) ? BATCH_WIDE :
												  BATCH_KEYS));
	batch->n = 0;
	batch->nnulls = 0;
	derived->nrefused = 0;
	derived->rows += base->n;
	if (!derived->given_up && derived->by_blocks)
		keys = find_blocks(derived, base);
	if (!derived->given_up && derived->memo == NULL)
	{
		KeyRange	range = EMPTY_KEY_RANGE;

		field_range_add_batch(&range, keys);
		if (!key_range_is_empty(&range) &&
			(range.lo < derived->range.lo || range.hi > derived->range.hi))
			make_room(derived, &range);
	}
	if (derived->given_up || derived->memo)
		fill_by_rows(derived, base, keys);
	else if (keys->keys)
		batch->keys ? fill_by_array(derived, base, keys, true, true) :
			fill_by_array(derived, base, keys, true, false);
	else
		batch->keys ? fill_by_array(derived, base, keys, false, true) :
			fill_by_array(derived, base, keys, false, false);
	if (!derived->given_up)
		look_at_memo(derived);
	return batch;
}

int
derived_nrefused(const DerivedColumn *derived)
{
	return derived->nrefused;
}

/* --- reading */

Datum
derived_datum(DerivedColumn *derived, int64 value)
{
	switch (derived->form)
	{
		case DERIVED_RANKS:
			return ObjectIdGetDatum(enum_label_at(&derived->labels, (int) value));
		case DERIVED_NUMBERS:
			return derived->numbered[value];
		default:
			return column_datum(derived->kind, value + column_kind_bias(derived->kind));
	}
}

/* --- between processes */

int64
derived_tell(const DerivedColumn *derived, int64 value)
{
	Assert(derived->form != DERIVED_NUMBERS);
	if (derived->form == DERIVED_VALUES)
		return value;
	return (int64) enum_label_at(&derived->labels, (int) value);
}

int64
derived_hear(DerivedColumn *derived, int64 told)
{
	if (derived->form == DERIVED_VALUES)
		return told;
	return rank_of(derived, (Oid) told);
}
