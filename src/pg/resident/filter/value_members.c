/*
 * value_members.c
 *		Which values of a resident column a condition accepts (see value_members.h).
 *
 * Values are numbered as they were met, so that those of the extents read so far are the first
 * ones.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/resident/filter/value_members.h"

/* Values between looks for interrupts. */
#define VALUES_AT_ONCE 1024

struct ValueMembers
{
	MemoryContext memory;
	const TextCondition *texts;	/* or NULL: */
	ExprState  *clause;			/* with the value in slot */
	ExprContext *econtext;
	TupleTableSlot *slot;
	AttrNumber	attnum;			/* of the value */
	uint64		generation;		/* of the values */
	uint8	   *marks;
	Size		room;			/* in marks */
	uint32		n;				/* marks */
};

/*
 * Prepares a clause.  It has an ExprContext of its own, which is reset for each value while the
 * scan's is in use.
 */
static void
prepare_clause(ValueMembers *members, const ColumnScan *scan, const FilterCondition *condition)
{
	members->attnum = condition->attnum;
	members->econtext = CreateStandaloneExprContext();
	members->econtext->ecxt_param_list_info = scan->econtext->ecxt_param_list_info;
	members->econtext->ecxt_param_exec_vals = scan->econtext->ecxt_param_exec_vals;
	/* A copy of the descriptor is not counted. */
	members->slot = MakeTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(scan->rel)),
									   &TTSOpsVirtual);
	members->econtext->ecxt_scantuple = members->slot;
	members->clause = ExecInitQual(list_make1(unconstify(Expr *, condition->clause)), NULL);
}

ValueMembers *
value_members_make(const ColumnScan *scan, const FilterCondition *condition)
{
	ValueMembers *members = palloc0_object(ValueMembers);

	members->memory = CurrentMemoryContext;
	members->texts = condition->texts;
	if (condition->texts == NULL)
		prepare_clause(members, scan, condition);
	return members;
}

/* Whether the clause accepts a value. */
static bool
test_clause(ValueMembers *members, Datum value, bool isnull)
{
	TupleTableSlot *slot = members->slot;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_values[members->attnum - 1] = value;
	slot->tts_isnull[members->attnum - 1] = isnull;
	ExecStoreVirtualTuple(slot);
	ResetExprContext(members->econtext);
	return ExecQual(members->clause, members->econtext);
}

bool
value_members_have_null(ValueMembers *members)
{
	return members->texts == NULL && test_clause(members, (Datum) 0, true);
}

const uint8 *
value_members_look(ValueMembers *members, ColumnDictionary *dictionary, uint32 last)
{
	uint64		generation = column_dictionary_generation(dictionary);

	if (members->generation != generation)
		members->n = 0;
	members->generation = generation;
	if (last >= members->room)
	{
		Size		room = Max((Size) column_dictionary_size(dictionary), 2 * members->room);

		members->marks = members->marks ? repalloc_huge(members->marks, room) :
			MemoryContextAllocHuge(members->memory, room);
		members->room = room;
	}
	for (; members->n <= last; members->n++)
	{
		Datum		value;

		if (members->n % VALUES_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (!column_dictionary_value(dictionary, members->n, &value))
			return NULL;
		members->marks[members->n] = members->texts ?
			text_condition_test(members->texts, DatumGetPointer(value)) :
			test_clause(members, value, false);
	}
	return members->marks;
}
