/*
 * hpsort_columns.c
 *		The column reader from SQL.
 *
 * No SQL function of hpsort returns the rows of a scan, so this one
 * does.  column_scan_read is that of hpsort's library, which exports it.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "parser/analyze.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "pg/column/column.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(hpsort_columns_read);
PG_FUNCTION_INFO_V1(hpsort_columns_tableam);

typedef uint64 (*ReadFunction) (const ColumnScan *scan, PlanState *instrumented,
								ColumnConsume consume, void *arg);

typedef FilterCondition *(*MakeKeyCondition) (AttrNumber attnum, ColumnKind kind,
											  const int64 *keys, size_t n, bool excluded);

/* Where batches go: to rows of a tuplestore, each an array of text. */
typedef struct Output
{
	ReturnSetInfo *result;
	int			ncolumns;
	int			nfilters;
	bool		tids;
	ColumnKind *kinds;
	Oid		   *functions;		/* the types' output functions */
} Output;

/* What hpsort's column_kind should say, which it does not export. */
static ColumnKind
expected_kind(Oid base_type)
{
	static const struct
	{
		Oid			type;
		ColumnKind	kind;
	}			kinds[] = {
		{BOOLOID, COLUMN_KIND_BOOL}, {CHAROID, COLUMN_KIND_CHAR}, {INT2OID, COLUMN_KIND_INT2},
		{INT4OID, COLUMN_KIND_INT4}, {DATEOID, COLUMN_KIND_INT4}, {OIDOID, COLUMN_KIND_OID},
		{INT8OID, COLUMN_KIND_INT8}, {TIMEOID, COLUMN_KIND_INT8}, {TIMESTAMPOID, COLUMN_KIND_INT8},
		{TIMESTAMPTZOID, COLUMN_KIND_INT8}
	};

	if (get_typtype(base_type) == TYPTYPE_ENUM)
		return COLUMN_KIND_ENUM;
	for (size_t i = 0; i < lengthof(kinds); i++)
		if (kinds[i].type == base_type)
			return kinds[i].kind;
	elog(ERROR, "type %u is of no kind", base_type);
}

static Datum
batch_value(ColumnKind kind, const ColumnBatch *batch, size_t i)
{
	int64		value = column_kind_is_wide(kind) ? batch->wide[i]
		: batch->keys[i] + column_kind_bias(kind);

	return column_datum(kind, value);
}

/* What batches promise beside their values. */
static void
check_batch(const ColumnBatch *batch, size_t n, bool column, ColumnKind kind)
{
	int64		nnulls = 0;

	if (batch->n != n || n > COLUMN_BATCH_KEYS)
		elog(ERROR, "batch has %zu rows, another one %zu", batch->n, n);
	for (size_t i = 0; i < n; i++)
	{
		if (batch->nulls[i] > 1)
			elog(ERROR, "row is marked %d", batch->nulls[i]);
		nnulls += batch->nulls[i];
		if (column && batch->nulls[i] &&
			(column_kind_is_wide(kind) ? batch->wide[i] : batch->keys[i]) != 0)
			elog(ERROR, "key of a NULL is not 0");
	}
	if (nnulls != batch->nnulls)
		elog(ERROR, "%lld rows are marked, " INT64_FORMAT " counted", (long long) nnulls,
			 batch->nnulls);
}

/* A ColumnConsume. */
static void
put_rows(void *arg, const ColumnBatch *batches)
{
	Output	   *output = arg;
	int			nbatches = output->ncolumns + output->nfilters;
	int			nelements = nbatches + (output->tids ? 1 : 0);
	Datum	   *elements = palloc(sizeof(Datum) * Max(nelements, 1));
	bool	   *nulls = palloc(sizeof(bool) * Max(nelements, 1));
	int			lower = 1;

	if (output->tids && batches[nbatches].n != batches[0].n)
		elog(ERROR, "%zu TIDs of %zu rows", batches[nbatches].n, batches[0].n);
	for (int e = 0; e < nbatches; e++)
		check_batch(&batches[e], batches[0].n, e < output->ncolumns,
					e < output->ncolumns ? output->kinds[e] : COLUMN_KIND_NONE);
	for (size_t i = 0; i < batches[0].n; i++)
	{
		Datum		row;
		bool		isnull = false;

		if (output->tids)
		{
			int64		tid = batches[nbatches].wide[i];

			nulls[nbatches] = false;
			elements[nbatches] = CStringGetTextDatum(psprintf("(%u,%u)", COLUMN_TID_BLOCK(tid),
															  COLUMN_TID_LINE(tid)));
		}
		for (int e = 0; e < nbatches; e++)
		{
			const char *text = batches[e].nulls[i] ? "f" : "t";

			nulls[e] = e < output->ncolumns && batches[e].nulls[i];
			if (e < output->ncolumns && !nulls[e])
				text = OidOutputFunctionCall(output->functions[e],
											 batch_value(output->kinds[e], &batches[e], i));
			elements[e] = nulls[e] ? (Datum) 0 : CStringGetTextDatum(text);
		}
		row = PointerGetDatum(construct_md_array(elements, nulls, 1, &nelements, &lower, TEXTOID,
												 -1, false, TYPALIGN_INT));
		tuplestore_putvalues(output->result->setResult, output->result->setDesc, &row, &isnull);
	}
}

/* The last row: how many the reader says that the qual has refused. */
static void
put_filtered(Output *output, uint64 filtered)
{
	Datum		elements[2];
	Datum		row;
	bool		isnull = false;

	elements[0] = CStringGetTextDatum("filtered");
	elements[1] = CStringGetTextDatum(psprintf("%llu", (unsigned long long) filtered));
	row = PointerGetDatum(construct_array(elements, 2, TEXTOID, -1, false, TYPALIGN_INT));
	tuplestore_putvalues(output->result->setResult, output->result->setDesc, &row, &isnull);
}

