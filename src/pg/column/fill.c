/*
 * fill.c
 *		A table's column into a sorter (see fill.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "pg/column/fill.h"
#include "pg/column/parallel.h"
#include "pg/column/plan_check.h"
#include "pg/column/query.h"
#include "pg/column/reader.h"
#include "pg/column/sources.h"
#include "pg/compat.h"

/* The number of a column; an error if there is none, or keys cannot be made of its type. */
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
 * so that an extension with a hook in these checks sees this one as well.  The
 * right to use the schema is checked here because the query would check it when
 * it looks up the table's name; the table's OID needs no look-up.
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

void
column_fill_sorter(Oid relid, const char *attribute, Sorter *sorter, int64 *nulls)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	KeySink		sink = {.sorter = sorter, .nulls = nulls};
	AttrNumber	attnum;
	ColumnSource *sources = NULL;
	int			nsources = 0;
	int			workers;
	bool		stored;
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

	/* The query is run where its rows may be others than those stored. */
	stored = (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || column_is_stored(rel, attnum));
	if (stored)
	{
		check_rights(rel, attnum);
		/* An error if row_security is off and policies apply. */
		stored = check_enable_rls(relid, InvalidOid, false) != RLS_ENABLED &&
			column_sources_find(rel, attribute, attnum, &sources, &nsources);
	}
	query = psprintf("SELECT %s FROM %s", quote_identifier(attribute),
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	if (!stored || !column_plan_scans(query, sources, nsources))
		query_fill_sorter(query, true, get_atttype(relid, attnum), sorter, nulls);
	else
	{
		workers = column_parallel_workers(sources, nsources);
		if (workers > 0)
			column_parallel_read(sources, nsources, workers, &sink);
		else
			column_sources_read(sources, nsources, NULL, &sink);
	}

	pfree(query);
	column_sources_close(rel, sources, nsources);
	relation_close(rel, NoLock);
}
