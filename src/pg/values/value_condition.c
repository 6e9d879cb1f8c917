/*
 * value_condition.c
 *		Clauses of one column, evaluated once for each value (see value_condition.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/values/clause_values.h"
#include "pg/values/dictionary.h"
#include "pg/values/value.h"
#include "pg/values/value_condition.h"

/* Bytes of the values of which results are known, beside the node's memory. */
#define KNOWN_VALUES_MEMORY (128 * 1024)

/* What is known of a value. */
#define RESULT_UNKNOWN	0
#define RESULT_REFUSED	1
#define RESULT_ACCEPTED 2

struct ValueCondition
{
	ExprState  *state;			/* of the column of the outer slot */
	ExprContext *econtext;
	TupleTableSlot *slot;
	int16		typlen;			/* of values, as typbyval is */
	bool		typbyval;
	Dictionary *dictionary;
	uint8	   *results;		/* by number */
	size_t		room;			/* of results */
};

Var *
value_condition_column(const Expr *clause, const ExprContext *econtext)
{
	List	   *columns = pull_var_clause(unconstify(Node *, (const Node *) clause), 0);
	Var		   *first;
	ListCell   *lc;

	if (columns == NIL)
		return NULL;
	first = linitial_node(Var, columns);
	foreach(lc, columns)
	{
		if (lfirst_node(Var, lc)->varattno != first->varattno)
			return NULL;
	}
	return first->varattno > 0 &&
		column_value_kind(first->vartype, first->vartypmod) == COLUMN_KIND_NONE &&
		!clause_may_fail((const Node *) clause, econtext) &&
		!contain_volatile_functions(unconstify(Node *, (const Node *) clause)) ? first : NULL;
}

/* In place of the column, that of the outer slot. */
static Node *
replace_column(Node *node, void *context)
{
	Var		   *column;

	if (node == NULL || !IsA(node, Var))
		return node ? expression_tree_mutator(node, replace_column, context) : NULL;
	column = copyObject((Var *) node);
	column->varno = OUTER_VAR;
	column->varattno = 1;
	return (Node *) column;
}

/* Whether a value is accepted. */
static bool
evaluate(ValueCondition *condition, Datum value, bool isnull)
{
	bool		accepted;

	condition->slot->tts_values[0] = value;
	condition->slot->tts_isnull[0] = isnull;
	condition->econtext->ecxt_outertuple = condition->slot;
	ResetExprContext(condition->econtext);
	accepted = DatumGetBool(ExecEvalExprSwitchContext(condition->state, condition->econtext,
													  &isnull));
	return accepted && !isnull;
}

ValueCondition *
value_condition_make(const Expr *clause, const Var *column, PlanState *parent,
					 ExprContext *econtext, bool *nulls)
{
	ValueCondition *condition = palloc0_object(ValueCondition);
	TupleDesc	desc = CreateTemplateTupleDesc(1);
	Node	   *expression = unconstify(Node *, (const Node *) clause);

	TupleDescInitEntry(desc, 1, NULL, column->vartype, column->vartypmod, 0);
	TupleDescInitEntryCollation(desc, 1, column->varcollid);
	TupleDescFinalize(desc);
	condition->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(condition->slot);
	condition->state = ExecInitExpr((Expr *) replace_column(expression, NULL), parent);
	condition->econtext = econtext;
	get_typlenbyval(column->vartype, &condition->typlen, &condition->typbyval);
	condition->dictionary = dictionary_make_identical(column->vartype);
	dictionary_begin(condition->dictionary, KNOWN_VALUES_MEMORY);
	dictionary_may_give_up(condition->dictionary, true);
	*nulls = evaluate(condition, (Datum) 0, true);
	return condition;
}

/* Whether the value that has a number is accepted. */
static bool
is_accepted(ValueCondition *condition, uint32 number)
{
	if (number >= condition->room)
	{
		size_t		before = condition->room;

		condition->room = Max(number + 1, Max(2 * before, 256));
		condition->results = before ? repalloc(condition->results, condition->room) :
			MemoryContextAlloc(GetMemoryChunkContext(condition), condition->room);
		memset(condition->results + before, RESULT_UNKNOWN, condition->room - before);
	}
	if (condition->results[number] == RESULT_UNKNOWN)
		condition->results[number] =
			evaluate(condition, dictionary_value(condition->dictionary, number), false) ?
			RESULT_ACCEPTED : RESULT_REFUSED;
	return condition->results[number] == RESULT_ACCEPTED;
}

void
value_condition_test(ValueCondition *condition, const char *const *data, int offset, int n,
					 const char *null, const uint8 *skip, uint8 *passed)
{
	int32		numbers[MaxHeapTuplesPerPage];
	bool		numbered = !dictionary_is_given_up(condition->dictionary);
	int			i;

	if (numbered)
		dictionary_read(condition->dictionary, data, offset, n, null, numbers);
	for (i = 0; i < n; i++)
	{
		if (data[i] == null || (skip && skip[i]))
			passed[i] = false;
		else if (numbered && numbers[i] >= 0)
			passed[i] = is_accepted(condition, numbers[i]);
		else
			passed[i] = evaluate(condition, fetch_att(data[i] + offset, condition->typbyval,
													  condition->typlen), false);
	}
	if (numbered)
		dictionary_forget_refused(condition->dictionary);
}
