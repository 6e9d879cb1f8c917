/*
 * keys_query.c
 *		The keys of a query or of a table's column (see functions.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/nodeFuncs.h"
#include "tcop/cmdtag.h"
#include "tcop/dest.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/functions/functions.h"
#include "pg/values/values.h"

/* --- running */

/*
 * Receives the only row of the query and takes over its value, which SPI's own receiver would
 * copy.  Without the aggregate (version 1.0) it receives a row for each key.
 */
typedef struct KeysReceiver
{
	DestReceiver pub;			/* must come first */
	bool		aggregate;		/* the row is a state; if not, each row is a key */
	Oid			type;			/* base type of the keys */
	MemoryContext memory;		/* below which the state shall be */
	AggregateState *keys;
} KeysReceiver;

/*
 * DestReceiver.receiveSlot: takes over a state, or adds a key or a NULL.  Always true, for more
 * rows.  Without rows or with a NULL as the state, the keys stay empty.
 */
static bool
receiver_row(TupleTableSlot *slot, DestReceiver *self)
{
	KeysReceiver *receiver = (KeysReceiver *) self;
	AggregateState *keys = receiver->keys;
	bool		isnull;
	Datum		value = slot_getattr(slot, 1, &isnull);
	SortError	err;

	if (!receiver->aggregate && isnull)
		keys->nulls++;
	else if (!receiver->aggregate)
		pg_sort_check(sorter_add_key(&keys->sorter, column_key(receiver->type, value), &err),
					  &err);
	else if (!isnull)
		receiver->keys = state_object_take(value, receiver->memory);
	return true;
}

#define AGGREGATE "hpsort_support_keys_agg"

/*
 * Whether the function's schema has the aggregate, for a key and bounds of these types.  Version
 * 1.0 has none, and somebody else's function of that name must not be called: the aggregate and
 * the function have the same owner.
 */
static bool
has_aggregate(Oid function, Oid schema, Oid key, Oid bound)
{
	Oid			arguments[] = {key, bound, bound};
	HeapTuple	ours = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	HeapTuple	aggregate = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(AGGREGATE),
											PointerGetDatum(buildoidvector(arguments,
																		   lengthof(arguments))),
											ObjectIdGetDatum(schema));
	bool		found = HeapTupleIsValid(ours) && HeapTupleIsValid(aggregate) &&
	((Form_pg_proc) GETSTRUCT(ours))->proowner ==
	((Form_pg_proc) GETSTRUCT(aggregate))->proowner;

	if (HeapTupleIsValid(ours))
		ReleaseSysCache(ours);
	if (HeapTupleIsValid(aggregate))
		ReleaseSysCache(aggregate);
	return found;
}

/*
 * Returns the keys of SELECT expression FROM from; the expression's base type is type.  SPI
 * must be connected.  Casting to the type of the aggregate's argument makes the call match that
 * aggregate exactly, so that no other function of its name can be meant.
 */
static AggregateState *
run_query(FunctionCallInfo fcinfo, const char *expression, Oid type, const char *from,
		  bool read_only, int32 lo, int32 hi, MemoryContext memory)
{
	KeysReceiver receiver = {
		.pub = *CreateDestReceiver(DestNone),
		.type = type,
		.memory = memory,
		.keys = state_object_make(memory, lo, hi)
	};
	SPIExecuteOptions options = {.read_only = read_only,.dest = &receiver.pub};
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Oid			key = type == INT2OID ? INT4OID : type;
	Oid			bound = type == DATEOID ? DATEOID : INT4OID;
	const char *call = expression;
	int			rc;

	receiver.pub.receiveSlot = receiver_row;
	receiver.aggregate = has_aggregate(fcinfo->flinfo->fn_oid, schema, key, bound);
	if (receiver.aggregate)
		call = psprintf("%s." AGGREGATE "(%s::%s, $1, $2)",
						quote_identifier(get_namespace_name(schema)), expression,
						format_type_extended(key, -1, FORMAT_TYPE_FORCE_QUALIFY));
	options.params = makeParamList(2);
	options.params->params[0] = (ParamExternData)
	{
		Int32GetDatum(lo), false, PARAM_FLAG_CONST, bound
	};
	options.params->params[1] = (ParamExternData)
	{
		Int32GetDatum(hi), false, PARAM_FLAG_CONST, bound
	};
	rc = SPI_execute_extended(psprintf("SELECT %s FROM %s", call, from), &options);
	if (rc < 0)
		elog(ERROR, "SPI_execute_extended failed: %s", SPI_result_code_string(rc));
	return receiver.keys;
}

