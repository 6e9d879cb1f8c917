/*
 * residency.c
 *		Which columns may be resident (see residency.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/pages/pages.h"
#include "pg/resident/extents/residency.h"
#include "pg/values/values.h"

const char *
residency_refusal(Relation rel, BlockNumber nblocks)
{
	/* Pages of catalogs change in place, without a trace in the visibility map. */
	if (IsCatalogRelation(rel) || RelationGetRelid(rel) < FirstNormalObjectId)
		return "catalog";
	if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW)
		return "not a table";
	if (!heap_format_is_heap(rel))
		return "not a heap";
	/* The map's LSN does not move without WAL. */
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		return "unlogged";
	if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		return "temporary";
	if (nblocks < RESIDENCY_MIN_BLOCKS)
		return "too small";
	return NULL;
}

bool
residency_keeps_column(Form_pg_attribute att)
{
	return !att->attisdropped && att->attgenerated != ATTRIBUTE_GENERATED_VIRTUAL;
}

/*
 * Whether this transaction has made the table, or given it a new file: then COPY FREEZE adds
 * rows to all-visible pages.  A parallel worker's relation cache does not know of it, but
 * pg_class does: the transaction has made the table's row there.
 */
static bool
is_new(Relation rel)
{
	HeapTuple	tuple;
	bool		mine;

	if (rel->rd_createSubid != InvalidSubTransactionId ||
		rel->rd_newRelfilelocatorSubid != InvalidSubTransactionId ||
		rel->rd_firstRelfilelocatorSubid != InvalidSubTransactionId)
		return true;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(rel)));
	if (!HeapTupleIsValid(tuple))
		return true;
	mine = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
	ReleaseSysCache(tuple);
	return mine;
}

bool
residency_is_allowed(Relation rel, Snapshot snapshot)
{
	return snapshot->snapshot_type == SNAPSHOT_MVCC && RelationNeedsWAL(rel) && !is_new(rel) &&
	/* Writers check for conflicts before they clear a bit, and rely on the page's lock. */
		!CheckForSerializableConflictOutNeeded(rel, snapshot) &&
	/* A bit may be set while an old snapshot does not see all of the page. */
		old_snapshot_threshold < 0;
}

ColumnDomain
residency_domain(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	ColumnDomain domain = column_domain(att->atttypid, att->atttypmod);

	if (domain.kind == COLUMN_KIND_NONE)
		domain.kind = COLUMN_KIND_NUMBER;
	return domain;
}

bool
residency_suits_gpu(Relation rel, AttrNumber attnum)
{
	return !column_kind_is_float(residency_domain(rel, attnum).kind);
}

int64
residency_value(const ColumnDomain *domain, Datum value)
{
	if (domain->kind == COLUMN_KIND_NUMERIC)
		return numeric_unit_value(domain->unit, DatumGetPointer(value));
	return column_value(domain->kind, value);
}

/*
 * Returns what tells the value that rows lack from other values of the same column that they might
 * have lacked: of values that have numbers a hash, which only this server knows how to make.
 */
static int64
missing_value(const ColumnDomain *domain, Form_pg_attribute att, Datum value)
{
	struct varlena *bytes;

	if (domain->kind != COLUMN_KIND_NUMBER)
		return residency_value(domain, value);
	if (att->attlen != -1)
		return (int64) hash_bytes_extended(att->attbyval ? (unsigned char *) &value :
										   (unsigned char *) DatumGetPointer(value),
										   att->attbyval ? sizeof(Datum) : att->attlen,
										   resident_epoch());
	bytes = PG_DETOAST_DATUM_PACKED(value);
	return (int64) hash_bytes_extended((unsigned char *) VARDATA_ANY(bytes),
									   (int) VARSIZE_ANY_EXHDR(bytes), resident_epoch());
}

void
residency_key(Relation rel, AttrNumber attnum, ResidentKey *key)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	ColumnDomain domain = residency_domain(rel, attnum);
	bool		isnull;
	Datum		missing = getmissingattr(desc, attnum, &isnull);

	memset(key, 0, sizeof(*key));
	key->database = MyDatabaseId;
	key->relid = RelationGetRelid(rel);
	key->attnum = (uint16) attnum;
	key->type = att->atttypid;
	/* By the typmod of a numeric NaN is another integer. */
	key->typmod = att->atttypmod;
	key->file[0] = rel->rd_locator.spcOid;
	key->file[1] = rel->rd_locator.dbOid;
	key->file[2] = rel->rd_locator.relNumber;
	if (!isnull)
	{
		key->missing = 1;
		key->missing_value = missing_value(&domain, att, missing);
	}
}

AttrNumber
residency_most_rows(Relation rel)
{
	AttrNumber	found = InvalidAttrNumber;
	int64		most = 0;

	for (AttrNumber attnum = 1; attnum <= RelationGetNumberOfAttributes(rel); attnum++)
	{
		ResidentKey key;
		ResidentSummary summary;

		if (!residency_keeps_column(TupleDescAttr(RelationGetDescr(rel), attnum - 1)) ||
			!resident_is_kept(RelationGetRelid(rel), attnum))
			continue;
		residency_key(rel, attnum, &key);
		if (resident_summarize(&key, &summary) && summary.rows > most)
		{
			found = attnum;
			most = summary.rows;
		}
	}
	return found;
}
