/*
 * query.c
 *		Keys from any query, through SPI (see query.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/nodeFuncs.h"
#include "tcop/cmdtag.h"
#include "tcop/dest.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#include "pg/column/query.h"
#include "pg/column/scan.h"
#include "pg/sort_context.h"

/* The query's rows go to this instead of a tuplestore: straight into the sorter. */
typedef struct KeyReceiver
{
	DestReceiver pub;
	KeySink		keys;
	Oid			type;			/* base type of the column */
} KeyReceiver;

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static bool
receiver_row(TupleTableSlot *slot, DestReceiver *self)
{
	KeyReceiver *receiver = (KeyReceiver *) self;
	bool		isnull;
	Datum		value = slot_getattr(slot, 1, &isnull);
	SortError	err;

	if (isnull)
		(*receiver->keys.nulls)++;
	else
		pg_sort_check(sorter_add_key(receiver->keys.sorter, column_key(receiver->type, value),
									 &err), &err);
	return true;
}

static void
receiver_shutdown(DestReceiver *self)
{
}

static void
receiver_destroy(DestReceiver *self)
{
}

/* Whether a query, or a subquery of it, locks rows. */
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
 * An error unless a prepared plan, analyzed but not run, is that of one query
 * that only reads, in the sense of read-only transactions.
 */
static void
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
						  GetCommandTagName(query ? CreateCommandTag((Node *) query) : source->commandTag));
	else if (query->hasModifyingCTE)
		reason = "It has a WITH query that changes data.";
	else if (locks_rows((Node *) query, NULL))
		reason = "It locks rows.";
	if (reason != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query must be a SELECT, TABLE or VALUES that only reads"),
				 errdetail_internal("%s", reason)));
}

/* The type of a plan's single integer column, or an error. */
static Oid
integer_column(SPIPlanPtr plan)
{
	TupleDesc	tupdesc;
	Oid			type;

	tupdesc = ((CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan)))->resultDesc;
	if (tupdesc == NULL || tupdesc->natts == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one integer column"),
				 errdetail("It returns no columns.")));
	if (tupdesc->natts > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one integer column"),
				 errdetail("It returns %d columns.", tupdesc->natts)));
	type = getBaseType(TupleDescAttr(tupdesc, 0)->atttypid);
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query must return one integer column"),
				 errdetail("Its column \"%s\" is of type %s.",
						   NameStr(TupleDescAttr(tupdesc, 0)->attname),
						   format_type_be(TupleDescAttr(tupdesc, 0)->atttypid))));
	return type;
}

ParamExternData *
query_sink_fetch(ParamListInfo params, int paramid, bool speculative, ParamExternData *workspace)
{
	elog(ERROR, "query has no parameter $%d", paramid);
}

void
query_fill_sorter(const char *query, bool read_only, Oid type, Sorter *sorter, int64 *nulls)
{
	KeyReceiver receiver = {
		.pub = {
			.receiveSlot = receiver_row,
			.rStartup = receiver_startup,
			.rShutdown = receiver_shutdown,
			.rDestroy = receiver_destroy,
			.mydest = DestNone
		},
		.keys = {.sorter = sorter, .nulls = nulls}
	};
	SPIExecuteOptions options = {0};
	QuerySink	sink = {.keys = receiver.keys};
	SPIPlanPtr	plan;
	int			rc;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_PARALLEL_OK);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	check_statement(plan);
	receiver.type = OidIsValid(type) ? getBaseType(type) : integer_column(plan);
	options.read_only = read_only;
	options.dest = (DestReceiver *) &receiver;

	/* A plan that HpSort Aggregate is in fills the sorter itself. */
	sink.query_string =
		((CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan)))->query_string;
	options.params = makeParamList(0);
	options.params->paramFetch = query_sink_fetch;
	options.params->paramFetchArg = &sink;
	rc = SPI_execute_plan_extended(plan, &options);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(rc));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}