/* --- a query */

/* Tree walker: whether a query in the node locks rows (FOR UPDATE, FOR SHARE). */
static bool
locks_rows(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return ((Query *) node)->rowMarks != NIL ||
			query_tree_walker((Query *) node, locks_rows, context, 0);
	return expression_tree_walker(node, locks_rows, context);
}

/*
 * Returns the one statement of a prepared plan, analyzed but not run.  An error unless there is
 * one, and it only reads, in the sense of read-only transactions.
 */
static CachedPlanSource *
check_statement(SPIPlanPtr plan)
{
	List	   *sources = SPI_plan_get_plan_sources(plan);
	CachedPlanSource *source;
	Query	   *query;
	const char *reason = NULL;

	if (list_length(sources) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query must be a single statement"),
				 errdetail("It has %d statements.", list_length(sources))));
	source = (CachedPlanSource *) linitial(sources);
	query = list_length(source->query_list) == 1 ? linitial_node(Query, source->query_list) : NULL;
	if (query == NULL || query->commandType != CMD_SELECT)
		reason = psprintf("Its command is %s.",
						  GetCommandTagName(query ? CreateCommandTag((Node *) query) :
											source->commandTag));
	else if (query->hasModifyingCTE)
		reason = "It has a WITH query that changes data.";
	else if (locks_rows((Node *) query, NULL))
		reason = "It locks rows.";
	if (reason != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query must be a SELECT, TABLE or VALUES that only reads"),
				 errdetail_internal("%s", reason)));
	return source;
}

/*
 * Returns the base type of the single column of a statement's result.  An error unless it is an
 * integer type.
 */
static Oid
integer_column(TupleDesc tupdesc)
{
	const char *reason = "It returns no columns.";
	Oid			type = InvalidOid;

	if (tupdesc && tupdesc->natts > 1)
		reason = psprintf("It returns %d columns.", tupdesc->natts);
	else if (tupdesc && tupdesc->natts > 0)
	{
		type = getBaseType(TupleDescAttr(tupdesc, 0)->atttypid);
		reason = psprintf("Its column \"%s\" is of type %s.",
						  NameStr(TupleDescAttr(tupdesc, 0)->attname),
						  format_type_be(TupleDescAttr(tupdesc, 0)->atttypid));
	}
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one integer column"),
				 errdetail_internal("%s", reason)));
	return type;
}

AggregateState *
keys_of_query(FunctionCallInfo fcinfo, const char *query, int32 lo, int32 hi,
			  MemoryContext memory)
{
	AggregateState *keys;
	CachedPlanSource *source;
	const RawStmt *statement;
	SPIPlanPtr	plan;
	int			length;

	SPI_connect();
	plan = SPI_prepare(query, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	source = check_statement(plan);

	/*
	 * The statement's text ends before its semicolon, maybe with a comment, which the parenthesis
	 * must not belong to.
	 */
	statement = source->raw_parse_tree;
	length = statement->stmt_len;
	if (length == 0)
		length = (int) strlen(query) - statement->stmt_location;
	keys = run_query(fcinfo, "x", integer_column(source->resultDesc),
					 psprintf("(%.*s%s) AS q(x)", length, query + statement->stmt_location,
							  strstr(query, "--") ? "\n" : ""),
					 false, lo, hi, memory);
	SPI_finish();
	return keys;
}

/* --- a column */

/*
 * Returns the base type of a column.  An error if there is no such column, or its values cannot
 * be keys.
 */
static Oid
column_type(Relation rel, const char *attribute)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), attribute);
	Oid			type;

	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						attribute, RelationGetRelationName(rel))));
	type = get_atttype(RelationGetRelid(rel), attnum);
	if (attnum < 0 || !column_type_is_key(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is not of an integer type or date",
						attribute, RelationGetRelationName(rel)),
				 errdetail("It is of type %s.", format_type_be(type))));
	return getBaseType(type);
}

AggregateState *
keys_of_column(FunctionCallInfo fcinfo, Oid relid, const char *attribute, int32 lo, int32 hi,
			   MemoryContext memory)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	AggregateState *keys;
	Oid			type;

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	type = column_type(rel, attribute);
	SPI_connect();
	keys = run_query(fcinfo, quote_identifier(attribute), type,
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)),
					 true, lo, hi, memory);
	SPI_finish();
	relation_close(rel, NoLock);
	return keys;
}