/* SELECT filters, NULL FROM the table WHERE qual: their expressions, analyzed. */
static Query *
analyze_query(const char *text)
{
	List	   *raw = pg_parse_query(text);

	return parse_analyze_fixedparams(linitial_node(RawStmt, raw), text, NULL, 0, NULL);
}

/*
 * The condition that a text is: a column, IN or else NOT IN, a query that returns values of the
 * column's type.  A NULL is not in.
 */
static FilterCondition *
key_condition(Relation rel, const char *text)
{
	MakeKeyCondition make = (MakeKeyCondition) load_external_function("$libdir/hpsort",
																	  "key_condition_make", true,
																	  NULL);
	char		column[NAMEDATALEN];
	char		word[4];
	int			length;
	AttrNumber	attnum;
	ColumnKind	kind;
	int64	   *keys;
	size_t		n = 0;
	FilterCondition *condition;

	if (sscanf(text, "%63s %3s%n", column, word, &length) != 2)
		elog(ERROR, "no condition: %s", text);
	attnum = get_attnum(RelationGetRelid(rel), column);
	kind = expected_kind(getBaseType(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid));
	SPI_connect();
	SPI_execute(text + length + (strcmp(word, "NOT") == 0 ? 3 : 0), true, 0);
	keys = SPI_palloc(sizeof(int64) * Max(SPI_processed, 1));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &isnull);

		if (!isnull)
			keys[n++] = column_value(kind, value);
	}
	SPI_finish();
	condition = make(attnum, kind, keys, n, strcmp(word, "NOT") == 0);
	pfree(keys);
	return condition;
}

/*
 * (table regclass, columns text[], qual text, filters text[], conditions text[]) returns setof
 * text[]: the rows, with an element for each column and each filter, and a last one that says
 * how many were filtered.  If the last column is ctid, the rows have it as their last element.
 */
Datum
hpsort_columns_read(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	char	   *qual = text_to_cstring(PG_GETARG_TEXT_PP(2));
	ReadFunction read = (ReadFunction) load_external_function("$libdir/hpsort", "column_scan_read",
															  true, NULL);
	EState	   *estate = CreateExecutorState();
	Output		output = {.result = (ReturnSetInfo *) fcinfo->resultinfo};
	uint64		unmatched = 0;
	ColumnScan	scan = {.rel = rel, .snapshot = GetActiveSnapshot(), .unmatched = &unmatched};
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	AttrNumber *attnums;
	Datum	   *columns;
	Datum	   *filters;
	Datum	   *conditions;
	int			nconditions;
	StringInfoData query;
	Query	   *analyzed;
	uint64		filtered;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &columns, NULL,
					  &output.ncolumns);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(3), TEXTOID, -1, false, TYPALIGN_INT, &filters, NULL,
					  &output.nfilters);

	if (output.ncolumns > 0 &&
		strcmp(TextDatumGetCString(columns[output.ncolumns - 1]), "ctid") == 0)
	{
		output.tids = scan.tids = true;
		output.ncolumns--;
	}
	attnums = palloc0(sizeof(AttrNumber) * Max(output.ncolumns, 1));
	output.kinds = palloc0(sizeof(ColumnKind) * Max(output.ncolumns, 1));
	output.functions = palloc0(sizeof(Oid) * Max(output.ncolumns, 1));
	for (int i = 0; i < output.ncolumns; i++)
	{
		Form_pg_attribute att;
		bool		varlena;

		attnums[i] = get_attnum(RelationGetRelid(rel), TextDatumGetCString(columns[i]));
		att = TupleDescAttr(RelationGetDescr(rel), attnums[i] - 1);
		output.kinds[i] = expected_kind(getBaseType(att->atttypid));
		getTypeOutputInfo(getBaseType(att->atttypid), &output.functions[i], &varlena);
	}

	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT ");
	for (int i = 0; i < output.nfilters; i++)
		appendStringInfo(&query, "(%s), ", TextDatumGetCString(filters[i]));
	appendStringInfo(&query, "NULL FROM %s WHERE %s",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)),
					 qual[0] != '\0' ? qual : "true");
	analyzed = analyze_query(query.data);

	scan.ncolumns = output.ncolumns;
	scan.attnums = attnums;
	scan.nfilters = output.nfilters;
	scan.filters = palloc0(sizeof(ExprState *) * Max(output.nfilters, 1));
	for (int i = 0; i < output.nfilters; i++)
		scan.filters[i] =
			ExecPrepareQual(list_make1(list_nth_node(TargetEntry, analyzed->targetList, i)->expr),
							estate);
	if (qual[0] != '\0')
		scan.qual = ExecPrepareQual(list_make1(analyzed->jointree->quals), estate);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(4), TEXTOID, -1, false, TYPALIGN_INT, &conditions,
					  NULL, &nconditions);
	for (int i = 0; i < nconditions; i++)
		scan.conditions = lappend((List *) scan.conditions,
								  key_condition(rel, TextDatumGetCString(conditions[i])));
	if (scan.qual || scan.conditions || scan.nfilters > 0)
	{
		scan.econtext = GetPerTupleExprContext(estate);
		scan.slot = slot;
	}

	filtered = read(&scan, NULL, put_rows, &output);
	put_filtered(&output, filtered + unmatched);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	table_close(rel, AccessShareLock);
	return (Datum) 0;
}

static Oid
heap_toast_am(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

/*
 * A table access method whose routine is not heap's, though it does what that does.
 * Heap builds no indexes on such tables, so what is toasted goes to a real one.
 */
Datum
hpsort_columns_tableam(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	routine.relation_toast_am = heap_toast_am;
	PG_RETURN_POINTER(&routine);
}
