/*
 * fill.c
 *		A table's column into a sorter (see fill.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pg/column/fill.h"
#include "pg/column/query.h"
#include "pg/column/reader.h"
#include "pg/compat.h"
#include "pg/sort_context.h"

/* The column, if there is one and its type will do. */
static AttrNumber
find_column(Relation rel, const char *attribute)
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
	return attnum;
}

/*
 * The rights that SELECT attribute FROM rel needs, checked as COPY checks them,
 * so that whoever hooks into these checks sees this one as well.  The schema's
 * comes from looking up the name, which an OID does not need.
 */
static void
check_rights(Relation rel, AttrNumber attnum)
{
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *nsitem;
	Oid			namespace = RelationGetNamespace(rel);

	if (!compat_may_use_namespace(namespace))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(namespace));
	nsitem = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL, true, false);
	compat_check_select(pstate, nsitem, attnum);
	free_parsestate(pstate);
}

/* Whether the rows are what is stored: no view, no FDW, nothing computed. */
static bool
is_read_simply(Relation rel, AttrNumber attnum)
{
	char		kind = rel->rd_rel->relkind;

	return (kind == RELKIND_RELATION || (kind == RELKIND_MATVIEW && RelationIsScannable(rel))) &&
		TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated !=
		COMPAT_ATTRIBUTE_GENERATED_VIRTUAL;
}

/*
 * The tables that the query would scan, in *sources: those that inherit the
 * column as well.  False if one of them is not simply read.  Children are
 * opened and locked; rel is open already.
 */
static bool
find_sources(Relation rel, const char *attribute, AttrNumber attnum,
			 ColumnSource **sources, int *nsources)
{
	bool		partitioned = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	bool		simple = true;
	List	   *children = NIL;
	ListCell   *lc;

	*nsources = 0;
	if (!partitioned && !is_read_simply(rel, attnum))
		return false;
	if (rel->rd_rel->relhassubclass)
		children = find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL);
	*sources = palloc_array(ColumnSource, Max(list_length(children), 1));
	if (children == NIL && !partitioned)
		(*sources)[(*nsources)++] = (ColumnSource) {rel, attnum};
	foreach(lc, children)
	{
		Oid			relid = lfirst_oid(lc);
		Relation	child = rel;
		AttrNumber	child_attnum = attnum;

		if (relid != RelationGetRelid(rel))
		{
			/* The lock is there. */
			child = table_open(relid, NoLock);
			child_attnum = get_attnum(relid, attribute);
			if (child_attnum <= 0)
				elog(ERROR, "could not find inherited attribute \"%s\" of relation \"%s\"",
					 attribute, RelationGetRelationName(child));
		}
		/* As the planner: what other sessions keep to themselves is left out. */
		if (child->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
			(child != rel && RELATION_IS_OTHER_TEMP(child)))
		{
			if (child != rel)
				table_close(child, child->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
							NoLock : AccessShareLock);
			continue;
		}
		(*sources)[(*nsources)++] = (ColumnSource) {child, child_attnum};
		simple = simple && is_read_simply(child, child_attnum);
	}
	return simple;
}

void
column_fill_sources(const ColumnSource *sources, int nsources, ParallelTableScanDesc *parallel,
					  Sorter *sorter, int64 *nulls)
{
	ColumnBatch batch = {.keys = palloc_array(int32, COLUMN_BATCH_KEYS)};
	SortError	err;
	int			i;

	for (i = 0; i < nsources; i++)
	{
		ColumnReader *reader = column_reader_open(sources[i].rel, 1, &sources[i].attnum,
												  GetActiveSnapshot(),
												  parallel ? parallel[i] : NULL);
		bool		more;

		do
		{
			more = column_reader_next(reader, &batch);
			pg_sort_check(sorter_add(sorter, batch.keys, batch.n, &err), &err);
		} while (more);
		column_reader_close(reader);
	}
	*nulls += batch.nulls;
	pfree(batch.keys);
}

void
column_fill(Oid relid, const char *attribute, Sorter *sorter, int64 *nulls)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	AttrNumber	attnum;
	ColumnSource *sources = NULL;
	int			nsources = 0;
	int			workers;
	int			i;
	bool		simple;
	char	   *query;

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	attnum = find_column(rel, attribute);

	/* Whatever the query would not read, or not to everybody, it is asked for. */
	simple = (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || is_read_simply(rel, attnum));
	if (simple)
	{
		check_rights(rel, attnum);
		/* Complains if row_security is off and policies apply. */
		simple = check_enable_rls(relid, InvalidOid, false) != RLS_ENABLED &&
			find_sources(rel, attribute, attnum, &sources, &nsources);
	}
	query = psprintf("SELECT %s FROM %s", quote_identifier(attribute),
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	if (!simple)
		query_fill(query, true, get_atttype(relid, attnum), sorter, nulls);
	else
	{
		column_check_plan(rel, attnum, query, sources, nsources);
		workers = column_parallel_workers(sources, nsources);
		if (workers > 0)
			column_fill_parallel(sources, nsources, workers, sorter, nulls);
		else
			column_fill_sources(sources, nsources, NULL, sorter, nulls);
	}

	pfree(query);
	for (i = 0; i < nsources; i++)
		if (sources[i].rel != rel)
			table_close(sources[i].rel, NoLock);
	relation_close(rel, NoLock);
}
