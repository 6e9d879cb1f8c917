/*
 * sources.c
 *		The tables that a column is read from (see sources.h).
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "pg/column/sources.h"
#include "pg/compat.h"

bool
column_is_stored(Relation rel, AttrNumber attnum)
{
	char		kind = rel->rd_rel->relkind;

	return (kind == RELKIND_RELATION || (kind == RELKIND_MATVIEW && RelationIsScannable(rel))) &&
		TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated !=
		COMPAT_ATTRIBUTE_GENERATED_VIRTUAL;
}

bool
column_sources_find(Relation rel, const char *attribute, AttrNumber attnum,
					ColumnSource **sources, int *nsources)
{
	bool		partitioned = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	bool		stored = true;
	List	   *children = NIL;
	ListCell   *lc;

	*nsources = 0;
	if (!partitioned && !column_is_stored(rel, attnum))
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
			/* find_all_inheritors has locked it. */
			child = table_open(relid, NoLock);
			child_attnum = get_attnum(relid, attribute);
			if (child_attnum <= 0)
				elog(ERROR, "could not find inherited attribute \"%s\" of relation \"%s\"",
					 attribute, RelationGetRelationName(child));
		}
		/* As in the planner, other sessions' temporary tables are left out. */
		if (child->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
			(child != rel && RELATION_IS_OTHER_TEMP(child)))
		{
			if (child != rel)
				table_close(child, child->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
							NoLock : AccessShareLock);
			continue;
		}
		(*sources)[(*nsources)++] = (ColumnSource) {child, child_attnum};
		stored = stored && column_is_stored(child, child_attnum);
	}
	return stored;
}

void
column_sources_read(const ColumnSource *sources, int nsources, ParallelTableScanDesc *parallel,
					KeySink *sink)
{
	int			i;

	for (i = 0; i < nsources; i++)
	{
		ColumnScan	scan = {
			.rel = sources[i].rel,
			.ncolumns = 1,
			.attnums = &sources[i].attnum,
			.keys = true,
			.snapshot = GetActiveSnapshot(),
			.parallel = parallel ? parallel[i] : NULL,
			.packed = true,
			.runs = true
		};

		column_scan_read(&scan, NULL, column_consume_keys, sink);
	}
}

void
column_sources_close(Relation rel, ColumnSource *sources, int nsources)
{
	int			i;

	for (i = 0; i < nsources; i++)
		if (sources[i].rel != rel)
			table_close(sources[i].rel, NoLock);
}
